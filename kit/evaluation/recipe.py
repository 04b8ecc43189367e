"""nDCG and recall by the recipe that DAPFAM's card prints, beside ours.

The recipe takes one list, the gains of what was returned, and derives the ideal and the number of
relevants from it. Of a list that was cut it can't see what it lacks: a run that found 3 of 20
relevants, at the ranks 1 to 3 of 100, gets 1.0 for both. The kit takes both from the qrels
(`measures.ndcg`, `measures.recall`). The recipe is here to be shown; nothing is scored by it.
"""

import numpy as np
import pandas as pd

from kit.evaluation.measures import Hits, per_query

FOUND, RELEVANT, DEPTH = 3, 20, 100


def recipe_ndcg(gains: list[float], k: int) -> float:
    """DCG of the first k over that of the same list sorted by its own gains; 0 without a gain."""
    gains = np.asarray(gains, float)
    discounts = 1 / np.log2(np.arange(2, len(gains[:k]) + 2))
    ideal = -np.sort(-gains)[:k] @ discounts  # a view turned round sums otherwise
    return float(gains[:k] @ discounts / ideal) if ideal else 0.0


def recipe_recall(gains: list[float], k: int) -> float:
    """The relevants in the first k over those in the same list; 0 where it has none."""
    relevant = np.asarray(gains, float) > 0
    return float(relevant[:k].sum() / relevant.sum()) if relevant.any() else 0.0


def recipe_example(found: int = FOUND, relevant: int = RELEVANT, depth: int = DEPTH) -> pd.DataFrame:
    """What both give for a run that has `found` of `relevant` documents at its first ranks, and was
    cut at `depth`: a row a measure, columns measure, recipe, from the qrels."""
    gains = np.arange(depth) < found
    hits = Hits(["q"], gains[None], gains[None], np.array([depth]), np.array([relevant]), 0)
    ours = per_query(hits, [f"nDCG@{depth}", f"R@{depth}"]).loc["q"]
    return pd.DataFrame({"measure": ours.index, "recipe": [
        recipe_ndcg(gains, depth), recipe_recall(gains, depth)], "from the qrels": ours.to_list()})
