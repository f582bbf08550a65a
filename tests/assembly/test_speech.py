"""Ears and voice, while they load."""

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path

from sayso.protocol.home import Home
from sayso.server.assembly.speech import SpeechParts
from sayso.server.models import InstalledModels
from sayso.server.observability.metrics import Part, ServerMetrics
from sayso.server.settings import Settings
from sayso.server.settings.schema import Ears
from tests.server.running_server import WAIT_S


async def test_while_ears_and_voice_load_a_monitor_sees_that_they_are_not_ready(
    tmp_path: Path,
) -> None:
    telemetry = ServerMetrics()
    known: asyncio.Queue[str] = asyncio.Queue()

    def watch(name: str, look: Callable[[], Part]) -> None:
        telemetry.watch_part(name, look)
        known.put_nowait(name)

    home = Home(tmp_path, tmp_path, tmp_path)
    async with SpeechParts(home, Settings(), watch) as senses, asyncio.timeout(WAIT_S):
        for _ in ("ears", "voice"):
            loading = f'sayso_part_ready{{part="{await known.get()}"}} 0.0'
            assert loading in telemetry.text().decode()
        await asyncio.gather(senses.hearing(), senses.speaking())
        assert not telemetry.troubles()


async def test_of_ears_that_cannot_be_loaded_it_is_said_what_to_do(tmp_path: Path) -> None:
    telemetry = ServerMetrics()
    home, model = Home(tmp_path, tmp_path, tmp_path), tmp_path / "model"
    shutil.copytree(InstalledModels(home).starter("ears").path, model)
    (model / "model.bin").write_bytes(b"not a model" * 1_000)
    settings = Settings(ears=Ears(model=str(model)))
    async with SpeechParts(home, settings, telemetry.watch_part) as senses, asyncio.timeout(WAIT_S):
        await senses.hearing()
        assert "Fetch it again" in telemetry.troubles()["ears"].detail
