"""Scorecards side by side: what `python -m kit compare` shows. Cards hold means; the values a query
come from their runs, scored anew."""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from kit.collection.sources import open_collection
from kit.errors import ScorecardError
from kit.evaluation.evaluate import Evaluation, by_scope, evaluate
from kit.evaluation.measures import has_values
from kit.files import resolved, write_text, written_whole
from kit.reporting import calibration, comparison, plots, rules, show
from kit.reporting.calibration import MISSES, WITHIN, calibration_table
from kit.reporting.modes import mode_deltas
from kit.reporting.scorecard import (
    Scorecard,
    figure_table,
    figures_of,
    markdown_table,
    said,
)
from kit.reporting.verify import find_run, outputs_of, params_of, require_unchanged, verify
from kit.retrieval.execute import searched_ids


@dataclass(frozen=True)
class CardComparison:
    """Cards under one set of conditions. names: {system: card}, BM25 first if it is there.

    systems: a row a card. pairs: a table a scope, slices: as `comparison` makes them, against the
    first system. published: see `calibration_table`; calibrated: see `calibration.standing`.
    reasons: why it may not be shown outside; empty when it may. measure: what slices and pictures
    are about.
    """

    names: dict[str, Scorecard]
    evaluations: dict[str, Evaluation]
    measure: str
    systems: pd.DataFrame
    pairs: dict[str, pd.DataFrame]
    slices: pd.DataFrame
    published: pd.DataFrame
    calibrated: str | None
    reasons: list[str]


def compare(paths: list[Path], collection=None, outputs: str | None = None) -> CardComparison:
    """The comparison of scorecards, each as the ledger of its folder lists it.

    Raises RuleError for cards that are not as they were written (rule 5), for conditions that
    differ (rule 2, every one listed) and for a collection that is not the cards' (rule 1);
    ScorecardError for fewer than two cards and for a run file that is gone.
    """
    _require_two(paths)
    places = {path: outputs or outputs_of(path) for path in paths}
    cards = {path: require_unchanged(path, places[path]) for path in paths}
    paths = sorted(cards, key=lambda path: not rules.is_bm25(cards[path].system))
    by_name = dict(zip(_names([cards[path] for path in paths]), (cards[path] for path in paths)))
    records = [card.model_dump() for card in by_name.values()]
    rules.require_identical(records, list(by_name))
    first = cards[paths[0]]
    collection = collection or open_collection(first.source or first.environment,
                                               revision=first.revision)
    if collection.fingerprints != first.fingerprints:
        raise rules.PINNED.broken("the collection is not the one that the cards name",
                                  collection.source, "Name it with --collection")
    common = _common_measures(by_name)
    measure = next(filter(has_values, common), None)
    if measure is None:
        raise ScorecardError("the cards have no measure in common that has a value for every query",
                             "comparison", "Score the runs with the same measures")
    evaluations = {name: _evaluated(card, path, collection, places[path], common)
                   for path, (name, card) in zip(paths, by_name.items())}
    seed = params_of(first, ".").seed
    published = calibration_table(by_name, collection.entry)
    return CardComparison(
        by_name, evaluations, measure, system_table(by_name, published),
        {scope: comparison.side_by_side(mine, seed) for scope, mine in by_scope(evaluations).items()},
        comparison.by_slice(evaluations, measure, seed), published,
        calibration.standing(list(by_name.values()), collection.entry, places[paths[0]]),
        rules.not_publishable(records, list(by_name)))


def _require_two(paths: list[Path]) -> None:
    """Raises ScorecardError for fewer than two cards, and for one that is named twice."""
    named = [resolved(path) for path in paths]
    twice = next((path for path in named if named.count(path) > 1), None)
    if twice is not None:
        raise ScorecardError("a scorecard is named twice", twice, "Name each once")
    if len(paths) < 2:
        raise ScorecardError("a comparison needs two scorecards", str(paths[0]) if paths else "",
                             "Name another, best that of a baseline; a pattern that no file fits "
                             "stays as it is")


def _names(cards: list[Scorecard]) -> list[str]:
    """The systems' names, with a number behind the second of two that are named alike."""
    names = [card.system["name"] for card in cards]
    return [f"{name} #{names[:i].count(name) + 1}" if name in names[:i] else name
            for i, name in enumerate(names)]


def _common_measures(cards: dict[str, Scorecard]) -> list[str]:
    """The measures that every card has, in the order of the first."""
    held = [dict.fromkeys(f.measure for f in card.figures) for card in cards.values()]
    return [m for m in held[0] if all(m in other for other in held)]


def _evaluated(card: Scorecard, path: Path, collection, outputs: str,
               measures: list[str]) -> Evaluation:
    """The card's run, scored anew, once `verify` finds nothing against the card."""
    found = verify(path, collection, outputs).differences
    if found:
        raise rules.IMMUTABLE.broken(found[0].removeprefix(f"{rules.IMMUTABLE.title}: "), path,
                                     "'python -m kit verify' says what differs")
    run = find_run(outputs, card)
    return evaluate(run.table, collection, card.protocol, measures,
                    searched_ids(collection, params_of(card, outputs)))


