"""The scorecard: one record a run, written once as JSON, with markdown rendered from it."""

import hashlib
import json
import re
import time
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from kit import SUITE_VERSION, ledger
from kit.errors import ScorecardError
from kit.evaluation.evaluate import scope_pairs, unclassed
from kit.evaluation.measures import asked, sentence
from kit.evaluation.uncertainty import RESAMPLES, caution
from kit.files import dump_json, outputs_folder, safe_name, write_new
from kit.params import Params
from kit.provenance import git_state, utc_now
from kit.relevance.protocols import positives
from kit.reporting import rules
from kit.reporting.costs import price_of, seconds_a_query
from kit.reporting.modes import mode_of
from kit.retrieval.execute import searched_ids
from kit.visible import visible

SCHEMA_VERSION = 4


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
    """Everything a reader needs to trust, repeat or contest the figures of one run.

    source, revision: how the collection was opened. git: the kit's commit when the card was made;
    run_git: when the run was. ledger: the run's line in the ledger, and its digest. cost: seconds
    and peak memory of the search, on `machine`.
    scopes: how many relevant pairs each has, by protocol (`evaluate.scope_pairs`); calibration: how
    the environment's BM25 stood to its published value when the card was written
    (`calibration.standing`). Cards of a schema before 3 have neither. price: what a query costs, as it was
    declared, per_query and currency; not on cards of a schema before 4.
    """

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    schema_version: int = SCHEMA_VERSION
    suite_version: str
    created: str
    system: dict[str, Any]
    mode: str = "not stated"
    environment: str
    source: str | None = None
    revision: str | None = None
    corpus_size: int
    queries: int
    generation: str | None
    fingerprints: dict[str, str]
    views: dict[str, Any] | None
    protocol: str
    depth: int
    sample: dict[str, int] | None
    status: str = "complete"
    figures: list[Figure]
    scopes: dict[str, dict[str, str | int]] | None = None
    calibration: str | None = None
    intervals: dict[str, int | float] | None = None
    sentences: dict[str, str]
    counts: dict[str, Any]
    cost: dict[str, float | None]
    price: dict[str, float | str] | None = None
    machine: dict[str, Any]
    git: dict[str, Any]
    run_git: dict[str, Any] | None = None
    run_sha256: str
    ledger: dict[str, Any] | None = None
    licence: str | None
    attribution: str | None
    note: str
    labels: list[str]
    quotable: bool

    @model_validator(mode="after")
    def _whole(self) -> "Scorecard":
        """Whether all that a reader of cards counts on is there."""
        if len({(f.protocol, f.slice, f.measure) for f in self.figures}) < len(self.figures):
            raise ValueError("a figure stands twice")
        if not {f.measure for f in self.figures} <= set(self.sentences):
            raise ValueError("a measure has no sentence")
        if not {"name", "version"} <= set(self.system) or "corpus" not in self.fingerprints:
            raise ValueError("a system has a name and a version, a collection its fingerprints")
        if self.views and not all("view" in (self.views.get(r) or {}) for r in ("query", "corpus")):
            raise ValueError("a run has a view of queries and one of the corpus")
        return self


