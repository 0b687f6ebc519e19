"""A task of the benchmark: a folder with the files of a project, a prompt, a check and a script that solves it.

| in the folder | meaning |
| --- | --- |
| `task.toml` | `title`, `prompt`, and optionally `changes` and `adds_nothing` |
| `files/` | the files of the project |
| `setup.py` | optional: runs in the repository after the first commit, for history and generated files |
| `check.py` | a hidden test module, which `judge.py` runs in the tree |
| `script.toml` | a scripted model that solves the task |

`changes` are patterns of the files that may differ from `files/`, all by default. New files are fine unless
`adds_nothing`.
"""

import tomllib
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

CASES = Path(__file__).parent / "cases"


@dataclass(frozen=True, slots=True)
class TaskCase:
    """A task. `id` is the name of its folder."""

    folder: Path
    title: str
    prompt: str

    @property
    def id(self) -> str:
        return self.folder.name

    @property
    def files(self) -> Path:
        return self.folder / "files"

    @property
    def setup(self) -> Path:
        return self.folder / "setup.py"

    @property
    def script(self) -> Path:
        return self.folder / "script.toml"


def load_cases(only: Collection[str] = ()) -> list[TaskCase]:
    """All tasks in their order, or those that `only` names, by id or by number. Raises KeyError for an unknown one."""
    cases = [_load(folder) for folder in sorted(CASES.iterdir()) if (folder / "task.toml").is_file()]
    wanted = {_find(cases, name) for name in only}
    return [case for case in cases if not only or case.id in wanted]


def _load(folder: Path) -> TaskCase:
    found = tomllib.loads((folder / "task.toml").read_text(encoding="utf-8"))
    return TaskCase(folder, found["title"], found["prompt"])


def _find(cases: list[TaskCase], name: str) -> str:
    for case in cases:
        if case.id == name or case.id.partition("-")[0] == name.zfill(2):
            return case.id
    raise KeyError(name)
