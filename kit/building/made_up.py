"""`mini-plain`: a made-up natural_language set on the miniature, so that 15_build has one to show.

Nobody was asked: the answers are the summaries that the miniature itself tells, and some odd ones of
each kind; the judgements are made up as well. It is never frozen, and no figure of it means anything.
"""

import shutil
from collections.abc import Callable
from pathlib import Path

from kit.building import natural_language, query_set
from kit.building.journal import opened
from kit.building.judging import Audit, Judging
from kit.building.paraphrase import Asking, Request, read_prompt
from kit.collection.sources import open_collection
from kit.files import digest_of, digest_of_file, dump_json, made_whole, outputs_folder, work_folder

NAME = "mini-plain"
MODEL = "nobody: answers are made up"
AUDIT = Audit(natural_language.QUESTIONS, items=30, threshold=0.8)
ODD = {  # which answer of twenty is odd, and how
    3: lambda claim, told: ("I'm sorry, I can't rewrite this claim.", "stop"),
    5: lambda claim, told: (_mixed(claim, told, 20), "stop"),
    7: lambda claim, told: (claim, "stop"),
    11: lambda claim, told: (told[:60], "length"),
    12: lambda claim, told: (_mixed(claim, told, 30), "stop"),
    14: lambda claim, told: (f"Here is a plain version: {told}", "stop"),
    18: lambda claim, told: (f"{told} A like thing is known from EP 1 234 567 A1.", "stop"),
}
NOS = {4: ("complete", "one of its parts is missing"), 13: ("plain", "it still reads like a claim")}


def folder() -> Path:
    """The folder of the set; built on first use, then reopened."""
    return kept(NAME, _build)


def kept(name: str, build: Callable[[Path], Path]) -> Path:
    """The folder of a made-up set. build: makes it below a work folder, on first use."""
    home = outputs_folder() / "cache" / f"{name}-{_sources()[:12]}"
    if not home.is_dir():
        with work_folder() as work, made_whole(home) as part:
            shutil.copytree(build(work), part, dirs_exist_ok=True)
    return home


def _build(work: Path) -> Path:
    mini = open_collection("mini")
    prepared = natural_language.prepare(mini, Asking(MODEL, read_prompt()))
    told = {row["query_id"]: row["ai_claim_summary"] or row["ai_ab"] for row in mini.frame(
        "queries", ["query_id", "ai_claim_summary", "ai_ab"]).to_dict("records")}
    with opened(work / "answers.jsonl") as journal:
        for n, request in enumerate(prepared.requests):
            journal.append(_answer(n, request, told[request.qid]))
        made = natural_language.build(mini, prepared, journal, AUDIT, endpoint="none")
    built = query_set.write_query_set(made, work / NAME)
    judging = Judging(built)
    for n, one in enumerate(judging.sample):
        no, reason = NOS.get(n, ("", ""))
        judging.judge(one["item"], {q: q != no for q in AUDIT.questions}, "nobody", reason)
    return built


def _mixed(claim: str, told: str, words: int) -> str:
    """An answer that begins with the claim's own words."""
    return f"{' '.join(claim.split()[:words])} and more. {told}"


def _answer(n: int, request: Request, told: str) -> dict:
    text, ended = ODD[n % 20](request.claim, told) if n % 20 in ODD else (told, "stop")
    body = dump_json({"choices": [{"message": {"content": text}, "finish_reason": ended}]})
    return {"id": request.id, "qid": request.qid, "status": 200, "body": body, "via": "made up"}


def _sources() -> str:
    """sha256 over the code that the set is made by, and the data that it is made from."""
    code = [digest_of_file(p) for p in sorted(Path(__file__).parent.rglob("*")) if p.suffix in (".py", ".txt")]
    return digest_of([code, open_collection("mini").fingerprints])
