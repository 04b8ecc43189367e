"""The reader of queries: widgets in a live notebook, and a still for the page.

The widgets only choose; what is listed and shown is `reading`'s. A notebook that runs by itself
(papermill, nbconvert, nbval) gets no widget: its front end says that nobody can answer.
"""

from contextlib import contextmanager

import ipywidgets as w
from IPython import get_ipython
from IPython.display import HTML, display

from kit.params import Params
from kit.reporting import reading as r
from kit.reporting import show as shown
from kit.reporting import why
from kit.reporting.score import headline

TABS = ("Query", "Relevants", "Ranking", "Two systems", "Why", "Texts")
# the class gives a table in a widget the look of one in an output
PAGE = '<div class="jp-RenderedHTMLCommon" style="line-height:1.45">{}</div>'


def show(collection, runs: list, evaluations: dict, params: Params) -> None:
    """Shows the reader where somebody can use it, else a sentence that says where it is."""
    if somebody_is_there():
        display(Reader(r.Reading(collection, runs, evaluations, params)).box)
    else:
        shown.say("In JupyterLab a reader opens here: any query, its relevant documents, two systems side by "
                  "side, and what made a score.")


def somebody_is_there() -> bool:
    """Whether the front end that runs this cell says that it could answer a question (`allow_stdin` of
    the Jupyter protocol): JupyterLab does, and whatever executes notebooks by itself does not."""
    kernel = getattr(get_ipython(), "kernel", None)
    return bool(getattr(kernel, "_allow_stdin", False))


class Reader:
    """The widgets over a Reading; `box` is what is displayed.

    Only the tab that is open is made, and made anew when what it shows changes.
    """

    def __init__(self, reading: r.Reading):
        self.reading, systems = reading, reading.systems
        frame = reading.queries
        authorities = sorted(a for a in frame["authority"].dropna().unique() if a)
        self.words = w.Text(placeholder="identifier or words of the title", continuous_update=False)
        self.slice = w.Dropdown(options=["all", *reading.slices])
        self.category = w.Dropdown(options=[r.ANY, *reading.categories])
        self.authority = w.Dropdown(options=[r.ANY, *authorities])
        self.found = w.Dropdown(options=[r.ANY, r.MISSED, r.ONE])
        self.k = w.BoundedIntText(value=min(10, reading.params.depth), min=1, max=reading.params.depth)
        years = frame["year"].dropna()
        first, last = (int(years.min()), int(years.max())) if len(years) else (0, 0)
        self.since, self.until = (w.BoundedIntText(value=v, min=first, max=last) for v in (first, last))
        self.count, self.queries = w.HTML(), w.Select(rows=16, layout=w.Layout(width="100%"))
        self.system = w.Dropdown(options=systems, description="System")
        second = systems[min(1, len(systems) - 1)]
        self.other = w.Dropdown(options=systems, value=second, description="beside")
        self.document = w.Dropdown(description="Document", layout=w.Layout(width="98%"))
        self.pages = [w.HTML(layout=w.Layout(max_height="46em", overflow="auto")) for _ in TABS]
        self.tabs = w.Tab(children=self.pages, titles=TABS)
        self.box, self._query, self._waits = self._laid_out(), None, False
        for widget in (self.words, self.slice, self.category, self.authority, self.found, self.k, self.since,
                       self.until):
            widget.observe(self._list, "value")
        for widget in (self.queries, self.system):
            widget.observe(self._list_documents, "value")
        for widget in (self.other, self.document):
            widget.observe(self._open, "value")
        self.tabs.observe(self._open, "selected_index")
        self._list()

    @property
    def filters(self) -> r.Filters:
        """What is chosen now; years only if they leave something out, as not every query has one."""
        years = (self.since.value, self.until.value)
        years = years if years != (self.since.min, self.since.max) else None
        return r.Filters(self.words.value, self.slice.value, self.category.value, self.authority.value, years,
                         self.found.value, self.k.value)

    def _laid_out(self) -> w.HBox:
        def named(text, widget):
            widget.layout = w.Layout(width="17em")
            return w.HBox([w.Label(text, layout=w.Layout(width="7em")), widget])

        choice = w.VBox([
            named("Search", self.words), named("Slice", self.slice), named("Category", self.category),
            named("Authority", self.authority), named("From the year", self.since),
            named("to", self.until), named("Found", self.found),
            named("in the first", self.k), self.count, self.queries],
            layout=w.Layout(width="26em", flex="0 0 auto"))
        systems = w.HBox([self.system, self.other])
        return w.HBox([choice, w.VBox([systems, self.document, self.tabs],
                                      layout=w.Layout(flex="1 1 auto", width="0"))])

    def _list(self, _=None) -> None:
        ids = r.chosen(self.reading, self.filters)
        more = f", the first {r.LISTED} listed" if len(ids) > r.LISTED else ""
        self.count.value = f"{len(ids):,} of {len(self.reading.queries):,} queries{more}"
        options = r.listed(self.reading, ids)
        before = self.queries.value
        with self._unheard():
            self.queries.options = options
            self.queries.value = before if before in ids[:r.LISTED] else ids[0] if ids else None
        self._list_documents()

    def _list_documents(self, _=None) -> None:
        """The documents to ask about; the one that was asked about stays with its query."""
        if self._waits:
            return
        query_id = self.queries.value
        asked = self.document.value if query_id == self._query else None
        options = [] if query_id is None else r.documents(
            self.reading, query_id, self.system.value, asked)
        with self._unheard():
            self.document.options = options
            self.document.value = asked or (options[0][1] if options else None)
        self._query = query_id
        self._open()

    @contextmanager
    def _unheard(self):
        """What changes meanwhile opens nothing: a list that is replaced changes twice."""
        self._waits = True
        try:
            yield
        finally:
            self._waits = False

    def _open(self, _=None) -> None:
        """Makes the page of the open tab."""
        if self._waits:
            return
        place, query_id, doc_id = self.tabs.selected_index or 0, self.queries.value, self.document.value
        if query_id is None:
            self.pages[place].value = "<p>No query fits.</p>"
            return
        self.pages[place].value = PAGE.format(self._page(TABS[place], query_id, doc_id))

    def _page(self, tab: str, query_id: str, doc_id: str | None) -> str:
        reading, one, other = self.reading, self.system.value, self.other.value
        if tab == "Query":
            return r.query_page(reading, query_id)
        if tab == "Relevants":
            return r.relevants_page(reading, query_id)
        if tab == "Ranking":
            return r.ranking_page(reading, query_id, one)
        if tab == "Two systems":
            return r.beside_page(reading, query_id, one, other)
        if doc_id is None:
            return "<p>There is no document to ask about.</p>"
        return (r.why_page(reading, query_id, one, doc_id) if tab == "Why" else
                r.texts_page(reading, query_id, doc_id))


