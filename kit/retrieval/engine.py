"""Exact search, a block of documents at a time: the same for BM25 and for embeddings, for documents
and for passages.

An engine has units (documents, or passages of documents) and answers for a block of them:

- `blocks`: [(start, stop)], the stretches of units that it is asked for, in order
- `products(queries, start, stop)`: float32, queries × (stop - start): scores computed fast, which
  hold until it is asked for the next
- `slack(queries)`: float32 a query: how far a product may be off the exact score, at most
- `floor(queries)`: float32 a query: a unit of a product below it is no result (-inf: any may be)
- `exact(queries, rows, units)`: float64 scores of pairs; rows: int64 positions in queries,
  ascending; units: int64, one a row
- `only_positive`: whether an exact score of 0 or less is no result

`queries` is whatever the engine made of the texts; its length is their number. What could stand among
the k best goes by its exact score, rounded to float32 once, and the tie rule: so neither the size of
a block, nor the order of the corpus, nor the number of threads or shards changes a ranking.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numba
import numpy as np

ROOM = 4  # times k: candidates a query that are held before the worse ones are sorted out
RUN = 64  # values that are looked at together
UNITS = 8192  # units a block, at most (one document's passages may be more)


class Found(NamedTuple):
    """The k best of each query, best first: query i has positions[starts[i]:starts[i + 1]] with
    float32 scores; passages: the unit that scored best in each document (None: units are
    documents)."""

    starts: np.ndarray
    positions: np.ndarray
    scores: np.ndarray
    passages: np.ndarray | None = None


class Aggregation(NamedTuple):
    """How the scores of a document's passages become one: `maxP`, `avg_topN` (the mean of the N
    best, or of all if there are fewer), `avgP` (the mean of all) or `sumP`."""

    name: str
    kind: int
    top: int = 0


def aggregation(name: str) -> Aggregation:
    """The aggregation of that name. Raises ValueError for a name that is none."""
    kinds = {"maxP": 0, "avgP": 2, "sumP": 3}
    if name in kinds:
        return Aggregation(name, kinds[name])
    if name.startswith("avg_top") and name[7:].isdecimal() and name[7:].isascii() \
            and 0 < int(name[7:]) <= 1000:
        return Aggregation(name, 1, int(name[7:]))
    raise ValueError(name)


def even_blocks(size: int, most: int = UNITS) -> list[tuple[int, int]]:
    """0 to size in stretches of `most`."""
    return [(start, min(start + most, size)) for start in range(0, size, most)]


def shaped(room: np.ndarray, rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """The room, larger if need be, and an array in it whose values are as they may be."""
    room = room if rows * columns <= len(room) else np.empty(rows * columns, np.float32)
    return room, room[:rows * columns].reshape(rows, columns)


def document_blocks(starts: np.ndarray, most: int = UNITS) -> list[tuple[int, int]]:
    """Stretches of passages that end where documents end: as many documents as have `most`
    passages together, at least one. starts: int64, documents + 1: where each's passages begin."""
    blocks, first = [], 0
    while first < len(starts) - 1:
        last = int(np.searchsorted(starts, starts[first] + most, side="right")) - 1
        last = max(last, first + 1)
        blocks.append((int(starts[first]), int(starts[last])))
        first = last
    return blocks


def best(engine, queries, places: np.ndarray, k: int) -> Found:
    """The k best units of each query.

    places: int64 a unit: its identifier's place in ascending byte order, for the tie rule.
    """
    kept = _Kept.empty(engine, queries, k, np.ones(len(places), np.float32))
    for start, stop in engine.blocks:
        kept.take(engine.products(queries, start, stop), start)
    rows, units = kept.candidates()
    scores = engine.exact(queries, rows, units).astype(np.float32)
    starts, order = _ordered(engine.only_positive, len(queries), rows, scores, places[units], k)
    return Found(starts, units[order], scores[order])


def best_by_document(engine, starts: np.ndarray, queries, places: np.ndarray, k: int,
                     aggregations: list[Aggregation]) -> list[Found]:
    """The k best documents of each query under each aggregation of its passages' scores.

    starts: int64, documents + 1: the units of document d are starts[d] to starts[d + 1], at least
    one; no block of the engine parts a document. places: int64 a document.
    """
    counts = np.diff(starts)
    kept = [_Kept.empty(engine, queries, k, counts.astype(np.float32) if a.name == "sumP"
                        else np.ones(len(counts), np.float32)) for a in aggregations]
    for start, stop in engine.blocks:
        products = engine.products(queries, start, stop)
        first, last = np.searchsorted(starts, (start, stop))
        inner = starts[first:last + 1] - start
        for held, how in zip(kept, aggregations):
            held.take(_aggregated(products, inner, how.kind, how.top), int(first))
    return [_rescored(engine, starts, queries, places, k, *held.candidates(), how)
            for held, how in zip(kept, aggregations)]


