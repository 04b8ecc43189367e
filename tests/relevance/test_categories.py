"""The algebra of citation labels, and the cleaning of raw citation lists with its ledger."""

import copy

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

from kit.errors import CollectionError, MeasureError
from kit.relevance import categories
from kit.relevance.categories import (
    category_of,
    clean_qrels,
    events_of,
    lacks_aggregate,
    lacks_letter,
    ledger_summary,
    repeats_entry,
)

CATEGORIES, DIRECTIONS = ["XY", "A", "X", "Y"], ["cited", "citing"]
LISTS = [f"{d}_{c}" for d in DIRECTIONS for c in CATEGORIES]


def relations(*names: str) -> list[dict]:
    """ "cited XY" as an entry."""
    return [dict(zip(("direction", "category"), name.split())) for name in names]


def raw(*rows: dict) -> pd.DataFrame:
    """Rows of the raw form, of query q1 unless they say otherwise."""
    return pd.DataFrame([{"query_id": "q1", **row} for row in rows])


def release(*rows: tuple) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["query_id", "doc_id", "category", "source_relations"])


def labels(qrels: pd.DataFrame) -> dict:
    """{(query, document): category}"""
    return {(query, doc): category for query, doc, category, _ in qrels.itertuples(index=False)}


def reasons(cleaned) -> dict:
    """{(fate, reason): entries} of the summary."""
    summary = ledger_summary(cleaned.ledger).itertuples(index=False)
    return {(fate, reason): entries for fate, reason, entries in summary}


KEPT, ANOTHER = ("kept", "makes the pair"), ("merged", "another entry of the pair")
REPEATS, RESTATED = ("merged", "repeats an entry"), ("kept", "makes the pair, category restated")


def removed(reason: str) -> tuple[str, str]:
    return "removed", reason


# --- one pair's relations -------------------------------------------------------------------------

@pytest.mark.parametrize(("held", "category"), [
    (relations("cited XY"), "XY"),
    (relations("citing XY", "citing Y"), "XY"),
    (relations("cited A"), "A"),
    (relations("citing A", "cited XY"), "overlap"),
    (relations("cited A", "cited X"), "A"),  # X without its XY is not in R_XY
    (relations("cited X", "citing Y"), None),
    (relations("cited D", "aside XY"), None),
    ([{"category": None, "direction": "cited"}, {"category": "A"}], None),
    ([None, {"category": "A", "direction": "cited"}], "A"),
    ([], None), ([None], None), ([{}], None), (None, None), (float("nan"), None),
    (np.array(relations("cited XY"), dtype=object), "XY"),
])
def test_the_category_that_relations_give(held, category):
    assert category_of(held) == category


@pytest.mark.parametrize(("held", "events"), [
    (relations("cited XY", "cited X", "cited Y"), {("cited", "XY")}),
    (relations("cited X"), {("cited", "XY")}),
    (relations("cited XY", "citing X"), {("cited", "XY"), ("citing", "XY")}),
    (relations("cited XY", "cited A"), {("cited", "XY"), ("cited", "A")}),
    (relations("citing A", "citing A"), {("citing", "A")}),
    (relations("aside A", "cited D"), set()), (None, set()),
])
def test_a_letter_and_its_aggregate_are_one_event(held, events):
    assert events_of(held) == events


@pytest.mark.parametrize(("holds", "held", "answer"), [
    (lacks_aggregate, relations("cited X"), True),
    (lacks_aggregate, relations("cited Y", "citing XY"), True),  # of the other direction
    (lacks_aggregate, relations("cited A", "cited Y"), True),
    (lacks_aggregate, relations("cited XY", "cited X", "citing X"), True),
    (lacks_aggregate, relations("cited XY", "cited Y"), False),
    (lacks_aggregate, relations("cited XY", "cited A"), False),
    (lacks_aggregate, None, False),
    (lacks_letter, relations("cited XY"), True),
    (lacks_letter, relations("cited XY", "citing X"), True),
    (lacks_letter, relations("cited XY", "cited X", "citing XY"), True),
    (lacks_letter, relations("cited XY", "cited Y"), False),
    (lacks_letter, relations("cited A", "citing X"), False),
    (lacks_letter, [None], False),
    (repeats_entry, relations("cited A", "cited A"), True),
    (repeats_entry, relations("cited A", "citing A"), False),
    (repeats_entry, relations("cited XY", "cited X"), False),
    (repeats_entry, [None, None], False),
])
def test_what_is_odd_about_a_list_of_relations(holds, held, answer):
    assert holds(held) is answer


