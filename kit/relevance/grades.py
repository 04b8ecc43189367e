"""The grades behind a relevant pair, and gain maps that say what each is worth.

A pair's grades are A and XY by its category (both where it is an overlap), and X and Y by its
relations or, in rows, by what its query states. XY stands for a citation that is X or Y. A gain map
gives a number a grade, and a pair is worth the highest of its grades; XY's is that of an X or Y which the map
does not name, or which is not told apart. A pair with a grade of which the map can't tell what it is
worth is refused, never guessed: such as an XY without its letter under a map of X and Y alone.
"""

import re
from functools import lru_cache

import numpy as np
import pandas as pd

from kit.errors import MeasureError
from kit.relevance.slices import pair_grades

GRADES = ("X", "XY", "Y", "A")  # the order in which a map names them; grade i is the bit 2^i
KINDS = 2 ** len(GRADES)        # sets of grades, each a number
_OF_CATEGORY = {"XY": ("XY",), "A": ("A",), "overlap": ("XY", "A")}
_GAIN = re.compile(r"(\w+)=(\d{1,3}(?:\.\d?[1-9])?)", re.ASCII)
FORM = "nDCG(X=3;Y=2;A=1)@10"


def read_gains(text: str) -> dict[str, float]:
    """{grade: gain} of "X=3;Y=2;A=1". Raises MeasureError for what is no gain map, or not written in
    its one form: the grades in the order of GRADES, gains above 0 and below 1,000 with two decimals
    at most."""
    parts = [part.strip() for part in re.split(r"[;,]", text) if part.strip()]
    if not parts:
        raise MeasureError("a graded nDCG needs a gain map: what each grade is worth", "measures",
                           f"Write one, such as {FORM}")
    found = [_GAIN.fullmatch(part) for part in parts]
    wrong = next((part for part, m in zip(parts, found) if not m or m[1] not in GRADES or not float(m[2])),
                 None)
    if wrong is not None:
        raise MeasureError(f"{wrong!r} gives no grade a gain", "measures",
                           f"Write {', '.join(GRADES)} with a number above 0, as in {FORM}")
    gains = {m[1]: float(m[2]) for m in found}
    if len(gains) < len(parts):
        raise MeasureError(f"the gain map {text!r} names a grade twice", "measures",
                           f"Name each once, as in {FORM}")
    written = ";".join(f"{m[1]}={_number(m[2])}" for m in sorted(found, key=lambda m: GRADES.index(m[1])))
    if written != text:  # two names of one measure would never stand side by side
        raise MeasureError(f"the gain map {text!r} is not in its one form", "measures",
                           f"Write nDCG({written})@10, say")
    return gains


def _number(text: str) -> str:
    return f"{float(text):g}"


def gain_table(gains: dict[str, float]) -> np.ndarray:
    """KINDS numbers: what a pair of each set of grades is worth, NaN where the map can't tell."""
    return np.array([_gain([g for i, g in enumerate(GRADES) if kind >> i & 1], gains)
                     for kind in range(KINDS)])


def _gain(held: list[str], gains: dict[str, float]) -> float:
    """The highest gain of a pair's grades; NaN for none, and if one of them has no gain."""
    if {"X", "Y"} & set(held):  # its letters say which the XY is
        held = [grade for grade in held if grade != "XY"]
    found = [gains.get(grade, None if grade == "A" else gains.get("XY")) for grade in held]
    return np.nan if not found or None in found else max(found)


@lru_cache(maxsize=4)  # every run and protocol asks for them
def _grades(collection) -> dict[tuple[str, str], int]:
    """{(query, document): its set of grades} of the qrels' pairs."""
    letters, bit = pair_grades(collection), {grade: 1 << i for i, grade in enumerate(GRADES)}
    pairs = collection.pairs
    return {(query, doc): sum(bit[g] for g in {*_OF_CATEGORY.get(category, ()), *letters[query, doc]})
            for query, doc, category in zip(pairs["query_id"], pairs["doc_id"], pairs["category"])}


def grades_of(collection, pairs: pd.DataFrame) -> np.ndarray:
    """The set of grades of each pair (query_id, doc_id, of the qrels), as a number below KINDS: uint8."""
    held = _grades(collection)
    return np.array([held[pair] for pair in zip(pairs["query_id"], pairs["doc_id"])], np.uint8)


def require_gains(collection, pairs: pd.DataFrame, name: str) -> None:
    """Raises MeasureError unless the gain map in a measure's name says what each of the pairs is worth."""
    gains = read_gains(name.partition("(")[2].partition(")")[0])
    kinds = grades_of(collection, pairs)
    untold = np.flatnonzero(np.isnan(gain_table(gains)[kinds]))
    if not len(untold):
        return
    if not kinds.any():
        raise MeasureError(f"{name} asks for grades, and no pair has one", collection.source,
                           "Use nDCG without a gain map")
    first = pairs.iloc[untold[0]]
    held = [g for i, g in enumerate(GRADES) if kinds[untold[0]] >> i & 1]
    raise MeasureError(
        f"{name} does not say what {len(untold)} relevant pairs are worth, such as {first['query_id']!r} "
        f"with {first['doc_id']!r}, {' and '.join(held) or 'which has no grade'}", collection.source,
        "Give every grade a gain; XY=… is that of an X or Y, and of one that is not told apart")
