"""Ways to break each of the seven rules: each is labelled, refused or found, and the rule named."""

import dataclasses
import json
import shutil
from types import SimpleNamespace

import pytest
import yaml

from kit.cli import main
from kit.collection.miniature import folder
from kit.collection.registry import user_registry
from kit.collection.sources import open_collection
from kit.errors import CollectionError, KitError, RuleError, ScorecardError
from kit.reporting import pin, rules, score, scorecard
from kit.reporting.card_comparison import compare, require_publishable
from kit.reporting.modes import mode_deltas
from kit.reporting.verify import verify


def found(path, rule: rules.Rule, *parts: str, **arguments) -> None:
    """`verify` names the rule and the parts, in one of its differences."""
    said = verify(path, **arguments).differences
    assert any(rule.title in d and all(p in d for p in parts) for d in said), said


def refused(rule: rules.Rule, do, *arguments, match: str = "", **named) -> str:
    with pytest.raises(RuleError) as error:
        do(*arguments, **named)
    said = str(error.value)
    assert said.startswith(f"rule {rule.number}, {rule.name}: ") and match in said
    assert error.value.do and len(said.splitlines()) == 1
    return said


def test_there_are_seven_and_each_says_what_it_asks():
    assert [rule.number for rule in rules.RULES] == [1, 2, 3, 4, 5, 6, 7]
    assert len({rule.name for rule in rules.RULES}) == 7
    assert all(rule.sentence.endswith(".") for rule in rules.RULES)


def test_an_honest_run_is_quotable_and_holds(bench):
    path = bench.card()
    card = bench.read(path)
    assert card.quotable and card.labels == [] and card.generation == "tiny-1"
    verdict = verify(path)
    assert verdict.differences == [] and verdict.figures == len(card.figures) > 0


# --- rule 1, pinned data --------------------------------------------------------------------------

def test_1_data_that_nobody_pinned_is_labelled(bench):
    other = bench.folder("other", corpus=["d1", "d2", "d3", "d4", "d5"])
    assert bench.labels(source=other) == ["UNPINNED"]
    assert rules.label_of("UNPINNED").rule is rules.PINNED


@pytest.mark.parametrize("table", ["queries", "corpus", "qrels", "together"])
def test_1_an_edited_fingerprint_in_the_registry(bench, table):
    path = bench.card()
    entries = yaml.safe_load(user_registry().read_text())
    entries["tiny"]["generations"]["tiny-1"][table] = "f" * 64
    user_registry().write_text(yaml.safe_dump(entries))
    found(path, rules.PINNED, "states the generation tiny-1", "none")
    if table != "corpus":  # whose edit is another corpus, and refused
        assert bench.labels("turned") == ["UNPINNED"]


def test_1_a_registry_that_was_thrown_away(bench):
    path = bench.card()
    user_registry().unlink()
    found(path, rules.PINNED, "the registry has none")


@pytest.mark.parametrize(("table", "tables"), [
    ("qrels", {"qrels": [("q1", "d1"), ("q1", "d2", "A"), ("q2", "d3", "overlap"), ("q3", "d4"), ("q4", "d2")]}),
    ("queries", {"queries": ["q1", "q2", "q3", "q4"]}),
    ("corpus", {"corpus": ["d1", "d2", "d3", {"doc_id": "d4", "title": "One letter more"}]})])
def test_1_a_collection_that_was_changed_since(bench, table, tables):
    path = bench.card()
    changed = bench.folder("changed", **tables)
    found(path, rules.PINNED, f"fingerprint of {table}", collection=bench.open(changed))


def test_1_a_generation_name_with_other_data(bench):
    more = bench.folder("v2/tiny", qrels=[("q1", "d1")])
    collection = bench.open(more)
    refused(rules.PINNED, pin.generation_name, collection, "tiny-1", match="never changed")


def test_1_a_second_name_for_pinned_data(bench):
    copy = bench.folder("copy")  # such as made-up data under a name that does not say so
    refused(rules.PINNED, pin.generation_name, bench.open(copy), match="pinned already, as 'tiny-1'")


def test_1_made_up_data_under_another_name(bench):
    mini = open_collection("mini")
    renamed = dataclasses.replace(mini, source="real", environment="real", entry=None)
    refused(rules.PINNED, pin.generation_name, renamed, match=f"'{mini.generation}' of the collection 'mini'")


def test_1_the_kits_own_generation_can_not_be_pinned_over(bench):
    user_registry().write_text("mini: {generations: {mini-1: {corpus: f}}}")
    with pytest.raises(CollectionError, match="'mini-1' of mini is the kit's own"):
        open_collection("mini")


