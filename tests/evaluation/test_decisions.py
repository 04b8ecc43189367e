"""What decisions do to a score, held against runs and labels changed by hand."""

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kit.evaluation.decisions import OWN, effects
from kit.evaluation.evaluate import evaluate
from kit.params import Params
from kit.relevance.audit import audit
from kit.relevance.decisions import Decision, decisions
from kit.retrieval.execute import SavedRun, retrieve
from kit.retrieval.run import ranked

MEASURES = ["nDCG@3", "R@3", "RR"]
SAME = {"title": "Gate", "abstract": "A gate.", "claims": "1. A gate.", "description": "It opens."}
LONG = " ".join(f"word{n}" for n in range(400))


def saved(rows: dict[str, list[str]], own_ranks=(), depth: int = 3) -> SavedRun:
    """A run from {query: documents, best first}."""
    flat = [(q, d, -i) for q, docs in rows.items() for i, d in enumerate(docs)]
    manifest = {"system": {"name": "x"}, "depth": depth, "own_entry_ranks": [list(r) for r in own_ranks]}
    return SavedRun(Path("none"), ranked(*zip(*flat)), manifest)


def pair_decision(pairs: list, skipped: bool, protocol: str = "all") -> Decision:
    return Decision("d", "", protocol, skipped, pd.DataFrame(pairs, columns=["query_id", "doc_id"]))


def changes(run, collection, *chosen) -> pd.DataFrame:
    return effects(run, collection, list(chosen), MEASURES).set_index(["decision", "measure"])


DOCS = [f"d{n}" for n in range(6)]
LABELS = [("q1", "d0"), ("q1", "d1", "overlap"), ("q1", "d2", "A"), ("q2", "d3"), ("q2", "d0", "A")]


@settings(max_examples=40, deadline=None)
@given(st.permutations(DOCS), st.permutations(DOCS), st.sets(st.sampled_from([p[:2] for p in LABELS])),
       st.booleans())
def test_a_decision_is_the_score_of_other_labels_and_another_run(hold_collection, one, two, left, skipped):
    data = hold_collection(["q1", "q2"], DOCS, LABELS)
    run = {"q1": one, "q2": two}
    table = changes(saved(run), data, pair_decision(sorted(left), skipped))
    if not left or len(left) == len(LABELS):
        assert table.loc["d", "absent"].ne("").all()
        return
    kept = [p for p in LABELS if p[:2] not in left]
    other = {q: [d for d in docs if not (skipped and (q, d) in left)] for q, docs in run.items()}
    expected = evaluate(saved(other).table, hold_collection(["q1", "q2"], DOCS, kept), "all", MEASURES)
    before = evaluate(saved(run).table, data, "all", MEASURES)
    for name in MEASURES:
        row = table.loc[("d", name)]
        assert row["as it is"] == pytest.approx(before.mean(name))
        assert row["decided"] == pytest.approx(expected.mean(name))
        assert row["change"] == pytest.approx(expected.mean(name) - before.mean(name))
        assert (row["n"], row["n decided"]) == (len(before.values), len(expected.values))


def test_an_own_entry_comes_back_at_the_rank_at_which_it_stood(hold_collection):
    data = hold_collection(["q1", "q2"], ["q1", "d0", "d1", "d2"], [("q1", "d0"), ("q2", "d1")])
    run = saved({"q1": ["d0", "d1", "d2"], "q2": ["d1", "d2", "d0"]}, own_ranks=[("q1", 1)])
    table = changes(run, data)
    assert table.loc[(OWN, "RR"), "as it is"] == 1
    assert table.loc[(OWN, "RR"), "decided"] == pytest.approx((1 / 2 + 1) / 2)
    assert table.loc[(OWN, "RR"), "concerned"] == 1


