"""Fusion: several saved runs of one collection, made under one set of conditions, as one ranking.

Nothing is searched. What is fused are rankings as they are saved: own entries out, cut to the
depth. A document's contributions are summed in float64 from the least to the greatest, so that the
order in which runs are given changes nothing, and rounded to float32; the tie rule orders them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import fsum, sqrt
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import BaseModel, ConfigDict, ValidationError

from kit import SUITE_VERSION
from kit.errors import RunError, SearchError
from kit.files import digest_of
from kit.params import Params
from kit.retrieval.run import cut_at, ranked
from kit.retrieval.system import first_stage

NAME = "fusion"  # in `systems` and on scorecards
MANY_VIEWS = {"view": "those of its runs"}  # of the corpus, where they differ
@dataclass(frozen=True)
class Fusion:
    """How runs are fused. method: rrf, minmax or zscore. k: of rrf. weights: one a run (None: 1
    each), not for rrf. of: the systems of an experiment whose runs are fused."""

    method: str = "rrf"
    k: int = 60
    weights: tuple[float, ...] | None = None
    of: tuple[str, ...] = ()

    name, version = NAME, "1"

    @classmethod
    def from_params(cls, params: Params) -> "Fusion":
        """Raises SearchError for systems that can't be fused, and weights that are not theirs."""
        others = [n for n in dict.fromkeys([*params.systems, *params.run_files])
                  if (first_stage(n) or n) != NAME]
        of = params.fusion_of
        if of is None:  # a second stage is the same candidates once more
            of = [n for n in others if first_stage(n) is None]
        strange = next((n for n in of if n not in others), None)
        if strange is not None:
            raise SearchError(f"'{strange}' is no system of the experiment that can be fused",
                              "fusion_of", f"Name of {', '.join(others)}")
        if len(set(of)) < len(of) or len(of) < 2:
            raise SearchError("a fusion needs two systems or more, each named once",
                              "fusion_of, systems", "Name them, such as [bm25, embedding]")
        given = params.fusion_weights
        if given is not None and set(given) != set(of):
            raise SearchError(f"the weights are those of {', '.join(sorted(given))}",
                              "fusion_weights", f"Give one a system: {', '.join(of)}")
        made = cls(params.fusion_method, params.fusion_k,
                   None if given is None else tuple(given[name] for name in of), tuple(of))
        made.require_weights(len(of))
        return made

    def require_weights(self, runs: int) -> None:
        """Raises SearchError for weights that rrf does not take, or not one a run."""
        if self.weights is None:
            return
        if self.method == "rrf":
            raise SearchError("reciprocal rank fusion takes no weights", "fusion weights",
                              "Leave them out, or fuse scores by minmax or zscore")
        if len(self.weights) != runs:
            raise SearchError(f"{len(self.weights)} weights for {runs} runs", "fusion weights",
                              "Give one a run")

    @property
    def stated(self) -> dict:
        """The method and what it depends on, as a run states it; weights stand with their runs."""
        return {"method": self.method, **({"k": self.k} if self.method == "rrf" else {})}


class Fused(NamedTuple):
    """A fused ranking. ties_at_the_cut: queries whose cut fell into a tie. failures: a query each
    that a run failed on, which has no rows. lacking: queries of some runs' rankings, not of all."""

    table: pa.Table
    ties_at_the_cut: int
    failures: list[dict]
    lacking: int


# --- the formulas ---------------------------------------------------------------------------------

def rrf(runs: list[pa.Table], k: float = 60) -> pa.Table:
    """Reciprocal rank fusion: a document's score is the sum of 1 / (k + rank) over the runs that
    return it (Cormack, Clarke, Büttcher, SIGIR 2009). runs: as saved, with ranks from 1."""
    shares = [1 / (k + run["rank"].to_numpy().astype(np.float64)) for run in runs]
    pairs = _pairs(runs)
    return ranked(*pairs.ids(), _summed(pairs.spread(shares, [np.zeros(pairs.queries)] * len(runs))))


