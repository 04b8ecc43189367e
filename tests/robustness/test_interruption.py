"""A pipeline that is killed, at any file it touches and at any time, is finished by the same command.

The kills are drawn by a fixed seed. Real notebooks, Ctrl-C and SIGTERM: tests/soak.
"""

import json
import random
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
        assert status in (0, -signal.SIGKILL, -signal.SIGALRM), said
        KILLED.append(status)
    status, said = ended(started(stages.stages, experiment(tmp_path), home=tmp_path))
    assert status == 0, said
    assert_as_good_as(tmp_path / "outputs", outputs)
    assert not list((tmp_path / "tmp").iterdir())


KILLED = []


def test_at_least_fifty_were_killed():
    """Behind the kills of this file, in one process with them."""
    assert sum(status != 0 for status in KILLED) >= 50, KILLED
