"""The audit: what it finds in the miniature, in real patents, and in tables made for one oddity."""

import dataclasses
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kit.collection.sources import open_collection
from kit.relevance.audit import CHECKS, as_frame, as_records, audit, export_rows
from kit.relevance.checks.check import FACT

# nothing is odd here; d4 is relevant to nothing
CLEAN = {"queries": ["q1", "q2"], "corpus": ["d1", "d2", "d3", "d4"],
         "qrels": [("q1", "d1"), ("q1", "d2", "A"), ("q2", "d3", "A")]}
ODD = [c for c in CHECKS if c.severity != FACT]


def odd(collection) -> dict[str, int]:
    """The faults and doubts that the audit finds, with their counts."""
    return {f.name: f.count for f in audit(collection)
            if f.severity != FACT and f.verdict != "clear"}


def counts(collection) -> dict[str, int]:
    return {f.name: f.count for f in audit(collection)}


def changed(table: str, *rows: dict, **parts) -> dict:
    """The clean tables with some rows of one replaced, or added at its end."""
    key = {"queries": "query_id", "corpus": "doc_id"}[table]
    given = {r[key]: r for r in rows}
    kept = [given.pop(name, name) for name in CLEAN[table]]
    return {**CLEAN, table: [*kept, *given.values()], **parts}


def doc(name: str | None, **fields) -> dict:
    return {"doc_id": name, **fields}


def query(name: str | None, **fields) -> dict:
    return {"query_id": name, **fields}


def qrels(*more, first=("q1", "d1")) -> dict:
    """The clean tables with other pairs behind, or in place of, the first."""
    return {**CLEAN, "qrels": [*more, *([first] if first else []), *CLEAN["qrels"][1:]]}


def related(category: str | None, *relations: str, pair=("q1", "d1"), **row) -> dict:
    """The clean tables with the first pair's labels replaced: relations as "cited X"."""
    made = [dict(zip(("direction", "category"), r.split())) for r in relations]
    return qrels({"query_id": pair[0], "doc_id": pair[1], "category": category,
                  "source_relations": made, **row}, first=None)


def with_marks(text: str) -> dict[str, dict]:
    """{table: the clean tables with one row of it that holds the text in its abstract}."""
    return {"queries": changed("queries", query("q1", abstract=text)),
            "corpus": changed("corpus", doc("d1", abstract=text))}


