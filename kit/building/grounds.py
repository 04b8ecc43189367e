"""The grounds that a decision or a petition states: claims, statute, names of references.

A table, as flattened text has it, has no borders: its header tells the order of its columns, the
statute is the anchor, and claims and names stand beside it. Where a document has no table that reads
to its end, sentences are read: `anticipated by`, `obvious over A in view of B`, `Ground 1: …`. A
sentence about another proceeding, patent or the prosecution is none of a ground.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

from kit.building.cells import BETWEEN, LEFT_OUT, SOUGHT, Cells, Claims, Name
from kit.building.document import Document
from kit.building.references import Names

SKIPPED = 14  # tokens between two rows of a table: outcomes, digits of footnotes
REACH = 40  # tokens from "obvious" to "over", and from the names back to an active verb
ORDER = {"claim": "C", "claims": "C", "u.s.c": "S", "statute": "S", "statutory": "S", "§": "S",
         "statutes": "S", "reference": "R", "references": "R", "art": "R", "combination": "R"}
HEADER = frozenset("challenged ( ) s ground grounds no . # / prior instituted relied upon on asserted number "
                   "under for 35 basis bases shown not unpatentable patentable overall outcome alleged of "
                   "proposed : petition's petitioner's prior".split())


@dataclass(frozen=True)
class Ground:
    """form: table or sentence. start, end: of the sentence or row, in the plain reading."""

    claims: Claims
    statutes: tuple[str, ...]
    names: tuple[Name, ...]
    form: str
    start: int
    end: int


@dataclass(frozen=True)
class Found:
    """What a document says of grounds. left_out: its §101 and §112 grounds, by their statute.
    broken: places where a table's row could not be read."""

    grounds: list[Ground]
    left_out: list[str]
    broken: list[int]


def find_grounds(document: Document, challenged: str = "", trials: frozenset[str] = frozenset(),
                 others: tuple[Names, ...] = (), claim_count: int | None = None,
                 names: Names | None = None) -> Found:
    """The grounds of a document, each once, in its order.

    challenged: the patent's number in its one form. trials: the numbers that are this trial's own.
    others: the names of other documents of the trial; names: those of this one, if they are read already.
    """
    cells = Cells(document, names or Names(document), others, claim_count)
    tables = _Tables(cells)
    rows, left_out = list(tables.rows()), list(tables.left_out)
    if not rows or tables.broken:
        sentences = _Sentences(cells, challenged, trials)
        rows += list(sentences.grounds())
        left_out += sentences.left_out
    return Found(_once(rows), sorted(set(left_out)), tables.broken)


def _once(grounds: list[Ground]) -> list[Ground]:
    kept = {}
    for ground in grounds:
        names = frozenset(_same(name) for name in ground.names)
        kept.setdefault((names, ground.statutes, ground.claims.numbers or ground.claims.stated), ground)
    return list(kept.values())


def _same(name: Name) -> str:
    return name.number.value if name.number else name.text.lower()


# --- tables ---------------------------------------------------------------------------------------

_FIRST = frozenset("crgsb35pian§0123456789")  # of the words of a header, and of claims


