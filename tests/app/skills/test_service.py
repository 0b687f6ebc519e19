"""Skills of a session: when they are asked about, when they count, and what outlives a summary."""

import asyncio
from pathlib import Path
from typing import cast

import pytest

from tejat.app.run_config import load_run_config
from tejat.app.skills import service as service_module
from tejat.app.skills.service import SkillService
from tejat.core.agent.session_state import SessionState
from tejat.core.agent.subagents import enter_agent
from tejat.core.approval.confirmation import InfoConfirmation, Scope
from tejat.core.errors import ErrorType, ToolFailure


class Place:
    """A home with skills, and a session."""

    def __init__(self, base: Path) -> None:
        self.home, self.project = base / "home", base / "project"
        self.home.mkdir()
        self.project.mkdir()
        self.state = SessionState()
        self.shown: list[str] = []

    def skill(self, name: str, body: str = "Body", more: str = "") -> Path:
        directory = self.home / ".agents/skills" / name
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "SKILL.md").write_text(f"---\nname: {name}\ndescription: Does {name}.\n{more}---\n{body}\n")
        return directory

    def service(
        self, *, can_ask: bool = True, state: SessionState | None = None, history: "Conversation | None" = None
    ) -> SkillService:
        config = load_run_config([str(self.project)], environment={"HOME": str(self.home)})
        current = self.state if state is None else state
        return SkillService(
            config, state=lambda: current, show=self.shown.append, can_ask=can_ask, history=lambda: history
        )


