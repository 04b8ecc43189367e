"""The ranking format and the tie rule: a run is query_id, doc_id, rank, score.

The tie rule is trec_eval's own: float32 score descending, then doc_id descending by bytes. Runs
hold their queries in ascending order of query_id.

A run of passages has three more columns: the passage's number within its document, from 0, and where
it starts and ends in the document's text (characters of the run's corpus view). In such a run a row is
a document with the passage that scored best, or a passage of its own: then a document may stand more
than once, and is scored by the first.
"""

import math
import re
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from kit.collection.schema import shown
from kit.errors import RunError
from kit.files import written_whole

SCHEMA = pa.schema([("query_id", pa.string()), ("doc_id", pa.string()),
                    ("rank", pa.int32()), ("score", pa.float32())])
PASSAGE_COLUMNS = ("passage", "start", "end")
PASSAGE_SCHEMA = pa.schema([*SCHEMA, *((name, pa.int32()) for name in PASSAGE_COLUMNS)])
_BLANKS, _RANK = re.compile(r"[ \t]+"), re.compile(r"\d{1,9}", re.ASCII)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def schema_of(names: list[str]) -> pa.Schema:
    """The schema of a run with these columns."""
    return PASSAGE_SCHEMA if "passage" in names else SCHEMA


def ranked(query_ids, doc_ids, scores, passages: np.ndarray | None = None) -> pa.Table:
    """A run from arrays of one length: ordered by the tie rule, ranks from 1. passages: int32, rows
    × PASSAGE_COLUMNS; of a document's passages that tie, the first stands first."""
    scores = np.asarray(scores, dtype=np.float32) + np.float32(0)  # -0.0 becomes 0.0
    table = pa.table({"query_id": pa.array(query_ids, pa.string()),
                      "doc_id": pa.array(doc_ids, pa.string()), "score": scores})
    order = [("query_id", "ascending"), ("score", "descending"), ("doc_id", "descending")]
    if passages is not None:
        for name, values in zip(PASSAGE_COLUMNS, passages.T):
            table = table.append_column(name, pa.array(values, pa.int32()))
        order.append(("passage", "ascending"))
    table = table.take(pc.sort_indices(table, sort_keys=order))
    table = table.add_column(2, "rank", ranks_within(table["query_id"]))
    return table.cast(schema_of(table.column_names))


def passages_of(run: pa.Table) -> np.ndarray | None:
    """A run's passages, rows × PASSAGE_COLUMNS; None for a run without."""
    if "passage" not in run.column_names:
        return None
    return np.stack([run[name].to_numpy() for name in PASSAGE_COLUMNS], axis=1)


def documents_of(run: pa.Table) -> pa.Table:
    """The run with each document once, where it stands first, ranks anew."""
    if "passage" not in run.column_names:
        return run
    docs = _codes(run["doc_id"]).astype(np.int64)
    pairs = _codes(run["query_id"]) * (docs.max(initial=0) + 1) + docs
    first = np.sort(np.unique(pairs, return_index=True)[1])
    if len(first) == len(run):
        return run
    left = run.take(pa.array(first))
    return left.set_column(2, "rank", ranks_within(left["query_id"]))


def ranks_within(query_ids) -> pa.Array:
    """1, 2, 3 … within each stretch of equal query ids."""
    codes = _codes(query_ids)
    starts = np.flatnonzero(np.diff(codes, prepend=-1))
    lengths = np.diff(np.append(starts, len(codes)))
    return pa.array(np.arange(len(codes)) - np.repeat(starts, lengths) + 1, pa.int32())


def _codes(ids) -> np.ndarray:
    column = ids.combine_chunks() if isinstance(ids, pa.ChunkedArray) else ids
    return column.dictionary_encode().indices.to_numpy(zero_copy_only=False)


def rank_within_ids(ids: pa.Array) -> np.ndarray:
    """For each of n distinct identifiers its place in ascending byte order, 0 to n - 1."""
    places = np.empty(len(ids), dtype=np.int64)
    places[pc.sort_indices(ids).to_numpy()] = np.arange(len(ids))
    return places


