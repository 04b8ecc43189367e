"""A model's folder brings weights and settings; whatever code it brings or names is not run."""

import json
import pickle
from pathlib import Path

import pytest

from kit.errors import SearchError
from kit.retrieval.dense import Dense
from kit.retrieval.encode import load


class Acts:
    def __init__(self, place: Path):
        self.place = place

    def __reduce__(self):
        return Path.touch, (self.place,)


@pytest.fixture
def canary(tmp_path, monkeypatch):
    """A file that is there as soon as a module `brought` or a pickle was executed; the working folder,
    where Python looks for modules, has a `brought` too."""
    place = tmp_path / "executed"
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "brought.py").write_text(code(place))
    yield place
    assert not place.exists()


def code(canary: Path) -> str:
    return (f"open({str(canary)!r}, 'w').close()\nimport torch\nclass Module(torch.nn.Module):\n"
            "    load = classmethod(lambda cls, *a, **k: cls())\n")


def edit(path: Path, change) -> None:
    stated = json.loads(path.read_text())
    path.write_text(json.dumps(change(stated) or stated))


def names(kind: str):
    """A change of modules.json: its pooling is of that class."""
    def change(folder, canary):
        edit(folder / "modules.json", lambda stated: stated[1].update(type=kind))
    return change


def maps(file: str, key: str, value):
    """A change that states an automatic class of the folder's own code."""
    def change(folder, canary):
        edit(folder / file, lambda stated: stated.update({"auto_map": {key: value}}))
        if file == "config.json":
            edit(folder / file, lambda stated: stated.update({"model_type": "brought"}))
    return change


def head(activation: str):
    def change(folder, canary):
        edit(folder / "modules.json", lambda stated: stated.append(
            {"idx": 2, "name": "2", "path": "2_Dense", "type": "sentence_transformers.models.Dense"}))
        (folder / "2_Dense").mkdir()
        (folder / "2_Dense" / "config.json").write_text(json.dumps(
            {"in_features": 32, "out_features": 8, "bias": True, "activation_function": activation}))
        (folder / "2_Dense" / "pytorch_model.bin").write_bytes(pickle.dumps(Acts(canary)))
    return change


def pickled(folder, canary):
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Acts(canary)))


NAMED, BROUGHT, PICKLED = "is no module of a model that the kit loads", "code of its own", "pickled weights are not read"
REFUSED = {"a class of the folder": (names("brought.Module"), NAMED),
           "a class by its file": (names("brought--Module"), NAMED),
           "a function of Python": (names("os.system"), NAMED),
           "a relative class": (names(".brought.Module"), NAMED),
           "a function of the library's": (names("sentence_transformers.util.misc.import_from_string"), NAMED),
           "a model's code": (maps("config.json", "AutoModel", "brought.Module"), "model type `brought`"),
           "a configuration's code": (maps("config.json", "AutoConfig", "brought.Module"), BROUGHT),
           "a head's pickle": (head("torch.nn.modules.activation.Tanh"), PICKLED),
           "pickled weights": (pickled, PICKLED)}


@pytest.mark.parametrize("change, said", REFUSED.values(), ids=REFUSED)
def test_it_is_refused_and_not_run(folder, canary, change, said):
    (folder / "brought.py").write_text(code(canary))
    change(folder, canary)
    with pytest.raises(SearchError, match=said) as error:
        vector(folder)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("kind", ["brought.Module", "os.system"])
def test_the_library_itself_refuses_what_a_hub_model_names(folder, canary, kind):
    """A hub model is loaded before its files can be looked at: there the pinned version's own door holds."""
    names(kind)(folder, canary)
    with pytest.raises(SearchError, match=BROUGHT):
        load(str(folder), None, "cpu")


def vector(folder):
    made = Dense(str(folder), pooling="mean", query_prompt="", corpus_prompt="", device="cpu")
    made.prepare(["d"], ["valve"])
    return made.search_batch(["valve"], 1)[0]


def test_a_pickle_beside_the_weights_is_not_opened(folder, canary):
    before = vector(folder)
    for name in ("pytorch_model.bin", "training_args.bin", "model.pkl", "optimizer.pt"):
        (folder / name).write_bytes(pickle.dumps(Acts(canary)))
    assert vector(folder).scores == before.scores


def test_a_tokenizers_code_is_not_run(folder, canary):
    (folder / "brought.py").write_text(code(canary))
    maps("tokenizer_config.json", "AutoTokenizer", ["brought.Module", "brought.Module"])(folder, canary)
    try:
        vector(folder)  # a tokenizer.json is enough, whatever class is stated beside it
    except SearchError as error:
        assert "\n" not in str(error)


def test_no_parameter_runs_a_models_code():
    from kit.params import FIELDS
    assert [name for name in FIELDS if "remote" in name or "trust" in name] == []
