"""The rows' layout: what a file of rows becomes, and what is refused with its line."""

import json

import pytest

from kit.collection.rows import COLUMNS, NEEDED, OPTIONAL
from kit.collection.schema import FEATURES, TABLES, require_sound
from kit.collection.sources import open_collection
from kit.errors import CollectionError
from kit.relevance.audit import audit
from kit.relevance.protocols import offered, positives
from kit.text.views import texts

FULL = {"qid": "t1", "text": "A <b>valve</b>.", "gold_apps": ["d2", "d1"],
        "statute": ["102", "103"], "grade": "X", "query_cpc": ["F16K31/06", "Y02P70/10"],
        "gold_cpc": {"d1": ["A01B1/00"]}}


def opened(folder, **how):
    return open_collection(str(folder), **how)


def tables_of(collection) -> dict[str, list[dict]]:
    """The rows that hold something, without their nulls."""
    held = {t: collection.frame(t, list(COLUMNS[t])) for t in ("queries", "qrels")}
    return {t: [{c: v for c, v in row.items() if v is not None} for row in rows.to_dict("records")]
            for t, rows in held.items()}


# --- what a file becomes --------------------------------------------------------------------------

def test_a_row_is_a_query_and_its_golds_are_pairs(make_rows, tmp_path):
    other = {"qid": "t2", "text": "B", "gold_apps": ["d3"]}
    collection = opened(make_rows(tmp_path, [FULL, other]))
    assert tables_of(collection) == {
        "queries": [{"query_id": "t1", "text": "A <b>valve</b>.", "statute": ["102", "103"],
                     "grade": ["X"], "cpc": ["F16K31/06", "Y02P70/10"]},
                    {"query_id": "t2", "text": "B"}],
        "qrels": [{"query_id": "t1", "doc_id": "d2"},
                  {"query_id": "t1", "doc_id": "d1", "cpc": ["A01B1/00"]},
                  {"query_id": "t2", "doc_id": "d3"}]}
    assert list(collection.ids("corpus")) == ["d1", "d2", "d3"]
    require_sound(collection)


def test_it_has_sophias_tables_with_columns_added(make_rows, tmp_path):
    collection = opened(make_rows(tmp_path, [FULL]))
    assert tuple(collection.tables) == tuple(COLUMNS) == TABLES
    for table in TABLES:
        assert list(collection.columns[table])[:len(FEATURES[table])] == list(FEATURES[table])
    row = collection.row("queries", "t1")
    assert list(row) == list(COLUMNS["queries"])
    assert row["title"] is None and row["text"] == FULL["text"]


def test_its_text_is_a_view_and_is_cleaned(make_rows, tmp_path):
    assert list(texts(opened(make_rows(tmp_path, [FULL])), "queries", "text")) == ["A valve."]


def test_only_the_protocol_all_is_offered(make_rows, tmp_path):
    collection = opened(make_rows(tmp_path, [FULL]))
    assert offered(collection) == ["all"]
    assert positives(collection, "all").to_dict("list") == {
        "query_id": ["t1", "t1"], "doc_id": ["d2", "d1"]}


def test_a_qid_that_is_a_corpus_id_is_no_own_entry(make_rows, tmp_path):
    assert not opened(make_rows(tmp_path, [{"qid": "d1", "gold_apps": ["d2"]}])).shared_ids


def test_a_qid_that_is_its_golds_id_is_no_own_pair(make_rows, tmp_path):
    collection = opened(make_rows(tmp_path, [{"qid": "d1", "gold_apps": ["d1"]}]))
    require_sound(collection)
    checked, = (check for check in audit(collection) if check.name == "own pairs")
    assert "do not share" in checked.found.absent


def test_the_folder_names_the_environment_and_a_readme_changes_nothing(make_rows, tmp_path):
    folder = make_rows(tmp_path, [FULL], name="my trials")
    before = opened(folder)
    (folder / "README.md").write_text("# Trials\n", encoding="utf-8")
    assert opened(folder).fingerprints == before.fingerprints
    assert before.environment == "my-trials" and before.generation is None


@pytest.mark.parametrize("line", [
    json.dumps(FULL, ensure_ascii=False), json.dumps(FULL) + "\r", f"  {json.dumps(FULL)}\t",
    json.dumps(FULL, indent=1).replace("\n", " "), json.dumps(dict(reversed(FULL.items())))])
def test_how_a_line_is_written_does_not_matter(make_rows, tmp_path, line):
    plain = opened(make_rows(tmp_path, [FULL], name="plain"))
    assert opened(make_rows(tmp_path, [line], name="other")).fingerprints == plain.fingerprints


