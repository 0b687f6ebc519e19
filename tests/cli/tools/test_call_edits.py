"""Imperfect edits through `tejat tools call --jsonl`: the way on which others run their cases."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from support.imperfect_edits import imperfect_edits

CALL = [sys.executable, "-m", "tejat", "tools", "call", "--jsonl", "--yes"]


def replacing(path: Path, old: str, new: str) -> dict[str, object]:
    return {"name": "replace", "args": {"file_path": str(path), "old_string": old, "new_string": new}}


def answers(root: Path, calls: list[dict[str, object]]) -> list[dict[str, Any]]:
    lines = "".join(json.dumps(call | {"id": number}) + "\n" for number, call in enumerate(calls))
    done = subprocess.run(
        [*CALL, "--root", str(root)], input=lines.encode(), capture_output=True, cwd=root, timeout=120, check=False
    )
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["id"] for answer in found] == list(range(len(calls)))
    return found


def test_in_every_encoding_and_with_every_line_end(tmp_path: Path) -> None:
    edits = list(imperfect_edits())
    calls: list[dict[str, object]] = []
    for number, edit in enumerate(edits):
        (tmp_path / str(number)).write_bytes(edit.before)
        calls.append(replacing(tmp_path / str(number), edit.old, edit.new))
    wrong = {
        edit.name: answer["error"]
        for number, (edit, answer) in enumerate(zip(edits, answers(tmp_path, calls), strict=True))
        if (answer["error"], (tmp_path / str(number)).read_bytes()) != (None, edit.after)
    }
    assert wrong == {}


def test_several_edits_of_one_file(tmp_path: Path) -> None:
    path = tmp_path / "f.py"
    path.write_bytes(b"first = 1\r\nsecond  = 2\r\nthird_value = 3")
    calls = [
        replacing(path, "first=1\nsecond = 2", "first=1\nsecond = 20"),
        replacing(path, "second = 20\n\nthird_value = 3", "second = 20\n\nthird_value = 30"),
        replacing(path, "thrid_value = 30", "thrid_value = 31"),
        replacing(path, "fourth = 4", "fourth = 5"),
    ]
    found = answers(tmp_path, calls)
    assert [answer["error"] and answer["error"]["type"] for answer in found] == [
        None,
        None,
        None,
        "edit_no_occurrence_found",
    ]
    assert path.read_bytes() == b"first = 1\r\nsecond  = 20\r\nthird_value = 31"


def test_strange_bytes_are_told_as_json(tmp_path: Path) -> None:
    raw = b"\xef\xbb\xbfone  \x1b[31mred\x1b[0m \xff\xfe\r\n" + b"x" * 1_000_000 + b"\r\nlast  line\r\n"
    (tmp_path / "f").write_bytes(raw)
    calls = [
        replacing(tmp_path / "f", "one red and\nmany more", "x"),
        replacing(tmp_path / "f", " last line\n", " final line\n"),
    ]
    refused, made = answers(tmp_path, calls)
    assert refused["error"]["type"] == "edit_no_occurrence_found"
    assert len(refused["llmContent"]) < 2_000
    assert made["error"] is None
    assert len(made["llmContent"]) < 2_000
    assert (tmp_path / "f").read_bytes() == raw.replace(b"last", b"final")


def test_a_file_that_changes_between_two_calls(tmp_path: Path) -> None:
    path = tmp_path / "f.py"
    path.write_text("first = 1\nsecond  = 2\n")
    process = subprocess.Popen(
        [*CALL, "--root", str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path, env=os.environ
    )
    assert process.stdin is not None
    assert process.stdout is not None

    def ask(call: dict[str, object]) -> dict[str, Any]:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(call).encode() + b"\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    read: dict[str, object] = {"name": "read_file", "args": {"absolute_path": str(path)}}
    edit = replacing(path, "first=1\nsecond = 2", "first=1\nsecond = 20")
    with process:
        assert ask(read)["error"] is None
        path.write_text("zeroth = 0\nfirst = 1\nsecond  = 2\n")
        assert ask(edit)["error"]["type"] == "stale_file"
        assert path.read_text() == "zeroth = 0\nfirst = 1\nsecond  = 2\n"
        assert ask(read)["error"] is None
        assert ask(edit)["error"] is None
        assert path.read_text() == "zeroth = 0\nfirst = 1\nsecond  = 20\n"
        process.stdin.close()
    assert process.returncode == 0
