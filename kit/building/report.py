"""What `15_build` shows of a built query set: losses, lengths, overlap, samples, its audit."""

from dataclasses import dataclass
from html import escape
from pathlib import Path

import pandas as pd
from IPython.display import HTML, display

from kit.building import made_up
from kit.building.judging import JUDGED, Judge, Judging
from kit.building.odd import CHECKS
from kit.building.query_set import EVIDENCE, LOST, read_lines
from kit.collection.built import MANIFEST, read_frozen, read_manifest
from kit.collection.rows import ROWS_FILE
from kit.collection.sources import Collection, open_collection
from kit.errors import BuildError
from kit.files import digest_of, find_path
from kit.reporting import show
from kit.reporting.reader import somebody_is_there

ODD = "odd.jsonl"
LEFT = "left: became a row"
SIDE = ("display:inline-block;vertical-align:top;width:46%;min-width:18em;margin-right:2%;"
        "overflow-wrap:anywhere")


@dataclass(frozen=True)
class Built:
    """A set as it lies in its folder. odd: as `paraphrase.odd_lines` gives them, or none."""

    folder: Path
    manifest: dict
    collection: Collection
    rows: list[dict]
    evidence: dict[str, list[dict]]
    lost: list[dict]
    odd: list[dict]

    @property
    def sources(self) -> dict[str, str]:
        """{qid: the claim that its text was made from}; empty for a set that was not made from claims."""
        return {q: e["claim_text"] for q, lines in self.evidence.items() for e in lines if "claim_text" in e}


def open_built(name: str) -> Built:
    """A built set by its folder, or the made-up one by its name. Raises BuildError for another folder,
    CollectionError for a frozen set that was changed."""
    folder = made_up.folder() if name == made_up.NAME else find_path(name)
    manifest = read_manifest(folder) if folder.is_dir() else None
    if manifest is None:
        raise BuildError(f"there is no {MANIFEST}, so that this is no built set", name,
                         "Name a folder that 'kit build' made")
    evidence: dict[str, list[dict]] = {}
    for line in read_lines(folder / EVIDENCE):
        evidence.setdefault(line["qid"], []).append(line)
    odd = read_lines(folder / ODD) if (folder / ODD).exists() else []
    return Built(folder, manifest, open_collection(str(folder)), read_lines(folder / ROWS_FILE), evidence,
                 read_lines(folder / LOST), odd)


def facts(made: Built) -> HTML:
    """What the set is, from what and how it was made, and whether its mode may use it."""
    stated, frozen = made.manifest, read_frozen(made.folder)
    registered = made.collection.registered_set
    status = ("frozen and registered" if registered else "frozen, and in no registry here" if frozen else
              f"pending: mode {stated['mode']} has it once it is frozen")
    return show.facts({
        "mode": stated["mode"], "status": status, "rows": f"{len(made.rows):,}",
        "golds": f"{sum(len(row['gold_apps']) for row in made.rows):,}",
        "made for the corpus of": f"{stated['collection']['environment']}, generation "
                                  f"{stated['collection']['generation'] or 'not pinned'}",
        "rows of another claim than claim 1": sum(row.get("claim", 1) != 1 for row in made.rows),
        "incomplete rows": sum("incomplete" in row for row in made.rows),
        "licence": f"{stated['licence']}; {stated['attribution']}"}, made.collection.note)


def parameters(made: Built) -> pd.DataFrame:
    """Every parameter that decided the set; a long text by its opening and its digest."""
    flat = {}
    for name, value in made.manifest["parameters"].items():
        flat |= {f"{name}: {k}": v for k, v in value.items()} if isinstance(value, dict) else {name: value}
    return pd.DataFrame([{"parameter": name, "value": _short(value)} for name, value in flat.items()])


def sources(made: Built) -> pd.DataFrame:
    """The files and tables that the set was made from, by the first 16 digits of their sha256."""
    return pd.DataFrame([{"source": name, "sha256": digest[:16]} for name, digest in made.manifest["sources"].items()])


