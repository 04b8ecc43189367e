"""Loops that are compiled when they are first called."""

import numba

from kit.text import compiled as module
from kit.text.compiled import compiled


def test_who_waits_for_the_compiler_is_told(tmp_path, monkeypatch):
    told = []
    monkeypatch.setattr(module, "say", told.append)
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "machine code"))
    loop = compiled(lambda number: number + 1)
    assert loop(1) == 2 and told == ["compiling, once on a machine", ""]
    assert loop(2) == 3 and len(told) == 2
