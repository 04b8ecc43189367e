"""The one place that runs systems: exclusion, cut, checks, resume, and the name of a run's folder."""

import json
import random

import numpy as np
import pyarrow.parquet as pq
import pytest

from kit.collection.sources import open_collection
from kit.errors import ParamsError, RunError, SearchError
from kit.params import Params
from kit.retrieval import bm25, execute
from kit.retrieval.execute import query_positions, require_ready, retrieve, retrieve_all
from kit.retrieval.shipped import system_names
from kit.retrieval.system import Answer

WORDS = ("valve seat spring rotor blade pump seal shaft gear lever nozzle filter piston ring "
         "bearing clutch").split()
# p0 to p2 are patents of both tables; two documents share every text, so that there are ties
QUERY_IDS = ["p0", "p1", "p2"] + [f"q{i}" for i in range(7)]
DOC_IDS = ["p0", "p1", "p2"] + [f"d{i:02d}" for i in range(20)]


def patents(ids: list[str], column: str) -> list[dict]:
    rng = random.Random(3)
    texts = [" ".join(rng.choices(WORDS, k=12)) for _ in range(10)]
    return [{column: name, "title": "", "abstract": texts[i % 10], "claims": "", "description": ""}
            for i, name in enumerate(ids)]


@pytest.fixture(scope="module")
def make(tmp_path_factory, make_collection):
    def build(docs=DOC_IDS, rows=None):
        folder = make_collection(
            tmp_path_factory.mktemp("execute"), patents(QUERY_IDS, "query_id"),
            rows or patents(docs, "doc_id"), [(q, "d00") for q in QUERY_IDS])
        return open_collection(str(folder))
    return build


@pytest.fixture(scope="module")
def collection(make):
    return make()


@pytest.fixture
def params(tmp_path):
    def build(**given) -> Params:
        return Params(**{"outputs": str(tmp_path), "query_view": "ta", "corpus_view": "ta",
                         "systems": ["bm25"], "depth": 5, **given})
    return build


class Fake:
    """A system whose answers are a function of the text's number; it counts what it was asked."""

    name, version = "fake", "1"

    def __init__(self, answer):
        self.answer, self.asked = answer, []
        self.given = self.settings = {}

    def prepare(self, ids, texts):
        self.ids = ids

    def search(self, text, topk):
        self.asked.append(topk)
        return self.answer(len(self.asked) - 1, topk)

    def notes(self):
        return {}


class FakeBatch(Fake):
    """The same, with scores."""

    def search_batch(self, query_texts, topk):
        return [self.search(text, topk) for text in query_texts]


@pytest.fixture
def run_fake(collection, params, monkeypatch):
    def run(system, **given):
        monkeypatch.setattr(execute, "make_system", lambda name, params: system)
        return retrieve(collection, "bm25", params(**given))
    return run


def ranking(saved, query: str) -> list[str]:
    table = saved.table.to_pylist()
    return [r["doc_id"] for r in table if r["query_id"] == query]


def test_the_own_entry_is_taken_out_after_asking_for_more(run_fake):
    saved = run_fake(Fake(lambda n, topk: DOC_IDS[:topk]))
    assert ranking(saved, "p1") == ["p0", "p2", "d00", "d01", "d02"]
    assert saved.manifest["own_entries_excluded"] == 3


def test_another_querys_entry_stays_a_candidate(run_fake):
    assert ranking(run_fake(Fake(lambda n, topk: DOC_IDS[:topk])), "q0") == DOC_IDS[:5]


def test_ids_of_two_namespaces_exclude_nothing(collection, params, monkeypatch):
    monkeypatch.setattr(execute, "make_system", lambda *_: Fake(lambda n, topk: DOC_IDS[:topk]))
    object.__setattr__(collection, "shared_ids", False)
    try:
        saved = retrieve(collection, "bm25", params())
    finally:
        object.__setattr__(collection, "shared_ids", True)
    assert ranking(saved, "p1") == DOC_IDS[:5]
    assert saved.manifest["own_entries_excluded"] == 0


def test_every_ranking_has_the_depth(collection, params):
    saved = retrieve(collection, "bm25", params(depth=2))
    assert set(saved.table.to_pandas().groupby("query_id").size()) == {2}
    assert saved.table["rank"].to_pylist() == [1, 2] * len(QUERY_IDS)


def scored(scores, ids=DOC_IDS):
    return FakeBatch(lambda n, topk: Answer(list(ids[:len(scores)]), np.array(scores)))


