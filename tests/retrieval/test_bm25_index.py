"""The index on disk: found again, noticed when it is not what was written, and estimated before."""

import json
import multiprocessing
from pathlib import Path

import numpy as np
import pytest

from kit import provenance
from kit.errors import SearchError
from kit.retrieval import bm25_index
from kit.retrieval.bm25 import Bm25
from kit.retrieval.corpus import Corpus, corpus_of
from kit.text.views import texts

TEXTS = ["valve seat valve", "pump rod", "", "gear valve éclair"]
IDS = [f"d{i}" for i in range(len(TEXTS))]
CORPUS = Corpus({"corpus": "f", "view": {"view": "ta"}}, sum(map(len, TEXTS)))


def prepared(cache, words=TEXTS, ids=IDS, corpus=CORPUS, **given) -> Bm25:
    system = Bm25(cache=cache, **given)
    system.expect(corpus)
    system.prepare(ids, words)
    return system


def unread():
    raise AssertionError("the texts were read")
    yield


def answers(system) -> list:
    return [(a.ids, a.scores.tolist()) for a in system.search_batch(["valve pump", "éclair gear"], 9)]


def test_an_index_is_found_again_whatever_the_constants(tmp_path):
    first = answers(prepared(tmp_path))
    assert answers(prepared(tmp_path, unread())) == first
    for given in ({"k1": 0.9}, {"b": 0.3}, {"variant": "bm25plus"}):
        fresh = Bm25(**given)
        fresh.prepare(IDS, TEXTS)
        assert answers(prepared(tmp_path, unread(), **given)) == answers(fresh) != first


def test_an_index_is_memory_mapped(tmp_path):
    prepared(tmp_path)
    index = bm25_index.kept(tmp_path, {**CORPUS.key, "ids": bm25_index.digest_of(IDS)}, unread)
    assert all(isinstance(part, np.memmap) for part in index.counts[:3])


@pytest.mark.parametrize("change", [
    {"corpus": Corpus({"corpus": "g", "view": {"view": "ta"}}, 9)},
    {"corpus": Corpus({"corpus": "f", "view": {"view": "tac"}}, 9)},
    {"ids": IDS[::-1]}])
def test_other_texts_or_another_order_is_another_index(tmp_path, change):
    prepared(tmp_path)
    with pytest.raises(AssertionError, match="were read"):
        prepared(tmp_path, unread(), **change)


@pytest.mark.parametrize("name, value", [("FORMAT", 99), ("TOKENIZER", {"name": "other"})])
def test_another_format_or_tokenizer_is_another_index(tmp_path, monkeypatch, name, value):
    prepared(tmp_path)
    monkeypatch.setattr(bm25_index, name, value)
    with pytest.raises(AssertionError, match="were read"):
        prepared(tmp_path, unread())


@pytest.mark.parametrize("part", [f"{name}.npy" for name in bm25_index.PARTS] + ["manifest.json"])
@pytest.mark.parametrize("damage", [
    lambda path: path.write_bytes(path.read_bytes()[:-2]),
    lambda path: path.write_bytes(path.read_bytes()[:-1] + b"\x07"),
    Path.unlink])
def test_a_damaged_index_is_made_again_and_says_so(tmp_path, monkeypatch, part, damage):
    whole = answers(prepared(tmp_path / "cache"))
    home, = (p for p in (tmp_path / "cache").iterdir() if p.is_dir())
    damage(home / part)
    said = []
    monkeypatch.setattr(bm25_index, "say", said.append)
    assert answers(prepared(tmp_path / "cache")) == whole
    told = [line for line in said if "damaged" in line]
    assert len(told) == (0 if damage is Path.unlink and part == "manifest.json" else 1)
    assert answers(prepared(tmp_path / "cache", unread())) == whole


def test_a_build_that_is_cut_short_leaves_no_index(tmp_path, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt
    with monkeypatch.context() as patch:
        patch.setattr(bm25_index, "write_json", stop)
        with pytest.raises(KeyboardInterrupt):
            prepared(tmp_path)
    assert answers(prepared(tmp_path)) == answers(prepared(tmp_path, unread()))


def test_two_processes_at_once_make_one_index(tmp_path):
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        one, two = pool.map(_answers_in, [tmp_path] * 2)
    assert one == two == answers(prepared(tmp_path, unread()))
    assert len([p for p in tmp_path.iterdir() if p.is_dir()]) == 1


def _answers_in(cache) -> list:
    return answers(prepared(cache))


def test_a_corpus_states_its_view_and_its_bytes(mini):
    ta, tac = corpus_of(mini, "ta"), corpus_of(mini, "tac")
    told = sum(len(t.encode()) for t in texts(mini, "corpus", "ta"))
    assert ta.key != tac.key and told <= ta.size < tac.size
    json.dumps(ta.key)


def test_a_machine_that_is_too_small_is_told_before_a_text_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(bm25_index, "memory_left", lambda: 1_500_000_000)
    large = Corpus(CORPUS.key, 3_000_000_000)
    with pytest.raises(SearchError, match=r"needs about \d\.\d GB of memory, and 1\.5 GB are left"):
        prepared(tmp_path, unread(), ids=[f"d{i}" for i in range(75_000)], corpus=large)
    said = []
    monkeypatch.setattr(bm25_index, "say", said.append)
    prepared(tmp_path)
    assert said == ["bm25: 4 documents, 0 MB of text: about 0.4 GB of memory and 0 s to index"]


def test_the_estimate_grows_with_the_postings():
    patents, abstracts = (bm25_index.Estimate.of(75_050, 75_050 * n) for n in (40_000, 700))
    assert 1.5e9 < patents.memory < 3e9 and abstracts.memory < 0.6e9
    assert bm25_index.Estimate.of(150_100, 2 * 75_050 * 40_000).seconds == 2 * patents.seconds
    assert bm25_index.Estimate.of(0, 0).seconds == 0


def test_the_estimate_of_passages_grows_with_their_overlap():
    size = 45_336 * 40_000
    short, long = (bm25_index.Estimate.of_passages(45_336, size, n, n // 2) for n in (64, 2048))
    assert 3e9 < long.memory < short.memory < 10e9
    whole = bm25_index.Estimate.of_passages(45_336, size, 8192, 8192)
    assert whole == bm25_index.Estimate.of(45_336, size)


def test_memory_left_is_the_least_of_what_is_told(tmp_path, monkeypatch):
    assert provenance.memory_left() > 0
    monkeypatch.setattr(provenance, "_machine_left", lambda: 5)
    monkeypatch.setattr(provenance, "_container_left", lambda: [4, 9])
    monkeypatch.setattr(provenance, "_limit_left", lambda: None)
    assert provenance.memory_left() == 4
    monkeypatch.setattr(provenance, "_container_left", lambda: [])
    monkeypatch.setattr(provenance, "_machine_left", lambda: None)
    assert provenance.memory_left() is None
