"""Numbers of US patents, publications and applications in one form each, so that they can be joined.

A patent is its digits, without commas, kind code and leading zeros, behind its prefix: RE (reissue),
D (design), PP (plant), H (statutory invention), T (defensive publication). A publication is the year
in 4 digits and the serial in 7. An application is 8 digits: the series in 2, the serial in 6.
"""

import re

FIRST_OF_1976 = 3_930_271  # the first utility patent of 1976, where machine-readable tables begin
PROVISIONAL = ("60", "61", "62", "63")  # series; 64 follows when 63 is full
REEXAMINATION = ("90", "95", "96")  # ex parte, inter partes, supplemental examination
_PATENT = re.compile(r"(?:US)?(RE|PP|D|H|T)?0*([1-9][0-9]{0,7})(?:[ABCEHPS][0-9]?)?")
_PUBLICATION = re.compile(r"(?:US)?(20[0-9]{2})([0-9]{6,7})(?:[AP][0-9])?")
_APPLICATION = re.compile(r"(?:US)?([0-9]{7,8})")
_APART = re.compile(r"[\s,./\\-]+")


def _together(text: str) -> str:
    return _APART.sub("", text.translate(_DASHES)).upper()


_DASHES = str.maketrans({sign: "-" for sign in "‐‑‒–—―−"})


def patent(text: str) -> str | None:
    """`US 7,123,456 B2` -> `7123456`, `RE41,450 E` -> `RE41450`; None for what is no patent number."""
    found = _PATENT.fullmatch(_together(text))
    return (found[1] or "") + found[2] if found else None


def publication(text: str) -> str | None:
    """`US 2008/0216889 A1` -> `20080216889`; `US-2002194520-A1`, which lacks a zero, -> `20020194520`."""
    found = _PUBLICATION.fullmatch(_together(text))
    return found[1] + found[2].zfill(7) if found and int(found[1]) >= 2001 else None


def application(text: str) -> str | None:
    """`9/026,118`, `09026118` or `9026118` -> `09026118`; None for anything but 7 or 8 digits."""
    found = _APPLICATION.fullmatch(_together(text))
    return found[1].zfill(8) if found else None


def is_provisional(number: str) -> bool:
    """Whether an application of 8 digits is provisional."""
    return number[:2] in PROVISIONAL


def is_reexamination(number: str) -> bool:
    """Whether 8 digits are the control number of a reexamination, which is no application."""
    return number[:2] in REEXAMINATION


def is_before_1976(number: str) -> bool:
    """Whether a patent in the form above was granted before 1976. Only of utility patents and,
    by the first numbers of that year, of RE (28,671), D (238,315) and PP (3,839)."""
    prefix, digits = re.fullmatch(r"([A-Z]*)(\d+)", number).groups()
    first = {"": FIRST_OF_1976, "RE": 28_671, "D": 238_315, "PP": 3_839}.get(prefix, 0)
    return int(digits) < first
