"""Vectors on disk: one memory-mapped array, written a block of texts at a time.

A block counts once a record of it stands behind the array: the digest of its texts and of its
bytes. So a stopped encoding goes on, no row that was half written counts, and a damaged one is
made anew. An array is never written over with other texts: where a block's texts are others than
those on record, an array of their own goes on from there.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kit.files import digest_of, locked, write_text
from kit.progress import blocks, steps

BLOCK = 512  # texts encoded and recorded at a time: some half minute on two cores
ARRAY, RECORDS = "vectors.npy", "blocks.jsonl"


class Encoded(NamedTuple):
    """Vectors of n texts, n × dimensions, and how many of the texts were read only in part."""

    vectors: np.ndarray
    cut: int


def keep(folder: Path | None, key, size: int, dimensions: int, dtype: str, texts: Iterable[str],
         encode: Callable[[list[str]], Encoded], what: str) -> Encoded:
    """The vectors of `size` texts as `dtype`, from the array where it has them, else encoded.

    folder: of all arrays, None for none: the vectors are then held in memory. key: JSON of all that
    the vectors depend on apart from the texts. what: of the progress. Returns a read-only map.
    """
    if folder is None:
        return _encoded(size, dimensions, dtype, texts, encode)
    source = enumerate(steps(blocks(texts, BLOCK), what, -(-size // BLOCK)))
    first = next(source, None)
    if first is None:
        return Encoded(np.empty((0, dimensions), dtype), 0)
    name = digest_of([key, size, dimensions, dtype, _digest(first[1])])
    with locked(_folder(folder, name)):  # a second process waits, and finds them made
        array, cut = _Array.opened(folder, name, (size, dimensions), dtype), 0
        for n, block in chain([first], source):
            told = _digest(block)
            array = array.for_block(n, told)
            if not array.holds(n):
                array.write(n, told, encode(block))
            cut += array.records[n]["cut"]
        return Encoded(array.reading(), cut)


def _folder(home: Path, name: str) -> Path:
    folder = home / name[:2] / name
    folder.mkdir(parents=True, exist_ok=True)
    for path in (folder / ARRAY, folder / RECORDS):
        if path.is_symlink():  # planted: it would be written through
            path.unlink()
    return folder


def _encoded(size, dimensions, dtype, texts, encode) -> Encoded:
    vectors, cut, done = np.empty((size, dimensions), dtype), 0, 0
    for block in blocks(texts, BLOCK):
        made = encode(block)
        vectors[done:done + len(block)] = made.vectors
        cut, done = cut + made.cut, done + len(block)
    return Encoded(vectors, cut)


def _digest(texts: list[str]) -> str:
    return digest_of([hashlib.sha256(t.encode("utf-8", "replace")).hexdigest() for t in texts])


class _Array:
    """One array's folder, and the records of the blocks that stand in it."""

    def __init__(self, home: Path, name: str, shape: tuple[int, int], dtype: str):
        self.home, self.name, self.shape, self.dtype = home, name, shape, np.dtype(dtype)
        self.folder = _folder(home, name)
        self.records = self._read_records()
        self._sound: set[int] = set()

    @classmethod
    def opened(cls, home: Path, name: str, shape: tuple[int, int], dtype: str) -> "_Array":
        array = cls(home, name, shape, dtype)
        if not array._is_whole():
            np.lib.format.open_memmap(array.folder / ARRAY, "w+", array.dtype, shape).flush()
        return array

    def for_block(self, n: int, told: str) -> "_Array":
        """This array; another that goes on from its first n blocks, where block n has other texts
        on record."""
        if n not in self.records or self.records[n]["texts"] == told:
            return self
        name = digest_of([self.name, n, told])
        folder = _folder(self.home, name)
        if not (folder / RECORDS).exists():
            shutil.copyfile(self.folder / ARRAY, folder / ARRAY)
            lines = [json.dumps(self.records[i]) for i in range(n) if i in self.records]
            write_text(folder / RECORDS, "\n".join(lines))
        return _Array.opened(self.home, name, self.shape, self.dtype.str).for_block(n, told)

    def holds(self, n: int) -> bool:
        """Whether block n is on record, and its bytes are those of then."""
        return n in self.records and self.records[n]["bytes"] == self._digest_of_rows(n)

    def write(self, n: int, told: str, made: Encoded) -> None:
        """Writes the block's rows, then its record."""
        rows = np.lib.format.open_memmap(self.folder / ARRAY, "r+")
        rows[self._rows(n)] = made.vectors
        rows.flush()
        del rows
        self.records[n] = {"block": n, "size": BLOCK, "texts": told, "cut": made.cut,
                           "bytes": self._digest_of_rows(n)}
        with open(self.folder / RECORDS, "a", encoding="utf-8") as file:
            file.write("\n" + json.dumps(self.records[n]))  # behind a line that a kill has cut
            file.flush()
            os.fsync(file.fileno())

    def reading(self) -> np.ndarray:
        return np.load(self.folder / ARRAY, mmap_mode="r", allow_pickle=False)

    def _rows(self, n: int) -> slice:
        return slice(n * BLOCK, min((n + 1) * BLOCK, self.shape[0]))

    def _digest_of_rows(self, n: int) -> str:
        return hashlib.sha256(np.ascontiguousarray(self.reading()[self._rows(n)])).hexdigest()

    def _is_whole(self) -> bool:
        """Whether the array is there with its shape and type."""
        try:
            rows = self.reading()
        except (OSError, ValueError, EOFError):  # none, no array, or shorter than its header says
            return False
        return rows.shape == self.shape and rows.dtype == self.dtype

    def _read_records(self) -> dict[int, dict]:
        """The records by block, the last of each; a line that a kill has cut is none."""
        path, records = self.folder / RECORDS, {}
        for line in path.read_text("utf-8", "replace").splitlines() if path.exists() else ():
            try:
                record = json.loads(line)
                whole = record.keys() == {"block", "size", "texts", "cut", "bytes"}
            except (ValueError, AttributeError, RecursionError):
                whole = False
            if whole and record["size"] == BLOCK and isinstance(record["cut"], int):
                records[record["block"]] = record
        return records