SAME = {"title": "Gate", "abstract": "A valve.", "claims": "1. A valve.", "description": "It opens."}
LONG = " ".join(f"word{n}" for n in range(400))
OWN = {"publication_date": "2010-05-17"}  # as the query has it
PLANTS = {  # check: (tables, {what it finds, and what that cannot be without})
    "unknown queries": (qrels(("q9", "d1")), {"unknown queries": 1}),
    "unknown documents": (qrels(("q1", "d9")), {"unknown documents": 1}),
    "unknown categories": (qrels({"query_id": "q1", "doc_id": "d4", "category": "Z",
                                  "source_relations": []}),
                           {"unknown categories": 1, "pairs without relations": 1}),
    "repeated pairs": (qrels(("q1", "d1")), {"repeated pairs": 1}),
    "own pairs": ({**changed("corpus", doc("q2", **OWN)), "qrels": [*CLEAN["qrels"], ("q2", "q2", "A")]},
                  {"own pairs": 1, "own entries": 1}),
    "unknown relations": (related("XY", "cited XY", "cited X", "cited Q", "quoted A"),
                          {"unknown relations": 1}),
    "own entries of other content": (changed("corpus", doc("q2", title="Another")),
                                     {"own entries of other content": 1, "own entries": 1}),
    "category against its relations": (related("XY", "cited A"), {"category against its relations": 1}),
    "pairs without relations": (related("XY"), {"pairs without relations": 1}),
    "X or Y without XY": (related("A", "cited A", "cited X"), {"X or Y without XY": 1}),
    "XY without X or Y": (related("XY", "cited XY"), {"XY without X or Y": 1}),
    "repeated entries": (related("A", "cited A", "cited A"), {"repeated entries": 1}),
    "pairs with both X and Y": (related("XY", "cited XY", "cited X", "cited Y"),
                                {"pairs with both X and Y": 1}),
    "own entries": (changed("corpus", doc("q2", **OWN)), {"own entries": 1}),
    "identifiers with blanks at their ends": (changed("corpus", doc("d4 ", source_xpn="EP7")),
                                              {"identifiers with blanks at their ends": 1}),
    "reciprocal pairs": (changed("corpus", doc("q1", **OWN), doc("q2", **OWN), qrels=[
        *CLEAN["qrels"], ("q1", "q2", "A"), ("q2", "q1", "A")]), {"own entries": 2, "reciprocal pairs": 1}),
    "reciprocal pairs of two categories": (changed("corpus", doc("q1", **OWN), doc("q2", **OWN), qrels=[
        *CLEAN["qrels"], ("q1", "q2"), ("q2", "q1", "A")]), {
            "own entries": 2, "reciprocal pairs": 1, "reciprocal pairs of two categories": 1}),
    "queries: repeated source_xpn": (changed("queries", query("q2", source_xpn="EP99q100")),
                                     {"queries: repeated source_xpn": 2}),
    "corpus: repeated source_xpn": (changed("corpus", doc("d2", source_xpn="EP99d100")),
                                    {"corpus: repeated source_xpn": 2}),
    "queries: source_xpn equal but for the kind code": (
        changed("queries", query("q1", source_xpn="EP991"), query("q2", source_xpn="EP-991-A1")),
        {"queries: source_xpn equal but for the kind code": 2}),
    "corpus: source_xpn equal but for the kind code": (
        changed("corpus", doc("d1", source_xpn="US991B2"), doc("d2", source_xpn="US991A1")),
        {"corpus: source_xpn equal but for the kind code": 2}),
    "queries under a document's number": (changed("corpus", doc("d4", source_xpn="EP99q100 B1")),
                                          {"queries under a document's number": 1}),
    "documents of equal text": (changed("corpus", doc("d1", **SAME), doc("d4", **SAME)),
                                {"documents of equal text": 2}),
    "queries of a document's text": (
        {**changed("corpus", doc("d4", **SAME)), "queries": [query("q1", **SAME), "q2"]},
        {"queries of a document's text": 1}),
    "relevants nearly equal to their query": (
        {**changed("corpus", doc("d1", description=LONG + " end")), "queries": [
            query("q1", description=LONG + " other"), "q2"]},
        {"relevants nearly equal to their query": 1}),
    "malformed dates": (changed("corpus", doc("d4", publication_date="9999-1-1"), doc(
        "d3", publication_date="2030-02-30"), doc("d2", publication_date=None)), {"malformed dates": 3}),
    "cited yet later": (changed("corpus", doc("d1", publication_date="2010-05-18")), {"cited yet later": 1}),
    "relevants equal to their query": (
        {**changed("corpus", doc("d1", **SAME)), "queries": [query("q1", **SAME), "q2"]},
        {"relevants equal to their query": 1, "queries of a document's text": 1}),
    "citing yet earlier": (related("A", "citing A"), {"citing yet earlier": 1}),
    "queries without a class": (changed("queries", query("q2", ipc=None)), {"queries without a class": 1}),
    "corpus without a class": (changed("corpus", doc("d4", ipc=[]), doc("d3", ipc=[""])),
                               {"corpus without a class": 2}),
    "queries: malformed classes": (changed("queries", query("q1", ipc=["A1", "F16K31/06"])),
                                   {"queries: malformed classes": 1}),
    "corpus: malformed classes": (changed("corpus", doc("d1", ipc=["none"])),
                                  {"corpus: malformed classes": 1}),
    "ipc_section against ipc": (changed("queries", query("q1", ipc_section="G")),
                                {"ipc_section against ipc": 1}),
    "ai_title copied": (changed("queries", query("q1", ai_title="VALVE  Q1")), {"ai_title copied": 1}),
    "ai_claim_summary copied": (changed("queries", query("q1", ai_claim_summary="1. A valve q1.")),
                                {"ai_claim_summary copied": 1}),
    "ai_obj copied": (changed("queries", query("q1", obj=["Tightness."])), {"ai_obj copied": 1}),
    "ai_adv copied": (changed("queries", query("q1", ai_adv="It is <i>tight</i>.")), {"ai_adv copied": 1}),
    "ai_features copied": (changed("queries", query("q1", ai_features=["1. A valve q1."])),
                           {"ai_features copied": 1}),
    "ai_ab copied": (changed("queries", query("q2", ai_ab="A valve q2 with a seat.")), {"ai_ab copied": 1}),
    "empty query_id": (changed("queries", query(None)), {"empty query_id": 1}),
    "empty doc_id": (changed("corpus", doc(" ")), {"empty doc_id": 1}),
    "repeated query_id": ({**CLEAN, "queries": ["q1", "q1", "q2"]},
                          {"repeated query_id": 1, "queries: repeated source_xpn": 2}),
    "repeated doc_id": ({**CLEAN, "corpus": [*CLEAN["corpus"], "d1"]}, {
        "repeated doc_id": 1, "corpus: repeated source_xpn": 2, "documents of equal text": 2}),
    **{f"queries without {name}": (changed("queries", query("q1", **{name: empty})),
                                   {f"queries without {name}": 1})
       for name, empty in (("title", ""), ("abstract", None), ("claims", " \n"), ("description", None),
                           ("ai_title", ""), ("ai_claim_summary", None), ("ai_obj", " "), ("ai_adv", ""),
                           ("ai_ab", None), ("ai_features", [None]))},
    **{f"corpus without {name}": (changed("corpus", doc("d1", **{name: empty})),
                                  {f"corpus without {name}": 1})
       for name, empty in (("title", None), ("abstract", ""), ("claims", None), ("description", "\t"))},
    **{f"{table} with {mark}": (tables, {f"{table} with {mark}": 1})
       for mark, text in (("tags", "<p>A valve.</p>"), ("entities", "A &amp; B"),
                          ("index codes", "H.sub.2O"), ("mojibake", "2 \u00e2\u20ac\u201c 3"),
                          ("unseen characters", "a\u200bb"))
       for table, tables in with_marks(text).items()},
    "queries with cancelled claims": (changed("queries", query("q1", claims="1-3. (cancelled)\n4. A valve.")),
                                      {"queries with cancelled claims": 1}),
    "corpus with cancelled claims": (changed("corpus", doc("d1", claims="1. A valve.\n2. (Canceled)")),
                                     {"corpus with cancelled claims": 1}),
}
NOT_PLANTED_HERE = {"broken columns", "texts that are not UTF-8"}  # they take other tables: see below


