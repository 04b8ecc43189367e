"""The kit beside its peers: what counts as the same answer, and that peers get what the kit gets."""

import numpy as np
import pytest

from kit.reporting import peers
from kit.retrieval.bm25_engine import Bm25Engine
from kit.retrieval.bm25_index import counted
from kit.retrieval.engine import Found

TEXTS = ["valve seat valve spring", "pump rod seat", "gear gear gear valve", "pump", "rod valve"]


@pytest.fixture
def index():
    return counted(TEXTS)


@pytest.fixture
def asked(index):
    return [index.vocabulary.known(text) for text in ("valve valve pump", "rod seat", "gear")]


def found_of(scores: dict[int, float]) -> Found:
    return Found(np.array([0, len(scores)]), np.array(list(scores)),
                 np.array(list(scores.values()), np.float32))


def against(ours: dict, theirs: dict) -> int:
    answer = np.array(list(theirs)), np.array(list(theirs.values()), np.float32)
    return peers._agreement(found_of(ours), [answer])["differ"]


def test_another_document_above_the_cut_is_another_answer(monkeypatch):
    monkeypatch.setattr(peers, "TOP", 3)
    ours = {1: 9.0, 2: 8.0, 3: 7.0}
    assert against(ours, {1: 9.0, 2: 8.0, 3: 7.0}) == 0
    assert against(ours, {2: 9.0, 1: 8.0, 4: 7.0}) == 0  # 3 and 4 tie at the cut
    assert against(ours, {1: 9.0, 4: 8.0, 3: 7.0}) == 1
    assert against(ours, {1: 9.0, 2: 8.0, 4: 7.5}) == 0  # nothing above 7.5 is lacking
    assert against({1: 9.0, 2: 8.0, 3: 7.5}, {1: 9.0, 4: 8.5, 2: 8.0}) == 1


def test_where_fewer_than_the_top_are_found_all_count(monkeypatch):
    monkeypatch.setattr(peers, "TOP", 3)
    assert against({1: 9.0, 2: 8.0}, {1: 9.0, 2: 8.0, 5: 0.0}) == 0  # 0 is no result
    assert against({1: 9.0, 2: 8.0}, {1: 9.0}) == 1


def test_the_difference_of_a_score_is_a_share_of_it():
    told = peers._agreement(found_of({1: 4.0, 2: 2.0}), [(np.array([2, 1]), np.array([2.5, 4.0]))])
    assert told["largest difference"] == pytest.approx(0.25)


def test_scipys_weights_are_the_engines(index, asked):
    engine = Bm25Engine(index.counts, peers.SETTINGS)
    df = engine.statistics.df
    for ids in asked:
        queries = engine.queries(*peers.collapse([ids]))
        ours = engine.exact(queries, np.zeros(len(TEXTS), np.int64), np.arange(len(TEXTS)))
        theirs = peers._weights(index, df)[ids].sum(axis=0)  # token by token, as they come
        np.testing.assert_allclose(theirs, ours, rtol=1e-6)


def test_a_peer_gets_every_token_as_often_as_it_stands_there(index):
    terms = index.vocabulary.terms()
    lists = peers._lists(index.counts)
    assert [sorted(terms[t] for t in row) for row in lists] == [sorted(t.split()) for t in TEXTS]


def test_a_slow_peer_gets_as_many_queries_as_it_can_pay(monkeypatch):
    df, queries = np.array([10, 1]), [np.array([0, 0, 1])] * 100  # 21 postings each
    monkeypatch.setattr(peers, "MOST_ADDITIONS", 21 * 30)
    assert len(peers._affordable(queries, df)) in (29, 30)
    monkeypatch.setattr(peers, "MOST_ADDITIONS", 1)
    assert len(peers._affordable(queries, df)) == 20


def test_short_work_is_done_again_and_the_least_time_counts(monkeypatch):
    ticks = iter([0.0, 0.0, 0.5, 0.6, 0.6, 0.7, 5.0, 5.0])
    monkeypatch.setattr(peers.time, "perf_counter", lambda: next(ticks))
    done = []
    value, seconds, _ = peers.clocked(lambda: done.append(1) or len(done))
    assert (value, seconds) == (2, pytest.approx(0.1))


def test_scoring_agrees_with_trec_eval_on_every_measure_that_both_have():
    assert peers.scoring("60", "50", "500")["largest difference"] < 1e-12


def test_embeddings_are_those_of_float64():
    assert peers.embeddings("30", "400", "16")["same as float64"]
