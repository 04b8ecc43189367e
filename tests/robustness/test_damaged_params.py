"""Damaged parameters are refused in one line that says what, where and what to do."""

import pytest
from damage import params
from damage.harness import require_refused

from kit import pipeline
from kit.params import load_params


@pytest.fixture(autouse=True)
def no_notebook(monkeypatch):
    """What is not refused would be run."""
    monkeypatch.setattr(pipeline, "_execute", lambda *_: pytest.fail("a notebook was begun"))


@pytest.mark.parametrize("damage", params.DAMAGES, ids=lambda d: d.name)
def test_damaged_parameters(home, capsys, damage):
    require_refused(damage, home, capsys)
    assert not (home.path / "pwned").exists()


@pytest.mark.parametrize(("text", "name", "value"), params.READ, ids=lambda v: str(v)[:40])
def test_what_yaml_1_1_would_read_otherwise(tmp_path, text, name, value):
    path = tmp_path / "some.yaml"
    path.write_bytes(text.encode())
    found = getattr(load_params(path), name)
    assert found == value and type(found) is type(value)
