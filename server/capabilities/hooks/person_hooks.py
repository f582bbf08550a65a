"""Runs the hooks that the person's settings name, for one conversation.

A hook is a program in the person's own folder for them, or one of the system's. It runs in the
sandbox, where it can read what code may see, can write nothing and has no network. It gets JSON on
its standard input. What is named in a workspace is never taken: code could have written it.
"""

import json
import logging
import re
import shlex
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from sayso.server.agent.permissions.hooks import HookEvent, HookWords
from sayso.server.capabilities.hooks.answer import HookAnswer, read_answer, words_of
from sayso.server.policy.code_reader import read
from sayso.server.policy.judge import Judgement
from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.programs.confined_command import Finished
from sayso.server.runtimes.programs.confined_program import ProgramError
from sayso.server.runtimes.protection.own_places import is_within
from sayso.server.runtimes.sandbox.sandbox import SEARCH_PATH
from sayso.server.settings.defaults import Hooks as HookSettings

log = logging.getLogger(__name__)

Moment = Literal["before_run", "after_change", "before_commit", "at_end"]

COMMIT: Final = "commit"
"""The tool that commits."""

_COMMITTING: Final = frozenset(
    ("commit", "commit-tree", "merge", "cherry-pick", "revert", "am", "pull", "rebase")
)
_MAY_COMMIT: Final = re.compile(
    rf"\bgit\b.*\b(?:{'|'.join(map(re.escape, sorted(_COMMITTING)))})\b", re.DOTALL
)
"""What may start git so, where reading the code does not tell."""


class HookError(Exception):
    """A hook cannot be run; the text is a clause that says why."""


class PersonHooks:
    """Of one conversation."""

    def __init__(
        self,
        settings: HookSettings,
        folder: Path,
        conversation: str,
        code_runner: Callable[[], CodeRunner],
    ) -> None:
        """`folder`: the person's own for hooks."""
        self._settings = settings
        self._folder = folder
        self._conversation = conversation
        self._code_runner = code_runner

    async def before_run(self, event: HookEvent) -> Judgement:
        judged = Judgement()
        moments: list[tuple[Moment, Sequence[str]]] = [("before_run", self._settings.before_run)]
        if self._settings.before_commit and commits(event):
            moments.append(("before_commit", self._settings.before_commit))
        for moment, hooks in moments:
            for hook in hooks:
                judged = judged.and_stricter(await self._judged(moment, hook, event))
                if judged.verdict == "deny":
                    return judged
        return judged

    async def after_change(self, event: HookEvent) -> str:
        told = []
        for hook in self._settings.after_change:
            try:
                words = words_of(await self._run("after_change", hook, event))
            except (HookError, ProgramError) as problem:
                words = f"it failed: {problem}"
            if words:
                told.append(f"The hook {_name(hook)} says: {words}")
        return "\n".join(told)

    async def at_end(self, event: HookEvent) -> tuple[HookWords, ...]:
        said = []
        for hook in self._settings.at_end:
            answer = await self._answer("at_end", hook, event)
            if answer.failed:
                text = f"The hook {_name(hook)} failed: {answer.why}."
                said.append(HookWords(_name(hook), text))
            elif answer.verdict == "deny":
                said.append(HookWords(_name(hook), answer.why, sends_back=True))
            elif answer.why:
                said.append(HookWords(_name(hook), answer.why))
        return tuple(said)

    async def _judged(self, moment: Moment, hook: str, event: HookEvent) -> Judgement:
        answer = await self._answer(moment, hook, event)
        named = f"hook {_name(hook)} ({moment})"
        why = f": {answer.why}" if answer.why else "."
        if answer.failed:
            reason = f"It did not run, because the {named} failed: {answer.why}."
            return Judgement("deny", reason=f"{reason} The person can mend it, or take it out.")
        if answer.verdict == "deny":
            return Judgement(
                "deny", reason=f"It did not run, because the {named} is against it{why}"
            )
        if answer.verdict == "ask":
            told = " ".join(f"Your {named} wants you to look at it{why}".split())
            return Judgement("ask", (told,))
        return Judgement()

    async def _answer(self, moment: Moment, hook: str, event: HookEvent) -> HookAnswer:
        try:
            return read_answer(await self._run(moment, hook, event))
        except (HookError, ProgramError) as problem:
            return HookAnswer("deny", str(problem).rstrip("."), failed=True)

    async def _run(self, moment: Moment, hook: str, event: HookEvent) -> Finished:
        """Raises HookError, ProgramError."""
        runner = self._code_runner()
        if runner.refusal:
            raise HookError("no code can run here now, so no hook can")
        writable = runner.reach.writable(Path(runner.where))
        words = command_of(hook, self._folder, (Path(runner.where), *writable))
        told = {"hook": moment, "conversation": self._conversation, **_told(moment, event)}
        text = json.dumps(told, ensure_ascii=False)
        finished = await runner.programs.command(words, text, self._folder, self._settings.seconds)
        log.info("the hook %s (%s) ended with %s", _name(hook), moment, finished.code)
        return finished


def hook_trouble(hook: str, folder: Path) -> str:
    """Why a hook could not be run, in a sentence; empty if it could."""
    try:
        command_of(hook, folder, ())
    except HookError as problem:
        return f"{_name(hook)}: {problem}."
    return ""


def command_of(hook: str, folder: Path, writable: Sequence[Path]) -> tuple[str, ...]:
    """A hook's command with its program as a whole path. Raises HookError. `writable`: where code
    may write, and no hook may lie."""
    try:
        words = shlex.split(hook)
    except ValueError:
        words = []
    if not words:
        raise HookError(f"“{hook}” is no command")
    name = words[0]
    own = folder / name
    if "/" in name or name.startswith("."):
        raise HookError(f"{name} must be the name of a program in {folder}, without a path")
    found = str(own) if own.is_file() else shutil.which(name, path=":".join(SEARCH_PATH))
    if found is None:
        raise HookError(f"there is no program {name} in {folder}")
    real = Path(found).resolve()
    if any(is_within(real, place) for place in writable):
        raise HookError(f"code may write to {real}, so it could have made it")
    return (found, *words[1:])


def commits(event: HookEvent) -> bool:
    """Whether something would make a commit, as far as reading tells; in doubt it would."""
    if event.label == COMMIT:
        return True
    commands = read(event.label, event.text).commands
    return _MAY_COMMIT.search(event.text) is not None or any(
        command.name == "git" and _COMMITTING.intersection(command.words) for command in commands
    )


def _told(moment: Moment, event: HookEvent) -> Mapping[str, Any]:
    about: dict[str, Any] = {"folder": event.where}
    match moment:
        case "before_run" | "before_commit":
            about |= {"language": event.label, "code": event.text}
        case "after_change":
            changes = event.changes
            about |= {
                "added": changes.added,
                "changed": changes.changed,
                "deleted": changes.deleted,
                "renamed": [[one.old, one.new] for one in changes.renamed],
                "more": changes.more,
            }
        case "at_end":
            about |= {"asked": event.asked, "answer": event.answer}
    return about


def _name(hook: str) -> str:
    """What a hook is called: its command's first word."""
    return hook.split(maxsplit=1)[0][:60] if hook.split() else "without a name"
