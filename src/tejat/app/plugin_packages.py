"""Loads the tools of installed packages by their entry points."""

import importlib.metadata
import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import cast

from tejat.app.plugin_loading import in_words, load, problem_of, tools_of
from tejat.app.plugins import GROUP, Plugins
from tejat.core.tool import BaseTool


def load_packages(metadata: Sequence[str]) -> Iterator[Plugins]:
    """The tools of the packages with their metadata in these directories.

    Of a package that is there twice the first counts, as it does for imports.
    """
    seen: set[str] = set()
    for path in metadata:
        try:
            package = importlib.metadata.Distribution.at(Path(path))
            name, version = str(package.metadata["Name"]), package.version
            points = tuple(package.entry_points.select(group=GROUP))
        except Exception as error:  # noqa: BLE001 -- a package that is broken must not end the program
            yield problem_of(path, in_words(error))
            continue
        known = re.sub(r"[-_.]+", "-", name).lower()
        if known not in seen:
            seen.add(known)
            yield from (load(f"{name} {version} ({point.name})", partial(_tools_at, point)) for point in points)


def _tools_at(point: importlib.metadata.EntryPoint) -> Iterator[BaseTool]:
    yield from tools_of(cast("object", point.load()))
