"""Log lines carry the ids of device, conversation, turn and run, and nothing that was said."""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

import pytest

from sayso.protocol import messages as m
from sayso.protocol.home import Home
from sayso.server.agent.llm.model import ChatMessage
from sayso.server.log_context import conversation_id, log_ids, no_log_ids
from sayso.server.observability import server_log
from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.grants import Grants
from sayso.server.runtimes.interpreter import CannotStartError, Interpreter
from sayso.server.runtimes.persistent_runtime import PersistentRuntime
from sayso.server.runtimes.protection.folder_identity import Identity
from sayso.server.runtimes.resources.watch import ResourceWatch
from sayso.server.runtimes.runtime import Ending, Output
from sayso.server.runtimes.sandbox.self_test.proof import SandboxReport
from sayso.server.speech.recognition.recognizer import Transcript
from sayso.server.speech.synthesis.synthesizer import Sound
from sayso.server.turn import events
from tests.observability.logging_home import logging_home
from tests.plain_model import PlainModel
from tests.server.running_server import running_server, until
from tests.speech.sounds import voice
from tests.speech_doubles import ScriptedRecognizer, ToneSynthesizer

log = logging.getLogger("sayso.server.tests")

PARTS = ("ears", "model", "run", "voice")

SAID = "kettledrum"
"""What is said, written and printed in the spoken turn, and stands nowhere else."""


def lines() -> list[dict[str, str]]:
    home = Home.find()
    return [json.loads(line) for line in server_log.kept_lines(home)]


async def test_ids_follow_the_work_into_its_tasks_and_threads_and_end_with_it() -> None:
    async def work() -> None:
        log.info("task")
        await asyncio.to_thread(log.info, "thread")

    with logging_home():
        with log_ids(device="kitchen", conversation="main", turn=""):
            task = asyncio.create_task(work())
            with log_ids(run="r1"):
                log.info("run")
            with no_log_ids():
                log.info("all")
        log.info("after")
        await task
        told = {line["text"]: line for line in lines()}
    assert (told["run"]["device"], told["run"]["run"]) == ("kitchen", "r1")
    assert "turn" not in told["run"]
    for name in ("task", "thread"):
        assert (told[name]["conversation"], told[name]["device"]) == ("main", "kitchen")
        assert "run" not in told[name]
    for name in ("all", "after"):
        assert set(told[name]) == set(server_log.LINE_FIELDS)


