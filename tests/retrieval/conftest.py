"""A tiny random model in the hub's layout, for all that encodes."""

import shutil
from pathlib import Path

import pytest
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
from transformers import BertConfig, BertModel, BertTokenizer

LETTERS = "abcdefghijklmnopqrstuvwxyz"


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory) -> Path:
    """Two layers of 32 dimensions with random weights, saved as sentence-transformers does."""
    home = tmp_path_factory.mktemp("model")
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "valve", "pump", "seat",
                  *LETTERS, *("##" + c for c in LETTERS)]
    torch.manual_seed(1)
    bert = BertModel(BertConfig(
        vocab_size=len(vocabulary), hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=64, max_position_embeddings=64))
    bert.save_pretrained(home / "bert")
    BertTokenizer(vocab={t: i for i, t in enumerate(vocabulary)}, model_max_length=64).save_pretrained(home / "bert")
    whole = Transformer(str(home / "bert"), max_seq_length=32)
    SentenceTransformer(modules=[whole, Pooling(32, "mean")], device="cpu").save(str(home / "tiny"))
    return home / "tiny"


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
