"""Every policy file is read or the run stops."""

import os
from pathlib import Path

import pytest

from tejat.config.files.reader import MAX_BYTES, MAX_TRUSTED_BYTES
from tejat.config.paths import AppPaths, SourceTier
from tejat.config.policy_files import PolicyFile, read_policy_files
from tejat.config.settings.types import Setting, Settings
from tejat.core.agent.options import PolicyOptions
from tejat.core.errors import ConfigurationError, UsageError

ADMIN, USER, WORKSPACE = SourceTier.ADMIN, SourceTier.USER, SourceTier.WORKSPACE


@pytest.fixture
def paths(tmp_path: Path) -> AppPaths:
    home = tmp_path / "home"
    admin = (str(tmp_path / "admin"), str(tmp_path / "added"))
    return AppPaths(str(home), f"{home}/.config/tejat", f"{home}/.local/state/tejat", f"{home}/.gemini", admin)


def write(directory: Path | str, name: str, text: str = "") -> str:
    path = Path(directory) / "policies" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return str(path)


def test_there_are_none(paths: AppPaths, tmp_path: Path) -> None:
    assert read_policy_files(paths, [str(tmp_path / "project")]) == []


def test_nowhere_to_look(tmp_path: Path) -> None:
    nowhere = AppPaths("/dev/null", "/dev/null/.config/tejat", "/dev/null/state", "/dev/null/.gemini", ())
    assert read_policy_files(nowhere, [str(tmp_path)]) == []


def test_all_of_them_in_order(paths: AppPaths, tmp_path: Path) -> None:
    roots = [str(tmp_path / "one"), str(tmp_path / "two")]
    expected = [
        PolicyFile(write(paths.admin[0], "b.toml", "1"), "1", ADMIN),
        PolicyFile(write(paths.admin[1], "a.toml", "2"), "2", ADMIN),
        PolicyFile(write(paths.gemini, ".hidden.toml", "0"), "0", USER),
        PolicyFile(write(paths.gemini, "a.toml", "3"), "3", USER),
        PolicyFile(write(paths.gemini, "b.toml", "4"), "4", USER),
        PolicyFile(write(paths.config, "saved.toml", "5"), "5", USER, is_saved=True),
        PolicyFile(write(f"{roots[0]}/.gemini", "a.toml", "6"), "6", WORKSPACE),
        PolicyFile(write(f"{roots[1]}/.gemini", "a.toml", "7"), "7", WORKSPACE),
    ]
    for name in ("notes.txt", "a.toml~", ".#a.toml", "._a.toml", "a.TOML.bak", "saved.lock"):
        write(paths.gemini, name, "not a policy")
    assert read_policy_files(paths, roots) == expected


