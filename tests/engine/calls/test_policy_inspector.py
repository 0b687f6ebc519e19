"""What a user can ask about the rules, answered with the rules of a real run."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tejat.app.tools.open_tools import open_tools
from tejat.config.paths import app_paths
from tejat.config.saved_rules import read_saved_rules
from tejat.core.approval.confirmation import Scope
from tejat.core.approval.modes import ModeName
from tejat.core.approval.policy_report import PolicyCaseResult, PolicyExplanation, RuleListing
from tejat.core.errors import UsageError
from tejat.engine.calls.policy_inspector import PolicyContext, PolicyInspector
from tejat.engine.calls.policy_loader import save_answer
from tejat.policy.rules.defaults import default_rules
from tejat.policy.rules.rule_format import format_rule
from tejat.policy.shell.parser import parse_command_line
from tejat.policy.types import Decision, PolicyRule, Tier

SHELL = "run_shell_command"
GIT_LOG = PolicyRule(Decision.ALLOW, Tier.USER, "", SHELL, command=("git", "log"))
WRITE = PolicyRule(Decision.ALLOW, Tier.USER, "", "write_file")


class Machine:
    def __init__(self, base: Path) -> None:
        self.project = base / "project"
        self.home = base / "home"
        for directory in (self.project, self.home):
            directory.mkdir()
        self.environment = {"HOME": str(self.home), "PATH": "/usr/bin:/bin"}
        self.places = app_paths(self.environment)
        self.times_opened = 0

    def save(self, rule: PolicyRule, scope: Scope = Scope.USER) -> str:
        """Keep an answer and tell the id it got."""
        save_answer(self.places, str(self.project), [rule], scope)
        return read_saved_rules(self.places)[-1].id

    def policy(self, text: str, *, of_project: bool = False) -> str:
        path = (self.project if of_project else self.home) / ".gemini" / "policies" / "p.toml"
        path.parent.mkdir(parents=True)
        path.write_text(text)
        for private in (path, path.parent):
            private.chmod(private.stat().st_mode & ~0o022)
        return str(path)

    @contextmanager
    def book(self, *allowed: str, mode: ModeName | None = None) -> Generator[PolicyInspector]:
        with open_tools(
            [str(self.project)], None, allowed_tools=allowed, mode=mode, sandbox="off", environment=self.environment
        ) as session:

            def open_judge() -> PolicyContext:
                self.times_opened += 1
                return PolicyContext(session.settings, session.registry, session.scheduler.permission)

            yield PolicyInspector(self.places, open_judge)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path.resolve())


class TestDeciding:
    def test_a_file_tool(self, machine: Machine) -> None:
        with machine.book() as book:
            assert book.decide("read_file", {"file_path": "a"}) == PolicyExplanation(
                "allow",
                "allow read_file",
                "built-in",
                book.decide("read_file", {}).reason,
                mode="default",
                mode_source="default",
            )

    def test_by_another_name(self, machine: Machine) -> None:
        with machine.book() as book:
            assert book.decide("grep_search", {"pattern": "a"}) == book.decide("search_file_content", {"pattern": "a"})

    def test_a_shell_line_with_all_its_commands(self, machine: Machine) -> None:
        path = machine.policy('[[rule]]\ntool = "run_shell_command"\ncommand = "rm"\ndecision = "deny"\n')
        with machine.book("ShellTool(ls)") as book:
            line = "ls && sudo rm -rf x | unheard-of > y"
            found = book.decide(SHELL, {"command": line})
            assert found == PolicyExplanation(
                "deny",
                f"deny {SHELL}: rm",
                f"{path}:1",
                found.reason,
                found.commands,
                parse_command_line(line).doubts,
                mode="default",
                mode_source="default",
            )
            assert found.doubts
            listed, superuser, removed, unknown = found.commands
            assert listed == "ls  (only reads)"
            assert superuser.startswith("sudo rm -rf x")
            assert removed.startswith("rm -rf x  (run through sudo; ")
            assert unknown == "unheard-of"

    def test_a_plain_line_has_no_doubts(self, machine: Machine) -> None:
        with machine.book("ShellTool(ls)") as book:
            found = book.decide(SHELL, {"command": "ls -l"})
        assert (found.decision, found.rule, found.source) == ("allow", f"allow {SHELL}: ls", "allowed_tools")
        assert (found.commands, found.doubts) == (("ls -l  (only reads)",), ())

    def test_no_rule(self, machine: Machine) -> None:
        with machine.book(mode="yolo") as book:
            found = book.decide("write_file", {"file_path": "a", "content": ""})
        reason = "YOLO mode allows it."
        assert found == PolicyExplanation("allow", None, "no rule", reason, (), (), "yolo", "mode")

    def test_a_tool_that_nobody_knows(self, machine: Machine) -> None:
        with machine.book() as book, pytest.raises(UsageError) as unknown:
            book.decide("unheard_of", {})
        assert str(unknown.value) == 'Unknown tool "unheard_of". List the tools with `tejat tools list`.'

    @pytest.mark.parametrize(
        ("tool", "argument", "kind"),
        [
            (SHELL, "command", "string"),
            (SHELL, "is_background", "boolean"),
            ("read_file", "limit", "integer"),
            ("read_file", "unheard_of", None),
            ("unheard_of", "limit", None),
        ],
    )
    def test_the_type_of_an_argument(self, machine: Machine, tool: str, argument: str, kind: str | None) -> None:
        with machine.book() as book:
            assert book.argument_type(tool, argument) == kind


class TestListing:
    def test_the_highest_first_and_saved_ones_with_their_id(self, machine: Machine) -> None:
        its = machine.policy('[[rule]]\ntool = "glob"\ndecision = "deny"\n', of_project=True)
        first, second = machine.save(GIT_LOG), machine.save(WRITE, Scope.PROJECT)
        lines = {rule.id: rule.line for rule in read_saved_rules(machine.places)}
        with machine.book("replace") as book:
            rules = book.rules()
        path = machine.places.saved_rules
        own = [
            RuleListing("user", f"allow {SHELL}: git log", f"{path}:{lines[first]}", first),
            RuleListing("user", f'allow write_file, in project "{machine.project}"', f"{path}:{lines[second]}", second),
            RuleListing("user", "allow replace", "allowed_tools"),
            RuleListing("workspace", "deny glob", f"{its}:1"),
        ]
        assert list(rules) == own + [RuleListing("default", format_rule(rule), "built-in") for rule in default_rules()]

    def test_a_project_that_is_in_order_has_no_problems(self, machine: Machine) -> None:
        machine.policy('[[rule]]\ntool = "glob"\ndecision = "deny"\n', of_project=True)
        with machine.book() as book:
            assert list(book.problems()) == []

    def test_what_a_project_says_in_vain(self, machine: Machine) -> None:
        its = machine.policy('[[rule]]\ntool = "write_file"\ndecision = "allow"\n', of_project=True)
        settings = machine.project / ".gemini" / "settings.json"
        settings.write_text('{"tools": {"allowed": ["write_file"]}}')
        with machine.book() as book:
            assert list(book.problems()) == [
                f"{settings}: the folder is not trusted, so only its exclude lists apply",
            ]
            remarks = {rule.source: rule.remark for rule in book.rules() if rule.remark is not None}
            assert remarks == {f"{its}:1": "workspace rules can only restrict"}
            assert book.decide("write_file", {"file_path": "a", "content": ""}).decision == "ask"


class TestRevoking:
    def test_one(self, machine: Machine) -> None:
        first, second = machine.save(GIT_LOG), machine.save(WRITE, Scope.PROJECT)
        with machine.book() as book:
            assert book.revoke(first) == f"allow {SHELL}: git log"
        assert [rule.id for rule in read_saved_rules(machine.places)] == [second]

    def test_all(self, machine: Machine) -> None:
        machine.save(GIT_LOG)
        machine.save(WRITE, Scope.PROJECT)
        with machine.book() as book:
            told = list(book.revoke_all())
        assert told == [f"allow {SHELL}: git log", f'allow write_file, in project "{machine.project}"']
        assert read_saved_rules(machine.places) == []

    def test_one_that_is_not_there(self, machine: Machine) -> None:
        with machine.book() as book, pytest.raises(UsageError):
            book.revoke("abcdef")

    def test_rules_that_cannot_be_read_are_no_reason_not_to_take_one_back(self, machine: Machine) -> None:
        saved = machine.save(GIT_LOG)
        with machine.book() as book:
            machine.policy("[[rule]\n", of_project=True)
            assert book.revoke(saved) == f"allow {SHELL}: git log"
        assert machine.times_opened == 0

    def test_the_rules_are_read_once(self, machine: Machine) -> None:
        with machine.book() as book:
            book.rules()
            book.problems()
            book.decide("glob", {"pattern": "*"})
        assert machine.times_opened == 1


class TestCases:
    def test_each_with_what_was_found(self, machine: Machine) -> None:
        text = (
            '[[case]]\ncommand = "git log"\nexpect = "allow"\n'
            '[[case]]\ntool = "write_file"\narguments = {file_path = "ä"}\nexpect = "deny"\n'
        )
        with machine.book("ShellTool(git log)") as book:
            checked = list(book.check(text, "cases.toml"))
            shell = book.decide(SHELL, {"command": "git log"})
            write = book.decide("write_file", {"file_path": "ä"})
        assert checked == [
            PolicyCaseResult("cases.toml:1", f'{SHELL} {{"command": "git log"}}', "allow", shell, passed=True),
            PolicyCaseResult(
                "cases.toml:4",
                'write_file {"file_path": "ä"}',
                f"expected deny, got ask: {write.reason}",
                write,
                passed=False,
            ),
        ]

    def test_a_case_about_a_tool_that_nobody_knows(self, machine: Machine) -> None:
        with machine.book() as book, pytest.raises(UsageError, match="unheard_of"):
            book.check('[[case]]\ntool = "unheard_of"\nexpect = "deny"\n', "cases.toml")
