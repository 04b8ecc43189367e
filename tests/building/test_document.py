"""A plain reading whose every stretch leads back to the text; nothing that a text may hold breaks it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.building import asserted, ptab
from kit.building.cells import Cells, read_claims
from kit.building.document import PAGES, Document
from kit.building.references import Names, key

PARTS = ["claims 1-5", "Claims 3, 2", "are obvious over", "anticipated by", "Arden", "Brisk2", "in view of", "and",
         "U.S. Patent No. 7,310,001", "(Ex. 1005, “Arden”)", "US 2009/0410002 A1", "§ 103(a)", "102", "Ground 1:", "\n",
         "\f", "`", ". ", ";", "(", ")", "“", "”", "’", "–", "IPR2031-00417 Patent 9,876,501 B2 7", "Reference(s)",
         "Claim(s) Challenged 35 U.S.C. § ", "A. Related Matters", "inven-\ntion", "\ue000", "ÿ", "60/123,456", "WO 2004/01"]
told = st.lists(st.one_of(st.sampled_from(PARTS), st.text(max_size=5)), max_size=40).map(" ".join)


@given(told)
def test_any_text_is_read_without_an_error_and_its_evidence_stands_there(text):
    document = Document("d", text)
    found = asserted.read_trial([document], "9876501", frozenset({"IPR2031-00417"}))
    for reference in found.references:
        for place in (*reference.grounds, *(p for c in reference.candidates for p in (c.definition, c.place))):
            assert text[place.start:place.end] == place.text
    ptab.kind_of_text(text), ptab.caption(document), ptab.joined_to(document), key(text)


@given(told)
def test_what_is_taken_is_defined_in_the_text(text):
    """A gold's number stands in the text, and in the same sentence a name that a ground has, or the
    ground has the number itself."""
    for reference in asserted.read_trial([Document("d", text)]).references:
        for candidate in reference.candidates:
            assert candidate.place.text in text
            assert candidate.definition.start <= candidate.place.start
            assert key(reference.name).split()[0][:3] in key(candidate.definition.text) or reference.name in text


@given(st.text())
def test_the_sentences_together_are_the_text(text):
    document = Document("d", text)
    borders = document.borders
    assert borders[0] == 0 and borders[-1] == len(document.plain) or not document.plain
    assert borders == sorted(set(borders))


@given(told)
def test_a_place_of_the_reading_leads_to_its_sign(text):
    document = Document("d", text)
    same = [(document.plain[at], text[document.place(at)]) for at in range(len(document.plain))]
    assert all(a == b or a in " -'\"" for a, b in same)


def test_a_page_is_counted_by_form_feeds_only():
    document = Document("d", "one\ftwo\fthree")
    assert [document.page(document.text.index(word)) for word in ("one", "two", "three")] == [1, 2, 3]
    assert Document("d", "one two").page(4) is None


def test_a_line_that_every_page_repeats_is_not_read():
    line = "\nGlimmer v. Oakmere Patent Papers\n"
    assert "Papers" not in Document("d", f"a{line}b" * PAGES).plain
    assert "Papers" in Document("d", f"a{line}b" * (PAGES - 1)).plain


@pytest.mark.parametrize("text, fault", [
    ("", "no text"), (" \n\f ", "no text"), ("Claims 1–5 over Arden’s “latch”, 5 µm, naïve.", ""),
    ("Claims 1-5 are ÿ anticipated", ""), ("ÿ#!\"ÿ" * 20, "broken text layer"), ("(cid:12)(cid:9) " * 20, "broken text layer"),
    ("word " * 5_000 + "\ue000\ue001" * 40, "broken text layer")])
def test_a_broken_text_layer_is_known(text, fault):
    assert Document("d", text).fault == fault


def test_a_sentence_does_not_end_at_a_short_word_or_an_initial():
    text = "See U.S. Patent No. 7,310,001 to Q. Arden et al. (Ex. 1005). Smith v. Jones Inc. is other. End."
    document = Document("d", text)
    ends = [document.plain[document.sentence(b)[0]:document.sentence(b)[1]] for b in document.borders[:-1]]
    assert ends == ["See U.S. Patent No. 7,310,001 to Q. Arden et al. (Ex. 1005).", "Smith v. Jones Inc. is other.", "End."]


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), min_size=1, max_size=6))
def test_claims_are_taken_only_if_they_rise(items):
    claims = read_claims(items, "stated", 50)
    flat = [n for first, last in items for n in range(first, last + 1)]
    rises = all(a <= b for a, b in items) and flat == sorted(set(flat)) and flat[0] > 0 and flat[-1] <= 50
    assert claims.numbers == (tuple(flat) if rises else ()) and bool(claims.doubt) != rises


# --- time -----------------------------------------------------------------------------------------

REPEATS = ["103 ", "claims 1, 2, 3, ", "1, ", "1-2-", "claims 1 are obvious over Arden ", "obvious ",
           "claims 1 anticipated by by by ", "(", "claims 1 obvious over Arden (Ex. 1005 ", '("Arden" Ex. 1005 ',
           "U.S. Patent No. 7,310,001 ", "7,310,", "Ground 1 ", "IPR2031-00417 Patent ", "and ", "A. Related Matters ",
           "Arden ", "Claims 35 U.S.C. § References 1 103 Arden ", "a-\n", "-", "over over obvious ",
           "Arden renders claims 1 obvious ", "WO 1 2 3 ", "Arden (Ex. 1005) is ", "claims 1 obvious over Arden and ",
           "ÿ ", "Patent Papers\n", "I. Aaa\n", "A b. C d? ", "Arden's method ", "'123 ", "Claims ", "§ ", "\n", "`"]


@pytest.mark.parametrize("repeated", REPEATS, ids=repr)
def test_twice_the_text_takes_twice_the_steps(repeated, monkeypatch):
    """Steps are tokens looked at, and signs that a bounded look-around reads; no clock is asked."""
    def steps(size: int) -> int:
        count = 0
        word = Cells.word

        def counted(self, i):
            nonlocal count
            count += 1
            return word(self, i)

        monkeypatch.setattr(Cells, "word", counted)
        asserted.read_trial([Document("d", (repeated * size)[:size])], "9876501")
        monkeypatch.setattr(Cells, "word", word)
        return count
    assert steps(12_000) <= 2.2 * steps(6_000) + 2_000


def test_two_megabytes_of_repeats_are_read_to_the_end():
    part = 2_000_000 // len(REPEATS)
    text = "".join((repeated * part)[:part] for repeated in REPEATS)
    document = Document("d", text.replace("ÿ", "y"))
    assert len(document.tokens) > 100_000
    Names(document).definitions
    assert asserted.read_trial([document], "9876501").source in ("d", None)
