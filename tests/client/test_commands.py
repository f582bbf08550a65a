"""The `sayso` command on pipes: what scripts see, and what is said when something is wrong."""

import asyncio
import json
import signal
import subprocess
import sys
import wave
from array import array
from importlib.metadata import version
from pathlib import Path

import pytest

from sayso.audio.pcm import RATE
from sayso.audio.wav import write
from sayso.client.command import main
from sayso.protocol.messages import (
    ApprovalRequest,
    Approve,
    Bye,
    Error,
    ListenStop,
    SttFinal,
    TurnState,
)
from tests.client.programs import SOON, command, events, give_token, named, sayso
from tests.client.server_double import (
    RATE as SPEECH_RATE,
)
from tests.client.server_double import (
    Answer,
    Conversation,
    ServerDouble,
    Wire,
    hears,
    stay,
)

IDLE = TurnState("idle", "idle", "silent")


@pytest.fixture(autouse=True)
def token() -> Path:
    return give_token()


@pytest.fixture
def question(tmp_path: Path) -> Path:
    path = tmp_path / "q.wav"
    write(path, array("h", [500, -500] * (RATE // 4)).tobytes(), RATE)
    return path


@pytest.fixture
def no_token(token: Path) -> None:
    token.unlink()


async def talk(url: str, question: Path, *more: str) -> tuple[int, list[dict[str, object]], str]:
    ended = await sayso(
        "talk", "--server", url, "--mic", f"file:{question}", "--once", "--json", *more
    )
    return ended.code, events(ended.out), ended.told


class TestTalkOnFiles:
    @pytest.mark.slow
    async def test_a_question_is_spoken_and_its_answer_heard(
        self, question: Path, tmp_path: Path
    ) -> None:
        async with ServerDouble(Conversation(Answer(seconds=0.3))) as server:
            code, told, complaints = await talk(
                server.url, question, "--speaker", f"file:{tmp_path / 'a.wav'}"
            )
        assert (code, complaints) == (0, "")
        order = [
            "mic.pressed", "mic.released", "stt.final", "reply.delta", "audio.first_received",
            "audio.first_played", "audio.done", "metrics",
        ]  # fmt: skip
        names = [str(event["event"]) for event in told]
        assert sorted(order, key=names.index) == order
        times = [float(str(event["at"])) for event in told]
        assert times == sorted(times)
        pressed, released = (named(told, f"mic.{what}")[0] for what in ("pressed", "released"))
        spoken = float(str(released["at"])) - float(str(pressed["at"]))
        assert spoken == pytest.approx(0.5, abs=0.2)
        assert named(told, "listen.stop")[0]["samples"] == RATE // 2
        assert named(told, "audio.done")[0]["samples"] == int(SPEECH_RATE * 0.3)
        with wave.open(str(tmp_path / "a.wav")) as file:
            assert file.getframerate() == SPEECH_RATE
            assert file.getnframes() == int(SPEECH_RATE * 0.3)
            assert any(file.readframes(1000))

    async def test_nobody_waits_at_pace_max(self, question: Path) -> None:
        async with ServerDouble(Conversation(Answer(seconds=30.0))) as server:
            code, told, _ = await talk(server.url, question, "--pace", "max")
        assert code == 0
        assert float(str(told[-1]["at"])) - float(str(told[0]["at"])) < 5
        assert named(told, "audio.done")[0]["samples"] == 30 * SPEECH_RATE

    @pytest.mark.parametrize(("given", "decision"), [((), "no"), (("--approve", "yes"), "yes")])
    async def test_code_runs_only_if_that_was_said_beforehand(
        self, question: Path, given: tuple[str, ...], decision: str
    ) -> None:
        async with ServerDouble(Conversation(Answer(code="1 + 1"))) as server:
            code, told, _ = await talk(server.url, question, "--pace", "max", *given)
        assert code == 0
        assert named(told, "approve")[0]["decision"] == decision
        assert named(told, "approve")[0]["sent"] is True
        assert len(named(told, "code.start")) == (decision == "yes")

    async def test_an_empty_transcript_ends_the_turn(self, question: Path) -> None:
        async with ServerDouble(Conversation(Answer(final=""))) as server:
            code, told, _ = await talk(server.url, question, "--pace", "max")
        assert code == 0
        assert named(told, "stt.final")[0].get("text") == ""
        assert named(told, "audio.first_received") == []

    async def test_code_of_another_device_is_not_approved(self, question: Path) -> None:
        answers: list[str] = []

        async def script(wire: Wire) -> None:
            wire.turn = 5
            await wire.say(TurnState("idle", "awaiting_approval", "silent"))
            await wire.say(ApprovalRequest("theirs", "n", "python", "1", "/"))
            while not isinstance(message := await wire.hear(), Bye):
                if isinstance(message, ListenStop):
                    wire.turn = 6
                    await wire.say(TurnState("idle", "thinking", "silent"))
                    await wire.say(ApprovalRequest("ours", "n", "python", "2", "/"))
                if isinstance(message, Approve):
                    answers.append(message.id)
                    await wire.say(IDLE)

        async with ServerDouble(script) as server:
            code, _, _ = await talk(server.url, question, "--pace", "max", "--approve", "yes")
        assert code == 0
        assert answers == ["ours"]

    async def test_a_failed_turn_is_told_and_the_code_says_so(self, question: Path) -> None:
        async def script(wire: Wire) -> None:
            await hears(wire, ListenStop)
            wire.turn = 1
            await wire.say(SttFinal("two"), TurnState("idle", "thinking", "silent"))
            await wire.say(Error("model_failed", "The model does not answer."), IDLE)
            await stay(wire)

        async with ServerDouble(script) as server:
            ended = await sayso(
                "talk", "--server", server.url, "--mic", f"file:{question}", "--once"
            )
        assert ended.code == 1
        assert ended.told.splitlines()[-1] == "The model does not answer."
        assert ended.told.count("The model does not answer.") == 1

    async def test_a_turn_that_never_ends_is_given_up(self, question: Path) -> None:
        async def script(wire: Wire) -> None:
            await hears(wire, ListenStop)
            wire.turn = 1
            await wire.say(TurnState("idle", "thinking", "silent"))
            await stay(wire)

        async with ServerDouble(script) as server:
            code, _, complaint = await talk(server.url, question, "--timeout", "1")
        assert (code, complaint) == (1, "The turn was not over after 1 seconds.\n")

    @pytest.mark.slow
    async def test_a_server_that_dies_in_mid_turn_is_told(self, question: Path) -> None:
        async def script(wire: Wire) -> None:
            await wire.say(TurnState("listening", "idle", "silent"))
            dying.set()
            await stay(wire)

        dying = asyncio.Event()
        async with ServerDouble(script) as server:
            talking = asyncio.create_task(talk(server.url, question))
            await dying.wait()
            await server.stop()
            code, _, complaint = await talking
        assert code == 1
        assert "No Sayso server answers" in complaint

    async def test_something_to_say_is_needed(self) -> None:
        ended = await sayso("talk", "--once", "--json")
        assert ended.code == 2
        assert "--mic file:PATH" in ended.sentence

    async def test_a_recording_that_is_missing_or_no_sound_is_told(self, tmp_path: Path) -> None:
        (tmp_path / "text.wav").write_text("no sound")
        for name, word in (("nothing.wav", "cannot be read"), ("text.wav", "not a WAV file")):
            ended = await sayso("talk", "--once", "--mic", f"file:{tmp_path / name}")
            assert ended.code == 1
            assert word in ended.sentence

    async def test_a_recording_without_a_word_is_told(self, tmp_path: Path) -> None:
        write(tmp_path / "short.wav", bytes(2 * RATE // 10), RATE)
        async with ServerDouble() as server:
            ended = await sayso(
                "talk", "--once", "--server", server.url, "--mic", f"file:{tmp_path / 'short.wav'}"
            )
        assert ended.code == 1
        assert "too short to hold a word" in ended.told


class TestTrouble:
    @pytest.mark.slow
    async def test_without_a_server_it_says_how_to_start_one(self) -> None:
        ended = await sayso("ask", "--server", "ws://127.0.0.1:9/ws", "hello")
        assert ended.code == 1
        assert ended.sentence == (
            "No Sayso server answers at ws://127.0.0.1:9/ws: start it with `sayso serve`."
        )

    async def test_the_servers_address_may_stand_in_the_environment(self) -> None:
        async with ServerDouble() as server:
            ended = await sayso("ask", "two", environment={"SAYSO_SERVER": server.url})
        assert (ended.code, ended.out.strip()) == (0, "Two and two is four.")

    async def test_a_token_that_is_not_accepted_is_told(self) -> None:
        async with ServerDouble(token="another") as server:
            ended = await sayso("ask", "--server", server.url, "hello")
        assert ended.code == 1
        assert "does not accept our token" in ended.sentence

    async def test_a_token_file_that_others_can_read_is_told(self) -> None:
        give_token().chmod(0o644)
        async with ServerDouble() as server:
            ended = await sayso("ask", "--server", server.url, "hello")
        assert ended.code == 1
        assert "chmod 600" in ended.sentence

    async def test_ctrl_c_ends_it_with_130_and_without_a_word(self) -> None:
        async def script(wire: Wire) -> None:
            asked.set()
            await stay(wire)

        asked = asyncio.Event()
        async with ServerDouble(script) as server:
            process = await asyncio.create_subprocess_exec(
                *command("ask", "--server", server.url, "hello"),
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            async with asyncio.timeout(SOON):
                await asked.wait()
                process.send_signal(signal.SIGINT)
                out, told = await process.communicate()
        assert (process.returncode, out, told) == (130, b"", b"")

    async def test_a_fault_of_ours_is_one_sentence_and_a_traceback_only_on_wish(self) -> None:
        ended = await sayso("ask", "--server", "ws://[broken/ws", "hello")
        assert ended.code == 70
        assert "SAYSO_DEBUG=1" in ended.sentence
        wish = {"SAYSO_DEBUG": "1"}
        ended = await sayso("ask", "--server", "ws://[broken/ws", "hello", environment=wish)
        assert "Traceback" in ended.told

    def test_a_reader_that_has_gone_is_no_reason_to_complain(self) -> None:
        with subprocess.Popen(
            command("--help"), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.close()
            told = process.stderr.read()
        assert told == b""


class TestTheCommand:
    async def test_help_lists_the_verbs_of_every_room(self) -> None:
        ended = await sayso("--help")
        assert ended.code == 0
        for verb in ("talk", "ask", "doctor", "serve", "models", "settings"):
            assert f"\n  {verb}" in ended.out

    def test_version_and_unknown_verbs(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["--version"]) == 0
        assert capsys.readouterr().out == f"sayso {version('sayso')}\n"
        assert main(["tlak"]) == 2
        assert capsys.readouterr().err == "There is no `sayso tlak`; did you mean `sayso talk`?\n"
        assert main(["xyzzy"]) == 2
        assert "`sayso --help`" in capsys.readouterr().err

    async def test_a_verb_whose_room_is_not_installed_says_how_to_get_it(
        self, tmp_path: Path
    ) -> None:
        # As on a client alone: what the server's room needs cannot be imported.
        hide = tmp_path / "sitecustomize.py"
        hide.write_text(
            "import sys\n"
            "for name in ('litellm', 'jupyter_client', 'faster_whisper', 'piper', 'numpy'):\n"
            "    sys.modules[name] = None\n"
            "class Hidden:\n"
            "    def find_spec(self, name, path=None, target=None):\n"
            "        if name == 'sayso.server.commands.serve':\n"
            "            raise ModuleNotFoundError('No module', name='jupyter_client')\n"
            "sys.meta_path.insert(0, Hidden())\n"
        )
        ended = await sayso("serve", environment={"PYTHONPATH": str(tmp_path)})
        assert ended.code == 1
        assert "jupyter_client" in ended.sentence
        assert "pip install 'sayso[server]'" in ended.sentence

    async def test_doctor_tells_the_remedy_and_fails_when_something_is_bad(
        self, no_token: None
    ) -> None:
        ended = await sayso("doctor", "--json")
        findings = {finding["part"]: finding for finding in json.loads(ended.out)}
        assert ended.code == 1
        assert findings["token"]["state"] == "bad"
        assert "sayso serve" in findings["token"]["remedy"]


def test_the_client_is_light() -> None:
    script = (
        "import sys, sayso.client.commands.talk, sayso.client.commands.ask;"
        "heavy = ('numpy', 'rich', 'sounddevice', 'soxr', 'litellm', 'pydantic', 'sayso.server');"
        "print([name for name in heavy if name in sys.modules])"
    )
    out = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout
    assert out.strip() == "[]"
