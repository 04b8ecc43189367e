"""What a word of a command line may be: each reads one, or raises ArgumentTypeError."""

import argparse
import re
from pathlib import Path


def said(text: str) -> str:
    """A text that says something: an empty one comes of a variable that is not set."""
    if not text.strip():
        raise argparse.ArgumentTypeError("it is empty")
    return text


def path(text: str) -> Path:
    """A file or folder, whether it is there or not."""
    return Path(said(text))


def whole(text: str) -> int:
    """A whole number, in the digits 0 to 9."""
    return int(_in_digits(text, r"[-+]?[0-9]{1,100}", "whole number"))


def number(text: str) -> float:
    """A number, in the digits 0 to 9, with a point and an exponent if need be."""
    return float(_in_digits(text, r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?", "number"))


def _in_digits(text: str, form: str, kind: str) -> str:
    """A number as parameters are read too: Python takes 1_0 and figures of other scripts besides."""
    if not re.fullmatch(form, text):
        raise argparse.ArgumentTypeError(f"it is no {kind}: {text[:80]!r}")
    return text
