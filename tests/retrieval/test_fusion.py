"""Fusion: the formulas against their restatement, what no order may change, and what is refused."""

import dataclasses
import json
import math
from collections import defaultdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kit import SUITE_VERSION
from kit.errors import ParamsError, RunError, SearchError
from kit.params import make_params
from kit.retrieval import execute
from kit.retrieval.execute import SavedRun, fuse_runs, open_finished, retrieve, retrieve_all
from kit.retrieval.fusion import Fusion, fuse, rrf, stated_of, weighted
from kit.retrieval.run import ranked
from kit.retrieval.shipped import system_names
from kit.retrieval.system import Answer

METHODS = ("rrf", "minmax", "zscore")
BOTH = ("minmax", "zscore")


def run_of(rankings: dict) -> "pa.Table":
    """{query: {document: score}} as a run."""
    rows = [(q, d, s) for q, docs in rankings.items() for d, s in docs.items()]
    return ranked(*zip(*rows)) if rows else ranked([], [], [])


def by_query(table) -> dict:
    """{query: [(document, score)]} in the table's order."""
    found = defaultdict(list)
    for row in table.to_pylist():
        found[row["query_id"]].append((row["doc_id"], row["score"]))
    return dict(found)


def fused(method: str, tables: list, weights=None):
    return rrf(tables) if method == "rrf" else weighted(tables, method, weights)


# scores that lie as near to each other as float32 allows, and far apart; some are equal
SCORES = st.one_of(
    st.integers(-3, 3).map(float),
    st.floats(1.0, 1.0001220703125, width=32), st.floats(32.0, 60.0, width=32),
    st.floats(-1024.0, -2**-10, width=32), st.floats(2**-10, 1024.0, width=32))
RANKINGS = st.dictionaries(
    st.sampled_from(["q1", "q2"]),
    st.dictionaries(st.sampled_from([f"d{n}" for n in range(8)]), SCORES, min_size=1), min_size=0)


# --- the formulas ---------------------------------------------------------------------------------

FIRST = {"q1": {"a": 9.0, "b": 5.0, "c": 1.0}}
SECOND = {"q1": {"b": 0.9, "d": 0.3}}


def test_rrf_by_hand():
    found = by_query(rrf([run_of(FIRST), run_of(SECOND)], 60))["q1"]
    assert found == [("b", np.float32(1 / 62 + 1 / 61)), ("a", np.float32(1 / 61)),
                     ("d", np.float32(1 / 62)), ("c", np.float32(1 / 63))]


def test_another_k_weighs_the_first_ranks_otherwise():
    runs = [run_of({"q1": {"a": 3, "x": 2, "b": 1}}), run_of({"q1": {"c": 3, "y": 2, "b": 1}})]
    assert by_query(rrf(runs, 0))["q1"][0][0] == "c"  # 1, against 1/3 + 1/3
    assert by_query(rrf(runs, 60))["q1"][0][0] == "b"  # 1/61, against 1/63 + 1/63


def test_minmax_by_hand():
    found = by_query(weighted([run_of(FIRST), run_of(SECOND)], "minmax", (1.0, 3.0)))["q1"]
    assert found == [("b", 3.5), ("a", 1.0), ("d", 0.0), ("c", 0.0)]


def test_zscore_by_hand():
    found = dict(by_query(weighted([run_of(FIRST), run_of(SECOND)], "zscore"))["q1"])
    z = 4 / math.sqrt(32 / 3)  # of 9, 5, 1: mean 5, variance 32/3; of .9, .3: 1 and -1
    assert found == pytest.approx({"a": z - 1, "b": 1, "c": -z - 1, "d": -z - 1}, rel=1e-6)


def test_scores_that_are_all_equal():
    """By minmax they are the best there is, by zscore they say nothing."""
    runs = [run_of({"q1": {"a": 2.0}}), run_of({"q1": {"b": 5.0, "c": 4.0}})]
    assert dict(by_query(weighted(runs, "minmax"))["q1"]) == {"a": 1.0 + 0.0, "b": 1.0 + 1.0, "c": 1.0}
    assert dict(by_query(weighted(runs, "zscore"))["q1"]) == {"a": -1.0, "b": 1.0, "c": -1.0}


