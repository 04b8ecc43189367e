"""Static pages under outputs/site, from the executed notebooks and the scorecards' JSON alone."""

import json
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from kit import SUITE_VERSION
from kit.errors import KitError, ScorecardError
from kit.evaluation.measures import forms
from kit.files import digest_of, locked, outputs_folder, regular, safe_name, write_text
from kit.relevance.slices import SENTENCES
from kit.reporting import card_page, notebook_page
from kit.reporting.card_comparison import standing
from kit.reporting.card_page import Listed, headlines
from kit.reporting.modes import CUSTOM, MODES, UNREGISTERED, UNSTATED
from kit.reporting.rules import LABELS, RULES, label_sentence
from kit.reporting.score import experiments_folder, main_table
from kit.reporting.scorecard import folder, said_of
from kit.reporting.verify import require_unchanged

MARK = '<meta name="generator" content="prior-art kit">'  # of a page that may be removed again
PROTOCOL_SENTENCES = {
    "all": "every cited document counts as relevant, whatever its category",
    "xy": "documents of the categories X or Y count: those that a claim stands or falls with",
    "a": "documents of the category A count: the technical background",
}
LINKS = [("Results", "index.html"), ("Modes", "modes.html"), ("Measures and rules", "measures.html")]
SCORING = "40_score"  # the notebook that writes an experiment's scorecards
TESTS = "50_compare"  # the one that tests differences
_PAGES = Environment(loader=FileSystemLoader(Path(__file__).with_name("templates")), autoescape=True,
                     trim_blocks=True, lstrip_blocks=True)


@dataclass(frozen=True)
class Notebook:
    """An executed notebook of an experiment. link: its page; older: the parameters in which it
    differs from the notebook that wrote the experiment's cards, so that it is of another run."""

    path: Path
    heading: str
    link: str
    parameters: dict
    older: list[str]


def build(outputs: str) -> Path:
    """Writes all pages anew, removes those of things that are gone, and returns the index.

    Building twice changes nothing. Raises KitError for an outputs folder that is not there, RuleError
    (rule 5) for a card that is not as the ledger lists it, ScorecardError and NotebookError for what
    is no scorecard, no experiment's list or no notebook.
    """
    home, site = outputs_folder(outputs), outputs_folder(outputs) / "site"
    if not home.is_dir():
        raise KitError("there is no such outputs folder", home, "Name one that a run has made")
    with locked(home):  # else one process removes the pages that another has just written
        return _build(outputs, home, site)


def _build(outputs: str, home: Path, site: Path) -> Path:
    stated = [_stated(file) for file in sorted(experiments_folder(outputs).glob("*.json"))]
    listed = _listed(outputs, stated)
    if not listed:
        raise KitError("no scorecard is there, so there is nothing to publish", home,
                       "Name the outputs folder of a run")
    links = _environment_links(listed)
    experiments = [_experiment(one, listed, home) for one in stated]
    pages = {site / "index.html": _index(experiments, listed, links),
             site / "modes.html": _modes(listed, links), site / "measures.html": _measures()}
    for name, link in links.items():
        pages[site / link] = _environment(name, link, listed, experiments)
    for one in listed:
        pages[site / f"scorecards/{one.stem}.html"] = _card(one, links, experiments)
    for experiment in experiments:
        for notebook in experiment["notebooks"]:
            pages[site / notebook.link] = _notebook(notebook, experiment)
    for path, page in pages.items():
        write_text(path, page)
    _remove_stale(site, set(pages))
    return site / "index.html"


def _remove_stale(site: Path, written: set[Path]) -> None:
    """Removes the pages below the site that were not written now. What is no page of this kit
    stays, whoever put it there."""
    for path in sorted(set(site.rglob("*.html")) - written):
        with open(path, encoding="utf-8", errors="replace") as file:
            ours = MARK in file.read(2000)
        if ours and not path.is_symlink():
            path.unlink()
            if not any(path.parent.iterdir()):
                path.parent.rmdir()


