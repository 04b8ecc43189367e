"""Slices of the queries: IN, MIXED, OUT, UNKNOWN by the one-character section of the IPC."""

import re

import pandas as pd

DOMAINS = ("IN", "MIXED", "OUT", "UNKNOWN")
# a section, alone or with a class: "A01B 1/00", "a 61 k"; Y is the CPC's
_CLASS = re.compile(r"\s*([A-HY])(\s*[0-9]{2}.*|\s*)", re.IGNORECASE | re.DOTALL)
DOMAIN_SENTENCES = {
    "IN": "every relevant document shares an IPC section with its query",
    "MIXED": "some relevant documents share a section with the query, some do not",
    "OUT": "no relevant document shares a section with its query",
    "UNKNOWN": "the query or a relevant document has no class, so the tag would be a guess",
}


def sections(ipc: list[str] | None) -> frozenset[str]:
    """The sections of a patent's classes; empty when it has none that can be read.

    A text that only begins with a section's letter, such as a kind code, is no class.
    """
    matches = (_CLASS.fullmatch(c) for c in ipc or () if c)
    return frozenset(m[1].upper() for m in matches if m)


_THREE = re.compile(r"\s*([A-HY])\s*([0-9]{2})", re.IGNORECASE)


def three_character_classes(ipc: list[str] | None) -> frozenset[str]:
    """The classes of a patent by their first three characters, such as F16; a bare section has none."""
    matches = (_THREE.match(c) for c in ipc or () if c)
    return frozenset(m[1].upper() + m[2] for m in matches if m)


def domain_tags(collection, pairs: pd.DataFrame) -> pd.Series:
    """IN, MIXED, OUT or UNKNOWN for each query with a pair: a Series by query_id.

    pairs: query_id, doc_id (as `protocols.positives` gives them). A pair counts as near when the
    two share a section. Where one class is lacking the query is MIXED if the known pairs already
    are of both kinds, else UNKNOWN: a class is never guessed.
    """
    of_query, of_doc = section_map(collection, "queries"), section_map(collection, "corpus")
    near, known = [], []
    for query, doc in zip(pairs["query_id"], pairs["doc_id"]):
        a, b = of_query[query], of_doc[doc]
        known.append(bool(a and b))
        near.append(bool(a & b))
    frame = pd.DataFrame({"query_id": pairs["query_id"], "near": near, "known": known})
    frame["far"] = frame["known"] & ~frame["near"]
    some = frame.groupby("query_id")[["near", "far"]].any()
    complete = frame.groupby("query_id")["known"].all()
    tags = pd.Series("UNKNOWN", index=some.index, name="domain", dtype=object)
    tags[complete & some["near"]] = "IN"
    tags[complete & some["far"]] = "OUT"
    tags[some["near"] & some["far"]] = "MIXED"
    return tags


def section_map(collection, table: str) -> dict[str, frozenset[str]]:
    """{identifier: sections} of `queries` or `corpus`."""
    ipc = collection.frame(table, ["ipc"])["ipc"]
    return {i: sections(c) for i, c in zip(collection.ids(table), ipc)}
