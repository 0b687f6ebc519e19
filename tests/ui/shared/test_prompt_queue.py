"""What waits is taken in its order, or given back."""

from tejat.ui.shared.prompt_queue import PromptQueue


def test_lines_wait_in_their_order() -> None:
    waiting = PromptQueue()
    for line in ("one", "!two", "three"):
        waiting.add(line)
    assert waiting.pending() == ("one", "!two", "three")
    assert [waiting.pop_next(), waiting.pop_last(), waiting.pending()] == ["one", "three", ("!two",)]
    assert [waiting.drain(), waiting.pop_next(), waiting.pop_last(), waiting.drain()] == [
        "!two",
        None,
        None,
        "",
    ]


def test_several_lines_together_are_no_command() -> None:
    waiting = PromptQueue()
    waiting.add("!rm x")
    waiting.add("then explain")
    assert waiting.drain() == " !rm x\n\nthen explain"
