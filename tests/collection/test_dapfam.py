"""DAPFAM's own columns, read as Sophia's; its relations, and what they may not say."""

import datetime
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kit.collection import miniature
from kit.collection.dapfam import codes, three_characters
from kit.collection.schema import require_sound
from kit.collection.sources import open_collection
from kit.errors import CollectionError
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
THREE = "classifications_ipcr_list_first_three_chars_list"


@pytest.fixture(params=["with README", "without"])
def folder(tmp_path, make_dapfam, request) -> Path:
    """p1 is a query and, as another patent, a candidate."""
    made = make_dapfam(
        tmp_path, [("p1", "p1", 0.0, "NC"), ("p1", "p2", 1.0, "OUT")],
        queries=[{"query_id": "p1", "ipcr_codes_str": "H04L9/32;;G06F21/00", "claims_text": None,
                  "description_en": "", "abstract_keywords": "x"}],
        corpus=["p1", {"relevant_id": "p2", "ipcr_codes_str": "A01G9/02", THREE: ["A01"]},
                {"relevant_id": "p3", "ipcr_codes_str": None, THREE: None}])
    if request.param == "with README":
        (made / "README.md").write_text(README)
    return made


def opened(folder: Path, **how):
    return open_collection(str(folder), **how)


def verdicts(collection, verdict: str) -> list[str]:
    return [f.name for f in audit(collection) if f.verdict == verdict]


def changed(folder: Path, table: str, change) -> Path:
    file = folder / table / "train.parquet"
    pq.write_table(change(pq.read_table(file)), file)
    return folder


def with_column(name: str, values: list, kind=None):
    """A change of a table: the column replaced."""
    def change(table: pa.Table) -> pa.Table:
        place = table.schema.get_field_index(name)
        return table.set_column(place, name, pa.array(values, kind))
    return change


@pytest.mark.parametrize("streaming", [False, True])
def test_a_folder_in_its_layout_opens_as_a_sound_collection(folder, streaming):
    data = opened(folder, streaming=streaming)
    assert data.faults == []
    assert list(data.ids("corpus")) == ["p1", "p2", "p3"]
    assert list(texts(data, "queries", "tacd")) == ["T p1\nA p1"]
    assert list(data.frame("queries", ["ipc"])["ipc"]) == [["H04L9/32", "G06F21/00"]]
    assert list(data.frame("corpus", ["ipc3"])["ipc3"]) == [["H04"], ["A01"], []]


@pytest.mark.parametrize("table", ["queries", "corpus"])
def test_a_broken_column_is_the_only_fault_of_its_table(folder, table):
    changed(folder, table, lambda t: t.drop_columns(["description_en"]))
    assert verdicts(opened(folder), "fault") == ["broken columns"]


@pytest.mark.parametrize("column", ["relevance_score", "domain_rel", "relevant_id"])
def test_relations_with_a_broken_column_are_told_once_and_not_read(folder, column):
    changed(folder, "relations", lambda t: t.drop_columns([column]))
    data = opened(folder)
    assert [(f.table, f.column) for f in data.faults] == [("qrels", column)]
    checks = {f.name: f for f in audit(data)}
    assert [f.name for f in checks.values() if f.verdict == "fault"] == ["broken columns"]
    assert {f.verdict for f in checks.values() if f.group == "relations" and "both" not in f.name
            and "own entries" not in f.name} == {"absent"}


def test_sampled_non_citations_are_no_positives(folder):
    data = opened(folder)
    assert positives(data, "all").to_dict("records") == [{"query_id": "p1", "doc_id": "p2"}]
    assert offered(data) == ["all"]


@pytest.mark.parametrize("streaming", [False, True])
def test_every_relation_stands_in_one_of_the_two_tables(folder, streaming):
    data = opened(folder, streaming=streaming)
    kept = ["query_id", "doc_id", "relevance_score", "domain_rel"]
    assert data.frame("sampled", kept).values.tolist() == [["p1", "p1", 0.0, "NC"]]
    assert data.pairs[kept].values.tolist() == [["p1", "p2", 1.0, "OUT"]]


def test_a_collection_that_sampled_nothing_is_sound(tmp_path, make_dapfam):
    data = opened(make_dapfam(tmp_path, [("q1", "d1", 1.0, "IN")]))
    assert data.faults == []
    assert verdicts(data, "fault") == []


def test_far_pairs_are_out(folder):
    data = opened(folder)
    assert domain_tags(data, positives(data, "all")).to_dict() == {"p1": "OUT"}


def test_its_ids_are_not_taken_for_one_namespace(folder):
    assert not opened(folder).shared_ids


def test_a_positive_of_the_querys_own_number_is_no_own_pair(tmp_path, make_dapfam):
    data = opened(make_dapfam(tmp_path, [("q1", "q1", 1.0, "IN")], corpus=["q1", "d1"]))
    assert data.faults == []
    assert "own pairs" in verdicts(data, "absent")


# --- what pins a generation -----------------------------------------------------------------------

