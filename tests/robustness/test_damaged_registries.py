"""Damaged registries and files of splits are refused in one line that says what, where and what to do."""

import pytest
from damage import registries, splits
from damage.harness import require_accepted, require_refused


@pytest.mark.parametrize("damage", registries.DAMAGES, ids=lambda d: d.name)
def test_a_damaged_registry(home, capsys, monkeypatch, damage):
    monkeypatch.setenv("KIT_REGISTRY", str(home.path / "registry.yaml"))
    require_refused(damage, home, capsys)


@pytest.mark.parametrize("damage", splits.DAMAGES, ids=lambda d: d.name)
def test_damaged_splits(home, capsys, damage):
    require_refused(damage, home, capsys)


@pytest.mark.parametrize("odd", splits.ACCEPTED, ids=lambda d: d.name)
def test_odd_splits_that_are_taken(home, capsys, odd):
    require_accepted(odd, home, capsys)
