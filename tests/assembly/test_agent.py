"""The agent of a conversation, as the server puts it together."""

from pathlib import Path

import pytest

from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.grants import Grants
from sayso.server.runtimes.kernels.environment import ensure
from sayso.server.runtimes.sandbox.self_test.proof import find_sandbox
from tests.kernels import lent_home
from tests.runtimes.sandboxes import told
from tests.server.running_server import running_server


@pytest.mark.slow
@pytest.mark.parametrize(("person", "seen"), [("", "Ann Lee"), ("guest", "")])
async def test_code_commits_in_the_owners_name_and_never_in_it_for_a_guest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, person: str, seen: str
) -> None:
    own = tmp_path / "gitconfig"
    own.write_text("[user]\n\tname = Ann Lee\n\temail = ann@example.org\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(own))
    report, kernels, runners = await find_sandbox(), ensure(lent_home()), []

    def code_runner(place: Path, reach: Grants, _: object) -> CodeRunner:
        runners.append(CodeRunner(place, kernels, report, reach))
        return runners[-1]

    async with running_server(tmp_path / "home", code_runner=code_runner) as server:
        about = await server.conversations.begin("commits", person=person)
        await server.conversations.enter(about)
        run = await told(runners[-1], "git config --get user.name || true", "bash")
        assert run.stdout.strip() == seen
