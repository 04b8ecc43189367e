"""Publication dates: whether they are days, and whether the labels look back in time."""

import pandas as pd

from kit.collection.schema import ID_COLUMN
from kit.relevance.checks.check import DOUBT, FACT, Check, Found, declared, rows_found
from kit.relevance.checks.prepared import is_date

CHECKS: list[Check] = []
_DATES = ("queries.query_id", "corpus.doc_id", "queries.publication_date",
          "corpus.publication_date")
_NEEDS = (*_DATES, "qrels.query_id", "qrels.doc_id", "qrels.source_relations")
_SHOWN = ["query_id", "doc_id", "direction", "query_date", "doc_date"]


@declared(CHECKS, "dates", "malformed dates", DOUBT,
          "Publication dates that are missing or no day of the calendar as YYYY-MM-DD.", *_DATES)
def malformed(prepared) -> Found:
    parts = []
    for table in ID_COLUMN:
        frame = prepared.bibliography(table)
        odd = frame[~frame["publication_date"].map(is_date).astype(bool)]
        parts.append(odd[["identifier", "publication_date"]].assign(table=table))
    return rows_found(pd.concat(parts), sum(len(prepared.ids(t)) for t in ID_COLUMN))


def _compared(prepared, direction: str, order: str) -> Found:
    dated = prepared.dated
    odd = dated[dated["direction"].isin([direction, "both"]) & (dated["order"] == order)]
    return rows_found(odd[_SHOWN], len(prepared.pairs))


@declared(CHECKS, "dates", "cited yet later", DOUBT,
          "Pairs in which the query cites a document of a later date.", *_NEEDS)
def cited_yet_later(prepared) -> Found:
    return _compared(prepared, "cited", "later")


@declared(CHECKS, "dates", "citing yet earlier", DOUBT,
          "Pairs in which a document of an earlier date cites the query.", *_NEEDS)
def citing_yet_earlier(prepared) -> Found:
    return _compared(prepared, "citing", "earlier")


@declared(CHECKS, "dates", "relevants later than the query", FACT,
          "Pairs whose document was published after the query, by direction: relevant, yet no prior "
          "art at the query's date.", *_NEEDS)
def later(prepared) -> Found:
    dated = prepared.dated
    rows = dated[dated["order"] == "later"]
    return rows_found(rows[_SHOWN], len(prepared.pairs), _by_direction(dated))


@declared(CHECKS, "dates", "pairs that could be prior art", FACT,
          "Pairs whose document was published before the query, among those of known dates; the "
          "filing date, which would decide, is not in the data.", *_NEEDS)
def earlier(prepared) -> Found:
    dated = prepared.dated
    return Found(int((dated["order"] == "earlier").sum()), int((dated["order"] != "unknown").sum()),
                 detail=_by_direction(dated))


def _by_direction(dated: pd.DataFrame) -> pd.DataFrame:
    """Pairs by direction, and whether the document is earlier, of the same day, later, unknown."""
    table = pd.crosstab(dated["direction"], dated["order"])
    columns = [c for c in ("earlier", "same day", "later", "unknown") if c in table]
    return table[columns].rename_axis(columns=None).reset_index()