def system_table(cards: dict[str, Scorecard], published: pd.DataFrame) -> pd.DataFrame:
    """A row a card: what it is, its labels, whether it is a baseline, and how it was calibrated.

    Columns: system, version, mode, corpus view, baseline, published values, labels, written.
    """
    rows = []
    for name, card in cards.items():
        verdicts = set(published.loc[published["system"] == name, "verdict"])
        checked = MISSES if MISSES in verdicts else WITHIN if WITHIN in verdicts else ""
        rows.append({
            "system": name, "version": card.system["version"], "mode": card.mode,
            "corpus view": card.views["corpus"]["view"] if card.views else "not stated",
            "baseline": "BM25" if rules.is_bm25(card.system) else
                        "public embedding" if rules.is_public_embedding(card.system) else "",
            "published values": checked, "labels": ", ".join(card.labels) or "none",
            "written": card.created})
    return pd.DataFrame(rows)


def require_publishable(compared: CardComparison) -> None:
    """Raises RuleError (rule 7, or that of a label) unless it may be shown outside."""
    rules.require_publishable([c.model_dump() for c in compared.names.values()],
                              list(compared.names))


def standing(records: list[dict], names: list[str]) -> str:
    """Whether cards side by side may be shown outside, in a sentence with every reason."""
    reasons = [f"{rules.IDENTICAL.title}: they differ in {d}" for d in rules.differing(records)]
    reasons += rules.not_publishable(records, names)
    return f"Not to be shown outside. {'; '.join(reasons)}." if reasons else (
        "May be shown outside: both baselines ride along, and no card has a label.")


def show_standing(cards: list[Scorecard]) -> None:
    """Shows whether an experiment's cards, side by side, may be shown outside."""
    show.say(standing([c.model_dump() for c in cards], [c.system["name"] for c in cards]))


# --- as text and pictures -------------------------------------------------------------------------

FORMATS = {"mean": "{:.3f}", "mean against": "{:.3f}", "difference": "{:+.3f}", "p": "{:.4f}",
           "delta": "{:+.3f}", "p Holm": "{:.4f}", "effect": "{:+.2f}", **calibration.FORMATS}


def markdown(compared: CardComparison) -> str:
    """The comparison as one markdown sheet, without its pictures."""
    first = next(iter(compared.names.values()))
    mark = "" if not compared.reasons else " (not to be shown outside)"
    records = [card.model_dump() for card in compared.names.values()]
    lines = [f"# Systems on {first.environment}{mark}", "", standing(records, list(compared.names)),
             "", f"Environment {first.environment}, {first.corpus_size} documents, generation "
             f"{first.generation or 'not pinned'}, protocol {first.protocol}, depth {first.depth}, "
             f"queries {first.queries}, sample {said(first.sample)}.", ""]
    lines += [f"**{compared.calibrated}**", ""] if compared.calibrated else []
    lines += _section("Systems", compared.systems, mark)
    for name, card in compared.names.items():
        table = figure_table(figures_of(card), card.protocol)
        table = table.rename_axis(index="measure").reset_index()
        labels = f", labels {', '.join(card.labels)}" if card.labels else ""
        lines += _section(f"{name}: measures by slice{labels}", table, "")
    for scope, pairs in compared.pairs.items():
        lines += _section(f"Differences{comparison.over(scope)}", pairs, mark)
    lines += ["p is that of a paired randomization test over queries; p Holm is corrected for all "
              "tests of this table; effect is Cohen's d_z, the mean difference over the standard "
              "deviation of the differences.", ""]
    lines += _section(f"{compared.measure} by slice", compared.slices, mark)
    if len(compared.published):
        lines += _section("Published values", compared.published, mark)
    return "\n".join(lines)


def _section(title: str, frame: pd.DataFrame, mark: str) -> list[str]:
    shown = frame.astype(object)
    for name in shown.columns:
        form = FORMATS.get(name, "{}")
        shown[name] = ["—" if pd.isna(v) else form.format(v) for v in frame[name]]
    return [f"## {title}{mark}", "", *markdown_table(shown), ""]


def modes_markdown(paths: list[Path], outputs: str | None = None) -> str:
    """What one system gains or loses from mode to mode, as one markdown sheet.

    Each card must be as the ledger of its folder lists it (rule 5). Raises RuleError (rule 6) for
    cards of two systems, environments, generations or conditions.
    """
    cards = [require_unchanged(path, outputs or outputs_of(path)) for path in paths]
    table = mode_deltas(cards)
    first = cards[0]
    lines = [f"# {first.system['name']} from mode to mode", "",
             f"Environment {first.environment}, generation {first.generation or 'not pinned'}, "
             f"protocol {first.protocol}; each mode against {first.mode}.", ""]
    return "\n".join(lines + _section("Differences", table, ""))


def write(compared: CardComparison, folder: Path) -> Path:
    """Writes comparison.md with its pictures into a folder and returns it."""
    pictures = {}
    first = next(iter(compared.names.values()))
    frames = {name: figures_of(card) for name, card in compared.names.items()}
    mark = " (not to be shown outside)" if compared.reasons else ""
    title = f"{compared.measure} by slice, with 95 % intervals{mark}"
    pictures["by-slice.png"] = (title, plots.by_slice(
        frames, compared.measure, first.protocol, title))
    drawn = comparison.difference_pictures(compared.evaluations, compared.measure, mark)
    pictures |= {f"differences-{n}.png": each for n, each in enumerate(drawn, 1)}
    lines = [markdown(compared)]
    for file, (title, figure) in pictures.items():
        with written_whole(folder / file) as part:
            part.write_bytes(plots.drawn(figure))
        lines.append(f"![{title}]({file})\n")
    write_text(folder / "comparison.md", "\n".join(lines))
    return folder / "comparison.md"
