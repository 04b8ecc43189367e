"""A sweep's runs: those of each setting alone, kept under all that they depend on, and resumed."""

import json

import numpy as np
import pytest

from kit.collection.sources import open_collection
from kit.errors import KitError, ParamsError, SearchError
from kit.params import Params
from kit.retrieval import sweep
from kit.retrieval.execute import retrieve
from kit.retrieval.sweep import require_sweepable, sweep_cell, sweep_lengths

WORDS = [f"w{n}" for n in range(40)]


@pytest.fixture(scope="module")
def collection(tmp_path_factory, make_collection):
    rng = np.random.default_rng(2)

    def patents(column, ids):
        return [{column: name, "description": "", "claims": "",
                 "abstract": " ".join(rng.choice(WORDS, 300))} for name in ids]

    folder = make_collection(tmp_path_factory.mktemp("sweep"),
                             patents("query_id", ["q1", "q2", "d1"]),
                             patents("doc_id", [f"d{n}" for n in range(1, 8)]),
                             [("q1", "d1"), ("q2", "d3"), ("d1", "d2")])
    return open_collection(str(folder))


@pytest.fixture
def given(tmp_path):
    """A function that makes parameters, in an outputs folder of the test's own."""
    def make(place="one", **more):
        return Params(**{"outputs": str(tmp_path / place), "query_view": "ta", "corpus_view": "ta",
                         "systems": ["bm25-passages"], "depth": 4, "passage_length": 64,
                         "sweep_lengths": [128, 64], "sweep_aggregations": ["maxP", "avgP"], **more})
    return make


def cells(collection, params):
    return [sweep_cell(collection, "bm25-passages", length, params)
            for length in sweep_lengths(params)]


def runs_of(made) -> dict[str, bytes]:
    return {f"{cell.length} {file.name}": file.read_bytes()
            for cell in made for file in cell.folder.glob("*.parquet")}


def test_a_cells_runs_are_those_that_each_setting_has_alone(collection, given):
    for cell in cells(collection, given()):
        for each in cell.aggregations:
            alone = retrieve(collection, "bm25-passages", given(
                passage_length=cell.length, passage_aggregation=each))
            assert cell.table(each).equals(alone.rows)
            run = cell.as_run(each, ["q1", "q2", "d1", "none"])
            assert run.manifest["empty_queries"] == ["none"]
            same = ("environment", "fingerprints", "depth", "queries", "corpus_size", "sample", "views")
            assert all(run.manifest[name] == alone.manifest[name] for name in same)


def test_a_sweep_that_was_killed_goes_on_and_ends_in_the_same_bytes(collection, given, monkeypatch):
    whole = runs_of(cells(collection, given("whole")))
    real, calls = sweep.passage_runs, []

    def stopping(collection, name, params, aggregations):
        calls.append(params.passage_length)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(collection, name, params, aggregations)

    monkeypatch.setattr(sweep, "passage_runs", stopping)
    with pytest.raises(KeyboardInterrupt):
        cells(collection, given())
    again = cells(collection, given())
    assert calls == [64, 128, 128] and runs_of(again) == whole
    before = {cell.folder: (cell.folder / "cell.json").read_bytes() for cell in again}
    assert [cell.stated for cell in cells(collection, given())] == [cell.stated for cell in again]
    assert calls == [64, 128, 128]
    assert before == {f: (f / "cell.json").read_bytes() for f in before}


def test_a_cell_that_was_killed_between_its_files_is_made_anew(collection, given, monkeypatch):
    whole = runs_of(cells(collection, given("whole")))
    with monkeypatch.context() as patch:
        patch.setattr(sweep, "write_json", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            cells(collection, given())
    assert runs_of(cells(collection, given())) == whole


@pytest.mark.parametrize("damage", [lambda f: (f / "maxP.parquet").write_bytes(b"x"),
                                    lambda f: (f / "avgP.parquet").unlink(),
                                    lambda f: (f / "cell.json").write_text("{")])
def test_a_cell_that_was_damaged_is_made_anew(collection, given, damage):
    cell, _ = cells(collection, given())
    whole = runs_of([cell])
    damage(cell.folder)
    assert runs_of(cells(collection, given())[:1]) == whole


@pytest.mark.parametrize("change", [
    {"bm25_k1": 0.9}, {"depth": 3}, {"corpus_view": "tac"}, {"query_view": "title"}, {"passage_stride": 10},
    {"passage_title": True}, {"sample": 2}, {"sweep_aggregations": ["maxP"]}],
    ids=lambda c: next(iter(c)))
def test_what_a_run_depends_on_names_its_folder(collection, given, change):
    folder = cells(collection, given())[0].folder
    assert cells(collection, given(**change))[0].folder != folder


def test_what_no_run_of_it_depends_on_does_not(collection, given):
    folder = cells(collection, given())[0].folder
    other = given(passage_length=128, passage_aggregation="avgP", passage_answers="passages",
                  protocol="a", sweep_lengths=[64], systems=["bm25", "bm25-passages"])
    assert cells(collection, other)[0].folder == folder


def test_the_ledger_and_the_runs_of_scorecards_know_nothing_of_it(collection, given, tmp_path):
    made = cells(collection, given())
    assert {f.relative_to(tmp_path / "one").parts[:2] for f in (tmp_path / "one").rglob("*.*")} == {
        ("cache", "sweeps")}
    stated = json.loads((made[0].folder / "cell.json").read_text())
    assert set(stated["seconds"]) == {"preprocessing", "index", "search"}
    assert stated["notes"]["passages"] > 7 and stated["git"] and stated["machine"]


@pytest.mark.parametrize("change, error, said", [
    ({"systems": ["bm25"]}, SearchError, "searches passages"),
    ({"sweep_aggregations": ["maxP", "best"]}, ParamsError, "no aggregation 'best'"),
    ({"passage_stride": 100}, ParamsError, "stride"),
    ({"passage_length": 512}, ParamsError, r"512 is none of the sweep's.*\[64, 128\]"),
    ({"passage_aggregation": "sumP"}, ParamsError, "sumP is none of the sweep's"),
    ({"bm25_engine": "rank-bm25"}, SearchError, "rank-bm25"),
], ids=lambda c: next(iter(c)) if isinstance(c, dict) else "")
def test_what_can_not_be_swept_is_refused_before_a_search(given, change, error, said):
    with pytest.raises(error, match=said):
        require_sweepable(given(**change))


@pytest.mark.parametrize("values", [[], [63], [64, 8193], [64.5], ["64"]])
def test_lengths_have_bounds(given, values):
    from kit.params import make_params
    with pytest.raises(KitError, match="sweep_lengths"):
        make_params({"sweep_lengths": values})


def test_lengths_that_are_not_named_are_64_to_2048(given):
    assert sweep_lengths(given(sweep_lengths=None)) == [64, 128, 256, 512, 1024, 2048]
