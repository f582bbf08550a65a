"""Defines the options that the client's commands share: server, device name, sound devices."""

import argparse
import logging
import os
import platform
import sys
from importlib.metadata import version
from typing import Final, Literal, get_args

from sayso.client.files.artifacts import ArtifactFiles
from sayso.client.identity.known_server import Credentials, read
from sayso.client.session.link import Link
from sayso.client.session.player import PLAY_BUFFER_MS
from sayso.client.terminal.events import Screen
from sayso.protocol.codec import MAX_TEXT_BYTES
from sayso.protocol.features import ClientFeature
from sayso.protocol.frames import MAX_FRAME_BYTES
from sayso.protocol.home import DEFAULT_HOST, DEFAULT_PORT, WEBSOCKET_PATH, Home
from sayso.protocol.messages import (
    NAMES,
    AudioOffer,
    FromServer,
    Hello,
    Limits,
    SpeechStart,
    SpeechStop,
)
from sayso.protocol.version import SPOKEN

THIS_MACHINE = f"ws://{DEFAULT_HOST}:{DEFAULT_PORT}{WEBSOCKET_PATH}"

WITHOUT_SPEECH: Final = tuple(
    NAMES[kind] for kind in get_args(FromServer) if kind not in (SpeechStart, SpeechStop)
)
"""All that a client wants to be sent that plays nothing."""


def default_server() -> str:
    """Where the server is, unless the person says otherwise."""
    if chosen := os.environ.get("SAYSO_SERVER"):
        return chosen
    known = read(Home.find())
    return known.url if known else THIS_MACHINE


def add_server(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--server",
        metavar="URL",
        default=default_server(),
        help="where the server is (default: SAYSO_SERVER if it is set, the server that this device "
        f"is paired with, or {THIS_MACHINE})",
    )


def add_timeout(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--timeout",
        type=float,
        default=120.0,
        metavar="SECONDS",
        help="how long one turn may take (default 120)",
    )


def keep_files(screen: Screen, server: str) -> ArtifactFiles:
    """Lets pictures and other files be fetched, and kept where Sayso keeps its data."""
    return ArtifactFiles(screen, Credentials(server), Home.find().data / "results")


def add_conversation(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--conversation",
        metavar="NAME",
        default="",
        help="which conversation to take part in (default: the latest)",
    )


def add_folder(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--folder",
        metavar="PATH",
        default="",
        help="work in this folder of the server's machine: in the conversation that does, or a new "
        "one; with --conversation, let that one move there",
    )


def make_link(
    server: str,
    kind: str,
    wants: tuple[str, ...] = (),
    conversation: str = "",
    echo: Literal["cancelled", "half_duplex", "headphones"] = "half_duplex",
    shows: bool = True,
    offers: tuple[str, ...] = (),
) -> Link:
    """Makes the line to the server; `kind` is the sort of client that we are. `shows`: it puts
    questions on a screen, code and all; else they are read out. `offers`: what it can be asked for
    at its screen."""
    seen: tuple[ClientFeature, ...] = ("screen", "approve") if shows else ("aloud",)
    features: tuple[ClientFeature, ...] = ("resume", *seen, "tasks")
    if offers:
        features = (*features, "desktop")
    hello = Hello(
        protocol=SPOKEN,
        client=f"sayso-{kind} {version('sayso')}",
        device=f"{platform.node() or 'here'}-{kind}",
        features=features,
        audio=AudioOffer(echo=echo),
        limits=Limits(MAX_TEXT_BYTES, MAX_FRAME_BYTES, PLAY_BUFFER_MS),
        wants=wants,
        conversation=conversation,
        offers=offers,
    )
    credentials = Credentials(server)
    return Link(server, hello, credentials.token, credentials.context, credentials.connection)


def prepare_logging() -> None:
    """Sends the log to the screen if SAYSO_DEBUG is set, and else nowhere: the screen is taken."""
    if os.environ.get("SAYSO_DEBUG"):
        logging.basicConfig(level=logging.DEBUG, stream=sys.stderr)
        logging.getLogger("websockets").setLevel(logging.INFO)
    else:
        logging.basicConfig(handlers=[logging.NullHandler()])
