"""Paraphrases over loopback: nothing asked twice, nothing lost, every odd answer listed; batch files."""

import json
import threading

import pytest

from kit.building import paraphrase
from kit.building.chat import Endpoint
from kit.building.journal import opened, read_journal
from kit.building.odd import Limits
from kit.building.paraphrase import (
    Asking,
    Request,
    answers_of,
    ask_all,
    estimate,
    odd_lines,
    read_batch,
    read_prompt,
    unanswered,
    write_batch,
)
from kit.errors import BuildError, SearchError

KEY = "k3y-that-nobody-may-see"


@pytest.fixture
def requests(claims):
    asking = Asking("a-model", read_prompt())
    return [Request(qid, text, asking.body(text)) for qid, text in claims.items()]


@pytest.fixture
def waits(monkeypatch):
    """The seconds that would have been waited; nobody waits."""
    noted = []
    monkeypatch.setattr(Endpoint, "_wait", staticmethod(lambda stopped, s: noted.append(s) or stopped.is_set()))
    return noted


@pytest.fixture
def path(tmp_path):
    return tmp_path / "set.answers.jsonl"


def run(requests, server, path, **how):
    with opened(path) as journal:
        ask_all(requests, Endpoint(server.base, **how), journal)
        return texts_of(requests, journal)


def texts_of(requests, journal):
    return {a.request.qid: a.text for a in answers_of(requests, journal, Limits(), {})}


def politely(say_plainly):
    return lambda handler, claim: handler.say(say_plainly(claim))


# --- the call -------------------------------------------------------------------------------------

def test_a_request_has_all_that_decides_the_answer(requests, serving, path, say_plainly, claims):
    server = serving(politely(say_plainly))
    run(requests[:1], server, path)
    call, = server.calls
    assert server.paths == ["/v1/chat/completions"]
    assert call == {"model": "a-model", "temperature": 0, "n": 1, "max_tokens": 600, "messages": [
        {"role": "system", "content": read_prompt()}, {"role": "user", "content": claims["q1"]}]}


def test_every_claim_gets_its_own_answer(requests, serving, path, say_plainly, claims):
    texts = run(requests, serving(politely(say_plainly)), path)
    assert texts == {qid: say_plainly(claim) for qid, claim in claims.items()}


def test_the_answer_is_kept_as_it_came(requests, serving, path):
    raw = b' {"choices": [{"message": {"content": "  Eins\\u00e4tze \xc3\xa4  "}}], "more": 1.10}\n'
    run(requests[:1], serving(lambda handler, _: handler.give(raw)), path)
    line, = read_journal(path)
    assert line["body"].encode() == raw and line["id"] == requests[0].id


def test_nothing_is_asked_again(requests, serving, path, say_plainly):
    server = serving(politely(say_plainly))
    first = run(requests, server, path)
    assert run(requests, server, path) == first
    assert sorted(server.asked) == sorted(r.claim for r in requests)


def test_another_model_prompt_or_limit_is_another_request(requests, claims):
    others = [Asking("b-model", read_prompt()), Asking("a-model", "Say it plainly."),
              Asking("a-model", read_prompt(), 10)]
    ids = {Request("q1", claims["q1"], asking.body(claims["q1"])).id for asking in others} | {requests[0].id}
    assert len(ids) == 4


# --- slow, out of order, bounded ------------------------------------------------------------------

def test_no_more_are_in_flight_than_may_be(requests, serving, path, say_plainly):
    lock, full, inside, most = threading.Lock(), threading.Event(), 0, 0

    def slow(handler, claim):
        nonlocal inside, most
        with lock:
            inside += 1
            most = max(most, inside)
            if inside == 3:
                full.set()
        full.wait(10)  # so that as many come as are let
        with lock:
            inside -= 1
        handler.say(say_plainly(claim))

    run(requests, serving(slow), path, parallel=3)
    assert most == 3


def test_answers_in_another_order_stay_with_their_claims(requests, serving, path, say_plainly, claims):
    def backwards(handler, claim):
        late = claim == claims["q1"]  # the first one asked is answered when all others are noted
        while late and not (path.exists() and len(read_journal(path)) == len(claims) - 1):
            threading.Event().wait(0.01)
        handler.say(say_plainly(claim))

    texts = run(requests, serving(backwards), path, parallel=6)
    assert read_journal(path)[-1]["qid"] == "q1"
    assert list(texts) == list(claims) and texts["q1"] == say_plainly(claims["q1"])


