"""BM25 and embeddings beyond one machine: the corpus in shards on the workers of Dask.

Everything that a worker does is a task of plain data (see shards.py): one that dies costs the time
to do its tasks again elsewhere. Only the best of each shard come back, and the vocabulary once.
"""

import logging
import socket
import threading
import time
import uuid
import warnings
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

import numpy as np

from kit.collection.sources import anywhere
from kit.errors import KitError, SearchError
from kit.files import digest_of, work_folder
from kit.progress import say
from kit.provenance import processors
from kit.retrieval import shards
from kit.retrieval.bm25_index import require_room
from kit.retrieval.corpus import Corpus
from kit.retrieval.engine import Found, merged
from kit.retrieval.system import one_line
from kit.retrieval.vectors import BLOCK
from kit.text.words import Vocabulary

LOCAL = "local"
PATIENCE = 60  # seconds that a scheduler, or a worker, is waited for
KNOCK = 5      # seconds that a scheduler has to answer before an experiment begins
POLL = 1       # seconds between two looks at what has become of the work
_ALONE = threading.Lock()  # of a worker: compiled loops that run in parallel do so one at a time


class Shards:
    """The corpus of one system on a cluster. Whoever prepared it closes it.

    scheduler: local, for one process a core of this machine, or an address. number: of shards, None
    for one a worker.
    """

    def __init__(self, scheduler: str, number: int | None, source: str, revision: str | None,
                 streaming: bool, view: str):
        self._scheduler, self._number = scheduler, number
        self._place = (anywhere(source), revision, streaming, view)
        self._held, self._token = ExitStack(), uuid.uuid4().hex[:8]
        self._shards, self._kept, self._sha256, self._workers = [], [], [], 0

    def count(self, ids: list[str], corpus: Corpus, settings: dict) -> Vocabulary:
        """Counts and weighs the corpus, to be searched by `best_of_words`; returns all its terms.

        Raises SearchError for a cluster that can't be reached, has no worker or loses them all,
        and what `shards.counted` and `shards.summed` raise.
        """
        if self._scheduler == LOCAL and corpus.size is not None:
            require_room(len(ids), corpus.size)
        rows = self._rows(ids, 1)
        counted = [self._submit(shards.counted, own) for own in rows]
        told = [self._submit(shards.told, own) for own in counted]
        whole = self._submit(shards.summed, told, settings)
        known, = self._results([whole], told, "bm25: shards counted")
        self._require(corpus, known.seen)
        self._shards = [self._submit(shards.weighed, own, whole, settings, r.start)
                        for own, r in zip(counted, rows)]
        self._kept = told  # where a worker dies, the others' need not be made again
        self._best = shards.best_of_words
        self._await(self._shards, self._shards, "bm25: shards weighed")
        return known.vocabulary()

    def encode(self, ids: list[str], corpus: Corpus, model: dict, settings: dict) -> dict[str, int]:
        """Encodes the corpus, to be searched by `best_of_vectors`; returns what was seen of its
        texts. Shards begin where blocks of one machine do, so that vectors are the same.

        Raises what `count` raises, and `shards.encoded`.
        """
        rows = self._rows(ids, BLOCK)
        encoded = [self._submit(shards.encoded, own, model, settings) for own in rows]
        told = [self._submit(shards.seen_of, own) for own in encoded]
        known, = self._results([self._submit(shards.seen, told)], told, "embedding: shards encoded")
        self._require(corpus, known)
        self._shards = [self._submit(shards.shard_of_vectors, own, r.start)
                        for own, r in zip(encoded, rows)]
        self._best = shards.best_of_vectors
        return known.counts

    def best(self, queries, places: np.ndarray, k: int) -> Found:
        """The k best documents of each query; see `engine.best`."""
        asked = self._submit(_as_is, queries)
        found = [self._submit(self._best, own, asked, k) for own in self._shards]
        parts = self._results(found, found, "shards searched")
        if [part.sha256 for part in parts] != self._sha256:
            raise self._other_data()
        return merged([part.found for part in parts], places, k)

    def cost(self) -> dict[str, int]:
        """What a manifest says of the cluster."""
        return {"workers": self._workers, "shards": len(self._shards)}

    def close(self) -> None:
        """Lets the workers' memory go, and ends a local cluster's processes."""
        self._shards, self._kept = [], []
        self._held.close()

    def _rows(self, ids: list[str], step: int) -> list[shards.Rows]:
        self.close()
        self._client = self._held.enter_context(connected(self._scheduler, self._number))
        self._workers = len(self._client.nthreads())
        parts = shards.borders(len(ids), self._number or self._workers, step)
        return [shards.Rows(*self._place, a, b, digest_of(ids[a:b]), shards.code())
                for a, b in parts]

    def _submit(self, function, *arguments):
        import dask

        name = f"{function.__name__.strip('_')}-{self._token}-{uuid.uuid4().hex}"
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "100 GB"}):
            return self._client.submit(_alone, function, *arguments, key=name)

    def _results(self, wanted: list, counted: list, what: str) -> list:
        """The results of futures; raises what `_await` raises."""
        self._await(wanted, counted, what)
        with self._explaining():
            return self._client.gather(wanted)

    def _await(self, wanted: list, counted: list, what: str) -> None:
        """Waits for futures, or the first error, and says how many of `counted` are there. Raises
        a KitError for whatever goes wrong, a cluster without a worker for a minute included."""
        from distributed import wait

        last = time.monotonic()
        with self._explaining(), self._client.as_current():
            while any(future.status == "pending" for future in wanted):
                try:
                    wait(wanted, timeout=POLL)
                except TimeoutError:
                    done = sum(future.status == "finished" for future in counted)
                    say(f"{what}: {done} of {len(counted)}")
                    last = time.monotonic() if self._client.nthreads() else last
                if any(future.status == "error" for future in wanted):
                    break
                if time.monotonic() - last > PATIENCE:
                    raise SearchError(f"the cluster has had no worker for {PATIENCE} s",
                                      self._scheduler, "Start workers, and run the same again")
            for future in wanted:
                if future.status != "finished":
                    future.result()

    @contextmanager
    def _explaining(self):
        try:
            yield
        except Exception as error:
            raise _explained(error, self._scheduler) from error

    def _require(self, corpus: Corpus, seen: shards.Seen) -> None:
        self._sha256 = seen.shards
        if corpus.key and corpus.key["corpus"] != seen.sha256:
            raise self._other_data()

    def _other_data(self) -> SearchError:
        return SearchError("the workers' copy of the corpus is not the one on this machine",
                           self._place[0], f"Each worker needs {shards.SAME}")


