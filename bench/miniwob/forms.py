"""Solves tasks of forms: fields, lists, sliders, calendars."""

import asyncio
import calendar
import re
from typing import Final

from bench.miniwob.things import Hands, one, quoted, ref, things


async def enter_text(browser: Hands, wanted: str) -> None:
    await browser("fill", target=ref(await browser("read"), "textbox"), text=quoted(wanted)[0])
    await browser("click", target="Submit")


async def enter_case(browser: Hands, wanted: str) -> None:
    text = quoted(wanted)[0]
    text = text.upper() if "upper case" in wanted else text.lower()
    await browser("fill", target=ref(await browser("read"), "textbox"), text=text)
    await browser("click", target="Submit")


async def choose(browser: Hands, wanted: str) -> None:
    name = re.findall(r"Select (.*) from the list", wanted)[0]
    await browser("select", target=ref(await browser("read"), "combobox"), text=name)
    await browser("click", target="Submit")


async def date(browser: Hands, wanted: str) -> None:
    month, day, year = re.findall(r"(\d+)/(\d+)/(\d+)", wanted)[0]
    field = ref(await browser("read"), "textbox")
    await browser("fill", target=field, text=f"{year}-{int(month):02}-{int(day):02}")
    await browser("click", target="Submit")


async def time(browser: Hands, wanted: str) -> None:
    hour, minute, half = re.findall(r"(\d+):(\d+) ?([AP]M)", wanted)[0]
    hours = int(hour) % 12 + (12 if half == "PM" else 0)
    field = ref(await browser("read"), "textbox")
    await browser("fill", target=field, text=f"{hours:02}:{minute}")
    await browser("click", target="Submit")


async def choose_several(browser: Hands, wanted: str) -> None:
    names = re.findall(r"Select (.*) from the scroll list", wanted)[0]
    await browser("select", target=one(await browser("read"), role="listbox"), text=names)
    await browser("click", target="Submit")


async def _slide(browser: Hands, number: int, value: int) -> None:
    """Have a slider show this: a press moves it, and keys do so by one."""
    for _ in range(6):
        told = await browser("read")
        at = int(re.findall(r"(?m)^(-?\d+)$", told)[number])
        if at == value:
            return
        await browser("click", target=[x.ref for x in things(told) if "slider" in x.hint][number])
        at = int(re.findall(r"(?m)^(-?\d+)$", await browser("read"))[number])
        key = "ArrowRight" if value > at else "ArrowLeft"
        if steps := min(abs(value - at), 100):
            await browser("press", text=" ".join([key] * steps))


async def slider(browser: Hands, wanted: str) -> None:
    await _slide(browser, 0, int(re.findall(r"Select (-?\d+) with", wanted)[0]))
    await browser("click", target="Submit")


async def sliders(browser: Hands, wanted: str) -> None:
    for number, value in enumerate(re.findall(r"-?\d+", wanted.split("[")[1])):
        await _slide(browser, number, int(value))
    await browser("click", target="Submit")


async def form_one(browser: Hands, wanted: str) -> None:
    (nth,) = re.findall(r"the (\d)\w\w checkbox", wanted)
    await _slide(browser, 0, int(re.findall(r"Select (-?\d+) with", wanted)[0]))
    await browser("click", target=ref(await browser("read"), "checkbox", int(nth) - 1))
    await browser("click", target="Submit")


async def form_two(browser: Hands, wanted: str) -> None:
    radio, field = re.findall(r"the (\d)\w\w", wanted)
    told = await browser("read")
    await browser("click", target=ref(told, "radio", int(radio) - 1))
    where = ref(told, "textbox", int(field) - 1)
    await browser("fill", target=where, text=quoted(wanted)[0])
    await browser("click", target="Submit")


async def form_three(browser: Hands, wanted: str) -> None:
    (choice,) = re.findall(r"Choose (.*) from the dropdown", wanted)
    told = await browser("read")
    await browser("click", target=next(each.ref for each in things(told) if each.name == "▾"))
    told = await browser("read")
    (option,) = [each.ref for each in things(told) if each.name == choice][-1:]
    await browser("click", target=option)
    await browser("click", target=quoted(wanted)[0])


