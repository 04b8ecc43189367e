"""litigation, from papers to a frozen set: the planned golds and losses, and none besides."""

import json
import shutil

import pytest

from kit.building import asserted, litigation, litigation_report, ptab, report
from kit.building.document import Document
from kit.building.grounds import find_grounds
from kit.building.made_trials import claim_counts
from kit.building.judging import SAMPLE, Judging
from kit.building.query_set import freeze, write_query_set
from kit.cli import main
from kit.collection.miniature.trials import write_papers
from kit.collection.sources import open_collection
from kit.errors import BuildError, ParamsError

TABLES = ("patents.tsv", "publications.csv", "documents.tsv")


@pytest.fixture(scope="module")
def papers(tmp_path_factory, mini):
    """A folder of papers and tables, and what they hold."""
    folder = tmp_path_factory.mktemp("papers")
    return folder, write_papers(folder, claim_counts(mini))


@pytest.fixture(scope="module")
def made(papers, mini):
    folder, _ = papers
    return litigation.build(mini, folder / "papers", [folder / name for name in TABLES])


@pytest.fixture(scope="module")
def built(made, tmp_path_factory):
    return write_query_set(made, tmp_path_factory.mktemp("sets") / "trials")


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_every_planned_gold_and_no_other(papers, made):
    _, told = papers
    assert {row["qid"]: sorted(row["gold_apps"]) for row in made.rows} == {
        qid: sorted(golds) for qid, golds in told["golds"].items()}


def test_every_planned_loss_and_no_other(papers, made):
    _, told = papers
    lost = {what: {} for what in (litigation.TRIALS, litigation.REFERENCES)}
    for loss in made.losses:
        lost[loss.what].setdefault(loss.reason, []).append(loss.id)
    assert {reason: sorted(ids) for reason, ids in lost[litigation.REFERENCES].items()} == {
        reason: sorted(ids) for reason, ids in told["lost"].items()}
    assert {reason: sorted(ids) for reason, ids in lost[litigation.TRIALS].items()} == {
        reason: sorted(ids) for reason, ids in told["left_out"].items()}


def test_the_papers_have_every_kind_of_loss(papers):
    assert set(papers[1]["lost"]) == {
        asserted.FOREIGN, asserted.NO_PATENT, asserted.PROVISIONAL, asserted.BEFORE_1976, asserted.NOT_IN_TABLE,
        asserted.NO_DEFINITION, asserted.SAME, asserted.AMBIGUOUS}


def test_all_counts_add_up(made):
    counts = {count.what: count for count in made.counts()}
    assert counts[litigation.REFERENCES].left == sum(len(row["gold_apps"]) for row in made.rows)
    assert counts[litigation.PATENTS].left == len(made.rows)


def test_every_gold_has_its_evidence_in_its_document(papers, made):
    folder, _ = papers
    golds = [(row["qid"], gold) for row in made.rows for gold in row["gold_apps"]]
    assert [(e["qid"], e["gold"]) for e in made.evidence] == golds
    for line in made.evidence:
        for place in (*line["grounds"], line["definition"], line["number_place"]):
            text = (folder / "papers" / place["document"]).read_text(encoding="utf-8")
            assert text[place["start"]:place["end"]] == place["text"]
            assert place["page"] == text[:place["start"]].count("\f") + 1
        assert any(line["name"] in place["text"] for place in line["grounds"])
        assert line["name"] in line["definition"]["text"]


def test_a_query_is_the_challenged_patents_own_claims_and_never_its_own_gold(mini, made):
    row = made.rows[0]
    assert row["text"].split()[:4] == mini.row("corpus", row["qid"])["claims"].split()[:4]
    assert all(row["qid"] not in row["gold_apps"] for row in made.rows) and made.shared_ids


def test_the_whole_text_as_the_query(papers, mini, made):
    folder, _ = papers
    whole = litigation.build(mini, folder / "papers", [folder / name for name in TABLES], view="tacd")
    assert all(len(a["text"]) > len(b["text"]) for a, b in zip(whole.rows, made.rows))
    with pytest.raises(ParamsError):
        litigation.build(mini, folder / "papers", [], view="ai_ab")


