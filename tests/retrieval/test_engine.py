"""Search by blocks against brute force over the exact scores."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kit.retrieval import engine
from kit.retrieval.engine import aggregation, best, best_by_document, document_blocks, even_blocks

OFF = 0.01  # how far a product of the test's engine is off


class Table:
    """An engine over a table of exact scores; its products are off by up to OFF."""

    def __init__(self, scores, blocks, seed=0, only_positive=False):
        self.scores, self.blocks, self.only_positive = scores, blocks, only_positive
        off = np.random.default_rng(seed).uniform(-OFF, OFF, scores.shape)
        self.seen = np.where(scores == 0, 0, scores + off).astype(np.float32)

    def products(self, queries, start, stop):
        return self.seen[queries, start:stop]

    def slack(self, queries):
        return np.full(len(queries), OFF + 1e-4, np.float32)

    def floor(self, queries):
        return np.full(len(queries), -OFF if self.only_positive else -np.inf, np.float32)

    def exact(self, queries, rows, units):
        return self.scores[queries[rows], units]


def by_rule(scores, places, k, only_positive=False):
    """[(position, float32 score)] of one query by brute force: score, then place, descending."""
    rounded = scores.astype(np.float32)
    order = sorted(range(len(scores)), key=lambda i: (-rounded[i], -places[i]))
    return [(i, rounded[i]) for i in order if rounded[i] > 0 or not only_positive][:k]


def rankings(found):
    return [list(zip(found.positions[a:b].tolist(), found.scores[a:b]))
            for a, b in zip(found.starts, found.starts[1:])]


@st.composite
def tables(draw):
    """Scores with many ties and near-ties, places, k, and the size of a block."""
    n, queries = draw(st.integers(1, 60)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    scores = rng.integers(0, draw(st.integers(1, 9)), (queries, n)) + rng.choice(
        [0, 1e-3, 1e-9], (queries, n))
    return scores, rng.permutation(n), draw(st.integers(1, 12)), draw(st.integers(1, n))


@given(tables(), st.booleans())
@settings(deadline=None)
def test_the_best_are_those_of_brute_force(case, only_positive):
    scores, places, k, size = case
    table = Table(scores, even_blocks(scores.shape[1], size), only_positive=only_positive)
    found = rankings(best(table, np.arange(len(scores)), places, k))
    assert found == [by_rule(row, places, k, only_positive) for row in scores]


@given(tables(), st.sampled_from(["maxP", "avgP", "sumP", "avg_top2", "avg_top3"]),
       st.randoms(use_true_random=False))
@settings(deadline=None)
def test_documents_go_by_their_passages(case, name, random):
    scores, _, k, size = case
    n = scores.shape[1]
    starts = np.array([0, *sorted(random.sample(range(1, n), random.randint(0, n - 1))), n])
    places = np.random.default_rng(n).permutation(len(starts) - 1)
    how = {"maxP": max, "avgP": np.mean, "sumP": sum, "avg_top2": lambda v: np.mean(sorted(v)[-2:]),
           "avg_top3": lambda v: np.mean(sorted(v)[-3:])}[name]
    table = Table(scores, document_blocks(starts, size))
    found, = best_by_document(table, starts, np.arange(len(scores)), places, k, [aggregation(name)])
    for row, mine, begin in zip(scores, rankings(found), found.starts):
        whole = np.array([how(row[a:b]) for a, b in zip(starts, starts[1:])])
        np.testing.assert_allclose([s for _, s in mine], [s for _, s in by_rule(whole, places, k)],
                                   rtol=1e-6)
        for place, (document, _) in enumerate(mine):
            own = row[starts[document]:starts[document + 1]]
            assert found.passages[begin + place] == starts[document] + np.argmax(own)


@given(tables(), st.sampled_from(["maxP", "avgP", "sumP", "avg_top3"]))
@settings(deadline=None)
def test_one_passage_a_document_is_document_search(case, name):
    scores, places, k, size = case
    n, queries = scores.shape[1], np.arange(len(scores))
    table = Table(scores, even_blocks(n, size))
    found, = best_by_document(table, np.arange(n + 1), queries, places, k, [aggregation(name)])
    assert rankings(found) == rankings(best(table, queries, places, k))


def test_all_that_tie_with_the_last_are_weighed():
    scores = np.ones((1, 5000))
    found = best(Table(scores, even_blocks(5000, 64)), np.arange(1), np.arange(5000), 3)
    assert found.positions.tolist() == [4999, 4998, 4997]


def test_blocks_end_where_documents_end():
    starts = np.array([0, 3, 4, 30, 31, 33])
    assert document_blocks(starts, 5) == [(0, 4), (4, 30), (30, 33)]


def test_no_query_gives_no_ranking():
    found = best(Table(np.ones((0, 4)), even_blocks(4)), np.arange(0), np.arange(4), 3)
    assert found.starts.tolist() == [0] and len(found.positions) == 0


@pytest.mark.parametrize("name", ["max", "avg_top", "avg_top0", "avg_top-1", "avg_top²", ""])
def test_an_unknown_aggregation_is_refused(name):
    with pytest.raises(ValueError):
        engine.aggregation(name)
