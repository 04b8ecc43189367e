"""BM25 as an HTTP service: what it answers, what it refuses, and the same run by either way."""

import http.client
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
from contextlib import nullcontext
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.cli import main
from kit.collection.sources import open_collection
from kit.files import ROOT
from kit.params import Params
from kit.retrieval import serve
from kit.retrieval.bm25 import Bm25
from kit.retrieval.execute import retrieve
from kit.retrieval.serve import make_server
from kit.retrieval.service import Service
from kit.text.views import texts

WORDS = "valve seat spring rotor blade pump seal shaft gear lever nozzle filter".split()
DOC_IDS = [f"p{i}" for i in range(4)] + [f"d{i:02d}" for i in range(20)]
QUERY_IDS = [f"p{i}" for i in range(4)] + [f"q{i}" for i in range(8)]  # four are documents too


def patents(ids, column):
    rng = random.Random(7)
    texts = [" ".join(rng.choices(WORDS, k=9)) for _ in range(9)]  # fewer texts than patents: ties
    return [{column: name, "title": texts[i % 9], "abstract": "zebra", "claims": "", "description": ""}
            for i, name in enumerate(ids)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory, make_collection):
    return make_collection(tmp_path_factory.mktemp("serve"), patents(QUERY_IDS, "query_id"),
                           patents(DOC_IDS, "doc_id"), [(q, "d00") for q in QUERY_IDS])


@pytest.fixture(scope="module")
def collection(folder):
    return open_collection(str(folder))


@pytest.fixture(scope="module")
def server(collection):
    with make_server(collection, "title", "127.0.0.1", 0) as made:
        threading.Thread(target=made.serve_forever, args=(0.01,), daemon=True).start()
        yield made
        made.shutdown()


def ask(server, body=b"", method="POST", path="/", **headers):
    """Status and JSON of one request."""
    connection = http.client.HTTPConnection(*server.server_address, timeout=10)
    connection.request(method, path, body, headers)
    response = connection.getresponse()
    status, found = response.status, json.loads(response.read())
    connection.close()
    return status, found


def call(query_text, topk):
    return json.dumps({"query_text": query_text, "topk": topk}).encode()


@pytest.mark.parametrize("path", ["/", "/health"])
def test_it_says_what_it_is(server, collection, folder, path):
    assert ask(server, method="GET", path=path) == (200, {
        "name": "bm25", "version": Bm25.version, "collection": str(folder), "view": "title",
        "fingerprint": collection.fingerprints["together"]})


@given(st.text(st.sampled_from("valve gear rotor \ud800é\n"), max_size=40) | st.sampled_from(WORDS),
       st.integers(1, 40))
def test_it_answers_what_bm25_answers(server, collection, text, topk):
    there = Service(f"http://127.0.0.1:{server.server_address[1]}/").search(text, topk)
    assert there == server.system.search(text, topk)


def test_more_than_there_are_documents_gives_all_that_match(server):
    status, found = ask(server, call(" ".join(WORDS), 1000))
    assert status == 200 and sorted(found) == sorted(DOC_IDS)


@pytest.mark.parametrize("body, said", [
    (b"", "not JSON"), (b"valve", "not JSON"), (b"\xff", "not JSON"), (b"[" * 100_000, "not JSON"),
    (b"[]", "not an object"), (b"{}", "not an object"), (b'{"query_text": "valve"}', "not an object"),
    (b'{"query_text": "valve", "topk": 1, "more": 1}', "not an object"),
    (call(None, 1), "query_text is no text"), (call(["valve"], 1), "query_text is no text"),
    *((call("valve", k), "topk is no whole number from 1 to 100000")
      for k in (0, -1, 100_001, 1.0, True, "1", None))])
def test_a_bad_request_is_told_what_is_wrong(server, body, said):
    status, found = ask(server, body)
    assert status == 400 and said in found["error"] and '"query_text"' in found["error"]


@pytest.mark.parametrize("method, path, headers, status", [
    ("GET", "/search", {}, 404), ("POST", "/search", {}, 404),
    ("POST", "/", {"Content-Length": str(2**26 + 1)}, 413), ("POST", "/", {"Content-Length": "-1"}, 413),
    ("POST", "/", {"Content-Length": "many"}, 411), ("POST", "/", {"Transfer-Encoding": "chunked"}, 411)])
