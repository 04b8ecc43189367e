"""Damaged collections, in the layouts of Sophia and DAPFAM: `kit score --collection FOLDER`."""

import os
import shutil

import pyarrow as pa
import pyarrow.parquet as pq

from damage.harness import Accepted, Damage

TABLES = ("queries", "corpus", "qrels")
PAIRS = [("q1", "d1"), ("q1", "d2", "A"), ("q2", "d3", "overlap")]
ANEW = "fetch the data set anew"
MEND = "writes every row; mend the tables"
PLACE = "Lay it out as a hub data set"


def _file(folder, table):
    return next((folder / table).iterdir())


def _sophia(change=lambda folder: None, **written):
    """A collection in Sophia's layout; change: what is done to its folder afterwards."""
    def make(home):
        folder = home.collection(home.path, **written)
        change(folder)
        return home.score(folder)
    return make


def _dapfam(change=lambda folder: None, **written):
    """The same in DAPFAM's layout; written: `relations`, `queries`, `corpus`."""
    def make(home):
        relations = written.get("relations")
        folder = home.dapfam(home.path, relations, **{k: v for k, v in written.items() if k != "relations"})
        change(folder)
        return home.score(folder)
    return make


# --- files -----------------------------------------------------------------------------------------

def _bytes(change):
    """Changes the bytes of a table's file."""
    def to(table):
        return lambda folder: _file(folder, table).write_bytes(change(_file(folder, table).read_bytes()))
    return to


def _instead(lay):
    """Lays something else under the name of a table's file."""
    def to(table):
        def change(folder):
            path = _file(folder, table)
            path.unlink()
            lay(path)
        return change
    return to


