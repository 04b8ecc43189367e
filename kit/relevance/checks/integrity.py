"""Whether the tables hold together: identifiers, keys, repeated and own pairs."""

from functools import partial

import pandas as pd

from kit.collection.schema import FEATURES, ID_COLUMN, id_rules
from kit.relevance.categories import DIRECTIONS, RELATION_CATEGORIES
from kit.relevance.checks.check import (
    DOUBT,
    FAULT,
    NOT_SHARED,
    Check,
    Found,
    declared,
    rows_found,
)

CHECKS: list[Check] = []
_IDS = ("queries.query_id", "corpus.doc_id")
_PAIRS = ("qrels.query_id", "qrels.doc_id", "qrels.category")
_SHOWN = ["query_id", "doc_id", "category"]


@declared(CHECKS, "integrity", "broken columns", FAULT,
          "Columns of the layout that are missing or of another type, and tables without a row.")
def broken_columns(prepared) -> Found:
    collection = prepared.collection
    rows = [{"table": f.table, "fault": f.sentence} for f in collection.column_faults]
    rows += [{"table": t, "fault": "the table has no row"} for t in sorted(prepared.empty_tables)]
    return rows_found(pd.DataFrame(rows, columns=["table", "fault"]), None)


@declared(CHECKS, "integrity", "texts that are not UTF-8", FAULT,
          "Values whose bytes are no UTF-8; retrieval can't read them.")
def not_utf8(prepared) -> Found:
    return rows_found(prepared.collection.undecodable(), None)


def _identifiers(rule: int, table: str, prepared) -> Found:
    ids = prepared.ids(table)
    _, broken = id_rules(table, ids)[rule]
    rows = pd.DataFrame({"row": ids.index[broken], ID_COLUMN[table]: ids[broken].to_numpy()})
    return rows_found(rows, len(ids))


for _table, _key in ID_COLUMN.items():
    for _rule, (_kind, _said) in enumerate((("empty", "has none or a blank one"),
                                            ("repeated", "repeats an earlier one"))):
        CHECKS.append(Check("integrity", f"{_kind} {_key}", FAULT,
                            f"Rows of {_table} whose identifier {_said}.", (f"{_table}.{_key}",),
                            partial(_identifiers, _rule, _table)))


@declared(CHECKS, "integrity", "identifiers with blanks at their ends", DOUBT,
          "Identifiers that begin or end with a blank: they look like another one, and are not.",
          *_IDS, *_PAIRS[:2])
def blank_ends(prepared) -> Found:
    parts = []
    for table, key in (*ID_COLUMN.items(), ("qrels", "query_id"), ("qrels", "doc_id")):
        ids = prepared.pairs[key] if table == "qrels" else prepared.ids(table)
        odd = ids[[isinstance(i, str) and bool(i.strip()) and i != i.strip() for i in ids]]
        parts.append(pd.DataFrame({"table": table, "column": key, "identifier": odd}))
    return rows_found(pd.concat(parts).drop_duplicates(), None)


def _pairs(name: str, prepared) -> Found:
    if name == "own pairs" and not prepared.collection.shared_ids:
        return Found(absent=NOT_SHARED)
    pairs = prepared.pairs
    return rows_found(pairs.loc[prepared.broken_pairs[name], _SHOWN], len(pairs))


for _name, _said in (
        ("unknown queries", "Pairs whose query stands in no row of queries."),
        ("unknown documents", "Pairs whose document stands in no row of corpus."),
        ("unknown categories", "Pairs of a category other than XY, A and overlap."),
        ("repeated pairs", "Pairs that stand more than once; each further row is counted."),
        ("own pairs", "Pairs in which a query is its own relevant document.")):
    CHECKS.append(Check("integrity", _name, FAULT, _said, (*_IDS, *_PAIRS), partial(_pairs, _name)))


@declared(CHECKS, "integrity", "unknown relations", FAULT,
          "Pairs with an entry of another category than X, Y, A and XY, or of another direction "
          "than cited and citing.", *_PAIRS, "qrels.source_relations")
def unknown_relations(prepared) -> Found:
    pairs = prepared.pairs
    odd = [any(_is_unknown(r) for r in relations or () if r)
           for relations in pairs["source_relations"]]
    return rows_found(pairs.loc[odd, [*_SHOWN, "source_relations"]], len(pairs))


def _is_unknown(relation: dict) -> bool:
    """Whether an entry names what the layout does not know, or a category without a direction."""
    category, direction = relation.get("category"), relation.get("direction")
    return (category not in (None, *RELATION_CATEGORIES) or direction not in (None, *DIRECTIONS)
            or (category is not None and direction is None))


@declared(CHECKS, "integrity", "own entries of other content", FAULT,
          "Patents that stand in both tables under one identifier, with different fields.", *_IDS)
def other_content(prepared) -> Found:
    collection = prepared.collection
    if not collection.shared_ids:
        return Found(absent=NOT_SHARED)
    own = set(prepared.own_ids)
    columns = [c for c in FEATURES["corpus"] if c != "doc_id"]
    broken = collection.broken_columns
    columns = [c for c in columns if not {f"queries.{c}", f"corpus.{c}"} & broken]
    queries, docs = (_rows(collection, table, own, columns) for table in ID_COLUMN)
    rows = [{"identifier": i, "fields": ", ".join(c for c in columns if queries[i][c] != docs[i][c])}
            for i in sorted(queries.keys() & docs.keys()) if queries[i] != docs[i]]
    return rows_found(pd.DataFrame(rows, columns=["identifier", "fields"]), len(own))


def _rows(collection, table: str, own: set[str], columns: list[str]) -> dict[str, dict]:
    """{identifier: fields} of the rows of `own`; null and empty read the same."""
    found, key = {}, ID_COLUMN[table]
    for batch in collection.batches(table, [key, *columns]):
        for i, name in enumerate(batch[key]):
            if name in own and name not in found:
                found[name] = {c: _filled(batch[c][i]) for c in columns}
    return found


def _filled(value):
    """A value in which null, empty and a list of nulls read the same."""
    return [v for v in value if v] or "" if isinstance(value, list) else value or ""
