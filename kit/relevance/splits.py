"""Splits of the queries: made so that nothing leaks, or by date; and what leaks in any.

A tie is what two or more queries have in common, so that knowing one helps with the other. Ties
are kept in a form with two sides, (tie, query), for a document that 1,000 queries cite would make
500,000 pairs.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import isclose
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from kit.collection.schema import ID_COLUMN, shown
from kit.errors import KitError, ParamsError
from kit.files import find_path, written_whole
from kit.relevance.alike import Signatures, equal_texts, known_pairs, near_groups
from kit.relevance.checks.identifiers import number_of
from kit.relevance.checks.prepared import is_date

SHARES = {"train": 0.8, "dev": 0.1, "test": 0.1}
TIES = {
    "reciprocal": "two queries each have the other as a relevant document",
    "publication": "a document is relevant to two queries, or to one query and is another itself",
    "number": "two patents of one publication number, kind codes apart, are or are relevant to "
              "different queries",
    "equal text": "two patents of equal text are or are relevant to different queries",
    "near-equal text": "two patents of near-equal text are or are relevant to different queries",
}


@dataclass(frozen=True, eq=False)
class Splits:
    """An assignment of queries to splits, and how far it is from what was asked.

    table: query_id, split, component, by query_id. component: what was not torn apart, numbered
    from the largest; of date splits the day. asked: {split: share}. left_out: query_id and
    publication_date of the queries that could not be placed.
    """

    table: pd.DataFrame
    asked: dict[str, float]
    left_out: pd.DataFrame = field(default_factory=pd.DataFrame)

    @property
    def sizes(self) -> pd.DataFrame:
        """split, asked, share, queries, a row a split in the order asked."""
        queries = self.table["split"].value_counts().reindex(list(self.asked), fill_value=0)
        return pd.DataFrame({"split": list(self.asked), "asked": list(self.asked.values()),
                             "share": (queries / len(self.table)).to_numpy(),
                             "queries": queries.to_numpy()})

    @property
    def oversized(self) -> pd.DataFrame:
        """component, split, queries, share of what is larger than the largest split asked."""
        by = self.table.groupby(["component", "split"]).size().rename("queries").reset_index()
        by["share"] = by["queries"] / len(self.table)
        return by[by["share"] > _most(self.asked)].reset_index(drop=True)

    @property
    def notes(self) -> list[str]:
        """What can't be had, a sentence each; often empty."""
        said = [f"{row.queries:,} queries ({row.share:.1%}) hang together: they can't be kept "
                f"apart, and stand whole in {row.split}" for row in self.oversized.itertuples()]
        said += [f"{row.split} has {row.share:.1%} of the queries, where {row.asked:.1%} was asked"
                 for row in self.sizes.itertuples() if abs(row.share - row.asked) >= 0.01]
        if len(self.left_out):
            said.append(f"{len(self.left_out):,} queries are left out: their date is malformed")
        return said

    def write(self, path: str | Path) -> None:
        """Writes the table as Parquet, whole or not at all. Raises KitError for another ending."""
        _require_parquet(Path(path))
        with written_whole(Path(path)) as part:
            self.table.to_parquet(part, index=False)


def _most(asked: Mapping[str, float]) -> float:
    return max(asked.values()) + 1e-9  # a component that just fits is none too many


