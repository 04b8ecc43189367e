"""The standard slices: domains by section, statutes, grades, directions."""

import re

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kit.collection.rows import COLUMNS
from kit.collection.sources import open_collection
from kit.errors import MeasureError
from kit.relevance.protocols import PROTOCOLS, offered, positives
from kit.relevance.slices import (
    FAMILIES,
    NAMES,
    SENTENCES,
    domain_tags,
    section_map,
    sections,
    standard_slices,
    table_sections,
)

F, A, G = ["F16K31/06"], ["A01B1/00"], ["G06F17/30"]


@pytest.mark.parametrize(("query", "docs", "tag"), [
    (F, [F, F], "IN"),
    (F, [A, G], "OUT"),
    (F, [F, A], "MIXED"),
    # patents of several sections: one in common is enough
    (F + A, [A], "IN"),
    (F, [A + F, F + G], "IN"),
    (F + A, [G, A], "MIXED"),
    (F + A, [G], "OUT"),
    # a class that is not there is never guessed
    ([], [F], "UNKNOWN"),
    (None, [F, A], "UNKNOWN"),
    (F, [None], "UNKNOWN"),
    (F, [F, []], "UNKNOWN"),
    (F, [A, []], "UNKNOWN"),
    (F, [F, [None, ""]], "UNKNOWN"),
    # it is MIXED whatever the class that is not there
    (F, [F, A, []], "MIXED"),
    # Y is a section of the CPC's; small letters and blanks are read
    (["Y02E10/70"], [["Y02W30/62"]], "IN"),
    (["Y02E10/70"], [F], "OUT"),
    (["f16k31/06"], [[" F 16 K 31/06"]], "IN"),
    # what is no class is none, whatever letter it starts with
    (["Apple"], [A], "UNKNOWN"),
    (["B1"], [["B60K1/00"]], "UNKNOWN"),
    (["Z99Z9/99"], [F], "UNKNOWN"),
    (["16FK"], [F], "UNKNOWN"),
    (F, [["?"]], "UNKNOWN"),
    (["?", *F], [F], "IN"),
])
def test_a_query_is_tagged_by_its_relevants(tmp_path, make_collection, query, docs, tag):
    names = [f"d{i}" for i in range(len(docs))]
    collection = open_collection(str(make_collection(
        tmp_path, [{"query_id": "q1", "ipc": query, "ipc_section": None}],
        [{"doc_id": d, "ipc": ipc} for d, ipc in zip(names, docs)], [("q1", d) for d in names])))
    assert domain_tags(collection, positives(collection, "all")).to_dict() == {"q1": tag}


@pytest.mark.parametrize(("ipc", "expected"), [
    (["A01B1/00", "a61k", "H"], "AH"), (["A 61 K"], "A"), (["Y10T"], "Y"), ([], ""), (None, ""),
    ([None, "", " "], ""), (["A1", "EP1000000", "Ärzte", "I01B", "A0"], ""), (["A01B\n", "\tC07D"], "AC")])
def test_the_sections_of_a_patent(ipc, expected):
    assert sections(ipc) == frozenset(expected)


def test_a_protocol_has_its_own_tags(tmp_path, make_collection):
    collection = open_collection(str(make_collection(
        tmp_path, corpus=[{"doc_id": "d1", "ipc": F}, {"doc_id": "d2", "ipc": A}],
        qrels=[("q1", "d1", "XY"), ("q1", "d2", "A")])))
    tags = {p: domain_tags(collection, positives(collection, p)).to_dict() for p in ("all", "xy", "a")}
    assert tags == {"all": {"q1": "MIXED"}, "xy": {"q1": "IN"}, "a": {"q1": "OUT"}}


def test_a_query_without_relevants_has_no_tag(tmp_path, make_collection):
    collection = open_collection(str(make_collection(tmp_path, qrels=[("q1", "d1")])))
    assert list(domain_tags(collection, positives(collection, "all")).index) == ["q1"]


def test_real_pairs_cross_a_section_as_often_as_their_readme_says(shared):
    collection = open_collection(str(shared / "data" / "real-patents"))
    queries, docs = section_map(collection, "queries"), section_map(collection, "corpus")
    pairs = positives(collection, "all")
    crossing = sum(not queries[q] & docs[d] for q, d in zip(pairs["query_id"], pairs["doc_id"]))
    assert crossing == 52