def make_scorecard(collection, run, figures: pd.DataFrame, params: Params,
                   book: ledger.Ledger | None = None, git: dict | None = None) -> Scorecard:
    """The scorecard of a saved run.

    figures: as `evaluate.all_figures` gives them. book: the ledger, by default that of the
    parameters' outputs. git: the state of the tree, by default as it is. Raises RuleError for a
    run that is not as the ledger has it, and for one that has fewer queries than it states.
    """
    book = book or ledger.read(params.outputs)
    manifest, entry = run.manifest, collection.entry
    begun = book.find((manifest.get("ledger") or {}).get("sha256"))
    if begun is not None:
        rules.require_as_begun(manifest, begun.event or {}, run.folder)
        end = book.ending(begun.sha256)
        if end is not None:
            rules.require_as_ended(run.manifest_sha256, end.event, run.folder)
    rules.require_sizes(manifest, collection, run.folder)
    answered = len(run.table["query_id"].unique())
    rules.require_whole(manifest, answered, run.folder)
    stated = {
        **{name: manifest[name] for name in (
            "system", "environment", "corpus_size", "queries", "fingerprints", "views", "depth",
            "sample", "status", "cost", "run_sha256")},
        "generation": collection.generation,
        "git": git or git_state(), "run_git": manifest.get("git"),
        "ledger": manifest.get("ledger"), "machine": manifest.get("machine") or {}}
    known = begun is not None and not book.faults()  # a broken chain can't tell how often
    search = book.search_number(begun.sha256) if known else None
    labels = rules.labels_of(stated, search, collection.note)
    return Scorecard(
        **stated, suite_version=SUITE_VERSION, created=utc_now(),
        mode=mode_of(manifest["views"], collection),
        source=collection.source, revision=params.revision, protocol=params.protocol,
        figures=[_figure(row) for row in figures.to_dict("records")],
        scopes=scope_pairs(collection, searched_ids(collection, params)),
        intervals={"seed": params.seed, "resamples": RESAMPLES, "level": 0.95},
        sentences={name: sentence(name) for name in figures["measure"].unique()},
        counts={**_counts(manifest, answered, figures, params.protocol), **_audited(collection),
                **_unclassed(collection, run.table, figures, params)},
        price=price_of(manifest["system"]["name"], params),
        licence=entry.licence if entry else None,
        attribution=entry.attribution if entry else None,
        note=collection.note, labels=labels, quotable=not labels)


def _counts(manifest: dict, answered: int, figures: pd.DataFrame, protocol: str) -> dict[str, Any]:
    """What a reader must know beside the figures; shares of judged documents under the protocol."""
    searched = manifest["sample"]["size"] if manifest["sample"] else manifest["queries"]
    mine = figures[(figures["protocol"] == protocol) & (figures["slice"] == "all")]
    judged = {name: float(mean) for name, mean in zip(mine["measure"], mine["mean"])
              if name.startswith("Judged@") and not pd.isna(mean)}
    return {"missing_queries": searched - answered, "failed_queries": len(manifest["failures"]),
            **{name: manifest[name] for name in (
                "own_entries_excluded", "ties_at_the_cut", "empty_rankings")},
            **manifest["notes"], **judged}


def _audited(collection) -> dict[str, str]:
    """What people judged of a registered query set; nothing for one that nobody had to judge."""
    audit = (collection.registered_set or {}).get("audit")
    return {"query_set_audit": "{good} of {judged} judged good, 95 % interval {low:.3f} to {high:.3f}, at "
                               "least {threshold:g} asked".format(**audit)} if audit else {}


def _unclassed(collection, run, figures: pd.DataFrame, params: Params) -> dict[str, int]:
    """How many queries a class agreement leaves out under the protocol, and how many documents it has
    looked at that have no class of its level."""
    names = asked(list(figures["measure"].unique()), "classes")
    if not names:
        return {}
    pairs = positives(collection, params.protocol)
    queries = set(pairs["query_id"]) & set(searched_ids(collection, params))
    found = {}
    for name, (left_out, documents) in unclassed(run, collection, sorted(queries), names).items():
        found |= {f"{name}, queries left out": left_out, f"{name}, documents without a class": documents}
    return found


def _figure(row: dict) -> Figure:
    return Figure(**{name: None if pd.isna(value) else value for name, value in row.items()})


def folder(outputs: str) -> Path:
    """Where scorecards lie."""
    return outputs_folder(outputs) / "reports" / "scorecards"


def card_name(card: Scorecard) -> str:
    """The file's name, without its ending: time, system, environment, and every label."""
    system, place = safe_name(card.system["name"], "system"), safe_name(card.environment, "data")
    return "_".join([card.created, system, place, *(x.replace(" ", "-") for x in card.labels)])


