"""A search service over loopback: the call, retries, failures by query, stops, resume, the token."""

import json
import logging
import socket
import threading
import traceback
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from kit.collection.sources import open_collection
from kit.errors import SearchError
from kit.evaluation.evaluate import all_figures
from kit.params import Params
from kit.reporting import show
from kit.reporting.scorecard import make_scorecard
from kit.retrieval import service
from kit.retrieval.execute import require_ready, retrieve
from kit.retrieval.service import PLAIN, Service

QUERY_IDS = ["d0", *(f"q{i}" for i in range(1, 10))]  # the first is a document too
DOC_IDS = [f"d{i}" for i in range(12)]
TEXTS = [f"text {name}" for name in QUERY_IDS]
TOKEN = "s3cr3t-tok3n-that-nobody-may-see"


@pytest.fixture(scope="module")
def collection(tmp_path_factory, make_collection):
    texts = {"abstract": "", "claims": "", "description": ""}
    folder = make_collection(
        tmp_path_factory.mktemp("service"),
        [{"query_id": q, "title": t, **texts} for q, t in zip(QUERY_IDS, TEXTS)],
        [{"doc_id": d, "title": d, **texts} for d in DOC_IDS], [(q, "d1") for q in QUERY_IDS])
    return open_collection(str(folder))


class Handler(BaseHTTPRequestHandler):
    """Notes what it is asked, and leaves the answer to the test."""

    protocol_version = "HTTP/1.1"
    timeout = 10
    disable_nagle_algorithm = True

    def do_POST(self):
        call = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.calls.append(call)
            self.server.headers.append(dict(self.headers))
        self.server.respond(self, call)

    def give(self, value, status=200, **headers):
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        for name, text in {"Content_Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), text)
        self.end_headers()
        self.wfile.write(body)

    def hang_up(self):
        self.close_connection = True

    def log_message(self, *_):
        pass


class Loopback(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, respond, port=0):
        super().__init__(("127.0.0.1", port), Handler)
        self.respond, self.calls, self.headers, self.lock = respond, [], [], threading.Lock()
        self.url = f"http://127.0.0.1:{self.server_address[1]}/search"
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    def handle_error(self, *_):
        """A client that went away."""

    def asked(self, text):
        return sum(call["query_text"] == text for call in self.calls)


@pytest.fixture
def serving():
    """A function that starts a server; respond(handler, call) answers."""
    servers = []

    def start(respond=lambda handler, call: handler.give(DOC_IDS[:call["topk"]]), port=0):
        servers.append(Loopback(respond, port))
        return servers[-1]

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def waits(monkeypatch):
    """The seconds that the client would have waited, in order."""
    noted = []
    monkeypatch.setattr(Service, "_wait", lambda self, stopped, seconds: noted.append(seconds))
    return noted


@pytest.fixture
def params(tmp_path):
    def build(url, **given):
        return Params(**{"outputs": str(tmp_path), "query_view": "title", "corpus_view": "title",
                         "systems": ["service"], "depth": 5, "service_url": url,
                         "service_timeout": 5.0, "service_parallel": 1, **given})
    return build


@pytest.fixture
def search(collection, params):
    return lambda url, **given: retrieve(collection, "service", params(url, **given))


def one(server, **given):
    """The answer to one query."""
    return Service(server.url, **{"timeout": 5, "parallel": 1, **given}).search_batch(["text"], 3)[0]


def in_turn(*steps):
    """Answers by the steps, one a call; the last one stays."""
    left = list(steps)

    def respond(handler, call):
        step = left.pop(0) if len(left) > 1 else left[0]
        step(handler)
    return respond


def status(code, **headers):
    return lambda handler: handler.give({}, code, **headers)


def fine(handler):
    handler.give(["d1"])


def only_for(text, step):
    """A server that answers all but one query."""
    return lambda handler, call: step(handler) if call["query_text"] == text else handler.give(
        DOC_IDS[:call["topk"]])


# --- the call -------------------------------------------------------------------------------------

def test_the_call_is_a_text_and_a_number_and_the_answer_a_ranking(serving):
    server = serving(lambda handler, call: handler.give(["d2", "d0", "d1"]))
    assert Service(server.url).search("a valve", 3) == ["d2", "d0", "d1"]
    assert server.calls == [{"query_text": "a valve", "topk": 3}]
    assert server.headers[0]["Content-Type"] == "application/json"
    assert "Authorization" not in server.headers[0]


@pytest.mark.parametrize("text", ["", "\ud800 alone", "Düse \N{SNOWMAN} \0 \n\"", "x" * 300_000])
def test_any_text_arrives_as_it_is(serving, text):
    server = serving()
    Service(server.url).search(text, 1)
    assert server.calls[0]["query_text"] == text


def test_a_run_holds_what_it_answered_without_own_entries(serving, search):
    server = serving()
    saved = search(server.url)
    assert {c["topk"] for c in server.calls} == {7} and sorted(server.calls, key=str) == sorted(
        ({"query_text": t, "topk": 7} for t in TEXTS), key=str)
    rows = saved.table.to_pydict()
    assert rows["doc_id"] == DOC_IDS[1:6] + DOC_IDS[:5] * 9
    assert saved.manifest["own_entries_excluded"] == 1 and saved.manifest["status"] == "complete"


def test_the_run_says_that_the_corpus_was_the_services_own(serving, search):
    manifest = search(serving().url, service_name="theirs", service_version="7b").manifest
    assert manifest["views"]["corpus"] == {"view": "the system's own"}
    assert manifest["views"]["query"]["view"] == "title"
    assert manifest["cost"]["index_seconds"] is None
    assert (manifest["system"]["name"], manifest["system"]["version"]) == ("theirs", "7b")


def test_answers_in_chunks_are_read(serving):
    def chunked(handler):
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for part in (b'["d', b'1"]', b""):
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
    assert one(serving(in_turn(chunked))).ids == ["d1"]


def test_no_proxy_of_the_environment_gets_the_call(serving, monkeypatch):
    proxy = serving()
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, proxy.url)
    assert one(serving(in_turn(fine))).ids == ["d1"] and proxy.calls == []


