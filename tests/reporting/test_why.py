"""Shares of a score against the run's own scores, plain Python and rank-bm25; passages against the
model itself; ranks against a search through the whole run."""

import math
from collections import Counter

import numpy as np
import pandas as pd
import pyarrow.compute as pc
import pytest
from rank_bm25 import BM25Okapi

from kit.collection.sources import open_collection
from kit.errors import SearchError
from kit.params import Params
from kit.reporting import why
from kit.retrieval import bm25_index
from kit.retrieval.bm25 import tokenize
from kit.retrieval.dense import Dense
from kit.retrieval.execute import SavedRun, retrieve
from kit.retrieval.run import ranked

K1, B = 1.2, 0.75
PAPERS = {  # (n, df, tf, relative length) -> what a term's single occurrence in a query is worth
    "lucene": lambda n, df, tf, r: math.log(1 + (n - df + .5) / (df + .5)) * tf / (tf + K1 * r),
    "bm25plus": lambda n, df, tf, r: math.log((n + 1) / df) * (tf * (K1 + 1) / (tf + K1 * r) + 1),
    "bm25l": lambda n, df, tf, r: (math.log((n + 1) / (df + .5)) * (K1 + 1) * (tf / r + .5)
                                   / (K1 + tf / r + .5))}
VARIANTS = [*PAPERS, "okapi"]
every_variant = pytest.mark.parametrize("variant", VARIANTS)


@pytest.fixture(scope="module")
def collection(tmp_path_factory, make_collection):
    """Thirty documents and six queries of some twenty words, a few of them frequent."""
    rng = np.random.default_rng(3)

    def text(most):
        return " ".join(f"word{int(20 * rng.random() ** 2)}" for _ in range(rng.integers(5, most)))

    corpus = [{"doc_id": f"d{n:02d}", "title": f"the title{n}", "abstract": text(60)} for n in range(30)]
    queries = [{"query_id": f"q{n}", "title": "the unknown one", "abstract": text(30)} for n in range(6)]
    return open_collection(str(make_collection(
        tmp_path_factory.mktemp("why"), queries, corpus, [(f"q{n}", f"d{n:02d}") for n in range(6)])))


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    return str(tmp_path_factory.mktemp("out"))


@pytest.fixture(scope="module")
def search(collection, outputs):
    def run(system="bm25", **given):
        params = Params(**{"outputs": outputs, "query_view": "ta", "corpus_view": "ta", "depth": 20,
                           "measures": ["RR"], "passage_length": 64, **given})
        return retrieve(collection, system, params)
    return run


def texts_of(collection, table):
    key = {"queries": "query_id", "corpus": "doc_id"}[table]
    frame = collection.frame(table, [key, "title", "abstract"])
    return {i: f"{t}\n{a}" for i, t, a in zip(frame[key], frame["title"], frame["abstract"])}


# --- BM25 -----------------------------------------------------------------------------------------

@every_variant
def test_the_shares_add_up_to_the_score_of_every_row_of_the_run(collection, search, outputs, variant):
    run = search(bm25_variant=variant)
    weights, queries = why.open_weights(collection, run, outputs), texts_of(collection, "queries")
    rows = run.table.to_pylist()
    made = [why.score_of(why.bm25_shares(weights, queries[r["query_id"]], r["doc_id"])) for r in rows]
    assert len(rows) == 120 and made == [np.float32(r["score"]) for r in rows]  # bit for bit


@pytest.mark.parametrize("variant", PAPERS)
def test_each_share_is_the_papers(collection, search, outputs, variant):
    weights = why.open_weights(collection, search(bm25_variant=variant), outputs)
    docs = {i: tokenize(t) for i, t in texts_of(collection, "corpus").items()}
    query = texts_of(collection, "queries")["q2"]
    asked, mean = Counter(tokenize(query)), np.mean([len(d) for d in docs.values()])
    for name, words in docs.items():
        has, relative = Counter(words), 1 - B + B * len(words) / mean
        df = {t: sum(t in d for d in docs.values()) for t in asked}
        right = {t: (asked[t], has[t], df[t], asked[t] * PAPERS[variant](30, df[t], has[t], relative))
                 for t in sorted(asked) if has[t]}
        shares = why.bm25_shares(weights, query, name)
        assert list(shares["term"]) == list(right)
        columns = ["in query", "in document", "documents", "share"]
        np.testing.assert_allclose(shares[columns].to_numpy(float), list(right.values()), rtol=1e-12)
        np.testing.assert_allclose(shares["in query"] * shares["idf"] * shares["gain"], shares["share"])


def test_okapi_is_rank_bm25(collection, search, outputs):
    weights = why.open_weights(collection, search(bm25_variant="okapi"), outputs)
    docs, queries = texts_of(collection, "corpus"), texts_of(collection, "queries")
    reference = BM25Okapi([tokenize(t) for t in docs.values()], k1=K1, b=B)
    for query in queries.values():
        made = [why.score_of(why.bm25_shares(weights, query, name)) for name in docs]
        np.testing.assert_allclose(made, reference.get_scores(tokenize(query)), rtol=1e-5)