@pytest.mark.parametrize("relations, table", [
    ([("q1", "d1", 1.0, "OUT"), ("q1", "d2", 0.0, "NC"), ("q2", "d3", 1.0, "IN")], "qrels"),
    ([("q1", "d1", 1.0, "IN"), ("q1", "d3", 0.0, "NC"), ("q2", "d3", 1.0, "IN")], "sampled")],
    ids=["a domain", "a sampled pair"])
def test_the_fingerprint_covers_what_relations_say(tmp_path, make_dapfam, relations, table):
    plain = opened(make_dapfam(tmp_path, name="a")).fingerprints
    other = opened(make_dapfam(tmp_path, relations, name="b")).fingerprints
    assert {t for t in plain if plain[t] != other[t]} == {table, "together"}


def test_the_fingerprint_covers_the_listed_classes(tmp_path, make_dapfam):
    prints = [opened(make_dapfam(tmp_path, name=name, queries=[
        "q2", {"query_id": "q1", THREE: listed}])).fingerprints
        for name, listed in (("a", ["H04"]), ("b", ["A01"]))]
    assert {t for t in prints[0] if prints[0][t] != prints[1][t]} == {"queries", "together"}


# --- relations that are not as documented ---------------------------------------------------------

SOUND = [("q1", "d1", 1.0, "IN"), ("q2", "d3", 1.0, "IN")]
SCORES, DOMAINS = "scores that are not documented", "domains that are not documented"
BROKEN = {
    "no score": (("q1", "d2", None, "NC"), [SCORES]),
    "a score that is no number": (("q1", "d2", float("nan"), "NC"), [SCORES]),
    "half a score": (("q1", "d2", 0.5, "IN"), [SCORES]),
    "a score above 1": (("q1", "d2", 2.0, "IN"), [SCORES]),
    "a score below 0": (("q1", "d2", -1.0, "NC"), [SCORES]),
    "an endless score": (("q1", "d2", float("inf"), "OUT"), [SCORES]),
    "no domain": (("q1", "d2", 1.0, None), [DOMAINS]),
    "an unknown domain": (("q1", "d2", 1.0, "MIXED"), [DOMAINS]),
    "a domain in small letters": (("q1", "d2", 0.0, "nc"), [DOMAINS]),
    "a positive that is NC": (("q1", "d2", 1.0, "NC"), ["scores against domains"]),
    "a non-citation that is IN": (("q1", "d2", 0.0, "IN"), ["scores against domains"]),
    "a non-citation that is OUT": (("q1", "d2", 0.0, "OUT"), ["scores against domains"]),
    "cited and sampled": (("q1", "d1", 0.0, "NC"), ["pairs cited and sampled"]),
    "an unknown family": (("q1", "d9", 0.0, "NC"), ["unknown identifiers of sampled pairs"]),
    "an unknown query": (("q9", "d1", 0.0, "NC"), ["unknown identifiers of sampled pairs"]),
    "no identifier": (("q1", None, 0.0, "NC"), ["unknown identifiers of sampled pairs"]),
}


@pytest.mark.parametrize("case", BROKEN)
def test_an_undocumented_relation_is_refused_and_named(tmp_path, make_dapfam, case):
    row, names = BROKEN[case]
    data = opened(make_dapfam(tmp_path, [*SOUND, row]))
    assert [(f.rule, f.count) for f in data.faults] == [(name, 1) for name in names]
    with pytest.raises(CollectionError, match=row[0]):
        require_sound(data)
    found = [f for f in audit(data) if f.verdict == "fault"]
    assert set(names) <= {f.name for f in found}
    (named,) = [f for f in found if f.name == names[0]]
    assert named.found.rows[["query_id", "doc_id"]].values.tolist() == [list(row[:2])]


def test_a_sampled_pair_that_stands_twice_is_refused(tmp_path, make_dapfam):
    data = opened(make_dapfam(tmp_path, [*SOUND, *[("q1", "d2", 0.0, "NC")] * 3]))
    assert [(f.rule, f.count) for f in data.faults] == [("repeated sampled pairs", 2)]


def test_a_positive_of_an_unknown_family_is_told_as_in_any_layout(tmp_path, make_dapfam):
    data = opened(make_dapfam(tmp_path, [*SOUND, ("q1", "d9", 1.0, "OUT")]))
    assert [f.rule for f in data.faults] == ["unknown documents"]


@pytest.mark.parametrize("kind", [pa.int64(), pa.float32()])
def test_scores_of_another_kind_of_number_are_read(tmp_path, make_dapfam, kind):
    data = opened(changed(make_dapfam(tmp_path), "relations", with_column(
        "relevance_score", [1, 0, 1], kind)))
    assert data.faults == [] and len(data.pairs) == 2


# --- classes --------------------------------------------------------------------------------------

@pytest.mark.parametrize("text, found", [
    ("H04L9/32;;G06F21/00", ["H04L9/32", "G06F21/00"]), ("A61K 31/00, C07D", ["A61K31/00", "C07D"]),
    ("", []), (None, []), ("none", [])])
