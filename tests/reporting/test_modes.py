"""Modes: named by the query view; what a collection can't run is pending, with the reason."""

import pytest

from kit.building.judging import Audit, Judging
from kit.building.query_set import QuerySet, freeze, write_query_set
from kit.reporting import site
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


@pytest.fixture
def built(bench):
    """A query set whose one row was judged good, not frozen yet."""
    audit = Audit({"faithful": "Is it so?"}, items=1)
    made = QuerySet("natural_language", [{"qid": "r1", "text": "A valve.", "gold_apps": ["d1"], "claim": 1}],
                    bench.open(), {"queries": 1}, [], {}, {}, audit=audit,
                    beside={"audit.jsonl": [{"item": "r1", "stratum": "EP"}]})
    folder = write_query_set(made, bench.home / "plain")
    Judging(folder).judge("r1", {"faithful": True}, "ab")
    return folder


def test_a_card_of_a_built_set_states_its_mode_once_it_is_registered(bench, built):
    before = bench.read(bench.card(source=built, query_view="text"))
    assert before.mode == "unregistered query set" and "UNPINNED" in before.labels
    assert "query_set_audit" not in before.counts
    freeze(built)
    after = bench.read(bench.card(source=built, query_view="text"))
    assert (after.mode, after.generation) == ("natural_language", "plain-1") and "UNPINNED" not in after.labels
    assert after.counts["query_set_audit"].startswith("1 of 1 judged good")


def test_the_site_counts_no_mode_for_what_is_not_registered(bench, built):
    bench.card(source=built, query_view="text")
    page = (site.build(str(bench.outputs)).parent / "modes.html").read_text()
    assert page.index("natural_language <span class=\"badge\">pending") and "its mode stays pending" in page
