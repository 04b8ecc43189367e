"""BM25 over sparse weights: the score of a query is the sum, over its distinct terms, of the
term's count in the query times its weight in the document.

Scores are summed in float64 in the terms' alphabetical order and rounded to float32 once, so that
neither the corpus' order nor the size of a block changes a ranking.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable

import numpy as np
import pyarrow as pa
from scipy import sparse

from kit.errors import SearchError
from kit.params import Params
from kit.retrieval.run import rank_within_ids
from kit.retrieval.system import Answer, top_k
from kit.text.words import TOKENIZER

_WORDS = re.compile(TOKENIZER["pattern"])
RANK_BM25_LIMIT = 20_000_000  # documents times query terms: some seconds a query in Python
BLOCK = 32  # queries scored at once


def tokenize(text: str) -> list[str]:
    """The words of two characters and more, lower case; no stemming, no stop words."""
    return _WORDS.findall(text.lower())


def lucene(tf, length, df, n, mean_length, k1, b):
    """Lucene's BM25 (since version 8): idf ln(1 + (n - df + .5)/(df + .5)), never negative.

    tf, length, df: arrays of one length, a value a posting. Kamphuis et al., ECIR 2020.
    """
    idf = np.log1p((n - df + 0.5) / (df + 0.5))
    return idf * tf / (tf + k1 * (1 - b + b * length / mean_length))


def okapi(tf, length, df, n, mean_length, k1, b, mean_idf, epsilon=0.25):
    """rank-bm25's BM25Okapi: idf ln((n - df + .5)/(df + .5)); a negative one becomes
    epsilon times the mean idf of the vocabulary."""
    idf = np.log(n - df + 0.5) - np.log(df + 0.5)
    idf = np.where(idf < 0, epsilon * mean_idf, idf)
    return idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / mean_length))


class Bm25:
    """The kit's engine, or rank-bm25 itself as the reference (`engine: rank-bm25`)."""

    name, version = "bm25", "1"

    def __init__(self, variant: str = "lucene", k1: float = 1.2, b: float = 0.75,
                 engine: str = "kit"):
        self.given = self.settings = {
            "engine": engine, "variant": variant if engine == "kit" else "okapi", "k1": float(k1),
            "b": float(b), "tokenizer": TOKENIZER}

    @classmethod
    def from_params(cls, params: Params) -> "Bm25":
        return cls(params.bm25_variant, params.bm25_k1, params.bm25_b, params.bm25_engine)

    def prepare(self, ids: list[str], texts: Iterable[str]) -> None:
        """Counts and weighs the corpus. Raises SearchError when no text has a term."""
        self._ids = ids
        self._places = rank_within_ids(pa.array(ids, pa.string()))
        if self.settings["engine"] == "rank-bm25":
            self._score = _rank_bm25(texts, self.settings)
        else:
            counts, self._vocabulary = count_terms(texts)
            self._weights = weigh(counts, self.settings)
            self._score = self._sparse_scores

    def search(self, query_text: str, topk: int) -> list[str]:
        """The identifiers of the topk best documents; those of score 0 are no results."""
        return self.search_batch([query_text], topk)[0].ids

    def search_batch(self, query_texts: list[str], topk: int) -> list[Answer]:
        """A ranking a query, with float32 scores."""
        answers = []
        for start in range(0, len(query_texts), BLOCK):
            for found, scores in self._score(query_texts[start:start + BLOCK]):
                best = top_k(scores, self._places[found], topk)
                answers.append(Answer([self._ids[i] for i in found[best]], scores[best]))
        return answers

    def notes(self) -> dict:
        return {}

    def _sparse_scores(self, query_texts: list[str]):
        """For each query the positions and float32 scores of the documents that share a term."""
        queries = _query_matrix(query_texts, self._vocabulary)
        scores = queries @ self._weights
        for i in range(len(query_texts)):
            row = slice(scores.indptr[i], scores.indptr[i + 1])
            rounded = scores.data[row].astype(np.float32)
            yield scores.indices[row][rounded > 0], rounded[rounded > 0]


def count_terms(texts: Iterable[str]) -> tuple[sparse.csr_array, dict[str, int]]:
    """Term counts, documents × terms, and {term: column} with the terms in alphabetical order."""
    seen, columns, counts, starts = {}, [], [], [0]
    for text in texts:
        for term, count in Counter(tokenize(text)).items():
            columns.append(seen.setdefault(term, len(seen)))
            counts.append(count)
        starts.append(len(columns))
    terms = sorted(seen)
    place = np.empty(len(terms), dtype=np.int32)
    place[[seen[t] for t in terms]] = np.arange(len(terms))
    matrix = sparse.csr_array(
        (np.array(counts, np.float64), place[np.array(columns, np.int64)], np.array(starts)),
        shape=(len(starts) - 1, len(terms)))
    return matrix, {t: i for i, t in enumerate(terms)}


def weigh(counts: sparse.csr_array, settings: dict) -> sparse.csr_array:
    """The weights, terms × documents, of a count matrix, documents × terms."""
    n = counts.shape[0]
    length = counts.sum(axis=1)
    postings = counts.T.tocsr()
    df = np.diff(postings.indptr)
    if not postings.nnz:
        raise SearchError("no document has a single term", "BM25",
                          "Check the collection's texts and the corpus view")
    of_posting = dict(tf=postings.data, length=length[postings.indices],
                      df=np.repeat(df, df), n=n, mean_length=length.sum() / n,
                      k1=settings["k1"], b=settings["b"])
    if settings["variant"] == "okapi":
        of_posting["mean_idf"] = np.mean(np.log(n - df + 0.5) - np.log(df + 0.5))
    postings.data = {"lucene": lucene, "okapi": okapi}[settings["variant"]](**of_posting)
    return postings


def _query_matrix(query_texts: list[str], vocabulary: dict[str, int]) -> sparse.csr_array:
    columns, counts, starts = [], [], [0]
    for text in query_texts:
        known = Counter(vocabulary[t] for t in tokenize(text) if t in vocabulary)
        for term in sorted(known):
            columns.append(term)
            counts.append(known[term])
        starts.append(len(columns))
    return sparse.csr_array(
        (np.array(counts, np.float64), np.array(columns, np.int32), np.array(starts)),
        shape=(len(query_texts), len(vocabulary)))


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
