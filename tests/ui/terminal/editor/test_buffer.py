"""No key leaves the caret within a grapheme or half of one behind."""

from hypothesis import given
from hypothesis import strategies as st
from wcwidth import iter_graphemes

from tejat.ui.terminal.editor.buffer import EditorBuffer, grapheme_around

TEXTS = st.text(st.sampled_from("ab \n日👩👧\u200d\ufe0f\u0301🇩🇪🇫🇷क्षि"), max_size=40)


def boundaries(text: str) -> list[int]:
    found = [0]
    for line in text.splitlines(keepends=True):
        for grapheme in iter_graphemes(line):
            found.append(found[-1] + len(grapheme))
    return found


@given(TEXTS, st.integers(0, 40))
def test_a_place_is_between_two_graphemes_or_in_one(text: str, place: int) -> None:
    place = min(place, len(text))
    known = boundaries(text)
    within = grapheme_around(text, place)
    if within is None:
        assert place in known
    else:
        assert place not in known
        assert (max(each for each in known if each < place), min(each for each in known if each > place)) == within


MOVES = st.lists(st.sampled_from(["left", "right", "up", "down", "delete", "backspace", "kill"]), max_size=12)


@given(TEXTS, MOVES)
def test_moves_and_deletions_keep_graphemes_whole(text: str, moves: list[str]) -> None:
    buffer = EditorBuffer(lambda _: None)
    buffer.insert_text(text)
    for move in moves:
        match move:
            case "left":
                buffer.cursor_left()
            case "right":
                buffer.cursor_right()
            case "up":
                buffer.cursor_up()
            case "down":
                buffer.cursor_down()
            case "delete":
                buffer.delete()
            case "backspace":
                buffer.delete_before_cursor()
            case _:
                buffer.delete(buffer.document.get_end_of_line_position())
        assert buffer.cursor_position in boundaries(buffer.text)


def test_the_history_is_asked_in_both_directions() -> None:
    steps: list[int] = []
    buffer = EditorBuffer(steps.append)
    buffer.auto_up()
    buffer.auto_down(count=3)
    assert steps == [-1, 3]
