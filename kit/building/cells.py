"""The three things a ground is made of, read at a token: claims, statutes, names of references.

Each `…_at(i)` gives the token behind what it read, and that; None where nothing of the kind stands.
All read forwards only, and each a bounded number of tokens, so that no text takes more than linear time.
"""

import re
from bisect import bisect_left
from dataclasses import dataclass, replace
from functools import cached_property

from kit.building.document import Document
from kit.building.references import _NEVER, SURNAMES, Names, Number, key

MOST_CLAIMS = 400  # above it a number is no claim, where the patent's count is not known
ITEMS = 120  # of one list of claims, and tokens of one list of names
SOUGHT, LEFT_OUT = ("102", "103"), ("101", "112")
WORDS = {"anticipation": "102", "anticipated": "102", "anticipates": "102", "obviousness": "103",
         "obvious": "103"}
FILLERS = frozenset("a an the of by on over combination combinations combined teaching teachings disclosure "
                    "disclosures each either both any one or more at least alone primary secondary tertiary "
                    "prior reference "
                    "references system method device as well taught disclosed document "
                    "documents patent publication inter alia".split())
BETWEEN = frozenset("and or in view of further light with combination combined optionally together as evidenced "
                    "modified by plus taken alone either both the even considered also additional additionally "
                    "teachings disclosure disclosures alternatively well vs any one at least a still yet "
                    "alternative when without itself themselves supplemented explained if necessary his her "
                    "its own & + / ,".split())
_BEFORE_STATUTE = frozenset("35 § . section sections sec s pre-aia under".split())
JOINING = frozenset("and or view light with plus by vs & + / ,".split())
COMMA, WORD = 1, 2  # what joins two names; a comma alone may also end their list
FOOTNOTE_SIGNS = frozenset("*†‡#")
_DOUBTFUL = SURNAMES - {"light"}  # capital words that a list of names may go on to, though they are words
_PLAIN_SIGNS = r"\w\s.,;:()\[\]'\"/&§¶*†‡#+%$•·-"
_DAMAGED = re.compile(
    rf"\d[a-z]{{3,}}|(?=.*[^\W\d_]).*[^{_PLAIN_SIGNS}].*|[\ufffd\ue000-\uf8ff]{{2,}}|"
    rf"[a-z]{{1,2}}[A-Z][a-z]{{2,}}|"
    r"802\.\d{1,3}[a-z]{0,3}")  # 5mith, |ones, lVang; and a standard without its issuer's name
_OF_ART = re.compile(
    r"(?:(?:general|common|background|ordinary|technical|well-known|basic|state|of|the|an?|in|skilled|such|"
    r"person|"
    r"(?:artisan|posita|phosita|posa|petitioner|applicant)(?:'?s'?)?) )*(?:knowledge|sense|skill|skilled|"
    r"motivations?|rationale|reasons?|art|posita|phosita|posa|artisans?|others)\b|"
    r"(?:(?:other|well-known|known|conventional|routine) )+(?:techniques?|elements?|practices?|design|"
    r"methods?|art|prior art|"
    r"teachings?|principles?|features?)\b", re.IGNORECASE)
_ADMITTED = re.compile(r"(?:(?:patent owner|applicants?|'\d{3} patent)(?:'s?)? )?(?:alleged(?:ly)? )?"
                       r"admitted prior art\b", re.IGNORECASE)
_ISSUERS = frozenset("jp wo ep us u.s de gb fr cn kr japanese european german british french chinese korean "
                     "international".split())
_TAIL = re.compile(r"(?:(?:JP|WO|EP|US|U\.S\.|DE|GB|FR|CN|KR) )?'\d{3}(?: (?:patent|publication|application|"
                   r"reference)\b)?",
                   re.IGNORECASE)
_SKILLED = frozenset(", person posita posa phosita skilled artisan's posita's knowledge general "
                     "ordinary".split())
_ENUMERATOR = re.compile(r"\d{1,2}|[a-h]|i{1,3}|iv|vi?")
_IN_PHRASE = re.compile(r"[a-z][a-z'-]*")  # words of "in view of the known hinge of Smith"


