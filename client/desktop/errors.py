"""What goes wrong at a screen; each message is a sentence that says what to do next."""

from sayso.client.errors import ClientError


class DesktopError(ClientError):
    """There is no screen that could be worked at, or no way to it."""


class Refused(Exception):
    """Nothing was done, or nothing more; the text says why."""

    def __init__(self, why: str, *, asks: str = "", needs: str = "") -> None:
        """`asks`: it is done after a yes of the person's to this. `needs`: once this application is
        open to it."""
        super().__init__(why)
        self.asks = asks
        self.needs = needs


class Stopped(Refused):
    """The person took over, or the work is over."""
