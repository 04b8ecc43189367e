"""One parameters file through every notebook, headless, then the site."""

import builtins
import logging
import os
import shutil
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import nbformat
from nbclient.exceptions import DeadKernelError
from traitlets.config import Config

from kit import errors
from kit.collection.registry import is_kits_own, registered_corpora
from kit.collection.schema import require_sound
from kit.collection.sources import Collection, open_collection
from kit.errors import KitError, MeasureError, NotebookError, ParamsError
from kit.evaluation.evaluate import require_measurable
from kit.files import (
    ROOT,
    clear_leftovers,
    locked,
    made_whole,
    not_through_a_link,
    outputs_folder,
    work_folder,
    write_text,
)
from kit.params import Params
from kit.progress import VARIABLE, in_words
from kit.relevance.protocols import offered, positives
from kit.reporting import rules, site
from kit.reporting.costs import require_priced
from kit.reporting.formats import figures_folder
from kit.reporting.score import require_measures
from kit.reporting.show import FIGURES
from kit.retrieval.execute import require_ready
from kit.retrieval.sweep import require_sweepable
from kit.text.views import require_view
from kit.visible import Screen, discreet, visible, without_secrets

NOTEBOOKS = ("10_explore", "20_audit", "30_retrieve", "40_score", "50_compare")
BUILD = "15_build"  # only where the parameters name a built query set
LITIGATION = "16_litigation"  # only where they name a built litigation set
SWEEP = "60_passages"  # only where they name lengths to try
SPEED = "70_speed"  # only where they name a share
KERNEL = "python3"
GOES_ON = "The same command goes on from the last saved block"
SELDOM = 15  # seconds between two lines in a log, and where there is no terminal


def run(params: Params) -> Path:
    """Runs every notebook and builds the site; returns its index.

    Everything that can be known to be wrong is found before the first notebook starts. Raises
    KitError; an executed notebook is moved to its place only when it ended well.
    """
    notebooks = [ROOT / "notebooks" / f"{name}.ipynb" for name in notebooks_of(params)]
    for notebook in notebooks:
        require_runnable(notebook)
    check_experiment(params)
    outputs = outputs_folder(params.outputs)
    home, log = outputs / "notebooks" / params.experiment, Log(outputs / "logs" / f"{params.experiment}.log")
    clear_leftovers(outputs)
    home.mkdir(parents=True, exist_ok=True)
    with locked(home, busy=lambda: print(f"waiting: another process runs '{params.experiment}' in "
                                         f"{outputs}", flush=True)):
        for number, notebook in enumerate(notebooks, 1):
            with _told(f"[{number}/{len(notebooks)}] {notebook.stem}", log) as progress:
                _execute(notebook, home / notebook.name, params, progress)
        return site.build(params.outputs)


def notebooks_of(params: Params) -> tuple[str, ...]:
    """The notebooks of an experiment, in their order."""
    asked = {BUILD: params.query_set, LITIGATION: params.litigation_set, SWEEP: params.sweep_lengths,
             SPEED: params.speed_share}
    return tuple(sorted([*NOTEBOOKS, *(name for name, value in asked.items() if value is not None)]))


def check_experiment(params: Params) -> Collection:
    """The experiment's collection, once everything that the parameters name is there and sound."""
    require_outputs(params)
    require_measures(params)
    require_view(params.query_view, "queries")
    require_view(params.corpus_view, "corpus")
    collection = open_collection(params.collection, revision=params.revision,
                                 streaming=params.streaming)
    require_sound(collection)
    if is_kits_own(collection.environment) or registered_corpora(collection.environment):
        rules.require_own_name(collection)  # found before the search, not after
    if positives(collection, params.protocol).empty:
        raise MeasureError(f"protocol '{params.protocol}' has no relevant pair", collection.source,
                           f"Use one of {', '.join(offered(collection))}")
    require_measurable(collection, params.measures)
    require_priced(require_ready(collection, params), params)
    if params.sweep_lengths is not None:
        require_sweepable(params)
    return collection


def require_outputs(params: Params) -> None:
    """Raises ParamsError unless the outputs folder can be written or made. Makes nothing."""
    place = outputs_folder(params.outputs)
    there = next(p for p in (place, *place.parents) if p.exists())
    if not there.is_dir() or not os.access(there, os.W_OK):
        kind = "can't be written" if there.is_dir() else "is a file"
        raise ParamsError(f"the outputs folder can't be used: {there} {kind}", place,
                          "Name another with -p outputs FOLDER")


def require_runnable(path: Path) -> None:
    """Raises NotebookError unless the notebook has a parameters cell and the kernel python3."""
    try:
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
    except Exception as error:  # what is no notebook fails in many ways
        raise NotebookError(f"the notebook can't be read: {type(error).__name__}", path,
                            "Restore it from the repository") from error
    tagged = [c for c in notebook.cells if "parameters" in c.metadata.get("tags", [])
              and c.cell_type == "code"]
    if len(tagged) != 1:
        raise NotebookError(f"{len(tagged) or 'no'} cell carries the tag 'parameters', where one must",
                            path, "Tag the cell with the defaults, and no other")
    kernel = notebook.metadata.get("kernelspec", {}).get("name")
    if kernel != KERNEL:
        raise NotebookError(f"the notebook asks for the kernel {kernel!r}", path, f"Set it to {KERNEL}")


