"""Damaged scorecards, ledgers and saved runs are refused in one message: what, where, what to do."""

import pytest
from damage import cards
from damage.harness import require_refused

from kit.cli import main


@pytest.mark.parametrize("damage", cards.DAMAGES, ids=lambda d: d.name)
def test_a_damaged_card_ledger_or_run(bench, capsys, damage):
    require_refused(damage, bench, capsys)


@pytest.mark.parametrize("command", ["verify", "compare", "publish", "publish a card", "publish an experiment", "fuse"])
def test_undamaged_outputs_are_taken(bench, capsys, command):
    assert main([str(word) for word in bench.commands()[command]]) == 0
