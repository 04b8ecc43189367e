"""Every measure, from one hits matrix.

Binary gains, but for the graded nDCG, whose name carries its gains. Only queries with a relevant
document count; one that the run lacks scores 0; the number of relevants comes from the qrels. Names are
written as ir_measures writes them; in parentheses stands what a measure can't do without.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from kit.errors import MeasureError, RunError
from kit.relevance.classes import LEVELS
from kit.relevance.grades import FORM, KINDS, gain_table, read_gains


@dataclass(frozen=True)
class Hits:
    """A run held against the qrels.

    query_ids: the n queries with a relevant document, ascending. hits: n × depth bool, whether
    the document at rank column + 1 is relevant. judged: the same for any qrels row.
    returned: n, documents in the run. relevant: n, relevants in the qrels.
    missing: queries among them that the run lacks.
    grades: n × depth uint8, the set of grades of the hit there (see `relevance.grades`), 0 where there
    is none; graded: n × KINDS, relevants by set of grades. agreed: n × depth uint8, at how many levels
    of the IPC the document there has a class in common with the query; classed: n, at how many the
    query has one. None where no measure asks for them.
    """

    query_ids: list[str]
    hits: np.ndarray
    judged: np.ndarray
    returned: np.ndarray
    relevant: np.ndarray
    missing: int
    grades: np.ndarray | None = None
    graded: np.ndarray | None = None
    agreed: np.ndarray | None = None
    classed: np.ndarray | None = None


def hits_of(run: pa.Table, positives: pd.DataFrame, judged: pd.DataFrame | None = None) -> Hits:
    """The hits matrix of a run (query_id, doc_id, rank) under a protocol's positive pairs.

    positives: query_id, doc_id, a row a relevant pair; with `grades` where a measure asks for them.
    judged: the pairs with any qrels row; by default the positives. Raises MeasureError when there is no
    positive pair, RunError for a document twice for one query.
    """
    if positives.empty:
        raise MeasureError("there is no relevant pair", "qrels",
                           "Choose another protocol or slice")
    relevant = positives.drop_duplicates(["query_id", "doc_id"]).groupby("query_id").size()
    query_ids = pa.array(sorted(relevant.index), pa.string())
    row = _repeated_index_in(run["query_id"], query_ids)
    if (row < 0).any():  # a filter copies millions of strings
        run, row = run.filter(pa.array(row >= 0)), row[row >= 0]
    encoded = run["doc_id"].combine_chunks().dictionary_encode()  # once: runs have millions of rows
    docs = encoded.dictionary
    numbers = row * len(docs) + encoded.indices.to_numpy()
    _refuse_repeated(run, numbers)
    rank = run["rank"].to_numpy()
    depth = int(rank.max()) if len(rank) else 0
    returned = np.bincount(row, minlength=len(query_ids))

    def matrix(pairs: pd.DataFrame) -> np.ndarray:
        found = np.zeros((len(query_ids), depth), bool)
        found[row, rank - 1] = _among(numbers, _numbers(pairs, query_ids, docs))
        return found

    hits = matrix(positives)
    held = Hits(query_ids.to_pylist(), hits, hits if judged is None else matrix(judged), returned,
                relevant.sort_index().to_numpy(), int((returned == 0).sum()))
    if "grades" not in positives:
        return held
    return replace(held, grades=_grades_at(hits, row, rank, numbers, positives, query_ids, docs),
                   graded=_by_grades(positives, query_ids))


def _grades_at(hits: np.ndarray, row: np.ndarray, rank: np.ndarray, numbers: np.ndarray,
               positives: pd.DataFrame, query_ids: pa.Array, docs: pa.Array) -> np.ndarray:
    """The set of grades of each hit; row, rank, numbers: of the run's rows, as `hits_of` has them."""
    wanted, found = _numbers(positives, query_ids, docs), np.zeros(hits.shape, np.uint8)
    place = _index_in(pa.array(np.where(numbers >= 0, numbers, -2)), pa.array(wanted))
    found[row, rank - 1] = np.where(place >= 0, positives["grades"].to_numpy()[place], 0)
    return found


