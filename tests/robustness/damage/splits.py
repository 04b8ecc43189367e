"""Damaged files of splits: `kit splits FOLDER --check FILE`; and what `--out` and its options take."""

import pyarrow as pa
import pyarrow.parquet as pq

from damage.harness import Accepted, Damage

COLUMNS = "A file of splits has the columns query_id and split"
TEXT = "Write identifiers and splits as text"
READ = "Write them anew"
LACKS = "with identifiers as text"
FILES = [  # name, bytes, what, where, do
    ("an empty CSV", "s.csv", b"", "the splits can't be read", "s.csv", READ),
    ("a CSV of blank lines", "s.csv", b"\n\n\n", "the splits can't be read", "s.csv", READ),
    ("no header", "s.csv", b"q1,train\nq2,test\n", "the column 'query_id' is missing", "s.csv", COLUMNS),
    ("a header alone", "s.csv", b"query_id,split\n", "the file has no row", "s.csv", "Give each query"),
    ("a header of another case", "s.csv", b"Query_ID,Split\nq1,train\n", "the column 'query_id' is missing", "s.csv", COLUMNS),
    ("no split", "s.csv", b"query_id\nq1\n", "the column 'split' is missing", "s.csv", COLUMNS),
    ("semicolons", "s.csv", b"query_id;split\nq1;train\n", "the column 'query_id' is missing", "s.csv", COLUMNS),
    ("tabs in a CSV", "s.csv", b"query_id\tsplit\nq1\ttrain\n", "the column 'query_id' is missing", "s.csv", COLUMNS),
    ("commas in a TSV", "s.tsv", b"query_id,split\nq1,train\n", "the column 'query_id' is missing", "s.tsv", COLUMNS),
    ("an empty split", "s.csv", b"query_id,split\nq1,train\nq2,\n", "split is ''", "s.csv, row 2", TEXT),
    ("a blank split", "s.csv", b"query_id,split\nq1,  \n", "split is", "s.csv, row 1", TEXT),
    ("an empty query", "s.csv", b"query_id,split\n,train\n", "query_id is ''", "s.csv, row 1", TEXT),
    ("a row that is too long", "s.csv", b"query_id,split\nq1,train\nq2,test,x\n", "the splits can't be read", "s.csv", READ),
    ("rows that are too long", "s.csv", b"query_id,split\nq1,train,x\n", "rows have more fields than the header", "s.csv", READ),
    ("a quote that is open", "s.csv", b'query_id,split\n"q1,train\n', "the splits can't be read", "s.csv", READ),
    ("a query in two splits", "s.csv", b"query_id,split\nq1,train\nq1,test\n", "1 queries stand in two splits, such as 'q1'",
     "s.csv", "Give each query one split"),
    ("a query of another collection", "s.csv", b"query_id,split\nx9,train\n", "1 queries that the collection lacks", "'x9'", LACKS),
    ("a query of another case", "s.csv", b"query_id,split\nQ1,train\n", "1 queries that the collection lacks", "'Q1'", LACKS),
    ("a query with a blank", "s.csv", b"query_id,split\nq1 ,train\n", "1 queries that the collection lacks", "'q1 '", LACKS),
    ("a query of a megabyte", "s.csv", b"query_id,split\n" + b"q" * 10**6 + b",train\n", "1 queries that the collection lacks",
     "'qqq", LACKS),
    ("a query of a tag", "s.csv", b"query_id,split\n<script>,train\n", "1 queries that the collection lacks", "'<script>'", LACKS),
    ("latin-1", "s.csv", b"query_id,split\nq\xe9,train\n", "the splits can't be read", "s.csv", READ),
    ("UTF-16", "s.csv", "query_id,split\nq1,train\n".encode("utf-16"), "the splits can't be read", "s.csv", READ),
    ("NUL", "s.csv", b"query_id,split\nq1\0,train\n", "1 queries that the collection lacks", "'q1", LACKS),
    ("Parquet of four bytes", "s.parquet", b"PAR1", "the splits can't be read", "s.parquet", READ),
    ("CSV as Parquet", "s.parquet", b"query_id,split\nq1,train\n", "the splits can't be read", "s.parquet", READ),
    ("Parquet as CSV", "s.csv", b"PAR1" + bytes(range(256)) + b"PAR1", "the splits can't be read", "s.csv", READ),
    ("another ending", "s.json", b"{}", "splits are read from Parquet, CSV or TSV", "s.json", "Give a name that ends in"),
    ("no ending", "s", b"query_id,split\n", "splits are read from Parquet, CSV or TSV", "/s", "Give a name that ends in"),
]
TABLES = [
    ("numbers as ids", {"query_id": [1, 2], "split": ["train", "test"]}, "query_id is 1", "s.parquet, row 1", TEXT),
    ("numbers as splits", {"query_id": ["q1", "q2"], "split": [0, 1]}, "split is 0", "s.parquet, row 1", TEXT),
    ("a null split", {"query_id": ["q1", "q2"], "split": ["train", None]}, "split is nan", "s.parquet, row 2", TEXT),
    ("lists as splits", {"query_id": ["q1"], "split": [["train"]]}, "split is", "s.parquet, row 1", TEXT),
    ("no split column", {"query_id": ["q1"]}, "the column 'split' is missing", "s.parquet", COLUMNS),
    ("no row", {"query_id": pa.array([], pa.string()), "split": pa.array([], pa.string())}, "the file has no row", "s.parquet",
     "Give each query"),
]
OPTIONS = [
    ("an unknown tie", ["--out", "HOME/o.parquet", "--ignore", "family"], "unknown tie 'family'", "--ignore", "Give of"),
    ("shares of no number", ["--out", "HOME/o.parquet", "--shares", "train=most"], "shares are names and numbers", "--shares", "Give"),
    ("shares without names", ["--out", "HOME/o.parquet", "--shares", "0.8,0.2"], "shares are names and numbers", "--shares", "Give"),
    ("a share twice", ["--out", "HOME/o.parquet", "--shares", "a=0.5,a=0.5"], "shares are names and numbers", "--shares", "Give"),
    ("shares that sum to two", ["--out", "HOME/o.parquet", "--shares", "a=1,b=1"], "the shares sum to 2", "shares", "Give"),
    ("a share of NaN", ["--out", "HOME/o.parquet", "--shares", "a=nan,b=1"], "shares are names and numbers", "shares", "Give"),
    ("a share below nothing", ["--out", "HOME/o.parquet", "--shares", "a=-1,b=2"], "the share of 'a' is -1", "shares", "Give"),
    ("a seed below nothing", ["--out", "HOME/o.parquet", "--seed", "-1"], "a seed is a whole number", "seed", "Give"),
    ("a seed of words", ["--out", "HOME/o.parquet", "--seed", "x"], "it is no whole number: 'x'", "splits", "--help"),
    ("an output that is no Parquet", ["--out", "HOME/o.csv"], "splits are written as Parquet", "o.csv", "Give a name"),
    ("neither --out nor --check", [], "one of the arguments --out --check is required", "splits", "--help"),
]


