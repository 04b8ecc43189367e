"""Equal and near-equal texts: patents that a system can hardly tell apart, often of one family.

A patent's text is its title, abstract, claims and description. Two texts are near-equal when they
differ and the Jaccard similarity of their sets of 5-word sequences is NEAR or more. MinHash
proposes the pairs worth comparing (Broder, "On the resemblance and containment of documents",
1997); the sets themselves decide.
"""

import hashlib
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
from datasketch import LeanMinHash, MinHash, MinHashLSH
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from kit.collection.schema import ID_COLUMN
from kit.progress import steps

TEXTS = ("title", "abstract", "claims", "description")
NEAR = 0.8
GRAM = 5  # words
MARGIN = 0.15  # four standard errors of an estimate of NEAR
PERMUTATIONS = 128
SEED = 1
# bands and rows of the LSH: of the pairs at NEAR it misses one in 20,000
BANDS = (25, 5)
HELD = 100_000_000  # characters of text read for one round of comparisons
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, eq=False)
class Signatures:
    """What is kept of texts to compare them.

    texts: table, identifier, row (its place in the table), digest, size (characters), a row a
    text. hashes: MinHash values, uint32, a row a row of `texts`.
    """

    texts: pd.DataFrame
    hashes: np.ndarray


def equal_texts(collection) -> pd.DataFrame:
    """The rows of queries and corpus that have a text that is not blank: table, identifier, digest.

    digest: sha256 (hex) of the four fields, null and "" read the same; rows of one digest are of
    equal text. Every row is given, whatever its identifier.
    """
    rows = [(table, identifier, _digest(fields)) for table in ID_COLUMN
            for _, identifier, fields in _rows(collection, table)]
    return pd.DataFrame(rows, columns=["table", "identifier", "digest"], dtype=object)


def known_pairs(collection) -> pd.DataFrame:
    """The unique pairs whose query and document are in their tables: query_id, doc_id."""
    pairs = collection.pairs[["query_id", "doc_id"]].dropna().drop_duplicates()
    known = (pairs["query_id"].isin(collection.ids("queries"))
             & pairs["doc_id"].isin(collection.ids("corpus")))
    return pairs[known].reset_index(drop=True)


def signatures(collection, queries: Iterable[str] | None = None,
               docs: Iterable[str] | None = None) -> Signatures:
    """The signatures of the named queries and documents that have a word of text.

    Where none are named: of all queries, and of the documents that are relevant to one. Of rows
    that repeat an identifier the first counts. Texts are read once, in batches.
    """
    wanted = {"queries": set(collection.ids("queries") if queries is None else queries),
              "corpus": set(known_pairs(collection)["doc_id"] if docs is None else docs)}
    texts, hashes, empty = [], [], MinHash(PERMUTATIONS, SEED, hashfunc=int)
    for place, fields in steps(_first_rows(collection, wanted), "comparing texts",
                               sum(map(len, wanted.values()))):
        text = "\n".join(fields)
        grams = gram_hashes(text)
        if len(grams):
            minhash = empty.copy()
            minhash.update_batch(grams.tolist())
            hashes.append(minhash.hashvalues)
            texts.append((*place, _digest(fields), len(text)))
    return Signatures(
        pd.DataFrame(texts, columns=["table", "identifier", "row", "digest", "size"]),
        np.array(hashes, dtype=np.uint32).reshape(-1, PERMUTATIONS))


def near_relevants(collection, pairs: pd.DataFrame | None = None,
                   signed: Signatures | None = None) -> pd.DataFrame:
    """The pairs of a query and a document of near-equal text: query_id, doc_id, similarity.

    pairs: query_id, doc_id; those of the qrels if None. signed: signatures that hold their texts;
    made if None. Own pairs, equal texts and identifiers without a text are left out.
    """
    pairs = known_pairs(collection) if pairs is None else pairs
    if signed is None:
        signed = signatures(collection, pairs["query_id"], pairs["doc_id"])
    if collection.shared_ids:
        pairs = pairs[pairs["query_id"] != pairs["doc_id"]]
    ends = np.column_stack([_positions(signed, "queries", pairs["query_id"]),
                            _positions(signed, "corpus", pairs["doc_id"])])
    ends = np.unique(ends[(ends >= 0).all(axis=1)], axis=0)
    digest = signed.texts["digest"].to_numpy()
    ends = ends[digest[ends[:, 0]] != digest[ends[:, 1]]]
    ends = ends[_estimates(signed.hashes, ends) >= NEAR - MARGIN]
    names, rows = signed.texts["identifier"], []
    for query, doc, grams in _compared(collection, signed, ends):
        similarity = jaccard(grams(query), grams(doc))
        if similarity >= NEAR:
            rows.append((names[query], names[doc], similarity))
    found = pd.DataFrame(rows, columns=["query_id", "doc_id", "similarity"])
    return found.sort_values(["query_id", "doc_id"], ignore_index=True)


def near_groups(collection, signed: Signatures | None = None) -> pd.DataFrame:
    """Texts that near-equal pairs hold together: table, identifier, group, a row a text.

    signed: the texts to compare, all with all; those of `signatures(collection)` if None. Equal
    texts stand in one group where a third is near-equal to them. group: the least digest in it.
    """
    signed = signatures(collection) if signed is None else signed
    texts, leaders = signed.texts, {}
    candidates = _candidates(signed.hashes, texts.drop_duplicates("digest").index)
    for a, b, grams in _compared(collection, signed, candidates):
        one, other = _leader(leaders, a), _leader(leaders, b)
        # what is in one group already is not compared
        if one != other and jaccard(grams(a), grams(b)) >= NEAR:
            leaders[one] = leaders[other] = other
    leader_of = {texts["digest"][n]: _leader(leaders, n) for n in leaders}
    grouped = texts[texts["digest"].isin(leader_of)]
    group = grouped.groupby(grouped["digest"].map(leader_of))["digest"].transform("min")
    found = grouped[["table", "identifier"]].assign(group=group)
    return found.sort_values(["group", "table", "identifier"], ignore_index=True)


