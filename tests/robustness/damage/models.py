"""Damaged model folders: `kit models verify NAME FOLDER`, and what is found when one is loaded."""

import json
import shutil

from damage.harness import Damage

FETCH = "Fetch the model's folder anew"
GIVE = "Give a sentence-transformers"
LISTED = "all-minilm-l6-v2"


def _json(name: str, change):
    """Changes a JSON file of the folder: its text, or its values."""
    def to(folder):
        path = folder / name
        text = path.read_text()
        path.write_text(change if isinstance(change, str) else json.dumps(change(json.loads(text))))
    return to


def _raw(name: str, change):
    return lambda folder: (folder / name).write_bytes(change((folder / name).read_bytes()))


def _header(length: int, text: bytes):
    return lambda raw: length.to_bytes(8, "little") + text


def _with(**values):
    return lambda stated: {**stated, **values}


WEIGHTS = [  # what became of model.safetensors
    ("empty", lambda raw: b""), ("of eight bytes", lambda raw: raw[:8]), ("cut to a half", lambda raw: raw[:len(raw) // 2]),
    ("cut by a byte", lambda raw: raw[:-1]), ("longer by a byte", lambda raw: raw + b"\0"),
    ("of junk", lambda raw: b"junk" * 100), ("of a pickle", lambda raw: b"\x80\x04\x95\x10" + bytes(90)),
    ("of a zip", lambda raw: b"PK\x03\x04" + bytes(90)), ("of text", lambda raw: b"version https://git-lfs.github.com/spec/v1\n"),
    ("with an absurd header", _header(2**63, b"{}")), ("with a header of a gigabyte", _header(2**30, b"{}")),
    ("with a header of nothing", _header(0, b"")), ("with a header beyond its end", _header(99, b"{}")),
    ("with a list as header", _header(2, b"[]")), ("with no tensor", _header(2, b"{}")),
    ("with a header of junk", _header(4, b"\xff\xff\xff\xff")), ("with a nest as header", _header(90_000, b"[" * 90_000)),
    ("with a tensor of no place", _header(12, b'{"a":{"x":1}')), ("with a place below nothing", _header(30, b'{"a":{"data_offsets":[0,-38]}}')),
    ("with a place of texts", _header(34, b'{"a":{"data_offsets":["0","4"]}}  ')),
]
JSONS = [  # file, change, what
    ("config.json", "[]", "config.json of the model is damaged: it is no JSON object"),
    ("config.json", "{", "config.json of the model is damaged: it can't be read"),
    ("config.json", "", "config.json of the model is damaged: it can't be read"),
    ("config.json", "[" * 100_000, "config.json of the model is damaged: it can't be read"),
    ("config.json", '"bert"', "config.json of the model is damaged: it is no JSON object"),
    ("modules.json", "{}", "modules.json of the model is damaged: it is no JSON list"),
    ("modules.json", "[1]", "modules.json of the model is damaged: a module lacks type or path"),
    ("modules.json", "[{", "modules.json of the model is damaged: it can't be read"),
    ("modules.json", lambda m: [{**m[0], "path": 5}, *m[1:]], "a module lacks type or path"),
    ("modules.json", lambda m: [{**m[0], "type": None}, *m[1:]], "a module lacks type or path"),
    ("modules.json", lambda m: [m[0]], "the folder holds 1_Pooling, which modules.json leaves out"),
    ("modules.json", lambda m: [*m, m[1]], "the folder has more than one pooling module"),
    ("modules.json", lambda m: [m[0], {**m[1], "path": "../aside"}], "modules.json names '../aside', which lies outside"),
    ("modules.json", lambda m: [m[0], {**m[1], "path": "/etc"}], "modules.json names '/etc', which lies outside"),
    ("modules.json", lambda m: [m[0], {**m[1], "path": "a\0b"}], "which lies outside the folder"),
    ("modules.json", lambda m: [m[0], {**m[1], "path": "gone"}], "which modules.json leaves out"),
    ("1_Pooling/config.json", "[]", "config.json of the model is damaged: it is no JSON object"),
    ("1_Pooling/config.json", _with(pooling_mode=5), "its pooling_mode is no text"),
    ("config_sentence_transformers.json", "[]", "it is no JSON object"),
    ("config_sentence_transformers.json", "nul", "it can't be read"),
    ("sentence_bert_config.json", "[]", "it is no JSON object"),
    ("tokenizer_config.json", "{", "it can't be read"),
]
PLACES = [
    ("no weights", lambda f: (f / "model.safetensors").unlink(), "holds no .safetensors weights", "tiny", GIVE),
    ("pickled weights alone", lambda f: (f / "model.safetensors").rename(f / "pytorch_model.bin"), "holds no .safetensors", "tiny",
     GIVE),
    ("weights that are a folder", lambda f: ((f / "model.safetensors").unlink(), (f / "model.safetensors").mkdir()),
     "model.safetensors of the model is damaged: it is not whole", "tiny/model.safetensors", FETCH),
    ("weights that link to nowhere", lambda f: ((f / "model.safetensors").unlink(),
                                                (f / "model.safetensors").symlink_to("nowhere")),
     "model.safetensors of the model is damaged", "tiny/model.safetensors", FETCH),
    ("a config that links to nowhere", lambda f: ((f / "config.json").unlink(), (f / "config.json").symlink_to("nowhere")),
     "config.json of the model is damaged: it can't be read", "tiny/config.json", FETCH),
    ("no pooling config", lambda f: (f / "1_Pooling" / "config.json").unlink(), "it is missing, and modules.json names it",
     "1_Pooling/config.json", FETCH),
    ("no folder", lambda f: shutil.rmtree(f), "no such model folder", "tiny", "Give a model's folder"),
    ("a file as folder", lambda f: (shutil.rmtree(f), f.write_text("x")), "no such model folder", "tiny", "Give a model's folder"),
]
LOADED = [  # found when it is loaded
    ("no tokenizer", lambda f: [(f / n).unlink() for n in ("tokenizer.json", "tokenizer_config.json")], "the model has no tokenizer",
     "tiny", FETCH),
    ("a tokenizer of junk", _json("tokenizer.json", "{}"), "the model can't be loaded", "tiny", GIVE),
    ("a tokenizer that is cut", _raw("tokenizer.json", lambda raw: raw[:len(raw) // 2]), "the model can't be loaded", "tiny", GIVE),
    ("a tokenizer of more tokens", _json("tokenizer.json", lambda t: {**t, "model": {**t["model"], "vocab": {
        **t["model"]["vocab"], "boiler": 999}}}), "the tokenizer is another model's: it has the token 999", "tiny", FETCH),
    ("a config of another kind", _json("config.json", _with(model_type="no-such-model")), "the model can't be loaded", "tiny", GIVE),
    ("a config without a kind", _json("config.json", lambda c: {k: v for k, v in c.items() if k != "model_type"}),
     "the model can't be loaded", "tiny", GIVE),
    ("a width of another model", _json("config.json", _with(hidden_size=48)), "the model can't be loaded", "tiny", GIVE),
    ("a width that is a text", _json("config.json", _with(hidden_size="wide")), "the model can't be loaded", "tiny", GIVE),
    ("a layer less in the weights' header", _raw("model.safetensors", lambda raw: raw.replace(b"layer.1.", b"layer.7.")),
     "its weights lack", "tiny", FETCH),
    ("code of its own in the config", _json("config.json", _with(auto_map={"AutoModel": "evil.Model"}, model_type="evil")),
     "the model can't be loaded", "tiny", GIVE),
    ("a module of another package", _json("modules.json", lambda m: [{**m[0], "type": "os.path.join"}, *m[1:]]),
     "modules.json names 'os.path.join', which is no module", "tiny", "code that a model brings is not run"),
    ("a module of the folder's own code", _json("modules.json", lambda m: [{**m[0], "type": "evil.Model"}, *m[1:]]),
     "modules.json names 'evil.Model', which is no module", "tiny", "code that a model brings is not run"),
    ("a limit below nothing", _json("sentence_bert_config.json", _with(max_seq_length=-5)), "its max_seq_length is -5",
     "tiny/sentence_bert_config.json", FETCH),
]


def _verify(change):
    def make(model):
        change(model.path / "tiny")
        return ["models", "verify", LISTED, model.path / "tiny"]
    return make


DAMAGES = [
    *(Damage(f"weights {name}", _verify(_raw("model.safetensors", change)), "model.safetensors of the model is damaged: it is not "
             "whole", "tiny/model.safetensors", FETCH) for name, change in WEIGHTS),
    *(Damage(f"{name} {n}", _verify(_json(name, change)), what, "tiny", "." if "leaves out" in what else "Give a" if
             "outside" in what or "more than one" in what else FETCH) for n, (name, change, what) in enumerate(JSONS)),
    *(Damage(name, _verify(change), *said) for name, change, *said in PLACES),
]
# to be met by a load: make changes the folder, and returns no command
LOADS = [Damage(name, lambda model, change=change: change(model.path / "tiny"), *said) for name, change, *said in LOADED]
