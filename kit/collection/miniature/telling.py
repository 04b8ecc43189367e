"""An invention told as a patent: title, abstract, claims, description and the views made of them.

The words come from `devices.yaml` (what such a device is), `inventions/*.yaml` (one mechanism a
file, told in four fields) and `gists.yaml` (each mechanism's idea in plain words). A telling picks
sentences and wordings by its key; tellings of one variant share more wordings than those of two.
"""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from kit.collection.miniature.draw import draw, expand, pick, some

HERE = Path(__file__).parent
# an article before an alternation fits only one of its wordings
_A, _AN = re.compile(r"\ba (?=[aeio])(?!one|eu)"), re.compile(r"\ban (?=[b-df-gj-np-tv-z])")


@dataclass(frozen=True)
class Cell:
    """One mechanism in one device's field. section: the IPC section, A to H."""

    mechanism: str
    device: dict
    words: dict

    @property
    def section(self) -> str:
        return self.words["device"][0]

    @property
    def key(self) -> str:
        return f"{self.mechanism}/{self.words['device']}"


@cache
def cells() -> list[Cell]:
    """All cells, by mechanism, then by device."""
    devices, gists = _read(HERE / "devices.yaml"), _read(HERE / "gists.yaml")
    found = []
    for file in sorted((HERE / "inventions").glob("*.yaml")):
        for words in sorted(_read(file)["cells"], key=lambda c: c["device"]):
            words["gist"] = gists[file.stem][words["device"]]
            found.append(Cell(file.stem, devices[words["device"]], words))
    return found


def _read(path: Path):
    return yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)


@dataclass(frozen=True)
class Teller:
    """Picks the wordings of one patent. length: 0 (short) to 2 (long)."""

    cell: Cell
    variant: int
    name: str
    length: int

    def say(self, text: str) -> str:
        """One wording; three in five follow the variant, the others this patent alone."""
        own = draw(5, self.name, text) >= 3
        worded = expand(text, self.cell.key, self.name if own else self.variant, text)
        return _AN.sub("a ", _A.sub("an ", worded))

    def said(self, part: str, k: int) -> list[str]:
        """k of a part's sentences, worded."""
        source = self.cell.words.get(part) or self.cell.device[part]
        follow = self.name if draw(2, self.name, part) else self.variant
        return [self.say(s) for s in some(source, k, self.cell.key, follow, part)]

    @property
    def device(self) -> str:
        return self.cell.device["name"]


def tell(cell: Cell, variant: int, name: str) -> dict:
    """The text fields of the patent `name`: those of Sophia's two tables, all views included."""
    teller = Teller(cell, variant, name, draw(3, name, "length"))
    title, parts = teller.said("titles", 1)[0], [_part(p, teller) for p in _parts(teller)]
    aim, effects, steps = teller.said("aim", 2), teller.said("effects", 2), teller.said("steps", 3)
    options, gist = teller.said("options", 6 + teller.length), teller.said("gist", 4)
    claims = _claims(teller, parts, options)
    return {
        "title": title,
        "abstract": " ".join([gist[0], aim[0], *gist[1:], effects[0]]),
        "claims": "\n".join(claims),
        "description": "\n".join(_description(teller, title, parts, options)),
        "adb": effects, "iclm": [claims[0], claims[-1]], "obj": aim,
        "ai_title": title.upper() if draw(9, name, "ai") == 0 else f"{title} ({teller.device})",
        "ai_claim_summary": f"{_upper(_a(teller.device))} has " + ", ".join(
            _a(p[0]) for p in parts[:4]) + f". {steps[0]}",
        "ai_obj": f"What the {teller.device} is meant for: {aim[-1]}",
        "ai_adv": f"What it is better at: {effects[-1]}",
        "ai_ab": " ".join([aim[-1], steps[-1], effects[-1]]),
        "ai_features": [p[0] for p in parts[:5]],
    }


def _parts(teller: Teller) -> list[str]:
    return some(teller.cell.words["parts"], 5 + teller.length, teller.name, "parts")


def _part(text: str, teller: Teller) -> tuple[str, str]:
    name, does = teller.say(text).split(":", 1)
    return name.strip(), does.strip()


def _a(noun: str) -> str:
    if _is_plural(noun):
        return noun
    return f"{'an' if noun[0] in 'aeiouAEIOU' else 'a'} {noun}"


def _upper(text: str) -> str:
    return text[0].upper() + text[1:]


def _is_plural(noun: str) -> bool:
    return noun.endswith("s") and not noun.endswith(("ss", "us", "is", "as"))


def _claims(teller: Teller, parts: list, options: list[str]) -> list[str]:
    main = f"1. {_upper(_a(teller.device))} comprising " + "; ".join(
        f"{_a(name)} that {does}" for name, does in parts) + f"; wherein {options[0]}."
    claims = [main]
    for number, option in enumerate(options[1:], 2):
        back = 1 + draw(number - 1, teller.name, "back", number)
        claims.append(f"{number}. {_upper(_a(teller.device))} according to claim {back}, "
                      f"wherein {option}.")
    last = len(claims) + 1
    step = teller.said("steps", 1)[0]
    claims.append(f"{last}. A method of operating {_a(teller.device)} according to any one of "
                  f"claims 1 to {last - 1}, in which {step[0].lower()}{step[1:]}")
    return claims


def _description(teller: Teller, title: str, parts: list, options: list[str]) -> list[str]:
    more = teller.length
    number = 10 + 2 * draw(5, teller.name, "first numeral")
    named = [f"{pick((f'The {n}', _upper(_a(n))), teller.name, n)} {number + 2 * i} {does}."
             for i, (n, does) in enumerate(parts)]
    embodiments = [f"{pick(_EMBODIMENT, teller.name, o)}, {o}." for o in options]
    paragraphs = [
        teller.said("field", 1),
        teller.said("general", 2 + 3 * more),
        teller.said("problem", 3 + more),
        teller.said("aim", 2),
        teller.said("effects", 2 + more),
        [f"Figure 1 shows {_a(teller.device)}: {title}.",
         "Figure 2 shows a detail in section."][:1 + draw(2, teller.name, "figures")],
        named,
        teller.said("steps", 5 + 2 * more),
        embodiments,
        teller.said("examples", 2 + more),
        teller.said("uses", 1 + more),
    ]
    return [" ".join(p) for p in paragraphs]


_EMBODIMENT = ("In one embodiment", "Preferably", "In a further development", "Suitably",
               "In another arrangement", "Advantageously")
