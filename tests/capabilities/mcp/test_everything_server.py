"""The protocol's own server with everything: all of its tools, called by a model through Sayso."""

import contextlib
import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from sayso.protocol.home import Home
from sayso.server.agent.events import CodeAsked, CodeEnd
from sayso.server.capabilities.mcp.servers import McpServers
from sayso.server.capabilities.mcp.tools import McpTool
from sayso.server.settings.mcp_servers import McpServer
from tests.agent.conftest import AgentRig
from tests.agent.permissions.places import Described
from tests.capabilities.mcp.suite.installed import program
from tests.capabilities.mcp.test_servers import answered
from tests.scripted_model import Reply, says

NOWHERE = Described("python")
SERVER: Final = "@modelcontextprotocol/server-everything/dist/index.js"

TOOLS: Final[Mapping[str, tuple[Mapping[str, Any], str]]] = {
    "echo": ({"message": "hello"}, "Echo: hello"),
    "get-annotated-message": ({"messageType": "success", "includeImage": True}, "image/png"),
    "get-env": ({}, "PATH"),
    "get-resource-links": ({"count": 2}, "demo://resource"),
    "get-resource-reference": ({"resourceType": "Text", "resourceId": 1}, "demo://resource"),
    "get-structured-content": ({"location": "Chicago"}, "temperature"),
    "get-sum": ({"a": 2, "b": 3}, "is 5"),
    "get-tiny-image": ({}, "image/png"),
    "gzip-file-as-resource": (
        {"name": "a.gz", "data": "data:text/plain,hello", "outputType": "resource"},
        "gzip",
    ),
    "toggle-simulated-logging": ({}, "logging"),
    "toggle-subscriber-updates": ({}, "updates"),
    "trigger-long-running-operation": ({"duration": 1, "steps": 2}, "completed"),
    "get-roots-list": ({}, Path(NOWHERE.where).as_uri()),
    "trigger-elicitation-request": ({}, "decline"),  # it speaks of a pin, if to warn of it
    "trigger-url-elicitation": (
        {"url": "https://shop.example/login", "message": "Log in, please."},
        "accept",
    ),
}
"""What each is given, and what its answer has in it. One more, `simulate-research-query`, runs as a
task alone, which the SDK has not: it is not offered."""

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(180)]


@contextlib.asynccontextmanager
async def everything(folder: Path) -> AsyncIterator[McpServers]:
    server = McpServer(command=(*program(SERVER), "stdio"), offer="tools", ask="never")
    servers = McpServers(Home(folder, folder, folder), {"every": server})
    try:
        _, tools, _ = await servers.examine("every")
        servers.accept("every", tools)
        yield servers
    finally:
        await servers.close()


async def test_all_its_tools_are_called_and_answer(rig: AgentRig, tmp_path: Path) -> None:
    async with everything(tmp_path) as servers:
        tools = {
            tool.definition_of_server.name: tool for tool in servers if isinstance(tool, McpTool)
        }
        assert set(tools) == set(TOOLS)

        def answer(event: CodeAsked) -> str:
            return event.choices[0] if event.choices else "Ann"

        agent = await rig.agent(tools=servers, code_runner=NOWHERE)
        for name, (arguments, expected) in TOOLS.items():
            call = {"name": tools[name].name, "arguments": json.dumps(arguments)}
            rig.model.add(Reply(calls=[call]), says("Done."))
            told = await answered(rig, f"try {name}", agent, answer)
            (end,) = rig.told(CodeEnd)
            assert end.status == "ok", (name, told)
            assert expected in told, name


async def test_its_resources_and_prompts_are_read(rig: AgentRig, tmp_path: Path) -> None:
    def reads(**arguments: object) -> Reply:
        given = json.dumps({"server": "every", **arguments})
        return Reply(calls=[{"name": "mcp_read", "arguments": given}])

    async with everything(tmp_path) as servers:
        agent = await rig.agent(
            reads(what="resources"),
            reads(what="resource", uri="demo://resource/dynamic/text/1"),
            reads(what="prompts"),
            reads(what="prompt", name="args-prompt", arguments={"city": "Ulm"}),
            says("Done."),
            tools=servers,
            code_runner=NOWHERE,
        )
        await rig.ask(agent, "look around")
        assert [end.status for end in rig.told(CodeEnd)] == ["ok"] * 4
        sent = str(rig.sent(-1))
        for words in ("demo://resource", "Resource 1", "args-prompt", "Ulm"):
            assert words in sent
