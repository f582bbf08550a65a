"""Prints text without a moving screen: for pipes, screen readers, terminals without colour.

Every utterance takes lines of its own, from the top down, and nothing is drawn over.
"""

import re
from collections.abc import Mapping, Sequence
from typing import TextIO

from sayso.audio.devices.microphone import DeviceChange
from sayso.client.session.link_events import LinkChange, LinkState
from sayso.client.terminal.events import ANEW, FileSaved, HandsFree, MicPressed, Notice, Seen, Sent
from sayso.client.terminal.question_keys import asked
from sayso.client.terminal.screen import sanitize
from sayso.protocol.codec import Envelope, Unknown
from sayso.protocol.messages import (
    Announce,
    ApprovalDone,
    ApprovalRequest,
    Changes,
    CodeEnd,
    CodeOut,
    CodeStart,
    CommandDone,
    Error,
    ListenStop,
    Message,
    Metrics,
    ReplyDelta,
    SttFinal,
    TaskUpdate,
    TurnState,
)

PATHS_SHOWN = 8
"""Of each kind of change: `/diff` shows all."""

SETTLED = {
    "yes": "Approved.",
    "no": "Denied.",
    "edit": "Approved as edited.",
    "expired": "Nobody answered in time, so it was denied.",
    "cancelled": "The question is withdrawn.",
}


_DIFFERENCE = re.compile(r"(`{3,})diff\n(.*)\n\1", re.DOTALL)
"""Around the lines of a difference, as commands bring it."""

_STATES = {
    "waiting": "Waiting for the wake word.",
    "open": "Waiting for a voice.",
    "inviting": "Go on, or be silent.",
    "muted": "The microphone is closed.",
}
"""What else goes on at a microphone without a key is told by what comes of it."""


class PlainScreen:
    """Writes answers to `out`, and all that is said about them to `aside`.

    `waits`: a person sits there who wants to know that the server is not there yet, or that it has
    trouble. Otherwise the program ends with that sentence itself.
    """

    def __init__(
        self, out: TextIO, aside: TextIO, *, verbosity: int = 0, waits: bool = False
    ) -> None:
        self._out = out
        self._aside = aside
        self._verbosity = verbosity
        self._replying = False
        self._trouble = ""
        self._waits = waits
        self._runs: set[str] = set()
        """Code that began while somebody looked: of other jobs only the end is told."""
        self._told_jobs: dict[str, int] = {}
        """By job that goes on: how many tenths of it were told."""
        self._asked = ""
        """The code that the person read, or heard read, when they were asked about it."""

    def show(self, seen: Seen) -> None:
        match seen:
            case Envelope(message=message) if not isinstance(message, Unknown):
                self._message(message)
            case LinkChange():
                self._link(seen)
            case DeviceChange(detail=text) | Notice(text=text):
                self.say(text)
            case FileSaved(path=path):
                self.say(f"Saved: {path}")
            case MicPressed():
                self.say("Listening.")
            case HandsFree(state=state) if state in _STATES:
                self.say(_STATES[state])
            case Sent(message=ListenStop()):
                self.say("It is kept until the server is back." if self._trouble else "Sent.")
            case _:
                pass

    def say(self, text: str) -> None:
        """Writes a line beside the answer. Escape sequences in it do not reach the terminal."""
        self.end_reply()
        self._aside.write(sanitize.words(text) + "\n")
        self._aside.flush()

    def end_reply(self) -> None:
        """Ends the answer's last line, if there is one."""
        if self._replying:
            self._out.write("\n")
            self._out.flush()
            self._replying = False

    def _message(self, message: Message) -> None:
        match message:
            case ReplyDelta(text=text):
                self._reply(text)
            case SttFinal(text=text):
                self.say(f"You: {text}" if text else "Nothing was understood.")
            case Error(message=text):
                if self._waits:
                    self.say(text)
            case Announce(text=text):
                self.say(text)
            case CommandDone(text=text):
                self.end_reply()
                self._out.write(sanitize.code(unfenced(text) or text) + "\n")
                self._out.flush()
            case TurnState(work="idle"):
                self.end_reply()
            case Metrics(marks=marks, cost=cost) if self._verbosity:
                self.say(timing(marks, cost))
            case _:
                self._code(message)

    def _code(self, message: Message) -> None:
        match message:
            case CodeStart(id=run, language=language, code=code):
                self._runs.add(run)
                known, self._asked = code == self._asked, ""
                shown = "." if known else f":\n{indented(sanitize.code(code))}"
                self.say(f"Running {language}{shown}")
            case CodeOut():
                self._output(message)
            case CodeEnd(job=job, detail=detail) if job:
                self.say(sanitize.line(detail))
            case CodeEnd(status=status, seconds=seconds, detail=detail):
                self.say(f"Ended ({status}, {seconds:.1f} s). {sanitize.line(detail)}".rstrip())
                for line in changed(message.changes):
                    self.say(f"  {line}")
            case ApprovalRequest(code=code):
                self._asked = code
                self.say(question(message))
            case ApprovalDone(decision=decision):
                self.say(SETTLED[decision])
            case TaskUpdate():
                self._job(message)
            case _:
                pass

    def _job(self, job: TaskUpdate) -> None:
        """Writes how far a job is, once for each tenth: nothing is drawn over here."""
        if job.state != "running":
            self._told_jobs.pop(job.id, None)
            self._runs.discard(job.run)
            return
        if job.run not in self._runs:
            return
        tenths = int((job.fraction or 0.0) * 10)
        if self._told_jobs.get(job.id) != tenths:
            self._told_jobs[job.id] = tenths
            share = "" if job.fraction is None else f"{job.fraction:.0%} "
            self.say(f"Progress, it says: {share}{sanitize.line(job.text or job.title)}")

    def _reply(self, text: str) -> None:
        if not self._replying:
            text = text.lstrip()
        self._replying = self._replying or bool(text)
        self._out.write(sanitize.words(text))
        self._out.flush()

    def _output(self, output: CodeOut) -> None:
        if output.text:
            self.say(indented(sanitize.without_colour(output.text).rstrip("\n")))
        elif output.file is None:
            self.say(f"({output.mime})")

    def _link(self, change: LinkChange) -> None:
        if change.state is LinkState.WAITING and self._waits and change.reason != self._trouble:
            self._trouble = change.reason
            self.say(change.reason)
        elif change.state is LinkState.REFUSED and self._waits:
            self.say(change.reason)
        elif change.state is LinkState.UP and self._trouble:
            self._trouble = ""
            self.say("The server is there.")
        if change.session == "anew":
            self.say(ANEW)


