"""The scorecard: written once, whole, without NaN, and safe to read."""

import json
import multiprocessing
from types import SimpleNamespace

import mistune
import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from kit import ledger
from kit.errors import RuleError, ScorecardError
from kit.files import digest_of
from kit.params import Params
from kit.reporting import scorecard
from kit.reporting.rules import LABELS, STANDARD_PROTOCOLS, STANDARD_SLICES, label_of
from kit.reporting.scorecard import (
    Figure,
    digest_of_text,
    figure_table,
    figures_of,
    make_scorecard,
    markdown,
    read_scorecard,
    write_scorecard,
)

COLUMNS = ["protocol", "slice", "measure", "n", "mean", "low", "high"]
KNOWN = pd.DataFrame([
    ("all", "all", "nDCG@10", 9, 0.4567, 0.4012, 0.5123), ("all", "IN", "nDCG@10", 8, 0.5678, 0.5234, 0.6111),
    ("all", "OUT", "nDCG@10", 1, 0.0123, np.nan, np.nan),
    ("all", "all", "R@10", 9, 0.789, 0.7345, 0.8432), ("all", "IN", "R@10", 8, 0.8765, 0.8222, 0.9333),
    ("all", "OUT", "R@10", 1, 0.25, np.nan, np.nan),
    ("xy", "all", "nDCG@10", 7, 0.3456, 0.2999, 0.3888), ("xy", "IN", "nDCG@10", 6, 0.3777, 0.3333, 0.4222),
    ("xy", "all", "R@10", 7, 0.6543, 0.6111, 0.7012), ("xy", "IN", "R@10", 6, 0.7654, 0.7123, 0.8123),
], columns=COLUMNS)


def whole(known: pd.DataFrame) -> pd.DataFrame:
    """The figures, and every other standard one with n 0, with reasons as the evaluation gives."""
    have = set(zip(known["protocol"], known["slice"], known["measure"]))
    protocols = dict.fromkeys([*known["protocol"], *STANDARD_PROTOCOLS])
    rest = [(p, s, m, 0, np.nan, np.nan, np.nan) for p in protocols for s in STANDARD_SLICES
            for m in dict.fromkeys(known["measure"]) if (p, s, m) not in have]
    frame = pd.concat([known, pd.DataFrame(rest, columns=COLUMNS)], ignore_index=True)
    reasons = frame["n"].map({0: "no query in this slice", 1: "one query has no interval"})
    return frame.assign(reason=reasons, smallest=np.nan)


FIGURES = whole(KNOWN)
MANIFEST = {
    "system": {"name": "bm25", "version": "1", "given": {}, "settings": {}}, "environment": "made",
    "corpus_size": 600, "queries": 120, "generation": "made-1",
    "fingerprints": {"together": "f" * 64, "corpus": "c" * 64},
    "views": None, "depth": 100, "sample": None, "own_entries_excluded": 12, "ties_at_the_cut": 3,
    "empty_rankings": 0, "notes": {"texts_cut": 7}, "failures": [], "status": "complete",
    "cost": {"index_seconds": 1.5, "search_seconds": None, "peak_memory_mb": 200.0}, "run_sha256": "a" * 64, "git": {"sha": "0" * 40, "dirty": False}, "ledger": {"line": 1, "sha256": "1" * 64},
    "machine": {"cores": 2}}
CLEAN_GIT = {"sha": "0" * 40, "dirty": False}
VIEW = {"view": "tacd", "cleaner": {"name": "c", "version": "1"}, "sha256": "d" * 64}


@pytest.fixture(autouse=True)
def committed(monkeypatch):
    """The code counts as that of a commit."""
    monkeypatch.setattr(scorecard, "git_state", lambda: CLEAN_GIT)
    for name in ("scope_pairs", "searched_ids"):
        monkeypatch.setattr(scorecard, name, lambda *_: None)


class Book:
    """A ledger that has the run, as its n-th search."""

    def __init__(self, manifest, search):
        prints = manifest["fingerprints"]
        views = {role: view["view"] for role, view in (manifest["views"] or {}).items()} or None
        event = {**manifest, "version": manifest["system"]["version"],
                 "settings": digest_of(manifest["system"]["given"]), "views": views,
                 "system": manifest["system"]["name"], "fingerprint": prints["together"],
                 "corpus": prints["corpus"]}
        self.line = None if search is None else SimpleNamespace(sha256="1" * 64, event=event)
        self.find = lambda sha256: self.line
        self.search_number = lambda run: search
        self.ending = lambda run: SimpleNamespace(event={"manifest_sha256": "m"})
        self.faults = lambda: []


