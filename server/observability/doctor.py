"""The server's checks for `sayso doctor`: settings, models, sandbox, port, disk.

Each answer is one finding with the exact remedy. Nothing is changed, and nothing is fetched; the
one thing asked outside this machine is whether a cloud that is in use can be reached at all.
"""

import asyncio
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from sayso.protocol.health import Finding, split_remedy
from sayso.protocol.home import Home
from sayso.server.agent.llm.configured_model import for_talking
from sayso.server.agent.llm.embedded.client import Pocket, PocketError
from sayso.server.agent.llm.loopback_http import NoAnswer, ask
from sayso.server.agent.llm.selection import ModelChoice
from sayso.server.agent.permissions.standing_grants import policy_of
from sayso.server.home_network import is_loopback
from sayso.server.models import InstalledModels
from sayso.server.models.machine import in_words, memory_bytes
from sayso.server.models.names import SUGGESTED, best_fitting
from sayso.server.runtimes.kernels.environment import present
from sayso.server.runtimes.resources.cgroups import NoCgroupError, find_delegated
from sayso.server.runtimes.sandbox.self_test.proof import find_sandbox
from sayso.server.settings import Settings, SettingsError
from sayso.server.speech.engines import registry
from sayso.server.speech.engines.engine import EngineContext
from sayso.server.speech.errors import SpeechError

REACH_SECONDS = 4.0
"""For a handshake with a server far away; a person waits for the doctor."""

PORT_SECONDS = 2.0
"""For an answer from the program that has our port."""

HTTPS_PORT = 443

MEGABYTE = 1_000_000


def examine() -> Iterator[Finding]:
    """Looks at one thing after the other."""
    home = Home.find()
    installed = InstalledModels(home)
    settings = Settings()
    try:
        settings = Settings.load(home)
        policy_of(settings)
    except SettingsError as error:
        yield Finding("settings", "bad", *split_remedy(str(error)))
    else:
        yield Finding("settings", "good", "All are understood.")
    yield _folders(home)
    yield _disk(home, settings)
    context = EngineContext(home, settings, os.environ)
    yield _speech("ears", context)
    yield _speech("voice", context)
    yield asyncio.run(_language_model(settings, installed))
    yield asyncio.run(_sandbox())
    yield _kernels(home)
    yield asyncio.run(_memory(settings))
    yield asyncio.run(_port(settings))


def _folders(home: Home) -> Finding:
    for folder in dict.fromkeys((home.config, home.data, home.state)):
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError as error:
            return Finding(
                "folders",
                "bad",
                f"{folder} cannot be written to ({error.strerror or error}).",
                f"sudo chown -R {os.getuid()} {folder}, or set SAYSO_HOME to a folder of yours",
            )
    return Finding("folders", "good", f"{home.data} can be written to.")


def _disk(home: Home, settings: Settings) -> Finding:
    place = next(folder for folder in (home.data, *home.data.parents) if folder.exists())
    free = shutil.disk_usage(place).free
    wanted = settings.storage.minimum_free_mb * MEGABYTE
    if free >= wanted:
        return Finding("disk", "good", f"{in_words(free)} are free.")
    return Finding(
        "disk",
        "bad",
        f"Only {in_words(free)} are free on the disk of {place}.",
        f"Free {in_words(wanted - free)}, for example with `sayso models remove NAME`.",
    )


def _speech(kind: Literal["ears", "voice"], context: EngineContext) -> Finding:
    """The engine that the settings name looks after its own."""
    settings = context.settings
    try:
        maker = (
            registry.recognizer(settings.ears.engine)
            if kind == "ears"
            else registry.voices(settings.voice.engine)
        )
    except SpeechError as error:
        return Finding(kind, "bad", *split_remedy(str(error)))
    return asyncio.run(maker.examine(context))


async def _language_model(settings: Settings, installed: InstalledModels) -> Finding:
    choice = await for_talking(settings.language_model, installed)
    part = "language model"
    if choice.origin == "none":
        return Finding(part, "bad", *split_remedy(choice.sentence))
    if trouble := await _trouble(choice):
        return Finding(part, "bad", *split_remedy(trouble))
    if choice.profile == "pocket":
        name = best_fitting(memory_bytes())
        better = (
            f"`sayso models get {name}` fetches a better one ({in_words(SUGGESTED[name].bytes)})"
        )
        asked = f" {choice.offer.sentence}" if choice.offer else ""
        return Finding(
            part, "poor", choice.sentence, f"{better}, and Ollama is used if it runs.{asked}"
        )
    return Finding(part, "good", choice.sentence)


