"""Work on many things in several processes, with the same results in the same order as in one.

The processes are started anew, not forked: the kit's own has threads. They end with the work, with
Ctrl-C, and with the kit's own process however that ends.
"""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from kit.errors import BuildError
from kit.progress import steps
from kit.provenance import processors

FEW = 100  # things that one process does sooner than others start


def in_order(work: Callable, things: Sequence, what: str, processes: int | None = None) -> Iterator:
    """Yields work(thing) of each thing, in the order of things, and says how many are done.

    work: a function of a module; what it takes and gives must be picklable. processes: the machine's
    processors, one where things are few. What work raises is raised here, as in one process. Raises
    BuildError where a process is ended from outside.
    """
    processes = processes or (1 if len(things) < FEW else processors())
    if processes == 1:
        yield from steps(map(work, things), what, len(things))
        return
    pool = ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), _prepare)
    try:
        yield from steps(pool.map(work, things), what, len(things))
    except BrokenProcessPool as error:
        raise BuildError("a process of several was ended from outside", what, "If memory ran out, allow fewer "
                         "processors (taskset). A script builds under `if __name__ == '__main__':`") from error
    finally:
        pool.shutdown(cancel_futures=True)


def _prepare() -> None:
    """Leaves Ctrl-C to the kit's own process, and ends with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(multiprocessing.parent_process(),), daemon=True).start()


def _end_with(parent) -> None:
    parent.join()
    os._exit(1)
