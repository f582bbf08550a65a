"""What README and docs tell to type is understood, what they say that Sayso says is what it says,
and what README shows is there."""

import argparse
import re
import shlex
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

import pytest

from sayso.client.headless.sentences import TEXTS
from sayso.firmware_sim import command as simulator
from sayso.firmware_sim.hardware import button, led, memory, watchdog
from sayso.server.reflexes.matching import Reflexes
from sayso.server.settings.keys import keys
from tests.repository.tree import ROOT, files

DOCS = {
    path.name: path.read_text() for path in (ROOT / "README.md", *sorted(ROOT.glob("docs/*.md")))
}
BLOCK = re.compile(r"^ *```(?:console|sh)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`(sayso(?:-sim)? [^`\n]+)`")
VERBS = {
    entry.name: entry for entry in distribution("sayso").entry_points.select(group="sayso.commands")
}
OF_CODE = {"languages.md", "tools.md", "mcp.md"}
"""Within their sentences `sayso NAME` is the command that code has."""


def commands(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """The programs of ours that are called in these lines, and their arguments."""
    for line in lines:
        words = shlex.split(line, comments=True)
        end = next((at for at, word in enumerate(words) if word in {"|", ">", "<", "&&"}), None)
        match words[:end]:
            case ["sayso" | "sayso-sim" as program, *arguments] if arguments:
                yield program, arguments


def parser_of(program: str, verb: str) -> argparse.ArgumentParser:
    if program == "sayso-sim":
        return simulator.parser()
    parser = argparse.ArgumentParser(prog=f"sayso {verb}")
    parser.add_argument("verb")
    VERBS[verb].load().add_arguments(parser)
    return parser


@pytest.mark.parametrize("name", DOCS)
def test_each_command_to_type_is_understood(name: str) -> None:
    typed = [line for block in BLOCK.findall(DOCS[name]) for line in block.splitlines()]
    for program, arguments in commands(typed):
        parser_of(program, arguments[0]).parse_args(arguments)


@pytest.mark.parametrize("name", sorted(DOCS.keys() - OF_CODE))
def test_each_command_that_is_spoken_of_has_the_flags_and_names_the_settings_that_there_are(
    name: str,
) -> None:
    for program, (verb, *words) in commands(INLINE.findall(DOCS[name])):
        if verb.startswith("-"):
            continue
        flags = parser_of(program, verb).format_help()
        assert all(word in flags for word in words if word.startswith("--")), (verb, words)
        if verb == "settings" and words[1:]:
            assert words[1] in keys() or words[1] == "KEY", words


def table(name: str, head: str) -> list[list[str]]:
    """The rows of the table with this head."""
    rows = DOCS[name].partition(f"{head}\n")[2].partition("\n\n")[0].splitlines()[1:]
    return [row.strip("| ").split(" | ") for row in rows]


@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("devices.md", "| it says | because |"),
        ("phone.md", "| it says | then |"),
        ("raspberry-pi.md", "| it says | because |"),
    ],
)
def test_what_a_page_says_that_sayso_says_is_said_so(name: str, head: str) -> None:
    said = " ".join(
        path.read_text()
        for folder in ("client", "audio", "server/gateway", "server/trust")
        for path in files(folder)
        if path.suffix in {".py", ".js"}
    )
    said = re.sub(r'"\s*\n\s*f?"', "", said)
    for sentence, *_ in table(name, head):
        for part in re.split("…|gpio:17", sentence):
            assert part.strip(" .") in said, f"{name}: {sentence}"


def test_the_page_of_the_raspberry_pi_has_all_that_it_says_by_itself() -> None:
    assert {says for _, says in table("raspberry-pi.md", "| when | it says |")} == {*TEXTS.values()}


def test_the_page_of_the_simulator_has_its_parts_and_lights() -> None:
    told = " ".join(limit for *_, limit in table("firmware.md", "| part | here | limit |"))
    figures = [float(number.replace(",", "")) for number in re.findall(r"\d[\d,]*", told)]
    kilobyte = 1_024
    assert figures == [
        memory.CAPTURE_BYTES / kilobyte,
        memory.PLAY_BYTES / kilobyte,
        memory.JSON_BYTES / kilobyte,
        memory.FRAME_BYTES,
        button.LONG_PRESS_S,
        watchdog.WATCHDOG_S,
    ]
    lights = table("firmware.md", "| state | light | tells |")
    looks = {
        state: light.name if light.way == "steady" else f"{light.name}, {light.way}"
        for state, light in led.LIGHTS.items()
    }
    assert {state: look for state, look, _ in lights} == looks


PICTURE_BYTES = 200_000
"""Three seconds on a line of half a megabit."""

PICTURES = {
    Path(found[1]).stem: (ROOT / found[1], found[0])
    for found in re.finditer(r'<img\s[^>]*src="([^"]+)"[^>]*>', DOCS["README.md"])
}
EXAMPLES = dict(re.findall(r'^\| "([^"]+)" \| (.+) \|$', DOCS["README.md"], re.MULTILINE))
TRIED_WITH_THE_POCKET_MODEL = (ROOT / "tests/e2e/test_out_of_the_box.py").read_text().lower()
TRIED_FOR_THE_PICTURE = (ROOT / "tests/pictures/scene.py").read_text().lower()


def test_readme_shows_the_terminal_and_the_page() -> None:
    assert set(PICTURES) == {"terminal", "page"}


@pytest.mark.parametrize("name", ["terminal", "page"])
def test_a_picture_in_readme_exists_is_small_and_is_told_in_words(name: str) -> None:
    path, tag = PICTURES[name]
    assert 0 < path.stat().st_size <= PICTURE_BYTES
    assert re.search(r'alt="[^"]{20,}"', tag)


def test_each_example_in_readme_is_one_that_is_tried() -> None:
    reflexes = Reflexes.load("en")
    assert len(EXAMPLES) == 5
    for words, told in EXAMPLES.items():
        if "No model takes part" in told:
            assert reflexes.match(words), words
        else:
            tried = TRIED_WITH_THE_POCKET_MODEL + TRIED_FOR_THE_PICTURE
            assert words.lower().rstrip("?.") in tried, words
