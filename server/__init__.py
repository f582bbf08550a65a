"""The server's rooms. For programs, `from sayso.server import Sayso`; server/embedding/sayso.py
tells how."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sayso.server.embedding.sayso import Message, Sayso
    from sayso.server.embedding.stream import ChatFailed

__all__ = ["ChatFailed", "Message", "Sayso"]


def __getattr__(name: str) -> object:
    # Who imports a room needs none of this, and who imports this needs no room before it starts.
    if name in __all__:
        from sayso.server.embedding import sayso

        return getattr(sayso, name)
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
