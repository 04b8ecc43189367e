"""The `rows` layout: `rows.jsonl`, a query a line with its golds, beside Sophia's corpus table.

A line is one JSON object. Needed: `qid`; `text`, what is searched with; `gold_apps`, the corpus ids
that are relevant. Optional slice fields: `statute` ("102", "103" or a list of both), `grade` ("X",
"Y" or a list of both), `query_cpc` (a list of classes), `gold_cpc` ({gold: list of classes}). A row may
say how it was made: `claim`, the number of the claim that was used; `incomplete`, why golds may lack.
These two stay in the file, for people to read: no table has them, and no figure depends on them.

Read as Sophia's tables: a row is a query, a gold is a pair without category and relations. The
queries have the columns `text`, `statute`, `grade` and `cpc` besides, the qrels `cpc`, the gold's
classes. A field that a line lacks is null. A gold that the corpus lacks is a fault of the
collection, not of the file: it opens, and the audit lists them. The ids are not taken for one
namespace with the corpus's, so that no own entry is excluded, unless the manifest of a built set
says that they are (`kit.collection.built`).
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from datasets import Dataset, Features, List, Value

from kit.collection.schema import FEATURES, SPLIT, Layout, shown
from kit.errors import CollectionError
from kit.files import regular

ROWS_FILE = "rows.jsonl"
STATUTES, GRADES = ("102", "103"), ("X", "Y")
NEEDED = ("qid", "text", "gold_apps")
OPTIONAL = ("statute", "grade", "query_cpc", "gold_cpc")
SAID = ("claim", "incomplete")  # for people only
_TEXT, _LIST = Value("string"), List(Value("string"))
COLUMNS = {
    "queries": Features({**FEATURES["queries"], "text": _TEXT, "statute": _LIST, "grade": _LIST,
                         "cpc": _LIST}),
    "corpus": FEATURES["corpus"],
    "qrels": Features({**FEATURES["qrels"], "cpc": _LIST}),
}
ROWS = Layout(name="rows", configs={"corpus": "corpus"}, split=SPLIT, shared_ids=False,
              features={"corpus": FEATURES["corpus"]}, columns=COLUMNS)
_GIVEN = {"queries": ("query_id", "text", "statute", "grade", "cpc"),
          "qrels": ("query_id", "doc_id", "category", "source_relations", "cpc")}


def read_rows(path: Path) -> dict[str, Dataset]:
    """The tables `queries` and `qrels` of a rows file.

    Raises CollectionError, with the file and the line, for what is no row of the layout.
    """
    lines, queries, pairs = {}, [], []
    for number, row in _rows(path):
        qid = row["qid"]
        if qid in lines:
            raise _fault(f"the qid {shown(qid)} stands on line {lines[qid]} already", path, number,
                         "Give every row a qid of its own")
        lines[qid] = number
        queries.append({
            "query_id": qid, "text": row["text"], "statute": _listed(row.get("statute")),
            "grade": _listed(row.get("grade")), "cpc": row.get("query_cpc")})
        classes = row.get("gold_cpc") or {}
        pairs += [{"query_id": qid, "doc_id": gold, "cpc": classes.get(gold)}
                  for gold in row["gold_apps"]]
    if not queries:
        raise CollectionError("the file has no row", path, "Give it at least one")
    return {"queries": _table("queries", queries), "qrels": _table("qrels", pairs)}


def _table(name: str, rows: list[dict]) -> Dataset:
    """The rows in the columns that this layout gives; all others are null."""
    features = Features({column: COLUMNS[name][column] for column in _GIVEN[name]})
    return Dataset(pa.Table.from_pylist(rows, features.arrow_schema))


def _listed(value: str | list[str] | None) -> list[str] | None:
    return [value] if isinstance(value, str) else value


def _rows(path: Path) -> Iterator[tuple[int, dict]]:
    """(line, row) of each line that holds something, once it is checked."""
    try:
        with open(regular(path), "rb") as file:
            for number, line in enumerate(file, 1):  # a line ends at \n, and at nothing else
                if line.strip():
                    yield number, _checked(_parsed(line, path, number), path, number)
    except OSError as error:
        raise CollectionError(f"the file can't be read: {error.strerror}", path,
                              f"Give a file {ROWS_FILE} that may be read") from error


def _fault(what: str, path: Path, line: int, do: str) -> CollectionError:
    return CollectionError(what, f"{path}, line {line}", do)


def _parsed(line: bytes, path: Path, number: int):
    """The JSON value of a line. JSON has no NaN, and a key that stands twice would hide one."""
    do = "A line is one JSON object, in UTF-8"
    if line.startswith(b"\xef\xbb\xbf"):
        raise _fault("the line begins with a byte order mark", path, number,
                     "Write the file as UTF-8 without one")
    try:
        return json.loads(line.decode("utf-8"), object_pairs_hook=_once, parse_constant=_no_number)
    except UnicodeDecodeError as error:
        raise _fault(f"the line is not UTF-8: {error.reason}", path, number, do) from error
    except (ValueError, RecursionError) as error:
        said = getattr(error, "msg", None) or str(error)
        raise _fault(f"the line is not JSON: {said}", path, number, do) from error


def _once(pairs: list[tuple[str, object]]) -> dict:
    made = dict(pairs)
    if len(made) < len(pairs):
        seen = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))
        raise ValueError(f"the key {shown(twice)} stands twice")
    return made


def _no_number(name: str):
    raise ValueError(f"{name} is no value of JSON")


def _checked(row, path: Path, line: int) -> dict:
    """The row, if its fields have the layout's names and types."""
    if not isinstance(row, dict):
        raise _fault("the line is no JSON object", path, line, "Write {\"qid\": …}")
    unknown = [name for name in row if name not in NEEDED + OPTIONAL + SAID]
    if unknown:
        more = f" and {len(unknown) - 3} more" if len(unknown) > 3 else ""
        raise _fault(f"unknown field {', '.join(map(shown, unknown[:3]))}{more}", path, line,
                     f"Known are {', '.join(NEEDED + OPTIONAL + SAID)}")
    for name in NEEDED:
        if row.get(name) is None:
            raise _fault(f"the field '{name}' is missing", path, line,
                         f"Every row has {', '.join(NEEDED)}")
    for name, (fits, wanted) in _KINDS.items():
        if row.get(name) is not None and not fits(row[name]):
            raise _fault(f"the field '{name}' is {_shown(row[name])}", path, line, f"Give {wanted}")
    golds = set(row["gold_apps"])
    other = [gold for gold in row.get("gold_cpc") or {} if gold not in golds]
    if other:
        raise _fault(f"gold_cpc names {shown(other[0])}, which is not in gold_apps", path, line,
                     "Give classes of the row's own golds")
    return row


