"""Growth beyond the measured sizes: lines that are known, and what can't be one."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kit.errors import MeasureError
from kit.reporting.growth import extrapolated

NUMBER = st.floats(0.001, 1000)
SIZES = [1_000, 4_000, 16_000]


def frame(**quantities) -> pd.DataFrame:
    return pd.DataFrame({"documents": SIZES, **quantities})


@settings(deadline=None, max_examples=50, database=None)
@given(NUMBER, NUMBER)
def test_a_line_is_found_again_and_goes_on(slope, intercept):
    y = [intercept + slope * x for x in SIZES]
    row = extrapolated(frame(seconds=y), [10_500_000]).loc["seconds"]
    assert row["slope"] == pytest.approx(slope) and row["worst fit"] < 1e-9
    assert row["at 10,500,000"] == pytest.approx(intercept + slope * 10_500_000)


def test_the_line_minimizes_relative_errors():
    """Held against a search over lines; plain least squares would follow the largest size."""
    y = np.array([12.0, 35.0, 170.0])
    row = extrapolated(frame(seconds=y), []).loc["seconds"]

    def loss(slope, intercept):
        return (((intercept + slope * np.array(SIZES)) / y - 1) ** 2).sum()

    here = loss(row["slope"], row["intercept"])
    for a, b in ((1.01, 1), (0.99, 1), (1, 1.01), (1, 0.99)):
        assert loss(row["slope"] * a, row["intercept"] * b) > here
    fitted = row["intercept"] + row["slope"] * np.array(SIZES)
    assert row["worst fit"] == pytest.approx((abs(fitted - y) / y).max())


def test_the_arithmetic_is_shown():
    row = extrapolated(frame(seconds=[3, 9, 30]), [609_000]).loc["seconds"]
    assert row["at 609,000"] == row["intercept"] + row["slope"] * 609_000
    assert (row["smallest"], row["largest"]) == (1_000, 16_000)


def test_shards_share_what_grows_and_each_has_the_rest():
    memory = [500 + 0.5 * x for x in SIZES]  # 304,500 MB of growth at 609,000 documents
    table = extrapolated(frame(**{"memory MB": memory, "seconds": SIZES}), [609_000],
                         memory_a_worker=16_000)
    assert table.loc["memory MB", "shards at 609,000"] == 20  # 304,500 / 15,500 = 19.6
    assert pd.isna(table.loc["seconds", "shards at 609,000"])


def test_no_number_of_shards_helps_where_a_process_alone_is_too_large():
    memory = [500 + 0.5 * x for x in SIZES]
    table = extrapolated(frame(**{"memory MB": memory}), [609_000], memory_a_worker=400)
    assert table.loc["memory MB", "shards at 609,000"] is None


def test_postings_are_reached_by_way_of_documents():
    measured = frame(postings=[2 * x for x in SIZES], seconds=[6 * x for x in SIZES])
    postings = extrapolated(measured, [609_000]).loc["postings", "at 609,000"]
    by = extrapolated(measured[["postings", "seconds"]], [postings], by="postings")
    assert by.loc["seconds", "at 1,218,000"] == pytest.approx(6 * 609_000)


@pytest.mark.parametrize("measured, said", [
    (pd.DataFrame({"documents": [5, 5], "seconds": [1, 2]}), "two sizes"),
    (pd.DataFrame({"documents": [5, 6], "seconds": [1, np.nan]}), "'seconds' is not above 0"),
    (pd.DataFrame({"documents": [5, 6], "seconds": [1, 0]}), "'seconds' is not above 0"),
])
def test_what_has_no_line_is_refused(measured, said):
    with pytest.raises(MeasureError, match=said):
        extrapolated(measured)
