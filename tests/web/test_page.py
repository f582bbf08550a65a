"""The page in a real browser: pair, speak, approve, see the plot, hear the answer, interrupt."""

import base64
import re
from pathlib import Path

import pytest
from playwright.sync_api import FilePayload, expect

from sayso.audio.wav import write
from tests.e2e.speech import Voice
from tests.kernels import lend_kernels
from tests.rig import Server
from tests.scripted_model import Reply, ScriptedModel, runs, says
from tests.web.browser import approve, ask, hold, is_paired, page, press
from tests.web.conftest import Site
from tests.web.measuring import cpu_share, press_to_wire_ms

pytestmark = [
    pytest.mark.slow,
    pytest.mark.thorough,
    pytest.mark.browser,
    pytest.mark.timeout(240),
]

RECORD = """async () => {
  const { sound } = await import('/app.js');
  await sound.wake();
  const recorder = new MediaRecorder(sound.tap(), { mimeType: 'audio/webm;codecs=pcm' });
  window.pieces = [];
  recorder.ondataavailable = ({ data }) => window.pieces.push(data);
  recorder.start();
  window.recorder = recorder;
}"""
"""What the page plays, from now on."""

RECORDED = """async () => {
  const ended = new Promise((resolve) => { window.recorder.onstop = resolve; });
  window.recorder.stop();
  await ended;
  const context = new OfflineAudioContext(1, 1, 16000);
  const sound = await context.decodeAudioData(await new Blob(window.pieces).arrayBuffer());
  const samples = Int16Array.from(sound.getChannelData(0), (sample) => sample * 32767);
  let text = '';
  for (const byte of new Uint8Array(samples.buffer)) text += String.fromCharCode(byte);
  return btoa(text);
}"""


def test_a_question_is_spoken_seen_answered_and_heard(
    site: Site, question: Path, tmp_path: Path
) -> None:
    site.model.add(says("The answer is Paris. ", "That is a large city."))
    with page(question) as opened:
        is_paired(opened, site.server, "--person", site.person)
        opened.evaluate(RECORD)
        hold(opened, 3.5)
        expect(opened.locator(".you")).to_contain_text("capital")
        expect(opened.locator(".answer")).to_contain_text("Paris")
        expect(opened.locator("#state")).to_have_text("Speaking")
        expect(opened.locator("#state")).to_have_text("Ready")
        pcm = base64.b64decode(opened.evaluate(RECORDED))
        expect(opened.locator("#latency")).to_contain_text("first word after")

    answer = tmp_path / "answer.wav"
    write(answer, pcm, 16_000)
    assert Voice().understands(answer, "The answer is Paris. That is a large city.")


def test_when_nothing_was_said_that_is_told(site: Site, silence: Path) -> None:
    asked_before = len(site.model.requests)
    with page(silence) as opened:
        is_paired(opened, site.server, "--person", site.person)
        hold(opened, 1.0)
        expect(opened.locator("#conversation .note")).to_have_text("Nothing was understood.")
        expect(opened.locator(".turn")).to_have_count(0)
        assert len(site.model.requests) == asked_before


def test_code_is_approved_seen_and_its_plot_shown(site: Site, question: Path) -> None:
    plot = "import matplotlib.pyplot as p\np.plot([1, 3, 2])\np.show()\nprint(25 * 40)"
    site.model.add(runs(plot, "Let me **see**. "), says("It is `1000`."))
    with page(question, 320, 640) as opened:
        is_paired(opened, site.server, "--person", site.person)
        ask(opened, "print 25 times 40")
        expect(opened.locator(".card.asks h2")).to_have_text("Run this Python code?")
        assert opened.evaluate("() => document.documentElement.scrollWidth") <= 320
        approve(opened)
        expect(opened.locator("pre.output")).to_contain_text("1000")
        expect(opened.locator("img.result")).to_be_visible()
        expect(opened.locator(".answer").last).to_have_text("It is 1000.")
        assert not opened.locator(".card.asks").count()


def test_code_in_an_answer_is_copied_as_it_is_seen(site: Site, question: Path) -> None:
    site.model.add(says("Put this in:\n\n```json\n", '{"port": 8\u200b0}\n', "```\n\nThat is all."))
    with page(question) as opened:
        is_paired(opened, site.server, "--person", site.person)
        opened.evaluate(
            """() => Object.defineProperty(navigator, 'clipboard', {
              value: { writeText: async (text) => { window.copied = text; } },
            })"""
        )
        ask(opened, "how do I set the port")
        expect(opened.locator(".answer")).to_contain_text("That is all.")
        copy = opened.locator(".answer").get_by_role("button", name="Copy")
        copy.click()
        expect(opened.locator(".answer button")).to_have_text("Copied")
        seen = opened.locator(".answer pre").text_content()
        assert opened.evaluate("() => window.copied") == seen
        assert seen
        assert "\u200b" not in seen