def unfenced(text: str) -> str:
    """The difference between files that a command brought; empty if it brought something else."""
    found = _DIFFERENCE.fullmatch(text)
    return found[2] if found else ""


def changed(changes: Changes) -> list[str]:
    """Says in words which files a run changed."""
    kinds = (("new", changes.added), ("changed", changes.changed), ("deleted", changes.deleted))
    lines = [f"{word}: {_names(paths)}" for word, paths in kinds if paths]
    if changes.commits:
        lines.append(f"committed: {_names([f'“{first}”' for first in changes.commits])}")
    if changes.renamed:
        renamed = [f"{one.old} is now {one.new}" for one in changes.renamed]
        lines.append(f"renamed: {_names(renamed)}")
    if changes.more:
        lines.append(f"and {changes.more} more")
    if changes.by_products:
        beside = "and " if lines else ""
        lines.append(f"{beside}{changes.by_products} by-products: caches, what git ignores")
    return lines


def _names(paths: Sequence[str]) -> str:
    shown = [sanitize.line(path) for path in paths[:PATHS_SHOWN]]
    more = len(paths) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def indented(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.splitlines())


def question(request: ApprovalRequest) -> str:
    """Says in words what is asked."""
    touch = sanitize.line("; ".join(request.may_touch)) or "nothing outside its sandbox"
    warnings = "".join(f"  ! {sanitize.line(warning)}\n" for warning in request.warnings)
    code, head = indented(sanitize.code(request.code)), sanitize.line(asked(request))
    if request.question:
        return (
            f"{head}\n{code}\n{warnings}"
            f"  y = yes, a = yes for good, n = no. {request.expires_s:.0f} seconds;"
            " silence is a no."
        )
    if request.kind == "access":
        why = f"  because, it says: {sanitize.line(request.why)}\n" if request.why else ""
        return (
            f"{head}\n{code}\n{why}{warnings}"
            f"  then it may touch: {touch}\n"
            f"  y = yes, a = yes for good, n = no. {request.expires_s:.0f} seconds;"
            " silence is a no."
        )
    return (
        f"{head}\n{code}\n"
        f"{warnings}  where: {sanitize.line(request.where)}\n  may touch: {touch}\n"
        f"  y = yes, {_wider(request)}n = no, e = edit."
        f" {request.expires_s:.0f} seconds; silence is a no."
    )


def _wider(request: ApprovalRequest) -> str:
    """The key for the yes that covers more, with what it covers; empty where there is none."""
    return f"a = yes, and {sanitize.line(request.wider)}, " if request.wider else ""


def timing(marks: Mapping[str, float], cost: Mapping[str, object]) -> str:
    """Names the moments of a turn, in milliseconds after the end of the person's audio, and what
    it took."""
    told = [f"{name.replace('_', ' ')} {at:.0f} ms" for name, at in marks.items()]
    told += [f"{name.replace('_', ' ')} {amount}" for name, amount in cost.items()]
    return " · ".join(told)


def summary(marks: Mapping[str, float], cost: Mapping[str, object]) -> str:
    """The same in short: when the answer began, and what it took."""
    told = [f"after {marks[mark] / 1000:.1f} s" for mark in _BEGINNINGS if mark in marks][:1]
    tokens = [cost.get(name) for name in ("tokens_in", "tokens_out")]
    if counted := sum(amount for amount in tokens if isinstance(amount, (int, float))):
        told.append(f"{counted:.0f} tokens")
    usd = cost.get("usd")
    if isinstance(usd, (int, float)) and usd > 0:
        told.append(f"${usd:.4f}")
    return " · ".join(told)


_BEGINNINGS = ("first_audio_played", "first_audio_sent", "first_token")
"""Moments at which an answer begins for its person; the first one that there was is told."""
