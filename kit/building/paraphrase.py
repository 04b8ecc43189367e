"""Claims into plain words by an OpenAI-compatible endpoint, or by batch files; answers kept raw.

An answer goes into a journal (`kit.building.journal`) before anything is made of it, under the digest
of its request, so that a run that was cut short goes on and asks nothing twice, and another model,
prompt or parameter asks anew. A paraphrase can't be repeated exactly: what is frozen are the answers.
"""

import hashlib
import json
import threading
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from kit.building.chat import Endpoint, Reply
from kit.building.journal import Journal
from kit.building.odd import CHECKS, Limits, Odd, oddities, overlap, read_answer
from kit.errors import BuildError
from kit.files import digest_of, regular, write_text
from kit.progress import say
from kit.retrieval.service import REFUSALS

PROMPT = Path(__file__).with_name("prompts") / "paraphrase.txt"
PROMPT_SHA256 = "410692dad236a2e7c21245aafce59cae8267542b1506ace7202688f58cf58f71"
LETTERS_A_TOKEN = 4  # of English text, roughly: good for an estimate, and for nothing else
BATCH_PATH = "/v1/chat/completions"


@dataclass(frozen=True)
class Asking:
    """What decides an answer. Temperature is 0, and one choice is asked for."""

    model: str
    prompt: str
    max_tokens: int = 600

    def as_dict(self) -> dict:
        """As a manifest has it."""
        return {"model": self.model, "prompt": self.prompt, "prompt_sha256": prompt_digest(self.prompt),
                "temperature": 0, "n": 1, "max_tokens": self.max_tokens}

    def body(self, claim: str) -> dict:
        """The request for one claim."""
        return {"model": self.model, "temperature": 0, "n": 1, "max_tokens": self.max_tokens,
                "messages": [{"role": "system", "content": self.prompt}, {"role": "user", "content": claim}]}


@dataclass(frozen=True)
class Request:
    """qid: the row it is for. claim: the claim's text. id: a digest of the row and all that is asked."""

    qid: str
    claim: str
    body: dict

    @property
    def id(self) -> str:
        return digest_of({"qid": self.qid, "body": self.body})[:40]


@dataclass(frozen=True)
class Answer:
    """text: what the model said, without blanks around it; raw: the journal's line. odd: what is odd
    about it; overlap: the share of its word sequences that stand in the claim."""

    request: Request
    text: str
    odd: tuple[Odd, ...]
    overlap: float
    raw: dict

    @property
    def kept_out_by(self) -> str:
        """The first check that keeps it out; empty for an answer that may be used."""
        return next((odd.check for odd in self.odd if odd.keeps_out), "")


def prompt_digest(prompt: str) -> str:
    """sha256 (hex) of a prompt's UTF-8, by which it is pinned."""
    return hashlib.sha256(prompt.encode("utf-8")).hexdigest()


def read_prompt(path: Path | None = None) -> str:
    """The kit's prompt, which must be the one that is pinned, or that of another file. Raises
    BuildError where it was changed, can't be read or is empty."""
    try:
        text = regular(path or PROMPT).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise BuildError(f"the prompt can't be read: {error}", path or PROMPT, "Give a UTF-8 file") from error
    if not text.strip():
        raise BuildError("the prompt is empty", path or PROMPT, "Write what is to be done with a claim")
    if path is None and prompt_digest(text) != PROMPT_SHA256:
        raise BuildError("the kit's prompt is not the one that is pinned", PROMPT,
                         "Restore it from the repository, and give another one by --prompt")
    return text


# --- cost -----------------------------------------------------------------------------------------

