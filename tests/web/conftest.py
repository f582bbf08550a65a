"""One server for all tests of the page that leave it as it is; to it each is another person."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from sayso.audio.wav import write
from tests.e2e.speech import Voice
from tests.kernels import lend_kernels
from tests.rig import Server, free_port
from tests.scripted_model import ScriptedModel

PEOPLE = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Site:
    """A server, its language model, and a person in it whom nobody else shares."""

    server: Server
    model: ScriptedModel
    person: str

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.port}/"


@pytest.fixture(scope="session")
def long_lived(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Server, ScriptedModel]]:
    home = tmp_path_factory.mktemp("server")
    lend_kernels(home)
    flags = (
        *("--network", "127.0.0.1", "--set=listen.announce=no", "--set=code.upload_mb=1"),
        *(f"--set=listen.{name}={free_port()}" for name in ("network_port", "trust_port")),
        "--set=gateway.strangers=64",
    )
    port = free_port()
    foreign = f"--set=listen.names=insecure.test:{port}"
    with (
        ScriptedModel(key="a-key-for-tests") as model,
        Server(home, model, (*flags, foreign), port=port) as server,
    ):
        yield server, model


@pytest.fixture
def site(long_lived: tuple[Server, ScriptedModel]) -> Iterator[Site]:
    server, model = long_lived
    yield Site(server, model, person=f"person {next(PEOPLE)}")
    model.forget()


@pytest.fixture(scope="session")
def question(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the microphone hears."""
    path = tmp_path_factory.mktemp("sound") / "question.wav"
    Voice().speak("What is the capital of France?", path)
    return path


@pytest.fixture(scope="session")
def silence(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the microphone hears where nobody speaks."""
    path = tmp_path_factory.mktemp("sound") / "silence.wav"
    write(path, bytes(2 * 16_000), 16_000)
    return path
