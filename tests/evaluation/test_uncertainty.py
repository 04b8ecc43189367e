"""Intervals and the paired test: against scipy, and against counting every case."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from kit.evaluation.uncertainty import (
    FEW,
    caution,
    effect_size,
    holm,
    intervals,
    paired_test,
    smallest_difference,
)

VALUES = np.random.default_rng(7).beta(0.4, 1.2, size=(60, 3))  # skewed, as nDCG is
GOLDS = np.random.default_rng(8).integers(1, 12, size=60).astype(float)


def test_the_interval_of_a_mean_is_scipys():
    ours = intervals(VALUES, np.ones_like(VALUES), seed=1)
    for column, (low, high) in zip(VALUES.T, ours):
        theirs = stats.bootstrap((column,), np.mean, method="percentile", n_resamples=20_000,
                                 rng=np.random.default_rng(2)).confidence_interval
        noise = 0.15 * column.std() / np.sqrt(len(column))
        assert (low, high) == pytest.approx((theirs.low, theirs.high), abs=noise)


def test_the_interval_of_a_share_is_scipys_over_pairs():
    found = np.floor(GOLDS * VALUES[:, 0])
    low, high = intervals(found[:, None], GOLDS[:, None], seed=1)[0]
    theirs = stats.bootstrap(
        (found, GOLDS), lambda a, b, axis=-1: a.sum(axis) / b.sum(axis), paired=True,
        vectorized=True, method="percentile", n_resamples=20_000,
        rng=np.random.default_rng(2)).confidence_interval
    assert (low, high) == pytest.approx((theirs.low, theirs.high), abs=0.008)


def test_a_seed_gives_the_same_interval_again_and_another_seed_another():
    ones = np.ones_like(VALUES)
    again, other = intervals(VALUES, ones, seed=3), intervals(VALUES, ones, seed=4)
    np.testing.assert_array_equal(intervals(VALUES, ones, seed=3), again)
    assert not np.array_equal(again, other)


def test_all_columns_see_the_same_resamples():
    together = intervals(VALUES, np.ones_like(VALUES), seed=5)
    for i in range(VALUES.shape[1]):
        alone = intervals(VALUES[:, [i]], np.ones((len(VALUES), 1)), seed=5)
        np.testing.assert_allclose(together[[i]], alone, rtol=1e-12)


def test_a_share_beside_a_mean_keeps_its_own_denominators():
    golds = np.stack([np.ones(60), GOLDS, np.ones(60), GOLDS[::-1]], axis=1)
    tops = golds * VALUES[:, [0, 1, 2, 0]]
    together = intervals(tops, golds, seed=5)
    for i in range(4):
        np.testing.assert_allclose(together[[i]], intervals(tops[:, [i]], golds[:, [i]], seed=5))


def test_a_constant_has_an_interval_of_no_width():
    low, high = intervals(np.full((9, 1), 0.25), np.ones((9, 1)), seed=0)[0]
    assert (low, high) == (0.25, 0.25)


@pytest.mark.parametrize("n", [0, 1])
def test_fewer_than_two_queries_have_no_interval(n):
    assert np.isnan(intervals(np.ones((n, 2)), np.ones((n, 2)), seed=0)).all()


def exact_p(difference: np.ndarray) -> float:
    """The share of all 2^n sign flips whose sum is as extreme."""
    sums = [abs(np.dot(signs, difference)) for signs in product((-1, 1), repeat=len(difference))]
    return float(np.mean([s >= abs(difference.sum()) - 1e-12 for s in sums]))


@pytest.mark.parametrize("n", [1, 2, 5, 9])
@pytest.mark.parametrize("draw", range(3))
def test_the_paired_test_agrees_with_counting_every_flip(n, draw):
    a, b = np.random.default_rng(100 * n + draw).choice([0, 0.1, 0.3, 0.5, 1], size=(2, n))
    p = exact_p(a - b)
    assert paired_test(a, b, seed=1) == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / 10_000) + 2e-4)


def test_the_paired_test_is_symmetric():
    a, b = VALUES[:, 0], VALUES[:, 1]
    assert paired_test(a, b, seed=1) == paired_test(b, a, seed=1)


def test_two_clearly_different_systems_have_a_small_p():
    a = VALUES[:, 0]
    assert paired_test(a + 0.5, a, seed=1) == 1 / 10_001


@pytest.mark.parametrize("flips", [30, 250, 10_000])
def test_identical_systems_have_p_1_whatever_the_number_of_flips(flips):
    assert paired_test(VALUES[:, 0], VALUES[:, 0], seed=1, flips=flips) == 1


def test_p_is_a_share_of_exactly_the_flips_asked_for():
    p = paired_test(VALUES[:5, 0], VALUES[:5, 1], seed=1, flips=250)
    assert p * 251 == pytest.approx(round(p * 251))
    assert p == pytest.approx(exact_p(VALUES[:5, 0] - VALUES[:5, 1]), abs=0.13)


# --- the smallest difference ----------------------------------------------------------------------

@pytest.mark.parametrize("n", [5, 12, 30, 60])
def test_a_t_test_finds_the_smallest_difference_in_four_samples_of_five(n):
    """The power by scipy's noncentral t, which the formula does not use; small n are less exact."""
    values = VALUES[:n, [0]]
    d = smallest_difference(values, np.ones_like(values))[0]
    effect = d / stats.sem(values)[0]
    edge = stats.t.ppf(0.975, n - 1)
    power = stats.nct.sf(edge, n - 1, effect) + stats.nct.cdf(-edge, n - 1, effect)
    assert power == pytest.approx(0.8, abs=0.02)


