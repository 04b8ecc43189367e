"""The ledger: every run that was begun, how it ended, and every scorecard, in the order of events.

`outputs/reports/ledger.jsonl` holds a JSON object a line, each with the sha256 of the line before
under `previous`, so that a line can't be changed or taken out unseen. Lines are only ever appended,
one write a line under a lock. A line that a kill has torn stays as it is: the next writer ends it
with a newline and goes on, and the chain runs over its bytes like any other's.

Nothing follows the last line, so `ledger.head` beside it holds its sha256, written after it. A kill
between the two leaves the line before there, hence the head may name any line of the chain; one
that it names and that is not there was changed or taken out, and the head then stays as it is.

Events: `run begun` (what is searched, under which conditions), `run resumed`, `block saved` (its
number and digest), `run ended` (status complete, incomplete, failed or stopped), `scorecard` (the
file's name and the digests of JSON and markdown). A run is named by the sha256 of its `run begun` line.
"""

import hashlib
import json
import os
import secrets
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kit.errors import LedgerError
from kit.files import locked, not_through_a_link, outputs_folder, regular, write_text
from kit.provenance import utc_now

START = "0" * 64  # `previous` of the first line
BEGUN, RESUMED, ENDED, CARD = "run begun", "run resumed", "run ended", "scorecard"
BLOCK = "block saved"


def ledger_path(outputs: str) -> Path:
    """Where the ledger of an outputs folder lies."""
    return outputs_folder(outputs) / "reports" / "ledger.jsonl"


@dataclass(frozen=True)
class Line:
    """A line as it was read. number: from 1. event: None for a line that a kill
    has torn, or that is none of the ledger's."""

    number: int
    sha256: str
    event: dict | None

    def is_a(self, what: str, **values) -> bool:
        """Whether the line is such an event and has these values."""
        return self.event is not None and self.event.get("event") == what and all(
            self.event.get(name) == value for name, value in values.items())


