"""The text fields: what is empty, what is marked up or broken, what stands twice."""

from functools import partial

import numpy as np
import pandas as pd

from kit.collection.schema import ID_COLUMN
from kit.relevance.checks.check import DOUBT, FACT, Check, Found, declared, rows_found
from kit.relevance.checks.prepared import BESIDE_TEXTS, MARKS, TEXTS, by_value

CHECKS: list[Check] = []
_MARK_SENTENCES = {
    "tags": "markup that the cleaner takes out",
    "entities": "character entities, such as &amp;, that the cleaner decodes",
    "index codes": "codes of US full text, such as .sub. or .times., that the cleaner resolves",
    "mojibake": "UTF-8 that was read in another encoding, which the cleaner mends",
    "unseen characters": "control, zero-width or other characters that no reader sees",
    "cancelled claims": "claims that say they are cancelled",
}
assert set(_MARK_SENTENCES) == set(MARKS)


def _without(table: str, field: str, prepared) -> Found:
    scan = prepared.scans[table]
    empty = (scan[field] <= 0).to_numpy()
    rows = scan.loc[empty, ["identifier", "authority", "year"]].assign(
        value=np.where(scan.loc[empty, field] < 0, "null", "empty"))
    detail = pd.concat([by_value(scan[c], empty, c) for c in ("authority", "year")])
    return rows_found(rows, len(scan), detail[detail["odd"] > 0].reset_index(drop=True))


def _with(table: str, mark: str, prepared) -> Found:
    scan = prepared.scans[table]
    rows = scan.loc[scan[mark].notna(), ["identifier", "authority", "year", mark]]
    return rows_found(rows.rename(columns={mark: "where"}), len(scan))


def _lengths(table: str, prepared) -> Found:
    scan, made = prepared.scans[table], []
    for field in TEXTS:
        filled = scan[scan[field] > 0]
        if filled.empty:
            continue
        size = filled[field]
        low, median, high = np.percentile(size, [5, 50, 95])
        made.append({"field": field, "filled": len(filled), "shortest": int(size.min()), "5 %": low,
                     "median": median, "95 %": high, "longest": int(size.max()),
                     "shortest in": filled.loc[size.idxmin(), "identifier"],
                     "longest in": filled.loc[size.idxmax(), "identifier"]})
    longest = max((row["longest"] for row in made), default=0)
    return Found(longest, detail=pd.DataFrame(made))


def _all_of(table: str) -> tuple[str, ...]:
    """A table's identifier and all its text fields, as "table.column"."""
    return tuple(f"{table}.{c}" for c in (ID_COLUMN[table], *TEXTS))


for _table, _key in ID_COLUMN.items():
    for _field in TEXTS:
        CHECKS.append(Check("text", f"{_table} without {_field}", DOUBT,
                            f"Rows of {_table} in which {_field} is null, empty or blank.",
                            (f"{_table}.{_key}", f"{_table}.{_field}"),
                            partial(_without, _table, _field)))
    for _mark in MARKS:
        CHECKS.append(Check("text", f"{_table} with {_mark}", DOUBT,
                            f"Rows of {_table} whose text holds {_MARK_SENTENCES[_mark]}.",
                            (*_all_of(_table), f"{_table}.text"), partial(_with, _table, _mark)))
    CHECKS.append(Check("text", f"{_table}: longest text", FACT,
                        f"Characters of the longest text of {_table}; by field, its lengths.",
                        _all_of(_table), partial(_lengths, _table)))


def _unstated(table: str, field: str, prepared) -> Found:
    ids, values = prepared.ids(table), prepared.beside_texts(table)[field]
    lacking = [not any(v and v.strip() for v in (value if isinstance(value, list) else [value]))
               for value in values]
    rows = pd.DataFrame({"identifier": ids[lacking], "value": [
        "null" if v is None else "empty" for v, lacks in zip(values, lacking) if lacks]})
    return rows_found(rows, len(ids))


