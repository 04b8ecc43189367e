"""What a system may know of the corpus before it reads a text."""

from typing import NamedTuple

import pyarrow as pa

from kit.params import Params
from kit.text.views import VIEWS, declaration


class Corpus(NamedTuple):
    """key: what the texts hang on, as plain data; it says nothing of their order.
    size: bytes of the view's fields, not cleaned yet; None where they are streamed."""

    key: dict
    size: int | None


def corpus_of(collection, view: str) -> Corpus:
    """The corpus of a collection under a view."""
    return Corpus({"corpus": collection.fingerprints["corpus"], "view": declaration(view)},
                  size_of(collection, view))


def size_of(collection, view: str) -> int | None:
    """Bytes of the view's fields in the corpus, not cleaned yet; None where they are streamed."""
    table = getattr(collection.tables["corpus"], "data", None)
    if not hasattr(table, "column"):
        return None
    columns = (table.column(name) for name in VIEWS[view] if name in table.column_names)
    return sum(chunk.nbytes for column in columns for chunk in pa.chunked_array(column).chunks)


def on_cluster(params: Params):
    """Where the corpus lies in shards on a cluster (see cluster.py); None on one machine."""
    if params.engine == "kit":
        return None
    from kit.retrieval.cluster import Shards

    return Shards(params.scheduler, params.shards, params.collection, params.revision,
                  params.streaming, params.corpus_view)
