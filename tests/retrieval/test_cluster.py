"""A run made by Dask is the run of one machine, byte for byte, whatever dies meanwhile."""

import os
import shutil
import signal
import threading
import time
from pathlib import Path

import pytest
from distributed import Client, LocalCluster

from kit.collection.sources import open_collection
from kit.errors import KitError, SearchError
from kit.params import make_params
from kit.retrieval import cluster, execute
from kit.retrieval.bm25 import Bm25
from kit.retrieval.cluster import Shards, connected
from kit.retrieval.execute import query_positions, retrieve
from kit.text.views import texts

BASE = {"corpus_view": "title", "query_view": "title", "depth": 20}


@pytest.fixture(scope="module")
def dask(own_folders, tmp_path_factory):
    """Two worker processes of one thread each, started once."""
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1",
                      dashboard_address="127.0.0.1:0", memory_limit=None, silence_logs=50,
                      env={"DASK_LOGGING__DISTRIBUTED": "critical"},
                      local_directory=str(tmp_path_factory.mktemp("dask"))) as made:
        yield made


@pytest.fixture
def client(dask):
    with Client(dask, set_as_default=False) as made:
        made.wait_for_workers(2)
        yield made


@pytest.fixture
def params(tmp_path):
    """A function that makes parameters with an outputs folder of their own."""
    def make(name: str, **given):
        return make_params({**BASE, "outputs": str(tmp_path / name), **given}, "test")
    return make


@pytest.fixture
def on_dask(params, dask):
    """A function that makes the same for the cluster."""
    def make(name: str = "dask", **given):
        return params(name, engine="dask", scheduler=dask.scheduler_address, **given)
    return make


@pytest.fixture(scope="module")
def alone(mini, tmp_path_factory):
    """BM25's run of one machine."""
    outputs = str(tmp_path_factory.mktemp("alone"))
    return retrieve(mini, "bm25", make_params({**BASE, "outputs": outputs}, "test"))


def bytes_of(run) -> bytes:
    return (run.folder / "run.parquet").read_bytes()


@pytest.mark.parametrize("shards", [1, 2, 3, 7])
def test_bm25_in_any_number_of_shards(mini, alone, on_dask, shards):
    run = retrieve(mini, "bm25", on_dask(shards=shards))
    assert bytes_of(run) == bytes_of(alone)
    assert run.folder.name == alone.folder.name  # the way it was made is no part of the key,
    assert {n: run.manifest["cost"][n] for n in ("workers", "shards")} == {
        "workers": 2, "shards": shards}          # but can be seen
    assert not {"workers", "shards"} & set(alone.manifest["cost"])
    assert run.manifest["notes"] == alone.manifest["notes"]


def test_embeddings_in_a_shard_a_worker(mini, params, on_dask, model_folder):
    given = {"embedding_model": str(model_folder), "embedding_pooling": "mean",
             "embedding_query_prompt": "", "embedding_corpus_prompt": "", "embedding_device": "cpu"}
    one = retrieve(mini, "embedding", params("one", **given))
    run = retrieve(mini, "embedding", on_dask(**given))
    assert bytes_of(run) == bytes_of(one) and run.folder.name == one.folder.name
    assert run.manifest["cost"]["shards"] == 2  # 600 documents in blocks of 512
    assert run.manifest["notes"] == one.manifest["notes"]


def test_a_worker_that_is_killed_costs_time_only(mini, client, dask):
    """The one that holds most shards stands still while all are searched, and is killed."""
    queries = list(texts(mini, "queries", "title"))[:40]
    one, ids = Bm25(), list(mini.ids("corpus"))
    one.prepare(ids, texts(mini, "corpus", "title"))
    expected = [(a.ids, a.scores.tolist()) for a in one.search_batch(queries, 15)]
    many = Bm25(shards=Shards(dask.scheduler_address, 4, "mini", None, False, "title"))
    try:
        many.prepare(ids, ())
        many.search_batch(queries[:1], 15)  # all is weighed
        pid = client.run(os.getpid)[holder(client)]
        os.kill(pid, signal.SIGSTOP)
        found = []
        search = threading.Thread(target=lambda: found.append(many.search_batch(queries, 15)))
        search.start()
        until = time.monotonic() + 60
        while not is_searching(client) and time.monotonic() < until:
            assert search.is_alive()
        os.kill(pid, signal.SIGKILL)
        search.join()
        assert [(a.ids, a.scores.tolist()) for a in found[0]] == expected
    finally:
        many.close()


def holder(client) -> str:
    """The address of the worker with the most shards, without which no search can end."""
    held = client.has_what()
    count = {address: sum(key.startswith("weighed") for key in held[address]) for address in held}
    assert sum(count.values()) >= 4
    return max(count, key=count.get)


def is_searching(client) -> bool:
    """Whether the search has begun: its queries may be on their way to the one that stands still."""
    keys = (key for own in client.processing().values() for key in own)
    return any(key.startswith(("best_of_words", "as_is")) for key in keys)


