"""SIGKILL, SIGTERM and Ctrl-C in a notebook: no process stays, and the same command goes on.

Many more kills, with vectors: tests/soak.
"""

import signal

import pytest
import yaml
from killing import STATUS, Pipeline
from stages import assert_as_good_as, small_experiment


@pytest.fixture(scope="module")
def arguments(tmp_path_factory, make_collection):
    folder = tmp_path_factory.mktemp("signals")
    values = small_experiment(folder, make_collection, folder)
    del values["outputs"]
    (folder / "own.yaml").write_text(yaml.safe_dump(values))
    return [str(folder / "own.yaml")]


def test_each_signal_ends_all_processes_and_the_same_command_goes_on(arguments, tmp_path):
    whole, outputs = tmp_path / "whole", tmp_path / "outputs"
    status, said = Pipeline(arguments, whole, tmp_path / "0").end()
    assert status == 0, said
    for n, (how, notebook) in enumerate([(signal.SIGKILL, "30_retrieve"), (signal.SIGTERM, "40_score"),
                                         (signal.SIGINT, "20_audit")], 1):
        home = tmp_path / str(n)
        assert Pipeline(arguments, outputs, home).stop_in(notebook, how, 2) == STATUS[how]
        if how != signal.SIGKILL:
            assert (home / "said").read_text().splitlines()[-1].startswith("kit: stopped; the same")
            assert [f.name for f in home.iterdir()] == ["said"]
    status, said = Pipeline(arguments, outputs, tmp_path / "4").end()
    assert status == 0, said
    assert_as_good_as(outputs, whole)
