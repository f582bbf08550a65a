"""Defines the options of hands-free listening, and resolves them for this machine."""

import argparse
from importlib.util import find_spec
from typing import Literal, get_args

from sayso.audio.devices.device_microphone import DeviceMicrophone
from sayso.audio.devices.device_speaker import DeviceSpeaker
from sayso.audio.playback_reference import PlaybackReference
from sayso.client.devices.sound import Sound
from sayso.client.listening.hands_free import NO_WORD, HandsFree, Listening, make_ear
from sayso.client.listening.wake_gate import FOLLOW_UP_MS, EchoKind
from sayso.client.session.session import Session

DEFAULT_WORD = "hey jarvis"
LONGEST_FOLLOW_UP_S = 60.0
"""A longer time would be one in which any voice in the house is a request."""
EchoChoice = Literal["auto", "cancel", "half-duplex", "headphones"]

NO_CANCELLER = (
    "Sayso cannot be interrupted by voice alone here, only by the wake word: for more, "
    "run `pip install 'sayso[hands-free]'`, or give --echo headphones if you wear some."
)


def add_hands_free(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--hands-free", action="store_true", help="listen without a key, after a wake word"
    )
    parser.add_argument(
        "--wake",
        metavar="WORD",
        default=DEFAULT_WORD,
        help=f'the wake word: "hey jarvis", "okay nabu", "hey mycroft", "alexa", the path of an '
        f"openWakeWord model, or {NO_WORD} to listen to any voice (default {DEFAULT_WORD})",
    )
    parser.add_argument(
        "--follow-up",
        metavar="SECONDS",
        type=_seconds,
        default=FOLLOW_UP_MS / 1000,
        help=f"how long after an answer or a question you may go on without the wake word; 0: only "
        f"the wake word counts, over an answer, too (default {FOLLOW_UP_MS / 1000:g})",
    )
    parser.add_argument(
        "--echo",
        choices=get_args(EchoChoice),
        default="auto",
        help="how this device keeps from hearing itself (default auto)",
    )


def echo_kind(choice: EchoChoice, sound: Sound) -> EchoKind:
    """Decides what `hello` declares."""
    if choice != "auto":
        kinds: dict[str, EchoKind] = {"cancel": "cancelled", "half-duplex": "half_duplex"}
        return kinds.get(choice, "headphones")
    devices = isinstance(sound.microphone, DeviceMicrophone) and isinstance(
        sound.speaker, DeviceSpeaker
    )
    if not devices:
        return "headphones"  # A file hears no loudspeaker.
    return "cancelled" if find_spec("pywebrtc_audio") else "half_duplex"


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= LONGEST_FOLLOW_UP_S:
        raise argparse.ArgumentTypeError(
            f"{text} is no number of seconds between 0 and {LONGEST_FOLLOW_UP_S:g}"
        )
    return seconds


async def make_hands_free(
    session: Session,
    arguments: argparse.Namespace,
    echo: EchoKind,
    playback_reference: PlaybackReference,
) -> HandsFree:
    """Loads what it takes to listen without a key, by the options above. Raises `AudioError`."""
    listening = Listening(arguments.wake, echo, arguments.follow_up, playback_reference)
    return HandsFree(session, await make_ear(listening))