def weighted(runs: list[pa.Table], method: str, weights: tuple[float, ...] | None = None) -> pa.Table:
    """Weighted score fusion: the sum of weight · normalized score over the runs (CombSUM of Fox &
    Shaw, TREC-2, 1994, where all weights are 1, the default).

    method: minmax or zscore, of each query's scores in each run. A document that a run does not
    return for a query gets what the run's last document got: 0 by minmax, the lowest z by zscore;
    a run without a ranking for a query gives nothing to any. Sums that differ stay apart in float32,
    by the least that it can hold.
    """
    normalize = NORMALIZED[method]
    shares, floors, pairs = [], [], _pairs(runs)
    for n, (run, weight) in enumerate(zip(runs, weights or (1.0,) * len(runs), strict=True)):
        scores, queries = run["score"].to_numpy().astype(np.float64), pairs.query_of(n)
        made, floor = np.zeros(len(scores)), np.zeros(pairs.queries)
        for rows in _stretches(queries):
            made[rows] = weight * normalize(scores[rows])
            floor[queries[rows.start]] = made[rows].min()
        shares.append(made)
        floors.append(floor)
    sums = _summed(pairs.spread(shares, floors))
    return ranked(*pairs.ids(), _kept_apart(pairs.query, sums))


def min_max(scores: np.ndarray) -> np.ndarray:
    """(s - min) / (max - min) (Lee, SIGIR 1997); 1 where all are equal. scores: float64."""
    least, most = scores.min(), scores.max()
    return np.ones(len(scores)) if least == most else (scores - least) / (most - least)


def z_score(scores: np.ndarray) -> np.ndarray:
    """(s - mean) / standard deviation, with n below the root (ZMUV of Montague & Aslam, CIKM 2001);
    0 where all are equal. scores: float64."""
    if scores.min() == scores.max():
        return np.zeros(len(scores))
    mean = fsum(scores) / len(scores)  # exact sums: the same on every machine
    return (scores - mean) / sqrt(fsum((scores - mean) ** 2) / len(scores))


NORMALIZED: dict[str, Callable] = {"minmax": min_max, "zscore": z_score}


@dataclass(frozen=True)
class _Pairs:
    """The pairs that any run has. query, doc: codes of n pairs; of_rows: {run: the pair of each of
    its rows}; queries: how many there are."""

    query: np.ndarray
    doc: np.ndarray
    of_rows: list[np.ndarray]
    query_ids: pa.Array
    doc_ids: pa.Array

    @property
    def queries(self) -> int:
        return len(self.query_ids)

    def ids(self) -> tuple[pa.Array, pa.Array]:
        return self.query_ids.take(pa.array(self.query)), self.doc_ids.take(pa.array(self.doc))

    def query_of(self, run: int) -> np.ndarray:
        """The query's code of each row of a run."""
        return self.query[self.of_rows[run]]

    def spread(self, shares: list[np.ndarray], floors: list[np.ndarray]) -> np.ndarray:
        """n × runs: a run's share of each pair; its floor for the query where it lacks the pair."""
        columns = np.stack([floor[self.query] for floor in floors], axis=1)
        for run, (rows, values) in enumerate(zip(self.of_rows, shares)):
            columns[rows, run] = values
        return columns


def _pairs(runs: list[pa.Table]) -> _Pairs:
    encoded = [pa.concat_tables([run.select([name]) for run in runs])[name].combine_chunks()
               .dictionary_encode() for name in ("query_id", "doc_id")]
    query, doc = (e.indices.to_numpy().astype(np.int64) for e in encoded)
    docs = max(len(encoded[1].dictionary), 1)
    found, of_rows = np.unique(query * docs + doc, return_inverse=True)
    borders = np.cumsum([len(run) for run in runs])[:-1]
    return _Pairs(found // docs, found % docs, np.split(of_rows.ravel(), borders),
                  encoded[0].dictionary, encoded[1].dictionary)


def _stretches(codes: np.ndarray) -> list[slice]:
    """The rows of each query; a run holds a query's rows together."""
    borders = np.flatnonzero(np.diff(codes, prepend=-1, append=-1)).tolist()
    return [slice(start, end) for start, end in zip(borders, borders[1:])]


def _summed(columns: np.ndarray) -> np.ndarray:
    """The sum of each row, from its least value on: no order of the columns changes it."""
    total = np.zeros(len(columns))
    for column in np.sort(columns, axis=1).T:
        total += column
    return total


def _kept_apart(query: np.ndarray, sums: np.ndarray) -> np.ndarray:
    """The sums in float32, so that a query's sums that differ also do there: rounding would make
    ties, and the tie rule turn neighbours round."""
    order = np.lexsort((-sums, query))
    q, s = query[order], sums[order]
    rounded, same, falls = s.astype(np.float32), q[1:] == q[:-1], s[1:] < s[:-1]
    while True:  # nearly always once: a sum is seldom that near to the next
        most = np.where(falls, np.nextafter(rounded[:-1], np.float32(-np.inf)), rounded[:-1])
        lower = np.where(same, np.minimum(rounded[1:], most), rounded[1:])
        if (lower == rounded[1:]).all():
            break
        rounded[1:] = lower
    found = np.empty_like(rounded)
    found[order] = rounded
    return found


