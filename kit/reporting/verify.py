"""Whether a scorecard still says what its run, its collection, the registry and the ledger say.

Everything on a card is covered by the digests in the ledger; what can be computed is computed
anew, so that a finding says not only that a card was changed but where.
"""

import math
from dataclasses import dataclass, field
from pathlib import Path

from kit import SUITE_VERSION, ledger
from kit.collection.sources import open_collection
from kit.errors import KitError, RunError, ScorecardError
from kit.evaluation.evaluate import all_figures
from kit.files import dump_json, outputs_folder, resolved
from kit.params import Params, make_params
from kit.reporting import rules, scorecard
from kit.reporting.rules import FULL, IDENTICAL, IMMUTABLE, PINNED, SLICES
from kit.reporting.scorecard import Scorecard
from kit.retrieval.execute import SavedRun, read_manifest, reopen, searched_ids

# what the card states of its own making, and a new card would state otherwise
OF_ITS_TIME = {"created", "suite_version", "source", "revision", "schema_version", "calibration"}
TOLERANCE = 1e-9  # of a figure that is computed on another machine
_RULE_OF = {"generation": PINNED, "fingerprints": PINNED, "labels": FULL, "quotable": FULL,
            "sample": FULL, "environment": IDENTICAL, "corpus_size": IDENTICAL, "depth": IDENTICAL,
            "queries": IDENTICAL}


@dataclass
class Verdict:
    """What was found about a card. differences: a sentence each, empty for a card that holds.
    notes: what a reader may want to know and is no fault. figures: how many were recomputed."""

    path: Path
    differences: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    figures: int = 0


def verify(path: Path, collection=None, outputs: str | None = None) -> Verdict:
    """Recomputes a scorecard and names all that differs.

    path: the JSON or the markdown. collection: by default the one that the card names. outputs:
    the folder with its runs and ledger, by default the one in which the card lies. Raises
    ScorecardError for a file that is no scorecard, CollectionError when the collection can't be
    opened.
    """
    path = _card_file(path)
    outputs = outputs or outputs_of(path)
    card, found = scorecard.read_scorecard(path), Verdict(path)
    found.differences += _written_as_it_was(path, card, ledger.read(outputs))
    if _major(card) != _major():
        found.differences.append(
            f"{IDENTICAL.title}: the card is of suite {card.suite_version} and can't be recomputed "
            f"by suite {SUITE_VERSION}; its digests are all that was checked")
        return found
    found.differences += _in_itself(path, card)
    collection = collection or open_collection(card.source or card.environment,
                                               revision=card.revision)
    found.differences += _of_the_data(card, collection)
    try:
        run = find_run(outputs, card)
    except KitError as error:
        found.differences.append(f"{IMMUTABLE.title}: {error}")
        return found
    found.differences += [d for d in _recomputed(card, run, collection, outputs)
                          if d not in found.differences]
    found.differences = [" ".join(line.split()) for line in found.differences]
    found.figures = len(card.figures)
    found.notes = _notes(card)
    if card.generation is None and collection.generation:
        found.notes.append(f"not pinned when it was written; pinned since, as "
                           f"{collection.generation}: score the run again for a card that says so")
    return found


def _card_file(path: Path) -> Path:
    """The JSON of a card named by its JSON or its markdown."""
    if path.suffix not in (".json", ".md"):
        raise ScorecardError("a scorecard is a .json file with a .md beside it", path,
                             "Name one of the two")
    return path.with_suffix(".json")


def outputs_of(path: Path) -> str:
    """The outputs folder in which a scorecard lies."""
    parents = resolved(path).parents
    return str(parents[2]) if len(parents) > 2 else "."


def _major(card: Scorecard | None = None) -> str:
    return (card.suite_version if card else SUITE_VERSION).split(".")[0]


