"""The protocol's own suite for clients, one scenario after the other, against Sayso's client."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from _pytest.mark import ParameterSet

from tests.capabilities.mcp.suite.installed import program

CLIENT: Final = Path(__file__).parent / "suite" / "conformance_client.py"
SUITE: Final = "@modelcontextprotocol/conformance/dist/index.js"
SCENARIO_S: Final = 60

LACKING: Final = {
    "auth/dpop": "tokens bound to a key",
    "auth/dpop-nonce": "tokens bound to a key",
    "auth/enterprise-managed-authorization": "a login by a company's identity provider",
    "auth/wif-jwt-bearer": "a login by a workload's identity",
    "sep-2322-client-request-state": "the SDK takes no result without a resultType",
}
"""What Sayso's client has not, by scenario."""

SCENARIOS: Final = (
    "initialize",
    "tools_call",
    "elicitation-sep1034-client-defaults",
    "sse-retry",
    "request-metadata",
    "auth/metadata-default",
    "auth/metadata-var1",
    "auth/metadata-var2",
    "auth/metadata-var3",
    "auth/basic-cimd",
    "auth/scope-from-www-authenticate",
    "auth/scope-from-scopes-supported",
    "auth/scope-omitted-when-undefined",
    "auth/scope-step-up",
    "auth/scope-retry-limit",
    "auth/token-endpoint-auth-basic",
    "auth/token-endpoint-auth-post",
    "auth/token-endpoint-auth-none",
    "auth/pre-registration",
    "auth/2025-03-26-oauth-metadata-backcompat",
    "auth/2025-03-26-oauth-endpoint-fallback",
    "auth/resource-mismatch",
    "auth/offline-access-scope",
    "auth/offline-access-not-supported",
    "auth/authorization-server-migration",
    "auth/iss-supported",
    "auth/iss-not-advertised",
    "auth/iss-supported-missing",
    "auth/iss-wrong-issuer",
    "auth/iss-unexpected",
    "auth/iss-normalized",
    "auth/metadata-issuer-mismatch",
    "auth/client-credentials-jwt",
    "auth/client-credentials-basic",
    "auth/enterprise-managed-authorization",
    "auth/dpop",
    "auth/dpop-nonce",
    "auth/wif-jwt-bearer",
    "sep-2322-client-request-state",
    "http-standard-headers",
    "http-custom-headers",
    "http-invalid-tool-headers",
    "json-schema-ref-no-deref",
    "json-schema-2020-12-preservation",
    "sep-2640-client-no-prefetch",
    "sep-2640-client-verify-digest",
    "sep-2640-client-verify-size",
    "sep-2640-client-verify-frontmatter",
)

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(2 * SCENARIO_S)]


def suite(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*program(SUITE), *words],
        cwd=folder,
        env=os.environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SCENARIO_S,
        check=False,
    )


def test_all_scenarios_are_run(tmp_path: Path) -> None:
    listed = suite("list", "--client", folder=tmp_path).stdout.splitlines()
    assert tuple(line.split()[1] for line in listed if line.startswith("  - ")) == SCENARIOS


def _marked(name: str) -> ParameterSet:
    why = LACKING.get(name)
    return pytest.param(name, marks=pytest.mark.xfail(strict=True, reason=why) if why else ())


@pytest.mark.parametrize("scenario", [_marked(name) for name in SCENARIOS])
def test_our_client_conforms(tmp_path: Path, scenario: str) -> None:
    command = f"{sys.executable} {CLIENT}"
    done = suite("client", "--command", command, "--scenario", scenario, folder=tmp_path)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
