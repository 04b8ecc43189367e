"""litigation: a challenged patent is the query; what is asserted against it under §102 and §103, the golds.

From a folder of the Board's JSON and texts: of each trial one source, the first that states a ground of
1. the final written decision, which names the grounds that were tried, and defines its references best,
2. the institution decision, 3. the petition, which is nobody's but the petitioner's word. Of several of
one kind the earliest counts: a decision on remand repeats only what was remanded. From the source's
grounds the way goes over the names to the numbers (`kit.building.asserted`), and by the user's tables to
applications (`kit.building.mapping`), and to documents of the corpus. One row a challenged patent.
"""

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from kit.building import asserted, numbers, ptab, workers
from kit.building.asserted import Asserted, Candidate, Papers, Reference, read_papers
from kit.building.cells import MOST_CLAIMS
from kit.building.claims import split_claims
from kit.building.judging import SAMPLE, Audit, draw, share_of
from kit.building.mapping import Mapping, read_mapping
from kit.building.query_set import Loss, QuerySet, collection_digests, digests_of
from kit.building.references import key
from kit.collection.built import read_manifest
from kit.text import cleaning
from kit.text.views import VIEWS, declaration, require_view, view_of

MODE = "litigation"
TRIALS, REFERENCES, PATENTS = "trials", "references", "challenged patents"
ABOUT = "challenged.jsonl"
QUESTIONS = {
    "ground": "The document asserts this reference in a ground under §102 or §103 against the challenged patent",
    "definition": "The definition speaks of the same reference as the ground",
    "number": "The definition gives this number to it, and it was read as it stands"}
NO_ROW = "the challenged patent makes no row"


@dataclass(frozen=True)
class Challenge:
    """A trial that is read. kind: of its source. trials: its number, and those joined to it."""

    trial: ptab.Trial
    trials: tuple[str, ...]
    found: Asserted
    kind: str
    partial: bool


@dataclass(frozen=True)
class Asserting:
    """A reference of a challenged patent: the trial that asserts it first, and what it is there."""

    challenge: Challenge
    reference: Reference


def build(collection, folder: Path, tables: list[Path], view: str = "claims",
          audit: Audit | None = None) -> QuerySet:
    """The set of what a folder of the Board's papers asserts, as far as it leads to the corpus.

    collection: a sound one; its corpus ids are application numbers of 8 digits, unless a table leads from
    `application_id` to `doc_id`. tables: of `kit.building.mapping`. view: of the challenged patent's own
    document in the corpus, as the query. Raises BuildError for a folder or table that can't be read, and
    ParamsError for a view that documents do not have.
    """
    require_view(view, "corpus")
    folder, tables = Path(folder), [Path(table) for table in tables]
    audit = audit or Audit(QUESTIONS, what="golds", threshold=0.95)
    records = ptab.read_records(folder)
    texts = ptab.read_texts(folder, records)
    challenges, lost = read_challenges(records, texts)
    entered = len(challenges) + len(lost)
    by_patent = _by_patent(challenges)
    mapping = read_mapping(tables, _asked(by_patent))
    made = _Rows(collection, mapping, view)
    for patent in sorted(by_patent, key=lambda number: (len(number), number)):
        made.add(patent, *by_patent[patent])
    items = [_item(line) for line in made.evidence]
    return QuerySet(
        mode=MODE, rows=made.rows, corpus=collection, rows_are=PATENTS, shared_ids=True, audit=audit,
        entered={TRIALS: entered, PATENTS: len(by_patent), REFERENCES: made.references},
        left={TRIALS: len(challenges), REFERENCES: len(made.evidence)}, losses=lost + made.losses,
        sources={**digests_of([folder]), **digests_of(tables), **collection_digests(collection)},
        parameters={"order": list(ptab.ORDER), "view": view, "declaration": declaration(view),
                    "cleaner": cleaning.declaration(), "most_claims": MOST_CLAIMS},
        evidence=made.evidence, beside={ABOUT: made.about, SAMPLE: draw(items, audit)},
        notes={"odd_files": {**records.odd, **ptab.odd_texts(texts)}, "rows_of_json": records.rows,
               "partly_instituted": sum(c.partial for c in challenges),
               "complete_rows": sum(line["complete"] for line in made.about),
               "sources_of_grounds": dict(Counter(c.kind for c in challenges).most_common()),
               "grounds_left_out": dict(Counter(f"§{s}" for c in challenges for s in c.found.left_out))})


# --- trials ---------------------------------------------------------------------------------------