# --- the algebra, on random input -----------------------------------------------------------------

ids = st.sampled_from(["q1", "q2", "d1", "d2", None])
cells = st.none() | st.just(float("nan")) | st.lists(ids, max_size=4)
raw_rows = st.lists(st.fixed_dictionaries({"query_id": st.sampled_from(["q1", "q2", None])},
                                          optional=dict.fromkeys(LISTS, cells)), max_size=5)
release_rows = st.lists(st.tuples(
    st.sampled_from(["q1", "q2", None]), ids, st.sampled_from(["XY", "A", "overlap", "D", None]),
    st.none() | st.lists(st.none() | st.fixed_dictionaries({
        "category": st.sampled_from([*CATEGORIES, "D", None]),
        "direction": st.sampled_from([*DIRECTIONS, "aside", None])}), max_size=4)), max_size=6)


def as_raw(rows: list[dict]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["query_id", *LISTS], dtype=object)


def as_release(rows: list[tuple]) -> pd.DataFrame:
    """The rows, and one with a category, so that not every one is null."""
    return release(*rows, ("q3", "d1", "A", relations("cited A")))


frames = raw_rows.map(as_raw) | release_rows.map(as_release)


def ids_in(cell) -> list:
    return cell if isinstance(cell, list) else []


def restated_algebra(rows: list[dict]) -> tuple[dict, dict]:
    """({pair: category}, {pair: its entries}) by sets, a query and a category at a time."""
    pairs, behind = {}, {}
    for query in {row["query_id"] for row in rows} - {None}:
        held = {name: {i for row in rows if row["query_id"] == query for i in ids_in(row.get(name))}
                - {None, query} for name in LISTS}
        xy, a = (held[f"cited_{c}"] | held[f"citing_{c}"] for c in ("XY", "A"))
        for category, docs in {"XY": xy - a, "A": a - xy, "overlap": xy & a}.items():
            for doc in docs:
                pairs[query, doc] = category
                behind[query, doc] = {name for name in LISTS if doc in held[name]}
    return pairs, behind


@given(raw_rows)
def test_categories_are_those_of_the_sets(rows):
    cleaned = clean_qrels(as_raw(rows))
    pairs, behind = restated_algebra(rows)
    assert labels(cleaned.qrels) == pairs
    written = {(q, d): [f"{r['direction']}_{r['category']}" for r in held] for q, d, _, held
               in cleaned.qrels.itertuples(index=False)}
    assert {pair: set(names) for pair, names in written.items()} == behind
    assert all(len(names) == len(set(names)) for names in written.values())


@given(frames)
def test_the_category_of_a_pair_is_that_of_its_own_relations(frame):
    qrels = clean_qrels(frame).qrels
    assert qrels["category"].to_list() == [category_of(r) for r in qrels["source_relations"]]


@given(raw_rows)
def test_every_id_of_the_raw_form_is_accounted_for(rows):
    ledger = clean_qrels(as_raw(rows)).ledger
    given_ = [(row["query_id"], doc, *name.split("_")[::-1])
              for row in rows for name in LISTS for doc in ids_in(row.get(name))]
    listed = ledger[["query_id", "doc_id", "category", "direction"]]
    assert sorted(listed.itertuples(index=False, name=None), key=str) == sorted(given_, key=str)