for _table, _key in ID_COLUMN.items():
    for _field in BESIDE_TEXTS:
        CHECKS.append(Check("text", f"{_table} without {_field}", FACT,
                            f"Rows of {_table} in which {_field} is null or empty.",
                            (f"{_table}.{_key}", f"{_table}.{_field}"),
                            partial(_unstated, _table, _field)))

_ALL_TEXTS = (*_all_of("queries"), *_all_of("corpus"))


@declared(CHECKS, "text", "documents of equal text", DOUBT,
          "Documents whose title, abstract, claims and description, as they stand, all equal "
          "another's; a system can't tell them apart.", *_all_of("corpus"))
def equal_documents(prepared) -> Found:
    docs = prepared.equal_texts
    docs = docs[docs["table"] == "corpus"]
    equal = docs[docs["digest"].duplicated(keep=False)].sort_values(["digest", "identifier"])
    groups = equal.groupby("digest", sort=False).ngroup() + 1
    return rows_found(pd.DataFrame({"group": groups, "doc_id": equal["identifier"]}),
                      len(prepared.ids("corpus")))


@declared(CHECKS, "text", "queries touched by equal texts", FACT,
          "Queries with a relevant document whose text another document has too: finding the other "
          "counts as a miss.", *_ALL_TEXTS, "qrels.query_id", "qrels.doc_id")
def touched(prepared) -> Found:
    twins = set(equal_documents(prepared).rows["doc_id"])
    pairs = prepared.single_pairs
    hit = pairs[pairs["doc_id"].isin(twins)][["query_id", "doc_id"]]
    rows = hit.groupby("query_id")["doc_id"].agg(", ".join).reset_index()
    return rows_found(rows, len(prepared.ids("queries")))


@declared(CHECKS, "text", "queries of a document's text", DOUBT,
          "Queries whose text a document of another identifier has: it answers the query without "
          "being relevant, unless it is labelled so.", *_ALL_TEXTS)
def copies_of_queries(prepared) -> Found:
    texts = prepared.equal_texts
    queries, docs = (texts[texts["table"] == t].drop(columns="table") for t in ID_COLUMN)
    docs = docs.groupby("digest").head(2)  # of which one is another's than the query
    both = queries.merge(docs, on="digest", suffixes=("_query", "_document"))
    if prepared.collection.shared_ids:
        both = both[both["identifier_query"] != both["identifier_document"]]
    rows = both[["identifier_query", "identifier_document"]].drop_duplicates("identifier_query")
    return rows_found(rows, len(prepared.ids("queries")))


@declared(CHECKS, "text", "relevants equal to their query", DOUBT,
          "Pairs whose two texts are the same: any search finds them.", *_ALL_TEXTS,
          "qrels.query_id", "qrels.doc_id")
def equal_relevants(prepared) -> Found:
    texts, pairs = prepared.equal_texts, prepared.single_pairs
    of = {t: dict(zip(mine["identifier"], mine["digest"])) for t, mine in texts.groupby("table")}
    held = [(of.get("queries", {}).get(q), of.get("corpus", {}).get(d))
            for q, d in zip(pairs["query_id"], pairs["doc_id"])]
    same = [a is not None and a == b for a, b in held]
    rows = pairs.loc[same, ["query_id", "doc_id"]]
    return rows_found(rows[rows["query_id"] != rows["doc_id"]], len(prepared.pairs))


@declared(CHECKS, "text", "relevants nearly equal to their query", DOUBT,
          "Pairs whose two texts are nearly the same, word by word: most likely one family, which "
          "any search finds.", *_ALL_TEXTS, "qrels.query_id", "qrels.doc_id")
def near_relevants(prepared) -> Found:
    if not prepared.with_near:
        return Found(absent="not asked for: it reads every word")
    return rows_found(prepared.near, len(prepared.pairs))