# --- saved runs -----------------------------------------------------------------------------------

def fuse(runs: list, fusion: Fusion) -> Fused:
    """The fusion of saved runs, to their depth; nothing is saved.

    A query that one of them failed on gets no ranking. Raises what `require_fusable` raises, and
    SearchError for weights that are not one a run.
    """
    require_fusable(runs)
    fusion.require_weights(len(runs))
    failures = _failures(runs)
    failed = pa.array([f["query_id"] for f in failures], pa.string())
    tables = [run.table.filter(pc.invert(pc.is_in(run.table["query_id"], failed))) for run in runs]
    table = rrf(tables, fusion.k) if fusion.method == "rrf" else weighted(
        tables, fusion.method, fusion.weights)
    answered = [set(t["query_id"].unique().to_pylist()) for t in tables]
    lacking = len(set.union(*answered) - set.intersection(*answered))
    return Fused(*cut_at(table, runs[0].manifest["depth"]), failures, lacking)


def _failures(runs: list) -> list[dict]:
    """A failure a query, with what each run says of it, by query_id."""
    said = {}
    for run in sorted(runs, key=_place):
        for failure in run.manifest["failures"]:
            said.setdefault(failure["query_id"], []).append(f"{run.system}: {failure['fault']}")
    return [{"query_id": q, "fault": "; ".join(dict.fromkeys(said[q]))} for q in sorted(said)]


def require_fusable(runs: list) -> None:
    """Raises RunError unless there are two runs or more, made by this suite on one collection, with
    one depth, sample and query view; the message says which run differs in what."""
    if len(runs) < 2:
        raise RunError("a fusion needs two runs or more", runs[0].folder if runs else "",
                       "Name another run's folder")
    first = _conditions(runs[0])
    first["suite"] = _major(SUITE_VERSION)
    for run in runs:
        mine = _conditions(run)
        differ = [f"{name} ({_short(mine[name])}, not {_short(value)})" for name, value in first.items()
                  if mine[name] != value and None not in (mine[name], value)]
        if differ:
            raise RunError(f"the run of {run.system} can't be fused with that of {runs[0].system}: it "
                           f"differs in {', '.join(differ)}", run.folder,
                           "Fuse runs of one collection, depth, sample and query view")
        if first["query view"] is None:  # a run file states none, and is held against none
            first["query view"] = mine["query view"]


class _Part(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True)


class _System(_Part):
    name: str
    version: str
    given: dict


class _View(_Part):
    view: str


class _QueryView(_View):
    sha256: str


class _Views(_Part):
    query: _QueryView
    corpus: _View


class _Prints(_Part):
    together: str


class _Failure(_Part):
    query_id: str
    fault: str


class _Event(_Part):
    sha256: str


class _Manifest(_Part):
    """What a fusion asks of a run's manifest."""

    system: _System
    environment: str
    generation: str | None
    fingerprints: _Prints
    depth: int
    queries: int
    corpus_size: int
    sample: dict | None
    views: _Views | None
    failures: list[_Failure]
    empty_queries: list[str]
    own_entries_excluded: int
    notes: dict
    cost: dict[str, float | None]
    suite_version: str
    run_sha256: str
    status: str
    ledger: _Event | None = None
    git: dict | None = None


def require_whole(manifest: dict, folder) -> None:
    """Raises RunError for a manifest that lacks what a fusion asks of it, or has it otherwise."""
    try:
        _Manifest.model_validate(manifest)
    except ValidationError as error:
        found = error.errors()
        lacking = [e["loc"][0] for e in found if e["type"] == "missing" and len(e["loc"]) == 1]
        what = (f"lacks {', '.join(lacking[:3])}" if lacking else
                f"is not as the kit writes it: {'.'.join(map(str, found[0]['loc']))}")
        raise RunError(f"the run's manifest {what}", folder,
                       "Search again, and fuse that run") from error


