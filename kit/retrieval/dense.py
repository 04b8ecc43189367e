"""Embeddings: a sentence-transformers model, and exact search over its vectors.

Vectors are unit length, so a score is a cosine; those of the corpus are memory-mapped, and those of
queries are kept beside them.
"""

from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

import numba
import numpy as np
import pyarrow as pa

from kit.files import outputs_folder
from kit.params import Params
from kit.retrieval import engine, vectors
from kit.retrieval.corpus import Corpus, on_cluster
from kit.retrieval.encode import encode, load, set_up
from kit.retrieval.model_folder import read_folder
from kit.retrieval.models import (
    PACKAGED,
    cached_snapshot,
    declare,
    hold,
    locate_model,
    require_entry,
)
from kit.retrieval.run import rank_within_ids
from kit.retrieval.system import Answer

DECIMALS = 6         # a model's own noise is some 1e-7: equal texts are to tie
PAIRS_AT_ONCE = 2**16  # of float16 vectors, made float32


class Dense:
    """An embedding model as a system."""

    version = "1"
    block = 1024  # queries at a time: the products of 128 take twice as long

    def __init__(self, model: str = PACKAGED, revision: str | None = None,
                 entry: str | None = None, pooling: str | None = None,
                 query_prompt: str | None = None, corpus_prompt: str | None = None,
                 max_tokens: int | None = None, spans: int = 1, span_pool: str = "mean",
                 dtype: str = "float32", device: str | None = None, batch_size: int = 32,
                 cache: Path | None = None, shards=None):
        """None of pooling, prompts and max_tokens: as published. shards: those of a cluster (see
        cluster.py), which then holds the corpus. Raises SearchError for a model that is nowhere,
        declared nowhere, or not as it is declared."""
        listed = require_entry(entry, "embedding_entry") if entry else None
        self._source, identity, self._entry = locate_model(model, revision, listed)
        self._asked = {"pooling": pooling, "query_prompt": query_prompt,
                       "corpus_prompt": corpus_prompt, "max_tokens": max_tokens, "spans": spans}
        self._declared, told = declare(self._entry, self._asked)
        if identity["from"] != "hub":  # a hub model's files may not be here yet
            told += self._held(Path(self._source))
        self.name = identity["model"].rstrip("/").split("/")[-1]
        self.given = {**identity, "entry": self._entry.name if self._entry else None,
                      **self._declared, "max_tokens": max_tokens, "span_pool": span_pool,
                      "device": device, "batch_size": batch_size, "vectors": dtype,
                      "normalized": True, "decimals": DECIMALS,
                      "not_as_published": "; ".join(told) or None}
        self._cache, self._seen = cache, Counter()
        self._shards, self._corpus = shards, Corpus({}, None)
        self._arguments = {
            "model": str(Path(self._source).resolve()) if identity["from"] == "folder" else model,
            "revision": revision, "entry": entry, "pooling": pooling, "query_prompt": query_prompt,
            "corpus_prompt": corpus_prompt, "max_tokens": max_tokens, "spans": spans,
            "span_pool": span_pool, "dtype": dtype, "device": device, "batch_size": batch_size}

    def _held(self, folder: Path) -> list[str]:
        return hold(self._entry, read_folder(folder), self._asked, self._declared, folder)

    @cached_property
    def model(self):
        """The model itself, set up as it is declared; loaded when it is first asked for."""
        given, of_hub = self.given, self.given["from"] == "hub"
        remote = self._entry is not None and self._entry.remote_code.value
        model = load(self._source, given["revision"] if of_hub else None, given["device"],
                     "The model brings code of its own, which the kit does not run" if remote else "")
        return set_up(model, given["pooling"], self._declared["max_tokens"], self._source)

    @cached_property
    def settings(self) -> dict:
        """What was given, with everything that the model decides filled in; loads the model."""
        model, told = self.model, [self.given["not_as_published"]]
        if self.given["from"] == "hub":
            folder = cached_snapshot(self._source, self.given["revision"])
            told += self._held(folder) if folder else ["the model's own files could not be seen"]
        told = "; ".join(filter(None, told)) or None
        return {**self.given, "max_tokens": model.max_seq_length, "device": model.device.type,
                "dimensions": model.get_embedding_dimension(), "not_as_published": told}

    @classmethod
    def from_params(cls, params: Params) -> "Dense":
        return cls(params.embedding_model, params.embedding_revision, params.embedding_entry,
                   params.embedding_pooling, params.embedding_query_prompt,
                   params.embedding_corpus_prompt, params.embedding_max_tokens,
                   params.embedding_spans, params.embedding_span_pool, params.embedding_vectors,
                   params.embedding_device, params.embedding_batch_size,
                   cache=outputs_folder(params.outputs) / "cache" / "vectors",
                   shards=on_cluster(params))

    def expect(self, corpus: Corpus) -> None:
        """What texts come, to be held against what a cluster's workers read."""
        self._corpus = corpus

    def prepare(self, ids: list[str], texts: Iterable[str]) -> None:
        """Encodes the corpus, n × dimensions, block by block."""
        self._ids = ids
        self._places = rank_within_ids(pa.array(ids, pa.string()))
        if self._shards:
            self._seen.update(self._shards.encode(ids, self._corpus, self._arguments,
                                                  self.settings))
            return
        self._vectors = self._encoded(len(ids), texts, "corpus")

    def warm(self) -> None:
        """As `Bm25.warm`: a search over made-up vectors, without the model."""
        if not self._shards:
            made = Cosines(np.zeros((8, 4), self.given["vectors"]))
            engine.best(made, np.ones((2, 4), np.float32), np.arange(8), 3)

    def search(self, query_text: str, topk: int) -> list[str]:
        """The identifiers of the topk nearest documents."""
        return self.search_batch([query_text], topk)[0].ids

    def search_batch(self, query_texts: list[str], topk: int) -> list[Answer]:
        """A ranking a query, with cosines as float32. An empty query finds nothing."""
        queries = self._encoded(len(query_texts), query_texts, "query").astype(np.float32)
        found = (self._shards.best(queries, self._places, topk) if self._shards else
                 engine.best(Cosines(self._vectors), queries, self._places, topk))
        answers = []
        for text, start, stop in zip(query_texts, found.starts[:-1], found.starts[1:]):
            own = slice(start, stop) if text else slice(0, 0)
            answers.append(Answer([self._ids[i] for i in found.positions[own]], found.scores[own]))
        return answers

    def notes(self) -> dict:
        """How many texts it read since it was last asked, and how many of them only in part."""
        seen, self._seen = dict(self._seen), Counter()
        return seen

    def close(self) -> None:
        """Lets a cluster go."""
        if self._shards:
            self._shards.close()

    def cost(self) -> dict[str, int]:
        """On how many workers and in how many shards it searched; nothing on one machine."""
        return self._shards.cost() if self._shards else {}

    def _encoded(self, size: int, texts: Iterable[str], role: str) -> np.ndarray:
        """Unit vectors of the texts, from the cache where they are there."""
        given = self.settings
        other = "query" if role == "corpus" else "corpus"
        apart = {f"{other}_prompt", "entry", "not_as_published", "decimals"}  # change no vector
        key = [role, {name: value for name, value in given.items() if name not in apart}]
        made = vectors.keep(
            self._cache, key, size, given["dimensions"], given["vectors"], texts,
            lambda block: encode(self.model, block, given[f"{role}_prompt"], given["batch_size"],
                                 given["spans"], given["span_pool"]),
            f"{self.name}: blocks of texts ({role})")
        self._seen[f"{role}_texts"] += size
        self._seen[f"{role}_texts_cut"] += made.cut
        return made.vectors


