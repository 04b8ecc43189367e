"""The site: pages from scorecards and executed notebooks alone, the same bytes each time."""

import pytest

from kit.cli import main
from kit.reporting import score, site


@pytest.fixture
def outputs(bench):
    """The bench's outputs with an experiment of two cards and its index page."""
    experiment(bench, "mine", "bm25")
    return bench.outputs


def experiment(bench, *systems, name="first"):
    """Cards of the systems, and their list under the experiment's name."""
    collection, params = bench.open(), bench.params(experiment=name)
    runs = [bench.run(system) for system in systems]
    score.write_scorecards(collection, runs, score.figures_of_runs(collection, runs, params), params)


def files(outputs) -> dict:
    return {p: p.read_bytes() for p in (outputs / "site").rglob("*") if p.is_file()}


def test_publish_writes_the_site_and_prints_its_place(outputs, capsys):
    assert main(["publish", "--outputs", str(outputs)]) == 0
    assert capsys.readouterr().out == f"Report: {outputs / 'site/index.html'}\n"
    assert (outputs / "site/index.html").is_file()


def test_publish_again_changes_no_byte(outputs):
    site.build(str(outputs))
    before = files(outputs)
    site.build(str(outputs))
    assert files(outputs) == before and len(before) > 3


def test_publish_without_such_a_folder_is_one_line(capsys, tmp_path):
    assert main(["publish", "--outputs", str(tmp_path / "none")]) == 1
    assert "no such outputs folder" in capsys.readouterr().err
    assert not (tmp_path / "none").exists()


def test_pages_of_what_is_gone_are_removed_and_those_of_others_stay(outputs):
    site.build(str(outputs))
    stale = outputs / "site/scorecards/old.html"
    stale.write_bytes((outputs / "site/measures.html").read_bytes())
    foreign = [outputs / "site/mine.html", outputs / "site/scorecards/notes.txt"]
    for path in foreign:
        path.write_text("<p>my own</p>")
    site.build(str(outputs))
    assert not stale.exists() and all(path.exists() for path in foreign)