def test_a_clean_collection_is_clear(hold_collection):
    assert odd(hold_collection(**CLEAN)) == {}


def test_every_check_has_a_plant():
    assert {c.name for c in ODD} == set(PLANTS) | NOT_PLANTED_HERE


@pytest.mark.parametrize("plant", PLANTS)
def test_an_oddity_alone_is_found_by_its_check_alone(hold_collection, plant):
    tables, expected = PLANTS[plant]
    assert plant in expected
    assert odd(hold_collection(**tables)) == expected


HARMLESS = {
    "no numbers": changed("corpus", doc("d1", source_xpn=None), doc("d2", source_xpn=""), doc("d3", source_xpn=" ")),
    "texts equal in part": changed("corpus", doc("d1", title="Valve"), doc("d2", title="Valve")),
    "no tags": changed("corpus", doc("d1", abstract="x<y and a>b, <unknown>, R&D; of AT&T; a & b;")),
    "a document of the same day": changed("corpus", doc("d1", publication_date="2010-05-17")),
    "a later document that cites": {**changed("corpus", doc("d1", publication_date="2011-01-01")),
                                    "qrels": related("A", "citing A")["qrels"]},
    "a relevant of another section": changed("corpus", doc("d1", ipc=["A01B1/00"])),
    "X one way and Y the other": {**changed("corpus", doc("d1", publication_date="2010-05-17")), "qrels": related(
        "XY", "cited XY", "cited X", "citing XY", "citing Y")["qrels"]},
    "placeholders for numbers": {**changed("corpus", *(doc(d, source_xpn="N/A") for d in CLEAN["corpus"][:2])),
                                 "queries": [query("q1", source_xpn="0"), query("q2", source_xpn="-")]},
    "words of the trade": changed("corpus", doc("d1", claims="1. A subscription that was cancelled by a user.")),
}


