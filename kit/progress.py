"""Progress of long steps: from a notebook's kernel to the terminal and the log, by a small file, to the
cell in JupyterLab, or to the terminal in which a command runs.

The executed notebook keeps no trail of it. The pipeline names the file in KIT_PROGRESS; an empty name
keeps a process silent.
"""

import os
import shutil
import sys
import time
from collections import deque
from itertools import islice
from pathlib import Path

from kit.visible import visible

VARIABLE = "KIT_PROGRESS"
OFTEN = 0.5  # seconds between two lines, at least
FEW = 3  # items, the first not counted, before time left is told: the first may compile or load
RECENT = 20  # lines, over which the rate is taken


def blocks(items, size: int):
    """Yields lists of `size` items, the last one shorter; one block is held at a time."""
    source = iter(items)
    while block := list(islice(source, size)):
        yield block


def say(what: str) -> None:
    """Says one line, where somebody looks: the file that the pipeline reads, else the cell of a
    person who sits in front of it, else the terminal, where it is written over by the next."""
    if path := os.environ.get(VARIABLE):
        Path(path).write_text(visible(what), encoding="utf-8")
    elif (shell := _attended()) is not None:
        _Line.of(shell).show(what)
    else:
        _on_terminal(visible(what))


def _on_terminal(line: str) -> None:
    """Writes the line in place of the one before; an empty one leaves nothing."""
    if VARIABLE not in os.environ and sys.stderr.isatty():
        fits = line[:shutil.get_terminal_size().columns - 1]
        print(f"\r\033[K{fits}", end="", file=sys.stderr, flush=True)


class Stopwatch:
    """Seconds that its items took to come, apart from what is done with them."""

    seconds = 0.0

    def over(self, items):
        """Passes the items through."""
        source = iter(items)
        while True:
            start = time.perf_counter()
            item = next(source, self)
            self.seconds += time.perf_counter() - start
            if item is self:
                return
            yield item


def steps(items, what: str, total: int):
    """Passes the items through, and says how far they are, twice a second at most."""
    tally = Tally(what, total)
    try:
        for item in items:
            yield item
            tally.one()
    finally:
        _on_terminal("")


class Tally:
    """How many of `total` are done, said twice a second at most."""

    def __init__(self, what: str, total: int):
        self.what, self.total, self.done = what, total, 0
        self._last, self._recent = time.monotonic(), deque(maxlen=RECENT)

    def one(self) -> None:
        """One more is done."""
        self.done += 1
        now = time.monotonic()
        if not self._recent or now - self._last >= OFTEN:
            self._recent.append((now, self.done))
        if now - self._last >= OFTEN:
            self._last = now
            say(f"{self.what}: {self.done:,} of {self.total:,}{_left(self._recent, self.total)}")
        if self.done == self.total:
            _on_terminal("")


def _left(recent: deque, total: int) -> str:
    """The time left at the recent rate. recent: (seconds, items done by then), the oldest first."""
    (start, first), (now, done) = recent[0], recent[-1]
    if done - first < FEW or done >= total:
        return ""
    return f", about {in_words((now - start) / (done - first) * (total - done))} left"


def in_words(seconds: float) -> str:
    """Seconds as a person says them: 40 s, 12 min, 3 h 20 min."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


# --- the cell in JupyterLab -----------------------------------------------------------------------

def _attended():
    """The kernel's shell if a person can answer it, else None.

    JupyterLab offers its user's input with every cell; nbconvert, papermill and nbval offer none,
    and keep whatever a cell shows.
    """
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell if getattr(getattr(shell, "kernel", None), "_allow_stdin", False) else None


class _Line:
    """One line in the running cell, rewritten in place, and emptied when the cell ends."""

    def __init__(self, shell):
        from IPython.display import display

        self.handle = display(_plain(""), display_id=True)
        self._shell = shell
        shell.events.register("post_run_cell", self.end)

    @classmethod
    def of(cls, shell) -> "_Line":
        """The line of the cell that runs."""
        if getattr(shell, "kit_line", None) is None:
            shell.kit_line = cls(shell)
        return shell.kit_line

    def show(self, what: str) -> None:
        """Writes over what stood there."""
        self.handle.update(_plain(visible(what)))

    def end(self, *_) -> None:
        """Leaves the line empty."""
        self.handle.update(_plain(""))
        self._shell.events.unregister("post_run_cell", self.end)
        self._shell.kit_line = None


def _plain(text: str):
    """Text that is shown as it stands: no HTML, no formula."""
    from IPython.display import Pretty

    return Pretty(text)
