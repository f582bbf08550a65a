"""The one way to the network, from inside each sandbox: closed until it is granted."""

import asyncio
import json
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.grants import Grants
from sayso.server.runtimes.kernels.environment import KernelEnvironment
from sayso.server.runtimes.network.addresses import PublicAddresses, Unreachable, is_public
from sayso.server.runtimes.network.http_head import BadRequest, read
from sayso.server.runtimes.network.routes import Way
from sayso.server.runtimes.sandbox.sandbox import Sandbox
from sayso.server.runtimes.sandbox.self_test.proof import SandboxReport
from tests.machine import has, lacking
from tests.runtimes.network import own_network
from tests.runtimes.network.web_double import Web, package, web
from tests.runtimes.sandboxes import told

FETCH = """
import urllib.request, urllib.error
def fetch(url):
    try:
        return urllib.request.urlopen(url, timeout=10).read().decode()
    except OSError as refusal:
        return getattr(refusal, 'reason', None) or refusal
"""


@pytest.fixture
async def outside() -> AsyncIterator[Web]:
    async with web() as made:
        yield made


@pytest.fixture
async def online(
    sandbox: Sandbox, environment: KernelEnvironment, workspace: Path, outside: Web
) -> AsyncIterator[CodeRunner]:
    """A workshop, in each sandbox, for which a small web is the public network."""
    report = SandboxReport(True, sandbox.kind, sandbox=sandbox)
    made = CodeRunner(workspace, environment, report, whereabouts=outside)
    yield made
    await made.close()


@pytest.mark.slow
async def test_nothing_passes_before_a_grant_and_then_its_host_alone(
    online: CodeRunner, outside: Web
) -> None:
    here, there = (f"http://{name}:{outside.port}/" for name in sorted(outside.known))
    assert "is not granted" in (await told(online, f"{FETCH}print(fetch({here!r}))")).stdout
    assert not outside.looked_up
    await online.set_reach(Grants(hosts=("files.example.org",)))
    assert (await told(online, f"{FETCH}print(fetch({here!r}))")).stdout == "hello from outside\n"
    assert "is not granted" in (await told(online, f"print(fetch({there!r}))")).stdout
    await online.set_reach(Grants(network=True))
    assert (await told(online, f"{FETCH}print(fetch({there!r}))")).stdout == "hello from outside\n"
    await online.set_reach(Grants())
    assert "is not granted" in (await told(online, f"print(fetch({here!r}))")).stdout
    assert [passage.verdict for passage in online.take_passages()] == [
        "refused", "passed", "refused", "passed", "refused",
    ]  # fmt: skip
    assert online.take_passages() == ()


LEFT_RUNNING = """
import asyncio, subprocess, sys, threading, urllib.request
def ask(who):
    try:
        urllib.request.urlopen(URL + who, timeout=10).read()
    except OSError:
        pass
def go_on(who):
    while True:
        ask(who)
        event.wait(0.01)
async def stay():
    while True:
        ask('task')
        await asyncio.sleep(0.01)
event = threading.Event()
threading.Thread(target=go_on, args=('thread',), daemon=True).start()
staying = asyncio.get_event_loop().create_task(stay())
code = 'import urllib.request, time\\nwhile True:\\n  try: urllib.request.urlopen(%r)\\n'
code += '  except OSError: time.sleep(0.01)'
subprocess.Popen([sys.executable, '-c', code % (URL + 'process')], start_new_session=True)
"""


@pytest.mark.slow
async def test_what_a_run_left_running_reaches_no_host_that_was_granted_later(
    online: CodeRunner, outside: Web
) -> None:
    url = f"http://files.example.org:{outside.port}/"
    left = await told(online, f"URL = {url!r}\n{LEFT_RUNNING}")
    assert left.ending.status == "ok", left
    shell = f"while true; do curl -s {url}shell; sleep 0.01; done >/dev/null 2>&1 &"
    await told(online, shell, "bash")
    assert await online.set_reach(Grants(hosts=("files.example.org",)))
    for _ in range(3):
        again = f"{FETCH}print({{fetch({url!r}) for _ in range(20)}})"
        assert (await told(online, again)).stdout == "{'hello from outside'}\n"
        await told(online, "sleep 0.1", "bash")
    assert {head.split(" ")[1] for head in outside.heads} == {"/"}


@dataclass
class Granted:
    """What a person grants at the moment."""

    reach: Grants

    async def hindrance(self, host: str) -> str:
        return ""


async def test_what_is_taken_back_ends_what_is_open_while_nothing_runs(
    online: CodeRunner, outside: Web
) -> None:
    granted = Granted(Grants(hosts=("files.example.org",)))
    online.heed(granted)
    await online.set_reach(granted.reach)
    code = f"""
import socket
line = socket.create_connection(('127.0.0.1', 3128))
line.sendall(b'CONNECT files.example.org:{outside.port} HTTP/1.1\\r\\n\\r\\n')
print(line.recv(100))
"""
    assert "200" in (await told(online, code)).stdout
    granted.reach = Grants()
    code = """
line.settimeout(15)
try:
    line.sendall(b'GET /late HTTP/1.1\\r\\n\\r\\n')
    print(line.recv(100))
except ConnectionError:
    print(b'')
"""
    assert (await told(online, code)).stdout == "b''\n"
    assert not outside.heads


