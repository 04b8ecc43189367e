"""The miniature's three tables: 600 documents, 120 queries, their citations and planted oddities.

Nine devices are rare: the corpus has no document on them, so that queries on them find their
prior art in another section only (OUT). The other fields of a mechanism have many, several or a
few documents.
"""

from dataclasses import dataclass, field, replace
from itertools import groupby

import pyarrow as pa

from kit.collection.miniature.draw import draw, pick, some
from kit.collection.miniature.telling import Cell, cells, tell
from kit.collection.schema import FEATURES

RARE = frozenset(("A1", "A2", "C2", "C4", "D1", "D2", "D3", "F1", "G2"))
DOCS_OF_A_MECHANISM = 25  # none for a rare field, then 13, 8 and what is left
OWN_ENTRIES = 12           # queries that are candidates too; the first ten are five couples
RECIPROCAL_COUPLES = 5
TOLD = ("title", "abstract", "claims", "description", "adb", "iclm", "obj")
_AUTHORITIES = ("EP", "US", "US", "WO", "JP", "CN", "DE", "FR", "KR", "GB")
_LANGUAGE = {"EP": "en", "US": "en", "WO": "en", "JP": "ja", "CN": "zh", "DE": "de", "FR": "fr",
             "KR": "ko", "GB": "en"}


@dataclass
class Patent:
    """One invention with its place in the plan; `row` holds the table's fields."""

    name: str
    cell: Cell
    variant: int
    row: dict = field(default_factory=dict)
    own_entry: bool = False  # a corpus row that is a query too
    copied: bool = False     # its text is another patent's

    @property
    def date(self) -> str:
        return self.row["publication_date"]


def build() -> dict[str, pa.Table]:
    """The tables `queries`, `corpus` and `qrels`, the same on every machine."""
    docs, queries = plan()
    pairs = _cite(docs, queries)
    _plant_own_entries(docs, queries, pairs)
    _plant_families(docs, queries, pairs)
    _plant_text(docs)
    _plant_bibliography(docs, queries, pairs)
    _plant_labels(pairs)
    _plant_views(queries)
    qrels = [{"query_id": q, "doc_id": d, **labels} for (q, d), labels in sorted(pairs.items())]
    return {"queries": _table("queries", [{"query_id": q.name, **q.row} for q in queries]),
            "corpus": _table("corpus", [{"doc_id": d.name, **d.row} for d in docs]),
            "qrels": _table("qrels", qrels)}


def _table(name: str, rows: list[dict]) -> pa.Table:
    schema = FEATURES[name].arrow_schema.remove_metadata()
    return pa.Table.from_pylist([{c: row.get(c) for c in schema.names} for row in rows], schema)


def plan() -> tuple[list[Patent], list[Patent]]:
    """All documents and queries with their texts; ids run through both in a shuffled order."""
    docs, queries = [], []
    for fields in _mechanisms():
        for place, (cell, n) in enumerate(fields):
            docs += [(cell, v % 2, f"d {cell.key} {v}") for v in range(n)]
            # the first field, a rare one, has a second query
            queries += [(cell, v % 2, f"q {cell.key} {v}") for v in range(2 if place == 0 else 1)]
    order = sorted(docs + queries, key=lambda p: draw(1 << 60, "id", p[2]))
    names = {key: f"mini-{n:06d}" for n, (_, _, key) in enumerate(order, 1)}
    made = {key: _patent(cell, variant, key, names[key]) for cell, variant, key in docs + queries}
    return [made[k] for _, _, k in docs], [made[k] for _, _, k in queries]