def cut_at(run: pa.Table, depth: int) -> tuple[pa.Table, int]:
    """A run cut to the depth, and how many of its queries have a tie at the cut."""
    rank, score = run["rank"].to_numpy(), run["score"].to_numpy()
    last = np.flatnonzero(rank == depth + 1)
    tied = int((score[last] == score[last - 1]).sum())
    return run.filter(pa.array(rank <= depth)), tied


def write_run(path: Path, run: pa.Table) -> None:
    """Writes a run as Parquet, whole or not at all."""
    with written_whole(path) as part:
        pq.write_table(run.cast(schema_of(run.column_names)), part)


def write_trec(path: Path, run: pa.Table, name: str) -> None:
    """Writes a run as a TREC file. Raises RunError for an identifier with white space."""
    name = re.sub(r"\s+", "-", name) or "run"
    lines = []
    for row in run.to_pylist():
        for column in ("query_id", "doc_id"):
            if re.search(r"\s", row[column]) or not row[column]:
                raise RunError(f"a TREC file can't hold the identifier {row[column]!r}", path,
                               "Keep the Parquet run")
        lines.append(f"{row['query_id']} Q0 {row['doc_id']} {row['rank']} "
                     f"{np.float32(row['score'])!s} {name}\n")
    with written_whole(path) as part:
        part.write_text("".join(lines), encoding="utf-8")


@dataclass(frozen=True)
class Rows:
    """The rows of a run file as they stand in it; `lines` says where (line of a TREC file, row of
    a Parquet file, both from 1). ranks: -1 where the file states none that can be read."""

    path: Path
    unit: str
    queries: list[str]
    docs: list[str]
    ranks: list[int]
    scores: list[float]
    lines: list[int]

    def where(self, i: int) -> str:
        """The place of row i, for an error."""
        return f"{self.path}, {self.unit} {self.lines[i]}"

    def kept(self, keep: np.ndarray) -> "Rows":
        """The rows for which the mask is true."""
        chosen = np.flatnonzero(keep)
        return replace(self, **{name: [getattr(self, name)[i] for i in chosen] for name in (
            "queries", "docs", "ranks", "scores", "lines")})

    def ranked(self) -> pa.Table:
        """The run: these rows under the tie rule."""
        return ranked(self.queries, self.docs, self.scores)


def read_rows(path: Path) -> Rows:
    """The rows of a TREC or Parquet run file.

    Raises RunError, with line and identifier, for what is not a run: no row, another encoding, a
    wrong number of columns, an empty identifier, a score that is no finite float32, a document
    twice for one query.
    """
    path = Path(path)
    try:
        if not path.is_file():  # raises itself below a folder that may not be entered
            raise RunError("there is no such run file", path, "Give a TREC or Parquet run")
        with open(path, "rb") as file:
            is_parquet = file.read(4) == b"PAR1"
        rows = _parquet_rows(path) if is_parquet else _trec_rows(path)
    except OSError as error:
        raise RunError(f"the run can't be read: {error}", path, "Check the file") from error
    if not rows.queries:
        raise RunError("the run has no row", path, "Give a run with at least one row")
    _refuse_bad_rows(rows)
    return rows


def _trec_rows(path: Path) -> Rows:
    raw = path.read_bytes()
    try:
        # utf-8-sig: a byte order mark is no part of the first identifier
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[:error.start].count(b"\n") + 1
        raise RunError("the run is not UTF-8", f"{path}, line {line}", "Save it as UTF-8") from error
    if "\0" in text:
        line = text[:text.index("\0")].count("\n") + 1
        raise RunError("the run is not UTF-8 text: it holds NUL bytes", f"{path}, line {line}",
                       "Save it as UTF-8")
    rows = Rows(path, "line", [], [], [], [], [])
    for number, line in enumerate(text.split("\n"), 1):
        columns = _BLANKS.split(line.removesuffix("\r").strip(" \t"))
        if columns == [""]:
            continue
        if len(columns) != 6:
            raise RunError(f"a line has {len(columns)} columns, not 6: {shown(' '.join(columns))}",
                           f"{path}, line {number}",
                           "A TREC line is: query Q0 document rank score name")
        query, _, doc, rank, score, _ = columns
        if not _NUMBER.fullmatch(score):
            raise RunError(f"the score {shown(score)} of query {shown(query)}, document {shown(doc)} "
                           "is no finite number", f"{path}, line {number}",
                           "Mend or leave out the row")
        rows.queries.append(query)
        rows.docs.append(doc)
        rows.ranks.append(int(rank) if _RANK.fullmatch(rank) else -1)
        rows.scores.append(float(score))
        rows.lines.append(number)
    return rows


