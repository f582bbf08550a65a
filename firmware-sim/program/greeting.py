"""Builds the `hello` with which the device introduces itself."""

from sayso.firmware_sim.hardware.memory import FRAME_BYTES, JSON_BYTES
from sayso.firmware_sim.program.capture import RATE
from sayso.firmware_sim.program.playback import PLAY_BUFFER_MS
from sayso.protocol import messages as m
from sayso.protocol.version import SPOKEN

CLIENT = "sayso-sim 1"

WANTS = (
    "audio.ack",
    "speech.start",
    "speech.stop",
    "stt.final",
    "turn.state",
    "announce",
    "error",
    "bye",
    "ping",
    "pong",
)
"""A device without a screen has no use for text."""


def hello(name: str, token: str, conversation: str = "") -> m.Hello:
    """All of its buffers are declared, so that the server can keep to them."""
    return m.Hello(
        protocol=SPOKEN,
        client=CLIENT,
        device=name,
        features=("resume",),
        audio=m.AudioOffer(echo="half_duplex", down_rates=(RATE,)),
        limits=m.Limits(JSON_BYTES, FRAME_BYTES, PLAY_BUFFER_MS),
        wants=WANTS,
        token=token,
        conversation=conversation,
    )