@given(release_rows)
def test_every_relation_of_the_release_form_is_accounted_for(rows):
    ledger = clean_qrels(as_release(rows)).ledger
    assert len(ledger) == 1 + sum(len(held) if held else 1 for *_, held in rows)


@given(frames)
def test_what_goes_in_is_kept_merged_or_removed(frame):
    cleaned = clean_qrels(frame)
    fates = cleaned.ledger["fate"].value_counts()
    assert set(fates.index) <= {"kept", "merged", "removed"}
    kept = cleaned.ledger[cleaned.ledger["fate"] == "kept"]
    assert_frame_equal(kept[["query_id", "doc_id"]].reset_index(drop=True),
                       cleaned.qrels[["query_id", "doc_id"]])
    summary = ledger_summary(cleaned.ledger)
    assert summary["entries"].sum() == len(cleaned.ledger)
    assert summary.groupby("fate")["entries"].sum().to_dict() == fates.to_dict()


@given(frames)
def test_pairs_are_unique_sorted_and_never_own(frame):
    qrels = clean_qrels(frame).qrels
    pairs = list(zip(qrels["query_id"], qrels["doc_id"]))
    assert pairs == sorted(set(pairs)) and all(query != doc for query, doc in pairs)
    assert list(qrels.index) == list(range(len(qrels)))


@given(raw_rows, st.randoms(use_true_random=False))
def test_no_order_of_the_raw_form_matters(rows, random):
    split = [{"query_id": row["query_id"], name: [doc]}  # an id a row: nothing of the order is left
             for row in rows for name in LISTS for doc in ids_in(row.get(name))]
    random.shuffle(split)
    assert_same(clean_qrels(as_raw(rows)), clean_qrels(as_raw(split)))


@given(release_rows, st.randoms(use_true_random=False))
def test_no_order_of_the_release_form_matters(rows, random):
    split = [(*row, [one]) for *row, held in rows for one in held or [None]]
    random.shuffle(split)
    assert_same(clean_qrels(as_release(rows)), clean_qrels(as_release(split)))


def assert_same(one, other):
    assert_frame_equal(one.qrels, other.qrels)
    assert_frame_equal(one.ledger, other.ledger)
    assert_frame_equal(ledger_summary(one.ledger), ledger_summary(other.ledger))


@given(frames)
def test_cleaning_its_own_output_changes_nothing(frame):
    once = clean_qrels(frame)
    twice = clean_qrels(once.qrels)
    assert_frame_equal(twice.qrels, once.qrels)
    assert set(reasons(twice)) <= {KEPT, ANOTHER}


@given(frames)
def test_the_input_is_not_changed(frame):
    before = copy.deepcopy(frame.to_dict("list"))
    for held in clean_qrels(frame).qrels["source_relations"]:
        for relation in held:
            relation.clear()  # nor does the output share its dicts
    assert repr(frame.to_dict("list")) == repr(before)


# --- examples -------------------------------------------------------------------------------------

