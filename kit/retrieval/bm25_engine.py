"""BM25 as an engine of kit.retrieval.engine: the units are rows of a count matrix.

A score is linear in the query's counts, so a query is its distinct terms with their counts. Of a
block of units, the terms that stand in many of its queries and units are a dense matrix, and one
matrix product scores them; the rest is added from postings. Which are which is decided anew for
each batch of queries, by what either way would cost: for a few short queries none are dense.
"""

from dataclasses import dataclass

import numba
import numpy as np

from kit.retrieval.bm25_weights import Formula, Statistics, gain
from kit.retrieval.engine import even_blocks, shaped

# Costs relative to each other, measured on two cores of a server; the optimum is flat.
CELL = 1.0      # one number of one unit in the matrix product
POSTING = 70.0  # one posting added to one query's scores
FILL = 70.0     # one posting written into the dense matrix
CLEAR = 6.0     # one cell of the dense matrix cleared
ROOM = 2**26    # numbers in the dense matrix and the queries' one together, at most
TABLE = 64      # gains of the counts below this are reckoned once a unit, not once a posting
UNIT = np.finfo(np.float32).eps / 2


@dataclass(frozen=True)
class Queries:
    """A batch of queries: query i has terms[starts[i]:starts[i + 1]], ascending, with counts.

    dense: the terms that the matrix product scores, ascending, and matrix, queries × dense,
    float32: their counts. The other three are the rest, for the postings.
    """

    starts: np.ndarray
    terms: np.ndarray
    counts: np.ndarray
    dense: np.ndarray
    matrix: np.ndarray
    rare_starts: np.ndarray
    rare_terms: np.ndarray
    rare_counts: np.ndarray

    def __len__(self) -> int:
        return len(self.starts) - 1


class Bm25Engine:
    """The units of a count matrix, weighed. It is asked by one thread at a time.

    counts: units × terms, the columns of a row ascending; its indptr, indices (int32), data (of any
    integer type) and shape, as a sparse matrix or `bm25_index.Counts` has them.
    settings: variant, k1 and b. blocks: as the engine asks for them; they follow
    each other from 0 to the last unit. Where these units are a part of all, of_all: how many units
    and words all have, and idf: float64 a column, by all.
    """

    only_positive = True

    def __init__(self, counts, settings: dict,
                 blocks: list[tuple[int, int]] | None = None, of_all: Statistics | None = None,
                 idf: np.ndarray | None = None):
        self.blocks = even_blocks(counts.shape[0]) if blocks is None else blocks
        self._rows = _rows(counts)
        self._most = int(self._rows[2].max(initial=0))
        lengths, own = measured(counts)
        self.statistics = own if of_all is None else of_all
        self.formula = Formula.of(settings)
        self._idf = self.formula.idf(self.statistics) if idf is None else idf
        self._relative = self.formula.relative(lengths, self.statistics)
        self._df = own.df
        self._filled = self._products = np.empty(0, np.float32)  # kept: new room costs a quarter
        self._places = {start: i for i, (start, _) in enumerate(self.blocks)}
        widest = max((stop - start for start, stop in self.blocks), default=0)
        self._widest = widest
        self._borders = np.array([0, *(stop for _, stop in self.blocks)], np.int64)
        self._pointers = np.zeros((len(self.blocks), counts.shape[1] + 2), np.uint32)
        self._units = np.empty(len(counts.data), np.uint16 if widest <= 2**16 else np.int32)
        self._weights = np.empty(len(counts.data), np.float32)
        _invert(*self._rows, self._borders, self.formula, self._idf, self._relative,
                self._pointers, self._units, self._weights)

    def queries(self, starts: np.ndarray, terms: np.ndarray, counts: np.ndarray) -> Queries:
        """A batch: query i has terms[starts[i]:starts[i + 1]] (int32, ascending) with counts."""
        n = len(starts) - 1
        dense = self._dense(terms, n)
        column = np.full(len(self._df), -1, np.int32)
        column[dense] = np.arange(len(dense), dtype=np.int32)
        matrix = np.zeros((n, len(dense)), np.float32)
        rare = _part(starts, terms, counts, column, matrix)
        return Queries(starts, terms, counts, dense, matrix, *rare)

    def products(self, queries: Queries, start: int, stop: int) -> np.ndarray:
        """float32, queries × (stop - start), in room that the next call uses again."""
        block = self._places[start]
        postings = (self._pointers[block], self._rows[0][start], self._units, self._weights)
        self._products, out = shaped(self._products, len(queries), stop - start)
        if len(queries.dense):
            self._filled, filled = shaped(self._filled, len(queries.dense), stop - start)
            _fill(queries.dense, *postings, filled)
            np.matmul(queries.matrix, filled, out=out)
        else:
            out[:] = 0
        _add(queries.rare_starts, queries.rare_terms, queries.rare_counts, *postings, out)
        return out

    def slack(self, queries: Queries) -> np.ndarray:
        """float32 a query: a sum of n products in float32, in any order, is off by less than
        gamma(n + 1) times the sum of their sizes (Higham, Accuracy and Stability, 3.1 and 4.2);
        six units more are for the roundings of the comparison itself."""
        units = (np.diff(queries.starts) + 8) * UNIT
        sizes = _sizes(queries.starts, queries.terms, queries.counts, self._idf)
        slack = sizes * self.formula.most() * units / (1 - units)
        return np.nextafter(slack.astype(np.float32), np.float32(np.inf))

    def floor(self, queries: Queries) -> np.ndarray:
        """float32 a query: where no weight is negative, a sum is above 0 if and only if its product is."""
        if len(self._idf) and self._idf.min() < 0:
            return -self.slack(queries)
        return np.full(len(queries), np.finfo(np.float32).tiny, np.float32)

    def exact(self, queries: Queries, rows: np.ndarray, units: np.ndarray) -> np.ndarray:
        """float64 scores of pairs, each summed in the order of the terms."""
        out = np.empty(len(rows))
        begin = np.searchsorted(rows, np.arange(len(queries) + 1))
        _exact(*self._rows, self._most, self.formula, self._idf, self._relative, queries.starts,
               queries.terms, queries.counts, begin, units,
               min(len(queries), numba.get_num_threads()), out)
        return out

    def _dense(self, terms: np.ndarray, n: int) -> np.ndarray:
        """The terms for which n queries' matrix product is cheaper than their postings."""
        size = len(self._relative)
        asked = np.bincount(terms, minlength=len(self._df))
        gain = (POSTING * asked - FILL) * self._df - (CELL * n + CLEAR) * size
        dense = np.flatnonzero(gain > 0)
        most = ROOM // (self._widest + n)
        if len(dense) > most:
            dense = np.sort(dense[np.argsort(-gain[dense], kind="stable")[:most]])
        return dense