class _Tables:
    def __init__(self, cells: Cells):
        self.cells, self.left_out, self.broken = cells, [], []

    def rows(self):
        """The rows of every table, behind headers and without one."""
        at, low = 0, self.cells.low
        while at < len(low):
            if not (low[at][0] in _FIRST or self.cells.may_be_defined(at)):
                at += 1  # as most words
                continue
            end, order = self._header_at(at)
            if order:
                for row, end in self._rows_at(end, order):
                    if row:
                        yield row
            if end > at:  # of a header, or of words that are none: nor is a part of them
                at = end
                continue
            row = self._bare_row_at(at)
            if row:
                yield row[0]
            at = row[1] if row else at + 1

    def _header_at(self, i: int) -> tuple[int, str]:
        """Behind the words of a header, and the order of its columns; "" where they are no header."""
        cells = self.cells
        if cells.tokens[i].text[0] not in "CRGSB35PIAN§" or not (
                cells.low[i] in ORDER or cells.low[i] in HEADER or cells.low[i].startswith("u.s.c")):
            return i, ""
        order, at, last = "", i, i
        while at < min(i + 40, len(cells.tokens)):
            word = cells.word(at)
            capital = not cells.tokens[at].text[0].islower() or word in ("s",)
            if word in ORDER and capital or word.startswith("u.s.c") and capital:
                order += ORDER.get(word, "S")
                last = at + 1
            elif word in HEADER and (capital or word in ("s", "for", "of", "under", "upon", "on", "relied")):
                if word in ("basis", "bases"):
                    order += "B"
                if word not in ("35", "no"):
                    last = at + 1
            elif word.isdigit() and len(word) == 1 and cells.glued(at):
                last = at + 1  # the digit of a footnote
            else:
                break
            at += 1
        return last, _columns(order)

    def _rows_at(self, i: int, order: str):
        """(row or None for a §101 or §112 one, the token behind it) as far as rows follow."""
        at, since = i, 0
        while since <= SKIPPED and at + since < len(self.cells.tokens):
            read = self._row_at(at + since, order)
            if read:
                row, at = read
                since = 0
                yield row, at
            elif "CS" in order and self._half_row_at(at + since):
                self.broken.append(self.cells.tokens[at + since].start)
                return
            else:
                since += 1

    def _half_row_at(self, i: int) -> bool:
        """Whether claims and a statute of a row stand here, though it can't be read."""
        claims = self.cells.claims_at(i)
        statute = self.cells.statute_at(claims[0]) if claims else None
        return bool(statute and statute[2] and set(statute[1]) & set(SOUGHT))

    def _row_at(self, i: int, order: str) -> tuple[Ground | None, int] | None:
        cells, at, got = self.cells, i, {}
        for column in order:
            if column == "C":
                read = cells.claims_at(at)
            elif column == "S":
                while cells.word(at) in (",", "under", ":") and at - i < 60 and got:
                    at += 1
                read = cells.statute_at(at, loose=True)
            else:
                while cells.word(at) in (":", "-", ";") and got:
                    at += 1
                read = self._names_at(at)
                if not read and set(got.get("S", [()])[0]) & set(LEFT_OUT):
                    read = (at, (), False)
            if not read:
                return None
            at, got[column] = read[0], read[1:]
        return self._made(i, at, got)

    def _names_at(self, i: int):
        """The names of a cell; a semicolon may stand between them."""
        read = self.cells.names_at(i)
        while read and self.cells.word(read[0]) == ";" and self.cells.is_defined(read[0] + 1):
            end, names, open_end = self.cells.names_at(read[0] + 1)
            read = end, read[1] + names, open_end
        return read

    def _made(self, start: int, end: int, got: dict) -> tuple[Ground | None, int]:
        cells, claims, statutes = self.cells, got["C"][0], got["S"][0]
        names, open_end = got["R"][0], got["R"][1]
        sought = tuple(s for s in statutes if s in SOUGHT)
        self.left_out += [s for s in statutes if s in LEFT_OUT]
        if not sought or not names:
            return None, end
        if open_end:  # a cell of claims and a cell of names were each broken over two lines
            more = cells.claims_at(end + (cells.word(end) in (",", "and")))
            rest = cells.names_at(more[0]) if more else None
            if rest and not cells.statute_at(more[0], loose=True):
                end, names = rest[0], names + rest[1]
                claims = Claims(f"{claims.stated} … {more[1].stated}", doubt="a cell over two lines")
        place = (cells.tokens[start].start, cells.tokens[end - 1].end)
        return Ground(claims, sought, names, "table", *place), end

    def _bare_row_at(self, i: int) -> tuple[Ground, int] | None:
        """A row without a header: claims, a statute with its sign, and a defined name, side by side; or
        names, statute, claims."""
        cells = self.cells
        if cells.word(i - 1) not in BETWEEN and cells.is_defined(i):
            names = cells.names_at(i)
            statute = cells.statute_at(names[0]) if names else None
            read = self._row_at(i, "RSC") if statute and statute[2] else None
            return read if read and read[0] else None
        if not cells.word(i)[:1].isdigit() or cells.word(i - 1) in (",", "-", "§", "and", "u.s.c") or (
                cells.glued(i)):
            return None
        claims = cells.claims_at(i)
        statute = cells.statute_at(claims[0], loose=True) if claims else None
        if not statute or not statute[2] or cells.word(claims[0]) in ("under", ","):
            return None
        if not cells.is_defined(statute[0]):
            return None
        read = self._row_at(i, "CSR")
        return read if read and read[0] else None


