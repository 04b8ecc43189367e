"""Damaged rows files are refused in one line that says what, where and what to do."""

import pytest
from damage import rows
from damage.harness import require_accepted, require_refused


@pytest.mark.parametrize("damage", rows.DAMAGES, ids=lambda d: d.name)
def test_a_damaged_rows_file(home, capsys, damage):
    require_refused(damage, home, capsys)


@pytest.mark.parametrize("odd", rows.ACCEPTED, ids=lambda d: d.name)
def test_an_odd_rows_file_that_is_taken(home, capsys, odd):
    require_accepted(odd, home, capsys)
