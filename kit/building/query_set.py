"""One way to make a query set: rows and a manifest, written whole, then frozen and registered.

A set is a folder in the `rows` layout (`kit.collection.rows`) with its manifest, `query_set.json`:
the sources with their digests, the kit's version and commit, every parameter, the digest of every
file, and for each kind of thing what came in, what left, and why the rest did not. Beside the rows
lie, as JSON lines: `lost.jsonl`, each loss by its identifier; `evidence.jsonl`, where a gold or a
text is from; and what a mode adds. The corpus is that of the collection the set was made for. The
same sources and parameters give the same bytes, whenever the set is built.

`freeze` checks the set, writes `frozen.json` beside it and registers it as a generation under its
mode; from then on a folder that was changed is refused when it is opened.
"""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from kit import SUITE_VERSION
from kit.building.judging import JUDGED, Audit, audit_of, require_good
from kit.collection.built import FROZEN, MANIFEST, read_frozen, read_manifest, set_files
from kit.collection.rows import ROWS_FILE, read_rows
from kit.collection.schema import FEATURES, SPLIT, require_sound, shown
from kit.collection.sources import Collection, open_collection
from kit.errors import BuildError
from kit.files import (
    clear_leftovers,
    digest_of_file,
    dump_json,
    find_path,
    made_whole,
    regular,
    write_json,
    write_new,
)
from kit.provenance import git_state
from kit.relevance.protocols import positives
from kit.reporting import pin
from kit.reporting.modes import MODES

EVIDENCE, LOST = "evidence.jsonl", "lost.jsonl"
SCHEMA_VERSION = 1
BATCH = 256  # documents written at a time


@dataclass(frozen=True)
class Loss:
    """Something that came in and did not leave. what: its kind, such as "queries"; reason: the same
    words for all that were lost in this way; detail: what is particular to this one."""

    what: str
    id: str
    reason: str
    detail: str = ""


@dataclass(frozen=True)
class Count:
    """How many of a kind came in and how many left; the losses say why the others did not.

    Raises BuildError unless what came in is what left and what was lost.
    """

    what: str
    entered: int
    left: int
    losses: dict[str, int] = field(default_factory=dict)

    def __post_init__(self):
        lost = sum(self.losses.values())
        if self.entered != self.left + lost or min(self.left, lost) < 0:
            raise BuildError(f"{self.entered} {self.what} came in, {self.left} left and {lost} were lost, "
                             "which does not add up", self.what, "This is an error of the kit: report it")


@dataclass(frozen=True)
class QuerySet:
    """What a builder made; `write_query_set` makes a folder of it.

    mode: a name in MODES. rows: in the rows layout. corpus: the collection whose documents are
    searched. entered: {kind: how many came in}, losses: each one that did not leave; the rows are of
    the kind `rows_are`, and of the other kinds `left` says how many left. sources: {name: sha256}.
    parameters: all that decided what was made. evidence: dicts, each with a `qid` of the rows.
    shared_ids: whether a qid that is a corpus id too is that document, so that it is left out of its
    own ranking. audit: how people judge rows before the set may be frozen, or None. beside:
    {file name: dicts} of further JSON lines. notes: what the manifest says besides.
    """

    mode: str
    rows: list[dict]
    corpus: Collection
    entered: dict[str, int]
    losses: list[Loss]
    sources: dict[str, str]
    parameters: dict
    evidence: list[dict] = field(default_factory=list)
    rows_are: str = "queries"
    left: dict[str, int] = field(default_factory=dict)
    shared_ids: bool = False
    audit: Audit | None = None
    beside: dict[str, list[dict]] = field(default_factory=dict)
    notes: dict = field(default_factory=dict)

    def counts(self) -> list[Count]:
        """A count a kind, in the order in which the kinds are named. Raises BuildError where one does
        not add up, or a loss is of no kind that came in."""
        left = {**self.left, self.rows_are: len(self.rows)}
        odd = sorted({loss.what for loss in self.losses} - self.entered.keys())
        if odd or left.keys() != self.entered.keys():
            raise BuildError(f"the kinds that came in are {', '.join(self.entered)}, those that left "
                             f"{', '.join(left)}, and lost were {', '.join(odd) or 'none else'}",
                             self.mode, "This is an error of the kit: report it")
        return [Count(what, entered, left[what], dict(sorted(Counter(
            loss.reason for loss in self.losses if loss.what == what).items())))
            for what, entered in self.entered.items()]


# --- writing --------------------------------------------------------------------------------------

