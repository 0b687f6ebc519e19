"""Tools that the discovery command declares."""

import asyncio
import json
import os
import resource
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.process_marks import STUBBORN_SCRIPT, cancel_stubborn
from tejat.core.errors import UsageError
from tejat.core.messages.declaration import FunctionDeclaration
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.tools.discovered.discovery import (
    MAX_DESCRIPTION_LENGTH,
    MAX_TOOLS,
    DiscoveryFailed,
    DiscoveryResult,
    _parse_output,
    discover_tools,
)
from tejat.workspace.processes.environment import child_environment
from tejat.workspace.processes.process_tree import process_start_time
from tejat.workspace.processes.supervisor_client import ProcessSupervisor

ENVIRONMENT = child_environment({"PATH": os.environ.get("PATH", os.defpath)})
EMPTY: JsonObject = {"type": "object", "properties": {}}
NO_NAME = "Discovered a tool with no name. Skipping."


def run(
    supervisor: ProcessSupervisor, root: Path, command: str | Sequence[str] | None, *, seconds: float = 60.0
) -> DiscoveryResult:
    return asyncio.run(
        discover_tools(command, supervisor=supervisor, directory=str(root), environment=ENVIRONMENT, seconds=seconds)
    )


def failure(
    supervisor: ProcessSupervisor, root: Path, command: str | Sequence[str], *, seconds: float = 60.0
) -> DiscoveryFailed:
    with pytest.raises(DiscoveryFailed) as raised:
        run(supervisor, root, command, seconds=seconds)
    return raised.value


def printed(supervisor: ProcessSupervisor, root: Path, listed: object) -> DiscoveryResult:
    """What comes of a command that prints this."""
    (root / "printed").write_text(json.dumps(listed))
    return run(supervisor, root, "cat printed")


def declared(name: str, description: str = "", schema: JsonObject = EMPTY) -> FunctionDeclaration:
    return FunctionDeclaration(name, description, schema)


def test_nothing_happens_without_a_command(supervisor: ProcessSupervisor, root: Path) -> None:
    assert run(supervisor, root, None) == DiscoveryResult()