def measured(counts) -> tuple[np.ndarray, Statistics]:
    """Each unit's length in words (int64), and the statistics of all units of the matrix."""
    lengths = np.empty(counts.shape[0], np.int64)
    df = np.zeros(counts.shape[1], np.int64)
    _measure(*_rows(counts), lengths, df)
    return lengths, Statistics(counts.shape[0], int(lengths.sum()), df)


def _rows(counts) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where rows begin, their columns and counts; not to be written to, as memory-mapped ones are,
    for the loops are compiled anew for every kind of array."""
    arrays = (counts.indptr.astype(np.int64), counts.indices.view(), counts.data.view())
    for array in arrays:
        array.flags.writeable = False
    return arrays


@numba.njit(cache=True)
def _measure(indptr, terms, counts, lengths, df):
    for row in range(len(lengths)):
        total = 0
        for p in range(indptr[row], indptr[row + 1]):
            total += counts[p]
            df[terms[p]] += 1
        lengths[row] = total


@numba.njit(parallel=True, cache=True)
def _invert(indptr, terms, counts, borders, formula, idf, relative, pointers, units, weights):
    """The postings of each block by term, weighed. Afterwards term t of block b has those from
    pointers[b, t] to pointers[b, t + 1], counted from the block's first."""
    for b in numba.prange(len(pointers)):
        pointer, first, last = pointers[b], borders[b], borders[b + 1]
        base = indptr[first]
        for p in range(base, indptr[last]):
            pointer[terms[p] + 2] += 1
        for t in range(2, len(pointer)):
            pointer[t] += pointer[t - 1]
        for row in range(first, last):
            for p in range(indptr[row], indptr[row + 1]):
                t = terms[p]
                place = base + pointer[t + 1]
                pointer[t + 1] += 1
                units[place] = row - first
                weights[place] = idf[t] * gain(formula, float(counts[p]), relative[row])


