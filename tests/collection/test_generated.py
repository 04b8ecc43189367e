"""The generated collection: sound, counted, the same again, with words spread as in patents."""

import re
from collections import Counter
from itertools import permutations

import pyarrow.parquet as pq
import pytest

from kit.collection import generated
from kit.collection.generated import write_generated
from kit.collection.schema import TABLES
from kit.collection.sources import open_collection
from kit.errors import CollectionError

SIZE = {"documents": 60, "queries": 80, "pairs": 400, "words": 600}
TEXTS = ("title", "abstract", "claims", "description")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return write_generated(tmp_path_factory.mktemp("generated") / "made", **SIZE)


@pytest.fixture(scope="module")
def collection(home):
    return open_collection(str(home))


@pytest.fixture(scope="module")
def rows(collection):
    return {table: list(collection.tables[table]) for table in TABLES}


def terms(row) -> list[str]:
    return re.findall(r"[a-z]+", " ".join(row[f] for f in TEXTS).lower())


def held(home) -> dict:
    return {f.relative_to(home): f.read_bytes() for f in home.rglob("*") if f.is_file()}


# --- the tables -----------------------------------------------------------------------------------

def test_it_is_sound_and_of_the_size_asked(collection):
    assert collection.faults == []
    assert {t: len(collection.tables[t]) for t in TABLES} == {
        "corpus": 60, "queries": 80, "qrels": 400}


def test_it_says_that_it_is_made_up(home):
    card = (home / "README.md").read_text(encoding="utf-8")
    assert "made-up words" in card and "about nothing else" in card
    assert "60 documents, 80 queries and 400 pairs, of 600 words" in card


def test_the_same_arguments_give_the_same_tables(home, collection, tmp_path):
    assert held(write_generated(tmp_path / "again", **SIZE)) == held(home)
    other = open_collection(str(write_generated(tmp_path / "other", **SIZE, seed=1)))
    assert all(other.fingerprints[t] != collection.fingerprints[t] for t in TABLES)


def test_files_and_row_groups_are_bounded_and_change_nothing(collection, tmp_path, monkeypatch):
    monkeypatch.setattr(generated, "ROWS", 25)
    monkeypatch.setattr(generated, "TOKENS", 10 * SIZE["words"])
    home = write_generated(tmp_path / "parts", **SIZE)
    files = [pq.ParquetFile(f) for f in sorted(home.glob("corpus/*.parquet"))]
    assert [f.metadata.num_rows for f in files] == [25, 25, 10]
    assert max(f.metadata.row_group(g).num_rows
               for f in files for g in range(f.num_row_groups)) == 10
    assert open_collection(str(home)).fingerprints == collection.fingerprints


def test_nothing_is_left_of_a_collection_cut_short(tmp_path, monkeypatch):
    def fail(*_):
        raise KeyboardInterrupt
    monkeypatch.setattr(generated, "_pair", fail)
    with pytest.raises(KeyboardInterrupt):
        write_generated(tmp_path / "made", **SIZE)
    assert list(tmp_path.iterdir()) == []


# --- the citations --------------------------------------------------------------------------------

def test_own_entries_are_the_same_patent(rows):
    queries = {r["query_id"]: r for r in rows["queries"]}
    own = [r for r in rows["corpus"] if r["doc_id"] in queries]
    assert len(own) == 3  # 267 in 10,000, rounded up
    for row in own:
        assert all(queries[row["doc_id"]][c] == row[c] for c in row if c != "doc_id")


def test_sophias_numbers_give_sophias_categories_and_own_entries():
    plan = generated._plan(75_050, 10_000, 66_469, 6_000, 0)
    assert Counter(plan.labels.tolist()) == {0: 30_260, 1: 33_653, 2: 2_556}
    assert len(set(plan.queries.tolist()) & set(plan.corpus.tolist())) == 267
    assert len(set(map(tuple, plan.pairs.tolist()))) == 66_469
    assert len(set(plan.pairs[:, 0].tolist())) == 10_000


def test_each_query_has_a_relevant_document_and_some_cite_each_other(rows):
    pairs = {(p["query_id"], p["doc_id"]) for p in rows["qrels"]}
    assert {q for q, _ in pairs} == {r["query_id"] for r in rows["queries"]}
    assert len([1 for q, d in pairs if (d, q) in pairs]) == 2


def test_categories_follow_the_relations_and_directions_the_dates(rows):
    dates = {r.get("query_id") or r["doc_id"]: r["publication_date"]
             for t in ("queries", "corpus") for r in rows[t]}
    for pair in rows["qrels"]:
        labels = [r["category"] for r in pair["source_relations"]]
        assert len(set(labels)) == len(labels)
        assert ("XY" in labels) == bool({"X", "Y"} & set(labels))
        assert pair["category"] == {(True, True): "overlap", (True, False): "XY",
                                    (False, True): "A"}["XY" in labels, "A" in labels]
        earlier = dates[pair["doc_id"]] < dates[pair["query_id"]]
        assert {r["direction"] for r in pair["source_relations"]} == {
            "cited" if earlier else "citing"}


def test_the_most_pairs_that_are_taken_can_be_drawn(tmp_path):
    home = write_generated(tmp_path / "dense", documents=40, queries=7, pairs=70, words=60)
    dense = open_collection(str(home))
    assert len(dense.pairs) == 70 and dense.faults == []


