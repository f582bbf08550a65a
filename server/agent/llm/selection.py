"""Selects the language model that answers.

In this order: what the person named; a model server on this machine that answers; a company whose
key is in the environment and to which the person said yes; the embedded pocket model; none. The
only requests made here go to loopback.

    choice = await choose(ModelPreferences(), installed=installed, environment=os.environ)
    choice.sentence            # for the screen
    choice.offer               # a key that waits for a yes, where there is one
    choice.weights             # start a Pocket with these, where they are set
"""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from sayso.server.agent.llm import local_servers
from sayso.server.agent.llm.local_servers import (
    LOCAL_SERVERS,
    ListedModel,
    LocalServer,
    ServersFound,
)
from sayso.server.agent.llm.providers import COMPANIES, Offer, Provider, company_of, with_keys
from sayso.server.home_network import is_at_home
from sayso.server.models.errors import ModelError, ModelMissing
from sayso.server.models.installed import InstalledModels
from sayso.server.models.machine import memory_bytes
from sayso.server.models.model import Model

Origin = Literal["named", "local server", "cloud", "embedded", "none"]

Profile = Literal["pocket", "local-small", "default"]
"""How to talk to the model: with worked examples for a pocket model, briefly and in small steps
for a small one, as usual for the others."""

POCKET_BYTES = 700_000_000
"""An embedded model's file smaller than this holds fewer than a billion parameters: it needs
examples and one step at a time."""

SMALL_BYTES = 9_000_000_000
"""Local models up to about 14 billion parameters."""

NO_KEY = "none"
"""Sent where no key is needed: without it, litellm would send the person's OpenAI key."""

SERVER_PREFIXES: Mapping[str, str] = {
    "ollama": "Ollama",
    "ollama_chat": "Ollama",
    "lm_studio": "LM Studio",
    "llamafile": "llamafile",
    "jan": "Jan",
}
"""Which local server stands before the slash of a model's name."""

STILL_WORKS = "Everything that needs no language model works."


@dataclass(frozen=True, slots=True)
class ModelPreferences:
    """What the settings say; the fields are those of their section `language_model`."""

    model: str = "auto"
    api_base: str = ""
    api_key_variable: str = ""
    calls_tools: Literal["auto", "yes", "no"] = "auto"
    cloud_allowed: tuple[str, ...] = ()
    cloud_refused: tuple[str, ...] = ()
    look_for_local: bool = True
    stays_home: bool = False


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The language model to use, and why."""

    origin: Origin
    sentence: str
    """For the screen: what answers, and what that means."""
    model: str = ""
    """litellm's name for it; empty for none, and for an embedded model until it runs."""
    api_base: str | None = None
    """Where it is asked; None for the provider's own address."""
    api_key: str | None = field(default=None, repr=False)
    """What to show there; None where litellm knows better."""
    key_variable: str = ""
    """The environment variable that the key came from."""
    profile: Profile = "default"
    calls_tools: bool = False
    asks_about_tools: bool = False
    """Whether its server is to be asked once whether it takes tools."""
    weights: Path | None = None
    """The file that the embedded engine must serve."""
    offer: Offer | None = None
    """A cloud key that waits for a yes."""

    @property
    def company(self) -> Provider | None:
        """Who is sent what the person says; None if it stays on this machine."""
        return None if self.api_base or self.weights else company_of(self.model)

    @property
    def leaves_home(self) -> bool:
        """Whether what the person says goes further than their own network."""
        if self.origin == "none" or self.weights:
            return False
        return not (self.api_base and is_at_home(urlsplit(self.api_base).hostname or ""))

    @property
    def name(self) -> str:
        """For screens: the model's own name."""
        return self.weights.stem if self.weights else self.model.removeprefix("openai/")