def _written_as_it_was(path: Path, card: Scorecard, book: ledger.Ledger) -> list[str]:
    """Whether the two files are those that the ledger lists, and its chain is whole."""
    found = [f"{IMMUTABLE.title}: {fault}" for fault in book.faults()]
    run = (card.ledger or {}).get("sha256")
    end = book.ending(run)
    if book.find(run) is None:
        found.append(f"{IMMUTABLE.title}: the ledger does not have the run of this card")
    elif end is None or (end.event.get("run_sha256"), end.event["status"]) != (
            card.run_sha256, card.status):
        found.append(f"{IMMUTABLE.title}: the ledger has another end of this run than the card")
    line = scorecard.listed(book, path)
    if line is None:
        return [*found, f"{IMMUTABLE.title}: the ledger does not list this card"]
    for kind, file in (("json", path), ("markdown", path.with_suffix(".md"))):
        if not file.exists():
            found.append(f"{IMMUTABLE.title}: the {kind} is gone")
        elif scorecard.digest_of_text(file) != line.event.get(kind):
            found.append(f"{IMMUTABLE.title}: the {kind} is not the one that the ledger lists")
    if (line.event.get("run"), line.event.get("labels")) != (run, card.labels):
        found.append(f"{IMMUTABLE.title}: the ledger lists the card with another run or labels")
    return found


def require_unchanged(path: Path, outputs: str) -> Scorecard:
    """The card of a file that is as the ledger lists it. Raises RuleError (rule 5) for another."""
    card = scorecard.read_scorecard(path)
    found = _written_as_it_was(path, card, ledger.read(outputs))
    if found:
        raise IMMUTABLE.broken(found[0].removeprefix(f"{IMMUTABLE.title}: "), path,
                               "'python -m kit verify' says what differs")
    return card


def _in_itself(path: Path, card: Scorecard) -> list[str]:
    """Whether name, JSON, sheet and slices fit each other."""
    found, sheet = [], path.with_suffix(".md")
    if path.stem != scorecard.card_name(card):
        found.append(f"{IMMUTABLE.title}: the file's name says other than the card, whose name is "
                     f"{scorecard.card_name(card)}")
    older = card.schema_version < scorecard.SCHEMA_VERSION  # whose fields it lacks
    if path.read_text(encoding="utf-8") != dump_json(card.model_dump(exclude_unset=older)):
        found.append(f"{IMMUTABLE.title}: the JSON is not written as the kit writes it")
    if card.suite_version != SUITE_VERSION:  # its sheet and slices are those of its version
        return found
    if sheet.exists():
        stated = sheet.read_text(encoding="utf-8", errors="replace")
        found += _sheet_differences(stated, scorecard.markdown(card))
    missing = rules.missing_slices(card.figures)
    return found + [f"{SLICES.title}: the card lacks {what}" for what in missing]


def _sheet_differences(found: str, wanted: str) -> list[str]:
    if found == wanted:
        return []
    ours, theirs = wanted.split("\n"), found.split("\n")
    line = next((n for n, (a, b) in enumerate(zip(ours, theirs), 1) if a != b),
                min(len(ours), len(theirs)) + 1)
    return [f"{IMMUTABLE.title}: the markdown differs from the JSON from line {line} on"]


def _of_the_data(card: Scorecard, collection) -> list[str]:
    """Whether collection and registry are those of the card."""
    found = [f"{PINNED.title}: the fingerprint of {table} is {rules.short(value)} on the card, and "
             f"the collection's is {rules.short(collection.fingerprints.get(table))}"
             for table, value in card.fingerprints.items()
             if collection.fingerprints.get(table) != value]
    if card.generation not in (None, collection.generation):
        found.append(f"{PINNED.title}: the card states the generation {card.generation or 'none'}, "
                     f"and the registry has {collection.generation or 'none'} for this data")
    try:
        rules.require_own_environment(card.environment, card.fingerprints.get("corpus"), "registry")
    except KitError as error:
        found.append(str(error))
    return found


def find_run(outputs: str, card: Scorecard) -> SavedRun:
    """The card's saved run, by its digest and its line in the ledger: two systems may rank alike.

    Raises ScorecardError when it is gone, RunError when its ranking was changed.
    """
    for manifest in sorted((outputs_folder(outputs) / "runs").glob("*/*/manifest.json")):
        try:
            stated = read_manifest(manifest)
        except RunError:  # another run's folder is damaged
            continue
        if (stated.get("run_sha256"), stated.get("ledger")) == (card.run_sha256, card.ledger):
            return reopen(manifest.parent)
    raise ScorecardError(f"the run file {rules.short(card.run_sha256)} is gone, so its figures "
                         "can't be recomputed", outputs_folder(outputs) / "runs",
                         "Put the run's folder back")


