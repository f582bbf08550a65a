"""litellm over the real wire: what streams, what fails, what is said about it."""

import asyncio
import logging
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import aclosing

import pytest

from sayso.server.agent.llm.errors import explain
from sayso.server.agent.llm.litellm_model import LitellmModel, Timeouts
from sayso.server.agent.llm.model import (
    Delta,
    Endpoint,
    ModelError,
    TextDelta,
    ToolCallDelta,
    Usage,
)
from sayso.server.agent.tools.run_code import execute_tool
from tests.scripted_model import Reply, ScriptedModel, fails, runs, says

QUICK = Timeouts(
    first_delta_s=3.0, next_delta_s=3.0, all_tries_s=6.0, pause_s=0.01, longest_pause_s=0.5
)
KEY = "sk-verysecret-0123456789abcdef"
HELLO = [{"role": "user", "content": "hello"}]


@pytest.fixture
def server() -> Iterator[ScriptedModel]:
    with ScriptedModel() as server:
        yield server


def model(server: ScriptedModel, patience: Timeouts = QUICK, key: str = KEY) -> LitellmModel:
    return LitellmModel(
        "openai/scripted",
        Endpoint(server.url, key),
        name="the model",
        calls_tools="yes",
        patience=patience,
    )


async def deltas(model: LitellmModel) -> Sequence[Delta]:
    async with aclosing(model.reply(HELLO, [execute_tool(["python"])])) as stream:
        return [delta async for delta in stream]


async def failure(model: LitellmModel) -> str:
    with pytest.raises(ModelError) as caught:
        await deltas(model)
    sentence = str(caught.value)
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert "Traceback" not in sentence
    return sentence


async def test_text_streams_and_ends_with_its_usage(server: ScriptedModel) -> None:
    server.add(says("Hel", "lo."))
    assert await deltas(model(server)) == [
        TextDelta("Hel"), TextDelta("lo."), Usage(100, 10, None)
    ]  # fmt: skip


async def test_a_tool_call_streams_in_pieces(server: ScriptedModel) -> None:
    server.add(Reply(code="print(1)", split=7))
    pieces = [delta for delta in await deltas(model(server)) if isinstance(delta, ToolCallDelta)]
    assert pieces[0].name == "execute"
    assert pieces[0].id
    assert "".join(piece.arguments for piece in pieces) == (
        '{"language": "python", "code": "print(1)"}'
    )


async def test_the_price_comes_from_the_table_on_disk(server: ScriptedModel) -> None:
    server.add(Reply(says="Hi.", tokens=(1_000_000, 0)))
    known = LitellmModel("openai/gpt-4o-mini", Endpoint(server.url, KEY), patience=QUICK)
    (usage,) = [delta for delta in await deltas(known) if isinstance(delta, Usage)]
    assert usage.usd is not None
    assert 0.01 < usage.usd < 10


async def test_many_equal_deltas_are_not_taken_for_a_broken_model(server: ScriptedModel) -> None:
    server.add(says(*["-"] * 300))
    text = [delta.text for delta in await deltas(model(server)) if isinstance(delta, TextDelta)]
    assert "".join(text) == "-" * 300


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (fails(401), "API key for the model was refused"),
        (fails(403), "API key for the model was refused"),
        (fails(402), "no credit left"),
        (fails(429, "You exceeded your current quota, check your billing"), "no credit left"),
        (fails(404, "The model scripted does not exist"), "There is no language model the model"),
        (fails(400, "This model's maximum context length is 8192 tokens"), "become too long"),
        (fails(413), "become too long"),
        (fails(400, "unsupported parameter"), "refused the request (unsupported parameter)"),
    ],
)
async def test_what_cannot_pass_is_said_at_once(
    server: ScriptedModel, reply: Reply, expected: str
) -> None:
    server.add(reply)
    assert expected in await failure(model(server))
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (fails(429, "slow down"), "takes no more requests now"),
        (fails(500), "trouble on its side"),
        (fails(503), "trouble on its side"),
        (fails(529), "trouble on its side"),
        (Reply(ending="cut"), "trouble on its side"),
    ],
)
async def test_what_may_pass_is_tried_four_times_in_all(
    server: ScriptedModel, reply: Reply, expected: str
) -> None:
    server.add(reply)
    assert expected in await failure(model(server))
    assert len(server.requests) == 4


