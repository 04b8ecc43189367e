"""Patent classes: whether they can be read, and whether the labels cross them."""

from functools import partial

import pandas as pd

from kit.collection.schema import ID_COLUMN
from kit.relevance.checks.check import DOUBT, FACT, FAULT, Check, Found, declared, rows_found
from kit.relevance.domains import three_character_classes
from kit.relevance.slices import DOMAIN_SENTENCES, sections

CHECKS: list[Check] = []
_NEEDS = ("queries.query_id", "corpus.doc_id", "queries.ipc", "corpus.ipc", "qrels.query_id",
          "qrels.doc_id")


def _without(table: str, prepared) -> Found:
    frame = prepared.bibliography(table)
    none = [not [c for c in ipc or () if c and c.strip()] for ipc in frame["ipc"]]
    return rows_found(frame.loc[none, ["identifier"]], len(frame))


def _malformed(table: str, prepared) -> Found:
    frame = prepared.bibliography(table)
    rows = [{"identifier": i, "class": c} for i, ipc in zip(frame["identifier"], frame["ipc"])
            for c in ipc or () if c and c.strip() and not sections([c])]
    return rows_found(pd.DataFrame(rows, columns=["identifier", "class"]),
                      sum(len(ipc or ()) for ipc in frame["ipc"]))


for _table, _key in ID_COLUMN.items():
    CHECKS.append(Check("classes", f"{_table} without a class", DOUBT, f"Rows of {_table} with no IPC "
                        "class: their queries can't be told IN from OUT.",
                        (f"{_table}.{_key}", f"{_table}.ipc"), partial(_without, _table)))
    CHECKS.append(Check("classes", f"{_table}: malformed classes", DOUBT, f"Classes of {_table} that "
                        "can't be read as one, such as a kind code; they count as missing.",
                        (f"{_table}.{_key}", f"{_table}.ipc"), partial(_malformed, _table)))


@declared(CHECKS, "classes", "ipc_section against ipc", FAULT,
          "Queries whose ipc_section is not a section of their classes.", "queries.query_id",
          "queries.ipc", "queries.ipc_section")
def against_ipc(prepared) -> Found:
    frame = prepared.bibliography("queries")[["identifier", "ipc_section", "ipc"]]
    stated = frame["ipc_section"].fillna("").str.strip()
    odd = [bool(s) and bool(sections(ipc)) and s not in sections(ipc)
           for s, ipc in zip(stated, frame["ipc"])]
    return rows_found(frame.loc[odd], len(frame))


def _crossing(prepared, classes_of) -> Found:
    """The pairs whose two patents have classes, and none in common."""
    held = {t: {i: classes_of(ipc) for i, ipc in zip(f["identifier"], f["ipc"])}
            for t in ID_COLUMN if (f := prepared.bibliography(t)) is not None}
    pairs = prepared.single_pairs[["query_id", "doc_id"]]
    both = [(held["queries"][q], held["corpus"][d])
            for q, d in zip(pairs["query_id"], pairs["doc_id"])]
    crosses = [bool(a and b and not a & b) for a, b in both]
    rows = pairs.loc[crosses].assign(query_classes=[", ".join(sorted(a)) for (a, _), c in zip(both, crosses) if c],
                                 document_classes=[", ".join(sorted(b)) for (_, b), c in zip(both, crosses) if c])
    known = sum(bool(a and b) for a, b in both)
    detail = pd.DataFrame({"pairs": ["in common", "across", "a class is missing"],
                           "count": [known - len(rows), len(rows), len(both) - known]})
    return rows_found(rows, len(both), detail)


@declared(CHECKS, "classes", "pairs across sections", FACT,
          "Pairs whose two patents share no IPC section (the first character).", *_NEEDS)
def across_sections(prepared) -> Found:
    return _crossing(prepared, sections)


@declared(CHECKS, "classes", "pairs across classes", FACT,
          "Pairs whose two patents share no IPC class (the first three characters).", *_NEEDS)
def across_classes(prepared) -> Found:
    return _crossing(prepared, three_character_classes)


def _tagged(tag: str, prepared) -> Found:
    tags = prepared.domains
    return rows_found(tags[tags == tag].index.to_frame(index=False), len(tags))


for _tag, _said in DOMAIN_SENTENCES.items():
    CHECKS.append(Check("classes", f"queries {_tag}", FACT, f"Queries that are {_tag}: {_said}.",
                        _NEEDS, partial(_tagged, _tag)))
