"""Which commands there are, by what name, whose they are, and what becomes of those that cannot be used."""

import os
from hashlib import sha256
from pathlib import Path

import pytest

from tejat.config import custom_commands
from tejat.config.custom_commands import CustomCommand, CustomCommands, find_custom_commands
from tejat.config.extensions.active import ActiveExtension
from tejat.config.extensions.consent_store import ConsentParty, ExtensionConsent
from tejat.config.extensions.pins import pin_declared
from tejat.config.paths import AppPaths, SourceTier, app_paths
from tejat.config.trust.decision import TrustDecision, TrustLevel
from tejat.config.trust.store import FolderIdentity, TrustItem

USER, PROJECT = SourceTier.USER, SourceTier.WORKSPACE


class Machine:
    """A home and a project, each with a place for commands."""

    def __init__(self, base: Path) -> None:
        self.home, self.root = base / "home", base / "project"
        self.own, self.project = (place / ".gemini" / "commands" for place in (self.home, self.root))
        for directory in (self.own, self.project):
            directory.mkdir(parents=True)
        home = str(self.home)
        self.paths = AppPaths(home, f"{home}/config", f"{home}/state", f"{home}/.gemini", ())

    def find(self, trust: TrustDecision | None = None) -> CustomCommands:
        return find_custom_commands(
            self.paths, str(self.root), trust or TrustDecision(TrustLevel.TRUSTED, "As a test says.")
        )

    def pinned(self) -> TrustDecision:
        """The project is trusted as it is now."""
        items = [
            TrustItem(str(path.relative_to(self.root)), "command", sha256(path.read_bytes()).hexdigest())
            for path in sorted(self.project.rglob("*.toml"))
        ]
        return TrustDecision(TrustLevel.TRUSTED, "", tuple(items))


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def put(directory: Path, name: str, prompt: str = "Say hello.", more: str = "") -> Path:
    path = directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'prompt = "{prompt}"\n{more}')
    return path


def command(path: Path, name: str, prompt: str = "Say hello.", tier: SourceTier = USER) -> CustomCommand:
    return CustomCommand(name, str(path), prompt, f"Custom command from {path.name}", tier)


def only(*commands: CustomCommand) -> CustomCommands:
    return CustomCommands({each.name: each for each in commands}, {}, frozenset(), ())


def left_out(name: str, why: str) -> CustomCommands:
    told = f"Skipped command /{name}. {why}"
    return CustomCommands({}, {name: told}, frozenset(), (told,))


class TestNames:
    def test_a_name_is_the_path_with_colons(self, machine: Machine) -> None:
        paths = {
            "a": put(machine.own, "a.toml"),
            "git:commit": put(machine.own, "git/commit.toml"),
            "git:deep:er": put(machine.own, "git/deep/er.toml"),
            "v1.2": put(machine.own, "v1.2.toml"),
            "grüße": put(machine.own, "grüße.toml"),
        }
        assert machine.find() == only(*(command(path, name) for name, path in paths.items()))

    def test_blanks_colons_and_control_characters_are_no_part_of_a_name(self, machine: Machine) -> None:
        spaced, colon = put(machine.own, "two words.toml"), put(machine.own, "x:y.toml")
        strange = put(machine.own, "bell\a.toml")
        expected = only(command(spaced, "two_words"), command(colon, "x_y"), command(strange, "bell_"))
        assert machine.find() == expected

    def test_of_two_with_one_name_the_first_counts(self, machine: Machine) -> None:
        first, second = put(machine.own, "a b.toml"), put(machine.own, "a_b.toml")
        told = f"Skipped command /a_b. Ignoring {second}: {first} has the same name."
        assert machine.find() == CustomCommands({"a_b": command(first, "a_b")}, {}, frozenset(), (told,))

    def test_other_files_and_hidden_ones_are_none(self, machine: Machine) -> None:
        for name in ("notes.md", "x.toml.bak", "X.TOML", ".hidden.toml", ".dir/x.toml"):
            put(machine.own, name)
        assert machine.find() == only()


