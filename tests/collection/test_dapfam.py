"""DAPFAM's own columns, read as Sophia's."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kit.collection.dapfam import codes
from kit.collection.sources import open_collection
from kit.relevance.audit import audit
from kit.relevance.protocols import offered, positives
from kit.relevance.slices import domain_tags
from kit.text.views import texts

README = """---
configs:
- config_name: queries
  data_files: [{split: train, path: "queries/*.parquet"}]
- config_name: corpus
  data_files: [{split: train, path: "corpus/*.parquet"}]
- config_name: relations
  data_files: [{split: train, path: "relations/*.parquet"}]
---
"""


def patent(id_column: str, identifier: str, ipc: str | None) -> dict:
    return {id_column: identifier, "jurisdiction": "US", "earliest_claim_jusrisdiction": "US",
            "earliest_claim_date": "2001-02-03", "earliest_claim_year": 2001, "ipcr_codes_str": ipc,
            "classifications_ipcr_list_first_three_chars_list": ["H04"], "title_en": f"T {identifier}",
            "abstract_en": f"A {identifier}", "claims_text": None, "description_en": ""}


@pytest.fixture(params=["with README", "without"])
def folder(tmp_path, request):
    tables = {
        "queries": [patent("query_id", "p1", "H04L9/32;;G06F21/00") | {"abstract_keywords": "x"}],
        "corpus": [patent("relevant_id", "p1", "H04L 9/32"), patent("relevant_id", "p2", "A01G9/02"),
                   patent("relevant_id", "p3", None)],
        "relations": [
            {"query_id": "p1", "relevant_id": "p1", "relevance_score": 0.0, "domain_rel": "NC"},
            {"query_id": "p1", "relevant_id": "p2", "relevance_score": 1.0, "domain_rel": "OUT"}],
    }
    for name, rows in tables.items():
        (tmp_path / name).mkdir()
        pq.write_table(pa.Table.from_pylist(rows), tmp_path / name / "train.parquet")
    if request.param == "with README":
        (tmp_path / "README.md").write_text(README)
    return tmp_path


@pytest.mark.parametrize("streaming", [False, True])
def test_a_folder_in_its_layout_opens_as_a_sound_collection(folder, streaming):
    data = open_collection(str(folder), streaming=streaming)
    assert data.faults == []
    assert list(data.ids("corpus")) == ["p1", "p2", "p3"]
    assert list(texts(data, "queries", "tacd")) == ["T p1\nA p1"]
    assert list(data.frame("queries", ["ipc"])["ipc"]) == [["H04L9/32", "G06F21/00"]]


@pytest.mark.parametrize("table", ["queries", "corpus"])
def test_a_broken_column_is_the_only_fault_of_its_table(folder, table):
    file = folder / table / "train.parquet"
    pq.write_table(pq.read_table(file).drop_columns(["description_en"]), file)
    found = [f.name for f in audit(open_collection(str(folder))) if f.verdict == "fault"]
    assert found == ["broken columns"]


def test_sampled_non_citations_are_no_positives(folder):
    data = open_collection(str(folder))
    assert positives(data, "all").to_dict("records") == [{"query_id": "p1", "doc_id": "p2"}]
    assert offered(data) == ["all"]


def test_far_pairs_are_out(folder):
    data = open_collection(str(folder))
    assert domain_tags(data, positives(data, "all")).to_dict() == {"p1": "OUT"}


def test_its_ids_are_not_taken_for_one_namespace(folder):
    assert not open_collection(str(folder)).shared_ids


@pytest.mark.parametrize("text, found", [
    ("H04L9/32;;G06F21/00", ["H04L9/32", "G06F21/00"]), ("A61K 31/00, C07D", ["A61K31/00", "C07D"]),
    ("", []), (None, []), ("none", [])])
def test_codes_are_found_however_they_are_joined(text, found):
    assert codes(text) == found
