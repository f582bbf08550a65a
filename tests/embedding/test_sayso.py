"""Sayso from Python: events as they come, nothing unasked, several at once, own tools."""

import asyncio
import os
import re
import shutil
import subprocess
import sys
from collections.abc import AsyncGenerator, Iterator, Mapping
from pathlib import Path

import pytest

from sayso.server import ChatFailed, Sayso
from sayso.server.agent.events import ApprovalRequest, CodeEnd, CodeOut, ReplyDelta, WorkDone
from sayso.server.agent.tools.function import Function
from sayso.server.runtimes.language import Place
from sayso.server.runtimes.runtime import Ending, Output, Runtime
from tests.kernels import lend_kernels
from tests.scripted_model import Reply, ScriptedModel, fails, runs, says

pytestmark = pytest.mark.filterwarnings("ignore:Accessing the 'model_.*fields' attribute")


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedModel]:
    monkeypatch.setenv("SAYSO_HOME", str(tmp_path))
    monkeypatch.setenv("SCRIPTED_KEY", "some-key")
    lend_kernels(tmp_path)
    with ScriptedModel() as model:
        yield model


def sayso(
    model: ScriptedModel,
    calls_tools: str = "yes",
    settings: Mapping[str, object] | None = None,
    **more: object,
) -> Sayso:
    own = {
        "language_model.model": "scripted",
        "language_model.api_base": model.url,
        "language_model.api_key_variable": "SCRIPTED_KEY",
        "language_model.calls_tools": calls_tools,
    }
    return Sayso(settings={**own, **(settings or {})}, **more)  # type: ignore[arg-type]


def test_a_chat_streams_events_and_asks_before_it_runs(model: ScriptedModel) -> None:
    model.add(runs("print(6 * 7)", "Let me see. "), says("It is ", "42."))
    asked: list[ApprovalRequest] = []

    def approve(question: ApprovalRequest) -> bool:
        asked.append(question)
        return True

    with sayso(model, approve=approve) as one:
        events = list(one.chat("six times seven", stream=True))
        assert "".join(e.text for e in events if isinstance(e, ReplyDelta)).endswith("It is 42.")
        assert [e.output.text for e in events if isinstance(e, CodeOut)] == ["42\n"]
        assert isinstance(events[-1], WorkDone)
        assert [question.code for question in asked] == ["print(6 * 7)"]
        roles = [(message.role, message.text.strip()) for message in one.messages]
        assert roles == [
            ("person", "six times seven"),
            ("sayso", "Let me see."),
            ("code", "print(6 * 7)"),
            ("output", "42"),
            ("sayso", "It is 42."),
        ]


def test_without_a_stream_it_is_as_safe_and_without_approve_the_answer_is_no(
    model: ScriptedModel, tmp_path: Path
) -> None:
    model.add(runs("open('made', 'w')"), says("What then?"))
    with sayso(model, workspace=tmp_path / "w") as one:
        assert one.chat("make a file") == "What then?"
        assert [m.status for m in one.messages if m.role == "output"] == ["refused"]
        one.mode = "workspace"
        model.add(runs("open('made', 'w').close()"), says("Done."))
        assert one.chat("make a file") == "Done."
    assert (tmp_path / "w" / "made").exists()


def test_code_can_be_changed_in_the_answer(model: ScriptedModel) -> None:
    model.add(runs("print('theirs')"), says("Done."))
    with sayso(model, approve=lambda _: "print('mine')") as one:
        assert one.chat("go") == "Done."
        assert one.messages[-2].text == "mine\n"


async def test_it_works_in_an_event_loop_and_several_at_once(model: ScriptedModel) -> None:
    model.add(says("One.", when="first"), says("Two.", when="second"))

    async def approve(question: ApprovalRequest) -> bool:
        await asyncio.sleep(0)
        return True

    async def ask(one: Sayso, text: str) -> str:
        return "".join(
            [e.text async for e in one.chat(text, stream=True) if isinstance(e, ReplyDelta)]
        )

    async with sayso(model, approve=approve) as one, sayso(model) as two:
        both = await asyncio.gather(ask(one, "first"), ask(two, "second"))
        assert list(both) == ["One.", "Two."]
        assert [m.text for m in two.messages] == ["second", "Two."]
        model.add(runs("print('ran')"), says("Three."))
        assert (await ask(one, "third")).strip() == "Three."
        assert one.messages[-2].text == "ran\n"


def test_leaving_the_stream_stops_the_work(model: ScriptedModel) -> None:
    model.add(Reply(says=["a ", "b "], ending="hang"), says("Yes?"))
    with sayso(model) as one:
        for _ in one.chat("go", stream=True):
            break
        assert model.was_left()
        assert one.chat("again") == "Yes?"


def test_reset_forgets(model: ScriptedModel) -> None:
    model.add(says("One."), says("Two."))
    with sayso(model) as one:
        one.chat("first")
        one.reset()
        assert one.messages == []
        one.chat("second")
    (told,) = (str(message["content"]) for message in model.requests[-1].messages[1:])
    assert told.endswith("\nsecond")