def test_one_that_comes_too_late_is_asked_again_and_counted_once(requests, serving, path, waits, say_plainly):
    again, tries = threading.Event(), []

    def late(handler, claim):
        tries.append(claim)
        if len(tries) == 1:
            again.wait(10)  # until it is asked a second time
        else:
            again.set()
        handler.say(say_plainly(claim))

    run(requests[:1], serving(late), path, timeout=0.3)
    assert len(tries) == 2 and len(read_journal(path)) == 1


# --- retries for transport only -------------------------------------------------------------------

def test_busy_and_failing_is_asked_again_at_growing_intervals(requests, serving, path, waits, say_plainly):
    answers = iter([(429, {"Retry_After": "7"}), (503, {}), (500, {})])

    def busy(handler, claim):
        status, headers = next(answers, (None, None))
        handler.say(say_plainly(claim)) if status is None else handler.give({}, status, **headers)

    run(requests[:1], serving(busy), path)
    assert waits == [7, 2, 4] and len(read_journal(path)) == 1


def test_a_broken_answer_is_asked_again(requests, serving, path, waits, say_plainly):
    tries = []

    def half(handler, claim):
        tries.append(claim)
        if len(tries) == 1:
            handler.send_response(200)
            handler.send_header("Content-Length", "1000")
            handler.end_headers()
            handler.wfile.write(b'{"choices": [')
            return handler.hang_up()
        handler.say(say_plainly(claim))

    assert run(requests[:1], serving(half), path)["q1"] == say_plainly(requests[0].claim)


@pytest.mark.parametrize("respond", [
    lambda h, _: h.say("I'm sorry, I can't help with that."), lambda h, _: h.say("cut of", "length"),
    lambda h, _: h.say(""), lambda h, _: h.say(None), lambda h, _: h.give(b"no JSON"), lambda h, _: h.give({}, 400),
    lambda h, _: h.say("x", "content_filter"), lambda h, _: h.give({"choices": []}),
    lambda h, claim: h.say(claim)])
def test_nothing_is_asked_again_for_what_it_says(requests, serving, path, waits, respond):
    server = serving(respond)
    run(requests[:1], server, path)
    assert len(server.calls) == 1 and waits == []


@pytest.mark.parametrize("status", [301, 401, 403, 404])
def test_a_refused_call_stops_at_once_and_is_no_answer(requests, serving, path, waits, status):
    server = serving(lambda handler, _: handler.give({}, status))
    with pytest.raises(BuildError, match=f"refuses the call: status {status}"):
        run(requests, server, path, parallel=1)
    assert len(server.calls) == 1 and read_journal(path) == []


# --- it dies, and goes on -------------------------------------------------------------------------

def test_after_it_died_only_the_rest_is_asked(requests, serving, path, waits, say_plainly, claims):
    left = [3]

    def dying(handler, claim):
        if not left[0]:
            return handler.hang_up()
        left[0] -= 1
        handler.say(say_plainly(claim))

    server = serving(dying)
    with pytest.raises(BuildError, match="no answer: no whole answer.*asks nothing twice"):
        run(requests, server, path, parallel=1, retries=1)
    answered = {line["qid"] for line in read_journal(path)}
    assert len(answered) == 3
    again = serving(politely(say_plainly))
    texts = run(requests, again, path)
    assert sorted(again.asked) == sorted(claims[q] for q in claims.keys() - answered)
    assert texts == {qid: say_plainly(claim) for qid, claim in claims.items()}


def test_what_is_in_flight_when_another_fails_is_not_lost(requests, serving, path, waits, say_plainly, claims):
    failed, there = threading.Event(), threading.Event()

    def one_fails(handler, claim):
        if claim == claims["q1"]:
            there.wait(10)
            handler.give({}, 401)
            return failed.set()
        there.set()
        failed.wait(10)
        handler.say(say_plainly(claim))

    with pytest.raises(BuildError, match="401"):
        run(requests[:2], serving(one_fails), path, parallel=2)
    assert [line["qid"] for line in read_journal(path)] == ["q2"]


