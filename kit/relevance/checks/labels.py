"""The categories of the pairs against the search report's entries behind them."""

import pandas as pd

from kit.relevance import categories as c
from kit.relevance.checks.check import DOUBT, FACT, FAULT, Check, Found, declared, rows_found
from kit.relevance.checks.prepared import by_value, direction_of, year_of
from kit.relevance.checks.sizes import NO_CATEGORY
from kit.relevance.protocols import offered

CHECKS: list[Check] = []
_NEEDS = ("qrels.query_id", "qrels.doc_id", "qrels.category", "qrels.source_relations")
_SHOWN = ["query_id", "doc_id", "category", "source_relations"]


def _odd_pairs(prepared, is_odd) -> Found:
    """The pairs whose relations are odd; absent where no pair has a category."""
    if len(offered(prepared.collection)) == 1:
        return Found(absent=NO_CATEGORY)
    pairs = prepared.pairs
    odd = [bool(is_odd(relations)) for relations in pairs["source_relations"]]
    return rows_found(pairs.loc[odd, _SHOWN], len(pairs))


@declared(CHECKS, "categories", "category against its relations", FAULT,
          "Pairs whose category is not the one that their entries give: XY, A, or overlap for both.",
          *_NEEDS)
def against_relations(prepared) -> Found:
    if len(offered(prepared.collection)) == 1:
        return Found(absent=NO_CATEGORY)
    pairs = prepared.pairs
    given = pd.Series([c.category_of(r) for r in pairs["source_relations"]], index=pairs.index,
                      dtype=object)
    odd = given.notna() & (given != pairs["category"])
    rows = pairs.loc[odd, _SHOWN].assign(by_its_relations=given[odd])
    return rows_found(rows, len(pairs))


@declared(CHECKS, "categories", "pairs without relations", DOUBT,
          "Pairs with a category and no entry that would give one: it can't be checked.", *_NEEDS)
def without_relations(prepared) -> Found:
    return _odd_pairs(prepared, lambda r: c.category_of(r) is None
                      and not c.lacks_aggregate(r))


@declared(CHECKS, "categories", "X or Y without XY", DOUBT,
          "Pairs with an X or Y entry and no aggregate XY entry of its direction.", *_NEEDS)
def mark_without_aggregate(prepared) -> Found:
    return _odd_pairs(prepared, c.lacks_aggregate)


@declared(CHECKS, "categories", "XY without X or Y", DOUBT,
          "Pairs with an aggregate XY entry and no X or Y entry of its direction.", *_NEEDS)
def aggregate_without_mark(prepared) -> Found:
    return _odd_pairs(prepared, c.lacks_letter)


@declared(CHECKS, "categories", "repeated entries", DOUBT,
          "Pairs in whose relations one entry stands more than once.", *_NEEDS)
def repeated_entries(prepared) -> Found:
    return _odd_pairs(prepared, c.repeats_entry)


@declared(CHECKS, "categories", "pairs with both X and Y", DOUBT,
          "Pairs with an X and a Y entry under one XY: a report may give X for one claim and Y for "
          "another.", *_NEEDS)
def both_x_and_y(prepared) -> Found:
    return _odd_pairs(prepared, lambda relations: any(
        {"X", "Y"} <= {r.get("category") for r in relations or () if r
                       and r.get("direction") == direction} for direction in c.DIRECTIONS))


@declared(CHECKS, "categories", "citation events", FACT,
          "Citations behind the pairs, by direction and kind; an X or Y entry and its XY are one.",
          *_NEEDS)
def citation_events(prepared) -> Found:
    if len(offered(prepared.collection)) == 1:
        return Found(absent=NO_CATEGORY)
    events = [e for r in prepared.pairs["source_relations"] for e in c.events_of(r)]
    frame = pd.DataFrame(events, columns=["direction", "kind"])
    detail = frame.groupby(["direction", "kind"]).size().rename("events").reset_index()
    return Found(len(events), detail=detail)


@declared(CHECKS, "categories", "overlap pairs", FACT,
          "Pairs that count under xy and under a, by the query's authority and year and by "
          "direction.", *_NEEDS, "queries.query_id", "queries.publication_authority",
          "queries.publication_date")
def overlap(prepared) -> Found:
    if len(offered(prepared.collection)) == 1:
        return Found(absent=NO_CATEGORY)
    pairs = prepared.pairs
    queries = prepared.bibliography("queries").dropna(subset="identifier")
    queries = queries.drop_duplicates("identifier").set_index("identifier")
    odd = (pairs["category"] == "overlap").to_numpy()
    detail = pd.concat([
        by_value(pairs["query_id"].map(queries["publication_authority"]), odd, "authority"),
        by_value(pairs["query_id"].map(queries["publication_date"].map(year_of)), odd, "year"),
        by_value(pd.Series([direction_of(r) for r in pairs["source_relations"]]), odd, "direction")],
        ignore_index=True)
    return rows_found(pairs.loc[odd, _SHOWN], len(pairs), detail)
