"""A run against a collection: protocols, slices, samples."""

import numpy as np
import pandas as pd
import pytest

from kit.collection.sources import open_collection
from kit.errors import CollectionError, MeasureError
from kit.evaluation.evaluate import FIGURE_COLUMNS, all_figures, evaluate, figures, recall_by_depth
from kit.evaluation.measures import hits_of, per_query
from kit.evaluation.uncertainty import smallest_difference
from kit.params import make_params
from kit.relevance import slices
from kit.relevance.protocols import PROTOCOLS, positives
from kit.relevance.slices import DOMAINS, domain_tags, standard_slices
from kit.retrieval.execute import retrieve
from kit.retrieval.run import ranked

NAMES = ["nDCG@10", "R@5", "RR", "GoldCoverage@5", "Judged@5"]


@pytest.fixture(scope="module")
def run(mini):
    """Every second relevant document of most queries, among documents drawn by chance."""
    rng, rows = np.random.default_rng(0), []
    docs = np.array(mini.ids("corpus"), object)
    for n, (query, mine) in enumerate(mini.pairs.groupby("query_id")["doc_id"]):
        if n % 10:  # the others are missing from the run
            found = dict.fromkeys([*mine[::2], *rng.choice(docs, 20)])
            rows += [(query, doc, rng.random()) for doc in found]
    return ranked(*zip(*rows))


@pytest.mark.parametrize("protocol", ["all", "xy", "a"])
def test_the_slices_add_up_to_the_whole(mini, run, protocol):
    frame = figures(evaluate(run, mini, protocol, NAMES), seed=0)
    assert list(frame.columns) == FIGURE_COLUMNS
    for measure, rows in frame.groupby("measure"):
        whole, parts = rows[rows["slice"] == "all"].iloc[0], rows[rows["slice"].isin(DOMAINS)]
        assert parts["n"].sum() == whole["n"]
        if measure != "GoldCoverage@5":  # a share over pairs: slices weigh by pairs, not queries
            total = (parts["mean"] * parts["n"]).sum()
            assert total == pytest.approx(whole["mean"] * whole["n"], abs=1e-9)


def test_gold_coverage_of_slices_weighs_by_pairs(mini, run):
    evaluation = evaluate(run, mini, "all", ["GoldCoverage@5"])
    frame = figures(evaluation, seed=0).set_index("slice")["mean"]
    golds = pd.Series(evaluation.hits.relevant, index=evaluation.hits.query_ids)
    by_slice = golds.groupby(evaluation.domains.reindex(golds.index)).sum()
    assert (frame[by_slice.index] * by_slice).sum() == pytest.approx(frame["all"] * golds.sum())


def test_the_figure_over_all_queries_is_the_evaluations_mean_within_its_interval(mini, run):
    evaluation = evaluate(run, mini, "all", NAMES)
    frame = figures(evaluation, seed=0)
    for row in frame[frame["slice"] == "all"].itertuples():
        assert row.mean == pytest.approx(evaluation.mean(row.measure), abs=1e-12)
        assert row.low <= row.mean <= row.high


def test_a_slice_without_queries_has_n_0_and_no_mean(tmp_path, make_collection):
    collection = open_collection(str(make_collection(tmp_path)))  # one section: all IN
    frame = figures(evaluate(ranked(["q1"], ["d1"], [1]), collection, "all", ["RR"]), seed=0)
    out = frame.set_index("slice").loc["OUT"]
    assert out["n"] == 0 and out[["mean", "low", "high"]].isna().all()


@pytest.mark.parametrize(("protocol", "expected", "left_out"), [
    ("all", {"q1": 0.5, "q2": 0.0}, 1), ("xy", {"q1": 1.0, "q2": 0.0}, 1), ("a", {"q1": 0.0, "q2": 0.0}, 1)])
def test_a_protocol_decides_what_is_relevant(tmp_path, make_collection, protocol, expected, left_out):
    collection = open_collection(str(make_collection(tmp_path, queries=["q1", "q2", "q3"])))
    evaluation = evaluate(ranked(["q1", "q2"], ["d1", "d1"], [1, 1]), collection, protocol, ["R@1"])
    assert evaluation.values["R@1"].to_dict() == expected
    assert evaluation.without_positives == left_out


def test_a_label_of_another_protocol_is_judged_all_the_same(tmp_path, make_collection):
    collection = open_collection(str(make_collection(tmp_path)))
    evaluation = evaluate(ranked(["q1", "q1"], ["d1", "d3"], [2, 1]), collection, "a", ["Judged@2"])
    assert evaluation.values["Judged@2"]["q1"] == 0.5  # d1 is XY


