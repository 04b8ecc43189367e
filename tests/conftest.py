"""Fixtures of all rooms. Tests need no network, and leave nothing outside pytest's own folders."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from string import ascii_lowercase

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # read when huggingface_hub is imported

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, settings

from kit import visible
from kit.collection.miniature import CARD, CONFIG
from kit.collection.schema import FEATURES, SPLIT
from kit.collection.sources import Collection, open_collection

# a machine that is busy is no fault of the code
settings.register_profile("kit", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("kit")


@pytest.fixture(scope="session", autouse=True)
def own_folders(tmp_path_factory):
    """What runs leave goes to a temporary folder, unless KIT_OUTPUTS names one."""
    cache = str(tmp_path_factory.mktemp("datasets"))
    with pytest.MonkeyPatch.context() as patch:
        if not os.environ.get("KIT_OUTPUTS"):
            patch.setenv("KIT_OUTPUTS", str(tmp_path_factory.mktemp("outputs")))
        patch.setenv("HF_DATASETS_CACHE", cache)  # for kernels and other processes
        patch.setattr(datasets.config, "HF_DATASETS_CACHE", Path(cache))
        yield


@pytest.fixture(autouse=True)
def no_secret_of_another_test(monkeypatch):
    """What a test names as a secret is hidden in that test only."""
    monkeypatch.setattr(visible, "_named", set())


@pytest.fixture(scope="session")
def mini(own_folders) -> Collection:
    """The built-in miniature."""
    return open_collection("mini")


@pytest.fixture(scope="session")
def mini_litigation(own_folders) -> Collection:
    """The built-in collection of rows."""
    return open_collection("mini-litigation")


@pytest.fixture(scope="session")
def mini_dapfam(own_folders) -> Collection:
    """The built-in collection in DAPFAM's layout."""
    return open_collection("mini-dapfam")


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory) -> Path:
    """Two layers of 32 dimensions with random weights, saved as sentence-transformers does."""
    import torch  # seconds to import, which other tests can do without
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import BertConfig, BertModel, BertTokenizer

    home = tmp_path_factory.mktemp("model")
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "valve", "pump", "seat",
                  *ascii_lowercase, *("##" + c for c in ascii_lowercase)]
    torch.manual_seed(1)
    bert = BertModel(BertConfig(
        vocab_size=len(vocabulary), hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=64, max_position_embeddings=64))
    bert.save_pretrained(home / "bert")
    BertTokenizer(vocab={t: i for i, t in enumerate(vocabulary)}, model_max_length=64).save_pretrained(home / "bert")
    whole = Transformer(str(home / "bert"), max_seq_length=32)
    SentenceTransformer(modules=[whole, Pooling(32, "mean")], device="cpu").save(str(home / "tiny"))
    return home / "tiny"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real texts and reference values beside the repository."""
    folder = Path(__file__).resolve().parents[1].parent / "shared"
    if not folder.is_dir():
        pytest.skip("the folder ../shared with real texts and reference values is not here")
    return folder


@pytest.fixture(scope="session")
def make_rows(make_collection) -> Callable[..., Path]:
    """A function that writes a tiny collection of rows: see `write_rows`."""
    return write_rows


def write_rows(tmp_path: Path, rows: list, corpus: list = ("d1", "d2", "d3"),
               name: str = "rows") -> Path:
    """Writes tmp_path/name and returns it.

    rows: a dict a row, in which `qid`, `text` and `gold_apps` have sane values where they are not
    named; or a str or bytes, which is the line itself. corpus: as `write_collection` takes it.
    """
    folder = write_collection(tmp_path, ["q1"], corpus, [], name=name, readme=False)
    for table in ("queries", "qrels"):
        shutil.rmtree(folder / table)
    lines = [row if isinstance(row, bytes) else (row if isinstance(row, str) else json.dumps(
        {"qid": f"q{n}", "text": "A valve.", "gold_apps": ["d1"], **row})).encode()
        for n, row in enumerate(rows, 1)]
    (folder / "rows.jsonl").write_bytes(b"".join(line + b"\n" for line in lines))
    return folder


@pytest.fixture(scope="session")
def make_dapfam() -> Callable[..., Path]:
    """A function that writes a tiny collection in DAPFAM's layout: see `write_dapfam`."""
    return write_dapfam


def write_dapfam(tmp_path: Path, relations: list | None = None, *, queries: list = ("q1", "q2"),
                 corpus: list = ("d1", "d2", "d3"), name: str = "families") -> Path:
    """Writes tmp_path/name, without a README, and returns it; the defaults make a sound collection.

    relations: (query, family, score, domain). queries, corpus: an id or a dict a row, in DAPFAM's
    columns; those that are not named get sane values, and a value of `...` leaves its column out.
    """
    folder = tmp_path / name
    relations = SOUND_RELATIONS if relations is None else relations
    columns = ("query_id", "relevant_id", "relevance_score", "domain_rel")
    rows = {"queries": [_family(row, "query_id") for row in queries],
            "corpus": [_family(row, "relevant_id") for row in corpus],
            "relations": [dict(zip(columns, row, strict=True)) for row in relations]}
    for table, made in rows.items():
        (folder / table).mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist(made), folder / table / "train.parquet")
    return folder


