"""What pins a generation of the data: sha256 over canonical rows.

A row is the JSON array of its columns in the layout's order, UTF-8, with null and "" kept apart.
A table is the sha256 over its rows' digests in ascending order, so that neither the order of the
rows nor their distribution over files nor compression matters, and one changed character does.
"""

import hashlib
import json
from collections.abc import Iterable

from kit.collection.schema import FEATURES


def fingerprint(collection, columns: dict = FEATURES) -> dict[str, str]:
    """The sha256 (hex) of each table, and of all of them under "together".

    columns: {table: names of its columns, in order}; by default Sophia's three.
    """
    prints = {table: table_fingerprint(collection, table, columns) for table in columns}
    text = json.dumps(prints, sort_keys=True)
    return {**prints, "together": hashlib.sha256(text.encode()).hexdigest()}


def table_fingerprint(collection, table: str, columns: dict = FEATURES) -> str:
    """The sha256 (hex) of one table; rows are read in batches."""
    return together(row_digests(collection, table, columns))


def row_digests(collection, table: str, columns: dict = FEATURES) -> list[bytes]:
    """The sha256 of each row of a table, in its order; rows are read in batches."""
    names, digests = list(columns[table]), []
    for batch in collection.batches(table, names):
        for row in zip(*(batch[name] for name in names)):
            digests.append(hashlib.sha256(_canonical(row)).digest())
    return digests


def together(digests: Iterable[bytes]) -> str:
    """The sha256 (hex) of a table by the digests of its rows, in whatever order they come."""
    whole = hashlib.sha256()
    for digest in sorted(digests):
        whole.update(digest)
    return whole.hexdigest()


def _canonical(row: tuple) -> bytes:
    return json.dumps(row, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()