def card_of(created="20300102T030405Z", note="", figures=FIGURES, search=1, answered=120,
            **manifest) -> scorecard.Scorecard:
    system = MANIFEST["system"] | {"name": manifest.pop("name", "bm25")}
    stated = MANIFEST | {"system": system} | manifest
    if stated["sample"]:
        answered = stated["sample"]["size"]
    run = SimpleNamespace(manifest=stated, folder="runs/x", manifest_sha256="m",
                          table={"query_id": pd.Series(range(answered), dtype=object)})
    collection = SimpleNamespace(entry=None, note=note, generation=stated["generation"], query_set=None,
                                 registered_set=None,
                                 source="made", ids=lambda table: range(
                                     stated[{"corpus": "corpus_size"}.get(table, table)]))
    card = make_scorecard(collection, run, figures, Params(), Book(stated, search))
    return card.model_copy(update={"created": created})


def strict_json(text: str):
    """JSON in which NaN and infinity are no numbers."""
    return json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))


def cells(text: str) -> list[list[str]]:
    """The tables' rows in a browser's eyes: the text of each cell."""
    from html import unescape
    html = mistune.create_markdown(escape=False, plugins=["table"])(text)
    rows = html.split("<tr>")[1:]
    return [[unescape(cell.split(">", 1)[1].split("</t", 1)[0]) for cell in row.replace("<th", "<td").split("<td")[1:]]
            for row in rows]


def test_a_card_comes_back_as_it_was_written(tmp_path):
    card = card_of()
    assert read_scorecard(write_scorecard(card, str(tmp_path))) == card


def test_the_name_is_time_system_and_environment(tmp_path):
    path = write_scorecard(card_of(name="my system/2"), str(tmp_path))
    assert path.relative_to(tmp_path).as_posix() == "reports/scorecards/20300102T030405Z_my-system-2_made.json"


def test_a_card_of_the_same_name_is_never_replaced(tmp_path):
    path = write_scorecard(card_of(), str(tmp_path))
    before = path.read_bytes(), path.with_suffix(".md").read_bytes()
    for taken in (path, path.with_suffix(".md")):
        with pytest.raises(RuleError, match="rule 5, immutable results: .*never replaced"):
            scorecard.write_once(taken, "another")
    assert (path.read_bytes(), path.with_suffix(".md").read_bytes()) == before
    assert sorted(p.name for p in path.parent.iterdir()) == [path.name, path.with_suffix(".md").name]


def test_another_card_of_the_same_second_takes_another_second(tmp_path):
    first = write_scorecard(card_of(), str(tmp_path))
    other = write_scorecard(card_of(depth=50), str(tmp_path))
    third = write_scorecard(card_of(depth=50, created=read_scorecard(other).created,
                                    queries=119, answered=119), str(tmp_path))
    assert len({first.name, other.name, third.name}) == 3
    for path in (first, other, third):
        assert path.name.startswith(read_scorecard(path).created)


def test_labels_stand_in_the_name_the_record_the_sheet_and_its_tables(tmp_path):
    card = card_of(sample={"size": 3, "seed": 0}, search=2, views={"query": VIEW, "corpus": VIEW})
    path = write_scorecard(card, str(tmp_path))
    assert path.name == "20300102T030405Z_bm25_made_SAMPLE_RERUN-2.json"
    assert read_scorecard(path).labels == ["SAMPLE", "RERUN 2"]
    lines = path.with_suffix(".md").read_text(encoding="utf-8").splitlines()
    assert lines[0].endswith("(SAMPLE, RERUN 2)")
    headings = [line for line in lines if line.startswith("## ") and "protocol" in line]
    assert len(headings) == len({f.protocol for f in card.figures}) and all(h.endswith("(SAMPLE, RERUN 2)") for h in headings)


def test_a_written_card_stands_in_the_ledger_with_its_digests(tmp_path):
    path = write_scorecard(card_of(), str(tmp_path))
    line, = ledger.read(str(tmp_path)).lines
    assert line.is_a(ledger.CARD, card=path.name, json=scorecard.digest_of_text(path),
                     markdown=scorecard.digest_of_text(path.with_suffix(".md")), labels=[])


def test_a_card_that_a_kill_kept_from_its_folder_is_written_the_next_time(tmp_path):
    path = write_scorecard(card_of(), str(tmp_path))
    for file in (path, path.with_suffix(".md")):
        file.unlink()
    again = write_scorecard(card_of(), str(tmp_path))
    assert list(path.parent.glob("*.json")) == [again]
    assert ledger.read(str(tmp_path)).lines[-1].event["json"] == digest_of_text(again)


