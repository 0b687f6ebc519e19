"""Set-ups of Gemini CLI as people have them, each with the report and the notes that it is expected to give.

A folder `NAME` holds the files of a machine: `home`, `project` and `etc` (the administrator's directories), in which
`@HOME@`, `@PROJECT@` and `@ETC@` stand for their paths. `environment.json` has variables, `words.json` command lines to
run besides `-p hi`. TEJAT_WRITE_SNAPSHOTS=1 writes each `expected.txt` anew; then look at what has changed.
"""

import json
import os
import re
import shutil
from collections.abc import Iterator
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest

from support.program import ProgramEnv, text_script
from tejat.app.model_source import DEFAULT_MODEL
from tejat.app.run_config import RunConfig, load_run_config
from tejat.app.setup.doctor import configuration_checks
from tejat.app.setup.security_checks import security_checks
from tejat.app.setup.settings_checks import settings_checks
from tejat.app.setup.setup_report import SetupReport, setup_report
from tejat.config.jsonc import JsonNode
from tejat.config.settings.inspection import SettingStatus
from tejat.core.approval.policy_report import DoctorCheck
from tejat.core.errors import ConfigurationError

HERE = Path(__file__).parent
NAMES = sorted(path.name for path in HERE.iterdir() if path.is_dir() and not path.name.startswith("_"))
USUAL_WORDS = ["-p", "hi", "--sandbox=off"]
PROGRAMS = ("bash", "sh", "env", "cat", "git")
"""The programs that a set-up finds: none that starts containers or gets servers from the network."""
OF_THE_MACHINE = ("user", "terminal")
"""Groups of checks that differ between machines."""
WORKING_SANDBOX = ", which works here."
"""A hint that differs between machines."""


class Setup:
    """A set-up, copied to where it can be used."""

    def __init__(self, name: str, base: Path) -> None:
        self.source = HERE / name
        self.program = ProgramEnv(base.resolve())
        self.marks = {
            "@HOME@": str(self.program.home),
            "@PROJECT@": str(self.program.project),
            "@ETC@": str(self.program.base / "etc"),
        }
        for directory in ("home", "project", "etc"):
            self._copy(self.source / directory, self.program.base / directory)
        programs = self.program.base / "bin"
        programs.mkdir()
        for found in filter(None, map(shutil.which, PROGRAMS)):
            (programs / Path(found).name).symlink_to(found)
        administrators = (str(self.program.base / "etc" / directory) for directory in ("gemini-cli", "tejat"))
        self.program.environment |= {
            "PATH": str(programs),
            "TEJAT_ADMIN_DIRECTORY": os.pathsep.join(administrators),
            **{name: self._fill(text) for name, text in self._read("environment.json", {}).items()},
        }

    @property
    def expected(self) -> Path:
        return self.source / "expected.txt"

    @cached_property
    def config(self) -> tuple[RunConfig, list[ConfigurationError]]:
        """The configuration, and the errors that would end a run."""
        faults: list[ConfigurationError] = []
        directories = [str(self.program.project)]
        return load_run_config(directories, environment=self.program.environment, faults=faults), faults

    @cached_property
    def setup(self) -> SetupReport:
        return setup_report(*self.config)

    @cached_property
    def report(self) -> Any:
        return self.setup.to_json()

    def describe(self) -> str:
        """The report of the doctor, its checks, and what command lines print."""
        lines = [*self._describe_report(), *self._describe_checks()]
        for words in [USUAL_WORDS, *self._read("words.json", [])]:
            lines += self._describe_run(words)
        return self._shorten("\n".join(lines))

    def _describe_report(self) -> Iterator[str]:
        yield "$ tejat doctor --setup"
        yield from (f"error: {fault}" for fault in self.report["faults"])
        for status in map(str, SettingStatus):
            found = [each for each in self.report["settings"] if each["status"] == status]
            assert self.report["counts"][status] == len(found)
            if found:
                yield f"{status} ({len(found)}):"
                yield from map(describe_setting, found)
        use = itemgetter("use")
        for heading, files in groupby(sorted(self.report["files"], key=use), use):
            yield f"files {heading}:"
            yield from (f"  {file['path']} ({file['what']}): {file['detail']}" for file in files)
        if self.report["variables"]:
            yield "variables without effect:"
            yield from (f"  {each['name']}: {each['reason']}" for each in self.report["variables"])
        yield f"exit code {self.setup.exit_code}"
        yield ""

    def _describe_checks(self) -> Iterator[str]:
        config, faults = self.config
        yield "$ tejat doctor"
        environment = self.program.environment
        for check in (
            *configuration_checks(config, process_environment=environment, default_model=DEFAULT_MODEL),
            *security_checks(config),
            *settings_checks(config, faults, is_strict=config.is_strict),
        ):
            if check.group not in OF_THE_MACHINE and check.name != "prices":
                yield describe_check(check)
        yield ""

    def _describe_run(self, words: list[str]) -> Iterator[str]:
        yield " ".join(("$ tejat", *words))
        is_prompt = "-p" in words and "-m" not in words
        model = ("-m", self.program.script(text_script("Hello."))) if is_prompt else ()
        done = self.program.run(*words, *model)
        yield from (f"> {line}".rstrip() for line in summarize(done.stdout).splitlines())
        yield from (line for line in done.stderr.splitlines() if WORKING_SANDBOX not in line)
        yield f"exit code {done.code}"
        yield ""

    def _copy(self, source: Path, target: Path) -> None:
        """Copy a directory. Git keeps neither the modes of files nor empty directories."""
        target.mkdir(mode=0o700, exist_ok=True)
        for path in sorted(source.iterdir()) if source.is_dir() else ():
            copied = target / path.name
            if path.is_dir():
                self._copy(path, copied)
            else:
                copied.write_bytes(self._fill(path.read_bytes().decode()).encode())
                copied.chmod(0o700 if path.suffix == ".sh" else 0o600)

    def _read(self, name: str, default: Any) -> Any:
        path = self.source / name
        return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else default

    def _fill(self, text: str) -> str:
        for mark, path in self.marks.items():
            text = text.replace(mark, path)
        return text

    def _shorten(self, text: str) -> str:
        for mark, path in self.marks.items():
            text = text.replace(path, mark.strip("@"))
        text = re.sub(r"(invalid TOML: ).*", r"\1...", text)  # it differs between versions of Python
        return text.replace(str(self.program.base), "BASE")


