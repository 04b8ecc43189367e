"""A cross-encoder: a sentence-transformers model that reads a query and a document together, and scores.

Scores are the model's logits, before any activation, which changes no order but makes ties. Each text
is read up to so many tokens as the model's limit, and a pair is then cut as the model does it, the longer
text first.
"""

import json
import logging
import os
from collections import Counter
from functools import cached_property
from pathlib import Path

import numpy as np

from kit.errors import SearchError, let_memory_pass
from kit.retrieval.encode import read_heads
from kit.retrieval.models import locate_model

DECIMALS = 4       # a model's own noise is some 1e-6 on a logit of 10
LONGEST = 1_000_000  # tokens: a tokenizer without a limit states more
HEAD = "ForSequenceClassification"  # what scores a pair; without it the library makes up random weights


class CrossEncoder:
    """A model's folder, or a hub id. Nothing is loaded before the first pair."""

    version = "1"

    def __init__(self, model: str, revision: str | None = None, device: str | None = None,
                 batch_size: int = 32):
        """Raises SearchError for a model that is nowhere, or whose files say that it scores no pairs."""
        self._source, identity, _ = locate_model(model, revision)
        if identity["from"] == "folder":
            _require_scores(Path(self._source))
        self.name = identity["model"].rstrip("/").split("/")[-1]
        self.given = {"cross_encoder": identity["model"], **{n: v for n, v in identity.items() if n != "model"},
                      "device": device, "batch_size": batch_size, "decimals": DECIMALS}
        self._seen = Counter()

    @cached_property
    def model(self):
        """The model itself; loaded when it is first asked for. Raises SearchError where it can't be."""
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        import sentence_transformers
        from transformers.utils import logging as transformers_logging

        transformers_logging.disable_progress_bar()
        logging.getLogger("sentence_transformers").setLevel(logging.ERROR)
        try:
            model = sentence_transformers.CrossEncoder(
                self._source, revision=self.given["revision"] if self.given["from"] == "hub" else None,
                device=self.given["device"], trust_remote_code=False, model_kwargs={"use_safetensors": True})
        except Exception as error:  # hub, file and format errors come in many kinds
            let_memory_pass(error)
            raise SearchError(f"the cross-encoder can't be loaded: {type(error).__name__}: {error}", self._source,
                              "Give a sentence-transformers cross-encoder without code of its own, as a folder "
                              "or as a hub id that is cached or can be reached") from error
        _require_one_score(model.config.architectures, model.num_labels, self._source)
        return model

    @cached_property
    def limit(self) -> int | None:
        """The tokens of a pair that the model reads at most; None: no limit."""
        stated = self.model.max_seq_length
        return stated if stated and stated < LONGEST else None

    @property
    def settings(self) -> dict:
        """What was given, with what the model decides filled in; loads the model."""
        return {**self.given, "max_tokens": self.limit, "device": self.model.device.type}

    def rerank(self, query_text: str, documents: list[str]) -> np.ndarray:
        """A score a document, float32. Equal texts score alike, and no order of the documents changes
        a score: they are read in an order of their own."""
        tokenizer = self.model.tokenizer
        (query,), (query_tokens,) = read_heads(tokenizer, [query_text], self.limit)
        heads, tokens = read_heads(tokenizer, list(documents), self.limit)
        if self.limit:
            special = tokenizer.num_special_tokens_to_add
            both = query_tokens + tokens - 2 * special(pair=False) + special(pair=True)
            self._seen["pairs_cut"] += int((both > self.limit).sum())
        self._seen["pairs"] += len(heads)
        texts = sorted(set(heads))
        scores = dict(zip(texts, self._scores([(query, text) for text in texts])))
        return np.array([scores[head] for head in heads], np.float32)

    def _scores(self, pairs: list[tuple[str, str]]) -> np.ndarray:
        from torch.nn import Identity

        found = self.model.predict(pairs, batch_size=self.given["batch_size"], activation_fn=Identity(),
                                   show_progress_bar=False, convert_to_numpy=True)
        if not np.isfinite(found).all():
            raise SearchError("the cross-encoder makes scores that are no numbers", self._source,
                              "Fetch it anew; half precision on a device may overflow")
        return found.astype(np.float64).round(DECIMALS)

    def notes(self) -> dict[str, int]:
        """How many pairs it scored since it was last asked, and how many of them it read only in part."""
        seen, self._seen = self._seen, Counter()
        return {name: seen[name] for name in ("pairs", "pairs_cut")}


def _require_scores(folder: Path) -> None:
    """Raises SearchError for a folder whose own files say that it is no cross-encoder of one part."""
    try:
        config, modules = (json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
                           for path in (folder / "config.json", folder / "modules.json"))
        parts = [str(module["type"]) for module in modules or ()]
        stated, labels = config["architectures"], config.get("id2label") or {0: ""}
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise SearchError(f"the cross-encoder's settings can't be read: {type(error).__name__}", folder,
                          "Give a folder with a config.json that names its architectures") from error
    if any(not (part.startswith("sentence_transformers.") and part.endswith(".Transformer")) for part in parts):
        raise SearchError("modules.json names other parts than a cross-encoder of this kit has", folder,
                          "Give one of a single Transformer; code that a model brings is not run")
    _require_one_score(stated, len(labels), folder)


def _require_one_score(architectures, labels: int, where) -> None:
    if not any(str(name).endswith(HEAD) for name in architectures or ()):
        raise SearchError(f"the model has no layer that scores a pair: it is a "
                          f"{', '.join(map(str, architectures or ['model without a name']))[:80]}", where,
                          f"Give a cross-encoder, whose architecture ends in {HEAD}")
    if labels != 1:
        raise SearchError(f"the model gives {labels} numbers a pair, where one score is asked for", where,
                          "Give a cross-encoder of one label")
