"""Grants that are closed when another folder, or a link, is in the place of what was granted."""

from dataclasses import replace
from pathlib import Path

import pytest

from sayso.protocol.home import Home
from sayso.server.agent.events import ApprovalRequest, CodeEnd
from sayso.server.agent.permissions.access_syntax import AccessRequest, RequestedFolder
from sayso.server.agent.permissions.permissions import Permissions
from sayso.server.agent.permissions.standing_grants import StandingGrants
from sayso.server.agent.record.conversation_settings import ConversationSettings, granted
from sayso.server.runtimes.grants import Folder, Grants
from sayso.server.runtimes.protection.folder_identity import NOWHERE
from sayso.server.settings import Settings
from sayso.server.settings.defaults import Code
from sayso.server.store.codec import decode, encode
from sayso.server.store.decisions import ReachTakenBack
from tests.agent.conftest import AgentRig
from tests.scripted_model import Reply

DONE = Reply("It is done.")


def runs(code: str, language: str = "python") -> Reply:
    return Reply(f"I do it.\n```{language}\n{code}\n```\n")


@pytest.fixture
def downloads(tmp_path: Path) -> Path:
    made = tmp_path / "alice" / "Downloads"
    made.mkdir(0o755, parents=True)
    (made / "bill.txt").write_text("42 euros")
    return made


def swap(place: Path) -> None:
    """Put a link to something else in its place, as another conversation could."""
    secrets = place.parent / "secrets"
    secrets.mkdir()
    (secrets / "bill.txt").write_text("the key to everything")
    place.rename(place.parent / "before")
    place.symlink_to(secrets)


def make_anew(place: Path) -> None:
    """Put a folder where the link is."""
    place.unlink()
    place.mkdir()


async def test_a_grant_that_was_turned_elsewhere_is_closed_and_told(
    rig: AgentRig, downloads: Path
) -> None:
    look = runs(f"print(open({str(downloads / 'bill.txt')!r}).read())")
    replies = (
        runs(f"read {downloads}", "access"),
        look,
        DONE,
        look,
        look,
        DONE,
        runs(f"read {downloads}", "access"),
    )
    agent = await rig.agent(*replies, DONE, calls_tools="no", mode="workspace")
    await rig.ask(agent, "read it")
    assert rig.output == "42 euros\n"
    swap(downloads)
    await rig.ask(agent, "read it again")
    assert "the key to everything" not in rig.output
    refused, _ = rig.told(CodeEnd)
    assert "is not what it was when you opened it" in refused.detail
    assert "can be asked for again" in rig.sent(-2)[-1]["content"]
    assert agent.permissions.granted == Grants()
    (taken,) = await rig.records(ReachTakenBack)
    assert taken.read == (str(downloads),)
    await rig.ask(agent, "ask for it")
    assert "secrets" in rig.told(ApprovalRequest)[0].code  # what is there now, by its own name


def test_what_was_granted_before_a_restart_is_recognised(downloads: Path) -> None:
    permissions = Permissions()
    grant = permissions.weigh(AccessRequest((RequestedFolder(str(downloads), "write"),)))
    record = granted("run", grant.added, "phone", lasting=False)
    assert record.seen
    assert decode(*encode(record)) == record
    of_before = replace(record, seen=())
    later = replace(record, seen=tuple(replace(one, boot="", device=1) for one in record.seen))
    for one in (record, of_before, later):
        assert permissions.restore(ConversationSettings.of([one])) == []
        assert permissions.granted.folders == (Folder(downloads, "write"),)
    downloads.rename(downloads.parent / "before")
    downloads.mkdir()
    for one in (record, later):
        assert "is closed" in permissions.restore(ConversationSettings.of([one]))[0]
        assert permissions.granted == Grants()
    downloads.rmdir()
    downloads.symlink_to(downloads.parent)
    assert "is closed" in permissions.restore(ConversationSettings.of([of_before]))[0]
    assert permissions.granted == Grants()
    assert len(permissions.take_closed()) == 3


async def test_what_was_granted_for_good_is_recognised(downloads: Path) -> None:
    home = Home.find()

    def opened() -> StandingGrants:
        return StandingGrants(home, Settings.load(home, environment={}))

    granted_now = (
        Permissions().weigh(AccessRequest((RequestedFolder(str(downloads), "read"),))).added
    )
    assert await opened().keep(granted_now) == ""
    assert opened().reach == granted_now
    swap(downloads)
    standing = opened()
    assert standing.reach == Grants()
    (lost,) = standing.take_losses()
    assert "is not the folder that it was" in lost
    assert standing.take_losses() == ()
    make_anew(downloads)
    assert opened().reach == Grants()
    again = (
        Permissions(standing=opened())
        .weigh(AccessRequest((RequestedFolder(str(downloads), "read"),)))
        .added
    )
    assert await opened().keep(again) == ""
    assert opened().reach == again


async def test_a_workspace_in_the_settings_is_recognised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "work"
    place.mkdir()
    (tmp_path / "link").symlink_to(place)  # a person may write it so
    settings = Settings(code=Code(workspace=str(tmp_path / "link")))
    first = StandingGrants(Home.find(), settings).workspace
    assert first
    assert first == StandingGrants(Home.find(), settings).workspace
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to(tmp_path)
    turned = StandingGrants(Home.find(), settings)
    assert turned.workspace == NOWHERE
    assert "is not the folder that it was" in turned.take_losses()[0]
