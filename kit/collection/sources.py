"""A name, a hub id or a folder -> Collection."""

import errno
import glob
import logging
import os
import re
import warnings
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

warnings.filterwarnings("ignore", message="IProgress not found")  # bars that are never shown
import datasets
import fsspec
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from datasets import Features, load_dataset, load_dataset_builder
from datasets.packaged_modules.cache.cache import Cache
from huggingface_hub.utils import disable_progress_bars

from kit.collection import miniature
from kit.collection.built import read_manifest
from kit.collection.cached import cached_builder, hub_answers
from kit.collection.dapfam import DAPFAM, relation_faults
from kit.collection.encoding import as_bytes, escaped, is_utf8
from kit.collection.fingerprint import fingerprint
from kit.collection.readme import README, require_configs
from kit.collection.registry import (
    Entry,
    folder_entry,
    generation_with,
    has_pinned_folders,
    registry,
)
from kit.collection.rows import ROWS, ROWS_FILE, read_rows
from kit.collection.schema import (
    FEATURES,
    ID_COLUMN,
    SOPHIA,
    TABLES,
    Fault,
    Layout,
    column_faults,
    find_faults,
)
from kit.errors import CollectionError, let_memory_pass
from kit.files import find_path, is_there, safe_name

datasets.disable_progress_bars()  # a notebook keeps no trail of them
disable_progress_bars()  # nor of the hub's
_RELATIONS = re.compile(rb"^[ \t-]*config_name:[ \t]*[\"']?relations[\"']?[ \t]*\r?$", re.MULTILINE)
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)
BATCH = 256  # rows at a time: some 10 MB of full texts


