"""The tie rule, against a plain sort; run files in and out, and what is refused at the door."""

import os
import random

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from kit.errors import RunError
from kit.retrieval.run import (
    rank_disagreements,
    rank_within_ids,
    ranked,
    ranks_within,
    read_rows,
    write_run,
    write_trec,
)

quick = settings(deadline=None, max_examples=60, database=None)
IDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4)
# few values, so that ties are the rule; both zeros, and two that are one in float32
SCORES = st.sampled_from([0.0, -0.0, 1.0, -1.5, 1e-45, 16777216.0, 16777217.0, 0.1])
PAIRS = st.dictionaries(st.tuples(st.sampled_from(["q", "Q", "ä", "\U0001f600", "\uffff"]), IDS),
                        SCORES, min_size=1, max_size=25)


def brute(pairs: dict) -> list[tuple]:
    """(query, document, rank) by (query, -float32 score, document's bytes descending)."""
    out = []
    for query in sorted({q for q, _ in pairs}, key=str.encode):
        docs = sorted((d for q, d in pairs if q == query), key=str.encode, reverse=True)
        docs.sort(key=lambda d: -float(np.float32(pairs[query, d])))
        out += [(query, d, n) for n, d in enumerate(docs, 1)]
    return out


def made(pairs: dict) -> pa.Table:
    return ranked([q for q, _ in pairs], [d for _, d in pairs], list(pairs.values()))


def order_of(run: pa.Table) -> list[tuple]:
    return list(zip(*(run[c].to_pylist() for c in ("query_id", "doc_id", "rank"))))


@quick
@given(PAIRS)
def test_ranked_is_the_plain_sort(pairs):
    assert order_of(made(pairs)) == brute(pairs)


@quick
@given(PAIRS, st.randoms(use_true_random=False))
def test_shuffled_rows_give_the_same_run(pairs, rng):
    items = list(pairs.items())
    rng.shuffle(items)
    assert made(dict(items)).equals(made(pairs))


def test_negative_zero_ties_with_zero_and_is_stored_as_zero():
    run = ranked(["q", "q"], ["a", "b"], [0.0, -0.0])
    assert run["doc_id"].to_pylist() == ["b", "a"]
    assert not np.signbit(run["score"].to_numpy()).any()


def test_a_run_of_nothing_has_the_columns():
    run = ranked([], [], [])
    assert (len(run), run.column_names) == (0, ["query_id", "doc_id", "rank", "score"])


def test_ranks_start_anew_with_each_query():
    ids = pa.chunked_array([["a", "a"], ["a", "b"], ["c", "c"]])
    assert ranks_within(ids).to_pylist() == [1, 2, 3, 1, 1, 2]


@quick
@given(st.lists(IDS, unique=True, max_size=12))
def test_places_of_ids_are_those_of_their_bytes(ids):
    ordered = sorted(ids, key=str.encode)
    assert rank_within_ids(pa.array(ids, pa.string())).tolist() == [ordered.index(i) for i in ids]


def test_a_run_comes_back_from_parquet_and_is_written_the_same(tmp_path):
    run = made({("q", "b"): 0.1, ("q", "a"): 0.1, ("p", "ß"): -2.0})
    write_run(tmp_path / "one.parquet", run)
    rows = read_rows(tmp_path / "one.parquet")
    write_run(tmp_path / "two.parquet", rows.ranked())
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "two.parquet").read_bytes()


def test_a_folder_that_looks_like_a_partition_adds_no_column(tmp_path):
    path = tmp_path / "score=7" / "doc_id=x" / "run.parquet"
    write_run(path, made({("q", "a"): 1.0}))
    assert read_rows(path).docs == ["a"]


@settings(deadline=None, max_examples=100, database=None)
@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_scores_survive_a_trec_file_to_the_bit(tmp_path_factory, scores):
    path = tmp_path_factory.getbasetemp() / "survive.trec"
    run = ranked(["q"] * len(scores), [f"d{i}" for i in range(len(scores))], scores)
    write_trec(path, run, "my system")
    assert read_rows(path).ranked().equals(run)


def test_trec_eval_scores_our_file_as_our_order_says(tmp_path):
    rng = random.Random(5)
    pairs = {(f"q{i}", f"d{j:02d}"): rng.choice([0.1, 0.1 + 1e-9, 0.2, -1.0])
             for i in range(5) for j in range(40)}
    qrels = {f"q{i}": {f"d{j:02d}": 1 for j in rng.sample(range(40), 6)} for i in range(5)}
    write_trec(tmp_path / "r.trec", made(pairs), "x")
    with open(tmp_path / "r.trec") as file:
        theirs = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg"}).evaluate(pytrec_eval.parse_run(file))
    for query, relevant in qrels.items():
        gain = sum(1 / np.log2(r + 1) for q, d, r in brute(pairs) if q == query and d in relevant)
        ideal = sum(1 / np.log2(r + 1) for r in range(1, 7))
        assert theirs[query]["ndcg"] == pytest.approx(gain / ideal, abs=1e-9)


