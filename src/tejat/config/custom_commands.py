"""Custom commands: prompts in TOML files of the user, the project and extensions."""

import os
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from tejat.config.extensions.active import ActiveExtension
from tejat.config.files.reader import AllowedWriters, list_config_directory, read_config_file
from tejat.config.paths import AppPaths, SourceTier, same_directory
from tejat.config.trust.decision import TrustDecision
from tejat.core.errors import ConfigurationError
from tejat.core.frozen import Frozen, field, replace
from tejat.core.i18n import lazy
from tejat.core.text.digest import sha256

MAX_FILES = 1000
"""Files and directories of the user, or of the project."""
MAX_CHARACTERS = 8 * 2**20
"""All files of the user, or of the project, together."""
MAX_DEPTH = 8

_SUFFIX = ".toml"
# Parsing a dotted key takes quadratic time: minutes for one that fills the file.
_DEEP_KEY = re.compile(r"""(?<![\w"'-])(?:[\w"'-]+[ \t]*\.[ \t]*){32}""")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class CustomCommand(Frozen):
    """A command. `places` are the variables of its extension, which are not filled in yet."""

    name: str
    path: str
    prompt: str
    description: str
    tier: SourceTier
    extension: ActiveExtension | None = None
    places: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)


class CustomCommands(Frozen):
    """Custom commands by name.

    `invalid` says why commands cannot be used. `untrusted` are the names of commands of an untrusted folder, which are
    not read. `problems` are all reasons for skipped files. `aliases` are other names of commands.
    """

    commands: Mapping[str, CustomCommand]
    invalid: Mapping[str, str]
    untrusted: frozenset[str]
    problems: tuple[str, ...]
    aliases: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def names(self) -> frozenset[str]:
        """All names that mean something, even of commands that cannot be used."""
        return frozenset({*self.commands, *self.invalid, *self.untrusted, *self.aliases})

    def find(self, name: str) -> CustomCommand | None:
        return self.commands.get(name) or self.commands.get(self.aliases.get(name, ""))


def find_custom_commands(
    paths: AppPaths,
    root: str,
    trust: TrustDecision,
    extensions: Sequence[ActiveExtension] = (),
    reserved: Collection[str] = (),
) -> CustomCommands:
    """Find the commands of the user and of the project in `root`, which take precedence if it is trusted.

    A command of one of the `extensions` has its bare name only if nobody else has it, including the built-in commands
    in `reserved`. Raises nothing: unusable files are reported in the problems.
    """
    directories = [_CommandDirectory(paths.user_commands, SourceTier.USER)]
    project = _CommandDirectory(os.path.join(root, ".gemini", "commands"), SourceTier.WORKSPACE, confined_to=root)
    untrusted = frozenset[str]()
    if same_directory(directories[0].directory, project.directory):
        pass
    elif trust.is_trusted:
        # Without items the folder is the user's own, or trusted whatever it holds.
        project.pins = {item.path: item.digest for item in trust.items}
        directories.append(project)
    else:
        untrusted = frozenset(map(_command_name, project.files()))
    commands: dict[str, CustomCommand] = {}
    broken: dict[str, str] = {}
    for directory in directories:
        commands |= directory.commands()
        broken |= directory.invalid
    problems = tuple(problem for directory in directories for problem in directory.problems)
    invalid = {name: why for name, why in broken.items() if name not in commands}
    found = CustomCommands(commands, invalid, untrusted.difference(commands), problems)
    return _add_extensions(found, root, extensions, reserved) if extensions else found


