"""Parameters: from a file, from the command line, from a notebook; what is unknown is refused."""

import pytest

from kit.errors import ParamsError
from kit.params import FIELDS, Params, from_notebook, load_params, make_params

DEFAULTS = Params()


@pytest.fixture
def file(tmp_path):
    """A function that writes a YAML file."""
    def write(text):
        path = tmp_path / "some.yaml"
        path.write_text(text, encoding="utf-8")
        return path
    return write


# --- from a file --------------------------------------------------------------------------------

def test_values_of_a_file_over_the_defaults(file):
    params = load_params(file("depth: 7\nquery_view: ta\n"))
    assert (params.depth, params.query_view) == (7, "ta")
    assert params.model_dump(exclude={"depth", "query_view"}) == DEFAULTS.model_dump(
        exclude={"depth", "query_view"})


def test_no_file_gives_the_defaults():
    assert load_params(None) == DEFAULTS


@pytest.mark.parametrize("text, said", [
    ("dept: 7", "unknown parameter 'dept'.*some.yaml.*Known are .*depth"),
    ("dept: 7\nseeds: 1", "unknown parameter 'dept', 'seeds'"),
    ("- depth", "parameters are lines 'name: value'"),
    ("", "parameters are lines 'name: value'"),
    ("1: 2", "parameters are lines 'name: value'"),
    ("depth: [1", "can't be read"),
])
def test_what_is_no_file_of_parameters(file, text, said):
    with pytest.raises(ParamsError, match=said) as error:
        load_params(file(text))
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(ParamsError, match="can't be read.*none.yaml.*params/mini.yaml"):
        load_params(tmp_path / "none.yaml")


