"""Damaged scorecards, experiments' lists, ledgers and saved runs: `kit verify`, `compare`, `publish`, `fuse`."""

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from damage.harness import Damage

from kit.files import digest_of_file, dump_json


@dataclass(frozen=True, eq=False)
class Bench:
    """An outputs folder that a test may spoil; see `sound_outputs` in conftest.py."""

    path: Path

    @property
    def outputs(self) -> Path:
        return self.path / "out"

    @cached_property
    def cards(self) -> list[Path]:
        """The cards' JSON, that of `one` first."""
        found = (self.outputs / "reports" / "scorecards").glob("*.json")
        return sorted(found, key=lambda path: "_one_" not in path.name)

    @cached_property
    def runs(self) -> list[Path]:
        return sorted((self.outputs / "runs" / "tiny").iterdir())

    @property
    def ledger(self) -> Path:
        return self.outputs / "reports" / "ledger.jsonl"

    @property
    def experiment(self) -> Path:
        return self.outputs / "reports" / "experiments" / "try.json"

    def commands(self) -> dict[str, list]:
        """What meets a card."""
        collection = ["--collection", self.path / "tiny"]
        return {"verify": ["verify", self.cards[0], *collection],
                "compare": ["compare", *self.cards, *collection],
                "publish": ["publish", "--outputs", self.outputs],
                "publish a card": ["publish", self.cards[0], "--format", "markdown", "--out", self.path / "published"],
                "publish an experiment": ["publish", "try", "--format", "markdown", "--out", self.path / "published",
                                          "--outputs", self.outputs],
                "fuse": ["fuse", *self.runs, "--outputs", self.outputs]}


# --- scorecards ------------------------------------------------------------------------------------

def _edited(**changes):
    """A card with other values, in the kit's own form."""
    def change(raw: str) -> str:
        stated = json.loads(raw)
        for name, value in changes.items():
            if value is ...:
                del stated[name]
            else:
                stated[name] = value(stated[name]) if callable(value) else value
        return dump_json(stated)
    return change


def _figures(**changes):
    return _edited(figures=lambda figures: [{**figures[0], **changes}, *figures[1:]])


