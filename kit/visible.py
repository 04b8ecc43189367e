"""Text from elsewhere as it may be shown: nothing in it acts on a terminal or turns letters round, and
no secret of this process' environment stands in it."""

import base64
import html
import json
import os
import re
from functools import lru_cache
from urllib.parse import quote

# C0 and C1 without tab and line feed, the signs that turn the direction of writing, line and
# paragraph separators, halves of characters, invisible tags
_ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff"
                     "\ud800-\udfff\U000e0000-\U000e007f]")


def visible(text: str) -> str:
    r"""The text with every character that acts written out, as \u001b.

    The form is that of JSON, so that JSON stays the same value. Tabs and line feeds stay.
    """
    return _ACTING.sub(lambda found: "".join(f"\\u{unit}" for unit in _units(found[0])), text)


def _within(text: str, encoding: str) -> str:
    """The text in letters of the encoding."""
    def fits(sign: str) -> bool:
        return sign.encode(encoding, "ignore") != b""
    return "".join(sign if fits(sign) else "".join(f"\\u{unit}" for unit in _units(sign)) for sign in text)


def _units(character: str) -> list[str]:
    """The UTF-16 units of a character, in hexadecimal."""
    return re.findall("....", character.encode("utf-16-be", "surrogatepass").hex())


# --- secrets --------------------------------------------------------------------------------------

HIDDEN = "[secret]"
SHORTEST = 8  # characters of a value that only its variable's name calls a secret
_NAMES_A_SECRET = re.compile(
    r"(^|_)(KEY|TOKEN|PASS|PASSPHRASE|CREDENTIAL|BEARER|AUTH)S?(_|$)|APIKEY|SECRET|PASSW|TOKENS?$",
    re.IGNORECASE)
_USER = re.compile(r"(\w:/{1,2})[^\s/@'\"]+@")  # a path has one of the strokes left
_PASSWORD = re.compile(r"://[^/@\s:]*:([^/@\s]+)@")
_ARGUMENT = re.compile(r"([?&][\w.-]*(?:key|token|secret|passw|pwd|credential|sig|auth)[\w.-]*=)[^&\s'\"#]+",
                       re.IGNORECASE)
_named: set[str] = set()  # values that a parameter has named as secrets


def keep_secret(value: str) -> None:
    """From now on `discreet` takes this value for a secret, whatever its variable is called."""
    if len(value) >= SHORTEST // 2:  # one of a few letters stands in any text
        _named.add(value)


def discreet(text: str) -> str:
    """The text with [secret] for what may not be written down: the values that `without_secrets` hides,
    user and password of an address, and those arguments of one whose names say that they are secrets.
    To be called before a text is cut short."""
    return _ARGUMENT.sub(rf"\1{HIDDEN}", _USER.sub(rf"\1{HIDDEN}@", without_secrets(text)))


def without_secrets(text: str) -> str:
    """The text with [secret] for each value of a variable of the environment whose name says that it is
    a secret, or that a parameter has named, and for the password of an address that a variable holds;
    plainly or encoded (base64, percent, JSON, HTML)."""
    given = [(bool(_NAMES_A_SECRET.search(name)), value) for name, value in os.environ.items()]
    secrets = _named | {value for named, value in given if named and len(value) >= SHORTEST} | {
        word for _, value in given for word in _PASSWORD.findall(value) if len(word) >= SHORTEST}
    for secret in sorted(secrets, key=len, reverse=True):
        for form in forms(secret):
            text = text.replace(form, HIDDEN)
    return text


@lru_cache(256)
def forms(secret: str) -> tuple[str, ...]:
    """How a secret may stand in a text, the longest first."""
    raw = secret.encode("utf-8", "surrogateescape")
    percent = "".join(f"%{byte:02X}" for byte in raw)
    found = {secret, percent, percent.lower(), quote(raw, safe=""), quote(raw), raw.hex(), raw.hex().upper(),
             json.dumps(secret)[1:-1], repr(secret)[1:-1], html.escape(secret)}
    for before in range(3):  # within a longer text, base64 begins anew every three bytes
        whole = (base64.b64encode(b"\0" * before + raw), base64.urlsafe_b64encode(b"\0" * before + raw))
        ends = len(whole[0].rstrip(b"=")) - bool((before + len(raw)) % 3)
        found |= {made.decode()[(0, 2, 3)[before]:ends] for made in whole}
    return tuple(sorted((form for form in found if len(form) >= SHORTEST // 2), key=len, reverse=True))


class Screen:
    """A text stream on which only visible text arrives; `raw` is the stream itself, for who moves
    the cursor."""

    def __init__(self, raw):
        self.raw = raw

    def write(self, text: str) -> int:
        """Writes the text, made visible, letters that the stream's encoding lacks written out in the
        same way; returns its length as it was."""
        shown = visible(text)
        try:
            self.raw.write(shown)
        except UnicodeEncodeError:
            self.raw.write(_within(shown, self.raw.encoding))
        return len(text)

    def __getattr__(self, name: str):
        return getattr(self.raw, name)
