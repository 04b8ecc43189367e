"""Static pages under outputs/site, from the executed notebooks and the scorecards' JSON alone."""

import json
from pathlib import Path

import nbformat
import pandas as pd
from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup
from nbconvert import HTMLExporter

from kit import SUITE_VERSION
from kit.errors import KitError, NotebookError
from kit.evaluation.measures import MEASURES
from kit.files import outputs_folder, write_text
from kit.relevance.slices import SENTENCES
from kit.reporting.card_comparison import standing
from kit.reporting.rules import LABELS, RULES, label_sentence
from kit.reporting.score import experiments_folder, main_table
from kit.reporting.scorecard import (
    Scorecard,
    figure_table,
    figures_of,
    folder,
    remarks,
    said_of,
)
from kit.reporting.verify import require_unchanged

MARK = '<meta name="generator" content="prior-art kit">'  # of a page that may be removed again
HEADLINES = ["nDCG@10", "R@100", "RR", "Success@10"]
PROTOCOL_SENTENCES = {
    "all": "every cited document counts as relevant, whatever its category",
    "xy": "documents of the categories X or Y count: those that a claim stands or falls with",
    "a": "documents of the category A count: the technical background",
}
_PAGES = Environment(loader=FileSystemLoader(Path(__file__).with_name("templates")), autoescape=True,
                     trim_blocks=True, lstrip_blocks=True)


def build(outputs: str) -> Path:
    """Writes all pages anew, removes those of things that are gone, and returns the index. Building
    twice changes nothing. Raises KitError for an outputs folder that is not there."""
    home, site = outputs_folder(outputs), outputs_folder(outputs) / "site"
    if not home.is_dir():
        raise KitError("there is no such outputs folder", home, "Name one that a run has made")
    experiments = [_experiment(file, home, outputs)
                   for file in sorted(experiments_folder(outputs).glob("*.json"))]
    pages = set()
    for experiment in experiments:
        pages |= _write_notebook_pages(experiment, home, site)
        for path, card in experiment["paths"]:
            pages |= _write(site / "scorecards" / f"{path.stem}.html", "card.html.j2", _card_values(card), up="../")
    pages |= _write(site / "measures.html", "measures.html.j2", {
        "title": "Measures", "protocols": PROTOCOL_SENTENCES.items(), "labels": [(name, label_sentence(name)) for name in LABELS], "rules": RULES,
        "slices": SENTENCES.items(),
        "measures": [(name if m.cutoff == "optional" else f"{name}@k",
                      m.sentence.format(k="k", within="")) for name, m in MEASURES.items()]})
    pages |= _write(site / "index.html", "index.html.j2",
           {"title": "Prior-art search, measured", "experiments": experiments})
    _remove_stale(site, pages)
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


def _write(path: Path, template: str, values: dict, up: str = "", footer: str = "",
           beside: list[tuple[str, str]] = ()) -> set[Path]:
    links = [("Experiments", f"{up}index.html"), ("Measures", f"{up}measures.html"), *beside]
    page = _PAGES.get_template(template).render(
        mark=Markup(MARK), links=links, footer=footer or f"Made by the prior-art kit, suite {SUITE_VERSION}.", **values)
    write_text(path, page)
    return {path}


def _experiment(file: Path, home: Path, outputs: str) -> dict:
    """One experiment for the index: its figures and the links to its pages. Raises RuleError for a
    card that is not as the ledger lists it."""
    stated = json.loads(file.read_text(encoding="utf-8"))
    paths = [folder(outputs) / name for name in stated["scorecards"]]
    cards = [require_unchanged(path, outputs) for path in paths]
    measures = headlines([name for name, _ in said_of(cards[0])])
    table = main_table(cards, measures)
    links = {card.system["name"]: f"scorecards/{path.stem}.html" for path, card in zip(paths, cards)}
    notebooks = sorted((home / "notebooks" / stated["experiment"]).glob("*.ipynb"))
    return {
        **stated, "standing": standing([card.model_dump() for card in cards],
                                       [card.system["name"] for card in cards]), "query_view": next((c.views["query"]["view"] for c in cards if c.views), ""),
        "cards": cards, "paths": list(zip(paths, cards)), "measures": measures,
        "notebooks": notebooks,
        "calibration": list(dict.fromkeys(c.calibration for c in cards if c.calibration)),
        "rows": [{"system": system, "queries": f"{row['queries']} (n={row['n']})",
                  "labels": [x for x in row["labels"].split(", ") if x], "link": links[system],
                  "values_": ["—" if pd.isna(row[m]) else f"{row[m]:.3f}" for m in measures]}
                 for system, row in table.iterrows()],
        "pages": [(_heading(nb), f"{stated['experiment']}/{nb.stem}.html") for nb in notebooks],
    }


