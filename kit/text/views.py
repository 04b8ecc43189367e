"""Views: named combinations of fields, cleaned, as a system sees them."""

from collections.abc import Iterator

from kit.errors import ParamsError
from kit.files import digest_of
from kit.text import cleaning

VIEWS = {
    "tacd": ("title", "abstract", "claims", "description"),
    "tac": ("title", "abstract", "claims"),
    "ta": ("title", "abstract"),
    **{name: (name,) for name in (
        "title", "abstract", "claims", "description", "adb", "iclm", "obj",
        "ai_title", "ai_claim_summary", "ai_obj", "ai_adv", "ai_ab", "ai_features",
        "text")},  # `text` is what a row is searched with (see kit/collection/rows.py)
}


def declaration(view: str) -> dict:
    """What a run states of its text: the view, its fields, the cleaner and a hash of it all.

    Raises ParamsError for an unknown view.
    """
    if view not in VIEWS:
        raise ParamsError(f"unknown view '{view}'", "query_view or corpus_view",
                          f"Give one of {', '.join(VIEWS)}")
    stated = {"view": view, "fields": list(VIEWS[view]), "joined_by": "newline",
              "cleaner": cleaning.declaration()}
    return {**stated, "sha256": digest_of(stated)}


def require_view(view: str, table: str) -> None:
    """Raises ParamsError for an unknown view, or a view of documents that only queries have."""
    declaration(view)
    if table == "corpus" and _is_of_queries(view):
        raise ParamsError(f"documents have no view '{view}'", "corpus_view",
                          f"Give one of {', '.join(v for v in VIEWS if not _is_of_queries(v))}")


def _is_of_queries(view: str) -> bool:
    return view.startswith("ai_") or view == "text"


def require_given(collection, query_view: str, corpus_view: str) -> None:
    """Raises ParamsError for a view that `require_view` refuses, or of which the collection's table
    has no column at all."""
    for table, name, view in (("queries", "query_view", query_view),
                              ("corpus", "corpus_view", corpus_view)):
        require_view(view, table)
        held = set(collection.tables[table].column_names)
        if not held.intersection(VIEWS[view]):
            given = [v for v, fields in VIEWS.items() if held.intersection(fields)]
            raise ParamsError(f"the {table} of this collection have no view '{view}'",
                              f"{name}, {collection.source}", f"Give one of {', '.join(given)}")


def join_list(value) -> str:
    """A list-valued field as one text; nulls in it are passed over."""
    if isinstance(value, list):
        return "\n".join(v for v in value if v)
    return value or ""


def texts(collection, table: str, view: str) -> Iterator[str]:
    """The view of each row of `queries` or `corpus`, in the table's order, in bounded memory."""
    for parts in fields(collection, table, view):
        yield "\n".join(parts)


def fields(collection, table: str, view: str) -> Iterator[list[str]]:
    """The cleaned fields of each row's view, the empty ones left out; the row's text is these,
    joined by newlines. In the table's order, in bounded memory."""
    require_view(view, table)
    names = list(VIEWS[view])
    for batch in collection.batches(table, names):
        for row in zip(*(batch[name] for name in names)):
            yield _filled(row)


class Titled:
    """The fields of each document's view, as `fields` gives them, with its title; read anew by each
    loop over it."""

    def __init__(self, collection, view: str):
        self._collection, self._view = collection, view

    def __iter__(self) -> Iterator[tuple[list[str], str]]:
        return zip(fields(self._collection, "corpus", self._view),
                   texts(self._collection, "corpus", "title"))


def view_of(values) -> str:
    """Cleaned fields joined by newlines; an empty field leaves no line."""
    return "\n".join(_filled(values))


def _filled(values) -> list[str]:
    cleaned = (cleaning.clean(join_list(value)) for value in values)
    return [text for text in cleaned if text]
