"""What words during work must never do, in whatever order things happen."""

from collections.abc import Sequence

from sayso.protocol import messages as m
from sayso.server.turn import effects, events
from sayso.server.turn.effects import Effect
from sayso.server.turn.events import Event, Ticket
from tests.turn.scene import Scene


class SteeringPromises:
    """Follows one machine."""

    def __init__(self) -> None:
        self.untold: list[effects.Steer] = []
        """Words about the work that the model was not told yet."""
        self._acted = False
        """Code has run for what is worked on."""

    def look(
        self, scene: Scene, event: Event, did: Sequence[Effect], worked_on: Ticket | None
    ) -> Sequence[str]:
        """Look at what was done about an event; `worked_on`: until then. Returns the words that
        were passed on."""
        meaning = getattr(event, "meaning", "")
        stops = isinstance(event, events.Interrupted) or meaning == "stop"
        if stops and worked_on:
            for steer in self.untold:
                assert any(steer.text in text for text in _announced(did)), "a stop lost words"
        if worked_on and self._acted and scene.ticket != worked_on:
            anew = "No, instead" in getattr(event, "text", "")
            by_itself = isinstance(event, events.WorkDone | events.WorkFailed)
            assert stops or anew or by_itself, f"{event} ended the work"
        steers = [effect for effect in did if isinstance(effect, effects.Steer)]
        self.untold += steers
        for effect in did:
            if isinstance(effect, effects.AnswerApprovalByWord) and effect.decision == "yes":
                assert meaning == "yes", "other words approved what waits"
        if isinstance(event, events.AgentMessage) and event.ticket == worked_on:
            self._acted = True
        if scene.ticket != worked_on or scene.state_of_work == "idle":
            self.untold.clear()
            self._acted = False
        return [word for steer in steers for word in steer.text.split()]


def _announced(did: Sequence[Effect]) -> list[str]:
    tells = [effect.message for effect in did if isinstance(effect, effects.Tell)]
    return [message.text for message in tells if isinstance(message, m.Announce)]
