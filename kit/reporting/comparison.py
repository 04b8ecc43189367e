"""Systems side by side, under one set of conditions or not at all."""

from itertools import combinations

import numpy as np
import pandas as pd
import pyarrow.compute as pc

from kit.evaluation.evaluate import FAR_SCOPE, Evaluation, by_scope
from kit.evaluation.measures import average
from kit.evaluation.uncertainty import caution, effect_size, holm, paired_test
from kit.relevance.protocols import positives
from kit.relevance.slices import standard_slices
from kit.reporting import plots, rules, show
from kit.retrieval.execute import SavedRun, searched_ids
from kit.text.views import view_of

TESTED = ["p", "p Holm", "effect", "wins", "ties", "losses"]
PAIR_COLUMNS = ["measure", "system", "against", "mean", "mean against", "difference", *TESTED]
SLICE_COLUMNS = ["slice", "n", *PAIR_COLUMNS[1:], "remark"]


def require_comparable(runs: list[SavedRun]) -> None:
    """Raises RuleError (rule 2), with each condition that differs, unless all runs share them."""
    rules.require_identical([run.manifest for run in runs], [run.system for run in runs])


def side_by_side(evaluations: dict[str, Evaluation], seed: int) -> pd.DataFrame:
    """Each system against the first, by measure.

    Columns: measure, system, against, mean of both, difference; p (paired randomization), the same
    corrected for the number of tests in the table (Holm), the effect size (Cohen's d_z), and on
    how many queries it wins, ties and loses. Shares over all pairs have no value a query and none
    of these.
    """
    (base, first), *others = evaluations.items()
    rows = []
    for system, other in others:
        for measure in first.values.columns:
            rows.append({
                "measure": measure, "system": system, "against": base,
                "mean": other.mean(measure), "mean against": first.mean(measure),
                "difference": other.mean(measure) - first.mean(measure),
                **_tested(other.values[measure], first.values[measure], seed)})
    return _corrected(rows, PAIR_COLUMNS)


def _tested(a: pd.Series, b: pd.Series, seed: int) -> dict:
    """The test and the counts of two systems' values, by query; empty where there are none."""
    a, b = a.dropna(), b.dropna()  # a measure leaves the same queries out of every run
    if not len(a):
        return {}
    return {"p": paired_test(a.to_numpy(), b.to_numpy(), seed),
            "effect": effect_size(a.to_numpy(), b.to_numpy()),
            "wins": (a > b).sum(), "ties": (a == b).sum(), "losses": (a < b).sum()}


def _corrected(rows: list[dict], columns: list[str]) -> pd.DataFrame:
    """The rows as a frame, its p-values corrected for their number."""
    frame = pd.DataFrame(rows, columns=columns).astype(
        dict.fromkeys(("wins", "ties", "losses"), "Int64") | dict.fromkeys(("p", "effect"), float))
    return frame.assign(**{"p Holm": holm(frame["p"].to_numpy())})


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


def overlap_table(shared: dict[str, pd.Series]) -> pd.DataFrame:
    """The curves as a table: a row a pair of systems, a column a k."""
    return pd.DataFrame(shared).T.rename_axis(index="share in common", columns=None).add_prefix("first ")


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


def over(scope: str) -> str:
    """What a title says of the scope: nothing where it is all queries."""
    return "" if scope == "all" else f", {scope}"


def show_differences(evaluations: dict[str, Evaluation], measure: str) -> None:
    """A picture a system and scope of its differences from the first, query by query."""
    if len(evaluations) < 2:
        show.say("There is one system: nothing to compare. Name another in systems or run_files.")
    for title, figure in difference_pictures(evaluations, measure):
        show.picture(figure, title)
    if len(evaluations) > 1:
        table = difference_table(evaluations, measure)
        show.display(show.table(table, dict.fromkeys(table.columns[4:], "{:+.3f}"),
                                f"How the differences of {measure} are spread over the queries"))


def difference_table(evaluations: dict[str, Evaluation], measure: str) -> pd.DataFrame:
    """Each system less the first: the smallest, the quantiles and the greatest difference on a query.

    Columns: queries (the scope), n, system, against, and the differences.
    """
    rows = []
    for scope, mine in by_scope(evaluations).items():
        (base, first), *others = mine.items()
        for system, other in others:
            spread = query_differences(other, first, measure).quantile([0, 0.1, 0.25, 0.5, 0.75, 0.9, 1])
            rows.append([scope, len(other.values), system, base, *spread])
    return pd.DataFrame(rows, columns=["queries", "n", "system", "against", "least", "10 %", "25 %",
                                       "median", "75 %", "90 %", "most"])


def difference_pictures(evaluations: dict[str, Evaluation], measure: str, mark: str = "") -> list:
    """(title, figure) of each system against the first, in each scope; mark: at the title's end."""
    found = []
    for scope, mine in by_scope(evaluations).items():
        (base, first), *others = mine.items()
        for n, (system, other) in enumerate(others, 1):
            values = query_differences(other, first, measure)
            wins, losses = int((values > 0).sum()), int((values < 0).sum())
            head = "" if scope == "all" else f"{scope}: "
            title = (f"{head}{system} is better on {wins} queries, {base} on {losses}, "
                     f"equal on {len(values) - wins - losses}{mark}")
            found.append((title, plots.differences(values, system, base, measure, title, n)))
    return found


