"""Why a score: the terms' shares of a BM25 score, the passages that are near a query by an embedding,
the passage that scored, and the rank of each relevant document under every system.

All of it is made for one query and one document when it is asked for; nothing here changes a run.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from kit.errors import SearchError
from kit.params import Params
from kit.retrieval.bm25 import Bm25, collapsed, index_folder
from kit.retrieval.bm25_engine import measured
from kit.retrieval.bm25_index import Counts
from kit.retrieval.bm25_weights import Formula, Statistics, gain
from kit.retrieval.by_passage import token_spans
from kit.retrieval.corpus import corpus_of
from kit.retrieval.dense import DECIMALS, Dense
from kit.retrieval.encode import encode, read_spans
from kit.retrieval.execute import SavedRun
from kit.retrieval.run import PASSAGE_COLUMNS
from kit.text.passages import make_rule, split
from kit.text.views import join_list, texts, view_of
from kit.text.words import Vocabulary

SHARE_COLUMNS = ["term", "in query", "in document", "documents", "idf", "gain", "share"]
PASSAGE_TOKENS = 64  # some three lines: enough to judge, short enough to point at something
MOST_PASSAGES = 512  # encoded for one document: seconds on a processor


def kind_of(run: SavedRun) -> str:
    """What can be told of a run's scores: "terms" (BM25), "nearest" (embeddings), "passage" (the run
    says which scored), or "" (only the ranks)."""
    settings, columns = run.manifest["system"]["settings"], run.table.column_names
    if "passage" in columns:
        return "passage"
    if run.manifest["views"] is None or run.manifest["views"]["corpus"].get("fields") is None:
        return ""  # a run file, or a system that has its own corpus
    return "terms" if "variant" in settings and "k1" in settings else (
        "nearest" if "pooling" in settings else "")


def text_of_row(run: SavedRun, table: str, row: dict) -> str:
    """The text that the run's system read of a row of `queries` or `corpus`."""
    role = "query" if table == "queries" else "corpus"
    return view_of(row.get(name) for name in run.manifest["views"][role]["fields"])


# --- ranks ----------------------------------------------------------------------------------------

class ByQuery:
    """The rows of a run, found by query without a look at the others."""

    def __init__(self, table: pa.Table):
        self._table = table
        starts = np.flatnonzero(table["rank"].to_numpy() == 1)  # a query's rows stand together
        names = table["query_id"].take(pa.array(starts)).to_pylist()
        self._rows = dict(zip(names, zip(starts.tolist(), [*starts[1:].tolist(), len(table)])))

    def of(self, query_id: str) -> pd.DataFrame:
        """A query's rows, best first; none for a query that the run lacks."""
        start, stop = self._rows.get(query_id, (0, 0))
        return self._table.slice(start, stop - start).to_pandas()


def _stated(relations, name: str) -> list[str]:
    """What a pair's relations state of their category or direction, each once."""
    return sorted({r[name] for r in relations or [] if r and r[name]})


