"""Links in the workspace, judged by where they lead."""

import time
from collections.abc import Generator
from pathlib import Path

import pytest

from support.note_tool import NoteTool
from tejat.core.approval.modes import ApprovalMode
from tejat.core.messages.declaration import Kind
from tejat.engine.calls.call_facts import FactCollector, call_risks
from tejat.engine.calls.path_lookup import FileSystemLookup
from tejat.policy.engine import PolicyEngine
from tejat.policy.rules.rule_file import parse_rules
from tejat.policy.types import CallFacts, Decision, Tier
from tejat.workspace.context import Workspace

SHELL = NoteTool("run_shell_command", kind=Kind.EXECUTE)
RULES = """
[[rule]]
command = ["cat", "cp", "tee", "rm", "touch", "ls", "cd", "grep", "sort", "tar", "mv", "ln", "diff", "git checkout",
           "git pull", "split", "git log", "rg", "dd"]
allowRedirection = true
decision = "allow"
"""


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A workspace `R` with links into it and out of it."""
    base = tmp_path.resolve()
    (base / "elsewhere" / "deep").mkdir(parents=True)
    (base / "elsewhere" / "secret").write_text("s")
    root = base / "R"
    for name in ("src", "sub", "tree/deep", "plain/deep", "copies", ".git"):
        (root / name).mkdir(parents=True)
    for name in ("f", "src/a.py", "plain/deep/x", ".git/config"):
        (root / name).write_text("x")
    (root / "o").symlink_to(base / "elsewhere")
    (root / "-o").symlink_to(base / "elsewhere" / "secret")
    (root / "k").symlink_to("../elsewhere/secret")
    (root / "inner").symlink_to("src")
    (root / "sub" / "o").symlink_to("../../elsewhere")
    (root / "tree" / "deep" / "up").symlink_to("/")
    (root / "copies" / "f").symlink_to("../../elsewhere/new")
    (root / "settings").symlink_to(".git")
    return base


@pytest.fixture
def collector(base: Path) -> Generator[FactCollector]:
    with Workspace([base / "R"]) as workspace:
        yield FactCollector(workspace.roots, home=str(base), search_path="")


def facts(collector: FactCollector, command: str) -> CallFacts:
    return collector.collect(SHELL, {"command": command})


def decision(collector: FactCollector, command: str, rules: str, mode: ApprovalMode = ApprovalMode.DEFAULT) -> Decision:
    engine = PolicyEngine(parse_rules(rules, source="rules", tier=Tier.USER), mode)
    return engine.decide(facts(collector, command)).decision


class TestAllowRules:
    @pytest.mark.parametrize(
        "command",
        [
            "cat f",
            "cat inner/a.py",
            "cp f src/x",
            "cp -r src plain",
            "cp f sub",
            "touch inner/new",
            "cd inner && cat a.py",
            "cd src && cat a.py > b",
            "ls > src/out",
            "grep -R x plain",
            "tar tf f",
            "mv f src/f",
            "git checkout main && git log -- src",
            "diff -r src plain",
        ],
    )
    def test_what_stays_inside_is_allowed(self, collector: FactCollector, command: str) -> None:
        assert decision(collector, command, RULES) is Decision.ALLOW

    @pytest.mark.parametrize(
        "command",
        [
            "cp f o/x",
            "cp f o",
            "tee o/x",
            "rm o/secret",
            "cat o/secret",
            "cat k",
            "touch o/x",
            "ls o",
            "cat inner/../o/secret",
            # After a change of directory.
            "cd o && cat secret",
            "cd sub && cat o/secret",
            "cd src; cd sub; cat o/secret",
            "cd sub && ls > o/out",
            # Redirections.
            "ls > o/out",
            "ls >> k",
            # Values of options.
            "sort --output=o/x f",
            "sort -oo/x f",
            "cp --target-directory=o f",
            "cp -to f",
            "cp -t o f",
            "grep -fk f",
            "dd of=o/x",
            "cat -- -o",
            "rg --files o",
            # Directories with links in them.
            "cp f copies",
            "cp -t copies f",
            "grep -R x tree",
            "cp -r src tree",
            "diff -r plain tree",
            "split f",
            "tar xf f",
            "rg --follow x tree",
            # Links that the line itself makes.
            "ln -s src/.. src/l && cat src/l/f",
            "mv sub moved && cat moved/o/secret",
            "git checkout other && cat src/a.py",
            "git pull && ls > src/out",
        ],
    )
    def test_what_leads_outside_asks(self, collector: FactCollector, command: str) -> None:
        assert decision(collector, command, RULES) is Decision.ASK

    def test_a_rule_may_name_a_path_outside_but_not_what_a_link_makes_of_it(
        self, collector: FactCollector, base: Path
    ) -> None:
        outside = str(base / "elsewhere" / "secret")
        assert decision(collector, f"cat {outside}", _allow(f"cat {outside}")) is Decision.ALLOW
        assert decision(collector, "cat o/secret", _allow("cat o/secret")) is Decision.ASK


class TestStricterRules:
    @pytest.mark.parametrize("command", ["cat o/secret", "cat k", "cd sub && cat o/secret", "cat o/sec*", "cat < k"])
    def test_a_path_rule_sees_what_is_behind_a_link(self, collector: FactCollector, base: Path, command: str) -> None:
        rule = f'[[rule]]\ntool = "*"\npath = "{base}/elsewhere/secret"\ndecision = "deny"\n'
        assert decision(collector, command, rule, ApprovalMode.YOLO) is Decision.DENY

    def test_a_control_file_behind_a_link_asks_in_yolo_mode(self, collector: FactCollector) -> None:
        assert decision(collector, "cp f settings/config", "", ApprovalMode.YOLO) is Decision.ASK
        assert decision(collector, "ls > settings/config", "", ApprovalMode.YOLO) is Decision.ASK


def test_the_risks_say_that_it_leaves_the_workspace(collector: FactCollector) -> None:
    assert [risk.name for risk in call_risks(facts(collector, "cp f o/x"))] == ["OUTSIDE_ROOTS"]
    assert call_risks(facts(collector, "cp f src/x")) == ()


class TestLookup:
    def test_loops_and_large_trees_end(self, base: Path) -> None:
        root = base / "R" / "plain"
        (root / "loop").symlink_to("../plain")
        (root / "self").symlink_to("self")
        assert not FileSystemLookup().links_outside(str(root), [str(base / "R")])

    def test_patterns(self, base: Path) -> None:
        lookup = FileSystemLookup()
        assert lookup.expand(f"{base}/R/s*/a.p?") == [f"{base}/R/src/a.py"]
        assert lookup.expand("/nowhere/*") == []

    def test_a_pattern_for_the_whole_disk_ends_soon(self) -> None:
        began = time.thread_time()
        FileSystemLookup().expand("/*/*/*/*/*/*/none*")
        assert time.thread_time() - began < 2

    def test_many_changes_of_directory_end_soon(self, collector: FactCollector) -> None:
        changes = ";".join(f"cd d{number}" for number in range(40))
        command = f"{changes}; touch {' '.join(f'a/{number}' for number in range(1000))}"
        began = time.thread_time()
        assert decision(collector, command, RULES) is Decision.ASK
        assert time.thread_time() - began < 4

    def test_a_path_that_is_too_long_may_lead_anywhere(self) -> None:
        lookup = FileSystemLookup()
        assert lookup.real_path("/a" * 3000) == "/"
        assert lookup.real_path("/a" * 2000) == "/a" * 2000

    def test_many_paths_in_a_word_end_soon(self, collector: FactCollector) -> None:
        began = time.thread_time()
        assert decision(collector, f"cat {'=/a' * 5000}", RULES) is Decision.ASK
        assert time.thread_time() - began < 4

    def test_a_directory_is_searched_once_per_call(self, base: Path) -> None:
        lookup, roots = FileSystemLookup(), [str(base / "R")]
        assert not lookup.holds_secrets(str(base / "R" / "src"))
        assert not lookup.links_outside(str(base / "R" / "src"), roots)
        (base / "R" / "src" / ".env").symlink_to("/etc/passwd")
        assert not lookup.holds_secrets(str(base / "R" / "src"))
        assert FileSystemLookup().holds_secrets(str(base / "R" / "src"))
        assert FileSystemLookup().links_outside(str(base / "R" / "src"), roots)

    def test_a_directory_is_listed_once_per_call(self, base: Path) -> None:
        lookup = FileSystemLookup()
        assert lookup.expand(f"{base}/R/plain/*") == [f"{base}/R/plain/deep"]
        (base / "R" / "plain" / "new").write_text("")
        assert lookup.expand(f"{base}/R/plain/n*") == []
        assert FileSystemLookup().expand(f"{base}/R/plain/n*") == [f"{base}/R/plain/new"]

    def test_patterns_in_a_large_directory_find_nothing(self, tmp_path: Path) -> None:
        for number in range(5_001):
            (tmp_path / str(number)).touch()
        lookup = FileSystemLookup()
        assert lookup.expand(f"{tmp_path}/*") == []
        (tmp_path / "0").unlink()
        assert lookup.expand(f"{tmp_path}/*") == []
        assert len(FileSystemLookup().expand(f"{tmp_path}/*")) == 5_000

    def test_missing_directories(self, base: Path) -> None:
        lookup = FileSystemLookup()
        paths = [f"{base}/R{below}" for below in ("", "/src", "/none", "/none/x", "/o", "/f/x")]
        assert not any(map(lookup.is_missing, paths))
        for path in paths:
            lookup.real_path(path)
        assert list(map(lookup.is_missing, paths)) == [False, False, True, True, False, True]

    def test_a_directory_is_resolved_like_the_same_path(self, base: Path) -> None:
        first, second = FileSystemLookup(), FileSystemLookup()
        assert first.real_path(f"{base}/R/inner") == second.real_path(f"{base}/R/inner/.")
        assert first.real_path(f"{base}/R/inner/a.py") == second.real_path(f"{base}/R/inner/a.py")
        assert first.real_path(f"{base}/R/inner/a.py") == f"{base}/R/src/a.py"

    def test_what_cannot_be_looked_up(self) -> None:
        lookup = FileSystemLookup()
        assert lookup.real_path("/a/\0/../b") == "/a/b"
        assert lookup.expand("/a\0b/*") == []
        assert not lookup.links_outside("/does/not/exist", ["/w"])


def _allow(command: str) -> str:
    return f'[[rule]]\ncommand = "{command}"\ndecision = "allow"\n'
