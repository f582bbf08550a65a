"""Solves tasks in which the right things are pressed."""

import asyncio
import re
from typing import Final

from bench.miniwob.things import Hands, Thing, quoted, ref, things


async def click_quoted(browser: Hands, wanted: str) -> None:
    for words in quoted(wanted):
        same = re.findall(rf'\[([a-z]+\d+) \w+ "{re.escape(words)}"', await browser("read"))
        await browser("click", target=same[0] if same else words)


async def click_one(browser: Hands, _: str) -> None:
    await browser("click", target="ONE")


async def first_button(browser: Hands, _: str) -> None:
    await browser("click", target=ref(await browser("read"), "button"))


async def first_field(browser: Hands, _: str) -> None:
    await browser("click", target=ref(await browser("read"), "textbox"))


async def close_dialog(browser: Hands, wanted: str) -> None:
    words = quoted(wanted)[0] if "labeled" in wanted else "x"
    await browser("click", target="Close" if words == "x" else words)


async def nth_field(browser: Hands, wanted: str) -> None:
    number = int(re.findall(r"(\d+)(?:st|nd|rd|th)", wanted)[0])
    await browser("click", target=ref(await browser("read"), "textbox", number - 1))


def _named(wanted: str) -> list[str]:
    names = re.sub(r"^Select | and click Submit.*$|\.$", "", wanted)
    return [] if names == "nothing" else [each.strip() for each in names.split(",") if each.strip()]


async def check(browser: Hands, wanted: str) -> None:
    for name in _named(wanted):
        await browser("click", target=name)
    await browser("click", target="Submit")


async def one_two(browser: Hands, _: str) -> None:
    await browser("click", target="ONE")
    await browser("click", target="TWO")


async def tab(browser: Hands, wanted: str) -> None:
    (number,) = re.findall(r"#(\d+)", wanted)
    await browser("click", target=f"Tab #{number}")


async def section(browser: Hands, _: str) -> None:
    await browser("click", target=re.findall(r"Section #\d+", await browser("read"))[0])
    await browser("click", target="Submit")


async def tab_with_link(browser: Hands, wanted: str) -> None:
    (words,) = quoted(wanted)
    told = await browser("read")
    tabs = [each.ref for each in things(told) if re.fullmatch(r"(Tab #)?\d", each.name)]
    for tab in ["", *tabs]:
        if tab:
            await browser("click", target=tab)
        if found := _plain_links(await browser("read"), words):
            await browser("click", target=found[0])
            return


async def section_with_link(browser: Hands, wanted: str) -> None:
    (words,) = quoted(wanted)
    for number in (1, 2, 3):
        await browser("click", target=f"Section #{number}")
        await asyncio.sleep(0.5)  # it unfolds
        told = await browser("read")
        if found := _plain_links(told, words):
            await browser("click", target=found[0])
            return


def _plain_links(told: str, words: str) -> list[str]:
    return [
        each.ref
        for each in things(told)
        if each.name == words and each.role in ("clickable", "link")
    ]


async def delay(browser: Hands, wanted: str) -> None:
    (seconds,) = re.findall(r"wait (\d+) seconds", wanted)
    await browser("click", target="ONE")
    await asyncio.sleep(int(seconds))
    await browser("click", target="TWO")


async def widget(browser: Hands, wanted: str) -> None:
    (kind,) = quoted(wanted)
    for each in things(await browser("read")):
        several = "several lines" in each.rest
        if each.role == kind or (
            each.role == "textbox" and kind == ("textarea" if several else "text")
        ):
            await browser("click", target=each.ref)
            return


async def greatest(browser: Hands, _: str) -> None:
    cards = [each for each in things(await browser("read")) if each.name.isdigit()]
    await browser("click", target=max(cards, key=lambda card: int(card.name)).ref)
    await browser("click", target="Submit")


