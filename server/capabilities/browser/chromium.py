"""Finds Chromium on this machine, and says how to get it and how it is started."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sayso.server.runtimes.network.socket_handover import ADDRESS

PROGRAMS: Final = (
    Path("/usr/lib/chromium/chromium"),  # Debian's; what lies in /usr/bin is a script around it
    Path("/usr/lib/chromium-browser/chromium-browser"),
    Path("/usr/lib64/chromium-browser/chromium-browser"),
    Path("/opt/google/chrome/chrome"),
)

_INSTALL: Final = {
    "apt": "sudo apt install chromium",
    "dnf": "sudo dnf install chromium",
    "pacman": "sudo pacman -S chromium",
    "zypper": "sudo zypper install chromium",
    "apk": "sudo apk add chromium",
}

WIDTH: Final = 1280
HEIGHT: Final = 720
"""Pixels of a page: a picture of it is within what models look at without making it smaller."""

CACHE_BYTES: Final = 64 * 1024**2

CALLS_HOME: Final = frozenset(
    {
        "android.clients.google.com", "clients2.google.com", "clients2.googleusercontent.com",
        "clientservices.googleapis.com", "content-autofill.googleapis.com", "duckduckgo.com",
        "edgedl.me.gvt1.com", "mtalk.google.com", "optimizationguide-pa.googleapis.com",
        "redirector.gvt1.com", "safebrowsing.googleapis.com",
        "safebrowsingohttpgateway.googleapis.com", "update.googleapis.com",
    }
)  # fmt: skip
"""Hosts that Chromium itself calls whatever it is told; no page needs them. They are refused
whatever is granted, and not told of."""

_FEATURES_OFF: Final = (
    "AutofillServerCommunication", "CertificateTransparencyComponentUpdater",
    "DialMediaRouteProvider", "DnsOverHttps", "GlobalMediaControls",
    "InterestFeedContentSuggestions", "MediaRouter", "NetworkTimeServiceQuerying",
    "OptimizationGuideModelDownloading", "OptimizationHints", "PrefetchProxy",
    "SafeBrowsingEnhancedProtection", "Translate",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Chromium:
    """One that is installed."""

    program: Path

    @property
    def folder(self) -> Path:
        """What must be seen of it in a sandbox."""
        return self.program.parent

    def command(self, profile: Path) -> Sequence[str]:
        """How it is started, with its commands from descriptor 3 and its answers to 4."""
        return (
            str(self.program),
            "--headless",
            "--remote-debugging-pipe",
            "--deny-permission-prompts",
            "--mute-audio",
            *self._everywhere(profile),
            "about:blank",
        )

    def window_command(self, profile: Path, address: str) -> Sequence[str]:
        """How it is started with a window for a person, who alone drives it: it takes no commands
        of anybody else's."""
        return (
            str(self.program),
            "--ozone-platform=x11",
            "--hide-crash-restore-bubble",
            *self._everywhere(profile),
            address or "about:blank",
        )

    def _everywhere(self, profile: Path) -> Sequence[str]:
        """What holds however it is started.

        The proxy is its one way to the network; besides, it makes no other: no look-ups of names,
        no QUIC, no WebRTC past the proxy. Its own sandbox stays on: there is no switch for it here.
        """
        return (
            f"--user-data-dir={profile}",
            f"--proxy-server={ADDRESS}",
            "--proxy-bypass-list=<-loopback>",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            "--disable-quic",
            "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
            "--webrtc-ip-handling-policy=disable_non_proxied_udp",
            f"--disable-features={','.join(_FEATURES_OFF)}",
            f"--disk-cache-size={CACHE_BYTES}",
            f"--window-size={WIDTH},{HEIGHT}",
            "--renderer-process-limit=8",
            "--disable-background-networking",
            "--disable-breakpad",
            "--disable-client-side-phishing-detection",
            "--disable-component-update",
            "--disable-crash-reporter",
            "--disable-default-apps",
            "--disable-domain-reliability",
            "--disable-extensions",
            "--disable-gpu",
            "--disable-notifications",
            "--disable-search-engine-choice-screen",
            "--disable-sync",
            "--dns-prefetch-disable",
            "--metrics-recording-only",
            "--no-default-browser-check",
            "--no-first-run",
            "--no-pings",
            "--password-store=basic",
        )


def find_chromium() -> Chromium | None:
    """The one that is installed, if any is."""
    for program in PROGRAMS:
        if program.is_file():
            return Chromium(program)
    return None


def how_to_get_it() -> str:
    """One sentence for where there is none."""
    manager = next(filter(shutil.which, _INSTALL), "")
    if not manager:
        return "There is no Chromium: install it from your distribution, and ask again."
    return f"There is no Chromium: run `{_INSTALL[manager]}`, and ask again."
