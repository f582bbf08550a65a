"""The tool `execute`: code in one of the languages that run here, in the sandbox."""

import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final, Protocol

from sayso.server.agent.llm.model import ToolDefinition
from sayso.server.agent.parsing.printed_calls import read_tool_call
from sayso.server.agent.permissions.permissions import Reachable
from sayso.server.agent.prompt.language_names import Languages
from sayso.server.agent.tools.tool import Arguments, Tool, ToolContext, WrittenCall
from sayso.server.runtimes.calls.function import CallFunction
from sayso.server.runtimes.calls.preloaded import browser_names
from sayso.server.runtimes.network.traffic_record import Transfer
from sayso.server.runtimes.programs.programs import Programs
from sayso.server.runtimes.runtime import Ending, Output

NAME: Final = "execute"


class CodeRunner(Reachable, Protocol):
    """Where the code of one conversation runs, as far as the agent needs it."""

    @property
    def languages(self) -> Sequence[str]: ...

    @property
    def aliases(self) -> Mapping[str, str]:
        """What else the languages are called, to their names."""
        ...

    @property
    def refusal(self) -> str:
        """Why no code runs here, in words for the person; empty where code runs."""
        ...

    @property
    def at_hand(self) -> str:
        """What code finds installed, in a sentence; empty where no code runs."""
        ...

    @property
    def programs(self) -> Programs:
        """Sayso's own programs, where code runs."""
        ...

    @property
    def ended_commands(self) -> Sequence[str]:
        """What the run that began last had started, and was ended with it when it was stopped."""
        ...

    def take_passages(self) -> Sequence[Transfer]:
        """What went over the network since this was last asked."""
        ...

    async def file_host(self, index: str) -> str:
        """Where the files lie that this package index lists; empty if it is not known to be one."""
        ...

    def may_touch(self, language: str) -> tuple[str, ...]:
        """What code could touch, in words for the person."""
        ...

    def run(self, language: str, code: str) -> AsyncIterator[Output | Ending]:
        """Run code. Leaving the iteration early interrupts it."""
        ...

    def run_alone(self, language: str, code: str) -> AsyncIterator[Output | Ending]:
        """The same, in a new interpreter that ends with it."""
        ...

    def set_aside(self, language: str) -> bool:
        """Let what runs in this language go on beside: the next run gets another interpreter.
        Returns whether anything does."""
        ...

    def offering(self, run: str, functions: Sequence[CallFunction]) -> AbstractContextManager[None]:
        """Let the code of the run that begins within call these functions."""
        ...


def execute_tool(languages: Sequence[str]) -> ToolDefinition:
    """Its definition, for models that call tools, with what is written as code in these."""
    function = {"name": NAME, "description": RunCode.use, "parameters": _schema(languages)}
    return {"type": "function", "function": function}


def _schema(languages: Sequence[str]) -> Mapping[str, Any]:
    return {
        "type": "object",
        "properties": {
            "language": {"type": "string", "enum": list(languages)},
            "code": {"type": "string"},
        },
        "required": ["language", "code"],
    }


class RunCode(Tool):
    """Runs code where the conversation's code runs."""

    name = NAME
    use = "Run code on the person's computer and return its output."
    undo = ""
    outside = False
    runs_code = True

    def __init__(self, code_runner: CodeRunner) -> None:
        self._code_runner = code_runner
        self.languages = () if code_runner.refusal else tuple(code_runner.languages)
        """Those that run here; none where no code does."""
        self.aliases = code_runner.aliases
        self.functions: Sequence[Tool] = ()
        """The tools that code may call."""
        self.schema = _schema(self.languages)

    @property
    def labels(self) -> Sequence[str]:
        return self.languages

    def hindrance(self, label: str) -> str:
        if self._code_runner.refusal:
            return self._code_runner.refusal
        if label not in self.languages:
            here = ", ".join(self.languages)
            return f"{label} does not run here; these do: {here}."
        return ""

    def read_any(self, name: str, arguments: str, languages: Languages) -> WrittenCall | None:
        """What any call of a tool that there is not, or of this one, meant as code."""
        wanted = read_tool_call(name, arguments, languages)
        return WrittenCall(wanted.language, wanted.code) if wanted else None

    def read_fence(self, label: str, text: str) -> WrittenCall:
        return WrittenCall(label, text)

    def as_call(self, label: str, text: str) -> tuple[str, str]:
        return NAME, json.dumps({"language": label, "code": text})

    def read(self, label: str, text: str) -> Arguments:
        return {"language": label, "code": text}

    def write(self, arguments: Arguments) -> str:
        return str(arguments["code"])

    def may_touch(self, arguments: Arguments) -> tuple[str, ...]:
        called = named_in(arguments["code"], self.functions)
        words = self._code_runner.may_touch(arguments["language"])
        return (*words, *(_called(tool) for tool in called))

    def run(self, arguments: Arguments, context: ToolContext) -> AsyncIterator[Output | Ending]:
        run = self._code_runner.run_alone if context.alone else self._code_runner.run
        return run(arguments["language"], arguments["code"])


_NAMED: Final = re.compile(r"\bsayso[.\s]\s*(?:promises\s*\.\s*)?([a-z_][a-z0-9_]*)")

_NAMED_OF_MCP: Final = re.compile(r"\bmcp\s*\.\s*([a-z0-9]+)(?:\s*\.\s*([a-z0-9_]+))?")

_NAMED_OF_BROWSER: Final = re.compile(r"\bbrowser\s*\.\s*(\w+)")


def named_in(code: str, tools: Sequence[Tool]) -> list[Tool]:
    """The tools that code names as functions."""
    names = set(_NAMED.findall(code))
    names.update("_".join(filter(None, ("mcp", *found))) for found in _NAMED_OF_MCP.findall(code))
    meant = (browser_names.meant(name) for name in _NAMED_OF_BROWSER.findall(code))
    names.update(f"browser_{found[0]}" for found in meant if found)
    return [tool for tool in tools if tool.name in names]


def _called(tool: Tool) -> str:
    if tool.kind == "reads":
        return f"read what this conversation holds, with {tool.name}"
    if not tool.outside:
        return f"use {tool.name} on what it may touch itself"
    if not tool.listed:
        return f"call {tool.name} of {tool.source}, which asks you where it does more than read"
    return f"call the tool {tool.name}, which asks you at each call"
