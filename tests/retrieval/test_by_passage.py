"""Search by passages: held against document search, and against passages scored one by one."""

import json
import re

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kit.collection.sources import open_collection
from kit.errors import ParamsError, SearchError
from kit.params import Params
from kit.retrieval import bm25_index, by_passage, execute
from kit.retrieval.bm25 import Bm25
from kit.retrieval.by_passage import PassageSystem, Vectors, Words, unit_places
from kit.retrieval.corpus import Corpus
from kit.retrieval.dense import Dense
from kit.retrieval.execute import reopen, retrieve
from kit.retrieval.external import open_run
from kit.retrieval.run import PASSAGE_COLUMNS, documents_of, rank_within_ids
from kit.retrieval.shipped import make_system
from kit.retrieval.sweep import passage_runs
from kit.text.passages import Rule, split, text_of, titled

AGGREGATIONS = ["maxP", "avg_top1", "avg_top3", "avgP", "sumP"]
WHOLE = Rule(10**6, 10**6, across_fields=True)
a_field = st.lists(st.sampled_from(["aa", "bb", "cc", "dd", "ee"]), min_size=1, max_size=12)
documents = st.lists(st.lists(a_field.map(" ".join), min_size=1, max_size=3), min_size=1, max_size=8)
queries = st.lists(a_field.map(" ".join), min_size=1, max_size=3)


def bm25_over(docs: list[list[str]], rule: Rule, variant="lucene", **given) -> PassageSystem:
    system = PassageSystem(Words(Bm25(variant)), rule, **given)
    system.prepare([f"d{i}" for i in range(len(docs))], [(d, d[0]) for d in docs])
    return system


def rows(answers):
    return [list(zip(a.ids, a.scores.tolist())) for a in answers]


@given(documents, queries, st.sampled_from(["lucene", "okapi"]), st.booleans())
@settings(deadline=None, max_examples=25)
def test_one_passage_a_document_is_document_search(docs, asked, variant, title):
    whole = Bm25(variant)
    whole.prepare([f"d{i}" for i in range(len(docs))], ["\n".join(d) for d in docs])
    wanted = rows(whole.search_batch(asked, 5))
    mine = bm25_over(docs, WHOLE._replace(title=title), variant)
    for answers in mine.by_aggregation(asked, 5, AGGREGATIONS).values():
        assert rows(answers) == wanted
    assert rows(bm25_over(docs, WHOLE, variant, answers="passages").search_batch(asked, 5)) == wanted


def plain_passages(docs: list[list[str]], rule: Rule) -> list[tuple[int, str]]:
    """(document, text) of every passage."""
    found = []
    for number, parts in enumerate(docs):
        spans = [tuple(np.array([m.span() for m in re.finditer(r"\w\w+", part)]).T) for part in parts]
        made = split(parts, spans, rule)
        front = titled(made.starts, parts, parts[0], rule)
        found += [(number, text_of("\n".join(parts), a, b, parts[0] if f else ""))
                  for a, b, f in zip(made.starts, made.ends, front)]
    return found


def plain_scores(docs, rule, query) -> tuple[np.ndarray, np.ndarray]:
    """The document and the score of every passage, each searched as a document of its own."""
    passages = plain_passages(docs, rule)
    alone = Bm25()
    alone.prepare([str(i) for i in range(len(passages))], [text for _, text in passages])
    scores = np.zeros(len(passages))
    answer, = alone.search_batch([query], len(passages))
    scores[[int(i) for i in answer.ids]] = answer.scores
    return np.array([d for d, _ in passages]), scores


rules = st.builds(lambda length, stride, across, title: Rule(length, min(length, stride), across, title),
                  st.integers(1, 6), st.integers(1, 6), st.booleans(), st.booleans())


@given(documents, queries, rules)
@settings(deadline=None, max_examples=25)
def test_documents_are_scored_by_their_passages(docs, asked, rule):
    plain = {"maxP": max, "avgP": np.mean, "sumP": sum, "avg_top1": max,
             "avg_top3": lambda v: np.mean(sorted(v)[-3:])}
    found = bm25_over(docs, rule).by_aggregation(asked, len(docs), AGGREGATIONS)
    for i, query in enumerate(asked):
        owner, scores = plain_scores(docs, rule, query)
        for name in AGGREGATIONS:
            wanted = {f"d{d}": plain[name](scores[owner == d]) for d in range(len(docs))}
            answer = found[name][i]
            assert dict(zip(answer.ids, answer.scores)) == pytest.approx(
                {d: score for d, score in wanted.items() if score > 0}, rel=1e-5)
            for document, (number, start, end) in zip(answer.ids, answer.passages):
                own = scores[owner == int(document[1:])]
                assert own[number] == own.max()


