"""Damaged registries of a user: the file that KIT_REGISTRY names, met by `kit score`."""

from damage.harness import Damage

D = "0123456789abcdef" * 4
PRINTS = f"{{queries: '{D}', corpus: '{D}', qrels: '{D}', together: '{D}'}}"
ENTRY = f"mine:\n  environment: mine\n  layout: sophia\n  licence: CC0\n  attribution: me\n  generations:\n    mine-1: {PRINTS}\n"
UNREADABLE, MEND = "the registry can't be read", "Mend the file, or move it away"
BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{b}: &{b} [{', '.join(['*' + a] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi"))
TEXTS = [  # a registry's text, what is said of it
    ("empty", "", UNREADABLE), ("a list", "- mine\n", "it is no list of collections"), ("a text", "mine\n", "it is no list"),
    ("a number", "5\n", "it is no list of collections"),
    ("cut", ENTRY[:-60], UNREADABLE), ("an open bracket", "mine: [\n", UNREADABLE),
    ("an entry that is a text", "mine: here\n", "mine: it is no entry"), ("an entry that is null", "mine:\n", "mine: it is no"),
    ("a number as name", "5: {}\n", "5: it is no entry"),
    ("a key twice", ENTRY + ENTRY, "the key 'mine' stands twice"),
    ("an object of Python", "mine: !!python/object/apply:os.getcwd []\n", "could not determine a constructor"),
    ("anchors that explode", BOMB, "an alias stands for an entry"),
    ("a deep nest", "mine: " + "[" * 100_000, "nested too deeply"),
    ("NUL", "mine: \0\n", UNREADABLE),
    ("no environment", ENTRY.replace("  environment: mine\n", ""), "mine: environment: Field required"),
    ("no licence", ENTRY.replace("  licence: CC0\n", ""), "mine: licence: Field required"),
    ("an unknown field", ENTRY + "  quality: high\n", "mine: quality: Extra inputs"),
    ("an environment that is a path", ENTRY.replace("environment: mine", "environment: ../../x"), "mine: environment: String"),
    ("an environment of a number", ENTRY.replace("environment: mine", "environment: 5"), "mine: environment: Input"),
    ("a digest that is cut", ENTRY.replace(f"corpus: '{D}'", "corpus: 'abc'"), "corpus: String should match"),
    ("a digest in capitals", ENTRY.replace(f"corpus: '{D}'", f"corpus: '{D.upper()}'"), "corpus: String should match"),
    ("a digest less", ENTRY.replace(f"qrels: '{D}', ", ""), "qrels: Field required"),
    ("a generation that is a path", ENTRY.replace("mine-1", "../x"), "mine: generations"),
    ("generations that are a list", ENTRY.partition("  generations")[0] + "  generations: [a]\n", "mine: generations: Input"),
    ("counts below nothing", ENTRY + "  counts: {queries: -1}\n", "mine: counts.queries: Input should be greater"),
    ("counts of texts", ENTRY + "  counts: {queries: many}\n", "mine: counts.queries: Input should be a valid integer"),
    ("a hub id that is a path", ENTRY + "  hub: ../x\n", "mine: hub: String should match"),
    ("a published value that is a text", ENTRY + "  calibration: [good]\n", "mine: calibration.0: Input"),
]
RULES = [  # what it may not say of others
    ("the kit's own generation", f"mini:\n  generations:\n    mini-1: {PRINTS}\n", "the generation 'mini-1' of mini is the kit's own",
     "Take it out of this file"),
    ("the kit's own environment", ENTRY.replace("environment: mine", "environment: mini"), "rule 2, identical conditions",
     "Give it an environment of its own"),
    ("another name than its environment's", ENTRY.replace("environment: mine", "environment: theirs"), "has no hub id and another "
     "environment, 'theirs'", "Name it like its environment"),
    ("two corpora under one name", ENTRY + f"    mine-2: {PRINTS.replace(f'corpus: {D!r}', f'corpus: {D[::-1]!r}')}\n",
     "the environment 'mine' is the name of one corpus", "Take that generation out"),
]


def _file(raw):
    def make(home):
        (home.path / "registry.yaml").write_bytes(raw if isinstance(raw, bytes) else raw.encode())
        return home.score(home.collection(home.path))
    return make


def _lay(lay):
    def make(home):
        lay(home.path / "registry.yaml")
        return home.score(home.collection(home.path))
    return make


DAMAGES = [
    *(Damage(f"a registry: {name}", _file(text), what, "registry.yaml", MEND) for name, text, what in TEXTS),
    *(Damage(f"a registry: {name}", _file(text), what, "registry.yaml", do) for name, text, what, do in RULES),
    Damage("a registry that is no UTF-8", _file(b"\xff\xfe"), UNREADABLE, "registry.yaml", MEND),
    Damage("a registry that is a folder", _lay(lambda p: p.mkdir()), UNREADABLE, "registry.yaml", MEND),
]
