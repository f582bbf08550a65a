"""Work that takes long, with news of it, in the midst of everything else."""

from hypothesis import strategies as st
from hypothesis.stateful import rule

from sayso.protocol import messages as m
from sayso.server.turn import effects, events
from tests.turn.any_order.any_order import DEVICES, AnyOrder


class LongWork(AnyOrder):
    """The likely order of things, which chance alone seldom finds."""

    @rule(back=st.integers(1, 3), seconds=st.sampled_from([1.0, 16.0]), fails=st.booleans())
    def end_run(self, back: int, seconds: float, fails: bool) -> None:
        """News: the narrator tells of it, unless the model says something itself."""
        ended = m.CodeEnd("1", "error" if fails else "ok", seconds)
        self.happens(events.AgentMessage(self.tickets[-back:][0], "thinking", ended))

    @rule(
        back=st.integers(1, 2),
        answers=st.lists(st.sampled_from(["Go on", "In the background"]), max_size=2),
        device=DEVICES,
    )
    def ask_about_time(self, back: int, answers: list[str], device: str) -> None:
        """How long it may take is asked while it goes on: one answer counts, and ends nothing."""
        ticket, used = self.tickets[-back:][0], len(self.scene.all(effects.UseTime))
        self.happens(events.TimeAsked(ticket, "Shall I go on?"))
        runs = ticket == self.scene.ticket and self.scene.state_of_work == "acting"
        for answer in answers if runs and device in self.present else ():
            waits = self.scene.ticket
            self.happens(events.Typed(device, answer))
            assert self.scene.ticket == waits, "an answer to the question ended the work"
        assert len(self.scene.all(effects.UseTime)) - used <= 1, "an answer counted twice"

    @rule(goes_on=st.booleans())
    def change_background(self, goes_on: bool) -> None:
        self.happens(events.BackgroundChanged(goes_on))

    @rule(seconds=st.floats(16.0, 90.0))
    def work_for_long(self, seconds: float) -> None:
        """Spoken words, code that runs, and silence until somebody wants to hear of it."""
        for device in sorted(self.present - self.pressed):
            self.press(device)
            self.speak(device, 8_000, 0)
            self.release(device, 0)
            self.understand("words")
            self.work(1, "acting")
            self.hear_out(3.0)
            self.hear_out(seconds)
            self.end_run(1, seconds, fails=False)
            self.hear_out(25.0)
            return

    def hear_out(self, seconds: float) -> None:
        """Time passes, then what was to be said by then becomes sound, and is heard to its end."""
        self.let_time_pass(seconds)
        sent = len(self.scene.all(effects.Send))
        self.synthesize(1, 0.5, current=True, more=False)
        if self.scene.all(effects.Send)[sent:]:
            self.let_time_pass(1.0)
            self.play(0, 20_000, done=False)
