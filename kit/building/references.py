"""From a document: the numbers it states, the names it defines for them, and name -> number.

A number is never taken because it stands there. A ground names a reference, and the name leads to
the number by its definition: `U.S. Patent No. 7,123,456 B2 (Ex. 1005, "Smith")`, the same turned
round, or without quotes. Definitions have a strength; of a name the strongest count:
1 quoted beside the number, 2 in brackets or apposition, 3 by `to NAME` or in a list of exhibits,
4 the first word of such a name.
"""

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, replace
from functools import cached_property

from kit.building import numbers
from kit.building.document import Document

AHEAD, BACK = 260, 120  # characters of the plain reading in which a number's name is looked for
_ABROAD = ("European|Japanese|German|British|French|Chinese|Korean|Canadian|Australian|Taiwanese|Taiwan|"
           "Russian|Soviet|Swedish|Swiss|Dutch|Italian|Spanish|Israeli|Indian|Danish|Finnish|Norwegian|"
           "Austrian|Belgian|Brazilian|Mexican|International|PCT|Great Britain|U\\.K\\.|UK")
_CODES = ("WO|EP|JP|DE|GB|FR|CN|KR|CA|AU|TW|RU|SU|SE|CH|NL|DK|ES|FI|IL|NZ|PL|SG|ZA|BR|MX|HK|CZ|HU|"
          "PCT ?/ ?[A-Z]{2}")
_OFFICE = (r"(?: (?:Unexamined|Examined|Laid-Open|Laid|Open|Utility|Model|Design|Patent|Published|"
           r"Publication|Application|Appln?\.?|App\.|Pub\.|Publ\.|Pat\.|Kokai|Specification|"
           r"Registration|Serial|Ser\.|Reissue|Plant|Statutory|Invention|Des\.|Provisional|Document|Nos?\.?|"
           r"Number|#)){0,8}")
_US = r"(?:\bU\.? ?S\.?|\bUnited States)"
_KIND = r"(?: ?-?[ABCEPSH]\d\b| [AE]\b|A\b)?"
# of another office's papers, Union Inventor's Certificate No.
_TITLE = r"(?-i:(?: (?!U\.? ?S\b|United)[A-Z][\w'.-]*){0,8})"
# behind a number no digit follows, nor a letter that may be one unless it is of a kind code, B2
_GOES_ON = r"[-;|!/]?\d|(?-i:[IlOoZ|]|[SB](?![\dlI]?(?!\w)))"
_WHOLE = rf"(?!,\d|{_GOES_ON})"
_WHOLE_3 = rf"(?!,\d{{3}}|{_GOES_ON})"  # behind 7,123,456 a comma and a footnote's digit may follow
_APART = rf"\d{{1,2}}(?: ?, ?\d{{3}}){{2}}{_WHOLE_3}"  # of a text layer, or over two lines: 9, 142 ,411
_DIGITS = (rf"(?:{_APART}|(?:(?:RE|PP|D|H|T)\.? ?)?"
           rf"(?:\d{{1,2}}(?:,\d{{3}}){{2}}{_WHOLE_3}|(?:\d{{1,3}},\d{{3}}|\d{{7,8}}|"
           rf"\d{{4,6}}(?! \d)){_WHOLE}))")
# where a number must stand: most of it digits, but it is none
_DAMAGED = (r"(?-i:(?!\d{1,2}/\d{3},?\d{3}\b)(?=[^\d\s\"()]{0,3}(?:\d[^\d\s\"()]{0,3}){3}\d)(?=[^\s\"()]{6})"
            r"[\dIlOoSBZ|][^\s\"()]{4,20}?)(?=[.,;:]?(?:[\s\"()]|$))")