def _page(template: str, here: str, title: str, attributions: list[str] = (), **values) -> str:
    """A page's text. here: its address below the site; attributions: of the data that it shows."""
    data = "".join(f"Data: {text}. " for text in dict.fromkeys(attributions))
    return _PAGES.get_template(template).render(
        mark=Markup(MARK), title=title, here=here, up="../" * here.count("/"),
        footer=f"{data}Made by the prior-art kit, suite {SUITE_VERSION}.", **{"links": LINKS, **values})


# --- what there is ----------------------------------------------------------------------------------

def _stated(file: Path) -> dict:
    """An experiment's list of scorecards, under its file's name, with nothing that leads elsewhere."""
    try:
        stated = json.loads(regular(file).read_text(encoding="utf-8"))
        names = [Path(name) for name in stated["scorecards"]]
        if file.name.startswith("."):  # "...json" would name the folder above
            raise ValueError("no experiment's name begins with a dot")
        if not names or any(path.name != str(path) or path.suffix != ".json" for path in names):
            raise ValueError("a scorecard is a file of the folder of scorecards")
        return {"name": file.stem, "environment": str(stated["environment"]), "note": str(stated["note"]),
                "stems": [path.stem for path in names]}
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise ScorecardError(f"this is no experiment's list of scorecards: {type(error).__name__}", file,
                             "Move it out of the folder, or run the experiment again") from error


def _listed(outputs: str, stated: list[dict]) -> list[Listed]:
    """Every card, the latest first. Raises RuleError for one that is not as the ledger lists it."""
    found = []
    for path in sorted(folder(outputs).glob("*.json")):
        mine = tuple(one["name"] for one in stated if path.stem in one["stems"])
        found.append(Listed(path.stem, require_unchanged(path, outputs), mine))
    gone = sorted({stem for one in stated for stem in one["stems"]} - {one.stem for one in found})
    if gone:
        raise ScorecardError("a scorecard that an experiment lists is gone",
                             folder(outputs) / f"{gone[0]}.json", "Put it back, or run the experiment again")
    return sorted(found, key=lambda one: (one.card.created, one.stem), reverse=True)


def _environment_links(listed: list[Listed]) -> dict[str, str]:
    """{environment: its comparison page}, that of the latest card first."""
    links: dict[str, str] = {}
    for name in dict.fromkeys(one.card.environment for one in listed):
        link = f"environments/{safe_name(name, 'data')}.html"
        alike = any(link.lower() == other.lower() for other in links.values())
        links[name] = link if not alike else link.replace(".html", f"-{digest_of(name)[:8]}.html")
    return links


def _experiment(stated: dict, listed: list[Listed], home: Path) -> dict:
    """One experiment: its cards, its figures in short, and its notebooks."""
    by_stem = {one.stem: one for one in listed}
    mine = [by_stem[stem] for stem in stated["stems"]]
    cards = [one.card for one in mine]
    measures = headlines([name for name, _ in said_of(cards[0])])
    view, first = next((c.views["query"]["view"] for c in cards if c.views), ""), cards[0]
    labels = dict.fromkeys(label for card in cards for label in card.labels)
    return {
        **stated, "listed": mine, "created": max(card.created for card in cards), "measures": measures,
        "sentences": [(name, text) for name, text in said_of(first) if name in measures],
        "notebooks": _notebooks(home / "notebooks" / stated["name"], stated["name"]),
        "labels": [(label, ", ".join(one.name for one in mine if label in one.card.labels),
                    label_sentence(label)) for label in labels],
        "standing": standing([card.model_dump() for card in cards], [one.name for one in mine]),
        "calibration": list(dict.fromkeys(c.calibration for c in cards if c.calibration)),
        "caption": f"Mode {first.mode}{f' (query view {view})' if view else ''}, protocol {first.protocol}, "
                   f"depth {first.depth}, {first.corpus_size:,} documents, {card_page.sample_of(first)}",
        "rows": _rows(mine, measures)}


