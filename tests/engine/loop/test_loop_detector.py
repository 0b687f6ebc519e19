"""A corpus of true loops, each of which is noticed, and of long honest work, none of which is disturbed."""

import itertools
import random
from collections.abc import Callable, Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tejat.core.messages.types import FunctionCall, FunctionResponse, InlineData, Part, Text
from tejat.engine.loop.loop_detector import (
    CHUNK_REPETITIONS,
    CHUNK_SIZE,
    MAX_AIMLESS_STEPS,
    MAX_CYCLE_LENGTH,
    REPEATED_LINES,
    REPETITIONS,
    LoopDetector,
)

ids = itertools.count()


def calls_of(step: str) -> tuple[list[FunctionCall], list[list[Part]]]:
    """`read a -> text | ls -> b`: two calls of one answer. Ids are new in every call, as a service gives them."""
    calls: list[FunctionCall] = []
    responses: list[list[Part]] = []
    for told in step.split(" | "):
        asked, _, result = told.partition(" -> ")
        name, _, argument = asked.partition(" ")
        call_id = f"call-{next(ids)}"
        calls.append(FunctionCall(name, {"argument": argument, "more": [1, {"deep": None}]}, call_id))
        responses.append([FunctionResponse(name, {"output": result}, call_id)])
    return calls, responses


def loops_in(steps: Sequence[str]) -> list[str]:
    guard = LoopDetector()
    guard.reset()
    return [found for step in steps if (found := guard.check_calls(*calls_of(step)))]


def loops_in_text(text: str, size: int = 7) -> list[str]:
    guard = LoopDetector()
    pieces = (text[start : start + size] for start in range(0, len(text), size))
    return [found for piece in pieces if (found := guard.check_text(piece))]


def numbered(pattern: str, count: int) -> list[str]:
    return [pattern.replace("#", str(number)) for number in range(1, count + 1)]


def rounds(count: int, *patterns: str) -> list[str]:
    return [step for number in range(count) for step in numbered_by(number, patterns)]


def numbered_by(number: int, patterns: Sequence[str]) -> list[str]:
    return [pattern.replace("#", str(number)) for pattern in patterns]


def shuffled(steps: Sequence[str], count: int, seed: int) -> list[str]:
    return random.Random(seed).choices(steps, k=count)


