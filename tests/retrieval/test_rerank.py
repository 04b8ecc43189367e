"""A second stage: what a reranker may answer, what becomes of it, and that it changes nothing else."""

import itertools
import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sentence_transformers import CrossEncoder as Library
from test_service import Loopback
from transformers import BertConfig, BertForSequenceClassification, BertModel, BertTokenizer

from kit.cli import main
from kit.collection.sources import open_collection
from kit.errors import CollectionError, KitError, RunError, SearchError
from kit.files import digest_of_file
from kit.params import Params
from kit.retrieval import execute, rerank
from kit.retrieval.cross_encoder import CrossEncoder
from kit.retrieval.execute import require_ready, retrieve, retrieve_all
from kit.retrieval.fusion import Fusion
from kit.retrieval.rerank import scores_of, second_ranking
from kit.retrieval.run import ranked
from kit.retrieval.service import Service
from kit.retrieval.shipped import system_names
from kit.retrieval.system import cut

numbers = itertools.count()
QUERY_IDS = ["d0", *(f"q{i}" for i in range(1, 6)), "q6"]  # the first is a document too, the last finds nothing
DOC_IDS = [f"d{i}" for i in range(9)]
LENGTH = """
class Longest:
    version = "7"

    def __init__(self):
        self.calls = []

    def rerank(self, query_text, documents):
        self.calls.append((query_text, list(documents)))
        return [len(d) for d in documents]

longest = Longest()
"""


@pytest.fixture(scope="module")
def collection(tmp_path_factory, make_collection):
    none = {"abstract": "", "claims": "", "description": ""}
    queries = [{"query_id": q, "title": "valve " + q, **none} for q in QUERY_IDS[:-1]]
    queries.append({"query_id": "q6", "title": "nothing", **none})
    docs = [{"doc_id": d, "title": "valve " + "x" * ((i * 5) % 9), **none} for i, d in enumerate(DOC_IDS)]
    return open_collection(str(make_collection(tmp_path_factory.mktemp("rerank"), queries, docs,
                                               [(q, "d1") for q in QUERY_IDS])))


def length(doc: str) -> int:
    return (DOC_IDS.index(doc) * 5) % 9


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A function that writes a module into the working folder, and gives its name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def write(source):
        name = f"reranks{next(numbers)}"
        (tmp_path / f"{name}.py").write_text(source, encoding="utf-8")
        return name
    return write


@pytest.fixture
def params(tmp_path):
    def build(named, **values):
        return Params(**{"outputs": str(tmp_path / "out"), "query_view": "title", "corpus_view": "title",
                         "systems": ["bm25", "bm25+rerank"], "depth": 6, "rerank_with": named,
                         "service_parallel": 1, "service_timeout": 5.0, **values})
    return build


def ids(run) -> dict[str, list[str]]:
    return run.table.to_pandas().groupby("query_id")["doc_id"].agg(list).to_dict()


# --- what a reranker answers ----------------------------------------------------------------------

@pytest.mark.parametrize("reply", [
    [0.5, 2, -1.0], (0.5, 2, -1), np.array([0.5, 2, -1]), np.array([0.5, 2, -1], np.float32), torch.tensor([0.5, 2, -1]),
    {"scores": [0.5, 2, -1]}, iter([0.5, 2, -1]), [np.float32(0.5), np.int64(2), -1]])
def test_scores_may_come_in_any_list(reply):
    found = scores_of(reply, 3)
    assert found.dtype == np.float32 and found.tolist() == [0.5, 2, -1]


def test_an_order_gets_falling_scores():
    assert scores_of({"order": [2, 0, 1]}, 3).tolist() == [2, 1, 3]


