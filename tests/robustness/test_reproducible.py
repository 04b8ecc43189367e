"""The same data gives the same runs, byte for byte, and the same figures: whatever the order and sharding
of its files, threads, locale, time zone, hash seed, working folder and the characters of a path; vectors
agree to the tolerance that `encode` states."""

import json
import os
import shutil
import subprocess
import sys
from itertools import islice
from pathlib import Path

import nbformat
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from kit import cli, pipeline
from kit.collection import miniature
from kit.collection.sources import open_collection
from kit.errors import KitError
from kit.evaluation.evaluate import evaluate
from kit.params import make_params
from kit.retrieval import execute
from kit.retrieval.dense import DECIMALS, Dense
from kit.retrieval.encode import TOLERANCE, encode
from kit.retrieval.run import ranked
from kit.text.views import texts
from kit.visible import Screen
from reproduce import made

TABLES = ("queries", "corpus", "qrels")
ODD = "a {b} ü [c] 'd' ~ %41 弁"  # a folder's name


def tables(folder: Path) -> dict[str, pa.Table]:
    return {table: pq.read_table(sorted((folder / table).glob("*.parquet"))) for table in TABLES}


def scattered(source: Path, target: Path, seed: int, files: int, rows: int) -> Path:
    """The collection with the rows of each table shuffled, over so many files, whose names' order is
    not that of the rows either, in row groups of so many."""
    rng = np.random.default_rng(seed)
    for name, table in tables(source).items():
        (target / name).mkdir(parents=True)
        mixed = table.take(pa.array(rng.permutation(len(table))))
        borders = np.sort(rng.integers(0, len(table), files - 1)).tolist()
        for n, (start, stop) in enumerate(zip([0, *borders], [*borders, len(table)])):
            pq.write_table(mixed.slice(start, stop - start), target / name / f"part-{9 - n}.parquet",
                           row_group_size=rows, compression="zstd")
    return target


@pytest.fixture(scope="module")
def source(own_folders, tmp_path_factory) -> Path:
    """The miniature as a folder of the user's own, in the order in which it comes."""
    target = tmp_path_factory.mktemp("plain") / "data"
    for name, table in tables(Path(miniature.folder("mini"))).items():
        (target / name).mkdir(parents=True)
        pq.write_table(table, target / name / "all.parquet")
    return target


@pytest.fixture(scope="module")
def expected(source, tmp_path_factory) -> dict:
    """What this process makes of it, with its own threads and locale."""
    return made(str(source), str(tmp_path_factory.mktemp("expected")))


def same(found: dict, expected: dict) -> None:
    assert found["prints"] == expected["prints"]
    assert found["runs"] == expected["runs"]
    assert found["manifests"] == expected["manifests"]
    assert found["sample"] == expected["sample"]
    for system, figures in expected["figures"].items():  # to the last bit
        assert found["figures"][system] == figures, system


ELSEWHERE = {
    "one thread": {"NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
                   "TZ": "Pacific/Kiritimati", "LC_ALL": "C", "LANG": "C", "PYTHONHASHSEED": "1"},
    "two threads": {"NUMBA_NUM_THREADS": "2", "OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2", "MKL_NUM_THREADS": "2",
                    "TZ": "America/St_Johns", "LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8", "PYTHONHASHSEED": "4711"}}


@pytest.mark.parametrize("name", ELSEWHERE)
def test_another_process_elsewhere_gives_the_same_bytes(name, source, expected, tmp_path):
    """Other threads, locale, time zone and hash seed, other files, from a folder of another name."""
    home = tmp_path / ODD
    home.mkdir()
    streaming = ["streaming"] if name == "two threads" else []
    folder = scattered(source, home / "data", 7, 4, 37)
    command = [sys.executable, Path(__file__).with_name("reproduce.py"), "data", str(home / "out"), *streaming]
    root = str(Path(cli.__file__).parents[1])
    done = subprocess.run(command, cwd=home, capture_output=True, text=True, encoding="utf-8",
                          env={**os.environ, **ELSEWHERE[name], "PYTHONPATH": root})
    assert done.returncode == 0, done.stderr
    assert folder.is_dir()
    same(json.loads(done.stdout), expected)


def test_files_in_another_order_give_the_same_bytes(source, expected, tmp_path):
    same(made(str(scattered(source, tmp_path / "data", 1, 2, 1000)), str(tmp_path / "out")), expected)


# --- vectors ------------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def model():
    return Dense(device="cpu").model


def test_a_vector_hangs_neither_on_the_batch_nor_on_the_order_nor_on_the_threads(mini, model):
    """Bit for bit: texts of 3 to 256 tokens, some of them twice, in batches of 1, 5 and 32."""
    mixed = [*islice(texts(mini, "corpus", "title"), 16), *islice(texts(mini, "corpus", "abstract"), 4),
             *islice(texts(mini, "corpus", "tacd"), 2)]
    mixed += mixed[:8]
    expected, threads = encode(model, mixed, "", 32).vectors, torch.get_num_threads()
    assert (expected[:8] == expected[-8:]).all() and len(np.unique(expected, axis=0)) > 12
    try:
        for n, size in ((1, 1), (2, 5), (1, 32)):
            torch.set_num_threads(n)
            turned = np.random.default_rng(size).permutation(len(mixed))
            assert (encode(model, [mixed[i] for i in turned], "", size).vectors == expected[turned]).all(), (n, size)
    finally:
        torch.set_num_threads(threads)


