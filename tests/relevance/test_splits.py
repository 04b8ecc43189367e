"""Splits and leakage, held against a plain search of every pair of queries."""

import random
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kit.collection.sources import Collection, open_collection
from kit.errors import KitError, ParamsError
from kit.relevance import splits as module
from kit.relevance.splits import (
    SHARES,
    TIES,
    Splits,
    find_ties,
    leakage,
    leaking_rows,
    make_date_splits,
    make_splits,
    read_splits,
)

HALVES = {"one": 0.5, "other": 0.5}
TEXT = [f"w{n}" for n in range(100)]
NEARLY = [*TEXT[:-1], "x"]


class Listed(Collection):
    """A collection whose tables are lists of rows: quicker than one in files."""

    def batches(self, table, columns, size=2):
        rows = self.tables[table]
        for start in range(0, len(rows), size):
            yield {c: [row.get(c) for row in rows[start:start + size]] for c in columns}


def in_memory(queries, corpus, pairs, shared_ids: bool = True) -> Collection:
    """A collection of identifiers or dicts, and of pairs (query, document)."""
    return Listed("made", "made", shared_ids=shared_ids, tables={
        "queries": [q if isinstance(q, dict) else {"query_id": q} for q in queries],
        "corpus": [d if isinstance(d, dict) else {"doc_id": d} for d in corpus],
        "qrels": [{"query_id": q, "doc_id": d} for q, d in pairs]})


def told(name: str, text: list[str]) -> dict:
    """A query or a document with a text; the test names the column of its identifier."""
    return {"query_id": name, "doc_id": name, "description": " ".join(text)}


def ties_of(collection, kind: str) -> set[frozenset]:
    found = find_ties(collection)
    return {frozenset(g["query_id"]) for _, g in found[found["kind"] == kind].groupby("tie")}


def split_of(splits: Splits) -> dict[str, str]:
    return splits.table.set_index("query_id")["split"].to_dict()


# --- each tie alone --------------------------------------------------------------------------

LONG, OTHER = told("d1", TEXT), told("d2", NEARLY)
CASES = {
    "reciprocal": in_memory(["q1", "q2", "q3"], ["q1", "q2", "d3"],
                            [("q1", "q2"), ("q2", "q1"), ("q3", "d3")]),
    "a document of two": in_memory(["q1", "q2", "q3"], ["d1", "d3"],
                                   [("q1", "d1"), ("q2", "d1"), ("q3", "d3")]),
    "a document that is a query": in_memory(["q1", "q2", "q3"], ["q2", "d3"],
                                            [("q1", "q2"), ("q3", "d3")]),
    "queries of one text": in_memory([told("q1", TEXT), told("q2", TEXT), "q3"], ["d1", "d2"],
                                     [("q1", "d1"), ("q2", "d2")]),
    "documents of one text": in_memory(["q1", "q2", "q3"], [LONG, told("d2", TEXT)],
                                       [("q1", "d1"), ("q2", "d2")]),
    "a query and a document of one text": in_memory([told("q1", TEXT), "q2", "q3"], [LONG],
                                                    [("q2", "d1")]),
    "queries of one number": in_memory([{"query_id": "q1", "source_xpn": "EP1234A1"},
                                        {"query_id": "q2", "source_xpn": "EP-1234-B1"}, "q3"], [], []),
    "documents of one number": in_memory(
        ["q1", "q2", "q3"], [{"doc_id": "d1", "source_xpn": "US77A1"}, {"doc_id": "d2", "source_xpn": "US77"}],
        [("q1", "d1"), ("q2", "d2")]),
    "queries of near texts": in_memory([told("q1", TEXT), told("q2", NEARLY), "q3"], [], []),
    "documents of near texts": in_memory(["q1", "q2", "q3"], [LONG, OTHER],
                                         [("q1", "d1"), ("q2", "d2")]),
    "a query and a document of near texts": in_memory([told("q1", TEXT), "q2", "q3"], [OTHER],
                                                      [("q2", "d2")]),
}
KIND = {"reciprocal": {"reciprocal", "publication"}, "a document of two": {"publication"},
        "a document that is a query": {"publication"}}


