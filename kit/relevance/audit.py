"""The audit of a citation collection: every doubt about its labels and texts, counted.

The checks stand in `kit/relevance/checks/`, a module a group; here they are asked. A collection
that breaks its layout is audited as far as its columns allow.
"""

import json
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from kit.collection.schema import ID_COLUMN
from kit.files import safe_name, written_whole
from kit.relevance.checks import (
    asserted,
    classes,
    dates,
    entries,
    identifiers,
    integrity,
    labels,
    sizes,
    texts,
    views,
)
from kit.relevance.checks.check import Check, Finding, Found
from kit.relevance.checks.prepared import Prepared

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
    of_rows = asserted.CHECKS if "statute" in collection.columns["queries"] else []
    return [_finding(check, prepared, numbers.get(check.name)) for check in CHECKS + of_rows]


def _finding(check: Check, prepared: Prepared, expected: int | None) -> Finding:
    broken = [c for c in check.needs if c in prepared.collection.broken_columns]
    absent = _lacking_columns(prepared.collection)
    lacking = [c for c in check.needs if c in absent]
    if broken:
        found = Found(absent=f"missing, or of another type: {', '.join(broken)}")
    elif lacking:
        found = Found(absent=f"the collection has no {', '.join(lacking)}")
    else:
        found = check.ask(prepared)
    return Finding(check.group, check.name, check.severity, check.sentence, found, expected)


def _lacking_columns(collection) -> set[str]:
    """The columns of queries and corpus that are not there and need not be, as "table.column"."""
    held = {f"{t}.{c}" for t in ID_COLUMN for c in collection.tables[t].column_names}
    held |= {name.replace(".cpc", ".ipc") for name in held}  # read in its place
    return {f"{t}.{c}" for t in ID_COLUMN for c in collection.columns[t]} - held


def as_frame(findings: list[Finding]) -> pd.DataFrame:
    """A row a check: group, check, severity, count, share, expected, verdict, what it says."""
    frame = pd.DataFrame([{
        "group": f.group, "check": f.name, "severity": f.severity,
        "count": None if f.found.absent else f.count, "share": f.share, "expected": f.expected,
        "verdict": f.verdict, "what it says": f.found.absent or f.sentence,
    } for f in findings])
    return frame.astype({"count": "Int64", "expected": "Int64"})  # an absent count makes no 1 a 1.0


def summary(findings: list[Finding]) -> str:
    """One sentence: how many checks came out how."""
    counts = pd.Series([f.verdict for f in findings]).value_counts()
    parts = [f"{counts[v]} {words if counts[v] > 1 else word}" for v, word, words in (
        ("fault", "fault", "faults"), ("not as expected", "not as expected", "not as expected"),
        ("doubt", "doubt", "doubts"), ("as expected", "as expected", "as expected"),
        ("clear", "clear", "clear"), ("noted", "fact noted", "facts noted"),
        ("absent", "can't be made", "can't be made")) if v in counts]
    return f"{len(findings)} checks: {', '.join(parts)}."


def as_records(findings: list[Finding]) -> list[dict]:
    """The checks as plain data for JSON, each with its breakdown under "detail"."""
    records = json.loads(as_frame(findings).to_json(orient="records"))
    for record, finding in zip(records, findings):
        detail = finding.found.detail
        record["detail"] = None if detail is None else json.loads(detail.to_json(orient="records"))
    return records


def export_rows(findings: list[Finding], folder: Path) -> list[Path]:
    """Writes the offending rows of each check that names some, a Parquet file a check."""
    paths = []
    for finding in findings:
        rows = finding.found.rows
        if rows is None or rows.empty:
            continue
        path = folder / f"{safe_name(f'{finding.group} {finding.name}', 'check')}.parquet"
        with written_whole(path) as part:
            pq.write_table(pa.Table.from_pandas(rows, preserve_index=False), part)
        paths.append(path)
    return paths
