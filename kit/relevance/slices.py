"""The standard slices: parts of a protocol's relevant pairs over which every figure stands again.

A slice of the families domain and statute selects QUERIES: all relevant pairs of its queries stay.
A slice of the families scope, grade and direction selects PAIRS: a query counts if it has such a
pair, and its other relevant documents stay in the ranking and count as not relevant, as under a
protocol. So OUT figures compare systems, not scopes: the IN positives above an OUT one push it down.
In the residual scope they are taken out of the ranking first and what stood below moves up; nothing
comes from below the run's depth in their place, so that a measure at the depth sees fewer documents
(search deeper than the cutoff to fill it).
"""

import re
from dataclasses import dataclass
from functools import lru_cache

import pandas as pd

from kit.relevance.domains import FAR, NEAR, scope_domains
from kit.relevance.protocols import positives

SCOPES = ("scope IN", "scope OUT", "scope OUT residual")  # beside "all", the scope ALL
TAKEN_OUT = {"scope OUT residual": "scope IN"}  # slice: the one whose pairs leave its rankings
DOMAINS = ("IN", "MIXED", "OUT", "UNKNOWN")
STATUTES = {"102": "§102", "103": "§103"}
FAMILIES = {"scope": SCOPES, "domain": DOMAINS, "statute": tuple(STATUTES.values()),
            "grade": ("X", "Y"), "direction": ("cited", "citing")}
_ABSENT = {"scope": "no relevant pair has three-character classes on both sides"}
NAMES = tuple(name for names in FAMILIES.values() for name in names)
# a section, alone or with a class: "A01B 1/00", "a 61 k"; Y is the CPC's
_CLASS = re.compile(r"\s*([A-HY])(\s*[0-9]{2}.*|\s*)", re.IGNORECASE | re.DOTALL)
DOMAIN_SENTENCES = {
    "IN": "every relevant document shares a section (of the IPC or CPC) with its query",
    "MIXED": "some relevant documents share a section with the query, some do not",
    "OUT": "no relevant document shares a section with its query",
    "UNKNOWN": "the query or a relevant document has no class, so the tag would be a guess",
}
SCOPE_SENTENCES = {
    "scope IN": "only pairs that share a three-character IPC class count as relevant",
    "scope OUT": "only pairs that share no three-character IPC class count as relevant; the IN ones "
                 "stay in the ranking as not relevant, so that it compares systems, not scopes",
    "scope OUT residual": "scope OUT, with the query's IN documents taken out of the ranking first; "
                          "the ranks move up, and nothing comes from below the run's depth",
}
SENTENCES = {
    **SCOPE_SENTENCES,
    **DOMAIN_SENTENCES,
    "§102": "queries whose documents are asserted against novelty; a query of both statutes stands "
            "in both slices",
    "§103": "queries whose documents are asserted as making it obvious; a query of both statutes "
            "stands in both slices",
    "X": "only pairs of the grade X count as relevant; a pair of X and Y stands in both slices",
    "Y": "only pairs of the grade Y count as relevant; a pair of X and Y stands in both slices",
    "cited": "only documents that the query cites count as relevant",
    "citing": "only documents that cite the query count as relevant",
}


@dataclass(frozen=True)
class Slice:
    """A part of a protocol's relevant pairs.

    family: one of FAMILIES. name: one of NAMES. sentence: what it says.
    pairs: the relevant pairs that are left, rows of `protocols.positives` under their own index;
    the queries that have one count. absent: why the collection can't give the slice, else "".
    taken_out: the pairs that leave the rankings first; None in all but the residual scope.
    """

    family: str
    name: str
    sentence: str
    pairs: pd.DataFrame
    absent: str = ""
    taken_out: pd.DataFrame | None = None

    @property
    def members(self) -> frozenset[str]:
        """The ids of the queries that count."""
        return frozenset(self.pairs["query_id"])


def standard_slices(collection, protocol: str) -> list[Slice]:
    """Every standard slice, in the order of NAMES, those too that the collection can't give.

    Raises MeasureError for a protocol that is unknown or that the collection can't give.
    """
    pairs, made = positives(collection, protocol), {}
    for family, names in FAMILIES.items():
        labels = _LABELS[family](collection, pairs)
        known = family == "domain" or any(labels.values())
        absent = "" if known else _ABSENT.get(family, f"no {family} in this collection")
        held = [labels.get(pair, ()) for pair in zip(pairs["query_id"], pairs["doc_id"])]
        for name in names:
            chosen = pd.Series([name in of_pair for of_pair in held], pairs.index, dtype=bool)
            gone = made[TAKEN_OUT[name]].pairs if name in TAKEN_OUT else None
            made[name] = Slice(family, name, SENTENCES[name], pairs[chosen], absent, gone)
    return list(made.values())


