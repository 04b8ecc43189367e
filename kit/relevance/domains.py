"""IN or OUT by pair: whether a query and a document share an IPC class of three characters.

This is DAPFAM's notion, that of the scopes, and finer than that of the domain slices, which go by
the one-character section.
"""

import re
from functools import lru_cache

import pandas as pd

from kit.collection.schema import ID_COLUMN

_THREE = re.compile(r"\s*([A-HY])\s*([0-9]{2})", re.IGNORECASE)
STATED, RECOMPUTED = "domain_rel", "three-character classes"  # where a pair's domain is from
NEAR, FAR, UNKNOWN = "IN", "OUT", "UNKNOWN"
SENTENCES = {
    NEAR: "query and document share a three-character class",
    FAR: "query and document share no three-character class",
    UNKNOWN: "one of the two has no class that can be read, so the domain would be a guess",
}


def three_character_classes(ipc: list[str] | None) -> frozenset[str]:
    """The classes of a patent by their first three characters, such as F16; a bare section has none."""
    matches = (_THREE.match(c) for c in ipc or () if c)
    return frozenset(m[1].upper() + m[2] for m in matches if m)


@lru_cache(maxsize=4)  # every run and protocol asks for them
def scope_domains(collection) -> dict[tuple[str, str], tuple[str, str]]:
    """{(query, document): (domain, domain by the classes)} of the qrels' pairs: IN, OUT or UNKNOWN.

    The first is the one that figures go by: `domain_rel`, as published, where the collection states
    it, else the second.
    """
    pairs = collection.pairs
    recomputed = pair_domains(collection, pairs)
    used = pairs.get(STATED, recomputed)
    return {(query, doc): (domain if domain in (NEAR, FAR) else UNKNOWN, again)
            for query, doc, domain, again in zip(pairs["query_id"], pairs["doc_id"], used, recomputed)}


def scope_counts(collection, pairs: pd.DataFrame) -> dict[str, str | int]:
    """How many of the pairs (query_id, doc_id, of the qrels) are IN, OUT and UNKNOWN, where that is
    `from`, and, where it is stated, for how many the classes say `otherwise` or are `untold`."""
    domains = scope_domains(collection)
    held = [domains[pair] for pair in zip(pairs["query_id"], pairs["doc_id"])]
    used = [domain for domain, _ in held]
    counts = {"from": RECOMPUTED, **{name: used.count(name) for name in SENTENCES}}
    if STATED not in collection.pairs:
        return counts
    untold = sum(again == UNKNOWN for _, again in held)
    otherwise = sum(again not in (domain, UNKNOWN) for domain, again in held)
    return counts | {"from": STATED, "otherwise": otherwise, "untold": untold}


def pair_domains(collection, pairs: pd.DataFrame) -> pd.Series:
    """IN, OUT or UNKNOWN for each pair, recomputed from the classes: a Series under pairs' index.

    pairs: query_id, doc_id. An identifier that is in no table has no class.
    """
    of_query, of_doc = (class_map(collection, table) for table in ID_COLUMN)
    ends = [(of_query.get(query, frozenset()), of_doc.get(doc, frozenset()))
            for query, doc in zip(pairs["query_id"], pairs["doc_id"])]
    return pd.Series([_domain(*end) for end in ends], pairs.index, dtype=object, name="domain")


def _domain(one: frozenset[str], other: frozenset[str]) -> str:
    return UNKNOWN if not (one and other) else NEAR if one & other else FAR


def class_map(collection, table: str) -> dict[str, frozenset[str]]:
    """{identifier: three-character classes} of `queries` or `corpus`: those that the collection
    lists as such (`ipc3`), where it lists none, those of its IPC codes."""
    key = ID_COLUMN[table]
    frame = collection.frame(table, [key, "ipc3", "ipc"])
    return {i: three_character_classes(listed) or three_character_classes(ipc)
            for i, listed, ipc in zip(frame[key], frame["ipc3"], frame["ipc"])}


def non_citations(collection) -> pd.DataFrame:
    """The pairs that were sampled as non-citations: columns query_id, doc_id; none but in DAPFAM.

    No figure counts them: they are few and easy, and an unlabelled pair is no less of a negative.
    """
    columns = ["query_id", "doc_id"]
    if "sampled" not in collection.tables:
        return pd.DataFrame(columns=columns)
    return collection.frame("sampled", columns)
