"""The languages that come with Sayso, as far as this machine has them."""

from collections.abc import Iterator

from sayso.server.runtimes.language import Language
from sayso.server.runtimes.languages.html import Html
from sayso.server.runtimes.languages.javascript import JavaScript
from sayso.server.runtimes.languages.python import Python
from sayso.server.runtimes.languages.shell import Bash, Zsh, installed


def shipped() -> Iterator[Language]:
    """Each language that can be run here."""
    yield Python()
    if installed("bash"):
        yield Bash()
    if installed("zsh"):
        yield Zsh()
    if installed("node"):
        yield JavaScript()
    yield Html()
