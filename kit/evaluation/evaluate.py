"""A run held against a collection: figures by protocol and slice, with intervals."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from kit.collection.schema import require_sound
from kit.errors import MeasureError
from kit.evaluation import measures as m
from kit.evaluation.uncertainty import caution, intervals, smallest_difference
from kit.relevance.classes import LEVELS, agreement
from kit.relevance.domains import UNKNOWN, scope_counts
from kit.relevance.grades import grades_of, require_gains
from kit.relevance.protocols import PROTOCOLS, offered, positives
from kit.relevance.slices import NAMES, SCOPES, Slice, standard_slices

FIGURE_COLUMNS = ["protocol", "slice", "measure", "n", "mean", "low", "high", "reason", "smallest"]
NO_CLASS = "no query has an IPC class of the level that ClassAgreement asks for"
FAR_SCOPE = SCOPES[1]  # what stands beside every figure over all queries


@dataclass(frozen=True)
class Part:
    """A run in one slice. values: a row a query, a column a measure. hits: None without a query,
    and `reason` says why there is none."""

    hits: m.Hits | None
    values: pd.DataFrame
    reason: str = ""


@dataclass(frozen=True)
class Evaluation:
    """A run under one protocol. values: a row a query, a column a measure. domains: IN, MIXED,
    OUT or UNKNOWN by query. without_positives: queries of the collection left out for that.
    parts: {slice: the run in it}, every standard slice behind "all"."""

    protocol: str
    hits: m.Hits
    values: pd.DataFrame
    domains: pd.Series
    without_positives: int
    parts: dict[str, Part]

    def mean(self, measure: str) -> float:
        """The figure over all queries."""
        return m.mean(self.hits, measure, self.values[measure])

    def over(self, name: str) -> "Evaluation":
        """The run in one slice that has a query, as if there were no other."""
        part = self.parts[name]
        return replace(self, hits=part.hits, values=part.values,
                       domains=self.domains.reindex(part.hits.query_ids), parts={"all": part})

    def only(self, measure: str) -> "Evaluation":
        """The same, of one measure over all its queries."""
        values = self.values[[measure]]
        return replace(self, values=values, parts={"all": Part(self.hits, values)})


def evaluate(run: pa.Table, collection, protocol: str, names: list[str],
             among: Iterable[str] | None = None) -> Evaluation:
    """Scores a run. among: the query ids that were searched, for a sample.

    Raises CollectionError for a collection that breaks its layout, MeasureError for a measure or
    protocol that is unknown, for gains that the collection's grades do not fit, or when no query has a
    relevant document.
    """
    require_sound(collection)
    for name in names:
        m.parse_measure(name)
    names = list(dict.fromkeys(names))  # a measure named twice is one column
    pairs, searched = positives(collection, protocol), collection.ids("queries")
    if among is not None:
        searched = searched[searched.isin(among)]
        pairs = pairs[pairs["query_id"].isin(searched)]
    hits = hits_for(run, collection, pairs, names)
    values = m.per_query(hits, names)
    slices = standard_slices(collection, protocol)
    tags = {query: s.name for s in slices if s.family == "domain" for query in s.members}
    parts = _parts(m.rows_in(run, pairs), collection, slices, hits, names)
    return Evaluation(protocol, hits, values, pd.Series(tags, dtype=object).reindex(hits.query_ids),
                      len(searched) - len(hits.query_ids), {"all": Part(hits, values)} | parts)


def hits_for(run: pa.Table, collection, pairs: pd.DataFrame, names: list[str]) -> m.Hits:
    """The hits of a run under the relevant pairs, with all that the measures ask of the collection.

    Raises MeasureError for gains that do not fit the grades of its pairs.
    """
    require_measurable(collection, names, pairs)
    if m.asked(names, "grades"):
        pairs = pairs.assign(grades=grades_of(collection, pairs))
    hits = m.hits_of(run, pairs, collection.pairs)
    if m.asked(names, "classes"):
        hits = m.with_agreement(hits, run, partial(agreement, collection))
    return hits


def unclassed(run: pa.Table, collection, query_ids: list[str],
              names: list[str]) -> dict[str, tuple[int, int]]:
    """{class agreement: how many of the queries have no class of its level, how many documents in the
    first k of the others have none}."""
    queries, found = agreement(collection, query_ids, [""] * len(query_ids)).queries, {}
    for name in names:
        kind, k = m.parse_measure(name)
        level = LEVELS.index(kind[len("ClassAgreement("):-1]) + 1
        held = pa.array([q for q, depth in zip(query_ids, queries) if depth >= level], pa.string())
        top = run.filter(pc.and_(pc.less_equal(run["rank"], k), pc.is_in(run["query_id"], held)))
        docs = agreement(collection, top["query_id"], top["doc_id"]).docs
        found[name] = len(query_ids) - len(held), int((docs < level).sum())
    return found


def require_measurable(collection, names: list[str], pairs: pd.DataFrame | None = None) -> None:
    """Raises MeasureError for gains that do not fit the grades of the pairs, by default all of them."""
    for name in m.asked(names, "grades"):
        require_gains(collection, collection.pairs if pairs is None else pairs, name)


def _parts(found: pa.Table, collection, slices: list[Slice], hits: m.Hits,
           names: list[str]) -> dict[str, Part]:
    """{slice: the run in it} over the queries of `hits`. found: the run's relevant rows."""
    parts = {}
    for s in slices:
        pairs = s.pairs[s.pairs["query_id"].isin(hits.query_ids)]
        if hits.grades is not None:
            pairs = pairs.assign(grades=grades_of(collection, pairs))
        if pairs.empty:
            none = pd.DataFrame(columns=names, dtype=float)
            parts[s.name] = Part(None, none, s.absent or "no query in this slice")
        else:
            mine = m.narrowed(hits, found, pairs)
            if s.taken_out is not None:
                mine = m.without(mine, m.rows_in(found, s.taken_out))
            parts[s.name] = Part(mine, m.per_query(mine, names))
    return parts