def _by_grades(pairs: pd.DataFrame, query_ids: pa.Array) -> np.ndarray:
    """queries × KINDS: how many of the pairs have each set of grades."""
    pairs = pairs.drop_duplicates(["query_id", "doc_id"])
    found = np.zeros((len(query_ids), KINDS), np.int64)
    np.add.at(found, (_index_in(_strings(pairs["query_id"]), query_ids), pairs["grades"].to_numpy()), 1)
    return found


def narrowed(h: Hits, found: pa.Table, pairs: pd.DataFrame) -> Hits:
    """The hits of the same run if only `pairs` were relevant, over the queries that have one.

    found: the run's rows whose pair is relevant (`rows_in` of h's positives); the others can't be
    hits. pairs: query_id, doc_id, at least one, all of them among h's positives, with `grades` if those
    had them.
    """
    relevant = pairs.groupby("query_id").size().sort_index()
    query_ids = pa.array(relevant.index, pa.string())
    row = _index_in(query_ids, pa.array(h.query_ids, pa.string()))
    mine = rows_in(found, pairs)
    hits = np.zeros((len(row), h.hits.shape[1]), bool)
    hits[_index_in(mine["query_id"], query_ids), mine["rank"].to_numpy() - 1] = True
    returned = h.returned[row]
    return Hits(query_ids.to_pylist(), hits, h.judged[row], returned, relevant.to_numpy(),
                int((returned == 0).sum()),
                None if h.grades is None else h.grades[row] * hits,
                None if h.grades is None else _by_grades(pairs, query_ids),
                None if h.agreed is None else h.agreed[row],
                None if h.classed is None else h.classed[row])


def without(h: Hits, rows: pa.Table) -> Hits:
    """The hits once some of the run's rows have left the rankings: what stood below them moves up,
    and nothing is filled in at the end.

    rows: of the same run; those of queries that are not h's change nothing.
    """
    row = _index_in(rows["query_id"], pa.array(h.query_ids, pa.string()))
    gone = np.zeros(h.hits.shape, bool)
    gone[row[row >= 0], rows["rank"].to_numpy()[row >= 0] - 1] = True
    order = np.argsort(gone, axis=1, kind="stable")
    left = ~np.take_along_axis(gone, order, axis=1)
    hits, judged, grades, agreed = (
        None if matrix is None else np.take_along_axis(matrix, order, axis=1) * left
        for matrix in (h.hits, h.judged, h.grades, h.agreed))
    return replace(h, hits=hits, judged=judged, returned=h.returned - gone.sum(axis=1), grades=grades,
                   agreed=agreed)


def with_agreement(h: Hits, run: pa.Table, agreement: Callable) -> Hits:
    """The hits with how far each document agrees with its query. agreement: `classes.agreement` of a
    collection, from n query ids and n document ids."""
    row = _repeated_index_in(run["query_id"], pa.array(h.query_ids, pa.string()))
    rank = run["rank"].to_numpy()
    agreed = np.zeros(h.hits.shape, np.uint8)
    mine = run.filter(pa.array(row >= 0))
    agreed[row[row >= 0], rank[row >= 0] - 1] = agreement(mine["query_id"], mine["doc_id"]).pairs
    alone = agreement(h.query_ids, [""] * len(h.query_ids))
    return replace(h, agreed=agreed, classed=alone.queries)


def rows_in(run: pa.Table, pairs: pd.DataFrame) -> pa.Table:
    """The run's rows whose pair stands in `pairs`."""
    return run.filter(pa.array(_in_pairs(run, pairs)))


def _refuse_repeated(run: pa.Table, numbers: np.ndarray) -> None:
    """Raises RunError for a document twice for one query (numbers: a row's pair): it would count
    twice."""
    ordered = np.sort(numbers)
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    if len(twice):
        row = run.slice(int(np.flatnonzero(numbers == twice[0])[0]), 1).to_pylist()[0]
        raise RunError(f"the run has query {row['query_id']!r}, document {row['doc_id']!r} twice",
                       "run", "Keep one of the two")


def _index_in(values, among: pa.Array) -> np.ndarray:
    """For each value its place in `among`, -1 where it is not there."""
    places = pc.index_in(values, among)
    return pc.fill_null(places, -1).to_numpy().astype(np.int64)


