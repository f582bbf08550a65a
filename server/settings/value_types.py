"""What one setting may be: its type, its bounds, and how a value is read from text or TOML."""

from dataclasses import dataclass
from typing import Annotated, Final, Literal

MB: Final = 1_000_000
"""Bytes in the unit of settings that end in `_mb`."""

Value = str | int | float | bool | tuple[str, ...]
"""What a setting can hold."""

Kind = Literal["text", "whole number", "number", "yes or no", "list of texts"]

YES = frozenset({"true", "yes", "on", "1"})
NO = frozenset({"false", "no", "off", "0"})


@dataclass(frozen=True, slots=True)
class Between:
    """The least and the greatest value allowed, both included."""

    least: float
    greatest: float


Port = Annotated[int, Between(0, 65_535)]
Threads = Annotated[int, Between(0, 256)]


@dataclass(frozen=True, slots=True)
class ByProject:
    """Marks a setting that a project's own file may decide, because it touches no one's safety."""


class NotAllowed(ValueError):
    """The value does not fit the key; `Key.allowed` says in words what would."""


@dataclass(frozen=True, slots=True)
class Key:
    """One setting."""

    section: str
    name: str
    kind: Kind
    default: Value
    between: Between | None = None
    choices: tuple[str, ...] = ()
    """All allowed texts; empty means any."""
    by_project: bool = False
    """Whether a project's file may decide it."""

    @property
    def dotted(self) -> str:
        return f"{self.section}.{self.name}"

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return f"SAYSO_{self.section}_{self.name}".upper()

    @property
    def allowed(self) -> str:
        """What is allowed, in words that complete "it must be …"."""
        if self.choices:
            return "one of " + ", ".join(self.choices)
        words = {
            "text": "a text",
            "whole number": "a whole number",
            "number": "a number",
            "yes or no": "true or false",
            "list of texts": "a list of texts",
        }[self.kind]
        if self.between:
            words += f" from {self.between.least:g} to {self.between.greatest:g}"
        return words

    def from_toml(self, raw: object) -> Value:
        """The value as a TOML file, or a caller in Python, gives it."""
        value: Value
        match self.kind, raw:
            case "yes or no", bool():
                return raw
            case _, bool():
                raise NotAllowed
            case "text", str():
                value = raw
            case "whole number", int():
                value = raw
            case "number", int() | float():
                value = float(raw)
            case "list of texts", list() | tuple() if all(isinstance(one, str) for one in raw):
                value = tuple(raw)
            case _:
                raise NotAllowed
        return self._checked(value)

    def from_text(self, text: str) -> Value:
        """The value as a flag, the environment or a command line gives it."""
        text = text.strip()
        match self.kind:
            case "text":
                return self._checked(text)
            case "list of texts":
                return self._checked(tuple(one.strip() for one in text.split(",") if one.strip()))
            case "yes or no":
                if text.lower() not in YES | NO:
                    raise NotAllowed
                return text.lower() in YES
            case "whole number" | "number":
                try:
                    return self._checked(int(text) if self.kind == "whole number" else float(text))
                except ValueError:
                    raise NotAllowed from None

    def _checked(self, value: Value) -> Value:
        if self.choices and value not in self.choices:
            raise NotAllowed
        if isinstance(value, int | float) and self.between:
            least, greatest = self.between.least, self.between.greatest
            if not least <= value <= greatest:  # also what is no number (nan)
                raise NotAllowed
        return value
