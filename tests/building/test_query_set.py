"""Query sets: written whole with a manifest whose counts add up; frozen once, registered, unchanged."""

import json
import shutil
from collections import Counter

import pytest

from kit.building import query_set, semantic_search
from kit.building.query_set import Count, Loss, QuerySet, freeze, write_query_set
from kit.cli import main
from kit.collection.built import FROZEN, MANIFEST
from kit.collection.registry import folder_entry, user_registry
from kit.collection.sources import open_collection
from kit.errors import BuildError, CollectionError, KitError
from kit.files import digest_of_file
from kit.reporting import pin
from kit.reporting.modes import mode_of, mode_table
from kit.text.views import texts

QUERIES = ["q1", {"query_id": "q2", "title": " <b> </b> "}, {"query_id": "q3", "abstract": None}, "q4", "d1"]
QRELS = [("q1", "d1"), ("q1", "d2", "A"), ("q2", "d2"), ("q3", "d3"), ("d1", "d2", "A")]
VIEWS = {"query": {"view": "text"}, "corpus": {"view": "tacd"}}


@pytest.fixture(scope="module")
def source(tmp_path_factory, make_collection):
    """A collection of which two queries lack a part, and one has no relevant document."""
    folder = make_collection(tmp_path_factory.mktemp("source"), QUERIES, ["d1", "d2", "d3"], QRELS)
    return open_collection(str(folder))


@pytest.fixture
def own_registry(tmp_path, monkeypatch):
    monkeypatch.setenv("KIT_REGISTRY", str(tmp_path / "registry.yaml"))


@pytest.fixture
def built(source, tmp_path, own_registry):
    """A folder of a set that is not frozen."""
    return write_query_set(semantic_search.build(source), tmp_path / "titles")


def made(source, **changes):
    rows = [{"qid": "a", "text": "a valve", "gold_apps": ["d1"]}]
    return QuerySet(**{"mode": "litigation", "rows": rows, "corpus": source, "entered": {"queries": 1},
                       "losses": [], "sources": {}, "parameters": {}, **changes})


def manifest(folder):
    return json.loads((folder / MANIFEST).read_text())


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


# --- what is built --------------------------------------------------------------------------------

def test_what_lacks_title_or_abstract_or_a_gold_is_counted_out(built):
    assert [row["qid"] for row in lines(built / "rows.jsonl")] == ["q1", "d1"]
    count, = manifest(built)["counts"]
    assert count == {"what": "queries", "entered": 5, "left": 2, "losses": {
        "no abstract": 1, "no title": 1, "no relevant document under the protocol": 1}}
    assert {(loss["id"], loss["reason"]) for loss in lines(built / "lost.jsonl")} == {
        ("q2", "no title"), ("q3", "no abstract"), ("q4", "no relevant document under the protocol")}


def test_a_rows_text_is_the_view_ta_and_its_golds_are_those_of_the_protocol(source, built):
    view = dict(zip(source.ids("queries"), texts(source, "queries", "ta")))
    first = lines(built / "rows.jsonl")[0]
    assert first == {"qid": "q1", "text": view["q1"], "gold_apps": ["d1", "d2"], "query_cpc": ["F16K31/06"]}
    assert [row["gold_apps"] for row in semantic_search.build(source, "xy").rows] == [["d1"]]


def test_the_corpus_is_the_collections_own(source, built):
    assert open_collection(str(built)).fingerprints["corpus"] == source.fingerprints["corpus"]


def test_an_id_of_queries_and_corpus_stays_one_patent(source, built):
    assert source.shared_ids and open_collection(str(built)).shared_ids


def test_the_miniature_loses_none_and_its_texts_search_like_its_view(mini, tmp_path, own_registry):
    built = semantic_search.build(mini)
    assert [row["text"] for row in built.rows] == list(texts(mini, "queries", "ta"))
    pairs = Counter(mini.pairs["query_id"])
    assert {row["qid"]: len(row["gold_apps"]) for row in built.rows} == pairs


def test_built_twice_it_is_the_same_bytes(source, built, tmp_path):
    again = write_query_set(semantic_search.build(source), tmp_path / "again")
    names = {p.relative_to(built) for p in built.rglob("*") if p.is_file()}
    assert names == {p.relative_to(again) for p in again.rglob("*") if p.is_file()}
    assert all((built / n).read_bytes() == (again / n).read_bytes() for n in names)


def test_the_manifest_names_sources_parameters_commit_and_files(source, built):
    stated = manifest(built)
    files = {f"tiny/{p.relative_to(source.source).as_posix()}": digest_of_file(p)
             for p in query_set.find_path(source.source).rglob("*") if p.is_file()}
    assert files.items() <= stated["sources"].items()
    assert stated["parameters"]["protocol"] == "all" and {"sha", "dirty"} <= stated["git"].keys()
    assert stated["files"]["rows.jsonl"] == digest_of_file(built / "rows.jsonl")