_MENTION = re.compile(r"\b(?=(?-i:[A-Z0-9pau]))(?:" + "|".join([  # few places begin one: it spares most of the time
    rf"(?P<foreign>\b(?:{_ABROAD})\b(?:{_OFFICE}|"
    rf"{_TITLE}) ?(?:(?:{_CODES})\b)? ?[A-Z]{{0,2}}[ -]?\d[\d/.,-]{{2,16}}\d{_KIND}"
    rf"|\b(?:{_CODES})(?: (?:Pub|Publication|Patent|Pat|App|"
    rf"Application)\.?)?(?: Nos?\.?)? ?[-/]?[A-Z]{{0,2}} ?-?"
    rf"(?:\d{{1,2}}(?: \d{{3,4}}){{2,4}}|\d[\d/.,-]{{2,16}}\d)(?!\d){_KIND})",
    rf"(?:{_US}{_OFFICE} ?-?|\b(?:Pub|Publ|Publication|Patent Application|Application)\b\.?(?: Nos?\.?)? ?"
    rf"(?:{_US} ?)?|\b)(?P<publication>20\d\d ?/ ?\d{{6,7}}){_WHOLE}(?![SB]){_KIND}",
    rf"{_US}{_OFFICE} ?-?(?P<parted>20\d\d[ -]\d{{7}}){_WHOLE}{_KIND}",
    rf"{_US}{_OFFICE} ?-?(?P<joined>20\d\d\d{{6,7}}){_WHOLE}(?: ?-?A\d)?",
    r"(?P<application>\b\d{2}/\d{3},?\d{3}\b)",
    rf"(?:{_US}{_OFFICE} ?-?|\b(?:Patent|Pat\.)(?: Nos?\.?| Number| #)? ?)(?P<patent>{_DIGITS}){_KIND}",
    rf"(?<![$\d.,])\b(?P<bare>(?:RE ?\d{{2}},\d{{3}}|D ?\d{{3}},\d{{3}}|PP ?\d{{2}},\d{{3}}|"
    rf"\d{{1,2}}(?:,\d{{3}}){{2}})){_WHOLE_3}{_KIND}",
    rf"(?:{_US}{_OFFICE} ?-?|\b(?:Patent|Pat\.|Publication|Pub\.|Application) (?:Nos?\.?|Number|"
    rf"#) ?)(?P<damaged>{_DAMAGED})",
]) + ")", re.IGNORECASE)


@dataclass(frozen=True)
class Number:
    """kind: patent, publication, application, foreign, damaged (letters stand where digits must), or none
    of these (""). value: in its one form, of a foreign or damaged one as stated. start, end: of the digits
    and all that belongs to them, in `plain`.
    bare: whether no word says what it is a number of."""

    kind: str
    value: str
    start: int
    end: int
    bare: bool = False


@dataclass(frozen=True)
class Definition:
    """A name that a document gives to a number, or to a text without a patent number (number None).

    start, end: of the definition's sentence in the plain reading. away: whether it stands in a section
    about something else, such as related matters.
    """

    name: str
    number: Number | None
    exhibit: str
    strength: int
    start: int
    end: int
    away: bool = False


def find_numbers(document: Document) -> list[Number]:
    """Every patent, publication and application number of the plain reading, in its order."""
    return [number for found in _MENTION.finditer(document.plain) if (number := _number(found))]


def _number(found: re.Match) -> Number | None:
    kind = found.lastgroup
    stated, at = found[kind], found.span()
    if kind == "foreign":
        return Number("foreign", " ".join(stated.split()), *at)
    if kind == "damaged":
        return Number("damaged", stated, *at)
    if kind in ("publication", "parted", "joined"):
        value = numbers.publication(stated)
        return Number("publication", value, *at) if value else None
    if kind == "application":
        return Number("application", numbers.application(stated), *at)
    value = numbers.patent(stated)
    if value and value.isdigit():  # "U.S. Reissue Patent No. 38,001"
        value = next((prefix for word, prefix in _PREFIXES if word in found[0].lower()), "") + value
    return Number("patent", value, *at, bare=kind == "bare") if value else None


_PREFIXES = (("reissue", "RE"), ("design", "D"), ("des.", "D"), ("plant", "PP"), ("statutory", "H"))


# --- names ----------------------------------------------------------------------------------------

_QUOTED = re.compile(r"""(?P<before>(?:entitled|titled|title),? )?(?:"|'')(?P<name>[^"()]{1,70}?)(?:"|'')""")
_RUN = r"(?:[A-Z][\w'&.-]{0,30}|'\d{3})(?: (?:et al\.?|(?:van |von |de |der |den |di |la |le |du ){0,2}[A-Z][\w'&-]{0,30}\.?|'\d{3}|[IV]{1,3})){0,4}"
_LINKS = ("issued filed published granted dated on to by et al and in of the as from with an a no entitled "
          "titled "
          "priority date effective having assigned hereinafter hereafter referred herein collectively called "
          "inventor inventors named reissued corresponding patent reference or simply").split()
