"""What a sweep over passages takes from one index: the runs of many aggregations, from one search."""

import time
from typing import NamedTuple

import pyarrow as pa

from kit.errors import SearchError
from kit.params import Params
from kit.retrieval.execute import joined, prepare, query_blocks, table_of
from kit.retrieval.shipped import make_system


class Swept(NamedTuple):
    """runs: {aggregation: the run of documents, each with the passage that scored best}. seconds:
    preprocessing, index and search, for all of them together. passages: how many there are."""

    runs: dict[str, pa.Table]
    seconds: dict[str, float]
    passages: int


def passage_runs(collection, name: str, params: Params, aggregations: list[str]) -> Swept:
    """The runs of a passage system under each aggregation: what `retrieve` gives for each alone, but
    nothing is saved. `passage_aggregation` and `passage_answers` of the parameters are not read.

    Raises SearchError for a system that searches no passages, and what `make_system` raises for its
    parameters or an aggregation that is none.
    """
    systems = [make_system(name, params.model_copy(update={
        "passage_aggregation": each, "passage_answers": "documents"})) for each in aggregations]
    if not systems or not getattr(systems[0], "passages", False):
        raise SearchError(f"'{name}' searches no passages, or no aggregation is asked for", "systems",
                          "Name bm25-passages or embedding-passages, and maxP")
    system, doc_ids = systems[0], set(collection.ids("corpus"))
    prepared, indexed = prepare(collection, system, params.corpus_view)
    own, topk = doc_ids if collection.shared_ids else set(), min(params.depth + 2, len(doc_ids))
    parts, searched = {each: [] for each in aggregations}, 0.0
    for block in query_blocks(collection, system, params):
        start = time.perf_counter()
        found = system.by_aggregation([text for _, text in block], topk, aggregations)
        searched += time.perf_counter() - start
        for each, answers in found.items():
            table, _ = table_of(block, answers, topk, params.depth, doc_ids, own, passages=True)
            parts[each].append(table)
    return Swept({each: joined(tables) for each, tables in parts.items()},
                 {"preprocessing": prepared, "index": indexed, "search": searched},
                 len(system.index.begins))
