"""What the reader lists and shows, without a front end: the functions, then the widgets by their values."""

import subprocess
import sys
from html.parser import HTMLParser
from types import SimpleNamespace

import ipywidgets
import nbformat
import pytest

from kit.collection.sources import Collection, open_collection
from kit.evaluation.evaluate import evaluate
from kit.errors import SearchError
from kit.files import ROOT
from kit.params import Params
from kit.reporting import reader, reading, why
from kit.reporting.reading import ANY, MISSED, ONE, Filters, Reading, chosen
from kit.retrieval.execute import SavedRun, retrieve
from kit.retrieval.run import ranked

MEASURES = ["nDCG@3", "RR"]
PAYLOADS = ("<script>alert(1)</script>", '<img src=x onerror="alert(2)">', '"onmouseover=alert(3) x="',
            "[x](javascript:alert(4))", "</details></div><svg onload=alert(5)>")
ALLOWED = {"p", "b", "i", "br", "div", "span", "table", "thead", "tbody", "tr", "th", "td", "details",
           "summary", "h3", "caption", "mark"}
HARMLESS = {"style", "class", "border", "scope"}


class Tags(HTMLParser):
    """The tags and attributes that a browser would make of a page."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.text = set(), set(), []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data):
        self.text.append(data)


def plain(page: str) -> str:
    return "".join(Tags(page).text).replace("\N{NO-BREAK SPACE}", " ")


def by_hand(name: str, rankings: dict, depth: int = 5) -> SavedRun:
    rows = [(q, d, -n) for q, docs in rankings.items() for n, d in enumerate(docs)]
    return SavedRun(None, ranked(*zip(*rows)), {
        "system": {"name": name, "settings": {}}, "views": None, "depth": depth})


def read(collection, runs, **given) -> Reading:
    params = Params(**{"measures": MEASURES, "depth": 5, "query_view": "ta", "corpus_view": "ta", **given})
    scored = {run.system: evaluate(run.table, collection, "all", MEASURES) for run in runs}
    return Reading(collection, runs, scored, params)


QUERIES = [
    {"query_id": "q1", "title": "Wind vane", "publication_authority": "EP", "publication_date": "2001-05-05"},
    {"query_id": "q2", "title": "Tide mill", "publication_authority": "US", "publication_date": "2010-05-05"},
    {"query_id": "q3", "title": "Tide GATE", "publication_authority": "US", "publication_date": "",
     "ipc": ["A01B1/00"]},
    {"query_id": "q4", "title": "", "text": None, "publication_authority": None,
     "publication_date": "2020-01-01"}]
CORPUS = [f"d{n}" for n in range(1, 8)]
QRELS = [("q1", "d1"), ("q1", "d2", "A"), ("q2", "d3", "overlap"), ("q3", "d4", "A")]
ONE_RUN = by_hand("one", {"q1": ["d7", "d1", "d5"], "q2": ["d5", "d6"], "q3": ["d4", "d1"], "q4": ["d2"]})
OTHER = by_hand("other", {"q1": ["d2", "d1"], "q2": ["d6", "d5"], "q3": ["d1", "d2", "d3", "d5", "d4"]})


@pytest.fixture(scope="module")
def collection(tmp_path_factory, make_collection) -> Collection:
    return open_collection(str(make_collection(tmp_path_factory.mktemp("read"), QUERIES, CORPUS, QRELS)))


@pytest.fixture
def one(collection) -> Reading:
    return read(collection, [ONE_RUN, OTHER])


# --- which queries are listed ---------------------------------------------------------------------

@pytest.mark.parametrize(("filters", "ids"), [
    ({}, "q1 q2 q3 q4"), ({"words": "tide"}, "q2 q3"), ({"words": "gate TIDE"}, "q3"),
    ({"words": "Q4"}, "q4"), ({"words": "(?:"}, ""), ({"slice": "OUT"}, "q3"), ({"slice": "IN"}, "q1 q2"),
    ({"category": "A"}, "q1 q3"),
    ({"category": "overlap"}, "q2"), ({"authority": "US"}, "q2 q3"), ({"years": (2001, 2010)}, "q1 q2"),
    ({"found": MISSED, "k": 3}, "q2"), ({"found": ONE, "k": 3}, "q3"), ({"found": ONE, "k": 1}, "q1 q3"),
    ({"found": ONE, "k": 5}, ""), ({"authority": "US", "found": ONE, "k": 3, "category": "A"}, "q3")])
def test_a_query_is_listed_if_all_filters_fit(one, filters, ids):
    assert " ".join(chosen(one, Filters(**filters))) == ids


def test_of_a_sample_only_what_was_searched_is_listed(collection):
    sampled = read(collection, [ONE_RUN], sample=2, seed=1)
    assert len(chosen(sampled, Filters())) == 2


def test_a_list_ends_where_nobody_reads_on(one, monkeypatch):
    monkeypatch.setattr(reading, "LISTED", 2)
    assert [q for _, q in reading.listed(one, chosen(one, Filters()))] == ["q1", "q2"]


def test_a_query_without_a_title_goes_by_its_text(tmp_path, make_rows):
    row = {"qid": "r1", "text": "A gate of oak, " * 30, "gold_apps": ["d1"]}
    rows = open_collection(str(make_rows(tmp_path, [row])))
    label, = reading.listed(read(rows, [by_hand("one", {"r1": ["d1"]})], query_view="text"), ["r1"])
    assert label[0].startswith("r1 · A gate of oak") and len(label[0]) < 120


# --- what is shown of one -------------------------------------------------------------------------

def test_relevants_have_their_rank_under_every_system(one):
    page = reading.relevants_page(one, "q1")
    assert ";white-space:nowrap\">d1</td>" in page and "Valve d2" in plain(page)
    words = plain(page).split()
    assert words[:6] == ["document", "category", "direction", "scope", "one", "other"]
    row = words[words.index("d2"):]
    assert row[:6] == ["d2", "A", "cited", "IN", "—", "1"]


def test_of_many_relevants_the_rest_is_counted(one):
    assert "and 1 more relevant documents" in reading.relevants_page(one, "q1", most=1)


def test_a_query_without_labels_says_so(one):
    assert "no relevant document" in reading.relevants_page(one, "q4")
    assert "no relevant document counts" in reading.query_page(one, "q4")
    assert reading.beaten(one, "q4", "one") is None


def test_hits_are_marked_in_a_ranking_and_the_rest_is_counted(one):
    page = reading.ranking_page(one, "q1", "one", most=2)
    assert "<b>● relevant, XY</b>" in page.replace("\N{NO-BREAK SPACE}", " ") and page.count("●") == 1
    assert "1 of 2 relevant" in page and "and 1 more documents" in page


def test_two_systems_stand_side_by_side_with_their_ranks(one):
    words = plain(reading.beside_page(one, "q1", "one", "other")).split()
    row = words.index("d1")
    assert words[row - 2:row] == ["2", "2"] and "—" in words[words.index("d7") - 2:words.index("d7")]
    assert "again" in reading.beside_page(one, "q1", "one", "one")


def test_the_documents_to_ask_about_are_the_first_and_the_relevant_ones(one):
    found = reading.documents(one, "q1", "one")
    assert [d for _, d in found] == ["d7", "d1", "d5", "d2"]
    assert found[1][0].startswith("rank 2 · d1 · relevant, XY")
    assert found[3][0].startswith("not returned · d2")


def test_a_system_without_reasons_gives_the_ranks_of_the_others(one):
    page = reading.why_page(one, "q1", "one", "d2")
    assert "one does not return d2 among its 3 documents" in page and "other 1" in page


def test_what_is_beaten_is_the_best_relevant_behind_the_first_wrong_one(one):
    assert reading.beaten(one, "q1", "one") == ("d7", "d1")
    assert reading.beaten(one, "q2", "one") == ("d5", "d3")  # not returned
    assert reading.beaten(one, "q3", "one") is None


def test_a_page_of_texts_marks_the_words_of_both_and_has_an_end(one):
    page = reading.texts_page(one, "q1", "d1")
    assert f"<mark style='{reading.MARK}'>seat</mark>" in page
    assert f"<mark style='{reading.MARK}'>Wind</mark>" not in page
    assert "characters more" in reading._marked("seat " * 400, {"seat"}, 100)


def test_a_long_text_stands_behind_more_and_has_an_end():
    page = reading._opening("word " * 10_000)
    assert page.index("<details") < 60 * 6 and "characters more" in page
    assert len(page) < reading.LONGEST + 1000


# --- why, end to end ------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def searched(collection, tmp_path_factory) -> Reading:
    out = str(tmp_path_factory.mktemp("searched"))
    given = Params(outputs=out, depth=5, query_view="ta", corpus_view="ta", measures=MEASURES,
                   passage_length=64)
    runs = [retrieve(collection, name, given) for name in ("bm25", "bm25-passages")]
    return read(collection, runs, outputs=out, passage_length=64)


def test_a_bm25_page_names_the_terms_and_the_runs_score(searched):
    row = searched.ranking("bm25", "q1").iloc[0]
    page = reading.why_page(searched, "q1", "bm25", row["doc_id"])
    assert plain(page).count(f"{row['score']:.4f}") == 2  # the run's, and that of the shares
    assert "seat" in plain(page) and "lacks" in page


def test_the_difference_of_two_documents_adds_up_to_that_of_their_scores(searched, monkeypatch):
    monkeypatch.setattr(reading, "beaten", lambda *_: ("d7", "d1"))
    frame = why.bm25_difference(searched.weights("bm25"), "a valve d1 with a seat, valve d7", "d7", "d1")
    short = reading._shortened(frame, 1, 1)
    assert len(short) == 3 < len(frame)
    assert short["difference"].sum() == pytest.approx(frame["difference"].sum())
    assert "add up to the difference" in reading.beaten_page(searched, "q1", "bm25")


def test_a_passage_page_shows_the_passage_that_scored(searched):
    doc = searched.ranking("bm25-passages", "q1")["doc_id"].iloc[0]
    page = plain(reading.why_page(searched, "q1", "bm25-passages", doc))
    assert f"its passage 2, characters 9 to 32, scored bestA valve {doc} with a seat." in page


def test_what_cant_be_told_is_a_note_and_no_error(searched, monkeypatch):
    def gone(*_):
        raise SearchError("the model <is> gone", "why")
    monkeypatch.setattr(why, "open_weights", gone)
    searched._opened.clear()
    assert "the model &lt;is&gt; gone" in reading.why_page(searched, "q1", "bm25", "d1")


# --- nothing planted acts -------------------------------------------------------------------------

@pytest.fixture(scope="module")
def planted(tmp_path_factory, make_collection) -> Reading:
    """Payloads in identifiers, titles, texts, dates, categories' places and a system's name."""
    bad = " ".join(PAYLOADS)
    field = dict.fromkeys(("title", "abstract", "claims", "description", "ai_ab", "publication_authority",
                           "publication_date", "source_xpn"), bad) | {"ipc": [bad]}
    ids = [f"d{n}{p}" for n, p in enumerate(PAYLOADS)]
    folder = make_collection(tmp_path_factory.mktemp("bad"), [{"query_id": f"q{bad}", **field}],
                             [{"doc_id": d, **field} for d in ids],
                             [{"query_id": f"q{bad}", "doc_id": ids[1], "category": "XY",
                               "source_relations": [{"category": bad, "direction": bad}]}])
    held = open_collection(str(folder))
    out = str(tmp_path_factory.mktemp("badout"))
    given = Params(outputs=out, depth=5, query_view="ta", corpus_view="ta", measures=MEASURES,
                   passage_length=64)
    runs = [retrieve(held, name, given) for name in ("bm25", "bm25-passages")]
    return read(held, [*runs, by_hand(f"mine {bad}", {f"q{bad}": ids})], outputs=out)


def still(of: Reading) -> str:
    return reader.still(of.collection, list(of.runs.values()), of.evaluations, of.params).data


def pages_of(planted: Reading):
    query, = chosen(planted, Filters())
    yield reading.query_page(planted, query)
    yield reading.relevants_page(planted, query)
    yield still(planted)
    for system in planted.systems:
        yield reading.ranking_page(planted, query, system)
        yield reading.beside_page(planted, query, system, planted.systems[0])
        yield reading.beaten_page(planted, query, system)
        yield reader.still_of(planted, PAYLOADS[0], query, system)
        for doc in planted.collection.ids("corpus"):
            yield reading.why_page(planted, query, system, doc)
            yield reading.texts_page(planted, query, doc)


def test_planted_markup_is_text_on_every_page(planted):
    pages = [Tags(page) for page in pages_of(planted)]
    assert len(pages) > 30
    assert set.union(*(p.tags for p in pages)) <= ALLOWED
    assert set.union(*(p.attributes for p in pages)) <= HARMLESS


def test_planted_markup_is_seen_as_it_stands(planted):
    query, = chosen(planted, Filters())
    assert "<script>alert(1)</script>" in plain(reading.query_page(planted, query))


def test_planted_markup_is_text_in_every_widget(planted):
    made = reader.Reader(planted)
    for place in range(len(reader.TABS)):
        made.tabs.selected_index = place
        assert Tags(made.pages[place].value).tags <= ALLOWED
    html = [x for x in walk(made.box) if isinstance(x, (ipywidgets.HTML, ipywidgets.HTMLMath))]
    assert len(html) == len(reader.TABS) + 1 and not any(x.description_allow_html for x in walk(made.box)
                                                         if hasattr(x, "description_allow_html"))


def walk(widget):
    yield widget
    for child in getattr(widget, "children", ()):
        yield from walk(child)


# --- the widgets ----------------------------------------------------------------------------------

@pytest.fixture
def widgets(one) -> reader.Reader:
    return reader.Reader(one)


def test_a_filter_changes_the_list_and_what_is_open(widgets):
    assert len(widgets.queries.options) == 4 and widgets.queries.value == "q1"
    widgets.k.value, widgets.found.value = 3, MISSED
    assert [q for _, q in widgets.queries.options] == ["q2"] and widgets.count.value == "1 of 4 queries"
    assert "Tide mill" in widgets.pages[0].value
    widgets.found.value = ANY
    assert widgets.queries.value == "q2"  # what was read stays open


@pytest.mark.parametrize(("name", "value", "ids"), [
    ("words", "tide", "q2 q3"), ("slice", "OUT", "q3"), ("category", "overlap", "q2"),
    ("authority", "EP", "q1"),
    ("since", 2005, "q2 q4"), ("until", 2015, "q1 q2")])
def test_every_filter_is_wired(widgets, name, value, ids):
    getattr(widgets, name).value = value
    assert " ".join(q for _, q in widgets.queries.options) == ids


def test_where_no_query_fits_the_page_says_so(widgets):
    widgets.words.value = "nowhere"
    assert widgets.queries.value is None and "No query fits" in widgets.pages[0].value
    assert widgets.document.options == ()
    widgets.words.value = "vane"
    assert "Wind vane" in widgets.pages[0].value


def test_every_tab_shows_its_own(widgets):
    for place, words in enumerate(("Abstract", "category", "one returns 3 documents", "both rankings",
                                   "gives a ranking and no reasons", "Words that stand in both")):
        widgets.tabs.selected_index = place
        assert words in plain(widgets.pages[place].value)


def test_another_system_and_document_are_asked(widgets):
    widgets.tabs.selected_index = reader.TABS.index("Why")
    assert "one returns d7 at rank 1" in plain(widgets.pages[4].value)
    widgets.system.value = "other"
    assert "other does not return d7" in plain(widgets.pages[4].value)
    widgets.document.value = "d2"
    assert "other returns d2 at rank 1" in plain(widgets.pages[4].value)


def test_a_click_makes_one_page(widgets, monkeypatch):
    made, page = [], reading.query_page
    monkeypatch.setattr(reading, "query_page", lambda *args: made.append(args) or page(*args))
    widgets.words.value = "tide"
    widgets.queries.value = "q3"
    widgets.system.value = "other"
    assert [query for _, query in made] == ["q2", "q3", "q3"]


def test_only_the_open_tab_is_made(widgets):
    widgets.queries.value = "q3"
    assert [bool(page.value) for page in widgets.pages] == [True] + [False] * 5


def test_one_system_alone_can_be_read(collection):
    made = reader.Reader(read(collection, [ONE_RUN]))
    made.tabs.selected_index = reader.TABS.index("Two systems")
    assert "one again" in made.pages[3].value


def test_queries_are_listed_without_opening_a_row(one, monkeypatch):
    monkeypatch.setattr(Collection, "row", lambda *_: pytest.fail("a row was read"))
    assert len(reading.listed(one, chosen(one, Filters(words="tide", found=ONE, k=3)))) == 1


def test_no_more_rows_are_opened_than_a_page_shows(one, monkeypatch):
    opened, row = [], Collection.row
    monkeypatch.setattr(Collection, "row", lambda self, *which: opened.append(which) or row(self, *which))
    monkeypatch.setattr(reading, "ROWS", 2)
    reading.documents(one, "q3", "other")
    assert len(opened) == 3  # the first two, and a relevant one


# --- with and without a front end -----------------------------------------------------------------

@pytest.fixture
def displayed(monkeypatch):
    seen = []
    monkeypatch.setattr(reader, "display", seen.append)
    monkeypatch.setattr(reader.shown, "display", seen.append)
    return seen


def shell_of(answers: bool) -> SimpleNamespace:
    return SimpleNamespace(kernel=SimpleNamespace(_allow_stdin=answers))


@pytest.mark.parametrize("shell", [None, SimpleNamespace(), shell_of(False)])
def test_where_nobody_can_answer_a_sentence_stands_for_the_widgets(one, displayed, monkeypatch, shell):
    monkeypatch.setattr(reader, "get_ipython", lambda: shell)
    reader.show(one.collection, list(one.runs.values()), one.evaluations, one.params)
    assert "In JupyterLab a reader opens here" in displayed[0].data


def test_where_somebody_can_answer_the_widgets_are_shown(one, displayed, monkeypatch):
    monkeypatch.setattr(reader, "get_ipython", lambda: shell_of(True))
    reader.show(one.collection, list(one.runs.values()), one.evaluations, one.params)
    assert isinstance(displayed[0], ipywidgets.HBox)


def test_importing_the_reader_makes_no_widget():
    """A widget that is made while a notebook runs by itself would leave its state in the notebook."""
    code = ("import ipywidgets, sys; made = []; ipywidgets.Widget.on_widget_constructed(made.append); "
            "import kit.reporting.reader; sys.exit(len(made))")
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0


def test_the_committed_notebooks_hold_no_widget():
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        assert "widgets" not in notebook.metadata and "jupyter.widget" not in nbformat.writes(notebook)


# --- the still ------------------------------------------------------------------------------------

def test_the_still_has_the_largest_difference_one_that_all_miss_and_one_that_one_finds(collection):
    rankings = {"q1": ["d7", "d1"], "q2": ["d5"], "q3": ["d4"]}
    others = {"q1": ["d7"], "q2": ["d6"], "q3": ["d1"]}
    here = read(collection, [by_hand("a", rankings), by_hand("b", others)])
    first, missed, alone = reader.telling(here, "nDCG@3")
    assert first == ("a and b differ most: nDCG@3 1.000 and 0.000", "q3", "b")
    assert missed == ("Missed by all in the first 10", "q2", "b")
    assert alone == ("Found in the first 10 by a only", "q1", "b")


def test_the_still_is_the_same_each_time_and_shows_the_queries(one):
    made = [still(one), still(one)]
    assert made[0] == made[1] and made[0].count("<h3>") == 2
    assert "Under <b>" in made[0] and "Tide mill" in made[0]


def test_a_single_system_has_a_still(collection):
    here = read(collection, [ONE_RUN])
    assert [q for _, q, _ in reader.telling(here, "nDCG@3")] == ["q2"]


def test_ranks_of_one_query_need_no_figures(one):
    page = reader.ranks(one.collection, list(one.runs.values()), one.params, "q1").data
    assert page == reading.relevants_page(one, "q1")
