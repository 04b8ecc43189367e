"""What `70_speed` shows: processes that are timed, collections of growing sizes, and what must hold.

What is measured beside a peer is `kit.reporting.peers`, in a process of its own a part.
"""

import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from kit.collection.generated import write_generated
from kit.errors import NotebookError
from kit.files import ROOT, outputs_folder
from kit.reporting.growth import extrapolated
from kit.text.spread import spread
from kit.text.views import VIEWS, view_of
from kit.text.words import count_terms

INTERVAL = 0.02  # seconds between two looks at the memory
SOPHIA = {"documents": 75_050, "queries": 10_000, "pairs": 66_469}
DAPFAM = {"documents": 45_336, "queries": 1_247, "pairs": 24_929}
LENGTHS, AGGREGATIONS = [64, 128, 256, 512, 1024, 2048], ["maxP", "avg_top3", "avgP", "sumP"]
FRACTIONS = (0.1, 0.3, 1)  # of the share that is asked for: growth
WORKER = 24_000  # MB of memory that a worker of a cluster has
WORST = 0.2   # a line's distance from a measured size, as a share
LEAST = 0.05  # what a line grows over the measured sizes, as a share of what it begins with
PEERS = 7_505  # documents, for the bounds beside peers
REAL = ROOT.parent / "shared" / "data" / "full-texts" / "documents.jsonl.gz"
CORES = 2
THREADS = [f"{name}_NUM_THREADS" for name in ("OPENBLAS", "OMP", "MKL", "NUMBA")]
_READ_ALL = """
import sys
from kit.collection.sources import open_collection
data = open_collection(sys.argv[1], streaming=True)
for table in ("queries", "corpus"):
    for batch in data.batches(table, ["title", "abstract", "claims", "description"]):
        pass
"""


@dataclass(frozen=True)
class Timed:
    """A process: wall seconds, processor seconds, and the largest memory that it held, in MB."""

    seconds: float
    processor_seconds: float
    peak_memory_mb: float


def timed(arguments: list[str]) -> Timed:
    """Runs Python with these arguments and measures it. Raises NotebookError if it fails."""
    start = time.perf_counter()
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen([sys.executable, *arguments], cwd=ROOT, stderr=said,
                                   stdout=subprocess.DEVNULL)
        peak, done = 0.0, 0
        while not done:
            peak = max(peak, _peak_so_far(process.pid))
            done, status, used = os.wait4(process.pid, os.WNOHANG)
            time.sleep(0 if done else INTERVAL)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - start
        if process.returncode:
            said.seek(0)
            raise NotebookError(f"a measured command failed: {said.read().strip()[-300:]}",
                                " ".join(arguments[:3]), "Run it alone to see the whole error")
    return Timed(seconds, used.ru_utime + used.ru_stime, peak or used.ru_maxrss / 2**20)


def _peak_so_far(pid: int) -> float:
    """The largest memory of a process up to now, in MB; 0 where the system does not say.

    `ru_maxrss` would be at least that of this process, from which the other was forked.
    """
    try:
        stated = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 2**10 for line in stated.splitlines()
                 if line.startswith("VmHWM:")), 0.0)


def generated(share: float, outputs: str, of: dict[str, int] = SOPHIA) -> Path:
    """A generated collection of that share of Sophia's size; made once under `outputs`."""
    sizes = {name: max(round(n * share), 60) for name, n in of.items()}
    home = outputs_folder(outputs) / "cache" / "generated-{documents}-{queries}".format(**sizes)
    return home if home.is_dir() else write_generated(home, **sizes)


class Place(NamedTuple):
    """A generated collection, and the outputs folder of what is measured on it."""

    folder: Path
    work: Path


def places(share: float, outputs: str) -> list[Place]:
    """Generated collections of growing sizes, up to that share of Sophia's."""
    folders = [generated(share * fraction, outputs) for fraction in FRACTIONS]
    return [Place(folder, folder.parent / "speed" / folder.name) for folder in folders]