def test_an_own_entry_pushes_the_last_document_out(hold_collection):
    data = hold_collection(["q1"], ["q1", "d0", "d1", "d2"], [("q1", "d2")])
    table = changes(saved({"q1": ["d0", "d1", "d2"]}, own_ranks=[("q1", 3)]), data)
    assert (table.loc[(OWN, "R@3"), "as it is"], table.loc[(OWN, "R@3"), "decided"]) == (1, 0)


def test_a_run_that_does_not_say_where_own_entries_stood_says_so(hold_collection):
    data = hold_collection(["q1"], ["d0"], [("q1", "d0")])
    run = saved({"q1": ["d0"]})
    del run.manifest["own_entry_ranks"]
    assert "does not say" in effects(run, data, [], MEASURES)["absent"].iloc[0]


def test_the_search_says_where_own_entries_stood(mini):
    params = Params(systems=["bm25"], sample=40, query_view="ta", corpus_view="ta", depth=5)
    ranks = dict(retrieve(mini, "bm25", params).manifest["own_entry_ranks"])
    assert len(ranks) >= 1 and set(ranks) <= set(mini.ids("corpus"))
    assert set(ranks.values()) == {1}  # a document's own words find it first


# --- which pairs a decision is about --------------------------------------------------------------

def found(collection) -> dict[str, Decision]:
    return {d.name: d for d in decisions(collection, audit(collection))}


def pairs_of(decision: Decision) -> set[tuple[str, str]]:
    return set(map(tuple, decision.pairs[["query_id", "doc_id"]].to_numpy()))


def labelled(query: str, doc: str, direction: str) -> dict:
    return {"query_id": query, "doc_id": doc, "category": "A",
            "source_relations": [{"category": "A", "direction": direction}]}


def test_of_a_reciprocal_couple_the_pair_that_cites_stays(hold_collection):
    own = {"publication_date": "2010-05-17"}
    docs = [{"doc_id": q, **own} for q in ("q1", "q2", "q3")]
    data = hold_collection(["q1", "q2", "q3"], docs, [
        labelled("q1", "q2", "citing"), labelled("q2", "q1", "cited"),
        labelled("q1", "q3", "cited"), labelled("q3", "q1", "cited")])
    assert pairs_of(found(data)["reciprocal pairs are collapsed"]) == {("q1", "q2"), ("q3", "q1")}


def test_relevants_of_equal_text_are_twins_and_copies_of_the_query(hold_collection):
    docs = [{"doc_id": "d1", **SAME}, {"doc_id": "d2", **SAME}, {"doc_id": "d3", **SAME, "title": "Q"}, "d4"]
    data = hold_collection([{"query_id": "q1", **SAME, "title": "Q"}, "q2"], docs,
                           [("q1", "d1"), ("q1", "d3"), ("q2", "d3"), ("q2", "d4")])
    assert pairs_of(found(data)["relevants of equal text are left out"]) == {("q1", "d1"), ("q1", "d3")}


def test_near_equal_and_later_relevants_and_overlap(hold_collection):
    data = hold_collection(
        [{"query_id": "q1", "description": LONG + " one"}, "q2"],
        [{"doc_id": "d1", "description": LONG}, {"doc_id": "d2", "publication_date": "2011-01-01"}, "d3"],
        [("q1", "d1"), ("q2", "d2"), ("q2", "d3", "overlap")])
    made = found(data)
    assert pairs_of(made["near-equal relevants are left out"]) == {("q1", "d1")}
    assert pairs_of(made["later relevants are left out"]) == {("q2", "d2")}
    assert pairs_of(made["overlap pairs do not count under xy"]) == {("q2", "d3")}
    assert made["overlap pairs do not count under xy"].protocol == "xy"


def test_what_cannot_be_weighed_says_why(hold_collection):
    data = hold_collection(["q1"], ["d1"], [("q1", "d1", None)])
    table = effects(saved({"q1": ["d1"]}), data, list(found(data).values()), MEASURES)
    assert len(table) == 6 and table["absent"].ne("").all()
    assert table.set_index("decision")["absent"]["overlap pairs do not count under xy"] == (
        "every category is null")
