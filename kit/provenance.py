"""With what a figure was made: the commit of the kit, and the machine."""

import hashlib
import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kit.files import ROOT

COMPARED = ("kit", "pyproject.toml", "requirements.txt")  # what can change a figure


def git_state() -> dict[str, Any]:
    """The commit, and whether its files or the package differ from it; null outside a checkout.

    Files of the user's own beside them, such as run files, change no figure and do not count. Of
    the package each file is compared here: git itself can be told to overlook any of them.
    """
    try:
        if Path(os.fsdecode(_git("rev-parse", "--show-toplevel")).rstrip("\r\n")).resolve() != ROOT:
            raise FileNotFoundError("the repository around is not the kit's")
        sha = _git("rev-parse", "HEAD").decode().strip()
        committed = _committed(sha)
        return {"sha": sha, "dirty": bool(
            _package_files() - committed.keys()
            or any(blob not in _blobs(ROOT / name) for name, blob in committed.items())
            or _git("status", "--porcelain", "--untracked-files=no"))}
    except (OSError, subprocess.CalledProcessError):
        return {"sha": None, "dirty": None, "reason": "not a git checkout"}


def _git(*words: str) -> bytes:
    """What git says of ROOT, whatever repository or index the environment names."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return subprocess.run(
        ["git", "--no-replace-objects", "--no-optional-locks", "-C", str(ROOT), *words],
        capture_output=True, check=True, env=own).stdout


def _committed(sha: str) -> dict[str, str]:
    """{path: blob id} of what is compared, as the commit has it."""
    listed = os.fsdecode(_git("ls-tree", "-r", "-z", sha, "--", *COMPARED)).split("\0")
    parts = (line.split("\t", 1) for line in listed if line)
    return {name: meta.split()[2] for meta, name in parts}


def _package_files() -> set[str]:
    """The files below kit/, also those that git ignores, save hidden ones and Python's caches."""
    found = set()
    for folder, folders, files in os.walk(ROOT / "kit"):
        links = [name for name in folders if (Path(folder) / name).is_symlink()]
        folders[:] = [n for n in folders if n != "__pycache__" and not n.startswith(".")]
        found |= {(Path(folder) / name).relative_to(ROOT).as_posix() for name in files + links
                  if not name.startswith(".")}
    return found


def _blobs(path: Path) -> set[str]:
    """The ids git may hold a file under: as it is, or with the line ends of Windows undone."""
    if not path.is_file():
        return set()
    raw = os.fsencode(os.readlink(path)) if path.is_symlink() else path.read_bytes()
    return {hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
            for data in (raw, raw.replace(b"\r\n", b"\n"))}


def machine() -> dict[str, Any]:
    """What kind of machine this is; not which."""
    return {"system": platform.system(), "architecture": platform.machine(),
            "cores": os.cpu_count(), "python": platform.python_version()}


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def memory_left() -> int | None:
    """Bytes of memory that this process may still take, by the machine, its container and its own
    limit; None where none of them tells."""
    told = [_machine_left(), *_container_left(), _limit_left()]
    return min((n for n in told if n is not None), default=None)


def _machine_left() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    except (OSError, ValueError, StopIteration):
        return None


def _container_left() -> list[int]:
    """Of each control group (version 2) around this process that has a limit; what it holds of
    files counts as free, as the machine's does."""
    try:
        own = Path("/proc/self/cgroup").read_text().strip().rpartition("::")[2].strip("/")
    except OSError:
        return []
    groups, left = Path("/sys/fs/cgroup"), []
    for group in (groups / own, *(groups / own).parents):
        try:
            held = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
            used = int((group / "memory.current").read_text())
            left.append(max(0, int((group / "memory.max").read_text()) - used
                            + int(held.get("inactive_file", 0))))
        except (OSError, ValueError):  # no such group, or no limit: "max"
            continue
    return left


def _limit_left() -> int | None:
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (ImportError, OSError, ValueError):
        return None
    return None if limit == resource.RLIM_INFINITY else max(0, limit - used)


def utc_now() -> str:
    """The time as scorecards and the ledger have it, to the second: 20300102T030405Z."""
    return datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
