"""A collection's tables as the checks read them: each column once, long texts never whole."""

import re
from dataclasses import dataclass
from datetime import date
from functools import cached_property

import numpy as np
import pandas as pd

from kit.collection.schema import ID_COLUMN, TABLES, pair_rules
from kit.relevance import alike
from kit.relevance.alike import TEXTS
from kit.relevance.slices import domain_tags
from kit.text import cleaning

BESIDE_TEXTS = ("adb", "iclm", "obj", "source_apl", "source_xpn", "publication_authority")
BIBLIOGRAPHY = ["source_xpn", "publication_authority", "publication_date", "ipc"]
# bounded blanks: unbounded ones take the square of a run's length
_CANCELLED = re.compile(r"\(\s{0,9}(?:cancell?ed|deleted)\s{0,9}\)"
                        r"|\d\s{0,9}[.)]?\s{0,9}cancell?ed\b", re.IGNORECASE)


@dataclass(frozen=True)
class Prepared:
    """What several checks read, made when it is first asked for."""

    collection: object
    with_near: bool = True

    @cached_property
    def pairs(self) -> pd.DataFrame:
        """The qrels as they stand."""
        return self.collection.pairs

    @cached_property
    def single_pairs(self) -> pd.DataFrame:
        """The pairs whose two identifiers exist, each once."""
        pairs = self.pairs.dropna(subset=["query_id", "doc_id"])
        known = pairs["query_id"].isin(self.ids("queries")) & pairs["doc_id"].isin(self.ids("corpus"))
        return pairs[known].drop_duplicates(["query_id", "doc_id"])

    def ids(self, table: str) -> pd.Series:
        return self.collection.ids(table)

    @cached_property
    def empty_tables(self) -> set[str]:
        """The tables without a row."""
        return {table for table in TABLES if self.collection.is_empty(table)}

    @cached_property
    def lacking_columns(self) -> set[str]:
        """The columns of queries and corpus that are not there and need not be, as "table.column"."""
        tables, columns = self.collection.tables, self.collection.columns
        held = {f"{t}.{c}" for t in ID_COLUMN for c in tables[t].column_names}
        held |= {name.replace(".cpc", ".ipc") for name in held}  # read in its place
        return {f"{t}.{c}" for t in ID_COLUMN for c in columns[t]} - held

    @cached_property
    def broken_pairs(self) -> dict[str, pd.Series]:
        """{rule: mask of the pairs that break it}."""
        rules = pair_rules(self.pairs, self.ids("queries"), self.ids("corpus"),
                           self.collection.shared_ids)
        return {name: mask for name, _, mask in rules}

    @cached_property
    def own_ids(self) -> pd.Series:
        """The queries that are candidates too."""
        queries = self.ids("queries").dropna().drop_duplicates()
        return queries[queries.isin(self.ids("corpus"))]

    @cached_property
    def _bibliography(self) -> dict[str, pd.DataFrame]:
        frames = {}
        for table, key in ID_COLUMN.items():
            extra = ["ipc_section"] if table == "queries" else []
            frame = self.collection.frame(table, [key, *BIBLIOGRAPHY, *extra, "cpc"])
            frame["ipc"] = frame["cpc"].where(frame["cpc"].notna(), frame["ipc"])  # that of rows
            frames[table] = frame.drop(columns="cpc").rename(columns={key: "identifier"})
        return frames

    def bibliography(self, table: str) -> pd.DataFrame:
        """identifier, source_xpn, publication_authority, publication_date, ipc; of queries also
        ipc_section."""
        return self._bibliography[table]

    @cached_property
    def _beside_texts(self) -> dict[str, pd.DataFrame]:
        return {t: self.collection.frame(t, list(BESIDE_TEXTS)) for t in ID_COLUMN}

    def beside_texts(self, table: str) -> pd.DataFrame:
        """The fields of BESIDE_TEXTS, in the table's order."""
        return self._beside_texts[table]

    @cached_property
    def dated(self) -> pd.DataFrame:
        """The single pairs with direction, query_date, doc_date (None where malformed) and order:
        whether the document is earlier, of the same day, later, or unknown."""
        known = {}
        for table in ID_COLUMN:
            frame = self.bibliography(table)
            frame = frame[frame["publication_date"].map(is_date).astype(bool)]
            known[table] = dict(zip(frame["identifier"][::-1], frame["publication_date"][::-1]))
        pairs = self.single_pairs
        asked = [known["queries"].get(q) for q in pairs["query_id"]]
        given = [known["corpus"].get(d) for d in pairs["doc_id"]]
        return pairs.assign(query_date=pd.Series(asked, pairs.index, object),
                            doc_date=pd.Series(given, pairs.index, object),
                            order=[_order(*dates) for dates in zip(asked, given)],
                            direction=[direction_of(r) for r in pairs["source_relations"]])

    @cached_property
    def domains(self) -> pd.Series:
        """IN, MIXED, OUT or UNKNOWN by query."""
        return domain_tags(self.collection, self.single_pairs[["query_id", "doc_id"]])

    @cached_property
    def scans(self) -> dict[str, pd.DataFrame]:
        """What one reading of all texts saw: see `_scan`."""
        return {table: _scan(self.collection, table) for table in ID_COLUMN}

    @cached_property
    def equal_texts(self) -> pd.DataFrame:
        """table, identifier, digest of every row with a text."""
        return alike.equal_texts(self.collection)

    @cached_property
    def near(self) -> pd.DataFrame:
        """The pairs whose two texts are nearly equal: query_id, doc_id, similarity."""
        return alike.near_relevants(self.collection, self.single_pairs)


