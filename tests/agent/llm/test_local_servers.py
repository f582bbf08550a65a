"""Language models in servers on this machine: found at once, the fitting one taken, others left."""

import asyncio

import pytest

from sayso.protocol.home import Home
from sayso.server.agent.llm.local_servers import LOCAL_SERVERS
from sayso.server.agent.llm.selection import ModelPreferences
from tests.agent.llm.model_choices import chosen
from tests.agent.llm.model_servers import model_server, ollama
from tests.models.memory import remember_starters

GIGABYTE = 1_000_000_000


@pytest.fixture(autouse=True)
def _verified_before() -> None:
    remember_starters(Home.find())


async def test_servers_are_asked_all_at_once_and_given_up_after_300_ms() -> None:
    clock = asyncio.get_running_loop().time
    async with (
        model_server("Jan", {"/v1/models": "silence"}) as (one, _),
        model_server("llamafile", {"/v1/models": "silence"}) as (two, _),
        model_server("LM Studio", {"/api/v1/models": "silence"}) as (three, _),
    ):
        began = clock()
        choice = await chosen(one, two, three)
        took = clock() - began

    assert choice.origin == "embedded"
    assert took < 0.6


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 200 OK\r\n\r\nnot json",
        b"HTTP/1.1 200 OK\r\n\r\n[1, 2]",
        b'HTTP/1.1 200 OK\r\n\r\n{"data": {"a": 1}}',
        b'HTTP/1.1 200 OK\r\n\r\n{"data": [1, {"id": 2}, {"object": "model"}]}',
        b'HTTP/1.1 500 X\r\n\r\n{"data": [{"id": "x", "object": "model"}]}',
        b"HTTP/1.1 abc\r\n\r\n",
        b"\xff" * 5_000_000,
        404,
        "silence",
    ],
)
async def test_whatever_else_has_such_a_port_is_no_model_server(answer: object) -> None:
    async with model_server("llamafile", {"/v1/models": answer}) as (server, _):
        choice = await chosen(server)

    assert choice.origin == "embedded"


@pytest.mark.parametrize(
    ("models", "loaded", "taken"),
    [
        (["new:8b", "old:8b"], "", "new:8b"),
        (["new:8b", "old:8b"], "old:8b", "old:8b"),
        (["nomic-embed-text:latest", "bge-m3:latest", "old:8b"], "", "old:8b"),
        (["qwen3-coder:480b-cloud", "gpt-oss:cloud", "old:8b"], "", "old:8b"),
        (["nomic-embed-text:latest", "gpt-oss:cloud"], "", None),
        ([], "", None),
    ],
)
async def test_a_model_to_talk_with_is_picked(
    models: list[str], loaded: str, taken: str | None
) -> None:
    listed = [{"name": name, "size": GIGABYTE} for name in models]
    async with model_server("Ollama", ollama(*listed, loaded=loaded)) as (server, _):
        choice = await chosen(server)

    assert choice.model == (f"openai/{taken}" if taken else "")


async def test_a_model_that_does_not_fit_the_memory_is_not_picked() -> None:
    models = [{"name": "huge", "size": 10**15}, {"name": "small", "size": GIGABYTE}]
    async with model_server("Ollama", ollama(*models)) as (server, _):
        choice = await chosen(server)

    assert choice.model == "openai/small"


async def test_a_model_that_takes_tools_is_preferred_and_given_tools() -> None:
    models = [
        {"name": "plain", "capabilities": ["completion"]},
        {"name": "handy", "capabilities": ["completion", "tools"]},
    ]
    answers = ollama(*models, capabilities=["completion", "tools"])
    async with model_server("Ollama", answers) as (server, double):
        choice = await chosen(server)

    assert (choice.model, choice.calls_tools) == ("openai/handy", True)
    assert 'POST /api/show {"model": "handy"}' in double.asked


async def test_a_cloud_model_under_another_name_is_found_out() -> None:
    answers = ollama({"name": "mine"}, remote_host="https://ollama.com", capabilities=["tools"])
    async with model_server("Ollama", answers) as (server, _):
        choice = await chosen(server)

    assert choice.origin == "embedded"


async def test_lm_studio_tells_what_is_loaded_and_what_takes_tools() -> None:
    models = [
        {"type": "embedding", "key": "text-embedding", "loaded_instances": [{}]},
        {"type": "llm", "key": "big", "size_bytes": GIGABYTE, "loaded_instances": []},
        {
            "type": "llm",
            "key": "loaded",
            "loaded_instances": [{"id": "loaded"}],
            "capabilities": {"trained_for_tool_use": True},
        },
    ]
    async with model_server("LM Studio", {"/api/v1/models": {"models": models}}) as (server, _):
        choice = await chosen(server)

    assert (choice.model, choice.calls_tools) == ("openai/loaded", True)


async def test_an_older_lm_studio_is_asked_on_the_openai_wire() -> None:
    answers = {"/v1/models": {"data": [{"id": "mistral", "object": "model"}]}}
    async with model_server("LM Studio", answers) as (server, _):
        choice = await chosen(server)

    assert (choice.model, choice.calls_tools) == ("openai/mistral", False)


async def test_nobody_is_asked_when_the_person_does_not_want_it() -> None:
    async with model_server("Ollama", ollama({"name": "qwen3:8b"})) as (server, double):
        choice = await chosen(server, wishes=ModelPreferences(look_for_local=False))

    assert (choice.origin, double.asked) == ("embedded", [])


def test_the_usual_ports_are_known() -> None:
    ports = {server.name: server.port for server in LOCAL_SERVERS}

    assert ports == {"Ollama": 11434, "LM Studio": 1234, "llamafile": 8080, "Jan": 1337}
