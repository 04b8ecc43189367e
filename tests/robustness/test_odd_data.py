"""Long and odd data the whole way: folder, runs, figures, scorecards, comparison, page. What is expected
is reckoned here by brute force, or by trec_eval, and never taken from the kit."""

import gc
import math
import re
import threading
import unicodedata
from collections import Counter
from contextlib import contextmanager

import numpy as np
import pytest
import pytrec_eval

from kit import cli
from kit.collection.sources import open_collection
from kit.errors import KitError
from kit.evaluation import uncertainty
from kit.params import make_params
from kit.pipeline import check_experiment
from kit.reporting import card_comparison, score, scorecard, site
from kit.retrieval import execute
from kit.retrieval.serve import make_server

K1, B, RRF = 1.2, 0.75, 60
MEASURES = ["nDCG@10", "nDCG@100", "R@10", "R@100", "P@10", "Success@10", "RR", "AP", "PRES@100"]
TREC = {"nDCG@10": "ndcg_cut_10", "nDCG@100": "ndcg_cut_100", "R@10": "recall_10", "R@100": "recall_100",
        "P@10": "P_10", "Success@10": "success_10", "RR": "recip_rank", "AP": "map"}
LONG = "valve seat spring rotor pump " * 29_400  # 852,600 characters
NFC, NFD = unicodedata.normalize("NFC", "café"), unicodedata.normalize("NFD", "café")
IDS = ["001", "1", "1e3", "ام", "صمام", "阀门", "弁", "वाल्व", NFC, NFD, "🔧‍🔩", "👩🏽‍🔧", "סתום 12", "a\u200bb", "ab",
       "a\u202eb", "a b", "a\u00a0b", "a'b\"c", "a|b", "<b>x</b>", "K", "\u212a", "ß", "SS", "İ", "i̇", "\U0001d54f", "﷽",
       "nan", "None", "true", "=1+1", "z" * 300, "\u0e01\u0e33", "\u1e9e", "ffi", "ﬃ", "-", "%00", "\\u0041", "A"]


WORDS = "valve seat spring rotor blade pump seal shaft gear lever nozzle filter".split()
PLAIN = [(f"d{i}", " ".join(WORDS[(i * j) % 12] for j in range(1, 8))) for i in range(9)]
# {case: (queries, documents, relevant pairs)}, of (id, title)
CASES = {
    "one document, one query": ([("q1", "valve seat")], [("d1", "valve seat spring")], [("q1", "d1")]),
    "one document that is not found": ([("q1", "rotor")], [("d1", "valve seat spring")], [("q1", "d1")]),
    "all texts equal": ([(f"q{i}", "valve seat") for i in range(3)], [(f"d{i}", "valve seat") for i in range(30)],
                        [("q0", "d0"), ("q1", "d29"), ("q1", "d3"), ("q2", "d5")]),
    "no known term": ([("q1", "rotor blade"), ("q2", "pump")], [(f"d{i}", "valve seat") for i in range(4)],
                      [("q1", "d1"), ("q2", "d3")]),
    "one character": ([("q1", "v"), ("q2", "弁"), ("q3", "valve"), ("q4", "x" * 5000)],
                      [("d1", "v valve"), ("d2", "弁 seat"), ("d3", "v v v v")], [("q1", "d1"), ("q2", "d2"), ("q3", "d1"), ("q4", "d3")]),
    "empty texts": ([("q1", ""), ("q2", "valve")], [("d1", ""), ("d2", ""), ("d3", "valve")], [("q1", "d1"), ("q2", "d3"), ("q2", "d1")]),
    "ids of every script": ([(f"q{i}", f"valve {w}") for i, w in zip(IDS, WORDS * 9)],
                            [(i, f"valve {w}") for i, w in zip(IDS, WORDS[3:] * 9)],
                            [(f"q{i}", j) for i, j in zip(IDS, IDS[5:] + IDS[:5])]),
    "1,000 relevants": ([("q1", "valve seat"), ("q2", "rotor")], [(f"d{i}", f"valve {WORDS[i % 12]} seat") for i in range(1200)],
                        [("q1", f"d{i}") for i in range(100, 1100)] + [("q2", "d3")]),
}
SHOWN = ("one document, one query", "all texts equal", "no known term", "ids of every script", "1,000 relevants")
NEURAL = ("one document, one query", "all texts equal", "one character", "no known term")  # a model is slow
every_case = pytest.mark.parametrize("case", CASES)


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch, tmp_path):
    monkeypatch.setattr(uncertainty, "RESAMPLES", 20)
    monkeypatch.setenv("KIT_REGISTRY", str(tmp_path / "registry.yaml"))


