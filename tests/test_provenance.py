"""Provenance: code that is not its commit's is never called clean, whatever git was told."""

import os
import shutil
import subprocess

import pytest

from kit import provenance
from kit.provenance import git_state

NAMED = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]


def git(folder, *words: str) -> str:
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return subprocess.run(["git", "-C", folder, *NAMED, *words], check=True, text=True, env=own,
                          capture_output=True).stdout.strip()


def commit(folder) -> str:
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "all")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A checkout of a tiny kit, clean, with an outputs folder that git ignores."""
    root = tmp_path / "around" / "copy"
    ignored = "outputs/\n__pycache__/\n*.log.py\n"
    for name, text in {"kit/a.py": "A = 1\n", "kit/room/b.yaml": "b: 1\n", "pyproject.toml": "\n",
                       "README.md": "Read\n", ".gitignore": ignored}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    monkeypatch.setattr(provenance, "ROOT", root.resolve())
    commit(root)
    return root


def test_a_checkout_as_it_was_committed_is_clean(root):
    assert git_state() == {"sha": git(root, "rev-parse", "HEAD"), "dirty": False}


@pytest.mark.parametrize("name", ["outputs/x.py", "run.trec", "kit/__pycache__/a.pyc",
                                  "kit/room/.swp", "kit/.ipynb_checkpoints/a.py"])
def test_files_that_change_no_figure_do_not_count(root, name):
    (root / name).parent.mkdir(exist_ok=True)
    (root / name).write_text("x")
    assert git_state()["dirty"] is False


def test_line_ends_of_windows_are_the_same_file(root):
    git(root, "config", "core.autocrlf", "true")
    (root / "kit/a.py").unlink()
    git(root, "checkout", "kit/a.py")
    assert (root / "kit/a.py").read_bytes() == b"A = 1\r\n"
    assert git_state()["dirty"] is False


@pytest.mark.parametrize("name", ["kit/a.py", "kit/room/b.yaml", "pyproject.toml", "README.md"])
@pytest.mark.parametrize("change", [lambda f: f.write_text("A = 2\n"), lambda f: f.unlink()],
                         ids=["changed", "gone"])
def test_a_file_that_differs_from_the_commit_is_dirty(root, name, change):
    change(root / name)
    assert git_state()["dirty"] is True


def test_a_change_that_is_staged_is_dirty(root):
    (root / "kit/a.py").write_text("A = 2\n")
    git(root, "add", "-A")
    assert git_state()["dirty"] is True


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_a_change_that_git_is_told_to_overlook_is_dirty(root, flag):
    git(root, "update-index", flag, "kit/a.py")
    (root / "kit/a.py").write_text("A = 2\n")
    assert git(root, "status", "--porcelain") == ""
    assert git_state()["dirty"] is True


def test_another_tree_in_the_commits_place_is_dirty(root):
    old = git(root, "rev-parse", "HEAD")
    (root / "kit/a.py").write_text("A = 2\n")
    new = commit(root)
    git(root, "reset", "-q", "--soft", old)
    git(root, "replace", old, new)
    assert git(root, "status", "--porcelain") == ""
    assert git_state() == {"sha": old, "dirty": True}


@pytest.mark.parametrize("name", ["kit/new.py", "kit/room/new.j2", "kit/ignored.log.py"])
def test_a_new_file_of_the_package_is_dirty(root, name):
    (root / name).write_text("A = 2\n")
    assert git_state()["dirty"] is True


def test_a_new_module_that_git_is_told_to_overlook_is_dirty(root):
    git(root, "config", "status.showUntrackedFiles", "no")
    (root / ".git/info/exclude").write_text("new.py\n")
    (root / "kit/new.py").write_text("A = 2\n")
    assert git_state()["dirty"] is True


def test_a_folder_that_is_linked_into_the_package_is_dirty(root, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (root / "kit/linked").symlink_to(tmp_path / "elsewhere")
    assert git_state()["dirty"] is True


@pytest.mark.parametrize("ignored", [True, False])
def test_a_copy_inside_another_repository_is_no_checkout(root, ignored):
    shutil.rmtree(root / ".git")
    (root.parent / ".gitignore").write_text("copy/\n" if ignored else "")
    commit(root.parent)
    assert git_state() == {"sha": None, "dirty": None, "reason": "not a git checkout"}


def test_a_repository_that_the_environment_names_is_not_asked(root, tmp_path, monkeypatch):
    clean = tmp_path / "clean"
    shutil.copytree(root, clean)
    monkeypatch.setenv("GIT_DIR", str(clean / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(clean))
    (root / "kit/a.py").write_text("A = 2\n")
    assert git_state()["dirty"] is True
    shutil.rmtree(root / ".git")
    assert git_state()["sha"] is None


def test_a_worktree_is_a_checkout(root, tmp_path, monkeypatch):
    git(root, "worktree", "add", "-q", str(tmp_path / "tree"))
    monkeypatch.setattr(provenance, "ROOT", (tmp_path / "tree").resolve())
    assert git_state() == {"sha": git(root, "rev-parse", "HEAD"), "dirty": False}


def test_without_git_there_is_no_commit(root, monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert git_state()["sha"] is None
