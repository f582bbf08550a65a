"""A desktop to work at, and what its owner allows."""

from collections.abc import Iterator

import pytest

from sayso.client.desktop.permission import DesktopPermission, write_permission
from sayso.protocol.home import Home
from tests.client.desktop import rig


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[rig.Desktop]:
    """A desktop without anybody at it."""
    rig.system_has("gtk", "gir1.2-gtk-3.0 python3-gi")
    with rig.desktop(tmp_path_factory.mktemp("desktop")) as running:
        yield running


@pytest.fixture
def allowed() -> Home:
    """The owner of this device has allowed all that can be allowed."""
    home = Home.find()
    write_permission(home, DesktopPermission(look=True, act=True, clipboard=True))
    return home