def titled(key: str, rows: list) -> list[dict]:
    return [{key: name, "title": text, "abstract": "", "claims": "", "description": ""} for name, text in rows]


@contextmanager
def serving(collection, view: str):
    with make_server(collection, view, "127.0.0.1", 0) as made:
        threading.Thread(target=made.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{made.server_port}/"
        made.shutdown()


# --- by brute force -----------------------------------------------------------------------------------

def words(text: str) -> list[str]:
    return re.findall(r"\b\w\w+\b", text.lower())


def bm25(queries: list, documents: list) -> dict[str, dict[str, float]]:
    """{query: {document: score above 0}} by the formula of Kamphuis et al., a word at a time."""
    held = {name: Counter(words(text)) for name, text in documents}
    mean = sum(sum(own.values()) for own in held.values()) / len(held)
    df = Counter(word for own in held.values() for word in own)
    found = {}
    for query, text in queries:
        found[query] = {}
        for name, own in held.items():
            total = sum(n * math.log(1 + (len(held) - df[w] + .5) / (df[w] + .5)) * own[w] / (
                own[w] + K1 * (1 - B + B * sum(own.values()) / mean)) for w, n in Counter(words(text)).items() if w in own)
            if total > 0:
                found[query][name] = total
    return found


def in_order(scores: dict[str, float], depth: int) -> list[str]:
    """The tie rule: float32 score, then identifier by its bytes, both descending. Sums that differ in
    the order of their terms alone are equal."""
    return sorted(scores, key=lambda d: (np.float32(round(scores[d], 6)), d.encode()), reverse=True)[:depth]


def rrf(rankings: list[dict[str, list[str]]], depth: int) -> dict[str, list[str]]:
    fused = {}
    for query in {q for ranking in rankings for q in ranking}:
        sums = Counter()
        for ranking in rankings:
            for rank, name in enumerate(ranking.get(query, []), 1):
                sums[name] += 1 / (RRF + rank)
        fused[query] = in_order(sums, depth)
    return fused


def oracle(ranking: dict[str, list[str]], pairs: list) -> dict[str, dict[str, float]]:
    """{query: {measure: value}} of trec_eval, and PRES by Magdy and Jones' formula; 0 for no ranking."""
    relevant = {}
    for query, document in pairs:
        relevant.setdefault(query, {})[document] = 1
    run = {q: {d: float(len(docs) - i) for i, d in enumerate(docs)} for q, docs in ranking.items() if docs}
    told = pytrec_eval.RelevanceEvaluator(relevant, set(TREC.values())).evaluate(run)
    values = {q: {m: told.get(q, {}).get(name, 0.0) for m, name in TREC.items()} for q in relevant}
    for query, mine in relevant.items():
        ranks = [i for i, d in enumerate(ranking.get(query, [])[:100], 1) if d in mine]
        n = len(mine)
        ranks += [100 + i for i in range(len(ranks) + 1, n + 1)]
        values[query]["PRES@100"] = 1 - (sum(ranks) / n - (n + 1) / 2) / 100
    return values


# --- the whole way ------------------------------------------------------------------------------------

def rankings(run) -> dict[str, list[str]]:
    found = {}
    for row in run.table.to_pylist():
        found.setdefault(row["query_id"], []).append(row["doc_id"])
    return found


def held_to(run, expected: dict[str, list[str]]) -> None:
    assert rankings(run) == {q: docs for q, docs in expected.items() if docs}
    assert sorted(run.manifest["empty_queries"]) == sorted(q for q, docs in expected.items() if not docs)


def figures_hold(collection, runs, params, pairs) -> None:
    for name, evaluation in score.evaluate_runs(collection, runs, params).items():
        run = next(run for run in runs if run.system == name)
        expected = oracle(rankings(run), pairs)
        values = evaluation.values
        assert set(values.index) == set(expected)
        for measure in params.measures:
            wanted = [expected[q][measure] for q in values.index]
            np.testing.assert_allclose(values[measure], wanted, atol=1e-9, err_msg=f"{name} {measure}")
            assert evaluation.mean(measure) == pytest.approx(np.mean(wanted), abs=1e-9)


def published(collection, runs, params, pairs) -> None:
    """Cards whose means are the oracle's, their comparison, and the pages."""
    paths = score.write_scorecards(collection, runs, score.figures_of_runs(collection, runs, params), params)
    for path, run in zip(paths, runs):
        card, expected = scorecard.read_scorecard(path), oracle(rankings(run), pairs)
        for figure in card.figures:
            if (figure.protocol, figure.slice) == ("all", "all") and figure.measure in params.measures:
                assert figure.n == len(expected)
                assert figure.mean == pytest.approx(np.mean([v[figure.measure] for v in expected.values()]), abs=1e-6)
    told = card_comparison.markdown(card_comparison.compare(paths, collection, params.outputs))
    assert all(run.system in told for run in runs)
    assert "nan" not in told.lower().replace("nan</", "")
    page = site.build(params.outputs).read_text("utf-8")
    assert "nan" not in re.sub(r"[^ <>]*nan[a-z]+", "", page.lower())


@every_case
def test_odd_data_gives_the_right_figures(case, tmp_path, make_collection):
    queries, documents, pairs = CASES[case]
    collection = open_collection(str(make_collection(
        tmp_path, titled("query_id", queries), titled("doc_id", documents), pairs)))
    assert list(collection.ids("corpus")) == [name for name, _ in documents]
    with serving(collection, "title") as url:
        params = make_params({
            "outputs": str(tmp_path / "out"), "query_view": "title", "corpus_view": "title",
            "measures": MEASURES, "service_url": url, "collection": collection.source,
            "systems": ["bm25", "bm25-passages", "service", "fusion"], "fusion_of": ["bm25", "service"]})
        runs = execute.retrieve_all(collection, params)
    by_name = {run.system: run for run in runs}
    scores = bm25(queries, documents)
    expected = {q: in_order(found, 100) for q, found in scores.items()}
    for name in ("bm25", "bm25-passages", "service"):
        held_to(by_name[name], expected)
    for row in by_name["bm25"].table.to_pylist():
        assert row["score"] == pytest.approx(scores[row["query_id"]][row["doc_id"]], rel=1e-6)
    held_to(by_name["fusion"], rrf([expected, expected], 100))
    assert not any(run.manifest["failures"] for run in runs)
    figures_hold(collection, runs, params, pairs)
    if case in SHOWN:
        published(collection, runs, params, pairs)


def test_ids_that_look_alike_are_different_documents():
    assert len({unicodedata.normalize("NFKC", i).casefold() for i in IDS}) < len(set(IDS)) == len(IDS)


def test_the_deepest_ranking_holds_every_document_once(tmp_path, make_collection):
    """A depth far above the corpus, and one of 1: both are the brute force's."""
    queries = [("q1", "valve seat"), ("q2", "pump pump rotor")]
    collection = open_collection(str(make_collection(
        tmp_path, titled("query_id", queries), titled("doc_id", PLAIN), [("q1", "d1"), ("q2", "d8")])))
    for depth in (1, 8, 9, 10, 5000):
        params = make_params({"outputs": str(tmp_path / "out"), "depth": depth, "query_view": "title",
                              "corpus_view": "title", "systems": ["bm25"], "measures": ["AP"]})
        run, = execute.retrieve_all(collection, params)
        held_to(run, {q: in_order(found, depth) for q, found in bm25(queries, PLAIN).items()})


# --- embeddings ---------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def encoder():
    """The packaged model, one text at a time, by sentence-transformers alone."""
    from sentence_transformers import SentenceTransformer

    from kit.retrieval.models import packaged_folder
    model = SentenceTransformer(str(packaged_folder()), device="cpu")
    return lambda text: model.encode([text], normalize_embeddings=True)[0].astype(np.float64)


def near(run, queries: list, documents: list, encoder, tolerance: float) -> None:
    """Every score is the cosine to the tolerance, and no two stand the wrong way round by more."""
    vectors = {name: encoder(text) for name, text in documents}
    asked = {name: encoder(text) for name, text in queries}
    found = rankings(run)
    for row in run.table.to_pylist():
        assert row["score"] == pytest.approx(asked[row["query_id"]] @ vectors[row["doc_id"]], abs=tolerance)
    for query, text in queries:
        cosines = [asked[query] @ vectors[d] for d in found.get(query, [])]
        assert len(cosines) == (min(100, len(documents)) if text else 0)  # an empty query finds nothing
        assert all(a >= b - 2 * tolerance for a, b in zip(cosines, cosines[1:]))


@pytest.mark.parametrize("case", NEURAL)
def test_odd_data_by_the_packaged_model(case, tmp_path, make_collection, encoder):
    queries, documents, pairs = CASES[case]
    collection = open_collection(str(make_collection(
        tmp_path, titled("query_id", queries), titled("doc_id", documents), pairs)))
    params = make_params({"outputs": str(tmp_path / "out"), "query_view": "title", "corpus_view": "title",
                          "measures": MEASURES, "collection": collection.source,
                          "systems": ["bm25", "embedding", "embedding-passages", "fusion"]})
    runs = execute.retrieve_all(collection, params)
    for run in runs[1:3]:
        near(run, queries, documents, encoder, 2e-6)
    if case == "all texts equal":  # which tie, and stand by their ids
        expected = sorted((d for d, _ in documents), reverse=True)
        assert all(docs == expected for docs in rankings(runs[1]).values())
    figures_hold(collection, runs, params, pairs)


# --- long -----------------------------------------------------------------------------------------------

def test_descriptions_of_850_000_characters(tmp_path, make_collection, encoder):
    """One document and one query, by every kind of system; the model reads their first 256 tokens."""
    assert len(LONG) > 850_000
    queries = [{"query_id": "long", "description": LONG}, {"query_id": "short", "description": "rotor nozzle"}]
    documents = [{"doc_id": "long", "description": LONG + "nozzle"}, {"doc_id": "d1", "description": "valve rotor"},
                 {"doc_id": "d2", "description": "filter"}]
    pairs = [("long", "d1"), ("short", "long")]
    collection = open_collection(str(make_collection(tmp_path, queries, documents, pairs)))
    with serving(collection, "description") as url:
        params = make_params({
            "outputs": str(tmp_path / "out"), "query_view": "description", "corpus_view": "description",
            "collection": collection.source, "measures": MEASURES, "service_url": url,
            "systems": ["bm25", "bm25-passages", "service", "embedding", "fusion"], "fusion_of": ["bm25", "service"]})
        runs = execute.retrieve_all(collection, params)
    by_name = {run.system: run for run in runs}
    asked, held = ([(r[key], r["description"]) for r in rows] for key, rows in (("query_id", queries), ("doc_id", documents)))
    scores = bm25(asked, held)
    scores["long"].pop("long", None)  # its own entry
    expected = {q: in_order(found, 100) for q, found in scores.items()}
    for name in ("bm25", "service"):
        held_to(by_name[name], expected)
    held_to(by_name["fusion"], rrf([expected, expected], 100))
    best = next(r for r in by_name["bm25-passages"].table.to_pylist() if (r["query_id"], r["doc_id"]) == ("short", "long"))
    assert best["end"] == len(LONG) + len("nozzle")  # of thousands of passages the only one with both words
    dense = next(run for run in runs if run.manifest["system"]["given"].get("from"))
    assert (dense.manifest["notes"]["corpus_texts_cut"], dense.manifest["notes"]["query_texts_cut"]) == (1, 1)
    found = {(r["query_id"], r["doc_id"]): r["score"] for r in dense.table.to_pylist()}
    head = encoder(LONG[:5000])
    assert found["long", "d1"] == pytest.approx(head @ encoder("valve rotor"), abs=2e-6)
    assert found["short", "long"] == pytest.approx(head @ encoder("rotor nozzle"), abs=2e-6)
    figures_hold(collection, runs, params, pairs)


def test_a_corpus_without_a_word_is_refused_and_no_port_stays_open(tmp_path, make_collection):
    folder = make_collection(tmp_path, titled("query_id", [("q1", "valve")]), titled("doc_id", [("d1", ""), ("d2", ".")]),
                             [("q1", "d1")])
    collection = open_collection(str(folder))
    with pytest.raises(KitError, match="no document has a single term"):
        execute.retrieve(collection, "bm25", make_params({"outputs": str(tmp_path / "out")}))
    with pytest.raises(KitError, match="no document has a single term"), serving(collection, "title"):
        pass
    gc.collect()  # a socket left open would warn, which is an error


# --- nothing at all -------------------------------------------------------------------------------------

@pytest.mark.parametrize("table", ["queries", "corpus", "qrels"])
def test_an_empty_table_is_refused_before_anything_is_written(tmp_path, make_collection, table, capfd):
    folder = make_collection(tmp_path, tweak={table: lambda made: made.slice(0, 0)})
    given = make_params({"collection": str(folder), "outputs": str(tmp_path / "out"), "systems": ["bm25"]})
    with pytest.raises(KitError, match=f"{table}: the table has no row"):
        check_experiment(given)
    assert cli.main(["run", "-p", "collection", str(folder), "-p", "outputs", str(tmp_path / "out")]) == 1
    shown = capfd.readouterr().err
    assert shown.count("\n") == 1 and "Traceback" not in shown and not (tmp_path / "out").exists()
