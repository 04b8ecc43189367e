"""Shards without a cluster: cut anywhere, they give what one machine gives, bit by bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kit.collection.sources import open_collection
from kit.errors import CollectionError, SearchError
from kit.files import digest_of
from kit.retrieval import shards
from kit.retrieval.bm25 import Bm25, collapsed
from kit.retrieval.bm25_weights import VARIANTS
from kit.retrieval.dense import Cosines
from kit.retrieval.engine import Found, best, merged
from kit.text.views import texts

quick = settings(deadline=None, max_examples=25, database=None)
WORDS = ["valve", "seat", "pump", "x", "éclair", "42"]
TEXT = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
CORPUS = st.lists(TEXT, min_size=1, max_size=12)


def rows_of(collection, parts) -> list[shards.Rows]:
    ids = list(collection.ids("corpus"))
    return [shards.Rows("tiny", None, False, "title", a, b, digest_of(ids[a:b]), shards.code())
            for a, b in parts]


@pytest.fixture(scope="module")
def held(hold_collection):
    """A function that makes a collection of titles, which then is what every worker opens."""
    with pytest.MonkeyPatch.context() as patch:
        def hold(titles):
            collection = hold_collection(["q1"], [
                {"doc_id": f"d{i * 7 % 100:02d}", "title": t} for i, t in enumerate(titles)], [])
            patch.setattr(shards, "open_collection", lambda *args, **kwargs: collection)
            return collection
        yield hold


def searched(collection, queries, k, parts, given) -> list[tuple]:
    """What the kit answers with the corpus in these parts."""
    counted = [shards.counted(rows) for rows in rows_of(collection, parts)]
    whole = shards.summed([shards.told(own) for own in counted], given)
    assert whole.seen.sha256 == collection.fingerprints["corpus"]
    ready = [shards.weighed(own, whole, given, a) for own, (a, _) in zip(counted, parts)]
    asked = collapsed(queries, whole.vocabulary())
    found = [shards.best_of_words(shard, asked, k) for shard in ready]
    assert [part.sha256 for part in found] == whole.seen.shards
    ids = list(collection.ids("corpus"))
    places = np.argsort(np.argsort(ids))
    return answers(ids, merged([part.found for part in found], places, k))


def answers(ids, found: Found) -> list[tuple]:
    return [([ids[p] for p in found.positions[a:b]], found.scores[a:b].tolist())
            for a, b in zip(found.starts, found.starts[1:])]


@quick
@given(corpus=CORPUS, queries=st.lists(TEXT, min_size=1, max_size=3), k=st.integers(1, 5),
       number=st.sampled_from([1, 2, 3, 7]), variant=st.sampled_from(VARIANTS))
def test_the_ranking_is_that_of_one_machine(held, corpus, queries, k, number, variant):
    collection, system = held(corpus), Bm25(variant)
    ids, parts = list(collection.ids("corpus")), shards.borders(len(corpus), number)
    try:
        system.prepare(ids, texts(collection, "corpus", "title"))
    except SearchError:
        with pytest.raises(SearchError, match="no document has a single term"):
            searched(collection, queries, k, parts, system.given)
        return
    one = [(answer.ids, answer.scores.tolist()) for answer in system.search_batch(queries, k)]
    assert searched(collection, queries, k, parts, system.given) == one


@quick
@given(st.integers(0, 40), st.integers(1, 9), st.integers(1, 8))
def test_borders_cover_all_once(size, number, step):
    parts = shards.borders(size, number, step)
    if size:
        assert [row for a, b in parts for row in range(a, b)] == list(range(size))
        assert len(parts) <= number and all(a < b and a % step == 0 for a, b in parts)
        assert max(b - a for a, b in parts) <= (-(-size // step) // len(parts) + 1) * step
        assert len(parts) == min(number, -(-size // step))


@quick
@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 2, 3, 7]), st.integers(1, 30))
def test_vectors_in_shards_rank_as_all_together(seed, number, k):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(6, 4)).astype(np.float32)[rng.integers(0, 6, 25)]  # many ties
    queries, places = vectors[:3].copy(), rng.permutation(25)
    found = [shards.best_of_vectors(
        shards.Shard(Cosines(vectors[a:b]), np.argsort(np.argsort(places[a:b])), a, None, ""),
        queries, k).found for a, b in shards.borders(25, number)]
    whole = best(Cosines(vectors), queries, places, k)
    for one, other in zip(whole[:3], merged(found, places, k)[:3]):
        assert one.tolist() == other.tolist()


def test_a_shards_size_is_that_of_its_arrays(held):
    """By which Dask decides whether one is worth moving."""
    collection = held(["valve seat"] * 50)
    own, = map(shards.counted, rows_of(collection, [(0, 50)]))
    whole = shards.summed([shards.told(own)], Bm25().given)
    shard = shards.weighed(own, whole, Bm25().given, 0)
    assert shard.__sizeof__() >= own.data.nbytes + own.indices.nbytes + own.indptr.nbytes


# --- what a worker must not get wrong ---------------------------------------------------------------

def test_other_code_is_refused(held):
    rows, = rows_of(held(["valve"]), [(0, 1)])
    with pytest.raises(SearchError, match="another kit.*Install the same"):
        shards.counted(rows._replace(code="0"))


@pytest.mark.parametrize("change", [{"start": 1}, {"stop": 1}, {"ids": "0"}])
def test_other_rows_are_refused(held, change):
    rows, = rows_of(held(["valve", "seat", "pump"]), [(0, 3)])
    with pytest.raises(CollectionError, match="other documents.*the same path"):
        shards.counted(rows._replace(**change))


def test_a_source_that_is_not_there_is_told_with_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(shards, "open_collection", open_collection)
    rows = shards.Rows(str(tmp_path / "none"), None, False, "ta", 0, 1, "", shards.code())
    with pytest.raises(CollectionError, match="a worker can't read.*none.*Each worker needs"):
        shards.counted(rows)


def test_one_changed_text_changes_the_fingerprint_of_all(held):
    before, after = ([shards.counted(rows).rows for rows in rows_of(held(titles), [(0, 1), (1, 2)])]
                     for titles in (["valve", "seat"], ["valve", "seal"]))
    assert (before[0] == after[0]).all()
    assert shards.sha256_of_rows(before) != shards.sha256_of_rows(after)


def test_another_model_is_refused(held, model_folder):
    rows, = rows_of(held(["valve"]), [(0, 1)])
    model = {"model": str(model_folder), "pooling": "mean", "query_prompt": "", "corpus_prompt": "",
             "device": "cpu"}
    with pytest.raises(SearchError, match="model differs in weights, device"):
        shards.encoded(rows, model, {"weights": "0", "device": "cuda", "pooling": "mean"})
