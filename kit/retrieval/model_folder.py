"""What a model's folder, in the hub's layout, states of itself: pooling, dense head, prompts, limit."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from kit.errors import SearchError
from kit.files import regular, resolved

POOLINGS = {"pooling_mode_cls_token": "cls", "pooling_mode_max_tokens": "max",
            "pooling_mode_mean_tokens": "mean", "pooling_mode_lasttoken": "lasttoken",
            "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
            "pooling_mode_weightedmean_tokens": "weightedmean"}
KINDS = ("Transformer", "Pooling", "Dense", "Normalize", "LayerNorm", "Dropout")
ROLES = {"query": ("query", "q_text"), "corpus": ("document", "passage", "corpus", "pos_text")}


@dataclass(frozen=True)
class Seen:
    """What a model's folder states of itself; None: its files do not say.

    pooling: a way, or several joined by +. dense: {dimensions, activation}, {} without a head.
    prompts: {query: texts, corpus: texts, "": texts by other names}, all that the folder holds.
    """

    pooling: str | None
    dense: dict | None
    prompts: dict[str, frozenset]
    default_prompt: str
    max_tokens: int | None
    dimensions: int | None
    remote_code: bool


def read_folder(folder: Path) -> Seen:
    """What the folder's own files state. Raises SearchError for one that is damaged: a file that
    can't be read, a module without its files, a module's folder that modules.json leaves out."""
    if not folder.is_dir():
        raise SearchError("there is no such model folder", folder, "Give a model's folder")
    config = _json(folder / "config.json", {})
    modules = _json(folder / "modules.json", None)
    parts = _parts(folder, modules)
    pooling = _pooling(folder, parts)
    heads = [_head(folder, path) for kind, path in parts if kind == "Dense"]
    if len(heads) > 1:
        raise SearchError("the folder has more than one dense head", folder,
                          "Give a model of one head at most")
    width = pooling.get("word_embedding_dimension", pooling.get("embedding_dimension"))
    said = _json(folder / "config_sentence_transformers.json", {})
    _require_weights(folder)
    return Seen(
        pooling=pooling.get("way"), dense=None if modules is None else (heads[0] if heads else {}),
        prompts=_prompts(said.get("prompts") or {}), default_prompt=_default_prompt(said),
        max_tokens=_limit(folder, config),
        dimensions=heads[0]["dimensions"] if heads else width or config.get("hidden_size"),
        remote_code="auto_map" in config)


def _json(path: Path, otherwise):
    """A JSON file of the kind that the other modules expect, or what stands for one that is not
    there."""
    if not path.exists() and not path.is_symlink():  # a link to nowhere is a file that was lost
        return otherwise
    kind = list if path.name == "modules.json" else dict
    try:
        value = json.loads(regular(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise _damaged(path, f"it can't be read: {type(error).__name__}") from error
    if not isinstance(value, kind):
        raise _damaged(path, f"it is no JSON {'list' if kind is list else 'object'}")
    return value


def _damaged(path: Path, what: str) -> SearchError:
    return SearchError(f"{path.name} of the model is damaged: {what}", path,
                       "Fetch the model's folder anew")


def _parts(folder: Path, modules: list | None) -> list[tuple[str, str]]:
    """(kind, path) of each module, such as ("Pooling", "1_Pooling")."""
    stated, home = [m if isinstance(m, dict) else {} for m in modules or ()], resolved(folder)
    if not all(isinstance(m.get(name), str) for m in stated for name in ("type", "path")):
        raise _damaged(folder / "modules.json", "a module lacks type or path")
    foreign = next((m["type"] for m in stated if not m["type"].startswith("sentence_transformers.")
                    or m["type"].split(".")[-1] not in KINDS), None)
    if foreign is not None:  # to load it would run whatever code bears that name
        raise SearchError(f"modules.json names {foreign[:80]!r}, which is no module of a model that the "
                          "kit loads", folder, f"Give a model of {', '.join(KINDS)}; code that a model "
                          "brings is not run")
    parts = [(m["type"].split(".")[-1], m["path"]) for m in stated]
    outside = next((path for _, path in parts if "\0" in path
                    or not resolved(folder / path).is_relative_to(home)), None)
    if outside is not None:  # no digest of the folder would cover it
        raise SearchError(f"modules.json names {outside[:80]!r}, which lies outside the folder", folder,
                          "Give a folder that holds all of its modules")
    unnamed = [f.name for f in sorted(folder.iterdir()) if f.is_dir()
               and re.fullmatch(r"\d+_[A-Za-z]\w*", f.name) and f.name not in [p for _, p in parts]
               and (f / "config.json").exists()]
    if unnamed:
        raise SearchError(f"the folder holds {unnamed[0]}, which modules.json leaves out", folder,
                          "Restore modules.json, or take the module's folder away")
    return parts


def _pooling(folder: Path, parts: list) -> dict:
    """The pooling module's configuration, its way under "way"; {} without a module."""
    paths = [path for kind, path in parts if kind == "Pooling"]
    if not paths:
        return {}
    if len(paths) > 1:
        raise SearchError("the folder has more than one pooling module", folder,
                          "Give a model that pools once")
    path = paths[0]
    config = _json(folder / path / "config.json", None)
    if config is None:
        raise _damaged(folder / path / "config.json", "it is missing, and modules.json names it")
    ways = config.get("pooling_mode") or [w for key, w in POOLINGS.items() if config.get(key)]
    ways = [ways] if isinstance(ways, str) else ways
    if not isinstance(ways, list):
        raise _damaged(folder / path / "config.json", "its pooling_mode is no text")
    return {**config, "way": "+".join(map(str, ways)) or None}


