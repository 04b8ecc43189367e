"""Where files go, and how they are written: whole or not at all."""

import hashlib
import json
import os
import re
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

from kit.errors import KitError

try:
    import fcntl
except ImportError:  # not POSIX
    fcntl = None

PATIENCE = 60  # seconds that a lock file is waited for, where there is no flock
ROOT = Path(__file__).resolve().parent.parent


def outputs_folder(outputs: str = "outputs") -> Path:
    """The folder for all that runs leave; a relative one stands under the project's root.

    The environment variable KIT_OUTPUTS replaces the default folder (the tests use it).
    """
    if outputs == "outputs":
        outputs = os.environ.get("KIT_OUTPUTS", outputs)
    return ROOT / _expanded(outputs)


def find_path(name: str) -> Path:
    """A user's path: from the working folder, else from the project's root."""
    path = _expanded(name)
    return path if is_there(path) or path.is_absolute() else (
        ROOT / path if is_there(ROOT / path) else path)


def resolved(path: Path) -> Path:
    """The path without links; of a link that leads to itself, as far as it goes."""
    return Path(os.path.realpath(path))


def is_there(path: Path) -> bool:
    """Whether there is such a file or folder; none has a name that is too long."""
    try:
        return path.exists()
    except OSError:
        return False


def _expanded(name: str) -> Path:
    try:
        return Path(name).expanduser()
    except RuntimeError:  # `~name` of a user that is not known: a file's name like any other
        return Path(name)


def safe_name(text: str, otherwise: str) -> str:
    """A part of a file's name made from any text: letters, digits, `.` and `-` of it."""
    return re.sub(r"[^A-Za-z0-9.-]+", "-", text).strip("-.")[:80] or otherwise


@contextmanager
def written_whole(path: Path):
    """Yields a temporary path beside `path`, and moves it there if the block ends well."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    os.close(handle)
    os.chmod(name, 0o666 & ~_umask())
    try:
        yield Path(name)
        os.replace(name, path)
    finally:
        Path(name).unlink(missing_ok=True)


@contextmanager
def locked(path: Path, handle: int | None = None):
    """Held by one process at a time; one that dies lets go of a flock by itself.

    handle: of the open file at `path`, which is locked itself. Without one it is a file beside it,
    of the suffix .lock, since a file that is replaced can't be held. Raises KitError when, where
    there is no flock, the lock file is not let go of.
    """
    lock = path.with_suffix(".lock")
    if fcntl is None:
        with _lock_file(lock):
            yield
        return
    held = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666) if handle is None else handle
    try:
        fcntl.flock(held, fcntl.LOCK_EX)  # closing the file lets go
        yield
    finally:
        if handle is None:
            os.close(held)


@contextmanager
def _lock_file(lock: Path):
    until = time.monotonic() + PATIENCE
    while not _taken(lock):
        if time.monotonic() > until:
            raise KitError("another process holds the lock", lock,
                           "If no other process runs, delete this file")
        time.sleep(0.05)
    try:
        yield
    finally:
        lock.unlink()


def _taken(lock: Path) -> bool:
    try:
        os.close(os.open(lock, os.O_CREAT | os.O_EXCL))
        return True
    except FileExistsError:
        return False


def write_text(path: Path, text: str) -> None:
    """Writes UTF-8 text, whole or not at all."""
    with written_whole(path) as part:
        part.write_text(text, encoding="utf-8")


def write_json(path: Path, value) -> None:
    """Writes JSON, whole or not at all. Raises ValueError for NaN or infinity."""
    write_text(path, dump_json(value))


def dump_json(value) -> str:
    """JSON as the kit writes it: two blanks of indent, sorted keys, no NaN."""
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def digest_of(value) -> str:
    """sha256 (hex) of a JSON value, independent of the order of its keys."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def digest_of_file(path: Path) -> str:
    """sha256 (hex) of a file's bytes."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