def test_a_request_that_it_does_not_read(server, method, path, headers, status):
    found = ask(server, None, method, path, **headers)
    assert found[0] == status and "error" in found[1]


def test_a_search_that_fails_does_not_end_it(server, monkeypatch):
    monkeypatch.setattr(server.system, "search", lambda *_: 1 / 0)
    assert ask(server, call("valve", 1)) == (500, {"error": "the search failed: ZeroDivisionError"})
    monkeypatch.undo()
    assert ask(server, call("valve", 1))[0] == 200


@pytest.mark.parametrize("arguments, said", [
    (["--view", "nonsense"], "unknown view 'nonsense'"), (["--view", "ai_ab"], "no view 'ai_ab'"),
    (["--port", "70000"], "another --port"), (["--host", "no.such.host.invalid"], "another --host"),
    (["--host", "192.0.2.1"], "another --host"), (["--host", "a" * 300], "another --host"),
    (["--port", "many"], "it is no whole number")])
def test_a_server_that_can_not_start_is_one_line(capsys, folder, arguments, said):
    assert main(["serve", "--collection", str(folder), *arguments]) == 1
    out, err = capsys.readouterr()
    assert out == "" and said in err and err.count("\n") == 1


def test_a_port_that_is_taken_is_one_line(capsys, folder, server):
    assert main(["serve", "--collection", str(folder), "--port", str(server.server_address[1])]) == 1
    said = capsys.readouterr().err
    assert "can't be bound" in said and "another --port" in said


def test_it_serves_an_address_of_ipv6(collection):
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6")
    with make_server(collection, "title", "::1", 0) as made:
        threading.Thread(target=made.serve_forever, args=(0.01,), daemon=True).start()
        there = Service(f"http://[::1]:{made.server_address[1]}/").search("valve", 3)
        made.shutdown()
    assert there == made.system.search("valve", 3)


def test_an_address_of_ipv6_is_said_in_brackets(collection, monkeypatch, capsys):
    made = SimpleNamespace(server_address=("::1", 8000, 0, 0), serve_forever=lambda: None)
    monkeypatch.setattr(serve, "make_server", lambda *_: nullcontext(made))
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    serve.serve(collection, "title", "::1", 8000)
    assert capsys.readouterr().out.endswith(" at http://[::1]:8000/\n")


@pytest.fixture(scope="module")
def process(folder):
    """`python -m kit serve` as a process of its own, and its address."""
    command = [sys.executable, "-m", "kit", "serve", "--collection", str(folder), "--view", "title"]
    with subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        line = running.stdout.readline()  # when it is ready
        yield running, line.split()[-1]
        running.kill()


@pytest.mark.parametrize("depth", [1, 5, 100])
def test_a_run_over_loopback_is_the_run_in_process(collection, process, tmp_path, depth):
    params = Params(outputs=str(tmp_path), query_view="title", corpus_view="title", depth=depth,
                    service_url=process[1])
    there, here = (retrieve(collection, name, params) for name in ("service", "bm25"))
    assert there.table.drop_columns("score").equals(here.table.drop_columns("score"))
    same = ("own_entries_excluded", "empty_queries", "failures", "status", "fingerprints", "depth")
    assert {k: there.manifest[k] for k in same} == {k: here.manifest[k] for k in same}
    assert here.manifest["own_entries_excluded"] == 4


def test_it_ends_cleanly_when_told_to(process):
    """The last test of the process."""
    running, _ = process
    running.send_signal(signal.SIGTERM)
    out, err = running.communicate(timeout=20)
    assert (running.returncode, out, err) == (0, "stopped\n", "")


def test_its_index_is_of_the_view(collection, server):
    engine = Bm25()
    engine.prepare(DOC_IDS, texts(collection, "corpus", "title"))
    assert ask(server, call("valve gear", 30)) == (200, engine.search("valve gear", 30))
    assert ask(server, call("zebra", 30)) == (200, [])  # stands in the abstracts only
