"""Loader of tools from entry points of installed packages."""

import importlib.metadata
import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import cast

from tejat.app.plugins.discovery import ENTRY_POINT_GROUP, Plugins
from tejat.app.plugins.loader import collect_tools, describe_error, load_failure, load_plugin
from tejat.core.tools.base import BaseTool


def load_packages(metadata: Sequence[str]) -> Iterator[Plugins]:
    """Load the tools of the packages with these metadata directories.

    If a package is installed twice, the first one counts, as for imports.
    """
    seen: set[str] = set()
    for path in metadata:
        try:
            package = importlib.metadata.Distribution.at(Path(path))
            name, version = str(package.metadata["Name"]), package.version
            points = tuple(package.entry_points.select(group=ENTRY_POINT_GROUP))
        except Exception as error:  # noqa: BLE001 -- a package that is broken must not end the program
            yield load_failure(path, describe_error(error))
            continue
        known = re.sub(r"[-_.]+", "-", name).lower()
        if known not in seen:
            seen.add(known)
            yield from (
                load_plugin(f"{name} {version} ({point.name})", partial(_entry_point_tools, point)) for point in points
            )


def _entry_point_tools(point: importlib.metadata.EntryPoint) -> Iterator[BaseTool]:
    yield from collect_tools(cast("object", point.load()))
