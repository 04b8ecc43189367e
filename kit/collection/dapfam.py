"""DAPFAM's own tables and columns, read as Sophia's (see `schema.FEATURES`).

The tables `queries`, `corpus` and `relations`, each the split `train`. A row of the first two is a
patent family: its texts are those of a late member, its date is that of the earliest claim. A field
that DAPFAM has not is null. A date may come as a text or as a date, and the three-character classes
as a list or its text. The published folder has a file a table, named in its README. The relations are read as two tables, so that what was sampled can't
pass for a label: `qrels` has those of a score above 0, the positives; `sampled` has all others,
non-citations drawn at random, that nothing counts as positives or as all the negatives there are.
Both keep `relevance_score` and `domain_rel`. Queries and corpus have a column `ipc3` besides, the
three-character classes as the collection lists them.

Its two id spaces are not taken to be one: no own entry is excluded, and the audit says how many ids
stand in both tables, and how many of those are one patent.
"""

import re

import pandas as pd
import pyarrow as pa
from datasets import Features, IterableDataset, List, Value

from kit.collection.schema import FEATURES, Fault, Layout
from kit.errors import CollectionError

_TEXT, _LIST, _DATE = Value("string"), List(Value("string")), Value("date32")
DAY = "earliest_claim_date"
CODES, THREE = "ipcr_codes_str", "classifications_ipcr_list_first_three_chars_list"
_PATENT = {"jurisdiction": "publication_authority", DAY: "publication_date",
           CODES: "ipc", THREE: "ipc3", "title_en": "title", "abstract_en": "abstract",
           "claims_text": "claims", "description_en": "description"}
_LABELS = ("relevance_score", "domain_rel")
_RELATION = {"query_id": "query_id", "relevant_id": "doc_id", **{name: name for name in _LABELS}}
NAMES = {  # DAPFAM's name: Sophia's, or ours
    "queries": {"query_id": "query_id", **_PATENT},
    "corpus": {"relevant_id": "doc_id", **_PATENT},
    "qrels": _RELATION,
    "sampled": _RELATION,
}
_SCORED = {"relevance_score": Value("float64"), "domain_rel": _TEXT}
COLUMNS = {
    **{t: Features({**FEATURES[t], "ipc3": _LIST}) for t in ("queries", "corpus")},
    "qrels": Features({**FEATURES["qrels"], **_SCORED}),
    "sampled": Features({"query_id": _TEXT, "doc_id": _TEXT, **_SCORED}),
}
NEAR, FAR, SAMPLED = "IN", "OUT", "NC"  # what domain_rel may say
_CODE = re.compile(r"[A-HY]\d{2}[A-Z]?(?:\s*\d+/\d+)?", re.IGNORECASE)
_THREE_CODE = re.compile(r"\b[A-HY]\d{2}", re.IGNORECASE)


def as_sophia(table: str, data):
    """A loaded table (or stream) in Sophia's columns; long texts stay where they are."""
    if "relevance_score" in data.column_names:
        positive = table == "qrels"
        data = data.filter(lambda score: _is_positive(score) == positive,
                           input_columns="relevance_score")
    if isinstance(data, IterableDataset):
        return _streamed(data, NAMES[table])
    for name, feature in _to_read(data.features).items():
        values = _read(name, data.with_format("arrow")[name][:]).to_pylist()
        data = data.remove_columns(name).add_column(name, values, feature=feature)
    return data.rename_columns({n: NAMES[table][n] for n in data.column_names})


def _is_positive(score: float | None) -> bool:
    return score is not None and score > 0


def _streamed(data, names: dict[str, str]):
    """The same of a stream, in Arrow: of Python's rows the type of an empty list is guessed."""
    changed = _to_read(data.features)

    def converted(rows: pa.Table) -> pa.Table:
        for name in changed:
            place = rows.column_names.index(name)
            rows = rows.set_column(place, name, _read(name, rows[name]))
        return rows.rename_columns([names[name] for name in rows.column_names])

    features = Features({names[n]: changed.get(n, f) for n, f in data.features.items()})
    mapped = data.with_format("arrow").map(converted, batched=True, features=features)
    return mapped.with_format(None)


