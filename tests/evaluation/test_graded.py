"""The graded nDCG and class agreement: trec_eval, plain re-statements, and what must not matter."""

import math

import numpy as np
import pandas as pd
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from kit.collection.sources import open_collection
from kit.errors import MeasureError
from kit.evaluation.evaluate import all_figures, evaluate, figures, unclassed
from kit.evaluation.measures import hits_of, parse_measure, per_query, sentence, with_agreement
from kit.relevance.classes import LEVELS, Agreement, agreement
from kit.relevance.grades import GRADES
from kit.relevance.protocols import positives
from kit.relevance.slices import standard_slices
from kit.retrieval.run import ranked

MAP = "X=3;XY=2;Y=2;A=1"
GAINS = {"X": 3, "XY": 2, "Y": 2, "A": 1}
DOCS = [f"d{n}" for n in range(12)]
anything = settings(max_examples=40, database=None)
qrels_of = st.dictionaries(st.sampled_from(["q1", "q2", "q3"]),
                           st.dictionaries(st.sampled_from(DOCS), st.sampled_from(GRADES)),
                           min_size=1).filter(lambda qrels: any(qrels.values()))
runs_of = st.dictionaries(st.sampled_from(["q1", "q2", "q3", "other"]),
                          st.dictionaries(st.sampled_from(DOCS), st.sampled_from([0.0, 0.5, 1.0, 2.0])))


def run_table(run: dict):
    rows = [(q, d, s) for q, docs in run.items() for d, s in docs.items()]
    return ranked(*zip(*rows)) if rows else ranked([], [], [])


def graded(qrels: dict) -> pd.DataFrame:
    return pd.DataFrame([(q, d, 1 << GRADES.index(g)) for q, docs in qrels.items() for d, g in docs.items()],
                        columns=["query_id", "doc_id", "grades"])


def scored(run: dict, qrels: dict, name: str) -> pd.Series:
    return per_query(hits_of(run_table(run), graded(qrels)), [name])[name]


@anything
@given(qrels_of, runs_of, st.sampled_from([1, 2, 5, 100]))
def test_the_graded_ndcg_is_that_of_trec_eval(qrels, run, k):
    levels = {q: {d: GAINS[g] for d, g in docs.items()} for q, docs in qrels.items() if docs}
    theirs = pytrec_eval.RelevanceEvaluator(levels, {f"ndcg_cut.{k}"}).evaluate(
        {q: docs for q, docs in run.items() if docs})
    expected = {q: theirs[q][f"ndcg_cut_{k}"] if q in theirs else 0.0 for q in levels}
    assert scored(run, qrels, f"nDCG({MAP})@{k}").to_dict() == pytest.approx(expected, abs=1e-9)


@anything
@given(qrels_of, runs_of, st.sampled_from([1, 3, 100]))
def test_equal_gains_are_no_gains_and_their_scale_is_nothing(qrels, run, k):
    plain = scored(run, qrels, f"nDCG@{k}").to_numpy()
    for flat in ("X=1;XY=1;Y=1;A=1", "X=7;XY=7;Y=7;A=7"):
        assert scored(run, qrels, f"nDCG({flat})@{k}").to_numpy() == pytest.approx(plain, abs=1e-12)
    once, more = (scored(run, qrels, f"nDCG({gains})@{k}") for gains in (MAP, "X=7.5;XY=5;Y=5;A=2.5"))
    assert once.to_numpy() == pytest.approx(more.to_numpy(), abs=1e-12)


@anything
@given(qrels_of, runs_of)
def test_the_best_ranking_has_1_and_none_has_more(qrels, run):
    best = {q: {d: float(GAINS[g]) for d, g in docs.items()} for q, docs in qrels.items()}
    for k in (1, 3, 100):
        assert scored(best, qrels, f"nDCG({MAP})@{k}").to_numpy() == pytest.approx(1, abs=1e-12)
        assert (scored(run, qrels, f"nDCG({MAP})@{k}") <= 1 + 1e-12).all()


def test_the_formula_by_hand():
    qrels = {"q": {"d1": "X", "d2": "A", "d3": "Y"}}
    value = scored({"q": {"d2": 3.0, "other": 2.0, "d1": 1.0}}, qrels, f"nDCG({MAP})@3")["q"]
    assert value == pytest.approx((1 + 3 / 2) / (3 + 2 / math.log2(3) + 1 / 2))


