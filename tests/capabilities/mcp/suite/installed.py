"""Where scripts/mcp_suite has put what it fetched."""

from typing import Final

import pytest

from tests.repository.tree import ROOT

PLACE: Final = ROOT / ".house" / "mcp-suite"


def program(script: str) -> tuple[str, ...]:
    """What starts a script of the fetched packages, with the fetched Node.js."""
    if not (PLACE / "made").exists():
        # Also where nothing else may be lacking: it comes from a registry that may be away.
        pytest.skip("the MCP suite is missing: scripts/mcp_suite")
    return (str(PLACE / "node" / "bin" / "node"), str(PLACE / "node_modules" / script))
