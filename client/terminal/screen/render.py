"""Renders the conversation as it stays in the scrollback.

What the person says stands at the margin; what Sayso does is indented under it.
"""

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.segment import Segment
from rich.style import Style
from rich.table import Table
from rich.text import Text

from sayso.client.terminal.plain import unfenced
from sayso.client.terminal.screen import sanitize
from sayso.protocol.messages import ApprovalRequest, CodeEnd

INDENT = 2
OUTPUT_BAR = "┆"
PROMPT = "\N{HEAVY RIGHT-POINTING ANGLE QUOTATION MARK ORNAMENT} "
_THEME = "ansi_dark"
"""The terminal's own colours: readable on whatever background the person chose."""


class Barred:
    """Something with a bar at its left: code has a whole one, output a broken one."""

    def __init__(self, inside: RenderableType, style: str, bar: str = "│") -> None:
        self._inside = inside
        self._style = style
        self._bar = bar

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        bar = Segment(f"{' ' * INDENT}{self._bar} ", Style.parse(self._style))
        width = options.max_width - INDENT - 2
        for line in console.render_lines(self._inside, options.update(width=width), pad=False):
            yield bar
            yield from line
            yield Segment.line()


class Trimmed:
    """Something without empty lines around it."""

    def __init__(self, inside: RenderableType) -> None:
        self._inside = inside

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = console.render_lines(self._inside, options, pad=False)
        filled = [n for n, line in enumerate(lines) if any(part.text.strip() for part in line)]
        for line in lines[filled[0] : filled[-1] + 1] if filled else []:
            yield from line
            yield Segment.line()


def said(text: str) -> RenderableType:
    return Text.assemble((PROMPT, "bold cyan"), (sanitize.words(text), "bold"))


def answer(paragraph: str) -> RenderableType:
    from rich.markdown import Markdown  # costs 40 ms; the first answer has them, the start not

    text = sanitize.words(paragraph)
    if "```" not in text and "~~~" not in text:
        # Markdown would join lines that the model broke on purpose: a poem, an address.
        text = "\n".join(f"{line.rstrip()}  " for line in text.split("\n"))
    return Trimmed(Padding(Markdown(text, code_theme=_THEME), (0, 1, 0, INDENT)))


def code(language: str, text: str, *, title: str = "") -> list[RenderableType]:
    """Code with its language above it."""
    from rich.syntax import ANSI_DARK, ANSISyntaxTheme, Syntax  # 30 ms, which only talk never needs

    # A highlighter errs about where a comment begins, and what is dimmed is not read.
    theme = ANSISyntaxTheme({kind: style for kind, style in ANSI_DARK.items() if not style.dim})

    syntax = Syntax(
        sanitize.code(text).rstrip("\n"),
        language,
        theme=theme,
        background_color="default",
        word_wrap=True,
    )
    return [Text(" " * INDENT + (title or language), "dim"), Barred(syntax, "cyan dim")]


def question(request: ApprovalRequest) -> list[RenderableType]:
    """All that a person must see before they answer."""
    about = (
        instructions(request)
        if request.question
        else access_request(request)
        if request.kind == "access"
        else code(request.language, request.code)
    )
    return [*about, *warned(request), reach(request), *_wider(request)]


def _wider(request: ApprovalRequest) -> list[RenderableType]:
    """What else there is to say yes to."""
    if not request.wider:
        return []
    words = f"a: yes, and {sanitize.line(request.wider)}"
    return [Padding(Text(words, "dim"), (0, 1, 0, INDENT))]


def instructions(request: ApprovalRequest) -> list[RenderableType]:
    """A text that is asked about, and under it the question."""
    asked = Text(sanitize.code(request.code).rstrip("\n"))
    question = Text(" " * INDENT + sanitize.line(request.question), "bold")
    return [Text(" " * INDENT + request.language, "dim"), Barred(asked, "yellow"), question]


def warned(request: ApprovalRequest) -> list[RenderableType]:
    """What the person should know before they say yes."""
    return [
        Padding(Text(f"! {sanitize.line(warning)}", "bold yellow"), (0, 1, 0, INDENT))
        for warning in request.warnings
    ]


def access_request(request: ApprovalRequest) -> list[RenderableType]:
    """What more the work asks to reach."""
    asked = Text(sanitize.code(request.code).rstrip("\n"), "bold")
    shown: list[RenderableType] = [
        Text(" " * INDENT + "more access", "dim"),
        Barred(asked, "yellow"),
    ]
    if request.why:
        why = Text.assemble(("because, it says: ", "dim"), sanitize.line(request.why))
        shown.append(Padding(why, (0, 1, 0, INDENT)))
    return shown


def reach(request: ApprovalRequest) -> RenderableType:
    """Where code would run, and what it may touch."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row("where", Text(sanitize.line(request.where)))
    touch = "; ".join(request.may_touch) or "nothing outside its sandbox"
    then = "may touch" if request.kind == "run" else "then touches"
    grid.add_row(then, Text(sanitize.line(touch)))
    return Padding(grid, (0, 1, 0, INDENT))


def output(text: str, kind: str) -> RenderableType:
    """Lines that a program wrote."""
    shown = Text.from_ansi(sanitize.output(text))
    if kind in {"stderr", "error"}:
        shown.stylize_before("red" if kind == "error" else "yellow")
    return Barred(shown, "dim", OUTPUT_BAR)


def left_out(lines: int) -> RenderableType:
    return Barred(Text(f"… {lines} more lines", "dim italic"), "dim", OUTPUT_BAR)


def ended(end: CodeEnd) -> RenderableType:
    if end.job:
        return Text(f"{' ' * INDENT}… {sanitize.words(end.detail)}", "dim")
    marks = {"ok": ("✓ ", "green"), "refused": ("", "dim"), "interrupted": ("■ ", "yellow")}
    mark, style = marks.get(end.status, ("✗ ", "red"))
    words = "" if end.status == "ok" else f"{end.status} · "
    line = Text(" " * INDENT + mark, style)
    line.append(f"{words}{end.seconds:.1f} s", "dim")
    if end.detail:
        line.append(f" · {sanitize.words(end.detail)}", "dim")
    return line


def kept(path: str, mime: str) -> RenderableType:
    what = "picture " if mime.startswith("image/") else "file "
    return Text.assemble(" " * INDENT, (what, "dim"), path)


def note(text: str, style: str = "yellow") -> RenderableType:
    return Padding(Text(sanitize.words(text), style), (0, 1, 0, INDENT))


def told(text: str) -> list[RenderableType]:
    """What a command brought: as it is set, or a difference between files with its colours."""
    if difference := unfenced(text):
        return code("diff", difference, title="what changed")
    return [Padding(Text(sanitize.words(text)), (0, 1, 0, INDENT))]


def aside(text: str) -> RenderableType:
    return Padding(Text(sanitize.words(text), "dim"), (0, 1, 0, INDENT))