def _to_read(features: Features) -> dict[str, Value | List]:
    """{column that is read otherwise than it stands: as what}."""
    return {name: _LIST if name in _READERS else _TEXT for name, feature in features.items()
            if name in _READERS or feature == _DATE}


def _read(name: str, column: pa.ChunkedArray) -> pa.Array:
    """A column's values as Sophia has them. Raises CollectionError for text that is not UTF-8."""
    if name not in _READERS:
        return column.cast(pa.string())  # of a date: YYYY-MM-DD
    try:
        return pa.array([_READERS[name](v) for v in column.to_pylist()], pa.list_(pa.string()))
    except UnicodeDecodeError as error:
        raise CollectionError(f"the column is not UTF-8: {error.reason}", name,
                              "Write the table anew as UTF-8") from error


def codes(text: str | None) -> list[str]:
    """The IPC codes in a text, in whatever way they are joined, without blanks."""
    return [re.sub(r"\s", "", code).upper() for code in _CODE.findall(text or "")]


def three_characters(value: list[str] | str | None) -> list[str]:
    """The three-character classes in a list, or in the text of a list, each once, in order."""
    text = value if isinstance(value, str) else " ".join(v for v in value or () if v)
    return sorted({code.upper() for code in _THREE_CODE.findall(text)})


_READERS = {CODES: codes, THREE: three_characters}


DAPFAM = Layout(
    name="dapfam", split="train", shared_ids=False, convert=as_sophia, columns=COLUMNS,
    configs={"queries": "queries", "corpus": "corpus", "qrels": "relations",
             "sampled": "relations"},
    files={"queries": "queries", "corpus": "corpus", "qrels": "qrels_all", "sampled": "qrels_all"},
    features={t: Features({own: COLUMNS[t][name] if name in ("ipc3", *_LABELS) else _TEXT
                           for own, name in NAMES[t].items()}) for t in NAMES},
    forms={THREE: (_LIST, _TEXT), DAY: (_TEXT, _DATE)})


# --- what relations may say -----------------------------------------------------------------------

def relation_rules(collection) -> list[tuple[str, str, pd.DataFrame]]:
    """(name, sentence, the rows that break it: query_id, doc_id, relevance_score, domain_rel) of
    what DAPFAM's relations may not be; they are read from `qrels` and `sampled`."""
    columns = list(COLUMNS["sampled"])
    cited, sampled = collection.pairs[columns], collection.frame("sampled", columns)
    rows = pd.concat([cited, sampled], ignore_index=True)
    score, domain = rows["relevance_score"], rows["domain_rel"]
    scored, placed = score.isin([0.0, 1.0]), domain.isin([NEAR, FAR, SAMPLED])
    disagree = scored & placed & ((score == 1.0) == (domain == SAMPLED))
    known = (sampled["query_id"].isin(collection.ids("queries").dropna())
             & sampled["doc_id"].isin(collection.ids("corpus").dropna()))
    pairs = set(zip(cited["query_id"], cited["doc_id"]))
    both = [pair in pairs for pair in zip(sampled["query_id"], sampled["doc_id"])]
    return [
        ("scores that are not documented", "relevance_score is neither 1 nor 0", rows[~scored]),
        ("domains that are not documented", "domain_rel is none of IN, OUT, NC", rows[~placed]),
        ("scores against domains", "a score of 1 has the domain NC, or one of 0 IN or OUT",
         rows[disagree.astype(bool)]),
        ("pairs cited and sampled", "the sampled non-citation is a positive too", sampled[both]),
        ("unknown identifiers of sampled pairs",
         "an identifier of the sampled non-citation is in no row of queries or corpus",
         sampled[~known]),
        ("repeated sampled pairs", "the sampled non-citation stands more than once",
         sampled[sampled.duplicated(["query_id", "doc_id"])]),
    ]


def relation_faults(collection) -> list[Fault]:
    """The rules of `relation_rules` that are broken; none for another layout than DAPFAM's, or
    where a column that they read is broken."""
    read = {"queries.query_id", "corpus.doc_id", *(f"sampled.{c}" for c in COLUMNS["sampled"])}
    if "sampled" not in collection.tables or read & collection.broken_columns:
        return []
    return [Fault(name, "relations", sentence, len(rows), rows)
            for name, sentence, rows in relation_rules(collection) if len(rows)]
