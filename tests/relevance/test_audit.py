"""The audit: what it finds in the miniature, in real patents, and in tables made for one oddity."""

import pyarrow as pa
import pytest

from kit.collection.sources import open_collection
from kit.relevance.audit import as_frame, audit

# q1 and q2 are candidates too, d4 is relevant to nothing
QUERIES, CORPUS = ["q1", "q2"], ["d1", "d2", "d3", "d4", "q2"]
QRELS = [("q1", "q2"), ("q1", "d1"), ("q1", "d2", "A"), ("q2", "d3", "A")]
SAME = {"title": "Valve", "abstract": "A valve.", "claims": "1. A valve.", "description": None}


def counts(folder) -> dict[str, int]:
    return {c.name: c.count for c in audit(open_collection(str(folder)))}


def with_rows(rows: list, *changed: dict) -> list:
    """The rows with some replaced by a dict of the same identifier."""
    given = {next(iter(c.values())): c for c in changed}
    return [given.get(r, r) for r in rows]


def doc(name: str, **fields) -> dict:
    return {"doc_id": name, **fields}


def query(name: str, **fields) -> dict:
    return {"query_id": name, **fields}


def related(name: str, direction: str, *categories: str) -> dict:
    return {"query_id": "q1", "doc_id": name, "category": categories[0], "source_relations": [
        {"category": c, "direction": direction} for c in categories]}


@pytest.fixture(scope="module")
def clean(tmp_path_factory, make_collection):
    return counts(make_collection(tmp_path_factory.mktemp("clean"), QUERIES, CORPUS, QRELS))


def corpus(*docs: dict) -> dict:
    return {"corpus": with_rows(CORPUS, *docs)}


ODDITIES = {
    "an own entry more": ({"corpus": ["d1", "d2", "d3", "q1", "q2"]}, {"own entries": 1}),
    "a reciprocal pair": ({"corpus": ["d1", "d2", "d3", "q1", "q2"],
                           "qrels": [*QRELS[:2], ("q1", "d2", "A"), ("q2", "q1", "A")]},
                          {"own entries": 1, "reciprocal pairs": 1, "reciprocal pairs of two categories": 1}),
    "a reciprocal pair of one category": (
        {"corpus": ["d1", "d2", "d3", "q1", "q2"],
         "qrels": [("q1", "q2", "A"), ("q1", "d1"), ("q1", "d2"), ("q2", "q1", "A")]},
        {"own entries": 1, "reciprocal pairs": 1}),
    "X and Y on one pair": ({"qrels": [*QRELS[:1], related("d1", "cited", "XY", "X", "Y"), *QRELS[2:]]},
                            {"pairs with both X and Y": 1}),
    "a number twice": (corpus(doc("d2", source_xpn="EP99d1")), {"repeated source_xpn": 2}),
    "no numbers": (corpus(doc("d2", source_xpn=""), doc("d1", source_xpn=None), doc("d3", source_xpn="")), {}),
    "equal texts": (corpus(doc("d1", **SAME, ipc=["F16K1/00"]), doc("d2", **{**SAME, "description": ""})),
                    {"documents of equal text": 2, "corpus without description": 2}),
    "texts equal in part": (corpus(doc("d1", title="Valve"), doc("d2", title="Valve")), {}),
    "no texts at all": (corpus(*(doc(d, title="", abstract=None, claims="", description="") for d in ("d1", "d2"))),
                        {f"corpus without {f}": 2 for f in ("title", "abstract", "claims", "description")}),
    "an empty title": (corpus(doc("d1", title="")), {"corpus without title": 1}),
    "a null abstract": (corpus(doc("d1", abstract=None)), {"corpus without abstract": 1}),
    "blank claims": (corpus(doc("d1", claims=" \n")), {"corpus without claims": 1}),
    "a query without description": ({"queries": with_rows(QUERIES, query("q1", description=None))},
                                    {"queries without description": 1}),
    "tags": (corpus(doc("d1", abstract="<p>A valve.</p>"), doc("d2", title="A valve<BR/>")), {"corpus with tags": 2}),
    "tags in a query": ({"queries": with_rows(QUERIES, query("q1", claims='1. <claim-text id="c">A valve'))},
                        {"queries with tags": 1}),
    "no tags": (corpus(doc("d1", abstract="x<y and a>b, <unknown>")), {}),
    "entities": (corpus(doc("d1", abstract="A &amp; B"), doc("d2", abstract="&#160;"), doc("d3", abstract="&#xA0;")),
                 {"corpus with entities": 3}),
    "no entities": (corpus(doc("d1", abstract="R&D; of AT&T; a & b;")), {}),
    "index codes": (corpus(doc("d1", abstract="H.sub.2O")), {"corpus with index codes": 1}),
    "a malformed date": (corpus(doc("d1", publication_date="9999-1-1"), doc("d2", publication_date="2030-02-30")),
                         {"malformed dates": 2}),
    "a missing date": ({"queries": with_rows(QUERIES, query("q1", publication_date=None))}, {"malformed dates": 1}),
    "a later document that is cited": (corpus(doc("d1", publication_date="2010-05-18")),
                                       {"relevants later than the query": 1, "cited yet later": 1}),
    "a later document that cites": (
        {**corpus(doc("d1", publication_date="2011-01-01")),
         "qrels": [QRELS[0], related("d1", "citing", "XY", "X"), *QRELS[2:]]},
        {"relevants later than the query": 1}),
    "a document of the same day": (corpus(doc("d1", publication_date="2010-05-17")), {}),
    "a document without class": (corpus(doc("d4", ipc=[])), {"corpus without a class": 1}),
    "a query without class": ({"queries": with_rows(QUERIES, query("q2", ipc=None))},
                              {"queries without a class": 1, "queries IN": -1, "queries UNKNOWN": 1}),
    "a relevant of another section": (corpus(doc("d1", ipc=["A01B1/00"])), {"queries IN": -1, "queries MIXED": 1}),
    "relevants of another section only": (corpus(doc("d3", ipc=["A01B1/00"])), {"queries IN": -1, "queries OUT": 1}),
    "another category": ({"qrels": [*QRELS[:3], ("q2", "d3", "overlap")]},
                         {"category A": -1, "category overlap": 1, "protocol xy": 1,
                          "queries without a positive, xy": -1}),
    "a pair twice": ({"qrels": [*QRELS, QRELS[3]]},
                     {"broken rules": 1, "qrels": 1, "category A": 1, "protocol all": 1, "protocol a": 1}),
}


