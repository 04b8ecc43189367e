"""Passages: stretches of a document's text, a number of tokens long.

A document's text is its fields joined by newlines. A field of n tokens has windows of `length`
tokens that begin at token 0, stride, 2 · stride …, up to the first that reaches the end, which may
be shorter. A window's passage goes from its first token to its last; a field's first passage begins
where the field does, and its last one ends where it does, so that one passage is the whole text.
No passage crosses a field's border, unless all fields count as one.
"""

from typing import NamedTuple

import numpy as np

from kit.errors import ParamsError


class Rule(NamedTuple):
    """How documents are split. length, stride: tokens, 1 ≤ stride ≤ length; across_fields: windows
    take no notice of the fields' borders; title: the document's title goes in front of passages,
    on top of `length`."""

    length: int
    stride: int
    across_fields: bool = False
    title: bool = False


class Passages(NamedTuple):
    """A document's passages, at least one, int32 arrays of one length.

    starts, ends: characters of the document's text. first, last: the tokens from first to last - 1
    of the document's, its fields' one after the other.
    """

    starts: np.ndarray
    ends: np.ndarray
    first: np.ndarray
    last: np.ndarray


def make_rule(length: int, stride: int | None, across_fields: bool, title: bool) -> Rule:
    """The rule of the parameters; no stride: half the length, so that what a border parts stands
    whole in the passage between. Raises ParamsError for a stride above the length."""
    stride = max(length // 2, 1) if stride is None else stride
    if stride > length:
        raise ParamsError(f"passage_stride {stride} is above passage_length {length}",
                          "passage_stride", "Give at most the length: tokens would be left out")
    return Rule(length, stride, across_fields, title)


def windows(tokens: int, length: int, stride: int) -> tuple[np.ndarray, np.ndarray]:
    """First token, and the one behind the last, of each window over so many; none over none."""
    count = -(-max(tokens - length, 0) // stride) + 1 if tokens else 0
    first = np.arange(count, dtype=np.int32) * np.int32(stride)
    return first, np.minimum(first + np.int32(length), np.int32(tokens))


def split(fields: list[str], spans: list[tuple[np.ndarray, np.ndarray]], rule: Rule) -> Passages:
    """A document's passages in order. spans: for each field, where its tokens start and end, in
    characters of the field. A document without a token is one passage."""
    begins = np.cumsum([0] + [len(text) + 1 for text in fields])[:-1]
    parts = [(begin + starts, begin + ends, begin, begin + len(text))
             for text, begin, (starts, ends) in zip(fields, begins, spans)]
    size = int(parts[-1][3]) if parts else 0
    if rule.across_fields and parts:
        parts = [(np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts]),
                  0, size)]
    found, before = [], 0
    for starts, ends, begin, end in parts:
        first, last = windows(len(starts), rule.length, rule.stride)
        if len(first):
            at, to = starts[first], ends[last - 1]
            at[0], to[-1] = begin, end
            found.append((at, to, first + before, last + before))
        before += len(starts)
    if not found:
        found = [([0], [size], [0], [0])]
    return Passages(*(np.concatenate(column).astype(np.int32) for column in zip(*found)))


def titled(starts: np.ndarray, fields: list[str], title: str, rule: Rule) -> np.ndarray:
    """Which passages the title goes in front of (bool): all but those that begin in it."""
    if not (rule.title and title):
        return np.zeros(len(starts), bool)
    own = fields[:1] == [title]
    return starts >= len(title) if own else np.ones(len(starts), bool)


def text_of(text: str, start: int, end: int, title: str = "") -> str:
    """A passage as a system reads it: with the title, if it goes in front, on a line of its own."""
    return f"{title}\n{text[start:end]}" if title else text[start:end]