def _alone(function, *arguments):
    """On a worker: one computation at a time, in as many threads as the worker has."""
    import numba
    from distributed import get_worker

    with _ALONE:
        numba.set_num_threads(min(get_worker().state.nthreads, numba.config.NUMBA_NUM_THREADS))
        return function(*arguments)


def _as_is(value):
    """A value as a task, so that it is sent once, and again where a worker dies."""
    return value


def require_reachable(scheduler: str) -> None:
    """Raises SearchError unless something listens at the scheduler's address; a local one is yet to start."""
    parts = urlsplit(scheduler)
    if parts.scheme not in ("tcp", "tls"):
        return
    try:
        socket.create_connection((parts.hostname, parts.port), timeout=KNOCK).close()
    except (OSError, ValueError, OverflowError) as error:
        raise SearchError(f"the scheduler can't be reached: {_said(error)}", scheduler,
                          "Give the address that it prints when it starts, or local") from error


@contextmanager
def connected(scheduler: str, number: int | None):
    """A client of a cluster that has a worker. A local one's processes end with the block.

    Raises SearchError for a cluster that can't be reached or started, has other versions, or gets
    no worker within `PATIENCE` seconds.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise SearchError("Dask is not installed", "engine: dask",
                          "pip install -r requirements.txt") from error
    with ExitStack() as held:
        try:
            address = held.enter_context(_local(number)) if scheduler == LOCAL else scheduler
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of versions: it is an error below
                client = held.enter_context(
                    Client(address, timeout=PATIENCE, set_as_default=False))
        except Exception as error:  # of an address, in many kinds
            raise SearchError(f"the scheduler can't be reached: {_said(error)}", scheduler,
                              "Give the address that it prints when it starts, or local") from error
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError as error:
            raise SearchError(f"the cluster got no worker within {PATIENCE} s", scheduler,
                              "Start workers, and run the same again") from error
        try:
            client.get_versions(check=True)
        except ValueError as error:
            raise SearchError(f"the cluster has other versions than this machine: {_said(error)}",
                              scheduler, "Install the same requirements.txt on scheduler and "
                              "workers") from error
        yield client


@contextmanager
def _local(number: int | None):
    """A cluster of this machine's cores, which nothing else can reach."""
    import dask
    from distributed import LocalCluster

    cores = processors()
    workers = min(cores, number or cores)
    threads = cores // workers
    # not numba's: Dask sets them in this process for a while, where numba must not see a change
    environ = {name: threads for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS",
                                          "OPENBLAS_NUM_THREADS")}
    with work_folder() as home:
        with dask.config.set({"distributed.nanny.pre-spawn-environ": environ}):
            cluster = LocalCluster(
                n_workers=workers, threads_per_worker=threads, processes=True, host="127.0.0.1",
                dashboard_address="127.0.0.1:0", memory_limit=None, local_directory=str(home),
                silence_logs=logging.CRITICAL,
                env={"KIT_PROGRESS": "", "DASK_LOGGING__DISTRIBUTED": "critical"})
        with cluster:
            yield cluster


def _explained(error: Exception, scheduler: str) -> KitError:
    """An error of Dask's as one that says what to do."""
    from distributed import KilledWorker

    if isinstance(error, KitError):
        return error
    said = _said(error)
    if isinstance(error, KilledWorker):
        return SearchError("the workers died one after another over the same shard, which most "
                           "often means that the memory ran out", scheduler,
                           "Give workers more memory, or more shards")
    if isinstance(error, OSError):
        return SearchError(f"the scheduler was lost: {said}", scheduler,
                           "Start it again, and run the same again")
    if isinstance(error, (ImportError, AttributeError)) or "deserializ" in said:
        return SearchError(f"the cluster lacks the kit, or has another: {said}", scheduler,
                           "Install the same kit and requirements.txt on scheduler and workers")
    return SearchError(f"the cluster failed: {said}", scheduler,
                       "Look into the logs of scheduler and workers, and run the same again")


def _said(error: Exception) -> str:
    return one_line(f"{type(error).__name__}: {error}", 300)
