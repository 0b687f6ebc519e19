"""Hooks as the settings describe them: what is understood, what is not, and who may switch off whose."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tejat.config.hooks import HookConfig, HooksConfig, HookSettings, parse_hooks
from tejat.config.paths import SourceTier
from tejat.config.settings.types import Setting
from tejat.core.agent.hooks import GUARD_EVENTS, HookEvent
from tejat.core.messages.types import JsonValue

ADMIN, USER, WORKSPACE = SourceTier.ADMIN, SourceTier.USER, SourceTier.WORKSPACE


def entry(value: JsonValue, tier: SourceTier = USER, line: int = 1) -> Setting[JsonValue]:
    return Setting(value, f"{tier}.json:{line}", tier)


def group(*hooks: JsonValue, **fields: JsonValue) -> JsonValue:
    return {"hooks": list(hooks), **fields}


def command(line: str = "check", **fields: JsonValue) -> JsonValue:
    return {"type": "command", "command": line, **fields}


def read(given: HookSettings, switches: HookSettings | None = None) -> HooksConfig:
    return parse_hooks(given, switches or {})


def one(event: str, value: JsonValue) -> HookConfig:
    (hook,) = read({event: [entry(value)]}).hooks
    return hook


class TestUnderstood:
    def test_everything_that_can_be_said(self) -> None:
        said = command(" check it ", name="guard", timeout=1500, description="looks")
        found = read({"BeforeTool": [entry(group(said, matcher="write_.*", sequential=True), line=7)]})
        assert found == HooksConfig(
            (
                HookConfig(
                    HookEvent.BEFORE_TOOL,
                    "BeforeTool",
                    "guard",
                    "check it",
                    "write_.*",
                    USER,
                    "user.json:7",
                    1.5,
                    is_sequential=True,
                ),
            ),
            (),
        )

    def test_as_little_as_can_be_said(self) -> None:
        assert one("SessionStart", group({"command": "hello"})) == HookConfig(
            HookEvent.SESSION_START, "SessionStart", "hello", "hello", "", USER, "user.json:1", 60.0
        )

    @pytest.mark.parametrize("matcher", ["", "*", " * ", None])
    def test_a_matcher_for_everything(self, matcher: str | None) -> None:
        assert one("BeforeTool", group(command(), matcher=matcher)).matcher == ""

    @pytest.mark.parametrize(
        ("spelling", "event"),
        [
            ("PreToolUse", HookEvent.BEFORE_TOOL),
            ("PostToolUse", HookEvent.AFTER_TOOL),
            ("UserPromptSubmit", HookEvent.BEFORE_AGENT),
            ("Stop", HookEvent.AFTER_AGENT),
            ("PreCompact", HookEvent.PRE_COMPRESS),
        ],
    )
    def test_other_spellings_count_in_seconds(self, spelling: str, event: HookEvent) -> None:
        hook = one(spelling, group(command(timeout=30)))
        assert (hook.event, hook.event_name, hook.timeout) == (event, spelling, 30)
        assert hook.uses_claude_format
        assert not one("BeforeTool", group(command())).uses_claude_format

    def test_no_limit_is_longer_than_an_hour(self) -> None:
        assert one("BeforeTool", group(command(timeout=10**12))).timeout == 3600

    def test_those_with_more_of_a_say_come_last(self) -> None:
        entries = [entry(group(command(tier)), tier) for tier in (ADMIN, WORKSPACE, USER)]
        found = read({"BeforeTool": entries})
        assert [hook.command for hook in found.hooks] == ["workspace", "user", "admin"]


class TestNotUnderstood:
    @pytest.mark.parametrize(
        ("value", "why"),
        [
            ("check", "a hook group must be an object"),
            (group(command(), matcher=5), "matcher must be a string"),
            (group(command(), sequential="yes"), "sequential must be true or false"),
            ({"matcher": "x"}, "hooks must be a list of hooks"),
            ({"hooks": "check"}, "hooks must be a list of hooks"),
            (group("check"), "a hook must be an object"),
            (group({"type": "prompt", "prompt": "?"}), "the type of a hook must be command, not 'prompt'"),
            (group({"type": "command"}), "command must be a string"),
            (group(command(" ")), "command must be a non-empty string"),
            (group(command("a\0b")), "command must be a non-empty string"),
            (group(command(name=5)), "name must be a string"),
            (group(command(timeout=0)), "timeout must be a number greater than 0"),
            (group(command(timeout=True)), "timeout must be a number greater than 0"),
            (group(command(timeout="60 s")), "timeout must be a number greater than 0"),
        ],
    )
    def test_it_stays_a_hook_that_says_what_is_wrong_and_where(self, value: JsonValue, why: str) -> None:
        found = read({"BeforeTool": [entry(value, line=3)]})
        (hook,) = found.hooks
        assert (hook.problem, hook.command) == (f"user.json:3: in hooks.BeforeTool, {why}.", "")
        (warning,) = found.warnings
        assert warning.startswith(f"{hook.problem} Until it is fixed, calls of ")

    def test_it_is_for_the_tools_that_it_was_meant_for(self) -> None:
        hook = one("BeforeTool", group({}, matcher="write_file"))
        assert (hook.matcher, hook.problem) == (
            "write_file",
            "user.json:1: in hooks.BeforeTool, command must be a string.",
        )

    def test_the_others_of_its_group_are_read(self) -> None:
        found = read({"AfterTool": [entry(group(command("a"), 5, command("b")))]})
        assert [hook.command for hook in found.hooks] == ["a", "", "b"]
        assert found.warnings == ("user.json:1: in hooks.AfterTool, a hook must be an object. This hook does not run.",)

    def test_events_that_nobody_knows_are_told_of(self) -> None:
        found = read({"Before": [entry(group(command()))], "SubagentStop": []})
        assert found.hooks == ()
        assert found.warnings == (
            "user.json:1: hooks.Before is not a known event, so its hooks never run. Known events: "
            + ", ".join(HookEvent)
            + ".",
        )

    @given(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(max_size=5),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(
                    st.sampled_from(["matcher", "sequential", "hooks", "type", "command", "name", "timeout"]), inner
                )
            ),
            max_leaves=10,
        ),
        st.sampled_from(list(HookEvent)),
    )
    def test_whatever_is_written_nothing_is_dropped_silently(self, value: JsonValue, event: HookEvent) -> None:
        found = read({event.value: [entry(value)]})
        is_plainly_empty = isinstance(value, dict) and value.get("hooks") == []
        assert found.hooks or is_plainly_empty
        assert all(bool(hook.command) != bool(hook.problem) for hook in found.hooks)
        assert len(found.warnings) == sum(1 for hook in found.hooks if hook.problem)


GUARDED = {
    "BeforeTool": [entry(group(command(f"run {tier}", name="guard")), tier) for tier in (ADMIN, USER, WORKSPACE)]
}


class TestSwitchingOff:
    def left(self, given: HookSettings | None = None, switches: HookSettings | None = None) -> list[str]:
        return [hook.tier.value for hook in read({**GUARDED, **(given or {})}, switches).hooks]

    @pytest.mark.parametrize("name", ["disabled", "enabled"])
    @pytest.mark.parametrize("is_beside", [False, True])
    @pytest.mark.parametrize(("tier", "left"), [(WORKSPACE, ["user", "admin"]), (USER, ["admin"]), (ADMIN, [])])
    def test_nobody_switches_off_what_is_above_them(
        self, name: str, is_beside: bool, tier: SourceTier, left: list[str]
    ) -> None:
        switch = {name: [entry("guard" if name == "disabled" else False, tier)]}
        assert (self.left({}, switch) if is_beside else self.left(switch)) == left

    def test_by_the_command_where_there_is_no_name(self) -> None:
        given = {"Stop": [entry(group(command("say done")))], "disabled": [entry("say done")]}
        assert read(given) == HooksConfig((), ())

    @pytest.mark.parametrize(("values", "expected"), [([], True), ([False], False), ([False, True], True)])
    def test_reports_of_running_hooks(self, values: list[bool], expected: bool) -> None:
        assert parse_hooks({}, {"notifications": [entry(value) for value in values]}).reports_running is expected

    def test_one_that_is_not_understood_can_be_switched_off_too(self) -> None:
        broken = {"BeforeTool": [entry(group({"name": "later", "type": "http"}))], "disabled": [entry("later")]}
        assert read(broken) == HooksConfig((), ())


def test_what_stands_guard_is_said_to_hold_up() -> None:
    assert {event for event in HookEvent if "Until" in read({event: [entry(5)]}).warnings[0]} == GUARD_EVENTS