def test_a_line_that_the_process_died_over_is_asked_again(requests, serving, path, say_plainly):
    run(requests, serving(politely(say_plainly)), path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-40])  # the last line has no end
    torn = requests[[r.id for r in requests].index(json.loads(whole.splitlines()[-1])["id"])]
    server = serving(politely(say_plainly))
    run(requests, server, path)
    assert server.asked == [torn.claim]
    assert {line["id"] for line in read_journal(path)} == {r.id for r in requests}


def test_a_journal_that_was_changed_is_refused(requests, path):
    path.write_bytes(b'{"id": "x"}\nno JSON\n{"id": "y"}\n')
    with pytest.raises(BuildError, match="line 2 is no JSON"), opened(path):
        pass


def test_two_processes_do_not_ask_at_once(path):
    with opened(path), pytest.raises(BuildError, match="another process"), opened(path):
        pass


# --- the key --------------------------------------------------------------------------------------

def test_the_key_goes_into_the_header_and_nowhere_else(requests, serving, path, monkeypatch, say_plainly):
    monkeypatch.setenv("MY_KEY", KEY)
    server = serving(politely(say_plainly))
    run(requests, server, path, key_env="MY_KEY")
    assert set(server.keys) == {f"Bearer {KEY}"}
    assert KEY not in path.read_text() and KEY not in json.dumps(server.calls)


@pytest.mark.parametrize("said", [KEY, KEY.replace("k", "\\u006b")])
def test_an_answer_that_holds_the_key_is_withheld(requests, serving, path, monkeypatch, said):
    monkeypatch.setenv("MY_KEY", KEY)
    raw = f'{{"choices": [{{"message": {{"content": "a valve {said}"}}}}]}}'.encode()
    run(requests[:1], serving(lambda handler, _: handler.give(raw)), path, key_env="MY_KEY")
    line, = read_journal(path)
    assert line["body"] is None
    with opened(path) as journal:
        assert answers_of(requests[:1], journal, Limits(), {})[0].kept_out_by == "withheld"


@pytest.mark.parametrize("base", ["127.0.0.1", "ftp://a/", "http://user:secret@a/", "http://a/?key=secret"])
def test_an_address_that_may_hold_a_secret_is_refused_and_not_said_again(base):
    with pytest.raises(SearchError, match="--base") as error:
        Endpoint(base)
    assert "secret" not in str(error.value)


def test_a_key_that_is_not_set_is_found_before_anything_is_asked():
    with pytest.raises(SearchError, match="--key-env"):
        Endpoint("http://127.0.0.1:9/v1", key_env="NOT_SET_ANYWHERE")


# --- odd answers are listed -----------------------------------------------------------------------

def test_every_odd_answer_is_listed_and_kept_out(requests, serving, path, claims, say_plainly):
    odd = {claims["q1"]: lambda h: h.say("I'm sorry, I can't do that."), claims["q2"]: lambda h: h.say("A thing", "length"),
           claims["q3"]: lambda h: h.say(claims["q3"]), claims["q4"]: lambda h: h.say("The same for all, 24 mm and 25 mm, 4 5."),
           claims["q5"]: lambda h: h.say("The same for all, 24 mm and 25 mm, 4 5."),
           claims["q6"]: lambda h: h.say(say_plainly(claims["q6"]))}
    run(requests, serving(lambda handler, claim: odd[claim](handler)), path)
    with opened(path) as journal:
        answers = answers_of(requests, journal, Limits(), {})
    assert {a.request.qid: a.kept_out_by for a in answers} == {
        "q1": "refusal", "q2": "truncated", "q3": "copy", "q4": "same as another", "q5": "same as another", "q6": ""}
    assert {line["qid"] for line in odd_lines(answers) if line["kept_out"]} == {"q1", "q2", "q3", "q4", "q5"}


# --- the estimate ---------------------------------------------------------------------------------

def test_the_estimate_counts_what_is_left_and_prices_it(requests, path, claims):
    letters = sum(len(read_prompt()) + len(c) for c in list(claims.values())[1:])
    with opened(path) as journal:
        journal.append({"id": requests[0].id, "qid": "q1", "status": 200, "body": "{}", "via": "endpoint"})
        told = estimate([*requests, requests[1]], journal, 2.0, 10.0, parallel=2, seconds=4)
    assert (told.requests, told.answered, told.seconds) == (5, 1, 10)
    assert letters / 4 <= told.tokens_in < letters / 4 + 1 and told.most_out == 5 * 600
    assert told.cost == pytest.approx((told.tokens_in * 2 + told.tokens_out * 10) / 1e6)
    assert told.most_cost == pytest.approx((told.tokens_in * 2 + 3000 * 10) / 1e6)


