"""The tool `patch`: changes files as a patch says, all of it or nothing.

The patch is tried before anybody is asked. One that does not fit costs the model a line and the
person nothing; of one that fits, the person is asked for the difference that it really makes.
"""

from collections.abc import Sequence
from typing import Final

from sayso.server.agent.tools.language_tool import LanguageTool, text_schema
from sayso.server.agent.tools.tool import Arguments, ToolContext, ToolRefused
from sayso.server.capabilities.coding.file_edit import FileEdit
from sayso.server.capabilities.coding.program import hashes, looked, texts

TOLD: Final = "The patch does not fit, so nothing was changed."
"""What the person is told: where it does not fit is for the model."""


class Patch(LanguageTool, FileEdit):
    """Edits files as a model writes the change."""

    name = "patch"
    use = "Change files as a patch says (*** Begin Patch …), all of it or nothing."
    argument = "patch"
    schema = text_schema(argument)

    @property
    def labels(self) -> Sequence[str]:
        return (self.name, "apply_patch")

    async def prepare(self, arguments: Arguments, context: ToolContext) -> Arguments:
        known = self._seen.known(context.history)
        request = {"do": "plan", "patch": arguments["patch"], "seen": known}
        answer = await looked(context, request)
        self._seen.saw(hashes(answer.get("seen")), context.history)
        if problems := texts(answer.get("problems")):
            whole = [name for name in texts(answer.get("failed")) if self._seen.missed(name)]
            advice = [
                f"Patches of {name} did not fit several times now: write it whole, with"
                f" *** Add File: {name}."
                for name in whole
            ]
            raise ToolRefused("\n".join((*problems, *advice, "Nothing was changed.")), TOLD)
        return self.planned(str(answer.get("diff", "")), arguments["patch"])
