"""DAPFAM's own tables and columns, read as Sophia's (see `schema.FEATURES`).

The tables `queries`, `corpus` and `relations`, each the split `train`. Positives are the relations
of a score above 0; the sampled non-citations (score 0) are left out of the qrels. A field that
DAPFAM has not is null. Its two id spaces are not taken to be one: no own entry is excluded.
"""

import re

from datasets import Features, List, Value

from kit.collection.schema import FEATURES, Layout

_TEXT = Value("string")
_PATENT = {"jurisdiction": "publication_authority", "earliest_claim_date": "publication_date",
           "ipcr_codes_str": "ipc", "title_en": "title", "abstract_en": "abstract",
           "claims_text": "claims", "description_en": "description"}
COLUMNS = {  # DAPFAM's name: Sophia's
    "queries": {"query_id": "query_id", **_PATENT},
    "corpus": {"relevant_id": "doc_id", **_PATENT},
    "qrels": {"query_id": "query_id", "relevant_id": "doc_id"},
}
_CODE = re.compile(r"[A-HY]\d{2}[A-Z]?(?:\s*\d+/\d+)?")


def as_sophia(table: str, data):
    """A loaded table (or stream) in Sophia's columns; long texts stay where they are."""
    if table == "qrels":
        data = _positives(data)
    else:
        data = _with_list(data, "ipcr_codes_str")
    return data.rename_columns({own: name for own, name in COLUMNS[table].items() if own != name})


def _positives(data):
    """The rows of a score above 0."""
    kept = data.filter(lambda score: score is not None and score > 0,
                       input_columns="relevance_score")
    return kept.remove_columns("relevance_score")


def _with_list(data, name: str):
    """The column of joined codes as a list of codes; the other columns are not copied."""
    if not hasattr(data, "add_column") or not hasattr(data, "__len__"):  # a stream
        return data.map(lambda text: {name: codes(text)}, input_columns=name,
                        features=Features({**data.features, name: List(_TEXT)}))
    column = [codes(text) for text in data.select_columns(name)[name]]
    return data.remove_columns(name).add_column(name, column, feature=List(_TEXT))


def codes(text: str | None) -> list[str]:
    """The IPC codes in a text, in whatever way they are joined, without blanks."""
    return [re.sub(r"\s", "", code) for code in _CODE.findall(text or "")]


DAPFAM = Layout(
    name="dapfam", split="train", shared_ids=False, convert=as_sophia,
    configs={"queries": "queries", "corpus": "corpus", "qrels": "relations"},
    features={
        **{table: Features(dict.fromkeys(COLUMNS[table], _TEXT)) for table in ("queries", "corpus")},
        "qrels": Features({"query_id": _TEXT, "relevant_id": _TEXT,
                           "relevance_score": Value("float64")}),
    })
assert all(set(names.values()) <= set(FEATURES[table]) for table, names in COLUMNS.items())