def test_incomplete_rows_are_marked_with_what_they_lack(papers, built):
    _, told = papers
    about = {line["qid"]: line for line in lines(built / litigation.ABOUT)}
    lacking = {(name, reason) for reason, ids in told["lost"].items() for name in (i.split()[1] for i in ids)}
    for line in about.values():
        assert line["complete"] == (not line["lacks"])
        assert {(n, reason) for reason, names in line["lacks"].items() for n in names} <= lacking
    assert {line["complete"] for line in about.values()} == {True, False}


def test_claims_that_lost_their_dash_are_doubted_and_no_others(papers, built):
    doubted = [trial["trial"] for line in lines(built / litigation.ABOUT) for trial in line["trials"]
               if any(ground["doubt"] for ground in trial["grounds"])]
    assert sorted(doubted) == sorted(papers[1]["doubts"])


def test_a_row_says_what_it_lacks(made):
    rows, about = {row["qid"]: row for row in made.rows}, made.beside[litigation.ABOUT]
    assert all(("incomplete" in rows[line["qid"]]) != line["complete"] for line in about)
    assert all(reason in rows[line["qid"]]["incomplete"] and name in rows[line["qid"]]["incomplete"]
               for line in about for reason, names in line["lacks"].items() for name in names)


def test_two_trials_of_one_patent_are_one_row(built):
    both = [line for line in lines(built / litigation.ABOUT) if len(line["trials"]) > 1]
    assert len(both) == 3 and all(len({t["trial"] for t in line["trials"]}) == 2 for line in both)


def test_without_the_tables_nothing_is_found(papers, mini):
    folder, _ = papers
    empty = litigation.build(mini, folder / "papers", [folder / "documents.tsv"])
    assert not empty.rows and {loss.reason for loss in empty.losses if loss.what == litigation.REFERENCES} >= {
        asserted.NOT_IN_TABLE, asserted.FOREIGN}


def test_a_family_is_the_same_as_the_challenged_patent(papers, mini, made, tmp_path):
    folder, _ = papers
    row = next(row for row in made.rows if len(row["gold_apps"]) > 1)
    line = next(e for e in made.evidence if e["qid"] == row["qid"])
    own = {a["qid"]: a["application"] for a in made.beside[litigation.ABOUT]}[line["qid"]]
    family = tmp_path / "family.tsv"
    family.write_text(f"application_id\tfamily_id\n{own}\tF1\n{line['application']}\tF1\n")
    again = litigation.build(mini, folder / "papers", [*(folder / name for name in TABLES), family])
    assert {r["qid"]: r["gold_apps"] for r in again.rows}[row["qid"]] == row["gold_apps"][1:]
    assert any(loss.reason == asserted.SAME and line["name"] in loss.id for loss in again.losses)


def test_two_processes_read_what_one_reads(papers):
    records = ptab.read_records(papers[0] / "papers")
    texts = ptab.read_texts(papers[0] / "papers", records)
    assert litigation.read_challenges(records, texts, 2) == litigation.read_challenges(records, texts, 1)


def test_no_text_of_a_folder_is_held(papers):
    texts = ptab.read_texts(papers[0] / "papers", ptab.read_records(papers[0] / "papers"))
    assert texts and not any(text.document for text in texts)


def test_a_row_whose_ground_has_a_name_that_is_not_read_is_incomplete(papers, mini, made, tmp_path):
    folder, _ = papers
    whole = next(line for line in made.beside[litigation.ABOUT] if line["complete"] and {"sentence"} == {
        ground["form"] for trial in line["trials"] for ground in trial["grounds"]})
    shutil.copytree(folder / "papers", tmp_path / "papers")
    path = tmp_path / "papers" / whole["trials"][0]["source"]
    name = whole["trials"][0]["grounds"][0]["names"][0]
    path.write_text(path.read_text(encoding="utf-8").replace(
        "C. Grounds\n", f"C. Grounds\nClaim 1 is unpatentable as obvious over {name} in view of |ones.\n"), encoding="utf-8")
    again = litigation.build(mini, tmp_path / "papers", [folder / name for name in TABLES])
    before, after = ({row["qid"]: row for row in one.rows}[whole["qid"]] for one in (made, again))
    assert sorted(after["gold_apps"]) == sorted(before["gold_apps"])
    assert after["incomplete"] == "name not read: |ones" and "incomplete" not in before
    about = next(line for line in again.beside[litigation.ABOUT] if line["qid"] == whole["qid"])
    assert about["lacks"] == {asserted.UNREAD: ["|ones"]} and not about["complete"]
    assert any(loss.reason == asserted.UNREAD and "in view of |ones" in loss.detail for loss in again.losses)


