"""Installed Jupyter kernels: each is a language, confined as all code is."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.kernels.environment import KernelEnvironment
from sayso.server.runtimes.language import Language
from sayso.server.runtimes.languages import kernelspecs
from sayso.server.runtimes.languages.kernelspecs import InstalledKernel, installed_kernels
from sayso.server.runtimes.sandbox.sandbox import Sandbox
from sayso.server.runtimes.sandbox.self_test.proof import SandboxReport
from tests.runtimes.sandboxes import began, rest, told


def install(folder: Path, name: str, **spec: object) -> Path:
    """Describe a kernel as its own installer does."""
    described = folder / "kernels" / name
    described.mkdir(parents=True)
    (described / "kernel.json").write_text(json.dumps({"display_name": name, **spec}))
    return described


@pytest.fixture
def jupyter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which Jupyter looks for kernels."""
    folder = tmp_path / "jupyter"
    monkeypatch.setenv("JUPYTER_PATH", str(folder))
    return folder


def found(environment: KernelEnvironment, taken: Sequence[str] = ()) -> dict[str, InstalledKernel]:
    return {kernel.name: kernel for kernel in installed_kernels(environment, taken)}


@pytest.mark.parametrize("mode", ["signal", "message"])
async def test_an_installed_kernel_is_a_language(
    mode: str,
    sandbox: Sandbox,
    environment: KernelEnvironment,
    workspace: Path,
    jupyter: Path,
) -> None:
    argv = [str(environment.python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    variables = {"GREETING": "from the kernel's description"}
    install(jupyter, "snake", argv=argv, language="Snake", interrupt_mode=mode, env=variables)
    languages: list[Language] = list(found(environment).values())
    code_runner = CodeRunner(
        workspace,
        environment,
        SandboxReport(True, sandbox.kind, sandbox=sandbox),
        languages=languages,
    )
    try:
        assert "snake" in code_runner.languages
        run = await told(code_runner, "import os; kept = 7; print(os.environ['GREETING'])", "Snake")
        assert run.stdout == "from the kernel's description\n"
        run = await told(code_runner, "open('/etc/shadow')", "snake")
        assert run.ending.status == "error"
        pieces = code_runner.run("snake", "print('begun', flush=True)\nwhile True: pass")
        await began(pieces)
        await code_runner.interrupt()
        assert (await rest(pieces)).ending.status == "interrupted"
        assert (await told(code_runner, "kept", "snake")).result == "7"
        died = await told(code_runner, "import os; os._exit(3)", "snake")
        assert died.ending.status == "died"
        assert (await told(code_runner, "print('new')", "snake")).stdout == "new\n"
    finally:
        await code_runner.close()


def test_a_kernel_for_a_language_that_is_there_already_goes_by_its_own_name(
    environment: KernelEnvironment, jupyter: Path
) -> None:
    install(jupyter, "science", argv=["/bin/true"], language="python")
    install(jupyter, "python3", argv=["/bin/true"], language="python")
    install(jupyter, "ir", argv=["/bin/true"], language="R")
    kernels = found(environment, ("python", "python3"))
    assert set(kernels) == {"science", "r"}
    assert kernels["r"].aliases == ("ir",)


def test_a_description_without_its_program_is_left_out(
    environment: KernelEnvironment, jupyter: Path
) -> None:
    install(jupyter, "gone", argv=["/nowhere/kernel", "{connection_file}"], language="gone")
    install(jupyter, "empty", argv=[], language="empty")
    (jupyter / "kernels" / "broken").mkdir()
    (jupyter / "kernels" / "broken" / "kernel.json").write_text("{")
    assert not {"gone", "empty", "broken"} & set(found(environment))


def test_a_kernel_may_read_what_it_is_made_of_and_no_home(
    environment: KernelEnvironment, jupyter: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("HOME", str(home))
    for prefix in (home / "conda" / "envs" / "r", home / ".local", home, home / ".cargo"):
        (prefix / "bin").mkdir(parents=True)
        program = prefix / "bin" / "kernel"
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        (prefix / "lib").mkdir(exist_ok=True) if prefix.name != ".cargo" else None
        install(jupyter, f"of-{prefix.name.strip('.')}", argv=[str(program)])
    script = home / "script.jl"
    script.write_text("")
    install(jupyter, "of-system", argv=["/bin/sh", str(script), "{resource_dir}/more"])
    kernels = found(environment)

    def readable(name: str) -> set[Path]:
        own = jupyter / "kernels" / name
        return set(kernels[name].readable) - {own}

    assert readable("of-r") == {home / "conda" / "envs" / "r"}
    assert readable("of-local") == {home / ".local" / "bin" / "kernel"}
    assert readable("of-home") == {home / "bin" / "kernel"}
    assert readable("of-cargo") == {home / ".cargo" / "bin"}
    assert readable("of-system") == {script}
    assert kernels["of-system"].argv[2] == str(jupyter / "kernels" / "of-system" / "more")
    assert kernelspecs._is_a_persons(Path("/"))
