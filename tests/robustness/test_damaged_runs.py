"""Damaged runs are refused in one line that says what, where and what to do."""

import pytest
from damage import runs
from damage.harness import require_accepted, require_refused


@pytest.mark.parametrize("damage", runs.DAMAGES, ids=lambda d: d.name)
def test_a_damaged_run(home, capsys, damage):
    require_refused(damage, home, capsys)


@pytest.mark.parametrize("odd", runs.ACCEPTED, ids=lambda d: d.name)
def test_an_odd_run_that_is_taken(home, capsys, odd):
    require_accepted(odd, home, capsys)
