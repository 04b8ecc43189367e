"""The kit beside its peers: in one process, on the same tokens, on two processors.

`python -m kit.reporting.peers PART ARGUMENTS` measures one part and prints one JSON object; so each
part has a process of its own, in which both sides run one after the other. `kit.reporting.speed`
starts them, without OPENBLAS_CORETYPE, which makes products of matrices slower.
"""

import json
import shutil
import sys
import time
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse

from kit.collection.sources import open_collection
from kit.evaluation import measures
from kit.params import make_params
from kit.retrieval import bm25_weights
from kit.retrieval.bm25 import Bm25, collapse, index_folder
from kit.retrieval.bm25_engine import Bm25Engine
from kit.retrieval.bm25_index import Index, counted
from kit.retrieval.corpus import corpus_of
from kit.retrieval.dense import Cosines
from kit.retrieval.engine import Found, best
from kit.retrieval.execute import retrieve
from kit.retrieval.run import ranked
from kit.text.spread import spread
from kit.text.views import texts

CORES = 2
TOP = 100
MOST_QUERIES = 1_000
MOST_ADDITIONS = 20e9  # of a peer's postings: about a minute
SETTINGS = {"variant": "lucene", "k1": 1.2, "b": 0.75}
ALONE = 200            # documents for rank-bm25, and
ALONE_QUERIES = 2      # queries: it needs seconds for each
NEAR = 1e-3            # scores that differ by less, as a share, tie: 6,000 sums in float32 are 4e-4 off
SHORT = 3.0            # seconds; less is measured up to five times, until this: the least counts
COMMON = {"nDCG@10": "ndcg_cut_10", "nDCG@100": "ndcg_cut_100", "nDCG@1000": "ndcg_cut_1000",
          "R@10": "recall_10", "R@100": "recall_100", "R@1000": "recall_1000", "P@10": "P_10",
          "Success@10": "success_10", "RR": "recip_rank", "AP": "map"}
OWN = ["PRES@100", "primary_nDCG@10", "GoldCoverage@100", "Judged@10"]


def clocked(work: Callable, repeat: bool = True) -> tuple:
    """What `work` gives, its wall seconds, and by how many MB the process grew at most meanwhile
    (None where the system does not say). Short work is done up to five times: the least counts."""
    grew = _grown()
    took, begun = [], time.perf_counter()
    while not took or (repeat and len(took) < 5 and time.perf_counter() - begun < SHORT):
        start = time.perf_counter()
        value = work()
        took.append(time.perf_counter() - start)
    return value, min(took), grew()


def _grown() -> Callable[[], float | None]:
    try:
        Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
        before = _memory("VmRSS")
    except OSError:
        return lambda: None
    return lambda: max(_memory("VmHWM") - before, 0.0)


def _memory(name: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 2**10 for line in lines if line.startswith(f"{name}:"))


# --- search by words ------------------------------------------------------------------------------

def searching(views: str, *places: str) -> list[dict]:
    """A row a view and place: the kit, bm25s with both of its backends, and for full texts a product
    of scipy's sparse matrices, from the queries' token ids to the top 100. Peers that would need
    more than a minute get fewer of the queries; all times are seconds a query.

    views: names with commas between. places: a folder and its work folder, and so on.
    """
    return [{"view": view, **_searched(folder, work, view)}
            for view in views.split(",") for folder, work in zip(places[::2], places[1::2])]


def _searched(folder: str, work: str, view: str) -> dict:
    collection = open_collection(folder)
    index = _index(collection, view, work)
    asked = [index.vocabulary.known(text)
             for text in islice(texts(collection, "queries", view), MOST_QUERIES)]
    asked = [ids for ids in asked if len(ids)]
    told, found = _ours(index, asked)
    df = np.bincount(index.counts.indices, minlength=index.counts.shape[1])
    some = _affordable(asked, df)
    told |= {"queries of the peers": len(some), **_bm25s(index, some, found)}
    if view == "tacd":
        told |= _scipy(index, df, some, found) | _rank_bm25(index, asked[:ALONE_QUERIES])
    return told


def _ours(index: Index, asked: list[np.ndarray]) -> tuple[dict, Found]:
    places = np.arange(index.counts.shape[0])
    engine, weighing, weights = clocked(lambda: Bm25Engine(index.counts, SETTINGS), repeat=False)
    _kit(engine, places, asked[:20])  # compiled, or loaded
    found, seconds, room = clocked(lambda: _kit(engine, places, asked))
    return {"documents": len(places), "terms": index.counts.shape[1],
            "postings": len(index.counts.data), "queries": len(asked),
            "kit": seconds / len(asked), "kit weighing": weighing,
            "kit MB": _sum(weights, room)}, found