# --- counts ---------------------------------------------------------------------------------------

@pytest.mark.parametrize(("entered", "left", "losses"), [(3, 1, {"x": 1}), (1, 2, {}), (1, 2, {"x": -1})])
def test_a_count_that_does_not_add_up_is_refused(entered, left, losses):
    with pytest.raises(BuildError, match="does not add up"):
        Count("rows", entered, left, losses)


def test_a_builder_that_forgets_a_loss_writes_nothing(source, tmp_path):
    with pytest.raises(BuildError, match="does not add up"):
        write_query_set(made(source, entered={"queries": 2}), tmp_path / "set")
    assert list(tmp_path.iterdir()) == []


def test_a_loss_of_a_kind_that_never_came_in_is_refused(source, tmp_path):
    with pytest.raises(BuildError, match="lost were golds"):
        write_query_set(made(source, losses=[Loss("golds", "x", "foreign")]), tmp_path / "set")


def test_several_kinds_are_counted_each_for_itself(source):
    counts = made(source, entered={"trials": 3, "queries": 2, "golds": 4}, left={"trials": 2, "golds": 1},
                  losses=[Loss("trials", "t1", "no text"), Loss("queries", "b", "no gold"),
                          *(Loss("golds", str(n), "foreign") for n in range(3))]).counts()
    assert [(c.what, c.entered, c.left, c.losses) for c in counts] == [
        ("trials", 3, 2, {"no text": 1}), ("queries", 2, 1, {"no gold": 1}), ("golds", 4, 1, {"foreign": 3})]


# --- what is refused before anything is written ---------------------------------------------------

@pytest.mark.parametrize(("changes", "said"), [
    ({"mode": "guess"}, "unknown mode"),
    ({"rows": [], "entered": {"queries": 0}}, "no row is left"),
    ({"rows": [{"qid": "a", "text": "x", "gold_apps": ["d9"]}]}, "'d9' is not in the corpus"),
    ({"rows": [{"qid": "a", "text": " ", "gold_apps": ["d1"]}]}, "field 'text'"),
    ({"rows": [{"qid": "a", "text": "x", "gold_apps": ["d1"], "claim": 0}]}, "field 'claim'"),
    ({"evidence": [{"qid": "b"}]}, "evidence names the row 'b'")])
def test_a_set_that_can_not_be_is_refused_and_nothing_is_left(source, tmp_path, changes, said):
    with pytest.raises(KitError, match=said):
        write_query_set(made(source, **changes), tmp_path / "set")
    assert list(tmp_path.iterdir()) == []


def test_no_set_is_written_over_another(source, built):
    with pytest.raises(BuildError, match="the folder is there"):
        write_query_set(made(source), built)


def test_a_set_that_came_meanwhile_is_not_taken_for_this(source, tmp_path, monkeypatch):
    row = {"qid": "other", "text": "x", "gold_apps": ["d1"]}
    other = write_query_set(made(source, rows=[row]), tmp_path / "other")
    found = query_set.set_files

    def come(part):
        if not (tmp_path / "set").exists():
            shutil.copytree(other, tmp_path / "set")
        return found(part)

    monkeypatch.setattr(query_set, "set_files", come)
    with pytest.raises(BuildError, match="the folder is there"):
        write_query_set(made(source), tmp_path / "set")
    assert [row["qid"] for row in lines(tmp_path / "set" / "rows.jsonl")] == ["other"]


def test_a_row_says_which_claim_and_what_may_lack(source, tmp_path):
    row = {"qid": "a", "text": "x", "gold_apps": ["d1"], "claim": 4, "incomplete": "a reference in no table"}
    folder = write_query_set(made(source, rows=[row]), tmp_path / "set")
    assert lines(folder / "rows.jsonl") == [row]
    assert open_collection(str(folder)).row("queries", "a")["text"] == "x"


# --- freezing -------------------------------------------------------------------------------------

def test_a_frozen_set_is_a_generation_of_its_mode(built):
    assert freeze(built)["generation"] == "titles-1"
    opened = open_collection(str(built))
    assert opened.generation == "titles-1"
    assert opened.registered_set == {"mode": "semantic_search", "audit": None,
                                     "manifest": digest_of_file(built / MANIFEST)}
    assert folder_entry("titles").generations["titles-1"] == opened.fingerprints


def test_until_then_its_mode_is_pending(built):
    before = open_collection(str(built))
    assert mode_of(VIEWS, before) == "unregistered query set"
    status = mode_table(before).set_index("mode")
    assert set(status["status"]) == {"pending"} and "not frozen" in status.loc["semantic_search", "lacks"]
    freeze(built)
    after = open_collection(str(built))
    assert mode_of(VIEWS, after) == "semantic_search"
    assert mode_table(after).set_index("mode")["status"].to_dict() == {
        "prior_art": "pending", "semantic_search": "can be run", "natural_language": "pending",
        "litigation": "pending"}


