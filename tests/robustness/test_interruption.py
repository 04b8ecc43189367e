"""A pipeline that is killed, at any file it touches and at any time, is finished by the same command.

The kills are drawn by a fixed seed. Real notebooks, Ctrl-C and SIGTERM: tests/soak.
"""

import json
import random
import re
import shutil
import signal

import pytest
import stages
from stages import assert_as_good_as, ended, small_experiment, started

RUNS, KILLS = 10, 6  # each run is killed so often before it is let through
rng = random.Random(8)
# a run that goes on has less to do than a whole one
MOMENTS = [[(("at an event", "after a time")[(n + k) % 2], rng.random() * max(0.95 - k / 8, 0.5))
            for k in range(KILLS)] for n in range(RUNS)]


@pytest.fixture(scope="module")
def experiment(tmp_path_factory, make_collection):
    folder = tmp_path_factory.mktemp("killed")
    return lambda home, **values: small_experiment(folder, make_collection, home, **values)


@pytest.fixture(scope="module")
def whole(tmp_path_factory, experiment):
    """(outputs of a run that nothing stopped, its number of events, its seconds)."""
    home = tmp_path_factory.mktemp("whole")
    status, said = ended(started(stages.counted, experiment(home), home / "events", home=home))
    assert status == 0, said
    return home / "outputs", *json.loads((home / "events").read_text())


@pytest.mark.parametrize("run", range(RUNS))
def test_a_killed_run_is_finished_by_the_same_command(run, experiment, whole, tmp_path):
    outputs, events, seconds = whole
    for how, share in MOMENTS[run]:
        work, moment = (stages.stages_killed_at, round(share * (events - 1))) if (
            how == "at an event") else (stages.stages_killed_after, share * seconds + 0.001)
        status, said = ended(started(work, experiment(tmp_path), moment, home=tmp_path))
        if status == 0:  # it ended before its moment: from the beginning, at an event that comes for certain
            for name in ("outputs", "tables"):
                shutil.rmtree(tmp_path / name)
            status, said = ended(started(stages.stages_killed_at, experiment(tmp_path),
                                         round(share * (events - 1)), home=tmp_path))
        assert status in (-signal.SIGKILL, -signal.SIGALRM), said
        KILLED.append(status)
    status, said = ended(started(stages.stages, experiment(tmp_path), home=tmp_path))
    assert status == 0, said
    assert_as_good_as(tmp_path / "outputs", outputs)
    assert not list((tmp_path / "tmp").iterdir())


KILLED = []


def test_at_least_fifty_were_killed():
    """Behind the kills of this file, in one process with them."""
    assert sum(status != 0 for status in KILLED) >= 50, KILLED


# --- other commands ---------------------------------------------------------------------------------

COMMANDS = {"audit": ["audit", "own", "--quick", "--rows", "made/rows"],
            "build": ["build", "semantic_search", "--collection", "own", "--out", "made/set"],
            "freeze": ["freeze", "set"]}


@pytest.fixture(scope="module")
def ready(tmp_path_factory, experiment):
    """A folder with a collection and a built query set."""
    home = tmp_path_factory.mktemp("ready")
    shutil.copytree(experiment(home)["collection"], home / "own")
    assert command(home, ["build", "semantic_search", "--collection", "own", "--out", "set"]) == 0
    return home


def command(home, arguments, *more) -> int:
    """The exit status of a command that is run with its folders below `home`."""
    status, said = ended(started(stages.command, [
        str(home / word) if word.startswith(("own", "made", "set")) else word for word in arguments], *more, home=home))
    assert "Traceback" not in said, said
    return status


def made(home) -> dict[str, bytes]:
    """What a command has left, by file, but for when it was."""
    return {str(f.relative_to(home)): re.sub(rb'"frozen": "[^"]*"', b"", f.read_bytes())
            for f in home.rglob("*") if f.is_file() and not f.is_relative_to(home / "tables")}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_killed_command_is_finished_by_the_same(name, ready, tmp_path):
    shutil.copytree(ready, tmp_path / "whole")
    assert command(tmp_path / "whole", COMMANDS[name], None, tmp_path / "events") == 0
    events = int((tmp_path / "events").read_text())
    for event in rng.sample(range(events // 2, events), 2):
        home = tmp_path / str(event)
        shutil.copytree(ready, home)
        assert command(home, COMMANDS[name], event) == -signal.SIGKILL
        command(home, COMMANDS[name])  # which refuses what is there whole
        assert made(home) == made(tmp_path / "whole")
