"""The miniature of DAPFAM, in its columns: 300 made-up patent families, 40 queries, and relations.

A family is one telling of an invention with the classes of one to three members. Of a mechanism's
four fields the first has no family in the corpus. By turns a query cites families of its own field
and others, of its own field alone, and of other fields alone; as many pairs again are sampled
non-citations, of other mechanisms. Of these are odd:
- queries and families are numbered apart, and three numbers stand in both: one is one patent;
- three families and a query have no class, two families list none and have codes;
- two positives state the other domain than their classes give;
- some families lack a text.
"""

from dataclasses import dataclass, field
from itertools import groupby

import pyarrow as pa

from kit.collection.miniature.draw import draw, pick, some
from kit.collection.miniature.telling import Cell, cells, tell

DOCS_OF_A_FIELD = (0, 3, 4, 5)  # and one more for the last field of every other mechanism
SECOND_QUERIES = 16             # mechanisms that have two
FIRST_QUERY_NUMBER = 298
SAME_PATENT = 299
THREE = "classifications_ipcr_list_first_three_chars_list"
_AUTHORITIES = ("EP", "US", "US", "WO", "JP", "CN", "DE")
_PATENT = [(name, pa.string()) for name in (
    "earliest_claim_jusrisdiction", "jurisdiction", "ipcr_codes_str", "earliest_claim_date")] + [
    ("earliest_claim_year", pa.int64()), (THREE, pa.list_(pa.string()))] + [
    (name, pa.string()) for name in ("title_en", "abstract_en", "claims_text", "description_en")]
SCHEMAS = {
    "queries": pa.schema([("query_id", pa.string()), *_PATENT, ("abstract_keywords", pa.string())]),
    "corpus": pa.schema([("relevant_id", pa.string()), *_PATENT]),
    "relations": pa.schema([("query_id", pa.string()), ("relevant_id", pa.string()),
                            ("relevance_score", pa.float64()), ("domain_rel", pa.string())]),
}


@dataclass
class Family:
    """One invention in its place; `row` holds the table's fields but for the identifier. cites:
    of a query, "both", "near" or "far"."""

    key: str
    cell: Cell
    cites: str = ""
    name: str = ""
    row: dict = field(default_factory=dict)


def build() -> dict[str, pa.Table]:
    """The tables `queries`, `corpus` and `relations`, the same on every machine."""
    queries, docs = plan()
    for family in queries + docs:
        family.row = _row(family)
    _plant_same_patent(queries, docs)
    cited = {q.name: _cited(q, docs) for q in queries}
    _plant_classes(queries, docs, cited)
    _plant_texts(docs)
    rows = {"queries": [{"query_id": q.name, **q.row} for q in queries],
            "corpus": [{"relevant_id": d.name, **d.row} for d in docs],
            "relations": _relations(queries, docs, cited)}
    return {name: pa.Table.from_pylist(rows[name], schema) for name, schema in SCHEMAS.items()}


def plan() -> tuple[list[Family], list[Family]]:
    """All queries and families, numbered in orders of their own that tell nothing."""
    queries, docs = [], []
    for turn, (_, group) in enumerate(groupby(cells(), key=lambda c: c.mechanism)):
        fields = list(group)
        fields = fields[turn % 4:] + fields[:turn % 4]
        counts = [*DOCS_OF_A_FIELD[:-1], DOCS_OF_A_FIELD[-1] + turn % 2]
        docs += [Family(f"family {cell.key} {n}", cell)
                 for cell, count in zip(fields, counts) for n in range(count)]
        place, cites = ((3, "both"), (2, "near"), (0, "far"))[turn % 3]
        queries.append(Family(f"asked {fields[place].key} 0", fields[place], cites))
        if turn < SECOND_QUERIES:
            queries.append(Family(f"asked {fields[1].key} 1", fields[1], "both"))
    for first, families in ((FIRST_QUERY_NUMBER, queries), (1, docs)):
        families.sort(key=lambda f: draw(1 << 60, "id", f.key))
        for number, family in enumerate(families, first):
            family.name = f"md-{number:06d}"
    return queries, docs