def read_challenges(records: ptab.Records, texts: list[ptab.Text],
                    processes: int | None = None) -> tuple[list[Challenge], list[Loss]]:
    """The trials whose grounds could be read, by number; and a loss for each other one.

    processes: in which they are read, see `workers.in_order`; the result does not depend on it.
    """
    of_trial: dict[str, list[ptab.Text]] = {}
    for text in texts:
        if text.trial and text.kind in ptab.ORDER:
            of_trial.setdefault(text.trial, []).append(text)
    trials = {**{number: ptab.Trial(number, number[:3]) for number in of_trial}, **records.trials}
    lost = [Loss(TRIALS, number, "ex parte appeal") for number in sorted(records.appeals)]
    joined = _joined(trials, of_trial)
    told: dict[str, Papers | Loss] = {}
    for number in sorted(trials):
        if number in joined:
            told[number] = Loss(TRIALS, number, "joined to another trial", joined[number])
            continue
        own = frozenset([number, *(n for n, lead in joined.items() if lead == number)])
        told[number] = _papers(trials[number], own, _in_order(of_trial.get(number, [])))
    papers = [one for one in told.values() if isinstance(one, Papers)]
    for findings, one in zip(workers.in_order(read_papers, papers, "trials read", processes), papers):
        told[one.trial.number] = _challenge(one, findings)
    lost += [one for one in told.values() if isinstance(one, Loss)]
    return [one for one in told.values() if isinstance(one, Challenge)], lost


def _in_order(texts: list[ptab.Text]) -> list[ptab.Text]:
    return sorted(texts, key=lambda t: (ptab.ORDER.index(t.kind), t.filed or "9999", t.name))


def _joined(trials: dict[str, ptab.Trial], of_trial: dict[str, list[ptab.Text]]) -> dict[str, str]:
    """{trial: the one that it was joined to}: a text of the other says so, or their captions are one."""
    made: dict[str, str] = {}
    for number in sorted(of_trial):
        for text in of_trial[number]:
            together = [n for n in text.trials if n != number and _one_patent(trials, number, n, text.patents)]
            for other in [*text.joined, *together]:
                lead = made.get(number, number)
                if other != lead and other in trials and other not in made and other not in made.values():
                    made[other] = lead
    return made


def _one_patent(trials: dict[str, ptab.Trial], one: str, other: str, patents: tuple[str, ...]) -> bool:
    """Whether two trials of one caption challenge one patent."""
    known = {trials[n].patent for n in (one, other) if n in trials and trials[n].patent}
    return len(known | set(patents)) == 1


def _papers(trial: ptab.Trial, own: frozenset[str], texts: list[ptab.Text]) -> Papers | Loss:
    """What of the trial is to be read, or why it is no challenge."""
    if trial.type != "IPR":
        return Loss(TRIALS, trial.number, "another type than IPR", trial.type)
    if not texts:
        return Loss(TRIALS, trial.number, "no text of a decision or petition")
    stated = list(dict.fromkeys(p for text in texts for p in text.patents))
    if len(stated) > 1:
        return Loss(TRIALS, trial.number, "several patents in one caption", ", ".join(stated))
    if stated and trial.patent and stated != [trial.patent]:
        return Loss(TRIALS, trial.number, "caption and JSON name two patents",
                    f"{stated[0]}, {trial.patent}")
    patent = trial.patent or "".join(stated)
    if not patent:
        return Loss(TRIALS, trial.number, "no number of the challenged patent")
    return Papers(trial, patent, own, tuple(texts))


def _challenge(papers: Papers, findings: asserted.Findings) -> Challenge | Loss:
    """The trial as a challenge, or why it is none."""
    trial, found = papers.trial, findings.found
    if found.source is None:
        broken = all(findings.faults)
        reason = ("no ground under §102 or §103" if not broken and found.left_out else
                  findings.faults[0] if broken else "no ground found")
        return Loss(TRIALS, trial.number, reason, ", ".join(f"§{s}" for s in found.left_out)
                    or "; ".join(f"{name}: {why}" for name, why in found.passed.items()))
    kind = next(text.kind for text in papers.texts if text.name == found.source)
    return Challenge(replace(trial, patent=papers.patent), tuple(sorted(papers.trials)), found, kind,
                     findings.partial)


