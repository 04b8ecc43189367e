"""The ledger: a chain of lines that are only appended, whoever writes, and what it says of runs."""

import errno
import hashlib
import json
import multiprocessing
import os

import pytest

from kit import files, ledger
from kit.collection.sources import open_collection
from kit.errors import KitError, LedgerError
from kit.ledger import BEGUN, BLOCK, CARD, ENDED, RESUMED, START
from kit.params import make_params
from kit.retrieval import execute
from kit.retrieval.execute import retrieve
from kit.retrieval.system import Answer

CONDITIONS = {"system": "a", "git": {"sha": None, "dirty": False}}


def written(outputs, *keys: str) -> str:
    """A ledger in which runs of these keys begin and end."""
    for key in keys:
        with ledger.opened(str(outputs)) as book:
            book.end(book.begin(key, counted=key, views={}, **CONDITIONS).sha256, "complete", run_sha256="f" * 64)
    return str(outputs)


def events(outputs) -> list[str]:
    return [line.event["event"] for line in ledger.read(str(outputs)).lines]


# --- the chain ------------------------------------------------------------------------------------

def test_each_line_carries_the_digest_of_the_line_before(tmp_path):
    lines = ledger.ledger_path(written(tmp_path, "k", "k")).read_bytes().splitlines()
    before = [START, *(hashlib.sha256(line).hexdigest() for line in lines[:-1])]
    assert [json.loads(line)["previous"] for line in lines] == before
    assert ledger.read(str(tmp_path)).faults() == []


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_changed_line_breaks_the_chain_at_the_next(tmp_path, number):
    path = ledger.ledger_path(written(tmp_path, "k", "k"))
    lines = path.read_bytes().splitlines(keepends=True)
    lines[number - 1] = lines[number - 1].replace(b'"time": "2', b'"time": "1')
    path.write_bytes(b"".join(lines))
    assert ledger.read(str(tmp_path)).faults() == [
        f"line {number + 1} of the ledger does not follow from the line before"]


@pytest.mark.parametrize("change", [
    lambda lines: [*lines[:-1], lines[-1].replace(b'"time": "2', b'"time": "1')],
    lambda lines: lines[:-1], lambda lines: lines[:-2], lambda lines: [*lines[:-1], b"gone\n"]],
    ids=["changed", "last out", "last two out", "garbage"])
def test_a_last_line_that_is_changed_or_gone_is_found_then_and_later(tmp_path, change):
    path = ledger.ledger_path(written(tmp_path, "k", "k"))
    path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))
    fault = ["a line of the ledger that was once the last is changed or gone"]
    assert ledger.read(str(tmp_path)).faults() == fault
    assert ledger.read(written(tmp_path, "other")).faults() == fault


def test_a_kill_before_the_head_is_written_is_no_fault(tmp_path):
    head = ledger.ledger_path(written(tmp_path, "k")).with_suffix(".head")
    before = head.read_text()
    written(tmp_path, "other")
    head.write_text(before)
    assert ledger.read(str(tmp_path)).faults() == []
    book = ledger.read(written(tmp_path, "other"))
    assert book.faults() == [] and head.read_text().strip() == book.lines[-1].sha256


def test_a_ledger_without_a_head_is_sound_and_gets_one(tmp_path):
    head = ledger.ledger_path(written(tmp_path, "k")).with_suffix(".head")
    head.unlink()
    assert ledger.read(str(tmp_path)).faults() == []
    assert ledger.read(written(tmp_path, "k")).faults() == [] and head.exists()


def test_a_ledger_that_is_begun_anew_has_no_fault(tmp_path):
    ledger.ledger_path(written(tmp_path, "k")).unlink()
    assert ledger.read(str(tmp_path)).faults() == []
    assert ledger.read(written(tmp_path, "k")).faults() == []


