import pytest

from tejat.policy.words import literal, names
from tejat.policy.wrapper_options import PREFIXES, SHELLS, Prefix


@pytest.mark.parametrize(
    ("prefix", "text", "expected"),
    [
        (Prefix(), "w ls x", ["ls x"]),
        (Prefix(), "w", []),
        (Prefix(), "w -a -b", []),
        (Prefix(), "w -- ls", ["ls"]),
        (Prefix("n"), "w -n 5 ls", ["ls"]),
        (Prefix("n"), "w -n5 ls", ["ls"]),
        (Prefix("n"), "w -vn 5 ls", ["ls"]),
        (Prefix("n"), "w -v ls", ["ls"]),
        (Prefix(long=names("--level")), "w --level 5 ls", ["ls"]),
        (Prefix(long=names("--level")), "w --level=5 ls", ["ls"]),
        (Prefix(flags=names("--quick")), "w --quick ls x", ["ls x"]),
        (Prefix(), "w --what ls x", ["ls x", "x"]),
        (Prefix(operands=1), "w 5 ls", ["ls"]),
        (Prefix(has_assignments=True), "w A=1 -x B=2 ls", ["ls"]),
        (Prefix(), "w A=1 ls", ["A=1 ls"]),
    ],
)
def test_the_command_behind_a_prefix(prefix: Prefix, text: str, expected: list[str]) -> None:
    wrapped = prefix.wrapped([literal(word) for word in text.split(" ")])
    assert [" ".join(word.value for word in command) for command in wrapped.commands] == expected


def test_no_shell_is_a_prefix() -> None:
    assert SHELLS.isdisjoint(PREFIXES)