def restated(method: str, rankings: list[dict], k: float = 60, weights=None) -> dict:
    """{query: {document: score}}, plainly."""
    found = {}
    for q in {q for r in rankings for q in r}:
        found[q] = {d: 0.0 for r in rankings for d in r.get(q, {})}
        for r, weight in zip(rankings, weights or [1.0] * len(rankings)):
            if q not in r:
                continue
            mine = by_query(run_of({q: r[q]}))[q]
            values = [s for _, s in mine]
            mean = sum(values) / len(values)
            spread = math.sqrt(sum((s - mean) ** 2 for s in values) / len(values))
            flat = max(values) == min(values)
            got = {}
            for rank, (d, s) in enumerate(mine, 1):
                got[d] = {"rrf": lambda: 1 / (k + rank),
                          "minmax": lambda: 1.0 if flat else (s - min(values)) / (max(values) - min(values)),
                          "zscore": lambda: 0.0 if flat else (s - mean) / spread}[method]()
            for d in found[q]:
                found[q][d] += weight * got.get(d, 0.0 if method == "rrf" else min(got.values()))
    return found


@settings(deadline=None, max_examples=50)
@pytest.mark.parametrize("method", METHODS)
@given(rankings=st.lists(RANKINGS, min_size=2, max_size=3))
def test_scores_are_those_of_the_restatement(method, rankings):
    found = {q: dict(rows) for q, rows in by_query(fused(method, list(map(run_of, rankings)))).items()}
    wanted = restated(method, rankings)
    assert found.keys() == wanted.keys()
    for q in wanted:
        assert found[q] == pytest.approx(wanted[q], rel=1e-5, abs=1e-4)


@settings(deadline=None, max_examples=50)
@pytest.mark.parametrize("method", METHODS)
@given(rankings=st.lists(RANKINGS, min_size=2, max_size=4), weights=st.data())
def test_the_order_of_the_runs_changes_nothing(method, rankings, weights):
    n = len(rankings)
    given_ = weights.draw(st.lists(st.floats(0.01, 10), min_size=n, max_size=n))
    order = weights.draw(st.permutations(range(n)))
    runs = list(map(run_of, rankings))
    turned = fused(method, [runs[i] for i in order], [given_[i] for i in order])
    assert fused(method, runs, given_).equals(turned)


@pytest.mark.parametrize("method", METHODS)
def test_documents_whose_shares_are_the_same_tie_whichever_run_gave_them(method):
    """Three runs rotate the scores of three documents, for fifty such threes."""
    scores = np.random.default_rng(2).uniform(0.1, 2.9, (50, 3))
    runs = [run_of({f"q{n}": {"top": 3.0, "end": 0.0, **{f"d{i}": s[(i + turn) % 3] for i in range(3)}}
                    for n, s in enumerate(scores)}) for turn in range(3)]
    for rows in by_query(fused(method, runs)).values():
        assert len({s for d, s in rows if d.startswith("d")}) == 1


@settings(deadline=None, max_examples=50)
@pytest.mark.parametrize("method", METHODS)
@given(ranking=RANKINGS, times=st.integers(2, 3), weight=st.floats(0.01, 10))
def test_a_run_fused_with_itself_keeps_its_order(method, ranking, times, weight):
    run = run_of(ranking)
    found = fused(method, [run] * times, [weight, *[1.0] * (times - 1)])
    assert found.select(["query_id", "doc_id", "rank"]).equals(run.select(["query_id", "doc_id", "rank"]))


@pytest.mark.parametrize("method", METHODS)
def test_a_long_run_of_near_ties_fused_with_itself_keeps_its_order(method):
    rng = np.random.default_rng(1)
    scores = np.cumsum(np.repeat(np.spacing(np.float32(30)), 1000) * rng.integers(0, 3, 1000)) + 31
    names = [f"d{n:04d}" for n in rng.permutation(1002)]
    run = ranked(["q"] * 1002, names, [*scores, 60.0, 0.0])  # s/60 is coarser than s in float32
    assert fused(method, [run, run])["doc_id"].equals(run["doc_id"])


# --- saved runs -----------------------------------------------------------------------------------

def saved(table, system="a", folder="a", **changes) -> SavedRun:
    manifest = {
        "system": {"name": system, "version": "1", "given": {"x": 1}}, "environment": "tiny",
        "generation": None, "fingerprints": {"together": "f", "corpus": "c"}, "depth": 2,
        "queries": 3, "corpus_size": 9, "sample": None, "suite_version": SUITE_VERSION,
        "views": {"query": {"view": "ta", "sha256": "1"}, "corpus": {"view": "ta", "sha256": "2"}},
        "failures": [], "empty_queries": [], "own_entries_excluded": 0, "notes": {},
        "cost": {"index_seconds": 1.0, "search_seconds": 2.0}, "run_sha256": system,
        "status": "complete", **changes}
    return SavedRun(Path(folder), table, manifest)