@pytest.mark.parametrize(("reply", "told"), [
    ([1, 2], "scores of 2 documents, where 3"), ([1, 2, 3, 4], "more than 3 documents"), (itertools.count(), "more than 3"),
    ([], "of 0 documents"), ([1, 2, float("nan")], "finite"), ([1, 2, float("inf")], "finite"), ([1, 2, 1e39], "finite"),
    ([1, 2, 10**400], "finite"), ([1, 2, True], "finite"), (["1", "2", "3"], "finite"), ([1, 2, None], "finite"),
    ([[1], [2], [3]], "finite"), (np.ones((3, 1)), "finite"), ("123", "a str where"), (b"123", "a bytes where"),
    (None, "a NoneType where"), (7, "a int where"), ({}, "either scores or order"), ({"ranking": [0, 1, 2]}, "either"),
    ({"scores": [1, 2, 3], "order": [0, 1, 2]}, "either"), ({"order": [0, 1]}, "positions of 2"),
    ({"order": [0, 1, 1]}, "each once"), ({"order": [1, 2, 3]}, "each once"), ({"order": [0, 1, -1]}, "each once"),
    ({"order": [0, True, 2]}, "each once"), ({"order": [0.0, 1, 2]}, "each once"), ({"order": ["a", 0, 1]}, "each once"),
    ({"order": {"a": 1}}, "where a list")])
def test_what_is_neither_scores_nor_an_order_is_a_sentence(reply, told):
    found = scores_of(reply, 3)
    assert isinstance(found, str) and told in found


scores = st.floats(-2.0**100, 2.0**100, width=32) | st.sampled_from([0.0, -0.0, 1.0, 1e-30, 3e38 / 10])


@given(st.lists(scores, min_size=1, max_size=8), st.integers(0, 300), st.randoms())
def test_the_scored_stand_on_top_by_the_tie_rule_and_the_rest_below_in_its_order(values, more, random):
    docs, rest = [f"d{i}" for i in range(len(values))], [f"r{i}" for i in range(more)]
    random.shuffle(rest)
    answer = second_ranking(docs, np.array(values, np.float32), rest)
    table = ranked(["q"] * len(answer.ids), answer.ids, answer.scores)
    top = sorted(zip(np.array(values, np.float32) + np.float32(0), docs), reverse=True)
    assert table["doc_id"].to_pylist() == [d for _, d in top] + rest
    assert (np.diff(table["score"].to_numpy()[len(docs) - 1:]) < 0).all()


@given(st.lists(st.tuples(st.sampled_from("abcdefgh"), scores), min_size=1, max_size=8, unique_by=lambda x: x[0]),
       st.randoms())
def test_no_order_in_which_documents_are_given_changes_the_ranking(scored, random):
    given_, turned = list(scored), list(scored)
    random.shuffle(turned)
    one, other = (cut(second_ranking([d for d, _ in docs], scores_of([s for _, s in docs], len(docs)), ["x", "y"]),
                      None, 99)[0] for docs in (given_, turned))
    assert one.ids == other.ids and (one.scores == other.scores).all()
    order = sorted(range(len(turned)), key=lambda i: turned[i][0])
    alphabet = second_ranking([d for d, _ in turned], scores_of({"order": order}, len(turned)), [])
    assert cut(alphabet, None, 99)[0].ids == sorted(d for d, _ in scored)


# --- behind a run ---------------------------------------------------------------------------------

def test_the_first_documents_are_reranked_and_the_rest_stay(collection, params, module):
    name = module(LENGTH)
    given_ = params(f"{name}:longest", rerank_depth=4)
    first, second = retrieve_all(collection, given_)
    before, after = ids(first), ids(second)
    assert set(before) == set(after) == {*QUERY_IDS} - {"q6"} and second.system == "bm25+longest"
    for query, docs in before.items():
        top = sorted(docs[:4], key=lambda d: (length(d), d), reverse=True)
        assert after[query] == top + docs[4:]
    calls = sys.modules[name].longest.calls
    assert [text for text, _ in calls] == [f"valve {q}" for q in QUERY_IDS[:-1]]  # nothing found, nothing asked
    for (text, documents), query in zip(calls, QUERY_IDS):  # the view's texts, in the order of the first stage
        assert documents == [("valve " + "x" * length(d)).strip() for d in before[query][:4]]


