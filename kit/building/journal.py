"""A file of JSON lines that is only appended to, each line on the disk before the next step is taken."""

import json
import os
import threading
from contextlib import contextmanager
from pathlib import Path

from kit.errors import BuildError
from kit.files import regular

try:
    import fcntl
except ImportError:  # not POSIX: two processes at once are not noticed
    fcntl = None


def read_journal(path: Path) -> list[dict]:
    """The lines that were written whole, of a file that need not be there.

    A last line without its end is one that a process died over, and is left out. Raises BuildError
    for any other line that is no JSON object.
    """
    return _parsed(regular(path).read_bytes(), path)[0] if path.exists() else []


def _parsed(raw: bytes, path: Path) -> tuple[list[dict], int]:
    """The objects, and how many bytes their lines take."""
    whole = raw[:raw.rfind(b"\n") + 1]
    lines = []
    for number, line in enumerate(whole.split(b"\n")[:-1], 1):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise BuildError(f"line {number} is no JSON: {error}", path,
                             "Put the file back as it was; it is only appended to") from error
        if not isinstance(value, dict):
            raise BuildError(f"line {number} is no JSON object", path, "Put the file back as it was")
        lines.append(value)
    return lines, len(whole)


class Journal:
    """An open journal: `lines` are those that are there, `append` adds one. Safe across threads."""

    def __init__(self, path: Path, handle: int):
        self.path, self._handle, self._lock = path, handle, threading.Lock()
        with open(path, "rb") as file:
            self.lines, self._end = _parsed(file.read(), path)
        os.ftruncate(handle, self._end)  # a torn last line goes before another is written

    def append(self, line: dict) -> None:
        """Writes one line; when this returns it has reached the disk."""
        raw = (json.dumps(line, ensure_ascii=True, allow_nan=False) + "\n").encode()
        with self._lock:
            os.lseek(self._handle, self._end, os.SEEK_SET)
            part = memoryview(raw)
            while part:
                part = part[os.write(self._handle, part):]
            os.fsync(self._handle)
            self._end += len(raw)
            self.lines.append(line)


@contextmanager
def opened(path: Path):
    """An open Journal, which one process has at a time; one to which nothing was written is not left.
    Raises BuildError where another has it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = _held(path)
    try:
        yield Journal(path, handle)
    finally:
        if fcntl is not None and not os.fstat(handle).st_size:
            path.unlink(missing_ok=True)  # while it is held
        os.close(handle)  # which lets go


def _held(path: Path) -> int:
    """The file, open and held."""
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _hold(handle, path)
            if fcntl is None or path.exists() and os.path.samestat(os.fstat(handle), path.stat()):
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)  # whoever held it has taken it away meanwhile


def _hold(handle: int, path: Path) -> None:
    if fcntl is None:
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise BuildError("another process is writing to this file", path, "Wait until it has ended"
                         ) from error