@pytest.mark.parametrize("case", HARMLESS)
def test_what_is_no_oddity_is_clear(hold_collection, case):
    assert odd(hold_collection(**HARMLESS[case])) == {}


FACTS = {
    "a relevant of another section": (changed("corpus", doc("d1", ipc=["A01B1/00"])), {
        "queries IN": 1, "queries MIXED": 1, "pairs across sections": 1, "pairs across classes": 1}),
    "a relevant of another class": (changed("corpus", doc("d1", ipc=["F02B1/00"])),
                                    {"queries IN": 2, "pairs across sections": 0, "pairs across classes": 1}),
    "relevants of another section only": (changed("corpus", doc("d3", ipc=["A01B1/00"])),
                                          {"queries IN": 1, "queries OUT": 1}),
    "no class": (changed("corpus", doc("d3", ipc=[])), {"queries IN": 1, "queries UNKNOWN": 1}),
    "an overlap pair": (qrels(("q2", "d4", "overlap")), {
        "category overlap": 1, "protocol xy": 2, "protocol a": 3, "overlap pairs": 1, "citation events": 5,
        "documents relevant to nothing": 0, "queries without a positive, xy": 0,
        "most positives of a query": 2}),
    "entries of one event": (related("XY", "cited XY", "cited X", "cited Y", "citing XY"), {"citation events": 4}),
    "later both ways": ({**changed("corpus", doc("d1", publication_date="2010-05-18")), "qrels": related(
        "overlap", "cited XY", "cited X", "citing A")["qrels"]}, {"cited yet later": 1, "citing yet earlier": 0}),
    "undated pairs": (changed("corpus", doc("d1", publication_date="")), {"pairs that could be prior art": 2}),
    "fields beside the texts": (changed("corpus", doc("d1", adb=None, source_apl="", obj=["x"])), {
        "corpus without adb": 1, "corpus without source_apl": 1, "corpus without obj": 3, "corpus without iclm": 0}),
    "later documents": (changed("corpus", doc("d1", publication_date="2010-05-18"), doc(
        "d2", publication_date="2010-05-17")), {"relevants later than the query": 1, "pairs that could be prior art": 1}),
    "twins": (changed("corpus", doc("d1", **SAME), doc("d4", **SAME)), {"queries touched by equal texts": 1}),
    "kind codes": (changed("corpus", doc("d1", source_xpn="EP1234567A1"), doc("d2", source_xpn="US-123-B2")),
                   {"corpus: source_xpn without a kind code": 2}),
    "a long text": (changed("queries", query("q1", description="x" * 850_000)), {"queries: longest text": 850_000}),
}


@pytest.mark.parametrize("case", FACTS)
def test_facts_are_counted(hold_collection, case):
    tables, expected = FACTS[case]
    found = counts(hold_collection(**tables))
    assert {name: found[name] for name in expected} == expected


def test_breakdowns_say_where(hold_collection):
    tables = changed("corpus", doc("d1", title="", publication_authority="US"), doc("d2", title=None))
    by_name = {f.name: f for f in audit(hold_collection(**tables))}
    without = by_name["corpus without title"].found
    assert without.rows.to_dict("records") == [
        {"identifier": "d1", "authority": "US", "year": "2001", "value": "empty"},
        {"identifier": "d2", "authority": "EP", "year": "2001", "value": "null"}]
    shares = {(r["by"], r["value"]): (r["odd"], r["rows"]) for r in without.detail.to_dict("records")}
    assert shares == {("authority", "EP"): (1, 3), ("authority", "US"): (1, 1), ("year", "2001"): (2, 4)}
    histogram = by_name["most positives of a query"].found.detail
    assert histogram.to_dict("records") == [
        {"protocol": "all", "positives": 1, "queries": 1}, {"protocol": "all", "positives": 2, "queries": 1},
        {"protocol": "xy", "positives": 0, "queries": 1}, {"protocol": "xy", "positives": 1, "queries": 1},
        {"protocol": "a", "positives": 1, "queries": 2}]