NO_CARD, OUT = "this is no scorecard", "Move it out of the folder"
CARDS = [  # a change of the JSON text, what is said
    ("cut to a half", lambda t: t[:len(t) // 2], f"{NO_CARD}: it is not JSON"),
    ("cut by a byte", lambda t: t.rstrip()[:-1], f"{NO_CARD}: it is not JSON"),
    ("empty", lambda t: "", f"{NO_CARD}: it is not JSON"),
    ("a list", lambda t: "[]", f"{NO_CARD}: it is no JSON object"),
    ("null", lambda t: "null", f"{NO_CARD}: it is no JSON object"),
    ("a text", lambda t: '"card"', f"{NO_CARD}: it is no JSON object"),
    ("another JSON", lambda t: '{"a": 1}', f"{NO_CARD}: "),
    ("two cards", lambda t: t + t, f"{NO_CARD}: it is not JSON"),
    ("a deep nest", lambda t: "[" * 100_000, f"{NO_CARD}: it is nested too deeply"),
    ("a megabyte of junk", lambda t: "x" * 10**6, f"{NO_CARD}: it is not JSON"),
    ("a mean of NaN", lambda t: t.replace('"mean": 0.', '"mean": NaN, "x": 0.', 1), f"{NO_CARD}: "),
    ("a number of a million digits", lambda t: t.replace('"depth": 3', '"depth": ' + "9" * 10**6), f"{NO_CARD}: "),
    ("a mean of infinity", _figures(mean="inf"), f"{NO_CARD}: figures.0.mean"),
    ("a mean that is a text", _figures(mean="high"), f"{NO_CARD}: figures.0.mean"),
    ("a mean that is a list", _figures(mean=[1]), f"{NO_CARD}: figures.0.mean"),
    ("a figure without n", _edited(figures=lambda f: [{k: v for k, v in f[0].items() if k != "n"}, *f[1:]]),
     f"{NO_CARD}: figures.0.n"),
    ("a figure twice", _edited(figures=lambda f: [f[0], *f]), f"{NO_CARD}: Value error, a figure stands twice"),
    ("figures that are a text", _edited(figures="all"), f"{NO_CARD}: figures"),
    ("no figures at all", _edited(figures=...), f"{NO_CARD}: figures"),
    ("no depth", _edited(depth=...), f"{NO_CARD}: depth"),
    ("an unknown field", _edited(quality="high"), f"{NO_CARD}: quality"),
    ("a depth that is a text", _edited(depth="deep"), f"{NO_CARD}: depth"),
    ("labels that are a text", _edited(labels="SAMPLE"), f"{NO_CARD}: labels"),
    ("a system without a name", _edited(system={"version": "1"}), f"{NO_CARD}: Value error, a system has a name"),
    ("a system that is a text", _edited(system="one"), f"{NO_CARD}: system"),
    ("fingerprints that are a list", _edited(fingerprints=[]), f"{NO_CARD}: fingerprints"),
    ("no fingerprint of the corpus", _edited(fingerprints={}), f"{NO_CARD}: Value error"),
    ("measures without a sentence", _edited(sentences={}), f"{NO_CARD}: Value error, a measure has no sentence"),
    ("views that are a number", _edited(views=1), f"{NO_CARD}: views"),
    ("views without one", _edited(views={"query": {}}), f"{NO_CARD}: Value error, a run has a view"),
    ("a schema that is to come", _edited(schema_version=99), f"{NO_CARD}: it is of schema 99"),
    ("a schema that is a text", _edited(schema_version="three"), f"{NO_CARD}: schema_version"),
]
CHANGED, DIFFERS = "rule 5, immutable results", "says what differs"
CONTENT = [  # a card still, but another
    ("another mean", _figures(mean=0.99999)), ("another depth", _edited(depth=4)), ("no labels", _edited(labels=[])),
    ("quotable", _edited(quotable=True)), ("another name", _edited(system={"name": "best", "version": "1", "given": {}})),
    ("a name that is a path", _edited(system={"name": "../../x", "version": "1", "given": {}})),
    ("a name that is a tag", _edited(system={"name": "<script>", "version": "1", "given": {}})),
    ("an older schema", _edited(schema_version=2)), ("another suite", _edited(suite_version="1.0.0")),
    ("one figure less", _edited(figures=lambda f: f[1:])), ("a blank more", lambda t: t + " "),
    ("line ends of Windows", lambda t: t.replace("\n", "\r\n")), ("keys in another order", lambda t: json.dumps(json.loads(t))),
    ("no ledger line", _edited(ledger=None)), ("an emptied cost", _edited(cost={})),
]


def _card(change, command):
    def make(bench):
        path = bench.cards[0]
        path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8", newline="")
        return bench.commands()[command]
    return make


def _instead(lay, command):
    def make(bench):
        path, command_ = bench.cards[0], bench.commands()[command]
        path.unlink()
        lay(path)
        return command_
    return make


ONE = "_one_tiny"
DOORS = ("verify", "compare", "publish", "publish a card", "publish an experiment")


def _cards():
    for n, (name, change, what) in enumerate(CARDS):
        door = DOORS[n % len(DOORS)]
        yield Damage(f"a card {name}: {door}", _card(change, door), what if door != "verify" else what, ONE, OUT)
    for n, (name, change) in enumerate(CONTENT):
        door = DOORS[1:][n % 4]
        yield Damage(f"a card with {name}: {door}", _card(change, door), CHANGED, ONE, DIFFERS)
        yield Damage(f"a card with {name}: verify", _card(change, "verify"), f"{ONE}", "does not hold", CHANGED)
    yield Damage("a card that is no UTF-8", _instead(lambda p: p.write_bytes(b"\xff\xfe{}"), "publish"),
                 f"{NO_CARD}: it is not UTF-8", ONE, OUT)
    yield Damage("a card that is gone: verify", _instead(lambda p: None, "verify"), "no such scorecard", ONE, "Name the JSON")
    yield Damage("a card that is gone: publish", _instead(lambda p: None, "publish"), "a scorecard that an experiment lists "
                 "is gone", ONE, "Put it back")
    yield Damage("a card that is a folder", _instead(lambda p: p.mkdir(), "publish"), "no such scorecard", ONE, "Name the JSON")
    yield Damage("a card that links to itself", _instead(lambda p: p.symlink_to(p), "compare"), "no such scorecard", ONE,
                 "Name the JSON")


def _sheet(change, command):
    def make(bench):
        change(bench.cards[0].with_suffix(".md"))
        return bench.commands()[command]
    return make


SHEETS = [
    ("is gone", lambda p: p.unlink(), "the markdown is gone"),
    ("is empty", lambda p: p.write_bytes(b""), "the markdown is not the one that the ledger lists"),
    ("has another figure", lambda p: p.write_text(p.read_text(encoding="utf-8").replace("0.", "1.", 1), encoding="utf-8"),
     "the markdown is not the one"),
    ("is no UTF-8", lambda p: p.write_bytes(b"\xff"), "the markdown is not the one"),
]


# --- ledgers ---------------------------------------------------------------------------------------

def _ledger(change, command):
    def make(bench):
        bench.ledger.write_bytes(change(bench.ledger.read_bytes()))
        return bench.commands()[command]
    return make


def _lines(change):
    return lambda raw: b"".join(change(raw.splitlines(keepends=True)))


LEDGERS = [
    ("empty", lambda raw: b"", "the ledger"), ("of one empty line", lambda raw: b"\n", "the ledger"),
    ("without its last line", _lines(lambda ls: ls[:-1]), "the ledger"),
    ("whose last line is cut", lambda raw: raw[:-40], "ledger"),
    ("without its first line", _lines(lambda ls: ls[1:]), "line 1 of the ledger does not follow"),
    ("without a line within", _lines(lambda ls: ls[:1] + ls[2:]), "line 2 of the ledger does not follow"),
    ("with a line twice", _lines(lambda ls: ls[:2] + ls[1:]), "line 3 of the ledger does not follow"),
    ("in another order", _lines(lambda ls: [ls[1], ls[0], *ls[2:]]), "line 1 of the ledger does not follow"),
    ("with a line of garbage", _lines(lambda ls: ls[:1] + [b"\xff\x00garbage\n"] + ls[1:]), "line 3 of the ledger does not"),
    ("with a line of another's", _lines(lambda ls: ls[:1] + [b'{"previous": "x", "event": "scorecard"}\n'] + ls[1:]),
     "line 2 of the ledger does not follow"),
    ("with a changed line", lambda raw: raw.replace(b'"complete"', b'"completE"', 1), "of the ledger does not follow"),
    ("of another file", lambda raw: b"PAR1" + bytes(100), "the ledger"),
    ("of a nest", lambda raw: b"[" * 100_000 + b"\n", "the ledger"),
    ("in UTF-16", lambda raw: raw.decode().encode("utf-16"), "the ledger"),
    ("with line ends of Windows", lambda raw: raw.replace(b"\n", b"\r\n"), "of the ledger does not follow"),
]


def _ledgers():
    for n, (name, change, what) in enumerate(LEDGERS):
        door = DOORS[1:][n % 4]
        yield Damage(f"a ledger {name}: {door}", _ledger(change, door), CHANGED, what, "_tiny")
    yield Damage("a ledger whose head is another", lambda b: (b.ledger.with_suffix(".head").write_text("0" * 64),
                 b.commands()["publish"])[1], CHANGED, "once the last is changed or gone", "_tiny")
    yield Damage("a ledger that is a folder", lambda b: (b.ledger.unlink(), b.ledger.mkdir(), b.commands()["publish"])[2],
                 "the ledger can't be read: Is a directory", "ledger.jsonl", "Put the ledger back")


# --- saved runs ------------------------------------------------------------------------------------

def _manifest(change):
    def make(bench):
        path = bench.runs[0] / "manifest.json"
        path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
        return bench.commands()["fuse"]
    return make


def _ranking(change):
    def make(bench):
        change(bench.runs[0] / "run.parquet")
        return bench.commands()["fuse"]
    return make


def _forged(table: pa.Table):
    """Another ranking, whose manifest has its digest."""
    def make(bench):
        pq.write_table(table, bench.runs[0] / "run.parquet")
        path = bench.runs[0] / "manifest.json"
        path.write_text(_edited(run_sha256=digest_of_file(bench.runs[0] / "run.parquet"))(path.read_text()))
        return bench.commands()["fuse"]
    return make


AGAIN = "earch again"
MANIFESTS = [
    ("cut to a half", lambda t: t[:len(t) // 2], "the manifest can't be read"),
    ("empty", lambda t: "", "the manifest can't be read"), ("a list", lambda t: "[]", "this is no manifest"),
    ("null", lambda t: "null", "this is no manifest"), ("another JSON", lambda t: "{}", "the run's manifest lacks"),
    ("a nest", lambda t: "[" * 100_000, "the manifest can't be read"),
    ("of NaN", lambda t: t.replace('"depth": 3', '"depth": NaN'), "the run's manifest is not as the kit writes it: depth"),
    ("without fingerprints", _edited(fingerprints=...), "the run's manifest lacks fingerprints"),
    ("with a depth that is a text", _edited(depth="3"), "is not as the kit writes it: depth"),
    ("with failures that are a number", _edited(failures=3), "is not as the kit writes it: failures"),
    ("with a system that is a text", _edited(system="one"), "is not as the kit writes it: system"),
    ("with another digest", _edited(run_sha256="0" * 64), "the run is not the one that its manifest names"),
    ("with another depth", _edited(depth=7), "the run was changed after the ledger noted how it ended"),
    ("of another collection", _edited(environment="other"), "the run was changed after the ledger noted"),
    ("with a ledger that is a text", _edited(ledger="x"), "is not as the kit writes it: ledger"),
]
RANKINGS = [
    ("cut to a half", lambda p: p.write_bytes(p.read_bytes()[:500]), "the run is not the one that its manifest names"),
    ("empty", lambda p: p.write_bytes(b""), "the run is not the one that its manifest names"),
    ("gone", lambda p: p.unlink(), "the run is not the one that its manifest names"),
    ("of another kind", lambda p: p.write_bytes(b"q1 Q0 d1 1 1 x\n"), "the run is not the one"),
    ("with a flipped bit", lambda p: p.write_bytes(p.read_bytes()[:60] + b"\xff" + p.read_bytes()[61:]), "is not the one"),
]
FORGED = [
    ("of other columns", pa.table({"a": [1]})), ("of texts as scores", pa.table(
        {"query_id": ["q1"], "doc_id": ["d1"], "rank": ["1"], "score": ["x"]})),
    ("of a better order", pa.table({"query_id": ["q1"], "doc_id": ["d1"], "rank": pa.array([1], pa.int32()),
                                    "score": pa.array([1], pa.float32())})),
]
RUNS = [
    ("a run's folder that is none", lambda b: ["fuse", b.path, b.runs[1], "--outputs", b.outputs], "this is no run's folder",
     "HOME", "Name a folder below outputs/runs"),
    ("a run's folder that is not there", lambda b: ["fuse", b.path / "gone", b.runs[1], "--outputs", b.outputs],
     "this is no run's folder", "gone", "Name a folder"),
    ("a run's folder by its file", lambda b: ["fuse", b.runs[0] / "run.parquet", b.runs[1], "--outputs", b.outputs],
     "this is no run's folder", "run.parquet", "Name a folder"),
]


# --- experiments' lists, and what publish takes ----------------------------------------------------

def _list(text):
    def make(bench):
        bench.experiment.write_text(text if isinstance(text, str) else text(bench.experiment.read_text()))
        return bench.commands()["publish"]
    return make


NO_LIST = "this is no experiment's list of scorecards"
LISTS = [("cut", lambda t: t[:20]), ("empty", ""), ("a list", "[]"), ("without cards", '{"environment": "a", "note": ""}'),
         ("of no card", '{"environment": "a", "note": "", "scorecards": []}'),
         ("of a number", '{"environment": "a", "note": "", "scorecards": 5}'),
         ("of a card elsewhere", '{"environment": "a", "note": "", "scorecards": ["../../x.json"]}'),
         ("of an absolute card", '{"environment": "a", "note": "", "scorecards": ["/etc/x.json"]}'),
         ("a nest", "[" * 100_000)]
PUBLISH = [
    ("a folder", lambda b: ["publish", b.path / "out", "--format", "markdown", "--outputs", b.outputs],
     "this is a folder, and a report is an experiment, notebook or scorecard", "out", "The experiments are: try"),
    ("the outputs folder's name", lambda b: ["publish", "out", "--format", "html", "--outputs", b.outputs],
     "no such experiment, notebook or scorecard", "out", "The experiments are: try"),
    ("an unknown experiment", lambda b: ["publish", "tri", "--format", "html", "--outputs", b.outputs],
     "no such experiment, notebook or scorecard", "tri", "The experiments are: try"),
    ("a path as experiment", lambda b: ["publish", "../no-such", "--format", "html", "--outputs", b.outputs],
     "no such experiment", "../no-such", "The experiments are: try"),
    ("an unknown format", lambda b: ["publish", "try", "--format", "docx", "--outputs", b.outputs], "unknown format 'docx'",
     "--format", "Give of"),
    ("markdown as scorecard", lambda b: ["publish", b.cards[0].with_suffix(".md"), "--format", "html"],
     "no such experiment, notebook or scorecard", ".md", "The experiments are"),
    ("a notebook that is none", lambda b: ["publish", _written(b.path / "x.ipynb", "{"), "--format", "html"],
     "can't be read", "x.ipynb", "."),
    ("a notebook that is a list", lambda b: ["publish", _written(b.path / "x.ipynb", "[]"), "--format", "html"],
     "can't be read", "x.ipynb", "."),
    ("outputs that are not there", lambda b: ["publish", "--outputs", b.path / "gone"], "no such outputs folder", "gone",
     "Name one"),
]


def _written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


DAMAGES = [
    *_cards(),
    *(Damage(f"a card's sheet {name}: {door}", _sheet(change, door), *((CHANGED, what, ONE) if door != "verify" else (
        ONE, CHANGED, what))) for name, change, what in SHEETS for door in ("verify", "publish a card")),
    *_ledgers(),
    *(Damage(f"a manifest {name}", _manifest(change), what, "runs/tiny", AGAIN) for name, change, what in MANIFESTS),
    *(Damage(f"a ranking {name}", _ranking(change), what, "runs/tiny", AGAIN) for name, change, what in RANKINGS),
    *(Damage(f"a forged ranking {name}", _forged(table), "run", "runs/tiny", AGAIN) for name, table in FORGED),
    *(Damage(*each) for each in RUNS),
    *(Damage(f"an experiment's list {name}", _list(text), NO_LIST, "try.json", OUT) for name, text in LISTS),
    *(Damage(f"publish {name}", *each) for name, *each in PUBLISH),
]
