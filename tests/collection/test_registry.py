"""The registry: what a user's file may say, and that none of it takes the kit's own names."""

import pytest
import yaml

from kit.collection.registry import (
    folder_entry,
    generation_with,
    registered_corpora,
    registry,
    user_registry,
)
from kit.collection.sources import open_collection
from kit.errors import CollectionError

PRINTS = {table: "f" * 64 for table in ("queries", "corpus", "qrels", "together")}
OTHER = {table: "e" * 64 for table in PRINTS}
FOO = {"environment": "foo", "layout": "sophia", "licence": "x", "attribution": "y",
       "generations": {"g1": PRINTS}}


@pytest.fixture
def says(monkeypatch, tmp_path):
    """A function that writes the user's registry: its text, or its entries."""
    monkeypatch.setenv("KIT_REGISTRY", str(tmp_path / "mine.yaml"))
    return lambda said: user_registry().write_text(
        said if isinstance(said, str) else yaml.safe_dump(said), encoding="utf-8")


def test_a_sound_entry_is_known_by_its_folder_and_its_data(says):
    says({"foo": FOO})
    assert folder_entry("foo").generations == {"g1": PRINTS} and "foo" not in registry()
    assert generation_with(PRINTS)[1] == "g1"
    assert registered_corpora("foo") == {"f" * 64: "g1"}


# --- names that are taken -------------------------------------------------------------------------

@pytest.mark.parametrize("environment", ["sophia-75k", "dapfam-45k", "mini", "sophia"])
@pytest.mark.parametrize("more", [{}, {"hub": "owner/name"}])
def test_an_entry_with_the_name_of_the_kits_own_data_is_refused(says, environment, more):
    says({"foo": {**FOO, **more, "environment": environment}})
    with pytest.raises(CollectionError, match=f"rule 2.*'foo'.*'{environment}'.*mine.yaml"):
        open_collection("foo")


def test_an_entry_of_a_folder_bears_its_environments_name(says):
    says({"sophia-75k": FOO})
    with pytest.raises(CollectionError, match="'sophia-75k' has no hub id and another environment"):
        registry()


@pytest.mark.parametrize("hub", ["/any/folder", "folder", "./folder", "~/folder", "a/b/c", "../b",
                                 ""])
def test_a_path_is_no_hub_id(says, hub):
    says({"foo": {**FOO, "hub": hub}})
    with pytest.raises(CollectionError, match="foo: hub"):
        open_collection("foo")


def test_a_folder_of_a_hub_ids_name_does_not_open_by_the_entrys(says, tmp_path, monkeypatch):
    says({"foo": {**FOO, "hub": "any/folder"}})
    assert "foo" in registry()
    (tmp_path / "any/folder").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert folder_entry("foo") is None
    with pytest.raises(CollectionError, match="there is no such collection or folder"):
        open_collection("foo")


@pytest.mark.parametrize("said", [
    {"mini": {"generations": {"g1": PRINTS}}},
    {"sophia": {"generations": {"g0": OTHER, "g1": PRINTS}}},
    {"foo": {**FOO, "generations": {"g0": OTHER, "g1": PRINTS}}},
    {"foo": FOO, "bar": {**FOO, "hub": "a/b", "generations": {"g1": OTHER}}}],
    ids=["the kit's corpora", "the kit's name", "one's own", "two entries"])
def test_another_corpus_in_an_environment_is_refused(says, said):
    says(said)
    with pytest.raises(CollectionError, match="rule 2.*name of one corpus, and 'g1' has another"):
        registry()


def test_other_labels_on_the_corpus_of_an_environment_are_a_generation(says, mini):
    says({"mini": {"generations": {"g1": {**PRINTS, "corpus": mini.fingerprints["corpus"]}}}})
    assert "g1" in registry()["mini"].generations


# --- files that are damaged -----------------------------------------------------------------------

@pytest.mark.parametrize("generations", [
    5, [1], None, "x", {"g": "x"}, {"g": {}}, {"g": None}, {1: PRINTS}, {"a b": PRINTS},
    {"": PRINTS}, {"g": {**PRINTS, "corpus": "f"}}, {"g": {**PRINTS, "corpus": None}},
    {"g": {**PRINTS, "more": "f" * 64}}],
    ids=str)
@pytest.mark.parametrize("name", ["sophia", "foo"])
def test_generations_that_are_none_are_named(says, name, generations):
    says({name: {**(FOO if name == "foo" else {}), "generations": generations}})
    with pytest.raises(CollectionError, match=rf"{name}: generations.*mine\.yaml"):
        open_collection("mini")


@pytest.mark.parametrize("field", [
    {"licence": 5}, {"note": 5}, {"note": None}, {"attribution": ["x"]}, {"environment": None},
    {"environment": "../x"}, {"layout": {}}, {"hub": 5}, {"counts": {"queries": "many"}},
    {"counts": {"queries": True}}, {"counts": {"queries": -1}}, {"counts": [1]}, {"counts": {5: 5}},
    {"oddities": {"x": 1.5}}, {"calibration": 5}, {"calibration": [{"system": "bm25"}]},
    {"unknown": 1}],
    ids=str)
def test_a_part_of_another_type_is_named(says, field):
    says({"foo": {**FOO, **field}})
    with pytest.raises(CollectionError, match=rf"foo: {list(field)[0]}.*mine\.yaml") as error:
        open_collection("mini")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("lacks", ["environment", "layout", "licence", "attribution"])
def test_an_entry_that_lacks_a_part_is_named(says, lacks):
    says({"foo": {part: value for part, value in FOO.items() if part != lacks}})
    with pytest.raises(CollectionError, match=f"foo: {lacks}: Field required"):
        registry()


@pytest.mark.parametrize(("text", "match"), [
    ("[" * 5000, "nested too deeply"), ("foo: {a: 1, a: 2}", "the key 'a' stands twice"),
    ("foo: {}\nfoo: {}", "the key 'foo' stands twice"), ("foo: &x {}\nbar: *x", "alias"),
    ("foo: &x {generations: *x}", "alias"), ("foo: &x {}\nbar: {<<: *x}", "alias"),
    ("foo: {? [a] : 1}", "unhashable"), ("5: {}", "5: it is no entry"),
    ("foo:", "foo: it is no entry"),
    ("foo: !!timestamp x", ""), ("foo: !!bool x", ""), ("foo: !!int ''", ""), ("", "no list"),
    ("foo: !!python/object:os.system {}", "")])
def test_a_file_that_is_no_registry_is_an_error_of_one_line(says, text, match):
    says(text)
    with pytest.raises(CollectionError, match=rf"{match}.*mine\.yaml.*Mend the file") as error:
        registry()
    assert "\n" not in str(error.value)
