"""Builds the parts of a server from its settings, except speech (assembly/speech.py).

A part that can't be had is replaced by one that says why, and the rest works.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

from sayso.protocol.health import Finding
from sayso.protocol.home import Home
from sayso.server.agent.llm.backend import Backend
from sayso.server.agent.llm.configured_model import for_talking
from sayso.server.agent.llm.embedded.client import MODEL_NAME, Pocket, PocketModel, introduction
from sayso.server.agent.llm.embedded.process import PocketError
from sayso.server.agent.llm.health import MonitoredModel
from sayso.server.agent.llm.litellm_model import LitellmModel
from sayso.server.agent.llm.model import ChatModel, Endpoint, ModelError
from sayso.server.agent.llm.selection import ModelChoice
from sayso.server.agent.prompt.profiles import PROFILES, ModelProfile, profile
from sayso.server.agent.tools.tool import Tool
from sayso.server.assembly.mcp import open_servers
from sayso.server.assembly.tools import load_tools
from sayso.server.assembly.unavailable import UnavailableModel
from sayso.server.capabilities.hooks.person_hooks import hook_trouble
from sayso.server.capabilities.skills.skill_files import read_skills
from sayso.server.capabilities.skills.tools import Skills
from sayso.server.capabilities.web.tools import search_trouble
from sayso.server.models import InstalledModels
from sayso.server.models.machine import memory_bytes
from sayso.server.models.names import best_fitting
from sayso.server.observability.metrics import Part
from sayso.server.process import end, keep_for_good
from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.grants import Grants
from sayso.server.runtimes.kernels.environment import (
    KernelEnvironment,
    KernelEnvironmentError,
    ensure,
)
from sayso.server.runtimes.language import Language
from sayso.server.runtimes.languages.available import available
from sayso.server.runtimes.protection.folder_identity import Identity
from sayso.server.runtimes.resources.bounds import ResourceBounds
from sayso.server.runtimes.resources.cgroups import Cgroups
from sayso.server.runtimes.sandbox.sandbox import Sandbox
from sayso.server.runtimes.sandbox.self_test.proof import SandboxReport, find_sandbox
from sayso.server.settings import Settings, SettingsError
from sayso.server.settings.mcp_servers import mcp_servers

log = logging.getLogger(__name__)

MODEL = "language model"

WARM_WITHIN_S: Final = 30.0
"""So long a server waits for its language model before it says that it is ready: what takes longer
holds up the first question that needs it, and nothing else."""

MOST_MODELS: Final = 4
"""Beside that of the settings, until the server ends: an engine takes half a gigabyte or more."""
KEPT_FOR_THE_OWNER: Final = 2
"""Of these, whatever others have chosen."""

NOT_FETCHED: Final = (
    "There is no model {name} among those on this machine, which /choices and `sayso models` list; "
    "the owner names any other, on a device that may administer, and a file in the settings."
)
TOO_MANY: Final = (
    "As many language models as may be have been begun already; choose one of them, or the usual "
    "one with `/model default`."
)


@dataclass(frozen=True, slots=True)
class CodeBackend:
    """What the places where code runs have in common."""

    report: SandboxReport
    environment: KernelEnvironment | None
    languages: Sequence[Language] = ()
    cgroups: Cgroups | None = None
    """What bounds the memory of each conversation's code, beside the watch; None where none is."""

    def code_runner(self, folder: Path, reach: Grants, known: Identity | None = None) -> CodeRunner:
        """A place where code runs, confined; or one that says why none does. `known`: which folder
        a person chose."""
        return CodeRunner(
            folder,
            self.environment,
            self.report,
            reach,
            languages=self.languages,
            identity=known,
            bounds=ResourceBounds(cgroups=self.cgroups),
        )


async def _loaded(pocket: Pocket) -> None:
    """Wait for the embedded model; that it never comes is told by who asks it."""
    with suppress(PocketError):
        await pocket.ready()


def _names_a_file(name: str) -> bool:
    return name.endswith(".gguf") or name.startswith((".", "~", "/", "file:"))


def _first(troubles: Mapping[str, str]) -> str:
    """The first thing that is wrong, with whose it is."""
    return next((f"{name}: {why}" for name, why in troubles.items() if why), "")


def model_profile(choice: ModelChoice, settings: Settings) -> ModelProfile:
    """How to talk to a model, as the settings have it."""
    wanted = settings.agent.manner
    name = choice.profile if wanted == "auto" else wanted
    talk_profile = profile(name if name in PROFILES else "default")
    temperature = settings.language_model.temperature
    return replace(
        talk_profile,
        instructions=settings.agent.instructions,
        temperature=talk_profile.temperature if temperature < 0 else temperature,
    )


