"""What the site's pages show of scorecards: figures as rows and marks, whether a card may be quoted,
and which cards may stand side by side."""

import math
import re
from dataclasses import dataclass
from pathlib import Path

from kit.evaluation.evaluate import FAR_SCOPE
from kit.relevance.slices import FAMILIES
from kit.reporting import rules
from kit.reporting.card_comparison import standing
from kit.reporting.costs import seconds_a_query
from kit.reporting.scorecard import Figure, Scorecard, figures_of, remarks, said_of

HEADLINES = ["nDCG@10", "R@100", "RR", "Success@10"]
GROUPS = {"scope": "Pairs by three-character class", "domain": "Queries by section",
          "statute": "Queries by statute", "grade": "Pairs by grade", "direction": "Pairs by direction"}
_GROUP_OF = {name: GROUPS[family] for family, names in FAMILIES.items() for name in names}
OUT = FAR_SCOPE


@dataclass(frozen=True)
class Listed:
    """A scorecard of the outputs folder. stem: its file's name without the ending; experiments: the
    names of those that list it."""

    stem: str
    card: Scorecard
    experiments: tuple[str, ...]

    @property
    def name(self) -> str:
        """The system's name."""
        return self.card.system["name"]

    @property
    def written(self) -> str:
        """When the card was written, as people write it."""
        return moment(self.card.created)


def moment(created: str) -> str:
    """"20261130T190337Z" as "2026-11-30 19:03 UTC"; other texts as they are."""
    found = re.fullmatch(r"(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)\d\dZ", created)
    return "{}-{}-{} {}:{} UTC".format(*found.groups()) if found else created


def headlines(measures: list[str], most: int = 4) -> list[str]:
    """The measures for a short table: the first that is asked for, the usual ones, then the others."""
    usual = [name for name in HEADLINES if name in measures]
    return list(dict.fromkeys([*measures[:1], *usual, *measures]))[:most]


# --- one card -------------------------------------------------------------------------------------

def cell(figure) -> dict | None:
    """A figure as a page shows it: mean and interval as text; None where there is none."""
    if figure is None or figure.mean is None:
        return None
    interval = "" if figure.low is None else f"{figure.low:.3f}–{figure.high:.3f}"
    return {"mean": f"{figure.mean:.3f}", "interval": interval}


def mark(label: str, n: int, figure, kind: str = "all") -> dict | None:
    """A figure between 0 and 1 as a line of a chart: places in percent. kind: its colour's name."""
    shown = cell(figure)
    if shown is None:
        return None
    low, high = (figure.mean if v is None else v for v in (figure.low, figure.high))
    place, left, right = (min(max(v, 0), 1) * 100 for v in (figure.mean, low, high))
    return {"label": label, "n": n, "kind": kind, "text": shown["mean"], "interval": shown["interval"],
            "at": f"{place:.1f}", "left": f"{left:.1f}", "width": f"{max(right - left, 0.4):.1f}"}


def protocol_values(card: Scorecard, protocol: str) -> dict:
    """One protocol of a card: slices (rows, in groups, those with a query) by measure (columns), what
    must be said of slices, and a chart of the first measure. Empty `groups` where no slice has one."""
    mine = {(f.slice, f.measure): f for f in card.figures if f.protocol == protocol}
    sizes = _sizes(mine)
    measures = [name for name, _ in said_of(card)]
    groups: dict[str, list[dict]] = {}
    for name, n in sizes.items():
        if n or name == OUT:  # no table of all queries stands without it
            groups.setdefault(_GROUP_OF.get(name, "All queries"), []).append({
                "slice": name, "n": n, "cells": [cell(mine.get((name, m))) for m in measures],
                "smallest": [_number(mine.get((name, m))) for m in measures]})
    first = next((m for m in measures if any(cell(mine.get((s, m))) for s in sizes)), None)
    marks = [mark(s, n, mine.get((s, first)), "out" if s.startswith(OUT) else "all")
             for s, n in sizes.items() if n and first]
    if not any(sizes.values()):
        groups = {}
    return {"protocol": protocol, "measures": measures, "groups": groups,
            "remarks": _remarks(card, protocol),
            "marks": [m for m in marks if m], "finding": _of_slices([m for m in marks if m], first),
            "smallest": any(set(row["smallest"]) - {"—"} for rows in groups.values() for row in rows)}


