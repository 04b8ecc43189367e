"""IN or OUT by pair: whether a query and a document share an IPC class of three characters.

This is DAPFAM's notion, and finer than that of the slices, which go by the one-character section.
"""

import pandas as pd

from kit.collection.schema import ID_COLUMN
from kit.relevance.slices import three_character_classes

NEAR, FAR, UNKNOWN = "IN", "OUT", "UNKNOWN"
SENTENCES = {
    NEAR: "query and document share a three-character class",
    FAR: "query and document share no three-character class",
    UNKNOWN: "one of the two has no class that can be read, so the domain would be a guess",
}


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
