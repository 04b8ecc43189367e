"""The site: pages from scorecards and executed notebooks alone, the same bytes each time."""

import dataclasses
import html
import json
import re
from itertools import combinations
from pathlib import Path
from urllib.parse import unquote

import nbformat
import pytest
from nbformat.v4 import new_markdown_cell, new_notebook

from kit.cli import main
from kit.errors import NotebookError, RuleError, ScorecardError
from kit.params import make_params
from kit.reporting import rules, score, site
from kit.reporting.modes import MODES
from kit.reporting.scorecard import said_of


@pytest.fixture
def outputs(bench):
    """The bench's outputs with an experiment of two cards and its index page."""
    experiment(bench, "mine", "bm25")
    return bench.outputs


def experiment(bench, *systems, name="first"):
    """Cards of the systems, and their list under the experiment's name."""
    collection, params = bench.open(), bench.params(experiment=name)
    runs = [bench.run(system) for system in systems]
    score.write_scorecards(collection, runs, score.figures_of_runs(collection, runs, params), params)


def files(outputs) -> dict:
    return {p: p.read_bytes() for p in (outputs / "site").rglob("*") if p.is_file()}


def test_publish_writes_the_site_and_prints_its_place(outputs, capsys):
    assert main(["publish", "--outputs", str(outputs)]) == 0
    assert capsys.readouterr().out == f"Report: {outputs / 'site/index.html'}\n"
    assert (outputs / "site/index.html").is_file()


def test_publish_again_changes_no_byte(outputs):
    site.build(str(outputs))
    before = files(outputs)
    site.build(str(outputs))
    assert files(outputs) == before and len(before) > 3


def test_publish_without_such_a_folder_is_one_line(capsys, tmp_path):
    assert main(["publish", "--outputs", str(tmp_path / "none")]) == 1
    assert "no such outputs folder" in capsys.readouterr().err
    assert not (tmp_path / "none").exists()


def test_publish_of_a_folder_without_a_scorecard_writes_nothing(capsys, tmp_path):
    assert main(["publish", "--outputs", str(tmp_path)]) == 1
    assert "nothing to publish" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_the_index_says_what_its_columns_mean(outputs):
    page = html.unescape(text(site.build(str(outputs))))
    for measure, sentence in said_of(score.cards_of(make_params({"experiment": "first",
                                                                 "outputs": str(outputs)}))[0])[:1]:
        assert f"<b>{measure}</b>: {sentence}" in page


def test_the_comparison_leads_to_the_tests_of_the_experiments(bench):
    experiment(bench, "mine", "bm25")
    notebook = new_notebook(cells=[new_markdown_cell("# Systems side by side")])
    place = bench.outputs / "notebooks/first/50_compare.ipynb"
    place.parent.mkdir(parents=True)
    nbformat.write(notebook, place)
    page = next((built(bench) / "environments").glob("*.html"))
    assert 'href="../experiments/first/50_compare.html"' in text(page)


def test_pages_of_what_is_gone_are_removed_and_those_of_others_stay(outputs):
    site.build(str(outputs))
    stale = outputs / "site/scorecards/old.html"
    stale.write_bytes((outputs / "site/measures.html").read_bytes())
    foreign = [outputs / "site/mine.html", outputs / "site/scorecards/notes.txt"]
    for path in foreign:
        path.write_text("<p>my own</p>")
    site.build(str(outputs))
    assert not stale.exists() and all(path.exists() for path in foreign)


# --- what is on which page --------------------------------------------------------------------------

def text(path) -> str:
    return path.read_text(encoding="utf-8")


def built(bench) -> Path:
    return site.build(str(bench.outputs)).parent


def test_every_card_has_a_page_also_one_of_no_experiment(bench):
    paths = [bench.card("mine"), bench.card("bm25")]
    home = built(bench)
    assert {p.stem for p in (home / "scorecards").iterdir()} == {p.stem for p in paths}
    for path in paths:
        assert f'href="scorecards/{path.stem}.html"' in text(home / "index.html")


def test_the_latest_card_stands_first(bench):
    first, second = bench.card("mine"), bench.card("bm25")
    index = text(built(bench) / "index.html")
    assert index.index(second.stem) < index.index(first.stem)


