"""Choosing a language model on this machine, for the tests of the choice."""

from sayso.protocol.home import Home
from sayso.server.agent.llm.local_servers import LocalServer, openai_models
from sayso.server.agent.llm.selection import ModelChoice, ModelPreferences, choose
from sayso.server.models import InstalledModels


async def chosen(
    *servers: LocalServer,
    wishes: ModelPreferences | None = None,
    environment: dict[str, str] | None = None,
) -> ModelChoice:
    return await choose(
        wishes or ModelPreferences(),
        installed=InstalledModels(Home.find()),
        environment=environment or {},
        servers=servers,
    )


def a_silent_port() -> LocalServer:
    """Where nobody listens."""
    return LocalServer("Jan", 9, openai_models, "start it")
