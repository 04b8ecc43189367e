"""Other ways out for one report: markdown, one HTML file, PDF, its tables and its pictures.

A report is an experiment with its executed notebooks, one notebook, or one scorecard. All start from
the same HTML, which `notebook_page` has cut down to what can't act.
"""

import base64
import binascii
import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from html import escape
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from markupsafe import Markup

from kit.errors import KitError, ParamsError
from kit.files import (
    digest_of,
    find_path,
    outputs_folder,
    safe_name,
    work_folder,
    write_text,
    written_whole,
)
from kit.reporting import card_comparison, card_page, notebook_page, scorecard, show, site
from kit.reporting.score import experiments_folder, main_table
from kit.reporting.verify import outputs_of, require_unchanged
from kit.visible import visible

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome",
            "microsoft-edge")
QUIET = ("--headless", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
         "--disable-sync", "--disable-extensions", "--disable-javascript", "--no-first-run",
         "--no-pdf-header-footer", "--host-resolver-rules=MAP * ~NOTFOUND")
PATIENCE = 180  # seconds that a browser may print


@dataclass(frozen=True)
class Report:
    """What is published. name: of its files. labels: (label, systems, sentence) of its cards. parts:
    (heading, safe HTML) in their order. cards: {path: card}. pictures: folders with SVG and PNG."""

    name: str
    title: str
    labels: list[tuple[str, str, str]]
    notes: list[str]
    attributions: list[str]
    parts: list[tuple[str, str]]
    cards: dict[Path, scorecard.Scorecard] = field(default_factory=dict)
    pictures: list[Path] = field(default_factory=list)
    outputs: str = "outputs"


def publish(what: str, formats: list[str], out: Path | None = None, outputs: str = "outputs") -> list[Path]:
    """Writes a report in each of the formats and returns the files.

    what: an experiment's name, or the path of an executed notebook or of a scorecard's JSON. out: a
    folder, by default `published` with a folder a report in the outputs. Raises ParamsError for an
    unknown format, KitError for what is no report or has nothing in a format, RuleError for a card
    that is not as the ledger lists it.
    """
    unknown = [name for name in formats if name not in FORMATS]
    if unknown or not formats:
        raise ParamsError(f"unknown format '{''.join(unknown[:1])}'", "--format",
                          f"Give of {', '.join(FORMATS)}")
    if out is not None and out.exists() and not out.is_dir():
        raise ParamsError("this is no folder", out, "Name another with --out")
    report = find_report(what, outputs)
    folder = out or outputs_folder(outputs) / "published" / report.name
    return [path for name in dict.fromkeys(formats) for path in FORMATS[name](report, folder)]


# --- what is published ------------------------------------------------------------------------------

def find_report(what: str, outputs: str = "outputs") -> Report:
    """The report of an experiment's name, an executed notebook or a scorecard's JSON."""
    file = experiments_folder(outputs) / f"{what}.json"
    if Path(what).name == what and file.is_file():
        return _of_experiment(site.experiment_of(file, outputs), outputs)
    path = find_path(what)
    if path.suffix == ".json" and path.is_file():
        return _of_card(path)
    if path.suffix == ".ipynb" and path.is_file():
        return _of_notebook(path, outputs)
    known = ", ".join(sorted(f.stem for f in experiments_folder(outputs).glob("*.json"))) or "none yet"
    raise KitError("there is no such experiment, notebook or scorecard", what,
                   f"The experiments are: {known}")


def _of_experiment(experiment: dict, outputs: str, only: Path | None = None) -> Report:
    """An experiment's report; only: of its notebooks this one alone."""
    notebooks = [n for n in experiment["notebooks"] if only is None or n.path.samefile(only)]
    cards = {scorecard.folder(outputs) / f"{one.stem}.json": one.card for one in experiment["listed"]}
    parts = [] if only else [("The main figures", _summary(list(cards.values()), experiment["measures"]))]
    for n in notebooks:
        older = (f'<p class="kit-note">This part is of an earlier run, with other values of '
                 f'{escape(", ".join(n.older))}.</p>' if n.older else "")
        parts.append((n.heading, older + notebook_page.body(notebook_page.read(n.path))))
    name = safe_name(experiment["name"], "report")
    title = f"Experiment {experiment['name']} on {experiment['environment']}"
    said = [experiment["note"], *experiment["calibration"]]
    said += [] if experiment["labels"] else [experiment["standing"]]
    return Report(
        name if only is None else f"{name}-{safe_name(only.stem, 'notebook')}", title if only is None else
        f"{notebooks[0].heading} · {experiment['name']}", experiment["labels"], [s for s in said if s],
        list(dict.fromkeys(card_page.licence(card) for card in cards.values())),
        parts, cards, [place for n in notebooks if (place := figures_folder(
            outputs, experiment["name"]) / n.path.stem).is_dir()], outputs)


