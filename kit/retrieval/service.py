"""A search service as a system: `POST {"query_text", "topk"}` -> a JSON list of identifiers.

A query that fails is that query's failure; a service that fails stops the search, which goes on
from its last saved block. Which of the two it is, a plain question tells: a service that answers
it is up. The token is read from the environment when a search starts, and goes into one header;
redirects are not followed and no proxy is taken from the environment, so it goes nowhere else.
"""

import http.client
import io
import json
import os
import threading
import time
import zlib
from concurrent.futures import ThreadPoolExecutor

import urllib3
from urllib3 import exceptions
from urllib3.exceptions import HTTPError, InvalidHeader, LocationParseError, NewConnectionError
from urllib3.util import Retry, Timeout, parse_url

from kit.errors import SearchError
from kit.params import Params
from kit.retrieval.system import Answer
from kit.visible import forms, keep_secret

PLAIN = "valve"  # the question that shows whether the service is up
REFUSALS = {*range(300, 400), 401, 403, 404, 405, 407, 410}  # of the call, whatever the query is
FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0  # seconds before the first repetition, and before any
LONGEST_ASKED = 600.0  # seconds that a service may ask to wait
MOST_BYTES = 2**24  # of an answer
GOES_ON = "the same command goes on from the last saved block"


class _Trouble(Exception):
    """A call without an answer. again: a repetition may help; wait: seconds that were asked for."""

    def __init__(self, said: str, again: bool, wait: float = 0, limited: bool = False):
        super().__init__(said)
        self.again, self.wait, self.limited = again, wait, limited


class _Timely(io.RawIOBase):
    """What a socket receives within its timeout, counted from now on and for all reads together:
    the socket itself allows as much again for every byte."""

    def __init__(self, sock):
        self._sock, self._received = sock, sock.makefile("rb", buffering=0)
        self._end = time.monotonic() + sock.gettimeout()

    def readable(self) -> bool:
        return True

    def readinto(self, part) -> int:
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._sock.settimeout(left)
        return self._received.readinto(part)

    def close(self) -> None:
        self._received.close()
        super().close()


class _Response(http.client.HTTPResponse):
    """One of which status line, headers, body and trailers come in time, or not at all."""

    def __init__(self, sock, *args, **kwargs):
        super().__init__(sock, *args, **kwargs)
        self.fp.close()
        self.fp = io.BufferedReader(_Timely(sock))


class _Http(urllib3.HTTPConnectionPool):
    class ConnectionCls(urllib3.HTTPConnectionPool.ConnectionCls):
        response_class = _Response


class _Https(urllib3.HTTPSConnectionPool):
    class ConnectionCls(urllib3.HTTPSConnectionPool.ConnectionCls):
        response_class = _Response


def timely_pool(size: int) -> urllib3.PoolManager:
    """Connections, `size` at a time, whose answers come whole within the timeout of a request."""
    pool = urllib3.PoolManager(maxsize=size)
    pool.pool_classes_by_scheme = {"http": _Http, "https": _Https}
    return pool


