"""BM25 against rank-bm25, bm25s and a plain re-statement; top_k against a plain sort."""

import math
import re
from collections import Counter

import bm25s
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rank_bm25 import BM25L, BM25Okapi, BM25Plus

from kit.errors import SearchError
from kit.retrieval import bm25
from kit.retrieval.bm25 import Bm25, tokenize
from kit.retrieval.system import top_k
from kit.text.views import texts

quick = settings(deadline=None, max_examples=60, database=None)
WORDS = ["valve", "seat", "pump", "x", "éclair", "42", "Ventil"]
TEXT = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
CORPUS = st.lists(TEXT, min_size=1, max_size=10).filter(lambda c: any(tokenize(t) for t in c))


def made(corpus: list[str], **given) -> Bm25:
    system = Bm25(**given)
    system.prepare([f"d{i:03d}" for i in range(len(corpus))], corpus)
    return system


def scores_of(answer) -> dict[str, float]:
    return dict(zip(answer.ids, answer.scores.tolist()))


def brute_lucene(corpus: list[str], query: str, k1: float, b: float) -> dict[str, float]:
    """The formula as Kamphuis et al. print it, over plain Python dicts."""
    bags = [Counter(re.findall(r"\b\w\w+\b", t.lower())) for t in corpus]
    lengths = [sum(bag.values()) for bag in bags]
    mean = sum(lengths) / len(bags)
    out = {}
    for i, bag in enumerate(bags):
        score = 0.0
        for term in re.findall(r"\b\w\w+\b", query.lower()):
            df = sum(term in other for other in bags)
            norm = k1 * (1 - b + b * lengths[i] / mean)
            if bag[term]:
                score += math.log(1 + (len(bags) - df + 0.5) / (df + 0.5)) * bag[term] / (bag[term] + norm)
        if score > 0:
            out[f"d{i:03d}"] = score
    return out


@quick
@given(CORPUS, TEXT, st.sampled_from([(1.2, 0.75), (0.9, 0.4), (0.0, 1.0), (2.0, 0.0)]))
def test_lucene_is_its_formula(corpus, query, constants):
    k1, b = constants
    found = scores_of(made(corpus, k1=k1, b=b).search_batch([query], 99)[0])
    assert found == pytest.approx(brute_lucene(corpus, query, k1, b), rel=1e-6)


@quick
@given(CORPUS, TEXT, st.integers(1, 5))
def test_a_ranking_is_by_score_then_id_descending(corpus, query, k):
    # rounded to what float32 tells apart, as equal documents can differ in the last bit here
    plain = brute_lucene(corpus, query, 1.2, 0.75)
    best = sorted(plain, reverse=True)
    best.sort(key=lambda d: -float(np.float32(plain[d])))
    answer = made(corpus).search_batch([query], k)[0]
    assert [round(plain[d], 6) for d in answer.ids] == [round(plain[d], 6) for d in best[:k]]
    pairs = list(zip(answer.scores.tolist(), answer.ids))
    assert pairs == sorted(pairs, reverse=True)


@pytest.fixture(scope="module")
def mini_texts(mini):
    return list(texts(mini, "corpus", "ta")), list(texts(mini, "queries", "ta"))[:40]


def test_okapi_scores_and_ranks_as_rank_bm25_does(mini_texts):
    corpus, queries = mini_texts
    theirs = BM25Okapi([tokenize(t) for t in corpus], k1=1.2, b=0.75)
    answers = made(corpus, variant="okapi").search_batch(queries, len(corpus))
    for query, answer in zip(queries, answers):
        expected = theirs.get_scores(tokenize(query))
        positive = {f"d{i:03d}": s for i, s in enumerate(expected) if np.float32(s) > 0}
        assert scores_of(answer) == pytest.approx(positive, rel=1e-6, abs=1e-6)
        in_order = np.array([positive[d] for d in answer.ids])
        assert (np.diff(in_order) <= 1e-6).all()


def test_the_reference_engine_ranks_as_okapi_does(mini_texts):
    corpus, queries = mini_texts
    ours, theirs = (made(corpus, **given).search_batch(queries[:10], 100) for given in (
        {"variant": "okapi"}, {"engine": "rank-bm25"}))
    assert [a.ids for a in ours] == [a.ids for a in theirs]


def test_lucene_scores_as_bm25s_does(mini_texts):
    corpus, queries = mini_texts
    peer = bm25s.BM25(method="lucene", k1=1.2, b=0.75, dtype="float64")
    peer.index([tokenize(t) for t in corpus], show_progress=False)
    for query, answer in zip(queries, made(corpus).search_batch(queries, len(corpus))):
        expected = peer.get_scores(tokenize(query))
        assert scores_of(answer) == pytest.approx(
            {f"d{i:03d}": s for i, s in enumerate(expected) if s > 0}, rel=1e-5)


def in_order(n: int, answer) -> np.ndarray:
    """An answer's scores by document, 0 for those that it lacks."""
    found = scores_of(answer)
    return np.array([found.get(f"d{i:03d}", 0.0) for i in range(n)])


def absent(corpus: list[str], query: str, idf: dict, constant: float) -> np.ndarray:
    """What an implementation that weighs absent terms too adds to each document."""
    bags = [set(tokenize(t)) for t in corpus]
    return np.array([sum(idf[t] * constant for t in tokenize(query) if t in idf and t not in bag)
                     for bag in bags])


