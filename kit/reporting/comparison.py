"""Systems side by side, under one set of conditions or not at all."""

from itertools import combinations

import numpy as np
import pandas as pd

from kit.errors import ScorecardError
from kit.evaluation.evaluate import Evaluation
from kit.evaluation.uncertainty import paired_test
from kit.relevance.slices import DOMAINS
from kit.reporting import plots, show
from kit.retrieval.execute import SavedRun
from kit.text.views import view_of

PAIR_COLUMNS = ["measure", "system", "against", "mean", "mean against", "difference", "p",
                "wins", "ties", "losses"]
SLICE_COLUMNS = ["slice", "n", "system", "against", "mean", "mean against", "difference", "p"]
CONDITIONS = ("environment", "fingerprints", "depth", "sample")


def require_comparable(runs: list[SavedRun]) -> None:
    """Raises ScorecardError, with each condition that differs, unless all runs share them."""
    first = runs[0].manifest
    for run in runs[1:]:
        differ = [c for c in CONDITIONS if run.manifest[c] != first[c]]
        if differ:
            raise ScorecardError(
                f"{run.system} and {runs[0].system} were not run under the same conditions: "
                f"{', '.join(differ)}", "comparison", "Run both on one collection, at one depth")


def side_by_side(evaluations: dict[str, Evaluation], seed: int) -> pd.DataFrame:
    """Each system against the first, by measure.

    Columns: measure, system, against, mean of both, difference, p (paired randomization), and on
    how many queries it wins, ties and loses. Shares over all pairs have no value a query and no p.
    """
    (base, first), *others = evaluations.items()
    rows = []
    for system, other in others:
        for measure in first.values.columns:
            a, b = other.values[measure], first.values[measure]
            per_query = a.notna().all()
            rows.append({
                "measure": measure, "system": system, "against": base,
                "mean": other.mean(measure), "mean against": first.mean(measure),
                "difference": other.mean(measure) - first.mean(measure),
                "p": paired_test(a.to_numpy(), b.to_numpy(), seed) if per_query else np.nan,
                **(dict(wins=(a > b).sum(), ties=(a == b).sum(), losses=(a < b).sum())
                   if per_query else {}),
            })
    frame = pd.DataFrame(rows, columns=PAIR_COLUMNS)
    return frame.astype(dict.fromkeys(("wins", "ties", "losses"), "Int64"))


def found_by(evaluations: dict[str, Evaluation], k: int) -> pd.DataFrame:
    """Queries of which each system finds a relevant document in its first k: a table of counts.

    Rows: every combination of systems that occurs, as "only bm25", and "none".
    """
    found = pd.DataFrame({name: pd.Series(e.hits.hits[:, :k].any(axis=1), index=e.hits.query_ids)
                          for name, e in evaluations.items()})
    counts = found.value_counts().sort_index(ascending=False)
    names = [_combination(dict(zip(found.columns, key))) for key in counts.index]
    return pd.DataFrame({"queries": counts.to_numpy(), "share": counts.to_numpy() / len(found)},
                        index=pd.Index(names, name=f"found in the first {k} by"))


def _combination(found: dict[str, bool]) -> str:
    having = [name for name, f in found.items() if f]
    if not having:
        return "none"
    return " and ".join(having) if len(having) == len(found) else f"only {' and '.join(having)}"


def overlap_by_depth(a: SavedRun, b: SavedRun, depths: list[int]) -> pd.Series:
    """The mean share of the first k documents that two systems have in common, by k.

    Where both return fewer than k, the longer of the two rankings is the whole.
    """
    queries = sorted(set(a.table["query_id"].to_pylist()) | set(b.table["query_id"].to_pylist()))
    tops = [_by_query(run) for run in (a, b)]
    return pd.Series({k: np.mean([_common(*(top.get(q, [])[:k] for top in tops)) for q in queries])
                      for k in depths}, name="share in common")


def _common(a: list[str], b: list[str]) -> float:
    return len(set(a) & set(b)) / max(len(a), len(b))


def _by_query(run: SavedRun) -> dict[str, list[str]]:
    frame = run.table.select(["query_id", "doc_id"]).to_pandas()
    return frame.groupby("query_id")["doc_id"].agg(list).to_dict()


def overlaps(runs: list[SavedRun], depths: list[int]) -> dict[str, pd.Series]:
    """`overlap_by_depth` of each pair of systems, by their names; depths within the runs'."""
    depths = [k for k in depths if k <= runs[0].manifest["depth"]]
    return {f"{a.system} and {b.system}": overlap_by_depth(a, b, depths)
            for a, b in combinations(runs, 2)}


def finding_overlap(shared: dict[str, pd.Series]) -> str:
    """The title of the picture of overlaps."""
    if not shared:
        return "There is one system: nothing to share"
    name, values = next(iter(shared.items()))
    k = 10 if 10 in values.index else values.index[-1]
    return f"{name} share {values[k]:.0%} of their first {k} documents"


def query_differences(a: Evaluation, b: Evaluation, measure: str) -> pd.Series:
    """a's value less b's, by query."""
    return a.values[measure] - b.values[measure]


def show_differences(evaluations: dict[str, Evaluation], measure: str) -> None:
    """A picture a system of its differences from the first, query by query."""
    (base, first), *others = evaluations.items()
    if not others:
        show.say("There is one system: nothing to compare. Name another in systems or run_files.")
    for system, other in others:
        values = query_differences(other, first, measure)
        wins, losses = int((values > 0).sum()), int((values < 0).sum())
        title = (f"{system} is better on {wins} queries, {base} on {losses}, "
                 f"equal on {len(values) - wins - losses}")
        show.picture(plots.differences(values, system, base, measure, title), title)


def by_slice(evaluations: dict[str, Evaluation], measure: str, seed: int) -> pd.DataFrame:
    """Each system against the first within each domain: n, both means, difference, p."""
    (base, first), *others = evaluations.items()
    rows = []
    for system, other in others:
        tags = first.domains.reindex(first.values.index)
        for domain in DOMAINS:
            a, b = (e.values.loc[(tags == domain).to_numpy(), measure] for e in (other, first))
            untested = not len(a) or a.isna().any()  # a share over all has no value a query
            p = np.nan if untested else paired_test(a.to_numpy(), b.to_numpy(), seed)
            rows.append((domain, len(a), system, base, a.mean(), b.mean(), (a - b).mean(), p))
    return pd.DataFrame(rows, columns=SLICE_COLUMNS)


def finding_found(found: pd.DataFrame) -> str:
    """The title of the picture of who finds what."""
    missed = found["share"].get("none", 0)
    return f"{missed:.0%} of the queries are missed by every system"


def extremes(collection, evaluations: dict[str, Evaluation], measure: str, most: int = 4) -> pd.DataFrame:
    """The queries on which the second system is furthest above and below the first, with titles."""
    names = list(evaluations)[:2]
    if len(names) < 2:
        return pd.DataFrame({"query": [], "difference": [], "title": []})
    values = query_differences(evaluations[names[1]], evaluations[names[0]], measure)
    ordered = values.sort_values(ascending=False, kind="stable")
    chosen = pd.concat([ordered.head(most), ordered.tail(most)])
    titles = [view_of([collection.row("queries", q)["title"]]) for q in chosen.index]
    return pd.DataFrame({
        "query": chosen.index, names[0]: evaluations[names[0]].values.loc[chosen.index, measure].to_numpy(),
        names[1]: evaluations[names[1]].values.loc[chosen.index, measure].to_numpy(),
        "difference": chosen.to_numpy(), "title": titles})
