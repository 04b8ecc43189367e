"""The built-in rows: the registry's numbers counted anew, and the oddities that are planted."""

import json
import os
import re
import subprocess
import sys
from collections import Counter

import pytest

from kit.collection import miniature
from kit.collection.registry import registry
from kit.files import ROOT, digest_of

ENTRY = registry()["mini-litigation"]
DIGEST = ("from kit.collection.miniature.litigation import build_rows; "
          "from kit.collection.miniature.tables import build; from kit.files import digest_of; "
          "print(digest_of(build_rows(build()['corpus'])))")


@pytest.fixture(scope="module")
def rows(mini_litigation) -> list[dict]:
    """The rows as they lie in the file."""
    text = (miniature.folder("mini-litigation") / "rows.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture(scope="module")
def classes(mini) -> dict[str, set[str]]:
    """{document: sections of its IPC}, by their first letter."""
    frame = mini.frame("corpus", ["doc_id", "ipc"])
    return dict(zip(frame["doc_id"], ({c[0] for c in ipc} for ipc in frame["ipc"]), strict=True))


def listed(value) -> list[str]:
    return [value] if isinstance(value, str) else value or []


def shares(row, classes) -> list[bool | None]:
    """Of each gold, whether it shares a section with the query; None where one is unknown."""
    own = {c[0] for c in row.get("query_cpc", [])}
    of_golds = [{c[0] for c in row.get("gold_cpc", {}).get(g, [])} or classes[g]
                for g in row["gold_apps"]]
    return [bool(own & held) if own and held else None for held in of_golds]


def tag(found) -> str:
    if {True, False} <= set(found):
        return "MIXED"
    return "UNKNOWN" if None in found else "IN" if True in found else "OUT"


def test_counts_are_the_registrys(rows, classes):
    golds = [g for row in rows for g in row["gold_apps"]]
    tags = Counter(tag(shares(row, classes)) for row in rows)
    counts = {"queries": len(rows), "corpus": len(classes), "qrels": len(golds),
              "protocol all": len(golds), "queries without a positive, all": 0,
              "documents relevant to nothing": len(set(classes) - set(golds))}
    counts |= {f"queries {name}": n for name, n in tags.items()}
    for field, sign in (("statute", "§"), ("grade", "")):
        stated = [listed(row.get(field)) for row in rows]
        for value, n in Counter(v for held in stated for v in held).items():
            counts[f"queries {sign}{value}"] = n
        counts[f"queries of both {field}s"] = sum(len(held) == 2 for held in stated)
    assert counts == ENTRY.counts
    assert {"queries without a class": sum(not row.get("query_cpc") for row in rows),
            "corpus without a class": sum(not c for c in classes.values())} == ENTRY.oddities


def test_the_audit_finds_what_the_registry_expects(mini_litigation):
    from kit.relevance.audit import audit

    checks = audit(mini_litigation)
    named = {c.name for c in checks}
    assert {*ENTRY.counts, *ENTRY.oddities} <= named
    assert [c.name for c in checks if c.verdict == "not as expected"] == []


def test_every_slice_of_rows_is_large_enough_to_be_seen():
    small = [name for name, n in ENTRY.counts.items() if name.startswith("queries ") and n < 8]
    assert small == ["queries without a positive, all", "queries of both grades"]


def test_the_fingerprint_is_pinned(mini_litigation):
    assert mini_litigation.generation == next(iter(ENTRY.generations))


def test_it_is_the_miniatures_corpus_in_its_environment(mini, mini_litigation):
    assert mini_litigation.environment == mini.environment
    assert mini_litigation.fingerprints["corpus"] == mini.fingerprints["corpus"]
    assert mini_litigation.fingerprints["together"] != mini.fingerprints["together"]


def test_it_is_sound_and_says_what_it_is(mini_litigation):
    assert mini_litigation.faults == []
    assert "made up" in mini_litigation.note


def test_the_same_in_another_process(rows):
    """With another seed of hashes, another locale, time zone and working folder."""
    odd = {**os.environ, "PYTHONHASHSEED": "4711", "LC_ALL": "C", "PYTHONUTF8": "0",
           "TZ": "Pacific/Apia", "PYTHONPATH": str(ROOT)}
    said = subprocess.run([sys.executable, "-c", DIGEST], env=odd, cwd="/", text=True,
                          capture_output=True, check=True)
    assert said.stdout.strip() == digest_of(rows)


def test_writing_twice_gives_the_same_bytes(tmp_path):
    for name in "ab":
        miniature.write(tmp_path / name, "mini-litigation")
    held = [{f.relative_to(tmp_path / name): f.read_bytes()
             for f in (tmp_path / name).rglob("*") if f.is_file()} for name in "ab"]
    assert held[0] == held[1] and len(held[0]) == 2


# --- what the rows are ----------------------------------------------------------------------------

def test_a_text_is_one_claim_of_a_patent_that_is_in_no_table(rows, mini):
    claims = [c for t in ("queries", "corpus") for c in mini.frame(t, ["claims"])["claims"] if c]
    told = {line for text in claims for line in text.splitlines()}
    for row in rows:
        assert re.fullmatch(r"1\. [A-Z][^\n{}|]+; wherein [^\n{}|]+\.", row["text"])
        assert row["text"] not in told
    assert len({row["text"] for row in rows}) == len({row["qid"] for row in rows}) == len(rows)


def test_a_row_has_several_golds_and_none_is_a_query(rows, mini):
    assert all(2 <= len(row["gold_apps"]) == len(set(row["gold_apps"])) for row in rows)
    assert not {g for row in rows for g in row["gold_apps"]} & set(mini.ids("queries"))


def test_a_class_is_unknown_of_queries_and_of_golds(rows, classes):
    unknown = [row for row in rows if tag(shares(row, classes)) == "UNKNOWN"]
    without = [row for row in unknown if "query_cpc" not in row]
    assert len(without) == 5 and all(classes[g] for row in without for g in row["gold_apps"])
    others = [row for row in unknown if "query_cpc" in row]
    assert len(others) == 5 and all(shares(row, classes).count(None) == 1 for row in others)


def test_the_class_of_two_golds_is_stated_by_the_row_alone(rows, classes):
    stated = [g for row in rows for g in row.get("gold_cpc", {}) if not classes[g]]
    assert len(stated) == 2


def test_section_y_alone_makes_two_golds_near(rows, classes):
    def without_y(row):
        return row | {"query_cpc": [c for c in row.get("query_cpc", []) if c[0] != "Y"]}
    moved = [(tag(shares(row, classes)), tag(shares(without_y(row), classes))) for row in rows]
    assert [pair for pair in moved if pair[0] != pair[1]] == [("MIXED", "OUT")] * 2


def test_slice_fields_come_in_every_form(rows):
    for name in ("statute", "grade"):
        assert {type(row.get(name)) for row in rows} == {str, list, type(None)}
    assert {"gold_cpc" in row for row in rows} == {True, False}
