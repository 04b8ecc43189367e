"""What the audit's notebook shows: verdicts, doubts by share, rows, decisions, splits."""

from html import escape

import numpy as np
import pandas as pd
from IPython.display import display
from matplotlib.figure import Figure

from kit.errors import KitError
from kit.evaluation.decisions import effects
from kit.params import Params
from kit.relevance.audit import VERDICTS, as_frame
from kit.relevance.categories import clean_qrels, ledger_summary
from kit.relevance.checks.check import DOUBT, FACT, FAULT, Finding
from kit.relevance.decisions import decisions
from kit.relevance.protocols import offered
from kit.relevance.splits import find_ties, leakage, make_date_splits, make_splits
from kit.reporting import plots, show
from kit.retrieval.execute import retrieve, searched_ids

MOST_POSITIVES = 30
_DETAIL_FORMATS = {"share": "{:.1%}", **dict.fromkeys(("5 %", "median", "95 %"), "{:,.0f}")}
_FORMATS = {"share": "{:.1%}", "count": "{:,.0f}", "expected": "{:,.0f}"}


def verdict_table(findings: list[Finding]) -> pd.DataFrame:
    """How many checks of each group (rows) came out how (columns)."""
    frame = as_frame(findings)
    table = pd.crosstab(frame["group"], frame["verdict"]).reindex(frame["group"].unique())
    return table[[v for v in VERDICTS if v in table]].rename_axis(index="group", columns=None)


def finding_verdicts(findings: list[Finding]) -> str:
    """The title of the picture of verdicts: what must be explained before a figure is quoted."""
    bad = [f.name for f in findings if f.verdict in ("fault", "not as expected")]
    if bad:
        return f"{len(bad)} to be explained first: {', '.join(bad[:3])}{' …' if len(bad) > 3 else ''}"
    doubts_ = sum(f.verdict == "doubt" for f in findings)
    return "Nothing contradicts the layout or the registry" + (
        f"; {doubts_} doubts that the registry does not know" if doubts_ else "")


def doubts(findings: list[Finding], most: int = 16) -> pd.Series:
    """The shares of the most frequent faults and doubts, largest first."""
    odd = {f.name: f.share for f in findings if f.severity != FACT and f.count and f.share}
    return pd.Series(odd, dtype=float).sort_values(ascending=False, kind="stable").head(most)


def finding_doubts(findings: list[Finding]) -> str:
    """The title of the picture of doubts."""
    odd = doubts(findings, len(findings))
    if odd.empty:
        return "No check found anything odd"
    return f"{len(odd)} kinds of oddity occur; the most frequent: {odd.index[0]}"


def positives_table(findings: list[Finding]) -> pd.DataFrame:
    """Queries by their number of positives (rows; the last stands for all above) and protocol."""
    detail = _named(findings, "most positives of a query").found.detail
    if detail is None or detail.empty:
        return pd.DataFrame()
    detail = detail.assign(positives=detail["positives"].clip(upper=MOST_POSITIVES))
    detail = detail.groupby(["protocol", "positives"], sort=False)["queries"].sum().reset_index()
    table = detail.pivot(index="positives", columns="protocol", values="queries")
    every = range(int(detail["positives"].max()) + 1)
    columns = detail["protocol"].unique()
    return table.reindex(index=every, columns=columns).fillna(0).astype(int).rename_axis(columns=None)


def finding_positives(table: pd.DataFrame) -> str:
    """The title of the picture of positives a query."""
    if table.empty:
        return "The pairs can't be counted"
    without = {name: int(table[name].get(0, 0)) for name in table}
    return "Queries without a relevant document: " + ", ".join(
        f"{n} under {name}" for name, n in without.items())


def show_checks(findings: list[Finding]) -> None:
    """A table a group: count, share, expected, verdict and what each check says."""
    frame = as_frame(findings)
    for group, mine in frame.groupby("group", sort=False):
        show.heading(group)
        display(show.table(mine.drop(columns="group").reset_index(drop=True), _FORMATS))


def show_details(findings: list[Finding], names: list[str], most: int = 8) -> None:
    """The breakdowns of some checks."""
    for finding in (_named(findings, name) for name in names):
        detail = finding.found.detail
        show.heading(finding.name)
        show.say(finding.found.absent or finding.sentence)
        if detail is not None and len(detail):
            formats = {name: form for name, form in _DETAIL_FORMATS.items() if name in detail}
            display(show.table(detail.head(most), formats))


def show_rows(findings: list[Finding], most: int = 3) -> None:
    """The first rows of each fault and doubt that has some."""
    for finding in findings:
        rows = finding.found.rows
        if finding.severity not in (FAULT, DOUBT) or rows is None or rows.empty:
            continue
        show.heading(finding.name)
        left = f", of which {most} are shown" if len(rows) > most else ""
        show.say(f"{finding.sentence} {len(rows):,} {'row' if len(rows) == 1 else 'rows'}{left}.")
        display(show.table(rows.head(most).map(_short)))


def _named(findings: list[Finding], name: str) -> Finding:
    return next(f for f in findings if f.name == name)


def _short(value):
    """A list of relations as words."""
    if isinstance(value, (list, np.ndarray)):
        return ", ".join(f"{v.get('direction')} {v.get('category')}" if isinstance(v, dict) else str(v)
                         for v in value)
    return value


