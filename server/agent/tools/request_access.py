"""The tool `access`: asks the person for more reach. It is written as code in one more language."""

import json
from collections.abc import AsyncIterator
from typing import Final

from sayso.server.agent.permissions.access_requests import NotOpened
from sayso.server.agent.permissions.access_syntax import LANGUAGE
from sayso.server.agent.tools.run_code import NAME as EXECUTE
from sayso.server.agent.tools.tool import Arguments, Tool, ToolContext, ToolRefused, WrittenCall
from sayso.server.runtimes.runtime import Ending, Output

_SCHEMA: Final = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
}


class RequestAccess(Tool):
    """Asks for folders, hosts, or the network; the question is the tool's whole work."""

    name = LANGUAGE
    use = "Ask the person for folders or hosts that code may reach."
    schema = _SCHEMA
    undo = ""
    kind = "requests"
    outside = False
    is_language = True
    ways = frozenset({"call", "fence"})

    def __init__(self, refusal: str = "") -> None:
        """`refusal`: why no code runs here, for which nothing can be opened."""
        self._refusal = refusal

    def hindrance(self, label: str) -> str:
        return self._refusal

    def read_call(self, arguments: str) -> WrittenCall | None:
        return None  # it is code to the one tool that models call

    def read_fence(self, label: str, text: str) -> WrittenCall:
        return WrittenCall(label, text)

    def as_call(self, label: str, text: str) -> tuple[str, str]:
        return EXECUTE, json.dumps({"language": label, "code": text})

    def read(self, label: str, text: str) -> Arguments:
        return {"text": text}

    def write(self, arguments: Arguments) -> str:
        return str(arguments["text"])

    def may_touch(self, arguments: Arguments) -> tuple[str, ...]:
        return ()

    async def run(
        self, arguments: Arguments, context: ToolContext
    ) -> AsyncIterator[Output | Ending]:
        try:
            told = await context.access.request(context.run, arguments["text"])
        except NotOpened as problem:
            raise ToolRefused(str(problem)) from None
        yield Output("result", told)
        yield Ending("ok", 0.0)
