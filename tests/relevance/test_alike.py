"""Equal and near-equal texts, held against sets built by hand."""

import random
from itertools import combinations, product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.collection.sources import Collection, open_collection
from kit.relevance import alike
from kit.relevance.alike import (
    NEAR,
    equal_texts,
    gram_hashes,
    jaccard,
    known_pairs,
    near_groups,
    near_relevants,
    signatures,
    word_grams,
)

BLANK = {"title": None, "abstract": None, "claims": None, "description": None}


def words(seed: int, count: int = 200) -> list[str]:
    """Words that no two seeds share."""
    draw = random.Random(seed)
    return [f"s{seed}w{draw.randrange(5_000)}" for _ in range(count)]


def changed(text: list[str], count: int) -> str:
    """The text with `count` words replaced, far from each other, so that each costs 5 sequences."""
    text = list(text)
    for n in range(count):
        text[10 + n * 20] = f"other{n}"
    return " ".join(text)


def patent(key: str, name: str, text: str, field: str = "description") -> dict:
    return {key: name, **BLANK, field: text}


def query(name: str, text: str, **other) -> dict:
    return patent("query_id", name, text, **other)


def doc(name: str, text: str, **other) -> dict:
    return patent("doc_id", name, text, **other)


@pytest.fixture
def opened(tmp_path, make_collection):
    def make(queries, corpus, qrels, **other):
        return open_collection(str(make_collection(tmp_path, queries, corpus, qrels, **other)))
    return make


def equal_ids(collection) -> set[frozenset]:
    groups = equal_texts(collection).groupby("digest")
    return {frozenset(zip(g["table"], g["identifier"])) for _, g in groups if len(g) > 1}


# --- equal texts -----------------------------------------------------------------------------

@pytest.mark.parametrize(("one", "other", "equal"), [
    ({"title": "Valve"}, {"title": "Valve"}, True),
    ({"title": "Valve", "abstract": ""}, {"title": "Valve", "abstract": None}, True),
    ({"title": "Valve"}, {"title": "valve"}, False),
    ({"title": "Valve"}, {"title": "Valve "}, False),
    ({"title": "Valve"}, {"abstract": "Valve"}, False),
    ({"title": "Val", "abstract": "ve"}, {"title": "Valve"}, False),
    ({"title": "a", "abstract": "b\0c"}, {"title": "a\0b", "abstract": "c"}, False),
    ({"title": "é"}, {"title": "e\N{COMBINING ACUTE ACCENT}"}, False),
])
def test_texts_are_equal_field_by_field(opened, one, other, equal):
    collection = opened(["q1"], [{"doc_id": "d1", **BLANK, **one},
                                 {"doc_id": "d2", **BLANK, **other}], [("q1", "d1")])
    assert equal_ids(collection) == ({frozenset({("corpus", "d1"), ("corpus", "d2")})} if equal
                                     else set())


def test_a_query_and_a_document_can_be_of_equal_text(opened):
    collection = opened([query("q1", "A valve.")], [doc("d1", "A valve."), doc("d2", "A pump.")],
                        [("q1", "d1")])
    assert equal_ids(collection) == {frozenset({("queries", "q1"), ("corpus", "d1")})}


def test_rows_without_a_text_are_not_equal_to_each_other(opened):
    collection = opened(["q1"], [doc("d1", ""), doc("d2", None), doc("d3", "A valve.")],
                        [("q1", "d3")])
    assert list(equal_texts(collection)["identifier"]) == ["q1", "d3"]


def test_every_row_has_its_digest_whatever_its_identifier(opened):
    collection = opened(["q1"], [doc(None, "A valve."), doc("d1", "A valve."),
                                 doc("d1", "A valve."), doc("d2", "A pump.")], [("q1", "d2")])
    found = equal_texts(collection)
    assert found["identifier"].tolist() == ["q1", None, "d1", "d1", "d2"]
    assert found["digest"].duplicated(keep=False).tolist() == [False, True, True, True, False]


