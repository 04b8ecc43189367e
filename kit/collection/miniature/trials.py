"""The miniature's papers: a folder such as users have of the Patent Trial and Appeal Board, made up.

JSON of both generations of the interface, texts of decisions and petitions, and mapping tables that lead
from the numbers in them to documents of the miniature. Every trial, party, name and number is invented.
`write_papers` says what is to be found, so that a test can hold a builder to it. Among the trials are
those that are to be left out, among the references those that lead nowhere.
"""

import json
from pathlib import Path

from kit.collection.miniature.draw import draw, some

NAMES = ("Arden Brisk Cole Dunmore Eastey Farrow Gault Hollis Irwin Jessop Kerr Lund Moss Norwell Oakes Penhale "
         "Quent Rudd Selby Tolland Upjohn Vance Wexler Yardley Zeller Ashdown Birch Carrow Denholm Elgin").split()
PARTIES = ("Glimmer Tools, Inc.", "Oakmere LLC", "Vexley Corp.", "Northfold Ltd.", "Pinion Works GmbH")
TRIALS = 36  # challenges that are read; some others are to be left out
STYLES = ("table", "turned table", "sentences", "petition", "outcomes", "headings")
EXTRAS = ("foreign", "no patent", "provisional", "before 1976", "not in the table", "no definition of the name",
          "own publication", "ambiguous", *[None] * 8)
LOSSES = {"own publication": "same application or family"}


def write_papers(folder: Path, documents: dict[str, int | None]) -> dict:
    """Writes `papers/` and three tables beside it; returns what they hold.

    documents: {id of the corpus: how many claims it has, None where they are not all known}, at least 200.
    The result: `golds` {challenged document: documents}, `lost` {reason: references}, `left_out` {reason:
    trials}, `doubts` the trials of which a ground's claims lost their dash.
    """
    papers = Path(folder) / "papers"
    papers.mkdir(parents=True)
    held = sorted(documents)
    rows = {name: _numbers(n) for n, name in enumerate(held)}
    told: dict = {"golds": {}, "lost": {}, "left_out": {}, "doubts": []}
    modern, older = [], []
    for n in range(TRIALS):
        trial = _trial(n, held, rows, documents, told)
        (older if n % 3 == 2 else modern).append(trial)
        _write(papers / f"{trial['paper']}.txt", trial["text"])
    _left_out(papers, modern, older, told, rows[held[-1]])
    _write_json(papers / "proceedings.json", {"count": len(modern), "patentTrialProceedingDataBag": [
        _proceeding(trial) for trial in modern]})
    _write_json(papers / "documents.json", {"count": len(modern), "patentTrialDocumentDataBag": [
        {**_proceeding(trial), "documentData": _document(trial)} for trial in modern]})
    _write_json(papers / "hub" / "proceedings.json", {"results": [_flat(t) for t in older] + _appeals(),
                                                      "recordTotalQuantity": len(older) + 2})
    _write_json(papers / "hub" / "documents.json", {"results": [
        {**_flat(t), **_flat_document(t)} for t in older], "recordTotalQuantity": len(older)})
    _write_tables(folder, rows)
    return told


def _numbers(n: int) -> dict:
    """The invented numbers of the n-th document."""
    return {"application": f"15{200_000 + 37 * n:06d}", "patent": f"{9_100_000 + 211 * n}",
            "publication": f"2017{100_000 + 53 * n:07d}"}


def _trial(n: int, held: list[str], rows: dict, counts: dict, told: dict) -> dict:
    """The n-th trial: what its JSON says, and its text. Every twelfth challenges the patent before."""
    at = n - 1 if n % 12 == 11 else n
    challenged = held[5 * at]
    number, style = f"IPR2031-{401 + 7 * n:05d}", STYLES[n % len(STYLES)]
    golds = some([d for d in held[200:] if d != held[-1]], 1 + draw(3, number, "golds"), number, "golds")
    names = some(NAMES, len(golds) + 1, number, "names")
    references = [_reference(name, rows[gold], 1005 + i, draw(4, number, gold))
                  for i, (name, gold) in enumerate(zip(names, golds))]
    extra = EXTRAS[n % len(EXTRAS)]
    if extra:
        references.append(_extra(extra, names[-1], rows[challenged], number, 1005 + len(golds)))
        told["lost"].setdefault(LOSSES.get(extra, extra), []).append(f"{number} {names[-1]}")
    known = told["golds"].setdefault(challenged, [])
    known += [gold for gold in golds if gold not in known]
    kind = {"petition": "petition", "sentences": "institution", "headings": "institution"}.get(style, "final")
    owner, petitioner = PARTIES[n % 5], PARTIES[(n + 2) % 5]
    spans = _spans(number, counts[challenged], lost=n % 9 == 4)
    if n % 9 == 4:
        told["doubts"].append(number)
    text = _text(number, rows[challenged], style, kind, references, spans, owner, petitioner)
    return {"number": number, "numbers": rows[challenged], "kind": kind, "text": text, "type": "IPR",
            "paper": f"{700_001 + n}", "owner": owner, "petitioner": petitioner}


