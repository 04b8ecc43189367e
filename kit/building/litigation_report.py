"""What `16_litigation` shows of a set: trials, grounds, losses with intervals, golds with their evidence."""

from html import escape
from pathlib import Path

import pandas as pd
from IPython.display import HTML, display

from kit.building import litigation, made_trials, ptab
from kit.building.judging import JUDGED, SAMPLE, Judge, Judging, share_of
from kit.building.query_set import read_lines
from kit.collection.built import read_frozen, read_manifest
from kit.collection.sources import Collection, open_collection
from kit.errors import BuildError
from kit.files import find_path
from kit.reporting import show
from kit.reporting.reader import somebody_is_there


def open_set(name: str) -> tuple[Path, Collection]:
    """A built litigation set by its folder, or the made-up one by its name. Raises BuildError for another
    folder, CollectionError for a frozen set that was changed."""
    folder = made_trials.folder() if name == made_trials.NAME else find_path(name)
    manifest = read_manifest(folder) if folder.is_dir() else None
    if manifest is None or manifest["mode"] != litigation.MODE:
        raise BuildError("this is no built litigation set", name, "Name a folder that 'kit build litigation' made")
    return folder, open_collection(str(folder))


def facts(folder: Path, made: Collection) -> HTML:
    """What the set is, and whether its mode may use it."""
    stated = made.query_set
    notes, rows = stated["notes"], about(folder)
    left_out = ", ".join(f"{n} of {statute}" for statute, n in notes["grounds_left_out"].items())
    return show.facts({
        "mode": stated["mode"], "status": "frozen" if read_frozen(folder) else "pending: not frozen",
        "rows": f"{len(rows):,}, one a challenged patent", "golds": f"{len(made.tables['qrels']):,}",
        "query": f"the challenged patent's own text in the view {stated['parameters']['view']}",
        "made for the corpus of": f"{stated['collection']['environment']}, generation "
                                  f"{stated['collection']['generation'] or 'not pinned'}",
        "trials instituted in part, before 2018": notes["partly_instituted"],
        "trials with grounds left out": left_out or "none",
        "files of which nothing was read": unread(notes["odd_files"])}, made.note)


def unread(files: dict[str, str], most: int = 3) -> str:
    """How many files gave nothing, with the first of them and why."""
    told = "; ".join(f"{name}: {why}" for name, why in list(files.items())[:most])
    return f"{len(files):,}, {'such as ' * (len(files) > most)}{told}" if files else "none"


def about(folder: Path) -> list[dict]:
    """What is known of each row beside its golds."""
    return read_lines(Path(folder) / litigation.ABOUT)


# --- trials and grounds ---------------------------------------------------------------------------

def trials(folder: Path) -> pd.DataFrame:
    """A row a kind of source, then a row a reason for which trials were left out: what, trials, share."""
    manifest = read_manifest(Path(folder))
    count = next(c for c in manifest["counts"] if c["what"] == litigation.TRIALS)
    kinds = manifest["notes"]["sources_of_grounds"]
    told = [(f"read: {kind}", kinds[kind]) for kind in ptab.ORDER if kind in kinds]
    told += [(f"left out: {reason}", n) for reason, n in sorted(count["losses"].items(), key=_most_first)]
    return pd.DataFrame([{"what": what, "trials": n, "share": n / count["entered"]} for what, n in told])


def _most_first(pair: tuple[str, int]) -> tuple[int, str]:
    return -pair[1], pair[0]


def trials_said(folder: Path) -> str:
    """The finding: how many trials were read, and from which source most grounds are."""
    frame = trials(folder)
    read = frame[frame["what"].str.startswith("read")]
    most = read.loc[read["trials"].idxmax()]
    return (f"The grounds of {int(read['trials'].sum())} of {int(frame['trials'].sum())} trials were read, those of "
            f"{int(most['trials'])} from the {most['what'].removeprefix('read: ')}")


def grounds(folder: Path, most: int | None = None) -> pd.DataFrame:
    """A row a ground: patent, trial, claims, statutes, references, read from, doubt."""
    rows = [{"patent": line["patent"], "trial": trial["trial"], "claims": ground["claims"],
             "statutes": ", ".join(f"§{s}" for s in ground["statutes"]), "references": ", ".join(ground["names"]),
             "read from": ground["form"], "doubt": ground["doubt"]}
            for line in about(folder) for trial in line["trials"] for ground in trial["grounds"]]
    return pd.DataFrame(rows)[:most]


def grounds_said(folder: Path) -> str:
    """One sentence: how many grounds, of which statute, and in how many the claims can't be trusted."""
    frame = grounds(folder)
    counts = frame["statutes"].value_counts()
    told = ", ".join(f"{n} under {statute or 'none stated'}" for statute, n in counts.items())
    return (f"{len(frame)} grounds: {told}. In {int((frame['doubt'] != '').sum())} the claims as read can't be right "
            "or are not stated; their references count all the same.")


# --- losses ---------------------------------------------------------------------------------------

