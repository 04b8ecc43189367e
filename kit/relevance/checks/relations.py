"""DAPFAM's relations: what they state, whether the classes bear it out, and whether one identifier
in both tables is one patent."""

from functools import partial

import pandas as pd

from kit.collection.dapfam import relation_rules
from kit.collection.schema import ID_COLUMN
from kit.relevance.checks.check import (
    DOUBT,
    FACT,
    FAULT,
    Check,
    Found,
    declared,
    rows_found,
)
from kit.relevance.domains import FAR, NEAR, UNKNOWN, class_map, pair_domains

CHECKS: list[Check] = []
_IDS = ("queries.query_id", "corpus.doc_id")
_PAIRS = (*_IDS, "qrels.query_id", "qrels.doc_id", "qrels.relevance_score", "qrels.domain_rel")
_CLASSES = (*_PAIRS, "queries.ipc", "corpus.ipc")
_TOLD = ("title", "claims")


def _broken(rule: str, prepared) -> Found:
    rows = next(rows for name, _, rows in relation_rules(prepared.collection) if name == rule)
    return rows_found(rows, len(prepared.pairs) + len(_sampled(prepared)))


for _name, _said in (
        ("scores that are not documented", "Relations whose relevance_score is neither 1 nor 0."),
        ("domains that are not documented", "Relations whose domain_rel is none of IN, OUT, NC."),
        ("scores against domains", "Relations of score 1 whose domain_rel is NC, or of score 0 "
         "with IN or OUT."),
        ("pairs cited and sampled", "Sampled non-citations that are positives too."),
        ("unknown identifiers of sampled pairs", "Sampled non-citations of which an identifier is "
         "in no row of queries or corpus."),
        ("repeated sampled pairs", "Sampled non-citations that stand more than once; each further "
         "row is counted.")):
    CHECKS.append(Check("relations", _name, FAULT, _said, _PAIRS, partial(_broken, _name)))


def _sampled(prepared) -> pd.DataFrame:
    return prepared.collection.frame("sampled", ["query_id", "doc_id"])


@declared(CHECKS, "relations", "sampled", FACT,
          "Sampled non-citations; they are kept apart, and nothing counts them.", *_PAIRS)
def sampled(prepared) -> Found:
    count = len(_sampled(prepared))
    return Found(count, count + len(prepared.pairs))


def _stated(domain: str, prepared) -> Found:
    return Found(int((prepared.pairs["domain_rel"] == domain).sum()), len(prepared.pairs))


def _asked(domain: str, prepared) -> Found:
    stating = prepared.pairs[prepared.pairs["domain_rel"] == domain]
    return Found(stating["query_id"].nunique(), len(prepared.ids("queries")))


for _name in (NEAR, FAR):
    CHECKS.append(Check("relations", f"pairs stated {_name}", FACT, "Relevant pairs whose "
                        f"domain_rel is {_name}.", _PAIRS, partial(_stated, _name)))
    CHECKS.append(Check("relations", f"queries with a pair stated {_name}", FACT, "Queries that "
                        f"have such a pair; the others have none to find under {_name}.", _PAIRS,
                        partial(_asked, _name)))


@declared(CHECKS, "relations", "domain_rel against the classes", FAULT,
          "Relevant pairs whose domain_rel is not what their three-character classes give: IN "
          "where the two share one, OUT where they share none.", *_CLASSES)
def against_classes(prepared) -> Found:
    pairs, recomputed, detail = _recomputed(prepared)
    differ = (recomputed != UNKNOWN) & (recomputed != pairs["domain_rel"])
    return rows_found(_with_classes(prepared, pairs[differ].assign(recomputed=recomputed[differ])),
                      int((recomputed != UNKNOWN).sum()), detail)


@declared(CHECKS, "relations", "pairs whose domain can't be told", DOUBT,
          "Relevant pairs of which the query or the document has no three-character class, so that "
          "nothing bears out their domain_rel.", *_CLASSES)
def untold(prepared) -> Found:
    pairs, recomputed, _ = _recomputed(prepared)
    return rows_found(_with_classes(prepared, pairs[recomputed == UNKNOWN]), len(pairs))


def _recomputed(prepared) -> tuple[pd.DataFrame, pd.Series, pd.DataFrame]:
    """The pairs with domain_rel, their domains by the classes, and how often which meets which."""
    pairs = prepared.single_pairs[["query_id", "doc_id", "domain_rel"]]
    domains = pair_domains(prepared.collection, pairs)
    both = pd.DataFrame({"domain_rel": pairs["domain_rel"], "by the classes": domains})
    return pairs, domains, both.value_counts(sort=False, dropna=False).rename("pairs").reset_index()


def _with_classes(prepared, pairs: pd.DataFrame) -> pd.DataFrame:
    of_query, of_doc = (class_map(prepared.collection, table) for table in ID_COLUMN)
    return pairs.assign(
        query_classes=[", ".join(sorted(of_query[q])) for q in pairs["query_id"]],
        document_classes=[", ".join(sorted(of_doc[d])) for d in pairs["doc_id"]])


# --- whether the two id spaces meet ---------------------------------------------------------------

def _shared(prepared) -> pd.DataFrame:
    """The identifiers in both tables: identifier, same (title, claims, both, neither, nothing to
    compare)."""
    told = {t: _read(prepared, t) for t in ID_COLUMN}
    rows = [(i, _same(told["queries"][i], told["corpus"][i])) for i in prepared.own_ids]
    return pd.DataFrame(rows, columns=["identifier", "same"], dtype=object)


def _read(prepared, table: str) -> dict[str, tuple[str, ...]]:
    """{identifier: title and claims} of the rows whose identifier is in both tables; the first of
    several rows counts."""
    key, own, found = ID_COLUMN[table], set(prepared.own_ids), {}
    if not own:  # the claims of a whole corpus are long
        return found
    for batch in prepared.collection.batches(table, [key, *_TOLD]):
        for identifier, *texts in zip(*(batch[c] for c in (key, *_TOLD))):
            if identifier in own and identifier not in found:
                found[identifier] = tuple(" ".join((text or "").split()) for text in texts)
    return found


def _same(one: tuple[str, ...], other: tuple[str, ...]) -> str:
    held = [(name, a == b) for name, a, b in zip(_TOLD, one, other) if a and b]
    if not held:
        return "nothing to compare"
    return " and ".join(name for name, equal in held if equal) or "neither"


@declared(CHECKS, "relations", "identifiers in both tables", FACT,
          "Identifiers of queries that the corpus has too, and whether title and claims of the two "
          "are the same: one name need not be one patent.",
          *_IDS, *(f"{t}.{c}" for t in ID_COLUMN for c in _TOLD))
def in_both(prepared) -> Found:
    rows = _shared(prepared)
    detail = rows["same"].value_counts(sort=False).rename("identifiers").reset_index()
    return rows_found(rows, len(prepared.ids("queries")), detail)


@declared(CHECKS, "relations", "own entries that nothing excludes", DOUBT,
          "Queries that stand in the corpus under their own identifier, with their title or "
          "claims, where identifiers are declared to be two spaces: each can be found for itself, "
          "and counts as not relevant.",
          *_IDS, *(f"{t}.{c}" for t in ID_COLUMN for c in _TOLD))
def not_excluded(prepared) -> Found:
    if prepared.collection.shared_ids:
        return Found(absent="own entries are excluded, since identifiers are shared")
    rows = _shared(prepared)
    same = rows[~rows["same"].isin(["neither", "nothing to compare"])]
    return rows_found(same, len(prepared.ids("queries")))
