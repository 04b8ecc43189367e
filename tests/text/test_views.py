"""Views: which fields, joined and cleaned how, and what a run states of it."""

import pytest

from kit.collection.rows import COLUMNS
from kit.collection.schema import AI_FIELDS, FEATURES
from kit.collection.sources import open_collection
from kit.errors import ParamsError
from kit.text import cleaning
from kit.text.views import (
    VIEWS,
    declaration,
    join_list,
    require_given,
    require_view,
    texts,
    view_of,
)


def first(folder, table, view):
    return next(texts(open_collection(str(folder)), table, view))


def test_tacd_is_title_abstract_claims_description_in_lines(make_collection, tmp_path):
    row = {"doc_id": "d1", "title": "T", "abstract": "A", "claims": "C", "description": "D"}
    folder = make_collection(tmp_path, corpus=[row, "d2", "d3"])
    assert first(folder, "corpus", "tacd") == "T\nA\nC\nD"
    assert first(folder, "corpus", "tac") == "T\nA\nC"
    assert first(folder, "corpus", "ta") == "T\nA"


@pytest.mark.parametrize("empty", [None, "", "  \n", "<p></p>", "&#160;"])
def test_an_empty_field_leaves_no_line(empty):
    assert view_of(["T", empty, "C"]) == "T\nC"
    assert view_of([empty, empty]) == ""


def test_fields_are_cleaned_one_by_one():
    assert view_of(["<p>One</p>", "a&amp;b", "1.\n2."]) == "One\na&b\n1. 2."
    assert view_of(["x <b", "y> z"]) == "x <b\ny> z"  # no tag runs over two fields


@pytest.mark.parametrize("value, joined", [
    (["a", None, "b"], "a\nb"), ([None], ""), ([], ""), (None, ""), ("a", "a"),
    (["a", "", "b"], "a\nb"), (["b", "a", "b"], "b\na\nb"),
])
def test_lists_are_joined_without_their_nulls(value, joined):
    assert join_list(value) == joined


def test_a_list_is_joined_before_it_is_cleaned():
    """A tag that opens in one part and closes in the next is markup only in the joined text."""
    parts = ["the <i>valve", "seat</i> is"]
    assert [cleaning.clean(p) for p in parts] != ["the valve", "seat is"]  # else this shows nothing
    assert view_of([parts]) == cleaning.clean("\n".join(parts)) == "the valve seat is"


def test_null_and_empty_lists_read_alike(make_collection, tmp_path):
    rows = [{"doc_id": f"d{n}", "adb": value} for n, value in enumerate(
        (None, [], [None], [""], ["a", None, "b"]))]
    folder = make_collection(tmp_path, corpus=rows, qrels=[("q1", "d0")])
    assert list(texts(open_collection(str(folder)), "corpus", "adb")) == ["", "", "", "", "a b"]


def test_texts_follow_the_tables_order(mini):
    titles = list(texts(mini, "corpus", "title"))
    assert len(titles) == 600
    for row in (0, 255, 256, 599):  # either side of a batch's end
        assert titles[row] == cleaning.clean(mini.tables["corpus"][row]["title"])


def test_texts_are_made_as_they_are_asked_for():
    asked = []

    class Endless:
        def batches(self, table, columns):
            while True:
                asked.append(columns)
                yield {"title": ["a", "b"]}

    stream = texts(Endless(), "corpus", "title")
    assert [next(stream) for _ in range(3)] == ["a", "b", "a"]
    assert asked == [["title"]] * 2


def test_a_column_that_is_missing_leaves_no_line(make_collection, tmp_path):
    folder = make_collection(tmp_path, tweak={"corpus": lambda t: t.drop_columns("abstract")})
    assert first(folder, "corpus", "ta") == "Valve d1"
    assert first(folder, "corpus", "abstract") == ""


# --- what is stated -----------------------------------------------------------------------------

def test_a_declaration_names_fields_and_cleaner():
    stated = declaration("tac")
    assert stated["view"] == "tac" and stated["fields"] == ["title", "abstract", "claims"]
    assert stated["cleaner"] == cleaning.declaration()
    assert len(stated["sha256"]) == 64 and declaration("tac") == stated


def test_every_view_has_a_hash_of_its_own():
    assert len({declaration(view)["sha256"] for view in VIEWS}) == len(VIEWS)


def test_the_hash_changes_with_the_fields(monkeypatch):
    before = declaration("ta")["sha256"]
    monkeypatch.setitem(VIEWS, "ta", ("abstract", "title"))
    assert declaration("ta")["sha256"] != before


def test_the_hash_changes_with_the_cleaners_version(monkeypatch):
    before = declaration("ta")["sha256"]
    monkeypatch.setattr(cleaning, "declaration", lambda: {"name": cleaning.CLEANER, "version": "0"})
    assert declaration("ta")["sha256"] != before


def test_views_are_of_columns_that_the_layout_has():
    for view, fields in VIEWS.items():
        assert set(fields) <= set(COLUMNS["queries"])
        assert view.startswith("ai_") or view == "text" or set(fields) <= set(FEATURES["corpus"])
    assert set(AI_FIELDS) <= set(VIEWS)


# --- what is refused ----------------------------------------------------------------------------

@pytest.mark.parametrize("view", ["tcad", "", "TACD", "ipc"])
def test_an_unknown_view(view):
    for ask in (declaration, lambda v: require_view(v, "queries")):
        with pytest.raises(ParamsError, match=f"unknown view '{view}'.*tacd"):
            ask(view)


@pytest.mark.parametrize("view", [*AI_FIELDS, "text"])
def test_documents_have_no_written_views(view, mini):
    require_view(view, "queries")
    with pytest.raises(ParamsError, match=f"documents have no view '{view}'") as error:
        next(texts(mini, "corpus", view))
    assert "ai_" not in str(error.value).partition("Give one of")[2]


def test_a_view_of_columns_that_a_collection_lacks_is_refused(mini):
    require_given(mini, "tacd", "ta")
    with pytest.raises(ParamsError, match="the queries of this collection have no view 'text' "
                                          r"\(query_view, mini\). Give one of tacd"):
        require_given(mini, "text", "tacd")


def test_rows_have_the_view_text_and_no_other(mini_litigation):
    require_given(mini_litigation, "text", "tacd")
    for view in set(VIEWS) - {"text"}:
        with pytest.raises(ParamsError, match=f"no view '{view}'.*Give one of text$"):
            require_given(mini_litigation, view, "tacd")
    with pytest.raises(ParamsError, match="documents have no view 'text'"):
        require_given(mini_litigation, "text", "text")


def test_one_column_of_a_view_is_enough(make_collection, tmp_path):
    folder = make_collection(tmp_path, tweak={"corpus": lambda t: t.drop_columns("abstract")})
    require_given(open_collection(str(folder)), "ta", "ta")
    with pytest.raises(ParamsError, match="the corpus .* no view 'abstract'.*corpus_view"):
        require_given(open_collection(str(folder)), "ta", "abstract")
