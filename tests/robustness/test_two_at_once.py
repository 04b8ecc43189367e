"""Two pipelines on one outputs folder: neither hurts the other, and nothing is made twice."""

import json
import os

import pytest
import stages
from stages import assert_as_good_as, ended, names, small_experiment, started

from kit import ledger


@pytest.fixture(scope="module")
def experiment(tmp_path_factory, make_collection):
    folder = tmp_path_factory.mktemp("two")
    return lambda home, **values: small_experiment(folder, make_collection, home, **values)


def run_all(home, *all_values: dict) -> None:
    """Runs the stages of each in a process of its own, all begun before any is waited for."""
    homes = [home / f"process-{n}" for n in range(len(all_values))]
    for each in homes:
        each.mkdir()
    processes = [started(stages.stages, values, home=each)
                 for values, each in zip(all_values, homes, strict=True)]
    for process in processes:
        status, said = ended(process)
        assert status == 0, said


def test_the_same_experiment_twice_at_once_leaves_what_once_leaves(experiment, tmp_path):
    (tmp_path / "once").mkdir()
    run_all(tmp_path, experiment(tmp_path / "once"))
    (tmp_path / "twice").mkdir()
    run_all(tmp_path / "twice", *[experiment(tmp_path / "twice")] * 2)
    assert_as_good_as(tmp_path / "twice/outputs", tmp_path / "once/outputs")


def test_two_experiments_that_share_a_search_make_it_once_and_both_stand_on_the_site(
        experiment, tmp_path):
    run_all(tmp_path, experiment(tmp_path, experiment="one"),
            experiment(tmp_path, experiment="other", measures=["RR"]))
    outputs = tmp_path / "outputs"
    begun = [line.event["key"] for line in ledger.read(str(outputs)).lines
             if line.is_a(ledger.BEGUN)]
    assert len(begun) == len(set(begun)) == 3
    assert ledger.read(str(outputs)).faults() == []
    index = (outputs / "site/index.html").read_text()
    for name in ("one", "other"):
        listed = json.loads((outputs / f"reports/experiments/{name}.json").read_text())["scorecards"]
        assert len(listed) == 3
        assert len([f for f in (outputs / "site").rglob("*.html") if name in f.parts]) == len(stages.STAGES)
        for card in listed:
            assert card.removesuffix(".json") in index
            assert (outputs / "site/scorecards" / card).with_suffix(".html").exists()
    assert len(list(outputs.glob("reports/scorecards/*.json"))) == 6
    assert not [name for name in names(outputs) if name.endswith(".part")]


def test_what_a_live_process_writes_is_not_cleared(tmp_path):
    from kit.files import clear_leftovers, written_whole

    with written_whole(tmp_path / "mine") as part:
        part.write_text("half")
        assert clear_leftovers(tmp_path) == []
        part.write_text("whole")
    assert (tmp_path / "mine").read_text() == "whole"


def left_by(pid: int, folder, name: str = "run.parquet"):
    from kit import files

    path = folder / f".{name}.{files._HOST}-{pid}.0a1b2c3d.part"
    path.write_text("half")
    return path


def test_what_a_dead_process_has_left_is_cleared(tmp_path):
    from kit.files import clear_leftovers

    dead = os.fork()
    if not dead:
        os._exit(0)
    os.waitpid(dead, 0)
    left = left_by(dead, tmp_path)
    of_another_machine = tmp_path / f".run.parquet.ffffff-{dead}.0a1b2c3d.part"
    of_a_user = tmp_path / ".mine.part"
    for path in (of_another_machine, of_a_user):
        path.write_text("")
    assert clear_leftovers(tmp_path) == [left]
    assert not left.exists() and of_another_machine.exists() and of_a_user.exists()
