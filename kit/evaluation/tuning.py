"""Two halves of the queries: what a choice is made on, and what its figure is reported on."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from kit.errors import KitError
from kit.evaluation.evaluate import evaluate, figures
from kit.evaluation.measures import parse_measure
from kit.relevance.splits import TIES, make_splits
from kit.retrieval.fusion import Fusion, fuse

# equal to the eye is left out: every word would be read, which takes as long as a search
TIED = tuple(kind for kind in TIES if kind != "near-equal text")
LOOSE = ("reciprocal",)  # what is kept together where all else would tie nearly all queries
LEAST = 0.25  # share of the queries that a tuning half needs
GRID = (5, 10, 20, 30, 40, 60, 80, 100, 150, 200)  # of K; 60 is Cormack's, 30 published for DAPFAM
ALIKE = 1e-12  # figures that differ by rounding alone


class Halves(NamedTuple):
    """Query identifiers, in ascending order. notes: what could not be had, a sentence each."""

    tuning: list[str]
    reporting: list[str]
    notes: list[str]


def halves(collection, seed: int = 0, among: Iterable[str] | None = None) -> Halves:
    """The queries in two halves, which depend on the seed, not on the order of any table.

    What hangs together stands in one half (`splits.TIES`, but for near-equal texts): reciprocal
    pairs, a document in common, own entries, one publication number, equal texts. A part that is
    larger than a half stands whole in the reporting half, whose figures then have the narrower
    intervals. Where that leaves less than a quarter to tune on (in DAPFAM documents that two queries
    share tie them all), only reciprocal pairs are kept together, and the notes say so: relevance is
    of a query, so that a choice among a few settings learns next to nothing from a shared document.
    among: the queries that were searched, for a sample.
    Raises KitError where a half would be empty, ParamsError for an unusable seed.
    """
    among = set(collection.ids("queries") if among is None else among)
    try:
        made = _halved(collection, seed, TIED, among)
        strict = len(made.tuning) >= LEAST * len(among)
    except KitError:  # one part, which no cut goes through; what else is wrong is raised again
        strict = False
    if not strict:
        made = _halved(collection, seed, LOOSE, among)
        made.notes.append("Nearly all queries hang together by documents or texts in common: the "
                          "halves may share some, and only reciprocal pairs stand in one half")
    empty = next((name for name in ("tuning", "reporting") if not getattr(made, name)), None)
    if empty:
        raise KitError(f"the {empty} half would have no query", collection.source,
                       "Search more queries")
    return made


def _halved(collection, seed: int, ties: tuple[str, ...], among: set[str]) -> Halves:
    made = make_splits(collection, {"reporting": 0.5, "tuning": 0.5}, seed, ties)
    table = made.table[made.table["query_id"].isin(among)]
    found = {name: table.loc[table["split"] == name, "query_id"].tolist()
             for name in ("tuning", "reporting")}
    return Halves(**found, notes=list(made.notes))


@dataclass(frozen=True)
class ChosenK:
    """K of reciprocal rank fusion as chosen. table: k, tuning (the measure on the tuning half).
    figures: the measure under that K on the reporting half, as `evaluate.figures` gives them."""

    k: int
    measure: str
    table: pd.DataFrame
    figures: pd.DataFrame

    @property
    def reported(self) -> dict:
        """The figure over all queries of the reporting half: n, mean, low, high."""
        row = self.figures[self.figures["slice"] == "all"].iloc[0]
        return row[["n", "mean", "low", "high"]].to_dict()


def chosen_k(runs: list, collection, protocol: str, measure: str, parts: Halves,
             grid: Iterable[int] = GRID, seed: int = 0) -> ChosenK:
    """The K under which the fusion of saved runs is best on the tuning half, and its figures on the
    other. Of K that are alike (to 1e-12) the lowest is taken. seed: of the intervals.

    Raises MeasureError for an unknown measure, and where a half has no relevant pair; what
    `fusion.fuse` raises; KitError for a grid without a K.
    """
    parse_measure(measure)
    grid = sorted(set(grid))
    if not grid or grid[0] < 0:
        raise KitError("a grid holds whole numbers from 0", "K", "Give such as 10, 30, 60")
    fused = {k: fuse(runs, Fusion("rrf", k)).table for k in grid}
    means = [evaluate(table, collection, protocol, [measure], parts.tuning).mean(measure)
             for table in fused.values()]
    best = next(k for k, mean in zip(grid, means) if mean >= max(means) - ALIKE)
    reported = evaluate(fused[best], collection, protocol, [measure], parts.reporting)
    return ChosenK(best, measure, pd.DataFrame({"k": grid, "tuning": means}),
                   figures(reported, seed))