def _index(collection, view: str, work: str) -> Index:
    """The index of the corpus, as `baseline` left it below `work`, else made there."""
    system = Bm25(cache=index_folder(work))
    system.expect(corpus_of(collection, view))
    return system.index(list(collection.ids("corpus")), texts(collection, "corpus", view))


def _kit(engine: Bm25Engine, places: np.ndarray, asked: list[np.ndarray]) -> Found:
    return best(engine, engine.queries(*collapse(asked)), places, TOP)


def _affordable(asked: list[np.ndarray], df: np.ndarray) -> list[np.ndarray]:
    """The first queries, whose tokens have MOST_ADDITIONS postings together; 20 at least."""
    additions = np.cumsum([df[ids].sum() for ids in asked])
    return asked[:max(int(np.searchsorted(additions, MOST_ADDITIONS)), 20)]


def _bm25s(index: Index, asked: list[np.ndarray], found: Found) -> dict:
    """bm25s on the same ids; its memory is that of its tokens, its index and its search."""
    import bm25s

    vocabulary = {str(i): i for i in range(index.counts.shape[1])}
    peer = bm25s.BM25(method="lucene", k1=SETTINGS["k1"], b=SETTINGS["b"], backend="numba")
    _, indexing, room = clocked(lambda: peer.index(
        (_lists(index.counts), vocabulary), show_progress=False), repeat=False)
    ids = [a.tolist() for a in asked]
    take = min(TOP, index.counts.shape[0])

    def search(some: list[list[int]], threads: int = CORES):
        return peer.retrieve(some, k=take, show_progress=False, n_threads=threads)

    search(ids[:2]), search(ids[:2], 0)  # compiled
    answers, seconds, more = clocked(lambda: search(ids))
    few = ids[:max(len(ids) // 10, 10)]
    told = {"bm25s numba": seconds / len(ids), "bm25s index from ids": indexing,
            "bm25s numba, one thread": clocked(lambda: search(few, 0))[1] / len(few),
            "bm25s MB": _sum(room, more),
            **_agreement(found, zip(answers.documents, answers.scores))}
    peer.backend = "numpy"
    return told | {"bm25s default": clocked(lambda: search(few))[1] / len(few)}


def _lists(counts) -> list[list[int]]:
    """Each document's tokens as a list, one object a term, as bm25s' own tokenizer gives them."""
    numbers = list(range(counts.shape[1]))
    rows = (slice(a, b) for a, b in zip(counts.indptr, counts.indptr[1:]))
    return [[numbers[t] for t in np.repeat(counts.indices[row], counts.data[row]).tolist()]
            for row in rows]


def _scipy(index: Index, df: np.ndarray, asked: list[np.ndarray], found: Found) -> dict:
    """Distinct terms × count, times a sparse matrix of weights; the best by a partition."""
    postings = _weights(index, df)
    starts, terms, counts = collapse(asked)
    queries = sparse.csr_array((counts.astype(np.float32), terms, starts),
                               shape=(len(asked), len(df)))

    def search() -> list[tuple[np.ndarray, np.ndarray]]:
        answers = []
        for start in range(0, len(asked), 32):
            scores = queries[start:start + 32] @ postings
            for a, b in zip(scores.indptr, scores.indptr[1:]):
                top = np.argsort(-scores.data[a:b])[:TOP] if b - a <= TOP else _top(scores.data[a:b])
                answers.append((scores.indices[a:b][top], scores.data[a:b][top]))
        return answers

    answers, seconds, _ = clocked(search)
    return {"scipy": seconds / len(asked), "scipy differs": _agreement(found, answers)["differ"]}


def _top(scores: np.ndarray) -> np.ndarray:
    some = np.argpartition(-scores, TOP)[:TOP]
    return some[np.argsort(-scores[some])]


def _weights(index: Index, df: np.ndarray) -> sparse.csr_array:
    """Terms × documents: the same weights as the kit's, in float32."""
    counts = index.counts
    matrix = sparse.csr_array((counts.data, counts.indices, counts.indptr), shape=counts.shape)
    by_term = matrix.T.tocsr()
    lengths = matrix.sum(axis=1)
    long = 1 - SETTINGS["b"] + SETTINGS["b"] * lengths / lengths.mean()
    idf = np.repeat(bm25_weights.lucene_idf(len(lengths), df), np.diff(by_term.indptr))
    gain = by_term.data / (by_term.data + SETTINGS["k1"] * long[by_term.indices])
    return sparse.csr_array(((idf * gain).astype(np.float32), by_term.indices, by_term.indptr),
                            shape=by_term.shape)


def _rank_bm25(index: Index, asked: list[np.ndarray]) -> dict:
    """rank-bm25 and the kit on the first few documents alone."""
    from rank_bm25 import BM25Okapi

    few = index.counts
    few = sparse.csr_array((few.data, few.indices, few.indptr), shape=few.shape)[:ALONE]
    peer = BM25Okapi(_lists(few), k1=SETTINGS["k1"], b=SETTINGS["b"])
    seconds = clocked(lambda: [peer.get_scores(ids.tolist()) for ids in asked], repeat=False)[1]
    engine, places = Bm25Engine(few, SETTINGS | {"variant": "okapi"}), np.arange(few.shape[0])
    _kit(engine, places, asked)
    ours = clocked(lambda: _kit(engine, places, asked))[1]
    return {"rank-bm25": seconds / len(asked), "kit beside rank-bm25": ours / len(asked),
            "documents of rank-bm25": few.shape[0]}


def _agreement(found: Found, answers: Iterable) -> dict:
    """Of the peer's queries, how many have another top 100, those apart that tie with the last; and
    by how much of itself a score differs at most."""
    differ, largest = 0, 0.0
    for i, (theirs, scores) in enumerate(answers):
        own = slice(found.starts[i], found.starts[i + 1])
        ours = dict(zip(found.positions[own].tolist(), found.scores[own].tolist()))
        peer = {d: s for d, s in zip(theirs.tolist(), scores.tolist()) if s > 0}
        cut = max(min(ours.values()), min(peer.values())) * (1 + NEAR) if len(ours) == TOP else 0
        differ += any(s > cut and d not in other for mine, other in ((ours, peer), (peer, ours))
                      for d, s in mine.items())
        largest = max([largest, *(abs(peer[d] - s) / s for d, s in ours.items() if d in peer)])
    return {"differ": differ, "largest difference": largest}


def _sum(*rooms: float | None) -> float | None:
    return None if None in rooms else sum(rooms)


def indexing(view: str, *folders: str) -> list[dict]:
    """A row a folder: from texts in memory to an index that can be searched, the kit and bm25s."""
    return [_both_indexed(folder, view) for folder in folders]


def _both_indexed(folder: str, view: str) -> dict:
    import bm25s

    words = list(texts(open_collection(folder), "corpus", view))
    Bm25Engine(counted(words[:20]).counts, SETTINGS)  # compiled, or loaded
    (index, _), ours, room = clocked(lambda: _indexed(words))
    terms = index.counts.shape[1]
    del index

    def theirs():
        tokens = bm25s.tokenize(words, stopwords=None, show_progress=False)
        peer = bm25s.BM25(method="lucene", k1=SETTINGS["k1"], b=SETTINGS["b"], backend="numba")
        peer.index(tokens, show_progress=False)
        return len([t for t in tokens.vocab if t])

    known, seconds, more = clocked(theirs)
    return {"documents": len(words), "text MB": sum(map(len, words)) / 1e6, "kit": ours,
            "bm25s": seconds, "kit MB": room, "bm25s MB": more, "terms": terms, "bm25s terms": known}


def _indexed(words: list[str]) -> tuple[Index, Bm25Engine]:
    index = counted(words)
    return index, Bm25Engine(index.counts, SETTINGS)


# --- the whole way, scoring, embeddings -----------------------------------------------------------

def baseline(folder: str, work: str) -> dict:
    """BM25 from the tables to the saved run, made anew below `work`, an outputs folder for this."""
    shutil.rmtree(Path(work), ignore_errors=True)
    start = time.perf_counter()
    collection = open_collection(folder)
    run = retrieve(collection, "bm25", make_params(
        {"collection": folder, "systems": ["bm25"], "depth": TOP, "outputs": work}))
    return {"documents": len(collection.ids("corpus")), "queries": len(collection.ids("queries")),
            **{name.replace("_", " "): value for name, value in run.manifest["cost"].items()},
            "rows": len(run.table), "seconds": time.perf_counter() - start}


def words(folder: str, view: str, work: str) -> dict:
    """How the collection's words are spread over its documents."""
    counts = _index(open_collection(folder), view, work).counts
    return spread(sparse.csr_array((counts.data, counts.indices, counts.indptr), shape=counts.shape))


def scoring(queries: str, depth: str = "1000", documents: str = "75050") -> dict:
    """The measures that both have, from a run to a value a query: the kit, and pytrec_eval alone and
    with the dicts that it needs. Half of a query's seven relevants are found."""
    import pytrec_eval

    n, k, size = int(queries), int(depth), int(documents)
    run, pairs = _made_up(n, k, size)
    (hits, values), ours, _ = clocked(lambda: _scored(run, pairs, [*COMMON]))
    everything = clocked(lambda: _scored(run, pairs, [*COMMON, *OWN]))[1]
    qrels: dict[str, dict[str, int]] = {}
    for query, doc in pairs.itertuples(index=False):
        qrels.setdefault(query, {})[doc] = 1
    asked = {"ndcg_cut.10,100,1000", "recall.10,100,1000", "P.10", "success.10", "recip_rank", "map"}
    given, dicts, _ = clocked(lambda: _as_dicts(run))
    peer = pytrec_eval.RelevanceEvaluator(qrels, asked)
    theirs, seconds, _ = clocked(lambda: peer.evaluate(given))
    frame = pd.DataFrame.from_dict(theirs, orient="index").loc[hits.query_ids]
    worst = max(float(np.abs(frame[name] - values[ours_]).max()) for ours_, name in COMMON.items())
    return {"queries": n, "depth": k, "kit": ours, "kit, all measures": everything,
            "pytrec_eval alone": seconds, "pytrec_eval with its dicts": seconds + dicts,
            "largest difference": worst}


def _scored(run, pairs: pd.DataFrame, names: list[str]):
    hits = measures.hits_of(run, pairs)
    return hits, measures.per_query(hits, names)


def _as_dicts(run) -> dict[str, dict[str, float]]:
    made: dict[str, dict[str, float]] = {}
    for query, doc, score in zip(*(run[c].to_pylist() for c in ("query_id", "doc_id", "score"))):
        made.setdefault(query, {})[doc] = score
    return made


def _made_up(queries: int, depth: int, documents: int):
    """A run of random documents under strictly falling scores, and its relevant pairs."""
    rng = np.random.default_rng(0)
    names = np.array([f"gen-{i:06d}" for i in range(documents)])
    asked = [f"query-{i:05d}" for i in range(queries)]
    drawn = np.stack([rng.choice(documents, depth, replace=False) for _ in asked])
    run = ranked(np.repeat(asked, depth), names[drawn.ravel()],
                 np.tile(np.arange(depth, 0, -1, dtype=np.float32), queries))
    pairs = [(query, names[doc]) for query, row in zip(asked, drawn)
             for doc in {*rng.choice(row, 4).tolist(), *rng.choice(documents, 3).tolist()}]
    return run, pd.DataFrame(pairs, columns=["query_id", "doc_id"])


def embeddings(queries: str, documents: str, dimensions: str = "384") -> dict:
    """The exact top 100 by cosine, and the bare product of the matrices into room that is there."""
    n, size, d = int(queries), int(documents), int(dimensions)
    rng = np.random.default_rng(0)
    vectors, asked = (_unit(rng.standard_normal((rows, d), np.float32)) for rows in (size, n))
    places, engine = np.arange(size), Cosines(vectors)
    blocks = [asked[start:start + 1024] for start in range(0, n, 1024)]
    room = np.empty((min(n, 1024), size), np.float32)

    def bare():
        for block in blocks:
            np.matmul(block, vectors.T, out=room[:len(block)])

    bare()
    best(engine, blocks[0][:8], places, TOP)
    product = clocked(bare)[1]
    found, ours, _ = clocked(lambda: [best(engine, block, places, TOP) for block in blocks])
    exact = (asked[0].astype(np.float64) * vectors.astype(np.float64)).sum(axis=1).round(6)
    first = np.lexsort((-places, -exact.astype(np.float32)))[:TOP]
    return {"queries": n, "documents": size, "dimensions": d, "kit": ours, "bare product": product,
            "same as float64": bool((found[0].positions[:TOP] == first).all())}


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


PARTS = {"searching": searching, "indexing": indexing, "baseline": baseline, "words": words,
         "scoring": scoring, "embeddings": embeddings}

if __name__ == "__main__":
    print(json.dumps(PARTS[sys.argv[1]](*sys.argv[2:]), allow_nan=False))
