"""`sayso talk`: the conversation, in a terminal or on files.

    sayso talk                                      in a terminal
    sayso talk --plain                              for screen readers, and without colour
    sayso talk --headless --button gpio:17          a Raspberry Pi without a screen
    sayso talk --hands-free --json < /dev/null      without a terminal, until it is ended
    sayso talk --mic file:q.wav --speaker file:a.wav --once --json
                                                    the same client on files, for scripts

With `--json` every event is a line of JSON; `sayso.client.jsonlines` says which there are.
"""

import argparse
import asyncio
import os
import sys

from sayso.audio.devices.device_microphone import DeviceMicrophone
from sayso.audio.devices.microphone import DeviceChange
from sayso.audio.errors import AudioError
from sayso.audio.playback_reference import PlaybackReference
from sayso.client.desktop.offering import hindrance, open_desktop, screen_offers
from sayso.client.desktop.os_mode import OsModeScreen
from sayso.client.desktop.permission import read_permission
from sayso.client.devices.device_choice import recall
from sayso.client.devices.sound import Sound, file_sound, find_sound
from sayso.client.errors import LinkError, TurnFailed
from sayso.client.headless.options import add_headless
from sayso.client.jsonlines import JsonScreen
from sayso.client.listening.hands_free import HandsFree
from sayso.client.listening.microphone_lock import claim
from sayso.client.listening.options import (
    NO_CANCELLER,
    add_hands_free,
    echo_kind,
    make_hands_free,
)
from sayso.client.listening.until_ended import ApprovalScreen, listen_until_ended
from sayso.client.options import (
    WITHOUT_SPEECH,
    add_conversation,
    add_folder,
    add_server,
    add_timeout,
    keep_files,
    make_link,
    prepare_logging,
)
from sayso.client.session.folder_choice import Placement
from sayso.client.session.one_shot import TurnWatch, always, once, run_turns
from sayso.client.session.player import USUAL_RATE
from sayso.client.session.session import Session
from sayso.client.terminal.events import Notice, Screen
from sayso.protocol.home import Home

MISUSED = 2
DEVICE = "a part of a device's name, or file:PATH (default: what `sayso devices` says)"


class Talk:
    """See the module."""

    summary = "talk with Sayso in this terminal"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add_server(parser)
        add_conversation(parser)
        add_folder(parser)
        parser.add_argument("--mic", metavar="NAME", default="", help=DEVICE)
        parser.add_argument("--speaker", metavar="NAME", default="", help=DEVICE)
        parser.add_argument(
            "--plain", action="store_true", help="line by line, for screen readers and no colour"
        )
        parser.add_argument(
            "--hotkey",
            metavar="KEY",
            default="",
            help="a key to hold from anywhere on the desktop, like f9 (X11, macOS, Windows)",
        )
        parser.add_argument(
            "--os",
            action="store_true",
            help="let Sayso take over this screen, as far as `sayso desktop allow` says",
        )
        parser.add_argument("-v", "--verbose", action="count", default=0, help="show times too")
        parser.add_argument("--once", action="store_true", help="one turn on files, then leave")
        parser.add_argument("--json", action="store_true", help="write events as JSON lines")
        parser.add_argument(
            "--pace",
            choices=("real", "max"),
            default="real",
            help="how fast files are spoken and played (default real)",
        )
        parser.add_argument(
            "--approve",
            choices=("yes", "no"),
            help="with --once or in a pipe, answer every question so: whether code may run, and "
            "whether it gets the folders and hosts that it asks for (default no; with "
            "--hands-free, by voice)",
        )
        add_timeout(parser)
        add_hands_free(parser)
        add_headless(parser)
        parser.add_argument(
            "--background",
            action="store_true",
            help="with --hands-free: no terminal, but notifications (see `sayso service`)",
        )

    def run(self, arguments: argparse.Namespace) -> int:
        prepare_logging()
        if arguments.headless:
            from sayso.client.headless.assembly import run_headless

            return asyncio.run(run_headless(arguments))
        if arguments.background:
            return asyncio.run(_in_background(arguments))
        if arguments.once:
            return asyncio.run(_once(arguments))
        if not sys.stdin.isatty() or arguments.json:
            return asyncio.run((_unattended if arguments.hands_free else _piped)(arguments))
        if arguments.plain or not sys.stdout.isatty() or os.environ.get("TERM") == "dumb":
            return asyncio.run(_plainly(arguments))
        return asyncio.run(_on_screen(arguments))


async def _once(arguments: argparse.Namespace) -> int:
    """One turn, from a file to a file."""
    sound = file_sound(arguments.mic, arguments.speaker, arguments.pace)
    microphone = sound.microphone
    if microphone is None:
        sys.stderr.write("`--once` needs something to say: give it with --mic file:PATH.\n")
        return MISUSED
    placement = _placement(arguments, _written(arguments))
    watch = TurnWatch(placement)
    echo = echo_kind(arguments.echo, sound)
    link = make_link(arguments.server, "talk", (), arguments.conversation, echo)
    session = Session(link, sound.speaker, watch)
    placement.through(session.send)
    hands_free = None
    if arguments.hands_free:
        hands_free = await make_hands_free(session, arguments, echo, PlaybackReference())

    async def ask() -> None:
        if hands_free is not None:
            await hands_free.once(microphone)
        else:
            await session.speak(microphone)

    decide = always(arguments.approve or "no")
    asks = placement.first(once(ask))
    await run_turns(session, watch, asks, decide, arguments.timeout)
    return 0


