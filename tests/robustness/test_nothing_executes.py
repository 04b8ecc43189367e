"""What the kit reads is data: no file of a collection, model, run or cache runs code when it is opened."""

import ast
import pickle
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from kit.collection import registry
from kit.collection.sources import open_collection
from kit.errors import KitError
from kit.files import ROOT
from kit.params import load_params
from kit.retrieval import bm25_index, vectors
from kit.retrieval.external import open_run

# --- the sources ------------------------------------------------------------------------------------

MODULES = {"pickle", "_pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal", "code", "runpy", "pty"}
CALLS = {"eval", "exec", "compile", "__import__", "os.system", "os.popen", "os.posix_spawn", "subprocess.getoutput",
         "subprocess.getstatusoutput", "torch.load", "pd.read_pickle", "pandas.read_pickle", "yaml.load_all",
         "yaml.unsafe_load", "yaml.full_load", "yaml.unsafe_load_all", "yaml.full_load_all"}
ENDINGS = {"to_pickle", "read_pickle", "get_class_from_dynamic_module", "import_from_string"}
ALLOWED = {("kit/retrieval/foreign.py", "importlib.import_module")}  # of a module that a parameter names


def dotted(node) -> str:
    """`a.b.c` of an expression, "" for what is no name."""
    if isinstance(node, ast.Attribute):
        inner = dotted(node.value)
        return f"{inner}.{node.attr}" if inner else node.attr
    return node.id if isinstance(node, ast.Name) else ""


def safe_loaders(tree) -> set[str]:
    """The names of loaders of plain YAML that a module may give: PyYAML's, the kit's, and its own that
    are one."""
    safe = {"yaml.SafeLoader", "yaml.CSafeLoader"}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "kit.plain_yaml":
            safe |= {alias.name for alias in node.names} & {"Bounded"}
        if isinstance(node, ast.ClassDef) and any(dotted(base) in safe for base in node.bases):
            safe.add(node.name)
    return safe


def executing(source: str, name: str) -> list[str]:
    """What in a source runs code or opens what could, as "file:line what"."""
    tree, found = ast.parse(source), []
    loaders = safe_loaders(tree)
    for node in ast.walk(tree):
        said = []
        if isinstance(node, ast.Import):
            said = [a.name for a in node.names if a.name.split(".")[0] in MODULES]
        elif isinstance(node, ast.ImportFrom):
            said = [node.module] if (node.module or "").split(".")[0] in MODULES else [
                f"{node.module}.{a.name}" for a in node.names if f"{node.module}.{a.name}" in CALLS]
        elif isinstance(node, ast.Call):
            said = wrong_call(node, dotted(node.func), loaders)
        found += [f"{name}:{node.lineno} {what}" for what in said if (name, what) not in ALLOWED]
    return found


def wrong_call(node: ast.Call, called: str, loaders: set[str]) -> list[str]:
    given = {k.arg: k.value for k in node.keywords}
    true = {k for k, v in given.items() if not (isinstance(v, ast.Constant) and v.value in (False, None))}
    if called in CALLS or called.split(".")[-1] in ENDINGS or called.startswith(("os.exec", "os.spawn")):
        return [called]
    if called == "importlib.import_module":
        return [called]
    if called == "yaml.load":
        loader = given.get("Loader", node.args[1] if len(node.args) > 1 else None)
        return [] if dotted(loader) in loaders else ["yaml.load without a safe loader"]
    if called in ("np.load", "numpy.load") and (
            "allow_pickle" not in given or "allow_pickle" in true):
        return ["np.load that does not refuse pickles"]
    return [f"{name}=" for name in ("shell", "allow_pickle", "trust_remote_code") if name in true]


def test_no_source_of_the_kit_runs_code_from_data():
    files = sorted((ROOT / "kit").rglob("*.py"))
    assert len(files) > 50
    assert [line for f in files for line in executing(f.read_text("utf-8"), f.relative_to(ROOT).as_posix())] == []


@pytest.mark.parametrize("line", [
    "import pickle", "import joblib", "from pickle import loads", "from os import system", "eval('1')", "exec('x')",
    "os.system('x')", "os.execv('x', [])", "subprocess.run('x', shell=True)", "subprocess.run('x', shell=flag)",
    "yaml.load(text)", "yaml.load(text, Loader=yaml.Loader)", "yaml.load(text, yaml.FullLoader)",
    "yaml.unsafe_load(t)", "np.load(f)", "np.load(f, allow_pickle=True)", "np.save(f, a, allow_pickle=True)",
    "torch.load(f)", "frame.to_pickle(f)", "pd.read_pickle(f)", "importlib.import_module(name)",
    "SentenceTransformer(s, trust_remote_code=True)", "SentenceTransformer(s, trust_remote_code=flag)"])
def test_each_of_these_would_be_found(line):
    assert executing(f"x = 1\n{line}\n", "kit/made.py")[0].startswith("kit/made.py:2 ")


# --- what is planted ----------------------------------------------------------------------------------

