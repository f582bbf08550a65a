"""Counts what a television asks for in an hour while code is at work, faster than an hour takes.

    python -m bench.television [MINUTES]

What a device does is real (gates, wake word), and so is what the server does: the end of the words,
Whisper, reflexes, the turn machine. Only time is counted in sound, and the code at work is none.
Each minute or so the work says something or asks something, which is when a voice is listened to.
The television speaks without a pause: news, plays and advertisements in three pitches of the one
voice that there is, and a telephone exchange's recordings of a person.
"""

import asyncio
import secrets
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import cycle

import numpy as np
import soxr

from bench.hands_free import PITCHES, say
from bench.support.recordings import recordings
from bench.support.room_acoustics import HISS, RATE, Sound, pcm
from sayso.audio.pcm import FRAME_BYTES, FRAME_MS
from sayso.audio.playback_reference import Heard
from sayso.audio.voice_gate import VoiceGate
from sayso.audio.wake_word import find_wake_word, load
from sayso.client.listening.hands_free import WORKING
from sayso.client.listening.wake_gate import Opening, WakeGate
from sayso.protocol import messages as m
from sayso.protocol.home import Home
from sayso.server.models import InstalledModels
from sayso.server.reflexes.language_set import LanguageSet, shipped_languages
from sayso.server.reflexes.reflex import Cancel, No, Stop, StopAfter, Yes
from sayso.server.speech.engines.piper.synthesizer import PiperSynthesizer
from sayso.server.speech.engines.whisper.recognizer import WhisperRecognizer
from sayso.server.speech.recognition.endpointing import AdaptiveSilence
from sayso.server.turn import effects, events
from sayso.server.turn.relevance.address import without_wake_word
from sayso.server.turn.relevance.request_form import asks_for_something
from tests.turn.scene import Scene

TELEVISION = """
The president said on Tuesday that talks would go on until the end of the month.
He never told me about the money, and now the house is gone.
It is raining all over the north, with some sun in the south tomorrow afternoon.
Twenty minutes later the train had left, and nobody knew where she was.
What are you doing here at this time of night?
Open the door, I know that you are in there!
Please don't leave me alone with all of this.
Buy one, get one free, only this weekend and only at your supermarket.
How long have you known about it?
I told you to stop calling me at the office.
Call now, and you will get a second one for nothing.
The match ended two to one, after a goal in the last minute.
Where were you when the lights went out?
Tell me the truth, just this once.
The minister answered that there would be no new taxes this year.
We have to go, they will be here in ten minutes.
Let's see what our next guest has to say about that.
Turn it off, turn it off, it is going to explode!
Yes, of course I will marry you.
No, no, no, this can't be happening.
Scientists have found water under the ice, about three kilometres deep.
Wait, there is something that you should know first.
Could you pass me the salt, dear?
And now to the weather, with the latest from the coast.
You can't just walk away from your own family.
Show me what you have got in your hand.
The police are looking for two men in a white van.
Have you ever wondered how bees find their way home?
Give me one good reason why I should believe you.
In a small village by the sea there lived an old man with his dog.
Run! They are right behind us!
Do you remember the summer when we first met?
Prices went up by three percent, the most in more than ten years.
I need you to listen to me very carefully now.
Get out of my kitchen before I call your mother.
That was the last time that anybody saw her alive.
Who wants to be on our show next week?
Put the gun down, and nobody gets hurt.
Our new car has more room for everything that you love.
Good evening, and welcome to the eight o'clock news.
""".strip().splitlines()
BREATH_S = 0.45
EVERY_S = 45.0
"""What the work says or asks begins so long after the last."""
SAID = "The second of four folders is done."
ASKED = "May I go on with the next folder?"
LASTS_S = 2.5
"""Either of them."""
MINUTES = 60.0
DEVICE = "laptop"
ACTS = (
    effects.Think,
    effects.Steer,
    effects.StopThinking,
    effects.StopAfter,
    effects.AnswerAside,
    effects.AnswerApprovalByWord,
)
"""What a turn does because of words."""


@dataclass
class Count:
    """What the television came to."""

    sentences: int = 0
    minutes: float = 0.0
    openings: Counter[str] = field(default_factory=Counter)
    acted_upon: list[str] = field(default_factory=list)
    """What was done, and the words that it was done for."""
    heard: list[str] = field(default_factory=list)
    """All that was understood."""