class TestShapes:
    ONE, TWO, THREE, FOUR = ({"name": name} for name in ("one", "two", "three", "four"))

    @pytest.mark.parametrize(
        ("listed", "names"),
        [
            ([], []),
            ([ONE, TWO], ["one", "two"]),
            ([{"function_declarations": [ONE, TWO]}], ["one", "two"]),
            ([{"functionDeclarations": [ONE]}, {"functionDeclarations": [TWO]}], ["one", "two"]),
            (
                [ONE, {"function_declarations": [TWO]}, {"functionDeclarations": [THREE]}, FOUR],
                ["one", "two", "three", "four"],
            ),
            (["text", 5, None, [ONE], TWO, {"functionDeclarations": [None, 5, THREE]}], ["two", "three"]),
        ],
    )
    def test_accepted(self, supervisor: ProcessSupervisor, root: Path, listed: object, names: list[str]) -> None:
        assert printed(supervisor, root, listed) == DiscoveryResult(tuple(declared(name) for name in names))

    def test_without_a_name(self, supervisor: ProcessSupervisor, root: Path) -> None:
        listed = [{"description": "x"}, {"name": ""}, {"functionDeclarations": [{"name": None}, {"name": "good"}]}]
        assert printed(supervisor, root, listed) == DiscoveryResult((declared("good"),), (NO_NAME,) * 3)

    def test_without_description_or_parameters(self, supervisor: ProcessSupervisor, root: Path) -> None:
        listed = [{"name": "a"}, {"name": "b", "description": 5, "parameters": None}, {"name": "c", "parameters": {}}]
        assert printed(supervisor, root, listed) == DiscoveryResult((declared("a"), declared("b"), declared("c")))

    def test_parameters_are_kept_as_given(self, supervisor: ProcessSupervisor, root: Path) -> None:
        schema: dict[str, JsonValue] = {
            "type": "object",
            "properties": {
                "where": {"type": "object", "properties": {"x": {"type": ["number", "null"], "unit": "m"}}},
                "type": {"type": "string", "enum": ["OBJECT"], "description": "ä"},
            },
            "required": ["where"],
            "additionalProperties": False,
        }
        listed = [
            {"name": "a", "description": " d\n", "parameters": schema},
            {"name": "b", "parametersJsonSchema": schema, "parameters": {"type": "string"}},
            {"name": "c", "parameters": {"required": ["x"]}},
        ]
        assert printed(supervisor, root, listed) == DiscoveryResult(
            (declared("a", " d\n", schema), declared("b", "", schema), declared("c", "", {**EMPTY, "required": ["x"]}))
        )

    def test_types_in_capitals(self, supervisor: ProcessSupervisor, root: Path) -> None:
        written = {"type": "OBJECT", "properties": {"a": {"type": "ARRAY", "items": {"type": "STRING"}}}}
        meant: JsonObject = {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string"}}}}
        assert printed(supervisor, root, [{"name": "a", "parameters": written}]) == DiscoveryResult(
            (declared("a", "", meant),)
        )


class TestFlaws:
    @pytest.mark.parametrize(
        ("schema", "flaw"),
        [
            ("text", "not an object"),
            ([], "not an object"),
            ({"type": "string"}, 'the schema type is not "object"'),
            ({"type": 5}, 'the schema type is not "object"'),
            ({"required": "x"}, 'not a valid JSON Schema: "x" is not of type "array"'),
            ({"properties": {"a": {"type": "file"}}}, "not a valid JSON Schema: "),
            ({"properties": {"\x1b": {"pattern": "(\u200b\x1b\n"}}}, "not a valid JSON Schema: "),
            ({"properties": {"a": {"$ref": "http://127.0.0.1:9/x"}}}, "not a valid JSON Schema: "),
            ({"description": "x" * 70_000}, "larger than 64 KiB"),
            ({"not": json.loads('{"not":' * 500 + "{}" + "}" * 500)}, "nested more than 64 levels deep"),
        ],
    )
    def test_a_broken_schema(self, supervisor: ProcessSupervisor, root: Path, schema: object, flaw: str) -> None:
        found = printed(supervisor, root, [{"name": "a", "description": "d", "parameters": schema}])
        assert found.tools == (declared("a", "d"),)
        assert len(found.warnings) == 1
        assert found.warnings[0].startswith(f"Ignoring the parameters of tool a: {flaw}")
        assert found.warnings[0].isprintable()

    @pytest.mark.parametrize(
        ("name", "shown"),
        [
            ("a b", "a b"),
            ("$(touch mark)", "$(touch mark)"),
            ("x; touch mark", "x; touch mark"),
            ("-rf", "-rf"),
            ("1a", "1a"),
            ("../a", "../a"),
            ("a\n", "a<U+000A>"),
            ("read_file\u200b", "read_file<U+200B>"),
            ("\x1b[31mred", "<U+001B>[31mred"),
            ("réad", "réad"),
            ("a" * 64, "a" * 64),
            ("a" * 5000, "a" * 100),
            (5, "5"),
            (["a"], "['a']"),
        ],
    )
    def test_a_name_that_no_model_could_call(
        self, supervisor: ProcessSupervisor, root: Path, name: object, shown: str
    ) -> None:
        """Rejected whole, and shown."""
        warning = (
            f'Discovered a tool with the name "{shown}", which no model could call: a name has at most 63 letters, '
            "digits and _.:- and begins with a letter or _. Skipping."
        )
        listed = [{"name": name}, {"name": "good"}]
        assert printed(supervisor, root, listed) == DiscoveryResult((declared("good"),), (warning,))

    def test_names_that_models_can_call(self, supervisor: ProcessSupervisor, root: Path) -> None:
        names = ["a", "_", "read_file", "a.b:c-d_1", "a" * 63]
        found = printed(supervisor, root, [{"name": name} for name in names])
        assert found == DiscoveryResult(tuple(declared(name) for name in names))

    def test_a_description_with_too_much_in_it(self, supervisor: ProcessSupervisor, root: Path) -> None:
        listed = [
            {"name": "long", "description": "x" * 100_000},
            {"name": "hidden", "description": "a\u200bb\U000e0041\x1b[1m ä\tc\ud800"},
        ]
        assert printed(supervisor, root, listed) == DiscoveryResult(
            (declared("long", "x" * MAX_DESCRIPTION_LENGTH + "..."), declared("hidden", "ab[1m ä\tc")),
            (
                "Shortened the description of tool long to 8192 characters.",
                "Removed hidden characters from the description of tool hidden.",
            ),
        )

    def test_too_many(self, supervisor: ProcessSupervisor, root: Path) -> None:
        listed = [{"name": f"t{number}"} for number in range(MAX_TOOLS + 5)] + [{}] * 50
        found = printed(supervisor, root, listed)
        assert [tool.name for tool in found.tools] == [f"t{number}" for number in range(MAX_TOOLS)]
        assert found.warnings == (
            *[NO_NAME] * 20,
            "Discovered more than 1000 tools. Skipping 5.",
            "30 more warnings like these.",
        )

    @given(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(max_size=5),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(
                    st.sampled_from(
                        ["name", "parameters", "functionDeclarations", "type", "properties", "description"]
                    ),
                    inner,
                    max_size=4,
                )
            ),
            max_leaves=12,
        ).map(lambda each: [each])
    )
    def test_whatever_is_listed(self, listed: list[object]) -> None:
        for tool in _parse_output(json.dumps(listed).encode()).tools:
            assert tool.parameters_json_schema["type"] == "object"
            assert tool.name.isascii()


