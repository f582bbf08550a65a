"""How the driver is to drive one interpreter (driver.py); it gets it as JSON."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Plan:
    """How to drive one interpreter.

    In what is ordered `{file}` stands for the file with the code, `{folder}` for the driver's own
    folder and `{state}` for what was saved in it.
    """

    argv: list[str]
    """The interpreter that lasts; or, with nothing to `order`, the program for each run."""
    begin: str = ""
    """What to order first."""
    restore: str = ""
    """What to order then, if state was saved."""
    order: str = ""
    """What to order for a run, of which `{word}` is one that only it knows (calls/shell_line.py).
    The answer is a report with `done`, the exit status."""
    here: str = ""
    """What to order after an interrupt, to hear by a report with `here` that the interpreter has
    outlived it. The interrupt may come when the code has just ended."""
    stop: str = ""
    """What to order for an interrupt, besides the signal."""
    suffix: str = ""
    """How the names of its files end."""
    saved: list[str] = field(default_factory=list)
    """Names of files in which the interpreter saves its state, the best first."""
    line: str = ""
    """How its code says what it wants called: a script in `runtimes/calls/`; empty: it cannot."""
