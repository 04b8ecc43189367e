"""The one family of errors that the kit raises for its user: what, where, what to do."""

from kit.visible import discreet, visible


class KitError(Exception):
    """Something the user can act on. Its text is one line, holds no secret of the environment, and is
    shown without a traceback.

    what: what is wrong, as a clause without a full stop.
    where: the file, row or identifier.
    do: what to do about it, as a sentence without its full stop.
    """

    def __init__(self, what: str, where: str = "", do: str = ""):
        self.what, self.where, self.do = what, str(where), do
        parts = [f"{what} ({where})" if where else what, do]
        super().__init__(visible(discreet(" ".join(". ".join(p for p in parts if p).split()))))


class CollectionError(KitError):
    """A collection that can't be opened, or that breaks its layout."""


class ParamsError(KitError):
    """A parameter that is unknown or has a value that it can't have."""


class NotebookError(KitError):
    """A notebook that can't be run, or that failed while it ran."""


class BuildError(KitError):
    """A query set that can't be built, judged or frozen."""


class SearchError(KitError):
    """A system that is unknown, can't be built, or answers what it may not answer."""


class RunError(KitError):
    """A run file that can't be read as a ranking of this collection."""


class MeasureError(KitError):
    """A measure or protocol that is unknown or has no meaning here."""


class ScorecardError(KitError):
    """A scorecard that can't be written or read."""


class LedgerError(KitError):
    """A ledger that can't be read or written."""


class RuleError(ScorecardError):
    """A figure, card or comparison that breaks one of the seven rules; the message names it."""


NO_MEMORY = ("can't start new thread", "not enough memory", "can't allocate memory", "Cannot allocate memory",
             "failed to map segment")  # how Python, torch and the C library say it


def memory_ran_out(kind: str, said: str) -> bool:
    """Whether an error of this class, with this text, is the machine's memory, whatever its class."""
    return kind.endswith("MemoryError") or any(words in said for words in NO_MEMORY)


def let_memory_pass(error: BaseException) -> None:
    """Raises MemoryError where that is what an error, or the one behind it, comes of: for those who
    catch whatever a library raises, so as not to blame a file or a model for it."""
    for one in (error, error.__cause__, error.__context__):
        if one is not None and memory_ran_out(type(one).__name__, str(one)):
            raise MemoryError(str(one)) from error