class Acts:
    """Unpickled, it makes a file."""

    def __init__(self, place: Path):
        self.place = place

    def __reduce__(self):
        return Path.touch, (self.place,)


@pytest.fixture
def canary(tmp_path):
    """A file that is there as soon as something was executed."""
    place = tmp_path / "executed"
    pickle.loads(pickle.dumps(Acts(place)))
    assert place.exists()  # it does act
    place.unlink()
    yield place
    assert not place.exists()


def test_a_pickle_in_the_place_of_vectors_is_made_anew(canary, tmp_path):
    made = vectors.Encoded(np.ones((2, 3), np.float32), 0)
    arguments = (tmp_path / "vectors", "key", 2, 3, "float32", ["a", "b"], lambda texts: made, "x")
    vectors.keep(*arguments)
    array, = (tmp_path / "vectors").rglob("vectors.npy")
    np.save(array, np.array([[Acts(canary)] * 3] * 2), allow_pickle=True)
    assert (vectors.keep(*arguments).vectors == 1).all()


def test_a_pickle_in_the_place_of_counts_is_made_anew(canary, tmp_path):
    def opened():
        return bm25_index.kept(tmp_path / "bm25", {"k": 1}, lambda: bm25_index.counted(["valve seat", "valve"]))
    before = opened().counts.data.tolist()
    for array in (tmp_path / "bm25").rglob("*.npy"):
        np.save(array, np.array([Acts(canary)]), allow_pickle=True)
    assert opened().counts.data.tolist() == before == [1, 1, 1]


def planted_type(canary):
    """A function that states, in a table's schema, a type that old readers would have unpickled."""
    def plant(table: pa.Table) -> pa.Table:
        place = table.schema.get_field_index("title")
        stated = {"ARROW:extension:name": "arrow.py_extension_type",
                  "ARROW:extension:metadata": pickle.dumps(Acts(canary))}
        return pa.Table.from_arrays(table.columns, schema=table.schema.set(
            place, table.schema.field(place).with_metadata(stated)))
    return plant


def test_a_type_that_parquet_states_is_not_unpickled(canary, tmp_path, make_collection):
    folder = make_collection(tmp_path, tweak={"corpus": planted_type(canary)})
    collection = open_collection(str(folder))
    assert [row for b in collection.batches("corpus", ["title"]) for row in b["title"]][0] == "Valve d1"


def test_a_run_file_is_not_unpickled(canary, tmp_path, make_collection):
    collection = open_collection(str(make_collection(tmp_path)))
    (tmp_path / "run.trec").write_bytes(pickle.dumps(Acts(canary)))
    with pytest.raises(KitError):
        open_run(tmp_path / "run.trec", collection)


def yaml_that_acts(canary) -> str:
    return f"!!python/object/apply:pathlib.Path.touch [!!python/object/apply:pathlib.Path ['{canary}']]"


def test_yaml_makes_no_objects_at_any_door(canary, tmp_path, make_collection, monkeypatch):
    acting = yaml_that_acts(canary)
    (tmp_path / "params.yaml").write_text(f"experiment: {acting}\n")
    with pytest.raises(KitError):
        load_params(tmp_path / "params.yaml")
    with pytest.raises(KitError):
        load_params(None, [("depth", acting)])
    (tmp_path / "registry.yaml").write_text(f"mine: {acting}\n")
    monkeypatch.setenv("KIT_REGISTRY", str(tmp_path / "registry.yaml"))
    with pytest.raises(KitError):
        registry.registry()
    monkeypatch.delenv("KIT_REGISTRY")
    folder = make_collection(tmp_path, name="with-readme")
    readme = folder / "README.md"
    readme.write_text(readme.read_text().replace("configs:", f"made: {acting}\nconfigs:", 1))
    with pytest.raises(KitError):
        open_collection(str(folder))


def test_a_script_in_a_collections_folder_is_not_run(canary, tmp_path, make_collection):
    folder = make_collection(tmp_path, name="scripted")
    for name in ("scripted.py", "conftest.py", "__init__.py", "dataset.py"):
        (folder / name).write_text(f"open({str(canary)!r}, 'w')\n")
    with pytest.raises(KitError, match="scripts are no longer supported"):  # of the folder's own name
        open_collection(str(folder))
    (folder / "scripted.py").unlink()
    assert len(open_collection(str(folder)).ids("corpus")) == 3


@pytest.mark.parametrize("path", ["http://127.0.0.1:9/x.parquet", "../other/corpus/*.parquet", "/etc/*.parquet",
                                  "zip://x::http://127.0.0.1:9/x", "~/x.parquet", "..\\other\\x.parquet",
                                  "hf://datasets/a/b/x.parquet", "memory://x.parquet"])
def test_a_readme_names_no_file_outside_its_folder(tmp_path, make_collection, path):
    make_collection(tmp_path, name="other")
    folder = make_collection(tmp_path)
    readme = folder / "README.md"
    readme.write_text(readme.read_text().replace("corpus/*.parquet", f"'{path}'"))
    with pytest.raises(KitError, match="lies outside the folder"):
        open_collection(str(folder))