class Service:
    """An HTTP service; it has a corpus and an index of its own, so that nothing is prepared."""

    block = 16  # queries saved at a time: each is a request that may be slow, or the last one
    plain = (PLAIN, 1)  # what is asked to see whether it is up
    _wait = staticmethod(threading.Event.wait)  # until it is set, or for so many seconds

    def __init__(self, url: str, name: str = "service", version: str = "not stated",
                 token_env: str | None = None, timeout: float = 60, parallel: int = 4,
                 retries: int = 5):
        require_address(url, "service_url", "service_token_env")
        self._token = token_of(token_env, "service_token_env")
        self.name, self.version = name, version
        self.given = {"url": url}
        self.settings = {"url": url, "token_env": token_env, "timeout": timeout,
                         "parallel": parallel, "retries": retries, "device": "the service's own"}
        self._headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._token:
            keep_secret(self._token)
            self._headers["Authorization"] = f"Bearer {self._token}"
        self._pool = timely_pool(parallel)

    @classmethod
    def from_params(cls, params: Params) -> "Service":
        if params.service_url is None:
            raise SearchError("the service has no address", "service_url",
                              "Set it, such as http://127.0.0.1:8000/")
        return cls(params.service_url, params.service_name, params.service_version,
                   params.service_token_env, params.service_timeout, params.service_parallel,
                   params.service_retries)

    def search(self, query_text: str, topk: int) -> list[str]:
        """The service's identifiers. Raises SearchError where it gave no list of them."""
        answer = self.search_batch([query_text], topk)[0]
        if isinstance(answer, str):
            raise SearchError(answer, self.settings["url"])
        return answer.ids

    def search_batch(self, query_texts: list[str], topk: int) -> list[Answer | str]:
        """A ranking a query, without scores; a sentence where the service failed on the query.

        At most `parallel` requests are in flight. Raises SearchError when the service is down,
        refuses the call, or asks to slow down for longer than the retries last.
        """
        return self.ask([(text, topk) for text in query_texts])

    def ask(self, calls: list[tuple]) -> list:
        """The answer to each call, or a sentence: as `search_batch`."""
        stopped = threading.Event()  # by an error: nobody waits on or begins another query

        def answer(call):
            try:
                return None if stopped.is_set() else self._answer(*call, stopped)
            except BaseException:
                stopped.set()
                raise

        with ThreadPoolExecutor(self.settings["parallel"]) as pool:
            try:
                return list(pool.map(answer, calls))
            finally:
                stopped.set()  # Ctrl-C comes here only

    def notes(self) -> dict:
        return {}

    def _answer(self, text: str, topk: int, stopped: threading.Event) -> Answer | str:
        try:
            return self._with_retries(text, topk, stopped)
        except _Trouble as trouble:
            self._require_up(trouble)
            if not trouble.again:
                return str(trouble)
        try:
            return self._post(text, topk)  # it may have been down until now
        except _Trouble as trouble:
            return f"{trouble}, while a plain query was answered"

    def _with_retries(self, text: str, topk: int, stopped: threading.Event) -> Answer | str:
        for tries in range(self.settings["retries"] + 1):
            try:
                return self._post(text, topk)
            except _Trouble as trouble:
                last = tries == self.settings["retries"] or trouble.wait > LONGEST_ASKED
                wait = max(trouble.wait, min(FIRST_WAIT * 2**tries, LONGEST_WAIT))
                if not trouble.again or last or self._wait(stopped, wait):
                    raise

    def _require_up(self, trouble: _Trouble) -> None:
        """Raises SearchError unless the trouble can be one query's own."""
        where = self.settings["url"]
        if trouble.limited:
            raise SearchError(f"the service asks to slow down: {trouble}", where,
                              f"Lower service_parallel or wait; {GOES_ON}") from None
        try:
            self._post(*self.plain)
        except _Trouble as again:
            if again.again:
                raise SearchError(f"the service is down: {trouble}", where,
                                  f"Start the service again; {GOES_ON}") from None
            raise SearchError(f"the service refuses the call: {again}", where,
                              f"Check service_url and service_token_env; {GOES_ON}") from None

    def _post(self, text: str, topk: int) -> Answer | str:
        """One request: a ranking, or what is wrong with the answer. Raises _Trouble for none."""
        call = json.dumps(self._call(text, topk)).encode()
        try:
            response = self._pool.request(
                "POST", self.settings["url"], body=call, headers=self._headers, retries=False,
                redirect=False, preload_content=False, timeout=Timeout(self.settings["timeout"]))
            try:
                body = self._body(response)
            finally:
                response.close()  # one that was read to its end has gone back to the pool
        except NewConnectionError as error:  # which urllib3 counts among the timeouts
            raise _Trouble("no connection", True) from error
        except HTTPError as error:
            late = isinstance(error, exceptions.TimeoutError) or any(
                isinstance(part, TimeoutError) for part in error.args)  # while it was sent
            raise _Trouble(f"no answer within {self.settings['timeout']:g} s" if late else
                           "no whole answer: the connection ended", True) from error
        status = response.status
        if status == 429 or status >= 500:
            raise _Trouble(f"status {status}", True, asked_wait(response), status == 429)
        if status in REFUSALS:
            raise _Trouble(f"status {status}", False)
        encoding = response.headers.get("Content-Encoding", "").strip().lower()
        return f"status {status}" if status >= 300 else self._read(body, encoding)

    def _body(self, response) -> bytes | None:
        """The answer's bytes as they were sent, None for too many."""
        body = bytearray()
        while part := response.read1(2**16, decode_content=False):
            body += part
            if len(body) > MOST_BYTES:
                return None
        return bytes(body)

    def _read(self, body: bytes | None, encoding: str) -> Answer | str:
        if encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
            return "an answer in an encoding that was not asked for"
        try:
            body = body if body is None or encoding in ("", "identity") else _unpacked(body)
        except (zlib.error, EOFError):
            return "an answer that can't be unpacked"
        if body is None:
            return f"an answer of more than {MOST_BYTES} bytes"
        try:
            value = json.loads(body)
        except (ValueError, RecursionError):
            return "an answer that is not JSON"
        if self._token and (self._token.encode() in body or _holds(value, self._token)):
            return "an answer that holds the token"  # which must not come into a manifest
        return self._taken(value)

    def _call(self, text: str, topk: int) -> dict:
        """What is asked, as JSON has it."""
        return {"query_text": text, "topk": topk}

    def _taken(self, value) -> Answer | str:
        """The answer of a JSON value, or what is wrong with it."""
        return Answer(value, None) if isinstance(value, list) else "JSON that is no list of identifiers"


