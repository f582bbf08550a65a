"""What is said in the pictures. It is a scene: the language model's answers are written here; what
hears, asks, runs code and draws is Sayso as it is installed."""

from datetime import date, timedelta

from tests.scripted_model import Reply, runs, says

BEFORE = "Is the garden dry?"
"""Typed before the scene, in another conversation: the first question of a server waits for its
libraries, and the pictures are of later ones."""

SPOKEN = "How much did it rain in May?"
"""Spoken into the terminal client's microphone, which is a file."""

TYPED = "Put the photos from May into a folder of their own."
"""Typed; what it makes the model ask is open in the pictures."""

_COUNTS = """\
import pandas as pd

rain = pd.read_csv("rain.csv", index_col="day", parse_dates=True)
may = rain.loc["2026-05", "mm"]
print(f"{may.sum():.0f} mm on {(may > 0).sum()} days, most on {may.idxmax():%d %B}")"""

_SORTS = """\
mkdir -p photos/2026-05
mv --no-clobber photos/IMG_202605*.jpg photos/2026-05/"""

ANSWERS: list[Reply] = [
    says("Yes."),
    runs(_COUNTS, "I'll add up the days in `rain.csv`."),
    says("It rained 74 millimetres in May, on 12 days. The wettest was the 14th."),
    runs(_SORTS, "They carry their date in their names.", language="bash"),
]
"""The language model's, in their order."""

_MAY_MM = {3: 4.2, 4: 1.1, 8: 6.0, 9: 9.3, 13: 7.5, 14: 18.4, 15: 5.2, 19: 2.4, 22: 3.3, 27: 8.1}
_MAY_MM |= {28: 6.9, 30: 1.6}


def rain() -> str:
    """The table that the scene is about."""
    first = date(2026, 5, 1)
    days = [first + timedelta(days=number) for number in range(31)]
    return "day,mm\n" + "".join(f"{day},{_MAY_MM.get(day.day, 0)}\n" for day in days)