FILES = {  # what became of one table's file
    "cut to a half": _bytes(lambda raw: raw[:len(raw) // 2]),
    "cut by a byte": _bytes(lambda raw: raw[:-1]),
    "empty": _bytes(lambda raw: b""),
    "of four bytes": _bytes(lambda raw: raw[:4]),
    "of another kind": _bytes(lambda raw: b"query_id,doc_id\nq1,d1\n"),
    "without its end": _bytes(lambda raw: raw[:-200] + bytes(200)),
    "of an absurd footer": _bytes(lambda raw: raw[:-8] + b"\xff\xff\xff\x7f" + b"PAR1"),
}
GONE = {
    "a folder": _instead(lambda path: path.mkdir()),
    "a link to itself": _instead(lambda path: path.symlink_to(path)),
    "a link to nowhere": _instead(lambda path: path.symlink_to("nowhere")),
}


def _files():
    for table in TABLES:
        for name, change in FILES.items():
            said = (f"the table {table} can't be read", "tiny", ANEW)
            yield Damage(f"{table}: {name}", _sophia(change(table)), *said)
        yield Damage(f"{table} without a README: {name}", _sophia(change(table), readme=False), *said)
        for name, change in GONE.items():
            yield Damage(f"{table}: {name}", _sophia(change(table)), table, "tiny", "Mend the paths in README.md")
    for table, own in (("queries", "queries"), ("corpus", "corpus"), ("relations", "qrels")):
        for name in ("cut to a half", "empty", "of another kind"):
            yield Damage(f"DAPFAM's {table}: {name}", _dapfam(FILES[name](table)), f"the table {own} can't be read",
                         "families", ANEW)


# --- columns and types -----------------------------------------------------------------------------

def _column(table, name, values):
    return {"tweak": {table: lambda t: t.set_column(t.column_names.index(name), name, pa.array(values))}}


def _less(table, name):
    return {"tweak": {table: lambda t: t.drop_columns([name])}}


def _twice(table, name):
    return {"tweak": {table: lambda t: t.append_column(name, t[name])}}


COLUMNS = [
    ("numbers as query ids", _column("queries", "query_id", [1, 2]), "queries: the column 'query_id' is int64"),
    ("numbers as document ids", _column("corpus", "doc_id", [1, 2, 3]), "corpus: the column 'doc_id' is int64"),
    ("numbers as the qrels' ids", _column("qrels", "doc_id", [1, 2, 3]), "qrels: the column 'doc_id' is int64"),
    ("floats as query ids", _column("queries", "query_id", [1.0, 2.0]), "queries: the column 'query_id' is double"),
    ("bytes as document ids", _column("corpus", "doc_id", [b"d1", b"d2", b"d3"]), "corpus: the column 'doc_id' is binary"),
    ("lists as query ids", _column("queries", "query_id", [["q1"], ["q2"]]), "queries: the column 'query_id' is list"),
    ("numbers as categories", _column("qrels", "category", [1, 2, 3]), "qrels: the column 'category' is int64"),
    ("lists as categories", _column("qrels", "category", [["XY"], ["A"], ["A"]]), "qrels: the column 'category' is list"),
    ("texts as relations", _column("qrels", "source_relations", ["XY", "A", "A"]), "the column 'source_relations' is"),
    ("numbers as titles", _column("corpus", "title", [1, 2, 3]), "corpus: the column 'title' is int64"),
    ("a text as classes", _column("corpus", "ipc", ["F16K", "F16K", "F16K"]), "corpus: the column 'ipc' is string"),
    ("numbers as classes", _column("queries", "ipc", [[1], [2]]), "queries: the column 'ipc' is list"),
    ("times as dates", _column("queries", "publication_date", pa.array([1, 2], pa.timestamp("s"))),
     "queries: the column 'publication_date' is timestamp"),
    ("structs as claims", _column("corpus", "claims", [{"en": "a"}] * 3), "corpus: the column 'claims' is struct"),
    ("no query_id", _less("queries", "query_id"), "queries: the column 'query_id' is missing"),
    ("no doc_id", _less("corpus", "doc_id"), "corpus: the column 'doc_id' is missing"),
    ("no query_id in the qrels", _less("qrels", "query_id"), "qrels: the column 'query_id' is missing"),
    ("no category", _less("qrels", "category"), "qrels: the column 'category' is missing"),
    ("no description", _less("corpus", "description"), "corpus: the column 'description' is missing"),
]
TWICE = [("queries", "query_id"), ("corpus", "title"), ("qrels", "doc_id")]


# --- rows ------------------------------------------------------------------------------------------

ROWS = [
    ("a query id twice", {"queries": ["q1", "q2", "q2"]}, "query_id stands more than once [query_id 'q2'"),
    ("a document id twice", {"corpus": ["d1", "d2", "d3", "d1"]}, "doc_id stands more than once [doc_id 'd1'"),
    ("a null query id", {"queries": ["q1", "q2", {"query_id": None}]}, "query_id is empty [row 2]"),
    ("a null document id", {"corpus": [{"doc_id": None}, "d1", "d2", "d3"]}, "doc_id is empty [row 0]"),
    ("an empty query id", {"queries": ["", "q1", "q2"]}, "query_id is empty [row 0]"),
    ("a blank document id", {"corpus": ["d1", "d2", "d3", " \t"]}, "doc_id is empty [row 3]"),
    ("an id of a no-break space", {"corpus": ["d1", "d2", "d3", "\u00a0"]}, "doc_id is empty [row 3]"),
    ("a pair of an unknown query", {"qrels": [*PAIRS, ("q9", "d1")]}, "query_id is in no row of queries [query_id 'q9'"),
    ("a pair of an unknown document", {"qrels": [*PAIRS, ("q1", "d9")]}, "doc_id is in no row of corpus [query_id 'q1', "
     "doc_id 'd9'"),
    ("a pair of a document's other case", {"qrels": [*PAIRS, ("q1", "D3")]}, "doc_id 'D3'"),
    ("a pair of a query with a blank", {"qrels": [*PAIRS, ("q2 ", "d1")]}, "query_id 'q2 '"),
    ("a pair of no query", {"qrels": [*PAIRS, {"query_id": None, "doc_id": "d1", "category": "A"}]}, "query_id None"),
    ("a pair of no document", {"qrels": [*PAIRS, {"query_id": "q1", "doc_id": None, "category": "A"}]}, "doc_id None"),
    *((f"a category {shown}", {"qrels": [*PAIRS, ("q2", "d1", category)]}, f"category is none of XY, A, overlap "
       f"[query_id 'q2', doc_id 'd1', category {category!r}]")
      for shown, category in (("Y", "Y"), ("of another case", "xy"), ("with a blank", "XY "), ("of nothing", ""),
                              ("null in some", None), ("of a tag", "<b>"))),
    ("a pair twice", {"qrels": [*PAIRS, PAIRS[0]]}, "the pair stands more than once [query_id 'q1', doc_id 'd1'"),
    ("a pair in two categories", {"qrels": [*PAIRS, ("q1", "d1", "A")]}, "the pair stands more than once"),
    ("a query that is its own relevant", {"corpus": ["d1", "d2", "d3", "q1"], "qrels": [*PAIRS, ("q1", "q1")]},
     "the query is its own relevant document [query_id 'q1'"),
    ("no query", {"queries": [], "qrels": []}, "queries: the table has no row"),
    ("no document", {"corpus": [], "qrels": []}, "corpus: the table has no row"),
    ("no pair", {"qrels": []}, "qrels: the table has no row"),
    ("a dangling id of a megabyte", {"qrels": [*PAIRS, ("q1", "d" * 10**6)]}, "doc_id is in no row of corpus"),
    ("a dangling id of a path", {"qrels": [*PAIRS, ("q1", "../../x")]}, "doc_id '../../x'"),
    ("a dangling id of a tag", {"qrels": [*PAIRS, ("q1", "<script>")]}, "doc_id '<script>'"),
    ("a dangling id with a line end", {"qrels": [*PAIRS, ("q1", "a\nb\r")]}, r"doc_id 'a\nb\r'"),
    ("a dangling id that moves the cursor", {"qrels": [*PAIRS, ("q1", "\x1b[2J")]}, r"doc_id '\x1b[2J'"),
    ("a dangling id that turns letters round", {"qrels": [*PAIRS, ("q1", "\u202ed9")]}, r"doc_id '\u202ed9'"),
    ("a dangling id with a NUL", {"qrels": [*PAIRS, ("q1", "d\0")]}, r"doc_id 'd\x00'"),
    ("a thousand dangling pairs", {"qrels": [*PAIRS, *(("q1", f"x{n}") for n in range(1000))]}, "and 997 more"),
]


def _as_bytes(table, name, values):
    return _sophia(tweak={table: lambda t: t.set_column(
        t.column_names.index(name), name, pa.array(values).view(pa.string()))})


# --- folders and READMEs ---------------------------------------------------------------------------

CONFIGS = "configs:\n" + "".join(f"- config_name: {t}\n  data_files:\n  - split: test\n    path: {t}/*.parquet\n"
                                 for t in TABLES)


def _readme(text: str | bytes):
    raw = text if isinstance(text, bytes) else text.encode()
    return _sophia(lambda folder: (folder / "README.md").write_bytes(raw))


def _card(configs: str) -> str:
    return f"---\n{configs}---\n\n# Tiny\n"


DO = "Mend the configs in README.md"
READMES = [  # text, what is said
    ("no configs", "# Tiny\n", "the README has no list of configs"),
    ("an empty file", "", "the README has no list of configs"),
    ("configs that are no YAML", _card("configs: [\n"), "the README can't be read: expected the node content"),
    ("configs that are a text", _card("configs: all\n"), "the README has no list of configs"),
    ("configs that are a number", _card("configs: 7\n"), "the README has no list of configs"),
    ("configs of texts", _card("configs:\n- queries\n"), "the README has no list of configs"),
    ("a head that is a list", _card("- configs\n"), "the README has no list of configs"),
    ("a config without a name", _card("configs:\n- data_files: x\n"), "configs name the table 'queries' nowhere"),
    ("a config whose name is a list", _card("configs:\n- config_name: [queries]\n"), "the table 'queries' nowhere"),
    ("configs without the qrels", _card(CONFIGS.partition("- config_name: qrels")[0]), "the table 'qrels' nowhere"),
    ("a table named twice", _card(CONFIGS + CONFIGS.removeprefix("configs:\n")), "the table 'queries' more than once"),
    ("files beside the folder", _card(CONFIGS.replace("queries/*", "../other/*")), "names '../other/*.parquet', which lies"),
    ("files by an absolute path", _card(CONFIGS.replace("qrels/*", "/etc/*")), "names '/etc/*.parquet', which lies"),
    ("files of another host", _card(CONFIGS.replace("corpus/*", "https://example.org/*")), "which lies outside"),
    ("a key that stands twice", _card(CONFIGS + CONFIGS), "the README can't be read: 'configs' stands twice"),
    ("an object of Python", _card("configs: !!python/object/apply:os.getcwd []\n"), "could not determine a constructor"),
    ("anchors that explode", _card("a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{b}: &{b} [{', '.join(['*' + a] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi")) + "configs: *i\n"),
     "its anchors stand for too much"),
    ("an anchor of itself", _card("configs: &a [*a]\n"), "its anchors stand for too much, or for themselves"),
    ("a deep nest", _card("configs: " + "[" * 5000 + "\n"), "nested too deeply"),
    ("bytes that are no UTF-8", b"---\n\xff\xfe\n---\n", "the README can't be read: 'utf-8' codec"),
    ("NUL bytes", b"---\nconfigs: \0\n---\n", "the README can't be read: unacceptable character"),
]
LAID = [  # a README that names other than what is there
    ("another split", CONFIGS.replace("split: test", "split: train"), "the table 'queries' has no split 'test'", "tiny",
     "It has train"),
    ("files that are not there", CONFIGS.replace("queries/*", "gone/*"), "the files of the table queries are not there",
     "tiny", "Mend the paths in README.md"),
    ("files of CSV", CONFIGS.replace("qrels/*.parquet", "qrels.csv"), "the files of the table qrels are not there", "tiny",
     "Mend the paths in README.md"),
    ("another table's files", CONFIGS.replace("corpus/*", "qrels/*"), "corpus: the column 'source_xpn' is missing", "tiny",
     MEND),
]


