"""How large the collection is, and what each protocol counts."""

from functools import partial

import pandas as pd

from kit.errors import MeasureError
from kit.relevance.checks.check import FACT, Check, Found, declared, rows_found
from kit.relevance.protocols import PROTOCOLS, offered, positives

CHECKS: list[Check] = []
_IDS = ("queries.query_id", "corpus.doc_id", "qrels.query_id", "qrels.doc_id")
NO_CATEGORY = "every category is null"
_HISTOGRAM = ["protocol", "positives", "queries"]


def _rows_of(table: str, prepared) -> Found:
    return Found(len(prepared.pairs) if table == "qrels" else len(prepared.ids(table)))


for _table, _sentence in (("queries", "Queries."), ("corpus", "Candidate documents."),
                          ("qrels", "Labelled pairs of a query and a document.")):
    CHECKS.append(Check("sizes", _table, FACT, _sentence, (), partial(_rows_of, _table)))


def _category(name: str, prepared) -> Found:
    if len(offered(prepared.collection)) == 1:
        return Found(absent=NO_CATEGORY)
    return Found(int((prepared.pairs["category"] == name).sum()), len(prepared.pairs))


for _name in ("XY", "A", "overlap"):
    CHECKS.append(Check("sizes", f"category {_name}", FACT, f"Pairs in the category {_name}.",
                        ("qrels.category",), partial(_category, _name)))


def _relevant(prepared, protocol: str) -> pd.DataFrame | str:
    """The pairs of a protocol, or why there are none to give."""
    try:
        return positives(prepared.collection, protocol)
    except MeasureError as error:
        return error.what


def _known(prepared, relevant: pd.DataFrame) -> pd.DataFrame:
    """Those of the relevant pairs whose document exists, each once."""
    known = prepared.ids("corpus").dropna()
    return relevant[relevant["doc_id"].isin(known)].drop_duplicates()


def _protocol(name: str, prepared) -> Found:
    relevant = _relevant(prepared, name)
    if isinstance(relevant, str):
        return Found(absent=relevant)
    return Found(len(relevant), len(prepared.pairs))


def _without(name: str, prepared) -> Found:
    relevant = _relevant(prepared, name)
    if isinstance(relevant, str):
        return Found(absent=relevant)
    queries = prepared.ids("queries")
    answered = _known(prepared, relevant)["query_id"]
    return rows_found(queries[~queries.isin(answered)].to_frame(), len(queries))


for _name in PROTOCOLS:
    CHECKS.append(Check("sizes", f"protocol {_name}", FACT, "Pairs that count as relevant under the "
                        f"protocol {_name}.", ("qrels.query_id", "qrels.category"),
                        partial(_protocol, _name)))
    CHECKS.append(Check("sizes", f"queries without a positive, {_name}", FACT, "Queries with no "
                        f"relevant document under {_name}; they do not count.",
                        (*_IDS[:1], "qrels.query_id", "qrels.category"), partial(_without, _name)))


@declared(CHECKS, "sizes", "most positives of a query", FACT,
          "The largest number of relevant documents of one query; by protocol, how many queries "
          "have how many.", *_IDS, "qrels.category")
def most_positives(prepared) -> Found:
    made = []
    for protocol in PROTOCOLS:
        relevant = _relevant(prepared, protocol)
        if isinstance(relevant, str):
            continue
        counts = _known(prepared, relevant).groupby("query_id").size()
        of_queries = prepared.ids("queries").map(counts).fillna(0).astype(int)
        sizes = of_queries.value_counts().sort_index()
        made.append(pd.DataFrame({"protocol": protocol, "positives": sizes.index,
                                  "queries": sizes.to_numpy()}))
    histogram = pd.concat(made, ignore_index=True)[_HISTOGRAM]
    return Found(int(histogram["positives"].max() if len(histogram) else 0), detail=histogram)


@declared(CHECKS, "sizes", "documents relevant to nothing", FACT,
          "Candidates that no query cites; a random collection of patents has many.",
          "corpus.doc_id", "qrels.doc_id")
def relevant_to_nothing(prepared) -> Found:
    docs = prepared.ids("corpus")
    return rows_found(docs[~docs.isin(prepared.pairs["doc_id"])].to_frame(), len(docs))
