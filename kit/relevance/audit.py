"""The audit of a citation collection: every doubt about its labels and texts, counted.

The checks stand in `kit/relevance/checks/`, a module a group; here they are asked. A collection
that breaks its layout is audited as far as its columns allow.
"""

import json
from collections import Counter
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from kit.collection.schema import ID_COLUMN
from kit.errors import KitError
from kit.files import made_whole, resolved, safe_name
from kit.relevance.checks import (
    asserted,
    classes,
    dates,
    entries,
    identifiers,
    integrity,
    labels,
    relations,
    sizes,
    texts,
    views,
)
from kit.relevance.checks.check import DOUBT, Check, Finding, Found
from kit.relevance.checks.prepared import Prepared

VERDICTS = ("fault", "not as expected", "doubt", "as expected", "clear", "noted", "absent")
CHECKS: list[Check] = [check for group in (
    sizes, integrity, labels, entries, identifiers, texts, dates, classes, views)
    for check in group.CHECKS]


def audit(collection, near: bool = True) -> list[Finding]:
    """All checks, in the order in which they are read.

    near: also look for relevants that nearly equal their query, which reads every word.
    """
    prepared = Prepared(collection.read_leniently(), near)
    known = collection.entry
    numbers = {**known.counts, **known.oddities} if known else {}
    return [_finding(c, prepared, numbers.get(c.name)) for c in CHECKS + _of_the_layout(collection)]


def _of_the_layout(collection) -> list[Check]:
    """What only rows, or only DAPFAM's tables, can be asked."""
    of_rows = asserted.CHECKS if "statute" in collection.columns["queries"] else []
    return of_rows + (relations.CHECKS if "domain_rel" in collection.columns["qrels"] else [])


def _finding(check: Check, prepared: Prepared, expected: int | None) -> Finding:
    why = _not_askable(check, prepared)
    found = Found(absent=why) if why else check.ask(prepared)
    return Finding(check.group, check.name, check.severity, check.sentence, found, expected)


def _not_askable(check: Check, prepared: Prepared) -> str:
    """Why a check can't be made, or "": a column is broken, or there is no row to be in doubt about."""
    lacking = [c for c in check.needs if c in prepared.collection.broken_columns]
    if lacking:
        return f"missing, or of another type: {', '.join(lacking)}"
    for table, key in ID_COLUMN.items():
        read = [c for c in check.needs if c.startswith(f"{table}.") and c != f"{table}.{key}"]
        if read and prepared.lacking_columns.issuperset(read):
            return f"the collection has no {', '.join(read)}"
    empty = {c.partition(".")[0] for c in check.needs} & prepared.empty_tables
    if empty and check.severity == DOUBT:
        return f"no row in {', '.join(sorted(empty))}"
    return ""


def as_frame(findings: list[Finding]) -> pd.DataFrame:
    """A row a check: group, check, severity, count, of, share, expected, verdict, what it says."""
    frame = pd.DataFrame([{
        "group": f.group, "check": f.name, "severity": f.severity,
        "count": None if f.found.absent else f.count, "of": f.found.of, "share": f.share,
        "expected": f.expected,
        "verdict": f.verdict, "what it says": f.found.absent or f.sentence,
    } for f in findings])
    whole = dict.fromkeys(("count", "of", "expected"), "Int64")  # an absent count makes no 1 a 1.0
    return frame.astype(whole)


def summary(findings: list[Finding]) -> str:
    """One sentence: how many checks came out how."""
    counts = Counter(f.verdict for f in findings)
    return f"{len(findings)} checks: " + ", ".join(f"{counts[v]} {v}" for v in VERDICTS if counts[v])


def as_records(findings: list[Finding]) -> list[dict]:
    """The checks as plain data for JSON, each with its breakdown under "detail"."""
    records = json.loads(as_frame(findings).to_json(orient="records"))
    for record, finding in zip(records, findings):
        detail = finding.found.detail
        record["detail"] = None if detail is None else json.loads(detail.to_json(orient="records"))
    return records


def export_rows(findings: list[Finding], folder: Path) -> list[Path]:
    """Writes the rows of each check that names some, a Parquet file a check.

    The folder is there whole or not at all. Raises KitError unless it is new or empty: files of two
    audits would mix.
    """
    folder = resolved(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise KitError("rows are written into a new or empty folder", folder, "Name another one")
    names = []
    with made_whole(folder) as part:
        for finding in findings:
            rows = finding.found.rows
            if rows is None or rows.empty:
                continue
            names.append(f"{safe_name(f'{finding.group} {finding.name}', 'check')}.parquet")
            pq.write_table(pa.Table.from_pandas(rows, preserve_index=False), part / names[-1])
    return [folder / name for name in names]