def _short(value) -> str:
    text = "none" if value is None else str(value)
    return text if len(text) <= 80 else f"{text[:60]}… (digest {digest_of(text)[:16]})"


# --- losses ---------------------------------------------------------------------------------------

def losses(made: Built) -> pd.DataFrame:
    """A row a kind of thing and reason: what, reason, n, share of what came in; what left comes first."""
    rows = []
    for count in made.manifest["counts"]:
        reasons = sorted(count["losses"].items(), key=lambda pair: (-pair[1], pair[0]))
        rows += [{"what": count["what"], "reason": reason, "n": n, "share": n / max(count["entered"], 1)}
                 for reason, n in [(LEFT if count["what"] == made.manifest["rows_are"] else "left", count["left"]),
                                   *reasons]]
    return pd.DataFrame(rows)


def losses_said(made: Built) -> str:
    """The finding: how many left, and what most of the others were lost by."""
    mine = next(c for c in made.manifest["counts"] if c["what"] == made.manifest["rows_are"])
    said = f"{mine['left']:,} of {mine['entered']:,} {mine['what']} became rows"
    if not mine["losses"]:
        return f"{said}: none was lost"
    most = min(mine["losses"], key=lambda reason: (-mine["losses"][reason], reason))
    return (f"{said}; {sum(mine['losses'].values()):,} were lost, {mine['losses'][most]:,} of them as '{most}'"
            + (f" and the others for {len(mine['losses']) - 1} more reasons" if len(mine["losses"]) > 1 else ""))


def lost_examples(made: Built, most: int = 12) -> pd.DataFrame:
    """The first of each reason, with what is particular to it: what, id, reason, detail."""
    frame = pd.DataFrame(made.lost, columns=["what", "id", "reason", "detail"])
    return frame.groupby(["what", "reason"], sort=False).head(1).head(most).reset_index(drop=True)


def odd_table(made: Built) -> pd.DataFrame:
    """A row a check that found something: check, answers, what happens to them, what it means."""
    counted = pd.Series([line["check"] for line in made.odd], dtype=object).value_counts()
    return pd.DataFrame([{"check": name, "answers": int(counted[name]),
                          "what happens": "left out" if keeps_out else "listed, and kept", "what it means": meaning}
                         for name, (keeps_out, meaning) in CHECKS.items() if name in counted],
                        columns=["check", "answers", "what happens", "what it means"])


# --- lengths and overlap --------------------------------------------------------------------------

