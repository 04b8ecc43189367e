"""A hub id without the hub: one clear error, or the copy that `datasets` has kept."""

import json
import shutil
from pathlib import Path

import datasets
import pytest
from datasets import load_dataset

from kit.collection import miniature
from kit.collection.schema import FEATURES, TABLES
from kit.collection.sources import open_collection
from kit.errors import CollectionError

HUB_ID = "some-owner/SomeSearch"
OLD, NEW = "0" * 40, "1" * 40


@pytest.fixture
def cache(tmp_path, monkeypatch) -> Path:
    """An empty cache folder of `datasets`."""
    folder = tmp_path / "cache"
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", folder)
    return folder


def keep(cache: Path, folder: Path, commit: str, tables=TABLES, **loading) -> None:
    """Puts tables where `datasets` keeps those of HUB_ID: loaded from a folder, then renamed."""
    for table in tables:
        given = {"features": FEATURES[table], "columns": list(FEATURES[table])} if loading else {}
        load_dataset(str(folder), table, **given)
    made = cache / folder.name
    for info in list(made.glob("*/*/*/dataset_info.json")):
        home = cache / "some-owner___some_search" / info.parents[2].name / "0.0.0" / commit
        home.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(info.parent, home)
        stated = {**json.loads(info.read_text()), "dataset_name": "some_search"}
        (home / info.name).write_text(json.dumps(stated))
        for arrow in home.glob("*.arrow"):
            arrow.rename(arrow.with_name("some_search" + arrow.name.removeprefix(folder.name)))
    shutil.rmtree(made)


def test_no_copy_is_one_error_that_says_how_to_get_the_data(cache):
    with pytest.raises(CollectionError, match=r"can't be reached.*Go online once.*queries/, corpus/"):
        open_collection("sophia")


@pytest.mark.parametrize("own", [False, True], ids=["as it is", "with the layout's features"])
@pytest.mark.parametrize("streaming", [False, True])
def test_the_kept_copy_is_the_folder_it_was_made_from(
        cache, make_collection, tmp_path, own, streaming):
    folder = make_collection(tmp_path)
    prints = open_collection(str(folder)).fingerprints
    shutil.rmtree(cache)
    keep(cache, folder, OLD, **({"own": True} if own else {}))
    collection = open_collection(HUB_ID, streaming=streaming)
    assert collection.fingerprints == prints
    assert collection.row("corpus", "d2")["title"] == "Valve d2"
    assert collection.faults == []
    if not streaming:
        assert all(collection.tables[t].cache_files for t in TABLES)


def test_a_kept_copy_still_shows_its_wrong_types(cache, make_collection, tmp_path):
    def numbers(table):
        return table.set_column(0, "doc_id", [list(range(table.num_rows))])
    keep(cache, make_collection(tmp_path, tweak={"corpus": numbers}), OLD)
    assert "'doc_id' is int64" in str(open_collection(HUB_ID).faults[0])


def test_the_revision_chooses_the_commit(cache, make_collection, tmp_path):
    keep(cache, make_collection(tmp_path, name="a"), OLD)
    keep(cache, make_collection(tmp_path, corpus=["d1", "d2", "d3", "d4"], name="b"), NEW)
    assert len(open_collection(HUB_ID, revision=OLD).ids("corpus")) == 3
    assert len(open_collection(HUB_ID, revision=NEW).ids("corpus")) == 4
    assert len(open_collection(HUB_ID).ids("corpus")) == 4


def test_a_revision_that_is_not_kept_is_refused(cache, make_collection, tmp_path):
    keep(cache, make_collection(tmp_path), OLD)
    with pytest.raises(CollectionError, match=f"no copy of the commit 'v2'.*{OLD}"):
        open_collection(HUB_ID, revision="v2")


def test_tables_of_two_commits_are_not_mixed(cache, make_collection, tmp_path):
    keep(cache, make_collection(tmp_path, name="a"), OLD, ["queries", "qrels"])
    keep(cache, make_collection(tmp_path, name="b"), NEW, ["corpus"])
    with pytest.raises(CollectionError, match="no copy of all three tables"):
        open_collection(HUB_ID)


def test_dapfams_relations_are_read_as_two_tables_from_one_kept_copy(
        cache, tmp_path, monkeypatch, mini_dapfam):
    home = tmp_path / "families"
    shutil.copytree(miniature.folder("mini-dapfam"), home)
    keep(cache, home, NEW, tables=("queries", "corpus", "relations"))
    mine = tmp_path / "registry.yaml"
    mine.write_text(f"families: {{hub: {HUB_ID}, environment: families, layout: dapfam, "
                    "licence: none, attribution: nobody}")
    monkeypatch.setenv("KIT_REGISTRY", str(mine))
    assert open_collection("families").fingerprints == mini_dapfam.fingerprints