async def _trouble(choice: ModelChoice) -> str:
    """What keeps the chosen model from answering; empty if nothing is seen."""
    if choice.weights:
        # A large model takes minutes to load; the server tells if it does not.
        return await _trouble_with_engine(choice.weights) if choice.profile == "pocket" else ""
    if choice.api_base and choice.api_base.startswith("http://"):
        try:
            await ask(f"{choice.api_base}/models", seconds=REACH_SECONDS)
        except NoAnswer:
            return f"Nothing answers at {choice.api_base}; start that server, or name another one."
    elif choice.company and not os.environ.get("HTTPS_PROXY") and not os.environ.get("https_proxy"):
        host = choice.company.host
        try:
            async with asyncio.timeout(REACH_SECONDS):
                _, writer = await asyncio.open_connection(host, HTTPS_PORT, ssl=True)
            writer.close()
        except OSError as error:
            reason = error.strerror or str(error) or "no answer"
            return f"{host} cannot be reached ({reason}); check the network."
    return ""


async def _trouble_with_engine(weights: Path) -> str:
    """Start the embedded engine and see whether it answers."""
    try:
        async with Pocket(weights) as pocket:
            await pocket.ready()
    except PocketError as error:
        return str(error)
    return ""


async def _sandbox() -> Finding:
    report = await find_sandbox()
    if report.holds:
        return Finding("sandbox", "good", f"{report.kind} holds: code could not break out.")
    return Finding("sandbox", "bad", f"Code does not run, because {report.reason}.", report.remedy)


def _kernels(home: Home) -> Finding:
    environment = present(home)
    if environment:
        return Finding("code", "good", f"Code has its own Python in {environment.folder}.")
    return Finding(
        "code",
        "poor",
        "The Python in which code runs is not made yet.",
        "Start `sayso serve` with a network; it makes it within a minute.",
    )


async def _memory(settings: Settings) -> Finding:
    """What bounds the memory of code: in the server that runs, or else in one started from here."""
    listen = settings.listen
    try:
        health = (
            await ask(f"http://{listen.host}:{listen.port}/health", seconds=PORT_SECONDS)
        ).json()
    except NoAnswer:
        health = None
    bound = health.get("memory_bound") if isinstance(health, dict) else None
    reason = ""
    if bound is None:
        try:
            find_delegated()
            bound = "cgroup"
        except NoCgroupError as error:
            reason = f": {error}"
    if bound == "cgroup":
        return Finding("memory", "good", "The kernel holds code to its bound of memory.")
    detail = (
        "How much memory code takes is checked several times a second; the kernel does not hold it"
        f" to its bound here{reason}."
    )
    if not _has_user_manager():
        how = "It would under systemd, with `scripts/run --for-good`; nothing needs to be done."
        return Finding("memory", "good", f"{detail} {how}")
    return Finding(
        "memory",
        "poor",
        detail,
        "scripts/run --for-good, or in a terminal: systemd-run --user --scope"
        " -p 'Delegate=memory pids' sayso serve",
    )


def _has_user_manager() -> bool:
    """Whether systemd runs for this user, and could give a server a cgroup of its own."""
    return Path(os.environ.get("XDG_RUNTIME_DIR", "/nonexistent"), "systemd", "private").exists()


async def _port(settings: Settings) -> Finding:
    host, port = settings.listen.host, settings.listen.port
    if not is_loopback(host):
        return Finding(
            "port",
            "bad",
            f"{host} is not this machine's own address; others need pairing and TLS.",
            "sayso settings unset listen.host",
        )
    if port == 0:
        return Finding("port", "good", "Any free port is taken.")
    try:
        health = (await ask(f"http://{host}:{port}/health", seconds=PORT_SECONDS)).json()
    except NoAnswer:
        health = None
    if isinstance(health, dict) and "ready" in health:
        version = health.get("version", "of unknown version")
        return Finding("port", "good", f"A Sayso {version} answers on {host}:{port}.")
    try:
        with socket.create_server((host, port)):
            pass
    except OSError as error:
        return Finding(
            "port",
            "bad",
            f"{host}:{port} cannot be used ({error.strerror or error}).",
            f"End what has it (`{_who_listens(port)}` tells), or choose another with "
            f"`sayso settings set listen.port {port + 1}`.",
        )
    return Finding("port", "good", f"{host}:{port} is free; no Sayso runs there now.")


def _who_listens(port: int) -> str:
    if sys.platform == "darwin":
        return f"lsof -nP -iTCP:{port} -sTCP:LISTEN"
    return f"ss -ltnp 'sport = :{port}'"
