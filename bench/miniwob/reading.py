"""Solves tasks in which something is read, and told or used."""

import re

from bench.miniwob.things import Hands, one, quoted, ref, things


async def ticket(browser: Hands, wanted: str) -> None:
    offers = []
    for part in (await browser("read")).split("Duration:")[1:]:
        (button,) = [each for each in things(part) if "Book for" in each.name]
        hours, minutes = (re.findall(rf"(\d+){unit}", part) for unit in "hm")
        length = 60 * int(hours[0] if hours else 0) + int(minutes[0] if minutes else 0)
        offers.append((int(button.name.split("$")[1]), length, button.ref))
    best = max if "longest" in wanted or "most" in wanted else min
    _, _, chosen = best(offers, key=lambda offer: offer[0 if "cost" in wanted else 1])
    await browser("click", target=chosen)


async def copy(browser: Hands, wanted: str) -> None:
    fields = [each for each in things(await browser("read")) if each.role == "textbox"]
    full = [each for each in fields if "several lines" in each.rest]
    (goal,) = [each for each in fields if each not in full]
    nth = re.findall(r"the (\d)\w\w text area", wanted)
    source = full[int(nth[0]) - 1 if nth else 0]
    text = re.findall(r'= "([^"]*)"', await browser("read", part=source.ref))[0]
    await browser("fill", target=goal.ref, text=f"{text} ")  # as it stands there
    await browser("click", target="Submit")


async def mail(browser: Hands, wanted: str) -> None:
    who = re.findall(r"email by (\w+)", wanted)[0]
    told = await browser("find", text=who)
    await browser("click", target=who)
    told = await browser("read")
    if "reply" in wanted:
        await browser("click", target="Reply")
        told = await browser("read")
        await browser("fill", target=one(told, hint="reply-text"), text=quoted(wanted)[0])
        await browser("click", target=one(told, hint="send-reply"))
    elif "forward" in wanted:
        to = re.findall(r"to (\w+)\.", wanted)[0]
        await browser("click", target="Forward")
        told = await browser("read")
        await browser("fill", target=one(told, hint="forward-sender"), text=to)
        await browser("click", target=one(told, hint="send-forward"))
    else:
        icon = "trash" if "trash" in wanted or "delete" in wanted else "star"
        await browser("click", target=one(told, hint=icon))


async def nth_word(browser: Hands, wanted: str) -> None:
    (number,) = re.findall(r"(\d+)\w\w word", wanted)
    told = await browser("read")
    words = told.split('press "Submit".')[1].split("[")[0].split()
    word = re.sub(r"[^a-zA-Z]", "", words[int(number) - 1])
    await browser("fill", target=ref(told, "textbox"), text=word)
    await browser("click", target="Submit")


async def guess(browser: Hands, _: str) -> None:
    least, most = 0, 9
    while least <= most:
        number = (least + most) // 2
        field = ref(await browser("read"), "spinbutton")
        await browser("fill", target=field, text=str(number))
        await browser("click", target="Submit")
        told = await browser("read")
        if f"lower than {number}" in told:
            most = number - 1
        elif f"higher than {number}" in told:
            least = number + 1
        else:
            return


async def phone_book(browser: Hands, wanted: str) -> None:
    who, what = re.findall(r"Find (\w+) in .* their (\w+)", wanted)[0]
    for _ in range(6):
        told = await browser("read")
        page = told.split("Find ")[-1].split(".", 1)[1]
        if re.search(rf"\b{who}\b", page):
            break
        await browser("click", target=">")
    kinds = {"phone": r"^\d{3}-", "email": "@", "address": r"^\d+ [A-Z]"}
    links = [each for each in things(told) if re.search(kinds[what], each.name)]
    await browser("click", target=links[0].ref)


async def table(browser: Hands, wanted: str) -> None:
    (key,) = re.findall(r"the value of (.*) into", wanted)
    told = await browser("read")
    (value,) = re.findall(rf"(?m)^{re.escape(key)} \| (.*)$", told)
    await browser("fill", target=ref(told, "textbox"), text=value.strip(" |"))
    await browser("click", target="Submit")