def find_ties(collection, kinds: Iterable[str] = tuple(TIES),
              signed: Signatures | None = None) -> pd.DataFrame:
    """What queries have in common: kind, tie, query_id, a row a query of a tie of two or more.

    kinds: of TIES; they are the categories of the column kind, also those of which none is found.
    tie: the document's identifier, the two queries', or the digest that names a group of texts.
    signed: for near-equal texts, the signatures of all queries and relevant documents; made if
    None. An own entry counts as its query only where identifiers are shared.
    Raises ParamsError for an unknown kind.
    """
    kinds = _known_kinds(kinds)
    pairs, queries = known_pairs(collection), _queries(collection)
    digests = {"digest": "group"}
    made = {
        "reciprocal": lambda: _reciprocal(collection, pairs),
        "publication": lambda: _publications(collection, pairs, queries),
        "number": lambda: _of_groups(collection, _numbers(collection), pairs, queries),
        "equal text": lambda: _of_groups(
            collection, equal_texts(collection).rename(columns=digests), pairs, queries),
        "near-equal text": lambda: _of_groups(
            collection, near_groups(collection, signed), pairs, queries),
    }
    found = [made[kind]().assign(kind=kind) for kind in kinds]
    empty = pd.DataFrame(columns=["kind", "tie", "query_id"], dtype=object)
    ties = pd.concat([empty, *found])[list(empty)].drop_duplicates()
    ties = ties[ties.groupby(["kind", "tie"])["query_id"].transform("size") > 1]
    ties["kind"] = pd.Categorical(ties["kind"], kinds)
    return ties.sort_values(["kind", "tie", "query_id"], ignore_index=True)


def _known_kinds(kinds: Iterable[str]) -> list[str]:
    """The kinds in the order of TIES. Raises ParamsError for an unknown one."""
    kinds = [kinds] if isinstance(kinds, str) else list(kinds)
    unknown = [kind for kind in kinds if kind not in TIES]
    if unknown:
        raise ParamsError(f"unknown tie '{unknown[0]}'", "ties", f"Give of {', '.join(TIES)}")
    return [kind for kind in TIES if kind in kinds]


def make_splits(collection, shares: Mapping[str, float] = SHARES, seed: int = 0,
                ties: Iterable[str] = tuple(TIES), found: pd.DataFrame | None = None) -> Splits:
    """Splits in which no tie crosses a border; what hangs together stands in one split.

    shares: {split: share}, which sum to 1. ties: the kinds that count; with fewer the splits come
    nearer to the shares, and `leakage` says what crosses. found: the result of `find_ties`, for
    these kinds at least; made if None. The largest components come first, each whole into the
    split that lacks most queries, also where it is too large for any; those of one size come in an
    order drawn by the seed. Each split gets a query.
    Raises ParamsError for unusable shares, seed or ties, KitError where a split would be empty.
    """
    _require_shares(shares)
    _require_seed(seed)
    kinds = _known_kinds(ties)
    found = find_ties(collection, kinds) if found is None else found
    lacking = [kind for kind in kinds if kind not in found["kind"].cat.categories]
    if lacking:
        raise ParamsError(f"the ties found leave out '{lacking[0]}'", "found",
                          "Find these too, or name fewer kinds")
    queries = _queries(collection)
    component = _components(queries, found[found["kind"].isin(kinds)])
    sizes = np.bincount(component)
    if len(sizes) < len(shares):
        raise KitError(f"{len(queries):,} queries make {len(sizes):,} parts that nothing ties, too "
                       f"few for {len(shares)} splits", collection.source,
                       "Let fewer kinds of ties count, or ask for fewer splits")
    placed = _placed(sizes, shares, seed)
    table = pd.DataFrame({"query_id": queries, "split": placed[component], "component": component})
    return Splits(table, dict(shares))


def make_date_splits(collection, shares: Mapping[str, float] = SHARES) -> Splits:
    """Splits by publication date: the oldest queries in the first of the shares, and so on.

    A border stands between two days, where it is nearest to the shares asked. Queries whose date
    is malformed are left out. Ties are not looked at: see `leakage`.
    Raises ParamsError for unusable shares, KitError where there are fewer days than splits.
    """
    _require_shares(shares)
    dates = _dates(collection)
    stated = dates["publication_date"].map(is_date).astype(bool)
    table = dates[stated].rename(columns={"publication_date": "component"})
    days, counts = np.unique(table["component"].to_numpy(str), return_counts=True)
    if len(days) < len(shares):
        raise KitError(f"the queries have {len(days)} publication dates, too few for "
                       f"{len(shares)} splits", collection.source, "Ask for fewer splits")
    until, last, split_of = np.cumsum(counts), 0, {}
    for n, (split, asked) in enumerate(zip(shares, np.cumsum(list(shares.values())))):
        left = len(shares) - n - 1
        ends = np.arange(last, len(days) - left)  # a day at least for each split to come
        end = ends[np.abs(until[ends] - asked * len(table)).argmin()] if left else ends[-1]
        split_of |= dict.fromkeys(days[last:end + 1], split)
        last = end + 1
    table = table.assign(split=table["component"].map(split_of))
    return Splits(table[["query_id", "split", "component"]].reset_index(drop=True), dict(shares),
                  dates[~stated].reset_index(drop=True))