def losses(folder: Path) -> pd.DataFrame:
    """What became of the references, and which share of them: a row `gold`, then a row a kind of loss."""
    frame = litigation.losses(folder).rename(columns={"yes": "references", "n": "of"})
    return frame.replace({"reason": {"kept": "gold"}})


def losses_said(folder: Path) -> str:
    """The finding: how many references became golds, with the interval."""
    gold = litigation.losses(folder).iloc[0]
    return (f"{gold['yes']} of {gold['n']} references became golds: {gold['share']:.0%}, between {gold['low']:.0%} "
            f"and {gold['high']:.0%} of such references")


def completeness(folder: Path) -> str:
    """One sentence: how many rows have every reference of their trials as a gold, with the interval."""
    rows = about(folder)
    share = share_of(sum(line["complete"] for line in rows), len(rows))
    return (f"{share['yes']} of {share['n']} rows are complete ({share['share']:.0%}, between {share['low']:.0%} and "
            f"{share['high']:.0%}): every reference of their trials is a gold, or one with another gold.")


def incomplete(folder: Path, most: int = 12) -> pd.DataFrame:
    """A row an incomplete row: patent, golds lacking, why."""
    rows = [{"qid": line["qid"], "patent": line["patent"], "lacking": sum(map(len, line["lacks"].values())),
             "why": "; ".join(f"{reason}: {', '.join(names)}" for reason, names in line["lacks"].items())}
            for line in about(folder) if line["lacks"]]
    return pd.DataFrame(rows, columns=["qid", "patent", "lacking", "why"])[:most]


# --- evidence -------------------------------------------------------------------------------------

def page(item: dict) -> str:
    """A gold as HTML: what is claimed of it, then the passages, with their surroundings in grey."""
    statutes = " and ".join(f"§{s}" for s in item["statutes"])
    parts = [f'<div style="{show.SMALL}">{escape(item["trial"])}, challenged patent {escape(item["patent"])}</div>'
             f"<p><b>{escape(item['name'])}</b>, asserted under {statutes}, was read as "
             f"<b>{escape(item['number'])}</b></p>"]
    for place in item["grounds"][:3]:
        parts.append(_passage("The ground", place, item["name"]))
    parts.append(_passage("The definition", item["definition"], item["number_place"]["text"]))
    return f'<div style="{show.CARD};max-width:none">{"".join(parts)}</div>'


def _passage(role: str, place: dict, marked: str) -> str:
    where = f"{place['document']}, " + (f"page {place['page']}, " if place["page"] else "")
    return (f'<div style="{show.SMALL}">{role} · {escape(where)}characters {place["start"]:,} to {place["end"]:,}</div>'
            f'<p style="overflow-wrap:anywhere"><span style="{show.SMALL}">…{_html(place["before"])}</span>'
            f'{_marked(place["text"], marked)}<span style="{show.SMALL}">{_html(place["after"])}…</span></p>')


def _marked(text: str, word: str) -> str:
    """The passage, and in it the first place of the word, marked."""
    before, found, after = text.partition(word)
    return f"{_html(before)}{f'<mark>{_html(found)}</mark>' if found else ''}{_html(after)}"


def _html(text: str) -> str:
    """A text for a page; the sign that ends a page in it is a blank there."""
    return escape(text.replace("\f", "\n"))


def samples(folder: Path, most: int = 3) -> None:
    """Shows the first golds of the audit's sample with their evidence."""
    for item in read_lines(Path(folder) / SAMPLE)[:most]:
        display(show.harmless(page(item)))




# --- the audit ------------------------------------------------------------------------------------

def judge(folder: Path) -> None:
    """Shows the widgets by which people judge golds, where somebody is there to use them."""
    if somebody_is_there():
        display(Judge(Judging(folder), page).box)
    else:
        show.say("In JupyterLab the golds of the sample are judged here, one after the other; what is said goes to "
                 f"{JUDGED} in the set's folder.")


def judged(folder: Path) -> pd.DataFrame:
    """A row a question, then one for all of them: question, yes, n, share, low, high; shares are null
    before anything is judged."""
    return Judging(folder).shares()


def judged_said(folder: Path) -> str:
    """The finding: how many judged golds are right, with the interval, and what freezing asks."""
    found = Judging(folder).verdict()
    if not found.judged:
        return f"None of the {found.drawn} golds of the sample is judged yet"
    low, high = found.interval
    return (f"{found.good} of {found.judged} judged golds are right, between {low:.0%} and {high:.0%} of all;\n"
            f"{found.drawn - found.judged} are left to judge, and freezing asks for {found.audit.threshold:.0%}")


def judged_bad(folder: Path) -> pd.DataFrame:
    """The judged golds that got a no, with the reason."""
    table = Judging(folder).table()
    return table[(table[list(litigation.QUESTIONS)] == "no").any(axis=1)].reset_index(drop=True)


def sources(folder: Path, most: int) -> pd.DataFrame:
    """What the set was made from: the tables of the corpus, then files, by the first 16 digits of sha256."""
    held = sorted(read_manifest(Path(folder))["sources"].items(), key=lambda pair: ("fingerprint" not in pair[0], pair))
    return pd.DataFrame([{"source": name, "sha256": digest[:16]} for name, digest in held])[:most]
