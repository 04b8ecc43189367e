"""What lies beside `rows.jsonl` in a folder that `kit build` made: its manifest, and how it was frozen.

`query_set.json`, the manifest, says for which mode the set was made, from what and how (see
`kit.building.query_set`). `frozen.json` lists every file of the set with its digest, once it is
frozen: from then on a folder that differs from it is refused.
"""

import json
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from kit.errors import CollectionError
from kit.files import digest_of_file, regular

MANIFEST, FROZEN = "query_set.json", "frozen.json"


class _Part(BaseModel):
    model_config = ConfigDict(strict=True)


class _Exactly(_Part):
    model_config = ConfigDict(extra="forbid")


class _Audit(_Exactly):
    questions: dict[str, str]
    what: str
    items: int
    seed: int
    threshold: float


class _Count(_Exactly):
    what: str
    entered: int
    left: int
    losses: dict[str, int]


class _Source(_Part):
    environment: str
    generation: str | None


class _Manifest(_Part):
    """What is read of a manifest, here or in a notebook."""

    mode: str
    shared_ids: bool
    licence: str
    attribution: str
    note: str
    counts: list[_Count]
    files: dict[str, str]
    sources: dict[str, str]
    parameters: dict
    collection: _Source
    rows_are: str | None = None
    audit: _Audit | None = None
    notes: dict = {}


class _Frozen(_Part):
    files: dict[str, str]
    manifest: str
    mode: str
    audit: dict | None = None


def read_manifest(folder: Path) -> dict | None:
    """The manifest of a built set, with its file's own digest as `sha256`; None for a folder without one.

    Raises CollectionError for what is no manifest, and for a frozen set that was changed.
    """
    path = folder / MANIFEST
    if not path.exists():
        if (folder / FROZEN).exists():
            raise _changed(folder, MANIFEST, "is gone")
        return None
    require_unchanged(folder)
    return {**_read(path, _Manifest), "sha256": digest_of_file(path)}


def read_frozen(folder: Path) -> dict | None:
    """What `kit freeze` noted of a set, None where it is not frozen: files, when, audit, manifest."""
    path = folder / FROZEN
    return _read(path, _Frozen) if path.exists() else None


def require_unchanged(folder: Path) -> None:
    """Raises CollectionError where a frozen set differs from what was frozen, by the first such file.

    Beside the files that were frozen only hidden ones may lie.
    """
    frozen = read_frozen(folder)
    if frozen is None:
        return
    there = set_files(folder)
    for name, digest in frozen["files"].items():
        if name not in there:
            raise _changed(folder, name, "is gone")
        if digest_of_file(folder / name) != digest:
            raise _changed(folder, name, "is another")
    more = sorted(there - frozen["files"].keys())
    if more:
        raise _changed(folder, more[0], "came later")


def set_files(folder: Path) -> set[str]:
    """The files of a set by their paths in it, without the freeze itself and hidden ones."""
    inside = (p.relative_to(folder) for p in folder.rglob("*") if p.is_file())
    return {p.as_posix() for p in inside if p.as_posix() != FROZEN and not any(
        part.startswith(".") for part in p.parts)}


def _changed(folder: Path, name: str, how: str) -> CollectionError:
    return CollectionError(f"the query set is frozen and was changed: {name} {how}", folder,
                           "Put the file back as it was, or build the set anew in another folder")


def _read(path: Path, form: type[BaseModel]) -> dict:
    try:
        value = json.loads(regular(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise _unreadable(path, f"it is no JSON: {error}") from error
    if not isinstance(value, dict):
        raise _unreadable(path, "it is no object")
    try:
        form.model_validate(value)
    except ValidationError as error:
        place = ".".join(str(part)[:80] for part in error.errors()[0]["loc"])
        raise _unreadable(path, f"'{place}' is missing or of another type") from error
    return value


def _unreadable(path: Path, why: str) -> CollectionError:
    return CollectionError(f"what was noted of the query set can't be read: {why}", path,
                           "Put the file back as it was, or build the set anew in another folder")
