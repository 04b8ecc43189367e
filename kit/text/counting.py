"""Term counts of a view of a whole table, cleaned and counted by several processes.

A worker is `python -m kit.text.counting`: it reads blocks of raw fields from its standard input and
writes their counts to its standard output, both as Arrow streams, and ends with its input. So no
process is forked from one that has threads, no main module is read again, and none outlives a
parent that is killed.
"""

import os
import subprocess
import sys
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from itertools import chain, islice
from typing import Self

import numpy as np
import pyarrow as pa
from scipy import sparse

from kit.errors import SearchError
from kit.files import ROOT
from kit.text.views import VIEWS, join_list, require_view, view_of
from kit.text.words import Rows, Vocabulary, count_terms

BLOCK = 4_000_000  # characters that a worker is sent at once, about; one text more at the most
WORTH = 12         # blocks; with fewer, the start of the workers costs more than they save
COUNTED = pa.schema([("ends", pa.list_(pa.int64())), ("columns", pa.list_(pa.int32())),
                     ("counts", pa.list_(pa.int32())), ("terms", pa.list_(pa.large_string()))])


def count_view(collection, table: str, view: str,
               workers: int | None = None) -> tuple[sparse.csr_array, Vocabulary]:
    """`count_terms` of a view of `queries` or `corpus`, the same for any number of workers.

    workers: processes; by default one a processor that this process may use. Of the texts some
    blocks of 4 million characters are held, two a worker. Raises SearchError when a worker ends
    before its work does.
    """
    require_view(view, table)
    workers = workers or _processors()
    blocks = _blocks(collection, table, list(VIEWS[view]))
    first = list(islice(blocks, WORTH)) if workers > 1 else []
    blocks = chain(first, blocks)
    if len(first) < WORTH:
        return count_terms(view_of(row) for block in blocks for row in block)
    return _counted_by(workers, blocks)


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):  # not everywhere
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _blocks(collection, table: str, fields: list[str]) -> Iterator[list[tuple[str, ...]]]:
    """The raw fields of the rows, lists of them joined, some rows at a time."""
    block, held = [], 0
    for batch in collection.batches(table, fields):
        for row in zip(*(batch[name] for name in fields)):
            block.append(tuple(map(join_list, row)))
            held += sum(map(len, block[-1]))
            if held >= BLOCK:
                yield block
                block, held = [], 0
    if block:
        yield block


def _counted_by(workers: int, blocks: Iterator) -> tuple[sparse.csr_array, Vocabulary]:
    seen, rows = Vocabulary(), Rows()
    with ExitStack() as stack:
        pool = [stack.enter_context(_Worker(seen)) for _ in range(workers)]
        waiting: deque = deque()
        for n, block in enumerate(blocks):
            worker = pool[n % workers]
            waiting.append((worker, worker.ask(block)))
            if len(waiting) == 2 * workers:
                _take(rows, *waiting.popleft())
        while waiting:
            _take(rows, *waiting.popleft())
    vocabulary, place = seen.in_order()
    return rows.matrix(place), vocabulary


def _take(rows: Rows, worker: "_Worker", answer: Future) -> None:
    """Adds the rows of a worker's next answer, and its new terms."""
    ends, columns, counts, terms = (answer.result().column(name)[0].values for name in COUNTED.names)
    worker.place = np.concatenate([worker.place, worker.seen.add(terms)])
    rows.extend(worker.place[columns.to_numpy()], counts.to_numpy(),
                np.diff(ends.to_numpy(), prepend=0).tolist())


class _Worker:
    """A process that counts, and the thread that talks to it. place: its ids as ours."""

    def __init__(self, seen: Vocabulary):
        self.seen, self.place = seen, np.empty(0, np.int32)

    def __enter__(self) -> Self:
        paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
        # of a session of its own, so that an interrupt at the terminal reaches the parent alone
        self._process = subprocess.Popen(
            [sys.executable, "-m", "kit.text.counting"], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": paths}, start_new_session=True)
        self._thread = ThreadPoolExecutor(1)
        self._asked = self._answers = None
        return self

    def __exit__(self, *_) -> None:
        self._process.kill()
        self._thread.shutdown(cancel_futures=True)
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(BrokenPipeError):
                pipe.close()
        self._process.wait()

    def ask(self, block: list[tuple[str, ...]]) -> Future:
        """The answer to come, a batch of COUNTED."""
        return self._thread.submit(self._count, block)

    def _count(self, block: list[tuple[str, ...]]) -> pa.RecordBatch:
        batch = pa.record_batch([pa.array(values, pa.large_string()) for values in zip(*block)],
                                names=[str(n) for n in range(len(block[0]))])
        try:
            if self._asked is None:
                self._asked = pa.ipc.new_stream(self._process.stdin, batch.schema)
            self._asked.write_batch(batch)
            self._process.stdin.flush()
            if self._answers is None:
                self._answers = pa.ipc.open_stream(self._process.stdout)
            return self._answers.read_next_batch()
        except (OSError, StopIteration, pa.ArrowInvalid) as error:
            ended = self._process.wait()
            raise SearchError(f"a process that counts words ended early, with status {ended}", "bm25",
                              "Look whether the machine has memory left, and start again") from error


def _answer() -> None:
    """What a worker does: counts for fields, block by block, until there is no more input."""
    seen, rows = Vocabulary(), Rows()
    with pa.ipc.new_stream(sys.stdout.buffer, COUNTED) as answers:
        for batch in _asked():
            known = len(seen)
            for row in zip(*(column.to_pylist() for column in batch.columns)):
                rows.add(seen, view_of(row))
            columns, counts, ends = rows.taken()
            answers.write_batch(pa.record_batch(
                [_one(ends), _one(columns), _one(counts), _one(seen.packed(known))],
                schema=COUNTED))
            sys.stdout.buffer.flush()


def _asked() -> Iterator[pa.RecordBatch]:
    """The blocks that are sent; an input that ends in the middle of one ends them too."""
    with suppress(OSError, pa.ArrowInvalid), pa.ipc.open_stream(sys.stdin.buffer) as blocks:
        yield from blocks


def _one(values) -> pa.ListArray:
    """The values as a list of one row."""
    values = pa.array(values) if isinstance(values, np.ndarray) else values
    return pa.ListArray.from_arrays(pa.array([0, len(values)], pa.int32()), values)


if __name__ == "__main__":
    with suppress(BrokenPipeError):  # the parent is gone
        _answer()