# --- for a page without widgets -------------------------------------------------------------------

def still(collection, runs: list, evaluations: dict, params: Params) -> HTML:
    """The queries that tell most, as the reader shows them, for a page without widgets."""
    reading = r.Reading(collection, runs, evaluations, params)
    parts = [still_of(reading, why_chosen, query_id, system)
             for why_chosen, query_id, system in telling(reading, headline(params.measures))]
    return HTML("".join(parts) or "<p>There is no query to read.</p>")


def ranks(collection, runs: list, params: Params, query_id: str) -> HTML:
    """A query's relevant documents, and where each stands under every system."""
    return HTML(r.relevants_page(r.Reading(collection, runs, {}, params), query_id))


def telling(reading: r.Reading, measure: str, k: int = 10) -> list[tuple[str, str, str]]:
    """(why it was chosen, query, the system to ask why) of up to three queries: the one on which the
    first two systems differ most; one that all miss in their first k, with the most relevant
    documents; and one that only one system finds. Among equals the first by its id."""
    values = {name: e.values[measure] for name, e in reading.evaluations.items()}
    names, found, picked = list(values), reading.found(k), []
    if len(names) > 1:
        apart = (values[names[1]] - values[names[0]]).sort_index()
        if apart.abs().max() > 0:
            query_id = apart.abs().idxmax()
            a, b = (values[name][query_id] for name in names[:2])
            picked.append((f"{names[0]} and {names[1]} differ most: {measure} {a:.3f} and {b:.3f}", query_id,
                           names[int(a > b)]))
    finders = found.sum(axis=1).sort_index().drop([q for _, q, _ in picked])
    missed = finders.index[finders == 0]
    if len(missed):
        most = max(missed, key=lambda q: len(reading.pairs(q)))
        picked.append((f"Missed by all in the first {k}", most, names[min(1, len(names) - 1)]))
    alone = finders.index[finders == 1] if len(names) > 1 else []
    if len(alone):
        query_id = max(alone, key=lambda q: max(v[q] for v in values.values()))
        finder = found.columns[found.loc[query_id]][0]
        picked.append((f"Found in the first {k} by {finder} only", query_id, _asked(reading, finder)))
    return picked


def _asked(reading: r.Reading, finder: str) -> str:
    """A system other than the finder, one that tells why if there is one."""
    others = [s for s in reading.systems if s != finder]
    return next((s for s in others if why.kind_of(reading.runs[s])), others[0])


def still_of(reading: r.Reading, why_chosen: str, query_id: str, system: str) -> str:
    """One query: its opening, its relevant documents with ranks, and why one without a label stands above."""
    row = reading.collection.row("queries", query_id)
    return (f"<h3>{r.escape(why_chosen)}</h3>{shown.patent(row, 'Query', 45)}"
            f"{r.relevants_page(reading, query_id, 8)}{r.beaten_page(reading, query_id, system)}")