def test_a_sample_leaves_the_other_queries_out(mini, run):
    whole = evaluate(run, mini, "xy", NAMES)
    among = list(mini.ids("queries")[3:40])
    part = evaluate(run, mini, "xy", NAMES, among)
    left = [q for q in whole.hits.query_ids if q in among]
    pd.testing.assert_frame_equal(part.values, whole.values.loc[left])
    assert part.without_positives == len(among) - len(left)


def test_a_measure_named_twice_is_one_column(mini, run):
    evaluation = evaluate(run, mini, "all", ["RR", "R@5", "RR"])
    assert list(evaluation.values.columns) == ["RR", "R@5"]


def test_a_collection_that_breaks_its_layout_is_refused(tmp_path, make_collection):
    collection = open_collection(str(make_collection(tmp_path, qrels=[("q1", "d1"), ("q1", "gone")])))
    with pytest.raises(CollectionError, match="gone"):
        evaluate(ranked(["q1"], ["d1"], [1]), collection, "all", ["RR"])


@pytest.mark.parametrize(("protocol", "names"), [("xyz", ["RR"]), ("all", ["RR", "bpref"])])
def test_an_unknown_protocol_or_measure_is_refused(mini, run, protocol, names):
    with pytest.raises(MeasureError):
        evaluate(run, mini, protocol, names)


def test_all_figures_hold_every_protocol_offered(mini, run):
    frame = all_figures(run, mini, NAMES, seed=0)
    assert list(frame["protocol"].unique()) == ["all", "xy", "a"]
    for protocol, rows in frame.groupby("protocol"):
        n = positives(mini, protocol)["query_id"].nunique()
        assert set(rows.loc[rows["slice"] == "all", "n"]) == {n}


@pytest.mark.parametrize(("category", "lacking"), [
    ("XY", {"a": "there is no relevant pair"}),
    (None, {"xy": "protocol 'xy' asks for categories, and every category is null",
            "a": "protocol 'a' asks for categories, and every category is null"})])
def test_a_protocol_that_can_not_be_given_stands_with_its_reason(
        tmp_path, make_collection, category, lacking):
    collection = open_collection(str(make_collection(tmp_path, qrels=[("q1", "d1", category)])))
    frame = all_figures(ranked(["q1"], ["d1"], [1]), collection, ["RR", "R@5", "RR"], seed=0)
    for protocol in PROTOCOLS:
        rows = frame[frame["protocol"] == protocol]
        assert list(rows["slice"]) == [s for s in ("all", *slices.NAMES) for _ in range(2)]
        if protocol in lacking:
            assert set(rows["reason"]) == {lacking[protocol]} and set(rows["n"]) == {0}
            assert rows[["mean", "low", "high", "smallest"]].isna().all(axis=None)
        else:
            assert rows["n"].iloc[0] == 1


def test_an_absent_slice_says_why_and_an_empty_one_too(tmp_path, make_collection):
    x = [{"category": c, "direction": "cited"} for c in ("XY", "X")]
    collection = open_collection(str(make_collection(tmp_path, qrels=[  # all of one section
        ("q1", "d1", "A"), {"query_id": "q2", "doc_id": "d3", "source_relations": x}])))
    frame = figures(evaluate(ranked(["q1"], ["d1"], [1]), collection, "all", ["RR"]), seed=0)
    reasons = frame.set_index("slice")["reason"]
    assert reasons["§102"] == reasons["§103"] == "no statute in this collection"
    assert reasons["OUT"] == reasons["citing"] == "no query in this slice"
    assert reasons["X"] == "one query has no interval"
    assert reasons["all"] is None and reasons["IN"] is None


def shortened(run, pairs):
    """The run written anew without these pairs."""
    gone = set(zip(pairs["query_id"], pairs["doc_id"]))
    rows = [r for r in run.to_pylist() if (r["query_id"], r["doc_id"]) not in gone]
    return ranked(*([r[name] for r in rows] for name in ("query_id", "doc_id", "score")))


@pytest.mark.parametrize("protocol", ["all", "xy", "a"])
def test_a_slice_is_scored_as_a_collection_of_its_pairs_alone_would_be(mini, run, protocol):
    evaluation = evaluate(run, mini, protocol, NAMES)
    for s in standard_slices(mini, protocol):
        part = evaluation.parts[s.name]
        if s.absent:
            assert part.hits is None and part.values.empty
            continue
        alone = hits_of(run if s.taken_out is None else shortened(run, s.taken_out), s.pairs, mini.pairs)
        pd.testing.assert_frame_equal(part.values, per_query(alone, NAMES))
        assert part.hits.missing == alone.missing and part.hits.query_ids == alone.query_ids
        for name in ("hits", "judged"):
            depth = getattr(alone, name).shape[1]  # that of the slice's own queries
            wide = getattr(part.hits, name)
            assert (wide[:, :depth] == getattr(alone, name)).all() and not wide[:, depth:].any()


