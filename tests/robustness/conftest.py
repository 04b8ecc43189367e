"""A home for damaged inputs."""

import shutil

import pytest
from damage.cards import Bench
from damage.harness import Home

from kit.collection.sources import open_collection
from kit.evaluation import uncertainty
from kit.params import make_params
from kit.reporting.score import figures_of_runs, write_scorecards
from kit.retrieval.execute import retrieve_all


@pytest.fixture
def home(tmp_path, make_collection, make_rows, make_dapfam) -> Home:
    return Home(tmp_path, make_collection, make_rows, make_dapfam)


@pytest.fixture(scope="session")
def sound_outputs(tmp_path_factory, make_collection, make_run_file):
    """An outputs folder with two runs, a card of each and an experiment, made from run files."""
    place = tmp_path_factory.mktemp("sound")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KIT_REGISTRY", str(place / "registry.yaml"))
        patch.setattr(uncertainty, "RESAMPLES", 20)
        folder = make_collection(place)
        params = make_params({
            "experiment": "try", "collection": str(folder), "outputs": str(place / "out"), "systems": ["one", "two"],
            "measures": ["nDCG@2", "RR"], "depth": 3, "run_files": {
                name: str(make_run_file(place, name, docs)) for name, docs in (("one", "123"), ("two", "321"))}})
        collection = open_collection(str(folder))
        runs = retrieve_all(collection, params)
        write_scorecards(collection, runs, figures_of_runs(collection, runs, params), params)
    return place


@pytest.fixture(scope="session")
def make_run_file():
    def make(place, name, docs):
        path = place / f"{name}.trec"
        path.write_text("".join(f"{q} Q0 d{d} {n} {9 - n} x\n" for q in ("q1", "q2") for n, d in enumerate(docs, 1)))
        return path
    return make


@pytest.fixture
def bench(home, sound_outputs, monkeypatch) -> Bench:
    """A copy of those outputs, and the collection beside them."""
    monkeypatch.setenv("KIT_REGISTRY", str(home.path / "registry.yaml"))
    monkeypatch.setattr(uncertainty, "RESAMPLES", 20)
    shutil.copytree(sound_outputs, home.path, dirs_exist_ok=True)
    return Bench(home.path)
