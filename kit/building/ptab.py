"""Patent Trial and Appeal Board: trials and papers from a folder of its JSON, and the texts beside it.

Two generations of the interface: the Open Data Portal's bags of nested rows (dates as 2031-05-06), and
the older developer hub's `results` of flat rows (05-06-2031). A file may hold proceedings, documents or
decisions; what describes one trial comes together by its number.

A text belongs to a paper whose identifier is the file's name, or whose document name is; else to the
trial that its name or its opening states. Its kind is the paper's, else what its title says. The JSON's
own `documentOCRText` ends after some 500 characters and is never read as a text.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from kit.building import numbers
from kit.building.document import Document, read_document
from kit.errors import BuildError
from kit.files import regular
from kit.progress import steps

BAGS = ("patentTrialProceedingDataBag", "patentTrialDocumentDataBag", "patentTrialDecisionDataBag", "results")
FINAL, INSTITUTION, PETITION, OTHER = "final written decision", "institution decision", "petition", "other"
ORDER = (FINAL, INSTITUTION, PETITION)
SAS = "2018-04-24"  # since then the Board institutes on all grounds or on none
HEAD = 3_000  # characters of a text in which its title stands
TRIAL = re.compile(r"\b(?:IPR|PGR|CBM|DER)\d{4}-\d{5}\b")


@dataclass(frozen=True)
class Paper:
    """One document of a trial. filed: YYYY-MM-DD or "". kind: of ORDER, or OTHER."""

    identifier: str
    name: str
    title: str
    kind: str
    filed: str = ""


@dataclass(frozen=True)
class Trial:
    """number: such as IPR2031-00417. type: IPR, PGR, CBM, DER, or what else the JSON says. patent,
    application: the challenged, in their one form, "" where not stated. filed, instituted: YYYY-MM-DD."""

    number: str
    type: str
    patent: str = ""
    application: str = ""
    filed: str = ""
    instituted: str = ""
    papers: tuple[Paper, ...] = ()


@dataclass(frozen=True)
class Text:
    """A text and what it is of. trial is "" where nothing says it. trials, patents: of its caption.
    joined: trials that it says were joined with its own. path: of its file; only a text without one is
    held in `document`, since all of a folder's texts fill a machine's memory."""

    name: str
    trial: str
    kind: str
    filed: str = ""
    trials: tuple[str, ...] = ()
    patents: tuple[str, ...] = ()
    joined: tuple[str, ...] = ()
    path: Path | None = None
    document: Document | None = None

    def read(self) -> Document:
        """The text itself. Raises BuildError for a file that can't be read."""
        return self.document or _read(self.path, self.name)


@dataclass(frozen=True)
class Records:
    """trials: by number. appeals: numbers of ex parte appeals, which are no trials. rows: how many rows
    of JSON were read. odd: {file: why nothing was read of it}."""

    trials: dict[str, Trial]
    appeals: frozenset[str] = frozenset()
    rows: int = 0
    odd: dict[str, str] = field(default_factory=dict)


# --- JSON -----------------------------------------------------------------------------------------

def read_records(folder: Path) -> Records:
    """The trials of every `.json` below a folder. A file that is no JSON of the Board is listed as odd.

    Raises BuildError where there is no such folder.
    """
    if not Path(folder).is_dir():
        raise BuildError("there is no such folder", folder, "Give the folder with the Board's JSON and texts")
    trials: dict[str, Trial] = {}
    appeals, rows, odd = set(), 0, {}
    for path in sorted(Path(folder).rglob("*.json")):
        try:
            told = list(_rows(json.loads(regular(path).read_bytes())))
        except (OSError, ValueError, RecursionError) as error:
            odd[path.relative_to(folder).as_posix()] = f"no JSON: {error}"
            continue
        if not told:
            odd[path.relative_to(folder).as_posix()] = "no rows of proceedings, documents or decisions"
        for row in told:
            rows += 1
            trial = read_row(row)
            if trial is None:
                continue
            if trial.type == "appeal":
                appeals.add(trial.number)
            else:
                trials[trial.number] = _together(trials.get(trial.number), trial)
    return Records(dict(sorted(trials.items())), frozenset(appeals), rows, odd)


def _rows(value) -> Iterator[dict]:
    """The rows of an answer, of a list of answers or of rows."""
    if isinstance(value, dict):
        bags = [value[bag] for bag in BAGS if isinstance(value.get(bag), list)]
        for bag in bags:
            yield from (row for row in bag if isinstance(row, dict))
        if not bags and _number_of(value):
            yield value
    elif isinstance(value, list):
        for one in value:
            yield from _rows(one)


def _number_of(row: dict) -> str:
    return _text(row.get("trialNumber")) or _text(row.get("proceedingNumber"))


