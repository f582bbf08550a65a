"""A Python function as a tool: of a program that uses Sayso, or of a package that the owner let in.

It runs in the process that has it, outside of the sandbox, and the approval says so. Its schema is
made of its annotations and its use of its docstring; what a model writes is held against the schema
before anybody is asked, so that what a person reads is what the function is given.
"""

import asyncio
import inspect
import json
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Sequence
from typing import Any, Final, get_type_hints

from sayso.protocol.untrusted_json import UntrustedJsonError, read_json
from sayso.server.agent.prompt.profiles import Way
from sayso.server.agent.tools.annotations import schema_of, values_for
from sayso.server.agent.tools.schema import check_schema
from sayso.server.agent.tools.tool import WAYS, Arguments, Tool, ToolContext
from sayso.server.runtimes.runtime import Ending, Output

RESERVED: Final = frozenset(
    {
        "execute", "run", "execute_code", "run_code", "code", "functions", "output", "access",
        "json", "json5", "tool_call", "python", "py", "py3", "python3", "ipython", "jupyter",
        "tool_code", "bash", "sh", "shell", "javascript", "js", "node", "nodejs", "tell", "ask",
        "call", "together", "promises", "connect", "begin",
    }
)  # fmt: skip
"""Names that mean something else where a model writes them."""


class Function(Tool):
    """One function."""

    def __init__(
        self,
        call: Callable[..., Any],
        owner: str = "function of your program",
        *,
        ways: Collection[Way] = WAYS,
    ) -> None:
        """`call` may be a coroutine function; what it returns is shown as text or JSON. `owner`:
        what a person is told that it is. `ways`: how it may be offered. Raises TypeError where a
        model could not call it.
        """
        self.name = call.__name__.lower()
        check_name(self.name)
        self.use = inspect.getdoc(call) or ""
        self.schema = schema_of(call)
        self.ways = frozenset(ways)
        self._call = call
        self._owner = owner

    def may_touch(self, arguments: Arguments) -> tuple[str, ...]:
        return (f"whatever this {self._owner} does, outside of the sandbox",)

    def value(self, outputs: Sequence[Output]) -> object:
        """What the function returned: text as it is, another value out of its JSON."""
        text = "".join(output.text for output in outputs if output.kind == "result")
        returned = get_type_hints(self._call).get("return", str)
        if returned is str:
            return text
        try:
            return read_json(text, control_characters=True) if text else None
        except UntrustedJsonError:
            return text

    async def run(
        self, arguments: Arguments, context: ToolContext
    ) -> AsyncIterator[Output | Ending]:
        clock = asyncio.get_running_loop().time
        began = clock()
        try:
            values = values_for(self._call, arguments)
            if inspect.iscoroutinefunction(self._call):
                result = await self._call(**values)
            else:
                result = await asyncio.to_thread(self._call, **values)
        except Exception as problem:  # noqa: BLE001 (whatever a program's own function raises)
            yield Output("error", f"{type(problem).__name__}: {problem}\n")
            yield Ending("error", clock() - began)
        else:
            if result is not None:
                yield Output("result", _text(result))
            yield Ending("ok", clock() - began)


def as_tools(given: Iterable[Tool | Callable[..., Any]]) -> tuple[Tool, ...]:
    """Tools and functions as tools. Raises TypeError where one of them can't be one."""
    tools: dict[str, Tool] = {}
    for one in given:
        tool = one if isinstance(one, Tool) else Function(one)
        check_tool(tool)
        if tool.name in tools:
            raise TypeError(f"Two tools are called {tool.name}; give one of them another name.")
        tools[tool.name] = tool
    return tuple(tools.values())


def check_name(name: str) -> None:
    """Raise TypeError where a tool can't be called so."""
    if not (name.isidentifier() and name.isascii() and name == name.lower()) or name in RESERVED:
        raise TypeError(f"A tool can't be called {name}; define it with another name.")


def check_tool(tool: Tool) -> None:
    """Raise TypeError where a tool that is not Sayso's own would get round what holds for them."""
    check_name(tool.name)
    if tuple(tool.labels) != (tool.name,):
        raise TypeError(f"The tool {tool.name} must go by its name alone.")
    if tool.kind != "acts" or not tool.outside or type(tool).goes_unasked is not Tool.goes_unasked:
        raise TypeError(
            f"The tool {tool.name} must be asked about: leave kind, outside and goes_unasked alone."
        )
    try:
        check_schema(tool.schema)
    except TypeError as error:
        raise TypeError(f"The tool {tool.name} can't be offered: {error}.") from None


def _text(result: object) -> str:
    if isinstance(result, str):
        return result
    try:
        return json.dumps(result, ensure_ascii=False)
    except (TypeError, ValueError):
        return str(result)
