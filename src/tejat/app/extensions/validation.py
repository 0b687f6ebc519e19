"""Checks of an extension: everything that can be known without running it."""

import os
import re
import stat
from collections.abc import Iterator

from tejat.app.commands.builtin import builtin_names
from tejat.app.extensions.description.contents import ExtensionContents, read_contents
from tejat.app.extensions.description.programs import describe_program, missing_files, split_words
from tejat.app.extensions.description.summary_builder import rule_refusal
from tejat.app.extensions.environment import ExtensionEnvironment
from tejat.config.extensions.consent import ExtensionPins
from tejat.config.extensions.manifest import MANIFEST, ExtensionManifest, find_name_problem, read_manifest
from tejat.config.extensions.variables import leads_out
from tejat.core.errors import ConfigurationError
from tejat.core.frozen import Frozen
from tejat.core.i18n import lazy
from tejat.core.messages.types import JsonObject
from tejat.core.text.token_shapes import find_tokens
from tejat.policy.rules.rule_format import format_rule
from tejat.workspace.downloads.tree import walk_tree
from tejat.workspace.files.regular_file import find_user_program, is_executable_file, regular_file_opener

# https://semver.org, without leading zeros being checked.
_SEMVER = re.compile(r"\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?")
_MAX_SCANNED = 1024 * 1024
_SHEBANG = b"#!"


class ValidationResult(Frozen):
    """`errors` are what is wrong, `warnings` what may be. `contents` is None if the manifest cannot be read."""

    path: str
    errors: tuple[str, ...]
    warnings: tuple[str, ...]
    contents: ExtensionContents | None = None

    def to_json(self) -> JsonObject:
        contents = self.contents
        tokens: JsonObject = (
            {}
            if contents is None
            else {"context": contents.context_tokens, "skills": contents.skill_tokens, "agents": contents.agent_tokens}
        )
        return {
            "path": self.path,
            "valid": not self.errors,
            "errors": list(map(str, self.errors)),
            "warnings": list(map(str, self.warnings)),
            "tokens": tokens,
        }


def validate_extension(environment: ExtensionEnvironment, path: str) -> ValidationResult:
    """Check the extension in a directory. Raises nothing about the extension."""
    path = os.path.abspath(path)
    if not os.path.isdir(path):
        return ValidationResult(path, (lazy("{path} is not a directory.", path=path),), ())
    try:
        manifest = read_manifest(path)
        contents = read_contents(path, manifest, workspace=environment.root)
    except ConfigurationError as error:
        return ValidationResult(path, (str(error),), ())
    checks = _Checks(path, manifest, contents)
    return ValidationResult(path, tuple(checks.errors()), tuple(checks.warnings()), contents)


class _Checks:
    def __init__(self, path: str, manifest: ExtensionManifest, contents: ExtensionContents) -> None:
        self._path = path
        self._manifest = manifest
        self._contents = contents

    def errors(self) -> Iterator[str]:
        if problem := find_name_problem(self._manifest.name, builtin_names()):
            yield lazy("{file}: {problem}", file=MANIFEST, problem=problem)
        yield from self._contents.problems
        for setting in self._manifest.settings:
            if setting.refusal:
                yield lazy("{file}: settings: {problem}", file=MANIFEST, problem=setting.refusal)
        try:
            ExtensionPins(self._path, self._manifest, hashes_code=False)
        except ConfigurationError as error:
            yield str(error)
        yield from self._program_errors()
        yield from self._secrets()

    def warnings(self) -> Iterator[str]:
        manifest = self._manifest
        if manifest.name != os.path.basename(self._path):
            yield lazy("the directory is not called {name}", name=manifest.name)
        if not _SEMVER.fullmatch(manifest.version):
            yield lazy("version {version} is not of the form 1.2.3", version=manifest.version)
        for name in manifest.unknown_fields:
            yield lazy("{file}: the field {name} is not known", file=MANIFEST, name=name)
        for rule in self._contents.rules:
            if refusal := rule_refusal(rule):
                yield lazy("{source}: {rule}: not used, {why}", source=rule.source, rule=format_rule(rule), why=refusal)
        for name in self._contents.remote_agents:
            yield lazy("the remote agent {name} is not used", name=name)
        yield from self._scripts()

    def _program_errors(self) -> Iterator[str]:
        for alias, server in self._manifest.servers().items():
            texts = (server.value.command or "", *server.value.arguments, server.value.directory or "")
            if any(map(leads_out, texts)):
                yield lazy("the server {alias} uses a path that leads out of the extension", alias=alias)
        for alias, server in self._contents.servers.items():
            if server.command is not None:
                words = [server.command, *server.arguments]
                directory = os.path.join(self._path, server.directory or "")
                yield from self._missing(lazy("the server {alias}", alias=alias), words, directory)
        for hook in self._contents.hooks:
            if hook.command:
                what = lazy("the hook {name}", name=hook.name)
                yield from self._missing(what, split_words(hook.command), self._path)

    def _missing(self, what: str, words: list[str], directory: str) -> Iterator[str]:
        program = words[0]
        is_there = (
            find_user_program(program) is not None
            if "/" not in program
            else is_executable_file(os.path.join(directory, program))
        )
        if not is_there and re.fullmatch(r"[\w./+-]+", program):
            where = describe_program(program, place=self._path, path=self._path, directory=directory)
            yield lazy("{what}: {problem}", what=what, problem=where)
        for file in missing_files(words[1:], place=self._path, path=self._path, directory=directory):
            yield lazy("{what}: {file} does not exist", what=what, file=file)

    def _scripts(self) -> Iterator[str]:
        """Scripts with an interpreter line that cannot be executed."""
        for relative, entry in walk_tree(self._path):
            if entry.is_file(follow_symlinks=False) and "node_modules" not in relative:
                mode = entry.stat(follow_symlinks=False).st_mode
                if not mode & stat.S_IXUSR and _read_start(entry.path, len(_SHEBANG)) == _SHEBANG:
                    yield lazy("{file} is a script without the executable bit", file=relative)

    def _secrets(self) -> Iterator[str]:
        for relative, entry in walk_tree(self._path):
            if entry.is_file(follow_symlinks=False) and "node_modules" not in relative:
                text = _read_start(entry.path, _MAX_SCANNED).decode("utf-8", "replace")
                if "\0" not in text and (found := find_tokens(text)):
                    line = text.count("\n", 0, found[0][0]) + 1
                    yield lazy("{file}:{line}: this looks like a secret", file=relative, line=line)


def _read_start(path: str, size: int) -> bytes:
    try:
        with open(path, "rb", opener=regular_file_opener) as file:
            return file.read(size)
    except OSError:
        return b""
