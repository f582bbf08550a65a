"""Builds a device without a screen from its command-line options."""

import argparse
import sys
from collections.abc import Callable
from contextlib import ExitStack

from sayso.audio.devices.microphone import DeviceChange
from sayso.audio.devices.sound_cards import portaudio
from sayso.audio.playback_reference import PlaybackReference
from sayso.client.devices.device_choice import recall
from sayso.client.devices.sound import FILE, Sound, patient_sound
from sayso.client.headless.appliance import Appliance
from sayso.client.headless.options import check
from sayso.client.headless.pins import GpioButton, GpioLight, NoLight
from sayso.client.listening.hands_free import HandsFree
from sayso.client.listening.microphone_lock import claim
from sayso.client.listening.options import echo_kind, make_hands_free
from sayso.client.options import default_server, make_link
from sayso.client.session.session import Session
from sayso.client.terminal.events import Screen
from sayso.protocol.home import Home


async def run_headless(arguments: argparse.Namespace) -> int:
    """Goes on until it is ended."""
    check(arguments)
    portaudio()  # Without it nothing will ever be heard, and waiting would not help.
    home = Home.find()
    microphone = arguments.mic or recall(home).microphone or "default"
    if arguments.hands_free and not microphone.startswith(FILE):
        claim(home, microphone)
    playback_reference = PlaybackReference() if arguments.hands_free else None
    # A pairing may come, and change, while the device runs; a server that was named stays.
    named = arguments.server if arguments.server != default_server() else ""

    def sounds(changed: Callable[[DeviceChange], None]) -> Sound:
        tap = playback_reference.played if playback_reference else None
        chosen = recall(home)
        return patient_sound(
            arguments.mic, arguments.speaker, "real", changed, tap=tap, chosen=chosen
        )

    async def converse(sound: Sound, screen: Screen) -> tuple[Session, HandsFree | None]:
        echo = echo_kind(arguments.echo, sound)
        server = named or default_server()
        link = make_link(server, "headless", (), arguments.conversation, echo, shows=False)
        session = Session(link, sound.speaker, screen, earcons="on")
        if playback_reference is None:
            return session, None
        return session, await make_hands_free(session, arguments, echo, playback_reference)

    with ExitStack() as pins:
        light = GpioLight(arguments.led) if arguments.led else NoLight()
        pins.callback(light.close)
        appliance = Appliance(
            sounds, converse, light, arguments.announce, sys.stdout, known=bool(named)
        )
        if arguments.button:
            button = GpioButton(arguments.button, appliance.press, appliance.release)
            pins.callback(button.close)
        return await appliance.run()
