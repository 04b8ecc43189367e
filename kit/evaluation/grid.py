"""A grid of settings: figures on the tuning half, the best by system and scope, and what that one has
on the reporting half. The choice never sees a query that its figure is reported on."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import pandas as pd
import pyarrow as pa

from kit.evaluation.evaluate import evaluate, figures
from kit.evaluation.tuning import ALIKE, Halves
from kit.relevance.slices import SCOPES

SCOPE_SLICES = {"ALL": "all", **{name.removeprefix("scope "): name for name in SCOPES}}
DOCUMENT = "whole document"  # in place of an aggregation
CHOSEN, UNTUNED, PLAIN = "chosen", "untuned", "whole documents"
GRID_COLUMNS = ["system", "length", "aggregation", "scope", "measure", "n", "mean"]
HELD_COLUMNS = ["system", "scope", "setting", "length", "aggregation", "measure", "n", "mean", "low",
                "high"]


class Setting(NamedTuple):
    """What is tried: a system at a passage length (tokens; 0: over whole documents) under an
    aggregation."""

    system: str
    length: int
    aggregation: str


Runs = dict[Setting, Callable[[], pa.Table]]  # read when asked for: a grid's runs are large together


def grid_figures(runs: Runs, collection, protocol: str, measures: list[str],
                 among: Iterable[str]) -> pd.DataFrame:
    """Every measure of every setting in each scope, over the queries `among`: GRID_COLUMNS, a row a
    setting, scope and measure. A scope without a query has n 0 and no mean. Raises what `evaluate`
    raises."""
    rows = []
    for setting, run in runs.items():
        evaluation = evaluate(run(), collection, protocol, measures, among)
        for scope, name in SCOPE_SLICES.items():
            part = evaluation.parts[name]
            means = evaluation.over(name).mean if part.hits is not None else lambda measure: None
            rows += [(*setting, scope, measure, len(part.values), means(measure))
                     for measure in part.values.columns]
    return pd.DataFrame(rows, columns=GRID_COLUMNS).astype({"mean": float})


def choices(grid: pd.DataFrame, measure: str) -> dict[tuple[str, str], Setting]:
    """{(system, scope): the setting of passages that is best there}. Of settings that are alike (to
    1e-12) the shortest length is taken, then the aggregation that comes first in the grid. A scope
    without a query is left out."""
    mine = grid[(grid["measure"] == measure) & (grid["n"] > 0) & (grid["length"] > 0)]
    found = {}
    for key, rows in mine.groupby(["system", "scope"], sort=False):
        best = rows[rows["mean"] >= rows["mean"].max() - ALIKE]
        row = best.sort_values("length", kind="stable").iloc[0]
        found[key] = Setting(key[0], int(row["length"]), row["aggregation"])
    return found


def held(runs: Runs, chosen: dict[tuple[str, str], Setting], untuned: tuple[int, str], collection,
         protocol: str, measures: list[str], parts: Halves, seed: int) -> pd.DataFrame:
    """What each choice has on the reporting half in its scope, with its 95 % interval, and beside it
    the untuned setting (length, aggregation) and search over whole documents: HELD_COLUMNS."""
    known: dict[Setting, pd.DataFrame] = {}
    rows = []
    for (system, scope), best in chosen.items():
        of = {CHOSEN: best, UNTUNED: Setting(system, *untuned), PLAIN: Setting(system, 0, DOCUMENT)}
        for name, setting in of.items():
            if setting not in known:
                known[setting] = figures(evaluate(runs[setting](), collection, protocol, measures,
                                                  parts.reporting), seed)
            mine = known[setting][known[setting]["slice"] == SCOPE_SLICES[scope]]
            rows += [(system, scope, name, *setting[1:], *figure) for figure in
                     mine[["measure", "n", "mean", "low", "high"]].itertuples(index=False)]
    return pd.DataFrame(rows, columns=HELD_COLUMNS)