def _conditions(run) -> dict:
    """What must be equal in runs that are fused; None is held against nothing."""
    m = run.manifest
    view = m["views"]["query"] if m["views"] else None
    return {
        "environment": m["environment"], "fingerprints": m["fingerprints"]["together"],
        "depth": m["depth"], "sample": m["sample"] or "all queries", "queries": searched(run),
        "documents": m["corpus_size"], "query view": view and f"{view['view']} {view['sha256'][:8]}",
        "suite": _major(m["suite_version"])}


def _major(version: str) -> str:
    return version.split(".")[0]


def _short(value) -> str:
    if isinstance(value, dict):
        return " ".join(f"{name} {v}" for name, v in sorted(value.items()))
    if isinstance(value, list):
        return f"{len(value)} of them"
    return str(value)[:40]


def searched(run) -> list[str]:
    """The identifiers of all queries that a run was made for, in ascending order."""
    m = run.manifest
    return sorted({*run.table["query_id"].unique().to_pylist(), *m["empty_queries"],
                   *(f["query_id"] for f in m["failures"])})


def stated_of(runs: list, fusion: Fusion) -> dict:
    """What a fused run is made of, as a manifest states it; the order of the runs changes nothing.

    `given` names systems with their settings, which stay the same from mode to mode; `settings` the
    rankings themselves. Raises what `fuse` raises.
    """
    require_fusable(runs)
    fusion.require_weights(len(runs))
    weights = fusion.weights or (1.0,) * len(runs)
    parts = sorted(zip(runs, weights), key=lambda part: (_place(part[0]), part[1]))
    names = _names([run.system for run, _ in parts])
    given, settings = {}, dict(fusion.stated)
    for name, (run, weight) in zip(names, parts):
        system = run.manifest["system"]
        weighs = {} if fusion.method == "rrf" else {"weight": float(weight)}
        views = run.manifest["views"]
        given[name] = {"version": system["version"], "given": system["given"],
                       "corpus_view": views and views["corpus"]["view"], **weighs}
        settings[f"run of {name}"] = run.manifest["run_sha256"]
        settings |= {f"weight of {name}": w for w in weighs.values()}
    first = runs[0].manifest
    same = ("environment", "fingerprints", "depth", "queries", "corpus_size", "sample")
    return {
        **{name: first[name] for name in same},
        "generation": max(filter(None, (run.manifest["generation"] for run in runs)), default=None),
        "system": {"name": NAME, "version": Fusion.version,
                   "given": fusion.stated | {"of": given}, "settings": settings},
        "views": _views(runs), "failed_queries": len(_failures(runs))}


def _place(run) -> tuple:
    """Where a run stands among those it is fused with, in whatever order they are given."""
    m = run.manifest  # two settings of a system may give one ranking
    return run.system, m["run_sha256"], digest_of([m["system"], m["views"], m["failures"]])


def _names(systems: list[str]) -> list[str]:
    """The names, with a number behind the second of two that are alike."""
    return [f"{name} #{systems[:i].count(name) + 1}" if name in systems[:i] else name
            for i, name in enumerate(systems)]


def _views(runs: list) -> dict | None:
    """The one query view, and the corpus view where there is one; None if no run states any."""
    stated = [run.manifest["views"] for run in runs if run.manifest["views"]]
    if not stated:
        return None
    corpora = [views["corpus"] for views in stated]
    one = len(stated) == len(runs) and all(view == corpora[0] for view in corpora)
    return {"query": stated[0]["query"], "corpus": corpora[0] if one else MANY_VIEWS}


def origin_of(runs: list) -> dict:
    """Of the runs that are fused, what a reader of the fused run must know: own entries, notes,
    lines in the ledger, and the sums of their seconds (null where one states none)."""
    notes = {}
    for run in sorted(runs, key=_place):
        notes |= {f"{run.system}: {name}": count for name, count in run.manifest["notes"].items()}
    return {
        "own_entries_excluded": max(run.manifest["own_entries_excluded"] for run in runs),
        "notes": notes,
        "inputs": [{"system": run.system, "run_sha256": run.manifest["run_sha256"],
                    **{name: run.manifest.get(name) for name in ("ledger", "git")}} for run in runs],
        "cost": {f"inputs_{name}": _total([_seconds(run, name) for run in runs])
                 for name in ("index_seconds", "search_seconds")}}


def _seconds(run, name: str) -> float | None:
    """A run's own seconds and those of what it was fused of."""
    cost = run.manifest["cost"]
    return _total([cost.get(name), cost.get(f"inputs_{name}", 0.0)])


def _total(values: list[float | None]) -> float | None:
    return None if None in values else fsum(values)