def _parquet_rows(path: Path) -> Rows:
    try:
        schema = pq.read_schema(path)  # first: of a column that stands twice no table is read
        _refuse_columns(schema, path)
        stated = schema.names.count("rank") == 1 and pa.types.is_integer(schema.field("rank").type)
        table = pq.read_table(path, columns=["query_id", "doc_id", "score", *["rank"] * stated])
        table.validate(full=True)  # bytes that are no UTF-8
    except (pa.ArrowException, ValueError) as error:  # a name of a column may be no UTF-8
        raise RunError(f"the run is no readable Parquet file: {error}", path,
                       "Write it anew") from error
    n = len(table)
    ranks = table["rank"].to_pylist() if stated else [None] * n
    return Rows(path, "row", table["query_id"].to_pylist(), table["doc_id"].to_pylist(),
                [-1 if r is None else r for r in ranks],
                [math.nan if s is None else float(s) for s in table["score"].to_pylist()],
                list(range(1, n + 1)))


def _refuse_columns(schema: pa.Schema, path: Path) -> None:
    for name, kind, fits in (("query_id", "strings", _is_text), ("doc_id", "strings", _is_text),
                             ("score", "numbers", _is_number)):
        if schema.names.count(name) != 1:
            raise RunError(f"the run has the column '{name}' not once", path,
                           "A run has query_id, doc_id, rank and score")
        if not fits(schema.field(name).type):
            raise RunError(f"the column '{name}' holds {schema.field(name).type}, not {kind}", path,
                           "Write it with the types of a run")


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def _is_number(kind: pa.DataType) -> bool:
    return pa.types.is_floating(kind) or pa.types.is_integer(kind)


def _refuse_bad_rows(rows: Rows) -> None:
    """Raises RunError for empty identifiers, scores beyond float32, and repeated documents."""
    with np.errstate(over="ignore"):
        finite = np.isfinite(np.asarray(rows.scores, dtype=np.float64).astype(np.float32))
    seen = {}
    for i, pair in enumerate(zip(rows.queries, rows.docs)):
        named = "query {}, document {}".format(*map(shown, map(str, pair)))
        if not all(pair):
            raise RunError(f"an identifier is empty: {named}", rows.where(i),
                           "Mend or leave out the row")
        if not finite[i]:
            raise RunError(f"the score {rows.scores[i]!r} of {named} is no finite float32",
                           rows.where(i), "Mend or leave out the row")
        first = seen.setdefault(pair, i)
        if first != i:
            raise RunError(f"the run has {named} twice, first in {rows.unit} {rows.lines[first]}",
                           rows.where(i), "Keep one of the two")


def rank_disagreements(rows: Rows, run: pa.Table) -> int:
    """How many rows stand elsewhere by the rank the file states than by its scores.

    Ranks may start at 0 or 1; what counts is each query's order by them, and equal ranks state
    none. Rows whose rank can't be read are left out.
    """
    rank_of = dict(zip(zip(rows.queries, rows.docs), rows.ranks))
    pairs = zip(run["query_id"].to_pylist(), run["doc_id"].to_pylist())
    stated = np.array([rank_of[pair] for pair in pairs])
    read = stated >= 0
    # stable: ties stay as the run has them
    order = np.lexsort((stated[read], _codes(run["query_id"])[read]))
    return int((order != np.arange(len(order))).sum())
