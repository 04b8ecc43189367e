"""The engine against float64 brute force over plain dicts, whatever the blocks, threads and shards."""

from collections import Counter

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from kit.retrieval import bm25_engine
from kit.retrieval.bm25_engine import Bm25Engine, Statistics, measured
from kit.retrieval.bm25_weights import DELTA, IDF, VARIANTS
from kit.retrieval.engine import best, best_by_document, aggregation, even_blocks

quick = settings(deadline=None, max_examples=60, database=None)
TERMS = 12


@st.composite
def corpora(draw):
    """Units and queries as lists of terms, some of which are frequent; places, and settings."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, queries = draw(st.integers(1, 40)), draw(st.integers(1, 6))

    def bag():
        return (rng.random(rng.integers(0, 30)) ** 2 * TERMS).astype(int).tolist()

    given = {"variant": draw(st.sampled_from(VARIANTS)),
             "k1": draw(st.sampled_from([0.0, 0.9, 1.2, 1000.0])),
             "b": draw(st.sampled_from([0.0, 0.4, 0.75, 1.0]))}
    units = [bag() for _ in range(n)]
    units[0] = units[0] or [0]
    return units, [bag() for _ in range(queries)], rng.permutation(n), given


def matrix(units, data=np.uint16) -> sparse.csr_array:
    bags = [Counter(unit) for unit in units]
    starts = np.concatenate(([0], np.cumsum([len(bag) for bag in bags])))
    terms = np.array([t for bag in bags for t in sorted(bag)], np.int32)
    counts = np.array([bag[t] for bag in bags for t in sorted(bag)], data)
    return sparse.csr_array((counts, terms, starts), shape=(len(units), TERMS))


def asked(engine, queries):
    m = matrix(queries, np.int64)
    return engine.queries(m.indptr.astype(np.int64), m.indices.astype(np.int32), m.data)


def brute(units, query, given) -> np.ndarray:
    """The sum over the shared terms, in their order, in Python's own numbers."""
    variant, k1, b, delta = (given["variant"], given["k1"], given["b"], DELTA.get(given["variant"]))
    mean = sum(map(len, units)) / len(units)
    df = np.array([sum(t in unit for unit in units) for t in range(TERMS)])
    there = df > 0  # a vocabulary has no other terms
    idf = np.zeros(TERMS)
    idf[there] = IDF[variant](len(units), df[there])
    out = []
    for unit in units:
        relative, total, held = 1 - b + b * len(unit) / mean, 0.0, Counter(unit)
        for term, count in sorted(Counter(query).items()):
            if tf := float(held[term]):
                weight = {
                    "lucene": lambda: idf[term] * tf / (tf + k1 * relative),
                    "okapi": lambda: idf[term] * tf * (k1 + 1) / (tf + k1 * relative),
                    "bm25plus": lambda: idf[term] * (tf * (k1 + 1) / (tf + k1 * relative) + delta),
                    "bm25l": lambda: idf[term] * (k1 + 1) * (tf / relative + delta) / (
                        k1 + tf / relative + delta)}[variant]()
                total += count * float(weight)
        out.append(total)
    return np.array(out)


def known(units, queries):
    """The same with the terms renumbered, so that each stands in a unit."""
    place = {t: i for i, t in enumerate(sorted({t for unit in units for t in unit}))}
    return ([[place[t] for t in unit] for unit in units],
            [[place[t] for t in query if t in place] for query in queries])


def by_rule(scores, places, k):
    rounded = scores.astype(np.float32)
    order = sorted(range(len(scores)), key=lambda i: (-rounded[i], -places[i]))
    return [(i, rounded[i]) for i in order if rounded[i] > 0][:k]


def rankings(found):
    return [list(zip(found.positions[a:b].tolist(), found.scores[a:b].tolist()))
            for a, b in zip(found.starts, found.starts[1:])]


def without_empty_terms(units):
    m = matrix(units)
    m.resize((len(units), max(t for unit in units for t in unit) + 1))
    return m


@quick
@given(corpora(), st.integers(1, 12), st.integers(1, 40), st.sampled_from([0.0, 70.0, 1e9]))
def test_the_best_are_those_of_brute_force(case, k, size, posting):
    units, queries, places, given = case
    units, queries = known(units, queries)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bm25_engine, "POSTING", posting)  # none dense, as it comes, all dense
        engine = Bm25Engine(without_empty_terms(units), given, even_blocks(len(units), size))
        found = best(engine, asked(engine, queries), places, k)
    assert rankings(found) == [by_rule(brute(units, q, given), places, k) for q in queries]


@quick
@given(corpora(), st.integers(1, 40))
def test_no_product_is_off_by_more_than_its_slack(case, size):
    units, queries, _, given = case
    units, queries = known(units, queries)
    engine = Bm25Engine(without_empty_terms(units), given, even_blocks(len(units), size))
    batch = asked(engine, queries)
    for start, stop in engine.blocks:
        products = engine.products(batch, start, stop)
        for row, query, slack in zip(products, queries, engine.slack(batch)):
            exact = brute(units, query, given)[start:stop]
            assert (np.abs(row - exact) <= slack).all()


