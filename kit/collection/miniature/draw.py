"""Choices that follow from a key alone: the same on every machine and in any order of asking."""

import hashlib
import re

SEED = "mini-1"
_ALTERNATION = re.compile(r"\{([^{}]+)\}")


def draw(n: int, *key) -> int:
    """A whole number from 0 to n - 1 that depends on the key only."""
    text = "\x1f".join((SEED, *map(str, key)))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") % n


def pick(items, *key):
    """One of the items."""
    return items[draw(len(items), *key)]


def some(items, k: int, *key) -> list:
    """k of the items (all, if there are fewer), in their own order."""
    order = sorted(range(len(items)), key=lambda i: (draw(1 << 40, *key, i), i))
    return [items[i] for i in sorted(order[:k])]


def expand(text: str, *key) -> str:
    """Each alternation `{a|b}` replaced by one of its parts."""
    place = iter(range(1_000))
    return _ALTERNATION.sub(lambda m: pick(m[1].split("|"), *key, next(place)), text)
