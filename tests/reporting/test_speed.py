"""Measured processes: what is measured is theirs, and a failure is told."""

import pytest

from kit.collection.sources import open_collection
from kit.errors import NotebookError
from kit.reporting import speed


def test_the_memory_is_the_processs_own():
    small = speed.timed(["-c", "pass"])
    large = speed.timed(["-c", "x = bytearray(200_000_000); sum(x[:20_000_000])"])
    assert 150 < large.peak_memory_mb - small.peak_memory_mb < 260
    assert 0 < small.processor_seconds and 0 < small.seconds


def test_a_command_that_fails_says_how():
    with pytest.raises(NotebookError, match="no such thing"):
        speed.timed(["-c", "raise SystemExit('no such thing')"])


def test_the_collection_is_made_once(tmp_path):
    folder = speed.generated(0.001, str(tmp_path))
    made = (folder / "README.md").stat().st_mtime_ns
    assert speed.generated(0.001, str(tmp_path)) == folder
    assert (folder / "README.md").stat().st_mtime_ns == made
    data = open_collection(str(folder))
    assert (len(data.ids("corpus")), len(data.ids("queries")), len(data.pairs)) == (75, 60, 66)