def lengths(made: Built) -> pd.DataFrame:
    """Texts by their number of words, in at most fifteen steps (index, as text): a column for the
    queries and, of a set made from claims, one for those."""
    texts = {"query": [row["text"] for row in made.rows]}
    if made.sources:
        texts["claim"] = [made.sources[row["qid"]] for row in made.rows if row["qid"] in made.sources]
    words = {name: pd.Series([len(t.split()) for t in held]) for name, held in texts.items()}
    top = max(int(w.max()) for w in words.values())
    step = next(s for s in (10**power * n for power in range(1, 9) for n in (1, 2, 5)) if top < 15 * s)
    counts = pd.DataFrame({name: (w // step).value_counts() for name, w in words.items()})
    counts = counts.reindex(range(top // step + 1)).fillna(0).astype(int)
    return counts.set_axis([f"{n * step}–{(n + 1) * step - 1}" for n in counts.index]).rename_axis("words")


def lengths_said(made: Built) -> str:
    """The finding: the median words of a query, beside those of its claim."""
    own = _median(row["text"] for row in made.rows)
    if not made.sources:
        return f"Half of the queries have {own} words or fewer"
    return f"A query has {own} words in the median, the claim it was made from {_median(made.sources.values())}"


def _median(texts) -> int:
    return int(pd.Series([len(text.split()) for text in texts]).median())


def overlaps(made: Built) -> pd.Series:
    """Queries by the share of their word sequences that stand in the claim, in tenths; empty for a set
    that was not made from claims."""
    shares = [e["overlap"] for lines in made.evidence.values() for e in lines if "overlap" in e]
    if not shares:
        return pd.Series(dtype=int)
    tenth = pd.Series([min(int(share * 10), 9) for share in shares]).value_counts().reindex(range(10), fill_value=0)
    return tenth.set_axis([f"{n / 10:.1f}–{(n + 1) / 10:.1f}" for n in range(10)])


def overlaps_said(made: Built) -> str:
    """The finding: how many queries share a tenth or more with their claim."""
    found = overlaps(made)
    n = made.manifest["parameters"]["limits"]["n"]
    return (f"{int(found.iloc[1:].sum()):,} of {int(found.sum()):,} queries share a tenth or more of their "
            f"sequences of {n} words with the claim")


# --- samples and the audit ------------------------------------------------------------------------

def samples(made: Built, most: int = 3) -> None:
    """Shows some rows, drawn by their digest: the text, and beside it what it was made from."""
    for row in sorted(made.rows, key=lambda row: digest_of(row["qid"]))[:most]:
        beside = [e for e in made.evidence.get(row["qid"], ())]
        claim = next((e for e in beside if "claim_text" in e), None)
        said = f"Claim {claim['claim']}{', as ' + claim['why'] if claim['why'] else ''}" if claim else ""
        display(show.harmless(beside_each_other(
            f"{row['qid']}: the query", row["text"], said, claim["claim_text"] if claim else "")))


def beside_each_other(heading: str, text: str, other_heading: str = "", other: str = "") -> str:
    """Two texts as HTML, one beside the other, every sign of theirs escaped."""
    parts = [(heading, text), (other_heading, other)]
    return f'<div style="{show.CARD};max-width:none">' + "".join(
        f'<div style="{SIDE}"><div style="{show.SMALL}">{escape(head)}</div><p>{escape(body)}</p></div>'
        for head, body in parts if body) + "</div>"


def judge(made: Built, page=None) -> None:
    """Shows the widgets by which people judge the sample, where somebody is there to use them.

    page: item -> HTML of what a judge is to see; by default its `claim` beside its `text`, and of a gold
    its evidence.
    """
    if not made.manifest.get("audit"):
        show.say("This mode asks for no judgement by people.")
    elif somebody_is_there():
        display(Judge(Judging(made.folder), page or _page_of(made)).box)
    else:
        show.say(f"In JupyterLab the {made.manifest['audit']['what']} of the sample are judged here, one after the "
                 f"other; what is said goes to {JUDGED} in the set's folder.")


def judged(made: Built) -> pd.DataFrame | None:
    """A row a question, then one for all of them (see `Judging.shares`); None where nobody is to judge."""
    return Judging(made.folder).shares() if made.manifest.get("audit") else None


def judged_said(made: Built) -> str:
    """The finding: how many of the judged are good, and what freezing asks."""
    found = Judging(made.folder).verdict()
    if not found.judged:
        return f"None of the {found.drawn} {found.audit.what} of the sample is judged yet"
    low, high = found.interval
    return (f"{found.good} of {found.judged} judged {found.audit.what} are good, between {low:.0%} and {high:.0%} "
            f"of all; the set asks for {found.audit.threshold:.0%}")


def judged_bad(made: Built) -> pd.DataFrame:
    """The judged items that got a no, with the reason."""
    if not made.manifest.get("audit"):
        return pd.DataFrame()
    table = Judging(made.folder).table()
    return table[(table[list(made.manifest["audit"]["questions"])] == "no").any(axis=1)].reset_index(drop=True)


def _page_of(made: Built):
    if made.manifest["audit"]["what"] != "golds":
        return _page
    from kit.building import litigation_report  # which imports this module

    return litigation_report.page


def _page(item: dict) -> str:
    return beside_each_other(f"{item['item']}: the query", item.get("text", ""), "what it was made from",
                             item.get("claim", ""))
