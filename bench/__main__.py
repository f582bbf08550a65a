"""`python -m bench NAME`: runs one benchmark and prints its figures."""

import argparse
import json
import sys
from pathlib import Path

from bench import agent, voice


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    names = parser.add_subparsers(dest="name", required=True)
    talk = names.add_parser("voice", help="from the end of a question to the answer's first sound")
    talk.add_argument("--json", action="store_true", help="figures as one JSON object")
    talk.add_argument("--turns", type=int, default=12, help="questions to ask (at least 10)")
    talk.add_argument("--model", type=Path, help="another Whisper model's folder")
    work = names.add_parser("agent", help="what running code and the loop around it cost")
    work.add_argument("--json", action="store_true", help="figures as one JSON object")
    work.add_argument("--cells", type=int, default=200, help="cells of each kind (at least 20)")
    arguments = parser.parse_args()
    if arguments.name == "agent":
        costs = agent.measure(max(20, arguments.cells))
        print(json.dumps(costs) if arguments.json else agent.table(costs))
        return 0
    figures = voice.measure(max(10, arguments.turns), arguments.model)
    print(json.dumps(figures) if arguments.json else voice.table(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
