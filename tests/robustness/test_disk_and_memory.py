"""A disk that is full, a folder that can't be written, memory that runs out: one clear line, and
what was there before is untouched."""

import errno
import hashlib
import os
import re
import resource
import shutil
import signal
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import stages
from stages import assert_as_good_as, ended, small_experiment, started

from kit.cli import main
from kit.collection.sources import open_collection


@pytest.fixture(scope="module")
def experiment(tmp_path_factory, make_collection):
    folder = tmp_path_factory.mktemp("disk")
    return lambda home, **values: small_experiment(folder, make_collection, home, **values)


@pytest.fixture(scope="module")
def whole(tmp_path_factory, experiment):
    """Outputs of a run that nothing hindered."""
    home = tmp_path_factory.mktemp("whole")
    status, said = ended(started(stages.stages, experiment(home), home=home))
    assert status == 0, said
    return home / "outputs"


def digests(folder: Path) -> dict[str, str]:
    """{file: digest of its bytes}; the log tells of every try, and is none of the results."""
    return {str(f.relative_to(folder)): hashlib.sha256(f.read_bytes()).hexdigest()
            for f in folder.rglob("*") if f.is_file() and "logs" not in f.parts}


def command(values: dict) -> list[str]:
    """`kit run` of parameters, as arguments."""
    import yaml

    return ["run", *(part for name, value in values.items()
                     for part in ("-p", name, yaml.safe_dump(value, default_flow_style=True).strip()
                                  .removesuffix("...").strip()))]


def run_in_process(values: dict) -> None:
    """`kit run` with stages in the place of notebooks; ends with its status."""
    stages.put_stages()
    raise SystemExit(main(command(values)))


def with_files_below(values: dict, size: int, kept: bool = True) -> None:
    """The same where no file may grow above `size` bytes, as on a disk that is full. kept: whether
    the tables are on the disk before."""
    if kept:
        open_collection(values["collection"])
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    run_in_process(values)


def with_memory_below(values: dict, more: int) -> None:
    """The same where the process may take `more` bytes of addresses besides those that it has."""
    has = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (has + more, has + more))
    run_in_process(values)


@contextmanager
def file_system(folder: Path, *options: str):
    """A small file system at `folder`, with what the folder holds, and these options at the end."""
    mounted = os.geteuid() == 0 and shutil.which("mount") and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(folder)], capture_output=True).returncode == 0
    if not mounted:
        pytest.skip("no file system can be mounted here")
    try:
        subprocess.run(["mount", "-o", ",".join(["remount", *options]), str(folder)], check=True)
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@contextmanager
def read_only(folder: Path):
    """A folder that nobody can write, whoever runs the test."""
    if os.geteuid() == 0:  # who is asked no rights
        with file_system(folder, "ro"):
            yield
        return
    folder.chmod(0o555)
    try:
        yield
    finally:
        folder.chmod(0o755)


def complaint(status: int, said: str) -> str:
    """What a run that failed in its own words said, in one line."""
    assert status == 1 and "Traceback" not in said, said
    lines = [line for line in said.splitlines() if line.startswith("kit: ")]
    assert len(lines) == 1, said
    return lines[0]


@pytest.mark.parametrize("size", [0, 300, 1_500, 4_000, 9_000])
def test_a_full_disk_is_one_line_and_the_run_goes_on_when_there_is_room(
        size, experiment, whole, tmp_path):
    status, said = ended(started(with_files_below, experiment(tmp_path), size, home=tmp_path))
    assert re.search(r"File too large .*space|cut short .*room", complaint(status, said))
    assert not list(tmp_path.rglob("*.part"))
    status, said = ended(started(stages.stages, experiment(tmp_path), home=tmp_path))
    assert status == 0, said
    assert_as_good_as(tmp_path / "outputs", whole)


