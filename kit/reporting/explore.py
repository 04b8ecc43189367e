"""A collection described as data: sizes, fields, lengths, years, authorities, classes."""

import pandas as pd

from kit.collection.schema import AI_FIELDS, ID_COLUMN
from kit.relevance.protocols import offered, positives
from kit.relevance.slices import section_map
from kit.text.views import join_list

FIELDS = ("title", "abstract", "claims", "description", "adb", "iclm", "obj", *AI_FIELDS, "text")


def field_lengths(collection) -> pd.DataFrame:
    """For each table and text field of it: the share of rows that have it, and words as quartiles.

    Columns: table, field, filled (share), low, median, high (quartiles of the filled), longest.
    """
    rows = []
    for table in ID_COLUMN:
        words = {name: [] for name in FIELDS if name in collection.tables[table].column_names}
        for batch in collection.batches(table, list(words)):
            for name in words:
                words[name] += [len(join_list(value).split()) for value in batch[name]]
        for name, counts in words.items():
            rows.append({"table": table, "field": name, **_spread(pd.Series(counts, dtype=float))})
    return pd.DataFrame(rows)


def _spread(counts: pd.Series) -> dict:
    filled = counts[counts > 0]
    low, median, high = filled.quantile([0.25, 0.5, 0.75]) if len(filled) else (0, 0, 0)
    return {"filled": len(filled) / max(len(counts), 1), "low": low, "median": median, "high": high,
            "longest": filled.max() if len(filled) else 0}


def years(collection) -> pd.DataFrame:
    """Patents a publication year (rows) in each table (columns) that has any; malformed dates are
    left out."""
    columns = {}
    for table in ID_COLUMN:
        date = collection.frame(table, ["publication_date"])["publication_date"].fillna("")
        columns[table] = date[date.str.match(r"\d{4}-")].str[:4].astype(int).value_counts()
    return _joined({t: counts for t, counts in columns.items() if len(counts)}).sort_index()


def authorities(collection) -> pd.DataFrame:
    """Patents a publication authority (rows) in each table (columns), most first."""
    columns = {t: collection.frame(t, ["publication_authority"])["publication_authority"]
               .fillna("").replace("", "none").value_counts() for t in ID_COLUMN}
    return _joined(columns).sort_values("corpus", ascending=False, kind="stable")


def classes(collection) -> pd.DataFrame:
    """Patents an IPC section (rows, `none` last) in each table; one of two sections counts twice."""
    columns = {}
    for table in ID_COLUMN:
        found = pd.Series([s for held in section_map(collection, table).values()
                           for s in (sorted(held) or ["none"])], dtype=object)
        columns[table] = found.value_counts()
    return _joined(columns).sort_index()


def positives_a_query(collection) -> pd.Series:
    """How many queries (values) have how many qrels pairs (index)."""
    counts = collection.pairs["query_id"].value_counts()
    counts = counts.reindex(collection.ids("queries"), fill_value=0)
    return counts.value_counts().sort_index()


def _joined(columns: dict[str, pd.Series]) -> pd.DataFrame:
    return pd.DataFrame(columns).fillna(0).astype(int)


def sizes(collection) -> pd.DataFrame:
    """Rows of each table, and relevant pairs and queries under each protocol offered."""
    rows = [{"what": table, "rows": len(collection.ids(table))} for table in ID_COLUMN]
    for protocol in offered(collection):
        pairs = positives(collection, protocol)
        rows.append({"what": f"relevant pairs, protocol {protocol}", "rows": len(pairs),
                     "queries": pairs["query_id"].nunique()})
    return pd.DataFrame(rows, columns=["what", "rows", "queries"]).astype({"queries": "Int64"})


# --- what a picture's title says ------------------------------------------------------------------

def finding_positives(counts: pd.Series) -> str:
    total = counts.sum()
    mean = (counts.index * counts).sum() / max(total, 1)
    return f"A query has {mean:.1f} labelled documents on average, {counts.index.max()} at most"


def finding_lengths(lengths: pd.DataFrame) -> str:
    usual = lengths[lengths["filled"] >= 0.5]  # a field that few rows have says little
    longest = (lengths if usual.empty else usual).sort_values("median").iloc[-1]
    return (f"The longest texts are {longest['table']} {longest['field']}: "
            f"{longest['median']:,.0f} words at the median")


def finding_years(by_year: pd.DataFrame) -> str:
    if by_year.empty:
        return "No publication date can be read"
    middle = {t: by_year.index[(by_year[t].cumsum() >= by_year[t].sum() / 2).argmax()] for t in by_year}
    names = {"queries": "queries", "corpus": "documents"}
    said = [f"half of the {names[t]} are from {year} or before" for t, year in middle.items()]
    return ", ".join(said).capitalize()


def finding_classes(sections: pd.DataFrame) -> str:
    most = sections["corpus"].idxmax()
    share = sections["corpus"].max() / sections["corpus"].sum()
    named = sections.index.drop("none", errors="ignore")
    return f"{len(named)} IPC sections; {most} holds most documents ({share:.0%})"
