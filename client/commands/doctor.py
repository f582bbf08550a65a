"""`sayso doctor`: looks at every part, says how it is, and what to do about it.

Each room brings its own examination as an entry point. The exit code is 1 if anything is bad.
`--json` writes a list of objects with `part`, `state` (good, poor, bad), `detail` and `remedy`.
"""

import argparse
import json
import logging
import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from importlib.metadata import EntryPoint, distribution
from typing import cast

from sayso.client.options import prepare_logging
from sayso.protocol.health import Finding

log = logging.getLogger(__name__)

_COLOURS = {"good": "32", "poor": "33", "bad": "31"}
_PART_WIDTH = 16
_WIDEST = 100


class Doctor:
    """See the module."""

    summary = "examine everything and say what to do about it"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="write the findings as JSON")

    def run(self, arguments: argparse.Namespace) -> int:
        prepare_logging()
        findings = []
        for finding in _examinations():
            findings.append(finding)
            if not arguments.json:
                print(_described(finding), flush=True)
        if arguments.json:
            print(json.dumps([asdict(finding) for finding in findings], indent=2))
        else:
            print(_summed_up(findings))
        return 1 if any(finding.state == "bad" for finding in findings) else 0


def _examinations() -> Iterator[Finding]:
    found = distribution("sayso").entry_points.select(group="sayso.examinations")
    for entry in sorted(found, key=lambda entry: entry.name):
        yield from _examination(entry)


def _examination(entry: EntryPoint) -> Iterator[Finding]:
    try:
        examine = cast("Callable[[], Iterable[Finding]]", entry.load())
        yield from examine()
    except ModuleNotFoundError as error:
        yield Finding(
            entry.name,
            "poor",
            f"The {entry.name}'s part is not installed here ({error.name} is missing); "
            "that is fine if yours runs on another machine.",
            f"pip install 'sayso[{entry.name}]'",
        )
    except Exception as error:
        # The root of an examination: one that breaks must not hide the others.
        log.exception("the examination %s broke", entry.name)
        yield Finding(
            entry.name,
            "bad",
            f"Looking at the {entry.name} failed ({type(error).__name__}: {error}).",
            "Set SAYSO_DEBUG=1 and run `sayso doctor` again to see where.",
        )


def _described(finding: Finding) -> str:
    width = min(_WIDEST, shutil.get_terminal_size().columns) - 1
    indent = " " * (6 + _PART_WIDTH)
    head = f"{finding.state:<6}{finding.part:<{_PART_WIDTH}}"
    text = textwrap.fill(
        finding.detail, width, initial_indent=head, subsequent_indent=indent, break_long_words=False
    )
    if finding.remedy:
        text += "\n" + textwrap.fill(
            finding.remedy,
            width,
            initial_indent=f"{indent}-> ",
            subsequent_indent=f"{indent}   ",
            break_long_words=False,
            break_on_hyphens=False,
        )
    if sys.stdout.isatty() and not os.environ.get("NO_COLOR"):
        return f"\x1b[{_COLOURS[finding.state]}m{finding.state}\x1b[0m{text[len(finding.state) :]}"
    return text


def _summed_up(findings: list[Finding]) -> str:
    bad = sum(finding.state == "bad" for finding in findings)
    poor = sum(finding.state == "poor" for finding in findings)
    if not bad and not poor:
        return "\nAll is well."
    if not bad:
        return f"\nAll works; {poor} could be better."
    return f"\n{bad} of {len(findings)} need{'s' if bad == 1 else ''} mending."


command = Doctor()
