"""A run of somebody else's, taken in as a run of this collection."""

from types import SimpleNamespace

import pandas as pd
import pytest

from kit.errors import RunError
from kit.retrieval.external import open_run

COLLECTION = SimpleNamespace(
    ids=lambda table: pd.Series({"queries": ["q1", "q2"], "corpus": ["d1", "d2", "d3"]}[table]))


def opened(tmp_path, *lines: str):
    path = tmp_path / "their.trec"
    path.write_text("\n".join(lines))
    return open_run(path, COLLECTION)


def test_the_scores_rank_and_the_rank_column_is_counted(tmp_path):
    run, seen = opened(tmp_path, "q1 Q0 d1 1 1 x", "q1 Q0 d2 2 2 x", "q2 Q0 d3 1 1 x")
    assert run["doc_id"].to_pylist() == ["d2", "d1", "d3"]
    assert seen == {"unknown_queries": 0, "rank_disagrees": 2}


@pytest.mark.parametrize("ranks", [("0", "1"), ("1", "2"), ("-", "-")])
def test_ranks_from_0_and_none_at_all_agree(tmp_path, ranks):
    _, seen = opened(tmp_path, f"q1 Q0 d1 {ranks[0]} 2 x", f"q1 Q0 d2 {ranks[1]} 1 x")
    assert seen["rank_disagrees"] == 0


def test_unknown_queries_are_counted_once_each_and_left_out(tmp_path):
    run, seen = opened(tmp_path, "q1 Q0 d1 1 2 x", "no Q0 d1 1 2 x", "no Q0 zz 2 1 x", "nor Q0 d1 1 1 x")
    assert (set(run["query_id"].to_pylist()), seen["unknown_queries"]) == ({"q1"}, 2)


def test_a_run_of_another_collections_queries_is_refused(tmp_path):
    with pytest.raises(RunError, match="no query .* 'no'"):
        opened(tmp_path, "no Q0 d1 1 2 x")


def test_a_document_that_the_corpus_lacks_is_refused_with_its_line(tmp_path):
    with pytest.raises(RunError, match="'zz'.*'q2'.*line 4"):
        opened(tmp_path, "", "no Q0 d1 1 2 x", "q1 Q0 d1 1 2 x", "q2 Q0 zz 1 2 x")