async def search_film(browser: Hands, wanted: str) -> None:
    found = re.findall(r"for (.*) movies directed by (.*) from year (\d+)", wanted)[0]
    told = await browser("read")
    form = told.split(" from year ")[-1]
    values = dict(zip(("Genre", "Director", r"(?:Year|Date)"), found, strict=True))
    labelled = sorted(values, key=lambda part: re.search(part, form).start())  # type: ignore[union-attr]
    fields = [each.ref for each in things(told) if each.role == "textbox"]
    for part, field in zip(labelled, fields, strict=True):
        await browser("fill", target=field, text=values[part])
    await browser("click", target=[each.ref for each in things(told) if each.name][-1])


async def autocomplete(browser: Hands, wanted: str) -> None:
    start, *end = quoted(wanted)
    told = await browser("read")
    await browser("fill", target="Tags:", text=start)
    await asyncio.sleep(0.6)
    told = await browser("read")
    options = told.split("Submit")[1].split("Last reward")[0].splitlines()
    fitting = [each for each in options if each.startswith(start) and each.endswith("".join(end))]
    await browser("click", target=fitting[0])
    await browser("click", target="Submit")


async def spinner(browser: Hands, wanted: str) -> None:
    (value,) = re.findall(r"Select (-?\d+) with", wanted)
    told = await browser("read")
    role = "spinbutton" if "spinbutton" in told else "textbox"
    await browser("fill", target=ref(told, role), text=value)
    await browser("click", target="Submit")


_MONTHS: Final = list(calendar.month_name)[1:]


async def _pick_day(browser: Hands, month: int, day: int, year: int) -> None:
    """In a calendar that is open."""
    for _ in range(30):
        told = await browser("read")
        shown = re.findall(rf"({'|'.join(_MONTHS)})\s+(\d{{4}})", told)[-1]
        now = int(shown[1]) * 12 + _MONTHS.index(shown[0]) + 1
        if now == year * 12 + month:
            break
        await browser("click", target="Prev" if now > year * 12 + month else "Next")
        await asyncio.sleep(0.05)
    days = [each.ref for each in things(told) if each.role == "link" and each.name == str(day)]
    await browser("click", target=days[-1])


async def choose_date(browser: Hands, wanted: str) -> None:
    month, day, year = map(int, re.findall(r"(\d+)/(\d+)/(\d+)", wanted)[0])
    await browser("click", target=ref(await browser("read"), "textbox"))
    await asyncio.sleep(0.3)
    await _pick_day(browser, month, day, year)
    await browser("click", target="Submit")


async def flight(browser: Hands, wanted: str) -> None:
    kind = re.findall(r"Book the (\w+)", wanted)[0]
    start, end = re.findall(r"from: (.*) to: (.*) on", wanted)[0]
    month, day, year = map(int, re.findall(r"(\d+)/(\d+)/(\d+)", wanted)[0])
    for field, place in (("From:", start), ("To:", end)):
        await browser("fill", target=field, text=place)
        await asyncio.sleep(0.6)
        told = await browser("read")
        options = [
            each.ref
            for each in things(told)
            if place.lower() in each.name.lower() and each.role != "textbox"
        ]
        await browser("click", target=options[0])
    told = await browser("read")
    await browser("click", target=one(told, hint="datepicker"))
    await asyncio.sleep(0.3)
    await _pick_day(browser, month, day, year)
    await browser("click", target="Search")
    await _ticket_of_flights(browser, kind)


async def _ticket_of_flights(browser: Hands, kind: str) -> None:
    offers = []
    for _ in range(30):
        told = await browser("read")
        for part in re.split(r"Depart(?:s|:)", told)[1:]:
            button = next((each for each in things(part) if "Book" in each.name), None)
            length = re.findall(r"(\d+)h (\d+)m", part)
            if button and length:
                price = int(re.sub(r"\D", "", button.name))
                minutes = int(length[0][0]) * 60 + int(length[0][1])
                offers.append((price, minutes, button.ref))
        if "there is more below" not in told:
            break
        await browser("scroll", target="down")
    await browser("click", target=min(offers, key=lambda each: each[kind != "cheapest"])[2])
