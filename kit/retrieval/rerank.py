"""A second stage: the first documents of a saved run in the order of what reads query and document together.

A reranker is anything with `rerank(query_text, documents)`, documents a list of texts in the order of the
first stage. It answers a score a document, higher is better, as a list or as {"scores": [...]}, or
{"order": [...]}: the positions of all documents, from 0, best first. What it scores stands on top, by the
tie rule of all runs; what it does not see keeps its order below. It is a cross-encoder, a Python object, or
a service that takes `POST {"query_text": "...", "documents": ["..."]}` and answers the same as JSON.
"""

import re
from collections.abc import Iterable
from contextlib import contextmanager
from itertools import islice
from numbers import Real

import numpy as np

from kit.errors import RunError, SearchError
from kit.params import Params
from kit.retrieval.cross_encoder import CrossEncoder
from kit.retrieval.foreign import FORM, Reranking
from kit.retrieval.fusion import origin_of
from kit.retrieval.service import PLAIN, Service
from kit.retrieval.system import Answer, said
from kit.text.views import VIEWS, declaration, texts

AT_ONCE = 2000  # documents whose texts are held for one block of queries, about


# --- what a reranker answers ----------------------------------------------------------------------

def scores_of(reply, n: int) -> np.ndarray | str:
    """A score of each of n documents, float32, from what a reranker answered; a sentence where that is
    neither scores nor an order of all of them. An order gets falling scores."""
    if isinstance(reply, dict):
        if len(reply) != 1 or next(iter(reply)) not in ("scores", "order"):
            return "an answer with other than either scores or order"
        (kind, reply), = reply.items()
    else:
        kind = "scores"
    values = reply.tolist() if hasattr(reply, "tolist") else reply
    if isinstance(values, (str, bytes, dict)) or not isinstance(values, Iterable):
        return f"a {type(reply).__name__} where a list of {kind} is asked for"
    values = list(islice(values, n + 1))  # a generator may have no end
    if len(values) != n:
        told = f"more than {n}" if len(values) > n else len(values)
        return f"{kind if kind == 'scores' else 'positions'} of {told} documents, where {n} were given"
    return _numbers(values) if kind == "scores" else _positions(values)


def _numbers(values: list) -> np.ndarray | str:
    wrong = "scores that are no finite float32, one a document"
    if not all(isinstance(v, Real) and not isinstance(v, bool) for v in values):
        return wrong
    try:
        with np.errstate(over="ignore"):  # 1e39 becomes infinite, and is refused
            scores = np.array([float(v) for v in values], np.float64).astype(np.float32)
    except OverflowError:
        return wrong
    return scores if np.isfinite(scores).all() else wrong


def _positions(values: list) -> np.ndarray | str:
    n = len(values)
    if not all(type(v) is int for v in values) or sorted(values) != list(range(n)):
        return f"an order that is not of the positions 0 to {n - 1}, each once"
    scores = np.empty(n, np.float32)
    scores[values] = np.arange(n, 0, -1)
    return scores


def second_ranking(ids: list[str], scores: np.ndarray, rest: list[str]) -> Answer:
    """What was scored, and below it, in its order, the rest: with scores that fall from the lowest by a
    2^-20th of it, or of 1 if that is more, which float32 keeps apart.

    ids, scores: of what was scored, at least one. rest: identifiers in the order of the first stage.
    """
    low = float(scores.min())
    below = low - np.arange(1, len(rest) + 1) * max(1.0, abs(low)) * 2.0**-20
    return Answer([*ids, *rest], np.append(scores, below.astype(np.float32)))


# --- the kinds ------------------------------------------------------------------------------------