def _spans(number: str, count: int | None, lost: bool) -> tuple[str, str]:
    """The claims of the first ground and of the second. lost: the first's dash, so that 1–40 reads 140."""
    top = count or 12
    last = max(1, min(2 + draw(5, number, "last"), top - 1))
    one = "1" if last == 1 else f"1–{last}"
    return f"{top}{top + 20}" if lost else one, f"{last + 1}–{top}" if last + 1 < top else f"{max(top, 2)}"


# --- references -----------------------------------------------------------------------------------

def _patent(digits: str) -> str:
    return f"{int(digits):,}"


def _reference(name: str, numbers: dict, exhibit: int, way: int) -> tuple[str, str]:
    """(name, the sentence that defines it), in one of four ways."""
    patent = f"U.S. Patent No. {_patent(numbers['patent'])} B2"
    publication = f"{numbers['publication'][:4]}/{numbers['publication'][4:]}"
    return name, (
        f"{patent}, issued May 6, 2019 (Ex. {exhibit}, “{name}”).",
        f"“{name}” (Ex. {exhibit}) is U.S. Patent Application Publication No. {publication} A1.",
        f"{name}, {patent} (Ex. {exhibit}).",
        f"US {publication} A1 (Ex. {exhibit}) (“{name}”).")[way]


def _extra(kind: str, name: str, challenged: dict, number: str, exhibit: int) -> tuple[str, str]:
    """A reference that leads to no gold, and its definition."""
    own = challenged["publication"]
    some_number = f"7,{draw(900, number, 'a') + 100},{draw(900, number, 'b') + 100}"
    return name, {
        "foreign": f"International Publication No. WO 2004/0{draw(90_000, number) + 10_000} A1 (Ex. {exhibit}, “{name}”).",
        "no patent": f"Ivy {name}, Notes on Hinges, 12 J. INVENTED MECH. 31 (2001) (Ex. {exhibit}, “{name}”).",
        "provisional": f"U.S. Provisional Application No. 61/{some_number[2:]} (Ex. {exhibit}, “{name}”).",
        "before 1976": f"U.S. Patent No. 2,{some_number[2:]} (Ex. {exhibit}, “{name}”).",
        "not in the table": f"U.S. Patent No. {some_number} (Ex. {exhibit}, “{name}”).",
        "no definition of the name": "",
        "own publication": f"US {own[:4]}/{own[4:]} A1 (Ex. {exhibit}, “{name}”).",
        "ambiguous": f"U.S. Patent No. {some_number} (Ex. {exhibit}, “{name}”). It differs from U.S. Patent No. "
                     f"8,{some_number[2:]} (“{name}”)."}[kind]


# --- texts ----------------------------------------------------------------------------------------

_TITLES = {"final": "JUDGMENT\nFinal Written Decision\nDetermining All Challenged Claims Unpatentable\n35 U.S.C. § 318(a)",
           "institution": "DECISION\nGranting Institution of Inter Partes Review\n35 U.S.C. § 314",
           "petition": "PETITION FOR INTER PARTES REVIEW"}


