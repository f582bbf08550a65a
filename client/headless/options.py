"""Defines the command-line options of a device without a screen."""

import argparse
from typing import get_args

from sayso.client.errors import ClientError
from sayso.client.headless.sentences import SpokenAs


class NoWayToTalk(ClientError):
    """Neither a button nor a wake word was chosen."""


def add_headless(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--headless",
        action="store_true",
        help="a device without a screen: a Raspberry Pi with --button, --hands-free or both",
    )
    parser.add_argument(
        "--button", metavar="PIN", default="", help="with --headless: hold to talk, like gpio:17"
    )
    parser.add_argument(
        "--led",
        metavar="PINS",
        default="",
        help="with --headless: the light, like gpio:18 or, of three colours, gpio:18,23,24",
    )
    parser.add_argument(
        "--announce",
        choices=get_args(SpokenAs),
        default="sentences",
        help="with --headless: how it tells of itself (default sentences, which are English)",
    )


def check(arguments: argparse.Namespace) -> None:
    """Raises NoWayToTalk where nobody could talk with the device."""
    if not arguments.button and not arguments.hands_free:
        raise NoWayToTalk(
            "Without a screen there must be another way to talk: give --button gpio:17, "
            "--hands-free, or both."
        )
