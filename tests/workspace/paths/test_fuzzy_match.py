"""What was typed of a path finds it, and the one that is meant comes first."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tejat.workspace.paths.fuzzy_match import PathBlock, PathRanking, rank_paths

FILES = [
    "README.md",
    "main.py",
    "src/main.py",
    "src/domain.py",
    "src/app/main_view.py",
    "src/app/view_main.py",
    "src/app/DataMain.ts",
    "src/main/index.py",
    "docs/mountain.md",
    "docs/my_animal_index.md",
]
DIRECTORIES = ["src/", "src/app/", "src/main/", "docs/"]


def blocks(size: int = 100) -> list[PathBlock]:
    files = [name.encode() for name in FILES]
    pieces = [PathBlock(files[at : at + size]) for at in range(0, len(files), size)]
    return [*pieces, PathBlock([name.encode() for name in DIRECTORIES], are_directories=True)]


@pytest.mark.parametrize("size", [1, 3, 100])
@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("main.py", ["main.py", "src/main.py"]),
        (
            "main",
            [
                "src/main/",
                "main.py",
                "src/main.py",
                "src/app/main_view.py",
                "src/main/index.py",
                "src/app/DataMain.ts",
                "src/app/view_main.py",
                "src/domain.py",
                "docs/mountain.md",
                "docs/my_animal_index.md",
            ],
        ),
        ("MAIN_V", ["src/app/main_view.py"]),
        ("src/m", ["src/main.py", "src/main/", "src/main/index.py", "src/domain.py", "src/app/DataMain.ts"]),
        ("app/", ["src/app/", "src/app/DataMain.ts", "src/app/main_view.py", "src/app/view_main.py"]),
        ("src/", ["src/main.py", "src/domain.py", "src/app/", "src/main/", "src/main/index.py"]),
        ("", ["main.py", "README.md", "src/", "docs/", "src/main.py"]),
        ("sapdm", ["src/app/DataMain.ts"]),
        ("rdme", ["README.md"]),
        ("zzz", []),
        ("a\nb", []),
        (".*", []),
    ],
)
def test_the_best_comes_first(typed: str, found: list[str], size: int) -> None:
    assert rank_paths(blocks(size), typed, limit=50)[: len(found) or 1] == found


def test_only_paths_that_contain_the_text() -> None:
    assert rank_paths(blocks(), "rdme", limit=5, is_fuzzy=False) == []
    assert rank_paths(blocks(), "eadm", limit=5, is_fuzzy=False) == ["README.md"]


def test_no_more_come_than_are_wanted() -> None:
    assert rank_paths(blocks(), "main", limit=2) == ["src/main/", "main.py"]
    assert rank_paths(blocks(), "", limit=1) == ["main.py"]
    assert rank_paths([], "main", limit=5) == []
    assert rank_paths([PathBlock([])], "", limit=5) == []


def test_a_prefix_is_found_along_and_not_looked_for() -> None:
    more = PathBlock([b"other/main.py"], prefix="/srv/main/")
    assert rank_paths([*blocks(), more], "main.py", limit=3) == ["main.py", "src/main.py", "/srv/main/other/main.py"]
    assert rank_paths([more], "srv", limit=3) == []


def test_letters_of_any_language_may_be_spread() -> None:
    assert rank_paths([PathBlock(["grün/Möwe.md".encode()])], "üö", limit=3) == ["grün/Möwe.md"]


NAME = st.text(st.sampled_from("abAB_./ü"), min_size=1, max_size=12).map(lambda name: name.strip("/") or "a")


@given(
    st.lists(NAME, max_size=20),
    st.text(st.sampled_from("abAB_./ü\\[*"), max_size=4).map(lambda typed: typed.lstrip("/")),
    st.integers(1, 5),
)
def test_whatever_is_found_has_what_was_typed(names: list[str], typed: str, size: int) -> None:
    paths = [name.encode() for name in dict.fromkeys(names)]
    found = rank_paths([PathBlock(paths[at : at + size]) for at in range(0, len(paths), size)], typed, limit=100)
    assert len(found) == len(set(found))
    assert set(found) <= set(names)

    def folded(text: str) -> str:
        return text.encode().lower().decode()

    for name in dict.fromkeys(names):
        if len(typed) > 1 and not typed.endswith("/"):
            assert (name in found) == _is_spread(folded(typed), folded(name))


@given(
    st.lists(NAME, max_size=120, unique=True),
    st.text(st.sampled_from("abAB_./ü"), max_size=3).map(lambda typed: typed.lstrip("/")),
    st.integers(1, 3),
    st.integers(1, 8),
    st.integers(1, 40),
)
def test_bit_by_bit_it_finds_the_same(names: list[str], typed: str, size: int, limit: int, growth: int) -> None:
    paths = [name.encode() for name in names]
    parts = [PathBlock(paths[at : at + size]) for at in range(0, len(paths), size)]
    ranking = PathRanking(typed, limit=limit)
    for count in (*range(0, len(parts), growth), len(parts)):
        ranking.search(parts[:count], lambda: True)  # as much as one call does at least
    for _ in range(10 * len(parts) + 10):
        if ranking.search(parts, lambda: True):
            break
    else:
        raise AssertionError("it does not come to an end")
    assert ranking.best() == rank_paths(parts, typed, limit=limit)


def test_a_search_that_ends_early_has_something_to_show() -> None:
    parts = [PathBlock([f"part{number}/some_file{index}".encode() for index in range(50)]) for number in range(300)]
    for typed in ("file", "smfl", "", "part7/"):
        ranking = PathRanking(typed, limit=10)
        assert not ranking.search(parts, lambda: True)
        assert len(ranking.best()) == 10


def _is_spread(typed: str, name: str) -> bool:
    letters = iter(name)
    return all(letter in letters for letter in typed)
