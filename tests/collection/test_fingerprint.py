"""What changes a fingerprint, and what must not."""

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.collection.fingerprint import fingerprint, table_fingerprint
from kit.collection.schema import FEATURES, TABLES
from kit.collection.sources import open_collection


class Rows:
    """Tables in memory that answer like a collection, a given number of rows at a time."""

    def __init__(self, tables: dict, size: int = 2):
        self.tables, self.size = tables, size

    def batches(self, table, columns):
        rows = self.tables[table]
        for start in range(0, len(rows), self.size):
            yield {c: [r.get(c) for r in rows[start:start + self.size]] for c in columns}


def of_pairs(rows, size=2):
    return table_fingerprint(Rows({"qrels": rows}, size), "qrels")


texts = st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
relations = st.none() | st.lists(
    st.fixed_dictionaries({"category": texts, "direction": texts}), max_size=2)
pairs = st.lists(st.fixed_dictionaries(
    {"query_id": texts, "doc_id": texts, "category": texts, "source_relations": relations}),
    max_size=6)


@given(pairs, st.randoms(use_true_random=False), st.integers(1, 7))
def test_the_order_and_grouping_of_rows_do_not_matter(rows, random, size):
    shuffled = random.sample(rows, len(rows))
    assert of_pairs(shuffled, size) == of_pairs(rows)


@given(pairs, pairs)
def test_equal_only_for_equal_rows(one, two):
    def counted(rows):
        return sorted(json.dumps(r, sort_keys=True) for r in rows)
    assert (of_pairs(one) == of_pairs(two)) == (counted(one) == counted(two))


def test_the_stated_recipe():
    """The digest computed by hand, from the words in the module's docstring."""
    rows = [{"query_id": "q", "doc_id": "ü", "category": None,
             "source_relations": [{"direction": "cited", "category": "A"}]},
            {"query_id": "q", "doc_id": "d", "category": "", "source_relations": []}]
    lines = ['["q","ü",null,[{"category":"A","direction":"cited"}]]', '["q","d","",[]]']
    digests = sorted(hashlib.sha256(line.encode("utf-8")).digest() for line in lines)
    assert of_pairs(rows) == hashlib.sha256(b"".join(digests)).hexdigest()


@pytest.mark.parametrize("how", [
    {"compression": "zstd"}, {"compression": "none"}, {"row_group_size": 1},
    {"use_dictionary": False}, {"tweak": {t: lambda x: x.take(list(range(x.num_rows))[::-1])
                                          for t in TABLES}},
    {"tweak": {t: lambda x: [x.slice(0, 1), x.slice(1)] for t in TABLES}},
    {"tweak": {t: lambda x: x.select(x.column_names[::-1]) for t in TABLES}},
], ids=["zstd", "none", "row groups", "no dictionary", "rows turned", "two files", "columns turned"])
def test_how_the_files_are_written_does_not_matter(make_collection, tmp_path, how):
    plain = open_collection(str(make_collection(tmp_path, name="plain")))
    other = open_collection(str(make_collection(tmp_path, **how)))
    assert other.fingerprints == plain.fingerprints


def _value(feature):
    if isinstance(feature, dict):
        return {name: "x" for name in feature}
    return [_value(feature.feature)] * 2 if hasattr(feature, "feature") else "x"


def _changed(value):
    """The value with one character more in its last text."""
    if isinstance(value, list):
        return [*value[:-1], _changed(value[-1])]
    if isinstance(value, dict):
        last = list(value)[-1]
        return {**value, last: _changed(value[last])}
    return value + "y"


@pytest.mark.parametrize("table, column", [(t, c) for t in TABLES for c in FEATURES[t]])
def test_one_character_in_any_column(table, column):
    row = {c: _value(f) for c, f in FEATURES[table].items()}
    one = table_fingerprint(Rows({table: [row]}), table)
    two = table_fingerprint(Rows({table: [{**row, column: _changed(row[column])}]}), table)
    assert one != two


@pytest.mark.parametrize("column, one, two", [
    ("title", None, ""), ("title", "A", "a"), ("title", "A", "A "), ("title", "\u00e9", "e\u0301"),
    ("ipc", None, []), ("ipc", [], [""]), ("ipc", [None], [""]), ("ipc", ["A", "B"], ["B", "A"]),
    ("ipc", ["A", "B"], ["A,B"]), ("ipc", ["A"], ["A", None]),
])
def test_values_that_are_told_apart_in_a_file(make_collection, tmp_path, column, one, two):
    prints = [open_collection(str(make_collection(
        tmp_path, corpus=["d1", "d2", {"doc_id": "d3", column: value}], name=name))).fingerprints
        for name, value in (("one", one), ("two", two))]
    assert prints[0]["corpus"] != prints[1]["corpus"]
    assert prints[0]["together"] != prints[1]["together"]
    assert prints[0]["queries"] == prints[1]["queries"]


def test_a_row_twice_is_another_table():
    row = {"query_id": "q", "doc_id": "d"}
    assert len({of_pairs([row] * n) for n in range(4)}) == 4


def test_a_text_moved_to_the_next_column_shows():
    assert of_pairs([{"query_id": "ab", "doc_id": ""}]) != of_pairs([{"query_id": "a", "doc_id": "b"}])


def test_columns_beyond_the_layout_do_not_matter():
    assert of_pairs([{"query_id": "q"}]) == of_pairs([{"query_id": "q", "note": "x"}])


def test_together_depends_on_every_table():
    base = {t: [{c: _value(f) for c, f in FEATURES[t].items()}] for t in TABLES}
    seen = {fingerprint(Rows({**base, t: []}))["together"] for t in TABLES}
    assert len(seen | {fingerprint(Rows(base))["together"]}) == 4