def _scan(collection, table: str) -> pd.DataFrame:
    """A row a row of the table: identifier, authority, year; of each text its length in characters
    (-1: null; 0: empty or blank); and a column a kind of mark: the field and the place of the first
    one, None where the texts hold none."""
    key, columns = ID_COLUMN[table], {}
    head = [key, "publication_authority", "publication_date"]
    for batch in collection.batches(table, [*head, *TEXTS, "text"]):
        for name, source in (("identifier", key), ("authority", "publication_authority")):
            columns.setdefault(name, []).extend(batch[source])
        columns.setdefault("year", []).extend(year_of(d) for d in batch["publication_date"])
        for name in TEXTS:
            columns.setdefault(name, []).extend(_length(text) for text in batch[name])
        held = [_marks(row) for row in zip(*(batch[name] for name in (*TEXTS, "text")))]
        for mark in MARKS:
            columns.setdefault(mark, []).extend(marks.get(mark) for marks in held)
    names = ["identifier", "authority", "year", *TEXTS, *MARKS]
    return pd.DataFrame({name: pd.Series(columns.get(name, []), dtype=int if name in TEXTS else object)
                         for name in names})


MARKS = (*cleaning.MARKS, "cancelled claims")


def _marks(texts: tuple) -> dict[str, str]:
    """{mark: the field that holds the first one, and what stands around it}."""
    filled = {n: text for n, text in zip((*TEXTS, "text"), texts) if isinstance(text, str)}
    held = {}
    for mark in cleaning.marks("\n".join(filled.values())):
        places = ((name, cleaning.place_of(mark, text)) for name, text in filled.items())
        name, place = next((found for found in places if found[1] >= 0), (None, -1))
        held[mark] = f"{name}: {_around(filled[name], place)}" if name else "where two fields meet"
    cancelled = _CANCELLED.search(filled.get("claims", ""))
    if cancelled:
        held["cancelled claims"] = f"claims: {_around(filled['claims'], cancelled.start())}"
    return held


def _around(text: str, place: int) -> str:
    """Some 60 characters around a place, on one line and with the unseen ones escaped."""
    part = text[max(0, place - 20):place + 40]
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in part)


def _length(text) -> int:
    """Characters of a text; 0 where it is empty or blank, -1 where it is null."""
    if not isinstance(text, str):
        return -1
    return len(text) if text and not text.isspace() else 0


def year_of(text) -> str:
    """The year of a date as text, "unknown" where it is malformed."""
    return text[:4] if is_date(text) else "unknown"


def is_date(text) -> bool:
    """Whether a value is a day of the calendar as YYYY-MM-DD."""
    if not isinstance(text, str) or not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        return False
    try:
        return bool(date.fromisoformat(text))
    except ValueError:  # such as the 31st of February
        return False


def _order(query_date: str | None, doc_date: str | None) -> str:
    if query_date is None or doc_date is None:
        return "unknown"
    return "same day" if doc_date == query_date else "earlier" if doc_date < query_date else "later"


def direction_of(relations) -> str:
    """cited, citing, both or unknown: how a pair's two patents stand to each other."""
    held = {r.get("direction") for r in relations or () if r} & {"cited", "citing"}
    return "both" if len(held) == 2 else held.pop() if held else "unknown"


def by_value(values: pd.Series, odd: np.ndarray, what: str) -> pd.DataFrame:
    """How often `odd` holds by value: columns by, value, rows, odd, share; the most rows first."""
    named = [v if isinstance(v, str) else "none" for v in values]  # also of a column of another type
    frame = pd.DataFrame({"value": named, "odd": np.asarray(odd, bool)})
    made = frame.groupby("value")["odd"].agg(rows="size", odd="sum").reset_index()
    made = made.assign(by=what, share=made["odd"] / made["rows"])
    made = made.sort_values(["rows", "value"], ascending=[False, True])
    return made[["by", "value", "rows", "odd", "share"]].reset_index(drop=True)