@pytest.mark.parametrize("change", [
    lambda lines: lines[1:], lambda lines: lines[:1] + lines[2:], lambda lines: [*lines[:2], *lines[1:]],
    lambda lines: lines[::-1], lambda lines: [lines[0], b"gone\n", *lines[2:]]],
    ids=["first out", "second out", "twice", "turned", "garbage"])
def test_a_line_out_of_its_place_breaks_the_chain(tmp_path, change):
    path = ledger.ledger_path(written(tmp_path, "k", "k"))
    path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))
    assert ledger.read(str(tmp_path)).faults()


@pytest.mark.parametrize("lost", [1, 2, 40])  # 1: the newline alone
def test_a_line_torn_by_a_kill_stays_and_the_chain_goes_on(tmp_path, lost):
    path = ledger.ledger_path(written(tmp_path, "k"))
    path.write_bytes(path.read_bytes()[:-lost])
    kept = path.read_bytes()
    path.with_suffix(".head").write_text(hashlib.sha256(kept.splitlines()[0]).hexdigest())
    written(tmp_path, "other")
    assert path.read_bytes().startswith(kept)
    book = ledger.read(str(tmp_path))
    assert book.faults() == [] and (book.lines[1].event is None) == (lost > 1)
    assert [line.event["event"] for line in book.lines[2:]] == [BEGUN, ENDED]


@pytest.mark.parametrize("line", ["[" * 100_000, "[]", "5", "null", '"run begun"', "{", "\xff",
                                  "9" * 5000])
def test_a_line_that_is_none_of_the_ledgers_stops_no_run(tmp_path, line):
    path = ledger.ledger_path(written(tmp_path, "k"))
    with open(path, "ab") as file:
        file.write(line.encode("latin-1") + b"\n")
    book = ledger.read(written(tmp_path, "k"))
    assert [line.event is None for line in book.lines] == [False, False, True, False, False]
    assert book.search_number(book.lines[3].sha256) == 2


def test_a_begun_line_without_its_key_is_no_crash(tmp_path):
    path = ledger.ledger_path(written(tmp_path, "k"))
    path.write_text('{"event": "run begun"}\n')
    book = ledger.read(str(tmp_path))
    assert book.faults() and book.search_number(book.lines[0].sha256) == 1


def test_a_line_that_does_not_fit_the_disk_is_an_error(tmp_path, monkeypatch):
    def filling(handle, raw):
        if len(raw) == 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        return len(raw) - 1

    monkeypatch.setattr(os, "write", filling)
    with pytest.raises(LedgerError, match="cut short .No space left on device. .*room"):
        written(tmp_path, "k")


@pytest.mark.parametrize("flock", [True, False])
def test_two_processes_lose_no_line(tmp_path, monkeypatch, flock):
    if not flock:
        monkeypatch.setattr(files, "fcntl", None)
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=written, args=(tmp_path, *[name] * 25)) for name in "ab"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(timeout=60)
    book = ledger.read(str(tmp_path))
    assert len(book.lines) == 100 and book.faults() == []
    assert all(line.event is not None for line in book.lines)


def test_a_lock_that_nobody_lets_go_of_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "fcntl", None)
    monkeypatch.setattr(files, "PATIENCE", 0)
    lock = ledger.ledger_path(str(tmp_path)).with_suffix(".lock")
    lock.parent.mkdir()
    lock.touch()
    with pytest.raises(KitError, match="delete this file"):
        written(tmp_path, "k")


# --- runs -----------------------------------------------------------------------------------------

def test_searches_of_one_key_are_counted(tmp_path):
    with ledger.opened(str(tmp_path)) as book:
        for n, key in enumerate(("k", "other", "k", "k")):
            run = book.begin(f"{key} {n}", counted=key, views={"query": "ta"})
            book.end(run.sha256, "complete")
    book = ledger.read(str(tmp_path))
    begun = [line.sha256 for line in book.lines if line.is_a(BEGUN)]
    assert [book.search_number(run) for run in begun] == [1, 1, 2, 3]
    assert book.search_number("0" * 64) is None and book.search_number(None) is None


