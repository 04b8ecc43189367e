"""Progress: what is said, and that nothing of it stays."""

import io
import re
import sys
from types import SimpleNamespace

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from traitlets.config import Config

from kit import pipeline, progress
from kit.errors import KitError
from kit.pipeline import Log, _told
from kit.progress import in_words, steps

LONG = """
from kit import progress
progress.OFTEN = 0
for n in progress.steps(range(50), "made blocks", 50):
    pass
"""


@pytest.fixture
def lines(monkeypatch, tmp_path):
    """What steps say, each line, when every item takes `seconds` of a clock that is turned by hand."""
    clock, said = [0.0], []
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(progress, "say", said.append)

    def run(seconds: list) -> list[str]:
        for wait in steps(iter(seconds), "blocks", len(seconds)):
            clock[0] += wait
        return said
    return run


def left(line: str) -> str:
    found = re.search(r"about (.*) left", line)
    return found[1] if found else ""


def test_a_first_item_that_compiles_does_not_count_for_the_time_left(lines):
    said = lines([60, *[1] * 9])
    assert [left(line) for line in said] == ["", "", "", "6 s", "5 s", "4 s", "3 s", "2 s", "1 s", ""]


def test_the_time_left_follows_the_recent_rate(lines):
    said = lines([1] * 30 + [10] * 30)
    assert left(said[54]) == "50 s"  # at the mean rate since the start it would be 28 s


def test_a_step_of_few_items_tells_no_time_left(lines):
    assert not any(left(line) for line in lines([5, 5, 5]))


@pytest.mark.parametrize("seconds, said", [(3.4, "3 s"), (89, "89 s"), (600, "10 min"), (12_000, "3 h 20 min")])
def test_seconds_in_words(seconds, said):
    assert in_words(seconds) == said


@pytest.fixture(scope="module")
def kernel():
    """A function that executes a cell, with a person who can be asked for input or without; the
    outputs that are kept, and all texts that were shown meanwhile."""
    client = NotebookClient(nbformat.v4.new_notebook(), kernel_name="python3", config=Config(
        {"KernelManager": {"transport": "ipc"}}))

    def execute(source: str, person: bool) -> tuple[list, str]:
        cell, shown, kept = nbformat.v4.new_code_cell(source), [], client.process_message
        client.nb.cells, client.kc.allow_stdin = [cell], person
        client.process_message = lambda message, *rest: (
            shown.append(str(message["content"].get("data"))), kept(message, *rest))[1]
        client.execute_cell(cell, 0)
        client.process_message = kept
        return cell.outputs, " ".join(shown)

    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(progress.VARIABLE, raising=False)
        with client.setup_kernel():
            yield execute


def test_an_executed_notebook_keeps_no_trail(kernel):
    assert kernel(LONG, person=False) == ([], "None None None")


def test_a_person_sees_the_line_while_the_cell_runs_and_nothing_after_it(kernel):
    outputs, shown = kernel(LONG, person=True)
    assert "made blocks: 50 of 50" in shown
    assert [o.data for o in outputs] == [{"text/plain": ""}]  # one line, emptied


def test_a_cell_that_fails_leaves_the_line_empty_too(kernel):
    with pytest.raises(CellExecutionError):
        kernel(f"{LONG}\nraise ValueError", person=True)
    outputs, shown = kernel(LONG, person=True)  # and the next cell has a line of its own
    assert "made blocks: 50 of 50" in shown and [o.data for o in outputs] == [{"text/plain": ""}]


# --- the log --------------------------------------------------------------------------------------

class Screen(io.StringIO):
    """A terminal."""

    def isatty(self):
        return True


@pytest.fixture
def screen(monkeypatch):
    monkeypatch.delenv(progress.VARIABLE, raising=False)
    monkeypatch.setattr(progress, "OFTEN", 0)
    screen = Screen()  # pytest puts its own in sys.stderr before the test
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=screen, modules=sys.modules))
    return screen


def test_a_terminal_shows_the_line_and_nothing_of_it_stays(screen):
    assert list(steps("abc", "trials read", 3)) == ["a", "b", "c"]
    assert "\r\033[Ktrials read: 2 of 3" in screen.getvalue() and screen.getvalue().endswith("\r\033[K")


def test_a_step_that_fails_leaves_no_line_on_the_terminal(screen):
    with pytest.raises(ZeroDivisionError):
        list(steps((1 / n for n in (2, 1, 0)), "trials read", 3))
    assert screen.getvalue().endswith("\r\033[K")


def test_a_process_that_is_to_be_silent_shows_nothing(screen, monkeypatch):
    monkeypatch.setenv(progress.VARIABLE, "")
    list(steps("abc", "trials read", 3))
    assert screen.getvalue() == ""


def test_the_log_says_what_ran_when_and_how_it_ended(tmp_path, capsys):
    log = Log(tmp_path / "logs" / "mine.log")
    with _told("[1/2] 10_explore", log):
        pass
    with pytest.raises(KitError), _told("[2/2] 20_audit", log):
        raise KitError("the disk\nis \x1b[2Jfull")
    when = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ  "
    ends = ["[1/2] 10_explore  begins", "[1/2] 10_explore  done in 0 s", "[2/2] 20_audit  begins",
            r"[2/2] 20_audit  the disk is \u001b[2Jfull", "[2/2] 20_audit  failed after 0 s"]
    lines = log.path.read_text().splitlines()
    assert [re.sub(when, "", line) for line in lines] == ends
    assert all(re.match(when, line) for line in lines)


def test_the_log_has_the_progress_that_the_terminal_shows(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(pipeline, "SELDOM", 0.01)
    log = Log(tmp_path / "mine.log")
    with _told("[1/1] 30_retrieve", log) as file:
        file.write_text("bm25: 3 of 9, about 6 s left")
        for _ in range(10**6):  # until it is read, and not for ever
            if "3 of 9" in log.path.read_text():
                break
    assert "bm25: 3 of 9, about 6 s left" in capsys.readouterr().out
