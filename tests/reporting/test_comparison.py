"""Systems side by side: refused under other conditions, and counted right under the same."""

import numpy as np
import pandas as pd
import pytest

from kit.collection.sources import open_collection
from kit.errors import ScorecardError
from kit.evaluation.evaluate import evaluate
from kit.evaluation.uncertainty import effect_size, holm, paired_test
from kit.relevance.slices import DOMAINS
from kit.reporting.comparison import (
    by_slice,
    finding_found,
    finding_missed,
    found_by,
    missed_by,
    overlap_by_depth,
    require_comparable,
    side_by_side,
)
from kit.retrieval.execute import SavedRun
from kit.retrieval.run import ranked

SAME = {"environment": "mini", "fingerprints": {"together": "f"}, "depth": 100, "sample": None}
NAMES = ["RR", "R@1", "GoldCoverage@1"]


def saved(name: str = "a", rankings: dict | None = None, **changed) -> SavedRun:
    rows = [(q, d, -n) for q, docs in (rankings or {}).items() for n, d in enumerate(docs)]
    return SavedRun(None, ranked(*zip(*rows)) if rows else ranked([], [], []),
                    SAME | {"system": {"name": name}} | changed)


def test_runs_of_the_same_conditions_are_compared():
    require_comparable([saved("a"), saved("b"), saved("c")])


@pytest.mark.parametrize(("condition", "value"), [
    ("depth", 50), ("fingerprints", {"together": "e"}), ("sample", {"size": 5, "seed": 0}),
    ("environment", "sophia-75k")])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_another_condition_is_refused_and_named(condition, value, place):
    runs = [saved(name, **({condition: value} if n == place else {})) for n, name in enumerate("abc")]
    with pytest.raises(ScorecardError, match=f"conditions: {condition} "):
        require_comparable(runs)


def test_two_samples_of_other_seeds_are_no_sample_in_common():
    with pytest.raises(ScorecardError, match="sample"):
        require_comparable([saved(sample={"size": 5, "seed": 0}), saved(sample={"size": 5, "seed": 1})])


@pytest.fixture
def evaluations(tmp_path, make_collection):
    """Three queries: the other system wins q1, loses q2, ties on q3; q3 is OUT."""
    queries = ["q1", "q2", {"query_id": "q3", "ipc": ["A01B1/00"]}]
    collection = open_collection(str(make_collection(
        tmp_path, queries, ["d1", "d2", "d3"], [("q1", "d1"), ("q2", "d2"), ("q3", "d3")])))
    runs = {"base": {"q1": ["d2", "d1"], "q2": ["d2"], "q3": ["d1"]},
            "other": {"q1": ["d1"], "q2": ["d1", "d3", "d2"]}}
    return {name: evaluate(saved(name, run).table, collection, "all", NAMES) for name, run in runs.items()}


def test_wins_ties_and_losses_are_the_other_systems(evaluations):
    row = side_by_side(evaluations, seed=0).set_index("measure").loc["RR"]
    assert (row["system"], row["against"]) == ("other", "base")
    assert (row["wins"], row["ties"], row["losses"]) == (1, 1, 1)
    assert row["mean"] == pytest.approx((1 + 1 / 3) / 3)
    assert row["mean against"] == pytest.approx((1 / 2 + 1) / 3)
    assert row["difference"] == pytest.approx(row["mean"] - row["mean against"])
    assert row["p"] == paired_test([1, 1 / 3, 0], [1 / 2, 1, 0], seed=0)
    assert row["effect"] == effect_size(np.array([1, 1 / 3, 0]), np.array([1 / 2, 1, 0]))


def test_the_tests_of_a_table_are_corrected_for_their_number(evaluations):
    frame = side_by_side(evaluations, seed=0)
    assert frame["p Holm"].equals(pd.Series(holm(frame["p"].to_numpy()), name="p Holm"))
    assert frame["p"].notna().sum() == 2 and (frame["p Holm"] >= frame["p"])[:2].all()
    sliced = by_slice(evaluations, "RR", seed=0)
    assert sliced["p Holm"].equals(pd.Series(holm(sliced["p"].to_numpy()), name="p Holm"))


def test_a_share_over_all_pairs_has_a_difference_but_no_p(evaluations):
    row = side_by_side(evaluations, seed=0).set_index("measure").loc["GoldCoverage@1"]
    assert row["difference"] == 0 and pd.isna(row["p"])


def test_a_slice_compares_its_own_queries(evaluations):
    frame = by_slice(evaluations, "RR", seed=0).set_index("slice")
    assert frame.loc[list(DOMAINS), "n"].to_dict() == {"IN": 2, "MIXED": 0, "OUT": 1, "UNKNOWN": 0}
    assert frame.loc["IN", ["wins", "ties", "losses"]].tolist() == [1, 0, 1]
    assert frame.loc["IN", "difference"] == pytest.approx((1 / 2 - 2 / 3) / 2)
    assert frame.loc[["MIXED", "UNKNOWN"], ["difference", "p"]].isna().all(axis=None)


def test_a_slice_has_no_p_for_a_share_over_all_pairs(evaluations):
    assert by_slice(evaluations, "GoldCoverage@1", seed=0)["p"].isna().all()


def test_queries_are_counted_by_who_finds_something(evaluations):
    assert found_by(evaluations, 1)["queries"].to_dict() == {"only base": 1, "only other": 1, "none": 1}
    found = found_by(evaluations, 3)
    assert found["queries"].to_dict() == {"base and other": 2, "none": 1}
    assert finding_found(found) == "33% of the queries are missed by every system"


def test_one_system_alone_misses_what_all_miss():
    assert finding_missed(missed_by({"a": {1, 2}}), 10, 5, 3) == (
        "3 of 5 relevant documents are missed by all in the first 10")
    assert finding_missed(missed_by({"a": {1, 2}, "b": {2}}), 10, 5, 3).startswith(
        "In the first 10, a finds 1 that b misses")


def test_what_two_rankings_share_by_depth():
    a, b = saved("a", {"q1": ["d1", "d2", "d3"]}), saved("b", {"q1": ["d2", "d1", "d9"]})
    assert overlap_by_depth(a, b, [1, 2, 3]).to_dict() == pytest.approx({1: 0, 2: 1, 3: 2 / 3})


def test_rankings_shorter_than_the_depth_share_all_when_equal():
    a = saved("a", {"q1": ["d1", "d2"], "q2": ["d1"]})
    assert overlap_by_depth(a, a, [1, 10]).to_list() == [1, 1]


def test_a_query_that_one_system_lacks_shares_nothing():
    a, b = saved("a", {"q1": ["d1"], "q2": ["d1"]}), saved("b", {"q1": ["d1"]})
    assert overlap_by_depth(a, b, [1]).to_list() == [0.5]
