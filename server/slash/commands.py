"""All commands by their names."""

from collections.abc import Iterable, Mapping
from typing import Final

from sayso.server.conversations.command_context import CommandContext, CommandResult
from sayso.server.slash.command import Command

NOT_HERE: Final = "This device may not decide that; do it on one that may approve."


class Commands:
    """Runs them."""

    def __init__(self, commands: Iterable[Command]) -> None:
        self._commands = {command.name: command for command in commands}
        help_ = Command("help", "this list", self._help, "talk")
        self._commands = {"help": help_, **self._commands}

    @property
    def about(self) -> Mapping[str, str]:
        """A line on each, by name."""
        return {name: command.about for name, command in self._commands.items()}

    async def run(self, name: str, context: CommandContext) -> CommandResult:
        """Do as a command says. Raises what commands raise."""
        command = self._commands.get(name.strip().removeprefix("/").lower())
        if command is None:
            return CommandResult(f"There is no /{name[:40]}; /help lists what there is.", ok=False)
        if not command.is_allowed(context):
            return CommandResult(NOT_HERE, ok=False)
        return await command.run(context)

    async def _help(self, context: CommandContext) -> CommandResult:
        width = max(map(len, self._commands))
        lines = [f"/{name:<{width}}  {about}" for name, about in self.about.items()]
        return CommandResult("\n".join(lines))