def sweep_time(share: float, outputs: str) -> dict:
    """Seconds and peak memory of a sweep of BM25 over passages, at that share of DAPFAM's size."""
    folder = generated(share, outputs, DAPFAM)
    work = folder.parent / "speed" / f"sweep-{folder.name}"
    shutil.rmtree(work, ignore_errors=True)
    given = {"systems": "[bm25-passages]", "query_view": "tac", "corpus_view": "tacd",
             "measures": "[nDCG@100, R@100]", "sweep_lengths": str(LENGTHS),
             "sweep_aggregations": str(AGGREGATIONS), "outputs": str(work)}
    spent = timed(["-m", "kit", "sweep", str(folder),
                   *(part for name, value in given.items() for part in ("-p", name, value))])
    documents, queries = folder.name.split("-")[1:]
    return {"documents": int(documents), "queries": int(queries), **vars(spent)}


def measured(part: str, *arguments) -> dict | list[dict]:
    """What `kit.reporting.peers` finds for a part, in a process of its own with two threads and
    without OPENBLAS_CORETYPE. Raises NotebookError if it fails."""
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_CORETYPE"}
    command = ["-m", "kit.reporting.peers", part, *map(str, arguments)]
    done = subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True,
                          env=environment | dict.fromkeys(THREADS, str(CORES)))
    if done.returncode:
        raise NotebookError(f"a measurement failed: {done.stderr.strip()[-300:]}",
                            " ".join(command), "Run it alone to see the whole error")
    return json.loads(done.stdout)


def baselines(at: list[Place]) -> pd.DataFrame:
    """A row a size: BM25 over full texts from the tables to the saved run. What is compiled at its
    first use is so before."""
    measured("baseline", at[0].folder, at[0].work)
    return pd.DataFrame([measured("baseline", place.folder, place.work) for place in at])