def figures_folder(outputs: str, experiment: str) -> Path:
    """Where the pipeline keeps an experiment's pictures, in a folder a notebook."""
    return outputs_folder(outputs) / "figures" / experiment


def _summary(cards: list, measures: list[str]) -> str:
    table = main_table(cards, measures).reset_index()
    return notebook_page.sanitised(show.table(table, dict.fromkeys(measures, "{:.3f}")).data)


def _of_notebook(path: Path, outputs: str) -> Report:
    """A notebook's report: with the labels of its experiment, if it is of one."""
    home, file = path.resolve().parent, experiments_folder(outputs) / f"{path.resolve().parent.name}.json"
    if home.parent == (outputs_folder(outputs) / "notebooks").resolve() and file.is_file():
        return _of_experiment(site.experiment_of(file, outputs), outputs, path)
    notebook = notebook_page.read(path)
    heading = notebook_page.heading(notebook, path)
    return Report(safe_name(path.stem, "notebook"), heading, [], [
        "This notebook belongs to no experiment of the outputs folder: whether its figures may be quoted "
        "can't be told."], [], [(heading, notebook_page.body(notebook))])


def _of_card(path: Path) -> Report:
    """A scorecard's report."""
    card = require_unchanged(path, outputs_of(path))
    labels = [(label, card.system["name"], site.label_sentence(label)) for label in card.labels]
    notes = [s for s in (card.note, card.calibration) if s]
    return Report(path.stem, f"{card.system['name']} on {card.environment}", labels, notes,
                  [card_page.licence(card)], [], {path: card}, outputs=outputs_of(path))


# --- HTML and PDF -----------------------------------------------------------------------------------

def html(report: Report) -> str:
    """The report as one page that needs no other file."""
    if not report.parts:
        (path, card), = report.cards.items()
        return site.card_alone(path, card)
    return site.report_page(report.title, report.labels, report.notes, report.attributions,
                            Markup(_body(report)))


def _body(report: Report) -> str:
    """The parts below each other: their headings a level down, their places named apart."""
    made = []
    for n, (heading, body) in enumerate(report.parts, 1):
        lower = re.sub(r"<(/?)h([2-5])\b", lambda m: f"<{m[1]}h{int(m[2]) + 1}", body)
        lower = lower.replace('id="part-', f'id="part-{n}')
        lower = lower.replace('aria-label="Table ', f'aria-label="Table {n}.')
        made.append(f"<section><h2>{escape(visible(heading))}</h2>{lower}</section>")
    return "\n".join(made)


def _write_html(report: Report, folder: Path) -> list[Path]:
    path = folder / f"{report.name}.html"
    write_text(path, html(report))
    return [path]


def _write_pdf(report: Report, folder: Path) -> list[Path]:
    path = folder / f"{report.name}.pdf"
    print_pdf(html(report), path)
    return [path]


def print_pdf(page: str, path: Path) -> None:
    """Prints a page with an installed Chromium, which runs no script and reaches no network. Raises
    KitError where there is none, or where it fails."""
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        raise KitError("a PDF is printed by Chromium, and none is installed", ", ".join(BROWSERS[:3]),
                       "Install one, or use --format html and print it from your browser")
    root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []  # which refuses else
    with work_folder() as home:
        source, made = home / "report.html", home / "report.pdf"
        source.write_text(page, encoding="utf-8")
        command = [browser, *QUIET, *root, f"--user-data-dir={home}/profile", f"--print-to-pdf={made}",
                   source.as_uri()]
        try:
            done = subprocess.run(command, capture_output=True, timeout=PATIENCE, start_new_session=True)
        except (subprocess.TimeoutExpired, OSError) as error:
            raise KitError(f"Chromium printed no PDF: {type(error).__name__}", browser,
                           "Use --format html and print it from your browser") from error
        if done.returncode or not made.is_file() or not made.read_bytes().startswith(b"%PDF"):
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or ["it said nothing"]
            raise KitError(f"Chromium printed no PDF: {said[0]}", browser,
                           "Use --format html and print it from your browser")
        with written_whole(path) as part:
            shutil.copyfile(made, part)


# --- markdown ---------------------------------------------------------------------------------------

_SIGNS = re.compile(r"[\\`*{}\[\]#|~!$]|(?<!\w)_|_(?!\w)")
_LINE_START = re.compile(r"^\d{1,9}(?=[.)](?:\s|$))|^(?=[-+](?:\s|$)|[-=]+$)")  # a list, a rule


def literal(text: str) -> str:
    """A text on one line of markdown that reads as it stands: no markup, link, picture or formula."""
    line = " ".join(visible(text).split())
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    line = _SIGNS.sub(lambda m: f"\\{m[0]}", line)
    return _LINE_START.sub(lambda m: f"{m[0]}\\", line)