def test_bm25plus_is_rank_bm25s_but_for_terms_that_a_document_lacks(mini_texts):
    corpus, queries = mini_texts
    theirs = BM25Plus([tokenize(t) for t in corpus], k1=1.2, b=0.75, delta=1)
    ours = made(corpus, variant="bm25plus").search_batch(queries, len(corpus))
    for query, answer in zip(queries, ours):
        expected = theirs.get_scores(tokenize(query)) - absent(corpus, query, theirs.idf, 1)
        np.testing.assert_allclose(in_order(len(corpus), answer), expected, rtol=1e-5, atol=1e-5)


def test_bm25l_is_rank_bm25s_where_a_document_has_a_term_once(mini_texts):
    corpus, queries = [" ".join(set(tokenize(t))) for t in mini_texts[0]], mini_texts[1]
    theirs = BM25L([tokenize(t) for t in corpus], k1=1.2, b=0.75, delta=0.5)
    ours = made(corpus, variant="bm25l").search_batch(queries, len(corpus))
    for query, answer in zip(queries, ours):
        np.testing.assert_allclose(in_order(len(corpus), answer), theirs.get_scores(tokenize(query)),
                                   rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("variant, method, delta", [("bm25plus", "bm25+", 1.0), ("bm25l", "bm25l", 0.5)])
def test_the_papers_variants_are_bm25s_but_for_terms_that_a_document_lacks(
        mini_texts, variant, method, delta):
    corpus, queries = mini_texts
    peer = bm25s.BM25(method=method, k1=1.2, b=0.75, delta=delta, dtype="float64")
    peer.index([tokenize(t) for t in corpus], show_progress=False)
    lacks = {t: peer.nonoccurrence_array[i] for t, i in peer.vocab_dict.items() if t}
    ours = made(corpus, variant=variant).search_batch(queries, len(corpus))
    for query, answer in zip(queries, ours):
        expected = peer.get_scores(tokenize(query)) - absent(corpus, query, lacks, 1)
        np.testing.assert_allclose(in_order(len(corpus), answer), expected, rtol=1e-5, atol=1e-4)


def test_the_different_terms_of_queries_are_counted():
    system = made(["valve seat", "pump rod gear"])
    system.search_batch(["valve valve seat unknown", "pump rod gear", ""], 9)
    assert system.notes() == {"query_terms": 5, "query_terms_most": 3}
    assert system.notes() == {}


@pytest.mark.parametrize("engine", ["kit", "rank-bm25"])
def test_a_term_counts_as_often_as_the_query_has_it(engine):
    system = made(["valve seat", "pump rod", "gear", "lever", "cam"], engine=engine)
    once, twice = (scores_of(a) for a in system.search_batch(["valve pump", "valve valve pump"], 9))
    assert twice["d000"] == pytest.approx(2 * once["d000"])
    assert twice["d001"] == once["d001"]


@pytest.mark.parametrize("engine", ["kit", "rank-bm25"])
@pytest.mark.parametrize("query", ["", "unknown words", "x", "!?"])
def test_a_query_without_a_known_term_finds_nothing(engine, query):
    assert made(["valve seat x", "pump", "gear"], engine=engine).search(query, 9) == []


@pytest.mark.parametrize("engine", ["kit", "rank-bm25"])
def test_a_document_without_a_common_term_is_no_result(engine):
    assert made(["valve", "pump", "", "gear"], engine=engine).search("pump valve", 9) == ["d001", "d000"]


@pytest.mark.parametrize("engine", ["kit", "rank-bm25"])
@pytest.mark.parametrize("corpus", [["", ""], ["a b", "!"]])
def test_a_corpus_without_a_term_is_refused(engine, corpus):
    with pytest.raises(SearchError, match="single term"):
        made(corpus, engine=engine)


def test_lucene_finds_a_term_that_is_in_every_document():
    assert made(["valve", "valve", "valve"]).search("valve", 9) == ["d002", "d001", "d000"]


def test_rank_bm25_is_refused_where_it_would_take_long(monkeypatch):
    monkeypatch.setattr(bm25, "RANK_BM25_LIMIT", 5)
    system = made(["valve", "pump", "gear"], engine="rank-bm25")
    system.search("pump", 1)
    with pytest.raises(SearchError, match="bm25_engine: kit with bm25_variant: okapi"):
        system.search("pump valve", 1)


def test_a_word_has_two_letters_in_any_script():
    assert tokenize("The V8-Ventil, größer: 磁気 弁 a_b É ÉT") == [
        "the", "v8", "ventil", "größer", "磁気", "a_b", "ét"]


@quick
@given(st.lists(st.sampled_from([0.0, 1.0, 1.0000001, 2.0, -1.0]), min_size=1, max_size=30), st.data())
def test_top_k_is_the_plain_sort(scores, data):
    n = len(scores)
    places = np.array(data.draw(st.permutations(range(n))))
    k = data.draw(st.integers(1, n + 2))
    array = np.array(scores, np.float32)
    expected = sorted(range(n), key=lambda i: (-float(array[i]), -places[i]))[:k]
    assert top_k(array, places, k).tolist() == expected
