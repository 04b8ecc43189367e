"""The text cleaner: raw field values of patent exports in, one plain line of text out.

What it does is stated in RULES, which reports print. `kit.text.tables` has what the rules mean
by "known" names; `declaration` hashes rules and tables, so that a change of either shows.
"""

from __future__ import annotations

import hashlib
import html
import json
import re
import unicodedata
from functools import lru_cache

from kit.text.tables import (
    BLOCK_TAGS,
    DOT_CODES,
    ENTITIES,
    FIELD,
    INLINE_TAGS,
    LONE_TAGS,
    MARKUP_PREFIXES,
    OFFICE_PREFIXES,
    PRIVATE_SIGNS,
    SGML_BLOCK_TAGS,
    SGML_INLINE_TAGS,
    UNQUOTED,
    VALUELESS,
)

CLEANER = "kit-clean"
VERSION = "1"

RULES: tuple[str, ...] = (
    "A missing text and an empty one both give the empty text.",
    "Only known tag names are markup: those of running HTML text, of MathML and of patent "
    "exports (WIPO ST.36 and ST.32, DOCDB, OPS); x<y and a>b stays, and so does <unknown>.",
    'A tag is its name followed at once by its end, or by attributes written name="value".',
    "A bare opening tag without attributes counts only if the text also closes it, so <a> for "
    "a mean stays; br, hr, li, p, sub, sup and names with a hyphen need no closing.",
    "Tags that a page shows as a break become a space; tags inside a line become nothing, so "
    "10<sup>-6</sup> gives 10-6.",
    "Names of forms and scripts, and s and q, are not markup: patents write about them.",
    "Comments, processing instructions and document types go; CDATA keeps what it holds.",
    "Attributes are not text: a claim number that stands only in an attribute is not added; "
    "placeholders such as ##EQU00001## are text and stay.",
    "The index codes .sub. and .sup. of US text go when a sign follows them at once, and the "
    "named codes such as .times. or .degree. become their sign; neither in web addresses.",
    "Reissue marks: .Iadd. and .Iaddend. go; .[. and .]. become brackets if the text has both.",
    "Entities are decoded once, after the tags are gone, and only if a semicolon ends them; "
    "an escaped tag thus becomes visible text, save sub and sup, which go if the text closes "
    "them, for exports escape these twice.",
    "A doubly escaped entity counts as one; a number entity may lack its semicolon; names in "
    "wrong capitals and the ISO Greek names are known; unknown names stay as they are.",
    "UTF-8 once read as Latin-1 is mended in the whole text, where that resolves most of its "
    "control characters; such controls that are left are read as Windows-1252.",
    "Control, soft-hyphen, zero-width, direction and other unseen characters go; a joiner or "
    "non-joiner stays after a script or a picture sign that needs it.",
    "Surrogate pairs become their character; lone surrogates and non-characters go.",
    "Private-use signs that US formulae take from one font become what they show; all others "
    "become a space.",
    "Unicode NFC, never NFKC: mathematical letters, full-width forms and indices stay; of more "
    "than 30 combining marks in a row the first 30 stay (the limit of UAX #15).",
    "Every run of white space, no-break and ideographic included, becomes one blank; the ends "
    "are stripped.",
)

# --- patterns: every one is linear, by possessive repeats or bounded counts ------------------

_CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>")
_COMMENT = re.compile(r"<!--.*?-->")
_DECLARED = re.compile(r"<\?[A-Za-z][^<>]*\?>|<!(?i:doctype)\b[^<>\[\]]*(?:\[[^\[\]]*\]\s*)?>")
_CLOSING = re.compile(r"</([A-Za-z][\w:.-]*+)\s*+>")
_TAG = re.compile(
    r"<(/?)([A-Za-z][\w:.-]*+)"
    r"((?:\s++(?:[A-Za-z_:][\w:.-]*+\s*+=\s*+(?:\"[^\"<]*+\"|'[^'<]*+')"
    rf"|(?i:{UNQUOTED})=[^\s\"'=<>`]++|(?i:{VALUELESS})(?=[\s/>])))*+)"
    r"\s*+(/?)>"
)
_ESCAPED_INDEX = re.compile(r"&(?:amp;)*lt;/?su[bp]2?&(?:amp;)*gt;")
_ENTITY = re.compile(
    r"&(?:amp;)*(?:#([0-9]{1,7}|[xX][0-9A-Fa-f]{1,6})(;|(?![0-9A-Za-z]))"
    r"|([A-Za-z][A-Za-z0-9]{0,31});)"
)
_INDEX = re.compile(r"\.(?:su[bp]|s[bp]s[bp])\.(?=\S)")
_DOT = re.compile(
    r"\.(?=[A-Za-z+-])(" + "|".join(re.escape(code) for code in sorted(DOT_CODES)) + r")\."
)
_DOMAIN = re.compile(
    r"(?:[A-Za-z0-9-]{1,40}\.){0,4}(?:(?:com|org|net|edu|gov|mil|int|info)\b"
    r"|(?:ac|co|com|edu|go|gov|or|org)\.[a-z]{2}\b)"
)
_BLANKS = re.compile("  +")
_C1 = re.compile(r"[\x80-\x9f]")
_MOJIBAKE = re.compile(
    r"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
# What Windows-1252 has in the place of the controls; 0x85 is left, for NEL is white space.
_WINDOWS_1252 = {
    code: bytes([code]).decode("cp1252", errors="ignore")
    for code in range(0x80, 0xA0)
    if code != 0x85
}
# "â€" and a third sign are the quotes and dashes of UTF-8 read as Windows-1252, and no word.
_MISREAD_QUOTES = {
    "â€" + (_WINDOWS_1252.get(code, chr(code)) or chr(code)): bytes([0xE2, 0x80, code]).decode()
    for code in range(0x80, 0xC0)
} | {"â€…": "\u2005"}
_MISREAD_QUOTE = re.compile("|".join(sorted(_MISREAD_QUOTES)))
_SURROGATE_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_PLANES = range(0x10000, 0x110000, 0x10000)
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\ufdd0-\ufdef\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff"
    "\U000e0000-\U000e007f"
    + "".join(chr(plane + end) for plane in _PLANES for end in (0xFFFE, 0xFFFF))
    + "]"
)
# Joiners shape the letters from Hebrew to Mongolian (without Hangul), of India, and emoji.
_JOINER = re.compile(
    "(?<![\u0590-\u10ff\u1200-\u1cff\ua800-\uabff\ufb50-\ufefc\U00010a00-\U00011fff"
    "\u2600-\u27bf\ufe0f\U0001f000-\U0001faff])[\u200c\u200d]+"
)


def clean(text: str | None) -> str:
    """Give the text as a reader sees it, on one line; None and the empty text give ""."""
    if not text:
        return ""
    plain = _characters(text)
    marked = plain
    if "<" in plain:
        plain = _without_tags(plain)
    if "&" in plain:
        plain = _decoded(plain)
    plain = _without_dot_codes(plain)
    # What was decoded or joined may itself be a blank, a soft hyphen or a composable letter.
    return plain if plain is marked else _characters(plain)


def declaration() -> dict[str, str]:
    """Give the cleaner's name, version, and a hash over these, the rules and all tables."""
    tables = {
        "block": sorted(BLOCK_TAGS),
        "inline": sorted(INLINE_TAGS),
        "sgml_block": sorted(SGML_BLOCK_TAGS),
        "sgml_inline": sorted(SGML_INLINE_TAGS),
        "prefixes": [sorted(OFFICE_PREFIXES), sorted(MARKUP_PREFIXES)],
        "field": FIELD.pattern,
        "lone": sorted(LONE_TAGS),
        "attributes": [UNQUOTED, VALUELESS],
        "dot_codes": DOT_CODES,
        "entities": ENTITIES,
        "private_signs": PRIVATE_SIGNS,
    }
    parts = json.dumps([CLEANER, VERSION, RULES, tables], sort_keys=True)
    digest = hashlib.sha256(parts.encode("ascii")).hexdigest()
    return {"name": CLEANER, "version": VERSION, "sha256": digest}


MARKS = ("tags", "entities", "index codes", "mojibake", "unseen characters")


def marks(text: str) -> set[str]:
    """What `clean` would resolve in a text: names of MARKS. Blanks and line ends are not counted."""
    held, signs = set(), set(text)
    if "<" in signs and _without_tags(flat := text.replace("\n", " ")) != flat:
        held.add("tags")
    if "&" in signs and _decoded(text) != text:
        held.add("entities")
    if _without_dot_codes(text) != text:
        held.add("index codes")
    if not signs <= _PRINTABLE and any(map(_C1.match, signs)) or "â€" in text:
        held |= {"mojibake"} if _reread_as_utf8(text) != text else set()
    if any(map(_UNSEEN.match, signs - _PRINTABLE)):
        held |= {"unseen characters"} if _UNSEEN.search(_reread_as_utf8(text)) else set()
    return held


