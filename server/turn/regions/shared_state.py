"""State that all regions share: the time, the devices, whose answer counts, the effects."""

from sayso.protocol.messages import FromServer
from sayso.server.turn.effects import Effect, Tell
from sayso.server.turn.events import Joined, Ticket


class SharedState:
    """One for each conversation."""

    def __init__(self, first_turn: int) -> None:
        self.now = 0.0
        """Seconds on the event loop's clock, at the event that is being handled."""
        self.ticket = Ticket(first_turn - 1, 0)
        """The attempt at an answer that counts; what carries another is stale."""
        self.devices: dict[str, Joined] = {}
        self.in_background = False
        """Work goes on that no request waits for."""
        self._effects: list[Effect] = []

    def next_turn(self) -> None:
        """Something new begins."""
        self.ticket = Ticket(self.ticket.turn + 1, 0)

    def next_attempt(self) -> None:
        """What was begun is over; what still comes of it is stale."""
        self.ticket = Ticket(self.ticket.turn, self.ticket.gen + 1)

    def do(self, effect: Effect) -> None:
        self._effects.append(effect)

    def tell(self, message: FromServer, device: str | None = None) -> None:
        """Send a message to one device, or to all."""
        self.do(Tell(message, self.ticket, device))

    def take_effects(self) -> list[Effect]:
        """What is to be done, in order."""
        effects, self._effects = self._effects, []
        return effects
