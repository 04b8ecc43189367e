"""Pinning: what differs is shown, a generation goes into the user's registry, nothing is replaced."""

import multiprocessing

import pytest
import yaml

from kit.cli import main
from kit.collection.registry import (
    REGISTRY,
    Entry,
    add_generation,
    folder_entry,
    registry,
    user_registry,
)
from kit.collection.sources import open_collection
from kit.errors import CollectionError, ParamsError, RuleError
from kit.provenance import git_state
from kit.relevance.audit import as_frame, audit
from kit.reporting import pin

CHANGED = [("q1", "d1"), ("q2", "d3")]


def test_a_pinned_folder_has_its_generation(bench):
    entry = bench.open().entry
    assert bench.open().generation == "tiny-1" and list(entry.generations) == ["tiny-1"]
    assert (entry.environment, entry.licence, entry.layout, entry.hub) == ("tiny", "not stated", "sophia", None)
    assert entry.counts == {"queries": 4, "corpus": 4, "qrels": 5}


def test_a_later_generation_stands_beside_the_first(bench):
    first = bench.open().fingerprints
    later = bench.pinned(bench.folder("v2/tiny", qrels=CHANGED))
    assert later.generation == "tiny-2" and bench.open().generation == "tiny-1"
    assert later.entry.generations == {"tiny-1": first, "tiny-2": later.fingerprints}


def test_what_differs_is_shown_by_table(bench):
    frame = pin.differences(bench.open(bench.folder("v2/tiny", qrels=CHANGED))).set_index("table")
    assert frame["changed"].to_dict() == {"queries": False, "corpus": False, "qrels": True}
    assert frame.loc["qrels", ["rows before", "rows now"]].tolist() == [5, 2]
    before, now = frame.loc["qrels", ["fingerprint before", "fingerprint now"]]
    assert before == bench.open().fingerprints["qrels"][:8] != now


def test_what_was_never_pinned_has_nothing_before(bench):
    frame = pin.differences(bench.open(bench.folder("other", qrels=CHANGED)))
    assert frame["rows before"].isna().all() and frame["changed"].all()


def test_a_pinned_generation_is_what_the_audit_counts_against(bench):
    checks = as_frame(audit(bench.open(bench.folder("v2/tiny", qrels=CHANGED)))).set_index("check")
    assert checks.loc["qrels", "expected"] == 5 and checks.loc["qrels", "count"] == 2


@pytest.mark.parametrize("name", ["a b", "../x", "-", "x" * 81])
def test_a_name_that_can_not_be_a_files_is_refused(bench, name):
    with pytest.raises(ParamsError, match="can't be named"):
        pin.generation_name(bench.open(bench.folder("other", qrels=CHANGED)), name)


def test_an_unsound_collection_is_not_pinned(bench):
    with pytest.raises(CollectionError):
        pin.generation_name(bench.open(bench.folder("unsound", qrels=[("q9", "d1")])))


def test_the_kits_own_registry_is_not_touched(bench):
    before = REGISTRY.read_bytes(), git_state()
    bench.pinned(bench.folder("other", qrels=CHANGED))
    assert (REGISTRY.read_bytes(), git_state()) == before


def test_a_known_collection_gets_a_generation_and_keeps_its_entry(bench):
    entry = registry()["sophia"]
    prints = {table: "f" * 64 for table in ("queries", "corpus", "qrels", "together")}
    user_registry().write_text(yaml.safe_dump({"sophia": {"generations": {"sophia-1": prints}}}))
    assert registry()["sophia"].generations == {"sophia-1": prints}
    assert registry()["sophia"].counts == entry.counts


def test_a_folder_of_the_name_of_a_hub_id_is_no_folders_entry(bench):
    user_registry().write_text(yaml.safe_dump({"owner-name": {
        "hub": "owner/name", "environment": "owner-name", "layout": "sophia", "licence": "x",
        "attribution": "y"}}))
    assert "owner-name" in registry() and folder_entry("owner-name") is None
    assert folder_entry("mini") is None


