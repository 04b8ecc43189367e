"""Documents split into passages."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.errors import ParamsError
from kit.text.passages import Rule, make_rule, split, text_of, titled, windows
from kit.text.views import fields, texts

WORD = re.compile(r"\w\w+")
some_fields = st.lists(st.text("ab .\n", min_size=1, max_size=30), max_size=4)


@st.composite
def rules(draw):
    length = draw(st.integers(1, 9))
    return Rule(length, draw(st.integers(1, length)), draw(st.booleans()))


def spans_of(parts: list[str]):
    found = [[m.span() for m in WORD.finditer(text)] for text in parts]
    return [tuple(np.array(f, np.int32).reshape(-1, 2).T) for f in found]


def tokens_of(parts: list[str]) -> list[tuple[int, int, int]]:
    """(start, end, field) of each token in the joined text."""
    begin, found = 0, []
    for number, text in enumerate(parts):
        found += [(begin + m.start(), begin + m.end(), number) for m in WORD.finditer(text)]
        begin += len(text) + 1
    return found


@given(some_fields, rules())
def test_passages_hold_the_words_that_their_windows_name(parts, rule):
    tokens, text = tokens_of(parts), "\n".join(parts)
    made = split(parts, spans_of(parts), rule)
    for start, end, first, last in zip(*made):
        words = [text[a:b] for a, b, _ in tokens[first:last]]
        assert WORD.findall(text_of(text, start, end)) == words
        assert len(words) <= rule.length
        if not rule.across_fields:
            assert len({field for *_, field in tokens[first:last]}) <= 1


@given(some_fields, rules())
def test_every_word_is_in_a_passage_and_they_begin_a_stride_apart(parts, rule):
    tokens = tokens_of(parts)
    made = split(parts, spans_of(parts), rule)
    if not tokens:
        assert len(made.starts) == 1
        return
    assert {t for a, b in zip(made.first, made.last) for t in range(a, b)} == set(range(len(tokens)))
    for a, b, end in zip(made.first, made.first[1:], made.last):
        same = rule.across_fields or tokens[a][2] == tokens[b][2]
        assert b == a + rule.stride if same else b == end


@given(some_fields, rules())
def test_a_fields_first_passage_begins_and_its_last_ends_with_it(parts, rule):
    tokens, made = tokens_of(parts), split(parts, spans_of(parts), rule)
    borders = np.cumsum([0] + [len(text) + 1 for text in parts])
    wanted = [(borders[n], borders[n + 1] - 1) for n in sorted({field for *_, field in tokens})]
    if rule.across_fields or not tokens:
        wanted = [(0, max(borders[-1] - 1, 0))]
    assert {a for a, _ in wanted} <= set(made.starts) and {b for _, b in wanted} <= set(made.ends)


@given(some_fields)
def test_one_passage_as_long_as_the_document_is_the_document(parts):
    made = split(parts, spans_of(parts), Rule(1000, 500, across_fields=True))
    assert [(a, b) for a, b, *_ in zip(*made)] == [(0, len("\n".join(parts)))]


def test_windows_stop_with_the_first_that_reaches_the_end():
    assert [list(map(int, pair)) for pair in zip(*windows(10, 4, 3))] == [[0, 4], [3, 7], [6, 10]]
    assert [list(map(int, pair)) for pair in zip(*windows(11, 4, 3))] == [
        [0, 4], [3, 7], [6, 10], [9, 11]]
    assert len(windows(0, 4, 3)[0]) == 0


def test_the_title_stands_in_front_of_what_is_not_its_own():
    parts, rule = ["red valve seat", "it opens it closes"], Rule(2, 2, title=True)
    made = split(parts, spans_of(parts), rule)
    front = titled(made.starts, parts, "red valve seat", rule)
    text = "\n".join(parts)
    assert [text_of(text, a, b, parts[0] if f else "")
            for a, b, f in zip(made.starts, made.ends, front)] == [
        "red valve", "seat", "red valve seat\nit opens", "red valve seat\nit closes"]


def test_a_view_without_the_title_has_it_in_front_of_every_passage():
    parts = ["it opens", "it closes"]
    made = split(parts, spans_of(parts), Rule(9, 9))
    assert titled(made.starts, parts, "valve", Rule(9, 9, title=True)).tolist() == [True, True]
    assert not titled(made.starts, parts, "", Rule(9, 9, title=True)).any()
    assert not titled(made.starts, parts, "valve", Rule(9, 9)).any()


def test_the_stride_is_half_the_length_unless_it_is_given():
    assert make_rule(512, None, False, False).stride == 256
    assert make_rule(1, None, False, False).stride == 1


def test_a_stride_that_would_leave_words_out_is_refused():
    with pytest.raises(ParamsError, match="passage_stride 65 is above passage_length 64"):
        make_rule(64, 65, False, False)


def test_a_documents_text_is_its_fields_by_lines(mini):
    assert ["\n".join(parts) for parts in fields(mini, "corpus", "tac")] == list(
        texts(mini, "corpus", "tac"))