def merged(parts: list[Found], places: np.ndarray, k: int) -> Found:
    """The k best of each query over the k best of disjoint parts, whose positions are those in all.

    places: int64 a unit (or document) of all, as `best` has them.
    """
    n = len(parts[0].starts) - 1
    rows = np.concatenate([np.repeat(np.arange(n), np.diff(part.starts)) for part in parts])
    positions = np.concatenate([part.positions for part in parts])
    scores = np.concatenate([part.scores for part in parts])
    starts, order = _ordered(False, n, rows, scores, places[positions], k)
    return Found(starts, positions[order], scores[order])


def _rescored(engine, starts, queries, places, k, rows, documents, how: Aggregation) -> Found:
    """Candidates by the exact scores of all their passages."""
    counts = np.diff(starts)[documents]
    inner = np.concatenate(([0], np.cumsum(counts)))
    units = np.repeat(starts[documents] - inner[:-1], counts) + np.arange(inner[-1])
    exact = engine.exact(queries, np.repeat(rows, counts), units)
    scores = _aggregated(exact[None, :], inner, how.kind, how.top)[0].astype(np.float32)
    passages = starts[documents] + _first_best(exact, inner)
    begin, order = _ordered(engine.only_positive, len(queries), rows, scores, places[documents], k)
    return Found(begin, documents[order], scores[order], passages[order])


def _ordered(only_positive: bool, n: int, rows, scores, places,
             k: int) -> tuple[np.ndarray, np.ndarray]:
    """The tie rule over candidates, cut to k a query: where each query's begin, and their order."""
    some = np.flatnonzero(scores > 0) if only_positive else np.arange(len(scores))
    if len(some) and (np.diff(rows) < 0).any():  # of several parts
        some = some[np.argsort(rows[some], kind="stable")]
    order = some[_sorted(np.searchsorted(rows[some], np.arange(n + 1)), scores[some], places[some])]
    begin = np.searchsorted(rows[order], np.arange(n + 1))
    order = order[np.arange(len(order)) - begin[rows[order]] < k]
    return np.searchsorted(rows[order], np.arange(n + 1)), order


@dataclass
class _Kept:
    """The candidates of each query so far: all whose exact score can be among the k best."""

    k: int
    slack: np.ndarray
    floor: np.ndarray
    weight: np.ndarray  # how many slacks a unit's value may be off
    limit: np.ndarray   # what a value plus its slack must reach to be kept
    units: np.ndarray
    values: np.ndarray
    count: np.ndarray

    @classmethod
    def empty(cls, engine, queries, k: int, weight: np.ndarray) -> "_Kept":
        n, room = len(queries), max(ROOM * k, 64)
        return cls(k, engine.slack(queries), engine.floor(queries), weight,
                   np.full(n, -np.inf, np.float32), np.empty((n, room), np.int32), np.empty((n, room), np.float32),
                   np.zeros(n, np.int64))

    def take(self, values: np.ndarray, first: int) -> None:
        """values: float32, queries × units from `first` on."""
        done = np.zeros(len(values), np.int64)
        while True:
            _take(values, first, self.k, self.slack, self.floor, self.weight, self.limit,
                  self.units, self.values, self.count, done)
            if (done == values.shape[1]).all():
                return
            # more units within the slack of the k-th than there is room for
            self.units = np.concatenate((self.units, np.empty_like(self.units)), axis=1)
            self.values = np.concatenate((self.values, np.empty_like(self.values)), axis=1)

    def candidates(self) -> tuple[np.ndarray, np.ndarray]:
        """rows, ascending, and units, both int64."""
        _sort_out(self.k, self.slack, self.weight, self.limit, self.units, self.values, self.count)
        held = np.arange(self.units.shape[1]) < self.count[:, None]
        return np.nonzero(held)[0], self.units[held].astype(np.int64)


@numba.njit(parallel=True, cache=True)
def _sorted(begin, scores, places):
    """The order of each stretch by score, then place, the highest first."""
    order = np.empty(len(scores), np.int64)
    for i in numba.prange(len(begin) - 1):
        own = slice(begin[i], begin[i + 1])
        by_place = np.argsort(-places[own])
        by_score = np.argsort(-scores[own][by_place], kind="mergesort")
        order[own] = begin[i] + by_place[by_score]
    return order


