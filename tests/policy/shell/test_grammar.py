"""The parser gets no text that could hold it up or bring it down."""

import threading
import time

import pytest

from tejat.policy.shell.grammar import MAX_LINE_BYTES, parse_tree


def test_a_tree() -> None:
    root = parse_tree(b"ls | wc")
    assert root is not None
    assert (root.type, [child.type for child in root.children], root.has_error) == ("program", ["pipeline"], False)


def test_long_text_is_read_whole() -> None:
    source = b"ls; " * (MAX_LINE_BYTES // 4)
    root = parse_tree(source)
    assert root is not None
    assert (root.named_child_count, root.end_byte) == (MAX_LINE_BYTES // 4, len(source))


def test_a_longer_line_is_not_parsed() -> None:
    assert parse_tree(b"x" * (MAX_LINE_BYTES + 1)) is None


@pytest.mark.parametrize("piece", ["f()", "a=(", "<", "cat <<E ", "((", '"$(', "${a[", "{ ", "case x in "])
def test_no_line_takes_long(piece: str) -> None:
    began = time.thread_time()
    parse_tree((piece * (MAX_LINE_BYTES // len(piece))).encode())
    assert time.thread_time() - began < 1


def test_a_line_that_takes_quadratic_time_is_given_up() -> None:
    assert parse_tree(b"a=(" * (MAX_LINE_BYTES // 3)) is None


def test_other_threads_run_while_a_line_is_parsed() -> None:
    ended = threading.Event()
    times = [time.perf_counter()]

    def watch() -> None:
        while not ended.wait(0.001):
            times.append(time.perf_counter())

    watcher = threading.Thread(target=watch)
    watcher.start()
    parse_tree(b"a=(" * (MAX_LINE_BYTES // 3))
    ended.set()
    watcher.join()
    assert len(times) > 10


@pytest.mark.parametrize("before", ["", "{6", "a=", "<<", "$", "${", "[[ a =~ ", "\\"])
def test_characters_from_all_of_unicode_are_letters(before: str) -> None:
    """The scanner of the grammar crashes on some of them, not always: it reads far beyond a table."""
    for code in range(0x80, 0x110000, 211):
        if not 0xD800 <= code < 0xE000:
            source = f"{before}{chr(code)}".encode()
            root = parse_tree(source)
            assert root is not None
            assert root.end_byte == len(source)


def test_places_are_those_of_the_text() -> None:
    source = "echo 'é\u3000\U000e0041' x".encode()
    root = parse_tree(source)
    assert root is not None
    words = [source[node.start_byte : node.end_byte].decode() for node in root.children[0].named_children]
    assert words == ["echo", "'é\u3000\U000e0041'", "x"]
