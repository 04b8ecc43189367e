"""`verify`: a changed digit anywhere is found, by digest and by recomputing."""

import hashlib
import json
import random
import shutil

import pytest

from kit import ledger
from kit.cli import main
from kit.errors import CollectionError, KitError, ScorecardError
from kit.reporting import scorecard, verify
from kit.reporting.rules import IMMUTABLE
from kit.reporting.verify import find_run


def faults(path, collection=None) -> list[str]:
    """What `verify` finds; a file that is no card any more is found as well."""
    try:
        return verify.verify(path, collection).differences
    except KitError as error:
        return [str(error)]


@pytest.mark.parametrize("ending", [".json", ".md"])
def test_a_changed_digit_anywhere_is_found(bench, ending):
    path = bench.card("bm25")
    file, collection = path.with_suffix(ending), bench.open()
    text = file.read_text(encoding="utf-8")
    digits = [i for i, sign in enumerate(text) if sign.isdigit()]
    for i in random.Random(0).sample(digits, 12):
        other = str((int(text[i]) + 1) % 10)
        file.write_text(text[:i] + other + text[i + 1:], encoding="utf-8")
        assert faults(path, collection), text[max(0, i - 40):i + 10]
    file.write_text(text, encoding="utf-8")
    assert faults(path, collection) == []


@pytest.mark.parametrize("ending", [".json", ".md"])
@pytest.mark.parametrize("change", [lambda t: t + "\n", lambda t: t.replace("  ", " ", 1) + " ",
                                    lambda t: t.replace("tiny", "tidy", 1)], ids=["line", "blank", "letter"])
def test_so_is_a_changed_letter_or_blank(bench, ending, change):
    path = bench.card("bm25")
    file = path.with_suffix(ending)
    file.write_text(change(file.read_text(encoding="utf-8")), encoding="utf-8")
    assert faults(path)


def forge(bench, path, change) -> None:
    """Changes a card, and writes sheet, name and the ledger's last line to fit it."""
    stated = json.loads(path.read_text(encoding="utf-8"))
    change(stated)
    path.write_text(scorecard.dump_json(stated), encoding="utf-8")
    sheet = path.with_suffix(".md")
    sheet.write_text(scorecard.markdown(scorecard.read_scorecard(path)), encoding="utf-8")
    lines = bench.ledger.read_bytes().splitlines()
    last = json.loads(lines[-1])
    last |= {"json": scorecard.digest_of_text(path), "markdown": scorecard.digest_of_text(sheet),
             "labels": stated["labels"], "run": stated["ledger"]["sha256"]}
    bench.ledger.write_bytes(b"\n".join([*lines[:-1], json.dumps(last).encode()]) + b"\n")
    bench.ledger.with_suffix(".head").unlink(missing_ok=True)


def test_a_forgery_of_nothing_holds(bench):
    path = bench.card("bm25")
    forge(bench, path, lambda card: None)
    assert faults(path) == []


FORGED = {
    "mean": lambda c: c["figures"][0].update(mean=0.75), "low": lambda c: c["figures"][0].update(low=0.01),
    "high": lambda c: c["figures"][1].update(high=0.99), "n": lambda c: c["figures"][0].update(n=5),
    "reason": lambda c: c["figures"][0].update(reason="none"),
    "corpus_size": lambda c: c.update(corpus_size=5), "queries": lambda c: c.update(queries=5),
    "depth": lambda c: c.update(depth=4), "missing_queries": lambda c: c["counts"].update(missing_queries=1),
    "ties_at_the_cut": lambda c: c["counts"].update(ties_at_the_cut=1),
    "index_seconds": lambda c: c["cost"].update(index_seconds=0.5), "machine": lambda c: c["machine"].update(cores=99),
    "k1": lambda c: c["system"]["given"].update(k1=1.3), "version": lambda c: c["system"].update(version="2"),
    "generation": lambda c: c.update(generation="tiny-2"),
    "fingerprint of qrels": lambda c: c["fingerprints"].update(qrels="0" * 64),
    "mode": lambda c: c.update(mode="litigation"), "views": lambda c: c["views"]["query"].update(view="ta"),
    "quotable": lambda c: c.update(quotable=False), "labels": lambda c: c.update(labels=["SAMPLE"]),
    "licence": lambda c: c.update(licence="CC0"), "note": lambda c: c.update(note="fine"),
    "scopes": lambda c: c["scopes"]["all"].update(OUT=4),
    "status": lambda c: c.update(status="incomplete"), "sentences": lambda c: c["sentences"].update(RR="best"),
    "run": lambda c: c.update(run_sha256="0" * 64), "run_git": lambda c: c["run_git"].update(sha="1" * 40),
    "intervals": lambda c: c["intervals"].update(resamples=3), "is gone": lambda c: c["ledger"].update(line=9),
    "the file's name": lambda c: c.update(created="20200101T000000Z"),
}


