"""`python -m bench NAME`: runs one benchmark and prints its figures."""

import argparse
import json
import sys
from pathlib import Path

from bench import (
    agent,
    clients,
    coding,
    crowd,
    desktop_hands,
    ears,
    hands,
    size,
    tools,
    trust,
    voice,
)
from bench.support import chart

CHART = Path(".house/bench/voice.svg")
"""Where the picture goes unless told otherwise: beside what the scripts build."""


def main() -> int:
    arguments = _parser().parse_args()
    match arguments.name:
        case "agent":
            costs = agent.measure(max(20, arguments.cells))
            print(json.dumps(costs) if arguments.json else agent.table(costs))
        case "trust":
            harm = trust.measure(
                max(20, arguments.cuts),
                max(10, arguments.idle),
                max(100, arguments.soak),
                max(1, arguments.kills),
            )
            print(json.dumps(harm) if arguments.json else trust.table(harm))
        case "clients":
            took = clients.measure(max(20, arguments.presses), min(10, max(3, arguments.answers)))
            print(json.dumps(took) if arguments.json else clients.table(took))
        case "ears":
            heard = ears.measure(arguments.model, arguments.most)
            print(json.dumps(heard) if arguments.json else ears.table(heard))
        case "crowd":
            served = crowd.measure(arguments.most)
            print(json.dumps(served) if arguments.json else crowd.table(served))
        case "coding" | "tools" | "size" | "hands":
            plain = {"coding": coding, "tools": tools, "size": size, "hands": hands}[arguments.name]
            found = plain.measure(*([arguments.miniwob] if plain is hands else []))
            if plain is hands:
                found = {**found, **desktop_hands.measure()}
            print(json.dumps(found) if arguments.json else plain.table(found))
        case _:
            figures = voice.measure(
                max(10, arguments.turns), arguments.model, peers=arguments.peers
            )
            chart.write(figures, arguments.chart)
            print(f"The chart lies in {arguments.chart}.", file=sys.stderr)
            print(json.dumps(figures) if arguments.json else voice.table(figures))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    names = parser.add_subparsers(dest="name", required=True)
    talk = names.add_parser("voice", help="from the end of a question to the answer's first sound")
    talk.add_argument("--turns", type=int, default=12, help="questions to ask (at least 10)")
    talk.add_argument("--chart", type=Path, default=CHART, help=f"an SVG file (default {CHART})")
    talk.add_argument("--peers", action="store_true", help="beside Home Assistant's voice stack")
    hear = names.add_parser("ears", help="word errors, loops and inventions beside plain Whisper")
    hear.add_argument("--most", type=int, help="only so many recordings, for a quick look")
    work = names.add_parser("agent", help="what running code and the loop around it cost")
    work.add_argument("--cells", type=int, default=200, help="cells of each kind (at least 20)")
    hurt = names.add_parser("trust", help="lines that break, crowds, and clients that mean harm")
    hurt.add_argument("--cuts", type=int, default=10_000, help="how often the line breaks")
    hurt.add_argument("--idle", type=int, default=1_000, help="how many only listen")
    hurt.add_argument("--soak", type=int, default=5_000, help="turns with all that goes wrong")
    hurt.add_argument("--kills", type=int, default=100, help="of each of four processes")
    ways = names.add_parser("clients", help="what every way in keeps a person waiting")
    ways.add_argument("--presses", type=int, default=30, help="of the key (at least 20)")
    ways.add_argument("--answers", type=int, default=5, help="over bad lines (3 to 10)")
    edits = names.add_parser("coding", help="what a model's hands on code cost")
    browse = names.add_parser("hands", help="Sayso's own browser, and hands at a screen")
    browse.add_argument("--miniwob", type=Path, help="the folder html of the package miniwob")
    others = names.add_parser("tools", help="calls of MCP servers, and of the home")
    people = names.add_parser("crowd", help="how many people can talk at once, and two recognisers")
    people.add_argument("--most", type=int, default=256, help="so many people, and no more")
    weigh = names.add_parser("size", help="disk and memory that an installation takes")
    for bench in (talk, hear):
        bench.add_argument("--model", type=Path, help="another Whisper model's folder")
    for bench in (talk, hear, work, hurt, ways, edits, browse, others, people, weigh):
        bench.add_argument("--json", action="store_true", help="figures as one JSON object")
    return parser


if __name__ == "__main__":
    sys.exit(main())