def test_no_more_than_the_stated_number_is_in_flight(serving, search):
    together, flying, most = threading.Barrier(5), [], []

    def respond(handler, call):
        flying.append(1)
        together.wait(10)  # five must be here at once
        most.append(len(flying))
        together.wait(10)
        flying.pop()
        handler.give([])
    search(serving(respond).url, service_parallel=5)
    assert max(most) == 5 and len(most) == 10


# --- retries --------------------------------------------------------------------------------------

@pytest.mark.parametrize("code", [429, 500, 502, 503, 504])
def test_it_asks_again_when_told_to(serving, waits, code):
    server = serving(in_turn(status(code), fine))
    assert one(server).ids == ["d1"]
    assert len(server.calls) == 2 and waits == [1.0]


def test_the_waits_double_up_to_a_minute(serving, waits):
    server = serving(in_turn(*[status(503)] * 8, fine))
    assert one(server, retries=8).ids == ["d1"]
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60]


@pytest.mark.parametrize("code", [429, 503])
def test_it_waits_as_long_as_it_is_asked_to(serving, waits, code):
    one(serving(in_turn(status(code, Retry_After="7"), status(code, Retry_After="0"), fine)))
    assert waits == [7, 2]


def test_it_waits_until_the_date_that_it_is_given(serving, waits, monkeypatch):
    monkeypatch.setattr("time.time", lambda: 1e9)
    one(serving(in_turn(status(429, Retry_After=formatdate(1e9 + 30, usegmt=True)), fine)))
    assert waits == [30]


@pytest.mark.parametrize("said", ["soon", "", "-5", "9" * 5000, "Mon, 99 Foo 2020 00:00:00 GMT"])
def test_a_wait_that_can_not_be_read_is_none(serving, waits, said):
    server = serving(in_turn(status(429, Retry_After=said), fine))
    assert one(server).ids == ["d1"] and waits == [1]


def test_a_wait_of_hours_stops_the_search(serving, waits):
    with pytest.raises(SearchError, match="asks to slow down: status 429.*service_parallel"):
        one(serving(in_turn(status(429, Retry_After="7200"))))
    assert waits == []