_WORD = re.compile(r"[^\W\d_][\w'&.-]*")
_EXHIBIT = re.compile(r"\b(?:Exs?\.|Exhibit|EX|Ex) ?-?(\d{4})\b")
_TURNED = re.compile(
    rf'(?:"(?P<quoted>[^"()]{{1,70}})"|(?P<run>{_RUN}))'
    r"(?: ?\((?:Exs?\.|Exhibit|EX) ?-?\d{4}\))?"
    r"(?:,? (?:en)?titled \"[^\"]{1,90}\",?)?(?: ?[,(:;-]| is| refers to| means|,? which is| discloses|"
    r" issued as)?"
    r"(?: ?(?:Exs?\.|Exhibit|EX) ?-?\d{4}\)?[,;:]?)? ?(?:is )?(?:a |an |the )?$")
_EXHIBIT_FIRST = re.compile(r'(?:Exs?\.|Exhibit|EX) ?-?\d{4},? ?\("([^"()]{1,70})"\),? (?:is )?(?:a |an |the )?$')
_TO = re.compile(rf"^,? ?(?:\([^()]{{0,60}}\) )?(?:issued |granted )?(?:to|by) (?P<run>{_RUN})")
_BRACKET = re.compile(r"\(((?:[^()]|\([^()]{0,80}\)){1,240})\)")
_LOOSE = re.compile(rf"(?:^|[,;] ?|hereinafter,? |hereafter,? |or )(?P<run>{_RUN})(?=$|[,;])")
_NEVER = frozenset(
    "a about all although an and any appeal appendix application april are as at attorney august because "
    "before board but by case cfr claim claims column counsel court date december decision decl declaration "
    "director dr each ex exhibit exhibits exs february fig figs figure figures final first for from further "
    "furthermore ground grounds having here however id if in initially institution inter ipr issued it its "
    "january "
    "july june likewise march may moreover mr ms moreover no none nor nos notice november november obviousness "
    "anticipation october office on or order original our overall owner pages paper papers para pat patent "
    "patents "
    "paragraph pet petition petitioner petitioners pgr pg prelim preliminary prior pub publication published "
    "reference references regarding rehearing reply resp response second section see september since so "
    "specifically sur-reply table that the their then therefore there these third this thus title to under "
    "unlike "
    "unpatentable unpatentability uspto usc u.s u.s.c us we what when where whereas whether while with "
    "would you "
    "obvious anticipated renders over view challenged basis summary analysis conclusion outcome shown not "
    "person persons posita phosita ordinary level sept oct nov dec jan feb mar apr aug jun jul "
    "is was were be been has had do does did can could might must shall will "
    "accordingly consequently finally additionally specifically similarly indeed ordered notably otherwise "
    "instead again rendered render found shows discloses teaches "
    "pursuant art instituted trial trials related entered page i.e e.g cf reissue united states japanese "
    "european "
    "german british french chinese korean international wo ep jp vol".split())
SURNAMES = frozenset(  # names if they are defined, else the words that they are
    "page may march april june july august will case art table figure column counsel court director level "
    "light office "
    "order paper person plus still title well".split())


def key(name: str) -> str:
    """What two spellings of a name share: `the ’456 Patent` and `'456 patent` are one, `Smith et al.` is
    `Smith`, and a possessive counts for nothing. `Smith Article` is another than `Smith`."""
    words = name.casefold().translate(_QUOTES).replace('"', "").split()
    words = [re.sub(r"'s$", "", word.strip(" .,;:()'") if not _TAIL.match(word) else word) for word in words]
    words = [word for word in words if word]
    while words and words[0] in ("the", "a", "an"):
        words = words[1:]
    while len(words) > 1 and words[-1] in ("al", "et", "reference"):
        words = words[:-1]
    return " ".join(words)


