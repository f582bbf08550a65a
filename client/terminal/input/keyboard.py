"""Turns key presses in a terminal into actions: talking, typing, answering an approval.

Where the terminal tells when a key is let go, space is held to talk; elsewhere space begins and
space ends. Letters go into the line at the bottom, and Enter sends it. While code waits for
approval and the line is empty, y, n and e answer. After a run that changed files a d by itself,
with nothing after it for a moment, shows how; after one with a long output an o opens all of it.
"""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Literal

from sayso.client.errors import ClientError
from sayso.client.session.session import Session
from sayso.client.terminal import slash
from sayso.client.terminal.approval_prompt import CARELESS_SECONDS
from sayso.client.terminal.input.editor import edit, page
from sayso.client.terminal.input.keys import Key
from sayso.client.terminal.question_keys import answers_to
from sayso.client.terminal.screen import render
from sayso.client.terminal.screen.screen import TerminalScreen
from sayso.client.terminal.screen.status_line import TYPE, Pending
from sayso.client.terminal.tty import Terminal
from sayso.protocol.messages import Approve, Command
from sayso.protocol.messages.bounds import LONGEST_TYPED

DIFF = "diff"
"""The server's command that tells what runs did to files."""
PAST = "past"
"""The server's command that tells what was said before."""
REPEAT_SECONDS = 0.08
"""A space that follows another one so soon is a held key repeating itself, not a second press."""
TWICE_SECONDS = 2.0
"""Two Ctrl-C within this time mean: leave."""
BY_ITSELF_SECONDS = 0.6
"""A person who writes a word that begins with d has written its next letter by then."""

Fetch = Callable[[str, str], Awaitable[Path]]
"""Takes an id and a type, and returns where the file lies. Raises ClientError."""