@dataclass(frozen=True, eq=False)
class Collection:
    """Three tables in Sophia's layout, memory-mapped (or streamed), and what is known of them.
    DAPFAM has a fourth, `sampled` (see `kit.collection.dapfam`).

    environment: the name under which scores may stand side by side.
    shared_ids: whether queries and corpus use one namespace, so that an id in both is one patent
    and a query's own entry is excluded from its ranking.
    columns: {table: Features}, Sophia's and what the layout adds; one that a table lacks is null.
    unconverted: the tables whose broken columns left them in another layout's.
    lenient: read bytes that are no UTF-8 as escapes, for the audit; else they are an error.
    query_set: the manifest of a set that `kit build` made (`kit.collection.built`), else None.
    """

    source: str
    environment: str
    tables: dict[str, datasets.Dataset | datasets.IterableDataset]
    column_faults: tuple[Fault, ...] = ()
    entry: Entry | None = None
    shared_ids: bool = True
    columns: dict[str, Features] = field(default_factory=lambda: FEATURES)
    lenient: bool = False
    unconverted: frozenset[str] = frozenset()
    query_set: dict | None = None

    def batches(self, table: str, columns: list[str], size: int = BATCH):
        """Yields {column: list of values} for `size` rows at a time; a lacking column is null."""
        data = self.tables[table]
        present = [c for c in columns if c in data.column_names]
        lacking = [c for c in columns if c not in present]
        read = present or data.column_names[:1]  # without a column there would be no rows
        for batch in data.select_columns(read).with_format("arrow").iter(size):
            values = {c: self._values(table, batch, c) for c in present}
            yield {**values, **{c: [None] * batch.num_rows for c in lacking}}

    def only(self, table: str, start: int, stop: int) -> "Collection":
        """The same, but of one table the rows from `start` to `stop` only, as far as it has them."""
        data = self.tables[table]
        if isinstance(data, datasets.Dataset):
            rows = data.select(range(min(start, len(data)), min(stop, len(data))))
        else:
            rows = data.skip(start).take(stop - start)
        return replace(self, tables={**self.tables, table: rows})

    def at(self, table: str, rows: list[int]) -> "Collection":
        """The same, but of one table these rows only, in this order. Raises CollectionError for a table
        that is read as a stream."""
        data = self.tables[table]
        if not isinstance(data, datasets.Dataset):
            raise CollectionError(f"rows of {table} are asked for one by one, and it is read as a stream",
                                  self.source, "Set streaming: false")
        return replace(self, tables={**self.tables, table: data.select(rows)})

    def _values(self, table: str, batch: pa.Table, column: str) -> list:
        try:
            return batch.column(column).to_pylist()
        except UnicodeDecodeError as error:  # Parquet files may hold any bytes as text
            if self.lenient:
                return [escaped(v) for v in as_bytes(batch.column(column)).to_pylist()]
            raise CollectionError(f"the column '{column}' of {table} is not UTF-8: {error.reason}",
                                  self.source, "Write the table anew as UTF-8") from error

    def read_leniently(self) -> "Collection":
        """The same tables, in which bytes that are no UTF-8 are read as escapes such as \\xe9."""
        return replace(self, lenient=True)

    def unregistered(self) -> "Collection":
        """The same tables as if no registry knew them; what was read is not read again."""
        return self._known_as(self.environment, None)

    def _known_as(self, environment: str, entry: Entry | None) -> "Collection":
        same = replace(self, environment=environment, entry=entry)
        vars(same)["fingerprints"] = self.fingerprints
        return same

    def undecodable(self) -> pd.DataFrame:
        """The values whose bytes are no UTF-8: table, row (from 0), column."""
        found = []
        for table, data in self.tables.items():
            row = 0
            for batch in data.with_format("arrow").iter(BATCH):
                for column in batch.column_names:
                    try:
                        batch.column(column).validate(full=True)
                    except pa.ArrowInvalid:
                        values = as_bytes(batch.column(column)).to_pylist()
                        found += [(table, row + i, column) for i, v in enumerate(values)
                                  if not is_utf8(v)]
                row += batch.num_rows
        return pd.DataFrame(found, columns=["table", "row", "column"])

    def is_empty(self, table: str) -> bool:
        """Whether a table has no row."""
        return next(iter(self.tables[table].with_format("arrow").iter(1)), None) is None

    @property
    def broken_columns(self) -> set[str]:
        """The columns that are missing or of another type than the layout's, as "table.column"; of
        a table in other columns than Sophia's, which is not converted then, all."""
        whole = {f"{t}.{column}" for t in self.unconverted for column in self.columns[t]}
        return whole | {f"{f.table}.{f.column}" for f in self.column_faults}

    def frame(self, table: str, columns: list[str]) -> pd.DataFrame:
        """Whole columns as a frame: for identifiers and bibliographic fields, not for texts."""
        parts = [pd.DataFrame(batch, dtype=object) for batch in self.batches(table, columns, 10_000)]
        return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)

    def ids(self, table: str) -> pd.Series:
        """The identifiers of `queries` or `corpus` in the table's order."""
        return self._ids[table]

    @cached_property
    def _ids(self) -> dict[str, pd.Series]:
        return {t: self.frame(t, [c])[c] for t, c in ID_COLUMN.items()}

    @cached_property
    def _packed_ids(self) -> dict[str, pa.Array]:
        """The identifiers as Arrow has them: of millions one is found in some hundredths of a second."""
        return {t: pa.array(ids) for t, ids in self._ids.items()}

    @cached_property
    def pairs(self) -> pd.DataFrame:
        """The qrels: query_id, doc_id, category, source_relations, and what the layout adds."""
        return self.frame("qrels", list(self.columns["qrels"]))

    @cached_property
    def faults(self) -> list[Fault]:
        """Every broken rule of the layout; empty for a sound collection."""
        return find_faults(self) + relation_faults(self)

    @cached_property
    def fingerprints(self) -> dict[str, str]:
        """sha256 by table and together."""
        return fingerprint(self, self.columns)

    @cached_property
    def generation(self) -> str | None:
        """The registered generation with these fingerprints, or None."""
        return self.entry.generation_of(self.fingerprints) if self.entry else None

    @property
    def note(self) -> str:
        """What every report on this collection must say; often empty."""
        known = self.entry.note if self.entry else ""
        return known or (self.query_set or {}).get("note", "")

    @property
    def registered_set(self) -> dict | None:
        """What the registry notes of the built query set that this data is: its mode, the digest of
        its manifest, its audit. None for one that is not frozen and registered, or was not built."""
        built = self.entry.built if self.query_set and self.entry else {}
        noted = built.get(self.generation) if built else None
        return noted if noted and noted["manifest"] == self.query_set["sha256"] else None

    def row(self, table: str, identifier: str) -> dict:
        """One whole row of `queries` or `corpus`. Raises CollectionError for an unknown id."""
        ids = self._packed_ids[table]
        place = pc.index(ids, pa.scalar(identifier, ids.type)).as_py()
        if place < 0:
            raise CollectionError(f"{table} has no '{identifier}'", self.source)
        data = self.tables[table]
        row = data[place] if isinstance(data, datasets.Dataset) else next(iter(data.skip(place)))
        return {**dict.fromkeys(self.columns[table]), **row}


