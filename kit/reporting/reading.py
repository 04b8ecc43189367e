"""What a reader of queries looks at: which queries are listed, and what is shown of one, as HTML.

Nothing is read that is not shown: of the queries their titles, dates and authorities, once; of a run
the rows of the query at hand; of a text the row that is opened. Every text is escaped.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from html import escape

import pandas as pd

from kit.errors import KitError
from kit.params import Params
from kit.relevance.domains import scope_domains
from kit.reporting import show, why
from kit.retrieval.bm25 import tokenize
from kit.retrieval.execute import searched_ids
from kit.text.views import VIEWS, view_of

ANY, MISSED, ONE = "any", "missed by all", "found by one"
LISTED = 200       # queries in the list
ROWS = 20          # of a ranking, and relevant documents
TERMS = 12
OPENING = 60       # words of a text before "more"
LONGEST = 20_000   # characters behind "more"
COMPARED = 1_500   # characters of a field, where two texts stand side by side
MARK = "background:#ffe39a;color:#1d242b;border-radius:2px"
GRID = "display:grid;grid-template-columns:repeat(auto-fit,minmax(18em,1fr));gap:.4em 1.2em"
_WORD = re.compile(r"\b\w\w+\b")


@dataclass(frozen=True)
class Filters:
    """What a query must be to be listed; all of it together.

    words: each stands in its id or title, in any case. slice: a standard slice under the protocol.
    category: one of its relevant documents has it. authority, years (first and last): the query's
    own. found: ANY, MISSED (no system has a relevant document in its first k) or ONE (one has).
    """

    words: str = ""
    slice: str = "all"
    category: str = ANY
    authority: str = ANY
    years: tuple[int, int] | None = None
    found: str = ANY
    k: int = 10


class Reading:
    """A collection, its runs and how they score: what the functions of this module read from.

    runs and evaluations: of the same systems, by the parameters `params`.
    """

    def __init__(self, collection, runs: list, evaluations: dict, params: Params):
        self.collection, self.params, self.evaluations = collection, params, evaluations
        self.runs = {run.system: run for run in runs}
        self.rankings = {run.system: why.ByQuery(run.table) for run in runs}
        self._rows_of = collection.pairs.groupby("query_id", sort=False).indices
        self._opened = {}

    @property
    def systems(self) -> list[str]:
        """Their names, in the experiment's order."""
        return list(self.runs)

    @cached_property
    def queries(self) -> pd.DataFrame:
        """The queries that were searched, by id: title (or the opening of its text), authority, and
        the year of publication (Int64)."""
        columns = ["query_id", "title", "text", "publication_authority", "publication_date"]
        rows = [(i, view_of([title])[:200] or view_of([(text or "")[:300]])[:120], authority, date)
                for batch in self.collection.batches("queries", columns)
                for i, title, text, authority, date in zip(*(batch[c] for c in columns))]
        frame = pd.DataFrame(rows, columns=["query_id", "title", "authority", "date"])
        frame = frame[frame["query_id"].isin(searched_ids(self.collection, self.params))]
        year = frame.pop("date").fillna("").str.extract(r"^(\d{4})-")[0]
        return frame.assign(year=pd.to_numeric(year).astype("Int64")).set_index("query_id")

    @cached_property
    def slices(self) -> dict[str, frozenset[str]]:
        """{standard slice that has a query: the ids of its queries}, without "all"."""
        parts = next(iter(self.evaluations.values())).parts if self.evaluations else {}
        return {name: frozenset(part.hits.query_ids) for name, part in parts.items()
                if part.hits is not None and name != "all"}

    @cached_property
    def categories(self) -> dict[str, frozenset[str]]:
        """{category: the ids of the queries that have a pair of it}."""
        by = self.collection.pairs.dropna(subset=["category"]).groupby("category")["query_id"]
        return {name: frozenset(ids) for name, ids in by}

    def found(self, k: int) -> pd.DataFrame:
        """Whether each system has a relevant document in its first k: queries × systems, of the
        queries that have one under the protocol."""
        return pd.DataFrame({name: pd.Series(e.hits.hits[:, :k].any(axis=1), index=e.hits.query_ids)
                             for name, e in self.evaluations.items()})

    def pairs(self, query_id: str) -> pd.DataFrame:
        """A query's rows of the qrels, whatever the protocol."""
        return self.collection.pairs.iloc[self._rows_of.get(query_id, [])]

    def ranking(self, system: str, query_id: str) -> pd.DataFrame:
        """A query's rows of a run, best first."""
        return self.rankings[system].of(query_id)

    def title(self, doc_id: str) -> str:
        """A document's title."""
        return view_of([self.collection.row("corpus", doc_id)["title"]]) or "(no title)"

    def text(self, system: str, query_id: str) -> str:
        """A query as a system read it."""
        return why.text_of_row(self.runs[system], "queries", self.collection.row("queries", query_id))

    def weights(self, system: str) -> why.Weights:
        """A BM25 run's weights, opened when they are first asked for."""
        return self._once(system, lambda: why.open_weights(
            self.collection, self.runs[system], self.params.outputs))

    def model(self, system: str):
        """An embedding run's model, loaded when it is first asked for."""
        return self._once(system, lambda: why.open_model(self.runs[system], self.params))

    def _once(self, system: str, opened: Callable):
        if system not in self._opened:
            self._opened[system] = opened()
        return self._opened[system]


