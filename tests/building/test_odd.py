"""What is odd about an answer: forms of each check, and plain answers that none of them touches."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.building.odd import (
    CHECKS,
    Limits,
    compare_numbers,
    leaked,
    oddities,
    overlap,
    read_answer,
    repeated,
)

CLAIM = ("A valve (10) comprising a seat of 2.5 mm and a spring (12a, 14) bent by 30 % in three steps, wherein the "
         "spring closes the valve at 1,200 rpm.")
GOOD = ("This shuts off a pipe: something springy, bent 30 percent in 3 steps, pushes against a 2.5 mm rim as soon as "
        "it turns at 1200 rpm.")


def checks(text, claim=CLAIM, numbers=(), **limits):
    return {odd.check for odd in oddities(claim, text, Limits(**limits), numbers)}


def body(*choices, **more):
    return json.dumps({"choices": list(choices), **more})


def choice(text, finish="stop", **message):
    return {"message": {"content": text, **message}, "finish_reason": finish}


def test_a_plain_answer_is_not_odd():
    assert checks(GOOD) == set()


@pytest.mark.parametrize("text", [
    "I'm sorry, but I can't help with that.", "I’m unable to do this.", "Sorry, no.", "I cannot paraphrase claims.",
    "As an AI language model, I do not.", "Unfortunately, I can't.", "This request cannot be answered.",
    "I must decline."])
def test_refusals(text):
    assert "refusal" in checks(text)


@pytest.mark.parametrize("text", [
    "Here is a paraphrase: " + GOOD, "Here's the plain version. " + GOOD, "Sure! " + GOOD, "Certainly, " + GOOD,
    "Below is a plain-language description. " + GOOD, "Paraphrase: " + GOOD, "**Summary**: " + GOOD, "# A valve\n" + GOOD,
    GOOD + " Let me know if you need more.", "In plain words: " + GOOD, "This claim describes a valve. " + GOOD])
def test_boilerplate(text):
    assert "boilerplate" in checks(text)


@pytest.mark.parametrize("text", [
    "Surely tight, " + GOOD, "Here the pipe is shut. " + GOOD, "Apologetic noises are damped. " + GOOD,
    "An answering machine that is okay in rain. " + GOOD, "Iron cannot rust here. " + GOOD])
def test_words_that_only_look_like_it(text):
    assert not {"refusal", "boilerplate"} & checks(text)


@pytest.mark.parametrize(("text", "share"), [
    ("a b c d e f", 1.0), ("x a b c d e", 0.5), ("A, B; C d E", 1.0), ("z y x w v", 0.0), ("a b", 1.0), ("", 0.0),
    ("a b x d e f", 0.0)])
def test_the_overlap_is_a_share_of_word_sequences(text, share):
    assert overlap("a b c d e f g", text, 5) == share


@given(st.lists(st.sampled_from("abc"), max_size=12), st.lists(st.sampled_from("abc"), max_size=12), st.integers(1, 5))
def test_the_overlap_is_that_of_a_slow_count(source, text, n):
    sequences = [text[i:i + n] for i in range(len(text) - n + 1)] or ([text] if text else [])
    n = len(sequences[0]) if sequences else n
    found = [any(source[j:j + n] == s for j in range(len(source) - n + 1)) for s in sequences]
    assert overlap(" ".join(source), " ".join(text), n) == (sum(found) / len(found) if found else 0)


@pytest.mark.parametrize(("text", "share"), [
    ("a valve that shuts a pipe " * 4, 1 - 6 / 20), ("valve " * 30, 1 - 1 / 26), ("a valve that shuts", 0.0),
    ("A valve that shuts a pipe, and a lid that shuts a pipe too", 0.0)])
def test_what_comes_again_is_a_share_of_word_sequences(text, share):
    assert repeated(text) == pytest.approx(share)


def test_an_answer_in_a_loop_is_kept_out_whatever_its_length():
    assert "repeats itself" in checks("it shuts a pipe by a thing that turns " * 3, longest=99)
    assert CHECKS["repeats itself"][0]


def test_a_copy_is_one_above_the_limit():
    half = CLAIM + " " + GOOD
    assert "copy" in checks(CLAIM) and "copy" not in checks(half, copy=0.9) and "copy" in checks(half, copy=0.1)


@pytest.mark.parametrize("text", [
    "as in US 7,123,456 B2", "as in EP1234567A1", "see WO 2009/085664", "known from US-2008/0216889 A1", "DE 10 2004 012345",
    "patent no. 7,123,456", "application number 12/345,678", "PCT/EP2008/123456", "7,123,456 B2", "US RE49,889"])
def test_publication_numbers(text):
    assert "publication number" in checks(f"It shuts a pipe {text}, like so.")


@pytest.mark.parametrize("text", ["it turns at 1,200,000 rpm", "us 5 people", "an EP valve of 3 parts", "at 12,500 volts",
                                  "we hear 20 Hz"])
def test_numbers_that_are_none(text):
    assert leaked(text, CLAIM) == ""


@pytest.mark.parametrize(("text", "is_leak"), [
    ("as in 1000001", True), ("as in 1 000 001", True), ("as in EP 1000001", True), ("as in 1,000,001", True),
    ("as in 10000011", False), ("at 100 000 rpm", False)])
def test_the_rows_own_number_is_one_in_any_spelling(text, is_leak):
    assert bool(leaked(text, CLAIM, ["EP1000001A1"])) is is_leak


def test_one_that_the_claim_itself_has_is_no_leak():
    assert leaked("the tape of US 7,123,456 B2", "a tape as in US 7,123,456 B2") == ""


@pytest.mark.parametrize(("claim", "text", "lost", "added"), [
    ("a gap of 2.5 mm", "a gap of 2.5 mm", [], []), ("a gap of 2.5 mm", "a 2.5 millimeter gap", [], []),
    ("a gap of 2.5 mm", "a small gap", ["2.5 mm"], []), ("a gap of 2.5 mm", "a gap of 2.5 cm", ["the unit of 2.5 mm"], []),
    ("three or 4 steps", "four steps", [], []), ("5 to 10 %", "between 5 and 10 percent", [], []),
    ("a seat (10) and a lid (12a, 14)", "a seat and a lid", [], []), ("1,000 g", "1000 g", [], []),
    ("a gap", "a gap of 3 mm", [], ["3"]), ("−40 °C", "-40 °C", [], []), ("12 V", "a 12 volt source", [], []),
    ("H2O and CO2", "water and CO2", [], []), ("80 % and 80 %", "all of it", ["80 %"], [])])
def test_numbers_and_units(claim, text, lost, added):
    assert compare_numbers(claim, text) == (lost, added)


def test_length_is_told_by_the_claims():
    assert "short" in checks("It shuts.") and "long" in checks(" ".join([GOOD] * 4)) and checks("") == {"empty"}
    assert checks(" … 12. ") == {"empty"}


@pytest.mark.parametrize(("status", "raw", "found"), [
    (200, body(choice("x")), set()), (200, body(choice("x", None)), set()), (200, body(choice("x", "length")), {"truncated"}),
    (200, body(choice("x", "content_filter")), {"stopped"}), (200, body(choice("x"), choice("y")), {"several choices"}),
    (200, body(choice(None, refusal="I won't")), {"refusal"}), (200, body(), {"unreadable"}), (200, "no", {"unreadable"}),
    (200, "[]", {"unreadable"}), (200, "null", {"unreadable"}), (200, '{"choices": [null]}', {"unreadable"}),
    (200, body(choice(["x"])), {"unreadable"}), (200, body({"message": None}), {"unreadable"}),
    (200, '{"choices": {"a": 1}}', {"unreadable"}), (400, body(choice("x")), {"refused by the endpoint"}),
    (200, None, {"withheld"})])
def test_the_form_of_an_answer(status, raw, found):
    text, odd = read_answer(status, raw)
    assert {o.check for o in odd} == found and (text in ("x", "") and bool(text) == (found <= {
        "truncated", "stopped", "several choices"}))


@given(st.text(max_size=300) | st.recursive(st.none() | st.integers() | st.text(max_size=5), lambda inner: st.lists(
    inner, max_size=3) | st.dictionaries(st.sampled_from(["choices", "message", "content"]), inner)).map(json.dumps))
def test_no_answer_is_an_error(raw):
    text, odd = read_answer(200, raw)
    assert text or odd or json.loads(raw)["choices"]
    assert all(o.check in CHECKS for o in [*odd, *oddities(CLAIM, raw, Limits(), ["EP1000001A1"])])
