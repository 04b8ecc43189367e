"""Damaged answers of a search service, as the bytes that come over the socket, met by `retrieve`.

An answer that is a query's own fault makes that query fail: it scores 0, is listed, and the run can't be
quoted. One that is the service's stops the search, with the way on.
"""

import gzip
import json
import zlib
from typing import NamedTuple

IDS = ["d1", "d2"]
GOES_ON = "the same command goes on from the last saved block"


class Answer(NamedTuple):
    """raw: the bytes of a whole HTTP answer. what: words of the query's fault, or of the error that stops
    the search; do: the error's advice, None where it is the query's own fault."""

    name: str
    raw: bytes
    what: str
    do: str | None = None


def http(body: bytes, status: str = "200 OK", length: int | None = None, **headers) -> bytes:
    """An HTTP answer."""
    lines = [f"HTTP/1.1 {status}", "Content-Type: application/json", "Connection: close",
             f"Content-Length: {len(body) if length is None else length}",
             *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items())]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def given(value) -> bytes:
    return http(json.dumps(value).encode())


NOT_JSON, NO_LIST = "an answer that is not JSON", "JSON that is no list of identifiers"
BODIES = [  # a body, what is said of the query
    ("nothing", b"", NOT_JSON), ("a page", b"<html>busy</html>", NOT_JSON), ("cut JSON", b'["d1", "d', NOT_JSON),
    ("two lists", b'["d1"]["d2"]', NOT_JSON), ("a nest", b"[" * 100_000, NOT_JSON), ("latin-1", b'["d\xe9"]', NOT_JSON),
    ("single quotes", b"['d1']", NOT_JSON), ("lines of JSON", b'"d1"\n"d2"\n', NOT_JSON), ("NUL", b"\0" * 100, NOT_JSON),
    ("an object", b'{"ids": ["d1"]}', NO_LIST), ("a text", b'"d1"', NO_LIST), ("null", b"null", NO_LIST),
    ("a number", b"1", NO_LIST), ("NaN", b"NaN", NO_LIST), ("true", b"true", NO_LIST),
    ("a number of a million digits", b"9" * 10**6, NOT_JSON),
    ("more than an answer may have", b"[" + b"1," * 2**23 + b"1]", "an answer of more than 16777216 bytes"),
]
TEXT, LACKS = "where an identifier, a text, is asked for", "which the corpus lacks"
LISTS = [  # a JSON value, what is said
    *((name, value, f"{shown} {TEXT}") for name, value, shown in (
        ("numbers", [1, 2], "1"), ("a null", ["d1", None], "None"), ("objects", [{"id": "d1"}], "{'id': 'd1'}"),
        ("lists", [["d1"]], "['d1']"), ("pairs with scores", [["d1", 0.5]], "['d1', 0.5]"), ("true", [True], "True"),
        ("NaN", [float("nan")], "nan"))),
    *((name, value, f"identifier {shown}, {LACKS}") for name, value, shown in (
        ("an empty id", [""], "''"), ("a blank", [" "], "' '"), ("an unknown id", ["d1", "d9"], "'d9'"),
        ("an id of another case", ["D1"], "'D1'"), ("a path", ["../../x"], "'../../x'"),
        ("a tag", ["<script>alert(1)</script>"], "'<script>alert(1)</script>'"), ("an escape", ["\x1b[2J"], r"'\x1b[2J'"),
        ("turned letters", ["\u202ed1"], r"'\u202ed1'"), ("half a character", ["\ud800"], r"'\ud800'"),
        ("a NUL", ["d1\0"], r"'d1\x00'"), ("an id of a megabyte", ["d" * 10**6], f"'{'d' * 79}…'"),
        ("an id with a blank", ["d1 "], "'d1 '"))),
    ("an id twice", ["d1", "d1"], "identifier 'd1' twice"),
    ("too many", [f"d{n}" for n in range(1, 9)], "8 identifiers, where 3 were asked for"),
    ("ten thousand of one", ["d1"] * 10_000, "10000 identifiers, where 3 were asked for"),
]
STATUSES = [("400 Bad Request", "status 400"), ("413 Too Large", "status 413"), ("422 Unprocessable", "status 422"),
            ("418 A Teapot", "status 418")]
