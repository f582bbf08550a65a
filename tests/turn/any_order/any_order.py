"""Whatever happens in whatever order, the machine keeps its promises.

- Never two speeches at once, and no sound of an old answer.
- Nobody is talked over: nothing is sent to a device whose key is down, or while an answer is held.
- Nothing that was said is lost: all words are worked on, unless a stop or a refusal says why not.
- Work ends by its own end, a stop, or words that begin anew; no other words end it, or approve what
  waits. What the model was not told of them is said back when it is stopped.
- When everybody is gone and has ended, all is idle.
"""

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from sayso.protocol import messages as m
from sayso.server.turn import effects, events
from sayso.server.turn.events import Event, Ticket
from sayso.server.turn.phrases import is_filler
from tests.turn.any_order.narration_promises import NarrationPromises
from tests.turn.any_order.steering_promises import SteeringPromises
from tests.turn.scene import Scene, sound_of

QUESTION = "what does that do?"
TYPED = ["words", "words", "anew", "aside", "stop_after", "question"]
DEVICES = st.sampled_from(["laptop", "phone"])


class AnyOrder(RuleBasedStateMachine):
    """Presses, voices, words, work, speech and lost links, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.scene = Scene()
        self.present: set[str] = set()
        self.open: dict[str, tuple[int, int]] = {}
        """Microphones that send: stream and samples so far."""
        self.pressed: set[str] = set()
        self.owners: dict[int, str] = {}
        """The device of each utterance."""
        self.tickets: list[Ticket] = [Ticket(0, 0)]
        self.answered: set[int] = set()
        self.spoke_for: dict[int, Ticket] = {}
        self.looked_at = 0
        self.words = 0
        self.owed: dict[str, str] = {}
        """Words that were said and are to be worked on, and whose they are."""
        self.steering = SteeringPromises()
        self.narration = NarrationPromises()

    def happens(self, event: Event) -> None:
        """Hand it in, and look at what was done about it."""
        held_before = self.scene.machine.state.mouth == "ducked"
        worked_on = self.scene.ticket if self.scene.state_of_work != "idle" else None
        did = self.scene.happens(event)
        for effect in did:
            if isinstance(event, events.TimePassed) and isinstance(effect, effects.Finish):
                # A key that was held for a minute is a key no more.
                self.pressed.discard(self.owners[effect.utterance])
        self.narration.look(did, self.scene.now, self.pressed)
        for word in self.steering.look(self.scene, event, did, worked_on):
            self.owed.pop(word, None)
        held = held_before and self.scene.machine.state.mouth == "ducked"
        for effect in did:
            if isinstance(effect, effects.Listen):
                self.owners[effect.utterance] = effect.device
            if isinstance(effect, effects.Send):
                assert effect.device not in self.pressed, "somebody was talked over"
                assert not held, "an answer went on while it was held"
            if isinstance(effect, effects.Speak) and is_filler(effect.text):
                assert not self.pressed, "somebody was talked over"
            refused = isinstance(effect, effects.Tell) and effect.message
            if isinstance(refused, m.Error) and refused.code == "too_fast":
                self.excuse(effect.device)  # type: ignore[union-attr]
        self.what_was_done_is_in_order()  # under the ticket of this moment

    def excuse(self, device: str | None) -> None:
        """What this person wanted is not wanted any more."""
        self.owed = {word: owner for word, owner in self.owed.items() if owner != device}

    def say(self, device: str) -> str:
        self.words += 1
        word = f"pear{self.words}"
        self.owed[word] = device
        return word

    @property
    def unanswered(self) -> list[int]:
        finished = [finish.utterance for finish in self.scene.all(effects.Finish)]
        return [number for number in finished if number not in self.answered]

    # --- people and devices ---

    @rule(device=DEVICES, returns=st.booleans())
    def come(self, device: str, returns: bool) -> None:
        self.happens(events.Joined(device, returns=returns))
        self.present.add(device)

    @rule(device=DEVICES)
    def go(self, device: str) -> None:
        if device in self.present:
            self.present.discard(device)
            self.open.pop(device, None)
            self.happens(events.Left(device))
            # The key may still be down, but that is known of no device that is gone.
            self.pressed.discard(device)

    @rule(device=DEVICES)
    def press(self, device: str) -> None:
        if device in self.present:
            self.scene.streams += 1
            self.open[device] = (self.scene.streams, 0)
            self.pressed.add(device)
            self.happens(events.ListenStarted(device, self.scene.streams))

    @rule(device=DEVICES, pre_roll=st.sampled_from([0, 8_000]))
    def open_microphone(self, device: str, pre_roll: int) -> None:
        if device in self.present:
            self.scene.streams += 1
            self.open[device] = (self.scene.streams, 0)
            self.pressed.discard(device)
            self.happens(events.ListenStarted(device, self.scene.streams, "hands_free", pre_roll))

    @rule(device=DEVICES, samples=st.integers(1, 40_000), skipped=st.integers(0, 20_000))
    def speak(self, device: str, samples: int, skipped: int) -> None:
        if device in self.open:
            stream, first = self.open[device]
            pcm = bytes(2 * samples)
            if skipped > 16_000 or first + skipped + samples >= 960_000:
                self.pressed.discard(device)  # The utterance ends with this.
            self.happens(events.AudioHeard(device, stream, first + skipped, pcm))
            self.open[device] = (stream, first + skipped + samples)

    @rule(device=DEVICES, more=st.integers(-2_000, 2_000))
    def release(self, device: str, more: int) -> None:
        if device in self.open:
            stream, samples = self.open.pop(device)
            self.pressed.discard(device)
            self.happens(events.ListenStopped(device, stream, max(0, samples + more)))

    @rule(device=DEVICES)
    def cancel(self, device: str) -> None:
        if device in self.open:
            stream, _ = self.open.pop(device)
            self.pressed.discard(device)
            self.happens(events.ListenCancelled(device, stream))

    @rule(device=DEVICES, kind=st.sampled_from(TYPED))
    def type(self, device: str, kind: str) -> None:
        if device in self.present:
            word = "" if kind == "question" else self.say(device)
            match kind:
                case "question":
                    self.ask_about_code(device)
                case "anew":
                    self.owed.update({"No,": device, "instead": device})
                    self.happens(events.Typed(device, f"No, instead {word}"))
                case "aside" | "stop_after":
                    self.happens(events.Typed(device, word, kind))
                    self.owed_unless_done(word)
                case _:
                    self.happens(events.Typed(device, word))

    def ask_about_code(self, device: str) -> None:
        """It is answered beside code that waits or runs; else it is words as others are."""
        explained = len(self.scene.all(effects.ExplainCode))
        self.owed.update(dict.fromkeys(QUESTION.split(), device))
        self.happens(events.Typed(device, QUESTION))
        if len(self.scene.all(effects.ExplainCode)) > explained:
            self.owed = {word: of for word, of in self.owed.items() if word not in QUESTION}

    def owed_unless_done(self, word: str) -> None:
        """It is answered beside the work, or lets that end: then it is nothing to be worked on."""
        asides = [each.text for each in self.scene.all(effects.AnswerAside)]
        if word in asides or self.scene.all(effects.StopAfter):
            self.owed.pop(word, None)

    @rule(answered=st.booleans(), device=DEVICES)
    def answer_aside(self, answered: bool, device: str) -> None:
        word = "" if answered else self.say(device)
        self.happens(events.AsideAnswered(device, "It's noon." if answered else "", word, True))

    @rule(back=st.integers(1, 2), count=st.integers(1, 2))
    def give_steers(self, back: int, count: int) -> None:
        ticket = self.tickets[-back:][0]
        if ticket == self.scene.ticket:
            del self.steering.untold[:count]
        self.happens(events.SteersGiven(ticket, count))

    @rule()
    def keep_steer(self) -> None:
        for steer in self.scene.all(effects.Steer)[-1:]:
            self.happens(events.SteerKept(steer.ticket, steer.device, True))

    @rule()
    def steer_too_late(self) -> None:
        """The work had ended in the same moment; its end is told before or after."""
        if self.steering.untold and self.steering.untold[-1].ticket == self.scene.ticket:
            steer = self.steering.untold.pop()
            self.owed.update(dict.fromkeys(steer.text.split(), steer.device))
            self.happens(events.SteerTooLate(steer.ticket, steer.device, steer.text, True))

    @rule(device=DEVICES, stream=st.none() | st.integers(1, 3), samples=st.integers(0, 99_999))
    def interrupt(self, device: str, stream: int | None, samples: int) -> None:
        self.excuse(device)
        self.happens(events.Interrupted(device, stream, samples))

    @rule(back=st.integers(0, 2), samples=st.integers(0, 20_000), done=st.booleans())
    def play(self, back: int, samples: int, done: bool) -> None:
        if sends := self.scene.all(effects.Send)[-1 - back :]:
            played = sends[0].first_sample + samples
            self.happens(events.Played(sends[0].device, sends[0].stream, played, done))

    @rule(device=DEVICES, stream=st.integers(1, 3), samples=st.integers(0, 200_000))
    def play_anything(self, device: str, stream: int, samples: int) -> None:
        self.happens(events.Played(device, stream, samples, done=False))

    # --- those who listen ---

    @rule(back=st.integers(0, 2), sample=st.integers(0, 9_000))
    def hear_voice(self, back: int, sample: int) -> None:
        if utterances := list(self.owners)[-1 - back :]:
            self.happens(events.VoiceBegan(utterances[0], sample))

    @rule(back=st.integers(0, 2), timeout=st.booleans())
    def end_voice(self, back: int, timeout: bool) -> None:
        if utterances := list(self.owners)[-1 - back :]:
            ended = events.VoiceEnded(utterances[0], "timeout" if timeout else "ended")
            hands_free = {n.utterance for n in self.scene.all(effects.Listen) if n.mode != "ptt"}
            if ended.utterance in hands_free:
                self.happens(ended)

    @rule(back=st.integers(0, 2), stable=st.sampled_from(["", "mm-hm", "tell me"]))
    def hear_part(self, back: int, stable: str) -> None:
        if utterances := list(self.owners)[-1 - back :]:
            self.happens(events.PartlyHeard(utterances[0], stable, " more"))

    @rule(
        kind=st.sampled_from(
            ["words", "words", "nothing", "murmur", "stop", "yes", "aside", "stop_after"]
        )
    )
    def understand(self, kind: str) -> None:
        for number in self.unanswered[:1]:
            self.answered.add(number)
            device = self.owners[number]
            match kind:
                case "words":
                    heard = events.Heard(number, self.say(device))
                case "stop":
                    self.excuse(device)
                    heard = events.Heard(number, "stop", "stop")
                case "yes":
                    heard = events.Heard(number, "yes", "yes")
                case "aside" | "stop_after":
                    word = self.say(device)
                    self.happens(events.Heard(number, word, kind))
                    self.owed_unless_done(word)
                    return
                case "murmur":
                    heard = events.Heard(number, "Mm-hm.")
                case _:
                    heard = events.Heard(number, "")
            self.happens(heard)

    @rule()
    def fail_to_hear(self) -> None:
        for number in self.unanswered[:1]:
            self.answered.add(number)
            self.happens(events.RecognitionFailed(number, "The ears failed."))

    @rule(seconds=st.floats(0.5, 3.0))
    def speak_over_an_answer(self, seconds: float) -> None:
        """The likely order of things, which chance alone seldom finds."""
        self.synthesize(1, seconds, current=True, more=False)
        if self.scene.all(effects.Send):
            self.open_microphone(self.scene.the(effects.Send).device, 8_000)
            self.hear_voice(0, 0)
            self.play(0, 5_000, done=False)

    # --- the work and the mouth ---

    @rule(back=st.integers(1, 3), state=st.sampled_from(["acting", "awaiting_approval"]))
    def work(self, back: int, state: str) -> None:
        ticket = self.tickets[-back:][0]
        self.happens(events.ReplyDelta(ticket, "some words"))
        shown = m.CodeStart("1", "python", "1")
        self.happens(events.AgentMessage(ticket, state, shown))  # type: ignore[arg-type]

    @rule(back=st.integers(1, 3))
    def reply(self, back: int) -> None:
        self.happens(events.ReplyDelta(self.tickets[-back:][0], "some words"))

    @rule(back=st.integers(1, 3), fails=st.booleans())
    def end_work(self, back: int, fails: bool) -> None:
        ticket = self.tickets[-back:][0]
        ended = events.WorkFailed(ticket, "It failed.") if fails else events.WorkDone(ticket)
        self.happens(ended)

    @rule(
        back=st.integers(1, 3),
        seconds=st.floats(0.05, 3.0),
        current=st.booleans(),
        more=st.booleans(),
    )
    def synthesize(self, back: int, seconds: float, current: bool, more: bool) -> None:
        ticket = self.scene.ticket if current else self.tickets[-back:][0]
        samples = round(seconds * 22_050)
        pcm = sound_of(ticket) * samples
        told = events.ChunkSpoken(
            ticket, "some words", 22_050, pcm, (), samples=2 * samples, more=more
        )
        self.happens(told)

    @rule(
        back=st.integers(1, 3),
        seconds=st.floats(0.0, 1.0),
        current=st.booleans(),
        more=st.booleans(),
    )
    def synthesize_more(self, back: int, seconds: float, current: bool, more: bool) -> None:
        ticket = self.scene.ticket if current else self.tickets[-back:][0]
        pcm = sound_of(ticket) * round(seconds * 22_050)
        self.happens(events.SoundCame(ticket, pcm, more))

    @rule(back=st.integers(1, 3), fails=st.booleans(), current=st.booleans())
    def end_mouth(self, back: int, fails: bool, current: bool) -> None:
        ticket = self.scene.ticket if current else self.tickets[-back:][0]
        self.happens(
            events.SynthesisFailed(ticket, "No.") if fails else events.SynthesisDone(ticket)
        )

    @rule(device=DEVICES)
    def announce(self, device: str) -> None:
        self.happens(events.Announced("The eggs are done.", device))

    @rule(device=DEVICES, language=st.sampled_from(["", "de", "fr-FR"]))
    def prefer(self, device: str, language: str) -> None:
        self.happens(events.Preferred(device, language=language))
        self.happens(events.LanguageFound(device, language))

    @rule(seconds=st.floats(0.0, 15.0))
    def let_time_pass(self, seconds: float) -> None:
        until = self.scene.now + seconds
        while self.scene.machine.deadline <= until:
            self.scene.now = max(self.scene.now, self.scene.machine.deadline)
            # A key that is held for a minute, or whose device is gone, is a key no more.
            listening = self.scene.machine.state.ears == "listening"
            self.happens(events.TimePassed())
            if listening and self.scene.machine.state.ears != "listening":
                self.pressed.clear()
        self.scene.now = until

    # --- promises ---

    @invariant()
    def what_was_done_is_in_order(self) -> None:
        for _, effect in self.scene.done[self.looked_at :]:
            if isinstance(effect, effects.Think):
                assert effect.ticket > self.tickets[-1], "a ticket was used again"
                self.tickets.append(effect.ticket)
                for word in effect.text.split():
                    self.owed.pop(word, None)
            if isinstance(effect, effects.Withdraw):
                # It is not forgotten: it comes again with what follows.
                owner = self._owner_of(effect.ticket)
                self.owed.update(dict.fromkeys(effect.text.split(), owner))
            if isinstance(effect, effects.Send):
                current = self.scene.machine.ticket
                spoken_for = self.spoke_for.setdefault(effect.stream, current)
                assert spoken_for == current, "an old stream was used again"
                assert effect.stream == max(self.spoke_for), "two speeches at once"
                assert effect.pcm[:2] == sound_of(current), "sound of an old answer was sent"
        self.looked_at = len(self.scene.done)

    def _owner_of(self, ticket: Ticket) -> str:
        thinks = self.scene.all(effects.Think)
        return next(think.device for think in thinks if think.ticket == ticket)

    @invariant()
    def a_held_answer_is_held_for_a_reason(self) -> None:
        state = self.scene.machine.state
        if state.mouth == "ducked" and not self.unanswered:
            assert self.scene.machine.deadline <= self.scene.now + 62.0, "it is held for ever"

    def teardown(self) -> None:
        """Everything ends by itself: all words are accounted for, and all is idle."""
        for device in ("laptop", "phone"):
            self.go(device)
            self.happens(events.Left(device))
        self.let_time_pass(120.0)
        for number in self.unanswered:
            self.happens(events.Heard(number, ""))
        while self.scene.machine.state.work != "idle":
            self.happens(events.WorkDone(self.scene.ticket))
        assert self.scene.machine.state == m.TurnState("idle", "idle", "silent")
        opened = {listen.utterance for listen in self.scene.all(effects.Listen)}
        finished = [finish.utterance for finish in self.scene.all(effects.Finish)]
        forgotten = [forget.utterance for forget in self.scene.all(effects.Forget)]
        assert sorted(finished + forgotten) == sorted(opened), "an utterance was lost or doubled"
        assert not self.owed, "words were lost"