def _add_extensions(
    own: CustomCommands, root: str, extensions: Sequence[ActiveExtension], reserved: Collection[str]
) -> CustomCommands:
    """Add the commands of extensions under names that leave those of others alone."""
    added: list[CustomCommand] = []
    problems = list(own.problems)
    broken: dict[str, str] = {}
    for extension in extensions:
        directory = _ExtensionCommandDirectory(extension, root)
        added += directory.commands().values()
        problems += directory.problems
        broken |= {f"{extension.name}:{name}": why for name, why in directory.invalid.items()}
    qualified = {name for command in added for name in _qualified_names(command)}
    counts = Counter(command.name for command in added)
    taken = own.names | qualified | frozenset(reserved)
    commands, invalid, aliases = dict(own.commands), {**broken, **own.invalid}, dict[str, str]()
    for command in added:
        full, dotted = _qualified_names(command)
        name = command.name if counts[command.name] == 1 and command.name not in taken else full
        if counts[command.name] > 1 and command.name not in taken:
            theirs = [_qualified_names(each)[0] for each in added if each.name == command.name]
            invalid[command.name] = lazy(
                "Several extensions have the command /{name}. Use {names}.",
                name=command.name,
                names=", ".join(f"/{each}" for each in theirs),
            )
        if name not in own.names:
            commands[name] = replace(command, name=name)
        aliases |= {each: name for each in (full, dotted) if each != name and each not in own.names}
    return replace(own, commands=commands, invalid=invalid, problems=tuple(problems), aliases=aliases)


def _qualified_names(command: CustomCommand) -> tuple[str, str]:
    extension = "" if command.extension is None else command.extension.name
    return f"{extension}:{command.name}", f"{extension}.{command.name}"


class _CommandDirectory:
    """A directory of commands, and the problems with it. No links out of `confined_to` are followed.

    Only files with the digests in `pins` are accepted, by path from the project root. Empty means no restriction.
    """

    def __init__(self, directory: str, tier: SourceTier, confined_to: str | None = None) -> None:
        self.directory = directory
        self.problems: list[str] = []
        self.invalid: dict[str, str] = {}
        self._tier = tier
        self._writers = AllowedWriters.TRUSTED if tier is SourceTier.USER else AllowedWriters.ANYONE
        self._confined_to = None if confined_to is None else os.path.realpath(confined_to)
        self.pins: Mapping[str, str] = {}
        self._remaining = MAX_CHARACTERS

    def commands(self) -> dict[str, CustomCommand]:
        found: dict[str, CustomCommand] = {}
        for relative in self.files():
            name = _command_name(relative)
            path = os.path.join(self.directory, relative)
            try:
                if name in found:
                    raise ConfigurationError(
                        lazy("Ignoring {path}: {other} has the same name.", path=path, other=found[name].path)
                    )
                text = self._read(path, relative)
                if text is not None:  # else it was removed since it was listed
                    found[name] = _parse_command(name, path, text, self._tier)
            except ConfigurationError as error:
                self._reject(name, str(error))
        return found

    def files(self) -> Iterator[str]:
        """The files by relative path, in order, each directory once."""
        seen: set[tuple[int, int]] = set()
        waiting = [""]
        left = MAX_FILES
        while waiting:
            here = waiting.pop()
            inner: list[str] = []
            for name in self._list_names(here, seen):
                relative = os.path.join(here, name)
                path = os.path.join(self.directory, relative)
                is_directory = os.path.isdir(path)
                if not is_directory and not name.endswith(_SUFFIX):
                    continue
                if not left:
                    self.problems.append(
                        lazy(
                            "{directory} contains more than {most} files. The rest is ignored.",
                            directory=self.directory,
                            most=MAX_FILES,
                        )
                    )
                    return
                left -= 1
                if not is_directory:
                    yield relative
                elif relative.count("/") + 1 > MAX_DEPTH:
                    self.problems.append(lazy("Ignoring {path}: nested too deeply.", path=path))
                else:
                    inner.append(relative)
            waiting += reversed(inner)

    def _list_names(self, relative: str, seen: set[tuple[int, int]]) -> list[str]:
        """Names without hidden ones, which editors create beside open files."""
        path = os.path.join(self.directory, relative) if relative else self.directory
        try:
            self._refuse_outside(path)
            status = os.stat(path)
            if (status.st_dev, status.st_ino) in seen:
                return []
            seen.add((status.st_dev, status.st_ino))
            names = list_config_directory(path, writers=self._writers)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except ConfigurationError as error:
            self.problems.append(str(error))
            return []
        except OSError as error:
            self.problems.append(lazy("Could not read {path}: {why}.", path=path, why=error.strerror))
            return []
        return [name for name in names if not name.startswith(".")]

    def _read(self, path: str, relative: str) -> str | None:
        self._refuse_outside(path)
        text = read_config_file(path, writers=self._writers)
        if text is None:
            return None
        if self.pins and self.pins.get(self._pin_name(path, relative)) not in _digests(text):
            raise ConfigurationError(lazy("Ignoring {path}: it changed after the folder was checked.", path=path))
        self._remaining -= len(text)
        if self._remaining < 0:
            raise ConfigurationError(
                lazy(
                    "Ignoring {path}: the files in {directory} are larger than {size} MiB.",
                    path=path,
                    directory=self.directory,
                    size=MAX_CHARACTERS // 2**20,
                )
            )
        return text

    def _pin_name(self, path: str, relative: str) -> str:
        return f".gemini/commands/{relative}"

    def _refuse_outside(self, path: str) -> None:
        if self._confined_to is None:
            return
        real = os.path.realpath(path)
        if not real.startswith(f"{self._confined_to.rstrip('/')}/"):
            if self._tier is SourceTier.EXTENSION:
                raise ConfigurationError(lazy("Ignoring {path}: it points outside the extension.", path=path))
            raise ConfigurationError(lazy("Ignoring {path}: it points outside the project.", path=path))

    def _reject(self, name: str, why: str) -> None:
        message = lazy("Skipped command /{name}. {why}", name=name, why=why)
        self.invalid.setdefault(name, message)
        self.problems.append(message)


