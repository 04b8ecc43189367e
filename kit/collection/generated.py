"""A collection of made-up words, of any size up to Sophia's: for speed and memory, nothing else.

What search costs hangs on how words are spread, so that is taken from full texts of patents:
distinct terms a document, how many documents a term stands in, and a vocabulary that grows with
the corpus. A patent's text is a function of the seed and its number alone, so that neither files
nor their size change it; texts are told a few hundred at a time.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from kit.collection.schema import FEATURES, SPLIT, TABLES
from kit.errors import CollectionError
from kit.files import made_whole
from kit.progress import steps

CARD = """---
configs:
{configs}
---
# Generated

{documents} documents, {queries} queries and {pairs} pairs, of {words} words on average, from the
seed {seed}, by the prior-art kit. CC0-1.0.

The texts are made-up words and the citations are drawn by lot. Figures on this collection are about
speed and memory, and about nothing else.
"""
CONFIG = """- config_name: {table}
  data_files:
  - split: {split}
    path: {table}/*.parquet"""

ROWS = 2_500  # in a file
TOKENS = 1_500_000  # in a row group, about: some 10 MB of text
MOST_WORDS = 1_000_000
SMALLEST = 60  # words in a text, so that every field has some

# Of a text's words some are common, most have a long tail, and a few belong to its topic. Fitted
# to 500 full texts: terms by the share of documents that they stand in, and 1,780 a document.
COMMON, COMMON_WORDS = 0.54, 117     # share of the words; Zipf's law with exponent 1
TAIL_START, TAIL_POWER = 519, 0.68   # rank r has a probability like (r + 519) ** -1.68
TOPICAL, TOPICAL_WORDS = 0.06, 400
RAREST = 20_000  # topics take their words from the ranks after this one
SPREAD = 0.6     # of the lengths' logarithm
FEWEST_TOPICS, DOCUMENTS_OF_A_TOPIC = 8, 100

OWN_ENTRIES = 267 / 10_000  # of the queries
XY, XY_OR_A = 30_260 / 66_469, 63_913 / 66_469  # of the pairs; the rest is overlap
MOST_CITED = 4    # a query cites a quarter of the documents at most
ALIKE = 0.4       # of the citations are drawn from the query's topic
TWINS = 500       # one document in so many has another's text, and one nearly its query's
CHANGED = 0.03    # of a nearly equal text's words

_AUTHORITIES = ("EP", "US", "US", "WO", "JP", "CN", "DE", "FR", "KR", "GB")
_LANGUAGE = {"JP": "ja", "CN": "zh", "DE": "de", "FR": "fr", "KR": "ko"}


@dataclass(frozen=True)
class Plan:
    """Who is who, by a patent's number from 0; the texts are not in it.

    queries, corpus: numbers, ascending. topic, date (days since 1970): by number.
    told_as: by number, the patent whose text it has; nearly: those that have it with changes.
    pairs: (query, document) rows, ascending; labels: the place of each pair's category, 0 to 2.
    """

    seed: int
    words: int
    queries: np.ndarray
    corpus: np.ndarray
    topic: np.ndarray
    date: np.ndarray
    told_as: np.ndarray
    nearly: np.ndarray
    pairs: np.ndarray
    labels: np.ndarray


def write_generated(home: Path, documents: int = 75_050, queries: int = 10_000,
                    pairs: int = 66_469, words: int = 6_000, seed: int = 0) -> Path:
    """Writes a collection in the hub's layout to the folder `home`, whole or not at all.

    words: the mean length of a patent's text. The defaults are Sophia's numbers. The same
    arguments give the same tables with the same numpy. Returns `home`.
    Raises CollectionError for numbers that can't be, and for a `home` that is there already.
    """
    home = Path(home)
    _require_possible(home, documents, queries, pairs, words, seed)
    plan = _plan(documents, queries, pairs, words, seed)
    with made_whole(home) as part:
        for name in TABLES:
            (part / name).mkdir()
        files = _files(plan)
        for table, file, rows in steps(files, "generating", len(files)):
            _write(part / table / file, table, rows, plan)
        configs = "\n".join(CONFIG.format(table=t, split=SPLIT) for t in TABLES)
        (part / "README.md").write_text(CARD.format(
            configs=configs, documents=documents, queries=queries, pairs=pairs, words=words,
            seed=seed), encoding="utf-8")
    return home


def _require_possible(home: Path, documents: int, queries: int, pairs: int, words: int,
                      seed: int) -> None:
    for name, value in (("documents", documents), ("queries", queries), ("pairs", pairs)):
        if value < 1:
            raise CollectionError(f"a collection of {value} {name} can't be generated", name,
                                  "Give 1 or more")
    if not SMALLEST <= words <= MOST_WORDS:
        raise CollectionError(f"texts of {words} words can't be generated", "words",
                              f"Give {SMALLEST} to {MOST_WORDS}")
    if seed < 0:
        raise CollectionError(f"the seed {seed} is negative", "seed", "Give 0 or more")
    if documents <= _own_entries(queries):
        raise CollectionError(
            f"{documents} documents are too few for {queries} queries, of which "
            f"{_own_entries(queries)} are documents too", "documents", "Give more documents")
    most = queries * max(1, documents // MOST_CITED)
    if pairs > most:
        raise CollectionError(
            f"{pairs} pairs are too many for {queries} queries and {documents} documents", "pairs",
            f"Give {most} or fewer: a query cites a quarter of the documents at most")
    if home.exists():
        raise CollectionError("something of that name is there already", home,
                              "Give another folder, or remove it")


# --- who cites whom -------------------------------------------------------------------------------

def _own_entries(queries: int) -> int:
    return int(np.ceil(queries * OWN_ENTRIES))


def _plan(documents: int, queries: int, pairs: int, words: int, seed: int) -> Plan:
    rng = np.random.default_rng([seed, 0])
    own = _own_entries(queries)
    total = documents + queries - own
    order = rng.permutation(total)
    asked, owned, rest = order[:queries], order[:own], order[queries:]
    topic = rng.integers(0, FEWEST_TOPICS + documents // DOCUMENTS_OF_A_TOPIC, total)
    date = rng.integers(_day("1988-01-01"), _day("2020-01-01"), total)
    date[asked] = rng.integers(_day("2005-01-01"), _day("2021-01-01"), queries)
    cited = _cite(rng, pairs, asked, owned, rest, topic)
    told_as, nearly = _twins(rng, cited, rest, total)
    labels = np.searchsorted(np.rint(np.array([XY, XY_OR_A]) * pairs), np.arange(pairs), "right")
    return Plan(seed, words, np.sort(asked), np.sort(np.concatenate([owned, rest])), topic, date,
                told_as, nearly, cited, rng.permutation(labels))


def _day(date: str) -> int:
    return int(np.datetime64(date, "D").astype(int))


def _cite(rng, count: int, queries: np.ndarray, owned: np.ndarray, rest: np.ndarray,
          topic: np.ndarray) -> np.ndarray:
    """`count` different (query, document) pairs, ascending; none is a query with itself.

    Each query has one if there are enough, and couples of own entries cite each other.
    """
    total, documents = len(topic), np.concatenate([owned, rest])
    couples = owned[:len(owned) // 2 * 2].reshape(-1, 2)
    each = np.stack([queries, rng.choice(rest, len(queries))], axis=1)
    keys = _first(np.concatenate([each, couples, couples[:, ::-1]]) @ [total, 1])[:count]
    often = np.cumsum(rng.gamma(2.0, size=len(queries)))  # some queries cite much more than others
    by_topic = documents[np.argsort(topic[documents], kind="stable")]
    starts = np.searchsorted(topic[by_topic], np.arange(topic.max() + 2))
    while len(keys) < count:
        n = count - len(keys)
        asked = queries[np.searchsorted(often, rng.random(n) * often[-1], "right")]
        first, after = starts[topic[asked]], starts[topic[asked] + 1]
        alike = (rng.random(n) < ALIKE) & (after > first)
        place = np.where(alike, first + rng.random(n) * (after - first),
                         rng.random(n) * len(documents))
        found = by_topic[place.astype(int)]
        keys = _first(np.concatenate([keys, (asked * total + found)[asked != found]]))
    return np.stack(np.divmod(np.sort(keys), total), axis=1)


def _first(keys: np.ndarray) -> np.ndarray:
    """The keys without repetitions, in the order in which they came."""
    return keys[np.sort(np.unique(keys, return_index=True)[1])]


def _twins(rng, pairs: np.ndarray, rest: np.ndarray, total: int) -> tuple[np.ndarray, np.ndarray]:
    """Some documents get another one's text, and some nearly that of a query that cites them."""
    told_as, nearly = np.arange(total), np.zeros(total, dtype=bool)
    n = -(-len(rest) // TWINS)
    drawn = rng.permutation(rest)
    equal, models = drawn[:n], drawn[n:2 * n]
    told_as[equal[:len(models)]] = models
    near = pairs[np.isin(pairs[:, 1], drawn[2 * n:])]
    near = near[np.unique(near[:, 1], return_index=True)[1]]
    near = rng.permutation(near)[:n]
    told_as[near[:, 1]], nearly[near[:, 1]] = near[:, 0], True
    return told_as, nearly


# --- tables ---------------------------------------------------------------------------------------

def _files(plan: Plan) -> list[tuple[str, str, np.ndarray]]:
    """(table, file name, rows) of each file: patents' numbers, or places in the pairs."""
    found = []
    for table, rows in (("queries", plan.queries), ("corpus", plan.corpus),
                        ("qrels", np.arange(len(plan.pairs)))):
        size = ROWS if table != "qrels" else len(rows)
        parts = [rows[n:n + size] for n in range(0, len(rows), size)]
        found += [(table, f"{SPLIT}-{n:05d}-of-{len(parts):05d}.parquet", part)
                  for n, part in enumerate(parts)]
    return found


def _write(path: Path, table: str, rows: np.ndarray, plan: Plan) -> None:
    schema = FEATURES[table].arrow_schema.remove_metadata()
    make = {"queries": _query, "corpus": _document, "qrels": _pair}[table]
    size = 10_000 if table == "qrels" else max(1, TOKENS // plan.words)
    with pq.ParquetWriter(path, schema) as writer:
        for n in range(0, len(rows), size):
            made = [make(plan, int(row)) for row in rows[n:n + size]]
            writer.write_table(pa.Table.from_pylist(made, schema))


def _name(number: int) -> str:
    return f"gen-{number + 1:06d}"


def _pair(plan: Plan, row: int) -> dict:
    """A row of qrels: an aggregate XY has its X or Y, sometimes both, beside it."""
    query, doc = (int(n) for n in plan.pairs[row])
    direction = "cited" if plan.date[doc] < plan.date[query] else "citing"
    letters = [("X",), ("X",), ("Y",), ("X", "Y")][np.random.default_rng(
        [plan.seed, 1, row]).choice(4, p=[.32, .32, .32, .04])]
    category = ("XY", "A", "overlap")[plan.labels[row]]
    held = {"XY": ("XY", *letters), "A": ("A",), "overlap": ("A", "XY", *letters)}[category]
    return {"query_id": _name(query), "doc_id": _name(doc), "category": category,
            "source_relations": [{"category": c, "direction": direction} for c in held]}


def _document(plan: Plan, number: int) -> dict:
    return {"doc_id": _name(number), **_bibliography(plan, number), **_told(plan, number)[0]}


def _query(plan: Plan, number: int) -> dict:
    fields, claims, description = _told(plan, number)
    row = {"query_id": _name(number), **_bibliography(plan, number), **fields}
    views = {
        "ai_title": _opening(claims[0], 8), "ai_claim_summary": f"{_opening(claims[0], 60)}.",
        "ai_obj": f"{description[0]}.", "ai_adv": f"{description[-1]}.",
        "ai_ab": f"{'. '.join(description[:4])}.",
        "ai_features": [_opening(claim, 8) for claim in claims[:6]],
    }
    rng = np.random.default_rng([plan.seed, 2, number])
    kept = {name: None if rng.random() < .01 else view for name, view in views.items()}
    return {**row, **kept, "ipc_section": row["ipc"][0][0] if row["ipc"] else None}


def _opening(sentence: str, words: int) -> str:
    return " ".join(sentence.split(" ", words)[:words])


def _bibliography(plan: Plan, number: int) -> dict:
    """What stands beside the texts; a patent's classes are mostly those of its topic."""
    rng = np.random.default_rng([plan.seed, 3, number])
    authority = _AUTHORITIES[rng.integers(len(_AUTHORITIES))]
    of_topic = plan.topic[number] + 8 * np.arange(4)  # of one section
    kinds = np.where(rng.random(4) < .8, of_topic, rng.integers(0, 1 << 20, 4))
    classes = [f"{'ABCDEFGH'[k % 8]}{1 + k // 8 % 60:02d}{'BCDFGHKLM'[k % 9]}"
               f"{1 + k // 64 % 40}/{k % 90 + 10:02d}" for k in kinds.tolist()]
    return {
        # numbers that no office has given out
        "source_xpn": f"{authority}99{number:07d}" + ("A1", "A", "B1", "")[rng.integers(4)],
        "publication_authority": authority,
        "publication_date": str(np.datetime64(int(plan.date[number]), "D")),
        "source_apl": "" if rng.random() < .08 else _LANGUAGE.get(authority, "en"),
        "ipc": sorted(set(classes[:rng.integers(1, 5)])) if rng.random() > .01 else [],
    }


# --- texts ----------------------------------------------------------------------------------------

def _told(plan: Plan, number: int) -> tuple[dict, list[str], list[str]]:
    """A patent's text fields, and the sentences of its claims and of its description."""
    teller = int(plan.told_as[number])
    rng = np.random.default_rng([plan.seed, 4, teller])
    spread = rng.lognormal(-SPREAD ** 2 / 2, SPREAD)  # its mean is 1
    length = int(np.clip(plan.words * spread, SMALLEST, 4 * MOST_WORDS))
    ids = _drawn(rng, length, int(plan.topic[teller]))
    ends = np.array([10, 10 + length // 50, 10 + length // 50 + length // 6, length])
    if plan.nearly[number]:
        own = np.random.default_rng([plan.seed, 5, number])
        changed = own.random(length) < CHANGED
        ids = np.where(changed, _drawn(own, length, int(plan.topic[number])), ids)
    title, abstract, claims, description = (
        _sentences(rng, part, *bounds) for part, bounds in zip(
            np.split(ids, ends[:-1]), ((11, 12), (12, 40), (30, 90), (8, 40))))
    numbered = [f"{n}. {claim}." for n, claim in enumerate(claims, 1)]
    paragraphs = [". ".join(description[n:n + 6]) + "." for n in range(0, len(description), 6)]
    views = {"adb": [f"{description[-1]}."], "iclm": numbered[:1], "obj": [f"{description[0]}."]}
    fields = {"title": title[0], "abstract": ". ".join(abstract) + ".",
              "claims": "\n".join(numbered), "description": "\n".join(paragraphs),
              **{name: None if rng.random() < 1 / 6 else view for name, view in views.items()}}
    return fields, claims, description


def _drawn(rng, length: int, topic: int) -> np.ndarray:
    """The ranks (int64) of `length` words: common ones, ones of the tail and ones of the topic."""
    kind, place = rng.random(length), rng.random(length)
    common = COMMON_WORDS ** place - 1
    tail = TAIL_START * ((1 - place) ** (-1 / TAIL_POWER) - 1) % len(_words())
    topical = topic * TOPICAL_WORDS + (TOPICAL_WORDS ** place - 1).astype(np.int64)
    topical = RAREST + topical * 7919 % (len(_words()) - RAREST)  # scattered over the rare words
    drawn = np.where(kind < COMMON, common, tail).astype(np.int64)
    return np.where(kind >= 1 - TOPICAL, topical, drawn)


def _sentences(rng, ids: np.ndarray, shortest: int, longest: int) -> list[str]:
    """The words as sentences without full stops, each of `shortest` to `longest` - 1 words."""
    lengths = rng.integers(shortest, longest, len(ids) // shortest + 1)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    starts = np.append(starts[starts < len(ids)], len(ids))
    words = _words().take(pa.array(ids))
    text = words.buffers()[2].to_pybytes().decode("ascii")
    borders = np.frombuffer(words.buffers()[1], np.int32)[starts].tolist()
    return [text[a:b - 1].capitalize() for a, b in zip(borders, borders[1:])]


@cache
def _words() -> pa.Array:
    """Some two million made-up words by rank, with a blank behind each: one syllable for the
    128 most frequent, then two, then three, which gives about the letters that real words have."""
    syllables = pa.array([f"{onset}{vowel}{coda}" for onset in "bdfghklmnprstvwz"
                          for vowel in "aeio" for coda in ("n", "st")])
    n = len(syllables)
    two, three = (np.arange(n ** k) * 40_503 % n ** k for k in (2, 3))  # odd: a permutation
    parts = [[syllables], [syllables.take(pa.array(two // n)), syllables.take(pa.array(two % n))],
             [syllables.take(pa.array(three // n ** k % n)) for k in (2, 1, 0)]]
    return pa.concat_arrays([pc.binary_join_element_wise(*p, " ", "") for p in parts])