def test_a_second_freeze_is_refused(built):
    freeze(built)
    with pytest.raises(BuildError, match="frozen already"):
        freeze(built)


def test_a_freeze_that_was_stopped_before_it_was_registered_is_finished(built, monkeypatch):
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("kit.reporting.pin.pin", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        freeze(built)
    assert freeze(built)["generation"] == "titles-1" == open_collection(str(built)).generation


def test_the_same_set_in_another_folder_is_not_registered_twice(source, built, tmp_path):
    freeze(built)
    other = write_query_set(semantic_search.build(source), tmp_path / "other")
    with pytest.raises(KitError, match="pinned already"):
        freeze(other)


@pytest.mark.parametrize("name", ["rows.jsonl", "evidence.jsonl", "lost.jsonl", MANIFEST,
                                  "corpus/test-00000-of-00001.parquet"])
def test_a_frozen_set_that_was_changed_is_refused_when_it_is_opened(built, name):
    freeze(built)
    with open(built / name, "ab") as file:
        file.write(b"\n")
    with pytest.raises(CollectionError, match=f"frozen and was changed: {name}"):
        open_collection(str(built))


@pytest.mark.parametrize("name", ["lost.jsonl", MANIFEST])
def test_so_is_one_that_lacks_a_file(built, name):
    freeze(built)
    (built / name).unlink()
    with pytest.raises(CollectionError, match=f"{name} is gone"):
        open_collection(str(built))


def test_so_is_one_with_a_file_more(built):
    freeze(built)
    shutil.copy(built / "corpus" / "test-00000-of-00001.parquet", built / "corpus" / "more.parquet")
    with pytest.raises(CollectionError, match="corpus/more.parquet came later"):
        open_collection(str(built))


def test_what_was_changed_between_building_and_freezing_is_refused(built):
    text = (built / "rows.jsonl").read_text()
    (built / "rows.jsonl").write_text(text.replace("valve", "value"))
    with pytest.raises(BuildError, match=r"rows.jsonl is not as it was built"):
        freeze(built)
    assert not (built / FROZEN).exists() and not user_registry().exists()


def test_a_manifest_whose_counts_were_changed_is_refused(built):
    stated = manifest(built)
    stated["counts"][0]["entered"] += 1
    (built / MANIFEST).write_text(json.dumps(stated))
    with pytest.raises(BuildError, match="does not add up"):
        freeze(built)


def test_a_manifest_that_counts_other_rows_is_refused(built):
    stated = manifest(built)
    stated["counts"][0] |= {"entered": 4, "left": 1}
    (built / MANIFEST).write_text(json.dumps(stated))
    with pytest.raises(BuildError, match="counts 1 rows, and the file has 2"):
        freeze(built)


def test_a_manifest_that_was_replaced_after_the_freeze_loses_its_mode(built):
    freeze(built)
    (built / FROZEN).unlink()
    stated = manifest(built)
    (built / MANIFEST).write_text(json.dumps({**stated, "shared_ids": False}))
    assert mode_of(VIEWS, open_collection(str(built))) == "unregistered query set"


def test_a_set_that_is_not_frozen_is_not_pinned_either(built):
    with pytest.raises(CollectionError, match="not frozen"):
        pin.generation_name(open_collection(str(built)))


def test_a_frozen_set_from_elsewhere_is_registered_by_pin(built, tmp_path, monkeypatch):
    freeze(built)
    monkeypatch.setenv("KIT_REGISTRY", str(tmp_path / "theirs.yaml"))
    theirs = open_collection(str(built))
    assert theirs.registered_set is None
    pin.pin(theirs, pin.generation_name(theirs))
    assert open_collection(str(built)).registered_set["mode"] == "semantic_search"


def test_a_folder_that_was_not_built_is_not_frozen(make_rows, tmp_path):
    with pytest.raises(BuildError, match="no built set"):
        freeze(make_rows(tmp_path, [{}]))


def test_the_command_line_builds_and_freezes_what_is_made_up(tmp_path, own_registry, capsys):
    folder = tmp_path / "mine"
    build = ["build", "semantic_search", "--collection", "mini", "--out", str(folder)]
    assert main(build) == 0 and main(["freeze", str(folder)]) == 0
    said = capsys.readouterr().out
    assert "queries: 120 came in, 120 left" in said and "registered as 'mine-1'" in said
    assert "made up" in open_collection(str(folder)).note  # the source's note goes along
    assert main(build) == 1
    assert "the folder is there" in capsys.readouterr().err
