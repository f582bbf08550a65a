"""Model servers on this machine: which answer, what they have, and which model to take.

Every probe is one small request to loopback, all at once, each given up after 300 ms. Models that
such a server only passes on to a cloud are left out: what is said would leave this network.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Literal

from sayso.server.agent.llm.loopback_http import HttpAnswer, NoAnswer, ask

PROBE_SECONDS = 0.3
"""A server that runs answers a list in a few milliseconds; who starts Sayso should not wait."""

NOT_FOR_TALKING = (
    "embed", "rerank", "whisper", "clip", "bge-", "minilm", "guard", "-base", "ocr", "tts",
)  # fmt: skip
"""Parts of names of models that do something other than answer."""

FITTING = 0.6
"""Of the machine's memory, what a model may take: the rest is for its context and everything
else that runs."""


@dataclass(frozen=True, slots=True)
class ListedModel:
    """A model that a server has."""

    name: str
    bytes: int | None = None
    loaded: bool = False
    """Whether it lies in memory now: the person uses it."""
    tools: bool | None = None
    """Whether it takes tools; None if the server does not tell."""
    purpose: Literal["talking", "other"] = "talking"


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A kind of model server, and where it usually listens."""

    name: str
    port: int
    survey: Callable[[str], Awaitable[list[ListedModel]]]
    """Lists the models of the server at this root URL. Raises NoAnswer, Locked."""
    start: str
    """How a person starts it, to complete "… does not answer; "."""

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def api_base(self) -> str:
        """Where it speaks the OpenAI wire."""
        return f"{self.root}/v1"


@dataclass(frozen=True, slots=True)
class ServersFound:
    """What came of asking one server."""

    server: LocalServer
    models: tuple[ListedModel, ...] = ()
    state: Literal["answers", "locked", "silent"] = "answers"
    """`locked`: it is there, but wants a key."""

    def named(self, name: str) -> ListedModel | None:
        return next((one for one in self.models if one.name == name), None)


class Locked(Exception):
    """The server answers, but wants a key."""


async def look(servers: Iterable[LocalServer]) -> list[ServersFound]:
    """Ask all of them at once, and wait no longer than for one."""
    return await asyncio.gather(*(_survey(server) for server in servers))


def pick(models: Iterable[ListedModel], memory_bytes: int) -> ListedModel | None:
    """The model to talk with: one that is loaded, else one that fits into memory.

    Where several do, one that takes tools, else the first listed: Ollama lists the newest first.
    """
    talking = [
        one
        for one in models
        if one.purpose == "talking"
        and not any(part in one.name.lower() for part in NOT_FOR_TALKING)
    ]
    fitting = [one for one in talking if (one.bytes or 0) <= memory_bytes * FITTING]
    candidates = [one for one in talking if one.loaded] or fitting
    return max(candidates, key=lambda one: bool(one.tools), default=None)


async def _survey(server: LocalServer) -> ServersFound:
    try:
        async with asyncio.timeout(PROBE_SECONDS):
            return ServersFound(server, tuple(await server.survey(server.root)))
    except (NoAnswer, TimeoutError):
        return ServersFound(server, state="silent")
    except Locked:
        return ServersFound(server, state="locked")


async def openai_models(root: str) -> list[ListedModel]:
    """What a server lists on the OpenAI wire."""
    answer = await ask(f"{root}/v1/models", seconds=PROBE_SECONDS)
    return [
        ListedModel(name)
        for record in _records(answer, "data")
        if (name := _text(record, "id")) and _text(record, "object") in {"", "model"}
    ]


async def ollama_models(root: str) -> list[ListedModel]:
    """What Ollama has on its disk, and which of it lies in memory."""
    tags, running = await asyncio.gather(
        ask(f"{root}/api/tags", seconds=PROBE_SECONDS),
        ask(f"{root}/api/ps", seconds=PROBE_SECONDS),
    )
    loaded = {_text(record, "name") for record in _records(running, "models")}
    return [
        ListedModel(
            name=name,
            bytes=_number(record, "size"),
            loaded=name in loaded,
            tools=_has(record, "capabilities", "tools"),
            purpose="other" if _has(record, "capabilities", "completion") is False else "talking",
        )
        for record in _records(tags, "models")
        if (name := _text(record, "name")) and not _elsewhere(record, name)
    ]


async def ollama_details(root: str, name: str) -> ListedModel | None:
    """One model of Ollama's, more closely: None if it runs elsewhere after all (under an alias)."""
    try:
        answer = await ask(f"{root}/api/show", seconds=PROBE_SECONDS, send={"model": name})
        record = answer.json()
    except NoAnswer:
        return ListedModel(name)
    if not isinstance(record, dict) or answer.status != HTTPStatus.OK:
        return ListedModel(name)
    if _elsewhere(record, name):
        return None
    return ListedModel(name, tools=_has(record, "capabilities", "tools"))


async def lm_studio_models(root: str) -> list[ListedModel]:
    """What LM Studio has; versions before 0.4 tell less."""
    answer = await ask(f"{root}/api/v1/models", seconds=PROBE_SECONDS)
    if answer.status == HTTPStatus.NOT_FOUND:
        return await openai_models(root)
    return [
        ListedModel(
            name=name,
            bytes=_number(record, "size_bytes"),
            loaded=bool(record.get("loaded_instances")),
            tools=_trained_for_tools(record),
            purpose="talking" if _text(record, "type") in {"llm", "vlm"} else "other",
        )
        for record in _records(answer, "models")
        if (name := _text(record, "key"))
    ]


LOCAL_SERVERS = (
    LocalServer("Ollama", 11434, ollama_models, "start it with `ollama serve`"),
    LocalServer("LM Studio", 1234, lm_studio_models, "start its server in the Developer tab"),
    LocalServer("llamafile", 8080, openai_models, "start the llamafile with `--server`"),
    LocalServer("Jan", 1337, openai_models, "start its local API server in the settings"),
)
"""In the order in which they are preferred: what tells most about its models first."""


def _records(answer: HttpAnswer, name: str) -> list[Mapping[str, object]]:
    """The list of this name in a JSON answer. Raises NoAnswer, Locked."""
    if answer.status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        raise Locked
    content = answer.json()
    records = content.get(name) if isinstance(content, dict) else None
    if answer.status != HTTPStatus.OK or not isinstance(records, list):
        message = "this is no model server"
        raise NoAnswer(message)
    return [record for record in records if isinstance(record, dict)]


def _elsewhere(record: Mapping[str, object], name: str) -> bool:
    """Whether Ollama only passes this model on to a cloud."""
    return bool(record.get("remote_host")) or name.endswith(("-cloud", ":cloud"))


def _trained_for_tools(record: Mapping[str, object]) -> bool | None:
    capabilities = record.get("capabilities")
    if not isinstance(capabilities, dict) or "trained_for_tool_use" not in capabilities:
        return None
    return bool(capabilities["trained_for_tool_use"])


def _text(record: Mapping[str, object], name: str) -> str:
    value = record.get(name)
    return value if isinstance(value, str) else ""


def _number(record: Mapping[str, object], name: str) -> int | None:
    value = record.get(name)
    return value if isinstance(value, int) else None


def _has(record: Mapping[str, object], name: str, wanted: str) -> bool | None:
    values = record.get(name)
    return wanted in values if isinstance(values, list) else None