def _unpacked(body: bytes) -> bytes | None:
    """What gzip or zlib packed; None for more than an answer may have, which is not unpacked. Raises
    zlib.error or EOFError for what is cut or no such thing."""
    packed = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)  # either of the two, by its first bytes
    plain = packed.decompress(body, MOST_BYTES + 1)
    if len(plain) > MOST_BYTES:
        return None
    if not packed.eof:
        raise EOFError
    return plain


def require_address(url: str, parameter: str, token_by: str) -> None:
    """Raises SearchError unless it is an http or https address that can hold no secret.

    The address itself is not said again: what is wrong with it may be the secret in it.
    """
    try:
        parts = parse_url(url)
    except LocationParseError:
        parts = None
    if parts is None or not url.isprintable() or " " in url:  # a line's end would be sent as %0A
        raise SearchError("the service's address can't be read", parameter,
                          "Give one such as http://127.0.0.1:8000/")
    if parts.scheme not in ("http", "https") or not parts.host:
        raise SearchError("the service's address is not http:// or https:// and a host",
                          parameter, "Give one such as http://127.0.0.1:8000/")
    if parts.auth is not None or parts.query is not None or parts.fragment is not None:
        raise SearchError("the service's address holds a user, a ?query or a #fragment, and "
                          "addresses are written into reports", parameter,
                          f"Give the bare address, and the token by {token_by}")


def token_of(variable: str | None, parameter: str) -> str | None:
    """The token in that variable of the environment. An error says neither name nor value: the
    token itself may have been given as the name."""
    if variable is None:
        return None
    token = os.environ.get(variable)
    if not token:
        raise SearchError("the environment has no variable of the name that it gives",
                          parameter, "Set the variable; the parameter is its name")
    if not (token.isascii() and token.isprintable()):
        raise SearchError("the token holds what no header can carry", parameter,
                          "Set the variable to printable ASCII, without a line break")
    return token


def _holds(value, token: str) -> bool:
    """Whether a JSON value has the token, plain or encoded, in a text, a key or a number, however deep."""
    left, said = [value], {token, *forms(token)}
    while left:
        part = left.pop()
        if isinstance(part, dict):
            left += [*part, *part.values()]
        elif isinstance(part, list):
            left += part
        elif any(form in str(part) for form in said):
            return True
    return False


def asked_wait(response) -> float:
    """The seconds of the header Retry-After, which has a number or a date; 0 without it."""
    try:
        return Retry(retry_after_max=86400).get_retry_after(response) or 0
    except (InvalidHeader, ValueError, OverflowError):
        return 0