async def tree(browser: Hands, wanted: str) -> None:
    (name,) = quoted(wanted)
    opened: set[str] = set()
    for _ in range(30):
        told = await browser("read")
        if found := [each.ref for each in things(told) if each.name == name]:
            await browser("click", target=found[-1])
            return
        closed = [
            each
            for each in things(told)
            if each.role == "clickable" and each.name and each.ref not in opened
        ]
        opened.add(closed[0].ref)
        await browser("click", target=closed[0].ref)
        await asyncio.sleep(0.3)


async def odd_or_even(browser: Hands, _: str) -> None:
    told = await browser("read")
    odd = [each.ref for each in things(told) if each.name == "Odd"]
    even = [each.ref for each in things(told) if each.name == "Even"]
    numbers = [int(each) for each in re.findall(r"(?m)^(-?\d+)$", told)]
    for at, number in enumerate(numbers):
        await browser("click", target=(odd if number % 2 else even)[at])
    await browser("click", target="Submit")


def _posts(told: str) -> list[tuple[str, list[Thing]]]:
    """Who wrote each, and what can be pressed there."""
    parts = re.split(r"(@\w+)", told)
    return [(who, things(rest)) for who, rest in zip(parts[1::2], parts[2::2], strict=True)]


_SOCIAL: Final = {"Reply": "reply", "Retweet": "retweet", "Like": "like", "Share": "share"}


async def social(browser: Hands, wanted: str) -> None:
    who = re.findall(r"@\w+", wanted)[0]
    what = quoted(wanted)[0]
    told = await browser("read")
    if what in _SOCIAL:
        (own,) = [parts for name, parts in _posts(told.split(wanted[-20:])[-1]) if name == who]
        await browser("click", target=_thing(own, _SOCIAL[what]))
        return
    (own,) = [parts for name, parts in _posts(told.split(wanted[-20:])[-1]) if name == who]
    await browser("click", target=_thing(own, "more"))
    told = await browser("read")
    found = [
        each.ref
        for each in things(told)
        if each.name.lower().startswith(what.lower().split(" @")[0]) and each.name
    ]
    await browser("click", target=found[-1])


def _thing(parts: list[Thing], hint: str) -> str:
    return next(each.ref for each in parts if hint in each.hint.split())


async def social_several(browser: Hands, wanted: str) -> None:
    who = re.findall(r"@\w+", wanted)[0]
    what = _SOCIAL[quoted(wanted)[0]]
    count = re.findall(r"on (\d+) post", wanted)
    told = (await browser("read")).split("click Submit.")[-1]
    own = [_thing(parts, what) for name, parts in _posts(told) if name == who]
    for icon in own[: int(count[0]) if count else None]:
        await browser("click", target=icon)
    await browser("click", target="Submit")


async def stock(browser: Hands, wanted: str) -> None:
    bound = float(re.findall(r"less than \$([\d.]+\d)", wanted)[0])
    for _ in range(300):
        told = await browser("read")
        price = re.findall(r"Stock price:\s*\$([\d.]+)", told)
        if price and float(price[0]) < bound - 0.5:
            break
        await asyncio.sleep(0.02)
    await browser("click", target="Buy")


async def ascending(browser: Hands, _: str) -> None:
    told = await browser("read")
    await browser("click", target=next(each.ref for each in things(told) if each.name == "1"))
    for _number in range(4):
        left = [each.ref for each in things(await browser("read")) if "rect" in each.hint]
        await browser("click", target=left[0])


async def menu(browser: Hands, wanted: str) -> None:
    *above, last = wanted.removeprefix("Select ").split(">")
    for words in above:
        await browser("click", target=words)
        await asyncio.sleep(0.5)
    await browser("click", target=last)


async def generate(browser: Hands, wanted: str) -> None:
    bound = re.findall(r"than (\d+)", wanted)
    for _ in range(40):
        await browser("click", target="Generate")
        number = int(re.findall(r"(?m)^(\d+)$", await browser("read"))[0])
        fits = (
            number < int(bound[0])
            if "less" in wanted
            else number > int(bound[0])
            if "greater" in wanted
            else number % 2 == ("odd" in wanted)
        )
        if fits:
            break
    await browser("click", target="Submit")
