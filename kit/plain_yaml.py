"""YAML as a user reads it: plain values of version 1.2, each key once, nothing that grows or acts.

YAML 1.1, which PyYAML reads, takes `no` for false, `12:30` for 750, `1_000` for 1000, `010` for 8 and
`2020-01-01` for a date. Here these are texts, and 010 is ten; what asks for another kind refuses them.
"""

import re
from collections.abc import Hashable

import yaml

LONGEST = 1_000_000  # characters of a document
DEEPEST = 100  # levels within each other: PyYAML takes quadratic time over them
MOST = 100_000  # values of a document, each alias counted with all that it stands for
SHOWN = 60  # characters of a key in a message
_PLAIN = (("null", r"null|Null|NULL|~|", "nN~"), ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
          ("int", r"[-+]?[0-9]+", "-+0123456789"),
          ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
           "-+0123456789."))


class Bounded(yaml.SafeLoader):
    """PyYAML's own without objects, within bounds."""

    def fetch_flow_collection_start(self, kind):
        if self.flow_level >= DEEPEST:
            raise yaml.YAMLError("it is nested too deeply")
        super().fetch_flow_collection_start(kind)

    def add_indent(self, column):
        if len(self.indents) > DEEPEST:
            raise yaml.YAMLError("it is nested too deeply")
        return super().add_indent(column)

    def get_single_node(self):
        node = super().get_single_node()
        if node is not None and _size(node, {}) > MOST:
            raise yaml.YAMLError("its anchors stand for too much, or for themselves")
        return node


class _Loader(Bounded):
    """The same without merges and the kinds that only version 1.1 has."""

    yaml_implicit_resolvers: dict = {}

    def construct_mapping(self, node, deep=False):
        seen = set()
        for key, _ in node.value:
            made = self.construct_object(key, deep=True)
            if isinstance(made, Hashable) and made in seen:
                raise yaml.YAMLError(f"{str(made)[:SHOWN]!r} stands twice{key.start_mark}")
            if isinstance(made, Hashable):
                seen.add(made)
        return super().construct_mapping(node, deep)

    def flatten_mapping(self, node):
        """Leaves `<<` as the key that it is."""


for _kind, _form, _begins in _PLAIN:
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_kind}", re.compile(f"(?:{_form})$"),
                                  list(_begins) + [""] * (_kind == "null"))
_Loader.add_constructor("tag:yaml.org,2002:int", lambda loader, node: int(loader.construct_scalar(node)))


def read(text: str):
    """The value of a YAML document. Raises ValueError, in one sentence with line and column, for what
    is none, for a key that stands twice, a tag of an object, and for too much of anything."""
    if len(text) > LONGEST:
        raise ValueError(f"it has more than {LONGEST:,} characters")
    try:
        return yaml.load(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise ValueError(f"{error.problem or error.context}{place}"[:300]) from error
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())[:300]) from error
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def _size(node, known: dict[int, float]) -> float:
    """The values that a node stands for; of one that holds itself they have no end."""
    if id(node) not in known:
        known[id(node)] = float("inf")  # until it is counted
        parts = node.value if isinstance(node.value, list) else ()
        inner = (part for pair in parts for part in (pair if isinstance(pair, tuple) else (pair,)))
        known[id(node)] = 1 + sum(_size(part, known) for part in inner)
    return known[id(node)]