def _rows(mine: list[Listed], measures: list[str]) -> list[dict]:
    """The lines of an experiment's table: a card over all queries, and over scope OUT."""
    rows = []
    for one in mine:
        for system, row in main_table([one.card], measures).iterrows():
            rows.append({"system": system, "queries": f"{row['queries']} (n={row['n']})", "card": one.card,
                         "link": _card_link(one),
                         "figures": ["—" if pd.isna(row[m]) else f"{row[m]:.3f}" for m in measures]})
    return rows


def _card_link(one: Listed) -> str:
    return f"scorecards/{one.stem}.html"


def _notebooks(place: Path, experiment: str) -> list[Notebook]:
    """An experiment's executed notebooks, those of an earlier run under its name marked."""
    read = {path: notebook_page.read(path) for path in sorted(place.glob("*.ipynb"))}
    given = {path: notebook_page.parameters(notebook) for path, notebook in read.items()}
    last = next((given[path] for path in read if path.stem == SCORING), {})
    return [Notebook(path, notebook_page.heading(notebook, path),
                     f"experiments/{experiment}/{path.stem}.html", given[path],
                     _differing(given[path], last)) for path, notebook in read.items()]


def _differing(given: dict, last: dict) -> list[str]:
    """The parameters in which two runs differ; none where one of them states none."""
    return sorted(name for name in {**given, **last} if given.get(name) != last.get(name)) if (
        given and last) else []


# --- the pages --------------------------------------------------------------------------------------

def _index(experiments: list[dict], listed: list[Listed], links: dict[str, str]) -> str:
    environments = []
    for name, link in links.items():
        mine = [one for one in listed if one.card.environment == name]
        theirs = [{**e, "pages": [(n.heading, n.link, n.older) for n in e["notebooks"]]}
                  for e in experiments if e["listed"][0].card.environment == name]
        environments.append({"name": name, "link": link, "listed": mine, "facts": _facts(mine),
                             "notes": _notes(mine), "experiments": sorted(
                                 theirs, key=lambda e: (e["created"], e["name"]), reverse=True)})
    return _page("index.html.j2", "index.html", "Prior-art search, measured", _licences(listed),
                 environments=environments, sample_of=card_page.sample_of)


def _licences(listed: list[Listed]) -> list[str]:
    """The data behind cards, each with attribution and licence; under its name if there are two."""
    found = sorted({(one.card.environment, card_page.licence(one.card)) for one in listed})
    several = len({name for name, _ in found}) > 1
    return [f"{name}: {text}" if several else text for name, text in found]


def _facts(mine: list[Listed]) -> list[tuple[str, str]]:
    """What an environment is, by its cards."""
    def every(values, between: str = ", ") -> str:
        return between.join(dict.fromkeys(map(str, values)))

    cards = [one.card for one in mine]
    return [("documents", every(f"{c.corpus_size:,}" for c in cards)),
            ("queries", every(f"{c.queries:,}" for c in cards)),
            ("generation", every(c.generation or "not pinned" for c in cards)),
            ("data", every(map(card_page.licence, cards), " · "))]


def _notes(mine: list[Listed]) -> list[str]:
    return list(dict.fromkeys(one.card.note for one in mine if one.card.note))


def _environment(name: str, link: str, listed: list[Listed], experiments: list[dict]) -> str:
    mine = [one for one in listed if one.card.environment == name]
    tested = [(e["name"], n.link) for e in experiments if e["listed"][0].card.environment == name
              for n in e["notebooks"] if n.path.stem == TESTS]
    return _page("environment.html.j2", link, f"Systems on {name}", _licences(mine), name=name,
                 facts=_facts(mine), notes=_notes(mine), tested=tested,
                 groups=[card_page.group_values(group) for group in card_page.groups(mine)])


