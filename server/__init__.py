"""The server's rooms. For programs, `from sayso.server import Sayso`; server/api.py tells how."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sayso.server.api import Message, Sayso
    from sayso.server.chat import ChatFailed

__all__ = ["ChatFailed", "Message", "Sayso"]


def __getattr__(name: str) -> object:
    # Who imports a room needs none of this, and who imports this needs no room before it starts.
    if name in __all__:
        from sayso.server import api

        return getattr(api, name)
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