def reranker_of(params: Params):
    """The reranker that `rerank_with` names: an address, module:name, or a cross-encoder.

    It has name, version, given, settings, notes() and `replies([(query_text, documents)])`, which gives
    the scores of each call, or a sentence. Raises SearchError for what is nowhere or not as it must be;
    nothing is called or loaded.
    """
    named = params.rerank_with
    if named is None:
        raise SearchError("the reranker is not named", "rerank_with", "Give a cross-encoder's folder or hub "
                          "id, module:name of an object, or the address of a service")
    with _named_so():
        if re.match(r"[a-z]+://", named, re.IGNORECASE):
            return RerankService(named, params.rerank_name or "service", params.rerank_version,
                                 params.rerank_token_env, params.service_timeout, params.service_parallel,
                                 params.service_retries)
        if FORM.fullmatch(named):
            return _InTurn(Reranking(named), params.rerank_name)
        return _InTurn(CrossEncoder(named, params.rerank_revision, params.embedding_device,
                                    params.embedding_batch_size), params.rerank_name)


@contextmanager
def _named_so():
    """An error of what a first stage has too names the parameters of the second."""
    try:
        yield
    except SearchError as error:
        where, do = (re.sub("object_system|embedding_model|service_url", "rerank_with", text).replace(
            "service_token_env", "rerank_token_env") for text in (error.where, error.do))
        raise SearchError(error.what, where, do) from error


class _InTurn:
    """A reranker in the kit's own process, called for one query after the other."""

    def __init__(self, made, name: str | None):
        self._made, self.name, self.version, self.given = made, name or made.name, made.version, made.given
        self.notes = made.notes

    @property
    def settings(self) -> dict:
        return self._made.settings

    def replies(self, calls: list[tuple[str, list[str]]]) -> list[np.ndarray | str]:
        return [self._reply(text, documents) for text, documents in calls]

    def _reply(self, text: str, documents: list[str]) -> np.ndarray | str:
        if isinstance(self._made, CrossEncoder):  # what it can't do is no query's fault
            return self._made.rerank(text, documents)
        try:  # also of what it answers: a generator runs when it is read
            return scores_of(self._made.rerank(text, list(documents)), len(documents))
        except (Exception, SystemExit) as error:
            return said(error)


class RerankService(Service):
    """A service that reranks: held to all that a search service is."""

    plain = (PLAIN, [PLAIN])

    def replies(self, calls: list[tuple[str, list[str]]]) -> list[np.ndarray | str]:
        with _named_so():
            answers = self.ask(calls)
        return [reply if isinstance(reply, str) else scores_of(reply[0], len(documents))
                for reply, (_, documents) in zip(answers, calls)]

    def _call(self, text: str, documents: list[str]) -> dict:
        return {"query_text": text, "documents": documents}

    def _taken(self, value):
        return (value,)  # what is wrong with it, the number of documents tells


def require_reranker(params: Params) -> str:
    """The reranker's name. Raises SearchError for one that is nowhere or not as it must be, and for more
    documents than a run has."""
    _require_depth(params.rerank_depth, params.depth)
    return reranker_of(params).name


def _require_depth(asked: int | None, depth: int) -> int:
    """How many of a run's first documents are reranked."""
    if asked is not None and asked > depth:
        raise SearchError(f"{asked} documents are to be reranked, and a run has {depth}", "rerank_depth",
                          "Lower it, or search deeper")
    return asked or depth


def asked_of(run, params: Params, given: set[str]) -> Params:
    """The parameters under which a saved run is reranked: its depth, sample and views, but for the views
    that are given by name."""
    m, views = run.manifest, run.manifest["views"] or {}
    own = {f"{role}_view": stated["view"] for role, stated in views.items() if stated["view"] in VIEWS}
    sample = {"sample": m["sample"]["size"], "seed": m["sample"]["seed"]} if m["sample"] else {}
    return params.model_copy(update={name: value for name, value in own.items() if name not in given} | {
        "depth": m["depth"], **sample})


# --- behind a run ---------------------------------------------------------------------------------

