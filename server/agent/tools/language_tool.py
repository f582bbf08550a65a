"""The base of tools that are languages, too: their one argument is a text, which a model writes as
code in one more language, or gives as the argument of a call.
"""

from typing import Any, ClassVar

from sayso.server.agent.tools.tool import Arguments, Tool, WrittenCall


class LanguageTool(Tool):
    """Its calls are kept and shown as the text itself."""

    is_language = True
    needs_code = True
    argument: ClassVar[str]
    """What the text is called as an argument; `schema` has no other."""

    def read_fence(self, label: str, text: str) -> WrittenCall | None:
        return WrittenCall(self.name, text)

    def as_call(self, label: str, text: str) -> tuple[str, str] | None:
        return None

    def read(self, label: str, text: str) -> Arguments:
        if text.lstrip().startswith("{"):
            return super().read(label, text)
        return {self.argument: text}

    def write(self, arguments: Arguments) -> str:
        return str(arguments[self.argument])


def text_schema(argument: str, **bounds: object) -> dict[str, Any]:
    """The schema of one text."""
    return {
        "type": "object",
        "properties": {argument: {"type": "string", **bounds}},
        "required": [argument],
        "additionalProperties": False,
    }