@dataclass(frozen=True)
class Claims:
    """stated: as in the text. numbers: none where `doubt` says why they can't be trusted."""

    stated: str
    numbers: tuple[int, ...] = ()
    doubt: str = ""


@dataclass(frozen=True)
class Name:
    """A reference as a ground names it. number: where the ground itself states it.
    unread: whether a name must stand here, but what stands can't be taken for one. start, end: in the
    plain reading."""

    text: str
    start: int
    end: int
    exhibit: str = ""
    number: Number | None = None
    unread: bool = False


def read_claims(items: list[tuple[int, int]], stated: str, count: int | None = None) -> Claims:
    """The claims of (first, last) items, if they rise and none is above the claim count.

    A dash that was lost shows so: `1–22, 32–41` becomes `122, 3241`. Nothing is guessed.
    """
    flat = [n for first, last in items for n in ((first, last) if first != last else (first,))]
    if any(first > last for first, last in items) or any(a >= b for a, b in zip(flat, flat[1:])):
        return Claims(stated, doubt="numbers out of order")
    if flat[-1] > (count or MOST_CLAIMS):
        return Claims(stated, doubt="above the claim count")
    if flat[0] < 1:
        return Claims(stated, doubt="numbers out of order")
    return Claims(stated, tuple(n for first, last in items for n in range(first, last + 1)))


