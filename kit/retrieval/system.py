"""The one call: a system answers `search(query_text, topk)` with an ordered list of identifiers.

The systems that ship also answer a batch, with scores. What they all have in common:

- `name`, `version`: what a scorecard calls it
- `given`: everything that its ranking depends on as it was asked for, as plain data; it names
  the run's folder, so it is known before a model is loaded
- `settings`: the same as resolved, with the defaults that the model decides
- `prepare(ids, texts)`: takes in the corpus, once
- `search(query_text, topk) -> list[str]`
- `search_batch(query_texts, topk) -> list[Answer]`
- `notes() -> dict[str, int]`: what it saw since it was last asked, such as texts that it cut
"""

from typing import NamedTuple

import numpy as np

from kit.errors import SearchError
from kit.params import Params


class Answer(NamedTuple):
    """One query's ranking: identifiers, best first, and their float32 scores (None: an order)."""

    ids: list[str]
    scores: np.ndarray | None


def make_system(name: str, params: Params):
    """The system of that name, not yet prepared. Raises SearchError for a name that is unknown."""
    if name == "bm25":
        from kit.retrieval.bm25 import Bm25
        return Bm25.from_params(params)
    if name == "embedding":
        from kit.retrieval.dense import Dense  # torch takes seconds to import
        return Dense.from_params(params)
    raise unknown_system(name, params)


def require_systems(params: Params) -> list[str]:
    """The names of all systems of an experiment, run files last. Raises SearchError."""
    for name in params.systems:
        if name not in ("bm25", "embedding", *params.run_files):
            raise unknown_system(name, params)
    names = list(dict.fromkeys([*params.systems, *params.run_files]))
    if not names:
        raise SearchError("there is no system to search with", "systems", "Name one, such as bm25")
    return names


def unknown_system(name: str, params: Params) -> SearchError:
    known = ["bm25", "embedding", *params.run_files]
    return SearchError(f"unknown system '{name}'", "systems",
                       f"Known are {', '.join(known)}; a run of your own goes into run_files")


def top_k(scores: np.ndarray, places: np.ndarray, k: int) -> np.ndarray:
    """The positions of the k best under the tie rule: score descending, then id descending.

    scores: float32, any length n; places: each identifier's place in ascending byte order.
    Exact whatever the order of the input: all that tie with the k-th stay until the rule decides.
    """
    kept = np.arange(len(scores))
    if len(scores) > k:
        kept = np.flatnonzero(scores >= np.partition(scores, len(scores) - k)[len(scores) - k])
    return kept[np.lexsort((-places[kept], -scores[kept]))][:k]