def _by_patent(challenges: list[Challenge]) -> dict[str, tuple[list[Challenge], list[Asserting]]]:
    """{challenged patent: its trials, and each reference once}. One number is one reference, whatever its
    names; a name without a number is one by itself."""
    made: dict[str, tuple[list[Challenge], dict]] = {}
    for challenge in challenges:
        trials, told = made.setdefault(challenge.trial.patent, ([], {}))
        trials.append(challenge)
        for reference in challenge.found.references:
            values = tuple(sorted(c.number.value for c in reference.candidates))
            told.setdefault(values or key(reference.name), Asserting(challenge, reference))
    return {patent: (trials, list(told.values())) for patent, (trials, told) in made.items()}


def _asked(by_patent: dict) -> dict[str, set[str]]:
    """The numbers for which applications are wanted."""
    asked: dict[str, set[str]] = {"patent": set(by_patent), "publication": set(), "application": set()}
    for trials, references in by_patent.values():
        asked["application"] |= {c.trial.application for c in trials if c.trial.application}
        for one in references:
            for candidate in one.reference.candidates:
                if candidate.number.kind in asked:
                    asked[candidate.number.kind].add(candidate.number.value)
    return asked


# --- rows -----------------------------------------------------------------------------------------

class _Rows:
    """Rows, evidence and losses, a challenged patent after another."""

    def __init__(self, collection, mapping: Mapping, view: str):
        self.collection, self.mapping, self.view = collection, mapping, view
        self.corpus = set(collection.ids("corpus"))
        self.rows, self.evidence, self.about, self.losses = [], [], [], []
        self.references = 0

    def add(self, patent: str, trials: list[Challenge], told: list[Asserting]) -> None:
        """The patent's row, or its loss."""
        self.references += len(told)
        own = self._application(patent, trials)
        qid, text, classes, why = self._query(own)
        golds: dict[str, tuple[Asserting, Candidate, str]] = {}
        lacks: dict[str, list[str]] = {}
        losses = []
        for one in told:
            gold, reason, detail = self._gold(one, own, set(golds))
            if gold:
                golds[gold[0]] = (one, gold[1], gold[2])
                continue
            losses.append(self._lost(patent, one, reason, detail))
            if detail != MERGED:
                lacks.setdefault(reason, []).append(one.reference.name)
        why = why or ("" if golds else "no gold left")
        self.losses += losses
        if why:
            self.losses.append(Loss(PATENTS, patent, why, own or ""))
            self.losses += [self._lost(patent, one, NO_ROW, "") for one, _, _ in golds.values()]
            return
        statutes = sorted({s for one, _, _ in golds.values() for s in one.reference.statutes})
        row = {"qid": qid, "text": text, "gold_apps": list(golds), "statute": statutes, "query_cpc": classes,
               "incomplete": "; ".join(f"{reason}: {', '.join(names)}" for reason, names in lacks.items())}
        self.rows.append({name: value for name, value in row.items() if value})
        self.evidence += [_evidence(qid, patent, gold, *held) for gold, held in golds.items()]
        self.about.append(self._about(qid, patent, own, trials, lacks))

    def _lost(self, patent: str, one: Asserting, reason: str, detail: str) -> Loss:
        return Loss(REFERENCES, f"{one.challenge.trial.number} {one.reference.name}", reason,
                    detail or one.reference.detail)

    def _application(self, patent: str, trials: list[Challenge]) -> str | None:
        """The challenged application: as the JSON has it, else by the tables."""
        stated = {c.trial.application for c in trials if c.trial.application}
        known = stated or self.mapping.applications("patent", patent)
        return next(iter(known)) if len(known) == 1 else None

    def _documents(self, application: str) -> list[str]:
        """The corpus ids of an application."""
        told = self.mapping.document.get(application)
        return sorted(self.corpus & (told if told is not None else {application}))

    def _query(self, application: str | None) -> tuple[str, str, list[str], str]:
        """(qid, text, classes, why there is no row) of the challenged application."""
        documents = self._documents(application) if application else []
        if len(documents) != 1:
            why = ("several documents in the corpus" if documents else
                   "challenged patent not in the corpus" if application else
                   "no application, or several, of the challenged patent")
            return "", "", [], why
        row = self.collection.row("corpus", documents[0])
        text = view_of(row.get(field) for field in VIEWS[self.view])
        classes = list(dict.fromkeys(c for c in row.get("ipc") or [] if c and c.strip()))
        return documents[0], text, classes, "" if text.strip() else f"no text in the view {self.view}"

    def _gold(self, one: Asserting, own: str | None,
              held: set[str]) -> tuple[tuple[str, Candidate, str] | None, str, str]:
        """((corpus id, candidate, application), "", "") of a reference, or (None, reason, detail)."""
        reference = one.reference
        if reference.loss:
            return None, reference.loss, reference.detail
        of_number = [(c, self.mapping.applications(c.number.kind, c.number.value)) for c in reference.candidates]
        applications = set().union(*(found for _, found in of_number))
        missing = [c for c, found in of_number if not found]
        if missing or len(applications) != 1:
            return None, *_not_one(reference.candidates, missing, applications)
        application = next(iter(applications))
        if own and self._are_family(own, application):
            return None, asserted.SAME, "of the challenged patent"
        documents = self._documents(application)
        if len(documents) != 1:
            return (None, asserted.AMBIGUOUS, f"documents {', '.join(documents)}") if documents else (
                None, asserted.NOT_IN_CORPUS, application)
        if documents[0] in held:
            return None, asserted.SAME, MERGED
        return (documents[0], reference.candidates[0], application), "", ""

    def _are_family(self, one: str, other: str) -> bool:
        family = self.mapping.family
        return one == other or bool(family.get(one, set()) & family.get(other, set()))

    def _about(self, qid: str, patent: str, application: str | None, trials: list[Challenge],
               lacks: dict[str, list[str]]) -> dict:
        """What is known of a row beside its golds; `lacks` says which references are not among them."""
        count = count_claims(self.collection.row("corpus", qid).get("claims"))
        return {
            "qid": qid, "patent": patent, "application": application, "complete": not lacks, "lacks": lacks,
            "claims_of_the_patent": count,
            "trials": [{
                "trial": c.trial.number, "with": [n for n in c.trials if n != c.trial.number],
                "source": c.found.source, "kind": c.kind, "partly_instituted": c.partial,
                "left_out": c.found.left_out, "rows_not_read": c.found.broken, "passed": c.found.passed,
                "grounds": [{"claims": g.claims.stated, "statutes": list(g.statutes),
                             "names": [n.text for n in g.names], "form": g.form,
                             "doubt": g.claims.doubt or _above(g.claims.numbers, count)}
                            for g in c.found.grounds]} for c in trials]}