def test_one_value_and_a_list_of_it_are_the_same(make_rows, tmp_path):
    prints = [opened(make_rows(tmp_path, [{"statute": s, "grade": g}], name=str(n))).fingerprints
              for n, (s, g) in enumerate((("102", "Y"), (["102"], ["Y"])))]
    assert prints[0] == prints[1]


def test_blank_lines_are_passed_over_and_counted(make_rows, tmp_path):
    folder = make_rows(tmp_path, ["", {"qid": "a"}, "  \r", {"qid": "b"}, ""])
    assert list(opened(folder).ids("queries")) == ["a", "b"]
    with pytest.raises(CollectionError, match="rows.jsonl, line 3"):
        opened(make_rows(tmp_path, ["", {"qid": "a"}, "{"], name="other"))


def test_signs_that_only_python_takes_for_line_ends_stay_in_the_text(make_rows, tmp_path):
    text = "one\u2028two\x85three\x0bfour"
    line = json.dumps({**FULL, "text": text}, ensure_ascii=False)
    collection = opened(make_rows(tmp_path, [line]))
    assert collection.frame("queries", ["text"])["text"].tolist() == [text]


# --- golds and the corpus -------------------------------------------------------------------------

def test_a_gold_that_the_corpus_lacks_is_a_fault_that_the_audit_lists(make_rows, tmp_path):
    collection = opened(make_rows(tmp_path, [FULL, {"gold_apps": ["d1", "gone"]}]))
    fault, = collection.faults
    assert (fault.rule, fault.count) == ("unknown documents", 1) and "'gone'" in str(fault)
    with pytest.raises(CollectionError, match="'gone'"):
        require_sound(collection)
    listed, = (check for check in audit(collection) if check.name == "unknown documents")
    assert listed.found.rows["doc_id"].tolist() == ["gone"]


def test_the_audit_counts_statutes_and_grades(make_rows, tmp_path):
    rows = [{"statute": s, "grade": g} for s, g in (
        ("102", None), (["103", "102"], "X"), ("103", ["X", "Y"]), (None, []))]
    checks = audit(opened(make_rows(tmp_path, rows)))
    counts = {c.name: c.count for c in checks if c.group == "slices"}
    assert counts == {"queries §102": 2, "queries §103": 2, "queries of both statutes": 1,
                      "queries X": 2, "queries Y": 1, "queries of both grades": 1}


def test_the_audit_reads_the_rows_text(make_rows, tmp_path):
    collection = opened(make_rows(tmp_path, [FULL, {"text": "B &amp; C"}]))
    found = {c.name: c for c in audit(collection)}
    assert (found["queries with tags"].count, found["queries with entities"].count) == (1, 1)
    assert found["queries without title"].found.absent == "the collection has no queries.title"


# --- the fingerprint ------------------------------------------------------------------------------

CHANGED = [("text", "A <b>valve</b>!"), ("qid", "t1 "), ("statute", ["102"]), ("statute", "103"),
           ("grade", "Y"), ("query_cpc", ["F16K31/06", "Y02P70/11"]),
           ("gold_apps", ["d2", "d3", "d1"]), ("gold_cpc", {"d1": ["A01B1/01"]}),
           ("gold_cpc", {"d2": ["A01B1/00"]})]


@pytest.mark.parametrize(("field", "value"), CHANGED)
def test_a_change_in_any_field_changes_it(make_rows, tmp_path, field, value):
    one, two = (opened(make_rows(tmp_path, [row], name=name)).fingerprints
                for name, row in (("one", FULL), ("two", {**FULL, field: value})))
    assert one["together"] != two["together"] and one["corpus"] == two["corpus"]


@pytest.mark.parametrize("field", OPTIONAL)
def test_a_field_less_changes_it_and_a_null_does_not(make_rows, tmp_path, field):
    less = {name: value for name, value in FULL.items() if name != field}
    rows = {"full": FULL, "less": less, "null": {**less, field: None}}
    full, without, null = (opened(make_rows(tmp_path, [row], name=name)).fingerprints
                           for name, row in rows.items())
    assert full["together"] != without["together"] == null["together"]


def test_the_order_of_the_rows_does_not_change_it(make_rows, tmp_path):
    rows = [FULL, {"qid": "t2"}, {"qid": "t3"}]
    one, two = (opened(make_rows(tmp_path, r, name=n)).fingerprints
                for n, r in (("one", rows), ("two", rows[::-1])))
    assert one == two


# --- what is refused, with its line ---------------------------------------------------------------

