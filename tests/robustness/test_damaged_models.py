"""Damaged model folders are refused in one line that says what, where and what to do; no code of theirs runs."""

import shutil

import pytest
from damage import models
from damage.harness import bounded, require_refused, require_said, snapshot

from kit.errors import SearchError
from kit.retrieval.dense import Dense


@pytest.fixture
def model(home, model_folder):
    """A home with a copy of the tiny model."""
    shutil.copytree(model_folder, home.path / "tiny")
    return home


@pytest.mark.parametrize("damage", models.DAMAGES, ids=lambda d: d.name)
def test_a_damaged_folder(model, capsys, damage):
    require_refused(damage, model, capsys)


@pytest.mark.parametrize("damage", models.LOADS, ids=lambda d: d.name)
def test_a_folder_that_can_not_be_loaded(model, monkeypatch, damage):
    damage.make(model)
    (model.path / "tiny" / "evil.py").write_text("open('pwned', 'w')\nclass Model: pass\n")
    before = snapshot(model.path)
    monkeypatch.chdir(model.path)
    with bounded(), pytest.raises(SearchError) as error:
        assert Dense(str(model.path / "tiny"), pooling="mean", query_prompt="", corpus_prompt="").settings
    require_said(damage, str(error.value), model.path)
    assert snapshot(model.path) == before


def test_the_folder_itself_is_loaded(model):
    assert Dense(str(model.path / "tiny"), pooling="mean", query_prompt="", corpus_prompt="").settings["dimensions"] == 32
