"""`sayso models`: what is there, what more there is, and how to get it."""

import argparse
import asyncio
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from sayso.protocol.home import Home
from sayso.server.agent.llm.configured_model import for_talking
from sayso.server.models import FetchFailed, InstalledModels, Kind, Model, ModelError, ModelMissing
from sayso.server.models.machine import in_words, memory_bytes
from sayso.server.models.names import SUGGESTED, Wanted, best_fitting, understand
from sayso.server.settings import Settings
from sayso.server.settings.loading import Readings, read
from sayso.server.speech.engines.installed import Selected, for_speech

MISUSED = 2

KINDS: Mapping[Kind, str] = {"ears": "ears", "voice": "voice", "language_model": "language model"}
"""Kinds of models in words."""

MEGABYTE = 1_000_000


class ModelsCommand:
    summary = "list the models for hearing, speaking and answering; get more"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.usage = (
            "sayso models [--json]\n"
            "       sayso models get NAME [--again]\n"
            "       sayso models check\n"
            "       sayso models remove NAME"
        )
        parser.add_argument("words", nargs="*", metavar="get NAME | check | remove NAME")
        parser.add_argument("--again", action="store_true", help="get: repair or renew a model")
        parser.add_argument("--json", action="store_true", help="the list, for programs")

    def run(self, arguments: argparse.Namespace) -> int:
        home = Home.find()
        match arguments.words:
            case []:
                return _list(home, as_json=arguments.json)
            case ["get", name]:
                return _get(home, name, again=arguments.again)
            case ["check"]:
                return _check(home)
            case ["remove", name]:
                return _remove(home, name)
        print("Name one model: `sayso models get base.en`. `sayso models` lists what there is.")
        return MISUSED


@dataclass(frozen=True, slots=True)
class Row:
    """One model of the list."""

    name: str
    kind: Kind
    bytes: int
    language: str
    licence: str
    state: Literal["whole", "damaged", "not verifiable"]
    in_use: bool
    origin: str
    remedy: str
    """What puts it right; empty unless it is damaged."""


def _list(home: Home, *, as_json: bool) -> int:
    installed = InstalledModels(home)
    settings = Settings.load(home)
    choice = asyncio.run(for_talking(settings.language_model, installed))
    speech = list(_for_speech(installed, settings))
    used = {choice.weights, *(selected.model.path for selected in speech)}
    models = {model.path: model for model in installed.models()}
    models |= {selected.model.path: selected.model for selected in speech}
    rows = [_row(installed, model, used) for model in models.values()]
    if as_json:
        record = {"models": [asdict(row) for row in rows], "language_model": choice.sentence}
        print(json.dumps(record, indent=1, ensure_ascii=False))
        return 0
    _print_table(rows)
    print()
    for selected in speech:
        if selected.complaint:
            print(selected.complaint)
    print(choice.sentence)
    if choice.offer:
        print(choice.offer.sentence)
    name = best_fitting(memory_bytes())
    suggested = SUGGESTED[name]
    print(
        f"\nMore: `sayso models get NAME` fetches Whisper models (base.en, small, large-v3-turbo), "
        f"piper voices (en_US-lessac-medium) and language models ({', '.join(SUGGESTED)}).\n"
        f"For this machine's {in_words(memory_bytes())} of memory: {name} "
        f"({in_words(suggested.bytes)}), {suggested.why}."
    )
    return 0


def _for_speech(installed: InstalledModels, settings: Settings) -> Iterator[Selected]:
    """What hears and speaks; nothing where not even the starter is whole: the list tells."""
    named: tuple[tuple[Literal["ears", "voice"], str], ...] = (
        ("ears", settings.ears.model),
        ("voice", settings.voice.model),
    )
    for kind, name in named:
        try:
            yield for_speech(installed, kind, name)
        except ModelError:
            continue