def params_of(card: Scorecard, outputs: str) -> Params:
    """The parameters that the figures of a card depend on."""
    sample = card.sample or {}
    return make_params({
        "protocol": card.protocol, "depth": card.depth, "outputs": outputs,
        "sample": sample.get("size"), "revision": card.revision,
        "seed": sample.get("seed", int((card.intervals or {}).get("seed", 0))),
        "measures": list(dict.fromkeys(f.measure for f in card.figures)),
        **({"system_costs": {card.system["name"]: card.price["per_query"]},
            "cost_currency": card.price["currency"]} if card.price else {})})


def _recomputed(card: Scorecard, run: SavedRun, collection, outputs: str) -> list[str]:
    """What a card made anew from the run and the collection has otherwise."""
    try:
        params = params_of(card, outputs)
        figures = all_figures(run.table, collection, params.measures, params.seed,
                              searched_ids(collection, params))
        # the tree as it was then is not to be had: the card has its own word for it
        as_then = collection if card.generation else collection.unregistered()
        fresh = scorecard.make_scorecard(as_then, run, figures, params, git=card.git)
    except KitError as error:
        return [str(error)]
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        return [f"{IMMUTABLE.title}: the run's manifest is not as it was written: "
                f"{type(error).__name__}: {error}"]
    stated = card.model_fields_set - OF_ITS_TIME - {"figures"}
    was, now = (c.model_dump(include=stated) for c in (card, fresh))
    found = [_named(name, was[name], now[name]) for name in was if not _equal(was[name], now[name])]
    return found + _figure_differences(card, fresh)


def _named(name: str, was, now) -> str:
    rule = _RULE_OF.get(name, IMMUTABLE)
    if isinstance(was, dict) and isinstance(now, dict):
        keys = [k for k in {**was, **now} if not _equal(was.get(k), now.get(k))]
        parts = "; ".join(f"{k} {was.get(k)}, recomputed {now.get(k)}" for k in keys)
        return f"{rule.title}: {name}: {parts}"
    return f"{rule.title}: {name}: {was}, recomputed {now}"


def _figure_differences(card: Scorecard, fresh: Scorecard) -> list[str]:
    theirs, ours = ({(f.protocol, f.slice, f.measure): f for f in c.figures} for c in (card, fresh))
    found, of_the_card = [], {protocol for protocol, _, _ in theirs}
    if card.suite_version != SUITE_VERSION:  # a minor step may have added figures, and changed none
        ours = {key: figure for key, figure in ours.items() if key in theirs}
    for key in {**theirs, **ours}:
        was, now = theirs.get(key), ours.get(key)
        what = f"{key[2]}, slice {key[1]}, protocol {key[0]}"
        if was is None:
            if key[0] not in of_the_card:  # a slice that lacks was found in the card itself
                found.append(f"{SLICES.title}: the card lacks {what}")
        elif now is None:
            found.append(f"{SLICES.title}: the card has {what}, which the collection does not give")
        else:
            found += [f"{IMMUTABLE.title}: {what}: {name} {getattr(was, name)}, "
                      f"recomputed {getattr(now, name)}" for name in type(was).model_fields
                      if not _equal(getattr(was, name), getattr(now, name))]
    return found


def _equal(a, b) -> bool:
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_equal(a[k], b[k]) for k in a)
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return a == b


def _notes(card: Scorecard) -> list[str]:
    """What is otherwise than when the card was written, and no fault of it."""
    notes, now = [], scorecard.git_state()
    if card.git.get("sha") != now.get("sha"):
        notes.append(f"written at commit {rules.short(card.git.get('sha'))}, verified at "
                     f"{rules.short(now.get('sha'))}")
    if card.suite_version != SUITE_VERSION:
        notes.append(f"written by suite {card.suite_version}, verified by {SUITE_VERSION}: what a "
                     "version adds is not held against it, and its sheet by the digest alone")
    return notes
