"""Judging: the draw, the file of judgements, the interval, what freezing asks, and the widgets' clicks."""

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from kit.building.judging import (
    JUDGED,
    Audit,
    Judge,
    Judging,
    audit_of,
    draw,
    require_good,
    share_of,
    thirds,
    wilson,
)
from kit.building.query_set import QuerySet, freeze, read_lines, write_query_set
from kit.collection.registry import folder_entry
from kit.collection.sources import open_collection
from kit.errors import BuildError, CollectionError
from kit.files import digest_of_file
from kit.reporting.scorecard import _audited

YES, QUESTIONS = {"faithful": True, "plain": True}, {"faithful": "Is it so?", "plain": "Is it plain?"}
NO = {"faithful": False, "plain": True}


def items(**strata):
    return [{"item": f"{name}{n}", "stratum": name} for name, size in strata.items() for n in range(size)]


@pytest.fixture
def folder(claimed, tmp_path, monkeypatch):
    """A built set of which five rows are to be judged, four of which have to be good."""
    monkeypatch.setenv("KIT_REGISTRY", str(tmp_path / "registry.yaml"))
    audit = Audit(QUESTIONS, items=5, threshold=0.8)
    rows = [{"qid": f"r{n}", "text": f"a valve {n}", "gold_apps": ["d1"]} for n in range(8)]
    sample = draw([{"item": row["qid"], "stratum": "EP", "text": row["text"]} for row in rows], audit)
    return write_query_set(QuerySet("natural_language", rows, claimed, {"queries": 8}, [], {}, {}, audit=audit,
                                    beside={"audit.jsonl": sample}), tmp_path / "plain")


def judge_all(folder, bad=0):
    judging = Judging(folder)
    for n, one in enumerate(judging.left()):
        judging.judge(one["item"], NO if n < bad else YES, "ab", "it says more" if n < bad else "")
    return judging


# --- the draw -------------------------------------------------------------------------------------

def test_a_draw_is_in_proportion_to_its_strata():
    drawn = draw(items(a=600, b=300, c=100), Audit(QUESTIONS, items=100))
    assert Counter(one["stratum"] for one in drawn) == {"a": 60, "b": 30, "c": 10}


def test_a_small_stratum_gives_one_all_the_same():
    drawn = draw(items(a=997, b=2, c=1), Audit(QUESTIONS, items=10))
    assert Counter(one["stratum"] for one in drawn) == {"a": 8, "b": 1, "c": 1}


def test_of_fewer_than_are_asked_all_are_drawn():
    assert len(draw(items(a=3, b=4), Audit(QUESTIONS, items=100))) == 7


def test_neither_order_nor_another_stratum_changes_what_is_drawn_of_one():
    all_of_it = items(a=50, b=50)
    first = draw(all_of_it, Audit(QUESTIONS, items=20))
    assert draw(all_of_it[::-1], Audit(QUESTIONS, items=20)) == first
    other = draw([*items(a=50), *({**o, "item": f"x{o['item']}"} for o in items(b=50))], Audit(QUESTIONS, items=20))
    assert [o for o in other if o["stratum"] == "a"] == [o for o in first if o["stratum"] == "a"]


def test_another_seed_draws_others():
    one, other = (draw(items(a=200), Audit(QUESTIONS, items=20, seed=s)) for s in (0, 1))
    assert one != other


def test_an_item_that_stands_twice_is_refused():
    with pytest.raises(BuildError, match="stands twice"):
        draw(items(a=2) + items(a=1), Audit(QUESTIONS))


@given(st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 30), min_size=1), st.integers(1, 60))
def test_as_many_are_drawn_as_are_asked_and_no_stratum_gives_more_than_it_has(sizes, n):
    drawn = draw(items(**sizes), Audit(QUESTIONS, items=n))
    assert len(drawn) == min(n, sum(sizes.values()))
    assert len({one["item"] for one in drawn}) == len(drawn)


def test_lengths_are_told_apart_by_thirds():
    assert thirds([1, 2, 3, 4, 5, 6]) == ["short", "short", "middle", "middle", "long", "long"]
    assert thirds([7, 7, 7]) == ["short"] * 3 and thirds([]) == []


# --- the interval ---------------------------------------------------------------------------------

@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_interval_is_wilsons(counts):
    good, n = counts
    known = binomtest(good, n).proportion_ci(method="wilson")
    assert wilson(good, n) == pytest.approx((known.low, known.high), abs=1e-9)


