"""`sayso pair`: lets a device in, and turns it out again.

sayso pair [--name kitchen]     on the server's machine: shows a code, and how long it counts
sayso pair --file PATH          pairs a device without a screen by a file, which is written there
sayso pair --key "Open WebUI"   prints a key for a program that speaks another protocol
sayso pair join URL             on the device: what the code says
sayso pair join ADDRESS         on a device without a camera: compare words, type digits
sayso pair list                 which devices are paired
sayso pair revoke NAME          turns one out, at once

A paired device with the right `admin` opens, lists and revokes from where it is.
"""

import argparse
import asyncio
import platform
import sys
import time
from pathlib import Path
from typing import Literal, cast

from sayso.client.errors import ClientError
from sayso.client.headless.pairing_file import NAME
from sayso.client.identity.device_admin import DeviceAdmin, administering
from sayso.client.identity.known_server import Credentials, write, write_to
from sayso.client.identity.pairing import Met, PairingFailed, join, meet, show_code
from sayso.client.options import add_server
from sayso.client.terminal.screen.sanitize import words
from sayso.protocol.fingerprint import as_browsers_show, code_of, read_pairing_url
from sayso.protocol.home import Home
from sayso.protocol.messages import (
    Devices,
    DevicesList,
    DevicesRevoke,
    PairingDone,
    PairingOpen,
    PairingOpened,
)

Scope = Literal["talk", "approve", "admin", "open"]
ACTIONS = ("open", "join", "list", "revoke")


class NotPaired(ClientError):
    """The window was shut before a device came in, or what was typed makes no sense."""


class Pair:
    """See the module."""

    summary = "let another device in, or turn it out"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.formatter_class = argparse.RawDescriptionHelpFormatter
        parser.epilog = (__doc__ or "").partition("\n\n")[2]
        parser.add_argument(
            "action", nargs="?", choices=ACTIONS, default="open", help="(default: open)"
        )
        parser.add_argument("what", nargs="?", default="", help="URL, address or name")
        parser.add_argument("--name", default="", help="what the device is called")
        parser.add_argument(
            "--file",
            metavar="PATH",
            default="",
            help="pair at once, and write what the device needs into this file; a Raspberry Pi "
            f"takes it, once, from its boot partition, as {NAME}",
        )
        parser.add_argument("--person", default="", help="whose it is (default: yours)")
        parser.add_argument(
            "--key",
            metavar="NAME",
            default="",
            help="print a key for a program, which is shown once; it may talk, unless --may says "
            "more",
        )
        parser.add_argument(
            "--may",
            default="",
            metavar="SCOPES",
            help="what it may do: talk, approve, admin, and open (more for code, for once, by a "
            "spoken yes) (default talk,approve; of a key, talk)",
        )
        parser.add_argument(
            "--digits", default="", help="with join ADDRESS: the six digits, for scripts"
        )
        parser.add_argument(
            "--words", default="", help="with join ADDRESS: the words that the server shows"
        )
        add_server(parser)

    def run(self, arguments: argparse.Namespace) -> int:
        match arguments.action:
            case "join":
                return _join(arguments)
            case "list":
                return asyncio.run(_list(arguments.server))
            case "revoke":
                return asyncio.run(_revoke(arguments))
            case _:
                return asyncio.run(_open(arguments))


def _wanted(arguments: argparse.Namespace) -> PairingOpen:
    may = arguments.may or ("talk" if arguments.key else "talk,approve")
    scopes = tuple(scope.strip() for scope in may.split(",") if scope.strip())
    if unknown := set(scopes) - {"talk", "approve", "admin", "open"}:
        raise NotPaired(
            f"--may takes talk, approve, admin and open, not {', '.join(sorted(unknown))}."
        )
    name = arguments.key or arguments.name
    return PairingOpen(name, arguments.person, cast("tuple[Scope, ...]", scopes))


# ── On the server's machine, or on a device that may manage others ───────────────────────────────


async def _open(arguments: argparse.Namespace) -> int:
    wanted = _wanted(arguments)
    async with administering(arguments.server) as server:
        opened = cast(PairingOpened, await server.ask(wanted))
        if arguments.key:
            await _print_key(opened, arguments.server, wanted.name)
            return 0
        if arguments.file:
            await _into_file(opened, wanted.name, Path(arguments.file))
            return 0
        _show(opened)
        done = await _until_done(server)
    match done.outcome:
        case "paired":
            print(f"{words(done.device)} is paired.")
            return 0
        case "failed":
            raise NotPaired("The code was wrong too often: run `sayso pair` to try again.")
        case "closed":
            raise NotPaired(
                "Pairing was opened elsewhere, which shut it here: run `sayso pair` again."
            )
        case _:
            passed = f"{opened.expires_s / 60:.0f} minutes"
            raise NotPaired(f"{passed} have passed, and no device came: run `sayso pair` again.")


async def _into_file(opened: PairingOpened, name: str, path: Path) -> None:
    """Joins in the device's stead: it has nobody who could type while the code counts."""
    found = read_pairing_url(opened.url)
    if not found or opened.url.startswith("http://"):
        raise NotPaired(
            "No other device can reach this server yet: start it with `sayso serve --network`."
        )
    address, code, expected = found
    met = await asyncio.to_thread(meet, address)
    met.check(expected)
    known = await join(met, code, name or "device")
    write_to(path, known)
    print(
        f"{words(known.device)} is paired, by {path}. Put that file on the device's boot partition "
        f"as {NAME}; the device reads it once and removes it. It lets whoever has it in: if it "
        f"gets lost, run `sayso pair revoke {words(known.device)}`."
    )


