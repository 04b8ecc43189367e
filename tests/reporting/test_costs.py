"""Quality against seconds and declared money: the front, cards, refusals, and what is shown."""

import math
import re

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.errors import ParamsError
from kit.params import make_params
from kit.pipeline import check_experiment
from kit.reporting import card_page, costs, plots, score
from kit.reporting.costs import against, finding, front, require_priced, seconds_a_query
from kit.reporting.scorecard import markdown
from kit.reporting.verify import verify
from kit.retrieval import execute

PRICED = {"system_costs": {"mine": 0.002}, "cost_currency": "EUR"}
points = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=8)


@given(points)
def test_the_front_is_what_no_other_beats(rows):
    """Said once more, every two of them."""
    frame = pd.DataFrame(rows, columns=["cost", "mean"], index=[f"s{n}" for n in range(len(rows))])
    for i, (cost, mean) in enumerate(rows):
        beaten = any(c <= cost and m >= mean and (c, m) != (cost, mean) for c, m in rows)
        assert front(frame).iloc[i] == (not beaten)


@given(points)
def test_a_title_says_who_is_beaten_or_what_more_costs(rows):
    frame = pd.DataFrame(rows, columns=["cost", "mean"], index=[f"s{n}" for n in range(len(rows))])
    frame["front"] = front(frame)
    told = finding(frame, "nDCG@10", "dearer")
    if not frame["front"].all():
        loser, winner = re.match(r"(s\d+).*: (s\d+) has", told).groups()
        assert not frame.loc[loser, "front"] and frame.loc[winner, "front"]
        assert frame.loc[winner, "cost"] <= frame.loc[loser, "cost"] and frame.loc[winner, "mean"] >= frame.loc[loser, "mean"]
    elif len(rows) > 1 and len(set(rows)) > 1:
        high, low = re.search(r"(s\d+) has .* than (s\d+), and (?:costs|is dearer)", told).groups()
        assert frame.loc[low, "mean"] < frame.loc[high, "mean"] and frame.loc[low, "cost"] < frame.loc[high, "cost"]


@pytest.mark.parametrize(("cost", "queries", "sample", "expected"), [
    ({"search_seconds": 8.0}, 4, None, 2.0), ({"search_seconds": 8.0}, 400, {"size": 2}, 4.0),
    ({"search_seconds": 8.0, "inputs_search_seconds": 4.0}, 4, None, 3.0),
    ({"search_seconds": None}, 4, None, None), ({}, 4, None, None),
    ({"search_seconds": 8.0, "inputs_search_seconds": None}, 4, None, None)])
def test_seconds_a_query_are_those_of_all_stages(cost, queries, sample, expected):
    assert seconds_a_query(cost, queries, sample) == expected


def test_a_card_carries_the_declared_cost_and_is_verified(bench):
    path = bench.card(**PRICED)
    card = bench.read(path)
    assert card.price == {"per_query": 0.002, "currency": "EUR"} and verify(path).differences == []
    assert "0.002 EUR" in markdown(card) and "seconds a query, all stages" in markdown(card)
    told = dict(card_page.details(card))
    assert "EUR" in told["declared cost a query"] and float(told["seconds a query"]) >= 0
    assert bench.read(bench.card("public", **PRICED)).price is None  # declared of another


def test_a_cost_changes_no_run(bench):
    assert bench.run().folder == bench.run(**PRICED).folder


@pytest.mark.parametrize(("values", "told"), [
    ({"system_costs": {"mine": 1.0}}, "with their currency"), ({"cost_currency": "EUR"}, "with their currency"),
    ({"system_costs": {}, "cost_currency": "EUR"}, "with their currency"),
    ({"system_costs": {"bm26": 1.0}, "cost_currency": "EUR"}, "declared of 'bm26'.*Systems are mine")])
def test_costs_without_a_currency_or_a_system_are_refused(bench, values, told):
    with pytest.raises(ParamsError, match=told):
        require_priced(["mine"], bench.params(**values))
    with pytest.raises(ParamsError, match=told):
        score.write_scorecards(bench.open(), [bench.run()], {}, bench.params(**values))


@pytest.mark.parametrize("values", [
    {"system_costs": {"mine": -1.0}}, {"system_costs": {"mine": math.nan}}, {"system_costs": {"mine": math.inf}},
    {"system_costs": {"mine": "1"}}, {"cost_currency": ""}, {"cost_currency": " EUR"}, {"cost_currency": "E" * 21}])
def test_what_is_no_cost_or_currency_is_refused(values):
    with pytest.raises(ParamsError):
        make_params(values)