def write_query_set(made: QuerySet, folder: Path) -> Path:
    """Writes the set, whole or not at all, and returns its folder.

    Raises BuildError where the folder is there, a mode is unknown, no row is left, the counts do not
    add up, or a gold or a piece of evidence belongs to nothing; CollectionError for rows that are
    none of the layout.
    """
    folder = Path(folder)
    _require(made)
    require_free(folder)
    counts = made.counts()
    with made_whole(folder) as part:
        _write_lines(part / ROWS_FILE, made.rows)
        read_rows(part / ROWS_FILE)  # what the layout refuses is not written
        _write_lines(part / EVIDENCE, made.evidence)
        _write_lines(part / LOST, [vars(loss) for loss in made.losses])
        for name, lines in made.beside.items():
            _write_lines(part / name, lines)
        write_corpus(made.corpus, part / "corpus")
        digests = {name: digest_of_file(part / name) for name in sorted(set_files(part))}
        write_json(part / MANIFEST, _manifest(made, counts, digests))
        own = digest_of_file(part / MANIFEST)
    if digest_of_file(folder / MANIFEST) != own:  # nor is one that came meanwhile taken for this
        require_free(folder)
    return folder


def require_free(folder: Path) -> None:
    """Raises BuildError for a folder that is there: a set is never written over."""
    if Path(folder).exists():
        raise BuildError("the folder is there, and no set is written over another", folder,
                         "Name another folder, or delete this one")


def _require(made: QuerySet) -> None:
    if made.mode not in MODES:
        raise BuildError(f"unknown mode {shown(made.mode)}", "mode", f"Give one of {', '.join(MODES)}")
    if not made.rows:
        raise BuildError("no row is left, so that there is no set", made.mode,
                         f"Losses: {_told(made.losses)}{_odd(made.notes)}")
    known, qids = set(made.corpus.ids("corpus")), {row["qid"] for row in made.rows}
    unknown = next((gold for row in made.rows for gold in row["gold_apps"] if gold not in known), None)
    if unknown is not None:
        raise BuildError(f"the gold {shown(unknown)} is not in the corpus", made.corpus.source,
                         "Count golds out that the corpus lacks")
    loose = next((e for e in made.evidence if e.get("qid") not in qids), None)
    if loose is not None:
        raise BuildError(f"evidence names the row {shown(loose.get('qid'))}, which is none", made.mode,
                         "Give evidence of rows only")


def _told(losses: list[Loss]) -> str:
    counted = Counter(f"{loss.what}: {loss.reason}" for loss in losses)
    return "; ".join(f"{reason} {n}" for reason, n in counted.most_common(5)) or "none"


def _odd(notes: dict) -> str:
    odd = notes.get("odd_files") or {}
    first = next(iter(odd.items()), None)
    return f"; nothing was read of {len(odd)} files, such as {first[0]}: {first[1]}" if first else ""


def _manifest(made: QuerySet, counts: list[Count], digests: dict[str, str]) -> dict:
    """No time stands in it, so that one set built twice is the same bytes; `frozen.json` has one."""
    entry, corpus = made.corpus.entry, made.corpus
    return {
        "schema_version": SCHEMA_VERSION, "mode": made.mode, "suite_version": SUITE_VERSION,
        "git": git_state(), "shared_ids": made.shared_ids, "rows_are": made.rows_are,
        "parameters": made.parameters, "sources": dict(sorted(made.sources.items())),
        "collection": {"name": Path(corpus.source).name, "environment": corpus.environment,
                       "generation": corpus.generation, "fingerprints": corpus.fingerprints},
        "licence": entry.licence if entry else "not stated",
        "attribution": entry.attribution if entry else "not stated", "note": corpus.note,
        "counts": [vars(count) for count in counts],
        "audit": made.audit and made.audit.as_dict(), "notes": made.notes, "files": digests}


