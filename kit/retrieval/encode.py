"""Texts to vectors: how much of a text a model reads, and the unit vector that it makes of it.

A text is read in spans of the model's token limit, prompt included: the first only, as models are
published, or up to so many, whose vectors are pooled into one.

Padding changes a vector by some 1e-7, which is enough to part two equal texts. So only texts of one
number of tokens go through the model together, and nothing is padded: on one machine a text's vector
hangs neither on the texts beside it nor on the size of a batch, the order of a corpus or the number of
threads. Another processor, device or release of a library may change it; scores, which are rounded to six
decimals, agree to `TOLERANCE`.
"""

import json
import logging
import os
import re
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import numpy as np

from kit.collection.cached import hub_answers
from kit.errors import SearchError, let_memory_pass
from kit.progress import Tally
from kit.retrieval.system import one_line
from kit.retrieval.vectors import Encoded

HEAD = 8             # characters a token: patents have some 5, so a head nearly always suffices
TOLERANCE = 2e-6     # of a score: measured are 2e-7 between kernels, one unit of the sixth decimal
BY_WORDS = {"BertPreTokenizer", "WhitespaceSplit", "Whitespace"}  # never a token across a blank


def encode(model, texts: list[str], prompt: str, batch_size: int, spans: int = 1,
           pool: str = "mean") -> Encoded:
    """A unit vector, float32, of each text behind the prompt.

    spans: how many a text is read in, at most; pool: how the spans' unit vectors become one, mean
    or max (of each dimension), which is then made unit length. A text of one span has its vector.
    """
    limit = model.max_seq_length
    if spans == 1:
        pieces, tokens = read_heads(model.tokenizer, [prompt + t for t in texts], limit)
        cut = int((tokens > limit).sum()) if limit else 0
        return Encoded(_unit_vectors(model, pieces, np.minimum(tokens, limit or tokens), batch_size), cut)
    read = [read_spans(model.tokenizer, text, prompt, limit, spans) for text in texts]
    pieces = [prompt + p for own, _ in read for p in own]
    vectors = _unit_vectors(model, pieces, _token_counts(model.tokenizer, pieces), batch_size)
    starts = np.cumsum([0, *(len(own) for own, _ in read)])
    pooled = [_pooled(vectors[a:b], pool) for a, b in pairwise(starts)]
    return Encoded(np.array(pooled, np.float32).reshape(len(texts), -1), sum(cut for _, cut in read))


def _pooled(vectors: np.ndarray, pool: str) -> np.ndarray:
    """Unit vectors of one text's spans, spans × dimensions, as one unit vector."""
    if len(vectors) == 1:
        return vectors[0]
    one = vectors.astype(np.float64)
    one = one.mean(axis=0) if pool == "mean" else one.max(axis=0)
    return (one / max(np.linalg.norm(one), 1e-12)).astype(np.float32)


