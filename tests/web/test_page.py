"""The page in a real browser: pair, speak, approve, hear, interrupt, and lose the network."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from sayso.audio.wav import write
from tests.e2e.speech import Voice
from tests.kernels import lend_kernels
from tests.rig import Server
from tests.scripted_model import Reply, ScriptedModel, runs, says
from tests.web.browser import page, pairing

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


@pytest.fixture
def home(tmp_path: Path) -> Path:
    lend_kernels(tmp_path)
    return tmp_path


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel(key="a-key-for-tests") as scripted:
        yield scripted


@pytest.fixture
def server(home: Path, model: ScriptedModel) -> Iterator[Server]:
    with Server(home, model) as running:
        yield running


@pytest.fixture
def question(tmp_path: Path) -> Path:
    path = tmp_path / "question.wav"
    Voice().speak("What is the capital of France?", path)
    return path


def is_paired(opened: Page, server: Server) -> None:
    with pairing(server) as address:
        opened.goto(address)
        expect(opened.locator("#state")).to_have_text("Ready")
    assert "pair=" not in opened.url


def hold(opened: Page, seconds: float) -> None:
    box = opened.locator("#talk").bounding_box()
    assert box
    opened.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    opened.mouse.down()
    opened.wait_for_timeout(1_000 * seconds)
    opened.mouse.up()


def test_a_question_is_spoken_seen_answered_and_heard(
    server: Server, model: ScriptedModel, question: Path, tmp_path: Path
) -> None:
    model.add(says("The answer is Paris. ", "That is a large city."))
    with page(question) as opened:
        is_paired(opened, server)
        opened.evaluate(RECORD)
        hold(opened, 3.5)
        expect(opened.locator(".you")).to_contain_text("capital")
        expect(opened.locator(".answer")).to_contain_text("Paris")
        expect(opened.locator("#state")).to_have_text("Speaking")
        expect(opened.locator("#state")).to_have_text("Ready")
        pcm = base64.b64decode(opened.evaluate(RECORDED))

    answer = tmp_path / "answer.wav"
    write(answer, pcm, 16_000)
    assert Voice().understands(answer, "The answer is Paris. That is a large city.")


def test_code_is_approved_seen_and_its_plot_shown(
    server: Server, model: ScriptedModel, question: Path
) -> None:
    plot = "import matplotlib.pyplot as p\np.plot([1, 3, 2])\np.show()\nprint(25 * 40)"
    model.add(runs(plot, "Let me **see**. "), says("It is `1000`."))
    with page(question, 320, 640) as opened:
        is_paired(opened, server)
        opened.fill("#words", "what is 25 times 40")
        opened.press("#words", "Enter")
        expect(opened.locator(".card.asks h3")).to_have_text("May this python run?")
        assert opened.evaluate("() => document.documentElement.scrollWidth") <= 320
        opened.get_by_role("button", name="Approve").click()
        expect(opened.locator("pre.output")).to_contain_text("1000")
        expect(opened.locator("img.result")).to_be_visible()
        expect(opened.locator(".answer").last).to_have_text("It is 1000.")
        assert not opened.locator(".card.asks").count()


def test_code_is_edited_before_it_runs_or_refused(
    server: Server, model: ScriptedModel, question: Path
) -> None:
    model.add(runs("print('first')"), says("Done."), runs("print('never')"), says("As you wish."))
    with page(question) as opened:
        is_paired(opened, server)
        opened.fill("#words", "print something")
        opened.press("#words", "Enter")
        opened.get_by_role("button", name="Edit").click()
        opened.get_by_label("Code to run instead").fill("print('second')")
        opened.get_by_role("button", name="Run this instead").click()
        expect(opened.locator("pre.output")).to_have_text("second\n")
        expect(opened.locator("#state")).to_have_text("Ready")
        opened.fill("#words", "print more")
        opened.press("#words", "Enter")
        opened.get_by_role("button", name="Deny").click()
        expect(opened.locator(".answer").last).to_have_text("As you wish.")
        assert "never" not in opened.locator("pre.output").all_inner_texts()


def test_the_stop_button_ends_a_long_answer(
    server: Server, model: ScriptedModel, question: Path
) -> None:
    model.add(Reply([f"Sentence number {n} is long. " for n in range(60)], between_s=0.3))
    with page(question) as opened:
        is_paired(opened, server)
        opened.fill("#words", "tell me a story")
        opened.press("#words", "Enter")
        expect(opened.locator("#state")).to_have_text("Speaking")
        opened.locator("#stop").click()
        expect(opened.locator("#state")).to_have_text("Ready")
        assert "number 59" not in opened.locator(".answer").inner_text()


def test_what_was_missed_without_a_network_is_there_again(
    server: Server, model: ScriptedModel, question: Path
) -> None:
    model.add(Reply([f"Part {n}. " for n in range(12)], between_s=0.7))
    with page(question) as opened:
        is_paired(opened, server)
        opened.fill("#words", "count")
        opened.press("#words", "Enter")
        expect(opened.locator(".answer")).to_contain_text("Part 1.")
        opened.evaluate("() => import('/app.js').then(({ line }) => line().lose())")
        expect(opened.locator(".answer")).to_contain_text("Part 11.")
        parts = opened.locator(".answer").inner_text()
        assert [parts.count(f"Part {n}.") for n in range(12)] == [1] * 12


def test_the_page_opens_without_a_server_and_says_so(
    server: Server, model: ScriptedModel, question: Path
) -> None:
    with page(question) as opened:
        is_paired(opened, server)
        opened.evaluate("() => navigator.serviceWorker.ready.then(() => true)")
        opened.reload()
        expect(opened.locator("#state")).to_have_text("Ready")
        server.stop()
        opened.reload()
        expect(opened.locator("#state")).to_contain_text("The server is away")
        server.start()
        expect(opened.locator("#state")).to_have_text("Ready")


def test_a_stranger_is_asked_to_pair_and_a_wrong_code_is_told(
    server: Server, question: Path
) -> None:
    with page(question) as opened:
        opened.goto(f"http://127.0.0.1:{server.port}/")
        expect(opened.get_by_role("heading", name="Pair this device")).to_be_visible()
        opened.get_by_label("Six digits").fill("123 456")
        opened.get_by_role("button", name="Pair").click()
        expect(opened.get_by_role("alert")).to_contain_text("sayso pair")
        kept = opened.evaluate("() => JSON.stringify(localStorage)")
        assert "sayso.token" not in json.loads(kept)