def _spellings(wanted: str) -> list[str]:
    """A key, and the same with or without the word for what it is."""
    kinds = (" patent", " publication")
    bare = next((wanted.removesuffix(kind) for kind in kinds if wanted.endswith(kind)), wanted)
    return [wanted, *([bare] if bare != wanted else [wanted + kind for kind in kinds])]


_QUOTES = str.maketrans("‘’“”‐–—", "''\"\"---")
_TAIL = re.compile(r"'\d{3}$")


@dataclass(frozen=True)
class Names:
    """What the names of a document stand for."""

    document: Document

    @cached_property
    def numbers(self) -> list[Number]:
        """The numbers of the document."""
        return find_numbers(self.document)

    @cached_property
    def at(self) -> dict[int, Number]:
        """Each number by the place in the plain reading where it begins."""
        return {number.start: number for number in self.numbers}

    @cached_property
    def definitions(self) -> dict[str, list[Definition]]:
        """By the names' keys: the definitions of a name, all that the document has."""
        made: dict[str, list[Definition]] = {}
        for definition in _definitions(self.document, self.numbers):
            if definition.exhibit[:1] not in ("2", "3"):  # of the patent owner and the Board
                away = self.is_away((definition.number or definition).start)
                made.setdefault(key(definition.name), []).append(replace(definition, away=away))
        return made

    @cached_property
    def _away(self) -> list[tuple[int, int]]:
        """Sections about something else, from their heading to the next."""
        plain, made, at = self.document.plain, [], 0
        for heading in _AWAY.finditer(plain):
            if heading.start() < at or not self._is_heading(heading.start()):
                continue
            back = _BACK.search(plain, heading.end(), heading.end() + 6_000)
            at = back.start() if back else heading.end()
            made.append((heading.start(), at))
        return made

    def _is_heading(self, place: int) -> bool:
        """Whether words begin a section: behind its number, or at a line's start."""
        if re.search(r"(?:^|[A-Z0-9]\. ?|\d )$", self.document.plain[max(0, place - 4):place]):
            return True
        there, text = self.document.place(place), self.document.text
        return not text[text.rfind("\n", 0, there) + 1:there].strip(" \t`")

    def is_away(self, place: int) -> bool:
        """Whether a place of the plain reading is in a section on related matters, the prosecution, claim
        construction or the level of skill."""
        n = bisect_right(self._away, (place, len(self.document.plain))) - 1
        return n >= 0 and place < self._away[n][1]

    @cached_property
    def exhibits(self) -> dict[str, list[Definition]]:
        """The definitions by their exhibit."""
        made: dict[str, list[Definition]] = {}
        for told in self.definitions.values():
            for definition in told:
                if definition.exhibit and definition.number:
                    made.setdefault(definition.exhibit, []).append(definition)
        return made

    def meant(self, name: str, exhibit: str = "") -> list[Definition]:
        """The strongest definitions of a name; by its exhibit where the name itself has none."""
        told = next((self.definitions[k] for k in _spellings(key(name)) if k in self.definitions), [])
        if not told and exhibit and exhibit < "2000":  # the petitioner's own exhibits
            told = self.exhibits.get(exhibit, [])
        told = [d for d in told if d.number] or told
        told = [d for d in told if not d.away] or told
        best = min((d.strength for d in told), default=0)
        return [d for d in told if d.strength == best]


_AWAY = re.compile(r"(?:(?:Related|Other) (?:Matters?|Proceedings?|Litigations?|Cases)|RELATED (?:MATTERS|"
                   r"PROCEEDINGS|LITIGATION)|"
                   r"Prosecution History|PROSECUTION HISTORY|Claim Construction|CLAIM CONSTRUCTION|"
                   r"Level of Ordinary Skill|LEVEL OF ORDINARY SKILL|Patent Owner's Exhibits?)\b(?! of the)")
_BACK = re.compile(r" (?:[A-H]|[IVX]{1,4}|\d{1,2})\. (?=[A-Z])|\b(?:Grounds?|GROUNDS?|Challenges?|"
                   r"CHALLENGES?)\b|"
                   r"\b(?:Petitioner's )?Exhibit List|\bEXHIBIT LIST")


