"""A collection of rows described: only what it has is spoken of."""

from kit.reporting import explore
from kit.reporting.show import query_with_relevants


def test_the_lengths_of_fields_are_those_that_a_table_has(mini, mini_litigation):
    of_rows = explore.field_lengths(mini_litigation).groupby("table")["field"].agg(list)
    assert of_rows["queries"] == ["text"]
    assert of_rows["corpus"] == explore.field_lengths(mini).groupby("table")["field"].agg(list)["corpus"]


def test_a_table_without_dates_has_no_years(mini, mini_litigation):
    assert explore.finding_years(explore.years(mini_litigation)).startswith("Half of the documents")
    both = explore.finding_years(explore.years(mini))
    assert both.startswith("Half of the queries are from ") and ", half of the documents" in both


def test_the_sections_of_rows_are_those_of_their_cpc(mini_litigation):
    counts = explore.classes(mini_litigation)["queries"]
    assert counts["Y"] == 2 and counts["none"] == 5


def test_a_rows_card_shows_its_text_and_classes(mini_litigation):
    row = mini_litigation.row("queries", "trial-001")
    html = query_with_relevants(mini_litigation, "trial-001").data
    assert row["text"][:60] in html and ", ".join(row["cpc"]) in html
    assert "Relevant · no category · mini-" in html
