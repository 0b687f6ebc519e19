"""Playing of examples: a scripted run in a temporary project, with nothing of the user's configuration."""

import asyncio
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping

from tejat.app.inspection.examples.observer import ExampleObserver, ObservedCall
from tejat.app.inspection.examples.unrun_tool import replace_tools
from tejat.app.session.lifespan import open_session_manager
from tejat.config.paths import app_paths
from tejat.core.agent.events import EndReason, RunEnded
from tejat.core.agent.options import AgentOptions
from tejat.core.approval.modes import ApprovalMode
from tejat.core.errors import TejatError
from tejat.core.frozen import Frozen, replace
from tejat.core.i18n import lazy
from tejat.core.messages.types import JsonObject
from tejat.models.scripted.model import placeholders, read_script_file
from tejat.models.scripted.script_file import Script, parse_script

_SECONDS = 60.0
_SCRIPT = "script.toml"
_PASSED_VARIABLES = ("PATH", "LANG", "LC_ALL", "TMPDIR", "TZ")
SKILL_PLACEHOLDER = "${skill}"
"""Stands for the directory of the skill in an example."""


class ExampleResult(Frozen):
    """An example after it was played: its calls, and what was not as expected."""

    path: str
    calls: tuple[ObservedCall, ...]
    problems: tuple[str, ...]

    @property
    def passed(self) -> bool:
        return not self.problems

    def to_json(self) -> JsonObject:
        return {
            "file": self.path,
            "passed": self.passed,
            "calls": [call.to_json() for call in self.calls],
            "problems": list(self.problems),
        }


def play_skill_examples(name: str, directory: str) -> list[ExampleResult]:
    """Play the examples of a skill: `tests/*.toml` in its directory. Whatever is wrong is a problem in a result."""

    def install(home: str) -> Mapping[str, str]:
        place = os.path.join(home, ".agents", "skills", name)
        shutil.copytree(directory, place, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        return {SKILL_PLACEHOLDER: place}

    return [_play(path, install, f"Use the skill {name}.") for path in _find_examples(directory)]


def play_agent_examples(name: str, file: str) -> list[ExampleResult]:
    """Play the examples of an agent, `tests/NAME.toml` and `tests/NAME.CASE.toml` beside its file, as for a skill."""

    def install(home: str) -> Mapping[str, str]:
        place = os.path.join(home, ".gemini", "agents")
        os.makedirs(place)
        shutil.copy(file, place)
        return {}

    examples = _find_examples(os.path.dirname(file), beginning=f"{name}.")
    return [_play(path, install, f"Use the agent {name}.") for path in examples]


def _find_examples(directory: str, beginning: str = "") -> list[str]:
    tests = os.path.join(directory, "tests")
    try:
        names = sorted(os.listdir(tests))
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [os.path.join(tests, name) for name in names if name.endswith(".toml") and name.startswith(beginning)]


def _play(path: str, install: Callable[[str], Mapping[str, str]], prompt: str) -> ExampleResult:
    """Play an example. `install` copies what it is about to a home directory, and returns placeholders."""
    with tempfile.TemporaryDirectory(prefix="tejat-example-", ignore_cleanup_errors=True) as made:
        scratch = os.path.realpath(made)
        project = os.path.join(scratch, "project")
        os.makedirs(project)
        names = {os.path.join(scratch, _SCRIPT): path, project: "${root}", scratch: "${scratch}"}
        try:
            text = read_script_file(path)
            for placeholder, value in install(os.path.join(scratch, "home")).items():
                text, names = text.replace(placeholder, value), {value: placeholder, **names}
            script = parse_script(text, file=path, placeholders=placeholders(project))
            if script.topics:
                return ExampleResult(path, (), (lazy("an example has [[answer]] tables, no [[topic]]"),))
            _write_files(project, script.files)
            _write_files(scratch, {_SCRIPT: text})
            observer = ExampleObserver(script)
            ended = asyncio.run(_run(scratch, script, observer, script.prompt or prompt))
        except (TejatError, OSError) as error:
            return ExampleResult(path, (), (_rename(str(error), names),))
    problems = list(observer.problems)
    if ended.reason is not EndReason.FINISHED:
        problems.insert(0, _rename(str(ended.message or ended.reason), names))
    return ExampleResult(path, tuple(_rename_call(call, names) for call in observer.calls), tuple(problems))


async def _run(scratch: str, script: Script, observer: ExampleObserver, prompt: str) -> RunEnded:
    """Raises TejatError."""
    options = AgentOptions(
        directories=(os.path.join(scratch, "project"),),
        model=f"scripted:{os.path.join(scratch, _SCRIPT)}",
        mode=script.mode or ApprovalMode.DEFAULT.value,
        sandbox="off",
        trusts_folder=True,
        keeps_session=False,
        timeout=_SECONDS,
        environment=_environment(os.path.join(scratch, "home")),
    )
    async with open_session_manager(options, observer) as manager:
        replace_tools(manager.toolset.registry, observer.result_of)
        # They use the scripted model, and none of their servers is started.
        manager.subagents.replace_definitions(lambda definition: replace(definition, model=None, servers={}))
        return await manager.session.prompt(prompt, observer.listen)


def _rename_call(call: ObservedCall, names: Mapping[str, str]) -> ObservedCall:
    arguments = json.loads(_rename(json.dumps(call.arguments), names))
    return replace(call, arguments=arguments, error=_rename(call.error, names))


def _rename(text: str, names: Mapping[str, str]) -> str:
    """A text with the placeholders of an example instead of temporary files."""
    for path, name in names.items():
        text = text.replace(path, name)
    return text


def _write_files(project: str, files: Mapping[str, str]) -> None:
    for name, content in files.items():
        path = os.path.join(project, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "x", encoding="utf-8") as file:
            file.write(content)


def _environment(home: str) -> dict[str, str]:
    """An environment without keys, and with the configuration and the state in this home directory."""
    environment = {name: os.environ[name] for name in _PASSED_VARIABLES if name in os.environ} | {"HOME": home}
    paths = app_paths(environment)
    os.makedirs(paths.state, mode=0o700, exist_ok=True)
    with open(paths.root_warning, "x", encoding="utf-8"):
        pass  # the warning is for sessions of people
    return environment