@pytest.mark.parametrize("what", FORGED)
def test_recomputing_finds_what_a_forger_made_fit(bench, what):
    path = bench.card("bm25")
    forge(bench, path, FORGED[what])
    assert any(what in fault for fault in faults(path)), faults(path)


@pytest.mark.parametrize("change", [{"status": "incomplete"}, {"run_sha256": "0" * 64}, {"status": "failed"}])
def test_another_end_of_the_run_is_found_in_a_ledger_whose_chain_is_made_to_fit(bench, change):
    path = bench.card()
    before, lines = ledger.START, []
    for raw in bench.ledger.read_bytes().splitlines():
        event = json.loads(raw)
        if event["event"] == ledger.ENDED:
            event |= change
        raw = raw if event == json.loads(raw) and not lines else json.dumps(
            event | {"previous": before}).encode()
        lines.append(raw)
        before = hashlib.sha256(raw).hexdigest()
    bench.ledger.write_bytes(b"\n".join(lines) + b"\n")
    bench.ledger.with_suffix(".head").unlink(missing_ok=True)
    said, = faults(path)
    assert "another end of this run" in said


@pytest.mark.parametrize("change", [
    lambda c: c["figures"].append({**c["figures"][0], "mean": 0.99}),
    lambda c: c["figures"][0].update(measure="nDCG@3"), lambda c: c["sentences"].clear(),
    lambda c: c["system"].pop("name"), lambda c: c["views"].pop("query"),
    lambda c: c["views"]["corpus"].clear(), lambda c: c["fingerprints"].clear(),
    lambda c: c.pop("figures"), lambda c: c.update(figures=[{}]), lambda c: c.update(extra=1),
    lambda c: c["figures"][0].update(mean="0.5 or so")])
def test_what_a_card_can_not_be_without_makes_no_card(bench, change):
    path = bench.card()
    stated = json.loads(path.read_text(encoding="utf-8"))
    change(stated)
    path.write_text(scorecard.dump_json(stated), encoding="utf-8")
    with pytest.raises(ScorecardError, match="no scorecard"):
        verify.verify(path)


@pytest.mark.parametrize("name", ["labels", "counts", "cost", "machine", "git", "run_git", "intervals",
                                  "ledger", "views", "sample"])
def test_an_emptied_part_is_found_and_breaks_nothing(bench, name):
    path = bench.card(sample=2)
    empty = type(json.loads(path.read_text(encoding="utf-8"))[name])()
    bench.edit(path, **{name: empty})
    assert faults(path)


def test_a_clean_tree_that_was_not_is_found_by_the_run(bench):
    from kit.retrieval import execute
    bench.patch.setattr(execute, "git_state", lambda: {"sha": "0" * 40, "dirty": True})
    path = bench.card()

    def clean(card):
        card.update(labels=[], quotable=True)
        card["run_git"]["dirty"] = False
    forge(bench, path, clean)
    assert any("run_git" in fault for fault in faults(path))


def test_a_card_of_another_major_suite_says_so(bench):
    path = bench.card()
    bench.edit(path, suite_version="0.9.0")
    said, = [f for f in faults(path) if "suite" in f]
    assert "of suite 0.9.0 and can't be recomputed by suite" in said


def test_an_older_minor_suite_is_recomputed_with_a_note(bench):
    major = scorecard.SUITE_VERSION.split(".")[0]
    path = bench.card()
    forge(bench, path, lambda card: card.update(suite_version=f"{major}.99.0"))
    verdict = verify.verify(path)
    assert verdict.differences == [] and any(f"suite {major}.99.0" in note for note in verdict.notes)