def _unit_vectors(model, pieces: list[str], lengths: np.ndarray, batch_size: int) -> np.ndarray:
    """A unit vector, float32, a piece. lengths: the tokens of each that the model reads."""
    alike = [np.flatnonzero(lengths == n) for n in np.unique(lengths)]
    vectors = np.empty((len(pieces), model.get_embedding_dimension()), np.float32)
    with _told(model, sum(-(-len(own) // batch_size) for own in alike)):
        for own in alike:
            # prompt "": they have theirs, and a model's own default is not to be added unseen
            vectors[own] = model.encode([pieces[i] for i in own], batch_size=batch_size, prompt="",
                                        show_progress_bar=False, normalize_embeddings=True, convert_to_numpy=True)
    if not np.isfinite(vectors).all():
        raise SearchError("the model makes vectors that are no numbers", "embedding_model",
                          "Fetch it anew; half precision on a device may overflow")
    return vectors


@contextmanager
def _told(model, batches: int):
    """Says how many batches the model has read: a block of texts takes minutes on a small machine."""
    tally = Tally("embedding: batches of texts", batches)
    watched = model[0].register_forward_hook(lambda *_: tally.one())
    try:
        yield
    finally:
        watched.remove()


# --- how much of a text is read -------------------------------------------------------------------

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


def read_spans(tokenizer, text: str, prompt: str, limit: int | None,
               spans: int) -> tuple[list[str], bool]:
    """The text in at most `spans` pieces that each fit `limit` tokens behind the prompt, and
    whether some of the text is left over. Pieces end where words end, unless a word fills a span.

    Raises SearchError for a tokenizer that doesn't say where its tokens stand, or a prompt that
    leaves no room.
    """
    if not limit or _fits(tokenizer, prompt + text[:HEAD * limit], limit) and _fits(
            tokenizer, prompt + text, limit):
        return [text], False
    room = limit - _count(tokenizer, prompt)
    if room < 1:
        raise SearchError(f"the prompt fills the model's {limit} tokens", "embedding_max_tokens",
                          "Give a shorter prompt, or a higher limit")
    pieces, rest = [], text
    while rest and len(pieces) < spans:
        piece = _first_piece(tokenizer, rest, prompt, limit, room)
        pieces.append(piece)
        rest = rest[len(piece):].lstrip()
    return pieces, bool(rest)


def _first_piece(tokenizer, text: str, prompt: str, limit: int, room: int) -> str:
    """As much of the text's start as fits the limit behind the prompt."""
    head = text[:2 * HEAD * limit]
    while True:
        ends = _word_ends(tokenizer, head)
        if len(ends) > room or len(head) == len(text):
            break
        head = text[:2 * len(head)]  # far more characters a token than usual
    if len(ends) <= room:
        size = len(text)
    else:
        whole = [end for end, is_word in ends[:room] if is_word]
        size = whole[-1] if whole else ends[room - 1][0]
    # the prompt's last token and the text's first may join: what is fed is what is counted
    while size > 1 and not _fits(tokenizer, prompt + text[:size], limit):
        size = max(text.rfind(" ", 0, size), size - HEAD, 1)
    return text[:max(size, 1)]


def _word_ends(tokenizer, text: str) -> list[tuple[int, bool]]:
    """(end of the token in the text, whether a blank or the text's end follows) of each token."""
    if not tokenizer.is_fast:
        raise SearchError("the model's tokenizer doesn't say where its tokens stand",
                          "embedding_spans", "Leave it at 1, or give a model with a tokenizer.json")
    read = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, truncation=False,
                     verbose=False, return_attention_mask=False)
    return [(end, end == len(text) or text[end].isspace() or text[end - 1:end].isspace())
            for _, end in read["offset_mapping"]]


def _count(tokenizer, text: str) -> int:
    return int(_token_counts(tokenizer, [text])[0])


def _fits(tokenizer, text: str, limit: int) -> bool:
    return _count(tokenizer, text) <= limit


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


# --- the model ------------------------------------------------------------------------------------

def load(source: str, revision: str | None, device: str | None, advice: str = ""):
    """The model of a folder or hub id. Raises SearchError where it can't be loaded."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()
    logging.getLogger("sentence_transformers").setLevel(logging.ERROR)
    try:
        with _heard("transformers.modeling_utils") as heard:
            alone = not Path(source).is_dir() and not hub_answers()  # its client would ask for long
            model = SentenceTransformer(source, revision=revision, device=device, local_files_only=alone,
                                        model_kwargs={"use_safetensors": True})
        _require_all_weights(heard, source)
        _require_own_tokens(model, source)
        return model
    except SearchError:
        raise
    except Exception as error:  # hub, file and format errors come in many kinds
        let_memory_pass(error)
        if "trust_remote_code" in str(error):  # the library's advice, for which there is no parameter
            raise SearchError("the model brings code of its own, which the kit does not run", source,
                              "Give a model that needs none") from error
        raise SearchError(f"the model can't be loaded: {one_line(f'{type(error).__name__}: {error}', 300)}", source,
                          advice or "Give a sentence-transformers folder, or a hub id that is "
                          "cached or can be reached") from error


@contextmanager
def _heard(name: str):
    """What a logger says meanwhile, kept in a list and not printed."""
    class Kept(logging.Handler):
        def emit(self, record):
            heard.append(record.getMessage())

    heard, logger, handler = [], logging.getLogger(name), Kept()
    level, propagates = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)  # at WARNING itself the library tells of layers that nobody asked for
    logger.propagate = False
    try:
        yield heard
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate = propagates


_MISSING = re.compile(r"^(\S+)\s*\|\s*(?:\x1b\[\d+m)*MISSING", re.MULTILINE)


def _require_all_weights(heard: list[str], source: str) -> None:
    """Raises SearchError for weights that the file lacks: they would be drawn at random. A head that
    sentence models do not use, the pooler, may lack."""
    lacking = [name for text in heard for name in _MISSING.findall(text) if "pooler." not in name]
    if lacking:
        raise SearchError(f"its weights lack {one_line(lacking[0], 80)}"
                          + (f" and {len(lacking) - 1} more" if len(lacking) > 1 else "")
                          + ", which would be drawn at random", source, "Fetch the model's folder anew")


def _require_own_tokens(model, source: str) -> None:
    """Raises SearchError for a tokenizer without a vocabulary, which reads every word as unknown, and for
    one that has tokens beyond the model's own."""
    bert = getattr(model[0], "auto_model", None)
    if bert is None or model.tokenizer is None:
        return
    if len(model.tokenizer.get_vocab()) <= len(model.tokenizer.all_special_tokens):
        raise SearchError("the model has no tokenizer: there is no vocabulary", source,
                          "Fetch the model's folder anew")
    known, last = bert.get_input_embeddings().num_embeddings, max(model.tokenizer.get_vocab().values(), default=0)
    if last >= known:
        raise SearchError(f"the tokenizer is another model's: it has the token {last}, and the model {known} tokens",
                          source, "Fetch the model's folder anew")


def set_up(model, pooling: str, max_tokens: int | None, source: str):
    """The model with this pooling, and this limit if one is given.

    Raises SearchError for a model that does not pool, or whose own limit is lower.
    """
    step = next((m for m in model if hasattr(m, "pooling_mode")), None)
    if step is None:
        raise SearchError("the model has no pooling step that could be set", source,
                          "Give a model that pools its token vectors")
    step.pooling_mode = pooling
    limit = model.max_seq_length
    if max_tokens and limit and max_tokens > limit:
        raise SearchError(f"embedding_max_tokens {max_tokens} is above the model's {limit}", source,
                          f"Give at most {limit}")
    model.max_seq_length = max_tokens or limit
    return model