# --- which queries --------------------------------------------------------------------------------

def chosen(reading: Reading, filters: Filters) -> list[str]:
    """The ids of the queries that fit, in the table's order."""
    frame = reading.queries
    keep = pd.Series(True, index=frame.index)
    for members in (reading.slices.get(filters.slice) if filters.slice != "all" else None,
                    reading.categories.get(filters.category) if filters.category != ANY else None,
                    found_so(reading, filters) if filters.found != ANY else None):
        if members is not None:
            keep &= frame.index.isin(members)
    if filters.authority != ANY:
        keep &= (frame["authority"] == filters.authority).to_numpy()
    if filters.years:
        keep &= frame["year"].between(*filters.years).fillna(False).to_numpy(bool)
    for word in filters.words[:200].lower().split():
        text = frame.index.str.lower() + " " + frame["title"].str.lower()
        keep &= text.str.contains(word, regex=False).to_numpy(bool)
    return list(frame.index[keep])


def found_so(reading: Reading, filters: Filters) -> frozenset[str]:
    """The queries that are missed by all, or found by one, within the first k."""
    systems = reading.found(filters.k).sum(axis=1)
    return frozenset(systems.index[systems == (0 if filters.found == MISSED else 1)])


def listed(reading: Reading, query_ids: list[str]) -> list[tuple[str, str]]:
    """(label, id) of the first queries, for a list."""
    titles = reading.queries["title"]
    return [(f"{q} · {titles[q][:90]}", q) for q in query_ids[:LISTED]]


def documents(reading: Reading, query_id: str, system: str,
              also: str | None = None) -> list[tuple[str, str]]:
    """(label, id) of the documents that one may ask about: the first of a ranking, then the relevant
    ones that are not among them; `also` in any case."""
    rows, label = reading.ranking(system, query_id), labels(reading, query_id)
    rank = dict(zip(rows["doc_id"], rows["rank"]))
    first = list(rank)[:ROWS]
    rest = [d for d in label if d not in first][:ROWS]
    found = dict.fromkeys([*first, *rest, *([also] if also is not None else [])])
    return [(" · ".join(filter(None, (f"rank {rank[d]}" if d in rank else "not returned", d, label.get(d),
                                      reading.title(d)[:70]))), d) for d in found]


def labels(reading: Reading, query_id: str) -> dict[str, str]:
    """{relevant document: what the qrels say of it}, such as "relevant, XY"."""
    pairs = reading.pairs(query_id)
    return {d: f"relevant, {c}" if c else "relevant" for d, c in zip(pairs["doc_id"], pairs["category"])}


# --- what is shown of one -------------------------------------------------------------------------