def test_a_slice_that_a_later_minor_suite_added_is_not_held_against_a_card(bench):
    major = scorecard.SUITE_VERSION.split(".")[0]
    path = bench.card()

    def before(card):
        card["suite_version"] = f"{major}.99.0"
        card["figures"] = [f for f in card["figures"] if f["slice"] != "MIXED"]
    forge(bench, path, before)
    assert faults(path) == []
    forge(bench, path, lambda card: card["figures"][0].update(mean=0.123))
    assert any("mean 0.123" in fault for fault in faults(path))


def test_a_card_of_before_the_scopes_holds(bench):
    path = bench.card()

    def of_suite_1_0_0(card):
        card |= {"suite_version": "1.0.0", "schema_version": 2}
        card["figures"] = [f for f in card["figures"] if not f["slice"].startswith("scope")]
        del card["scopes"], card["calibration"]
    forge(bench, path, of_suite_1_0_0)
    assert faults(path) == [] and bench.read(path).scopes is None
    forge(bench, path, lambda card: card.update(suite_version=scorecard.SUITE_VERSION, schema_version=scorecard.SCHEMA_VERSION))
    assert any("not written as the kit writes it" in fault for fault in faults(path))


def test_a_whole_slice_that_lacks_is_said_once(bench):
    path = bench.card()
    forge(bench, path, lambda card: card.update(
        figures=[f for f in card["figures"] if f["slice"] != "OUT" or f["protocol"] != "all"]))
    assert [f for f in faults(path) if "lacks" in f] == [
        "rule 4, all standard slices: the card lacks slice OUT, protocol all"]


def test_a_card_holds_in_any_outputs_folder_and_by_its_sheet(bench, tmp_path):
    path = bench.card()
    moved = tmp_path / "elsewhere"
    shutil.copytree(bench.outputs, moved)
    shutil.rmtree(bench.outputs)
    card = moved / "reports" / "scorecards" / path.name
    assert faults(card) == [] and faults(card.with_suffix(".md")) == []


def test_a_labelled_card_holds_as_well(bench):
    for values in ({"sample": 2}, {"system": "failing"}, {"system": "file"}, {"protocol": "xy", "seed": 7}):
        assert faults(bench.card(**values)) == []


def test_what_is_no_card_is_named(bench, tmp_path):
    with pytest.raises(ScorecardError, match="nothing.json"):
        verify.verify(tmp_path / "reports" / "scorecards" / "nothing.json")


def test_of_two_runs_that_rank_alike_each_card_finds_its_own(bench):
    paths = {system: bench.card(system) for system in ("mine", "later")}
    cards = {system: bench.read(path) for system, path in paths.items()}
    assert len({card.run_sha256 for card in cards.values()}) == 1
    for system, card in cards.items():
        assert find_run(str(bench.outputs), card).manifest["system"]["name"] == card.system["name"]
        assert faults(paths[system]) == []


def test_the_command_line_says_what_holds_and_what_does_not(bench, capsys):
    good, bad = bench.card("bm25"), bench.card()
    assert main(["verify", str(good)]) == 0
    assert capsys.readouterr().out.startswith(f"{good.name}: holds; ")
    bench.edit(bad, licence="CC0")
    assert main(["verify", str(good), str(bad)]) == 1
    out = capsys.readouterr().out
    assert f"{bad.name}: does not hold" in out and f"{good.name}: holds" in out
    assert IMMUTABLE.title in out and "licence: CC0, recomputed not stated" in out


def test_a_collection_that_is_gone_is_an_error(bench, capsys):
    path = bench.card()
    bench.patch.undo()
    forge(bench, path, lambda card: card.update(source="no/such folder"))
    with pytest.raises(CollectionError, match="no such collection"):
        verify.verify(path)


def test_the_ledger_may_grow_behind_a_card(bench):
    path = bench.card()
    bench.card("turned")
    with ledger.opened(str(bench.outputs)) as book:
        book.append("run begun", key="k")
    assert faults(path) == []