def open_collection(source: str, *, revision: str | None = None,
                    streaming: bool = False) -> Collection:
    """Opens a registered name, a hub id, or a folder in the layout of Sophia, DAPFAM or rows.

    revision: a commit or tag of a hub data set. streaming: rows are read as they are asked for.
    Tables that break the layout open all the same (see `Collection.faults`).
    Raises CollectionError when there is nothing that can be read as three tables, and for a query
    set that was changed after it was frozen.
    """
    where, entry, environment = _locate(source)
    layout = _layout(where, entry)
    made = read_manifest(Path(where)) if layout is ROWS else None
    opened = {t: _open_table(where, layout, t, revision, streaming) for t in layout.configs}
    tables = {t: data for t, (data, _) in opened.items()}
    tables |= read_rows(Path(where) / ROWS_FILE) if layout is ROWS else {}
    return _by_its_data(Collection(
        source=source, environment=environment, entry=entry, query_set=made,
        shared_ids=made["shared_ids"] if made else layout.shared_ids,
        columns=layout.columns, tables={t: tables[t] for t in layout.columns},
        column_faults=tuple(f for t, (_, faults) in opened.items() if t in TABLES for f in faults),
        unconverted=frozenset(t for t, (_, faults) in opened.items() if layout.convert and faults)))


def _by_its_data(collection: Collection) -> Collection:
    """A folder that no name knows, under the entry whose pinned data it holds: whoever unpacks a
    pinned collection under another folder's name has the same data."""
    asked = collection.entry is None and not collection.column_faults and has_pinned_folders()
    if not asked or not find_path(collection.source).is_dir():
        return collection
    try:
        known = generation_with(collection.fingerprints)
    except CollectionError:  # bytes that are no UTF-8: pinned they are not
        return collection
    return collection._known_as(known[0].environment, known[0]) if known else collection


def _locate(source: str) -> tuple[str, Entry | None, str]:
    """Where the data is, its registry entry, and the name of its environment."""
    if not isinstance(source, str) or not source.strip():
        raise CollectionError("no collection is named", repr(source), _known())
    entry = registry().get(source)
    if entry is None and not (is_there(find_path(source)) and find_path(source).is_dir()):
        entry = next((e for e in registry().values() if e.hub == source), None)
    if entry is not None:
        if entry.hub and Path(entry.hub).is_dir():  # `datasets` would read it in place of the hub's
            raise CollectionError(f"a folder here bears the hub id of '{source}'", entry.hub,
                                  "Give that folder by its path, such as ./NAME, or work from elsewhere")
        return entry.hub or str(miniature.folder(entry.name)), entry, entry.environment
    path = find_path(source)
    if is_there(path) and path.is_dir():
        environment = safe_name(path.resolve().name, "collection")
        return str(path), folder_entry(environment), environment
    if is_there(path):
        raise CollectionError("a collection is a folder, and this is a file", source, _known())
    if re.fullmatch(r"\w[\w.-]*/\w[\w.-]*", source) and len(source) <= 200:
        return source, None, safe_name(source, "collection")
    raise CollectionError("there is no such collection or folder", source[:200], _known())


def anywhere(source: str) -> str:
    """The source as a process in another working folder finds it: a folder by its absolute path."""
    folder = find_path(source)
    return str(folder.resolve()) if source not in registry() and is_there(folder) and folder.is_dir() else source


def layout_of(source: str) -> str:
    """The name of the layout in which a collection lies."""
    where, entry, _ = _locate(source)
    return _layout(where, entry).name


def _layout(where: str, entry: Entry | None) -> Layout:
    """The registry's layout; of a folder, the one whose own files lie in it."""
    folder = Path(where)
    if folder.is_dir() and os.path.lexists(folder / ROWS_FILE):  # a link to nowhere is a file lost
        tables = [name for name in ("queries", "qrels", "relations") if (folder / name).exists()]
        if tables:
            raise CollectionError(
                f"the folder holds {ROWS_FILE} and {', '.join(tables)}, two sets of queries", where,
                "Keep one of them")
        return ROWS
    looks = folder.is_dir() and _has_relations(folder)
    if looks and os.path.lexists(folder / "qrels"):
        raise CollectionError("the folder holds relations and qrels, two sets of pairs", where,
                              "Keep one of them")
    return DAPFAM if looks or (entry is not None and entry.layout == DAPFAM.name) else SOPHIA