@pytest.mark.parametrize(("frame", "expected"), [
    (raw({"cited_XY": ["d1"], "citing_A": ["d2"]}), {KEPT: 2}),
    (raw({"cited_XY": ["d1"], "cited_X": ["d1"], "citing_A": ["d1"]}), {KEPT: 1, ANOTHER: 2}),
    (raw({"cited_A": ["d1", "d1"]}, {"cited_A": ["d1"]}), {KEPT: 1, REPEATS: 2}),
    (raw({"cited_A": ["d1"], "cited_Y": ["d1"]}), {KEPT: 1, ANOTHER: 1}),
    (raw({"cited_A": ["q1", "d1"]}), {KEPT: 1, removed("own pair"): 1}),
    (raw({"cited_A": [None, "", " ", float("nan"), pd.NA]}), {removed("no identifier"): 5}),
    (raw({"query_id": None, "cited_A": ["d1"]}, {"query_id": "", "cited_A": ["d1", "d2"]}),
     {removed("no identifier"): 3}),
    (raw({"cited_X": ["d1"], "citing_Y": ["d1"]}), {removed("X or Y without its aggregate"): 2}),
    (raw({"cited_A": None}, {"cited_A": []}, {}), {}),
    (raw({"cited_A": ("d1",), "cited_XY": np.array(["d1"])}), {KEPT: 1, ANOTHER: 1}),
    (release(("q1", "d1", "A", relations("cited A", "cited D", "aside A"))),
     {KEPT: 1, removed("unknown category"): 1, removed("unknown direction"): 1}),
    (release(("q1", "d1", "A", [{"category": "A"}, {"direction": "cited"}])),
     {removed("unknown direction"): 1, removed("unknown category"): 1}),
    (release(("q1", "d1", "XY", relations("aside XY", "cited X"))),
     {removed("unknown direction"): 1, removed("X or Y without its aggregate"): 1}),
    (release(("q1", "d1", "A", None), ("q1", "d2", "A", []), ("q1", "d3", "A", [None, {}])),
     {removed("no relation"): 4}),
    (release(("q1", "q1", "A", None), ("q1", None, "A", [None])),
     {removed("own pair"): 1, removed("no identifier"): 1}),
    (release(("q1", "d1", "XY", relations("cited A", "citing A"))), {RESTATED: 1, ANOTHER: 1}),
    (release(("q1", "d1", None, relations("cited A")), ("q1", "d2", "A", relations("cited A"))),
     {RESTATED: 1, KEPT: 1}),
    (release(("q1", "d1", None, relations("cited A"))), {RESTATED: 1}),
    (release(("q1", "d1", "A", relations("cited A")), ("q1", "d1", "XY", relations("cited XY"))),
     {RESTATED: 1, ANOTHER: 1}),  # two rows of one pair, which together are an overlap
    (release(("q1", "d1", "XY", relations("cited X")), ("q1", "d2", "A", relations("cited A"))),
     {removed("X or Y without its aggregate"): 1, KEPT: 1}),
    (release(), {}),
])
def test_the_fates_of_entries(frame, expected):
    assert reasons(clean_qrels(frame)) == expected


def test_the_ledger_names_the_entries():
    frame = raw({"citing_A": ["d2"], "cited_XY": ["d2", "q1"], "cited_Y": ["d1"]})
    assert clean_qrels(frame).ledger.values.tolist() == [
        ["q1", "d1", "Y", "cited", "removed", "X or Y without its aggregate"],
        ["q1", "d2", "XY", "cited", *KEPT],
        ["q1", "d2", "A", "citing", *ANOTHER],
        ["q1", "q1", "XY", "cited", "removed", "own pair"]]


def test_relations_are_written_in_one_order():
    every = relations("cited XY", "citing XY", "cited A", "citing A", "cited X", "citing X",
                      "cited Y", "citing Y")
    frame = release(("q1", "d1", "overlap", every[::-1]))
    assert clean_qrels(frame).qrels["source_relations"][0] == every


def test_relations_win_over_the_category_stated():
    frame = release(("q1", "d1", "XY", relations("cited A")),
                    ("q1", "d2", "A", relations("cited XY")))
    assert labels(clean_qrels(frame).qrels) == {("q1", "d1"): "A", ("q1", "d2"): "XY"}


def test_ids_are_taken_as_they_stand():
    cleaned = clean_qrels(raw({"query_id": "001", "cited_A": ["1", "01", " 1", "D1", "d1"]}))
    assert cleaned.qrels["doc_id"].to_list() == [" 1", "01", "1", "D1", "d1"]
    assert cleaned.qrels["query_id"].unique().tolist() == ["001"]


def test_reciprocal_pairs_stay_two():
    frame = raw({"query_id": "q1", "cited_A": ["q2"]}, {"query_id": "q2", "citing_XY": ["q1"]})
    assert labels(clean_qrels(frame).qrels) == {("q1", "q2"): "A", ("q2", "q1"): "XY"}


