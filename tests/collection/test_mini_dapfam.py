"""The miniature of DAPFAM: the registry's numbers counted anew, and the planted oddities."""

import os
import subprocess
import sys
from collections import Counter

import pyarrow.parquet as pq
import pytest

from kit.collection import miniature
from kit.collection.miniature.dapfam import SAME_PATENT, plan
from kit.collection.registry import registry
from kit.files import ROOT, digest_of
from kit.relevance.audit import audit
from kit.relevance.domains import pair_domains

ENTRY = registry()["mini-dapfam"]
THREE = "classifications_ipcr_list_first_three_chars_list"
DIGEST = ("from kit.collection.miniature.dapfam import build; from kit.files import digest_of; "
          "print(digest_of({n: t.to_pylist() for n, t in build().items()}))")


@pytest.fixture(scope="module")
def tables(own_folders) -> dict[str, list[dict]]:
    """The tables as they lie in the files."""
    home = miniature.folder("mini-dapfam")
    return {file.parent.name: pq.read_table(file).to_pylist() for file in home.glob("*/*.parquet")}


@pytest.fixture(scope="module")
def queries(tables) -> dict[str, dict]:
    return {row["query_id"]: row for row in tables["queries"]}


@pytest.fixture(scope="module")
def corpus(tables) -> dict[str, dict]:
    return {row["relevant_id"]: row for row in tables["corpus"]}


@pytest.fixture(scope="module")
def positives(tables) -> list[dict]:
    return [row for row in tables["relations"] if row["relevance_score"] == 1.0]


def classes(row: dict, length: int = 3) -> set[str]:
    """The first characters of the codes, all of which are written in full."""
    return {code[:length] for code in row["ipcr_codes_str"].split(";;") if code}


def domain(query: dict, doc: dict) -> str | None:
    one, other = classes(query), classes(doc)
    return None if not one or not other else "IN" if one & other else "OUT"


def tag(query: dict, docs: list[dict]) -> str:
    """The query's slice, by section."""
    own = classes(query, 1)
    near = [bool(own & classes(d, 1)) if own and classes(d) else None for d in docs]
    if {True, False} <= set(near):
        return "MIXED"
    return "UNKNOWN" if None in near else "IN" if True in near else "OUT"


def test_counts_are_the_registrys(tables, queries, corpus, positives):
    stated = Counter(row["domain_rel"] for row in tables["relations"])
    of_query = {q: [corpus[r["relevant_id"]] for r in positives if r["query_id"] == q]
                for q in queries}
    counts = {
        "queries": len(queries), "corpus": len(corpus), "qrels": len(positives),
        "sampled": stated["NC"], "protocol all": len(positives),
        "queries without a positive, all": sum(not docs for docs in of_query.values()),
        "documents relevant to nothing": len(set(corpus) - {r["relevant_id"] for r in positives})}
    for name in ("IN", "OUT"):
        counts[f"pairs stated {name}"] = stated[name]
        counts[f"queries with a pair stated {name}"] = len(
            {r["query_id"] for r in positives if r["domain_rel"] == name})
    tags = Counter(tag(queries[q], docs) for q, docs in of_query.items())
    assert counts | {f"queries {name}": n for name, n in tags.items()} == ENTRY.counts


def test_oddities_are_the_registrys(tables, queries, corpus, positives):
    found = [(row["domain_rel"], domain(queries[row["query_id"]], corpus[row["relevant_id"]]))
             for row in positives]
    both = set(queries) & set(corpus)
    told = ("title_en", "abstract_en", "claims_text", "description_en")
    documents = {tuple(row[c] for c in told) for row in corpus.values()}
    assert ENTRY.oddities == {
        "domain_rel against the classes": sum(None is not b != a for a, b in found),
        "pairs whose domain can't be told": sum(b is None for _, b in found),
        "identifiers in both tables": len(both),
        "own entries that nothing excludes": sum(
            queries[i]["title_en"] == corpus[i]["title_en"]
            or queries[i]["claims_text"] == corpus[i]["claims_text"] for i in both),
        "queries of a document's text": sum(
            tuple(row[c] for c in told) in documents for row in queries.values()),
        "queries without a class": sum(not classes(row) for row in queries.values()),
        "corpus without a class": sum(not classes(row) for row in corpus.values()),
        **{f"corpus without {name}": sum(not row[column] for row in corpus.values())
           for name, column in (("abstract", "abstract_en"), ("claims", "claims_text"),
                                ("description", "description_en"))}}


def test_the_audit_finds_what_the_registry_expects_and_nothing_else(mini_dapfam):
    checks = audit(mini_dapfam)
    assert {*ENTRY.counts, *ENTRY.oddities} <= {c.name for c in checks}
    assert [c.name for c in checks if c.verdict in ("fault", "doubt", "not as expected")] == []


def test_the_fingerprint_is_pinned(mini_dapfam):
    assert mini_dapfam.generation == next(iter(ENTRY.generations))


def test_it_is_sound_and_says_what_it_is(mini_dapfam):
    assert mini_dapfam.faults == []
    assert "made up" in mini_dapfam.note
    assert "Made-up" in (miniature.folder("mini-dapfam") / "README.md").read_text(encoding="utf-8")


