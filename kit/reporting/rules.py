"""The seven rules: what each asks, what breaks it, and the refusals that follow.

A rule that a card breaks becomes a label on it, and a labelled card is not quotable; what would
put unlike figures side by side, or change a written record, is refused. Every refusal's message
begins with its rule. This is the one place that decides; the others ask here.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from kit.collection.registry import is_kits_own, registered_corpora
from kit.errors import RuleError
from kit.files import digest_of
from kit.relevance.protocols import PROTOCOLS
from kit.relevance.slices import NAMES


@dataclass(frozen=True)
class Rule:
    """One of the seven: its number, its name, and what it asks in a plain sentence."""

    number: int
    name: str
    sentence: str

    @property
    def title(self) -> str:
        """As messages name it: "rule 2, identical conditions"."""
        return f"rule {self.number}, {self.name}"

    def broken(self, what: str, where="", do: str = "") -> RuleError:
        """The error that says how this rule is broken."""
        return RuleError(f"{self.title}: {what}", where, do)


PINNED = Rule(1, "pinned data",
              "The collection is a generation in the registry, by its fingerprints.")
IDENTICAL = Rule(2, "identical conditions",
                 "Figures stand side by side only for the same queries, depth and corpus.")
FULL = Rule(3, "full runs",
            "Full runs publish and samples explore; a system is not run again until it looks good.")
SLICES = Rule(4, "all standard slices",
              "Every standard slice is on every card, also those that a collection can't give.")
IMMUTABLE = Rule(5, "immutable results",
                 "A result is written once, with suite version and commit, and never changed.")
DELTAS = Rule(6, "honest deltas",
              "Two modes are compared only for one system, environment and generation.")
BASELINES = Rule(7, "baselines ride along",
                 "BM25 and at least one public embedding stand in every comparison shown.")
RULES = (PINNED, IDENTICAL, FULL, SLICES, IMMUTABLE, DELTAS, BASELINES)


# --- labels ---------------------------------------------------------------------------------------

@dataclass(frozen=True)
class Label:
    """Why a card is not quotable. rule: the one that is broken, None where it is none of them."""

    name: str
    rule: Rule | None
    sentence: str


LABELS = {label.name: label for label in (
    Label("SAMPLE", FULL, "only a sample of the queries was searched"),
    Label("INCOMPLETE", FULL, "the system failed on at least one query"),
    Label("RERUN", FULL, "the same system, version and settings were searched before on this data; "
          "the number says how often"),
    Label("UNLOGGED", FULL, "the ledger does not have this run, or its chain is broken, so nobody "
          "can tell how often it was searched"),
    Label("UNPINNED", PINNED, "the collection's fingerprints are in no registry, so nobody can "
          "get the same data"),
    Label("DIRTY", IMMUTABLE, "files of the kit were changed since the commit that it names"),
    Label("MADE-UP", None, "the collection is made up: its figures are about no system"),
)}


def labels_of(card: dict, search: int | None, note: str) -> list[str]:
    """Why the figures are not to be quoted; empty when they may be.

    card: sample, status, generation, views, git and run_git, as a scorecard has them. search: the
    how manieth search of its kind the run was, None for a run that the ledger does not have.
    """
    again = search is not None and search > 1
    holds = {
        "SAMPLE": card["sample"] is not None,
        "INCOMPLETE": card["status"] != "complete",
        f"RERUN {search}": again,
        "UNLOGGED": search is None,
        "UNPINNED": card["generation"] is None,
        "DIRTY": any(git.get("dirty") is not False for git in (card["git"], card["run_git"] or {})),
        "MADE-UP": bool(note),
    }
    return [label for label, is_so in holds.items() if is_so]


def label_of(name: str) -> Label:
    """What a label on a card says; of "RERUN 2" as of "RERUN"."""
    return LABELS[name.split(" ")[0]]


def label_sentence(name: str) -> str:
    """A label's sentence with the rule that it breaks."""
    label = label_of(name)
    return f"{label.sentence} ({label.rule.title})" if label.rule else label.sentence


