"""The tool `commit`: commits what a request changed, and nothing else.

It works in the sandbox, where the repository's hooks run as confined as any code. The files are
those that the conversation's own record names; what the person had staged or changed besides stays
as it is, in the index and in the files. There is no way in it to amend, to stash, to reset, or to
pass over hooks.
"""

import re
import secrets
import shlex
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from sayso.protocol.untrusted_json import UntrustedJsonError, read_json
from sayso.server.agent.record.conversation_history import History
from sayso.server.agent.stream_closing import closing
from sayso.server.agent.tools.schema import problems
from sayso.server.agent.tools.tool import Arguments, ArgumentsError, Tool, ToolContext, WrittenCall
from sayso.server.capabilities.git.changed_files import ChangedFiles, changed_files
from sayso.server.capabilities.git.commit_text import CommitText, CommitTextError, checked
from sayso.server.policy.judge import Judgement
from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.runtime import Ending, Output

NAME: Final = "commit"

_SCRIPT: Final = Path(__file__).with_name("commit.sh")

_WANTS_A_COMMIT: Final = re.compile(
    r"\bcommit|\bcheck (it|that|this|them) in\b|\beincheck|\bcheck\w* .*\bein\b", re.IGNORECASE
)
_SCHEMA: Final = {
    "type": "object",
    "properties": {
        "message": {"type": "string"},
        "files": {"type": "array", "items": {"type": "string"}},
        "as_they_are": {"type": "array", "items": {"type": "string"}},
        "branch": {"type": "string"},
        "everything": {"type": "boolean"},
    },
    "required": ["message"],
    "additionalProperties": False,
}

Former = Callable[[Sequence[str]], Awaitable[Mapping[str, str]]]
"""Git's names of what was in files before these runs."""