@numba.njit(parallel=True, cache=True)
def _part(starts, terms, counts, column, matrix):
    """Writes the counts of the terms that have a column; returns starts, terms, counts of the rest."""
    n = len(matrix)
    rare_starts = np.zeros(n + 1, np.int64)
    for i in numba.prange(n):
        rare = 0
        for j in range(starts[i], starts[i + 1]):
            rare += column[terms[j]] < 0
        rare_starts[i + 1] = rare
    rare_starts = np.cumsum(rare_starts)
    rare_terms, rare_counts = np.empty(rare_starts[n], terms.dtype), np.empty(rare_starts[n], np.float32)
    for i in numba.prange(n):
        place = rare_starts[i]
        for j in range(starts[i], starts[i + 1]):
            if column[terms[j]] >= 0:
                matrix[i, column[terms[j]]] = counts[j]
            else:
                rare_terms[place], rare_counts[place] = terms[j], counts[j]
                place += 1
    return rare_starts, rare_terms, rare_counts


@numba.njit(parallel=True, cache=True)
def _sizes(starts, terms, counts, idf):
    """The sum of |count × idf| a query."""
    out = np.zeros(len(starts) - 1)
    for i in numba.prange(len(out)):
        total = 0.0
        for j in range(starts[i], starts[i + 1]):
            total += abs(counts[j] * idf[terms[j]])
        out[i] = total
    return out


@numba.njit(parallel=True, cache=True)
def _fill(dense, pointer, base, units, weights, out):
    for i in numba.prange(len(dense)):
        row, t = out[i], dense[i]
        row[:] = 0
        for p in range(base + pointer[t], base + pointer[t + 1]):
            row[units[p]] = weights[p]


@numba.njit(parallel=True, cache=True)
def _add(starts, terms, counts, pointer, base, units, weights, out):
    """Adds the postings of each query's terms. Where they are is looked up first for all of them:
    most are few, and each look-up waits for memory."""
    for i in numba.prange(len(out)):
        row, own = out[i], slice(starts[i], starts[i + 1])
        asked, often = terms[own], counts[own]
        first, last = np.empty(len(asked), np.uint64), np.empty(len(asked), np.uint64)
        for j in range(len(asked)):
            t = np.uint32(asked[j])
            first[j] = np.uint64(base) + pointer[t]
            last[j] = np.uint64(base) + pointer[t + np.uint32(1)]
        for j in range(len(asked)):
            unit, weight, count = units[first[j]:last[j]], weights[first[j]:last[j]], often[j]
            for p in range(len(unit)):
                row[unit[p]] += count * weight[p]


@numba.njit(parallel=True, cache=True)
def _exact(indptr, columns, tfs, most, formula, idf, relative, starts, terms, counts, begin, units, parts,
           out):
    """A unit's terms that the query has are found by a bit a term, without a branch, then weighed:
    (count × idf) × gain. Places are unsigned, for which numba need not think of negative ones."""
    n = len(starts) - 1
    for part in numba.prange(parts):
        asked = np.zeros(len(idf), np.float64)  # by term: its count in the query at hand × idf
        gains = np.empty(max(TABLE, most + 1), np.float64)  # by count, of the unit at hand
        bits = np.zeros(len(idf) // 64 + 1, np.uint64)
        shared, tf = np.empty(len(idf) + 1, np.uint32), np.empty(len(idf) + 1, np.uint32)
        for i in range(n * part // parts, n * (part + 1) // parts):
            for j in range(starts[i], starts[i + 1]):
                asked[terms[j]] = counts[j] * idf[terms[j]]
                bits[terms[j] >> 6] |= np.uint64(1) << np.uint64(terms[j] & 63)
            for pair in range(begin[i], begin[i + 1]):
                length, found, total = relative[units[pair]], np.uint64(0), 0.0
                first, last = np.uint64(indptr[units[pair]]), np.uint64(indptr[units[pair] + 1])
                for p in range(first, last):
                    t = np.uint32(columns[p])
                    shared[found], tf[found] = t, tfs[p]
                    found += bits[t >> np.uint32(6)] >> np.uint64(t & np.uint32(63)) & np.uint64(1)
                for few in range(1, TABLE):
                    gains[few] = gain(formula, float(few), length)
                for s in range(found):
                    if tf[s] >= np.uint32(TABLE):
                        gains[tf[s]] = gain(formula, float(tf[s]), length)
                for s in range(found):
                    total += asked[shared[s]] * gains[tf[s]]
                out[pair] = total
            for j in range(starts[i], starts[i + 1]):
                asked[terms[j]] = 0
                bits[terms[j] >> 6] = 0
