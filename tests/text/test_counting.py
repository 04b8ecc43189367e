"""Counts by several processes: the same as by one, and nothing left of those that end early."""

import subprocess
import sys

import pytest

from kit.errors import ParamsError, SearchError
from kit.text import counting
from kit.text.counting import count_view
from kit.text.views import texts
from kit.text.words import count_terms


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(counting, "BLOCK", 50_000)
    monkeypatch.setattr(counting, "WORTH", 2)


def test_any_number_of_workers_gives_the_same_counts(mini, small_blocks, monkeypatch):
    started = []
    monkeypatch.setattr(counting._Worker, "__init__", lambda self, seen, own=counting._Worker.__init__:
                        (own(self, seen), started.append(self))[0])
    counts, vocabulary = count_terms(texts(mini, "corpus", "tacd"))
    for workers in (1, 3):
        again, terms = count_view(mini, "corpus", "tacd", workers)
        assert (again != counts).nnz == 0 and again.dtype == counts.dtype
        assert (again.indices == counts.indices).all() and again.shape == counts.shape
        assert terms.packed() == vocabulary.packed()
        assert terms.known("valve").tolist() == vocabulary.known("valve").tolist()
    assert len(started) == 3 and all(w._process.returncode is not None for w in started)


def test_a_small_table_needs_no_worker(mini, monkeypatch):
    monkeypatch.setattr(counting, "_Worker", None)
    assert count_view(mini, "corpus", "title", 2)[0].shape[0] == 600


def test_a_worker_that_is_killed_is_an_error_and_leaves_none(mini, small_blocks, monkeypatch):
    started, enter = [], counting._Worker.__enter__

    def killed_at_once(worker):
        started.append(enter(worker))
        worker._process.kill()
        return worker

    monkeypatch.setattr(counting._Worker, "__enter__", killed_at_once)
    with pytest.raises(SearchError, match="ended early, with status -9"):
        count_view(mini, "corpus", "tacd", 2)
    assert [w._process.returncode for w in started] == [-9, -9]


@pytest.mark.parametrize("sent", [b"", b"\xff\xff\xff\xff\x10"])
def test_a_worker_ends_with_its_input(sent):
    """As when its parent is killed, in the middle of a block or not."""
    command = [sys.executable, "-m", "kit.text.counting"]
    done = subprocess.run(command, input=sent, capture_output=True, cwd=counting.ROOT, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_an_unknown_view_is_refused_at_the_door(mini):
    with pytest.raises(ParamsError, match="unknown view"):
        count_view(mini, "corpus", "tcad")
