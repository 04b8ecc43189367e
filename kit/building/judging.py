"""People's judgement of a built set: what is drawn, what is asked, who said what, and what it shows.

What is judged are items, such as rows or golds: dicts with an `item` (its identifier), a `stratum`,
and whatever a judge is to see. The sample is drawn when the set is built and lies in it
(`audit.jsonl`), so that nobody draws again until it looks good. Judgements go to `judged.jsonl`, which
is only appended to: a later judgement of an item counts in place of the earlier, which stays. Each
bears the digest of what was seen, so that it holds for nothing else.
"""

import hashlib
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd

from kit.building.journal import opened, read_journal
from kit.collection.built import read_manifest
from kit.errors import BuildError
from kit.files import digest_of, digest_of_file

SAMPLE, JUDGED = "audit.jsonl", "judged.jsonl"
Z = 1.959963984540054  # of a 95 % interval


@dataclass(frozen=True)
class Audit:
    """What is asked of a sample before a set may be frozen.

    questions: {name: sentence}, each answered yes or no; an item is good if every answer is yes.
    items: how many are drawn, or all where there are fewer. seed: draws them. threshold: the least
    share of good ones. what: the name of an item in the plural.
    """

    questions: dict[str, str]
    what: str = "rows"
    items: int = 100
    seed: int = 0
    threshold: float = 0.9

    def __post_init__(self):
        if not self.questions or self.items < 1 or not 0 < self.threshold <= 1:
            raise BuildError("an audit asks something of at least one item, and its threshold is above 0 "
                             "and at most 1", "audit", "Give such as --audit-items 100 --audit-threshold 0.9")

    def as_dict(self) -> dict:
        """As a manifest has it."""
        return asdict(self)


@dataclass(frozen=True)
class Verdict:
    """How far an audit is: items drawn, judged and good, and the file's digest (None without one)."""

    audit: Audit
    drawn: int
    judged: int
    good: int
    sha256: str | None

    @property
    def interval(self) -> tuple[float, float]:
        """Of the share of good ones among all of the set (Wilson, 95 %)."""
        return wilson(self.good, self.judged)

    def __str__(self) -> str:
        low, high = self.interval
        share = f", a share of {self.good / self.judged:.3f} [{low:.3f}, {high:.3f}]" if self.judged else ""
        return (f"{self.good} of {self.judged} judged {self.audit.what} are good{share}; {self.drawn} were "
                f"drawn, and the least share is {self.audit.threshold:g}")


# --- the sample -----------------------------------------------------------------------------------

def draw(items: list[dict], audit: Audit) -> list[dict]:
    """The sample: `audit.items` of the items, from each stratum in proportion, in a fixed order.

    items: dicts with `item` and `stratum`. Shares are rounded by the largest remainder; every stratum
    gives at least one where there are enough to be drawn. Neither the items' order nor a change in
    another stratum decides which of a stratum come first. Raises BuildError where one stands twice.
    """
    names = [one["item"] for one in items]
    if len(set(names)) < len(names):
        raise BuildError("an item stands twice", next(n for n in names if names.count(n) > 1), "")
    strata: dict[str, list[dict]] = {}
    for one in sorted(items, key=lambda one: _order(audit.seed, one["item"])):
        strata.setdefault(one["stratum"], []).append(one)
    sizes = _allotted({name: len(strata[name]) for name in sorted(strata)}, min(audit.items, len(items)))
    drawn = [one for name, n in sizes.items() for one in strata[name][:n]]
    return sorted(drawn, key=lambda one: _order(audit.seed, one["item"]))


def _order(seed: int, name: str) -> str:
    return hashlib.sha256(f"{seed}\n{name}".encode("utf-8", "surrogatepass")).hexdigest()


def _allotted(sizes: dict[str, int], n: int) -> dict[str, int]:
    """{stratum: how many of n}, by the largest remainder."""
    total = sum(sizes.values())
    exact = {name: n * size / total for name, size in sizes.items()}
    given = {name: max(int(share), int(n >= len(sizes))) for name, share in exact.items()}
    while sum(given.values()) < n:
        name = max((k for k in sizes if given[k] < sizes[k]), key=lambda k: exact[k] - given[k])
        given[name] += 1
    while sum(given.values()) > n:  # where small strata got one
        name = min((k for k in sizes if given[k] > 1), key=lambda k: exact[k] - given[k])
        given[name] -= 1
    return given


