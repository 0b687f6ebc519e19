import time

from tejat.policy.syntax_tree import LONGEST_LINE, syntax_tree


def test_a_tree() -> None:
    root = syntax_tree(b"ls | wc")
    assert root is not None
    assert (root.type, [child.type for child in root.children], root.has_error) == ("program", ["pipeline"], False)


def test_text_longer_than_a_chunk_is_read_whole() -> None:
    source = b"ls; " * 5000
    root = syntax_tree(source)
    assert root is not None
    assert (root.named_child_count, root.end_byte) == (5000, len(source))


def test_a_long_line_is_not_parsed() -> None:
    assert syntax_tree(b"x" * (LONGEST_LINE + 1)) is None


def test_a_line_that_takes_long_is_given_up() -> None:
    began = time.thread_time()
    assert syntax_tree(b"f()" * 40_000) is None
    assert time.thread_time() - began < 3
