"""Models as published: the list, a folder beside it, and what a run says of the two."""

import json
import shutil

import numpy as np
import pytest
import torch
from pydantic import ValidationError
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Dense as Head

from kit import plain_yaml
from kit.cli import main
from kit.errors import SearchError
from kit.params import make_params
from kit.reporting import rules
from kit.retrieval import models
from kit.retrieval.dense import Dense
from kit.retrieval.model_folder import read_folder
from kit.retrieval.models import MODELS, PACKAGED, Entry, compare, entries, entry_of

TINY = {"repository": "owner/tiny", "commit": "a" * 40, "pooling": "mean", "dense": None,
        "query_prompt": "q: ", "corpus_prompt": "", "max_tokens": 32, "dimensions": 32,
        "licence": "mit", "remote_code": False}
DECLARABLE = ("pooling", "query_prompt", "corpus_prompt")


def entry(source="a page", **facts) -> Entry:
    stated = {name: value if name == "repository" else {"value": value, "source": source}
              for name, value in {**TINY, **facts}.items()}
    return Entry(name="tiny", **stated)


@pytest.fixture
def listed(monkeypatch):
    """Puts one entry into the list."""
    def put(one: Entry) -> Entry:
        monkeypatch.setattr(models, "entries", lambda: {one.name: one})
        return one
    return put


def edit(path, **values):
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


@pytest.fixture
def headed(folder):
    """The tiny model with a dense head, which is folded in half."""
    torch.manual_seed(2)
    whole = SentenceTransformer(str(folder), device="cpu")
    whole.append(Head(32, 16))
    home = folder.with_name("headed")
    whole.save(str(home))
    return home


# --- the list ---------------------------------------------------------------------------------------

def test_every_entry_has_a_name_and_repository_of_its_own():
    listed = list(entries().values())
    assert len({e.repository for e in listed}) == len({e.name for e in listed}) == len(listed) > 20
    plain_yaml.read(MODELS.read_text(encoding="utf-8"))  # no key stands twice


@pytest.mark.parametrize("name", list(entries()))
def test_every_entry_is_found_by_its_name_and_by_its_hub_id(name):
    assert entry_of(name) is entry_of(entries()[name].repository) is entries()[name]


@pytest.mark.parametrize("name", list(entries()))
def test_a_value_that_nobody_saw_says_so(name):
    for fact in models.FACTS:
        stated = getattr(entries()[name], fact)
        if stated.value is None and fact != "dense":
            assert stated.grade == "unverified" or fact == "pooling", fact


@pytest.mark.parametrize("wrong", [
    {"commit": "main"}, {"max_tokens": 0}, {"max_tokens": "512"}, {"dimensions": None},
    {"repository": "nowhere"}, {"dense": {"dimensions": 4}}, {"query_prompt": 1}])
def test_an_entry_of_another_form_is_refused(wrong):
    with pytest.raises(ValidationError):
        entry(**wrong)


def test_a_fact_without_a_source_is_refused():
    with pytest.raises(ValidationError):
        entry(source="")


# --- a folder beside its entry ------------------------------------------------------------------------

def verdicts(one: Entry, folder) -> dict[str, str]:
    return {c.fact: c.verdict for c in compare(one, read_folder(folder))}


def test_a_folder_as_published_agrees(folder):
    seen = verdicts(entry(query_prompt=""), folder)
    assert {f for f, v in seen.items() if v == "agrees"} == set(models.FACTS) - {"commit", "licence"}


@pytest.mark.parametrize(("file", "values", "fact"), [
    ("1_Pooling/config.json", {"pooling_mode": "cls"}, "pooling"),
    ("config_sentence_transformers.json", {"prompts": {"query": "other: "}}, "query_prompt"),
    ("config_sentence_transformers.json", {"prompts": {"document": "d: "}}, "corpus_prompt"),
    ("config_sentence_transformers.json", {"prompts": {"x": "d: "}, "default_prompt_name": "x"},
     "corpus_prompt"),
    ("sentence_bert_config.json", {"max_seq_length": 16}, "max_tokens"),
    ("1_Pooling/config.json", {"embedding_dimension": 64}, "dimensions"),
    ("config.json", {"auto_map": {}}, "remote_code")])