def leakage(collection, splits, found: pd.DataFrame | None = None) -> pd.DataFrame:
    """How many ties cross a border, by kind: kind, crossing, of, queries, sentence.

    splits: Splits, a Series query_id -> split, or a frame with both columns, made anywhere.
    found: the result of `find_ties`, whose kinds are told; made for all kinds if None. of: the
    ties of two queries or more, with a split or without. queries: those of a crossing tie. The
    last row, "without a split", counts the queries that `splits` does not place.
    Raises KitError for a query that is unknown or stands in two splits.
    """
    found = find_ties(collection) if found is None else found
    rows = leaking_rows(collection, splits, found)
    across, told = rows.drop_duplicates(["kind", "tie"]), found.drop_duplicates(["kind", "tie"])
    counts = [(kind, (across["kind"] == kind).sum(), (told["kind"] == kind).sum(),
               rows["query_id"][rows["kind"] == kind].nunique(), TIES[kind])
              for kind in found["kind"].cat.categories]
    queries = len(_queries(collection))
    left = queries - len(_assignment(collection, splits))
    counts.append(("without a split", left, queries, left, "a query is in none of the splits"))
    return pd.DataFrame(counts, columns=["kind", "crossing", "of", "queries", "sentence"])


def leaking_rows(collection, splits, found: pd.DataFrame | None = None) -> pd.DataFrame:
    """The ties that cross a border: kind, tie, query_id, split, a row a query. See `leakage`."""
    found = find_ties(collection) if found is None else found
    rows = found.assign(split=found["query_id"].map(_assignment(collection, splits)))
    rows = rows.dropna(subset=["split"])
    across = rows.groupby(["kind", "tie"], observed=True)["split"].transform("nunique") > 1
    return rows[across].reset_index(drop=True)


def read_splits(path: str | Path) -> pd.Series:
    """A file with the columns query_id and split -> a Series query_id -> split.

    Parquet, CSV or TSV by its ending; CSV and TSV are read as text, UTF-8.
    Raises KitError for a file that can't be read so, an empty value, or a query in two splits.
    """
    path = find_path(str(path))
    if not path.is_file():
        raise KitError("there is no such file of splits", path,
                       "Give a .parquet, .csv or .tsv with the columns query_id and split")
    frame = _frame_of(path)
    lacking = [name for name in ("query_id", "split") if name not in frame]
    if lacking:
        raise KitError(f"the column '{lacking[0]}' is missing", path,
                       "A file of splits has the columns query_id and split")
    if frame.empty:
        raise KitError("the file has no row", path, "Give each query a row with its split")
    frame = frame[["query_id", "split"]]
    for row, values in enumerate(frame.to_dict("records"), start=1):
        for name, value in values.items():
            if not isinstance(value, str) or not value.strip():
                raise KitError(f"{name} is {shown(value)}, where a text is asked",
                               f"{path}, row {row}", "Write identifiers and splits as text")
    return _one_split_a_query(frame, path)


def _frame_of(path: Path) -> pd.DataFrame:
    try:
        if path.suffix == ".parquet":
            return pq.read_table(path).to_pandas(ignore_metadata=True).astype(object)
        if path.suffix in (".csv", ".tsv"):
            frame = pd.read_csv(path, sep="\t" if path.suffix == ".tsv" else ",", dtype=str,
                                keep_default_na=False, encoding="utf-8")
            if isinstance(frame.index, pd.RangeIndex):
                return frame
            raise ValueError("rows have more fields than the header")
    except (ValueError, OSError, pa.ArrowException) as error:  # what both readers raise for a file of another kind
        raise KitError(f"the splits can't be read: {str(error)[:300]}", path,
                       "Write them anew, CSV and TSV as UTF-8 with the header query_id, split") from error
    raise KitError("splits are read from Parquet, CSV or TSV", path,
                   "Give a name that ends in .parquet, .csv or .tsv")


