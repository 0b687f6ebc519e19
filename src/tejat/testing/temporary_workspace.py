"""A directory for agents to work in, away from the user's own settings."""

import os
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tejat.core.text.one_or_many import describe_wrong_mapping

if TYPE_CHECKING:
    from tejat.agent import Agent
    from tejat.core.model import Model
    from tejat.sync_agent import SyncAgent


class TemporaryWorkspace:
    """A project with these files and an empty home directory, deleted at the end of `with`.

    `path` is the project. `environment` is that of the agents: the settings, rules, sessions and keys of the user who
    runs the tests do not count. With `within`, both are made in that directory and are not deleted.
    """

    def __init__(self, files: Mapping[str, str | bytes] | None = None, *, within: str | os.PathLike[str] = "") -> None:
        """Raises ValueError for a file outside of the project, TypeError for files that are no mapping."""
        if files is not None and (wrong := describe_wrong_mapping(files, (str, bytes))):
            raise TypeError(f"files must be a mapping from names to contents, not {wrong}.")
        with ExitStack() as stack:
            base = Path(os.fspath(within) or stack.enter_context(_temporary_directory())).resolve()
            self.path = base / "project"
            home = base / "home"
            for directory in (self.path, home):
                directory.mkdir()
            self.environment = {"HOME": str(home), "PATH": os.environ.get("PATH", os.defpath)}
            for name, content in (files or {}).items():
                self.write(name, content)
            self._stack = stack.pop_all()

    def __enter__(self) -> "TemporaryWorkspace":
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def __repr__(self) -> str:
        return f"<TemporaryWorkspace {str(self.path)!r}>"

    def write(self, name: str, content: str | bytes) -> Path:
        """Write a file of the project and return its path. Raises ValueError for one outside of it."""
        path = self._path_of(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def read(self, name: str) -> str:
        """The text of a file of the project. Raises OSError, and ValueError for one outside of it."""
        return self._path_of(name).read_text(encoding="utf-8")

    def agent(self, model: "Model | str", **settings: Any) -> "Agent":
        """An agent in this project, to be used in `async with`. Further settings are those of `Agent`."""
        from tejat.agent import Agent

        return Agent(model=model, **self._settings(settings))

    def sync_agent(self, model: "Model | str", **settings: Any) -> "SyncAgent":
        """A synchronous agent in this project, to be used in `with`. Further settings are those of `SyncAgent`."""
        from tejat.sync_agent import SyncAgent

        return SyncAgent(model=model, **self._settings(settings))

    def _settings(self, given: Mapping[str, Any]) -> dict[str, Any]:
        return {"directories": self.path, "environment": self.environment, "sandbox": "off", **given}

    def _path_of(self, name: str) -> Path:
        path = self.path / name
        if not path.resolve().is_relative_to(self.path):
            raise ValueError(f"{name!r} is not in the project")
        return path


def _temporary_directory() -> "tempfile.TemporaryDirectory[str]":
    return tempfile.TemporaryDirectory(prefix="tejat-", ignore_cleanup_errors=True)
