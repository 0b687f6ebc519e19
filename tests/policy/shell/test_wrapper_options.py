import pytest

from tejat.policy.shell.words import literal_word, word_set
from tejat.policy.shell.wrapper_options import SHELLS, WRAPPERS, WrapperSyntax


@pytest.mark.parametrize(
    ("prefix", "text", "expected"),
    [
        (WrapperSyntax(), "w ls x", ["ls x"]),
        (WrapperSyntax(), "w", []),
        (WrapperSyntax(), "w -a -b", []),
        (WrapperSyntax(), "w -- ls", ["ls"]),
        (WrapperSyntax("n"), "w -n 5 ls", ["ls"]),
        (WrapperSyntax("n"), "w -n5 ls", ["ls"]),
        (WrapperSyntax("n"), "w -vn 5 ls", ["ls"]),
        (WrapperSyntax("n"), "w -v ls", ["ls"]),
        (WrapperSyntax(long_options=word_set("--level")), "w --level 5 ls", ["ls"]),
        (WrapperSyntax(long_options=word_set("--level")), "w --level=5 ls", ["ls"]),
        (WrapperSyntax(long_flags=word_set("--quick")), "w --quick ls x", ["ls x"]),
        (WrapperSyntax(), "w --what ls x", ["ls x", "x"]),
        (WrapperSyntax(operand_count=1), "w 5 ls", ["ls"]),
        (WrapperSyntax(allows_assignments=True), "w A=1 -x B=2 ls", ["ls"]),
        (WrapperSyntax(), "w A=1 ls", ["A=1 ls"]),
    ],
)
def test_the_command_behind_a_prefix(prefix: WrapperSyntax, text: str, expected: list[str]) -> None:
    wrapped = prefix.unwrap([literal_word(word) for word in text.split(" ")])
    assert [" ".join(word.value for word in command) for command in wrapped.commands] == expected


def test_no_shell_is_a_prefix() -> None:
    assert SHELLS.isdisjoint(WRAPPERS)
