"""How much of a text is read: spans that fit, that lose no word, and that become one vector."""

import logging

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kit.errors import SearchError
from kit.retrieval.encode import encode, load, read_spans

WORDS = st.lists(st.sampled_from(["valve", "pump", "seat", "gear", "x", "abcdefgh", "-", "1,5", "é"]),
                 max_size=60)


@pytest.fixture
def short(model):
    """The model with a limit of ten tokens."""
    limit = model.max_seq_length
    model.max_seq_length = 10
    yield model
    model.max_seq_length = limit


@given(words=WORDS, spans=st.integers(1, 9), prompt=st.sampled_from(["", "pump ", "valve: "]),
       between=st.sampled_from([" ", "  ", "\n"]))
@settings(max_examples=60, deadline=None)
def test_spans_lose_no_word_and_each_fits(tokenizer, words, spans, prompt, between):
    text = between.join(words)
    pieces, left = read_spans(tokenizer, text, prompt, 12, spans)
    read = " ".join(pieces).split()
    assert read == text.split()[:len(read)] and 1 <= len(pieces) <= spans
    assert left == (len(read) < len(text.split()))
    assert all(len(tokenizer([prompt + p])["input_ids"][0]) <= 12 for p in pieces)


def test_a_word_that_fills_a_span_is_parted(tokenizer):
    pieces, left = read_spans(tokenizer, "abcdefghij" * 3, "", 12, 9)
    assert pieces == ["abcdefghij"] * 3 and not left


def test_a_prompt_that_leaves_no_room_is_refused(tokenizer):
    with pytest.raises(SearchError, match="prompt fills the model's 4 tokens"):
        read_spans(tokenizer, "valve pump seat", "pump seat ", 4, 2)


@pytest.mark.parametrize("pool", ["mean", "max"])
@pytest.mark.parametrize("text", ["", "valve", "a valve", "valve " * 8])
def test_a_text_of_one_span_has_its_vector_whatever_the_number_of_spans(short, text, pool):
    one = encode(short, [text], "", 32).vectors
    for spans in (2, 7):
        made = encode(short, [text], "", 32, spans, pool)
        assert (made.vectors == one).all() and made.cut == 0


@pytest.mark.parametrize(("pool", "of"), [("mean", np.mean), ("max", np.max)])
def test_spans_become_one_unit_vector(short, pool, of):
    parts = ["valve " * 8, "pump " * 8, "seat a b"]
    one = of(encode(short, parts, "", 32).vectors.astype(np.float64), axis=0)
    made = encode(short, ["".join(parts)], "", 32, 3, pool).vectors[0]
    assert np.abs(made - one / np.linalg.norm(one)).max() < 1e-6


@pytest.mark.parametrize(("spans", "cut"), [(1, 2), (2, 1), (3, 0), (4, 0)])
def test_texts_that_are_longer_than_all_spans_are_counted_as_cut(short, spans, cut):
    texts = ["valve " * 8, "valve " * 16, "valve " * 24]
    assert encode(short, texts, "", 32, spans).cut == cut


def test_a_prompt_stands_before_every_span(short):
    prompted = encode(short, ["valve " * 7 + "pump"], "seat ", 32, 2).vectors[0].astype(np.float64)
    one = encode(short, ["seat " + "valve " * 7, "seat pump"], "", 32).vectors.astype(np.float64)
    one = one.mean(axis=0)
    assert np.abs(prompted - one / np.linalg.norm(one)).max() < 1e-6


def test_the_order_of_texts_and_their_company_change_a_vector_by_less_than_a_score_shows(model):
    texts = ["valve " * n + "pump" for n in range(1, 28)]
    alone = np.concatenate([encode(model, [t], "", 32).vectors for t in texts])
    for batch_size in (2, 32):
        made = encode(model, texts[::-1], "", batch_size).vectors[::-1]
        assert np.abs(made - alone).max() < 5e-7


def test_vectors_that_are_no_numbers_are_refused(model, monkeypatch):
    monkeypatch.setattr(type(model), "encode", lambda *_, **__: np.full((1, 32), np.nan))
    with pytest.raises(SearchError, match="no numbers"):
        encode(model, ["a"], "", 32)


def test_loading_says_nothing(monkeypatch, model_folder):
    library, said = logging.getLogger("transformers"), []
    kept = logging.Handler()
    kept.emit = said.append
    monkeypatch.setattr(library, "handlers", [kept])
    load(str(model_folder), None, "cpu")
    assert [record.getMessage() for record in said] == []
