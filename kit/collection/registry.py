"""The committed list of known collections: where each is, its counts, licence and generations."""

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import yaml

from kit.errors import CollectionError

REGISTRY = Path(__file__).with_name("registry.yaml")


@dataclass(frozen=True)
class Entry:
    """A known collection.

    hub: hub id, or None for what is built in. layout: the columns it comes in.
    environment: the name under which its scores may stand side by side.
    generations: {name: {"queries": sha256, "corpus": …, "qrels": …, "together": …}}.
    counts, oddities: expected numbers by name. note: what every report on it must say.
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

    def generation_of(self, prints: dict[str, str]) -> str | None:
        """The name of the generation with these fingerprints, or None."""
        return next((name for name, known in self.generations.items() if known == prints), None)


@cache
def registry() -> dict[str, Entry]:
    """All entries by name. Raises CollectionError when the file is not a registry."""
    try:
        entries = yaml.safe_load(REGISTRY.read_text(encoding="utf-8"))
        return {name: Entry(name=name, **values) for name, values in entries.items()}
    except (yaml.YAMLError, TypeError, AttributeError) as error:
        raise CollectionError(f"the registry can't be read: {error}", REGISTRY,
                              "restore it from the repository") from error
