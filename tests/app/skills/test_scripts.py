"""Scripts of skills in command lines: which ones a rule allows, and what keeps it from doing so."""

import asyncio
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.skills import (
    RUN_SH,
    SkillPlace,
    allow_skill,
    decide,
    make_executable,
    write_script_skill,
    write_skill,
)
from tejat.app.skills.consent import SkillConsent
from tejat.core.approval.modes import ApprovalMode
from tejat.policy.types import Decision, ScriptState

ALLOW, ASK, DENY = Decision.ALLOW, Decision.ASK, Decision.DENY
PDF = allow_skill("pdf")


@pytest.fixture
def place(tmp_path: Path) -> SkillPlace:
    """A user's skill that was agreed to."""
    made = SkillPlace(tmp_path)
    write_script_skill(made.user_skills / "pdf")
    made.agree("pdf")
    return made


def decision(place: SkillPlace, line: str, rules: str = PDF) -> Decision:
    return place.decide(line.format(s=place.user_skills / "pdf", p=place.project), rules).decision


class TestFound:
    @pytest.mark.parametrize(
        "line",
        [
            "{s}/scripts/run.sh",
            "bash {s}/scripts/run.sh x",
            "cd / && sh -e {s}/scripts/run.sh",
            "cd {s} && ./scripts/run.sh",
            "env A=1 {s}/scripts/run.sh",
            "bash --rcfile={s}/scripts/run.sh",
            "bash < {s}/scripts/run.sh",
            "cat {s}/scripts/run.sh | sh",
            ". ~/.agents/skills/pdf/scripts/run.sh",
        ],
    )
    def test_what_may_run_a_script(self, place: SkillPlace, line: str) -> None:
        with place.tools() as toolset:
            facts, _verdict = decide(toolset, line.format(s=place.user_skills / "pdf"))
        assert [(each.skill, each.qualified_name) for each in facts.skill_scripts] == [("pdf", "user:pdf")]
        assert facts.skill_scripts[0].path == str(place.user_skills / "pdf/scripts/run.sh")

    @pytest.mark.parametrize("line", ["cat {s}/scripts/run.sh", "ls {s}", "{s}/scripts/missing.sh", "echo hi", "{s}"])
    def test_other_commands(self, place: SkillPlace, line: str) -> None:
        with place.tools() as toolset:
            facts, _verdict = decide(toolset, line.format(s=place.user_skills / "pdf"))
        assert facts.skill_scripts == ()

    def test_a_script_is_compared_with_the_activation(self, place: SkillPlace) -> None:
        script = place.user_skills / "pdf/scripts/run.sh"
        with place.tools() as toolset:

            def state() -> ScriptState:
                return decide(toolset, str(script))[0].skill_scripts[0].state

            assert state() is ScriptState.INACTIVE
            asyncio.run(toolset.services.skills.activate("pdf", None))
            assert state() is ScriptState.UNCHANGED
            script.write_text("rm -rf /")
            assert state() is ScriptState.CHANGED

    def test_skills_that_only_people_call_have_scripts_too(self, tmp_path: Path) -> None:
        place = SkillPlace(tmp_path)
        files = {"run.sh": "#!/bin/sh\n"}
        directory = write_skill(place.user_skills / "pdf", more="disable-model-invocation: true\n", files=files)
        rule = '[[rule]]\nskill = "pdf"\ndecision = "deny"\n'
        assert place.decide(f"{directory}/run.sh", rule).decision is DENY


