"""Whatever happens in whatever order, the machine keeps its promises."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from sayso.protocol import messages as m
from sayso.server.turn import effects, events
from sayso.server.turn.events import Ticket
from tests.turn.scene import Scene, sound_of

DEVICES = st.sampled_from(["laptop", "phone"])


class AnyOrder(RuleBasedStateMachine):
    """Presses, words, work, speech and lost links, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.scene = Scene()
        self.present: set[str] = set()
        self.open: dict[str, tuple[int, int]] = {}
        """Pressed devices: stream and samples so far."""
        self.tickets: list[Ticket] = [Ticket(0, 0)]
        self.answered: set[int] = set()
        self.spoke_for: dict[int, Ticket] = {}
        self.looked_at = 0

    @property
    def unanswered(self) -> list[int]:
        finished = [finish.utterance for finish in self.scene.all(effects.Finish)]
        return [number for number in finished if number not in self.answered]

    @rule(device=DEVICES)
    def come(self, device: str) -> None:
        self.scene.join(device)
        self.present.add(device)

    @rule(device=DEVICES)
    def go(self, device: str) -> None:
        if device in self.present:
            self.present.discard(device)
            self.open.pop(device, None)
            self.scene.happens(events.Left(device))

    @rule(device=DEVICES)
    def press(self, device: str) -> None:
        if device in self.present:
            self.open[device] = (self.scene.press(device), 0)

    @rule(device=DEVICES, samples=st.integers(1, 40_000), skipped=st.integers(0, 20_000))
    def speak(self, device: str, samples: int, skipped: int) -> None:
        if device in self.open:
            stream, first = self.open[device]
            pcm = bytes(2 * samples)
            self.scene.happens(events.AudioHeard(device, stream, first + skipped, pcm))
            self.open[device] = (stream, first + skipped + samples)

    @rule(device=DEVICES, more=st.integers(-2_000, 2_000))
    def release(self, device: str, more: int) -> None:
        if device in self.open:
            stream, samples = self.open.pop(device)
            self.scene.happens(events.ListenStopped(device, stream, max(0, samples + more)))

    @rule(device=DEVICES)
    def cancel(self, device: str) -> None:
        if device in self.open:
            stream, _ = self.open.pop(device)
            self.scene.happens(events.ListenCancelled(device, stream))

    @rule(words=st.sampled_from(["", "what is the time", "stop"]))
    def understand(self, words: str) -> None:
        for number in self.unanswered[:1]:
            self.answered.add(number)
            self.scene.happens(events.Heard(number, words))

    @rule()
    def fail_to_hear(self) -> None:
        for number in self.unanswered[:1]:
            self.answered.add(number)
            self.scene.happens(events.EarsFailed(number, "The ears failed."))

    @rule(device=DEVICES)
    def type(self, device: str) -> None:
        if device in self.present:
            self.scene.happens(events.Typed(device, "hello"))

    @rule(back=st.integers(1, 3), state=st.sampled_from(["acting", "awaiting_approval"]))
    def work(self, back: int, state: str) -> None:
        ticket = self.tickets[-back:][0]
        self.scene.reply("some words", ticket)
        shown = m.CodeStart("1", "python", "1")
        self.scene.happens(events.WorkShowed(ticket, state, shown))  # type: ignore[arg-type]

    @rule(back=st.integers(1, 3), fails=st.booleans())
    def end_work(self, back: int, fails: bool) -> None:
        ticket = self.tickets[-back:][0]
        ended = events.WorkFailed(ticket, "It failed.") if fails else events.WorkEnded(ticket)
        self.scene.happens(ended)

    @rule(back=st.integers(1, 3), seconds=st.floats(0.05, 3.0))
    def synthesize(self, back: int, seconds: float) -> None:
        self.scene.synthesize("some words", seconds, self.tickets[-back:][0])

    @rule(back=st.integers(1, 3))
    def end_mouth(self, back: int) -> None:
        self.scene.happens(events.MouthDone(self.tickets[-back:][0]))

    @rule(device=DEVICES, stream=st.integers(1, 3), samples=st.integers(0, 200_000))
    def play(self, device: str, stream: int, samples: int) -> None:
        self.scene.happens(events.Played(device, stream, samples, done=False))

    @rule(device=DEVICES, stream=st.none() | st.integers(1, 3), samples=st.integers(0, 99_999))
    def interrupt(self, device: str, stream: int | None, samples: int) -> None:
        self.scene.happens(events.Interrupted(device, stream, samples))
        assert self.scene.machine.state.mouth == "silent"

    @rule(seconds=st.floats(0.0, 15.0))
    def let_time_pass(self, seconds: float) -> None:
        self.scene.wait(seconds)

    @invariant()
    def what_was_done_is_in_order(self) -> None:
        for _, effect in self.scene.done[self.looked_at :]:
            if isinstance(effect, effects.Think):
                assert effect.ticket > self.tickets[-1], "a ticket was used again"
                self.tickets.append(effect.ticket)
            if isinstance(effect, effects.Send):
                current = self.scene.machine.ticket
                owner = self.spoke_for.setdefault(effect.stream, current)
                assert owner == current, "an old stream was used again"
                assert effect.pcm[:2] == sound_of(current), "sound of an old answer was sent"
        self.looked_at = len(self.scene.done)

    def teardown(self) -> None:
        """Everything ends by itself: all words are accounted for, and all is idle."""
        for device in ("laptop", "phone"):
            self.present.discard(device)
            self.scene.happens(events.Left(device))
        self.scene.wait(120.0)
        for number in self.unanswered:
            self.scene.happens(events.Heard(number, ""))
        while self.scene.machine.state.work != "idle":
            self.scene.happens(events.WorkEnded(self.scene.ticket))
        assert self.scene.machine.state == m.TurnState("idle", "idle", "silent")
        opened = {listen.utterance for listen in self.scene.all(effects.Listen)}
        finished = [finish.utterance for finish in self.scene.all(effects.Finish)]
        forgotten = [forget.utterance for forget in self.scene.all(effects.Forget)]
        assert sorted(finished + forgotten) == sorted(opened), "an utterance was lost or doubled"


AnyOrder.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestAnyOrder = AnyOrder.TestCase
