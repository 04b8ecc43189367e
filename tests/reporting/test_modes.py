"""Modes: named by the query view; what a collection can't run is pending, with the reason."""

import pytest

from kit.reporting.modes import MODES, mode_of, mode_table


def views(name: str) -> dict:
    return {"query": {"view": name}, "corpus": {"view": "tacd"}}


@pytest.mark.parametrize(("view", "mode"), [
    ("tacd", "prior_art"), ("ta", "semantic_search"), ("ai_claim_summary", "natural_language"),
    ("text", "litigation"), ("claims", "custom view")])
def test_a_runs_mode_is_that_of_its_query_view(view, mode):
    assert mode_of(views(view)) == mode


def test_a_run_file_states_no_mode():
    assert mode_of(None) == "not stated"


def test_what_a_collection_can_run_and_what_it_lacks(bench):
    table = mode_table(bench.open()).set_index("mode")
    assert list(table.index) == list(MODES)
    assert table["status"].to_dict() == {
        "prior_art": "can be run", "semantic_search": "can be run", "natural_language": "can be run",
        "litigation": "pending"}
    assert "no registry holds" in table.loc["litigation", "lacks"]


def test_a_view_that_is_empty_in_every_query_is_lacking(bench):
    folder = bench.folder("bare", queries=[{"query_id": "q1", "ai_claim_summary": ""},
                                           {"query_id": "q2", "ai_claim_summary": None}],
                          qrels=[("q1", "d1")])
    row = mode_table(bench.open(folder)).set_index("mode").loc["natural_language"]
    assert row["status"] == "pending" and "ai_claim_summary is empty in every query" in row["lacks"]


def test_a_card_states_its_mode(bench):
    assert bench.read(bench.card(query_view="ta")).mode == "semantic_search"
    assert bench.read(bench.card("file")).mode == "not stated"


def test_litigation_has_the_measures_of_many_golds():
    assert {"primary_nDCG@10", "Success@10", "RR", "GoldCoverage@100"} == set(MODES["litigation"].measures)
