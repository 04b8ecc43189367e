"""IN and OUT by pair, recomputed from classes; non-citations; the audit of what is stated."""

import dataclasses
import json
import re

import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.collection.sources import open_collection
from kit.relevance.audit import CHECKS, as_records, audit, export_rows
from kit.relevance.checks import relations
from kit.relevance.domains import SENTENCES, non_citations, pair_domains
from kit.relevance.protocols import positives

THREE = "classifications_ipcr_list_first_three_chars_list"


class Patents:
    """Two tables of classes: {identifier: (ipc3, ipc)}."""

    def __init__(self, queries: dict, corpus: dict):
        self.tables = {"queries": queries, "corpus": corpus}

    def frame(self, table: str, columns: list[str]) -> pd.DataFrame:
        rows = [(i, *lists) for i, lists in self.tables[table].items()]
        return pd.DataFrame(rows, columns=columns, dtype=object)


CODES = st.lists(st.sampled_from(["H04L9/32", "H04W4/00", "A01B1/00", "G06F17/30", "g06 n3/02"]))
PATENT = st.tuples(st.one_of(st.none(), st.lists(st.sampled_from(["H04", "A01", "G06", "none"]))),
                   st.one_of(st.none(), CODES))


def restated(query: tuple, doc: tuple) -> str:
    """The domain by looking at every two classes."""
    def three(patent):
        listed, codes = patent
        return [c for c in listed or [] if c != "none"] or [c[:3].upper() for c in codes or []]
    both = [(a, b) for a in three(query) for b in three(doc)]
    return "UNKNOWN" if not both else "IN" if any(a == b for a, b in both) else "OUT"


@given(st.lists(PATENT, min_size=1, max_size=4), st.lists(PATENT, min_size=1, max_size=4))
def test_domains_are_those_of_every_two_classes(queries, docs):
    held = Patents({f"q{n}": p for n, p in enumerate(queries)},
                   {f"d{n}": p for n, p in enumerate(docs)})
    pairs = pd.DataFrame([(q, d) for q in held.tables["queries"] for d in held.tables["corpus"]],
                         columns=["query_id", "doc_id"])
    wanted = [restated(q, d) for q in queries for d in docs]
    assert pair_domains(held, pairs).tolist() == wanted
    turned = pairs.rename(columns={"query_id": "doc_id", "doc_id": "query_id"})
    swapped = Patents(held.tables["corpus"], held.tables["queries"])
    assert pair_domains(swapped, turned).tolist() == wanted  # to share is mutual


def test_domains_stand_under_the_index_of_the_pairs(mini_dapfam):
    pairs = mini_dapfam.pairs.iloc[[5, 2, 9]]
    whole = pair_domains(mini_dapfam, mini_dapfam.pairs)
    assert pair_domains(mini_dapfam, pairs).to_dict() == whole[[5, 2, 9]].to_dict()


def test_an_unknown_identifier_has_no_domain(mini_dapfam):
    pairs = pd.DataFrame([("nobody", mini_dapfam.ids("corpus")[0])], columns=["query_id", "doc_id"])
    assert pair_domains(mini_dapfam, pairs).tolist() == ["UNKNOWN"]


def test_domains_of_a_collection_that_lists_no_classes_are_those_of_its_codes(mini):
    pairs = positives(mini, "all")
    held = [{i: {c[:3] for c in ipc if re.match(r"[A-HY]\d\d", c)} for i, ipc in zip(
        mini.ids(t), mini.frame(t, ["ipc"])["ipc"], strict=True)} for t in ("queries", "corpus")]
    both = [(held[0][q], held[1][d]) for q, d in pairs.itertuples(index=False)]
    assert pair_domains(mini, pairs).tolist() == [
        "UNKNOWN" if not (a and b) else "IN" if a & b else "OUT" for a, b in both]


def test_every_domain_has_its_sentence(mini_dapfam):
    assert set(pair_domains(mini_dapfam, mini_dapfam.pairs)) == set(SENTENCES)


def test_the_non_citations_are_the_rows_of_score_0(mini_dapfam):
    sampled = non_citations(mini_dapfam)
    assert list(sampled.columns) == ["query_id", "doc_id"] and len(sampled) == 167
    pairs = set(map(tuple, positives(mini_dapfam, "all").values))
    assert not pairs & set(map(tuple, sampled.values))


def test_a_collection_that_sampled_none_has_no_non_citations(mini):
    assert non_citations(mini).empty


# --- the audit of relations -----------------------------------------------------------------------

def found(folder) -> dict:
    return {f.name: f for f in audit(open_collection(str(folder)))}


