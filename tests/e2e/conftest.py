"""Fixtures of the end-to-end tests: one kernel environment, one server, their own recogniser."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.speech import Voice
from tests.kernels import lend_kernels
from tests.rig import Server
from tests.scripted_model import ScriptedModel


@pytest.fixture(scope="session")
def voice() -> Voice:
    """Speaks questions, and listens to answers."""
    return Voice()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A fresh home whose kernel environment was made before."""
    lend_kernels(tmp_path)
    return tmp_path


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel(key="a-key-for-tests") as scripted:
        yield scripted


@pytest.fixture
def server(home: Path, model: ScriptedModel) -> Iterator[Server]:
    with Server(home, model) as running:
        yield running