def test_of_many_queries_it_is_2_8_standard_errors():
    values = np.tile(VALUES, (200, 1))
    d = smallest_difference(values, np.ones_like(values))
    assert d == pytest.approx((1.96 + 0.8416) * stats.sem(values), rel=1e-3)


def test_that_of_a_share_over_pairs_has_the_bootstraps_error():
    golds = np.tile(GOLDS, 20)
    found = np.floor(golds * np.tile(VALUES[:, 0], 20))
    low, high = intervals(found[:, None], golds[:, None], seed=1)[0]
    error = (high - low) / (2 * 1.96)
    smallest, = smallest_difference(found[:, None], golds[:, None])
    assert smallest == pytest.approx(2.8 * error, rel=0.06)


def test_columns_do_not_touch_each_other_and_units_carry_over():
    ones = np.ones_like(VALUES)
    together = smallest_difference(VALUES, ones)
    alone = [smallest_difference(VALUES[:, [i]], ones[:, [i]])[0] for i in range(VALUES.shape[1])]
    np.testing.assert_allclose(together, alone)
    np.testing.assert_allclose(smallest_difference(3 * VALUES, ones), 3 * together)
    np.testing.assert_allclose(smallest_difference(VALUES + 1, ones), together)


@pytest.mark.parametrize("values", [np.ones((0, 2)), np.ones((1, 2)), np.full((9, 2), 0.1)])
def test_no_spread_shows_no_difference(values):
    assert np.isnan(smallest_difference(values, np.ones_like(values))).all()


@pytest.mark.parametrize(("n", "said"), [
    (0, ""), (1, "one query has no interval"), (2, "too few queries"), (FEW - 1, "too few queries"),
    (FEW, ""), (10_000, "")])
def test_a_caution_stands_where_queries_are_too_few(n, said):
    assert caution(n).startswith(said) and bool(caution(n)) == bool(said)


# --- Holm's correction, and the effect size --------------------------------------------------------

P = st.lists(st.one_of(st.just(np.nan), st.floats(0, 1)), max_size=8)


def stepped_down(p: list[float], level: float) -> list[bool]:
    """Holm's procedure as he gives it: the smallest against level / m, the next against level /
    (m - 1), until one is not rejected."""
    tested = sorted((v, i) for i, v in enumerate(p) if not np.isnan(v))
    rejected = [False] * len(p)
    for step, (v, i) in enumerate(tested):
        if v * (len(tested) - step) > level:
            break
        rejected[i] = True
    return rejected


@given(P, st.floats(0.001, 0.999))
def test_a_corrected_p_rejects_what_holms_steps_reject(p, level):
    corrected = holm(np.array(p))
    assert [bool(v <= level) for v in corrected] == stepped_down(p, level)


@given(P)
def test_correction_lowers_no_p_keeps_their_order_and_what_was_not_tested(p):
    p = np.array(p, float)
    corrected = holm(p)
    tested = ~np.isnan(p)
    assert (np.isnan(corrected) == ~tested).all()
    assert (corrected[tested] >= p[tested]).all() and (corrected[tested] <= 1).all()
    order = np.argsort(p[tested], kind="stable")
    assert (np.diff(corrected[tested][order]) >= 0).all()


def test_a_single_test_needs_no_correction():
    assert holm(np.array([0.03])).tolist() == [0.03]


def test_the_effect_size_is_the_paired_t_over_the_root_of_n():
    a, b = VALUES[:, 0], VALUES[:, 1]
    assert effect_size(a, b) == pytest.approx(stats.ttest_rel(a, b).statistic / np.sqrt(len(a)))
    assert effect_size(b, a) == -effect_size(a, b)


def test_an_effect_without_a_spread_is_none():
    assert effect_size(np.ones(3), np.ones(3)) == 0
    assert np.isnan(effect_size(np.ones(3), np.zeros(3))) and np.isnan(effect_size([1], [0]))