# --- rule 2, identical conditions -----------------------------------------------------------------

def test_2_another_corpus_under_the_same_environments_name(bench):
    other = bench.folder("elsewhere/tiny", corpus=["d1", "d2", "d3", "d4", "d5"])
    refused(rules.IDENTICAL, bench.card, source=other, match="the environment 'tiny' is the name of")
    refused(rules.IDENTICAL, pin.generation_name, bench.open(other), match="environment 'tiny'")


def test_2_another_corpus_under_the_miniatures_name(bench):
    other = bench.folder("mini", corpus=["d1", "d2", "d3", "d4", "d5"])
    refused(rules.IDENTICAL, bench.card, source=other, match="environment 'mini'")


@pytest.mark.parametrize("name", ["dapfam-45k", "sophia-75k"])
def test_2_the_name_of_kits_own_data_of_which_no_generation_is_known(bench, name):
    other = bench.open(bench.folder(name, corpus=["d1", "d2", "d3", "d4", "d5"]))
    said = refused(rules.IDENTICAL, rules.require_own_name, other, match=f"'{name}' is the name of")
    assert said == refused(rules.IDENTICAL, score.write_scorecards, other, [], {}, bench.params())


def test_2_the_miniature_may_lie_in_a_folder_of_its_name(tmp_path):
    rules.require_own_name(open_collection(str(shutil.copytree(folder("mini"), tmp_path / "mini"))))


def test_2_an_environment_of_its_own_is_no_ones_corpus(bench):
    assert bench.card(source=bench.folder("other", corpus=["d1", "d2", "d3", "d4", "d5"])).exists()


@pytest.mark.parametrize(("condition", "values"), [
    ("depth (3, 2)", {"depth": 2}), ("query view (tacd", {"query_view": "ta"}),
    ("protocol (all, xy)", {"protocol": "xy"}), ("sample (all queries, seed 0 size 2)", {"sample": 2})])
def test_2_a_comparison_of_two_conditions(bench, condition, values):
    paths = [bench.card(), bench.card("turned", **values)]
    refused(rules.IDENTICAL, compare, paths, match=condition)


def test_2_two_samples_of_two_seeds(bench):
    paths = [bench.card(sample=2), bench.card("turned", sample=2, seed=1)]
    refused(rules.IDENTICAL, compare, paths, match="sample (seed 0, seed 1)")


def test_2_two_environments(bench):
    other = bench.folder("other", corpus=["d1", "d2", "d3", "d4", "d5"])
    said = refused(rules.IDENTICAL, compare, [bench.card(), bench.card("turned", source=other)])
    assert "environment (tiny, other)" in said and "fingerprints (corpus " in said


def test_2_two_generations_of_one_environment(bench):
    later = bench.folder("v2/tiny", qrels=[("q1", "d1"), ("q2", "d3")])
    bench.pinned(later)
    paths = [bench.card(), bench.card("turned", source=later)]
    refused(rules.IDENTICAL, compare, paths, match="fingerprints (qrels ")


def test_2_every_condition_that_differs_is_listed(bench):
    paths = [bench.card(), bench.card("turned", depth=2, sample=2, protocol="xy", query_view="ta")]
    said = refused(rules.IDENTICAL, compare, paths)
    for condition in ("depth", "sample", "protocol", "query view"):
        assert f"{condition} (" in said


def test_2_of_settings_and_fingerprints_only_what_differs_is_shown():
    prints = {"queries": "q" * 64, "corpus": "c" * 64, "together": "t" * 64}
    records = [{"fingerprints": prints, "sample": {"size": 2, "seed": 0}},
               {"fingerprints": {**prints, "corpus": "d" * 64, "together": "u" * 64},
                "sample": {"size": 3, "seed": 0}}]
    assert rules.differing(records) == ["fingerprints (corpus cccccccc and dddddddd)",
                                        "sample (size 2, size 3)"]


def test_2_a_third_card_of_another_condition(bench):
    paths = [bench.card("bm25"), bench.card("public"), bench.card(depth=2)]
    refused(rules.IDENTICAL, compare, paths, match="depth (3, 2)")


def test_2_cards_of_two_major_suites():
    records = [{"suite_version": "1.4.0"}, {"suite_version": "2.0.0"}]
    refused(rules.IDENTICAL, rules.require_identical, records, ["a", "b"], match="suite (1, 2)")
    rules.require_identical([{"suite_version": "1.4.0"}, {"suite_version": "1.5.0"}], ["a", "b"])


def test_2_a_comparison_on_another_collection_than_the_cards(bench):
    other = bench.open(bench.folder("other", corpus=["d1", "d2", "d3", "d4", "d5"]))
    refused(rules.PINNED, compare, [bench.card("bm25"), bench.card()], collection=other,
            match="not the one that the cards name")