def measure(minutes: float = MINUTES) -> Count:
    """Let it run for so long."""
    return asyncio.run(_measure(minutes))


def table(count: Count) -> str:
    """For people."""
    openings = ", ".join(f"{number} {why}" for why, number in count.openings.most_common()) or "0"
    lines = [
        f"{count.sentences} sentences in {count.minutes:.0f} minutes",
        f"listened to: {openings}; understood: {len(count.heard)}",
        f"acted upon: {len(count.acted_upon)}",
    ]
    return "\n".join([*lines, *(f"  {each}" for each in count.acted_upon)])


async def _measure(minutes: float) -> Count:
    installed = InstalledModels(Home.find())
    whisper = WhisperRecognizer(installed.ready("ears", "tiny.en").path)
    await whisper.start()
    try:
        house = _House(whisper, await asyncio.to_thread(shipped_languages))
        programme = _programme(await _voices(installed))
        while house.scene.now < minutes * 60:
            sound = next(programme)
            house.count.sentences += 1
            for at in range(0, len(sound) - FRAME_BYTES + 1, FRAME_BYTES):
                await house.take(sound[at : at + FRAME_BYTES])
        house.count.minutes = house.scene.now / 60
        return house.count
    finally:
        await whisper.close()


async def _voices(installed: InstalledModels) -> list[Sound]:
    voice = installed.ready("voice", "en_US-joe-medium").path
    mouth = PiperSynthesizer(voice, seed=secrets.randbelow(2**31))
    await mouth.start()
    try:
        said = [await say(mouth, text) for text in TELEVISION]
    finally:
        await mouth.close()
    pitched = [soxr.resample(one, RATE * pitch, RATE) for pitch in PITCHES for one in said]
    people = [one.samples.astype(np.float64) for one in recordings()]
    return [*pitched, *(one * (0.1 / np.sqrt(np.mean(one**2))) for one in people)]


def _programme(voices: list[Sound]) -> Iterator[bytes]:
    """Sentence by sentence, in an order of its own, a little quieter than a person at the device,
    each with a breath behind it."""
    chance = np.random.default_rng()
    for at in cycle(chance.permutation(len(voices))):
        sound = np.concatenate(
            [voices[at] * chance.uniform(0.4, 1.0), np.zeros(int(BREATH_S * RATE))]
        )
        yield pcm(sound + chance.normal(0, HISS, len(sound)))