# --- on a collection ------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def run(mini):
    """Most relevants of most queries among documents drawn by chance, to different depths."""
    rng, rows = np.random.default_rng(1), []
    docs = np.array(mini.ids("corpus"), object)
    for n, (query, mine) in enumerate(mini.pairs.groupby("query_id")["doc_id"]):
        if n % 9:
            found = dict.fromkeys([*mine[::2], *rng.choice(docs, n % 25)])
            rows += [(query, doc, rng.random()) for doc in found if doc != query]
    return ranked(*zip(*rows))


def rankings(run) -> dict[str, list[str]]:
    frame = run.to_pandas().sort_values(["query_id", "rank"])
    return frame.groupby("query_id")["doc_id"].agg(list).to_dict()


def gain_of(pair: dict) -> int:
    """By hand: the letters where there are any, the union else, and A; the highest."""
    letters = {r["category"] for r in pair["source_relations"]} & {"X", "Y"}
    union = {"XY"} if pair["category"] in ("XY", "overlap") and not letters else set()
    return max(GAINS[g] for g in letters | union | ({"A"} if pair["category"] in ("A", "overlap") else set()))


@pytest.mark.parametrize("protocol", ["all", "xy", "a"])
def test_every_slice_is_graded_by_its_own_pairs(mini, run, protocol):
    gains = {(p["query_id"], p["doc_id"]): gain_of(p) for p in mini.pairs.to_dict("records")}
    scored_, tops = evaluate(run, mini, protocol, [f"nDCG({MAP})@5"]), rankings(run)
    slices = {s.name: (s.pairs, s.taken_out) for s in standard_slices(mini, protocol)}
    slices["all"] = positives(mini, protocol), None
    seen = 0
    for name, part in scored_.parts.items():
        (pairs, out), relevant = slices[name], {}
        gone = set() if out is None else set(zip(out["query_id"], out["doc_id"]))
        for key in zip(pairs["query_id"], pairs["doc_id"]):
            relevant.setdefault(key[0], {})[key[1]] = gains[key]
        for query, value in part.values[f"nDCG({MAP})@5"].items():
            top = [d for d in tops.get(query, []) if (query, d) not in gone][:5]
            ideal = sorted(relevant[query].values(), reverse=True)[:5]
            dcg, best = (sum(g / math.log2(r + 1) for r, g in enumerate(found, 1)) for found in (
                [relevant[query].get(d, 0) for d in top], ideal))
            assert value == pytest.approx(dcg / best, abs=1e-12), (name, query)
            seen += value > 0
    assert seen > 50


def test_class_agreement_is_its_definition(mini, run):
    """Also in the residual scope, whose rankings lack documents."""
    names, tops = [f"ClassAgreement({level})@{k}" for level in LEVELS for k in (3, 100)], rankings(run)
    evaluation = evaluate(run, mini, "all", names)
    residual = next(s for s in standard_slices(mini, "all") if s.taken_out is not None)
    gone = set(zip(residual.taken_out["query_id"], residual.taken_out["doc_id"]))
    for part, out in (("all", set()), ("scope OUT", set()), (residual.name, gone)):
        values = evaluation.parts[part].values
        for name, column in values.items():
            level = LEVELS.index(name.split("(")[1].split(")")[0]) + 1
            for query, value in column.items():
                top = [d for d in tops.get(query, []) if (query, d) not in out][:parse_measure(name)[1]]
                found = agreement(mini, [query] * len(top), top).pairs
                if agreement(mini, [query], [""]).queries[0] < level:
                    assert math.isnan(value)
                else:
                    assert value == (np.mean(found >= level) if top else 0.0)


def test_finer_levels_agree_less(mini, run):
    values = evaluate(run, mini, "all", [f"ClassAgreement({level})@10" for level in LEVELS]).values.dropna()
    assert (np.diff(values.to_numpy(), axis=1) <= 0).all() and values.iloc[:, 0].max() > 0


