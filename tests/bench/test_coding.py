"""What `scripts/bench coding` measures of patches and maps holds in a small project as well."""

from pathlib import Path

import pytest

from bench import coding
from sayso.server.runtimes.kernels.environment import ensure
from sayso.server.runtimes.sandbox.self_test.proof import find_sandbox
from tests.kernels import lent_home


@pytest.mark.slow
async def test_a_patch_of_many_files_and_a_map_take_less_than_a_start(tmp_path: Path) -> None:
    report, environment = await find_sandbox(), ensure(lent_home())
    for name in ("patched", "mapped"):
        (tmp_path / name).mkdir()
    assert coding._project(tmp_path / "mapped", 40) == 40
    assert await coding.patch_ms(environment, report, tmp_path / "patched") > 0
    took = await coding.map_s(environment, report, tmp_path / "mapped")
    assert took["repo_map_warm_s"] < took["repo_map_cold_s"]
    assert took["repo_map_chars"] <= 3_500
