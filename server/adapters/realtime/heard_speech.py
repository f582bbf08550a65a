"""Tells a Realtime client of what its person says: where it begins and ends, and its words."""

from collections import deque
from typing import Final

from sayso.protocol.messages import ListenEnd
from sayso.server.adapters.realtime.outbox import RealtimeOutbox, new_id
from sayso.server.speech.recognition.recognizer import HEARING_RATE
from sayso.server.speech.recognition.voice_activity import VoiceActivity

VOICE_S: Final = 0.1
"""Seconds of voice after which somebody speaks."""
SECOND_BYTES: Final = HEARING_RATE * 2
ABOUT: Final = "conversation.item.input_audio_transcription"


class HeardSpeech:
    """Of one client."""

    def __init__(self, outbox: RealtimeOutbox) -> None:
        self._outbox = outbox
        self.transcribes = False
        """The client wants to know what was understood."""
        self.is_committed = False
        self.has_begun = False
        """Somebody speaks, and the client was told so."""
        self._item = ""
        self._voice = VoiceActivity()
        self._ms = 0.0
        """Milliseconds of all sound that came."""
        self._unknown: deque[str] = deque()
        """Items whose words are not known yet."""
        self._told = ""
        """The words of this one that were told."""

    def begin(self, item: str = "") -> None:
        """The microphone opens."""
        self._item = item or new_id("item")
        self._voice, self._told = VoiceActivity(), ""
        self.is_committed = self.has_begun = False

    def feed(self, pcm: bytes, *, looks: bool) -> None:
        """Sound came, at 16 kHz; `looks`: whether it is looked for somebody's voice."""
        self._ms += len(pcm) * 1000 / SECOND_BYTES
        if looks:
            self._voice.feed(pcm)
            if self._voice.spoken >= VOICE_S * HEARING_RATE:
                self.somebody_speaks()

    def somebody_speaks(self) -> None:
        """Tell so, once for each utterance."""
        if self.has_begun or not self._item:
            return
        self.has_begun = True
        began = max(0, int(self._ms - self._voice.spoken * 1000 / HEARING_RATE))
        told = {"audio_start_ms": began, "item_id": self._item}
        self._outbox.emit({"type": "input_audio_buffer.speech_started", **told})

    def ended(self, end: ListenEnd) -> None:
        """The conversation found the end of what was said."""
        if end.reason == "ended":
            self.somebody_speaks()
        if self.has_begun:
            told = {"audio_end_ms": int(self._ms), "item_id": self._item}
            self._outbox.emit({"type": "input_audio_buffer.speech_stopped", **told})
        if end.reason == "ended":
            self.commit()

    def commit(self) -> None:
        """What was said is an item; its words come later."""
        self.is_committed = True
        self._unknown.append(self._item)
        self._outbox.emit({"type": "input_audio_buffer.committed", "item_id": self._item})
        item = {
            "id": self._item,
            "object": "realtime.item",
            "type": "message",
            "role": "user",
            "status": "completed",
            "content": [{"type": "input_audio", "transcript": None}],
        }
        self._outbox.add_item(item)

    def partly_known(self, stable: str) -> None:
        """So much of it will not change any more."""
        if self.transcribes and self._item and stable.startswith(self._told):
            delta, self._told = stable[len(self._told) :], stable
            if delta:
                told = {"item_id": self._item, "content_index": 0, "delta": delta}
                self._outbox.emit({"type": f"{ABOUT}.delta", **told})

    def known(self, words: str) -> None:
        """The words of the oldest item that waits for its own."""
        if not self._unknown:
            return
        name = self._unknown.popleft()
        if name in self._outbox.items:
            self._outbox.items[name]["content"][0]["transcript"] = words
        if self.transcribes:
            usage = {"type": "duration", "seconds": len(words) and round(self._ms / 1000, 3)}
            told = {"item_id": name, "content_index": 0, "transcript": words, "usage": usage}
            self._outbox.emit({"type": f"{ABOUT}.completed", **told})
