"""A reranked run's card is never more quotable than that of its first stage, and is held to every rule."""

import pytest

from kit.reporting.card_comparison import compare
from kit.reporting.scorecard import markdown
from kit.reporting.verify import verify
from kit.retrieval import execute, rerank

THEIRS = "test_reranked_cards:Turned"


class Turned:
    """The order of the first stage, turned round."""

    version = "3"

    def rerank(self, query_text, documents):
        return {"order": [*range(len(documents))][::-1]}


def reranked(bench, run, **values):
    return execute.rerank_run(bench.open(), run, bench.params(rerank_with=THEIRS, **values))


def card_of(bench, run, **values):
    return bench.read(bench.carded(run, **values))


def test_one_of_a_quotable_run_is_quotable_and_says_its_depth_and_first_stage(bench):
    first = bench.run()
    card = card_of(bench, reranked(bench, first, rerank_depth=2))
    assert card.labels == [] and card.system["name"] == "mine+Turned"
    sheet = markdown(card)
    assert "documents reranked 2" in sheet and first.manifest["run_sha256"] in sheet


def test_its_card_is_verified_and_compared_with_the_first_stage(bench):
    first = bench.run()
    second = bench.carded(reranked(bench, first))
    assert verify(second).differences == []
    compared = compare([bench.carded(first), second])
    assert list(compared.names) == ["mine", "mine+Turned"]


def test_one_of_a_sample_is_a_sample(bench):
    run = reranked(bench, bench.run(sample=2), sample=2)
    assert card_of(bench, run, sample=2).labels == ["SAMPLE"]


def test_one_of_an_incomplete_run_is_incomplete(bench):
    card = card_of(bench, reranked(bench, bench.run("failing")))
    assert card.labels == ["INCOMPLETE"] and card.counts["failed_queries"] == 1


@pytest.mark.parametrize("git", [{"sha": "1", "dirty": True}, {"sha": None, "dirty": None}])
def test_one_of_a_run_by_changed_code_is_dirty(bench, git):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(execute, "git_state", lambda: git)
        first = bench.run()
    assert card_of(bench, reranked(bench, first)).labels == ["DIRTY"]


def test_one_of_a_run_searched_again_says_how_often(bench):
    for _ in range(2):
        bench.forget(bench.run())
    assert card_of(bench, reranked(bench, bench.run())).labels == ["RERUN 3"]


def test_one_that_is_made_again_says_so(bench):
    first = bench.run()
    bench.forget(reranked(bench, first))
    assert card_of(bench, reranked(bench, first)).labels == ["RERUN 2"]


def test_two_depths_are_two_systems_of_one_name(bench):
    first = bench.run()
    paths = [bench.carded(reranked(bench, first, rerank_depth=depth)) for depth in (1, 3)]
    assert list(compare(paths).names) == ["mine+Turned", "mine+Turned #2"]
    assert rerank.Second(bench.open(), first, rerank.reranker_of(bench.params(rerank_with=THEIRS)),
                         bench.params()).given["reranked"] == 3
