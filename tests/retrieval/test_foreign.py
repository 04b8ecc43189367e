"""A Python object as a system: how it is found and made, what it may do, what its run says."""

import itertools
import sys

import pytest

from kit.collection.sources import open_collection
from kit.errors import CollectionError, SearchError
from kit.params import Params
from kit.retrieval import foreign
from kit.retrieval.execute import require_ready, retrieve
from kit.retrieval.foreign import Foreign

numbers = itertools.count()
QUERY_IDS, DOC_IDS = ["d0", "q1", "q2"], ["d0", "d1", "d2", "d3"]
PLAIN = """
class Engine:
    def search(self, query_text, topk):
        return ["d3", "d2", "d1", "d0"][:topk]
"""
RAISING = """
    @property
    def {}(self):
        raise ValueError("no")
"""


@pytest.fixture(scope="module")
def collection(tmp_path_factory, make_collection):
    folder = make_collection(tmp_path_factory.mktemp("foreign"), QUERY_IDS, DOC_IDS,
                             [(q, "d1") for q in QUERY_IDS])
    return open_collection(str(folder))


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A function that writes a module into the working folder, and gives its name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def write(source):
        name = f"somebodys{next(numbers)}"
        (tmp_path / f"{name}.py").write_text(source, encoding="utf-8")
        return name
    return write


@pytest.fixture
def search(collection, tmp_path):
    def run(path, **given):
        return retrieve(collection, "object", Params(**{
            "object_system": path, "outputs": str(tmp_path / "outputs"), "depth": 2, **given}))
    return run


@pytest.mark.parametrize("source, name", [
    (PLAIN, "Engine"), (PLAIN + "engine = Engine()", "engine"),
    (PLAIN + "def make(): return Engine()", "make"), (PLAIN + "make = lambda: Engine()", "make"),
    ("import types\nengine = types.SimpleNamespace(search=lambda q, k: ['d3'])", "engine")])
def test_a_class_an_object_or_a_function_that_makes_one(module, source, name):
    assert Foreign(f"{module(source)}:{name}").search("text", 1) == ["d3"]


def test_an_object_that_can_be_called_is_used_as_it_is(module):
    name = module(PLAIN + "    def __call__(self):\n        raise SystemExit\nengine = Engine()")
    assert Foreign(f"{name}:engine").search("text", 1) == ["d3"]


def test_a_module_in_a_package(module, tmp_path):
    module("")
    (tmp_path / "somepackage").mkdir()
    (tmp_path / "somepackage" / "inside.py").write_text(PLAIN)
    assert Foreign("somepackage.inside:Engine").search("text", 1) == ["d3"]


def test_its_run_is_its_order_without_own_entries(module, search):
    saved = search(f"{module(PLAIN)}:Engine", depth=4)
    assert saved.table.to_pydict()["doc_id"] == ["d3", "d2", "d1"] + ["d3", "d2", "d1", "d0"] * 2
    assert (saved.system, saved.manifest["status"]) == ("Engine", "complete")


READER = """
from pathlib import Path
class Engine:
    def prepare(self, ids, texts):
        self.read = dict(zip(ids, texts, strict=True))
    def search(self, query_text, topk):
        return [i for i, text in self.read.items() if text == f"Valve {i}" and i != "d2"][:topk]
"""


def test_one_with_prepare_gets_the_corpus_in_the_declared_view(module, search):
    saved = search(f"{module(READER)}:Engine", corpus_view="title", depth=4)
    assert [r["doc_id"] for r in saved.table.to_pylist() if r["query_id"] == "q1"] == ["d0", "d1", "d3"]
    assert saved.manifest["views"]["corpus"]["view"] == "title"
    assert saved.manifest["cost"]["index_seconds"] > 0


def test_one_without_prepare_has_a_corpus_of_its_own(module, search):
    manifest = search(f"{module(PLAIN)}:Engine").manifest
    assert manifest["views"]["corpus"] == {"view": "the system's own"}
    assert manifest["cost"]["index_seconds"] is None


@pytest.mark.parametrize("source, version", [
    (PLAIN, "not stated"), (PLAIN + "    version = '1.2'", "1.2"), (PLAIN + "    __version__ = 3", "3"),
    (PLAIN + "    version = ''", "not stated"), (PLAIN + "    def version(self): ...", "not stated"),
    (PLAIN + "    version = 'a\\ud800\\n b'", "a\\ud800 b"),
    (PLAIN + "    version = '1\\n' * 5000", ("1 " * 40).strip()),
    (PLAIN + "__version__ = '4.5'", "4.5"), (PLAIN + "    version = '1.2'\n__version__ = '4.5'", "1.2")])
def test_its_version_is_its_own_or_its_modules(module, source, version):
    assert Foreign(f"{module(source)}:Engine").version == version


def test_code_that_was_changed_is_another_run(module, search, monkeypatch, tmp_path):
    name = module(PLAIN)
    first = search(f"{name}:Engine")
    (tmp_path / f"{name}.py").write_text(PLAIN.replace('"d3", "d2"', '"d2", "d3"'))
    sys.modules.pop(name)  # as in another process
    monkeypatch.setattr(foreign, "_imported", {})
    second = search(f"{name}:Engine")
    assert first.folder != second.folder and not first.table.equals(second.table)