class TestWhose:
    def test_the_project_goes_before_the_person(self, machine: Machine) -> None:
        put(machine.own, "x.toml", "mine")
        mine, theirs = put(machine.own, "y.toml", "mine"), put(machine.project, "x.toml", "theirs")
        expected = only(command(theirs, "x", "theirs", PROJECT), command(mine, "y", "mine"))
        assert machine.find(machine.pinned()) == expected

    def test_one_of_the_person_stands_in_for_a_broken_one_of_the_project(self, machine: Machine) -> None:
        mine, theirs = put(machine.own, "x.toml", "mine"), machine.project / "x.toml"
        theirs.write_text("description = 'none'\n")
        told = f"Skipped command /x. {theirs}: no prompt."
        expected = CustomCommands({"x": command(mine, "x", "mine")}, {}, frozenset(), (told,))
        assert machine.find(machine.pinned()) == expected

    @pytest.mark.parametrize("level", [TrustLevel.UNKNOWN, TrustLevel.NOT_TRUSTED, TrustLevel.CHANGED])
    def test_a_folder_that_is_not_trusted_has_names_and_no_commands(self, machine: Machine, level: TrustLevel) -> None:
        mine = put(machine.own, "x.toml", "mine")
        put(machine.project, "x.toml")
        (machine.project / "broken.toml").write_text("nothing of this is read")
        put(machine.project, "git/y.toml")
        expected = CustomCommands({"x": command(mine, "x", "mine")}, {}, frozenset({"broken", "git:y"}), ())
        assert machine.find(TrustDecision(level, "")) == expected

    def test_a_project_in_the_home_directory_has_the_persons_own(self, machine: Machine) -> None:
        mine = put(machine.own, "x.toml")
        for level in TrustLevel:
            assert find_custom_commands(machine.paths, str(machine.home), TrustDecision(level, "")) == only(
                command(mine, "x")
            )

    def test_what_changed_since_the_folder_was_looked_at_is_not_used(self, machine: Machine) -> None:
        same, other = put(machine.project, "same.toml"), put(machine.project, "other.toml")
        marked = machine.project / "marked.toml"
        marked.write_bytes(b'\xef\xbb\xbfprompt = "Say hello."\n')
        trust = machine.pinned()
        put(machine.project, "other.toml", "Do something else.")
        new = put(machine.project, "new.toml")
        told = {
            name: f"Skipped command /{name}. Ignoring {path}: it changed after the folder was checked."
            for name, path in (("new", new), ("other", other))
        }
        kept = {name: command(path, name, tier=PROJECT) for name, path in (("marked", marked), ("same", same))}
        assert machine.find(trust) == CustomCommands(kept, told, frozenset(), tuple(told.values()))

    def test_nothing_there(self, tmp_path: Path) -> None:
        paths = AppPaths("/dev/null", "/dev/null/c", "/dev/null/s", "/dev/null/.gemini", ())
        for level in TrustLevel:
            assert find_custom_commands(paths, str(tmp_path / "gone"), TrustDecision(level, "")) == only()


