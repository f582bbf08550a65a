"""The settings of `[home]`: what each is for, its default, its unit and its reason."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Home:
    """Lights, heating and music, by Home Assistant."""

    url: str = ""
    """Address of your Home Assistant, such as `http://192.168.1.2:8123`. Naming it is your yes to
    what is calm (lights, switches, fans, heating, media, scenes, lists), which is done at once;
    locks, alarms, garages, valves and scripts are asked about always. Beyond your home it must be
    `https`."""
    token_variable: str = "HOME_ASSISTANT_TOKEN"  # noqa: S105 - a name
    """Name of the environment variable that holds a long-lived access token of it."""