def place_of(mark: str, text: str) -> int:
    """Where in a text the first of a kind of MARKS stands, -1 if nowhere."""
    match = _MARK_PATTERNS[mark].search(text)
    return match.start() if match else -1


_MARK_PATTERNS = {
    "tags": re.compile("|".join(p.pattern for p in (_CDATA, _COMMENT, _DECLARED, _TAG))),
    "entities": _ENTITY, "index codes": re.compile(f"{_INDEX.pattern}|{_DOT.pattern}"),
    "mojibake": re.compile(f"{_C1.pattern}|{_MISREAD_QUOTE.pattern}"), "unseen characters": _UNSEEN,
}
_PRINTABLE = frozenset(map(chr, range(0x20, 0x7F))) | frozenset("\t\n\r")

# --- characters -----------------------------------------------------------------------------


MOST_MARKS = 30
_COMBINING = frozenset(c for c in map(chr, range(0x300, 0x1E94B)) if unicodedata.combining(c))
_MARKS = re.compile("(?=[^\0-\u02ff])[{}]{{{},}}".format(  # most characters fail the short class
    "".join(sorted(_COMBINING)), MOST_MARKS + 1))


def _characters(text: str) -> str:
    """Mend and drop characters, fold white space and compose; the same object if all is well."""
    for blank in "\n\t\r\u2003":
        text = text.replace(blank, " ")
    # Every other blank, control and unseen character is unprintable to Python.
    if "â€" in text or not text.isprintable():
        text = " ".join(_seen(_reread_as_utf8(text)).split())
    text = (_BLANKS.sub(" ", text) if "  " in text else text).strip(" ")
    if text.isascii():
        return text
    # composing takes the square of a run's length, and no script stacks so many; a longer run
    # holds one of every 31st characters
    if not _COMBINING.isdisjoint(text[MOST_MARKS::MOST_MARKS + 1]):
        text = _MARKS.sub(lambda run: run[0][:MOST_MARKS], text)
    return unicodedata.normalize("NFC", text)


def _reread_as_utf8(text: str) -> str:
    """Mend what was UTF-8 and got read as Latin-1 or Windows-1252, and lone controls."""
    if _C1.search(text):
        mended = _MOJIBAKE.sub(_utf8, text)
        # A text with more controls left than mended was no UTF-8: "\x93Spaß\x94" has quotes.
        if 2 * len(_C1.findall(mended)) < len(_C1.findall(text)):
            text = mended
        text = text.translate(_WINDOWS_1252)
    return _MISREAD_QUOTE.sub(lambda match: _MISREAD_QUOTES[match[0]], text)


def _utf8(match: re.Match[str]) -> str:
    """Give the character whose UTF-8 bytes the match shows, or the match where it is none."""
    try:
        return match[0].encode("latin-1").decode("utf-8")
    except UnicodeError:
        return match[0]


def _seen(text: str) -> str:
    """Drop the characters that a reader does not see; name or blank private-use ones."""
    text = _SURROGATE_PAIR.sub(_joined, text)
    text = _replaced(text, {char: _shown(char) for char in set(text) if _shown(char) != char})
    return _JOINER.sub("", text) if "\u200c" in text or "\u200d" in text else text


def _replaced(text: str, signs: dict[str, str]) -> str:
    """Put for each of the signs what is given for it."""
    if len(signs) > 100:
        return text.translate({ord(sign): by for sign, by in signs.items()})
    # For the few signs of a real text one class each is ten times as fast as str.translate.
    for by in set(signs.values()):
        chars = "".join(sorted(sign for sign in signs if signs[sign] == by))
        text = re.sub(f"[{re.escape(chars)}]", by, text)
    return text


def _shown(char: str) -> str:
    """Give what a reader sees of a character: itself, unless it is unseen or private."""
    if char.isprintable():
        return char
    if _UNSEEN.match(char):
        return ""
    return PRIVATE_SIGNS.get(char, " ") if unicodedata.category(char) == "Co" else char