# --- what near-equal means -------------------------------------------------------------------

@pytest.mark.parametrize(("text", "grams"), [
    ("A b c d E", {"a b c d e"}), ("a b c d e f", {"a b c d e", "b c d e f"}),
    ("a, b;\nc", {"a b c"}), ("Öl", {"öl"}), ("", set()), (" -- ", set()),
    ("a a a a a a a", {"a a a a a"})])
def test_the_word_sequences_of_a_text(text, grams):
    assert word_grams(text) == grams


def test_the_hashes_of_a_text_are_those_of_its_sequences():
    hashes = gram_hashes("a b c d e f a b c d e f")
    assert len(hashes) == len(word_grams("a b c d e f a b c d e f")) and (np.diff(hashes) > 0).all()
    assert not len(gram_hashes(""))


SETS = st.sets(st.integers(0, 8))


@given(SETS, SETS)
def test_jaccard_is_the_share_of_what_either_has(one, other):
    either = [n for n in range(9) if n in one or n in other]
    share = sum(n in one and n in other for n in either) / len(either) if either else 0
    a, b = (np.array(sorted(s), np.uint32) for s in (one, other))
    assert jaccard(a, b) == jaccard(b, a) == pytest.approx(share)


# 200 words have 196 sequences, and a changed word costs 5: (196 - 5n) / (196 + 5n)
@pytest.mark.parametrize(("count", "similarity"), [
    (1, 191 / 201), (4, 176 / 216), (5, None), (9, None)])
def test_a_pair_is_near_by_its_exact_similarity(opened, count, similarity):
    text = words(1)
    collection = opened([query("q1", " ".join(text))], [doc("d1", changed(text, count))],
                        [("q1", "d1")])
    expected = [["q1", "d1", similarity]] if similarity else []
    assert near_relevants(collection).values.tolist() == expected
    assert len(near_groups(collection)) == 2 * len(expected)


def test_just_at_the_threshold_is_near(opened):
    text = [f"w{n}" for n in range(13)]  # 9 sequences, of which one differs: 8 of 10
    collection = opened([query("q1", " ".join(text))], [doc("d1", " ".join([*text[:-1], "x"]))],
                        [("q1", "d1")])
    assert near_relevants(collection)["similarity"].tolist() == [NEAR]


def test_an_estimate_alone_makes_no_pair_near(opened, monkeypatch):
    text, asked = words(1), []

    def far(one, other):
        asked.append((one, other))
        return 0.0
    collection = opened([query("q1", " ".join(text))], [doc("d1", changed(text, 1))],
                        [("q1", "d1")])
    monkeypatch.setattr(alike, "jaccard", far)
    assert near_relevants(collection).empty and near_groups(collection).empty
    assert len(asked) == 2


# --- which pairs are looked at ---------------------------------------------------------------

def test_an_equal_text_is_not_near(opened):
    text = " ".join(words(1))
    collection = opened([query("q1", text)], [doc("d1", text)], [("q1", "d1")])
    assert near_relevants(collection).empty and near_groups(collection).empty


def test_a_text_told_in_other_fields_or_other_signs_is_near(opened):
    text = words(1)
    collection = opened([query("q1", " ".join(text))],
                        [doc("d1", " ".join(text), field="claims"),
                         doc("d2", ", ".join(text).upper())],
                        [("q1", "d1"), ("q1", "d2")])
    assert near_relevants(collection).values.tolist() == [["q1", "d1", 1.0], ["q1", "d2", 1.0]]


def test_an_own_pair_is_left_out_only_where_identifiers_are_shared(opened):
    text = words(1)
    collection = opened([query("p1", " ".join(text))], [doc("p1", changed(text, 1))],
                        [("p1", "p1")])
    assert near_relevants(collection).empty
    apart = Collection(collection.source, "apart", collection.tables, shared_ids=False)
    assert near_relevants(apart)["doc_id"].tolist() == ["p1"]