def test_links_lead_to_pages_and_places_that_are_there(outputs):
    home = site.build(str(outputs)).parent
    for page in home.rglob("*.html"):
        for link in re.findall(r'href="([^"]+)"', text(page)):
            path, _, place = unquote(link).partition("#")
            target = page.parent / path if path else page
            assert target.is_file() and (not place or f'id="{place}"' in text(target)), (page, link)


def parts_of(page: str) -> list[str]:
    """The texts of the parts of a comparison page, a set of conditions each."""
    return re.findall(r"<section.*?</section>", page, re.DOTALL)


def test_cards_stand_side_by_side_only_under_the_same_conditions(bench):
    """Rule 2, brute force: two cards share a part exactly if the rule finds no difference."""
    made = [bench.card("mine"), bench.card("bm25"), bench.card("mine", depth=4),
            bench.card("mine", sample=2), bench.card("bm25", query_view="ta"),
            bench.card("mine", protocol="xy"), bench.card("file")]
    parts = parts_of(text(built(bench) / "environments/tiny.html"))
    cards = {path.stem: bench.read(path).model_dump() for path in made}
    for a, b in combinations(cards, 2):
        together = any(f"{a}.html" in part and f"{b}.html" in part for part in parts)
        assert together == (rules.differing([cards[a], cards[b]]) == []), (a, b)
    for part in parts:
        held = [card for stem, card in cards.items() if f"{stem}.html" in part]
        assert held and rules.differing(held) == []


def test_a_comparison_says_whether_it_may_be_shown_outside(bench):
    bench.card("mine")
    assert "rule 7, baselines ride along: BM25 is missing" in text(built(bench) / "environments/tiny.html")
    bench.card("bm25"), bench.card("public")
    assert "May be shown outside" in text(built(bench) / "environments/tiny.html")


def test_a_card_that_may_not_be_quoted_says_so_in_words_and_colour_with_the_reason(bench):
    good, bad = bench.card("bm25"), bench.card("failing")
    home = built(bench)
    said = text(home / f"scorecards/{bad.stem}.html")
    assert 'class="status no"' in said and "Not to be quoted." in said
    assert rules.label_sentence("INCOMPLETE") in said
    assert 'class="status yes"' in text(home / f"scorecards/{good.stem}.html")


def test_every_figure_of_a_card_is_on_its_page(bench):
    path = bench.card("mine")
    page = text(built(bench) / f"scorecards/{path.stem}.html")
    for figure in bench.read(path).figures:
        if figure.mean is not None:
            assert f">{figure.mean:.3f}<" in page, figure
        elif figure.reason:
            assert figure.reason in page


def test_slices_without_a_query_are_named_in_one_line_with_the_reason(bench):
    page = text(built_with_card(bench))
    assert "<b>§102, §103</b>: no statute in this collection" in page
    assert '<th scope="row">§102</th>' not in page


def built_with_card(bench):
    path = bench.card("mine")
    return built(bench) / f"scorecards/{path.stem}.html"


def test_the_modes_say_which_have_no_card_and_what_they_need(bench):
    bench.card("mine"), bench.card("bm25", query_view="ta"), bench.card("file")
    page = text(built(bench) / "modes.html")
    pending = re.findall(r'<h2>(\w+) <span class="badge">pending', page)
    assert pending == ["natural_language", "litigation"]
    for name in pending:
        assert html.escape(MODES[name].lacks.partition(', which')[0]) in page
    assert "1, of which 1 may be quoted" in page and "not stated" in page


def test_the_licence_stands_on_every_page_that_shows_the_data(bench, monkeypatch):
    registered = dataclasses.replace(bench.open().entry, licence="CC-BY-4.0", attribution="Who made it")
    known = dataclasses.replace(bench.open(), entry=registered)
    monkeypatch.setattr(bench, "open", lambda source=None: known)
    experiment(bench, "mine", "bm25")
    notebook(bench, "10_explore")
    for page in built(bench).rglob("*.html"):
        if page.name not in ("modes.html", "measures.html"):
            assert "Data: Who made it; CC-BY-4.0." in text(page), page


