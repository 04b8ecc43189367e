"""Intervals for a mean, and a test for a difference of means. Queries are what is resampled."""

import numpy as np
from scipy import stats

RESAMPLES = 2_000
FEW = 30  # queries: below, the normal law is a poor guide to a mean of skewed values
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
    kinds, of_column = np.unique(denominators, axis=1, return_inverse=True)  # most are ones
    ratios = []
    for size in _chunks(RESAMPLES):
        drawn = rng.integers(0, n, size=(size, n))
        counts = np.stack([np.bincount(row, minlength=n) for row in drawn]).astype(float)
        ratios.append((counts @ numerators) / (counts @ kinds)[:, of_column.ravel()])
    tail = (1 - level) / 2
    return np.quantile(np.concatenate(ratios), [tail, 1 - tail], axis=0).T


def smallest_difference(numerators: np.ndarray, denominators: np.ndarray, level: float = 0.05,
                        power: float = 0.8) -> np.ndarray:
    """The smallest true difference that n queries can be expected to show: m values.

    numerators, denominators: n × m, as `intervals` takes them. (t(1 - level/2) + t(power)) · s/√n,
    with t's quantiles at n - 1 degrees of freedom (2.8 · s/√n for many queries): the minimum
    detectable effect of Bloom (Evaluation Review 19(5), 1995), which a two-sided test at 5 % finds
    in four samples of five. s is the standard deviation of the values a query; of a ratio, that of
    its residuals over the mean denominator (Cochran, Sampling Techniques, 1977, 2.11).

    It holds for a mean against a fixed value, such as a published one. Two systems on the same
    queries need the same difference where their values correlate by 0.5, a smaller one where they
    correlate more. NaN for fewer than two queries, and where all values are equal: these say
    nothing of how far values may spread.
    """
    n, m = numerators.shape
    if n < 2:
        return np.full(m, np.nan)
    ratio = numerators.sum(axis=0) / denominators.sum(axis=0)
    residuals = (numerators - ratio * denominators) / denominators.mean(axis=0)
    spread = residuals.std(axis=0, ddof=1)
    factor = stats.t.ppf([1 - level / 2, power], n - 1).sum()
    return np.where(spread > 1e-12, factor * spread / np.sqrt(n), np.nan)


def caution(n: int) -> str:
    """What a reader must know of a figure over n queries; empty for none and for enough."""
    if n == 1:
        return "one query has no interval"
    return "too few queries: read the interval, not the mean" if 1 < n < FEW else ""


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
