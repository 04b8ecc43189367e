"""One form for every spelling of a number, and no form for what is none."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.building import numbers

digits = st.integers(1, 99_999_999).map(str)
prefixes = st.sampled_from(["", "RE", "D", "PP", "H", "T"])


@pytest.mark.parametrize("spelled, form", [
    ("7,310,001", "7310001"), ("US 7,310,001 B2", "7310001"), ("US7310001B2", "7310001"), ("07310001", "7310001"),
    ("RE38,001 E", "RE38001"), ("RE038001", "RE38001"), ("D612,001 S", "D612001"), ("PP12,345 P2", "PP12345"),
    ("H2,101", "H2101"), ("T958,006", "T958006"), ("11703443", "11703443"), ("3 930 271", "3930271"),
    ("2009/0410002", None), ("20090410002", None), ("", None), ("EP1310001", None), ("0", None), ("７３１０００１", None)])
def test_a_patent(spelled, form):
    assert numbers.patent(spelled) == form


@pytest.mark.parametrize("spelled, form", [
    ("US 2009/0410002 A1", "20090410002"), ("2009/0410002", "20090410002"), ("US20090410002A1", "20090410002"),
    ("US-2009410002-A1", "20090410002"), ("20010015336", "20010015336"), ("1999/0410002", None),
    ("7,310,001", None), ("2009/041000", "20090041000"), ("2009/04100021", None), ("", None)])
def test_a_publication(spelled, form):
    assert numbers.publication(spelled) == form


@pytest.mark.parametrize("spelled, form", [
    ("09/026,118", "09026118"), ("9/026,118", "09026118"), ("9026118", "09026118"), ("17980669", "17980669"),
    ("US17/980,669", "17980669"), ("PCT/US2005/012345", None), ("123456", None), ("", None)])
def test_an_application(spelled, form):
    assert numbers.application(spelled) == form


def test_series_that_are_never_a_gold():
    series = {f"{n:02d}": f"{n:02d}123456" for n in range(100)}
    assert [s for s, a in series.items() if numbers.is_provisional(a)] == ["60", "61", "62", "63"]
    assert [s for s, a in series.items() if numbers.is_reexamination(a)] == ["90", "95", "96"]


def test_the_first_patents_of_1976():
    assert numbers.is_before_1976("3930270") and not numbers.is_before_1976("3930271")
    assert numbers.is_before_1976("D238314") and not numbers.is_before_1976("D238315")
    assert not numbers.is_before_1976("H1")


@given(prefixes, digits, st.sampled_from(["", " B2", " A", " E1", "B1"]), st.sampled_from(["", "0", "00"]))
def test_a_patents_spellings_share_one_form(prefix, number, kind, zeros):
    with_commas = f"{int(number):,}"
    forms = {numbers.patent(f"{lead}{prefix}{n}{kind}") for lead in ("", "US ", "US")
             for n in (number, with_commas, (zeros + number)[-8:] if len(zeros + number) > 8 else zeros + number)}
    assert forms == {prefix + number}


@given(st.text())
def test_a_form_has_itself_as_its_form(text):
    for normal in (numbers.patent, numbers.publication, numbers.application):
        form = normal(text)
        assert form is None or (normal(form) == form and re.fullmatch("[A-Z]{0,2}[0-9]+", form))