def test_a_file_that_is_no_text(tmp_path):
    (tmp_path / "x.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ParamsError, match="can't be read"):
        load_params(tmp_path / "x.yaml")


@pytest.mark.parametrize("name, value", [
    ("depth", "100"), ("depth", 0), ("depth", 1.5), ("depth", True), ("depth", None),
    ("seed", -1), ("sample", 0), ("bm25_b", 1.1), ("bm25_k1", -0.1), ("bm25_k1", float("inf")),
    ("bm25_k1", float("nan")), ("streaming", "no"), ("streaming", 1), ("protocol", "XY"),
    ("systems", "bm25"), ("systems", [1]), ("measures", []), ("run_files", ["a"]),
    ("run_files", {"a": 1}), ("experiment", "../up"), ("experiment", ""), ("experiment", "a b"),
    ("collection", 7), ("outputs", ""), ("embedding_pooling", "sum"), ("revision", 123),
    ("engine", "ray"), ("scheduler", ""), ("scheduler", "localhost"), ("shards", 0), ("shards", "all"),
])
def test_a_wrong_value_is_one_line_that_names_it(name, value):
    with pytest.raises(ParamsError, match=rf"{name}: .*, not .*where") as error:
        make_params({name: value}, "where")
    assert "\n" not in str(error.value)


def test_every_wrong_value_is_named_at_once():
    with pytest.raises(ParamsError, match="depth: .*; bm25_b: "):
        make_params({"depth": "x", "bm25_b": 2.0})


def test_params_can_not_be_changed():
    with pytest.raises(ValueError, match="frozen"):
        DEFAULTS.depth = 3


def test_every_parameter_says_what_it_does():
    assert [name for name, field in FIELDS.items() if not field.description] == []


# --- from the command line ----------------------------------------------------------------------

@pytest.mark.parametrize("name, text, value", [
    ("collection", "00123", "00123"), ("experiment", "1e3", "1e3"), ("revision", "0012", "0012"),
    ("outputs", "on", "on"), ("embedding_query_prompt", "query: ", "query: "),
    ("embedding_query_prompt", "", ""), ("embedding_query_prompt", "null", None),
    ("revision", "null", None), ("embedding_device", "null", None), ("embedding_pooling", "cls", "cls"),
    ("embedding_pooling", "null", None), ("protocol", "xy", "xy"), ("depth", "50", 50),
    ("sample", "null", None), ("sample", "5", 5), ("streaming", "true", True), ("bm25_k1", "0.9", 0.9),
    ("bm25_k1", "1", 1.0), ("systems", "[bm25]", ["bm25"]), ("measures", "[nDCG@10, R@5]", ["nDCG@10", "R@5"]),
    ("run_files", "{mine: 'a.trec'}", {"mine": "a.trec"}), ("bm25_engine", "rank-bm25", "rank-bm25"),
])
def test_a_value_given_as_text(name, text, value):
    found = getattr(load_params(None, [(name, text)]), name)
    assert found == value and type(found) is type(value)


def test_what_is_given_wins_over_the_file_and_the_last_over_the_first(file):
    path = file("depth: 7\nseed: 3\n")
    params = load_params(path, [("depth", "8"), ("depth", "9")])
    assert (params.depth, params.seed) == (9, 3)


@pytest.mark.parametrize("name, text, said", [
    ("dept", "7", "unknown parameter 'dept'"), ("depth", "many", "depth: .*not 'many'"),
    ("systems", "[bm25", r"systems is not YAML: '\[bm25'"), ("systems", "bm25", "systems: .*'bm25'"),
    ("protocol", "null", "protocol"), ("depth", "", "depth"),
])
def test_a_given_value_that_is_refused(name, text, said):
    with pytest.raises(ParamsError, match=said) as error:
        load_params(None, [(name, text)])
    assert "\n" not in str(error.value)


# --- from a notebook ----------------------------------------------------------------------------

def notebook(**values):
    """A namespace as papermill leaves it: the cell that it injected has run."""
    cell = "# Parameters\n" + "\n".join(f"{name} = {value!r}" for name, value in values.items())
    return {"In": ["", "depth = 100", cell], "depth": 100, "other": object(), **values}


def test_the_notebooks_values(file):
    assert from_notebook({"depth": 9, "np": object(), "In": [""]}) == Params(depth=9)


def test_an_injected_value_counts():
    assert from_notebook(notebook(depth=5, seed=2)) == Params(depth=5, seed=2)


def test_a_misspelt_injected_name_is_refused():
    with pytest.raises(ParamsError, match="unknown parameter 'dpeth'.*the notebook's parameters"):
        from_notebook(notebook(dpeth=5))


def test_a_cell_changed_after_the_injected_one_has_the_last_word():
    assert from_notebook({**notebook(depth=5), "depth": 6}).depth == 6


def test_a_value_of_the_wrong_kind_is_refused():
    with pytest.raises(ParamsError, match="depth: .*not '5'"):
        from_notebook(notebook(depth="5"))


def test_other_cells_do_not_count():
    namespace = {"In": ["dpeth = 1", "# Parameters of the plot\nsize = 3", "%matplotlib inline"],
                 "dpeth": 1, "size": 3}
    assert from_notebook(namespace) == DEFAULTS


def test_outside_of_ipython():
    assert from_notebook({"depth": 4}).depth == 4


def test_params_survive_their_own_dump():
    params = Params(run_files={"mine": "a.trec"}, sample=3)
    assert make_params(params.model_dump()) == params


def test_a_key_that_stands_twice_is_refused(tmp_path):
    path = tmp_path / "twice.yaml"
    path.write_text("depth: 100\nsystems: [bm25]\ndepth: 200\n")
    with pytest.raises(ParamsError, match="'depth' stands twice.*line"):
        load_params(path)


@pytest.mark.parametrize("text", ["systems: " + "[" * 3000 + "]" * 3000, "depth: " + "9" * 5000,
                                  "experiment: !!python/object:os.system x", "depth: [unclosed"])
def test_yaml_that_breaks_the_parser_is_one_line(tmp_path, text):
    path = tmp_path / "odd.yaml"
    path.write_text(text)
    with pytest.raises(ParamsError) as error:
        load_params(path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name, value", [("bm25_k1", 1e308), ("bm25_k1", float("nan")),
                                         ("experiment", "x" * 300), ("experiment", "../up"),
                                         ("embedding_model", "")])
def test_values_that_could_only_mislead_are_refused(name, value):
    with pytest.raises(ParamsError, match=name):
        make_params({name: value})
