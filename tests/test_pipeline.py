"""The pipeline end to end: parameters through every notebook to a site."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from kit.errors import KitError, NotebookError
from kit.params import make_params
from kit.pipeline import NOTEBOOKS, check_experiment, require_runnable, run
from kit.reporting.score import cards_of

ROOT = Path(__file__).resolve().parents[1]
PAYLOAD = "<script>alert('title')</script><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory, make_collection):
    """A user's own collection, with a title that is an attack on the page."""
    queries = [{"query_id": f"q{i}", "title": f"{PAYLOAD} valve {i}"} for i in range(3)]
    corpus = ["q0", *({"doc_id": f"d{i}", "title": f"{PAYLOAD} seat {i}"} for i in range(6))]
    qrels = [("q0", "d0"), ("q0", "d1", "A"), ("q1", "d2"), ("q2", "d3", "overlap")]
    return make_collection(tmp_path_factory.mktemp("own"), queries, corpus, qrels)


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    return tmp_path_factory.mktemp("outputs")


@pytest.fixture(scope="module")
def params(folder, outputs, tmp_path_factory):
    """BM25, a run file and their fusion on that collection, in an outputs folder of their own."""
    trec = tmp_path_factory.mktemp("run") / "mine.trec"
    trec.write_text("q0 Q0 d1 1 2.5 me\nq0 Q0 q0 2 2 me\nq2 Q0 d3 1 0.5 me\n")
    return make_params({
        "experiment": "own", "collection": str(folder), "systems": ["bm25", "fusion"], "depth": 10,
        "run_files": {"mine": str(trec)}, "outputs": str(outputs),
        "measures": ["nDCG@10", "R@10", "RR", "GoldCoverage@10"]})


@pytest.fixture(scope="module")
def page(params):
    return run(params)


def runs_and_figures(outputs: Path) -> dict[str, bytes]:
    """Every run's bytes, and every card's figures, by file."""
    runs = {str(f.relative_to(outputs)): f.read_bytes() for f in outputs.glob("runs/*/*/run.parquet")}
    cards = {f.name.split("_", 1)[1]: json.dumps(json.loads(f.read_text())["figures"]).encode()
             for f in outputs.glob("reports/scorecards/*.json")}
    return runs | cards


def test_leaves_the_notebooks_the_runs_their_scorecards_and_the_site(page, outputs):
    assert sorted(f.stem for f in (outputs / "notebooks/own").iterdir()) == sorted(NOTEBOOKS)
    assert len(list(outputs.glob("runs/*/*/run.parquet"))) == 3
    assert len(list(outputs.glob("reports/scorecards/*.json"))) == 3
    assert page == outputs / "site/index.html" and page.exists()


def test_leaves_no_temporary_file(page, outputs):
    assert not [f for f in outputs.rglob("*") if f.name.startswith(".") or f.suffix == ".part"]


def test_the_executed_notebooks_carry_no_error_and_no_stderr(page, outputs):
    for file in (outputs / "notebooks/own").iterdir():
        for cell in nbformat.read(file, 4).cells:
            for output in cell.get("outputs", []):
                assert output.output_type != "error" and output.get("name") != "stderr", file.name


def test_the_run_file_counts_own_entries_and_missing_queries(page, params):
    mine = next(c for c in cards_of(params) if c.system["name"] == "mine")
    assert mine.counts["own_entries_excluded"] == 1
    figure = next(f for f in mine.figures if (f.slice, f.measure) == ("all", "R@10"))
    assert (figure.n, figure.mean) == (3, pytest.approx((0.5 + 0 + 1) / 3))


def test_twice_gives_the_same_bytes_in_fresh_outputs(page, params, outputs, tmp_path):
    run(params.model_copy(update={"outputs": str(tmp_path)}))
    assert runs_and_figures(tmp_path) == runs_and_figures(outputs)


def test_again_in_the_same_outputs_writes_no_second_scorecard(page, params, outputs):
    before = sorted(outputs.glob("reports/scorecards/*"))
    run(params)
    assert sorted(outputs.glob("reports/scorecards/*")) == before


def pages(outputs: Path) -> list[Path]:
    return sorted((outputs / "site").rglob("*.html"))


def test_pages_show_no_code(page, outputs):
    for file in pages(outputs):
        assert "open_collection(" not in file.read_text(), file


def test_pages_load_nothing_from_elsewhere(page, outputs):
    for file in pages(outputs):
        text = file.read_text()
        assert not re.search(r"""(?:src|href)\s*=\s*["']?(?:https?:)?//""", text), file
        assert not re.search(r"<(?:script|link|iframe|object|embed)\b", text), file
        assert "@import" not in text and "url(" not in text, file


def test_collection_text_is_escaped(page, outputs):
    shown = [f for f in pages(outputs) if "alert(" in f.read_text()]
    assert shown, "the payload is shown on no page, so this test would prove nothing"
    for file in shown:
        assert not re.search(r"<img src=x|<script>alert", file.read_text()), file


def test_links_between_pages_lead_somewhere(page, outputs):
    for file in pages(outputs):
        for link in re.findall(r'<a href="([^"#]+)"', file.read_text()):
            assert (file.parent / link).exists(), f"{file}: {link}"


def test_every_picture_has_words_for_those_who_cannot_see_it(page, outputs):
    pictures = [p for f in pages(outputs) for p in re.findall(r"<img[^>]*>", f.read_text())]
    assert pictures
    for picture in pictures:
        assert re.search(r'alt="[^"]{20,}"', picture) and "No description" not in picture