@pytest.mark.parametrize("name", ["sophia", "sophia-75k", "mini-litigation"])
def test_a_folder_that_bears_the_name_of_the_kits_own_data_is_not_pinned(bench, name):
    with pytest.raises(RuleError, match=f"rule 2.*'{name}' is the name of the kit's own"):
        pin.generation_name(bench.open(bench.folder(name, qrels=CHANGED)))


def test_pins_at_the_same_time_lose_none(bench):
    prints = bench.open().fingerprints
    names = [f"c{n}" for n in range(6)]

    def add(name):
        for n in range(5):
            add_generation(Entry(name, name, "sophia", "x", "y"), f"{name}-{n}", prints, {})
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=add, args=(name,)) for name in names]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(timeout=60)
    pinned = yaml.safe_load(user_registry().read_text())
    assert {name: len(pinned[name]["generations"]) for name in names} == dict.fromkeys(names, 5)
    assert "tiny" in pinned


def test_what_was_pinned_meanwhile_is_not_replaced(bench):
    one, two = (bench.open(bench.folder(f"{d}/later", qrels=[("q1", d)])) for d in ("d1", "d2"))
    names = [pin.generation_name(collection) for collection in (one, two)]
    pin.pin(one, names[0])
    before = user_registry().read_bytes()
    with pytest.raises(CollectionError, match="another process has pinned other data as 'later-1'"):
        pin.pin(two, names[1])
    assert user_registry().read_bytes() == before


def test_another_corpus_that_was_pinned_meanwhile_keeps_this_one_out(bench):
    one, two = (bench.open(bench.folder(f"{n}/later", corpus=["d1", "d2", "d3", "d4", f"n{n}"]))
                for n in range(2))
    names = [pin.generation_name(one, "a"), pin.generation_name(two, "b")]
    pin.pin(one, names[0])
    with pytest.raises(CollectionError, match="rule 2.*'later' is the name of one corpus, and 'b'"):
        pin.pin(two, names[1])
    assert list(folder_entry("later").generations) == ["a"]


def test_by_default_the_registry_lies_in_the_outputs_folder(monkeypatch, tmp_path):
    monkeypatch.delenv("KIT_REGISTRY", raising=False)
    monkeypatch.setenv("KIT_OUTPUTS", str(tmp_path))
    assert user_registry() == tmp_path / "registry.yaml"


@pytest.mark.parametrize("text", ["[", "[]", "tiny: 3", "tiny: {unknown: 3}", "\0"])
def test_a_registry_that_can_not_be_read_is_named(bench, text):
    user_registry().write_text(text)
    with pytest.raises(CollectionError, match="registry.yaml"):
        open_collection("mini")


def test_the_command_line_shows_and_then_pins(bench, capsys):
    folder = str(bench.folder("v2/tiny", qrels=CHANGED))
    assert main(["pin", folder]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("tiny: against tiny-1\n") and "--yes pins this as 'tiny-2'" in shown
    assert bench.open(folder).generation is None
    assert main(["pin", folder, "--yes", "--name", "tiny-b"]) == 0
    assert "Pinned as 'tiny-b'" in capsys.readouterr().out
    assert open_collection(folder).generation == "tiny-b"


def test_pinning_after_a_run_makes_it_quotable_without_another_search(bench):
    other = bench.folder("other", qrels=CHANGED)
    assert bench.labels(source=other) == ["UNPINNED"]
    bench.pinned(other)
    assert bench.labels(source=other) == []


def test_the_sampled_non_citations_of_dapfam_are_pinned_too(mini_dapfam):
    rows = pin.differences(mini_dapfam).set_index("table")
    assert rows.loc["sampled", ["rows before", "rows now", "changed"]].tolist() == [167, 167, False]
    assert set(rows.index) == {"queries", "corpus", "qrels", "sampled"}
