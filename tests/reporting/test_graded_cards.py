"""Cards with a gain map and with class agreement: what they carry, and what may stand side by side."""

import pytest

from kit.errors import MeasureError, ScorecardError
from kit.reporting import score, site
from kit.reporting.card_comparison import compare
from kit.reporting.card_page import protocol_values
from kit.reporting.scorecard import figures_of, figure_table, markdown
from kit.reporting.verify import verify

ONE, OTHER = "nDCG(XY=2;A=1)@3", "nDCG(XY=3;A=1)@3"
NEAR = "ClassAgreement(class)@2"


@pytest.fixture
def unclassed(bench):
    """A collection in which one query and two documents have no class."""
    return bench.folder("unclassed", queries=["q1", "q2", {"query_id": "q3", "ipc": []}, "q4"],
                        corpus=["d1", {"doc_id": "d2", "ipc": []}, {"doc_id": "d3", "ipc": None}, "d4"])


def test_a_card_carries_the_gain_map_in_name_and_sentence(bench):
    card = bench.read(bench.card("turned", measures=["nDCG@3", ONE]))
    assert "XY 2, A 1" in card.sentences[ONE] and ONE in markdown(card)
    means = {f.measure: f.mean for f in card.figures if (f.slice, f.protocol) == ("all", "all")}
    assert means[ONE] != means["nDCG@3"]


def test_a_card_of_both_families_is_verified(bench, unclassed):
    found = verify(bench.card(source=unclassed, measures=[ONE, NEAR]))
    assert found.differences == [] and found.figures > 0


def test_two_gain_maps_are_two_measures(bench):
    paths = [bench.card("bm25", measures=[ONE], query_view="title"),
             bench.card(measures=[OTHER], query_view="title")]
    with pytest.raises(ScorecardError, match="no measure in common"):
        compare(paths)
    same = [paths[0], bench.card(measures=[ONE, OTHER], query_view="title")]
    assert set(compare(same).pairs["all"]["measure"]) == {ONE}


def test_who_is_left_out_is_counted_and_stands_beside_the_figure(bench, unclassed):
    card = bench.read(bench.card(source=unclassed, measures=["RR", NEAR]))
    assert card.counts[f"{NEAR}, queries left out"] == 1
    assert card.counts[f"{NEAR}, documents without a class"] == 3  # d2 three times, among d1 and d2
    table = figure_table(figures_of(card), "all")
    assert table.loc[NEAR, "all (n=4)"].endswith("(n=3)") and "n=" not in table.loc["RR", "all (n=4)"]
    shown = protocol_values(card, "all")["groups"]["All queries"]
    assert [row["n"] for row in shown if row["slice"] == "all"] == [4]


def test_a_comparison_tests_the_queries_that_a_measure_counts(bench, unclassed):
    compared = compare([bench.card(s, source=unclassed, measures=[NEAR, "RR"]) for s in ("bm25", "mine")])
    assert compared.measure == "RR"  # what leaves queries out heads nothing
    row = compared.pairs["all"].set_index("measure").loc[NEAR]
    assert row[["wins", "ties", "losses"]].sum() == 3 and 0 < row["p"] <= 1


def test_class_agreement_alone_heads_no_report(bench):
    with pytest.raises(MeasureError, match="every query"):
        score.require_measures(bench.params(measures=[NEAR]))


def test_the_sites_page_of_measures_tells_both(tmp_path):
    text = site._measures()
    assert "nDCG(GRADE=GAIN" in text and "ClassAgreement(LEVEL)@k" in text
