"""A tiny random model in the hub's layout, for all that encodes."""

import shutil
from pathlib import Path

import pytest
from sentence_transformers import SentenceTransformer

LETTERS = "abcdefghijklmnopqrstuvwxyz"


@pytest.fixture(scope="session")
def model(model_folder) -> SentenceTransformer:
    """The tiny model; a test that sets anything on it puts it back."""
    return SentenceTransformer(str(model_folder), device="cpu")


@pytest.fixture(scope="session")
def tokenizer(model):
    return model.tokenizer


@pytest.fixture
def folder(model_folder, tmp_path) -> Path:
    """A copy that a test may spoil."""
    return Path(shutil.copytree(model_folder, tmp_path / "tiny"))
