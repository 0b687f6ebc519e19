"""Whether a folder is trusted: only if somebody said so, only as it was then, and never in doubt."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tejat.config.paths import AppPaths, SourceTier
from tejat.config.settings.types import Setting
from tejat.config.trust.decision import (
    TrustDecision,
    TrustedFolder,
    TrustLevel,
    can_trust_parent,
    decide_trust,
    find_trust_items,
    forget_folder,
    list_trusted_folders,
    trust_folder,
    trust_parent,
)
from tejat.config.trust.store import read_trust_store
from tejat.core.errors import UsageError

TRUSTED, NOT_TRUSTED, UNKNOWN, CHANGED = TrustLevel
ON = Setting(value=True)


@dataclass(frozen=True)
class Machine:
    base: Path

    @property
    def paths(self) -> AppPaths:
        home = str(self.base / "home")
        return AppPaths(home, f"{home}/.config/tejat", f"{home}/.local/state/tejat", f"{home}/.gemini", ())

    @property
    def root(self) -> str:
        return str(self.base / "work" / "project")

    def write(self, name: str, text: str = "{}") -> Path:
        path = self.base / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o600)
        return path

    def rules(self, **rules: str) -> None:
        """What Gemini CLI was told; `work__evil` stands for a path."""
        folders = {str(self.base / name.replace("__", "/")): level for name, level in rules.items()}
        self.write("home/.gemini/trustedFolders.json", json.dumps(folders))

    def decide(
        self,
        root: str | None = None,
        *,
        trust_now: bool = False,
        environment: Mapping[str, str] | None = None,
        folder_trust: Setting[bool] = ON,
    ) -> TrustDecision:
        return decide_trust(
            self.paths,
            self.root if root is None else str(self.base / root),
            trust_for_run=trust_now,
            environment=environment or {},
            folder_trust=folder_trust,
        )

    def everything(self) -> list[str]:
        return sorted(os.path.join(where, name) for where, _, names in os.walk(self.base / "home") for name in names)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    (tmp_path / "home").mkdir()
    (tmp_path / "work" / "project").mkdir(parents=True)
    return Machine(tmp_path.resolve())


class TestNobodySaidAnything:
    def test_a_folder_that_brings_nothing(self, machine: Machine) -> None:
        reason = f"{machine.root} is not trusted: not decided yet."
        assert machine.decide() == TrustDecision(UNKNOWN, reason)
        assert not machine.decide().is_trusted

    def test_a_folder_that_brings_something(self, machine: Machine) -> None:
        machine.write("work/project/.gemini/settings.json", '{"mcpServers": {"x": {"command": "touch it"}}}')
        trust = machine.decide()
        assert (trust.level, trust.is_trusted) == (UNKNOWN, False)
        assert [(item.path, item.details[0]) for item in trust.items] == [
            (".gemini/settings.json", "mcpServers.x runs: touch it")
        ]

    def test_looking_leaves_nothing_behind(self, machine: Machine) -> None:
        machine.write("work/project/.gemini/settings.json")
        machine.decide()
        machine.decide(trust_now=True)
        assert machine.everything() == []

    def test_no_such_folder(self, machine: Machine) -> None:
        with pytest.raises(UsageError, match=r"^Could not read .*/missing: "):
            machine.decide("missing")


class TestYouSaidSo:
    def test_trusted_as_it_was(self, machine: Machine) -> None:
        machine.write("work/project/.gemini/settings.json")
        trust = trust_folder(machine.paths, machine.root)
        assert trust == TrustDecision(
            TRUSTED, f"{machine.root} is trusted: you trusted it.", find_trust_items(machine.paths, machine.root)
        )
        assert machine.decide() == trust
        assert len(trust.items) == 1

    @pytest.mark.parametrize(
        "name",
        [
            ".gemini/settings.json",
            ".gemini/.env",
            ".gemini/policies/p.toml",
            ".gemini/commands/a/b.toml",
            ".mcp.json",
            ".env",
        ],
    )
    @pytest.mark.parametrize("change", ["written", "added", "removed"])
    def test_not_any_more_when_something_changed(self, machine: Machine, name: str, change: str) -> None:
        path = machine.base / "work" / "project" / name
        if change != "added":
            machine.write(f"work/project/{name}", "A=1")
        trust_folder(machine.paths, machine.root)
        assert machine.decide().is_trusted
        if change == "removed":
            path.unlink()
        else:
            machine.write(f"work/project/{name}", "A=2")
        trust = machine.decide()
        assert (trust.level, [item.path for item in trust.changed]) == (CHANGED, [name])
        assert trust.reason == f"{machine.root} is no longer trusted. Changed since then: {name}."
        trust_folder(machine.paths, machine.root)
        assert machine.decide().is_trusted

    def test_a_script_that_the_settings_name(self, machine: Machine) -> None:
        machine.write("work/project/.mcp.json", '{"mcpServers": {"x": {"command": "sh bin/run.sh"}}}')
        machine.write("work/project/bin/run.sh", "echo")
        trust_folder(machine.paths, machine.root)
        machine.write("work/project/bin/run.sh", "rm")
        assert [item.path for item in machine.decide().changed] == ["bin/run.sh"]

    @pytest.mark.parametrize("name", ["GEMINI.md", "AGENTS.md", "src/a.py", ".gemini/GEMINI.md"])
    def test_other_files_may_change(self, machine: Machine, name: str) -> None:
        trust_folder(machine.paths, machine.root)
        machine.write(f"work/project/{name}", "x")
        assert machine.decide().is_trusted

    def test_what_was_seen_is_pinned_not_what_came_after(self, machine: Machine) -> None:
        machine.write("work/project/.mcp.json", "{}")
        seen = machine.decide()
        machine.write("work/project/.mcp.json", '{"mcpServers": {"x": {"command": "evil"}}}')
        trust_folder(machine.paths, machine.root, items=seen.items)
        assert machine.decide().level is CHANGED

    def test_many_changes_are_told_in_short(self, machine: Machine) -> None:
        trust_folder(machine.paths, machine.root)
        for number in range(9):
            machine.write(f"work/project/.gemini/commands/{number}.toml", "x")
        trust = machine.decide()
        assert len(trust.changed) == 9
        assert trust.reason.endswith(".gemini/commands/4.toml and more.")

    def test_trust_is_for_one_folder(self, machine: Machine) -> None:
        machine.write("work/project/sub/.mcp.json")
        trust_folder(machine.paths, machine.root)
        trust_folder(machine.paths, str(machine.base / "work"))
        assert machine.decide("work/project/sub").level is UNKNOWN

    def test_by_any_name_of_it(self, machine: Machine) -> None:
        (machine.base / "link").symlink_to("work/project")
        trust_folder(machine.paths, str(machine.base / "link"))
        assert machine.decide().is_trusted

    def test_another_folder_under_the_same_name(self, machine: Machine) -> None:
        trust_folder(machine.paths, machine.root)
        os.rename(machine.root, f"{machine.root}.old")
        os.mkdir(machine.root)
        trust = machine.decide()
        assert trust == TrustDecision(CHANGED, f"{machine.root} is no longer the folder that was trusted.")

    def test_a_link_that_leads_elsewhere_now(self, machine: Machine) -> None:
        (machine.base / "evil").mkdir()
        (machine.base / "link").symlink_to("work/project")
        trust_folder(machine.paths, str(machine.base / "link"))
        (machine.base / "link").unlink()
        (machine.base / "link").symlink_to("evil")
        assert machine.decide("link").level is UNKNOWN

    def test_never(self, machine: Machine) -> None:
        (machine.base / "work/project/sub").mkdir()
        trust = trust_folder(machine.paths, machine.root, level=NOT_TRUSTED)
        assert trust == TrustDecision(NOT_TRUSTED, f"{machine.root} is not trusted: you chose not to trust it.")
        for root in ("work/project", "work/project/sub"):
            assert machine.decide(root).reason.endswith(f" is not trusted: you chose not to trust {machine.root}.")
            assert machine.decide(root).level is NOT_TRUSTED
        assert machine.decide("work").level is UNKNOWN

    def test_a_nearer_folder_can_be_trusted_all_the_same(self, machine: Machine) -> None:
        trust_folder(machine.paths, str(machine.base / "work"), level=NOT_TRUSTED)
        assert machine.decide().level is NOT_TRUSTED
        trust_folder(machine.paths, machine.root)
        assert machine.decide().is_trusted

    def test_levels_that_nobody_can_say(self, machine: Machine) -> None:
        for level in (UNKNOWN, CHANGED):
            with pytest.raises(UsageError):
                trust_folder(machine.paths, machine.root, level=level)
        assert machine.everything() == []

    def test_forgotten(self, machine: Machine) -> None:
        trust_folder(machine.paths, machine.root)
        assert forget_folder(machine.paths, machine.root)
        assert not forget_folder(machine.paths, machine.root)
        assert machine.decide().level is UNKNOWN

    def test_a_folder_that_is_gone_can_be_forgotten(self, machine: Machine) -> None:
        trust_folder(machine.paths, machine.root)
        os.rmdir(machine.root)
        assert forget_folder(machine.paths, machine.root)
        assert list_trusted_folders(machine.paths) == []

    def test_listed(self, machine: Machine) -> None:
        assert list_trusted_folders(machine.paths) == []
        trust_folder(machine.paths, machine.root)
        trust_folder(machine.paths, str(machine.base / "home"), level=NOT_TRUSTED)
        when = [entry.decided_at for entry in read_trust_store(machine.paths).values()]
        assert list_trusted_folders(machine.paths) == [
            TrustedFolder(str(machine.base / "home"), NOT_TRUSTED, when[0], from_gemini_cli=False),
            TrustedFolder(machine.root, TRUSTED, when[1], from_gemini_cli=False),
        ]


class TestParent:
    @pytest.fixture(autouse=True)
    def trusted(self, machine: Machine) -> None:
        (machine.base / "work").chmod(0o700)
        (machine.base / "work/other/sub").mkdir(parents=True)
        (machine.base / "else").mkdir()
        trust = trust_parent(machine.paths, machine.root, items=())
        assert (trust.level, trust.reason) == (TRUSTED, f"{machine.root} is trusted: you trusted {machine.base}/work.")

    def test_all_folders_in_it(self, machine: Machine) -> None:
        for root in ("work", "work/project", "work/other", "work/other/sub"):
            assert machine.decide(root).level is TRUSTED
        for root in ("else", "."):
            assert machine.decide(root).level is UNKNOWN

    def test_each_as_it_was_first_seen(self, machine: Machine) -> None:
        machine.write("work/other/.gemini/settings.json")
        machine.write("work/other/sub/.gemini/settings.json")
        assert machine.decide("work/other").level is TRUSTED
        machine.write("work/other/.gemini/settings.json", '{"hooks": {}}')
        assert machine.decide("work/other").level is CHANGED
        machine.write("work/project/.env", "A=b")
        assert machine.decide().level is CHANGED

    def test_a_nearer_no_counts(self, machine: Machine) -> None:
        trust_folder(machine.paths, str(machine.base / "work/other"), level=NOT_TRUSTED)
        assert machine.decide("work/other/sub").level is NOT_TRUSTED
        assert machine.decide().level is TRUSTED

    def test_not_another_folder_under_the_same_name(self, machine: Machine) -> None:
        os.rename(machine.base / "work", machine.base / "was")
        (machine.base / "work/new").mkdir(parents=True)
        assert machine.decide("work/new").level is UNKNOWN

    def test_listed_and_forgotten(self, machine: Machine) -> None:
        work = str(machine.base / "work")
        assert [(each.path, each.is_tree, each.from_gemini_cli) for each in list_trusted_folders(machine.paths)] == [
            (work, True, False),
            (machine.root, False, False),
        ]
        assert forget_folder(machine.paths, work)
        assert machine.decide("work/other").level is UNKNOWN
        assert machine.decide().level is UNKNOWN

    @pytest.mark.parametrize("mode", [0o770, 0o707, 0o1777])
    def test_not_where_others_can_write(self, machine: Machine, mode: int) -> None:
        (machine.base / "else/project").mkdir()
        (machine.base / "else").chmod(mode)
        project = str(machine.base / "else/project")
        assert not can_trust_parent(project)
        with pytest.raises(UsageError, match="other users can write there"):
            trust_parent(machine.paths, project, items=())

    def test_not_the_whole_file_system(self) -> None:
        assert not can_trust_parent("/")
        assert not can_trust_parent("/usr")


class TestGeminiWasTold:
    @pytest.mark.parametrize(
        ("rules", "level"),
        [
            ({"work__project": "TRUST_FOLDER"}, TRUSTED),
            ({"work": "TRUST_FOLDER"}, TRUSTED),
            ({"work__other": "TRUST_PARENT"}, TRUSTED),
            ({"work__project__sub": "TRUST_PARENT"}, TRUSTED),
            ({"work__project__sub": "TRUST_FOLDER"}, UNKNOWN),
            ({"work__proj": "TRUST_FOLDER"}, UNKNOWN),
            ({"work__project": "DO_NOT_TRUST"}, NOT_TRUSTED),
            ({"work": "DO_NOT_TRUST"}, NOT_TRUSTED),
            ({"work__project": "TRUST_FOLDER", "work": "DO_NOT_TRUST"}, TRUSTED),
            ({"work__project": "DO_NOT_TRUST", "work": "TRUST_FOLDER"}, NOT_TRUSTED),
            # The rule of the long name is about a shorter directory than the rule of the short one.
            ({"work__a_very_long_name": "TRUST_PARENT", "work__project": "DO_NOT_TRUST"}, NOT_TRUSTED),
            ({"work__project__sub": "TRUST_PARENT", "work__project": "DO_NOT_TRUST"}, NOT_TRUSTED),
            ({}, UNKNOWN),
        ],
    )
    def test_the_nearest_rule_and_of_two_the_stricter(
        self, machine: Machine, rules: dict[str, str], level: TrustLevel
    ) -> None:
        machine.rules(**rules)
        assert machine.decide().level is level

    def test_everything(self, machine: Machine) -> None:
        machine.write("home/.gemini/trustedFolders.json", '{"/": "TRUST_FOLDER"}')
        assert machine.decide().is_trusted

    def test_pinned_when_it_is_first_seen(self, machine: Machine) -> None:
        machine.write("work/project/.mcp.json", "{}")
        machine.rules(work="TRUST_FOLDER")
        reason = f"{machine.root} is trusted: you trusted {machine.base}/work in Gemini CLI."
        assert machine.decide().reason == reason
        assert machine.decide().is_trusted
        assert [(folder.path, folder.from_gemini_cli) for folder in list_trusted_folders(machine.paths)] == [
            (machine.root, True)
        ]
        machine.write("work/project/.mcp.json", '{"mcpServers": {}}')
        assert machine.decide().level is CHANGED
        assert machine.decide().level is CHANGED
        trust_folder(machine.paths, machine.root)
        assert machine.decide().is_trusted

    def test_the_pin_alone_is_no_trust(self, machine: Machine) -> None:
        machine.rules(work="TRUST_FOLDER")
        assert machine.decide().is_trusted
        machine.rules()
        assert machine.decide().level is UNKNOWN

    def test_what_we_were_told_counts_beside_it(self, machine: Machine) -> None:
        machine.rules(work__project="TRUST_FOLDER")
        trust_folder(machine.paths, machine.root, level=NOT_TRUSTED)
        assert machine.decide().level is NOT_TRUSTED
        machine.rules(work__project="DO_NOT_TRUST")
        trust_folder(machine.paths, machine.root)
        assert machine.decide().level is NOT_TRUSTED

    def test_where_nothing_can_be_pinned_nothing_is_trusted(self, machine: Machine) -> None:
        machine.rules(work="TRUST_FOLDER")
        machine.write("home/.config", "in the way")
        trust = machine.decide()
        assert trust.level is NOT_TRUSTED
        assert trust.problem

    def test_another_file_by_a_variable(self, machine: Machine) -> None:
        path = machine.write("other.json", json.dumps({machine.root: "TRUST_FOLDER"}))
        assert machine.decide(environment={"GEMINI_CLI_TRUSTED_FOLDERS_PATH": str(path)}).is_trusted

    def test_a_broken_file_means_no_even_where_we_know_better(self, machine: Machine) -> None:
        trust_folder(machine.paths, machine.root)
        path = machine.write("home/.gemini/trustedFolders.json", "{")
        trust = machine.decide()
        assert trust.level is NOT_TRUSTED
        assert trust.problem == trust.reason
        assert trust.reason.startswith(f"Error in {path}: ")
        assert path.read_text() == "{"


class TestDoubt:
    @pytest.mark.parametrize("text", ["", "{", '{"version": 7, "folders": {}}'])
    def test_a_broken_store(self, machine: Machine, text: str) -> None:
        machine.rules(work="TRUST_FOLDER")
        machine.write("home/.config/tejat/trust.json", text)
        trust = machine.decide()
        assert trust.level is NOT_TRUSTED
        assert trust.problem is not None
        assert trust.problem.startswith(f"Cannot use {machine.paths.trust_store}: ")
        assert Path(machine.paths.trust_store).read_text() == text

    def test_a_store_that_everybody_could_have_written(self, machine: Machine) -> None:
        trust_folder(machine.paths, machine.root)
        os.chmod(machine.paths.trust_store, 0o622)
        trust = machine.decide()
        store = machine.paths.trust_store
        assert (trust.level, trust.problem) == (
            NOT_TRUSTED,
            f"Refusing to use {store}: writable by everyone. Fix it with: chmod o-w {store}",
        )

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can give folders away")
    def test_the_folder_of_another_user(self, machine: Machine) -> None:
        machine.rules(work="TRUST_FOLDER")
        os.chown(machine.root, 12345, 12345)
        expected = f"{machine.root} belongs to another user (uid 12345)"
        assert machine.decide() == TrustDecision(NOT_TRUSTED, f"{expected}.")
        with pytest.raises(UsageError, match="belongs to another user"):
            trust_folder(machine.paths, machine.root)
        assert machine.decide(trust_now=True).is_trusted

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can give folders away")
    def test_given_away_since_then(self, machine: Machine) -> None:
        trust_folder(machine.paths, machine.root)
        os.chown(machine.root, 12345, 12345)
        assert machine.decide().level is NOT_TRUSTED

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
    def test_a_file_of_another_user(self, machine: Machine) -> None:
        path = machine.write("work/project/.mcp.json")
        trust_folder(machine.paths, machine.root)
        os.chown(path, 12345, 12345)
        trust = machine.decide()
        assert (trust.level, trust.problem) == (NOT_TRUSTED, f"{path} belongs to another user (uid 12345).")
        assert machine.decide(trust_now=True).is_trusted


class TestWithoutAsking:
    def test_for_this_run(self, machine: Machine) -> None:
        machine.write("work/project/.mcp.json")
        trust_folder(machine.paths, machine.root, level=NOT_TRUSTED)
        before = Path(machine.paths.trust_store).read_bytes()
        flagged = machine.decide(trust_now=True)
        assert (flagged.level, len(flagged.items)) == (TRUSTED, 1)
        assert flagged.reason == f"{machine.root} is trusted for this run because of the flag."
        assert Path(machine.paths.trust_store).read_bytes() == before
        assert machine.decide().level is NOT_TRUSTED

    @pytest.mark.parametrize(
        ("value", "level"),
        [
            ("true", TRUSTED),
            ("TRUE", TRUSTED),
            ("1", TRUSTED),
            ("false", NOT_TRUSTED),
            ("0", NOT_TRUSTED),
            ("", UNKNOWN),
            ("yes", UNKNOWN),
        ],
    )
    def test_by_a_variable(self, machine: Machine, value: str, level: TrustLevel) -> None:
        assert machine.decide(environment={"GEMINI_CLI_TRUST_WORKSPACE": value}).level is level
        assert machine.everything() == []

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("GEMINI_RESTRICTED_MODE", "true"),
            ("GEMINI_RESTRICTED_MODE", " TRUE "),
            ("GEMINI_RESTRICTED_MODE", "1"),
            ("GEMINI_CLI_TRUST_WORKSPACE", "False"),
        ],
    )
    def test_a_variable_that_forbids_trust_wins_over_everything(self, machine: Machine, name: str, value: str) -> None:
        trust_folder(machine.paths, machine.root)
        off = Setting(False, "/etc/gemini-cli/settings.json:3", SourceTier.ADMIN)
        decision = machine.decide(trust_now=True, folder_trust=off, environment={name: value})
        assert decision.level is NOT_TRUSTED
        assert decision.reason == f"{machine.root} is not trusted in this run: {name}={value.strip()} is set."
        assert decision.problem == decision.reason
        assert machine.decide(environment={name: value}).problem is None  # nothing is lost
        assert machine.decide(machine.paths.home, environment={name: value}).level is NOT_TRUSTED
        assert machine.decide().is_trusted

    def test_restricted_mode_that_is_off_changes_nothing(self, machine: Machine) -> None:
        assert machine.decide(trust_now=True, environment={"GEMINI_RESTRICTED_MODE": "false"}).is_trusted

    def test_even_with_a_broken_store(self, machine: Machine) -> None:
        machine.write("home/.config/tejat/trust.json", "{")
        assert machine.decide(trust_now=True).is_trusted

    def test_switched_off(self, machine: Machine) -> None:
        off = Setting(False, "/etc/gemini-cli/settings.json:3", SourceTier.ADMIN)
        assert machine.decide(folder_trust=off) == TrustDecision(
            TRUSTED, "Every folder is trusted because of /etc/gemini-cli/settings.json:3.", is_unpinned=True
        )

    def test_the_home_directory(self, machine: Machine) -> None:
        machine.write("home/.gemini/settings.json", '{"mcpServers": {"x": {"command": "x"}}}')
        (machine.base / "link").symlink_to("home")
        for name in ("home", "link"):
            assert machine.decide(name) == TrustDecision(TRUSTED, f"{machine.base}/{name} is your home directory.")