def word_grams(text: str) -> set[str]:
    """The sequences of GRAM lowercased words; of a shorter text, all its words as one."""
    words = _WORD.findall(text.lower())
    starts = range(min(GRAM, len(words)))
    return {" ".join(gram) for gram in zip(*(words[n:] for n in starts))}


def gram_hashes(text: str) -> np.ndarray:
    """The CRC-32 of each word sequence, ascending, each once: of 6,000 sequences two fall together
    in one text of 240."""
    grams = word_grams(text)
    return np.unique(np.fromiter((zlib.crc32(g.encode()) for g in grams), np.uint32, len(grams)))


def jaccard(one: np.ndarray, other: np.ndarray) -> float:
    """The share of the elements of two sets, ascending, that stand in both; 0 for two empty sets."""
    both = np.intersect1d(one, other, assume_unique=True).size
    return both / max(1, len(one) + len(other) - both)


def _rows(collection, table: str) -> Iterator[tuple[int, str | None, list[str]]]:
    """The place, the identifier and the four fields of each row with any text."""
    row = 0
    for batch in collection.batches(table, [ID_COLUMN[table], *TEXTS]):
        for identifier, *fields in zip(*(batch[c] for c in (ID_COLUMN[table], *TEXTS))):
            texts = [field if isinstance(field, str) else "" for field in fields]
            if any(text and not text.isspace() for text in texts):
                yield row, identifier, texts
            row += 1


def _first_rows(collection, wanted: dict[str, set]) -> Iterator[tuple[tuple, list[str]]]:
    """(table, identifier, row) and the fields of the first row of each wanted identifier."""
    for table, names in wanted.items():
        left = names - {None}
        for row, identifier, fields in _rows(collection, table):
            if identifier in left:
                left.remove(identifier)
                yield (table, identifier, row), fields


def _digest(fields: list[str]) -> str:
    whole = hashlib.sha256()
    for field in fields:
        coded = field.encode()
        whole.update(len(coded).to_bytes(8))  # so that a text can't pass from one field to the next
        whole.update(coded)
    return whole.hexdigest()


def _positions(signed: Signatures, table: str, names: pd.Series) -> np.ndarray:
    """Where the names stand in `signed.texts`; -1 where they don't."""
    own = signed.texts[signed.texts["table"] == table]
    place = dict(zip(own["identifier"], own.index))
    return np.array([place.get(name, -1) for name in names], dtype=np.int64)


def _estimates(hashes: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    return (hashes[pairs[:, 0]] == hashes[pairs[:, 1]]).mean(axis=1)


def _candidates(hashes: np.ndarray, positions: Iterable[int]) -> np.ndarray:
    """The pairs among the positions that may be near-equal, as rows of two positions."""
    index, found = MinHashLSH(num_perm=PERMUTATIONS, params=BANDS), [np.empty((0, 2), np.int64)]
    for n in positions:
        minhash = LeanMinHash(seed=SEED, hashvalues=hashes[n], scheme="affine32")
        pairs = np.array([(other, n) for other in index.query(minhash)], np.int64).reshape(-1, 2)
        found.append(pairs[_estimates(hashes, pairs) >= NEAR - MARGIN])
        index.insert(n, minhash, check_duplication=False)
    return np.concatenate(found)


def _compared(collection, signed: Signatures, pairs: np.ndarray
              ) -> Iterator[tuple[int, int, Callable[[int], np.ndarray]]]:
    """Each pair of positions, and a function that gives the `gram_hashes` at one of them."""
    for block in _blocks(pairs, signed.texts["size"].to_numpy()):
        texts = _read(collection, signed, {n for pair in block for n in pair})
        grams = cache(lambda n, texts=texts: gram_hashes(texts.pop(n)))  # kept for the block
        for a, b in block:
            yield a, b, grams


def _blocks(pairs: np.ndarray, sizes: np.ndarray) -> Iterator[list[tuple[int, int]]]:
    """The pairs, neighbours together, in blocks whose texts have HELD characters at most."""
    graph = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(len(sizes),) * 2)
    component = connected_components(graph, directed=False)[1]
    block, held, size = [], set(), 0
    for pair in pairs[np.lexsort((pairs[:, 1], pairs[:, 0], component[pairs[:, 0]]))].tolist():
        more = sum(sizes[n] for n in set(pair) - held)
        if block and size + more > HELD:
            yield block
            block, held, size = [], set(), 0
            more = sum(sizes[n] for n in set(pair))
        block.append(tuple(pair))
        held.update(pair)
        size += more
    if block:
        yield block


def _read(collection, signed: Signatures, positions: set[int]) -> dict[int, str]:
    """The texts at the positions, by one pass over each table that holds any."""
    texts = {}
    for table, rows in signed.texts.loc[sorted(positions)].groupby("table")["row"]:
        left = dict(zip(rows, rows.index))
        for row, _, fields in _rows(collection, table):
            if row in left:
                texts[left.pop(row)] = "\n".join(fields)
            if not left:
                break
    return texts


def _leader(leaders: dict[int, int], n: int) -> int:
    """The text that stands for the group of the n-th (a union-find)."""
    while leaders.get(n, n) != n:
        leaders[n] = leaders.get(leaders[n], leaders[n])
        n = leaders[n]
    return n
