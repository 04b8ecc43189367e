"""The systems that ship, by the names that `systems` takes."""

from kit.errors import SearchError
from kit.params import Params
from kit.retrieval.bm25 import Bm25
from kit.retrieval.by_passage import Bm25Passages, DensePassages
from kit.retrieval.dense import Dense
from kit.retrieval.foreign import Foreign
from kit.retrieval.fusion import NAME, Fusion
from kit.retrieval.service import Service
from kit.retrieval.system import RERANKED, first_stage

SHIPPED = {"bm25": Bm25, "embedding": Dense, "bm25-passages": Bm25Passages,
           "embedding-passages": DensePassages, "service": Service, "object": Foreign,
           NAME: Fusion}


def make_system(name: str, params: Params):
    """The system of that name, not yet prepared.

    Raises SearchError for a name that is unknown, a model or object that is nowhere, and a service
    whose address or token is not as it must be; no service is called.
    """
    if name not in SHIPPED:
        raise _unknown(name, params)
    return SHIPPED[name].from_params(params)


def system_names(params: Params) -> list[str]:
    """The names of all systems of an experiment: run files behind the rest, a fusion last.

    Raises SearchError for a name that is unknown, or that a run file takes from a shipped system, and
    for a reranked system that is not searched itself.
    """
    for name in params.systems:
        first = first_stage(name)
        if first in SHIPPED and first not in params.systems:
            raise SearchError(f"'{first}' is to be reranked, and is no system of the experiment", "systems",
                              f"Name {first} too: a second stage is read beside the first")
        if (first or name) not in SHIPPED and (first or name) not in params.run_files:
            raise _unknown(name, params)
    taken = next((name for name in params.run_files if not _may_be_named(name)), None)
    if taken is not None:
        raise SearchError(f"a run file can't be named {taken[:80]!r}", "run_files",
                          f"Give it a short name other than {', '.join(SHIPPED)}")
    names = list(dict.fromkeys([*params.systems, *params.run_files]))
    if not names:
        raise SearchError("there is no system to search with", "systems", "Name one, such as bm25")
    return sorted(names, key=lambda name: (first_stage(name) or name) == NAME)


def _may_be_named(name: str) -> bool:
    return (name not in SHIPPED and first_stage(name) is None and name.isprintable()
            and 0 < len(name.strip()) <= 80)


def _unknown(name: str, params: Params) -> SearchError:
    known = [*SHIPPED, *params.run_files, f"one of them with {RERANKED}"]
    return SearchError(f"unknown system '{name}'", "systems",
                       f"Known are {', '.join(known)}; a run of your own goes into run_files")
