"""What a worker does with its part of a corpus: functions of the collection's source, some of its
rows, and settings. Whoever calls one again, on whatever machine, gets the same.

A shard's scores are those of the whole corpus: idf and mean length are summed over all shards, and
a score is summed over the document's terms in the order of all terms. So the best of all shards,
merged under the tie rule, are the best of the corpus.
"""

import platform
import sys
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from kit.collection.fingerprint import row_digests, together
from kit.collection.sources import open_collection
from kit.errors import CollectionError, SearchError
from kit.files import digest_of, digest_of_file
from kit.retrieval.bm25_engine import Bm25Engine, measured
from kit.retrieval.bm25_index import Counts, require_room
from kit.retrieval.bm25_weights import Formula, Statistics
from kit.retrieval.corpus import size_of
from kit.retrieval.dense import Cosines, Dense
from kit.retrieval.engine import Found, best
from kit.retrieval.run import rank_within_ids
from kit.text.views import texts
from kit.text.words import Vocabulary, count_terms

SAME = ("the source, by the same path (a file system that all share, or the hub's cache), and the "
        "same kit")


class Rows(NamedTuple):
    """Some rows of a corpus: where they are, and what they must be. ids: the digest of their
    identifiers; code: that of the kit (see `code`)."""

    source: str
    revision: str | None
    streaming: bool
    view: str
    start: int
    stop: int
    ids: str
    code: str


class Counted(NamedTuple):
    """Terms counted: their matrix' arrays, its columns being the shard's own terms in alphabetical
    order, packed as letters and borders. rows: uint8, documents × 32: the digest of each whole row;
    places: of the documents' identifiers among each other."""

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    letters: np.ndarray
    borders: np.ndarray
    rows: np.ndarray
    places: np.ndarray

    @property
    def counts(self) -> Counts:
        return Counts(self.indptr, self.indices, self.data,
                      (len(self.indptr) - 1, len(self.borders) - 1))


class Told(NamedTuple):
    """What all need to know of a shard."""

    letters: np.ndarray
    borders: np.ndarray
    df: np.ndarray
    units: int
    words: int
    rows: np.ndarray


class Seen(NamedTuple):
    """The fingerprint of the corpus that the shards hold together, and of each one's rows; counts
    of what was seen of the texts."""

    sha256: str
    shards: list[str]
    counts: dict[str, int]


class Whole(NamedTuple):
    """What a shard needs to know of all: the terms in alphabetical order, packed, their idf
    (float64), and how many documents and words there are."""

    letters: np.ndarray
    borders: np.ndarray
    idf: np.ndarray
    units: int
    words: int
    seen: Seen

    def vocabulary(self) -> Vocabulary:
        return Vocabulary.of(_packed(self.letters, self.borders))


class Shard:
    """Documents that can be searched. first: the first one's place in the corpus; terms: int32,
    ascending: which of all terms its columns are (None: it has vectors); sha256: of its rows."""

    def __init__(self, engine, places: np.ndarray, first: int, terms: np.ndarray | None,
                 sha256: str):
        self.engine, self.places, self.first, self.terms = engine, places, first, terms
        self.sha256 = sha256

    def __sizeof__(self) -> int:
        """Bytes, which Dask asks before it moves one to another worker."""
        return sum(sys.getsizeof(array) for part in (self.__dict__, vars(self.engine))
                   for value in part.values()
                   for array in (value if isinstance(value, tuple) else (value,)))


class Part(NamedTuple):
    """The best of a shard, at their places in the corpus, and the digest of the shard's rows."""

    found: Found
    sha256: str


class Encoded(NamedTuple):
    """Vectors of rows, and what was seen of their texts."""

    vectors: np.ndarray
    seen: dict
    rows: np.ndarray
    places: np.ndarray


