"""A document's text as it came, and a plain reading of it whose places lead back to the text.

Extracted text is broken by lines, page headers, and the signs of typography. The plain reading has
one blank for white space, straight quotes, one kind of dash, no header of a page, and no hyphen at
a line's end. Evidence is given in places of the text as it came: text[start:end] is the sentence.
"""

import heapq
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from kit.files import regular

LONGEST = 2_000  # characters of a sentence: flattened tables have no full stops
STRETCH = 2_000  # characters; the text layer is judged by its worst stretch
_SIGNS = str.maketrans({**{sign: "-" for sign in "‐‑‒–—―−"}, **{sign: "'" for sign in "‘’‛′`´"},
                        **{sign: '"' for sign in "“”„‟″«»"}, "\xa0": " ", "\xad": "-"})
_HEADER = re.compile(
    r"[Pp]etition for [Ii]nter [Pp]artes [Rr]eview (?:of )?U\.S\. (?:Patent|Pat\.) (?:No\. )?"
    r"\d{1,2}(?:,\d{3}){2}(?: [AB]\d\b)?|"
    r"(?:Case )?(?:IPR|PGR|CBM)\d{4}-\d{5} (?:\([^()]{0,40}\) )?(?:U\.?S\.? )?(?:Patent )?(?:No\. )?"
    r"(?:RE|PP|D|H)?\d{1,2}(?:,\d{3}){1,2}(?: [ABCEPS]\d?\b)?(?![\d,])"
    r"(?: \d{1,3}(?! ?(?:[,&§-]|and |or |through |to |10[123]\b))(?= ))?")  # the page, but no claim
_BROKEN = re.compile(r"[ÿ\ufffd\ue000-\uf8ff\x00-\x08\x0e-\x1f]|\(cid:")
_STOP = re.compile(r"[.!?][\"')\]]{0,3} (?=[\"'(\[]{0,2}[A-Z0-9§])")
_SHORT = re.compile(r"(?:\b(?:Nos?|NOS?|U\.S|U\.S\.C|Exs?|Pet|vs?|al|Inc|Corp|Ltd|Co|Pat|Appl?|Publ?|Figs?|"
                    r"Drs?|Mr|Ms|Prelim|Resp|Inst|Req|Decl?|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sept?|Oct|Nov|"
                    r"Id|cf|Cf|"
                    r"cols?|ll?|Ser|Reg|Intl|Re|Des|Fed|Cir|Sec|pp?|Op|Mot|Br|Supp|Rev|e\.g|i\.e|[A-Z])|§)$")


class Token(NamedTuple):
    """A word, number or sign of the plain reading, and its place there."""

    text: str
    start: int
    end: int


_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"  # of a footnote: no token, and no part of one
_TOKEN = re.compile(r"\d{1,3}(?:,\d{3})+(?!\d)|\d+|'\d{3}(?!\d)|"
                    rf"[^\W\d_{_RAISED}](?:[^\W{_RAISED}]|['&-](?=\w)|\.(?=[^\W\d_]\b))*|[^\s{_RAISED}]")


@dataclass(frozen=True)
class Document:
    """name: what the evidence calls it. text: as it came."""

    name: str
    text: str

    @cached_property
    def _read(self) -> tuple[str, list[int], list[int]]:
        return _plain(self.text)

    @property
    def plain(self) -> str:
        """The plain reading; each of its characters stands for one place of the text."""
        return self._read[0]

    def place(self, at: int) -> int:
        """The place in the text of a place in the plain reading."""
        _, here, there = self._read
        piece = bisect_right(here, at) - 1
        return there[piece] + at - here[piece]

    def at(self, place: int) -> int:
        """The first place of the plain reading that stands for this place of the text or a later one."""
        plain, here, there = self._read
        piece = bisect_right(there, place) - 1
        inside = here[piece] + place - there[piece]
        at = min(inside, (here[piece + 1:piece + 2] or [len(plain)])[0])
        return at + (plain[at:at + 1] == " ")

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Of a stretch of the plain reading, start and end in the text."""
        return self.place(start), self.place(end - 1) + 1

    def page(self, place: int) -> int | None:
        """The page, from 1, of a place in the text; None where no form feed marks pages."""
        feeds = self._feeds
        return bisect_right(feeds, place) + 1 if feeds else None

    @cached_property
    def _feeds(self) -> list[int]:
        return [found.start() for found in re.finditer("\f", self.text)]

    @cached_property
    def borders(self) -> list[int]:
        """Where sentences of the plain reading begin; none is longer than LONGEST."""
        made, plain = [0], self.plain
        ends = {m.end() for m in _STOP.finditer(plain)
                if not _SHORT.search(plain, max(0, m.start() - 12), m.start())
                and not (plain[m.end()].isdigit() and plain[max(0, m.start() - 3):m.start()].isupper())}
        for heading in _HEADING.finditer(self.text):
            ends |= {self.at(heading.start()), self.at(heading.end())}
        for end in sorted(ends | {len(plain)}):
            while end - made[-1] > LONGEST:
                made.append(made[-1] + LONGEST)
            if end > made[-1]:
                made.append(end)
        return made

    def sentence(self, at: int) -> tuple[int, int]:
        """Start and end, in the plain reading, of the sentence around a place."""
        n = bisect_right(self.borders, at)
        start, end = self.borders[n - 1], (self.borders[n:n + 1] or [len(self.plain)])[0]
        end = start + len(self.plain[start:end].rstrip())
        return end - len(self.plain[start:end].lstrip()), end

    @cached_property
    def tokens(self) -> list[Token]:
        """The words, numbers and signs of the plain reading, in their order."""
        return [Token(m[0], m.start(), m.end()) for m in _TOKEN.finditer(self.plain)]

    @cached_property
    def fault(self) -> str:
        """Why the text can't be read: "no text", "broken text layer"; empty if it can."""
        if not self.plain.strip():
            return "no text"
        text = self.text
        stretches = (text[i:i + STRETCH] for i in range(0, len(text), STRETCH))
        broken = any(len(_BROKEN.findall(part)) > max(4, len(part) / 100) for part in stretches)
        return "broken text layer" if broken else ""


