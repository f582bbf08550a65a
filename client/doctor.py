"""Checks the client's side for `sayso doctor`: sound, the token, whether the server answers."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import aclosing
from threading import Event
from urllib.parse import urlsplit

from sayso.audio.devices.sound_cards import Device, SoundCards, portaudio
from sayso.audio.errors import AudioError, NoPortAudio
from sayso.audio.pcm import level
from sayso.client.identity.known_server import NotPaired, read
from sayso.client.options import default_server, make_link
from sayso.client.session.link_events import LinkChange, LinkState
from sayso.protocol.errors import HomeError
from sayso.protocol.health import Finding
from sayso.protocol.home import Home, read_token

LISTEN_SECONDS = 0.4
"""How much of the microphone is listened to: enough to tell a muted one from a quiet room."""
OPEN_SECONDS = 3.0
"""How long a device may take to give or take its first sound."""
GREET_SECONDS = 3.0
"""How long the server may take to greet us."""
MUTED_DB = -85.0
"""Quieter than this is no room, but a switch."""


def examine() -> Iterator[Finding]:
    """Looks at one thing after the other."""
    try:
        cards = portaudio()
    except NoPortAudio as error:
        yield Finding("PortAudio", "bad", *_split(error))
    else:
        names = {device.name for device in cards.devices()}
        yield Finding("PortAudio", "good", f"It is there and sees {len(names)} sound devices.")
        yield _microphone(cards)
        yield _loudspeaker(cards)
    yield _token()
    yield asyncio.run(_server())


def _microphone(cards: SoundCards) -> Finding:
    heard: list[bytes] = []
    enough = Event()
    began = time.monotonic()

    def hear(pcm: bytes) -> None:
        heard.append(pcm)
        if time.monotonic() - began > LISTEN_SECONDS:
            enough.set()

    try:
        device = cards.find("input")
        stream = cards.capture(device, hear, enough.set)
        enough.wait(OPEN_SECONDS)
        stream.close()
    except AudioError as error:
        return Finding("microphone", "bad", *_split(error))
    if not heard:
        return _mute(device, "gives no sound", "is another program holding it?")
    loudness = level(b"".join(heard)).peak
    if loudness < MUTED_DB:
        return Finding(
            "microphone",
            "poor",
            f"{device.name} gives only silence.",
            "Is it muted? Look for a switch on it, and in the system's sound settings.",
        )
    return Finding("microphone", "good", f"{device.name} hears something ({loudness:.0f} dB).")


def _loudspeaker(cards: SoundCards) -> Finding:
    asked = Event()

    def fill(out: memoryview, _moment: float) -> None:
        out[:] = bytes(len(out))
        asked.set()

    try:
        device = cards.find("output")
        stream = cards.playback(device, device.rate, device.latency, fill, asked.set)
        takes = asked.wait(OPEN_SECONDS)
        stream.close()
    except AudioError as error:
        return Finding("loudspeaker", "bad", *_split(error))
    if not takes:
        return _mute(device, "takes no sound", "is another program holding it?")
    return Finding("loudspeaker", "good", f"{device.name} plays.")


def _mute(device: Device, fault: str, remedy: str) -> Finding:
    part = "microphone" if device.direction == "input" else "loudspeaker"
    return Finding(part, "bad", f"{device.name} {fault}.", remedy)


def _token() -> Finding:
    home = Home.find()
    try:
        if known := read(home):
            where = urlsplit(known.url).netloc
            return Finding("token", "good", f"Paired with {where} as {known.device}.")
        token = read_token(home)
    except (HomeError, NotPaired) as error:
        return Finding("token", "bad", *_split(error))
    if token is None:
        return Finding(
            "token",
            "bad",
            f"There is none at {home.token_file}.",
            "Start the server once as this user, with the same SAYSO_HOME: `sayso serve`. If it "
            "runs on another machine, pair this one with it: `sayso pair join`.",
        )
    return Finding("token", "good", f"{home.token_file} is there, and only you can read it.")


async def _server() -> Finding:
    address = default_server()
    link = make_link(address, "doctor")
    running = asyncio.create_task(link.run())
    reason = f"The server at {address} does not answer."
    try:
        async with asyncio.timeout(GREET_SECONDS), aclosing(link.events()) as events:
            async for event in events:
                if not isinstance(event, LinkChange):
                    continue
                if event.welcome is not None:
                    models = ", ".join(event.welcome.models.values())
                    said = f"{event.welcome.server} answers at {address}"
                    return Finding("server", "good", f"{said} ({models}).")
                reason = event.reason or reason
                if event.state in {LinkState.WAITING, LinkState.REFUSED}:
                    break
    except TimeoutError:
        pass
    finally:
        await link.close()
        await running
    return Finding("server", "bad", *_split(reason))


def _split(sentence: object) -> tuple[str, str]:
    """Parts "what happened: what to do" into detail and remedy."""
    detail, colon, remedy = str(sentence).partition(": ")
    return (f"{detail}.", remedy) if colon else (detail, "")
