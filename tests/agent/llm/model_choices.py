"""Choosing a language model on this machine, for the tests of the choice."""

from sayso.protocol.home import Home
from sayso.server.agent.llm.local_servers import LocalServer, openai_models
from sayso.server.agent.llm.selection import Choice, Wishes, choose
from sayso.server.models import Shelf


async def chosen(
    *servers: LocalServer,
    wishes: Wishes | None = None,
    environment: dict[str, str] | None = None,
) -> Choice:
    return await choose(
        wishes or Wishes(),
        shelf=Shelf(Home.find()),
        environment=environment or {},
        servers=servers,
    )


def a_silent_port() -> LocalServer:
    """Where nobody listens."""
    return LocalServer("Jan", 9, openai_models, "start it")