def describe_setting(setting: dict[str, Any]) -> str:
    text = f"  {setting['file']}:{setting['line']} {setting['key']}"
    if "present_name" in setting:
        text += f" (now {setting['present_name']})"
    if "suggestion" in setting:
        text += f" (did you mean {setting['suggestion']}?)"
    return f"{text}: {setting['reason']}" if "reason" in setting else text


def describe_check(check: DoctorCheck) -> str:
    code = f" (exit code {check.exit_code})" if check.exit_code else ""
    return f"{'yes' if check.passed else 'NO '} {check.group}, {check.name}: {check.detail}{code}"


def summarize(output: str) -> str:
    """What a program says, without what differs between runs if it is JSON."""
    if not output.startswith("{"):
        return output
    content = json.loads(output)
    shown = {name: content[name] for name in ("response", "warnings") if name in content}
    return json.dumps(shown | ({"code": content["error"]["code"]} if "error" in content else {}))


@pytest.mark.parametrize("name", NAMES)
def test_setup(name: str, tmp_path: Path) -> None:
    setup = Setup(name, tmp_path)
    found = setup.describe()
    if os.environ.get("TEJAT_WRITE_SNAPSHOTS") == "1":
        setup.expected.write_text(found, encoding="utf-8")
    assert setup.expected.exists(), f"{setup.expected} is not there: run with TEJAT_WRITE_SNAPSHOTS=1\n{found}"
    assert found == setup.expected.read_text(encoding="utf-8")
    check_no_key_is_silent(setup)


def check_no_key_is_silent(setup: Setup) -> None:
    """Each value in a file that counts belongs to a key of the report, which has it once."""
    config, _ = setup.config
    reported = [(each["file"], each["key"]) for each in setup.report["settings"]]
    assert len(reported) == len(set(reported))
    for file in config.settings_files:
        keys = {key for path, key in reported if path == file.path}
        for name in leaf_names(file.members):
            assert name.startswith("$") or any(f"{name}.".startswith(f"{key}.") for key in keys), (file.path, name)


def leaf_names(members: dict[str, JsonNode], before: str = "") -> Iterator[str]:
    for last, node in members.items():
        if isinstance(node.value, dict):
            yield from leaf_names(node.value, f"{before}{last}.")
        elif node.value is not None:
            yield f"{before}{last}"