_HEADING = re.compile(r"^[ \t`]*(?:[IVX]{1,5}|[A-Z]|\d{1,2})\.[ \t]+[A-Z][^\n]{0,80}$", re.MULTILINE)
_LINE = re.compile(r"^[ \t`]*([^\n]{8,90}?)[ \t\r]*$", re.MULTILINE)
_RUNNING = re.compile(r"IPR\d|\bPatent\b|PATENT|Petition|PETITION|RESPONSE|Response")
PAGES = 4  # a line that stands so often is a page's header
_GAP = re.compile(r"[ \t\r]*\n[\s`]*[-–—] ?\d{1,3} ?[-–—][ \t\r]*\n[\s`]*|"  # the number of a page, - 14 -
                  r"(?P<hyphen>(?<=[A-Za-z])-[ \t\r]{0,9}\n[ \t`]{0,40}(?=[a-z])|"  # "obvi-ous", "Smith-Jones"
                  r"(?<=[a-z]-)[ \t\r]{0,9}\n[ \t`]{0,40}(?=[A-Z][a-z]))|"
                  r"[\s`]*(?:(?<!\S)\|(?!\S)[\s`]*)+|[\s`]{2,}|[^\S ]|`")  # a bar alone is a table's rule


def _plain(text: str) -> tuple[str, list[int], list[int]]:
    """The plain reading, and for each of its pieces where it begins here and in the text."""
    pieces, at = [], 0  # (its text, its place in `text`)
    for gap in _gaps(text):
        pieces.append((text[at:gap.start()], at))
        if gap.re is not _GAP or not gap["hyphen"]:
            pieces.append((" ", gap.start()))
        at = gap.end()
    pieces.append((text[at:], at))
    plain, here, there = _joined((part.translate(_SIGNS), place) for part, place in pieces)
    headers = [(m.start(), m.end()) for m in _HEADER.finditer(plain)]
    return _without(plain, here, there, headers) if headers else (plain, here, there)


def _gaps(text: str) -> Iterator[re.Match]:
    """White space, hyphens at a line's end, and the lines that every page repeats, in their order."""
    lines = [m for m in _LINE.finditer(text) if _RUNNING.search(m[1])]
    often = Counter(m[1] for m in lines)
    headers = [m for m in lines if often[m[1]] >= PAGES]
    end = 0
    for gap in heapq.merge(_GAP.finditer(text), headers, key=lambda m: m.start()):
        if gap.start() >= end:
            yield gap
            end = gap.end()


def _joined(pieces) -> tuple[str, list[int], list[int]]:
    made, here, there, size = [], [], [], 0
    for part, place in pieces:
        if part:
            made.append(part)
            here.append(size)
            there.append(place)
            size += len(part)
    return "".join(made), here or [0], there or [0]


def _without(plain: str, here: list[int], there: list[int], cuts) -> tuple[str, list[int], list[int]]:
    """The reading without the stretches (start, end); a blank before and after is one blank."""
    pieces, at = [], 0
    for start, end in [*cuts, (len(plain), len(plain))]:
        if plain[at:at + 1] == " " and (not pieces or pieces[-1][0].endswith(" ")):
            at += 1
        while at < start:  # piece by piece, since each has a place of its own
            n = bisect_right(here, at) - 1
            stop = min(start, here[n + 1] if n + 1 < len(here) else len(plain))
            pieces.append((plain[at:stop], there[n] + at - here[n]))
            at = stop
        at = max(at, end)
    return _joined(pieces)


def read_document(path: Path, name: str) -> Document:
    """The document of a text file; bytes that are not UTF-8 become the sign for that."""
    return Document(name, regular(path).read_bytes().decode("utf-8-sig", "replace"))