def test_it_has_an_environment_of_its_own(mini, mini_dapfam):
    assert mini_dapfam.environment != mini.environment


def test_the_same_in_another_process(tables):
    """With another seed of hashes, another locale, time zone and working folder."""
    odd = {**os.environ, "PYTHONHASHSEED": "4711", "LC_ALL": "C", "PYTHONUTF8": "0",
           "TZ": "Pacific/Apia", "PYTHONPATH": str(ROOT)}
    said = subprocess.run([sys.executable, "-c", DIGEST], env=odd, cwd="/", text=True,
                          capture_output=True, check=True)
    assert said.stdout.strip() == digest_of(tables)


def test_writing_twice_gives_the_same_bytes(tmp_path):
    for name in "ab":
        miniature.write(tmp_path / name, "mini-dapfam")
    held = [{f.relative_to(tmp_path / name): f.read_bytes()
             for f in (tmp_path / name).rglob("*") if f.is_file()} for name in "ab"]
    assert held[0] == held[1]
    assert sorted(map(str, held[0])) == [
        "README.md", *(f"{t}/train-00000-of-00001.parquet"
                       for t in ("corpus", "queries", "relations"))]


# --- what the tables are --------------------------------------------------------------------------

def test_the_columns_are_those_of_dapfam(tables):
    patent = ["earliest_claim_jusrisdiction", "jurisdiction", "ipcr_codes_str",
              "earliest_claim_date", "earliest_claim_year", THREE, "title_en", "abstract_en",
              "claims_text", "description_en"]
    assert {name: list(rows[0]) for name, rows in tables.items()} == {
        "queries": ["query_id", *patent, "abstract_keywords"], "corpus": ["relevant_id", *patent],
        "relations": ["query_id", "relevant_id", "relevance_score", "domain_rel"]}


def test_three_families_of_classes_are_told_apart(corpus):
    """Those that list classes, those that only have codes, and those with none."""
    kinds = Counter((bool(row[THREE]), bool(classes(row))) for row in corpus.values())
    assert kinds == {(True, True): 295, (False, True): 2, (False, False): 3}
    assert all(set(row[THREE]) == classes(row) for row in corpus.values() if row[THREE])


def test_a_family_without_a_list_is_placed_by_its_codes(mini_dapfam, corpus, positives):
    bare = {i for i, row in corpus.items() if not row[THREE] and classes(row)}
    pairs = mini_dapfam.pairs[mini_dapfam.pairs["doc_id"].isin(bare)]
    assert len(pairs) and set(pair_domains(mini_dapfam, pairs)) <= {"IN", "OUT"}


def test_some_families_have_classes_of_two_fields(corpus):
    assert sum(len(classes(row)) > 1 for row in corpus.values()) > 20


def test_a_positive_is_of_its_querys_mechanism_and_a_sampled_pair_is_not(tables):
    queries, docs = ({f.name: f.cell.mechanism for f in families} for families in plan())
    alike = Counter((r["domain_rel"] == "NC", queries[r["query_id"]] == docs[r["relevant_id"]])
                    for r in tables["relations"] if r["relevant_id"] != f"md-{SAME_PATENT:06d}")
    assert set(alike) == {(True, False), (False, True)}


def test_no_pair_stands_twice_and_as_many_are_sampled_as_cited(tables, queries, positives):
    pairs = [(r["query_id"], r["relevant_id"]) for r in tables["relations"]]
    assert len(set(pairs)) == len(pairs)
    cited = Counter(r["query_id"] for r in positives)
    sampled = Counter(r["query_id"] for r in tables["relations"] if r["domain_rel"] == "NC")
    assert cited == sampled and set(cited) == set(queries)


def test_every_scope_has_queries_that_the_other_has_not(positives):
    of_scope = {name: {r["query_id"] for r in positives if r["domain_rel"] == name}
                for name in ("IN", "OUT")}
    assert min(len(of_scope["IN"] - of_scope["OUT"]), len(of_scope["OUT"] - of_scope["IN"])) >= 5


def test_texts_are_told_in_full_and_have_no_line_break(tables):
    for name in ("queries", "corpus"):
        for row in tables[name]:
            told = [row[c] or "" for c in ("title_en", "abstract_en", "claims_text",
                                           "description_en")]
            assert not any(sign in text for text in told for sign in "{}|\n")
            assert not row["claims_text"] or row["claims_text"].startswith("1. ")


def test_no_family_has_the_text_of_a_patent_of_the_other_miniature(tables, mini):
    theirs = {row for t in ("queries", "corpus") for row in mini.frame(t, ["claims"])["claims"]}
    theirs = {claims.replace("\n", " ") for claims in theirs if claims}
    assert not theirs & {row["claims_text"] for t in ("queries", "corpus") for row in tables[t]}


def test_the_earliest_claim_is_before_that_of_the_query(queries, corpus, positives):
    assert all(corpus[r["relevant_id"]]["earliest_claim_date"]
               < queries[r["query_id"]]["earliest_claim_date"] for r in positives)
    assert all(row["earliest_claim_date"].startswith(str(row["earliest_claim_year"]))
               for row in corpus.values())