def query_page(reading: Reading, query_id: str) -> str:
    """A query's facts and all its texts, the long ones behind "more"."""
    row, found = reading.collection.row("queries", query_id), reading.found(10)
    finders = [name for name, yes in found.loc[query_id].items() if yes] if query_id in found.index else None
    facts = [query_id, row["source_xpn"], row["publication_authority"], row["publication_date"],
             ", ".join(row.get("cpc") or row["ipc"] or []),
             "slices: " + (", ".join(n for n, ids in reading.slices.items() if query_id in ids) or "none"),
             "no relevant document counts under this protocol" if finders is None else
             f"found in the first 10 by {', '.join(finders) or 'nobody'}"]
    names = dict.fromkeys([*VIEWS[reading.params.query_view], *(f for v in VIEWS.values() for f in v)])
    texts = [(name, view_of([row.get(name)])) for name in names if name != "title"]
    return _card(" · ".join(f for f in facts if f), view_of([row["title"]]) or "(no title)",
                 "".join(f"<p><b>{_named(name)}.</b> {_opening(text)}</p>" for name, text in texts if text))


def relevants_page(reading: Reading, query_id: str, most: int = ROWS) -> str:
    """A query's relevant documents, with category and direction, and their ranks everywhere."""
    pairs = reading.pairs(query_id)
    if pairs.empty:
        return "<p>The labels name no relevant document.</p>"
    frame = why.relevant_ranks(pairs, {s: reading.ranking(s, query_id) for s in reading.systems})
    shown = frame.head(most).copy()
    scopes = [scope_domains(reading.collection).get((query_id, d), ("",))[0] for d in shown["document"]]
    shown.insert(3, "scope", [s if s in ("IN", "OUT") else "" for s in scopes])
    shown["title"] = [reading.title(d) for d in shown["document"]]
    depth = next(iter(reading.runs.values())).manifest["depth"]
    return (_table(_without_empty(shown, ["category", "direction", "scope"]))
            + _more(len(frame), most, "relevant documents")
            + f"<p style='{show.SMALL}'>Under each system: the rank; — is beyond the first {depth}.</p>")


def ranking_page(reading: Reading, query_id: str, system: str, most: int = ROWS) -> str:
    """The top of a system's ranking, hits marked."""
    rows, label = reading.ranking(system, query_id), labels(reading, query_id)
    top = rows.head(most)
    frame = pd.DataFrame({"rank": top["rank"], "score": [f"{s:.3f}" for s in top["score"]],
                          "document": top["doc_id"], "label": [_hit(label, d) for d in top["doc_id"]],
                          "title": [reading.title(d) for d in top["doc_id"]]})
    hits = int(rows["doc_id"].isin(label).sum())
    return (f"<p>{escape(system)} returns {len(rows)} documents, {hits} of {len(label)} relevant ones among "
            f"them.</p>" + _table(frame.reset_index(drop=True))
            + _more(len(rows), most, "documents"))


def beside_page(reading: Reading, query_id: str, one: str, other: str, most: int = ROWS) -> str:
    """The ranks of the first documents of two systems, side by side."""
    label, tops = labels(reading, query_id), []
    for system in (one, other):
        rows = reading.ranking(system, query_id)
        tops.append(dict(zip(rows["doc_id"], rows["rank"])))
    best = {d: min(t.get(d, len(t) + len(tops[0]) + 1) for t in tops) for d in {**tops[0], **tops[1]}}
    docs = sorted((d for d in best if best[d] <= most or d in label), key=lambda d: (best[d], d))
    shown = docs[:2 * most]
    names = [one, other if other != one else f"{other} again"]
    frame = pd.DataFrame({
        **{n: pd.array([t.get(d) for d in shown], "Int64") for n, t in zip(names, tops)},
        "document": shown, "label": [_hit(label, d) for d in shown],
        "title": [reading.title(d) for d in shown]})
    both = len(set(tops[0]) & set(tops[1]))
    return (f"<p>Of {len(tops[0])} and {len(tops[1])} documents, {both} are in both rankings.</p>"
            + _table(frame) + _more(len(docs), 2 * most, "documents"))


def texts_page(reading: Reading, query_id: str, doc_id: str) -> str:
    """A query's and a document's texts, field beside field, the words that stand in both marked."""
    query, document = reading.collection.row("queries", query_id), reading.collection.row("corpus", doc_id)
    shared = shared_words(reading, query, document)
    rows = []
    for name in ("title", "abstract", "claims", "description", "text"):
        pair = [view_of([row.get(name)]) for row in (query, document)]
        if any(pair):
            cells = "".join(f"<div>{_marked(text, shared)}</div>" for text in pair)
            rows.append(f"<p style='margin:.8em 0 .2em'><b>{_named(name)}</b></p>"
                        f"<div style='display:grid;grid-template-columns:1fr 1fr;gap:1.2em'>{cells}</div>")
    return (f"<p>Left the query {escape(query_id)}, right the document {escape(doc_id)}. Words that stand "
            f"in both are <mark style='{MARK}'>marked</mark>, the commonest aside: {len(shared)} of them.</p>"
            + "".join(rows))