class TestAllowed:
    @pytest.mark.parametrize(
        "line",
        [
            "{s}/scripts/run.sh",
            "{s}/scripts/run.sh a --out=b.txt 'two words'",
            "bash {s}/scripts/run.sh a",
            "python3 {s}/scripts/fill.py form.txt",
            "{s}/scripts/fill.py",
            "bash {s}/scripts/plain.txt",
            "{s}/scripts/run.sh {s}/assets/form.txt",
            "{s}/scripts/run.sh 2>&1",
        ],
    )
    def test_plain_lines(self, place: SkillPlace, line: str) -> None:
        assert decision(place, line) is ALLOW

    def test_with_other_commands_that_are_allowed(self, place: SkillPlace) -> None:
        rules = PDF + '[[rule]]\ncommand = ["cat", "cd", "head", "mv"]\ndecision = "allow"\n'
        assert decision(place, "cd sub && {s}/scripts/run.sh", rules) is ALLOW
        assert decision(place, "cat in.txt | {s}/scripts/run.sh | head -3", rules) is ALLOW
        assert decision(place, "{s}/scripts/run.sh | head -3") is ASK
        # What changes files may change the script before it starts.
        assert decision(place, "mv a b && {s}/scripts/run.sh", rules) is ASK
        assert decision(place, "{s}/scripts/run.sh; {s}/scripts/fill.py", rules) is ASK

    @pytest.mark.parametrize(
        "rule",
        [
            'skill = "pdf"\ndecision = "deny"',
            'skill = "user:pdf"\ndecision = "ask"',
            'command = "run.sh"\ndecision = "deny"',
            'tool = "run_shell_command"\ndecision = "ask"',
        ],
    )
    def test_stricter_rules_win(self, place: SkillPlace, rule: str) -> None:
        assert decision(place, "{s}/scripts/run.sh", f"{PDF}[[rule]]\n{rule}\n") is not ALLOW

    def test_a_rule_names_what_it_covers(self, place: SkillPlace) -> None:
        verdict = place.decide(f"{place.user_skills}/pdf/scripts/run.sh", PDF)
        assert verdict.reason == "The rule `allow run_shell_command: scripts of the skill pdf` allows it."

    def test_the_network_is_extra(self, place: SkillPlace) -> None:
        line = f"{place.user_skills}/pdf/scripts/run.sh"
        assert place.decide(line, PDF, network=True).decision is ASK
        assert place.decide(line, f"{PDF}network = true\n", network=True).decision is ALLOW