class TestPolicyPaths:
    @pytest.fixture
    def root(self, tmp_path: Path) -> Path:
        root = tmp_path / "project"
        root.mkdir()
        root.chmod(0o755)
        return root

    def file(self, path: Path, text: str = "x") -> str:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.parent.chmod(0o755)
        path.write_text(text)
        path.chmod(0o644)
        return str(path)

    def settings(self, *user: str, admin: tuple[str, ...] = ()) -> Settings:
        return Settings(
            policy_paths=tuple(Setting(path, "s.json:2", SourceTier.USER) for path in user),
            admin_policy_paths=tuple(Setting(path, "s.json:3", SourceTier.USER) for path in admin),
        )

    def test_files_and_directories_from_the_root_the_home_or_anywhere(self, paths: AppPaths, root: Path) -> None:
        relative = self.file(root / "rules" / "a.toml")
        at_home = self.file(Path(paths.home) / "b.toml")
        absolute = self.file(root.parent / "elsewhere" / "c.toml")
        self.file(root / "rules" / "notes.txt")
        files = read_policy_files(paths, [str(root)], self.settings("rules", "~/b.toml", absolute))
        assert [(file.path, file.tier) for file in files] == [(relative, USER), (at_home, USER), (absolute, USER)]
        assert [file.entry and file.entry.value for file in files] == [str(root / "rules"), at_home, absolute]

    def test_they_take_the_place_of_what_the_standard_directory_allows(self, paths: AppPaths, root: Path) -> None:
        given, standard = self.file(root / "p.toml"), write(paths.gemini, "a.toml")
        own = write(paths.config, "mine.toml")
        files = {file.path: file.allows_nothing for file in read_policy_files(paths, [str(root)], self.settings(given))}
        reason = "s.json:2 replaces this directory, so its rules can only restrict"
        assert files == {given: None, standard: reason, own: None}

    def test_the_standard_directory_may_be_named(self, paths: AppPaths, root: Path) -> None:
        standard = write(paths.gemini, "a.toml")
        files = read_policy_files(paths, [str(root)], self.settings("~/.gemini/policies"))
        assert [(file.path, file.allows_nothing) for file in files] == [(standard, None)]

    def test_added_files_of_the_administrator(self, paths: AppPaths, root: Path) -> None:
        given = self.file(root / "p.toml")
        settings = self.settings(admin=(given,))
        (alone,) = read_policy_files(paths, [str(root)], settings)
        assert (alone.tier, alone.allows_nothing) == (ADMIN, None)
        central = write(paths.admin[0], "a.toml")
        files = {file.path: file.allows_nothing for file in read_policy_files(paths, [str(root)], settings)}
        directory = os.path.dirname(central)
        assert files == {central: None, given: f"{directory} has rules, so additional rules can only restrict"}

    def test_flags_replace_settings_of_the_same_kind(self, paths: AppPaths, root: Path) -> None:
        user, admin, flag = (self.file(root / name) for name in ("u.toml", "a.toml", "f.toml"))
        settings = self.settings(user, admin=(admin,))
        options = PolicyOptions(policy_paths=("f.toml",))
        assert [file.path for file in read_policy_files(paths, [str(root)], settings, options)] == [admin, flag]
        options = PolicyOptions(admin_policy_paths=("f.toml",))
        assert [file.path for file in read_policy_files(paths, [str(root)], settings, options)] == [flag, user]

    def test_in_an_untrusted_folder_they_allow_nothing(self, paths: AppPaths, root: Path) -> None:
        inside, outside = self.file(root / "p.toml"), self.file(root.parent / "elsewhere" / "c.toml")
        (root.parent / "link.toml").symlink_to(inside)
        settings = self.settings(f"{root.parent}/link.toml", outside, admin=("a.toml",))
        self.file(root / "a.toml")
        files = read_policy_files(paths, [str(root)], settings, is_trusted=False)
        reason = "this folder is not trusted, so its rules can only restrict"
        assert [file.allows_nothing for file in files] == [reason, reason, None]
        for names_arguments in (False, True):
            options = PolicyOptions(policy_paths=("p.toml",), names_arguments=names_arguments)
            (typed,) = read_policy_files(paths, [str(root)], Settings(), options, is_trusted=False)
            assert typed.allows_nothing is None

    def test_one_that_is_missing_is_an_error(self, paths: AppPaths, root: Path) -> None:
        with pytest.raises(ConfigurationError) as raised:
            read_policy_files(paths, [str(root)], self.settings("p.toml"))
        told = f"s.json:2: the policy file or directory {root}/p.toml does not exist. Create it, or remove the entry."
        assert str(raised.value) == told
        with pytest.raises(ConfigurationError, match=r"^--admin-policy: the policy file or directory"):
            read_policy_files(paths, [str(root)], Settings(), PolicyOptions(admin_policy_paths=("gone",)))

    def test_another_kind_of_file_is_an_error(self, paths: AppPaths, root: Path) -> None:
        self.file(root / "p.txt")
        with pytest.raises(ConfigurationError, match=r"p\.txt is neither a \.toml file nor a directory"):
            read_policy_files(paths, [str(root)], self.settings("p.txt"))

    def test_one_that_others_can_write_is_an_error(self, paths: AppPaths, root: Path) -> None:
        path = self.file(root / "p.toml")
        Path(path).chmod(0o666)
        with pytest.raises(ConfigurationError):
            read_policy_files(paths, [str(root)], self.settings(path))

    def test_answers_that_gemini_cli_saved_are_marked(self, paths: AppPaths, root: Path) -> None:
        write(paths.gemini, "auto-saved.toml")
        write(paths.gemini, "b.toml")
        assert [file.is_saved for file in read_policy_files(paths, [str(root)])] == [True, False]

    def test_saved_answers_are_marked_by_whatever_name(self, paths: AppPaths, root: Path) -> None:
        saved = [write(paths.gemini, "auto-saved.toml"), write(paths.config, "saved.toml")]
        for target in saved:
            os.symlink(target, os.path.join(os.path.dirname(target), "a.toml"))
        assert [file.is_saved for file in read_policy_files(paths, [str(root)])] == [True, True]
        named = read_policy_files(paths, [str(root)], options=PolicyOptions(policy_paths=(saved[0],)))
        assert [file.is_saved for file in named] == [True, True]


def test_the_home_directory_as_a_project_has_the_persons_own_rules(paths: AppPaths, tmp_path: Path) -> None:
    path = write(paths.gemini, "a.toml")
    (tmp_path / "link").symlink_to(paths.home)
    assert read_policy_files(paths, [paths.home, f"{tmp_path}/link"]) == [PolicyFile(path, "", USER)]


