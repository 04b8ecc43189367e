"""Where files go, and how they are written: whole or not at all."""

import errno
import hashlib
import json
import os
import re
import secrets
import shutil
import socket
import stat
import tempfile
import time
from collections.abc import Callable
from contextlib import contextmanager, suppress
from functools import cache
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

    The environment variable KIT_OUTPUTS replaces the default folder (the tests use it), unless it is empty.
    """
    if outputs == "outputs":
        outputs = os.environ.get("KIT_OUTPUTS") or outputs
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


def regular(path: Path) -> Path:
    """The path, of a file that is read whole. Raises OSError for one that can't be read, and for a pipe or
    a device, which may have no end."""
    kind = os.stat(path).st_mode
    if stat.S_ISDIR(kind):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(kind):
        raise OSError(errno.EINVAL, "Is a pipe or a device, and no file", str(path))
    return path


def _expanded(name: str) -> Path:
    try:
        return Path(name).expanduser()
    except RuntimeError:  # `~name` of a user that is not known: a file's name like any other
        return Path(name)


def safe_name(text: str, otherwise: str) -> str:
    """A part of a file's name made from any text: letters, digits, `.` and `-` of it."""
    return re.sub(r"[^A-Za-z0-9.-]+", "-", text).strip("-.")[:80] or otherwise


def below(home: Path, name: str) -> Path:
    """The place of that name in a folder, for a name that data states. Raises KitError for a name that
    would lead out of the folder, or deeper into it, or that no folder can have."""
    if (name in ("", ".", "..") or not name.isprintable() or not set(name).isdisjoint("/\\")
            or len(name.encode()) > 200):
        raise KitError(f"{name[:80]!r} can't be the name of a folder", home,
                       "Whoever wrote this name changed it: make the run or card anew")
    return home / name


def not_through_a_link(path, flags: int) -> int:
    """As os.open, for a file that is added to. Raises OSError where a link lies in its place: somebody
    has planted it."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)


@contextmanager
def written_whole(path: Path):
    """Yields a path beside `path` for a new file, and moves it there if the block ends well. What the
    system refuses to write names `path`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = _part_of(path)
    try:
        with _told_of(path, part):
            yield part
            os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def _told_of(path: Path, part: Path):
    """An OSError that names no file, or the part, names the path: nobody knows the part."""
    try:
        yield
    except OSError as error:
        for name in ("filename", "filename2"):  # the second is where something was copied to
            told = getattr(error, name)
            if isinstance(told, str | bytes | os.PathLike) and Path(os.fsdecode(told)).is_relative_to(part):
                setattr(error, name, str(path))
        if error.filename is None:
            error.filename = str(path)
        raise


@contextmanager
def made_whole(folder: Path):
    """Yields an empty folder beside `folder`, and moves it there if the block ends well. Where
    another process was first, its folder stays. What the system refuses to write names `folder`."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    part = _part_of(folder)
    part.mkdir()
    try:
        with _told_of(folder, part):
            yield part
            try:
                os.rename(part, folder)
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST) or not folder.is_dir():
                    raise
    finally:
        shutil.rmtree(part, ignore_errors=True)


# --- what a killed process leaves -----------------------------------------------------------------

_HOST = hashlib.sha256(socket.gethostname().encode()).hexdigest()[:6]
_LEFT = re.compile(r"(?:^kit-|\.)(?P<host>[0-9a-f]{6})-(?P<pid>\d+)[.-]\w{8}(?:\.part)?$")


def _part_of(path: Path) -> Path:
    """A new name beside `path`, which says whose it is; what killed processes have left there goes."""
    if not path.name:
        raise KitError("this is no name of a file or folder", repr(str(path)), "Give one with a name")
    _clear_once(path.parent)
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
    return _cleared([*folder.rglob(".*.part"), *Path(tempfile.gettempdir()).glob("kit-*")])


@cache
def _clear_once(folder: Path) -> None:
    """The same in one folder, the first time that this process writes there. Only tidies: what can't be
    removed stays."""
    with suppress(OSError):
        _cleared(list(folder.glob(".*.part")))


def _cleared(found: list[Path]) -> list[Path]:
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
        with _told_of(path, part):
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
