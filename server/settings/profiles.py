"""Profiles: settings for one kind of work, under one name, below everything that was set by hand.

A profile is a TOML file like the person's own settings. Shipped ones lie beside this file; the
person's own lie in the folder `profiles` of the configuration folder, and win over shipped ones of
the same name.
"""

from pathlib import Path
from typing import Final

from sayso.protocol.home import Home

SHIPPED: Final = Path(__file__).with_name("shipped_profiles")
CHOICE: Final = "agent.profile"
"""The setting that names one."""


def profile_file(home: Home, name: str) -> Path | None:
    """Where a profile stands; None if there is none of this name."""
    if not name.replace("-", "").replace("_", "").isalnum():
        return None
    places = (home.config / "profiles", SHIPPED)
    return next((f for place in places if (f := place / f"{name}.toml").is_file()), None)


def profile_names(home: Home) -> list[str]:
    """All that there are."""
    places = (home.config / "profiles", SHIPPED)
    return sorted({file.stem for place in places for file in place.glob("*.toml")})
