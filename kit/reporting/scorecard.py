"""The scorecard: one record a run, written once as JSON, with markdown rendered from it."""

import json
import os
import platform
import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import BaseModel, ConfigDict, ValidationError

from kit import SUITE_VERSION
from kit.errors import ScorecardError
from kit.evaluation.measures import sentence
from kit.files import ROOT, dump_json, outputs_folder, safe_name, write_text

SCHEMA_VERSION = 1
LABELS = {  # each makes a card not quotable
    "SAMPLE": "only a sample of the queries was searched",
    "INCOMPLETE": "the system failed on at least one query",
    "UNPINNED": "the collection's fingerprints are in no registry, so nobody can get the same data",
    "DIRTY": "files of the kit were changed since the commit that it names",
    "MADE-UP": "the collection is made up: its figures are about no system",
}


class Figure(BaseModel):
    """One measure in one slice. mean, low, high are null where `reason` says why; smallest: see
    `uncertainty.smallest_difference`."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    protocol: str
    slice: str
    measure: str
    n: int
    mean: float | None
    low: float | None
    high: float | None
    reason: str | None = None
    smallest: float | None = None


class Scorecard(BaseModel):
    """Everything a reader needs to trust, repeat or contest the figures of one run."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    schema_version: int = SCHEMA_VERSION
    suite_version: str
    created: str
    system: dict[str, Any]
    environment: str
    corpus_size: int
    queries: int
    generation: str | None
    fingerprints: dict[str, str]
    views: dict[str, Any] | None
    protocol: str
    depth: int
    sample: dict[str, int] | None
    figures: list[Figure]
    sentences: dict[str, str]
    counts: dict[str, Any]
    cost: dict[str, float | None]
    machine: dict[str, Any]
    git: dict[str, Any]
    run_sha256: str
    licence: str | None
    attribution: str | None
    note: str
    labels: list[str]
    quotable: bool


def make_scorecard(collection, run, figures: pd.DataFrame, protocol: str) -> Scorecard:
    """The scorecard of a saved run. figures: as `evaluate.all_figures` gives them."""
    manifest, git = run.manifest, git_state()
    counts = {name: manifest[name] for name in (
        "own_entries_excluded", "ties_at_the_cut", "empty_rankings")}
    labels = _labels(collection, manifest, git)
    return Scorecard(
        suite_version=SUITE_VERSION, created=datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ"),
        system=manifest["system"], environment=manifest["environment"],
        corpus_size=manifest["corpus_size"], queries=manifest["queries"],
        generation=manifest["generation"], fingerprints=manifest["fingerprints"],
        views=manifest["views"], protocol=protocol, depth=manifest["depth"],
        sample=manifest["sample"], figures=[_figure(row) for row in figures.to_dict("records")],
        sentences={name: sentence(name) for name in figures["measure"].unique()},
        counts=counts | manifest["notes"] | {"failed_queries": len(manifest["failures"])},
        cost=manifest["cost"], machine=_machine(), git=git, run_sha256=manifest["run_sha256"],
        licence=collection.entry.licence if collection.entry else None,
        attribution=collection.entry.attribution if collection.entry else None,
        note=collection.note, labels=labels, quotable=not labels)


def _figure(row: dict) -> Figure:
    return Figure(**{name: None if pd.isna(value) else value for name, value in row.items()})


def _labels(collection, manifest: dict, git: dict) -> list[str]:
    """Why the figures are not to be quoted; empty when they may be."""
    holds = {
        "SAMPLE": manifest["sample"] is not None,
        "INCOMPLETE": manifest["status"] != "complete",
        "UNPINNED": manifest["generation"] is None,
        "DIRTY": git["dirty"] is not False,
        "MADE-UP": bool(collection.note),
    }
    return [label for label in LABELS if holds[label]]


def _machine() -> dict[str, Any]:
    return {"system": platform.system(), "architecture": platform.machine(),
            "cores": os.cpu_count(), "python": platform.python_version()}


def git_state() -> dict[str, Any]:
    """The commit, and whether its files or the package differ from it; null outside a checkout.

    Files of the user's own beside them, such as run files, change no figure and do not count.
    """
    def git(*words: str) -> str:
        return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True,
                              check=True).stdout.strip()
    try:
        changed = git("status", "--porcelain", "--untracked-files=no")
        added = git("status", "--porcelain", "--", "kit")  # a new module can change figures too
        return {"sha": git("rev-parse", "HEAD"), "dirty": bool(changed or added)}
    except (OSError, subprocess.CalledProcessError):
        return {"sha": None, "dirty": None, "reason": "not a git checkout"}


def folder(outputs: str) -> Path:
    """Where scorecards lie."""
    return outputs_folder(outputs) / "reports" / "scorecards"


def write_scorecard(card: Scorecard, outputs: str) -> Path:
    """Writes the card once, as JSON and markdown, and returns the JSON's path.

    A card with the same content (all but the time, the machine and the cost) is not written
    twice: its path is returned. Raises ScorecardError when the name is taken by another card, or
    when a JSON file in the folder is no scorecard.
    """
    home = folder(outputs)
    path = _same_card(home, card)
    if path is None:
        system, place = safe_name(card.system["name"], "system"), safe_name(card.environment, "data")
        name = f"{card.created}_{system}_{place}"
        path = home / f"{name}.json"
        home.mkdir(parents=True, exist_ok=True)
        try:
            _write_once(path, dump_json(card.model_dump()))
        except ScorecardError:  # another process took the name: with the same card?
            if content(read_scorecard(path)) != content(card):
                raise
    sheet = path.with_suffix(".md")
    if not sheet.exists():  # a process may have stopped between the two
        write_text(sheet, markdown(read_scorecard(path)))
    return path


