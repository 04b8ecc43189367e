"""Damaged parameters: a YAML file of `kit run`, and `-p NAME VALUE`. A file's name ends the where, so that
one that is taken for another is seen."""

from damage.harness import Accepted, Damage

FILE = "some.yaml"
EXAMPLE = "Give a YAML file such as params/mini.yaml"
LINES = "See params/mini.yaml"
DIGITS = "Write a whole number in digits alone"
BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{b}: &{b} [{', '.join(['*' + a] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi"))
TEXTS = [  # a file's text, what, do
    ("an empty file", "", "parameters are lines", LINES),
    ("a comment alone", "# depth: 5\n", "parameters are lines", LINES),
    ("a list at the top", "- depth\n- 5\n", "parameters are lines", LINES),
    ("a text at the top", "depth\n", "parameters are lines", LINES),
    ("a number at the top", "5\n", "parameters are lines", LINES),
    ("null at the top", "null\n", "parameters are lines", LINES),
    ("numbers as names", "1: 2\n", "parameters are lines", LINES),
    ("true as a name", "true: 2\n", "parameters are lines", LINES),
    ("JSON in two parts", '{"depth": 5}{"seed": 1}', "can't be read", EXAMPLE),
    ("two documents", "depth: 5\n---\nseed: 1\n", "can't be read: but found another document, line 2", EXAMPLE),
    ("a bracket that is open", "systems: [bm25\n", "can't be read", EXAMPLE),
    ("a quote that is open", "collection: 'mini\n", "can't be read", EXAMPLE),
    ("a tab as indent", "run_files:\n\tx: y\n", "can't be read: found character '\\t' that cannot start any token, line 2", EXAMPLE),
    ("a colon too many", "collection: a: b\n", "can't be read: mapping values are not allowed here, line 1", EXAMPLE),
    ("a key twice", "depth: 5\nseed: 1\ndepth: 6\n", "can't be read: 'depth' stands twice", EXAMPLE),
    ("a key twice inside", "run_files: {a: x, a: y}\n", "can't be read: 'a' stands twice", EXAMPLE),
    ("a thousand keys, one twice", "".join(f"k{n}: 1\n" for n in range(1000)) + "k0: 1\n", "'k0' stands twice", EXAMPLE),
    ("a list as a key", "? [a, b]\n: 1\n", "can't be read: found unhashable key", EXAMPLE),
    ("an anchor of nothing", "depth: *a\n", "can't be read: found undefined alias 'a', line 1", EXAMPLE),
    ("an anchor of itself", "systems: &a [*a]\n", "its anchors stand for too much, or for themselves", EXAMPLE),
    ("anchors that explode", BOMB + "systems: *i\n", "its anchors stand for too much", EXAMPLE),
    ("an object of Python", "depth: !!python/object/apply:os.system ['touch pwned']\n", "could not determine a constructor",
     EXAMPLE),
    ("a name of Python", "depth: !!python/name:os.system\n", "could not determine a constructor", EXAMPLE),
    ("a module of Python", "depth: !!python/module:os\n", "could not determine a constructor", EXAMPLE),
    ("a tuple of Python", "systems: !!python/tuple [bm25]\n", "could not determine a constructor", EXAMPLE),
    ("a tag of one's own", "depth: !mine 5\n", "could not determine a constructor for the tag '!mine'", EXAMPLE),
    ("a set", "systems: !!set {bm25}\n", "systems: Input should be a valid list", "Write a list"),
    ("bytes", "collection: !!binary aGVsbG8=\n", "collection: Input should be a valid string", "Put the text in quotes"),
    ("a deep nest", "systems: " + "[" * 5000 + "]" * 5000, "nested too deeply", EXAMPLE),
    ("a nest of a hundred thousand", "systems: " + "[" * 100_000, "nested too deeply", EXAMPLE),
    ("a nest of dashes", "- " * 50_000, "nested too deeply", EXAMPLE),
    ("more than a megabyte", "# " + "x" * 10**6 + "\ndepth: 5\n", "it has more than 1,000,000 characters", EXAMPLE),
    ("a deep nest of mappings", "run_files: " + "{a: " * 5000, "nested too deeply", EXAMPLE),
    ("a NUL", "depth: 5\0\n", "can't be read: unacceptable character", EXAMPLE),
    ("an escape", "collection: \x1b[2J\n", "can't be read: unacceptable character", EXAMPLE),
    ("an unknown parameter", "dept: 5\n", "unknown parameter 'dept'", "Known are experiment"),
    ("a parameter of another case", "Depth: 5\n", "unknown parameter 'Depth'", "Known are experiment"),
    ("a thousand unknown parameters", "".join(f"k{n}: 1\n" for n in range(1000)), "'k4' and 995 more", "Known are"),
    ("an unknown parameter of a megabyte", "k" * 900 + ": 5\n", "unknown parameter 'kkk", "Known are"),
    ("a merge", "<<: {depth: 5}\n", "unknown parameter '<<'", "Known are"),
    ("a name of Python's own", "__class__: x\n", "unknown parameter '__class__'", "Known are"),
]
RAW = [
    ("UTF-16", "depth: 5\n".encode("utf-16"), "they are not UTF-8 at byte 0", "Save the file as UTF-8"),
    ("latin-1", "collection: é\n".encode("latin-1"), "they are not UTF-8 at byte 12", "Save the file as UTF-8"),
    ("gzip", b"\x1f\x8b\x08" + bytes(30), "they are not UTF-8 at byte 1", "Save the file as UTF-8"),
]
VALUES = [  # a parameter's value as YAML, what, do
    ("depth", "1_000", "Input should be a valid integer, not '1_000'", DIGITS),
    ("depth", "1,000", "Input should be a valid integer, not '1,000'", DIGITS),
    ("depth", "'100'", "Input should be a valid integer, not '100'", DIGITS),
    ("depth", "1e3", "Input should be a valid integer, not 1000.0", DIGITS),
    ("depth", "1.5", "Input should be a valid integer, not 1.5", DIGITS),
    ("depth", "0x10", "Input should be a valid integer, not '0x10'", DIGITS),
    ("depth", "12:30", "Input should be a valid integer, not '12:30'", DIGITS),
    ("depth", "0", "greater than or equal to 1, not 0", "Give each"),
    ("depth", "-3", "greater than or equal to 1, not -3", "Give each"),
    ("depth", "null", "Input should be a valid integer, not None", DIGITS),
    ("depth", "true", "Input should be a valid integer, not True", DIGITS),
    ("depth", "[5]", "Input should be a valid integer, not [5]", DIGITS),
    ("depth", "100 documents", "not '100 documents'", DIGITS),
    ("depth", "٥", "not '٥'", DIGITS),
    ("sample", "no", "Input should be a valid integer, not 'no'", DIGITS),
    ("seed", "2020-01-01", "Input should be a valid integer, not '2020-01-01'", DIGITS),
    ("bm25_k1", ".nan", "bm25_k1: ", "Give each"),
    ("bm25_k1", ".inf", "bm25_k1: ", "Give each"),
    ("bm25_k1", "1,2", "Input should be a valid number, not '1,2'", "Write a number in digits"),
    ("bm25_b", "1.1", "less than or equal to 1, not 1.1", "Give each"),
    ("streaming", "no", "Input should be a valid boolean, not 'no'", "Write true or false"),
    ("streaming", "'true'", "Input should be a valid boolean, not 'true'", "Write true or false"),
    ("streaming", "0", "Input should be a valid boolean, not 0", "Write true or false"),
    ("streaming", "on", "Input should be a valid boolean, not 'on'", "Write true or false"),
    ("collection", "123", "Input should be a valid string, not 123", "Put the text in quotes"),
    ("collection", "[a]", "Input should be a valid string, not ['a']", "Put the text in quotes"),
    ("collection", "null", "Input should be a valid string, not None", "Put the text in quotes"),
    ("revision", "12345678", "Input should be a valid string, not 12345678", "Put the text in quotes"),
    ("revision", "1e10", "Input should be a valid string, not 10000000000.0", "Put the text in quotes"),
    ("experiment", "../up", "experiment: String should match", "Give each"),
    ("experiment", "'a/b'", "experiment: String should match", "Give each"),
    ("experiment", "''", "experiment: String should match", "Give each"),
    ("experiment", "x" * 81, "at most 80 characters", "Give each"),
    ("experiment", "'<script>'", "experiment: String should match", "Give each"),
    ("experiment", '"a\\n"', "experiment: String should match", "Give each"),
    ("protocol", "XY", "Input should be 'all', 'xy' or 'a', not 'XY'", "Give each"),
    ("systems", "bm25", "Input should be a valid list, not 'bm25'", "Write a list"),
    ("systems", "{bm25: 1}", "Input should be a valid list", "Write a list"),
    ("systems", "[bm25, 5]", "systems: 1: Input should be a valid string, not 5", "Put the text in quotes"),
    ("measures", "[]", "at least 1 item", "Give each"),
    ("measures", "[5, 5, 5, 5, 5, 5, 5]", "measures: 4: Input should be a valid string, not 5; and 2 more", "Put"),
    ("run_files", "[a]", "Input should be a valid dict", "Write a mapping"),
    ("run_files", "{a: 5}", "run_files: a: Input should be a valid string, not 5", "Put the text in quotes"),
    ("run_files", "{5: a}", "run_files: 5", "Put the text in quotes"),
    ("fusion_weights", "{a: 0}", "fusion_weights: a: Input should be greater than 0, not 0", "Give each"),
    ("scheduler", "localhost", "scheduler: String should match", "Give each"),
    ("passage_length", "63", "greater than or equal to 64, not 63", "Give each"),
    ("service_timeout", "0", "greater than 0, not 0", "Give each"),
    ("outputs", "''", "outputs: String should have at least 1 character", "Give each"),
]
GIVEN = [  # -p NAME VALUE, what, do
    ("dept", "5", "unknown parameter 'dept'", "Known are"), ("", "5", "unknown parameter ''", "Known are"),
    ("depth=5", "5", "unknown parameter 'depth=5'", "Known are"),
    ("depth", "", "Input should be a valid integer, not None", DIGITS),
    ("depth", "many", "not 'many'", DIGITS), ("depth", "1_000", "not '1_000'", DIGITS),
    ("depth", "9" * 10_000, "the value of depth is not YAML", "Write a list"),
    ("depth", "9" * 400, "less than or equal to 10000000, not 999", "Give each"),
    ("systems", "[" * 10**5, "the value of systems is not YAML", "Write a list"),
    ("systems", "[bm25", "the value of systems is not YAML: '[bm25'", "Write a list"),
    ("systems", "bm25", "Input should be a valid list, not 'bm25'", "Write a list"),
    ("systems", "bm25,embedding", "Input should be a valid list", "Write a list"),
    ("systems", "!!python/object/apply:os.getcwd []", "the value of systems is not YAML", "Write a list"),
    ("systems", "[" * 5000, "the value of systems is not YAML", "Write a list"),
    ("run_files", "{a: x, a: y}", "the value of run_files is not YAML", "Write a list"),
    ("protocol", "null", "Input should be 'all', 'xy' or 'a', not 'null'", "Give each"),
    ("streaming", "yes", "Input should be a valid boolean, not 'yes'", "Write true or false"),
    ("experiment", "a/../b", "experiment: String should match", "Give each"),
]
PLACES = [
    ("no file", lambda home: ["run", home.path / FILE], "can't be read: No such file", EXAMPLE),
    ("a folder", lambda home: ["run", _made(home.path / FILE)], "can't be read: Is a directory", EXAMPLE),
    ("a link to itself", lambda home: ["run", _loop(home.path / FILE)], "can't be read: Too many levels", EXAMPLE),
]
SYSTEMS = [
    ("a collection of half a character", {"collection": "\ud800"}, "no such collection", "\\ud800", "Give one of"),  # of sound parameters, what no experiment can do
    ("an unknown system", {"systems": "[bm26]"}, "unknown system 'bm26'", "systems", "Known are"),
    ("no system", {"systems": "[]"}, "no system to search with", "systems", "Name one"),
    ("an unknown view", {"query_view": "tacdx"}, "tacdx", "query_view", "Give"),
    ("an unknown measure", {"measures": "[bpref]"}, "bpref has no meaning", "measures", "Leave it out"),
    ("a run file under a system's name", {"run_files": "{bm25: x.trec}"}, "a run file can't be named 'bm25'", "run_files",
     "Give it a short name"),
    ("a run file that is not there", {"run_files": "{mine: x.trec}"}, "there is no such run file", "x.trec", "Give a TREC"),
    ("an aggregation that is none", {"systems": "[bm25-passages]", "passage_aggregation": "best"},
     "no aggregation 'best'", "passage_aggregation", "Give maxP"),
    ("a sweep of an aggregation that is none", {"systems": "[bm25-passages]", "sweep_lengths": "[64]",
                                                "sweep_aggregations": "[best]"},
     "no aggregation 'best'", "sweep_aggregations", "Give maxP"),
    ("a service without an address", {"systems": "[service]"}, "the service has no address", "service_url", "Set it"),
    ("a token that is not there", {"systems": "[service]", "service_url": "http://127.0.0.1:9/",
                                   "service_token_env": "NO_SUCH_VARIABLE"}, "no variable of the name",
     "service_token_env", "Set the variable"),
    ("an address with a user", {"systems": "[service]", "service_url": "http://a:b@127.0.0.1:9/"}, "holds a user",
     "service_url", "Give the bare address"),
    ("an object without a name", {"systems": "[object]", "object_system": "os"}, "module:name", "object_system: os",
     "Give one such as"),
    ("an object that is not there", {"systems": "[object]", "object_system": "no_such_module:X"}, "no_such_module",
     "object_system", "."),
    ("a model that is nowhere", {"systems": "[embedding]", "embedding_model": "nowhere"}, "there is no model 'nowhere'",
     "embedding_model", "Give"),
    ("outputs that are a file", {"systems": "[bm25]", "outputs": FILE}, "the outputs folder can't be used", FILE,
     "Name another"),
    ("a cluster that does not answer", {"systems": "[bm25]", "engine": "dask", "scheduler": "tcp://127.0.0.1:9"},
     "the scheduler can't be reached", "tcp://127.0.0.1:9", "Give the address"),
]


def _made(path):
    path.mkdir()
    return path


def _loop(path):
    path.symlink_to(path)
    return path


def _file(raw: str | bytes):
    def make(home):
        path = home.path / FILE
        path.write_bytes(raw if isinstance(raw, bytes) else raw.encode("utf-8", "surrogatepass"))
        return ["run", path]
    return make


def _experiment(values: dict):
    """A whole experiment on a tiny collection, which ends before its first notebook."""
    def make(home):
        folder = home.collection(home.path)
        home.run(name=FILE)
        given = {"collection": str(folder), "outputs": str(home.path / "out"), "query_view": "ta", "corpus_view": "ta",
                 **{n: str(home.path / v) if n == "outputs" else v for n, v in values.items()}}
        return ["run", *(word for name, value in given.items() for word in ("-p", name, value))]
    return make


DAMAGES = [
    *(Damage(name, _file(text), what, FILE, do) for name, text, what, do in TEXTS),
    *(Damage(name, _file(raw), what, FILE, do) for name, raw, what, do in RAW),
    *(Damage(f"{name}: {value[:40]}", _file(f"{name}: {value}\n"), what, FILE, do) for name, value, what, do in VALUES),
    *(Damage(f"-p {name} {value[:30]} ({len(value)})", lambda home, n=name, v=value: ["run", "-p", n, v], what, "-p", do)
      for name, value, what, do in GIVEN),
    *(Damage(name, make, what, FILE, do) for name, make, what, do in PLACES),
    *(Damage(name, _experiment(values), *said) for name, values, *said in SYSTEMS),
]
# what is read otherwise than by YAML 1.1: (text of a file, the parameter, its value)
READ = [
    ("experiment: no", "experiment", "no"), ("experiment: on", "experiment", "on"), ("experiment: y", "experiment", "y"),
    ("collection: 12:30", "collection", "12:30"), ("collection: 2020-01-01", "collection", "2020-01-01"),
    ("collection: 1_000", "collection", "1_000"), ("revision: 0x12", "revision", "0x12"),
    ("depth: 010", "depth", 10), ("seed: 0", "seed", 0), ("bm25_k1: 1e0", "bm25_k1", 1.0), ("bm25_k1: 2", "bm25_k1", 2.0),
    ("sample: ~", "sample", None), ("sample:", "sample", None), ("streaming: True", "streaming", True),
    ("embedding_query_prompt: 'query: '", "embedding_query_prompt", "query: "),
    ("\ufeffdepth: 7", "depth", 7), ("depth: 7\r\nseed: 3\r\n", "depth", 7), ("{depth: 7}", "depth", 7),
    ("systems: &a [bm25]\nmeasures: [RR]", "systems", ["bm25"]), ("collection: براءة", "collection", "براءة"),
]
ACCEPTED: list[Accepted] = []