PLAIN = {"qid": "t9", "text": "B", "gold_apps": ["d1"]}
REFUSED = {
    "a number as qid": ({**PLAIN, "qid": 7}, "the field 'qid' is 7"),
    "a blank qid": ({**PLAIN, "qid": " "}, "the field 'qid' is"),
    "a qid twice": ({**PLAIN, "qid": "t1"}, "the qid 't1' stands on line 1 already"),
    "no qid": (json.dumps({"text": "B", "gold_apps": ["d1"]}), "the field 'qid' is missing"),
    "a null text": ({**PLAIN, "text": None}, "the field 'text' is missing"),
    "a blank text": ({**PLAIN, "text": " \n"}, "the field 'text' is"),
    "a list as text": ({**PLAIN, "text": ["B"]}, "the field 'text' is"),
    "no golds": (json.dumps({"qid": "t9", "text": "B"}), "the field 'gold_apps' is missing"),
    "empty golds": ({**PLAIN, "gold_apps": []}, r"the field 'gold_apps' is \[\]"),
    "one gold as a text": ({**PLAIN, "gold_apps": "d1"}, "the field 'gold_apps' is"),
    "a number as gold": ({**PLAIN, "gold_apps": ["d1", 2]}, "the field 'gold_apps' is"),
    "a null gold": ({**PLAIN, "gold_apps": ["d1", None]}, "the field 'gold_apps' is"),
    "a gold twice": ({**PLAIN, "gold_apps": ["d1", "d1"]}, "the field 'gold_apps' is"),
    "a statute as number": ({**PLAIN, "statute": 102}, "the field 'statute' is 102"),
    "another statute": ({**PLAIN, "statute": "101"}, "the field 'statute' is"),
    "a part of a statute": ({**PLAIN, "statute": "102(b)"}, "the field 'statute' is"),
    "another statute in a list": ({**PLAIN, "statute": ["102", "112"]}, "the field 'statute' is"),
    "a statute twice": ({**PLAIN, "statute": ["102", "102"]}, "the field 'statute' is"),
    "another grade": ({**PLAIN, "grade": "A"}, "the field 'grade' is"),
    "a grade of another case": ({**PLAIN, "grade": "x"}, "the field 'grade' is"),
    "a class as text": ({**PLAIN, "query_cpc": "A01B"}, "the field 'query_cpc' is"),
    "a null class": ({**PLAIN, "query_cpc": [None]}, "the field 'query_cpc' is"),
    "classes as a list": ({**PLAIN, "gold_cpc": [["A01B"]]}, "the field 'gold_cpc' is"),
    "a gold's class as text": ({**PLAIN, "gold_cpc": {"d1": "A01B"}}, "the field 'gold_cpc' is"),
    "classes of no gold": ({**PLAIN, "gold_cpc": {"d2": ["A01B"]}}, "gold_cpc names 'd2'"),
    "an unknown field": ({**PLAIN, "gold_app": ["d1"]}, "unknown field 'gold_app'"),
    "a name of another case": ({**PLAIN, "Statute": "102"}, "unknown field 'Statute'"),
    "half a character": ('{"qid": "t9", "text": "\\ud800", "gold_apps": ["d1"]}',
                         "the field 'text' is"),
    "half a character as field": ('{"qid": "t9", "text": "B", "gold_apps": ["d1"], "\\ud800": 1}',
                                  "unknown field"),
    "no object": ("[1]", "the line is no JSON object"),
    "a null": ("null", "the line is no JSON object"),
    "cut short": ('{"qid": "t9", ', "the line is not JSON"),
    "two objects": (json.dumps(PLAIN) * 2, "the line is not JSON: Extra data"),
    "single quotes": (str(PLAIN), "the line is not JSON"),
    "a key twice": ('{"qid": "t9", "text": "B", "gold_apps": ["d1"], "qid": "t8"}',
                    "the key 'qid' stands twice"),
    "a key twice inside": ('{"qid": "t9", "text": "B", "gold_apps": ["d1"], '
                           '"gold_cpc": {"d1": ["A01B"], "d1": []}}', "the key 'd1' stands twice"),
    "NaN": ('{"qid": "t9", "text": "B", "gold_apps": ["d1"], "grade": NaN}',
            "NaN is no value of JSON"),
    "infinity": ('{"qid": "t9", "text": -Infinity, "gold_apps": ["d1"]}', "-Infinity is no value"),
    "nested too deeply": ("[" * 100_000, "the line is not JSON"),
    "another encoding": (json.dumps({**PLAIN, "text": "ü"}, ensure_ascii=False).encode("latin-1"),
                         "the line is not UTF-8"),
    "UTF-16": (json.dumps(PLAIN).encode("utf-16"), "the line is not UTF-8"),
    "a mark in the middle": (b"\xef\xbb\xbf" + json.dumps(PLAIN).encode(), "a byte order mark"),
}


