"""Cards side by side: what is shown, which values are published, and what is refused."""

import pandas as pd
import pytest

from kit.cli import main
from kit.collection.registry import registry
from kit.errors import RuleError, ScorecardError
from kit.evaluation.evaluate import evaluate
from kit.reporting.calibration import MISSES, WITHIN, calibration_table
from kit.reporting.card_comparison import (
    compare,
    markdown,
    modes_markdown,
    standing,
    write,
)
from kit.reporting.comparison import side_by_side


@pytest.fixture
def cards(bench):
    return [bench.card(system) for system in ("mine", "bm25", "public")]


def test_bm25_comes_first_and_the_others_are_held_against_it(bench, cards):
    compared = compare(cards)
    assert list(compared.names) == ["bm25", "mine", "public"]
    assert set(compared.pairs["all"]["against"]) == {"bm25"}
    assert compared.systems.set_index("system")["baseline"].to_dict() == {
        "bm25": "BM25", "mine": "", "public": "public embedding"}


def test_the_figures_are_those_of_the_runs(bench, cards):
    runs = {name: bench.run(name) for name in ("bm25", "mine", "public")}
    evaluations = {name: evaluate(run.table, bench.open(), "all", ["nDCG@2", "RR", "GoldCoverage@2"])
                   for name, run in runs.items()}
    pairs = compare(cards).pairs
    assert list(pairs) == ["all", "scope OUT"] and pairs["all"].equals(side_by_side(evaluations, 0))
    far = {name: e.over("scope OUT") for name, e in evaluations.items()}
    assert pairs["scope OUT"].equals(side_by_side(far, 0))


def test_two_settings_of_one_system_are_told_apart(bench, cards):
    names = compare([*cards, bench.card("turned")]).names
    assert list(names) == ["bm25", "mine", "public", "mine #2"]


def test_a_measure_that_only_one_card_has_is_left_out_of_what_is_compared(bench):
    paths = [bench.card("bm25", measures=["AP", "RR"]), bench.card(measures=["nDCG@2", "RR"])]
    compared = compare(paths)
    assert compared.measure == "RR" and set(compared.pairs["all"]["measure"]) == {"RR"}


def test_cards_without_a_measure_in_common_are_refused(bench):
    paths = [bench.card("bm25", measures=["AP"], query_view="title"),
             bench.card(measures=["RR"], query_view="title")]  # a view of no mode has no measures
    with pytest.raises(ScorecardError, match="no measure in common"):
        compare(paths)


def test_a_mode_brings_its_measures_whatever_was_asked_for(bench):
    card = bench.read(bench.card(measures=["AP"], depth=100))
    assert {f.measure for f in card.figures} == {"AP", "nDCG@10", "R@100", "RR"}


def test_one_card_is_no_comparison(cards):
    with pytest.raises(ScorecardError, match="two scorecards"):
        compare(cards[:1])


def test_a_run_file_that_is_gone_is_said(bench, cards):
    bench.forget(bench.run())
    with pytest.raises(ScorecardError, match="is gone"):
        compare(cards)


def test_a_run_that_no_longer_gives_the_cards_means_is_refused(bench, cards):
    bench.patch.setattr("kit.reporting.verify.searched_ids", lambda *_: ["q1"])
    with pytest.raises(RuleError, match="rule 5.*recomputed"):
        compare(cards)


def test_the_sheet_shows_conditions_tables_and_marks(bench, cards):
    text = markdown(compare(cards))
    assert text.startswith("# Systems on tiny\n") and "generation tiny-1, protocol all, depth 3" in text
    for heading in ("## Systems", "## bm25: measures by slice", "## Differences", "## nDCG@2 by slice"):
        assert heading in text
    without = markdown(compare(cards[:2]))
    assert without.startswith("# Systems on tiny (not to be shown outside)")
    assert without.count("(not to be shown outside)") == 5  # the differences stand once a scope


def test_labels_stand_in_every_table_of_systems(bench):
    text = markdown(compare([bench.card(s, sample=2) for s in ("bm25", "mine", "public")]))
    assert "bm25: measures by slice, labels SAMPLE" in text
    rows = [line for line in text.splitlines() if line.startswith("| bm25 | 1 ")]
    assert len(rows) == 1 and "SAMPLE" in rows[0]


def test_a_folder_gets_sheet_and_pictures(cards, tmp_path):
    path = write(compare(cards), tmp_path / "shown")
    assert sorted(p.name for p in path.parent.iterdir()) == [
        "by-slice.png", "comparison.md", *(f"differences-{n}.png" for n in (1, 2, 3, 4))]
    assert "](differences-2.png)" in path.read_text(encoding="utf-8")


def test_the_command_line_prints_or_writes(cards, capsys, tmp_path):
    assert main(["compare", *map(str, cards)]) == 0
    assert capsys.readouterr().out.startswith("# Systems on tiny")
    assert main(["compare", *map(str, cards), "--out", str(tmp_path / "o")]) == 0
    assert (tmp_path / "o" / "comparison.md").exists()


