"""`sayso serve`: the server, until Ctrl-C or the service manager ends it."""

import argparse
import asyncio
import contextlib
import logging
import signal
import sys
from collections.abc import Callable, Mapping
from ipaddress import IPv4Address
from typing import TYPE_CHECKING

from sayso.protocol.home import Home
from sayso.server.commands.needs import need_the_server
from sayso.server.observability.server_log import write_log
from sayso.server.process import Shutdown, in_background, leave, loading, share_heaps
from sayso.server.settings import Settings, set_in_file, user_file

if TYPE_CHECKING:
    from sayso.server.app import App
    from sayso.server.runtimes.resources.cgroups import Cgroups

need_the_server()

log = logging.getLogger(__name__)

STOPPED_BY_HAND = 130
ALL_NETWORKS = str(IPv4Address(0))
"""Every address of this machine: what comes in there is encrypted, and from paired devices."""


class WrongFlag(Exception):
    """A flag can't be understood. The text says what it takes."""


class Serve:
    """See the module."""

    summary = "start the server on this machine"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--host", help="address to listen on, of this machine alone")
        parser.add_argument("--port", type=int, help="port to listen on (default 8765)")
        parser.add_argument(
            "--network",
            nargs="?",
            const=ALL_NETWORKS,
            metavar="ADDRESS",
            help="let paired devices in over TLS (on this address; default all)",
        )
        parser.add_argument("--model", help="language model, as in `sayso settings`")
        parser.add_argument(
            "--profile", metavar="NAME", help="settings for one kind of work, such as coding"
        )
        parser.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="KEY=VALUE",
            help="any setting, for this run only",
        )
        parser.add_argument(
            "--only-ask",
            action="store_true",
            help="ask at the terminal what needs a yes before a start, then end",
        )

    def run(self, arguments: argparse.Namespace) -> int:
        home = Home.find()
        flags = _flags(arguments)
        settings = Settings.load(home, flags=flags)
        if sys.stdin.isatty() and sys.stdout.isatty():
            _ask_for_cloud(home, settings)
            settings = Settings.load(home, flags=flags)
        if arguments.only_ask:
            return 0
        started = write_log(settings.log.level, home)
        share_heaps()
        ending = Shutdown()
        status = asyncio.run(_serve(home, settings, ending, started))
        ending.end()
        return leave(status)


def _flags(arguments: argparse.Namespace) -> Mapping[str, object]:
    named = {
        "listen.host": arguments.host,
        "listen.port": arguments.port,
        "listen.network": arguments.network,
        "language_model.model": arguments.model,
        "agent.profile": arguments.profile,
    }
    flags: dict[str, object] = {key: value for key, value in named.items() if value is not None}
    for pair in arguments.set:
        key, equals, value = pair.partition("=")
        if not equals:
            raise WrongFlag(
                f"--set takes KEY=VALUE, for example --set voice.speed=1.2, not {pair}."
            )
        flags[key] = value
    return flags


def _ask_for_cloud(home: Home, settings: Settings) -> None:
    """A key lies in the environment: may it be used? Asked once, remembered either way."""
    from sayso.server.agent.llm.configured_model import for_talking
    from sayso.server.models import InstalledModels

    choice = asyncio.run(for_talking(settings.language_model, InstalledModels(home)))
    if choice.offer is None:
        return
    answer = input(f"{choice.offer.question} [y/N] ").strip().lower()
    key, companies = choice.offer.remembering("yes" if answer in ("y", "yes") else "no")
    set_in_file(user_file(home), key, companies)


async def _serve(
    home: Home, settings: Settings, ending: Shutdown, started: Callable[[], None]
) -> int:
    # `sayso --help` has no time for what is imported here.
    with loading():
        from sayso.server.assembly.speech import SpeechParts
        from sayso.server.observability.metrics import ServerMetrics

    stop = asyncio.Event()
    by_hand = False

    def stop_now() -> None:
        ending.begin()
        stop.set()

    def stop_by_hand() -> None:
        nonlocal by_hand
        by_hand = True
        stop_now()

    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, stop_now)
    loop.add_signal_handler(signal.SIGINT, stop_by_hand)
    server_metrics = ServerMetrics()
    cgroups = _cgroups()  # first: what is started later is where it belongs
    async with (
        SpeechParts(home, settings, server_metrics.watch_part) as speech_parts,
        (await in_background(_app, "loading Sayso"))(
            home, settings, speech_parts, server_metrics, cgroups
        ) as app,
    ):
        print(f"Sayso starts on http://{app.address}", flush=True)
        starting = asyncio.create_task(app.start())
        stopping = asyncio.create_task(stop.wait())
        await asyncio.wait({starting, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if starting.done():
            await starting
            started()
            print(app.summary(), flush=True)
            await stopping
        for task in (starting, stopping):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        print("Sayso stops.", flush=True)
    return STOPPED_BY_HAND if by_hand else 0


def _cgroups() -> "Cgroups | None":
    """The kernel's bounds for what code takes, where the server may set any."""
    from sayso.server.runtimes.resources.cgroups import Cgroups, NoCgroupError, find_delegated

    try:
        return Cgroups(find_delegated())
    except NoCgroupError as reason:
        log.info(
            "how much memory code takes is checked several times a second, for the kernel does not"
            " hold it to its bound here (%s); `sayso doctor` tells how it would",
            reason,
        )
        return None


def _app() -> "type[App]":
    """In a thread: it takes half a second, in which recognition and synthesis start."""
    with loading():
        from sayso.server.app import App

    return App


command = Serve()