# --- every standard slice, always -----------------------------------------------------------------

def by_name(collection, protocol="all"):
    return {s.name: s for s in standard_slices(collection, protocol)}


def pairs_of(s) -> set[tuple[str, str]]:
    return set(zip(s.pairs["query_id"], s.pairs["doc_id"], strict=True))


def relation(category, direction="cited"):
    return {"category": category, "direction": direction}


def test_the_standard_slices_and_their_order():
    assert NAMES == ("scope IN", "scope OUT", "scope OUT residual",
                     "IN", "MIXED", "OUT", "UNKNOWN", "§102", "§103", "X", "Y", "cited", "citing")
    assert tuple(SENTENCES) == NAMES


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_all_are_in_the_list_of_a_collection_that_gives_few(tmp_path, make_collection, protocol):
    collection = open_collection(str(make_collection(tmp_path, qrels=[
        {"query_id": "q1", "doc_id": "d1", "category": "XY", "source_relations": None}])))
    listed = standard_slices(collection, protocol)
    assert [s.name for s in listed] == list(NAMES)
    assert all(s.name in FAMILIES[s.family] for s in listed)
    assert {s.name: s.absent for s in listed if s.absent} == {
        "§102": "no statute in this collection", "§103": "no statute in this collection",
        "X": "no grade in this collection", "Y": "no grade in this collection",
        "cited": "no direction in this collection", "citing": "no direction in this collection"}


def test_a_slice_that_is_only_empty_under_a_protocol_is_not_absent(tmp_path, make_collection):
    collection = open_collection(str(make_collection(tmp_path, qrels=[
        {"query_id": "q1", "doc_id": "d1", "category": "XY", "source_relations": [relation("X")]},
        {"query_id": "q1", "doc_id": "d2", "category": "A", "source_relations": [relation("A")]}])))
    x = by_name(collection, "a")["X"]
    assert x.pairs.empty and x.absent == ""


def test_a_protocol_that_the_collection_can_not_give_is_refused(mini_litigation):
    with pytest.raises(MeasureError, match="'xy'"):
        standard_slices(mini_litigation, "xy")


def test_a_pair_with_x_and_y_stands_in_both_and_one_of_neither_in_none(tmp_path, make_collection):
    kinds = {"d1": ["XY", "X"], "d2": ["XY", "Y"], "d3": ["XY", "X", "Y"], "d4": ["XY"],
             "d5": ["XY", None]}
    qrels = [{"query_id": "q1", "doc_id": doc,
              "source_relations": [k and relation(k) for k in held]} for doc, held in kinds.items()]
    folder = make_collection(tmp_path, corpus=list(kinds), qrels=qrels)
    found = by_name(open_collection(str(folder)))
    assert pairs_of(found["X"]) == {("q1", "d1"), ("q1", "d3")}
    assert pairs_of(found["Y"]) == {("q1", "d2"), ("q1", "d3")}
    assert "both" in found["X"].sentence and "both" in found["Y"].sentence


def test_a_pair_cited_and_citing_stands_in_both(tmp_path, make_collection):
    qrels = [{"query_id": "q1", "doc_id": "d1",
              "source_relations": [relation("A", "cited"), relation("XY", "citing")]},
             {"query_id": "q1", "doc_id": "d2", "source_relations": [relation("A", "citing")]}]
    found = by_name(open_collection(str(make_collection(tmp_path, qrels=qrels))))
    assert pairs_of(found["cited"]) == {("q1", "d1")}
    assert pairs_of(found["citing"]) == {("q1", "d1"), ("q1", "d2")}


def test_a_row_of_both_statutes_stands_in_both_with_all_its_pairs(tmp_path, make_rows):
    rows = [{"qid": "a", "statute": ["103", "102"], "gold_apps": ["d1", "d2"]},
            {"qid": "b", "statute": "103", "gold_apps": ["d3"]}, {"qid": "c", "gold_apps": ["d3"]}]
    found = by_name(open_collection(str(make_rows(tmp_path, rows))))
    assert pairs_of(found["§102"]) == {("a", "d1"), ("a", "d2")}
    assert found["§103"].members == {"a", "b"}
    assert "both" in found["§102"].sentence and "both" in found["§103"].sentence