def test_building_the_site_twice_changes_nothing(page, params, outputs):
    from kit.reporting import site
    before = {f: f.read_bytes() for f in pages(outputs)}
    site.build(params.outputs)
    assert {f: f.read_bytes() for f in pages(outputs)} == before


@pytest.mark.parametrize("change", [
    {"systems": ["bm52"]},
    {"collection": "no/such/folder/here"},
    {"query_view": "tacdx"},
    {"corpus_view": "ai_ab"},
    {"measures": ["nDCG@100"]},
    {"measures": ["bpref"]},
    {"embedding_model": "no-such-model", "systems": ["embedding"]},
    {"run_files": {"mine": "no-such-file.trec"}},
    {"run_files": {"bm25": "README.md"}},
    {"run_files": {"x" * 200: "README.md"}},
], ids=lambda c: "-".join(c))
def test_what_can_be_known_to_be_wrong_is_found_before_anything_is_written(params, change, tmp_path):
    wrong = make_params({**params.model_dump(), **change, "outputs": str(tmp_path)})
    with pytest.raises(KitError) as error:
        run(wrong)
    assert "\n" not in str(error.value)
    assert not list(tmp_path.iterdir())


def test_a_protocol_that_the_labels_cannot_give_is_refused_with_the_reason(
        tmp_path, make_collection, params):
    bare = make_collection(tmp_path, qrels=[("q1", "d1", None)])
    with pytest.raises(KitError, match="every category is null"):
        check_experiment(make_params({**params.model_dump(), "collection": str(bare), "protocol": "xy"}))


def damaged(tmp_path: Path, change) -> Path:
    notebook = nbformat.read(ROOT / "notebooks/40_score.ipynb", 4)
    change(notebook)
    path = tmp_path / "40_score.ipynb"
    nbformat.write(notebook, path)
    return path


def test_a_notebook_without_its_tag_is_refused(tmp_path):
    def untag(notebook):
        for cell in notebook.cells:
            cell.metadata.pop("tags", None)
    with pytest.raises(NotebookError, match="no cell carries the tag 'parameters'"):
        require_runnable(damaged(tmp_path, untag))


def test_a_notebook_with_another_kernel_is_refused(tmp_path):
    def rename(notebook):
        notebook.metadata.kernelspec.name = "my-env"
    with pytest.raises(NotebookError, match="kernel 'my-env'"):
        require_runnable(damaged(tmp_path, rename))


def test_a_notebook_that_fails_leaves_what_stood_before(page, params, outputs, monkeypatch, tmp_path):
    def fail(notebook):
        notebook.cells[-1].source = "raise ValueError('broken on purpose')"
    path = damaged(tmp_path, fail)
    before = (outputs / "notebooks/own/40_score.ipynb").read_bytes()
    monkeypatch.setattr("kit.pipeline.ROOT", tmp_path)
    monkeypatch.setattr("kit.pipeline.NOTEBOOKS", ("40_score",))
    (tmp_path / "notebooks").mkdir()
    path.rename(tmp_path / "notebooks/40_score.ipynb")
    with pytest.raises(NotebookError, match="40_score failed: ValueError: broken on purpose"):
        run(params)
    assert (outputs / "notebooks/own/40_score.ipynb").read_bytes() == before


def test_a_kernel_that_dies_is_one_line(page, params, monkeypatch, tmp_path):
    def die(notebook):
        notebook.cells[-1].source = "import os; os.kill(os.getpid(), 9)"
    path = damaged(tmp_path, die)
    (tmp_path / "notebooks").mkdir()
    path.rename(tmp_path / "notebooks/40_score.ipynb")
    monkeypatch.setattr("kit.pipeline.ROOT", tmp_path)
    monkeypatch.setattr("kit.pipeline.NOTEBOOKS", ("40_score",))
    with pytest.raises(NotebookError, match="kernel of 40_score died") as error:
        run(params)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("text", ["[]", "null", "{}", "not json", "",
                                  '{"cells": null, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'])
def test_what_is_no_notebook_is_one_line(tmp_path, text):
    path = tmp_path / "30_retrieve.ipynb"
    path.write_text(text)
    with pytest.raises(NotebookError, match="can't be read"):
        require_runnable(path)


def test_an_outputs_folder_that_is_a_file_is_found_at_once(params, tmp_path):
    place = tmp_path / "file"
    place.write_text("")
    with pytest.raises(KitError, match="outputs folder can't be used: .* is a file"):
        check_experiment(params.model_copy(update={"outputs": str(place / "deeper")}))


@pytest.mark.parametrize("place", ["", "notebooks"])
def test_plain_papermill_runs_a_notebook_from_the_root_and_from_its_folder(place, tmp_path):
    up = "" if not place else "../"
    command = [sys.executable, "-m", "papermill", f"{up}notebooks/20_audit.ipynb",
               str(tmp_path / "out.ipynb"), "-f", f"{up}params/mini.yaml", "--no-progress-bar"]
    done = subprocess.run(command, cwd=ROOT / place, env=os.environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Passed unknown parameter" not in done.stderr


def test_plain_papermill_with_a_misspelt_parameter_stops(tmp_path):
    command = [sys.executable, "-m", "papermill", "notebooks/20_audit.ipynb",
               str(tmp_path / "out.ipynb"), "-p", "colection", "mini", "--no-progress-bar"]
    done = subprocess.run(command, cwd=ROOT, env=os.environ, capture_output=True, text=True)
    assert done.returncode != 0 and "unknown parameter 'colection'" in done.stderr