@pytest.mark.parametrize("scores, tied", [
    ([9, 8, 7, 6, 5, 5, 4], True), ([9, 8, 7, 6, 5, 4, 4], False), ([9, 9, 8, 7, 6, 5, 4], False),
    ([9, 8, 7, 6, 5], False), ([9, 8, 7, 6, 5, 5 - 1e-9, 4], True)])
def test_a_tie_at_the_cut_is_counted_in_float32(run_fake, scores, tied):
    # ids that are no query's, so that nothing is excluded
    saved = run_fake(scored(scores, DOC_IDS[3:]))
    assert saved.manifest["ties_at_the_cut"] == tied * len(QUERY_IDS)


def test_a_tie_at_the_cut_goes_to_the_greater_id_whatever_order_it_came_in(run_fake):
    saved = run_fake(scored([9, 9, 9, 9, 9, 9, 9], DOC_IDS[3:]))
    assert ranking(saved, "q0") == ["d06", "d05", "d04", "d03", "d02"]


def test_an_order_without_scores_gets_falling_ones(run_fake):
    saved = run_fake(Fake(lambda n, topk: ["d05", "d01", "d03"]))
    rows = [r for r in saved.table.to_pylist() if r["query_id"] == "q1"]
    assert [r["doc_id"] for r in rows] == ["d05", "d01", "d03"]
    assert rows[0]["score"] > rows[1]["score"] > rows[2]["score"]


def test_no_more_is_asked_for_than_the_corpus_has(run_fake):
    system = Fake(lambda n, topk: DOC_IDS[:topk])
    saved = run_fake(system, depth=1000)
    assert set(system.asked) == {len(DOC_IDS)}
    assert (len(ranking(saved, "p0")), len(ranking(saved, "q0"))) == (len(DOC_IDS) - 1, len(DOC_IDS))
    assert saved.manifest["depth"] == 1000


def faulty(n, topk):
    if n == 1:
        raise KeyError("lost")
    return {2: DOC_IDS[:topk + 1], 3: ["d01", "d01"], 4: ["d01", "zz"], 5: ["d01", None],
            6: [["d01"]], 7: []}.get(n, ["d01"])


@pytest.mark.parametrize("n, said", [(1, "KeyError: 'lost'"), (2, "8 identifiers, where 7"),
                                     (3, "'d01' twice"), (4, "'zz', which the corpus lacks"),
                                     (5, "None where"), (6, "['d01'] where")])
def test_what_a_system_may_not_answer_is_a_failure_of_its_query(run_fake, n, said):
    saved = run_fake(Fake(faulty))
    faults = {f["query_id"]: f["fault"] for f in saved.manifest["failures"]}
    assert said in faults[QUERY_IDS[n]]
    assert ranking(saved, QUERY_IDS[n]) == []


def test_failures_make_a_run_incomplete_and_are_no_empty_rankings(run_fake):
    manifest = run_fake(Fake(faulty)).manifest
    assert (manifest["status"], len(manifest["failures"]), manifest["empty_rankings"]) == (
        "incomplete", 6, 1)


@pytest.mark.parametrize("scores", [[np.nan, 1.0], [np.inf, 1.0], [1e39, 1.0], [1.0], ["x", 1.0],
                                    [[1.0], [2.0]]])
def test_scores_that_are_no_finite_float32_are_a_failure(run_fake, scores):
    saved = run_fake(FakeBatch(lambda n, topk: Answer(["d01", "d02"], scores)))
    assert len(saved.manifest["failures"]) == len(QUERY_IDS) and len(saved.table) == 0


class Stop(BaseException):
    """What ends a process."""


def test_a_search_cut_short_goes_on_to_the_same_bytes(run_fake, params, monkeypatch, tmp_path):
    monkeypatch.setattr(execute, "BLOCK", 3)
    shift = {text: n for n, text in enumerate(range(10))}

    def answer(n, topk):
        return (DOC_IDS * 2)[shift[n]:][:topk]

    whole = run_fake(Fake(answer), outputs=str(tmp_path / "whole"))

    def dying(n, topk):
        if n == 7:
            raise Stop
        return answer(n, topk)

    with pytest.raises(Stop):
        run_fake(Fake(dying), outputs=str(tmp_path / "cut"))
    rest = Fake(lambda n, topk: answer(n + 6, topk))  # two blocks of three are there
    saved = run_fake(rest, outputs=str(tmp_path / "cut"))
    assert len(rest.asked) == len(QUERY_IDS) - 6
    assert (saved.folder / "run.parquet").read_bytes() == (whole.folder / "run.parquet").read_bytes()
    of_its_own = ("cost", "ledger")  # seconds, and the line of another ledger
    assert {k: v for k, v in saved.manifest.items() if k not in of_its_own} == {
        k: v for k, v in whole.manifest.items() if k not in of_its_own}
    assert sorted(p.name for p in saved.folder.iterdir()) == ["manifest.json", "run.parquet"]