def test_a_lost_connection_is_tried_again(serving, waits):
    def half(handler):
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        handler.wfile.write(b'["d1"')
        handler.hang_up()
    assert one(serving(in_turn(Handler.hang_up, half, fine))).ids == ["d1"]
    assert len(waits) == 2


def test_a_search_that_ends_does_not_wait_for_the_others(serving):
    """The other query has been told to wait for minutes; without a stop this test takes them."""
    def respond(handler, call):
        if call["query_text"] == "waits":
            handler.give({}, 503, Retry_After="500")
        else:
            handler.give({}, 401)
    with pytest.raises(SearchError, match="refuses the call: status 401"):
        Service(serving(respond).url, parallel=2).search_batch(["ends", "waits", "later"], 1)


# --- a query that fails, a service that fails -----------------------------------------------------

@pytest.mark.parametrize("code", [400, 408, 413, 422, 451])
def test_a_refused_query_is_its_own_failure_and_is_not_asked_again(serving, search, waits, code):
    server = serving(only_for(TEXTS[3], status(code)))
    manifest = search(server.url).manifest
    assert manifest["failures"] == [{"query_id": "q3", "fault": f"status {code}"}]
    assert server.asked(TEXTS[3]) == 1 and waits == []


@pytest.mark.parametrize("code", [302, 401, 403, 404])
def test_a_call_that_is_refused_for_one_query_only_is_its_failure(serving, search, waits, code):
    server = serving(only_for(TEXTS[3], status(code)))
    assert search(server.url).manifest["failures"] == [{"query_id": "q3", "fault": f"status {code}"}]
    assert (server.asked(TEXTS[3]), server.asked(PLAIN)) == (1, 1)


@pytest.mark.parametrize("step", [status(500), Handler.hang_up])
def test_a_query_that_breaks_the_service_is_its_own_failure(serving, search, waits, step):
    server = serving(only_for(TEXTS[3], step))
    manifest = search(server.url, service_retries=2).manifest
    fault, = manifest["failures"]
    assert fault["query_id"] == "q3" and "while a plain query was answered" in fault["fault"]
    assert server.asked(TEXTS[3]) == 4  # and once more, after the plain one


def test_a_service_that_comes_back_late_has_not_failed_the_query(serving, search, waits):
    server = serving(in_turn(*[status(503)] * 3, lambda h: h.give(["d1"])))
    assert search(server.url, service_retries=2).manifest["failures"] == []


@pytest.mark.parametrize("step, said", [
    (status(500), "is down: status 500"), (status(429), "slow down: status 429"),
    (Handler.hang_up, "is down: no whole answer: the connection ended")])
def test_a_service_that_stays_down_stops_the_search(serving, search, waits, tmp_path, step, said):
    server = serving(in_turn(step))
    with pytest.raises(SearchError, match=f"{said}.*goes on from the last saved block") as error:
        search(server.url, service_retries=3)
    assert server.asked(TEXTS[0]) == 4 and len(server.calls) <= 5
    assert server.url in str(error.value) and "\n" not in str(error.value)
    assert list(tmp_path.rglob("*.json")) == []


def test_where_nothing_listens_the_search_stops(serving, search, waits):
    server = serving()
    server.shutdown()
    server.server_close()
    with pytest.raises(SearchError, match="is down: no connection"):
        search(server.url)


@pytest.mark.parametrize("code", [301, 307, 401, 403, 404, 405])
def test_a_service_that_refuses_every_call_stops_the_search(serving, search, waits, code):
    server = serving(in_turn(status(code)))
    with pytest.raises(SearchError, match=f"refuses the call: status {code}.*service_token_env"):
        search(server.url)
    assert len(server.calls) == 2 and waits == []


