"""The formulas of BM25: how much a term's count in a document weighs.

Each is an idf, an array by term, times a gain of the count in its document. `lucene` and `okapi` are
what those programs compute; `bm25plus` and `bm25l` are the papers' sums over the terms that query
and document share. rank-bm25 and bm25s add BM25+'s delta, and bm25s BM25L's, for terms that a
document lacks too, which takes back what the papers gain by it; rank-bm25 multiplies BM25L's gain by
the count once more.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numba
import numpy as np

VARIANTS = ("lucene", "okapi", "bm25plus", "bm25l")
DELTA = {"bm25plus": 1.0, "bm25l": 0.5}  # as the papers recommend
EPSILON = 0.25  # of rank-bm25


@dataclass(frozen=True)
class Statistics:
    """What a weight needs to know of all units: how many they are, how many words they have
    together, and in how many each term stands (df: int64 by term).

    Of shards, the sums over all shards.
    """

    units: int
    words: int
    df: np.ndarray

    @property
    def mean_length(self) -> float:
        return self.words / self.units


class Formula(NamedTuple):
    """A variant with its constants, as the compiled loops take it."""

    kind: int
    k1: float
    b: float
    delta: float

    @classmethod
    def of(cls, settings: dict) -> "Formula":
        variant = settings["variant"]
        return cls(VARIANTS.index(variant), float(settings["k1"]), float(settings["b"]),
                   DELTA.get(variant, 0.0))

    def idf(self, of_all: Statistics) -> np.ndarray:
        """float64 by term."""
        return IDF[VARIANTS[self.kind]](of_all.units, of_all.df)

    def relative(self, lengths: np.ndarray, of_all: Statistics) -> np.ndarray:
        """float64 a unit: its length in words relative to the mean, as far as b counts it."""
        return 1 - self.b + self.b * lengths / of_all.mean_length

    def most(self) -> float:
        """What no gain exceeds."""
        return 1.0 if VARIANTS[self.kind] == "lucene" else (
            self.k1 + 1 + (self.delta if VARIANTS[self.kind] == "bm25plus" else 0))


def lucene_idf(n: int, df: np.ndarray) -> np.ndarray:
    """ln(1 + (n - df + .5)/(df + .5)), never negative: Lucene since version 8."""
    return np.log1p((n - df + 0.5) / (df + 0.5))


def okapi_idf(n: int, df: np.ndarray) -> np.ndarray:
    """rank-bm25's BM25Okapi: ln((n - df + .5)/(df + .5)); a negative one becomes epsilon times the
    mean of all."""
    idf = np.log(n - df + 0.5) - np.log(df + 0.5)
    return np.where(idf < 0, EPSILON * np.mean(idf), idf)


def bm25plus_idf(n: int, df: np.ndarray) -> np.ndarray:
    """ln((n + 1)/df): Lv and Zhai, CIKM 2011."""
    return np.log((n + 1) / df)


def bm25l_idf(n: int, df: np.ndarray) -> np.ndarray:
    """ln((n + 1)/(df + .5)): Lv and Zhai, SIGIR 2011."""
    return np.log((n + 1) / (df + 0.5))


IDF = {"lucene": lucene_idf, "okapi": okapi_idf, "bm25plus": bm25plus_idf, "bm25l": bm25l_idf}


@numba.njit
def lucene(tf, relative, k1):
    """Kamphuis et al., ECIR 2020."""
    return tf / (tf + k1 * relative)


@numba.njit
def okapi(tf, relative, k1):
    """rank-bm25's BM25Okapi."""
    return tf * (k1 + 1) / (tf + k1 * relative)


@numba.njit
def bm25plus(tf, relative, k1, delta):
    """Lv and Zhai, "Lower-bounding term frequency normalization", CIKM 2011."""
    return tf * (k1 + 1) / (tf + k1 * relative) + delta


@numba.njit
def bm25l(tf, relative, k1, delta):
    """Lv and Zhai, "When documents are very long, BM25 fails!", SIGIR 2011."""
    c = tf / relative
    return (k1 + 1) * (c + delta) / (k1 + c + delta)


@numba.njit
def gain(formula, tf, relative):
    """By what a Formula multiplies the idf of a term that stands tf times in a unit, in float64."""
    if formula.kind == 0:
        return lucene(tf, relative, formula.k1)
    if formula.kind == 1:
        return okapi(tf, relative, formula.k1)
    if formula.kind == 2:
        return bm25plus(tf, relative, formula.k1, formula.delta)
    return bm25l(tf, relative, formula.k1, formula.delta)
