"""What a notebook shows: tables, facts and patents as HTML, with every text escaped."""

import os
import re
from html import escape
from pathlib import Path

import pandas as pd
import pyarrow.compute as pc
from IPython.display import HTML, display

from kit.files import digest_of, safe_name, written_whole
from kit.reporting import plots
from kit.reporting.rules import labels_of
from kit.text.views import view_of
from kit.visible import visible

FIGURES = "KIT_FIGURES"  # names a folder that gets every picture as SVG and PNG
MANY = 12  # rows: a longer table of a picture's data is folded up

CARD = ("border:1px solid #ccd3da;border-radius:6px;padding:.6em .9em;margin:.4em 0;"
        "max-width:46em;line-height:1.4")
SMALL = "color:#5b6770;font-size:.9em"


_mark = ""  # what stands below every picture of this notebook


def mark_pictures(collection, runs: list = ()) -> None:
    """From here on every picture bears the labels that a scorecard of these runs would have, but for
    those that hang on the state of the code and the ledger; so does one that is copied elsewhere."""
    global _mark
    bare = {"sample": None, "status": "complete", **dict.fromkeys(("git", "run_git"), {"dirty": False})}
    cards = [run.manifest for run in runs] or [{}]
    labels = [label for card in cards for label in labels_of(
        {**bare, **{k: card[k] for k in ("sample", "status") if k in card},
         "generation": collection.generation}, 1, collection.note)]
    _mark = f"{', '.join(dict.fromkeys(labels))}: not to be quoted" if labels else ""


def picture(figure, alt: str) -> None:
    """Shows a figure as PNG; `alt` says in words what it shows.

    Where KIT_FIGURES names a folder it is written there too, as SVG and PNG, under a name that is
    made of `alt` alone.
    """
    alt, image = visible(alt), plots.drawn(figure, "png", _mark)
    display({"image/png": image, "text/plain": alt}, raw=True, metadata={"image/png": {"alt": alt}})
    if folder := os.environ.get(FIGURES):
        name = f"{safe_name(alt, 'picture')[:60]}-{digest_of(alt)[:6]}"  # two may begin alike
        for kind, made in (("png", image), ("svg", plots.drawn(figure, "svg"))):
            with written_whole(Path(folder) / f"{name}.{kind}") as part:
                part.write_bytes(made)


def harmless(markup: str) -> HTML:
    """Markup whose texts are escaped, as HTML in which no sign acts: none turns the direction of
    writing, and none begins a formula, which JupyterLab would typeset."""
    return HTML(_FORMULA.sub(r"<span>\g<0></span>", visible(markup)))


_FORMULA = re.compile(r"[$\\]")


def data(frame: pd.DataFrame, formats: dict | None = None) -> HTML:
    """A picture's data as a table; a long one is folded up until it is asked for."""
    whole = table(frame, formats)
    return whole if len(frame) <= MANY else HTML(
        f"<details><summary>The picture's data, {len(frame)} rows</summary>{whole.data}</details>")


def table(frame: pd.DataFrame, formats: dict | None = None, caption: str = "") -> HTML:
    """A frame as an HTML table. formats: {column: format string}, such as "{:.1%}"."""
    if frame.empty:
        return HTML("<p>There is nothing to list.</p>")
    text = frame.copy().astype(object)
    for name, form in (formats or {}).items():
        text[name] = [_formatted(form, v) for v in frame[name]]
    text = text.map(_plain)
    named = frame.index.name is not None or not isinstance(frame.index, pd.RangeIndex)
    text = text.rename_axis(index=None, columns=frame.index.name)  # one header row, not two
    html = text.to_html(index=named, border=0, classes="kit-table", justify="left")
    if caption:
        html = html.replace("<thead>", f"<caption>{escape(caption)}</caption><thead>", 1)
    return harmless(html)


def _formatted(form: str, value) -> str:
    text = "—" if pd.isna(value) else form.format(value)
    return text.replace("-", "").replace("+", "") if _ZERO.fullmatch(text) else text


_ZERO = re.compile(r"[+-]0\.?0*")


def _plain(value) -> str:
    if isinstance(value, float):
        return "—" if pd.isna(value) else f"{value:.3f}".rstrip("0").rstrip(".")
    text = "—" if value is None or value is pd.NA else str(value)
    return text.replace(" ", "\N{NO-BREAK SPACE}") if len(text) < 16 else text


def facts(values: dict, note: str = "") -> HTML:
    """Names and values as a two-column table, with a note on top."""
    rows = "".join(f'<tr><th scope="row" style="text-align:left">{escape(str(k))}</th>'
                   f'<td style="text-align:left">{escape(str(v))}</td></tr>' for k, v in values.items())
    return harmless((note_box(note) if note else "") + f'<table class="kit-table">{rows}</table>')


def say(text: str) -> None:
    """Shows one sentence."""
    display(harmless(f"<p>{escape(text)}</p>"))


def heading(text: str) -> None:
    """Shows a small heading, such as a system's name."""
    display(harmless(f"<h3>{escape(text)}</h3>"))


