"""Every measure, from one hits matrix.

Binary gains. Only queries with a relevant document count; one that the run lacks scores 0; the
number of relevants comes from the qrels. Names are written as ir_measures writes them.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from kit.errors import MeasureError, RunError


@dataclass(frozen=True)
class Hits:
    """A run held against the qrels.

    query_ids: the n queries with a relevant document, ascending. hits: n × depth bool, whether
    the document at rank column + 1 is relevant. judged: the same for any qrels row.
    returned: n, documents in the run. relevant: n, relevants in the qrels.
    missing: queries among them that the run lacks.
    """

    query_ids: list[str]
    hits: np.ndarray
    judged: np.ndarray
    returned: np.ndarray
    relevant: np.ndarray
    missing: int


def hits_of(run: pa.Table, positives: pd.DataFrame, judged: pd.DataFrame | None = None) -> Hits:
    """The hits matrix of a run (query_id, doc_id, rank) under a protocol's positive pairs.

    positives: query_id, doc_id, a row a relevant pair. judged: the pairs with any qrels row;
    by default the positives. Raises MeasureError when there is no positive pair, RunError for a
    document twice for one query.
    """
    if positives.empty:
        raise MeasureError("there is no relevant pair", "qrels",
                           "Choose another protocol or slice")
    relevant = positives.drop_duplicates(["query_id", "doc_id"]).groupby("query_id").size()
    query_ids = pa.array(sorted(relevant.index), pa.string())
    row = _repeated_index_in(run["query_id"], query_ids)
    if (row < 0).any():  # a filter copies millions of strings
        run, row = run.filter(pa.array(row >= 0)), row[row >= 0]
    encoded = run["doc_id"].combine_chunks().dictionary_encode()  # once: runs have millions of rows
    docs = encoded.dictionary
    numbers = row * len(docs) + encoded.indices.to_numpy()
    _refuse_repeated(run, numbers)
    rank = run["rank"].to_numpy()
    depth = int(rank.max()) if len(rank) else 0
    returned = np.bincount(row, minlength=len(query_ids))

    def matrix(pairs: pd.DataFrame) -> np.ndarray:
        found = np.zeros((len(query_ids), depth), bool)
        found[row, rank - 1] = _among(numbers, _numbers(pairs, query_ids, docs))
        return found

    hits = matrix(positives)
    return Hits(query_ids.to_pylist(), hits, hits if judged is None else matrix(judged), returned,
                relevant.sort_index().to_numpy(), int((returned == 0).sum()))


def narrowed(h: Hits, found: pa.Table, pairs: pd.DataFrame) -> Hits:
    """The hits of the same run if only `pairs` were relevant, over the queries that have one.

    found: the run's rows whose pair is relevant (`rows_in` of h's positives); the others can't be
    hits. pairs: query_id, doc_id, at least one, all of them among h's positives.
    """
    relevant = pairs.groupby("query_id").size().sort_index()
    query_ids = pa.array(relevant.index, pa.string())
    row = _index_in(query_ids, pa.array(h.query_ids, pa.string()))
    mine = rows_in(found, pairs)
    hits = np.zeros((len(row), h.hits.shape[1]), bool)
    hits[_index_in(mine["query_id"], query_ids), mine["rank"].to_numpy() - 1] = True
    returned = h.returned[row]
    return Hits(query_ids.to_pylist(), hits, h.judged[row], returned, relevant.to_numpy(),
                int((returned == 0).sum()))


def without(h: Hits, rows: pa.Table) -> Hits:
    """The hits once some of the run's rows have left the rankings: what stood below them moves up,
    and nothing is filled in at the end.

    rows: of the same run; those of queries that are not h's change nothing.
    """
    row = _index_in(rows["query_id"], pa.array(h.query_ids, pa.string()))
    gone = np.zeros(h.hits.shape, bool)
    gone[row[row >= 0], rows["rank"].to_numpy()[row >= 0] - 1] = True
    order = np.argsort(gone, axis=1, kind="stable")
    left = ~np.take_along_axis(gone, order, axis=1)
    hits, judged = (np.take_along_axis(matrix, order, axis=1) & left
                    for matrix in (h.hits, h.judged))
    return Hits(h.query_ids, hits, judged, h.returned - gone.sum(axis=1), h.relevant, h.missing)


def rows_in(run: pa.Table, pairs: pd.DataFrame) -> pa.Table:
    """The run's rows whose pair stands in `pairs`."""
    return run.filter(pa.array(_in_pairs(run, pairs)))