LONG = "x" * 200_000
TRUE_CALL_LOOPS: dict[str, list[str]] = {
    "reads one file again and again": ["read a.py -> content"] * 5,
    "lists one directory again and again": ["ls . -> a b c"] * 5,
    "searches what is not there": ["grep frobnicate -> No matches"] * 5,
    "a missing file": ["read nowhere -> File not found"] * 5,
    "an edit that never fits": ["replace a.py -> 0 occurrences found"] * 5,
    "a tool that does not exist": ["frobnicate x -> not found in registry"] * 5,
    "invalid parameters": ["read -> params must have property path"] * 5,
    "a refused command": ["shell rm -rf / -> denied by policy"] * 5,
    "the user said no": ["shell make install -> declined by the user"] * 5,
    "tests without a change between": ["shell pytest -> 1 failed"] * 5,
    "an empty result": ["shell true -> "] * 5,
    "a very long result": [f"read big -> {LONG}"] * 5,
    "a very long argument": [f"write {LONG} -> written"] * 5,
    "a loop after honest work": [*numbered("read # -> content #", 30), *["read a -> x"] * 5],
    "a loop after an almost loop": [*["read a -> x"] * 4, "read b -> y", *["read a -> x"] * 5],
    "a poll that has stopped changing": [*numbered("status -> #%", 20), *["status -> 20%"] * 5],
    "two parallel calls": ["read a -> x | read b -> y"] * 5,
    "twenty parallel calls": [" | ".join(numbered("read # -> #", 20))] * 5,
    "the same call many times in one answer": ["read a -> x | read a -> x | read a -> x"] * 5,
    "unicode": ["read déjà-vu/文件 -> 内容 😀"] * 5,
    "the same memory": ["save_memory tea -> saved"] * 5,
    "the same fetch": ["fetch http://example.invalid -> timed out"] * 5,
    "the same write": ["write a.py -> Successfully overwrote file"] * 5,
    "undo and nothing": ["shell git checkout . -> Updated 0 paths"] * 5,
    "two steps": ["read a -> x", "read b -> y"] * 5,
    "edit and revert": ["replace 1 to 2 -> done", "replace 2 to 1 -> done"] * 5,
    "write and test": ["write v1 -> written", "shell pytest -> 1 failed"] * 5,
    "list and read": ["ls . -> a", "read a -> x"] * 6,
    "start and stop": ["shell serve & -> started", "stop serve -> stopped"] * 5,
    "two steps, the second first": ["read b -> y", *["read a -> x", "read b -> y"] * 5],
    "three steps": ["ls -> a", "read a -> x", "grep y -> none"] * 5,
    "edit, test, revert": ["replace -> done", "shell pytest -> failed", "shell git checkout a -> done"] * 5,
    "three steps in parallel": ["ls -> a | ls b -> c", "read a -> x", "grep y -> none"] * 5,
    "four steps": ["a -> 1", "b -> 2", "c -> 3", "d -> 4"] * 5,
    "four steps, two of them the same": ["a -> 1", "b -> 2", "a -> 1", "c -> 3"] * 5,
    "five steps": ["a -> 1", "b -> 2", "c -> 3", "d -> 4", "e -> 5"] * 5,
    "five steps after many others": [
        *numbered("read # -> x", 40),
        *["a -> 1", "b -> 2", "c -> 3", "d -> 4", "e -> 5"] * 5,
    ],
    "the same result of two spellings": ["read a -> x", "read ./a -> x"] * 5,
    "two files in no order": shuffled(["read a -> x", "read b -> y"], 60, 1),
    "three files in no order": shuffled(["read a -> x", "read b -> y", "ls -> a b"], 60, 2),
    "five calls in no order": shuffled(["a -> 1", "b -> 2", "c -> 3", "d -> 4", "e -> 5"], 60, 3),
}
PARAGRAPH = "I need to look at the configuration first, then I will change the test so that it passes. "
TRUE_TEXT_LOOPS: dict[str, str] = {
    "one sentence": "I will try again to fix the failing test now. " * 100,
    "one paragraph": PARAGRAPH * 40,
    "one word": "the " * 400,
    "with a counter": "".join(numbered("Attempt #: the test fails, so I will read the file once more and edit. ", 60)),
    "one letter": "a" * 2000,
    "empty lines": "\n" * 2000,
    "a list that does not end": "- check the file\n" * 300,
    "a table that does not end": "| a | b |\n" * 300,
    "code that does not end": "```\n" + "    x = x + 1\n" * 300,
    "blocks of lines": "## Step\n- one\n- two\n\n" * 300,
    "chinese": "我现在再试一次修复这个失败的测试，然后运行所有的测试，看看结果如何，希望这次可以成功。" * 60,
    "after honest words": "".join(f"{number**3} is not {number**5}. " for number in range(80)) + PARAGRAPH * 40,
}


def poll(changing: Callable[[int], str], count: int = 40) -> list[str]:
    return [f"status job -> {changing(number)}" for number in range(count)]


