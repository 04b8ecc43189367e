"""In several processes as in one: the results, their order, the errors; and none of them stays."""

import multiprocessing
import os
from pathlib import Path

import pytest

from kit import progress
from kit.building import ptab, workers
from kit.building.asserted import Papers, read_papers
from kit.errors import BuildError


def test_results_come_in_the_order_of_things():
    assert list(workers.in_order(abs, range(-300, 0), "numbers", processes=2)) == [-n for n in range(-300, 0)]


def test_few_things_start_no_process():
    assert set(workers.in_order(os.getpgid, [0] * 3, "groups")) == {os.getpgid(0)}
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("processes", [1, 2])
def test_an_error_is_the_one_that_was_raised(processes):
    gone = ptab.Text("a.txt", "IPR2031-00417", ptab.PETITION, path=Path("nowhere") / "a.txt")
    papers = Papers(ptab.Trial("IPR2031-00417", "IPR"), "9876501", frozenset(), (gone,))
    with pytest.raises(BuildError, match=r"^the text can't be read: No such file .*nowhere.a.txt.*Mend or remove"):
        list(workers.in_order(read_papers, [papers] * 3, "trials read", processes))


def test_a_process_that_is_ended_from_outside_is_said():
    with pytest.raises(BuildError, match="ended from outside .trials read.*memory"):
        list(workers.in_order(os._exit, [1, 1], "trials read", processes=2))


def test_ctrl_c_leaves_no_process():
    results = workers.in_order(abs, range(1000), "numbers", processes=2)
    next(results)
    assert multiprocessing.active_children()
    with pytest.raises(KeyboardInterrupt):
        results.throw(KeyboardInterrupt)
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("processes", [1, 2])
def test_it_says_how_far_it_is(processes, monkeypatch, tmp_path):
    monkeypatch.setenv(progress.VARIABLE, str(tmp_path / "said"))
    monkeypatch.setattr(progress, "OFTEN", 0)
    assert len(list(workers.in_order(abs, range(7), "trials read", processes))) == 7
    assert (tmp_path / "said").read_text() == "trials read: 7 of 7"
