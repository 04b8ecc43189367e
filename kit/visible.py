"""Text from elsewhere as it may be shown: nothing in it acts on a terminal or turns letters round."""

import re

# C0 and C1 without tab and line feed, the signs that turn the direction of writing, line and
# paragraph separators, halves of characters, invisible tags
_ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff"
                     "\ud800-\udfff\U000e0000-\U000e007f]")


def visible(text: str) -> str:
    r"""The text with every character that acts written out, as \u001b.

    The form is that of JSON, so that JSON stays the same value. Tabs and line feeds stay.
    """
    return _ACTING.sub(lambda found: "".join(f"\\u{unit}" for unit in _units(found[0])), text)


def _units(character: str) -> list[str]:
    """The UTF-16 units of a character, in hexadecimal."""
    return re.findall("....", character.encode("utf-16-be", "surrogatepass").hex())


class Screen:
    """A text stream on which only visible text arrives; `raw` is the stream itself, for who moves
    the cursor."""

    def __init__(self, raw):
        self.raw = raw

    def write(self, text: str) -> int:
        """Writes the text, made visible; returns its length as it was."""
        self.raw.write(visible(text))
        return len(text)

    def __getattr__(self, name: str):
        return getattr(self.raw, name)
