"""Grades of pairs, and gain maps: how one is written, and what it refuses to guess."""

from itertools import combinations

import numpy as np
import pytest

from kit.collection.sources import open_collection
from kit.errors import MeasureError
from kit.relevance.grades import GRADES, gain_table, grades_of, read_gains, require_gains


def worth(held: set[str], text: str) -> float:
    return gain_table(read_gains(text))[sum(1 << GRADES.index(g) for g in held)]


@pytest.mark.parametrize(("held", "text", "expected"), [
    ({"X", "XY"}, "X=3;Y=2;A=1", 3), ({"Y", "XY"}, "X=3;Y=2;A=1", 2), ({"A"}, "X=3;Y=2;A=1", 1),
    ({"X", "Y", "XY"}, "X=3;Y=2;A=1", 3), ({"X", "Y", "XY"}, "X=2;Y=3;A=1", 3),  # the highest, whichever it is
    ({"A", "XY", "Y"}, "X=3;Y=2;A=1", 2), ({"A", "XY", "Y"}, "X=3;Y=2;A=5", 5),  # an overlap
    ({"XY"}, "XY=2;A=1", 2), ({"XY", "X"}, "XY=2;A=1", 2), ({"X"}, "XY=2;A=1", 2),  # rows state letters alone
    ({"XY", "Y"}, "X=3;XY=2;Y=1;A=0.5", 1), ({"XY"}, "X=3;XY=2;Y=1;A=0.5", 2),  # its letter tells which
    ({"XY", "Y"}, "X=3;XY=2;A=1", 2)])
def test_a_pair_is_worth_the_highest_of_its_grades(held, text, expected):
    assert worth(held, text) == expected


@pytest.mark.parametrize(("held", "text"), [
    ({"XY"}, "X=3;Y=2;A=1"), ({"A", "XY"}, "X=3;Y=2;A=1"), ({"A"}, "X=3;Y=2"), (set(), "X=3;XY=2;Y=2;A=1"),
    ({"Y", "XY"}, "X=3;A=1"), ({"X", "Y", "XY"}, "X=3;A=1")])
def test_what_the_map_does_not_tell_is_no_number(held, text):
    assert np.isnan(worth(held, text))


def test_every_set_of_grades_has_a_gain_under_a_map_of_all():
    table = gain_table(read_gains("X=3;XY=2;Y=2;A=1"))
    assert np.isnan(table[0]) and (table[1:] > 0).all()


@pytest.mark.parametrize("text", [
    "", " ", ";", "X", "X=", "X=0", "X=0.0", "X=-1", "X=1e3", "X=nan", "X=1000", "B=1", "x=1", "X=3;X=2", "XY",
    "overlap=2", "X=3;Y", "X=3 Y=2", "X=\u0663", "X=0.001", "X=3\n;A=1 x"])
def test_what_is_no_gain_map_is_refused(text):
    with pytest.raises(MeasureError) as error:
        read_gains(text)
    assert "\n" not in str(error.value) and "nDCG" in str(error.value)


@pytest.mark.parametrize("text", ["A=1;X=3", "X=3,A=1", "X=3; A=1", "X=3;A=1;", "X=03;A=1", "Y=2;XY=2"])
def test_a_map_has_one_form_and_the_refusal_gives_it(text):
    with pytest.raises(MeasureError, match="not in its one form") as error:
        read_gains(text)
    told = str(error.value).split("nDCG(")[1].split(")")[0]
    assert dict(read_gains(told)) == {p.split("=")[0].strip(): float(p.split("=")[1])
                                      for p in text.replace(",", ";").split(";") if p}


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_every_choice_of_grades_makes_a_map(n):
    for grades in combinations(GRADES, n):
        gains = read_gains(";".join(f"{g}={i + 0.5:g}" for i, g in enumerate(grades)))
        assert list(gains) == list(grades)


def sets(collection) -> dict[tuple, set[str]]:
    pairs = collection.pairs
    return {key: {g for i, g in enumerate(GRADES) if kind >> i & 1} for key, kind in zip(
        zip(pairs["query_id"], pairs["doc_id"]), grades_of(collection, pairs))}


def test_grades_are_those_of_category_and_relations(mini):
    """As the qrels state them, said once more pair by pair."""
    found = sets(mini)
    for pair in mini.pairs.to_dict("records"):
        expected = {"XY": {"XY"}, "A": {"A"}, "overlap": {"XY", "A"}}[pair["category"]]
        letters = {r["category"] for r in pair["source_relations"]} & {"X", "Y"}
        assert found[pair["query_id"], pair["doc_id"]] == expected | letters


def test_a_row_states_the_grades_of_all_its_golds(make_rows, tmp_path):
    rows = [{"grade": ["X", "Y"], "gold_apps": ["d1", "d2"]}, {"grade": ["Y"], "gold_apps": ["d3"]}]
    assert sets(open_collection(str(make_rows(tmp_path, rows)))) == {
        ("q1", "d1"): {"X", "Y"}, ("q1", "d2"): {"X", "Y"}, ("q2", "d3"): {"Y"}}


def test_pairs_of_no_known_worth_are_counted_and_named(mini):
    with pytest.raises(MeasureError, match="what 2 relevant pairs are worth, such as 'mini-.* XY") as error:
        require_gains(mini, mini.pairs, "nDCG(X=3;Y=2;A=1)@10")
    assert "XY=" in str(error.value)
    require_gains(mini, mini.pairs, "nDCG(X=3;XY=2;Y=2;A=1)@10")
    require_gains(mini, mini.pairs, "nDCG(XY=2;A=1)@10")


def test_a_collection_without_grades_is_refused(mini_dapfam):
    with pytest.raises(MeasureError, match="no pair has one"):
        require_gains(mini_dapfam, mini_dapfam.pairs, "nDCG(XY=2;A=1)@10")
