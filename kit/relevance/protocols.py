"""Which pairs count as relevant: `all`, `xy` (XY and overlap), `a` (A and overlap)."""

import pandas as pd

from kit.collection.schema import CATEGORIES
from kit.errors import MeasureError

PROTOCOLS = {"all": None, "xy": ("XY", "overlap"), "a": ("A", "overlap")}


def offered(collection) -> list[str]:
    """The protocols that the collection can give: only `all` where no pair has a category."""
    return list(PROTOCOLS) if collection.pairs["category"].isin(CATEGORIES).any() else ["all"]


def positives(collection, protocol: str) -> pd.DataFrame:
    """The relevant pairs under a protocol: columns query_id, doc_id.

    Raises MeasureError for a protocol that is unknown or that the collection can't give.
    """
    if protocol not in PROTOCOLS:
        raise MeasureError(f"unknown protocol '{protocol}'", "protocol",
                           f"Give one of {', '.join(PROTOCOLS)}")
    if protocol not in offered(collection):
        raise MeasureError(f"protocol '{protocol}' asks for categories, and every category is null",
                           collection.source, "Use protocol 'all'")
    pairs = collection.pairs
    wanted = PROTOCOLS[protocol]
    kept = pairs if wanted is None else pairs[pairs["category"].isin(wanted)]
    return kept[["query_id", "doc_id"]].reset_index(drop=True)
