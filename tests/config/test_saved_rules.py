"""Saved answers: all of them kept, each of them revocable, the file whole at every instant."""

import hashlib
import os
import resource
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.file_version import file_version
from tejat.config.files.reader import MAX_BYTES
from tejat.config.paths import AppPaths, app_paths
from tejat.config.policy_files import read_policy_files
from tejat.config.saved_rules import (
    SavedRule,
    read_saved_rules,
    revoke_all_rules,
    revoke_rule,
    save_rules,
)
from tejat.core.errors import UsageError


@pytest.fixture
def paths(tmp_path: Path) -> AppPaths:
    return app_paths({"HOME": str(tmp_path)})


def rule(command: str) -> str:
    return f'[[rule]]\ntoolName = "run_shell_command"\ncommandPrefix = "{command}"\ndecision = "allow"\n'


def text_of(paths: AppPaths) -> str:
    return Path(paths.saved_rules).read_text()


def commands_in(paths: AppPaths) -> list[str]:
    return [table["commandPrefix"] for table in tomllib.loads(text_of(paths)).get("rule", [])]


def identifier(toml: str) -> str:
    return hashlib.sha256(toml.encode()).hexdigest()[:8]


class TestSave:
    def test_the_file(self, paths: AppPaths) -> None:
        save_rules(paths, rule("git log"))
        save_rules(paths, rule("git diff"))
        header, first, second = text_of(paths).split("\n\n")
        assert header.startswith("# Written by tejat: ")
        assert all(line.startswith("# ") for line in header.split("\n"))
        assert (first + "\n", second) == (rule("git log"), rule("git diff"))
        assert read_saved_rules(paths) == [
            SavedRule(identifier(rule("git log")), rule("git log"), 4),
            SavedRule(identifier(rule("git diff")), rule("git diff"), 9),
        ]
        assert [text.path for text in read_policy_files(paths, [])] == [paths.saved_rules]

    def test_several_at_once_and_none_twice(self, paths: AppPaths) -> None:
        save_rules(paths, rule("a") + "\n" + rule("b") + rule("a"))
        before = file_version(paths.saved_rules)
        save_rules(paths, rule("b"))
        save_rules(paths, '[[ rule ]]\ndecision="allow"\ncommandPrefix="a" # the same\ntoolName="run_shell_command"')
        assert commands_in(paths) == ["a", "b"]
        assert file_version(paths.saved_rules) == before

    def test_a_file_that_outgrows_its_limit_is_used_and_shrinks(self, paths: AppPaths, tmp_path: Path) -> None:
        save_rules(paths, rule("kept"))
        line = '[[rule]]\ntool = "read_file"\npath = "{}"\nproject = "{}"\ndecision = "allow"\n\n'
        many = "".join(line.format(f"{'long/' * 250}{number}", "/gone") for number in range(1000))
        here = line.format("b", tmp_path)
        with open(paths.saved_rules, "a") as file:
            file.write(f"\n{many}{here}")
        assert os.path.getsize(paths.saved_rules) > MAX_BYTES
        assert len(read_policy_files(paths, [])) == 1
        save_rules(paths, rule("new"))
        assert [saved.toml for saved in read_saved_rules(paths)] == [rule("kept"), here.rstrip() + "\n", rule("new")]

    @pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
    def test_is_for_the_person_alone(self, paths: AppPaths, umask: int) -> None:
        before = os.umask(umask)
        try:
            save_rules(paths, rule("a"))
            save_rules(paths, rule("b"))
        finally:
            os.umask(before)
        directory = Path(paths.saved_rules).parent
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in [directory, *directory.iterdir()]}
        assert modes == {"policies": 0o700, "saved.toml": 0o600, "saved.lock": 0o600}

    def test_what_was_written_by_hand_stays(self, paths: AppPaths) -> None:
        save_rules(paths, rule("a"))
        Path(paths.saved_rules).write_text(
            "# mine\r\n\r\n[[rule]]\r\nx = 1\r\n# about x\r\n\r\n# about y\n[[rule]]\ny = 2"
        )
        save_rules(paths, rule("b"))
        assert text_of(paths) == Path(paths.saved_rules).read_text()
        raw = Path(paths.saved_rules).read_bytes().decode()
        assert raw == ("# mine\r\n\r\n[[rule]]\r\nx = 1\r\n# about x\r\n\r\n# about y\n[[rule]]\ny = 2\n\n" + rule("b"))
        assert revoke_rule(paths, identifier("[[rule]]\nx = 1\n")) == "[[rule]]\nx = 1\n"
        raw = Path(paths.saved_rules).read_bytes().decode()
        assert raw == "# mine\r\n# about x\r\n\r\n# about y\n[[rule]]\ny = 2\n\n" + rule("b")

    def test_a_link_stays_a_link(self, paths: AppPaths, tmp_path: Path) -> None:
        path = Path(paths.saved_rules)
        path.parent.mkdir(parents=True)
        (tmp_path / "dotfiles").mkdir()
        (tmp_path / "dotfiles" / "rules.toml").write_text(rule("a"))
        path.symlink_to(tmp_path / "dotfiles" / "rules.toml")
        save_rules(paths, rule("b"))
        assert path.is_symlink()
        assert commands_in(paths) == ["a", "b"]

    @pytest.mark.parametrize(
        "toml",
        [
            "",
            "# nothing",
            "x = 1",
            "x = 1\n[[rule]]\ny = 1\n",
            "[[rule",
            "[rule]\nx = 1\n",
            "rule = [{x = 1}]\n",
            "[[rule]]\nx = 1\n[other]\ny = 1\n",
            '[[rule]]\nx = """\n[[rule]]\ny = 1\n"""\n',
            "[[rule]]\nx = '\ud800'\n",
            "[[rule]]\nx = " + "[" * 50_000,
            "[[rule]]\nx = 1\nx = 2\n",
            "[[rule]]\nx = '" + "a" * 2**23 + "'\n",
        ],
    )
    def test_what_is_no_rule_is_refused(self, paths: AppPaths, toml: str) -> None:
        save_rules(paths, rule("a"))
        before = text_of(paths)
        with pytest.raises(UsageError, match=r"^Could not save the rule: "):
            save_rules(paths, toml)
        assert text_of(paths) == before

    @pytest.mark.parametrize(
        "text", ["[[rule", "rule = []\n", "rule = 5\n", "[rule]\n", '[[rule]]\nx = """\n[[rule]]\n"""\n']
    )
    def test_a_file_that_is_not_as_we_write_it_is_left_alone(self, paths: AppPaths, text: str) -> None:
        save_rules(paths, rule("a"))
        Path(paths.saved_rules).write_text(text)
        with pytest.raises(UsageError, match=f"^Could not save the rule: .*{paths.saved_rules}"):
            save_rules(paths, rule("b"))
        assert text_of(paths) == text


