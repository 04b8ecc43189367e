"""A bench: tiny collections, systems that answer as they are told, cards in an outputs folder."""

import dataclasses
import json
import shutil
from functools import cache
from itertools import count
from pathlib import Path

import pytest

from kit import ledger
from kit.collection.registry import folder_entry
from kit.collection.sources import open_collection
from kit.evaluation import uncertainty
from kit.files import write_text
from kit.params import make_params
from kit.reporting import card_comparison, pin, score, scorecard, verify
from kit.retrieval import execute
from kit.retrieval.run import ranked, write_trec
from kit.retrieval.system import Answer

CLEAN = {"sha": "0" * 40, "dirty": False}
PUBLIC = {"from": "hub", "model": "owner/public", "revision": "a" * 40, "weights": None}
TABLES = {"queries": ["q1", "q2", {"query_id": "q3", "ipc": ["A01B1/00"]}, "q4"],
          "corpus": ["d1", "d2", "d3", "d4"],
          "qrels": [("q1", "d1"), ("q1", "d2", "A"), ("q2", "d3", "overlap"), ("q3", "d4"), ("q4", "d1")]}


class Made:
    """A system that answers every query with the corpus in its order, turned by `turn`."""

    version = "1"

    def __init__(self, name="mine", turn=0, fails=False, given=None, version="1"):
        self.name, self.turn, self.fails, self.version = name, turn, fails, version
        self.given = self.settings = given or {"turn": turn}

    def prepare(self, ids, texts):
        self.ids = ids

    def search_batch(self, texts, topk):
        ids = (self.ids[self.turn:] + self.ids[:self.turn])[:topk]
        return [Answer(["nobody"] if self.fails and n == 0 else ids, None) for n in range(len(texts))]

    def notes(self):
        return {}


SYSTEMS = {
    "mine": Made(), "turned": Made(turn=2), "later": Made(version="2"), "failing": Made(fails=True),
    "bm25": Made("bm25", 1, given={"variant": "lucene", "k1": 1.2, "b": 0.75}),
    "public": Made("public", 3, given=PUBLIC),
    "private": Made("private", 3, given={**PUBLIC, "from": "folder", "revision": None})}


_opened = cache(open_collection)  # the tables of a folder are read once


class Bench:
    """Runs and cards of the made systems on a tiny collection, under a registry of its own.

    The code counts as that of a commit, and every look at the clock takes a second.
    """

    def __init__(self, folder: Path, make_folder, monkeypatch):
        self.outputs, self.home, self._make = folder / "out", folder, make_folder
        monkeypatch.setenv("KIT_REGISTRY", str(folder / "registry.yaml"))
        for module in (scorecard, execute):
            monkeypatch.setattr(module, "git_state", lambda: dict(CLEAN))
        clock = count(20300101000000)
        monkeypatch.setattr(scorecard, "utc_now", lambda: f"{next(clock)}Z")
        monkeypatch.setattr(uncertainty, "RESAMPLES", 20)
        monkeypatch.setattr(execute, "make_system", lambda name, params: SYSTEMS[name])
        for module in (verify, card_comparison):
            monkeypatch.setattr(module, "open_collection", lambda source, revision: self.open(source))
        self.patch = monkeypatch
        self.source = self.folder()

    def folder(self, name: str = "tiny", **tables) -> Path:
        """A folder of TABLES, other than that where it is said."""
        return self._make(name, {**TABLES, **tables})

    def open(self, source: Path | str | None = None):
        """The collection as `open_collection` gives it under the registry as it is now."""
        opened = _opened(str(source or self.source))
        now = dataclasses.replace(opened, entry=folder_entry(opened.environment))
        read = {name: getattr(opened, name) for name in ("_ids", "pairs", "faults", "fingerprints")}
        vars(now).update(read)  # what was read once stays
        return now

    def pinned(self, source: Path | None = None, name: str | None = None):
        collection = self.open(source)
        pin.pin(collection, pin.generation_name(collection, name))
        return self.open(source)

    def params(self, **values):
        return make_params({"outputs": str(self.outputs), "measures": ["nDCG@2", "RR", "GoldCoverage@2"],
                            "depth": 3, **values})

    def run(self, system="mine", source=None, **values):
        params = self.params(**values)
        if system == "file":
            collection = self.open(source)
            made, docs = self.home / "made.trec", sorted(collection.ids("corpus"))[::-1]
            rows = [(q, d, -n) for q in collection.ids("queries") for n, d in enumerate(docs)]
            write_trec(made, ranked(*zip(*rows)), "made")
            return execute.retrieve(collection, "file", params.model_copy(
                update={"run_files": {"file": str(made)}}))
        return execute.retrieve(self.open(source), system, params)

    def card(self, system="mine", source=None, **values) -> Path:
        """The path of a run's card."""
        run = self.run(system, source, **values)
        return self.carded(run, source, **values)

    def carded(self, run, source=None, **values) -> Path:
        collection, params = self.open(source), self.params(**values)
        figures = score.figures_of_runs(collection, [run], params)[run.system]
        return scorecard.write_scorecard(
            scorecard.make_scorecard(collection, run, figures, params), str(self.outputs))

    def read(self, path: Path) -> scorecard.Scorecard:
        return scorecard.read_scorecard(path)

    def labels(self, *args, **values) -> list[str]:
        return self.read(self.card(*args, **values)).labels

    def forget(self, run) -> None:
        """Deletes a run's folder."""
        shutil.rmtree(run.folder)

    def forget_cards(self) -> None:
        """Deletes what was written so far: cards, runs and the ledger."""
        shutil.rmtree(self.outputs)

    def edit(self, path: Path, **changes) -> None:
        """Changes a JSON file as a forger would, in the kit's own form."""
        stated = json.loads(path.read_text(encoding="utf-8"))
        stated.update(changes)
        write_text(path, scorecard.dump_json(stated))

    @property
    def ledger(self) -> Path:
        return ledger.ledger_path(str(self.outputs))


@pytest.fixture(scope="session")
def make_folder(tmp_path_factory, make_collection):
    """A function that writes a tiny collection under a name, once for all tests."""
    made = {}

    def make(name: str, tables: dict) -> Path:
        key = f"{name} {tables}"
        if key not in made:
            made[key] = make_collection(tmp_path_factory.mktemp("made"), **tables, name=name)
        return made[key]
    return make


@pytest.fixture
def bench(tmp_path, make_folder, monkeypatch) -> Bench:
    """A bench whose collection is pinned."""
    made = Bench(tmp_path, make_folder, monkeypatch)
    made.pinned()
    return made