@dataclass(frozen=True)
class Estimate:
    """requests: that have no answer yet; answered: that have. tokens_out is what is expected, most_out
    the limit. cost, most_cost: in the prices' currency, None without prices; seconds: in all."""

    requests: int
    answered: int
    tokens_in: int
    tokens_out: int
    most_out: int
    cost: float | None
    most_cost: float | None
    seconds: float

    def __str__(self) -> str:
        money = "no prices are given" if self.cost is None else (
            f"about {self.cost:.2f} by the prices given, {self.most_cost:.2f} at most")
        return (f"{self.requests:,} requests to send ({self.answered:,} are answered already): some "
                f"{self.tokens_in:,} tokens in and {self.tokens_out:,} out, {self.most_out:,} at most; "
                f"{money}; some {self.seconds / 60:.0f} minutes")


def estimate(requests: list[Request], journal: Journal, price_in: float | None, price_out: float | None,
             parallel: int = 4, seconds: float = 3) -> Estimate:
    """What the requests without an answer will cost. price_in, price_out: per million tokens. seconds: of
    one request. Tokens are letters by LETTERS_A_TOKEN; an answer is taken to be as long as its claim."""
    todo = unanswered(requests, journal)
    letters = sum(len(m["content"]) for r in todo for m in r.body["messages"])
    tokens_in = -(-letters // LETTERS_A_TOKEN)
    out = sum(min(r.body["max_tokens"], len(r.claim) // LETTERS_A_TOKEN + 1) for r in todo)
    most = sum(r.body["max_tokens"] for r in todo)
    priced = price_in is not None and price_out is not None
    cost, most_cost = ((tokens_in * price_in + n * price_out) / 1e6 if priced else None for n in (out, most))
    return Estimate(len(todo), len({r.id for r in requests}) - len(todo), tokens_in, out, most, cost, most_cost,
                    len(todo) * seconds / parallel)


# --- asking ---------------------------------------------------------------------------------------

def unanswered(requests: Iterable[Request], journal: Journal) -> list[Request]:
    """The requests that the journal has no answer to, each once, in their order."""
    done = {line["id"] for line in journal.lines}
    todo = {r.id: r for r in requests}
    return [r for name, r in todo.items() if name not in done]


def ask_all(requests: list[Request], endpoint: Endpoint, journal: Journal) -> None:
    """Asks what is unanswered, at most `endpoint.parallel` at a time; each answer is in the journal, and
    on the disk, before its thread asks on. Raises BuildError where the endpoint fails: what was answered
    until then, also by the requests then in flight, stays."""
    todo = unanswered(requests, journal)
    stopped = threading.Event()  # by an error: nobody waits on or begins another request
    told = threading.Lock()
    done = 0

    def one(request: Request) -> None:
        nonlocal done
        if stopped.is_set():
            return
        try:
            _note(journal, request, endpoint.ask(request.body, stopped), "endpoint")
        except BaseException:
            stopped.set()
            raise
        with told:
            done += 1
            say(f"paraphrases {done:,} of {len(todo):,}")

    with ThreadPoolExecutor(endpoint.parallel) as pool:
        try:
            list(pool.map(one, todo))
        finally:
            stopped.set()  # Ctrl-C comes here only


def _note(journal: Journal, request: Request, reply: Reply, via: str) -> None:
    journal.append({"id": request.id, "qid": request.qid, "status": reply.status, "body": reply.body, "via": via})


# --- batch files ----------------------------------------------------------------------------------

def write_batch(requests: list[Request], journal: Journal, path: Path) -> int:
    """Writes the requests without an answer as JSON lines, in the form of OpenAI's batches; returns how
    many. `custom_id` is the request's id."""
    lines = [json.dumps({"custom_id": r.id, "method": "POST", "url": BATCH_PATH, "body": r.body},
                        ensure_ascii=False) for r in unanswered(requests, journal)]
    write_text(path, "".join(line + "\n" for line in lines))
    return len(lines)


@dataclass(frozen=True)
class Problem:
    """A line of a batch's answers that gave none: its file and number, the custom_id, and what is wrong."""

    file: str
    line: int
    id: str
    what: str


def read_batch(paths: list[Path], requests: list[Request], journal: Journal) -> list[Problem]:
    """Takes the answers of batch files into the journal, joined by their `custom_id`, in whatever order
    they come; returns the lines that gave none.

    Of an answer that stands twice the first counts, and that it does is said where the two differ. An
    error line, a 429 and a 5xx are no answers: their requests stay unanswered. A file that was read
    before is read without effect.
    """
    known, problems = {r.id: r for r in requests}, []
    there = {line["id"]: line for line in journal.lines}
    for path in paths:
        for number, line in _batch_lines(path):
            name, reply, wrong = _batch_answer(line)
            if not wrong and name not in known:
                wrong = "no request of this set has this id"
            elif not wrong and name in there:
                same = (there[name]["status"], there[name]["body"]) == (reply.status, reply.body)
                wrong = "" if same else "another answer to this request came first, and counts"
            elif not wrong:
                _note(journal, known[name], reply, "batch")
                there[name] = journal.lines[-1]
            if wrong:
                problems.append(Problem(path.name, number, name, wrong))
    return problems


def _batch_lines(path: Path):
    try:
        with open(regular(path), encoding="utf-8", errors="surrogateescape", newline="\n") as file:
            yield from ((n, line) for n, line in enumerate(file, 1) if line.strip())
    except OSError as error:
        raise BuildError(f"the file can't be read: {error.strerror}", path, "Give the batch's output") from error


def _batch_answer(line: str) -> tuple[str, Reply | None, str]:
    """(custom_id, its answer, what is wrong) of a line."""
    try:
        value = json.loads(line)
        name = value.get("custom_id") if isinstance(value, dict) else None
    except (ValueError, RecursionError):
        return "", None, "the line is not JSON"
    if not isinstance(name, str):
        return "", None, "the line has no custom_id"
    if value.get("error"):
        error = value["error"]
        said = error.get("code") or error.get("message") if isinstance(error, dict) else error
        return name, None, f"an error in place of an answer: {str(said)[:120]}"
    response = value.get("response")
    status = response.get("status_code") if isinstance(response, dict) else None
    if not isinstance(status, int) or "body" not in response:
        return name, None, "the line has no response with a status and a body"
    if status == 429 or status >= 500 or status in REFUSALS:
        return name, None, f"status {status}, which is no answer"
    body = response["body"]
    return name, Reply(status, body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)), ""


# --- answers --------------------------------------------------------------------------------------

def answers_of(requests: list[Request], journal: Journal, limits: Limits,
               numbers: dict[str, list[str]]) -> list[Answer]:
    """The answers that are there, in the requests' order, with all that is odd about each.

    numbers: {qid: publication numbers that its answer may not hold}.
    """
    lines = {}
    for line in journal.lines:
        lines.setdefault(line["id"], line)  # the first counts
    made = [_read(r, lines[r.id], limits, numbers.get(r.qid, [])) for r in requests if r.id in lines]
    claims: dict[str, set[str]] = {}
    for answer in made:
        claims.setdefault(answer.text, set()).add(answer.request.claim)
    return [_with(a, Odd("same as another")) if a.text and len(claims[a.text]) > 1 else a for a in made]


def _read(request: Request, line: dict, limits: Limits, numbers: list[str]) -> Answer:
    text, odd = read_answer(line["status"], line["body"])
    unusable = any(o.check in ("withheld", "refused by the endpoint", "unreadable") for o in odd)
    if not unusable:
        odd = odd + [o for o in oddities(request.claim, text, limits, numbers)
                     if o.check not in {known.check for known in odd}]
    return Answer(request, text, tuple(odd), overlap(request.claim, text, limits.n), line)


def _with(answer: Answer, odd: Odd) -> Answer:
    return Answer(answer.request, answer.text, (*answer.odd, odd), answer.overlap, answer.raw)


def odd_lines(answers: list[Answer]) -> list[dict]:
    """A line each thing that is odd about an answer: qid, check, whether it keeps the answer out, detail."""
    return [{"qid": a.request.qid, "check": o.check, "kept_out": o.keeps_out, "detail": o.detail,
             "meaning": CHECKS[o.check][1]} for a in answers for o in a.odd]