@pytest.mark.parametrize("case", CASES)
def test_a_tie_is_found_under_its_kind_alone(case):
    of_text = "equal text" if "one text" in case else "near-equal text"
    expected = KIND.get(case, {"number" if "number" in case else of_text})
    found = find_ties(CASES[case])
    assert set(found["kind"]) == expected
    assert {frozenset(g["query_id"]) for _, g in found.groupby("tie")} == {frozenset({"q1", "q2"})}


@pytest.mark.parametrize("case", CASES)
def test_what_is_tied_stays_together(case):
    for seed in range(8):
        of = split_of(make_splits(CASES[case], HALVES, seed))
        assert of["q1"] == of["q2"] != of["q3"]


@pytest.mark.parametrize("case", ["reciprocal", "a document that is a query"])
def test_identifiers_that_are_not_shared_tie_nothing(case):
    assert find_ties(replace(CASES[case], shared_ids=False)).empty


@pytest.mark.parametrize(("queries", "corpus", "pairs"), [
    # one document, however often; a document of one query; no number, and an own entry's
    (["q1", "q2"], ["d1", "d2"], [("q1", "d1"), ("q1", "d1"), ("q2", "d2")]),
    ([{"query_id": "q1", "source_xpn": " "}, {"query_id": "q2", "source_xpn": " "}], [], []),
    ([{"query_id": "q1", "source_xpn": "EP1"}, "q2"], [{"doc_id": "q1", "source_xpn": "EP1A1"}], []),
    # an own entry and its query are one patent
    ([told("q1", TEXT), "q2"], [told("q1", TEXT)], []),
    ([told("q1", TEXT), "q2"], [told("q1", NEARLY)], []),
    # texts of documents that are relevant to nothing, or to the same query
    ([told("q1", TEXT), "q2"], [LONG, OTHER], []),
    (["q1", "q2"], [LONG, told("d2", TEXT), told("d3", NEARLY)], [("q1", "d1"), ("q1", "d2")]),
    # no texts at all
    (["q1", "q2"], ["d1", "d2"], [("q1", "d1"), ("q2", "d2")]),
    # rows that the layout refuses
    (["q1", "q2", None], [None, "d1"], [("q1", "d9"), ("q2", "d9"), (None, "d1"), ("q1", None),
                                        ("q2", None), ("q9", "d1"), ("q1", "d1")]),
])
def test_no_tie_is_found_where_none_is(queries, corpus, pairs):
    assert find_ties(in_memory(queries, corpus, pairs)).empty


def test_an_own_entry_that_is_relevant_ties_its_query_by_its_text():
    collection = in_memory(["q1", "q2", told("q3", TEXT)], [told("q3", TEXT), told("d1", TEXT)],
                           [("q1", "q3"), ("q2", "d1")])
    assert ties_of(collection, "equal text") == {frozenset({"q1", "q2", "q3"})}


def test_a_query_and_a_document_of_one_name_are_two_patents_where_names_are_not_shared():
    rows = [told("p1", TEXT), "q2"], [told("p1", TEXT)], [("q2", "p1")]
    assert not ties_of(in_memory(*rows), "equal text")
    apart = in_memory(*rows, shared_ids=False)
    assert ties_of(apart, "equal text") == {frozenset({"p1", "q2"})}


def test_identifiers_that_hold_blanks_make_two_couples():
    names = ["a", "b c", "a b", "c"]
    rows = [("a", "b c"), ("b c", "a"), ("a b", "c"), ("c", "a b")]
    assert ties_of(in_memory(names, names, rows), "reciprocal") == {
        frozenset({"a", "b c"}), frozenset({"a b", "c"})}


def test_a_document_of_many_queries_is_one_tie():
    queries = [f"q{n}" for n in range(1_000)]
    found = find_ties(in_memory(queries, ["d1"], [(q, "d1") for q in queries]))
    assert len(found) == 1_000 and found["tie"].nunique() == 1


# --- splits of random graphs -----------------------------------------------------------------

NAMES = [f"p{n}" for n in range(12)]
TEXTS = [None, TEXT, NEARLY, [*NEARLY[::-1]], [*TEXT[::-1]]]