class Cosines:
    """Exact search over unit vectors, as `engine.best` asks for it.

    vectors: n × dimensions, float32 or float16; queries: float32, queries × dimensions.
    """

    only_positive = False

    def __init__(self, vectors: np.ndarray):
        self._vectors = np.asarray(vectors)  # the same memory; numba knows no memory maps
        self._products = np.empty(0, np.float32)  # kept: new room costs a sixth
        self.blocks = engine.even_blocks(len(vectors))

    def products(self, queries: np.ndarray, start: int, stop: int) -> np.ndarray:
        """float32, queries × (stop - start), in room that the next call uses again."""
        self._products, out = engine.shaped(self._products, len(queries), stop - start)
        return np.matmul(queries, np.asarray(self._vectors[start:stop], np.float32).T, out=out)

    def slack(self, queries: np.ndarray) -> np.ndarray:
        """The error of a float32 sum of d products, at most d + 1 roundings of 2^-24 times the
        vectors' lengths (Higham, 2002, 3.1), of the rounding to six decimals, and of sums with it."""
        bound = (queries.shape[1] + 8) * 2.0**-24 * 1.01 + 0.51 * 10.0**-DECIMALS
        return np.full(len(queries), bound, np.float32)

    def floor(self, queries: np.ndarray) -> np.ndarray:
        return np.full(len(queries), -np.inf, np.float32)

    def exact(self, queries: np.ndarray, rows: np.ndarray, units: np.ndarray) -> np.ndarray:
        """Products summed in float64 in the order of the dimensions, rounded to six decimals."""
        if self._vectors.dtype == np.float32:
            return _dots(queries, rows, self._vectors, units).round(DECIMALS)
        scores = np.empty(len(rows), np.float64)
        for start in range(0, len(rows), PAIRS_AT_ONCE):
            some = slice(start, start + PAIRS_AT_ONCE)
            near = np.asarray(self._vectors[units[some]], np.float32)
            scores[some] = _dots(queries, rows[some], near, np.arange(len(near)))
        return scores.round(DECIMALS)


@numba.njit(parallel=True, cache=True)
def _dots(queries, rows, vectors, units):
    out = np.empty(len(rows), np.float64)
    for i in numba.prange(len(rows)):
        query, vector, total = queries[rows[i]], vectors[units[i]], 0.0
        for d in range(len(vector)):
            total += np.float64(query[d]) * np.float64(vector[d])
        out[i] = total
    return out
