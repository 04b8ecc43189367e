"""The list of known collections: where each is, its counts, licence and generations.

The committed list ships with the package. What a user pins goes into a file of their own, merged
over it: `registry.yaml` in the outputs folder, or the file that KIT_REGISTRY names. It has the
same form; an entry of a folder bears the name of its environment and no hub id.
"""

import os
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import yaml

from kit.errors import CollectionError
from kit.files import find_path, outputs_folder, write_text

REGISTRY = Path(__file__).with_name("registry.yaml")
HEADER = "# Generations pinned here by `python -m kit pin`, merged over the kit's own registry.\n\n"


@dataclass(frozen=True)
class Entry:
    """A known collection.

    hub: hub id, or None for what is built in. layout: the columns it comes in.
    environment: the name under which its scores may stand side by side.
    generations: {name: {"queries": sha256, "corpus": …, "qrels": …, "together": …}}.
    counts, oddities: expected numbers by name. note: what every report on it must say.
    calibration: published values of systems, over all queries: dicts of system, settings (those
    that must agree), views, tolerance, source and values {measure: {scope: value}}.
    """

    name: str
    environment: str
    layout: str
    licence: str
    attribution: str
    hub: str | None = None
    note: str = ""
    counts: dict[str, int] = field(default_factory=dict)
    oddities: dict[str, int] = field(default_factory=dict)
    generations: dict[str, dict[str, str]] = field(default_factory=dict)
    calibration: tuple[dict, ...] = ()

    def generation_of(self, prints: dict[str, str]) -> str | None:
        """The name of the generation with these fingerprints, or None."""
        return next((name for name, known in self.generations.items() if known == prints), None)


def user_registry() -> Path:
    """The file that holds what a user has pinned; it need not be there."""
    named = os.environ.get("KIT_REGISTRY")
    return find_path(named) if named else outputs_folder() / "registry.yaml"


def registry() -> dict[str, Entry]:
    """The entries that can be opened by name: the committed ones and users' hub ids, with the
    generations that users pinned. Raises CollectionError when a file is not a registry."""
    return {name: entry for name, entry in _merged().items() if name in _shipped() or entry.hub}


def folder_entry(environment: str) -> Entry | None:
    """The entry that a user's folder of this environment was pinned under, or None."""
    entry = _merged().get(environment)
    return None if environment in registry() else entry


def registered_corpora(environment: str) -> dict[str, str]:
    """{fingerprint: generation} of the corpora that bear the environment's name; often one."""
    return {prints["corpus"]: name for entry in _merged().values()
            if entry.environment == environment for name, prints in entry.generations.items()}


def generation_with(prints: dict[str, str]) -> tuple[Entry, str] | None:
    """The entry and generation that already have these fingerprints, or None."""
    return next(((entry, name) for entry in _merged().values()
                 if (name := entry.generation_of(prints))), None)


def has_pinned_folders() -> bool:
    """Whether the user has pinned a collection that no name opens."""
    return bool(_merged().keys() - registry().keys())


def add_generation(entry: Entry, name: str, prints: dict[str, str], counts: dict[str, int]) -> Path:
    """Writes a generation into the user's registry and returns the file.

    counts: rows by table, kept for entries that the committed registry does not have.
    """
    path = user_registry()
    mine = _read(path) if path.exists() else {}
    kept = mine.setdefault(entry.name, {})
    if entry.name not in _shipped():
        kept.update({"environment": entry.environment, "layout": entry.layout,
                     "licence": entry.licence, "attribution": entry.attribution, "counts": counts})
        if entry.hub:
            kept["hub"] = entry.hub
    kept.setdefault("generations", {})[name] = prints
    write_text(path, HEADER + yaml.safe_dump(mine, sort_keys=False, allow_unicode=True))
    return path


def _merged() -> dict[str, Entry]:
    """The committed entries with the user's over them; a pinned generation is never replaced."""
    path, entries = user_registry(), dict(_shipped())
    for name, values in (_read(path) if path.exists() else {}).items():
        if name not in entries:
            entries[name] = _entry(name, values, path)
            continue
        pinned = values.get("generations") or {}
        twice = sorted(set(pinned) & set(entries[name].generations))
        if twice:
            raise CollectionError(f"the generation '{twice[0]}' of {name} is the kit's own", path,
                                  "Take it out of this file, or give it another name")
        entries[name] = replace(entries[name],
                                generations={**entries[name].generations, **pinned})
    return entries


@cache
def _shipped() -> dict[str, Entry]:
    return {name: _entry(name, values, REGISTRY) for name, values in _read(REGISTRY).items()}


def _entry(name: str, values: dict, path: Path) -> Entry:
    try:
        return Entry(name=name, **values)
    except TypeError as error:
        raise _unreadable(path, error) from error


def _read(path: Path) -> dict:
    try:
        entries = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise _unreadable(path, error) from error
    if not isinstance(entries, dict) or not all(isinstance(v, dict) for v in entries.values()):
        raise _unreadable(path, "it is no list of collections")
    return entries


def _unreadable(path: Path, error) -> CollectionError:
    return CollectionError(f"the registry can't be read: {error}", path,
                           "restore it from the repository" if path == REGISTRY else
                           "Mend the file, or move it away")