class TestFailing:
    @pytest.mark.parametrize("text", ["{}", "null", "5", '"x"', '{"functionDeclarations": []}'])
    def test_no_array(self, supervisor: ProcessSupervisor, root: Path, text: str) -> None:
        (root / "printed").write_text(text)
        error = failure(supervisor, root, "cat printed")
        assert str(error) == "Tool discovery command did not return a JSON array of tools."

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            (b"", "printed no output."),
            (b" \n", "printed no output."),
            (b"[{", "did not print JSON: Expecting property name enclosed in double quotes at line 1, column 3."),
            (b"Loading...\n[]", "did not print JSON: Expecting value at line 1, column 1."),
            (b'["\xff"]', "did not print JSON: not UTF-8: invalid byte 3."),
            (b"[NaN]", "did not print JSON: NaN is not a JSON number."),
            (b"[" * 100_000, "did not print JSON: nested too deeply."),
            (os.urandom(1000) + b"\0\xff", "did not print JSON: "),
        ],
    )
    def test_no_json(self, supervisor: ProcessSupervisor, root: Path, text: bytes, reason: str) -> None:
        (root / "printed").write_bytes(text)
        error = failure(supervisor, root, "cat printed")
        assert str(error).startswith(f"Tool discovery command {reason}")
        assert error.lines == (f'Tool discovery command "cat printed" failed: {error}',)

    def test_an_exit_code(self, supervisor: ProcessSupervisor, root: Path) -> None:
        error = failure(supervisor, root, ["sh", "-c", "echo []; echo 'no \x1b[1mdisk\nsorry' >&2; exit 3"])
        assert str(error) == "Tool discovery command failed with exit code 3"
        assert error.lines[0].startswith("""Tool discovery command "sh -c 'echo []; echo""")
        assert error.lines[0].endswith("""failed: Tool discovery command failed with exit code 3""")
        assert error.lines[1:] == ("no <U+001B>[1mdisk", "sorry")

    def test_a_signal(self, supervisor: ProcessSupervisor, root: Path) -> None:
        error = failure(supervisor, root, ["sh", "-c", "echo []; kill -9 $$"])
        assert str(error) == "Tool discovery command was killed by SIGKILL."

    def test_words_on_stderr_are_shown(self, supervisor: ProcessSupervisor, root: Path) -> None:
        found = run(supervisor, root, ["sh", "-c", "echo []; seq 1 100 >&2; head -c 9000 /dev/zero | tr '\\0' x >&2"])
        assert found == DiscoveryResult((), (), (*map(str, range(62, 101)), "x" * 400))

    @pytest.mark.parametrize("stream", [1, 2])
    def test_too_much_output(self, supervisor: ProcessSupervisor, root: Path, stream: int) -> None:
        """A gigabyte takes neither the memory nor the time of a gigabyte."""
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        error = failure(supervisor, root, ["sh", "-c", f"echo []; head -c 1000000000 /dev/zero >&{stream}"])
        assert str(error) == "Tool discovery command output exceeded size limit of 10485760 bytes."
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000

    def test_characters_that_come_in_pieces(self, supervisor: ProcessSupervisor, root: Path) -> None:
        script = root / "pieces.py"
        script.write_text(
            "import json, os, time\n"
            "for byte in json.dumps([{'name': 'a', 'description': 'ä€😀'}], ensure_ascii=False).encode():\n"
            "    os.write(1, bytes([byte]))\n"
            "    time.sleep(0.002)\n"
        )
        assert run(supervisor, root, [sys.executable, "pieces.py"]) == DiscoveryResult((declared("a", "ä€😀"),))

    def test_time(self, supervisor: ProcessSupervisor, root: Path) -> None:
        error = failure(supervisor, root, ["sh", "-c", "echo []; echo waiting >&2; sleep 1000 & wait"], seconds=1)
        assert str(error) == "Tool discovery command timed out after 1 seconds."
        assert error.lines[1:] == ("waiting",)

    def test_what_cannot_be_run(self, supervisor: ProcessSupervisor, root: Path) -> None:
        error = failure(supervisor, root, "no-such-program list")
        assert str(error) == ("Tool discovery command could not run: There is no such program on PATH: no-such-program")
        assert error.lines == (f'Tool discovery command "no-such-program list" failed: {error}',)
        (root / "text").write_text("no program")
        assert "Permission denied" in str(failure(supervisor, root, "./text"))


