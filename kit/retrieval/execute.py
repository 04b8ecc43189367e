"""The one place that runs a system: batches, own-entry exclusion, the depth, checks, resume."""

import json
import reprlib
import resource
import shutil
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from kit import SUITE_VERSION, ledger
from kit.collection.schema import require_sound
from kit.errors import RunError, SearchError
from kit.files import (
    below,
    digest_of,
    digest_of_file,
    find_path,
    locked,
    outputs_folder,
    regular,
    safe_name,
    work_folder,
    write_json,
)
from kit.params import Params
from kit.progress import Stopwatch, blocks, say, steps
from kit.provenance import git_state, machine
from kit.retrieval import fusion, rerank
from kit.retrieval.corpus import corpus_of
from kit.retrieval.external import open_run
from kit.retrieval.run import (
    PASSAGE_COLUMNS,
    cut_at,
    documents_of,
    passages_of,
    rank_within_ids,
    ranked,
    ranks_within,
    schema_of,
    shown,
    write_run,
)
from kit.retrieval.shipped import make_system, system_names
from kit.retrieval.system import Answer, cut, first_stage, one_line, said
from kit.text.views import Titled, declaration, require_given, texts
from kit.visible import discreet

BLOCK = 128  # queries searched, checked and saved at a time
_WHOLE = reprlib.Repr()  # of a text all, since what is hidden in it is found in the whole only
_WHOLE.maxstring = _WHOLE.maxother = 10_000
PARTS = "parts-of-"  # folders of blocks, by the size of a block, as long as a run is not whole
UNSEEN = {"view": "the system's own"}  # of the corpus, where the kit does not hand it over


@dataclass(frozen=True)
class SavedRun:
    """A run on disk: its folder, the ranking of documents, and the manifest beside it with its
    digest. rows: the ranking as it was saved, in which a document may stand with several passages."""

    folder: Path
    table: pa.Table
    manifest: dict
    manifest_sha256: str = ""
    rows: pa.Table | None = None

    @property
    def system(self) -> str:
        """The system's name as scorecards have it."""
        return self.manifest["system"]["name"]


