"""A downloaded folder's README, whose `configs` say which files a table has."""

import re
from pathlib import Path, PurePosixPath, PureWindowsPath

from kit import plain_yaml
from kit.collection.schema import Layout, shown
from kit.errors import CollectionError
from kit.files import regular

README = "README.md"
_HEAD = re.compile(r"\A\s*---\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
DO = "Mend the configs in README.md, or take it away: without one the folders' names say the same"


def require_configs(folder: Path, layout: Layout) -> None:
    """Raises CollectionError, with the README, unless its configs name each table of the layout once, and
    files below the folder. `datasets`, which reads it too, would name neither file nor fault."""
    path = folder / README
    try:
        head = _HEAD.match(regular(path).read_text(encoding="utf-8-sig"))
        stated = plain_yaml.read(head[1]) if head else {}
    except (OSError, ValueError) as error:
        raise CollectionError(f"the README can't be read: {getattr(error, 'strerror', None) or error}", path,
                              DO) from error
    configs = stated.get("configs") if isinstance(stated, dict) else None
    if not isinstance(configs, list) or not all(isinstance(c, dict) for c in configs):
        raise CollectionError("the README has no list of configs", path, DO)
    names = [config.get("config_name") for config in configs]
    for name in dict.fromkeys(layout.configs.values()):
        if names.count(name) != 1:
            raise CollectionError(f"the README's configs name the table '{name}' "
                                  + ("more than once" if name in names else "nowhere"), path, DO)
        config = configs[names.index(name)]
        named = [*_paths(config.get("data_files")), *_paths(config.get("data_dir"))]
        away = next((path for path in named if _leads_away(path)), None)
        if away is not None:
            raise CollectionError(f"the README's config '{name}' names {shown(away)}, which lies outside the "
                                  "folder", path, DO)


def _paths(files) -> list[str]:
    """Every path in a config's data_files, in whatever form they are given."""
    if isinstance(files, dict):
        return [p for name, value in files.items() if name != "split" for p in _paths(value)]
    if isinstance(files, list):
        return [p for value in files for p in _paths(value)]
    return [files] if isinstance(files, str) else []


def _leads_away(path: str) -> bool:
    """Links that lie in the folder may lead anywhere, as those of the hub's own cache do."""
    parts = {*PurePosixPath(path).parts, *PureWindowsPath(path).parts}
    return ":" in path or ".." in parts or path.startswith(("/", "\\", "~"))
