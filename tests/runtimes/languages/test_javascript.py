"""JavaScript in the code runner, as a person and a model see it."""

from pathlib import Path

import pytest

from sayso.server.runtimes.code_runner import CodeRunner
from tests.runtimes.processes import below
from tests.runtimes.sandboxes import Told, began, rest, told

pytestmark = pytest.mark.needs("node", "nodejs")


async def js(code_runner: CodeRunner, code: str) -> Told:
    """A run that goes well."""
    run = await told(code_runner, code, "javascript")
    assert run.ending.status == "ok", run
    return run


async def test_constants_stay_from_run_to_run_and_may_be_written_again(
    code_runner: CodeRunner,
) -> None:
    await js(
        code_runner, "const a = 239; let b = 1; class Pair {}; function twice(x) { return 2 * x }"
    )
    assert (await js(code_runner, "let b = 43; console.log(a * b, typeof Pair)")).stdout == (
        "10277 function\n"
    )
    assert (await js(code_runner, "const a = 1; twice(a)")).result == "2"


async def test_its_names_are_one_interpreter(any_workshop: CodeRunner) -> None:
    for name in ("js", "node", "nodejs", "JavaScript"):
        await told(any_workshop, "var count = (globalThis.count ?? 0) + 1", name)
    assert (await js(any_workshop, "count")).result == "4"


async def test_await_stands_anywhere_and_timers_belong_to_the_run(any_workshop: CodeRunner) -> None:
    code = "const x = await new Promise((done) => setTimeout(done, 20, 7))\nconsole.log(x)"
    assert (await js(any_workshop, code)).stdout == "7\n"
    run = await js(any_workshop, "setTimeout(() => console.log('later'), 50); console.log('now')")
    assert run.stdout == "now\nlater\n"
    run = await js(any_workshop, "(async () => { await null; console.log('unawaited') })()")
    assert (run.stdout, run.result) == ("unawaited\n", "")


@pytest.mark.slow
async def test_what_goes_on_for_ever_does_not_hold_the_next_run(any_workshop: CodeRunner) -> None:
    run = await js(any_workshop, "var beats = 0; var timer = setInterval(() => beats++, 5); 1")
    assert run.ending.seconds > 4  # it might have ended
    run = await js(any_workshop, "await new Promise((done) => setTimeout(done, 50)); beats > 1")
    assert run.result == "true"
    assert run.ending.seconds < 4


async def test_the_value_of_a_block_is_told(any_workshop: CodeRunner) -> None:
    for code, words in (
        ("[1, 'two', {three: 3}]", "[ 1, 'two', { three: 3 } ]"),
        ("'text'", "'text'"),
        ("10n ** 20n", "100000000000000000000n"),
        ("null", "null"),
        ("undefined", ""),
        ("const quiet = 1", ""),
        ("new Map([[1, 2]])", "Map(1) { 1 => 2 }"),
        ("Promise.resolve(1)", ""),
    ):
        assert (await js(any_workshop, code)).result == words


async def test_streams_errors_and_places_in_the_code_are_told(any_workshop: CodeRunner) -> None:
    code = """console.log('out'); console.error('err')
function half() {
  throw new Error('no')
}
half()"""
    run = await told(any_workshop, code, "js")
    assert (run.stdout, run.stderr) == ("out\n", "err\n")
    assert run.ending.status == "error"
    assert run.ending.detail == "Error: no"
    assert run.error.startswith("Error: no\n    at half (<anonymous>:3:9)")
    assert "node:" not in run.error
    assert "node_loop" not in run.error


async def test_a_failure_is_told_and_the_variables_stay(any_workshop: CodeRunner) -> None:
    await js(any_workshop, "var kept = 7")
    for code, detail in (
        ("missing.part", "ReferenceError: missing is not defined"),
        ("let s = 'open", "SyntaxError: Invalid or unexpected token"),
        ("throw 'a word'", "Uncaught 'a word'"),
        ("Promise.reject(new Error('nobody looks'))", "Error: nobody looks"),
        ("setTimeout(() => { throw new Error('in a timer') }, 5)", "Error: in a timer"),
        ("await new Promise(() => {})", "It awaits something that never comes."),
        (
            "import { none } from 'node:fs'",
            "SyntaxError: The requested module 'node:fs' does not provide an export named 'none'",
        ),
        (
            "import fs from 'fs' if",
            "SyntaxError: Cannot use import statement outside a module; use require() instead",
        ),
    ):
        run = await told(any_workshop, code, "js")
        assert run.ending.status == "error"
        assert run.ending.detail == detail
    assert (await js(any_workshop, "kept")).result == "7"


