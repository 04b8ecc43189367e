"""A chat endpoint on loopback that does what a test tells it, and queries to ask it about."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

CLAIMS = {f"q{n}": f"A valve number {n} comprising a seat of {n + 20} mm, a spring that is bent {word}, and a lid."
          for n, word in enumerate(["twice", "upwards", "inwards", "slowly", "to a ring", "at its end"], 1)}


class Handler(BaseHTTPRequestHandler):
    """Notes what it is asked, and leaves the answer to the test."""

    protocol_version = "HTTP/1.1"
    timeout = 10
    disable_nagle_algorithm = True

    def do_POST(self):
        call = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.calls.append(call)
            self.server.paths.append(self.path)
            self.server.keys.append(self.headers["Authorization"])
        self.server.respond(self, call["messages"][1]["content"])

    def say(self, text, finish="stop", **message):
        """A whole answer of one choice."""
        self.give({"choices": [{"message": {"role": "assistant", "content": text, **message},
                                "finish_reason": finish}]})

    def give(self, value, status=200, **headers):
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        for name, text in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), text)
        self.end_headers()
        self.wfile.write(body)

    def hang_up(self):
        self.close_connection = True

    def log_message(self, *_):
        pass


class Loopback(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, respond):
        super().__init__(("127.0.0.1", 0), Handler)
        self.respond, self.calls, self.paths, self.keys, self.lock = respond, [], [], [], threading.Lock()
        self.base = f"http://127.0.0.1:{self.server_address[1]}/v1"
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    def handle_error(self, *_):
        """A client that went away."""

    @property
    def asked(self) -> list[str]:
        """The claims that were asked, once a request."""
        return [call["messages"][1]["content"] for call in self.calls]


@pytest.fixture
def serving():
    """A function that starts an endpoint; `respond` gets the handler and the claim."""
    started = []

    def start(respond) -> Loopback:
        started.append(Loopback(respond))
        return started[-1]

    yield start
    for server in started:
        server.shutdown()
        server.server_close()


def plainly(claim: str) -> str:
    """A paraphrase as a good model would give it: every number, no sequence of the claim's words."""
    kept = [w for w in claim.split() if any(c.isdigit() for c in w)]
    return f"One shuts a pipe here, sized {' and '.join(kept) or 'freely'}, which {claim.split()[-6][::-1]} helps with."


@pytest.fixture(scope="session")
def say_plainly():
    return plainly


@pytest.fixture(scope="session")
def claims() -> dict[str, str]:
    """{query: its claim 1} of `claimed`."""
    return CLAIMS


@pytest.fixture(scope="session")
def claimed(hold_collection):
    """A collection in memory whose queries have CLAIMS."""
    return hold_collection(
        [{"query_id": q, "claims": f"1. {text}\n2. The valve of claim 1.", "source_xpn": f"EP100000{q[1:]}A1",
          "publication_authority": "EP" if q < "q4" else "US"} for q, text in CLAIMS.items()],
        ["d1", "d2"], [(q, "d1") for q in CLAIMS])
