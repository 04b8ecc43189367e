"""Checks of a citation collection: what is odd, how often, and in which rows.

A first set; each check is a small function of the collection, and says what it expects where the
registry knows.
"""

import re
from dataclasses import dataclass

import pandas as pd

from kit.collection.schema import ID_COLUMN
from kit.errors import MeasureError
from kit.files import digest_of
from kit.relevance.protocols import PROTOCOLS, offered, positives
from kit.relevance.slices import domain_tags, sections
from kit.text import cleaning

TEXTS = ("title", "abstract", "claims", "description")


@dataclass(frozen=True)
class Check:
    """One finding. group: the heading it stands under. of: what `count` is a part of, or None.

    expected: the registry's number, None where it has none. rows: the offending rows.
    absent: why the check can't be made, else "".
    """

    group: str
    name: str
    sentence: str
    count: int
    of: int | None = None
    expected: int | None = None
    rows: pd.DataFrame | None = None
    absent: str = ""

    @property
    def verdict(self) -> str:
        """as expected, not as expected, absent, or noted (nothing to hold it against)."""
        if self.absent:
            return "absent"
        if self.expected is None:
            return "noted"
        return "as expected" if self.count == self.expected else "not as expected"


def audit(collection) -> list[Check]:
    """All checks, in the order in which they are read. A collection that breaks its layout is
    audited as far as its columns allow."""
    checks = [*_layout(collection)]
    for part in (_sizes, _categories, _own_entries, _reciprocal, _numbers, _texts, _equal_texts, _dates, _classes):
        try:
            checks += part(collection)
        except KeyError as error:  # a column that the layout asks for is missing
            checks.append(Check(part.__name__.strip("_").replace("_", " "), "not made", "", 0,
                                absent=f"the column {error} is missing"))
    return [_with_expected(collection, check) for check in checks]


def _with_expected(collection, check: Check) -> Check:
    known = collection.entry
    numbers = {**known.counts, **known.oddities} if known else {}
    return check if check.name not in numbers else Check(
        **{**check.__dict__, "expected": numbers[check.name]})


def as_frame(checks: list[Check]) -> pd.DataFrame:
    """The checks as a table: group, check, count, share, expected, verdict."""
    return pd.DataFrame([{
        "group": c.group, "check": c.name, "count": None if c.absent else c.count,
        "share": c.count / c.of if c.of and not c.absent else None,
        "expected": c.expected, "verdict": c.verdict, "what it says": c.absent or c.sentence,
    } for c in checks])


def _layout(collection) -> list[Check]:
    faults = collection.faults
    rows = pd.DataFrame([{"table": f.table, "rule": f.rule, "fault": f.sentence, "rows": f.count}
                         for f in faults])
    return [Check("layout", "broken rules", "Rules of the layout that the tables break; "
                  "retrieval and scoring refuse a collection with any.", len(faults), expected=0,
                  rows=rows)]


def _sizes(collection) -> list[Check]:
    pairs, n = collection.pairs, len(collection.pairs)
    made = [Check("sizes", t, f"Rows of the table {t}.", len(collection.ids(t)))
            for t in ("queries", "corpus")]
    made.append(Check("sizes", "qrels", "Labelled pairs of a query and a document.", n))
    for category in ("XY", "A", "overlap"):
        of = pairs[pairs["category"] == category]
        made.append(Check("sizes", f"category {category}", f"Pairs in the category {category}.",
                          len(of), n, absent="" if len(offered(collection)) > 1
                          else "every category is null"))
    queries = len(collection.ids("queries"))
    for protocol in PROTOCOLS:
        try:
            relevant = positives(collection, protocol)
        except MeasureError as error:
            made.append(Check("sizes", f"protocol {protocol}", "", 0, absent=error.what))
            continue
        made.append(Check("sizes", f"protocol {protocol}",
                          f"Pairs that count as relevant under the protocol {protocol}.",
                          len(relevant), n))
        without = ~collection.ids("queries").isin(relevant["query_id"])
        made.append(Check("sizes", f"queries without a positive, {protocol}",
                          f"Queries with no relevant document under {protocol}; they do not count.",
                          int(without.sum()), queries,
                          rows=collection.ids("queries")[without].to_frame()))
    cited = collection.ids("corpus").isin(pairs["doc_id"])
    made.append(Check("sizes", "documents relevant to nothing",
                      "Candidates that no query cites.", int((~cited).sum()), len(cited)))
    return made


def _categories(collection) -> list[Check]:
    held = [{r["category"] for r in relations or [] if r} for relations in
            collection.pairs["source_relations"]]
    both = [{"X", "Y"} <= h for h in held]
    return [Check("categories", "pairs with both X and Y", "Pairs with an X and a Y entry under one "
                  "XY: a report may give X for one claim and Y for another.", sum(both), len(both),
                  rows=collection.pairs.loc[both, ["query_id", "doc_id", "category"]],
                  absent="" if len(offered(collection)) > 1 else "every category is null")]


def _own_entries(collection) -> list[Check]:
    queries = collection.ids("queries")
    own = queries[queries.isin(collection.ids("corpus"))]
    return [Check("own entries", "own entries", "Queries that are candidates too, under the same "
                  "identifier; each is excluded from its own ranking only.", len(own), len(queries),
                  rows=own.to_frame())]


