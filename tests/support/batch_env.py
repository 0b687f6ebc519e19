"""`tejat batch` with git repositories, task files and a scripted model."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from support.program import ProgramEnv, script_answer

GIT_IDENTITY = {
    **{
        f"GIT_{role}_{part}": value
        for role in ("AUTHOR", "COMMITTER")
        for part, value in (("NAME", "A"), ("EMAIL", "a@b"))
    }
}


class BatchEnv(ProgramEnv):
    """A home, a directory to work in, and repositories in it."""

    def repository(self, name: str = "repo", **files: str) -> Path:
        """A git repository with one commit; the files are by their names, with `_` for `.`."""
        path = self.project / name
        path.mkdir(parents=True)
        for file, content in (files or {"a_txt": "hello\n"}).items():
            (path / file.replace("_", ".")).write_text(content)
        self.git(path, "init", "--quiet", "--initial-branch=main")
        self.git(path, "add", ".")
        self.git(path, "commit", "--quiet", "-m", "First")
        return path

    def git(self, repository: Path, *words: str) -> str:
        environment = {**self.environment, **GIT_IDENTITY, "GIT_CONFIG_NOSYSTEM": "1"}
        done = subprocess.run(
            ["git", *words], cwd=repository, env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout

    def writer(self, name: str = "b.txt", content: str = "new\n", file: str = "writer.toml") -> str:
        """A model that writes a file and ends."""
        call = ("write_file", {"file_path": f"${{root}}/{name}", "content": content})
        return self.script(script_answer(say="I write.", calls=[call]) + script_answer(say="Done."), file)

    def tasks(self, *tasks: dict[str, Any], name: str = "tasks.jsonl") -> str:
        """A task file."""
        (self.project / name).write_text("".join(json.dumps(task) + "\n" for task in tasks))
        return name

    def results(self, directory: str = "out") -> dict[str, dict[str, Any]]:
        """The lines of `results.jsonl` by task."""
        lines = (self.project / directory / "results.jsonl").read_text().splitlines()
        found = [json.loads(line) for line in lines]
        assert len({result["id"] for result in found}) == len(found)
        return {result["id"]: result for result in found}

    def statuses(self, directory: str = "out") -> dict[str, str]:
        return {name: result["status"] for name, result in self.results(directory).items()}


def tree_state(path: Path) -> dict[str, tuple[int, int, int]]:
    """All files of a directory with what a write would change."""
    found = {}
    for directory, folders, files in os.walk(path):
        for name in (*folders, *files):
            status = os.lstat(os.path.join(directory, name))
            found[os.path.join(directory, name)] = (status.st_mode, status.st_size, status.st_mtime_ns)
    return found