HONEST_CALLS: dict[str, list[str]] = {
    "four times the same": ["read a -> x"] * 4,
    "four, another, four": [*["read a -> x"] * 4, "read b -> y", *["read a -> x"] * 4],
    "four rounds of two": ["read a -> x", "read b -> y"] * 4,
    "four rounds of three": ["a -> 1", "b -> 2", "c -> 3"] * 4,
    "four rounds of five": ["a -> 1", "b -> 2", "c -> 3", "d -> 4", "e -> 5"] * 4,
    "a build in percent": poll(lambda number: f"{number}% done"),
    "a build that counts steps": poll(lambda number: f"[{number}/40] Compiling"),
    "a server's growing log": poll(lambda number: "line\n" * number),
    "a clock": poll(lambda number: f"12:{number:02d}:00 still running"),
    "a queue that shrinks": poll(lambda number: f"{40 - number} left"),
    "spinning back and forth": poll(lambda number: f"load {number * 7919 % 97}"),
    "many files": numbered("read src/#.py -> content of #", 300),
    "many files with the same content": numbered("read src/#.py -> (empty)", 300),
    "many searches without a hit": numbered("grep word# -> No matches", 100),
    "pages of one file": numbered("read big.log offset # -> page #", 200),
    "pages of one file that look the same": numbered("read zeros offset # -> 0 0 0", 200),
    "the same edit in many files": numbered("replace file# -> 1 replacement", 120),
    "many edits in one file": numbered("replace a.py part # -> 1 replacement", 120),
    "edit and the same failing test": rounds(40, "replace v# -> done", "shell pytest -> 1 failed"),
    "edit and a test that changes": rounds(40, "replace v# -> done", "shell pytest -> # failed"),
    "write, build, test": rounds(20, "write v# -> ok", "shell make -> ok", "shell pytest -> 1 failed"),
    "edit, revert, edit otherwise": rounds(
        20, "replace v# -> ok", "shell pytest -> failed", "shell git checkout . -> ok"
    ),
    "read before each edit": rounds(30, "read a -> version #", "replace v# -> done"),
    "status after each commit": rounds(30, "shell git commit -m # -> ok", "shell git status -> clean"),
    "bisecting": rounds(12, "shell git bisect good -> at commit #", "shell make test -> passed"),
    "one page after the other": numbered("fetch http://example.invalid/page/# -> text #", 60),
    "the same page that changes": numbered("fetch http://example.invalid/ -> visitor #", 60),
    "memories": numbered("save_memory fact # -> saved", 30),
    "parallel reads": [" | ".join(numbered(f"read {batch}/# -> x", 10)) for batch in range(30)],
    "parallel reads, most of them the same": [f"read a -> x | read b -> y | read {batch} -> z" for batch in range(30)],
    "twenty equal calls in one answer": [" | ".join(["read a -> x"] * 20)],
    "twenty equal calls in four answers": [" | ".join(["read a -> x"] * 20)] * 4,
    "six steps in rounds": ["a -> 1", "b -> 2", "c -> 3", "d -> 4", "e -> 5", "f -> 6"] * 4,
    "looking twice": rounds(60, "read # -> x", "read # -> x"),
    "looking four times": [s for n in range(30) for s in [f"read {n} -> x"] * 4],
    "reading all again": numbered("read # -> content #", 40) * 3,
    "flaky tests": [f"shell pytest -> {'passed' if n * n % 7 else 'failed'} in {n}.{n * 37 % 100}s" for n in range(40)],
    "renaming": [f"shell mv file{n} file_{n} -> " for n in range(60)],
    "the same name, other arguments": numbered("shell echo # -> ok", 80),
    "the same arguments, other tool": [f"tool{n} a -> x" for n in range(80)],
    "a game that moves": [f"move {'LRUD'[n % 4]} -> at {n * 31 % 17},{n * 57 % 13}" for n in range(80)],
}
HONEST_TEXT: dict[str, str] = {
    "a list": "".join(numbered("- file #: nothing to do here, it is fine as it is and stays\n", 300)),
    "numbers": "".join(numbered("#. The same remark is made on this item as on all others.\n", 300)),
    "a table": "| name | value |\n|---|---|\n" + "".join(numbered("| key# | the same value everywhere |\n", 300)),
    "code": "```python\n"
    + "".join(numbered("    assert check(value_#, expected=True, message='wrong')\n", 300))
    + "```\n",
    "json in a fence": "~~~json\n" + '  {"kind": "point", "at": [0.0, 0.0], "properties": null},\n' * 90 + "~~~\n",
    "quotations": "".join(numbered("> line # of the log says that everything is all right with it\n", 200)),
    "headings": "".join(f"## Chapter\n\nIt has {n} pages, {n * n} words and {n**3} letters.\n\n" for n in range(200)),
    "dividers": ("=" * 80 + "\nA result\n" + "-" * 80 + "\n") * 20,
    "a drawing": ("┌" + "─" * 30 + "┐\n" + "│" + " " * 30 + "│\n" + "└" + "─" * 30 + "┘\n") * 30,
    "a drawing without lines": "┌─┬─┐│ │ │├─┼─┤└─┴─┘" * 100,
    "a drawing after words": "Progress of the build: " + "█▓▒░" * 200 + " done, " + "╔═╗║ ║╚═╝" * 100,
    "an essay": " ".join(f"word{n * 7919 % 4001}" for n in range(4000)),
    "a refrain": "".join(
        f"Verse {n}: {n**4} {n**5} {n**6} {'la' * (n % 5 + 3)} {n * 13}\nAnd so we sail.\n" for n in range(60)
    ),
    "nine times": PARAGRAPH * 9,
}