def relevant_ranks(pairs: pd.DataFrame, rankings: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Where each relevant document of a query stands under every system.

    pairs: the query's rows of the qrels. rankings: {system: the query's rows of its run}.
    Columns: document, category (where the pair has none, those of its relations), direction, and one
    a system: the rank, None beyond the depth. Sorted by the best rank, those that nobody finds last.
    """
    frame = pd.DataFrame({
        "document": list(pairs["doc_id"]),
        "category": [c if isinstance(c, str) else ", ".join(_stated(r, "category"))
                     for c, r in zip(pairs["category"], pairs["source_relations"])],
        "direction": [" and ".join(_stated(r, "direction")) for r in pairs["source_relations"]]})
    for system, rows in rankings.items():
        rank = dict(zip(rows["doc_id"], rows["rank"]))
        frame[system] = pd.array([rank.get(d) for d in frame["document"]], "Int64")
    best = frame[list(rankings)].min(axis=1) if rankings else pd.Series(0, frame.index)
    return frame.iloc[np.argsort(best.astype("Float64").fillna(np.inf).to_numpy(float), kind="stable")
                      ].reset_index(drop=True)


# --- BM25 -----------------------------------------------------------------------------------------

@dataclass(frozen=True)
class Weights:
    """The counts of a corpus, memory-mapped where they are kept, with the formula of a BM25 run.

    lengths: int64, words of each document; idf: float64 by term; ids: the identifier of each.
    """

    counts: Counts
    vocabulary: Vocabulary
    formula: Formula
    statistics: Statistics
    lengths: np.ndarray
    idf: np.ndarray
    ids: pa.Array

    @classmethod
    def of(cls, index, settings: dict, ids: list[str]) -> "Weights":
        """index: as `Bm25.index` gives it; settings: variant, k1 and b."""
        lengths, statistics = measured(index.counts)
        formula = Formula.of(settings)
        return cls(index.counts, index.vocabulary, formula, statistics, lengths,
                   formula.idf(statistics), pa.array(ids, pa.string()))


def open_weights(collection, run: SavedRun, outputs: str) -> Weights:
    """The weights of a BM25 run: its counts are opened where `outputs` keeps them, else counted anew
    and kept. Raises SearchError for a run whose scores are not sums over terms of whole documents."""
    if kind_of(run) != "terms":
        raise SearchError(f"{run.system} has no shares of terms", "why", "Ask a run of bm25")
    settings, view = run.manifest["system"]["settings"], run.manifest["views"]["corpus"]["view"]
    system = Bm25(settings["variant"], settings["k1"], settings["b"], cache=index_folder(outputs))
    system.expect(corpus_of(collection, view))
    ids = list(collection.ids("corpus"))
    return Weights.of(system.index(ids, texts(collection, "corpus", view)), settings, ids)


def bm25_shares(weights: Weights, query_text: str, doc_id: str) -> pd.DataFrame:
    """The terms that a query and a document share, in alphabetical order, with their shares of the score.

    Columns: term; in query, in document: how often it stands there; documents: in how many of the
    corpus; idf; gain: what the count in the document is worth (see bm25_weights); share: in query ×
    idf × gain. `score_of` adds the shares up to the score of the run.
    """
    (_, asked, counts), document = collapsed([query_text], weights.vocabulary), _row(weights, doc_id)
    terms, tfs = _document_terms(weights, document)
    shared, in_query, in_document = np.intersect1d(asked, terms, assume_unique=True, return_indices=True)
    relative = float(weights.formula.relative(weights.lengths[document], weights.statistics))
    gains = np.array([gain(weights.formula, float(tf), relative) for tf in tfs[in_document]], float)
    idf, often = weights.idf[shared], counts[in_query]
    return pd.DataFrame({
        "term": _words(weights, shared), "in query": often, "in document": tfs[in_document].astype(int),
        "documents": weights.statistics.df[shared], "idf": idf, "gain": gains,
        "share": (often * idf) * gains}, columns=SHARE_COLUMNS)


def score_of(shares: pd.DataFrame) -> np.float32:
    """The score of a run: the shares added one after the other in float64, in the terms' order, and
    rounded once, as the engine does it. (rank-bm25 adds in the query's order: the same to rounding.)"""
    total = 0.0
    for share in shares["share"]:
        total += share
    return np.float32(total)


def bm25_lacking(weights: Weights, query_text: str, doc_id: str) -> pd.DataFrame:
    """The query's terms that the corpus knows and the document lacks, heaviest first. Columns: term,
    in query, documents, weight (in query × idf: what a share is a part of)."""
    _, asked, counts = collapsed([query_text], weights.vocabulary)
    lacks = ~np.isin(asked, _document_terms(weights, _row(weights, doc_id))[0])
    weight = (counts * weights.idf[asked])[lacks]
    order = np.argsort(-weight, kind="stable")
    terms = asked[lacks][order]
    return pd.DataFrame({"term": _words(weights, terms), "in query": counts[lacks][order],
                         "documents": weights.statistics.df[terms], "weight": weight[order]})


def bm25_difference(weights: Weights, query_text: str, doc_id: str, against: str) -> pd.DataFrame:
    """Which terms put one document above another. Columns: term, in query, documents, the count in
    each, the share of each, difference (the first's share less the second's), largest first. The
    differences add up to that of the scores."""
    one, other = (bm25_shares(weights, query_text, d).set_index("term") for d in (doc_id, against))
    terms = sorted({*one.index, *other.index})
    known = pd.concat([one, other])[["in query", "documents"]].groupby(level=0).first()
    frame = known.reindex(terms).reset_index(names="term")
    for name, shares in ((doc_id, one), (against, other)):
        frame[f"in {name}"] = shares["in document"].reindex(terms).fillna(0).astype(int).to_numpy()
    for name, shares in ((doc_id, one), (against, other)):
        frame[f"share in {name}"] = shares["share"].reindex(terms).fillna(0.0).to_numpy()
    frame["difference"] = frame[f"share in {doc_id}"] - frame[f"share in {against}"]
    return frame.sort_values("difference", ascending=False, kind="stable", ignore_index=True)


def common_words(weights: Weights, words: list[str], share: float = 0.1) -> set[str]:
    """Of these words (lower case) those that stand in more than a share of the corpus' documents."""
    _, terms, _ = collapsed([" ".join(words)], weights.vocabulary)
    often = terms[weights.statistics.df[terms] > share * weights.statistics.units]
    return set(_words(weights, often))


def _row(weights: Weights, doc_id: str) -> int:
    place = pc.index(weights.ids, pa.scalar(doc_id, pa.string())).as_py()
    if place < 0:
        raise SearchError(f"the corpus has no '{doc_id}'", "why")
    return place


def _document_terms(weights: Weights, row: int) -> tuple[np.ndarray, np.ndarray]:
    counts = weights.counts
    own = slice(int(counts.indptr[row]), int(counts.indptr[row + 1]))
    return np.asarray(counts.indices[own]), np.asarray(counts.data[own])


def _words(weights: Weights, terms: np.ndarray) -> list[str]:
    return [weights.vocabulary.packed(t, t + 1)[0].as_py() for t in terms.tolist()]


# --- embeddings -----------------------------------------------------------------------------------

class Nearest(NamedTuple):
    """What stands beside an embedding's score.

    passages: the nearest first; columns passage (from 0), start, end (characters of the document's
    text), cosine, read (whether the score's own reading of the document holds it: whole, partly or
    no) and text. score: the cosine of the whole texts, made now.
    of: how many passages were looked at, and left: characters of the document that were not.
    query_read, document_read: (characters that the model read, characters there are).
    """

    passages: pd.DataFrame
    score: float
    of: int
    left: int
    query_read: tuple[int, int]
    document_read: tuple[int, int]


def open_model(run: SavedRun, params: Params) -> Dense:
    """The embedding model of a run. Raises SearchError where the parameters name another one."""
    system = Dense.from_params(params.model_copy(update={"engine": "kit"}))
    if kind_of(run) != "nearest" or system.given != run.manifest["system"]["given"]:
        raise SearchError(f"the parameters name another model than that of the run of {run.system}",
                          "why", "Give the parameters that the run was made with")
    return system


def nearest_passages(system: Dense, query_text: str, fields: list[str], most: int = 3) -> Nearest:
    """The passages of a document that are nearest to a query, encoded now.

    fields: the document's cleaned fields. The score of a run is the cosine of two whole texts, of
    which a model reads the beginning; it is no sum of passages. So this stands beside the score and
    is no part of it: each stretch of 64 of the model's own tokens is encoded as if it were a document,
    of the first 512. Raises SearchError for a tokenizer that can't say where its tokens stand.
    """
    given, text = system.settings, "\n".join(fields)
    length = min(PASSAGE_TOKENS, given["max_tokens"] or PASSAGE_TOKENS)
    spans = token_spans(system.model.tokenizer, fields)
    found = split(fields, spans, make_rule(length, length, False, False))
    starts, ends = found.starts[:MOST_PASSAGES], found.ends[:MOST_PASSAGES]
    query = _vectors(system, [query_text], "query")
    whole = _vectors(system, [text], "corpus")
    vectors = _vectors(system, [text[a:b] for a, b in zip(starts, ends)], "corpus")
    cosines = (vectors @ query[0]).round(DECIMALS)
    read = read_to(system, text, "corpus")
    best = np.argsort(-cosines, kind="stable")[:most]
    frame = pd.DataFrame({
        "passage": best, "start": starts[best], "end": ends[best], "cosine": cosines[best],
        "read": [_read(a, b, read) for a, b in zip(starts[best], ends[best])],
        "text": [text[a:b] for a, b in zip(starts[best], ends[best])]})
    return Nearest(frame, float((whole[0] @ query[0]).round(DECIMALS)), len(starts),
                   len(text) - int(ends[-1]), (read_to(system, query_text, "query"), len(query_text)),
                   (read, len(text)))


def read_to(system: Dense, text: str, role: str) -> int:
    """Up to which character the model reads a text in the role "query" or "corpus"."""
    given, tokenizer = system.settings, system.model.tokenizer
    prompt, limit = given[f"{role}_prompt"] or "", given["max_tokens"]
    if not limit:
        return len(text)
    if given["spans"] > 1:
        pieces, cut = read_spans(tokenizer, text, prompt, limit, given["spans"])
        place = 0
        for piece in pieces:
            place = text.index(piece, place) + len(piece)
        return place if cut else len(text)
    read = tokenizer(prompt + text, truncation=True, max_length=limit, return_offsets_mapping=True,
                     return_attention_mask=False, verbose=False)
    whole = tokenizer(prompt + text, truncation=False, return_attention_mask=False, verbose=False)
    if len(whole["input_ids"]) <= limit:
        return len(text)
    return max(max(end for _, end in read["offset_mapping"]) - len(prompt), 0)


def _read(start: int, end: int, read: int) -> str:
    return "whole" if end <= read else "partly" if start < read else "no"


def _vectors(system: Dense, texts: list[str], role: str) -> np.ndarray:
    """Unit vectors, float64, made now and not kept."""
    given = system.settings
    return encode(system.model, texts, given[f"{role}_prompt"] or "", given["batch_size"], given["spans"],
                  given["span_pool"]).vectors.astype(np.float64)


# --- passages -------------------------------------------------------------------------------------

def scored_passage(run: SavedRun, rows: pd.DataFrame, document: dict) -> dict | None:
    """The passage that put a document where it stands in a run of passages: passage (from 0), start,
    end (characters of the corpus view) and text; None for a document that the run does not return.

    rows: the query's rows of the run. document: the whole row of the corpus.
    """
    mine = rows[rows["doc_id"] == document["doc_id"]]
    if mine.empty:
        return None
    where = {name: int(mine[name].iloc[0]) for name in PASSAGE_COLUMNS}
    return where | {"text": text_of_row(run, "corpus", document)[where["start"]:where["end"]]}


def fields_of_row(run: SavedRun, row: dict) -> list[str]:
    """The cleaned fields of a document that the run's system read, the empty ones left out."""
    cleaned = (view_of([join_list(row.get(name))]) for name in run.manifest["views"]["corpus"]["fields"])
    return [text for text in cleaned if text]
