"""Modes: what a query is, on which collection, and what is measured; named by the query view.

A query set that `kit build` made says its mode itself, and runs it once it is frozen and registered.
"""

from dataclasses import dataclass

import pandas as pd

from kit.reporting import rules
from kit.text.views import VIEWS

CUSTOM, UNSTATED, UNREGISTERED = "custom view", "not stated", "unregistered query set"


@dataclass(frozen=True)
class Mode:
    """query_view: what a system sees of a query. sentence: what is asked. measures: the mode's
    own, the first of them its headline. lacks: what a collection needs that has not its field."""

    name: str
    query_view: str
    sentence: str
    measures: tuple[str, ...]
    lacks: str


_ONE = ("nDCG@10", "R@100", "RR")
MODES = {mode.name: mode for mode in (
    Mode("prior_art", "tacd", "the whole publication is the query", _ONE, "full texts of queries"),
    Mode("semantic_search", "ta", "title and abstract are the query", _ONE,
         "titles and abstracts of queries"),
    Mode("natural_language", "ai_claim_summary", "a plain paraphrase of claim 1 is the query", _ONE,
         "a query set of paraphrases, which no registry holds for it"),
    Mode("litigation", "text", "a challenged patent is the query, the references asserted against "
         "it are its golds", ("primary_nDCG@10", "Success@10", "RR", "GoldCoverage@100"),
         "a rows query set (qid, text, gold_apps), which no registry holds for it"),
)}


def mode_of(views: dict | None, collection=None) -> str:
    """The mode of a run by its views (as manifests and cards have them), on a collection.

    "custom view" for a query view that is no mode's, "not stated" for a run file. The rows of a built
    set are of the mode that it is registered for, "unregistered query set" before.
    """
    made = collection.query_set if collection else None
    if made and (not views or views["query"]["view"] == "text"):
        return (collection.registered_set or {}).get("mode", UNREGISTERED)
    if not views:
        return UNSTATED
    view = views["query"]["view"]
    return next((mode.name for mode in MODES.values() if mode.query_view == view), CUSTOM)


def mode_table(collection) -> pd.DataFrame:
    """Every mode that is specified: its query view, measures, and whether this collection can run
    it, or what it lacks. Columns: mode, query view, measures, status, lacks."""
    rows = []
    for mode in MODES.values():
        lacks = _lacks(collection, mode)
        rows.append({"mode": mode.name, "query view": mode.query_view,
                     "measures": ", ".join(mode.measures),
                     "status": "pending" if lacks else "can be run", "lacks": lacks})
    return pd.DataFrame(rows)


def _lacks(collection, mode: Mode) -> str:
    """What a collection lacks for a mode; empty when it can be run."""
    if collection.query_set:
        if collection.query_set["mode"] != mode.name:
            return mode.lacks
        return "" if collection.registered_set else "the set is not frozen and registered: python -m kit freeze"
    columns = collection.columns["queries"]
    fields = [f for f in VIEWS[mode.query_view] if f in columns]
    is_rows = "text" in columns
    if not fields or (is_rows and mode.query_view != "text"):
        return mode.lacks
    for batch in collection.batches("queries", fields):
        if any(value for field in fields for value in batch[field]):
            return ""
    return f"{mode.lacks}: the view {mode.query_view} is empty in every query"


def mode_deltas(cards: list) -> pd.DataFrame:
    """What a system gains or loses from one mode to another, by measure and slice.

    cards: Scorecards of one system, environment and generation, a mode each; the first is what
    the others are held against. Columns: system, measure, slice, mode, against, n, mean, mean
    against, delta, labels. Raises RuleError (rule 6) with all that differs.
    """
    rules.require_honest_delta([card.model_dump() for card in cards])
    first, *others = cards
    base = {(f.slice, f.measure): f for f in _figures(first)}
    rows = []
    for card in others:
        labels = ", ".join(dict.fromkeys([*first.labels, *card.labels]))
        for f in _figures(card):
            against = base.get((f.slice, f.measure))
            if f.mean is None or against is None or against.mean is None:
                continue
            rows.append({"system": card.system["name"], "measure": f.measure, "slice": f.slice,
                         "mode": card.mode, "against": first.mode, "n": f.n, "mean": f.mean,
                         "mean against": against.mean, "delta": f.mean - against.mean,
                         "labels": labels})
    return pd.DataFrame(rows, columns=["system", "measure", "slice", "mode", "against", "n", "mean",
                                       "mean against", "delta", "labels"])


def _figures(card) -> list:
    return [f for f in card.figures if f.protocol == card.protocol]