def _definitions(document: Document, found: list[Number]):
    """Every definition; a quoted name without a number is one of a text that is no patent."""
    plain, _borders = document.plain, document.borders
    used = set()
    ends = [number.end for number in found]
    for n, number in enumerate(found):
        start, stop = document.sentence(number.start)
        after = min(stop, number.end + AHEAD, *(f.start for f in found[n + 1:n + 2]))
        before = max(start, number.start - BACK, *ends[max(0, n - 1):n])
        several = dict.fromkeys(_of_several(plain, number, after))
        told = list(_of_number(plain, number, before, after))
        if number.bare and len(_in_a_row(plain, found, n)) > 1:  # "Nos. A and B ("Smith")": which is meant?
            several |= {(name, place): None for name, strength, place in told if strength == 1}
            told = []
        for name, place in several:
            used.add(place)
            yield from (Definition(name, other, "", 1, start, stop) for other in _in_a_row(plain, found, n))
        for name, strength, place in told:
            used.add(place)
            head = _head(plain, found, n, start) if strength == 1 else number
            exhibit = _exhibit(plain, number, before, after)
            yield Definition(name, head, exhibit, strength, start, stop)
    for bracket in _BRACKETED.finditer(plain):
        if _EXHIBIT.search(bracket[0]) and not _has_number(found, bracket.start(), bracket.end()):
            for quoted in _QUOTED.finditer(plain, bracket.start(), bracket.end()):
                if quoted.start() not in used and not quoted["before"]:
                    start, stop = document.sentence(bracket.start())
                    yield Definition(_name(quoted["name"]), None, _EXHIBIT.search(bracket[0])[1], 1,
                                     start, stop)


_BRACKETED = re.compile(r"\([^()]{1,200}\)")


def _has_number(found: list[Number], start: int, end: int) -> bool:
    n = bisect_left(found, start, key=lambda number: number.start)
    return n < len(found) and found[n].start < end


def _name(quoted: str) -> str:
    return quoted.strip(" .,;")


def _exhibit(plain: str, number: Number, before: int, after: int) -> str:
    """The exhibit that is stated with a number: behind it, else right before it."""
    behind = _EXHIBIT.search(plain, number.end, after)
    if behind and _is_linked(plain[number.end:behind.start()]):
        return behind[1]
    ahead = re.search(r"\b(?:Exs?\.|Exhibit|EX) ?-?(\d{4})\W{0,3}(?:is )?$|\b(\d{4}) $", plain[before:number.start])
    return (ahead[1] or ahead[2]) if ahead else ""


def _of_number(plain: str, number: Number, before: int, after: int):
    """(name, strength, place of the quotes) of each name that is given to one number."""
    quoted = []
    for bracket in _linked_brackets(plain, number.end, after):
        inside = plain[bracket[0]:bracket[1]]
        if len(_EXHIBIT.findall(inside)) > 1:  # see _of_several
            continue
        names = [(q.start(), q["name"]) for q in _QUOTED.finditer(plain, *bracket) if not q["before"]]
        quoted += [(_name(name), 1, place) for place, name in names]
        if not names:
            runs = [m["run"] for m in _LOOSE.finditer(inside) if _is_name(m["run"])]
            quoted += [(run, 2, -1) for run in runs]
            quoted += [(name, 3, -1) for run in runs for name in _suffixes(run)[1:]]
    loose = re.compile(r'(?:[,;] ?(?="[^"()]{1,70}"\))|'
                       r'[,;]? ?(?:hereinafter|hereafter|referred to (?:herein )?as|herein),? (?:referred to as )?)"'
                       r'([^"()]{1,70})"').match(plain, number.end, after)
    if loose:
        quoted.append((_name(loose[1]), 1, loose.start(1) - 1))
    yield from quoted
    if any(strength == 1 and not re.fullmatch(r"(?:the )?'\d{3}(?: .*)?", name, re.I)
           for name, strength, _ in quoted):
        return
    turned = _TURNED.search(plain[before:number.start])
    exhibit = _EXHIBIT_FIRST.search(plain[before:number.start])
    if exhibit:
        yield _name(exhibit[1]), 1, before + exhibit.start(1) - 1
    elif turned and turned["quoted"]:
        yield _name(turned["quoted"]), 1, before + turned.start()
    elif turned and not re.search(r"\b(?:to|by) $", plain[before:before + turned.start()]):
        own = 2 if re.search(r"[,(:;-] ?(?:(?:Ex|EX|Exhibit)[^,;]{0,12}[,;:)]? ?)?$|(?:is|to|means) (?:a |an |the )?$",
                             plain[before:number.start]) else 3
        yield from ((name, own, -1) for name in _suffixes(turned["run"]))
    given = _TO.match(plain[number.end:after])
    if given:
        run = _cut(given["run"])
        yield from ((name, 3, -1) for name in _suffixes(run))
        if " " in run:  # a heading may follow without a stop: "to Smith Overview of …"
            yield run.split()[0], 4, -1


