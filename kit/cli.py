"""`python -m kit`: runs a command. An error is one line on stderr and the exit status 1."""

import signal
import sys
import threading
from contextlib import contextmanager, redirect_stderr, redirect_stdout

from kit.errors import KitError, memory_ran_out
from kit.options import make_parser
from kit.visible import Screen


def main(arguments: list[str] | None = None) -> int:
    """Runs one command and returns its exit status. What it prints is made visible: no text of a
    collection or run file acts on a terminal."""
    with redirect_stdout(Screen(sys.stdout)), redirect_stderr(Screen(sys.stderr)), _stoppable():
        return _main(arguments)


class Terminated(KeyboardInterrupt):
    """SIGTERM came: what ends well on Ctrl-C ends as well on it."""


@contextmanager
def _stoppable():
    def stop(*_):
        raise Terminated

    if threading.current_thread() is not threading.main_thread():  # which alone may ask for signals
        yield
        return
    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _main(arguments: list[str] | None) -> int:
    try:
        options = make_parser().parse_args(arguments)
        status = options.command(options)
        sys.stdout.flush()  # here a reader that has gone is still noticed
        return status or 0
    except KitError as error:
        print(f"kit: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader of our output has gone
        sys.stderr.close()
        return 1
    except Exception as error:
        if (known := _of_the_machine(error)) is None:
            raise
        print(f"kit: {known}", file=sys.stderr)
        return 1
    except KeyboardInterrupt as error:
        print("kit: stopped; the same command goes on from here", file=sys.stderr)
        return 128 + (signal.SIGTERM if isinstance(error, Terminated) else signal.SIGINT)


def _of_the_machine(error: Exception) -> KitError | None:
    """What the kit says where memory runs out, a disk is full, or a folder can't be written."""
    if memory_ran_out(type(error).__name__, str(error)):
        return KitError("the memory ran out", str(error)[:200] or "no size named",
                        "Close other programs, or take a machine with more; the same command goes on from here")
    if isinstance(error, OSError):
        return KitError(error.strerror or str(error), error.filename2 or error.filename or "no file named",
                        "Check the folder's space and permissions")
    return None