class TestLines:
    """Lines that look like the script, and are more than that."""

    LINES = (
        # further commands
        "bash {s}/scripts/run.sh; rm x",
        "{s}/scripts/run.sh && touch x",
        "{s}/scripts/run.sh | sh",
        "{s}/scripts/run.sh & touch x",
        "{s}/scripts/run.sh\ntouch x",
        "{s}/scripts/run.sh $(touch x)",
        "{s}/scripts/run.sh `touch x`",
        "{s}/scripts/run.sh <(touch x)",
        "{s}/scripts/run.sh > x",
        "({s}/scripts/run.sh)",
        "if true; then {s}/scripts/run.sh; fi",
        # options of an interpreter, and code on the line
        "bash -c {s}/scripts/run.sh",
        "bash -i {s}/scripts/run.sh",
        "bash -e {s}/scripts/run.sh",
        "bash --rcfile {s}/scripts/lib.sh {s}/scripts/run.sh",
        "bash -- {s}/scripts/run.sh",
        "python3 -c 'print(1)' {s}/scripts/fill.py",
        "python3 -m pdb {s}/scripts/fill.py",
        "python3 -i {s}/scripts/fill.py",
        "python3 -x {s}/scripts/fill.py",
        "python3 -W error {s}/scripts/fill.py",
        "python3 other.py {s}/scripts/fill.py",
        "bash other.sh {s}/scripts/run.sh",
        "perl -e 1 {s}/scripts/run.sh",
        # programs in front
        "env A=1 {s}/scripts/run.sh",
        "LD_PRELOAD=x.so {s}/scripts/run.sh",
        "A=1 {s}/scripts/run.sh",
        "sudo {s}/scripts/run.sh",
        "timeout 5 {s}/scripts/run.sh",
        "nohup bash {s}/scripts/run.sh",
        "xargs {s}/scripts/run.sh",
        "find . -exec {s}/scripts/run.sh {{}} +",
        "exec {s}/scripts/run.sh",
        "source {s}/scripts/run.sh",
        "uv run {s}/scripts/fill.py",
        "bun {s}/scripts/fill.py",
        "Rscript {s}/scripts/run.sh",
        # words that the shell changes
        "{s}/scripts/run.sh $HOME",
        "{s}/scripts/run.sh *",
        "{s}/scripts/run.sh ~/x",
        "{s}/scripts/r*.sh",
        "'{s}/scripts/run.sh'",
        "{s}/scripts/run.s\\h",
        "{s}/scripts/{{run,lib}}.sh",
        "~/.agents/skills/pdf/scripts/run.sh",
        # arguments that a shell inside would run
        "{s}/scripts/run.sh 'a; rm x'",
        "{s}/scripts/run.sh 'a$(rm x)'",
        '{s}/scripts/run.sh "a|sh"',
        "{s}/scripts/run.sh 'a`rm x`'",
        "{s}/scripts/run.sh --cmd='a&rm'",
        # paths elsewhere, control files and secrets
        "{s}/scripts/run.sh /etc/passwd",
        "{s}/scripts/run.sh --out=/tmp/x",
        "{s}/scripts/run.sh -o/tmp/x",
        "{s}/scripts/run.sh ../x",
        "{s}/scripts/run.sh sub/../../x",
        "{s}/scripts/run.sh .git/hooks/pre-commit",
        "{s}/scripts/run.sh --out=.bashrc",
        "{s}/scripts/run.sh .env",
        # other files
        "{s}/../pdf/scripts/run.sh",
        "{s}/scripts/../scripts/run.sh",
        "{s}x/scripts/run.sh",
        "./scripts/run.sh",
        "scripts/run.sh",
        "run.sh",
        "bash run.sh",
    )

    def test_ask(self, place: SkillPlace) -> None:
        with place.tools(PDF) as toolset:
            for line in self.LINES:
                verdict = decide(toolset, line.format(s=place.user_skills / "pdf"))[1]
                assert verdict.decision is not ALLOW, line

    def test_a_script_with_the_name_of_a_known_program(self, place: SkillPlace) -> None:
        """The names of echo and grep say nothing about the paths among the words of a script."""
        directory = place.user_skills / "pdf"
        for name in ("echo", "grep", "env", "bash"):
            make_executable(directory / "scripts" / name, "#!/bin/sh\n")
        place.agree("pdf")
        for name in ("echo", "grep"):
            assert decision(place, f"{{s}}/scripts/{name} a b") is ALLOW
            assert decision(place, f"{{s}}/scripts/{name} /etc/passwd") is ASK
            assert decision(place, f"{{s}}/scripts/{name} .env") is ASK
        assert decision(place, "{s}/scripts/env touch x") is ASK
        assert decision(place, "{s}/scripts/bash -c 'touch x'") is ASK

    def test_the_same_path_below_another_directory(self, place: SkillPlace) -> None:
        """A relative path means another file after cd."""
        skill = write_script_skill(place.project_skills / "local")
        make_executable(place.project / "evil/.agents/skills/local/scripts/run.sh", "#!/bin/sh\ntouch MARK\n")
        place.trust()
        rules = allow_skill("project:local") + '[[rule]]\ncommand = "cd"\ndecision = "allow"\n'
        line = ".agents/skills/local/scripts/run.sh"
        assert place.decide(line, rules).decision is ALLOW
        assert place.decide(f"cd evil && {line}", rules).decision is ASK
        assert place.decide(line, rules, directory="evil").decision is ASK
        assert place.decide(f"cd evil && {skill}/scripts/run.sh", rules).decision is ALLOW

    def test_plan_mode_refuses(self, place: SkillPlace) -> None:
        with place.tools(f'{PDF}modes = ["plan", "default"]\n') as toolset:
            permission = toolset.scheduler.permission
            permission.policy = permission.policy.with_mode(ApprovalMode.PLAN, source="test")
            assert decide(toolset, f"{place.user_skills}/pdf/scripts/run.sh")[1].decision is DENY