PACKED = [
    ("a bomb of gzip", http(gzip.compress(bytes(2**28)), Content_Encoding="gzip"), "an answer of more than 16777216 bytes"),
    ("a bomb of deflate", http(zlib.compress(bytes(2**28)), Content_Encoding="deflate"), "an answer of more than"),
    ("cut gzip", http(gzip.compress(b'["d1", "d2"]')[:-9], Content_Encoding="gzip"), "an answer that can't be unpacked"),
    ("gzip that is none", http(b'["d1"]', Content_Encoding="gzip"), "an answer that can't be unpacked"),
    ("an unknown encoding", http(b'["d1"]', Content_Encoding="br"), "in an encoding that was not asked for"),
    ("two encodings", http(b'["d1"]', Content_Encoding="gzip, gzip"), "in an encoding that was not asked for"),
]
BROKEN = [  # no whole answer: while a plain question is answered, it is the query's own
    ("silence", b""), ("half a status", b"HTTP/1."), ("no HTTP", b"SSH-2.0-OpenSSH\r\n"), ("no status", b"HTTP/1.1 OK\r\n\r\n"),
    ("a status of letters", b"HTTP/1.1 two OK\r\n\r\n"), ("a body that ends early", http(b'["d1"]', length=500)),
    ("chunks that are none", http(b"zz\r\nx", Transfer_Encoding="chunked")),
    ("a header without end", b"HTTP/1.1 200 OK\r\nA: " + b"x" * 10**5), ("a thousand headers", b"HTTP/1.1 200 OK\r\n" + b"".join(
        f"A{n}: x\r\n".encode() for n in range(1000)) + b"\r\n"),
]
STOPS = [  # the service's own: it answers every question so
    *((f"status {status}", http(b"", status), f"status {status[:3]}", GOES_ON) for status in (
        "500 Oops", "502 Bad Gateway", "503 Unavailable", "504 Late")),
    ("429", http(b"", "429 Slow Down"), "the service asks to slow down: status 429", "Lower service_parallel"),
    *((f"status {status}", http(b"", status), f"the service refuses the call: status {status[:3]}", "Check service_url")
      for status in ("401 Who", "403 No", "404 Where", "405 How", "410 Gone")),
    ("a redirect", http(b"", "302 Found", Location="http://127.0.0.1:9/"), "the service refuses the call: status 302", "Check service_url"),
    ("a redirect to a file", http(b"", "301 Moved", Location="file:///etc/passwd"), "the service refuses the call: status 301",
     "Check service_url"),
    ("a redirect to itself", http(b"", "307 Again", Location="/"), "the service refuses the call: status 307", "Check service_url"),
    ("an absurd wait", http(b"", "503 Later", Retry_After="9" * 30), "the service is down: status 503", GOES_ON),
]
FAILS = [
    *(Answer(name, http(body), what) for name, body, what in BODIES),
    *(Answer(f"a list of {name}", given(value), what) for name, value, what in LISTS),
    *(Answer(f"status {status}", http(b"", status), what) for status, what in STATUSES),
    *(Answer(name, raw, what) for name, raw, what in PACKED),
    *(Answer(name, raw, "while a plain query was answered") for name, raw in BROKEN),
]
STOPPED = [Answer(*each) for each in STOPS]
TAKEN = [  # what is odd and taken: the ids that come of it
    Answer("gzip", http(gzip.compress(json.dumps(IDS).encode()), Content_Encoding="gzip"), "d1 d2"),
    Answer("blanks around", http(b'\n  ["d1",\n "d2"]\n'), "d1 d2"), Answer("no id", given([]), ""),
    Answer("fewer than asked", given(["d2"]), "d2"),
    Answer("escapes for letters", http(b'["\\u0064\\u0031"]'), "d1"),
    Answer("another type stated", http(b'["d1"]', X_Type="x").replace(b"application/json", b"text/html"), "d1"),
    Answer("a length below nothing, as none", http(b'["d1"]', length=-5), "d1"),
    Answer("no length stated", b'HTTP/1.0 200 OK\r\n\r\n["d1"]', "d1"),
]