def _head(folder: Path, path: str) -> dict:
    """{dimensions, activation} of a dense module."""
    config = _json(folder / path / "config.json", None)
    if config is None or not isinstance(config.get("out_features"), int):
        raise _damaged(folder / path / "config.json", "it states no out_features")
    if not (folder / path / "model.safetensors").exists():
        raise SearchError(f"{path} holds no .safetensors weights", folder,
                          "Give them as .safetensors; pickled weights are not read")
    return {"dimensions": config["out_features"],
            "activation": str(config.get("activation_function")).split(".")[-1]}


def _prompts(value) -> dict[str, frozenset]:
    """The prompts by role; a prompt by another name, such as a task's, stands under ""."""
    found = {"query": set(), "corpus": set(), "": set()}

    def add(value, role: str) -> None:
        for name, part in value.items():
            own = next((r for r, names in ROLES.items() if name in names), role)
            if isinstance(part, dict):
                add(part, own)
            elif isinstance(part, str) and part:
                found[own].add(part)
    add(value if isinstance(value, dict) else {}, "")
    return {role: frozenset(texts) for role, texts in found.items()}


def _default_prompt(said: dict) -> str:
    prompts, name = said.get("prompts"), said.get("default_prompt_name")
    text = prompts.get(name) if isinstance(prompts, dict) and isinstance(name, str) else None
    return text if isinstance(text, str) else ""


def _limit(folder: Path, config: dict) -> int | None:
    """The token limit, as sentence-transformers finds it: its own file's, else the smaller of the
    tokenizer's and the positions'."""
    stated = _json(folder / "sentence_bert_config.json", {}).get("max_seq_length")
    if isinstance(stated, int):
        if stated < 1:
            raise _damaged(folder / "sentence_bert_config.json", f"its max_seq_length is {stated}")
        return stated
    ends = (_json(folder / "tokenizer_config.json", {}).get("model_max_length"),
            config.get("max_position_embeddings"))
    # a tokenizer without a limit says 1e30
    return min((n for n in ends if isinstance(n, int) and 0 < n < 10**9), default=None)


def _require_weights(folder: Path) -> None:
    """Raises SearchError unless each .safetensors file is as long as its own header says."""
    files = sorted(folder.rglob("*.safetensors"))
    if not any(f.parent == folder for f in files):
        raise SearchError("the folder holds no .safetensors weights", folder,
                          "Give a sentence-transformers model folder; pickled weights are not read")
    for path in files:
        try:
            with open(path, "rb") as file:
                size = int.from_bytes(file.read(8), "little")
                if size > 10**8:
                    raise ValueError
                header = json.loads(file.read(size))
            ends = [part["data_offsets"][1] for name, part in header.items() if name != "__metadata__"]
            whole = 8 + size + max(ends) == path.stat().st_size
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            whole = False
        if not whole:
            raise _damaged(path, "it is not whole")