async def table_twice(browser: Hands, _: str) -> None:
    told = await browser("read")
    rows = dict(re.findall(r"(?m)^([^|\[\n]+?) \| ([^|\n]+)$", told))
    fields = [each.ref for each in things(told) if each.role == "textbox"]
    labels = re.findall(r"(?m)^([^|\[\n]+?):\s\[", told)
    for field, label in zip(fields, labels, strict=False):
        await browser("fill", target=field, text=rows[label.strip(" :")].strip())
    await browser("click", target="Submit")


async def search_engine(browser: Hands, wanted: str) -> None:
    words = quoted(wanted)[0]
    nth = int(re.findall(r"the (\d+)\w\w search result", wanted)[0])
    told = await browser("read")
    await browser("fill", target=ref(told, "textbox"), text=words)
    await browser("click", target="Search")
    for _ in range((nth - 1) // 3):
        await browser("click", target=">")
    links = [
        each
        for each in things(await browser("read"))
        if each.role == "link" and each.name not in ("<", ">") and not each.name.isdigit()
    ]
    await browser("click", target=links[(nth - 1) % 3].ref)


async def agreement(browser: Hands, wanted: str) -> None:
    told = await browser("read")
    if "enter the name" in wanted:
        await browser("click", target=one(told, rest="several lines"))
        await browser("press", text="Control+End")
        name, last = quoted(wanted)
        told = await browser("read")
        field = next(
            each.ref
            for each in things(told)
            if each.role == "textbox" and "several" not in each.rest
        )
        await browser("fill", target=field, text=name)
        await browser("click", target=last)
        return
    await browser("click", target="Cancel")


async def terminal(browser: Hands, wanted: str) -> None:
    ending = re.findall(r"extension (\.[\w.]+)", wanted)
    told = await browser("read")
    await browser(
        "click", target=next(x.ref for x in things(told) if x.name.startswith("terminal"))
    )
    await browser("press", text="l s Enter")
    known = (await browser("read")).split("user$ ls")[-1].split("user$")[0].split()
    file = next(each for each in known if (each.endswith(ending[0]) if ending else "." not in each))
    await browser("press", text=" ".join(["r", "m", "space", *file, "Enter"]))


async def type_what_is_shown(browser: Hands, _: str) -> None:
    told = await browser("read")
    text = re.split(r"press Submit\.", told)[-1].split("[")[0]
    await browser("fill", target=ref(told, "textbox"), text="".join(text.split()))
    await browser("click", target="Submit")


async def last_word(browser: Hands, _: str) -> None:
    told = await browser("read")
    area = one(told, rest="several lines")
    (text,) = re.findall(r'= "([^"]*)"', await browser("read", part=area))
    field = next(each.ref for each in things(told) if each.role == "textbox" and each.ref != area)
    word = re.sub(r"[^a-zA-Z]", "", text.split()[-1])
    await browser("fill", target=field, text=word)
    await browser("click", target="Submit")


async def scroll_area(browser: Hands, wanted: str) -> None:
    area = one(await browser("read"), rest="several lines")
    await browser("click", target=area)
    await browser("press", text="Control+End" if "bottom" in wanted else "Control+Home")
    await browser("click", target="Submit")


async def arithmetic(browser: Hands, _: str) -> None:
    told = await browser("read")
    left, sign, right = re.findall(r"(\d+)\s*([-+x])\s*(\d+)\s*=", told)[0]
    value = {"+": int(left) + int(right), "-": int(left) - int(right), "x": int(left) * int(right)}
    await browser("fill", target=ref(told, "textbox"), text=str(value[sign]))
    await browser("click", target="Submit")


async def algebra(browser: Hands, _: str) -> None:
    told = await browser("read")
    left, sign, right, result = re.findall(r"(\w+)\s*([-+])\s*(\w+)\s*=\s*(-?\d+)", told)[0]
    known = int(right) if left == "x" else int(left)
    if sign == "+":
        value = int(result) - known
    else:
        value = int(result) + known if left == "x" else known - int(result)
    await browser("fill", target=ref(told, "textbox"), text=str(value))
    await browser("click", target="Submit")
