"""No name that data or a parameter states leads out of the outputs folder, and no link planted there
is written through."""

import json
import os

import numpy as np
import pytest

from kit import ledger
from kit.cli import main
from kit.collection.sources import open_collection
from kit.errors import KitError
from kit.evaluation import uncertainty
from kit.files import ROOT, below, outputs_folder, safe_name, write_text, written_whole
from kit.params import make_params
from kit.pipeline import Log
from kit.reporting import score, scorecard, site
from kit.retrieval import execute, vectors
from kit.retrieval.fusion import Fusion
from kit.retrieval.run import ranked, write_run, write_trec

NAMES = {"above": "../../x", "far above": "../" * 40 + "x", "absolute": "/planted", "home": "~", "user": "~root/x",
         "NUL": "a\0b", "device": "/dev/full", "device of Windows": "CON", "drive": "C:\\x", "backslash": "..\\..\\x",
         "dot": ".", "dots": "..", "empty": "", "line": "a\nb", "long": "x" * 5000, "turned": "a\u202eb",
         "half": "a\ud800", "variable": "$HOME/x", "command": "$(touch x);`touch x`", "option": "-rf", "star": "*"}
every_name = pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)


@pytest.fixture
def fenced(tmp_path):
    """A home with an outputs folder in it; whatever appears in the home beside it has escaped."""
    home = tmp_path / "a" / "b" / "c"
    (home / "outputs").mkdir(parents=True)
    (home / "victim").write_text("untouched")
    yield home
    strange = [p for p in tmp_path.rglob("*") if not p.is_relative_to(home / "outputs")
               and not p.is_relative_to(home / "data") and p not in (home, *home.parents, home / "victim")]
    assert strange == []
    assert (home / "victim").read_text() == "untouched"


@every_name
def test_a_name_is_one_folder_or_refused(tmp_path, name):
    try:
        assert below(tmp_path, name).parent == tmp_path
    except KitError as error:
        assert "\n" not in str(error)
    made = safe_name(name, "otherwise")
    assert (tmp_path / f"{made}.json").resolve().parent == tmp_path.resolve() and len(made) <= 80


@every_name
def test_an_experiments_name_is_refused_before_anything_is_made(name):
    if name != "CON":
        with pytest.raises(KitError, match="experiment"):
            make_params({"experiment": name})


def test_identifiers_and_systems_of_every_kind_stay_in_the_outputs(fenced, make_collection, monkeypatch):
    """All of these names at once as ids, and as names of run files, through run, card and page."""
    ids = [name for name in NAMES.values() if "\ud800" not in name and name]  # no Parquet file holds the half
    folder = make_collection(fenced / "data", [{"query_id": f"{i}q"} for i in ids],
                             [{"doc_id": f"{i}d"} for i in ids], [(f"{i}q", f"{i}d") for i in ids])
    collection = open_collection(str(folder))
    given = [name for name in ids if name.isprintable() and len(name) <= 80 and name.strip()]
    for n, name in enumerate(given):
        write_run(fenced / "data" / f"{n}.parquet", ranked([f"{i}q" for i in ids], [f"{i}d" for i in ids], [n] * len(ids)))
    params = make_params({"outputs": str(fenced / "outputs"), "systems": ["bm25"], "measures": ["nDCG@10"], "run_files": {
        name: str(fenced / "data" / f"{n}.parquet") for n, name in enumerate(given)}, "collection": str(folder)})
    monkeypatch.setenv("KIT_REGISTRY", str(fenced / "outputs" / "registry.yaml"))
    monkeypatch.setattr(uncertainty, "RESAMPLES", 20)
    runs = execute.retrieve_all(collection, params)
    score.write_scorecards(collection, runs, score.figures_of_runs(collection, runs, params), params)
    assert site.build(params.outputs).exists()
    assert len(list(fenced.glob("outputs/site/scorecards/*.html"))) == len(given) + 1


def test_a_manifest_from_elsewhere_names_no_folder_outside(fenced, make_collection):
    """`kit fuse` takes any run's folder: its environment is the name of a folder of ours."""
    collection = open_collection(str(make_collection(fenced / "data")))
    params = make_params({"outputs": str(fenced / "outputs"), "systems": ["bm25"]})
    run, = execute.retrieve_all(collection, params)
    for name in ("../../../../escaped", "/escaped", "..", "a/../../../../escaped"):
        stated = json.loads((run.folder / "manifest.json").read_text())
        elsewhere = fenced / "data" / "run"
        elsewhere.mkdir(exist_ok=True)
        (elsewhere / "run.parquet").write_bytes((run.folder / "run.parquet").read_bytes())
        (elsewhere / "manifest.json").write_text(json.dumps({**stated, "environment": name, "ledger": None}))
        other = make_params({"outputs": str(fenced / "outputs" / "other")})
        taken = execute.open_finished(elsewhere, other)
        with pytest.raises(KitError, match="can't be the name of a folder"):
            execute.fuse_runs([taken, taken], Fusion("rrf", 60, None), other)