def _mechanisms() -> list[list[tuple[Cell, int]]]:
    """Each mechanism's fields with their number of documents, the rare ones first."""
    found = []
    for turn, (_, group) in enumerate(groupby(cells(), key=lambda c: c.mechanism)):
        fields = list(group)
        rare = [c for c in fields if c.words["device"] in RARE]
        rich = [c for c in fields if c not in rare]
        rich = rich[turn % len(rich):] + rich[:turn % len(rich)]
        counts = [0] * len(rare) + [13, 8][:len(rich) - 1]
        counts.append(DOCS_OF_A_MECHANISM - sum(counts))
        found.append(list(zip(rare + rich, counts)))
    return found


def _patent(cell: Cell, variant: int, key: str, name: str) -> Patent:
    is_query = key.startswith("q ")
    authority = pick(_AUTHORITIES, key, "authority")
    year = 2005 + draw(16, key, "year") if is_query else 1988 + draw(32, key, "year")
    # numbers that no office has given out
    xpn = f"{authority}99{draw(10**6, key, 'number'):06d}" + pick(("A1", "A", "B1", ""), key, "kind")
    row = {
        **tell(cell, variant, key), "source_xpn": xpn, "publication_authority": authority,
        "publication_date": f"{year}-{1 + draw(12, key, 'm'):02d}-{1 + draw(28, key, 'd'):02d}",
        "source_apl": "" if draw(12, key, "apl") == 0 else _LANGUAGE[authority],
        "ipc": some(cell.words["ipc"], 1 + draw(len(cell.words["ipc"]), key, "ipc"), key),
    }
    row["ipc_section"] = cell.section
    for view in ("adb", "iclm", "obj"):
        if draw(6, key, view) == 0:
            row[view] = None
    return Patent(name, cell, variant, row)


def _cite(docs: list[Patent], queries: list[Patent]) -> dict[tuple[str, str], dict]:
    """{(query, document): labels}: own field (IN), another field (OUT), or some of both (MIXED)."""
    pairs = {}
    for n, query in enumerate(queries):
        same = [d for d in docs if d.cell.mechanism == query.cell.mechanism]
        near = [d for d in same if d.cell is query.cell]
        far = [d for d in same if d.cell is not query.cell]
        if not near:
            chosen = some(far, 5 + draw(4, query.name, "n"), query.name, "far")
        else:
            chosen = _mostly_alike(near, query, 3 + draw(3, query.name, "n"))
            if n % 4 == 0:
                chosen += some(far, 2, query.name, "far")
        for doc in chosen:
            pairs[query.name, doc.name] = _labels(query, doc)
    return pairs


def _mostly_alike(near: list[Patent], query: Patent, k: int) -> list[Patent]:
    """k documents of the query's field, those of its variant first, with one of the other."""
    alike = some([d for d in near if d.variant == query.variant], k - 1, query.name, "alike")
    other = some([d for d in near if d.variant != query.variant], k - len(alike), query.name, "other")
    return alike + other


def _labels(query: Patent, doc: Patent) -> dict:
    """The pair's exclusive category, and the search report's entries behind it."""
    direction = "cited" if doc.date < query.date else "citing"
    key = (query.name, doc.name, "label")
    letter, draws = pick("XXY", *key), draw(100, *key)
    strong = [{"category": c, "direction": direction} for c in ("XY", letter)]
    if draws < 4:  # a report may give X for one claim and Y for another
        strong = [{"category": c, "direction": direction} for c in ("XY", "X", "Y")]
    weak = [{"category": "A", "direction": direction}]
    if draws < 45:
        return {"category": "XY", "source_relations": strong}
    if draws < 95:
        return {"category": "A", "source_relations": weak}
    return {"category": "overlap", "source_relations": weak + strong}


