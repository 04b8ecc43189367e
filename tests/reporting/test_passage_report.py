"""What the report shows of a run of passages."""

import pytest

from kit.collection.sources import open_collection
from kit.evaluation.evaluate import evaluate
from kit.params import Params
from kit.reporting import scorecard, score, show
from kit.retrieval.execute import retrieve
from kit.retrieval.run import ranked

LONG = " ".join(f"filler{n}" for n in range(90))
WORDS = "rotor <b>blade</b> & a<1 shaft"


@pytest.fixture(scope="module")
def collection(tmp_path_factory, make_collection):
    """d1 has the query's words far behind its beginning, d2 one of them; both are long."""
    texts = {"d1": f"{LONG} {WORDS} rotor {LONG[300:500]}", "d2": f"rotor {LONG}", "d3": "other words"}
    corpus = [{"doc_id": d, "title": f"Title {d}", "abstract": t, "claims": "", "description": ""}
              for d, t in texts.items()]
    queries = [{"query_id": "q1", "title": "rotor blade", "abstract": "", "claims": "a<i>b</i>"}]
    return open_collection(str(make_collection(
        tmp_path_factory.mktemp("shown"), queries, corpus, [("q1", "d1")])))


@pytest.fixture
def run(collection, tmp_path):
    def search(**given):
        params = Params(**{"outputs": str(tmp_path), "query_view": "ta", "corpus_view": "ta",
                           "depth": 10, "passage_length": 64, "passage_stride": 32,
                           "measures": ["nDCG@10"], **given})
        return retrieve(collection, "bm25-passages", params), params
    return search


def test_the_passage_of_a_hit_is_shown_escaped(collection, run):
    saved, _ = run()
    shown = show.passages(collection, [saved], "q1").data
    row = saved.table.to_pylist()[0]
    assert row["doc_id"] == "d1" and f"passage {row['passage'] + 1}," in shown
    assert "rotor blade &amp; a&lt;1 shaft rotor" in shown  # cut from the cleaned view
    assert "filler0 " not in shown and "Title d1" in shown and "relevant" in shown
    assert "<i>" not in shown


def test_without_a_run_of_passages_none_is_shown(collection, run, tmp_path):
    _, params = run()
    documents = retrieve(collection, "bm25", params)
    assert "No system searched passages" in show.passages(collection, [documents], "q1").data


def test_a_document_is_scored_by_the_first_of_its_passages(collection, run):
    saved, params = run(passage_answers="passages", passage_stride=8)
    assert len(saved.rows) > len(saved.table) == 2
    of_passages = evaluate(saved.table, collection, "all", ["nDCG@10", "P@10"])
    bare = ranked(*(saved.table[c].to_pylist() for c in ("query_id", "doc_id", "score")))
    assert of_passages.values.equals(evaluate(bare, collection, "all", ["nDCG@10", "P@10"]).values)
    assert "passages_not_scored" in saved.manifest["notes"]
    card = scorecard.make_scorecard(
        collection, saved, score.figures_of_runs(collection, [saved], params)[saved.system], params)
    sheet = scorecard.markdown(card)
    assert "a document is scored by its passage that stands first" in sheet
    assert "preprocessing seconds" in sheet


def test_a_manifest_without_preprocessing_seconds_is_shown(run):
    saved, _ = run()
    saved.manifest["cost"].pop("preprocessing_seconds")
    assert show.cost_table([saved]).loc["bm25-passages"].notna().sum() == 4


def test_what_a_run_counted_is_listed(run):
    table = show.run_table([run()[0]])["bm25-passages"]
    assert table["passages"] == 9 and "passages cut by the model" not in table
