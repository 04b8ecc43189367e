"""What a cleaning decision does to a run's figures: the same run with and without it."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from kit.evaluation import measures as m
from kit.evaluation.evaluate import hits_for
from kit.relevance.decisions import Decision
from kit.relevance.protocols import positives
from kit.retrieval.execute import SavedRun
from kit.retrieval.run import SCHEMA, ranks_within

COLUMNS = ["decision", "sentence", "protocol", "concerned", "queries", "queries left", "measure",
           "as it is", "decided", "change", "absent"]
OWN = "own entries stay in the ranking"
OWN_SENTENCE = "A query's own corpus entry, never relevant to it, keeps its place in the ranking."


def effects(run: SavedRun, collection, decisions: list[Decision], names: list[str],
            among: Iterable[str] | None = None) -> pd.DataFrame:
    """Each measure as the protocol has it and under each decision, a row each: columns as COLUMNS.

    Both figures are over the queries that have a relevant pair left, so that they differ by the
    decision alone. concerned: the pairs, or own entries, that it is about. A decision that can't be
    weighed has one row with its reason under `absent`. A ranking that a decision shortens is not
    filled up from below the depth.
    """
    searched = set(collection.ids("queries") if among is None else among)
    own = {(q, q): rank for q, rank in run.manifest.get("own_entry_ranks") or ()}
    weighed = [_Weighed(OWN, OWN_SENTENCE, "all", _with_own_entries(run, own), set(), len(own),
                        "" if own else "no own entry stood in the ranking, or the run does not say "
                        "where")]
    for d in decisions:
        keys = {k for k in zip(d.pairs["query_id"], d.pairs["doc_id"]) if k[0] in searched}
        weighed.append(_Weighed(d.name, d.sentence, d.protocol,
                                _without(run.table, keys) if d.skipped else run.table, keys,
                                len(keys), d.absent or ("" if keys else "no such pair")))
    rows = [row for w in weighed for row in _rows(w, run.table, collection, searched, names)]
    return pd.DataFrame(rows, columns=COLUMNS)


class _Weighed(NamedTuple):
    """A decision with the ranking that it leaves and the pairs that it takes out."""

    name: str
    sentence: str
    protocol: str
    table: pa.Table
    dropped: set
    concerned: int
    absent: str


def _rows(w: _Weighed, table: pa.Table, collection, searched: set[str], names: list[str]) -> list:
    """The rows of `effects` for one decision; table: the ranking as it is."""
    head = (w.name, w.sentence, w.protocol, w.concerned)
    if w.absent:
        return [(*head, 0, 0, None, None, None, None, w.absent)]
    pairs = positives(collection, w.protocol)
    pairs = pairs[pairs["query_id"].isin(searched)]
    left = pairs[[key not in w.dropped for key in zip(pairs["query_id"], pairs["doc_id"])]]
    if left.empty:
        return [(*head, 0, 0, None, None, None, None, "no pair would be left")]
    same = pairs[pairs["query_id"].isin(left["query_id"])]
    before, after = (_means(t, p, collection, names) for t, p in ((table, same), (w.table, left)))
    queries = (pairs["query_id"].nunique(), left["query_id"].nunique())
    return [(*head, *queries, name, before[name], after[name], after[name] - before[name], "")
            for name in names]


def _means(table: pa.Table, pairs: pd.DataFrame, collection, names: list[str]) -> dict[str, float]:
    """Each measure over the queries of the pairs."""
    hits = hits_for(table, collection, pairs, names)
    values = m.per_query(hits, names)
    return {name: m.mean(hits, name, values[name]) for name in names}


def _without(table: pa.Table, keys: set) -> pa.Table:
    """A run without some pairs; what stood below them moves up."""
    keep = [key not in keys for key in zip(*(table[c].to_pylist() for c in ("query_id", "doc_id")))]
    left = table.filter(pa.array(keep, pa.bool_()))
    return left.set_column(2, "rank", ranks_within(left["query_id"]))


def _with_own_entries(run: SavedRun, own: dict[tuple[str, str], int]) -> pa.Table:
    """A run with each own entry at the rank at which it was taken out, cut to the depth."""
    frame = run.table.to_pandas()
    entries = pd.DataFrame([(q, d, rank) for (q, d), rank in own.items()],
                           columns=["query_id", "doc_id", "rank"])
    # half a rank before what stands there now
    both = pd.concat([frame, entries.assign(rank=entries["rank"] - 0.5, score=np.nan)])
    both = both.sort_values(["query_id", "rank"], kind="stable", ignore_index=True)
    both["rank"] = both.groupby("query_id").cumcount() + 1
    both = both[both["rank"] <= run.manifest["depth"]]
    return pa.Table.from_pandas(both, SCHEMA, preserve_index=False)
