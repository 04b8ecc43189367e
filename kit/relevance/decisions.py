"""What one may decide about doubtful pairs, as sets of pairs: analyses, never protocols."""

from dataclasses import dataclass

import pandas as pd

from kit.relevance.checks.check import Finding

_PAIR = ["query_id", "doc_id"]


@dataclass(frozen=True)
class Decision:
    """A decision on some relevant pairs. protocol: the one that it is weighed under.

    pairs: query_id, doc_id. skipped: whether their documents leave the query's ranking too, as an
    own entry does; else they stay in it as not relevant. absent: why it can't be weighed, else "".
    """

    name: str
    sentence: str
    protocol: str
    skipped: bool
    pairs: pd.DataFrame
    absent: str = ""


def decisions(collection, findings: list[Finding]) -> list[Decision]:
    """The decisions that the audit's findings suggest. findings: as `audit` gives them."""
    found = {f.name: f.found for f in findings}
    known = collection.pairs[_PAIR].drop_duplicates()

    def pairs_of(name: str) -> tuple[pd.DataFrame, str]:
        answer = found[name]
        rows = None if answer.absent else answer.rows
        return (pd.DataFrame(columns=_PAIR) if rows is None else rows[_PAIR].drop_duplicates(),
                answer.absent)

    equal, why_equal = _of_equal_text(known, found)
    near, why_near = pairs_of("relevants nearly equal to their query")
    later, why_later = pairs_of("relevants later than the query")
    turned, why_turned = _turned(collection.pairs, found["reciprocal pairs"])
    overlap = collection.pairs.loc[collection.pairs["category"] == "overlap", _PAIR]
    return [
        Decision("overlap pairs do not count under xy", "A pair that a search report has as XY and as "
                 "A counts as A only.", "xy", False, overlap, found["category overlap"].absent),
        Decision("reciprocal pairs are collapsed", "Of two patents that are each other's relevant, "
                 "the pair whose query cites the other stays.", "all", True, turned, why_turned),
        Decision("relevants of equal text are left out", "A relevant document whose text another "
                 "document or the query has too is neither right nor wrong.", "all", True, equal,
                 why_equal),
        Decision("near-equal relevants are left out", "A relevant document whose text is nearly its "
                 "query's, most likely its family, is neither right nor wrong.", "all", True, near,
                 why_near),
        Decision("later relevants are left out", "A relevant document published after the query, no "
                 "prior art to it, is neither right nor wrong.", "all", True, later, why_later)]


def _of_equal_text(known: pd.DataFrame, found: dict) -> tuple[pd.DataFrame, str]:
    """The pairs whose document has the text of another document, or of its own query."""
    twins, copies = found["documents of equal text"], found["relevants equal to their query"]
    if twins.absent or copies.absent:
        return known.head(0), twins.absent or copies.absent
    both = pd.concat([known[known["doc_id"].isin(twins.rows["doc_id"])], copies.rows[_PAIR]])
    return both.drop_duplicates(), ""


def _turned(pairs: pd.DataFrame, found) -> tuple[pd.DataFrame, str]:
    """Of each reciprocal couple the pair to leave out: that whose query does not cite the other,
    or where that decides nothing, that of the larger query_id."""
    if found.absent:
        return pairs[_PAIR].head(0), found.absent
    cites = {(q, d) for q, d, relations in zip(*(pairs[c] for c in (*_PAIR, "source_relations")))
             if any(r.get("direction") == "cited" for r in relations or () if r)}
    left = [(a, b) if (a, b) not in cites and (b, a) in cites else (b, a)
            for a, b in zip(*(found.rows[c] for c in _PAIR))]
    return pd.DataFrame(left, columns=_PAIR), ""