def test_the_slack_holds_for_sums_that_lose_every_bit():
    # one large weight, and thousands that float32 drops one by one when they are added to it
    n = 4000
    counts = sparse.csr_array(np.ones((2, n), np.uint16))
    engine = Bm25Engine(counts, {"variant": "lucene", "k1": 1.2, "b": 0.0})
    often = np.ones(n, np.int64)
    often[0] = 2**24
    terms = np.arange(n, dtype=np.int32)
    batch = engine.queries(np.array([0, n]), terms, often)
    exact = engine.exact(batch, np.zeros(2, np.int64), np.arange(2))
    off = np.abs(engine.products(batch, 0, 2)[0] - exact)
    assert 0 < off.max() <= engine.slack(batch)[0]
    one_by_one = np.float32(0)
    for count, weight in zip(often, np.float32(engine._idf / 2.2)):
        one_by_one += np.float32(count) * weight
    assert abs(one_by_one - exact[0]) <= engine.slack(batch)[0]
    assert abs(one_by_one - exact[0]) > engine.slack(batch)[0] / n


@quick
@given(corpora(), st.integers(1, 5), st.integers(1, 12))
def test_shards_give_what_the_whole_gives(case, parts, k):
    units, queries, places, given = case
    units, queries = known(units, queries)
    counts = without_empty_terms(units)
    whole = Bm25Engine(counts, given)
    of_parts = [measured(counts[rows])[1] for rows in np.array_split(np.arange(len(units)), parts)]
    of_all = Statistics(sum(p.units for p in of_parts), sum(p.words for p in of_parts),
                        sum(p.df for p in of_parts))
    together = [[] for _ in queries]
    for rows in np.array_split(np.arange(len(units)), parts):
        shard = Bm25Engine(counts[rows], given, of_all=of_all)
        for into, found in zip(together, rankings(best(shard, asked(shard, queries), places[rows], k))):
            into += [(int(rows[i]), score) for i, score in found]
    merged = [sorted(found, key=lambda f: (-f[1], -places[f[0]]))[:k] for found in together]
    assert merged == rankings(best(whole, asked(whole, queries), places, k))


@quick
@given(corpora())
def test_any_number_of_threads_gives_the_same(case):
    units, queries, places, given = case
    units, queries = known(units, queries)
    found = []
    for threads in (1, min(2, numba.config.NUMBA_NUM_THREADS)):
        numba.set_num_threads(threads)
        engine = Bm25Engine(without_empty_terms(units), given)
        found.append(rankings(best(engine, asked(engine, queries), places, 9)))
    assert found[0] == found[1]


def test_passages_are_units_too():
    units = [[0, 1], [2], [0, 0, 1], [3, 1]]  # of two documents
    counts, given = without_empty_terms(units), {"variant": "lucene", "k1": 1.2, "b": 0.75}
    engine = Bm25Engine(counts, given, [(0, 2), (2, 4)])
    found, = best_by_document(engine, np.array([0, 2, 4]), asked(engine, [[0, 1]]), np.arange(2), 5,
                              [aggregation("maxP")])
    scores = brute(units, [0, 1], given)
    assert found.positions.tolist() == [1, 0] and found.passages.tolist() == [2, 0]
    assert found.scores.tolist() == [np.float32(scores[2]), np.float32(scores[0])]


def test_what_is_dense_goes_by_the_queries():
    rng = np.random.default_rng(0)
    units = [np.flatnonzero(rng.random(TERMS) < np.linspace(1, 0.05, TERMS)).tolist()
             for _ in range(2000)]
    engine = Bm25Engine(matrix(units), {"variant": "lucene", "k1": 1.2, "b": 0.75})
    one, many = asked(engine, units[:1]), asked(engine, units[:500])
    assert len(one.dense) == 0
    assert 0 < len(many.dense) < TERMS and many.dense.max() == len(many.dense) - 1


def test_the_dense_matrix_has_bounded_room(monkeypatch):
    units = [list(range(TERMS))] * 1000
    engine = Bm25Engine(matrix(units), {"variant": "lucene", "k1": 1.2, "b": 0.75})
    assert len(asked(engine, units[:100]).dense) == TERMS
    monkeypatch.setattr(bm25_engine, "ROOM", 3 * 1100)
    assert len(asked(engine, units[:100]).dense) == 3


def test_a_count_above_16_bits_is_counted():
    units = [[0] * 70_000 + [1], [0], [1]]
    given = {"variant": "lucene", "k1": 1000.0, "b": 0.0}
    m = matrix(units, np.int32)
    engine = Bm25Engine(m, given)
    found = best(engine, asked(engine, [[0]]), np.arange(3), 3)
    np.testing.assert_allclose(found.scores, sorted(brute(units, [0], given), reverse=True)[:2])
