"""The scripted model as a process of its own, which other rooms' tests and benchmarks start."""

import json
import subprocess
import sys
import urllib.request
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "scripted_model.py"


def test_it_runs_as_a_process_and_answers_by_its_script(tmp_path: Path) -> None:
    script = tmp_path / "replies.json"
    script.write_text(
        json.dumps(
            [{"says": ["It is ", "42."], "when": "times"}, {"code": "print(1)"}, {"status": 503}]
        )
    )
    server = subprocess.Popen(
        [sys.executable, str(SCRIPT), "--port", "0", "--script", str(script)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdout is not None
    try:
        url = server.stdout.readline().strip()
        assert "It is " in ask(url, "six times seven")
        assert "print(1)" in ask(url, "go")
        assert "42." in ask(url, "two times three")
    finally:
        server.terminate()
        server.stdout.close()
        server.wait(10)


def ask(url: str, text: str) -> str:
    body = {"model": "x", "stream": True, "messages": [{"role": "user", "content": text}]}
    request = urllib.request.Request(f"{url}/chat/completions", json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.read().decode()  # type: ignore[no-any-return]