def _plant_own_entries(docs: list[Patent], queries: list[Patent], pairs: dict) -> None:
    """Twelve queries stand in the corpus too, in place of documents that nothing cites;
    five couples of them cite each other, one couple under two categories."""
    cited = {d for _, d in pairs}
    free = [d for d in docs if d.name not in cited
            and sum(o.cell is d.cell for o in docs) > 1]
    couples = [(a, b) for a in queries for b in queries
               if a.name < b.name and a.cell.mechanism == b.cell.mechanism]
    chosen, used = [], set()
    for a, b in some(couples, len(couples), "couples"):
        if a.cell.mechanism not in used and len(chosen) < OWN_ENTRIES // 2:
            used.add(a.cell.mechanism)
            chosen.append((a, b))
    for a, b in chosen:
        for own in (a, b):
            away = next(d for d in free if d.cell.mechanism not in used)
            free.remove(away)
            docs[docs.index(away)] = replace(own, own_entry=True)
    weak = True  # for the first couple that can have another category the other way
    for a, b in chosen[:RECIPROCAL_COUPLES]:
        labels = _labels(a, b)
        pairs[a.name, b.name] = labels
        pairs[b.name, a.name] = _turned(labels, weak and labels["category"] != "A")
        weak = weak and labels["category"] == "A"


def _turned(labels: dict, weak: bool) -> dict:
    """The same citation seen from the other end; `weak` gives it another category."""
    turn = {"cited": "citing", "citing": "cited"}
    if weak:
        direction = turn[labels["source_relations"][0]["direction"]]
        return {"category": "A", "source_relations": [{"category": "A", "direction": direction}]}
    return {"category": labels["category"], "source_relations": [
        {"category": r["category"], "direction": turn[r["direction"]]}
        for r in labels["source_relations"]]}


def _plant_text(docs: list[Patent]) -> None:
    """Markup, entities, empty fields and equal texts, each in documents of its own."""
    plain = iter(some(_plain(docs), len(docs), "oddities"))

    def next_docs(n):
        return [next(plain) for _ in range(n)]

    for doc in next_docs(8):
        doc.row["abstract"] = f"<p>{doc.row['abstract']}</p><br/>"
        doc.row["description"] = doc.row["description"].replace(". ", ".&#160;", 1).replace(
            "\n", "</p>\n<p>")
    for doc in next_docs(6):
        doc.row["abstract"] += " The medium may hold H<sub>2</sub>O &amp; CO.sub.2 at 10<sup>-3</sup> bar."
    for doc in next_docs(3):
        doc.row["title"] += " &amp;amp; method of operating it"
    for doc in next_docs(4):
        doc.row["description"] += "\nThe ratio holds for x&lt;y and a&gt;b, that is where x<y and a>b."
    for field_, n in (("abstract", 5), ("claims", 4), ("description", 4), ("title", 2)):
        for doc in next_docs(n):
            doc.row[field_] = ""
    for doc in next_docs(3):
        doc.row["description"] = None
    for doc, twin in zip(next_docs(3), next_docs(3)):
        _copy_text(twin, doc)
    for doc in next_docs(3):
        doc.row["description"] += "\nA gap of 2 \u00e2\u20ac\u201c 3 mm is left."  # a dash, misread
    for doc in next_docs(2):
        doc.row["abstract"] = doc.row["abstract"].replace(" the ", " the\u200b ", 1)
    for doc in next_docs(3):
        doc.row["claims"] += f"\n{doc.row['claims'].count(chr(10)) + 2}. (canceled)"


def _plant_bibliography(docs: list[Patent], queries: list[Patent], pairs: dict) -> None:
    """Repeated publication numbers, missing classes, and cited documents of a later date."""
    plain = some(_plain(docs), 16, "bibliography")
    for a, b in zip(plain[:4], plain[4:8]):
        b.row["source_xpn"] = a.row["source_xpn"]
    for doc in plain[8:15]:
        doc.row["ipc"] = []
    own = {d.name for d in docs if d.own_entry}
    for query in some([q for q in queries if q.name not in own], 4, "no class"):
        query.row["ipc"], query.row["ipc_section"] = [], None
    citing = sorted(k for k, v in pairs.items() if v["source_relations"][0]["direction"] == "citing"
                    and (k[1], k[0]) not in pairs)
    for key in some(citing, 6, "later"):
        for relation in pairs[key]["source_relations"]:
            relation["direction"] = "cited"
    uncited = [d for d in _uncited(docs, pairs) if all(d is not p for p in plain)]
    a, b, c, d, undated, misdated = some(uncited, 6, "more bibliography")
    for one, other in ((a, b), (c, d)):
        _give_number(other, one)
    undated.row["publication_date"], misdated.row["publication_date"] = "", "2011-00-00"
    for doc in (a, c):
        doc.row["ipc"] = [*doc.row["ipc"], "unclassified"]


