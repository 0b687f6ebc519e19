import pytest

from tejat.policy.shell.parser import parse_command_line
from tejat.policy.shell.redirections import written_targets


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("echo hi > out.txt", ("out.txt",)),
        ("echo hi >out.txt", ("out.txt",)),
        ("echo hi >> a/b.txt 2>&1", ("a/b.txt",)),
        ("make 2> err.log 1> out.log", ("err.log", "out.log")),
        ("ls &> all.txt && echo done > /dev/null", ("all.txt",)),
        ("echo 'a > b' > c", ("c",)),
        ("echo x > /etc/passwd", ("/etc/passwd",)),
        ("echo hi > 'a b'", ("a b",)),
        ("echo hi >| a", ("a",)),
        ("echo hi", ()),
        ('echo "> x"', ()),
    ],
)
def test_a_line_that_is_plain_but_for_what_it_writes(text: str, targets: tuple[str, ...]) -> None:
    assert written_targets(parse_command_line(text)) == targets


@pytest.mark.parametrize(
    "text",
    [
        "echo hi > $X",
        "echo hi > a*",
        "echo hi > ~/x",
        "echo $X > a",
        "echo $(touch x) > a",
        "cat < in > out",
        "echo hi >& a",
        "exec 3<> a",
        "> a",
        "(echo hi) > a",
        "{ echo hi; } > a",
        "X=1 echo hi > a",
        "echo hi > a > >(cat)",
        "cat <<E > a\nx\nE",
        "echo 'x > a",
        "echo hi > a # c",
        "echo a>b",
    ],
)
def test_anything_else(text: str) -> None:
    assert written_targets(parse_command_line(text)) is None
