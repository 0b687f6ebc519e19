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

from tejat.config.places import Places, places_of
from tejat.config.policy_files import policy_texts
from tejat.config.saved_rules import SavedRule, revoke, revoke_all, save, saved_path, saved_rules
from tejat.core.errors import UsageError


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return places_of({"HOME": str(tmp_path)})


def rule(command: str) -> str:
    return f'[[rule]]\ntoolName = "run_shell_command"\ncommandPrefix = "{command}"\ndecision = "allow"\n'


def text_of(places: Places) -> str:
    return Path(saved_path(places)).read_text()


def commands_in(places: Places) -> list[str]:
    return [table["commandPrefix"] for table in tomllib.loads(text_of(places)).get("rule", [])]


def identifier(toml: str) -> str:
    return hashlib.sha256(toml.encode()).hexdigest()[:8]


class TestSave:
    def test_the_file(self, places: Places) -> None:
        save(places, rule("git log"))
        save(places, rule("git diff"))
        header, first, second = text_of(places).split("\n\n")
        assert header.startswith("# Written by tejat: ")
        assert all(line.startswith("# ") for line in header.split("\n"))
        assert (first + "\n", second) == (rule("git log"), rule("git diff"))
        assert saved_rules(places) == [
            SavedRule(identifier(rule("git log")), rule("git log"), 4),
            SavedRule(identifier(rule("git diff")), rule("git diff"), 9),
        ]
        assert [text.path for text in policy_texts(places, [])] == [saved_path(places)]

    def test_several_at_once_and_none_twice(self, places: Places) -> None:
        save(places, rule("a") + "\n" + rule("b") + rule("a"))
        before = os.stat(saved_path(places))
        save(places, rule("b"))
        save(places, '[[ rule ]]\ndecision="allow"\ncommandPrefix="a" # the same\ntoolName="run_shell_command"')
        assert commands_in(places) == ["a", "b"]
        assert os.stat(saved_path(places)) == before

    @pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
    def test_is_for_the_person_alone(self, places: Places, umask: int) -> None:
        before = os.umask(umask)
        try:
            save(places, rule("a"))
            save(places, rule("b"))
        finally:
            os.umask(before)
        directory = Path(saved_path(places)).parent
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in [directory, *directory.iterdir()]}
        assert modes == {"policies": 0o700, "saved.toml": 0o600, "saved.lock": 0o600}

    def test_what_was_written_by_hand_stays(self, places: Places) -> None:
        save(places, rule("a"))
        Path(saved_path(places)).write_text(
            "# mine\r\n\r\n[[rule]]\r\nx = 1\r\n# about x\r\n\r\n# about y\n[[rule]]\ny = 2"
        )
        save(places, rule("b"))
        assert text_of(places) == Path(saved_path(places)).read_text()
        raw = Path(saved_path(places)).read_bytes().decode()
        assert raw == ("# mine\r\n\r\n[[rule]]\r\nx = 1\r\n# about x\r\n\r\n# about y\n[[rule]]\ny = 2\n\n" + rule("b"))
        assert revoke(places, identifier("[[rule]]\nx = 1\n")) == "[[rule]]\nx = 1\n"
        raw = Path(saved_path(places)).read_bytes().decode()
        assert raw == "# mine\r\n# about x\r\n\r\n# about y\n[[rule]]\ny = 2\n\n" + rule("b")

    def test_a_link_stays_a_link(self, places: Places, tmp_path: Path) -> None:
        path = Path(saved_path(places))
        path.parent.mkdir(parents=True)
        (tmp_path / "dotfiles").mkdir()
        (tmp_path / "dotfiles" / "rules.toml").write_text(rule("a"))
        path.symlink_to(tmp_path / "dotfiles" / "rules.toml")
        save(places, rule("b"))
        assert path.is_symlink()
        assert commands_in(places) == ["a", "b"]

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
            "[[rule]]\nx = '" + "a" * 2**20 + "'\n",
        ],
    )
    def test_what_is_no_rule_is_refused(self, places: Places, toml: str) -> None:
        save(places, rule("a"))
        before = text_of(places)
        with pytest.raises(UsageError, match=r"^The rule could not be saved: "):
            save(places, toml)
        assert text_of(places) == before

    @pytest.mark.parametrize(
        "text", ["[[rule", "rule = []\n", "rule = 5\n", "[rule]\n", '[[rule]]\nx = """\n[[rule]]\n"""\n']
    )
    def test_a_file_that_is_not_as_we_write_it_is_left_alone(self, places: Places, text: str) -> None:
        save(places, rule("a"))
        Path(saved_path(places)).write_text(text)
        with pytest.raises(UsageError, match=f"^The rule could not be saved: {saved_path(places)} is "):
            save(places, rule("b"))
        assert text_of(places) == text