@st.composite
def graphs(draw):
    """Patents that are queries, documents or both, with pairs and a few texts among them."""
    queries = draw(st.lists(st.sampled_from(NAMES), min_size=3, unique=True))
    corpus = draw(st.lists(st.sampled_from(NAMES), min_size=1, unique=True))
    pairs = draw(st.lists(st.tuples(st.sampled_from(queries), st.sampled_from(corpus)),
                          max_size=12, unique=True))
    text = {name: draw(st.sampled_from(TEXTS)) for name in NAMES}
    return ([told(q, text[q] or []) for q in queries], [told(d, text[d] or []) for d in corpus],
            [(q, d) for q, d in pairs if q != d])


def tied_plainly(queries, corpus, pairs) -> dict[str, set[frozenset]]:
    """The pairs of queries that each kind ties, by looking at each two queries."""
    text = {p["doc_id"]: p["description"] for p in [*queries, *corpus]}
    around = {q["query_id"]: {q["query_id"], *(d for a, d in pairs if a == q["query_id"])}
              for q in queries}
    same = {frozenset(t) for t in ((" ".join(TEXT), " ".join(NEARLY)),
                                   (" ".join(TEXT[::-1]), " ".join(NEARLY[::-1])))}
    tied = {kind: set() for kind in TIES}
    for a, b in combinations(sorted(around), 2):
        both = frozenset({a, b})
        if b in around[a] and a in around[b]:
            tied["reciprocal"].add(both)
        if around[a] & around[b]:
            tied["publication"].add(both)
        for one in around[a]:
            for other in around[b]:
                if text[one] and text[one] == text[other] and one != other:
                    tied["equal text"].add(both)
                if frozenset({text[one], text[other]}) in same:
                    tied["near-equal text"].add(both)
    return tied


def plain_components(names: list[str], tied: set[frozenset]) -> set[frozenset]:
    groups = [{name} for name in names]
    for pair in tied:
        touched = [g for g in groups if g & pair]
        groups = [g for g in groups if not g & pair] + [set().union(*touched)]
    return {frozenset(g) for g in groups}


@settings(max_examples=40, deadline=None)
@given(graphs(), st.integers(0, 3))
def test_nothing_crosses_a_border_and_no_more_hangs_together_than_must(graph, seed):
    collection, names = in_memory(*graph), [q["query_id"] for q in graph[0]]
    found = find_ties(collection)
    groups = plain_components(names, set().union(*tied_plainly(*graph).values()))
    if len(groups) < 2:
        with pytest.raises(KitError, match="too few"):
            make_splits(collection, HALVES, seed, found=found)
        return
    splits = make_splits(collection, HALVES, seed, found=found)
    assert {frozenset(g["query_id"]) for _, g in splits.table.groupby("component")} == groups
    assert splits.table.groupby("component")["split"].nunique().max() == 1
    assert set(splits.table["split"]) == set(HALVES)
    assert leakage(collection, splits, found)["crossing"].tolist() == [0] * 6


@settings(max_examples=40, deadline=None)
@given(graphs(), st.randoms(use_true_random=False))
def test_leakage_is_what_a_plain_search_finds_across_a_border(graph, rng):
    collection = in_memory(*graph)
    of = {q["query_id"]: rng.choice("ab") for q in graph[0]}
    rows = leaking_rows(collection, pd.Series(of))
    for kind, tied in tied_plainly(*graph).items():
        across = {q for pair in tied if len({of[q] for q in pair}) == 2 for q in pair}
        found = set(rows["query_id"][rows["kind"] == kind])
        assert across <= found  # a tie of three queries may hold two that share no more than it
        assert found <= {q for pair in tied for q in pair}


