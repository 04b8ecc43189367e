"""Intervals for a mean, and a test for a difference of means. Queries are what is resampled."""

import numpy as np

RESAMPLES = 2_000
CHUNK = 200  # resamples held at once


def intervals(numerators: np.ndarray, denominators: np.ndarray, seed: int,
              level: float = 0.95) -> np.ndarray:
    """Percentile bootstrap intervals (Efron 1979) of m ratios of sums over the same n queries.

    numerators, denominators: n × m; ones below make the ratio a mean. The m columns share their
    resamples. Returns m × 2, low and high; NaN for fewer than two queries.
    """
    n, m = numerators.shape
    if n < 2:
        return np.full((m, 2), np.nan)
    rng = np.random.default_rng(seed)
    ratios = []
    for size in _chunks(RESAMPLES):
        drawn = rng.integers(0, n, size=(size, n))
        counts = np.stack([np.bincount(row, minlength=n) for row in drawn]).astype(float)
        ratios.append((counts @ numerators) / (counts @ denominators))
    tail = (1 - level) / 2
    return np.quantile(np.concatenate(ratios), [tail, 1 - tail], axis=0).T


def _chunks(total: int) -> list[int]:
    """`total` in parts of at most CHUNK."""
    return [min(CHUNK, total - start) for start in range(0, total, CHUNK)]


def paired_test(a: np.ndarray, b: np.ndarray, seed: int, flips: int = 10_000) -> float:
    """The two-sided p of a paired randomization test (Fisher; Smucker et al., CIKM 2007).

    a, b: one value a query, in the same order. p = (1 + flips as extreme) / (1 + flips).
    """
    difference = np.asarray(a, float) - np.asarray(b, float)
    observed = abs(difference.sum())
    rng = np.random.default_rng(seed)
    extreme = 0
    for size in _chunks(flips):
        signs = rng.integers(0, 2, size=(size, len(difference))) * 2 - 1
        # a rounding error must not turn an equal sum into a smaller one
        extreme += int((np.abs(signs @ difference) >= observed - 1e-12 * len(difference)).sum())
    return (1 + extreme) / (1 + flips)


def holm(p: np.ndarray) -> np.ndarray:
    """p-values corrected for their number, in their order (Holm, Scand. J. Statistics 6(2), 1979).

    The i-th smallest of m becomes the largest of (m - j + 1) · p_j over j = 1 … i, at most 1. NaN,
    where nothing was tested, stays NaN and does not count.
    """
    p = np.asarray(p, float)
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    corrected = p.copy()
    steps = p[order] * np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(steps), 1)
    return corrected


def effect_size(a: np.ndarray, b: np.ndarray) -> float:
    """Cohen's d_z of paired values: the mean difference over the differences' standard deviation,
    with n - 1 (Cohen, Statistical Power Analysis, 1988, 2.3.5). 0 where all are equal; NaN where
    every difference is the same but not 0, and for fewer than two queries."""
    difference = np.asarray(a, float) - np.asarray(b, float)
    if len(difference) < 2:
        return np.nan
    spread = difference.std(ddof=1)
    if spread < 1e-12:  # what rounding leaves of equal differences is no spread
        return 0.0 if abs(difference.mean()) < 1e-12 else np.nan
    return float(difference.mean() / spread)
