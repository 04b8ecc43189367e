"""Pinning: the collection as it is becomes a generation in the user's registry."""

from dataclasses import replace
from pathlib import Path

import pandas as pd

from kit.collection.built import read_frozen
from kit.collection.registry import (
    Entry,
    add_generation,
    generation_with,
    is_kits_own,
    user_registry,
)
from kit.collection.schema import TABLES, require_sound
from kit.collection.sources import layout_of
from kit.errors import CollectionError, ParamsError
from kit.files import find_path, safe_name
from kit.reporting import rules


def differences(collection) -> pd.DataFrame:
    """What differs from the entry's last generation: a row a table.

    Columns: table, rows before, rows now, fingerprint before, fingerprint now (8 characters),
    changed. What was never pinned has nothing before.
    """
    last, entry = last_generation(collection), collection.entry
    before = entry.generations[last] if last else {}
    counts = entry.counts if entry else {}
    return pd.DataFrame([{
        "table": table, "rows before": counts.get(table) if last else None, "rows now": rows,
        "fingerprint before": rules.short(before[table]) if table in before else None,
        "fingerprint now": rules.short(collection.fingerprints[table]),
        "changed": before.get(table) != collection.fingerprints[table],
    } for table, rows in _rows(collection).items()]).astype({"rows before": "Int64"})


def last_generation(collection) -> str | None:
    """The generation that was pinned last under the collection's entry, or None."""
    return next(reversed(collection.entry.generations), None) if collection.entry else None


def generation_name(collection, name: str | None = None, freezing: bool = False) -> str:
    """The name of the generation to be pinned, once it may be: by default the next number.

    Raises CollectionError for a collection that breaks its layout, RuleError where data that is
    pinned already would get a second name, a name would get other data (rule 1), or an
    environment another corpus (rule 2); ParamsError for a name that can't be a file's. A query set that
    `kit build` made is frozen first (freezing: it is about to be).
    """
    require_sound(collection)
    if collection.query_set and not freezing and _frozen(collection) is None:
        raise CollectionError("this is a built query set that is not frozen", collection.source,
                              "Use 'kit freeze', which asks for its audit and pins it")
    pinned = generation_with(collection.fingerprints)
    if pinned:
        raise rules.PINNED.broken(
            f"this data is pinned already, as '{pinned[1]}' of the collection '{pinned[0].name}'",
            collection.source, "Open it by that name")
    taken = collection.entry.generations if collection.entry else {}
    name = name or f"{collection.environment}-{len(taken) + 1}"
    if name != safe_name(name, ""):
        raise ParamsError(f"a generation can't be named '{name[:80]}'", "--name",
                          "Use letters, digits, '.' and '-'")
    if name in taken:
        raise rules.PINNED.broken(f"the generation '{name}' is pinned with other data, and a "
                                  "generation is never changed", user_registry(),
                                  "Give another name")
    if collection.entry is None and is_kits_own(collection.environment):
        raise rules.IDENTICAL.broken(
            f"'{collection.environment}' is the name of the kit's own data", collection.source,
            "Give this collection another name: rename its folder")
    rules.require_own_environment(collection.environment, collection.fingerprints["corpus"],
                                  collection.source)
    return name


def pin(collection, name: str) -> Path:
    """Writes the generation into the user's registry and returns that file.

    Raises CollectionError when another process has meanwhile pinned what forbids this one.
    """
    entry = collection.entry or Entry(
        name=collection.environment, environment=collection.environment,
        layout=layout_of(collection.source), licence="not stated", attribution="not stated",
        hub=None if find_path(collection.source).is_dir() else collection.source)
    made, frozen = collection.query_set, _frozen(collection)
    if made and collection.entry is None:
        entry = replace(entry, licence=made["licence"], attribution=made["attribution"], note=made["note"])
    built = frozen and {key: frozen[key] for key in ("mode", "manifest", "audit")}
    return add_generation(entry, name, collection.fingerprints, _rows(collection), built)


def _frozen(collection) -> dict | None:
    """What freezing noted of a query set; None for one that is not frozen, or is none."""
    return read_frozen(find_path(collection.source)) if collection.query_set else None


def _rows(collection) -> dict[str, int]:
    return {"queries": len(collection.ids("queries")), "corpus": len(collection.ids("corpus")),
            "qrels": len(collection.pairs),
            **{t: len(collection.frame(t, ["query_id"])) for t in collection.tables
               if t not in TABLES}}