WHOLE = run_of({"q1": {"a": 3, "b": 2}, "q2": {"a": 1}, "q3": {"c": 1}})


def test_it_is_cut_to_the_depth_and_ties_are_counted():
    other = run_of({"q1": {"c": 3, "b": 2}, "q2": {"d": 1}, "q3": {"c": 1}})
    found = fuse([saved(WHOLE), saved(other, "b")], Fusion())
    assert [d for d, _ in by_query(found.table)["q1"]] == ["b", "c"] and found.ties_at_the_cut == 1


def test_a_query_that_a_run_failed_on_has_no_ranking():
    part = run_of({"q1": {"a": 3}, "q3": {"c": 1}})
    said = [{"query_id": "q2", "fault": "down"}]
    for runs in ([saved(WHOLE), saved(part, "b", failures=said)],
                 [saved(part, "b", failures=said), saved(WHOLE)]):
        found = fuse(runs, Fusion())
        assert set(by_query(found.table)) == {"q1", "q3"} and found.lacking == 0
        assert found.failures == [{"query_id": "q2", "fault": "b: down"}]


def test_a_query_on_which_two_runs_failed_is_one_failure():
    part = run_of({"q1": {"a": 3}, "q3": {"c": 1}})
    runs = [saved(part, name, failures=[{"query_id": "q2", "fault": "down"}]) for name in "ba"]
    assert fuse(runs, Fusion()).failures == [{"query_id": "q2", "fault": "a: down; b: down"}]


def test_queries_that_a_run_lacks_are_counted():
    part = saved(run_of({"q1": {"a": 3}}), "b", empty_queries=["q2", "q3"])
    found = fuse([saved(WHOLE), part], Fusion())
    assert set(by_query(found.table)) == {"q1", "q2", "q3"} and found.lacking == 2


@pytest.mark.parametrize("change, what", [
    ({"environment": "other"}, r"environment \(other, not tiny\)"),
    ({"fingerprints": {"together": "g"}}, r"fingerprints \(g, not f\)"),
    ({"depth": 3}, r"depth \(3, not 2\)"),
    ({"sample": {"size": 2, "seed": 0}}, r"sample \(seed 0 size 2, not all queries\)"),
    ({"empty_queries": ["q4"]}, r"queries \(4 of them, not 3 of them\)"),
    ({"corpus_size": 8}, r"documents \(8, not 9\)"),
    ({"views": {"query": {"view": "ta", "sha256": "9"}, "corpus": {}}}, r"query view \(ta 9, not ta 1\)"),
    ({"suite_version": "0.9"}, r"suite \(0, not \d\)"),
    ({"depth": 3, "environment": "x"}, r"environment .*, depth"),
])
def test_runs_of_other_conditions_are_refused_with_what_differs(change, what):
    runs = [saved(WHOLE), saved(WHOLE, "b"), saved(WHOLE, "c", "folder-of-c", **change)]
    with pytest.raises(RunError, match=rf"run of c can't be fused with that of a: .*{what}.*folder-of-c"):
        fuse(runs, Fusion())


def test_a_run_file_states_no_view_and_goes_with_any():
    file = saved(WHOLE, "file", views=None)
    views = stated_of([file, saved(WHOLE)], Fusion())["views"]
    assert (views["query"]["view"], views["corpus"]["view"]) == ("ta", "those of its runs")
    assert stated_of([file, file], Fusion())["views"] is None


def test_two_query_views_are_refused_also_behind_a_run_file():
    other = saved(WHOLE, "b", views={"query": {"view": "tac", "sha256": "9"}, "corpus": {}})
    with pytest.raises(RunError, match="query view"):
        fuse([saved(WHOLE, "file", views=None), saved(WHOLE), other], Fusion())


def test_runs_of_another_major_suite_are_refused_also_among_themselves():
    with pytest.raises(RunError, match="suite"):
        fuse([saved(WHOLE, name, suite_version="0.9") for name in "ab"], Fusion())


@pytest.mark.parametrize("fusion, runs, said", [
    (Fusion(), 1, "two runs or more"), (Fusion(), 0, "two runs or more"),
    (Fusion("rrf", weights=(1.0, 1.0)), 2, "takes no weights"),
    (Fusion("minmax", weights=(1.0,)), 2, "1 weights for 2 runs")])
def test_what_can_not_be_fused(fusion, runs, said):
    with pytest.raises((RunError, SearchError), match=said):
        fuse([saved(WHOLE)] * runs, fusion)


