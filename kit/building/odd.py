"""What is odd about an answer: each check with its sentence, and whether it keeps the answer out.

Nothing is mended and nothing is asked again for its content: an answer stands as it came, is left out
with its reason, or is listed for people to look at.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass

WORD = re.compile(r"\w+")
CHECKS = {  # name: (whether it keeps the answer out, what it means)
    "refused by the endpoint": (True, "the endpoint answered with an error status"),
    "withheld": (True, "the answer was too long, or held the key, and was not kept"),
    "unreadable": (True, "the answer is no JSON with a choice that has a message"),
    "several choices": (True, "there is more than one choice, and none was picked"),
    "truncated": (True, "it was cut at the limit of tokens"),
    "stopped": (True, "it ended for another reason than that it was done"),
    "empty": (True, "there is no word in it"),
    "refusal": (True, "the model declines to answer"),
    "boilerplate": (True, "it speaks about itself, as in 'Here is a paraphrase'"),
    "copy": (True, "too many of its word sequences stand in the claim"),
    "repeats itself": (True, "too many of its word sequences come again in it, as of a model in a loop"),
    "publication number": (True, "it holds a publication number, which would give the golds away"),
    "same as another": (True, "another claim got the same answer"),
    "number lost": (False, "a number of the claim, or its unit, is not in it"),
    "number added": (False, "it has a number that the claim does not have"),
    "short": (False, "it has few words beside the claim"),
    "long": (False, "it has many words beside the claim"),
}
_REFUSAL = re.compile(
    r"\A\W*(?:(?:i['’]?m|i am|we are)\s+(?:sorry|unable|not able|afraid)|(?:sorry|apologies)\b|i (?:can(?:['’]t|not)|won['’]t|"
    r"must decline|do not|don['’]t)\b|as an? (?:ai|artificial|language)|unfortunately,? i\b|"
    r"(?:this|the) (?:request|claim) (?:can(?:['’]t|not) be|violates))", re.IGNORECASE)
_BOILERPLATE = re.compile(
    r"\A\W*(?:sure|certainly|of course|absolutely|okay|ok)\b[^\w]|"
    r"\A\W*(?:here(?:['’]s| is| are)|below is|the following is)\b.{0,60}?\b(?:paraphrase|version|description|"
    r"summary|rewrite|explanation|words|language)|"
    r"\A\W*(?:paraphrase|plain[- ](?:language|words)|summary|answer|in plain (?:words|english|language))\b[^.\n]{0,40}:|"
    r"\b(?:let me know if|i hope this|feel free to|would you like me|is there anything else)\b|"
    r"\A\s*(?:#|\*\*|```)|\bthis (?:claim|patent)\b (?:describes|covers|is about|protects)|\bas an? ai\b",
    re.IGNORECASE)
_PUBLICATION = re.compile(
    r"\b(?:US|EP|WO|DE|FR|GB|JP|CN|KR|CA|AU)[\s-]?(?:RE|D|PP|H|T)?\s?\d[\d,./\s-]{4,}\d(?:\s?[A-Z]\d?)?\b|"
    r"\b(?:patents?|publications?|applications?)\s+(?:no|number|nos)\b\.?\s*\W?\s*\w{0,2}\s?\d[\d,/.]{3,}|"
    r"\bPCT/[A-Z]{2}\d{2,4}/\d{4,6}\b|\b\d{1,2},\d{3},\d{3}\b(?=\s?[AB]\d)", re.IGNORECASE)
_UNIT = (r"%|°\s?[CFK]?|‰|[kMGTmµμnpcd]?(?:m|g|l|s|Hz|W|V|A|Pa|N|J|K|mol|M|B|b|bar|eV|F|H|Ω|L|T)(?:[²³]|\^?[23])?(?![A-Za-z])|"
         r"(?:wt|mol|vol)\.?\s?%|min(?:utes?)?\b|h(?:ours?)?\b|days?\b|weeks?\b|inch(?:es)?\b|feet\b|ppm\b|rpm\b|kDa\b|bp\b|dB\b|"
         r"degrees?\b|percent\b|seconds?\b|meters?\b|met(?:re|er)s?\b|grams?\b|nanomet(?:er|re)s?\b|micromet(?:er|re)s?\b|"
         r"millimet(?:er|re)s?\b|centimet(?:er|re)s?\b|kilograms?\b|volts?\b|watts?\b|hertz\b")
_NUMBER = re.compile(rf"(?<![\w.,])([-−]?\d+(?:,\d{{3}})*(?:\.\d+)?)(?:\s?({_UNIT}))?(?![\w])", re.IGNORECASE)
_REFERENCE = re.compile(r"\((?:\d{1,4}[a-z]?(?:\s?[,;]\s?)?)+\)")  # (10), (12a, 14): signs of a drawing
_SPOKEN = {"%": "percent", "°c": "degrees", "°": "degrees", "µm": "micrometers", "μm": "micrometers",
           "nm": "nanometers", "mm": "millimeters", "cm": "centimeters", "kg": "kilograms", "g": "grams",
           "m": "meters", "s": "seconds", "v": "volts", "w": "watts", "hz": "hertz", "min": "minutes",
           "h": "hours"}
_NAMES = dict(enumerate("zero one two three four five six seven eight nine ten eleven twelve".split()))


@dataclass(frozen=True)
class Limits:
    """n: words a sequence. copy: share of an answer's sequences that may stand in the claim, at most.
    again: share of them that may have come before in the answer, at most.
    shortest, longest: words of the answer by words of the claim."""

    n: int = 5
    copy: float = 0.5
    again: float = 0.3
    shortest: float = 0.2
    longest: float = 1.5

    def as_dict(self) -> dict:
        return asdict(self)


@dataclass(frozen=True)
class Odd:
    """One thing that is odd about one answer."""

    check: str
    detail: str = ""

    @property
    def keeps_out(self) -> bool:
        return CHECKS[self.check][0]


def read_answer(status: int, body: str | None) -> tuple[str, list[Odd]]:
    """The text of an answer as it came, and what is odd about its form.

    status, body: of HTTP. Without a text that can be used the text is empty and one of what is found
    keeps the answer out.
    """
    if body is None:
        return "", [Odd("withheld")]
    if not 200 <= status < 300:
        return "", [Odd("refused by the endpoint", f"status {status}")]
    try:
        choices = json.loads(body)["choices"]
        texts = [(choice["message"], choice.get("finish_reason")) for choice in choices]
        (message, ended), *more = texts
        said, declined = message.get("content"), message.get("refusal")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return "", [Odd("unreadable")]
    if not isinstance(said, str | None):
        return "", [Odd("unreadable", f"its content is {type(said).__name__}")]
    if any("\ud800" <= c <= "\udfff" for c in f"{said}{declined}{ended}"):
        return "", [Odd("unreadable", "half a character is in it, or bytes that are no UTF-8")]
    found = [Odd("several choices", str(len(texts)))] if more else []
    if ended == "length":
        found.append(Odd("truncated"))
    elif ended not in ("stop", None):
        found.append(Odd("stopped", str(ended)[:80]))
    if declined:
        found.append(Odd("refusal", str(declined)[:80]))
    return (said or "").strip(), found


def oddities(claim: str, text: str, limits: Limits, numbers: Iterable[str] = ()) -> list[Odd]:
    """What is odd about the words of an answer beside the claim.

    numbers: publication numbers that it may not hold in any spelling.
    """
    words, given = WORD.findall(text), WORD.findall(claim)
    if not any(c.isalpha() for c in text):
        return [Odd("empty")]
    found = []
    if _REFUSAL.search(text):
        found.append(Odd("refusal", text[:80]))
    if match := _BOILERPLATE.search(text):
        found.append(Odd("boilerplate", match[0][:80]))
    share = overlap(claim, text, limits.n)
    if share > limits.copy:
        found.append(Odd("copy", f"{share:.2f} of its sequences of {limits.n} words"))
    share = repeated(text, limits.n)
    if share > limits.again:
        found.append(Odd("repeats itself", f"{share:.2f} of its sequences of {limits.n} words came before"))
    if leak := leaked(text, claim, numbers):
        found.append(Odd("publication number", leak[:80]))
    lost, added = compare_numbers(claim, text)
    found += [Odd("number lost", ", ".join(lost)[:120])] if lost else []
    found += [Odd("number added", ", ".join(added)[:120])] if added else []
    ratio = len(words) / max(1, len(given))
    if ratio < limits.shortest:
        found.append(Odd("short", f"{len(words)} words of {len(given)}"))
    if ratio > limits.longest:
        found.append(Odd("long", f"{len(words)} words of {len(given)}"))
    return found


def overlap(source: str, text: str, n: int = 5) -> float:
    """The share of the text's sequences of n words, in small letters, that stand in the source; of a
    text of fewer words, whether all of it does."""
    n = min(n, len(WORD.findall(text)))
    if not n:
        return 0.0
    there, mine = set(_sequences(source, n)), _sequences(text, n)
    return sum(s in there for s in mine) / len(mine)


def repeated(text: str, n: int = 5) -> float:
    """The share of the text's sequences of n words, in small letters, that came before in it."""
    said = _sequences(text, n)
    return 1 - len(set(said)) / len(said) if said else 0.0


