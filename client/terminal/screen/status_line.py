"""Draws the moving part of the screen. Pure: state in, lines out."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from sayso.client.terminal import slash
from sayso.client.terminal.events import HandsFreeState
from sayso.client.terminal.input.line_editor import LineEdit
from sayso.client.terminal.question_keys import answers_to, asked
from sayso.client.terminal.screen import sanitize
from sayso.client.terminal.screen.live import Picture
from sayso.client.terminal.screen.render import INDENT, OUTPUT_BAR, PROMPT
from sayso.protocol.messages import ApprovalRequest, TaskUpdate, TurnState

HOLD = "hold space to talk · type to write · /help"
TOGGLE = "space to talk, space to send · type to write · /help"
ANYWHERE = "hold "
"""Before the name of a key that talks from anywhere, and before the others."""
TYPE = "type, and press Enter · /help"
"""How one can talk here."""

MOST_REPLY_ROWS = 8
"""Rows of an unfinished paragraph: the last ones, so that the eye finds the newest word."""
_BAR_CELLS = 20
"""Of a job's bar: a step is a twentieth."""
_METER = " ▁▂▃▄▅▆▇█"
_METER_CELLS = 12
_MINUTE = 60
_NARROW = 60
"""Under so many columns the hints give way to the state."""


IDLE = TurnState("idle", "idle", "silent")


@dataclass(slots=True)
class Pending:
    """A request for approval that is open."""

    request: ApprovalRequest
    asked_at: float

    def left(self, now: float) -> int:
        """Whole seconds that are left to answer."""
        return max(0, round(self.asked_at + self.request.expires_s - now))


