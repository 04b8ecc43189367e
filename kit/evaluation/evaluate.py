"""A run held against a collection: figures by protocol and slice, with intervals."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa

from kit.collection.schema import require_sound
from kit.errors import MeasureError
from kit.evaluation import measures as m
from kit.evaluation.uncertainty import intervals
from kit.relevance.protocols import offered, positives
from kit.relevance.slices import DOMAINS, domain_tags

FIGURE_COLUMNS = ["protocol", "slice", "measure", "n", "mean", "low", "high"]


@dataclass(frozen=True)
class Evaluation:
    """A run under one protocol. values: a row a query, a column a measure. domains: IN, MIXED,
    OUT or UNKNOWN by query. without_positives: queries of the collection left out for that."""

    protocol: str
    hits: m.Hits
    values: pd.DataFrame
    domains: pd.Series
    without_positives: int

    def mean(self, measure: str) -> float:
        """The figure over all queries."""
        return m.mean(self.hits, measure, self.values[measure])


def evaluate(run: pa.Table, collection, protocol: str, names: list[str],
             among: Iterable[str] | None = None) -> Evaluation:
    """Scores a run. among: the query ids that were searched, for a sample.

    Raises CollectionError for a collection that breaks its layout, MeasureError for a measure or
    protocol that is unknown, or when no query has a relevant document.
    """
    require_sound(collection)
    for name in names:
        m.parse_measure(name)
    names = list(dict.fromkeys(names))  # a measure named twice is one column
    pairs, searched = positives(collection, protocol), collection.ids("queries")
    if among is not None:
        searched = searched[searched.isin(among)]
        pairs = pairs[pairs["query_id"].isin(searched)]
    hits = m.hits_of(run, pairs, collection.pairs)
    return Evaluation(protocol, hits, m.per_query(hits, names), domain_tags(collection, pairs),
                      len(searched) - len(hits.query_ids))


def figures(evaluation: Evaluation, seed: int) -> pd.DataFrame:
    """Every measure over all queries and by domain: n, mean and its 95 % interval.

    Columns as FIGURE_COLUMNS. A slice without a query has n 0 and no mean.
    """
    slices = {"all": np.ones(len(evaluation.values), bool)}
    tags = evaluation.domains.reindex(evaluation.values.index)
    slices |= {domain: (tags == domain).to_numpy() for domain in DOMAINS}
    rows = []
    for name, members in slices.items():
        top, bottom = _sums(evaluation, members)
        bounds = intervals(top, bottom, seed)
        for i, measure in enumerate(evaluation.values.columns):
            n = int(members.sum())
            mean = top[:, i].sum() / bottom[:, i].sum() if n else np.nan
            rows.append((evaluation.protocol, name, measure, n, mean, *bounds[i]))
    return pd.DataFrame(rows, columns=FIGURE_COLUMNS)


def _sums(evaluation: Evaluation, members: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What each measure is a ratio of, by query: values over ones, or golds found over golds."""
    hits, tops, bottoms = evaluation.hits, [], []
    for name, values in evaluation.values.items():
        kind, k = m.parse_measure(name)
        is_share = m.MEASURES[kind].per_query is None
        tops.append(hits.hits[:, :k].sum(axis=1) if is_share else values.to_numpy())
        bottoms.append(hits.relevant if is_share else np.ones(len(values)))
    return np.stack(tops, 1)[members].astype(float), np.stack(bottoms, 1)[members].astype(float)


def all_figures(run: pa.Table, collection, names: list[str], seed: int,
                among: Iterable[str] | None = None) -> pd.DataFrame:
    """The figures under every protocol that the collection offers and that has a relevant pair."""
    found = []
    for protocol in offered(collection):
        try:
            found.append(figures(evaluate(run, collection, protocol, names, among), seed))
        except MeasureError:
            if protocol == "all":
                raise
    return pd.concat(found, ignore_index=True)


def recall_by_depth(evaluation: Evaluation) -> pd.Series:
    """Mean R@k for every k up to the run's depth, by k."""
    hits = evaluation.hits
    share = np.cumsum(hits.hits, axis=1) / hits.relevant[:, None]
    return pd.Series(share.mean(axis=0), index=pd.RangeIndex(1, hits.hits.shape[1] + 1, name="k"))