SOUND_RELATIONS = [("q1", "d1", 1.0, "IN"), ("q1", "d2", 0.0, "NC"), ("q2", "d3", 1.0, "IN")]


def _family(row: str | dict, key: str) -> dict:
    row = {key: row} if isinstance(row, str) else row
    made = {
        key: None, "jurisdiction": "US", "earliest_claim_jusrisdiction": "US",
        "earliest_claim_date": "2001-02-03", "earliest_claim_year": 2001,
        "ipcr_codes_str": "H04L9/32", "classifications_ipcr_list_first_three_chars_list": ["H04"],
        "title_en": f"T {row[key]}", "abstract_en": f"A {row[key]}", "claims_text": f"C {row[key]}",
        "description_en": f"D {row[key]}", **row}
    return {column: value for column, value in made.items() if value is not ...}


@pytest.fixture(scope="session")
def make_collection() -> Callable[..., Path]:
    """A function that writes a tiny collection in the hub's layout: see `write_collection`."""
    return write_collection


@pytest.fixture(scope="session")
def hold_collection() -> Callable[..., Collection]:
    """A function that makes a tiny collection as `make_collection` does, and opens it, in memory."""
    def hold(queries: list, corpus: list, qrels: list) -> Collection:
        tables = make_tables(queries, corpus, qrels)
        return Collection("tiny", "tiny", {t: datasets.Dataset(made) for t, made in tables.items()})
    return hold


def write_collection(
    tmp_path: Path,
    queries: list = ("q1", "q2"),
    corpus: list = ("d1", "d2", "d3"),
    qrels: list = (("q1", "d1"), ("q1", "d2", "A"), ("q2", "d3", "overlap")),
    *,
    tweak: dict[str, Callable] | None = None,
    name: str = "tiny",
    readme: bool = True,
    **parquet,
) -> Path:
    """Writes tmp_path/name and returns it; the defaults make a sound collection.

    queries, corpus: an id or a dict a row; columns that are not named get sane values.
    qrels: (query, document), with a category (XY if none), or a dict a row.
    tweak: {table: function}, which gets the table and returns the one to write, or a list of
    tables, one a file. readme: write the README with its configs. parquet: for `write_table`.
    """
    folder = tmp_path / name
    folder.mkdir(parents=True)
    for table, made in make_tables(queries, corpus, qrels).items():
        made = (tweak or {}).get(table, lambda t: t)(made)
        shards = made if isinstance(made, list) else [made]
        (folder / table).mkdir()
        for n, shard in enumerate(shards):
            file = folder / table / f"{SPLIT}-{n:05d}-of-{len(shards):05d}.parquet"
            pq.write_table(shard, file, **parquet)
    if readme:
        configs = "\n".join(CONFIG.format(table=t, split=SPLIT) for t in FEATURES)
        (folder / "README.md").write_text(CARD.format(configs=configs), encoding="utf-8")
    return folder


def make_tables(queries: list, corpus: list, qrels: list) -> dict[str, pa.Table]:
    """The three tables of `write_collection`."""
    rows = {"queries": [_patent(r, "query_id") for r in queries],
            "corpus": [_patent(r, "doc_id") for r in corpus], "qrels": [_pair(r) for r in qrels]}
    schemas = {t: FEATURES[t].arrow_schema.remove_metadata() for t in rows}
    return {t: pa.Table.from_pylist([{c: r.get(c) for c in schemas[t].names} for r in rows[t]],
                                    schemas[t]) for t in rows}


def _patent(row: str | dict, id_column: str) -> dict:
    row = {id_column: row} if isinstance(row, str) or row is None else row
    said = row.get(id_column) or "x"
    return {
        "source_xpn": f"EP99{said}00", "publication_authority": "EP", "source_apl": "en",
        "publication_date": "2010-05-17" if id_column == "query_id" else "2001-02-28",
        "ipc": ["F16K31/06"], "title": f"Valve {said}", "abstract": f"A valve {said} with a seat.",
        "claims": f"1. A valve {said}.\n2. A valve {said} with a seat.",
        "description": f"The valve {said} opens.\nIt closes again.",
        "adb": ["It is tight."], "iclm": [f"1. A valve {said}."], "obj": None,
        "ai_title": "Valve", "ai_claim_summary": "A valve.", "ai_obj": "Tightness.",
        "ai_adv": "It stays tight.", "ai_ab": "A tight valve.", "ai_features": ["valve", "seat"],
        "ipc_section": "F", **row}


def _pair(row: tuple | dict) -> dict:
    row = row if isinstance(row, dict) else dict(zip(("query_id", "doc_id", "category"), row))
    label = row.get("category", "XY")
    behind = {"overlap": ["A", "XY", "X"], "XY": ["XY", "X"]}.get(label, [label])
    return {"category": label,
            "source_relations": [{"category": c, "direction": "cited"} for c in behind], **row}
