"""The tools of one request: how they are offered, and which of them a call is for. Pure."""

from collections.abc import Collection, Sequence
from typing import Final

from sayso.server.agent.llm.model import ToolDefinition
from sayso.server.agent.parsing.fences import fenced
from sayso.server.agent.prompt.language_names import DEFAULT, Languages
from sayso.server.agent.prompt.profiles import Way
from sayso.server.agent.tools.run_code import RunCode, execute_tool
from sayso.server.agent.tools.schema import in_words
from sayso.server.agent.tools.tool import Tool, WrittenCall

_EXAMPLE: Final = '{"argument": "value"}'


class Toolbox:
    """Sayso's own tools, and those that were added."""

    def __init__(
        self,
        code: RunCode,
        own: Sequence[Tool] = (),
        added: Sequence[Tool] = (),
        untold: Collection[str] = (),
        *,
        in_code: bool = True,
        looks_first: bool = False,
    ) -> None:
        """Of two tools with one label the later is left out; a language is nobody else's label.
        `untold`: names of tools that are not offered; calls of them that are kept are known.
        `in_code`: whether code may call what lets it. `looks_first`: whether the model is told of a
        folder with its first request there."""
        self._code = code
        self._by_label: dict[str, Tool] = dict.fromkeys(code.languages, code)
        self._own = [tool for tool in self._take(own) if tool.name not in untold]
        runs = bool(code.languages)
        self._added = self._take([tool for tool in added if runs or not tool.needs_code])
        looking = [tool for tool in self._added if tool.kind == "looks"]
        self.first: Sequence[Tool] = looking if runs and looks_first else ()
        """What shows the model a folder unasked."""
        callable_ones = [tool for tool in (*self._own, *self._added) if "code" in tool.ways]
        self.in_code: Sequence[Tool] = callable_ones if in_code and code.languages else ()
        """What code may call as functions."""
        code.functions = self.in_code
        written = [tool for tool in (*self._own, *self._added) if tool.is_language]
        languages = [tool.name for tool in written]
        self._in_code = (*code.languages, *languages) if code.languages else ()
        names = frozenset(tool.name for tool in self._added if not tool.is_language)
        self.languages = Languages(
            here=tuple(dict.fromkeys((*self._in_code, *(tool.name for tool in self._added)))),
            tools=names,
            aliases=code.aliases,
            perhaps={tool.name: tool.read_fence for tool in self._own if not tool.is_language},
        )

    def _take(self, tools: Sequence[Tool]) -> list[Tool]:
        taken = []
        for tool in tools:
            if tool.name not in self._by_label:
                for label in tool.labels:
                    self._by_label.setdefault(label, tool)
                taken.append(tool)
        return taken

    def find(self, label: str) -> Tool:
        """Whose call this is; what is nobody else's is taken for code."""
        return self._by_label.get(label, self._code)

    @property
    def definitions(self) -> list[ToolDefinition]:
        """For models that call tools."""
        own = [tool.definition for tool in self._own if not tool.is_language]
        code = [execute_tool(self._in_code), *own] if self._in_code else []
        called = [each for each in self._added if "call" in each.ways and not each.is_language]
        return [*code, *(tool.definition for tool in called)]

    @property
    def fences(self) -> str:
        """How a model without tool calls uses what was added; Sayso's own are in its profile."""
        offered = [each for each in self._added if "fence" in each.ways and not each.is_language]
        if not offered:
            return ""
        listed = "\n".join(_line(tool) for tool in offered)
        return (
            "These functions can be called like code, in a block with the function's name and its "
            f"arguments as JSON:\n{fenced(offered[0].name, _EXAMPLE)}\n{listed}"
        )

    def told(self, way: Way) -> str:
        """How what was added is used, where a model is offered the rest in this way."""
        more = (tool.told for tool in self._added)
        parts = (self.fences if way == "fence" else "", self.functions(way), *more)
        return "\n".join(part for part in parts if part)

    def told_with(self, request: str) -> str:
        """What the model is told together with a request in these words."""
        return "\n\n".join(filter(None, (tool.told_with(request) for tool in self._added)))

    def functions(self, way: Way) -> str:
        """How code calls what was added, where the model is offered the rest in this way."""
        added = [tool for tool in self.in_code if tool in self._added and tool.listed]
        if not added:
            return ""
        told = [tool.name if way in tool.ways else _line(tool) for tool in added]
        first = added[0].name
        return (
            f"Code can call these, too, as sayso.{first}(name=value) in Python, sayso.{first}"
            f"({{name: value}}) in JavaScript and sayso {first} --name value in bash:\n"
            + "\n".join(told)
        )

    def offers(self, name: str) -> bool:
        """Whether there is a tool to call by this name."""
        tools = (*self._own, *self._added)
        called = {tool.name for tool in tools if not tool.is_language}
        return name == self._code.name or name in called

    def read_call(self, name: str, arguments: str) -> WrittenCall:
        """What a tool call meant, whatever it is named and however its arguments are written; one
        without a text if that can't be told."""
        tool = self._by_label.get(name)
        wanted = tool.read_call(arguments) if tool and tool is not self._code else None
        wanted = wanted or self._code.read_any(name, arguments, self.languages)
        return wanted or WrittenCall(DEFAULT, "")

    def read_fence(self, label: str, text: str) -> WrittenCall:
        """What a fence meant that is to be carried out."""
        return self.find(label).read_fence(label, text) or WrittenCall(label, text)

    def as_call(self, label: str, text: str) -> tuple[str, str]:
        """Name and arguments of the tool call that a kept call was."""
        return self.find(label).as_call(label, text) or self._code.as_call(label, text)


def _line(tool: Tool) -> str:
    needed = tool.schema.get("required", ())
    arguments = ", ".join(
        f"{name}{'' if name in needed else '?'}: {in_words(one)}"
        for name, one in tool.schema.get("properties", {}).items()
    )
    return f"{tool.name}({arguments}): {' '.join(tool.use.split())}"
