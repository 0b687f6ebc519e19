"""How absolute paths lie to one another, by their text."""


def is_beneath(path: str, directory: str) -> bool:
    """Whether the path is the directory or lies in it."""
    return path == directory or path.startswith(directory.rstrip("/") + "/")


def ancestors(path: str, top: str) -> list[str]:
    """The directories from just below `top` down to the one that holds the path, outermost first."""
    found: list[str] = []
    parent = path.rpartition("/")[0]
    while is_beneath(parent, top) and parent != top:
        found.append(parent)
        parent = parent.rpartition("/")[0]
    return found[::-1]