MERGED = "of another gold of the row"


def _not_one(candidates, missing: list[Candidate], applications: set[str]) -> tuple[str, str]:
    """(reason, detail) where the numbers of a name lead to no application, or to several."""
    told = ", ".join(c.number.value for c in candidates)
    if len(candidates) > 1 or len(applications) > 1:
        return asserted.AMBIGUOUS, f"{told}: {', '.join(sorted(applications)) or 'not in the table'}"
    old = candidates[0].number.kind == "patent" and numbers.is_before_1976(candidates[0].number.value)
    return asserted.BEFORE_1976 if old and missing else asserted.NOT_IN_TABLE, told


def _above(claims: tuple[int, ...], count: int | None) -> str:
    return "above the claim count" if claims and count and max(claims) > count else ""


def count_claims(claims: str | None) -> int | None:
    """How many claims a text has; None unless they are numbered from 1 without a gap, two or more."""
    numbered = [claim.number for claim in split_claims(claims)]
    return len(numbered) if len(numbered) > 1 and numbered == list(range(1, len(numbered) + 1)) else None


def _evidence(qid: str, patent: str, gold: str, one: Asserting, candidate: Candidate, application: str) -> dict:
    """A gold and the way to it: the ground, the definition, the number, each with its place."""
    challenge, reference = one.challenge, one.reference
    return {"qid": qid, "gold": gold, "patent": patent, "trial": challenge.trial.number,
            "kind": challenge.kind, "name": reference.name, "statutes": list(reference.statutes),
            "number": candidate.number.value, "application": application,
            "grounds": [place.as_dict() for place in reference.grounds],
            "definition": candidate.definition.as_dict(), "number_place": candidate.place.as_dict()}


def _item(line: dict) -> dict:
    """A gold as a judge sees it."""
    return {"item": f"{line['qid']} {line['gold']}", "stratum": line["kind"],
            **{name: line[name] for name in ("patent", "trial", "name", "statutes", "number", "grounds",
                                             "definition", "number_place")}}


# --- looking at it --------------------------------------------------------------------------------

def losses(folder: Path, what: str = REFERENCES) -> pd.DataFrame:
    """A row a kind of loss of a built set, and one of what was kept: reason, yes, n, share, low, high
    (Wilson, 95 %), of all that came in."""
    count = next(c for c in read_manifest(Path(folder))["counts"] if c["what"] == what)
    told = {"kept": count["left"], **dict(sorted(count["losses"].items(), key=lambda kv: (-kv[1], kv[0])))}
    return pd.DataFrame([{"reason": reason, **share_of(n, count["entered"])} for reason, n in told.items()])