def retrieve_all(collection, params: Params) -> list[SavedRun]:
    """The run of every system of an experiment, run files last, and behind them what is fused.

    Raises what `retrieve` raises, and SearchError when two would stand under one name.
    """
    runs = [retrieve(collection, name, params) for name in system_names(params)]
    names = [run.system for run in runs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise SearchError(f"two systems are named '{twice}'", "systems, run_files",
                          "Give the run file another name")
    return runs


def retrieve(collection, name: str, params: Params) -> SavedRun:
    """The run of the system `name`: reopened if it is there whole, else searched and saved.

    A search that was cut short goes on behind its last saved block. Raises CollectionError for a
    collection that breaks its layout, SearchError and RunError for systems and run files.
    """
    require_sound(collection)
    if name in params.run_files:
        return _take_in(collection, name, params)
    if name == fusion.NAME:
        made = fusion.Fusion.from_params(params)
        return fuse_runs([retrieve(collection, n, params) for n in made.of], made, params)
    first = first_stage(name)
    if first is not None:
        return rerank_run(collection, retrieve(collection, first, params), params)
    require_given(collection, params.query_view, params.corpus_view)
    return _searched(collection, make_system(name, params), params)


def rerank_run(collection, run: SavedRun, params: Params) -> SavedRun:
    """The run of the parameters' reranker behind a saved run: reopened if it is there whole, else made, block
    by block as a search is. Raises what `retrieve` raises, RunError for a run of other conditions."""
    require_given(collection, params.query_view, params.corpus_view)
    return _searched(collection, rerank.Second(collection, run, rerank.reranker_of(params), params), params)


def _searched(collection, system, params: Params) -> SavedRun:
    stated = conditions(collection, params) | {
        "system": {"name": system.name, "version": system.version, "given": system.given},
        "views": {"query": declaration(params.query_view),
                  "corpus": declaration(params.corpus_view) if _reads_corpus(system) else UNSEEN}}
    origin = getattr(system, "origin", None)  # of a system behind others
    if origin:
        stated = system.behind(stated)
    folder = _folder(params, stated)
    with only_one(folder):  # a second process waits, and finds the run whole
        if (folder / "manifest.json").exists():
            return _reopened(folder, params)
        with _recorded(stated, folder, params, **_lines(origin)) as begun, _closed(system):
            return _search(collection, system, params, stated | _behind(begun, origin), folder)


def fuse_runs(runs: list[SavedRun], made: fusion.Fusion, params: Params) -> SavedRun:
    """The saved run of a fusion, in the parameters' outputs: reopened if it is there whole, else
    made and saved. Raises what `fusion.fuse` raises."""
    stated = fusion.stated_of(runs, made)
    folder = _folder(params, stated)
    with only_one(folder):
        if (folder / "manifest.json").exists():
            return _reopened(folder, params)
        origin, start = fusion.origin_of(runs), time.perf_counter()
        with _recorded(stated, folder, params, **_lines(origin)) as begun:
            fused = fusion.fuse(runs, made)
            seconds = {"index_seconds": 0.0, "search_seconds": time.perf_counter() - start}
            return _save(folder, fused.table, pd.Series(fusion.searched(runs[0])), {
                **stated, **_behind(begun, origin), **origin, "own_entry_ranks": [],
                "ties_at_the_cut": fused.ties_at_the_cut, "failures": fused.failures,
                "notes": origin["notes"] | {"queries_that_a_run_lacks": fused.lacking},
                "cost": seconds | origin["cost"] | {"peak_memory_mb": _peak_memory()}})


def _lines(origin: dict | None) -> dict:
    """Of the runs that one is made of, their lines in the ledger."""
    return {"inputs": [(part["ledger"] or {}).get("sha256") for part in origin["inputs"]]} if origin else {}


def _behind(begun: dict, origin: dict | None) -> dict:
    """What a manifest has of the run's begin, and of the runs that it is made of: what changed code made
    stays so."""
    if not origin:
        return begun
    dirty = (part["git"] or {} for part in origin["inputs"])
    git = next((g for g in dirty if g.get("dirty") is not False), begun["git"])
    return {**begun, "git": git, "inputs": origin["inputs"]}


def require_ready(collection, params: Params) -> list[str]:
    """The names that the systems will have on scorecards. Raises KitError for a system that `make_system`
    refuses, a view that the collection can't give, a cluster that does not answer, or a run file that
    can't be read as a run of this collection. Nothing is searched or written."""
    names = [_ready(collection, name, params) for name in system_names(params)]
    if params.engine == "dask":
        from kit.retrieval.cluster import require_reachable

        require_reachable(params.scheduler)
    return names


def _ready(collection, name: str, params: Params) -> str:
    if name in params.run_files:
        open_run(find_path(params.run_files[name]), collection)
        return name
    require_given(collection, params.query_view, params.corpus_view)
    first = first_stage(name)
    if first is not None:
        return f"{_ready(collection, first, params)}+{rerank.require_reranker(params)}"
    return make_system(name, params).name


def reopen(folder: Path) -> SavedRun:
    """A saved run. Raises RunError when the ranking is not the one its manifest names, is no
    run, or the manifest can't be read."""
    manifest, path = read_manifest(folder / "manifest.json"), folder / "run.parquet"
    if not path.exists() or digest_of_file(path) != manifest.get("run_sha256"):
        raise RunError("the run is not the one that its manifest names", folder,
                       "Delete the folder and search again")
    try:
        rows = pq.read_table(path, schema=schema_of(pq.read_schema(path).names))
    except (pa.ArrowException, OSError, ValueError) as error:
        raise RunError(f"the ranking is no run: {one_line(str(error), 200)}", path,
                       "Delete the folder and search again") from error
    return SavedRun(folder, documents_of(rows), manifest, digest_of_file(folder / "manifest.json"),
                    rows)


def open_finished(folder: Path, params: Params) -> SavedRun:
    """A saved run of any folder, held against the ledger of the parameters' outputs. Raises
    RunError for a folder that holds none, and for a run that was changed."""
    if not (folder / "manifest.json").is_file():
        raise RunError("this is no run's folder: it holds no manifest.json", folder,
                       "Name a folder below outputs/runs")
    fusion.require_whole(read_manifest(folder / "manifest.json"), folder)
    return _reopened(folder, params)


def read_manifest(path: Path) -> dict:
    """A run's manifest. Raises RunError for what is none."""
    try:
        manifest = json.loads(regular(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise RunError(f"the manifest can't be read: {type(error).__name__}", path,
                       "Delete the run's folder and search again") from error
    if not isinstance(manifest, dict):
        raise RunError("this is no manifest", path, "Delete the run's folder and search again")
    return manifest


def query_positions(collection, params: Params) -> np.ndarray:
    """The rows of `queries` that are searched, in order: all, or a sample drawn by the seed. It is drawn
    of the ids in their own order, so that a table in another order gives the same queries."""
    ids = collection.ids("queries")
    if params.sample is None or params.sample >= len(ids):
        return np.arange(len(ids))
    by_id = np.argsort(rank_within_ids(pa.array(ids, pa.string())))
    drawn = np.random.default_rng(params.seed).choice(len(ids), params.sample, replace=False)
    return np.sort(by_id[drawn])


def searched_ids(collection, params: Params) -> pd.Series:
    """The ids of the queries that are searched, in the table's order."""
    return collection.ids("queries").iloc[query_positions(collection, params)]


def conditions(collection, params: Params) -> dict:
    """What a run was made under, apart from its system."""
    n = len(collection.ids("queries"))
    sampled = params.sample is not None and params.sample < n
    return {
        "environment": collection.environment, "generation": collection.generation,
        "fingerprints": collection.fingerprints, "depth": params.depth, "queries": n,
        "corpus_size": len(collection.ids("corpus")),
        "sample": {"size": params.sample, "seed": params.seed} if sampled else None,
    }


def run_key(stated: dict) -> str:
    """The digest of all that a run depends on: system, settings, views, data, depth and sample.

    The generation's name is no part of it: a run stays the same when its data is pinned later.
    """
    rest = {name: value for name, value in stated.items() if name != "generation"}
    return digest_of({**rest, "suite_version": SUITE_VERSION})


def _folder(params: Params, stated: dict) -> Path:
    """One folder for each set of conditions: the name, and a digest of all that is stated."""
    name = f"{safe_name(stated['system']['name'], 'system')}-{run_key(stated)[:10]}"
    return below(outputs_folder(params.outputs) / "runs", stated["environment"]) / name


def _counted(stated: dict) -> str:
    """The digest of what counts as one system on one generation: all of `run_key`, but for the
    digest of a module's or run file's bytes, which a comment changes."""
    system = stated["system"]
    given = {name: v for name, v in system["given"].items() if name != "module_sha256"}
    return run_key({**stated, "system": {
        "name": system["name"], "version": system["version"],
        "given": given if stated["views"] or system["name"] == fusion.NAME else {}}})


@contextmanager
def only_one(folder: Path):
    """One process at a time for a run's folder; a process that dies lets go of it by itself."""
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder, busy=lambda: say("waiting for another process, which searches the same")):
        yield


def _reads_corpus(system) -> bool:
    return hasattr(system, "prepare")


@contextmanager
def _recorded(stated: dict, folder: Path, params: Params, **more):
    """Notes in the ledger that a run begins and how it ends; yields what the manifest has of it.
    more: what else its first line states."""
    git, system = git_state(), stated["system"]
    with ledger.opened(params.outputs) as book:
        run = book.begin(
            run_key(stated), counted=_counted(stated), system=system["name"],
            version=system["version"], settings=digest_of(system["given"]), environment=stated["environment"],
            generation=stated["generation"], fingerprint=stated["fingerprints"]["together"],
            corpus=stated["fingerprints"]["corpus"], depth=stated["depth"], sample=stated["sample"],
            views={role: view["view"] for role, view in (stated["views"] or {}).items()} or None,
            suite_version=SUITE_VERSION, git=git,
            folder=folder.relative_to(outputs_folder(params.outputs)).as_posix(), **more)
    if run.event["git"]["dirty"] is not False:  # the blocks of before are in the run too
        git = run.event["git"]
    try:
        yield {"ledger": {"line": run.number, "sha256": run.sha256}, "git": git,
               "machine": machine()}
    except BaseException as error:
        status = "failed" if isinstance(error, Exception) else "stopped"
        with ledger.opened(params.outputs) as book:
            book.end(run.sha256, status, reason=discreet(f"{type(error).__name__}: {error}")[:500])
        raise
    _reopened(folder, params)


def _reopened(folder: Path, params: Params) -> SavedRun:
    """A run that is there whole; its end is noted in the ledger, and its blocks removed, also where a kill
    came before either."""
    saved = reopen(folder)
    run = (saved.manifest.get("ledger") or {}).get("sha256")
    end = ledger.read(params.outputs).ending(run)
    if end is None:
        with ledger.opened(params.outputs) as book:
            book.end(run, saved.manifest["status"], run_sha256=saved.manifest["run_sha256"],
                     manifest_sha256=saved.manifest_sha256)
    elif end.event.get("manifest_sha256") != saved.manifest_sha256:  # which names the ranking's
        raise RunError("the run was changed after the ledger noted how it ended", folder,
                       "Delete the folder and search again")
    for parts in folder.glob(f"{PARTS}*"):
        shutil.rmtree(parts, ignore_errors=True)
    return saved


@contextmanager
def _closed(system):
    """Whatever happens, a system that holds a cluster lets go of it."""
    try:
        yield
    finally:
        if hasattr(system, "close"):
            system.close()


def _search(collection, system, params: Params, stated: dict, folder: Path) -> SavedRun:
    ids, prepared, indexed = list(collection.ids("corpus")), None, None
    if hasattr(system, "warm"):
        system.warm()
    if _reads_corpus(system):
        prepared, indexed = prepare(collection, system, params.corpus_view)
    corpus_notes = system.notes()
    home = folder / f"{PARTS}{_block_size(system)}"
    run = stated["ledger"]["sha256"]
    counts, parts = _search_blocks(collection, system, params, set(ids), home, run)
    searched, notes = counts.pop("seconds"), counts.pop("notes")
    table = joined(parts)
    if getattr(system, "answers", "documents") == "passages":
        notes["passages_not_scored"] = len(table) - len(documents_of(table))
    return _save(folder, table, searched_ids(collection, params), {
        **stated, **counts, "system": stated["system"] | {"settings": system.settings},
        "notes": corpus_notes | notes,
        "cost": {"preprocessing_seconds": prepared, "index_seconds": indexed,
                 "search_seconds": searched,
                 "peak_memory_mb": _peak_memory(),
                 **(system.cost() if hasattr(system, "cost") else {})}})


def _peak_memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def prepare(collection, system, view: str) -> tuple[float, float]:
    """Gives the system the corpus, as texts or, for passages, as (fields, title); the seconds of
    preprocessing (reading and cleaning, for passages also tokens and splitting) and of the rest."""
    watch, start, ids = Stopwatch(), time.perf_counter(), list(collection.ids("corpus"))
    if hasattr(system, "expect"):
        system.expect(corpus_of(collection, view))
    if getattr(system, "passages", False):
        system.prepare(ids, Titled(collection, view))
        seconds = system.preprocessing_seconds
    else:
        system.prepare(ids, watch.over(texts(collection, "corpus", view)))
        seconds = watch.seconds
    return seconds, time.perf_counter() - start - seconds


def _save(folder: Path, table: pa.Table, searched: pd.Series, manifest: dict) -> SavedRun:
    """Writes the ranking, then the manifest that makes the run whole.

    searched: the ids of all queries; one without a row that did not fail had an empty ranking.
    """
    write_run(folder / "run.parquet", table)
    seen = {*table["query_id"].unique().to_pylist(), *(f["query_id"] for f in manifest["failures"])}
    empty = [query_id for query_id in searched if query_id not in seen]
    manifest |= {"empty_rankings": len(empty), "empty_queries": empty,
                 "suite_version": SUITE_VERSION,
                 "run_sha256": digest_of_file(folder / "run.parquet"),
                 "status": "incomplete" if manifest["failures"] else "complete"}
    write_json(folder / "manifest.json", manifest)
    return reopen(folder)  # a run looks the same at first and ever after


def _search_blocks(collection, system, params: Params, doc_ids: set[str], parts: Path,
                   run: str) -> tuple[dict, list[pa.Table]]:
    """Searches block by block, each saved and noted in the ledger before the next; returns the
    manifest's counts and the blocks' rankings. A block that is there counts as searched if it is
    the one that the ledger notes for this run."""
    own = doc_ids if collection.shared_ids else set()
    seen, tables = [], []
    saved = ledger.read(params.outputs).blocks(run)
    for n, block in enumerate(query_blocks(collection, system, params)):
        path = parts / f"{n:06d}.parquet"
        if n not in saved or saved[n] != _block_digest(path):
            table, counts = _search_block(system, block, params.depth, doc_ids, own)
            write_run(path, table)
            write_json(path.with_suffix(".json"), counts)
            with ledger.opened(params.outputs) as book:
                book.append(ledger.BLOCK, run=run, block=n, sha256=_block_digest(path))
        seen.append(json.loads(path.with_suffix(".json").read_text(encoding="utf-8")))
        tables.append(pq.read_table(path))
    if not seen:
        raise SearchError("there is no query to search", "queries", "Give a collection with queries")
    return {name: _total([s[name] for s in seen]) for name in seen[0]}, tables


def query_blocks(collection, system, params: Params):
    """Yields the queries that are searched as lists of (query_id, text), as many as the system has
    saved at a time."""
    positions = query_positions(collection, params)
    wanted, query_ids = set(positions.tolist()), list(collection.ids("queries"))
    chosen = ((query_ids[i], text) for i, text in enumerate(
        texts(collection, "queries", params.query_view)) if i in wanted)
    size = _block_size(system)
    return steps(blocks(chosen, size), f"{system.name}: blocks of {size} queries",
                 -(-len(positions) // size))


def _block_digest(path: Path) -> str | None:
    """The digest of a saved block's two files, None where one is missing."""
    files = (path, path.with_suffix(".json"))
    return digest_of([digest_of_file(f) for f in files]) if all(f.exists() for f in files) else None


def _block_size(system) -> int:
    """How many queries are saved at a time: a system may ask for fewer."""
    return getattr(system, "block", BLOCK)


def _total(values: list):
    """The blocks' counts as one: numbers added, lists joined, dicts added by key, where what a name
    calls the most of something is the greatest."""
    if isinstance(values[0], dict):
        return {name: (max if name.endswith("_most") else _total)([v[name] for v in values])
                for name in values[0]}
    return sum(values, start=type(values[0])())


def _search_block(system, block: list, depth: int, doc_ids: set[str], own: set[str]):
    """The ranking of a block of (query_id, text), and its counts."""
    topk = _asked(system, [query_id for query_id, _ in block if query_id in own], depth, doc_ids)
    start = time.perf_counter()
    answers = (system.answer_block(block) if hasattr(system, "answer_block") else
               _answers(system, [text for _, text in block], topk))
    seconds = time.perf_counter() - start
    table, counts = table_of(block, answers, topk, depth, doc_ids, own,
                             getattr(system, "passages", False))
    return table, {**counts, "notes": system.notes(), "seconds": seconds}


def _asked(system, own: list[str], depth: int, doc_ids: set[str]) -> int:
    """How much to ask for: one more to see whether the cut falls into a tie, and one more for the
    own entry, which in a ranking of passages may stand with all that it has."""
    if getattr(system, "answers", "documents") == "passages":
        return depth + 1 + system.most_passages(own)
    return min(depth + 2, len(doc_ids))


def table_of(block: list, answers: list, topk: int, depth: int, doc_ids: set[str], own: set[str],
             passages: bool) -> tuple[pa.Table, dict]:
    """The ranking of a block of (query_id, text) from its answers to `topk`: checked, without own
    entries, cut; and the counts of that."""
    counts = {"own_entries_excluded": 0, "own_entry_ranks": [], "ties_at_the_cut": 0, "failures": []}
    rows, where = ([], [], []), [np.empty((0, len(PASSAGE_COLUMNS)), np.int32)]
    for (query_id, _), answer in zip(block, answers):
        fault = answer if isinstance(answer, str) else misbehaviour(answer, topk, doc_ids)
        if fault:
            counts["failures"].append({"query_id": query_id, "fault": fault})
            continue
        kept, rank, tied = cut(answer, query_id if query_id in own else None, depth)
        counts["own_entries_excluded"] += query_id in own
        counts["own_entry_ranks"] += [[query_id, rank]] if rank else []
        counts["ties_at_the_cut"] += tied
        for column, values in zip(rows, ([query_id] * len(kept.ids), kept.ids, kept.scores)):
            column.extend(values)
        where += [kept.passages] if passages else []
    return ranked(*rows, np.concatenate(where) if passages else None), counts


def _answers(system, query_texts: list[str], topk: int) -> list:
    """An Answer a query; where the system failed on one, a sentence that says how."""
    if hasattr(system, "search_batch"):
        return system.search_batch(query_texts, topk)
    answers = []
    for text in query_texts:
        try:
            answers.append(Answer(list(system.search(text, topk)), None))
        except (Exception, SystemExit) as error:  # whatever a foreign system raises is its answer
            answers.append(said(error))
    return answers


def misbehaviour(answer: Answer, topk: int, doc_ids: set[str]) -> str | None:
    """What is wrong with an answer, as a sentence; None when it is as it must be."""
    ids, scores, passages = answer
    if len(ids) > topk:
        return f"{len(ids)} identifiers, where {topk} were asked for"
    strange = [i for i in ids if not isinstance(i, str)]
    if strange:  # None among them
        return f"{one_line(_WHOLE.repr(strange[0]), 80)} where an identifier, a text, is asked for"
    if passages is None and len(set(ids)) < len(ids):
        return f"identifier {shown(discreet(next(i for i in ids if ids.count(i) > 1)))} twice"
    unknown = next((i for i in ids if i not in doc_ids), None)
    if unknown is not None:
        return f"identifier {shown(discreet(unknown))}, which the corpus lacks"
    if scores is not None and not _finite(scores, len(ids)):
        return "scores that are no finite float32, or not one an identifier"
    return None


def _finite(scores, n: int) -> bool:
    try:
        with np.errstate(over="ignore"):  # 1e39 becomes infinite, and is refused
            values = np.asarray(scores, np.float64).astype(np.float32)
    except (TypeError, ValueError):
        return False
    return values.shape == (n,) and bool(np.isfinite(values).all())


def _take_in(collection, name: str, params: Params) -> SavedRun:
    """A run file as a saved run: the searched queries, own entries out, cut to the depth."""
    path = find_path(params.run_files[name])
    table, seen = open_run(path, collection)
    searched = searched_ids(collection, params)
    table = table.filter(pc.is_in(table["query_id"], pa.array(searched, pa.string())))
    ranks = own_entry_ranks(table) if collection.shared_ids else []
    table, own = without_own_entries(table, collection)
    table, tied = cut_at(table, params.depth)
    stated = conditions(collection, params) | {
        "system": {"name": name, "version": "run file",
                   "given": {"file": path.name}, "settings": {"sha256": digest_of_file(path)}},
        "views": None}
    folder = _folder(params, stated)
    own_entries = searched.isin(collection.ids("corpus")).sum() if collection.shared_ids else 0
    with only_one(folder):
        if (folder / "manifest.json").exists():
            return _reopened(folder, params)
        _refuse_own_result(path, table, params)
        with _recorded(stated, folder, params) as begun:
            return _save(folder, table, searched, {
                **stated, **begun, "own_entries_excluded": int(own_entries),
                "own_entry_ranks": ranks, "ties_at_the_cut": tied, "failures": [],
                "notes": {**seen, "own_entries_in_the_file": own},
                "cost": dict.fromkeys(("preprocessing_seconds", "index_seconds", "search_seconds",
                                       "peak_memory_mb"))})


def _refuse_own_result(path: Path, table: pa.Table, params: Params) -> None:
    """Raises SearchError for a run file that is a ranking searched here: as a file it would lose
    its labels."""
    book = ledger.read(params.outputs)
    with work_folder() as home:
        write_run(home / "run.parquet", table)
        rankings = [digest_of_file(home / "run.parquet"), digest_of_file(path)]
    if any(map(book.is_result, rankings)):
        raise SearchError("the run file is a run that was searched here", path,
                          "Name its system in systems")


def own_entry_ranks(table: pa.Table) -> list[list]:
    """[query, rank] of each query that a run returns for itself."""
    own = table.filter(pc.equal(table["query_id"], table["doc_id"]))
    return [[q, rank] for q, rank in zip(own["query_id"].to_pylist(), own["rank"].to_pylist())]


def without_own_entries(table: pa.Table, collection) -> tuple[pa.Table, int]:
    """A run without rows in which a query returns itself, and how many those were."""
    if not collection.shared_ids:
        return table, 0
    keep = np.array([q != d for q, d in zip(*(table[c].to_pylist() for c in ("query_id", "doc_id")))],
                    bool)
    left = table.filter(pa.array(keep))
    if len(left) == len(table):
        return table, 0
    return left.set_column(2, "rank", ranks_within(left["query_id"])), len(table) - len(left)


def joined(parts: list[pa.Table]) -> pa.Table:
    """The blocks as one run, in the order of a run's queries."""
    table = pa.concat_tables(parts)
    return ranked(table["query_id"].combine_chunks(), table["doc_id"].combine_chunks(),
                  table["score"].to_numpy(), passages_of(table))