def _text(number: str, challenged: dict, style: str, kind: str, references: list,
          spans: tuple[str, str], owner: str, petitioner: str) -> str:
    own = _patent(challenged["patent"])
    short = own[-3:]
    head = (f"UNITED STATES PATENT AND TRADEMARK OFFICE\n____________\n\nBEFORE THE PATENT TRIAL AND APPEAL BOARD\n"
            f"____________\n\n{petitioner.upper()},\nPetitioner,\n\nv.\n\n{owner.upper()},\nPatent Owner.\n____________\n\n"
            f"{number}\nPatent {own} B2\n____________\n\n{_TITLES[kind]}\n\fI. INTRODUCTION\n")
    return (f"{head}{petitioner} (“Petitioner”) asks for review of claims of U.S. Patent No. {own} B2 "
            f"(Ex. 1003, “the ’{short} patent”). {owner} is the Patent Owner.\n"
            f"A. Related Matters\nThe parties name {owner} v. {petitioner}, No. 1:30-cv-00{draw(900, number) + 100}, "
            f"about U.S. Patent No. 8,{draw(900, number, 1) + 100},204, of which claims 1–3 were held obvious over "
            f"Dray (U.S. Patent No. 5,{draw(900, number, 2) + 100},118) in IPR2029-00{draw(900, number, 3) + 100}.\n"
            f"B. The ’{short} Patent\nThe ’{short} patent cites U.S. Patent No. 6,001,{draw(900, number, 4) + 100}.\n\f"
            f"C. Grounds\n{_grounds(style, [name for name, _ in references], *spans)}\n"
            f"D. The References\n{' '.join(told for _, told in references)}\n\f"
            f"E. Claim Construction\nThe term “hinge” was read so for U.S. Patent No. 8,444,"
            f"{draw(900, number, 5) + 100} (Ex. 2004, “Marsh”). Patent Owner argues that claims 1–12 would not have been "
            "obvious over Marsh.\n")


def _grounds(style: str, names: list[str], one: str, two: str) -> str:
    """The grounds of a trial: the first reference alone, then all of them together."""
    first, rest = names[0], names[1:]
    if style == "petition":
        more = f"Ground 2: Claims {two} are obvious over {' in view of '.join(names)}." if rest else ""
        return f"Ground 1: Claims {one} are anticipated by {first}. {more}"
    if style == "sentences":
        more = (f"; and claims {two} as obvious over {', '.join(names[:-1])} and {names[-1]} under 35 U.S.C. § 103(a)"
                if rest else "")
        return f"Petitioner challenges claims {one} as anticipated by {first} under 35 U.S.C. § 102(b){more}. Pet. 4."
    if style == "headings":
        more = f"2. Obviousness of Claims {two} over {' and '.join(names)}\nWe are persuaded.\n" if rest else ""
        return f"1. Anticipation of Claims {one} by {first}\nWe are persuaded.\n{more}"
    together = ", ".join(f"{name}{2 if i == 0 else ''}" for i, name in enumerate(names))
    if style == "turned table":
        more = f"\n{', '.join(names)}\n§ 103(a)\n{two}" if rest else ""
        return f"Reference(s)\nBasis\nClaims Challenged\n{first}\n§ 102(b)\n{one}{more}\n"
    outcome = style == "outcomes"
    shown = " Claims Shown Unpatentable Claims Not Shown Unpatentable" if outcome else ""
    more = f"\n{two} 103(a) {together}{f' {two}' if outcome else ''}" if rest else ""
    return (f"Claim(s) Challenged 35 U.S.C. § Reference(s)/Basis{shown}\n{one} 102(b) {first}"
            f"{f' {one}' if outcome else ''}{more}\n{'Overall Outcome' if outcome else ''}")


# --- what is to be left out -----------------------------------------------------------------------

def _left_out(papers: Path, modern: list, older: list, told: dict, numbers: dict) -> None:
    """Trials that make no row, each for another reason; none challenges a patent of the others."""
    base = {"numbers": numbers, "owner": PARTIES[0], "petitioner": PARTIES[1], "type": "IPR", "kind": "final"}
    good = _text("IPR2031-00900", numbers, "table", "final", [_reference("Arden", numbers, 1005, 0)],
                 ("1–3", "4"), PARTIES[0], PARTIES[1])
    nothing = good.replace("Claim(s) Challenged", "Nothing").split("C. Grounds")[0] + "C. Costs\nNone.\n"
    odd = {
        ("IPR2031-00901", "no text of a decision or petition"): None,
        ("IPR2031-00902", "broken text layer"): good.replace("The ", "ÿ!#ÿ").replace("e", "ÿ"),
        ("IPR2031-00903", "no ground found"): nothing,
        ("PGR2031-00904", "another type than IPR"): good,
        ("IPR2031-00905", "caption and JSON name two patents"): good.replace(
            f"Patent {_patent(numbers['patent'])}", "Patent 8,000,001")}
    for n, ((number, reason), text) in enumerate(odd.items()):
        trial = {**base, "number": number, "type": number[:3], "paper": f"{800_001 + n}"}
        (older if n % 2 else modern).append(trial)
        told["left_out"].setdefault(reason, []).append(number)
        if text:
            _write(papers / f"{trial['paper']}.txt", text.replace("IPR2031-00900", number))
    lead = modern[0]
    modern.append({**base, "number": "IPR2031-00906", "numbers": lead["numbers"], "paper": "800009"})
    _write(papers / f"{lead['paper']}.txt",
           lead["text"] + "\n1 IPR2031-00906 has been joined with this proceeding.\n")
    told["left_out"]["joined to another trial"] = ["IPR2031-00906"]
    told["left_out"]["ex parte appeal"] = ["2031000101", "2031000102"]


