"""A home for damaged inputs."""

import pytest
from damage.harness import Home


@pytest.fixture
def home(tmp_path, make_collection, make_rows, make_dapfam) -> Home:
    return Home(tmp_path, make_collection, make_rows, make_dapfam)