def headlines(measures: list[str], most: int = 4) -> list[str]:
    """The measures for a short table: the first that is asked for, the usual ones, then the others."""
    usual = [name for name in HEADLINES if name in measures]
    return list(dict.fromkeys([*measures[:1], *usual, *measures]))[:most]


def _heading(notebook: Path) -> str:
    """The notebook's first heading: the name of its page."""
    for cell in nbformat.read(notebook, as_version=4).cells:
        if cell.cell_type == "markdown" and cell.source.startswith("# "):
            return cell.source.splitlines()[0].removeprefix("# ")
    raise NotebookError("the notebook has no heading", notebook, "Begin it with '# Title'")


def _for_readers(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """The notebook without the cells that only its operator needs."""
    notebook.cells = [c for c in notebook.cells if "site-hide" not in c.metadata.get("tags", [])]
    return notebook


def _write_notebook_pages(experiment: dict, home: Path, site: Path) -> set[Path]:
    pages = set()
    beside = [(_heading(nb), f"{nb.stem}.html") for nb in experiment["notebooks"]]
    for notebook in experiment["notebooks"]:
        body, _ = _exporter().from_notebook_node(_for_readers(nbformat.read(notebook, as_version=4)))
        attribution = _attribution(experiment["cards"][0])
        pages |= _write(site / experiment["experiment"] / f"{notebook.stem}.html", "page.html.j2",
               {"title": f"{_heading(notebook)} · {experiment['experiment']}", "body": Markup(body)},
               up="../", footer=attribution, beside=beside)
    return pages


def _exporter() -> HTMLExporter:
    """Notebooks as bare HTML: no code, no prompts, no scripts."""
    return HTMLExporter(template_name="basic", exclude_input=True, exclude_input_prompt=True,
                        exclude_output_prompt=True, exclude_anchor_links=True)


def _attribution(card: Scorecard) -> str:
    licence = f"Data: {card.attribution}; {card.licence}. " if card.attribution else (
        "Data: licence not stated by the collection. ")
    return f"{licence}Made by the prior-art kit, suite {SUITE_VERSION}."


def _card_values(card: Scorecard) -> dict:
    protocols = list(dict.fromkeys(f.protocol for f in card.figures))
    figures = figures_of(card)
    details = {
        "mode": card.mode, "version": card.system["version"], "settings": card.system["settings"],
        "corpus": f"{card.corpus_size} documents, fingerprint {card.fingerprints['corpus']}",
        "queries": card.queries, "depth": card.depth,
        "views": {r: v["view"] for r, v in card.views.items()} if card.views else "the run file's own",
        "generation": card.generation or "not pinned", "fingerprint": card.fingerprints["together"],
        **{k.replace("_", " "): v for k, v in card.counts.items()},
        "run file sha256": card.run_sha256, "ledger": card.ledger, "suite": card.suite_version, "commit": card.git["sha"],
        "made": card.created, "machine": card.machine, "cost": card.cost,
    }
    return {
        "title": f"{card.system['name']} on {card.environment}", "card": card,
        "label_sentences": {label: label_sentence(label) for label in card.labels}, "sentences": said_of(card),
        "details": [(k, _flat(v)) for k, v in details.items()],
        "tables": [(p, Markup(figure_table(figures, p).to_html(border=0)), remarks(figures, p, card.scopes))
                   for p in protocols],
    }


def _flat(value) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{k}: {_flat(v)}" for k, v in value.items())
    if isinstance(value, float):
        return f"{value:.4g}"
    return "none" if value is None or value == "" else str(value)
