"""Raw claims as exports have them -> single claims, and the one that stands for claim 1.

Claims are found in three ways, the first that fits: a list of claims (Sophia's `iclm`); elements whose
number stands in an attribute (EP's `<claim num="0001">`, ST.32's `<CLM ID="CLM-00001">`), of which the
English block is read where there are several languages; else running text. In running text a number
begins a claim at a line's start, or after a full stop and before a capital, and the numbers rise by one:
of all chains of such numbers the longest is taken, so that steps, decimals and figures inside a claim
are none. Texts are cleaned by `kit.text.cleaning`; breaks between lines stay.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from kit.text.cleaning import clean

NONE, ALL_CANCELLED, ALL_DEPENDENT, NO_TEXT = (
    "no claims", "every claim is cancelled", "no live independent claim", "a claim without words")
_BREAK = "\N{SYMBOL FOR NEWLINE}"  # a line's end on its way through the cleaner
_ENDS = re.compile(r"(<br\s*/?>|</?(?:p|div|li|tr|para|clmstep|claim-text|claim|clm)(?:\s[^<>]*)?>)"
                   r"|(<[^<>]*>)|\r?\n|\r", re.IGNORECASE)
_ELEMENT = re.compile(r"<(?:claim|clm)(?=[\s>])([^<>]*)>", re.IGNORECASE)
_ELEMENT_END = re.compile(r"</(?:claims?|clm|cl)\s*>", re.IGNORECASE)
_NUMBER = re.compile(r"\bnum\s*=\s*[\"']?0*(\d{1,5})\b", re.IGNORECASE)
_ID_NUMBER = re.compile(r"\bid\s*=\s*[\"']?[^\"'>\s]*?0*(\d{1,5})[\"'\s>]", re.IGNORECASE)
_BLOCK = re.compile(r"<claims(?=[\s>])([^<>]*)>", re.IGNORECASE)
_LANGUAGE = re.compile(r"\blang\s*=\s*[\"']?([a-z]+)", re.IGNORECASE)

_GONE = r"(?:cancel+ed|deleted|omitted|withdrawn)"
_DASH = r"(?:-|\N{EN DASH}|\N{EM DASH}|\N{MINUS SIGN}|\N{NON-BREAKING HYPHEN}|to|through|and|,|&)"
# several numbers with one "(canceled)" behind them: 1-20. (canceled); 1.-60. (canceled); 1, 2 and 5-9 …
_RANGE = re.compile(rf"(?P<open>)(?:claims?\s+)?(?P<first>\d{{1,4}})(?:\s?\.?\s?{_DASH}\s?\d{{1,4}})*?"
                    rf"\s?\.?\s?{_DASH}\s?(?P<last>\d{{1,4}})\s?(?P<sep>[.):]*)\s*(?=[(\[]?\s?{_GONE})",
                    re.IGNORECASE)
_ONE = re.compile(r"(?P<open>[\[\N{MATHEMATICAL LEFT WHITE SQUARE BRACKET}]{0,2})\s?(?:claim\s+)?"
                  r"(?P<first>\d{1,4})(?P<last>)\s?(?P<sep>[.):])(?!\d)\s*", re.IGNORECASE)
_BARE = re.compile(r"(?P<open>)(?P<first>\d{1,4})(?P<last>)(?P<sep>)\s+(?=[A-Z])")  # "1 A device"
_LINE = re.compile(r"(?:\A|\n)[ \t]*")
_INLINE = re.compile(r"(?<=[.。)\]:])[ \t]*(?=[\[\N{MATHEMATICAL LEFT WHITE SQUARE BRACKET}]{0,2}\d)")
_WORD = re.compile(r"(\w+)\W*\Z")
# words after which a number is a reference, wherever the line happens to break
_NEEDS = frozenset("""claim claims step steps fig figs figure figures no nos number table example examples
    formula eq and or to of in than about at by with from is are least most between item items part seq id
    anspruch ansprüche revendication revendications""".split())
_SHORT = frozenset("fig figs no nos eq eqs ref refs ser art sec vol approx ca vs al resp ex pat".split())
_LIKE = re.compile(r"(?:\(?[A-Z][a-z ]*\)\s*)?(?:An?|The|In|At least|One or more|Use|Method|Process|Apparatus|System|"
                   r"Device|Composition|Verfahren|Vorrichtung|Procédé|Dispositif)\b|.{0,160}?\b(?:claims?|"
                   r"Anspr[uü]che?n?|revendications?)\s+\d", re.DOTALL)
_STATUS = re.compile(r"\((?:original|new|amended|(?:currently|previously|once|twice)\s+(?:amended|presented)|"
                     r"re-?presented|withdrawn[^()]{0,60})\)\s*", re.IGNORECASE)
# in brackets whatever follows, save that withdrawn claims may stand there all the same
_IS_GONE = re.compile(rf"[(\[]\s?(?!withdrawn){_GONE}\b|[(\[]?\s?{_GONE}\b[^a-z]{{0,3}}\Z|{_GONE}\b.{{0,40}}\Z",
                      re.IGNORECASE)
_STRUCK = re.compile(r"\[\[.*?\]\]|\N{MATHEMATICAL LEFT WHITE SQUARE BRACKET}.*?"
                     r"\N{MATHEMATICAL RIGHT WHITE SQUARE BRACKET}", re.DOTALL)
_DEPENDENT = re.compile(
    r"\b(?:claims?|Anspr(?:uch|üche|üchen)|revendications?)\s+(?:\d|[IVX]+\b)|"
    r"\b(?:preceding|previous|foregoing|above|other|aforementioned)\s+claims?\b|"
    r"\bvorhergehende[nr]?\s+Anspr|\brevendications?\s+précédentes?", re.IGNORECASE)
_STARS = re.compile(r"(?:\s*\*){2,}\s*\Z")
_HEADER = re.compile(r"(?:\s|claims?\b|what is claimed(?: is)?|(?:i|we) claim|the (?:invention|embodiments?)"
                     r"[^\n:]{0,120}(?:claimed|defined)[^\n:]{0,40}|patentansprüche|revendications|listing of"
                     r"|in the|having thus described[^\n:]{0,160}|it is claimed|that which is claimed|[:.,;])*\Z",
                     re.IGNORECASE)
GAP, LIKE, OTHER_SIGN = 1.5, 0.5, 0.6  # what a jump costs, a claim's first words give, another sign costs


@dataclass(frozen=True)
class Claim:
    """number: as the text has it. live: neither cancelled, nor struck out in a reissue, nor empty."""

    number: int
    text: str
    live: bool = True

    @property
    def depends(self) -> bool:
        """Whether it refers to another claim."""
        return bool(_DEPENDENT.search(self.text))


@dataclass(frozen=True)
class Choice:
    """The claim that stands for claim 1, or None. why: why it is not claim 1, or why there is none;
    empty for claim 1."""

    claim: Claim | None
    why: str = ""


def first_claim(raw: str | list | None) -> Choice:
    """Claim 1; where it is cancelled or missing, the first live claim that refers to no other.

    raw: as `split_claims` takes it.
    """
    claims = split_claims(raw)
    if not claims:
        return Choice(None, NONE)
    live = [c for c in claims if c.live]
    if not live:
        empty = not any(char.isalpha() for c in claims for char in c.text)
        return Choice(None, NO_TEXT if empty else ALL_CANCELLED)
    if live[0].number == 1:
        return Choice(live[0])
    why = "claim 1 is cancelled" if claims[0].number == 1 else "claim 1 is missing"
    own = next((c for c in live if not c.depends), None)
    return Choice(own, why if own else ALL_DEPENDENT)


def split_claims(raw: str | list | None) -> list[Claim]:
    """The claims of a text, or of a list of claims, in their order; cancelled ones are among them, a
    range of them as its first. A text without numbers is claim 1."""
    if isinstance(raw, list):
        return _of_list([part for part in raw if isinstance(part, str)])
    if not raw:
        return []
    block = _english(raw)
    return _of_elements(block) or _of_text(_lines(block))


# --- lists ----------------------------------------------------------------------------------------

def _of_list(parts: list[str]) -> list[Claim]:
    """Each part is a claim, or several; one without a number is claim 1 if it comes first, else it has
    the number after the last."""
    claims: list[Claim] = []
    for part in parts:
        found = split_claims(part)
        if len(found) == 1 and not _is_numbered(part):
            last = claims[-1].number if claims else 0
            found = [Claim(last + 1, found[0].text, found[0].live)]
        claims += found
    return claims


def _is_numbered(part: str) -> bool:
    return bool(_ELEMENT.search(part) or next(_starts(_lines(part)), None))


# --- markup ---------------------------------------------------------------------------------------

def _english(raw: str) -> str:
    """The block of claims in English, else the first; the text itself where it has no blocks."""
    blocks = list(_BLOCK.finditer(raw))
    if not blocks:
        return raw
    ends = [b.start() for b in blocks[1:]] + [len(raw)]
    languages = [(_LANGUAGE.search(b[1]) or [None, ""])[1].lower() for b in blocks]
    place = languages.index("en") if "en" in languages else 0
    inside = raw[blocks[place].end():ends[place]]
    return re.split(r"</claims\s*>", inside, maxsplit=1, flags=re.IGNORECASE)[0]


def _of_elements(raw: str) -> list[Claim]:
    """The claims of elements that bear a number each; empty where one bears none or all are one."""
    starts = list(_ELEMENT.finditer(raw))
    claims = []
    for start, end in zip(starts, [*(s.start() for s in starts[1:]), len(raw)]):
        number = _NUMBER.search(start[1]) or _ID_NUMBER.search(start[0])
        if number is None:
            return []
        inside = raw[start.end():end]
        stop = _ELEMENT_END.search(inside)
        inside = inside[:stop.start()] if stop else inside
        text = _lines(inside)
        own = _ONE.match(text)
        has_own = own and int(own["first"]) == int(number[1])
        claims.append(_claim(int(number[1]), text[own.end():] if has_own else text,
                             own["open"] if has_own else ""))
    return [] if len(claims) == 1 and len(_of_text(claims[0].text)) > 1 else claims


def _lines(raw: str) -> str:
    """The text cleaned, with its own line breaks and those that its tags make, no line empty."""
    marked = _ENDS.sub(lambda m: f" {_BREAK} " if m[1] or not m[2] else m[2], raw.replace(_BREAK, " "))
    lines = (line.strip() for line in clean(marked).split(_BREAK))
    return "\n".join(line for line in lines if line)


# --- running text ---------------------------------------------------------------------------------

@dataclass(frozen=True)
class _Start:
    """Where a claim may begin: at `start` its number, at `end` its words."""

    start: int
    end: int
    first: int
    last: int
    sign: str
    open: str
    weight: float


def _of_text(text: str) -> list[Claim]:
    starts = list(_starts(text)) or list(_starts(text, bare=True))
    chain = _chain(starts, text)
    before = text[:chain[0].start if chain else len(text)]
    is_claim = not _HEADER.match(before) and (not chain or chain[0].first == 2)
    claims = [_claim(1, before)] if is_claim else []
    ends = [s.start for s in chain[1:]] + [_end(chain, starts, text)] if chain else []
    return claims + [_claim(s.first, text[s.end:end], s.open) for s, end in zip(chain, ends)]


def _starts(text: str, bare: bool = False) -> Iterator[_Start]:
    """The places where a claim may begin, in their order. bare: without a sign after the number."""
    places = sorted({(m.end(), True) for m in _LINE.finditer(text)}
                    | ({(m.end(), False) for m in _INLINE.finditer(text)} if not bare else set()))
    done = -1
    for place, is_line in places:
        if place <= done:
            continue
        found = _BARE.match(text, place) if bare else _RANGE.match(text, place) or _ONE.match(text, place)
        if found is None or not _may_begin(text, found, is_line):
            continue
        done, first = place, int(found["first"])
        like = _IS_GONE.match(text, found.end()) or _LIKE.match(text, found.end())
        yield _Start(found.start(), found.end(), first, int(found["last"] or first), found["sep"][-1:],
                     found["open"], 1 + LIKE * bool(like))


def _may_begin(text: str, found: re.Match, is_line: bool) -> bool:
    """Whether what stands before and after a number lets it begin a claim."""
    if not 0 < int(found["first"]) <= int(found["last"] or found["first"]):
        return False
    before, after = text[max(0, found.start() - 200):found.start()].rstrip(), text[found.end():found.end() + 1]
    headed = _HEADER.match(before.rpartition("\n")[2]) is not None  # such as "Claims", on a line of its own
    word = (_WORD.search(before) or [None, ""])[1].lower()
    stopped = not before or before[-1] in ".。)]*" and not (before[-1] == "." and word in _SHORT)
    if found["last"] or _IS_GONE.match(text, found.end()):
        return is_line or stopped
    if headed:
        return bool(after)
    if not is_line:
        return stopped and after.isalpha() and not after.islower()
    if before[-1] in ",;:" or before[-1].isalnum() and word in _NEEDS:
        return False
    return bool(after) and (stopped or not after.islower())


def _chain(starts: list[_Start], text: str) -> list[_Start]:
    """The heaviest chain of starts whose numbers rise: by one, or by more at a cost that only several
    claims behind it make good. Of equal ones the earliest."""
    best: dict[int, tuple[float, list]] = {}  # last number: weight, (start, the chain before it)
    for s in starts:
        at_begin = s.first > 1 and _HEADER.match(text[:s.start]) is not None
        begin = (0.0 if s.first == 1 else -LIKE if at_begin else -GAP, None, "")
        tails = [begin, *((w - GAP * (n + 1 != s.first) - OTHER_SIGN * (s.sign != chain[0].sign), chain, "")
                          for n, (w, chain) in best.items() if n < s.first)]
        weight, tail, _ = max(tails, key=lambda t: t[0])
        weight += s.weight
        if s.last not in best or weight > best[s.last][0]:
            best[s.last] = (weight, (s, tail))
    if not best:
        return []
    _, node = max(best.values(), key=lambda v: v[0])
    chain = []
    while node:
        chain.append(node[0])
        node = node[1]
    return chain[::-1]


def _end(chain: list[_Start], starts: list[_Start], text: str) -> int:
    """Where the last claim ends: where the numbers begin anew, as in another language."""
    last = chain[-1].start
    return next((s.start for s in starts if s.start > last and s.first == 1), len(text))


# --- one claim ------------------------------------------------------------------------------------

def _claim(number: int, text: str, opened: str = "") -> Claim:
    text = _STARS.sub("", text).strip()
    struck = bool(opened) and text.endswith(("]", "\N{MATHEMATICAL RIGHT WHITE SQUARE BRACKET}"))
    gone = bool(_IS_GONE.match(text)) or struck
    if not gone:
        text = _STATUS.sub("", text, count=1) if _STATUS.match(text) else text
        text = re.sub(r"[ \t]{2,}", " ", _STRUCK.sub("", text)).strip()
    return Claim(number, text, not gone and any(c.isalpha() for c in text))