def test_a_run_file_may_stand_beside_the_baselines(bench, cards):
    compared = compare([*cards, bench.card("file")])
    assert compared.systems.set_index("system").loc["file", "mode"] == "not stated"


def test_whether_a_table_may_be_shown_is_one_sentence(bench, cards):
    records = [bench.read(path).model_dump() for path in cards]
    assert standing(records, ["mine", "bm25", "public"]).startswith("May be shown outside")
    assert "BM25 is missing" in standing(records[:1], ["mine"])
    other = bench.read(bench.card(depth=2)).model_dump()
    assert "rule 2, identical conditions: they differ in depth" in standing([*records, other], list("abcd"))


# --- calibration ----------------------------------------------------------------------------------

@pytest.fixture
def calibrated(bench):
    """A function: the calibration of BM25's card with a published mean this far from ours."""
    def table(off: float, **changed):
        card = bench.read(bench.card("bm25", **changed.pop("values", {})))
        ours = next(f.mean for f in card.figures
                    if (f.protocol, f.slice, f.measure) == ("all", "all", "RR"))
        target = {"system": "BM25", "settings": {"k1": 1.2}, "views": {"query": "tacd", "corpus": "tacd"},
                  "tolerance": 0.013, "source": "a paper", "values": {"RR": {"ALL": ours - off, "OUT": 0.1}}}
        target["values"] = changed.pop("values_", target["values"])
        entry = bench.open().entry
        object.__setattr__(entry, "calibration", (target | changed,))
        return calibration_table({"bm25": card}, entry)
    return table


@pytest.mark.parametrize(("off", "verdict"), [(0, WITHIN), (0.012, WITHIN), (0.014, MISSES), (-0.014, MISSES)])
def test_ours_stands_beside_the_published_value(calibrated, off, verdict):
    row = calibrated(off).set_index("scope").loc["ALL"]
    assert row["difference"] == pytest.approx(off) and row["verdict"] == verdict
    assert (row["tolerance"], row["source"]) == (0.013, "a paper")


def test_each_scope_has_its_row_also_where_nothing_is_published(calibrated):
    table = calibrated(0).set_index("scope")
    assert list(table.index) == ["ALL", "IN", "OUT"]
    assert table.loc["OUT", "verdict"] == MISSES and table.loc["OUT", "ours"] > 0.2
    assert pd.isna(table.loc["IN", "published"]) and table.loc["IN", "verdict"] == "nothing is published"


def test_a_measure_that_the_card_does_not_have_is_pending(calibrated):
    row = calibrated(0, values_={"R@7": {"ALL": 0.1}}).set_index("scope").loc["ALL"]
    assert pd.isna(row["ours"]) and row["verdict"].startswith("pending")


@pytest.mark.parametrize("changed", [
    {"system": "other"}, {"settings": {"k1": 0.9}}, {"views": {"query": "ta", "corpus": "tacd"}},
    {"values": {"sample": 2}}], ids=["system", "settings", "views", "sample"])
def test_a_value_of_something_else_is_not_held_against_ours(calibrated, changed):
    assert calibrated(0, **changed).empty


def test_a_baseline_that_misses_is_marked_in_the_table_of_systems(bench, cards):
    target = {"system": "bm25", "views": {"query": "tacd", "corpus": "tacd"}, "tolerance": 0.013,
              "source": "a paper", "values": {"RR": {"ALL": 0.999}}}
    collection = bench.open()
    object.__setattr__(collection.entry, "calibration", (target,))
    compared = compare(cards, collection)
    assert compared.systems.set_index("system")["published values"].to_dict() == {
        "bm25": MISSES, "mine": "", "public": ""}
    assert "## Published values" in markdown(compared)


def test_every_published_value_in_the_registry_has_its_parts():
    targets = [t for entry in registry().values() for t in entry.calibration]
    assert targets
    for target in targets:
        assert {"system", "views", "tolerance", "source", "values"} <= set(target)
        assert set(target["views"]) == {"query", "corpus"} and 0.013 <= target["tolerance"] < 0.05
        for scopes in target["values"].values():
            assert set(scopes) <= {"ALL", "IN", "OUT"} and all(0 < v < 1 for v in scopes.values())


def test_modes_of_one_system_stand_on_one_sheet(bench):
    paths = [bench.card(), bench.card(query_view="ta")]
    sheet = modes_markdown(paths)
    assert "each mode against prior_art" in sheet and "semantic_search" in sheet
    assert "nDCG@2" in sheet and "delta" in sheet


def test_modes_of_two_systems_are_refused(bench):
    paths = [bench.card(), bench.card("turned", query_view="ta")]
    with pytest.raises(RuleError, match="rule 6, honest deltas"):
        modes_markdown(paths)