def test_the_miniature_is_as_its_registry_says(mini):
    wrong = [(f.name, f.count, f.expected) for f in audit(mini) if f.verdict in ("not as expected", "absent")]
    assert not wrong


def test_nothing_else_is_odd_about_the_miniature(mini):
    registered = {**mini.entry.counts, **mini.entry.oddities}
    assert [f.name for f in audit(mini) if f.verdict in ("fault", "doubt")] == []
    assert set(registered) <= {c.name for c in CHECKS}


def test_a_number_that_differs_from_the_registrys_is_said_to(mini):
    entry = dataclasses.replace(mini.entry, counts={**mini.entry.counts, "corpus": 601})
    wrong = [f.name for f in audit(dataclasses.replace(mini, entry=entry), near=False)
             if f.verdict == "not as expected"]
    assert wrong == ["corpus"]


def test_the_rows_of_a_check_are_as_many_as_it_counts(mini):
    for finding in audit(mini):
        if finding.found.rows is not None:
            assert len(finding.found.rows) == finding.count, finding.name


def test_rows_are_exported_a_file_a_check(tmp_path, mini):
    findings = [f for f in audit(mini) if f.name in ("own entries", "X or Y without XY", "repeated pairs")]
    paths = export_rows(findings, tmp_path)
    assert [p.name for p in paths] == ["categories-X-or-Y-without-XY.parquet", "own-entries-own-entries.parquet"]
    assert [len(pq.read_table(p)) for p in paths] == [3, 12]
    assert pq.read_table(paths[0])["source_relations"][0].as_py()[-1]["category"] == "X"


def test_every_name_makes_a_file_of_its_own():
    names = [f"{c.group} {c.name}" for c in CHECKS]
    assert len({n.translate({ord(s): "-" for s in " :,'"}) for n in names}) == len(names)


def test_records_are_plain_json(mini):
    records = as_records(audit(mini, near=False))
    assert json.loads(json.dumps(records, allow_nan=False)) == records
    assert [r["check"] for r in records] == [c.name for c in CHECKS]
    assert {r["check"]: r["detail"] for r in records}["citation events"][0].keys() == {
        "direction", "kind", "events"}


def test_real_patents(shared):
    found = {f.name: f for f in audit(open_collection(str(shared / "data" / "real-patents")))}
    assert found["pairs across sections"].count == 52
    assert found["reciprocal pairs"].count == 326
    assert found["own entries"].count == 436
    assert found["qrels"].count == 652
    of_categories = [f for f in found.values() if f.group == "categories" or f.name.startswith(
        ("category ", "protocol xy", "protocol a")) and f.name != "protocol all"]
    assert {f.verdict for f in of_categories} == {"absent"}
    assert [f.name for f in found.values() if f.verdict in ("fault", "not as expected")] == []


def test_near_equal_texts_can_be_left_out(mini):
    (left,) = [f for f in audit(mini, near=False) if f.verdict == "absent"]
    assert left.name == "relevants nearly equal to their query" and left.found.absent


def test_bytes_that_are_no_utf8_are_found_and_the_rest_is_audited(tmp_path, make_collection):
    def broken(table):
        raw = [value.encode() for value in table["title"].to_pylist()]
        raw[1] = b"Ventil f\xfcr Gas"
        column = pa.array(raw, pa.binary()).view(pa.string())
        return table.set_column(table.schema.get_field_index("title"), "title", column)

    found = {f.name: f for f in audit(open_collection(str(
        make_collection(tmp_path, **CLEAN, tweak={"corpus": broken}))))}
    (row,) = found["texts that are not UTF-8"].found.rows.to_dict("records")
    assert row == {"table": "corpus", "row": 1, "column": "title"}
    assert found["corpus without title"].count == 0
    assert [f.name for f in found.values() if f.verdict in ("fault", "doubt")] == ["texts that are not UTF-8"]


