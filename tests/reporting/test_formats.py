"""One report in other formats: what a reader gets, and what nothing in it may do."""

import base64
import re
import shutil
import stat

import nbformat
import pandas as pd
import pyarrow.parquet as pq
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from kit.cli import main
from kit.errors import KitError
from kit.params import Params
from kit.reporting import formats, plots, score, show

ALT = "Recall by depth, a line a system"


@pytest.fixture
def outputs(bench, monkeypatch):
    """The bench's outputs with an experiment of three cards and an executed notebook with a table, a
    picture and a script of its own, and the picture that the pipeline keeps."""
    collection, params = bench.open(), bench.params(experiment="first", sample=3)
    runs = [bench.run(system, sample=3) for system in ("bm25", "mine", "public")]
    score.write_scorecards(collection, runs, score.figures_of_runs(collection, runs, params), params)
    shown = []
    monkeypatch.setattr(show, "display", lambda data, **more: shown.append((data, more)))
    monkeypatch.setenv(show.FIGURES, str(formats.figures_folder(str(bench.outputs), "first") / "40_score"))
    show.picture(plots.curves({"bm25": pd.Series([0.1, 0.2])}, "The finding", "k", "share"), ALT)
    (data, more), = shown
    image = {**data, "image/png": base64.b64encode(data["image/png"]).decode()}
    table = show.table(pd.DataFrame({"system": ["bm25 | x", "*mine*"], "RR": [0.5, 0.25]})).data
    notebook = new_notebook(cells=[
        new_markdown_cell("# Scores\n\nHow well."), new_markdown_cell("## Part\n\nWhat it says."),
        new_code_cell("1", outputs=[
            new_output("display_data", image, metadata=more["metadata"]),
            new_output("display_data", {"text/html": f"{table}<script>alert(1)</script>"}),
            new_output("stream", text="1. said\n")])])
    place = bench.outputs / "notebooks/first"
    place.mkdir(parents=True)
    nbformat.write(notebook, place / "40_score.ipynb")
    return bench.outputs


def published(outputs, form, what="first"):
    return formats.publish(what, [form], outputs=str(outputs))


def test_markdown_has_the_words_the_table_and_the_picture_as_a_file(outputs):
    sheet, picture = published(outputs, "markdown")
    text = sheet.read_text()
    assert text.startswith("# Experiment first on tiny\n\n**Not to be quoted.**")
    assert "## Scores" in text and "### Part" in text and "\\> " not in text
    assert "| system | RR |\n| --- | --- |\n| bm25 \\| x | 0.5 |\n| \\*mine\\* | 0.25 |" in text
    assert f"![{ALT}]({picture.relative_to(sheet.parent)})" in text
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "alert(" not in text


def test_html_is_one_file_that_loads_nothing_and_runs_nothing(outputs):
    page, = published(outputs, "html")
    text = page.read_text()
    assert "The figures and pictures of this report are not to be quoted" in text
    assert f'alt="{ALT}"' in text and "data:image/png;base64," in text
    assert not re.search(r"<(?:script|link|iframe|object|embed)\b|\bhref=\"(?!#)|src=\"(?!data:image/png)", text)
    assert len(set(re.findall(r'id="([^"]+)"', text))) == len(re.findall(r'id="([^"]+)"', text))


def test_a_scorecard_alone_has_no_links_to_other_pages(outputs):
    card = next((outputs / "reports/scorecards").glob("*bm25*.json"))
    page, = published(outputs, "html", str(card))
    assert not re.search(r'href="(?!#)', page.read_text())
    sheet, = published(outputs, "markdown", str(card))
    assert sheet.read_text() == card.with_suffix(".md").read_text()


def test_one_notebook_of_an_experiment_bears_its_labels(outputs):
    sheet, _ = published(outputs, "markdown", str(outputs / "notebooks/first/40_score.ipynb"))
    assert "**SAMPLE**" in sheet.read_text() and "The main figures" not in sheet.read_text()


def test_a_notebook_from_elsewhere_says_that_nothing_is_known(outputs, tmp_path):
    other = shutil.copy(outputs / "notebooks/first/40_score.ipynb", tmp_path / "x.ipynb")
    sheet, _ = published(outputs, "markdown", str(other))
    assert "whether its figures may be quoted can't be told" in sheet.read_text()
    with pytest.raises(KitError, match="no scorecards"):
        published(outputs, "csv", str(other))


