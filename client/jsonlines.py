"""Events as JSON lines, for tests, benchmarks and scripts.

Each line is one object:

    {"at": 5120.318, "event": "stt.final", "seq": 4, "turn": 1, "text": "what is two and two"}

`at` is the monotonic clock in seconds (on Linux the same for all processes of a machine). `event`
is the wire's name of a message, with its fields as SPEC.md has them (fields that hold their default
are left out) and `seq`, `turn`, `gen` where the server gave them; a message of ours has
`"sent": true`. What happens at this end is told under these names:

    link.state            state (connecting, greeting, up, waiting, refused, closed), reason,
                          retry_s; with up: session (first, resumed, snapshot, anew), server, models
    mic.pressed           the key went down
    mic.released          the key came up: the end of the person's audio
    audio.first_received  stream: the first sound of an answer has arrived
    audio.first_played    stream: its first sample has left the loudspeaker
    audio.gap             stream, seconds: the sound had stopped in mid-stream, and goes on
    audio.done            stream, samples (played): nothing of it is left
    device.change         part, state (lost, fallback, back), name, detail
    hands_free            state (waiting, listening, working, speaking, inviting, muted)
    file.saved            path, mime: a result of code lies there now
    notice                text: something that the person should know
"""

import asyncio
import json
from typing import TextIO

from sayso.audio.devices.microphone import DeviceChange
from sayso.client.session.link_events import LinkChange
from sayso.client.terminal.events import (
    AudioDone,
    AudioGap,
    FileSaved,
    FirstAudioPlayed,
    FirstAudioReceived,
    HandsFree,
    MicLevel,
    MicPressed,
    MicReleased,
    Notice,
    Seen,
    Sent,
)
from sayso.protocol.codec import Envelope, Unknown, encode

Fields = dict[str, object]


class JsonScreen:
    """Writes a line for each thing that happens."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def show(self, seen: Seen) -> None:
        described = describe(seen)
        if described is None:
            return
        name, fields = described
        at = round(asyncio.get_running_loop().time(), 6)
        line = json.dumps({"at": at, "event": name, **fields}, ensure_ascii=False)
        self._out.write(line + "\n")
        self._out.flush()


def describe(seen: Seen) -> tuple[str, Fields] | None:
    """Gives the name and the fields of an event; nothing for what only moves a meter."""
    match seen:
        case Envelope():
            return None if isinstance(seen.message, Unknown) else _message(seen)
        case Sent():
            name, fields = _message(Envelope(seen.message))
            return name, {"sent": True, **fields}
        case LinkChange():
            return "link.state", _link(seen)
        case DeviceChange(part, state, name, detail):
            return "device.change", {"part": part, "state": state, "name": name, "detail": detail}
        case MicLevel():
            return None
        case HandsFree(state):
            return "hands_free", {"state": state}
        case Notice(text):
            return "notice", {"text": text}
        case FileSaved(path, mime):
            return "file.saved", {"path": path, "mime": mime}
        case _:
            return _sound(seen)


def _sound(
    seen: MicPressed | MicReleased | FirstAudioReceived | FirstAudioPlayed | AudioDone | AudioGap,
) -> tuple[str, Fields]:
    match seen:
        case MicPressed():
            return "mic.pressed", {}
        case MicReleased():
            return "mic.released", {}
        case FirstAudioReceived(stream):
            return "audio.first_received", {"stream": stream}
        case FirstAudioPlayed(stream):
            return "audio.first_played", {"stream": stream}
        case AudioDone(stream, samples):
            return "audio.done", {"stream": stream, "samples": samples}
        case AudioGap(stream, seconds):
            return "audio.gap", {"stream": stream, "seconds": round(seconds, 4)}


def _message(envelope: Envelope) -> tuple[str, Fields]:
    # The codec knows how each message looks on the wire; there is no second opinion here.
    fields: Fields = json.loads(encode(envelope))
    return str(fields.pop("t")), fields


def _link(change: LinkChange) -> Fields:
    fields: Fields = {"state": change.state.value}
    if change.reason:
        fields["reason"] = change.reason
    if change.retry_s is not None:
        fields["retry_s"] = change.retry_s
    if change.welcome is not None:
        fields |= {
            "session": change.session,
            "server": change.welcome.server,
            "models": dict(change.welcome.models),
        }
    return fields
