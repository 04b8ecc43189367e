"""The built-in collection: the registry's numbers counted anew, and what its texts are made of."""

import os
import re
import subprocess
import sys
from collections import Counter

import pytest

from kit.collection import miniature
from kit.collection.miniature.draw import draw, expand, pick, some
from kit.collection.miniature.tables import build
from kit.collection.registry import registry
from kit.files import ROOT, digest_of

TEXTS = ("title", "abstract", "claims", "description")
ENTRY = registry()["mini"]


@pytest.fixture(scope="module")
def tables() -> dict[str, list[dict]]:
    """The rows as they are built, not as they are read from the cache."""
    return {name: table.to_pylist() for name, table in build().items()}


@pytest.fixture(scope="module")
def rows(tables) -> dict[str, dict[str, dict]]:
    return {"queries": {r["query_id"]: r for r in tables["queries"]},
            "corpus": {r["doc_id"]: r for r in tables["corpus"]}}


@pytest.fixture(scope="module")
def plain(tables) -> list[dict]:
    """Rows of both tables in whose texts nothing is planted, no copy of another's either."""
    texts = Counter(r["claims"] for t in ("queries", "corpus") for r in tables[t])

    def is_planted(row):
        return texts[row["claims"]] > 1 or any(
            not row[f] or re.search(r"[&<\u200b\u00e2]|\(canceled\)", row[f]) for f in TEXTS)
    return [r for t in ("queries", "corpus") for r in tables[t] if not is_planted(r)]


# --- the registry's numbers -----------------------------------------------------------------------

def counted_pairs(tables) -> dict[str, int]:
    kinds = Counter(p["category"] for p in tables["qrels"])
    protocols = {"all": {"XY", "A", "overlap"}, "xy": {"XY", "overlap"}, "a": {"A", "overlap"}}
    cited = {p["doc_id"] for p in tables["qrels"]}
    counts = {t: len(tables[t]) for t in tables} | {f"category {k}": n for k, n in kinds.items()}
    for name, kept in protocols.items():
        held = [p for p in tables["qrels"] if p["category"] in kept]
        counts[f"protocol {name}"] = len(held)
        counts[f"queries without a positive, {name}"] = 120 - len({p["query_id"] for p in held})
    return counts | {"documents relevant to nothing":
                     sum(d["doc_id"] not in cited for d in tables["corpus"])}


def counted_domains(tables, rows) -> dict[str, int]:
    """By the definition: the query's sections against those of each relevant document."""
    shares = {}
    for pair in tables["qrels"]:
        a, b = ({c[0] for c in rows[t][pair[k]]["ipc"]}
                for t, k in (("queries", "query_id"), ("corpus", "doc_id")))
        shares.setdefault(pair["query_id"], set()).add(bool(a & b) if a and b else None)
    def tag(found):
        if {True, False} <= found:
            return "MIXED"
        return "UNKNOWN" if None in found else "IN" if True in found else "OUT"
    tags = Counter(map(tag, shares.values()))
    return {f"queries {name}": n for name, n in tags.items()}


def test_counts_are_the_registrys(tables, rows):
    assert counted_pairs(tables) | counted_domains(tables, rows) == ENTRY.counts


def counted_texts(tables) -> dict[str, int]:
    counts = {}
    for table in ("corpus", "queries"):
        for name in TEXTS:
            counts[f"{table} without {name}"] = sum(not r[name] for r in tables[table])
        for name, mark in (("tags", r"</?(p|br|sub|sup)/?>"), ("entities", r"&#?\w+;"),
                           ("index codes", r"\.su[bp]\.")) + (MORE_MARKS if table == "corpus" else ()):
            counts[f"{table} with {name}"] = sum(
                any(re.search(mark, r[f] or "") for f in TEXTS) for r in tables[table])
    filled = Counter(tuple(r[f] or "" for f in TEXTS) for r in tables["corpus"])
    counts["documents of equal text"] = sum(n for n in filled.values() if n > 1)
    return counts | counted_copies(tables)


MORE_MARKS = (("mojibake", "\u00e2\u20ac"), ("unseen characters", "\u200b"),
              ("cancelled claims", r"\(canceled\)"))


