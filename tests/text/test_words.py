"""Words as numbers, held against `re` and collections.Counter over all of Unicode."""

import re
import subprocess
import sys
import unicodedata
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kit.text import compiled
from kit.text.words import PATTERN, POINTS, Vocabulary, count_terms

quick = settings(deadline=None, max_examples=300, database=None)
# any character, lone surrogates too, and often those whose lower case is odd
ODD = "İΣςσΑαßẞKÅȺⱥǅﬁ\u0307\u0345\u0301\u00ad\u2019_'١৩²Ⅷⅷ①𝐀𝟘𐐀𐐨\ud800\udfff.\n aZ09"
CHARS = st.one_of(st.sampled_from(ODD), st.characters(exclude_categories=()))
TEXT = st.text(CHARS, max_size=60)


def words(text: str) -> list[str]:
    return re.findall(PATTERN, text.lower())


def read(vocabulary: Vocabulary, ids) -> list[str]:
    terms = vocabulary.terms()
    return [terms[i] for i in ids]


@quick
@given(st.lists(TEXT, max_size=6))
@example(["ΑΣ ΑΣΑ Σ ΣΣ ΑΣ.Σ", "İİ aİb İst", "a\ud800bc", "x" * 5000 + " " + "é" * 5000])
def test_ids_are_the_words_of_re(texts):
    vocabulary, seen = Vocabulary(), []
    for text in texts:
        assert read(vocabulary, vocabulary.ids(text)) == words(text)
        seen += words(text)
    assert vocabulary.terms() == list(dict.fromkeys(seen)) and len(vocabulary) == len(set(seen))


def test_every_character_at_a_words_ends_and_within():
    text = "\n".join(f"{c}ab{c}{c}cd{c}" for c in map(chr, range(POINTS)))
    vocabulary = Vocabulary()
    assert read(vocabulary, vocabulary.ids(text)) == words(text)


@quick
@given(TEXT, TEXT)
def test_known_leaves_new_words_out_and_adds_none(first, then):
    vocabulary = Vocabulary()
    vocabulary.ids(first)
    held = set(words(first))
    assert read(vocabulary, vocabulary.known(then)) == [w for w in words(then) if w in held]
    assert vocabulary.terms() == list(dict.fromkeys(words(first)))


@quick
@given(TEXT)
@example("aİb İİ ΑΣ xİ̇yz")
@example("𝐀b cd")
def test_spans_are_places_in_the_text_as_it_was_given(text):
    vocabulary = Vocabulary()
    ids, starts, ends = vocabulary.spans(text)
    assert read(vocabulary, ids) == words(text)
    for word, start, end in zip(words(text), starts, ends):
        # the dot of İ is no part of a word, and a sigma's form hangs on what stands around it
        lower = text[start:end].lower()
        assert word in (lower, lower.removesuffix("\u0307")) or "Σ" in text[start:end]
        assert len(word) == end - start
    assert (ends[:-1] <= starts[1:]).all() and (starts < ends).all()


@quick
@given(st.lists(TEXT, min_size=1, max_size=8))
def test_counts_are_those_of_counter(texts):
    counts, vocabulary = count_terms(iter(texts))
    bags = [Counter(words(t)) for t in texts]
    terms = sorted({w for bag in bags for w in bag})
    assert vocabulary.terms() == terms and counts.shape == (len(texts), len(terms))
    assert counts.toarray().tolist() == [[bag[t] for t in terms] for bag in bags]
    assert counts.has_canonical_format and counts.dtype == np.uint16


def test_a_count_that_two_bytes_do_not_hold():
    counts, vocabulary = count_terms(["to be", "to " * 70_000 + "be"])
    assert counts.toarray().tolist() == [[1, 1], [1, 70_000]] and counts.dtype == np.int32
    assert vocabulary.terms() == ["be", "to"]


def test_no_text_and_no_word():
    counts, vocabulary = count_terms([])
    assert counts.shape == (0, 0) and len(vocabulary) == 0
    assert count_terms(["", "a . b"])[0].shape == (2, 0)
    assert Vocabulary().ids("").tolist() == [] and Vocabulary().known("a word").tolist() == []


def test_many_words_grow_every_table():
    many = [f"w{n:05d}é" for n in range(30_000)]
    vocabulary = Vocabulary(many[:10])
    assert vocabulary.ids(" ".join(many)).tolist() == list(range(30_000))
    assert vocabulary.terms() == many
    assert vocabulary.packed(777, 779).to_pylist() == many[777:779]
    again = Vocabulary.of(vocabulary.packed())
    assert again.terms() == many and again.known(many[777]).tolist() == [777]


def test_words_of_one_hash_are_told_apart():
    """Words that begin alike, of which some have the same 32 bits of hash."""
    many = pa.array([f"prefixed{n:06d}" for n in range(300_000)], pa.large_string())
    vocabulary = Vocabulary()
    assert vocabulary.add(many).tolist() == list(range(300_000))
    tags = vocabulary._slots[1::2]
    hashes = np.sort(tags[tags > 0] >> np.uint64(32))
    assert (hashes[1:] == hashes[:-1]).any()  # else this shows nothing
    assert vocabulary.add(many).tolist() == list(range(300_000))


def test_in_order_is_by_code_point():
    vocabulary = Vocabulary(["zz", "éa", "𐐨a", "ab", "ﬁx"])
    ordered, place = vocabulary.in_order()
    assert ordered.terms() == sorted(vocabulary.terms()) == ["ab", "zz", "éa", "ﬁx", "𐐨a"]
    assert [ordered.terms()[i] for i in place] == vocabulary.terms()


def test_one_character_alone_changes_length_in_lower_case():
    """What the scan relies on, of the Unicode that this Python knows."""
    longer = [c for c in map(chr, range(POINTS)) if len(c.lower()) != 1]
    assert longer == ["İ"], unicodedata.unidata_version
    grown = [c for c in map(chr, range(POINTS)) if not 0xD800 <= ord(c) < 0xE000
             and 2 * len(c.lower()[0].encode()) > 3 * len(c.encode())]
    assert grown == []


def test_importing_compiles_nothing():
    code = "import sys, kit.text.words; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_where_machine_code_can_t_be_kept_it_is_compiled_anew(monkeypatch):
    own = compiled.numba.njit

    def njit(cache=False, **options):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return own(**options)

    with monkeypatch.context() as patch:
        patch.setattr(compiled.numba, "njit", njit)
        made = compiled.compiled(lambda x: x + 1)
    assert made(1) == 2


@pytest.mark.parametrize("text", ["naïve CAFÉ", "x" * 100_000, "Ⱥ" * 1000, "\ud800" * 10])
def test_some_texts(text):
    vocabulary = Vocabulary()
    assert read(vocabulary, vocabulary.ids(text)) == words(text)
