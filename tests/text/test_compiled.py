"""Loops that are compiled when they are first called."""

import numba

from kit.progress import VARIABLE
from kit.text.compiled import compiled


def test_who_waits_for_the_compiler_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(tmp_path / "progress"))
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "machine code"))
    loop = compiled(lambda number: number + 1)
    assert loop(1) == 2
    told = tmp_path / "progress"
    assert told.read_text() == "compiling, once on a machine"
    told.unlink()
    assert loop(2) == 3 and not told.exists()
