"""Installs packages into the kernels' environment, and says why where that fails."""

import contextlib
import logging
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from importlib import resources, util
from pathlib import Path

from sayso.server.runtimes.base_python import base_python

log = logging.getLogger(__name__)

_BUILD_S = 1_800.0
"""How long the installer may take: 80 MB at 50 KB/s, then something is wrong."""

_NOT_INHERITED = (
    "PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "VIRTUAL_ENV", "CONDA_PREFIX",
    "__PYVENV_LAUNCHER__", "PIP_TARGET", "PIP_PREFIX", "PIP_USER", "PIP_REQUIRE_VIRTUALENV",
    "UV_PROJECT_ENVIRONMENT", "UV_PYTHON",
)  # fmt: skip
"""Settings of the person's shell that would install into another place than ours."""

_SIGNS_OF_NO_NETWORK = (
    "dns error", "failed to lookup", "name resolution", "name or service not known",
    "nodename nor servname", "network is unreachable", "connection refused",
    "failed to establish a new connection", "timed out", "error sending request",
    "could not connect", "network connectivity is disabled", "network was disabled",
    "from versions: none",
)  # fmt: skip

_WORTH_TELLING = (
    "Collecting", "Downloading", "Installing", "Prepared", "Installed", "Downloaded", "Building",
)  # fmt: skip
"""How the installers' lines begin that show a person progress."""

Progress = Callable[[str], None]


class KernelEnvironmentError(Exception):
    """The kernels' Python cannot be had; the message says why and what to do."""


def install(folder: Path, lock: str, on_progress: Progress) -> None:
    """Make a virtual environment in a folder and fill it from a lock, by uv where it is, else by
    pip."""
    python = str(folder / "bin" / "python")
    with resources.as_file(resources.files(__package__).joinpath(lock)) as file:
        if uv := _uv():
            _call(
                [
                    uv,
                    "venv",
                    "--quiet",
                    "--no-project",
                    "--python",
                    str(base_python()),
                    str(folder),
                ],
                folder,
            )
            command = [uv, "pip", "install", "--python", python, "--compile-bytecode"]
        elif util.find_spec("pip"):
            _call([str(base_python()), "-m", "venv", "--without-pip", str(folder)], folder)
            command = [sys.executable, "-m", "pip", "--python", python, "install", "--no-input"]
        else:
            _call([str(base_python()), "-m", "venv", str(folder)], folder)
            command = [python, "-m", "pip", "install", "--no-input"]
        _call([*command, "--require-hashes", "-r", str(file)], folder, on_progress)


def _uv() -> str | None:
    beside = Path(sys.executable).parent / "uv"
    return str(beside) if beside.exists() else shutil.which("uv")


def make_skeleton(folder: Path, on_progress: Progress) -> None:
    """Let matplotlib find the fonts now: it takes seconds, and every kernel starts with an empty
    home."""
    on_progress("Preparing plots")
    skeleton = folder / "skeleton"
    skeleton.mkdir()
    python = str(folder / "bin" / "python")
    _call(
        [python, "-I", "-c", "import matplotlib.font_manager"],
        folder,
        also={
            "HOME": str(skeleton),
            "XDG_CACHE_HOME": str(skeleton / ".cache"),
            "XDG_CONFIG_HOME": "",
        },
    )


def _call(
    command: list[str],
    folder: Path,
    on_progress: Progress = lambda _: None,
    *,
    also: Mapping[str, str] | None = None,
) -> None:
    """Run one step; what it wrote decides the sentence if it fails."""
    kept = {name: value for name, value in os.environ.items() if name not in _NOT_INHERITED}
    lines: list[str] = []
    with subprocess.Popen(
        command,
        env={**kept, "PIP_DISABLE_PIP_VERSION_CHECK": "1", **(also or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        too_long = threading.Timer(_BUILD_S, process.kill)
        too_long.start()
        try:
            for line in process.stdout or ():
                lines.append(line.rstrip())
                log.debug("kernels' environment: %s", line.rstrip())
                if line.lstrip().startswith(_WORTH_TELLING):
                    on_progress(line.strip())
        except BaseException:
            process.kill()
            raise
        finally:
            too_long.cancel()
    if process.returncode:
        raise KernelEnvironmentError(_sentence(lines, folder.parent))


def _sentence(lines: list[str], kernels: Path) -> str:
    written = "\n".join(lines)
    record = kernels / "python-build.log"
    with contextlib.suppress(OSError):
        record.write_text(written, encoding="utf-8")
    small = written.lower()
    if "ensurepip" in small:
        version = "{}.{}".format(*sys.version_info)
        return (
            "Python cannot make virtual environments here;"
            f" run `sudo apt install python3-venv` (or python{version}-venv) and start again."
        )
    if "no space left" in small:
        return (
            "There is no space left for the kernels' Python environment;"
            " free 400 MB and start again."
        )
    if any(sign in small for sign in _SIGNS_OF_NO_NETWORK):
        return (
            "The kernels' Python packages cannot be downloaded, because the package index cannot be"
            " reached; connect this machine to the network and start again."
        )
    if "hash" in small and ("mismatch" in small or "do not match" in small):
        return (
            "A package for the kernels is not the one that Sayso was locked to, so it was not"
            f" installed; check your package index (details in {record})."
        )
    return f"The kernels' Python packages cannot be installed; the reason is in {record}."
