"""Vectors on disk: what is kept, what goes on after a stop, and what a damage costs."""

import json

import numpy as np
import pytest

from kit.retrieval import vectors
from kit.retrieval.vectors import ARRAY, RECORDS, Encoded, keep

TEXTS = [f"text {i}" for i in range(10)]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(vectors, "BLOCK", 3)  # of 3, 3, 3 and 1 texts


class Encoder:
    """Vectors that say which text they are of; it notes what it is asked, and may stop."""

    def __init__(self, stop_at: str = ""):
        self.asked, self.stop_at = [], stop_at

    def __call__(self, texts: list[str]) -> Encoded:
        if self.stop_at in texts:
            raise KeyboardInterrupt
        self.asked += texts
        return Encoded(np.array([vector_of(t) for t in texts]), sum("0" in t for t in texts))


def vector_of(text: str) -> np.ndarray:
    return np.frombuffer(text.ljust(8).encode()[:8], np.uint8).astype(np.float32) / 3


def kept(folder, encoder, texts=TEXTS, dtype="float32", key=("k",)) -> Encoded:
    return keep(folder, list(key), len(texts), 8, dtype, iter(texts), encoder, "texts")


def expected(texts=TEXTS, dtype="float32"):
    return np.array([vector_of(t) for t in texts], dtype)


def only(folder, name):
    path, = folder.rglob(name)
    return path


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_rows_come_in_the_texts_order_and_are_not_encoded_again(tmp_path, dtype):
    first, again, without = Encoder(), Encoder(), Encoder()
    made = kept(tmp_path, first, dtype=dtype)
    assert (made.vectors == expected(dtype=dtype)).all() and made.vectors.dtype == dtype
    assert isinstance(made.vectors, np.memmap) and not made.vectors.flags.writeable
    second = kept(tmp_path, again, dtype=dtype)
    assert again.asked == [] and (second.vectors == made.vectors).all() and second.cut == made.cut == 1
    assert (kept(None, without, dtype=dtype).vectors == made.vectors).all()


@pytest.mark.parametrize("stop", range(10))
def test_a_stopped_encoding_goes_on_from_its_last_block(tmp_path, stop):
    first, second = Encoder(stop_at=f"text {stop}"), Encoder()
    with pytest.raises(KeyboardInterrupt):
        kept(tmp_path, first)
    assert (kept(tmp_path, second).vectors == expected()).all()
    assert first.asked == TEXTS[:stop // 3 * 3] and second.asked == TEXTS[stop // 3 * 3:]


def test_rows_that_were_written_without_a_record_do_not_count(tmp_path, monkeypatch):
    def dying(*_):
        raise KeyboardInterrupt
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(vectors._Array, "_digest_of_rows", dying)  # between the rows and their record
        kept(tmp_path, Encoder())
    second = Encoder()
    assert (kept(tmp_path, second).vectors == expected()).all() and second.asked == TEXTS


@pytest.mark.parametrize(("byte", "block"), [(-1, 3), (-32 * 10, 0), (-32 * 5, 1)])
def test_a_damaged_block_is_encoded_again_and_no_other(tmp_path, byte, block):
    kept(tmp_path, Encoder())
    path = only(tmp_path, ARRAY)
    raw = bytearray(path.read_bytes())
    raw[byte] ^= 1
    path.write_bytes(raw)
    again = Encoder()
    assert (kept(tmp_path, again).vectors == expected()).all()
    assert again.asked == TEXTS[3 * block:3 * block + 3]


@pytest.mark.parametrize("spoil", [
    lambda path: path.write_bytes(path.read_bytes()[:-40]), lambda path: path.write_bytes(b""),
    lambda path: path.unlink(), lambda path: path.write_bytes(b"\x93NUMPY" + bytes(20)),
    lambda path: np.save(path, np.zeros((10, 7), np.float32)),
    lambda path: np.save(path, np.array([{}]), allow_pickle=True)])
def test_an_array_that_is_not_whole_is_made_anew(tmp_path, spoil):
    kept(tmp_path, Encoder())
    spoil(only(tmp_path, ARRAY))
    again = Encoder()
    assert (kept(tmp_path, again).vectors == expected()).all() and again.asked == TEXTS


@pytest.mark.parametrize("tail", ['{"block": 3, "si', "\x00", "[]", '{"block": 3}', "null"])
def test_a_record_that_a_kill_has_cut_is_none(tmp_path, tail):
    kept(tmp_path, Encoder())
    path = only(tmp_path, RECORDS)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:-1], tail]))
    again, last = Encoder(), Encoder()
    assert (kept(tmp_path, again).vectors == expected()).all() and again.asked == TEXTS[9:]
    kept(tmp_path, last)
    assert last.asked == []


@pytest.mark.parametrize("changed", [0, 4, 9])
def test_other_texts_get_an_array_of_their_own_and_leave_the_first_alone(tmp_path, changed):
    first = kept(tmp_path, Encoder()).vectors
    texts = [*TEXTS[:changed], "other", *TEXTS[changed + 1:]]
    other = Encoder()
    assert (kept(tmp_path, other, texts).vectors == expected(texts)).all()
    assert other.asked[0] == texts[changed // 3 * 3]  # what went before is copied
    assert (first == expected()).all()
    again = Encoder()
    assert (kept(tmp_path, again).vectors == expected()).all()
    assert (kept(tmp_path, again, texts).vectors == expected(texts)).all() and again.asked == []


@pytest.mark.parametrize("change", [{"key": ("other",)}, {"dtype": "float16"}, {"texts": TEXTS[:9]}])
def test_another_key_type_or_number_has_an_array_of_its_own(tmp_path, change):
    kept(tmp_path, Encoder())
    again = Encoder()
    kept(tmp_path, again, **change)
    assert again.asked == list(change.get("texts", TEXTS))
    assert len(list(tmp_path.rglob(ARRAY))) == 2


def test_blocks_of_another_size_do_not_count(tmp_path, monkeypatch):
    kept(tmp_path, Encoder())
    monkeypatch.setattr(vectors, "BLOCK", 4)
    assert (kept(tmp_path, Encoder()).vectors == expected()).all()


def test_no_text_has_no_vector(tmp_path):
    for folder in (tmp_path, None):
        made = kept(folder, Encoder(), [])
        assert made.vectors.shape == (0, 8) and made.cut == 0


def test_a_record_names_texts_and_bytes(tmp_path):
    kept(tmp_path, Encoder())
    records = [json.loads(line) for line in only(tmp_path, RECORDS).read_text().split("\n") if line]
    assert [r["block"] for r in records] == [0, 1, 2, 3]
    assert all(len(r["texts"]) == len(r["bytes"]) == 64 for r in records)