@dataclass(slots=True)
class StatusLine:
    """Everything that moves."""

    line: LineEdit = field(default_factory=LineEdit)
    keys: str = ""
    """How to talk: it depends on the keyboard and the microphone."""
    commands: Mapping[str, str] = field(default_factory=dict)
    """The server's, with a line about each."""
    connected: bool = False
    trouble: str = ""
    """Why there is no connection."""
    hands_free: HandsFreeState | None = None
    """What goes on at a microphone without a key."""
    deaf: bool = False
    """The microphone was unplugged."""
    listening: bool = False
    levels: deque[float] = field(default_factory=lambda: deque(maxlen=_METER_CELLS))
    stable: str = ""
    tail: str = ""
    turn: TurnState = IDLE
    turn_began: float = 0.0
    running: str = ""
    """The language of the code that runs."""
    output: str = ""
    """The last line of its output, if it is not whole."""
    changed: bool = False
    """The last turn changed files, and `d` shows how."""
    whole: str = ""
    """The id of all that the last run put out, if that is long; `o` opens it."""
    jobs: dict[str, TaskUpdate] = field(default_factory=dict)
    """What goes on and tells how far it is, by its id; the one that told something last is last."""
    reply: str = ""
    """The paragraph that is being written."""
    pending: Pending | None = None

    @property
    def moves(self) -> bool:
        """Something is shown that goes on by itself: a clock, a meter."""
        working = self.turn.work != "idle" or self.turn.ears != "idle"
        return working or self.listening or self.pending is not None

    def picture(self, width: int, height: int, now: float) -> Picture:
        """Draws everything into at most `height` lines."""
        room = max(1, height - 6)
        above = [*self._answering(width), *self._hearing(width), *self._asking(now)]
        prompt, column = self._prompt(width)
        lines = [Text(""), *above[-room:], prompt, self._foot(width, now)]
        for line in lines:
            line.truncate(width - 1, overflow="ellipsis")
        return Picture(lines, len(lines) - 2, column)

    def _answering(self, width: int) -> list[Text]:
        lines = []
        if self.output:
            shown = sanitize.without_colour(self.output)
            lines.append(Text(f"{' ' * INDENT}{OUTPUT_BAR} {shown}", "dim"))
        if self.jobs:
            lines.append(progress(next(reversed(self.jobs.values())), others=len(self.jobs) - 1))
        if self.reply:
            rows = wrapped(sanitize.words(self.reply), width - INDENT - 1)[-MOST_REPLY_ROWS:]
            lines += [Text(" " * INDENT + row) for row in rows]
        return lines

    def _asking(self, now: float) -> list[Text]:
        """The question; what it is about stands above, whole, in the scrollback."""
        if self.pending is None:
            return []
        left = self.pending.left(now)
        bar = ("┃ ", "yellow")
        request = self.pending.request
        head = Text.assemble(bar, (sanitize.words(asked(request)), "bold yellow"))
        head.append(f"  {left} s left" if left else "  no time left", "dim")
        choices = Text.assemble(bar)
        for key, word in answers_to(request).items():
            choices.append_text(Text.assemble((f" {key} ", "reverse"), f" {word}   "))
        return [head, choices]

    def _hearing(self, width: int) -> list[Text]:
        if not self.listening and not self.stable and not self.tail:
            return []
        meter = Text("● ", "bold red" if self.listening else "dim")
        if self.listening:
            meter.append(self._meter(), "green")
            meter.append("  ")
        said = Text.assemble((self.stable, ""), (self.tail, "dim italic"))
        # The newest words matter; the oldest are cut.
        room = width - 1 - meter.cell_len
        if said.cell_len > room:
            said = said[len(said) - max(0, room - 1) :]
            said = Text.assemble("…", said)
        return [Text.assemble(meter, said)]

    def _meter(self) -> str:
        steps = len(_METER) - 1
        bars = "".join(_METER[round(level * steps)] for level in self.levels)
        return bars.rjust(_METER_CELLS)

    def _prompt(self, width: int) -> tuple[Text, int]:
        """The line in which the person writes, and the cursor's column."""
        room = max(8, width - 1 - cell_len(PROMPT) - 1)
        text, cursor = self.line.text, self.line.cursor
        start = 0
        while cell_len(text[start:cursor]) > room - 1:
            start += 1
        shown = set_cell_size(text[start:], room) if cell_len(text[start:]) > room else text[start:]
        prompt = Text.assemble((PROMPT, "bold cyan"), shown)
        return prompt, cell_len(PROMPT) + cell_len(text[start:cursor])

    def _foot(self, width: int, now: float) -> Text:
        """How to talk at the left, what goes on at the right."""
        state = self._state(now)
        hint = "" if width < _NARROW else self._hint()
        gap = width - 1 - INDENT - cell_len(hint) - state.cell_len
        if gap < 1:
            hint = hint[: max(0, len(hint) + gap - 2)] + "…"
            gap = 1
        return Text.assemble((" " * INDENT + hint + " " * gap, "dim"), state)

    def _hint(self) -> str:
        if self.listening:
            if self.keys.endswith(HOLD):
                return "let go to send"
            anywhere = "let go, or " if self.keys.startswith(ANYWHERE) else ""
            return f"{anywhere}space to send · Esc to drop"
        if self.line.text.startswith("/"):
            return slash.hint(self.line.text, self.commands)
        if self.line.text:
            return "Enter to send"
        if self.turn.work == "idle" and self.turn.mouth == "silent":
            opens = "o opens all of the output" if self.whole else ""
            shows = "d shows what changed" if self.changed else ""
            if opens or shows:
                return " · ".join(filter(None, (opens, shows, self.keys)))
        if self.turn.work != "idle" or self.turn.mouth != "silent":
            return "Ctrl-C to stop"
        if self.hands_free == "muted":
            return "Ctrl-T opens the microphone · type to write"
        return TYPE if self.deaf else self.keys

    def _state(self, now: float) -> Text:
        if not self.connected:
            return Text("○ " + (self.trouble or "connecting"), "yellow")
        seconds = int(now - self.turn_began)
        since = f" {_lasted(seconds)}" if seconds > 1 else ""
        for is_so, word in (
            (self.listening, "listening"),
            (self.pending is not None, "waiting for you"),
            (self.turn.ears == "committed", "understanding"),
            (self.turn.work == "acting", f"running {self.running}".rstrip() + since),
            (self.turn.mouth != "silent", "speaking"),
            (self.turn.work == "thinking", "thinking" + since),
        ):
            if is_so:
                return Text.assemble(("● ", "yellow"), word)
        if self.hands_free == "muted":
            return Text.assemble(("○ ", "red"), "muted")
        return Text.assemble(("● ", "green"), _WAITING.get(self.hands_free or "", "ready"))


def _lasted(seconds: int) -> str:
    """How long something goes on already."""
    return (
        f"{seconds} s" if seconds < _MINUTE else f"{seconds // _MINUTE}:{seconds % _MINUTE:02} min"
    )


_WAITING = {
    "waiting": "waiting for the wake word",
    "open": "waiting for a voice",
    "inviting": "go on, or be silent",
}


def progress(job: TaskUpdate, others: int = 0) -> Text:
    """How far a job is, in one line. Its words are code's, and shown as output is. `others`: so
    many more go on."""
    told = " ".join(sanitize.without_colour(job.text or job.title).split())
    line = Text(f"{' ' * INDENT}{OUTPUT_BAR} ", "dim")
    if others:
        line.append(f"{others + 1} jobs · ")
    if job.fraction is not None:
        done = round(job.fraction * _BAR_CELLS)
        line.append("█" * done, "green")
        line.append("░" * (_BAR_CELLS - done))
        line.append(f" {job.fraction:4.0%}  ")
    return line.append(told)


def wrapped(text: str, width: int) -> list[str]:
    """Breaks text into rows, by cells and at spaces where there are any."""
    rows: list[str] = []
    for paragraph in text.split("\n"):
        row = ""
        for word in paragraph.split(" "):
            candidate = f"{row} {word}" if row else word
            if cell_len(candidate) <= width:
                row = candidate
                continue
            if row:
                rows.append(row)
            row = word
            while cell_len(row) > width:
                head = set_cell_size(row, width).rstrip() or row[0]
                rows.append(head)
                row = row[len(head) :]
        rows.append(row)
    return rows