class Keyboard:
    """Reads keys until the person leaves; `code` is then what the program ends with."""

    def __init__(
        self,
        terminal: Terminal,
        screen: TerminalScreen,
        session: Session,
        talk: Callable[[], bool],
        mute: Callable[[], None] | None = None,
        fetch: Fetch | None = None,
    ) -> None:
        """`talk` starts recording. False: there is no microphone. `mute` closes one that
        listens without a key, or opens it again. `fetch` gets a file that was announced."""
        self._terminal = terminal
        self._screen = screen
        self._status_line = screen.status_line
        self._session = session
        self._talk = talk
        self._mute = mute
        self._fetch = fetch
        self._space_at = -1.0
        self._interrupted_at = -TWICE_SECONDS
        self._question = ""
        """What the line is about: what was asked when its first letter came."""
        self._editing: asyncio.Task[None] | None = None
        self.left = asyncio.Event()
        self.code = 0

    async def run(self) -> None:
        async for key in self._terminal.keys():
            self._key(key)
            self._screen.touch()

    def interrupt(self) -> None:
        """Ctrl-C: first what goes on is stopped; a second one soon after leaves."""
        if self._editing is not None:
            return  # The editor has the terminal, and knows the key.
        now = _now()
        if now - self._interrupted_at < TWICE_SECONDS:
            self._leave(130)
            return
        self._interrupted_at = now
        if self._session.client_turn.listening:
            self._session.cancel()
            self._screen.put(render.aside("Dropped."))
        elif self._session.interrupt():
            self._screen.put(render.aside("Stopped. Ctrl-C again leaves."))
        elif self._status_line.line.text:
            self._status_line.line.clear()
        else:
            self._screen.put(render.aside("Ctrl-C again leaves."))
        self._screen.touch()

    def _key(self, key: Key) -> None:
        if key.name == "space" and self._space(key):
            return
        if key.kind == "release":
            return
        if key.ctrl and self._control(key.name):
            return
        if (
            self._status_line.pending is not None
            and not self._status_line.line.text
            and self._answer(key)
        ):
            return
        if not self._status_line.line.text:
            self._question = self._session.question
        match key.name:
            case "enter":
                self._enter()
            case "escape":
                self._escape()
            case "tab":
                self._status_line.line.put(
                    slash.complete(self._status_line.line.text, self._status_line.commands)
                )
            case _:
                self._status_line.line.press(key)
                self._look_at_letter()

    def _look_at_letter(self) -> None:
        loop = asyncio.get_running_loop()
        if self._asks_what_changed:
            loop.call_later(BY_ITSELF_SECONDS, self._show_what_changed)
        if self._asks_for_all:
            loop.call_later(BY_ITSELF_SECONDS, self._open_all)

    @property
    def _asks_what_changed(self) -> bool:
        return (
            self._status_line.changed
            and self._status_line.line.text == "d"
            and DIFF in self._status_line.commands
        )

    def _show_what_changed(self) -> None:
        if self._asks_what_changed:
            self._status_line.line.clear()
            self._status_line.changed = False
            self._ask_server(f"/{DIFF}")
            self._screen.touch()

    @property
    def _asks_for_all(self) -> bool:
        line = self._status_line
        return bool(line.whole and line.line.text == "o" and self._fetch and not self._editing)

    def _open_all(self) -> None:
        if self._asks_for_all and self._fetch:
            self._status_line.line.clear()
            self._editing = asyncio.create_task(self._page(self._fetch, self._status_line.whole))
            self._screen.touch()

    async def _page(self, fetch: Fetch, file: str) -> None:
        try:
            path = await fetch(file, "text/plain")
            self._screen.pause()
            try:
                with self._terminal.lent():
                    await page(path)
            finally:
                self._screen.resume()
        except ClientError as error:
            self._screen.put(render.note(str(error)))
        finally:
            self._editing = None

    def _space(self, key: Key) -> bool:
        """Talks, unless the space belongs into a line. True: the key is used up."""
        listening = self._session.client_turn.listening
        if self._terminal.tells_releases:
            if key.kind == "release":
                self._session.release()
                return True
            if listening:
                return True
        if self._status_line.line.text or key.ctrl or key.alt:
            return False
        if key.kind != "press":
            return True
        before, self._space_at = self._space_at, _now()
        if self._space_at - before < REPEAT_SECONDS:
            return True
        if listening:
            self._session.release()
        elif not self._talk():
            self._screen.put(render.note("There is no microphone: type, and press Enter."))
        return True

    def _control(self, letter: str) -> bool:
        match letter:
            case "c":
                self.interrupt()
            case "d" if not self._status_line.line.text:
                self._leave(0)
            case "t" if self._mute is not None:
                self._mute()
            case "l":
                self._screen.clear()
            case "p" if PAST in self._status_line.commands:
                self._ask_server(f"/{PAST}")
            case "z":
                self._screen.pause()
                self._terminal.suspend()
                self._screen.resume()
            case _:
                return False
        return True

    def _escape(self) -> None:
        if self._session.client_turn.listening:
            self._session.cancel()
            self._screen.put(render.aside("Dropped."))
        else:
            self._status_line.line.clear()

    def _enter(self) -> None:
        if self._session.client_turn.listening:
            self._session.release()
            return
        if self._asks_what_changed:
            self._show_what_changed()
            return
        if self._asks_for_all:
            self._open_all()
            return
        line = self._status_line.line.take()
        if line.startswith("/"):
            self._command(line)
        elif len(line) > LONGEST_TYPED:
            self._screen.put(render.note("That is too long to ask; put it into a file."))
        elif line:
            self._session.say(line, question=self._question)

    def _command(self, line: str) -> None:
        match slash.parse(line):
            case "help":
                self._screen.put(
                    render.aside(slash.help_text(self._help(), self._status_line.commands))
                )
            case "stop":
                if not self._session.interrupt():
                    self._screen.put(render.aside("There is nothing to stop."))
            case "quit":
                self._leave(0)
            case _:
                self._ask_server(line)

    def _ask_server(self, line: str) -> None:
        command = slash.for_server(line, self._status_line.commands)
        if command is None:
            self._screen.put(render.note(slash.unknown(line)))
        else:
            self._screen.put("", render.said(line))
            self._session.send(Command(*command))

    def _help(self) -> list[str]:
        enter = "Enter  sends what you have typed"
        past = ["Ctrl-P shows what was said here before"]
        if self._status_line.keys == TYPE:
            return [*past, enter]
        if self._terminal.tells_releases:
            talk = "space  hold it to talk, let go to send (this terminal tells when you let go)"
        else:
            talk = "space  begins, space again sends (this terminal cannot tell when you let go)"
        mute = ["Ctrl-T closes the microphone, and opens it again"] if self._mute else []
        return [talk, "Esc    drops what you are saying", *mute, *past, enter]

    def _answer(self, key: Key) -> bool:
        """Answers the question that is open. True: the key is used up."""
        pending = self._status_line.pending
        letter = key.text.lower() if key.name == "text" else ""
        if pending is None or letter not in answers_to(pending.request):
            return False
        if _now() - pending.asked_at < CARELESS_SECONDS or self._editing is not None:
            return True
        if letter == "e":
            self._editing = asyncio.create_task(self._edit(pending))
        else:
            request, self._status_line.pending = pending.request, None
            decision: Literal["yes", "no"] = "no" if letter == "n" else "yes"
            self._session.send(Approve(request.id, request.nonce, decision, lasting=letter == "a"))
        return True

    async def _edit(self, pending: Pending) -> None:
        request = pending.request
        code = ""
        self._screen.pause()
        try:
            with self._terminal.lent():
                code = await edit(request.code, request.language)
        except ClientError as error:
            self._screen.put(render.note(str(error)))
        finally:
            self._editing = None
            self._screen.resume()
        if self._status_line.pending is not pending:
            self._screen.put(render.note("The question is settled meanwhile; nothing was changed."))
        elif code.strip() and code.strip() != request.code.strip():
            self._status_line.pending = None
            self._session.send(Approve(request.id, request.nonce, "edit", code))

    def _leave(self, code: int) -> None:
        self.code = code
        self.left.set()


def _now() -> float:
    return asyncio.get_running_loop().time()