def test_the_manifest_says_what_was_reranked_by_what_and_how_deep(collection, params, module):
    name = module(LENGTH)
    first, second = retrieve_all(collection, params(f"{name}:longest", rerank_depth=4))
    m, system = second.manifest, second.manifest["system"]
    assert system["settings"]["run of bm25"] == first.manifest["run_sha256"]
    assert system["settings"]["documents reranked"] == system["given"]["reranked"] == 4
    assert system["version"] == "7" and system["given"]["reranker"]["object"] == f"{name}:longest"
    assert system["given"]["first"]["given"] == first.manifest["system"]["given"]
    assert m["own_entries_excluded"] == first.manifest["own_entries_excluded"] == 1
    assert m["empty_queries"] == ["q6"] and m["views"] == first.manifest["views"]
    assert m["inputs"][0]["ledger"] == first.manifest["ledger"]
    assert m["cost"]["inputs_search_seconds"] == first.manifest["cost"]["search_seconds"] and m["cost"]["search_seconds"] >= 0
    assert m["notes"]["bm25: ties_at_the_cut"] == first.manifest["ties_at_the_cut"]


def test_another_first_run_depth_or_reranker_is_another_run(collection, params, module):
    one, other = module(LENGTH), module(LENGTH + "# other\n")
    folders = [retrieve(collection, "bm25+rerank", p).folder for p in (
        params(f"{one}:longest"), params(f"{one}:longest"), params(f"{one}:longest", rerank_depth=2),
        params(f"{one}:longest", bm25_b=0.1), params(f"{other}:longest"), params(f"{one}:longest", depth=5))]
    assert folders[0] == folders[1] and len(set(folders)) == 5


def test_a_wrong_answer_is_that_querys_failure_alone(collection, params, module):
    name = module('''
class Odd:
    def rerank(self, query_text, documents):
        if query_text.endswith("q1"):
            return [1.0]
        if query_text.endswith("q2"):
            raise ValueError("no\\nno")
        if query_text.endswith("q3"):
            return [float("nan")] * len(documents)
        if query_text.endswith("q4"):
            documents.clear()
        return {"order": [*range(len(documents) or 6)][::-1]}
''')
    run = retrieve(collection, "bm25+rerank", params(f"{name}:Odd"))
    told = {f["query_id"]: f["fault"] for f in run.manifest["failures"]}
    assert set(told) == {"q1", "q2", "q3"} and run.manifest["status"] == "incomplete"
    assert "scores of 1 documents, where 6" in told["q1"] and told["q2"] == "ValueError: no no" and "finite" in told["q3"]
    assert set(ids(run)) == {"d0", "q4", "q5"}


def test_what_the_first_stage_failed_on_stays_failed(collection, params, module):
    name = module('''
class Both:
    def search(self, query_text, topk):
        return ["nobody"] if query_text.endswith("q2") else ["d3", "d1"]
    def rerank(self, query_text, documents):
        return [1.0] * len(documents)
''')
    given_ = params(f"{name}:Both", object_system=f"{name}:Both", systems=["object", "object+rerank"])
    run = retrieve_all(collection, given_)[1]
    (failure,) = run.manifest["failures"]
    assert failure["query_id"] == "q2" and failure["fault"].startswith("Both: identifier 'nobody'")
    assert set(map(tuple, ids(run).values())) == {("d3", "d1")}  # all tie: by the rule


def test_a_run_file_and_a_fusion_can_be_reranked(collection, params, module, tmp_path):
    (tmp_path / "theirs.trec").write_text("".join(f"{q} Q0 {d} 1 {-n} x\n" for q in ("q1", "q2")
                                                  for n, d in enumerate(DOC_IDS[:3])))
    given_ = params(f"{module(LENGTH)}:longest", systems=["fusion+rerank", "bm25", "fusion", "theirs+rerank"],
                    run_files={"theirs": str(tmp_path / "theirs.trec")})
    assert system_names(given_) == ["bm25", "theirs+rerank", "theirs", "fusion+rerank", "fusion"]
    assert Fusion.from_params(given_).of == ("bm25", "theirs")
    runs = {run.system: run for run in retrieve_all(collection, given_)}
    assert ids(runs["theirs+longest"])["q1"] == sorted(DOC_IDS[:3], key=length, reverse=True)
    assert set(ids(runs["fusion+longest"])) == set(ids(runs["fusion"]))


