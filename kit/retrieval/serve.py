"""BM25 as an HTTP service: what `service.py` calls, so that the way there can be tried and tested.

It does not know which query it is asked, so a query's own entry stays in its answer; whoever
measures takes it out.
"""

import errno
import json
import signal
import socket
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from kit.collection.schema import require_sound
from kit.errors import SearchError
from kit.retrieval.bm25 import Bm25, index_folder
from kit.retrieval.corpus import corpus_of
from kit.text.views import require_view, texts

MOST_BYTES = 2**26  # of a request; the longest patents have some 2**22 characters
MOST_RESULTS = 100_000
OF_PORT = (errno.EADDRINUSE, errno.EACCES)  # why a port can't be bound, whatever the host
CALL = 'Send {"query_text": "...", "topk": 100}'


class _Server(ThreadingHTTPServer):
    request_queue_size = 128  # as many may wait as a client has in flight
    daemon_threads = True     # a connection that is kept open does not keep the process

    def __init__(self, address, handler):
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        super().__init__(address, handler)

    def handle_error(self, request, client_address):
        if not isinstance(sys.exception(), ConnectionError):  # a client may go away at any time
            super().handle_error(request, client_address)


def serve(collection, view: str, host: str = "127.0.0.1", port: int = 0) -> None:
    """Serves until SIGTERM or Ctrl-C, and prints the address once it answers.

    Raises what `make_server` raises.
    """
    def stop(*_):
        raise KeyboardInterrupt

    with make_server(collection, view, host, port) as server:
        signal.signal(signal.SIGTERM, stop)
        host, port = server.server_address[:2]
        print(f"BM25 over {collection.source} ({view}) at http://{_address(host, port)}/",
              flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print("stopped", flush=True)


def make_server(collection, view: str, host: str, port: int) -> ThreadingHTTPServer:
    """A server that is bound and has its index. Port 0 takes a free one.

    Raises CollectionError and ParamsError for the collection and the view, SearchError for an
    address that can't be bound.
    """
    require_sound(collection)
    require_view(view, "corpus")
    try:
        server = _Server((host, port), _Handler)
    except (OSError, OverflowError, ValueError) as error:  # the last for what is no name of a host
        of_port = isinstance(error, OverflowError) or getattr(error, "errno", None) in OF_PORT
        raise SearchError(f"the address can't be bound: {error}", _address(host, port),
                          "Give another --port; 0 takes a free one" if of_port else
                          "Give another --host, such as 127.0.0.1") from error
    try:
        server.system = Bm25(cache=index_folder())
        server.system.expect(corpus_of(collection, view))
        server.system.prepare(list(collection.ids("corpus")), texts(collection, "corpus", view))
    except BaseException:
        server.server_close()  # else the port stays taken
        raise
    server.about = {"name": server.system.name, "version": server.system.version,
                    "collection": collection.source, "view": view,
                    "fingerprint": collection.fingerprints["together"]}
    return server


def _address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


class _Handler(BaseHTTPRequestHandler):
    """GET / says what this is; POST / answers a query."""

    protocol_version = "HTTP/1.1"
    timeout = 60                    # seconds that a client may be silent
    disable_nagle_algorithm = True  # else header and body of an answer wait for each other

    def do_GET(self):
        if self.path in ("/", "/health"):
            self._answer(200, self.server.about)
        else:
            self._refuse(404, "there is nothing at this path")

    def do_POST(self):
        if self.path != "/":
            return self._refuse(404, "there is nothing at this path")
        try:
            length = int(self.headers["Content-Length"])
        except (TypeError, ValueError):
            return self._refuse(411, "the request states no length")
        if not 0 <= length <= MOST_BYTES:
            return self._refuse(413, f"a request has {MOST_BYTES} bytes at most")
        fault, call = _read(self.rfile.read(length))
        if fault:
            return self._answer(400, {"error": f"{fault}. {CALL}"})
        try:
            found = self.server.system.search(call["query_text"], call["topk"])
        except Exception as error:  # a thread of its own: the server goes on
            return self._answer(500, {"error": f"the search failed: {type(error).__name__}"})
        self._answer(200, found)

    def _refuse(self, status: int, fault: str) -> None:
        """An answer to a request whose body is left unread, so that nothing can follow it."""
        self.close_connection = True
        self._answer(status, {"error": f"{fault}. {CALL} as a POST to /"})

    def _answer(self, status: int, value) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Nothing: a line a query says little."""


def _read(body: bytes) -> tuple[str | None, dict]:
    """What is wrong with a request's body, if anything, and the call in it."""
    try:
        call = json.loads(body)
    except (ValueError, RecursionError):
        return "the request is not JSON", {}
    if not isinstance(call, dict) or set(call) != {"query_text", "topk"}:
        return "the request is not an object of query_text and topk", {}
    if not isinstance(call["query_text"], str):
        return "query_text is no text", {}
    if type(call["topk"]) is not int or not 1 <= call["topk"] <= MOST_RESULTS:
        return f"topk is no whole number from 1 to {MOST_RESULTS}", {}
    return None, call
