"""What a check of the audit is, and what it answers."""

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

FAULT = "fault"  # contradicts the layout or its own tables: to be mended before a figure is trusted
DOUBT = "doubt"  # occurs in good collections too, and can move a figure
FACT = "fact"    # what a reader of the figures must know
NOT_SHARED = "queries and documents do not share their identifiers"


@dataclass(frozen=True)
class Found:
    """What a check saw. of: what `count` is a part of, or None. rows: the offending rows, one a
    counted thing. detail: a breakdown. absent: why the check can't be made, else ""."""

    count: int = 0
    of: int | None = None
    rows: pd.DataFrame | None = None
    detail: pd.DataFrame | None = None
    absent: str = ""


@dataclass(frozen=True)
class Check:
    """A question to a collection. needs: the columns without which it can't be asked, as
    "table.column". ask: prepared tables -> Found."""

    group: str
    name: str
    severity: str
    sentence: str
    needs: tuple[str, ...]
    ask: Callable


@dataclass(frozen=True)
class Finding:
    """A check's answer, beside the registry's number where it has one."""

    group: str
    name: str
    severity: str
    sentence: str
    found: Found
    expected: int | None = None

    @property
    def count(self) -> int:
        return self.found.count

    @property
    def share(self) -> float | None:
        """The count as a part of what it is counted among."""
        return self.count / self.found.of if self.found.of and not self.found.absent else None

    @property
    def verdict(self) -> str:
        """absent; as expected or not, where the registry knows; else fault, doubt, clear, noted."""
        if self.found.absent:
            return "absent"
        if self.expected is not None:
            return "as expected" if self.count == self.expected else "not as expected"
        if self.severity == FACT:
            return "noted"
        return self.severity if self.count else "clear"


def rows_found(rows: pd.DataFrame, of: int | None, detail: pd.DataFrame | None = None) -> Found:
    """As many as there are rows."""
    return Found(len(rows), of, rows.reset_index(drop=True), detail)


def declared(checks: list[Check], group: str, name: str, severity: str, sentence: str,
             *needs: str) -> Callable:
    """Adds the function below it to a group's list of checks."""
    def add(ask: Callable) -> Callable:
        checks.append(Check(group, name, severity, sentence, needs, ask))
        return ask
    return add
