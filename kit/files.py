"""Where files go, and how they are written: whole or not at all."""

import hashlib
import json
import os
import re
import secrets
import shutil
import socket
import tempfile
import time
from collections.abc import Callable
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
    return path if path.exists() or path.is_absolute() else (
        ROOT / path if (ROOT / path).exists() else path)


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
    """Yields a path beside `path` for a new file, and moves it there if the block ends well."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = _part_of(path)
    try:
        yield part
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def made_whole(folder: Path):
    """Yields an empty folder beside `folder`, and moves it there if the block ends well. Where
    another process was first, its folder stays."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    part = _part_of(folder)
    part.mkdir()
    try:
        yield part
        try:
            os.rename(part, folder)
        except OSError:
            if not folder.is_dir():
                raise
    finally:
        shutil.rmtree(part, ignore_errors=True)


# --- what a killed process leaves -----------------------------------------------------------------

_HOST = hashlib.sha256(socket.gethostname().encode()).hexdigest()[:6]
_LEFT = re.compile(r"(?:^kit-|\.)(?P<host>[0-9a-f]{6})-(?P<pid>\d+)[.-]\w{8}(?:\.part)?$")


def _part_of(path: Path) -> Path:
    """A new name beside `path`, which says whose it is."""
    return path.with_name(f".{path.name}.{_HOST}-{os.getpid()}.{secrets.token_hex(4)}.part")


@contextmanager
def work_folder():
    """Yields an empty folder outside the outputs, which goes when the block ends."""
    home = tempfile.mkdtemp(prefix=f"kit-{_HOST}-{os.getpid()}-")
    try:
        yield Path(home)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def clear_leftovers(folder: Path) -> list[Path]:
    """Removes what killed processes of this machine have left below `folder`, and their work
    folders; what a live process, or one of another machine, is writing stays. Returns what went."""
    found = [*folder.rglob(".*.part"), *Path(tempfile.gettempdir()).glob("kit-*")]
    gone = [path for path in found if (left := _LEFT.search(path.name)) is not None
            and left["host"] == _HOST and not _lives(int(left["pid"]))]
    for path in gone:
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
    return gone


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # somebody else's
        return True
    return True


# --- one at a time --------------------------------------------------------------------------------

@contextmanager
def locked(path: Path, handle: int | None = None, busy: Callable[[], None] = lambda: None):
    """Held by one process at a time; one that dies lets go of a flock by itself.

    path: a folder, which is locked itself, or a file. handle: of the open file, which is then
    locked itself; without one it is a file beside it, of the suffix .lock, since a file that is
    replaced can't be held. busy: called before another process is waited for. Raises KitError when,
    where there is no flock, the lock file is not let go of.
    """
    lock = path.with_suffix(".lock")
    if fcntl is None:
        with _lock_file(lock):
            yield
        return
    held = handle if handle is not None else os.open(path, os.O_RDONLY) if path.is_dir() else os.open(
        lock, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            busy()
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


def write_new(path: Path, text: str) -> None:
    """Writes UTF-8 text whole to a name that is free. Raises FileExistsError for one that is not."""
    part = _part_of(path)
    try:
        part.write_text(text, encoding="utf-8")
        os.link(part, path)  # fails if the name is there, and shows the file whole
    finally:
        part.unlink(missing_ok=True)


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