def _queries(collection) -> np.ndarray:
    """The identifiers of the queries, each once, in ascending order."""
    return np.array(sorted(set(collection.ids("queries")) - {None}), dtype=object)


def _dates(collection) -> pd.DataFrame:
    """query_id, publication_date by query_id; of a repeated identifier the first row."""
    frame = collection.frame("queries", ["query_id", "publication_date"])
    frame = frame.dropna(subset=["query_id"]).drop_duplicates("query_id")
    return frame.sort_values("query_id", ignore_index=True)


def _reciprocal(collection, pairs: pd.DataFrame) -> pd.DataFrame:
    """tie, query_id of the pairs that stand both ways; none where identifiers are not shared."""
    turned = pairs.rename(columns={"query_id": "doc_id", "doc_id": "query_id"})
    both = pairs.merge(turned) if collection.shared_ids else pairs.iloc[:0]
    both = both[both["query_id"] < both["doc_id"]]
    tie = [f"{a!r} and {b!r}" for a, b in zip(both["query_id"], both["doc_id"])]
    return pd.concat([pd.DataFrame({"tie": tie, "query_id": both[end]}) for end in both])


def _publications(collection, pairs: pd.DataFrame, queries: np.ndarray) -> pd.DataFrame:
    """tie, query_id: each document with the queries it is relevant to, and itself if it is one."""
    named = pairs.rename(columns={"doc_id": "tie"})
    own = queries[pd.Series(queries).isin(pairs["doc_id"])] if collection.shared_ids else []
    return pd.concat([named, pd.DataFrame({"tie": own, "query_id": own})])


def _numbers(collection) -> pd.DataFrame:
    """table, identifier, group: the patents with a publication number, named by it without its
    kind code. A number is no key; two patents of one number are most likely one invention."""
    parts = []
    for table, key in ID_COLUMN.items():
        frame = collection.frame(table, [key, "source_xpn"]).dropna()
        frame = frame[frame["source_xpn"].str.contains("[1-9]")]  # else it is a placeholder
        parts.append(pd.DataFrame({"table": table, "identifier": frame[key],
                                   "group": frame["source_xpn"].map(number_of)}))
    return pd.concat(parts).drop_duplicates(["table", "identifier"])


def _of_groups(collection, groups: pd.DataFrame, pairs: pd.DataFrame,
              queries: np.ndarray) -> pd.DataFrame:
    """tie, query_id: each group of two patents or more with the queries that they touch.

    groups: table, identifier, group. A query touches itself, a document what it is relevant to.
    """
    touched = pd.concat([
        pd.DataFrame({"table": "queries", "identifier": queries, "query_id": queries}),
        pairs.rename(columns={"doc_id": "identifier"}).assign(table="corpus")])
    rows = groups.merge(touched, on=["table", "identifier"])
    # an own entry is its query: one patent, whatever its text
    space = "" if collection.shared_ids else rows["table"] + " "
    patent = space + rows["identifier"]
    several = patent.groupby(rows["group"]).transform("nunique") > 1
    return rows.loc[several, ["group", "query_id"]].rename(columns={"group": "tie"})


def _components(queries: np.ndarray, ties: pd.DataFrame) -> np.ndarray:
    """The component of each query, numbered by size, then by the least identifier in it."""
    ends = np.searchsorted(queries, ties["query_id"].to_numpy(object))
    groups = ties.groupby(["kind", "tie"], observed=True)
    n = len(queries) + groups.ngroups
    tie = len(queries) + groups.ngroup().to_numpy()
    graph = coo_array((np.ones(len(ties)), (ends, tie)), shape=(n, n))
    labels = connected_components(graph, directed=False)[1][:len(queries)]
    found, first, sizes = np.unique(labels, return_index=True, return_counts=True)
    number = np.empty(len(found), int)
    number[np.lexsort((first, -sizes))] = np.arange(len(found))
    return number[np.searchsorted(found, labels)]


