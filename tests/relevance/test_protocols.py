"""Which pairs count under all, xy and a."""

import pytest

from kit.collection.sources import open_collection
from kit.errors import MeasureError
from kit.relevance.protocols import offered, positives

QRELS = [("q1", "d1", "XY"), ("q1", "d2", "A"), ("q1", "d3", "overlap"), ("q2", "d1", "A"),
         ("q2", "d2", "overlap")]


def pairs(collection, protocol: str) -> set:
    return set(positives(collection, protocol).itertuples(index=False, name=None))


@pytest.fixture
def made(tmp_path, make_collection):
    return open_collection(str(make_collection(tmp_path, qrels=QRELS)))


def test_xy_and_a_make_all_and_share_the_overlap(made):
    of = {name: {(q, d) for q, d, c in QRELS if c == name} for name in ("XY", "A", "overlap")}
    assert pairs(made, "xy") == of["XY"] | of["overlap"]
    assert pairs(made, "a") == of["A"] | of["overlap"]
    assert pairs(made, "xy") | pairs(made, "a") == pairs(made, "all")
    assert pairs(made, "xy") & pairs(made, "a") == of["overlap"]


def test_the_miniature_has_the_same_algebra(mini):
    every, xy, a = (positives(mini, p) for p in ("all", "xy", "a"))
    overlap = (mini.pairs["category"] == "overlap").sum()
    assert len(xy) + len(a) - overlap == len(every) == len(mini.pairs)


def test_an_overlap_pair_stands_once(made):
    assert len(positives(made, "all")) == len(QRELS)


def test_without_categories_only_all_is_offered(tmp_path, make_collection):
    collection = open_collection(str(make_collection(tmp_path, qrels=[("q1", "d1", None), ("q2", "d2", None)])))
    assert offered(collection) == ["all"]
    assert len(positives(collection, "all")) == 2


@pytest.mark.parametrize("protocol", ["xy", "a"])
def test_without_categories_the_others_are_refused_with_the_reason(tmp_path, make_collection, protocol):
    collection = open_collection(str(make_collection(tmp_path, qrels=[("q1", "d1", None)])))
    with pytest.raises(MeasureError, match="every category is null"):
        positives(collection, protocol)


@pytest.mark.parametrize("protocol", ["", "ALL", "XY", "overlap", "xy "])
def test_an_unknown_protocol_is_refused_with_those_known(made, protocol):
    with pytest.raises(MeasureError, match="Give one of all, xy, a"):
        positives(made, protocol)
