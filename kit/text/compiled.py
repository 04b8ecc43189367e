"""Loops that numba compiles when they are first called, some seconds once on a machine."""

from collections.abc import Callable

import numba
from numba.core import event

from kit.progress import say


def compiled(function: Callable) -> Callable:
    """`function` compiled at its first call, and kept for the next process where a folder allows.

    Numba keeps machine code beside the source, else in the user's cache folder (NUMBA_CACHE_DIR);
    where neither can be written, each process compiles anew. The GIL is released meanwhile.
    """
    try:
        return numba.njit(nogil=True, cache=True)(function)
    except RuntimeError:  # no folder to keep it in
        return numba.njit(nogil=True)(function)


class _Told(event.Listener):
    """Says that a loop is compiled: else the step before it seems to stand still."""

    def on_start(self, event) -> None:
        """Compiling begins; it does not where machine code is kept."""
        say("compiling, once on a machine")

    def on_end(self, event) -> None:
        """What is next speaks for itself."""
        say("")


event.register("numba:compile", _Told())
