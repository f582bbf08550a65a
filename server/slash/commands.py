"""All commands by their names."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Final

from sayso.server.conversations.command_context import CommandContext, CommandResult
from sayso.server.slash.command import Command
from sayso.server.slash.own_commands import of_skill
from sayso.server.trust.principal import OWNER

NOT_HERE: Final = "This device may not decide that; do it on one that may approve."


class Commands:
    """Runs them."""

    def __init__(self, commands: Iterable[Command], own: Iterable[Command] = ()) -> None:
        """`own`: the owner's, gone through anew at each use; none takes the place of another."""
        help_ = Command("help", "this list", self._help, "talk")
        self._commands = {"help": help_, **{command.name: command for command in commands}}
        self._own = own

    def about(self, person: str) -> Mapping[str, str]:
        """A line on each that this person has, by name. Reads files: a thread's."""
        return {name: command.about for name, command in self._of(person).items()}

    def _of(self, person: str) -> Mapping[str, Command]:
        own = self._own if person == OWNER else ()
        return {**{command.name: command for command in own}, **self._commands}

    async def _here(self, context: CommandContext) -> Mapping[str, Command]:
        """The same, with the skills of the conversation's folders that their person follows."""
        agent = context.here.agent
        await agent.look_for_instructions()
        skills = agent.permissions.instructions.skills.values()
        of_folders = {skill.name: of_skill(skill.name, skill.description) for skill in skills}
        return {**of_folders, **await asyncio.to_thread(self._of, context.person)}

    async def run(self, name: str, context: CommandContext) -> CommandResult:
        """Do as a command says. Raises what commands raise."""
        known = await self._here(context)
        command = known.get(name.strip().removeprefix("/").lower())
        if command is None:
            return CommandResult(f"There is no /{name[:40]}; /help lists what there is.", ok=False)
        if not command.is_allowed(context):
            return CommandResult(NOT_HERE, ok=False)
        return await command.run(context)

    async def _help(self, context: CommandContext) -> CommandResult:
        known = await self._here(context)
        width = max(map(len, known))
        lines = [f"/{name:<{width}}  {command.about}" for name, command in known.items()]
        return CommandResult("\n".join(lines))
