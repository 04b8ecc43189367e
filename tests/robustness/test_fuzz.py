"""Whatever a parser is given, it answers with a value or with an error of the kit, the same each time."""

import io
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kit import ledger, plain_yaml
from kit.collection import registry
from kit.collection.readme import require_configs
from kit.collection.rows import read_rows as read_rows_file
from kit.collection.schema import SOPHIA
from kit.collection.sources import open_collection
from kit.errors import KitError
from kit.params import FIELDS, load_params
from kit.relevance.splits import read_splits
from kit.reporting.scorecard import Scorecard, read_scorecard
from kit.retrieval.execute import misbehaviour, read_manifest
from kit.retrieval.fusion import require_whole
from kit.retrieval.model_folder import read_folder
from kit.retrieval.run import ranked, read_rows, write_run, write_trec
from kit.retrieval.service import Service
from kit.retrieval.system import Answer

FUZZ = settings(derandomize=True, max_examples=60, database=None,
                suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
FEW = settings(FUZZ, max_examples=25)
TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
ODD = st.text(max_size=20)  # halves of characters too
SCALAR = st.none() | st.booleans() | st.integers() | st.floats() | ODD
VALUE = st.recursive(SCALAR, lambda v: st.lists(v, max_size=4) | st.dictionaries(ODD, v, max_size=4), max_leaves=12)
BYTES = st.binary(max_size=200)


def near(keys):
    """Objects with some of these keys, each of any value."""
    return st.dictionaries(st.sampled_from(sorted(keys)), VALUE, max_size=len(keys))


def as_json(value) -> bytes:
    return json.dumps(value).encode()


def damaged(raw: bytes):
    """These bytes, cut, and with some of them changed."""
    return st.tuples(st.integers(0, len(raw)), st.lists(st.tuples(st.integers(0, len(raw) - 1), st.integers(0, 255)),
                                                        max_size=6)).map(lambda how: _damage(raw, *how))


def _damage(raw: bytes, length: int, changes: list) -> bytes:
    changed = bytearray(raw)
    for place, value in changes:
        changed[place] = value
    return bytes(changed if length < len(raw) // 4 else changed[:length])


def value_or_error(read, *arguments):
    """The value, or None for an error of the kit: one line, which a terminal can show."""
    try:
        return read(*arguments)
    except KitError as error:
        said = str(error)
        assert said and "\n" not in said and said.encode() and len(said) < 3000
        assert error.what
        return None


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


# --- runs and rows ---------------------------------------------------------------------------------

GOOD_RUN = b"q1 Q0 d1 1 2.5 x\nq1 Q0 d2 2 1.5 x\nq2 Q0 d1 1 1e-3 x\n"
WORDS = st.lists(st.sampled_from(["q1", "Q0", "d1", "1", "2.5", "x", "\t", "nan", "1e999", "\u00a0", "\r", "\n", "\ufeff", ""]) | TEXT,
                 max_size=30).map(" ".join).map(str.encode)


@FUZZ
@given(BYTES | WORDS | damaged(GOOD_RUN))
def test_a_trec_run(place, raw):
    path = place / "run.trec"
    path.write_bytes(raw)
    rows = value_or_error(read_rows, path)
    if rows is not None:
        assert len(rows.ranked()) == len(rows.queries) > 0 and np.isfinite(rows.ranked()["score"].to_numpy()).all()


NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=8).filter(
    lambda name: name.split() == [name] and not name.startswith("\ufeff"))
PAIRS = st.dictionaries(st.tuples(NAMES, NAMES), st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1,
                        max_size=12)


@FUZZ
@given(PAIRS)
def test_a_run_comes_back_from_both_forms_as_it_was(place, pairs):
    run = ranked(*zip(*((q, d, s) for (q, d), s in pairs.items())))
    write_trec(place / "round.trec", run, "x")
    write_run(place / "round.parquet", run)
    assert read_rows(place / "round.trec").ranked() == read_rows(place / "round.parquet").ranked() == run


def _parquet(table: pa.Table) -> bytes:
    held = io.BytesIO()
    pq.write_table(table, held)
    return held.getvalue()


@FUZZ
@given(damaged(_parquet(ranked(["q1", "q1", "q2"], ["d1", "d2", "d1"], [2.5, 1.5, 1.0]))))
def test_a_parquet_run(place, raw):
    path = place / "run.parquet"
    path.write_bytes(raw)
    value_or_error(read_rows, path)


ROW = {"qid": "q1", "text": "A valve.", "gold_apps": ["d1"], "statute": "102", "grade": ["X"], "query_cpc": ["A01B"],
       "gold_cpc": {"d1": ["A01B"]}}


@FUZZ
@given(st.lists(near(ROW).map(lambda row: as_json({**ROW, **row})) | VALUE.map(as_json) | BYTES | damaged(as_json(ROW)),
                min_size=1, max_size=3))
def test_a_rows_file(place, lines):
    path = place / "rows.jsonl"
    path.write_bytes(b"\n".join(lines))
    tables = value_or_error(read_rows_file, path)
    if tables is not None:
        assert len(tables["queries"]) >= 1 and all(tables["queries"]["query_id"][:])


# --- YAML ------------------------------------------------------------------------------------------

YAML = st.text(st.sampled_from("-:{}[]&*!|>'\"#%@`,?~<= \n\tabc019.\u00e9"), max_size=60)


@FUZZ
@given(YAML | TEXT)
def test_any_yaml(text):
    try:
        plain_yaml.read(text)
    except ValueError as error:
        assert str(error) and "\n" not in str(error)


@FUZZ
@given(VALUE)
def test_what_pyyaml_writes_in_quotes_comes_back(value):
    text = yaml.safe_dump(value, default_style='"')
    if any(tag in text for tag in ("!!", "\\uD", "&")):  # numbers are tagged in quotes, halves can't be read
        return
    assert plain_yaml.read(text) == value


@FUZZ
@given(near(FIELDS).map(lambda v: json.dumps(v).encode()) | YAML.map(str.encode) | BYTES
       | damaged(Path("params/mini.yaml").read_bytes()))
def test_a_file_of_parameters(place, raw):
    path = place / "some.yaml"
    path.write_bytes(raw)
    value_or_error(load_params, path)


@FUZZ
@given(st.sampled_from(sorted(FIELDS)) | TEXT, YAML | TEXT)
def test_a_parameter_on_the_command_line(name, text):
    value_or_error(load_params, None, [(name, text)])


DIGEST = "a" * 64
ENTRY = {"environment": "mine", "layout": "sophia", "licence": "x", "attribution": "x", "hub": "a/b", "note": "x",
         "counts": {"queries": 1}, "oddities": {}, "generations": {"mine-1": dict.fromkeys(
             ("queries", "corpus", "qrels", "together"), DIGEST)}, "calibration": []}


@FUZZ
@given(near(ENTRY).map(lambda e: as_json({"mine": {**ENTRY, **e}})) | VALUE.map(as_json) | YAML.map(str.encode) | BYTES)
def test_a_registry(place, raw):
    path = place / "registry.yaml"
    path.write_bytes(raw)
    value_or_error(registry._checked, path)


@FUZZ
@given(YAML.map(lambda t: f"---\n{t}\n---\n".encode()) | VALUE.map(lambda v: b"---\nconfigs: " + as_json(v) + b"\n---\n") | BYTES)
def test_a_readme(place, raw):
    (place / "README.md").write_bytes(raw)
    value_or_error(require_configs, place, SOPHIA)


# --- cards, manifests, ledgers ---------------------------------------------------------------------

@FUZZ
@given(near(Scorecard.model_fields).map(as_json) | VALUE.map(as_json) | BYTES)
def test_a_scorecard(place, raw):
    path = place / "card.json"
    path.write_bytes(raw)
    assert value_or_error(read_scorecard, path) is None  # by chance none is whole


@pytest.fixture(scope="module")
def card(sound_outputs) -> bytes:
    return next((sound_outputs / "out" / "reports" / "scorecards").glob("*.json")).read_bytes()


@FUZZ
@given(data=st.data())
def test_a_scorecard_of_which_bytes_were_changed(place, card, data):
    path = place / "card.json"
    path.write_bytes(data.draw(damaged(card)))
    value_or_error(read_scorecard, path)


@FUZZ
@given(data=st.data())
def test_a_scorecard_of_which_a_field_was_changed(place, card, data):
    stated = json.loads(card)
    (place / "card.json").write_bytes(as_json({**stated, **data.draw(near(stated))}))
    value_or_error(read_scorecard, place / "card.json")


MANIFEST = ("system", "environment", "fingerprints", "depth", "sample", "queries", "corpus_size", "views", "failures", "status",
            "notes", "cost", "ledger", "git", "run_sha256", "suite_version", "empty_queries")


@FUZZ
@given(near(MANIFEST).map(as_json) | VALUE.map(as_json) | BYTES)
def test_a_manifest(place, raw):
    path = place / "manifest.json"
    path.write_bytes(raw)
    manifest = value_or_error(read_manifest, path)
    if manifest is not None:
        value_or_error(require_whole, manifest, place)


EVENT = ("event", "previous", "run", "key", "counted", "views", "inputs", "block", "sha256", "status", "card", "run_sha256", "time")


@FUZZ
@given(st.lists(near(EVENT).map(as_json) | VALUE.map(as_json) | BYTES | st.sampled_from(
    [b'{"event": "run begun", "previous": "%s", "key": "k"}' % (b"0" * 64), b'{"event": "run ended", "run": null}']), max_size=5),
    st.none() | BYTES)
def test_a_ledger(place, lines, head):
    path = ledger.ledger_path(str(place / "out"))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\n".join(lines))
    path.with_suffix(".head").write_bytes(head or b"")
    book = ledger.read(str(place / "out"))
    assert isinstance(book.faults(), list)
    for line in book.lines:
        book.search_number(line.sha256)
        book.ending(line.sha256)
        book.blocks(line.sha256)
        book.is_result(line.sha256)


# --- splits, answers, models -----------------------------------------------------------------------

CELLS = st.lists(st.lists(st.sampled_from(["q1", "train", '"', "\0", "", " ", "\r"]) | TEXT, max_size=4).map(",".join), max_size=5).map(
    lambda rows: "\n".join(["query_id,split", *rows]).encode())


@FUZZ
@given(CELLS | BYTES)
def test_a_csv_of_splits(place, raw):
    path = place / "splits.csv"
    path.write_bytes(raw)
    found = value_or_error(read_splits, path)
    if found is not None:
        assert found.index.is_unique and all(isinstance(v, str) for v in found)


@FUZZ
@given(damaged(_parquet(pa.table({"query_id": ["q1", "q2"], "split": ["train", "test"]}))))
def test_a_parquet_of_splits(place, raw):
    path = place / "splits.parquet"
    path.write_bytes(raw)
    value_or_error(read_splits, path)


SERVICE = Service("http://127.0.0.1:9/")


@FUZZ
@given(VALUE.map(as_json) | st.lists(st.sampled_from(["d1", "d2", "d3"]) | VALUE, max_size=5).map(as_json) | BYTES,
       st.sampled_from(["", "identity", "gzip", "deflate", "br", "x"]))
def test_an_answer_of_a_service(raw, encoding):
    answer = SERVICE._read(raw, encoding)
    if isinstance(answer, Answer):
        fault = misbehaviour(answer, 3, {"d1", "d2", "d3"})
        assert fault or (len(answer.ids) <= 3 and set(answer.ids) <= {"d1", "d2", "d3"})
        assert not fault or ("\n" not in fault and fault.encode() and len(fault) < 500)


JSONS = ("config.json", "modules.json", "1_Pooling/config.json", "config_sentence_transformers.json", "sentence_bert_config.json",
         "tokenizer_config.json")
HEADER = b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
WEIGHTS = len(HEADER).to_bytes(8, "little") + HEADER + bytes(4)
SAID = ("type", "path", "pooling_mode", "prompts", "default_prompt_name", "max_seq_length", "model_max_length", "hidden_size",
        "max_position_embeddings", "auto_map", "word_embedding_dimension", "pooling_mode_mean_tokens", "out_features")


@FUZZ
@given(st.sampled_from(JSONS), near(SAID).map(as_json) | st.lists(near(SAID), max_size=3).map(as_json) | VALUE.map(as_json) | BYTES)
def test_a_json_file_of_a_model(tmp_path_factory, name, raw):
    folder = tmp_path_factory.mktemp("model")
    (folder / "model.safetensors").write_bytes(WEIGHTS)
    (folder / "1_Pooling").mkdir()
    (folder / "modules.json").write_text('[{"type": "x.Transformer", "path": ""}, {"type": "x.Pooling", "path": "1_Pooling"}]')
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode": "mean"}')
    (folder / name).write_bytes(raw)
    value_or_error(read_folder, folder)


@FUZZ
@given(damaged(WEIGHTS) | BYTES | st.integers(0, 2**64 - 1).map(lambda n: n.to_bytes(8, "little") + HEADER))
def test_weights_of_a_model(place, raw):
    folder = place / "weights"
    folder.mkdir(exist_ok=True)
    (folder / "model.safetensors").write_bytes(raw)
    value_or_error(read_folder, folder)


# --- a whole collection ----------------------------------------------------------------------------

@FEW
@given(table=st.sampled_from(["queries", "corpus", "qrels"]), data=st.data())
def test_a_collection_of_which_bytes_were_changed(tmp_path_factory, make_collection, table, data):
    folder = make_collection(tmp_path_factory.mktemp("bytes"), readme=False)
    path = next((folder / table).iterdir())
    path.write_bytes(data.draw(damaged(path.read_bytes())))
    collection = value_or_error(lambda: open_collection(str(folder)))
    if collection is not None:
        value_or_error(lambda: (collection.fingerprints, collection.faults))


