"""What the report shows of a sweep, and what it leaves behind."""

import io
import shlex
from contextlib import redirect_stdout

import numpy as np
import pandas as pd
import pytest

from kit.cli import main
from kit.collection.sources import open_collection
from kit.evaluation.grid import CHOSEN, DOCUMENT, PLAIN, UNTUNED
from kit.params import Params, load_params
from kit.pipeline import NOTEBOOKS, notebooks_of
from kit.reporting import plots, sweep
from kit.retrieval.execute import retrieve

GIVEN = {"query_view": "ta", "corpus_view": "ta", "systems": ["bm25-passages"], "depth": 10,
         "passage_length": 64, "sweep_lengths": [128, 64], "sweep_aggregations": ["maxP", "avgP"],
         "measures": ["nDCG@10", "R@10"]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory, make_collection):
    return write(tmp_path_factory.mktemp("swept"), make_collection)


@pytest.fixture
def make_labels(make_collection):
    """A function that opens the same collection with nothing found by the named queries: their
    documents are others, which no query's words lead to."""
    return lambda home, turned: open_collection(str(write(home, make_collection, turned)))


def write(home, make_collection, turned=()):
    """Eight queries, each with a near and a far document, among others with the same words."""
    rng = np.random.default_rng(3)

    def text(name, words):
        return " ".join(rng.permutation([name] * 3 + list(rng.choice(list("abcdefgh"), words))))

    queries = [{"query_id": f"q{n}", "title": f"Query {n}", "abstract": text(f"word{n}", 20)}
               for n in range(8)]
    docs = [{"doc_id": f"{kind}{n}", "title": f"Document {n}", "ipc": [code],
             "abstract": text(f"word{n}", 150)}
            for n in range(8) for kind, code in (("near", "F16K1/00"), ("far", "A61B1/00"))]
    docs += [{"doc_id": f"{kind}none", "title": "", "ipc": [code], "abstract": "none", "claims": "",
              "description": ""} for kind, code in (("near", "F16K1/00"), ("far", "A61B1/00"))]
    pairs = [(f"q{n}", f"{kind}{'none' if f'q{n}' in turned else n}")
             for n in range(8) for kind in ("near", "far")]
    return make_collection(home, queries, docs, pairs)


@pytest.fixture(scope="module")
def swept(folder, tmp_path_factory):
    params = Params(**GIVEN, collection=str(folder), outputs=str(tmp_path_factory.mktemp("out")))
    return sweep.sweep(open_collection(str(folder)), params)


def test_the_whole_grid_is_written_with_the_seconds_of_each_setting(swept):
    paths = {path.name: path for path in sweep.export(swept)}
    assert set(paths) == {"grid.csv", "grid.parquet", "best.csv", "best.parquet"}
    grid = pd.read_parquet(paths["grid.parquet"])
    pd.testing.assert_frame_equal(grid[swept.grid.columns], swept.grid)
    assert len(grid) == (1 + 2 * 2) * 4 * 2 and set(grid["half"]) == {"tuning"}
    assert set(pd.read_parquet(paths["best.parquet"])["half"]) == {"reporting"}
    for name in ("preprocessing_seconds", "index_seconds", "search_seconds"):
        assert (grid[name] >= 0).all()
        assert grid.groupby(["system", "length"])[name].nunique().max() == 1
    assert len(pd.read_csv(paths["grid.csv"])) == len(grid)


def test_search_over_whole_documents_is_the_plain_systems_run(swept):
    alone = retrieve(swept.collection, "bm25", swept.params)
    assert swept.cells["bm25-passages", 0].table.equals(alone.table)


def test_every_choice_stands_beside_the_untuned_setting_and_whole_documents(swept):
    table = sweep.best_table(swept)
    assert table["setting"].tolist() == [CHOSEN, UNTUNED, PLAIN] * 4
    assert table["scope"].drop_duplicates().tolist() == ["ALL", "IN", "OUT", "OUT residual"]
    assert set(table.loc[table["setting"] == UNTUNED, "passages"]) == {"64 × maxP"}
    assert table.loc[table["setting"] == PLAIN, "passages"].isna().all()
    assert {"preprocessing s", "index s", "search s"} < set(table)
    assert set(table["n"]) == {4}


def test_the_seconds_of_every_system_and_length_stand_apart(swept):
    table = sweep.time_table(swept)
    assert table["tokens a passage"].tolist() == [DOCUMENT, 64, 128]
    assert (table[["preprocessing s", "index s", "search s"]] >= 0).all().all()


def test_labels_of_the_reporting_half_change_no_choice_and_its_figures(swept, tmp_path, monkeypatch,
                                                                        make_labels):
    """A choice and its figure never come from the same queries."""
    other = make_labels(tmp_path, swept.parts.reporting)
    monkeypatch.setattr(sweep, "halves", lambda *_: swept.parts)
    again = sweep.sweep(other, swept.params.model_copy(update={"outputs": str(tmp_path / "out")}))
    pd.testing.assert_frame_equal(again.grid, swept.grid)
    assert again.chosen == swept.chosen
    assert (again.held["mean"] != swept.held["mean"]).all()


