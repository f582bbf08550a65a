"""Recognition and synthesis as one object that conversations share."""

from dataclasses import dataclass, field
from typing import Literal

from sayso.server.speech.recognition.rival_devices import RivalDevices, Rivals
from sayso.server.speech.recognition.session import SpeechRecognition
from sayso.server.speech.synthesis.session import SpeechSynthesis


@dataclass(frozen=True, slots=True)
class Speech:
    """Recognition and synthesis, and whether a few words fill a long wait."""

    recognition: SpeechRecognition
    synthesis: SpeechSynthesis
    fillers: Literal["on", "off"] = "on"
    rivals: Rivals = field(default_factory=lambda: RivalDevices().of("", ""))
    """What other devices of the same person hear at the same time."""