@pytest.mark.parametrize("change, where", [
    ({"documents": 0}, "documents"), ({"queries": 0}, "queries"), ({"pairs": 0}, "pairs"),
    ({"words": 59}, "words"), ({"words": 10**7}, "words"), ({"seed": -1}, "seed"),
    ({"pairs": 80 * 15 + 1}, "pairs"), ({"queries": 2500}, "documents")])
def test_what_cannot_be_is_refused_before_anything_is_written(change, where, tmp_path):
    with pytest.raises(CollectionError) as refused:
        write_generated(tmp_path / "made", **{**SIZE, **change})
    assert refused.value.where == where and refused.value.do
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_there_stays(home):
    before = held(home)
    with pytest.raises(CollectionError, match="there already"):
        write_generated(home, **{**SIZE, "seed": 1})
    assert held(home) == before


# --- the texts ------------------------------------------------------------------------------------

def test_one_document_has_anothers_text_and_one_nearly_its_querys(rows):
    texts = Counter(tuple(r[f] for f in TEXTS) for r in rows["corpus"])
    assert sorted(texts.values())[-2:] == [1, 2]
    queries = {r["query_id"]: r for r in rows["queries"]}
    docs = {r["doc_id"]: r for r in rows["corpus"]}
    same = [sum(a == b for a, b in zip(terms(queries[p["query_id"]]), terms(docs[p["doc_id"]])))
            / len(terms(docs[p["doc_id"]])) for p in rows["qrels"]]
    assert len([s for s in same if .9 < s < 1]) == 1


def test_relevants_are_more_often_of_their_querys_topic_than_chance_has_it():
    plan = generated._plan(2_000, 300, 3_000, 600, 0)
    alike = plan.topic[plan.pairs[:, 0]] == plan.topic[plan.pairs[:, 1]]
    assert .25 < alike.mean() < .55  # 1 in 28 by chance


def test_documents_of_a_topic_share_more_rare_words_than_others_do(rows):
    """Rare: in a tenth of the documents at most. Equal texts are left out."""
    plan = generated._plan(*SIZE.values(), 0)
    topic = dict(zip(map(generated._name, plan.corpus.tolist()), plan.topic[plan.corpus]))
    words = {r["doc_id"]: set(terms(r)) for r in rows["corpus"]
             if plan.told_as[int(r["doc_id"][4:]) - 1] == int(r["doc_id"][4:]) - 1}
    often = Counter(t for held in words.values() for t in held)
    rare = {t for t, n in often.items() if n <= len(words) / 10}
    shares = {True: [], False: []}
    for a, b in permutations(words, 2):
        if words[a] != words[b]:
            shares[topic[a] == topic[b]].append(len(words[a] & words[b] & rare) / len(words[a]))
    mean = {kind: sum(values) / len(values) for kind, values in shares.items()}
    assert mean[True] > 1.5 * mean[False]


def test_texts_look_like_text(rows):
    for row in rows["corpus"]:
        assert len(row["title"].split()) == 10
        for name in ("abstract", "description"):
            assert re.fullmatch(r"([A-Z][a-z]+( [a-z]+)*\.[ \n]?)+(?<=\.)", row[name])
        for number, claim in enumerate(row["claims"].split("\n"), 1):
            assert re.fullmatch(rf"{number}\. [A-Z][a-z]+( [a-z]+)*\.", claim)


def test_no_word_stands_twice_in_the_vocabulary():
    words = generated._words()
    assert len(words.unique()) == len(words) == 128 + 128**2 + 128**3


def test_nullable_views_are_null_in_some_rows_and_not_in_others(rows):
    for view in ("adb", "iclm", "obj"):
        assert {r[view] is None for r in rows["corpus"]} == {True, False}


@pytest.fixture(scope="module")
def long_texts(tmp_path_factory):
    """The words of 60 documents of a patent's length."""
    home = write_generated(tmp_path_factory.mktemp("long") / "made", documents=60, queries=1,
                           pairs=1, seed=3)
    return [terms(r) for r in open_collection(str(home)).tables["corpus"]]


def test_words_are_spread_as_in_patents(long_texts):
    """Bands around what 500 full texts of patents have, at the length that is generated."""
    distinct = [set(words) for words in long_texts]
    often = Counter(t for words in distinct for t in words)
    postings = sum(often.values())
    common = {t for t, n in often.items() if n > len(distinct) / 10}
    touched = sum(n * n for n in often.values())  # by every document's terms as a query
    letters = [len(word) for words in long_texts for word in words]
    assert 4_500 < sum(map(len, long_texts)) / 60 < 7_500
    assert 1_500 < postings / 60 < 2_100
    assert .55 < sum(often[t] for t in common) / postings < .75
    assert .93 < sum(often[t] ** 2 for t in common) / touched < .99
    assert 5 < sum(letters) / len(letters) < 6


def test_the_vocabulary_grows_with_the_corpus(long_texts):
    """Heaps: four times the documents have 2 to 3 times the words (500 texts against 125: 2.2)."""
    few, many = (len(set().union(*long_texts[:n])) for n in (15, 60))
    assert 2 < many / few < 3