class TestContent:
    def why(self, place: SkillPlace, line: str = "{s}/scripts/run.sh", rules: str = PDF) -> str:
        verdict = place.decide(line.format(s=place.user_skills / "pdf"), rules)
        assert verdict.decision is ASK
        return str(verdict.reason)

    def test_a_changed_script(self, place: SkillPlace) -> None:
        (place.user_skills / "pdf/scripts/run.sh").write_text(RUN_SH + "touch MARK\n")
        assert "the skill pdf as it is now was not approved by you" in self.why(place)

    def test_a_file_that_the_script_loads(self, place: SkillPlace) -> None:
        (place.user_skills / "pdf/scripts/lib.sh").write_text("touch MARK\n")
        assert "was not approved" in self.why(place)

    def test_a_new_file(self, place: SkillPlace) -> None:
        (place.user_skills / "pdf/scripts/__pycache__").mkdir()
        (place.user_skills / "pdf/scripts/__pycache__/x.pyc").touch()
        assert "was not approved" in self.why(place)

    def test_the_content_that_was_agreed_to_again(self, place: SkillPlace) -> None:
        script = place.user_skills / "pdf/scripts/run.sh"
        script.write_text("changed")
        assert decision(place, "{s}/scripts/run.sh") is ASK
        script.write_text(RUN_SH)
        assert decision(place, "{s}/scripts/run.sh") is ALLOW

    def test_a_skill_that_nobody_agreed_to(self, place: SkillPlace) -> None:
        write_script_skill(place.user_skills / "new")
        verdict = place.decide(f"{place.user_skills}/new/scripts/run.sh", allow_skill("new"))
        assert "the skill new as it is now was not approved by you" in verdict.reason

    def test_an_activation_without_a_question_is_no_consent(self, place: SkillPlace) -> None:
        directory = write_script_skill(place.user_skills / "new")
        with place.tools(allow_skill("new")) as toolset:
            skills = toolset.services.skills
            asyncio.run(skills.activate("new", None))
            assert decide(toolset, f"{directory}/scripts/run.sh")[1].decision is ASK

    def test_an_approved_activation_counts_for_the_session(self, place: SkillPlace) -> None:
        directory = write_script_skill(place.user_skills / "new")
        with place.tools(allow_skill("new")) as toolset:
            skills = toolset.services.skills
            skills.consent = SkillConsent(place.config(), can_ask=True)
            question = asyncio.run(skills.propose("new"))
            assert question is not None
            asyncio.run(skills.activate("new", question))
            assert decide(toolset, f"{directory}/scripts/run.sh")[1].decision is ALLOW
            (directory / "scripts/lib.sh").write_text("touch MARK")
            assert decide(toolset, f"{directory}/scripts/run.sh")[1].decision is ASK

    def test_an_unusable_list_of_consents(self, place: SkillPlace) -> None:
        Path(place.config().paths.skill_consents).write_text("{")
        assert "was not approved" in self.why(place)

    def test_a_skill_that_is_too_large_to_check(self, place: SkillPlace, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("tejat.config.skills.content.MAX_FILES", 2)
        assert "too many or too large files" in self.why(place)


class TestLinks:
    def test_a_link_in_the_workspace(self, place: SkillPlace) -> None:
        """The script would find another lib.sh beside the link."""
        skill = place.user_skills / "pdf"
        (place.project / "link.sh").symlink_to(skill / "scripts/run.sh")
        (place.project / "links").symlink_to(skill / "scripts")
        (place.project / "skill").symlink_to(skill)
        for line in ("./link.sh", "bash ./link.sh", "links/run.sh", "skill/scripts/run.sh", "{p}/links/run.sh"):
            assert decision(place, line) is ASK, line

    def test_a_link_that_replaced_the_script(self, place: SkillPlace) -> None:
        script = place.user_skills / "pdf/scripts/run.sh"
        script.unlink()
        script.symlink_to(make_executable(place.project / "evil.sh", "#!/bin/sh\ntouch MARK\n"))
        assert decision(place, "{s}/scripts/run.sh") is ASK

    def test_links_inside_the_skill(self, place: SkillPlace) -> None:
        skill = place.user_skills / "pdf"
        (skill / "run").symlink_to("scripts/run.sh")
        place.agree("pdf")
        assert decision(place, "{s}/run") is ASK
        assert decision(place, "{s}/scripts/run.sh") is ALLOW

    @pytest.mark.parametrize("target", ["{p}/lib.sh", "missing", "../../../../outside", ".git/lib.sh"])
    def test_links_that_lead_out_of_the_skill(self, place: SkillPlace, target: str) -> None:
        skill = place.user_skills / "pdf"
        (skill / ".git").mkdir()
        (skill / ".git/lib.sh").write_text("true")
        (place.project / "lib.sh").write_text("true")
        (skill / "lib").symlink_to(target.format(p=place.project))
        place.agree("pdf")
        verdict = place.decide(f"{skill}/scripts/run.sh", PDF)
        assert f"{skill}/lib is a link that leads out of the skill" in verdict.reason

    def test_a_skill_that_is_linked_as_a_whole(self, place: SkillPlace) -> None:
        real = write_script_skill(place.base / "elsewhere/tool")
        (place.user_skills / "tool").symlink_to(real)
        place.agree("tool")
        rules = allow_skill("tool")
        assert place.decide(f"{place.user_skills}/tool/scripts/run.sh", rules).decision is ALLOW
        assert place.decide(f"{real}/scripts/run.sh", rules).decision is ALLOW


class TestNames:
    def test_a_project_skill_with_the_name_of_a_users(self, place: SkillPlace) -> None:
        """It hides the user's skill, but does not inherit its rule."""
        theirs = write_script_skill(place.project_skills / "pdf")
        place.trust()
        place.agree("pdf")
        line = f"{theirs}/scripts/run.sh"
        assert place.decide(line, PDF).decision is ASK
        assert place.decide(line, allow_skill("user:pdf")).decision is ASK
        assert place.decide(line, allow_skill("project:pdf")).decision is ALLOW
        # The hidden one is not in use.
        assert decision(place, "{s}/scripts/run.sh") is ASK
        assert place.decide(line, '[[rule]]\nskill = "pdf"\ndecision = "deny"\n').decision is DENY

    def test_a_project_skill_is_pinned_by_trust(self, place: SkillPlace) -> None:
        theirs = write_script_skill(place.project_skills / "local")
        line, rules = f"{theirs}/scripts/run.sh", allow_skill("project:local")
        assert place.decide(line, rules).decision is ASK
        place.trust()
        assert place.decide(line, rules).decision is ALLOW
        assert place.decide(line, allow_skill("local")).decision is ASK
        with place.tools(rules) as toolset:
            (theirs / "scripts/lib.sh").write_text("touch MARK")
            assert decide(toolset, line)[1].decision is ASK
        assert place.decide(line, rules).decision is ASK

    def test_trust_for_one_run_pins_nothing(self, place: SkillPlace) -> None:
        theirs = write_script_skill(place.project_skills / "local")
        place.environment["GEMINI_CLI_TRUST_WORKSPACE"] = "true"
        assert place.config().trust.is_trusted
        assert place.decide(f"{theirs}/scripts/run.sh", allow_skill("project:local")).decision is ASK

    def test_case(self, place: SkillPlace) -> None:
        assert decision(place, "{s}/scripts/run.sh", allow_skill("PDF")) is ALLOW
        assert decision(place, "{s}/scripts/run.sh", allow_skill("USER:pdf")) is ASK
        assert decision(place, "{s}/scripts/run.sh", allow_skill("other:pdf")) is ASK


class TestPrograms:
    def test_an_interpreter_in_the_workspace(self, place: SkillPlace) -> None:
        make_executable(place.project / "bin/python3", "#!/bin/sh\ntouch MARK\n")
        place.environment["PATH"] = f"{place.project}/bin:{place.environment['PATH']}"
        assert decision(place, "python3 {s}/scripts/fill.py") is ASK
        assert decision(place, "{s}/scripts/fill.py") is ASK
        assert decision(place, "bash {s}/scripts/run.sh") is ALLOW

    def test_a_virtual_environment_in_the_workspace(self, place: SkillPlace) -> None:
        """Its interpreter is a link to one outside, and loads modules of the workspace all the same."""
        (place.project / ".venv/bin").mkdir(parents=True)
        found = shutil.which("python3")
        assert found is not None
        (place.project / ".venv/bin/python3").symlink_to(found)
        place.environment["PATH"] = f"{place.project}/.venv/bin:{place.environment['PATH']}"
        assert decision(place, "python3 {s}/scripts/fill.py") is ASK
        assert decision(place, "{s}/scripts/fill.py") is ASK

    def test_an_unknown_interpreter(self, place: SkillPlace) -> None:
        place.environment["PATH"] = str(place.base / "nowhere")
        verdict = place.decide(f"python3 {place.user_skills}/pdf/scripts/fill.py", PDF)
        assert "python3 was not found" in verdict.reason

    @pytest.mark.parametrize("name", ["PYTHONPATH", "NODE_PATH", "LD_LIBRARY_PATH"])
    @pytest.mark.parametrize("value", ["{p}/src", "src", "/opt:{p}"])
    def test_libraries_in_the_workspace(self, place: SkillPlace, name: str, value: str) -> None:
        place.environment[name] = value.format(p=place.project)
        verdict = place.decide(f"{place.user_skills}/pdf/scripts/fill.py", PDF)
        assert f"{name} makes programs load code from the workspace" in verdict.reason
        place.environment[name] = "/opt/lib"
        assert decision(place, "{s}/scripts/fill.py") is ALLOW

    @pytest.mark.parametrize(
        ("first_line", "expected"),
        [
            ("#!/bin/sh", ALLOW),
            ("#!/bin/bash -eu", ALLOW),
            ("#! /usr/bin/env bash", ALLOW),
            ("#!/usr/bin/python3 -u", ALLOW),
            ("#!/usr/bin/perl -w", ALLOW),
            ("#!/bin/bash -c", ASK),
            ("#!/bin/bash -s", ASK),
            ("#!/usr/bin/python3 -c", ASK),
            ("#!/usr/bin/python3 -m", ASK),
            ("#!/usr/bin/env -S python3 -u", ASK),
            ("#!/usr/bin/env -S uv run --script", ASK),
            ("#!/usr/bin/env bun", ASK),
            ("#!/usr/bin/env Rscript", ASK),
            ("#!/usr/bin/awk -f", ASK),
            ("#!bash", ASK),
            ("#!", ASK),
            ("#!{p}/bash", ASK),
        ],
    )
    def test_first_lines(self, place: SkillPlace, first_line: str, expected: Decision) -> None:
        line = first_line.format(p=place.project)
        make_executable(place.user_skills / "pdf/scripts/first", f"{line}\n:\n")
        place.agree("pdf")
        assert decision(place, "{s}/scripts/first") is expected


class TestAlways:
    def test_the_rule_for_the_scripts_is_offered(self, place: SkillPlace) -> None:
        verdict = place.decide(f"bash {place.user_skills}/pdf/scripts/run.sh x", "")
        assert [rule.skill for rule in verdict.suggested_rules] == ["user:pdf"]
        assert verdict.suggested_rules[0].command is None

    def test_with_a_rule_for_the_rest(self, place: SkillPlace) -> None:
        verdict = place.decide(f"{place.user_skills}/pdf/scripts/run.sh x | head -3", "")
        assert [(rule.skill, rule.command) for rule in verdict.suggested_rules] == [
            ("user:pdf", None),
            (None, ("head",)),
        ]

    @pytest.mark.parametrize("line", ["{s}/scripts/run.sh /etc/x", "bash -e {s}/scripts/run.sh", "./link.sh"])
    def test_no_rule_for_its_path_instead(self, place: SkillPlace, line: str) -> None:
        (place.project / "link.sh").symlink_to(place.user_skills / "pdf/scripts/run.sh")
        verdict = place.decide(line.format(s=place.user_skills / "pdf"), "")
        assert verdict.suggested_rules == ()
        assert verdict.always_refusal

    def test_a_changed_script_gets_none(self, place: SkillPlace) -> None:
        (place.user_skills / "pdf/scripts/run.sh").write_text("echo")
        verdict = place.decide(f"{place.user_skills}/pdf/scripts/run.sh", "")
        assert verdict.suggested_rules == ()
        assert "was not approved by you" in verdict.always_refusal


def test_random_lines_run_nothing_else(place: SkillPlace) -> None:
    """Whatever the rule allows is run with bash: nothing but the script as agreed to, and commands that read."""
    skill, marks = place.user_skills / "pdf", place.base / "marks"
    marks.mkdir()
    # Scripts of others with the same names, a link to the real one, and programs that would leave a mark.
    evil = f"#!/bin/sh\necho evil >> {marks}/evil\n"
    for name in ("run.sh", "scripts/run.sh", "scripts/lib.sh", "lib.sh", "sub/run.sh", "bin/python3", "bin/bash"):
        make_executable(place.project / name, evil)
    (place.project / "link.sh").symlink_to(skill / "scripts/run.sh")
    (place.project / "links").symlink_to(skill / "scripts")
    programs = place.base / "programs"
    for name in ("touch", "rm", "cp", "env", "sudo", "xargs", "timeout", "nohup", "tee"):
        make_executable(programs / name, evil)
    for name in ("bash", "sh", "cat", "head", "dirname"):
        (programs / name).symlink_to(str(shutil.which(name)))
    (programs / "python3").symlink_to(os.path.realpath(sys.executable))
    words = [
        *(f"{skill}/scripts/run.sh", f"{skill}/scripts/fill.py", f"{skill}/scripts/lib.sh", "links/run.sh"),
        *("./link.sh", "scripts/run.sh", "./run.sh", "bin/bash", f"{skill}/SKILL.md", f"{skill}/../pdf/scripts/run.sh"),
        *("bash", "sh", "python3", "env", "sudo", "xargs", "timeout", "nohup", "touch", "rm", "cp", "cat", "head"),
        *(
            "-c",
            "-e",
            "-i",
            "-s",
            "--",
            "-",
            "x",
            "'touch x'",
            "'$(touch x)'",
            '"a b"',
            "$(touch x)",
            "`touch x`",
            "$X",
        ),
        *(
            "A=1",
            "5",
            "*",
            "~",
            "{a,b}",
            "cd",
            "sub",
            "/",
            ".",
            "<",
            ">",
            "2>&1",
            ">/dev/null",
            "exec",
            "source",
            "eval",
        ),
    ]
    code = '\'__import__("os").system("touch x")\''
    starts = [[], ["python3", "-c", code], *([name] for name in words if name.isalnum())]
    starts += [[shell, *options] for shell in ("bash", "sh") for options in ((), ("-c", "'touch x'"), ("-s",), ("x",))]
    joints = ["; ", " && ", " || ", " | ", " & ", "\n", ";", "|", " |& ", " ;; ", " && ( ", " ) "]
    rules = PDF + '[[rule]]\ncommand = ["cat", "head"]\ndecision = "allow"\n'
    choose = random.Random(4711)
    environment = place.environment | {"PATH": str(programs)}
    place.environment = environment
    allowed = 0
    with place.tools(rules) as toolset:
        for _ in range(4000):
            first = [*choose.choice(starts), choose.choice(words[:6])]
            first += choose.choices(("x", "--out=y", "'a b'"), k=choose.randint(0, 2))
            others = [choose.choices(words, k=choose.randint(1, 3)) for _ in range(choose.choice((0, 0, 1, 2)))]
            parts = choose.sample([first, *others], k=len(others) + 1)
            line = "".join(" ".join(part) + choose.choice(joints) for part in parts[:-1]) + " ".join(parts[-1])
            if decide(toolset, line)[1].decision is not ALLOW:
                continue
            allowed += 1
            command = ["/bin/bash", "--norc", "--noprofile", "-c", line]
            subprocess.run(
                command,
                cwd=place.project,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=20,
                check=False,
            )
            assert os.listdir(marks) == [], line
            assert not (place.project / "x").exists(), line
    assert allowed > 50
