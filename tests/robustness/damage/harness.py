"""What a damaged input is, and what is asked of the kit that meets it."""

import hashlib
import os
import resource
import signal
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kit.cli import main

MEMORY = 2 * 2**30  # bytes of address space that one input may cost beyond what is taken already
SECONDS = 20  # of this process's own time, whatever else the machine does
LONGEST = 1500  # characters of a message


@dataclass(frozen=True)
class Home:
    """A folder of a test's own, and who writes sound collections there (see tests/conftest.py)."""

    path: Path
    collection: Callable[..., Path]
    rows: Callable[..., Path]
    dapfam: Callable[..., Path]

    def run(self, text: str | bytes = "q1 Q0 d1 1 2.5 x\n", name: str = "run.trec") -> Path:
        """A run file."""
        path = self.path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def score(self, collection: Path | str, run: Path | None = None, measures: str = "RR") -> list:
        """The command that scores a run."""
        return ["score", "--collection", collection, "--run", run or self.run(), "--measures",
                measures, "--json"]


@dataclass(frozen=True)
class Damage:
    """A damaged input. make: writes it and returns the command that meets it. what, where, do: words
    of the message, in this order: what is wrong, the file with row or identifier, the way out."""

    name: str
    make: Callable[[Home], list]
    what: str
    where: str
    do: str


@dataclass(frozen=True)
class Accepted:
    """An odd input that is taken, by decision. said: what the command prints of it."""

    name: str
    make: Callable[[Home], list]
    said: str


def require_refused(damage: Damage, home: Home, capsys) -> str:
    """The one message with which the input is refused, once it is one and nothing was changed."""
    command = [str(word) for word in damage.make(home)]
    before = snapshot(home.path)
    with bounded():
        status = main(command)
    out, err = capsys.readouterr()
    assert status == 1, f"taken: {out}{err}"
    if command[0] == "verify":  # which goes on to the next card: its finding is what it prints
        said = out
        assert err == "" and 1 <= said.count("\n")
    else:
        said = err
        assert out == "" and err.startswith("kit: ") and err.count("\n") == 1
    require_said(damage, said, home.path)
    assert snapshot(home.path) == before
    return said


def require_said(damage: Damage, said: str, home: Path) -> None:
    """Holds a message: short, without a trace, with what, where and what to do, in this order."""
    assert "Traceback" not in said and len(said) < LONGEST, said[:3000]
    rest = said.replace("\n", " ").replace(str(home), "HOME")
    for part in (damage.what, damage.where, damage.do):
        assert part and part in rest, f"{part!r} is not where it should be in {said}"
        rest = rest.partition(part)[2]


def require_accepted(odd: Accepted, home: Home, capsys) -> None:
    """Runs an odd input that is taken, and holds what is said of it."""
    command = [str(word) for word in odd.make(home)]
    with bounded():
        status = main(command)
    out, err = capsys.readouterr()
    assert status == 0, err
    assert odd.said in out + err, out + err


def snapshot(folder: Path) -> dict[str, str]:
    """{path below the folder: the digest of the file, or where a link leads, or "folder"}."""
    found = {}
    for home, folders, files in os.walk(folder):
        for name in folders + files:
            path = Path(home) / name
            found[str(path.relative_to(folder))] = (
                os.readlink(path) if path.is_symlink() else "folder" if path.is_dir() else
                hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "other")
    return found


@contextmanager
def bounded(seconds: int = SECONDS, memory: int = MEMORY):
    """Whatever runs within takes so much of this process's time and memory at most, or fails."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    limits = resource.getrlimit(resource.RLIMIT_AS)

    def late(*_):
        raise AssertionError(f"more than {seconds} s for one input")

    before = signal.signal(signal.SIGPROF, late)
    resource.setrlimit(resource.RLIMIT_AS, (used + memory, limits[1]))
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        resource.setrlimit(resource.RLIMIT_AS, limits)
        signal.signal(signal.SIGPROF, before)