def _row(family: Family) -> dict:
    """The fields of a family: late texts, the earliest claim, the classes of all members."""
    told = tell(family.cell, draw(2, family.key, "variant"), family.key)
    first = 2004 if family.cites else 1988
    days = sorted(f"{first + draw(16, family.key, 'year', n):04d}-"
                  f"{1 + draw(12, family.key, 'm', n):02d}-{1 + draw(28, family.key, 'd', n):02d}"
                  for n in range(1 + draw(3, family.key, "members")))
    classes = {c for day in days for c in some(family.cell.words["ipc"], 1, family.key, day)}
    if draw(8, family.key, "also") == 0:  # a member that was filed under another field, too
        other = [c for c in cells()
                 if c.mechanism == family.cell.mechanism and c is not family.cell]
        classes.add(pick(pick(other, family.key, "other").words["ipc"], family.key, "class"))
    row = {
        "earliest_claim_jusrisdiction": pick(_AUTHORITIES, family.key, days[0]),
        "jurisdiction": pick(_AUTHORITIES, family.key, days[-1]),
        "earliest_claim_date": days[0], "earliest_claim_year": int(days[0][:4]),
        "title_en": told["title"], "abstract_en": told["abstract"],
        "claims_text": told["claims"].replace("\n", " "),  # without line breaks, as there
        "description_en": told["description"].replace("\n", " "),
        **_class_fields(classes)}
    return row | {"abstract_keywords": "; ".join(told["ai_features"])} if family.cites else row


def _class_fields(classes: set[str]) -> dict:
    return {"ipcr_codes_str": ";;".join(sorted(classes)), THREE: sorted({c[:3] for c in classes})}


def _cited(query: Family, docs: list[Family]) -> list[Family]:
    """The positives of a query."""
    same = [d for d in docs if d.cell.mechanism == query.cell.mechanism and d.name != query.name]
    near = [d for d in same if d.cell is query.cell]
    far = [d for d in same if d.cell is not query.cell]
    count = 3 + draw(4, query.key, "far") if query.cites == "far" else 1 + draw(3, query.key, "far")
    chosen = [] if query.cites == "far" else some(near, 2 + draw(3, query.key, "near"), query.key)
    return chosen + ([] if query.cites == "near" else some(far, count, query.key, "far"))


def _relations(queries: list[Family], docs: list[Family], cited: dict) -> list[dict]:
    """Positives with their domain by the listed classes or codes, and as many non-citations."""
    positives = [(q, d, 1.0, "IN" if _classes(q) & _classes(d) else "OUT")
                 for q in queries for d in cited[q.name]]
    told = [n for n, (q, d, *_) in enumerate(positives) if _classes(q) and _classes(d)]
    for n in some(told, 2, "stated otherwise"):
        q, d, score, domain = positives[n]
        positives[n] = q, d, score, "OUT" if domain == "IN" else "IN"
    sampled = [(q, d, 0.0, "NC") for q in queries
               for d in some([d for d in docs if d.cell.mechanism != q.cell.mechanism],
                             len(cited[q.name]), q.key, "sampled")]
    rows = [{"query_id": q.name, "relevant_id": d.name, "relevance_score": score,
             "domain_rel": domain} for q, d, score, domain in positives + sampled]
    return sorted(rows, key=lambda row: (row["query_id"], row["relevant_id"]))


def _classes(family: Family) -> set[str]:
    """The three-character classes, by the codes."""
    return {c[:3] for c in family.row["ipcr_codes_str"].split(";;") if c}


def _plant_same_patent(queries: list[Family], docs: list[Family]) -> None:
    """The family of one number that stands in both tables is the query's own."""
    name = f"md-{SAME_PATENT:06d}"
    query, doc = (next(f for f in families if f.name == name) for families in (queries, docs))
    doc.cell = query.cell
    doc.row = {column: query.row[column] for column in doc.row}


def _plant_classes(queries: list[Family], docs: list[Family], cited: dict) -> None:
    """A query and three families without a class, and two families whose list is empty."""
    in_both = {q.name for q in queries}
    found = {d.name for families in cited.values() for d in families} - in_both
    held = some([d for d in docs if d.name in found], 4, "classes")
    free = some([d for d in docs if d.name not in found | in_both], 1, "classes")
    names = {d.name for d in docs}
    asked = some([q for q in queries if q.cites == "far" and q.name not in names], 1, "classes")
    for family in held[:2] + free + asked:
        family.row |= _class_fields(set())
    for family in held[2:]:
        family.row[THREE] = []


def _plant_texts(docs: list[Family]) -> None:
    """Families without an abstract, without claims and without a description."""
    plain = iter(some([d for d in docs if d.name != f"md-{SAME_PATENT:06d}"], 9, "texts"))
    for column, empty, count in (("abstract_en", "", 3), ("claims_text", None, 2),
                                 ("description_en", "", 4)):
        for _ in range(count):
            next(plain).row[column] = empty