def shared_words(reading: Reading, query: dict, document: dict) -> set[str]:
    """The words (lower case) of both rows' titles, abstracts, claims and texts, without those in more
    than a tenth of the corpus; where there is no BM25 run to tell, without those of three letters."""
    fields = (*VIEWS["tac"], "text")
    one, other = (set(tokenize(view_of(row.get(f) for f in fields))) for row in (query, document))
    shared = one & other
    counted = next((s for s, run in reading.runs.items() if why.kind_of(run) == "terms"), None)
    if counted is None:
        return {word for word in shared if len(word) > 3}
    return shared - why.common_words(reading.weights(counted), sorted(shared))


# --- why ------------------------------------------------------------------------------------------

def why_page(reading: Reading, query_id: str, system: str, doc_id: str) -> str:
    """What made a document's score under a system, as far as it can be told."""
    rows, label = reading.ranking(system, query_id), labels(reading, query_id)
    mine = rows[rows["doc_id"] == doc_id]
    stands = f"{system} does not return {doc_id} among its {len(rows)} documents"
    if len(mine):
        rank, score = mine["rank"].iloc[0], mine["score"].iloc[0]
        stands = f"{system} returns {doc_id} at rank {rank} with the score {score:.4f}"
    head = (f"<p><b>{escape(stands)}</b> ({escape(label.get(doc_id, 'not labelled'))}): "
            f"{escape(reading.title(doc_id))}</p>")
    try:
        return head + _WHY[why.kind_of(reading.runs[system])](reading, query_id, system, doc_id, rows)
    except KitError as error:
        return head + show.note_box(str(error))