class TestContent:
    def test_a_description_of_its_own(self, machine: Machine) -> None:
        path = put(machine.own, "x.toml", more='description = "Says hello."\nunknown = 3\n')
        assert machine.find() == only(CustomCommand("x", str(path), "Say hello.", "Says hello.", USER))

    @pytest.mark.parametrize(
        ("text", "why"),
        [
            ("", "no prompt."),
            ("description = 'x'", "no prompt."),
            ("prompt = 3", "prompt must be a non-empty string."),
            ("prompt = ['x']", "prompt must be a non-empty string."),
            ('prompt = " \\n"', "prompt must be a non-empty string."),
            ("prompt = 'x'\ndescription = 3", "description must be a string."),
            (f"prompt = {'[' * 5000}", "nested too deeply."),
            (f"a{'.a' * 400_000} = 1", "nested too deeply."),
            (f"""[a{' . "a"' * 40}]""", "nested too deeply."),
            (f"{'x' * 900_000} = 1", "no prompt."),
            (f"a{' ' * 900_000} = 1", "no prompt."),
            (f"a{'.a' * 30} = 1\n" * 2, "invalid TOML: Cannot overwrite a value (at line 2, column 66)."),
        ],
    )
    def test_what_is_wrong_is_told_with_the_file(self, machine: Machine, text: str, why: str) -> None:
        path = machine.own / "x.toml"
        path.write_text(text)
        assert machine.find() == left_out("x", f"{path}: {why}")

    def test_what_is_no_toml_is_told_with_the_place(self, machine: Machine) -> None:
        path = machine.own / "x.toml"
        path.write_text('prompt = "one"\nother = =')
        [problem] = machine.find().problems
        assert problem.startswith(f"Skipped command /x. {path}: invalid TOML: ")
        assert "line 2" in problem

    def test_what_is_no_text(self, machine: Machine) -> None:
        path = machine.own / "x.toml"
        path.write_bytes(b"# \xff\n")
        assert machine.find() == left_out("x", f"Could not read {path}: not UTF-8 (line 1).")

    def test_a_pipe_is_not_waited_for(self, machine: Machine) -> None:
        path = machine.own / "x.toml"
        os.mkfifo(path)
        assert machine.find() == left_out("x", f"Could not read {path}: not a regular file.")

    def test_what_others_may_write_is_not_obeyed(self, machine: Machine) -> None:
        path = put(machine.own, "x.toml")
        path.chmod(0o666)
        why = f"Refusing to use {path}: writable by everyone. Fix it with: chmod o-w {path}"
        assert machine.find() == left_out("x", why)

    def test_a_directory_that_others_may_write_to_is_not_obeyed(self, machine: Machine) -> None:
        put(machine.own, "open/x.toml")
        directory = machine.own / "open"
        directory.chmod(0o777)
        why = f"Refusing to use {directory}: writable by everyone. Fix it with: chmod o-w {directory}"
        assert machine.find() == CustomCommands({}, {}, frozenset(), (why,))


class TestLinks:
    def test_the_person_may_link_to_anywhere(self, machine: Machine, tmp_path: Path) -> None:
        put(tmp_path / "dotfiles", "x.toml")
        (machine.own / "all").symlink_to(tmp_path / "dotfiles")
        (machine.own / "one.toml").symlink_to(tmp_path / "dotfiles" / "x.toml")
        expected = only(
            command(machine.own / "one.toml", "one"),
            command(machine.own / "all" / "x.toml", "all:x"),
        )
        assert machine.find() == expected

    def test_a_project_may_not_link_to_outside(self, machine: Machine, tmp_path: Path) -> None:
        outside = put(tmp_path / "elsewhere", "x.toml")
        inside = put(machine.root / "shared", "y.toml")
        (machine.project / "dir").symlink_to(outside.parent)
        (machine.project / "out.toml").symlink_to(outside)
        (machine.project / "in.toml").symlink_to(inside)
        link = machine.project / "out.toml"
        told = f"Skipped command /out. Ignoring {link}: it points outside the project."
        problems = (told, f"Ignoring {machine.project / 'dir'}: it points outside the project.")
        expected = {"in": command(machine.project / "in.toml", "in", tier=PROJECT)}
        found = machine.find()
        assert found.commands == expected
        assert (found.invalid, sorted(found.problems)) == ({"out": told}, sorted(problems))

    def test_a_place_of_commands_that_leads_outside(self, machine: Machine, tmp_path: Path) -> None:
        put(tmp_path / "elsewhere", "x.toml")
        machine.project.rmdir()
        machine.project.symlink_to(tmp_path / "elsewhere")
        why = f"Ignoring {machine.project}: it points outside the project."
        assert machine.find() == CustomCommands({}, {}, frozenset(), (why,))
        assert machine.find(TrustDecision(TrustLevel.UNKNOWN, "")) == only()

    def test_circles_and_links_to_nowhere(self, machine: Machine) -> None:
        path = put(machine.own, "a/x.toml")
        (machine.own / "a" / "again").symlink_to(machine.own)
        (machine.own / "lost.toml").symlink_to(machine.own / "gone")
        lost = f"Could not read {machine.own / 'lost.toml'}: No such file or directory."
        told = f"Skipped command /lost. {lost}"
        assert machine.find() == CustomCommands({"a:x": command(path, "a:x")}, {"lost": told}, frozenset(), (told,))