def test_nothing_counted_says_nothing():
    assert wilson(0, 0) == (0, 1) and share_of(0, 0)["share"] is None


# --- judgements -----------------------------------------------------------------------------------

def test_a_judgement_says_who_when_and_of_what(folder):
    judging = Judging(folder)
    item = judging.left()[0]["item"]
    judging.judge(item, NO, " cd ", "it lacks the lid")
    line, = (json.loads(one) for one in (folder / JUDGED).read_text().splitlines())
    assert line.items() >= {"item": item, "answers": NO, "by": "cd", "reason": "it lacks the lid"}.items()
    assert line["at"].endswith("Z") and line["digest"] == judging.digests[item]
    assert item not in {one["item"] for one in judging.left()}


def test_a_later_judgement_counts_and_the_earlier_stays(folder):
    judging = judge_all(folder, bad=1)
    judging.judge(judging.sample[0]["item"], YES, "ef")
    assert judging.verdict().good == 5 and len((folder / JUDGED).read_text().splitlines()) == 6
    assert judging.table()["by"].tolist() == ["ef", *["ab"] * 4]


@pytest.mark.parametrize(("item", "answers", "by", "reason", "said"), [
    ("nobody", YES, "ab", "", "was not drawn"), (None, {"faithful": True}, "ab", "", "every question"),
    (None, {**YES, "plain": None}, "ab", "", "every question"), (None, YES, " ", "", "no name"),
    (None, NO, "ab", " ", "no reason")])
def test_half_a_judgement_is_none(folder, item, answers, by, reason, said):
    judging = Judging(folder)
    with pytest.raises(BuildError, match=said):
        judging.judge(item or judging.sample[0]["item"], answers, by, reason)
    assert not (folder / JUDGED).exists()


@pytest.mark.parametrize("change", [{"digest": "0" * 64}, {"item": "r99"}, {"answers": {"faithful": True}},
                                    {"answers": {"faithful": "yes", "plain": True}}])
def test_a_judgement_of_something_else_is_refused(folder, change):
    judge_all(folder)
    lines = [json.loads(line) for line in (folder / JUDGED).read_text().splitlines()]
    (folder / JUDGED).write_text("".join(json.dumps(line) + "\n" for line in [{**lines[0], **change}, *lines[1:]]))
    with pytest.raises(BuildError, match="line 1"):
        audit_of(folder)


def test_a_line_that_was_torn_is_judged_again(folder):
    judging = judge_all(folder)
    (folder / JUDGED).write_bytes((folder / JUDGED).read_bytes()[:-5])
    assert len(judging.left()) == 1
    judge_all(folder)
    assert judging.verdict().judged == 5


def test_shares_a_question(folder):
    table = judge_all(folder, bad=2).shares().set_index("question")
    assert table["yes"].to_dict() == {"faithful": 3, "plain": 5, "all of them": 3}
    assert table.loc["faithful", "low"] == pytest.approx(wilson(3, 5)[0])


def test_a_set_without_an_audit_is_not_judged(claimed, tmp_path):
    rows = [{"qid": "r", "text": "a", "gold_apps": ["d1"]}]
    made = write_query_set(QuerySet("litigation", rows, claimed, {"queries": 1}, [], {}, {}), tmp_path / "set")
    with pytest.raises(BuildError, match="people are to judge"):
        Judging(made)


# --- freezing asks for it -------------------------------------------------------------------------

def test_without_its_audit_a_set_is_not_frozen(folder):
    with pytest.raises(BuildError, match="not done: 0 of 5 rows"):
        freeze(folder)
    judging = Judging(folder)
    judging.judge(judging.sample[0]["item"], YES, "ab")
    with pytest.raises(BuildError, match="not done: 1 of 5 rows"):
        freeze(folder)


def test_with_too_few_good_ones_it_is_not_frozen_and_the_interval_is_said(folder):
    judge_all(folder, bad=2)
    with pytest.raises(BuildError, match=r"too few good rows: 3 of 5 .* 0.600 \[0.231, 0.882\].* 0.8"):
        freeze(folder)


def test_at_the_threshold_it_is_frozen_and_registry_and_scorecard_carry_the_share(folder):
    verdict = judge_all(folder, bad=1).verdict()
    freeze(folder)
    noted = folder_entry("plain").built["plain-1"]["audit"]
    assert noted == require_good(verdict, folder)
    assert (noted["good"], noted["judged"], noted["threshold"]) == (4, 5, 0.8)
    assert _audited(open_collection(str(folder))) == {"query_set_audit": (
        f"4 of 5 judged good, 95 % interval {wilson(4, 5)[0]:.3f} to {wilson(4, 5)[1]:.3f}, at least 0.8 asked")}