def test_a_card_that_the_ledger_does_not_list_is_refused_whoever_put_it_there(tmp_path):
    path = write_scorecard(card_of(), str(tmp_path))
    forged = path.with_name("20010101T000000Z_bm25_made.json")
    forged.write_text(path.read_text(encoding="utf-8").replace("20300102T030405Z", "20010101T000000Z"))
    with pytest.raises(RuleError, match="rule 5, immutable results: .*does not list.*20010101"):
        write_scorecard(card_of(depth=50), str(tmp_path))


def test_the_same_content_is_not_written_twice(tmp_path):
    path = write_scorecard(card_of(), str(tmp_path))
    later = card_of("20310101T000000Z")
    assert write_scorecard(later, str(tmp_path)) == path
    assert list(path.parent.glob("*.json")) == [path]


@pytest.mark.parametrize("change", [{"depth": 50}, {"run_sha256": "b" * 64}, {"figures": whole(KNOWN.iloc[:3])},
                                    {"cost": {"index_seconds": 9.0}}])
def test_another_content_is_another_card(tmp_path, change):
    write_scorecard(card_of(), str(tmp_path))
    path = write_scorecard(card_of("20310101T000000Z", **change), str(tmp_path))
    assert len(list(path.parent.glob("*.json"))) == 2


def test_a_sheet_that_was_never_written_is_written_the_next_time(tmp_path):
    path = write_scorecard(card_of(), str(tmp_path))
    path.with_suffix(".md").unlink()
    write_scorecard(card_of("20310101T000000Z"), str(tmp_path))
    assert path.with_suffix(".md").read_text(encoding="utf-8") == markdown(card_of())


ROUNDS = 5


def _write_rounds(barrier, answers, cards, outputs):
    for n, card in enumerate(cards):
        barrier.wait(timeout=60)
        try:
            answers.put((n, write_scorecard(card, f"{outputs}/{n}").name))
        except ScorecardError as error:
            answers.put((n, error.what))


def both_write(tmp_path, ours: list, theirs: list) -> list[list[str]]:
    """What two processes are told that write a card each at the same moment, round by round."""
    context = multiprocessing.get_context("fork")
    barrier, answers = context.Barrier(2), context.Queue()
    writers = [context.Process(target=_write_rounds, args=(barrier, answers, cards, str(tmp_path)))
               for cards in (ours, theirs)]
    for writer in writers:
        writer.start()
    told = [answers.get(timeout=60) for _ in range(2 * len(ours))]
    for writer in writers:
        writer.join(timeout=60)
    return [sorted(what for n, what in told if n == r) for r in range(len(ours))]


def test_two_cards_of_one_name_at_a_time_are_both_written(tmp_path):
    told = both_write(tmp_path, [card_of()] * ROUNDS, [card_of(depth=50)] * ROUNDS)
    for n, names in enumerate(told):
        assert len(set(names)) == 2 and "20300102T030405Z_bm25_made.json" in names
        home = tmp_path / str(n) / "reports" / "scorecards"
        assert len(list(home.iterdir())) == 4
        assert {read_scorecard(home / name).depth for name in names} == {50, 100}
        for path in (home / name for name in names):
            assert path.with_suffix(".md").read_text(encoding="utf-8") == markdown(read_scorecard(path))
        book = ledger.read(str(tmp_path / str(n)))
        assert book.faults() == [] and {line.event["card"] for line in book.lines} == set(names)


def test_two_processes_with_one_card_both_get_its_path(tmp_path):
    told = both_write(tmp_path, [card_of()] * ROUNDS, [card_of()] * ROUNDS)
    assert told == [["20300102T030405Z_bm25_made.json"] * 2] * ROUNDS


def test_the_json_has_null_and_a_reason_in_place_of_nan(tmp_path):
    stated = strict_json(write_scorecard(card_of(), str(tmp_path)).read_text(encoding="utf-8"))
    for figure in stated["figures"]:
        absent = figure["mean"] is None or figure["low"] is None
        assert bool(figure["reason"]) == absent
    assert {f["reason"] for f in stated["figures"] if f["n"] == 0} == {"no query in this slice"}


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_figure_that_is_no_number_is_refused(value):
    with pytest.raises(ValidationError):
        Figure(protocol="all", slice="all", measure="RR", n=2, mean=value, low=None, high=None)


def test_the_sheet_holds_every_figure_with_its_n():
    card = card_of()
    rows = cells(markdown(card))
    for protocol in ("all", "xy"):
        table = figure_table(figures_of(card), protocol)
        for f in (f for f in card.figures if f.protocol == protocol):
            head = f"{f.slice} (n={f.n})"
            shown = "—" if f.mean is None else f"{f.mean:.3f}" if f.low is None else (
                f"{f.mean:.3f}\N{NO-BREAK SPACE}[{f.low:.3f},\N{NO-BREAK SPACE}{f.high:.3f}]")
            assert table.loc[f.measure, head] == shown
            assert any(row[0] == f.measure and shown in row for row in rows)


