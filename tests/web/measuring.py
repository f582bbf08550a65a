"""What the page costs and how fast it is, in a real browser: for tests and for the benchmark."""

import os
import time
from pathlib import Path

from playwright.sync_api import Page

WATCH = """() => {
  const send = WebSocket.prototype.send;
  window.pressed = null;
  window.presses = [];
  document.getElementById('talk').addEventListener('pointerdown', ({ timeStamp }) => {
    window.pressed = timeStamp;
  }, { capture: true });
  WebSocket.prototype.send = function (data) {
    send.call(this, data);
    if (typeof data === 'string' || window.pressed === null) return;
    window.presses.push(performance.now() - window.pressed);
    window.pressed = null;
  };
}"""
"""Notes how long after the press of the button the first sound goes to the socket."""


def press_to_wire_ms(opened: Page, presses: int = 20) -> list[float]:
    """Milliseconds from the press to the first sound on the wire, sorted; the microphone is open
    before, as it is from the first press on."""
    talk = opened.locator("#talk")
    box = talk.bounding_box()
    assert box
    opened.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    _hold(opened, 300)
    opened.evaluate(WATCH)
    for done in range(presses):
        _hold(opened, 260 + 7 * done)  # not in step with the microphone's frames
    found = opened.evaluate("() => window.presses")
    return sorted(float(each) for each in found)


def _hold(opened: Page, milliseconds: int) -> None:
    opened.mouse.down()
    opened.wait_for_timeout(milliseconds)
    opened.keyboard.press("Escape")  # taken back before it is let go: nothing is to be answered
    opened.mouse.up()
    opened.wait_for_timeout(50)


def cpu_share(opened: Page, microphone: Path, seconds: float) -> float:
    """How much of one core the browser takes with everything that belongs to it, 0.1 is a tenth."""
    family = _family(microphone)
    before, began = sum(map(_ticks, family)), time.monotonic()
    opened.wait_for_timeout(1_000 * seconds)
    used = (sum(map(_ticks, family)) - before) / os.sysconf("SC_CLK_TCK")
    return used / (time.monotonic() - began)


def _family(microphone: Path) -> list[int]:
    """The browser that was given this microphone, and all processes below it."""
    parents: dict[int, int] = {}
    own: list[int] = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            parents[int(entry.name)] = _status(int(entry.name))[1]
            command = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        given = any(part.startswith(b"--use-file-for-fake-audio") for part in command)
        if given and any(bytes(microphone) in part for part in command):
            own.append(int(entry.name))
    grown = True
    while grown:
        below = [one for one, parent in parents.items() if parent in own and one not in own]
        own += below
        grown = bool(below)
    assert own
    return own


def _status(process: int) -> tuple[int, int]:
    """Clock ticks that a process took, and its parent."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12]), int(fields[1])


def _ticks(process: int) -> int:
    try:
        return _status(process)[0]
    except OSError:
        return 0
