"""The views that a language model wrote: no gold annotation, and sometimes no view at all."""

from functools import partial

import numpy as np
import pandas as pd

from kit.collection.schema import AI_FIELDS
from kit.relevance.checks.check import DOUBT, FACT, Check, Found, rows_found
from kit.text.views import view_of

CHECKS: list[Check] = []
SOURCES = {"ai_title": ("title",), "ai_claim_summary": ("claims", "iclm"), "ai_obj": ("obj",),
           "ai_adv": ("adb",), "ai_ab": ("abstract",), "ai_features": ("iclm",)}


def _empty(field: str, prepared) -> Found:
    ids, texts = _column(prepared, field)
    if not any(texts):
        return Found(absent="every row is empty: the collection has no such view")
    return rows_found(ids[[not t for t in texts]].to_frame(), len(ids))


def _column(prepared, field: str) -> tuple[pd.Series, list[str]]:
    """The ids of the queries, and a field's cleaned text."""
    texts = [view_of([value]) for batch in prepared.collection.batches("queries", [field])
             for value in batch[field]]
    return prepared.ids("queries"), texts


def _copied(field: str, prepared) -> Found:
    """Views that equal a source field, or one entry of it, but for case and blanks."""
    sources, rows, filled = SOURCES[field], [], 0
    for batch in prepared.collection.batches("queries", ["query_id", field, *sources]):
        for name, text, *given in zip(*(batch[c] for c in ("query_id", field, *sources))):
            view = view_of([text]).casefold()
            filled += bool(view)
            parts = {view_of([p]).casefold() for g in given for p in (g, *_entries(g))}
            if view and view in parts:
                rows.append({"query_id": name, "view": view_of([text])[:200]})
    if not filled:
        return Found(absent="every row is empty: the collection has no such view")
    return rows_found(pd.DataFrame(rows, columns=["query_id", "view"]), filled)


def _entries(value) -> list[str]:
    """A list's entries, a text's lines: a view may copy one of them."""
    return [v for v in value if v] if isinstance(value, list) else (value or "").splitlines()


def _lengths(prepared) -> Found:
    made = []
    for field in AI_FIELDS:
        if f"queries.{field}" in prepared.collection.broken_columns:
            continue
        words = np.array([len(t.split()) for t in _column(prepared, field)[1] if t])
        if len(words):
            low, median, high = np.percentile(words, [5, 50, 95])
            made.append({"view": field, "filled": len(words), "shortest": int(words.min()),
                         "5 %": low, "median": median, "95 %": high, "longest": int(words.max())})
    if not made:
        return Found(absent="the collection has no view written by a model")
    return Found(max(row["longest"] for row in made), detail=pd.DataFrame(made))


for _field in AI_FIELDS:
    CHECKS.append(Check("model-written views", f"queries without {_field}", DOUBT,
                        f"Queries whose {_field} is null, empty or blank.",
                        ("queries.query_id", f"queries.{_field}"), partial(_empty, _field)))
for _field, _sources in SOURCES.items():
    CHECKS.append(Check("model-written views", f"{_field} copied", DOUBT,
                        f"Queries whose {_field} is its source ({' or '.join(_sources)}), or one "
                        "entry of it, but for case and blanks.",
                        ("queries.query_id", f"queries.{_field}",
                         *(f"queries.{s}" for s in _sources)), partial(_copied, _field)))
CHECKS.append(Check("model-written views", "longest model-written view", FACT,
                    "Words of the longest view that a model wrote; by view, its lengths.",
                    ("queries.query_id",), _lengths))