async def test_programs_find_the_way_too_and_tunnels_carry_what_they_like(
    online: CodeRunner, outside: Web
) -> None:
    await online.set_reach(Grants(network=True))
    code = f"""
import http.client
tunnel = http.client.HTTPConnection('127.0.0.1', 3128)
tunnel.set_tunnel('files.example.org', {outside.port})
tunnel.request('GET', '/')
print(tunnel.getresponse().read().decode())
"""
    assert (await told(online, code)).stdout == "hello from outside\n"
    if has("curl"):
        fetch = f"curl -sS http://files.example.org:{outside.port}/"
        assert (await told(online, fetch, "bash")).stdout == "hello from outside"
    many = f"""{FETCH}
import concurrent.futures
urls = ['http://files.example.org:{outside.port}/'] * 20
with concurrent.futures.ThreadPoolExecutor(8) as pool:
    print(set(pool.map(fetch, urls)))
"""
    assert (await told(online, many)).stdout == "{'hello from outside'}\n"


async def test_pip_installs_for_this_conversation_alone(
    online: CodeRunner, outside: Web, environment: KernelEnvironment
) -> None:
    name, content = package("sayso_probe")
    outside.pages["/simple/sayso-probe/"] = f'<a href="/{name}">{name}</a>'.encode()
    outside.pages[f"/{name}"] = content
    await online.set_reach(Grants(hosts=("files.example.org",)))
    index = f"http://files.example.org:{outside.port}/simple"
    install = f"%pip install -q --index-url {index} --trusted-host files.example.org sayso-probe"
    run = await told(online, install)
    assert run.ending.status == "ok", run
    used = await told(online, "import sayso_probe; print(sayso_probe.greeting)")
    assert used.stdout == "installed\n", (run, used)
    assert not list(environment.folder.rglob("sayso_probe*"))


async def test_no_other_way_out_opens_with_a_grant(online: CodeRunner, outside: Web) -> None:
    await online.set_reach(Grants(network=True))
    code = f"""
import socket, struct
def attempt(name, action):
    try:
        done = action()
    except OSError:
        return
    if done is not False:
        print('DONE', name, done)
def tcp():
    return socket.socket(socket.AF_INET, socket.SOCK_STREAM)
def away(one, address):
    one.settimeout(2)
    one.connect(address)
attempt('direct', lambda: away(tcp(), ('127.0.0.1', {outside.port})))
attempt('any address', lambda: away(tcp(), ('0.0.0.0', {outside.port})))
attempt('udp', lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(
    b'x', ('192.0.2.1', 53)))
attempt('fast open', lambda: tcp().sendto(b'GET / HTTP/1.0\\r\\n\\r\\n', 0x20000000,
    ('127.0.0.1', {outside.port})))
attempt('names', lambda: socket.getaddrinfo('files.example.org', 80))
def again():
    one = tcp()
    one.connect(('127.0.0.1', 3128))
    one.connect(('127.0.0.1', {outside.port}))
attempt('connect twice', again)
"""
    assert (await told(online, code)).stdout == ""
    assert not outside.heads


async def test_code_does_not_listen_where_the_host_can_hear(
    online: CodeRunner, sandbox: Sandbox
) -> None:
    code = """
import socket
one = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
try:
    one.listen()
    print(one.getsockname()[1])
except OSError:
    print(0)
"""
    port = int((await told(online, code)).stdout)
    if port:
        assert sandbox.kind == "bubblewrap"  # whose loopback is its own
        assert not listened_on(port)


