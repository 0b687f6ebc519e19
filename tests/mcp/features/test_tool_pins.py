"""What a tool declared when it was last allowed: kept, compared, and never a reason to crash."""

import json
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.file_version import file_version
from tejat.config.files.lock import file_lock
from tejat.core.frozen import replace
from tejat.mcp.features import tool_pins as module
from tejat.mcp.features.tool_pins import ToolPins, tool_digest
from tejat.mcp.types import ServerTool, ToolAnnotations


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "pins.json"


class TestPins:
    def test_what_was_never_allowed_has_not_changed(self, path: Path) -> None:
        pins = ToolPins(str(path))
        assert not pins.has_changed("s", "t", "one")
        assert not pins.has_changed("s", "t", "two")
        assert pins.problem is None
        assert not path.parent.exists()

    def test_what_was_allowed_is_remembered(self, path: Path) -> None:
        ToolPins(str(path)).record_approval("s", "t", "one")
        later = ToolPins(str(path))
        answers = [
            later.has_changed("s", "t", "one"),
            later.has_changed("s", "t", "two"),
            later.has_changed("other", "t", "two"),
            later.has_changed("s", "other", "two"),
        ]
        assert answers == [False, True, False, False]
        later.record_approval("s", "t", "two")
        assert [later.has_changed("s", "t", digest) for digest in ("one", "two")] == [True, False]
        assert [ToolPins(str(path)).has_changed("s", "t", digest) for digest in ("one", "two")] == [True, False]

    def test_the_file(self, path: Path) -> None:
        pins = ToolPins(str(path))
        pins.record_approval("s", "b", "1")
        pins.record_approval("s", "a", "2")
        pins.record_approval("s", "b", "3")
        assert json.loads(path.read_text()) == {"version": 1, "tools": {"s__a": "2", "s__b": "3"}}
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700

    def test_what_is_known_already_is_not_written_again(self, path: Path) -> None:
        ToolPins(str(path)).record_approval("s", "t", "one")
        before = file_version(path)
        again = ToolPins(str(path))
        again.record_approval("s", "t", "one")
        again.record_approval("s", "t", "one")
        assert file_version(path) == before

    def test_sessions_side_by_side_keep_what_the_other_wrote(self, path: Path) -> None:
        one, other = ToolPins(str(path)), ToolPins(str(path))
        assert not one.has_changed("s", "a", "1")
        other.record_approval("s", "b", "2")
        one.record_approval("s", "a", "1")
        later = ToolPins(str(path))
        assert [later.has_changed("s", "a", "x"), later.has_changed("s", "b", "x")] == [True, True]

    def test_the_oldest_are_forgotten(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "MAX_PINS", 2)
        pins = ToolPins(str(path))
        for tool in ("a", "b", "a2", "c"):
            pins.record_approval("s", tool, "1")
        assert list(json.loads(path.read_text())["tools"]) == ["s__a2", "s__c"]

    def test_as_many_as_may_be_fit(self, path: Path) -> None:
        """The file is not longer than what is read of it."""
        path.parent.mkdir()
        tools = {f"{number:063}": "0" * 64 for number in range(module.MAX_PINS)}
        path.write_text(json.dumps({"version": 1, "tools": tools}))
        pins = ToolPins(str(path))
        pins.record_approval("s", "t", "1" * 64)
        assert pins.problem is None
        later = ToolPins(str(path))
        assert [later.has_changed("s", "t", "1" * 64), later.has_changed("s", "t", "2" * 64)] == [False, True]
        assert len(json.loads(path.read_text())["tools"]) == module.MAX_PINS


BROKEN = {
    "not JSON": "{",
    "another shape": "[]",
    "nothing in it": "{}",
    "another version": '{"version": 2, "tools": {}}',
    "no tools": '{"version": 1}',
    "tools of another kind": '{"version": 1, "tools": []}',
    "a digest of another kind": '{"version": 1, "tools": {"s__t": 5}}',
    "nested": '{"version": 1, "tools": ' + "[" * 100_000,
    "too long": " " * (2**20 + 1),
}