def _moved(folder):
    shutil.rmtree(folder / "qrels")


def _two_layouts(folder):
    (folder / "rows.jsonl").write_text('{"qid": "q1", "text": "A", "gold_apps": ["d1"]}\n')


FOLDERS = [
    ("an empty folder", lambda home: home.score(_made(home.path / "empty")), "no README.md with configs and no queries/*",
     "empty", PLACE),
    ("a folder that is not there", lambda home: home.score(home.path / "gone"), "no such collection or folder", "gone",
     "Give one of"),
    ("a file as collection", lambda home: home.score(home.run(name="x.parquet")), "a collection is a folder", "x.parquet",
     "Give one of"),
    ("a link to itself as collection", lambda home: home.score(_loop(home.path / "loop")), "no such collection", "loop",
     "Give one of"),
    ("a name with a NUL", lambda home: home.score("a\0b"), "no such collection", "a\\u0000b", "Give one of"),
    ("a name of nothing", lambda home: home.score(" "), "no collection is named", "' '", "Give one of"),
    ("a name of ten thousand letters", lambda home: home.score("x" * 10_000), "no such collection", "xxx", "Give one of"),
    ("no qrels", _sophia(_moved, readme=False), "no README.md with configs and no qrels/*", "tiny", PLACE),
    ("no qrels, which the README names", _sophia(_moved), "the table 'qrels' names files that are not there", "tiny",
     "Mend the paths in README.md"),
    ("the layouts of rows and of Sophia", _sophia(_two_layouts), "rows.jsonl and queries, qrels, two sets of queries",
     "tiny", "Keep one"),
    ("the layouts of DAPFAM and of Sophia", _dapfam(lambda f: shutil.copytree(f / "relations", f / "qrels")),
     "relations and qrels, two sets of pairs", "families", "Keep one"),
    ("a README that is a folder", _sophia(lambda f: ((f / "README.md").unlink(), (f / "README.md").mkdir())),
     "the README can't be read: Is a directory", "README.md", DO),
]