PAIR_FORMATS = {"mean": "{:.3f}", "mean against": "{:.3f}", "difference": "{:+.3f}", "p": "{:.4f}",
                "p Holm": "{:.4f}", "effect": "{:+.2f}"}


def show_side_by_side(evaluations: dict[str, Evaluation], seed: int) -> None:
    """A table of `side_by_side` a scope; the tests of each are corrected for their own number."""
    for scope, mine in by_scope(evaluations).items():
        n = len(next(iter(mine.values())).values)
        show.heading(f"{'all queries' if scope == 'all' else scope} (n={n})")
        show.display(show.table(side_by_side(mine, seed), PAIR_FORMATS))


def show_found(evaluations: dict[str, Evaluation], k: int) -> None:
    """A picture and a table a scope of who finds a relevant document in the first k."""
    for scope, mine in by_scope(evaluations).items():
        found = found_by(mine, k)
        show.picture(plots.share_bars(found["share"], finding_found(found) + over(scope),
                                      "share of queries"),
                     f"Share of queries by which system finds a relevant document in its first {k}"
                     f"{over(scope)}")
        show.display(show.table(found, {"share": "{:.1%}"}))


def missed_by(found: dict[str, set]) -> pd.DataFrame:
    """How many relevant pairs a row's system finds and a column's does not; on the diagonal, all
    that the system finds. found: {system: the pairs that it finds}."""
    frame = pd.DataFrame({b: {a: len(of_a if a == b else of_a - of_b) for a, of_a in found.items()}
                          for b, of_b in found.items()}, dtype=int)
    return frame.rename_axis(index="found by", columns=None)


def found_pairs(runs: list[SavedRun], pairs: pd.DataFrame, k: int) -> dict[str, set]:
    """{system: the (query, document) of `pairs` that stand in its first k}"""
    wanted = set(zip(pairs["query_id"], pairs["doc_id"]))
    found = {}
    for run in runs:
        top = run.table.filter(pc.less_equal(run.table["rank"], k))
        found[run.system] = wanted & set(zip(top["query_id"].to_pylist(), top["doc_id"].to_pylist()))
    return found


def finding_missed(table: pd.DataFrame, k: int, total: int, none: int) -> str:
    """The title of the matrix: the most that one system finds and another misses, and what all
    miss. none: pairs that no system finds, of `total`."""
    off = table.where(~np.eye(len(table), dtype=bool)).stack().dropna()  # pandas 3 keeps what is null
    missed = f"{none} of {total} relevant documents are missed by all"
    if off.empty:
        return f"{missed} in the first {k}"
    a, b = off.idxmax()
    return f"In the first {k}, {a} finds {off.max():.0f} that {b} misses; {missed}"


def show_missed(collection, runs: list[SavedRun], params, k: int) -> None:
    """A picture and a table a scope of how many relevant documents one system finds and another
    misses in the first k."""
    searched, parts = searched_ids(collection, params), {"all": positives(collection, params.protocol)}
    parts |= {s.name: s.pairs for s in standard_slices(collection, params.protocol)
              if s.name == FAR_SCOPE and len(s.pairs)}
    for scope, pairs in parts.items():
        pairs = pairs[pairs["query_id"].isin(searched)]
        found = found_pairs(runs, pairs, k)
        table, none = missed_by(found), len(pairs) - len(set().union(*found.values()))
        title = finding_missed(table, k, len(pairs), none) + over(scope)
        show.picture(plots.matrix(table, title, "missed by", "found by"),
                     f"Matrix: relevant documents in the first {k} that a row's system finds and a "
                     f"column's misses{over(scope)}; on the diagonal, all that the system finds")
        show.display(show.table(table, caption=(
            f"Relevant documents that a row's system finds in its first {k} and a column's does not; on "
            f"the diagonal all that it finds{over(scope)}")))


def by_slice(evaluations: dict[str, Evaluation], measure: str, seed: int) -> pd.DataFrame:
    """Each system against the first within each slice: n, and the columns of `side_by_side`."""
    (base, first), *others = evaluations.items()
    base_values = slice_values(first, measure)
    rows = []
    for system, other in others:
        for name, a in slice_values(other, measure).items():
            b = base_values[name]
            rows.append({
                "slice": name, "n": len(a), "system": system, "against": base, "mean": average(a),
                "mean against": average(b), "difference": average(a) - average(b), **_tested(a, b, seed),
                "remark": caution(len(a)) or None})
    return _corrected(rows, SLICE_COLUMNS)


def slice_values(evaluation: Evaluation, measure: str) -> dict[str, pd.Series]:
    """{slice: the measure's values by query}, all but "all"."""
    return {name: part.values[measure] for name, part in evaluation.parts.items() if name != "all"}


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