def _placed(sizes: np.ndarray, shares: Mapping[str, float], seed: int) -> np.ndarray:
    """The split of each component; sizes fall."""
    splits, lacking = list(shares), np.array(list(shares.values())) * sizes.sum()
    empty, placed = set(range(len(splits))), np.empty(len(sizes), object)
    drawn = np.random.default_rng(seed).permutation(len(sizes))
    for done, n in enumerate(drawn[np.argsort(-sizes[drawn], kind="stable")]):
        # the last components go to the splits that would be left empty
        open_to = sorted(empty) if len(sizes) - done <= len(empty) else range(len(splits))
        to = max(open_to, key=lambda i: lacking[i])
        placed[n] = splits[to]
        lacking[to] -= sizes[n]
        empty.discard(to)
    return placed


def require_askable(shares: Mapping[str, float], seed: int, path: Path) -> None:
    """Raises what `make_splits` and `Splits.write` would, before the texts are read."""
    _require_shares(shares)
    _require_seed(seed)
    _require_parquet(path)


def _require_parquet(path: Path) -> None:
    if path.suffix != ".parquet":
        raise KitError("splits are written as Parquet", path, "Give a name that ends in .parquet")


def _require_seed(seed: int) -> None:
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise ParamsError(f"a seed is a whole number from 0, not {seed!r}", "seed",
                          "Give one such as 0")


_SHARES_ARE = "Give such as train 0.8, dev 0.1, test 0.1"


def _require_shares(shares: Mapping[str, float]) -> None:
    """Raises ParamsError unless shares are named, positive and sum to 1."""
    if not isinstance(shares, Mapping) or not shares:
        raise ParamsError(f"shares are a mapping from a split's name to its share, not {shares!r}",
                          "shares", _SHARES_ARE)
    for split, share in shares.items():
        if not isinstance(split, str) or not split.strip():
            raise ParamsError(f"a split's name is a text, not {split!r}", "shares",
                              _SHARES_ARE)
        if isinstance(share, bool) or not isinstance(share, (int, float)) or not share > 0:
            raise ParamsError(f"the share of '{split}' is {share!r}, and not above 0", "shares",
                              _SHARES_ARE)
    if not isclose(sum(shares.values()), 1, abs_tol=1e-6):
        raise ParamsError(f"the shares sum to {sum(shares.values()):g}, not to 1", "shares",
                          _SHARES_ARE)


def _assignment(collection, splits) -> pd.Series:
    """Splits, Series or frame -> a Series query_id -> split of the queries that have one."""
    if isinstance(splits, Splits):
        splits = splits.table
    if isinstance(splits, pd.Series):
        splits = splits.rename("split").rename_axis("query_id").reset_index()
    if not isinstance(splits, pd.DataFrame) or not {"query_id", "split"} <= set(splits):
        raise KitError("splits are a Series by query_id, or a frame with query_id and split",
                       type(splits).__name__)
    unknown = splits["query_id"][~splits["query_id"].isin(_queries(collection))]
    if len(unknown):
        raise KitError(f"the splits name {len(unknown)} queries that the collection lacks",
                       ", ".join(map(shown, unknown.head(3))),
                       f"Give the splits of {collection.source}, with identifiers as text")
    return _one_split_a_query(splits.dropna(subset=["split"]), collection.source)


def _one_split_a_query(frame: pd.DataFrame, where) -> pd.Series:
    rows = frame[["query_id", "split"]].drop_duplicates()
    twice = rows["query_id"][rows["query_id"].duplicated()]
    if len(twice):
        raise KitError(f"{twice.nunique()} queries stand in two splits, such as {shown(twice.iloc[0])}",
                       where, "Give each query one split")
    return rows.set_index("query_id")["split"]
