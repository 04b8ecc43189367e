"""A fused run's card is never more quotable than those of its inputs, and is held to every rule."""

import shutil

import pytest

from kit import ledger
from kit.errors import RuleError, RunError, SearchError
from kit.files import write_json
from kit.params import Params
from kit.reporting import modes, rules
from kit.reporting.card_comparison import compare
from kit.reporting.verify import verify
from kit.retrieval import execute
from kit.retrieval.execute import fuse_runs, open_finished
from kit.retrieval.fusion import Fusion


def fused(bench, *runs):
    return fuse_runs(list(runs), Fusion(), bench.params())


def labels(bench, *runs, **values) -> list[str]:
    return bench.read(bench.carded(fused(bench, *runs), **values)).labels


def test_a_fusion_of_quotable_runs_is_quotable(bench):
    assert labels(bench, bench.run(), bench.run("turned")) == []


def test_one_of_an_incomplete_run_is_incomplete(bench):
    run = fused(bench, bench.run("turned"), bench.run("failing"))
    card = bench.read(bench.carded(run))
    assert card.labels == ["INCOMPLETE"] and card.counts["failed_queries"] == 1
    assert run.manifest["failures"][0]["fault"].startswith("mine: identifier 'nobody'")


def test_one_of_samples_is_a_sample(bench):
    runs = [bench.run(system, sample=2) for system in ("mine", "turned")]
    assert labels(bench, *runs, sample=2) == ["SAMPLE"]


@pytest.mark.parametrize("git", [{"sha": "1", "dirty": True}, {"sha": None, "dirty": None}])
def test_one_of_a_run_by_changed_code_is_dirty(bench, git):
    clean = bench.run()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(execute, "git_state", lambda: git)
        dirty = bench.run("turned")
    assert labels(bench, clean, dirty) == ["DIRTY"]


def test_one_of_a_run_searched_again_says_how_often(bench):
    for _ in range(2):
        bench.forget(bench.run("turned"))
    assert labels(bench, bench.run(), bench.run("turned")) == ["RERUN 3"]


def test_one_of_a_run_of_another_file_under_its_name_says_so(bench):
    assert labels(bench, bench.run(), bench.run("file")) == []
    file = bench.home / "made.trec"
    file.write_text("q1 Q0 d1 1 1 other\nq2 Q0 d3 1 1 other\n")
    other = execute.retrieve(bench.open(), "file", bench.params(run_files={"file": str(file)}))
    assert labels(bench, bench.run(), other) == ["RERUN 2"]


def test_one_that_is_made_again_says_so(bench):
    runs = [bench.run(), bench.run("turned")]
    bench.forget(fused(bench, *runs))
    assert labels(bench, *runs) == ["RERUN 2"]


def test_one_of_a_run_that_the_ledger_lacks_is_unlogged(bench, tmp_path):
    """Its folder was brought from other outputs."""
    strange = bench.run("turned", outputs=str(tmp_path / "elsewhere"))
    folder = bench.outputs / "runs" / "brought"
    shutil.copytree(strange.folder, folder)
    run = open_finished(folder, bench.params())
    assert labels(bench, bench.run(), run) == ["UNLOGGED"]


def test_one_of_a_run_without_a_line_is_unlogged(bench):
    run = bench.run("turned")
    folder = bench.outputs / "runs" / "edited"
    shutil.copytree(run.folder, folder)
    write_json(folder / "manifest.json", run.manifest | {"ledger": None})
    assert labels(bench, bench.run(), open_finished(folder, bench.params())) == ["UNLOGGED"]


def test_a_fusion_of_a_fusion_keeps_the_labels(bench, tmp_path):
    bench.forget(bench.run("turned"))
    inner = fused(bench, bench.run(), bench.run("turned"))
    assert labels(bench, inner, bench.run()) == ["RERUN 2"]


def test_on_data_that_is_not_pinned_it_is_unpinned(bench, tmp_path):
    bench.patch.setenv("KIT_REGISTRY", str(tmp_path / "empty.yaml"))
    assert labels(bench, bench.run(), bench.run("turned")) == ["UNPINNED"]


def test_a_fused_manifest_that_was_changed_makes_no_card(bench):
    runs = [bench.run("turned"), bench.run("failing")]
    run = fused(bench, *runs)
    write_json(run.folder / "manifest.json", run.manifest | {"failures": [], "status": "complete"})
    with pytest.raises(RunError, match="changed after the ledger noted"):
        fused(bench, *runs)


def test_its_line_in_the_ledger_names_its_inputs(bench):
    runs = [bench.run(), bench.run("turned")]
    run = fused(bench, *runs)
    line = ledger.read(str(bench.outputs)).find(run.manifest["ledger"]["sha256"])
    assert line.event["inputs"] == [r.manifest["ledger"]["sha256"] for r in runs]


def test_its_card_can_be_verified_and_compared(bench):
    runs = [bench.run("bm25"), bench.run("public")]
    path, *others = [bench.carded(run) for run in (fused(bench, *runs), *runs)]
    assert verify(path).differences == []
    compared = compare([path, *others])
    assert compared.reasons == [] and list(compared.names) == ["bm25", "fusion", "public"]
    assert "inputs search seconds" in path.with_suffix(".md").read_text()


def test_it_is_no_baseline_whatever_it_is_made_of(bench):
    run = fused(bench, bench.run("bm25"), bench.run("public"))
    assert rules.missing_baselines([run.manifest["system"]]) == ["BM25", "a public embedding"]


def test_its_modes_can_be_compared_and_those_of_another_fusion_not(bench):
    def card(k: int, view: str):
        runs = [bench.run(system, query_view=view) for system in ("mine", "turned")]
        run = fuse_runs(runs, Fusion("rrf", k), bench.params())
        return bench.read(bench.carded(run, query_view=view))
    whole, short = card(60, "tacd"), card(60, "ta")
    assert (whole.mode, short.mode) == ("prior_art", "semantic_search")
    assert len(modes.mode_deltas([whole, short]))
    with pytest.raises(RuleError, match="rule 6.*settings"):
        modes.mode_deltas([whole, card(30, "ta")])


def test_runs_of_two_query_views_make_no_fusion(bench):
    with pytest.raises(RunError, match="query view"):
        fused(bench, bench.run(), bench.run("turned", query_view="ta"))


def test_a_fusion_of_run_files_is_not_held_against_one_of_other_files(bench):
    """The systems differ; without a view they are still told apart."""
    def file(name: str, doc: str):
        path = bench.home / f"{name}.trec"
        path.write_text(f"q1 Q0 {doc} 1 1 x\nq2 Q0 d3 1 1 x\n")
        return execute.retrieve(bench.open(), name, bench.params(run_files={name: str(path)}))
    one, two, three = file("one", "d1"), file("two", "d2"), file("three", "d3")
    first = fused(bench, one, two)
    assert first.manifest["views"] is None
    assert bench.read(bench.carded(first)).labels == []
    assert labels(bench, one, three) == []
    own = bench.params(run_files={"x": str(first.folder / "run.parquet")})
    with pytest.raises(SearchError, match="searched here"):
        execute.retrieve(bench.open(), "x", own)


def test_defaults_of_the_parameters_are_those_of_a_fusion():
    params = Params()
    assert (params.fusion_method, params.fusion_k) == (Fusion().method, Fusion().k)
