"""What Markdown looks like: in colours, without them, in ASCII, in eighty and in forty columns."""

import re

from tejat.ui.terminal.render.markdown.stream import render_markdown
from tejat.ui.terminal.render.rich_output import render_ansi
from tejat.ui.terminal.render.theme import ASCII_GLYPHS, ColourDepth, Theme

PLAIN, DARK, POOR = Theme(), Theme(colour_depth=ColourDepth.ANSI_16), Theme(glyphs=ASCII_GLYPHS)
ANSWER = """\
# The answer

Some **bold** words, which are long enough to be wrapped, and [a link](https://example.com/).
Yes.

- one
  - [x] done
- two

  ```python
  if x:
      return "y"
  ```

> quoted words that are long enough to be wrapped too
>
> 1. last

| 名前 | count |
|------|------:|
| 道具 | 1 |
***
"""


def drawn(text: str, theme: Theme = PLAIN, width: int = 40) -> str:
    return render_ansi(render_markdown(text, theme), theme, width=width)


def bare(text: str, theme: Theme = PLAIN, width: int = 40) -> str:
    return re.sub("\x1b\\[[0-9;]*m", "", drawn(text, theme, width))


def test_an_answer_in_forty_columns() -> None:
    assert (
        bare(ANSWER)
        == """\
The answer

Some bold words, which are long enough
to be wrapped, and a link
(https://example.com/). Yes.

• one
  [x] done
• two

  ── python
  if x:
      return "y"
  ──

│ quoted words that are long enough to
│ be wrapped too
│
│ 1. last

名前 │ count
─────┼──────
道具 │     1
────────────────────────
"""
    )


def test_an_answer_in_ascii() -> None:
    assert (
        bare(ANSWER.replace("名前", "name").replace("道具", "tool"), POOR, 80)
        == """\
The answer

Some bold words, which are long enough to be wrapped, and a link
(https://example.com/). Yes.

* one
  [x] done
* two

  -- python
  if x:
      return "y"
  --

| quoted words that are long enough to be wrapped too
|
| 1. last

name | count
-----+------
tool |     1
------------------------
"""
    )


def test_colours_of_an_answer() -> None:
    assert drawn(ANSWER, DARK).split("\n")[0] == "\x1b[1;4;36mThe answer\x1b[0m"
    assert drawn("> *a* `b`", DARK) == "\x1b[3m│ a \x1b[0;3;36mb\x1b[0m\n"
    assert drawn("```py\nif x: pass\n```", DARK) == "\x1b[35mif\x1b[0m x: \x1b[35mpass\x1b[0m\n"
    assert drawn("```\nif x: pass\n```", DARK) == "\x1b[36mif x: pass\x1b[0m\n"
    assert drawn("```sh\npytest -q\n```", DARK) == "\x1b[36mpytest -q\x1b[0m\n"


def test_no_marks_stay_where_there_are_colours() -> None:
    text = "# One `code`\n### Three ###\n**Bold** and `code`:\n\n| `a` | b |\n|---|---|\n| `x` | 1 |\n\n- item `y`\n"
    assert bare(text, DARK) == ("One code\n\nThree\nBold and code:\n\na │ b\n──┼──\nx │ 1\n\n• item y\n")
    assert bare("Use `x`.") == "Use `x`.\n"


def test_code_is_set_apart_by_blank_lines() -> None:
    assert bare("Run:\n```sh\nmake\n```\nThen wait.", DARK) == "Run:\n\nmake\n\nThen wait.\n"
    assert bare("1. Run:\n   ```\n   make\n   ```\n2. Wait.", DARK) == "1. Run:\n\n   make\n\n2. Wait.\n"


def test_what_follows_a_fence_is_shown_unless_it_is_a_language() -> None:
    assert bare("```python\nx\n```", DARK) == "x\n"
    assert bare("```c++\nx\n```", DARK) == "x\n"
    assert bare("```python src/a.py\nx\n```", DARK) == "python src/a.py\nx\n"


def test_code_is_printed_as_it_is() -> None:
    line = 'print("' + "x" * 100 + '")  '
    assert bare(f"```\n{line}\n\tindented\n```") == f"──\n{line.rstrip()}\n    indented\n──\n"


def test_lines_that_were_not_full_end_where_they_ended() -> None:
    assert bare("Name: x\nAge: y\n" + "word " * 12 + "\nmore") == (
        "Name: x\nAge: y\nword word word word word word word word\nword word word word more\n"
    )
    assert bare("a\\\nb") == "a\nb\n"


def test_deep_boxes_leave_room() -> None:
    shown = bare("1. " * 12 + "deep words here", width=40)
    assert re.findall(r"\w+", shown) == [*["1"] * 12, "deep", "words", "here"]
    assert max(map(len, shown.split("\n"))) <= 40


def test_nothing_is_made_a_link_or_fetched() -> None:
    hostile = (
        "[bank](https://evil) ![x](http://evil/?d=1) \x1b]8;;https://evil\x1b\\bank\x1b]8;;\x1b\\ <img src=http://evil>"
    )
    assert drawn(hostile, width=100) == (
        "\x1b[4mbank\x1b[0m (https://evil) [image: \x1b[4mx\x1b[0m] (http://evil/?d=1) \x1b[4mhttps://evil\x1b[0m bank"
        " <img src=\x1b[4mhttp://evil\x1b[0m>\n"
    )