def _has_relations(folder: Path) -> bool:
    """Whether relations lie in a folder, or its README has a config of them: the published folder's
    file of relations bears another name."""
    if any(folder.glob("relations*")) or (folder / f"{DAPFAM.files['qrels']}.parquet").exists():
        return True
    readme = folder / README
    return readme.is_file() and bool(_RELATIONS.search(readme.read_bytes()))


def _known() -> str:
    return (f"Give one of {', '.join(registry())}, a hub id (owner/name), or a folder in the hub's "
            f"layout or with {ROWS_FILE}")


def _open_table(where: str, layout: Layout, table: str, revision: str | None, streaming: bool):
    """One table and the faults of its columns; opened with explicit features."""
    try:
        arguments = _arguments(where, layout, table, revision)
        builder = _builder(arguments, where, layout, table, revision)
        schemas = _own_schemas(builder, layout)
        own = layout.own_features(table, schemas)
        faults = list({f: None for s in schemas for f in column_faults(table, s, own)})
        features = _features(table, schemas, faults, own)
        data = _load(builder, arguments, where, layout, features, streaming)
        if layout.convert and not faults:
            data = layout.convert(table, data)
        return data, faults
    except CollectionError:
        raise
    except Exception as error:  # every reader raises its own kind
        let_memory_pass(error)
        raise _explained(where, table, error) from error


def _arguments(where: str, layout: Layout, table: str, revision: str | None) -> dict:
    """How `datasets` is to find a table: by the README's configs, else by the folder's name."""
    folder, config = Path(where).absolute(), layout.configs[table]  # else the working folder's name is a pattern
    alone = layout is ROWS or not os.path.lexists(folder / README)
    if folder.is_dir():
        _require_plain(folder, alone)
    if folder.is_dir() and alone:
        files = sorted(glob.escape(str(f)) for f in (folder / config).glob("*.parquet"))
        single = [folder / f"{name}.parquet" for name in (config, layout.files.get(table)) if name]
        files = files or [glob.escape(str(f)) for f in single if f.is_file()][:1]
        if not files and layout is ROWS:
            raise CollectionError(f"beside {ROWS_FILE} there is no {config}/*.parquet", where,
                                  "Put the corpus there, as Parquet in the columns of Sophia's")
        if not files:
            raise CollectionError(f"the folder has no README.md with configs and no {config}/*.parquet",
                                  where, "Lay it out as a hub data set: queries/, corpus/, qrels/")
        return {"path": "parquet", "data_files": {layout.split: files}}
    if folder.is_dir():
        require_configs(folder, layout)
    return {"path": where, "name": config, "revision": revision}


def _require_plain(folder: Path, alone: bool) -> None:
    """Raises CollectionError for a path in which `datasets` would fill in a variable of the environment,
    see a chain of file systems or, where a README names the files, a pattern."""
    sign = re.search(r"\$[\w{]|::" if alone else r"\$[\w{]|::|\[", str(folder))
    if sign:
        raise CollectionError(f"the folder's path holds {sign[0]!r}, which the reader of tables takes for "
                              "something else", folder, "Rename the folder, or move it")


def _builder(arguments: dict, where: str, layout: Layout, table: str, revision: str | None):
    """The reader of a table; that of the cached copy when the hub can't be reached."""
    of_hub = "data_files" not in arguments and not Path(where).is_dir()
    if of_hub and not datasets.config.HF_HUB_OFFLINE and not hub_answers():
        return cached_builder(where, layout, table, revision)
    try:
        builder = load_dataset_builder(**arguments)
    except ValueError as error:
        if "find cache for" not in str(error):  # it knows copies by the table's bare name only
            raise
        return cached_builder(where, layout, table, revision)
    return cached_builder(where, layout, table, revision) if isinstance(builder, Cache) else builder


