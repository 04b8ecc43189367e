"""Whether an environment is calibrated: on every card and comparison of it, by its BM25 run."""

import dataclasses

import pytest

from kit.collection.registry import registry
from kit.reporting import calibration, score, site
from kit.reporting.card_comparison import compare, markdown
from kit.reporting.scorecard import markdown as sheet
from kit.reporting.scorecard import read_scorecard
from kit.reporting.verify import verify

DEEP = {"depth": 100, "measures": ["nDCG@100", "RR"]}
NONE = "not calibrated: no BM25 run"


@pytest.fixture
def environment(bench):
    """A function: the paths of cards of systems, once a value of BM25 is published so far from ours."""
    ours = next(f.mean for f in bench.read(bench.card("bm25", **DEEP)).figures
                if (f.protocol, f.slice, f.measure) == ("all", "all", "nDCG@100"))
    bench.forget_cards()

    def cards(off: float, *systems: str, of="bm25", views=("tacd", "tacd"), **values) -> list:
        target = {"system": of, "settings": {"k1": 1.2, "b": 0.75}, "tolerance": 0.015,
                  "views": dict(zip(("query", "corpus"), views)), "source": "a paper",
                  "values": {"nDCG@100": {"ALL": ours - off, "OUT": 0.1}}}
        opened = bench.open()
        bench.known = dataclasses.replace(
            opened, entry=dataclasses.replace(opened.entry, calibration=(target,)))
        params = bench.params(**DEEP | {"experiment": "tried"} | values)
        runs = [bench.run(system, **DEEP | values) for system in systems]
        return score.write_scorecards(bench.known, runs, score.figures_of_runs(bench.known, runs, params),
                                      params)
    return cards


def said(paths) -> set[str | None]:
    return {read_scorecard(path).calibration for path in paths}


@pytest.mark.parametrize(("off", "begins"), [
    (0, "calibrated: "), (0.014, "calibrated: "), (0.016, "NOT CALIBRATED: "), (-0.016, "NOT CALIBRATED: ")])
def test_every_card_says_whether_bm25_meets_its_value(environment, off, begins):
    paths = environment(off, "mine", "bm25")
    one, = said(paths)
    assert one.startswith(begins) and "± 0.015 is published" in one
    for path in paths:
        assert f"**{one}**" in path.with_suffix(".md").read_text(encoding="utf-8")
        assert verify(path).differences == []


@pytest.mark.parametrize("values", [{"sample": 2}, {"views": ("ta", "tacd")}, {"of": "bm25-passages"}],
                         ids=["sample", "other view", "passages alone"])
def test_another_run_of_bm25_calibrates_nothing(environment, values):
    one, = said(environment(0, "mine", "bm25", **values))
    assert one is None if "of" in values else one.startswith(NONE)


def test_without_bm25_nothing_is_calibrated_until_it_was_run(environment):
    before, = said(environment(0, "mine"))
    assert before.startswith(NONE)
    environment(0, "bm25")
    after, = said(environment(0, "mine"))  # another card, for it says another thing
    assert after.startswith("calibrated: ")


def test_the_comparison_and_the_pages_say_it_too(bench, environment):
    paths = environment(0.2, "mine", "bm25")
    compared = compare(paths, bench.known)
    assert compared.calibrated == said(paths).pop()
    assert markdown(compared).count("**NOT CALIBRATED: ") == 1
    home = site.build(str(bench.outputs)).parent
    for page in (home / "index.html", *(home / "scorecards").glob("*.html")):
        assert '<p class="note">NOT CALIBRATED: ' in page.read_text(encoding="utf-8")


def test_the_comparison_of_others_finds_the_environments_bm25(bench, environment):
    environment(0.2, "bm25")
    assert compare(environment(0.2, "mine", "public"), bench.known).calibrated.startswith("NOT CAL")


def test_where_nothing_is_published_nothing_is_said(bench):
    card = bench.read(bench.card("bm25"))
    assert calibration.standing([card], bench.open().entry, str(bench.outputs)) is None
    assert card.calibration is None and "alibrated" not in sheet(card)


def test_dapfams_published_values_are_all_in_the_registry():
    """The table of published values, restated: ALL, IN, OUT of nDCG@100 and R@100 of ALL."""
    held = sorted((*t["values"]["nDCG@100"].values(), *t["values"].get("R@100", {}).values())
                  for t in registry()["dapfam"].calibration)
    assert held == sorted([
        (0.273, 0.303, 0.053, 0.328), (0.293, 0.328, 0.059, 0.347), (0.306, 0.348, 0.051, 0.363),
        (0.338, 0.384, 0.059, 0.407), (0.348, 0.391, 0.063, 0.417), (0.332, 0.374, 0.059, 0.402),
        (0.342, 0.386, 0.060), (0.372, 0.421, 0.062), (0.041, 0.046, 0.005), (0.226, 0.253, 0.041)])
    first = registry()["dapfam"].calibration[0]
    assert (first["system"], first["tolerance"]) == ("bm25", 0.015)
