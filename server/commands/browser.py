"""`sayso browser`: Sayso's own browser in a window, in which its person signs in by hand."""

import argparse
import asyncio
import sys
from typing import Final
from urllib.parse import urlsplit

from sayso.protocol.home import Home
from sayso.server.assembly.browser import sign_in_by_hand

OPEN: Final = (
    "A window opens. Sign in where Sayso shall be signed in; nobody reads along, and nothing of it"
    " is logged. Close the window when you are done."
)


class BrowserCommand:
    """See the module."""

    summary = "Sayso's own browser in a window, to sign in by hand"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("address", nargs="?", default="", help="the page to begin with")
        parser.add_argument(
            "--person",
            metavar="NAME",
            default="",
            help="whose browser: a guest's name as it was paired (without it, the owner's)",
        )

    def run(self, arguments: argparse.Namespace) -> int:
        address = _address(arguments.address)
        print(OPEN, flush=True)
        trouble = asyncio.run(sign_in_by_hand(Home.find(), arguments.person, address))
        if trouble:
            print(trouble, file=sys.stderr)
        return 1 if trouble else 0


def _address(given: str) -> str:
    """A page of the web, or nothing."""
    if not given:
        return ""
    url = given if "://" in given else f"https://{given}"
    if urlsplit(url).scheme not in ("http", "https"):
        raise SystemExit("Only pages at http:// and https:// are opened.")
    return url


command = BrowserCommand()
