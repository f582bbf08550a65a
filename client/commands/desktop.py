"""`sayso desktop`: what Sayso may do at this screen. Only here, and nothing until it is allowed.

sayso desktop allow                       look and act, in applications that you open to it
sayso desktop allow --look                look alone
sayso desktop allow --clipboard           the clipboard, too
sayso desktop allow --never thunderbird   and never in this one
sayso desktop forbid                      nothing any more
sayso desktop status                      what is allowed, and what works here
"""

import argparse
import sys
from typing import Final

from sayso.client.desktop.offering import unable
from sayso.client.desktop.permission import (
    DesktopPermission,
    permission_file,
    read_permission,
    take_back,
    write_permission,
)
from sayso.protocol.home import Home

_NEXT: Final = "It holds for every `sayso talk` that is started from now on."


class Desktop:
    """See the module."""

    summary = "say what Sayso may do at this screen"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("what", choices=("allow", "forbid", "status"), nargs="?")
        parser.add_argument("--look", action="store_true", help="with allow: look alone")
        parser.add_argument("--clipboard", action="store_true", help="with allow: the clipboard")
        parser.add_argument(
            "--never",
            metavar="APP",
            action="append",
            default=[],
            help="with allow: an application that is out of reach, as `status` names it",
        )

    def run(self, arguments: argparse.Namespace) -> int:
        home = Home.find()
        if arguments.what == "allow":
            never = tuple(sorted({each.lower() for each in arguments.never}))
            permission = DesktopPermission(
                look=True, act=not arguments.look, clipboard=arguments.clipboard, never=never
            )
            write_permission(home, permission)
            sys.stdout.write(f"{_allowed(permission)} {_NEXT}\n")
            if why := unable():
                sys.stdout.write(f"Yet: {why}\n")
            return 0
        if arguments.what == "forbid":
            take_back(home)
            sys.stdout.write("Sayso does nothing at this screen. End a `sayso talk` that runs.\n")
            return 0
        permission = read_permission(home)
        sys.stdout.write(f"{_allowed(permission)} ({permission_file(home)})\n")
        sys.stdout.write(f"{unable() or 'This screen can be worked at (X11).'}\n")
        return 0


def _allowed(permission: DesktopPermission) -> str:
    if not (permission.look or permission.clipboard):
        return "Sayso may do nothing at this screen."
    what = "look and act" if permission.act else "look"
    clipboard = ", and use the clipboard" if permission.clipboard else ""
    never = f", never in {', '.join(permission.never)}" if permission.never else ""
    return f"Sayso may {what} in applications that you open to it{clipboard}{never}."


command = Desktop()
