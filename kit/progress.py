"""Progress of long steps: from a notebook's kernel to the terminal that runs it, by a small file.

The executed notebook keeps no trail of it. The pipeline names the file in KIT_PROGRESS.
"""

import os
import time
from itertools import islice
from pathlib import Path

VARIABLE = "KIT_PROGRESS"


def blocks(items, size: int):
    """Yields lists of `size` items, the last one shorter; one block is held at a time."""
    source = iter(items)
    while block := list(islice(source, size)):
        yield block


def say(what: str) -> None:
    """Says one line, where somebody looks."""
    if path := os.environ.get(VARIABLE):
        Path(path).write_text(what)


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
    path = os.environ.get(VARIABLE)
    start = last = time.monotonic()
    for done, item in enumerate(items):
        yield item
        now = time.monotonic()
        if path and now - last >= 0.5:
            last = now
            left = (now - start) / (done + 1) * (total - done - 1)
            say(f"{what}: {done + 1} of {total}, {left:.0f} s left")
