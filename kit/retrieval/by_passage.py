"""Search by passages: BM25 and embeddings over stretches of documents.

A document's score is made of its passages' scores (see `engine.aggregation`), and a run keeps which
passage scored best. BM25 counts passages as its units: df is the number of passages with a term, and
the mean length that of the passages.

Neither texts nor scores of passages × queries are held: passages' texts are built for a batch of
documents at a time, and what stays of a passage is where it lies and what its engine needs.
"""

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from scipy import sparse

from kit.errors import ParamsError, SearchError
from kit.params import Params
from kit.progress import Stopwatch, blocks, steps
from kit.retrieval.bm25 import MADE_UP, Bm25, collapsed
from kit.retrieval.bm25_engine import Bm25Engine
from kit.retrieval.bm25_index import require_room
from kit.retrieval.corpus import Corpus
from kit.retrieval.dense import Cosines, Dense
from kit.retrieval.engine import (
    Aggregation,
    Found,
    aggregation,
    best,
    best_by_document,
    document_blocks,
)
from kit.retrieval.run import rank_within_ids
from kit.retrieval.system import Answer
from kit.text.compiled import compiled
from kit.text.passages import Passages, Rule, make_rule, split, text_of, titled
from kit.text.words import Vocabulary

DOCUMENTS = 64     # tokenized at a time
PASSAGES = 2**16   # scored at a time by BM25: a block has an array of all terms


class Document(NamedTuple):
    """A document while it is taken in. tokens: ids of its fields' tokens, one field after the
    other, where the engine counts them; front: which passages the title goes in front of."""

    fields: list[str]
    title: str
    passages: Passages
    front: np.ndarray
    tokens: np.ndarray | None = None


class Index(NamedTuple):
    """Where the passages lie. starts: int64, documents + 1: the passages of document d are starts[d]
    to starts[d + 1]. begins, ends: int32, characters of the document's text."""

    starts: np.ndarray
    begins: np.ndarray
    ends: np.ndarray


class PassageSystem:
    """A backend over passages, as a system.

    backend: what splits texts and makes an engine (`Words`, `Vectors`). answers: whether a run's
    rows are documents, each with its best passage, or passages.
    """

    version, passages = "1", True

    def __init__(self, backend, rule: Rule, how: str = "maxP", answers: str = "documents"):
        self._backend, self._rule, self.answers = backend, rule, answers
        self._how = require_aggregation(how)
        self.name, self.block = f"{backend.system.name}-passages", backend.block
        self._stated = {
            "passage_length": rule.length, "passage_stride": rule.stride,
            "passage_across_fields": rule.across_fields, "passage_title": rule.title,
            "passage_answers": answers,
            **({"passage_aggregation": how} if answers == "documents" else
               {"passage_scored": "a document is scored by its passage that stands first"})}
        self.given = {**backend.system.given, **self._stated}
        self._notes, self.preprocessing_seconds, self._size = {}, 0.0, None

    @property
    def settings(self) -> dict:
        """What was given, with everything that the model decides filled in."""
        return {**self._backend.system.settings, **self._stated}

    def expect(self, corpus: Corpus) -> None:
        """What texts come, for an estimate of the memory that they will take."""
        self._size = corpus.size

    def prepare(self, ids: list[str], documents: Iterable[tuple[list[str], str]]) -> None:
        """Splits and indexes the corpus. documents: the fields and the title of each, which can be
        read again from the start."""
        if self._size is not None:
            self._backend.require_room(len(ids), self._size, self._rule)
        self._ids, self._place_of = ids, {name: i for i, name in enumerate(ids)}
        self._places = rank_within_ids(pa.array(ids, pa.string()))
        self.index, self.engine, self.preprocessing_seconds = self._backend.take_in(
            documents, self._rule, len(ids))
        self._notes = {"passages": len(self.index.begins)}

    @cached_property
    def _unit_places(self) -> np.ndarray:
        return unit_places(self.index.starts, self._places)

    def warm(self) -> None:
        """As `Bm25.warm`."""
        self._backend.warm(self._rule, self._stated.get("passage_aggregation", "maxP"), self.answers)

    def search(self, query_text: str, topk: int) -> list[str]:
        """The identifiers of the topk best documents, or of the documents of the best passages."""
        return self.search_batch([query_text], topk)[0].ids

    def search_batch(self, query_texts: list[str], topk: int) -> list[Answer]:
        """A ranking a query, with float32 scores and where they are from."""
        if self.answers == "documents":
            return self.by_aggregation(query_texts, topk, [self._how.name])[self._how.name]
        queries = self._backend.queries(query_texts, self.engine)
        found = best(self.engine, queries, self._unit_places, topk)
        documents = np.searchsorted(self.index.starts, found.positions, side="right") - 1
        found = found._replace(positions=documents, passages=found.positions)
        return self._answers(query_texts, found)

    def by_aggregation(self, query_texts: list[str], topk: int,
                       names: list[str]) -> dict[str, list[Answer]]:
        """{aggregation: a ranking of documents a query}, all of them from one search."""
        queries = self._backend.queries(query_texts, self.engine)
        found = best_by_document(self.engine, self.index.starts, queries, self._places, topk,
                                 [aggregation(name) for name in names])
        return {name: self._answers(query_texts, each) for name, each in zip(names, found)}

    def most_passages(self, ids: list[str]) -> int:
        """How many passages the longest of these documents has; 1 without any."""
        counts = np.diff(self.index.starts)
        return max((int(counts[self._place_of[name]]) for name in ids), default=1)

    def notes(self) -> dict:
        """What it saw since it was last asked: passages, and texts that a model read in part."""
        seen, self._notes = {**self._notes, **self._backend.notes()}, {}
        return {_OF_PASSAGES.get(name, name): count for name, count in seen.items()}

    def _answers(self, query_texts: list[str], found: Found) -> list[Answer]:
        """A ranking a query; one without a text finds nothing."""
        where = np.stack([found.passages - self.index.starts[found.positions],
                          self.index.begins[found.passages], self.index.ends[found.passages]],
                         axis=1).astype(np.int32)
        own = [slice(a, b if text else a)
               for text, a, b in zip(query_texts, found.starts, found.starts[1:])]
        return [Answer([self._ids[d] for d in found.positions[o]], found.scores[o], where[o])
                for o in own]