@pytest.mark.parametrize("bad", ["a b", "a\u00a0b", "a\u2028b", "a\u0085b", "a\tb", ""])
def test_an_identifier_that_others_would_split_goes_into_no_trec_file(tmp_path, bad):
    with pytest.raises(RunError, match="identifier"):
        write_trec(tmp_path / "r.trec", made({("q", bad): 1.0}), "x")
    assert not list(tmp_path.iterdir())


GOOD = "q1 Q0 d1 1 2.5 x\n"


def read_text(tmp_path, text: str | bytes):
    path = tmp_path / "run.trec"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_rows(path)


@pytest.mark.parametrize("score", ["NaN", "nan", "inf", "-inf", "Infinity", "1e39", "-1e39", "1e400",
                                   "1_0", "٣", "0x10", "1,5", "--1", "e5", "."])
def test_a_score_that_is_no_finite_float32_is_refused_by_line_and_name(tmp_path, score):
    with pytest.raises(RunError, match=r"'q2'.*'d7'.*line 3"):
        read_text(tmp_path, GOOD + "\n" + f"q2 Q0 d7 1 {score} x\n")


@pytest.mark.parametrize("score", ["3.4028234e38", "1e-60", "+1.", ".5", "-0", "1E5"])
def test_a_score_that_is_finite_in_float32_is_taken(tmp_path, score):
    assert read_text(tmp_path, f"q Q0 d 1 {score} x").scores == [float(score)]


@pytest.mark.parametrize("line, n", [("q1 Q0 d2 1 2.5", 5), ("q1 Q0 d2 1 2.5 my run", 7)])
def test_a_line_of_other_than_six_columns_is_refused(tmp_path, line, n):
    with pytest.raises(RunError, match=rf"{n} columns, not 6: 'q1 Q0 d2 .*line 2"):
        read_text(tmp_path, GOOD + line)


def test_a_document_twice_is_refused_with_both_lines(tmp_path):
    with pytest.raises(RunError, match=r"'q1'.*'d1'.*twice, first in line 1.*line 3"):
        read_text(tmp_path, GOOD + "q2 Q0 d1 1 1 x\n" + GOOD)


@pytest.mark.parametrize("text", [
    "q1\tQ0  d1 \t1\t2.5 x", "  q1 Q0 d1 1 2.5 x\t\n", "q1 Q0 d1 1 2.5 x\r\n\r\n",
    "\ufeffq1 Q0 d1 1 2.5 x\n", "\n\nq1 Q0 d1 1 2.5 x"])
def test_layout_of_a_line_does_not_matter(tmp_path, text):
    rows = read_text(tmp_path, text)
    assert (rows.queries, rows.docs, rows.scores, rows.ranks) == (["q1"], ["d1"], [2.5], [1])


@pytest.mark.parametrize("mark", ["\u00a0", "\u2028", "\u0085", "\u3000", "\x0b", "\x0c", "\x1c"])
def test_only_blank_tab_and_newline_part_a_file(tmp_path, mark):
    rows = read_text(tmp_path, f"q{mark}1 Q0 d{mark}1 1 2.5 x\n")
    assert (rows.queries, rows.docs) == ([f"q{mark}1"], [f"d{mark}1"])


@pytest.mark.parametrize("raw", [
    GOOD.encode("utf-16"), GOOD.encode("utf-16-le"), (GOOD + "q1 Q0 é 2 1 x").encode("latin-1")])
def test_another_encoding_is_refused(tmp_path, raw):
    with pytest.raises(RunError, match="line [12]"):
        read_text(tmp_path, raw)


@pytest.mark.parametrize("raw", [b"", b"\n \t\r\n\n", b"\xef\xbb\xbf"])
def test_a_file_without_a_row_is_refused(tmp_path, raw):
    with pytest.raises(RunError, match="no row"):
        read_text(tmp_path, raw)


@pytest.mark.parametrize("name", ["missing.trec", ".", "n" * 300])
def test_what_is_no_file_is_refused(tmp_path, name):
    with pytest.raises(RunError, match="run"):
        read_rows(tmp_path / name)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may enter every folder")
def test_a_folder_that_may_not_be_entered_is_an_error_of_the_kit(tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0)
    with pytest.raises(RunError, match="can't be read"):
        read_rows(closed / "run.trec")