def _row(installed: InstalledModels, model: Model, used: set[Path | None]) -> Row:
    state: Literal["whole", "damaged", "not verifiable"]
    state = "not verifiable" if model.source == "path" else "whole"
    try:
        installed.verify(model)
    except ModelError:
        state = "damaged"
    return Row(
        name=model.name,
        kind=model.kind,
        bytes=model.bytes,
        language=model.language,
        licence=model.licence,
        state=state,
        in_use=model.path in used,
        origin=model.origin,
        remedy=model.remedy if state == "damaged" else "",
    )


def _print_table(rows: list[Row]) -> None:
    head = ("NAME", "FOR", "SIZE", "LANGUAGE", "LICENCE", "STATE", "")
    lines = [head]
    for row in rows:
        use = "in use" if row.in_use else ""
        size = in_words(row.bytes)
        lines.append((row.name, KINDS[row.kind], size, row.language, row.licence, row.state, use))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = (f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True))
        print("  ".join(cells).rstrip())
    for row in rows:
        if row.remedy:
            print(f"\n{row.name} is damaged; put it right with `{row.remedy}`.")


def _get(home: Home, name: str, *, again: bool) -> int:
    installed = InstalledModels(home)
    here = _here(installed, name)
    if here and here.source == "starter":
        installed.verify(here, trust_memory=not again)
        print(f"{name} comes with Sayso and is whole.")
        return 0
    wanted = understand(name)
    if here and not again:
        try:
            installed.verify(here)
        except ModelError:
            print(f"{name} is damaged and is put right.")
        else:
            print(f"{name} is here and whole. `sayso models get --again {name}` looks for news.")
            return 0
    model = _fetch(home, wanted)
    print(f"{name} is here: {in_words(model.bytes)}, licence {model.licence}, {model.origin}.")
    print(f"Use it with `sayso settings set {model.kind}.model {name}`.")
    return 0


def _fetch(home: Home, wanted: Wanted) -> Model:
    from sayso.server.commands.fetch_display import display  # only fetching needs them
    from sayso.server.models.fetching import Fetching
    from sayso.server.models.hub import Hub

    readings = read(home)
    settings = Settings.from_values(readings.values)
    if os.environ.get("HF_HUB_OFFLINE", "").lower() in {"1", "true", "yes", "on"}:
        message = "HF_HUB_OFFLINE is set, so nothing is fetched; unset it and try again."
        raise FetchFailed(message)
    token = os.environ.get("HF_TOKEN", "").strip()
    with Hub(_hub_address(readings), token=token) as hub, display() as progress:
        print(f"Fetching {wanted.name} from {hub.address}/{wanted.repository}")
        fetching = Fetching(
            home,
            hub,
            progress=progress,
            kept_free_bytes=settings.storage.minimum_free_mb * MEGABYTE,
        )
        try:
            return fetching.fetch(wanted)
        except KeyboardInterrupt:
            print("\nStopped; the same command goes on from here.")
            raise


def _hub_address(readings: Readings) -> str:
    """What the settings say; where they say nothing, HF_ENDPOINT, as for other programs."""
    endpoint = os.environ.get("HF_ENDPOINT", "").strip()
    if endpoint and readings.origins["models.hub"].kind == "default":
        return endpoint
    return str(readings.values["models.hub"])


def _check(home: Home) -> int:
    """Look at every byte of every model."""
    installed = InstalledModels(home)
    damaged = False
    for model in installed.models():
        try:
            installed.verify(model, trust_memory=False)
            print(f"{model.name} is whole ({in_words(model.bytes)}).")
        except ModelError as error:
            damaged = True
            print(error)
    return 1 if damaged else 0


def _remove(home: Home, name: str) -> int:
    installed = InstalledModels(home)
    model = _here(installed, name)
    if model is None or model.source != "hub":
        what = "comes with Sayso and stays" if model else "is not here"
        message = f"{name} {what}; only what `sayso models get` brought is removed."
        raise ModelMissing(message)
    shutil.rmtree(installed.folder_of(model.kind, name))
    print(f"{name} is removed; {in_words(model.bytes)} are free again.")
    return 0


def _here(installed: InstalledModels, name: str) -> Model | None:
    return next((model for model in installed.models() if model.name == name), None)


command = ModelsCommand()