def _sizes(figures: dict[tuple, Figure]) -> dict[str, int]:
    """How many queries each slice has; a measure may leave some out."""
    sizes: dict[str, int] = {}
    for (name, _), figure in figures.items():
        sizes[name] = max(figure.n, sizes.get(name, 0))
    return sizes


def _of_slices(marks: list[dict], measure: str | None) -> str:
    """A chart's title: the figures over all queries and over OUT."""
    words = {"all": "over all queries", OUT: f"over {OUT}"}
    said = [f"{m['text']} {words[m['label']]}" for m in marks if m["label"] in words]
    return f"{measure}: {', '.join(said)}"


def _number(figure) -> str:
    return "—" if figure is None or figure.smallest is None else f"{figure.smallest:.3f}"


def _remarks(card: Scorecard, protocol: str) -> list[tuple[str, str]]:
    """(slices, why): what must be said of slices, those of one reason together."""
    by_reason: dict[str, list[str]] = {}
    for name, why in remarks(figures_of(card), protocol, card.scopes):
        by_reason.setdefault(why, []).append(name)
    return [(", ".join(names), why) for why, names in by_reason.items()]


def protocols_of(card: Scorecard) -> list[str]:
    """The card's protocols, its own first."""
    return sorted(dict.fromkeys(f.protocol for f in card.figures), key=lambda p: p != card.protocol)


def details(card: Scorecard) -> list[tuple[str, str]]:
    """How a run was made, as rows of name and value."""
    views = {r: v["view"] for r, v in card.views.items()} if card.views else "the run file's own"
    rows = {
        "mode": card.mode, "version": card.system["version"], "settings": card.system.get("settings"),
        "environment": card.environment,
        "corpus": f"{card.corpus_size:,} documents, fingerprint {card.fingerprints['corpus']}",
        "queries": f"{card.queries:,}", "sample": card.sample, "depth": card.depth, "views": views,
        "generation": card.generation or "not pinned", "fingerprint": card.fingerprints.get("together"),
        **{k.replace("_", " "): v for k, v in card.counts.items()},
        "run file sha256": card.run_sha256, "ledger": card.ledger, "suite": card.suite_version,
        "commit": card.git.get("sha"), "written": moment(card.created), "machine": card.machine,
        "cost": card.cost, "declared cost a query": card.price,
        "seconds a query": seconds_a_query(card.cost, card.queries, card.sample), "data": licence(card)}
    return [(name, flat(private(value))) for name, value in rows.items()]


def licence(card: Scorecard) -> str:
    """Attribution and licence of the data, in a sentence without its point."""
    return f"{card.attribution}; {card.licence}" if card.attribution else (
        "licence not stated by the collection")


def flat(value) -> str:
    """A value of the record in words, on one line."""
    if isinstance(value, dict):
        return "; ".join(f"{k}: {flat(v)}" for k, v in value.items()) or "none"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(flat, value)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}" if math.isfinite(value) else str(value)
    return "none" if value is None or value == "" else str(value)