def test_documents_that_are_relevant_to_nothing_are_not_compared(opened):
    text = words(1)
    corpus = [doc("d1", " ".join(text)), doc("d2", changed(text, 1)), "d3"]
    collection = opened([query("q1", "A pump.")], corpus, [("q1", "d1")])
    assert signatures(collection).texts["identifier"].tolist() == ["q1", "d1"]
    assert near_groups(collection).empty


def test_given_pairs_are_those_compared(opened):
    text = words(1)
    collection = opened([query("q1", " ".join(text))],
                        [doc("d1", changed(text, 1)), doc("d2", changed(text, 2))], [("q1", "d1")])
    pairs = known_pairs(collection).assign(doc_id="d2")
    assert near_relevants(collection, pairs)["doc_id"].tolist() == ["d2"]


def test_groups_hold_what_hangs_together(opened):
    one, two = words(1), words(2)
    corpus = [doc("d1", changed(one, 1)), doc("d2", changed(one, 1)), doc("d3", " ".join(two)),
              doc("d4", changed(two, 2)), doc("d5", " ".join(words(3)))]
    collection = opened([query("q1", " ".join(one)), query("q2", " ".join(words(4)))], corpus,
                        [("q1", f"d{n}") for n in range(1, 6)])
    groups = near_groups(collection).groupby("group")["identifier"]
    assert sorted(sorted(g) for _, g in groups) == [["d1", "d2", "q1"], ["d3", "d4"]]


def test_a_chain_of_near_texts_is_one_group(opened):
    text, corpus = words(1, 400), []
    for n in range(8):  # each has three more words changed than the one before
        corpus.append(doc(f"d{n}", " ".join(text)))
        for place in range(3):
            text[5 + n * 45 + place * 15] = f"other{n}-{place}"
    ends = [gram_hashes(c["description"]) for c in (corpus[0], corpus[-1])]
    assert jaccard(*ends) < NEAR
    collection = opened(["q1"], corpus, [("q1", f"d{n}") for n in range(8)])
    assert near_groups(collection)["group"].value_counts().tolist() == [8]


def test_a_group_is_named_by_its_least_digest(opened):
    corpus = [doc(f"d{n}", changed(words(1), n)) for n in range(4)]
    collection = opened(["q1"], corpus, [("q1", f"d{n}") for n in range(4)])
    least = signatures(collection, queries=[]).texts["digest"].min()
    assert near_groups(collection)["group"].tolist() == [least] * 4


def test_what_is_in_one_group_already_is_not_compared(opened, monkeypatch):
    corpus, asked = [doc(f"d{n}", changed(words(1, 400), n)) for n in range(4)], []

    def counted(one, other):
        asked.append(1)
        return jaccard(one, other)
    collection = opened(["q1"], corpus, [("q1", f"d{n}") for n in range(4)])
    monkeypatch.setattr(alike, "jaccard", counted)
    assert len(near_groups(collection)) == 4
    assert len(asked) == 3


# --- the same whatever the reading -----------------------------------------------------------

@pytest.fixture
def mixed(opened):
    """Three texts in five wordings each."""
    corpus = [doc(f"d{s}{n}", changed(words(s), n)) for s, n in product((1, 2, 3), range(5))]
    queries = [query(f"q{s}", " ".join(reversed(words(s)))) for s in (1, 2)]
    return opened(queries, corpus, [(f"q{s}", c["doc_id"]) for s in (1, 2) for c in corpus])


def test_small_batches_and_rounds_change_nothing(mixed, monkeypatch):
    signed, groups = signatures(mixed), near_groups(mixed)
    assert len(groups) == 15
    monkeypatch.setattr(alike, "HELD", 1)
    monkeypatch.setattr("kit.collection.sources.Collection.batches",
                        lambda self, table, columns, size=3, whole=Collection.batches:
                        whole(self, table, columns, size))
    again = signatures(mixed)
    assert again.texts.equals(signed.texts) and np.array_equal(again.hashes, signed.hashes)
    assert near_groups(mixed).equals(groups)