def test_the_same_call_reopens_the_run(collection, params, monkeypatch):
    first = retrieve(collection, "bm25", params())
    monkeypatch.setattr(execute, "_search", None)
    again = retrieve(collection, "bm25", params())
    assert again.table.equals(first.table) and again.manifest == first.manifest


def test_blocks_that_a_kill_left_beside_a_whole_run_go(collection, params):
    folder = retrieve(collection, "bm25", params()).folder
    (folder / "parts-of-128").mkdir()
    (folder / "parts-of-128/000000.parquet").write_bytes(b"")
    retrieve(collection, "bm25", params())
    assert sorted(f.name for f in folder.iterdir()) == ["manifest.json", "run.parquet"]


@pytest.mark.parametrize("change", [
    {"query_view": "tacd"}, {"corpus_view": "abstract"}, {"depth": 6}, {"bm25_k1": 0.9},
    {"bm25_b": 0.5}, {"bm25_variant": "okapi"}, {"sample": 4}, {"sample": 4, "seed": 1}])
def test_another_condition_is_another_folder(collection, params, change):
    base = params(sample=4, seed=2) if "seed" in change else params()
    assert retrieve(collection, "bm25", params(**change)).folder != retrieve(
        collection, "bm25", base).folder


def test_another_text_in_the_corpus_is_another_folder(make, collection, params):
    rows = patents(DOC_IDS, "doc_id")
    rows[7]["abstract"] += " valve"
    assert retrieve(make(rows=rows), "bm25", params()).folder.name != retrieve(
        collection, "bm25", params()).folder.name


def test_what_can_change_no_ranking_is_the_same_folder(collection, params):
    assert retrieve(collection, "bm25", params(seed=9)).folder == retrieve(
        collection, "bm25", params()).folder


def test_a_run_that_was_changed_is_refused(collection, params):
    saved = retrieve(collection, "bm25", params())
    execute.write_run(saved.folder / "run.parquet", saved.table.slice(1))
    with pytest.raises(RunError, match="not the one"):
        retrieve(collection, "bm25", params())


def test_a_manifest_without_its_ranking_is_refused(collection, params):
    saved = retrieve(collection, "bm25", params())
    (saved.folder / "run.parquet").unlink()
    with pytest.raises(RunError, match="not the one"):
        retrieve(collection, "bm25", params())


def test_a_sample_is_drawn_by_its_seed(collection, params):
    drawn = [query_positions(collection, params(sample=4, seed=s)).tolist() for s in range(6)]
    assert all(len(set(d)) == 4 and d == sorted(d) for d in drawn)
    assert drawn[1] == query_positions(collection, params(sample=4, seed=1)).tolist()
    assert len({tuple(d) for d in drawn}) > 1


def test_only_the_sample_is_searched(collection, params):
    chosen = {QUERY_IDS[i] for i in query_positions(collection, params(sample=4))}
    saved = retrieve(collection, "bm25", params(sample=4))
    assert set(saved.table["query_id"].to_pylist()) == chosen
    assert saved.manifest["sample"] == {"size": 4, "seed": 0}


def test_a_sample_of_all_is_no_sample(collection, params):
    assert retrieve(collection, "bm25", params(sample=10)).manifest["sample"] is None


@pytest.mark.parametrize("variant", ["lucene", "okapi"])
def test_the_size_of_a_block_changes_no_byte(collection, params, monkeypatch, tmp_path, variant):
    runs = []
    for size in (1, 3, 128):
        monkeypatch.setattr(execute, "BLOCK", size)
        monkeypatch.setattr(bm25, "BLOCK", size)
        saved = retrieve(collection, "bm25", params(outputs=str(tmp_path / str(size)), bm25_variant=variant))
        runs.append((saved.folder / "run.parquet").read_bytes())
    assert runs[0] == runs[1] == runs[2]