def _same_card(home: Path, card: Scorecard) -> Path | None:
    """The file of a card with the same content, or None."""
    return next((path for path in sorted(home.glob("*.json"))
                 if content(read_scorecard(path)) == content(card)), None)


def content(card: Scorecard) -> dict:
    """What makes two cards the same: everything but when, where and at what cost."""
    return card.model_dump(exclude={"created", "machine", "cost"})


def _write_once(path: Path, text: str) -> None:
    """A whole new file, or ScorecardError: a card that is there is never replaced."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        write_text(part, text)
        os.link(part, path)  # fails if the name is there, and shows the file whole
    except FileExistsError as error:
        raise ScorecardError("there is a scorecard of this name, and cards are never replaced",
                             path, "Run again: the name carries the time") from error
    finally:
        part.unlink(missing_ok=True)


def read_scorecard(path: Path) -> Scorecard:
    """A card from its JSON. Raises ScorecardError for what is none."""
    try:
        return Scorecard(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, ValidationError) as error:
        raise ScorecardError(f"this is no scorecard: {type(error).__name__}", path,
                             "Move it out of the folder") from error


def figure_table(figures: pd.DataFrame, protocol: str) -> pd.DataFrame:
    """Measures (rows) by slice (columns, with n) under a protocol, as text: mean [low, high].

    figures: protocol, slice, measure, n, mean, low, high.
    """
    frame = figures[figures["protocol"] == protocol]
    frame = frame.assign(text=[_text(f) for f in frame.to_dict("records")])
    table = frame.pivot(index="measure", columns="slice", values="text")
    sizes = frame.drop_duplicates("slice").set_index("slice")["n"]
    table = table.loc[frame["measure"].unique(), sizes.index]
    table = table.rename(columns={s: f"{s} (n={n})" for s, n in sizes.items()})
    return table.rename_axis(index=None, columns="measure")


def figures_of(card: Scorecard) -> pd.DataFrame:
    """The card's figures as a frame."""
    return pd.DataFrame([f.model_dump() for f in card.figures])


def _text(figure: dict) -> str:
    if pd.isna(figure["mean"]):
        return "—"
    if pd.isna(figure["low"]):
        return f"{figure['mean']:.3f}"
    return f"{figure['mean']:.3f}\N{NO-BREAK SPACE}[{figure['low']:.3f},\N{NO-BREAK SPACE}{figure['high']:.3f}]"


def markdown(card: Scorecard) -> str:
    """The card as one markdown sheet."""
    protocols = list(dict.fromkeys(f.protocol for f in card.figures))
    facts = {
        "System": f"{card.system['name']}, version {card.system['version']}",
        "Environment": f"{card.environment}, {card.corpus_size} documents, {card.queries} queries",
        "Data": f"generation {card.generation or 'not pinned'}, "
                f"fingerprint {card.fingerprints['together']}",
        "Views": " / ".join(f"{role}: {v['view']}" for role, v in card.views.items())
                 if card.views else "those of the run file's system",
        "Depth": str(card.depth),
        "Quotable": "yes" if card.quotable else "no: " + ", ".join(card.labels),
        "Suite": f"{card.suite_version}, commit {card.git['sha']}",
        "Date": card.created,
        "Run": card.run_sha256,
        "Data licence": f"{card.licence or 'not stated'}; {card.attribution or 'source not stated'}",
    }
    lines = [f"# {_cell(card.system['name'])} on {_cell(card.environment)}", ""]
    lines += [f"> {_cell(card.note)}", ""] if card.note else []
    lines += ["| | |", "|---|---|", *(f"| {k} | {_cell(v)} |" for k, v in facts.items()), ""]
    for protocol in protocols:
        lines += [f"## Protocol {protocol}", "", *_markdown_table(figure_table(figures_of(card), protocol)), ""]
    lines += ["Brackets hold the 95 % bootstrap interval over queries.", "", "## What the measures say",
              "", *(f"- **{name}**: {text}" for name, text in said_of(card)), ""]
    counts = (f"- {_cell(k.replace('_', ' '))}: {_cell(v)}" for k, v in sorted(card.counts.items()))
    lines += ["## Counts", "", *counts, ""]
    return "\n".join(lines)


def said_of(card: Scorecard) -> list[tuple[str, str]]:
    """The measures, in the order of the card's figures, each with its plain sentence."""
    return [(name, card.sentences[name]) for name in dict.fromkeys(f.measure for f in card.figures)]


def _markdown_table(table: pd.DataFrame) -> list[str]:
    head = ["measure", *table.columns]
    rows = [[name, *row] for name, row in zip(table.index, table.to_numpy().tolist())]
    return ["| " + " | ".join(map(_cell, line)) + " |" for line in (head, ["---"] * len(head), *rows)]


_MARKUP = str.maketrans({sign: f"&#{ord(sign)};" for sign in "&<|\\`*"})


def _cell(text) -> str:
    """A text that can't break out of a markdown table or turn into markup."""
    line = re.sub(r"[^\S\N{NO-BREAK SPACE}]+", " ", str(text)).strip()
    return line.translate(_MARKUP).replace("](", "]&#40;")  # no link, no picture