def _sequences(text: str, n: int) -> list[tuple[str, ...]]:
    words = [w.lower() for w in WORD.findall(text)]
    return [tuple(words[i:i + n]) for i in range(len(words) - n + 1)]


def leaked(text: str, claim: str, numbers: Iterable[str] = ()) -> str:
    """The first publication number in the text that is not in the claim; empty without one.

    numbers: the row's own, of which the digits alone count, whatever stands between them.
    """
    digits = re.sub(r"(?<=\d)[\s,./-]+(?=\d)", "", text)
    for number in numbers:
        own = "".join(re.findall(r"\d", re.sub(r"[A-Z]\d?\Z", "", number or "")))
        if len(own) >= 6 and re.search(rf"(?<!\d)0*{own.lstrip('0')}(?!\d)", digits):
            return number
    return next((m[0] for m in _PUBLICATION.finditer(text) if m[0] not in claim), "")


def compare_numbers(claim: str, text: str) -> tuple[list[str], list[str]]:
    """(what of the claim's numbers and units the text lacks, numbers that it has and the claim lacks).

    Reference signs in brackets are no numbers of the claim, nor are those of steps. Small ones may be
    told in words, and units in full.
    """
    mine, theirs = _numbers(_REFERENCE.sub(" ", claim)), _numbers(_REFERENCE.sub(" ", text))
    spoken = text.lower()
    lost = []
    for value, unit in mine:
        units = [u for v, u in theirs if v == value]
        told = _NAMES.get(int(value)) if value.isdigit() and int(value) in _NAMES else None
        if not units and not (told and re.search(rf"\b{told}\b", spoken)):
            lost.append(f"{value} {unit}".strip())
        elif unit and units and unit not in units and _SPOKEN.get(unit, unit).rstrip("s") not in spoken:
            lost.append(f"the unit of {value} {unit}")
    known = {v for v, _ in _numbers(claim)} | {
        str(n) for n, name in _NAMES.items() if re.search(rf"\b{name}\b", claim, re.IGNORECASE)}
    return list(dict.fromkeys(lost)), list(dict.fromkeys(v for v, _ in theirs if v not in known))


def _numbers(text: str) -> list[tuple[str, str]]:
    """(value without its thousands' commas, unit in small letters) of each number."""
    return [(m[1].replace(",", "").replace("\N{MINUS SIGN}", "-"), re.sub(r"\s", "", m[2] or "").lower())
            for m in _NUMBER.finditer(text)]