async def choose(
    wishes: ModelPreferences,
    *,
    installed: InstalledModels,
    environment: Mapping[str, str],
    servers: Iterable[LocalServer] = LOCAL_SERVERS,
) -> ModelChoice:
    """Choose. Whatever is wrong is told in the choice's sentence; nothing is raised."""
    servers = tuple(servers)
    if wishes.model == "none":
        choice = ModelChoice("none", f"No language model, as you wish. {STILL_WORKS}")
    elif wishes.api_base:
        choice = await _at_address(wishes, environment)
    elif wishes.model != "auto":
        choice = await _named(wishes, installed, environment, servers)
    else:
        choice = await _found(wishes, installed, environment, servers)
    if wishes.stays_home and choice.leaves_home:
        choice = _nothing(
            f"{choice.name} would be sent what you say, and language_model.stays_home forbids that;"
            " name a model on this machine, or unset it."
        )
    if wishes.calls_tools != "auto" and choice.origin != "none":
        choice = replace(choice, calls_tools=wishes.calls_tools == "yes")
    return choice


async def _found(
    wishes: ModelPreferences,
    installed: InstalledModels,
    environment: Mapping[str, str],
    servers: tuple[LocalServer, ...],
) -> ModelChoice:
    """Nothing was named: take what is there."""
    if wishes.look_for_local:
        for survey in await local_servers.look(servers):
            if listed := await _talking(survey):
                return _on_server(survey.server, listed, "local server")
    keys = [] if wishes.stays_home else list(with_keys(environment))
    for company, variable, key in keys:
        if company.name in wishes.cloud_allowed:
            return _in_cloud(company.model, company, variable, key)
    choice = await asyncio.to_thread(_pocket, installed)
    for company, variable, _ in keys:
        if company.name not in wishes.cloud_refused:
            offer = Offer(company, variable, wishes.cloud_allowed, wishes.cloud_refused)
            return replace(choice, offer=offer)
    return choice


async def _named(
    wishes: ModelPreferences,
    installed: InstalledModels,
    environment: Mapping[str, str],
    servers: tuple[LocalServer, ...],
) -> ModelChoice:
    """A model was named: that one, or the reason why not."""
    name = wishes.model
    prefix, slash, rest = name.partition("/")
    if slash and prefix in SERVER_PREFIXES:
        return await _named_on_server(SERVER_PREFIXES[prefix], rest, servers)
    if company := company_of(name):
        return _named_in_cloud(wishes, company, environment)
    try:
        model = await asyncio.to_thread(installed.ready, "language_model", name)
    except ModelMissing as missing:
        if name.endswith(".gguf"):
            return _nothing(str(missing))
    except ModelError as error:
        return _nothing(str(error))
    else:
        return _embedded(model)
    if slash:
        sentence = f"Answers come from {name}, as you wish."
        return ModelChoice("named", sentence, name, api_key=_key(wishes, environment))
    surveys = await local_servers.look(servers)
    for survey in surveys:
        if listed := survey.named(name):
            return _on_server(survey.server, listed, "named")
    return _nothing(
        f"No model here is called {name}; name one from `sayso models`, or a provider and its "
        f"model, such as {COMPANIES[0].model}."
    )


async def _named_on_server(title: str, name: str, servers: tuple[LocalServer, ...]) -> ModelChoice:
    server = next(one for one in servers if one.name == title)
    (survey,) = await local_servers.look([server])
    if survey.state == "locked":
        return _nothing(_locked(server))
    if survey.state == "silent":
        return _nothing(f"{server.name} does not answer at {server.root}; {server.start}.")
    if listed := survey.named(name) or survey.named(f"{name}:latest"):
        return _on_server(server, listed, "named")
    there = ", ".join(one.name for one in survey.models[:5]) or "no model"
    return _nothing(f"{server.name} has no {name}; it has {there}.")


