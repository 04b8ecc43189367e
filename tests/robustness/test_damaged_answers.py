"""Damaged answers of a service: a query's own fault is that query's failure, the service's stops the search."""

import json
import socket
import threading
from contextlib import suppress

import pytest
from damage import answers
from damage.harness import bounded

from kit.collection.sources import open_collection
from kit.errors import SearchError
from kit.params import Params
from kit.retrieval.execute import retrieve
from kit.retrieval.service import PLAIN, Service


@pytest.fixture(scope="module")
def collection(tmp_path_factory, make_collection):
    return open_collection(str(make_collection(tmp_path_factory.mktemp("answers"))))


@pytest.fixture
def serve():
    """A function that starts a service of raw bytes: the answer to every question, or to all but the plain
    one and the second query's."""
    listening = []

    def start(raw: bytes, always: bool) -> str:
        server = socket.create_server(("127.0.0.1", 0))
        listening.append(server)
        threading.Thread(target=_serve, args=(server, raw, always), daemon=True).start()
        return f"http://127.0.0.1:{server.getsockname()[1]}/"

    yield start
    for server in listening:
        server.close()


def _serve(server, raw, always):
    with suppress(OSError):
        while True:
            client, _ = server.accept()
            with client, suppress(OSError):
                text = _question(client)
                sound = not always and (text == PLAIN or "q2" in text)
                client.sendall(answers.given(["d1"]) if sound else raw)


def _question(client) -> str:
    received = b""
    while b"\r\n\r\n" not in received:
        received += client.recv(2**16)
    head, _, body = received.partition(b"\r\n\r\n")
    length = next(int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length"))
    while len(body) < length:
        body += client.recv(2**16)
    return json.loads(body)["query_text"]


@pytest.fixture
def search(tmp_path, collection, monkeypatch):
    monkeypatch.setattr(Service, "_wait", lambda self, stopped, seconds: None)

    def run(url):
        return retrieve(collection, "service", Params(
            outputs=str(tmp_path), query_view="title", corpus_view="title", service_url=url, service_retries=1,
            service_timeout=20.0, depth=3))
    return run


@pytest.mark.parametrize("answer", answers.FAILS, ids=lambda a: a.name)
def test_an_answer_that_fails_its_query(serve, search, answer):
    with bounded(memory=2**30):
        run = search(serve(answer.raw, always=False))
    failure, = run.manifest["failures"]
    assert failure["query_id"] == "q1" and answer.what in failure["fault"] and len(failure["fault"]) < 500
    assert run.manifest["status"] == "incomplete" and run.table["query_id"].to_pylist() == ["q2"]
    assert failure["fault"].encode() and "\n" not in failure["fault"]  # UTF-8 can hold it


@pytest.mark.parametrize("answer", answers.STOPPED, ids=lambda a: a.name)
def test_an_answer_that_stops_the_search(serve, search, tmp_path, answer):
    url = serve(answer.raw, always=True)
    with bounded(memory=2**30), pytest.raises(SearchError) as error:
        search(url)
    said = str(error.value)
    assert answer.what in said and url in said and answer.do in said.partition(url)[2] and len(said) < 500
    assert not list(tmp_path.rglob("run.parquet"))


@pytest.mark.parametrize("answer", answers.TAKEN, ids=lambda a: a.name)
def test_an_odd_answer_that_is_taken(serve, search, answer):
    run = search(serve(answer.raw, always=False))
    assert run.manifest["failures"] == []
    mine = [d for q, d in zip(*(run.table[c].to_pylist() for c in ("query_id", "doc_id"))) if q == "q1"]
    assert " ".join(mine) == answer.what