# --- notebooks --------------------------------------------------------------------------------------

def notebook(bench, stem, name="first", cells=(), **parameters) -> None:
    place = bench.outputs / f"notebooks/{name}/{stem}.ipynb"
    place.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(new_notebook(cells=[new_markdown_cell(f"# Page {stem}"), *cells],
                                metadata={"papermill": {"parameters": parameters}}), place)


def test_a_notebooks_page_shows_its_parameters_without_the_folders_of_its_owner(bench):
    experiment(bench, "mine")
    notebook(bench, "40_score", depth=7, outputs="../place/out",
             run_files={"own": "/srv/somebody/runs/own.trec"})
    page = text(built(bench) / "experiments/first/40_score.html")
    assert '<th scope="row">depth</th><td>7</td>' in page and "own: …/own.trec" in page
    assert "somebody" not in page and "../place" not in page


def test_labels_stand_on_the_notebooks_pages(bench):
    experiment(bench, "failing")
    notebook(bench, "40_score")
    page = text(built(bench) / "experiments/first/40_score.html")
    assert '<span class="badge">INCOMPLETE</span> mine' in page and "not to be quoted" in page


def test_a_notebook_that_an_earlier_run_of_the_same_name_left_is_told(bench):
    experiment(bench, "mine")
    notebook(bench, "40_score", collection="new", depth=3)
    notebook(bench, "60_passages", collection="old", depth=3)
    home = built(bench)
    told = "of an earlier run of the experiment, with other values of collection:"
    assert told in text(home / "experiments/first/60_passages.html")
    assert told not in text(home / "experiments/first/40_score.html")
    assert text(home / "index.html").count("of an earlier run") == 1


@pytest.mark.parametrize("name", ["scorecards", "environments", "index", "site"])
def test_no_experiments_name_takes_the_place_of_another_page(bench, name):
    experiment(bench, "mine", name=name)
    notebook(bench, "10_explore", name=name)
    home = built(bench)
    assert (home / f"experiments/{name}/10_explore.html").is_file()
    assert {p.name for p in home.iterdir()} == {"index.html", "modes.html", "measures.html", "scorecards",
                                                "environments", "experiments"}


@pytest.mark.parametrize("change", [
    {"scorecards": ["../../../elsewhere.json"]}, {"scorecards": []}, {"scorecards": "x.json"}, {"note": ...},
    {"scorecards": ["gone.json"]}, {"scorecards": [3]}])
def test_an_experiments_list_that_leads_elsewhere_is_one_line(outputs, change):
    file = outputs / "reports/experiments/first.json"
    stated = {**json.loads(file.read_text()), **change}
    file.write_text(json.dumps({name: value for name, value in stated.items() if value is not ...}))
    with pytest.raises(ScorecardError) as error:
        site.build(str(outputs))
    assert "\n" not in str(error.value) and not (outputs / "site").exists()


def test_a_card_is_listed_by_its_name_and_not_by_a_path(outputs):
    file = outputs / "reports/experiments/first.json"
    stated = json.loads(file.read_text())
    file.write_text(json.dumps({**stated, "scorecards": [f"../scorecards/{stated['scorecards'][0]}"]}))
    with pytest.raises(ScorecardError, match="no experiment's list"):
        site.build(str(outputs))


def test_the_name_that_an_experiment_gives_itself_writes_nowhere(outputs):
    file = outputs / "reports/experiments/first.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "experiment": "../../../out"}))
    assert "Experiment first" in text(site.build(str(outputs)))


@pytest.mark.parametrize("given", ["", "[]", "{}", "not json"])
def test_what_is_no_notebook_is_one_line(bench, given):
    experiment(bench, "mine")
    notebook(bench, "10_explore")
    (bench.outputs / "notebooks/first/10_explore.ipynb").write_text(given)
    with pytest.raises(NotebookError, match="can't be read|no heading"):
        built(bench)


def test_a_card_changed_by_hand_is_not_published(bench):
    bench.edit(bench.card("mine"), note="better")
    with pytest.raises(RuleError, match="rule 5"):
        built(bench)