class Conversation:
    """Texts that the model has."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    @property
    def length(self) -> int:
        return len(self.texts)

    def contains(self, text: str) -> bool:
        return any(text in each for each in self.texts)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path.resolve())


def propose(service: SkillService, name: str = "pdf") -> InfoConfirmation | None:
    return asyncio.run(service.propose(name))


def activate(service: SkillService, name: str = "pdf", approved: InfoConfirmation | None = None) -> str:
    return str(asyncio.run(service.activate(name, approved)).llm_content)


def test_the_question_shows_what_decides(place: Place) -> None:
    body = "\n".join(f"line {number}" for number in range(60))
    directory = place.skill("pdf", body, "allowed-tools: Bash(python:*)\n")
    (directory / "run.py").touch()
    question = propose(place.service())
    assert question is not None
    assert question.title == "Activate the skill pdf?"
    for text in (
        "Does pdf.",
        f"Source: {directory}/SKILL.md (user)",
        "Files: SKILL.md, run.py",
        "tokens to this conversation",
        "It asks for the tools Bash(python:*). Activating it allows none of them.",
        "Not offered: Bash(python:*): python can run any code.",
        "line 39",
        "... 20 more lines in",
    ):
        assert text in question.prompt
    assert "line 40" not in question.prompt


def test_headless_runs_do_not_ask(place: Place) -> None:
    place.skill("pdf")
    assert propose(place.service(can_ask=False)) is None


def test_built_in_skills_are_not_asked_about(place: Place) -> None:
    assert propose(place.service(), "skill-creator") is None


@pytest.mark.parametrize("scope", [Scope.SESSION, Scope.PROJECT, Scope.USER, Scope.RUN])
def test_an_always_is_bound_to_the_content(place: Place, scope: Scope) -> None:
    place.skill("pdf")
    service = place.service()
    question = propose(service)
    assert question is not None
    assert service.agreement(question) == "the skill pdf as it is now"
    service.remember(question, scope)
    assert propose(service) is None
    is_saved = scope in (Scope.PROJECT, Scope.USER)
    assert (propose(place.service()) is None) is is_saved
    place.skill("pdf", "Changed")
    assert propose(service) is not None
    assert propose(place.service()) is not None


def test_an_answer_once_holds_for_the_session(place: Place) -> None:
    place.skill("pdf")
    service = place.service()
    activate(service, approved=propose(service))
    place.state.set("skills", None)
    assert propose(service) is None


def test_content_that_changed_after_the_answer_is_shown_again(place: Place) -> None:
    place.skill("pdf")
    service = place.service()
    question = propose(service)
    place.skill("pdf", "Evil")
    with pytest.raises(ToolFailure) as raised:
        activate(service, approved=question)
    assert raised.value.error_type is ErrorType.STALE_FILE
    assert service.active == {}


def test_activation_shows_the_directory_and_is_recorded(place: Place) -> None:
    directory = place.skill("pdf")
    service = place.service()
    assert "Body" in activate(service)
    assert place.shown == [str(directory)]
    entries = cast("list[dict[str, str]]", place.state.get("skills"))
    assert [(entry["name"], entry["source"]) for entry in entries] == [("pdf", f"{directory}/SKILL.md")]
    assert activate(service) == 'Skill "pdf" is already active.'


def test_changed_content_is_activated_again(place: Place) -> None:
    place.skill("pdf", "One")
    service = place.service()
    activate(service)
    place.skill("pdf", "Two")
    assert "Two" in activate(service)


def test_a_resumed_session_goes_on_with_unchanged_skills(place: Place) -> None:
    directory = place.skill("pdf")
    activate(place.service())
    resumed = place.service(state=SessionState(place.state.values))
    assert list(resumed.active) == ["pdf"]
    assert place.shown == [str(directory)] * 2
    assert resumed.lapsed == ()
    assert propose(resumed) is None


def test_a_resumed_session_asks_again_about_changed_skills(place: Place) -> None:
    place.skill("pdf")
    activate(place.service())
    place.skill("pdf", "Changed")
    state = SessionState(place.state.values)
    resumed = place.service(state=state)
    assert resumed.active == {}
    assert resumed.lapsed == ("pdf",)
    assert "The skill pdf has changed and is not active any more" in resumed.catalogue(1_000_000).text
    assert state.get("skills") == []
    question = propose(resumed)
    assert question is not None
    activate(resumed, approved=question)
    assert resumed.lapsed == ()


def test_a_summary_keeps_active_skills_whole(place: Place) -> None:
    for name in ("one", "two"):
        place.skill(name, f"BODY of {name}")
    service = place.service()
    for name in ("one", "two", "one"):
        activate(service, name)
    text = service.carried_text()
    assert text.index("BODY of one") < text.index("BODY of two")
    assert activate(service, "two") == 'Skill "two" is already active.'


def test_a_summary_keeps_what_fits_and_names_the_rest(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service_module, "MAX_CARRIED_TOKENS", 300)
    for name in ("one", "two"):
        place.skill(name, f"BODY of {name} " * 50)
    history = Conversation()
    service = place.service(history=history)
    for name in ("one", "two"):
        text = activate(service, name)
        assert activate(service, name) == f'Skill "{name}" is already active.'  # in the same batch
        history.texts.append(text)
    carried = service.carried_text()
    assert "BODY of two" in carried
    assert "BODY of one" not in carried
    assert carried.endswith("Activate them again if you need them: one")
    history.texts = ["summary", carried, "more"]
    assert activate(service, "two") == 'Skill "two" is already active.'
    assert "BODY of one" in activate(service, "one")


def test_a_rewound_activation_does_not_count(place: Place) -> None:
    place.skill("pdf")
    history = Conversation()
    service = place.service(history=history)
    history.texts += [activate(service), "more"]
    history.texts.clear()
    history.texts.append("prompt")
    assert "Body" in activate(service)


def test_what_a_sub_agent_activates_is_its_own(place: Place) -> None:
    place.skill("pdf")
    service = place.service(can_ask=False)
    activate(service)

    async def work(agent_id: str) -> list[str]:
        enter_agent(agent_id, "call")
        return [str((await service.activate("pdf", None)).llm_content) for _call in range(2)]

    first, second = asyncio.run(work("reader#1"))
    assert "Body" in first
    assert second == 'Skill "pdf" is already active.'
    assert "Body" in asyncio.run(work("reader#2"))[0]
    assert len(service.active) == 1


def test_nothing_is_carried_without_active_skills(place: Place) -> None:
    assert place.service().carried_text() == ""


def test_reload(place: Place) -> None:
    place.skill("one")
    service = place.service()
    assert service.library.find("one") is not None
    (place.home / ".agents/skills/one/SKILL.md").unlink()
    place.skill("two")
    assert service.reload() == (frozenset({"two"}), frozenset({"one"}))


def test_an_unknown_skill(place: Place) -> None:
    place.skill("pdf")
    with pytest.raises(ToolFailure, match=r'Skill "doc" not found\. Available skills are: pdf') as raised:
        propose(place.service(), "doc")
    assert raised.value.error_type is ErrorType.INVALID_TOOL_PARAMS


def test_the_tool_lists_the_names(place: Place) -> None:
    place.skill("b")
    place.skill("a")
    entry = place.service().tool_entry()
    assert entry is not None
    properties = cast("dict[str, dict[str, object]]", entry.declaration.parameters_json_schema["properties"])
    assert properties["name"]["enum"] == ("a", "b")


def test_no_tool_without_skills(place: Place) -> None:
    assert place.service().tool_entry() is None