class TestFilesThatCannotBeReliedOn:
    @pytest.mark.parametrize("what", BROKEN)
    def test_everything_counts_as_changed(self, path: Path, what: str) -> None:
        path.parent.mkdir()
        path.write_text(BROKEN[what])
        pins = ToolPins(str(path))
        assert pins.has_changed("s", "t", "one")
        assert pins.problem is not None
        assert pins.problem.startswith(f"Could not check which MCP tools changed: {path}: ")
        pins.record_approval("s", "t", "one")
        assert [pins.has_changed("s", "t", "one"), pins.has_changed("s", "other", "one")] == [False, True]
        assert path.read_text() == BROKEN[what]

    def test_allowing_comes_first(self, path: Path) -> None:
        path.parent.mkdir()
        path.write_text("{")
        pins = ToolPins(str(path))
        pins.record_approval("s", "t", "one")
        assert [pins.has_changed("s", "t", "one"), pins.has_changed("s", "t", "two")] == [False, True]
        assert path.read_text() == "{"

    def test_one_that_anybody_may_write(self, path: Path) -> None:
        ToolPins(str(path)).record_approval("s", "t", "one")
        path.chmod(0o666)
        assert ToolPins(str(path)).has_changed("s", "t", "one")

    def test_a_directory(self, path: Path) -> None:
        path.mkdir(parents=True)
        assert ToolPins(str(path)).has_changed("s", "t", "one")

    def test_one_that_cannot_be_written(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        pins = ToolPins(str(tmp_path / "file" / "pins.json"))
        assert not pins.has_changed("s", "t", "one")
        pins.record_approval("s", "t", "one")
        assert pins.problem is not None
        assert pins.problem.startswith("Could not save which MCP tools were allowed: ")
        assert [pins.has_changed("s", "t", "one"), pins.has_changed("s", "other", "one")] == [False, True]

    def test_one_that_somebody_holds(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "_LOCK_SECONDS", 0.02)
        path.parent.mkdir()
        pins = ToolPins(str(path))
        with file_lock(f"{path}.lock", timeout=1):
            pins.record_approval("s", "t", "one")
        assert pins.problem is not None
        assert not path.exists()


def test_many_processes_at_once(path: Path) -> None:
    script = (
        "import sys\nfrom tejat.mcp.features.tool_pins import ToolPins\n"
        "for n in range(10): ToolPins(sys.argv[1]).record_approval(sys.argv[2], str(n), 'd')"
    )
    running = [subprocess.Popen([sys.executable, "-c", script, str(path), name]) for name in "abc"]
    assert [process.wait(60) for process in running] == [0, 0, 0]
    kept = json.loads(path.read_text())["tools"]
    assert set(kept) == {f"{name}__{number}" for name in "abc" for number in range(10)}


TOOL = ServerTool("t", "d", "T", {"type": "object"}, {"type": "object"}, ToolAnnotations("A", True, False, True, False))


class TestDigest:
    @pytest.mark.parametrize(
        "change",
        [
            {"name": "t2"},
            {"description": "D"},
            {"description": "d\u200b"},
            {"title": None},
            {"input_schema": {"type": "object", "properties": {}}},
            {"input_schema": None},
            {"output_schema": None},
            {"annotations": ToolAnnotations("B", True, False, True, False)},
            {"annotations": ToolAnnotations("A", False, False, True, False)},
            {"annotations": ToolAnnotations("A", True, None, True, False)},
            {"annotations": ToolAnnotations("A", True, False, False, False)},
            {"annotations": ToolAnnotations("A", True, False, True, True)},
        ],
    )
    def test_whatever_changes(self, change: dict[str, Any]) -> None:
        assert tool_digest(replace(TOOL, **change)) != tool_digest(TOOL)

    def test_the_order_of_members_does_not_matter(self) -> None:
        one = ServerTool("t", input_schema={"a": 1, "b": {"c": 2, "d": 3}})
        other = ServerTool("t", input_schema={"b": {"d": 3, "c": 2}, "a": 1})
        assert tool_digest(one) == tool_digest(other)
        assert tool_digest(one) == tool_digest(one)

    def test_half_characters(self) -> None:
        assert tool_digest(ServerTool("t", "\ud800")) != tool_digest(ServerTool("t", "?"))

    def test_nested_too_deeply(self) -> None:
        deep: Any = {}
        for _ in range(100_000):
            deep = {"a": deep}
        with pytest.raises(ValueError, match="nested too deeply"):
            tool_digest(ServerTool("t", output_schema=deep))
