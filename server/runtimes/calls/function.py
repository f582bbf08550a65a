"""The seam for a function that code may call: arguments in, a value or a refusal out."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class CallingRun:
    """The run that a call comes from, as the server knows it; nothing of it is taken from code."""

    id: str


class CallRefusedError(Exception):
    """The call is not carried out; the text is a sentence that the code gets as an exception."""


class CallFunction(Protocol):
    """A function of the server that code may call.

    The implementation decides what the call may do: the arguments come from code, and need not
    have been made by the module that code usually calls it with.
    """

    @property
    def name(self) -> str: ...

    async def call(self, arguments: Mapping[str, object], run: CallingRun) -> object:
        """Carry out the call; return a value for JSON, or bytes. Raises CallRefusedError.

        It is cancelled when the run is stopped or over.
        """
        ...
