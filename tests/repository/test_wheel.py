"""The wheel holds the whole product and nothing else, and a client installs without the server."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.repository.tree import ROOMS, ROOT, copy, files

pytestmark = pytest.mark.slow

CLIENT_IMPORTS = 3.5
"""So many times the work of importing what speaks WebSockets; it takes a good two. How long a start
takes is measured by `scripts/bench clients`."""
CLIENT_MEMORY_MB = 70
TRIES = 7
"""The best of several tells what the code costs."""

WEIGH = r"""
import json, re, resource, sys, time
from pathlib import Path
started = time.process_time()  # a busy machine takes longer, and works hardly more
import asyncio, websockets.asyncio.client
needed = time.process_time() - started
import sayso.client, sayso.client.command, sayso.client.commands.talk
whole = time.process_time() - started
if sys.platform == "darwin":
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
else:  # where a process inherits that figure from the one that started it
    status = Path("/proc/self/status").read_text()
    megabytes = int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024 / 1e6
print(json.dumps({"times": whole / needed, "mb": megabytes, "modules": sorted(sys.modules)}))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a clean checkout."""
    checkout = copy(tmp_path_factory.mktemp("checkout"))
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", "dist", "."]
    run = subprocess.run(build, cwd=checkout, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    (built,) = (checkout / "dist").glob("sayso-*.whl")
    return built


@pytest.fixture(scope="module")
def client(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a fresh environment with Sayso and what it needs without extras."""
    folder = tmp_path_factory.mktemp("client") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = folder / "lib" / version / "site-packages"
    for name in needs_of("sayso"):
        _lend(name, packages)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    return folder / "bin" / "python"


def needs_of(name: str) -> set[str]:
    """The packages that come along when one is installed without extras."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        for line in distribution(waiting.pop()).requires or ():
            requirement = Requirement(line)
            needed = canonicalize_name(requirement.name)
            applies = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
            if applies and needed not in found:
                found.add(needed)
                waiting.append(needed)
    return found


def _lend(name: str, packages: Path) -> None:
    """Put an installed package into another environment, as an installer would, but offline."""
    lent = distribution(name)
    for file in lent.files or ():
        if ".." not in file.parts and file.suffix != ".pyc":
            place = packages / file
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(str(file.locate()), place)


def test_the_wheel_holds_every_file_of_every_room(wheel: Path) -> None:
    inside = set(zipfile.ZipFile(wheel).namelist())
    for room, package in ROOMS.items():
        for path in files(room):
            if path.suffix == ".in":
                continue  # what a lock was made from
            place = package.replace(".", "/") / path.relative_to(ROOT / room)
            assert str(place) in inside, f"pyproject.toml does not take {room}/{path.name} along"


def test_the_wheel_holds_nothing_but_the_rooms_and_its_own_description(wheel: Path) -> None:
    tops = {tuple(name.split("/")[:2]) for name in zipfile.ZipFile(wheel).namelist()}
    packages = {tuple(package.split(".")) for package in ROOMS.values()}
    described = {top for top in tops if top[0].endswith(".dist-info")}
    assert tops - described == packages


def test_each_room_says_that_it_is_typed(wheel: Path) -> None:
    inside = zipfile.ZipFile(wheel).namelist()
    assert all(f"{package.replace('.', '/')}/py.typed" in inside for package in ROOMS.values())


def test_the_wheel_carries_the_licence(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (licence,) = (name for name in archive.namelist() if name.endswith("/LICENSE"))
    assert archive.read(licence) == (ROOT / "LICENSE").read_bytes()


@pytest.mark.skipif(not os.environ.get("SAYSO_TEST_WHEEL"), reason="only where a wheel is tested")
def test_these_tests_test_the_wheel() -> None:
    import sayso.protocol

    assert sayso.protocol.__file__
    assert Path(sayso.protocol.__file__).is_relative_to(sysconfig.get_path("purelib"))


def test_a_client_installs_no_package_of_the_server() -> None:
    server = {
        canonicalize_name(requirement.name)
        for requirement in map(Requirement, distribution("sayso").requires or ())
        if requirement.marker and not requirement.marker.evaluate({"extra": ""})
    }
    assert "litellm" in server
    assert needs_of("sayso").isdisjoint(server)


def test_a_client_alone_has_every_verb_or_says_how_to_get_it(client: Path) -> None:
    run = subprocess.run(
        [client, "-m", "sayso.client.command", "--help"], capture_output=True, text=True, check=True
    )
    assert "talk" in run.stdout
    assert "pip install 'sayso[server]'" in run.stdout
    serve = subprocess.run(
        [client, "-m", "sayso.client.command", "serve"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert serve.returncode != 0
    assert "pip install 'sayso[server]'" in serve.stderr
    assert "Traceback" not in serve.stderr


def test_a_client_starts_light(client: Path) -> None:
    weights = [
        json.loads(subprocess.run([client, "-c", WEIGH], capture_output=True, check=True).stdout)
        for _ in range(TRIES)
    ]
    assert min(weight["times"] for weight in weights) <= CLIENT_IMPORTS
    assert max(weight["mb"] for weight in weights) <= CLIENT_MEMORY_MB
    loaded = {name.partition(".")[0] for name in weights[0]["modules"]}
    assert not any(name.startswith("sayso.server") for name in weights[0]["modules"])
    assert loaded.isdisjoint(
        {"litellm", "faster_whisper", "piper", "onnxruntime", "jupyter_client"}
    )
