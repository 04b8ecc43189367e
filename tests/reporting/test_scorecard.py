"""The scorecard: written once, whole, without NaN, and safe to read."""

import json
import multiprocessing
from types import SimpleNamespace

import mistune
import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from kit.errors import ScorecardError
from kit.evaluation.evaluate import FIGURE_COLUMNS
from kit.reporting import scorecard
from kit.reporting.scorecard import (
    LABELS,
    Figure,
    figure_table,
    figures_of,
    make_scorecard,
    markdown,
    read_scorecard,
    write_scorecard,
)

FIGURES = pd.DataFrame([
    ("all", "all", "nDCG@10", 9, 0.4567, 0.4012, 0.5123), ("all", "IN", "nDCG@10", 8, 0.5678, 0.5234, 0.6111),
    ("all", "OUT", "nDCG@10", 1, 0.0123, np.nan, np.nan), ("all", "MIXED", "nDCG@10", 0, np.nan, np.nan, np.nan),
    ("all", "all", "R@10", 9, 0.789, 0.7345, 0.8432), ("all", "IN", "R@10", 8, 0.8765, 0.8222, 0.9333),
    ("all", "OUT", "R@10", 1, 0.25, np.nan, np.nan), ("all", "MIXED", "R@10", 0, np.nan, np.nan, np.nan),
    ("xy", "all", "nDCG@10", 7, 0.3456, 0.2999, 0.3888), ("xy", "IN", "nDCG@10", 6, 0.3777, 0.3333, 0.4222),
], columns=FIGURE_COLUMNS[:7])
FIGURES["reason"] = FIGURES["n"].map({0: "no query in this slice", 1: "one query has no interval"})
FIGURES["smallest"] = np.nan
MANIFEST = {
    "system": {"name": "bm25", "version": "1", "given": {}, "settings": {}}, "environment": "mini",
    "corpus_size": 600, "queries": 120, "generation": "mini-1", "fingerprints": {"together": "f" * 64},
    "views": None, "depth": 100, "sample": None, "own_entries_excluded": 12, "ties_at_the_cut": 3,
    "empty_rankings": 0, "notes": {"texts_cut": 7}, "failures": [], "status": "complete",
    "cost": {"index_seconds": 1.5, "search_seconds": None, "peak_memory_mb": 200.0}, "run_sha256": "a" * 64}
CLEAN_GIT = {"sha": "0" * 40, "dirty": False}


@pytest.fixture(autouse=True)
def committed(monkeypatch):
    """The code counts as that of a commit."""
    monkeypatch.setattr(scorecard, "git_state", lambda: CLEAN_GIT)


def card_of(created="20300102T030405Z", note="", figures=FIGURES, **manifest) -> scorecard.Scorecard:
    system = MANIFEST["system"] | {"name": manifest.pop("name", "bm25")}
    run = SimpleNamespace(manifest=MANIFEST | {"system": system} | manifest)
    collection = SimpleNamespace(entry=None, note=note)
    return make_scorecard(collection, run, figures, "all").model_copy(update={"created": created})


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
    assert path.relative_to(tmp_path).as_posix() == "reports/scorecards/20300102T030405Z_my-system-2_mini.json"


def test_a_card_of_the_same_name_is_never_replaced(tmp_path):
    path = write_scorecard(card_of(), str(tmp_path))
    before = path.read_bytes(), path.with_suffix(".md").read_bytes()
    with pytest.raises(ScorecardError, match="never replaced"):
        write_scorecard(card_of(depth=50), str(tmp_path))
    assert (path.read_bytes(), path.with_suffix(".md").read_bytes()) == before


def test_a_refused_card_leaves_nothing_behind(tmp_path):
    path = write_scorecard(card_of(), str(tmp_path))
    with pytest.raises(ScorecardError):
        write_scorecard(card_of(depth=50), str(tmp_path))
    assert sorted(p.name for p in path.parent.iterdir()) == [path.name, path.with_suffix(".md").name]


