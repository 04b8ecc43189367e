"""Somebody else's ranking: a run file, read as a run of this collection."""

from pathlib import Path

import numpy as np
import pyarrow as pa

from kit.collection.schema import shown
from kit.errors import RunError
from kit.retrieval.run import Rows, rank_disagreements, read_rows


def open_run(path: Path, collection) -> tuple[pa.Table, dict[str, int]]:
    """The run of a TREC or Parquet file under the tie rule, and what was seen in it.

    counts: unknown_queries (left out with their rows), rank_disagrees (rows that stand elsewhere
    by the file's own ranks). Raises RunError for what `read_rows` refuses, for a document that
    the corpus lacks, and when no query is the collection's.
    """
    rows = read_rows(path)
    query_ids = set(collection.ids("queries"))
    known = np.array([q in query_ids for q in rows.queries])
    mine = rows if known.all() else rows.kept(known)
    if not mine.queries:
        raise RunError("no query of the run is in the collection", f"{path}, first {shown(rows.queries[0])}",
                       "Check that run and collection belong together")
    _refuse_unknown_documents(mine, set(collection.ids("corpus")))
    run = mine.ranked()
    strange = {q for q, k in zip(rows.queries, known) if not k}
    return run, {"unknown_queries": len(strange), "rank_disagrees": rank_disagreements(mine, run)}


def _refuse_unknown_documents(rows: Rows, doc_ids: set[str]) -> None:
    for i, doc in enumerate(rows.docs):
        if doc not in doc_ids:
            raise RunError(f"the corpus has no document {shown(doc)}, returned for query "
                           f"{shown(rows.queries[i])}", rows.where(i),
                           "Check that run and collection belong together")