def test_padding_alone_would_stay_within_the_tolerance(mini, model):
    """What another machine's kernels may do is of the size of what padding does."""
    mixed = [*islice(texts(mini, "corpus", "title"), 12), *islice(texts(mini, "corpus", "ta"), 4)]
    own = encode(model, mixed, "", 32).vectors.astype(np.float64)
    padded = model.encode(mixed, batch_size=32, normalize_embeddings=True).astype(np.float64)
    scores, others = own @ own.T, padded @ padded.T
    assert 0 < np.abs(scores - others).max() < TOLERANCE / 4
    assert np.abs(scores.round(DECIMALS) - others.round(DECIMALS)).max() < TOLERANCE


def test_no_printed_digit_hangs_on_the_tolerance(mini, tmp_path):
    """The worst and the best that noise within the tolerance can do to a run of the miniature: every text
    that is relevant to the query lowered, or raised, by all of it, and all others the other way. Equal
    texts have equal vectors, so that they move together."""
    measures = ["nDCG@10", "nDCG@100", "R@10", "R@100", "P@10", "Success@10", "RR", "AP"]
    run = execute.retrieve(mini, "embedding", make_params({
        "outputs": str(tmp_path), "query_view": "title", "corpus_view": "title", "embedding_device": "cpu"}))
    text = dict(zip(mini.ids("corpus"), map(str.lower, texts(mini, "corpus", "title"))))
    relevant = {(q, text[d]) for q, d in zip(mini.pairs["query_id"], mini.pairs["doc_id"])}
    queries, documents, scores = (run.table[c].to_pylist() for c in ("query_id", "doc_id", "score"))
    sign = np.where([(q, text[d]) in relevant for q, d in zip(queries, documents)], 1, -1)
    printed = []
    for way in (0, -1, 1):
        moved = ranked(queries, documents, np.array(scores) + way * TOLERANCE * sign)
        evaluation = evaluate(moved, mini, "all", measures)
        printed.append([f"{evaluation.mean(m):.3f}" for m in measures])
    assert printed[0] == printed[1] == printed[2]


# --- paths --------------------------------------------------------------------------------------------

def test_a_notebook_runs_where_paths_have_blanks_braces_and_other_signs(tmp_path, monkeypatch):
    """papermill fills braces in paths in: the project, the outputs and the temporary folder have some."""
    home = tmp_path / ODD
    (home / "notebooks").mkdir(parents=True)
    (home / "tmp {x}").mkdir()
    cells = [nbformat.v4.new_code_cell("experiment = 'mini'", metadata={"tags": ["parameters"]}),
             nbformat.v4.new_code_cell("print(experiment)")]
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": {
        "name": "python3", "display_name": "Python 3", "language": "python"}})
    nbformat.write(notebook, home / "notebooks" / "10_explore.ipynb")
    monkeypatch.setenv("TMPDIR", str(home / "tmp {x}"))
    monkeypatch.setattr("tempfile.tempdir", None)
    params = make_params({"experiment": "odd", "outputs": str(home / "out {put}")})
    pipeline._execute(home / "notebooks" / "10_explore.ipynb", home / "out {put}" / "10.ipynb", params, home / "progress")
    said = nbformat.read(home / "out {put}" / "10.ipynb", 4)
    assert "odd" in [output["text"].strip() for cell in said.cells for output in cell.get("outputs", [])]


def test_a_folder_of_such_a_name_is_opened_scored_and_verified(source, tmp_path, capfd, monkeypatch):
    home = tmp_path / ODD
    shutil.copytree(source, home / "data")
    monkeypatch.chdir(home)
    run = home / "a run.trec"
    ids = [pq.read_table(home / "data" / t / "all.parquet", columns=[c])[c][0] for t, c in (
        ("queries", "query_id"), ("corpus", "doc_id"))]
    run.write_text(f"{ids[0]} Q0 {ids[1]} 1 2.5 me\n", encoding="utf-8")
    assert cli.main(["score", "--collection", "data", "--run", run.name]) == 0
    assert "nDCG@10" in capfd.readouterr().out


@pytest.mark.parametrize("name, readme", [("$HOME", False), ("${HOME}", True), ("a::b", False), ("[c]", True)])
def test_a_folder_whose_path_would_be_read_as_another_is_refused(tmp_path, make_collection, name, readme):
    folder = make_collection(tmp_path / name, readme=readme)
    with pytest.raises(KitError, match="takes for something else"):
        open_collection(str(folder))


# --- where what is printed can't be said in the terminal's encoding -------------------------------------

def test_a_terminal_without_the_letters_gets_them_written_out(tmp_path):
    with open(tmp_path / "ascii", "w", encoding="ascii") as raw:
        print('{"صمام 🔧é": 1}', file=Screen(raw))
    text = (tmp_path / "ascii").read_text("ascii")
    assert json.loads(text) == {"صمام 🔧é": 1}