def test_what_fails_is_one_sentence(model: ScriptedModel) -> None:
    model.add(fails(401))
    with sayso(model) as one, pytest.raises(ChatFailed, match="API key"):
        one.chat("go")


@pytest.mark.parametrize("name", ["<lambda>", "execute"])
def test_a_tool_that_no_model_could_call_is_refused(name: str) -> None:
    def tool() -> None: ...

    tool.__name__ = name
    with pytest.raises(TypeError, match="can't be called"):
        Function(tool)


@pytest.mark.parametrize("calls_tools", ["yes", "no"])
def test_a_function_of_the_program_is_a_tool_that_is_asked_about(
    model: ScriptedModel, calls_tools: str
) -> None:
    def Weather(city: str, days: int = 1) -> dict[str, object]:  # noqa: N802 (names may be so)
        """How the weather will be."""
        return {"city": city, "rain": days * 2}

    arguments = '{"city": "Rome", "days": 3}'
    call = (
        Reply(calls=[{"name": "weather", "arguments": arguments}])
        if calls_tools == "yes"
        else says(f"I ask.\n```weather\n{arguments}\n```\n")
    )
    model.add(call, says("Six."))
    asked: list[ApprovalRequest] = []

    def approve(question: ApprovalRequest) -> bool:
        asked.append(question)
        return True

    with sayso(model, calls_tools, tools=[Weather], approve=approve) as one:
        assert one.chat("will it rain").endswith("Six.")
    assert asked[0].language == "weather"
    assert "outside of the sandbox" in asked[0].may_touch[0]
    request = model.requests[-1]
    assert '"rain": 6' in str(request.messages[-1]["content"])
    told = str(request.body.get("tools")) + str(request.messages[0]["content"])
    assert "How the weather will be." in told


def test_a_function_that_raises_is_told_to_the_model(model: ScriptedModel) -> None:
    def broken() -> None:
        """Never works."""
        raise ValueError("no such luck")

    model.add(Reply(calls=[{"name": "broken", "arguments": "{}"}]), says("It broke."))
    with sayso(model, tools=[broken], approve=lambda _: True) as one:
        events = list(one.chat("go", stream=True))
        assert [e.status for e in events if isinstance(e, CodeEnd)] == ["error"]
    assert "ValueError: no such luck" in str(model.requests[-1].messages[-1])


@pytest.mark.parametrize(("mode", "runs_it"), [("workspace", 0), ("read-only", 0), ("full", 1)])
def test_a_function_runs_outside_the_sandbox_so_only_the_mode_full_runs_it_unasked(
    model: ScriptedModel, mode: str, runs_it: int
) -> None:
    called: list[str] = []

    def note(text: str) -> None:
        """Write it down."""
        called.append(text)

    model.add(Reply(calls=[{"name": "note", "arguments": '{"text": "milk"}'}]), says("Well."))
    with sayso(model, tools=[note], mode=mode) as one:
        assert one.chat("note it") == "Well."
    assert called == ["milk"] * runs_it


def test_what_is_kept_goes_on_in_the_next_instance(model: ScriptedModel, tmp_path: Path) -> None:
    model.add(says("Tom it is."), says("Tom."))
    with sayso(model, keep=tmp_path / "kept") as one:
        one.chat("my cat is called Tom")
    with sayso(model, keep=tmp_path / "kept") as two:
        assert two.chat("what is my cat called") == "Tom."
    assert "my cat is called Tom" in str(model.requests[-1].messages)


class Shouting:
    """A runtime that says what it is given, louder."""

    language = "shout"
    used = False

    async def run(self, code: str) -> AsyncGenerator[Output | Ending]:
        yield Output("stdout", code.upper())
        yield Ending("ok", 0.0)

    def prepare(self) -> None:
        pass

    async def interrupt(self) -> None:
        pass

    async def close(self) -> None:
        pass


class Shout:
    """A language of the program's own."""

    name = "shout"
    aliases = ("loud",)

    def runtime(self, place: Place) -> Runtime:
        return Shouting()


def test_a_language_of_the_programs_own_is_offered_and_runs(model: ScriptedModel) -> None:
    model.add(runs("hello", language="shout"), runs("again", language="loud"), says("Loud."))
    with sayso(model, languages=[Shout()], approve=lambda _: True) as one:
        assert one.chat("greet") == "Loud."
        assert [m.text for m in one.messages if m.role == "output"] == ["HELLO", "AGAIN"]
    assert "shout" in str(model.requests[0].body["tools"])


@pytest.mark.slow
def test_what_code_did_to_files_is_shown_taken_back_and_done_again(
    model: ScriptedModel, tmp_path: Path
) -> None:
    model.add(runs("open('plan', 'w').write('roses\\n')"), says("Done."))
    with sayso(model, workspace=tmp_path / "w", mode="workspace") as one:
        assert one.undo().outcome == "nothing"
        one.chat("write a plan")
        plan = tmp_path / "w" / "plan"
        assert "+roses" in one.diff()
        assert one.undo().removed == ("plan",)
        assert not plan.exists()
        assert one.redo().restored == ("plan",)
        assert plan.read_text() == "roses\n"


