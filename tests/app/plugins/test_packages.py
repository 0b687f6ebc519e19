"""Tools of installed packages: each entry point by itself, and what is told of one that fails."""

from pathlib import Path

from support.installed_packages import package_directory
from tejat.app.plugins.discovery import Plugins
from tejat.app.plugins.packages import load_packages

TOOL = """
from tejat import tool

@tool
def {name}(place: str) -> str:
    \"\"\"Tells the weather.\"\"\"
    return place
"""


def found(plugins: list[Plugins]) -> dict[str, str]:
    """The names of the tools with their origins."""
    return {each.tool.name: each.origin for plugin in plugins for each in plugin.tools}


def problems(plugins: list[Plugins]) -> list[str]:
    return [problem for plugin in plugins for problem in plugin.problems]


def test_every_entry_point(tmp_path: Path) -> None:
    code = TOOL.format(name="weather") + TOOL.format(name="storms") + "both = [weather, storms]\n"
    with package_directory(tmp_path / "packages") as install:
        one = install("forecasts", code, "one = forecasts:weather", "two = forecasts:storms")
        plugins = list(load_packages([str(one)]))
        assert found(plugins) == {"weather": "forecasts 1.5 (one)", "storms": "forecasts 1.5 (two)"}
        several = install("more", code, "all = more:both")
        assert found(list(load_packages([str(several)]))) == dict.fromkeys(["weather", "storms"], "more 1.5 (all)")


def test_one_that_fails_is_named_and_the_others_are_there(tmp_path: Path) -> None:
    with package_directory(tmp_path / "packages") as install:
        broken = install("broken", "1 / 0", "x = broken:x")
        gone = install("gone", TOOL.format(name="weather"), "x = gone:no_such", "y = gone:weather", "z = nowhere:z")
        plugins = list(load_packages([str(broken), str(gone)]))
    assert found(plugins) == {"weather": "gone 1.5 (y)"}
    division, attribute, module = problems(plugins)
    assert division == (
        "Could not load the tools of broken 1.5 (x): ZeroDivisionError: division by zero "
        f"({tmp_path / 'packages' / 'broken.py'}, line 1)."
    )
    assert attribute == (
        "Could not load the tools of gone 1.5 (x): AttributeError: module 'gone' has no attribute 'no_such'."
    )
    assert module == "Could not load the tools of gone 1.5 (z): ModuleNotFoundError: No module named 'nowhere'."


def test_of_a_package_that_is_there_twice_the_first_counts(tmp_path: Path) -> None:
    with package_directory(tmp_path / "behind") as install_behind, package_directory(tmp_path / "packages") as install:
        first = install("my.package", TOOL.format(name="first"), "x = my_first:first")
        (tmp_path / "packages" / "my_first.py").write_text(TOOL.format(name="first"))
        second = install_behind("My_Package", TOOL.format(name="second"), "x = My_Package:second")
        assert list(found(list(load_packages([str(first), str(second)])))) == ["first"]


def test_metadata_that_makes_no_sense(tmp_path: Path) -> None:
    odd = tmp_path / "odd-1.dist-info"
    odd.mkdir()
    (odd / "entry_points.txt").write_text("[tejat.tools]\nx = = =\n:::\n")
    with package_directory(tmp_path / "packages") as install:
        good = install("good", TOOL.format(name="weather"), "x = good:weather")
        plugins = list(load_packages([str(odd), str(good)]))
    assert list(found(plugins)) == ["weather"]
    (told,) = problems(plugins)
    assert told.startswith(f"Could not load the tools of {odd}: ")
