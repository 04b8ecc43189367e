"""How words are spread: by hand, and generated collections against full texts of patents."""

import gzip
import json
from itertools import islice

import pytest

from kit.collection.generated import write_generated
from kit.collection.sources import open_collection
from kit.text.spread import spread
from kit.text.views import texts, view_of
from kit.text.words import count_terms


def test_spread_of_three_texts():
    found = spread(count_terms(["to be or not to be", "to do", "to be"])[0])
    assert found["documents"] == 3 and found["terms"] == 5
    assert found["tokens mean"] == pytest.approx(10 / 3) and found["tokens median"] == 2
    assert found["distinct mean"] == pytest.approx(8 / 3) and found["distinct p90"] == 3.6
    assert found["postings of terms in over 50%"] == pytest.approx(5 / 8)  # to 3, be 2
    assert found["postings of terms in over 20%"] == 1


def test_generated_texts_are_spread_as_full_texts_are(shared, tmp_path):
    """The same number of both, for shares hang on it. Real texts are longer (12,600 words against
    6,000, the parameter), and have as many different words."""
    with gzip.open(shared / "data" / "full-texts" / "documents.jsonl.gz", "rt") as lines:
        rows = [json.loads(line) for line in islice(lines, 200)]
    real = spread(count_terms(
        view_of(row[f] for f in ("title", "abstract", "claims", "description")) for row in rows)[0])
    home = write_generated(tmp_path / "made", documents=200, queries=1, pairs=1)
    made = spread(count_terms(texts(open_collection(str(home)), "corpus", "tacd"))[0])
    for name in ("distinct mean", "distinct median", "distinct p90"):
        assert made[name] == pytest.approx(real[name], rel=.15), name
    assert made["terms"] == pytest.approx(real["terms"], rel=.2)
    for share in ("5%", "10%", "20%", "50%"):
        name = f"postings of terms in over {share}"
        assert made[name] == pytest.approx(real[name], abs=.08), name
    assert 5_000 < made["tokens mean"] < 7_000 < real["tokens mean"]