@pytest.mark.thorough
async def test_in_an_event_loop_what_is_no_stream_is_done_in_a_thread(
    model: ScriptedModel, tmp_path: Path
) -> None:
    model.add(runs("open('plan', 'w').close()"), says("Done."))
    async with sayso(model, workspace=tmp_path / "w", mode="workspace") as one:
        assert await asyncio.to_thread(one.chat, "write a plan") == "Done."
        assert (await asyncio.to_thread(one.undo)).removed == ("plan",)
        await asyncio.to_thread(one.reset)
        assert await asyncio.to_thread(lambda: one.messages) == []


@pytest.mark.thorough
@pytest.mark.parametrize("stream", [False, True])
def test_a_question_that_was_open_at_the_end_is_put_again_and_its_code_runs_once(
    model: ScriptedModel, tmp_path: Path, stream: bool
) -> None:
    tally = tmp_path / "w" / "tally"
    model.add(runs("open('tally', 'a').write('x')"), says("Counted."), says("Counted."))

    def crash(_: ApprovalRequest) -> bool:
        shutil.copytree(tmp_path / "kept", tmp_path / "found")  # as a crash would leave it
        return False

    with sayso(model, keep=tmp_path / "kept", workspace=tmp_path / "w", approve=crash) as one:
        assert not one.waits
        with pytest.raises(ChatFailed, match="No question was open"):
            one.go_on()
        one.chat("count")
    again = sayso(model, keep=tmp_path / "found", workspace=tmp_path / "w", approve=lambda _: True)
    with again as two:
        waited = two.waits
        if stream:
            events = list(two.go_on(stream=True))
            assert [event.status for event in events if isinstance(event, CodeEnd)] == ["ok"]
        else:
            assert two.go_on() == "Counted."
        assert (waited, two.waits) == (True, False)
    assert tally.read_text() == "x"


@pytest.mark.thorough
def test_what_was_opened_to_a_kept_conversation_stays_open(
    model: ScriptedModel, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    bills = tmp_path_factory.mktemp("bills")
    bills.chmod(0o755)
    (bills / "may").write_text("42 euros")
    code = f"print(open({str(bills / 'may')!r}).read())"
    model.add(runs(f"read {bills}", language="access"), runs(code), says("42."))
    model.add(runs(code), says("Still 42."))
    with sayso(model, keep=tmp_path / "kept", approve=lambda _: True) as one:
        assert one.chat("what do I owe") == "42."
    with sayso(model, keep=tmp_path / "kept", mode="workspace") as two:
        assert two.chat("and now") == "Still 42."
        assert two.messages[-2].text == "42 euros\n"


@pytest.mark.thorough
def test_without_keep_nothing_stays_on_the_disk(model: ScriptedModel, tmp_path: Path) -> None:
    model.add(runs("import os; print(os.getcwd())"), says("Done."))
    with sayso(model, mode="workspace") as one:
        one.chat("where")
        folder = Path(one.messages[-2].text.strip())
        assert folder.is_dir()
    assert not folder.parent.exists()


@pytest.mark.thorough
def test_settings_that_are_given_win(model: ScriptedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAYSO_AGENT_STEPS", "7")
    model.add(runs("print(1)"), runs("print(2)"))
    with sayso(model, settings={"agent.steps": 1}, mode="workspace") as one:
        assert one.chat("go").endswith("I have run code 1 times and am not done. Shall I go on?")


def test_importing_it_is_light() -> None:
    code = (
        "import sys; from sayso.server import Sayso; Sayso(); "
        "heavy = {'litellm', 'faster_whisper', 'jupyter_client', 'hassil', 'numpy', 'zmq'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_the_example_of_the_docs_works(model: ScriptedModel) -> None:
    page = (Path(__file__).parents[2] / "docs" / "python.md").read_text()
    (example,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    model.add(
        runs("print(239 * 43)"),
        says("It is 10277."),
        runs("print([n * n for n in range(10)])", "Look. "),
        says("There they are."),
    )
    settings = {"MODEL": "scripted", "API_BASE": model.url, "API_KEY_VARIABLE": "SCRIPTED_KEY"}
    variables = {f"SAYSO_LANGUAGE_MODEL_{name}": value for name, value in settings.items()}
    run = subprocess.run(
        [sys.executable, "-c", example],
        capture_output=True,
        text=True,
        env=os.environ | variables,
        check=False,
        timeout=150,
    )
    assert run.stderr == ""
    assert "May I run this python?" in run.stdout
    assert "It is 10277." in run.stdout
    assert "[0, 1, 4, 9, 16, 25, 36, 49, 64, 81]" in run.stdout
    assert "person What is 239 times 43?" in run.stdout