async def test_what_passes_is_never_noticed(server: ScriptedModel) -> None:
    server.add(fails(503), fails(429), says("Hello."))
    assert TextDelta("Hello.") in await deltas(model(server))


async def test_a_provider_that_asks_for_patience_gets_it(server: ScriptedModel) -> None:
    server.add(Reply(status=429, headers={"retry-after": "0.4"}), says("Hello."))
    await deltas(model(server))
    first, second = server.requests
    assert second.at - first.at >= 0.4


async def test_a_provider_that_asks_for_too_much_patience_is_told_of(server: ScriptedModel) -> None:
    server.add(Reply(status=429, headers={"retry-after": "3600"}))
    assert "wait a minute" in await failure(model(server))
    assert len(server.requests) == 1


async def test_a_server_that_is_not_there_is_said(server: ScriptedModel) -> None:
    gone = LitellmModel("openai/x", Endpoint("http://127.0.0.1:1/v1", KEY), patience=QUICK)
    assert "cannot be reached" in await failure(gone)


async def test_a_server_that_never_answers_is_given_up(server: ScriptedModel) -> None:
    server.add(Reply(before_s=3600.0))
    hasty = Timeouts(first_delta_s=0.2, all_tries_s=0.5, pause_s=0.01)
    assert "did not answer in time" in await failure(model(server, hasty))


async def test_a_stream_that_stops_is_given_up(server: ScriptedModel) -> None:
    server.add(Reply(says=["Hel"], ending="hang"))
    hasty = Timeouts(next_delta_s=0.2)
    assert "broke off" in await failure(model(server, hasty))
    assert len(server.requests) == 1


async def test_a_stream_that_breaks_is_not_begun_again(server: ScriptedModel) -> None:
    server.add(Reply(says=["Hel", "lo"], ending="cut"))
    assert "broke off in the middle" in await failure(model(server))
    assert len(server.requests) == 1


async def test_leaving_the_stream_ends_the_request(server: ScriptedModel) -> None:
    server.add(Reply(says=["a", "b"], ending="hang"))
    async with aclosing(model(server).reply(HELLO, [])) as stream:
        async for _ in stream:
            break
    assert await asyncio.to_thread(server.was_left)


async def test_a_request_can_be_cancelled_before_its_first_word(server: ScriptedModel) -> None:
    server.add(Reply(before_s=30.0))
    asking = asyncio.ensure_future(deltas(model(server)))
    assert await asyncio.to_thread(server.was_asked)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert await asyncio.to_thread(server.was_left)


