"""The embedded language model's engine or weights are not as they should be: one sentence each."""

from collections.abc import Callable
from pathlib import Path

import pytest

from sayso.server.agent.llm.embedded import client as pocket_module
from sayso.server.agent.llm.embedded import process
from sayso.server.agent.llm.embedded.client import Pocket, PocketError
from sayso.server.agent.llm.model import ModelError
from sayso.server.models.machine import install_command

Engine = Callable[[str], None]


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """Puts a library in the place of the engine's real one, given its source."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    def write(source: str) -> None:
        (tmp_path / "xllamacpp.py").write_text(source)

    return write


@pytest.mark.needs("libgomp.so.1", "libgomp1")
@pytest.mark.parametrize("content", [None, b"no weights at all"])
async def test_weights_that_are_none_are_told_in_a_sentence(
    tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "model.gguf"
    if content is not None:
        path.write_bytes(content)

    async with Pocket(path) as pocket:
        with pytest.raises(PocketError, match=r"is no language model .* can load \(gguf_init"):
            await pocket.ready()
        with pytest.raises(ModelError):
            await pocket.ready()


async def refusal(weights: Path) -> str:
    async with Pocket(weights) as pocket:
        with pytest.raises(PocketError) as told:
            await pocket.ready()
    assert "\n" not in str(told.value)
    return str(told.value)


async def test_a_missing_engine_is_told_with_the_command_that_installs_it(
    engine: Engine, weights: Path
) -> None:
    engine("raise ImportError('no wheel for this machine')")

    sentence = await refusal(weights)

    assert "is not installed (no wheel for this machine)" in sentence
    assert f"`{install_command('xllamacpp', '--upgrade')}`" in sentence


async def test_a_library_that_the_engine_lacks_is_told_with_the_package_that_brings_it(
    engine: Engine, weights: Path
) -> None:
    engine("raise ImportError('libgomp.so.1: cannot open shared object file')")

    sentence = await refusal(weights)

    assert "lacks a library of the system (libgomp.so.1:" in sentence
    assert "`sudo apt install libgomp1`" in sentence


async def test_an_engine_of_another_version_is_told(engine: Engine, weights: Path) -> None:
    engine("class CommonParams:\n    __slots__ = ()\n")

    assert "of a version that Sayso does not know" in await refusal(weights)


async def test_a_processor_that_cannot_run_it_is_told(engine: Engine, weights: Path) -> None:
    engine("import os, signal\nos.kill(os.getpid(), signal.SIGILL)\n")

    assert "This processor lacks instructions" in await refusal(weights)


OPEN_ENGINE = """
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from types import SimpleNamespace

class CommonParams(SimpleNamespace):
    def __init__(self):
        super().__init__(
            model=SimpleNamespace(), cpuparams=SimpleNamespace(), cpuparams_batch=SimpleNamespace()
        )

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response({status})
        {header}
        self.end_headers()
    def log_message(self, *_): pass

ThreadingHTTPServer.server_bind = TCPServer.server_bind  # asks nobody for the address's name

class Server:
    def __init__(self, parameters):
        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.listening_address = f"http://127.0.0.1:{{server.server_address[1]}}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
"""


@pytest.mark.parametrize(
    ("status", "header"),
    [(200, ""), (401, "self.send_header('Access-Control-Allow-Origin', '*')")],
)
async def test_an_engine_that_answers_whoever_asks_is_not_used(
    engine: Engine, weights: Path, status: int, header: str
) -> None:
    engine(OPEN_ENGINE.format(status=status, header=header))

    assert "answers whoever asks, so it is not used" in await refusal(weights)


async def test_an_engine_that_cannot_live_is_left_alone_after_a_few_tries(
    engine: Engine, weights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pocket_module, "BACK_OFF_SECONDS", (0.0, 0.01))
    engine("import os, sys\nprint('0.00.1 E out of luck', file=sys.stderr)\nos._exit(3)")

    assert "ended 3 times (out of luck)" in await refusal(weights)


async def test_an_engine_that_never_answers_is_given_up(
    engine: Engine, weights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "START_SECONDS", 0.5)
    engine("import time\ntime.sleep(60)")

    assert "did not load in" in await refusal(weights)
