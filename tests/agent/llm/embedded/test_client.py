"""The embedded language model: behind a key, kept alive, gone with its parent, and plain."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
import urllib.request
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from sayso.protocol.home import Home
from sayso.server.agent.llm.embedded.client import (
    MODEL_NAME,
    Pocket,
    PocketError,
    PocketModel,
    introduction,
    sensible_threads,
)
from sayso.server.agent.llm.loopback_http import HttpAnswer, NoAnswer, ask
from sayso.server.agent.llm.model import ChatMessage, Delta, Endpoint, TextDelta, ToolDefinition
from tests import leaks
from tests.agent.llm.model_servers import model_server

SOON = 20.0
"""Seconds that anything here may take on a busy machine; it takes a fraction of one."""


with_its_engine = pytest.mark.needs("libgomp.so.1", "libgomp1")
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


def is_running(pid: int) -> bool:
    return any(process.pid == pid for process in leaks.alive([pid]))


async def until_ended(pid: int) -> None:
    def wait() -> None:
        deadline = time.monotonic() + SOON
        while is_running(pid):
            assert time.monotonic() < deadline
            time.sleep(0.01)

    await asyncio.to_thread(wait)


async def killed_and_back(pocket: Pocket) -> Endpoint:
    """Kill the engine; where its successor answers."""
    before = await pocket.ready()
    assert pocket.process_id
    os.kill(pocket.process_id, signal.SIGKILL)
    async with asyncio.timeout(SOON):
        while True:
            endpoint = await pocket.ready()
            if endpoint != before:
                return endpoint
            await asyncio.sleep(0.01)


def listening_on(port: int) -> list[str]:
    """The addresses on which somebody listens at this port, as the kernel writes them."""
    lines = [
        line.split()[1].split(":")
        for table in ("tcp", "tcp6")
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]
        if line.split()[3] == "0A"
    ]
    return [address for address, at in lines if int(at, 16) == port]


async def chat(endpoint: Endpoint, text: str) -> HttpAnswer:
    return await ask(
        f"{endpoint.api_base}/chat/completions",
        seconds=SOON,
        headers={"Authorization": f"Bearer {endpoint.api_key}"},
        send={
            "model": MODEL_NAME,
            "messages": [{"role": "user", "content": text}],
            "max_tokens": 16,
            "temperature": 0,
        },
    )


# --- the real engine ---


@with_its_engine
async def test_it_answers_on_the_openai_wire(weights: Path) -> None:
    async with Pocket(weights) as pocket:
        answer = await chat(await pocket.ready(), "What is the capital of France?")

    record = answer.json()
    assert isinstance(record, dict)
    assert record["model"] == MODEL_NAME
    assert record["choices"][0]["message"]["content"].strip()


@with_its_engine
async def test_it_answers_nobody_without_the_key_and_no_page_of_a_browser(weights: Path) -> None:
    async with Pocket(weights) as pocket:
        endpoint = await pocket.ready()
        root = endpoint.api_base.removesuffix("/v1")
        page = {"Origin": "http://evil.example"}
        keys = [{}, {"Authorization": "Bearer wrong"}, {"Authorization": "Bearer "}]
        for path in ("/v1/models", "/v1/chat/completions", "/completion", "/props", "/slots"):
            for key in keys:
                for send in (None, {"messages": [{"role": "user", "content": "hi"}]}):
                    answer = await ask(root + path, seconds=SOON, headers=page | key, send=send)
                    assert answer.status == 401
                    assert answer.headers.get("access-control-allow-origin", "") == ""
        await asyncio.to_thread(_assert_preflight_is_refused, f"{root}/v1/chat/completions")


def _assert_preflight_is_refused(url: str) -> None:
    headers = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
    request = urllib.request.Request(url, method="OPTIONS", headers=headers)
    with urllib.request.urlopen(request, timeout=SOON) as answer:
        assert answer.headers.get("Access-Control-Allow-Origin", "") == ""


@with_its_engine
@linux_only
async def test_its_key_is_on_no_command_line_and_in_no_environment(
    weights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-secret")
    async with Pocket(weights) as pocket:
        endpoint = await pocket.ready()
        process = Path(f"/proc/{pocket.process_id}")
        seen = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()

    assert endpoint.api_key.encode() not in seen
    assert b"sk-secret" not in seen
    assert endpoint.api_key not in repr(endpoint)


@with_its_engine
@linux_only
async def test_it_listens_on_loopback_alone(weights: Path) -> None:
    async with Pocket(weights) as pocket:
        endpoint = await pocket.ready()
        port = int(endpoint.api_base.removesuffix("/v1").rpartition(":")[2])

        assert listening_on(port) == ["0100007F"]


@with_its_engine
async def test_it_is_started_again_when_it_dies_with_another_key(weights: Path) -> None:
    async with Pocket(weights) as pocket:
        before = await pocket.ready()
        after = await killed_and_back(pocket)
        answer = await chat(after, "Hello")

    assert after.api_key != before.api_key
    assert answer.status == 200


@with_its_engine
async def test_it_ends_with_its_pocket_even_while_it_loads(weights: Path) -> None:
    async with Pocket(weights) as pocket:
        await pocket.ready()
        running = pocket.process_id
    assert running
    assert not is_running(running)

    async with Pocket(weights) as pocket:
        waiting = asyncio.create_task(pocket.ready())
        while True:
            await asyncio.sleep(0.001)
            if loading := pocket.process_id:
                break
    assert not is_running(loading)
    with pytest.raises(PocketError, match="was stopped"):
        await waiting


@with_its_engine
async def test_it_ends_with_its_parent_however_that_dies(weights: Path) -> None:
    script = textwrap.dedent(f"""
        import asyncio
        from pathlib import Path
        from sayso.server.agent.llm.embedded.client import Pocket

        async def main():
            async with Pocket(Path({str(weights)!r})) as pocket:
                await pocket.ready()
                print(pocket.process_id, flush=True)
                await asyncio.sleep(60)

        asyncio.run(main())
    """)
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, stdout=asyncio.subprocess.PIPE
    )
    assert parent.stdout
    engine = int(await parent.stdout.readline())
    assert is_running(engine)

    parent.kill()
    await parent.wait()

    await until_ended(engine)


@with_its_engine
def test_the_end_of_its_input_ends_it_where_the_kernel_does_not(weights: Path) -> None:
    orders = {
        "weights": str(weights),
        "alias": "x",
        "context_tokens": 512,
        "threads": 1,
        "key": "k",
        "parent": os.getpid(),
    }
    with subprocess.Popen(
        [sys.executable, "-m", "sayso.server.agent.llm.embedded.engine"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(json.dumps(orders) + "\n")
        process.stdin.flush()
        assert "address" in json.loads(process.stdout.readline())

        process.stdin.close()

        assert process.wait(SOON) == 0


# --- as a model ---


class Connected:
    """Stands for the model that is asked at an endpoint."""

    name = "double"
    calls_tools = False
    sees = False

    def price(self, tokens_in: int, tokens_out: int) -> float | None:
        return None

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    async def reply(
        self, messages: Sequence[ChatMessage], tools: Sequence[ToolDefinition]
    ) -> AsyncIterator[Delta]:
        yield TextDelta(self._endpoint.api_base)


@with_its_engine
async def test_the_model_finds_the_engine_again_after_a_restart(weights: Path) -> None:
    connected: list[Endpoint] = []

    def connect(endpoint: Endpoint) -> Connected:
        connected.append(endpoint)
        return Connected(endpoint)

    async with Pocket(weights) as pocket:
        model = PocketModel(pocket, connect, name="SmolLM2", calls_tools=False)
        for _ in range(2):
            async for delta in model.reply([], []):
                assert delta == TextDelta((await pocket.ready()).api_base)
        await killed_and_back(pocket)
        async for delta in model.reply([], []):
            assert delta == TextDelta((await pocket.ready()).api_base)

    assert len(connected) == 2
    assert (model.name, model.calls_tools) == ("SmolLM2", False)


def test_a_person_is_told_once_that_it_is_a_pocket_model() -> None:
    first = introduction(Home.find(), "run `sayso models get qwen3-4b`")

    assert first
    assert "often wrong" in first
    assert first.endswith("For better answers, run `sayso models get qwen3-4b`.")
    assert introduction(Home.find(), "…") is None


@linux_only
def test_a_core_is_left_for_hearing_and_speaking(monkeypatch: pytest.MonkeyPatch) -> None:
    for cores, threads in ((1, 1), (2, 1), (4, 3), (64, 8)):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _, cores=cores: set(range(cores)))
        assert sensible_threads() == threads


async def test_who_does_not_answer_in_time_is_given_up() -> None:
    async with model_server("Jan", {"/": "silence"}) as (server, _):
        with pytest.raises(NoAnswer):
            await ask(server.root, seconds=0.05)