def test_the_order_of_the_corpus_changes_no_byte(make, collection, params, tmp_path):
    rows = patents(DOC_IDS, "doc_id")
    random.Random(1).shuffle(rows)
    shuffled = retrieve(make(rows=rows), "bm25", params(outputs=str(tmp_path / "other")))
    straight = retrieve(collection, "bm25", params())
    assert (shuffled.folder / "run.parquet").read_bytes() == (straight.folder / "run.parquet").read_bytes()


def test_a_run_file_is_cut_and_loses_own_entries(collection, params, tmp_path):
    path = tmp_path / "their.trec"
    path.write_text("".join(f"p0 Q0 {d} {n} {9 - n} x\n" for n, d in enumerate(DOC_IDS[:7])))
    saved = retrieve(collection, "theirs", params(run_files={"theirs": str(path)}))
    assert ranking(saved, "p0") == DOC_IDS[1:6]
    assert saved.table["rank"].to_pylist() == [1, 2, 3, 4, 5]
    assert saved.manifest["notes"]["own_entries_in_the_file"] == 1
    assert saved.manifest["empty_rankings"] == 9


def test_a_run_file_is_held_to_the_sample(collection, params, tmp_path):
    path = tmp_path / "their.trec"
    ids = list(collection.ids("queries"))
    path.write_text("".join(f"{q} Q0 {DOC_IDS[-1]} 1 1 x\n" for q in ids))
    saved = retrieve(collection, "theirs", params(run_files={"theirs": str(path)}, sample=3))
    baseline = retrieve(collection, "bm25", params(sample=3))
    assert set(saved.table["query_id"].to_pylist()) == set(baseline.table["query_id"].to_pylist())


def test_a_name_that_is_a_path_stays_inside_the_runs_folder(collection, params, tmp_path):
    path = tmp_path / "their.trec"
    path.write_text(f"p0 Q0 {DOC_IDS[1]} 1 1 x\n")
    name = "../../up/and/away"
    saved = retrieve(collection, name, params(run_files={name: str(path)}))
    baseline = retrieve(collection, "bm25", params())
    assert saved.folder.parent == baseline.folder.parent and saved.system == name


@pytest.mark.parametrize("name", ["bm25", "embedding", " "])
def test_a_run_file_cannot_take_a_shipped_name(params, name):
    with pytest.raises(SearchError, match="can't be named"):
        system_names(params(run_files={name: "x.trec"}))


def test_two_systems_of_one_name_are_refused(collection, params, monkeypatch):
    saved = retrieve(collection, "bm25", params())
    monkeypatch.setattr(execute, "system_names", lambda _: ["bm25", "other"])
    monkeypatch.setattr(execute, "retrieve", lambda *_: saved)
    with pytest.raises(SearchError, match="two systems are named 'bm25'"):
        retrieve_all(collection, params())


def test_the_run_on_disk_is_the_one_in_hand(collection, params):
    saved = retrieve(collection, "bm25", params())
    assert pq.read_table(saved.folder / "run.parquet").equals(saved.table)
    assert json.loads((saved.folder / "manifest.json").read_text()) == saved.manifest


def test_a_run_looks_the_same_at_first_and_ever_after(collection, params):
    first, again = (retrieve(collection, "bm25", params()) for _ in range(2))
    assert json.dumps(first.manifest) == json.dumps(again.manifest)  # the order of the keys too


# --- views that a collection can't give -----------------------------------------------------------

def test_a_view_that_the_collection_lacks_is_refused_before_anything_is_searched(
        collection, params, tmp_path):
    asked = params(query_view="text")
    for ask in (lambda: require_ready(collection, asked),
                lambda: retrieve(collection, "bm25", asked)):
        with pytest.raises(ParamsError, match="the queries of this collection have no view 'text'"):
            ask()
    assert list(tmp_path.iterdir()) == []


def test_rows_are_searched_with_their_text(mini_litigation, params):
    run = retrieve(mini_litigation, "bm25", params(query_view="text", depth=3))
    assert run.manifest["views"]["query"]["fields"] == ["text"]
    assert set(run.table["query_id"].to_pylist()) == set(mini_litigation.ids("queries"))


def test_a_run_file_asks_for_no_view(mini_litigation, params, tmp_path):
    path, doc = tmp_path / "run.trec", mini_litigation.ids("corpus")[0]
    path.write_text("".join(f"{q} Q0 {doc} 1 1.0 x\n" for q in mini_litigation.ids("queries")))
    require_ready(mini_litigation, params(systems=["x"], run_files={"x": str(path)}))
