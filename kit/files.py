"""Where files go, and how they are written: whole or not at all."""

import hashlib
import json
import os
import re
import tempfile
from contextlib import contextmanager
from pathlib import Path

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