def test_the_corpus_is_large_enough() -> None:
    assert len(TRUE_CALL_LOOPS) + len(TRUE_TEXT_LOOPS) >= 50
    assert len(HONEST_CALLS) + len(HONEST_TEXT) >= 50


@pytest.mark.parametrize("name", TRUE_CALL_LOOPS)
def test_a_loop_of_calls_is_noticed(name: str) -> None:
    assert loops_in(TRUE_CALL_LOOPS[name])


@pytest.mark.parametrize("name", TRUE_TEXT_LOOPS)
def test_a_loop_of_words_is_noticed(name: str) -> None:
    assert loops_in_text(TRUE_TEXT_LOOPS[name])


@pytest.mark.parametrize("name", HONEST_CALLS)
def test_honest_calls_are_not_disturbed(name: str) -> None:
    assert loops_in(HONEST_CALLS[name]) == []


@pytest.mark.parametrize("name", HONEST_TEXT)
def test_honest_words_are_not_disturbed(name: str) -> None:
    assert loops_in_text(HONEST_TEXT[name]) == []


class TestCalls:
    def test_the_fifth_is_one_too_many(self) -> None:
        guard = LoopDetector()
        found = [guard.check_calls(*calls_of("read a -> x")) for _ in range(REPETITIONS)]
        assert found == [*[None] * 4, "read was called 5 times in a row with the same arguments and result."]

    def test_a_cycle_is_told_step_by_step(self) -> None:
        assert loops_in(["ls . -> a", "read a -> x | read b -> y"] * REPETITIONS) == [
            "The same 2 steps (ls, read) were repeated 5 times with the same results."
        ]

    def test_aimless_steps_are_told(self) -> None:
        steps = shuffled(["a -> 1", "b -> 2", "c -> 3", "d -> 4", "e -> 5"], MAX_AIMLESS_STEPS, 4)
        assert len(set(steps)) == MAX_CYCLE_LENGTH
        assert loops_in(steps[:-1]) == []
        assert loops_in(steps) == ["The last 25 steps were the same few calls with the same results."]

    def test_after_a_loop_it_starts_afresh(self) -> None:
        assert len(loops_in(["read a -> x"] * 14)) == 2

    def test_a_new_prompt_starts_afresh(self) -> None:
        guard = LoopDetector()
        for _ in range(10):
            assert [guard.check_calls(*calls_of("read a -> x")) for _ in range(4)] == [None] * 4
            guard.reset()

    def test_the_order_of_arguments_does_not_matter(self) -> None:
        guard = LoopDetector()
        spellings = [{"a": 1, "b": 2}, {"b": 2, "a": 1}]
        found = [guard.check_calls([FunctionCall("f", spellings[n % 2])], [[Text("x")]]) for n in range(5)]
        assert found[-1] is not None

    def test_media_are_results_too(self) -> None:
        def see(data: Callable[[int], bytes]) -> list[str | None]:
            guard = LoopDetector()
            call = FunctionCall("read", {})
            return [
                guard.check_calls([call], [[FunctionResponse("read", {}), InlineData("image/png", data(n))]])
                for n in range(6)
            ]

        assert see(lambda _: b"same")[4] is not None
        assert see(lambda n: b"frame %d" % n) == [None] * 6

    def test_what_cannot_be_compared_is_no_loop(self) -> None:
        deep: list[object] = []
        for _ in range(100_000):
            deep = [deep]
        guard = LoopDetector()
        found = [guard.check_calls([FunctionCall("f", {"deep": deep})], [[Text("x")]]) for _ in range(6)]
        assert found == [None] * 6

    def test_a_name_without_end_is_cut(self) -> None:
        guard = LoopDetector()
        found = [guard.check_calls([FunctionCall("n" * 9999, {})], [[Text("x")]]) for _ in range(5)]
        assert found[-1] == f"{'n' * 64} was called 5 times in a row with the same arguments and result."

    def test_switched_off(self) -> None:
        guard = LoopDetector(enabled=False)
        assert [guard.check_calls(*calls_of("read a -> x")) for _ in range(20)] == [None] * 20
        assert guard.check_text(PARAGRAPH * 100) is None

    @settings(max_examples=60, deadline=None)
    @given(
        before=st.lists(st.integers(0, 50), max_size=30),
        length=st.integers(1, MAX_CYCLE_LENGTH),
    )
    def test_any_cycle_after_anything(self, before: list[int], length: int) -> None:
        cycle = [f"step {number} -> result" for number in range(100, 100 + length)]
        guard = LoopDetector()
        for number in before:
            guard.check_calls(*calls_of(f"other {number} -> {number}"))
        found = [guard.check_calls(*calls_of(step)) for step in cycle * REPETITIONS]
        assert found[:-1] == [None] * (len(found) - 1)
        assert found[-1] is not None

    @settings(max_examples=60, deadline=None)
    @given(st.lists(st.integers(0, 3), max_size=80))
    def test_a_result_that_never_comes_twice_is_never_a_loop(self, asked: list[int]) -> None:
        assert loops_in([f"status {argument} -> {number}" for number, argument in enumerate(asked)]) == []