# --- one card -------------------------------------------------------------------------------------

STANDARD_SLICES = ("all", *NAMES)
STANDARD_PROTOCOLS = tuple(PROTOCOLS)


def missing_slices(figures: Iterable) -> list[str]:
    """What a card lacks, as "slice OUT, protocol all" or "slice OUT of R@10, protocol all"; empty
    when it is whole.

    figures: with protocol, slice and measure. Every measure has every standard slice, and what
    other slices the card has, under every protocol.
    """
    have = {(f.protocol, f.slice, f.measure): None for f in figures}
    protocols = dict.fromkeys([*STANDARD_PROTOCOLS, *(p for p, _, _ in have)])
    parts = dict.fromkeys([*STANDARD_SLICES, *(s for _, s, _ in have)])
    measures = dict.fromkeys(m for _, _, m in have)
    found = []
    for p in protocols:
        for s in parts:
            lacking = [m for m in measures if (p, s, m) not in have]
            found += [f"slice {s}, protocol {p}"] if len(lacking) == len(measures) else [
                f"slice {s} of {m}, protocol {p}" for m in lacking]
    return found


def require_slices(figures: Iterable, where) -> None:
    """Raises RuleError (rule 4) for a card from which a standard slice is missing."""
    missing = missing_slices(figures)
    if missing:
        raise SLICES.broken(f"the card lacks {_listed(missing)}", where,
                            "Give every figure that the evaluation made; an absent one has n 0")


def require_own_environment(environment: str, corpus: str, where) -> None:
    """Raises RuleError (rule 2) when the registry has the environment's name for another corpus.

    corpus: its fingerprint.
    """
    known = registered_corpora(environment)
    if known and corpus not in known:
        raise IDENTICAL.broken(
            f"the environment '{environment}' is the name of the corpus "
            f"{' or '.join(map(short, known))}, and this corpus is {short(corpus)}", where,
            "Give this collection another name: rename its folder")


def require_own_name(collection) -> None:
    """Raises RuleError (rule 2) for a collection under the name of the kit's own data that it is not,
    or that it can't be held against: of some no generation is registered."""
    name, corpus = collection.environment, collection.fingerprints["corpus"]
    require_own_environment(name, corpus, collection.source)
    if collection.entry is None and is_kits_own(name) and corpus not in registered_corpora(name):
        raise IDENTICAL.broken(f"'{name}' is the name of the kit's own data", collection.source,
                               "Give this collection another name: rename its folder")


def require_as_begun(manifest: dict, begun: dict, where) -> None:
    """Raises RuleError when a run states other conditions than its line in the ledger: rule 3 for
    the sample, else rule 5. begun: the line's event."""
    stated = {**manifest, "system": manifest["system"]["name"],
              "version": manifest["system"]["version"],
              "settings": digest_of(manifest["system"]["given"]),
              "views": {role: v["view"] for role, v in (manifest["views"] or {}).items()} or None,
              "fingerprint": manifest["fingerprints"]["together"],
              "corpus": manifest["fingerprints"]["corpus"]}
    differ = [name for name in ("system", "version", "settings", "views", "environment",
                                "fingerprint", "corpus", "depth", "sample")
              if stated[name] != begun.get(name)]
    if differ:
        rule = FULL if "sample" in differ else IMMUTABLE
        raise rule.broken(f"the run states another {_listed(differ)} than the ledger", where,
                          "Delete the run's folder and search again")


def require_as_ended(manifest_sha256: str, end: dict, where) -> None:
    """Raises RuleError (rule 5) when a run's manifest, which names its ranking, is not the one that
    the ledger noted when the run ended. end: that line's event."""
    if manifest_sha256 != end.get("manifest_sha256"):
        raise IMMUTABLE.broken("the run was changed after the ledger noted how it ended", where,
                               "Delete the run's folder and search again")