def test_a_query_without_a_class_is_left_out_and_a_document_counted(tmp_path, make_collection):
    collection = open_collection(str(make_collection(
        tmp_path, queries=[{"query_id": "q1", "ipc": ["A61K 31/19"]}, {"query_id": "q2", "ipc": []},
                           {"query_id": "q3", "ipc": ["A61"]}],
        corpus=[{"doc_id": "d1", "ipc": ["A61K31/00"]}, {"doc_id": "d2", "ipc": ["A61"]}, {"doc_id": "d3", "ipc": []}],
        qrels=[(q, "d1", "A") for q in ("q1", "q2", "q3")])))
    run = ranked(["q1", "q1", "q1", "q2", "q3"], ["d1", "d2", "d3", "d1", "d3"], [3, 2, 1, 1, 1])
    names = ["nDCG@3", "ClassAgreement(class)@3", "ClassAgreement(group)@3", "ClassAgreement(group)@1"]
    frame = figures(evaluate(run, collection, "all", names), 0)
    rows = frame[frame["slice"] == "all"].set_index("measure")
    assert rows["n"].to_dict() == dict(zip(names, (3, 2, 1, 1)))
    assert rows["mean"][names[1]] == pytest.approx((2 / 3 + 0) / 2) and rows["mean"][names[2]] == 1 / 3
    assert unclassed(run, collection, ["q1", "q2", "q3"], names[1:]) == {
        names[1]: (1, 2), names[2]: (2, 2), names[3]: (2, 0)}


def test_without_classes_every_figure_is_absent_with_a_reason(mini_litigation):
    frame = all_figures(ranked(list(mini_litigation.ids("queries"))[:2], ["d", "d"], [1, 1]), mini_litigation,
                        ["RR", "ClassAgreement(class)@10"], 0)
    mine = frame[(frame["measure"] == "ClassAgreement(class)@10") & (frame["protocol"] == "all")]
    assert (mine["n"] == 0).all() and mine["mean"].isna().all() and mine["reason"].notna().all()
    assert (frame[frame["measure"] == "RR"]["n"] > 0).any()


def test_other_figures_stay_the_same_beside_them(mini, run):
    """Their interval too: it is over all queries, whoever stands beside."""
    alone = all_figures(run, mini, ["nDCG@10", "RR"], 0)
    beside = all_figures(run, mini, ["nDCG@10", "ClassAgreement(group)@10", f"nDCG({MAP})@10", "RR"], 0)
    mine = beside[beside["measure"].isin(["nDCG@10", "RR"])].reset_index(drop=True)
    pd.testing.assert_frame_equal(mine, alone, rtol=1e-12)


def test_gains_that_do_not_fit_are_refused_before_a_figure(mini, run):
    with pytest.raises(MeasureError, match="worth"):
        evaluate(run, mini, "all", ["nDCG(X=3;Y=2;A=1)@10"])
    assert evaluate(run, mini, "a", ["nDCG(X=3;Y=2;A=1)@10"]).mean("nDCG(X=3;Y=2;A=1)@10") > 0  # A has no bare XY


@pytest.mark.parametrize("name", [
    "nDCG()@10", "nDCG(X=3;Y=2;A=1)", "nDCG(X=3", "nDCG(X=3@10", "R(X=3)@10", "ClassAgreement@10", "ClassAgreement(ipc)@10",
    "ClassAgreement()@10", "ClassAgreement(Section)@10", "nDCG(X=3)(A=1)@10", "nDCG((X=3))@10", "nDCG(X=3)@0"])
def test_what_is_no_graded_measure_is_refused(name):
    with pytest.raises(MeasureError):
        parse_measure(name)


def test_a_sentence_says_the_gains_and_the_level():
    assert "X 3, XY 2, Y 2, A 1" in sentence(f"nDCG({MAP})@10") and "first 7" in sentence("ClassAgreement(group)@7")


def test_agreement_reaches_the_hits_by_rank():
    run = ranked(["q1", "q1", "stranger"], ["d1", "d2", "d1"], [1, 2, 1])
    hits = hits_of(run, pd.DataFrame({"query_id": ["q1"], "doc_id": ["d1"]}))

    def fake(queries, docs):
        depths = np.array([{"d1": 2, "d2": 4, "": 0}[str(d)] for d in docs], np.uint8)
        return Agreement(depths, np.full(len(depths), 5, np.uint8), depths)
    assert with_agreement(hits, run, fake).agreed.tolist() == [[4, 2]]
