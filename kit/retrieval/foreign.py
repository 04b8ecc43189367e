"""A Python object as a system: `module:name` with `search(query_text, topk)`.

A class is called without arguments, and so is a function that makes an object; an object is used as
it is. If it has `prepare(ids, texts)` it gets the corpus before the first query.
"""

import importlib
import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from types import ModuleType

from kit.errors import KitError, SearchError
from kit.files import ROOT, digest_of_file
from kit.params import Params
from kit.retrieval.system import one_line, said

FORM = re.compile(r"\w+(\.\w+)*:\w+")
_imported: dict[str, str | None] = {}  # the digest that a module's file had when it was imported


class Foreign:
    """Somebody's object; its version is its own or its module's, else "not stated"."""

    def __init__(self, path: str):
        if not FORM.fullmatch(path):
            raise SearchError("an object is named module:name", f"object_system: {path}",
                              "Give one such as mysearch:Engine")
        module = _import(path)
        file, self.name = path.split(":")
        self._path, self._object = path, _make(module, path)
        with _blamed("its version can't be read", path, "Make the version a plain text"):
            self.version = _version(self._object, module)
        # code can change under one name: the file that holds it is part of what was searched with
        self.given = self.settings = {"object": path, "module_sha256": _imported[file]}
        with _blamed("its 'prepare' can't be read", path, "Mend the object"):
            if callable(getattr(self._object, "prepare", None)):
                self.prepare = self._prepare

    @classmethod
    def from_params(cls, params: Params) -> "Foreign":
        if params.object_system is None:
            raise SearchError("the object is not named", "object_system",
                              "Set it, such as mysearch:Engine")
        return cls(params.object_system)

    def search(self, query_text: str, topk: int) -> list[str]:
        """The object's identifiers, topk at most; raises whatever it raises, as an Exception."""
        try:
            found = self._object.search(query_text, topk)
            if isinstance(found, (str, bytes, dict, set, frozenset)):  # no ranking
                raise TypeError(
                    f"a {type(found).__name__} where a list of identifiers is asked for")
            ids = list(islice(found, topk + 1))  # a generator may have no end
        except (Exception, KeyboardInterrupt):
            raise
        except BaseException as error:  # such as a CancelledError, which would end the whole search
            raise RuntimeError(said(error)) from error
        if len(ids) > topk:
            raise ValueError(f"more identifiers than the {topk} that were asked for")
        return ids

    def notes(self) -> dict:
        return {}

    def _prepare(self, ids: list[str], texts: Iterable[str]) -> None:
        """Hands over the corpus. texts: an iterator over n texts, in the order of the n ids."""
        with _blamed("prepare failed", self._path, "Mend the object"):
            self._object.prepare(list(ids), texts)


class Reranking:
    """Somebody's object with `rerank(query_text, documents)`; version and file as of `Foreign`."""

    def __init__(self, path: str):
        module = _import(path)
        self._object = _make(module, path, "rerank(query_text, documents)")
        file, self.name = path.split(":")
        with _blamed("its version can't be read", path, "Make the version a plain text"):
            self.version = _version(self._object, module)
        self.given = self.settings = {"object": path, "module_sha256": _imported[file]}

    def rerank(self, query_text: str, documents: list[str]):
        """Whatever the object answers; raises whatever it raises, as an Exception."""
        try:
            return self._object.rerank(query_text, documents)
        except (Exception, KeyboardInterrupt):
            raise
        except BaseException as error:  # such as a CancelledError, which would end the whole search
            raise RuntimeError(said(error)) from error

    def notes(self) -> dict:
        return {}


@contextmanager
def _blamed(what: str, path: str, do: str) -> Iterator[None]:
    """Whatever the object's code raises becomes a SearchError; Ctrl-C and the kit's own pass."""
    try:
        yield
    except (KitError, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise SearchError(f"{what}: {said(error)}", f"object_system: {path}", do) from error


def _import(path: str) -> ModuleType:
    """The module, from the working folder, the project's root, or wherever Python looks.

    Raises SearchError when it can't be imported, or was edited since this process imported it.
    """
    if not {"", os.getcwd()} & set(sys.path):
        sys.path.insert(0, os.getcwd())
    if str(ROOT) not in sys.path:
        sys.path.append(str(ROOT))
    name = path.split(":")[0]
    importlib.invalidate_caches()  # the file may be newer than the last look into its folder
    with _blamed(f"the module '{name}' can't be imported", path, "Mend it, or run where it lies"):
        module = importlib.import_module(name)
    file = getattr(module, "__file__", None)
    digest = digest_of_file(Path(file)) if file and Path(file).is_file() else None
    if _imported.setdefault(name, digest) != digest:
        raise SearchError(f"the file of the module '{name}' was changed after it was imported",
                          f"object_system: {path}", "Restart the kernel")
    return module


def _make(module: ModuleType, path: str, call: str = "search(query_text, topk)"):
    name, method = path.split(":")[1], call.partition("(")[0]
    with _blamed(f"'{name}' can't be read", path, "Mend the object"):
        found = getattr(module, name, None)
        makes_one = isinstance(found, type) or (callable(found) and not hasattr(found, method))
    if found is None:
        raise SearchError(f"the module has no '{name}'", f"object_system: {path}",
                          "Name a class, an object or a function that makes one")
    if makes_one:
        with _blamed(f"calling '{name}' without arguments failed", path,
                     "Name a class or function that needs none, or an object"):
            found = found()
    with _blamed(f"its '{method}' can't be read", path, "Mend the object"):
        has_it = callable(getattr(found, method, None))
    if not has_it:
        raise SearchError(f"the object has no {call}", f"object_system: {path}",
                          "Give it that method")
    return found


def _version(*holders) -> str:
    """The first version that is stated, as one line."""
    names = ("__version__", "version")
    stated = (getattr(holder, name, None) for holder in holders for name in names)
    lines = (one_line(str(v), 80) for v in stated if isinstance(v, (str, int, float)))
    return next(filter(None, lines), "not stated")