def write_scorecard(card: Scorecard, outputs: str) -> Path:
    """Writes the card once, as JSON and markdown, notes both in the ledger, and returns the
    JSON's path.

    A card with the same content (all but the time) is not written twice: its path is returned.
    Two cards of one system in one second: the second takes the next second. Raises RuleError for
    a card without a standard slice or under another corpus' environment, ScorecardError when a
    JSON file in the folder is no scorecard.
    """
    home = folder(outputs)
    rules.require_slices(card.figures, card_name(card))
    rules.require_own_environment(card.environment, card.fingerprints["corpus"], card_name(card))
    with ledger.opened(outputs) as book:  # one writer at a time
        home.mkdir(parents=True, exist_ok=True)
        _refuse_unlisted(book, home)
        path = _same_card(home, card)
        if path is None:
            card = _of_a_free_second(book, home, card)
            path = home / f"{card_name(card)}.json"
            stated, sheet = dump_json(card.model_dump()), markdown(card)
            # listed first: a file that no line lists is then never the kit's
            book.append(ledger.CARD, run=(card.ledger or {}).get("sha256"), card=path.name,
                        json=_digest(stated), markdown=_digest(sheet), labels=card.labels)
            write_once(path, stated)
        if not path.with_suffix(".md").exists():  # a process may have stopped between the two
            write_once(path.with_suffix(".md"), markdown(read_scorecard(path)))
    return path


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _refuse_unlisted(book: ledger.Ledger, home: Path) -> None:
    """Raises RuleError (rule 5) when the folder holds a card that the ledger does not list: one was
    put there, or the ledger was cut back."""
    strange = next((p for p in sorted(home.glob("*.json")) if listed(book, p) is None), None)
    if strange is not None:
        raise rules.IMMUTABLE.broken("the folder holds a card that the ledger does not list",
                                     strange, "Move it out of the folder, or put the ledger back")


def _of_a_free_second(book: ledger.Ledger, home: Path, card: Scorecard) -> Scorecard:
    """The card, its time moved on to the first second in which its name is free, in the folder and
    in the ledger: a process may have stopped before it wrote what it had listed."""
    while _taken(book, home / f"{card_name(card)}.json"):
        if card.created == utc_now():
            time.sleep(0.05)
        card = card.model_copy(update={"created": utc_now()})
    return card


def _taken(book: ledger.Ledger, path: Path) -> bool:
    return path.exists() or path.with_suffix(".md").exists() or listed(book, path) is not None


def listed(book: ledger.Ledger, path: Path) -> ledger.Line | None:
    """The card's line in the ledger, by its file's name."""
    return next((line for line in book.lines if line.is_a(ledger.CARD, card=path.name)), None)


