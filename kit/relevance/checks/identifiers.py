"""Publication numbers: never a key, and how far they are from being one."""

import re
from functools import partial

import pandas as pd

from kit.collection.schema import ID_COLUMN
from kit.relevance.checks.check import DOUBT, FACT, Check, Found, declared, rows_found

CHECKS: list[Check] = []
_KIND = re.compile(r"(?<=[0-9])[A-Z][0-9]?$")


def number_of(xpn: str) -> str:
    """A publication number without its kind code and signs: EP-1234567-A1 and ep1234567 give the
    same, "EP1234567"."""
    return _KIND.sub("", _plain(xpn))


def _plain(xpn: str) -> str:
    return re.sub(r"[^A-Z0-9]", "", xpn.upper())


def _has_kind(xpn: str) -> bool:
    return bool(_KIND.search(_plain(xpn)))


def _stated(prepared, table: str) -> pd.DataFrame:
    frame = prepared.bibliography(table)[["identifier", "source_xpn", "publication_authority"]]
    stated = [bool(re.search(r"[1-9]", x or "")) for x in frame["source_xpn"]]
    frame = frame.loc[stated]
    return frame.assign(number=[number_of(x) for x in frame["source_xpn"]],
                        has_kind=[_has_kind(x) for x in frame["source_xpn"]])


def _by_authority(frame: pd.DataFrame) -> pd.DataFrame:
    counts = frame.groupby("publication_authority", dropna=False).agg(
        rows=("has_kind", "size"), with_kind_code=("has_kind", "sum")).reset_index()
    return counts.sort_values(["rows", "publication_authority"], ascending=[False, True])


def _repeated(table: str, prepared) -> Found:
    stated = _stated(prepared, table)
    twice = stated[stated["source_xpn"].duplicated(keep=False)].sort_values(
        ["source_xpn", "identifier"])
    rows = twice.drop(columns=["number", "has_kind"])
    return rows_found(rows, len(prepared.ids(table)), _by_authority(twice))


def _but_for_kind(table: str, prepared) -> Found:
    stated = _stated(prepared, table)
    of_number = stated.groupby("number")["source_xpn"].transform("nunique")
    twice = stated[of_number > 1].sort_values(["number", "source_xpn", "identifier"])
    rows = twice.drop(columns="has_kind")
    return rows_found(rows, len(prepared.ids(table)), _by_authority(twice))


def _without_kind(table: str, prepared) -> Found:
    stated = _stated(prepared, table)
    rows = stated.loc[~stated["has_kind"], ["identifier", "source_xpn", "publication_authority"]]
    return rows_found(rows, len(prepared.ids(table)), _by_authority(stated))


for _table, _key in ID_COLUMN.items():
    _needs = (f"{_table}.{_key}", f"{_table}.source_xpn", f"{_table}.publication_authority")
    for _name, _severity, _said, _ask in (
            ("repeated source_xpn", DOUBT, "whose publication number another one has too",
             _repeated),
            ("source_xpn equal but for the kind code", DOUBT,
             "whose publication number another one has with another kind code or writing",
             _but_for_kind),
            ("source_xpn without a kind code", FACT, "whose publication number states no kind "
             "code; none is ever added", _without_kind)):
        CHECKS.append(Check("identifiers", f"{_table}: {_name}", _severity,
                            f"Rows of {_table} {_said}.", _needs, partial(_ask, _table)))


@declared(CHECKS, "identifiers", "queries under a document's number", DOUBT,
          "Queries whose publication number a document of another identifier has, kind codes "
          "apart: most likely an own entry that the identifiers do not show, and that is not "
          "excluded.", *(f"{t}.{c}" for t, k in ID_COLUMN.items()
                         for c in (k, "source_xpn", "publication_authority")))
def under_a_documents_number(prepared) -> Found:
    queries, docs = _stated(prepared, "queries"), _stated(prepared, "corpus")
    # two of a number are enough to find another's: placeholders such as "0" stand on thousands
    docs = docs.groupby("number").head(2)
    both = queries.merge(docs, on="number", suffixes=("_query", "_document"))
    if prepared.collection.shared_ids:
        both = both[both["identifier_query"] != both["identifier_document"]]
        both = both[~both["identifier_query"].isin(prepared.own_ids)]
    shown = ["identifier_query", "identifier_document", "source_xpn_query", "source_xpn_document"]
    rows = both[shown].drop_duplicates("identifier_query")
    return rows_found(rows, len(prepared.ids("queries")))