def test_the_grade_of_a_row_is_that_of_its_pairs(tmp_path, make_rows):
    rows = [{"qid": "a", "grade": ["Y", "X"], "gold_apps": ["d1", "d2"]},
            {"qid": "b", "grade": "Y"}]
    found = by_name(open_collection(str(make_rows(tmp_path, rows))))
    assert pairs_of(found["X"]) == {("a", "d1"), ("a", "d2")}
    assert found["Y"].members == {"a", "b"}


@pytest.mark.parametrize(("query", "of_gold", "corpus", "tag"), [
    (F, F, A, "IN"),      # the row's own word on its gold goes before the corpus's
    (F, None, A, "OUT"),  # which holds where the row says nothing
    (F, [], F, "IN"),
    (F, ["?"], F, "IN"),
    (F, None, [], "UNKNOWN"),
    (F, A, None, "OUT"),
    (None, F, F, "UNKNOWN"),
    ([], F, F, "UNKNOWN"),
    (["Y02P70/10", *A], ["Y02P 70/10", *G], F, "IN"),
])
def test_a_gold_is_of_the_class_that_its_row_states(
        tmp_path, make_rows, query, of_gold, corpus, tag):
    row = {"qid": "a", "gold_apps": ["d1"], "query_cpc": query,
           "gold_cpc": None if of_gold is None else {"d1": of_gold}}
    collection = open_collection(str(make_rows(tmp_path, [row], [{"doc_id": "d1", "ipc": corpus}])))
    assert domain_tags(collection, positives(collection, "all")).to_dict() == {"a": tag}


def test_a_golds_class_is_that_of_its_own_row(tmp_path, make_rows):
    rows = [{"qid": q, "query_cpc": F, "gold_cpc": {"d1": cpc}} for q, cpc in (("a", F), ("b", A))]
    collection = open_collection(str(make_rows(tmp_path, rows)))
    tags = domain_tags(collection, positives(collection, "all"))
    assert tags.to_dict() == {"a": "IN", "b": "OUT"}


# --- on random tables, by the definitions once more -----------------------------------------------

class Tables:
    """Tables in memory that answer like a collection."""

    source = "tables"

    def __init__(self, queries: list[dict], corpus: list[dict], qrels: list[dict]):
        self.rows, self.columns = {"queries": queries, "corpus": corpus, "qrels": qrels}, COLUMNS
        self.pairs = self.frame("qrels", list(COLUMNS["qrels"]))

    def frame(self, table, columns):
        rows = [{c: row.get(c) for c in columns} for row in self.rows[table]]
        return pd.DataFrame(rows, columns=columns, dtype=object)

    def ids(self, table):
        return self.frame(table, ["query_id" if table == "queries" else "doc_id"]).iloc[:, 0]


classes = st.none() | st.lists(st.sampled_from(["A01B", "F16K31/06", "y02p", "?", ""]) | st.none(),
                               max_size=3)
relations = st.none() | st.lists(st.none() | st.fixed_dictionaries(
    {"category": st.sampled_from(["X", "Y", "XY", "A"]),
     "direction": st.sampled_from(["cited", "citing"])}), max_size=3)
stated = {"statute": st.none() | st.lists(st.sampled_from(["102", "103"]), max_size=2, unique=True),
          "grade": st.none() | st.lists(st.sampled_from(["X", "Y"]), max_size=2, unique=True)}


@st.composite
def tables(draw):
    queries = [{"query_id": f"q{n}", "ipc": draw(classes), "cpc": draw(classes),
                **{name: draw(values) for name, values in stated.items()}} for n in range(3)]
    corpus = [{"doc_id": f"d{n}", "ipc": draw(classes)} for n in range(4)]
    of = st.tuples(st.integers(0, 2), st.integers(0, 3))
    categories = draw(st.sampled_from([["XY", "A", "overlap"], [None]]))
    qrels = [{"query_id": f"q{q}", "doc_id": f"d{d}", "category": draw(st.sampled_from(categories)),
              "source_relations": draw(relations), "cpc": draw(classes)}
             for q, d in draw(st.lists(of, min_size=1, unique=True))]
    return Tables(queries, corpus, qrels)