@pytest.mark.parametrize("method", METHODS)
def test_what_is_stated_does_not_depend_on_the_order_of_the_runs(method):
    weights = None if method == "rrf" else (1.0, 2.0, 3.0)
    runs = [saved(WHOLE, name) for name in "aba"]
    turned = weights and weights[::-1]
    stated = stated_of(runs, Fusion(method, weights=weights))
    assert stated == stated_of(runs[::-1], Fusion(method, weights=turned))
    assert list(stated["system"]["given"]["of"]) == ["a", "a #2", "b"]
    assert stated["system"]["settings"]["run of b"] == "b"


def test_two_settings_that_give_one_ranking_have_one_order_too():
    run = saved(WHOLE)
    other = run.manifest["system"] | {"given": {"x": 2}}
    runs = [run, dataclasses.replace(run, manifest=run.manifest | {"system": other})]
    assert stated_of(runs, Fusion()) == stated_of(runs[::-1], Fusion())


# --- in an experiment -----------------------------------------------------------------------------

QUERIES, DOCS = ["q1", "q2", "q3"], ["d1", "d2", "d3", "d4"]


class Made:
    """A system that answers with the corpus, turned by `turn`; it fails on the query at `fails`."""

    version = "1"

    def __init__(self, name, turn=0, fails=None):
        self.name, self.turn, self.fails = name, turn, fails
        self.given = self.settings = {"turn": turn}

    def prepare(self, ids, texts):
        self.ids = ids

    def search_batch(self, texts, topk):
        ids = (self.ids[self.turn:] + self.ids[:self.turn])[:topk]
        return [Answer(["nobody"] if n == self.fails else ids, None) for n in range(len(texts))]

    def notes(self):
        return {"query_texts_cut": self.turn}


@pytest.fixture
def made(monkeypatch):
    """Two systems under the names of shipped ones; a test may change them."""
    systems = {"bm25": Made("bm25"), "embedding": Made("dense", 1), "service": Made("third", 2)}
    monkeypatch.setattr(execute, "make_system", lambda name, params: systems[name])
    return systems


@pytest.fixture
def collection(hold_collection):
    return hold_collection(QUERIES, DOCS, [(q, "d1") for q in QUERIES])


@pytest.fixture
def params(tmp_path):
    def build(**given_):
        return make_params({"systems": ["bm25", "embedding", "fusion"], "depth": 3,
                            "outputs": str(tmp_path / "out"), **given_})
    return build


def test_the_fused_run_is_that_of_its_inputs(made, collection, params):
    bm25, dense, run = retrieve_all(collection, params())
    assert run.system == "fusion" and run.table.equals(fuse([bm25, dense], Fusion()).table)
    assert run.manifest["status"] == "complete" and run.manifest["views"] == bm25.manifest["views"]
    assert run.manifest["system"]["settings"] == {
        "method": "rrf", "k": 60, "run of bm25": bm25.manifest["run_sha256"],
        "run of dense": dense.manifest["run_sha256"]}
    assert run.manifest["notes"] == {"bm25: query_texts_cut": 0, "dense: query_texts_cut": 1,
                                     "queries_that_a_run_lacks": 0}
    assert json.loads((run.folder / "manifest.json").read_text()) == run.manifest


def test_its_seconds_stand_apart_from_those_of_its_inputs(made, collection, params):
    *inputs, run = retrieve_all(collection, params())
    for name in ("index_seconds", "search_seconds"):
        total = math.fsum(r.manifest["cost"][name] for r in inputs)
        assert run.manifest["cost"][f"inputs_{name}"] == total
    assert run.manifest["cost"]["index_seconds"] == 0


def test_it_is_run_last_and_over_what_is_named(made, collection, params):
    given_ = params(systems=["fusion", "bm25", "embedding", "service"], fusion_of=["service", "bm25"])
    assert system_names(given_) == ["bm25", "embedding", "service", "fusion"]
    run = retrieve_all(collection, given_)[-1]
    assert list(run.manifest["system"]["given"]["of"]) == ["bm25", "third"]


def test_it_is_reopened_and_not_fused_again(made, collection, params, monkeypatch):
    first = retrieve_all(collection, params())[-1]
    monkeypatch.setattr(execute.fusion, "fuse", lambda *_: 1 / 0)
    assert retrieve(collection, "fusion", params()).manifest == first.manifest


@pytest.mark.parametrize("change", [
    {"fusion_k": 30}, {"fusion_method": "minmax"}, {"depth": 2}, {"sample": 2},
    {"fusion_method": "minmax", "fusion_weights": {"bm25": 1.0, "embedding": 2.0}}],
    ids=lambda c: "-".join(c))
