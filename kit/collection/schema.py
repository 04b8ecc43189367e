"""The Sophia layout: three tables with their columns and types, and the checks at the door.

A collection that breaks a check still opens, so that the audit can show why; retrieval and
scoring call `require_sound` first.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import pandas as pd
import pyarrow as pa
from datasets import Features, List, Value

from kit.errors import CollectionError

TABLES = ("queries", "corpus", "qrels")
SPLIT = "test"
ID_COLUMN = {"queries": "query_id", "corpus": "doc_id"}
CATEGORIES = ("XY", "A", "overlap")
AI_FIELDS = ("ai_title", "ai_claim_summary", "ai_obj", "ai_adv", "ai_ab", "ai_features")

_TEXT, _LIST = Value("string"), List(Value("string"))
_PATENT = {
    "source_xpn": _TEXT, "publication_authority": _TEXT, "publication_date": _TEXT,
    "source_apl": _TEXT, "ipc": _LIST, "title": _TEXT, "abstract": _TEXT, "claims": _TEXT,
    "description": _TEXT, "adb": _LIST, "iclm": _LIST, "obj": _LIST,
}
FEATURES = {
    "queries": Features({
        "query_id": _TEXT, **_PATENT, "ai_title": _TEXT, "ai_claim_summary": _TEXT,
        "ai_obj": _TEXT, "ai_adv": _TEXT, "ai_ab": _TEXT, "ai_features": _LIST,
        "ipc_section": _TEXT}),
    "corpus": Features({"doc_id": _TEXT, **_PATENT}),
    "qrels": Features({
        "query_id": _TEXT, "doc_id": _TEXT, "category": _TEXT,
        "source_relations": List({"category": _TEXT, "direction": _TEXT})}),
}


@dataclass(frozen=True)
class Layout:
    """How a collection's tables are stored.

    configs: {table: its config's name}. features: {table: Features} in the layout's own columns.
    shared_ids: whether an id that stands in queries and corpus is one patent.
    convert: (table, data) -> data in Sophia's columns, or None where they are that already.
    columns: {table: Features} as the opened tables have them: Sophia's, and what is added to them.
    forms: {column: the types it may come in}; such a column may also be missing.
    files: {table: the stem of its one file, where a folder has files in place of folders}.
    """

    name: str
    configs: dict[str, str]
    split: str
    features: dict[str, Features]
    shared_ids: bool
    convert: Callable | None = None
    columns: dict[str, Features] = field(default_factory=lambda: FEATURES)
    forms: dict[str, tuple] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)

    def own_features(self, table: str, schemas: list[pa.Schema]) -> Features:
        """The features of a table; a column of several forms in the one that all its files have."""
        features = dict(self.features[table])
        for name in features.keys() & self.forms.keys():
            held = [s.field(name).type for s in schemas if name in s.names]
            fitting = [f for f in self.forms[name] if all(_fits(kind, f) for kind in held)]
            if not held:
                del features[name]
            elif fitting:
                features[name] = fitting[0]
        return Features(features)


SOPHIA = Layout("sophia", {table: table for table in TABLES}, SPLIT, FEATURES, shared_ids=True)


def shown(value) -> str:
    """An identifier or name for an error: quoted, escaped, and of bounded length."""
    long = isinstance(value, str) and len(value) > 80
    return repr(value[:79] + "…" if long else value)


@dataclass(frozen=True)
class Fault:
    """One broken rule of the layout: its name, the table, a sentence, and the rows that break it.

    rows: a frame with the offending identifiers, at most what the caller shows; count: how many.
    column: the column that is broken as a whole, where one is.
    """

    rule: str
    table: str
    sentence: str
    count: int
    rows: pd.DataFrame = field(default_factory=pd.DataFrame, compare=False)
    column: str = ""

    def __str__(self) -> str:
        named = "; ".join(
            ", ".join(f"{name} {shown(value)}" for name, value in row.items())
            for row in self.rows.head(3).to_dict("records"))
        more = f" and {self.count - 3} more" if self.count > 3 else ""
        return f"{self.table}: {self.sentence}" + (f" [{named}{more}]" if named else "")


def column_faults(table: str, schema: pa.Schema, features: Features) -> list[Fault]:
    """What a Parquet file's own schema lacks or has with another type than the layout's.

    Read from the file, not from the loaded table: loading would turn numbers into strings.
    """
    faults = []
    for name, feature in features.items():
        if name not in schema.names:
            faults.append(Fault("columns", table, f"the column '{name}' is missing", 1, column=name))
        elif not _fits(schema.field(name).type, feature):
            found, wanted = schema.field(name).type, _type_name(feature)
            faults.append(Fault(
                "columns", table, f"the column '{name}' is {found}, where {wanted} is asked", 1,
                column=name))
    return faults


def _fits(found: pa.DataType, feature) -> bool:
    if pa.types.is_null(found):  # a column that is null in the whole file
        return True
    if isinstance(feature, List):
        return (pa.types.is_list(found) or pa.types.is_large_list(found)) and _fits(
            found.value_type, feature.feature)
    if isinstance(feature, dict):
        return pa.types.is_struct(found) and all(
            found.get_field_index(name) >= 0 and _fits(found.field(name).type, part)
            for name, part in feature.items())
    if feature.dtype == "date32":
        return pa.types.is_date(found) or pa.types.is_timestamp(found)
    if feature.dtype != "string":
        return pa.types.is_floating(found) or pa.types.is_integer(found)
    if pa.types.is_dictionary(found):
        found = found.value_type
    return any(is_text(found) for is_text in (
        pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view))


def _type_name(feature) -> str:
    if isinstance(feature, List):
        return f"a list of {_type_name(feature.feature)}s"
    if isinstance(feature, dict):
        return "struct of " + " and ".join(feature)
    return feature.dtype if feature.dtype in ("string", "date32") else "number"


def id_rules(table: str, ids: pd.Series) -> list[tuple[str, pd.Series]]:
    """(sentence, mask of the rows that break it): empty identifiers, and those that repeat one."""
    column = ID_COLUMN[table]
    empty = ids.isna() | (ids.fillna("").str.strip() == "")
    return [(f"{column} is empty", empty),
            (f"{column} stands more than once", ~empty & ids.duplicated())]


def id_faults(table: str, ids: pd.Series) -> list[Fault]:
    """Empty and repeated identifiers of one table."""
    (no_id, empty), (repeats, twice) = id_rules(table, ids)
    again = ids[twice].drop_duplicates()
    found = [(no_id, pd.DataFrame({"row": empty.index[empty]})),
             (repeats, again.rename(ID_COLUMN[table]).to_frame())]
    return [Fault("ids", table, said, len(rows), rows) for said, rows in found if len(rows)]


def pair_rules(pairs: pd.DataFrame, query_ids: pd.Series, doc_ids: pd.Series,
               shared_ids: bool) -> list[tuple[str, str, pd.Series]]:
    """(name, sentence, mask of the pairs that break it): dangling and repeated pairs, categories
    that the layout does not know and, where one id is one patent (shared_ids), own pairs."""
    queries, docs, category = pairs["query_id"], pairs["doc_id"], pairs["category"]
    known = category.isin(CATEGORIES)
    odd = ~known & (category.notna() | known.any())  # null in all pairs that could have one is none
    return [
        ("unknown queries", "query_id is in no row of queries", ~queries.isin(query_ids.dropna())),
        ("unknown documents", "doc_id is in no row of corpus", ~docs.isin(doc_ids.dropna())),
        ("unknown categories", "category is none of " + ", ".join(CATEGORIES), odd),
        ("repeated pairs", "the pair stands more than once",
         pairs.duplicated(["query_id", "doc_id"])),
        ("own pairs", "the query is its own relevant document",
         (queries == docs).astype(bool) & shared_ids),
    ]


def pair_faults(pairs: pd.DataFrame, query_ids: pd.Series, doc_ids: pd.Series,
                shared_ids: bool) -> list[Fault]:
    """The rules of `pair_rules` that a pair breaks."""
    shown = ["query_id", "doc_id", "category"]
    return [Fault(name, "qrels", sentence, int(broken.sum()), pairs.loc[broken, shown])
            for name, sentence, broken in pair_rules(pairs, query_ids, doc_ids, shared_ids)
            if broken.any()]


def find_faults(collection) -> list[Fault]:
    """Every broken rule of the layout, in the order: columns, ids, pairs.

    A rule that needs a column which is missing is left out; the missing column is a fault itself.
    """
    faults, broken = list(collection.column_faults), collection.broken_columns
    keys = {t: f"{t}.{c}" not in broken for t, c in ID_COLUMN.items()}
    for table in TABLES:
        if collection.is_empty(table):
            faults.append(Fault("rows", table, "the table has no row", 1))
    for table in ID_COLUMN:
        if keys[table]:
            faults += id_faults(table, collection.ids(table))
    if all(keys.values()) and not any(name.startswith("qrels.") for name in broken):
        faults += pair_faults(collection.pairs, collection.ids("queries"),
                              collection.ids("corpus"), collection.shared_ids)
    return faults


def require_sound(collection) -> None:
    """Raises CollectionError, with the first rows of each broken rule, unless all hold."""
    faults = collection.faults
    if faults:
        raise CollectionError(
            "the collection breaks its layout: " + "; ".join(map(str, faults[:5]))
            + (f"; and {len(faults) - 5} more" if len(faults) > 5 else ""),
            collection.source,
            f"'python -m kit audit {collection.source} --rows FOLDER' writes every row; mend the "
            "tables, or ask whoever made them")