def test_a_cost_of_no_system_is_found_before_the_search(tmp_path):
    given_ = {"outputs": str(tmp_path / "out"), "systems": ["bm25"], "cost_currency": "EUR"}
    with pytest.raises(ParamsError, match="Systems are bm25"):
        check_experiment(make_params({**given_, "system_costs": {"bm2": 0.1}}))
    check_experiment(make_params({**given_, "system_costs": {"bm25": 0.1}}))


# --- shown ----------------------------------------------------------------------------------------

@pytest.fixture
def shown(bench, monkeypatch):
    """What is shown: titles of pictures, frames behind them, tables and sentences."""
    found = {"pictures": [], "tables": [], "said": [], "frames": []}
    monkeypatch.setattr(costs.show, "picture", lambda figure, alt: found["pictures"].append((figure, alt)))
    monkeypatch.setattr(costs.show, "display", lambda table: found["tables"].append(table))
    monkeypatch.setattr(costs.show, "say", found["said"].append)
    drawn = plots.trade

    def trade(frame, *args):
        found["frames"].append(frame)
        return drawn(frame, *args)
    monkeypatch.setattr(plots, "trade", trade)
    return found


def compared(bench, systems, **values):
    runs = [bench.run(system) for system in systems]
    params = bench.params(**values)
    cards = [bench.read(bench.carded(run, **values)) for run in runs]
    return cards, score.evaluate_runs(bench.open(), runs, params), params


def test_quality_stands_against_declared_costs(bench, shown):
    priced = {"system_costs": {"mine": 0.0, "bm25": 0.5}, "cost_currency": "EUR"}
    cards, evaluations, params = compared(bench, ("mine", "bm25", "public"), **priced)
    costs.show_prices(cards, evaluations, "RR", params)
    frame = shown["frames"][0]
    assert list(frame.index) == ["mine", "bm25"] and frame["cost"].tolist() == [0.0, 0.5]
    assert frame["mean"].tolist() == [evaluations[name].mean("RR") for name in frame.index]
    (figure, alt) = shown["pictures"][0]
    assert "EUR a query, as declared" in alt and plots.drawn(figure).startswith(b"\x89PNG")
    text = shown["tables"][0].data
    assert "public" in text and "—" in text  # in the table, without a cost


def test_without_a_declared_cost_it_says_how_to_declare_one(bench, shown):
    costs.show_prices(*compared(bench, ("mine", "bm25"))[:2], "RR", bench.params())
    assert shown["pictures"] == [] and "system_costs" in shown["said"][0]


def test_quality_stands_against_measured_seconds(bench, shown):
    cards, evaluations, params = compared(bench, ("mine", "bm25", "file"))
    costs.show_times(cards, evaluations, "RR", params)
    assert set(shown["frames"][0].index) == {"mine", "bm25"}  # a run file states no time
    assert "seconds a query" in shown["pictures"][0][1]
    costs.show_times(cards[2:], evaluations, "RR", params)
    assert "run file" in shown["said"][0]


def test_a_rerankers_seconds_include_the_first_stage(bench):
    first = bench.run()
    second = execute.rerank_run(bench.open(), first, bench.params(rerank_with="test_reranked_cards:Turned"))
    card = bench.read(bench.carded(second))
    own, before = card.cost["search_seconds"], first.manifest["cost"]["search_seconds"]
    assert seconds_a_query(card.cost, card.queries, None) == pytest.approx((own + before) / 4)


def test_intervals_are_those_of_the_figures(bench):
    _, evaluations, params = compared(bench, ("mine", "bm25"))
    frame = against(evaluations, {"mine": 1.0}, "nDCG@2", params.seed)
    figures = score.figures_of_runs(bench.open(), [bench.run()], params)["mine"]
    whole = figures[(figures["slice"] == "all") & (figures["protocol"] == "all")].set_index("measure").loc["nDCG@2"]
    assert frame.loc["mine", ["mean", "low", "high"]].tolist() == pytest.approx(whole[["mean", "low", "high"]].tolist())
    assert frame["front"].tolist() == [True, False]


@pytest.mark.parametrize("steps", [[0, 1, 2], [0, 10, 20], [0, 0.1, 0.3]])
def test_columns_are_as_wide_as_their_steps(steps):
    frame = pd.DataFrame({"query": [3, 4, 5], "claim": [1, 2, 1]}, index=steps)
    bars = plots.grouped_columns(frame, "t", "x", "y").axes[0].patches
    assert {round(bar.get_width() / (steps[1] - steps[0]), 9) for bar in bars} == {0.4}