async def _at_address(wishes: ModelPreferences, environment: Mapping[str, str]) -> ModelChoice:
    """A server of the person's own that speaks the OpenAI wire."""
    if wishes.api_key_variable and not _key(wishes, environment):
        return _nothing(_unset(wishes.api_key_variable))
    if wishes.model == "auto":
        return _nothing(
            f"language_model.api_base is {wishes.api_base}, but no model is named; "
            f"name one with `sayso settings set language_model.model NAME`."
        )
    return ModelChoice(
        "named",
        f"Answers come from {wishes.model} at {wishes.api_base}, as you wish.",
        model=f"openai/{wishes.model.removeprefix('openai/')}",
        api_base=wishes.api_base,
        api_key=_key(wishes, environment) or NO_KEY,
        key_variable=wishes.api_key_variable,
        asks_about_tools=wishes.calls_tools == "auto",
    )


def _named_in_cloud(
    wishes: ModelPreferences, company: Provider, environment: Mapping[str, str]
) -> ModelChoice:
    if wishes.api_key_variable:
        variable, key = wishes.api_key_variable, _key(wishes, environment)
    else:
        variable, key = company.key(environment) or (company.variables[0], None)
    if not key:
        return _nothing(_unset(variable))
    return _in_cloud(wishes.model, company, variable, key, origin="named")


def _in_cloud(
    model: str, company: Provider, variable: str, key: str, *, origin: Origin = "cloud"
) -> ModelChoice:
    return ModelChoice(
        origin,
        f"Answers come from {model}: what you say is sent to {company.title}.",
        model=model,
        api_key=key,
        key_variable=variable,
        calls_tools=True,
    )


async def _talking(survey: ServersFound) -> ListedModel | None:
    """The model to take from this server."""
    listed = local_servers.pick(survey.models, memory_bytes())
    if listed is None or survey.server.survey is not local_servers.ollama_models:
        return listed
    details = await local_servers.ollama_details(survey.server.root, listed.name)
    return details and replace(listed, tools=details.tools)


def _on_server(server: LocalServer, listed: ListedModel, origin: Origin) -> ModelChoice:
    return ModelChoice(
        origin,
        f"Answers come from {listed.name} in {server.name}, on this machine.",
        model=f"openai/{listed.name}",
        api_base=server.api_base,
        api_key=NO_KEY,
        profile="local-small" if (listed.bytes or 0) <= SMALL_BYTES else "default",
        calls_tools=bool(listed.tools),
    )


def _pocket(installed: InstalledModels) -> ModelChoice:
    """The largest model that was fetched and fits, else the one that comes with Sayso."""
    fetched = [
        one for one in installed.models() if one.kind == "language_model" and one.source == "hub"
    ]
    fitting = [one for one in fetched if one.bytes <= memory_bytes() * local_servers.FITTING]
    for model in sorted(fitting, key=lambda one: one.bytes, reverse=True):
        try:
            installed.verify(model)
        except ModelError:
            continue  # `sayso doctor` tells
        return _embedded(model)
    try:
        return _embedded(installed.starter("language_model"))
    except ModelError as error:
        return _nothing(str(error))


def _embedded(model: Model) -> ModelChoice:
    pocket = model.bytes <= POCKET_BYTES
    what = "a pocket model: quick and private, but often wrong" if pocket else "on this machine"
    return ModelChoice(
        "embedded",
        f"Answers come from {model.path.stem}, {what}.",
        profile="pocket" if pocket else "local-small",
        weights=model.path,
    )


def _nothing(reason: str) -> ModelChoice:
    return ModelChoice("none", f"{reason} {STILL_WORKS}")


def _locked(server: LocalServer) -> str:
    return (
        f"{server.name} answers at {server.root}, but wants a key; set language_model.api_base to "
        f"{server.api_base} and language_model.api_key_variable to the variable that holds it."
    )


def _unset(variable: str) -> str:
    return (
        f"{variable} is not set in the environment; put the API key there, or choose another model."
    )


def _key(wishes: ModelPreferences, environment: Mapping[str, str]) -> str | None:
    return environment.get(wishes.api_key_variable, "").strip() or None
