"""What offers tools in Python, and what is told of what does not."""

import asyncio
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tejat.app.plugins.discovery import Plugins
from tejat.app.plugins.loader import MAX_TOOLS, collect_tools, load_plugin_file
from tejat.config.files.reader import AllowedWriters
from tejat.core.messages.types import Params
from tejat.core.tools.base import BaseTool, ToolContext, ToolResult, validate_and_execute
from tejat.tools.python.function_tool import tool


class Echo(BaseTool):
    def __init__(self, name: str = "echo") -> None:
        super().__init__(name=name, description="Echoes.", parameter_schema={"type": "object"})

    async def execute(self, params: Params, context: ToolContext) -> ToolResult:
        return ToolResult(self.name)


class Demanding(Echo):
    def __init__(self, name: str) -> None:
        super().__init__(name)


def plain(text: str) -> str:
    """Says it."""
    return text


def now() -> str:
    """Tells the time. It is a tool, not something that gives tools."""
    return "noon"


def some() -> list[BaseTool]:
    return [Echo("a"), Echo("b")]


def one() -> "Echo":
    return Echo("c")


def undescribed(text: str) -> str:
    return text


def names(thing: object) -> list[str]:
    return [each.name for each in collect_tools(thing)]


class TestWhatIsATool:
    @pytest.mark.parametrize(
        ("thing", "found"),
        [
            (Echo("x"), ["x"]),
            (Echo, ["echo"]),
            (plain, ["plain"]),
            (now, ["now"]),
            (tool(name="said")(plain), ["said"]),
            (some, ["a", "b"]),
            (one, ["c"]),
            ([Echo, plain, Echo("x")], ["echo", "plain", "x"]),
            ((Echo("x"), [plain]), ["x", "plain"]),
            (iter([plain]), ["plain"]),
            (partial(some), ["a", "b"]),
            ([], []),
        ],
    )
    def test_these_are(self, thing: object, found: list[str]) -> None:
        assert names(thing) == found

    @pytest.mark.parametrize(
        ("thing", "said"),
        [
            (5, "int is not a tool, a function or a list of them"),
            (None, "NoneType is not a tool, a function or a list of them"),
            ("text", "str is not a tool, a function or a list of them"),
            ({"a": plain}, "dict is not a tool, a function or a list of them"),
            (int, "int is not a tool, a function or a list of them"),
            (sys, "sys is not a tool, a function or a list of them"),
            (BaseTool, "abstract"),
            (Demanding, "missing 1 required positional argument"),
            (undescribed, "has no docstring"),
        ],
    )
    def test_these_are_not(self, thing: object, said: str) -> None:
        with pytest.raises((TypeError, ValueError), match=said):
            names(thing)


@pytest.fixture
def load(tmp_path: Path) -> Callable[[str], Plugins]:
    def load(code: str) -> Plugins:
        path = tmp_path / "x.py"
        path.write_text(code)
        return load_plugin_file(str(path), writers=AllowedWriters.TRUSTED, origin="x.py")

    return load


def problem(plugins: Plugins) -> str:
    (only,) = plugins.problems
    assert plugins.tools == ()
    return only.removeprefix("Could not load the tools of x.py: ")


NOT_JSON = "TypeError: Mine.parameter_schema cannot be written as JSON"
HEAD = "from tejat import BaseTool, Kind, ToolContext, ToolResult, tool\n"
WEATHER = HEAD + '@tool\ndef weather(place: str) -> str:\n    """Tells it."""\n    return place\n'