async def test_modules_come_by_import_and_by_require(any_workshop: CodeRunner) -> None:
    files = {
        "sum.mjs": "export const sum = (a, b) => a + b; export default 'of sums'",
        "old.js": "module.exports = { plain: 5 }",
        "data.json": '{"seven": 7}',
        "node_modules/pack/package.json": '{"exports": {"import": "./pack.mjs"}}',
        "node_modules/pack/pack.mjs": "export const packed = true",
    }
    code = "const fs = require('fs')\nfs.mkdirSync('node_modules/pack', { recursive: true })\n"
    code += "".join(f"fs.writeFileSync({name!r}, {text!r});\n" for name, text in files.items())
    await js(any_workshop, code)
    code = """import about, { sum as add } from './sum.mjs'
import * as everything from './sum.mjs'; import {
  packed,
} from "pack"
import 'node:path'
import old from './old.js'
const said = `import nothing from 'nowhere'` // import('nowhere')
console.log(about, add(1, 2), Object.keys(everything), packed, old.plain, said)"""
    run = await js(any_workshop, code)
    assert run.stdout == "of sums 3 [ 'default', 'sum' ] true 5 import nothing from 'nowhere'\n"
    assert (await js(any_workshop, "import 'node:fs'")).result == ""
    assert (
        await js(any_workshop, "import data from './data.json' with { type: 'json' }; data.seven")
    ).result == "7"
    code = "import data from './data.json'\nwith {\n type: 'json'\n}\nnull.part"
    assert "<anonymous>:5:" in (await told(any_workshop, code, "js")).error
    dynamic = "(await import('./data.json', { with: { type: 'json' } })).default.seven"
    assert (await js(any_workshop, dynamic)).result == "7"
    for wrong in ("'data' with { type: 'json' }; import 'node:fs'", "import 'node:fs'; f(1,,2)"):
        assert "SyntaxError" in (await told(any_workshop, wrong, "js")).error
    assert (await js(any_workshop, "(await import('./sum.mjs')).sum(add(1, 1), 40)")).result == "42"
    assert (await js(any_workshop, "const later = () => import('os'); (await later()).EOL")).result
    assert (await js(any_workshop, "require('./old.js').plain")).result == "5"
    assert (await js(any_workshop, "import.meta.url.startsWith('file:')")).result == "true"
    run = await told(any_workshop, "import x from 'node:fs'\n\nnull.part", "js")
    assert "<anonymous>:3:" in run.error


async def test_an_exit_is_told_with_its_status_and_a_new_one_is_there(
    any_workshop: CodeRunner,
) -> None:
    run = await told(any_workshop, "var lost = 7; process.exit(3)", "js")
    assert run.ending.status == "died"
    assert "exit status 3" in run.ending.detail
    assert "variables are lost" in run.ending.detail
    assert run.outputs == ()
    assert (await js(any_workshop, "typeof lost")).result == "'undefined'"


async def test_whatever_asks_for_input_ends_at_once_and_says_so(any_workshop: CodeRunner) -> None:
    code = (
        "const lines = require('readline/promises').createInterface({ input: process.stdin })\n"
        "await lines.question('Your name? ')"
    )
    run = await told(any_workshop, code, "js")
    assert run.ending.status == "error"
    assert "asked for input" in run.ending.detail


async def test_modules_files_and_programs_are_at_hand(
    any_workshop: CodeRunner, workspace: Path
) -> None:
    await js(any_workshop, "require('fs').writeFileSync('made', 'by node')")
    assert (workspace / "made").read_text() == "by node"
    (workspace / "own.js").write_text("exports.six = 6")
    assert (await js(any_workshop, "require('./own').six * 7")).result == "42"
    code = "require('child_process').execSync('echo from a shell').toString()"
    assert (await js(any_workshop, code)).result == "'from a shell\\n'"


async def test_what_runs_stops_when_asked_and_keeps_its_variables(any_workshop: CodeRunner) -> None:
    for code in (
        "while (true) {}",
        "await new Promise(() => setInterval(() => {}, 10))",
        "await null; while (true) {}",
        "require('child_process').execSync('sleep 600')",
        "while (true) console.log('x'.repeat(1000))",
    ):
        pieces = any_workshop.run("javascript", f"var kept = 7; console.log('begun')\n{code}")
        await began(pieces)
        await any_workshop.interrupt()
        assert (await rest(pieces)).ending.status == "interrupted"
        after = await js(any_workshop, "console.log('still heard'); kept")
        assert (after.stdout, after.result) == ("still heard\n", "7")


async def test_what_does_not_listen_is_killed_and_a_new_one_is_there(
    any_workshop: CodeRunner,
) -> None:
    shell = "trap '' INT; echo begun; sleep 608"
    code = f'require("child_process").execSync("{shell}", {{stdio: "inherit"}})'
    pieces = any_workshop.run("js", code)
    await began(pieces)
    await any_workshop.interrupt()
    ending = (await rest(pieces)).ending
    assert ending.status == "died"
    assert "variables are lost" in ending.detail
    assert below("sleep 608") == []
    assert (await js(any_workshop, "1")).result == "1"


@pytest.mark.slow
async def test_twenty_megabytes_are_bounded_and_the_end_is_there(any_workshop: CodeRunner) -> None:
    code = "for (let i = 0; i < 200_000; i++) console.log('x'.repeat(99)); console.log('the end')"
    run = await js(any_workshop, code)
    assert run.stdout.endswith("the end\n")
    assert "characters of output left out" in run.stderr
    assert sum(len(output.text) for output in run.outputs) < 9 * 1024**2