def test_the_same_content_is_not_written_twice(tmp_path):
    path = write_scorecard(card_of(), str(tmp_path))
    later = card_of("20310101T000000Z", cost={"index_seconds": 9.0})
    assert write_scorecard(later, str(tmp_path)) == path
    assert list(path.parent.glob("*.json")) == [path]


@pytest.mark.parametrize("change", [{"depth": 50}, {"run_sha256": "b" * 64}, {"figures": FIGURES.iloc[:4]}])
def test_another_content_is_another_card(tmp_path, change):
    write_scorecard(card_of(), str(tmp_path))
    path = write_scorecard(card_of("20310101T000000Z", **change), str(tmp_path))
    assert len(list(path.parent.glob("*.json"))) == 2


def test_a_sheet_that_was_never_written_is_written_the_next_time(tmp_path):
    path = write_scorecard(card_of(), str(tmp_path))
    path.with_suffix(".md").unlink()
    write_scorecard(card_of("20310101T000000Z"), str(tmp_path))
    assert path.with_suffix(".md").read_text(encoding="utf-8") == markdown(card_of())


ROUNDS = 10


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


def test_of_two_cards_of_one_name_at_a_time_one_is_written(tmp_path):
    told = both_write(tmp_path, [card_of()] * ROUNDS, [card_of(depth=50)] * ROUNDS)
    for n, (one, other) in enumerate(told):
        assert one == "20300102T030405Z_bm25_mini.json" and "never replaced" in other
        path = tmp_path / str(n) / "reports" / "scorecards" / one
        assert path.with_suffix(".md").read_text(encoding="utf-8") == markdown(read_scorecard(path))


def test_two_processes_with_one_card_both_get_its_path(tmp_path):
    told = both_write(tmp_path, [card_of()] * ROUNDS, [card_of()] * ROUNDS)
    assert told == [["20300102T030405Z_bm25_mini.json"] * 2] * ROUNDS


def test_the_json_has_null_and_a_reason_in_place_of_nan(tmp_path):
    stated = strict_json(write_scorecard(card_of(), str(tmp_path)).read_text(encoding="utf-8"))
    for figure in stated["figures"]:
        absent = figure["mean"] is None or figure["low"] is None
        assert bool(figure["reason"]) == absent
    assert [f["reason"] for f in stated["figures"] if f["n"] == 0] == ["no query in this slice"] * 2


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
    assert "**R@10**: The share of a query's relevant documents that stand among the first 10." in text
    for line in ("- own entries excluded: 12", "- ties at the cut: 3", "- texts cut: 7", "- failed queries: 0"):
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
    assert [row for row in rows if row[0] == "System"] == [["System", f"{shown}, version 1"]]
    html = mistune.create_markdown(escape=False, plugins=["table"])(text)
    for tag in ("<script", "<a ", "<img"):
        assert tag not in html
    assert html.count("<h1") == 1


def test_a_complete_pinned_run_of_committed_code_may_be_quoted():
    card = card_of()
    assert card.quotable and card.labels == []


@pytest.mark.parametrize(("label", "change"), [
    ("SAMPLE", {"sample": {"size": 3, "seed": 0}}), ("INCOMPLETE", {"status": "incomplete"}),
    ("UNPINNED", {"generation": None}), ("MADE-UP", {"note": "This collection is made up."})])
def test_each_label_makes_a_card_not_quotable(label, change):
    card = card_of(**change)
    assert card.labels == [label] and not card.quotable
    assert f"no: {label}" in markdown(card)


@pytest.mark.parametrize("dirty", [True, None])
def test_code_that_is_no_commits_makes_a_card_not_quotable(monkeypatch, dirty):
    monkeypatch.setattr(scorecard, "git_state", lambda: {"sha": None, "dirty": dirty})
    assert card_of().labels == ["DIRTY"]


def test_every_label_has_its_sentence():
    assert set(LABELS) == {"SAMPLE", "INCOMPLETE", "UNPINNED", "DIRTY", "MADE-UP"}


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