def read_row(row: dict) -> Trial | None:
    """The trial that a row of either generation tells of, with its one paper if the row is of one."""
    number = _number_of(row).upper()
    if not number:
        return None
    owner, meta, paper = (_dict(row.get(k)) for k in ("patentOwnerData", "trialMetaData", "documentData"))
    kind = _text(meta.get("trialTypeCode")) or _text(row.get("subproceedingTypeCategory")) or number[:3]
    if _text(row.get("proceedingTypeCategory")).lower() == "appeal" or not TRIAL.fullmatch(number):
        return Trial(number, "appeal")
    paper = paper or (row if row.get("documentIdentifier") else {})
    return Trial(
        number, kind.upper(),
        numbers.patent(_text(owner.get("patentNumber")) or _text(row.get("respondentPatentNumber"))) or "",
        numbers.application(_text(owner.get("applicationNumberText"))
                            or _text(row.get("respondentApplicationNumberText"))) or "",
        _date(meta.get("petitionFilingDate") or row.get("proceedingFilingDate")),
        _date(meta.get("institutionDecisionDate") or row.get("institutionDecisionDate")),
        (_paper(paper),) if paper else ())


def _together(known: Trial | None, more: Trial) -> Trial:
    if known is None:
        return more
    held = {paper.identifier for paper in known.papers}
    fields = ("patent", "application", "filed", "instituted")
    return replace(known, papers=known.papers + tuple(p for p in more.papers if p.identifier not in held),
                   **{name: getattr(known, name) or getattr(more, name) for name in fields})


def _paper(row: dict) -> Paper:
    title, name = _text(row.get("documentTitleText")), _text(row.get("documentName"))
    kind = kind_of_paper(_text(row.get("documentCategory")), _text(row.get("documentTypeDescriptionText"))
                         or _text(row.get("documentTypeName")), title, _text(row.get("filingPartyCategory")))
    return Paper(_text(row.get("documentIdentifier")), name, title, kind, _date(row.get("documentFilingDate")))


_NOT_IT = re.compile(r"rehearing|motion|request|notice|errat|response|reply|opposition|objection|exhibit|"
                     r"director|mandate|order\b.*conduct|scheduling|joint|appeal|terminat|settle|withdraw|"
                     r"power of attorney|refund", re.IGNORECASE)
_INSTITUTION = re.compile(r"institution decision|trial instituted|decision[^;]{0,80}institut|"
                          r"(?:grant|den)(?:ing|ied|y)?[^;]{0,40}institut|institut\w*[^;]{0,40}"
                          r"(?:grant|den(?:y|ied))", re.IGNORECASE)


def kind_of_paper(category: str, type_name: str, title: str, party: str = "") -> str:
    """Which of the three sources a paper is, by its category, type and title; else OTHER."""
    told = f"{type_name}; {title}"
    if category.lower().startswith("exhibit") or type_name.lower() == "exhibit":
        return OTHER
    if category.upper() == "PETITION" or re.match(r"\W*(?:corrected |revised )?petition\b(?!er)", title, re.I):
        petition = party.upper() != "PATENT OWNER" and not re.search(r"rehearing|motion|notice", title, re.I)
        return PETITION if petition else OTHER
    of_board = party.upper() in ("", "BOARD")
    if of_board and re.search(r"final (?:written )?decision", told, re.I) and not re.search(
            r"rehearing|motion for|request|notice|errat|appeal", title, re.I):
        return FINAL
    if of_board and _INSTITUTION.search(told) and not _NOT_IT.search(
            re.sub(r"motion for joinder", "", title, flags=re.I)):
        return INSTITUTION
    return OTHER


def _text(value) -> str:
    return value.strip() if isinstance(value, str) else str(value) if isinstance(value, int) else ""


def _dict(value) -> dict:
    return value if isinstance(value, dict) else {}


def _date(value) -> str:
    """YYYY-MM-DD of either generation's date; "" for what is none."""
    text = _text(value)[:10]
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
        return text
    found = re.fullmatch(r"(\d{2})-(\d{2})-(\d{4})", text)
    return f"{found[3]}-{found[1]}-{found[2]}" if found else ""


# --- texts ----------------------------------------------------------------------------------------

def read_texts(folder: Path, records: Records) -> list[Text]:
    """Every `.txt` below a folder, with its trial and kind, by path."""
    by_name = {}
    for trial in records.trials.values():
        for paper in trial.papers:
            for name in (paper.identifier, Path(paper.name).stem):
                if name:
                    by_name.setdefault(name.lower(), (trial.number, paper))
    paths = sorted(Path(folder).rglob("*.txt"))
    return [_text_of(path, folder, by_name) for path in steps(paths, "papers found", len(paths))]