def _columns(order: str) -> str:
    """The order of claims C, statute S and references R, each by its first word; "" if one lacks.

    "Basis" is the statute's column, unless the header names the statute besides.
    """
    if "S" in order.replace("B", "") and "R" in order:
        order = order.replace("B", "")
    elif "S" in order:
        order = order.replace("B", "R")
    else:
        order = order.replace("B", "S")
    kept = "".join(dict.fromkeys(order))
    return kept if len(kept) == 3 else ""


# --- sentences ------------------------------------------------------------------------------------

VERBS = {"anticipated": ("102",), "anticipation": ("102",), "obvious": ("103",), "obviousness": ("103",),
         "unpatentable": (), "unpatentability": (), "invalid": (), "invalidity": ()}
ACTIVE = {"anticipates": "102", "anticipate": "102", "renders": "103", "render": "103",
          "rendered": "103"}
AUXILIARY = frozenset("would have also thus therefore together collectively either does do not , and as "
                      "each both independently likewise "
                      "combination combinations references".split())
LINKS = frozenset("under pre-aia as being having been be is are was were would have rendered the subject "
                  "matter of , "
                  "( ) pursuant to for reason because and or either alternatively in alternative on ground "
                  "grounds basis that at least it they challenged claim claims - : each '".split())
_ELSEWHERE = re.compile(
    r"\b(?:examiner|ex parte|prosecution|office action|applicants? (?:overcame|argu\w+|amend\w+|distinguish\w+)|"
    r"substitute claims?|notice of allowance|(?:invalidity|infringement) contentions|opposition division|"
    r"counterpart|"
    r"petitioners? (?:does|do|did) not (?:contend|assert|argue|allege|challenge)|ITC|"
    r"International Trade Commission|administrative law judge|"
    r"the court (?:held|found|conclu\w+|affirm\w+)|re-?examin\w*|rejected|rejections?|district court|"
    r"federal circuit|"
    r"litigation|co-?pending|parent (?:application|patent)|complaint|jury|infring\w+|"
    r"(?:related|another|other|earlier|prior|previous|different|separate|parallel|companion|sister) "
    r"(?:proceedings?|matters?|cases?|patents?|petitions?|trials?|iprs?|inter partes)|"
    r"patent owner's (?:expert|declarant|witness|counsel|position|argument|contention|view|theory)\w*|"
    r"patent owner (?:argue|contend|assert|respond|disagree|state|submit|maintain|dispute|conclude|note|"
    r"point)\w*)\b", re.IGNORECASE)
_TRIAL = re.compile(r"\b(?:IPR|PGR|CBM|DER)\d{4}-\d{5}\b")
_OTHER_TRIAL = re.compile(r"\b(\d{3,5}) (?:IPR|PGR|[Pp]etition|[Pp]roceeding)\b")
_OTHER_PATENT = re.compile(
    r"'(?P<whose>\d{3}) patent(?:'s|,? whose|,? of which) claims?\b|"
    r"(?<!view )(?<!light )(?<!combination )(?<!teachings )\bof (?:the )?(?:U\.? ?S\.? )?(?:(?:Patent|"
    r"Pat\.) (?:Nos?\. ?)?)?(?:['°*](?P<tail>\d{3})\b|"
    r"(?P<number>(?:RE|D|PP)?\d{1,2}(?:,\d{3}){1,2}))")