def test_without_prices_it_says_so(requests, path):
    with opened(path) as journal:
        assert "no prices are given" in str(estimate(requests, journal, None, 1.0))


# --- the prompt -----------------------------------------------------------------------------------

def test_the_kits_prompt_is_the_one_that_is_pinned(monkeypatch, tmp_path):
    assert paraphrase.prompt_digest(read_prompt()) == paraphrase.PROMPT_SHA256
    changed = tmp_path / "paraphrase.txt"
    changed.write_text(read_prompt() + " ")
    monkeypatch.setattr(paraphrase, "PROMPT", changed)
    with pytest.raises(BuildError, match="not the one that is pinned"):
        read_prompt()
    assert read_prompt(changed).endswith(" ")  # given as another one it is taken


# --- batch files ----------------------------------------------------------------------------------

def done(request, text="One shuts a pipe.", status=200, **more):
    return {"custom_id": request.id, "error": None, "response": {"status_code": status, "body": {
        "choices": [{"message": {"content": text}, "finish_reason": "stop"}]}}, **more}


def written(path, lines):
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return path


def test_a_batch_holds_what_is_unanswered(requests, path, tmp_path):
    with opened(path) as journal:
        journal.append({"id": requests[0].id, "qid": "q1", "status": 200, "body": "{}", "via": "endpoint"})
        assert write_batch(requests, journal, tmp_path / "in.jsonl") == 5
    lines = [json.loads(line) for line in (tmp_path / "in.jsonl").read_text().splitlines()]
    assert lines == [{"custom_id": r.id, "method": "POST", "url": "/v1/chat/completions", "body": r.body}
                     for r in requests[1:]]


def test_answers_of_a_batch_are_joined_by_their_id(requests, path, tmp_path):
    out = written(tmp_path / "out.jsonl", [done(r, f"This shuts {r.qid}.") for r in reversed(requests)])
    with opened(path) as journal:
        assert read_batch([out], requests, journal) == [] and unanswered(requests, journal) == []
        assert texts_of(requests, journal) == {r.qid: f"This shuts {r.qid}." for r in requests}


def test_what_a_batch_lacks_is_known_and_what_is_wrong_with_it_listed(requests, path, tmp_path):
    one, two, three, four, five, _ = requests
    out = written(tmp_path / "out.jsonl", [
        done(two), done(one, "first"), done(one, "second"), done(two), {**done(three), "custom_id": "strange"},
        {"custom_id": three.id, "response": None, "error": {"code": "batch_expired"}}, "no JSON",
        done(four, status=500), {"custom_id": five.id}, {"response": {}}, "[1]", ""])
    with opened(path) as journal:
        problems = read_batch([out], requests, journal)
        assert [r.qid for r in unanswered(requests, journal)] == ["q3", "q4", "q5", "q6"]
        assert texts_of(requests, journal)["q1"] == "first"
    assert [(p.line, p.what.split(":")[0]) for p in problems] == [
        (3, "another answer to this request came first, and counts"), (5, "no request of this set has this id"),
        (6, "an error in place of an answer"), (7, "the line is not JSON"), (8, "status 500, which is no answer"),
        (9, "the line has no response with a status and a body"), (10, "the line has no custom_id"),
        (11, "the line has no custom_id")]


def test_a_batch_read_twice_changes_nothing(requests, path, tmp_path):
    out = written(tmp_path / "out.jsonl", [done(r, r.qid) for r in requests])
    with opened(path) as journal:
        read_batch([out], requests, journal)
        before = path.read_bytes()
        assert read_batch([out], requests, journal) == []
    assert path.read_bytes() == before


def test_a_request_refused_for_its_text_is_answered_and_kept_out(requests, path, tmp_path):
    out = written(tmp_path / "out.jsonl", [done(requests[0], status=400)])
    with opened(path) as journal:
        assert read_batch([out], requests, journal) == []
        assert answers_of(requests, journal, Limits(), {})[0].kept_out_by == "refused by the endpoint"
