"""What `scripts/bench agent` measures of words during work holds in a few requests as well."""

from pathlib import Path

import pytest

from bench import steering
from sayso.server.runtimes.kernels.environment import ensure
from sayso.server.runtimes.sandbox.self_test.proof import find_sandbox
from tests.kernels import lent_home


@pytest.mark.slow
async def test_work_is_told_of_at_once_and_no_words_for_the_model_are_lost(tmp_path: Path) -> None:
    report = await find_sandbox()
    assert report.sandbox
    rounds = len(steering.MOMENTS)
    found = await steering.measure(ensure(lent_home()), report.sandbox, tmp_path, rounds)
    assert len(found.status_ms) == 2 * rounds
    assert found.lost == 0
