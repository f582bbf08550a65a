"""Takes the pictures in README anew: `scripts/pictures [FOLDER]`."""

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Page, expect

from tests.e2e.speech import Voice
from tests.kernels import lend_kernels
from tests.pictures import scene
from tests.pictures.terminal import Terminal
from tests.repository.tree import ROOT
from tests.rig import SAYSO, Server
from tests.scripted_model import ScriptedModel
from tests.web.browser import is_paired, page

FOLDER = ROOT / "docs" / "pictures"
"""Where README finds them."""

TERMINAL = "terminal.svg"
PAGE = "page.png"

CONVERSATION = "garden"
"""Named for its folder."""

PROMPT = "\N{HEAVY RIGHT-POINTING ANGLE QUOTATION MARK ORNAMENT} "
"""Before what the person says."""

PAGE_SIZE = (390, 880)
"""A phone's."""


def take(folder: Path) -> None:
    """One conversation on two devices, each photographed while a question is open."""
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="ada-") as name:
        home = Path(name, "sayso")
        home.mkdir()
        lend_kernels(home)
        garden = Path(name, "garden")
        garden.mkdir()
        (garden / "rain.csv").write_text(scene.rain())
        spoken = home / "spoken.wav"
        Voice().speak(scene.SPOKEN, spoken)
        with (
            ScriptedModel(scene.ANSWERS, key="a-key-for-pictures") as model,
            Server(home, model) as server,
            page(spoken, PAGE_SIZE[0], PAGE_SIZE[1], scale=2) as browser,
        ):
            _converse(server, browser, [f"--mic=file:{spoken}", f"--folder={garden}"], folder)


def _converse(server: Server, browser: Page, flags: list[str], folder: Path) -> None:
    speaker = f"--speaker=file:{server.home / 'answer.wav'}"
    talk = [SAYSO, "talk", "--server", server.url, speaker, *flags]
    assert server.ask(scene.BEFORE).reply == "Yes."
    with Terminal.running(talk, server.variables, server.home / "tmux") as terminal:
        terminal.shows("space to talk")
        is_paired(browser, server)
        browser.locator("#open-drawer").click()
        browser.locator("#conversations").get_by_role("button", name=CONVERSATION).first.click()
        here = browser.locator("#conversations [aria-current]")
        expect(here).to_contain_text(CONVERSATION)
        terminal.presses("Space")
        terminal.shows("May I run this python?")
        terminal.types_until_gone("y", "May I run this python?")
        terminal.shows("tokens")  # under the answer, once it was heard
        terminal.types(scene.TYPED)
        terminal.presses("Enter")
        terminal.shows("May I run this bash?")
        browser.reload()  # it shows what was asked elsewhere once it takes the conversation up
        expect(browser.locator(".you").last).to_have_text(scene.TYPED)
        (folder / TERMINAL).write_text(terminal.drawing("sayso talk", PROMPT))
        yes = browser.get_by_role("button", name="Approve", exact=True)
        expect(yes).to_have_attribute("aria-disabled", "false")  # it stands still for long enough
        browser.screenshot(path=folder / PAGE, animations="disabled")


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/pictures", description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=FOLDER)
    take(parser.parse_args().folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