class TestFile:
    def test_every_tool_that_has_a_public_name_once(self, load: Callable[[str], Plugins]) -> None:
        code = WEATHER + "again = weather\n_hidden = tool(name='hidden')(weather.__wrapped__)\ndef helper(): ...\n"
        assert [found.tool.name for found in load(code).tools] == ["weather"]

    def test_a_list_says_which(self, load: Callable[[str], Plugins]) -> None:
        code = WEATHER + 'def plain(a: int) -> int:\n    """Adds."""\n    return a\nTOOLS = [plain]\n'
        (found,) = load(code).tools
        assert found.tool.name == "plain"
        assert asyncio.run(validate_and_execute(found.tool, {"a": 1})).llm_content == "1"

    def test_dataclasses_and_hints_as_text_work_as_in_any_module(self, load: Callable[[str], Plugins]) -> None:
        code = (
            "from __future__ import annotations\nfrom dataclasses import dataclass\nfrom tejat import tool\n"
            "@dataclass\nclass Place:\n    city: str\n"
            '@tool\ndef weather(place: Place) -> str:\n    """Tells it."""\n    return place.city\n'
        )
        (found,) = load(code).tools
        result = asyncio.run(validate_and_execute(found.tool, {"place": {"city": "Oslo"}}))
        assert result.llm_content == "Oslo"

    def test_its_directory_is_not_on_the_path(self, load: Callable[[str], Plugins], tmp_path: Path) -> None:
        (tmp_path / "beside_it.py").write_text("")
        before = list(sys.path)
        assert problem(load("import beside_it")).startswith("ModuleNotFoundError")
        assert sys.path == before

    def test_what_it_prints_does_not_get_among_the_results(
        self, load: Callable[[str], Plugins], capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert len(load("print('hello')\n" + WEATHER).tools) == 1
        assert capsys.readouterr() == ("", "hello\n")

    @pytest.mark.parametrize(
        ("code", "said"),
        [
            ("", "it has no tools. Mark functions with @tool, or list the tools in TOOLS."),
            ("TOOLS = []", "it has no tools. Mark functions with @tool, or list the tools in TOOLS."),
            ("TOOLS = 5", "TypeError: int is not a tool, a function or a list of them."),
            ("\n1 / 0", "ZeroDivisionError: division by zero (PATH, line 2)."),
            ("def f():\n    import json\n    json.loads('{')\nf()", None),
            ("raise SystemExit", "SystemExit (PATH, line 1)."),
            ("import sys\nsys.exit('no')", "SystemExit: no (PATH, line 2)."),
            ("raise GeneratorExit", "GeneratorExit (PATH, line 1)."),
            ("raise ValueError('a\\n\\x1b[2J b')", "ValueError: a <U+001B>[2J b (PATH, line 1)."),
            ("def f(:", "SyntaxError: invalid syntax (x.py, line 1)."),
            ("raise ValueError('x' * 10_000)", f"ValueError: {'x' * 287}… (PATH, line 1)."),
            (
                HEAD + "@tool\ndef f(a): ...",
                "TypeError: f() has no docstring, and a model must be told what it does (PATH, line 2).",
            ),
        ],
    )
    def test_what_is_wrong_is_told_in_a_line(
        self, load: Callable[[str], Plugins], tmp_path: Path, code: str, said: str | None
    ) -> None:
        told = problem(load(code)).replace(str(tmp_path / "x.py"), "PATH")
        if said is None:
            assert told.startswith("JSONDecodeError: ")
            assert told.endswith("(PATH, line 3).")
        else:
            assert told == said

    @pytest.mark.parametrize(
        ("making", "said"),
        [
            (
                'Mine("has space")',
                "ValueError: 'has space' is not a valid tool name: use letters, digits, '_' and '-', at most 64.",
            ),
            ('Mine("")', "ValueError: '' is not a valid tool name: use letters, digits, '_' and '-', at most 64."),
            (
                'Mine("a", {"default": float("nan")})',
                f"{NOT_JSON}: Out of range float",
            ),
            (
                'Mine("a", {"default": object()})',
                f"{NOT_JSON}: Object of type object",
            ),
        ],
    )
    def test_a_tool_that_no_model_could_be_told_of(
        self, load: Callable[[str], Plugins], making: str, said: str
    ) -> None:
        code = (
            HEAD + "class Mine(BaseTool):\n"
            "    def __init__(self, name, schema={}):\n"
            "        super().__init__(name=name, description='x', parameter_schema=schema)\n"
            "    async def execute(self, params, context): ...\n"
            f"TOOLS = [{making}]\n"
        )
        assert problem(load(code)).startswith(said)

    def test_too_many(self, load: Callable[[str], Plugins]) -> None:
        code = WEATHER + "import itertools\nTOOLS = itertools.repeat(weather)\n"
        assert problem(load(code)) == f"it has more than {MAX_TOOLS} tools."

    def test_the_person_can_stop_it(self, load: Callable[[str], Plugins]) -> None:
        with pytest.raises(KeyboardInterrupt):
            load("raise KeyboardInterrupt")

    def test_nothing_is_left_of_what_failed(self, load: Callable[[str], Plugins]) -> None:
        before = set(sys.modules)
        load("1 / 0")
        assert {name for name in set(sys.modules) - before if name.startswith("_tejat_tools")} == set()

    @pytest.mark.parametrize("encoding", ["utf-8-sig", "latin-1"])
    def test_any_encoding_that_python_reads(self, encoding: str, tmp_path: Path) -> None:
        cookie = "# -*- coding: latin-1 -*-\n" if encoding == "latin-1" else ""
        (tmp_path / "x.py").write_bytes((cookie + WEATHER.replace("Tells it.", "Größe.")).encode(encoding))
        (found,) = load_plugin_file(str(tmp_path / "x.py"), writers=AllowedWriters.TRUSTED, origin="x").tools
        assert found.tool.description == "Größe."

    def test_a_file_that_is_gone(self, tmp_path: Path) -> None:
        assert load_plugin_file(str(tmp_path / "gone.py"), writers=AllowedWriters.TRUSTED, origin="x") == Plugins()
