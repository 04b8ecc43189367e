"""Ours beside what others published, and whether the environment's BM25 meets its value.

A published value is a target with a tolerance, over all queries, from the registry. The one of BM25
over documents tells whether data and harness are those of the others: unless it is met, no figure of
the environment is to be held against a published one.
"""

import pandas as pd

from kit.collection.registry import Entry
from kit.reporting import rules, show
from kit.reporting.scorecard import Scorecard, folder, read_scorecard
from kit.reporting.verify import require_unchanged

COLUMNS = ["system", "measure", "scope", "published", "tolerance", "ours", "difference", "verdict",
           "source"]
FORMATS = {"published": "{:.3f}", "ours": "{:.3f}", "difference": "{:+.3f}", "tolerance": "{:.3f}"}
WITHIN, MISSES = "within the tolerance", "MISSES its published value"
SLICE_OF = {"ALL": "all", "IN": "scope IN", "OUT": "scope OUT"}  # under the protocol all
DECIDES = ("nDCG@100", "ALL")  # the measure and scope by which BM25 is calibrated


def calibration_table(cards: dict[str, Scorecard], entry: Entry | None) -> pd.DataFrame:
    """Published values beside ours: a row a scope of each measure that the registry has for a
    card's system and view, also where nothing is published for the scope. Columns as COLUMNS.

    A published value holds for all queries, so that a sample has none.
    """
    rows = []
    for name, card in cards.items():
        for target in entry.calibration if entry and card.sample is None else ():
            if _is_of(target, card):
                rows += [_beside(name, card, target, measure, scope, values.get(scope))
                         for measure, values in target["values"].items() for scope in SLICE_OF]
    return pd.DataFrame(rows, columns=COLUMNS)


def _is_of(target: dict, card: Scorecard) -> bool:
    """Whether published values are those of the card's system, settings and views."""
    have = {**card.system.get("given", {}), **card.system.get("settings", {})}
    views = {role: v["view"] for role, v in (card.views or {}).items()}
    return (target["system"].lower() == card.system["name"].lower() and target["views"] == views
            and all(have.get(k) == v for k, v in target.get("settings", {}).items()))


def _beside(name: str, card: Scorecard, target: dict, measure: str, scope: str,
            published: float | None) -> dict:
    ours = _figure(card, measure, scope)
    off = None if ours is None or published is None else ours - published
    verdict = ("nothing is published" if published is None else
               "pending: the card has no such figure" if off is None else
               WITHIN if abs(off) <= target["tolerance"] else MISSES)
    return {"system": name, "measure": measure, "scope": scope, "published": published,
            "tolerance": target["tolerance"], "ours": ours, "difference": off, "verdict": verdict,
            "source": target["source"]}


def _figure(card: Scorecard, measure: str, scope: str) -> float | None:
    return next((f.mean for f in card.figures
                 if (f.protocol, f.slice, f.measure) == ("all", SLICE_OF[scope], measure)), None)


# --- the environment ------------------------------------------------------------------------------

def standing(cards: list[Scorecard], entry: Entry | None, outputs: str) -> str | None:
    """Whether the environment is calibrated, in a sentence; None where no value of BM25 over
    documents is published for it.

    cards: those of one collection, whether written or not. Where none is the run that the value is
    of, the last such card in the outputs folder counts, of the same tables: they need not be pinned,
    for what is met is the value and not the data's name. Raises RuleError (rule 5) where that card
    is not as the ledger lists it.
    """
    target = next((t for t in entry.calibration if _is_bm25s(t)), None) if entry else None
    if target is None:
        return None
    found = next((c for c in cards if _decides(target, c)), None) or _earlier(target, cards[0], outputs)
    measure, scope = DECIDES
    published = target["values"][measure][scope]
    aim = f"{published:.3f} ± {target['tolerance']:.3f}"
    asked = (f"over all queries, of the view {target['views']['query']}, and documents of the view "
             f"{target['views']['corpus']}")
    if found is None:
        return f"not calibrated: no BM25 run {asked}, for which {measure} {aim} is published"
    ours = _figure(found, measure, scope)
    said = f"BM25 {asked} has {measure} {ours:.3f}, and {aim} is published"
    if abs(ours - published) <= target["tolerance"]:
        return f"calibrated: {said}"
    return (f"NOT CALIBRATED: {said}; until that is explained no figure of this environment is to be "
            "held against a published one")


def _is_bm25s(target: dict) -> bool:
    """Whether it is the target by which an environment is calibrated."""
    measure, scope = DECIDES
    return target["system"] == "bm25" and scope in target["values"].get(measure, {})


def _decides(target: dict, card: Scorecard) -> bool:
    """Whether a card is the run by which the environment is calibrated."""
    return (card.sample is None and card.status == "complete" and rules.is_bm25(card.system)
            and _is_of(target, card) and _figure(card, *DECIDES) is not None)


def _earlier(target: dict, like: Scorecard, outputs: str) -> Scorecard | None:
    """The last such card that was written of the same tables."""
    for path in sorted(folder(outputs).glob("*.json"), reverse=True):
        card = read_scorecard(path)
        if card.fingerprints == like.fingerprints and _decides(target, card):
            return require_unchanged(path, outputs)
    return None


def show_calibration(cards: list[Scorecard], entry: Entry | None) -> None:
    """Shows whether the cards' environment is calibrated, and each published value beside ours."""
    for said in dict.fromkeys(card.calibration for card in cards if card.calibration):
        show.say(f"{said[0].upper()}{said[1:]}.")
    table = calibration_table({card.system["name"]: card for card in cards}, entry)
    show.display(show.table(table, FORMATS))
