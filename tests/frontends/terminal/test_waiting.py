"""What waits is taken in its order, or given back."""

from tejat.frontends.terminal.waiting import Waiting


def test_lines_wait_in_their_order() -> None:
    waiting = Waiting()
    for line in ("one", "!two", "three"):
        waiting.add(line)
    assert waiting.shown() == ("one", "!two", "three")
    assert [waiting.take_next(), waiting.take_back_last(), waiting.shown()] == ["one", "three", ("!two",)]
    assert [waiting.take_all(), waiting.take_next(), waiting.take_back_last(), waiting.take_all()] == [
        "!two",
        None,
        None,
        "",
    ]


def test_several_lines_together_are_no_command() -> None:
    waiting = Waiting()
    waiting.add("!rm x")
    waiting.add("then explain")
    assert waiting.take_all() == " !rm x\n\nthen explain"
