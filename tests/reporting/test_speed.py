"""Measured processes: what is measured is theirs, and a failure is told."""

import subprocess

import pandas as pd
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


def test_a_measurement_has_two_threads_and_no_coretype(monkeypatch):
    given = {}

    def run(command, env, **_):
        given.update(env)
        return subprocess.CompletedProcess(command, 0, '{"kit": 1}', "")

    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    monkeypatch.setattr(speed.subprocess, "run", run)
    assert speed.measured("scoring", 60) == {"kit": 1}
    assert "OPENBLAS_CORETYPE" not in given
    assert {given[f"{name}_NUM_THREADS"] for name in ("NUMBA", "OPENBLAS", "OMP")} == {"2"}


def test_a_measurement_that_fails_says_how():
    with pytest.raises(NotebookError, match="invalid literal for int"):
        speed.measured("scoring", "many")


BASE = pd.DataFrame({"documents": [100, 1000], "queries": [60, 60], "seconds": [2.0, 20.0],
                     "preprocessing seconds": [1.0, 10.0], "index seconds": [1.0, 10.0],
                     "search seconds": [5.0, 4.0], "peak memory mb": [500.0, 700.0]})


def test_what_does_not_grow_is_not_extrapolated():
    lines = speed.beyond(BASE, pd.DataFrame({"documents": [100, 1000], "postings": [1000, 10_000]}))
    assert list(lines.index) == ["postings", "indexing, s", "memory, MB"]
    assert lines.loc["indexing, s", "at 609,000"] == pytest.approx(609_000 * 0.02)


def test_memory_that_is_the_libraries_alone_is_not_extrapolated():
    flat = BASE.assign(**{"peak memory mb": [478.0, 478.1]})
    lines = speed.beyond(flat, pd.DataFrame({"documents": [100, 1000], "postings": [1000, 10_000]}))
    assert "memory, MB" not in lines.index and "postings" in lines.index


def rows_of(bm25s: float, documents: int) -> pd.DataFrame:
    full = pd.DataFrame({"documents": [documents], "kit": [1.0], "bm25s numba": [bm25s],
                         "scipy": [7.0], "bm25s": [3.0]})
    base = BASE.iloc[-1:].assign(documents=documents)
    return speed.must_hold(base, full, full, full,
                           {"kit": 1.0, "pytrec_eval alone": 0.9, "queries": 10_000},
                           {"kit": 1.4, "bare product": 1.0, "documents": 75_050},
                           {"seconds": 60.0, "peak_memory_mb": 1.0, "documents": 900}).set_index("figure")


def test_a_bound_is_held_against_the_size_that_it_is_made_for():
    name = "a full-text query: bm25s (numba) / kit"
    assert rows_of(31, 7_505).loc[name, "holds"] == "yes"
    assert rows_of(29, 7_505).loc[name, "holds"] == "no"
    assert rows_of(29, 7_000).loc[name, "holds"] == "made for a larger size"
    told = rows_of(31, 7_505)["holds"]
    assert told["scoring: pytrec_eval alone / kit"] == "no"
    assert told["embeddings: kit / bare product"] == "yes"
    assert told["the whole baseline, minutes"] == "made for a larger size"