def test_a_line_that_waits_for_the_start_carries_the_ids_of_its_own_time(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with logging_home():
        with log_ids(device="kitchen", turn="3"):
            log.info("early")
        log.warning("late")
        early, late = capsys.readouterr().err.splitlines()
    assert early.endswith("sayso.server.tests: device=kitchen turn=3: early")
    assert late.endswith("sayso.server.tests: late")


def test_a_device_is_called_nothing_that_forges_a_line_or_holds_a_secret(
    capsys: pytest.CaptureFixture[str],
) -> None:
    token = "aB3" + "x" * 37 + "Y-_"
    with logging_home():
        for name in ("a turn=9", "\x1b[2J\nb", token, "c" * 10_000):
            with log_ids(device=name):
                log.warning("here")
        shown, kept = capsys.readouterr().err, lines()
    assert 'device="a turn=9"' in shown
    assert len(shown.splitlines()) == len(kept) == 4
    assert "\x1b" not in shown + "".join(line["device"] for line in kept)
    assert token not in shown + json.dumps(kept)
    assert len(kept[-1]["device"]) < 100


def test_no_name_that_a_person_gave_a_conversation_is_in_the_log() -> None:
    assert conversation_id("main") == "main"
    assert conversation_id("2026-11-19-2") == "2026-11-19-2"
    assert "divorce" not in conversation_id("my-divorce")
    assert conversation_id("my-divorce") != conversation_id("my-diary")


async def test_what_outlives_a_run_carries_the_ids_of_the_next_one() -> None:
    async def no_interpreter() -> Interpreter:
        await asyncio.sleep(0)
        raise CannotStartError("There is none.")

    async def run_it(runtime: PersistentRuntime, name: str) -> None:
        with log_ids(run=name, turn=name):
            [_ async for _ in runtime.run("1")]

    with logging_home():
        with log_ids(conversation="main", device="kitchen"):
            watch = ResourceWatch()
            runtime = PersistentRuntime("python", no_interpreter, watch)
            await run_it(runtime, "r1")
            await run_it(runtime, "r2")
            runtime.prepare()
            await until(lambda: len(lines()) >= 3)
            await runtime.close()
        told = [(line.get("run"), line["conversation"]) for line in lines()]
    assert told[0] == ("r1", "main")
    assert ("r2", "main") in told
    assert told[-1] == (None, "main")
    assert "device" not in lines()[-1]


class Logging:
    """The parts of a spoken turn, each of which logs a line where it works."""

    class Ears(ScriptedRecognizer):
        async def transcribe(
            self, pcm: bytes, *, draft: bool = False, prompt: str = "", language: str = ""
        ) -> Transcript:
            log.info("ears")
            return await super().transcribe(pcm, draft=draft, prompt=prompt, language=language)

    class Voice(ToneSynthesizer):
        async def synthesize(self, text: str, *, speed: float = 1.0) -> Sound:
            log.info("voice")
            return await super().synthesize(text, speed=speed)

    class Model(PlainModel):
        def says(self, messages: Sequence[ChatMessage]) -> str:
            log.info("model")
            ran = len(messages) > 2  # the instructions, the request, and then what came of it
            return "All done." if ran else f"```python\nprint('{SAID}')\n```"

    class Runner(CodeRunner):
        refusal = ""
        languages = ("python",)

        async def run(self, language: str, code: str) -> AsyncGenerator[Output | Ending]:
            log.info("run")
            yield Ending("ok", 0.1, "")


@pytest.mark.virtual_time
async def test_every_part_of_a_spoken_turn_logs_its_ids_and_nothing_that_was_said(
    tmp_path: Path,
) -> None:
    def runner(place: Path, reach: Grants, _: Identity | None) -> CodeRunner:
        return Logging.Runner(place, None, SandboxReport(holds=False, remedy=""), reach)

    with logging_home(level="debug"):
        async with running_server(
            tmp_path,
            ears=Logging.Ears(lambda _: f"what is a {SAID}"),
            voice=Logging.Voice(),
            model=Logging.Model(),
            code_runner=runner,
        ) as server:
            desk = await server.device(speaks=True)
            heard = desk.seat.happened
            heard(events.ListenStarted(desk.name, 1))
            heard(events.AudioHeard(desk.name, 1, 0, voice(1)))
            heard(events.ListenStopped(desk.name, 1, 16_000))
            await until(lambda: desk.all(m.ApprovalRequest))
            (asked,) = desk.all(m.ApprovalRequest)
            assert isinstance(asked, m.ApprovalRequest)
            heard(events.ApprovalAnswered(desk.name, asked.id, asked.nonce, "yes", None))
            await until(lambda: desk.all(m.CodeStart))
            (started,) = desk.all(m.CodeStart)
            assert isinstance(started, m.CodeStart)
            await until(lambda: desk.sounds)
        written = lines()
    parts = {part: [line for line in written if line["text"] == part] for part in PARTS}
    for part, told in parts.items():
        assert told, part
        assert {line.get("conversation") for line in told} == {"main"}, part
        assert {line.get("device") for line in told} == {"desk"}, part
    for part in ("model", "run", "voice"):
        assert {line.get("turn") for line in parts[part]} == {"1"}, part
    assert {line.get("run") for line in parts["run"]} == {started.id}
    assert all(line.get("conversation") for line in written if line["room"] != "asyncio")
    assert SAID not in json.dumps(written)
