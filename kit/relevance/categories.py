"""The algebra of citation labels: from relations, or raw citation lists, to exclusive categories.

A relation is an entry {"category", "direction"} of a pair's `source_relations`. R_XY holds the
documents with an XY entry in either direction, R_A those with an A entry. The categories are
XY = R_XY - R_A, A = R_A - R_XY and overlap = R_XY & R_A (the rules of Sophia-bench). X and Y say
which letter stands behind an XY; alone they make no pair relevant.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_scalar

from kit.errors import CollectionError, MeasureError

RELATION_CATEGORIES = ("XY", "A", "X", "Y")
DIRECTIONS = ("cited", "citing")  # the query cites the document; the document cites the query
RAW_LISTS = {f"{direction}_{category}": (category, direction)
             for direction in DIRECTIONS for category in RELATION_CATEGORIES}
RELEASE_COLUMNS = ("query_id", "doc_id", "category", "source_relations")
LEDGER_COLUMNS = ("query_id", "doc_id", "category", "direction", "fate", "reason")

# the canonical order of a pair's entries: what makes it relevant stands first
_RANK = {(category, direction): rank for rank, (category, direction) in enumerate(
    (c, d) for c in RELATION_CATEGORIES for d in DIRECTIONS)}


def category_of(relations: Iterable[dict | None] | None) -> str | None:
    """The exclusive category that a pair's relations give: XY, A or overlap; None if neither.

    Entries that are null, or of an unknown category or direction, give nothing, nor do X and Y.
    """
    return _category({category for category, _ in _read(relations)})


def events_of(relations: Iterable[dict | None] | None) -> set[tuple[str, str]]:
    """The citation events behind a pair, as (direction, "XY" or "A").

    An X or Y entry and the XY entry of its direction are one event; X or Y alone is one too.
    """
    return {(direction, "A" if category == "A" else "XY")
            for category, direction in _read(relations)}


def lacks_aggregate(relations: Iterable[dict | None] | None) -> bool:
    """Whether an X or Y entry stands without the XY entry of its direction."""
    held = set(_read(relations))
    return any(category in ("X", "Y") and ("XY", direction) not in held
               for category, direction in held)


def lacks_letter(relations: Iterable[dict | None] | None) -> bool:
    """Whether an XY entry stands without an X or Y entry of its direction."""
    held = set(_read(relations))
    return any(category == "XY" and not held & {("X", direction), ("Y", direction)}
               for category, direction in held)


def repeats_entry(relations: Iterable[dict | None] | None) -> bool:
    """Whether an entry of a known category and direction stands twice in the list."""
    read = _read(relations)
    return len(set(read)) < len(read)


def _read(relations: Iterable[dict | None] | None) -> list[tuple[str, str]]:
    """The (category, direction) of the entries whose two names are known."""
    if _is_null(relations):
        return []
    named = ((r.get("category"), r.get("direction")) for r in relations if r)
    return [relation for relation in named if relation in _RANK]


def _category(held: set[str]) -> str | None:
    if {"XY", "A"} <= held:
        return "overlap"
    return "XY" if "XY" in held else "A" if "A" in held else None


@dataclass(frozen=True)
class Cleaned:
    """Qrels in the release form, and what became of every entry they were made from.

    qrels: query_id, doc_id, category, source_relations; a row a pair, sorted by the two ids.
    ledger: query_id, doc_id, category, direction, fate, reason; a row an entry of the input.
    """

    qrels: pd.DataFrame
    ledger: pd.DataFrame


class _Entry(NamedTuple):
    """One entry of the input; None for what is null there."""

    query: str | None
    doc: str | None
    category: str | None
    direction: str | None


def clean_qrels(raw: pd.DataFrame) -> Cleaned:
    """Exclusive categories and unique pairs from citation lists, with a ledger of every entry.

    raw: either form, which is not changed.
      Raw: query_id and any of the list columns `RAW_LISTS`, each cell a list of document ids or
        null. Lists may hold nulls and repeat ids; a query may stand on several rows.
      Release: query_id, doc_id, category, source_relations. The relations win over a category
        that is stated otherwise or not at all.
    An entry is a document id in a raw list or a relation of a release row; nulls in the lists
    count, and a release row whose list is null or empty counts as one. Ids are compared as they
    stand, blanks included; one that is null or blank is none.

    An entry's fate, and its reason in the ledger:
      kept: "makes the pair" or "makes the pair, category restated"; one entry a pair, the first
        in the order XY, A, X, Y, each cited before citing, in which the relations are written.
      merged: "another entry of the pair" or "repeats an entry"; every entry of a pair stands in
        its source_relations once, an X without its XY included.
      removed, for the first reason that holds: "no identifier", "own pair", "no relation" (null,
        or both its names are), "unknown category", "unknown direction", "X or Y without its
        aggregate" (of a pair with neither XY nor A).

    The answer depends on no order of rows or lists, nor on how a query's lists are spread over
    rows; cleaning its qrels again changes nothing.

    Raises CollectionError for columns of neither form, a cell that is no list, and an id or name
    that is no text; MeasureError for a release form in which every category is null.
    """
    _require_columns(raw)
    entries, stated = _release_entries(raw) if _is_release(raw) else (_raw_entries(raw), {})
    qrels, ledger = [], []
    for (query, doc), group in groupby(sorted(entries, key=_order), attrgetter("query", "doc")):
        group = list(group)
        category = _category({e.category for e in group if e[2:] in _RANK})
        restated = bool(stated.get((query, doc), {category}) - {category})
        fates = _fates(group, category, restated)
        ledger += [(*entry, *fate) for entry, fate in zip(group, fates)]
        if fates[0][0] == "kept":
            relations = dict.fromkeys(e[2:] for e in group if e[2:] in _RANK)
            qrels.append((query, doc, category, [
                {"category": c, "direction": d} for c, d in relations]))
    cleaned = Cleaned(_frame(qrels, RELEASE_COLUMNS), _frame(ledger, LEDGER_COLUMNS))
    _require_balance(_size(raw), cleaned)
    return cleaned


def ledger_summary(ledger: pd.DataFrame) -> pd.DataFrame:
    """The entries of a ledger by fate and reason: columns fate, reason, entries.

    Reasons that no entry has are left out; the entries add up to those of the input.
    """
    return ledger.groupby(["fate", "reason"]).size().reset_index(name="entries")


def _fates(group: list[_Entry], category: str | None, restated: bool) -> list[tuple[str, str]]:
    """The fate and reason of each entry of one pair, which stand in the canonical order."""
    fates, seen = [], set()
    for entry in group:
        if reason := _why_removed(entry, category):
            fates.append(("removed", reason))
        elif entry in seen:
            fates.append(("merged", "repeats an entry"))
        elif seen:
            fates.append(("merged", "another entry of the pair"))
        else:
            fates.append(("kept", "makes the pair" + ", category restated" * restated))
        seen.add(entry)
    return fates


def _why_removed(entry: _Entry, category: str | None) -> str:
    """Why an entry of a pair of this category can't stay, else ""."""
    if _is_blank(entry.query) or _is_blank(entry.doc):
        return "no identifier"
    if entry.query == entry.doc:
        return "own pair"
    if entry.category is None and entry.direction is None:
        return "no relation"
    if entry.category not in RELATION_CATEGORIES:
        return "unknown category"
    if entry.direction not in DIRECTIONS:
        return "unknown direction"
    return "" if category else "X or Y without its aggregate"


