"""The README.md of a folder that others made: which files it may name as its tables."""

from pathlib import Path, PurePosixPath, PureWindowsPath

import yaml

from kit.errors import CollectionError


def require_own_files(folder: Path) -> None:
    """Raises CollectionError where a README's configs name files outside the folder, or addresses:
    opening a folder reads that folder, and fetches nothing.

    Links that lie in the folder may lead anywhere, as those of the hub's own cache do.
    """
    for path in _named(_head(folder / "README.md")):
        parts = {*PurePosixPath(path).parts, *PureWindowsPath(path).parts}
        if ":" in path or ".." in parts or path.startswith(("/", "\\", "~")):
            raise CollectionError(f"README.md names {path[:80]!r}, which is no file of the folder", folder,
                                  "Put the tables into the folder, and name them from there")


def _head(readme: Path):
    """What the README says in YAML before its text; None where that can't be read."""
    try:
        text = readme.read_text(encoding="utf-8").lstrip("\ufeff")
        return yaml.safe_load(text.split("---", 2)[1]) if text.startswith("---") else None
    except (OSError, ValueError, IndexError, RecursionError, yaml.YAMLError):
        return None  # the reader of the tables says what is wrong


def _named(head) -> list[str]:
    """Every text below `data_files` and `data_dir` of the configs, however they are written."""
    configs = head.get("configs") if isinstance(head, dict) else None
    left = [config.get(name) for config in configs if isinstance(config, dict)
            for name in ("data_files", "data_dir")] if isinstance(configs, list) else []
    found = []
    while left:
        part = left.pop()
        if isinstance(part, dict):
            left += [value for name, value in part.items() if name != "split"]
        elif isinstance(part, list):
            left += part
        elif isinstance(part, str):
            found.append(part)
    return found
