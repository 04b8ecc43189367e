"""What a forger may try between a search and its card, and two processes at one run."""

import json
import subprocess
import sys

import pyarrow.parquet as pq
import pytest

from kit import ledger
from kit.errors import RuleError, RunError, SearchError
from kit.files import ROOT, digest_of_file, dump_json, write_text
from kit.reporting import rules
from kit.reporting.modes import mode_deltas
from kit.retrieval import execute
from kit.retrieval.run import ranked, write_run


def forged(run, **changes) -> None:
    """Changes a run's manifest in its folder."""
    path = run.folder / "manifest.json"
    write_text(path, dump_json(json.loads(path.read_text(encoding="utf-8")) | changes))


MANIFESTS = [{"git": {"sha": "0" * 40, "dirty": False}, "machine": {}}, {"corpus_size": 10_500_000},
             {"ties_at_the_cut": 0, "notes": {"x": 1}}, {"cost": {}}, {"status": "complete", "failures": []},
             {"views": {"query": {"view": "ta"}, "corpus": {"view": "ta"}}}]


@pytest.mark.parametrize("change", MANIFESTS, ids=lambda c: next(iter(c)))
def test_a_manifest_changed_after_the_search_makes_no_card(bench, change):
    run = bench.run("failing")
    forged(run, **change)
    with pytest.raises(RunError, match="changed after the ledger noted"):
        bench.run("failing")


def test_a_manifest_changed_after_it_was_opened_makes_no_card(bench):
    run = bench.run()
    run.manifest["ties_at_the_cut"] = 99
    changed = type(run)(run.folder, run.table, run.manifest, "0" * 64)
    with pytest.raises(RuleError, match="rule 5, immutable results: .*changed after"):
        bench.carded(changed)


def test_a_ranking_changed_after_the_search_makes_no_card(bench):
    run = bench.run()
    better = ranked(["q1", "q2"], ["d1", "d3"], [1.0, 1.0])
    write_run(run.folder / "run.parquet", better)
    forged(run, run_sha256=digest_of_file(run.folder / "run.parquet"))
    with pytest.raises(RunError, match="changed after the ledger noted"):
        bench.run()


def test_a_run_that_was_searched_here_is_no_run_file(bench):
    run = bench.run("failing")
    collection, params = bench.open(), bench.params(run_files={"x": str(run.folder / "run.parquet")})
    with pytest.raises(SearchError, match="searched here.*Name its system"):
        execute.retrieve(collection, "x", params)


def test_other_files_under_one_name_are_counted(bench):
    labels = []
    for n, doc in enumerate(("d1", "d2", "d3")):
        file = bench.home / f"{n}.parquet"
        write_run(file, ranked(["q1", "q2"], [doc, doc], [1.0, 0.5]))
        params = bench.params(run_files={"tuned": str(file)})
        run = execute.retrieve(bench.open(), "tuned", params)
        labels.append(bench.read(bench.carded(run, run_files={"tuned": str(file)})).labels)
    assert labels == [[], ["RERUN 2"], ["RERUN 3"]]


def test_a_saved_block_that_was_changed_is_searched_again_and_counted(bench):
    bench.patch.setattr(execute, "BLOCK", 1)
    real, calls = execute._search_block, []

    def stopping(*args):
        calls.append(args[1][0][0])
        if len(calls) == 3:
            raise MemoryError("no room")
        return real(*args)

    bench.patch.setattr(execute, "_search_block", stopping)
    with pytest.raises(MemoryError):
        bench.run()
    part = next(bench.outputs.rglob("000000.parquet"))
    write_run(part, ranked(["q1"], ["d1"], [9.0]))
    run = bench.run()
    assert calls == ["q1", "q2", "q3", "q1", "q3", "q4"]
    assert pq.read_table(run.folder / "run.parquet")["doc_id"][0].as_py() == "d1"
    assert bench.read(bench.carded(run)).labels == ["RERUN 2"]


def test_a_module_that_got_a_comment_is_searched_again_and_counted(bench):
    made = type(execute.make_system("mine", None))
    for digest in ("a", "b"):
        bench.patch.setattr(execute, "make_system", lambda name, params, digest=digest: made(
            "mine", given={"object": "m:x", "module_sha256": digest}))
        labels = bench.labels()
    assert labels == ["RERUN 2"]


def test_a_crippled_baseline_is_none():
    bm25 = {"name": "bm25", "given": {"variant": "lucene", "k1": 1.2, "b": 0.75}}
    model = {"name": "m", "given": {"from": "hub", "revision": "a" * 40, "max_tokens": None}}
    assert rules.missing_baselines([bm25, model]) == []
    for system, change in ((bm25, {"k1": 0}), (bm25, {"b": 0}), (model, {"max_tokens": 1})):
        weak = {**system, "given": system["given"] | change}
        assert len(rules.missing_baselines([weak, *(s for s in (bm25, model) if s is not system)])) == 1


def test_modes_over_another_corpus_view_are_refused(bench):
    cards = [bench.read(bench.card()), bench.read(bench.card(query_view="ta", corpus_view="ta"))]
    with pytest.raises(RuleError, match="rule 6, honest deltas: .*corpus view"):
        mode_deltas(cards)


WORKER = """
import sys
from kit.collection.sources import open_collection
from kit.params import make_params
from kit.retrieval import execute
execute.BLOCK = 4
params = make_params({"outputs": sys.argv[2], "systems": ["bm25"], "query_view": "ta", "corpus_view": "ta"})
run = execute.retrieve(open_collection(sys.argv[1]), "bm25", params)
print(run.manifest["run_sha256"], run.manifest["empty_rankings"])
"""


def test_two_processes_at_one_run_get_one_whole_run(tmp_path, make_collection):
    folder = make_collection(tmp_path, [f"q{n}" for n in range(40)], ["d1", "d2"], [("q1", "d1")])
    command = [sys.executable, "-c", WORKER, str(folder), str(tmp_path / "out")]
    both = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = [process.communicate()[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert said[0] == said[1] and said[0].split()[1] == "0"
    book = ledger.read(str(tmp_path / "out"))
    assert book.faults() == []
    assert [sum(line.is_a(kind) for line in book.lines) for kind in (ledger.BEGUN, ledger.RESUMED)] == [1, 0]