def _made(folder):
    folder.mkdir()
    return folder


def _loop(path):
    os.symlink(path, path)
    return path


# --- DAPFAM ----------------------------------------------------------------------------------------

SOUND = [("q1", "d1", 1.0, "IN"), ("q1", "d2", 0.0, "NC"), ("q2", "d3", 1.0, "IN")]
FAMILIES = [
    ("a score that is a text", {"relations": [(q, d, str(s), r) for q, d, s, r in SOUND]}, "'relevance_score' is string"),
    ("a score of words", {"relations": [(q, d, "yes", r) for q, d, s, r in SOUND]}, "'relevance_score' is string"),
    ("a score of a half", {"relations": [*SOUND, ("q2", "d1", 0.5, "IN")]}, "relevance_score is neither 1 nor 0"),
    ("a score of two", {"relations": [*SOUND, ("q2", "d1", 2.0, "OUT")]}, "relevance_score is neither 1 nor 0"),
    ("a score below nothing", {"relations": [*SOUND, ("q2", "d1", -1.0, "NC")]}, "relevance_score is neither 1 nor 0"),
    ("a score that is no number", {"relations": [*SOUND, ("q2", "d1", float("nan"), "IN")]}, "neither 1 nor 0"),
    ("a score of infinity", {"relations": [*SOUND, ("q2", "d1", float("inf"), "IN")]}, "neither 1 nor 0"),
    ("a null score", {"relations": [*SOUND, ("q2", "d1", None, "IN")]}, "neither 1 nor 0"),
    ("scores of true and false", {"relations": [(q, d, bool(s), r) for q, d, s, r in SOUND]}, "'relevance_score' is bool"),
    ("an unknown domain", {"relations": [*SOUND, ("q2", "d1", 1.0, "NEAR")]}, "domain_rel is none of IN, OUT, NC"),
    ("a domain of another case", {"relations": [*SOUND, ("q2", "d1", 1.0, "in")]}, "domain_rel is none of IN, OUT, NC"),
    ("a null domain", {"relations": [*SOUND, ("q2", "d1", 1.0, None)]}, "domain_rel is none of IN, OUT, NC"),
    ("numbers as domains", {"relations": [(q, d, s, 1) for q, d, s, _ in SOUND]}, "'domain_rel' is int64"),
    ("a positive that is sampled", {"relations": [*SOUND, ("q2", "d1", 1.0, "NC")]}, "a score of 1 has the domain NC"),
    ("a non-citation with a domain", {"relations": [*SOUND, ("q2", "d1", 0.0, "IN")]}, "or one of 0 IN or OUT"),
    ("a pair cited and sampled", {"relations": [*SOUND, ("q1", "d1", 0.0, "NC")]}, "is a positive too"),
    ("a sampled pair twice", {"relations": [*SOUND, SOUND[1]]}, "sampled non-citation stands more than once"),
    ("a positive pair twice", {"relations": [*SOUND, SOUND[0]]}, "the pair stands more than once"),
    ("a dangling positive", {"relations": [*SOUND, ("q2", "d9", 1.0, "IN")]}, "doc_id is in no row of corpus"),
    ("a dangling non-citation", {"relations": [*SOUND, ("q9", "d1", 0.0, "NC")]}, "is in no row of queries or corpus"),
    ("no positive", {"relations": [SOUND[1]]}, "qrels: the table has no row"),
    ("a query twice", {"queries": ["q1", "q2", "q2"]}, "query_id stands more than once"),
    ("a family twice", {"corpus": ["d1", "d2", "d3", "d3"]}, "doc_id stands more than once"),
    ("a null family", {"corpus": ["d1", "d2", "d3", {"relevant_id": None, "title_en": "x"}]}, "doc_id is empty [row 3]"),
    ("numbers as families", {"corpus": [{"relevant_id": n, "title_en": "x"} for n in (1, 2, 3)]}, "'relevant_id' is int64"),
    ("no claims", {"corpus": [{"relevant_id": d, "claims_text": ...} for d in ("d1", "d2", "d3")]},
     "'claims_text' is missing"),
    ("no query ids", {"queries": [{"query_id": q, "title_en": ...} for q in ("q1", "q2")]}, "'title_en' is missing"),
    ("years as dates", {"queries": [{"query_id": q, "earliest_claim_date": 2001} for q in ("q1", "q2")]},
     "'earliest_claim_date' is int64"),
    ("numbers as classes", {"corpus": [{"relevant_id": d, "classifications_ipcr_list_first_three_chars_list": 4}
                                       for d in ("d1", "d2", "d3")]}, "first_three_chars_list' is int64"),
]
DAMAGES = [
    *_files(),
    *(Damage(name, _sophia(**written), what, "tiny", MEND) for name, written, what in COLUMNS),
    *(Damage(f"a column {name} twice in {table}", _sophia(**_twice(table, name)), f"the column '{name}' stands twice",
             f"{table}/test", "Write the table anew") for table, name in TWICE),
    *(Damage(name, _sophia(**written), what, "tiny", MEND) for name, written, what in ROWS),
    Damage("ids that are no UTF-8", _as_bytes("corpus", "doc_id", [b"d1", b"d2", b"\xff"]), "'doc_id' of corpus is not UTF-8",
           "tiny", "Write the table anew"),
    Damage("ids of half a character", _as_bytes("queries", "query_id", [b"q1", b"\xed\xa0\x80"]),
           "'query_id' of queries is not UTF-8", "tiny", "Write the table anew"),
    Damage("a category that is no UTF-8", _as_bytes("qrels", "category", [b"XY", b"A", b"\xff"]),
           "'category' of qrels is not UTF-8", "tiny", "Write the table anew"),
    *(Damage(f"a README of {name}", _readme(text), what, "README.md", DO) for name, text, what in READMES),
    *(Damage(f"a README of {name}", _readme(_card(text)), *said) for name, text, *said in LAID),
    *(Damage(*each) for each in FOLDERS),
    *(Damage(f"DAPFAM: {name}", _dapfam(**written), what, "families", MEND) for name, written, what in FAMILIES),
]