def require_aggregation(name: str, where: str = "passage_aggregation") -> Aggregation:
    """The aggregation of that name. Raises ParamsError, with the parameter, for a name that is none."""
    try:
        return aggregation(name)
    except ValueError as error:
        raise ParamsError(f"there is no aggregation '{name[:40]}'", where,
                          "Give maxP, avg_top3 (or another number), avgP or sumP") from error


_OF_PASSAGES = {"corpus_texts": "passages", "corpus_texts_cut": "passages_cut"}


class Bm25Passages(PassageSystem):
    """BM25 over passages."""

    @classmethod
    def from_params(cls, params: Params) -> "Bm25Passages":
        return cls(Words(Bm25.from_params(params)), *_of(params))


class DensePassages(PassageSystem):
    """An embedding model over passages."""

    @classmethod
    def from_params(cls, params: Params) -> "DensePassages":
        return cls(Vectors(Dense.from_params(params)), *_of(params))


def _of(params: Params) -> tuple[Rule, str, str]:
    if params.engine == "dask":
        raise SearchError("passages are searched on one machine, not on a cluster", "engine, systems",
                          "Leave engine out, or the passage systems")
    rule = make_rule(params.passage_length, params.passage_stride, params.passage_across_fields,
                     params.passage_title)
    return rule, params.passage_aggregation, params.passage_answers