class Builder:
    """Builds parts; each ends with the stack that it is given."""

    def __init__(
        self,
        home: Home,
        settings: Settings,
        stack: AsyncExitStack,
        watch: Callable[[str, Callable[[], Part]], None],
        cgroups: Cgroups | None = None,
    ) -> None:
        self._home = home
        self._settings = settings
        self._stack = stack
        self._watch = watch
        """Takes a part's name, and how to find out how it is."""
        self._cgroups = cgroups
        self._installed = InstalledModels(home)
        self._backends: dict[tuple[str, str], Backend] = {}
        """By name and address: each may be an engine, which keeps its memory until the end."""
        self._one_backend_at_a_time = asyncio.Lock()
        self._warming: set[asyncio.Task[object]] = set()
        """What the first answer would wait for."""
        self.findings: dict[str, Finding] = {}
        """How each part is, by its name."""

    async def backend(self) -> Backend:
        """The language model that the settings and this machine allow."""
        choice = await for_talking(self._settings.language_model, self._installed)
        remedy = choice.offer.sentence if choice.offer else ""
        state: Literal["good", "bad"] = "bad" if choice.origin == "none" else "good"
        self.findings[MODEL] = Finding(MODEL, state, choice.sentence, remedy)
        backend = await self._backend_of(choice)
        model = MonitoredModel(backend.model)
        self._watch(MODEL, lambda: Part(model.trouble))
        return replace(backend, model=model)

    async def backend_named(self, name: str, anywhere: bool) -> Backend:
        """The language model of this name; each is built once.

        `anywhere`: the owner names it, and it may be a provider's or another server's, as in the
        settings. Else it is one that was fetched to this machine. A file is named in the settings
        alone.
        """
        async with self._one_backend_at_a_time:
            fetched = await asyncio.to_thread(self._is_fetched, name)
            if not fetched and (not anywhere or _names_a_file(name)):
                return self._no_model(NOT_FETCHED.format(name=name[:80]))
            # A provider's model is at its provider; a bare name may be one of the same server.
            own = self._settings.language_model
            base = "" if fetched or "/" in name else own.api_base
            if (name, base) not in self._backends:
                most = MOST_MODELS if anywhere else MOST_MODELS - KEPT_FOR_THE_OWNER
                if len(self._backends) >= most:
                    return self._no_model(TOO_MANY)
                choice = await for_talking(replace(own, model=name, api_base=base), self._installed)
                backend = await self._backend_of(choice)
                if backend.missing:
                    return backend
                self._backends[name, base] = backend
            return self._backends[name, base]

    def _is_fetched(self, name: str) -> bool:
        there = (model for model in self._installed.models() if model.kind == "language_model")
        return any(model.name == name for model in there)

    def _no_model(self, reason: str) -> Backend:
        return Backend(UnavailableModel(reason), profile("default"), missing=reason)

    async def _backend_of(self, choice: ModelChoice) -> Backend:
        talk_profile = model_profile(choice, self._settings)
        model = await self._model_of(choice, talk_profile)
        missing = choice.sentence if choice.origin == "none" else ""
        return Backend(
            model,
            talk_profile,
            choice.sentence,
            missing,
            leaves_home=choice.leaves_home,
            introduction=self._introduction(choice),
        )

    def _introduction(self, choice: ModelChoice) -> str | None:
        if choice.profile != "pocket":
            return None
        better = f"run `sayso models get {best_fitting(memory_bytes())}`"
        return introduction(self._home, better)

    async def code_backend(self) -> CodeBackend:
        """What code stands on; where it can't run, the reason is found out here."""
        report, environment = await asyncio.gather(find_sandbox(), self._environment())
        if not report.holds:
            reason = f"Code does not run, because {report.reason}."
            self.findings["code"] = Finding("code", "bad", reason, report.remedy)
        if not report.holds or not environment:
            return CodeBackend(report, environment)
        wanted = self._settings.code.languages
        languages, complaints = await asyncio.to_thread(available, environment, wanted)
        known = ", ".join(language.name for language in languages)
        detail = f"{known}, confined by {report.kind}."
        state: Literal["good", "poor"] = "poor" if complaints else "good"
        self.findings["code"] = Finding("code", state, " ".join((detail, *complaints)))
        return CodeBackend(report, environment, languages, self._cgroups)

    async def tools(self) -> tuple[Tool, ...]:
        """Tools of other packages that the settings turn on."""
        names = self._settings.agent.tools
        tools, complaints = await asyncio.to_thread(load_tools, names)
        if names:
            known = ", ".join(tool.name for tool in tools)
            state: Literal["good", "poor"] = "poor" if complaints else "good"
            detail = f"{known}, asked about at each call." if known else "None is on."
            self.findings["tools"] = Finding("tools", state, " ".join((detail, *complaints)))
        return tools

    async def skills(self) -> Skills:
        """What the person keeps for how they want things done."""
        own, *also = skill_folders(self._home)
        skills = Skills(own, tuple(also))
        found, complaints = await asyncio.to_thread(skills.read)
        if found or complaints:
            state: Literal["good", "poor"] = "poor" if complaints else "good"
            known = f"{', '.join(found)}." if found else "None can be used."
            self.findings["skills"] = Finding("skills", state, " ".join((known, *complaints)))
        return skills

    def hooks(self) -> None:
        """Find out what is wrong with the person's hooks."""
        named = self._settings.hooks
        hooks = (*named.before_run, *named.after_change, *named.before_commit, *named.at_end)
        troubles = [
            why for hook in hooks if (why := hook_trouble(hook, self._home.config / "hooks"))
        ]
        if hooks:
            state: Literal["good", "poor"] = "poor" if troubles else "good"
            detail = " ".join(troubles) or f"{len(hooks)}, asked and told as you set them up."
            self.findings["hooks"] = Finding("hooks", state, detail)

    def web(self) -> None:
        """Find out what is wrong with the search page."""
        if trouble := search_trouble(self._settings.web.search):
            self.findings["web"] = Finding("web", "bad", trouble)

    async def mcp(self, sandbox: Sandbox | None) -> Iterable[Tool]:
        """The tools of MCP servers that the settings name; they are connected beside the rest."""
        try:
            settings = mcp_servers(self._home)
        except SettingsError as error:
            self._missing("MCP servers", error)
            return ()
        servers = open_servers(self._home, settings, sandbox)
        if servers is None:
            return ()
        names = ", ".join(settings)
        self.findings["MCP servers"] = Finding("MCP servers", "good", f"{names}.")
        self._watch("MCP servers", lambda: Part(_first(servers.troubles)))
        self._stack.push_async_callback(servers.close)
        self._stack.push_async_callback(end, asyncio.create_task(servers.run()))
        return servers

    async def _environment(self) -> KernelEnvironment | None:
        try:
            return await asyncio.to_thread(ensure, self._home, log.info)
        except KernelEnvironmentError as error:
            self._missing("code", error)
            return None

    async def _model_of(self, choice: ModelChoice, talk_profile: ModelProfile) -> ChatModel:
        if choice.origin == "none":
            return UnavailableModel(choice.sentence)

        told: Literal["yes", "no"] = "yes" if choice.calls_tools else "no"
        tools: Literal["yes", "no", "probe"] = "probe" if choice.asks_about_tools else told

        def connect(endpoint: Endpoint) -> LitellmModel:
            return LitellmModel(
                choice.model or f"openai/{MODEL_NAME}",
                endpoint,
                name=choice.name,
                calls_tools=tools,
                sees=self._settings.language_model.sees,
                temperature=talk_profile.temperature,
                reply_tokens=talk_profile.reply_tokens,
            )

        model = connect(Endpoint(choice.api_base or "", choice.api_key or ""))
        self._warm(model)
        if choice.weights is None:
            return model
        options = self._settings.language_model
        tokens, threads = options.context_tokens, options.threads
        pocket = Pocket(choice.weights, context_tokens=tokens, threads=threads)
        await self._stack.enter_async_context(pocket)
        self._warm_by(_loaded(pocket))
        return PocketModel(
            pocket,
            connect,
            name=choice.name,
            calls_tools=choice.calls_tools,
        )

    async def warmed(self) -> None:
        """Wait until the language model can answer as fast as it ever will, or for long enough."""
        if self._warming:
            await asyncio.wait(self._warming, timeout=WARM_WITHIN_S)

    def _warm(self, model: LitellmModel) -> None:
        """Load litellm beside the rest: it takes long, and the first question waits for it."""

        async def warm() -> None:
            try:
                await model.warm()
            except ModelError as error:
                log.warning("%s", error)
            keep_for_good()

        self._warm_by(warm())

    def _warm_by(self, work: Coroutine[object, object, object]) -> None:
        task = asyncio.create_task(work, name="warming the language model")
        self._warming.add(task)
        self._stack.push_async_callback(end, task)

    def _missing(self, part: str, error: Exception) -> None:
        self.findings[part] = Finding(part, "bad", str(error))


def skill_folders(home: Home) -> tuple[Path, ...]:
    """Where the person keeps skills; new ones are written to the first."""
    return home.config / "skills", Path.home() / ".agents" / "skills"


def skill_names(home: Home) -> Mapping[str, str]:
    """What each of the person's skills is for, by its name."""
    skills, _ = read_skills(skill_folders(home))
    return {name: skill.description for name, skill in skills.items()}
