"""Damaged rows files: `kit score --collection FOLDER`, the folder with `rows.jsonl`."""

import json

from damage.harness import Accepted, Damage

GOOD = {"qid": "q1", "text": "A valve.", "gold_apps": ["d1"]}
NEXT = {**GOOD, "qid": "q2"}
SECOND = "rows.jsonl, line 2"
OBJECT = "A line is one JSON object, in UTF-8"
FIELDS = [  # of the second row: a field and a value that it can't have
    ("qid", 7, "'qid' is 7"), ("qid", True, "'qid' is true"), ("qid", "", "'qid' is"), ("qid", " \t", "'qid' is"),
    ("qid", ["q2"], "'qid' is ["), ("qid", "q1", "the qid 'q1' stands on line 1 already"),
    ("text", 1.5, "'text' is 1.5"), ("text", "\n", "'text' is"), ("text", {"en": "A"}, "'text' is {"),
    ("gold_apps", "d1", "'gold_apps' is"), ("gold_apps", [], "'gold_apps' is []"), ("gold_apps", [1], "'gold_apps' is [1]"),
    ("gold_apps", ["d1", None], "'gold_apps' is"), ("gold_apps", ["d1", "d1"], "'gold_apps' is"),
    ("gold_apps", ["d1", " "], "'gold_apps' is"), ("gold_apps", {"d1": 1}, "'gold_apps' is {"),
    ("gold_apps", [["d1"]], "'gold_apps' is [["),
    ("statute", 102, "'statute' is 102"), ("statute", "§102", "'statute' is"), ("statute", ["103", "103"], "'statute' is"),
    ("grade", "A", "'grade' is"), ("grade", ["X", 1], "'grade' is"), ("grade", {"X": 1}, "'grade' is"),
    ("query_cpc", "A01B", "'query_cpc' is"), ("query_cpc", [None], "'query_cpc' is"), ("query_cpc", {"A": 1}, "'query_cpc'"),
    ("gold_cpc", ["A01B"], "'gold_cpc' is"), ("gold_cpc", {"d1": "A01B"}, "'gold_cpc' is"),
    ("gold_cpc", {"d1": [1]}, "'gold_cpc' is"), ("gold_cpc", {"d2": ["A01B"]}, "gold_cpc names 'd2'"),
    ("Qid", "q2", "unknown field 'Qid'"), ("__class__", "x", "unknown field '__class__'"),
    ("<script>", 1, "unknown field '<script>'"),
]
MISSING = [("qid", "'qid' is missing"), ("text", "'text' is missing"), ("gold_apps", "'gold_apps' is missing")]
LINES = [  # the second line itself
    ("a line of a list", "[1]", "no JSON object", "Write {"), ("a line of null", "null", "no JSON object", "Write {"),
    ("a line of a text", '"q2"', "no JSON object", "Write {"), ("a line of a number", "1e999", "no JSON object", "Write {"),
    ("a line cut short", json.dumps(NEXT)[:-9], "is not JSON", OBJECT),
    ("two objects in a line", json.dumps(NEXT) * 2, "is not JSON: Extra data", OBJECT),
    ("an object over two lines", json.dumps(NEXT, indent=1), "is not JSON", OBJECT),
    ("single quotes", str(NEXT), "is not JSON", OBJECT),
    ("a comma too many", json.dumps(NEXT)[:-1] + ",}", "is not JSON", OBJECT),
    ("a comment", "// q2", "is not JSON", OBJECT), ("a list's begin", "[", "is not JSON", OBJECT),
    ("a header of CSV", "qid,text,gold_apps", "is not JSON", OBJECT),
    ("a line of NUL", "\0", "is not JSON", OBJECT),
    ("a line feed within a text", '{"qid": "q2", "text": "A\tB", "gold_apps": ["d1"]}', "is not JSON", OBJECT),
    ("a key twice", '{"qid": "q2", "text": "B", "gold_apps": ["d1"], "qid": "q3"}', "the key 'qid' stands twice", OBJECT),
    ("NaN", '{"qid": "q2", "text": "B", "gold_apps": ["d1"], "grade": NaN}', "NaN is no value of JSON", OBJECT),
    ("infinity", '{"qid": "q2", "text": -Infinity, "gold_apps": ["d1"]}', "-Infinity is no value", OBJECT),
    ("half a character", '{"qid": "\\ud800", "text": "B", "gold_apps": ["d1"]}', "the field 'qid' is", "Give"),
    ("half a character in a gold", '{"qid": "q2", "text": "B", "gold_apps": ["\\udfff"]}', "'gold_apps' is", "Give"),
    ("half a character in a class", '{"qid": "q2", "text": "B", "gold_apps": ["d1"], "query_cpc": ["\\ud83d"]}',
     "'query_cpc' is", "Give"),
    ("a nest of lists", "[" * 200_000, "is not JSON", OBJECT),
    ("a nest of objects", '{"a":' * 200_000, "is not JSON", OBJECT),
    ("a number of a million digits", '{"qid": ' + "9" * 10**6 + "}", "is not JSON", OBJECT),
    ("a qid of a megabyte, twice", '{"%s": 1, "%s": 2}' % (("z" * 10**6,) * 2), "stands twice", OBJECT),
    ("a hundred thousand keys, the last twice", "{%s, \"k0\": 0}" % ", ".join(f'"k{n}": 0' for n in range(10**5)),
     "the key 'k0' stands twice", OBJECT),
    ("a hundred thousand unknown fields", json.dumps({f"k{n}": 0 for n in range(10**5)}), "unknown field 'k0'", "Known are"),
    ("golds and classes by the ten thousand",
     json.dumps({**NEXT, "gold_apps": [f"d{n}" for n in range(20_000)],
                 "gold_cpc": {f"x{n}": ["A"] for n in range(20_000)}}), "gold_cpc names 'x0'", "Give classes"),
]
RAW = [  # the second line, as bytes
    ("latin-1", json.dumps({**NEXT, "text": "ü"}, ensure_ascii=False).encode("latin-1"), "is not UTF-8", OBJECT),
    ("UTF-16", json.dumps(NEXT).encode("utf-16"), "is not UTF-8", OBJECT),
    ("half a character of UTF-8", b'{"qid": "\xed\xa0\x80"}', "is not UTF-8", OBJECT),
    ("a byte order mark within", b"\xef\xbb\xbf" + json.dumps(NEXT).encode(), "a byte order mark", "without one"),
]