class TestRevoke:
    def test_by_id_by_its_beginning_and_by_text(self, places: Places) -> None:
        for command in "abcd":
            save(places, rule(command))
        assert revoke(places, identifier(rule("b"))) == rule("b")
        assert revoke(places, identifier(rule("d"))[:4]) == rule("d")
        assert revoke(places, rule("a").strip()) == rule("a")
        assert commands_in(places) == ["c"]
        assert revoke(places, identifier(rule("c"))) == rule("c")
        assert saved_rules(places) == []
        assert text_of(places).startswith("# Written by tejat: ")
        save(places, rule("e"))
        assert commands_in(places) == ["e"]

    def test_every_copy_goes(self, places: Places) -> None:
        save(places, rule("a"))
        save(places, rule("b"))
        with open(saved_path(places), "a") as file:
            file.write("\n" + rule("a"))
        revoke(places, identifier(rule("a")))
        assert commands_in(places) == ["b"]

    @pytest.mark.parametrize("which", ["", "1", "fff", "ffffffff", "[[rule]]", "git log"])
    def test_there_is_no_such_rule(self, places: Places, which: str) -> None:
        save(places, rule("a"))
        before = text_of(places)
        with pytest.raises(UsageError) as caught:
            revoke(places, which)
        assert str(caught.value) == (
            f"Nothing was revoked: there is no saved rule {which!r}. `tejat policy list` shows them"
        )
        assert text_of(places) == before

    def test_more_than_one_begins_so(self, places: Places) -> None:
        seen: dict[str, str] = {}
        for number in range(2000):
            other = seen.setdefault(identifier(rule(str(number)))[:4], rule(str(number)))
            if other != rule(str(number)):
                break
        else:
            pytest.fail("no two ids begin alike")
        save(places, other)
        save(places, rule(str(number)))
        beginning = identifier(other)[:4]
        with pytest.raises(UsageError) as caught:
            revoke(places, beginning)
        ids = f"{identifier(other)} or {identifier(rule(str(number)))}"
        assert str(caught.value) == f"Nothing was revoked: {beginning!r} could be {ids}"
        assert len(saved_rules(places)) == 2

    def test_all(self, places: Places) -> None:
        assert revoke_all(places) == []
        for command in "abc":
            save(places, rule(command))
        assert revoke_all(places) == [rule("a"), rule("b"), rule("c")]
        assert saved_rules(places) == []


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
    places = places_of({"HOME": str(tmp_path_factory.mktemp("home"))})
    tomls = [f"[[rule]]\nx = {quoted(value)}\n" for value in values]
    for toml in tomls:
        save(places, toml)
    assert [saved.toml for saved in saved_rules(places)] == tomls
    with open(saved_path(places), "rb") as file:
        assert tomllib.load(file) == {"rule": [{"x": value} for value in values]}
    gone = data.draw(st.sampled_from(tomls))
    assert revoke(places, identifier(gone)) == gone
    assert [saved.toml for saved in saved_rules(places)] == [toml for toml in tomls if toml != gone]


SAVE_MANY = """
import sys
from tejat.config.places import places_of
from tejat.config.saved_rules import save
home, name, count = sys.argv[1:]
sys.stdin.read()
for number in range(int(count)):
    save(places_of({"HOME": home}), f'[[rule]]\\ncommandPrefix = "{name} {number}"\\n')
"""


def test_twenty_processes_at_once(places: Places, tmp_path: Path) -> None:
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
        if os.path.exists(saved_path(places)):
            counts.append(len(commands_in(places)))
    assert [worker.wait() for worker in workers] == [0] * 20
    assert counts == sorted(counts)
    assert sorted(commands_in(places)) == sorted(f"{name} {number}" for name in range(20) for number in range(3))
    assert sorted(os.listdir(os.path.dirname(saved_path(places)))) == ["saved.lock", "saved.toml"]


SAVE_WITHOUT_SPACE = """
import resource, sys
from tejat.config.places import places_of
from tejat.config.saved_rules import save
from tejat.core.errors import UsageError
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
try:
    save(places_of({"HOME": sys.argv[1]}), '[[rule]]\\nx = 1\\n')
except UsageError as error:
    print(error)
"""


class TestFailure:
    def test_no_space(self, places: Places, tmp_path: Path) -> None:
        assert hasattr(resource, "RLIMIT_FSIZE")
        save(places, rule("a"))
        before = text_of(places)
        done = subprocess.run(
            [sys.executable, "-c", SAVE_WITHOUT_SPACE, str(tmp_path), "100"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        path = saved_path(places)
        assert (done.stdout, done.stderr) == (f"The rule could not be saved: {path}: File too large\n", "")
        assert text_of(places) == before
        assert sorted(os.listdir(os.path.dirname(path))) == ["saved.lock", "saved.toml"]

    def test_the_home_is_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "home").touch()
        with pytest.raises(UsageError, match=r"^The rule could not be saved: Cannot make the directory .*: Not a dir"):
            save(places_of({"HOME": f"{tmp_path}/home"}), rule("a"))

    def test_a_directory_in_the_place_of_the_file(self, places: Places) -> None:
        os.makedirs(saved_path(places))
        with pytest.raises(UsageError, match=r"^The rule could not be saved: .* it is not a regular file.$"):
            save(places, rule("a"))
        with pytest.raises(UsageError, match=r"^Nothing was revoked: .* it is not a regular file.$"):
            revoke_all(places)

    def test_others_could_have_written_it(self, places: Places) -> None:
        save(places, rule("a"))
        os.chmod(saved_path(places), 0o666)
        with pytest.raises(UsageError, match=r"^The rule could not be saved: Will not obey "):
            save(places, rule("b"))
        with pytest.raises(UsageError, match=r"^Will not obey "):
            saved_rules(places)
