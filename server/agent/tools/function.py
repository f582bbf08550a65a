"""Functions of a program that uses Sayso, offered to the model: asked about and recorded as code.

A call of a function is a run in a language of the function's name, whose code is the arguments as
JSON. So approvals, the log, limits and outputs hold for it as for any code. It runs in the program
itself, outside of the sandbox, and the approval says so.
"""

import asyncio
import inspect
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Final, get_type_hints

from sayso.protocol.untrusted_json import read_json
from sayso.server.agent.execution import CodeRunner
from sayso.server.agent.llm.model import Tool
from sayso.server.agent.permissions.access_syntax import LANGUAGE
from sayso.server.agent.stream_closing import closing
from sayso.server.agent.tools.read_output import PAGE
from sayso.server.runtimes.access import Grants
from sayso.server.runtimes.calls.function import CallFunction
from sayso.server.runtimes.network.proxy import Permission
from sayso.server.runtimes.network.traffic_record import Transfer
from sayso.server.runtimes.runtime import Ending, Output

_TYPES: Final[Mapping[object, str]] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    list: "array",
    dict: "object",
}

_TAKEN: Final = frozenset({"execute", PAGE, LANGUAGE})


@dataclass(frozen=True, slots=True)
class Function:
    """One of them."""

    name: str
    about: str
    """What it does, for the model: the docstring."""
    parameters: Mapping[str, Any]
    """JSON schema of its arguments."""
    call: Callable[..., Any]
    """May be a coroutine function. What it returns is shown as text or JSON."""

    @classmethod
    def of(cls, call: Callable[..., Any]) -> "Function":
        """From a function's name, docstring and annotated parameters. Raises TypeError where a
        model could not call it by its name.
        """
        name = call.__name__.lower()
        if not name.isidentifier() or name in _TAKEN:
            raise TypeError(f"A tool can't be called {name}; define it with another name.")
        hints = get_type_hints(call)
        parameters = inspect.signature(call).parameters.values()
        schema = {
            "type": "object",
            "properties": {one.name: _schema(hints.get(one.name)) for one in parameters},
            "required": [one.name for one in parameters if one.default is one.empty],
        }
        return cls(name, inspect.getdoc(call) or "", schema, call)

    @property
    def tool(self) -> Tool:
        """For models that call tools."""
        function = {"name": self.name, "description": self.about, "parameters": self.parameters}
        return {"type": "function", "function": function}

    @property
    def line(self) -> str:
        """For models that write fenced code."""
        names = ", ".join(f"{name}: {one['type']}" for name, one in self._properties.items())
        return f"{self.name}({names}): {' '.join(self.about.split())}"

    @property
    def _properties(self) -> Mapping[str, Any]:
        properties: Mapping[str, Any] = self.parameters["properties"]
        return properties


def fenced_note(functions: Sequence[Function]) -> str:
    """How a model without tools calls them."""
    example = f'```{functions[0].name}\n{{"argument": "value"}}\n```'
    listed = "\n".join(function.line for function in functions)
    return (
        "These functions can be called like code, in a block with the function's name and its "
        f"arguments as JSON:\n{example}\n{listed}"
    )


class Functions:
    """A workshop in which functions can be run, too."""

    def __init__(self, inside: CodeRunner, functions: Sequence[Function]) -> None:
        self._inside = inside
        self._functions = {function.name: function for function in functions}

    @property
    def languages(self) -> Sequence[str]:
        return (*self._inside.languages, *self._functions)

    @property
    def aliases(self) -> Mapping[str, str]:
        return self._inside.aliases

    @property
    def refusal(self) -> str:
        return "" if self._functions else self._inside.refusal

    @property
    def where(self) -> str:
        return self._inside.where

    @property
    def reach(self) -> Grants:
        return self._inside.reach

    async def set_reach(self, reach: Grants) -> bool:
        """Let this be what code can reach; return whether variables were lost over it."""
        return await self._inside.set_reach(reach)

    def heed(self, permission: Permission) -> None:
        """Let nothing pass into the network, at any moment, but what this then allows."""
        self._inside.heed(permission)

    def take_passages(self) -> Sequence[Transfer]:
        """What went over the network since this was last asked."""
        return self._inside.take_passages()

    def may_touch(self, language: str) -> tuple[str, ...]:
        """What code could touch, in words for the person."""
        if language in self._functions:
            return ("whatever this function of your program does, outside of the sandbox",)
        return self._inside.may_touch(language)

    def run_alone(self, language: str, code: str) -> AsyncIterator[Output | Ending]:
        """Run code apart from what earlier runs left."""
        if language in self._functions:
            return self.run(language, code)
        return self._inside.run_alone(language, code)

    def offering(self, run: str, functions: Sequence[CallFunction]) -> AbstractContextManager[None]:
        """Let the code of the run that begins within call these functions."""
        return self._inside.offering(run, functions)

    async def run(self, language: str, code: str) -> AsyncIterator[Output | Ending]:
        """Run code. Leaving the iteration early interrupts it."""
        function = self._functions.get(language)
        if function is None:
            async with closing(self._inside.run(language, code)) as pieces:
                async for piece in pieces:
                    yield piece
            return
        clock = asyncio.get_running_loop().time
        began = clock()
        try:
            result = await _call(function, code)
        except Exception as problem:  # noqa: BLE001 (whatever a program's own function raises)
            yield Output("error", f"{type(problem).__name__}: {problem}\n")
            yield Ending("error", clock() - began)
        else:
            if result is not None:
                yield Output("result", _text(result))
            yield Ending("ok", clock() - began)


async def _call(function: Function, code: str) -> object:
    arguments = read_json(code, control_characters=True)
    if not isinstance(arguments, dict):
        raise TypeError("the arguments must be a JSON object")
    if inspect.iscoroutinefunction(function.call):
        return await function.call(**arguments)
    return await asyncio.to_thread(function.call, **arguments)


def _text(result: object) -> str:
    if isinstance(result, str):
        return result
    try:
        return json.dumps(result, ensure_ascii=False)
    except (TypeError, ValueError):
        return str(result)


def _schema(hint: object) -> dict[str, str]:
    return {"type": _TYPES.get(getattr(hint, "__origin__", hint), "string")}