def test_a_kept_index_is_opened_and_nothing_is_counted(collection, search, outputs, monkeypatch):
    run = search()
    monkeypatch.setattr(bm25_index, "counted", lambda texts: pytest.fail("the corpus was read again"))
    weights = why.open_weights(collection, run, outputs)
    assert isinstance(weights.counts.indices, np.memmap)


def test_what_the_document_lacks_is_the_rest_of_the_query(collection, search, outputs):
    weights = why.open_weights(collection, search(), outputs)
    query, docs = texts_of(collection, "queries")["q1"], texts_of(collection, "corpus")
    lacks, has = why.bm25_lacking(weights, query, "d05"), why.bm25_shares(weights, query, "d05")
    known = {t for text in docs.values() for t in tokenize(text)}
    assert set(lacks["term"]) == (set(tokenize(query)) & known) - set(tokenize(docs["d05"]))
    assert set(lacks["term"]).isdisjoint(has["term"]) and "unknown" not in set(lacks["term"])
    assert lacks["weight"].is_monotonic_decreasing


@every_variant
def test_differences_of_terms_add_up_to_that_of_the_scores(collection, search, outputs, variant):
    weights = why.open_weights(collection, search(bm25_variant=variant), outputs)
    query = texts_of(collection, "queries")["q4"]
    frame = why.bm25_difference(weights, query, "d01", "d02")
    one, other = (why.bm25_shares(weights, query, d) for d in ("d01", "d02"))
    assert frame["difference"].sum() == pytest.approx(one["share"].sum() - other["share"].sum())
    assert set(frame["term"]) == {*one["term"], *other["term"]}
    assert frame["difference"].is_monotonic_decreasing
    both = frame.set_index("term")
    assert dict(both["in d01"][both["in d01"] > 0]) == dict(zip(one["term"], one["in document"]))


def test_a_document_without_a_term_of_the_query_has_no_share(collection, search, outputs):
    weights = why.open_weights(collection, search(), outputs)
    shares = why.bm25_shares(weights, "nothing known here", "d01")
    assert shares.empty and list(shares) == why.SHARE_COLUMNS and why.score_of(shares) == 0


def test_an_unknown_document_is_refused(collection, search, outputs):
    weights = why.open_weights(collection, search(), outputs)
    with pytest.raises(SearchError, match="no 'd99'"):
        why.bm25_shares(weights, "word1", "d99")


def test_common_words_are_those_of_more_than_a_share_of_the_corpus(collection, search, outputs):
    weights = why.open_weights(collection, search(), outputs)
    assert why.common_words(weights, ["title3", "the", "unheard"]) == {"the"}


# --- which runs can be asked ----------------------------------------------------------------------

def test_a_run_of_passages_has_no_shares(collection, search, outputs):
    run = search("bm25-passages")
    assert why.kind_of(run) == "passage"
    with pytest.raises(SearchError, match="no shares of terms"):
        why.open_weights(collection, run, outputs)


@pytest.mark.parametrize(("manifest", "kind"), [
    ({"views": None, "system": {"settings": {"sha256": "f"}}}, ""),
    ({"views": {"corpus": {"view": "the system's own"}}, "system": {"settings": {"version": "1"}}}, ""),
    ({"views": {"corpus": {"fields": ["title"]}}, "system": {"settings": {"method": "rrf"}}}, ""),
    ({"views": {"corpus": {"fields": ["title"]}}, "system": {"settings": {"pooling": "mean"}}}, "nearest"),
    ({"views": {"corpus": {"fields": ["title"]}},
      "system": {"settings": {"variant": "okapi", "k1": 1}}}, "terms")])
def test_what_can_be_told_hangs_on_the_system(manifest, kind):
    assert why.kind_of(SavedRun(None, ranked([], [], []), manifest)) == kind


# --- passages -------------------------------------------------------------------------------------

def test_the_passage_that_scored_is_cut_from_the_view(collection, search):
    run = search("bm25-passages", passage_length=64, passage_stride=32)
    by_query = why.ByQuery(run.table)
    row = by_query.of("q3").iloc[2]
    document = collection.row("corpus", row["doc_id"])
    found = why.scored_passage(run, by_query.of("q3"), document)
    text = texts_of(collection, "corpus")[row["doc_id"]]
    assert found == {"passage": row["passage"], "start": row["start"], "end": row["end"],
                     "text": text[row["start"]:row["end"]]}
    assert why.scored_passage(run, by_query.of("q3").head(0), document) is None


# --- embeddings -----------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def dense():
    return Dense(device="cpu")


FILLER = "A frame of wood carries the roof and rests on posts in the ground. " * 40
PLANT = "The ferret sleeps in a knitted hammock beneath the piano."


