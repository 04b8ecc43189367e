"""A grid of settings: chosen on one half, held against the other, scope by scope."""

import pandas as pd
import pytest

from kit.evaluation.evaluate import evaluate
from kit.evaluation.grid import CHOSEN, DOCUMENT, PLAIN, UNTUNED, Setting, choices, grid_figures, held
from kit.evaluation.tuning import Halves
from kit.retrieval.run import ranked

QUERIES = [f"q{n}" for n in range(6)]
PARTS = Halves(QUERIES[:3], QUERIES[3:], [])
SETTINGS = [Setting("s", 0, DOCUMENT), *(Setting("s", length, each) for length in (64, 128)
                                         for each in ("sumP", "maxP"))]
UNTUNED_SETTING = (64, "sumP")


@pytest.fixture
def build(hold_collection):
    """Each query has a near document (IN) and a far one (OUT), which reporting queries may swap."""
    def make(swapped: bool = False, far: bool = True):
        queries = [{"query_id": q, "ipc": ["F16K31/06"]} for q in QUERIES]
        docs = [{"doc_id": f"{kind}{q}", "ipc": [code]} for q in QUERIES
                for kind, code in (("near", "F16K1/00"), ("far", "A61B1/00"), ("no", "F16K1/00"),
                                   ("nofar", "A61B1/00"))]
        pairs = []
        for q in QUERIES:
            other = "no" if swapped and q in PARTS.reporting else ""
            pairs += [(q, f"{other or 'near'}{q}")]
            pairs += [(q, f"{'nofar' if other else 'far'}{q}")] if far else []
        return hold_collection(queries, docs, pairs)
    return make


def run_of(places: dict[str, list[str]]):
    """A run in which each query's documents stand in the order of these kinds."""
    rows = [(q, f"{kind}{q}", -rank) for q in QUERIES
            for rank, kind in enumerate(places["tuning" if q in PARTS.tuning else "reporting"])]
    return ranked(*zip(*rows))


GOOD, FAR_FIRST, BAD = (["near", "far", "no"], ["far", "no", "nofar", "near"], ["no", "nofar", "near"])
RUNS = {
    SETTINGS[0]: run_of({"tuning": BAD, "reporting": GOOD}),
    SETTINGS[1]: run_of({"tuning": BAD, "reporting": GOOD}),
    SETTINGS[2]: run_of({"tuning": FAR_FIRST, "reporting": BAD}),
    SETTINGS[3]: run_of({"tuning": GOOD, "reporting": BAD}),
    SETTINGS[4]: run_of({"tuning": BAD, "reporting": FAR_FIRST}),
}
READ = {setting: (lambda t=table: t) for setting, table in RUNS.items()}
MEASURES = ["RR", "R@2", "GoldCoverage@2"]


def tried(collection):
    return grid_figures(READ, collection, "all", MEASURES, PARTS.tuning)


def reported(collection, chosen):
    return held(READ, chosen, UNTUNED_SETTING, collection, "all", MEASURES, PARTS, 0)


def test_every_setting_scope_and_measure_has_its_figure_of_the_tuning_half(build):
    collection, grid = build(), tried(build())
    assert len(grid) == len(SETTINGS) * 4 * 3 and set(grid["n"]) == {3}
    names = {"ALL": "all", "IN": "scope IN", "OUT": "scope OUT", "OUT residual": "scope OUT residual"}
    for row in grid.itertuples():
        run = RUNS[Setting(row.system, row.length, row.aggregation)]
        whole = evaluate(run, collection, "all", MEASURES, PARTS.tuning)
        assert row.mean == whole.over(names[row.scope]).mean(row.measure)


def test_each_scope_has_a_choice_of_its_own_among_passages(build):
    assert choices(tried(build()), "RR") == {
        ("s", "ALL"): SETTINGS[2], ("s", "IN"): SETTINGS[3], ("s", "OUT"): SETTINGS[2],
        ("s", "OUT residual"): SETTINGS[2]}


def test_of_settings_that_are_alike_the_shorter_then_the_first_named_is_taken():
    rows = [("s", length, each, "ALL", "RR", 3, mean) for length, each, mean in [
        (0, DOCUMENT, 0.9), (128, "sumP", 0.5 - 2e-15), (64, "sumP", 0.4), (64, "maxP", 0.5 - 1e-15),
        (64, "avgP", 0.5)]]
    grid = pd.DataFrame(rows, columns=["system", "length", "aggregation", "scope", "measure", "n", "mean"])
    assert choices(grid, "RR") == {("s", "ALL"): Setting("s", 64, "maxP")}


def test_labels_of_the_reporting_half_change_no_choice_and_all_its_figures(build):
    chosen = choices(tried(build()), "RR")
    swapped = build(swapped=True)
    assert choices(tried(swapped), "RR") == chosen
    pd.testing.assert_frame_equal(tried(swapped), tried(build()))
    before, after = (reported(c, chosen).query("measure == 'RR'")["mean"] for c in (build(), swapped))
    assert (before != after).any()


def test_runs_of_the_reporting_half_change_no_choice(build):
    """The same where what the systems return for the other half is turned round."""
    chosen = choices(tried(build()), "RR")
    other = {}
    for setting, table in RUNS.items():
        frame = table.to_pandas()
        mine = frame["query_id"].isin(PARTS.reporting)
        frame.loc[mine, "score"] *= -1
        other[setting] = lambda f=frame: ranked(f["query_id"], f["doc_id"], f["score"])
    grid = grid_figures(other, build(), "all", MEASURES, PARTS.tuning)
    assert choices(grid, "RR") == chosen


def test_a_choice_is_held_against_the_untuned_setting_and_whole_documents(build):
    collection = build()
    chosen = choices(tried(collection), "RR")
    made = reported(collection, chosen)
    assert len(made) == 4 * 3 * 3 and set(made["n"]) == {3}
    mine = made[(made["scope"] == "OUT") & (made["measure"] == "RR")].set_index("setting")
    # far stands nowhere in BAD, second in GOOD
    assert mine["mean"].to_dict() == {CHOSEN: 0, UNTUNED: 0.5, PLAIN: 0.5}
    assert mine.loc[CHOSEN, ["length", "aggregation"]].tolist() == [64, "maxP"]
    assert mine.loc[UNTUNED, ["length", "aggregation"]].tolist() == [64, "sumP"]
    assert mine.loc[PLAIN, ["length", "aggregation"]].tolist() == [0, DOCUMENT]
    assert (made["low"] <= made["mean"]).all() and (made["mean"] <= made["high"]).all()


def test_a_scope_without_a_query_has_no_choice(build):
    grid = tried(build(far=False))
    assert set(grid.loc[grid["scope"] == "OUT", "n"]) == {0}
    assert grid.loc[grid["scope"] == "OUT", "mean"].isna().all()
    assert {scope for _, scope in choices(grid, "RR")} == {"ALL", "IN"}
