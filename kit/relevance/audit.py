"""Checks of a citation collection: what is odd, how often, and in which rows.

A first set; each check is a small function of the collection, and says what it expects where the
registry knows.
"""

import re
from dataclasses import dataclass, replace
from datetime import date
from html.entities import html5

import pandas as pd

from kit.collection.schema import ID_COLUMN
from kit.errors import MeasureError
from kit.files import digest_of
from kit.relevance.protocols import PROTOCOLS, offered, positives
from kit.relevance.slices import domain_tags, table_sections
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
    audited as far as its columns allow: a part that needs a broken one is absent."""
    checks = _layout(collection)
    broken = _broken_columns(collection)
    for part, (group, needed) in _PARTS.items():
        lacking = [column for column in needed if column in broken]
        checks += [_not_made(part, group, lacking)] if lacking else part(collection)
    known = collection.entry
    numbers = {**known.counts, **known.oddities} if known else {}
    return [replace(c, expected=numbers.get(c.name, c.expected)) for c in checks]


def _broken_columns(collection) -> set[str]:
    """The columns that are missing or of another type than the layout's, as "table.column"."""
    named = ((f.table, f.sentence.split("'")[1]) for f in collection.column_faults)
    return {f"{table}.{column}" for table, column in named}


def _not_made(part, group: str, lacking: list[str]) -> Check:
    name = part.__name__.strip("_").replace("_", " ")
    return Check(group, name, "", 0,
                 absent=f"not made: missing, or of another type: {', '.join(lacking)}")


def as_frame(checks: list[Check]) -> pd.DataFrame:
    """The checks as a table: group, check, count, share, expected, verdict, what it says."""
    frame = pd.DataFrame([{
        "group": c.group, "check": c.name, "count": None if c.absent else c.count,
        "share": c.count / c.of if c.of and not c.absent else None,
        "expected": c.expected, "verdict": c.verdict, "what it says": c.absent or c.sentence,
    } for c in checks])
    return frame.astype({"count": "Int64", "expected": "Int64"})  # an absent count makes no 1 a 1.0


def _layout(collection) -> list[Check]:
    faults = collection.faults
    rows = pd.DataFrame([{"table": f.table, "rule": f.rule, "fault": f.sentence, "rows": f.count}
                         for f in faults])
    return [Check("layout", "broken rules", "Rules of the layout that the tables break; "
                  "retrieval and scoring refuse a collection with any.", len(faults), expected=0,
                  rows=rows)]


def _sizes(collection) -> list[Check]:
    made = [Check("sizes", t, f"Rows of the table {t}.", len(collection.ids(t)))
            for t in ("queries", "corpus")]
    return [*made, Check("sizes", "qrels", "Labelled pairs of a query and a document.",
                         len(collection.pairs))]


def _protocols(collection) -> list[Check]:
    made, pairs, n = [], collection.pairs, len(collection.pairs)
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
    pairs = collection.pairs[["query_id", "doc_id", "category"]].dropna(
        subset=["query_id", "doc_id"]).drop_duplicates(["query_id", "doc_id"])
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
    made, broken = [], _broken_columns(collection)
    for table in ("corpus", "queries"):
        lacking = [name for name in TEXTS if f"{table}.{name}" in broken]
        made += [Check("text", f"{table} without {name}", "", 0, absent="the column is missing, or "
                       "of another type") for name in lacking]
        held = collection.tables[table].column_names
        read = [name for name in (*TEXTS, "text") if name in held and name not in lacking]
        missing = dict.fromkeys(read, 0)
        marks, total = dict.fromkeys(_MARKS, 0), 0
        for batch in collection.batches(table, list(missing)):
            for name in missing:
                missing[name] += sum(not _filled(value) for value in batch[name])
            joined = map("\n".join, zip(*([v or "" for v in batch[name]] for name in read)))
            for text in joined:
                total += 1
                for name, holds in _MARKS.items():
                    marks[name] += bool(holds(text))
        made += [Check("text", f"{table} without {name}", f"Rows of {table} in which {name} is null, "
                       "empty or blank.", missing[name], total) for name in read]
        made += [Check("text", f"{table} with {name}", f"Rows of {table} whose text holds {name}; "
                       "the cleaner resolves them.", count, total) for name, count in marks.items()]
    return made


_TAG_NAMES = "|".join(sorted(cleaning.BLOCK_TAGS | cleaning.INLINE_TAGS))
_ENTITY = re.compile(r"&(#[0-9]+|#[xX][0-9A-Fa-f]+|[A-Za-z][A-Za-z0-9]*);")


def _has_entity(text: str) -> bool:
    """Whether an entity stands in the text; "AT&T;" is none, for its name is unknown."""
    return any(m[1][0] == "#" or f"{m[1]};" in html5 for m in _ENTITY.finditer(text))


_MARKS = {"tags": re.compile(rf"</?({_TAG_NAMES})(\s[^<>]*)?/?>", re.IGNORECASE).search,
          "entities": _has_entity,
          "index codes": re.compile(r"\.su[bp]\.").search}


def _filled(value: str | None) -> bool:
    return bool(value and value.strip())


