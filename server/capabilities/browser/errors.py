"""What goes wrong with the browser; each message is a sentence or two that say what to do next."""


class BrowserError(Exception):
    """Nothing was done."""


class BrowserGoneError(BrowserError):
    """The browser has ended, or the page that was meant."""


class RefusedError(BrowserError):
    """What was wanted is not done: it is not there, not clear, out of reach, or nobody allowed
    it."""