def test_a_module_that_was_edited_since_its_import_is_refused(module, tmp_path):
    """The old code would run, and the new code's digest stand on the run."""
    name = module(PLAIN)
    Foreign(f"{name}:Engine")
    (tmp_path / f"{name}.py").write_text(PLAIN + "# more")
    with pytest.raises(SearchError, match="was changed after it was imported.*Restart the kernel"):
        Foreign(f"{name}:Engine")


@pytest.mark.parametrize("source, name, said", [
    (None, "Engine", r"can't be imported: ModuleNotFoundError"),
    ("def broken(:", "Engine", "can't be imported: .*SyntaxError"),
    ("raise ValueError('two\\nlines')", "Engine", "can't be imported: ValueError: two lines"),
    ("import sys; sys.exit(3)", "Engine", "can't be imported: SystemExit: 3"),
    ("import nowhere_to_be_found", "Engine", "No module named 'nowhere_to_be_found'"),
    ("", "Engine", "the module has no 'Engine'"), ("Engine = 3", "Engine", r"no search\("),
    ("class Engine: ...", "Engine", r"no search\("), ("class Engine: search = 3", "Engine", r"no search\("),
    ("class Engine:\n    def __init__(self, model): ...", "Engine",
     "calling 'Engine' without arguments failed: TypeError"),
    ("def make(): raise SystemExit", "make", "calling 'make' without arguments failed: SystemExit"),
    ("def search(query_text, topk): ...", "search", "calling 'search' without arguments failed"),
    ("def make(): raise GeneratorExit", "make", "arguments failed: GeneratorExit"),
    (PLAIN + RAISING.format("version"), "Engine", "its version can't be read: ValueError: no"),
    (PLAIN + RAISING.format("prepare"), "Engine", "its 'prepare' can't be read: ValueError: no"),
    ("class Engine:" + RAISING.format("search"), "Engine", "its 'search' can't be read: ValueError"),
    ("def __getattr__(name): raise ValueError(name)", "Engine",
     "'Engine' can't be read: ValueError: Engine")])
def test_what_is_no_system_is_one_line_before_anything_is_searched(
        collection, module, source, name, said):
    where = module(source) if source is not None else "nowhere_at_all"
    with pytest.raises(SearchError, match=f"{said}.*object_system: {where}:{name}") as error:
        require_ready(collection, Params(systems=["object"], object_system=f"{where}:{name}"))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("path", ["", "module", "module.name", "module:", ":name", "a:b:c", "a/b.py:c",
                                  "a:b()", "..a:b"])
def test_what_is_no_path_to_an_object(path):
    with pytest.raises(SearchError, match="named module:name"):
        Foreign(path)


def test_an_object_that_is_not_named_is_refused(collection):
    with pytest.raises(SearchError, match="not named.*object_system"):
        require_ready(collection, Params(systems=["object"]))


@pytest.mark.parametrize("line, said", [
    ("raise KeyError('lost')", "KeyError: 'lost'"), ("raise SystemExit(2)", "SystemExit: 2"),
    ("raise ValueError('two\\n lines \\ud800')", "ValueError: two lines \\ud800"),
    ("return None", "TypeError"), ("return 'd1'", "a str where a list"),
    ("return {'d1': 1.0}", "a dict where a list"), ("return {'d1'}", "a set where a list"),
    ("return [('d1', 0.5)]", "('d1', 0.5) where an identifier"), ("return ['d1', 'd1']", "'d1' twice"),
    ("return ['nn']", "'nn', which the corpus lacks"), ("return ['d1'] * 9", "more identifiers than the 4"),
    ("raise GeneratorExit", "RuntimeError: GeneratorExit"),
    ("import asyncio; raise asyncio.CancelledError", "asyncio.exceptions.CancelledError"),
    ("return itertools.count()", "more identifiers than the 4"),
    ("return (1 / (1 - i) for i in range(4))", "ZeroDivisionError"),
    ("raise ValueError('x' * 10_000)", "ValueError: xxx")])
def test_what_it_does_on_one_query_is_that_querys_failure(module, search, line, said):
    source = "import itertools" + PLAIN.replace("        return", f"        if 'q1' in query_text:\n            {line}\n        return")
    manifest = search(f"{module(source)}:Engine").manifest
    fault, = manifest["failures"]
    assert fault["query_id"] == "q1" and said in fault["fault"] and len(fault["fault"]) <= 300
    assert manifest["status"] == "incomplete"


@pytest.mark.parametrize("found", ["('d3', 'd2')", "(i for i in ['d3', 'd2'])", "numpy.array(['d3', 'd2'])"])
def test_any_ordered_collection_of_identifiers_will_do(module, search, found):
    source = f"import numpy\nclass Engine:\n    def search(self, query_text, topk):\n        return {found}"
    saved = search(f"{module(source)}:Engine")
    assert saved.table.to_pydict()["doc_id"] == ["d3", "d2"] * 3 and not saved.manifest["failures"]


def test_a_prepare_that_fails_is_one_line(module, search):
    source = PLAIN + "    def prepare(self, ids, texts):\n        raise MemoryError('too\\nmuch')"
    with pytest.raises(SearchError, match="prepare failed: MemoryError: too much") as error:
        search(f"{module(source)}:Engine")
    assert "\n" not in str(error.value)


def test_a_corpus_that_can_not_be_read_is_not_blamed_on_the_object(module):
    def unreadable():
        raise CollectionError("bytes that are no text")
        yield
    with pytest.raises(CollectionError):
        Foreign(f"{module(READER)}:Engine").prepare(["d0"], unreadable())