def digest_of_text(path: Path) -> str:
    """sha256 (hex) of a card's file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _same_card(home: Path, card: Scorecard) -> Path | None:
    """The file of a card with the same content, or None."""
    return next((path for path in sorted(home.glob("*.json"))
                 if content(read_scorecard(path)) == content(card)), None)


def content(card: Scorecard) -> dict:
    """What makes two cards the same: everything but when it was written."""
    return card.model_dump(exclude={"created"})


def write_once(path: Path, text: str) -> None:
    """A whole new file. Raises RuleError (rule 5) for a name that is there; none is replaced."""
    try:
        write_new(path, text)
    except FileExistsError as error:
        raise rules.IMMUTABLE.broken("there is a scorecard of this name, and cards are never "
                                     "replaced", path, "Run again: the name carries the time"
                                     ) from error


def read_scorecard(path: Path) -> Scorecard:
    """A card from its JSON. Raises ScorecardError, with what is wrong in it, for what is none."""
    if not path.is_file():
        raise ScorecardError("there is no such scorecard", path, "Name the JSON of one")
    try:
        stated = json.loads(path.read_text(encoding="utf-8"), parse_constant=_no_number)
        if not isinstance(stated, dict):
            raise TypeError("it is no JSON object")
        schema = stated.get("schema_version")
        if isinstance(schema, int) and schema > SCHEMA_VERSION:
            raise TypeError(f"it is of schema {schema}, and this suite reads up to {SCHEMA_VERSION}")
        return Scorecard.model_validate(stated)
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise ScorecardError(f"this is no scorecard: {_why(error)}", path,
                             "Move it out of the folder") from error


def _no_number(name: str):
    raise TypeError(f"{name} is no value of JSON")


def _why(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        place = ".".join(str(part)[:80] for part in first["loc"])
        return f"{place}: {first['msg']}" if place else first["msg"]
    kinds = {UnicodeDecodeError: "it is not UTF-8", RecursionError: "it is nested too deeply",
             OSError: "it can't be read", ValueError: "it is not JSON"}
    return next((said for kind, said in kinds.items() if isinstance(error, kind)), str(error))


def figure_table(figures: pd.DataFrame, protocol: str, shown: str = "mean") -> pd.DataFrame:
    """Measures (rows) by slice (columns, with n) under a protocol, as text: mean [low, high].

    figures: protocol, slice, measure, n, mean, low, high. shown: "smallest" gives the smallest
    difference that n could show in place of the mean, in the slices that have one.
    """
    frame = figures[figures["protocol"] == protocol]
    sizes = frame.groupby("slice", sort=False)["n"].max()  # a measure may leave queries out
    if shown != "mean":
        frame = frame[frame[shown].notna()] if shown in frame else frame.iloc[:0]
    text = [(_text(f) if shown == "mean" else f"{f[shown]:.3f}") + _fewer(f["n"], sizes[f["slice"]])
            for f in frame.to_dict("records")]
    table = frame.assign(text=text).pivot(index="measure", columns="slice", values="text")
    sizes = sizes[frame["slice"].unique()]
    table = table.loc[frame["measure"].unique(), sizes.index].fillna("—")
    table = table.rename(columns={s: f"{s} (n={n})" for s, n in sizes.items()})
    return table.rename_axis(index=None, columns="measure")


def _fewer(n: int, size: int) -> str:
    """Over how many queries a figure is, where that is fewer than its slice has."""
    return "" if n == size else f"\N{NO-BREAK SPACE}(n={n})"


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
    """The card as one markdown sheet; the same card always gives the same bytes."""
    labels = f" ({', '.join(card.labels)})" if card.labels else ""
    lines = [f"# {_cell(card.system['name'])} on {_cell(card.environment)}{labels}", ""]
    lines += [f"**{_cell(card.calibration)}**", ""] if card.calibration else []
    lines += [f"> {_cell(card.note)}", ""] if card.note else []
    lines += [f"- **{label}**: {rules.label_sentence(label)}" for label in card.labels]
    lines += ["", *_markdown_rows([["", ""], *_facts(card)]), ""]
    figures = figures_of(card)
    for protocol in dict.fromkeys(f.protocol for f in card.figures):
        lines += [f"## {_cell(card.mode)}, protocol {protocol}{labels}", "",
                  *_markdown_table(figure_table(figures, protocol), card.sentences), "",
                  *(f"- {_cell(name)}: {_cell(why)}"
                    for name, why in remarks(figures, protocol, card.scopes)), ""]
        smallest = figure_table(figures, protocol, "smallest")
        if not smallest.empty:
            what = "Smallest difference that n queries could show"
            lines += [f"{what}, protocol {protocol}{labels}:", "", *_markdown_table(smallest), ""]
    lines += ["Brackets hold the 95 % bootstrap interval over queries.", ""]
    counts = (f"- {_cell(name.replace('_', ' '))}: {_cell(said(count))}"
              for name, count in sorted(card.counts.items()))
    lines += ["## Counts", "", *counts, ""]
    return "\n".join(lines)


def _facts(card: Scorecard) -> list[list]:
    """What the figures hold for, as rows of name and value."""
    prints, cost = card.fingerprints, card.cost
    views = {f"{role} view": _view(v) for role, v in card.views.items()} if card.views else {
        "views": "those of the run file's system"}
    facts = {
        "quotable": "yes" if card.quotable else f"no: {', '.join(card.labels)}",
        "system": f"{card.system['name']}, version {card.system['version']}",
        "settings": said(card.system.get("settings") or {}),
        "mode": card.mode, **views,
        "environment": f"{card.environment}, {card.corpus_size} documents, "
                       f"corpus fingerprint {prints.get('corpus')}",
        "queries": f"{card.queries}, sample {said(card.sample) if card.sample else 'none'}",
        "generation": card.generation or "not pinned",
        **{f"fingerprint, {table}": value for table, value in sorted(prints.items())},
        # a folder's own name: where it lies is its owner's business
        "collection": f"{Path(card.source or '').name or 'not stated'}, revision "
                      f"{card.revision or 'not stated'}",
        "protocol": card.protocol, "depth": card.depth, "status": card.status,
        "intervals": said(card.intervals or {}),
        "preprocessing seconds": cost.get("preprocessing_seconds"),
        "index seconds": cost.get("index_seconds"), "search seconds": cost.get("search_seconds"),
        **{name.replace("_", " "): cost[name] for name in sorted(cost) if name.startswith("inputs_")},
        "seconds a query, all stages": seconds_a_query(card.cost, card.queries, card.sample),
        **({"declared cost a query": f"{card.price['per_query']:g} {card.price['currency']}"} if card.price else {}),
        "peak memory, MB": cost.get("peak_memory_mb"), "machine": said(card.machine),
        "suite": card.suite_version, "commit": said(card.git),
        "commit of the run": said(card.run_git),
        "run file, sha256": card.run_sha256, "ledger": said(card.ledger),
        "written": card.created,
        "data licence": f"{card.licence or 'not stated'}; "
                        f"{card.attribution or 'source not stated'}",
    }
    return [[name, "—" if value is None else said(value)] for name, value in facts.items()]


def _view(stated: dict) -> str:
    """A view with its cleaner; a system's own index states none."""
    cleaner = stated.get("cleaner")
    return f"{stated['view']}, cleaner {cleaner['name']} {cleaner['version']}" if cleaner else (
        stated["view"])