class _Utterance:
    """What the device sends of one opening."""

    def __init__(self, scene: Scene, opening: Opening) -> None:
        self.pcm = b""
        self._scene = scene
        self._gate = VoiceGate()
        self._end = AdaptiveSilence(patience_ms=opening.wait_ms)
        self._began = False
        scene.streams += 1
        self._stream = scene.streams
        self.addressed = opening.why == "wake word"
        samples = len(opening.pre_roll) // 2
        scene.happens(
            events.ListenStarted(
                DEVICE,
                self._stream,
                "hands_free",
                samples,
                opening.wait_ms,
                addressed=self.addressed,
            )
        )
        self.number = scene.the(effects.Listen).utterance
        for at in range(0, len(opening.pre_roll), FRAME_BYTES):
            self.take(opening.pre_roll[at : at + FRAME_BYTES])

    def take(self, frame: bytes) -> bool:
        """The next sound; returns whether it is over."""
        happened = self._scene.happens
        happened(events.AudioHeard(DEVICE, self._stream, len(self.pcm) // 2, frame))
        self.pcm += frame
        stage = self._end.take(len(frame) == FRAME_BYTES and self._gate.hears(frame), None)
        if stage in ("speaking", "ended") and not self._began:
            self._began = True
            happened(events.VoiceBegan(self.number, 0))
        if stage not in {"ended", "timeout"}:
            return False
        happened(events.VoiceEnded(self.number, "ended" if stage == "ended" else "timeout"))
        return True

    @property
    def holds_words(self) -> bool:
        return self._began


class _House:
    """A device with a television beside it, and the server's part of one conversation."""

    def __init__(self, whisper: WhisperRecognizer, languages: LanguageSet) -> None:
        self.count = Count()
        self.scene = Scene()
        self._whisper = whisper
        self._languages = languages
        self._gate = WakeGate(
            VoiceGate(),
            load(find_wake_word("hey jarvis")),
            lambda frame: Heard(frame, frame),
            "cancelled",
        )
        self._utterance: _Utterance | None = None
        self._next = EVERY_S
        self._speaks_until = 0.0
        self._asks = False
        self._asked = 0
        self._begin_work()

    def _begin_work(self) -> None:
        self.scene.join(DEVICE)
        self.scene.say("sort my files")
        start = m.CodeStart("1", "python", "…")
        self.scene.happens(events.AgentMessage(self.scene.ticket, "acting", start))
        self._seen = self._noted = len(self.scene.done)

    async def take(self, frame: bytes) -> None:
        """The next 20 ms."""
        self.scene.wait(FRAME_MS / 1000)
        self._go_on_with_work()
        speaking = self.scene.now < self._speaks_until
        words, opening = self._gate.take(
            frame,
            open_already=self._utterance is not None,
            speaking=speaking,
            working=self.scene.state_of_work in WORKING,
            asks=self._asks,
        )
        if opening is not None:
            self._open(opening)
        elif words and self._utterance is not None and self._utterance.take(words):
            utterance, self._utterance = self._utterance, None
            if utterance.holds_words:
                await self._understand(utterance)

    def _go_on_with_work(self) -> None:
        """Something is said or asked now and then, and what is asked is answered by a tap."""
        s = self.scene
        for effect in self._new_effects():
            if isinstance(effect, effects.Speak) and s.now >= self._speaks_until:
                s.synthesize(effect.text, LASTS_S, effect.ticket)
                self._speaks_until = s.now + LASTS_S
                self._asks = effect.text.rstrip().endswith("?")
        if self._speaks_until and s.now >= self._speaks_until:
            self._speaks_until = 0.0
            s.happens(events.Played(DEVICE, s.the(effects.Send).stream, s.sent, done=True))
        if s.now < self._next:
            return
        self._next += EVERY_S
        self._asked += 1
        number = str(self._asked)
        if s.state_of_work == "awaiting_approval":
            s.happens(events.AgentMessage(s.ticket, "acting", m.CodeStart(number, "python", "…")))
        else:
            question = m.ApprovalRequest(number, "n", "python", "…", "/work")
            s.happens(events.AgentMessage(s.ticket, "awaiting_approval", question))
            s.happens(events.QuestionShown(DEVICE, number))

    def _new_effects(self) -> list[effects.Effect]:
        new = [effect for _, effect in self.scene.done[self._seen :]]
        self._seen = len(self.scene.done)
        return new

    def _open(self, opening: Opening) -> None:
        self.count.openings[opening.why] += 1
        self._utterance = _Utterance(self.scene, opening)

    async def _understand(self, utterance: _Utterance) -> None:
        """The words reach the turn; what it does of them is counted."""
        self._note("before it was understood")
        text = without_wake_word((await self._whisper.transcribe(utterance.pcm)).text)
        self.count.heard.append(text)
        self.scene.happens(events.Heard(utterance.number, text, *self._meant(text)))
        self._note(text)

    def _meant(self, text: str) -> tuple[events.Meaning, events.Form]:
        """As a conversation tells the turn."""
        understood = self._languages.match(text, "en")
        if understood is None:
            return "request", "request" if asks_for_something(text) else "remark"
        match understood.reflex:
            case Yes():
                return "yes", "reflex"
            case No():
                return "no", "reflex"
            case Stop() | Cancel():
                return "stop", "reflex"
            case StopAfter():
                return "stop_after", "reflex"
            case _:
                return "aside", "reflex"

    def _note(self, text: str) -> None:
        for _, effect in self.scene.done[self._noted :]:
            if isinstance(effect, ACTS):
                self.count.acted_upon.append(f"{type(effect).__name__}: {text}")
        self._noted = len(self.scene.done)


def main() -> None:
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else MINUTES
    began = time.process_time()
    count = measure(minutes)
    print(table(count))
    for text in count.heard:
        print(f"  ({text})")
    print(f"{time.process_time() - began:.0f} s of this process")


if __name__ == "__main__":
    main()