def _write_markdown(report: Report, folder: Path) -> list[Path]:
    path = folder / f"{report.name}.md"
    if not report.parts:
        (_, card), = report.cards.items()
        write_text(path, scorecard.markdown(card))
        return [path]
    reader = _Markdown(f"{report.name}-pictures")
    reader.feed(_body(report))
    reader.close()
    for name, picture in reader.pictures.items():
        with written_whole(folder / name) as part:
            part.write_bytes(picture)
    lines = [f"# {literal(report.title)}", ""]
    if report.labels:
        lines += ["**Not to be quoted.**", "",
                  *(f"- **{literal(label)}**, {literal(systems)}: {literal(sentence)}"
                    for label, systems, sentence in report.labels), ""]
    lines += [line for note in report.notes for line in (f"> {literal(note)}", "")]
    lines += [*reader.blocks, "---", "", *(f"Data: {literal(text)}.  " for text in report.attributions),
              f"Made by the prior-art kit, suite {site.SUITE_VERSION}.", ""]
    write_text(path, "\n".join(lines))
    return [path, *(folder / name for name in reader.pictures)]


class _Markdown(HTMLParser):
    """Safe HTML as markdown. blocks: its lines; pictures: {file name: bytes} beside it."""

    def __init__(self, folder: str):
        super().__init__(convert_charrefs=True)
        self.folder, self.blocks, self.pictures = folder, [], {}
        self._text, self._rows, self._headed, self._verbatim = "", None, False, False

    def handle_starttag(self, tag: str, attributes: list) -> None:
        """Begins what the tag stands for."""
        if tag in ("tr", "td", "th") and self._rows is not None:
            if tag == "tr":
                self._rows.append([])
            self._text = ""
        elif tag == "table":
            self._end()
            self._rows, self._headed = [], False
        elif tag == "thead":
            self._headed = True
        elif tag == "img":
            self._end()
            self._picture(dict(attributes))
        elif tag == "br":
            self._text += " "
        elif tag in _BLOCKS:
            self._end()
            self._verbatim = tag == "pre"

    def handle_endtag(self, tag: str) -> None:
        """Writes what the tag has ended."""
        if tag in ("td", "th") and self._rows:
            self._rows[-1].append(self._text)
            self._text = ""
        elif tag == "table" and self._rows is not None:
            rows, self._rows = self._rows, None
            self._table([row for row in rows if row])
        elif tag in _BLOCKS:
            self._end(_BLOCKS[tag])

    def handle_data(self, data: str) -> None:
        """Keeps a text until its block ends."""
        self._text += data

    def close(self) -> None:
        """Writes the last block."""
        super().close()
        self._end()

    def _end(self, before: str = "") -> None:
        text, self._text = self._text, ""
        if not text.strip():
            return
        if self._verbatim:
            self.blocks += [*(f"    {visible(line)}" for line in text.strip("\n").splitlines()), ""]
        else:
            self.blocks += [before + literal(text), *([] if before == "- " else [""])]
        self._verbatim = False

    def _table(self, rows: list[list[str]]) -> None:
        if not rows:
            return
        if self.blocks and self.blocks[-1]:
            self.blocks.append("")
        wide = max(map(len, rows))
        lines = [[*(literal(cell) for cell in row), *[""] * (wide - len(row))] for row in rows]
        head, *rest = lines if self._headed else [[""] * wide, *lines]
        self.blocks += ["| " + " | ".join(line) + " |" for line in (head, ["---"] * wide, *rest)] + [""]

    def _picture(self, attributes: dict) -> None:
        alt, source = attributes.get("alt") or "", attributes.get("src") or ""
        try:
            picture = base64.b64decode(source.partition("base64,")[2])
        except (binascii.Error, ValueError):
            return
        name = f"{self.folder}/{safe_name(alt, 'picture')[:60]}-{digest_of(alt)[:6]}.png"
        if picture:
            self.pictures[name] = picture
            self.blocks += [f"![{literal(alt)}]({name})", ""]


_BLOCKS = {**dict.fromkeys(("p", "div", "pre", "summary", "details", "caption", "ul", "ol", "section",
                            "blockquote"), ""), "li": "- ", **{f"h{n}": "#" * n + " " for n in range(1, 7)}}


# --- tables -----------------------------------------------------------------------------------------