@pytest.mark.parametrize("oddity", ODDITIES)
def test_an_oddity_changes_its_own_checks_only(tmp_path, make_collection, clean, oddity):
    changed, expected = ODDITIES[oddity]
    found = counts(make_collection(tmp_path, **{"queries": QUERIES, "corpus": CORPUS, "qrels": QRELS, **changed}))
    if expected.get("broken rules"):  # tags are given only for a sound collection
        clean = {name: n for name, n in clean.items() if name in found}
    assert {name: found[name] - n for name, n in clean.items() if found[name] != n} == expected


def test_the_miniature_is_as_its_registry_says(mini):
    wrong = [(c.name, c.count, c.expected) for c in audit(mini)
             if c.expected is not None and c.verdict != "as expected"]
    assert not wrong


def test_every_registered_number_of_the_miniature_is_checked(mini):
    registered = {**mini.entry.counts, **mini.entry.oddities}
    assert set(registered) <= {c.name for c in audit(mini) if c.expected is not None}


def test_a_number_that_differs_from_the_registrys_is_said_to(mini):
    import dataclasses
    entry = dataclasses.replace(mini.entry, counts={**mini.entry.counts, "corpus": 601})
    wrong = [c.name for c in audit(dataclasses.replace(mini, entry=entry)) if c.verdict == "not as expected"]
    assert wrong == ["corpus"]


def test_the_rows_of_a_check_are_as_many_as_it_counts(mini):
    for check in audit(mini):
        if check.rows is not None:
            assert len(check.rows) == check.count, check.name


def test_real_patents(shared):
    checks = {c.name: c for c in audit(open_collection(str(shared / "data" / "real-patents")))}
    assert checks["reciprocal pairs"].count == 326
    assert checks["own entries"].count == 436
    assert checks["qrels"].count == 652
    for name in ("category XY", "category A", "category overlap", "protocol xy", "protocol a",
                 "pairs with both X and Y"):
        assert checks[name].verdict == "absent" and checks[name].absent
    assert not [c.name for c in checks.values() if c.verdict == "not as expected"]


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
        tmp_path, QUERIES, CORPUS, QRELS, tweak={table: broken}))))
    assert checks[0].name == "broken rules" and checks[0].verdict == "not as expected"
    assert len(as_frame(checks)) == len(checks)
    if column != "source_xpn" or table == "corpus":  # the audit reads no number of a query
        assert [c for c in checks if c.absent]
    made = {c.name for c in checks if not c.absent}
    other = "queries" if table == "corpus" else "corpus"
    assert {f"{other} without title", f"{other} with tags"} <= made


@pytest.mark.parametrize("qrels", [
    [("q1", "gone"), ("nobody", "d1"), ("q1", "d1")],
    [("q1", "d1"), ("q1", "d1"), ("q1", "d1", "A")],
    [("q1", "d1", "Z"), ("q2", "d2", None)],
    [("q2", "q2")],
    [(None, "d1"), ("d1", None), (None, None), ("", "")],
], ids=["dangling", "repeated", "categories", "own pair", "null ids"])
def test_pairs_that_break_the_layout_are_audited(tmp_path, make_collection, qrels):
    checks = audit(open_collection(str(make_collection(tmp_path, QUERIES, CORPUS, qrels))))
    assert {c.name: c.count for c in checks}["qrels"] == len(qrels)
    assert len(as_frame(checks)) == len(checks)


@pytest.mark.parametrize("table", ["queries", "corpus"])
def test_repeated_and_null_identifiers_are_audited(tmp_path, make_collection, table):
    rows = {"queries": QUERIES, "corpus": CORPUS}
    rows[table] = [*rows[table], rows[table][0], None, ""]
    checks = audit(open_collection(str(make_collection(tmp_path, **rows, qrels=QRELS))))
    assert checks[0].count == 2  # the empty and the repeated


def test_a_repeated_pair_makes_no_second_reciprocal_pair(tmp_path, make_collection):
    qrels = [("q1", "q2"), ("q1", "q2"), ("q2", "q1"), ("q2", "q1")]
    found = counts(make_collection(tmp_path, QUERIES, [*CORPUS, "q1"], qrels))
    assert found["reciprocal pairs"] == 1


def test_counts_stay_whole_numbers_where_one_is_absent(tmp_path, make_collection):
    frame = as_frame(audit(open_collection(str(make_collection(tmp_path, qrels=[("q1", "d1", None)])))))
    assert frame["count"].isna().any()
    assert set(map(str, frame.dtypes[["count", "expected"]])) == {"Int64"}