def _order(entry: _Entry) -> tuple:
    """Sorts by pair, then canonically, unknown names last, so that no order of the input shows."""
    query, doc, *relation = entry
    return (_null_last(query), _null_last(doc), _RANK.get(tuple(relation), len(_RANK)),
            *map(_null_last, relation))


def _null_last(text: str | None) -> tuple[bool, str]:
    return text is None, text or ""


def _frame(rows: list[tuple], columns: tuple[str, ...]) -> pd.DataFrame:
    """A table of objects, as a collection's pairs are: a null stays None, with rows or without."""
    return pd.DataFrame(rows, columns=list(columns), dtype=object)


def _size(raw: pd.DataFrame) -> int:
    """The entries of the input, counted in its cells and not from what was read."""
    lists = raw.columns.intersection([*RAW_LISTS, "source_relations"])
    least = int(_is_release(raw))
    cells = (cell for name in lists for cell in raw[name])
    return sum(max(least, 0 if _is_null(cell) else len(cell)) for cell in cells)


def _require_balance(size: int, cleaned: Cleaned) -> None:
    """in = kept + merged + removed, and a kept entry a pair; anything else is a fault of ours."""
    fates = cleaned.ledger["fate"].value_counts()
    kept, merged, removed = (int(fates.get(f, 0)) for f in ("kept", "merged", "removed"))
    if size != kept + merged + removed or kept != len(cleaned.qrels):
        raise AssertionError(f"the ledger is not balanced: {size} entries in; {kept} kept, "
                             f"{merged} merged, {removed} removed; {len(cleaned.qrels)} pairs out")