# --- JSON and tables ------------------------------------------------------------------------------

_CATEGORY = {"final": ("FINAL", "Final Written Decision:  original", "JUDGMENT Final Written Decision"),
             "institution": ("INSTITUTION", "Institution Decision:  Grant",
                             "DECISION Granting Institution of Inter Partes Review"),
             "petition": ("PETITION", "Petition:  as filed", "Petition for Inter Partes Review")}


def _proceeding(trial: dict) -> dict:
    return {"trialNumber": trial["number"],
            "trialMetaData": {"trialTypeCode": trial["type"], "petitionFilingDate": "2031-01-15",
                              "institutionDecisionDate": "2031-07-20"},
            "patentOwnerData": {"patentNumber": trial["numbers"]["patent"],
                                "applicationNumberText": trial["numbers"]["application"],
                                "realPartyInInterestName": trial["owner"]},
            "regularPetitionerData": {"realPartyInInterestName": trial["petitioner"]}}


def _document(trial: dict) -> dict:
    category, kind, title = _CATEGORY[trial["kind"]]
    return {"documentCategory": category, "documentTypeDescriptionText": kind, "documentTitleText": title,
            "documentIdentifier": trial["paper"], "documentName": f"{trial['number']} paper.pdf",
            "documentFilingDate": "2032-07-01", "documentOCRText": "UNITED STATES PATENT AND TRADE",
            "filingPartyCategory": "PETITIONER" if trial["kind"] == "petition" else "BOARD"}


def _flat(trial: dict) -> dict:
    return {"proceedingNumber": trial["number"], "proceedingTypeCategory": "AIA Trial",
            "subproceedingTypeCategory": trial["type"], "proceedingFilingDate": "01-15-2031",
            "institutionDecisionDate": "07-20-2031", "respondentPatentNumber": trial["numbers"]["patent"],
            "respondentApplicationNumberText": trial["numbers"]["application"],
            "respondentPatentOwnerName": trial["owner"], "petitionerPartyName": trial["petitioner"]}


def _flat_document(trial: dict) -> dict:
    _, kind, title = _CATEGORY[trial["kind"]]
    return {"documentCategory": "Paper", "documentTypeName": kind.split(":")[0], "documentTitleText": title,
            "documentIdentifier": trial["paper"], "documentName": f"{trial['number']} paper.pdf",
            "documentNumber": "7", "documentFilingDate": "07-01-2032"}


def _appeals() -> list[dict]:
    return [{"proceedingNumber": f"203100010{n}", "proceedingTypeCategory": "Appeal",
             "subproceedingTypeCategory": "REGULAR", "respondentApplicationNumberText": "14123456"}
            for n in (1, 2)]


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def _write_json(path: Path, value: dict) -> None:
    path.parent.mkdir(exist_ok=True)
    _write(path, json.dumps(value, indent=1, ensure_ascii=False) + "\n")


def _write_tables(folder: Path, rows: dict) -> None:
    """`patents.tsv`, `publications.csv` and `documents.tsv`."""
    patents = [f"{row['patent']}\t{row['application']}" for row in rows.values()]
    publications = [f"{row['publication']},{row['application']}" for row in rows.values()]
    documents = [f"{row['application']}\t{name}" for name, row in rows.items()]
    for name, head, lines in (("patents.tsv", "patent_id\tapplication_id", patents),
                              ("publications.csv", "pgpub_id,application_id", publications),
                              ("documents.tsv", "application_id\tdoc_id", documents)):
        _write(Path(folder) / name, "\n".join([head, *lines]) + "\n")


