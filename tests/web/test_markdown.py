"""Answers in Markdown and results in HTML, as the page shows them."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.scripted_model import runs, says
from tests.web.browser import approve, ask, is_fine, is_paired, page
from tests.web.conftest import Site

pytestmark = [
    pytest.mark.slow,
    pytest.mark.thorough,
    pytest.mark.browser,
    pytest.mark.timeout(240),
]

ANSWER = r"""### What the roof needs

1. First, **look**:
   - the tiles
   - the gutter, ~~not~~ `now`
2. Then decide.

- [x] ladder
- [ ] rope &amp; hook

> It leaks when it rains.

| Part | Price |
|:--|--:|
| Tile | 4.20 |

---

It costs $5 and $10, and the slope is $\frac{a}{b}$:

$$\sum_{i=1}^{n} i = \frac{n(n+1)}{2}$$

See [the guide](https://leak.test/guide), ![a picture](https://leak.test/x.png) and <b>this</b>.

````text
```python
print(1)
```
````
"""

TABLE = """from IPython.display import HTML, display
cells = lambda n: "".join(f"<td>{n * m}.25</td>" for m in range(14))
rows = "".join(f"<tr><th>{n}</th>{cells(n)}</tr>" for n in range(3))
head = "".join(f"<th>column {m}</th>" for m in range(14))
table = "<table class='dataframe' border='1'><thead><tr><th></th>"
display(HTML(f"{table}{head}</tr></thead><tbody>{rows}</tbody></table>"))
"""


def test_an_answer_is_laid_out_as_it_was_meant_and_leads_nowhere(
    site: Site, question: Path
) -> None:
    site.model.add(says(ANSWER))
    with page(question) as opened:
        asked: list[str] = []
        opened.on("request", lambda request: asked.append(request.url))
        is_paired(opened, site.server, "--person", site.person)
        ask(opened, "what does the roof need")
        answer = opened.locator(".answer")
        expect(answer.locator("ol > li > ul > li")).to_have_count(2)
        expect(answer.get_by_role("heading", level=2)).to_have_text("What the roof needs")
        expect(answer.locator("li.task")).to_have_text(["☑ ladder", "☐ rope & hook"])
        expect(answer.locator("blockquote")).to_have_text("It leaks when it rains.")
        expect(answer.locator("td").last).to_have_css("text-align", "right")
        expect(answer.locator("hr")).to_have_count(1)
        expect(answer.locator("math")).to_have_count(2)
        expect(answer.locator("mfrac").first).to_be_visible()
        expect(answer).to_contain_text("It costs $5 and $10")
        expect(answer.locator("pre")).to_have_text("```python\nprint(1)\n```")
        expect(answer).to_contain_text("<b>this</b>")
        expect(answer.locator("img, [href], [src], b")).to_have_count(0)
        assert not [url for url in asked if "leak.test" in url]
        is_fine(opened, "markdown")


def test_a_table_of_the_code_has_the_pages_own_look_and_scrolls(site: Site, question: Path) -> None:
    site.model.add(runs(TABLE), says("There it is."))
    with page(question) as opened:
        is_paired(opened, site.server, "--person", site.person)
        ask(opened, "show the table")
        approve(opened)
        expect(opened.locator("iframe.result.own")).to_be_visible()
        inside = opened.frame_locator("iframe.result")
        opened.emulate_media(color_scheme="dark")
        expect(inside.locator("html")).to_have_css("background-color", "rgb(29, 29, 33)")
        expect(inside.locator("td").first).to_have_css("color", "rgb(236, 236, 240)")
        wide = inside.locator("body").evaluate("(body) => [body.scrollWidth, body.clientWidth]")
        assert wide[0] > wide[1]
        expect(opened.locator(".answer").last).to_have_text("There it is.")
        is_fine(opened, "table")
