"""Sayso's MCP client as the protocol's conformance suite starts it: `conformance_client.py URL`.

It is what a person has: a server in the settings, its tools seen and accepted, a browser that logs
in, and somebody who answers questions and skips what may be skipped. Each tool that is offered is
called once, and a call that fails fails the scenario. What a person would have been told of the
server beforehand, such as a client id, the suite says in its environment.
"""

import asyncio
import json
import os
import sys
import tempfile
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from sayso.protocol.home import Home
from sayso.server.agent.tools.schema import problems
from sayso.server.agent.tools.tool import ToolContext
from sayso.server.capabilities.mcp.elicitation import SKIP
from sayso.server.capabilities.mcp.servers import McpServers
from sayso.server.capabilities.mcp.tools import McpTool
from sayso.server.capabilities.mcp.worker_process import McpError
from sayso.server.runtimes.runtime import Ending
from sayso.server.settings.mcp_servers import McpServer, read_server

DOCUMENT: Final = "https://conformance-test.local/client-metadata.json"
"""The client metadata document that the suite's servers know."""

LISTED_ALONE: Final = "json-schema-ref-no-deref"
"""A scenario whose server knows no calls: what matters there is what reading a list sets off."""

SECRET: Final = "SUITE_SECRET"
VALUES: Final[Mapping[str, Any]] = {"integer": 2, "number": 2, "boolean": True, "string": "x"}
"""What a required argument is given, by its type."""


class Patient:
    """Answers what a server asks, and skips what may be skipped."""

    async def ask(self, question: str, choices: tuple[str, ...] = ()) -> str:
        return choices[0] if choices and SKIP not in choices else SKIP

    async def confirm(self, what: str, lines: tuple[str, ...], why: str) -> bool:
        return True


def configured(url: str, told: Mapping[str, Any], folder: Path) -> McpServer:
    """The server, as its person would write it down."""
    table: dict[str, Any] = {"url": url, "ask": "never", "seconds": 20.0}
    if told.get("idp_issuer") or "valid_jwt" in told:
        pass  # a login by a company's identity provider, which Sayso has not
    elif key := told.get("private_key_pem"):
        file = folder / "key.pem"
        file.write_text(key)
        table |= {"client_key_file": str(file), "grant": "client_credentials"}
    elif secret := told.get("client_secret"):
        os.environ[SECRET] = secret
        table["client_secret_variable"] = SECRET
        if told["name"] == "auth/client-credentials-basic":
            table["grant"] = "client_credentials"
    if "client_secret_variable" in table or "client_key_file" in table:
        table |= {"client_id": told["client_id"], "issuer": issuer_of(url)}
    elif told["name"] == "auth/basic-cimd":
        table["client_id"] = DOCUMENT
    return read_server("suite", table, "the suite")


def issuer_of(url: str) -> str:
    """The authorization server that a person registered their client at."""
    place = url.replace("/mcp", "/.well-known/oauth-protected-resource/mcp")
    with urllib.request.urlopen(place, timeout=5) as answer:
        issuer: str = json.load(answer)["authorization_servers"][0]
    return issuer


def calls(told: Mapping[str, Any], tools: list[McpTool]) -> Iterator[tuple[McpTool, Any]]:
    """What a model calls, with which arguments."""
    by_name = {tool.definition_of_server.name: tool for tool in tools}
    if wanted := told.get("toolCalls"):
        for each in wanted:
            # A model is told that null does not fit, and leaves the argument out.
            given = {name: value for name, value in each["arguments"].items() if value is not None}
            yield by_name[each["name"]], given
    elif echo := by_name.get("json_schema_echo"):
        seen = by_name["json_schema_2020_12_tool"].definition_of_server.schema
        yield echo, {"schema": seen}
    elif told["name"] != LISTED_ALONE:
        for tool in tools:
            properties = tool.schema.get("properties", {})
            needed = tool.schema.get("required", ())
            yield tool, {name: VALUES[properties[name].get("type", "string")] for name in needed}


def opened(address: str) -> None:
    """A browser opens it, and goes where it is sent."""
    with urllib.request.urlopen(address) as page:
        page.read()


def tell(*what: object) -> None:
    """The suite shows it where something fails."""
    sys.stderr.write(f"{' '.join(map(str, what))}\n")


async def main(url: str) -> int:
    told = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    told["name"] = os.environ["MCP_CONFORMANCE_SCENARIO"]
    visits: set[asyncio.Task[Any]] = set()

    def visit(address: str) -> None:
        visits.add(asyncio.create_task(asyncio.to_thread(opened, address)))

    nothing: Any = None
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        server = configured(url, told, place)
        servers = McpServers(Home(place, place, place), {"suite": server}, visit=visit)
        try:
            _, offered, _ = await servers.examine("suite")
            servers.accept("suite", offered)
            tools = [tool for tool in servers if isinstance(tool, McpTool)]
            for tool, arguments in calls(told, tools):
                if wrong := problems(arguments, tool.schema):
                    tell(tool.name, *wrong)
                    return 1
                context = ToolContext("run", nothing, nothing, nothing, person=Patient())
                async for each in tool.run(arguments, context):
                    tell(tool.name, each)
                    if isinstance(each, Ending) and each.status != "ok":
                        return 1
        except McpError as problem:
            tell(problem)
            return 1
        finally:
            await servers.close()
            await asyncio.gather(*visits, return_exceptions=True)
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1])))
