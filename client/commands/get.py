"""`sayso get FILE`: fetches a file from the workspace."""

import argparse
import sys
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import quote, urlsplit, urlunsplit

from sayso.client.acquaintance import Credentials
from sayso.client.errors import ClientError
from sayso.client.options import add_server

FETCH_SECONDS = 60.0
"""The largest file that a server sends takes seconds on any network at home."""


class FileLost(ClientError):
    """It could not be fetched. The text says why."""


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
        content = _fetch(arguments.server, arguments.conversation, arguments.file)
        if arguments.to == "-":
            sys.stdout.buffer.write(content)
            return 0
        name = Path(arguments.file).name
        path = Path(arguments.to or name)
        path = path / name if path.is_dir() else path
        try:
            with path.open("xb") as file:
                file.write(content)
        except FileExistsError:
            raise FileLost(f"{path} is there already; name another place with --to.") from None
        except OSError as error:
            raise FileLost(f"{path} cannot be written: {error.strerror}.") from error
        print(path)
        return 0


def _fetch(server: str, conversation: str, name: str) -> bytes:
    parts = urlsplit(server)
    scheme = "https" if parts.scheme == "wss" else "http"
    where = f"/files/{quote(conversation, safe='')}/{quote(name.strip('/'))}"
    request = urllib.request.Request(urlunsplit((scheme, parts.netloc, where, "", "")))  # noqa: S310 (ours)
    credentials = Credentials(server)
    if proof := credentials.token():
        request.add_header("Authorization", f"Bearer {proof}")
    # No proxy: the server is at home, and the token must not go elsewhere.
    tls = urllib.request.HTTPSHandler(context=credentials.context())
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), tls)
    try:
        with opener.open(request, timeout=FETCH_SECONDS) as answer:
            return bytes(answer.read())
    except urllib.error.HTTPError as error:
        said = error.read(200).decode("utf-8", "replace").strip()
        raise FileLost(f"{name} could not be fetched. {said}") from error
    except (OSError, urllib.error.URLError) as error:
        reason = getattr(error, "reason", None) or error
        raise FileLost(f"The server cannot be reached: {reason}.") from error


command = Get()
