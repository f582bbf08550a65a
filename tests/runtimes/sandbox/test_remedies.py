"""Where no sandbox holds, a person is told what to do, exactly."""

import pytest

from sayso.server.runtimes.sandbox.remedies import Machine, look, remedy

NO_START = ("bubblewrap does not work: bwrap: setting up uid map: Permission denied",)


@pytest.mark.parametrize(
    ("machine", "told"),
    [
        (Machine(bubblewrap=False, package_manager="apt"), "sudo apt install bubblewrap"),
        (Machine(bubblewrap=False, package_manager="dnf"), "sudo dnf install bubblewrap"),
        (Machine(bubblewrap=False), "Linux 6.12"),
        (Machine(apparmor_forbids=True), "bwrap-userns-restrict"),
        (Machine(kernel_forbids=True), "kernel.unprivileged_userns_clone=1"),
        (Machine(no_namespaces=True), "user.max_user_namespaces=15000"),
        (Machine(), "container"),
        (Machine(known_processor=False), "x86_64 and aarch64"),
        (Machine(platform="darwin"), "sandbox-exec"),
    ],
)
def test_each_machine_gets_its_own_remedy(machine: Machine, told: str) -> None:
    assert told in remedy(NO_START, machine)


def test_a_sandbox_that_leaks_is_not_answered_with_settings() -> None:
    leak = "inside bubblewrap, code can connect by TCP"
    assert "up to date" in remedy([*NO_START, leak], Machine(apparmor_forbids=True))


def test_an_old_bubblewrap_is_to_be_updated() -> None:
    old = "bubblewrap does not work: bwrap: Unknown option --perms"
    assert "Update bubblewrap" in remedy([old], Machine())


def test_closed_folders_on_a_file_system_without_access_control_lists_are_told_of() -> None:
    closed = "landlock does not work: User 65530 cannot be let pass: /root"
    assert "SAYSO_HOME" in remedy([*NO_START, closed], Machine(bubblewrap=False))


def test_this_machine_can_be_looked_at() -> None:
    assert remedy(NO_START, look())
