"""Asks the person, line by line, whether code may run."""

from contextlib import aclosing

from sayso.client.errors import ClientError
from sayso.client.once import Decide
from sayso.client.terminal.editor import edit
from sayso.client.terminal.lines import lines
from sayso.client.terminal.plain import PlainScreen, indented
from sayso.protocol.messages import ApprovalRequest, Approve


def ask_at_terminal(screen: PlainScreen) -> Decide:
    """Reads the answer from standard input. The screen has shown the question."""

    async def decide(request: ApprovalRequest) -> Approve:
        async with aclosing(lines()) as answers:
            async for line in answers:
                decision = await understand(line, request, screen)
                if decision is not None:
                    return decision
        return Approve(request.id, request.nonce, "no")

    return decide


async def understand(line: str, request: ApprovalRequest, screen: PlainScreen) -> Approve | None:
    """Turns what the person wrote into an answer; none: ask again."""
    word = line.strip().lower()
    if word in {"y", "yes"}:
        return Approve(request.id, request.nonce, "yes")
    if word in {"n", "no"}:
        return Approve(request.id, request.nonce, "no")
    if request.kind == "access":
        if word in {"a", "always", "for good"}:
            return Approve(request.id, request.nonce, "yes", lasting=True)
        screen.say("Please answer y, a or n.")
        return None
    if word not in {"e", "edit"}:
        screen.say("Please answer y, n or e.")
        return None
    try:
        code = await edit(request.code, request.language)
    except ClientError as error:
        screen.say(f"{error} y, n or e?")
        return None
    if code.strip() == request.code.strip():
        screen.say("Nothing was changed. Run it as it is? y, n or e?")
        return None
    screen.say(f"Running instead:\n{indented(code)}")
    return Approve(request.id, request.nonce, "edit", code)