@settings(max_examples=30, deadline=None)
@given(graphs(), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(graph, rng):
    collection = in_memory(*graph)
    shuffled = in_memory(*(rng.sample(rows, len(rows)) for rows in graph))
    assert find_ties(collection).equals(find_ties(shuffled))
    try:
        table = make_splits(collection, HALVES, 5).table
    except KitError:
        return
    assert make_splits(shuffled, HALVES, 5).table.equals(table)


# --- sizes -----------------------------------------------------------------------------------

def stars(*sizes: int) -> Collection:
    """Queries in groups of these sizes, each with one document in common."""
    pairs = [(f"q{n:03d}-{m:03d}", f"d{n}") for n, size in enumerate(sizes) for m in range(size)]
    return in_memory([q for q, _ in pairs], [f"d{n}" for n in range(len(sizes))], pairs)


def queries_of(splits: Splits) -> list[int]:
    return splits.sizes["queries"].tolist()


@pytest.mark.parametrize(("sizes", "expected"), [
    ([1] * 100, [80, 10, 10]), ([2] * 50, [80, 10, 10]), ([30, 30, *[4] * 10], [80, 12, 8]),
    ([70, *[1] * 30], [80, 10, 10]), ([80, *[5] * 4], [80, 10, 10]),
    ([90, *[1] * 10], [90, 5, 5]),       # too large for any split
    ([50, 40, 10], [50, 40, 10]),        # as many components as splits
    ([4, 4, 2], [4, 4, 2]),
    ([98, 1, 1], [98, 1, 1])])
def test_components_are_placed_where_they_fit(sizes, expected):
    assert queries_of(make_splits(stars(*sizes))) == expected


def test_a_giant_component_is_told_with_what_is_left_for_the_others():
    splits = make_splits(stars(90, *[1] * 10))
    assert splits.oversized.values.tolist() == [[0, "train", 90, 0.9]]
    giant, *others = splits.notes
    assert "90 queries (90.0%)" in giant and "whole in train" in giant
    assert any("dev has 5.0%" in note and "10.0% was asked" in note for note in others)


def test_a_component_that_just_fits_is_not_oversized():
    splits = make_splits(stars(80, *[1] * 20))
    assert splits.oversized.empty and splits.notes == []


def test_a_split_that_would_be_empty_is_an_error():
    with pytest.raises(KitError, match="3 splits"):
        make_splits(stars(5, 4))
    with pytest.raises(KitError, match="0 queries"):
        make_splits(in_memory([], [], []))


def test_fewer_ties_break_a_giant_component():
    collection = stars(90, *[1] * 10)
    splits = make_splits(collection, ties=["reciprocal", "equal text"])
    assert queries_of(splits) == [80, 10, 10]
    crossing = leakage(collection, splits).set_index("kind")["crossing"]
    assert crossing.to_dict() == {**dict.fromkeys(TIES, 0), "publication": 1, "without a split": 0}


def test_components_are_numbered_from_the_largest():
    table = make_splits(stars(1, 3, 2), HALVES).table
    assert table.groupby("component").size().tolist() == [3, 2, 1]


def test_the_seed_draws_another_split_of_the_same_sizes():
    collection = stars(*[1] * 50)
    drawn = [make_splits(collection, seed=seed) for seed in (0, 0, 1)]
    assert drawn[0].table.equals(drawn[1].table) and not drawn[0].table.equals(drawn[2].table)
    assert queries_of(drawn[0]) == queries_of(drawn[2])


def test_texts_are_only_compared_where_they_count(monkeypatch):
    def refused(*_):
        raise AssertionError("texts were compared")
    monkeypatch.setattr(module, "near_groups", refused)
    make_splits(stars(1, 1, 1), ties=["reciprocal", "publication", "equal text"])


@pytest.mark.parametrize(("arguments", "said"), [
    ({"shares": {"train": 0.8, "test": 0.1}}, "sum to 0.9"),
    ({"shares": {"train": 1.0, "test": 0.0}}, "'test' is 0.0"),
    ({"shares": {"train": 1.5, "test": -0.5}}, "'test' is -0.5"),
    ({"shares": {"train": float("nan"), "test": 0.5}}, "'train' is nan"),
    ({"shares": {"train": "0.5", "test": 0.5}}, "'train' is '0.5'"),
    ({"shares": {}}, "a mapping"), ({"shares": [0.5, 0.5]}, "a mapping"),
    ({"shares": {"": 0.5, "test": 0.5}}, "a split's name"),
    ({"seed": -1}, "seed"), ({"seed": "1"}, "seed"), ({"seed": True}, "seed"),
    ({"ties": ["publications"]}, "unknown tie 'publications'"),
    ({"ties": "family"}, "unknown tie 'family'")])
def test_what_can_not_be_asked_is_refused(arguments, said):
    with pytest.raises(ParamsError, match=said):
        make_splits(stars(1, 1, 1), **arguments)


def test_ties_that_were_not_looked_for_are_not_taken_for_none():
    collection = stars(1, 1, 1)
    with pytest.raises(ParamsError, match="leave out 'publication'"):
        make_splits(collection, found=find_ties(collection, ["reciprocal"]))


# --- splits by date --------------------------------------------------------------------------

def dated(*dates) -> Collection:
    return in_memory([{"query_id": f"q{n}", "publication_date": d} for n, d in enumerate(dates)],
                     [], [])


def test_the_oldest_queries_are_for_training():
    days = [f"2001-{1 + n // 5:02d}-{1 + n % 5:02d}" for n in range(20)]
    mixed = random.Random(0).sample(days, 20)
    of = split_of(make_date_splits(dated(*mixed)))
    by_day = [of[f"q{mixed.index(day)}"] for day in days]
    assert by_day == ["train"] * 16 + ["dev"] * 2 + ["test"] * 2


@pytest.mark.parametrize(("counts", "expected"), [
    ([1] * 10, [8, 1, 1]), ([7, 2, 1], [7, 2, 1]), ([1, 1, 8], [1, 1, 8]), ([9, 1, 1], [9, 1, 1]),
    ([4, 4, 4, 4, 2, 2], [16, 2, 2]), ([3, 3, 3, 1], [6, 3, 1])])
def test_a_day_is_never_torn_apart_and_no_split_is_empty(counts, expected):
    dates = [f"2001-01-{1 + n:02d}" for n, count in enumerate(counts) for _ in range(count)]
    splits = make_date_splits(dated(*dates))
    assert queries_of(splits) == expected
    assert (splits.table["component"].groupby(splits.table["component"]).size().tolist()) == counts


def test_malformed_dates_are_left_out_and_told():
    bad = ["2001-02-30", "20010101", "", None]
    splits = make_date_splits(dated("2001-01-01", *bad, "2002-01-01", "2003-01-01"))
    assert split_of(splits) == {"q0": "train", "q5": "dev", "q6": "test"}
    assert splits.left_out["query_id"].tolist() == ["q1", "q2", "q3", "q4"]
    assert "4 queries are left out" in splits.notes[-1]


def test_too_few_days_are_an_error():
    with pytest.raises(KitError, match="2 publication dates, too few for 3"):
        make_date_splits(dated("2001-01-01", "2001-01-01", "2001-01-02", "x"))


# --- leakage of any assignment ---------------------------------------------------------------

PLANTED = in_memory(
    ["q1", "q2", "q3", told("q4", TEXT), told("q5", TEXT), told("q6", NEARLY), "q7"],
    ["q1", "q2", "d1", "d2"],
    [("q1", "q2"), ("q2", "q1"), ("q3", "d1"), ("q4", "d1"), ("q7", "d1"), ("q5", "d2")])


@pytest.mark.parametrize("form", ["series", "frame"])
def test_a_bad_split_is_told_in_its_exact_numbers(form):
    bad = pd.Series({"q1": "a", "q2": "b", "q3": "a", "q4": "b", "q5": "a", "q6": "b"})
    if form == "frame":
        bad = bad.rename_axis("query_id").rename("split").reset_index()
    found = leakage(PLANTED, bad).set_index("kind")[["crossing", "of", "queries"]]
    assert found.T.to_dict("list") == {
        "reciprocal": [1, 1, 2], "publication": [3, 3, 4], "number": [0, 0, 0], "equal text": [1, 1, 2],
        "near-equal text": [1, 1, 3], "without a split": [1, 7, 1]}


def test_only_ties_across_a_border_leak():
    good = pd.Series({"q1": "b", "q2": "b", "q3": "a", "q4": "a", "q5": "a", "q6": "c", "q7": "a"})
    rows = leaking_rows(PLANTED, good)
    assert set(rows["kind"]) == {"near-equal text"}
    assert rows[["query_id", "split"]].values.tolist() == [["q4", "a"], ["q5", "a"], ["q6", "c"]]


def test_only_the_kinds_that_were_looked_for_are_told():
    of = pd.Series({"q1": "a", "q2": "b"})
    found = leakage(PLANTED, of, find_ties(PLANTED, ["equal text", "reciprocal"]))
    assert found["kind"].tolist() == ["reciprocal", "equal text", "without a split"]
    assert found["crossing"].tolist() == [1, 0, 5]


@pytest.mark.parametrize(("splits", "said"), [
    (pd.Series({"q1": "a", "q9": "b"}), r"1 queries that the collection lacks \('q9'"),
    (pd.Series({1: "a"}), "as text"),
    (pd.Series(["a", "b"], index=["q1", "q1"]), "two splits, such as 'q1'"),
    (pd.DataFrame({"query": ["q1"], "split": ["a"]}), "query_id and split"),
    ({"q1": "a"}, "query_id and split")])
def test_an_assignment_that_means_nothing_is_refused(splits, said):
    with pytest.raises(KitError, match=said):
        leakage(PLANTED, splits)


def test_a_query_said_twice_alike_or_without_a_split_is_accepted():
    twice = pd.DataFrame({"query_id": ["q1", "q1", "q2"], "split": ["a", "a", None]})
    assert leakage(PLANTED, twice)["crossing"].tolist() == [0, 0, 0, 0, 0, 6]


# --- files -----------------------------------------------------------------------------------

@pytest.mark.parametrize("make", [
    lambda: make_splits(stars(1, 2, 3)),
    lambda: make_date_splits(dated("2001-01-01", "2002-01-01", "2003-01-01"))])
def test_what_is_written_is_read_again(tmp_path, make):
    made = make()
    made.write(tmp_path / "splits.parquet")
    assert read_splits(tmp_path / "splits.parquet").to_dict() == split_of(made)


def test_splits_are_written_under_no_other_ending(tmp_path):
    with pytest.raises(KitError, match="ends in .parquet"):
        make_splits(stars(1, 1, 1)).write(tmp_path / "splits.csv")


def test_identifiers_of_a_table_of_text_stay_text(tmp_path):
    for name, mark in (("splits.csv", ","), ("splits.tsv", "\t")):
        rows = [["query_id", "split", "note"], ["001", "train", ""], ["NA", "1", ""]]
        (tmp_path / name).write_text("\n".join(map(mark.join, rows)), encoding="utf-8-sig")
        assert read_splits(tmp_path / name).to_dict() == {"001": "train", "NA": "1"}


def test_identifiers_in_the_index_of_a_frame_are_read(tmp_path):
    pd.DataFrame({"split": ["a"]}, index=pd.Index(["q1"], name="query_id")).to_parquet(
        tmp_path / "splits.parquet")
    assert read_splits(tmp_path / "splits.parquet").to_dict() == {"q1": "a"}


@pytest.mark.parametrize(("name", "text", "said"), [
    ("none.csv", None, "no such file"), ("splits.json", "{}", "Parquet, CSV or TSV"),
    ("splits.parquet", "query_id", "can't be read"), ("splits.csv", "", "can't be read"),
    ("splits.csv", "query_id,part\nq1,a", "'split' is missing"),
    ("splits.csv", "query_id,split\nq1,a,b", "more fields than the header"),
    ("splits.csv", "query_id,split\nq1,a\nq2,a,b", "can't be read"),
    ("splits.csv", "query_id,split\nq1,a\nq2,", "split is '', .*row 2"),
    ("splits.csv", "query_id,split\n ,a", "query_id is ' '.*row 1"),
    ("splits.csv", "query_id,split\nq1,a\nq1,b", "1 queries stand in two splits"),
    ("splits.csv", b"query_id,split\nq\xe91,a", "can't be read")])
def test_a_file_that_holds_no_splits_is_refused(tmp_path, name, text, said):
    if text is not None:
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(KitError, match=said):
        read_splits(tmp_path / name)


def test_identifiers_that_are_numbers_are_refused(tmp_path):
    pd.DataFrame({"query_id": [1], "split": ["a"]}).to_parquet(tmp_path / "splits.parquet")
    with pytest.raises(KitError, match="query_id is 1, where a text is asked"):
        read_splits(tmp_path / "splits.parquet")


# --- real patents ----------------------------------------------------------------------------

def test_real_patents_are_split_without_a_leak(shared):
    collection = open_collection(str(shared / "data" / "real-patents"))
    found = find_ties(collection)
    splits = make_splits(collection, found=found)
    assert len(splits.table) == 436 and not splits.notes
    assert np.allclose(splits.sizes["share"], list(SHARES.values()), atol=0.01)
    clean = leakage(collection, splits, found).set_index("kind")
    assert clean["crossing"].sum() == 0 and clean.loc["reciprocal", "of"] == 326
    by_date = leakage(collection, make_date_splits(collection), found).set_index("kind")
    assert by_date.loc["reciprocal", "crossing"] > 0