async def test_keys_are_in_no_error_and_no_log(
    server: ScriptedModel, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    server.add(
        fails(401, f"Incorrect API key provided: {KEY}"),
        fails(400, f"bad request with {KEY} in it"),
        fails(400, "bad request by Bearer abcdefgh12345678"),
        Reply(says=["x"], ending="cut"),
    )
    asked = model(server)
    told = [await failure(asked) for _ in range(4)]
    printed = capfd.readouterr()
    logged = [record.getMessage() for record in caplog.records]
    for text in (*told, *logged, repr(asked), printed.out, printed.err):
        assert KEY not in text
        assert "abcdefgh12345678" not in text


async def test_a_missing_key_is_said(
    monkeypatch: pytest.MonkeyPatch, server: ScriptedModel
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    keyless = LitellmModel("openai/gpt-4o", Endpoint(server.url), patience=QUICK)
    assert "no API key" in await failure(keyless)


async def test_a_name_that_no_provider_knows_is_said(server: ScriptedModel) -> None:
    assert "There is no language model nonsense" in await failure(LitellmModel("nonsense"))


COLD = """
import asyncio, socket, sys
from sayso.server.agent.llm.litellm_model import LitellmModel
from sayso.server.agent.llm.model import Endpoint
assert not [name for name in sys.modules if name.split(".")[0] == "litellm"], "imported too early"
reached = []
connect = socket.getaddrinfo
def look_up(host, *rest, **more):
    reached.append(host)
    return connect(host, *rest, **more)
socket.getaddrinfo = look_up

async def main():
    model = LitellmModel("openai/scripted", Endpoint(sys.argv[1], "k"), calls_tools="auto")
    assert not model.calls_tools
    await model.warm()
    assert not model.calls_tools
    known = LitellmModel("anthropic/claude-sonnet-4-5", Endpoint(api_key="k"))
    await known.warm()
    assert known.calls_tools
    async for delta in model.reply([{"role": "user", "content": "hi"}], []):
        pass
    assert set(reached) <= {"127.0.0.1", "localhost"}, reached

asyncio.run(main())
"""


@pytest.mark.slow
def test_a_cold_start_asks_nobody_prints_nothing_and_reads_no_env_file(
    server: ScriptedModel, tmp_path: os.PathLike[str]
) -> None:
    server.add(runs("print(1)"))
    with open(os.path.join(tmp_path, ".env"), "w", encoding="utf-8") as file:  # noqa: PTH118, PTH123
        file.write("OPENAI_API_KEY=from-the-env-file\n")
    ended = subprocess.run(
        [sys.executable, "-c", COLD, server.url],
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
        cwd=tmp_path,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


async def test_a_key_that_looks_like_nothing_is_not_told_either(server: ScriptedModel) -> None:
    server.add(fails(400, "bad request by correct-horse-staple"))
    assert "correct-horse" not in await failure(model(server, key="correct-horse-staple"))


def test_it_does_not_tell_its_key() -> None:
    assert KEY not in repr(LitellmModel("openai/x", Endpoint(api_key=KEY)))


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.timeout(240)
def test_what_the_first_answer_would_wait_for_is_there_once_it_is_warm() -> None:
    code = (
        "import asyncio, sys\n"
        "from sayso.server.agent.llm.litellm_model import LitellmModel\n"
        "from sayso.server.agent.llm.model import Endpoint\n"
        "model = LitellmModel('openai/x', Endpoint('http://127.0.0.1:9/v1', 'key'))\n"
        "asyncio.run(model.warm())\n"
        "print('litellm.litellm_core_utils.default_encoding' in sys.modules)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "True"


def test_a_long_refusal_without_spaces_is_quoted_in_a_moment() -> None:
    began = time.process_time()
    assert "refused the request" in explain(ValueError("a-" * 30_000), "m").sentence
    assert time.process_time() - began < 2.0


@pytest.mark.parametrize("takes_tools", [True, False])
async def test_a_server_is_asked_once_whether_it_calls_a_tool(
    server: ScriptedModel, takes_tools: bool
) -> None:
    server.takes_tools = takes_tools
    model = LitellmModel("openai/scripted", Endpoint(server.url, "k"), calls_tools="probe")
    assert not model.calls_tools
    await model.warm()
    await model.warm()
    assert model.calls_tools is takes_tools
    assert server.probes == 1
    assert not server.requests


async def test_a_server_that_refuses_or_is_not_there_is_given_no_tools() -> None:
    with ScriptedModel(key="another") as refusing:
        model = LitellmModel("openai/scripted", Endpoint(refusing.url, "k"), calls_tools="probe")
        await model.warm()
        assert not model.calls_tools
    gone = LitellmModel("openai/scripted", Endpoint(refusing.url, "k"), calls_tools="probe")
    await gone.warm()
    assert not gone.calls_tools