async def _piped(arguments: argparse.Namespace) -> int:
    """Each line of standard input is asked; there is nobody to approve anything."""
    from sayso.client.terminal.plain_talking import piped

    sound = file_sound(arguments.mic, arguments.speaker, arguments.pace)
    keeper = keep_files(_written(arguments), arguments.server)
    placement = _placement(arguments, keeper)
    watch = TurnWatch(placement)
    wants = () if arguments.speaker else WITHOUT_SPEECH
    session = Session(
        make_link(arguments.server, "talk", wants, arguments.conversation), sound.speaker, watch
    )
    placement.through(session.send)
    decide = always(arguments.approve or "no")
    asks = placement.first(piped(session))
    await run_turns(session, watch, asks, decide, arguments.timeout)
    await keeper.close()
    return 0


async def _unattended(arguments: argparse.Namespace) -> int:
    """Without a key and without a terminal: listens until it is ended, and writes what happens.
    Code is approved by voice, or as `--approve` says."""
    keeper = keep_files(_written(arguments), arguments.server)
    screen = ApprovalScreen(keeper, arguments.approve)
    session, sound, hands_free = await _session(arguments, screen)
    screen.send = session.send
    if sound.microphone is None or hands_free is None:
        raise AudioError(" ".join(sound.notes))
    ended = await listen_until_ended(session, hands_free, sound.microphone)
    await keeper.close()
    if not ended:
        raise LinkError(screen.refused)
    return 0


async def _plainly(arguments: argparse.Namespace) -> int:
    """A person who wants lines, one after the other."""
    from sayso.client.terminal.plain import PlainScreen
    from sayso.client.terminal.plain_talking import PlainTalking

    screen = PlainScreen(sys.stdout, sys.stdout, verbosity=arguments.verbose, waits=True)
    talking = PlainTalking(screen)
    keeper = keep_files(talking, arguments.server)
    talking.fetch = keeper.fetched
    session, sound, talking.hands_free = await _session(arguments, keeper)
    return await talking.run(session, sound, arguments.hotkey)


async def _on_screen(arguments: argparse.Namespace) -> int:
    """A person at a terminal."""
    # rich costs 60 ms; the other ways of talking do without it.
    from sayso.client.terminal.screen.live import LiveArea
    from sayso.client.terminal.screen.screen import TerminalScreen
    from sayso.client.terminal.talking import Talking

    screen = TerminalScreen(LiveArea(), verbosity=arguments.verbose)
    keeper = keep_files(screen, arguments.server)
    session, sound, hands_free = await _session(arguments, keeper)
    talking = Talking(screen, session, hands_free, arguments.hotkey, keeper.fetched)
    return await talking.run(sound.microphone)


async def _in_background(arguments: argparse.Namespace) -> int:
    """A person at a desktop, with other things in front of them."""
    from sayso.client.background.companion import Companion

    arguments.hands_free = True
    companion = Companion()
    session, sound, hands_free = await _session(arguments, companion)
    if sound.microphone is None or hands_free is None:
        raise AudioError(" ".join(sound.notes))  # One can be plugged in later; PortAudio cannot.
    return await companion.run(session, hands_free, sound.microphone)


async def _session(
    arguments: argparse.Namespace, screen: Screen
) -> tuple[Session, Sound, HandsFree | None]:
    playback_reference = PlaybackReference() if arguments.hands_free else None
    home = Home.find()

    def changed(change: DeviceChange) -> None:
        screen.show(change)
        if change.part == "loudspeaker" and change.state != "lost":
            link.want(())

    sound = await find_sound(
        arguments.mic,
        arguments.speaker,
        arguments.pace,
        changed,
        tap=playback_reference.played if playback_reference else None,
        chosen=recall(home),
    )
    for note in sound.notes:
        screen.show(Notice(note))
    wants = () if sound.wants_speech else WITHOUT_SPEECH
    echo = echo_kind(arguments.echo, sound)
    shows = not arguments.background
    offers = screen_offers(home)
    if arguments.os and not offers:
        raise TurnFailed(f"`--os` can't be: {hindrance(read_permission(home))}.")
    link = make_link(
        arguments.server, "talk", wants, arguments.conversation, echo, shows=shows, offers=offers
    )
    os_mode = OsModeScreen(screen)
    placement = _placement(arguments, os_mode if arguments.os else screen)
    desktop = open_desktop(link, arguments.server) if offers else None
    session = Session(link, sound.speaker, placement, earcons="on", desktop=desktop)
    placement.through(session.send)
    os_mode.through(session.send)
    if not sound.wants_speech:
        sound.speaker.start(USUAL_RATE)  # A device that is not there is looked for from now on.
    if playback_reference is None:
        return session, sound, None
    if isinstance(sound.microphone, DeviceMicrophone):
        claim(home, sound.microphone.name)
    if echo == "half_duplex" and arguments.echo == "auto":
        screen.show(Notice(NO_CANCELLER))
    return session, sound, await make_hands_free(session, arguments, echo, playback_reference)


def _placement(arguments: argparse.Namespace, screen: Screen) -> Placement:
    return Placement(screen, arguments.folder, arguments.conversation, makes=True)


def _written(arguments: argparse.Namespace) -> Screen:
    """Where a program, or a pipe, reads what happens."""
    from sayso.client.terminal.plain import PlainScreen

    if arguments.json:
        return JsonScreen(sys.stdout)
    return PlainScreen(sys.stdout, sys.stderr, verbosity=arguments.verbose)


command = Talk()
