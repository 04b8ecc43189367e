"""Damaged runs, TREC and Parquet: `kit score --run`."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from damage.harness import Accepted, Damage

GOOD = "q1 Q0 d1 1 2.5 x\n"
SECOND = "run.trec, line 2"
COLUMNS = "A TREC line is: query Q0 document rank score name"
ROW = "Mend or leave out the row"
UTF8 = "Save it as UTF-8"
PAIR = "Check that run and collection belong together"
BEHIND = [  # a second line of a run, after a good one
    ("a line of five columns", "q1 Q0 d2 2 1.5", "a line has 5 columns, not 6: 'q1 Q0 d2 2 1.5'", SECOND, COLUMNS),
    ("a line of seven columns", "q1 Q0 d2 2 1.5 my run", "a line has 7 columns", SECOND, COLUMNS),
    ("a line of one column", "q1", "a line has 1 columns", SECOND, COLUMNS),
    ("a line of commas", "q1,Q0,d2,2,1.5,x", "a line has 1 columns", SECOND, COLUMNS),
    ("a line of a thousand columns", "q " * 1000, "a line has 1000 columns", SECOND, COLUMNS),
    ("a line of no blank and a megabyte", "q" * 10**6, "a line has 1 columns", SECOND, COLUMNS),
    ("a document's id with a blank", "q1 Q0 US 2 2 1.5 x", "a line has 7 columns, not 6: 'q1 Q0 US 2", SECOND,
     COLUMNS),
    ("a query's id with a tab", "q\t1 Q0 d2 2 1.5 x", "a line has 7 columns", SECOND, COLUMNS),
    ("a header", "query_id Q0 doc_id rank score name", "the score 'score' of query 'query_id'", SECOND, ROW),
    ("a comment", "# made by hand", "a line has 4 columns", SECOND, COLUMNS),
    ("columns in another order", "q1 d2 Q0 1.5 x 2 ", "the score 'x' of query 'q1', document 'Q0'", SECOND, ROW),
    ("a qrels line", "q1 0 d2 1", "a line has 4 columns", SECOND, COLUMNS),
    ("a line of JSON", '{"query_id": "q1"}', "a line has 2 columns", SECOND, COLUMNS),
    *((f"a score {score}", f"q2 Q0 d3 1 {score} x", f"the score '{score}' of query 'q2', document 'd3'", SECOND, ROW)
      for score in ("NaN", "nan", "inf", "-inf", "Infinity", "1,5", "1_000", "0x10", "٣", "--1", "e5", "1e", "None")),
    *((f"a score of {score}", f"q2 Q0 d3 1 {score} x", "query 'q2', document 'd3' is no finite float32", SECOND, ROW)
      for score in ("1e39", "-1e39", "1e400", "9" * 400)),
    ("a pair twice", GOOD.strip(), "the run has query 'q1', document 'd1' twice, first in line 1", SECOND,
     "Keep one of the two"),
    ("a pair twice with other scores", "q1 Q0 d1 7 0.5 x", "query 'q1', document 'd1' twice", SECOND,
     "Keep one of the two"),
    ("an unknown document", "q1 Q0 d9 2 1.5 x", "the corpus has no document 'd9'", SECOND, PAIR),
    ("a document of another case", "q1 Q0 D2 2 1.5 x", "the corpus has no document 'D2'", SECOND, PAIR),
    ("a document with a no-break space", "q1 Q0 d2\u00a0 2 1.5 x", "the corpus has no document 'd2\\xa0'", SECOND,
     PAIR),
    ("a document named by a path", "q1 Q0 ../../x 2 1.5 x", "the corpus has no document '../../x'", SECOND, PAIR),
    ("a document named by a tag", "q1 Q0 <script> 2 1.5 x", "no document '<script>'", SECOND, PAIR),
    ("a document that turns letters round", "q1 Q0 \u202ed2 2 1.5 x", "no document '\\u202ed2'", SECOND, PAIR),
    ("a document that moves the cursor", "q1 Q0 \x1b[2Jd2 2 1.5 x", "no document '\\x1b[2Jd2'", SECOND, PAIR),
    ("a document of a megabyte", f"q1 Q0 {'d' * 10**6} 2 1.5 x", "the corpus has no document 'ddd", SECOND, PAIR),
    ("a document twice in two scripts", "q1 Q0 ｄ1 2 1.5 x", "no document 'ｄ1'", SECOND, PAIR),
]
WHOLE = [  # a whole file
    ("an empty file", b"", "the run has no row", "run.trec", "at least one row"),
    ("blank lines", b"\n \t\r\n\n", "the run has no row", "run.trec", "at least one row"),
    ("a byte order mark alone", b"\xef\xbb\xbf", "the run has no row", "run.trec", "at least one row"),
    ("UTF-16", GOOD.encode("utf-16"), "the run is not UTF-8", "run.trec, line 1", UTF8),
    ("UTF-16 without a mark", GOOD.encode("utf-16-le"), "the run is not UTF-8", "run.trec, line 1", UTF8),
    ("UTF-32", GOOD.encode("utf-32-le"), "the run is not UTF-8", "run.trec, line 1", UTF8),
    ("latin-1", (GOOD + "q1 Q0 é 2 1 x").encode("latin-1"), "the run is not UTF-8", SECOND, UTF8),
    ("half a character", GOOD.encode() + b"q1 Q0 \xed\xa0\x80 2 1 x", "the run is not UTF-8", SECOND, UTF8),
    ("a NUL in an id", (GOOD + "q1 Q0 d\0 2 1 x").encode(), "NUL bytes", SECOND, UTF8),
    ("gzip", b"\x1f\x8b\x08" + bytes(20), "the run is not UTF-8", "run.trec, line 1", UTF8),
    ("a page", b"<!DOCTYPE html>\n<html>", "a line has 2 columns", "run.trec, line 1", COLUMNS),
    ("a Mac's line ends", GOOD.replace("\n", "\r").encode() * 2, "columns, not 6", "run.trec, line 1", COLUMNS),
    ("queries of another collection", b"x1 Q0 d1 1 2.5 x\n", "no query of the run is in the collection",
     "run.trec, first 'x1'", PAIR),
    ("a query of a megabyte", b"q" * 10**6 + b" Q0 d1 1 2.5 x\n", "no query of the run", "run.trec, first 'qqq", PAIR),
    ("Parquet that is its first bytes", b"PAR1", "no readable Parquet file", "run.trec", "Write it anew"),
    ("Parquet that is junk", b"PAR1" + b"\xff" * 100 + b"PAR1", "no readable Parquet", "run.trec", "Write it anew"),
]


def _behind(line: str):
    return lambda home: home.score(home.collection(home.path), home.run(GOOD + line + "\n"))


def _whole(raw: bytes):
    return lambda home: home.score(home.collection(home.path), home.run(raw))


def _table(**columns) -> pa.Table:
    """Two rows of a run; a column of `...` is left out."""
    given = {"query_id": ["q1", "q1"], "doc_id": ["d1", "d2"], "rank": [1, 2], "score": [2.5, 1.5], **columns}
    return pa.table({name: values for name, values in given.items() if values is not ...})


def _parquet(table: pa.Table, share: float = 1):
    def make(home):
        path = home.path / "run.parquet"
        pq.write_table(table, path)
        path.write_bytes(path.read_bytes()[:int(path.stat().st_size * share)])
        return home.score(home.collection(home.path), path)
    return make


def _named(name: str, lay=lambda path: None):
    def make(home):
        lay(home.path / name)
        return home.score(home.collection(home.path), home.path / name)
    return make


TABLES = [
    ("Parquet without a query_id", _table(query_id=...), "the column 'query_id' not once", "run.parquet", "A run has"),
    ("Parquet without a doc_id", _table(doc_id=...), "the column 'doc_id' not once", "run.parquet", "A run has"),
    ("Parquet without a score", _table(score=...), "the column 'score' not once", "run.parquet", "A run has"),
    ("Parquet with a score twice", _table().append_column("score", pa.array([1.0, 2.0])),
     "the column 'score' not once", "run.parquet", "A run has"),
    ("Parquet with numbers as ids", _table(doc_id=[1, 2]), "holds int64, not strings", "run.parquet", "Write it"),
    ("Parquet with texts as scores", _table(score=["2", "1"]), "holds string, not numbers", "run.parquet", "Write it"),
    ("Parquet with lists as scores", _table(score=[[2.0], [1.0]]), "not numbers", "run.parquet", "Write it"),
    ("Parquet with a null document", _table(doc_id=["d1", None]), "an identifier is empty", "run.parquet, row 2", ROW),
    ("Parquet with an empty query", _table(query_id=["q1", ""]), "an identifier is empty", "run.parquet, row 2", ROW),
    ("Parquet with a null score", _table(score=[1.0, None]), "is no finite float32", "run.parquet, row 2", ROW),
    ("Parquet with a score of infinity", _table(score=[np.inf, 1]), "is no finite float32", "run.parquet, row 1", ROW),
    ("Parquet with a score beyond float32", _table(score=[1.0, 1e39]), "is no finite", "run.parquet, row 2", ROW),
    ("Parquet with a pair twice", _table(doc_id=["d1", "d1"]), "twice, first in row 1", "run.parquet, row 2", "Keep one"),
    ("Parquet with an unknown document", _table(doc_id=["d1", "d9"]), "no document 'd9'", "run.parquet, row 2", PAIR),
    ("Parquet with bytes as text", _table(doc_id=pa.array([b"d1", b"\xff"]).view(pa.string())), "no readable Parquet",
     "run.parquet", "Write it anew"),
    ("Parquet of no row", _table().slice(0, 0), "the run has no row", "run.parquet", "at least one row"),
    ("Parquet of another thing", pa.table({"a": [1]}), "the column 'query_id' not once", "run.parquet", "A run has"),
]


def _misnamed(home):
    """A run whose file names a column by bytes that are no UTF-8."""
    path = home.path / "run.parquet"
    pq.write_table(_table().rename_columns(["query_id", "doc_id", "zank", "score"]), path)
    path.write_bytes(path.read_bytes().replace(b"zank", b"\x80ank"))
    return home.score(home.collection(home.path), path)


DAMAGES = [
    Damage("Parquet with a column's name that is no UTF-8", _misnamed, "no readable Parquet", "run.parquet", "Write it anew"),
    *(Damage(name, _behind(line), *said) for name, line, *said in BEHIND),
    *(Damage(name, _whole(raw), *said) for name, raw, *said in WHOLE),
    *(Damage(name, _parquet(table), *said) for name, table, *said in TABLES),
    *(Damage(f"Parquet cut to {share:.0%}", _parquet(_table(), share), "no readable Parquet", "run.parquet",
             "Write it anew") for share in (0.1, 0.5, 0.9, 0.99)),
    Damage("a file that is not there", _named("gone.trec"), "no such run file", "gone.trec", "Give a TREC"),
    Damage("a folder", _named("run", lambda p: p.mkdir()), "no such run file", "run", "Give a TREC"),
    Damage("a link to itself", _named("run", lambda p: p.symlink_to(p)), "no such run file", "run", "Give"),
    Damage("a link to nowhere", _named("run", lambda p: p.symlink_to("nowhere")), "no such run file", "run", "Give"),
    Damage("a name that is too long", _named("n" * 300), "can't be read", "nnn", "Check the file"),
    Damage("a name with a NUL", _named("a\0b"), "run", "a\\u0000b", "Give a TREC"),
]
ODD = [
    ("line ends of Windows", GOOD.replace("\n", "\r\n"), '"RR": {"mean": 0.5'),
    ("a byte order mark", "\ufeff" + GOOD, '"RR": {"mean": 0.5'),
    ("tabs between", GOOD.replace(" ", "\t"), '"RR": {"mean": 0.5'),
    ("no line end at the end", GOOD.strip(), '"RR": {"mean": 0.5'),
    ("blank lines between", f"\n\n{GOOD}\n \n", '"RR": {"mean": 0.5'),
    ("a query that is not the collection's, beside one that is", GOOD + "q9 Q0 d1 1 2 x\n", "unknown queries: 1"),
    ("ranks against scores: scores count", "q1 Q0 d1 1 1 x\nq1 Q0 d3 2 2 x\n", "rank disagrees: 2"),
    ("ranks that are no numbers", "q1 Q0 d1 first 2 x\nq1 Q0 d3 second 1 x\n", '"RR": {"mean": 0.5'),
    ("one rank for all", "q1 Q0 d1 1 2 x\nq1 Q0 d3 1 1 x\n", '"RR": {"mean": 0.5'),
    ("ranks below nothing", "q1 Q0 d1 -1 2 x\n", '"RR": {"mean": 0.5'),
    ("scores that tie: documents descend", "q1 Q0 d1 1 1 x\nq1 Q0 d3 2 1 x\n", '"q1": 0.5'),
    ("a name in another script", "q1 Q0 d1 1 2 Ωмега\n", '"RR": {"mean": 0.5'),
    ("another word than Q0", "q1 0 d1 1 2 x\n", '"RR": {"mean": 0.5'),
]
ACCEPTED = [Accepted(name, _whole(text.encode()), said) for name, text, said in ODD]
