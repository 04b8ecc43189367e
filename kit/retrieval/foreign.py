"""A Python object as a system: `module:name` with `search(query_text, topk)`.

A class is called without arguments, and so is a function that makes an object; an object is used as
it is. If it has `prepare(ids, texts)` it gets the corpus before the first query.
"""

import importlib
import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

from kit.errors import KitError, SearchError
from kit.files import ROOT, digest_of_file
from kit.params import Params
from kit.retrieval.system import said

_FORM = re.compile(r"\w+(\.\w+)*:\w+")
_imported: dict[str, str | None] = {}  # the digest that a module's file had when it was imported


class Foreign:
    """Somebody's object; its version is its own or its module's, else "not stated"."""

    def __init__(self, path: str):
        if not _FORM.fullmatch(path):
            raise SearchError("an object is named module:name", f"object_system: {path}",
                              "Give one such as mysearch:Engine")
        module = _import(path)
        file, self.name = path.split(":")
        self._path, self._object = path, _make(module, path)
        self.version = _version(self._object, module)
        # code can change under one name: the file that holds it is part of what was searched with
        self.given = self.settings = {"object": path, "module_sha256": _imported[file]}
        if callable(getattr(self._object, "prepare", None)):
            self.prepare = self._prepare

    @classmethod
    def from_params(cls, params: Params) -> "Foreign":
        if params.object_system is None:
            raise SearchError("the object is not named", "object_system",
                              "Set it, such as mysearch:Engine")
        return cls(params.object_system)

    def search(self, query_text: str, topk: int) -> list[str]:
        """The object's identifiers; raises whatever it raises."""
        found = self._object.search(query_text, topk)
        if isinstance(found, (str, bytes, dict, set, frozenset)):  # no ranking
            raise TypeError(f"a {type(found).__name__} where a list of identifiers is asked for")
        return list(found)

    def notes(self) -> dict:
        return {}

    def _prepare(self, ids: list[str], texts: Iterable[str]) -> None:
        """Hands over the corpus. texts: an iterator over n texts, in the order of the n ids."""
        try:
            self._object.prepare(list(ids), texts)
        except KitError:
            raise
        except (Exception, SystemExit) as error:
            raise SearchError(f"prepare failed: {said(error)}", f"object_system: {self._path}",
                              "Mend the object") from error


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
    try:
        module = importlib.import_module(name)
    except (Exception, SystemExit) as error:
        raise SearchError(f"the module '{name}' can't be imported: {said(error)}",
                          f"object_system: {path}", "Mend it, or run where it lies") from error
    file = getattr(module, "__file__", None)
    digest = digest_of_file(Path(file)) if file and Path(file).is_file() else None
    if _imported.setdefault(name, digest) != digest:
        raise SearchError(f"the file of the module '{name}' was changed after it was imported",
                          f"object_system: {path}", "Restart the kernel")
    return module


def _make(module: ModuleType, path: str):
    name = path.split(":")[1]
    found = getattr(module, name, None)
    if found is None:
        raise SearchError(f"the module has no '{name}'", f"object_system: {path}",
                          "Name a class, an object or a function that makes one")
    if isinstance(found, type) or (callable(found) and not hasattr(found, "search")):
        try:
            found = found()
        except (Exception, SystemExit) as error:
            raise SearchError(f"calling '{name}' without arguments failed: {said(error)}",
                              f"object_system: {path}",
                              "Name a class or function that needs none, or an object") from error
    if not callable(getattr(found, "search", None)):
        raise SearchError("the object has no search(query_text, topk)", f"object_system: {path}",
                          "Give it that method")
    return found


def _version(*holders) -> str:
    names = ("__version__", "version")
    stated = (getattr(holder, name, None) for holder in holders for name in names)
    return next((str(v) for v in stated if isinstance(v, (str, int, float)) and str(v).strip()),
                "not stated")