def borders(size: int, shards: int, step: int = 1) -> list[tuple[int, int]]:
    """0 to size in at most that many stretches, about equal, none empty, that begin at multiples
    of `step`."""
    steps = -(-size // step)
    parts = max(min(shards, steps), 1)
    marks = [min(steps * i // parts * step, size) for i in range(parts + 1)]
    return list(pairwise(marks))


@cache
def code() -> str:
    """The digest of the kit's own modules, and of the Python and libraries that compute."""
    import numba
    import scipy

    home = Path(__file__).resolve().parents[1]
    return digest_of([platform.python_version_tuple()[:2], np.__version__, scipy.__version__,
                      numba.__version__, pa.__version__,
                      {path.relative_to(home).as_posix(): digest_of_file(path)
                       for path in sorted(home.rglob("*.py"))}])


def opened(rows: Rows):
    """The collection with these rows of the corpus only. Raises CollectionError or SearchError
    where the machine lacks them, has others, or has another kit."""
    if code() != rows.code:
        raise SearchError("a worker has another kit, Python or library than this machine",
                          platform.node(), "Install the same requirements.txt and kit on both")
    try:
        whole = open_collection(rows.source, revision=rows.revision, streaming=rows.streaming)
        part = whole.only("corpus", rows.start, rows.stop)
        ids = list(part.ids("corpus"))
    except CollectionError as error:
        raise CollectionError(f"a worker can't read the collection: {error.what}",
                              f"{rows.source} on {platform.node()}",
                              f"Each worker needs {SAME}") from error
    if digest_of(ids) != rows.ids:
        raise CollectionError("a worker has other documents than this machine, or in another order",
                              f"{rows.source} on {platform.node()}", f"Each worker needs {SAME}")
    return part


def counted(rows: Rows) -> Counted:
    """Reads and counts. Raises what `opened` raises, and SearchError where memory is short."""
    part = opened(rows)
    size = size_of(part, rows.view)
    if size is not None:
        require_room(rows.stop - rows.start, size)
    matrix, vocabulary = count_terms(texts(part, "corpus", rows.view))
    letters, edges = _unpacked(vocabulary)
    return Counted(matrix.indptr.astype(np.int64), matrix.indices, matrix.data, letters, edges,
                   _row_digests(part), _places(part))


def told(own: Counted) -> Told:
    """What all need to know of a counted shard."""
    _, statistics = measured(own.counts)
    return Told(own.letters, own.borders, statistics.df, statistics.units, statistics.words,
                own.rows)


def summed(parts: list[Told], settings: dict) -> Whole:
    """All shards together. Raises SearchError when no document has a term."""
    union, df = Vocabulary(), np.zeros(0, np.int64)
    for part in parts:
        ids = union.add(_packed(part.letters, part.borders))
        df = np.concatenate((df, np.zeros(len(union) - len(df), np.int64)))
        df[ids] += part.df  # a shard has each term once
    if not len(union):
        raise SearchError("no document has a single term", "BM25",
                          "Check the collection's texts and the corpus view")
    vocabulary, place = union.in_order()
    of_all = Statistics(sum(p.units for p in parts), sum(p.words for p in parts),
                        np.empty_like(df))
    of_all.df[place] = df
    return Whole(*_unpacked(vocabulary), Formula.of(settings).idf(of_all), of_all.units,
                 of_all.words, seen([(p.rows, {}) for p in parts]))


def weighed(own: Counted, whole: Whole, settings: dict, first: int) -> Shard:
    """A counted shard with the weights that its terms have in the whole corpus."""
    terms = whole.vocabulary().add(_packed(own.letters, own.borders))
    of_all = Statistics(whole.units, whole.words, np.empty(0, np.int64))
    engine = Bm25Engine(own.counts, settings, of_all=of_all, idf=whole.idf[terms])
    return Shard(engine, own.places, first, terms, sha256_of_rows([own.rows]))


def best_of_words(shard: Shard, queries: tuple, k: int) -> Part:
    """queries: starts, terms (int32, of all, ascending a query) and counts (see bm25.collapsed)."""
    starts, terms, counts = queries
    column = np.searchsorted(shard.terms, terms)
    known = np.flatnonzero(np.append(shard.terms, -1)[column] == terms)
    begin = np.searchsorted(known, starts)
    own = shard.engine.queries(begin, column[known].astype(np.int32), counts[known])
    return _found(shard, own, k)


def encoded(rows: Rows, model: dict, settings: dict) -> Encoded:
    """Reads and encodes. model: the arguments of Dense; settings: what it must be as resolved.

    Raises what `opened` raises, and SearchError where the worker's model or device is another."""
    part, system = opened(rows), Dense(**model)
    other = [name for name, value in settings.items() if system.settings.get(name) != value]
    if other:
        raise SearchError(f"a worker's model differs in {', '.join(other)}", platform.node(),
                          "Give all machines the same model, and name embedding_device")
    vectors = system._encoded(len(part.ids("corpus")), texts(part, "corpus", rows.view), "corpus")
    return Encoded(np.asarray(vectors), system.notes(), _row_digests(part), _places(part))


def shard_of_vectors(own: Encoded, first: int) -> Shard:
    """Encoded rows, to be searched."""
    return Shard(Cosines(own.vectors), own.places, first, None, sha256_of_rows([own.rows]))


def seen_of(own: Encoded) -> tuple[np.ndarray, dict]:
    """The digests of the rows, and what was seen of their texts."""
    return own.rows, own.seen


def seen(parts: list[tuple[np.ndarray, dict]]) -> Seen:
    """All shards together."""
    counts = {name: sum(seen[name] for _, seen in parts) for name in parts[0][1]}
    rows = [rows for rows, _ in parts]
    return Seen(sha256_of_rows(rows), [sha256_of_rows([own]) for own in rows], counts)


def best_of_vectors(shard: Shard, queries: np.ndarray, k: int) -> Part:
    """queries: float32, queries × dimensions."""
    return _found(shard, queries, k)


def sha256_of_rows(parts: list[np.ndarray]) -> str:
    """The fingerprint of a table by the digests of its rows, which come in parts."""
    return together(bytes(row) for part in parts for row in part)


def _found(shard: Shard, queries, k: int) -> Part:
    found = best(shard.engine, queries, shard.places, k)
    return Part(found._replace(positions=found.positions + shard.first), shard.sha256)


def _places(part) -> np.ndarray:
    return rank_within_ids(pa.array(part.ids("corpus"), pa.string()))


def _row_digests(part) -> np.ndarray:
    digests = row_digests(part, "corpus", part.columns)
    return np.frombuffer(b"".join(digests), np.uint8).reshape(-1, 32)


def _unpacked(vocabulary: Vocabulary) -> tuple[np.ndarray, np.ndarray]:
    """Letters (uint8) and borders (int64)."""
    packed = vocabulary.packed()
    _, edges, letters = packed.buffers()
    return (np.frombuffer(letters, np.uint8) if letters else np.empty(0, np.uint8),
            np.frombuffer(edges, np.int64)[:len(packed) + 1])


def _packed(letters: np.ndarray, edges: np.ndarray) -> pa.LargeStringArray:
    return pa.LargeStringArray.from_buffers(len(edges) - 1, pa.py_buffer(edges),
                                            pa.py_buffer(letters))