def test_tables_with_and_without_rows_are_typed_as_a_collections(mini):
    empty, full = clean_qrels(raw({})), clean_qrels(raw({"cited_A": ["d1"]}))
    for one, other in ((empty.qrels, full.qrels), (empty.ledger, full.ledger)):
        assert one.dtypes.to_dict() == other.dtypes.to_dict() and one.empty
    assert full.qrels.dtypes.to_dict() == mini.pairs.dtypes.to_dict()
    assert list(ledger_summary(empty.ledger)) == ["fate", "reason", "entries"]


def test_lists_as_arrow_keeps_them_are_read():
    frame = raw({"cited_A": ["d1", None], "cited_XY": None})
    kept = pa.Table.from_pandas(frame).to_pandas(types_mapper=pd.ArrowDtype)
    assert_same(clean_qrels(kept), clean_qrels(frame))


def test_the_miniatures_pairs_and_categories_stay(mini):
    cleaned = clean_qrels(mini.pairs)
    assert labels(cleaned.qrels) == labels(mini.pairs)
    assert set(reasons(cleaned)) <= {KEPT, ANOTHER, REPEATS}


# --- errors ---------------------------------------------------------------------------------------

@pytest.mark.parametrize(("frame", "told"), [
    (raw({"cited_Z": ["d1"]}), "unknown column 'cited_Z'.*raw form.*cited_XY"),
    (raw({"cited_A": ["d1"]}).drop(columns="query_id"), "column 'query_id' is missing"),
    (release().drop(columns="category"), "column 'category' is missing.*release form"),
    (release().assign(cited_A=None), "unknown column 'cited_A'.*release form"),
    (pd.DataFrame([["q1", [], []]], columns=["query_id", "cited_A", "cited_A"]),
     "'cited_A' stands more than once"),
    (raw({"query_id": "q7", "citing_X": ["d1", 5]}), "5 is no text.*query 'q7', citing_X"),
    (raw({"query_id": 7, "cited_A": ["d1"]}), "7 is no text.*query_id"),
    (raw({"query_id": "q7", "cited_A": "d1"}), "'d1' is no list.*query 'q7', cited_A"),
    (release(("q7", 5, "A", relations("cited A"))), "5 is no text.*query 'q7'"),
    (release(("q7", "d1", "A", [{"category": 1, "direction": "cited"}])), "1 is no text.*'q7'"),
    (release(("q7", "d1", "A", ["A"])), "'A' is no struct.*query 'q7'"),
    (release(("q7", "d1", "A", relations("cited A")[0])), "is no list.*query 'q7'"),
])
def test_what_is_neither_form_is_refused(frame, told):
    with pytest.raises(CollectionError, match=told):
        clean_qrels(frame)


@pytest.mark.parametrize("held", [None, [], [None], [{"category": None, "direction": "cited"}]])
def test_a_collection_without_categories_is_refused(held):
    with pytest.raises(MeasureError, match="every category is null"):
        clean_qrels(release(("q1", "d1", None, held), ("q1", "d2", float("nan"), held)))


def test_real_patents_have_no_categories_to_clean(shared):
    pairs = pd.concat(map(pd.read_parquet, (shared / "data" / "real-patents" / "qrels").glob("*")))
    with pytest.raises(MeasureError, match="every category is null"):
        clean_qrels(pairs)


@pytest.mark.parametrize(("step", "table"), [
    ("_raw_entries", None), ("_frame", categories.LEDGER_COLUMNS),
    ("_frame", categories.RELEASE_COLUMNS)])
def test_an_entry_that_gets_lost_is_found(monkeypatch, step, table):
    whole = getattr(categories, step)
    monkeypatch.setattr(categories, step, lambda rows, *columns: whole(rows, *columns)[
        int(not columns or columns == (table,)):])
    with pytest.raises(AssertionError, match="not balanced: 2 entries in"):
        clean_qrels(raw({"cited_A": ["d1", "d2"]}))
