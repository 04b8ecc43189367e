"""The measures: against reference values, trec_eval, and plain re-statements of their definitions."""

import json
import random

import pandas as pd
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from kit.errors import MeasureError, RunError
from kit.evaluation.measures import MEASURES, hits_of, mean, parse_measure, per_query, sentence
from kit.retrieval.run import ranked

CUTOFFS = (1, 2, 3, 7, 100)
# ids that look like numbers or blanks, differ in case only, or sort otherwise by bytes
ODD_IDS = ["1e5", "1E5", "001", "01", "1", "nan", "None", "a b", "Z", "z", "é", "ß", "\uff21", "\U0001d4b3",
           "-1", "NULL"]
# 0.0 and -0.0, and 1 and 1 + 1e-9, are one float32 score each
SCORES = [0.0, -0.0, 1.0, 1.0 + 1e-9, 0.1, -3.5, 1e-8, 2.0]

anything = settings(deadline=None, max_examples=40, database=None)
documents = st.lists(st.sampled_from(ODD_IDS), unique=True, max_size=len(ODD_IDS))
qrels_of = st.dictionaries(st.sampled_from(["q1", "q2", "1e5", "q 4"]), documents, min_size=1).filter(
    lambda qrels: any(qrels.values()))
runs_of = st.dictionaries(
    st.sampled_from(["q1", "q2", "1e5", "q 4", "stranger"]),
    st.dictionaries(st.sampled_from(ODD_IDS), st.sampled_from(SCORES), max_size=len(ODD_IDS)))


def run_table(run: dict):
    """A run from {query: {document: score}} or {query: documents, best first}."""
    rows = [(q, d, s) for q, docs in run.items() for d, s in (
        docs.items() if isinstance(docs, dict) else zip(docs, range(len(docs), 0, -1)))]
    return ranked(*zip(*rows)) if rows else ranked([], [], [])


def pairs(qrels: dict) -> pd.DataFrame:
    """The rows of {query: documents}."""
    return pd.DataFrame([(q, d) for q, docs in qrels.items() for d in docs], dtype=object,
                        columns=["query_id", "doc_id"])


def scored(run: dict, qrels: dict, name: str, judged: dict | None = None) -> pd.Series:
    hits = hits_of(run_table(run), pairs(qrels), None if judged is None else pairs(judged))
    return per_query(hits, [name])[name]


def order(docs: dict) -> list[str]:
    """trec_eval's order, said once more: float32 score, then id by bytes, both falling."""
    import struct
    def float32(x):
        return struct.unpack("f", struct.pack("f", x))[0] + 0.0
    return sorted(docs, key=lambda d: (float32(docs[d]), d.encode()), reverse=True)