class TestRevoke:
    def test_by_id_by_its_beginning_and_by_text(self, paths: AppPaths) -> None:
        for command in "abcd":
            save_rules(paths, rule(command))
        assert revoke_rule(paths, identifier(rule("b"))) == rule("b")
        assert revoke_rule(paths, identifier(rule("d"))[:4]) == rule("d")
        assert revoke_rule(paths, rule("a").strip()) == rule("a")
        assert commands_in(paths) == ["c"]
        assert revoke_rule(paths, identifier(rule("c"))) == rule("c")
        assert read_saved_rules(paths) == []
        assert text_of(paths).startswith("# Written by tejat: ")
        save_rules(paths, rule("e"))
        assert commands_in(paths) == ["e"]

    def test_every_copy_goes(self, paths: AppPaths) -> None:
        save_rules(paths, rule("a"))
        save_rules(paths, rule("b"))
        with open(paths.saved_rules, "a") as file:
            file.write("\n" + rule("a"))
        revoke_rule(paths, identifier(rule("a")))
        assert commands_in(paths) == ["b"]

    @pytest.mark.parametrize("which", ["", "1", "fff", "ffffffff", "[[rule]]", "git log"])
    def test_there_is_no_such_rule(self, paths: AppPaths, which: str) -> None:
        save_rules(paths, rule("a"))
        before = text_of(paths)
        with pytest.raises(UsageError) as caught:
            revoke_rule(paths, which)
        assert str(caught.value) == (
            f"Nothing was revoked: no saved rule {which!r}. List them with `tejat policy list`."
        )
        assert text_of(paths) == before

    def test_more_than_one_begins_so(self, paths: AppPaths) -> None:
        seen: dict[str, str] = {}
        for number in range(2000):
            other = seen.setdefault(identifier(rule(str(number)))[:4], rule(str(number)))
            if other != rule(str(number)):
                break
        else:
            pytest.fail("no two ids begin alike")
        save_rules(paths, other)
        save_rules(paths, rule(str(number)))
        beginning = identifier(other)[:4]
        with pytest.raises(UsageError) as caught:
            revoke_rule(paths, beginning)
        ids = f"{identifier(other)} or {identifier(rule(str(number)))}"
        assert str(caught.value) == f"Nothing was revoked: {beginning!r} is ambiguous: {ids}"
        assert len(read_saved_rules(paths)) == 2

    def test_all(self, paths: AppPaths) -> None:
        assert revoke_all_rules(paths) == []
        for command in "abc":
            save_rules(paths, rule(command))
        assert revoke_all_rules(paths) == [rule("a"), rule("b"), rule("c")]
        assert read_saved_rules(paths) == []


