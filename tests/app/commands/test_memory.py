"""`/memory`."""

from pathlib import Path

import pytest

from command_checks import HELLO, Always, Desks, Seat
from tejat.core.confirm import EditConfirmation, Outcome
from tejat.core.events import CallFinished, CallState

FACT = "I like tea."


@pytest.fixture
def desks(tmp_path: Path) -> Desks:
    return Desks(tmp_path)


def remember(folder: Path, text: str, name: str = "GEMINI.md") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    return folder / name


class TestShow:
    def test_all_that_the_model_is_told(self, desks: Desks) -> None:
        remember(desks.project, "Use tabs.")
        assert desks.shown("/memory show") == (
            "Current memory content from 1 file(s):\n"
            "---\n--- Context from: GEMINI.md ---\nUse tabs.\n--- End of Context from: GEMINI.md ---\n---"
        )

    def test_nothing(self, desks: Desks) -> None:
        assert desks.shown("/memory show") == "Memory is currently empty."

    def test_what_the_session_has_and_not_what_was_written_since(self, desks: Desks) -> None:
        async def work(seat: Seat) -> str:
            remember(desks.project, "Later.")
            return await seat.shown_by("/memory show")

        assert desks.at_desk(work) == "Memory is currently empty."


class TestList:
    def test_paths(self, desks: Desks) -> None:
        own = remember(desks.home / ".gemini", "Mine.")
        project = remember(desks.project, "Use tabs.")
        assert desks.shown("/memory list") == f"There are 2 context file(s) in use:\n- {own}\n- {project}"

    def test_none(self, desks: Desks) -> None:
        assert desks.shown("/memory list") == "No context files are in use."


class TestRefresh:
    def test_the_model_is_told_from_the_next_request_on(self, desks: Desks) -> None:
        async def work(seat: Seat) -> tuple[str, str, str]:
            before = seat.parts.session.conversation.premises.system
            remember(desks.project, "Use tabs.")
            shown = await seat.shown_by("/memory refresh")
            return before, shown, seat.parts.session.conversation.premises.system_now()

        before, shown, after = desks.at_desk(work)
        text = "--- Context from: GEMINI.md ---\nUse tabs.\n--- End of Context from: GEMINI.md ---"
        assert shown == f"Memory refreshed successfully. Loaded {len(text)} characters from 1 file(s)."
        assert text not in before
        assert after.endswith(text)
        assert after.startswith(before)

    def test_nothing(self, desks: Desks) -> None:
        assert desks.shown("/memory refresh") == "Memory refreshed successfully. No memory content found."

    def test_what_cannot_be_used_is_told(self, desks: Desks) -> None:
        remember(desks.project, "Use tabs.")
        (desks.project / "AGENTS.md").symlink_to("/etc/hostname")
        shown = desks.shown("/memory refresh").splitlines()
        assert shown[1:] == [f"{desks.project / 'AGENTS.md'} was left out: it leads outside the project."]


class TestAdd:
    def test_a_call_that_is_confirmed_and_seen(self, desks: Desks) -> None:
        approver = Always()

        async def work(seat: Seat) -> tuple[str, str, list[CallFinished]]:
            shown = await seat.shown_by(f"/memory add  {FACT} ")
            ended = [event for event in seat.events if isinstance(event, CallFinished)]
            return shown, seat.parts.session.conversation.premises.system, ended

        shown, system, (ended,) = desks.at_desk(work, approver=approver)
        assert shown == f'Attempting to save to memory: "{FACT}"'
        assert (ended.call.name, ended.state, ended.result.return_display) == (
            "save_memory",
            CallState.SUCCESS,
            f'Okay, I\'ve remembered that: "{FACT}"',
        )
        (question,) = approver.questions
        assert isinstance(question.confirmation, EditConfirmation)
        written = (desks.home / ".gemini" / "GEMINI.md").read_text()
        assert written == f"## Gemini Added Memories\n- {FACT}\n"
        assert f"- {FACT}" in system

    def test_it_is_no_part_of_the_conversation(self, desks: Desks) -> None:
        async def work(seat: Seat) -> tuple[int, int]:
            before = len(seat.parts.session.conversation.history.messages)
            await seat.type(f"/memory add {FACT}")
            return before, len(seat.parts.session.conversation.history.messages)

        before, after = desks.at_desk(work, script=HELLO)
        assert before == after

    def test_a_no(self, desks: Desks) -> None:
        async def work(seat: Seat) -> CallState:
            await seat.type(f"/memory add {FACT}")
            (ended,) = [event for event in seat.events if isinstance(event, CallFinished)]
            return ended.state

        assert desks.at_desk(work, approver=Always(Outcome.CANCEL)) is CallState.CANCELLED
        assert not (desks.home / ".gemini" / "GEMINI.md").exists()

    def test_nothing_to_remember(self, desks: Desks) -> None:
        assert desks.shown("/memory add") == "Usage: /memory add <text to remember>"


def test_no_word(desks: Desks) -> None:
    assert desks.shown("/memory") == "Missing command\nUsage: /memory show | add TEXT | refresh | list"


def test_any_other_word(desks: Desks) -> None:
    assert desks.shown("/memory drop it") == "Unknown /memory command: drop. Available: show, refresh, add"