# --- which document, which trials -----------------------------------------------------------------

DEFINED = " U.S. Patent No. 7,310,001 (“Arden”). U.S. Patent No. 6,210,003 (“Cole”)."
HEAD = "IPR2031-00417 Patent 9,876,501 B2 Before ADA QUILL, Judge. "


def challenge(*texts, number="IPR2031-00417", patent="9876501", joined=()):
    """What is read of one trial, with (kind, filed, text) papers."""
    held = [ptab.text_of(Document(f"{n}", HEAD + text), number, kind, filed) for n, (kind, filed, text)
            in enumerate(texts)]
    trials = {name: ptab.Trial(name, name[:3], patent) for name in (number, *joined)}
    made, lost = litigation.read_challenges(ptab.Records(trials), held)
    return made, {loss.id: loss.reason for loss in lost}


def names_of(challenges):
    return [[r.name for r in c.found.references] for c in challenges]


def test_the_final_decision_comes_before_the_institution_and_the_petition():
    told = "Claims 1–5 are obvious over {}." + DEFINED
    all_three = [(ptab.PETITION, "2031-01-01", told.format("Cole")), (ptab.INSTITUTION, "2031-07-01", told.format("Cole")),
                 (ptab.FINAL, "2032-07-01", told.format("Arden"))]
    assert names_of(challenge(*all_three)[0]) == [["Arden"]]
    assert challenge(*all_three[:2])[0][0].kind == ptab.INSTITUTION
    assert challenge(*all_three[:1])[0][0].kind == ptab.PETITION


def test_of_two_final_decisions_the_earlier_counts():
    told = "Claims 1–5 are obvious over {}." + DEFINED
    made, _ = challenge((ptab.FINAL, "2034-07-01", told.format("Cole")), (ptab.FINAL, "2032-07-01", told.format("Arden")))
    assert names_of(made) == [["Arden"]]


def test_a_source_without_a_ground_or_with_a_broken_layer_is_passed_and_said_so():
    made, _ = challenge((ptab.FINAL, "2032-07-01", "ÿ#!" * 200), (ptab.INSTITUTION, "2031-07-01", "We deny."),
                        (ptab.PETITION, "2031-01-01", "Claims 1–5 are obvious over Arden." + DEFINED))
    assert made[0].kind == ptab.PETITION
    assert made[0].found.passed == {"0": "broken text layer", "1": "no ground found"}


def test_joined_trials_are_one():
    text = "Claims 1–5 are obvious over Arden. IPR2031-00418 has been joined with this proceeding." + DEFINED
    made, lost = challenge((ptab.FINAL, "", text), joined=("IPR2031-00418",))
    assert [c.trials for c in made] == [("IPR2031-00417", "IPR2031-00418")]
    assert lost == {"IPR2031-00418": "joined to another trial"}


def test_a_joined_trial_may_be_named_in_a_ground_of_its_own():
    text = ("Claims 1–5, as IPR2031-00418 says too, are obvious over Arden. IPR2031-00418 has been joined with this "
            "proceeding." + DEFINED)
    assert names_of(challenge((ptab.FINAL, "", text), joined=("IPR2031-00418",))[0]) == [["Arden"]]


@pytest.mark.parametrize("number, patent, text, reason", [
    ("PGR2031-00001", "9876501", "Claims 1 are obvious over Arden." + DEFINED, "another type than IPR"),
    ("IPR2031-00417", "8888888", "Claims 1 are obvious over Arden." + DEFINED, "caption and JSON name two patents"),
    ("IPR2031-00417", "9876501", "Claims 1–5 are unpatentable under 35 U.S.C. § 112 as indefinite.",
     "no ground under §102 or §103"),
    ("IPR2031-00417", "9876501", "Nothing is said.", "no ground found")])
def test_a_trial_that_is_left_out(number, patent, text, reason):
    assert challenge((ptab.FINAL, "", text), number=number, patent=patent) == ([], {number: reason})


@pytest.mark.parametrize("claims, count", [
    ("1. A gate. 2. The gate of claim 1. 3. The gate of claim 2.", 3), ("1. A gate of 2.5 m.", None),
    ("A gate.", None), ("1. A gate. 9. A method.", None), (None, None), ("", None)])
def test_claims_are_counted_only_where_all_are_there(claims, count):
    assert litigation.count_claims(claims) == count