@pytest.mark.parametrize(("line", "said"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_row_is_refused_with_its_line(make_rows, tmp_path, line, said):
    folder = make_rows(tmp_path, [FULL, line, {"qid": "t3"}])
    with pytest.raises(CollectionError, match=f"{said}.*rows.jsonl, line 2\\).") as error:
        opened(folder)
    assert "\n" not in str(error.value) and str(error.value).isprintable()
    assert len(str(error.value)) < 500 + len(str(folder))


def test_the_lines_that_are_refused_differ_from_a_row_in_that_alone(make_rows, tmp_path):
    assert len(opened(make_rows(tmp_path, [FULL, PLAIN, {"qid": "t3"}])).ids("queries")) == 3
    assert set(FULL) == {*NEEDED, *OPTIONAL}


def test_a_byte_order_mark_at_the_start(make_rows, tmp_path):
    folder = make_rows(tmp_path, [b"\xef\xbb\xbf" + json.dumps(FULL).encode()])
    with pytest.raises(CollectionError, match="a byte order mark.*line 1"):
        opened(folder)


@pytest.mark.parametrize("lines", [[], ["", " "]])
def test_a_file_without_a_row(make_rows, tmp_path, lines):
    with pytest.raises(CollectionError, match="the file has no row.*rows.jsonl"):
        opened(make_rows(tmp_path, lines))


def test_a_folder_without_a_corpus(make_rows, tmp_path):
    folder = make_rows(tmp_path, [FULL])
    next((folder / "corpus").glob("*")).unlink()
    with pytest.raises(CollectionError, match="beside rows.jsonl there is no corpus/"):
        opened(folder)


@pytest.mark.parametrize("other", ["queries", "qrels", "relations"])
def test_a_folder_of_two_sets_of_queries(make_rows, tmp_path, other):
    folder = make_rows(tmp_path, [FULL])
    (folder / other).mkdir()
    with pytest.raises(CollectionError, match=f"rows.jsonl and {other}, two sets of queries"):
        opened(folder)


def test_a_folder_that_bears_the_files_name(make_rows, tmp_path):
    folder = make_rows(tmp_path, [FULL])
    (folder / "rows.jsonl").unlink()
    (folder / "rows.jsonl").mkdir()
    with pytest.raises(CollectionError, match="the file can't be read: Is a directory"):
        opened(folder)


def test_a_corpus_that_breaks_its_layout_opens_with_faults(make_rows, tmp_path):
    collection = opened(make_rows(tmp_path, [FULL], corpus=["d1", "d2", "d2"]))
    assert [(f.rule, f.table) for f in collection.faults] == [("ids", "corpus")]


def test_streaming_reads_the_same(make_rows, tmp_path):
    folder = make_rows(tmp_path, [FULL])
    assert opened(folder, streaming=True).fingerprints == opened(folder).fingerprints


@pytest.mark.parametrize("rows", [
    [{"qid": "q" * 10**6}] * 2, [{"z" * 10**6: 1}], [{f"field {i}": 1 for i in range(10**5)}],
    [{"statute": "1" * 10**6}], [{"gold_cpc": {"z" * 10**6: ["A"]}}],
    ['{"%s": 1, "%s": 2}' % (("z" * 10**6,) * 2)]])
def test_an_error_is_short_whatever_the_file_holds(make_rows, tmp_path, rows):
    with pytest.raises(CollectionError) as error:
        opened(make_rows(tmp_path, rows))
    assert len(str(error.value)) < 700


def test_a_fault_of_a_long_identifier_is_short(make_rows, tmp_path):
    collection = opened(make_rows(tmp_path, [{"gold_apps": ["d" * 10**6]}]))
    with pytest.raises(CollectionError, match="in no row of corpus") as error:
        require_sound(collection)
    assert len(str(error.value)) < 700


def test_what_a_row_says_of_its_making_is_in_no_table(make_rows, tmp_path):
    said = {**PLAIN, "claim": 4, "incomplete": "a reference could not be resolved"}
    plain, more = (opened(make_rows(tmp_path, [row], name=name)) for name, row in (("a", PLAIN), ("b", said)))
    assert plain.fingerprints == more.fingerprints


@pytest.mark.parametrize("field", [{"claim": 0}, {"claim": "1"}, {"claim": True}, {"incomplete": ""},
                                   {"incomplete": True}])
def test_what_it_says_has_a_form_all_the_same(make_rows, tmp_path, field):
    with pytest.raises(CollectionError, match=f"the field '{next(iter(field))}'"):
        opened(make_rows(tmp_path, [{**PLAIN, **field}]))
