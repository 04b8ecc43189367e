"""What the audit's notebook shows, also of a collection that is refused elsewhere."""

import pytest

from kit.params import Params
from kit.relevance.audit import audit
from kit.reporting import audit as report

BROKEN = [("q1", "d1"), ("q1", "gone")]


@pytest.fixture(scope="module")
def broken(hold_collection):
    return hold_collection(["q1", "q2"], ["d1", "d2"], BROKEN)


@pytest.fixture
def shown(monkeypatch) -> list[str]:
    """The HTML and texts that a cell would display."""
    seen = []
    for place in ("kit.reporting.audit.display", "kit.reporting.show.display"):
        monkeypatch.setattr(place, lambda item, **_: seen.append(getattr(item, "data", str(item))))
    return seen


def test_what_must_be_explained_stands_in_the_title(broken, hold_collection):
    assert report.finding_verdicts(audit(broken)) == "1 to be explained first: unknown documents"
    clean = hold_collection(["q1"], ["d1"], [("q1", "d1")])
    assert report.finding_verdicts(audit(clean)) == "Nothing contradicts the layout or the registry"


def test_every_check_stands_in_one_cell_of_the_verdicts(broken):
    findings = audit(broken)
    table = report.verdict_table(findings)
    assert table.to_numpy().sum() == len(findings)
    assert table.loc["integrity", "fault"] == 1


def test_the_histogram_counts_each_query_once_a_protocol(mini):
    table = report.positives_table(audit(mini, near=False))
    assert list(table.sum()) == [120, 120, 120]
    assert list(table.index) == list(range(len(table)))


def test_a_broken_collection_is_neither_searched_nor_split(broken, shown):
    table = report.decision_table(broken, audit(broken), Params())
    report.show_decisions(table, "nDCG@10", "bm25")
    report.show_splits(broken, 0)
    assert [s.count("breaks its layout") for s in shown] == [1, 1]


def test_each_doubt_shows_its_rows_and_its_sentence(broken, shown):
    report.show_rows(audit(broken))
    assert "gone" in "".join(shown) and "1 row." in "".join(shown)


def test_the_ledger_accounts_for_every_entry(mini, shown):
    report.show_ledger(mini)
    assert "1,023 entries make 641 pairs, of 641" in shown[-1]


def test_without_categories_there_is_nothing_to_clean(hold_collection, shown):
    report.show_ledger(hold_collection(["q1"], ["d1"], [("q1", "d1", None)]))
    assert "no categories" in shown[0]


def test_splits_that_keep_apart_leak_nothing_and_a_random_one_does(mini):
    shares, notes = report.compared_splits(mini, 0)
    assert list(shares) == ["kept apart", "by date", "by chance"]
    assert shares["kept apart"].fillna(0).eq(0).all()
    assert shares["by chance"].max() > 0
    assert notes == sorted(notes, key=lambda n: list(shares).index(n.split(":")[0]))


def test_splits_that_can_t_be_made_say_why(hold_collection):
    shares, notes = report.compared_splits(hold_collection(["q1"], ["d1"], [("q1", "d1")]), 0)
    assert any(n.startswith("kept apart: can't be made") for n in notes)
