"""`mini-trials`: a made-up litigation set on the miniature, so that 16_litigation has one to show.

Papers, numbers and judgements are made up (`kit.collection.miniature.trials`). It is never frozen, and no
figure of it means anything.
"""

from pathlib import Path

from kit.building import litigation, query_set
from kit.building.judging import Audit, Judging
from kit.building.made_up import kept
from kit.collection.miniature.trials import write_papers
from kit.collection.sources import open_collection

NAME = "mini-trials"
TABLES = ("patents.tsv", "publications.csv", "documents.tsv")
AUDIT = Audit(litigation.QUESTIONS, what="golds", items=60, threshold=0.95)
NOS = {17: ("definition", "the sentence speaks of another patent of the same inventor")}
UNJUDGED = 12  # of the sample, so that the page shows what is still to be done


def folder() -> Path:
    """The folder of the set; built on first use, then reopened."""
    return kept(NAME, _build)


def _build(work: Path) -> Path:
    mini = open_collection("mini")
    write_papers(work, claim_counts(mini))
    made = litigation.build(mini, work / "papers", [work / name for name in TABLES], audit=AUDIT)
    built = query_set.write_query_set(made, work / NAME)
    judging = Judging(built)
    for n, one in enumerate(judging.sample[:-UNJUDGED]):
        no, reason = NOS.get(n, ("", ""))
        judging.judge(one["item"], {q: q != no for q in AUDIT.questions}, "nobody", reason)
    return built


def claim_counts(collection) -> dict[str, int | None]:
    """{corpus id: how many claims it has, None where they are not all there}."""
    return {name: litigation.count_claims(claims) for batch in collection.batches("corpus", ["doc_id", "claims"])
            for name, claims in zip(batch["doc_id"], batch["claims"])}
