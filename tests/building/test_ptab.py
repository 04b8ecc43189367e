"""Both generations of the Board's JSON give one picture; a text finds its trial and its kind."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.building import ptab
from kit.building.document import Document
from kit.building.ptab import FINAL, INSTITUTION, OTHER, PETITION
from kit.errors import BuildError

NEW = {"trialNumber": "IPR2031-00417",
       "trialMetaData": {"trialTypeCode": "IPR", "petitionFilingDate": "2031-01-15",
                         "institutionDecisionDate": "2031-07-20"},
       "patentOwnerData": {"patentNumber": "9876501", "applicationNumberText": "15200417"}}
NEW_PAPER = {**NEW, "documentData": {
    "documentCategory": "FINAL", "documentTypeDescriptionText": "Final Written Decision:  original",
    "documentTitleText": "JUDGMENT Final Written Decision", "documentIdentifier": "171000417",
    "documentName": "00417 FWD.pdf", "documentFilingDate": "2032-07-01", "filingPartyCategory": "BOARD"}}
OLD = {"proceedingNumber": "IPR2031-00417", "proceedingTypeCategory": "AIA Trial", "subproceedingTypeCategory": "IPR",
       "proceedingFilingDate": "01-15-2031", "institutionDecisionDate": "07-20-2031",
       "respondentPatentNumber": "9876501", "respondentApplicationNumberText": "15200417"}
OLD_PAPER = {**OLD, "documentCategory": "Paper", "documentTypeName": "Final Written Decision",
             "documentTitleText": "JUDGMENT Final Written Decision", "documentIdentifier": "171000417",
             "documentName": "00417 FWD.pdf", "documentFilingDate": "07-01-2032"}
APPEAL = {"proceedingNumber": "2031000101", "proceedingTypeCategory": "Appeal", "subproceedingTypeCategory": "REGULAR"}


def folder_of(tmp_path, **files):
    for name, value in files.items():
        path = tmp_path / name.replace("__", ".")
        path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return tmp_path


def test_both_generations_tell_the_same(tmp_path):
    new, old = tmp_path / "new", tmp_path / "old"
    new.mkdir(), old.mkdir()
    folder_of(new, a__json={"patentTrialProceedingDataBag": [NEW]}, b__json={"patentTrialDocumentDataBag": [NEW_PAPER]})
    folder_of(old, a__json={"results": [OLD]}, b__json={"results": [OLD_PAPER]})
    one, other = ptab.read_records(new), ptab.read_records(old)
    assert one.trials == other.trials
    trial, = one.trials.values()
    assert (trial.patent, trial.application, trial.filed, trial.instituted) == (
        "9876501", "15200417", "2031-01-15", "2031-07-20")
    assert [(p.kind, p.filed, p.identifier) for p in trial.papers] == [(FINAL, "2032-07-01", "171000417")]


@pytest.mark.parametrize("bag", ptab.BAGS)
def test_rows_may_stand_in_any_of_the_bags(tmp_path, bag):
    row = OLD_PAPER if bag == "results" else NEW_PAPER
    records = ptab.read_records(folder_of(tmp_path, a__json={"count": 1, bag: [row, row]}))
    assert [len(t.papers) for t in records.trials.values()] == [1]  # once, however often it is told


@pytest.mark.parametrize("value", [[NEW_PAPER], NEW_PAPER, [{"results": [OLD_PAPER]}]], ids=["rows", "row", "answers"])
def test_rows_may_stand_without_a_bag(tmp_path, value):
    assert list(ptab.read_records(folder_of(tmp_path, a__json=value)).trials) == ["IPR2031-00417"]


def test_appeals_are_no_trials(tmp_path):
    records = ptab.read_records(folder_of(tmp_path, a__json={"results": [APPEAL, OLD]}))
    assert records.appeals == {"2031000101"} and list(records.trials) == ["IPR2031-00417"]


def test_odd_files_are_listed_and_the_others_read(tmp_path):
    folder_of(tmp_path, a__json="{", b__json={"other": []}, c__json=[NEW], d__json="[" * 100_000)
    records = ptab.read_records(tmp_path)
    assert list(records.odd) == ["a.json", "b.json", "d.json"] and len(records.trials) == 1


def test_a_text_of_no_trial_or_of_another_kind_is_listed_too(tmp_path):
    folder_of(tmp_path, a__json=[NEW_PAPER])
    for name, text in {"171000417.txt": "whatever it says", "b.txt": "a letter",
                       "c.txt": "IPR2031-00418\nORDER\nConduct of the Proceeding"}.items():
        (tmp_path / name).write_text(text)
    assert ptab.odd_texts(ptab.read_texts(tmp_path, ptab.read_records(tmp_path))) == {
        "b.txt": "no trial is stated", "c.txt": "neither a decision that states grounds nor a petition"}


def test_a_folder_that_is_not_there():
    with pytest.raises(BuildError, match="no such folder"):
        ptab.read_records("nowhere")


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=8), lambda inner: st.lists(
    inner, max_size=4) | st.dictionaries(st.sampled_from(
        ["trialNumber", "proceedingNumber", "trialMetaData", "patentOwnerData", "documentData", "documentIdentifier",
         "patentNumber", "results", *ptab.BAGS, "documentTitleText", "documentFilingDate"]), inner, max_size=6)))
def test_any_json_is_read_without_an_error(value):
    for row in ptab._rows(value):
        ptab.read_row(row)


@pytest.mark.parametrize("category, type_name, title, party, kind", [
    ("FINAL", "Final Written Decision:  original", "JUDGMENT Final Written Decision", "BOARD", FINAL),
    ("FINAL", "Final Written Decision: On remand from the CAFC", "JUDGMENT Final Written Decision", "BOARD", FINAL),
    ("Paper", "Final Decision", "Final Written Decision", "", FINAL),
    ("OTHER", "Other: Fed Circuit mandate", "Other: mandate", "BOARD", OTHER),
    ("ORDER", "Order", "Request for Rehearing of the Final Written Decision", "BOARD", OTHER),
    ("NOTICE", "Notice", "Notice of Appeal of the Final Written Decision", "PATENT OWNER", OTHER),
    ("INSTITUTION", "Institution Decision:  Grant", "DECISION Granting Institution", "BOARD", INSTITUTION),
    ("Paper", "Decision Denying Institution of Inter Partes Review", "Decision", "", INSTITUTION),
    ("Paper", "Institution Decision", "Trial Instituted Document", "", INSTITUTION),
    ("Paper", "Decision", "Decision Denying Motion for Joinder and Denying Institution", "", INSTITUTION),
    ("RESPONSE", "Director Discretionary Decision: Deny", "Director Discretionary Decision: Deny", "BOARD", OTHER),
    ("OTHER", "Order", "Petitioner's Motion to Stay the Decision on Institution", "PETITIONER", OTHER),
    ("PETITION", "Petition:  as filed", "Petition for Inter Partes Review", "PETITIONER", PETITION),
    ("Paper", "Petition", "Petition for Inter Partes Review of U.S. Patent No. 9,876,501", "", PETITION),
    ("Paper", "Petition", "Corrected Petition for Inter Partes Review", "", PETITION),
    ("Paper", "Reply", "Petitioner's Reply to Patent Owner's Response", "", OTHER),
    ("Exhibits", "EXHIBIT", "Petition for Inter Partes Review, IPR2030-00001", "", OTHER),
    ("Paper", "Termination - Settlement After Institution", "DECISION - Motion to Terminate", "", OTHER)])
def test_the_kind_of_a_paper(category, type_name, title, party, kind):
    assert ptab.kind_of_paper(category, type_name, title, party) == kind


@pytest.mark.parametrize("head, kind", [
    ("Paper 9 JUDGMENT\nFinal Written Decision\n35 U.S.C. § 318(a)\nI. INTRODUCTION", FINAL),
    ("FINAL WRITTEN DECISION Incorporating Decisions on Motions", FINAL),
    ("`DECISION\n`Granting Institution of Inter Partes Review\n`A.\n`INTRODUCTION", INSTITUTION),
    ("DECISION TO INSTITUTE\n37 C.F.R. § 42.108", INSTITUTION),
    ("DECISION\nDenying Motion for Joinder and Denying Institution of Inter Partes Review", INSTITUTION),
    ("PETITION FOR INTER PARTES REVIEW\nOF U.S. PATENT NO. 9,876,501", PETITION),
    ("ORDER\nGranting Petitioner’s Request for Rehearing of the Final Written Decision", OTHER),
    ("PATENT OWNER’S PRELIMINARY RESPONSE", OTHER),
    ("Paper 5 NOTICE\nI. INTRODUCTION In the Final Written Decision we said so.", OTHER), ("", OTHER)])
def test_the_kind_of_a_text(head, kind):
    assert ptab.kind_of_text(head) == kind


def test_a_text_is_found_by_its_papers_identifier_or_name_or_by_the_trials_number(tmp_path):
    folder_of(tmp_path, a__json=[NEW_PAPER], **{
        "171000417__txt": "by identifier", "00417 FWD__txt": "by name", "x_IPR2031-00417_petition__txt":
        "PETITION FOR INTER PARTES REVIEW", "other__txt": "IPR2031-00418 DECISION TO INSTITUTE", "lost__txt": "nothing"})
    texts = ptab.read_texts(tmp_path, ptab.read_records(tmp_path))
    assert {t.name: (t.trial, t.kind) for t in texts} == {
        "171000417.txt": ("IPR2031-00417", FINAL), "00417 FWD.txt": ("IPR2031-00417", FINAL),
        "x_IPR2031-00417_petition.txt": ("IPR2031-00417", PETITION),
        "other.txt": ("IPR2031-00418", INSTITUTION), "lost.txt": ("", OTHER)}


def test_a_caption_ends_at_the_judges():
    text = ("IPR2031-00417 and IPR2031-00418 Patent 9,876,501 B2 Before ADA QUILL, Judges. IPR2030-00001 "
            "Patent 8,000,001 B2")
    assert ptab.caption(Document("d", text)) == (["IPR2031-00417", "IPR2031-00418"], ["9876501"])


@pytest.mark.parametrize("text, joined", [
    ("IPR2031-00418 has been joined with this proceeding.", ["IPR2031-00418"]),
    ("1 Vexley Corp., which filed a petition in IPR2031-00418, has been joined as a petitioner.", ["IPR2031-00418"]),
    ("IPR2031-00418 challenges the same claims.", []), ("Vexley has joined us. IPR2031-00418 is pending.", [])])
def test_trials_that_were_joined(text, joined):
    assert ptab.joined_to(Document("d", text)) == joined


@pytest.mark.parametrize("instituted, text, partial", [
    ("2016-05-02", "Claim 4 was not instituted.", True), ("2016-05-02", "We institute only on claims 1–3.", True),
    ("2016-05-02", "We institute a review of claims 1–4.", False), ("2031-05-02", "Claim 4 was not instituted.", False),
    ("", "Claim 4 was not instituted.", False)])
def test_institution_in_part_before_2018(instituted, text, partial):
    trial = ptab.Trial("IPR2015-00001", "IPR", instituted=instituted)
    assert ptab.is_partial(trial, Document("d", text)) == partial