def _load(builder, arguments: dict, where: str, layout: Layout, features: Features,
          streaming: bool):
    """The rows of a table, in the columns and types of `features`."""
    if isinstance(builder, Cache):
        kept = builder.as_streaming_dataset(layout.split) if streaming else builder.as_dataset(layout.split)
        return kept.select_columns(list(features))
    if Path(where).is_dir():  # else `datasets` gives what it kept of any folder of that name
        files = [glob.escape(f) for f in builder.config.data_files[layout.split]]
        arguments = {"path": "parquet", "data_files": {layout.split: files}}
    # a stated batch size, since `datasets` would take the first row group's, which may be 0
    try:
        return load_dataset(**arguments, split=layout.split, features=features,
                            columns=list(features), batch_size=BATCH, streaming=streaming)
    except ValueError as error:
        if "corresponds to no data" not in str(error):
            raise
        return datasets.Dataset.from_dict({name: [] for name in features}, features=features)


def _own_schemas(builder, layout: Layout) -> list[pa.Schema]:
    """The schema that each Parquet file states, or that of the cached copy."""
    if isinstance(builder, Cache):
        return [builder.info.features.arrow_schema]
    files = (builder.config.data_files or {}).get(layout.split)
    if files is None:
        raise CollectionError(f"the table '{builder.config.name}' has no split '{layout.split}'",
                              builder.base_path or builder.repo_id,
                              f"It has {', '.join(builder.config.data_files or {}) or 'none'}")
    if not files:
        raise CollectionError(f"the table '{builder.config.name}' names files that are not there",
                              builder.base_path, "Mend the paths in README.md")
    other = [f for f in files if not str(f).endswith(".parquet")]
    if other:
        raise CollectionError("tables are Parquet files", other[0],
                              "Convert the table, with every identifier as a string")
    schemas = []
    for file in files:
        with fsspec.open(str(file)) as stream:
            names = (schema := pq.read_schema(stream)).names
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise CollectionError(f"the column '{twice}' stands twice", str(file),
                                  "Write the table anew with one of the two")
        schemas.append(schema)
    return schemas


def _features(table: str, schemas: list[pa.Schema], faults: list[Fault],
              wanted: Features) -> Features:
    """The layout's features, less the columns that no file has; a wrong type stays as it is."""
    wrong = {f.column for f in faults}
    present = set.intersection(*(set(s.names) for s in schemas))
    features = {}
    for name in (n for n in wanted if n in present):
        own = {s.field(name).type for s in schemas}
        stays = name in wrong and len(own) == 1  # files that differ have only the layout's in common
        features[name] = Features.from_arrow_schema(
            pa.schema([(name, *own)]))[name] if stays else wanted[name]
    if not features:
        raise CollectionError(f"the table {table} has none of the layout's columns", table,
                              "DAPFAM's tables need their relations beside them" if "relevant_id" in
                              present else f"it asks for {', '.join(wanted)}")
    return Features(features)


def _explained(where: str, table: str, error: Exception) -> CollectionError:
    """The reader's own error as one that says what to do."""
    cause = error.__cause__ or error
    if isinstance(error, ConnectionError):
        return CollectionError(
            "the hub can't be reached, and there is no cached copy", where,
            "Go online once, copy the hub's cache folder (HF_HOME) here, or give a folder with "
            "queries/, corpus/ and qrels/ as downloaded")
    if isinstance(cause, OSError) and cause.errno in NO_ROOM:
        return CollectionError(
            f"the table {table} can't be kept to be mapped into memory: {cause.strerror}",
            datasets.config.HF_DATASETS_CACHE,
            "Make room on that disk, or name another folder in HF_DATASETS_CACHE")
    if "BuilderConfig" in str(error):
        return CollectionError(f"there is no table '{table}'", where,
                               "The README's configs must name queries, corpus and qrels")
    if "DataFilesNotFound" in type(error).__name__ or isinstance(error, FileNotFoundError):
        return CollectionError(f"the files of the table {table} are not there, or are no Parquet", where,
                               f"Mend the paths in {README}, or fetch the data set anew")
    return CollectionError(
        f"the table {table} can't be read: {type(cause).__name__}: {str(cause)[:300]}", where,
        "Give a folder in the hub's layout, or fetch the data set anew")


for _name in ("datasets", "huggingface_hub"):
    logging.getLogger(_name).setLevel(logging.CRITICAL)  # said again in the error raised