def test_a_frozen_set_is_judged_no_more(folder):
    judging = judge_all(folder)
    freeze(folder)
    with pytest.raises(BuildError, match="frozen"):
        judging.judge(judging.sample[0]["item"], YES, "ab")
    (folder / JUDGED).write_bytes((folder / JUDGED).read_bytes() * 2)
    with pytest.raises(CollectionError, match="judged.jsonl is another"):
        open_collection(str(folder))


def test_a_sample_that_was_changed_is_not_frozen(folder):
    lines = (folder / "audit.jsonl").read_text().splitlines(keepends=True)
    (folder / "audit.jsonl").write_text("".join(lines[:1]))
    judge_all(folder)
    with pytest.raises(BuildError, match="audit.jsonl is not as it was built"):
        freeze(folder)


# --- the widgets ----------------------------------------------------------------------------------

def test_clicks_judge_one_item_after_the_other(folder):
    widgets = Judge(Judging(folder), lambda one: f"<p>{one['text']}</p>")
    first = widgets.item["item"]
    widgets.by.value = "ab"
    assert widgets.shown.value == f"<p>{widgets.item['text']}</p>"
    for buttons in widgets.answers.values():
        buttons.value = "yes"
    widgets.save.click()
    assert Judging(folder).judged()[first]["answers"] == YES and widgets.item["item"] != first
    assert all(buttons.value is None for buttons in widgets.answers.values())  # nothing is answered by a click on


def test_what_is_not_answered_is_not_saved(folder):
    widgets = Judge(Judging(folder), lambda one: "")
    first = widgets.item["item"]
    widgets.by.value, widgets.answers["plain"].value = "ab", "yes"
    widgets.save.click()
    assert "every question" in widgets.told.value and widgets.item["item"] == first
    assert not (folder / JUDGED).exists()


def test_at_the_end_there_is_nothing_to_save(folder):
    judge_all(folder)
    widgets = Judge(Judging(folder), lambda one: "")
    assert widgets.save.disabled and "5 of 5" in widgets.told.value


# --- a set that was damaged ---------------------------------------------------------------------------

def restated(folder, name, text):
    """Another text for a file of the set, of which the manifest has the digest."""
    manifest = json.loads((folder / "query_set.json").read_text())
    (folder / name).write_text(text)
    manifest["files"][name] = digest_of_file(folder / name)
    (folder / "query_set.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize("place, value, named", [
    ("audit", "x", "audit"), ("audit", {"questions": []}, "audit.questions"), ("counts", [None], "counts.0"),
    ("counts", [{"what": "queries", "entered": "8", "left": 8, "losses": {}}], "counts.0.entered"),
    ("collection", {}, "collection.environment"), ("files", {"rows.jsonl": 1}, "files.rows.jsonl"),
    ("notes", [], "notes")])
def test_a_manifest_of_another_form_is_refused_by_its_place(folder, place, value, named):
    path = folder / "query_set.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), place: value}))
    with pytest.raises(CollectionError, match=f"'{named}' is missing or of another type"):
        freeze(folder)


@pytest.mark.parametrize("line", ["{}", '{"item": 1, "stratum": "EP"}', '{"item": ["r1"], "stratum": "EP"}', '{"item": "r1"}'])
def test_a_sample_of_another_form_is_refused(folder, line):
    restated(folder, "audit.jsonl", line + "\n")
    with pytest.raises(BuildError, match="line 1 is no item to be judged"):
        freeze(folder)


@pytest.mark.parametrize("item", [["r1"], {}, None, 1])
def test_a_judgement_of_no_item_is_refused(folder, item):
    judge_all(folder)
    lines = [json.loads(line) for line in (folder / JUDGED).read_text().splitlines()]
    (folder / JUDGED).write_text("".join(json.dumps({**line, "item": item}) + "\n" for line in lines))
    with pytest.raises(BuildError, match="line 1 judges what is not in the sample"):
        freeze(folder)


def test_lines_that_are_no_objects_are_refused(folder):
    (folder / "lost.jsonl").write_text('{}\n"x"\n')
    with pytest.raises(BuildError, match="line 2 is no JSON object"):
        read_lines(folder / "lost.jsonl")
