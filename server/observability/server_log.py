"""Server logging with redaction: times, ids and sentences, no secrets, nothing that was said.

It writes to standard error for a person, and as lines of JSON into files of bounded size, for
`sayso logs` and for support.
"""

import json
import logging
import os
import re
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path

from sayso.protocol.home import Home
from sayso.server.log_context import NO_IDS, Ids, current_ids
from sayso.server.store.redaction import redacted

FILE_BYTES = 1_000_000
"""About ten thousand lines: some weeks of a household."""
FILES_KEPT = 4
"""Older ones, beside the one that is written."""
NAME = "server.jsonl"
WAITING_LINES = 1_000
"""The latest lines wait for a start to succeed: a start writes some ten."""


_UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Control characters but for tabs and new lines, what turns the direction of writing, and what no
file can hold."""


def _shown(unseen: re.Match[str]) -> str:
    return unseen[0].encode("unicode_escape").decode()


_PLAIN_ID = re.compile(r"[\w.:-]+")


class IdsFilter(logging.Filter):
    """Notes on each record which ids it carries, where it is logged: it may be written later."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.ids = current_ids()
        return True


def ids_of(record: logging.LogRecord) -> Ids:
    """What was noted on it, without secrets: a device calls itself as it likes."""
    ids: Ids = getattr(record, "ids", NO_IDS)
    return {name: redacted(text) for name, text in ids.items()}


def told_ids(ids: Ids) -> str:
    """`device=kitchen turn=3`; what is not plain stands in quotes, so that none looks like two."""
    return " ".join(
        f"{name}={text if _PLAIN_ID.fullmatch(text) else json.dumps(text, ensure_ascii=False)}"
        for name, text in ids.items()
    )


class RedactingFormatter(logging.Formatter):
    """Whatever is logged, by whichever library, passes here last: secrets are taken out, and what
    would move a terminal's cursor, or hide, is shown. Code may name a file as it likes."""

    def format(self, record: logging.LogRecord) -> str:
        return _UNSEEN.sub(_shown, redacted(super().format(record)))


class ScreenFormatter(RedactingFormatter):
    """Time, level, room, ids and text on a line, for who is looking."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s:%(told_ids)s %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        told = told_ids(ids_of(record))
        record.told_ids = f" {told}:" if told else ""
        return super().format(record)


LINE_FIELDS = ("time", "level", "room", "text")
"""Of a line that is kept; what else is there are ids."""


class LineFormatter(RedactingFormatter):
    """One object a line: `time`, `level`, `room`, `text`, and each id under its name."""

    def format(self, record: logging.LogRecord) -> str:
        shown = {name: _UNSEEN.sub(_shown, text) for name, text in ids_of(record).items()}
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "room": record.name,
            "text": super().format(record),
            **shown,
        }
        return json.dumps(line, ensure_ascii=False)


class UntilStarted(logging.Handler):
    """Hands lines on once the server has started; a warning, and what came before it, at once."""

    def __init__(self, target: logging.Handler) -> None:
        super().__init__()
        self._target = target
        self._waiting: deque[logging.LogRecord] | None = deque(maxlen=WAITING_LINES)

    def emit(self, record: logging.LogRecord) -> None:
        if self._waiting is not None and record.levelno < logging.WARNING:
            self._waiting.append(record)
            return
        self._hand_on()
        self._target.handle(record)

    def started(self) -> None:
        """From here on, nothing waits."""
        with self.lock or nullcontext():
            self._hand_on()
            self._waiting = None

    def _hand_on(self) -> None:
        while self._waiting:
            self._target.handle(self._waiting.popleft())


class PrivateFile(RotatingFileHandler):
    """What it writes is for its owner's eyes."""

    def _open(self):  # type: ignore[no-untyped-def]  # noqa: ANN202 (as in the standard library)
        os.close(os.open(self.baseFilename, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600))
        return super()._open()

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 (as in the standard library)
        """A full disk costs lines of this file; standard error has them, too, and goes on."""


def write_log(level: str, home: Home) -> Callable[[], None]:
    """Log to standard error, and to the home's files, from here on.

    Standard error waits for what is returned to be called, or for a warning: of a server that could
    not start, the reason alone is read there.

    Libraries that speak with models write down whole conversations at `debug`; what is forgotten,
    or handed to a person who helps, would still have them. So `debug` is for our own rooms.
    """
    grave = logging.getLevelNamesMapping()[level.upper()]
    logging.getLogger("sayso").setLevel(grave)
    logging.getLogger("sayso.websockets").setLevel(logging.WARNING)
    shown = logging.StreamHandler()
    shown.setFormatter(ScreenFormatter())
    waiting = UntilStarted(shown)
    handlers: list[logging.Handler] = [waiting]
    try:
        folder = log_folder(home)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        kept = PrivateFile(folder / NAME, maxBytes=FILE_BYTES, backupCount=FILES_KEPT)
    except OSError as error:
        problem = f"the log is kept in no file: {error.strerror}"
    else:
        kept.setFormatter(LineFormatter("%(message)s"))
        handlers.append(kept)
        problem = ""
    for handler in handlers:
        handler.addFilter(IdsFilter())
    logging.basicConfig(level=max(grave, logging.INFO), handlers=handlers)
    if problem:
        logging.getLogger(__name__).warning("%s", problem)
    return waiting.started


def log_folder(home: Home) -> Path:
    """Where the files are."""
    return home.state / "logs"


def kept_lines(home: Home) -> Iterator[str]:
    """All lines that are kept, oldest first."""
    yield from older_lines(home)
    yield from _lines_in(home, NAME)


def older_lines(home: Home) -> Iterator[str]:
    """Those of files that were put aside."""
    yield from _lines_in(home, *(f"{NAME}.{number}" for number in range(FILES_KEPT, 0, -1)))


def _lines_in(home: Home, *names: str) -> Iterator[str]:
    folder = log_folder(home)
    for name in names:
        try:
            with (folder / name).open(encoding="utf-8", errors="replace") as file:
                yield from (line.rstrip("\n") for line in file)
        except FileNotFoundError:
            continue