def test_one_cut_short_goes_on_to_the_same_bytes(collection, params, module, monkeypatch, tmp_path):
    name = module(LENGTH)
    monkeypatch.setattr(rerank, "AT_ONCE", 12)  # two queries a block
    whole = retrieve(collection, "bm25+rerank", params(f"{name}:longest"))
    expected = digest_of_file(whole.folder / "run.parquet")
    calls = list(sys.modules[name].longest.calls)
    for stop in range(1, len(calls)):
        sys.modules[name].longest.calls.clear()
        given_ = params(f"{name}:longest", outputs=str(tmp_path / f"stopped{stop}"))
        asked = rerank._InTurn._reply

        def killed(self, *call, stop=stop):
            if len(sys.modules[name].longest.calls) == stop:
                raise KeyboardInterrupt
            return asked(self, *call)

        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(rerank._InTurn, "_reply", killed)
            retrieve(collection, "bm25+rerank", given_)
        again = retrieve(collection, "bm25+rerank", given_)
        assert digest_of_file(again.folder / "run.parquet") == expected
        saved = stop - stop % 2
        assert sys.modules[name].longest.calls == [*calls[:stop], *calls[saved:]]
        strip = ("ledger", "cost", "inputs")
        assert {k: v for k, v in again.manifest.items() if k not in strip} == {
            k: v for k, v in whole.manifest.items() if k not in strip}


def test_documents_of_a_stream_are_refused(collection):
    stream = dict(collection.tables, corpus=collection.tables["corpus"].to_iterable_dataset())
    with pytest.raises(CollectionError, match="streaming: false"):
        type(collection)("x", "x", stream).at("corpus", [0])


@pytest.mark.parametrize(("values", "told"), [
    ({"rerank_with": None}, "the reranker is not named"), ({"rerank_with": "nowhere"}, "there is no model 'nowhere' .rerank_with"),
    ({"rerank_with": "no.such:thing"}, "can't be imported"), ({"rerank_with": "ftp://127.0.0.1/"}, "not http.*rerank_with"),
    ({"rerank_with": "http://u:p@127.0.0.1/"}, "rerank_token_env"), ({"rerank_with": "math:pi"}, r"no rerank\(query_text, doc"),
    ({"rerank_depth": 7}, "7 documents are to be reranked, and a run has 6"),
    ({"systems": ["bm25+rerank"]}, "Name bm25 too"), ({"systems": ["bm25", "bm25+rerank+rerank"]}, "unknown system"),
    ({"systems": ["bm25", "bm26+rerank"]}, "unknown system 'bm26"), ({"run_files": {"a+rerank": "x"}}, "can't be named"),
    ({"rerank_with": "http://127.0.0.1:1/", "rerank_token_env": "NO_SUCH_VARIABLE"}, "rerank_token_env")])
def test_what_can_not_be_reranked_is_found_before_the_search(collection, params, module, values, told):
    given_ = params(f"{module(LENGTH)}:longest").model_copy(update=values)
    with pytest.raises(SearchError, match=told):
        require_ready(collection, given_)
    assert not Path(given_.outputs).exists()


def test_a_run_of_other_conditions_is_refused(collection, params, module, tmp_path, make_collection):
    given_ = params(f"{module(LENGTH)}:longest")
    first = retrieve(collection, "bm25", given_)
    with pytest.raises(RunError, match="another depth"):
        execute.rerank_run(collection, first, given_.model_copy(update={"depth": 3}))
    with pytest.raises(RunError, match="another query view"):
        execute.rerank_run(collection, first, given_.model_copy(update={"query_view": "ta"}))
    other = open_collection(str(make_collection(tmp_path / "other")))
    with pytest.raises(RunError, match="another environment|another fingerprints"):
        execute.rerank_run(other, first, given_)


