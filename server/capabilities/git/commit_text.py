"""A commit as it is asked about: what is committed, where, and with which message. Pure.

    on a new branch: fix-parser
    file: src/parser.py
    as it is: notes.txt

    Parse empty lines

`file` is committed as the request changed it; `as it is` with what was changed there before, too.
The message follows the first empty line, and may have several.
"""

from dataclasses import dataclass
from typing import Final

from sayso.protocol.visible import revealed

MESSAGE_CHARS: Final = 10_000
"""More than anybody reads."""

_BRANCH: Final = "on a new branch: "
_EVERYTHING: Final = "with all that was done since the last commit"
_FILE: Final = "file: "
_WHOLE: Final = "as it is: "


class CommitTextError(ValueError):
    """This is no commit; the message tells the model what to change."""


@dataclass(frozen=True, slots=True)
class CommitText:
    """A commit that is not made yet."""

    message: str
    files: tuple[str, ...]
    """As they are shown: relative to the conversation's folder, else whole."""
    whole: tuple[str, ...] = ()
    """Those of them that are committed with what was changed in them before, too."""
    branch: str = ""
    """A new one on which it is made; empty: the one that is there."""
    everything: bool = False
    """It takes in what earlier requests changed since the last commit."""

    def __str__(self) -> str:
        head = [f"{_BRANCH}{self.branch}"] if self.branch else []
        if self.everything:
            head.append(_EVERYTHING)
        head += [f"{_WHOLE if path in self.whole else _FILE}{path}" for path in self.files]
        return "\n".join([*head, "", self.message])

    @classmethod
    def read(cls, text: str) -> "CommitText":
        """The commit that a text is. Raises CommitTextError."""
        branch, files, whole, everything = "", [], [], False
        head, _, message = text.partition("\n\n")
        for line in head.splitlines():
            if line.startswith(_BRANCH):
                branch = line.removeprefix(_BRANCH).strip()
            elif line == _EVERYTHING:
                everything = True
            elif line.startswith(_FILE):
                files.append(line.removeprefix(_FILE))
            elif line.startswith(_WHOLE):
                files.append(line.removeprefix(_WHOLE))
                whole.append(files[-1])
            else:
                raise CommitTextError(f"“{line[:80]}” is neither a file nor a branch.")
        return checked(cls(message.strip(), tuple(files), tuple(whole), branch, everything))


def checked(commit: CommitText) -> CommitText:
    """The same, if it can be made and shown. Raises CommitTextError."""
    if not commit.message.strip():
        raise CommitTextError("A commit needs a message that says why.")
    if len(commit.message) > MESSAGE_CHARS:
        raise CommitTextError("That message is longer than anybody reads; make it shorter.")
    if not commit.files:
        raise CommitTextError("There is nothing to commit.")
    for path in commit.files:
        if "\n" in path or revealed(path) != path:
            raise CommitTextError(
                f"{revealed(path)[:80]} has a name that can't be shown as it is: commit it by hand."
            )
    return commit
