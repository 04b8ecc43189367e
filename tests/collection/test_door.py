"""The checks at the door: each rule broken alone gives its fault, and names the row."""

import pyarrow as pa
import pytest

from kit.collection.schema import require_sound
from kit.collection.sources import open_collection
from kit.errors import CollectionError

PAIRS = [("q1", "d1"), ("q1", "d2", "A"), ("q2", "d3", "overlap")]
BROKEN = {
    "an empty query_id": ({"queries": ["q1", "q2", ""]}, "ids", "queries", "row 2"),
    "a null doc_id": ({"corpus": ["d1", "d2", "d3", {"doc_id": None}]}, "ids", "corpus", "row 3"),
    "a repeated query_id": ({"queries": ["q1", "q2", "q2"]}, "ids", "queries", "query_id 'q2'"),
    "a doc_id three times": (
        {"corpus": ["d1", "d2", "d3", "d1", "d1"]}, "ids", "corpus", "doc_id 'd1'"),
    "an unknown query": ({"qrels": [*PAIRS, ("q9", "d1")]}, "unknown queries", "qrels", "query_id 'q9'"),
    "an unknown document": (
        {"qrels": [*PAIRS, ("q1", "d9")]}, "unknown documents", "qrels", "doc_id 'd9'"),
    "an unknown category": (
        {"qrels": [*PAIRS, ("q2", "d1", "Y")]}, "unknown categories", "qrels", "category 'Y'"),
    "a category of another case": (
        {"qrels": [*PAIRS, ("q2", "d1", "xy")]}, "unknown categories", "qrels", "category 'xy'"),
    "an empty category": ({"qrels": [*PAIRS, ("q2", "d1", "")]}, "unknown categories", "qrels", "category ''"),
    "a category null in some": (
        {"qrels": [*PAIRS, ("q2", "d1", None)]}, "unknown categories", "qrels", "doc_id 'd1'"),
    "a pair twice": (
        {"qrels": [*PAIRS, ("q1", "d1")]}, "repeated pairs", "qrels", "query_id 'q1', doc_id 'd1'"),
    "a pair under two categories": (
        {"qrels": [*PAIRS, ("q1", "d1", "A")]}, "repeated pairs", "qrels", "query_id 'q1', doc_id 'd1'"),
    "a query relevant to itself": (
        {"corpus": ["d1", "d2", "d3", "q1"], "qrels": [*PAIRS, ("q1", "q1")]},
        "own pairs", "qrels", "query_id 'q1', doc_id 'q1'"),
}


@pytest.mark.parametrize("rows, rule, table, named", BROKEN.values(), ids=BROKEN)
def test_each_rule_broken_alone(make_collection, tmp_path, rows, rule, table, named):
    collection = open_collection(str(make_collection(tmp_path, **rows)))
    fault, = collection.faults
    assert (fault.rule, fault.table, fault.count) == (rule, table, 1)
    assert named in str(fault)
    with pytest.raises(CollectionError, match="breaks its layout: .*kit audit .*tiny"):
        require_sound(collection)


def test_a_sound_collection_passes(make_collection, tmp_path):
    collection = open_collection(str(make_collection(tmp_path)))
    assert collection.faults == []
    require_sound(collection)


def test_own_entries_reciprocal_pairs_and_unused_rows_are_sound(make_collection, tmp_path):
    folder = make_collection(tmp_path, ["q1", "q2", "q3"], ["q1", "q2", "d1"],
                             [("q1", "q2"), ("q2", "q1", "A")])
    assert open_collection(str(folder)).faults == []


def test_category_null_in_all_is_sound(make_collection, tmp_path):
    folder = make_collection(tmp_path, qrels=[(q, d, None) for q, d, *_ in PAIRS])
    assert open_collection(str(folder)).faults == []


def test_a_null_category_column(make_collection, tmp_path):
    tweak = {"qrels": lambda t: t.set_column(2, "category", pa.nulls(t.num_rows))}
    assert open_collection(str(make_collection(tmp_path, tweak=tweak))).faults == []


def test_three_rows_are_named_and_all_are_counted(make_collection, tmp_path):
    folder = make_collection(tmp_path, qrels=[*PAIRS, *(("q1", f"x{n}") for n in range(5))])
    fault, = open_collection(str(folder)).faults
    assert fault.count == 5 and len(fault.rows) == 5
    assert "'x2'" in str(fault) and "'x3'" not in str(fault) and "and 2 more" in str(fault)


def test_several_broken_rules_are_all_found(make_collection, tmp_path):
    folder = make_collection(tmp_path, ["q1", "q2", "q2"], ["d1", "d2", "d3", ""],
                             [*PAIRS, ("q8", "d9", "B")])
    faults = open_collection(str(folder)).faults
    assert [(f.rule, f.table) for f in faults] == [
        ("ids", "queries"), ("ids", "corpus"), ("unknown queries", "qrels"),
        ("unknown documents", "qrels"), ("unknown categories", "qrels")]


def test_an_identifier_is_compared_as_it_is(make_collection, tmp_path):
    folder = make_collection(tmp_path, qrels=[*PAIRS, ("q1 ", "D1")])
    faults = open_collection(str(folder)).faults
    assert "'q1 '" in str(faults[0]) and "'D1'" in str(faults[1])


def test_a_missing_key_column_does_not_hide_the_others_faults(make_collection, tmp_path):
    folder = make_collection(tmp_path, ["q1", "q2", "q2"],
                             tweak={"corpus": lambda t: t.drop_columns("doc_id")})
    assert [str(f) for f in open_collection(str(folder)).faults] == [
        "corpus: the column 'doc_id' is missing",
        "queries: query_id stands more than once [query_id 'q2']"]


def test_a_wrong_qrels_column_is_one_fault(make_collection, tmp_path):
    tweak = {"qrels": lambda t: t.set_column(1, "doc_id", pa.array([1, 2, 3]))}
    fault, = open_collection(str(make_collection(tmp_path, tweak=tweak))).faults
    assert str(fault) == "qrels: the column 'doc_id' is int64, where string is asked"


def test_real_patents_are_sound(shared):
    collection = open_collection(str(shared / "data" / "real-patents"))
    assert collection.faults == []
    assert [len(collection.ids(t)) for t in ("queries", "corpus")] == [436, 2358]
    assert len(collection.pairs) == 652
