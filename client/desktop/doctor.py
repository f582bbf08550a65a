"""Says for `sayso doctor` what works at this screen, and why not."""

from collections.abc import Iterator

from sayso.client.desktop.offering import unable
from sayso.client.desktop.permission import read_permission
from sayso.protocol.health import Finding
from sayso.protocol.home import Home


def examine() -> Iterator[Finding]:
    """Looks at this device's screen."""
    permission = read_permission(Home.find())
    allowed = permission.look or permission.clipboard
    if why := unable():
        detail, _, remedy = why.partition(": ")
        yield Finding("desktop", "poor" if allowed else "good", f"{detail}.", remedy)
        return
    if not allowed:
        yield Finding(
            "desktop", "good", "This screen can be worked at; it is off.", "sayso desktop allow"
        )
        return
    yield Finding("desktop", "good", "This screen can be worked at, as its owner allowed.")
    yield _accessibility()


def _accessibility() -> Finding:
    from sayso.client.desktop.accessibility.bus import AccessibilityBus, NoAnswer

    try:
        AccessibilityBus().close()
    except NoAnswer:
        return Finding(
            "accessibility",
            "poor",
            "Applications do not tell what stands in their windows, so pictures are all there is.",
            "sudo apt install at-spi2-core, and log in anew",
        )
    return Finding("accessibility", "good", "Applications tell what stands in their windows.")
