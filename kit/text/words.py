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
        self._slots = np.zeros(1 << 11, np.uint64)
        self._letters, self._borders = np.empty(1 << 12, np.uint64), np.zeros(1 << 9, np.int64)
        self._size = 0
        self.add(pa.array(list(terms), pa.large_string()))

    def __len__(self) -> int:
        return self._size

    def ids(self, text: str) -> np.ndarray:
        """The ids (int32) of the text's words in their order; words that are new are added."""
        return self._look_up(*_split(text)[:2], grow=True)

    def known(self, text: str) -> np.ndarray:
        """The ids (int32) of the text's words in their order, those that are new left out."""
        ids = self._look_up(*_split(text)[:2], grow=False)
        return ids[ids >= 0]

    def spans(self, text: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The words' ids, as `ids` gives them, and where each begins and ends in the text.

        starts and ends (int32) are places of characters: text[start:end].lower() is the word.
        """
        letters, borders, starts, ends = _split(text)
        return self._look_up(letters, borders, grow=True), starts, ends

    def terms(self) -> list[str]:
        """The words by id."""
        return self.packed().to_pylist()

    def packed(self, first: int = 0, stop: int | None = None) -> pa.LargeStringArray:
        """The words by id, from `first` to before `stop` (all), as one Arrow array: to save, and to
        `add` elsewhere."""
        from kit.text.scanning import unpack

        borders = self._borders[first:(self._size if stop is None else stop) + 1]
        data = np.empty(8 * (borders[-1] - borders[0]), np.uint8)
        places = np.zeros(len(borders), np.int64)
        data.resize(unpack(self._letters, borders, data, places), refcheck=False)
        return pa.LargeStringArray.from_buffers(
            len(places) - 1, pa.py_buffer(places), pa.py_buffer(data))

    def add(self, terms: pa.LargeStringArray) -> np.ndarray:
        """The ids (int32) of words as the tokenizer gives them; those that are new are added."""
        from kit.text.scanning import pack

        if not len(terms):
            return np.empty(0, np.int32)
        _, places, data = terms.buffers()
        places = np.frombuffer(places, np.int64)[terms.offset:terms.offset + len(terms) + 1]
        letters = np.zeros((places[-1] - places[0]) // 8 + len(terms), np.uint64)
        borders = np.zeros(len(places), np.int64)
        pack(np.frombuffer(data, np.uint8), places, letters, borders)
        return self._look_up(letters, borders, grow=True)

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
        made.add(packed)
        return made

    def _look_up(self, letters: np.ndarray, borders: np.ndarray, grow: bool) -> np.ndarray:
        from kit.text.scanning import look_up

        ids = np.empty(len(borders) - 1, np.int32)
        after = look_up(letters, borders, self._slots, self._letters, self._borders, self._size,
                        grow, ids)
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
        rows.add(seen, text)
    vocabulary, place = seen.in_order()
    return rows.matrix(place), vocabulary


class Rows:
    """Rows of a count matrix as they come, in room that grows without a second copy."""

    def __init__(self):
        self._columns, self._counts = np.empty(1 << 16, np.int32), np.empty(1 << 16, np.uint16)
        self._ends, self._room = [0], np.zeros(0, np.int32)

    def add(self, vocabulary: Vocabulary, text: str) -> None:
        """One more row, of a text's words; the vocabulary may grow by it, and no other is used."""
        from kit.text.scanning import tally

        ids = vocabulary.ids(text)
        if len(self._room) < len(vocabulary):
            self._room = np.zeros(2 * len(vocabulary), np.int32)
        columns, counts = np.empty(len(ids), np.int32), np.empty(len(ids), np.int32)
        distinct = tally(ids, self._room, columns, counts)
        start = self._ends[-1]
        end = start + distinct
        if end > len(self._columns):
            room = end + end // 4
            self._columns.resize(room, refcheck=False)
            self._counts.resize(room, refcheck=False)
        if distinct and counts[:distinct].max() > np.iinfo(self._counts.dtype).max:
            self._counts = self._counts.astype(np.int32)
        self._columns[start:end], self._counts[start:end] = columns[:distinct], counts[:distinct]
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


def _split(text: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A text's words packed (letters, borders), and their starts and ends in the text."""
    from kit.text.scanning import split

    if "Σ" in text:
        text = _with_small_sigmas(text)
    data = np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)
    most = len(data) // 3 + 1  # of words: two characters, and a third or İ's end between them
    letters = np.empty(3 * len(data) // 16 + most + 1, np.uint64)  # Ⱥ has two bytes, ⱥ three
    borders = np.zeros(most + 1, np.int64)
    starts, ends = np.empty(most + 1, np.int32), np.empty(most + 1, np.int32)
    count = split(data, _lower(), letters, borders, starts, ends)
    return letters, borders[:count + 1], starts[:count], ends[:count]


def _with_small_sigmas(text: str) -> str:
    """Σ as str.lower gives it, by what stands around it; no other character changes."""
    whole = text.replace("İ", "I").lower()  # of the same length, and İ is a letter as I is
    return _SIGMA.sub(lambda match: whole[match.start()], text)


@cache
def _lower() -> np.ndarray:
    """By code point, the UTF-8 of its lower case, lowest byte first, if it is part of a word, else
    0 (uint32)."""
    every = "".join(map(chr, range(POINTS)))
    lower = np.zeros(POINTS, np.uint32)
    for match in re.finditer(r"\w+", every):
        for place, char in enumerate(match[0], match.start()):
            lower[place] = int.from_bytes(char.lower()[0].encode(), "little")
    return lower