def tables(report: Report) -> dict[str, pd.DataFrame]:
    """{name: frame}: the cards' figures with all their columns, those in short, and the comparison of
    two cards and more. Each row bears the labels of its card. Raises KitError for a report without a
    card."""
    if not report.cards:
        raise KitError("the notebook belongs to no experiment, so it has no scorecards", report.name,
                       "Name an experiment or a scorecard")
    cards = list(report.cards.values())
    measures = card_page.headlines([name for name, _ in scorecard.said_of(cards[0])])
    found = {"figures": pd.concat([_figures(card) for card in cards], ignore_index=True),
             "summary": main_table(cards, measures).reset_index()}
    if len(cards) > 1:
        compared = card_comparison.compare(list(report.cards), outputs=report.outputs)
        labels = {name: ", ".join(card.labels) for name, card in compared.names.items()}
        found |= {f"differences-{scope.replace(' ', '-')}": frame for scope, frame in compared.pairs.items()}
        found |= {"differences-by-slice": compared.slices, "published-values": compared.published}
        found = {name: frame.assign(labels=frame["system"].map(labels)) if name.startswith("differences")
                 else frame for name, frame in found.items() if len(frame)}
    return found


def _figures(card: scorecard.Scorecard) -> pd.DataFrame:
    """A card's figures, with what tells it from others before them and its labels behind."""
    frame = scorecard.figures_of(card)
    told = {"environment": card.environment, "generation": card.generation, "system": card.system["name"],
            "version": card.system["version"], "mode": card.mode, "depth": card.depth}
    for place, (name, value) in enumerate(told.items()):
        frame.insert(place, name, value)
    return frame.assign(labels=", ".join(card.labels), created=card.created)


def csv(frame: pd.DataFrame) -> str:
    """The frame as CSV. A text that a spreadsheet would take for a formula, for it begins with
    = + - @ or a tab, gets an apostrophe in front; numbers stay numbers."""
    safe = frame.astype(object).map(_no_formula).rename(columns=_no_formula)
    return safe.to_csv(index=False, lineterminator="\n")


def _no_formula(value):
    if not isinstance(value, str):
        return value
    text = visible(value)
    return f"'{text}" if text.lstrip(" \n").startswith(_FORMULA_SIGNS) else text


_FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # also the wide ones


_LATEX = str.maketrans({"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
                        "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
                        '"': r"\textquotedbl{}",
                        **{sign: f"\\{sign}" for sign in "&%$#_{}"}})


def latex_text(value) -> str:
    """A value as LaTeX that prints it as it stands: no command, no formula, no end of the line."""
    if value is None or value is pd.NA or value != value:
        return "---"
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return " ".join(visible(text).split()).translate(_LATEX)


def latex(frame: pd.DataFrame, title: str) -> str:
    """The frame as a longtable, which the package of that name breaks over pages."""
    kinds = "".join("r" if pd.api.types.is_numeric_dtype(kind) else "l" for kind in frame.dtypes)
    lines = [" & ".join(map(latex_text, row)) + r" \\" for row in frame.astype(object).to_numpy().tolist()]
    return "\n".join([
        "% needs \\usepackage{longtable} and UTF-8", f"\\begin{{longtable}}{{{kinds}}}",
        f"\\caption{{{latex_text(title)}}} \\\\", r"\hline",
        " & ".join(map(latex_text, frame.columns)) + r" \\", r"\hline", r"\endhead", *lines,
        r"\hline", r"\end{longtable}", ""])


def _write_tables(report: Report, folder: Path, kind: str) -> list[Path]:
    files = []
    forbidden = ", ".join(dict.fromkeys(label for label, _, _ in report.labels))
    for name, frame in tables(report).items():
        path = folder / f"{report.name}-{name}.{ENDINGS[kind]}"
        if kind == "parquet":
            with written_whole(path) as part:
                pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), part)
        else:
            title = f"{report.title}: {name.replace('-', ' ')}"
            title += f" ({forbidden}: not to be quoted)" if forbidden else ""
            write_text(path, csv(frame) if kind == "csv" else latex(frame, title))
        files.append(path)
    return files


# --- pictures ---------------------------------------------------------------------------------------

def _write_pictures(report: Report, folder: Path) -> list[Path]:
    """Copies the pictures that the pipeline kept, in a folder a notebook."""
    files = [(place.name, path) for place in report.pictures for path in sorted(place.glob("*.svg"))]
    if not files:
        raise KitError("no picture was kept as SVG for this report", report.name,
                       "Run the experiment again with 'python -m kit run', which keeps them")
    made = []
    for place, path in files:
        for source in (path, path.with_suffix(".png")):
            target = folder / f"{report.name}-figures" / place / source.name
            with written_whole(target) as part:
                shutil.copyfile(source, part)
            made.append(target)
    return made


ENDINGS = {"csv": "csv", "latex": "tex", "parquet": "parquet"}
FORMATS = {"markdown": _write_markdown, "html": _write_html, "pdf": _write_pdf, "svg": _write_pictures,
           **{kind: lambda report, folder, kind=kind: _write_tables(report, folder, kind)
              for kind in ENDINGS}}
