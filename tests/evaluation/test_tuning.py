"""Halves of the queries that share nothing, and a K that is chosen on one and reported on the other."""

import dataclasses
from pathlib import Path

import pandas as pd
import pytest

from kit import SUITE_VERSION
from kit.errors import KitError, MeasureError, RunError
from kit.evaluation import tuning
from kit.evaluation.evaluate import evaluate
from kit.evaluation.tuning import TIED, chosen_k, halves
from kit.relevance.splits import find_ties, leakage
from kit.retrieval.execute import SavedRun
from kit.retrieval.fusion import rrf
from kit.retrieval.run import ranked

QUERIES = [f"q{n}" for n in range(8)]


@pytest.fixture
def build(hold_collection):
    """A collection in which each query has a document of its own, and such more as are named."""
    def make(more: list = (), queries: list = QUERIES):
        ids = [q if isinstance(q, str) else q["query_id"] for q in queries]
        texts = [{"query_id": q, "title": f"One {q}"} if isinstance(q, str) else q for q in queries]
        docs = [f"d{q}" for q in ids] + ["shared", "q0"]
        return hold_collection(texts, docs, [*((q, f"d{q}") for q in ids), *more])
    return make


@pytest.mark.parametrize("name", ["mini", "mini_dapfam", "mini_litigation"])
def test_nothing_that_ties_crosses_and_they_are_halves(name, request):
    data = request.getfixturevalue(name)
    made = halves(data, 0)
    ids = sorted(data.ids("queries"))
    assert sorted(made.tuning + made.reporting) == ids
    assert len(made.tuning) == len(made.reporting) == len(ids) // 2 and made.notes == []
    split = pd.Series({**dict.fromkeys(made.tuning, "t"), **dict.fromkeys(made.reporting, "r")})
    assert not leakage(data, split, find_ties(data, TIED))["crossing"].any()


def test_the_seed_draws_them_and_the_order_of_the_tables_does_not(build):
    made = halves(build(), 3)
    turned = halves(build(queries=QUERIES[::-1]), 3)
    assert made == turned and made == halves(build(), 3)
    assert len({tuple(halves(build(), seed).tuning) for seed in range(8)}) > 1


@pytest.mark.parametrize("more", [[("q1", "shared"), ("q2", "shared")], [("q1", "q0")]],
                         ids=["a document in common", "a query that is a document"])
def test_what_hangs_together_stands_in_one_half(build, more):
    pair = {"q1", "q2" if len(more) > 1 else "q0"}
    for seed in range(8):
        made = halves(build(more), seed)
        assert pair <= set(made.tuning) or pair <= set(made.reporting)


def test_a_part_larger_than_a_half_is_reported_on_and_said(build):
    made = halves(build([(q, "shared") for q in QUERIES[:6]]), 0)
    assert made.reporting == QUERIES[:6] and made.tuning == QUERIES[6:]
    assert any("6 queries (75.0%) hang together" in note for note in made.notes)


def test_only_what_was_searched_is_halved(build):
    whole, part = halves(build()), halves(build(), among=QUERIES[:6])
    assert part.tuning == [q for q in whole.tuning if q in QUERIES[:6]]
    assert sorted(part.tuning + part.reporting) == QUERIES[:6]


def test_a_half_without_a_query_is_refused(build):
    with pytest.raises(KitError, match="half would have no query"):
        halves(build(), among=["q1"])


@pytest.mark.parametrize("tied", [7, 8])
def test_where_nearly_all_hang_together_only_reciprocal_pairs_do_and_it_is_said(build, tied):
    """As in DAPFAM, whose queries share documents without end."""
    for seed in range(8):
        made = halves(build([(q, "shared") for q in QUERIES[:tied]]), seed)
        assert len(made.tuning) == len(made.reporting) == 4
        assert sorted(made.tuning + made.reporting) == QUERIES
        assert "only reciprocal pairs" in made.notes[-1]


# --- a choice -------------------------------------------------------------------------------------