@dataclass(frozen=True)
class Cells:
    """Reads the tokens of a document. names: its own; others: of the same trial, which define too."""

    document: Document
    names: Names
    others: tuple[Names, ...] = ()
    claim_count: int | None = None

    @cached_property
    def _known(self) -> dict:
        """What was read before, by kind and token: each is read once, however often it is asked for."""
        return {}

    def _once(self, kind, i: int, *more):
        key = (kind.__name__, i, *more)
        if key not in self._known:
            self._known[key] = kind(i, *more)
        return self._known[key]

    @cached_property
    def tokens(self):
        """The document's tokens."""
        return self.document.tokens

    @cached_property
    def low(self) -> list[str]:
        """The tokens in small letters."""
        return [token.text.lower() for token in self.tokens]

    @cached_property
    def starts(self) -> list[int]:
        """Where the tokens begin in the plain reading."""
        return [token.start for token in self.tokens]

    def word(self, i: int) -> str:
        """The token in small letters, empty beyond the end."""
        return self.low[i] if 0 <= i < len(self.low) else ""

    def behind(self, place: int) -> int:
        """The first token that begins at the place of the plain reading or behind it."""
        return bisect_left(self.starts, place)

    def glued(self, i: int) -> bool:
        """Whether the token stands right behind the one before."""
        return 0 < i < len(self.tokens) and self.tokens[i].start == self.tokens[i - 1].end

    # --- claims

    def claims_at(self, i: int) -> tuple[int, Claims] | None:
        """`1, 6, 8-12 and 14`, behind `claims` or without."""
        return self._once(self._claims_at, i)

    def _claims_at(self, i: int):
        if self.word(i) in ("claims", "claim"):
            i += 1
            if self.word(i) == "(" and self.word(i + 1) == "s":
                i += 3
        first, items, at = i, [], i
        while len(items) < ITEMS:
            item = self._item_at(at)
            if not item:
                break
            end, span = item
            items.append(span)
            at = end
            while self.word(at) in (",", "and", "&", "or", "/") and at - end < 4:
                at += 1
            if at == end:
                break
        if not items:
            return None
        stated = self.document.plain[self.tokens[first].start:self.tokens[end - 1].end]
        return end, read_claims(items, stated, self.claim_count)

    def _item_at(self, i: int) -> tuple[int, tuple[int, int]] | None:
        """A number or a range of them."""
        if not self._is_claim(i):
            return None
        first = int(self.word(i))
        if self.word(i + 1) in ("-", "through", "thru", "to") and self._is_claim(i + 2):
            return i + 3, (first, int(self.word(i + 2)))
        return i + 1, (first, first)

    def _is_claim(self, i: int) -> bool:
        word = self.word(i)
        if not (word.isascii() and word.isdigit() and len(word) <= 5):
            return False
        after = self.word(i + 1)
        return not ((after in ("(", "/", "%") or after.isalpha()) and self.glued(i + 1))

    # --- statutes

    def statute_at(self, i: int, loose: bool = False) -> tuple[int, tuple[str, ...], bool] | None:
        """`35 U.S.C. §§ 102(b) and 103(a)`, `103`, `Obviousness`; the last value: whether it bears a
        sign of its own, such as § or (a). loose: a digit of a footnote may stick to it."""
        return self._once(self._statute_at, i, loose)

    def _statute_at(self, i: int, loose: bool):
        if not self._may_be_statute(i):
            return None
        found, marked, end, at = [], False, i, i
        for _ in range(4):
            read = self._one_statute(at, loose)
            if not read:
                break
            end, kind, sign = read
            found.append(kind)
            marked |= sign
            at = end
            while self.word(at) in (",", "and", "/", "or", "&", ";") and at - end < 3:
                at += 1
            if self.word(at) == "(" and self.word(at + 1) in WORDS and self.word(at + 2) == ")":
                end = at = at + 3
        return (end, tuple(dict.fromkeys(found)), marked) if found else None

    def _may_be_statute(self, i: int) -> bool:
        word = self.word(i)
        return word[:3] in SOUGHT + LEFT_OUT or word in WORDS or word in _BEFORE_STATUTE

    def _one_statute(self, i: int, loose: bool) -> tuple[int, str, bool] | None:
        if self.word(i) in WORDS and self.tokens[i].text[0].isupper():
            kind, at = WORDS[self.word(i)], i + 1
            more = self._one_statute(at + (self.word(at) in ("(", "under")), loose)
            if more and more[1] == kind:
                return more[0] + (self.word(more[0]) == ")"), kind, True
            return at, kind, True
        at, marked = i, False
        if self.word(at) in ("pre-aia", "under"):
            at += 1
        if self.word(at) == "35" and self.word(at + 1).startswith("u.s.c"):
            at, marked = at + 2, True
        elif self.word(at) == "35" and self.word(at + 1) == "usc":
            at, marked = at + 2, True
        while self.word(at) in ("§", ".", "section", "sections", "sec", "s") and at - i < 8:
            marked |= self.word(at) != "."
            at += 1
        word = self.word(at)
        if not re.fullmatch(r"1(?:0[123]|12)" + (r"\d?" if loose else ""), word):
            return None
        if word[:3] not in SOUGHT + LEFT_OUT:
            return None
        kind, at = word[:3], at + 1
        for _ in range(2):
            if self.word(at) == "(" and self.glued(at) and re.fullmatch(r"[a-g]|[1-6]|aia|pre-aia",
                                                                        self.word(at + 1)):
                at, marked = at + 3, True
        if self.word(at) == "," and self.word(at + 1) == "¶":
            at += 3
        if loose and self.word(at).isdigit() and self.glued(at) and self.word(at - 1) == ")":
            at += 1  # the digit of a footnote behind "103(a)"
        return at, kind, marked

    # --- names

    @cached_property
    def _glossary(self) -> dict[str, list[tuple[str, ...]]]:
        """By their first word: the names that this trial's documents define, the longest first."""
        made: dict[str, set[tuple[str, ...]]] = {}
        for names in (self.names, *self.others):
            for told in names.definitions.values():
                for definition in told:
                    words = tuple(_norm(t) for t in re.findall(r"'\d{3}|[\w'&.-]+|\S", key(definition.name)))
                    # "Page" and "May" are names only where quotes give them to a number
                    surname = words and words[0] in SURNAMES and definition.number and definition.strength == 1
                    issued = words[1:] and words[0] in _ISSUERS and definition.strength == 1  # "JP '512"
                    if words and (surname or issued or words[0] not in _NEVER | BETWEEN | FILLERS):
                        made.setdefault(words[0], set()).add(words)
        return {first: sorted(told, key=lambda words: (-len(words), words)) for first, told in made.items()}

    def names_at(self, i: int) -> tuple[int, tuple[Name, ...], bool] | None:
        """`Smith in view of Jones (Ex. 1006), and further in view of Lee`. A name that must stand there
        and can't be read is among them. The last value: whether a word that joins names stands last."""
        return self._once(self._names_at, i)

    def _names_at(self, i: int):
        found, at, end = [], i, i
        while at - i < ITEMS:
            start = at
            at, joined = self._between(at)
            if joined == WORD:
                at = self._behind_phrase(start, at)
            if several := self._run_together_at(at):
                end = at = several[0]
                found += several[1]
                continue
            name = self._name_at(at) if joined or not found else None
            name = name or self._unread_at(start, at, joined)
            if not name or not found and self.word(i) == "," and self.word(i + 1) != "inter":
                break
            end = at = name[0]
            found.append(name[1])
            if self._is_undefined_beside(name):  # "Mary Smith", of which only Smith is defined
                end, more = self._name_at(at)
                found.append(more)
                at = end
        more = self._side_by_side(end, found)
        if more:
            end, found = more
        joined = self.word(end) in BETWEEN - {","} or self.word(end) == "," and self.word(end + 1).isdigit()
        once = {key(name.text): name for name in reversed(found)}
        return (end, tuple(reversed(once.values())), joined) if found else None

    def _between(self, i: int) -> tuple[int, int]:
        """Behind the small words between two names; and WORD, COMMA or 0, by what of them joins names."""
        at, joined = i, 0
        while at - i < 14:
            word = self.word(at)
            if word.isdigit() and len(word) <= 3 and at > i and self._glossary_at(at + 1):
                at += 1  # of a footnote or a page: "Smith,3 Jones", "in view of 12 Jones"
                continue
            if word == "(" and self.word(at + 2) == ")" and _ENUMERATOR.fullmatch(self.word(at + 1)):
                at += 3  # "over (1) Smith and (2) Jones"
                continue
            of_ground = word == "(" and at > i and self.word(at + 1) in ("ground", "grounds")
            if of_ground and (closed := self._closed(at)):
                at = closed  # "Smith alone (Ground 1) or with Jones"
                continue
            if word not in FILLERS | BETWEEN or word in SURNAMES and self._is_surname(at):
                break
            joined = max(joined, (word in JOINING) + (word in JOINING and word != ","))
            at += 1
        return at, joined

    def _is_surname(self, i: int) -> bool:
        """Whether a word such as Light is a defined name here: not in "in Light of"."""
        return self.word(i + 1) != "of" and bool(self._glossary_at(i))

    def _behind_phrase(self, start: int, i: int) -> int:
        """Behind `known hinge of` in "in view of the known hinge of Smith", and behind the knowledge of an
        artisan where "as evidenced by Smith" or "and Smith" follows; i where there is none."""
        of_art = i < len(self.tokens) and bool(_OF_ART.match(self.document.plain, self.tokens[i].start))
        if not of_art and not {"view", "light", "with"} & set(self.low[start:i]):
            return i
        last = ("of", "in", "by", "from", *(("and", "with") if of_art else ()))
        for at in range(i, min(i + (18 if of_art else 8), len(self.tokens))):
            if at > i and self.word(at - 1) in last and self._glossary_at(at):
                return at
            if self.low[at] in ("claim", "claims", "that", "because", "is", "are") or not (
                    _IN_PHRASE.fullmatch(self.tokens[at].text) or of_art and self.low[at] in _SKILLED):
                break
        return i

    def _run_together_at(self, i: int) -> tuple[int, list[Name]] | None:
        """Defined names in one word, `Smith-Jones` for their combination."""
        parts = self.tokens[i].text.split("-") if i < len(self.tokens) else []
        if len(parts) < 2 or self._glossary_at(i) or not all(
                part[:1].isupper() and (_norm(part),) in self._glossary.get(_norm(part), ()) for part in parts):
            return None
        at, made = self.tokens[i].start, []
        for part in parts:
            made.append(Name(part, at, at + len(part)))
            at += len(part) + 1
        return i + 1, made

    def _is_undefined_beside(self, read: tuple[int, Name]) -> bool:
        """Whether a name that nothing defines stands right before a defined one."""
        end, name = read
        word = _norm(name.text)
        return bool(not name.unread and not name.number and self.tokens[end - 1].end == name.end
                    and self._glossary_at(end) and (word,) not in self._glossary.get(word, ()))

    def _unread_at(self, start: int, i: int, joined: int) -> tuple[int, Name] | None:
        """What stands at i, where the words from `start` to it say that a name must follow."""
        word = self.word(i)
        if joined == WORD and word in ("", ".", ";", ")") and self.word(i - 1) in ("and", "of", "with", "&"):
            place = self.tokens[start].start, self.tokens[i - 1].end  # "over Smith in view of. Pet. 12"
            return i, Name(self.document.plain[slice(*place)], *place, unread=True)
        if not word or word[0].isdigit():
            return None
        capital = self.tokens[i].text[0].isupper()
        if capital and len(word) == 1 and joined == WORD and word not in "ai":
            goes_on = True  # "S mith"
        elif capital and word in _DOUBTFUL and not self.word(i + 1).isdigit():
            more, again = self._between(i + 1)
            goes_on = bool(again and self._name_at(more))
        else:  # a defined name that lost its capital
            goes_on = False
            capital = not capital and (word,) in self._glossary.get(word, ()) and word not in SURNAMES
        if not capital or joined != WORD and not goes_on:
            return None
        token = self.tokens[i]
        return i + 1, Name(token.text, token.start, token.end, unread=True)

    def _side_by_side(self, i: int, found: list[Name]) -> tuple[int, list[Name]] | None:
        """Defined names without a word between, as lines of one cell; only where a row follows them."""
        at, more = i, []
        while found and len(more) < 6 and self._glossary_at(at):
            at, name = self._name_at(at)
            more.append(name)
        if not more:
            return None
        row = self.statute_at(at) or any(
            claims and self.statute_at(claims[0], loose=True)
            for claims in (self.claims_at(at + n) for n in range(3)))  # "6 103", "2 6 103", "Ground 2 6 103"
        return (at, found + more) if row else None

    def _name_at(self, i: int) -> tuple[int, Name] | None:
        if i >= len(self.tokens):
            return None
        i = self._behind_initials(i)
        start, number, unread = self.tokens[i].start, self.names.at.get(self.tokens[i].start), False
        if number:
            end = self.behind(number.end)
            named = self._given_name(end)
            end, label = named if named else (end, self._named.get(number.start, ""))
            text = label or self.document.plain[number.start:number.end]
        elif read := (self._quoted_at(i) or self._admitted_at(i) or self._glossary_at(i)):
            end, text = read
        elif read := self._damaged_at(i):
            (end, text), unread = read, True
        elif read := self._tail_at(i) or self._exhibit_at(i) or self._capitals_at(i):
            end, text = read
        else:
            return None
        name = Name(text, start, self.tokens[end - 1].end, number=number, unread=unread)
        end, exhibit = self._aside(end)
        return end, replace(name, exhibit=exhibit or (text[-4:] if re.fullmatch(r"Ex\. \d{4}", text) else ""))

    @cached_property
    def _named(self) -> dict[int, str]:
        """By the places of numbers: the names in quotes that this document gives to them right there."""
        told = [d for definitions in self.names.definitions.values() for d in definitions]
        return {d.number.start: d.name for d in told if d.number and d.strength == 1}

    def _behind_initials(self, i: int) -> int:
        """The name behind `J. Q.`; i where no initials stand."""
        at = i
        while at - i < 6 and re.fullmatch("[A-Z]", self.tokens[at].text) and self.word(at + 1) == "." \
                and at + 2 < len(self.tokens) and self.tokens[at + 2].text[0].isupper():
            at += 2
        return at if at > i and (self._glossary_at(at) or self._capitals_at(at)) else i

    def _quoted_at(self, i: int) -> tuple[int, str] | None:
        """A name or a title in quotes."""
        if self.word(i) != '"':
            return None
        close = next((at for at in range(i + 2, i + 16) if self.word(at) == '"'), None)
        if not close or not self.tokens[i + 1].text[0].isupper():
            return None
        read = self._glossary_at(i + 1)
        inside = self.document.plain[self.tokens[i + 1].start:self.tokens[close - 1].end].rstrip(" .,;")
        return close + 1, read[1] if read and read[0] >= close - 1 else inside

    def _damaged_at(self, i: int) -> tuple[int, str] | None:
        """A word that a text layer broke, such as `5mith` or `|ones`, up to the next blank."""
        start, plain = self.tokens[i].start, self.document.plain
        stop = plain.find(" ", start, start + 60)
        run = plain[start:stop if stop > 0 else start + 60].rstrip(".,;:)]\"'")
        return (self.behind(start + len(run)), run) if _DAMAGED.fullmatch(run) else None

    def _tail_at(self, i: int) -> tuple[int, str] | None:
        """A reference called by its number, `'777 patent` or `JP '512`, that no document defines."""
        found = _TAIL.match(self.document.plain, self.tokens[i].start)
        return (self.behind(found.end()), found[0]) if found else None

    def _exhibit_at(self, i: int) -> tuple[int, str] | None:
        """A reference called by its exhibit alone, unless a place in it is cited."""
        if self.word(i) not in ("ex", "exhibit"):
            return None
        at = i + 1 + (self.word(i + 1) == ".")
        behind = self.word(at + 1)
        cited = behind in ("¶", "§", "at") or behind == "," and self.word(at + 2)[:1].isdigit()
        return (at + 1, f"Ex. {self.word(at)}") if re.fullmatch(r"1\d{3}", self.word(at)) and not cited else None

    def _given_name(self, i: int) -> tuple[int, str] | None:
        """Behind a number: `to Smith et al.`"""
        at = i + (self.word(i) == ",")
        while self.word(at) in ("issued", "granted", "to", "by") and at - i < 4:
            at += 1
        if at == i or self.word(at - 1) not in ("to", "by"):
            return None
        return self._glossary_at(at) or self._capitals_at(at)

    def _glossary_at(self, i: int) -> tuple[int, str] | None:
        """The longest defined name that begins here; a digit of a footnote may stick to its end."""
        told = self._beginning(i)
        if not told or not (self.tokens[i].text[0].isupper() or self.word(i)[0] in "'0123456789"
                            or self.tokens[i].text[0].islower() and self._small_first(i)):
            return None
        for words in told:
            n = len(words)
            here = [_norm(word) for word in self.low[i:i + n]]
            if len(here) == n and (tuple(here) == words or (*here[:-1], _bare(here[-1])) == words):
                return i + n, " ".join(token.text for token in self.tokens[i:i + n - 1]
                                       ) + " " * (n > 1) + self._as_written(i + n - 1, words[-1])
        return None

    def _beginning(self, i: int) -> list[tuple[str, ...]]:
        """The defined names whose first word is the token, by its letters; each word is looked up once."""
        word = self.word(i)
        if word not in self._begun:
            forms = dict.fromkeys((_norm(word), _bare(_norm(word)))) if word else ()
            self._begun[word] = [words for first in forms for words in self._glossary.get(first, ())]
        return self._begun[word]

    @cached_property
    def _begun(self) -> dict[str, list]:
        return {}

    def _small_first(self, i: int) -> bool:
        """A defined name that begins small, such as iPhone: only with a capital further on."""
        return any(sign.isupper() for sign in self.tokens[i].text)

    def _as_written(self, i: int, word: str) -> str:
        text = self.tokens[i].text
        text = re.sub(r"'s?$", "", text)
        return _bare(text) if _norm(text) != word else text

    def may_be_defined(self, i: int) -> bool:
        """Whether a defined name begins with this word; `is_defined` looks at the whole of it."""
        return bool(self._beginning(i))

    def is_defined(self, i: int) -> bool:
        """Whether a name begins here that a document of the trial defines."""
        return bool(self._glossary_at(i))

    def _capitals_at(self, i: int) -> tuple[int, str] | None:
        """A run of up to four words with capitals, of which none is known to be no name."""
        at, words = i, []
        if _OF_ART.match(self.document.plain, self.tokens[i].start):
            return None
        while at < len(self.tokens) and len(words) < 4:
            text = self.tokens[at].text
            low = _norm(text)
            if re.fullmatch(r"'\d{3}", text) and words:
                words.append(text)
            elif words and low in ("van", "von", "de", "der", "den", "di", "la", "le", "du", "et"):
                if low == "et":
                    break
                words.append(text)
            elif (not text[0].isupper() or len(text) < 2 or {low, _bare(low)} & (_NEVER | BETWEEN | FILLERS)
                  or re.match(r"(?:IPR|PGR|CBM)\d", text)):
                break
            elif words and self._glossary_at(at):
                break
            else:
                words.append(_bare(re.sub(r"'s?$", "", text)))
            at += 1
        return (at, " ".join(words)) if words and words[0][:1].isupper() else None

    def _admitted_at(self, i: int) -> tuple[int, str] | None:
        found = _ADMITTED.match(self.document.plain, self.tokens[i].start)
        return (self.behind(found.end()), found[0]) if found else None

    def _aside(self, i: int) -> tuple[int, str]:
        """Behind a name: et al., brackets, an exhibit, the digit of a footnote; and the exhibit."""
        at, exhibit = i, ""
        bare_sign = self.word(at) == "'" and self.glued(at) and self.word(at - 1).endswith("s")  # "Jones' hinge"
        at += bare_sign
        if bare_sign or self.word(at - 1).endswith("'s"):  # "Smith's method of closing and Jones's hinge"
            few = next((k for k in range(at, at + 5) if self.word(k) in JOINING), at)
            at = few if all(word.isalpha() and self.tokens[at + n].text.islower()
                            for n, word in enumerate(self.low[at:few])) else at
        if self.low[at:at + 2] == ["et", "al"]:
            at += 2 + (self.word(at + 2) == ".")
        if self.word(at).isdigit() and len(self.word(at)) <= 2 and self.word(at + 1) in ("and", ",", "in", "with") \
                and not self.word(at + 2).isdigit():
            at += 1  # the digit of a footnote
        while self.word(at) in FOOTNOTE_SIGNS and self.glued(at):
            at += 1
        for _ in range(3):
            if self.word(at) in ("(", "["):
                closed = self._closed(at)
                if not closed or self._is_of_ground(at + 1):
                    break
                exhibit = exhibit or self._exhibit(at, closed)
                at = closed
            else:
                k = at + (self.word(at) == ",")
                if self.word(k) in ("ex", "exhibit", "ex-") and (m := self._exhibit(k, k + 4)):
                    exhibit, at = exhibit or m, k + 2 + (self.word(k + 1) == ".")
                    at += self.word(at) == "," and self.word(at + 1) in BETWEEN - {","}
                else:
                    break
        return at, exhibit

    def _is_of_ground(self, i: int) -> bool:
        """Whether a bracket holds a ground's claims or statute, and nothing of the name before it."""
        if self.word(i) in ("claim", "claims"):
            return self.claims_at(i) is not None
        statute = self.statute_at(i)
        return bool(statute and statute[2])

    def _closed(self, i: int) -> int | None:
        """Behind the bracket that closes the one at i, if it does within 60 tokens."""
        depth = 0
        for at in range(i, min(i + 60, len(self.tokens))):
            depth += (self.low[at] in "([") - (self.low[at] in ")]")
            if depth == 0:
                return at + 1
        return None

    def _exhibit(self, start: int, end: int) -> str:
        for at in range(start, min(end, len(self.tokens))):
            if self.low[at] in ("ex", "exhibit", "exs") and at + 2 < len(self.tokens):
                number = self.low[at + 1 + (self.low[at + 1] == ".")]
                if re.fullmatch(r"\d{4}", number):
                    return number
        return ""


def _norm(word: str) -> str:
    return re.sub(r"'s?$", "", word.lower()).strip(".") if not re.fullmatch(r"'\d{3}", word) else word


def _bare(word: str) -> str:
    """Without the digits of a footnote at its end, where letters stand before them."""
    return re.sub(r"(?<=[^\W\d_])\d{1,2}$", "", word)
