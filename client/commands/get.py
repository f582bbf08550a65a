"""`sayso get FILE`: fetches a file from the workspace."""

import argparse
import os
import signal
import sys
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import quote

from sayso.client.files.download import FileLost, pieces, write_whole
from sayso.client.identity.known_server import Credentials
from sayso.client.options import add_server

PATIENCE_S = 60.0
"""For one piece, where code keeps the server and its disk busy."""


class Get:
    """See the module."""

    summary = "fetch a file from the workspace"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("file", help="its path in the workspace")
        parser.add_argument(
            "--to", metavar="PATH", default="", help="where to put it (default: here; `-`: output)"
        )
        add_server(parser)
        parser.add_argument(
            "--conversation",
            metavar="NAME",
            default="",
            help="whose workspace (default: the latest conversation's)",
        )

    def run(self, arguments: argparse.Namespace) -> int:
        conversation, name = arguments.conversation, arguments.file
        inside = quote(os.fsencode(name.strip("/")))
        where = f"/files/{quote(conversation, safe='')}/{inside}"
        coming = pieces(Credentials(arguments.server), where, PATIENCE_S)
        try:
            if arguments.to == "-":
                _pour(coming)
                return 0
            path = Path(arguments.to or Path(name).name)
            path = path / Path(name).name if path.is_dir() else path
            _write(path, coming)
        except FileLost as error:
            raise FileLost(f"{name} could not be fetched. {error}") from error
        sys.stdout.buffer.write(os.fsencode(path) + b"\n")
        return 0


def _pour(coming: Iterable[bytes]) -> None:
    try:
        sys.stdout.buffer.writelines(coming)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise  # The reader of the pipe closed it.
    except OSError as error:
        raise FileLost(f"The output cannot be written: {error.strerror}.") from error


def _write(path: Path, coming: Iterable[bytes]) -> None:
    """All of it, or nothing, also if we are told to end meanwhile."""
    for told in (signal.SIGHUP, signal.SIGTERM):
        if signal.getsignal(told) is signal.SIG_DFL:
            signal.signal(told, signal.default_int_handler)
    try:
        write_whole(path, coming)
    except FileExistsError:
        raise FileLost(f"{path} is there already; name another place with --to.") from None
    except OSError as error:
        raise FileLost(f"{path} cannot be written: {error.strerror}.") from error


command = Get()