def test_the_command_makes_the_run_of_the_experiment(collection, params, module, capsys):
    given_ = params(f"{module(LENGTH)}:longest", rerank_depth=3, sample=4, seed=2)
    first, second = retrieve_all(collection, given_)
    command = ["rerank", str(first.folder), "--collection", collection.source, "--with", given_.rerank_with,
               "--depth", "3", "--outputs", given_.outputs]
    assert main(command) == 0 and capsys.readouterr().out.strip() == str(second.folder)
    assert main([*command, "-p", "corpus_view", "ta"]) == 0
    assert capsys.readouterr().out.strip() != str(second.folder)
    assert main([*command[:-1], "elsewhere", "--depth", "7"]) == 1
    assert "7 documents are to be reranked" in capsys.readouterr().err


def test_the_command_says_how_many_queries_failed(collection, params, module, capsys):
    given_ = params(f"{module(LENGTH.replace('for d in documents]', 'for d in documents][1:]'))}:longest")
    first = retrieve(collection, "bm25", given_)
    assert main(["rerank", str(first.folder), "--collection", collection.source, "--with", given_.rerank_with,
                 "--outputs", given_.outputs]) == 0
    told = capsys.readouterr()
    assert len(told.out.split()) == 1 and "6 of 7 queries failed, so that the run is INCOMPLETE" in told.err


# --- a cross-encoder ------------------------------------------------------------------------------

LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "valve", "pump", "seat", *LETTERS, *("##" + c for c in LETTERS)]
TINY = {"vocab_size": len(WORDS), "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2,
        "intermediate_size": 64, "max_position_embeddings": 32}


def saved_model(home: Path, kind=BertForSequenceClassification, **config) -> Path:
    torch.manual_seed(3)
    kind(BertConfig(**TINY, initializer_range=0.5, **config)).save_pretrained(home)
    BertTokenizer(vocab={t: i for i, t in enumerate(WORDS)}, model_max_length=32).save_pretrained(home)
    return home


@pytest.fixture(scope="module")
def cross_folder(tmp_path_factory) -> Path:
    """Two layers with random weights, saved as sentence-transformers saves a cross-encoder."""
    home = tmp_path_factory.mktemp("cross")
    Library(str(saved_model(home / "bert", num_labels=1)), device="cpu").save(str(home / "tiny-cross"))
    return home / "tiny-cross"


@pytest.fixture(scope="module")
def cross(cross_folder) -> CrossEncoder:
    return CrossEncoder(str(cross_folder), device="cpu", batch_size=2)


DOCUMENTS = ["pump", "valve seat", "seat " * 50, "", "pump valve " * 9, "zzz", "valve seat"]


def test_its_scores_are_the_models_logits(cross, cross_folder):
    """By transformers alone, a pair at a time."""
    model = BertForSequenceClassification.from_pretrained(cross_folder).eval()
    tokenizer = BertTokenizer.from_pretrained(cross_folder)
    found = cross.rerank("valve pump", DOCUMENTS)
    for document, score in zip(DOCUMENTS, found):
        read = tokenizer(["valve pump"], [document], truncation="longest_first", max_length=32, return_tensors="pt")
        with torch.no_grad():
            assert score == pytest.approx(model(**read).logits.item(), abs=1e-4)
    assert len(set(found.tolist())) == 6 and found[1] == found[6]  # equal texts score alike


@settings(max_examples=15)
@given(st.permutations(range(len(DOCUMENTS))))
def test_no_order_of_the_documents_changes_its_scores(cross, order):
    whole = cross.rerank("valve", DOCUMENTS)
    assert (cross.rerank("valve", [DOCUMENTS[i] for i in order]) == whole[list(order)]).all()


