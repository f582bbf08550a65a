"""Open Interpreter's names for a screen, in code: each leads to one function of the server's."""

from collections.abc import Mapping

from sayso.server.agent.tools.schema import problems
from sayso.server.capabilities.desktop.operations import OPERATIONS
from sayso.server.runtimes.calls.function import CallingRun
from sayso.server.runtimes.code_runner import CodeRunner
from tests.runtimes.calls.functions import called_in


class Screen:
    """One thing that can be done at a screen; its arguments must be what it takes."""

    def __init__(self, name: str) -> None:
        self.name = f"desktop_{name}"
        self._operation = OPERATIONS[name]
        self.given: list[Mapping[str, object]] = []

    async def call(self, arguments: Mapping[str, object], run: CallingRun) -> object:
        assert problems(dict(arguments), self._operation.schema) == []
        self.given.append(arguments)
        return f"{self._operation.name} {sorted(arguments.items())}"


CALLS = {
    "display.view()": "view []",
    "display.view('mousepad')": "view [('window', 'mousepad')]",
    "display.find('Save')": "view [('words', 'Save')]",
    "display.info()": "windows []",
    "mouse.click('Save')": "click [('target', 'Save')]",
    "mouse.click(x=3, y=4, frame=2)": "click [('frame', 2), ('x', 3), ('y', 4)]",
    "mouse.click(text='Save')": "click [('target', 'Save')]",
    "mouse.double_click('a')": "double_click [('target', 'a')]",
    "mouse.right_click('a')": "right_click [('target', 'a')]",
    "mouse.move('a')": "move [('target', 'a')]",
    "mouse.drag('a', 'b')": "drag [('target', 'a'), ('to', 'b')]",
    "mouse.scroll(-5)": "scroll [('steps', 5), ('way', 'down')]",
    "keyboard.write('Grüße')": "write [('text', 'Grüße')]",
    "keyboard.press('enter')": "press [('keys', 'enter')]",
    "keyboard.hotkey('ctrl', 's')": "press [('keys', 'ctrl+s')]",
    "clipboard.view()": "clipboard_read []",
    "clipboard.copy('x')": "clipboard_write [('text', 'x')]",
    "clipboard.paste()": "press [('keys', 'ctrl+v')]",
    "os.windows()": "windows []",
    "os.open('Writer')": "open [('app', 'Writer')]",
    "os.focus('w1')": "focus [('window', 'w1')]",
    "os.close('w1')": "close [('window', 'w1')]",
}


async def test_open_interpreters_names_lead_to_what_a_screen_can_do(
    code_runner: CodeRunner,
) -> None:
    lines = "\n".join(f"print(computer.{call})" for call in CALLS)
    run = await called_in("python", code_runner, lines, *map(Screen, OPERATIONS))
    assert run.stdout.splitlines() == list(CALLS.values()), run


async def test_places_count_in_frames_alone_and_other_names_say_what_there_is(
    code_runner: CodeRunner,
) -> None:
    screens = list(map(Screen, OPERATIONS))
    code = "import computer, sayso\ntry:\n    computer.mouse.click(x=3, y=4)\n"
    code += "except sayso.Refused as refusal:\n    print(refusal)\n"
    code += "try:\n    computer.mail\nexcept AttributeError as error:\n    print(error)"
    run = await called_in("python", code_runner, code, *screens)
    assert "Places count in a frame" in run.stdout
    assert "computer has browser, clipboard, display" in run.stdout
    assert not any(screen.given for screen in screens)


async def test_files_of_the_workspace_are_searched_and_edited(code_runner: CodeRunner) -> None:
    code = (
        "open('a.txt', 'w').write('rain in May')\n"
        "print(computer.files.search('rain'))\n"
        "computer.files.edit('a.txt', 'May', 'June')\n"
        "print(open('a.txt').read())"
    )
    run = await called_in("python", code_runner, code)
    assert "a.txt" in run.stdout
    assert "rain in June" in run.stdout