def _why_terms(reading: Reading, query_id: str, system: str, doc_id: str, _) -> str:
    weights, text = reading.weights(system), reading.text(system, query_id)
    shares, lacks = why.bm25_shares(weights, text, doc_id), why.bm25_lacking(weights, text, doc_id)
    score = why.score_of(shares)
    top = shares.sort_values("share", ascending=False, kind="stable", ignore_index=True)
    top["of the score"] = top["share"] / (float(score) or 1.0)
    lacking = lacks.head(TERMS // 2)
    return (f"<p>{len(shares)} terms stand in both; in query × idf × gain is a term's share, and the "
            f"shares add up to {score:.4f}.</p>"
            + _table(top.head(TERMS), {"idf": "{:.2f}", "gain": "{:.3f}", "share": "{:.3f}",
                                        "of the score": "{:.1%}"})
            + _more(len(top), TERMS, "terms") + "<p>The query's heaviest terms that the document lacks, with "
            "what a share is a part of (in query × idf):</p>" + _table(lacking, {"weight": "{:.2f}"}))


def _why_nearest(reading: Reading, query_id: str, system: str, doc_id: str, _, most: int = 3) -> str:
    near = _nearest(reading, query_id, system, doc_id, most)
    return (f"<p>{escape(nearest_sentence(near))}</p>"
            + "".join(_passage_card(row) for row in near.passages.to_dict("records")))


def _nearest(reading: Reading, query_id: str, system: str, doc_id: str, most: int) -> why.Nearest:
    fields = why.fields_of_row(reading.runs[system], reading.collection.row("corpus", doc_id))
    return why.nearest_passages(reading.model(system), reading.text(system, query_id), fields, most)


def nearest_sentence(near: why.Nearest) -> str:
    """What the nearest passages are and are not, with how much of the texts the model read."""
    (q, of_q), (d, of_d) = near.query_read, near.document_read
    left = f", the last {near.left:,} characters aside" if near.left else ""
    return (f"The score is one cosine of two texts, {near.score:.4f}; the model read the first {q:,} of "
            f"{of_q:,} characters of the query and {d:,} of {of_d:,} of the document. It has no parts; "
            "beside it stand the passages nearest to the query, which are no part of it, of "
            f"{near.of} that were encoded by themselves now{left}.")


def _passage_card(row: dict) -> str:
    read = {"whole": "read for the score", "partly": "read in part for the score",
            "no": "behind what the model read for the score"}[row["read"]]
    said = f"passage {row['passage'] + 1}, cosine {row['cosine']:.3f}, {read}"
    return _card(said, "", f"<p>{_lines(row['text'])}</p>")


def _why_passage(reading: Reading, query_id: str, system: str, doc_id: str, rows: pd.DataFrame) -> str:
    document = reading.collection.row("corpus", doc_id)
    found = why.scored_passage(reading.runs[system], rows, document)
    if found is None:
        return "<p>A run of passages says where a document scored only for those that it returns.</p>"
    words = shared_words(reading, reading.collection.row("queries", query_id), document)
    said = (f"its passage {found['passage'] + 1}, characters {found['start']:,} to {found['end']:,}, "
            "scored best")
    return _card(said, "", f"<p>{_marked(found['text'], words, LONGEST)}</p>")


def _why_not(reading: Reading, query_id: str, system: str, doc_id: str, _) -> str:
    ranks = []
    for name in reading.systems:
        rows = reading.ranking(name, query_id)
        ranks += [f"{name} {rank}" for rank in rows.loc[rows["doc_id"] == doc_id, "rank"] if name != system]
    return (f"<p>{escape(system)} gives a ranking and no reasons. The document's rank under the others: "
            f"{escape(', '.join(ranks)) or 'none returns it'}.</p>")


_WHY = {"terms": _why_terms, "nearest": _why_nearest, "passage": _why_passage, "": _why_not}


# --- one against another --------------------------------------------------------------------------

def beaten(reading: Reading, query_id: str, system: str) -> tuple[str, str] | None:
    """(the first document of a ranking that no label names, the relevant one that stands best behind
    it, or that is not returned); None where no relevant document was beaten."""
    rows, label = reading.ranking(system, query_id), labels(reading, query_id)
    wrong = rows[~rows["doc_id"].isin(label)]
    if wrong.empty or not label:
        return None
    behind = rows[rows["doc_id"].isin(label) & (rows["rank"] > wrong["rank"].iloc[0])]
    gone = [d for d in label if d not in set(rows["doc_id"])]
    right = behind["doc_id"].iloc[0] if len(behind) else gone[0] if gone else None
    return (wrong["doc_id"].iloc[0], right) if right else None


def beaten_page(reading: Reading, query_id: str, system: str) -> str:
    """Why the first document of a ranking that no label names stands above a relevant one."""
    pair = beaten(reading, query_id, system)
    if pair is None:
        return f"<p>Under {escape(system)} no relevant document stands behind one without a label.</p>"
    rows = reading.ranking(system, query_id)
    rank = dict(zip(rows["doc_id"], rows["rank"]))
    wrong, right = pair
    where = f"rank {rank[right]}" if right in rank else f"not among the first {len(rows)}"
    one, other = (f"{escape(d)} ({escape(reading.title(d))})" for d in pair)
    head = (f"<p>Under <b>{escape(system)}</b> {one}, which no label names, stands at rank {rank[wrong]}; "
            f"the relevant {other} is {where}.</p>")
    try:
        return head + _against(reading, query_id, system, wrong, right, rows)
    except KitError as error:
        return head + show.note_box(str(error))


def _against(reading, query_id, system, wrong, right, rows) -> str:
    kind = why.kind_of(reading.runs[system])
    if kind == "terms":
        frame = why.bm25_difference(reading.weights(system), reading.text(system, query_id), wrong, right)
        frame.columns = ["term", "in query", "documents", "in unlabelled", "in relevant",
                         "share unlabelled", "share relevant", "difference"]
        one, other = frame["share unlabelled"].sum(), frame["share relevant"].sum()
        return (f"<p>Their scores are {one:.2f} and {other:.2f}; the rows below add up to the difference.</p>"
                + _table(_shortened(frame), {"share unlabelled": "{:.2f}", "share relevant": "{:.2f}",
                                             "difference": "{:+.2f}"}))
    if kind == "nearest":
        cards = []
        for doc in (wrong, right):
            near = _nearest(reading, query_id, system, doc, 1)
            read, size = near.document_read
            cards.append(f"<div><b>{escape(doc)}</b>: cosine {near.score:.3f}; the model read the first "
                         f"{read:,} of {size:,} characters. Its passage nearest to the query:"
                         + _passage_card(near.passages.to_dict("records")[0]) + "</div>")
        read, size = near.query_read
        return (f"<div style='{GRID}'>{''.join(cards)}</div><p style='{show.SMALL}'>A passage is encoded by "
                "itself: it stands beside the score, which is one cosine of two texts and has no parts. Of "
                f"the query the model read the first {read:,} of {size:,} characters.</p>")
    parts = [f"<div><b>{escape(doc)}</b>{_WHY[kind](reading, query_id, system, doc, rows)}</div>"
             for doc in (wrong, right)]
    return f"<div style='{GRID}'>{''.join(parts)}</div>"


def _shortened(frame: pd.DataFrame, most: int = 5, least: int = 3) -> pd.DataFrame:
    """The terms with the largest differences either way, and the sum of the rest, so that it adds up."""
    if len(frame) <= most + least + 1:
        return frame
    shares = list(frame.columns[-3:])
    rest = frame.iloc[most:len(frame) - least]
    row = {"term": f"({len(rest)} other terms)", **rest[shares].sum()}
    return pd.concat([frame.head(most), pd.DataFrame([row]), frame.tail(least)], ignore_index=True).reindex(
        columns=frame.columns).astype(dict.fromkeys(frame.columns[1:-3], "Int64"))


# --- pieces ---------------------------------------------------------------------------------------

def _card(small: str, title: str, body: str) -> str:
    """body: HTML; the others are escaped."""
    head = f"<p style='margin:.3em 0;font-weight:bold'>{escape(title)}</p>" if title else ""
    return f'<div style="{show.CARD}"><div style="{show.SMALL}">{escape(small)}</div>{head}{body}</div>'


def _opening(text: str) -> str:
    """The first words of a text, the rest behind "more", and no more than a page can bear."""
    words = text.split(" ")
    if len(words) <= OPENING + 10:
        return _lines(text)
    first, rest = " ".join(words[:OPENING]), " ".join(words[OPENING:])
    left = f" … and {len(rest) - LONGEST:,} characters more" if len(rest) > LONGEST else ""
    return (f"{_lines(first)} <details style='display:inline'><summary style='cursor:pointer'>more</summary>"
            f"{_lines(rest[:LONGEST])}{left}</details>")


def _marked(text: str, words: set[str], most: int = COMPARED) -> str:
    """A text's beginning, escaped, with these words (lower case) marked."""
    shown, parts, place = text[:most], [], 0
    for match in _WORD.finditer(shown):
        if match[0].lower() in words:
            parts += [_lines(shown[place:match.start()]), f"<mark style='{MARK}'>{escape(match[0])}</mark>"]
            place = match.end()
    left = f" … <i>{len(text) - most:,} characters more</i>" if len(text) > most else ""
    return "".join([*parts, _lines(shown[place:])]) + left


def _lines(text: str) -> str:
    return escape(text).replace("\n", "<br>")


def _named(field: str) -> str:
    plain = field.replace("_", " ")
    return f"{plain[3:]} (a model's)".capitalize() if plain.startswith("ai ") else plain.capitalize()


def _hit(label: dict[str, str], doc_id: str) -> str:
    return f"● {label[doc_id]}" if doc_id in label else ""


def _table(frame: pd.DataFrame, formats: dict | None = None) -> str:
    """A table in which hits are bold, identifiers stay on one line, and titles keep some width;
    JupyterLab would set texts to the right."""
    html = re.sub(r"<td>(●[^<]*)</td>", r"<td><b>\1</b></td>", show.table(frame, formats).data)
    for cell, style in ((r"([^<]{31,})", "min-width:14em"), (r"([^<\s]{1,30})", "white-space:nowrap")):
        html = re.sub(f"<td>{cell}</td>", rf'<td style="text-align:left;{style}">\1</td>', html)
    return re.sub(r"<(t[dh])>", r'<\1 style="text-align:left">', html)


def _more(of: int, most: int, what: str) -> str:
    return f"<p>and {of - most:,} more {what}</p>" if of > most else ""


def _without_empty(frame: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """The frame without those of the columns that say nothing."""
    return frame.drop(columns=[c for c in columns if c in frame and not frame[c].astype(bool).any()])