def _reciprocal(collection) -> list[Check]:
    pairs = collection.pairs[["query_id", "doc_id", "category"]]
    turned = pairs.rename(columns={"query_id": "doc_id", "doc_id": "query_id"})
    both = pairs.merge(turned, on=["query_id", "doc_id"], suffixes=("", "_turned"))
    both = both[both["query_id"] < both["doc_id"]]
    differ = both[both["category"].fillna("") != both["category_turned"].fillna("")]
    return [
        Check("own entries", "reciprocal pairs", "Two patents that each cite the other as a query; "
              "they may be one citation.", len(both), len(pairs), rows=both),
        Check("own entries", "reciprocal pairs of two categories", "Reciprocal pairs whose two "
              "rows are not of one category.", len(differ), len(pairs), rows=differ)]


def _numbers(collection) -> list[Check]:
    frame = collection.frame("corpus", ["doc_id", "source_xpn"])
    stated = frame[frame["source_xpn"].fillna("") != ""]
    twice = stated[stated["source_xpn"].duplicated(keep=False)].sort_values("source_xpn")
    return [Check("identifiers", "repeated source_xpn", "Documents whose publication number stands "
                  "on another document too: it is no key.", len(twice), len(frame), rows=twice)]


def _texts(collection) -> list[Check]:
    made = []
    for table in ("corpus", "queries"):
        missing = dict.fromkeys(TEXTS, 0)
        marks, total = dict.fromkeys(_MARKS, 0), 0
        for batch in collection.batches(table, list(missing)):
            for name in missing:
                missing[name] += sum(not _filled(value) for value in batch[name])
            joined = map("\n".join, zip(*([v or "" for v in batch[name]] for name in TEXTS)))
            for text in joined:
                total += 1
                for name, pattern in _MARKS.items():
                    marks[name] += bool(pattern.search(text))
        made += [Check("text", f"{table} without {name}", f"Rows of {table} in which {name} is null, "
                       "empty, or a list of nothing.", missing[name], total) for name in TEXTS]
        made += [Check("text", f"{table} with {name}", f"Rows of {table} whose text holds {name}; "
                       "the cleaner resolves them.", count, total) for name, count in marks.items()]
    return made


_TAG_NAMES = "|".join(sorted(cleaning.BLOCK_TAGS | cleaning.INLINE_TAGS))
_MARKS = {"tags": re.compile(rf"</?({_TAG_NAMES})(\s[^<>]*)?/?>"),
          "entities": re.compile(r"&(#\d+|#[xX][0-9A-Fa-f]+|[A-Za-z]\w*);"),
          "index codes": re.compile(r"\.su[bp]\.")}


def _filled(value) -> bool:
    return any(value) if isinstance(value, list) else bool(value)


def _equal_texts(collection) -> list[Check]:
    digests = []
    for batch in collection.batches("corpus", ["doc_id", *TEXTS]):
        digests += [(row[0], digest_of(row[1:])) for row in zip(*batch.values()) if any(row[1:])]
    frame = pd.DataFrame(digests, columns=["doc_id", "text"])
    equal = frame[frame["text"].duplicated(keep=False)].sort_values(["text", "doc_id"])
    return [Check("text", "documents of equal text", "Documents whose title, abstract, claims and "
                  "description all equal another's; a system can't tell them apart.", len(equal),
                  len(collection.ids("corpus")), rows=equal)]


def _dates(collection) -> list[Check]:
    date = {}
    for table, key in ID_COLUMN.items():
        frame = collection.frame(table, [key, "publication_date"])
        date[table] = pd.Series(frame["publication_date"].to_numpy(), index=frame[key])
    pairs = collection.pairs
    kept = pairs[pairs["query_id"].isin(date["queries"].index)
                 & pairs["doc_id"].isin(date["corpus"].index)]
    when = kept.assign(
        query_date=kept["query_id"].map(date["queries"][~date["queries"].index.duplicated()]),
        doc_date=kept["doc_id"].map(date["corpus"][~date["corpus"].index.duplicated()]))
    later = when[when["doc_date"] > when["query_date"]]
    cited = later[later["source_relations"].map(lambda r: "cited" in _directions(r))]
    shown = ["query_id", "doc_id", "query_date", "doc_date"]
    dates = pd.concat(date.values())
    malformed = ~dates.fillna("").str.fullmatch(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])")
    return [
        Check("dates", "malformed dates", "Publication dates that are not YYYY-MM-DD.",
              int(malformed.sum()), len(dates), rows=dates[malformed].to_frame()),
        Check("dates", "relevants later than the query", "Pairs whose document was published after "
              "the query: relevant, yet no prior art at the query's date.", len(later), len(pairs),
              rows=later[shown]),
        Check("dates", "cited yet later", "Pairs in which the query cites a document of a later "
              "date.", len(cited), len(pairs), rows=cited[shown])]


def _directions(relations) -> set[str]:
    return {r["direction"] for r in relations if r} if relations is not None else set()


def _classes(collection) -> list[Check]:
    made = []
    for table, key in ID_COLUMN.items():
        frame = collection.frame(table, [key, "ipc"])
        none = frame[[not sections(c) for c in frame["ipc"]]]
        made.append(Check("classes", f"{table} without a class", f"Rows of {table} with no IPC "
                          "class that can be read.", len(none), len(frame), rows=none))
    if not collection.faults:
        tags = domain_tags(collection, positives(collection, "all")).value_counts()
        made += [Check("classes", f"queries {tag}", f"Queries whose relevant documents are {tag} "
                       "by IPC section.", int(tags.get(tag, 0)), int(tags.sum()))
                 for tag in ("IN", "MIXED", "OUT", "UNKNOWN")]
    return made