class Commit(Tool):
    """Commits for one conversation."""

    name = NAME
    use = (
        "Commit with git what the latest request changed (everything: since the last commit), or "
        "only these files of it; branch makes a new one first. Files that were changed before are "
        "refused unless the person wants them in and they are named in as_they_are."
    )
    schema = _SCHEMA
    undo = ""
    outside = False
    needs_code = True

    def __init__(
        self,
        history: Callable[[], History],
        code_runner: Callable[[], CodeRunner],
        former: Former,
        trailer: Callable[[], str],
    ) -> None:
        """`trailer`: what is put below messages; empty is nothing."""
        self._history = history
        self._code_runner = code_runner
        self._former = former
        self._trailer = trailer

    def read_call(self, arguments: str) -> WrittenCall:
        """As it was written: what the latest request changed is known when its turn comes, after
        the calls before it in the same reply."""
        return WrittenCall(self.name, arguments if arguments.strip() else "{}")

    def read(self, label: str, text: str) -> Arguments:
        """The whole commit: what is not said of it is filled in, so that all of it is shown."""
        try:
            if not text.lstrip().startswith("{"):
                return {"commit": CommitText.read(text)}
            value = read_json(text, control_characters=True)
            if wrong := problems(value, _SCHEMA):
                raise ArgumentsError(" ".join(wrong))
            return {"commit": checked(self._filled_in(value))}
        except UntrustedJsonError as error:
            raise ArgumentsError(f"The arguments must be a JSON object: {error}.") from None
        except CommitTextError as error:
            raise ArgumentsError(str(error)) from None

    def write(self, arguments: Arguments) -> str:
        return str(arguments["commit"])

    def as_call(self, label: str, text: str) -> tuple[str, str]:
        try:
            commit = CommitText.read(text)
        except CommitTextError:
            return super().as_call(label, text) or (NAME, text)
        told: dict[str, object] = {"message": commit.message, "files": list(commit.files)}
        if commit.whole:
            told["as_they_are"] = list(commit.whole)
        if commit.everything:
            told["everything"] = True
        if commit.branch:
            told["branch"] = commit.branch
        return NAME, super().write(told)

    def judge(self, arguments: Arguments) -> Judgement:
        said = self._history().exchanges[-1].said if self._history().exchanges else ()
        if any(_WANTS_A_COMMIT.search(text) for text in said):
            return Judgement()
        return Judgement("ask", ("You did not ask for a commit.",))

    def may_touch(self, arguments: Arguments) -> tuple[str, ...]:
        commit: CommitText = arguments["commit"]
        files = "one file" if len(commit.files) == 1 else f"{len(commit.files)} files"
        return (f"commit {files}, and run the repository's hooks in the sandbox",)

    async def run(
        self, arguments: Arguments, context: ToolContext
    ) -> AsyncIterator[Output | Ending]:
        commit: CommitText = arguments["commit"]
        try:
            top, paths = self._in_one_repository(commit.files)
        except CommitTextError as problem:
            yield Ending("error", 0.0, str(problem))
            return
        changed = changed_files(self._history(), NAME, everything=commit.everything)
        former = await self._former(changed.runs)
        nonce = secrets.token_hex(8)
        script = _filled(
            {
                "TOP": str(top),
                "BRANCH": commit.branch,
                "MESSAGE": commit.message,
                "WORD": nonce,
                "FILES": paths,
                "SHOWN": commit.files,
                "FORMER": [former.get(path, "unknown") for path in commit.files],
                "WHOLE": ["yes" if path in commit.whole else "" for path in commit.files],
            }
        )
        said = ""
        async with closing(self._code_runner().run_alone("bash", script)) as pieces:
            async for piece in pieces:
                if isinstance(piece, Output):
                    said = (said + piece.text)[-_TAIL:]
                    shown = piece.text.replace(f"{nonce} committed\n", "")
                    if shown:
                        yield replace(piece, text=shown)
                elif f"{nonce} committed" in said:
                    yield Ending("ok", piece.seconds)
                else:
                    yield Ending(
                        piece.status if piece.status in ("interrupted", "died") else "error",
                        piece.seconds,
                        "Nothing was committed; the index, the branch and all other files are as"
                        " they were.",
                    )

    def _filled_in(self, value: Mapping[str, Any]) -> CommitText:
        everything = bool(value.get("everything"))
        found = changed_files(self._history(), NAME, everything=everything)
        whole = tuple(dict.fromkeys(value.get("as_they_are", ())))
        files = tuple(dict.fromkeys((*value.get("files", ()), *whole))) or found.files
        _check_listed(files, whole, found)
        message, trailer = str(value["message"]).strip(), self._trailer()
        if trailer and message and trailer not in message:
            between = "\n" if _ENDS_IN_TRAILERS.search(message) else "\n\n"
            message = f"{message}{between}{trailer}"
        return CommitText(message, files, whole, str(value.get("branch", "")), everything)

    def _in_one_repository(self, files: Sequence[str]) -> tuple[Path, list[str]]:
        """The repository that holds all of them, and their paths in it. Raises CommitTextError."""
        where = Path(self._code_runner().where)
        reach = self._code_runner().reach
        tops = set()
        for path in files:
            place = where / path
            within = next(
                (
                    w
                    for w in reach.writable(where)
                    if ".." not in place.parts and w in place.parents
                ),
                None,
            )
            if within is None:
                raise CommitTextError(f"{path} lies where code may not write, so it is not mine.")
            above = [each for each in place.parents if each == within or within in each.parents]
            top = next((each for each in above if (each / ".git").exists()), None)
            if top is None:
                raise CommitTextError(f"{path} is in no git repository that code may write to.")
            tops.add(top)
        if len(tops) > 1:
            named = " and ".join(sorted(map(str, tops)))
            raise CommitTextError(f"These files lie in {named}: commit those of one at a time.")
        (top,) = tops
        return top, [str((where / path).relative_to(top)) for path in files]


_TAIL: Final = 400
_ENDS_IN_TRAILERS: Final = re.compile(r"\n\n(?:[A-Z][\w-]*: \S.*\n)*[A-Z][\w-]*: \S.*$")


def _check_listed(files: Sequence[str], whole: Sequence[str], found: ChangedFiles) -> None:
    """Raise CommitTextError for what this conversation did not change, unless the person wants it
    in as it is."""
    if not found.complete and set(files) == set(found.files):
        raise CommitTextError(
            "More files were changed than are listed; name those to commit in files, or in"
            " as_they_are."
        )
    others = [path for path in files if path not in found.files and path not in whole]
    if others and found.complete:
        raise CommitTextError(
            f"{', '.join(others[:5])}: not changed by the latest request, so not committed. If the"
            " person wants them in, name them in as_they_are."
        )


def _filled(values: Mapping[str, str | Sequence[str]]) -> str:
    """The script, with these as its variables and lists."""
    lines = []
    for name, value in values.items():
        if isinstance(value, str):
            lines.append(f"{name}={shlex.quote(value)}")
        else:
            lines.append(f"{name}=({' '.join(map(shlex.quote, value))})")
    return "\n".join([*lines, _SCRIPT.read_text(encoding="utf-8")])