# --- rule 3, full runs ----------------------------------------------------------------------------

def test_3_a_sample_is_labelled(bench):
    path = bench.card(sample=2)
    assert bench.read(path).labels == ["SAMPLE"] and path.stem.endswith("_SAMPLE")


def test_3_a_sample_presented_as_full_by_its_manifest(bench):
    run = bench.run(sample=2)
    bench.edit(run.folder / "manifest.json", sample=None)
    said = refused(rules.FULL, bench.carded, execute_reopen(run))
    assert "sample" in said


def execute_reopen(run):
    from kit.retrieval.execute import reopen
    return reopen(run.folder)


def test_3_a_sample_presented_as_full_without_a_ledger(bench):
    run = bench.run(sample=2)
    bench.edit(run.folder / "manifest.json", sample=None, ledger=None)
    refused(rules.FULL, bench.carded, execute_reopen(run), match="accounts for 2 queries")


def test_3_a_sample_presented_as_full_by_its_card(bench):
    path = bench.card(sample=2)
    bench.edit(path, sample=None, labels=[], quotable=True)
    found(path, rules.IMMUTABLE, "the json is not the one that the ledger lists")
    assert verify(path).differences


def test_3_a_system_that_failed_on_a_query_is_labelled(bench):
    assert bench.labels("failing") == ["INCOMPLETE"]


@pytest.mark.parametrize("times", [2, 3])
def test_3_a_system_that_is_searched_until_it_looks_good(bench, times):
    for _ in range(times - 1):
        bench.forget(bench.run())
    path = bench.card()
    assert bench.read(path).labels == [f"RERUN {times}"] and path.stem.endswith(f"_RERUN-{times}")
    assert verify(path).differences == []


def test_3_a_rerun_under_another_folder_of_results_is_none(bench):
    """Other settings, another version, another depth: runs of their own."""
    for values in ({}, {"system": "turned"}, {"system": "later"}, {"depth": 2}):
        assert bench.labels(**values) == []


def test_3_a_rerun_whose_ledger_was_thrown_away(bench):
    first = bench.card()
    bench.forget(bench.run())
    bench.ledger.unlink()
    refused(rules.IMMUTABLE, bench.card, match="a card that the ledger does not list")
    found(first, rules.IMMUTABLE, "the ledger does not have the run")


def test_3_a_run_that_the_ledger_does_not_have_is_labelled(bench):
    run = bench.run()
    bench.ledger.unlink()
    assert bench.read(bench.carded(run)).labels == ["UNLOGGED"]


def test_3_a_rerun_that_says_it_is_the_first(bench):
    bench.forget(bench.run())
    path = bench.card()
    bench.edit(path, labels=[], quotable=True)
    found(path, rules.FULL, "labels: [], recomputed ['RERUN 2']")


# --- rule 4, all standard slices ------------------------------------------------------------------

@pytest.mark.parametrize("removed", rules.STANDARD_SLICES)
def test_4_a_card_without_a_standard_slice_is_not_written(bench, removed):
    run = bench.run()
    collection, params = bench.open(), bench.params()
    figures = score.figures_of_runs(collection, [run], params)["mine"]
    card = scorecard.make_scorecard(collection, run, figures[figures["slice"] != removed], params)
    refused(rules.SLICES, scorecard.write_scorecard, card, str(bench.outputs), match=f"slice {removed}, protocol all")


