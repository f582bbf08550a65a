"""The settings of `[web]`: what each is for, its default, its unit and its reason."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Web:
    """What is looked up on the web."""

    search: str = ""
    """Address of a search page, with `{words}` where what is looked for belongs, for example
    `https://search.example.org/search?q={words}`. Its host is opened by you as every other. Empty:
    no searching."""