_RELATED = re.compile(r"\b(?:priority|continu\w+|parent|division\w*|benefit|issued (?:from|on|as)|matured|"
                      r"published as|national stage|national phase|filed as|reissue of|corresponds|"
                      r"which is (?:the|a)|issued [^()]{0,30}\bfrom|granted (?:from|on))\b")


def _head(plain: str, found: list[Number], n: int, start: int) -> Number:
    """The number that a citation is of: in `A, a continuation of B (Ex. 1005, "Smith")` it is A."""
    while n > 0 and found[n - 1].start >= start:
        between = plain[found[n - 1].end:found[n].start]
        issued = re.search(r"\bfrom (?:U\.S\. )?(?:Patent )?App", plain[found[n - 1].end:found[n].end])
        opened = ");" if issued else "();"  # "(issued May 6, 2008, from App. No. 10/123,456)"
        if len(between) > 160 or any(sign in between for sign in opened) or not _RELATED.search(between):
            break
        n -= 1
    return found[n]


def _of_several(plain: str, number: Number, after: int) -> list[tuple[str, int]]:
    """The names in a bracket behind several numbers at once: `(Ex. 1005, "A"; Ex. 1006, "B")`."""
    brackets = [b for b in _linked_brackets(plain, number.end, after)
                if len(_EXHIBIT.findall(plain[b[0]:b[1]])) > 1]
    return [(_name(q["name"]), q.start()) for b in brackets for q in _QUOTED.finditer(plain, *b)]


def _in_a_row(plain: str, found: list[Number], n: int) -> list[Number]:
    """The number and those right before it, with nothing but a comma or `and` between."""
    row = [found[n]]
    while n > 0 and len(row) < 9 and re.fullmatch(r",? ?(?:and )?", plain[found[n - 1].end:found[n].start]):
        n -= 1
        row.append(found[n])
    return row


def _linked_brackets(plain: str, start: int, stop: int):
    """The brackets behind a number that speak of it: only words of a citation stand between."""
    at = start
    for bracket in _BRACKET.finditer(plain, start, stop):
        if not _is_linked(plain[at:bracket.start()]):
            return
        yield bracket.start(1), bracket.end(1)
        at = bracket.end()


def _is_linked(between: str) -> bool:
    """Whether a stretch has only dates, names, a title, and the small words of a citation."""
    between = re.sub(r'"[^"]{0,200}"', "", between)
    return all(word.strip(".'").lower() in _LINKS or word[0].isupper() and word.lower() not in ("petitioner",)
               for word in _WORD.findall(between))


def _is_name(run: str) -> bool:
    return not any(word.lower().strip(".'") in _NEVER for word in run.split())


def _cut(run: str) -> str:
    """A run of capital words up to the first that is no name, without an initial at its end."""
    words = run.split()
    stop = next((n for n, word in enumerate(words) if word.lower().strip(".'") in _NEVER), len(words))
    return re.sub(r"(?: [A-Z]\.?)+$", "", " ".join(words[:stop]))


def _suffixes(run: str) -> list[str]:
    """A run of capital words, and its ends: `See John Smith` -> John Smith, Smith."""
    words = re.sub(r" et al\.?$", "", run).split()
    kept = []
    for word in reversed(words):
        if word.lower().strip(".'") in _NEVER or not (word[0].isupper() or word[0] == "'" or kept):
            break
        kept.insert(0, word)
    return [name for n in range(len(kept)) if (name := " ".join(kept[n:]).strip(" .,"))[:1].isupper()]
