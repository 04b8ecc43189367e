"""What a trial asserts: its grounds, and the way from each reference's name to a number.

From the ground to the name, from the name to its definition, from the definition to the number; each
step keeps its place. What can't be told apart is not chosen: it is a loss, by its kind.
"""

from dataclasses import dataclass

from kit.building import numbers, ptab
from kit.building.cells import Name
from kit.building.document import Document
from kit.building.grounds import Found, Ground, find_grounds
from kit.building.references import Definition, Names, Number, key

NO_DEFINITION, NO_PATENT, FOREIGN = "no definition of the name", "no patent", "foreign"
PROVISIONAL, REEXAMINATION, AMBIGUOUS = "provisional", "reexamination", "ambiguous"
UNREAD, DAMAGED = "name not read", "damaged number"
BEFORE_1976, NOT_IN_TABLE = "before 1976", "not in the table"
SAME, NOT_IN_CORPUS = "same application or family", "not in the corpus"
AROUND = 160  # characters of a text that evidence shows on either side
ADMITTED = ("aapa", "apa", "admitted prior art")  # and "applicant's admitted prior art"


@dataclass(frozen=True)
class Place:
    """Evidence: of which document, where in its text, and what stands there.

    page: from 1, None where the text marks no pages. text == the document's text[start:end]; before and
    after are the AROUND characters beside it.
    """

    document: str
    page: int | None
    start: int
    end: int
    text: str
    before: str = ""
    after: str = ""

    def as_dict(self) -> dict:
        """As a line of the evidence has it."""
        return vars(self).copy()


@dataclass(frozen=True)
class Candidate:
    """A number that a name may stand for, with the sentence that says so and the number's own place."""

    number: Number
    definition: Place
    place: Place


@dataclass(frozen=True)
class Reference:
    """A name that a ground asserts. candidates: more than one where definitions differ. loss: why none
    of them can be a gold, as far as the text tells; empty if one may be. grounds: where it is asserted."""

    name: str
    statutes: tuple[str, ...]
    grounds: tuple[Place, ...]
    candidates: tuple[Candidate, ...]
    loss: str = ""
    detail: str = ""


@dataclass(frozen=True)
class Asserted:
    """source: the document whose grounds these are, None where no document has one. passed: {document:
    why its grounds are not taken}, of those that stand before it in the order."""

    source: str | None
    grounds: list[Ground]
    references: list[Reference]
    left_out: list[str]
    broken: int
    passed: dict[str, str]

    @property
    def doubts(self) -> list[str]:
        """What is wrong with the claims of grounds, by the ground."""
        return [ground.claims.doubt for ground in self.grounds if ground.claims.doubt]


def read_trial(documents: list[Document], challenged: str = "", trials: frozenset[str] = frozenset(),
               claim_count: int | None = None) -> Asserted:
    """The grounds and references of a trial, from the first document that states a ground.

    documents: by preference. challenged: the patent's number in its one form, "" if not known.
    trials: the numbers of this trial and of those joined to it. A name that the source does not define
    is looked up in the other documents.
    """
    readable = [document for document in documents if not document.fault]
    passed = {document.name: document.fault for document in documents if document.fault}
    names = {document.name: Names(document) for document in readable}
    left_out: set[str] = set()
    for document in readable:
        others = tuple(names[d.name] for d in readable if d is not document)
        found = find_grounds(document, challenged, trials, others, claim_count, names[document.name])
        left_out |= set(found.left_out)
        if any(not name.unread for ground in found.grounds for name in ground.names):
            ordered = [names[document.name], *others]
            references = _references(document, found, ordered, challenged)
            return Asserted(document.name, found.grounds, references, sorted(left_out),
                            len(found.broken), passed)
        passed[document.name] = "no ground found"
    return Asserted(None, [], [], sorted(left_out), 0, passed)


@dataclass(frozen=True)
class Papers:
    """The texts of a trial, by preference, and the challenged patent's number; trials: as `read_trial`."""

    trial: ptab.Trial
    patent: str
    trials: frozenset[str]
    texts: tuple[ptab.Text, ...]


@dataclass(frozen=True)
class Findings:
    """What papers assert. faults: of each text. partial: whether the source says that the Board
    instituted in part."""

    found: Asserted
    faults: tuple[str, ...]
    partial: bool


def read_papers(papers: Papers) -> Findings:
    """Reads a trial's texts, which no process but this one holds."""
    documents = [text.read() for text in papers.texts]
    found = read_trial(documents, papers.patent, papers.trials)
    source = next((document for document in documents if document.name == found.source), None)
    return Findings(found, tuple(document.fault for document in documents),
                    bool(source and ptab.is_partial(papers.trial, source)))


