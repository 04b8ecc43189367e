"""What `open_collection` opens, what it refuses, and that no type is cast in silence."""

import re
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kit.collection import miniature
from kit.collection.schema import FEATURES, TABLES, require_sound
from kit.collection.sources import anywhere, open_collection
from kit.errors import CollectionError


def opened(folder, **how):
    return open_collection(str(folder), **how)


def with_column(name, values):
    """A tweak that puts these values in place of a column, or behind the others."""
    def tweak(table):
        column = values if isinstance(values, pa.Array) else pa.array(values)
        if name in table.column_names:
            return table.set_column(table.column_names.index(name), name, column)
        return table.append_column(name, column)
    return tweak


def as_type(name, kind):
    """A tweak that casts a column."""
    return lambda table: table.set_column(
        table.column_names.index(name), name, table[name].combine_chunks().cast(kind))


# --- what can be named ------------------------------------------------------------------------

def test_by_name_and_by_its_folder_the_same_tables(mini):
    folder = open_collection(str(miniature.folder()))
    assert folder.fingerprints == mini.fingerprints
    assert (mini.entry.name, mini.environment) == ("mini", "mini")
    assert folder.entry is None and folder.environment.startswith("mini-")


def test_a_folder_without_readme(make_collection, tmp_path):
    bare, full = (make_collection(tmp_path, name=str(r), readme=r) for r in (False, True))
    assert opened(bare).fingerprints == opened(full).fingerprints
    assert opened(bare).faults == []


def test_the_readme_says_where_the_files_are(make_collection, tmp_path):
    folder = make_collection(tmp_path)
    (folder / "corpus").rename(folder / "documents")
    readme = folder / "README.md"
    readme.write_text(readme.read_text().replace("corpus/*", "documents/*"))
    assert list(opened(folder).ids("corpus")) == ["d1", "d2", "d3"]