class TestLimits:
    def test_the_number_of_files(self, machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(custom_commands, "MAX_FILES", 2)
        paths = [put(machine.own, f"{name}.toml") for name in "abc"]
        why = f"{machine.own} contains more than 2 files. The rest is ignored."
        expected = {path.stem: command(path, path.stem) for path in paths[:2]}
        assert machine.find() == CustomCommands(expected, {}, frozenset(), (why,))

    def test_the_depth(self, machine: Machine) -> None:
        deep = "/".join("a" * custom_commands.MAX_DEPTH)
        path = put(machine.own, f"{deep}/x.toml")
        put(machine.own, f"{deep}/a/x.toml")
        name = ":".join([*"a" * custom_commands.MAX_DEPTH, "x"])
        why = f"Ignoring {machine.own / deep / 'a'}: nested too deeply."
        assert machine.find() == CustomCommands({name: command(path, name)}, {}, frozenset(), (why,))

    def test_the_length_of_all_together(self, machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(custom_commands, "MAX_CHARACTERS", 40)
        first, second = put(machine.own, "a.toml"), put(machine.own, "b.toml", "x" * 40)
        told = f"Skipped command /b. Ignoring {second}: the files in {machine.own} are larger than 0 MiB."
        assert machine.find() == CustomCommands({"a": command(first, "a")}, {"b": told}, frozenset(), (told,))

    def test_the_length_of_one(self, machine: Machine) -> None:
        path = put(machine.own, "x.toml", "x" * 2**23)
        told = f"Could not read {path}: larger than 8 MiB. Remove what you do not need."
        assert machine.find() == left_out("x", told)


class TestExtensions:
    """Commands of extensions leave the names of others alone."""

    @staticmethod
    def extension(tmp_path: Path, name: str, **files: str) -> ActiveExtension:
        directory = tmp_path / "extensions" / name
        (directory / "commands").mkdir(parents=True)
        for file, text in files.items():
            (directory / "commands" / f"{file}.toml").write_text(text)
        pins = pin_declared(str(directory), ())
        consent = ExtensionConsent(str(directory), FolderIdentity(0, 0, 0), name, "1", ConsentParty.USER, 0, pins)
        return ActiveExtension(name, "1", str(directory), consent=consent)

    @staticmethod
    def find(tmp_path: Path, *extensions: ActiveExtension, reserved: tuple[str, ...] = ()) -> CustomCommands:
        paths = app_paths({"HOME": str(tmp_path / "home")})
        trust = TrustDecision(TrustLevel.UNKNOWN, "")
        return find_custom_commands(paths, str(tmp_path), trust, extensions, reserved)

    def test_all_names_of_one(self, tmp_path: Path) -> None:
        found = self.find(tmp_path, self.extension(tmp_path, "a", deploy='prompt = "p"\ndescription = "d"'))
        command = found.commands["deploy"]
        assert command.description == "[a] d"
        assert command.places["${workspacePath}"] == str(tmp_path)
        assert found.find("a:deploy") is found.find("a.deploy") is command
        assert found.names == {"deploy", "a:deploy", "a.deploy"}

    def test_built_in_and_own_names_stay(self, tmp_path: Path) -> None:
        own = tmp_path / "home" / ".gemini" / "commands"
        own.mkdir(parents=True)
        (own / "deploy.toml").write_text('prompt = "mine"')
        text = 'prompt = "p"'
        found = self.find(tmp_path, self.extension(tmp_path, "a", deploy=text, help=text), reserved=("help",))
        assert set(found.commands) == {"deploy", "a:deploy", "a:help"}
        assert found.commands["deploy"].prompt == "mine"
        assert found.aliases == {"a.deploy": "a:deploy", "a.help": "a:help"}

    def test_of_two_neither_gets_it(self, tmp_path: Path) -> None:
        text = 'prompt = "p"'
        found = self.find(
            tmp_path, self.extension(tmp_path, "a", x=text), self.extension(tmp_path, "b", x=text, y=text)
        )
        assert set(found.commands) == {"a:x", "b:x", "y"}
        assert "/a:x, /b:x" in found.invalid["x"]

    def test_changed_and_broken_files_are_left_out(self, tmp_path: Path) -> None:
        extension = self.extension(tmp_path, "a", good='prompt = "p"', bad="prompt = ", changed='prompt = "p"')
        Path(extension.path, "commands/changed.toml").write_text('prompt = "q"')
        Path(extension.path, "commands/new.toml").write_text('prompt = "q"')
        found = self.find(tmp_path, extension)
        assert set(found.commands) == {"good"}
        assert set(found.invalid) == {"a:bad", "a:changed", "a:new"}
