"""Texts whose bytes are no UTF-8: Parquet files may hold any."""

import pyarrow as pa


def as_bytes(column: pa.ChunkedArray) -> pa.Array:
    """A column with every text in it, however deep, as bytes."""
    array = column.combine_chunks()
    if isinstance(array, pa.ChunkedArray):  # of no chunk
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
    return array.view(_bytes_type(array.type))


def _bytes_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_string(kind):
        return pa.binary()
    if pa.types.is_large_string(kind):
        return pa.large_binary()
    if pa.types.is_list(kind):
        return pa.list_(_bytes_type(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([(f.name, _bytes_type(f.type)) for f in kind])
    return kind


def escaped(value):
    """Bytes, however deep, as text."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, list):
        return [escaped(v) for v in value]
    return {k: escaped(v) for k, v in value.items()} if isinstance(value, dict) else value


def is_utf8(value) -> bool:
    if isinstance(value, (list, dict)):
        return all(map(is_utf8, value.values() if isinstance(value, dict) else value))
    try:
        return not isinstance(value, bytes) or bool(value.decode() or True)
    except UnicodeDecodeError:
        return False