def test_html_that_code_made_has_its_looks_and_does_nothing(site: Site, question: Path) -> None:
    html = (
        "<style>b { color: rgb(200, 0, 0) }</style><p style='block-size: 120px'><b>hot</b></p>"
        "<script>parent.postMessage({ height: 500 }, '*'); document.body.textContent = ''</script>"
        "<img src=x onerror=\"document.body.textContent = ''\">"
    )
    site.model.add(runs(f"from IPython.display import HTML\nHTML({html!r})"), says("There."))
    with page(question) as opened:
        is_paired(opened, site.server, "--person", site.person)
        ask(opened, "show the heat")
        approve(opened)
        expect(opened.locator("#state")).to_have_text("Ready")
        frame = opened.frame_locator("iframe.result")
        expect(frame.locator("b")).to_have_css("color", "rgb(200, 0, 0)")
        expect(opened.locator("iframe.result")).to_have_js_property(
            "sandbox.value", "allow-scripts"
        )
        assert frame.locator("html").evaluate("() => origin") == "null"
        box = opened.locator("iframe.result").bounding_box()
        assert box
        assert 120 < box["height"] < 300


def test_code_is_edited_before_it_runs_or_refused(site: Site, question: Path) -> None:
    site.model.add(
        runs("print('first')"), says("Done."), runs("print('never')"), says("As you wish.")
    )
    with page(question) as opened:
        is_paired(opened, site.server, "--person", site.person)
        ask(opened, "print something")
        press(opened, "Edit")
        opened.get_by_label("Code to run instead").fill("print('second')")
        press(opened, "Run this instead")
        expect(opened.locator("pre.output")).to_have_text("second\n")
        expect(opened.locator("#state")).to_have_text("Ready")
        ask(opened, "print more")
        opened.get_by_role("button", name="Deny").click()
        expect(opened.locator(".answer").last).to_have_text("As you wish.")
        assert "never" not in opened.locator("pre.output").all_inner_texts()


def test_the_stop_button_ends_a_long_answer(site: Site, question: Path) -> None:
    site.model.add(Reply([f"Sentence number {n} is long. " for n in range(60)], between_s=0.3))
    with page(question) as opened:
        is_paired(opened, site.server, "--person", site.person)
        ask(opened, "tell me a story")
        expect(opened.locator("#state")).to_have_text("Speaking")
        opened.locator("#stop").click()
        expect(opened.locator("#state")).to_have_text("Ready")
        assert "number 59" not in opened.locator(".answer").inner_text()


def test_the_page_opens_without_a_server_and_says_so(tmp_path: Path, question: Path) -> None:
    lend_kernels(tmp_path)
    with (
        ScriptedModel(key="a-key-for-tests") as model,
        Server(tmp_path, model) as server,
        page(question) as opened,
    ):
        is_paired(opened, server)
        model.add(says("Good morning."))
        ask(opened, "dawn")
        expect(opened.locator(".answer")).to_have_text("Good morning.")
        opened.evaluate("() => navigator.serviceWorker.ready.then(() => true)")
        opened.reload()
        expect(opened.locator("#state")).to_have_text("Ready")
        server.stop()
        opened.reload()
        expect(opened.locator("#state")).to_contain_text("The server is away")
        wind = FilePayload(name="wind.csv", mimeType="text/csv", buffer=b"day,kmh\n")
        opened.set_input_files("#picked", [wind])
        server.start()
        expect(opened.get_by_label("wind.csv: will be sent along")).to_be_visible()
        model.add(says("Good day."))
        ask(opened, "noon")
        expect(opened.locator(".answer").last).to_have_text("Good day.")
        expect(opened.locator("#state")).to_have_text("Ready")
        server.stop()
        expect(opened.locator("#state")).to_contain_text("The server is away")
        rain = FilePayload(name="rain.csv", mimeType="text/csv", buffer=b"day,mm\n" * 20_000)
        opened.set_input_files("#picked", [rain])
        server.start()
        expect(opened.get_by_label("rain.csv: will be sent along")).to_be_visible()
        expect(opened.locator("#files")).to_contain_text("sent again from the beginning")
        model.add(says("Good evening."))
        ask(opened, "evening")
        last = opened.locator(".turn").last
        expect(last).to_have_text(re.compile("^eveningWith rain.csvGood evening."))
        expect(opened.locator(".note.bad")).to_have_count(0)
        expect(opened.locator(".you")).to_have_text(["dawn", "noon", "evening"])
        opened.reload()
        expect(opened.locator(".you")).to_have_text(["dawn", "noon", "evening"])
        expect(opened.locator(".along")).to_have_text(["With wind.csv", "With rain.csv"])
        answers = ["Good morning.", "Good day.", "Good evening."]
        expect(opened.locator(".answer")).to_have_text(answers)


def test_a_press_is_heard_at_once_and_listening_costs_little(site: Site, question: Path) -> None:
    with page(question) as opened:
        is_paired(opened, site.server, "--person", site.person)
        presses = press_to_wire_ms(opened, 9)
        assert len(presses) == 9
        # 80 ms where nothing else runs; a machine that tests may be slower.
        assert presses[len(presses) // 2] <= 120
        opened.locator("#hands-free").click()
        expect(opened.locator("#state")).to_contain_text("Hands-free")
        assert cpu_share(opened, question, 3) <= 0.25
