"""What a system may know of the corpus before it reads a text."""

from typing import NamedTuple

import pyarrow as pa

from kit.text.views import VIEWS, declaration


class Corpus(NamedTuple):
    """key: what the texts hang on, as plain data; it says nothing of their order.
    size: bytes of the view's fields, not cleaned yet; None where they are streamed."""

    key: dict
    size: int | None


def corpus_of(collection, view: str) -> Corpus:
    """The corpus of a collection under a view."""
    return Corpus({"corpus": collection.fingerprints["corpus"], "view": declaration(view)},
                  _size(collection.tables["corpus"], VIEWS[view]))


def _size(data, fields: tuple[str, ...]) -> int | None:
    table = getattr(data, "data", None)
    if not hasattr(table, "column"):
        return None
    columns = (table.column(name) for name in fields if name in table.column_names)
    return sum(chunk.nbytes for column in columns for chunk in pa.chunked_array(column).chunks)
