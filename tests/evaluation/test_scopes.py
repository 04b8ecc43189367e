"""The scopes of DAPFAM's miniature: every figure restated in loops, and as trec_eval has it."""

import math
from collections import defaultdict

import pyarrow as pa
import pytest
import pytrec_eval

from kit.collection.sources import open_collection
from kit.evaluation.evaluate import evaluate, figures
from kit.params import MEASURES, make_params
from kit.relevance.domains import scope_counts
from kit.relevance.protocols import positives
from kit.relevance.slices import SCOPES
from kit.retrieval.execute import retrieve
from kit.retrieval.run import ranked

NAMES = [*MEASURES, "R@5", "RR@10", "AP@10", "P@100", "PRES@50", "Judged@100"]
SIZE = {"all": 40, "scope IN": 34, "scope OUT": 32, "scope OUT residual": 32}  # the registry's


@pytest.fixture(scope="module")
def run(mini_dapfam, tmp_path_factory):
    """BM25 to 60 documents, with every seventh query missing."""
    params = make_params({"collection": "mini-dapfam", "systems": ["bm25"], "depth": 60,
                          "outputs": str(tmp_path_factory.mktemp("out"))})
    table = retrieve(mini_dapfam, "bm25", params).table
    left = set(sorted(mini_dapfam.ids("queries"))[::7])
    return table.filter(pa.array([q not in left for q in table["query_id"].to_pylist()]))


@pytest.fixture(scope="module")
def rankings(run) -> dict[str, list[str]]:
    found = defaultdict(list)
    for row in sorted(run.to_pylist(), key=lambda r: (r["query_id"], r["rank"])):
        found[row["query_id"]].append(row["doc_id"])
    return found


def relevant_by_scope(collection) -> dict[str, dict[str, set[str]]]:
    """{scope: {query: documents}} by what the relations state."""
    found = {name: defaultdict(set) for name in SIZE}
    for pair in collection.pairs.to_dict("records"):
        scopes = {"IN": ["scope IN"], "OUT": ["scope OUT", "scope OUT residual"]}
        for name in ("all", *scopes[pair["domain_rel"]]):
            found[name][pair["query_id"]].add(pair["doc_id"])
    return found


def restated(measure: str, ranking: list[str], relevant: set[str], judged: set[str]) -> float:
    """A measure's value by its definition in the table of measures, document by document."""
    kind, _, cut = measure.partition("@")
    k = int(cut) if cut else len(ranking)
    ranks = [r for r, d in enumerate(ranking[:k], 1) if d in relevant]
    n, missed = len(relevant), len(relevant) - len(ranks)
    gain = sum(1 / math.log2(r + 1) for r in ranks)
    return {
        "nDCG": lambda: gain / sum(1 / math.log2(r + 1) for r in range(1, min(n, k) + 1)),
        "R": lambda: len(ranks) / n, "P": lambda: len(ranks) / k,
        "Success": lambda: float(bool(ranks)), "RR": lambda: 1 / ranks[0] if ranks else 0.0,
        "AP": lambda: sum(i / r for i, r in enumerate(ranks, 1)) / n,
        "PRES": lambda: 1 - ((sum(ranks) + sum(k + len(ranks) + i for i in range(1, missed + 1))) / n
                             - (n + 1) / 2) / k,
        "primary_nDCG": lambda: 1 / math.log2(ranks[0] + 1) if ranks else 0.0,
        "Judged": lambda: sum(d in judged for d in ranking[:k]) / len(ranking[:k]) if ranking else 0.0,
        "GoldCoverage": lambda: float(len(ranks)),
    }[kind]()


@pytest.mark.parametrize("scope", SIZE)
def test_every_figure_of_every_scope_is_what_the_definitions_give(mini_dapfam, run, rankings, scope):
    by_scope = relevant_by_scope(mini_dapfam)
    judged, mine = by_scope["all"], by_scope[scope]
    frame = figures(evaluate(run, mini_dapfam, "all", NAMES), seed=0)
    means = frame[frame["slice"] == scope].set_index("measure")
    assert set(means["n"]) == {SIZE[scope]} == {len(mine)}
    for measure in NAMES:
        values = []
        for query, relevant in mine.items():
            out = by_scope["scope IN"][query] if scope.endswith("residual") else set()
            ranking = [d for d in rankings.get(query, []) if d not in out]
            values.append(restated(measure, ranking, relevant, judged[query]))
        over = len(mine) if not measure.startswith("Gold") else sum(map(len, mine.values()))
        assert means.loc[measure, "mean"] == pytest.approx(sum(values) / over, abs=1e-9), measure


