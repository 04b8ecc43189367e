"""natural_language end to end: from a collection's claims through an endpoint to a frozen set."""

import json
from collections import Counter

import pytest

from kit.building import natural_language
from kit.building.claims import first_claim
from kit.building.journal import opened, read_journal
from kit.building.judging import Judging
from kit.building.paraphrase import Asking, ask_all, read_prompt
from kit.building.chat import Endpoint
from kit.building.query_set import read_lines, write_query_set
from kit.cli import main
from kit.collection.built import MANIFEST
from kit.collection.sources import open_collection
from kit.errors import BuildError

ASKING = Asking("a-model", read_prompt())
VALVE = "A valve with a seat of 3 mm, a lid and a long spring that is bent twice."


@pytest.fixture(scope="module")
def mixed(hold_collection):
    """Queries of which one has claim 1 cancelled, one only `iclm`, and some no claim or no gold."""
    return hold_collection(
        [{"query_id": "live", "claims": f"1. {VALVE}\n2. The valve of claim 1."},
         {"query_id": "later", "claims": "1-3. (canceled)\n4. A pump with a rotor of 7 mm, a lid and a case.\n5. The pump of claim 4."},
         {"query_id": "listed", "claims": "", "iclm": ["1. A gear with 12 teeth, a hub and a rim of brass."]},
         {"query_id": "gone", "claims": "1-3. (canceled)"}, {"query_id": "bare", "claims": None, "iclm": None},
         {"query_id": "alone", "claims": f"1. {VALVE}"}],
        ["d1", "d2", "live"], [(q, "d1") for q in ("live", "later", "listed", "gone", "bare")])


def made(collection, serving, path, say, **how):
    prepared = natural_language.prepare(collection, ASKING)
    with opened(path) as journal:
        ask_all(prepared.requests, Endpoint(serving(say).base), journal)
        return natural_language.build(collection, prepared, journal, **how)


def test_every_query_is_a_row_or_a_loss_with_its_reason(mixed, serving, tmp_path, say_plainly):
    built = made(mixed, serving, tmp_path / "j", lambda h, claim: h.say(say_plainly(claim)))
    assert [(row["qid"], row["claim"]) for row in built.rows] == [("live", 1), ("later", 4), ("listed", 1)]
    assert {loss.id: loss.reason for loss in built.losses} == {
        "gone": "every claim is cancelled", "bare": "no claims", "alone": "no relevant document under the protocol"}
    assert built.counts()[0].entered == 6


def test_a_row_says_why_it_is_another_claim(mixed, serving, tmp_path, say_plainly):
    built = made(mixed, serving, tmp_path / "j", lambda h, claim: h.say(say_plainly(claim)))
    evidence = {e["qid"]: e for e in built.evidence}
    assert {q: e["why"] for q, e in evidence.items()} == {"live": "", "later": "claim 1 is cancelled", "listed": ""}
    assert evidence["live"]["claim_text"] == VALVE and evidence["live"]["overlap"] < 0.2
    assert built.notes["rows of another claim than claim 1"] == 1


def test_an_odd_answer_is_a_loss_and_listed_and_kept_raw(mixed, serving, tmp_path, say_plainly):
    def say(handler, claim):
        handler.say(claim if "pump" in claim else say_plainly(claim), "length" if "gear" in claim else "stop")

    built = made(mixed, serving, tmp_path / "j", say)
    assert [row["qid"] for row in built.rows] == ["live"]
    lost = {loss.id: loss for loss in built.losses}
    assert (lost["later"].reason, lost["listed"].reason) == ("answer: copy", "answer: truncated")
    assert {(o["qid"], o["check"]) for o in built.beside["odd.jsonl"] if o["kept_out"]} == {
        ("later", "copy"), ("listed", "truncated")}
    assert {line["qid"] for line in built.beside["answers.jsonl"]} == {"live", "later", "listed"}


def test_half_a_character_and_broken_bytes_keep_an_answer_out_and_its_raw_form_whole(mixed, tmp_path):
    prepared = natural_language.prepare(mixed, ASKING)
    said = {"live": [VALVE.lower()[:30] + " \ud83d and more", "stop"], "later": ["It turns.", "\udfff"],
            "listed": ["A wheel of brass with 12 teeth sits on a hub.", "stop"]}
    with opened(tmp_path / "j") as journal:
        for request in prepared.requests:
            text, ended = said[request.qid]
            body = json.dumps({"choices": [{"message": {"content": text}, "finish_reason": ended}]})
            journal.append({"id": request.id, "qid": request.qid, "status": 200, "via": "endpoint",
                            "body": body + "\udcff" if request.qid == "later" else body})
        built = natural_language.build(mixed, prepared, journal)
        folder = write_query_set(built, tmp_path / "set")
        assert [line["body"] for line in read_lines(folder / "answers.jsonl")] == [
            line["body"] for line in journal.lines]
    assert [row["qid"] for row in built.rows] == ["listed"]
    assert {loss.reason for loss in built.losses if loss.id in ("live", "later")} == {"answer: unreadable"}


def test_what_has_no_answer_stops_the_set_unless_it_is_accepted(mixed, tmp_path):
    prepared = natural_language.prepare(mixed, ASKING)
    with opened(tmp_path / "j") as journal:
        with pytest.raises(BuildError, match="3 of 3 requests have no answer"):
            natural_language.build(mixed, prepared, journal)
        built = natural_language.build(mixed, prepared, journal, accept_missing=True)
    assert Counter(loss.reason for loss in built.losses)["no answer"] == 3