def _equal_texts(collection) -> list[Check]:
    digests = []
    for batch in collection.batches("corpus", ["doc_id", *TEXTS]):
        for doc, *texts in zip(*batch.values()):
            if any(texts):  # null and "" read the same
                digests.append((doc, digest_of([text or "" for text in texts])))
    frame = pd.DataFrame(digests, columns=["doc_id", "text"])
    equal = frame[frame["text"].duplicated(keep=False)].sort_values(["text", "doc_id"])
    return [Check("text", "documents of equal text", "Documents whose title, abstract, claims and "
                  "description all equal another's; a system can't tell them apart.", len(equal),
                  len(collection.ids("corpus")), rows=equal)]


def _dates(collection) -> list[Check]:
    stated = {t: collection.frame(t, [key, "publication_date"]).set_index(key)["publication_date"]
              for t, key in ID_COLUMN.items()}
    malformed = {t: dates[~dates.map(_is_date).astype(bool)] for t, dates in stated.items()}
    # a malformed date is not compared: it would be a guess
    known = {t: dates[dates.map(_is_date).astype(bool)].groupby(level=0).first()
             for t, dates in stated.items()}
    pairs = collection.pairs
    when = pairs.assign(query_date=pairs["query_id"].map(known["queries"]),
                        doc_date=pairs["doc_id"].map(known["corpus"]))
    when = when.dropna(subset=["query_date", "doc_date"])
    when = when.astype({"query_date": object, "doc_date": object})  # there may be none
    later = when[when["doc_date"] > when["query_date"]]
    cited = later[pd.Series(["cited" in _directions(r) for r in later["source_relations"]],
                            index=later.index, dtype=bool)]  # typed: there may be none
    shown = ["query_id", "doc_id", "query_date", "doc_date"]
    odd = pd.concat([m.rename_axis("identifier").reset_index() for m in malformed.values()])
    return [
        Check("dates", "malformed dates", "Publication dates that are missing or not a day as "
              "YYYY-MM-DD.", len(odd), sum(map(len, stated.values())), rows=odd),
        Check("dates", "relevants later than the query", "Pairs whose document was published after "
              "the query: relevant, yet no prior art at the query's date.", len(later), len(pairs),
              rows=later[shown]),
        Check("dates", "cited yet later", "Pairs in which the query cites a document of a later "
              "date.", len(cited), len(pairs), rows=cited[shown])]


def _is_date(text: str | None) -> bool:
    """Whether a text is a day of the calendar as YYYY-MM-DD."""
    try:
        return bool(re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text or "")
                    and date.fromisoformat(text))
    except ValueError:  # such as the 31st of February
        return False


def _directions(relations) -> set[str]:
    return {r["direction"] for r in relations if r} if relations is not None else set()


def _classes(collection) -> list[Check]:
    made = []
    for table, key in ID_COLUMN.items():
        frame = collection.frame(table, [key, "ipc"])
        none = frame[[not found for found in table_sections(collection, table)]]
        made.append(Check("classes", f"{table} without a class", f"Rows of {table} with no IPC or "
                          "CPC class that can be read.", len(none), len(frame), rows=none))
    if not collection.faults:
        tags = domain_tags(collection, positives(collection, "all")).value_counts()
        made += [Check("classes", f"queries {tag}", f"Queries whose relevant documents are {tag} "
                       "by IPC section.", int(tags.get(tag, 0)), int(tags.sum()))
                 for tag in ("IN", "MIXED", "OUT", "UNKNOWN")]
    return made


def _asserted(collection) -> list[Check]:
    """Statutes and grades of rows; other layouts have none of their own."""
    if "statute" not in collection.columns["queries"]:
        return []
    frame = collection.frame("queries", ["query_id", "statute", "grade"])
    made = []
    for column, values, sign in (("statute", ("102", "103"), "§"), ("grade", ("X", "Y"), "")):
        held = [set(stated or ()) for stated in frame[column]]
        rules = {f"queries {sign}{value}": {value} for value in values}
        rules[f"queries of both {column}s"] = set(values)
        for name, wanted in rules.items():
            found = frame[[wanted <= of_query for of_query in held]]
            made.append(Check("slices", name, f"Rows that state the {column} "
                              f"{' and '.join(sorted(wanted))}; one of both counts in both slices.",
                              len(found), len(frame)))
    return made


_IDS = ("queries.query_id", "corpus.doc_id")
_PAIRS = ("qrels.query_id", "qrels.doc_id")
_PARTS = {  # the heading of each part, and the columns without which it can't be made
    _sizes: ("sizes", (*_IDS, "qrels.query_id")),
    _protocols: ("sizes", (*_IDS, *_PAIRS, "qrels.category")),
    _categories: ("categories", ("qrels.category", "qrels.source_relations")),
    _own_entries: ("own entries", _IDS),
    _reciprocal: ("own entries", (*_PAIRS, "qrels.category")),
    _numbers: ("identifiers", ("corpus.doc_id", "corpus.source_xpn")),
    _texts: ("text", ()),
    _equal_texts: ("text", ("corpus.doc_id", *(f"corpus.{name}" for name in TEXTS))),
    _dates: ("dates", (*_IDS, *_PAIRS, "queries.publication_date", "corpus.publication_date",
                       "qrels.source_relations")),
    _classes: ("classes", (*_IDS, "queries.ipc", "corpus.ipc")),
    _asserted: ("slices", ("queries.query_id",)),
}