def test_pairs_that_it_reads_in_part_are_counted(cross):
    cross.notes()
    tokenizer = cross.model.tokenizer
    queries = ["valve", "seat " * 28, "pump " * 40]
    for query in queries:
        cross.rerank(query, DOCUMENTS)
    long = sum(len(tokenizer([q], [d])["input_ids"][0]) > 32 for q in queries for d in DOCUMENTS)
    assert cross.notes() == {"pairs": 21, "pairs_cut": long} and 0 < long < 21
    assert cross.notes() == {"pairs": 0, "pairs_cut": 0}


def test_a_folder_reranks_a_run_and_says_what_it_is(collection, params, cross_folder):
    run = retrieve(collection, "bm25+rerank", params(str(cross_folder), embedding_device="cpu"))
    assert run.system == "bm25+tiny-cross" and run.manifest["notes"]["pairs"] == 36
    stated = run.manifest["system"]["settings"]
    assert stated["weights"] == digest_of_file(cross_folder / "model.safetensors") and stated["max_tokens"] == 32
    assert stated["from"] == "folder" and "pairs_cut" in run.manifest["notes"]


def test_a_plain_folder_of_transformers_is_one_too(cross_folder):
    bare = CrossEncoder(str(cross_folder.parent / "bert"), device="cpu")
    assert bare.rerank("valve", ["seat"]).shape == (1,)


def spoilt(folder: Path, file: str, **changes) -> None:
    stated = json.loads((folder / file).read_text())
    (folder / file).write_text(json.dumps(stated | changes if isinstance(stated, dict) else [stated[0] | changes]))


@pytest.mark.parametrize(("spoil", "told"), [
    (lambda f: (f / "model.safetensors").unlink(), "no .safetensors weights"),
    (lambda f: (f / "config.json").unlink(), "settings can't be read"),
    (lambda f: (f / "config.json").write_text("[]"), "settings can't be read"),
    (lambda f: spoilt(f, "config.json", architectures=["BertModel"]), "no layer that scores a pair: it is a BertModel"),
    (lambda f: spoilt(f, "config.json", architectures=None), "no layer that scores a pair"),
    (lambda f: spoilt(f, "config.json", id2label={"0": "a", "1": "b"}), "gives 2 numbers a pair"),
    (lambda f: spoilt(f, "modules.json", type="own_code.Evil"), "names other parts")])
def test_a_folder_that_scores_no_pairs_is_refused(cross_folder, tmp_path, spoil, told):
    folder = Path(shutil.copytree(cross_folder, tmp_path / "spoilt"))
    spoil(folder)
    with pytest.raises(SearchError, match=told):
        CrossEncoder(str(folder))


def test_an_embedding_model_is_no_cross_encoder(tmp_path, model_folder):
    """The library would give it random weights, and rank by these."""
    for folder in (model_folder, saved_model(tmp_path / "plain", BertModel)):
        with pytest.raises(SearchError, match="names other parts|no layer that scores"):
            CrossEncoder(str(folder))


def test_weights_that_are_no_numbers_stop_it(tmp_path):
    folder = saved_model(tmp_path / "nan", num_labels=1)
    model = BertForSequenceClassification.from_pretrained(folder)
    with torch.no_grad():
        model.classifier.bias.fill_(float("nan"))
    model.save_pretrained(folder)
    with pytest.raises(SearchError, match="no numbers"):
        CrossEncoder(str(folder), device="cpu").rerank("valve", ["seat"])


