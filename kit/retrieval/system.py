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


def top_k(scores: np.ndarray, places: np.ndarray, k: int) -> np.ndarray:
    """The positions of the k best under the tie rule: score descending, then id descending.

    scores: float32, any length n; places: each identifier's place in ascending byte order.
    Exact whatever the order of the input: all that tie with the k-th stay until the rule decides.
    """
    kept = np.arange(len(scores))
    if len(scores) > k:
        kept = np.flatnonzero(scores >= np.partition(scores, len(scores) - k)[len(scores) - k])
    return kept[np.lexsort((-places[kept], -scores[kept]))][:k]


def one_line(text: str, most: int) -> str:
    """A foreign text as one line of at most that many characters, all of which UTF-8 can hold, and
    without a secret."""
    return " ".join(discreet(text).split()).encode("utf-8", "backslashreplace").decode()[:most].rstrip()


def said(error: BaseException) -> str:
    """A foreign error as one line of bounded length, without its traceback."""
    return one_line("".join(traceback.format_exception_only(error)), 300)