def saved(rankings: dict, system: str) -> SavedRun:
    table = ranked(*zip(*[(q, d, -n) for q, docs in rankings.items() for n, d in enumerate(docs)]))
    manifest = dict.fromkeys(("environment", "generation", "sample", "views")) | {
        "system": {"name": system}, "fingerprints": {"together": "f"}, "depth": 10,
        "corpus_size": 10, "suite_version": SUITE_VERSION, "failures": [], "empty_queries": [],
        "run_sha256": system}
    return SavedRun(Path(system), table, manifest)


@pytest.fixture
def runs():
    """Half of the queries are found by the runs' agreement, half by one run's first place."""
    one, other = {}, {}
    for n, q in enumerate(QUERIES):
        agreed, first = (f"d{q}", "shared") if n % 2 else ("shared", f"d{q}")
        one[q], other[q] = [first, "q0" if q != "q0" else "dq1", agreed], ["dq7" if n < 7 else "dq6",
                                                                          "dq2" if n != 2 else "dq3", agreed]
    return [saved(one, "a"), saved(other, "b")]


GRID = [60, 0, 1]


def plainly(runs, collection, k: int, among: list) -> float:
    """The mean reciprocal rank of the one relevant document, over the queries."""
    found = rrf([run.table for run in runs], k).to_pylist()
    ranks = {r["query_id"]: r["rank"] for r in found if r["doc_id"] == f"d{r['query_id']}"}
    return sum(1 / ranks[q] if q in ranks else 0 for q in among) / len(among)


@pytest.mark.parametrize("tuned", [QUERIES[1::2], QUERIES[::2]], ids=["agreement", "first place"])
def test_the_choice_is_made_on_one_half_and_reported_on_the_other(build, runs, tuned):
    collection = build()
    parts = tuning.Halves(tuned, [q for q in QUERIES if q not in tuned], [])
    made = chosen_k(runs, collection, "all", "RR", parts, GRID)
    wanted = {k: plainly(runs, collection, k, parts.tuning) for k in sorted(GRID)}
    assert made.table.to_dict("list") == {"k": sorted(GRID), "tuning": pytest.approx(list(wanted.values()))}
    assert len(set(wanted.values())) > 1
    assert made.k == max(wanted, key=wanted.get)  # the first of those that are alike
    assert made.reported["mean"] == pytest.approx(plainly(runs, collection, made.k, parts.reporting))
    assert made.reported["n"] == 4 and made.reported["low"] <= made.reported["mean"] <= made.reported["high"]


def test_of_k_that_are_alike_the_lowest_is_taken(build, runs):
    same = [runs[0], runs[0]]
    assert chosen_k(same, build(), "all", "RR", halves(build()), [60, 20, 40]).k == 20


def test_figures_that_differ_by_rounding_alone_are_alike(build, runs, monkeypatch):
    means = iter([0.5, 0.5 + 1e-15, 0.4])
    real = evaluate

    class Made:
        def mean(self, measure):
            return next(means)
    monkeypatch.setattr(tuning, "evaluate", lambda *a: real(*a) if a[-1] == ["q0", "q1"] else Made())
    parts = tuning.Halves(QUERIES[2:], ["q0", "q1"], [])
    assert chosen_k(runs, build(), "all", "RR", parts, [1, 2, 3]).k == 1


def test_what_can_not_be_chosen_from(build, runs):
    collection, parts = build(), halves(build())
    for grid in ([], [-1, 60]):
        with pytest.raises(KitError, match="a grid holds whole numbers"):
            chosen_k(runs, collection, "all", "RR", parts, grid)
    with pytest.raises(MeasureError, match="unknown measure"):
        chosen_k(runs, collection, "all", "XYZ", parts)
    other = dataclasses.replace(runs[1], manifest=runs[1].manifest | {"depth": 5})
    with pytest.raises(RunError, match="depth"):
        chosen_k([runs[0], other], collection, "all", "RR", parts)