def test_the_sheet_says_what_each_measure_means_and_what_was_counted():
    text = markdown(card_of())
    said = {row[0]: row[-1] for row in cells(text) if len(row) > 2}
    assert said["R@10"] == ("The share of a query's relevant documents that stand among the first 10.")
    for line in ("- own entries excluded: 12", "- ties at the cut: 3", "- texts cut: 7", "- failed queries: 0", "- missing queries: 0"):
        assert line in text


NAMES = ["a|b", "a\\|b", "<script>alert(1)</script>", "two\n\n# lines", "a | b |\n|---|---|", "[x](javascript:y)",
         "![x](http://x/y.png)", "&lt;b&gt;", "&#124;", "a`b`", "**a**", "\\"]


@pytest.mark.parametrize("name", NAMES)
def test_no_name_breaks_out_of_the_sheet(name):
    plain = cells(markdown(card_of(name="plain")))
    text = markdown(card_of(name=name))
    rows = cells(text)
    assert [len(row) for row in rows] == [len(row) for row in plain]
    shown = " ".join(name.split())
    assert [row for row in rows if row[0] == "system"] == [["system", f"{shown}, version 1"]]
    html = mistune.create_markdown(escape=False, plugins=["table"])(text)
    for tag in ("<script", "<a ", "<img"):
        assert tag not in html
    assert html.count("<h1") == 1


def test_a_complete_pinned_run_of_committed_code_may_be_quoted():
    card = card_of()
    assert card.quotable and card.labels == []


SYSTEM_VIEWS = {"query": VIEW, "corpus": VIEW}
BROKEN = {
    "SAMPLE": {"sample": {"size": 3, "seed": 0}}, "INCOMPLETE": {"status": "incomplete"},
    "RERUN 3": {"search": 3, "views": SYSTEM_VIEWS}, "UNLOGGED": {"search": None},
    "UNPINNED": {"generation": None}, "DIRTY": {"git": {"sha": "0" * 40, "dirty": True}},
    "MADE-UP": {"note": "This collection is made up."}}


@pytest.mark.parametrize("label", BROKEN)
def test_each_label_makes_a_card_not_quotable(label):
    card = card_of(**BROKEN[label])
    assert card.labels == [label] and not card.quotable
    assert f"no: {label}" in markdown(card)
    rule = label_of(label).rule
    assert rule is None or rule.title in markdown(card)


def test_every_label_is_tried():
    assert [label.split()[0] for label in BROKEN] == list(LABELS)


@pytest.mark.parametrize("dirty", [True, None])
def test_code_that_is_no_commits_makes_a_card_not_quotable(monkeypatch, dirty):
    monkeypatch.setattr(scorecard, "git_state", lambda: {"sha": None, "dirty": dirty})
    assert card_of().labels == ["DIRTY"]


def test_columns_that_a_frame_of_figures_has_are_on_the_card():
    figures = FIGURES.assign(smallest=0.025, reason=None)
    figures.loc[figures["slice"] == "OUT", "reason"] = "too few"
    card = card_of(figures=figures)
    assert {f.smallest for f in card.figures} == {0.025}
    assert {f.reason for f in card.figures if f.slice == "OUT"} == {"too few"}
    assert "Smallest difference that n queries could show, protocol all:" in markdown(card)


def test_a_view_that_only_the_system_knows_has_no_cleaner():
    text = markdown(card_of(views={"query": VIEW, "corpus": {"view": "the system's own"}}))
    assert "| corpus view | the system's own |" in text and "| query view | tacd, cleaner c 1 |" in text


def test_an_absent_slice_says_why_in_the_sheet():
    figures = FIGURES.assign(reason=None)
    figures.loc[figures["slice"] == "MIXED", "reason"] = "the collection has no classes"
    assert "- MIXED: the collection has no classes" in markdown(card_of(figures=figures))


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '"text"', "\udcff"], ids=repr)
def test_a_damaged_card_in_the_folder_is_named(tmp_path, content):
    path = write_scorecard(card_of(), str(tmp_path))
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(ScorecardError, match=path.name) as error:
        write_scorecard(card_of("20310101T000000Z"), str(tmp_path))
    assert error.value.do and len(str(error.value).splitlines()) == 1


def test_nan_put_into_a_card_by_hand_is_no_scorecard(tmp_path):
    path = write_scorecard(card_of(), str(tmp_path))
    path.write_text(path.read_text(encoding="utf-8").replace("0.4567", "NaN"), encoding="utf-8")
    with pytest.raises(ScorecardError, match="no scorecard"):
        read_scorecard(path)
