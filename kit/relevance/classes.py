"""IPC codes to their five levels, and how deep two patents agree.

A section is A to H (Y is the CPC's), a class A61, a subclass A61K, a group A61K 31 (the main group)
and a subgroup A61K 31/19. Codes come as A61K31/19, "A61K  31/19", a61k 031/19, A61K-031/19, with a year
or more behind them, and in the fixed columns of WIPO's ST.8, A61K0031190000 (four places of the group, six of the
subgroup, filled up with zeros). A digit of a subgroup beyond the second divides the one before it, so
that zeros behind two digits say nothing. What can't be read to its end counts as far as it can.
"""

import re
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse

from kit.collection.schema import ID_COLUMN

LEVELS = ("section", "class", "subclass", "group", "subgroup")
_CODE = re.compile(r"\s*([A-HY])(?:\s*([0-9]{2})\s*(?:([A-Z])(?![A-Z])[\s-]*(.*))?|\s*$)", re.I | re.S)
_SPLIT = re.compile(r"0*([1-9][0-9]{0,3})\s*[/:]\s*([0-9]{2,6})(?![0-9])")  # 31/19
_FIXED = re.compile(r"([0-9]{4})([0-9]{6})(?![0-9])")                       # 0031190000
_GROUP = re.compile(r"0*([1-9][0-9]{0,3}(?=\s*[/:])|[1-9][0-9]{0,2}(?![0-9]))")  # 31, or 0031


def levels_of(code: str | None) -> tuple[str, ...]:
    """The code's levels, from its section on, as far as they can be read: A61K31/19 gives A, A61,
    A61K, A61K31, A61K31/19. None for what is no code."""
    match = _CODE.match(code or "")
    if match is None:
        return ()
    section, digits, letter, rest = (part.upper() if part else "" for part in match.groups())
    found = [section, section + digits, section + digits + letter][:1 + bool(digits) + bool(letter)]
    split = _SPLIT.match(rest) or _FIXED.match(rest)
    group = split or _GROUP.match(rest)
    if group and int(group[1]):
        found.append(f"{found[-1]}{int(group[1])}")
        if split:
            found.append(f"{found[-1]}/{split[2][:2]}{split[2][2:].rstrip('0')}")
    return tuple(found)


class _Table(NamedTuple):
    """The classes of a table's n rows. ids: their identifiers. held: a level each, n × classes, 1
    where the row has the class; depth: n, the number of levels at which it has one."""

    ids: pa.Array
    held: list[sparse.csr_matrix]
    depth: np.ndarray


class Agreement(NamedTuple):
    """How far pairs agree: pairs, each the number of levels at which query and document have a class
    in common, 0 to 5. queries, docs: at how many levels either has a class; an unknown one has none."""

    pairs: np.ndarray
    queries: np.ndarray
    docs: np.ndarray


@lru_cache(maxsize=4)  # every run and protocol asks for them
def _tables(collection) -> dict[str, _Table]:
    rows = {table: _rows(collection, table) for table in ID_COLUMN}
    known = [{} for _ in LEVELS]  # a column a class, the same in both tables
    for codes in (codes for _, lists in rows.values() for codes in lists):
        for level, name in {(i, name) for code in codes for i, name in enumerate(code)}:
            known[level].setdefault(name, len(known[level]))
    return {table: _Table(pa.array(ids, pa.string()),
                          [_matrix(lists, level, known[level]) for level in range(len(LEVELS))],
                          np.array([max(map(len, codes), default=0) for codes in lists], np.int8))
            for table, (ids, lists) in rows.items()}


def _rows(collection, table: str) -> tuple[list[str], list[list[tuple[str, ...]]]]:
    """Identifiers, and the levels of each row's codes: its IPC codes or, where it has none that can be
    read, the three-character classes that the collection lists."""
    frame = collection.frame(table, [ID_COLUMN[table], "ipc", "ipc3"])
    return list(frame[ID_COLUMN[table]]), [
        _read(ipc) or _read(ipc3) for ipc, ipc3 in zip(frame["ipc"], frame["ipc3"])]


def _read(codes: list[str] | None) -> list[tuple[str, ...]]:
    return [levels for levels in map(levels_of, codes or ()) if levels]


def _matrix(lists: list, level: int, known: dict[str, int]) -> sparse.csr_matrix:
    held = [{known[code[level]] for code in codes if len(code) > level} for codes in lists]
    starts = np.cumsum([0, *map(len, held)])
    columns = np.array([column for mine in held for column in sorted(mine)], np.int64)
    return sparse.csr_matrix((np.ones(len(columns), np.int8), columns, starts),
                             shape=(len(lists), max(len(known), 1)))


def agreement(collection, query_ids, doc_ids) -> Agreement:
    """How far each of n pairs agrees. query_ids, doc_ids: n identifiers each, as Arrow or a list.

    By rows' IPC alone: no CPC, and what the qrels state of a document, is read.
    """
    ends = [(_tables(collection)[table], _places(collection, table, ids))
            for table, ids in (("queries", query_ids), ("corpus", doc_ids))]
    depths = [np.where(places >= 0, table.depth[places], 0) for table, places in ends]
    (queries, q), (docs, d) = ends
    agreed, left = np.zeros(len(q), np.uint8), np.flatnonzero((depths[0] > 0) & (depths[1] > 0))
    for level in range(len(LEVELS)):  # who differs in the section differs in all below
        common = queries.held[level][q[left]].multiply(docs.held[level][d[left]])
        left = left[np.asarray(common.sum(axis=1)).ravel() > 0]
        agreed[left] = level + 1
    return Agreement(agreed, depths[0].astype(np.uint8), depths[1].astype(np.uint8))


def _places(collection, table: str, ids) -> np.ndarray:
    """The row of each identifier, -1 where the table lacks it."""
    ids = ids if isinstance(ids, (pa.Array, pa.ChunkedArray)) else pa.array(ids, pa.string())
    return pc.fill_null(pc.index_in(ids, _tables(collection)[table].ids), -1).to_numpy().astype(np.int64)