def test_an_error_of_the_file_system_is_an_error_of_the_kit(tmp_path, monkeypatch):
    def denied(*_, **__):
        raise PermissionError(13, "Permission denied")
    monkeypatch.setattr("pathlib.Path.is_file", denied)
    with pytest.raises(RunError, match="Permission denied"):
        read_rows(tmp_path / "run.trec")


def table(**columns) -> pa.Table:
    return pa.table({"query_id": ["q", "q"], "doc_id": ["a", "b"], "score": [1.0, 2.0], **columns})


@pytest.mark.parametrize("wrong, said", [
    ({"doc_id": pa.array(["a", None])}, "row 2"), ({"query_id": pa.array(["", "q"])}, "row 1"),
    ({"score": pa.array([1.0, None])}, "row 2"), ({"score": pa.array([np.inf, 1])}, "row 1"),
    ({"score": pa.array([1.0, 1e39])}, "row 2"), ({"score": pa.array(["1", "2"])}, "not numbers"),
    ({"query_id": pa.array([1, 2])}, "not strings"), ({"doc_id": pa.array([1, 2])}, "not strings"),
    ({"doc_id": pa.array(["a", "a"])}, "twice, first in row 1"),
    ({"doc_id": pa.array([b"a", b"\xff"]).view(pa.string())}, "UTF8")])
def test_a_parquet_column_that_is_no_runs_is_refused(tmp_path, wrong, said):
    pq.write_table(table(**wrong), tmp_path / "r.parquet")
    with pytest.raises(RunError, match=said):
        read_rows(tmp_path / "r.parquet")


@pytest.mark.parametrize("name", ["query_id", "doc_id", "score"])
def test_a_parquet_file_that_lacks_a_column_is_refused(tmp_path, name):
    pq.write_table(table().drop_columns([name]), tmp_path / "r.parquet")
    with pytest.raises(RunError, match=f"'{name}'"):
        read_rows(tmp_path / "r.parquet")


def test_integer_scores_and_dictionary_ids_are_taken(tmp_path):
    pq.write_table(table(score=[3, 4], doc_id=pa.array(["a", "b"]).dictionary_encode()),
                   tmp_path / "r.parquet")
    assert read_rows(tmp_path / "r.parquet").ranked()["doc_id"].to_pylist() == ["b", "a"]


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_truncated_parquet_file_is_refused(tmp_path, share):
    pq.write_table(table(), tmp_path / "r.parquet")
    raw = (tmp_path / "r.parquet").read_bytes()
    (tmp_path / "r.parquet").write_bytes(raw[:int(len(raw) * share)])
    with pytest.raises(RunError, match="Parquet|can't be read"):
        read_rows(tmp_path / "r.parquet")


@pytest.mark.parametrize("ranks, disagree", [
    ("123", 0), ("012", 0), ("213", 2), ("321", 2), ("111", 0), ("x23", 0), ("000", 0)])
def test_rows_that_stand_elsewhere_by_rank_are_counted(tmp_path, ranks, disagree):
    rows = read_text(tmp_path, "".join(f"q Q0 {d} {r} {s} x\n" for d, r, s in zip("abc", ranks, "987")))
    assert rank_disagreements(rows, rows.ranked()) == disagree


def test_ranks_of_a_parquet_file_that_are_texts_state_no_order(tmp_path):
    pq.write_table(table(rank=["10", "9"]), tmp_path / "r.parquet")
    rows = read_rows(tmp_path / "r.parquet")
    assert rank_disagreements(rows, rows.ranked()) == 0


def test_nul_bytes_are_named_as_an_encoding_fault(tmp_path):
    path = tmp_path / "run.trec"
    path.write_bytes("q1 Q0 d1 1 2.5 me\n".encode("utf-16-le"))
    with pytest.raises(RunError, match="not UTF-8 text: it holds NUL bytes"):
        read_rows(path)


def test_a_rank_that_cannot_be_read_does_not_hide_the_others(tmp_path):
    path = tmp_path / "run.trec"
    path.write_text("q Q0 a 2 9 x\nq Q0 b 1 8 x\nq Q0 c abc 7 x\n")
    rows = read_rows(path)
    assert rank_disagreements(rows, rows.ranked()) == 2


def test_a_long_identifier_is_shortened_in_an_error(tmp_path):
    path = tmp_path / "run.trec"
    path.write_text(f"{'q' * 100_000} Q0 d1 1 nan x\n")
    with pytest.raises(RunError) as error:
        read_rows(path)
    assert len(str(error.value)) < 500
