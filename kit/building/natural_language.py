"""natural_language: claim 1, or what stands for it, in plain words is the query."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from kit.building.claims import first_claim
from kit.building.journal import Journal
from kit.building.judging import SAMPLE, Audit, draw, thirds
from kit.building.odd import Limits
from kit.building.paraphrase import Answer, Asking, Request, answers_of, odd_lines, unanswered
from kit.building.query_set import Loss, QuerySet, collection_digests, golds_of
from kit.building.semantic_search import classes_of
from kit.errors import BuildError
from kit.files import digest_of

MODE = "natural_language"
ANSWERS, ODD = "answers.jsonl", "odd.jsonl"
QUESTIONS = {
    "faithful": "It says what the claim says, and nothing that the claim does not say.",
    "plain": "It is said as an engineer would say it, not in the language of claims.",
    "complete": "No feature that makes the thing what it is was left out.",
}
NOT_DRAWN, NO_GOLD, NO_ANSWER = "not drawn", "no relevant document under the protocol", "no answer"


@dataclass(frozen=True)
class Prepared:
    """What there is to ask, and what was lost before: a request a query whose claim was found.

    said: {qid: why it is not claim 1}. numbers: {qid: its publication number}. offices, classes: by qid.
    """

    requests: list[Request]
    losses: list[Loss]
    entered: int
    claims: dict[str, int]
    said: dict[str, str]
    numbers: dict[str, list[str]]
    offices: dict[str, str]
    classes: dict[str, list[str]]
    golds: dict[str, list[str]]
    parameters: dict = field(default_factory=dict)


def prepare(collection, asking: Asking, protocol: str = "all", limit: int | None = None,
            seed: int = 0) -> Prepared:
    """The requests for a collection's queries. limit: how many queries are drawn, by the seed, of those
    with a claim and a gold; None: all. Claims are read from `claims`, or from `iclm` where it is empty."""
    golds = golds_of(collection, protocol)
    made, losses, entered = {}, [], 0
    columns = ["query_id", "claims", "iclm", "source_xpn", "publication_authority", "cpc", "ipc"]
    for batch in collection.batches("queries", columns):
        for values in zip(*batch.values()):
            row, entered = dict(zip(batch, values)), entered + 1
            choice = first_claim(row["claims"] or row["iclm"])
            why = choice.why if choice.claim is None else "" if row["query_id"] in golds else NO_GOLD
            if why:
                losses.append(Loss("queries", row["query_id"], why))
            else:
                made[row["query_id"]] = (row, choice)
    drawn = set(sorted(made, key=lambda qid: digest_of([seed, qid]))[:limit])
    losses += [Loss("queries", qid, NOT_DRAWN) for qid in made if qid not in drawn]
    kept = {qid: both for qid, both in made.items() if qid in drawn}
    return Prepared(
        requests=[Request(qid, c.claim.text, asking.body(c.claim.text)) for qid, (_, c) in kept.items()],
        losses=losses, entered=entered, claims={qid: c.claim.number for qid, (_, c) in kept.items()},
        said={qid: c.why for qid, (_, c) in kept.items() if c.why},
        numbers={qid: [row["source_xpn"] or ""] for qid, (row, _) in kept.items()},
        offices={qid: row["publication_authority"] or "unknown" for qid, (row, _) in kept.items()},
        classes={qid: classes_of(row) for qid, (row, _) in kept.items()}, golds=golds,
        parameters={"protocol": protocol, "limit": limit, "seed": seed, **asking.as_dict()})


def build(collection, prepared: Prepared, journal: Journal, audit: Audit | None = None,
          limits: Limits = Limits(), endpoint: str = "batch files", accept_missing: bool = False) -> QuerySet:
    """The set of all queries whose answer may be used.

    endpoint: its address, for the manifest. accept_missing: count requests without an answer as lost.
    Raises BuildError where some have none otherwise.
    """
    audit = audit or Audit(QUESTIONS)
    missing = unanswered(prepared.requests, journal)
    if missing and not accept_missing:
        raise BuildError(f"{len(missing)} of {len(prepared.requests)} requests have no answer",
                         missing[0].qid, "Ask again, or count them as lost with --accept-missing")
    answers = answers_of(prepared.requests, journal, limits, prepared.numbers)
    used = [a for a in answers if not a.kept_out_by]
    losses = [*prepared.losses, *(Loss("queries", r.qid, NO_ANSWER) for r in missing),
              *(Loss("queries", a.request.qid, f"answer: {a.kept_out_by}", _detail(a))
                for a in answers if a.kept_out_by)]
    return QuerySet(
        mode=MODE, rows=[_row(a, prepared) for a in used], corpus=collection,
        entered={"queries": prepared.entered}, losses=losses, sources=collection_digests(collection),
        parameters={**prepared.parameters, "endpoint": endpoint, "limits": limits.as_dict()},
        evidence=[_evidence(a, prepared) for a in used], shared_ids=collection.shared_ids, audit=audit,
        beside={ANSWERS: [a.raw for a in answers], ODD: odd_lines(answers),
                SAMPLE: draw(_items(used, prepared), audit)},
        notes={"odd answers": dict(sorted(Counter(o.check for a in answers for o in a.odd).items())),
               "rows of another claim than claim 1": len(prepared.said.keys() & {a.request.qid for a in used})})


def _row(answer: Answer, prepared: Prepared) -> dict:
    qid = answer.request.qid
    row = {"qid": qid, "text": answer.text, "gold_apps": prepared.golds[qid],
           "query_cpc": prepared.classes[qid], "claim": prepared.claims[qid]}
    return {name: value for name, value in row.items() if value}


def _evidence(answer: Answer, prepared: Prepared) -> dict:
    """Where a row's text is from: the claim as it was sent, the request, and how much was copied."""
    qid = answer.request.qid
    return {"qid": qid, "claim": prepared.claims[qid], "why": prepared.said.get(qid, ""),
            "claim_text": answer.request.claim, "request": answer.request.id, "overlap": round(answer.overlap, 4)}


def _items(used: list[Answer], prepared: Prepared) -> list[dict]:
    """The rows as people judge them, in strata of office and length of the claim."""
    lengths = thirds([len(a.request.claim.split()) for a in used])
    return [{"item": a.request.qid, "stratum": f"{prepared.offices[a.request.qid]}, {length}",
             "claim": a.request.claim, "text": a.text} for a, length in zip(used, lengths)]


def _detail(answer: Answer) -> str:
    return next(o.detail for o in answer.odd if o.keeps_out)


def journal_of(out: Path) -> Path:
    """Where the answers for a set lie until it is built, and afterwards: beside its folder."""
    return out.with_name(f"{out.name}.answers.jsonl")