@pytest.fixture
def searched(tmp_path, make_collection, monkeypatch):
    """A function that searches a tiny collection block by block, failing when it is told to."""
    collection = open_collection(str(make_collection(tmp_path)))
    monkeypatch.setattr(execute, "BLOCK", 1)

    class System:
        name, version, given, settings, notes = "made", "1", {}, {}, lambda self: {}
        left = 99

        def prepare(self, ids, texts):
            pass

        def search_batch(self, texts, topk):
            System.left -= 1
            if System.left < 0:
                raise MemoryError("no room")
            return [Answer(["d1"], None) for _ in texts]

    monkeypatch.setattr(execute, "make_system", lambda name, params: System())

    def search(blocks: int = 99, **values):
        System.left = blocks
        return retrieve(collection, "bm25", make_params({"outputs": str(tmp_path / "out"), **values}))
    search.outputs = tmp_path / "out"
    return search


def test_a_run_begins_and_ends(searched):
    run = searched()
    begun, *_, ended = ledger.read(str(searched.outputs)).lines
    assert begun.is_a(BEGUN, system="made", version="1", environment="tiny", depth=100, sample=None)
    assert begun.event["fingerprint"] == run.manifest["fingerprints"]["together"]
    assert searched.outputs / begun.event["folder"] == run.folder
    assert ended.is_a(ENDED, run=begun.sha256, status="complete",
                      run_sha256=run.manifest["run_sha256"])
    assert run.manifest["ledger"] == {"line": 1, "sha256": begun.sha256}


def test_a_run_that_is_reopened_is_not_begun(searched):
    searched()
    searched()
    assert events(searched.outputs) == [BEGUN, BLOCK, BLOCK, ENDED]


def test_a_failed_run_says_why_and_goes_on_as_the_same_run(searched):
    with pytest.raises(MemoryError):
        searched(blocks=1)
    run = searched(blocks=1)  # the first block is there
    assert events(searched.outputs) == [BEGUN, BLOCK, ENDED, RESUMED, BLOCK, ENDED]
    book = ledger.read(str(searched.outputs))
    assert (book.lines[2].event["status"], book.lines[2].event["reason"]) == (
        "failed", "MemoryError: no room")
    assert book.search_number(run.manifest["ledger"]["sha256"]) == 1


@pytest.mark.parametrize("dirty", [True, None, False])
def test_a_run_that_was_begun_by_changed_code_stays_so(searched, monkeypatch, dirty):
    monkeypatch.setattr(execute, "git_state", lambda: {"sha": "1", "dirty": dirty})
    with pytest.raises(MemoryError):
        searched(blocks=1)
    monkeypatch.setattr(execute, "git_state", lambda: {"sha": "2", "dirty": False})
    assert searched().manifest["git"]["dirty"] is dirty


def test_a_deleted_run_that_is_searched_again_is_the_second(searched):
    import shutil
    shutil.rmtree(searched().folder)
    run = searched()
    assert ledger.read(str(searched.outputs)).search_number(run.manifest["ledger"]["sha256"]) == 2


def test_an_end_that_a_kill_kept_out_is_noted_when_the_run_is_opened(searched):
    searched()
    path = ledger.ledger_path(str(searched.outputs))
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
    searched()
    assert events(searched.outputs) == [BEGUN, ENDED]


def test_another_depth_view_or_sample_is_another_run(searched):
    runs = [searched(), searched(depth=2), searched(query_view="ta"), searched(sample=1)]
    book = ledger.read(str(searched.outputs))
    assert [book.search_number(r.manifest["ledger"]["sha256"]) for r in runs] == [1] * 4


def test_data_that_is_pinned_later_makes_no_other_run():
    stated = {"generation": None, "fingerprints": {"together": "f"}, "system": {"name": "a"}}
    assert execute.run_key(stated) == execute.run_key(stated | {"generation": "a-1"})


def test_the_events_have_names_of_their_own():
    assert len({BEGUN, RESUMED, ENDED, CARD}) == 4
