"""Golden figures: a measure or protocol that changes is a major step of the suite.

`tests/golden.jsonl` holds, a line for each major version of the suite, generation of a built-in
collection, protocol and slice, the figures of a made-up run: [n, mean, low, high] by measure. After a major step, on a new generation, or
with a new measure or slice, add what is lacking with

    python tests/evaluation/test_golden.py

which never changes a figure that is there.
"""

import hashlib
import json
import math
from pathlib import Path

import pandas as pd
import pytest

from kit import SUITE_VERSION
from kit.collection.registry import registry
from kit.collection.sources import open_collection
from kit.evaluation.evaluate import all_figures
from kit.files import ROOT
from kit.params import MEASURES
from kit.relevance.classes import LEVELS
from kit.retrieval.execute import without_own_entries
from kit.retrieval.run import ranked

GOLDEN = Path(__file__).resolve().parents[1] / "golden.jsonl"
NAMES = [*MEASURES, "R@5", "P@1", "RR@10", "AP@10", "PRES@50", "Judged@100",
         *(f"ClassAgreement({level})@10" for level in LEVELS)]
OF_GRADES = {"mini": ["nDCG(X=3;XY=2;Y=2;A=1)@10", "nDCG(XY=2;A=1)@100"]}  # the others have none
MAJOR = SUITE_VERSION.split(".")[0]
BUILT_IN = [name for name, entry in registry().items() if entry.hub is None]
ADD = "Run: python tests/evaluation/test_golden.py"
DO = (f"A changed measure or protocol is a major step of the suite: raise SUITE_VERSION above {MAJOR}, "
      f"say so in CHANGELOG.md. {ADD}")


def _draw(*words: str) -> float:
    return int(hashlib.sha256(" ".join(words).encode()).hexdigest()[:12], 16) / 16**12


def made_run(collection):
    """A run that depends on nothing but the identifiers and the qrels: 40 documents a query drawn by
    their digests, most of its relevants, its own entry, and ties; every ninth query is missing."""
    documents, rows = sorted(collection.ids("corpus")), []
    relevant = collection.pairs.groupby("query_id")["doc_id"].agg(set).to_dict()
    for query in sorted(collection.ids("queries")):
        if _draw(query) < 1 / 9:
            continue
        drawn = {d for d in documents if _draw(query, d, "drawn") < 40 / len(documents)}
        found = {d for d in relevant.get(query, ()) if _draw(query, d, "found") < 0.7}
        own = {query} & set(documents)
        rows += [(query, d, 2.0 if d in own else round(_draw(query, d), 2)) for d in drawn | found | own]
    return without_own_entries(ranked(*zip(*rows)), collection)[0]


def figures(name: str) -> dict[tuple, list]:
    """The figures on a built-in collection, by (suite, generation, protocol, slice, measure)."""
    collection, names = open_collection(name), [*NAMES, *OF_GRADES.get(name, [])]
    frame, found = all_figures(made_run(collection), collection, names, 0), {}
    for row in frame.to_dict("records"):
        values = [None if pd.isna(row[k]) else float(f"{row[k]:.12g}") for k in ("mean", "low", "high")]
        key = MAJOR, collection.generation, row["protocol"], row["slice"], row["measure"]
        found[key] = [row["n"], *values]
    return found


def kept() -> dict[tuple, list]:
    lines = GOLDEN.read_text(encoding="utf-8").splitlines() if GOLDEN.exists() else []
    return {(*key, measure): values for key, measures in map(json.loads, lines)
            for measure, values in measures.items()}


@pytest.mark.parametrize("name", BUILT_IN)
def test_no_figure_changes_without_a_major_step(name):
    now = figures(name)
    here = next(iter(now))[:2]
    then = {key: values for key, values in kept().items() if key[:2] == here}
    assert then, f"no golden figures of suite {here[0]} on {here[1]}. {ADD}"
    differ = {key: (then[key], now.get(key)) for key in then
              if not _same(now.get(key), then[key])}
    assert differ == {}, DO
    assert set(now) <= set(then), f"a measure, slice or protocol was added, a minor step. {ADD}"


def _same(a: list | None, b: list) -> bool:
    """Whether two figures are one, but for the rounding of another machine."""
    return a is not None and all(
        x == y or (None not in (x, y) and math.isclose(x, y, rel_tol=1e-9, abs_tol=1e-12))
        for x, y in zip(a, b, strict=True))


def test_the_changelog_says_what_this_suite_version_changed():
    assert f"\n## {SUITE_VERSION}\n" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def _add() -> None:
    """Adds what the file lacks."""
    held = kept()
    for name in BUILT_IN:
        held = figures(name) | held
    lines = {}
    for (*key, measure), values in sorted(held.items()):
        lines.setdefault(tuple(key), {})[measure] = values
    GOLDEN.write_text("".join(json.dumps([key, m]) + "\n" for key, m in lines.items()), encoding="utf-8")


if __name__ == "__main__":
    _add()
