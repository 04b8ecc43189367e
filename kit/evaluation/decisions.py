"""What a cleaning decision does to a run's figures: the same run with and without it."""

from collections.abc import Iterable

import numpy as np
import pandas as pd
import pyarrow as pa

from kit.evaluation import measures as m
from kit.relevance.decisions import Decision
from kit.relevance.protocols import positives
from kit.retrieval.execute import SavedRun
from kit.retrieval.run import SCHEMA, ranks_within

COLUMNS = ["decision", "protocol", "concerned", "measure", "n", "as it is", "n decided", "decided",
           "change", "absent"]
OWN = "own entries stay in the ranking"
OWN_SENTENCE = "A query's own corpus entry, never relevant to it, keeps its place in the ranking."


def effects(run: SavedRun, collection, decisions: list[Decision], names: list[str],
            among: Iterable[str] | None = None) -> pd.DataFrame:
    """Each measure as the protocol has it and under each decision, a row each: columns as COLUMNS.

    concerned: the pairs, or own entries, that the decision is about. n: queries with a relevant
    document. A decision that can't be weighed has one row with its reason under `absent`. A ranking
    that a decision shortens is not filled up from below the depth.
    """
    searched = set(collection.ids("queries") if among is None else among)
    own = {(q, q): rank for q, rank in run.manifest.get("own_entry_ranks") or ()}
    rows = _compared(collection, searched, names, OWN, "all", run.table,
                     _with_own_entries(run, own), frozenset(), len(own),
                     "" if own else "no own entry stood in the ranking, or the run does not say where")
    for decision in decisions:
        keys = {key for key in zip(decision.pairs["query_id"], decision.pairs["doc_id"])
                if key[0] in searched}
        changed = _without(run.table, keys) if decision.skipped else run.table
        rows += _compared(collection, searched, names, decision.name, decision.protocol, run.table,
                          changed, keys, len(keys), decision.absent or ("" if keys else "no such pair"))
    return pd.DataFrame(rows, columns=COLUMNS)


def _compared(collection, searched: set[str], names: list[str], decision: str, protocol: str,
              table: pa.Table, changed: pa.Table, dropped, concerned: int, absent: str) -> list:
    """A decision's rows; `changed` and `dropped`: the ranking and the pairs that it changes."""
    if absent:
        return [(decision, protocol, concerned, None, 0, None, 0, None, None, absent)]
    pairs = positives(collection, protocol)
    pairs = pairs[pairs["query_id"].isin(searched)]
    keep = [key not in dropped for key in zip(pairs["query_id"], pairs["doc_id"])]
    if not any(keep):
        return [(decision, protocol, concerned, None, 0, None, 0, None, None, "no pair would be left")]
    n, before = _means(table, pairs, collection, names)
    n_after, after = _means(changed, pairs[keep], collection, names)
    return [(decision, protocol, concerned, name, n, before[name], n_after, after[name],
             after[name] - before[name], "") for name in names]


def _means(table: pa.Table, pairs: pd.DataFrame, collection,
           names: list[str]) -> tuple[int, dict[str, float]]:
    """The number of queries with a relevant pair, and each measure over them."""
    hits = m.hits_of(table, pairs, collection.pairs)
    values = m.per_query(hits, names)
    return len(values), {name: m.mean(hits, name, values[name]) for name in names}


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
