"""Mapping tables: from patent and publication numbers to applications, and from those to documents.

A table is TSV, CSV or Parquet, all read as text, by its columns: `patent_id` or `pgpub_id` beside
`application_id` (PatentsView's names), `patentNumber` and `appEarlyPubNumber` beside `applId` (PEDS), and
`family_id` or `doc_id` beside `application_id`. Only what is asked for is kept, so that a table of
millions of rows takes no memory.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq

from kit.building import numbers
from kit.errors import BuildError
from kit.files import regular

APPLICATION = ("application_id", "applId", "applicationNumberText")
COLUMNS = {"patent": ("patent_id", "patentNumber"), "publication": ("pgpub_id", "appEarlyPubNumber"),
           "family": ("family_id",), "document": ("doc_id",)}
_FORM = {"patent": numbers.patent, "publication": numbers.publication}


@dataclass(frozen=True)
class Mapping:
    """patent, publication: {number: its applications}, of what was asked for; more than one is ambiguous.
    family, document: {application: its families, or ids in the corpus}. rows: how many were read."""

    patent: dict[str, set[str]] = field(default_factory=dict)
    publication: dict[str, set[str]] = field(default_factory=dict)
    family: dict[str, set[str]] = field(default_factory=dict)
    document: dict[str, set[str]] = field(default_factory=dict)
    rows: int = 0
    has: frozenset[str] = frozenset()

    def applications(self, kind: str, value: str) -> set[str]:
        """The applications of a number in its one form. kind: patent, publication or application."""
        if kind == "application":
            return {value}
        return getattr(self, kind).get(value, set())


def read_mapping(paths: Iterable[Path], asked: dict[str, set[str]]) -> Mapping:
    """The rows of the tables that lead from the numbers asked for, and from their applications on.

    asked: {"patent": numbers, "publication": numbers}, in their one form. An `application_id` that is no
    8 digits, a provisional one or a reexamination's is passed over: none can be a gold.
    Raises BuildError for a table that can't be read or has none of the columns.
    """
    paths = list(paths)
    found: dict[str, dict[str, set[str]]] = {kind: {} for kind in COLUMNS}
    has, rows = set(), 0
    for path in paths:
        for kind, one, application in _pairs(path, ("patent", "publication"), has):
            rows += 1
            value = _FORM[kind](one)
            if value in asked.get(kind, ()) and application:
                found[kind].setdefault(value, set()).add(application)
    wanted = set().union(*found["patent"].values(), *found["publication"].values(),
                         asked.get("application", ()))
    for path in paths:
        for kind, one, application in _pairs(path, ("family", "document"), has):
            if application in wanted and one.strip():
                found[kind].setdefault(application, set()).add(one.strip())
    return Mapping(**found, rows=rows, has=frozenset(has))


def _pairs(path: Path, kinds: tuple[str, ...], has: set[str]) -> Iterator[tuple[str, str, str]]:
    """(kind, number, application) of each row and kind that the table has a column for."""
    for batch in _batches(Path(path)):
        names = {name.strip().strip("\ufeff"): n for n, name in enumerate(batch.schema.names)}
        key = next((names[name] for name in APPLICATION if name in names), None)
        known = {kind: names[c] for kind, told in COLUMNS.items() for c in told if c in names}
        if key is None or not known:
            raise BuildError(f"the table has the columns {', '.join(names) or 'none'}", path,
                             "Give application_id beside patent_id, pgpub_id, family_id or doc_id")
        has.update(known)
        applications = [_application(value) for value in batch.column(key).to_pylist()]
        for kind in kinds:
            if kind in known:
                ones = batch.column(known[kind]).to_pylist()
                yield from ((kind, one, a) for one, a in zip(ones, applications) if one and a is not None)


def _application(value: str | None) -> str | None:
    """The application in its one form; None for what can be no gold."""
    number = numbers.application(value or "")
    if number is None or numbers.is_provisional(number) or numbers.is_reexamination(number):
        return None
    return number


def _batches(path: Path) -> Iterator[pa.RecordBatch]:
    try:
        if regular(path).suffix.lower() in (".parquet", ".pq"):
            with pq.ParquetFile(path) as file:
                for batch in file.iter_batches():
                    yield pa.RecordBatch.from_arrays(
                        [column.cast(pa.string()) if not pa.types.is_nested(column.type) else
                         pa.nulls(len(column), pa.string()) for column in batch.columns], batch.schema.names)
            return
        with path.open("rb") as file:
            head = file.readline().decode("utf-8-sig", "replace").rstrip("\r\n")
        apart = "\t" if "\t" in head else ","
        names = [name.strip().strip('"') for name in head.split(apart)]
        yield from csv.open_csv(
            path, parse_options=csv.ParseOptions(delimiter=apart, newlines_in_values=False),
            convert_options=csv.ConvertOptions(column_types={name: pa.string() for name in names},
                                               strings_can_be_null=True))
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        raise BuildError(f"the table can't be read: {error}", path,
                         "Give a TSV, CSV or Parquet file with a header") from error