def test_the_nearest_passage_is_found_behind_what_the_model_reads(dense):
    near = why.nearest_passages(dense, PLANT, ["Roofs", FILLER, PLANT])
    first = near.passages.iloc[0]
    assert first["text"] == PLANT and first["cosine"] == pytest.approx(1, abs=1e-5)
    assert first["read"] == "no" and near.document_read[0] < first["start"]
    assert near.query_read == (len(PLANT), len(PLANT)) and near.left == 0


def test_cosines_and_places_are_the_models_own(dense):
    fields = ["Roofs", FILLER[:900], PLANT]
    near, text = why.nearest_passages(dense, PLANT, fields, most=99), "\n".join(fields)
    assert len(near.passages) == near.of
    places = zip(near.passages["start"], near.passages["end"])
    assert list(near.passages["text"]) == [text[a:b] for a, b in places]
    vectors = dense.model.encode([PLANT, text, *near.passages["text"]], normalize_embeddings=True)
    np.testing.assert_allclose(near.passages["cosine"], vectors[2:] @ vectors[0], atol=2e-6)
    assert near.score == pytest.approx(float(vectors[1] @ vectors[0]), abs=2e-6)
    assert near.passages["cosine"].is_monotonic_decreasing
    tokens = [len(dense.model.tokenizer(t, add_special_tokens=False)["input_ids"])
              for t in near.passages["text"]]
    assert max(tokens) == why.PASSAGE_TOKENS


def test_how_far_a_model_reads_is_where_its_last_token_ends(dense):
    tokenizer, limit = dense.model.tokenizer, dense.settings["max_tokens"]
    read = why.read_to(dense, FILLER, "corpus")
    read_tokens, more = (len(tokenizer(FILLER[:end])["input_ids"]) for end in (read, read + 6))
    assert read_tokens == limit < more
    assert why.read_to(dense, PLANT, "corpus") == len(PLANT) and why.read_to(dense, "", "corpus") == 0


def test_more_spans_are_read_further():
    two = Dense(device="cpu", spans=2)
    one = why.read_to(Dense(device="cpu"), FILLER, "corpus")
    assert 1.8 * one < why.read_to(two, FILLER, "corpus") < 2.2 * one
    assert why.read_to(two, PLANT, "corpus") == len(PLANT)


def test_of_a_very_long_document_the_rest_is_counted(dense, monkeypatch):
    monkeypatch.setattr(why, "MOST_PASSAGES", 3)
    near = why.nearest_passages(dense, PLANT, [FILLER])
    assert near.of == 3 and near.left == len(FILLER) - near.passages["end"].max() > 0


def test_a_model_other_than_the_runs_is_refused(dense):
    manifest = {"views": {"corpus": {"fields": ["title"]}},
                "system": {"name": "m", "settings": {"pooling": "mean"}, "given": {"model": "another"}}}
    run = SavedRun(None, ranked([], [], []), manifest)
    with pytest.raises(SearchError, match="another model than that of the run"):
        why.open_model(run, Params())
    manifest["system"]["given"] = Dense.from_params(Params()).given
    assert why.open_model(run, Params()).given == manifest["system"]["given"]


# --- ranks ----------------------------------------------------------------------------------------

def test_rows_by_query_are_those_of_a_search_through_the_run(search):
    run = search()
    by_query = why.ByQuery(run.table)
    for query in ("q0", "q3", "q5"):
        right = run.table.filter(pc.equal(run.table["query_id"], query)).to_pandas()
        pd.testing.assert_frame_equal(by_query.of(query), right)
    assert by_query.of("q9").empty and list(by_query.of("q9")) == run.table.column_names


def test_a_run_without_a_row_has_none_for_any_query():
    assert why.ByQuery(ranked([], [], [])).of("q1").empty


def test_relevants_stand_by_their_best_rank_with_category_and_direction():
    relations = [[{"category": "X", "direction": "cited"}, {"category": "A", "direction": "citing"}],
                 [{"category": "A", "direction": "cited"}], [{"category": "Y", "direction": None}], []]
    pairs = pd.DataFrame({"doc_id": ["lost", "third", "first", "also"],
                          "category": ["XY", "A", None, "overlap"],
                          "source_relations": relations})
    one = pd.DataFrame({"doc_id": ["other", "more", "third"], "rank": [1, 2, 3]})
    two = pd.DataFrame({"doc_id": ["first", "also"], "rank": [1, 2]})
    frame = why.relevant_ranks(pairs, {"one": one, "two": two})
    assert list(frame["document"]) == ["first", "also", "third", "lost"]
    assert frame["one"].tolist() == [pd.NA, pd.NA, 3, pd.NA] and frame["two"].tolist()[:2] == [1, 2]
    assert frame["direction"].tolist() == ["", "", "cited", "cited and citing"]
    assert frame["category"].tolist() == ["Y", "overlap", "A", "XY"]
