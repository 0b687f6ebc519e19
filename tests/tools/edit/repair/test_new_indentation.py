"""A new text at the left margin, beside an old text that is indented."""

import pytest

from tejat.tools.edit.repair.new_indentation import indent_like_old

OLD = "    def area(self):\n        width = self.width\n        return width * self.height\n"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            OLD,
            "def area(self):\n    width = 2 * self.width\n    return width * self.height\n",
            "    def area(self):\n        width = 2 * self.width\n        return width * self.height\n",
        ),
        (
            OLD,
            "def area(self, scale):\n    width = self.width\n    return scale * width * self.height\n",
            "    def area(self, scale):\n        width = self.width\n        return scale * width * self.height\n",
        ),
        (
            "        run(one)\n    else:\n        run(two)",
            "    run(one)\nelse:\n    if two:\n        run(two)",
            "        run(one)\n    else:\n        if two:\n            run(two)",
        ),
        (
            "        # first\n        run(one)\n    for each in two:\n        run(each)",
            "    run(one)\nfor each in two:\n    run(each)",
            "        run(one)\n    for each in two:\n        run(each)",
        ),
        (
            "        go()\n\n    def two(self):\n        for x in self:\n            run(x)\n\n    def three(self):",
            "    go()\n\ndef two(self):\n    check(self)\n    run(x)\n\ndef three(self):",
            "        go()\n\n    def two(self):\n        check(self)\n        run(x)\n\n    def three(self):",
        ),
        ("\tone = 1\n\ttwo = 2", "if three:\n\tone = 1\n\ttwo = 2", "\tif three:\n\t\tone = 1\n\t\ttwo = 2"),
        ("    one = 1\n    two = 2", "one = 1\n    two = 3\n    two = 2", "    one = 1\n    two = 3\n    two = 2"),
        ("    first = run(1)", "first = run(2)", "    first = run(2)"),
    ],
)
def test_it_is_indented(old: str, new: str, expected: str) -> None:
    assert indent_like_old(old, new) == expected


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (OLD, "def area(self):\n    width = self.width\n    return width * self.height\n"),
        (OLD, f"{OLD}\n\ndef perimeter(shape):\n    return 2 * shape.width\n"),
        ("if one:\n    run(one)\n    run(two)", "run(one)\nrun(two)"),
        ("try:\n    run(one)\nexcept Error:\n    pass", "run(one)"),
        ("        run(one)\n        run(two)\n    other()", "    run(one)\nrun(two)\nother()"),
        ("one = 1\ntwo = 2", "one = 1\ntwo = 3"),
        ("    one = 1", "three()"),
        ("\tone = 1\n\ttwo = 2", "one = 1\n    three = 3\ntwo = 2"),
        (" = run(first)\ntwo = 2", "one = run(first)\ntwo = 3"),
        ("", "x"),
        ("    x", ""),
    ],
)
def test_it_is_meant(old: str, new: str) -> None:
    assert indent_like_old(old, new) == new
