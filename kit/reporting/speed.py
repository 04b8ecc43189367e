"""What `70_speed` shows: seconds and peak memory of commands, each in a process of its own."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from kit.collection.generated import write_generated
from kit.errors import NotebookError
from kit.files import ROOT, outputs_folder

INTERVAL = 0.02  # seconds between two looks at the memory
SOPHIA = {"documents": 75_050, "queries": 10_000, "pairs": 66_469}
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


def generated(share: float, outputs: str) -> Path:
    """A generated collection of that share of Sophia's size; made once under `outputs`."""
    sizes = {name: max(round(n * share), 60) for name, n in SOPHIA.items()}
    home = outputs_folder(outputs) / "cache" / "generated-{documents}-{queries}".format(**sizes)
    return home if home.is_dir() else write_generated(home, **sizes)


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