class TestCommand:
    @pytest.fixture
    def script(self, root: Path) -> Path:
        path = root / "my tools.py"
        path.write_text("import json, os, sys\nprint(json.dumps([{'name': 'a', 'description': repr(sys.argv[1:])}]))\n")
        return path

    def test_a_line_and_a_list(self, supervisor: ProcessSupervisor, root: Path, script: Path) -> None:
        """A Python script with arguments works both ways."""
        found = DiscoveryResult((declared("a", "['list', '--kind=a b', '$(touch mark)']"),))
        line = f"""{sys.executable} 'my tools.py' list "--kind=a b" '$(touch mark)'"""
        assert run(supervisor, root, line) == found
        assert run(supervisor, root, [sys.executable, script.name, "list", "--kind=a b", "$(touch mark)"]) == found
        assert not (root / "mark").exists()

    @pytest.mark.parametrize("command", ["", "  \t", ()])
    def test_no_command(self, supervisor: ProcessSupervisor, root: Path, command: str | tuple[str, ...]) -> None:
        with pytest.raises(UsageError) as raised:
            run(supervisor, root, command)
        assert str(raised.value) == "Tool discovery command is empty or contains only whitespace."

    def test_what_only_a_shell_could_do(self, supervisor: ProcessSupervisor, root: Path) -> None:
        with pytest.raises(UsageError, match=r"^Tool discovery command must start with a program name.$"):
            run(supervisor, root, "&& touch mark")
        with pytest.raises(UsageError, match=r"^Tool discovery command contains >, which needs a shell"):
            run(supervisor, root, "echo [] > mark")
        assert not (root / "mark").exists()

    def test_it_sees_the_directory_and_the_environment_it_is_given(
        self, supervisor: ProcessSupervisor, root: Path
    ) -> None:
        script = """printf '[{"name": "a", "description": "%s %s"}]' "$PWD" "$GEMINI_CLI$HOME" """
        assert run(supervisor, root, ["sh", "-c", script]) == DiscoveryResult((declared("a", f"{root} 1"),))


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_a_cancelled_discovery_leaves_no_process(supervisor: ProcessSupervisor, root: Path) -> None:
    async def main() -> list[int]:
        command = ["sh", "-c", STUBBORN_SCRIPT]
        running = asyncio.create_task(
            discover_tools(command, supervisor=supervisor, directory=str(root), environment=ENVIRONMENT)
        )
        return await cancel_stubborn(running, root)

    assert [process_start_time(pid) for pid in asyncio.run(main())] == [None] * 3
