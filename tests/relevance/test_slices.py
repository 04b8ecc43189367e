"""IN, MIXED, OUT, UNKNOWN by the section of the IPC."""

import pytest

from kit.collection.sources import open_collection
from kit.relevance.protocols import positives
from kit.relevance.slices import domain_tags, section_map, sections

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
