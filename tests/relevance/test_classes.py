"""IPC codes in their many forms, and how far two patents agree."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.relevance.classes import LEVELS, agreement, levels_of
from kit.relevance.domains import three_character_classes
from kit.relevance.slices import sections

WHOLE = ("A", "A61", "A61K", "A61K31", "A61K31/19")


@pytest.mark.parametrize("code", [
    "A61K31/19", "A61K 31/19", "A61K  31/19", "a61k31/19", " A61K 31/19 ", "A61K 031/19", "A61K-031/19",
    "A61K0031190000", "a61k0031190000", "A61K  31/19        20060101AFI20051110BHEP", "A61K 31/19 (2006.01)",
    "A61K31/19, A61K9/20", "A 61 K 31/19", "A61K31:19", "A61K31/190", "A61K31/190000", "A61K\t31/19",
    "A61K\n31/19", "A61K\u00a031/19", "A61K   31 / 19"])
def test_every_form_of_a_code_is_one(code):
    assert levels_of(code) == WHOLE


@pytest.mark.parametrize(("code", "expected"), [
    ("A", ("A",)), ("a ", ("A",)), ("A61", WHOLE[:2]), ("A 61", WHOLE[:2]), ("A61K", WHOLE[:3]),
    ("A61K 31", WHOLE[:4]), ("A61K0031", WHOLE[:4]), ("A61K31/", WHOLE[:4]), ("A61K31/1", WHOLE[:4]),
    ("A61K31/00", (*WHOLE[:4], "A61K31/00")), ("A61K0031000000", (*WHOLE[:4], "A61K31/00")),
    ("A61K3/426", ("A", "A61", "A61K", "A61K3", "A61K3/426")),  # not 31, and a digit that divides
    ("A61K0003426000", ("A", "A61", "A61K", "A61K3", "A61K3/426")),
    ("G06F 2201/81", ("G", "G06", "G06F", "G06F2201", "G06F2201/81")),
    ("Y02P70/10", ("Y", "Y02", "Y02P", "Y02P70", "Y02P70/10")),
    ("A61K3119", WHOLE[:3]), ("A61K 0/00", WHOLE[:3]), ("A61K0000190000", WHOLE[:3])])  # not guessed
def test_a_code_counts_as_far_as_it_can_be_read(code, expected):
    assert levels_of(code) == expected


@pytest.mark.parametrize("code", ["", " ", None, "Z99", "A1", "B2", "EP123", "none", "61K", "AA61K", "-", "A/61"])
def test_what_is_no_code_gives_nothing(code):
    assert levels_of(code) == ()


@given(st.text(alphabet="AaHhKkYyZ0136/ :-\t.", max_size=18))
def test_each_level_goes_on_from_the_one_above_and_coarse_levels_are_those_of_the_slices(text):
    found = levels_of(text)
    assert all(below.startswith(above) for above, below in zip(found, found[1:]))
    if len(found) > 1:
        assert found[0] in sections([text]) and found[1] in three_character_classes([text])
    assert len(found) < 2 or levels_of(found[-1]) == found  # read anew, it is the same


# --- agreement ------------------------------------------------------------------------------------

class Patents:
    """Two tables of classes: {identifier: (ipc, ipc3)}."""

    def __init__(self, queries: dict, corpus: dict):
        self.tables = {"queries": queries, "corpus": corpus}

    def frame(self, table: str, columns: list[str]) -> pd.DataFrame:
        rows = [(i, *lists) for i, lists in self.tables[table].items()]
        return pd.DataFrame(rows, columns=columns, dtype=object)


CODES = st.lists(st.sampled_from([
    "A61K31/19", "A61K 31/00", "A61K0031190000", "a61k 9/20", "A61P 3/10", "A61", "A01B1/00", "H04L9", "H04L 9/32",
    "H", "nothing", ""]), max_size=4)
PATENT = st.tuples(st.one_of(st.none(), CODES),
                   st.one_of(st.none(), st.lists(st.sampled_from(["A61", "H04", "none"]))))


def read(patent) -> list[tuple[str, ...]]:
    ipc, ipc3 = patent
    return [c for c in map(levels_of, ipc or []) if c] or [c for c in map(levels_of, ipc3 or []) if c]


@given(st.lists(PATENT, min_size=1, max_size=5), st.lists(PATENT, min_size=1, max_size=5))
def test_agreement_is_that_of_every_two_codes(queries, docs):
    held = Patents({f"q{n}": p for n, p in enumerate(queries)}, {f"d{n}": p for n, p in enumerate(docs)})
    pairs = [(q, d) for q in held.tables["queries"] for d in held.tables["corpus"]]
    found = agreement(held, *zip(*pairs))
    for (q, d), agreed, of_query, of_doc in zip(pairs, *found):
        mine, theirs = read(held.tables["queries"][q]), read(held.tables["corpus"][d])
        common = [n for n in range(len(LEVELS)) if {c[n] for c in mine if len(c) > n} & {
            c[n] for c in theirs if len(c) > n}]
        assert agreed == len(common) and common == list(range(len(common)))
        assert (of_query, of_doc) == (max(map(len, mine), default=0), max(map(len, theirs), default=0))


def test_an_identifier_of_no_table_has_no_class():
    held = Patents({"q": (["A61K31/19"], None)}, {"d": (["A61K31/19"], None)})
    assert [list(column) for column in agreement(held, ["q", "q", "x"], ["d", "x", "d"])] == [
        [5, 0, 0], [5, 5, 0], [5, 0, 5]]