def unit_places(starts: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Each passage's place for the tie rule: by its document's, and the first of these highest."""
    counts = np.diff(starts)
    base = np.empty(len(counts), np.int64)
    order = np.argsort(places)
    base[order] = np.cumsum(counts[order])
    return np.repeat(base + starts[:-1], counts) - np.arange(starts[-1]) - 1


def _index(found: list[Passages]) -> Index:
    """Where the passages of documents lie."""
    return Index(np.concatenate(([0], np.cumsum([len(p.starts) for p in found], dtype=np.int64))),
                 np.concatenate([p.starts for p in found]), np.concatenate([p.ends for p in found]))


# --- BM25 -----------------------------------------------------------------------------------------

class Words:
    """Passages of words, counted for BM25. block: queries scored at once."""

    block = 512

    def __init__(self, system: Bm25):
        if system.settings["engine"] != "kit":
            raise SearchError("rank-bm25 has no passages", "bm25_engine, systems",
                              "Use bm25_engine: kit, or leave bm25-passages out")
        self.system, self._seen = system, {}

    def require_room(self, documents: int, size: int, rule: Rule) -> None:
        """Says what memory the counts will take. Raises SearchError where it is short."""
        require_room(documents, size, (rule.length, rule.stride))

    def take_in(self, documents, rule: Rule, total: int):
        """The index, the engine, and the seconds of reading, tokens and splitting."""
        watch, vocabulary, counts, found = Stopwatch(), Vocabulary(), Counts(), []
        for document in steps(watch.over(self._split(documents, vocabulary, rule)),
                              f"{self.system.name}: documents", total):
            counts.add(document, vocabulary)
            found.append(document.passages)
        index, (self._vocabulary, place) = _index(found), vocabulary.in_order()
        matrix = counts.matrix(place)
        if not matrix.nnz:
            raise SearchError("no document has a single term", "bm25-passages",
                              "Check the collection's texts and the corpus view")
        blocks_ = document_blocks(index.starts, PASSAGES)
        return index, Bm25Engine(matrix, self.system.settings, blocks_), watch.seconds

    def _split(self, documents, vocabulary: Vocabulary, rule: Rule) -> Iterator[Document]:
        for fields, title in documents:
            spans = [vocabulary.spans(text) for text in fields]
            passages = split(fields, [(starts, ends) for _, starts, ends in spans], rule)
            yield Document(fields, title, passages, titled(passages.starts, fields, title, rule),
                           np.concatenate([_NONE, *(ids for ids, _, _ in spans)]))

    def warm(self, rule: Rule, how: str, answers: str) -> None:
        """As `Bm25.warm`."""
        given, (ids, texts) = self.system.settings, MADE_UP
        words = Words(Bm25(*(given[name] for name in ("variant", "k1", "b"))))
        made = PassageSystem(words, rule, how, answers)
        made.prepare(ids, [([text], "") for text in texts])
        made.search_batch(texts, 5)

    def queries(self, texts: list[str], engine):
        """The terms of each text that the corpus has, as the engine takes them."""
        starts, terms, counts = collapsed(texts, self._vocabulary)
        self._seen = {"query_terms": len(terms),
                      "query_terms_most": int(np.diff(starts).max(initial=0))}
        return engine.queries(starts, terms, counts)

    def notes(self) -> dict:
        """As `Bm25.notes`."""
        seen, self._seen = self._seen, {}
        return seen


_NONE = np.empty(0, np.int32)


class Counts:
    """How often each passage holds each term, in room that grows without a second copy."""

    def __init__(self):
        self._columns, self._counts = np.empty(1 << 16, np.int32), np.empty(1 << 16, np.uint16)
        self._room, self._ends, self._size = _NONE, [np.zeros(1, np.int64)], 0

    def add(self, document: Document, vocabulary: Vocabulary) -> None:
        """The passages of one document more."""
        first, last = document.passages.first, document.passages.last
        front = vocabulary.ids(document.title) if document.front.any() else _NONE
        most = int((last - first).sum()) + len(front) * int(document.front.sum())
        self._make_room(most, int((last - first).max()) + len(front), len(vocabulary))
        ends = np.empty(len(first), np.int64)
        tally_windows(document.tokens, first, last, front, document.front, self._room,
                      self._columns[self._size:], self._counts[self._size:], ends)
        self._ends.append(ends + self._size)
        self._size += int(ends[-1])

    def _make_room(self, entries: int, longest: int, terms: int) -> None:
        need = self._size + entries
        if need > len(self._columns):
            self._columns.resize(need + need // 4, refcheck=False)
            self._counts.resize(need + need // 4, refcheck=False)
        if longest > np.iinfo(self._counts.dtype).max:
            self._counts = self._counts.astype(np.int32)
        if terms > len(self._room):
            self._room = np.zeros(2 * terms, np.int32)

    def matrix(self, place: np.ndarray) -> sparse.csr_array:
        """Passages × terms, columns renamed by `place` and ascending; takes the rows' own memory."""
        self._columns.resize(self._size, refcheck=False)
        self._counts.resize(self._size, refcheck=False)
        for start in range(0, self._size, 1 << 20):
            stretch = slice(start, start + (1 << 20))
            self._columns[stretch] = place[self._columns[stretch]]
        ends = np.concatenate(self._ends)
        kind = np.int32 if self._size < 2 ** 31 else np.int64
        matrix = sparse.csr_array((self._counts, self._columns, ends.astype(kind)),
                                  shape=(len(ends) - 1, len(place)))
        matrix.sort_indices()
        return matrix


@compiled
def tally_windows(tokens, first, last, front, titled, room, columns, counts, ends):
    """Fills for each window its distinct tokens, as they come, and how often each stands; ends:
    where each window's stop. front: tokens in front of the windows that `titled` marks. room: int32
    zeros, one a token id at least; it is zeros again afterwards."""
    size = 0
    for w in range(len(first)):
        begin = size
        if titled[w]:
            for i in front:
                if room[i] == 0:
                    columns[size] = i
                    size += 1
                room[i] += 1
        for t in range(first[w], last[w]):
            i = tokens[t]
            if room[i] == 0:
                columns[size] = i
                size += 1
            room[i] += 1
        for c in range(begin, size):
            counts[c] = room[columns[c]]
            room[columns[c]] = 0
        ends[w] = size


# --- embeddings -----------------------------------------------------------------------------------

class Vectors:
    """Passages of a model's tokens, and their vectors. block: queries scored at once."""

    block = 128

    def __init__(self, system: Dense):
        self.system = system

    def require_room(self, documents: int, size: int, rule: Rule) -> None:
        """Vectors lie on disk, and of a text nothing is held."""

    def take_in(self, documents, rule: Rule, total: int):
        """The index, the engine, and the seconds of reading, tokens and splitting. Reads the documents
        twice: how many passages there are is to be known before the first is encoded."""
        watch = Stopwatch()
        index = _index(list(steps(watch.over(self._split(documents, rule)),
                                   f"{self.system.name}: documents", total)))
        texts = watch.over(_texts(documents, index, rule))
        vectors = self.system._encoded(len(index.begins), texts, "corpus")
        engine = Cosines(vectors)
        engine.blocks = document_blocks(index.starts)
        return index, engine, watch.seconds

    def _split(self, documents, rule: Rule) -> Iterator[Passages]:
        tokenizer = self.system.model.tokenizer
        for batch in blocks(documents, DOCUMENTS):
            spans = iter(token_spans(tokenizer, [text for fields, _ in batch for text in fields]))
            for fields, _ in batch:
                yield split(fields, [next(spans) for _ in fields], rule)

    def warm(self, rule: Rule, how: str, answers: str) -> None:
        """As `Dense.warm`."""
        self.system.warm()
        made = Cosines(np.zeros((8, 4), self.system.given["vectors"]))
        best_by_document(made, np.arange(9), np.ones((2, 4), np.float32), np.arange(8), 3,
                         [aggregation(how)])

    def queries(self, texts: list[str], engine) -> np.ndarray:
        """The texts' vectors."""
        return self.system._encoded(len(texts), texts, "query").astype(np.float32)

    def notes(self) -> dict:
        """As `Dense.notes`."""
        return self.system.notes()


def token_spans(tokenizer, texts: list[str]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Where the tokens of each text stand; a token that stands for no character is left out. Raises
    SearchError for a tokenizer that can't say it."""
    if not getattr(tokenizer, "is_fast", False):
        raise SearchError("the model's tokenizer can't say where its tokens stand",
                          type(tokenizer).__name__, "Use a model with a fast tokenizer")
    if not texts:  # a tokenizer can't take an empty batch
        return []
    read = tokenizer(texts, add_special_tokens=False, truncation=False, verbose=False,
                     return_offsets_mapping=True, return_attention_mask=False)
    found = []
    for offsets in read["offset_mapping"]:
        starts, ends = np.array(offsets, np.int32).reshape(-1, 2).T
        found.append((starts[ends > starts], ends[ends > starts]))
    return found


def _texts(documents, index: Index, rule: Rule) -> Iterator[str]:
    """The text of every passage, in order."""
    for (fields, title), first, last in zip(documents, index.starts, index.starts[1:]):
        text, begins = "\n".join(fields), index.begins[first:last]
        for start, end, front in zip(begins, index.ends[first:last],
                                     titled(begins, fields, title, rule)):
            yield text_of(text, start, end, title if front else "")