def test_a_disk_without_room_for_the_tables_is_named(experiment, tmp_path):
    status, said = ended(started(with_files_below, experiment(tmp_path), 300, False, home=tmp_path))
    assert re.search(r"can't be kept to be mapped into memory: File too large \(\S+/tables\)",
                     complaint(status, said))


def test_a_full_disk_touches_no_earlier_result(experiment, whole, tmp_path):
    shutil.copytree(whole, tmp_path / "outputs")
    before = digests(tmp_path / "outputs")
    values = experiment(tmp_path, experiment="other", depth=5, measures=["RR"])
    status, said = ended(started(with_files_below, values, 3_000, home=tmp_path))
    assert re.search(r"File too large .*space|cut short .*room", complaint(status, said))
    after = digests(tmp_path / "outputs")
    kept = {name: after[name] for name in before if "ledger" not in name}
    assert kept == {name: digest for name, digest in before.items() if "ledger" not in name}
    raw = [(folder / "reports/ledger.jsonl").read_bytes() for folder in (whole, tmp_path / "outputs")]
    assert raw[1].startswith(raw[0])


def test_a_small_file_system_that_fills_is_one_line(experiment, tmp_path):
    home = tmp_path / "small"
    home.mkdir()
    with file_system(home, "size=64k"):
        values = experiment(tmp_path) | {"outputs": str(home / "outputs")}
        status, said = ended(started(run_in_process, values, home=tmp_path))
        assert "No space left on device" in complaint(status, said)
        assert not list(home.rglob("*.part"))


def test_an_outputs_folder_that_cannot_be_written_is_found_before_anything_runs(experiment, tmp_path):
    (tmp_path / "outputs").mkdir()
    with read_only(tmp_path / "outputs"):
        status, said = ended(started(run_in_process, experiment(tmp_path), home=tmp_path))
        assert "the outputs folder can't be used" in complaint(status, said)
        assert "[1/5]" not in said


def test_a_folder_below_the_outputs_that_cannot_be_written_is_one_line(experiment, whole, tmp_path):
    shutil.copytree(whole, tmp_path / "outputs")
    shutil.rmtree(tmp_path / "outputs/runs")
    (tmp_path / "outputs/runs").mkdir()
    before = digests(tmp_path / "outputs")
    with read_only(tmp_path / "outputs/runs"):
        status, said = ended(started(run_in_process, experiment(tmp_path), home=tmp_path))
        assert re.search("Read-only file system|Permission denied", complaint(status, said))
    assert {name: digest for name, digest in digests(tmp_path / "outputs").items()
            if not name.startswith("notebooks")} == {
        name: digest for name, digest in before.items() if not name.startswith("notebooks")}


@pytest.mark.parametrize("more", [60, 120, 250])
def test_memory_that_runs_out_is_one_line_and_the_run_goes_on_elsewhere(
        more, experiment, whole, tmp_path):
    values = experiment(tmp_path)
    status, said = ended(started(with_memory_below, values, more << 20, home=tmp_path))
    if status == 127:  # the C library itself gave up, before Python could say so
        assert "cannot allocate memory" in said
    else:
        assert "memory" in complaint(status, said)
    status, said = ended(started(stages.stages, values, home=tmp_path))
    assert status == 0, said
    assert_as_good_as(tmp_path / "outputs", whole)


@pytest.mark.parametrize("error", [
    MemoryError(), pa.lib.ArrowMemoryError("malloc of size 64 failed"), RuntimeError("can't start new thread"),
    OSError(errno.ENOMEM, "Cannot allocate memory"),
    RuntimeError("[enforce fail at alloc_cpu.cpp:124] DefaultCPUAllocator: can't allocate memory")])
def test_a_reader_without_memory_blames_no_file(error, make_collection, tmp_path, monkeypatch, capsys):
    def read_schema(stream):
        raise error

    monkeypatch.setattr(pq, "read_schema", read_schema)
    assert main(["audit", str(make_collection(tmp_path))]) == 1
    assert capsys.readouterr().err.startswith("kit: the memory ran out (")