def note_box(text: str) -> str:
    """A sentence that must not be overlooked."""
    return (f'<p class="kit-note" style="border-left:4px solid #d9822b;padding:.4em .8em;'
            f'background:#fff6ea;color:#333b43;max-width:46em">{escape(text)}</p>')


def collection_facts(collection, params=None) -> HTML:
    """Where a collection is from, under which licence, and whether its data is pinned; with the
    parameters, also what was searched and how it is scored."""
    entry = collection.entry
    n = len(collection.ids("queries"))
    sample = params.sample if params and params.sample and params.sample < n else None
    searched = {} if params is None else {
        "protocol": params.protocol, "depth": f"{params.depth} documents a query",
        "queries": f"{sample} of {n}, a sample: figures on it can't be quoted" if sample else f"all {n}"}
    return facts({
        "collection": collection.source, "environment": collection.environment,
        "licence": entry.licence if entry else "not stated: look at the source",
        "attribution": entry.attribution if entry else "not stated",
        "generation": collection.generation or "not pinned: figures on it can't be quoted",
        "fingerprint": collection.fingerprints["together"], **searched,
    }, collection.note)


def patent(row: dict, heading: str, words: int = 70) -> str:
    """One patent as a card: what it is, its title, and the opening of its abstract and claims."""
    identifier = row.get("query_id") or row.get("doc_id")
    title = escape(view_of([row["title"]])) or "(no title)"
    classes = row.get("cpc") or row["ipc"] or []
    facts_ = [identifier, row["source_xpn"], row["publication_date"], ", ".join(classes)]
    body = "".join(f"<p><b>{name.capitalize()}.</b> {escape(_opening(row[name], words))}</p>"
                   for name in ("text", "abstract", "claims") if row.get(name))
    return (f'<div style="{CARD}"><div style="{SMALL}">{escape(heading)} · '
            f'{escape(" · ".join(str(f) for f in facts_ if f))}</div>'
            f"<p style='margin:.3em 0;font-weight:bold'>{title}</p>{body}</div>")


def _opening(text: str, words: int) -> str:
    parts = view_of([text]).split()
    return " ".join(parts[:words]) + (" …" if len(parts) > words else "")


def query_with_relevants(collection, query_id: str, most: int = 4) -> HTML:
    """A query's card and, below, those of its relevant documents with category and direction."""
    pairs = collection.pairs[collection.pairs["query_id"] == query_id]
    cards = [patent(collection.row("queries", query_id), "Query")]
    for row in pairs.head(most).to_dict("records"):
        directions = " and ".join(sorted({r["direction"] for r in row["source_relations"] or []}))
        label = ["Relevant", row["category"] or "no category", *filter(None, [directions])]
        cards.append(patent(collection.row("corpus", row["doc_id"]), " · ".join(label), 45))
    left = len(pairs) - most
    more = f"<p>and {left} more relevant documents</p>" if most and left > 0 else ""
    grid = "display:grid;grid-template-columns:repeat(auto-fit,minmax(20em,1fr));gap:.6em"
    return harmless(f"{cards[0]}<div style='{grid}'>{''.join(cards[1:])}</div>{more}")


def ranking(collection, run: pd.DataFrame, relevant: set[str], most: int = 8) -> HTML:
    """The top of one query's ranking with titles; hits are marked in words and weight."""
    rows = []
    for row in run.head(most).to_dict("records"):
        title = view_of([collection.row("corpus", row["doc_id"])["title"]])
        rows.append({"rank": row["rank"], "score": f"{row['score']:.3f}", "document": row["doc_id"],
                     "relevant": "yes" if row["doc_id"] in relevant else "", "title": title})
    return table(pd.DataFrame(rows, columns=["rank", "score", "document", "relevant", "title"]))


_COUNTS = {"own_entries_excluded": "own entries excluded",
           "own_entries_in_the_file": "own entries that the file held", "empty_rankings": "empty rankings",
           "ties_at_the_cut": "ties at the cut", "query_texts_cut": "queries cut by the model",
           "corpus_texts_cut": "documents cut by the model", "passages": "passages",
           "passages_cut": "passages cut by the model",
           "pairs": "pairs that were reranked", "pairs_cut": "pairs cut by the cross-encoder",
           "passages_not_scored": "rows of a document that stands higher, not scored",
           "unknown_queries": "unknown queries left out",
           "queries_that_a_run_lacks": "queries that a fused run lacks",
           "rank_disagrees": "rows ranked otherwise by the file"}


def run_table(runs: list) -> pd.DataFrame:
    """A column a run: what was searched and the counts that a reader must know."""
    columns = {}
    for run in runs:
        m = run.manifest
        counts = {**m, **m["notes"]}
        columns[run.system] = {
            "rows": len(run.table), "depth": m["depth"], "documents": m["corpus_size"],
            "queries": m["sample"]["size"] if m["sample"] else m["queries"],
            **{label: _counted(counts, name) for name, label in _COUNTS.items()},
            "failed queries": len(m["failures"]), "status": m["status"]}
    frame = pd.DataFrame(columns, dtype=object)
    return frame[frame.notna().any(axis=1)]