def _check(name: str, raw: bytes):
    def make(home):
        (home.path / name).write_bytes(raw)
        return ["splits", home.collection(home.path), "--check", home.path / name]
    return make


def _parquet(columns: dict, share: float = 1):
    def make(home):
        path = home.path / "s.parquet"
        pq.write_table(pa.table(columns), path)
        path.write_bytes(path.read_bytes()[:int(path.stat().st_size * share)])
        return ["splits", home.collection(home.path), "--check", path]
    return make


def _given(words: list[str]):
    return lambda home: ["splits", home.collection(home.path), *(w.replace("HOME", str(home.path)) for w in words)]


SOUND = {"query_id": ["q1", "q2"], "split": ["train", "test"]}
DAMAGES = [
    *(Damage(name, _check(file, raw), *said) for name, file, raw, *said in FILES),
    *(Damage(f"Parquet with {name}", _parquet(columns), *said) for name, columns, *said in TABLES),
    Damage("Parquet cut to a half", _parquet(SOUND, 0.5), "the splits can't be read", "s.parquet", READ),
    Damage("a file that is not there", lambda home: ["splits", home.collection(home.path), "--check", home.path / "gone.csv"],
           "no such file of splits", "gone.csv", "Give"),
    *(Damage(name, _given(words), *said) for name, words, *said in OPTIONS),
]
ACCEPTED = [
    Accepted("a byte order mark", _check("s.csv", "\ufeffquery_id,split\nq1,train\nq2,test\n".encode()), "without a split"),
    Accepted("line ends of Windows", _check("s.csv", b"query_id,split\r\nq1,train\r\nq2,test\r\n"), "without a split"),
    Accepted("columns beyond the two", _check("s.csv", b"query_id,split,more\nq1,train,x\n"), "without a split"),
    Accepted("a row twice", _check("s.csv", b"query_id,split\nq1,train\nq1,train\n"), "without a split"),
    Accepted("a query without a split", _check("s.csv", b"query_id,split\nq1,train\n"), "without a split         1"),
]