def test_a_path_from_the_home_folder(make_collection, tmp_path, monkeypatch):
    make_collection(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert len(opened("~/tiny").pairs) == 3


def test_a_folder_relative_to_the_working_folder(make_collection, tmp_path, monkeypatch):
    make_collection(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert opened("tiny").environment == "tiny"


def test_a_source_for_a_process_in_another_folder(make_collection, tmp_path, monkeypatch):
    folder = make_collection(tmp_path)
    (tmp_path / "mini").mkdir()
    monkeypatch.chdir(tmp_path)
    assert anywhere("tiny") == str(folder.resolve())
    assert (anywhere("mini"), anywhere("owner/name")) == ("mini", "owner/name")


@pytest.mark.parametrize("name, readme", [
    ("two words", True), ("a*b?", True), ("sammlung-ä", True), ("a#b%20c", True),
    ("two words", False), ("run[1]", False), ("a*b?", False), ("{x}", False),
])
def test_a_folder_of_any_name(make_collection, tmp_path, name, readme):
    folder = make_collection(tmp_path, name=name, readme=readme)
    assert list(opened(folder).ids("corpus")) == ["d1", "d2", "d3"]


def test_other_splits_are_passed_over(make_collection, tmp_path):
    folder = make_collection(tmp_path)
    (folder / "corpus" / "train.parquet").write_bytes(b"no Parquet")
    readme = folder / "README.md"
    readme.write_text(readme.read_text().replace(
        "path: corpus/*.parquet",
        "path: corpus/test-*.parquet\n  - split: train\n    path: corpus/train.parquet"))
    assert list(opened(folder).ids("corpus")) == ["d1", "d2", "d3"]


@pytest.mark.parametrize("source, said", [
    ("", "no collection is named"),
    (None, "no collection is named"),
    ("no-such-collection", "no such collection or folder"),
    ("/no/such/folder", "no such collection or folder"),
    ("dapfam", "the hub can't be reached"),
])
def test_what_is_no_collection(source, said):
    with pytest.raises(CollectionError, match=said):
        open_collection(source)


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "corpus.parquet").write_bytes(b"")
    with pytest.raises(CollectionError, match="this is a file.*corpus.parquet"):
        opened(tmp_path / "corpus.parquet")


def test_an_empty_folder(tmp_path):
    with pytest.raises(CollectionError, match="no README.md with configs and no queries/"):
        opened(tmp_path)


@pytest.mark.parametrize("readme", [True, False])
def test_a_table_is_lacking(make_collection, tmp_path, readme):
    folder = make_collection(tmp_path, readme=readme)
    shutil.rmtree(folder / "qrels")
    with pytest.raises(CollectionError, match="qrels"):
        opened(folder)


def test_a_readme_that_does_not_name_a_table(make_collection, tmp_path):
    folder = make_collection(tmp_path)
    readme = folder / "README.md"
    readme.write_text(readme.read_text().replace("config_name: qrels", "config_name: judgements"))
    with pytest.raises(CollectionError, match="configs name the table 'qrels' nowhere .*README.md"):
        opened(folder)


def test_a_readme_without_the_split(make_collection, tmp_path):
    folder = make_collection(tmp_path)
    readme = folder / "README.md"
    readme.write_text(readme.read_text().replace("split: test", "split: train"))
    with pytest.raises(CollectionError, match="no split 'test'.*It has train"):
        opened(folder)


# --- how it is read ---------------------------------------------------------------------------

def test_streaming_gives_the_same_rows(make_collection, tmp_path):
    folder = make_collection(tmp_path)
    mapped, streamed = opened(folder), opened(folder, streaming=True)
    assert streamed.fingerprints == mapped.fingerprints
    assert list(streamed.ids("corpus")) == list(mapped.ids("corpus")) == ["d1", "d2", "d3"]
    assert streamed.row("corpus", "d3") == mapped.row("corpus", "d3")
    assert streamed.faults == []


def test_tables_are_memory_mapped(mini):
    assert all(mini.tables[table].cache_files for table in TABLES)


def test_a_file_that_has_changed_is_read_anew(make_collection, tmp_path):
    folder = make_collection(tmp_path)
    before = opened(folder).fingerprints["corpus"]
    shutil.rmtree(folder)
    make_collection(tmp_path, corpus=["d1", "d2", {"doc_id": "d3", "title": "Another"}])
    assert opened(folder).row("corpus", "d3")["title"] == "Another"
    assert opened(folder).fingerprints["corpus"] != before


def test_ids_keep_their_zeros(make_collection, tmp_path):
    folder = make_collection(tmp_path, ["001"], ["0001", "1"], [("001", "0001"), ("001", "1")])
    assert list(opened(folder).ids("corpus")) == ["0001", "1"]
    assert opened(folder).faults == []


def test_an_unknown_row_is_named(mini):
    with pytest.raises(CollectionError, match="corpus has no 'mini-x'"):
        mini.row("corpus", "mini-x")


@pytest.mark.parametrize("streaming", [False, True])
def test_an_empty_table_opens_and_is_a_fault(make_collection, tmp_path, streaming):
    collection = opened(make_collection(tmp_path, qrels=[]), streaming=streaming)
    assert [str(f) for f in collection.faults] == ["qrels: the table has no row"]
    with pytest.raises(CollectionError, match="the table has no row"):
        require_sound(collection)


def bad_bytes(column: str):
    """A tweak that puts Latin-1 bytes into the last row of a column of texts."""
    def tweak(table: pa.Table) -> pa.Table:
        raw = [v.encode() for v in table[column].to_pylist()][:-1] + [b"Ventil f\xfcr Gas"]
        place = table.schema.get_field_index(column)
        return table.set_column(place, column, pa.array(raw, pa.binary()).view(pa.string()))
    return tweak


def test_bytes_that_are_no_utf8_are_an_error_and_escapes_to_a_lenient_reader(make_collection, tmp_path):
    collection = opened(make_collection(tmp_path, tweak={"corpus": bad_bytes("title")}))
    with pytest.raises(CollectionError, match="the column 'title' of corpus is not UTF-8"):
        collection.frame("corpus", ["title"])
    read = collection.read_leniently().frame("corpus", ["title"])["title"]
    assert list(read) == ["Valve d1", "Valve d2", "Ventil f\\xfcr Gas"]
    assert collection.undecodable().to_dict("records") == [{"table": "corpus", "row": 2, "column": "title"}]


def test_bytes_in_a_list_are_found_too(make_collection, tmp_path):
    def tweak(table):
        values = pa.array([b"F16K", b"\xff"], pa.binary()).view(pa.string())
        column = pa.ListArray.from_arrays(pa.array([0, 1, 2, 2], pa.int32()), values)
        return table.set_column(table.schema.get_field_index("ipc"), "ipc", column)

    collection = opened(make_collection(tmp_path, tweak={"corpus": tweak}))
    assert collection.undecodable().to_dict("records") == [{"table": "corpus", "row": 1, "column": "ipc"}]
    read = collection.read_leniently().frame("corpus", ["ipc"])["ipc"]
    assert list(read) == [["F16K"], ["\\xff"], []]


def test_an_empty_first_shard(make_collection, tmp_path):
    folder = make_collection(tmp_path, tweak={"corpus": lambda t: [t.slice(0, 0), t]})
    for streaming in (False, True):
        assert list(opened(folder, streaming=streaming).ids("corpus")) == ["d1", "d2", "d3"]


def test_folders_of_one_name_are_not_mixed_up(make_collection, tmp_path):
    one = opened(make_collection(tmp_path / "a"))
    two = opened(make_collection(tmp_path / "b", corpus=["d1", "d2", "d3", "d4"]))
    assert (len(one.ids("corpus")), len(two.ids("corpus"))) == (3, 4)


# --- columns and their types --------------------------------------------------------------------

def test_numbers_for_identifiers_are_a_fault_and_stay_numbers(make_collection, tmp_path):
    folder = make_collection(tmp_path, tweak={"corpus": with_column("doc_id", [1, 2, 3])})
    collection = opened(folder)
    assert list(map(str, collection.faults)) == [
        "corpus: the column 'doc_id' is int64, where string is asked"]
    assert collection.ids("corpus").tolist() == [1, 2, 3]


def test_a_missing_column_is_a_fault_and_reads_as_null(make_collection, tmp_path):
    folder = make_collection(tmp_path, tweak={"corpus": lambda t: t.drop_columns("abstract")})
    collection = opened(folder)
    assert list(map(str, collection.faults)) == ["corpus: the column 'abstract' is missing"]
    assert collection.frame("corpus", ["abstract"])["abstract"].tolist() == [None] * 3


@pytest.mark.parametrize("column, values, found", [
    ("ipc", ["A", "B", "C"], "string"),
    ("ipc", [[1], [2], [3]], "list<.*int64>"),
    ("title", [["A"], ["B"], ["C"]], "list<.*string>"),
    ("adb", [{"a": "x"}] * 3, "struct"),
])
def test_a_wrong_type_is_a_fault(make_collection, tmp_path, column, values, found):
    folder = make_collection(tmp_path, tweak={"corpus": with_column(column, values)})
    faults = opened(folder).faults
    assert [(f.rule, f.table) for f in faults] == [("columns", "corpus")]
    assert re.search(f"'{column}' is {found}", str(faults[0]))


def test_relations_without_a_direction_are_a_fault(make_collection, tmp_path):
    short = with_column("source_relations", [[{"category": "A"}]] * 3)
    fault, = opened(make_collection(tmp_path, tweak={"qrels": short})).faults
    assert "struct of category and direction" in str(fault)


@pytest.mark.parametrize("column", ["title", "ipc"])
def test_a_column_that_is_null_in_the_whole_file(make_collection, tmp_path, column):
    tweak = {"corpus": with_column(column, pa.nulls(3))}
    collection = opened(make_collection(tmp_path, tweak=tweak))
    assert collection.faults == []
    assert collection.frame("corpus", [column])[column].tolist() == [None] * 3


def test_columns_beyond_the_layout_are_dropped(make_collection, tmp_path):
    plain = make_collection(tmp_path, name="plain")
    more = make_collection(tmp_path, tweak={"corpus": with_column("score", [1.0, 2.0, 3.0])})
    assert opened(more).faults == []
    assert opened(more).tables["corpus"].column_names == list(FEATURES["corpus"])
    assert opened(more).fingerprints == opened(plain).fingerprints


@pytest.mark.parametrize("column, kind", [
    ("title", pa.large_string()),
    ("title", pa.dictionary(pa.int32(), pa.string())),
    ("title", pa.dictionary(pa.int32(), pa.large_string())),
    ("title", pa.string_view()),
    ("ipc", pa.large_list(pa.large_string())),
    ("ipc", pa.list_(pa.large_string())),
    ("ipc", pa.list_(pa.dictionary(pa.int32(), pa.string()))),
], ids=str)
def test_other_encodings_of_the_same_values(make_collection, tmp_path, column, kind):
    plain = make_collection(tmp_path, name="plain")
    other = make_collection(tmp_path, tweak={"corpus": as_type(column, kind)})
    assert opened(other).faults == []
    assert opened(other).fingerprints == opened(plain).fingerprints
    assert opened(other, streaming=True).fingerprints == opened(plain).fingerprints


def test_the_first_shard_does_not_set_the_type(make_collection, tmp_path):
    def shards(table):
        first = with_column("adb", pa.nulls(1))(table.slice(0, 1))
        return [with_column("title", pa.nulls(1))(first), table.slice(1)]
    folder = make_collection(tmp_path, tweak={"corpus": shards})
    for streaming in (False, True):
        collection = opened(folder, streaming=streaming)
        assert collection.faults == []
        assert collection.frame("corpus", ["title", "adb"]).values.tolist() == [
            [None, None], ["Valve d2", ["It is tight."]], ["Valve d3", ["It is tight."]]]


@pytest.mark.parametrize("numbers_first", [True, False])
def test_numbers_in_one_shard_are_a_fault(make_collection, tmp_path, numbers_first):
    def shards(table):
        two = [with_column("doc_id", [7])(table.slice(0, 1)), table.slice(1)]
        return two if numbers_first else two[::-1]
    collection = opened(make_collection(tmp_path, tweak={"corpus": shards}))
    assert "corpus: the column 'doc_id' is int64, where string is asked" in map(
        str, collection.faults)


@pytest.mark.parametrize("lacking", [0, 1])
def test_a_column_that_one_shard_lacks_is_a_fault(make_collection, tmp_path, lacking):
    def shards(table):
        two = [table.slice(0, 1), table.slice(1)]
        two[lacking] = two[lacking].drop_columns("claims")
        return two
    collection = opened(make_collection(tmp_path, tweak={"corpus": shards}))
    assert list(map(str, collection.faults)) == ["corpus: the column 'claims' is missing"]
    assert list(collection.ids("corpus")) == ["d1", "d2", "d3"]


# --- files that can't be read -------------------------------------------------------------------

def test_a_table_that_is_no_parquet(make_collection, tmp_path):
    folder = make_collection(tmp_path)
    shutil.rmtree(folder / "qrels")
    (folder / "qrels").mkdir()
    (folder / "qrels" / "test.csv").write_text("query_id,doc_id,category\nq1,d1,A\n")
    readme = folder / "README.md"
    readme.write_text(readme.read_text().replace("qrels/*.parquet", "qrels/*.csv"))
    with pytest.raises(CollectionError, match="Parquet"):
        opened(folder)


@pytest.mark.parametrize("readme", [True, False])
@pytest.mark.parametrize("damage", [
    lambda data: data[:len(data) // 2], lambda data: data[:-2], lambda data: b"",
    lambda data: b"query_id,doc_id\nq1,d1\n"], ids=["half", "two bytes less", "empty", "text"])
def test_a_damaged_parquet_is_named(make_collection, tmp_path, damage, readme):
    folder = make_collection(tmp_path, readme=readme)
    file, = (folder / "corpus").iterdir()
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(CollectionError, match="table corpus can't be read.*fetch the data set anew"):
        opened(folder)


def test_a_parquet_damaged_inside(make_collection, tmp_path):
    folder = make_collection(tmp_path)
    file, = (folder / "corpus").iterdir()
    data = bytearray(file.read_bytes())
    data[4:400] = b"\xff" * 396  # its end, with the schema, stays whole
    file.write_bytes(data)
    with pytest.raises(CollectionError, match="table corpus can't be read"):
        opened(folder)


def test_a_table_with_none_of_the_columns(make_collection, tmp_path):
    tweak = {"corpus": lambda t: pa.table({"text": ["a"]})}
    with pytest.raises(CollectionError, match="corpus has none of the layout's columns"):
        opened(make_collection(tmp_path, tweak=tweak))


def test_an_error_is_one_line(make_collection, tmp_path):
    folder = make_collection(tmp_path)
    file, = (folder / "corpus").iterdir()
    file.write_bytes(b"no\nParquet")
    with pytest.raises(CollectionError) as error:
        opened(folder)
    assert "\n" not in str(error.value)


def test_several_files_of_a_table(make_collection, tmp_path):
    folder = make_collection(tmp_path, tweak={"corpus": lambda t: [t.slice(0, 2), t.slice(2)]})
    assert len(list((folder / "corpus").iterdir())) == 2
    assert pq.read_table(folder / "corpus").num_rows == len(opened(folder).ids("corpus")) == 3


@pytest.mark.parametrize("source", ["~nobody-of-this-name/x", "~nobody-of-this-name"])
def test_an_unknown_users_home_is_a_folder_that_is_not_there(source):
    with pytest.raises(CollectionError, match="no such collection"):
        open_collection(source)
