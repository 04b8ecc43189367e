"""The whole pipeline in one process, notebooks left out: for tests that kill it, limit it, or run two.

`run_stages` is `kit.pipeline.run` with what each notebook computes in place of the notebook. It is
run in processes that are forked from a server which has imported the kit and computed nothing.
"""

import faulthandler
import json
import multiprocessing
import os
import re
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import datasets
import nbformat
from nbformat.v4 import new_markdown_cell, new_notebook

from kit import ledger, pipeline
from kit.cli import main
from kit.collection.sources import open_collection
from kit.files import ROOT, written_whole
from kit.params import Params, make_params
from kit.reporting import score
from kit.retrieval.execute import retrieve_all

EVENTS = {"open", "os.rename", "os.link", "os.remove", "os.mkdir", "os.rmdir", "os.truncate",
          "fcntl.flock", "shutil.copyfile", "shutil.rmtree"}  # Python's audit events that concern files
HANGS = 60  # seconds, after which a process says where it is and ends
_SERVED = multiprocessing.get_context("forkserver")
_SERVED.set_forkserver_preload([__name__])


def run_stages(params: Params) -> None:
    """Runs the pipeline, its stages in this process."""
    put_stages()
    pipeline.run(params)


def put_stages() -> None:
    """From here on the pipeline of this process runs stages in the place of notebooks."""
    def execute(notebook: Path, target: Path, params: Params, progress: Path) -> None:
        STAGES[notebook.stem](params)
        with written_whole(target) as part:  # one that is quickly made into a page
            nbformat.write(new_notebook(cells=[new_markdown_cell(f"# {notebook.stem}", id="only")]), part)

    pipeline._execute = execute


def _score(params: Params) -> None:
    collection = open_collection(params.collection)
    runs = retrieve_all(collection, params)
    score.write_scorecards(collection, runs, score.figures_of_runs(collection, runs, params), params)


STAGES = {
    "10_explore": lambda params: open_collection(params.collection),
    "20_audit": lambda params: open_collection(params.collection),  # an audit writes nothing
    "30_retrieve": lambda params: retrieve_all(open_collection(params.collection), params),
    "40_score": _score,
    "50_compare": score.cards_of,
}


def started(work: Callable, *arguments, home: Path):
    """The process that calls `work`, begun, and where it says what it says. home: of its temporary
    files and its tables."""
    hears, says = _SERVED.Pipe(duplex=False)
    process = _SERVED.Process(target=_at_home, args=(home, says, work, arguments))
    with patch.dict(os.environ, PYTHONPATH=os.pathsep.join(map(str, (Path(__file__).parent, ROOT)))):
        process.start()  # the server finds this module by the path, and imports it once
    says.close()
    return process, hears


def ended(begun: tuple) -> tuple[int, str]:
    """(exit status, minus the signal for one that was killed; what it said) of a process."""
    process, hears = begun
    with hears, open(hears.fileno(), "rb", closefd=False) as pipe:
        said = pipe.read().decode("utf-8", "replace")
    process.join()
    return process.exitcode, said


def _at_home(home: Path, says, work: Callable, arguments: tuple) -> None:
    (home / "tmp").mkdir(parents=True, exist_ok=True)
    tempfile.tempdir = str(home / "tmp")
    os.environ["KIT_OUTPUTS"] = str(home / "outputs")
    datasets.config.HF_DATASETS_CACHE = home / "tables"
    for number in (1, 2):
        os.dup2(says.fileno(), number)
    says.close()
    faulthandler.dump_traceback_later(HANGS, exit=True)
    try:
        work(*arguments)
    except Exception:
        traceback.print_exc()
        sys.stderr.flush()
        raise SystemExit(1) from None


def stages(values: dict) -> None:
    run_stages(make_params(values))