def counted_copies(tables) -> dict[str, int]:
    """Documents that are a query's text: whole under another id, or all but its last paragraph."""
    whole = {tuple(d[f] for f in TEXTS): d["doc_id"] for d in tables["corpus"]}
    opening = {d["claims"] for d in tables["corpus"]}
    relevant = {(p["query_id"], p["doc_id"]) for p in tables["qrels"]}
    claims = {d["doc_id"]: d["claims"] for d in tables["corpus"]}
    own = {d["doc_id"] for d in tables["corpus"]}
    asked = [q for q in tables["queries"] if q["query_id"] not in own]
    return {
        "queries of a document's text": sum(tuple(q[f] for f in TEXTS) in whole for q in asked),
        "relevants nearly equal to their query": sum(
            (q["query_id"], d) in relevant and q["claims"] == c
            for q in asked if q["claims"] in opening for d, c in claims.items()),
        "queries without ai_ab": sum(not q["ai_ab"] for q in tables["queries"]),
        "queries without ai_features": sum(not q["ai_features"] for q in tables["queries"]),
        "ai_title copied": sum(q["ai_title"] == q["title"].upper() for q in tables["queries"]),
        "ai_ab copied": sum(q["ai_ab"] == q["abstract"] for q in tables["queries"])}


def counted_bibliography(tables, rows) -> dict[str, int]:
    pairs = {(p["query_id"], p["doc_id"]): p for p in tables["qrels"]}
    both = [(q, d) for q, d in pairs if (d, q) in pairs and q < d]
    later = {k for k in pairs if rows["corpus"][k[1]]["publication_date"]
             > rows["queries"][k[0]]["publication_date"]}
    numbers = Counter(r["source_xpn"] for r in tables["corpus"])
    dates = [r["publication_date"] for t in ("queries", "corpus") for r in tables[t]]
    without_kind = {d: re.sub(r"(A1|A|B1)$", "", r["source_xpn"]) for d, r in rows["corpus"].items()}
    shared = Counter(without_kind.values())
    unlike = {n for n in shared if len({x for x in numbers if x.startswith(n)}) > 1}
    earlier = {k for k in pairs if rows["corpus"][k[1]]["publication_date"]
               < rows["queries"][k[0]]["publication_date"]}
    held = [[(r["category"], r["direction"]) for r in p["source_relations"]] for p in pairs.values()]
    return {
        "X or Y without XY": sum(("X" in names or "Y" in names) and "XY" not in names
                                 for names in (dict(h) for h in held)),
        "XY without X or Y": sum("XY" in names and not {"X", "Y"} & set(names)
                                 for names in (dict(h) for h in held)),
        "repeated entries": sum(len(set(h)) < len(h) for h in held),
        "citing yet earlier": sum(pairs[k]["source_relations"][0]["direction"] == "citing"
                                  for k in earlier),
        "corpus: source_xpn equal but for the kind code": sum(
            n in unlike for n in without_kind.values()),
        "queries under a document's number": sum(
            re.sub(r"(A1|A|B1)$", "", r["source_xpn"]) in shared
            for q, r in rows["queries"].items() if q not in rows["corpus"]),
        "corpus: malformed classes": sum(c == "unclassified" for r in rows["corpus"].values()
                                         for c in r["ipc"]),
        "own entries": len(set(rows["queries"]) & set(rows["corpus"])),
        "reciprocal pairs": len(both),
        "reciprocal pairs of two categories":
            sum(pairs[q, d]["category"] != pairs[d, q]["category"] for q, d in both),
        "pairs with both X and Y":
            sum({"X", "Y"} <= {r["category"] for r in p["source_relations"]} for p in pairs.values()),
        "corpus: repeated source_xpn": sum(n for n in numbers.values() if n > 1),
        "malformed dates": sum(not re.fullmatch(r"\d{4}-(?!00)\d\d-\d\d", d) for d in dates),
        "relevants later than the query": len(later),
        "cited yet later": sum(pairs[k]["source_relations"][0]["direction"] == "cited" for k in later),
        "corpus without a class": sum(not r["ipc"] for r in tables["corpus"]),
        "queries without a class": sum(not r["ipc"] for r in tables["queries"]),
    }


def test_oddities_are_the_registrys(tables, rows):
    assert counted_texts(tables) | counted_bibliography(tables, rows) == ENTRY.oddities


def test_the_fingerprint_is_pinned(mini):
    assert mini.fingerprints == ENTRY.generations["mini-2"]
    assert mini.generation == "mini-2"


def test_it_is_sound_and_says_what_it_is(mini):
    assert mini.faults == []
    assert "made up" in mini.note


# --- the same every time --------------------------------------------------------------------------

DIGEST = ("from kit.collection.miniature.tables import build; from kit.files import digest_of; "
          "print(digest_of({n: t.to_pylist() for n, t in build().items()}))")


def test_the_same_in_another_process(tables):
    """With another seed of hashes, another locale, time zone and working folder."""
    odd = {**os.environ, "PYTHONHASHSEED": "4711", "LC_ALL": "C", "PYTHONUTF8": "0",
           "TZ": "Pacific/Apia", "PYTHONPATH": str(ROOT)}
    said = subprocess.run([sys.executable, "-c", DIGEST], env=odd, cwd="/", text=True,
                          capture_output=True, check=True)
    assert said.stdout.strip() == digest_of(tables)