@pytest.fixture
def slow():
    """Steps that never come to an end while the test runs: nothing said, or a part that drips."""
    done = threading.Event()

    def silent(handler):
        done.wait(10)
        handler.hang_up()

    def dripping(begun, drop):
        def drip(handler):
            handler.wfile.write(begun)
            for _ in range(2000):  # not for ever: a client that waits for the end shall fail
                if done.wait(0.005):
                    break
                handler.wfile.write(drop)
            handler.hang_up()
        return drip

    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    yield {"silent": silent,
           "body": dripping(b"HTTP/1.1 200 OK\r\nContent-Length: 4000\r\n\r\n", b" "),
           "status line": dripping(b"HTTP/1.1 200 ", b"O"),
           "header": dripping(b"HTTP/1.1 200 OK\r\nX: ", b"a"),
           "continues": dripping(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
           "chunk size": dripping(chunked, b"0"),
           "trailers": dripping(chunked + b'6\r\n["d1"]\r\n0\r\n', b"X: a\r\n"),
           "last connection": dripping(chunked.replace(b"OK", b"OK\r\nConnection: close"), b"0")}
    done.set()


@pytest.mark.parametrize("kind", ["silent", "body", "status line", "header", "continues",
                                  "chunk size", "trailers", "last connection"])
def test_an_answer_that_takes_too_long_is_none(serving, search, waits, slow, kind):
    server = serving(only_for(TEXTS[3], slow[kind]))
    manifest = search(server.url, service_timeout=0.1, service_retries=1).manifest
    fault, = manifest["failures"]
    assert fault["query_id"] == "q3" and "no answer within 0.1 s" in fault["fault"]
    assert server.asked(TEXTS[3]) == 3


def test_a_request_that_is_not_read_is_too_slow(waits):
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}/"
        with pytest.raises(SearchError, match="is down: no answer within 0.05 s"):
            Service(url, timeout=0.05, retries=0).search("x" * 20_000_000, 1)


def test_a_service_that_is_always_too_slow_stops_the_search(serving, search, waits, slow):
    with pytest.raises(SearchError, match="is down: no answer within 0.05 s"):
        search(serving(in_turn(slow["silent"])).url, service_timeout=0.05, service_retries=1)


@pytest.mark.parametrize("body, said", [
    (b"<html>Please log in</html>", "not JSON"), (b"", "not JSON"), (b'["d1", "d', "not JSON"),
    (b"\xff\xfe", "not JSON"), (b"[" * 100_000, "not JSON"), ({"results": ["d1"]}, "no list"),
    ("d1", "no list"), (None, "no list"), ([1], "1 where an identifier"), ([None], "None where"),
    ([{"id": "d1"}], "where an identifier"), (["d1", "d1"], "'d1' twice"),
    (["zz"], "'zz', which the corpus lacks"), (DOC_IDS[:8], "8 identifiers, where 7")])
def test_an_answer_that_is_no_ranking_is_a_failure_of_its_query(serving, search, body, said):
    server = serving(only_for(TEXTS[3], lambda handler: handler.give(body)))
    fault, = search(server.url).manifest["failures"]
    assert fault["query_id"] == "q3" and said in fault["fault"]
    assert server.asked(TEXTS[3]) == 1


def test_an_answer_that_never_ends_is_a_failure(serving, search, monkeypatch):
    monkeypatch.setattr(service, "MOST_BYTES", 100)
    server = serving(only_for(TEXTS[3], lambda handler: handler.give(["d1"] * 50)))
    fault, = search(server.url).manifest["failures"]
    assert fault == {"query_id": "q3", "fault": "an answer of more than 100 bytes"}


def test_a_long_identifier_does_not_swell_the_manifest(serving, search):
    fault, *_ = search(serving(in_turn(lambda h: h.give(["x" * 100_000]))).url).manifest["failures"]
    assert len(fault["fault"]) < 200


def test_an_empty_list_is_listed_by_query_and_is_no_failure(serving, search):
    manifest = search(serving(only_for(TEXTS[3], lambda handler: handler.give([]))).url).manifest
    assert (manifest["empty_rankings"], manifest["empty_queries"]) == (1, ["q3"])
    assert (manifest["failures"], manifest["status"]) == ([], "complete")


# --- resume ---------------------------------------------------------------------------------------

