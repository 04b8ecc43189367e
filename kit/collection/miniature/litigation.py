"""The miniature's rows: challenged claims, and the documents that are held against them.

A row is claim 1 of an invention told anew, which is in no table; its golds are documents of its
mechanism. Ten rows each are planned IN, MIXED, OUT and UNKNOWN. Of these are odd:
- half of the UNKNOWN rows state no class, the others have a gold without one;
- two IN rows have a gold whose class only the row states;
- two MIXED rows share nothing with their near gold but a class of section Y;
- the last row states neither statute nor grade.
"""

from dataclasses import dataclass
from itertools import count

import pyarrow as pa

from kit.collection.miniature.draw import draw, pick, some
from kit.collection.miniature.tables import plan
from kit.collection.miniature.telling import Cell, cells, tell

TAGS = ("IN", "MIXED", "OUT", "UNKNOWN")
ROWS_OF_A_TAG = 10
CROSS_SECTIONAL = "Y02P70/10"
STATUTES = ("102", "103", "103", ["102", "103"])
GRADES = ("X", "Y", "Y", ["X", "Y"], None)


@dataclass(frozen=True)
class Documents:
    """What can be a gold. classes: {document: its IPC}. cells: {document: its cell}."""

    classes: dict[str, list[str]]
    cells: dict[str, Cell]

    @property
    def unclassed(self) -> list[str]:
        """Those without a class."""
        return [name for name in self.cells if not self.classes[name]]

    def of(self, cell: Cell) -> tuple[list[str], list[str]]:
        """The documents of the cell, and those of its mechanism in no section of it."""
        own = {c[0] for c in cell.words["ipc"]}
        same = [d for d, c in self.cells.items()
                if c.mechanism == cell.mechanism and self.classes[d]]
        return ([d for d in same if self.cells[d].key == cell.key],
                [d for d in same if not own & {c[0] for c in self.classes[d]}])


def build_rows(corpus: pa.Table) -> list[dict]:
    """The rows of the layout `rows`, the same on every machine. corpus: the miniature's."""
    classes = dict(zip(corpus["doc_id"].to_pylist(), corpus["ipc"].to_pylist()))
    docs, queries = plan()
    held = Documents(classes, {d.name: d.cell for d in docs if d.name in classes})
    told, rows = {_claim(patent.row) for patent in docs + queries}, []
    for n, (turn, tag) in enumerate(((t, tag) for t in range(ROWS_OF_A_TAG) for tag in TAGS), 1):
        qid = f"trial-{n:03d}"
        cell = _cell(qid, turn, tag, held)
        row = {"qid": qid, "text": _new_claim(qid, cell, told),
               **_labels(qid, turn, tag, cell, held)}
        rows.append({name: value for name, value in row.items() if value})
    for name in ("statute", "grade"):
        rows[-1].pop(name, None)
    return rows


def _claim(told: dict) -> str:
    return told["claims"].split("\n")[0]


def _new_claim(qid: str, cell: Cell, told: set[str]) -> str:
    """Claim 1 of the cell's invention in words in which no table tells it."""
    tries = (_claim(tell(cell, draw(2, qid, "variant"), f"{qid} {n}")) for n in count())
    return next(claim for claim in tries if claim not in told)


def _odd_gold(turn: int, tag: str, held: Documents) -> str | None:
    """The gold without a class in the corpus: of five UNKNOWN rows and of two IN rows."""
    place = {"UNKNOWN": turn if turn < 5 else None, "IN": 5 + turn if turn < 2 else None}.get(tag)
    return None if place is None else held.unclassed[place]


def _cell(qid: str, turn: int, tag: str, held: Documents) -> Cell:
    """The cell of the odd gold, else one of which the corpus has documents."""
    odd = _odd_gold(turn, tag, held)
    told = {cell.key for cell in held.cells.values()}
    return held.cells[odd] if odd else pick([c for c in cells() if c.key in told], qid, "cell")


def _labels(qid: str, turn: int, tag: str, cell: Cell, held: Documents) -> dict:
    """The golds of a row and its slice fields; an empty one is not stated."""
    (near, far), own, odd = held.of(cell), cell.words["ipc"], _odd_gold(turn, tag, held)
    by_y = tag == "MIXED" and turn < 2
    golds = [] if tag == "OUT" or by_y else some(near, 2 + draw(3, qid, "near"), qid, "near")
    golds += some(far, 2 + draw(2, qid, "far"), qid, "far") if tag in ("MIXED", "OUT") else []
    stated = {g: held.classes[g] for g in golds} if turn % 2 or by_y else {}
    if by_y:
        stated[golds[0]] = [*stated[golds[0]], CROSS_SECTIONAL]
    if odd and tag == "IN":
        stated[odd] = own
    return {"gold_apps": golds + ([odd] if odd else []), "statute": pick(STATUTES, qid, "statute"),
            "grade": pick(GRADES, qid, "grade"),
            "query_cpc": [] if tag == "UNKNOWN" and not odd else own + [CROSS_SECTIONAL] * by_y,
            "gold_cpc": stated}
