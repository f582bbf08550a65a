"""The screen of `sayso talk`: what is finished scrolls up, what moves stays at the bottom."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from sayso.audio.devices.microphone import DeviceChange
from sayso.client.session.link_events import LinkChange, LinkState
from sayso.client.terminal.events import (
    ANEW,
    FileSaved,
    HandsFree,
    MicLevel,
    MicPressed,
    MicReleased,
    Notice,
    Seen,
    Sent,
)
from sayso.client.terminal.plain import SETTLED, changed, summary, timing
from sayso.client.terminal.screen import pictures, render, sanitize
from sayso.client.terminal.screen.live import LiveArea, Stays
from sayso.client.terminal.screen.reply import Reply
from sayso.client.terminal.screen.run_output import Run
from sayso.client.terminal.screen.status_line import Pending, StatusLine
from sayso.protocol import messages
from sayso.protocol.codec import Envelope, Unknown
from sayso.protocol.messages import (
    Announce,
    ApprovalDone,
    ApprovalRequest,
    CodeEnd,
    CodeOut,
    CodeStart,
    CommandDone,
    Conversation,
    Error,
    Message,
    Metrics,
    ReplyDelta,
    SttFinal,
    SttPartial,
    TaskUpdate,
    TurnState,
)

FRAME_SECONDS = 0.04
"""Between two drawings: faster than the eye follows."""
BREATH_SECONDS = 0.5
"""How often the clocks in the moving part go on."""
REST_SECONDS = 5.0
"""The same while no clock is shown: a client that waits for a wake word costs nothing."""


class TerminalScreen:
    """Collects what happens; `run()` draws it."""

    def __init__(self, live: LiveArea, *, verbosity: int = 0) -> None:
        self.status_line = StatusLine()
        self._live = live
        self._verbosity = verbosity
        self._above: list[Stays] = []
        self._reply = Reply()
        self._paragraphs = 0
        """How many of the answer stand in the scrollback."""
        self._attempt = (0, 0)
        self._runs: dict[str, Run] = {}
        self._approved = ""
        """The code that was shown with a request, so that it is not shown twice."""
        self._trouble = ""
        self.paper: Callable[[], pictures.Paper] | None = None
        """How large the terminal is, if it shows pictures."""
        self._dirty = asyncio.Event()
        self._paused = False

    async def run(self) -> None:
        """Draws whenever something has changed, and when a clock goes on."""
        while True:
            self.draw()
            await asyncio.sleep(FRAME_SECONDS)
            with suppress(TimeoutError):
                async with asyncio.timeout(
                    BREATH_SECONDS if self.status_line.moves else REST_SECONDS
                ):
                    await self._dirty.wait()

    def draw(self) -> None:
        """Draws now."""
        self._dirty.clear()
        if self._paused:
            return
        above, self._above = self._above, []
        now = asyncio.get_running_loop().time()
        picture = self.status_line.picture(self._live.width, self._live.height, now)
        self._live.draw(above, picture)

    def touch(self) -> None:
        """Something on the board has changed."""
        self._dirty.set()

    def pause(self) -> None:
        """Takes the moving part away, because somebody else needs the terminal."""
        above, self._above = self._above, []
        self._live.clear(above)
        self._paused = True

    def clear(self) -> None:
        """Begins on an empty screen; the scrollback stays."""
        self._live.wipe()
        self.draw()

    def resume(self) -> None:
        self._live.forget()
        self._paused = False
        self.draw()

    def put(self, *things: Stays) -> None:
        """Adds something to the scrollback."""
        self._above += things
        self._dirty.set()

    def show(self, seen: Seen) -> None:
        match seen:
            case Envelope(message=Conversation()):
                self._begin_attempt(ANOTHER)
                self.status_line.jobs.clear()
                self._attempt = (seen.turn or 0, seen.gen or 0)
            case Envelope(message=message) if not isinstance(message, Unknown):
                self._begin_attempt((seen.turn or 0, seen.gen or 0))
                self._message(message)
            case LinkChange():
                self._link(seen)
            case DeviceChange(part=part, state=state, detail=text):
                self.put(render.note(text))
                if part == "microphone":
                    self.status_line.deaf = state == "lost"
            case Notice(text=text):
                self.put(render.note(text))
            case FileSaved(path=path, mime=mime):
                self._file(Path(path), mime)
            case Sent(message=messages.Text(text=text)):
                self.put("", render.said(text))
            case MicPressed() | MicReleased() | MicLevel() | HandsFree():
                self._microphone(seen)
            case _:
                pass
        self._dirty.set()

    def _file(self, path: Path, mime: str) -> None:
        """Shows a picture, where the terminal can; and where it lies."""
        if mime == "image/png" and self.paper is not None:
            try:
                drawn = pictures.drawing(path.read_bytes(), self.paper(), render.INDENT)
            except OSError:
                drawn = None  # Somebody has taken it away meanwhile.
            if drawn is not None:
                self.put(drawn, render.kept(str(path), mime), "")
                return
        self.put(render.kept(str(path), mime))

    def _microphone(self, seen: MicPressed | MicReleased | MicLevel | HandsFree) -> None:
        match seen:
            case HandsFree(state):
                self.status_line.hands_free = state
            case MicPressed():
                self.status_line.listening = True
                self.status_line.levels.clear()
                self.status_line.stable = self.status_line.tail = ""
            case MicReleased():
                self.status_line.listening = False
            case MicLevel(needle):
                self.status_line.levels.append(needle)

    def _message(self, message: Message) -> None:
        match message:
            case SttPartial(stable=stable, tail=tail):
                self.status_line.stable, self.status_line.tail = (
                    sanitize.words(stable),
                    sanitize.words(tail),
                )
            case SttFinal(text=text):
                self.status_line.stable = self.status_line.tail = ""
                self.put(*(["", render.said(text)] if text else [render.aside(NOTHING)]))
            case TurnState():
                self._turn(message)
            case ReplyDelta(text=text):
                for paragraph in self._reply.feed(text):
                    self._put_paragraph(paragraph)
                self.status_line.reply = self._reply.unfinished
            case Error(message=text):
                self.put(render.note(text, "red"))
            case Announce(text=text):
                self.put("", render.note(text, "bold"))
            case Metrics(marks=marks, cost=cost) if marks:
                told = (timing if self._verbosity else summary)(marks, cost)
                self.put(*([render.aside(told)] if told else []))
            case CommandDone(ok=ok, text=text):
                self.put(*(render.told(text) if ok else [render.note(text)]))
            case _:
                self._work(message)

    def _work(self, message: Message) -> None:
        match message:
            case ApprovalRequest():
                self._finish_reply()
                now = asyncio.get_running_loop().time()
                self.status_line.pending = Pending(message, now)
                self._approved = message.code if message.kind == "run" else ""
                self.put("", *render.question(message))
            case ApprovalDone(decision=decision):
                self.status_line.pending = None
                told = "" if decision == "yes" else SETTLED[decision]
                self.put(*([render.aside(told)] if told else []))
                if decision not in {"yes", "edit"}:
                    self._approved = ""
            case CodeStart():
                self._code_starts(message)
            case CodeOut():
                self._code_says(message)
            case CodeEnd():
                self._code_ends(message)
            case TaskUpdate(id=job, state=state):
                self.status_line.jobs.pop(job, None)
                if state == "running":
                    self.status_line.jobs[job] = message
            case _:
                pass

    def _turn(self, state: TurnState) -> None:
        if state.work != self.status_line.turn.work:
            self.status_line.turn_began = asyncio.get_running_loop().time()
        if state.work == "idle":
            self._finish_reply()
            self.status_line.pending = None
        self.status_line.turn = state

    def _begin_attempt(self, attempt: tuple[int, int]) -> None:
        """A newer turn or generation: what belongs to the older one is over."""
        if attempt <= self._attempt:
            return
        if attempt[0] != self._attempt[0]:
            self.status_line.changed, self.status_line.whole = False, ""
        self._attempt = attempt
        self._finish_reply()
        self.status_line.pending = None
        for name, run in self._runs.items():
            self._put_rest(run)
            self._drop_job_of(name)
        self._runs.clear()
        self.status_line.output = self.status_line.running = ""

    def _finish_reply(self) -> None:
        rest = self._reply.finish()
        self.status_line.reply = ""
        if rest.strip():
            self._put_paragraph(rest)
        self._paragraphs = 0

    def _put_paragraph(self, paragraph: str) -> None:
        self.put(*([""] if self._paragraphs else []), render.answer(paragraph))
        self._paragraphs += 1

    def _code_starts(self, start: CodeStart) -> None:
        self._finish_reply()
        self._runs[start.id] = Run()
        self.status_line.running = start.language
        if start.code != self._approved:
            self.put("", *render.code(start.language, start.code))
        self._approved = ""

    def _code_says(self, output: CodeOut) -> None:
        run = self._runs.setdefault(output.id, Run())
        if not output.text or output.file is not None:
            return  # A file is shown when it has come.
        if not output.mime.startswith("text/plain"):
            self.put(render.aside(f"({output.mime}: see it on a screen that can show it)"))
            return
        for block in run.feed(output.kind, output.text):
            self.put(render.output(block.text, block.kind))
        self.status_line.output = run.unfinished

    def _code_ends(self, end: CodeEnd) -> None:
        self._put_rest(self._runs.pop(end.id, Run()))
        if not end.job:
            self._drop_job_of(end.id)
        self.status_line.output = self.status_line.running = ""
        told = [render.aside(line) for line in changed(end.changes)]
        self.status_line.changed = bool(told) or self.status_line.changed
        self.status_line.whole = end.output or self.status_line.whole
        self.put(render.ended(end), *told, "")

    def _drop_job_of(self, run: str) -> None:
        jobs = self.status_line.jobs
        self.status_line.jobs = {name: job for name, job in jobs.items() if job.run != run}

    def _put_rest(self, run: Run) -> None:
        left_out, last = run.finish()
        if left_out > 0:
            self.put(render.left_out(left_out))
        for block in last:
            self.put(render.output(block.text, block.kind))

    def _link(self, change: LinkChange) -> None:
        self.status_line.connected = change.state is LinkState.UP
        match change.state:
            case LinkState.WAITING:
                self.status_line.trouble = "no server, trying again"
                if change.reason != self._trouble:
                    self._trouble = change.reason
                    self.put(render.note(change.reason))
            case LinkState.REFUSED:
                self.status_line.trouble = "no connection"
                self.put(render.note(change.reason, "red"))
            case LinkState.UP:
                if change.session != "resumed":  # What goes on is told again.
                    self.status_line.jobs.clear()
                self._up(change)
            case _:
                pass

    def _up(self, change: LinkChange) -> None:
        if self._trouble:
            self.put(render.aside("The server is there."))
        self._trouble = self.status_line.trouble = ""
        if change.welcome is not None:
            self.status_line.commands = change.welcome.commands
        if change.session == "anew":
            self._attempt = (0, 0)
            self.put(render.note(ANEW))
            for message in change.lost:
                if isinstance(message, messages.Text):
                    self.put(render.note(f"Perhaps not answered: {message.text}"))
        elif change.session == "first" and change.welcome is not None:
            for name, model in change.welcome.models.items():
                if self._verbosity:
                    self.put(render.aside(f"{name.replace('_', ' ')}: {model}"))
                elif "model" in name:
                    self.put(render.aside(model))


ANOTHER = (2**53, 0)
"""Newer than any attempt: what there was belongs to another conversation."""
NOTHING = "Nothing was understood."
