"""What a sweep over passages takes from one index: the runs of many aggregations, from one search.

A sweep's runs are looked at to choose a setting. They stand apart from the runs that scorecards are
made of, below outputs/cache/sweeps, and the ledger does not know them.
"""

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from kit import SUITE_VERSION
from kit.errors import ParamsError, SearchError
from kit.files import below, digest_of_file, outputs_folder, safe_name, write_json
from kit.params import Params
from kit.provenance import git_state, machine
from kit.retrieval.by_passage import require_aggregation
from kit.retrieval.execute import (
    SavedRun,
    conditions,
    joined,
    only_one,
    prepare,
    query_blocks,
    run_key,
    searched_ids,
    table_of,
)
from kit.retrieval.run import PASSAGE_SCHEMA, write_run
from kit.retrieval.shipped import make_system
from kit.text.views import declaration

DOCUMENTS = {"bm25-passages": "bm25", "embedding-passages": "embedding"}  # the same over documents
LENGTHS = (64, 128, 256, 512, 1024, 2048)


class Swept(NamedTuple):
    """runs: {aggregation: the run of documents, each with the passage that scored best}. seconds:
    preprocessing, index and search, for all of them together. notes: such as how many passages there
    are, and how many of them the model cut."""

    runs: dict[str, pa.Table]
    seconds: dict[str, float]
    notes: dict[str, int]


def passage_runs(collection, name: str, params: Params, aggregations: list[str]) -> Swept:
    """The runs of a passage system under each aggregation: what `retrieve` gives for each alone, but
    nothing is saved. `passage_aggregation` and `passage_answers` of the parameters are not read.

    Raises SearchError for a system that searches no passages, and what `make_system` raises for its
    parameters or an aggregation that is none.
    """
    for each in aggregations:
        require_aggregation(each, "sweep_aggregations")
    # one system: a model's files are hashed for each that is made
    system = make_system(name, params.model_copy(update={
        "passage_aggregation": "maxP", "passage_answers": "documents"}))
    if not aggregations or not getattr(system, "passages", False):
        raise SearchError(f"'{name}' searches no passages, or no aggregation is asked for", "systems",
                          "Name bm25-passages or embedding-passages, and maxP")
    doc_ids = set(collection.ids("corpus"))
    prepared, indexed = prepare(collection, system, params.corpus_view)
    notes = system.notes()
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
                 {"preprocessing": prepared, "index": indexed, "search": searched}, notes)


# --- a sweep that goes on where it stopped --------------------------------------------------------

@dataclass(frozen=True)
class Cell:
    """One system at one length, kept in a folder: a run an aggregation, and beside them the
    conditions, the counts and the seconds."""

    system: str
    length: int
    folder: Path
    stated: dict

    @property
    def aggregations(self) -> list[str]:
        """In the order in which they were asked for."""
        return self.stated["aggregations"]

    def table(self, aggregation: str) -> pa.Table:
        """The run of documents under an aggregation."""
        return pq.read_table(_file(self.folder, aggregation), schema=PASSAGE_SCHEMA)

    def as_run(self, aggregation: str, searched: list[str]) -> SavedRun:
        """The run with what fusing and showing ask of its manifest. searched: all queries' ids."""
        table, system = self.table(aggregation), self.stated["system"]
        answered = set(table["query_id"].unique().to_pylist())
        return SavedRun(self.folder, table, {
            **self.stated, "system": {**system, "name": self.system}, "failures": [],
            "empty_queries": [q for q in searched if q not in answered],
            "run_sha256": self.stated["run_sha256"][aggregation]})


def sweep_lengths(params: Params) -> list[int]:
    """The lengths of a sweep, ascending."""
    return sorted(set(params.sweep_lengths or LENGTHS))


def sweep_aggregations(params: Params) -> list[str]:
    """The aggregations of a sweep, in their order."""
    return list(dict.fromkeys(params.sweep_aggregations))


def sweep_systems(params: Params) -> list[str]:
    """The systems of an experiment that search passages."""
    return [name for name in dict.fromkeys(params.systems) if name in DOCUMENTS]


def require_sweepable(params: Params) -> None:
    """Raises SearchError without a system of passages, ParamsError for a length or aggregation that
    can't be searched, and where the untuned setting, against which a choice is held, is not swept."""
    names, lengths = sweep_systems(params), sweep_lengths(params)
    if not names:
        raise SearchError("a sweep needs a system that searches passages", "systems",
                          f"Name {' or '.join(DOCUMENTS)}")
    for each in sweep_aggregations(params):
        require_aggregation(each, "sweep_aggregations")
    for name in names:  # the shortest length is the one that a stride can be too long for
        make_system(name, _at(params, lengths[0], sweep_aggregations(params)[0]))
    if params.passage_length not in lengths:
        raise ParamsError(f"the untuned passage_length {params.passage_length} is none of the sweep's",
                          "passage_length, sweep_lengths", f"Set it to one of {lengths}")
    if params.passage_aggregation not in sweep_aggregations(params):
        raise ParamsError(f"the untuned {params.passage_aggregation} is none of the sweep's",
                          "passage_aggregation, sweep_aggregations", "Name it there too")


def sweep_cell(collection, name: str, length: int, params: Params) -> Cell:
    """One system at one length under every aggregation of the parameters: reopened if it is there
    whole, else searched and kept. Raises what `passage_runs` raises."""
    aggregations = sweep_aggregations(params)
    at = _at(params, length, aggregations[0])
    system = make_system(name, at)
    given = {key: v for key, v in system.given.items() if key != "passage_aggregation"}
    stated = conditions(collection, params) | {
        "system": {"name": system.name, "version": system.version, "given": given},
        "views": {"query": declaration(params.query_view), "corpus": declaration(params.corpus_view)},
        "aggregations": aggregations}
    folder = (below(outputs_folder(params.outputs) / "cache" / "sweeps", stated["environment"])
              / f"{safe_name(name, 'system')}-{length}-{run_key(stated)[:10]}")
    with only_one(folder):
        if not _is_whole(folder, aggregations):
            _keep(folder, passage_runs(collection, name, at, aggregations), stated)
    stated = json.loads((folder / "cell.json").read_text(encoding="utf-8"))
    return Cell(name, length, folder, stated)


def searched_queries(collection, params: Params) -> list[str]:
    """The ids of the queries that a sweep searches."""
    return searched_ids(collection, params).tolist()


def _at(params: Params, length: int, aggregation: str) -> Params:
    return params.model_copy(update={"passage_length": length, "passage_aggregation": aggregation,
                                     "passage_answers": "documents"})


def _keep(folder: Path, swept: Swept, stated: dict) -> None:
    """Writes the runs, then what makes the cell whole."""
    for each, table in swept.runs.items():
        write_run(_file(folder, each), table)
    write_json(folder / "cell.json", {
        **stated, "seconds": swept.seconds, "notes": swept.notes, "suite_version": SUITE_VERSION,
        "git": git_state(), "machine": machine(),
        "run_sha256": {each: digest_of_file(_file(folder, each)) for each in swept.runs}})


def _is_whole(folder: Path, aggregations: list[str]) -> bool:
    """Whether the runs are there as they were written; if not they are searched again."""
    try:
        digests = json.loads((folder / "cell.json").read_text(encoding="utf-8"))["run_sha256"]
        return all(digest_of_file(_file(folder, each)) == digests[each] for each in aggregations)
    except (OSError, ValueError, KeyError):
        return False


def _file(folder: Path, aggregation: str) -> Path:
    return folder / f"{aggregation}.parquet"