def _card(one: Listed, places: dict[str, str], experiments: list[dict], **values) -> str:
    card = one.card
    conditions = [("mode", card.mode), ("protocol", card.protocol), ("depth", card.depth),
                  ("queries", card_page.sample_of(card)), ("documents", f"{card.corpus_size:,}"),
                  ("generation", card.generation or "not pinned"), ("version", card.system["version"])]
    theirs = [(e["name"], next((n.link for n in e["notebooks"]), "index.html")) for e in experiments
              if e["name"] in one.experiments]
    return _page("card.html.j2", f"scorecards/{one.stem}.html", f"{one.name} on {card.environment}",
                 [card_page.licence(card)], one=one, card=card, conditions=conditions, experiments=theirs,
                 comparison=places.get(card.environment),
                 labels=[(label, label_sentence(label)) for label in card.labels],
                 protocols=[card_page.protocol_values(card, p) for p in card_page.protocols_of(card)],
                 sentences_of_protocols=PROTOCOL_SENTENCES, sentences=said_of(card),
                 details=card_page.details(card), **values)


def _notebook(notebook: Notebook, experiment: dict) -> str:
    body = notebook_page.body(notebook_page.read(notebook.path))
    given = [(name, card_page.flat(card_page.private(value)))
             for name, value in sorted(notebook.parameters.items())]
    return _page("notebook.html.j2", notebook.link, f"{notebook.heading} · {experiment['name']}",
                 _licences(experiment["listed"]), heading=notebook.heading, experiment=experiment,
                 older=notebook.older, parameters=given, body=Markup(body),
                 noted='class="kit-note"' in body,
                 contents=notebook_page.parts(body), beside_of=f"Notebooks of {experiment['name']}",
                 beside=[(n.heading, n.link) for n in experiment["notebooks"]])


def _modes(listed: list[Listed], links: dict[str, str]) -> str:
    modes = []
    for name in (*MODES, CUSTOM, UNREGISTERED, UNSTATED):
        mine = [one for one in listed if one.card.mode == name]
        mode = MODES.get(name)
        if mode or mine:
            modes.append({
                "name": name, "count": len(mine), "specified": mode is not None, **_in_words(name),
                "cells": [_counted([one for one in mine if one.card.environment == env]) for env in links]})
    return _page("modes.html.j2", "modes.html", "Modes, and what is pending", modes=modes,
                 environments=list(links.items()))


def _in_words(name: str) -> dict[str, str]:
    """What a mode asks, measures and needs."""
    if name not in MODES:
        return {"sentence": {CUSTOM: "The query view is that of no mode.", UNSTATED: "A run file of "
                             "another system does not say what its queries were.",
                             UNREGISTERED: "A query set that was built and is not frozen and registered: its "
                             "mode stays pending."}[name]}
    mode = MODES[name]
    return {"sentence": f"{mode.sentence[0].upper()}{mode.sentence[1:]}.", "view": mode.query_view,
            "measures": ", ".join(mode.measures),
            "needs": f"What a collection needs for it: {mode.lacks.partition(', which')[0]}."}


def _counted(mine: list[Listed]) -> str:
    quotable = sum(one.card.quotable for one in mine)
    return f"{len(mine)}, of which {quotable} may be quoted" if mine else "none yet"


def _measures() -> str:
    return _page("measures.html.j2", "measures.html", "Measures, protocols, slices and rules",
                 protocols=PROTOCOL_SENTENCES.items(), rules=RULES, slices=SENTENCES.items(),
                 labels=[(name, label_sentence(name)) for name in LABELS],
                 measures=forms().items())


# --- one report alone, see `formats` ----------------------------------------------------------------

def experiment_of(file: Path, outputs: str) -> dict:
    """The experiment of a list of scorecards. Raises what `build` raises."""
    stated = _stated(file)
    return _experiment(stated, _listed(outputs, [stated]), outputs_folder(outputs))


def card_alone(path: Path, card) -> str:
    """A card's page without links to other pages."""
    return _card(Listed(path.stem, card, ()), {}, [], links=[])


def report_page(title: str, labels: list, notes: list[str], attributions: list[str], body: Markup) -> str:
    """A report's page without links to other pages."""
    return _page("report.html.j2", "report.html", title, attributions, links=[], labels=labels, notes=notes,
                 body=body)