class TestText:
    def test_the_words_are_told_on_one_line(self) -> None:
        sentence = "I look\nat the file and then I try it again, as before. "
        (told, *_) = loops_in_text(sentence * 30)
        assert told.startswith('The same text was repeated: "')
        assert "\n" not in told

    def test_lines_are_told(self) -> None:
        assert loops_in_text("- one\n" * (REPEATED_LINES + 1)) == ["The same 100 lines were repeated."]
        assert loops_in_text("- one\n" * REPEATED_LINES) == []

    def test_a_call_begins_a_new_text(self) -> None:
        guard = LoopDetector()
        for number in range(30):
            assert guard.check_text(PARAGRAPH * 4) is None
            assert guard.check_calls(*calls_of(f"read {number} -> x")) is None

    def test_what_is_void_does_not_count(self) -> None:
        guard = LoopDetector()
        for _ in range(30):
            assert guard.check_text("```\nsome code\n" + PARAGRAPH * 4) is None
            guard.reset_text()
        assert guard.check_text(PARAGRAPH * 30) is not None

    def test_a_fence_ends_only_at_its_like(self) -> None:
        inner = "````\n```\n~~~\n" + PARAGRAPH * 30
        assert loops_in_text(inner) == []
        assert loops_in_text(inner + "\n````\n") == []
        assert loops_in_text(inner + "\n````\n" + PARAGRAPH * 30) != []

    @settings(max_examples=30, deadline=None)
    @given(st.integers(1, 400), st.sampled_from(sorted(TRUE_TEXT_LOOPS)), st.sampled_from(sorted(HONEST_TEXT)))
    def test_however_it_is_cut(self, size: int, loop: str, honest: str) -> None:
        assert loops_in_text(TRUE_TEXT_LOOPS[loop], size)
        assert loops_in_text(HONEST_TEXT[honest], size) == []

    def test_a_line_without_end_takes_linear_time(self) -> None:
        def words() -> Iterator[str]:
            state = 1
            while True:
                state = state * 48271 % 2147483647
                yield f"{state:x} "

        guard = LoopDetector()
        assert [found for piece in itertools.islice(words(), 100_000) if (found := guard.check_text(piece))] == []

    @settings(max_examples=60, deadline=None)
    @given(st.data())
    def test_loops_are_found_where_a_lookup_of_every_chunk_finds_them(self, data: st.DataObject) -> None:
        words = data.draw(st.lists(st.text("abcde", min_size=1, max_size=9), min_size=1, max_size=400))
        phrase = " ".join(words)[: data.draw(st.integers(50, 290))]
        filler = data.draw(st.lists(st.sampled_from(["", "x", "and then ", "once more "]), min_size=14, max_size=14))
        text = "Well: " + "".join(f"{phrase} {more}" for more in filler)
        assert bool(loops_in_text(text, data.draw(st.integers(1, 3000)))) == is_loop_by_lookup(text)


def is_loop_by_lookup(text: str) -> bool:
    """Whether a chunk of running text is repeated often, close together and evenly, by looking at every chunk."""
    seen: dict[str, list[int]] = {}
    for end in range(CHUNK_SIZE, len(text) + 1):
        places = seen.setdefault(text[end - CHUNK_SIZE : end], [])
        if places and end - places[-1] < CHUNK_SIZE:
            continue
        places.append(end)
        latest = places[-CHUNK_REPETITIONS:]
        distances = {later - earlier for earlier, later in itertools.pairwise(latest)}
        if len(latest) == CHUNK_REPETITIONS and latest[-1] - latest[0] <= 45 * CHUNK_SIZE and len(distances) <= 3:
            return True
    return False
