"""The private plan directories of all projects, which are removed with their sessions."""

import os
from collections.abc import Collection
from contextlib import suppress

from tejat.config.paths import plans_name


class PlanStorage:
    """The plan files of sessions, in `directory/PROJECT/SESSION`."""

    def __init__(self, directory: str) -> None:
        self._directory = directory

    def path(self, project: str, session_id: str) -> str:
        return os.path.join(self._directory, project, plans_name(session_id))

    def remove(self, project: str, session_id: str) -> None:
        """Remove the plan files of a session. Raises OSError."""
        remove_plans(self.path(project, session_id))
        self._remove_empty(project)

    def remove_orphans(self, project: str, session_ids: Collection[str], *, before: float) -> None:
        """Remove directories of a project that changed last `before` that time and belong to no session.

        Raises nothing.
        """
        names = set(map(plans_name, session_ids))
        for name in self.old_names(project, before=before):
            if name not in names:
                with suppress(OSError):
                    remove_plans(os.path.join(self._directory, project, name))
        self._remove_empty(project)

    def projects(self) -> list[str]:
        """The projects that have plan files. Raises nothing."""
        with suppress(OSError), os.scandir(self._directory) as entries:
            return [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        return []

    def old_names(self, project: str, *, before: float) -> list[str]:
        """The names of the directories of a project that changed last before that time. Raises nothing."""
        with suppress(OSError), os.scandir(os.path.join(self._directory, project)) as entries:
            return [
                entry.name
                for entry in entries
                if entry.is_dir(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_mtime < before
            ]
        return []

    def _remove_empty(self, project: str) -> None:
        with suppress(OSError):
            os.rmdir(os.path.join(self._directory, project))


def remove_plans(directory: str) -> None:
    """Remove a directory of plan files. Raises OSError."""
    from tejat.workspace.downloads.tree import remove_tree

    remove_tree(directory)