def figures(evaluation: Evaluation, seed: int) -> pd.DataFrame:
    """Every measure over all queries and in each standard slice.

    Columns as FIGURE_COLUMNS: n queries that the measure counts, mean, its 95 % interval (low, high), why a figure is
    lacking (reason, else null), and the smallest difference that n queries could show (see
    `uncertainty.smallest_difference`). A slice without a query has n 0 and no figures.
    """
    rows = []
    for name, part in evaluation.parts.items():
        if part.hits is None:
            rows += _lacking(evaluation.protocol, name, list(part.values.columns), part.reason)
            continue
        rows += [(evaluation.protocol, name, *row) for row in _figures(part, seed)]
    return _frame(rows)


def _figures(part: Part, seed: int) -> list[tuple]:
    """(measure, n, mean, low, high, reason, smallest) of each measure, n the queries that it counts."""
    counted, found = _counted(part), {}
    for held in {mask.tobytes(): mask for mask in counted.T}.values():  # nearly always one: all queries
        mine = [i for i in range(counted.shape[1]) if (counted[:, i] == held).all()]
        top, bottom = _sums(part, mine, held)
        n, names = int(held.sum()), part.values.columns[mine]
        if not n:
            found |= {name: (name, 0, *[np.nan] * 3, NO_CLASS, np.nan) for name in names}
            continue
        bounds, smallest = intervals(top, bottom, seed), smallest_difference(top, bottom)
        reason = caution(n) if n == 1 else None
        found |= {name: (name, n, m.mean(part.hits, name, part.values[name]), *bounds[i], reason, smallest[i])
                  for i, name in enumerate(names)}
    return [found[name] for name in part.values.columns]