@numba.njit(parallel=True, cache=True)
def _take(values, first, k, slack, floor, weight, limit, units, kept, count, done):
    room, n = units.shape[1], values.shape[1]
    most = weight[first:first + n].max()
    for i in numba.prange(len(values)):
        row, j = values[i], done[i]
        if limit[i] == -np.inf and j == 0:
            limit[i] = _first_limit(row, k, floor[i], slack[i] * most)
        low = _low(limit[i], floor[i], slack[i] * most)
        while j < n:
            if j % RUN == 0:  # most stretches hold none, which is seen by many values at a time
                some = np.int32(0)  # of the values' width, so that many are compared at once
                for c in range(j, min(j + RUN, n)):
                    some |= np.int32(row[c] >= low)
                if some == 0:
                    j += RUN
                    continue
            if row[j] >= floor[i] and row[j] + slack[i] * weight[first + j] >= limit[i]:
                if count[i] == room:
                    _tighten(i, k, slack, weight, limit, units, kept, count)
                    low = _low(limit[i], floor[i], slack[i] * most)
                    if count[i] == room:
                        break
                    continue  # the limit has risen
                units[i, count[i]], kept[i, count[i]] = first + j, row[j]
                count[i] += 1
            j += 1
        done[i] = min(j, n)


@numba.njit(cache=True)
def _first_limit(row, k, floor, slack):
    """What k values certainly reach: the k-th best of the maxima of 2 k stretches, less the slack."""
    size = len(row) // (2 * k)
    if size < 4:
        return np.float32(-np.inf)
    best = np.empty(2 * k, np.float32)
    for i in range(2 * k):
        top = row[i * size]
        for value in row[i * size:(i + 1) * size]:
            top = max(top, value)
        best[i] = top
    kth = np.partition(best, k)[k]
    return kth - slack if kth >= floor else np.float32(-np.inf)


@numba.njit(cache=True)
def _low(limit, floor, slack):
    """A value below this is certainly not to be kept, roundings of float32 allowed for."""
    low = limit - slack
    return max(floor, low - abs(low) * np.float32(5e-7))


@numba.njit(parallel=True, cache=True)
def _sort_out(k, slack, weight, limit, units, kept, count):
    for i in numba.prange(len(units)):
        _tighten(i, k, slack, weight, limit, units, kept, count)


@numba.njit(cache=True)
def _tighten(i, k, slack, weight, limit, units, kept, count):
    """Raises query i's limit to its k-th best lower bound, and drops what can't reach it."""
    n = count[i]
    if n <= k:
        return
    lower = np.empty(n, np.float32)
    for c in range(n):
        lower[c] = kept[i, c] - slack[i] * weight[units[i, c]]
    limit[i] = max(limit[i], np.partition(lower, n - k)[n - k])
    left = 0
    for c in range(n):
        if kept[i, c] + slack[i] * weight[units[i, c]] >= limit[i]:
            units[i, left], kept[i, left] = units[i, c], kept[i, c]
            left += 1
    count[i] = left


@numba.njit(parallel=True, cache=True)
def _aggregated(values, starts, kind, top):
    """queries × passages to queries × documents, in the values' own precision."""
    out = np.empty((len(values), len(starts) - 1), values.dtype)
    for i in numba.prange(len(values)):
        room = np.empty(top, values.dtype)
        for d in range(len(starts) - 1):
            own = values[i, starts[d]:starts[d + 1]]
            if kind == 0:
                out[i, d] = own.max()
                continue
            if kind == 1 and top < len(own):
                _fill_best(own, room)
                own = room
            total = 0.0  # float64: a document may have thousands of passages
            for value in own:
                total += value
            out[i, d] = total if kind == 3 else total / len(own)
    return out


@numba.njit(cache=True)
def _fill_best(values, room):
    """The best of more values than there is room for, ascending: most are below those held."""
    n = len(room)
    room[:] = np.sort(values[:n])
    for value in values[n:]:
        if value > room[0]:
            at = 1
            while at < n and room[at] < value:
                room[at - 1] = room[at]
                at += 1
            room[at - 1] = value


@numba.njit(cache=True)
def _first_best(values, starts):
    out = np.empty(len(starts) - 1, np.int64)
    for d in range(len(starts) - 1):
        out[d] = np.argmax(values[starts[d]:starts[d + 1]])
    return out