def test_writing_twice_gives_the_same_bytes_and_leaves_what_is_there(tmp_path):
    miniature.write(tmp_path / "a")
    miniature.write(tmp_path / "b")
    def held(name):
        return {f.relative_to(tmp_path / name): f.read_bytes()
                for f in (tmp_path / name).rglob("*") if f.is_file()}
    first = held("a")
    assert held("b") == first and len(first) == 4
    miniature.write(tmp_path / "a")
    assert held("a") == first
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "b"]


def test_draws_depend_on_the_key_alone():
    assert [draw(1000, "a", n) for n in range(3)] == [draw(1000, "a", n) for n in range(3)]
    assert draw(10**9, "a", "b") != draw(10**9, "ab")
    assert sorted(Counter(draw(4, "even", n) for n in range(4000)).values())[0] > 900
    assert some("abcdef", 3, 1) == sorted(some("abcdef", 3, 1))
    assert some("ab", 5, 1) == ["a", "b"]
    assert pick(["x"], "any") == "x"
    assert expand("{a|b} and {c}", 7) in ("a and c", "b and c")


# --- what the texts are ---------------------------------------------------------------------------

def test_six_hundred_documents_and_a_hundred_and_twenty_queries(tables):
    assert (len(tables["corpus"]), len(tables["queries"])) == (600, 120)


@pytest.mark.parametrize("table", ["corpus", "queries"])
def test_all_sections_are_present(tables, table):
    assert {c[0] for r in tables[table] for c in r["ipc"] if c != "unclassified"} == set("ABCDEFGH")


def test_a_querys_section_is_that_of_its_classes(tables):
    for row in tables["queries"]:
        assert {row["ipc_section"]} - {None} == {c[0] for c in row["ipc"]}


def test_descriptions_are_of_a_patents_kind_of_length(tables):
    lengths = [len(r["description"].split()) for t in ("corpus", "queries") for r in tables[t]
               if r["description"]]
    assert 300 <= min(lengths) and max(lengths) <= 1500


def _all_texts(row):
    for value in row.values():
        yield from value if isinstance(value, list) else [value or ""]


def test_no_alternation_is_left(tables):
    left = [t for name in ("corpus", "queries") for r in tables[name] for t in _all_texts(r)
            if re.search(r"[{}|]", t)]
    assert left == []


def test_texts_are_printable_ascii_but_for_the_planted(tables):
    odd = [t for name in ("corpus", "queries") for r in tables[name] for t in _all_texts(r)
           if not re.fullmatch(r"[\x20-\x7e\n]*", t)]
    assert len(odd) == 5 and all(re.search("\u200b|\u00e2\u20ac\u201c", t) for t in odd)


def test_sentences_are_joined_cleanly(plain):
    odd = re.compile(r"  | [.,;:]|[.,;]{2}| \n|\n |\n\n|\b(\w+) \1\b(?<!that that)|None")
    found = [m[0] for r in plain for f in TEXTS for m in odd.finditer(r[f])]
    assert found == []


def test_claims_are_numbered_and_refer_back(plain):
    for row in plain:
        for number, claim in enumerate(row["claims"].split("\n"), 1):
            assert claim.startswith(f"{number}. ") and claim.endswith(".")
            back = re.search(r"according to claim (\d+)", claim)
            assert back is None or int(back[1]) < number
        assert row["iclm"] is None or row["iclm"][0] == row["claims"].split("\n")[0]


def test_ids_are_one_namespace_in_an_order_that_tells_nothing(rows):
    ids = {**rows["queries"], **rows["corpus"]}
    assert all(re.fullmatch(r"mini-\d{6}", i) for i in ids)
    assert len(ids) == 708  # twelve stand in both
    sections = [(ids[i]["ipc"] or ["-"])[0][0] for i in sorted(ids)]
    same = sum(a == b for a, b in zip(sections, sections[1:]))
    assert same < len(ids) / 4  # about an eighth by chance; nearly all if ids followed the plan


def test_an_own_entry_is_the_same_patent(rows):
    shared = set(rows["queries"]) & set(rows["corpus"])
    for name in shared:
        query, doc = rows["queries"][name], rows["corpus"][name]
        assert all(query[c] == doc[c] for c in doc if c != "doc_id")


def test_labels_follow_the_relations(tables):
    for pair in tables["qrels"]:
        held = {r["category"] for r in pair["source_relations"]}
        kinds = {"XY" if "XY" in held else None, "A" if "A" in held else None} - {None}
        assert pair["category"] == ("overlap" if len(kinds) == 2 else kinds.pop())
        assert len({r["direction"] for r in pair["source_relations"]}) == 1