def test_every_reference_value_is_met(shared):
    wrong = []
    for line in (shared / "conformance" / "measures.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        hits = hits_of(run_table(case["run"]), pairs(case["qrels"]))
        for name, expected in case["expected"].items():
            values = per_query(hits, [name])[name]
            if mean(hits, name, values) != pytest.approx(expected["mean"], abs=1e-9, rel=0):
                wrong.append((case["name"], name))
            if expected["per_query"] is None:
                assert values.isna().all()
            elif values.to_dict() != pytest.approx(expected["per_query"], abs=1e-9, rel=0):
                wrong.append((case["name"], name, "per query"))
    assert not wrong


@anything
@given(qrels_of, runs_of, st.sampled_from(CUTOFFS))
def test_standard_measures_are_those_of_trec_eval(qrels, run, k):
    named = {f"nDCG@{k}": f"ndcg_cut_{k}", f"R@{k}": f"recall_{k}", f"P@{k}": f"P_{k}",
             f"Success@{k}": f"success_{k}", "RR": "recip_rank", "AP": "map"}
    relevant = {q: dict.fromkeys(docs, 1) for q, docs in qrels.items() if docs}
    oracle = pytrec_eval.RelevanceEvaluator(relevant, {
        f"ndcg_cut.{k}", f"recall.{k}", f"P.{k}", f"success.{k}", "recip_rank", "map"})
    theirs = oracle.evaluate({q: docs for q, docs in run.items() if docs})
    ours = per_query(hits_of(run_table(run), pairs(qrels)), list(named))
    assert list(ours.index) == sorted(relevant)
    for name, known_as in named.items():
        expected = {q: theirs[q][known_as] if q in theirs else 0.0 for q in relevant}
        assert ours[name].to_dict() == pytest.approx(expected, abs=1e-9), name


@anything
@given(qrels_of, runs_of, st.sampled_from(CUTOFFS))
def test_a_cutoff_of_rr_and_ap_is_a_shorter_run(qrels, run, k):
    relevant = {q: dict.fromkeys(docs, 1) for q, docs in qrels.items() if docs}
    top = {q: {d: docs[d] for d in order(docs)[:k]} for q, docs in run.items() if docs}
    theirs = pytrec_eval.RelevanceEvaluator(relevant, {"recip_rank", "map"}).evaluate(top)
    ours = per_query(hits_of(run_table(run), pairs(qrels)), [f"RR@{k}", f"AP@{k}"])
    for name, known_as in ((f"RR@{k}", "recip_rank"), (f"AP@{k}", "map")):
        expected = {q: theirs[q][known_as] if q in theirs else 0.0 for q in relevant}
        assert ours[name].to_dict() == pytest.approx(expected, abs=1e-9), name


@anything
@given(qrels_of, runs_of, st.sampled_from(CUTOFFS))
def test_pres_is_its_definition_and_keeps_its_bounds(qrels, run, big_n):
    values = scored(run, qrels, f"PRES@{big_n}")
    recall = scored(run, qrels, f"R@{big_n}")
    for query, docs in qrels.items():
        if not docs:
            continue
        n, ranks = len(docs), []
        for rank, doc in enumerate(order(run.get(query, {}))[:big_n], 1):
            if doc in docs:
                ranks.append(rank)
        ranks += [big_n + i for i in range(len(ranks) + 1, n + 1)]
        assert values[query] == pytest.approx(1 - (sum(ranks) / n - (n + 1) / 2) / big_n, abs=1e-12)
        share = recall[query]
        assert n * share**2 / big_n - 1e-12 <= values[query] <= share + 1e-12


@anything
@given(qrels_of, runs_of, st.sampled_from(CUTOFFS))
def test_primary_ndcg_counts_the_best_rank_only(qrels, run, k):
    import math
    for query, value in scored(run, qrels, f"primary_nDCG@{k}").items():
        ranks = [r for r, d in enumerate(order(run.get(query, {})), 1) if d in qrels[query]]
        best = min(ranks, default=math.inf)
        assert value == pytest.approx(1 / math.log2(best + 1) if best <= k else 0.0, abs=1e-12)


@anything
@given(qrels_of, runs_of, st.sampled_from(CUTOFFS))
def test_gold_coverage_pools_the_pairs_of_all_queries(qrels, run, k):
    hits, name = hits_of(run_table(run), pairs(qrels)), f"GoldCoverage@{k}"
    found = sum(len(set(order(run.get(q, {}))[:k]) & set(docs)) for q, docs in qrels.items())
    values = per_query(hits, [name])[name]
    assert mean(hits, name, values) == pytest.approx(found / sum(map(len, qrels.values())), abs=1e-12)
    assert values.isna().all()


@anything
@given(qrels_of, qrels_of, runs_of, st.sampled_from(CUTOFFS))
def test_judged_is_a_share_of_what_was_returned(qrels, others, run, k):
    judged = {q: sorted({*qrels.get(q, []), *others.get(q, [])}) for q in {*qrels, *others}}
    for query, value in scored(run, qrels, f"Judged@{k}", judged).items():
        top = order(run.get(query, {}))[:k]
        expected = len(set(top) & set(judged[query])) / len(top) if top else 0.0
        assert value == pytest.approx(expected, abs=1e-12)


@anything
@given(qrels_of, runs_of, st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_no_figure(qrels, run, shuffler: random.Random):
    def shuffled(items):
        items = list(items)
        shuffler.shuffle(items)
        return items
    names = [m if MEASURES[m].cutoff == "optional" else f"{m}@5" for m in MEASURES]
    turned = {q: dict(shuffled(run[q].items())) for q in shuffled(run)}
    one = per_query(hits_of(run_table(run), pairs(qrels)), names)
    other = per_query(hits_of(run_table(turned), pairs(qrels).sample(frac=1, random_state=1)), names)
    pd.testing.assert_frame_equal(one, other, check_exact=True)


@pytest.mark.parametrize("turn", [1, -1])
def test_equal_scores_are_ordered_by_identifier_not_by_insertion(turn):
    docs = [f"d{i}" for i in range(9)][::turn]
    equal = {"q": dict.fromkeys(docs, 0.5)}
    assert scored(equal, {"q": ["d0"]}, "RR")["q"] == pytest.approx(1 / 9)
    assert scored(equal, {"q": ["d8"]}, "RR")["q"] == 1


def test_three_of_twenty_on_top():
    relevant = [f"r{i:02}" for i in range(20)]
    run = {"q": relevant[:3] + [f"n{i:02}" for i in range(97)]}
    # 1 + 1/log2(3) + 1/2, over the sum of the twenty best discounts
    assert scored(run, {"q": relevant}, "nDCG@100")["q"] == pytest.approx(0.3027, abs=5e-5)
    assert scored(run, {"q": relevant}, "R@100")["q"] == pytest.approx(0.15)


def test_a_query_without_positive_is_left_out():
    hits = hits_of(run_table({"q": ["d1"], "r": ["d1"]}), pairs({"q": ["d1"], "r": []}))
    assert (hits.query_ids, hits.missing) == (["q"], 0)


def test_a_query_that_the_run_lacks_scores_0_and_is_counted():
    hits = hits_of(run_table({"q": ["d1"]}), pairs({"q": ["d1"], "r": ["d1"]}))
    values = per_query(hits, ["RR"])["RR"]
    assert (values.to_dict(), mean(hits, "RR", values), hits.missing) == ({"q": 1, "r": 0}, 0.5, 1)


def test_a_run_of_nothing_but_strangers_scores_0():
    names = [m if MEASURES[m].cutoff == "optional" else f"{m}@5" for m in MEASURES]
    hits = hits_of(run_table({"stranger": ["d1"]}), pairs({"q": ["d1"]}))
    values = per_query(hits, names)
    assert [mean(hits, n, values[n]) for n in names] == [0.0] * len(names)


def test_no_relevant_pair_at_all_is_an_error():
    with pytest.raises(MeasureError, match="no relevant pair"):
        hits_of(run_table({"q": ["d1"]}), pairs({"q": []}))


def test_a_document_twice_names_query_and_document():
    twice = ranked(["q", "q", "r"], ["d1", "d1", "d1"], [2, 1, 1])
    with pytest.raises(RunError, match="query 'q', document 'd1' twice"):
        hits_of(twice, pairs({"q": ["d1"]}))


def test_a_pair_twice_in_the_qrels_counts_once():
    twice = pd.concat([pairs({"q": ["d1", "d2"]})] * 2)
    assert per_query(hits_of(run_table({"q": ["d1"]}), twice), ["R@5"])["R@5"]["q"] == 0.5


def test_an_ideal_needs_no_room_for_a_huge_cutoff():
    run, qrels = {"q": ["d2", "d1", "d3"]}, {"q": ["d1", "d3", "d9"]}
    at_the_end = scored(run, qrels, "nDCG@3")["q"]
    assert scored(run, qrels, "nDCG@999999999")["q"] == pytest.approx(at_the_end)


@pytest.mark.parametrize("name", [
    "bpref", "infAP", "bpref@10", "nDCG", "R", "GoldCoverage", "nDCG@0", "R@-1", "nDCG@1.5", "", "@10",
    "nDCG@", "ndcg@10", "nDCG@10 ", "nDCG@10\n", "nDCG@1e2", "nDCG@010", "nDCG@\u0663", "MRR", "RR@0",
    "nDCG(gains=2)@10", "\u0130@1"])
def test_what_is_no_measure_here_is_refused_in_one_line(name):
    with pytest.raises(MeasureError) as error:
        parse_measure(name)
    assert len(str(error.value).splitlines()) == 1
    assert error.value.do


@pytest.mark.parametrize(("name", "expected"), [("nDCG@10", ("nDCG", 10)), ("RR", ("RR", None)),
                                                ("AP@100", ("AP", 100)), ("primary_nDCG@1", ("primary_nDCG", 1))])
def test_a_name_is_a_kind_and_a_cutoff(name, expected):
    assert parse_measure(name) == expected


@pytest.mark.parametrize("kind", MEASURES)
def test_every_measure_has_a_plain_sentence_with_its_cutoff(kind):
    said = sentence(f"{kind}@37")
    assert said.endswith(".") and "{" not in said and ("37" in said)