def test_tables_hold_every_figure_and_the_labels(outputs):
    figures, *others = published(outputs, "parquet")
    frame = pq.read_table(figures).to_pandas()
    card = score.cards_of(Params(outputs=str(outputs), experiment="first"))[0]
    assert len(frame) == 3 * len(card.figures) and set(frame["labels"]) == {"SAMPLE"}
    mine = frame[frame["system"] == card.system["name"]].reset_index(drop=True)
    assert list(mine["mean"].dropna()) == [f.mean for f in card.figures if f.mean is not None]
    names = {path.stem.removeprefix("first-") for path in others}
    assert {"summary", "differences-all", "differences-by-slice"} <= names


def test_csv_and_latex_hold_the_same_rows(outputs):
    rows = {path.stem: len(pq.read_table(path)) for path in published(outputs, "parquet")}
    assert {p.stem: len(pd.read_csv(p)) for p in published(outputs, "csv")} == rows
    for path in published(outputs, "latex"):
        text = path.read_text()
        assert text.count(r" \\") - 2 == rows[path.stem] and "SAMPLE: not to be quoted" in text


def test_pictures_come_as_svg_and_png(outputs):
    svg, png = published(outputs, "svg")
    assert b"<svg" in svg.read_bytes() and png.read_bytes().startswith(b"\x89PNG")
    shutil.rmtree(outputs / "figures")
    with pytest.raises(KitError, match="kit run"):
        published(outputs, "svg")


def test_publishing_twice_changes_no_byte(outputs):
    for form in ("markdown", "html", "csv", "latex", "parquet", "svg"):
        before = [path.read_bytes() for path in published(outputs, form)]
        assert [path.read_bytes() for path in published(outputs, form)] == before, form


# --- PDF --------------------------------------------------------------------------------------------

def test_without_a_browser_the_error_says_so(outputs, monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(KitError, match="printed by Chromium, and none is installed"):
        published(outputs, "pdf")


def test_a_browser_that_fails_leaves_no_file(outputs, monkeypatch, tmp_path):
    browser = tmp_path / "chromium"
    browser.write_text("#!/bin/sh\necho broken >&2\nexit 3\n")
    browser.chmod(browser.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(formats.shutil, "which", lambda name: str(browser))
    with pytest.raises(KitError, match="printed no PDF: broken"):
        published(outputs, "pdf")
    assert not list((outputs / "published").rglob("*.pdf"))


def test_a_browser_prints_the_report(outputs):
    if not any(map(shutil.which, formats.BROWSERS)):
        pytest.skip("no Chromium is installed, so no PDF is printed")
    path, = published(outputs, "pdf")
    assert path.read_bytes().startswith(b"%PDF") and path.stat().st_size > 10_000


# --- the command ------------------------------------------------------------------------------------

@pytest.mark.parametrize("given, said", [
    (["nothing", "--format", "html"], "no such experiment, notebook or scorecard (nothing). The experiments are: first"),
    (["../first", "--format", "html"], "no such experiment"),
    (["first", "--format", "docx"], "unknown format 'docx'"),
    (["first"], "needs both"), (["--format", "html"], "needs both")])
def test_what_can_not_be_published_is_one_line(outputs, capsys, given, said):
    assert main(["publish", *given, "--outputs", str(outputs)]) == 1
    assert said in capsys.readouterr().err


def test_a_file_is_no_folder_to_publish_to(outputs, capsys, tmp_path):
    (tmp_path / "x").write_text("mine")
    assert main(["publish", "first", "--format", "html", "--out", str(tmp_path / "x"), "--outputs",
                 str(outputs)]) == 1
    assert "this is no folder" in capsys.readouterr().err


def test_the_command_prints_the_files(outputs, capsys, tmp_path):
    assert main(["publish", "first", "--format", "html, csv", "--out", str(tmp_path / "x"), "--outputs",
                 str(outputs)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == str(tmp_path / "x/first.html") and lines[1].endswith("first-figures.csv")
