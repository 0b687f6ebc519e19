"""The program that reads HTML, run as such."""

import json
import os
import subprocess
import sys

import html_to_markdown

from tejat.workspace.web import html_worker

LIBRARY = os.path.dirname(os.path.dirname(html_to_markdown.__file__))


def run(given: bytes, library: str = LIBRARY) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-I", "-S", html_worker.__file__, library]
    return subprocess.run(command, input=given, capture_output=True, timeout=30, check=False)


def wishes(**given: object) -> bytes:
    return json.dumps({"base_url": "https://a.example/", "with_links": False, "limit": 100, **given}).encode() + b"\n"


def test_an_answer_is_a_line_about_it_and_the_text() -> None:
    done = run(wishes() + b"<h1>x</h1><a href=y>z</a>")
    head, text = done.stdout.split(b"\n", 1)
    assert (done.returncode, json.loads(head), text) == (0, {"is_too_deep": False, "was_cut": False}, b"# x\n\nz")


def test_wishes() -> None:
    done = run(wishes(with_links=True, limit=5) + b"<a href=y>z</a>")
    head, text = done.stdout.split(b"\n", 1)
    assert (json.loads(head), text) == ({"is_too_deep": False, "was_cut": True}, b"[z](h")


def test_what_it_cannot_do_is_seen_by_its_status(tmp_path: os.PathLike[str]) -> None:
    assert run(wishes() + b"x", os.fspath(tmp_path)).returncode != 0
    assert run(b"nonsense\n").returncode != 0


def test_it_limits_itself() -> None:
    script = (
        "import resource\nfrom tejat.workspace.web import html_worker as worker\n"
        "for what, most in ((resource.RLIMIT_AS, worker.MAX_MEMORY), (resource.RLIMIT_CPU, worker.MAX_SECONDS)):\n"
        "    worker._limit(what, most)\n"
        "    assert resource.getrlimit(what)[0] == most\n"
        "try:\n    bytearray(worker.MAX_MEMORY)\nexcept MemoryError:\n    print('enough')\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=30, check=False)
    assert (done.stdout, done.stderr) == (b"enough\n", b"")