def _second(line):
    return lambda home: home.score(home.rows(home.path, [GOOD, line]))


def _file(raw: bytes):
    def make(home):
        folder = home.rows(home.path, [GOOD])
        (folder / "rows.jsonl").write_bytes(raw)
        return home.score(folder)
    return make


def _layout(change):
    def make(home):
        folder = home.rows(home.path, [GOOD])
        change(folder)
        return home.score(folder)
    return make


def _replaced(lay):
    def change(folder):
        (folder / "rows.jsonl").unlink()
        lay(folder / "rows.jsonl")
    return _layout(change)


def _gone(folder):
    next((folder / "corpus").glob("*")).unlink()


def _without(field: str) -> str:
    return json.dumps({name: value for name, value in NEXT.items() if name != field})


DAMAGES = [
    *(Damage(f"{field} {json.dumps(value)[:30]}", _second({**NEXT, field: value}), said, SECOND,
             "Known are" if field not in (*GOOD, "statute", "grade", "query_cpc", "gold_cpc") else "Give")
      for field, value, said in FIELDS),
    *(Damage(f"no {field}", _second(_without(field)), said, SECOND, "Every row has") for field, said in MISSING),
    *(Damage(f"null {field}", _second(json.dumps({**NEXT, field: None})), said, SECOND, "Every row has")
      for field, said in MISSING),
    *(Damage(name, _second(line), what, SECOND, do) for name, line, what, do in LINES),
    *(Damage(name, _second(line), what, SECOND, do) for name, line, what, do in RAW),
    Damage("an empty rows file", _file(b""), "the file has no row", "rows.jsonl", "Give it at least one"),
    Damage("a rows file of blanks", _file(b"\n \r\n\n"), "the file has no row", "rows.jsonl", "Give it"),
    Damage("a rows file in one list", _file(json.dumps([GOOD]).encode()), "no JSON object", "rows.jsonl, line 1",
           "Write {"),
    Damage("a rows file that is gzip", _file(b"\x1f\x8b\x08" + bytes(20)), "is not UTF-8", "rows.jsonl, line 1", OBJECT),
    Damage("a rows file that is Parquet", _file(b"PAR1" + bytes(20) + b"PAR1"), "is not JSON", "rows.jsonl, line 1",
           OBJECT),
    Damage("a rows file that begins with a mark", _file(b"\xef\xbb\xbf" + json.dumps(GOOD).encode()),
           "a byte order mark", "rows.jsonl, line 1", "without one"),
    Damage("a rows file that is a folder", _replaced(lambda p: p.mkdir()), "can't be read: Is a directory",
           "rows.jsonl", "Give"),
    Damage("a rows file that links to itself", _replaced(lambda p: p.symlink_to(p)), "can't be read: Too many levels",
           "rows.jsonl", "Give"),
    Damage("rows beside queries", _layout(lambda f: (f / "queries").mkdir()), "rows.jsonl and queries, two sets",
           "rows", "Keep one"),
    Damage("rows beside relations", _layout(lambda f: (f / "relations").mkdir()), "rows.jsonl and relations", "rows",
           "Keep one"),
    Damage("rows without a corpus", _layout(_gone), "there is no corpus/*.parquet", "rows", "Put the corpus there"),
    Damage("a gold that the corpus lacks", lambda home: home.score(home.rows(
        home.path, [GOOD, {**NEXT, "gold_apps": ["d9"]}])), "doc_id is in no row of corpus [query_id 'q2', doc_id 'd9'",
        "rows", "mend the tables"),
    Damage("a gold of a megabyte", lambda home: home.score(home.rows(
        home.path, [GOOD, {**NEXT, "gold_apps": ["d" * 10**6]}])), "doc_id is in no row of corpus", "rows", "mend"),
]
ODD_IDS = {"a path": "../../x", "blanks within": "q 1", "a tag": "<script>alert(1)</script>", "a line end": "q\n1",
           "a NUL": "q\0", "an escape": "\x1b[2J", "turned letters": "\u202eq", "Arabic": "براءة", "an emoji": "\U0001f600",
           "a formula": "=1+1", "a thousand letters": "q" * 1000, "blanks around": " q1 "}
ACCEPTED = [
    *(Accepted(f"an id of {name}", lambda home, qid=qid: home.score(
        home.rows(home.path, [{**GOOD, "qid": qid}, NEXT]), home.run("q2 Q0 d1 1 1 x\n")),
        '"queries": 2, "missing": 1') for name, qid in ODD_IDS.items()),
    Accepted("line ends of Windows", _file((json.dumps(GOOD) + "\r\n").encode()), '"RR": {"mean": 1.0'),
    Accepted("blank lines", _file(b"\n\n" + json.dumps(GOOD).encode()), '"RR": {"mean": 1.0'),
    Accepted("signs that only Python takes for line ends", _second({**NEXT, "text": "one\u2028two\x85three\x0b"}),
             '"queries": 2'),
    Accepted("a gold that is the row's own id: two id spaces", lambda home: home.score(
        home.rows(home.path, [{**GOOD, "qid": "d1"}]), home.run("d1 Q0 d1 1 1 x\n")), '"RR": {"mean": 1.0'),
]
