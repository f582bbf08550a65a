"""Errors of the client. The text of each is one sentence: what happened, what to do next."""


class ClientError(Exception):
    """The root of this room's errors."""


class LinkError(ClientError):
    """The server cannot be reached, or does not want us."""


class TurnFailed(ClientError):
    """The turn ended otherwise than with an answer."""


class TimeUp(ClientError):
    """It took longer than the person allowed."""