def test_the_search_goes_on_after_the_service_was_down(serving, search, waits, monkeypatch, tmp_path):
    monkeypatch.setattr(Service, "block", 4)
    whole = search(serving().url, outputs=str(tmp_path / "whole"))
    down = threading.Event()

    def respond(handler, call):
        if call["query_text"] == TEXTS[5]:
            down.set()  # within the second block
        handler.give({}, 503) if down.is_set() else handler.give(DOC_IDS[:call["topk"]])

    server = serving(respond)
    with pytest.raises(SearchError, match="is down"):
        search(server.url)
    down.clear()
    server.respond, server.calls = serving().respond, []
    saved = search(server.url, service_timeout=9.0, service_retries=1, service_parallel=2)
    assert sorted(c["query_text"] for c in server.calls) == sorted(TEXTS[4:])
    assert (saved.folder / "run.parquet").read_bytes() == (whole.folder / "run.parquet").read_bytes()
    assert saved.manifest["status"] == "complete"


def test_a_run_with_failed_queries_is_reopened_as_it_is(serving, search):
    server = serving(only_for(TEXTS[3], status(400)))
    first = search(server.url)
    asked = len(server.calls)
    assert search(server.url).manifest == first.manifest and len(server.calls) == asked


@pytest.mark.parametrize("change, same", [
    ({"service_timeout": 9.0}, True), ({"service_parallel": 2}, True), ({"service_retries": 0}, True),
    ({"service_name": "other"}, False), ({"service_version": "2"}, False)])
def test_what_names_the_run(serving, search, change, same):
    server = serving()
    assert (search(server.url).folder == search(server.url, **change).folder) is same


# --- the token ------------------------------------------------------------------------------------

@pytest.fixture
def token(monkeypatch):
    monkeypatch.setenv("SEARCH_TOKEN", TOKEN)
    return {"service_token_env": "SEARCH_TOKEN"}


def test_the_token_is_sent(serving, search, token):
    server = serving()
    search(server.url, **token)
    assert {h["Authorization"] for h in server.headers} == {f"Bearer {TOKEN}"}


def test_the_token_is_written_nowhere(serving, search, token, waits, tmp_path, capfd, caplog):
    """Not even when the service gives it back, as an identifier or in an error."""
    caplog.set_level(logging.DEBUG)
    said = []
    for step in (lambda h: h.give([TOKEN]), lambda h: h.give({}, 400, X_Echo=TOKEN),
                 lambda h: h.give(TOKEN.encode()), lambda h: h.give(["d1", f"x{TOKEN}"])):
        saved = search(serving(only_for(TEXTS[3], step)).url, **token)
        assert [f["query_id"] for f in saved.manifest["failures"]] == ["q3"]
        said.append(show.failures([saved]).data)
    for step in (status(401, WWW_Authenticate=TOKEN), status(500), Handler.hang_up,
                 status(302, Location=f"http://127.0.0.1/{TOKEN}")):
        try:
            search(serving(in_turn(step)).url, **token)
        except SearchError:
            said.append(traceback.format_exc())
    assert len(said) == 8
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) == 10 and not [p for p in files if TOKEN.encode() in p.read_bytes()]
    assert TOKEN not in "".join(said) + "".join(capfd.readouterr()) + caplog.text


@pytest.mark.parametrize("token", ["to\\ken", "it's", 'a"b', "12345"])
@pytest.mark.parametrize("wrapped", [
    '[[{}]]', '["d1", {{"a": [{}]}}]', '[{{{}: 1}}]', '["d1 " , [[["x", {}]]]]'])
def test_a_token_is_found_however_it_is_wrapped(serving, monkeypatch, token, wrapped):
    monkeypatch.setenv("SEARCH_TOKEN", token)
    escaped = '"' + "".join(f"\\u{ord(sign):04x}" for sign in token) + '"'
    for written in (json.dumps(token), escaped):
        server = serving(in_turn(lambda h, body=wrapped.format(written): h.give(body.encode())))
        assert one(server, token_env="SEARCH_TOKEN") == "an answer that holds the token"


def test_a_number_that_is_the_token_is_found(serving, monkeypatch):
    monkeypatch.setenv("SEARCH_TOKEN", "12345")
    server = serving(in_turn(lambda h: h.give([[123450]])))
    assert one(server, token_env="SEARCH_TOKEN") == "an answer that holds the token"


def test_a_redirect_gets_neither_the_token_nor_the_query(serving, search, token):
    other = serving()
    with pytest.raises(SearchError, match="status 307"):
        search(serving(in_turn(status(307, Location=other.url))).url, **token)
    assert other.calls == []


