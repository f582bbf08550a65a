"""Translates messages of the wire into events of the turn machine."""

from collections.abc import Container

from sayso.protocol import messages as m
from sayso.protocol.errors import Invalid, OutOfOrder
from sayso.protocol.frames import AudioFrame
from sayso.protocol.messages.bounds import LONGEST_TYPED
from sayso.server.gateway.socket.settings_request import preferred
from sayso.server.turn import events
from sayso.server.turn.events import Event
from sayso.server.turn.files_along import with_files


def event_of(device: str, message: m.FromClient, features: Container[str] = ()) -> Event | None:
    """What a client's message means for the turn; none if it means nothing there.

    `features`: what the server announced to it.
    """
    match message:
        case m.ListenStart():
            return _listen(device, message, features)
        case m.ListenStop(stream=stream, samples=samples, files=files):
            return events.ListenStopped(device, stream, samples, files)
        case m.ListenCancel(stream=stream):
            return events.ListenCancelled(device, stream)
        case m.Interrupt(stream=stream, heard_samples=heard):
            return events.Interrupted(device, stream, heard)
        case m.PlayState(stream=stream, samples=samples, done=done):
            return events.Played(device, stream, samples, done)
        case m.Approve():
            decision, code = message.decision, message.code
            return events.ApprovalAnswered(
                device, message.id, message.nonce, decision, code, message.lasting
            )
        case m.Settings(values=values) if "settings" in features:
            return preferred(device, values)
        case m.Text():
            return _typed(device, message)
        case _:
            return None


def _listen(device: str, start: m.ListenStart, features: Container[str]) -> Event:
    if start.mode == "hands_free" and "hands_free" not in features:
        raise OutOfOrder("This server does not offer hands-free listening; use push-to-talk.")
    return events.ListenStarted(
        device,
        start.stream,
        start.mode,
        start.pre_roll,
        start.wait_ms,
        start.question,
        start.addressed,
        start.files,
    )


def heard(device: str, frame: AudioFrame) -> Event:
    """What a frame of a client's audio means."""
    return events.AudioHeard(device, frame.stream, frame.first_sample, frame.payload)


def _typed(device: str, message: m.Text) -> Event | None:
    text = message.text.strip()
    if len(text) > LONGEST_TYPED:
        raise Invalid("That text is too long. Put it into a file and ask about the file.")
    text = with_files(text, message.files) if text else ""
    return events.Typed(device, text, question=message.question) if text else None