VALUES = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


def quoted(value: str) -> str:
    escaped = "".join(
        f"\\u{ord(char):04x}" if char in '"\\' or ord(char) < 0x20 or char == "\x7f" else char for char in value
    )
    return f'"{escaped}"'


@settings(max_examples=30)
@given(st.lists(VALUES, min_size=1, max_size=5, unique=True), st.data())
def test_any_rules_are_kept_and_taken_back(
    tmp_path_factory: pytest.TempPathFactory, values: list[str], data: st.DataObject
) -> None:
    paths = app_paths({"HOME": str(tmp_path_factory.mktemp("home"))})
    tomls = [f"[[rule]]\nx = {quoted(value)}\n" for value in values]
    for toml in tomls:
        save_rules(paths, toml)
    assert [saved.toml for saved in read_saved_rules(paths)] == tomls
    with open(paths.saved_rules, "rb") as file:
        assert tomllib.load(file) == {"rule": [{"x": value} for value in values]}
    gone = data.draw(st.sampled_from(tomls))
    assert revoke_rule(paths, identifier(gone)) == gone
    assert [saved.toml for saved in read_saved_rules(paths)] == [toml for toml in tomls if toml != gone]


SAVE_MANY = """
import sys
from tejat.config.paths import app_paths
from tejat.config.saved_rules import save_rules
home, name, count = sys.argv[1:]
sys.stdin.read()
for number in range(int(count)):
    save_rules(app_paths({"HOME": home}), f'[[rule]]\\ncommandPrefix = "{name} {number}"\\n')
"""


def test_twenty_processes_at_once(paths: AppPaths, tmp_path: Path) -> None:
    """Nothing is lost, and whoever reads meanwhile sees a whole file that only grows."""
    workers = [
        subprocess.Popen([sys.executable, "-c", SAVE_MANY, str(tmp_path), str(number), "3"], stdin=subprocess.PIPE)
        for number in range(20)
    ]
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.close()
    counts = [0]
    while any(worker.poll() is None for worker in workers):
        if os.path.exists(paths.saved_rules):
            counts.append(len(commands_in(paths)))
    assert [worker.wait() for worker in workers] == [0] * 20
    assert counts == sorted(counts)
    assert sorted(commands_in(paths)) == sorted(f"{name} {number}" for name in range(20) for number in range(3))
    assert sorted(os.listdir(os.path.dirname(paths.saved_rules))) == ["saved.lock", "saved.toml"]


SAVE_WITHOUT_SPACE = """
import resource, sys
from tejat.config.paths import app_paths
from tejat.config.saved_rules import save_rules
from tejat.core.errors import UsageError
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
try:
    save_rules(app_paths({"HOME": sys.argv[1]}), '[[rule]]\\nx = 1\\n')
except UsageError as error:
    print(error)
"""


class TestFailure:
    def test_no_space(self, paths: AppPaths, tmp_path: Path) -> None:
        assert hasattr(resource, "RLIMIT_FSIZE")
        save_rules(paths, rule("a"))
        before = text_of(paths)
        done = subprocess.run(
            [sys.executable, "-c", SAVE_WITHOUT_SPACE, str(tmp_path), "100"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        path = paths.saved_rules
        assert (done.stdout, done.stderr) == (f"Could not save the rule: {path}: File too large\n", "")
        assert text_of(paths) == before
        assert sorted(os.listdir(os.path.dirname(path))) == ["saved.lock", "saved.toml"]

    def test_the_home_is_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "home").touch()
        with pytest.raises(UsageError, match=r"^Could not save the rule: Could not create the directory .*: Not a dir"):
            save_rules(app_paths({"HOME": f"{tmp_path}/home"}), rule("a"))

    def test_a_directory_in_the_place_of_the_file(self, paths: AppPaths) -> None:
        os.makedirs(paths.saved_rules)
        with pytest.raises(UsageError, match=r"^Could not save the rule: .* not a regular file.$"):
            save_rules(paths, rule("a"))
        with pytest.raises(UsageError, match=r"^Nothing was revoked: .* not a regular file.$"):
            revoke_all_rules(paths)

    def test_others_could_have_written_it(self, paths: AppPaths) -> None:
        save_rules(paths, rule("a"))
        os.chmod(paths.saved_rules, 0o666)
        with pytest.raises(UsageError, match=r"^Could not save the rule: Refusing to use "):
            save_rules(paths, rule("b"))
        with pytest.raises(UsageError, match=r"^Refusing to use "):
            read_saved_rules(paths)