def test_codes_are_found_however_they_are_joined(text, found):
    assert codes(text) == found


@pytest.mark.parametrize("value", [
    ["G06", "H04"], ["H04", "G06", "H04"], [" H04 ", None, "G06"], "['H04', 'G06']",
    '["H04","G06"]', "['H04' 'G06']", "{'H04', 'G06'}", "H04;;G06", "H04, G06", ["['H04', 'G06']"]])
def test_three_characters_come_as_a_list_or_as_its_text(value):
    assert three_characters(value) == ["G06", "H04"]


@pytest.mark.parametrize("value", [None, [], [None], "", "[]", "nan", ["none"], ["I12"]])
def test_what_names_no_class_gives_none(value):
    assert three_characters(value) == []


def test_a_whole_code_among_the_three_characters_is_one_class():
    assert three_characters(["A01B33/02"]) == ["A01"]


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("column", [["H04", "A01"], "['A01', 'H04']", None, ...],
                         ids=["list", "text", "null", "missing"])
def test_the_listed_classes_are_read_in_every_form(tmp_path, make_dapfam, column, streaming):
    data = opened(make_dapfam(tmp_path, corpus=[
        {"relevant_id": d, THREE: column} for d in ("d1", "d2", "d3")]), streaming=streaming)
    listed = {... : None, None: []}.get(column if column in (None, ...) else "", ["A01", "H04"])
    assert data.frame("corpus", ["ipc3"])["ipc3"].tolist() == [listed] * 3
    assert data.faults == []


def test_listed_classes_of_another_type_are_a_broken_column(tmp_path, make_dapfam):
    data = opened(changed(make_dapfam(tmp_path), "corpus", with_column(THREE, [1, 2, 3])))
    assert [(f.table, f.column) for f in data.faults] == [("corpus", THREE)]


def test_classes_in_small_letters_are_classes():
    assert three_characters(["h04", "a01b 3/02"]) == ["A01", "H04"]
    assert codes("h04l 9/32") == ["H04L9/32"]


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("day", [datetime.date(2001, 2, 3), datetime.datetime(2001, 2, 3)])
def test_a_date_may_come_as_one(tmp_path, make_dapfam, day, streaming):
    data = opened(changed(make_dapfam(tmp_path), "corpus", with_column(
        "earliest_claim_date", [day, None, day])), streaming=streaming)
    assert data.faults == []
    assert list(data.frame("corpus", ["publication_date"])["publication_date"]) == [
        "2001-02-03", None, "2001-02-03"]


@pytest.mark.parametrize("streaming", [False, True])
def test_codes_that_are_no_utf8_are_an_error_of_one_line(tmp_path, make_dapfam, streaming):
    raw = pa.Array.from_buffers(pa.string(), 3, pa.array([b"\xff", b"H04L", b"A01B"]).buffers())
    folder = changed(make_dapfam(tmp_path), "corpus", with_column("ipcr_codes_str", raw))
    with pytest.raises(CollectionError, match="not UTF-8"):
        opened(folder, streaming=streaming).frame("corpus", ["ipc"])


# --- places ---------------------------------------------------------------------------------------

def test_the_miniature_moved_elsewhere_is_the_same_collection(tmp_path, mini_dapfam):
    home = tmp_path / "families"
    shutil.copytree(miniature.folder("mini-dapfam"), home)
    assert opened(home).fingerprints == mini_dapfam.fingerprints
    assert opened(home, streaming=True).fingerprints == mini_dapfam.fingerprints


PUBLISHED = """---
configs:
- config_name: corpus
  data_files: "corpus.parquet"
- config_name: queries
  data_files: "queries.parquet"
- config_name: relations
  data_files: "qrels_all.parquet"
---
"""


@pytest.mark.parametrize("readme", [PUBLISHED, None])
def test_the_published_folder_opens_a_file_a_table(tmp_path, make_dapfam, readme):
    made = make_dapfam(tmp_path)
    asked, published = opened(made).fingerprints, tmp_path / "published"
    published.mkdir()
    for table, name in {"queries": "queries", "corpus": "corpus", "relations": "qrels_all"}.items():
        shutil.copy(made / table / "train.parquet", published / f"{name}.parquet")
    if readme:
        (published / "README.md").write_text(readme)
    assert opened(published).fingerprints == asked
    assert opened(published, streaming=True).fingerprints == asked


def test_a_column_that_stands_twice_is_named(tmp_path, make_dapfam):
    folder = changed(make_dapfam(tmp_path), "corpus", lambda t: t.append_column(
        "title_en", pa.array(["x"] * 3)))
    with pytest.raises(CollectionError, match="the column 'title_en' stands twice"):
        opened(folder)


def test_a_folder_without_its_relations_is_told_what_it_lacks(tmp_path, make_dapfam):
    folder = make_dapfam(tmp_path)
    shutil.rmtree(folder / "relations")
    with pytest.raises(CollectionError, match="relations beside them"):
        opened(folder)