def _repeated_index_in(values, among: pa.Array) -> np.ndarray:
    """`_index_in` of values that come in stretches of equal ones, as a run's queries do."""
    stretches = pc.run_end_encode(pa.chunked_array(values).combine_chunks())
    lengths = np.diff(stretches.run_ends.to_numpy(), prepend=0)
    return np.repeat(_index_in(stretches.values, among), lengths)


def _in_pairs(run: pa.Table, pairs: pd.DataFrame) -> np.ndarray:
    """For each row of the run whether its pair stands in `pairs`."""
    queries, docs = (pc.unique(pa.array(pairs[c], pa.string())) for c in ("query_id", "doc_id"))
    return _among(_numbers(run, queries, docs), _numbers(pairs, queries, docs))


def _numbers(rows, queries: pa.Array, docs: pa.Array) -> np.ndarray:
    """One number a pair of `rows` (query_id, doc_id), -1 where either is not among those given."""
    query, doc = (_index_in(_strings(rows[name]), known)
                  for name, known in (("query_id", queries), ("doc_id", docs)))
    return np.where((query >= 0) & (doc >= 0), query * len(docs) + doc, -1)


def _strings(column):
    return pa.array(column, pa.string()) if isinstance(column, pd.Series) else column


def _among(numbers: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    found = pc.is_in(pa.array(numbers), pa.array(wanted)).to_numpy(zero_copy_only=False)
    return found & (numbers >= 0)


# --- one function a measure: (hits, cutoff or None) -> a value a query ---------------------------

def _top(hits: np.ndarray, k: int | None) -> np.ndarray:
    return hits if k is None else hits[:, :k]


def _discounts(k: int) -> np.ndarray:
    return 1 / np.log2(np.arange(2, k + 2))


def _best_rank(hits: np.ndarray) -> np.ndarray:
    """The rank of the first relevant, 0 where there is none."""
    if not hits.shape[1]:
        return np.zeros(len(hits), np.int64)
    return np.where(hits.any(axis=1), hits.argmax(axis=1) + 1, 0)


def ndcg(h: Hits, k: int) -> np.ndarray:
    """Järvelin & Kekäläinen, TOIS 2002, with trec_eval's log2(rank + 1) and binary gains."""
    top = _top(h.hits, k)
    gain = top @ _discounts(top.shape[1])
    best = np.minimum(k, h.relevant)
    ideal = np.cumsum(_discounts(best.max()))[best - 1]
    return gain / ideal


def recall(h: Hits, k: int) -> np.ndarray:
    return _top(h.hits, k).sum(axis=1) / h.relevant


def precision(h: Hits, k: int) -> np.ndarray:
    return _top(h.hits, k).sum(axis=1) / k


def success(h: Hits, k: int) -> np.ndarray:
    return _top(h.hits, k).any(axis=1).astype(float)


def reciprocal_rank(h: Hits, k: int | None) -> np.ndarray:
    rank = _best_rank(_top(h.hits, k))
    return np.divide(1, rank, out=np.zeros(len(rank)), where=rank > 0)


def average_precision(h: Hits, k: int | None) -> np.ndarray:
    top = _top(h.hits, k)
    at_hit = np.cumsum(top, axis=1) / np.arange(1, top.shape[1] + 1)
    return (at_hit * top).sum(axis=1) / h.relevant


def pres(h: Hits, n_max: int) -> np.ndarray:
    """Magdy & Jones, SIGIR 2010: 1 - (mean rank of the relevants - (n + 1)/2) / N; the i-th
    relevant, where it is missed, takes rank N + i, i counted on from those found."""
    top, n = _top(h.hits, n_max), h.relevant
    found = top.sum(axis=1)
    ranks = top @ np.arange(1, top.shape[1] + 1)
    missed = n - found
    ranks = ranks + missed * n_max + (n * (n + 1) - found * (found + 1)) / 2
    return 1 - (ranks / n - (n + 1) / 2) / n_max


def primary_ndcg(h: Hits, k: int) -> np.ndarray:
    rank = _best_rank(_top(h.hits, k))
    return np.where(rank > 0, 1 / np.log2(np.maximum(rank, 1) + 1), 0.0)


def judged_share(h: Hits, k: int) -> np.ndarray:
    seen = np.minimum(h.returned, k)
    return np.divide(_top(h.judged, k).sum(axis=1), seen, out=np.zeros(len(seen)), where=seen > 0)


def graded_ndcg(h: Hits, k: int, gains: np.ndarray) -> np.ndarray:
    """nDCG with linear gains (Järvelin & Kekäläinen, TOIS 2002, without the exponent of others):
    Σ gain / log2(rank + 1) over the first k, by that of all relevants in the order of their gains.
    gains: KINDS, by set of grades; NaN where no relevant has it."""
    worth, top = np.nan_to_num(gains), _top(h.grades, k)
    gain = worth[top] @ _discounts(top.shape[1])
    order = np.argsort(-worth, kind="stable")
    ends = np.minimum(np.cumsum(h.graded[:, order], axis=1), k)  # how many of the first k are so good
    sums = np.append(0, np.cumsum(_discounts(ends.max())))[np.c_[np.zeros(len(ends), int), ends]]
    return gain / (np.diff(sums, axis=1) @ worth[order])


def class_agreement(h: Hits, k: int, level: int) -> np.ndarray:
    """The share of the returned first k that agree at so many levels; NaN where the query has none."""
    seen = np.minimum(h.returned, k)
    agree = (_top(h.agreed, k) >= level).sum(axis=1)
    share = np.divide(agree, seen, out=np.zeros(len(seen)), where=seen > 0)
    return np.where(h.classed >= level, share, np.nan)


@dataclass(frozen=True)
class Measure:
    """A kind of measure. cutoff: "needed", "optional". per_query: None for a share over all. all_queries:
    whether every query has a value; one that leaves some out can't tell two systems apart by query.
    asks: "grades" or "classes" of a collection, if it needs any."""

    sentence: str
    cutoff: str
    per_query: Callable | None
    all_queries: bool = True
    asks: str = ""


MEASURES = {
    "nDCG": Measure("How near the ranking of the first {k} is to the best possible one: a relevant "
                    "document counts less the lower it stands; 1 is perfect.", "needed", ndcg),
    "R": Measure("The share of a query's relevant documents that stand among the first {k}.",
                 "needed", recall),
    "P": Measure("The share of the first {k} documents that are relevant.", "needed", precision),
    "Success": Measure("The share of queries with at least one relevant document among the "
                       "first {k}.", "needed", success),
    "RR": Measure("One divided by the rank of the first relevant document{within}: 1 if it stands "
                  "first, 0.5 if second.", "optional", reciprocal_rank),
    "AP": Measure("The precision at the rank of each relevant document{within}, averaged over all "
                  "of the query's relevant documents.", "optional", average_precision),
    "PRES": Measure("How early the relevant documents come for somebody who reads {k} documents, "
                    "every missed one counted as found after that.", "needed", pres),
    "primary_nDCG": Measure("Like nDCG, but only the best-ranked relevant document counts: "
                            "1 if it stands first, 0 if it is not among the first {k}.", "needed",
                            primary_ndcg),
    "GoldCoverage": Measure("The share of all relevant documents of all queries together that "
                            "stand among their query's first {k}.", "needed", None),
    "Judged": Measure("The share of the first {k} documents that have a label at all; the others "
                      "may be relevant too, nobody has looked.", "needed", judged_share),
}
MEANINGLESS = ("bpref", "infAP")
_NAME = re.compile(r"(\w+?(?:\([^()@]*\))?)(?:@([1-9]\d{0,8}))?", re.ASCII)


def _graded(argument: str) -> Measure:
    gains = read_gains(argument)
    said = ", ".join(f"{grade} {gain:g}" for grade, gain in gains.items())
    return Measure(f"Like nDCG@{{k}}, but a relevant document counts as much as its grade is worth, {said}, "
                   "and the highest where it has several: linear gains by log2(rank + 1), the best "
                   "ranking from the qrels.", "needed", partial(graded_ndcg, gains=gain_table(gains)),
                   asks="grades")


def _agreeing(argument: str) -> Measure:
    if argument not in LEVELS:
        raise MeasureError(f"{argument!r} is no level of the IPC", "measures",
                           f"Write ClassAgreement(subclass)@10, say; levels are {', '.join(LEVELS)}")
    return Measure(f"The share of the first {{k}} documents, or of those returned if they are fewer, that "
                   f"have an IPC {argument} in common with the query. A document without one has none in "
                   "common; a query without one is left out. It tells where a system looks, not how well.",
                   "needed", partial(class_agreement, level=LEVELS.index(argument) + 1), False, "classes")


FAMILIES = {"nDCG": ("nDCG(GRADE=GAIN;…)@k", _graded),  # name: (how it is written, what makes one)
            "ClassAgreement": ("ClassAgreement(LEVEL)@k", _agreeing)}
_SHOWN = {"nDCG": "X=3;Y=2;A=1", "ClassAgreement": "subclass"}


def forms() -> dict[str, str]:
    """{how a measure is written: its sentence}, of every kind."""
    named = {name if m.cutoff == "optional" else f"{name}@k": m for name, m in MEASURES.items()}
    named |= {form: make(_SHOWN[name]) for name, (form, make) in FAMILIES.items()}
    return {form: m.sentence.format(k="k", within="") for form, m in named.items()}


@lru_cache(maxsize=256)
def measure_of(kind: str) -> Measure:
    """The measure of a kind as `parse_measure` gives it. Raises MeasureError for what is none."""
    name, opened, argument = kind.partition("(")
    if name in FAMILIES and argument.endswith(")"):
        return FAMILIES[name][1](argument.removesuffix(")"))
    if kind in MEASURES:
        return MEASURES[kind]
    if opened or name in FAMILIES:
        raise MeasureError(f"unknown measure {kind!r}", "measures", "In parentheses stand the gains of "
                           f"{FORM}, with semicolons between, or the level of ClassAgreement(subclass)@10")
    raise MeasureError(f"unknown measure {kind!r}", "measures", f"Known are {', '.join(forms())}")


def has_values(name: str) -> bool:
    """Whether every query has a value of the measure."""
    measure = measure_of(parse_measure(name)[0])
    return measure.per_query is not None and measure.all_queries


def asked(names: list[str], what: str) -> list[str]:
    """The measures that ask a collection for "grades" or "classes"."""
    return [name for name in names if measure_of(parse_measure(name)[0]).asks == what]


def parse_measure(name: str) -> tuple[str, int | None]:
    """("nDCG", 10) of "nDCG@10", ("nDCG(XY=2;A=1)", 10) of "nDCG(XY=2;A=1)@10". Raises MeasureError
    for what is no measure here."""
    match = _NAME.fullmatch(name)
    kind, k = (match[1], int(match[2]) if match[2] else None) if match else (name, None)
    if kind in MEANINGLESS:
        raise MeasureError(f"{kind} has no meaning here: it needs documents that somebody judged "
                           "not relevant, and there are none", "measures", "Leave it out")
    cutoff = measure_of(kind).cutoff
    if k is None and cutoff == "needed":
        raise MeasureError(f"{kind} needs a cutoff", "measures", f"Write {kind}@10, say")
    return kind, k


def sentence(name: str) -> str:
    """What a measure says, in one plain sentence."""
    kind, k = parse_measure(name)
    return measure_of(kind).sentence.format(k=k, within=f" among the first {k}" if k else "")


def per_query(h: Hits, names: list[str]) -> pd.DataFrame:
    """A value a query (rows, by query_id) and measure (columns); NaN where a measure leaves a query
    out, and for shares over all."""
    columns = {}
    for name in names:
        kind, k = parse_measure(name)
        compute = measure_of(kind).per_query
        columns[name] = compute(h, k) if compute else np.nan
    return pd.DataFrame(columns, index=pd.Index(h.query_ids, name="query_id"), columns=names)


def mean(h: Hits, name: str, values: pd.Series) -> float:
    """The figure of one measure: the mean over all queries that it does not leave out, or the share over
    all pairs."""
    kind, k = parse_measure(name)
    if measure_of(kind).per_query is None:
        return float(_top(h.hits, k).sum() / h.relevant.sum())
    return average(values.dropna())


def average(values) -> float:
    """The mean of values, by the exact sum (Shewchuk 1997; `math.fsum`): the same in any order and
    wherever it is asked for, so that no figure is rounded here to 0.667 and there to 0.668. NaN of no value."""
    return math.fsum(values) / len(values) if len(values) else math.nan