def _joined(match: re.Match[str]) -> str:
    """Give the character that a pair of surrogates stands for."""
    return match[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le")


# --- tags -----------------------------------------------------------------------------------


def _without_tags(text: str) -> str:
    """Drop what is markup: a space for a block tag, nothing for an inline one."""
    if "<!" in text:
        text = _sub_closed(_CDATA, r"\1", text, "]]>")
        text = _sub_closed(_COMMENT, "", text, "-->")
    text = _DECLARED.sub("", text)
    closed = set(_CLOSING.findall(text))

    def replaced(match: re.Match[str]) -> str:
        closing, name, attributes, empty = match.groups()
        if not (closing or attributes or empty or name in closed or _stands_alone(name)):
            return match[0]
        by = _tag_text(name)
        return match[0] if by is None else by

    return _TAG.sub(replaced, text)


def _sub_closed(pattern: re.Pattern[str], by: str, text: str, closing: str) -> str:
    """Replace spans up to the last closing mark: beyond it each opening one would scan on."""
    end = text.rfind(closing) + len(closing)
    return pattern.sub(by, text[:end]) + text[end:]


def _stands_alone(name: str) -> bool:
    """Tell whether a bare opening tag of this name is markup without a closing tag."""
    return name in LONE_TAGS or "-" in name


@lru_cache(maxsize=4096)
def _tag_text(name: str) -> str | None:
    """Give what stands in a tag's place, or None for a name that is no known tag."""
    if name in SGML_INLINE_TAGS:
        return ""
    if name in SGML_BLOCK_TAGS or FIELD.fullmatch(name):
        return " "
    prefix, colon, local = name.rpartition(":")
    if colon:
        if prefix in OFFICE_PREFIXES:
            return "" if local.lower() in INLINE_TAGS else " "
        return _tag_text(local) if prefix in MARKUP_PREFIXES else None
    plain = name.lower() if name.isupper() else name
    if plain in INLINE_TAGS:
        return ""
    return " " if plain in BLOCK_TAGS else None


# --- entities -------------------------------------------------------------------------------


def _decoded(text: str) -> str:
    """Decode the entities once, the doubly escaped ones as one; drop escaped sub and sup."""
    if "lt;/su" in text:
        text = _ESCAPED_INDEX.sub("", text)
    return _ENTITY.sub(lambda match: _entity(match[0]), text)


@lru_cache(maxsize=4096)
def _entity(written: str) -> str:
    """Give an entity's sign; one of unknown name stays, less its own double escape."""
    number, end, name = _ENTITY.fullmatch(written).groups()
    if name:
        return _named(name) or f"&{name};"
    code = int(number[1:], 16) if number[0] in "xX" else int(number)
    # Without a semicolon a small number is hardly a character: "&#10 screws".
    return written if code < 32 and not end else html.unescape(f"&#{code};")


def _named(name: str) -> str:
    """Give the sign of an entity's name, or "" for none; names in capitals may be misspelt."""
    if name in ENTITIES or not name.isupper() or len(name) < 3:
        return ENTITIES.get(name, "")
    # Author names in capitals take their entities along; two letters could be initials.
    return ENTITIES.get(name.capitalize(), ENTITIES.get(name.lower(), ""))


# --- dot codes ------------------------------------------------------------------------------


def _without_dot_codes(text: str) -> str:
    """Drop .sub. and .sup., and put signs for the named codes of US text."""
    if _INDEX.search(text):
        linked = "//" in text or "www" in text or "@" in text
        text = _INDEX.sub(_index if linked else "", text)
    text = _DOT.sub(_sign, text)
    if ".[." in text and ".]." in text:
        text = text.replace(".[.", "[").replace(".].", "]")
    return text


def _index(match: re.Match[str]) -> str:
    """Give nothing for an index code, and the match where it is part of an address."""
    word = _word_before(match)
    # An index such as V.sub.com looks like a domain: only a link or a mail address keeps it.
    mail = "@" in word and _DOMAIN.match(match.string, match.end())
    return match[0] if mail or _is_link(word) else ""


def _sign(match: re.Match[str]) -> str:
    """Give the sign of a named code, and the match where it is part of an address."""
    word = _word_before(match)
    inside = word[-1:].isalnum() and _DOMAIN.match(match.string, match.end())
    # java.lang.Math.abs is the one common name that reads like a code.
    named = inside or _is_link(word) or word.endswith("lang")
    return match[0] if named else DOT_CODES[match[1]]


def _word_before(match: re.Match[str]) -> str:
    """Give the end of the word that the match goes on, within 80 characters."""
    before = match.string[max(0, match.start() - 80) : match.start()]
    return before[before.rfind(" ") + 1 :]


def _is_link(word: str) -> bool:
    """Tell whether the word has begun as a web address that the next dot continues."""
    return word[-1:].isalnum() and ("//" in word or "www" in word)