# --- the door -------------------------------------------------------------------------------------

def _is_release(raw: pd.DataFrame) -> bool:
    return not {"doc_id", "category", "source_relations"}.isdisjoint(raw.columns)


def _require_columns(raw: pd.DataFrame) -> None:
    form, needed, known = ("release", RELEASE_COLUMNS, RELEASE_COLUMNS) if _is_release(raw) else (
        "raw", ("query_id",), ("query_id", *RAW_LISTS))
    do = f"The {form} form has the columns {', '.join(known)}"
    for name in needed:
        if name not in raw:
            raise CollectionError(f"the column '{name}' is missing", "qrels", do)
    for name in raw:
        if name not in known:
            raise CollectionError(f"unknown column '{name}'", "qrels", do)
    if not raw.columns.is_unique:
        twice = raw.columns[raw.columns.duplicated()][0]
        raise CollectionError(f"the column '{twice}' stands more than once", "qrels", do)


def _raw_entries(raw: pd.DataFrame) -> list[_Entry]:
    entries, columns = [], [name for name in RAW_LISTS if name in raw]
    for query, *cells in zip(raw["query_id"], *(raw[name] for name in columns)):
        query = _text(query, "query_id")
        for name, cell in zip(columns, cells):
            where = f"query '{query}', {name}"
            entries += [_Entry(query, _text(doc, where), *RAW_LISTS[name])
                        for doc in _listed(cell, where)]
    return entries


def _release_entries(raw: pd.DataFrame) -> tuple[list[_Entry], dict[tuple, set]]:
    """The entries, and {(query, doc): the categories stated for it}, None where it is null."""
    entries, stated = [], defaultdict(set)
    for query, doc, category, relations in zip(*(raw[name] for name in RELEASE_COLUMNS)):
        query = _text(query, "query_id")
        where = f"query '{query}'"
        doc = _text(doc, where)
        stated[query, doc].add(_text(category, where))
        entries += [_Entry(query, doc, *_names(relation, where))
                    for relation in _listed(relations, where) or [None]]
    if entries and not any(e.category for e in entries) and not any(map(any, stated.values())):
        raise MeasureError("cleaning asks for categories, and every category is null", "qrels",
                           "Use protocol 'all', which takes the pairs as they stand")
    return entries, stated


def _names(relation: dict | None, where: str) -> tuple[str | None, str | None]:
    if _is_null(relation):
        return None, None
    if not isinstance(relation, dict):
        raise CollectionError(f"the relation {relation!r} is no struct", where,
                              "Give category and direction by name")
    return _text(relation.get("category"), where), _text(relation.get("direction"), where)


def _listed(cell, where: str) -> list:
    if _is_null(cell):
        return []
    if not isinstance(cell, list | tuple | np.ndarray):
        raise CollectionError(f"the cell {cell!r} is no list", where,
                              "Give a list, or null for none")
    return list(cell)


def _text(value, where: str) -> str | None:
    if isinstance(value, str):
        return value
    if _is_null(value):
        return None
    raise CollectionError(f"{value!r} is no text", where, "Identifiers and names are strings: "
                          "write them as text")


def _is_null(value) -> bool:
    return value is None or (is_scalar(value) and pd.isna(value))


def _is_blank(text: str | None) -> bool:
    return text is None or not text.strip()
