"""The list of known collections: where each is, its counts, licence and generations.

The committed list ships with the package. What a user pins goes into a file of their own, merged
over it: `registry.yaml` in the outputs folder, or the file that KIT_REGISTRY names. It has the
same form; an entry of a folder bears the name of its environment and no hub id. It is checked when
it is read: an entry has its parts in their types, and none takes the name of the kit's own data.
"""

import os
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kit.errors import CollectionError
from kit.files import find_path, locked, outputs_folder, regular, write_text
from kit.plain_yaml import Bounded

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
    built: {generation: what freezing a built query set noted}: mode, manifest (sha256), audit.
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
    built: dict[str, dict] = field(default_factory=dict)

    def generation_of(self, prints: dict[str, str]) -> str | None:
        """The name of the generation with these fingerprints, or None."""
        return next((name for name, known in self.generations.items() if known == prints), None)


def user_registry() -> Path:
    """The file that holds what a user has pinned; it need not be there."""
    named = os.environ.get("KIT_REGISTRY")
    return find_path(named) if named else outputs_folder() / "registry.yaml"


def registry() -> dict[str, Entry]:
    """The entries that can be opened by name: the committed ones and users' hub ids, with the
    generations that users pinned; no hub id where a folder of that path is what would be opened.
    Raises CollectionError when a file is not a registry."""
    return {name: entry for name, entry in _merged().items() if name in _shipped()
            or entry.hub and not find_path(entry.hub).is_dir()}


def is_kits_own(name: str) -> bool:
    """Whether a collection or environment of the committed registry bears the name."""
    return any(name in (entry.name, entry.environment) for entry in _shipped().values())


def folder_entry(environment: str) -> Entry | None:
    """The entry that a user's folder of this environment was pinned under, or None."""
    entry = _merged().get(environment)
    return entry if entry and not entry.hub and environment not in _shipped() else None


def registered_corpora(environment: str) -> dict[str, str]:
    """{fingerprint: generation} of the corpora that bear the environment's name; often one."""
    return _corpora(_merged(), environment)


def generation_with(prints: dict[str, str]) -> tuple[Entry, str] | None:
    """The entry and generation that already have these fingerprints, or None."""
    return next(((entry, name) for entry in _merged().values()
                 if (name := entry.generation_of(prints))), None)


def has_pinned_folders() -> bool:
    """Whether the user has pinned a collection that no name opens."""
    return bool(_merged().keys() - registry().keys())


def add_generation(entry: Entry, name: str, prints: dict[str, str], counts: dict[str, int],
                   built: dict | None = None) -> Path:
    """Writes a generation into the user's registry and returns the file.

    counts: rows by table, kept for entries that the committed registry does not have. built: what
    freezing a query set noted, of which nothing is replaced. Raises CollectionError when the file
    can't be read, or holds other data of that name by now.
    """
    path = user_registry()
    path.parent.mkdir(parents=True, exist_ok=True)
    with locked(path):
        mine = _checked(path)
        kept = mine.setdefault(entry.name, {})
        if entry.name not in _shipped():
            kept.update({"environment": entry.environment, "layout": entry.layout,
                         "licence": entry.licence, "attribution": entry.attribution,
                         "counts": counts, **({"hub": entry.hub} if entry.hub else {}),
                         **({"note": entry.note} if entry.note else {})})
        if kept.setdefault("generations", {}).setdefault(name, prints) != prints:
            raise CollectionError(f"another process has pinned other data as '{name}'", path,
                                  "Pin this under another name")
        if built is not None:
            kept.setdefault("built", {}).setdefault(name, built)
        _merge(mine, path)  # what would be refused when it is read is not written
        write_text(path, HEADER + yaml.safe_dump(mine, sort_keys=False, allow_unicode=True))
    return path


# --- what may stand in a file ---------------------------------------------------------------------

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9]([A-Za-z0-9.-]{0,78}[A-Za-z0-9])?$")]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Counts = dict[str, Annotated[int, Field(ge=0)]]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Prints(_Part):
    queries: Digest
    corpus: Digest
    qrels: Digest
    sampled: Digest | None = None  # of the layout that keeps non-citations
    together: Digest


class _Target(_Part):
    system: str
    settings: dict = {}
    views: dict[str, str]
    tolerance: float
    source: str
    values: dict[str, dict[str, float]]


class _Audit(_Part):
    good: Annotated[int, Field(ge=0)]
    judged: Annotated[int, Field(ge=0)]
    low: float
    high: float
    threshold: float
    sha256: Digest


class _Built(_Part):
    mode: str
    manifest: Digest
    audit: _Audit | None = None


class _Pinned(_Part):
    """What a user's file may say of a collection of the kit's own."""

    generations: dict[Name, _Prints] = {}