def _refuse_repeated(run: pa.Table, numbers: np.ndarray) -> None:
    """Raises RunError for a document twice for one query (numbers: a row's pair): it would count
    twice."""
    ordered = np.sort(numbers)
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    if len(twice):
        row = run.slice(int(np.flatnonzero(numbers == twice[0])[0]), 1).to_pylist()[0]
        raise RunError(f"the run has query {row['query_id']!r}, document {row['doc_id']!r} twice",
                       "run", "Keep one of the two")


def _index_in(values, among: pa.Array) -> np.ndarray:
    """For each value its place in `among`, -1 where it is not there."""
    places = pc.index_in(values, among)
    return pc.fill_null(places, -1).to_numpy().astype(np.int64)


def _repeated_index_in(values, among: pa.Array) -> np.ndarray:
    """`_index_in` of values that come in stretches of equal ones, as a run's queries do."""
    stretches = pc.run_end_encode(pa.chunked_array(values).combine_chunks())
    lengths = np.diff(stretches.run_ends.to_numpy(), prepend=0)
    return np.repeat(_index_in(stretches.values, among), lengths)


def _in_pairs(run: pa.Table, pairs: pd.DataFrame) -> np.ndarray:
    """For each row of the run whether its pair stands in `pairs`."""
    queries, docs = (pc.unique(pa.array(pairs[c], pa.string())) for c in ("query_id", "doc_id"))
    return _among(_numbers(run, queries, docs), _numbers(pairs, queries, docs))


def _numbers(rows, queries: pa.Array, docs: pa.Array) -> np.ndarray:
    """One number a pair of `rows` (query_id, doc_id), -1 where either is not among those given."""
    query, doc = (_index_in(_strings(rows[name]), known)
                  for name, known in (("query_id", queries), ("doc_id", docs)))
    return np.where((query >= 0) & (doc >= 0), query * len(docs) + doc, -1)


def _strings(column):
    return pa.array(column, pa.string()) if isinstance(column, pd.Series) else column


