"""`/cost`: what this conversation and this day have used."""

from sayso.server.conversations.command_context import CommandContext, CommandResult
from sayso.server.slash.command import Command
from sayso.server.trust.principal import OWNER


async def _cost(context: CommandContext) -> CommandResult:
    here, today = await context.here.used(), context.here.agent.budget.day.used
    lines = [f"This conversation: {_told(here.tokens, here.usd, here.steps)}."]
    if context.person == OWNER:  # What the others use is their own affair.
        lines.append(f"Today, all conversations: {_told(today.tokens, today.usd, today.steps)}.")
    return CommandResult("\n".join(lines))


def _told(tokens: int, usd: float, steps: int) -> str:
    price = f", {usd:.4f} dollars" if usd else ""
    runs = f", code run {steps} {'time' if steps == 1 else 'times'}" if steps else ""
    return f"{tokens:,} tokens{price}{runs}"


SPENDING = (Command("cost", "what was spent here, and today", _cost, "talk"),)
"""Where the price of a model is not known, tokens alone are told."""
