"""semantic_search: title and abstract of the citing publication are the query."""

from kit.building.query_set import Loss, QuerySet, collection_digests, golds_of
from kit.text import cleaning
from kit.text.views import VIEWS, view_of

MODE = "semantic_search"
FIELDS = VIEWS["ta"]


def build(collection, protocol: str = "all") -> QuerySet:
    """A row a query that has both a title and an abstract, in the words of the view `ta`.

    collection: a sound one, whose queries are publications or applications. A query that lacks title
    or abstract, once cleaned, or has no relevant document under the protocol, is counted out.
    Raises MeasureError for a protocol that the collection can't give.
    """
    golds = golds_of(collection, protocol)
    rows, losses, entered = [], [], 0
    for batch in collection.batches("queries", ["query_id", *FIELDS, "cpc", "ipc"]):
        for values in zip(*batch.values()):
            row, entered = dict(zip(batch, values)), entered + 1
            why = _lack(row, golds)
            if why:
                losses.append(Loss("queries", row["query_id"], why))
                continue
            made = {"qid": row["query_id"], "text": view_of(row[f] for f in FIELDS),
                    "gold_apps": golds[row["query_id"]], "query_cpc": classes_of(row)}
            rows.append({name: value for name, value in made.items() if value})
    return QuerySet(mode=MODE, rows=rows, corpus=collection, entered={"queries": entered}, losses=losses,
                    sources=collection_digests(collection), shared_ids=collection.shared_ids,
                    parameters={"protocol": protocol, "view": "ta", "cleaner": cleaning.declaration()},
                    evidence=[{"qid": row["qid"], "fields": list(FIELDS)} for row in rows])


def _lack(row: dict, golds: dict) -> str:
    """Why a query makes no row; empty if it does. The first that holds is the one that is counted."""
    lacking = next((f for f in FIELDS if not cleaning.clean(row[f] or "")), None)
    return f"no {lacking}" if lacking else (
        "" if row["query_id"] in golds else "no relevant document under the protocol")


def classes_of(row: dict) -> list[str]:
    """The classes of a query as rows state them; those that are empty are left out."""
    return list(dict.fromkeys(c for c in row["cpc"] or row["ipc"] or [] if c and c.strip()))