def show_ledger(collection) -> None:
    """What cleaning the pairs anew would keep, merge and remove, by reason."""
    if len(offered(collection)) == 1:
        show.say("The pairs have no categories, so there is nothing to clean.")
        return
    try:
        cleaned = clean_qrels(collection.pairs)
    except KitError as error:
        show.say(f"The pairs can't be cleaned: {error}")
        return
    table = ledger_summary(cleaned.ledger)
    display(show.table(table, {"entries": "{:,.0f}"}))
    show.say(f"{len(cleaned.ledger):,} entries make {len(cleaned.qrels):,} pairs, of "
             f"{len(collection.pairs):,} that stand in the table: every entry is accounted for.")


def decision_table(collection, findings: list[Finding], params: Params) -> pd.DataFrame:
    """`effects` of all decisions on the run of the experiment's first system; empty where the
    collection breaks its layout. Searches if there is no such run yet."""
    if collection.faults:
        return pd.DataFrame()
    run = retrieve(collection, params.systems[0], params)
    return effects(run, collection, decisions(collection, findings), params.measures,
                   searched_ids(collection, params))


def show_decisions(table: pd.DataFrame, measure: str, system: str) -> None:
    """A picture of what each decision does to one measure, and the table of all of them."""
    if table.empty:
        show.say("The collection breaks its layout: it is not searched, so there is no score to "
                 "change.")
        return
    weighed = table[table["measure"] == measure].set_index("decision")["change"]
    if len(weighed):
        show.picture(_changes(weighed, measure, system), f"Change of {measure} under each decision")
    display(show.table(_concerned(table)))
    display(show.table(_before_and_after(table)))
    for row in table[table["measure"].isna()].to_dict("records"):
        show.say(f"Not weighed: {row['decision']} ({row['absent']}).")


def _concerned(table: pd.DataFrame) -> pd.DataFrame:
    """A row a decision: what it means, its protocol, the pairs and how many queries are left."""
    once = table[table["measure"].notna()].drop_duplicates("decision")
    left = [f"{n} of {of}" for n, of in zip(once["queries left"], once["queries"])]
    return once.assign(left=left)[["decision", "sentence", "protocol", "concerned", "left"]].rename(
        columns={"sentence": "what it means", "concerned": "pairs concerned",
                 "left": "queries left"}).reset_index(drop=True)


def _before_and_after(table: pd.DataFrame) -> pd.DataFrame:
    """Measures (rows) by decision (columns): the figure as it is, and as decided."""
    weighed = table[table["measure"].notna()]
    text = [f"{a:.3f} → {b:.3f}" for a, b in zip(weighed["as it is"], weighed["decided"])]
    matrix = weighed.assign(text=text).pivot(index="measure", columns="decision", values="text")
    return matrix.loc[weighed["measure"].unique(), weighed["decision"].unique()].rename_axis(
        columns=None)


def _changes(change: pd.Series, measure: str, system: str) -> Figure:
    widest = change.abs().idxmax()
    title = f"{measure} of {system} moves most when {widest}: {change[widest]:+.3f}"
    return plots.signed_bars(change, title, f"change of {measure}")


def compared_splits(collection, seed: int) -> tuple[pd.DataFrame, list[str]]:
    """What leaks between train, dev and test in three kinds of splits (columns) by tie (rows), as
    shares of the ties; and what can't be kept apart, a sentence each."""
    found = find_ties(collection)
    shares, notes = {}, []
    for name, splits in _three_splits(collection, found, seed).items():
        if isinstance(splits, KitError):
            notes.append(f"{name}: can't be made: {splits.what}.")
            continue
        told = leakage(collection, splits, found).set_index("kind")
        ties = told.drop(index="without a split")
        shares[name] = ties["crossing"] / ties["of"].where(ties["of"] > 0)
        notes += [f"{name}: {note}." for note in getattr(splits, "notes", ())]
    return pd.DataFrame(shares).rename_axis("tie"), notes


def _three_splits(collection, found: pd.DataFrame, seed: int) -> dict:
    """{name: splits, or the error that says why there are none}."""
    makers = {
        "kept apart": lambda: make_splits(collection, seed=seed, found=found),
        "by date": lambda: make_date_splits(collection),
        "by chance": lambda: _by_chance(collection.ids("queries"), seed)}
    made = {}
    for name, make in makers.items():
        try:
            made[name] = make()
        except KitError as error:
            made[name] = error
    return made


def _by_chance(queries: pd.Series, seed: int) -> pd.Series:
    """Eight queries in ten to train, one to dev, one to test, whatever they have in common."""
    ids = queries.dropna().drop_duplicates().sort_values()
    place = np.random.default_rng(seed).permutation(len(ids)) / len(ids)
    return pd.Series(np.select([place < 0.8, place < 0.9], ["train", "dev"], "test"), index=ids)


def show_splits(collection, seed: int) -> None:
    """A picture and a table of what leaks in three kinds of splits."""
    if collection.faults:
        show.say("The collection breaks its layout: splits of it would be splits of another one.")
        return
    shares, notes = compared_splits(collection, seed)
    if len(shares.columns):
        title = _finding_splits(shares)
        show.picture(plots.bars_by_group(shares.dropna(), title, "what queries have in common", "share that crosses a border"),
                     title)
        display(show.table(shares, dict.fromkeys(shares.columns, "{:.1%}")))
    display(show.harmless("<ul>" + "".join(f"<li>{escape(note)}</li>" for note in notes) + "</ul>"))


def _finding_splits(shares: pd.DataFrame) -> str:
    worst = shares.max()
    return "; ".join(f"{name}: {'nothing leaks' if not worst[name] else f'up to {worst[name]:.0%} leaks'}"
                     for name in shares)
