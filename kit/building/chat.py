"""Calls of an OpenAI-compatible endpoint: `POST {base}/chat/completions`, one answer a request.

Repeated is for transport only: no connection, no whole answer in time, 429 and 5xx. Whatever else comes
back is the answer, and is kept as it came. The key is read from the environment when the calls begin and
goes into one header; redirects are not followed and no proxy is taken from the environment.
"""

import json
import threading
from dataclasses import dataclass

from urllib3 import exceptions
from urllib3.exceptions import HTTPError, NewConnectionError
from urllib3.util import Timeout

from kit.errors import BuildError
from kit.retrieval.service import (
    FIRST_WAIT,
    LONGEST_ASKED,
    LONGEST_WAIT,
    REFUSALS,
    asked_wait,
    require_address,
    timely_pool,
    token_of,
)

PATH = "/chat/completions"
MOST_BYTES = 2**22  # of an answer
GOES_ON = "the same command goes on, and asks nothing twice"


@dataclass(frozen=True)
class Reply:
    """status: of HTTP. body: the answer's text as it came; None where it was withheld, since it is too
    long or holds the key."""

    status: int
    body: str | None


class _Lost(Exception):
    """A call without an answer. wait: seconds that were asked for."""

    def __init__(self, said: str, wait: float = 0):
        super().__init__(said)
        self.wait = wait


class Endpoint:
    """An endpoint; `ask` may be called from several threads at once.

    base: the address before /chat/completions. key_env: the environment variable that holds the key, or
    None. timeout: seconds that a whole answer may take. parallel: requests in flight at most. retries:
    repetitions at growing intervals, or when `Retry-After` says. Raises SearchError for an address that
    is none or holds a secret, and for a variable that is not set.
    """

    _wait = staticmethod(threading.Event.wait)  # until it is set, or for so many seconds

    def __init__(self, base: str, key_env: str | None = None, timeout: float = 120, parallel: int = 4,
                 retries: int = 5):
        require_address(base, "--base", "--key-env")
        self._key = token_of(key_env, "--key-env")
        self.url, self.timeout, self.parallel, self.retries = base.rstrip("/") + PATH, timeout, parallel, retries
        self._headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key:
            self._headers["Authorization"] = f"Bearer {self._key}"
        self._pool = timely_pool(parallel)

    def ask(self, body: dict, stopped: threading.Event) -> Reply:
        """The answer to one request. Raises BuildError where none comes, or the call is refused whatever
        is asked; `stopped` ends the waiting between two tries."""
        for tries in range(self.retries + 1):
            try:
                return self._post(body)
            except _Lost as lost:
                wait = max(lost.wait, min(FIRST_WAIT * 2**tries, LONGEST_WAIT))
                last = tries == self.retries or lost.wait > LONGEST_ASKED
                if last or self._wait(stopped, wait):
                    raise BuildError(f"the endpoint gives no answer: {lost}", self.url,
                                     f"Start it again or wait; {GOES_ON}") from lost

    def _post(self, body: dict) -> Reply:
        call = json.dumps(body, ensure_ascii=False, sort_keys=True).encode()
        try:
            response = self._pool.request(
                "POST", self.url, body=call, headers=self._headers, retries=False, redirect=False,
                preload_content=False, timeout=Timeout(self.timeout))
            try:
                said = self._said(response)
            finally:
                response.close()  # one that was read to its end has gone back to the pool
        except NewConnectionError as error:  # which urllib3 counts among the timeouts
            raise _Lost("no connection") from error
        except HTTPError as error:
            late = isinstance(error, exceptions.TimeoutError) or any(
                isinstance(part, TimeoutError) for part in error.args)
            raise _Lost(f"no answer within {self.timeout:g} s" if late else
                        "no whole answer: the connection ended") from error
        status = response.status
        if status == 429 or status >= 500:
            raise _Lost(f"status {status}", asked_wait(response))
        if status in REFUSALS:
            raise BuildError(f"the endpoint refuses the call: status {status}", self.url,
                             f"Check --base, --model and --key-env; {GOES_ON}")
        return Reply(status, said)

    def _said(self, response) -> str | None:
        raw = b""
        while part := response.read1(2**16):
            raw += part
            if len(raw) > MOST_BYTES:
                return None
        text = raw.decode("utf-8", "surrogateescape")
        return None if self._key and (self._key in text or self._key in _unescaped(text)) else text


def _unescaped(text: str) -> str:
    """JSON as it reads once its escapes are undone; the text itself where it is no JSON."""
    try:
        return json.dumps(json.loads(text), ensure_ascii=False)
    except (ValueError, RecursionError):
        return text
