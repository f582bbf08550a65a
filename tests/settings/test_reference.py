"""The documentation of the settings matches the settings."""

from pathlib import Path

from sayso.server.settings.defaults import SECTIONS
from sayso.server.settings.keys import keys
from sayso.server.settings.reference import meanings, page

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_in_the_docs_is_current() -> None:
    written = (DOCS / "settings.md").read_text(encoding="utf-8")

    assert written == page(), (
        "make it anew: python -m sayso.server.settings.reference docs/settings.md"
    )


def test_every_section_and_every_setting_says_what_it_means() -> None:
    for name in (*SECTIONS, *keys()):
        assert len(meanings()[name].split()) > 1, name
        assert meanings()[name].endswith("."), name