def private(value):
    """A parameter without the folders in front of a file's name: where it lies is its owner's
    business."""
    if isinstance(value, dict):
        return {name: private(v) for name, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [private(v) for v in value]
    is_place = isinstance(value, str) and re.match(r"[~/\\]|\.\.?[/\\]|[A-Za-z]:\\", value)
    return f"…/{Path(value.replace(chr(92), '/')).name}" if is_place else value


# --- cards side by side ---------------------------------------------------------------------------

def groups(listed: list[Listed]) -> list[list[Listed]]:
    """Cards that may stand side by side (rule 2): those under one set of conditions, baselines first.

    A run file states no query view; it stands with every group that it differs from in nothing else.
    """
    records = {one.stem: one.card.model_dump(exclude={"figures"}) for one in listed}
    stated = [one for one in listed if one.card.views]
    found: list[list[Listed]] = []
    for one in [*stated, *(other for other in listed if not other.card.views)]:
        fits = [g for g in found if not rules.differing([records[g[0].stem], records[one.stem]])]
        for group in fits if not one.card.views else fits[:1]:
            group.append(one)
        if not fits:
            found.append([one])
    return [sorted(group, key=_baselines_first) for group in found]


def _baselines_first(one: Listed) -> int:
    system = one.card.system
    return 0 if rules.is_bm25(system) else 1 if rules.is_public_embedding(system) else 2


def group_values(group: list[Listed]) -> dict:
    """One group of a comparison: its conditions, a row a card and scope, marks, and whether it may be
    shown outside."""
    first = group[0].card
    names = numbered([one.name for one in group])
    held = [dict.fromkeys(f.measure for f in one.card.figures) for one in group]
    measures = headlines([m for m in held[0] if all(m in other for other in held)])
    rows = [_row(one, name, measures) for one, name in zip(group, names)]
    marks = [m for row in rows for m in row["marks"]]
    said = standing([one.card.model_dump(exclude={"figures"}) for one in group], names)
    views = next((one.card.views for one in group if one.card.views), None)
    conditions = {
        "mode": next((one.card.mode for one in group if one.card.views), first.mode),
        "query view": views["query"]["view"] if views else "the run files' own",
        "queries": sample_of(first), "depth": first.depth, "protocol": first.protocol,
        "generation": first.generation or "not pinned", "suite": first.suite_version.split(".")[0]}
    return {"rows": rows, "measures": measures, "marks": marks, "standing": said,
            "conditions": [(name, flat(value)) for name, value in conditions.items()],
            "title": f"{conditions['mode'].replace('_', ' ')}, {sample_of(first)}, depth {first.depth}, "
                     f"protocol {first.protocol}",
            "finding": _finding(marks, measures[0] if measures else ""),
            "calibration": list(dict.fromkeys(one.card.calibration for one in group
                                              if one.card.calibration))}


def sample_of(card: Scorecard) -> str:
    """How many queries were searched."""
    return f"a sample of {card.sample.get('size')} queries" if card.sample else (
        f"all {card.queries:,} queries")


def numbered(names: list[str]) -> list[str]:
    """Names, with a number behind the second of two that are alike."""
    return [f"{name} #{names[:i].count(name) + 1}" if name in names[:i] else name
            for i, name in enumerate(names)]


def _row(one: Listed, name: str, measures: list[str]) -> dict:
    """A card of a comparison: a line over all queries and, where the collection has it, over OUT."""
    mine = {(f.slice, f.measure): f for f in one.card.figures if f.protocol == one.card.protocol}
    lines, marks = [], []
    for scope, kind in (("all", "all"), (OUT, "out")):
        n = _sizes(mine).get(scope, 0)
        if n or scope == "all":
            lines.append({"queries": scope, "n": n, "cells": [cell(mine.get((scope, m))) for m in measures]})
            marks.append(mark(f"{name}, {scope}", n, mine.get((scope, measures[0])), kind)
                         if measures else None)
    return {"name": name, "listed": one, "lines": lines, "marks": [m for m in marks if m]}


def _finding(marks: list[dict], measure: str) -> str:
    """A chart's title: who has the highest mean, over all queries and over OUT."""
    said = []
    for kind, words in (("all", "over all queries"), ("out", "over scope OUT")):
        mine = [m for m in marks if m["kind"] == kind]
        if mine:
            best = max(mine, key=lambda m: float(m["text"]))
            said.append(f"{best['label'].rpartition(', ')[0]} {best['text']} {words}")
    if not said:
        return ""
    return f"{measure}: {' and '.join(said)}" if len(marks) <= 2 else (
        f"Highest mean {measure}: {'; '.join(said)}")