def thirds(values: list[float]) -> list[str]:
    """Of each value whether it is short, middle or long among all; equal ones are in one class."""
    if not values:
        return []
    low, high = pd.Series(values).quantile([1 / 3, 2 / 3])
    return ["short" if v <= low else "middle" if v <= high else "long" for v in values]


# --- judgements -----------------------------------------------------------------------------------

class Judging:
    """The sample of a set and what was said of it; `judge` adds to it. The set's folder is `folder`."""

    def __init__(self, folder: Path | str):
        self.folder = Path(folder)
        manifest = read_manifest(self.folder)
        if manifest is None or not manifest.get("audit"):
            raise BuildError("this is no built set that people are to judge", folder,
                             "Name a folder that 'kit build' made")
        self.audit = Audit(**manifest["audit"])
        self.sample = read_journal(self.folder / SAMPLE)
        odd = next((n for n, one in enumerate(self.sample, 1) if not all(
            isinstance(one.get(name), str) for name in ("item", "stratum"))), None)
        if odd is not None:
            raise BuildError(f"line {odd} is no item to be judged", self.folder / SAMPLE, "Build the set anew")
        self.digests = {one["item"]: digest_of(one) for one in self.sample}

    @property
    def path(self) -> Path:
        return self.folder / JUDGED

    def judged(self) -> dict[str, dict]:
        """{item: the judgement that counts}. Raises BuildError for one that is of no item of the
        sample, of something else that was seen, or of other questions."""
        return self._counted(read_journal(self.path))

    def _counted(self, lines: list[dict]) -> dict[str, dict]:
        for number, line in enumerate(lines, 1):
            item = line.get("item")
            if line.get("digest") is None or not isinstance(item, str) or self.digests.get(item) != line["digest"]:
                raise BuildError(f"line {number} judges what is not in the sample", self.path,
                                 "Take the file away, and judge anew")
            if not isinstance(line.get("answers"), dict) or line["answers"].keys() != (
                    self.audit.questions.keys()) or not all(
                    isinstance(v, bool) for v in line["answers"].values()):
                raise BuildError(f"line {number} answers other questions", self.path,
                                 "Take the file away, and judge anew")
        return {line["item"]: line for line in lines}

    def judge(self, item: str, answers: dict[str, bool], by: str, reason: str = "") -> None:
        """Appends one judgement, with the time. Raises BuildError for an item that was not drawn, an
        answer that lacks, a judge without a name, a no without a reason, and for a frozen set."""
        if item not in self.digests:
            raise BuildError("this item was not drawn", item, "Judge those of the sample")
        if answers.keys() != self.audit.questions.keys() or not all(
                isinstance(answer, bool) for answer in answers.values()):
            raise BuildError("every question is answered by yes or no", item,
                             f"Questions: {', '.join(self.audit.questions)}")
        if not by.strip():
            raise BuildError("a judgement has no name", item, "Say who judges")
        if not all(answers.values()) and not reason.strip():
            raise BuildError("a no has no reason", item, "Say in a few words what is wrong")
        if (self.folder / "frozen.json").exists():
            raise BuildError("the set is frozen, and nothing is judged any more", self.folder,
                             "Build another set")
        with opened(self.path) as journal:
            journal.append({"item": item, "answers": answers, "reason": reason.strip(), "by": by.strip(),
                            "at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
                            "digest": self.digests[item]})

    def left(self) -> list[dict]:
        """The items that nobody has judged, in the order in which they were drawn."""
        judged = self.judged()
        return [one for one in self.sample if one["item"] not in judged]

    def verdict(self) -> Verdict:
        """How far the audit is."""
        judged = self.judged()
        return Verdict(self.audit, len(self.sample), len(judged),
                       sum(all(j["answers"].values()) for j in judged.values()),
                       digest_of_file(self.path) if self.path.exists() else None)

    def table(self) -> pd.DataFrame:
        """A row an item of the sample: item, stratum, a column a question (yes, no or —), reason, by."""
        judged = self.judged()
        said = {True: "yes", False: "no", None: "—"}
        return pd.DataFrame([{
            "item": one["item"], "stratum": one["stratum"],
            **{q: said[judged.get(one["item"], {}).get("answers", {}).get(q)] for q in self.audit.questions},
            "reason": judged.get(one["item"], {}).get("reason", ""),
            "by": judged.get(one["item"], {}).get("by", "")} for one in self.sample])

    def shares(self) -> pd.DataFrame:
        """A row a question, then one for all of them: yes, n, share, low, high (Wilson, 95 %)."""
        judged = [j["answers"] for j in self.judged().values()]
        counted = {q: sum(a[q] for a in judged) for q in self.audit.questions}
        counted["all of them"] = sum(all(a.values()) for a in judged)
        return pd.DataFrame([{"question": q, **share_of(yes, len(judged))} for q, yes in counted.items()])