def test_a_list_of_an_experiment_names_no_folder_above(fenced):
    home = fenced / "outputs" / "reports" / "experiments"
    write_text(home / "...json", json.dumps({"scorecards": ["a.json"], "environment": "x", "note": ""}))
    with pytest.raises(KitError, match="no experiment's list"):
        site.build(str(fenced / "outputs"))


# --- links ------------------------------------------------------------------------------------------

def test_what_is_written_whole_takes_the_place_of_a_link(fenced):
    link = fenced / "outputs" / "page.html"
    link.symlink_to(fenced / "victim")
    write_text(link, "page")
    assert link.read_text() == "page" and not link.is_symlink()


def test_a_ledger_and_a_log_are_not_added_to_through_a_link(fenced):
    for name in ("reports/ledger.jsonl", "logs/mini.log"):
        link = fenced / "outputs" / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(fenced / "victim")
    with pytest.raises(OSError, match="ledger.jsonl"), ledger.opened(str(fenced / "outputs")) as book:
        book.append("x")
    Log(fenced / "outputs" / "logs" / "mini.log").add("a line")


def test_vectors_are_not_written_through_a_link(fenced):
    place, made = fenced / "outputs" / "vectors", vectors.Encoded(np.ones((1, 2), np.float32), 0)
    arguments = (place, "key", 1, 2, "float32", ["a"], lambda texts: made, "x")
    vectors.keep(*arguments)
    for name in (vectors.ARRAY, vectors.RECORDS):
        file, = place.rglob(name)
        file.unlink()
        file.symlink_to(fenced / "victim")
    assert vectors.keep(*arguments).vectors.tolist() == [[1, 1]]


def test_a_scorecard_is_not_written_through_a_link(fenced):
    place = fenced / "outputs" / "card.json"
    place.symlink_to(fenced / "victim")
    with pytest.raises(KitError):
        scorecard.write_once(place, "{}")


def test_stale_pages_are_not_removed_through_a_link(fenced):
    page = fenced / "data" / "page.html"
    write_text(page, site.MARK)
    home = fenced / "outputs" / "site"
    home.mkdir()
    (home / "linked").symlink_to(page.parent)
    (home / "page.html").symlink_to(page)
    site._remove_stale(home, set())
    assert page.exists()


def test_a_trec_file_of_an_odd_identifier_is_refused_and_none_is_left(tmp_path):
    with pytest.raises(KitError, match="can't hold the identifier"):
        write_trec(tmp_path / "run.trec", ranked(["q"], ["a b"], [1.0]), "mine")
    assert os.listdir(tmp_path) == []


# --- what is no file, or has no name ------------------------------------------------------------------

@pytest.mark.parametrize("command", [
    "run PIPE", "build natural_language --collection own --model m --out set --prompt PIPE",
    "build natural_language --collection own --model m --out set --batch-in PIPE",
    "build litigation --collection own --papers papers --out set",
    "build litigation --collection own --papers own --out set --table PIPE"])
def test_a_pipe_that_nobody_writes_to_is_not_waited_for(command, fenced, make_collection, capsys, monkeypatch):
    make_collection(fenced / "data", name="own")
    (fenced / "data" / "papers").mkdir()
    for name in ("PIPE", "papers/decision.txt"):
        os.mkfifo(fenced / "data" / name)
    monkeypatch.chdir(fenced / "data")
    before = sorted(fenced.rglob("*"))
    assert main(command.split()) == 1
    said = capsys.readouterr().err
    assert said.startswith("kit: ") and said.count("\n") == 1 and "Is a pipe or a device" in said
    assert sorted(fenced.rglob("*")) == before


@pytest.mark.parametrize("command", [
    "serve --collection mini --host", "publish mini --format csv --out", "splits mini --out", "audit mini --rows",
    "build semantic_search --collection mini --out", "build natural_language --collection mini --out x --model",
    "build natural_language --collection mini --out x --model m --batch-out", "verify", "run"])
def test_an_empty_word_stands_for_no_place(command, capsys, fenced, monkeypatch):
    """As of a variable that is not set: the working folder, or every network's address, nobody named."""
    monkeypatch.chdir(fenced)
    assert main([*command.split(), ""]) == 1
    assert "it is empty" in capsys.readouterr().err


def test_a_refusal_of_the_system_names_what_was_asked_for(fenced):
    """And not the file beside it, which nobody knows."""
    place = fenced / "outputs" / "page"
    with pytest.raises(OSError) as raised, written_whole(place):
        raise OSError(28, "No space left on device")
    assert raised.value.filename == str(place)
    with pytest.raises(OSError) as raised, written_whole(place) as part:
        (part / "picture").read_text()
    assert raised.value.filename == str(place)


def test_an_empty_variable_is_no_outputs_folder(monkeypatch):
    """It would be the project's own folder."""
    monkeypatch.setenv("KIT_OUTPUTS", "")
    assert outputs_folder() == ROOT / "outputs"