def _named(identifier: str):
    """A sound collection of which one document bears an odd name, and a run that has it."""
    def make(home):
        folder = home.collection(home.path, corpus=["d1", "d2", "d3", identifier], qrels=[*PAIRS, ("q2", identifier)])
        path = home.path / "run.parquet"
        pq.write_table(pa.table({"query_id": ["q2"], "doc_id": [identifier], "score": [1.0]}), path)
        return home.score(folder, path)
    return make


ODD_IDS = {"a path": "../../x", "a tag": "<script>alert(1)</script>", "a line end": "a\nb", "a NUL": "d\0",
           "an escape": "\x1b[2J", "turned letters": "\u202ed", "Arabic": "براءة", "Han": "专利", "an emoji": "\U0001f600",
           "a formula": "=1+1", "a blank within": "US 1", "blanks around": " d1 ", "a comma": "a,b", "a quote": "a\"'b",
           "a combining sign": "e\u0301", "a hundred thousand letters": "d" * 10**5, "one sign": "0", "dots": ".."}
ACCEPTED = [
    *(Accepted(f"an id of {name}", _named(odd), '"q2": 1.0') for name, odd in ODD_IDS.items()),
    Accepted("a category that is null in all", _sophia(qrels=[(q, d, None) for q, d, *_ in PAIRS]), '"q1": 1.0'),
    Accepted("columns beyond the layout", _sophia(tweak={"corpus": lambda t: t.append_column("more", t["title"])}),
             '"q1": 1.0'),
    Accepted("a column of nulls", _sophia(tweak={"corpus": lambda t: t.set_column(
        t.column_names.index("title"), "title", pa.nulls(len(t)))}), '"q1": 1.0'),
    Accepted("DAPFAM's scores as whole numbers", _dapfam(relations=[(q, d, int(s), r) for q, d, s, r in SOUND]),
             '"q1": 1.0'),
]