def said(value) -> str:
    """A value of the record in words."""
    if isinstance(value, dict):
        return "; ".join(f"{k} {said(v)}" for k, v in sorted(value.items())) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    return "none" if value is None or value == "" else str(value)


def remarks(figures: pd.DataFrame, protocol: str, scopes: dict | None = None) -> list[tuple[str, str]]:
    """(slice, sentence) of each slice that is absent, lacks something, or has few queries; first of
    the scopes, how many pairs each has. scopes: as a card has them."""
    mine = figures[figures["protocol"] == protocol]
    said_ = [(name, reason if isinstance(reason, str) else caution(int(n)))  # NaN is no reason
             for name, reason, n in zip(mine["slice"], mine["reason"], mine["n"])]
    of_pairs = [("scopes", scope_sentence(scopes[protocol]))] if protocol in (scopes or {}) else []
    return of_pairs + [(name, why) for name, why in dict.fromkeys(said_) if why]


def scope_sentence(counts: dict) -> str:
    """How many relevant pairs each scope has, and what the classes say. counts: as
    `domains.scope_counts` gives them."""
    pairs = f"{counts['IN']} relevant pairs are IN and {counts['OUT']} OUT"
    if "otherwise" in counts:
        return (f"{pairs}, as {counts['from']} states them; recomputed from the three-character "
                f"classes {counts['otherwise']} are otherwise, and {counts['untold']} can't be told")
    return (f"{pairs}, by their {counts['from']}; {counts['UNKNOWN']} belong to neither, for want of "
            "a class")


def said_of(card: Scorecard) -> list[tuple[str, str]]:
    """The measures, in the order of the card's figures, each with its plain sentence."""
    return [(name, card.sentences[name]) for name in dict.fromkeys(f.measure for f in card.figures)]


def _markdown_table(table: pd.DataFrame, sentences: dict[str, str] | None = None) -> list[str]:
    """A table a row an index value; with sentences, each measure's own at the end of its row."""
    rows = [[name, *row, *([sentences[name]] if sentences else [])]
            for name, row in zip(table.index, table.to_numpy().tolist())]
    return _markdown_rows([["measure", *table.columns, *(["what it says"] if sentences else [])],
                           *rows])


def markdown_table(frame: pd.DataFrame) -> list[str]:
    """A frame of texts as the lines of a markdown table, without its index."""
    return _markdown_rows([list(frame.columns), *frame.to_numpy().tolist()])


def _markdown_rows(rows: list[list]) -> list[str]:
    head, *rest = rows
    return ["| " + " | ".join(map(_cell, line)) + " |"
            for line in (head, ["---"] * len(head), *rest)]


_MARKUP = str.maketrans({sign: f"&#{ord(sign)};" for sign in "&<|\\`*"})


def _cell(text) -> str:
    """A text that can't break out of a markdown table or turn into markup."""
    line = visible(re.sub(r"[^\S\N{NO-BREAK SPACE}]+", " ", str(text)).strip())
    return line.translate(_MARKUP).replace("](", "]&#40;")  # no link, no picture