def listened_on(port: int) -> bool:
    """Whether anything on this machine listens there."""
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    return any(
        line.split()[1].endswith(f":{port:04X}") and line.split()[3] == "0A" for line in lines
    )


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.0",
        "100.64.0.1", "224.0.0.1", "239.1.1.1", "255.255.255.255", "::1", "::", "fe80::1%eth0",
        "fc00::1", "fd12::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1",
        "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "2001:0:4136:e378::1", "x",
        "64:ff9b:1::808:808", "64:ff9b:1:ffff::1", "64:ff9b::6440:1", "::ffff:8.8.8.8", "::8.8.8.8",
        "0.1.2.3", "100.100.100.200", "100.127.255.255", "168.63.129.16", "192.0.0.192",
        "192.0.2.1", "192.88.99.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "240.0.0.1",
        "2001:db8::1", "2001:2::1", "2001:20::1", "2002:808:808::1", "3fff::1", "5f00::1",
        "100::1", "fec0::1", "ff0e::1", "fd7a:115c:a1e0::1", "2606:2800:21f::1%eth0", "", "8.8.8",
    ],
)  # fmt: skip
def test_addresses_that_are_never_led_to(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["93.184.215.14", "2606:2800:21f::1", "64:ff9b::5db8:d70e"])
def test_public_addresses(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize("host", ["localhost", "LocalHost.", "db.localhost", "127.0.0.1", "::1"])
async def test_names_of_this_machine_are_never_found(host: str) -> None:
    with pytest.raises(Unreachable):
        await PublicAddresses().find(host, 80)


AWAY = ("8.8.8.8", "2a00::1", "2606:2800:21f:177::1", "64:ff9b::808:808")
OUR_OWN = ("93.184.215.14", "2606:2800:21f:1::14")
NEIGHBOURS = ("93.184.215.99", "93.184.215.255", "2606:2800:21f:1::99", "2606:2800:21f:77::9")


async def test_public_addresses_of_this_machine_and_its_neighbours_are_never_led_to() -> None:
    addresses = (*AWAY, *OUR_OWN, *NEIGHBOURS, "64:ff9b::5db8:d763")
    room = (sys.executable, "-m", own_network.__name__, *addresses)
    async with asyncio.timeout(30):
        run = await asyncio.create_subprocess_exec(*room, stdout=PIPE, stderr=PIPE)
        printed, trouble = await run.communicate()
    if run.returncode == own_network.NO_NETWORK_HERE:
        lacking("no network namespace with interfaces of its own can be made here")
    assert run.returncode == 0, trouble.decode()
    found = json.loads(printed)
    near = {address for address, way in found["ways"].items() if way == "near"}
    assert near == {*OUR_OWN, *NEIGHBOURS}
    assert {address for address, outside in found["outside"].items() if outside} == {*AWAY}
    assert found["said"].keys() == near
    assert all("in a private network" in said for said in found["said"].values()), found["said"]


@dataclass
class Paths:
    """Routes as a test says, for the kernel's."""

    near: set[str]
    told: bool = True

    def way_to(self, address: str) -> Way:
        if not self.told:
            raise OSError("nothing is told")
        return "near" if address in self.near else "away"


async def test_a_name_with_one_address_that_is_near_is_not_led_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def found(*_: object, **__: object) -> list[tuple[object, ...]]:
        return [(0, 0, 0, "", (address, 80)) for address in ("93.184.215.14", "8.8.8.8")]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", found)
    assert len(await PublicAddresses(Paths(set())).find("mixed.example.org", 80)) == 2
    with pytest.raises(Unreachable):
        await PublicAddresses(Paths({"8.8.8.8"})).find("mixed.example.org", 80)


def test_where_the_routes_are_not_told_nothing_is_led_to() -> None:
    assert PublicAddresses(Paths(set())).is_outside("8.8.8.8")
    assert not PublicAddresses(Paths(set(), told=False)).is_outside("8.8.8.8")


@pytest.mark.parametrize(
    "head",
    [
        "nonsense", "GET / HTTP/1.1", "GET ftp://a.org/ HTTP/1.1", "GET http:/// HTTP/1.1",
        "CONNECT a.org:port HTTP/1.1", "CONNECT user@a.org:443 HTTP/1.1", "CONNECT  HTTP/1.1",
        "GET http://a.org/ HTTP/2", "get http://a.org/ HTTP/1.1", "GET http://a.org/\tb HTTP/1.1 x",
        "GET http://a.org/ HTTP/1.1\r\nbad header : x",
        "GET http://a.org/ HTTP/1.1\r\nHost:a\nb: c",
    ],
)  # fmt: skip
def test_what_is_no_request_is_refused(head: str) -> None:
    with pytest.raises(BadRequest):
        read(f"{head}\r\n\r\n".encode())


def test_a_request_goes_on_to_the_host_that_was_judged_and_without_words_for_the_proxy() -> None:
    head = (
        "GET http://A.example.org:8080/x?y=1#z HTTP/1.1\r\nHost: other.example.net\r\n"
        "Proxy-Authorization: Basic x\r\nAccept: */*\r\n\r\n"
    )
    asked = read(head.encode())
    assert (asked.way, asked.host, asked.port) == ("forward", "a.example.org", 8080)
    assert asked.head == (
        b"GET /x?y=1 HTTP/1.1\r\nHost: A.example.org:8080\r\nAccept: */*\r\n"
        b"Connection: close\r\n\r\n"
    )


def test_a_star_grants_all_below_a_name_and_nothing_that_only_looks_so() -> None:
    reach = Grants(hosts=("*.example.org",))
    assert reach.lets_pass("a.b.example.org")
    assert reach.lets_pass("example.org")
    assert not reach.lets_pass("evilexample.org")
    assert not reach.lets_pass("example.org.evil.net")
    assert not Grants(hosts=("example.org",), look_only=True).lets_pass("example.org")
