"""What of other protocols a server answers that was not asked to."""

import os
import sys
from pathlib import Path

import pytest

from tests.kernels import lend_kernels
from tests.rig import Server
from tests.scripted_model import ScriptedModel

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

LISTENING = "0A"
"""How Linux calls the state of a socket that is listened on."""


def listening(session: int) -> set[int]:
    """The TCP ports that processes of this session listen on, and UDP ports that they have."""
    inodes = set()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if os.getsid(int(process.name)) != session:
                continue
            links = [str(one.readlink()) for one in (process / "fd").iterdir()]
        except (OSError, ProcessLookupError):
            continue
        inodes |= {link[8:-1] for link in links if link.startswith("socket:")}
    ports = set()
    for table in ("tcp", "tcp6", "udp", "udp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[9] in inodes and (table.startswith("udp") or fields[3] == LISTENING):
                ports.add(int(fields[1].rpartition(":")[2], 16))
    return ports


@pytest.mark.skipif(sys.platform != "linux", reason="it reads Linux' tables of sockets")
def test_a_server_that_was_not_asked_to_listens_on_its_one_port(tmp_path: Path) -> None:
    lend_kernels(tmp_path)
    with ScriptedModel() as model, Server(tmp_path, model) as server:
        assert listening(server.process.pid) == {server.port}
        for path in ("/v1/models", "/v1/realtime", "/mcp", "/xiaozhi/ota/x"):
            with pytest.raises(OSError, match="404"):
                server.get(path)