def test_other_settings_are_another_run(made, collection, params, change):
    folders = {retrieve(collection, "fusion", params(**c)).folder
               for c in ({}, {"fusion_method": "zscore"}, change)}
    assert len(folders) == 3


def test_the_order_of_systems_and_weights_names_no_other_run(made, collection, params):
    weights = {"embedding": 2.0, "bm25": 1.0}
    folders = [retrieve(collection, "fusion", params(
        systems=systems, fusion_method="zscore", fusion_weights=weights)).folder
        for systems in (["bm25", "embedding", "fusion"], ["fusion", "embedding", "bm25"])]
    assert folders[0] == folders[1]


def test_a_fused_run_in_fresh_outputs_is_the_same(made, collection, params, tmp_path):
    a, b = (retrieve(collection, "fusion", params(outputs=str(tmp_path / o))) for o in "ab")
    assert a.folder.name == b.folder.name
    assert a.manifest["run_sha256"] == b.manifest["run_sha256"]


@pytest.mark.parametrize("change, said", [
    ({"fusion_of": ["bm25", "service"]}, "'service' is no system of the experiment"),
    ({"fusion_of": ["bm25", "fusion"]}, "'fusion' is no system of the experiment that can be fused"),
    ({"fusion_of": ["bm25", "bm25"]}, "two systems or more, each named once"),
    ({"systems": ["bm25", "fusion"]}, "two systems or more"),
    ({"fusion_method": "minmax", "fusion_weights": {"bm25": 1.0}}, "Give one a system: bm25, embedding"),
    ({"fusion_weights": {"bm25": 1.0, "embedding": 1.0}}, "takes no weights"),
    ({"run_files": {"fusion": "x.trec"}}, "can't be named 'fusion'")])
def test_what_can_be_known_to_be_wrong_is_found_before_a_search(collection, params, change, said):
    with pytest.raises(SearchError, match=said):
        execute.require_ready(collection, params(**change))


@pytest.mark.parametrize("change", [
    {"fusion_k": -1}, {"fusion_k": 1.5}, {"fusion_method": "borda"}, {"fusion_of": "bm25"},
    {"fusion_weights": {"bm25": 0.0}}, {"fusion_weights": {"bm25": math.inf}},
    {"fusion_weights": {"bm25": math.nan}}, {"fusion_weights": [1.0]}], ids=str)
def test_parameters_have_bounds(params, change):
    with pytest.raises(ParamsError, match=next(iter(change))):
        params(**change)


def test_a_run_folder_that_was_changed_is_not_fused(made, collection, params):
    run = retrieve(collection, "bm25", params())
    path = run.folder / "manifest.json"
    path.write_text(json.dumps(run.manifest | {"failures": [], "notes": {"x": 1}}))
    with pytest.raises(RunError, match="changed after the ledger noted"):
        open_finished(run.folder, params())


def test_a_fused_run_can_be_fused(made, collection, params):
    bm25, dense, run = retrieve_all(collection, params())
    again = fuse_runs([run, bm25], Fusion(), params())
    seconds = [r.manifest["cost"]["search_seconds"] for r in (run, bm25, dense, bm25)]
    assert again.manifest["cost"]["inputs_search_seconds"] == pytest.approx(sum(seconds))


def test_a_fused_run_is_no_run_file(made, collection, params):
    run = retrieve(collection, "fusion", params())
    with pytest.raises(SearchError, match="searched here"):
        retrieve(collection, "x", params(run_files={"x": str(run.folder / "run.parquet")}))


def test_a_stopped_fusion_is_the_same_run_when_it_goes_on(made, collection, params, monkeypatch):
    monkeypatch.setattr(execute.fusion, "fuse", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        retrieve(collection, "fusion", params())
    monkeypatch.undo()
    monkeypatch.setattr(execute, "make_system", lambda name, params: made[name])
    run = retrieve(collection, "fusion", params())
    book = execute.ledger.read(params().outputs)
    assert book.search_number(run.manifest["ledger"]["sha256"]) == 1


def test_a_run_with_another_end_than_a_search_of_the_same_rows(made, collection, params):
    """A run that failed on a query, and one that found nothing for it, have the same rows."""
    one, other = (dataclasses.replace(saved(WHOLE, "a"), manifest=m) for m in (
        saved(WHOLE, "a", empty_queries=["q4"]).manifest,
        saved(WHOLE, "a", failures=[{"query_id": "q4", "fault": "down"}]).manifest))
    keys = [execute.run_key(stated_of([r, r], Fusion())) for r in (one, other)]
    assert keys[0] != keys[1]