def _write_lines(path: Path, lines: Iterable[dict]) -> None:
    """Half a character, as raw answers may hold, is written as JSON escapes it, and read back the same."""
    with path.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
        for line in lines:
            file.write(json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n")


def read_lines(path: Path) -> list[dict]:
    """The objects of a JSON lines file that a builder wrote. Raises BuildError for another file."""
    try:
        with regular(path).open(encoding="utf-8", newline="\n") as file:
            lines = [json.loads(line) for line in file if line.strip()]
    except (OSError, ValueError, RecursionError) as error:
        raise BuildError(f"the file can't be read: {error}", path, "Build the set anew") from error
    odd = next((n for n, line in enumerate(lines, 1) if not isinstance(line, dict)), None)
    if odd is not None:
        raise BuildError(f"line {odd} is no JSON object", path, "Build the set anew")
    return lines


def write_corpus(collection: Collection, folder: Path) -> None:
    """The corpus in Sophia's columns, as one Parquet file; its fingerprint is the collection's."""
    schema = FEATURES["corpus"].arrow_schema.remove_metadata()
    folder.mkdir()
    with pq.ParquetWriter(folder / f"{SPLIT}-00000-of-00001.parquet", schema) as writer:
        for batch in collection.batches("corpus", schema.names, BATCH):
            writer.write_table(pa.table(batch, schema))


# --- what builders share --------------------------------------------------------------------------

def open_source(source: str, revision: str | None = None) -> Collection:
    """The collection that a set is made from or for. Raises CollectionError for an unsound one."""
    collection = open_collection(source, revision=revision)
    require_sound(collection)
    return collection


def digests_of(paths: Iterable[Path], root: Path | None = None) -> dict[str, str]:
    """{name: sha256} of files, and of all files below a folder; names are relative to `root`, or the
    files' own. Raises BuildError for two files of one name, and for what is not there."""
    found: dict[str, str] = {}
    for path in map(Path, paths):
        inside = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
        for file in inside:
            base = root or (path.parent if path.is_dir() else file.parent)
            name = file.relative_to(base).as_posix()
            if not file.is_file() or name in found:
                raise BuildError("two sources have one name" if name in found else "there is no such file",
                                 file, "Give each source once")
            found[name] = digest_of_file(file)
    return found


def collection_digests(collection: Collection) -> dict[str, str]:
    """{name: sha256} of a collection as a source: its tables' fingerprints, and its files where it is
    a folder of the user's."""
    prints = {f"{collection.environment}: {table}, fingerprint": value
              for table, value in collection.fingerprints.items()}
    folder = find_path(collection.source)
    is_folder = collection.entry is None and folder.is_dir()
    return {**prints, **(digests_of([folder]) if is_folder else {})}


def golds_of(collection: Collection, protocol: str) -> dict[str, list[str]]:
    """{query: its relevant documents under the protocol}, in the qrels' order; a query's own entry
    is none. Queries without one are left out."""
    pairs = positives(collection, protocol)
    if collection.shared_ids:
        pairs = pairs[pairs["query_id"] != pairs["doc_id"]]
    pairs = pairs.drop_duplicates(["query_id", "doc_id"])
    return {q: list(docs) for q, docs in pairs.groupby("query_id", sort=False)["doc_id"]}


# --- freezing -------------------------------------------------------------------------------------

def freeze(folder: Path | str, name: str | None = None) -> dict:
    """Freezes a built set and registers it; returns what `frozen.json` says.

    name: of the generation (default: the folder's name and a number). Raises BuildError for a set
    that is frozen already, was changed since it was built, or whose audit lacks rows or has too few
    good ones; CollectionError for one that breaks the layout, RuleError where its data or its
    folder's name is registered for something else. One that was stopped between the two is finished:
    what is frozen and not registered is registered.
    """
    folder = find_path(str(folder))
    manifest = read_manifest(folder) if folder.is_dir() else None
    if manifest is None:
        raise BuildError(f"there is no {MANIFEST}, so that this is no built set", folder,
                         "Name a folder that 'kit build' made")
    clear_leftovers(folder)
    frozen = read_frozen(folder)
    if frozen is None:
        _require_as_built(folder, manifest)
    audit = _passed(folder, manifest) if frozen is None else frozen.get("audit")
    collection = open_collection(str(folder))
    require_sound(collection)
    if frozen is not None and collection.generation is not None:
        raise BuildError("the set is frozen already", folder, f"It is registered as '{collection.generation}'")
    name = pin.generation_name(collection, name, freezing=True)
    if frozen is None:
        files = {f: digest_of_file(folder / f) for f in sorted(set_files(folder))}
        frozen = {"mode": manifest["mode"], "manifest": files[MANIFEST], "audit": audit, "files": files,
                  "fingerprints": collection.fingerprints, "suite_version": SUITE_VERSION,
                  "frozen": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")}
        try:
            write_new(folder / FROZEN, dump_json(frozen))
        except FileExistsError as error:  # two freezes at once leave one
            raise BuildError("the set is frozen already", folder, "Another process was first") from error
    pin.pin(open_collection(str(folder)), name)
    return {**frozen, "generation": name}


def _require_as_built(folder: Path, manifest: dict) -> None:
    """Raises BuildError where a file is not as the manifest has it, or a count does not add up."""
    for count in manifest["counts"]:
        Count(**count)
    allowed = {*manifest["files"], MANIFEST, JUDGED}
    there = set_files(folder)
    for name in sorted(there ^ allowed):
        if name != JUDGED:
            raise BuildError(f"{name} {'came later' if name in there else 'is gone'}", folder,
                             "Build the set anew")
    for name, digest in manifest["files"].items():
        if digest_of_file(folder / name) != digest:
            raise BuildError(f"{name} is not as it was built", folder, "Build the set anew")
    rows = len(read_lines(folder / ROWS_FILE))
    left = next((c["left"] for c in manifest["counts"] if c["what"] == manifest.get("rows_are")), None)
    if rows != left:
        raise BuildError(f"the manifest counts {left} rows, and the file has {rows}", folder,
                         "Build the set anew")


def _passed(folder: Path, manifest: dict) -> dict | None:
    """What the registry notes of the set's audit; None where its mode asks for none."""
    if manifest.get("audit") is None:
        return None
    return require_good(audit_of(folder), folder)