def test_a_part_is_drawn_by_its_seed(claimed):
    drawn = [natural_language.prepare(claimed, ASKING, limit=3, seed=seed) for seed in (0, 0, 1)]
    ids = [[r.qid for r in p.requests] for p in drawn]
    assert ids[0] == ids[1] != ids[2] and len(ids[0]) == 3
    assert Counter(loss.reason for loss in drawn[0].losses) == {"not drawn": 3}


def test_the_order_in_which_answers_came_changes_no_byte(claimed, serving, tmp_path, say_plainly):
    def build(name, turned):
        prepared = natural_language.prepare(claimed, ASKING)
        with opened(tmp_path / f"{name}.j") as journal:
            endpoint = Endpoint(serving(lambda h, claim: h.say(say_plainly(claim))).base, parallel=1)
            ask_all(prepared.requests[::-1] if turned else prepared.requests, endpoint, journal)
            return write_query_set(natural_language.build(claimed, prepared, journal), tmp_path / name)

    one, other = build("one", False), build("other", True)
    names = sorted(p.name for p in one.iterdir() if p.is_file())
    assert names == ["answers.jsonl", "audit.jsonl", "evidence.jsonl", "lost.jsonl", "odd.jsonl", MANIFEST, "rows.jsonl"]
    assert all((one / n).read_bytes() == (other / n).read_bytes() for n in names)


def test_the_audit_is_drawn_by_office_and_length(claimed, serving, tmp_path, say_plainly):
    built = made(claimed, serving, tmp_path / "j", lambda h, claim: h.say(say_plainly(claim)))
    sample = built.beside["audit.jsonl"]
    assert {one["stratum"].split(",")[0] for one in sample} == {"EP", "US"} and len(sample) == 6
    assert all(one["claim"] and one["text"] for one in sample)


# --- the command line -----------------------------------------------------------------------------

@pytest.fixture
def command(tmp_path, monkeypatch):
    monkeypatch.setenv("KIT_REGISTRY", str(tmp_path / "registry.yaml"))

    def run(*more):
        return main(["build", "natural_language", "--collection", "mini", "--out", str(tmp_path / "plain"), "--model",
                     "a-model", "--limit", "8", "--audit-items", "4", *more])
    return run


def test_without_yes_it_says_what_it_costs_and_sends_nothing(command, serving, capsys, tmp_path, say_plainly):
    server = serving(lambda h, claim: h.say(say_plainly(claim)))
    assert command("--base", server.base, "--price-in", "1", "--price-out", "2") == 0
    said = capsys.readouterr().out
    assert "8 requests to send" in said and "by the prices given" in said and "Nothing was sent" in said
    assert server.calls == [] and not (tmp_path / "plain").exists()


@pytest.mark.parametrize("given", [("--copy-limit", "7"), ("--copy-limit", "nan"), ("--price-in", "1"),
                                   ("--parallel", "0"), ("--price-out", "-1", "--price-in", "1")])
def test_a_number_that_can_not_be_is_one_line(command, capsys, tmp_path, given):
    assert command(*given) == 1
    err = capsys.readouterr().err
    assert given[0] in err and err.count("\n") == 1 and list(tmp_path.iterdir()) == []


def test_from_the_miniature_to_a_frozen_set(command, serving, capsys, tmp_path, say_plainly, mini):
    server = serving(lambda h, claim: h.say(say_plainly(claim)))
    assert command("--base", server.base, "--yes") == 0
    said = capsys.readouterr().out
    assert "queries: 120 came in, 8 left" in said and "112 lost: not drawn" in said and "Judge its audit" in said
    folder = tmp_path / "plain"
    claims = {q: first_claim(c).claim.text for q, c in mini.frame("queries", ["query_id", "claims"]).to_numpy()}
    assert {row["qid"]: row["text"] for row in read_lines(folder / "rows.jsonl")} == {
        q: say_plainly(claims[q]) for q in claims if claims[q] in server.asked}
    assert main(["freeze", str(folder)]) == 1
    assert "0 of 4 rows are judged" in capsys.readouterr().err
    judging = Judging(folder)
    for one in judging.left():
        judging.judge(one["item"], dict.fromkeys(natural_language.QUESTIONS, True), "ab")
    assert main(["freeze", str(folder)]) == 0
    assert "4 of 4 are good [0.510, 1.000]" in capsys.readouterr().out
    assert open_collection(str(folder)).registered_set["mode"] == "natural_language"


def test_a_batch_goes_out_and_in_and_what_it_lacks_is_said(command, capsys, tmp_path, say_plainly):
    asked, told = tmp_path / "asked.jsonl", tmp_path / "told.jsonl"
    assert command("--batch-out", str(asked)) == 0
    lines = [json.loads(line) for line in asked.read_text().splitlines()]
    answers = [{"custom_id": line["custom_id"], "response": {"status_code": 200, "body": {"choices": [{"message": {
        "content": say_plainly(line["body"]["messages"][1]["content"])}}]}}} for line in reversed(lines)]
    told.write_text("".join(json.dumps(a) + "\n" for a in [*answers[:-1], {"custom_id": "strange", "error": "x"}]))
    assert command("--batch-in", str(told)) == 1
    said = capsys.readouterr()
    assert "told.jsonl, line 8, strange: an error" in said.out and "1 of 8 requests have no answer" in said.err
    assert command("--accept-missing") == 0
    assert "1 lost: no answer" in capsys.readouterr().out
    assert len(read_journal(tmp_path / "plain.answers.jsonl")) == 7


@pytest.mark.parametrize(("option", "value"), [("--parallel", "0"), ("--limit", "-1"), ("--price-in", "nan"),
                                               ("--audit-threshold", "0"), ("--timeout", "0")])
def test_a_number_that_can_not_be_is_refused_before_anything_is_opened(command, capsys, option, value):
    assert command(option, value) == 1
    assert option.removeprefix("--").split("-")[0] in capsys.readouterr().err