TREC = {"nDCG@100": "ndcg_cut_100", "nDCG@10": "ndcg_cut_10", "R@100": "recall_100", "R@5": "recall_5",
        "P@10": "P_10", "Success@10": "success_10", "RR": "recip_rank", "AP": "map"}


@pytest.mark.parametrize("scope", ["all", "scope IN", "scope OUT"])
def test_the_published_scopes_are_trec_evals_over_the_scopes_qrels(mini_dapfam, run, scope):
    qrels = {q: dict.fromkeys(docs, 1) for q, docs in relevant_by_scope(mini_dapfam)[scope].items()}
    oracle = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut", "recall", "P", "success",
                                                    "recip_rank", "map"})
    scores = defaultdict(dict)
    for row in run.to_pylist():
        scores[row["query_id"]][row["doc_id"]] = row["score"]
    theirs = oracle.evaluate(scores)
    ours = evaluate(run, mini_dapfam, "all", list(TREC)).parts[scope].values
    for query in qrels:
        for name, trec in TREC.items():
            assert ours.loc[query, name] == pytest.approx(
                theirs[query][trec] if query in theirs else 0.0, abs=1e-9)


def test_what_is_stated_goes_before_the_classes_and_both_are_counted(mini_dapfam):
    counts = scope_counts(mini_dapfam, positives(mini_dapfam, "all"))
    oddities = mini_dapfam.entry.oddities
    assert counts == {"from": "domain_rel", "IN": 99, "OUT": 68, "UNKNOWN": 0,
                      "otherwise": oddities["domain_rel against the classes"],
                      "untold": oddities["pairs whose domain can't be told"]}


def in_memory(tmp_path, make_collection):
    """One query of F16 with an IN document, two OUT ones, and one without a class."""
    corpus = [{"doc_id": "d1", "ipc": ["F16K1/00"]}, {"doc_id": "d2", "ipc": ["F15B1/00"]},
              {"doc_id": "d3", "ipc": ["A01B1/00"]}, {"doc_id": "d4", "ipc": None}, "d5"]
    return open_collection(str(make_collection(
        tmp_path, [{"query_id": "q1", "ipc": ["F16K31/06"]}], corpus,
        [("q1", d) for d in ("d1", "d2", "d3", "d4")])))


def test_elsewhere_the_domain_is_recomputed_and_one_that_is_unknown_is_in_no_scope(
        tmp_path, make_collection):
    collection = in_memory(tmp_path, make_collection)
    assert scope_counts(collection, positives(collection, "all")) == {
        "from": "three-character classes", "IN": 1, "OUT": 2, "UNKNOWN": 1}
    run = ranked(["q1"] * 5, ["d4", "d1", "d2", "d5", "d3"], [5, 4, 3, 2, 1])
    parts = evaluate(run, collection, "all", ["RR", "R@3", "Judged@5"]).parts
    shown = {name: parts[name].values.loc["q1"].tolist() for name in SCOPES}
    assert shown["scope IN"] == [1 / 2, 1.0, 4 / 5]
    assert shown["scope OUT"] == [1 / 3, 1 / 2, 4 / 5]  # d4 and d1 stay, as not relevant
    assert shown["scope OUT residual"] == [1 / 2, 1 / 2, 3 / 4]  # d4 stays: its domain is unknown


def test_residual_rankings_are_not_filled_from_below_the_depth(tmp_path, make_collection):
    collection = in_memory(tmp_path, make_collection)
    run = ranked(["q1"] * 2, ["d1", "d5"], [2, 1])  # a cut at 2: d2 would have been the third
    hits = evaluate(run, collection, "all", ["R@2"]).parts["scope OUT residual"].hits
    assert hits.returned.tolist() == [1] and hits.missing == 0 and not hits.hits.any()


def test_a_collection_without_classes_has_no_scope_and_says_why(tmp_path, make_collection):
    collection = open_collection(str(make_collection(tmp_path, corpus=[
        {"doc_id": d, "ipc": None} for d in ("d1", "d2", "d3")])))
    parts = evaluate(ranked(["q1"], ["d1"], [1]), collection, "all", ["RR"]).parts
    assert {parts[name].reason for name in SCOPES} == {
        "no relevant pair has three-character classes on both sides"}