class Second:
    """A reranker behind a saved run, as a system: it has the run's candidates, and no index."""

    def __init__(self, collection, first, reranker, params: Params):
        """first: a `SavedRun` of the same conditions. Raises SearchError for a depth that it lacks."""
        depth = _require_depth(params.rerank_depth, first.manifest["depth"])
        self._collection, self._first, self._reranker, self._view = collection, first, reranker, params.corpus_view
        self._depth, self.block = depth, max(1, min(16, AT_ONCE // depth))
        self.name, self.version = f"{first.system}+{reranker.name}", reranker.version
        system, views = first.manifest["system"], first.manifest["views"]
        self.given = {"first": {**{n: system[n] for n in ("name", "version", "given")},
                                "corpus_view": views and views["corpus"]["view"]},
                      "reranker": reranker.given, "reranked": depth}
        self._inputs = {f"run of {first.system}": first.manifest["run_sha256"]}
        self.origin = origin_of([first])
        self._notes = {**self.origin["notes"], f"{first.system}: ties_at_the_cut": first.manifest["ties_at_the_cut"]}
        self._candidates, self._rows = _by_query(first.table), None
        self._failed = {f["query_id"]: f"{first.system}: {f['fault']}" for f in first.manifest["failures"]}

    @property
    def settings(self) -> dict:
        return {**self._inputs, "documents reranked": self._depth, **self._reranker.settings}

    def answer_block(self, block: list[tuple[str, str]]) -> list[Answer | str]:
        """A ranking of each (query_id, text): the first stage's documents, the first of them reranked. A
        query that the first stage failed on, or has nothing for, is not asked."""
        asked = [(q, text) for q, text in block if q not in self._failed and q in self._candidates]
        held = self._texts({doc for q, _ in asked for doc in self._candidates[q][:self._depth]})
        replies = self._reranker.replies([
            (text, [held[doc] for doc in self._candidates[q][:self._depth]]) for q, text in asked])
        answers = {q: self._answer(q, reply) for (q, _), reply in zip(asked, replies)}
        nothing = Answer([], np.empty(0, np.float32))
        return [self._failed.get(q) or answers.get(q, nothing) for q, _ in block]

    def _answer(self, query_id: str, reply: np.ndarray | str) -> Answer | str:
        docs = self._candidates[query_id]
        return reply if isinstance(reply, str) else second_ranking(
            docs[:self._depth], reply, docs[self._depth:])

    def _texts(self, docs: set[str]) -> dict[str, str]:
        if self._rows is None:
            self._rows = {doc: row for row, doc in enumerate(self._collection.ids("corpus"))}
        order = sorted(docs, key=self._rows.__getitem__)
        mine = self._collection.at("corpus", [self._rows[doc] for doc in order])
        return dict(zip(order, texts(mine, "corpus", self._view)))

    def notes(self) -> dict[str, int]:
        """What the first stage's run says, when first asked; then what the reranker saw."""
        notes, self._notes = self._notes, None
        return self._reranker.notes() if notes is None else notes

    def behind(self, stated: dict) -> dict:
        """What a run is made of, with the first stage's ranking. Raises RunError for a run that was made
        under other conditions than are stated."""
        m = self._first.manifest
        differ = [name for name in ("environment", "fingerprints", "depth", "queries", "corpus_size", "sample")
                  if m[name] != stated[name]]
        if m["views"] and m["views"]["query"] != stated["views"]["query"]:
            differ.append("query view")
        if differ:
            raise RunError(f"the run of {self._first.system} was made under another {', '.join(differ)}",
                           self._first.folder, "Rerank it with the collection, sample and query view that it "
                           "was made with")
        return {**stated, "system": {**stated["system"], "settings": self._inputs},
                "views": {**stated["views"], "corpus": declaration(self._view)}}

    def cost(self) -> dict[str, float | None]:
        """The seconds of the first stage."""
        return self.origin["cost"]


def _by_query(run) -> dict[str, list[str]]:
    """{query: documents, best first}"""
    found: dict[str, list[str]] = {}
    for query, doc in zip(run["query_id"].to_pylist(), run["doc_id"].to_pylist()):  # in the order of ranks
        found.setdefault(query, []).append(doc)
    return found