async def _print_key(opened: PairingOpened, server: str, name: str) -> None:
    """Joins in the program's stead, and shows the token that it is to be given."""
    context = Credentials(server).context()
    paired = await show_code(server, context, code_of(opened.url), name)
    sys.stderr.write(
        f"This key is for {words(paired.device)}, and is shown once. `sayso pair revoke "
        f"{words(paired.device)}` takes it back.\n"
    )
    print(paired.token)


async def _until_done(server: DeviceAdmin) -> PairingDone:
    while True:
        said = await server.next()
        if isinstance(said, PairingDone):
            return said


def _show(opened: PairingOpened) -> None:
    if opened.url.startswith("http://"):
        print(
            f"Open this in a browser on this machine:\n\n  {opened.url}\n\n"
            f"or type these digits on its page:  {opened.digits[:3]} {opened.digits[3:]}\n\n"
            f"This is open for {opened.expires_s / 60:.0f} minutes. Ctrl-C shuts it. Other devices "
            "come in when the server runs with `sayso serve --network`.",
            flush=True,
        )
        return
    import segno  # costs 20 ms, and only this verb needs it

    if opened.trust:
        print(
            f"A phone or a browser that is new here must trust the server first. Open there:\n\n"
            f"  {opened.trust}\n"
        )
        segno.make(opened.trust, error="l").terminal(compact=True)
        print(
            "and do as it says; pairing stays open meanwhile. The certificate's SHA-256"
            f" fingerprint is\n\n  {_fingerprint(opened.url)}\n\nThen:\n"
        )
    segno.make(opened.url, error="l").terminal(compact=True)
    address = opened.url.removeprefix("https://").partition("/")[0]
    print(
        f"Point the device's camera at it, or run there:\n\n"
        f"  sayso pair join '{opened.url}'\n\n"
        f"Without a camera or a clipboard:  sayso pair join {address}\n"
        f"  words   {opened.words}\n"
        f"  digits  {opened.digits[:3]} {opened.digits[3:]}\n\n"
        f"This is open for {opened.expires_s / 60:.0f} minutes, for one device. Ctrl-C shuts it.",
        flush=True,
    )


def _fingerprint(url: str) -> str:
    """As the device shows it, on two lines."""
    _, _, expected = read_pairing_url(url) or ("", "", "")
    shown = as_browsers_show(expected)
    middle = len(shown) // 2 + 1
    return f"{shown[:middle]}\n  {shown[middle:]}"


async def _list(server: str) -> int:
    async with administering(server) as administrator:
        _print(cast(Devices, await administrator.ask(DevicesList())))
    return 0


async def _revoke(arguments: argparse.Namespace) -> int:
    if not arguments.what:
        raise NotPaired("Say which device: sayso pair revoke NAME. `sayso pair list` shows them.")
    async with administering(arguments.server) as administrator:
        await administrator.ask(DevicesRevoke(arguments.what))
    print(f"{words(arguments.what)} is turned out.")
    return 0


def _print(devices: Devices) -> None:
    if not devices.devices:
        print("No device is paired. To let one in: sayso pair")
        return
    rows = [("NAME", "PERSON", "MAY", "PAIRED", "")]
    for device in devices.devices:
        day = time.strftime("%Y-%m-%d", time.localtime(float(device.get("paired_at", 0))))
        may = ", ".join(str(scope) for scope in device.get("scopes", ()))
        name, person = str(device.get("name", "")), str(device.get("person", "")) or "you"
        here = "connected" if device.get("connected") else ""
        rows.append((words(name), words(person), may, day, here))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        )


# ── On the device ────────────────────────────────────────────────────────────────────────────────


def _join(arguments: argparse.Namespace) -> int:
    if not arguments.what:
        raise PairingFailed("Say whom to join: sayso pair join URL, as `sayso pair` shows it.")
    name = arguments.name or platform.node() or "device"
    from_code = read_pairing_url(arguments.what)
    if from_code:
        address, code, expected = from_code
        met = meet(address)
        met.check(expected)
    else:
        met = meet(arguments.what.strip().removeprefix("https://").strip("/"))
        _compare(met, arguments.words)
        code = arguments.digits or _ask("The six digits that the server shows: ")
    known = asyncio.run(join(met, code, name))
    write(Home.find(), known)
    print(f"Paired as {words(known.device)}. Talk:  sayso talk")
    return 0


def _compare(met: Met, expected: str) -> None:
    """A person makes sure that it is the right server, before anything is typed."""
    if expected:
        same = expected.split() == met.words.split()
    else:
        print(f"The server at {met.address} is known by these words:\n\n  {met.words}\n")
        answer = _ask("Does the server's screen show the same? [y/N] ")
        same = answer.strip().lower() in {"y", "yes"}
    if not same:
        raise PairingFailed(
            f"What answers at {met.address} is not the server. Nothing was sent to it. Are you in "
            "the same network as the server?"
        )


def _ask(question: str) -> str:
    try:
        return input(question)
    except EOFError:
        sys.stdout.write("\n")
        raise PairingFailed(
            "Nobody is there to answer: give --words and --digits, or the whole URL."
        ) from None


command = Pair()