def _shown(value) -> str:
    text = json.dumps(value)  # escaped: it may hold half a character
    return text if len(text) <= 60 else f"{text[:60]}…"


def _is_text(value) -> bool:
    return isinstance(value, str) and bool(value.strip()) and _is_whole(value)


def _is_whole(text: str) -> bool:
    """Whether UTF-8 can hold it: JSON's \\ud800 alone is half a character."""
    return not any("\ud800" <= sign <= "\udfff" for sign in text)


def _are_texts(value) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _are_ids(value) -> bool:
    return _are_texts(value) and 0 < len(value) == len(set(value))


def _some_of(known: tuple[str, ...]):
    def fits(value) -> bool:
        held = _listed(value)
        return _are_texts(held) and len(held) == len(set(held)) and set(held) <= set(known)
    return fits


def _is_count(value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _are_classes(value) -> bool:
    return isinstance(value, dict) and all(map(_are_texts, value.values()))


_KINDS = {  # field: (whether a value fits, what is asked)
    "qid": (_is_text, "a text that is not empty; a number is no identifier"),
    "text": (_is_text, "a text that is not empty"),
    "gold_apps": (_are_ids, "a list of at least one corpus id, each a text, each once"),
    "statute": (_some_of(STATUTES), f"one of {', '.join(STATUTES)}, or a list of both, as texts"),
    "grade": (_some_of(GRADES), f"one of {', '.join(GRADES)}, or a list of both, as texts"),
    "query_cpc": (_are_texts, "a list of classes, each a text"),
    "gold_cpc": (_are_classes, "an object of gold and list of classes, each a text"),
    "claim": (_is_count, "the number of a claim, from 1"),
    "incomplete": (_is_text, "a text that says why"),
}