def require_sizes(manifest: dict, collection, where) -> None:
    """Raises RuleError (rule 2) when a run states other numbers of documents or queries than the
    collection has."""
    sizes = {"corpus_size": len(collection.ids("corpus")), "queries": len(collection.ids("queries"))}
    differ = [name for name, n in sizes.items() if manifest[name] != n]
    if differ:
        raise IDENTICAL.broken(f"the run states another {_listed(differ)} than the collection has",
                               where, "Search the collection anew")


def require_whole(manifest: dict, answered: int, where) -> None:
    """Raises RuleError (rule 3) when a run has not all the queries that it says were searched.

    answered: queries with a row in the run.
    """
    searched = manifest["sample"]["size"] if manifest["sample"] else manifest["queries"]
    accounted = answered + manifest["empty_rankings"] + len(manifest["failures"])
    if accounted != searched:
        raise FULL.broken(f"the run accounts for {accounted} queries and says that it searched "
                          f"{searched}", where, "Delete the run's folder and search again")


# --- cards side by side ---------------------------------------------------------------------------

def _major(record: dict) -> str | None:
    return record["suite_version"].split(".")[0] if "suite_version" in record else None


def _query_view(record: dict) -> str | None:
    """The query text's declaration; None for a run file, which declares none."""
    views = record.get("views")
    return f"{views['query']['view']} {short(views['query']['sha256'])}" if views else None


CONDITIONS = {  # of a comparison: name -> what must be equal; None is held against nothing
    "environment": lambda r: r.get("environment"),
    "fingerprints": lambda r: r.get("fingerprints"),
    "queries": lambda r: r.get("queries"),
    "sample": lambda r: r.get("sample") or "all queries",
    "query view": _query_view,
    "protocol": lambda r: r.get("protocol"),
    "depth": lambda r: r.get("depth"),
    "suite": _major,
}
SAME_SYSTEM = {  # of a mode delta, beside all but the query view
    "system": lambda r: r["system"]["name"],
    "version": lambda r: r["system"]["version"],
    "settings": lambda r: r["system"].get("given"),
    "corpus view": lambda r: ((r.get("views") or {}).get("corpus") or {}).get("view"),
    "cleaner": lambda r: ((r.get("views") or {}).get("query") or {}).get("cleaner"),
}


def differing(records: list[dict], conditions: dict = CONDITIONS) -> list[str]:
    """The conditions in which cards (or run manifests) differ, each with its values."""
    found = []
    for name, value_of in conditions.items():
        values = [v for v in map(value_of, records) if v is not None]
        distinct = [v for i, v in enumerate(values) if v not in values[:i]]
        if len(distinct) > 1:
            found.append(f"{name} ({_values(distinct)})")
    return found


def _values(distinct: list) -> str:
    if not all(isinstance(v, dict) for v in distinct):
        return ", ".join(map(_flat, distinct))
    keys = [k for k in sorted({k for v in distinct for k in v})
            if any(v.get(k) != distinct[0].get(k) for v in distinct)]
    if "together" in keys:  # fingerprints: which tables, not all of them
        tables = [k for k in keys if k != "together"] or keys
        return ", ".join(f"{t} {' and '.join(short(v.get(t)) for v in distinct)}" for t in tables)
    return ", ".join(_flat({k: v[k] for k in keys if k in v}) for v in distinct)


def _flat(value) -> str:
    if isinstance(value, dict):
        return " ".join(f"{k} {_flat(v)}" for k, v in sorted(value.items()))
    return str(value)