_LABEL = re.compile(r"\bGrounds? (?:No\. ?)?(?:[0-9]{1,2}[A-Ha-h]?|[IVX]{1,4}|[A-H])\b", re.IGNORECASE)

class _Sentences:
    def __init__(self, cells: Cells, challenged: str, trials: frozenset[str]):
        self.cells, self.plain = cells, cells.document.plain
        self.challenged, self.trials, self.left_out = challenged, trials, []
        self._judged: dict[int, bool] = {}

    def grounds(self):
        """The grounds of all sentences."""
        at = 0
        while at < len(self.cells.tokens):
            word, read = self.cells.low[at], None
            if word in VERBS:
                read = self._passive(at)
            elif word in SOUGHT and self.cells.word(at - 1) in ("§", "u.s.c", ".", "section"):
                read = self._passive(at, "")  # "claims 1-5 under § 103(a) over A"
            if not read and (word in ACTIVE or word == "obvious"):
                read = self._active(at)
            if read:
                end, ground = read
                own = ground and self._is_own(self.cells.tokens[at].start)
                while ground:
                    if own:
                        yield ground
                    end, ground = self._further(end, ground)
                at = max(end, at + 1)
            else:
                at += 1
        yield from self._labelled()
        self._other_statutes()

    # --- where it stands

    def _is_own(self, place: int) -> bool:
        """Whether the sentence at the place speaks of this trial's own grounds."""
        if self.cells.names.is_away(place):
            return False
        start, end = self.cells.document.sentence(place)
        if start not in self._judged:
            self._judged[start] = self._fits(self.plain[start:end])
        return self._judged[start]

    def _fits(self, sentence: str) -> bool:
        if any(found[0] not in self.trials for found in _TRIAL.finditer(sentence)) and self.trials:
            return False
        if any(not trial.endswith(of[1]) for of in _OTHER_TRIAL.finditer(sentence) for trial in self.trials):
            return False
        if self.challenged:
            for other in _OTHER_PATENT.finditer(sentence):
                digits = re.sub(r"\D", "", other["whose"] or other["tail"] or other["number"])
                of_claims = other["whose"] or "claim" in sentence[:other.start()].lower()[-90:]
                if not self.challenged.endswith(digits) and of_claims:
                    return False
        return bool(_LABEL.search(sentence)) or not _ELSEWHERE.search(sentence)

    @cached_property
    def _claims(self) -> list[tuple[int, int, Claims]]:
        """(first token, token behind, claims) of each `claims 1-5`, and of all of them without numbers."""
        made, at = [], 0
        while at < len(self.cells.tokens):
            end = at + 1
            if self.cells.low[at] in ("claims", "claim"):
                read = self.cells.claims_at(at)
                if read:
                    made.append((at, *read))
                    end = read[0]
                elif {"challenged", "all"} & set(self.cells.low[max(0, at - 2):at]):
                    made.append((at, at + 1, Claims("the challenged claims", doubt="not stated by number")))
            at = end
        return made

    def _claims_before(self, i: int, floor: int) -> Claims | None:
        """The last claims between the place `floor` of the plain reading and the token i."""
        n = bisect_right(self._claims, i, key=lambda told: told[0]) - 1
        if n >= 0 and self.cells.tokens[self._claims[n][0]].start >= floor:
            return self._claims[n][2]
        return None

    def _claims_behind(self, i: int, reach: int) -> tuple[int, Claims] | None:
        """The first claims within some tokens behind i."""
        n = bisect_right(self._claims, i - 1, key=lambda told: told[0])
        if n < len(self._claims) and self._claims[n][0] - i <= reach:
            return self._claims[n][1], self._claims[n][2]
        return None

    # --- "obvious over A in view of B"

    def _passive(self, i: int, verb: str | None = None) -> tuple[int, Ground | None] | None:
        """The ground whose verb, or statute, is the token i."""
        cells, at, inferred, stated = self.cells, i, list(VERBS.get(self.cells.low[i]) or ("",)), []
        claims, names = None, None
        start, stop = cells.document.sentence(cells.tokens[i].start)
        at += verb is None
        while at - i < REACH and at < len(cells.tokens) and cells.tokens[at].start < stop:
            word = cells.word(at)
            link = self._link_at(at)
            if link:
                names = cells.names_at(link)
                if names:
                    break
                at = link
            elif word in VERBS and len(inferred) < 6:
                inferred += VERBS[word] or ("",)
                at += 1
            elif word in ("claims", "claim") and (read := cells.claims_at(at)):
                at, claims = read
            elif read := cells.statute_at(at):
                at, told, _ = read
                stated += told
            elif word == "(" and claims and cells.is_defined(at + 1) and self._closes(cells.names_at(at + 1)):
                names = cells.names_at(at + 1)  # "Obviousness of Claim 9 (A and B)"
                break
            elif word in LINKS:
                at += 1
            else:
                break
        if not names:
            return None
        end, named, _ = names
        more = self._statute_behind(end)
        if more:
            end, stated = more[0], stated + list(more[1])
            if {"view", "light", "combination"} & set(cells.low[end:end + 5]) and (rest := cells.names_at(end)):
                end, named = rest[0], named + rest[1]  # "over A under § 103(a) in view of B"
        claims = claims or self._claims_before(i, start)
        if not claims and (behind := self._claims_behind(end, 8)) and self._same_sentence(end, stop):
            claims = behind[1]
        if not claims and _LABEL.search(self.plain, start, cells.tokens[i].start):
            claims = Claims("", doubt="not stated by number")
        if not claims:
            return end, None
        statutes = [s for s in inferred if s] or stated or self._statute_before(i, start)
        sought = tuple(s for s in dict.fromkeys(statutes) if s in SOUGHT)
        return end, Ground(claims, sought, named, "sentence", start, stop)

    def _further(self, i: int, before: Ground) -> tuple[int, Ground | None]:
        """Behind a ground, the next of its kind without a verb of its own: `and claims 6-8 over C`."""
        cells, at = self.cells, i
        if cells.word(at) == "(" and cells.word(at + 1) in ("ground", "grounds", "id", "pet"):
            at = next((k + 1 for k in range(at, at + 12) if cells.word(k) == ")"), at)
        while cells.word(at) in (",", ";", "and", "of") and at - i < 18:
            at += 1
        claims = cells.claims_at(at) if at > i and cells.word(at) in ("claims", "claim") else None
        link = self._link_at(claims[0]) if claims and self._same_sentence(claims[0], before.end) else None
        names = cells.names_at(link) if link else None
        if not names:
            return i, None
        more = self._statute_behind(names[0])
        sought = tuple(s for s in more[1] if s in SOUGHT) if more else before.statutes
        return names[0], Ground(claims[1], sought, names[1], "sentence", before.start, before.end)

    def _closes(self, names: tuple) -> bool:
        return self.cells.word(names[0]) == ")"

    def _same_sentence(self, i: int, stop: int) -> bool:
        return i < len(self.cells.tokens) and self.cells.tokens[i].start < stop

    def _link_at(self, i: int) -> int | None:
        """Behind `by`, `over`, `in view of`, `in light of`, `based on`; names must follow."""
        low = self.cells.low[i:i + 3]
        if low[:1] in (["by"], ["over"], ["from"], ["through"]):
            return i + 1
        if low in (["in", "view", "of"], ["in", "light", "of"]):
            return i + 3
        if low[:2] in (["based", "on"], ["based", "upon"], ["relying", "on"]):
            return i + 2
        return None

    def _statute_behind(self, i: int) -> tuple[int, tuple[str, ...]] | None:
        at = i
        while self.cells.word(at) in (",", "under", "(", "pursuant", "to") and at - i < 4:
            at += 1
        read = self.cells.statute_at(at)
        return read[:2] if read and read[2] else None

    def _statute_before(self, i: int, floor: int) -> list[str]:
        """The statute nearest before the token, in its sentence."""
        for at in range(i - 1, max(i - REACH, -1), -1):
            if self.cells.tokens[at].start < floor:
                break
            if self.cells.word(at)[:3] in SOUGHT and (read := self.cells.statute_at(at)):
                return list(read[1])
        return []

    # --- "A and B render claims 1-5 obvious"

    def _active(self, i: int) -> tuple[int, Ground | None] | None:
        cells, word = self.cells, self.cells.low[i]
        start, stop = cells.document.sentence(cells.tokens[i].start)
        verb = i
        if word == "obvious":
            return None  # read at its verb, "renders"
        statutes = (ACTIVE[word],)
        if ACTIVE[word] == "103" and "obvious" not in cells.low[i:i + REACH]:
            statutes = self._of_unpatentable(i)
            if not statutes:
                return None
        claims = self._claims_behind(i, 8)
        if not claims or cells.tokens[claims[0] - 1].start >= stop:
            return None
        head = next(at for at in range(verb, -1, -1) if cells.word(at - 1) not in AUXILIARY)
        for first in range(max(verb - REACH, cells.behind(start)), head):
            if cells.word(first - 1) in ("and", "of", "view", "with", ",") and first > cells.behind(start):
                continue
            names = cells.names_at(first)
            if names and head <= names[0] <= verb:
                return claims[0], Ground(claims[1], statutes, names[1], "sentence", start, stop)
        return None

    def _of_unpatentable(self, i: int) -> tuple[str, ...]:
        """The statute in "renders claims 1-5 unpatentable under § 103"."""
        for at in range(i, min(i + REACH, len(self.cells.low))):
            if self.cells.low[at] == "unpatentable":
                more = self._statute_behind(at + 1)
                return tuple(s for s in more[1] if s in SOUGHT) if more else ()
        return ()

    # --- "Ground 1: claims 1-5, § 103, A and B"

    def _labelled(self):
        """Labelled grounds whose parts stand side by side, without a verb."""
        cells, tables = self.cells, _Tables(self.cells)
        for label in _LABEL.finditer(self.plain):
            at = cells.behind(label.end())
            first = at
            while at - first < 6 and cells.word(at) in (":", ".", "-", ",", "(", ")", "over", "of"):
                at += 1
            for order in ("CSR", "SRC", "RSC", "CRS", "SCR", "RCS"):
                read = self._loose_row(at, order)
                if read and read[0] and self._is_own(label.start()):
                    row = read[0]
                    yield Ground(row.claims, row.statutes, row.names, "sentence", label.start(), row.end)
                    break
        self.left_out += tables.left_out

    def _loose_row(self, i: int, order: str) -> tuple[Ground | None, int] | None:
        """The three parts in an order, with the signs that stand between them in a heading."""
        cells, at, got = self.cells, i, {}
        for column in order:
            while cells.word(at) in (":", ".", ",", "-", "(", ")", "under", "as", "are", "over", ";", "by", "for",
                                     "against") and at - i < 60:
                at += 1
            read = {"C": cells.claims_at, "S": cells.statute_at, "R": cells.names_at}[column](at)
            if not read:
                return None
            at, got[column] = read[0], read[1:]
        return _Tables(cells)._made(i, at, got)

    def _other_statutes(self) -> None:
        """Counts §101 and §112 grounds that sentences state: claims are unpatentable under them."""
        for at, word in enumerate(self.cells.low):
            if word in LEFT_OUT and (read := self._one(at)):
                start, stop = self.cells.document.sentence(self.cells.tokens[at].start)
                sentence = self.plain[start:stop]
                if (self._claims_before(at, start) and self._is_own(start) and re.search(
                        r"unpatentable|invalid|indefinite|ineligible|written description|enable", sentence)):
                    self.left_out.append(read)

    def _one(self, i: int) -> str:
        marked = self.cells.word(i - 1) in ("§", "section", "sections", "and", ",") and self.cells.statute_at(i)
        return self.cells.low[i] if marked else ""


