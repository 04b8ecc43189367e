"""The one call: a system answers `search(query_text, topk)` with an ordered list of identifiers.

The systems that ship also answer a batch, with scores. What they all have in common:

- `name`, `version`: what a scorecard calls it
- `given`: everything that its ranking depends on as it was asked for, as plain data; it names
  the run's folder, so it is known before a model is loaded
- `settings`: the same as resolved, with the defaults that the model decides
- `expect(corpus)`: where there is one, is told first what texts come (see corpus.py)
- `prepare(ids, texts)`: takes in the corpus, once; a system without it has a corpus of its own
- `search(query_text, topk) -> list[str]`
- `search_batch(query_texts, topk) -> list[Answer | str]`: a text says how it failed on the query
- `notes() -> dict[str, int]`: what it saw since it was last asked, such as texts that it cut;
  a name that ends in `_most` is the greatest of its kind, all others are added up
- `cost()`, `close()`: where there are any, what a manifest adds to the run's cost, and what ends
  it, well or not

One that searches passages (see `by_passage`) says so by `passages = True`: its corpus comes as fields.
"""

import traceback
from typing import NamedTuple

import numpy as np

from kit.visible import discreet


class Answer(NamedTuple):
    """One query's ranking: identifiers, best first, and their float32 scores (None: an order).

    passages: int32, identifiers × `run.PASSAGE_COLUMNS`: where each scored; None: not of passages.
    """

    ids: list[str]
    scores: np.ndarray | None
    passages: np.ndarray | None = None


RERANKED = "+rerank"  # behind the name of a system whose run a second stage puts in another order


def first_stage(name: str) -> str | None:
    """The system whose run is reranked under this name; None where none is."""
    return name.removesuffix(RERANKED) if name.endswith(RERANKED) else None


def top_k(scores: np.ndarray, places: np.ndarray, k: int) -> np.ndarray:
    """The positions of the k best under the tie rule: score descending, then id descending.

    scores: float32, any length n; places: each identifier's place in ascending byte order.
    Exact whatever the order of the input: all that tie with the k-th stay until the rule decides.
    """
    kept = np.arange(len(scores))
    if len(scores) > k:
        kept = np.flatnonzero(scores >= np.partition(scores, len(scores) - k)[len(scores) - k])
    return kept[np.lexsort((-places[kept], -scores[kept]))][:k]


def cut(answer: Answer, own_entry: str | None, depth: int) -> tuple[Answer, int, bool]:
    """The answer under the tie rule, without the query's own entry, cut to the depth; the rank at
    which that entry stood among the documents, 0 if nowhere; and whether the cut fell into a tie. An
    order without scores gets falling ones."""
    ids, scores, passages = _in_order(answer)
    rank = list(dict.fromkeys(ids)).index(own_entry) + 1 if own_entry in ids else 0
    left = [i for i, name in enumerate(ids) if name != own_entry]
    tied = len(left) > depth and scores[left[depth - 1]] == scores[left[depth]]
    left = left[:depth]
    return Answer([ids[i] for i in left], scores[left],
                  None if passages is None else passages[left]), rank, bool(tied)


def _in_order(answer: Answer) -> Answer:
    """Identifiers and float32 scores by the tie rule: a cut in any other order keeps the wrong."""
    ids, scores, passages = answer
    if scores is None:
        return Answer(ids, np.arange(len(ids), 0, -1).astype(np.float32))
    scores = np.asarray(scores, np.float32)
    # stable; text compares by code point, which is the order of its UTF-8 bytes
    order = sorted(range(len(ids)), key=ids.__getitem__, reverse=True)
    order.sort(key=lambda i: -scores[i])
    return Answer([ids[i] for i in order], scores[order],
                  None if passages is None else passages[order])


def one_line(text: str, most: int) -> str:
    """A foreign text as one line of at most that many characters, all of which UTF-8 can hold, and
    without a secret."""
    return " ".join(discreet(text).split()).encode("utf-8", "backslashreplace").decode()[:most].rstrip()


def said(error: BaseException) -> str:
    """A foreign error as one line of bounded length, without its traceback."""
    return one_line("".join(traceback.format_exception_only(error)), 300)
