"""Scores by what a query is: how long its text is, when it was published and by whom."""

import numpy as np
import pandas as pd

from kit.evaluation.evaluate import Evaluation, by_scope
from kit.evaluation.measures import average
from kit.evaluation.uncertainty import FEW, caution, intervals
from kit.reporting import plots, show
from kit.reporting.comparison import over
from kit.text.views import texts

PARTS = 5  # groups of a length at most, of about as many queries each
AUTHORITIES = 6  # the most frequent stand apart
COLUMNS = ["group", "n", "system", "mean", "low", "high", "remark"]
FORMATS = dict.fromkeys(("mean", "low", "high"), "{:.3f}")


def words(collection, view: str) -> pd.Series:
    """The number of words of each query's text in a view, by query id."""
    counts = [len(text.split()) for text in texts(collection, "queries", view)]
    return pd.Series(counts, pd.Index(collection.ids("queries"), name="query_id"))


def by_length(words: pd.Series) -> pd.Series:
    """The query's part by length, as an ordered category such as "101–250"; queries of one length
    stay together. The parts are about equal, and as many as have enough queries each."""
    parts = int(np.clip(len(words) // (FEW + 5), 2, PARTS))
    edges = np.unique(np.quantile(words, np.linspace(0, 1, parts + 1), method="inverted_cdf"))
    if len(edges) == 1:
        edges = np.array([edges[0], edges[0]])
    edges[0] -= 1  # the shortest belong to the first group
    names = [f"{low + 1:,}–{high:,}" if low + 1 < high else f"{high:,}"
             for low, high in zip(edges.astype(int), edges[1:].astype(int))]
    return pd.cut(words, edges, labels=names)


def by_year(collection) -> pd.Series:
    """The query's span of five publication years, of ten where there would be more than eight; one
    whose date can't be read stands under "unknown"."""
    date = collection.frame("queries", ["publication_date"])["publication_date"].fillna("")
    year = pd.to_numeric(date.str.extract(r"^(\d{4})-")[0]).set_axis(collection.ids("queries"))
    span = 5 if year.max() // 5 - year.min() // 5 < 8 else 10
    first = year // span * span
    names = {y: f"{y:.0f}–{y + span - 1:.0f}" for y in sorted(first.dropna().unique())}
    return _ordered(first.map(names), list(names.values()), "unknown")


def by_authority(collection) -> pd.Series:
    """The query's publication authority; those behind the most frequent are one group."""
    stated = collection.frame("queries", ["publication_authority"])["publication_authority"]
    stated = stated.replace("", None).set_axis(collection.ids("queries"))
    often = list(stated.value_counts().sort_index().sort_values(ascending=False, kind="stable").index)
    named = stated.where(stated.isin(often[:AUTHORITIES]) | stated.isna(), "others")
    return _ordered(named, [*often[:AUTHORITIES], *["others"] * (len(often) > AUTHORITIES)], "none stated")


def _ordered(groups: pd.Series, names: list[str], otherwise: str) -> pd.Series:
    order = list(dict.fromkeys([*names, *[otherwise] * int(groups.isna().any())]))
    return groups.astype(object).where(groups.notna(), otherwise).astype(
        pd.CategoricalDtype(order, ordered=True))


def means_by(evaluations: dict[str, Evaluation], measure: str, groups: pd.Series, seed: int) -> pd.DataFrame:
    """A measure's mean in each group of queries that has one, with its 95 % bootstrap interval.

    groups: an ordered category by query id. Columns: group, n, system, mean, low, high, and a
    remark on a group with few queries; the groups in their order, in each the systems.
    """
    rows = []
    for group in groups.cat.categories:
        for system, evaluation in evaluations.items():
            values = evaluation.values[measure]
            mine = values[(groups.reindex(values.index) == group).to_numpy()].to_numpy()[:, None]
            if len(mine):
                (low, high), = intervals(mine, np.ones_like(mine), seed)
                rows.append((group, len(mine), system, average(mine[:, 0]), low, high,
                             caution(len(mine)) or None))
    return pd.DataFrame(rows, columns=COLUMNS)


def finding(frame: pd.DataFrame, measure: str, of: str) -> str:
    """The title of a picture by group: where the first system is best and worst, of the groups with
    enough queries, and whether their intervals are apart."""
    enough = frame[(frame["n"] >= FEW) & (frame["system"] == frame["system"].iloc[0])]
    if len(enough) < 2:
        return f"Too few queries to tell whether {measure} changes with {of}"
    best, worst = enough.loc[enough["mean"].idxmax()], enough.loc[enough["mean"].idxmin()]
    said = (f"{best['mean']:.2f} ({best['group']}) and {worst['mean']:.2f} ({worst['group']})")
    if best["low"] > worst["high"]:
        return f"{measure} of {best['system']} changes with {of}: between {said}"
    return f"{measure} of {best['system']} hardly changes with {of}: between {said}, within the intervals"


def show_by_query(collection, evaluations: dict[str, Evaluation], measure: str, params) -> None:
    """A picture and a table of a measure by the query's length, its year and its authority, over all
    queries and in the scope OUT."""
    kinds = {"the length": ("words of the query's text", by_length(words(collection, params.query_view))),
             "the year": ("publication year of the query", by_year(collection)),
             "the authority": ("publication authority of the query", by_authority(collection))}
    for kind, (xlabel, groups) in kinds.items():
        frames = {scope: means_by(mine, measure, groups, params.seed)
                  for scope, mine in by_scope(evaluations).items()}
        show.picture(plots.by_group(frames, measure, finding(frames["all"], measure, kind), xlabel),
                     f"{measure} by the {xlabel}, with 95 % intervals")
        for scope, frame in frames.items():
            show.display(show.table(frame, FORMATS, f"{measure} by {kind}{over(scope)}"))
