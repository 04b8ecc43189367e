"""Queries that are candidates too, and pairs that stand both ways."""

import pandas as pd

from kit.relevance.checks.check import (
    DOUBT,
    FACT,
    NOT_SHARED,
    Check,
    Found,
    declared,
    rows_found,
)
from kit.relevance.checks.prepared import direction_of

CHECKS: list[Check] = []
_IDS = ("queries.query_id", "corpus.doc_id")
_PAIRS = ("qrels.query_id", "qrels.doc_id", "qrels.category")


@declared(CHECKS, "own entries", "own entries", DOUBT,
          "Queries that are candidates too, under the same identifier; each is excluded from its "
          "own ranking only.", *_IDS)
def own_entries(prepared) -> Found:
    if not prepared.collection.shared_ids:
        return Found(absent=NOT_SHARED)
    return rows_found(prepared.own_ids.to_frame(), len(prepared.ids("queries")))


def reciprocal(pairs: pd.DataFrame) -> pd.DataFrame:
    """The pairs that stand both ways, each couple once with the smaller id as its query: columns
    query_id, doc_id, category, category_turned."""
    single = pairs[["query_id", "doc_id", "category"]].dropna(subset=["query_id", "doc_id"])
    single = single.drop_duplicates(["query_id", "doc_id"])
    turned = single.rename(columns={"query_id": "doc_id", "doc_id": "query_id"})
    both = single.merge(turned, on=["query_id", "doc_id"], suffixes=("", "_turned"))
    return both[both["query_id"] < both["doc_id"]].reset_index(drop=True)


@declared(CHECKS, "own entries", "reciprocal pairs", DOUBT,
          "Couples of patents of which each is relevant to the other, among those that the pairs "
          "could make; a couple may be one citation.",
          *_PAIRS)
def reciprocal_pairs(prepared) -> Found:
    if not prepared.collection.shared_ids:
        return Found(absent=NOT_SHARED)
    return rows_found(reciprocal(prepared.pairs), _couples(prepared))


@declared(CHECKS, "own entries", "reciprocal pairs of two categories", DOUBT,
          "Reciprocal pairs whose two rows are not of one category.", *_PAIRS)
def of_two_categories(prepared) -> Found:
    if not prepared.collection.shared_ids:
        return Found(absent=NOT_SHARED)
    both = reciprocal(prepared.pairs)
    differ = both["category"].fillna("") != both["category_turned"].fillna("")
    return rows_found(both[differ], _couples(prepared))


def _couples(prepared) -> int:
    """As many couples as the pairs could make."""
    return len(prepared.single_pairs) // 2


@declared(CHECKS, "own entries", "directions", FACT,
          "Pairs whose query cites the document, by direction: a query's cited documents came from "
          "its own search, its citing ones from later ones.", *_PAIRS, "qrels.source_relations")
def directions(prepared) -> Found:
    held = pd.Series([direction_of(r) for r in prepared.pairs["source_relations"]], dtype=object)
    detail = held.value_counts().rename_axis("direction").rename("pairs").reset_index()
    return Found(int(held.isin(["cited", "both"]).sum()), len(held),
                 detail=detail.sort_values("direction").reset_index(drop=True))