def test_a_root_named_twice_counts_once(paths: AppPaths, tmp_path: Path) -> None:
    path = write(tmp_path / "project" / ".gemini", "a.toml")
    root = str(tmp_path / "project")
    assert read_policy_files(paths, [root, f"{root}/"]) == [PolicyFile(path, "", WORKSPACE)]


class TestRefused:
    """Each would leave out a rule that might be a no."""

    @pytest.fixture(params=["admin", "gemini", "config", "project"])
    def directory(self, request: pytest.FixtureRequest, paths: AppPaths, tmp_path: Path) -> Path:
        return {
            "admin": Path(paths.admin[0]),
            "gemini": Path(paths.gemini),
            "config": Path(paths.config),
            "project": tmp_path / "project" / ".gemini",
        }[request.param]

    def message(self, paths: AppPaths, tmp_path: Path) -> str:
        with pytest.raises(UsageError) as caught:
            read_policy_files(paths, [str(tmp_path / "project")])
        return str(caught.value)

    def test_too_long(self, directory: Path, paths: AppPaths, tmp_path: Path) -> None:
        path = write(directory, "a.toml", "#" * (MAX_TRUSTED_BYTES + 1))
        size = 1 if directory == tmp_path / "project" / ".gemini" else 8
        told = f"Could not read {path}: larger than {size} MiB. Remove what you do not need."
        assert self.message(paths, tmp_path) == told

    def test_not_text(self, directory: Path, paths: AppPaths, tmp_path: Path) -> None:
        path = write(directory, "a.toml")
        Path(path).write_bytes(b"\xff")
        assert self.message(paths, tmp_path) == f"Could not read {path}: not UTF-8 (line 1)."

    def test_a_link_to_nowhere(self, directory: Path, paths: AppPaths, tmp_path: Path) -> None:
        path = write(directory, "a.toml")
        os.unlink(path)
        os.symlink("nowhere", path)
        assert self.message(paths, tmp_path) == f"Could not read {path}: No such file or directory."

    def test_a_directory_called_like_a_file(self, directory: Path, paths: AppPaths, tmp_path: Path) -> None:
        path = directory / "policies" / "a.toml"
        path.mkdir(parents=True)
        assert self.message(paths, tmp_path) == f"Could not read {path}: not a regular file."

    def test_a_file_called_like_the_directory(self, directory: Path, paths: AppPaths, tmp_path: Path) -> None:
        directory.mkdir(parents=True)
        (directory / "policies").touch()
        assert self.message(paths, tmp_path) == f"Could not read {directory}/policies: Not a directory."

    def test_a_loop_of_links(self, directory: Path, paths: AppPaths, tmp_path: Path) -> None:
        directory.mkdir(parents=True)
        (directory / "policies").symlink_to("policies")
        assert self.message(paths, tmp_path).startswith(f"Could not read {directory}/policies: Too many levels")

    def test_too_many(self, directory: Path, paths: AppPaths, tmp_path: Path) -> None:
        for number in range(1001):
            write(directory, f"{number}.toml")
        assert self.message(paths, tmp_path) == (
            f"Could not read {directory}/policies: it contains more than 1000 policy files."
        )

    def test_too_much(self, directory: Path, paths: AppPaths, tmp_path: Path) -> None:
        for number in range(9):
            write(directory, f"{number}.toml", "#" * MAX_BYTES)
        assert self.message(paths, tmp_path) == (
            f"Could not read {directory}/policies: its policy files are longer than 8388608 characters. "
            "Remove rules you do not need."
        )

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
    def test_no_permission(self, directory: Path, paths: AppPaths, tmp_path: Path) -> None:
        path = write(directory, "a.toml")
        os.chmod(path, 0)
        assert self.message(paths, tmp_path) == f"Could not read {path}: Permission denied."


class TestOtherWriters:
    @pytest.mark.parametrize("what", ["a.toml", ""])
    @pytest.mark.parametrize("place", ["admin", "gemini", "config"])
    def test_everybody_could_write(self, paths: AppPaths, what: str, place: str) -> None:
        directory = Path({"admin": paths.admin[0], "gemini": paths.gemini, "config": paths.config}[place])
        write(directory, "a.toml")
        opened = directory / "policies" / what
        opened.chmod(0o777)
        with pytest.raises(UsageError) as caught:
            read_policy_files(paths, [])
        assert str(caught.value) == f"Refusing to use {opened}: writable by everyone. Fix it with: chmod o-w {opened}"

    def test_a_project_may_be_anybodys(self, paths: AppPaths, tmp_path: Path) -> None:
        path = write(tmp_path / "project" / ".gemini", "a.toml")
        os.chmod(path, 0o666)
        if os.geteuid() == 0:
            os.chown(path, 12345, 12345)
        assert read_policy_files(paths, [str(tmp_path / "project")]) == [PolicyFile(path, "", WORKSPACE)]