def test_the_order_of_rows_changes_nothing(tmp_path, make_collection):
    text, rng = words(1), random.Random(0)
    queries = [query("q1", changed(text, 1)), query("q2", " ".join(words(9)))]
    corpus = [doc(f"d{n}", changed(text, n)) for n in range(8)]
    pairs = [(q["query_id"], d["doc_id"]) for q, d in product(queries, corpus)]
    found = []
    for name in ("one", "other"):
        folder = make_collection(tmp_path, queries, corpus, pairs, name=name)
        collection = open_collection(str(folder))
        found.append((near_relevants(collection), near_groups(collection)))
        for rows in (queries, corpus, pairs):
            rng.shuffle(rows)
    assert found[0][0].equals(found[1][0]) and found[0][1].equals(found[1][1])
    assert len(found[0][0]) > 2


def test_only_blocks_of_the_stated_size_are_read(mixed, monkeypatch):
    sizes = signatures(mixed).texts["size"].to_numpy()
    pairs = np.array(list(combinations(range(2, 17), 2)))
    most = int(sizes.max()) * 4
    monkeypatch.setattr(alike, "HELD", most)
    blocks = list(alike._blocks(pairs, sizes))
    assert sorted(pair for block in blocks for pair in block) == sorted(map(tuple, pairs.tolist()))
    assert all(sizes[list({n for pair in block for n in pair})].sum() <= most for block in blocks)


# --- unsound and real collections ------------------------------------------------------------

def test_an_unsound_collection_is_read_as_far_as_it_goes(opened):
    text = words(1)
    collection = opened(
        [query("q1", " ".join(text)), query("q1", "again"), query(None, "none")],
        [doc("d1", changed(text, 1)), doc("d1", "again"), doc(None, " ".join(text))],
        [("q1", "d1"), ("q1", "d1"), ("q1", "d9"), ("q9", "d1"), (None, "d1"), ("q1", None)])
    assert known_pairs(collection).values.tolist() == [["q1", "d1"]]
    assert near_relevants(collection)["doc_id"].tolist() == ["d1"]
    assert near_groups(collection)["identifier"].tolist() == ["d1", "q1"]


@pytest.mark.parametrize("lacking", [["claims"], ["title", "abstract", "claims", "description"],
                                     ["query_id"]])
def test_lacking_columns_are_read_as_null(opened, lacking):
    def less(table: pa.Table) -> pa.Table:
        return table.drop_columns(lacking)
    collection = opened(["q1", "q2"], ["d1"], [("q1", "d1")], tweak={"queries": less})
    kept = 0 if len(lacking) == 4 else 2
    assert (equal_texts(collection)["table"] == "queries").sum() == kept
    assert near_relevants(collection).empty and near_groups(collection).empty


def shared_part(one: set, other: set) -> float:
    return len(one & other) / len(one | other)


def test_what_is_proposed_in_real_patents_is_all_that_is_near(shared):
    collection = open_collection(str(shared / "data" / "real-patents"))
    grams = {(table, row): word_grams("\n".join(fields)) for table in ("queries", "corpus")
             for row, _, fields in alike._rows(collection, table)}
    signed = signatures(collection)
    first = signed.texts.drop_duplicates("digest")
    near = {(a.digest, b.digest) for a, b in combinations(first.itertuples(), 2)
            if shared_part(grams[a.table, a.row], grams[b.table, b.row]) >= NEAR}
    group = near_groups(collection, signed).assign(
        digest=lambda g: g.merge(signed.texts)["digest"]).set_index("digest")["group"]
    group = group[~group.index.duplicated()].to_dict()
    assert set(group) == {d for pair in near for d in pair}
    assert all(group[a] == group[b] for a, b in near)