def require_identical(records: list[dict], names: list[str]) -> None:
    """Raises RuleError (rule 2), with every condition that differs, unless all share them.

    records: cards (`model_dump`) or run manifests; names: what to call them. The query view is a
    condition: it is what a system is asked. The corpus view is a system's own setting.
    """
    differ = differing(records)
    if differ:
        raise IDENTICAL.broken(
            f"{' and '.join(dict.fromkeys(names))} were not run under the same conditions: "
            f"{'; '.join(differ)}", "comparison", "Run all on one collection, at one depth, "
            "with one query view, and score them under one protocol")


def require_honest_delta(records: list[dict]) -> None:
    """Raises RuleError (rule 6), with all that differs, unless the cards are of one system,
    environment and generation, under one depth, protocol and sample, and of two modes and more."""
    rest = {name: value_of for name, value_of in CONDITIONS.items() if name != "query view"}
    differ = differing(records, SAME_SYSTEM | rest)
    if differ:
        raise DELTAS.broken(f"the modes differ in more than the mode: {'; '.join(differ)}",
                            "mode delta", "Run one system in both modes on one generation")
    if len({r["mode"] for r in records}) < len(records) or len(records) < 2:
        raise DELTAS.broken("a delta needs one card of each of two modes or more", "mode delta",
                            "Give a card a mode")


def missing_baselines(systems: Iterable[dict]) -> list[str]:
    """Which of the two baselines no system is. systems: as cards have them."""
    systems = list(systems)
    wanted = {"BM25": is_bm25, "a public embedding": is_public_embedding}
    return [what for what, is_one in wanted.items() if not any(map(is_one, systems))]


def is_bm25(system: dict) -> bool:
    """Whether it is the kit's BM25 (a run file can't bear its name) with the usual k1 and b."""
    given = system.get("given", {})
    return system["name"] == "bm25" and "variant" in given and (given.get("k1"), given.get("b")) == (
        1.2, 0.75)


def is_public_embedding(system: dict) -> bool:
    """Whether it is an embedding that anybody can get, that reads as much as it can, and that is run
    as published: a model of the hub by its commit, or the packaged one, whose weights the kit has
    checked against a public revision; no token limit of its user's own."""
    given = system.get("given", {})
    from_package = str(given.get("from", "")).startswith("package ") and given.get("weights")
    commit = str(given.get("revision") or "")
    is_commit = len(commit) == 40 and all(c in "0123456789abcdef" for c in commit)
    whole = given.get("max_tokens") is None and not any(
        part.get("not_as_published") for part in (given, system.get("settings") or {}))
    return bool(whole and is_commit and (from_package or given.get("from") == "hub"))


def not_publishable(records: list[dict], names: list[str]) -> list[str]:
    """Why a comparison of these cards may not be shown outside; empty when it may."""
    reasons = [f"{BASELINES.title}: {what} is missing"
               for what in missing_baselines(r["system"] for r in records)]
    for label in dict.fromkeys(label for r in records for label in r["labels"]):
        having = [name for name, r in zip(names, records) if label in r["labels"]]
        reasons.append(f"{label} on {' and '.join(having)}: {label_sentence(label)}")
    return reasons


def require_publishable(records: list[dict], names: list[str]) -> None:
    """Raises RuleError (rule 7, or that of a label) for cards that may not be shown side by side
    outside, with every reason."""
    require_identical(records, names)
    reasons = not_publishable(records, names)
    if reasons:
        broken = [label_of(label).rule for r in records for label in r["labels"]]
        missing = missing_baselines(r["system"] for r in records)
        rule = BASELINES if missing else next(filter(None, broken), None)
        said = f"the comparison can't be published: {'; '.join(reasons)}"
        where, do = "comparison", "Mend each, or keep the table to yourselves"
        raise rule.broken(said, where, do) if rule else RuleError(said, where, do)


def _listed(things: list[str], most: int = 5) -> str:
    more = f" and {len(things) - most} more" if len(things) > most else ""
    return ", ".join(things[:most]) + more


def short(digest) -> str:
    """The first 8 characters of a digest, for a message."""
    return str(digest)[:8]
