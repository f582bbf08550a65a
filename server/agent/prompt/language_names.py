"""What a model calls a language, and what the code runner calls it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

_ALIASES: Final = {
    "py": "python",
    "py3": "python",
    "python3": "python",
    "ipython": "python",
    "jupyter": "python",
    "tool_code": "python",
    "sh": "bash",
    "shell": "bash",
    "js": "javascript",
    "node": "javascript",
    "nodejs": "javascript",
}

_MEANT_TO_RUN: Final = frozenset({"python", "bash", "javascript"})
"""Code in these is meant to run, here or not; in others (HTML, YAML, R) only if they run here."""

_PERHAPS_MEANT: Final = frozenset(
    {"applescript", "fish", "julia", "lua", "perl", "php", "powershell", "pwsh", "r", "rb", "ruby",
     "tcl", "zsh"}
)  # fmt: skip
"""Code in these may be meant to run where it ends a reply; anywhere else it is shown."""

DEFAULT: Final = "python"
"""What code without a name is taken for."""


@dataclass(frozen=True, slots=True)
class Languages:
    """The languages that run here."""

    here: Sequence[str]
    tools: frozenset[str] = frozenset()
    """Those of them that are names of tools: what is written in them is arguments."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """What else the code runner calls them."""
    perhaps: Mapping[str, Callable[[str, str], object]] = field(default_factory=dict)
    """Labels of fences that are calls only if this, given label and text, says so; else they are
    shown."""

    def resolve(self, label: str) -> str | None:
        """The language's own name if code with this label is meant to run, else None.

        A language that is meant to run but does not run here is named all the same, so that the
        model can be told.
        """
        label = label.lower()
        if not label:
            return DEFAULT
        name = label if label in self.here else self.aliases.get(label, _ALIASES.get(label, label))
        return name if name in self.here or name in _MEANT_TO_RUN else None

    def resolve_last(self, label: str) -> str | None:
        """The language's name if code with this label, at the end of a reply, is meant to run and
        can't be: then the model is told so."""
        label = label.lower()
        return label if label in _PERHAPS_MEANT and self.resolve(label) is None else None
