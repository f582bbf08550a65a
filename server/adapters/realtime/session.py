"""The session of a Realtime client: what it asked for, and what it is told that holds. Pure.

Clients ask for much that is another server's (a model, tracing, a voice of its maker's): that is
taken and passed over. What would change what they get, and can't be had, is refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Self

from sayso.server.adapters.realtime.client_events import RATE, BadEventError

MODEL: Final = "sayso"
LONGEST_INSTRUCTIONS: Final = 20_000
"""Characters."""
PCM: Final = {"type": "audio/pcm", "rate": RATE}
DETECTION: Final[Mapping[str, Any]] = {
    "type": "server_vad",
    "create_response": True,
    "interrupt_response": True,
}
SPEEDS: Final = (0.25, 1.5)


@dataclass(frozen=True, slots=True)
class RealtimeSession:
    """What holds for one connection."""

    speaks: bool = True
    """Answers are sound; else text."""
    detection: Mapping[str, Any] | None = None
    """How the end of what is said is found; None: the client says so."""
    interrupts: bool = True
    """A voice over an answer ends it."""
    transcribes: bool = False
    """The client is told what was understood."""
    instructions: str = ""
    voice: str = ""
    speed: float = 1.0

    @classmethod
    def begun(cls) -> Self:
        """As it is when a client has said nothing yet."""
        return cls(detection=DETECTION)

    def updated(self, wanted: Mapping[str, Any]) -> "RealtimeSession":
        """With what a client wants changed. Raises BadEventError."""
        if wanted.get("type", "realtime") != "realtime":
            raise BadEventError("Sessions are of the type realtime here.")
        if wanted.get("tools"):
            raise BadEventError("Sayso has its own tools, and takes none of a client's.")
        changed = self
        if (modalities := wanted.get("output_modalities")) is not None:
            if modalities not in (["audio"], ["text"]):
                raise BadEventError('`output_modalities` is ["audio"] or ["text"].')
            changed = replace(changed, speaks=modalities == ["audio"])
        if (instructions := wanted.get("instructions")) is not None:
            if not isinstance(instructions, str) or len(instructions) > LONGEST_INSTRUCTIONS:
                raise BadEventError(
                    f"`instructions` is a text of {LONGEST_INSTRUCTIONS} characters at most."
                )
            changed = replace(changed, instructions=instructions)
        audio = _object(wanted, "audio")
        changed = _hearing(changed, _object(audio, "input"))
        return _speaking(changed, _object(audio, "output"))

    def shown(self, session_id: str) -> dict[str, Any]:
        """As a client is told of it."""
        return {
            "type": "realtime",
            "object": "realtime.session",
            "id": session_id,
            "model": MODEL,
            "output_modalities": ["audio"] if self.speaks else ["text"],
            "instructions": self.instructions,
            "tools": [],
            "tool_choice": "auto",
            "max_output_tokens": "inf",
            "audio": {
                "input": {
                    "format": PCM,
                    "transcription": {"model": MODEL} if self.transcribes else None,
                    "turn_detection": dict(self.detection) if self.detection else None,
                },
                "output": {"format": PCM, "voice": self.voice or MODEL, "speed": self.speed},
            },
        }


def _hearing(session: RealtimeSession, wanted: Mapping[str, Any]) -> RealtimeSession:
    changed = session
    _check_format(wanted)
    if "transcription" in wanted:
        changed = replace(changed, transcribes=bool(wanted["transcription"]))
    if "turn_detection" in wanted:
        detection = wanted["turn_detection"]
        if detection is None:
            return replace(changed, detection=None)
        if not isinstance(detection, dict) or detection.get("type") not in (
            "server_vad",
            "semantic_vad",
        ):
            raise BadEventError("`turn_detection` is server_vad, semantic_vad or null.")
        if detection.get("create_response") is False:
            raise BadEventError(
                "What is said is always answered where its end is found here: set "
                "`turn_detection` to null, and ask for answers by `response.create`."
            )
        interrupts = detection.get("interrupt_response") is not False
        told = {**DETECTION, "type": detection["type"], "interrupt_response": interrupts}
        changed = replace(changed, detection=told, interrupts=interrupts)
    return changed


def _speaking(session: RealtimeSession, wanted: Mapping[str, Any]) -> RealtimeSession:
    changed = session
    _check_format(wanted)
    voice = wanted.get("voice")
    if isinstance(voice, dict):
        voice = voice.get("id")
    if isinstance(voice, str):
        changed = replace(changed, voice=voice[:64])
    speed = wanted.get("speed")
    if speed is not None:
        is_number = isinstance(speed, int | float) and not isinstance(speed, bool)
        if not is_number or not SPEEDS[0] <= speed <= SPEEDS[1]:
            raise BadEventError("`speed` is a number from 0.25 to 1.5.")
        changed = replace(changed, speed=float(speed))
    return changed


def _check_format(wanted: Mapping[str, Any]) -> None:
    form = wanted.get("format")
    if form is None:
        return
    kind = form.get("type") if isinstance(form, dict) else form
    rate = form.get("rate", RATE) if isinstance(form, dict) else RATE
    if kind not in ("audio/pcm", "pcm16") or rate not in (RATE, None):
        raise BadEventError("Sound is PCM of 24,000 samples a second here: audio/pcm.")


def _object(of: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = of.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise BadEventError(f"`{name}` must be an object.")
    return value