class _Stated(_Pinned):
    """A whole entry."""

    environment: Name
    layout: str
    licence: str
    attribution: str
    hub: Annotated[str, Field(pattern=r"^\w[\w.-]*/\w[\w.-]*$")] | None = None
    note: str = ""
    counts: Counts = {}
    oddities: Counts = {}
    calibration: list[_Target] = []
    built: dict[Name, _Built] = {}


class _Loader(Bounded):
    """YAML in which a key stands once, and a value that has parts stands where it is written."""

    def construct_mapping(self, node, deep=False):
        keys, seen = [str(key.value) for key, _ in node.value], set()
        twice = next((key for key in keys if key in seen or seen.add(key)), None)
        if twice is not None:
            raise yaml.YAMLError(f"the key '{twice[:80]}' stands twice")
        return super().construct_mapping(node, deep)

    def compose_node(self, parent, index):
        aliased = self.check_event(yaml.AliasEvent)
        node = super().compose_node(parent, index)
        if aliased and not isinstance(node, yaml.ScalarNode):
            raise yaml.YAMLError("an alias stands for an entry or a part of one")
        return node


def _merged() -> dict[str, Entry]:
    path = user_registry()
    return _merge(_read(path) if path.exists() else {}, path)


def _checked(path: Path) -> dict:
    """What the user's file says, once it may."""
    mine = _read(path) if path.exists() else {}
    _merge(mine, path)
    return mine


def _merge(mine: dict, path: Path) -> dict[str, Entry]:
    """The committed entries with the user's over them; a pinned generation is never replaced."""
    entries = dict(_shipped())
    for name, values in mine.items():
        entries[name] = _with_pinned(entries[name], values, path) if name in entries else (
            _users_own(name, values, path))
    for environment in {entry.environment for entry in entries.values()}:
        known, now = _corpora(_shipped(), environment), _corpora(entries, environment)
        if len(now) > max(1, len(known)):
            raise CollectionError(
                f"rule 2, identical conditions: the environment '{environment}' is the name of one "
                f"corpus, and '{_later(known, now)}' has another", path,
                "Take that generation out of this file")
    return entries


def _corpora(entries: dict[str, Entry], environment: str) -> dict[str, str]:
    return {prints["corpus"]: name for entry in entries.values()
            if entry.environment == environment for name, prints in entry.generations.items()}


def _later(known: dict[str, str], now: dict[str, str]) -> str:
    """The generation that brought a corpus which an environment did not have."""
    return [name for corpus, name in now.items() if corpus not in known][-1]


def _with_pinned(entry: Entry, values: dict, path: Path) -> Entry:
    pinned = values.get("generations", {})
    twice = sorted(entry.generations.keys() & pinned) if isinstance(pinned, dict) else []
    if twice:
        raise CollectionError(f"the generation '{twice[0]}' of {entry.name} is the kit's own", path,
                              "Take it out of this file, or give it another name")
    _require(_Pinned, entry.name, values, path)
    return replace(entry, generations={**entry.generations, **pinned})


def _users_own(name: str, values: dict, path: Path) -> Entry:
    _require(_Stated, name, values, path)
    entry = Entry(name=name, **values)
    if is_kits_own(entry.environment):
        raise CollectionError(f"rule 2, identical conditions: the entry '{name}' takes the name "
                              f"'{entry.environment}' of the kit's own data as its environment",
                              path, "Give it an environment of its own")
    if not entry.hub and name != entry.environment:
        raise CollectionError(f"the entry '{name}' has no hub id and another environment, "
                              f"'{entry.environment}'", path, "Name it like its environment")
    return entry


def _require(form: type[BaseModel], name: str, values: dict, path: Path) -> None:
    try:
        form.model_validate(values)
    except ValidationError as error:
        wrong = error.errors()[0]
        place = ".".join(str(part)[:80] for part in wrong["loc"])
        raise _unreadable(path, f"{name}: {place}: {wrong['msg']}") from error


@cache
def _shipped() -> dict[str, Entry]:
    entries = _read(REGISTRY)
    for name, values in entries.items():
        _require(_Stated, name, values, REGISTRY)
    return {name: Entry(name=name, **values) for name, values in entries.items()}


def _read(path: Path) -> dict:
    try:
        entries = yaml.load(regular(path).read_text(encoding="utf-8"), _Loader)
    except Exception as error:  # PyYAML raises many kinds, for a tag or for depth
        raise _unreadable(path, error) from error
    if not isinstance(entries, dict):
        raise _unreadable(path, "it is no list of collections")
    for name, values in entries.items():
        if not isinstance(name, str) or not isinstance(values, dict):
            raise _unreadable(path, f"{str(name)[:80]}: it is no entry of a collection")
    return entries


def _unreadable(path: Path, error) -> CollectionError:
    return CollectionError(f"the registry can't be read: {error}", path,
                           "restore it from the repository" if path == REGISTRY else
                           "Mend the file, or move it away")
