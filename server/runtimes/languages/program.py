"""A base for a language of one's own: a program that runs a file."""

from pathlib import Path

from sayso.server.runtimes.language import Place
from sayso.server.runtimes.languages.driving import driven
from sayso.server.runtimes.languages.plan import Plan
from sayso.server.runtimes.persistent_runtime import PersistentRuntime


class Program:
    """Runs each block by a program of its own, which keeps nothing from run to run.

    A language needs no more than a class like this, with a name and a command.
    """

    name: str
    """What a model calls the language, in small letters."""
    aliases: tuple[str, ...] = ()
    """What else it is called."""
    command: tuple[str, ...]
    """The program and its arguments; `{file}` stands for the file with the code."""
    suffix: str = ""
    """How that file's name ends."""
    readable: tuple[str, ...] = ()
    """Folders and files that the program needs besides the system's, such as where it lies."""

    def runtime(self, place: Place) -> PersistentRuntime:
        """Return a runtime for one conversation; nothing starts yet."""
        readable = (Path(each).expanduser().resolve() for each in self.readable)
        plan = Plan(argv=list(self.command), suffix=self.suffix)
        return driven(self.name, plan, place, *readable)
