"""The miniature's whole pipeline, vectors included, stopped sixty times in its notebooks."""

import signal
from collections import Counter
from pathlib import Path

from killing import STATUS, Pipeline, kills, seconds_of
from stages import assert_as_good_as

from kit.files import ROOT
from kit.pipeline import NOTEBOOKS

# titles and abstracts, since whole texts take a minute to encode in each of the folders
ARGUMENTS = [str(ROOT / "params/mini.yaml"), "-p", "query_view", "ta", "-p", "corpus_view", "ta"]
KILLS = 60
IN_A_ROW = 6  # before one run is let through


def test_a_pipeline_that_is_stopped_anywhere_is_finished_by_the_same_command(tmp_path: Path):
    whole = tmp_path / "whole"
    status, said = Pipeline(ARGUMENTS, whole, tmp_path / "uninterrupted").end()
    assert status == 0, said
    seconds = seconds_of(whole / "logs/mini.log")
    killed = Counter()
    for n, (notebook, how, share) in enumerate(kills(KILLS, seed=8)):
        outputs, home = tmp_path / f"outputs-{n // IN_A_ROW}", tmp_path / f"kill-{n}"
        status = Pipeline(ARGUMENTS, outputs, home).stop_in(notebook, how, share * seconds[notebook])
        # a run that goes on has less to do, and may have ended before the signal
        assert status in (0, STATUS[how]), (home / "said").read_text()
        killed[notebook] += status != 0
        if how != signal.SIGKILL:
            assert not list(home.glob("kit-*"))  # torch keeps a folder of its own there
        if n % IN_A_ROW == IN_A_ROW - 1:
            status, said = Pipeline(ARGUMENTS, outputs, tmp_path / f"through-{n}").end()
            assert status == 0, said
            assert_as_good_as(outputs, whole)
    assert set(killed) == set(NOTEBOOKS) and killed.total() >= 50, killed


def test_two_pipelines_at_once_leave_what_one_leaves(tmp_path: Path):
    assert Pipeline(ARGUMENTS, tmp_path / "whole", tmp_path / "0").end()[0] == 0
    both = [Pipeline(ARGUMENTS, tmp_path / "outputs", tmp_path / str(n)) for n in (1, 2)]
    for each in both:
        status, said = each.end()
        assert status == 0, said
    assert_as_good_as(tmp_path / "outputs", tmp_path / "whole")