def _counted(part: Part) -> np.ndarray:
    """n × measures: which queries a measure counts; a share over all pairs counts all."""
    values = part.values
    left_out = [not m.has_values(name) and m.measure_of(m.parse_measure(name)[0]).per_query is not None
                for name in values.columns]
    return ~(values.isna().to_numpy() & np.array(left_out, bool))


def _frame(rows: list[tuple]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=FIGURE_COLUMNS)
    return frame.astype({"reason": object}).assign(
        reason=lambda f: f["reason"].where(f["reason"].notna(), None))


def _lacking(protocol: str, name: str, measures: list[str], reason: str) -> list[tuple]:
    """The rows of a slice that has no figures."""
    return [(protocol, name, measure, 0, *[np.nan] * 3, reason, np.nan) for measure in measures]


def _sums(part: Part, columns: list[int], queries: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What each of the measures in those columns is a ratio of, by query: values over ones, or golds found
    over golds. queries: n bool, those that count."""
    hits, tops, bottoms = part.hits, [], []
    for name, values in part.values.iloc[:, columns].items():
        kind, k = m.parse_measure(name)
        is_share = m.measure_of(kind).per_query is None
        tops.append(hits.hits[:, :k].sum(axis=1) if is_share else values.to_numpy())
        bottoms.append(hits.relevant if is_share else np.ones(len(values)))
    return (np.stack(tops, 1).astype(float)[queries], np.stack(bottoms, 1).astype(float)[queries])


def all_figures(run: pa.Table, collection, names: list[str], seed: int,
                among: Iterable[str] | None = None) -> pd.DataFrame:
    """The figures under every protocol; one that the collection can't give, or that has no relevant
    pair, stands with n 0 and the reason. Raises what `evaluate` raises for the protocol `all`."""
    found = []
    for protocol in PROTOCOLS:
        try:
            found.append(figures(evaluate(run, collection, protocol, names, among), seed))
        except MeasureError as error:
            if protocol == "all":
                raise
            found.append(_frame([row for name in ("all", *NAMES) for row in _lacking(
                protocol, name, list(dict.fromkeys(names)), error.what)]))
    return pd.concat(found, ignore_index=True)


def by_scope(evaluations: dict[str, Evaluation]) -> dict[str, dict[str, Evaluation]]:
    """{scope: the evaluations in it}: "all", and "scope OUT" where it has a query. No report shows
    the first without the second."""
    found = {"all": evaluations}
    if all(e.parts[FAR_SCOPE].hits is not None for e in evaluations.values()):
        found[FAR_SCOPE] = {name: e.over(FAR_SCOPE) for name, e in evaluations.items()}
    return found


def scopes_shown(figures: pd.DataFrame, protocol: str) -> list[str]:
    """The same of figures (as `figures` gives them): the slices of a table with one figure a measure.
    """
    mine = figures[(figures["protocol"] == protocol) & (figures["n"] > 0)]
    return ["all", *([FAR_SCOPE] if FAR_SCOPE in set(mine["slice"]) else [])]


def scope_pairs(collection, among: Iterable[str] | None = None) -> dict[str, dict] | None:
    """{protocol: how many relevant pairs each scope has, as `domains.scope_counts` gives it}; None
    for a collection without scopes. among: the query ids that were searched, for a sample."""
    found = {}
    for protocol in offered(collection):
        pairs = positives(collection, protocol)
        if among is not None:
            pairs = pairs[pairs["query_id"].isin(among)]
        found[protocol] = scope_counts(collection, pairs)
    whole = scope_counts(collection, collection.pairs)
    return found if whole[UNKNOWN] < len(collection.pairs) else None


def recall_by_depth(evaluation: Evaluation) -> pd.Series:
    """Mean R@k for every k up to the run's depth, by k."""
    hits = evaluation.hits
    share = np.cumsum(hits.hits, axis=1) / hits.relevant[:, None]
    return pd.Series(share.mean(axis=0), index=pd.RangeIndex(1, hits.hits.shape[1] + 1, name="k"))
