"""The tools `edit` and `rename`: edits that are computed, shown and made as a patch is."""

from typing import Final

from sayso.server.agent.tools.tool import Arguments, ToolContext, ToolRefused
from sayso.server.capabilities.coding.file_edit import FileEdit
from sayso.server.capabilities.coding.program import hashes, looked, reading
from sayso.server.policy.actions import Actions

_TEXT: Final = {"type": "string", "maxLength": 1_000}
_LONG: Final = {"type": "string", "maxLength": 200_000}
_LINE: Final = {"type": "integer", "minimum": 1, "maximum": 10_000_000}

_EDIT: Final = {
    "type": "object",
    "properties": {"path": _TEXT, "old": _LONG, "new": _LONG, "all": {"type": "boolean"}},
    "required": ["path", "old", "new"],
    "additionalProperties": False,
}
_RENAME: Final = {
    "type": "object",
    "properties": {"symbol": _TEXT, "new": _TEXT, "path": _TEXT, "line": _LINE},
    "required": ["symbol", "new"],
    "additionalProperties": False,
}

_DIFFERENCE: Final = "--- "
"""How a difference begins."""


class _ComputedEdit(FileEdit):
    """Asks the program what an edit makes of the files, and makes that."""

    def read(self, label: str, text: str) -> Arguments:
        return {"patch": text} if text.startswith(_DIFFERENCE) else super().read(label, text)

    def write(self, arguments: Arguments) -> str:
        return str(arguments["patch"]) if "patch" in arguments else super().write(arguments)

    def looks_at(self, arguments: Arguments, where: str) -> Actions | None:
        if "patch" in arguments:
            return super().looks_at(arguments, where)
        return reading((str(arguments.get("path") or "."),), where)

    async def prepare(self, arguments: Arguments, context: ToolContext) -> Arguments:
        answer = await looked(context, {**arguments, "do": self.name})
        self._seen.saw(hashes(answer.get("seen")), context.history)
        if not (difference := str(answer.get("diff", ""))):
            raise ToolRefused("That changes nothing.")
        return self.planned(difference, difference)


class Edit(_ComputedEdit):
    """Replaces a text in a file. For code, which computes both; models write patches."""

    name = "edit"
    use = (
        "Replace a text of a file by another, letter by letter; it must be there once, or set all."
    )
    schema = _EDIT
    ways = frozenset({"code"})


class Rename(_ComputedEdit):
    """Gives a symbol another name wherever it is meant."""

    name = "rename"
    use = (
        "Rename a function, class or variable of Python in all files, where it is meant and not"
        " where something is only called alike; in other languages it lists the places. path, line:"
        " where it is defined, if there are several."
    )
    schema = _RENAME