def test_titles_state_the_finding_and_never_all_without_out(swept):
    for title in (sweep.finding_grid(swept, "bm25-passages"), sweep.finding_best(swept, "bm25-passages")):
        assert "ALL" in title and "OUT" in title
    mine = swept.held.query("scope == 'OUT' and measure == 'nDCG@10'").set_index("setting")["mean"]
    title = sweep.finding_best(swept, "bm25-passages")
    assert f"OUT {mine[CHOSEN]:.2f} (documents " in title and f", {mine[PLAIN]:.2f})" in title


def test_the_maps_hold_the_grid_and_frame_the_choice(swept, monkeypatch):
    drawn = []
    monkeypatch.setattr(sweep.plots, "heat_maps", lambda *a: drawn.append(a) or plots.columns(
        pd.Series([1]), "", "", ""))
    sweep.show_heat_maps(swept)
    (maps, marked, _, _), = drawn
    assert list(maps) == ["ALL", "IN", "OUT", "OUT residual"]
    for scope, frame in maps.items():
        assert list(frame.index) == ["64", "128", DOCUMENT] and list(frame) == ["maxP", "avgP"]
        assert frame.loc[marked[scope]] == frame.drop(DOCUMENT).to_numpy().max()
        row = swept.grid.query("scope == @scope and measure == 'nDCG@10' and length == 128"
                               " and aggregation == 'avgP'")
        assert frame.loc["128", "avgP"] == row["mean"].item()
        assert frame.loc[DOCUMENT].nunique() == 1


def test_a_map_can_be_drawn_where_all_values_are_equal():
    frame = pd.DataFrame({"maxP": [0.5, 0.5], "avgP": [0.5, 0.5]}, index=["64", DOCUMENT])
    figure = plots.heat_maps({"ALL": frame}, {"ALL": ("64", "maxP")}, "title", "tokens")
    assert [t.get_text() for t in figure.axes[0].texts] == ["0.500", "0.500", "0.500"]


def test_the_command_of_the_best_setting_runs_it_and_sweeps_nothing(swept):
    words = shlex.split(sweep.command(swept, "bm25-passages"))
    assert words[:4] == ["python", "-m", "kit", "run"]
    params = load_params(None, list(zip(words[5::3], words[6::3])))
    best = swept.chosen["bm25-passages", "ALL"]
    assert (params.passage_length, params.passage_aggregation) == best[1:]
    assert params.systems == ["bm25", "embedding", "bm25-passages"] and params.sweep_lengths is None
    same = ("collection", "query_view", "corpus_view", "depth", "measures", "protocol", "outputs", "seed")
    assert all(getattr(params, name) == getattr(swept.params, name) for name in same)


def test_a_sweep_of_one_system_has_nothing_to_fuse(swept, monkeypatch):
    said = []
    monkeypatch.setattr(sweep.show, "say", said.append)
    sweep.show_fusion(swept)
    assert swept.fused is None and said == ["There is one system of passages: nothing to fuse."]


def test_the_fusion_is_of_the_best_settings_and_reported_by_scope(swept, monkeypatch):
    """A second system: the same passages, as if another had searched them."""
    twice = sweep.Sweep(swept.collection, swept.params, dict(swept.cells), swept.parts, swept.grid,
                        dict(swept.chosen), swept.held)
    for (name, scope), best in swept.chosen.items():
        twice.chosen["other", scope] = best._replace(system="other")
    for (name, length), cell in swept.cells.items():
        twice.cells["other", length] = cell
    monkeypatch.setattr(sweep.Sweep, "systems", ["bm25-passages", "other"])
    found = sweep.fusion_figures(twice)
    assert set(found["scope"]) == {"ALL", "IN", "OUT", "OUT residual"}
    means = found[found["scope"] == "OUT"].set_index("system")["mean"]
    assert len(means) == 3 and means.nunique() == 1  # fusing a run with itself keeps its order
    assert "OUT" in sweep.finding_fusion(twice, found)


def test_the_command_says_a_line_a_system_and_length_and_the_best(folder, tmp_path):
    given = {**GIVEN, "outputs": str(tmp_path)}
    arguments = ["sweep", str(folder)]
    for name, value in given.items():
        arguments += ["-p", name, str(value).replace("'", "")]
    said = io.StringIO()
    with redirect_stdout(said):
        assert main(arguments) == 0
    lines = said.getvalue().splitlines()
    assert [line.split(":")[0] for line in lines[:3]] == [
        "bm25-passages whole documents", "bm25-passages 64 tokens", "bm25-passages 128 tokens"]
    assert all("preprocessing " in line and "index " in line and "search " in line for line in lines[:3])
    assert "OUT residual" in said.getvalue() and "grid.csv" in lines[-1]


def test_run_sweeps_where_lengths_are_named():
    assert notebooks_of(Params()) == NOTEBOOKS
    assert notebooks_of(Params(sweep_lengths=[64])) == (*NOTEBOOKS, "60_passages")