class Ledger:
    """An open ledger, read whole; `append` adds to file and lines. Made by `opened`."""

    def __init__(self, path: Path, handle: int | None, raw: bytes, head: str | None):
        self.path, self._handle, self._head = path, handle, head
        self.lines = [_line(n, text) for n, text in enumerate(_split(raw), 1)]
        self._torn = bool(raw) and not raw.endswith(b"\n")

    def append(self, event: str, **values) -> Line:
        """Writes one line and returns it. Raises LedgerError when it can't be written whole."""
        stated = {"previous": self.lines[-1].sha256 if self.lines else START, "event": event,
                  "time": utc_now(), **values}
        text = json.dumps(stated, sort_keys=True, ensure_ascii=False, allow_nan=False)
        raw = text.encode("utf-8", "backslashreplace")
        left = memoryview((b"\n" if self._torn else b"") + raw + b"\n")
        try:
            while left:  # a disk that fills takes a part, and says why only when it is asked for the rest
                left = left[os.write(self._handle, left):]
        except OSError as error:
            raise LedgerError(f"the ledger's line was cut short ({error.strerror})", self.path,
                              "Make room on the disk, and run again") from error
        self._torn = False
        os.fsync(self._handle)  # the head must not outlive the line that it names
        goes_on = not self.lines or self._head_is_there()
        self.lines.append(_line(len(self.lines) + 1, raw))
        if goes_on:
            self._head = self.lines[-1].sha256
            write_text(self.path.with_suffix(".head"), self._head + "\n")
        return self.lines[-1]

    def _head_is_there(self) -> bool:
        return self._head is None or self.find(self._head) is not None

    def begin(self, key: str, **conditions) -> Line:
        """The `run begun` line of a search about to start.

        key: digest of all that the run depends on. A run of that key that was begun and has no
        result yet is the same run, continued: it gets a `run resumed` line, and its first line
        is returned.
        """
        begun = [line for line in self.lines if line.is_a(BEGUN, key=key)]
        if begun and not self._has_result(begun[-1]):
            self.append(RESUMED, run=begun[-1].sha256)
            return begun[-1]
        # the id tells it from the line of another ledger, of the same second
        return self.append(BEGUN, key=key, id=secrets.token_hex(8), **conditions)

    def end(self, run: str, status: str, **values) -> None:
        """Notes how a run ended, once: a run that has its result is not ended again."""
        begun = self.find(run)
        if begun is not None and not self._has_result(begun):
            self.append(ENDED, run=run, status=status, **values)

    def _has_result(self, begun: Line) -> bool:
        return self.ending(begun.sha256) is not None

    def ending(self, run: str) -> Line | None:
        """The line that says with which result a run ended; None where it has none."""
        return next((line for line in self.lines if line.is_a(ENDED, run=run)
                     and line.event.get("status") in ("complete", "incomplete")), None)

    def find(self, sha256: str | None) -> Line | None:
        """The line of that digest, or None."""
        return next((line for line in self.lines if line.sha256 == sha256), None)

    def search_number(self, run: str | None) -> int | None:
        """The how manieth search of what counts as one system on one generation this is: 1 for the
        first; None for a run that the ledger does not have. A block that was searched again, having
        been lost after it was saved, counts as a search. Of run files, which were searched
        elsewhere, each other file of the name counts once. A fused run counts as often as the most
        searched of its inputs; None if the ledger lacks one of them."""
        begun = self.find(run)
        if begun is None or not begun.is_a(BEGUN):
            return None
        inputs = begun.event.get("inputs", ())
        numbers = [self._own_number(begun), *(self.search_number(line) for line in inputs)]
        return None if None in numbers else max(numbers)

    def _own_number(self, begun: Line) -> int:
        """`search_number`, apart from inputs."""
        upto = [line for line in self.lines[:begun.number]
                if line.is_a(BEGUN, counted=begun.event.get("counted"))]
        if begun.event.get("views") is None:
            return len(dict.fromkeys(line.event.get("key") for line in upto))
        saves = Counter(line.event.get("block") for line in self.lines
                        if line.is_a(BLOCK, run=begun.sha256))
        return len(upto) + max(saves.values(), default=1) - 1

    def blocks(self, run: str) -> dict[int, str]:
        """{block: the digest that it was last saved with} of a run."""
        return {line.event.get("block"): line.event.get("sha256")
                for line in self.lines if line.is_a(BLOCK, run=run)}

    def is_result(self, run_sha256: str) -> bool:
        """Whether a ranking of that digest is the result of a search or fusion, not a run file."""
        ended = (line for line in self.lines if line.is_a(ENDED, run_sha256=run_sha256))
        begun = (self.find(line.event.get("run")) for line in ended)
        return any(line is not None and (line.event.get("views") is not None
                                         or "inputs" in line.event) for line in begun)

    def faults(self) -> list[str]:
        """What breaks the chain, a sentence a fault; empty for a ledger as it was written."""
        found, before = [], START
        for line in self.lines:
            if line.event is not None and line.event.get("previous") != before:
                found.append(f"line {line.number} of the ledger does not follow from the line "
                             "before")
            before = line.sha256
        if self.lines and not self._head_is_there():
            found.append("a line of the ledger that was once the last is changed or gone")
        return found


@contextmanager
def opened(outputs: str):
    """The ledger, locked against other processes, for reading and appending."""
    path = ledger_path(outputs)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = not_through_a_link(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
    try:
        with locked(path, handle):
            with open(handle, "rb", closefd=False) as file:
                raw = file.read()
            yield Ledger(path, handle, raw, _head(path))
    finally:
        os.close(handle)


def read(outputs: str) -> Ledger:
    """The ledger as it stands, for reading only; without a line where there is none. Raises
    LedgerError where it can't be read."""
    path = ledger_path(outputs)
    try:
        head = _head(path)  # before the lines, to which another process may append meanwhile
        return Ledger(path, None, regular(path).read_bytes() if path.exists() else b"", head)
    except OSError as error:
        raise LedgerError(f"the ledger can't be read: {error.strerror}", error.filename or path,
                          "Put the ledger back") from error


def _head(path: Path) -> str | None:
    head = path.with_suffix(".head")
    return head.read_text(encoding="latin-1").strip() if head.exists() else None


def _split(raw: bytes) -> list[bytes]:
    return raw.removesuffix(b"\n").split(b"\n") if raw else []


def _line(number: int, raw: bytes) -> Line:
    try:
        event = json.loads(raw)
    except (ValueError, RecursionError):
        event = None
    return Line(number, hashlib.sha256(raw).hexdigest(), event if isinstance(event, dict) else None)