class _ExtensionCommandDirectory(_CommandDirectory):
    """The commands of an extension, as they were agreed to."""

    def __init__(self, extension: ActiveExtension, root: str) -> None:
        directory = os.path.join(extension.path, "commands")
        super().__init__(directory, SourceTier.EXTENSION, confined_to=extension.path)
        self._extension = extension
        self._places = extension.places(root)
        consent = extension.consent
        self.pins = {} if consent is None else {relative: pin.digest for relative, pin in consent.declared.items()}

    def commands(self) -> dict[str, CustomCommand]:
        return {
            name: replace(
                command,
                description=f"[{self._extension.name}] {command.description}",
                extension=self._extension,
                places=self._places,
            )
            for name, command in super().commands().items()
        }

    def _pin_name(self, path: str, relative: str) -> str:
        return os.path.relpath(os.path.realpath(path), os.path.realpath(self._extension.path))


def _command_name(relative: str) -> str:
    """The name of a command: `git:commit` for `git/commit.toml`. Spaces and colons are replaced."""
    letters = relative.removesuffix(_SUFFIX).replace(":", " ")
    name = ("_" if letter.isspace() or not letter.isprintable() else letter for letter in letters)
    return "".join(name).replace("/", ":")


def _digests(text: str) -> tuple[str, str]:
    """The digests with and without the byte order mark that reading removed."""
    content = text.encode()
    return sha256(content).hexdigest(), sha256(_BYTE_ORDER_MARK + content).hexdigest()


def _parse_command(name: str, path: str, text: str, tier: SourceTier) -> CustomCommand:
    """Raises ConfigurationError."""
    import tomllib

    if _DEEP_KEY.search(text):
        raise ConfigurationError(lazy("{path}: nested too deeply.", path=path))
    try:
        table = tomllib.loads(text)
    except RecursionError:
        raise ConfigurationError(lazy("{path}: nested too deeply.", path=path)) from None
    except ValueError as error:
        raise ConfigurationError(lazy("{path}: invalid TOML: {why}.", path=path, why=error)) from None
    prompt = table.get("prompt")
    if prompt is None:
        raise ConfigurationError(lazy("{path}: no prompt.", path=path))
    if not isinstance(prompt, str) or not prompt.strip():
        raise ConfigurationError(lazy("{path}: prompt must be a non-empty string.", path=path))
    description = table.get("description", lazy("Custom command from {path}", path=os.path.basename(path)))
    if not isinstance(description, str):
        raise ConfigurationError(lazy("{path}: description must be a string.", path=path))
    return CustomCommand(name, path, prompt, description, tier)