def odd_texts(texts: list[Text]) -> dict[str, str]:
    """{file: why nothing is read of it}, of the texts that no trial is read from."""
    told = {text.name: "no trial is stated" if not text.trial else
            "neither a decision that states grounds nor a petition" for text in texts
            if not text.trial or text.kind not in ORDER}
    return dict(sorted(told.items()))


def _text_of(path: Path, folder: Path, by_name: dict) -> Text:
    document = _read(path, path.relative_to(folder).as_posix())
    trial, paper = by_name.get(path.stem.lower(), ("", None))
    if paper is None:
        stems = [part for part in re.split(r"[\s_.]+", path.stem.lower()) if part in by_name]
        trial, paper = by_name[stems[0]] if stems else ("", None)
    head = document.text[:HEAD]
    where = path.relative_to(folder).as_posix().upper().replace("_", " ")
    named = TRIAL.search(where) or TRIAL.search(head)
    kind = paper.kind if paper else OTHER
    made = text_of(document, trial or (named[0] if named else ""),
                   kind if kind != OTHER or paper else kind_of_text(head), paper.filed if paper else "")
    return replace(made, path=path, document=None)


def text_of(document: Document, trial: str, kind: str, filed: str = "") -> Text:
    """A document that is at hand as a text, with its caption and what it was joined with."""
    trials, patents = caption(document)
    return Text(document.name, trial, kind, filed, tuple(trials), tuple(patents), tuple(joined_to(document)),
                document=document)


def _read(path: Path, name: str) -> Document:
    try:
        return read_document(path, name)
    except OSError as error:
        raise BuildError(f"the text can't be read: {error.strerror}", path, "Mend or remove the file") from error


def kind_of_text(head: str) -> str:
    """Which of the three sources a text is, by the title in its opening."""
    plain = " ".join(head.replace("`", " ").split())
    title = re.split(r"\bI?\.? ?INTRODUCTION\b|\bBackground and Summary\b", plain)[0][:2_000]
    if re.search(r"\bORDER\b|[Rr]ehearing|REHEARING", title) and not re.search("PETITION FOR INTER", title):
        return OTHER
    if re.search(r"Final Written Decision|FINAL WRITTEN DECISION", title):
        return FINAL
    if re.search(r"DECISION.{0,120}?[Ii]nstitut|DECISION.{0,60}?INSTITUT|Institution of Inter Partes Review",
                 title):
        return INSTITUTION
    if re.search(r"PETITION (?:FOR|REQUESTING) INTER PARTES REVIEW|Petition for Inter Partes Review of", title):
        return PETITION
    return OTHER


_CAPTION = re.compile(r"\b(?:Patent|PATENT|US|U\.S\.)(?: No\.| NO\.)? ((?:RE|D|PP)?\d{1,2}(?:,\d{3}){1,2})")
_JOINED = re.compile(r"\b((?:IPR)\d{4}-\d{5})\b[^.]{0,160}?\b(?:has|have|had|was|were) (?:also )?(?:been )?"
                     r"(?:joined|consolidated)\b")


def caption(document: Document) -> tuple[list[str], list[str]]:
    """(trials, patents) of a text's caption: what stands before the judges, else before the first heading."""
    head = " ".join(document.text[:HEAD].replace("`", " ").split())
    head = re.split(r"\bBefore [A-Z]{2,}|\bINTRODUCTION\b|TABLE OF CONTENTS", head)[0]
    patents = [numbers.patent(found[1]) for found in _CAPTION.finditer(head)]
    return list(dict.fromkeys(TRIAL.findall(head))), list(dict.fromkeys(p for p in patents if p))


def joined_to(document: Document) -> list[str]:
    """The trials that a text says were joined with its own."""
    text = document.text
    near = (Document("", text[max(0, found.start() - 600):found.end() + 20]) for found in _JOINING.finditer(text))
    return list(dict.fromkeys(found[1] for one in near for found in _JOINED.finditer(one.plain)))


_JOINING = re.compile(r"\b(?:join|consol)")  # the rest of the word may stand on the next line
_PARTLY = re.compile(r"(?:\bnot|\bno|\bonly|\bdecline\w*|\bexcept)\b[^.]{0,60}\binstitut\w+|"
                     r"\binstitut\w+[^.]{0,60}\b(?:only|limited to|but not|not as to|except)\b", re.IGNORECASE)


def is_partial(trial: Trial, document: Document) -> bool:
    """Whether the Board instituted in part: before SAS Institute v. Iancu, and a sentence that says so."""
    return bool(trial.instituted) and trial.instituted < SAS and bool(_PARTLY.search(document.plain))
