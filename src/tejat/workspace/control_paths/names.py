"""Names of control paths, and whether a path is one."""

from collections.abc import Sequence

GIT_DIRECTORY = ".git"
# git takes a directory with one of these for a repository, or its settings from the one that they name.
_REPOSITORY_FILES = ("HEAD", "commondir")


class ControlNames:
    """Control paths by name, each relative to any directory of a tree.

    `in_git` are those of a repository, relative to its git directory: they count in bare repositories too.
    `by_first_name` are the others, by the first name of each.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        in_git, inside = f"{GIT_DIRECTORY}/", list[str]()
        self.by_first_name: dict[str, tuple[str, ...]] = {}
        for path in paths:
            if path.startswith(in_git):
                inside.append(path.removeprefix(in_git))
            else:
                name = path.partition("/")[0]
                self.by_first_name[name] = (*self.by_first_name.get(name, ()), path)
        self.in_git = tuple(inside)
        self._split_paths = tuple(path.split("/") for path in paths)

    def matches(self, path: str, *, is_directory: bool) -> bool:
        """Return whether a path, relative to a root, is a control path or lies in one.

        A file `.git` names a repository, and a file `HEAD` makes its directory one.
        """
        names = path.split("/")
        makes_repository = names[-1] in _REPOSITORY_FILES and GIT_DIRECTORY not in names
        if not is_directory and (names[-1] == GIT_DIRECTORY or makes_repository):
            return True
        return any(names[at : at + len(known)] == known for known in self._split_paths for at in range(len(names)))