def _plain(docs: list[Patent]) -> list[Patent]:
    """The documents that no other patent has a text in common with."""
    return [d for d in docs if not d.own_entry and not d.copied]


def _uncited(docs: list[Patent], pairs: dict) -> list[Patent]:
    """The plain documents that are relevant to nothing."""
    cited = {d for _, d in pairs}
    return [d for d in _plain(docs) if d.name not in cited]


def _give_number(patent: Patent, of: Patent) -> None:
    """The same publication number under another kind code."""
    number = of.row["source_xpn"][:10]
    of.row["source_xpn"], patent.row["source_xpn"] = f"{number}A1", f"{number}B1"
    patent.row["publication_authority"] = of.row["publication_authority"]


def _copy_text(patent: Patent, of: Patent) -> None:
    patent.row |= {f: of.row[f] for f in TOLD}
    patent.copied = True


def _plant_families(docs: list[Patent], queries: list[Patent], pairs: dict) -> None:
    """Four relevants that are all but a copy of their query, and two queries that stand in the
    corpus under another identifier, which nothing excludes."""
    of_name = {d.name: d for d in docs if not d.own_entry}
    own = {d.name for d in docs if d.own_entry}
    asked = [q for q in queries if q.name not in own]
    chosen = {}
    for query in some(asked, len(asked), "families"):
        near = [d for q, d in sorted(pairs) if q == query.name and d in of_name
                and of_name[d].cell is query.cell and of_name[d].date < query.date]
        if near and near[0] not in chosen and len(chosen) < 4:
            chosen[near[0]] = query
    for name, query in chosen.items():
        member = of_name[name]
        _copy_text(member, query)
        member.row["description"] = member.row["description"].rpartition("\n")[0]
    hidden = some([q for q in asked if q not in chosen.values()], 2, "hidden")
    for query, doc in zip(hidden, some(_uncited(docs, pairs), 2, "hidden")):
        _copy_text(doc, query)
        _give_number(doc, query)


def _plant_labels(pairs: dict) -> None:
    """Entries that a search report would not have so, in pairs of their own."""
    turned = {key for key in pairs if key[::-1] in pairs}
    def drawn(category: str, n: int, key: str) -> list[dict]:
        fitting = sorted(k for k, v in pairs.items() if v["category"] == category
                         and k not in turned and len(v["source_relations"]) <= 2)
        return [pairs[k] for k in some(fitting, n, key)]
    for labels in drawn("A", 3, "X alone"):
        direction = labels["source_relations"][0]["direction"]
        labels["source_relations"].append({"category": "X", "direction": direction})
    strong = drawn("XY", 4, "XY alone and twice")
    for labels in strong[:2]:
        del labels["source_relations"][1]
    for labels in strong[2:]:
        labels["source_relations"].append(dict(labels["source_relations"][0]))
    for labels in [v for v in drawn("A", 12, "earlier")
                   if v["source_relations"][0]["direction"] == "cited"][:2]:
        labels["source_relations"][0]["direction"] = "citing"


def _plant_views(queries: list[Patent]) -> None:
    """Views that a model left empty, and some that are a copy of their source."""
    for query in some(queries, 2, "empty views"):
        query.row["ai_ab"], query.row["ai_features"] = "", []
    for query in some([q for q in queries if q.row["ai_ab"]], 3, "copied views"):
        query.row["ai_ab"] = query.row["abstract"]