def _among(numbers: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    found = pc.is_in(pa.array(numbers), pa.array(wanted)).to_numpy(zero_copy_only=False)
    return found & (numbers >= 0)


# --- one function a measure: (hits, cutoff or None) -> a value a query ---------------------------

def _top(hits: np.ndarray, k: int | None) -> np.ndarray:
    return hits if k is None else hits[:, :k]


def _discounts(k: int) -> np.ndarray:
    return 1 / np.log2(np.arange(2, k + 2))


def _best_rank(hits: np.ndarray) -> np.ndarray:
    """The rank of the first relevant, 0 where there is none."""
    if not hits.shape[1]:
        return np.zeros(len(hits), np.int64)
    return np.where(hits.any(axis=1), hits.argmax(axis=1) + 1, 0)


def ndcg(h: Hits, k: int) -> np.ndarray:
    """Järvelin & Kekäläinen, TOIS 2002, with trec_eval's log2(rank + 1) and binary gains."""
    top = _top(h.hits, k)
    gain = top @ _discounts(top.shape[1])
    best = np.minimum(k, h.relevant)
    ideal = np.cumsum(_discounts(best.max()))[best - 1]
    return gain / ideal


def recall(h: Hits, k: int) -> np.ndarray:
    return _top(h.hits, k).sum(axis=1) / h.relevant


def precision(h: Hits, k: int) -> np.ndarray:
    return _top(h.hits, k).sum(axis=1) / k


def success(h: Hits, k: int) -> np.ndarray:
    return _top(h.hits, k).any(axis=1).astype(float)


def reciprocal_rank(h: Hits, k: int | None) -> np.ndarray:
    rank = _best_rank(_top(h.hits, k))
    return np.divide(1, rank, out=np.zeros(len(rank)), where=rank > 0)


def average_precision(h: Hits, k: int | None) -> np.ndarray:
    top = _top(h.hits, k)
    at_hit = np.cumsum(top, axis=1) / np.arange(1, top.shape[1] + 1)
    return (at_hit * top).sum(axis=1) / h.relevant


def pres(h: Hits, n_max: int) -> np.ndarray:
    """Magdy & Jones, SIGIR 2010: 1 - (mean rank of the relevants - (n + 1)/2) / N; the i-th
    relevant, where it is missed, takes rank N + i, i counted on from those found."""
    top, n = _top(h.hits, n_max), h.relevant
    found = top.sum(axis=1)
    ranks = top @ np.arange(1, top.shape[1] + 1)
    missed = n - found
    ranks = ranks + missed * n_max + (n * (n + 1) - found * (found + 1)) / 2
    return 1 - (ranks / n - (n + 1) / 2) / n_max


def primary_ndcg(h: Hits, k: int) -> np.ndarray:
    rank = _best_rank(_top(h.hits, k))
    return np.where(rank > 0, 1 / np.log2(np.maximum(rank, 1) + 1), 0.0)


def judged_share(h: Hits, k: int) -> np.ndarray:
    seen = np.minimum(h.returned, k)
    return np.divide(_top(h.judged, k).sum(axis=1), seen, out=np.zeros(len(seen)), where=seen > 0)


@dataclass(frozen=True)
class Measure:
    """A kind of measure. cutoff: "needed", "optional". per_query: None for a share over all."""

    sentence: str
    cutoff: str
    per_query: Callable | None


MEASURES = {
    "nDCG": Measure("How near the ranking of the first {k} is to the best possible one: a relevant "
                    "document counts less the lower it stands; 1 is perfect.", "needed", ndcg),
    "R": Measure("The share of a query's relevant documents that stand among the first {k}.",
                 "needed", recall),
    "P": Measure("The share of the first {k} documents that are relevant.", "needed", precision),
    "Success": Measure("The share of queries with at least one relevant document among the "
                       "first {k}.", "needed", success),
    "RR": Measure("One divided by the rank of the first relevant document{within}: 1 if it stands "
                  "first, 0.5 if second.", "optional", reciprocal_rank),
    "AP": Measure("The precision at the rank of each relevant document{within}, averaged over all "
                  "of the query's relevant documents.", "optional", average_precision),
    "PRES": Measure("How early the relevant documents come for somebody who reads {k} documents, "
                    "every missed one counted as found after that.", "needed", pres),
    "primary_nDCG": Measure("Like nDCG, but only the best-ranked relevant document counts: "
                            "1 if it stands first, 0 if it is not among the first {k}.", "needed",
                            primary_ndcg),
    "GoldCoverage": Measure("The share of all relevant documents of all queries together that "
                            "stand among their query's first {k}.", "needed", None),
    "Judged": Measure("The share of the first {k} documents that have a label at all; the others "
                      "may be relevant too, nobody has looked.", "needed", judged_share),
}
MEANINGLESS = ("bpref", "infAP")
_NAME = re.compile(r"(\w+?)(?:@([1-9]\d{0,8}))?", re.ASCII)


def parse_measure(name: str) -> tuple[str, int | None]:
    """("nDCG", 10) of "nDCG@10". Raises MeasureError for what is no measure here."""
    match = _NAME.fullmatch(name)
    kind, k = (match[1], int(match[2]) if match[2] else None) if match else (name, None)
    if kind in MEANINGLESS:
        raise MeasureError(f"{kind} has no meaning here: it needs documents that somebody judged "
                           "not relevant, and there are none", "measures", "Leave it out")
    if kind not in MEASURES:
        raise MeasureError(f"unknown measure '{name}'", "measures", "Known are " + ", ".join(
            m if MEASURES[m].cutoff == "optional" else f"{m}@k" for m in MEASURES))
    if k is None and MEASURES[kind].cutoff == "needed":
        raise MeasureError(f"{kind} needs a cutoff", "measures", f"Write {kind}@10, say")
    return kind, k


def sentence(name: str) -> str:
    """What a measure says, in one plain sentence."""
    kind, k = parse_measure(name)
    return MEASURES[kind].sentence.format(k=k, within=f" among the first {k}" if k else "")


def per_query(h: Hits, names: list[str]) -> pd.DataFrame:
    """A value a query (rows, by query_id) and measure (columns); shares over all are NaN."""
    columns = {}
    for name in names:
        kind, k = parse_measure(name)
        compute = MEASURES[kind].per_query
        columns[name] = compute(h, k) if compute else np.nan
    return pd.DataFrame(columns, index=pd.Index(h.query_ids, name="query_id"), columns=names)


def mean(h: Hits, name: str, values: pd.Series) -> float:
    """The figure of one measure: the mean over all queries, or the share over all pairs."""
    kind, k = parse_measure(name)
    if MEASURES[kind].per_query is None:
        return float(_top(h.hits, k).sum() / h.relevant.sum())
    return average(values)


def average(values) -> float:
    """The mean of values, by the exact sum (Shewchuk 1997; `math.fsum`): the same in any order and
    wherever it is asked for, so that no figure is rounded here to 0.667 and there to 0.668. NaN of no value."""
    return math.fsum(values) / len(values) if len(values) else math.nan