def test_code_of_a_model_does_not_run(cross_folder, tmp_path):
    folder = Path(shutil.copytree(cross_folder, tmp_path / "evil"))
    (folder / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nclass Own: pass\n")
    spoilt(folder, "config.json", auto_map={n: "evil.Own" for n in (
        "AutoConfig", "AutoModelForSequenceClassification", "AutoModel")}, model_type="own-kind")
    with pytest.raises(SearchError, match="can't be loaded"):
        CrossEncoder(str(folder), device="cpu").rerank("valve", ["seat"])
    assert not (tmp_path / "ran").exists()


# --- a service ------------------------------------------------------------------------------------

@pytest.fixture
def serving():
    servers = []

    def start(respond=lambda handler, call: handler.give([len(d) for d in call["documents"]])):
        servers.append(Loopback(respond))
        return servers[-1]

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def test_a_service_is_asked_with_the_documents_and_ranks_as_the_object_does(collection, params, module, serving):
    server = serving()
    run = retrieve(collection, "bm25+rerank", params(server.url, rerank_depth=4, rerank_name="theirs", rerank_version="2"))
    same = retrieve(collection, "bm25+rerank", params(f"{module(LENGTH)}:longest", rerank_depth=4))
    assert run.table.equals(same.table) and run.system == "bm25+theirs" and run.manifest["system"]["version"] == "2"
    assert all(set(call) == {"query_text", "documents"} and len(call["documents"]) == 4 for call in server.calls)
    assert len(server.calls) == 6 and run.manifest["system"]["given"]["reranker"] == {"url": server.url}


@pytest.mark.parametrize(("answer", "told"), [
    ([1.0], "scores of 1 documents, where 6"), ({"order": [0] * 6}, "each once"), ({"error": "x"}, "either scores or order"),
    (b"[1, NaN, 1, 1, 1, 1]", "finite"), ("text", "a str where"), (b"{", "not JSON"), (None, "NoneType"),
    ([1e39] * 6, "finite"), (["1"] * 6, "finite")])
def test_an_odd_answer_of_a_service_is_that_querys_failure(collection, params, serving, answer, told):
    def respond(handler, call):
        odd = call["query_text"].endswith("q3")
        handler.give(answer if odd else {"order": [*range(len(call["documents"]))]})
    run = retrieve(collection, "bm25+rerank", params(serving(respond).url))
    (failure,) = run.manifest["failures"]
    assert failure["query_id"] == "q3" and told in failure["fault"]
    first = retrieve(collection, "bm25", params("x"))
    assert {q: d for q, d in ids(first).items() if q != "q3"} == ids(run)  # the order as it was


def test_a_service_that_goes_down_is_gone_on_with(collection, params, serving, monkeypatch, tmp_path):
    monkeypatch.setattr(Service, "_wait", lambda *_: None)
    monkeypatch.setattr(rerank, "AT_ONCE", 12)
    down = [True]

    def respond(handler, call):
        if down[0] and (call["query_text"].endswith(("q3", "q4")) or call["query_text"] == "valve"):
            return handler.give({}, 503)
        handler.give([len(d) for d in call["documents"]])
    server = serving(respond)
    given_ = params(server.url, service_retries=1)
    with pytest.raises(SearchError, match="the service is down"):
        retrieve(collection, "bm25+rerank", given_)
    down[0] = False
    run = retrieve(collection, "bm25+rerank", given_)
    assert run.manifest["status"] == "complete" and server.asked("valve d0") == server.asked("valve q1") == 1
    fresh = retrieve(collection, "bm25+rerank", given_.model_copy(update={"outputs": str(tmp_path / "fresh")}))
    assert digest_of_file(run.folder / "run.parquet") == digest_of_file(fresh.folder / "run.parquet")


def test_its_token_goes_to_it_and_is_written_nowhere(collection, params, serving, monkeypatch):
    token = "s3cr3t-of-the-reranker"
    monkeypatch.setenv("RERANK_TOKEN", token)
    server = serving()
    given_ = params(server.url, rerank_token_env="RERANK_TOKEN")
    retrieve(collection, "bm25+rerank", given_)
    assert {h["Authorization"] for h in server.headers} == {f"Bearer {token}"}
    assert not [f for f in Path(given_.outputs).rglob("*") if f.is_file() and token.encode() in f.read_bytes()]


def test_a_refusal_names_the_parameters_of_the_reranker(collection, params, serving):
    server = serving(lambda handler, call: handler.give({}, 401))
    with pytest.raises(KitError, match="rerank_with and rerank_token_env"):
        retrieve(collection, "bm25+rerank", params(server.url))