def test_a_variable_that_is_not_set_is_refused_before_anything_is_searched(
        collection, params, monkeypatch):
    monkeypatch.delenv("SEARCH_TOKEN", raising=False)
    with pytest.raises(SearchError, match="no variable of the name.*service_token_env"):
        require_ready(collection, params("http://127.0.0.1:9/", service_token_env="SEARCH_TOKEN"))


def test_a_token_given_as_the_name_is_not_said_again(collection, params):
    with pytest.raises(SearchError) as error:
        require_ready(collection, params("http://127.0.0.1:9/", service_token_env=TOKEN))
    assert TOKEN not in "".join(traceback.format_exception(error.value))


@pytest.mark.parametrize("value", [f"{TOKEN}\r\nX-Other: 1", f"{TOKEN}\N{SNOWMAN}", ""])
def test_a_token_that_is_no_headers_is_refused(collection, params, monkeypatch, value):
    monkeypatch.setenv("SEARCH_TOKEN", value)
    with pytest.raises(SearchError, match="service_token_env") as error:
        require_ready(collection, params("http://127.0.0.1:9/", service_token_env="SEARCH_TOKEN"))
    assert TOKEN not in str(error.value)


# --- the address ----------------------------------------------------------------------------------

@pytest.mark.parametrize("url, said", [
    (None, "no address"), ("", "not http"), ("localhost:8000/search", "not http"),
    ("ftp://host/", "not http"), ("file:///etc/passwd", "not http"), ("http://", "not http"),
    ("http:///path", "not http"), ("http://host:99999/", "can't be read"),
    ("http://ho st/", "can't be read"), ("http://host/\n", "can't be read"),
    (f"http://me:{TOKEN}@host/", "holds a user"),
    (f"https://{TOKEN}@host/", "holds a user"), (f"http://host/?key={TOKEN}", "holds a user"),
    (f"http://host/#{TOKEN}", "holds a user"), (f"http://me:{TOKEN}@ho st/", "can't be read")])
def test_an_address_that_is_refused_before_anything_is_searched(collection, params, url, said):
    with pytest.raises(SearchError, match=f"{said}.*service_url") as error:
        require_ready(collection, params(url))
    assert TOKEN not in "".join(traceback.format_exception(error.value))


def test_a_service_need_not_be_up_before_it_is_searched(collection, params):
    require_ready(collection, params("http://127.0.0.1:9/"))


# --- what becomes of it ---------------------------------------------------------------------------

@pytest.fixture
def misbehaving(serving, search):
    answers = {"q1": [], "q2": ["zz"], "q3": ["d1", "d1"], "q4": DOC_IDS[:8], "q5": "no list"}

    def respond(handler, call):
        handler.give(answers.get(call["query_text"].split()[-1], ["d1"]))
    return search(serving(respond).url)


def test_a_run_with_failed_queries_can_not_be_quoted(collection, misbehaving):
    figures = all_figures(misbehaving.table, collection, ["R@5"], 0)
    card = make_scorecard(collection, misbehaving, figures, Params())
    assert "INCOMPLETE" in card.labels and not card.quotable
    assert (card.counts["failed_queries"], card.counts["empty_rankings"]) == (4, 1)
    everyone, = (f for f in card.figures if (f.protocol, f.slice) == ("all", "all"))
    assert (everyone.n, everyone.mean) == (10, pytest.approx(0.5))  # a failed query scores 0


def test_the_notebook_lists_them_by_query(misbehaving):
    shown = show.failures([misbehaving]).data
    for query_id, said in {"q1": "an empty ranking", "q2": "which the corpus lacks", "q3": "twice",
                           "q4": "8 identifiers, where 7", "q5": "no list"}.items():
        row, = (r for r in shown.split("<tr>") if f">{query_id}<" in r)
        assert said in row
    assert "delete its folder" in shown


def test_the_notebooks_list_says_how_many_it_leaves_out(misbehaving):
    assert "3 more stand in service-" in show.failures([misbehaving], most=2).data


def test_the_notebook_says_when_there_is_nothing_to_list(serving, search):
    assert "Every system answered every query" in show.failures([search(serving().url)]).data
