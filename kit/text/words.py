"""The words of a text as numbers, without a Python loop a word, and how often texts hold them.

A word is what `re.findall(PATTERN, text.lower())` gives, for all of Unicode: two or more letters,
digits or underscores; no stemming, no stop words.
"""

import re
from collections.abc import Iterable
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse

TOKENIZER = {"name": "words2", "pattern": r"\b\w\w+\b", "lowercase": True}
PATTERN = TOKENIZER["pattern"]
_SIGMA = re.compile("Σ")
POINTS = 0x110000  # of Unicode


class Vocabulary:
    """Different words, numbered from 0 in the order in which they were first seen.

    terms: the first words, each as the tokenizer gives it. While no thread adds words, any number
    of threads may look words up.
    """

    def __init__(self, terms: Iterable[str] = ()):
        self._slots = np.zeros(1 << 10, np.uint64)
        self._letters, self._borders = np.empty(1 << 12, np.uint8), np.zeros(1 << 9, np.int64)
        self._size = 0
        joined = pa.array(list(terms), pa.large_string())
        self.add(*_unpacked(joined))

    def __len__(self) -> int:
        return self._size

    def ids(self, text: str) -> np.ndarray:
        """The ids (int32) of the text's words in their order; words that are new are added."""
        letters, borders, count, _, _ = _split(text)
        return self._look_up(letters, borders, count, grow=True)

    def known(self, text: str) -> np.ndarray:
        """The ids (int32) of the text's words in their order, those that are new left out."""
        letters, borders, count, _, _ = _split(text)
        ids = self._look_up(letters, borders, count, grow=False)
        return ids[ids >= 0]

    def spans(self, text: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The words' ids, as `ids` gives them, and where each begins and ends in the text.

        starts and ends (int32) are places of characters: text[start:end].lower() is the word.
        """
        letters, borders, count, starts, ends = _split(text)
        return self._look_up(letters, borders, count, grow=True), starts, ends

    def terms(self) -> list[str]:
        """The words by id."""
        return self.packed().to_pylist()

    def packed(self) -> pa.LargeStringArray:
        """The words by id, in the memory of an Arrow array; to save, and to make another of."""
        borders = self._borders[:self._size + 1].copy()
        letters = self._letters[:borders[-1]].copy()
        return pa.LargeStringArray.from_buffers(
            self._size, pa.py_buffer(borders), pa.py_buffer(letters))

    def add(self, letters: np.ndarray, borders: np.ndarray) -> np.ndarray:
        """The ids (int32) of packed words: word i is letters[borders[i]:borders[i + 1]]."""
        return self._look_up(letters, borders, len(borders) - 1, grow=True)

    def in_order(self) -> tuple["Vocabulary", np.ndarray]:
        """The same words numbered by code point, and the new id (int32) by the old one."""
        packed = self.packed()
        order = pc.sort_indices(packed).to_numpy()
        place = np.empty(len(order), np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        return Vocabulary.of(packed.take(pa.array(order))), place

    @classmethod
    def of(cls, packed: pa.LargeStringArray) -> "Vocabulary":
        """A vocabulary of the words that another one had `packed`."""
        made = cls()
        made.add(*_unpacked(packed))
        return made

    def _look_up(self, letters, borders, count: int, grow: bool) -> np.ndarray:
        from kit.text.scanning import look_up

        ids = np.empty(count, np.int32)
        after = look_up(letters, borders, count, self._slots, self._letters, self._borders,
                        self._size, grow, ids)
        if grow:
            self._slots, self._letters, self._borders, self._size = after
        return ids


def count_terms(texts: Iterable[str]) -> tuple[sparse.csr_array, Vocabulary]:
    """Term counts, documents × terms, and the vocabulary, whose ids are the columns.

    The terms are in alphabetical order (by code point), each row's columns ascending. Counts are
    uint16, or int32 where a text has a word more often. One text is held at a time.
    """
    seen, rows = Vocabulary(), Rows()
    for text in texts:
        rows.append(*rows.tally(seen.ids(text), len(seen)))
    vocabulary, place = seen.in_order()
    return rows.matrix(place), vocabulary


class Rows:
    """Rows of a count matrix as they come, in room that grows without a second copy."""

    def __init__(self):
        self._columns, self._counts = np.empty(1 << 16, np.int32), np.empty(1 << 16, np.uint16)
        self._ends, self._room = [0], np.zeros(0, np.int32)

    def tally(self, ids: np.ndarray, terms: int) -> tuple[np.ndarray, np.ndarray]:
        """The distinct ids (int32) and how often each stands (int32); ids are below `terms`."""
        from kit.text.scanning import tally

        if len(self._room) < terms:
            self._room = np.zeros(2 * terms, np.int32)
        columns, counts = np.empty(len(ids), np.int32), np.empty(len(ids), np.int32)
        distinct = tally(ids, self._room, columns, counts)
        return columns[:distinct], counts[:distinct]

    def append(self, columns: np.ndarray, counts: np.ndarray) -> None:
        """One more row; columns in any order."""
        start = self._ends[-1]
        end = start + len(columns)
        if end > len(self._columns):
            room = end + end // 4
            self._columns.resize(room, refcheck=False)
            self._counts.resize(room, refcheck=False)
        if len(counts) and counts.max() > np.iinfo(self._counts.dtype).max:
            self._counts = self._counts.astype(np.int32)
        self._columns[start:end], self._counts[start:end] = columns, counts
        self._ends.append(end)

    def matrix(self, place: np.ndarray) -> sparse.csr_array:
        """The rows so far, columns renamed by `place` and sorted; takes the rows' own memory."""
        end = self._ends[-1]
        self._columns.resize(end, refcheck=False)
        self._counts.resize(end, refcheck=False)
        for start, stop in zip(self._ends, self._ends[1:]):
            row = slice(start, stop)
            pairs = place[self._columns[row]].astype(np.int64) << 32 | self._counts[row]
            pairs.sort()
            self._columns[row], self._counts[row] = pairs >> 32, pairs & 0xFFFFFFFF
        kind = np.int32 if end < 2 ** 31 else np.int64
        return sparse.csr_array((self._counts, self._columns, np.array(self._ends, kind)),
                                shape=(len(self._ends) - 1, len(place)))


def _split(text: str):
    """A text's words packed (letters, borders), how many they are, and their starts and ends."""
    from kit.text.scanning import split

    if "Σ" in text:
        text = _with_small_sigmas(text)
    data = np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)
    most = len(data) // 3 + 1
    letters = np.empty(3 * len(data) // 2 + 4, np.uint8)  # Ⱥ has two bytes, ⱥ three
    borders = np.zeros(most + 1, np.int64)
    starts, ends = np.empty(most + 1, np.int32), np.empty(most + 1, np.int32)
    count = split(data, _lower(), letters, borders, starts, ends)
    return letters, borders[:count + 1], count, starts[:count], ends[:count]


def _with_small_sigmas(text: str) -> str:
    """Σ as str.lower gives it, by what stands around it; no other character changes."""
    whole = text.replace("İ", "I").lower()  # of the same length, and İ is a letter as I is
    return _SIGMA.sub(lambda match: whole[match.start()], text)


@cache
def _lower() -> np.ndarray:
    """By code point, its lower case if it is part of a word, else 0 (uint32)."""
    every = "".join(map(chr, range(POINTS)))
    lower = np.zeros(POINTS, np.uint32)
    for match in re.finditer(r"\w+", every):
        for place, char in enumerate(match[0], match.start()):
            lower[place] = ord(char.lower()[0])
    return lower


def _unpacked(packed: pa.LargeStringArray) -> tuple[np.ndarray, np.ndarray]:
    _, borders, letters = packed.buffers()
    borders = np.frombuffer(borders, np.int64)[packed.offset:packed.offset + len(packed) + 1] \
        if len(packed) else np.zeros(1, np.int64)
    return (np.frombuffer(letters, np.uint8) if letters else np.empty(0, np.uint8)), borders