def place_of(document: Document, start: int, end: int) -> Place:
    """The evidence of a stretch of the plain reading."""
    first, last = document.span(start, end)
    text = document.text
    return Place(document.name, document.page(first), first, last, text[first:last],
                 text[max(0, first - AROUND):first], text[last:last + AROUND])


def _references(document: Document, found: Found, names: list[Names], challenged: str) -> list[Reference]:
    """Each asserted name once, in the order in which the grounds name it."""
    asserted: dict[str, list[tuple[Name, Ground]]] = {}
    for ground in found.grounds:
        for name in ground.names:
            asserted.setdefault(key(name.text), []).append((name, ground))
    made = []
    for told in asserted.values():
        candidates, loss, detail = _meant(document, [name for name, _ in told], names, challenged)
        statutes = tuple(sorted({s for _, ground in told for s in ground.statutes}))
        spots = dict.fromkeys((ground.start, ground.end) for _, ground in told)
        made.append(Reference(told[0][0].text, statutes,
                              tuple(place_of(document, *spot) for spot in spots), candidates, loss, detail))
    return made


def _meant(document: Document, spoken: list[Name], names: list[Names],
           challenged: str) -> tuple[tuple[Candidate, ...], str, str]:
    """(candidates, loss, detail) of a name."""
    stated = [name.number for name in spoken if name.number]
    if spoken[0].unread:
        return (), UNREAD, _beside(document, spoken[0])
    if stated:
        candidates = [_stated(document, number) for number in stated]
    else:
        defined, definitions = _defined(spoken, names)
        if not definitions:
            admitted = key(spoken[0].text) in ADMITTED or key(spoken[0].text).endswith(ADMITTED[-1])
            return (), NO_PATENT if admitted else NO_DEFINITION, ""
        candidates = [_candidate(defined, d) for d in definitions if d.number]
        if not candidates:
            return (), NO_PATENT, place_of(defined, definitions[0].start, definitions[0].end).text[:300]
    candidates = _readable(candidates)
    once = {(c.number.kind, c.number.value): c for c in reversed(candidates)}
    others = [c for c in reversed(once.values()) if c.number.value != challenged]
    if not others:
        return (), SAME, "the challenged patent itself"
    return tuple(others), _loss(others), ", ".join(c.number.value for c in others)


def _readable(candidates: list[Candidate]) -> list[Candidate]:
    """Without the damaged spellings of a number that stands there undamaged too."""
    whole = {c.number.value for c in candidates if c.number.kind != "damaged"}
    return [c for c in candidates if c.number.kind != "damaged"
            or not whole & {numbers.patent(mended := c.number.value.translate(_AS_DIGITS)),
                            numbers.publication(mended)}]


_AS_DIGITS = str.maketrans("IlOoSBZ|", "11005821")


def _defined(spoken: list[Name], names: list[Names]) -> tuple[Document | None, list[Definition]]:
    """The definitions in the first document that has the best: with a whole number in its place; with a
    number; without one."""
    exhibit = next((name.exhibit for name in spoken if name.exhibit), "")
    told = [(known.document, known.meant(spoken[0].text, exhibit)) for known in names]
    for is_good in (lambda d: d.number and d.number.kind != "damaged" and not d.away,
                    lambda d: d.number, lambda d: True):
        for document, definitions in told:
            if any(is_good(d) for d in definitions):
                return document, definitions
    return None, []


def _beside(document: Document, name: Name) -> str:
    """A name with the words around it."""
    return " ".join(document.plain[max(0, name.start - 60):name.end + 20].split())


def _stated(document: Document, number: Number) -> Candidate:
    sentence = place_of(document, *document.sentence(number.start))
    return Candidate(number, sentence, place_of(document, number.start, number.end))


def _candidate(document: Document, definition: Definition) -> Candidate:
    number = definition.number
    return Candidate(number, place_of(document, definition.start, definition.end),
                     place_of(document, number.start, number.end))


def _loss(candidates: list[Candidate]) -> str:
    """Why none of the candidates can be a gold, from the numbers alone; empty if one may be."""
    kinds = {_kind_of_loss(c.number) for c in candidates}
    return "" if kinds == {""} else kinds.pop() if len(kinds) == 1 else AMBIGUOUS


def _kind_of_loss(number: Number) -> str:
    if number.kind in ("foreign", "damaged"):
        return FOREIGN if number.kind == "foreign" else DAMAGED
    if number.kind == "application" and numbers.is_provisional(number.value):
        return PROVISIONAL
    if number.kind == "application" and numbers.is_reexamination(number.value):
        return REEXAMINATION
    return ""