def searches(at: list[Place]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """For full texts, and for titles and abstracts: a row a size, seconds a query and MB of the kit
    and its peers. Call it after `baselines`, whose index it opens."""
    rows = pd.DataFrame(measured("searching", "tacd,ta", *(path for place in at for path in place)))
    full, short = (rows[rows["view"] == view].reset_index(drop=True) for view in ("tacd", "ta"))
    return full, short


def indexings(at: list[Place], most: int = 25_000) -> pd.DataFrame:
    """A row a size of `most` documents at most, whose texts and tokens are held in memory: seconds
    from full texts to an index."""
    few = [p.folder for p in at if int(p.folder.name.split("-")[1]) <= most]
    return pd.DataFrame(measured("indexing", "tacd", *few))


def spreads(place: Place) -> pd.DataFrame:
    """How words are spread over a collection's documents (kit.text.spread), a row a quantity."""
    return pd.Series(measured("words", place.folder, "tacd", place.work)).to_frame("generated")


def real_texts() -> pd.DataFrame | None:
    """The same of the full texts of real patents beside this project, None where they are not."""
    if not REAL.exists():
        return None
    with gzip.open(REAL, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    counts, _ = count_terms(view_of(row.get(name) for name in VIEWS["tacd"]) for row in rows)
    return pd.Series(spread(counts)).to_frame("real")


def beyond(base: pd.DataFrame, full: pd.DataFrame) -> pd.DataFrame:
    """What 609 thousand and 10.5 million full texts would take (growth.extrapolated). A line that
    falls or hardly grows over the measured sizes, or is more than a fifth off one, says nothing and
    is left out."""
    seen = pd.DataFrame({
        "documents": base["documents"], "postings": full["postings"],
        "indexing, s": base["preprocessing seconds"] + base["index seconds"],
        "1,000 queries, s": 1000 * base["search seconds"] / base["queries"],
        "memory, MB": base["peak memory mb"]})
    lines = extrapolated(seen, memory_a_worker=WORKER)
    grows = lines["slope"] * lines["largest"] > LEAST * lines["intercept"].clip(0)
    return lines[(lines["slope"] > 0) & grows & (lines["worst fit"] < WORST)]


def times(frame: pd.DataFrame, peer: str) -> pd.Series:
    """How many times as long as the kit a peer takes."""
    return frame[peer] / frame["kit"]


def audit_times(folder: Path) -> pd.DataFrame:
    """Seconds and memory of reading all texts once, and of the audit without and with near-equal
    texts; `times reading` is the ratio to the first, which a faster machine leaves as it is."""
    audit = ["-m", "kit", "audit", str(folder)]
    return _table({"reading every text once": lambda: timed(["-c", _READ_ALL, str(folder)]),
                   "audit without near-equal texts": lambda: timed([*audit, "--quick"]),
                   "audit with near-equal texts": lambda: timed(audit)})


def _table(measured: dict[str, Callable[[], Timed]]) -> pd.DataFrame:
    """A row a process, the first being what the others are held against."""
    rows = {name: vars(measure()) for name, measure in measured.items()}
    frame = pd.DataFrame.from_dict(rows, orient="index").rename(columns=lambda c: c.replace("_", " "))
    return frame.assign(**{"times reading": frame["processor seconds"] / frame["processor seconds"].iloc[0]})


def must_hold(base: pd.DataFrame, full: pd.DataFrame, short: pd.DataFrame, made: pd.DataFrame,
              scored: dict, near: dict, swept: dict) -> pd.DataFrame:
    """A row a bound: what it means, the figure here, the bound, and whether it holds; nothing is
    said of a size below the one that it is made for."""
    mid, last = full[full["documents"] <= PEERS].iloc[-1], full.iloc[-1]
    indexed, whole, brief = made[made["documents"] <= PEERS].iloc[-1], base.iloc[-1], short.iloc[-1]
    sophia, most = SOPHIA["documents"], SOPHIA["queries"]
    rows = [
        ("a full-text query: bm25s (numba) / kit", mid["bm25s numba"] / mid["kit"], ">=", 30,
         mid["documents"], PEERS, "how many times as long bm25s takes"),
        ("a full-text query: scipy / kit", mid["scipy"] / mid["kit"], ">=", 6, mid["documents"], PEERS,
         "how many times as long a product of sparse matrices takes"),
        ("title and abstract: bm25s (numba) / kit", brief["bm25s numba"] / brief["kit"], ">=", 1,
         brief["documents"], sophia, "1 or more: the kit is not slower"),
        ("indexing from text: bm25s / kit", indexed["bm25s"] / indexed["kit"], ">=", 2,
         indexed["documents"], PEERS, "how many times as long bm25s takes to tokenize and index"),
        ("the whole baseline, minutes", whole["seconds"] / 60, "<", 10, whole["documents"], sophia,
         "from the cached tables to the saved run of every query"),
        ("the whole baseline, GB", whole["peak memory mb"] / 1000, "<", 6, whole["documents"], sophia,
         "the most that the process held at once"),
        ("a full-text query there: bm25s (numba) / kit", last["bm25s numba"] / last["kit"], ">=", 30,
         last["documents"], sophia, "how many times as long bm25s takes at the largest size"),
        ("scoring: pytrec_eval alone / kit", scored["pytrec_eval alone"] / scored["kit"], ">", 1,
         scored["queries"], most, "above 1: the kit is faster on the measures that both have"),
        ("embeddings: kit / bare product", near["kit"] / near["bare product"], "<=", 1.5,
         near["documents"], sophia, "how many times the bare product of the matrices an exact top 100 takes"),
        ("the sweep, minutes", swept["seconds"] / 60, "<", 60, swept["documents"], DAPFAM["documents"],
         "BM25 over passages of six lengths, with four aggregations of each"),
        ("the sweep, GB", swept["peak_memory_mb"] / 1000, "<", 10, swept["documents"],
         DAPFAM["documents"], "the most that the process held at once"),
    ]
    return pd.DataFrame([_bound(*row) for row in rows])


def _bound(name: str, value: float, sign: str, bound: float, size: int, of: int, means: str) -> dict:
    kept = {">=": value >= bound, ">": value > bound, "<": value < bound, "<=": value <= bound}[sign]
    verdict = ("yes" if kept else "no") if size >= of else "made for a larger size"
    return {"figure": name, "here": f"{value:,.1f}", "must hold": f"{sign} {bound}",
            "at": f"{size:,.0f} of {of:,}", "holds": verdict, "what it says": means}
