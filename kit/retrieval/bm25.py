"""BM25: the score of a query is the sum, over its distinct terms, of the term's count in the query
times its weight in the document.

Scores are summed in float64 in the terms' alphabetical order and rounded to float32 once, so that
neither the corpus' order nor the size of a block nor the number of threads changes a ranking.
"""

import re
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa

from kit.errors import SearchError
from kit.files import digest_of, outputs_folder
from kit.params import Params
from kit.progress import steps
from kit.retrieval.corpus import Corpus, on_cluster
from kit.retrieval.run import rank_within_ids
from kit.retrieval.system import Answer, top_k
from kit.text.words import TOKENIZER

_WORDS = re.compile(TOKENIZER["pattern"])
RANK_BM25_LIMIT = 20_000_000  # documents times query terms: some seconds a query in Python
# (ids, texts) of a corpus that is its own queries, in which a term is dense and another is not
MADE_UP = ([f"made{n:03d}" for n in range(200)], [f"valve seat{n % 40}" for n in range(200)])
BLOCK = 1024  # queries scored at once: seconds of work where texts are long


def tokenize(text: str) -> list[str]:
    """The words of two characters and more, lower case; no stemming, no stop words."""
    return _WORDS.findall(text.lower())


def index_folder(outputs: str = "outputs") -> Path:
    """Where indexes are kept."""
    return outputs_folder(outputs) / "cache" / "bm25"


class Bm25:
    """The kit's engine, or rank-bm25 itself as the reference (`engine: rank-bm25`).

    cache: the folder for indexes; without one, or where nothing was said of the corpus before, the
    index stays in memory. shards: those of a cluster (see cluster.py), which then holds the corpus.
    """

    name, version = "bm25", "1"

    def __init__(self, variant: str = "lucene", k1: float = 1.2, b: float = 0.75,
                 engine: str = "kit", cache: Path | None = None, shards=None):
        self.given = self.settings = {
            "engine": engine, "variant": variant if engine == "kit" else "okapi", "k1": float(k1),
            "b": float(b), "tokenizer": TOKENIZER}
        if shards and engine == "rank-bm25":
            raise SearchError("rank-bm25 searches on one machine only", "engine, bm25_engine",
                              "Use bm25_engine: kit with bm25_variant: okapi on a cluster")
        self.block, self._shards = BLOCK, shards
        self._cache, self._corpus, self._seen = cache, Corpus({}, None), {}
        self._alone = threading.Lock()  # compiled loops that run in parallel do so one at a time

    @classmethod
    def from_params(cls, params: Params) -> "Bm25":
        return cls(params.bm25_variant, params.bm25_k1, params.bm25_b, params.bm25_engine,
                   cache=index_folder(params.outputs), shards=on_cluster(params))

    def expect(self, corpus: Corpus) -> None:
        """What texts come, so that their index can be found again."""
        self._corpus = corpus

    def prepare(self, ids: list[str], texts: Iterable[str]) -> None:
        """Counts and weighs the corpus, or opens its counts where they are kept; then no text is
        read. Raises SearchError when no text has a term, or when memory is short."""
        self._ids = ids
        self._places = rank_within_ids(pa.array(ids, pa.string()))
        if self.settings["engine"] == "rank-bm25":
            self._score = _rank_bm25(texts, self.settings)
            return
        if self._shards:
            self._vocabulary = self._shards.count(ids, self._corpus, self.settings)
            return
        from kit.retrieval.bm25_engine import Bm25Engine

        index = self.index(ids, texts)
        self._vocabulary = index.vocabulary
        self._engine = Bm25Engine(index.counts, self.settings)

    def search(self, query_text: str, topk: int) -> list[str]:
        """The identifiers of the topk best documents; those of score 0 are no results."""
        return self.search_batch([query_text], topk)[0].ids

    def search_batch(self, query_texts: list[str], topk: int) -> list[Answer]:
        """A ranking a query, with float32 scores."""
        if self.settings["engine"] == "rank-bm25":
            return [self._answer(found[best], scores[best])
                    for found, scores in self._score(query_texts)
                    for best in [top_k(scores, self._places[found], topk)]]
        starts, terms, counts = collapsed(query_texts, self._vocabulary)
        found = self._found((starts, terms, counts), topk)
        self._seen = {"query_terms": len(terms),
                      "query_terms_most": int(np.diff(starts).max(initial=0))}
        return [self._answer(found.positions[a:b], found.scores[a:b])
                for a, b in zip(found.starts, found.starts[1:])]

    def warm(self) -> None:
        """Searches a few made-up words, so that what numba compiles at its first call is compiled
        before a clock starts."""
        if self.settings["engine"] == "kit" and not self._shards:
            made = Bm25(*(self.settings[name] for name in ("variant", "k1", "b")))
            made.prepare(*MADE_UP)
            made.search_batch(MADE_UP[1], 5)

    def notes(self) -> dict:
        """How many different terms the queries of the last search had that the corpus knows: in all,
        and the one that had the most. None is left out."""
        seen, self._seen = self._seen, {}
        return seen

    def close(self) -> None:
        """Lets a cluster go."""
        if self._shards:
            self._shards.close()

    def cost(self) -> dict[str, int]:
        """On how many workers and in how many shards it searched; nothing on one machine."""
        return self._shards.cost() if self._shards else {}

    def _found(self, queries: tuple, topk: int):
        if self._shards:
            return self._shards.best(queries, self._places, topk)
        from kit.retrieval.engine import best

        with self._alone:
            return best(self._engine, self._engine.queries(*queries), self._places, topk)

    def index(self, ids: list[str], texts: Iterable[str]):
        """The corpus' counts (bm25_index.Index): opened where they are kept, else made."""
        from kit.retrieval.bm25_index import counted, kept, require_room

        def count():
            if self._corpus.size is not None:
                require_room(len(ids), self._corpus.size)
            return counted(steps(texts, "bm25: documents read", len(ids)))

        if self._cache is None or not self._corpus.key:
            return count()
        # the fingerprint of a corpus says nothing of its order, and a row's place is its document
        return kept(self._cache, {**self._corpus.key, "ids": digest_of(ids)}, count)

    def _answer(self, found: np.ndarray, scores: np.ndarray) -> Answer:
        return Answer([self._ids[i] for i in found], scores)


