"""Changes that delete lines and write something that stands for them."""

import pytest

from tejat.tools.edit.omission.lost_lines import find_elision

BODY = "def area(shape):\n    width = shape.width\n    height = shape.height\n    return width * height\n"


@pytest.mark.parametrize("mark", ["# ...", "# ... (unchanged)", "# rest as before", "...", "# existing code", "(snip)"])
@pytest.mark.parametrize("head", ["def area(shape):\n", "def area(shape, scale):\n", ""])
def test_lines_would_be_lost(head: str, mark: str) -> None:
    assert find_elision(BODY, f"{head}    {mark}\n    return width * height * 2\n", "f.py") == mark


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a()\nb()\n", "a()\n# ...\nb()\n"),
        ("a()\n# ...\nb()\n", "# ...\na()\n"),
        ("a()\n# ...\nb()\n", "if x:\n    a()\n    # ...\n    c()\n"),
        ("# ... existing code ...\nb()\n", "// ...\nc()\n"),
        ("# Sum up.\na()\n", "# The rest\na()\n"),
        ("a()\nb()\nc()\n", "c()\n# as before\nb()\na()\n"),
    ],
)
def test_nothing_is_lost(before: str, after: str) -> None:
    assert find_elision(before, after, "f.py") is None


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("f.py", "def f():\n    pass\n", "def f():\n    ...\n"),
        ("f.md", "# State\n\nnew\n", "# State\n\nunchanged\n"),
        ("f.rs", "one();\ntwo();\nfull\n", "truncated\n"),
        ("f.py", "def f():\n    raise NotImplementedError\n", "def f():\n    ...\n"),
        ("f.py", "def f(): ...\ndef g(): ...\n", "def f():\n    ...\n"),
        ("f.py", BODY, "@overload\ndef area(shape):\n    ...\n"),
        ("f.py", BODY, "class Shape(Protocol):\n    def area(shape):\n        ...\n"),
        ("f.py", BODY, "class Shape(ABC):\n    @abstractmethod\n    def area(shape):\n        '''Area.'''\n"),
        ("f.py", BODY, "class Closed(Exception):\n    ...\n"),
        ("f.py", BODY, "values = cut[\n    ...,\n]\nprint('...')\n"),
        ("f.pyi", BODY, "def area(shape):\n    ...\n"),
        (
            "f.py",
            BODY,
            '"""Doc.\n\n>>> area(\n...     shape\n... )\nTraceback (most recent call last):\n    ...\n"""\n',
        ),
        ("f.js", "run(\n  first,\n  second,\n)\n", "run(\n  ...rest,\n)\n"),
        ("f.js", "const a = {\n  b: 1,\n  c: 2,\n};\n", "const a = {\n  ...base,\n};\n"),
        (
            "f.c",
            "int log(\n    char *format,\n    int one,\n    int two\n)\n",
            "int log(\n    char *format,\n    ...\n)\n",
        ),
        ("f.yml", "a: 1\nb: 2\n", "a: 1\n...\n"),
        ("f.md", "It is over.\n", "...\n"),
        ("f.md", "First.\nSecond.\n", "# Remaining\n\nWait ...\n"),
        ("f.md", "First one.\nSecond one.\n", "And then ... it was over.\n...and they lived on.\n"),
    ],
)
def test_dots_that_are_meant(path: str, before: str, after: str) -> None:
    assert find_elision(before, after, path) is None


@pytest.mark.parametrize(
    ("path", "before", "after", "mark"),
    [
        ("f.py", BODY, "def area(shape):\n    ...\n", "..."),
        ("f.py", BODY, "def surface(shape):\n    ...\n", "..."),
        ("f.js", "f({\n  a: 1,\n  b: 2,\n});\n", "f({\n  ...\n  b: 3,\n});\n", "..."),
        ("f.json", '{\n  "a": 1,\n  "b": 2\n}\n', '{\n  ...,\n  "b": 3\n}\n', "...,"),
        ("f.ts", "function f() {\n  a();\n  b();\n}\n", "function f(x) { /* ... */ }\n", "function f(x) { /* ... */ }"),
        ("f.md", "one two\nthree four\nfive six\n", "one two\n...\n", "..."),
        ("f.md", "one two\nthree four\nfive six\n", "unchanged\nfive seven\n", "unchanged"),
        ("f.txt", "one two\nthree four\nfive six\n", "Rest unchanged.\nfive six\n", "Rest unchanged."),
        ("f.py", "import one.two\nimport one.three\n", "import one.four\n...\n", "..."),
        ("f.pyi", "def f(): ...\ndef g(): ...\n", "# ...\n@property\n", "# ..."),
        ("f.sql", "select a,\n  b\nfrom c\n", "select a,\n-- ...\nfrom c\n", "-- ..."),
        ("f.tsx", "<p>\n  one\n</p>\n", "<p className={x}>\n  {/* ... */}\n</p>\n", "{/* ... */}"),
    ],
)
def test_elisions_in_other_languages(path: str, before: str, after: str, mark: str) -> None:
    assert find_elision(before, after, path) == mark