# --- frozen ---------------------------------------------------------------------------------------

def test_it_is_frozen_once_its_golds_are_judged(built, monkeypatch, tmp_path):
    monkeypatch.setenv("KIT_REGISTRY", str(tmp_path / "registry.yaml"))
    judging = Judging(built)
    with pytest.raises(BuildError, match="the audit is not done.*notebooks/16_litigation.ipynb"):
        freeze(built)
    for item in judging.sample:
        assert item["grounds"][0]["text"] and item["definition"]["text"] and item["number"]
        judging.judge(item["item"], dict.fromkeys(litigation.QUESTIONS, True), "a test")
    assert freeze(built)["mode"] == "litigation"
    opened = open_collection(str(built))
    assert opened.query_set["mode"] == "litigation" and opened.shared_ids


def test_the_losses_have_intervals(built):
    table = litigation.losses(built)
    assert table["yes"].sum() == table["n"].iloc[0] and table["reason"].iloc[0] == "kept"
    assert ((table["low"] < table["share"]) & (table["share"] < table["high"])).all()


def test_a_judge_sees_the_evidence_in_either_notebook_and_no_sign_of_a_page(built):
    item = next(one for one in Judging(built).sample if "\f" in one["grounds"][0]["before"])
    page = report._page_of(report.open_built(str(built)))(item)
    assert page == litigation_report.page(item) and item["name"] in page and "\f" not in page


def test_the_page_says_which_files_gave_nothing(built):
    assert litigation_report.unread({}) == "none"
    assert litigation_report.unread({"a.txt": "no trial is stated"}) == "1, a.txt: no trial is stated"
    assert litigation_report.unread(dict.fromkeys("abcd", "why")) == "4, such as a: why; b: why; c: why"
    assert "files of which nothing was read" in litigation_report.facts(built, open_collection(str(built))).data


def test_the_sample_has_at_most_what_is_asked(built, made):
    assert len(lines(built / SAMPLE)) == min(100, len(made.evidence))


def test_the_command_builds_the_same(papers, built, tmp_path, capsys):
    folder, _ = papers
    tables = [arg for name in TABLES for arg in ("--table", str(folder / name))]
    assert main(["build", "litigation", "--collection", "mini", "--papers", str(folder / "papers"), *tables,
                 "--out", str(tmp_path / "trials")]) == 0
    told = capsys.readouterr().out
    assert "trials: 44 came in, 36 left" in told and "1 lost: joined to another trial" in told
    assert "Judge its audit in notebooks/16_litigation.ipynb" in told
    for name in ("rows.jsonl", "evidence.jsonl", "lost.jsonl", litigation.ABOUT, SAMPLE):
        assert (tmp_path / "trials" / name).read_bytes() == (built / name).read_bytes()


# --- the real samples -----------------------------------------------------------------------------

def test_on_the_real_samples_nothing_is_taken_but_the_grounds(shared):
    """Only t01 has grounds: two rows of a table, on one name that the passage does not define."""
    folder = shared / "data" / "ptab"
    texts = {text.name: text for text in ptab.read_texts(folder, ptab.read_records(folder))}
    for name, text in texts.items():
        document = text.read()
        found = find_grounds(document, "".join(text.patents[:1]), frozenset({text.trial}))
        told = [(len(g.claims.numbers), g.statutes, [n.text for n in g.names]) for g in found.grounds]
        assert told == ([(15, ("102",), ["Wallace"]), (22, ("103",), ["Wallace"])] if "t01" in name else []), name
        assert not found.left_out and not found.broken
        assert bool(document.fault) == ("t13" in name)


def test_the_real_samples_make_no_gold(shared):
    folder = shared / "data" / "ptab"
    records = ptab.read_records(folder)
    made, lost = litigation.read_challenges(records, ptab.read_texts(folder, records))
    assert len(records.trials) == 13 and len(records.appeals) == 25 and not records.odd
    assert [(c.trial.number, c.trial.patent, c.kind) for c in made] == [("IPR2020-00002", "8257723", ptab.FINAL)]
    assert [(r.name, r.loss) for c in made for r in c.found.references] == [("Wallace", asserted.NO_DEFINITION)]
    reasons = {loss.id: loss.reason for loss in lost}
    assert reasons["IPR2022-00795"] == "broken text layer" and reasons["PGR2024-00053"] == "another type than IPR"