def collapsed(texts: Iterable[str], vocabulary) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """`collapse` of the words of query texts that the vocabulary knows."""
    return collapse(map(vocabulary.known, texts))


def collapse(queries: Iterable[np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Queries, given as the ids of their words, as distinct terms: starts (int64), the terms of
    query i being those from starts[i] to starts[i + 1], ascending (int32), and how often each
    stands there (int64)."""
    terms, counts, starts = [np.empty(0, np.int32)], [np.empty(0, np.int64)], [0]
    for ids in queries:
        distinct, often = np.unique(ids, return_counts=True)
        terms.append(distinct)
        counts.append(often)
        starts.append(starts[-1] + len(distinct))
    return np.array(starts, np.int64), np.concatenate(terms), np.concatenate(counts)


def _rank_bm25(texts: Iterable[str], settings: dict) -> Callable:
    """The reference's scores, one query at a time."""
    from rank_bm25 import BM25Okapi

    tokens = [tokenize(text) for text in texts]
    if not any(tokens):
        raise SearchError("no document has a single term", "rank-bm25",
                          "Check the collection's texts and the corpus view")
    index = BM25Okapi(tokens, k1=settings["k1"], b=settings["b"])

    def scores(query_texts: list[str]):
        for text in query_texts:
            query = tokenize(text)
            if len(query) * len(tokens) > RANK_BM25_LIMIT:
                raise SearchError(
                    f"a query of {len(query)} terms against {len(tokens)} documents takes rank-bm25 "
                    "many seconds", "bm25_engine: rank-bm25",
                    "Use bm25_engine: kit with bm25_variant: okapi, which gives the same scores")
            found = index.get_scores(query).astype(np.float32)
            positive = np.flatnonzero(found > 0)
            yield positive, found[positive]

    return scores