# --- {(query, document): the names of the slices that the pair stands in} -------------------------

def _scopes(collection, _) -> dict[tuple[str, str], tuple[str, ...]]:
    """The scopes of each pair of the qrels; none where its domain can't be told."""
    of_domain = {NEAR: SCOPES[:1], FAR: SCOPES[1:]}
    return {pair: of_domain.get(domain, ()) for pair, (domain, _) in
            scope_domains(collection).items()}


def _domains(collection, pairs: pd.DataFrame) -> dict[tuple[str, str], set[str]]:
    """The tag of the query, for each pair of the protocol."""
    tags = domain_tags(collection, pairs).to_dict()
    return {(query, doc): {tags[query]} for query, doc in zip(pairs["query_id"], pairs["doc_id"])}


def _statutes(collection, _) -> dict[tuple[str, str], set[str]]:
    """The statutes of the query, for each pair of the qrels."""
    stated = _stated(collection, "statute")
    return {(query, doc): {STATUTES[s] for s in stated.get(query, ()) if s in STATUTES}
            for query, doc, _ in _pairs_with_relations(collection)}


def pair_grades(collection, _=None) -> dict[tuple[str, str], set[str]]:
    """{(query, document): of X and Y those among its relations, and those of the query}, for each
    pair of the qrels."""
    stated = _stated(collection, "grade")
    return {(query, doc): {"X", "Y"} & {*stated.get(query, ()), *(r["category"] for r in relations)}
            for query, doc, relations in _pairs_with_relations(collection)}


def _directions(collection, _) -> dict[tuple[str, str], set[str]]:
    """The directions among the pair's relations, for each pair of the qrels."""
    return {(query, doc): {"cited", "citing"} & {r["direction"] for r in relations}
            for query, doc, relations in _pairs_with_relations(collection)}


_LABELS = {"scope": _scopes, "domain": _domains, "statute": _statutes, "grade": pair_grades,
           "direction": _directions}


def _stated(collection, column: str) -> dict[str, list[str]]:
    """{query: what a list column of the queries holds}; only of those that hold something."""
    values = collection.frame("queries", [column])[column]
    return {query: held for query, held in zip(collection.ids("queries"), values) if held}


def _pairs_with_relations(collection):
    pairs = collection.pairs
    for query, doc, relations in zip(pairs["query_id"], pairs["doc_id"], pairs["source_relations"]):
        yield query, doc, [r for r in relations or () if r]


# --- domains --------------------------------------------------------------------------------------

def sections(classes: list[str] | None) -> frozenset[str]:
    """The sections of a patent's classes, IPC or CPC; empty when it has none that can be read.

    A text that only begins with a section's letter, such as a kind code, is no class.
    """
    matches = (_CLASS.fullmatch(c) for c in classes or () if c)
    return frozenset(m[1].upper() for m in matches if m)


def domain_tags(collection, pairs: pd.DataFrame) -> pd.Series:
    """IN, MIXED, OUT or UNKNOWN for each query with a pair: a Series by query_id.

    pairs: query_id, doc_id (as `protocols.positives` gives them). A pair counts as near when the
    two share a section. Where one class is lacking the query is MIXED if the known pairs already
    are of both kinds, else UNKNOWN: a class is never guessed. The classes that a row states of its
    golds go before those of the corpus.
    """
    of_query, of_doc = section_map(collection, "queries"), section_map(collection, "corpus")
    of_gold = _gold_sections(collection)
    near, known = [], []
    for query, doc in zip(pairs["query_id"], pairs["doc_id"]):
        a, b = of_query[query], of_gold.get((query, doc)) or of_doc[doc]
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
    return dict(zip(collection.ids(table), table_sections(collection, table)))


@lru_cache(maxsize=4)  # every run and protocol asks for them
def table_sections(collection, table: str) -> tuple[frozenset[str], ...]:
    """The sections of each row: of its CPC where one can be read, else of its IPC."""
    frame = collection.frame(table, ["cpc", "ipc"])
    return tuple(sections(cpc) or sections(ipc) for cpc, ipc in zip(frame["cpc"], frame["ipc"]))


def _gold_sections(collection) -> dict[tuple[str, str], frozenset[str]]:
    """{(query, document): sections} where the qrels state the document's classes."""
    if "cpc" not in collection.columns["qrels"]:
        return {}
    pairs = collection.pairs
    return {(query, doc): sections(cpc)
            for query, doc, cpc in zip(pairs["query_id"], pairs["doc_id"], pairs["cpc"])}
