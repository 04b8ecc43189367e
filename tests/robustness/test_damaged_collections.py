"""Damaged collections are refused in one line that says what, where and what to do."""

import pytest
from damage import collections
from damage.harness import require_accepted, require_refused


@pytest.mark.parametrize("damage", collections.DAMAGES, ids=lambda d: d.name)
def test_a_damaged_collection(home, capsys, damage):
    require_refused(damage, home, capsys)


@pytest.mark.parametrize("odd", collections.ACCEPTED, ids=lambda d: d.name)
def test_an_odd_collection_that_is_taken(home, capsys, odd):
    require_accepted(odd, home, capsys)