@pytest.mark.parametrize("table", ["queries", "corpus"])
@pytest.mark.parametrize("value", [None, "soon"])
def test_a_table_without_any_date_is_audited(hold_collection, table, value):
    key = {"queries": "query_id", "corpus": "doc_id"}[table]
    rows = [{key: name, "publication_date": value} for name in CLEAN[table]]
    found = {f.name: f for f in audit(hold_collection(**{**CLEAN, table: rows}))}
    assert found["malformed dates"].count == len(rows)
    assert found["pairs that could be prior art"].share is None


@pytest.mark.parametrize("table", ["queries", "corpus"])
@pytest.mark.parametrize("values", [pa.array([["EP"]] * 4), pa.array([{"a": "EP"}] * 4), pa.nulls(4)],
                         ids=["lists", "structs", "nulls"])
def test_an_authority_of_another_type_is_audited(tmp_path, make_collection, table, values):
    def broken(rows: pa.Table) -> pa.Table:
        place = rows.schema.get_field_index("publication_authority")
        return rows.set_column(place, "publication_authority", values.slice(0, len(rows)))

    tables = {**CLEAN, "queries": ["q1", {"query_id": "q2", "title": ""}]}
    found = {f.name: f for f in audit(open_collection(str(
        make_collection(tmp_path, **tables, tweak={table: broken}))))}
    assert found["queries without title"].count == 1


def test_a_long_run_of_blanks_takes_no_time(hold_collection):
    tables = changed("corpus", doc("d1", claims="1. A valve.\n2" + " " * 850_000 + "end"))
    assert counts(hold_collection(**tables))["corpus with cancelled claims"] == 0


def test_a_null_identifier_is_no_known_one(hold_collection):
    twins = [{"doc_id": "d1", **SAME}, {"doc_id": None, **SAME}]
    found = counts(hold_collection(["q1"], twins, [("q1", "d1"), ("q1", None)]))
    assert found["unknown documents"] == 1
    assert found["most positives of a query"] == 1 and found["documents of equal text"] == 2


def test_one_number_on_thousands_is_no_product_of_them(hold_collection):
    many = [{"doc_id": f"d{n}", "source_xpn": "EP1"} for n in range(2_000)]
    asked = [{"query_id": f"q{n}", "source_xpn": "EP1"} for n in range(500)]
    assert counts(hold_collection(asked, many, [("q1", "d1")]))["queries under a document's number"] == 500


def test_a_null_in_a_list_is_no_other_content(hold_collection):
    tables = {**changed("corpus", doc("q2", **OWN, obj=[None])), "queries": ["q1", query("q2", obj=None)]}
    assert counts(hold_collection(**tables))["own entries of other content"] == 0


def test_an_entry_without_a_direction_is_unknown(hold_collection):
    tables = qrels({"query_id": "q1", "doc_id": "d1", "category": "XY", "source_relations": [
        {"category": "XY", "direction": None}]}, first=None)
    assert odd(hold_collection(**tables)) == {"unknown relations": 1, "pairs without relations": 1}


def test_a_mark_says_where_it_stands(hold_collection):
    tables = changed("corpus", doc("d1", claims="1. A valve.", description="It is 10 &micro;m wide.\u200b"))
    by_name = {f.name: f for f in audit(hold_collection(**tables))}
    where = {m: list(by_name[f"corpus with {m}"].found.rows["where"]) for m in ("entities", "unseen characters")}
    assert where["entities"] == ["description: It is 10 &micro;m wide.\\u200b"]
    assert where["unseen characters"][0].startswith("description: ")


def test_one_stray_category_leaves_the_others_absent(hold_collection):
    pairs = [("q1", "d1", None), ("q1", "d2", None), ("q2", "d3", "Z")]
    found = {f.name: f for f in audit(hold_collection(**{**CLEAN, "qrels": pairs}))}
    assert found["unknown categories"].count == 1
    assert found["category XY"].verdict == found["pairs without relations"].verdict == "absent"