def test_a_search_that_is_broken_off_leaves_no_process_and_goes_on(mini, alone, params,
                                                                   monkeypatch):
    """With a cluster of its own, by Ctrl-C in its second block; one machine takes it up."""
    monkeypatch.setattr("kit.retrieval.bm25.BLOCK", 50)
    seen, best = [], Shards.best

    def broken(self, *arguments):
        seen.append(children())
        if len(seen) == 2:
            raise KeyboardInterrupt
        return best(self, *arguments)

    before = children()
    with monkeypatch.context() as patch:
        patch.setattr(Shards, "best", broken)
        with pytest.raises(KeyboardInterrupt):
            retrieve(mini, "bm25", params("cut", engine="dask", shards=2))
    assert seen[0] - before and not children() - before
    searched = []
    monkeypatch.setattr(execute, "_search_block", lambda *args, block=execute._search_block:
                        searched.append(1) or block(*args))
    run = retrieve(mini, "bm25", params("cut"))
    assert bytes_of(run) == bytes_of(alone)
    assert len(searched) == -(-len(query_positions(mini, params("cut"))) // 50) - 1


def children() -> set[int]:
    """The processes that this one and its children have started, but for the one by which
    multiprocessing tracks its resources, which stays."""
    found, of = set(), {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            pid, rest = stat.parent.name, stat.read_text().rpartition(")")[2].split()
            command = (stat.parent / "cmdline").read_bytes()
        except OSError:
            continue
        if b"resource_tracker" not in command and rest[0] != "Z":
            of.setdefault(int(rest[1]), []).append(int(pid))
    ahead = [os.getpid()]
    while ahead:
        own = of.get(ahead.pop(), [])
        found |= set(own)
        ahead += own
    return found


# --- one line that says what to do ------------------------------------------------------------------

def told(error) -> str:
    line = str(error.value)
    assert "\n" not in line and len(line) < 1000
    return line


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense", "xyz://a:1"])
def test_an_address_with_no_scheduler(address, monkeypatch):
    monkeypatch.setattr(cluster, "PATIENCE", 0.3)
    with pytest.raises(SearchError) as error:
        with connected(address, None):
            pass
    assert "scheduler can't be reached" in told(error) and address in told(error)


def test_a_cluster_that_never_gets_a_worker(monkeypatch):
    monkeypatch.setattr(cluster, "PATIENCE", 0.3)
    with LocalCluster(n_workers=0, host="127.0.0.1", dashboard_address="127.0.0.1:0") as empty:
        with pytest.raises(SearchError) as error:
            with connected(empty.scheduler_address, None):
                pass
    assert "no worker within" in told(error)


def test_a_cluster_that_loses_its_workers(mini, monkeypatch):
    monkeypatch.setattr(cluster, "PATIENCE", 0.3)
    monkeypatch.setattr(cluster, "POLL", 0.05)
    with LocalCluster(n_workers=1, threads_per_worker=1, processes=False, host="127.0.0.1",
                      protocol="tcp", dashboard_address="127.0.0.1:0", silence_logs=50) as small:
        many = Bm25(shards=Shards(small.scheduler_address, 2, "mini", None, False, "title"))
        many.prepare(list(mini.ids("corpus")), ())
        small.scale(0)
        with Client(small, set_as_default=False) as client:
            while client.nthreads():
                pass
        with pytest.raises(SearchError) as error:
            many.search_batch(["valve"], 5)
        many.close()
    assert "has had no worker" in told(error)


def test_other_versions(dask, monkeypatch):
    def mismatch(self, check):
        raise ValueError("Mismatched versions found\n\ndask 1 2")
    monkeypatch.setattr(Client, "get_versions", mismatch)
    with pytest.raises(SearchError) as error:
        with connected(dask.scheduler_address, None):
            pass
    assert "other versions" in told(error) and "requirements.txt" in told(error)


def test_rank_bm25_stays_on_one_machine(params):
    with pytest.raises(SearchError, match="one machine only"):
        Bm25.from_params(params("x", engine="dask", bm25_engine="rank-bm25"))


def test_a_worker_without_the_data(make_collection, tmp_path, on_dask):
    folder = make_collection(tmp_path)
    collection = open_collection(str(folder))
    shutil.move(folder, tmp_path / "elsewhere")
    collection.fingerprints
    with pytest.raises(KitError) as error:
        retrieve(collection, "bm25", on_dask(collection=str(folder)))
    assert "a worker can't read the collection" in told(error) and str(folder) in told(error)


def test_a_worker_with_other_texts(make_collection, tmp_path, on_dask):
    folder = make_collection(tmp_path)
    collection = open_collection(str(folder))
    collection.fingerprints
    shutil.rmtree(folder)
    make_collection(tmp_path, corpus=["d1", "d2", {"doc_id": "d3", "description": "Of another."}])
    with pytest.raises(SearchError) as error:  # though the title is all that is searched
        retrieve(collection, "bm25", on_dask(collection=str(folder)))
    assert "copy of the corpus is not the one on this machine" in told(error)
