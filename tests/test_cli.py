"""The command line: figures of a run as JSON, and errors of one line."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from kit.cli import main
from kit.collection.sources import open_collection
from kit.evaluation.evaluate import evaluate
from kit.files import ROOT
from kit.params import make_params
from kit.relevance.audit import CHECKS
from kit.retrieval.execute import reopen, retrieve
from kit.retrieval.fusion import Fusion, fuse
from kit.retrieval.run import ranked, write_run, write_trec

KEYS = {"queries", "missing", "without_positives", "own_entries", "measures"}
# q1 is a candidate too; q3 has no relevant document
TABLES = {"queries": ["q1", "q2", "q3"], "corpus": ["d1", "d2", "d3", "q1"],
          "qrels": [("q1", "d1"), ("q1", "d2", "A"), ("q2", "d3", "overlap")]}
RUN = {"q1": ["q1", "d3", "d1"], "q3": ["d1"]}


def strict_json(text: str):
    """JSON in which NaN and infinity are no numbers."""
    return json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))


def run_file(folder, rankings: dict, kind: str = "trec"):
    """A run file of {query: documents, best first}."""
    rows = [(q, d, -n) for q, docs in rankings.items() for n, d in enumerate(docs)]
    path, table = folder / f"run.{kind}", ranked(*zip(*rows))
    write_run(path, table) if kind == "parquet" else write_trec(path, table, "made")
    return path


@pytest.fixture
def made(tmp_path, make_collection):
    return make_collection(tmp_path, **TABLES)


def score(capsys, collection, run, *more: str, protocol="all", measures="nDCG@10,R@100"):
    """What `score --json` prints, as data."""
    assert main(["score", "--collection", str(collection), "--run", str(run), "--protocol", protocol,
                 "--measures", measures, "--json", *more]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return strict_json(out)


def refused(capsys, *arguments) -> str:
    """The one line that a refused command says."""
    assert main([str(a) for a in arguments]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("kit: ") and err.count("\n") == 1 and err.endswith("\n")
    return err


@pytest.mark.parametrize("kind", ["trec", "parquet"])
def test_a_run_is_scored(capsys, tmp_path, made, kind):
    found = score(capsys, made, run_file(tmp_path, RUN, kind), measures="RR,R@1,GoldCoverage@2")
    assert set(found) == KEYS
    assert {k: found[k] for k in KEYS} == {
        "queries": 2, "missing": 1, "without_positives": 1, "own_entries": 1, "measures": {
            # without its own entry q1 has d3, then d1
            "RR": {"mean": 0.25, "n": 2, "per_query": {"q1": 0.5, "q2": 0.0}},
            "R@1": {"mean": 0.0, "n": 2, "per_query": {"q1": 0.0, "q2": 0.0}},
            "GoldCoverage@2": {"mean": pytest.approx(1 / 3), "n": 2, "per_query": None}}}


def test_the_protocol_decides_what_counts(capsys, tmp_path, made):
    run = run_file(tmp_path, RUN)
    means = {p: score(capsys, made, run, protocol=p, measures="RR")["measures"]["RR"]["mean"]
             for p in ("all", "xy", "a")}
    assert means == {"all": 0.25, "xy": 0.25, "a": 0.0}


def test_a_query_with_its_own_entry_only_is_missing(capsys, tmp_path, made):
    found = score(capsys, made, run_file(tmp_path, {"q1": ["q1"], "q2": ["d3"]}), measures="RR")
    assert (found["missing"], found["own_entries"]) == (1, 1)


def test_an_own_entry_stays_a_candidate_of_other_queries(capsys, tmp_path, make_collection):
    folder = make_collection(tmp_path, **TABLES | {"qrels": [("q2", "q1")]})
    found = score(capsys, folder, run_file(tmp_path, {"q2": ["q1"]}), measures="RR")
    assert (found["own_entries"], found["measures"]["RR"]["mean"]) == (0, 1.0)


def test_strange_queries_and_ranks_are_told(capsys, tmp_path, made):
    run = tmp_path / "run.txt"
    run.write_text("q2 Q0 d3 2 9.5 x\nq2 Q0 d1 1 0.5 x\nnobody Q0 d1 1 1 x\n", encoding="utf-8")
    assert main(["score", "--collection", str(made), "--run", str(run), "--measures", "RR",
                 "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == "kit: unknown queries: 1\nkit: rank disagrees: 2\n"
    assert strict_json(out)["measures"]["RR"]["per_query"]["q2"] == 1  # by its score


def test_a_measure_named_twice_is_given_once(capsys, tmp_path, made):
    assert list(score(capsys, made, run_file(tmp_path, RUN), measures="RR, R@1,RR,")["measures"]) == ["RR", "R@1"]


def test_without_json_the_means_are_shown(capsys, tmp_path, made):
    assert main(["score", "--collection", str(made), "--run", str(run_file(tmp_path, RUN)),
                 "--measures", "RR"]) == 0
    assert ["RR", "0.2500"] in [line.split() for line in capsys.readouterr().out.splitlines()]


def test_every_reference_value_comes_out_of_the_command(capsys, tmp_path, make_collection, shared):
    lines = (shared / "conformance" / "measures.jsonl").read_text(encoding="utf-8").splitlines()
    for n, case in enumerate(map(json.loads, lines)):
        qrels, run = case["qrels"], case["run"]
        docs = {d for by_query in (qrels, run) for docs in by_query.values() for d in docs}
        folder = make_collection(tmp_path, sorted({*qrels, *run}), sorted(docs),
                                 [(q, d) for q, docs in qrels.items() for d in docs], name=f"c{n}")
        found = score(capsys, folder, run_file(tmp_path, run, "parquet"), measures=",".join(case["expected"]))
        for name, expected in case["expected"].items():
            ours = found["measures"][name]
            assert ours["mean"] == pytest.approx(expected["mean"], abs=1e-9, rel=0), (case["name"], name)
            if expected["per_query"] is None:
                assert ours["per_query"] is None
            else:
                assert ours["per_query"] == pytest.approx(expected["per_query"], abs=1e-9, rel=0)


@pytest.mark.parametrize(("option", "value", "said"), [
    ("--protocol", "xyz", "unknown protocol 'xyz'"), ("--measures", "bpref", "no meaning"),
    ("--measures", "nDCG", "needs a cutoff"), ("--measures", "RR,nDCG@0", "unknown measure 'nDCG@0'"),
    ("--measures", " , ", "no measure is named"), ("--run", "nowhere.trec", "no such run file"),
    ("--collection", "nowhere", "no such collection")])
def test_a_wrong_value_is_one_line(capsys, tmp_path, made, option, value, said):
    given = {"--collection": made, "--run": run_file(tmp_path, RUN)} | {option: value}
    assert said in refused(capsys, "score", *(word for pair in given.items() for word in pair))


@pytest.mark.parametrize(("lines", "said"), [
    ("q1 Q0 d1 1 1 x\nq1 Q0 d1 2 0.5 x\n", "query 'q1', document 'd1' twice"),
    ("q1 Q0 gone 1 1 x\n", "no document 'gone'"), ("nobody Q0 d1 1 1 x\n", "no query of the run"),
    ("q1 Q0 d1 1 nan x\n", "no finite number"), ("q1 d1 1\n", "columns"), ("", "no row")])
def test_a_wrong_run_is_one_line(capsys, tmp_path, made, lines, said):
    run = tmp_path / "run.txt"
    run.write_text(lines, encoding="utf-8")
    assert said in refused(capsys, "score", "--collection", made, "--run", run)


def test_a_collection_that_breaks_its_layout_is_one_line(capsys, tmp_path, make_collection):
    folder = make_collection(tmp_path, **TABLES | {"qrels": [("q1", "d1"), ("q1", "gone")]})
    assert "breaks its layout" in refused(capsys, "score", "--collection", folder, "--run", run_file(tmp_path, RUN))


@pytest.mark.parametrize("arguments", [[], ["score"], ["score", "--run"], ["nonsense"], ["audit", "mini", "--odd"]])
def test_a_misused_command_is_one_line(capsys, arguments):
    assert "--help" in refused(capsys, *arguments)


def test_an_error_leaves_no_traceback_and_the_status_1():
    done = subprocess.run([sys.executable, "-m", "kit", "score", "--collection", "mini", "--run", "no\nwhere"],
                          cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("kit: there is no such run file") and done.stderr.count("\n") == 1


@pytest.mark.parametrize("protocol", ["xy", "a"])
def test_a_protocol_without_categories_is_refused_with_the_reason(capsys, tmp_path, make_collection, protocol):
    folder = make_collection(tmp_path, qrels=[("q1", "d1", None)])
    said = refused(capsys, "score", "--collection", folder, "--run", run_file(tmp_path, {"q1": ["d1"]}),
                   "--protocol", protocol)
    assert "every category is null" in said


def test_the_audit_is_valid_json(capsys):
    assert main(["audit", "mini", "--json"]) == 0
    checks = strict_json(capsys.readouterr().out)
    assert {"group", "check", "count", "share", "expected", "verdict", "what it says",
            "severity", "detail", "of"} == set(checks[0])
    assert {c["check"]: c["count"] for c in checks}["corpus"] == 600


def test_the_audit_of_a_broken_collection_is_valid_json_too(capsys, tmp_path, make_collection):
    folder = make_collection(tmp_path, qrels=[("q1", "gone"), ("q1", "gone")],
                             tweak={"corpus": lambda table: table.drop_columns(["ipc", "title"])})
    assert main(["audit", str(folder), "--json"]) == 0
    checks = strict_json(capsys.readouterr().out)
    assert {c["verdict"] for c in checks if c["count"] is None} == {"absent"}
    assert all(isinstance(c["count"], int) for c in checks if c["count"] is not None)


def test_the_audit_in_words_names_each_check_once_and_ends_with_their_sum(capsys, made):
    assert main(["audit", str(made)]) == 0
    said = capsys.readouterr().out
    assert all(said.count(f"  {check.name:48} ") == 1 for check in CHECKS)
    assert "nan" not in said and "None" not in said
    assert said.splitlines()[-1].startswith(f"{len(CHECKS)} checks: ")


def test_the_audit_in_words_says_what_is_at_fault(capsys, tmp_path, make_collection):
    folder = make_collection(tmp_path, qrels=[("q1", "gone")], tweak={"corpus": lambda t: t.drop_columns(["ipc"])})
    assert main(["audit", str(folder)]) == 0
    said = capsys.readouterr().out
    assert "fault \"the column 'ipc' is missing\"" in said and "doc_id 'gone'" in said


def test_rows_do_not_mix_with_those_of_another_audit(capsys, tmp_path):
    (tmp_path / "old.parquet").touch()
    assert "a new or empty folder" in refused(capsys, "audit", "mini", "--quick", "--rows", tmp_path)


@pytest.fixture(scope="module")
def real(shared, tmp_path_factory):
    """BM25 on titles and abstracts of real patents."""
    folder = shared / "data" / "real-patents"
    params = make_params({"collection": str(folder), "query_view": "ta", "corpus_view": "ta", "systems": ["bm25"],
                          "depth": 100, "outputs": str(tmp_path_factory.mktemp("real"))})
    return folder, retrieve(open_collection(str(folder)), "bm25", params)


def test_bm25_on_real_patents_finds_what_it_should(real):
    folder, run = real
    evaluation = evaluate(run.table, open_collection(str(folder)), "all", ["R@100", "nDCG@100"])
    assert run.manifest["own_entries_excluded"] == 436
    assert not any(q == d for q, d in zip(*(run.table[c].to_pylist() for c in ("query_id", "doc_id"))))
    assert evaluation.mean("R@100") == pytest.approx(0.695, abs=0.01)
    assert evaluation.mean("nDCG@100") == pytest.approx(0.416, abs=0.01)


def test_the_command_scores_that_run_as_the_kit_does(capsys, real):
    folder, run = real
    found = score(capsys, folder, run.folder / "run.parquet", measures="R@100,nDCG@100")
    assert (found["queries"], found["own_entries"]) == (436, 0)
    assert found["measures"]["R@100"]["mean"] == pytest.approx(0.695, abs=0.01)


def test_the_command_refuses_xy_on_real_patents(capsys, real):
    folder, run = real
    said = refused(capsys, "score", "--collection", folder, "--run", run.folder / "run.parquet", "--protocol", "xy")
    assert "every category is null" in said


def test_the_audit_writes_the_rows_behind_its_counts(capsys, tmp_path):
    assert main(["audit", "mini", "--quick", "--rows", str(tmp_path / "rows")]) == 0
    assert "not asked for" not in capsys.readouterr().err
    assert pq.read_table(tmp_path / "rows" / "own-entries-own-entries.parquet").num_rows == 12


def test_splits_are_made_and_checked(capsys, tmp_path):
    file = tmp_path / "splits.parquet"
    assert main(["splits", "mini", "--out", str(file)]) == 0
    made = capsys.readouterr().out
    assert main(["splits", "mini", "--check", str(file)]) == 0
    checked = capsys.readouterr().out
    assert checked.strip() and checked in made  # the leakage is told both times
    assert pq.read_table(file).num_rows == 120


def test_a_tie_that_may_cross_does(capsys, tmp_path):
    file = tmp_path / "splits.parquet"
    assert main(["splits", "mini", "--out", str(file), "--ignore", "publication", "--ignore", "reciprocal"]) == 0
    line = next(x for x in capsys.readouterr().out.splitlines() if x.strip().startswith("publication"))
    assert int(line.split()[1]) > 0


@pytest.mark.parametrize(("arguments", "said"), [
    (["--out", "x.csv"], "splits are written as Parquet"),
    (["--check", "none.csv"], "no such file of splits"),
    (["--out", "x.parquet", "--shares", "train"], "shares are names and numbers"),
    (["--out", "x.parquet", "--shares", "train=0.5"], "--shares|shares"),
    (["--out", "x.parquet", "--ignore", "family"], "unknown tie 'family'"),
    (["--out", "x.parquet", "--seed", "-1"], "a seed is a whole number"),
    (["--out", "x.parquet", "--shares", "a=0.5,a=0.5"], "shares are names and numbers"),
    (["--out", "x.parquet", "--by-date", "--ignore", "number"], "--ignore changes nothing beside --by-date"),
    (["--check", "x.csv", "--seed", "1"], "--seed changes nothing beside --check"),
    ([], "one of the arguments --out --check is required"),
])
def test_splits_refuse_in_one_line(capsys, tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    assert re.search(said, refused(capsys, "splits", "mini", *arguments))
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory, make_collection):
    """BM25 with two settings on a tiny collection, and their outputs."""
    home = tmp_path_factory.mktemp("fuse")
    data = open_collection(str(make_collection(home)))
    runs = [retrieve(data, "bm25", make_params({"outputs": str(home / "out"), "bm25_b": b, "depth": 2}))
            for b in (0.0, 0.75)]
    return home / "out", runs


def test_saved_runs_are_fused_and_the_folder_is_printed(capsys, two_runs):
    outputs, runs = two_runs
    command = ["fuse", *(str(r.folder) for r in runs), "--outputs", str(outputs), "--k", "30"]
    assert main(command) == 0
    folder = Path(capsys.readouterr().out.strip())
    made = reopen(folder)
    assert folder.parent == runs[0].folder.parent and made.manifest["system"]["given"]["k"] == 30
    assert made.table.equals(fuse(runs, Fusion("rrf", 30)).table)
    assert main([*command[:1], *command[2:0:-1], *command[3:]]) == 0  # the other way round
    assert capsys.readouterr().out.strip() == str(folder)


def test_saved_runs_are_fused_by_weighted_scores(capsys, two_runs):
    outputs, runs = two_runs
    assert main(["fuse", *(str(r.folder) for r in runs), "--outputs", str(outputs),
                 "--method", "minmax", "--weights", "0.5,2"]) == 0
    made = reopen(Path(capsys.readouterr().out.strip()))
    assert made.table.equals(fuse(runs, Fusion("minmax", weights=(0.5, 2.0))).table)


@pytest.mark.parametrize(("arguments", "said"), [
    (["a"], "two runs or more"),
    (["a", "nowhere"], "no run's folder: it holds no manifest.json"),
    (["a", "b", "--method", "borda"], "fusion_method"),
    (["a", "b", "--method", "minmax", "--k", "3"], "--k changes nothing beside --method minmax"),
    (["a", "b", "--k", "-1"], "fusion_k"),
    (["a", "b", "--weights", "1,2"], "takes no weights"),
    (["a", "b", "--method", "zscore", "--weights", "1"], "1 weights for 2 runs"),
    (["a", "b", "--method", "zscore", "--weights", "1,0"], "greater than 0"),
    (["a", "b", "--method", "zscore", "--weights", "1;2"], "weights are numbers, not '1;2'"),
    (["a", "b", "--method", "zscore", "--weights", ""], "weights are numbers, not ''"),
    (["a", "bare"], "the run's manifest lacks system, environment, generation"),
])
def test_what_can_not_be_fused_is_one_line(capsys, two_runs, tmp_path, arguments, said):
    outputs, runs = two_runs
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "manifest.json").write_text("{}")
    names = {"a": runs[0].folder, "b": runs[1].folder, "bare": tmp_path / "bare"}
    arguments = [str(names.get(a, a)) for a in arguments]
    assert said in refused(capsys, "fuse", *arguments, "--outputs", str(outputs))


@pytest.mark.parametrize("change", [
    {"failures": 5}, {"failures": [{"query_id": 1}]}, {"fingerprints": None}, {"suite_version": 2},
    {"system": "bm25"}, {"views": {}}, {"cost": {"search_seconds": "3"}}, {"ledger": "x"}], ids=str)
def test_a_manifest_of_other_kinds_is_not_fused(capsys, two_runs, tmp_path, change):
    outputs, runs = two_runs
    (tmp_path / "run.parquet").write_bytes((runs[1].folder / "run.parquet").read_bytes())
    (tmp_path / "manifest.json").write_text(json.dumps({**runs[1].manifest, "ledger": None, **change}))
    said = refused(capsys, "fuse", str(runs[0].folder), str(tmp_path), "--outputs", str(outputs))
    assert f"manifest is not as the kit writes it: {next(iter(change))}" in said


@pytest.mark.parametrize("number", ["1_0", "٣", " 5", "1e2", "0x10", "nan", "1" * 5000])
def test_a_whole_number_is_digits_alone_as_in_parameters(capsys, number):
    said = refused(capsys, "splits", "mini", "--out", "s.parquet", "--seed", number)
    assert "--seed: it is no whole number" in said and len(said) < 400


@pytest.mark.parametrize("option, value", [("--parallel", "99999999999"), ("--timeout", "1e300"), ("--retries", "1000"),
                                           ("--max-tokens", "9" * 20)])
def test_what_an_endpoint_is_asked_has_bounds(capsys, tmp_path, option, value):
    said = refused(capsys, "build", "natural_language", "--collection", "mini", "--model", "m", "--out", tmp_path / "x",
                   option, value)
    assert f"({option})" in said and "Give one from" in said