def test_a_domain_that_the_classes_contradict_is_named_with_both(tmp_path, make_dapfam):
    folder = make_dapfam(tmp_path, [("q1", "d1", 1.0, "IN"), ("q1", "d2", 1.0, "IN"),
                                    ("q2", "d1", 1.0, "OUT")],
                         corpus=["d1", {"relevant_id": "d2", THREE: ["A01", "B60"]}, "d3"])
    check = found(folder)["domain_rel against the classes"]
    assert check.verdict == "fault" and check.found.of == 3
    assert check.found.rows.to_dict("records") == [
        {"query_id": "q1", "doc_id": "d2", "domain_rel": "IN", "recomputed": "OUT",
         "query_classes": "H04", "document_classes": "A01, B60"},
        {"query_id": "q2", "doc_id": "d1", "domain_rel": "OUT", "recomputed": "IN",
         "query_classes": "H04", "document_classes": "H04"}]
    assert check.found.detail.to_dict("records") == [
        {"domain_rel": "IN", "by the classes": "IN", "pairs": 1},
        {"domain_rel": "IN", "by the classes": "OUT", "pairs": 1},
        {"domain_rel": "OUT", "by the classes": "IN", "pairs": 1}]


def test_a_pair_without_a_class_is_told_and_contradicts_nothing(tmp_path, make_dapfam):
    none = {"ipcr_codes_str": "", THREE: []}
    checks = found(make_dapfam(tmp_path, corpus=["d1", "d2", {"relevant_id": "d3", **none}]))
    untold = checks["pairs whose domain can't be told"]
    assert untold.verdict == "doubt"
    assert untold.found.rows[["query_id", "doc_id"]].values.tolist() == [["q2", "d3"]]
    assert checks["domain_rel against the classes"].verdict == "clear"


def test_the_codes_decide_where_no_list_is(tmp_path, make_dapfam):
    bare = {"relevant_id": "d1", "ipcr_codes_str": "A01B1/00", THREE: None}
    checks = found(make_dapfam(tmp_path, corpus=[bare, "d2", "d3"]))
    assert checks["domain_rel against the classes"].count == 1


def test_a_sound_collection_is_clear_and_counted(tmp_path, make_dapfam):
    checks = {n: f for n, f in found(make_dapfam(tmp_path)).items() if f.group == "relations"}
    assert {n: f.count for n, f in checks.items() if f.count} == {
        "sampled": 1, "pairs stated IN": 2, "queries with a pair stated IN": 2}
    assert {f.verdict for f in checks.values()} == {"clear", "noted"}


SAME = {"title_en": "Valve", "claims_text": "1. A valve."}
OTHER = {"title_en": "Pump", "claims_text": "1. A pump."}


@pytest.mark.parametrize("theirs, said", [
    (SAME, "title and claims"), (SAME | {"claims_text": "1. A pump."}, "title"),
    (SAME | {"title_en": "  Valve "}, "title and claims"), (OTHER, "neither"),
    (OTHER | {"claims_text": "1. A  valve."}, "claims"),
    ({"title_en": "", "claims_text": None}, "nothing to compare")])
def test_whether_one_identifier_is_one_patent_is_seen_from_title_and_claims(
        tmp_path, make_dapfam, theirs, said):
    folder = make_dapfam(tmp_path, [("x1", "d1", 1.0, "IN")], queries=[{"query_id": "x1", **SAME}],
                         corpus=["d1", {"relevant_id": "x1", **theirs}])
    checks = found(folder)
    both, own = checks["identifiers in both tables"], checks["own entries that nothing excludes"]
    assert both.found.rows.to_dict("records") == [{"identifier": "x1", "same": said}]
    assert both.found.detail.to_dict("records") == [{"same": said, "identifiers": 1}]
    assert (both.verdict, both.found.of) == ("noted", 1)
    assert own.verdict == ("clear" if said in ("neither", "nothing to compare") else "doubt")


def test_own_entries_of_shared_identifiers_are_excluded_and_no_doubt(mini_dapfam):
    shared = dataclasses.replace(mini_dapfam, shared_ids=True)
    by_name = {f.name: f for f in audit(shared, near=False)}
    assert by_name["own entries that nothing excludes"].verdict == "absent"
    assert by_name["identifiers in both tables"].count == by_name["own entries"].count == 3


def test_only_dapfams_tables_are_asked_about_relations(mini, mini_litigation):
    for collection in (mini, mini_litigation):
        assert "relations" not in {f.group for f in audit(collection, near=False)}
    assert not {c.name for c in relations.CHECKS} & {c.name for c in CHECKS}


def test_findings_of_relations_are_plain_data_with_their_rows(tmp_path, make_dapfam):
    odd = [("q1", "d1", 1.0, "IN"), ("q2", "d2", None, "NC"), ("q2", "d3", 0.5, None)]
    checks = list(found(make_dapfam(tmp_path, odd)).values())
    assert json.loads(json.dumps(as_records(checks), allow_nan=False))
    paths = export_rows([f for f in checks if f.group == "relations"], tmp_path / "rows")
    (scores,) = [p for p in paths if "scores-that" in p.name]
    assert pq.read_table(scores)["relevance_score"].to_pylist() == [0.5, None]
    for finding in checks:
        if finding.found.rows is not None:
            assert len(finding.found.rows) == finding.count, finding.name
