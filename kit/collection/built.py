"""What lies beside `rows.jsonl` in a folder that `kit build` made: its manifest, and how it was frozen.

`query_set.json`, the manifest, says for which mode the set was made, from what and how (see
`kit.building.query_set`). `frozen.json` lists every file of the set with its digest, once it is
frozen: from then on a folder that differs from it is refused.
"""

import json
from pathlib import Path

from kit.errors import CollectionError
from kit.files import digest_of_file, regular

MANIFEST, FROZEN = "query_set.json", "frozen.json"
_STATED = {"mode": str, "shared_ids": bool, "licence": str, "attribution": str, "note": str, "counts": list,
           "files": dict, "sources": dict, "parameters": dict, "collection": dict}


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
    return {**_read(path, _STATED), "sha256": digest_of_file(path)}


def read_frozen(folder: Path) -> dict | None:
    """What `kit freeze` noted of a set, None where it is not frozen: files, when, audit, manifest."""
    path = folder / FROZEN
    return _read(path, {"files": dict, "manifest": str, "mode": str}) if path.exists() else None


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


def _read(path: Path, stated: dict[str, type]) -> dict:
    try:
        value = json.loads(regular(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise _unreadable(path, f"it is no JSON: {error}") from error
    if not isinstance(value, dict):
        raise _unreadable(path, "it is no object")
    wrong = next((n for n, kind in stated.items() if not isinstance(value.get(n), kind)), None)
    if wrong:
        raise _unreadable(path, f"'{wrong}' is missing or of another type")
    return value


def _unreadable(path: Path, why: str) -> CollectionError:
    return CollectionError(f"what was noted of the query set can't be read: {why}", path,
                           "Put the file back as it was, or build the set anew in another folder")
