"""`kit run` as a user starts it, stopped by a signal in a given notebook."""

import os
import random
import re
import signal
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path

import psutil

from kit.files import ROOT
from kit.pipeline import NOTEBOOKS

PATIENCE = 1200  # seconds, after which something hangs, on a busy machine too
STATUS = {signal.SIGKILL: -signal.SIGKILL, signal.SIGTERM: 128 + signal.SIGTERM,
          signal.SIGINT: 128 + signal.SIGINT}


class Pipeline:
    """`kit run` of parameters in a process of its own, with work folders below `home`."""

    def __init__(self, arguments: list[str], outputs: Path, home: Path):
        home.mkdir(parents=True, exist_ok=True)
        self.home, self.said = home, open(home / "said", "wb")
        self.log = outputs / "logs"
        self.before = self._logged()
        environment = {**os.environ, "TMPDIR": str(home), "PYTHONPATH": str(ROOT)}
        self.process = psutil.Popen(
            [sys.executable, "-m", "kit", "run", *arguments, "-p", "outputs", str(outputs)],
            stdout=self.said, stderr=subprocess.STDOUT, env=environment, cwd=ROOT)

    def end(self) -> tuple[int, str]:
        """(exit status, what was said) when it has ended by itself."""
        status = self.process.wait(PATIENCE)
        self.said.close()
        return status, (self.home / "said").read_text()

    def stop_in(self, notebook: str, how: signal.Signals, seconds: float) -> int:
        """Sends the signal so many seconds after the notebook has begun; the exit status. Raises
        AssertionError when a process of it outlives it."""
        self._wait_for(f"] {notebook}  begins")
        try:
            self.process.wait(seconds)
        except psutil.TimeoutExpired:
            family = [self.process, *self.process.children(recursive=True)]
            self.process.send_signal(how)
            _, alive = psutil.wait_procs(family, PATIENCE / 40)
            assert not alive, f"{[p.cmdline() for p in alive]} outlive the pipeline"
        return self.end()[0]

    def _wait_for(self, line: str) -> None:
        until = time.monotonic() + PATIENCE
        while line not in self._logged()[len(self.before):]:
            assert time.monotonic() < until and self.process.is_running(), (self.home / "said").read_text()
            assert self.process.status() != psutil.STATUS_ZOMBIE, (self.home / "said").read_text()
            time.sleep(0.05)

    def _logged(self) -> str:
        return "".join(f.read_text() for f in sorted(self.log.glob("*.log")))


def seconds_of(log: Path) -> dict[str, float]:
    """{notebook: seconds that it took} by the log of a pipeline that has ended well."""
    told = re.findall(r"^(\S+ \S+)Z  \[\S+\] (\S+)  (begins|done)", log.read_text(), re.MULTILINE)
    times = {(notebook, what): datetime.fromisoformat(when) for when, notebook, what in told}
    return {n: max((times[n, "done"] - times[n, "begins"]).total_seconds(), 1) for n in NOTEBOOKS}


def kills(number: int, seed: int) -> list[tuple[str, signal.Signals, float]]:
    """(notebook, signal, share of the notebook's time) of so many kills, in turn over notebooks and
    signals."""
    rng = random.Random(seed)
    signals = [signal.SIGKILL, signal.SIGTERM, signal.SIGINT]
    return [(NOTEBOOKS[n % len(NOTEBOOKS)], signals[n % len(signals)], rng.random())
            for n in range(number)]
