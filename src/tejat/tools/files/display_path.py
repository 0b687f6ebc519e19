"""Short paths for display in one line."""

from tejat.workspace.files.roots import Location

DISPLAY_LENGTH = 35


def short_relative_path(location: Location) -> str:
    """Path relative to its root (`.` for the root), shortened for display."""
    return shorten_path(relative_path(location))


def relative_path(location: Location) -> str:
    return location.relative or "."


def shorten_path(path: str, length: int = DISPLAY_LENGTH) -> str:
    """Keep the first directory and as many of the last ones as fit; truncate a single name in the middle."""
    if len(path) <= length:
        return path
    start = "/" if path.startswith("/") else ""
    first, *rest = path.strip("/").split("/")
    kept: list[str] = []
    for name in reversed(rest):
        if len("/".join([start + first, "...", name, *kept])) > length:
            break
        kept.insert(0, name)
    if kept:
        return "/".join([start + first, "...", *kept])
    half = max((length - 3) // 2, 1)
    return f"{path[:half]}...{path[-half:]}"