def test_an_empty_table_makes_doubts_absent_not_clear(hold_collection):
    found = {f.name: f for f in audit(hold_collection(["q1"], [], [("q1", "d1")]))}
    assert found["unknown documents"].verdict == "fault"
    for name in ("corpus without title", "documents of equal text", "own entries"):
        assert found[name].verdict == "absent" and found[name].found.absent == "no row in corpus"


def test_a_dangling_pair_is_no_positive(hold_collection):
    found = counts(hold_collection(**qrels(("q1", "gone"), first=None)))
    assert found["queries without a positive, xy"] == 2


def test_a_table_without_rows_is_told_and_the_rest_is_audited(tmp_path, make_collection):
    found = {f.name: f for f in audit(open_collection(str(make_collection(tmp_path, ["q1"], [], []))))}
    assert list(found["broken columns"].found.rows["table"]) == ["corpus", "qrels"]
    assert found["queries"].count == 1 and found["corpus"].count == 0


READ = [(t, c) for t, key in (("queries", "query_id"), ("corpus", "doc_id"))
        for c in (key, "publication_date", "ipc", "title", "claims", "source_xpn")] + [
       ("qrels", c) for c in ("query_id", "doc_id", "category", "source_relations")]


@pytest.mark.parametrize(("table", "column"), READ)
@pytest.mark.parametrize("how", ["missing", "numbers"])
def test_a_broken_column_is_told_and_the_rest_is_audited(tmp_path, make_collection, table, column, how):
    def broken(rows: pa.Table) -> pa.Table:
        place = rows.schema.get_field_index(column)
        if how == "missing":
            return rows.remove_column(place)
        return rows.set_column(place, column, pa.array(range(len(rows)), pa.int64()))

    checks = audit(open_collection(str(make_collection(
        tmp_path, **CLEAN, tweak={table: broken}))))
    (told,) = [f for f in checks if f.name == "broken columns"]
    assert told.verdict == "fault" and told.count == 1
    assert len(as_frame(checks)) == len(CHECKS)
    absent = {f.name for f in checks if f.found.absent}
    assert absent == {c.name for c in CHECKS if f"{table}.{column}" in c.needs} != set()
    other = "queries" if table == "corpus" else "corpus"
    assert not absent & {f"{other} without title", f"{other} with tags"}


@pytest.mark.parametrize("qrels", [
    [("q1", "gone"), ("nobody", "d1"), ("q1", "d1")],
    [("q1", "d1"), ("q1", "d1"), ("q1", "d1", "A")],
    [("q1", "d1", "Z"), ("q2", "d2", None)],
    [("q2", "q2")],
    [(None, "d1"), ("d1", None), (None, None), ("", "")],
], ids=["dangling", "repeated", "categories", "own pair", "null ids"])
def test_pairs_that_break_the_layout_are_audited(hold_collection, qrels):
    checks = audit(hold_collection(**{**CLEAN, "qrels": qrels}))
    assert {c.name: c.count for c in checks}["qrels"] == len(qrels)
    assert len(as_frame(checks)) == len(checks)


@pytest.mark.parametrize("table", ["queries", "corpus"])
def test_repeated_and_null_identifiers_are_audited(hold_collection, table):
    rows = [*CLEAN[table], CLEAN[table][0], None, ""]
    checks = audit(hold_collection(**{**CLEAN, table: rows}))
    key = {"queries": "query_id", "corpus": "doc_id"}[table]
    found = {f.name: f.count for f in checks}
    assert (found[f"empty {key}"], found[f"repeated {key}"]) == (2, 1)


def test_a_repeated_pair_makes_no_second_reciprocal_pair(hold_collection):
    qrels = [("q1", "q2"), ("q1", "q2"), ("q2", "q1"), ("q2", "q1")]
    found = counts(hold_collection(["q1", "q2"], ["q1", "q2"], qrels))
    assert found["reciprocal pairs"] == 1


def test_counts_stay_whole_numbers_where_one_is_absent(hold_collection):
    frame = as_frame(audit(hold_collection(["q1"], ["d1"], [("q1", "d1", None)])))
    assert frame["count"].isna().any()
    assert set(map(str, frame.dtypes[["count", "expected"]])) == {"Int64"}
