"""The counts of a corpus' terms on disk: written once, then memory-mapped.

An index is a folder of .npy files and `manifest.json`, which is written last and has the digest of
each. It hangs on the texts and the tokenizer and on no constant of BM25, so that one index serves
every variant, k1 and b. What it hangs on is its name: where that differs, it is another index.
"""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from kit.errors import SearchError
from kit.files import digest_of, digest_of_file, locked, write_json, written_whole
from kit.progress import say
from kit.provenance import memory_left
from kit.text.words import TOKENIZER, Vocabulary, count_terms

FORMAT = 1  # raise it when the files or what they mean change
PARTS = ("indptr", "indices", "data", "letters", "borders")

# What the estimate rests on: full texts of patents, real and generated, and one job of Sophia's size.
BYTES_A_WORD = 6.7
BYTES_A_POSTING = 12  # the counts, and the postings with their weights
BYTES_AT_LEAST = 400_000_000
BYTES_A_SECOND = 10_000_000  # of text: cleaned, cut into words, counted


class Counts(NamedTuple):
    """Documents × terms as a sparse matrix' arrays: row i has the columns indices[indptr[i]:
    indptr[i + 1]], int32 and ascending, and how often each term stands there, uint16 or int32."""

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    shape: tuple[int, int]


class Index(NamedTuple):
    """counts: documents × terms, the terms in alphabetical order; vocabulary: their ids."""

    counts: Counts
    vocabulary: Vocabulary


def counted(texts: Iterable[str]) -> Index:
    """The index of texts, in memory. Raises SearchError when no text has a term."""
    matrix, vocabulary = count_terms(texts)
    if not matrix.nnz:
        raise SearchError("no document has a single term", "BM25",
                          "Check the collection's texts and the corpus view")
    return Index(Counts(matrix.indptr.astype(np.int64), matrix.indices, matrix.data, matrix.shape),
                 vocabulary)


def kept(folder: Path, key: dict, count: Callable[[], Index]) -> Index:
    """The index that hangs on `key`, memory-mapped from below `folder`; `count` makes it where it is
    not there, or not as it was written. A second process waits, and finds it."""
    key = {**key, "tokenizer": TOKENIZER, "format": FORMAT}
    home = folder / digest_of(key)[:20]
    home.mkdir(parents=True, exist_ok=True)
    with locked(home):
        if (home / "manifest.json").exists():
            if _whole(home, key):
                return _opened(home)
            say("bm25: the saved index is damaged, and is made again")
            (home / "manifest.json").unlink()
        _write(home, key, count())
        return _opened(home)


def _write(home: Path, key: dict, index: Index) -> None:
    packed = index.vocabulary.packed()
    _, borders, letters = packed.buffers()
    arrays = {"indptr": index.counts.indptr, "indices": index.counts.indices,
              "data": index.counts.data, "letters": np.frombuffer(letters, np.uint8),
              "borders": np.frombuffer(borders, np.int64)[:len(packed) + 1]}
    for name in PARTS:
        with written_whole(home / f"{name}.npy") as part, open(part, "wb") as file:
            np.save(file, arrays[name], allow_pickle=False)
    write_json(home / "manifest.json", {
        "key": key, "sha256": {name: digest_of_file(home / f"{name}.npy") for name in PARTS}})


def _whole(home: Path, key: dict) -> bool:
    """Whether every file is the one that was written."""
    try:
        manifest = json.loads((home / "manifest.json").read_text(encoding="utf-8"))
        return manifest["key"] == key and all(
            digest_of_file(home / f"{name}.npy") == manifest["sha256"][name] for name in PARTS)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False


def _opened(home: Path) -> Index:
    part = {name: np.load(home / f"{name}.npy", mmap_mode="r", allow_pickle=False)
            for name in PARTS}
    terms = len(part["borders"]) - 1
    packed = pa.LargeStringArray.from_buffers(
        terms, pa.py_buffer(part["borders"]), pa.py_buffer(part["letters"]))
    return Index(Counts(part["indptr"], part["indices"], part["data"],
                        (len(part["indptr"]) - 1, terms)), Vocabulary.of(packed))


class Estimate(NamedTuple):
    """What an index and the search over it will take."""

    memory: int  # bytes
    seconds: float

    @classmethod
    def of(cls, documents: int, size: int) -> "Estimate":
        """size: bytes of the documents' texts together."""
        words = size / max(documents, 1) / BYTES_A_WORD
        distinct = min(words, 4 * words ** 0.7)  # Heaps' law, on the safe side
        return cls(round(BYTES_AT_LEAST + BYTES_A_POSTING * distinct * documents),
                   size / BYTES_A_SECOND)

    @classmethod
    def of_passages(cls, documents: int, size: int, length: int, stride: int) -> "Estimate":
        """The same where passages are counted, which hold a word as often as they overlap."""
        passages = max(documents, round(size / BYTES_A_WORD / stride))
        return cls(cls.of(passages, round(size * max(length / stride, 1))).memory,
                   size / BYTES_A_SECOND)


def require_room(documents: int, size: int, passages: tuple[int, int] | None = None) -> None:
    """Says what an index will take, before it is made. passages: their length and stride in words,
    where they are counted. Raises SearchError where memory is short."""
    estimate, left = (Estimate.of_passages(documents, size, *passages) if passages else
                      Estimate.of(documents, size)), memory_left()
    say(f"bm25: {documents:,} documents, {size / 1e6:,.0f} MB of text: about "
        f"{estimate.memory / 1e9:.1f} GB of memory and {estimate.seconds:,.0f} s to index")
    if left is not None and estimate.memory > left:
        raise SearchError(
            f"BM25 over {documents:,} documents with {size / 1e6:,.0f} MB of text needs about "
            f"{estimate.memory / 1e9:.1f} GB of memory, and {left / 1e9:.1f} GB are left", "memory",
            "Close other programs, take a machine with more, or a shorter corpus_view")