def test_in_a_slice_of_pairs_the_other_relevants_are_not_relevant(tmp_path, make_collection):
    relations = [[{"category": grade, "direction": "cited"}] for grade in ("X", "Y")]
    qrels = [{"query_id": "q1", "doc_id": doc, "source_relations": r}
             for doc, r in zip(("d1", "d2"), relations, strict=True)]
    collection = open_collection(str(make_collection(tmp_path, qrels=qrels)))
    run = ranked(["q1", "q1"], ["d1", "d2"], [2, 1])
    means = figures(evaluate(run, collection, "all", ["RR", "R@1"]), 0).pivot(
        index="slice", columns="measure", values="mean")
    assert means.loc["X"].to_dict() == {"RR": 1.0, "R@1": 1.0}
    assert means.loc["Y"].to_dict() == {"RR": 0.5, "R@1": 0.0}  # d1 stays at rank 1
    assert means.loc["all"].to_dict() == {"RR": 1.0, "R@1": 0.5}


def test_rows_have_every_slice_but_direction_with_the_registrys_numbers(mini_litigation):
    queries = list(mini_litigation.ids("queries"))
    found = ranked(queries, ["mini-000001"] * 40, [1.0] * 40)
    frame = all_figures(found, mini_litigation, ["RR"], seed=0)
    n = frame[frame["protocol"] == "all"].set_index("slice")["n"]
    counts = mini_litigation.entry.counts
    assert n["all"] == counts["queries"]
    assert all(n[name] == counts[f"queries {name}"] for name in slices.NAMES[3:11])
    absent = frame[(frame["protocol"] == "all") & (frame["n"] == 0)]
    assert dict(zip(absent["slice"], absent["reason"], strict=True)) == dict.fromkeys(
        slices.SCOPES, "no relevant pair has three-character classes on both sides") | dict.fromkeys(
        ("cited", "citing"), "no direction in this collection")


def test_the_domains_are_those_of_the_slices(mini, run):
    among = list(mini.ids("queries")[10:70])
    evaluation = evaluate(run, mini, "xy", ["RR"], among)
    assert list(evaluation.domains.index) == list(evaluation.values.index)
    for name in DOMAINS:
        members = set(evaluation.domains.index[evaluation.domains == name])
        assert members == set(evaluation.parts[name].values.index)
    of_all = domain_tags(mini, positives(mini, "xy"))
    assert evaluation.domains.equals(of_all.loc[evaluation.domains.index].rename(None))


def test_figures_carry_the_smallest_difference_of_their_queries(mini, run):
    evaluation = evaluate(run, mini, "all", ["RR", "GoldCoverage@5"])
    frame = figures(evaluation, 0).set_index(["slice", "measure"])["smallest"]
    values = evaluation.parts["OUT"].values[["RR"]].to_numpy()
    smallest, = smallest_difference(values, np.ones_like(values))
    assert frame["OUT", "RR"] == pytest.approx(smallest)
    assert 0 < frame["all", "GoldCoverage@5"] < frame["OUT", "GoldCoverage@5"]


def test_recall_by_depth_is_r_at_every_k(mini, run):
    evaluation = evaluate(run, mini, "all", ["RR"])
    curve = recall_by_depth(evaluation)
    at = evaluate(run, mini, "all", [f"R@{k}" for k in curve.index])
    assert curve.to_list() == pytest.approx([at.mean(f"R@{k}") for k in curve.index])


def test_the_order_of_the_tables_changes_no_figure(tmp_path, make_collection):
    """Every document reads the same, so that every score ties: only the tie rule may decide."""
    corpus = [{"doc_id": f"d{i}", "title": "Valve", "abstract": "A valve with a seat.",
               "claims": "", "description": ""} for i in range(7)]
    qrels = [("q1", "d6"), ("q1", "d2", "A"), ("q2", "d0", "overlap")]
    found = []
    for name, turn in (("one", 1), ("other", -1)):
        folder = make_collection(tmp_path, ["q1", "q2"][::turn], corpus[::turn], qrels[::turn], name=name)
        collection = open_collection(str(folder))
        params = make_params({"collection": str(folder), "systems": ["bm25"], "depth": 3,
                              "outputs": str(tmp_path / "out")})
        found.append(evaluate(retrieve(collection, "bm25", params).table, collection, "all", NAMES).values)
    pd.testing.assert_frame_equal(*found)
    assert found[0]["RR"].to_dict() == {"q1": 1.0, "q2": 0.0}  # d6, d5, d4 and the cut