def three(patent) -> set[str]:
    """The three-character classes of a patent's IPC."""
    read = [re.sub(r"\s", "", c).upper() for c in patent["ipc"] or () if c and c != "?"]
    return {c[:3] for c in read if len(c) > 2}


def told(found) -> set[str]:
    return {c.strip()[0].upper() for c in found or () if c and c != "?"}


def expected(tables, protocol) -> dict[str, set[tuple[str, str]]]:
    """Each slice's pairs, by the definitions in the README and the docstrings, pair by pair."""
    queries = {q["query_id"]: q for q in tables.rows["queries"]}
    corpus = {d["doc_id"]: d for d in tables.rows["corpus"]}
    kept = [p for p in tables.rows["qrels"] if protocol == "all"
            or p["category"] in {"xy": ("XY", "overlap"), "a": ("A", "overlap")}[protocol]]
    found = {name: set() for name in NAMES}
    for pair in kept:
        query, key = queries[pair["query_id"]], (pair["query_id"], pair["doc_id"])
        shares = []
        for other in (p for p in kept if p["query_id"] == pair["query_id"]):
            a = told(query["cpc"]) or told(query["ipc"])
            b = told(other["cpc"]) or told(corpus[other["doc_id"]]["ipc"])
            shares.append(bool(a & b) if a and b else None)
        tag = ("MIXED" if True in shares and False in shares else "UNKNOWN" if None in shares
               else "IN" if True in shares else "OUT")
        found[tag].add(key)
        a, b = three(query), three(corpus[pair["doc_id"]])
        if a and b:
            found["scope IN" if a & b else "scope OUT"].add(key)
        entries = [r for r in pair["source_relations"] or [] if r]
        for name in ("X", "Y"):
            if name in (query["grade"] or []) or any(r["category"] == name for r in entries):
                found[name].add(key)
        for name in ("cited", "citing"):
            if any(r["direction"] == name for r in entries):
                found[name].add(key)
        for statute in query["statute"] or []:
            found[f"§{statute}"].add(key)
    return found | {"scope OUT residual": found["scope OUT"]}


@given(tables())
@settings(deadline=None, max_examples=60)
def test_slices_are_what_the_definitions_say_pair_by_pair(tables):
    for protocol in offered(tables):
        whole = positives(tables, protocol)
        wanted = expected(tables, protocol)
        for s in standard_slices(tables, protocol):
            assert pairs_of(s) == wanted[s.name]
            assert s.members == {query for query, _ in wanted[s.name]}
            pd.testing.assert_frame_equal(s.pairs, whole.loc[s.pairs.index])
            if s.name == "scope OUT residual":
                assert set(zip(s.taken_out["query_id"], s.taken_out["doc_id"])) == wanted["scope IN"]
            else:
                assert s.taken_out is None
            if s.absent:
                assert not any(expected(tables, "all")[name] for name in FAMILIES[s.family])


@given(tables())
@settings(deadline=None, max_examples=30)
def test_domains_part_the_pairs_and_statutes_keep_whole_queries(tables):
    for protocol in offered(tables):
        found, whole = by_name(tables, protocol), positives(tables, protocol)
        index = [i for name in FAMILIES["domain"] for i in found[name].pairs.index]
        assert sorted(index) == list(whole.index)
        for name in (*FAMILIES["domain"], *FAMILIES["statute"]):
            mine = whole[whole["query_id"].isin(found[name].members)]
            pd.testing.assert_frame_equal(found[name].pairs, mine)


def test_sections_are_of_the_cpc_where_it_can_be_read():
    rows = [{"query_id": str(n), "cpc": cpc, "ipc": ["A01B"]} for n, cpc in enumerate(
        [["G06F"], None, [], ["?"], ["?", "H01M"]])]
    found = table_sections(Tables(rows, [], []), "queries")
    assert found == tuple(map(frozenset, "GAAAH"))
