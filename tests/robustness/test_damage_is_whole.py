"""The corpus of damaged inputs has them for every door, and each once."""

import pytest
from damage import answers, cards, collections, models, params, registries, rows, runs, splits

DOORS = {
    "collections": (collections.DAMAGES, 120), "rows": (rows.DAMAGES, 70), "runs": (runs.DAMAGES, 70),
    "parameters": (params.DAMAGES, 120), "registries": (registries.DAMAGES, 30), "splits": (splits.DAMAGES, 40),
    "cards, ledgers and saved runs": (cards.DAMAGES, 120), "model folders": ([*models.DAMAGES, *models.LOADS], 55),
    "answers of a service": ([*answers.FAILS, *answers.STOPPED], 65)}


def test_there_are_enough():
    assert sum(len(table) for table, _ in DOORS.values()) >= 300


@pytest.mark.parametrize("door", DOORS)
def test_every_door_has_its_kinds(door):
    table, least = DOORS[door]
    names = [damage.name for damage in table]
    assert len(table) >= least
    assert [name for name in set(names) if names.count(name) > 1] == []


@pytest.mark.parametrize("door", [door for door in DOORS if door != "answers of a service"])
def test_every_message_has_three_parts(door):
    assert [damage.name for damage in DOORS[door][0] if not (damage.what and damage.where and damage.do)] == []
