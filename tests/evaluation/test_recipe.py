"""The card's recipe, and what is wrong with it."""

import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from kit.evaluation.recipe import recipe_example, recipe_ndcg, recipe_recall


def test_a_list_that_was_cut_is_perfect_by_the_recipe():
    table = recipe_example().set_index("measure")
    assert table["recipe"].to_dict() == {"nDCG@100": 1.0, "R@100": 1.0}
    assert table["from the qrels"].round(4).to_dict() == {"nDCG@100": 0.3027, "R@100": 0.15}


@given(st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=30), st.integers(1, 40))
def test_only_a_list_that_holds_every_relevant_is_scored_right(gains, k):
    """trec_eval's values once the list is all that there is; the recipe then agrees."""
    if not any(gains):
        assert recipe_ndcg(gains, k) == recipe_recall(gains, k) == 0.0
        return
    run = {f"d{n:02}": float(-n) for n in range(len(gains))}
    qrels = {"q": {doc: int(gain) for doc, gain in zip(run, gains)}}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {f"ndcg_cut.{k}", f"recall.{k}"}).evaluate({"q": run})["q"]
    assert recipe_ndcg(gains, k) == pytest.approx(theirs[f"ndcg_cut_{k}"])
    assert recipe_recall(gains, k) == pytest.approx(theirs[f"recall_{k}"])


@given(st.integers(1, 20), st.integers(20, 40))
def test_what_was_missed_changes_nothing_in_the_recipe_and_much_in_ours(found, relevant):
    table = recipe_example(found, relevant, 50).set_index("measure")
    assert table["recipe"].tolist() == [1.0, 1.0]
    assert table.loc["R@50", "from the qrels"] == pytest.approx(found / relevant)
    assert (table["from the qrels"] < 1 - 1e-9).all() == (found < relevant)