def notebook_of(what: str) -> str:
    """Where an audit's items are judged, by what they are: golds with their evidence, or rows."""
    return f"notebooks/{'16_litigation' if what == 'golds' else '15_build'}.ipynb"


def audit_of(folder: Path | str) -> Verdict:
    """How far the audit of a set is. Raises BuildError for a set without one."""
    return Judging(folder).verdict()


def require_good(verdict: Verdict, where: Path | str) -> dict:
    """What the registry notes of a passed audit. Raises BuildError for one that lacks items, or whose
    share of good ones is below the threshold."""
    if verdict.judged < verdict.drawn or not verdict.drawn:
        raise BuildError(f"the audit is not done: {verdict.judged} of {verdict.drawn} {verdict.audit.what} "
                         "are judged", where, f"Judge the others in {notebook_of(verdict.audit.what)}")
    if verdict.good < verdict.audit.threshold * verdict.judged:
        raise BuildError(f"the audit found too few good {verdict.audit.what}: {verdict}", where,
                         "Build a better set: this one can't be frozen")
    low, high = verdict.interval
    return {"good": verdict.good, "judged": verdict.judged, "low": round(low, 4), "high": round(high, 4),
            "threshold": verdict.audit.threshold, "sha256": verdict.sha256}


def wilson(good: int, n: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson, JASA 22, 1927); (0, 1) where nothing was counted."""
    if not n:
        return 0.0, 1.0
    share, z2 = good / n, Z * Z
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = Z / (1 + z2 / n) * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def share_of(good: int, n: int) -> dict:
    """yes, n, share (None for n 0), low, high."""
    low, high = wilson(good, n)
    return {"yes": good, "n": n, "share": good / n if n else None, "low": low, "high": high}


# --- in a notebook --------------------------------------------------------------------------------

class Judge:
    """The widgets over a Judging; `box` is what is displayed.

    page: item -> HTML of what a judge is to see. Every answer is chosen anew for every item, so that
    none is given by a mere click on.
    """

    def __init__(self, judging: Judging, page: Callable[[dict], str]):
        import ipywidgets as w

        self.judging, self.page = judging, page
        self.by = w.Text(placeholder="your name or initials", description="Judge")
        self.shown = w.HTML(layout=w.Layout(max_height="40em", overflow="auto"))
        self.answers = {name: w.ToggleButtons(options=["yes", "no"], value=None, description=name,
                                              tooltips=[sentence, sentence])
                        for name, sentence in judging.audit.questions.items()}
        self.asked = [w.HTML(f"<i>{sentence}</i>") for sentence in judging.audit.questions.values()]
        self.reason = w.Text(placeholder="of every no", description="Reason",
                             layout=w.Layout(width="40em"))
        self.save = w.Button(description="Save, and the next", button_style="primary",
                             layout=w.Layout(width="14em"))
        self.told, self.item = w.HTML(), None
        rows = [w.HBox([self.answers[name], said]) for name, said in zip(self.answers, self.asked)]
        self.box = w.VBox([self.by, self.shown, *rows, self.reason, self.save, self.told])
        self.save.on_click(self._save)
        self._next()

    def _next(self) -> None:
        left = self.judging.left()
        self.item = left[0] if left else None
        self.shown.value = self.page(self.item) if left else "<p>Every item is judged.</p>"
        for buttons in self.answers.values():
            buttons.value = None
        self.reason.value, self.save.disabled = "", not left
        self.told.value = str(self.judging.verdict())

    def _save(self, _=None) -> None:
        answers = {name: buttons.value and buttons.value == "yes" for name, buttons in self.answers.items()}
        try:
            self.judging.judge(self.item["item"], answers, self.by.value, self.reason.value)
        except BuildError as error:
            from html import escape

            self.told.value = f"<b>{escape(str(error))}</b>"
            return
        self._next()