def test_a_folder_that_is_otherwise_differs(folder, file, values, fact):
    edit(folder / file, **values)
    assert verdicts(entry(query_prompt="q: "), folder)[fact] == "differs"


def test_pooling_in_the_older_form_is_read(folder):
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({
        "word_embedding_dimension": 32, "pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}))
    seen = read_folder(folder)
    assert (seen.pooling, seen.dimensions) == ("cls", 32)


def test_a_prompt_that_the_folder_does_not_hold_is_not_seen(folder):
    assert verdicts(entry(query_prompt="q: "), folder)["query_prompt"] == "not seen"


@pytest.mark.parametrize("prompts", [
    {"query": "q: "}, {"task": "q: "}, {"task": {"q_text": "q: ", "pos_text": "p: "}}])
def test_a_prompt_is_found_by_role_or_by_task(folder, prompts):
    edit(folder / "config_sentence_transformers.json", prompts=prompts)
    assert verdicts(entry(query_prompt="q: "), folder)["query_prompt"] == "agrees"


def test_a_dense_head_is_part_of_the_model(headed, folder):
    with_head = entry(dense={"dimensions": 16, "activation": "Tanh"}, dimensions=16, query_prompt="")
    assert "differs" not in verdicts(with_head, headed).values()
    assert verdicts(entry(dense={"dimensions": 16, "activation": None}), headed)["dense"] == "agrees"
    assert verdicts(entry(dense={"dimensions": 16, "activation": "ReLU"}), headed)["dense"] == "differs"
    assert verdicts(with_head, folder)["dense"] == verdicts(entry(), headed)["dense"] == "differs"


def test_without_modules_neither_pooling_nor_head_is_seen(folder):
    (folder / "modules.json").unlink()
    shutil.rmtree(folder / "1_Pooling")
    seen = verdicts(entry(), folder)
    assert seen["pooling"] == seen["dense"] == "not seen" and seen["dimensions"] == "agrees"


@pytest.mark.parametrize("damage", [
    lambda f: (f / "modules.json").write_text("[{"), lambda f: (f / "modules.json").write_text("{}"),
    lambda f: (f / "modules.json").write_text("[1]"), lambda f: (f / "modules.json").write_text("[" * 9999),
    lambda f: (f / "modules.json").write_bytes(b"\xff"), lambda f: (f / "config.json").write_text("[]"),
    lambda f: (f / "1_Pooling" / "config.json").unlink(),
    lambda f: (f / "2_Dense" / "config.json").write_text("{}"),
    lambda f: (f / "2_Dense" / "model.safetensors").unlink(),
    lambda f: (f / "2_Dense" / "model.safetensors").write_bytes(b"junk"),
    lambda f: (f / "model.safetensors").unlink(), lambda f: shutil.rmtree(f),
    lambda f: (f / "modules.json").write_text((f / "modules.json").read_text().replace("2_Dense", "x")),
    lambda f: (f / "modules.json").write_text('[{"type": null, "path": ""}]'),
    lambda f: edit(f / "1_Pooling" / "config.json", pooling_mode=5),
    lambda f: (f / "model.safetensors").write_bytes(b"\x02" + bytes(7) + b"[]"),
    lambda f: nowhere(f / "config.json"), lambda f: twice(f / "modules.json", "Pooling")])
def test_a_damaged_folder_is_one_line(headed, damage, capsys, listed):
    listed(entry())
    damage(headed)
    assert main(["models", "verify", "tiny", str(headed)]) == 1
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("kit: ") and err.count("\n") == 1


def nowhere(path):
    path.unlink()
    path.symlink_to("nowhere")


def twice(path, kind: str):
    parts = json.loads(path.read_text())
    path.write_text(json.dumps(parts + [p for p in parts if p["type"].endswith(kind)]))


def by_parent(f):
    text = (f / "modules.json").read_text().replace('"1_Pooling"', '"../aside"')
    (f / "modules.json").write_text(text)
    (f / "1_Pooling").rename(f.with_name("aside"))


def by_link(f):
    (f / "1_Pooling").rename(f.with_name("aside"))
    (f / "1_Pooling").symlink_to(f.with_name("aside"))


@pytest.mark.parametrize("move", [by_parent, by_link])
def test_a_module_outside_the_folder_is_refused(folder, move):
    """No digest of the folder would cover it."""
    move(folder)
    with pytest.raises(SearchError, match="outside the folder"):
        read_folder(folder)


def test_a_default_prompt_of_no_name_is_none(folder):
    edit(folder / "config_sentence_transformers.json", prompts={"query": "q: "},
         default_prompt_name=["query"])
    assert read_folder(folder).default_prompt == ""


# --- by the command line ------------------------------------------------------------------------------

def test_the_packaged_model_is_as_published_and_needs_no_folder(capsys):
    assert main(["models", "verify", "all-minilm-l6-v2"]) == 0
    assert "holds: 7 facts agree" in capsys.readouterr().out


def test_what_differs_is_named_with_its_source(folder, capsys, listed):
    listed(entry(max_tokens=64))
    assert main(["models", "verify", "tiny", str(folder)]) == 1
    out = capsys.readouterr().out
    assert "max_tokens     64, the folder states 32  [a page]" in out and out.count("differs") == 2


def test_the_list_shows_every_model_and_its_sources(capsys):
    assert main(["models"]) == 0
    table = capsys.readouterr().out
    assert all(name in table for name in entries())
    assert main(["models", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["paecter"]["pooling"]["source"].startswith("model card")


@pytest.mark.parametrize("name", ["no-such", "paecter"])
def test_a_model_that_is_not_listed_or_not_here_is_one_line(name, capsys):
    assert main(["models", "verify", name]) == 1
    assert capsys.readouterr().err.count("\n") == 1


# --- what a run makes of it ----------------------------------------------------------------------------

def test_a_listed_model_is_run_as_published(folder, listed):
    listed(entry())
    given = Dense(str(folder), entry="tiny", device="cpu").given
    assert (given["entry"], given["pooling"], given["query_prompt"], given["corpus_prompt"]) == (
        "tiny", "mean", "q: ", "")
    assert given["not_as_published"] is None and given["max_tokens"] is None


def test_a_listed_hub_model_has_the_listed_commit_before_it_is_loaded(listed):
    listed(entry(pooling="cls"))
    for model in ("tiny", "owner/tiny"):
        given = Dense(model).given
        assert (given["model"], given["revision"], given["pooling"], given["from"]) == (
            "owner/tiny", "a" * 40, "cls", "hub")


@pytest.mark.parametrize(("asked", "said"), [
    ({"pooling": "cls"}, "pooling 'cls', published 'mean'"),
    ({"query_prompt": ""}, "query_prompt '', published 'q: '"),
    ({"max_tokens": 8}, "max_tokens 8, published 32"), ({"spans": 2}, "spans 2, published 1")])
def test_what_the_parameters_set_wins_and_stands_on_the_run(folder, listed, asked, said):
    listed(entry())
    system = Dense(str(folder), entry="tiny", device="cpu", **asked)
    name, value = next(iter(asked.items()))
    assert said in system.given["not_as_published"] and system.given[name] == value
    assert said in system.settings["not_as_published"] and system.settings[name] == value
    assert not rules.is_public_embedding({"name": "x", "given": {
        **system.given, "from": "hub", "revision": "a" * 40, "max_tokens": None}})


@pytest.mark.parametrize(("file", "values", "said"), [
    ("1_Pooling/config.json", {"pooling_mode": "cls"}, "pooling: the folder states 'cls'.*set embedding_pooling"),
    ("config_sentence_transformers.json", {"prompts": {"query": "other: "}}, "query_prompt: .*other"),
    ("sentence_bert_config.json", {"max_seq_length": 16}, "max_tokens: the folder states 16")])
def test_a_folder_that_is_not_the_listed_model_is_refused(folder, listed, file, values, said):
    listed(entry())
    edit(folder / file, **values)
    with pytest.raises(SearchError, match=f"is not tiny as published: {said}") as error:
        Dense(str(folder), entry="tiny", device="cpu")
    assert "\n" not in str(error.value)


def test_a_head_that_was_dropped_is_refused(folder, listed):
    listed(entry(dense={"dimensions": 16, "activation": "Tanh"}, dimensions=16))
    with pytest.raises(SearchError, match="dense: the folder states 'none', models.yaml .*16"):
        Dense(str(folder), entry="tiny", device="cpu")


def test_what_the_list_has_unverified_does_not_stand_against_the_files(headed, listed):
    listed(entry(source="unverified"))
    told = Dense(str(headed), entry="tiny", device="cpu").given["not_as_published"]
    assert "dense: the folder states" in told and "unverified" in told


def test_a_folder_is_no_listed_model_by_its_name(folder, listed, monkeypatch):
    listed(entry())
    monkeypatch.chdir(folder.parent)
    with pytest.raises(SearchError, match="nothing declares"):
        Dense("tiny", device="cpu")


@pytest.mark.parametrize(("file", "values", "said"), [
    ("1_Pooling/config.json", {"pooling_mode": "cls"}, "pooling: the folder states 'cls', declared is 'mean'"),
    ("config_sentence_transformers.json", {"prompts": {"query": "q: "}}, "query_prompt: the folder states 'q: '")])
def test_what_is_declared_of_another_model_and_is_not_its_folders_is_told(folder, file, values, said):
    edit(folder / file, **values)
    system = Dense(str(folder), device="cpu", pooling="mean", query_prompt="", corpus_prompt="")
    assert said in system.given["not_as_published"]


def test_a_folder_that_pools_in_several_ways_is_refused(folder):
    edit(folder / "1_Pooling" / "config.json", pooling_mode=["mean", "cls"])
    with pytest.raises(SearchError, match=r"several ways, mean\+cls"):
        Dense(str(folder), device="cpu", pooling="mean", query_prompt="", corpus_prompt="")


def test_a_model_whose_publisher_states_no_pooling_has_it_declared():
    with pytest.raises(SearchError, match="^nothing declares the model's pooling"):
        Dense("bert-for-patents")
    assert Dense("bert-for-patents", pooling="mean").given["not_as_published"] is None


def test_an_entry_that_is_not_listed_is_refused(folder):
    with pytest.raises(SearchError, match="no model 'none' is listed.*embedding_entry"):
        Dense(str(folder), entry="none")


def test_a_head_takes_part_in_the_vectors(headed):
    system = Dense(str(headed), device="cpu", pooling="mean", query_prompt="", corpus_prompt="")
    system.prepare(["a"], ["a pump"])
    plain = SentenceTransformer(str(headed), device="cpu").encode(["a pump"])[0]
    assert np.abs(system._vectors[0] - plain / np.linalg.norm(plain)).max() < 1e-6


def test_the_parameters_reach_the_model(folder, listed):
    listed(entry())
    given = Dense.from_params(make_params({
        "embedding_model": str(folder), "embedding_entry": "tiny", "embedding_spans": 3,
        "embedding_span_pool": "max", "embedding_vectors": "float16", "embedding_max_tokens": 16,
        "embedding_query_prompt": "find: ", "embedding_device": "cpu", "embedding_batch_size": 4})).given
    assert {name: given[name] for name in (
        "entry", "spans", "span_pool", "vectors", "max_tokens", "query_prompt", "device", "batch_size")} == {
        "entry": "tiny", "spans": 3, "span_pool": "max", "vectors": "float16", "max_tokens": 16,
        "query_prompt": "find: ", "device": "cpu", "batch_size": 4}


def test_the_packaged_model_is_listed():
    given = Dense(PACKAGED).given
    assert (given["entry"], given["not_as_published"]) == ("all-minilm-l6-v2", None)
    assert rules.is_public_embedding({"name": "x", "given": given})
