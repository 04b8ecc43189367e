"""Damaged model folders are refused in one line that says what, where and what to do; no code of theirs runs."""

import shutil
from pathlib import Path

import pytest
from damage import models
from damage.harness import require_refused


@pytest.fixture
def model(home, model_folder):
    """A home with a copy of the tiny model."""
    shutil.copytree(model_folder, home.path / "tiny")
    return home


@pytest.mark.parametrize("damage", models.DAMAGES, ids=lambda d: d.name)
def test_a_damaged_folder(model, capsys, damage):
    require_refused(damage, model, capsys)


@pytest.mark.parametrize("damage", models.LOADS, ids=lambda d: d.name)
def test_a_folder_that_can_not_be_loaded(model, capsys, monkeypatch, damage):
    monkeypatch.chdir(model.path)
    require_refused(damage, model, capsys)
    assert not Path("pwned").exists()