def test_4_a_slice_of_one_measure_or_protocol_that_is_missing():
    figures = [SimpleNamespace(protocol=p, slice=s, measure=m) for p in ("all", "xy", "a")
               for s in rules.STANDARD_SLICES for m in ("RR", "AP")]
    rules.require_slices(figures, "card")
    for n in (0, len(figures) // 2, -1):
        lacking = [f for f in figures if f is not figures[n]]
        said = refused(rules.SLICES, rules.require_slices, lacking, "card")
        assert f"slice {figures[n].slice} of {figures[n].measure}, protocol {figures[n].protocol}" in said


def test_4_a_slice_that_was_cut_out_of_a_card(bench):
    path = bench.card()
    figures = [f for f in json.loads(path.read_text())["figures"] if f["slice"] != "OUT"]
    bench.edit(path, figures=figures)
    found(path, rules.SLICES, "slice OUT")


def test_4_a_slice_that_was_added_to_a_card(bench):
    path = bench.card()
    figures = json.loads(path.read_text())["figures"]
    bench.edit(path, figures=[*figures, {**figures[0], "slice": "BEST"}])
    found(path, rules.SLICES, "slice BEST", "does not give")


# --- rule 5, immutable results --------------------------------------------------------------------

@pytest.mark.parametrize("ending", [".json", ".md"])
def test_5_a_card_is_never_overwritten(bench, ending):
    path = bench.card().with_suffix(ending)
    before = path.read_bytes()
    refused(rules.IMMUTABLE, scorecard.write_once, path, "better", match="never replaced")
    assert path.read_bytes() == before


def test_5_a_dirty_tree_is_labelled(bench):
    bench.patch.setattr(scorecard, "git_state", lambda: {"sha": "0" * 40, "dirty": True})
    assert bench.labels() == ["DIRTY"]


def test_5_a_tree_that_was_dirty_when_it_searched(bench):
    from kit.retrieval import execute
    bench.patch.setattr(execute, "git_state", lambda: {"sha": "0" * 40, "dirty": True})
    assert bench.labels() == ["DIRTY"]


def test_5_code_that_is_in_no_commit_is_labelled(bench):
    bench.patch.setattr(scorecard, "git_state", lambda: {"sha": None, "dirty": None})
    assert bench.labels() == ["DIRTY"]


def doctored(bench, change) -> None:
    lines = bench.ledger.read_bytes().splitlines(keepends=True)
    bench.ledger.write_bytes(b"".join(change(lines)))


@pytest.mark.parametrize("change", [
    lambda lines: [lines[0].replace(b'"depth": 3', b'"depth": 4'), *lines[1:]],
    lambda lines: [line.replace(b"complete", b"Complete") for line in lines],
    lambda lines: lines[1:], lambda lines: [lines[0], *lines[2:]], lambda lines: lines[::-1]],
    ids=["conditions", "end", "first out", "second out", "turned"])
def test_5_a_doctored_ledger(bench, change):
    path = bench.card()
    doctored(bench, change)
    found(path, rules.IMMUTABLE, "ledger")


def test_5_a_ledger_without_the_card(bench):
    path = bench.card()
    doctored(bench, lambda lines: lines[:-1])
    found(path, rules.IMMUTABLE, "does not list this card")


def test_5_a_ledger_that_lists_the_forgers_digest_is_a_broken_chain_for_the_next(bench):
    path, other = bench.card(), bench.card("turned")
    old = scorecard.digest_of_text(path).encode()
    bench.edit(path, licence="none")
    new = scorecard.digest_of_text(path).encode()
    doctored(bench, lambda lines: [line.replace(old, new) for line in lines])
    found(other, rules.IMMUTABLE, "does not follow from the line before")


def test_5_a_run_file_that_was_replaced(bench):
    run, path = bench.run(), bench.card()
    other = bench.run("turned")
    (run.folder / "run.parquet").write_bytes((other.folder / "run.parquet").read_bytes())
    found(path, rules.IMMUTABLE, "the run is not the one that its manifest names")


def test_5_a_run_that_is_gone(bench):
    path = bench.card()
    bench.forget(bench.run())
    found(path, rules.IMMUTABLE, "is gone")


def test_5_a_card_that_was_renamed(bench):
    path = bench.card(sample=2)
    clean = path.with_name(path.name.replace("_SAMPLE", ""))
    for ending in (".json", ".md"):
        path.with_suffix(ending).rename(clean.with_suffix(ending))
    found(clean, rules.IMMUTABLE, "the file's name says other than the card")


def test_5_a_sheet_that_is_gone(bench):
    path = bench.card()
    path.with_suffix(".md").unlink()
    found(path, rules.IMMUTABLE, "the markdown is gone")


def test_5_an_edited_card_is_not_compared(bench):
    paths = [bench.card("bm25"), bench.card()]
    bench.edit(paths[1], licence="mine")
    refused(rules.IMMUTABLE, compare, paths, match="not the one that the ledger lists")


def test_5_a_manifest_that_states_another_depth_than_the_ledger(bench):
    run = bench.run()
    bench.edit(run.folder / "manifest.json", depth=2)
    refused(rules.IMMUTABLE, bench.carded, execute_reopen(run), match="another depth than the ledger")


# --- rule 6, honest deltas ------------------------------------------------------------------------

def cards(bench, *wanted: dict) -> list:
    return [bench.read(bench.card(**values)) for values in wanted]


def test_6_two_modes_of_one_system_are_held_together(bench):
    frame = mode_deltas(cards(bench, {}, {"query_view": "ta"}))
    assert set(frame["mode"]) == {"semantic_search"} and set(frame["against"]) == {"prior_art"}
    assert (frame["delta"] == frame["mean"] - frame["mean against"]).all() and len(frame)


def test_6_two_modes_from_two_generations(bench):
    later = bench.folder("v2/tiny", qrels=[("q1", "d1"), ("q2", "d3")])
    bench.pinned(later)
    two = cards(bench, {}, {"source": later, "query_view": "ta"})
    refused(rules.DELTAS, mode_deltas, two, match="fingerprints (qrels ")


def test_6_two_modes_from_two_environments(bench):
    other = bench.folder("other", corpus=["d1", "d2", "d3", "d4", "d5"])
    two = cards(bench, {}, {"source": other, "query_view": "ta"})
    refused(rules.DELTAS, mode_deltas, two, match="environment (tiny, other)")


@pytest.mark.parametrize(("system", "what"), [
    ("bm25", "system (mine, bm25)"), ("turned", "settings (turn 0, turn 2)"), ("later", "version (1, 2)")])
def test_6_two_modes_of_two_systems(bench, system, what):
    two = cards(bench, {}, {"system": system, "query_view": "ta"})
    refused(rules.DELTAS, mode_deltas, two, match=what)


@pytest.mark.parametrize("values", [{"depth": 2}, {"protocol": "xy"}, {"sample": 2}])
def test_6_two_modes_under_two_conditions(bench, values):
    two = cards(bench, {}, {"query_view": "ta", **values})
    refused(rules.DELTAS, mode_deltas, two, match=f"{next(iter(values))} (")


def test_6_one_mode_twice(bench):
    one, = cards(bench, {})
    for few in ([one], [one, one]):
        refused(rules.DELTAS, mode_deltas, few, match="two modes")


# --- rule 7, baselines ride along -----------------------------------------------------------------

@pytest.mark.parametrize(("systems", "missing"), [
    (["mine", "turned"], ["BM25", "a public embedding"]), (["mine", "bm25"], ["a public embedding"]),
    (["mine", "public"], ["BM25"]), (["bm25", "private"], ["a public embedding"])])
def test_7_a_comparison_without_its_baselines(bench, systems, missing):
    compared = compare([bench.card(system) for system in systems])
    assert [r for r in compared.reasons if "missing" in r] == [
        f"rule 7, baselines ride along: {what} is missing" for what in missing]
    refused(rules.BASELINES, require_publishable, compared, match=f"{missing[0]} is missing")


def test_7_with_both_baselines_it_may_be_shown(bench):
    compared = compare([bench.card(system) for system in ("mine", "bm25", "public")])
    assert compared.reasons == [] and next(iter(compared.names)) == "bm25"
    require_publishable(compared)


def test_7_baselines_of_other_conditions_do_not_ride_along(bench):
    refused(rules.IDENTICAL, compare, [bench.card(), bench.card("bm25", depth=2), bench.card("public")],
            match="depth")


@pytest.mark.parametrize(("label", "rule", "values"), [
    ("SAMPLE", rules.FULL, {"sample": 2}), ("INCOMPLETE", rules.FULL, {})])
def test_7_a_labelled_card_is_not_published_in_company_either(bench, label, rule, values):
    systems = ["failing" if label == "INCOMPLETE" else "mine", "bm25", "public"]
    compared = compare([bench.card(system, **values) for system in systems])
    refused(rule, require_publishable, compared, match=label)


def test_7_a_run_file_is_no_baseline_whatever_its_name():
    assert not rules.is_bm25({"name": "bm25", "given": {"file": "bm25.trec"}})
    assert not rules.is_bm25({"name": "bm25-mine", "given": {"variant": "lucene"}})


@pytest.mark.parametrize("given", [
    {"from": "folder", "model": "x", "revision": "a" * 40}, {"from": "hub", "revision": None},
    {"from": "hub", "revision": "main"}, {"from": "package x", "revision": "a" * 40, "weights": None}, {}])
def test_7_an_embedding_that_nobody_else_can_get_is_no_baseline(given):
    assert not rules.is_public_embedding({"name": "x", "given": given})


def test_7_the_packaged_embedding_is_a_public_one():
    from kit.retrieval.dense import PACKAGED, locate_model
    given = locate_model(PACKAGED, None, None)[1]
    assert rules.is_public_embedding({"name": "x", "given": given})


# --- by the command line --------------------------------------------------------------------------

def test_the_command_line_refuses_in_one_line_with_the_rule(bench, capsys):
    assert main(["compare", str(bench.card()), str(bench.card("turned", depth=2))]) == 1
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("kit: rule 2, identical conditions: ") and err.count("\n") == 1


def test_every_refusal_is_of_the_one_family():
    assert issubclass(RuleError, ScorecardError) and issubclass(RuleError, KitError)