def _execute(notebook: Path, target: Path, params: Params, progress: Path) -> None:
    import papermill  # a second to import, and only needed here

    for name in ("papermill", "asyncio"):  # whatever ends a notebook is raised; a stop leaves tasks behind
        logging.getLogger(name).setLevel(logging.CRITICAL)
    # sockets in a folder of our own: no race for ports, and none that others can reach
    ipc = Config({"KernelManager": {"transport": "ipc"}}) if os.name == "posix" else Config()
    with work_folder() as work:
        part = work / notebook.name
        try:
            with _environment({VARIABLE: str(progress), FIGURES: str(work / "figures"),
                               "JUPYTER_RUNTIME_DIR": str(work),
                               "PYDEVD_DISABLE_FILE_VALIDATION": "1"}):
                papermill.execute_notebook(
                    _literal(notebook), _literal(part), parameters=params.model_dump(), kernel_name=KERNEL,
                    progress_bar=False, log_output=False, config=ipc,
                    extra_arguments=["--log-level=50"])  # the kernel's own talk, not the cells'
        except papermill.PapermillExecutionError as error:
            raise _explained(notebook, _kept(part, params), error) from error
        except (DeadKernelError, RuntimeError) as error:
            raise NotebookError(f"the kernel of {notebook.stem} died, which most often means that "
                                "the memory ran out", str(error).splitlines()[0], GOES_ON) from error
        write_text(target, without_secrets(part.read_text(encoding="utf-8")))
        pictures = figures_folder(params.outputs, params.experiment) / notebook.stem
        shutil.rmtree(pictures, ignore_errors=True)  # those of an earlier run may have other names
        if (work / "figures").is_dir():
            with made_whole(pictures) as folder:
                shutil.copytree(work / "figures", folder, dirs_exist_ok=True)


def _kept(part: Path, params: Params) -> Path:
    """A copy of a notebook that failed, beside the log; the place of the notebook where the disk
    takes no more."""
    kept = outputs_folder(params.outputs) / "logs" / f"{params.experiment}-{part.name}"
    try:
        write_text(kept, without_secrets(part.read_text(encoding="utf-8")))
        return kept
    except OSError:
        return Path("notebooks") / part.name


def _literal(path: Path) -> str:
    """A path as papermill takes it, which fills parameters into braces."""
    return str(path).replace("{", "{{").replace("}", "}}")


def _explained(notebook: Path, kept: Path, error) -> NotebookError:
    """A cell's error as one line; the kit's own is passed on as it stands."""
    kind = getattr(errors, error.ename, None)
    if isinstance(kind, type) and issubclass(kind, KitError):
        return NotebookError(f"{notebook.stem}: {error.evalue}")
    said = error.evalue.splitlines()[0] if error.evalue else ""
    place = f"cell {error.exec_count} of {notebook.stem}"
    if errors.memory_ran_out(error.ename, said):
        return NotebookError(f"the memory ran out in {place}: {said}", kept,
                             f"Close other programs, or take a machine with more. {GOES_ON}")
    builtin = getattr(builtins, error.ename, None)
    if isinstance(builtin, type) and issubclass(builtin, OSError):
        return NotebookError(f"{place} can't read or write: {said}", kept,
                             f"See to the disk's space and the folder's rights. {GOES_ON}")
    return NotebookError(f"{place} failed: {error.ename}: {said}", kept,
                         "Open the notebook at that place to see the whole error")


@contextmanager
def _environment(values: dict[str, str]):
    """Variables that the kernel inherits."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


class Log:
    """A plain text file, to which lines are added, each with its time (UTC)."""

    def __init__(self, path: Path):
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)

    def add(self, line: str) -> None:
        """Adds one line. A log that can't be written stops nothing."""
        now = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime())
        with suppress(OSError), open(self.path, "a", encoding="utf-8", opener=not_through_a_link) as file:
            file.write(f"{now}Z  {' '.join(visible(discreet(line)).splitlines())}\n")


@contextmanager
def _told(name: str, log: Log):
    """Prints a line that says what is running and how far it is; yields the file it reads that
    from. On a terminal the line is rewritten, elsewhere one is added every quarter of a minute; the
    log gets the latter, and how it ended."""
    start, done = time.monotonic(), threading.Event()
    live = sys.stdout.isatty()
    screen = sys.stdout.raw if isinstance(sys.stdout, Screen) else sys.stdout  # to move the cursor
    log.add(f"{name}  begins")
    with work_folder() as folder:
        progress = folder / "progress"

        def tell():
            rounds = 0
            while not done.wait(1 if live else SELDOM):
                told = progress.read_bytes() if progress.exists() else b""
                said = visible(told.decode("utf-8", "replace"))
                line = f"{name}  {in_words(time.monotonic() - start)}  {said}"
                if live:
                    print(f"\r\033[K{line}", end="", file=screen, flush=True)
                else:
                    print(line, flush=True)
                rounds += 1
                if not live or rounds % SELDOM == 0:
                    log.add(line)

        thread = threading.Thread(target=tell, daemon=True)
        thread.start()
        how = "failed after"
        try:
            yield progress
            how = "done in"
        except KitError as error:
            log.add(f"{name}  {error}")
            raise
        finally:
            done.set()
            thread.join()
            log.add(f"{name}  {how} {in_words(time.monotonic() - start)}")
        print("\r\033[K" if live else "", end="", file=screen)
        print(f"{name}  done in {in_words(time.monotonic() - start)}", flush=True)
