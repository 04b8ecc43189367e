"""What 15_build shows: figures counted anew from the rows, for sets of claims and for others."""

import pytest

from kit.building import made_up, report, semantic_search
from kit.building.query_set import write_query_set


@pytest.fixture(scope="module")
def plain(own_folders):
    return report.open_built(made_up.NAME)


@pytest.fixture(scope="module")
def titles(claimed, tmp_path_factory):
    folder = write_query_set(semantic_search.build(claimed), tmp_path_factory.mktemp("set") / "titles")
    return report.open_built(str(folder))


def test_the_losses_add_up_to_what_came_in(plain):
    frame = report.losses(plain)
    assert frame["n"].sum() == 120 and frame["share"].sum() == pytest.approx(1)
    assert frame["n"].iloc[0] == len(plain.rows) and frame["n"].iloc[1:].sum() == len(plain.lost)


def test_every_text_is_counted_in_the_step_of_its_words(plain):
    frame = report.lengths(plain)
    assert len(frame) <= 15 and frame.sum().to_dict() == {"query": len(plain.rows), "claim": len(plain.sources)}
    low, high = map(int, frame.index[3].split("–"))
    words = [len(row["text"].split()) for row in plain.rows]
    assert frame["query"].iloc[3] == sum(low <= n <= high for n in words)


def test_the_overlap_is_counted_in_tenths(plain):
    shares = [e["overlap"] for lines in plain.evidence.values() for e in lines]
    assert report.overlaps(plain).tolist() == [sum(n / 10 <= s < (n + 1) / 10 for s in shares) for n in range(10)]


def test_a_set_that_was_not_made_from_claims_has_nothing_to_compare(titles):
    assert list(report.lengths(titles)) == ["query"] and report.overlaps(titles).empty
    assert report.judged(titles) is None and "none was lost" in report.losses_said(titles)