@given(documents, queries, rules)
@settings(deadline=None, max_examples=25)
def test_a_ranking_of_passages_is_that_of_documents_that_are_passages(docs, asked, rule):
    owner, _ = plain_scores(docs, rule, asked[0])
    answer, = bm25_over(docs, rule, answers="passages").search_batch(asked[:1], 6)
    _, scores = plain_scores(docs, rule, asked[0])
    number = np.concatenate([np.arange(n) for n in np.bincount(owner)])
    wanted = sorted((-s, -d, n) for s, d, n in zip(scores, owner, number) if s > 0)[:6]
    assert [(-np.float64(s), -int(d[1:]), int(n)) for s, d, (n, *_) in zip(
        answer.scores, answer.ids, answer.passages)] == wanted


@given(documents, queries, rules, st.integers(1, 4))
@settings(deadline=None, max_examples=25)
def test_blocks_change_nothing_and_no_array_has_all_passages(docs, asked, rule, size):
    wanted = bm25_over(docs, rule).by_aggregation(asked, 3, AGGREGATIONS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(by_passage, "PASSAGES", size)
        system = bm25_over(docs, rule)
    engine, asked_for = system.engine, []
    products = engine.products
    engine.products = lambda q, start, stop: asked_for.append(stop - start) or products(q, start, stop)
    found = system.by_aggregation(asked, 3, AGGREGATIONS)
    for name in AGGREGATIONS:
        assert rows(found[name]) == rows(wanted[name])
        for a, b in zip(found[name], wanted[name]):
            assert np.array_equal(a.passages, b.passages)
    assert max(asked_for) <= max(size, int(np.diff(system.index.starts).max()))
    assert sum(asked_for) == len(system.index.begins)  # one pass, whatever is asked


@given(st.lists(st.integers(1, 4), min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_passages_tie_by_document_and_then_the_first_wins(counts, random):
    ids = [f"d{i}" for i in range(len(counts))]
    random.shuffle(ids)
    starts = np.concatenate(([0], np.cumsum(counts)))
    units = [(ids[d], n) for d, count in enumerate(counts) for n in range(count)]
    by_place = np.argsort(unit_places(starts, rank_within_ids(pa.array(ids))))[::-1]
    by_rule = sorted(sorted(units, key=lambda u: u[1]), key=lambda u: u[0], reverse=True)
    assert [units[i] for i in by_place] == by_rule


def test_a_long_passage_counts_beyond_16_bits():
    system = bm25_over([["aa " * 70_000]], WHOLE)
    answer, = system.search_batch(["aa"], 1)
    whole = Bm25()
    whole.prepare(["d0"], ["aa " * 70_000])
    assert answer.scores == whole.search_batch(["aa"], 1)[0].scores


# --- embeddings -----------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def few():
    """Fields, the first of which is a title, of some documents; and some queries."""
    rng = np.random.default_rng(3)
    docs = [[" ".join(rng.choice(WORDS, 3)), " ".join(rng.choice(WORDS, 25))] for _ in range(6)]
    return docs, ["a valve with a spring", "rotor blade"]


@pytest.fixture
def dense(model_folder):
    def build(**given) -> Dense:
        return Dense(str(model_folder), device="cpu", pooling="mean", query_prompt="",
                     corpus_prompt="", **given)
    return build


@pytest.fixture
def dense_over(dense):
    def build(docs, rule, **given) -> PassageSystem:
        system = PassageSystem(Vectors(dense()), rule, **given)
        system.prepare([f"d{i:02d}" for i in range(len(docs))], [(d, d[0]) for d in docs])
        return system
    return build


def test_one_passage_a_document_is_document_search_for_embeddings(few, dense, dense_over):
    docs, asked = few
    whole = dense()
    whole.prepare([f"d{i:02d}" for i in range(len(docs))], ["\n".join(d) for d in docs])
    wanted = rows(whole.search_batch([*asked, ""], 5))
    mine = dense_over(docs, WHOLE)
    for answers in mine.by_aggregation([*asked, ""], 5, AGGREGATIONS).values():
        assert rows(answers) == wanted
    assert rows(dense_over(docs, WHOLE, answers="passages").search_batch([*asked, ""], 5)) == wanted


def test_a_models_passages_are_scored_one_by_one(few, dense, dense_over):
    docs, asked = few
    mine = dense_over(docs, Rule(16, 8, title=True))
    found = mine.by_aggregation(asked, 5, ["maxP", "avg_top2"])
    alone = dense()
    texts, owner = [], []
    for d, parts in enumerate(docs):
        for a, b in zip(mine.index.begins[mine.index.starts[d]:mine.index.starts[d + 1]],
                        mine.index.ends[mine.index.starts[d]:mine.index.starts[d + 1]]):
            texts.append(text_of("\n".join(parts), a, b, parts[0] if a >= len(parts[0]) else ""))
            owner.append(d)
    alone.prepare([f"{i:04d}" for i in range(len(texts))], texts)
    for i, query in enumerate(asked):
        answer, = alone.search_batch([query], len(texts))
        scores = np.empty(len(texts))
        scores[[int(n) for n in answer.ids]] = answer.scores
        of = [np.sort(scores[np.array(owner) == d]) for d in range(len(docs))]
        for name, wanted in (("maxP", [s[-1] for s in of]), ("avg_top2", [s[-2:].mean() for s in of])):
            mine_, top = found[name][i], np.sort(wanted)[::-1][:5]
            np.testing.assert_allclose(mine_.scores, top, atol=2e-6)
            for document, (number, *_) in zip(mine_.ids, mine_.passages):
                own = scores[np.array(owner) == int(document[1:])]
                assert own[number] >= own.max() - 2e-6


def test_passages_that_the_model_cuts_are_counted(few, dense):
    system = PassageSystem(Vectors(dense(max_tokens=10)), Rule(16, 16))
    system.prepare(["d"], [(few[0][0], "")])
    notes = system.notes()
    assert notes["passages"] == len(system.index.begins) > notes["passages_cut"] - 1 > 0
    assert "corpus_texts" not in notes


# --- runs -----------------------------------------------------------------------------------------

WORDS = "valve seat spring rotor blade pump seal shaft gear lever nozzle filter".split()


@pytest.fixture(scope="module")
def collection(tmp_path_factory, make_collection):
    """p0 to p3 stand in both tables, and have 10 passages each."""
    rng = np.random.default_rng(1)

    def patents(ids, column, words):
        own = {name: [*WORDS, *(f"{name}{word}" for word in WORDS)] for name in ids}
        return [{column: name, "title": f"title {name}", "description": "",
                 "abstract": " ".join(rng.choice(own[name], words)),
                 "claims": " ".join(rng.choice(own[name], 70))} for name in ids]

    shared = patents([f"p{i}" for i in range(4)], "id", 64 + 8 * 32)
    queries = [{"query_id": p["id"], **{k: v for k, v in p.items() if k != "id"}} for p in shared]
    corpus = [{"doc_id": p["id"], **{k: v for k, v in p.items() if k != "id"}} for p in shared]
    corpus += patents([f"d{i}" for i in range(9)], "doc_id", 80)
    folder = make_collection(tmp_path_factory.mktemp("passages"), queries, corpus,
                             [(q["query_id"], "d1") for q in queries])
    return open_collection(str(folder))


@pytest.fixture
def search(collection, tmp_path):
    def run(**given):
        return retrieve(collection, "bm25-passages", Params(**{
            "outputs": str(tmp_path), "query_view": "tac", "corpus_view": "tac",
            "systems": ["bm25-passages"], "depth": 5, "passage_length": 64, **given}))
    return run


def test_a_run_says_where_in_the_view_each_document_scored(collection, search):
    from kit.text.views import texts
    saved = search()
    view = dict(zip(collection.ids("corpus"), texts(collection, "corpus", "tac")))
    assert saved.table.column_names[4:] == list(PASSAGE_COLUMNS)
    for row in saved.table.to_pylist():
        text = view[row["doc_id"]][row["start"]:row["end"]]
        assert 1 <= len(text.split()) <= 64 and "\n" not in text
    assert reopen(saved.folder).table.equals(saved.table)


def test_own_entries_take_no_places_of_a_ranking_of_passages(search):
    saved = search(passage_answers="passages")
    rows_ = saved.rows.to_pandas()
    assert set(rows_.groupby("query_id").size()) == {5}
    assert not (rows_["query_id"] == rows_["doc_id"]).any()
    assert saved.manifest["own_entry_ranks"] == [[f"p{i}", 1] for i in range(4)]


def test_a_document_with_several_passages_is_scored_by_its_first(search):
    saved = search(passage_answers="passages", depth=20)
    rows_, table = saved.rows.to_pandas(), saved.table.to_pandas()
    assert len(table) < len(rows_)
    first = rows_.drop_duplicates(["query_id", "doc_id"])
    assert table.drop(columns="rank").equals(first.drop(columns="rank").reset_index(drop=True))
    assert table["rank"].tolist() == (table.groupby("query_id").cumcount() + 1).tolist()
    assert saved.manifest["notes"]["passages_not_scored"] == len(rows_) - len(table)
    assert saved.manifest["system"]["settings"]["passage_answers"] == "passages"


def test_a_documents_best_passage_puts_it_where_maxp_does(search):
    best = search(passage_answers="passages", depth=200).table.to_pandas()
    maxp = search(depth=200).table.to_pandas()
    assert best.equals(maxp)


def test_a_run_cut_short_ends_as_if_it_had_not_been(search, tmp_path, monkeypatch):
    whole = search()
    digest = whole.manifest["run_sha256"]
    monkeypatch.setattr(Words, "block", 1)
    real, calls = execute._search_block, []

    def stopping(*given):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(*given)

    monkeypatch.setattr(execute, "_search_block", stopping)
    with pytest.raises(KeyboardInterrupt):
        search(outputs=str(tmp_path / "again"))
    again = search(outputs=str(tmp_path / "again"))
    assert again.manifest["run_sha256"] == digest and len(calls) == 5


def test_preprocessing_indexing_and_search_are_timed_apart(search):
    cost = json.loads((search().folder / "manifest.json").read_text())["cost"]
    assert {"preprocessing_seconds", "index_seconds", "search_seconds"} < set(cost)
    assert all(value >= 0 for value in cost.values())


def test_documents_once_are_left_as_they_are(search):
    saved = search()
    assert documents_of(saved.rows) is saved.rows


@pytest.mark.parametrize("given, error", [
    ({"passage_aggregation": "max"}, ParamsError), ({"passage_stride": 99}, ParamsError),
    ({"bm25_engine": "rank-bm25"}, SearchError), ({"engine": "dask"}, SearchError)])
def test_what_passages_can_not_be_is_refused_before_a_search(given, error):
    with pytest.raises(error):
        make_system("bm25-passages", Params(passage_length=64, **given))


def test_a_machine_that_is_too_small_is_told_before_a_text_is_read(monkeypatch):
    system = make_system("bm25-passages", Params(passage_length=64))
    monkeypatch.setattr(bm25_index, "memory_left", lambda: 1_500_000_000)
    system.expect(Corpus({}, 2_000_000_000))
    with pytest.raises(SearchError, match=r"needs about \d\.\d GB of memory, and 1\.5 GB are left"):
        system.prepare([f"d{i}" for i in range(45_000)], iter([]))


# --- all aggregations of one index ----------------------------------------------------------------

def test_a_sweeps_runs_are_those_of_each_aggregation_alone(collection, search, tmp_path):
    params = Params(outputs=str(tmp_path), query_view="tac", corpus_view="tac", depth=5,
                    passage_length=64, passage_answers="passages")
    swept = passage_runs(collection, "bm25-passages", params, ["maxP", "avg_top3", "sumP"])
    for name, table in swept.runs.items():
        assert table.equals(search(passage_aggregation=name).rows)
    assert set(swept.seconds) == {"preprocessing", "index", "search"} and swept.notes["passages"] > 40


def test_a_sweep_is_of_passages(collection):
    with pytest.raises(SearchError, match="'bm25' searches no passages"):
        passage_runs(collection, "bm25", Params(), ["maxP"])


def test_a_run_file_with_passages_is_read_as_its_documents(collection, search):
    saved = search()
    table, _ = open_run(saved.folder / "run.parquet", collection)
    assert table.equals(saved.table.select(table.column_names))
