"""What sizes beyond those measured would take: straight lines through the measured ones."""

import math

import numpy as np
import pandas as pd

from kit.errors import MeasureError

NEXT = (609_000, 10_500_000)  # documents


def extrapolated(measured: pd.DataFrame, sizes=NEXT, by: str = "documents",
                 memory_a_worker: float | None = None) -> pd.DataFrame:
    """A row a quantity, with its arithmetic: quantity = intercept + slope × size.

    measured: a row a size: the column `by`, and a column a quantity, such as `seconds` or
    `memory MB`. What grows with postings: extrapolate `postings` by documents, then the rest with
    by="postings" at the sizes so found. The line is that of least squares of relative errors, so
    that small sizes count as large ones do.

    Columns: `smallest`, `largest` (size measured), `slope`, `intercept`, `worst fit` (the largest
    |line - measured| / measured), `at SIZE` for each size. With memory_a_worker, `shards at SIZE`
    for quantities named memory, in their unit: into how many parts the growth must be cut so that
    one and the intercept fit; None where the intercept alone does not. Raises MeasureError for
    fewer than two sizes, and for quantities that are not above 0.
    """
    x = measured[by].to_numpy(np.float64)
    if len(np.unique(x)) < 2:
        raise MeasureError("growth needs two sizes at least", by, "Measure more sizes")
    rows = {name: _row(name, x, measured[name].to_numpy(np.float64), sizes, memory_a_worker)
            for name in measured.columns if name != by}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(f"by {by}")


def _row(name: str, x: np.ndarray, y: np.ndarray, sizes, memory: float | None) -> dict:
    if not (np.isfinite(y).all() and (y > 0).all()):
        raise MeasureError(f"'{name}' is not above 0 at every size", "growth",
                           "Leave out what was not measured")
    slope, intercept = _line(x, y)
    row = {"smallest": x.min(), "largest": x.max(), "slope": slope, "intercept": intercept,
           "worst fit": float((np.abs(intercept + slope * x - y) / y).max()),
           **{f"at {size:,.0f}": intercept + slope * size for size in sizes}}
    if memory is not None:
        parts = name.startswith("memory")
        row |= {f"shards at {size:,.0f}": _shards(slope * size, intercept, memory) if parts else None
                for size in sizes}
    return row


def _line(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Slope and intercept; x is scaled first, as 1 beside 10 million is badly conditioned."""
    scale = x.max()
    design = np.column_stack((x / scale, np.ones_like(x))) / y[:, None]
    slope, intercept = np.linalg.lstsq(design, np.ones_like(y))[0]
    return float(slope / scale), float(intercept)


def _shards(grown: float, fixed: float, memory: float) -> int | None:
    room = memory - max(fixed, 0.0)
    return max(math.ceil(grown / room), 1) if room > 0 else None