def counted(values: dict, told: Path) -> None:
    """Runs the stages, and writes how many of its events `stages_killed_at` counts, and the seconds."""
    seen, start = [0], time.monotonic()
    sys.addaudithook(lambda event, _: seen.__setitem__(0, seen[0] + (event in EVENTS)))
    stages(values)
    told.write_text(json.dumps([seen[0], time.monotonic() - start]))


def stages_killed_at(values: dict, event: int) -> None:
    """Runs the stages, and kills the process before the event of that number: an opening, moving,
    linking, locking or removal of a file."""
    left = [event]

    def hook(name: str, _) -> None:
        if name in EVENTS:  # to kill is an event too
            left[0] -= 1
            if left[0] < 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)
    stages(values)


def stages_killed_after(values: dict, seconds: float) -> None:
    """The same after a time, wherever the process then is."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    stages(values)


# --- any command ----------------------------------------------------------------------------------

def command(arguments: list[str], event: int | None = None, told: Path | None = None) -> None:
    """Runs one command. event: kills the process before its event of that number that changes something.
    told: gets the number of such events."""
    seen = [0]

    def hook(name: str, values: tuple) -> None:
        reads = name == "open" and isinstance(values[2], int) and not values[2] & (os.O_WRONLY | os.O_RDWR)
        if name in EVENTS and not reads:
            seen[0] += 1
            if seen[0] - 1 == event:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)
    status = main(arguments)
    if told:
        told.write_text(str(seen[0]))
    raise SystemExit(status)


# --- what a run has left --------------------------------------------------------------------------

def runs_and_figures(outputs: Path) -> dict[str, bytes]:
    """Every run's bytes, and every card's figures, by file; a card's without its time, and without the
    label that says that somebody works on the code."""
    runs = {str(f.relative_to(outputs)): f.read_bytes() for f in outputs.glob("runs/*/*/run.parquet")}
    cards = {f.name.split("_", 1)[1].replace("_DIRTY", ""): json.dumps(json.loads(f.read_text())["figures"]).encode()
             for f in outputs.glob("reports/scorecards/*.json")}
    return runs | cards


def names(outputs: Path) -> list[str]:
    """The files and folders of an outputs folder, each as often as it stands there; names as in
    `runs_and_figures`."""
    return sorted(re.sub(r"\d{8}T\d{6}Z", "TIME", str(f.relative_to(outputs))).replace("_DIRTY", "")
                  for f in outputs.rglob("*"))


def assert_as_good_as(outputs: Path, whole: Path) -> None:
    """What is in `outputs` is what an uninterrupted run has left in `whole`."""
    differ = {name for name, _ in runs_and_figures(outputs).items() ^ runs_and_figures(whole).items()}
    assert not differ, differ
    more, less = Counter(names(outputs)), Counter(names(whole))
    assert more == less, (more - less, less - more)
    assert ledger.read(str(outputs)).faults() == []


def small_experiment(folder: Path, make_collection, home: Path, **values) -> dict:
    """Parameters of BM25, a run file and their fusion over a small collection below `folder`."""
    queries = [{"query_id": f"q{i}", "title": f"valve {i} with a seat {i % 3}"} for i in range(8)]
    corpus = ["q0", *({"doc_id": f"d{i}", "title": f"seat {i} of a valve {i % 5}"} for i in range(30))]
    qrels = [("q0", "d0"), ("q0", "d1", "A"), *((f"q{i}", f"d{i + 2}", "overlap") for i in range(1, 8))]
    collection = folder / "own"
    if not collection.exists():
        make_collection(folder, queries, corpus, qrels, name="own")
        (folder / "mine.trec").write_text("q0 Q0 d1 1 2.5 me\nq0 Q0 q0 2 2 me\nq2 Q0 d3 1 0.5 me\n")
    return {"experiment": "own", "collection": str(collection), "systems": ["bm25", "fusion"],
            "run_files": {"mine": str(folder / "mine.trec")}, "outputs": str(home / "outputs"),
            "depth": 10, "measures": ["nDCG@10", "R@10"], **values}