def _counted(counts: dict, name: str):
    """A count; of texts that were cut, also of how many and as a share."""
    of = counts.get(name.removesuffix("_cut")) if name.endswith("_cut") and name in counts else None
    return f"{counts[name]} of {of} ({counts[name] / of:.0%})" if of else counts.get(name)


def settings_table(runs: list) -> pd.DataFrame:
    """A column a run: version, views and settings."""
    columns = {}
    for run in runs:
        m = run.manifest
        views = {f"{role} view": v["view"] for role, v in (m["views"] or {}).items()}
        settings = {k: v["name"] if isinstance(v, dict) else v
                    for k, v in m["system"]["settings"].items() if k != "device"}
        columns[run.system] = {"version": m["system"]["version"], **views,
                               **{k.replace("_", " "): v for k, v in settings.items()}}
    return pd.DataFrame(columns, dtype=object).map(lambda v: None if v == "" else v)


def failures(runs: list, most: int = 20) -> HTML:
    """The queries that a system failed on, each with how, and those it found nothing for."""
    rows = []
    for run in runs:
        found = [(f["query_id"], f["fault"]) for f in run.manifest["failures"]]
        found += [(query_id, "an empty ranking") for query_id in run.manifest["empty_queries"]]
        rows += [{"system": run.system, "query": q, "what it gave": fault} for q, fault in found]
    if not rows:
        return HTML("<p>Every system answered every query.</p>")
    places = ", ".join(f"{run.folder.name}/manifest.json" for run in runs
                       if run.manifest["failures"] or run.manifest["empty_queries"])
    left = f"{len(rows) - most} more stand in {places}. " if len(rows) > most else ""
    failed = any(run.manifest["failures"] for run in runs)
    again = ("A run with failed queries can't be quoted. It is kept as it is: to search again, "
             "delete its folder below outputs/runs.") if failed else ""
    kinds = pd.DataFrame(rows).groupby(["system", "what it gave"], sort=False).size()
    counted = kinds.rename("queries").reset_index()
    return HTML(table(counted.head(most)).data + table(pd.DataFrame(rows[:most])).data
                + harmless(f"<p>{escape(left)}{again}</p>").data)


def cost_table(runs: list) -> pd.DataFrame:
    """A row a run: seconds and memory as they were when it was made, and on which device."""
    rows = {run.system: {**{name.replace("_", " "): run.manifest["cost"].get(name) for name in (
        "preprocessing_seconds", "index_seconds", "search_seconds", "peak_memory_mb")},
                         "device": run.manifest["system"]["settings"].get("device", "cpu")}
            for run in runs}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("system")


def passages(collection, runs: list, query_id: str) -> HTML:
    """For one query, from each run of passages: the text of the passage that put its first relevant
    document where it stands, or its first document where it found none; and the query's own."""
    pairs = collection.pairs
    relevant = set(pairs.loc[pairs["query_id"] == query_id, "doc_id"])
    cards = [_passage(collection, run, query_id, relevant) for run in runs
             if "passage" in run.table.column_names]
    if not cards:
        return HTML("<p>No system searched passages.</p>")
    return harmless(patent(collection.row("queries", query_id), "Query") + "".join(cards))


def _passage(collection, run, query_id: str, relevant: set[str]) -> str:
    """A card with the passage of a run's hit, cut from the view that was searched."""
    rows = run.table.filter(pc.equal(run.table["query_id"], query_id)).to_pylist()
    if not rows:
        return f"<p>{escape(run.system)} found nothing.</p>"
    hit = next((row for row in rows if row["doc_id"] in relevant), rows[0])
    row = collection.row("corpus", hit["doc_id"])
    text = view_of(row.get(name) for name in run.manifest["views"]["corpus"]["fields"])
    kind = "relevant" if hit["doc_id"] in relevant else "not labelled"
    what = (f"{run.system}: {hit['doc_id']}, {kind}, at rank {hit['rank']} by its passage "
            f"{hit['passage'] + 1}, characters {hit['start']:,} to {hit['end']:,} of {len(text):,}")
    title = view_of([row["title"]]) or "(no title)"
    found = escape(text[hit["start"]:hit["end"]]).replace("\n", "<br>")
    return (f'<div style="{CARD}"><div style="{SMALL}">{escape(what)}</div>'
            f"<p style='margin:.3em 0;font-weight:bold'>{escape(title)}</p><p>{found}</p></div>")


def rankings(collection, runs: list, query_id: str, most: int = 8) -> HTML:
    """The top of each system's ranking for one query."""
    pairs = collection.pairs
    relevant = set(pairs.loc[pairs["query_id"] == query_id, "doc_id"])
    parts = []
    for run in runs:
        frame = run.table.filter(pc.equal(run.table["query_id"], query_id)).to_pandas()
        parts += [harmless(f"<h3>{escape(run.system)}</h3>").data,
                  ranking(collection, frame, relevant, most).data]
    return HTML("".join(parts))
