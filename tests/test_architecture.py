"""The house as it is drawn: one way of imports, notebooks that state their parameters, the files."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
import yaml

from kit.errors import NotebookError
from kit.files import ROOT
from kit.params import FIELDS, Params, load_params, make_params
from kit.pipeline import (
    BUILD,
    LITIGATION,
    NOTEBOOKS,
    SPEED,
    SWEEP,
    notebooks_of,
    require_runnable,
)

LONGEST_CELL = 25  # lines
NAMES = [path.stem for path in sorted((ROOT / "notebooks").glob("*.ipynb"))]
all_notebooks = pytest.mark.parametrize("name", NAMES)


def opened(name):
    return nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4)


def code_cells(name):
    return [cell for cell in opened(name).cells if cell.cell_type == "code"]


def parameters(name) -> dict:
    """What the cell tagged `parameters` sets; it holds plain assignments of plain values."""
    cell, = (c for c in code_cells(name) if "parameters" in c.metadata.get("tags", []))
    return {node.targets[0].id: ast.literal_eval(node.value) for node in ast.parse(cell.source).body}


# --- imports --------------------------------------------------------------------------------------

def lint(config: Path) -> subprocess.CompletedProcess:
    command = Path(sys.executable).with_name("lint-imports")
    return subprocess.run([command, "--no-cache", "--no-logo", config], cwd=ROOT, text=True,
                          env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True)


def test_imports_run_one_way():
    told = lint(ROOT / "pyproject.toml")
    assert told.returncode == 0, told.stdout


def test_an_import_the_other_way_would_be_found(tmp_path):
    """With the layers turned round, the same contract is broken: it does look at this package."""
    text = (ROOT / "pyproject.toml").read_text()
    layers = re.search(r"layers = \[\n(.*?)\n\]", text, re.DOTALL)[1].splitlines()
    turned = tmp_path / "pyproject.toml"
    turned.write_text(text.replace("\n".join(layers), "\n".join(layers[::-1])))
    assert "BROKEN" in lint(turned).stdout


def test_every_module_stands_in_a_layer():
    text = (ROOT / "pyproject.toml").read_text()
    named = set(re.findall(r"kit\.(\w+)", text[text.index("layers = ["):]))
    inside = {p.stem for p in (ROOT / "kit").iterdir()
              if p.suffix == ".py" or (p / "__init__.py").exists()}
    assert inside - named == {"__init__", "__main__"}


# --- notebooks ------------------------------------------------------------------------------------

def test_the_pipeline_runs_notebooks_that_are_there():
    assert {*NOTEBOOKS, BUILD, LITIGATION, SWEEP, SPEED} == set(NAMES)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_its_parameters_are_those_of_mini_yaml(name):
    assert parameters(name) == yaml.safe_load((ROOT / "params" / "mini.yaml").read_text())


@pytest.mark.parametrize("name", sorted(set(NAMES) - set(NOTEBOOKS)))
def test_a_notebook_of_its_own_has_the_parameters_of_its_experiment(name):
    given = parameters(name)
    assert given == yaml.safe_load((ROOT / "params" / f"{given['experiment']}.yaml").read_text())
    assert list(notebooks_of(make_params(given))) == sorted([*NOTEBOOKS, name])


@all_notebooks
def test_it_can_be_run_by_papermill_anywhere(name):
    require_runnable(ROOT / "notebooks" / f"{name}.ipynb")  # its kernel and its tagged cell


def test_a_notebook_for_another_kernel_is_refused(tmp_path):
    notebook = opened(NAMES[0])
    notebook.metadata.kernelspec.name = "my-venv"
    nbformat.write(notebook, tmp_path / "other.ipynb")
    with pytest.raises(NotebookError, match="'my-venv'.*python3"):
        require_runnable(tmp_path / "other.ipynb")


def test_a_notebook_whose_tag_is_lost_is_refused(tmp_path):
    notebook = opened(NAMES[0])
    for cell in notebook.cells:
        cell.metadata.pop("tags", None)
    nbformat.write(notebook, tmp_path / "other.ipynb")
    with pytest.raises(NotebookError, match="no cell carries the tag 'parameters'"):
        require_runnable(tmp_path / "other.ipynb")


@all_notebooks
def test_its_parameters_are_checked_before_anything_else_is_done(name):
    cells = [c.source for c in code_cells(name)]
    assert "from_notebook(globals())" in cells[1]


@all_notebooks
def test_its_cells_are_short(name):
    lengths = [len(cell.source.splitlines()) for cell in code_cells(name)]
    assert max(lengths) <= LONGEST_CELL


# --- params ---------------------------------------------------------------------------------------

def test_mini_yaml_states_the_schemas_defaults():
    stated = yaml.safe_load((ROOT / "params" / "mini.yaml").read_text())
    assert stated == {name: FIELDS[name].default for name in stated}
    assert load_params(ROOT / "params" / "mini.yaml") == Params()


@pytest.mark.parametrize("path", sorted((ROOT / "params").glob("*.yaml")), ids=lambda p: p.stem)
def test_every_experiment_loads_and_bears_its_files_name(path):
    assert load_params(path).experiment == path.stem


# --- files ----------------------------------------------------------------------------------------

def test_no_path_of_one_machine():
    """In what git keeps: sources, notebooks with their outputs, and texts."""
    kept = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True)
    if kept.returncode:
        pytest.skip("this copy of the project is no git repository")
    here = [re.escape(os.fsencode(ROOT)) + rb"\b"] if len(ROOT.parts) > 2 else []  # not a mere /app
    homes = re.compile(b"|".join([rb"/(home|Users|root)/\w", *here]))
    names = [n for n in os.fsdecode(kept.stdout).split("\0") if (ROOT / n).is_file() and n]
    assert [n for n in names if homes.search((ROOT / n).read_bytes())] == []
