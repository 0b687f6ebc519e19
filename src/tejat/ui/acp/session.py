"""One session of a client: its prompts, commands, options and updates."""

import asyncio
import re
from contextlib import ExitStack
from typing import assert_never

from tejat.core.agent.events import AgentEvent, Answered, EndReason, ModelChanged, Noticed, RunEnded, Severity
from tejat.core.errors import TejatError
from tejat.core.i18n import _, translate
from tejat.core.messages.prompt import Prompt
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.core.model import FailureKind
from tejat.core.sanitize import sanitize_summary, sanitize_text
from tejat.core.tools.call_events import CallFinished
from tejat.core.ui.client_session import ContextUsage
from tejat.core.ui.commands import (
    ClearScreenAction,
    CommandAction,
    CommandSummary,
    NoAction,
    QuitAction,
    SetInputAction,
    SubmitPromptAction,
)
from tejat.core.ui.report import Tone, text_report
from tejat.mcp.protocol import INTERNAL_ERROR
from tejat.ui.acp.client import AUTH_REQUIRED, AcpClient
from tejat.ui.acp.config_options import MODE_OPTION, MODEL_OPTION, config_options, session_modes
from tejat.ui.acp.contract import AcpSession
from tejat.ui.acp.editor_terminals import ClientTerminals
from tejat.ui.acp.params import invalid_params
from tejat.ui.acp.permissions.client_approver import ClientApprover
from tejat.ui.acp.prompt_content import parse_prompt
from tejat.ui.acp.prompter import ClientPrompter
from tejat.ui.acp.updates.session_updates import SessionUpdates
from tejat.ui.jsonrpc.peer import RequestError
from tejat.ui.shared.questions import answer_questions

_UNAVAILABLE_COMMANDS = frozenset(
    "chat clear copy editor exit new quit reset resume terminal-setup theme vim".split()  # noqa: SIM905 -- readable
)
"""Commands about the terminal, and those that would change to a session that the client does not know."""


class EditorSession:
    """A session in a working directory, as the client drives it. Prompts run one after the other."""

    def __init__(
        self, client: AcpClient, session: AcpSession, directory: str, terminals: ClientTerminals | None
    ) -> None:
        self.session_id = session.session_id
        self._client = client
        self._session = session
        self._prompter = ClientPrompter(client, self.session_id)
        self._directory = directory
        self._updates = self._make_updates(is_replay=False)
        if terminals is not None:
            terminals.on_started = self._updates.show_terminal
        self._attachments = ExitStack()
        self._lock = asyncio.Lock()
        self._turns: set[asyncio.Task[JsonObject]] = set()
        self._is_prepared = False
        self._next_model: str | None = None
        self._shown_title = self._shown_mode = self._shown_commands = ""
        self._shown_usage: ContextUsage | None = None

    @property
    def state(self) -> JsonObject:
        """The modes and options in the response to a request that opens the session."""
        self._shown_mode = self._session.status.mode
        return {"modes": session_modes(self._session), "configOptions": self._options()}

    def attach(self) -> None:
        """Send events and questions to the client from now on, and what it should know at the start."""
        approver = ClientApprover(self._client, self.session_id, self._updates)
        self._attachments.callback(self._session.subscribe(self._handle_event))
        self._attachments.enter_context(answer_questions(self._session, approver, self._show_notice))
        self._announce_commands()
        for note in self._session.take_notes():
            self._show_notice(note)

    def replay(self) -> None:
        """Send the conversation so far."""
        updates = self._make_updates(is_replay=True)
        for event in self._session.replay():
            updates.handle_event(event)
        self._announce_title()

    async def prompt(self, blocks: JsonValue) -> JsonObject:
        """Answer a prompt; the result is that of `session/prompt`. Raises RequestError."""
        prompt = parse_prompt(blocks, folder=self._directory)
        turn = asyncio.create_task(self._run_turn(prompt))
        self._turns.add(turn)
        turn.add_done_callback(self._turns.discard)
        try:
            return await asyncio.shield(turn)
        except asyncio.CancelledError:
            turn.cancel()
            return await turn

    def cancel(self) -> None:
        """Stop the running prompt and those that wait. Each of them is answered with `cancelled`."""
        for turn in self._turns:
            turn.cancel()

    async def close(self) -> None:
        """Stop what runs and close the session."""
        self.cancel()
        if self._turns:
            await asyncio.wait(self._turns)
        self._attachments.close()
        await self._session.close()

    def set_mode(self, mode: str) -> None:
        """Raises RequestError for a mode that may not be chosen here."""
        try:
            self._session.set_mode(mode)
        except TejatError as error:
            raise invalid_params(translate(str(error))) from error
        self._announce_mode()

    async def set_option(self, option: str, value: JsonValue) -> JsonObject:
        """Change an option and return all of them. Raises RequestError."""
        if not isinstance(value, str):
            raise invalid_params(f"The value of {option} must be a string.")
        if option == MODE_OPTION:
            self.set_mode(value)
        elif option == MODEL_OPTION:
            await self._set_model(value)
        else:
            raise invalid_params(f"Unknown option {option!r}. Options: {MODE_OPTION}, {MODEL_OPTION}.")
        return {"configOptions": self._options()}

    async def _set_model(self, name: str) -> None:
        if self._lock.locked():
            self._next_model = name  # a turn keeps its model to the end
            return
        try:
            await self._session.set_model(name, self._prompter)
        except TejatError as error:
            raise invalid_params(translate(str(error))) from error

    async def _run_turn(self, prompt: Prompt) -> JsonObject:
        try:
            async with self._lock:
                if not await self._prepare():
                    return _stopped("cancelled")
                return await self._answer(prompt)
        except asyncio.CancelledError:
            return _stopped("cancelled")

    async def _prepare(self) -> bool:
        """Ask what is not decided yet, apply what was chosen meanwhile. False if the user quits."""
        if not self._is_prepared:
            session = await self._decide()
            if session is None:
                return False
            self._is_prepared = True
            if session is not self._session:
                self._attachments.close()
                self._session = session
                self._updates.describe = session.call_details
                self.attach()
                self._announce_mode()
        if self._next_model is not None:
            name, self._next_model = self._next_model, None
            try:
                await self._session.set_model(name, self._prompter)
            except TejatError as error:
                self._prompter.show(text_report(translate(str(error)), Tone.BAD))
                self._announce_options()
        return True

    async def _decide(self) -> AcpSession | None:
        """Raises RequestError."""
        try:
            return await self._session.prepare(self._prompter)
        except TejatError as error:
            raise RequestError(INTERNAL_ERROR, translate(str(error))) from error

    async def _answer(self, prompt: Prompt) -> JsonObject:
        if isinstance(prompt, str) and prompt.startswith("/"):
            return await self._run_command(prompt)
        return self._result(await self._session.prompt(prompt))

    async def _run_command(self, line: str) -> JsonObject:
        name = re.split(r"\s", line[1:], maxsplit=1)[0]
        if name in _UNAVAILABLE_COMMANDS:
            text = _(
                "/{name} works only in a terminal. In your editor, start or load another session instead.", name=name
            )
            self._prompter.show(text_report(text, Tone.WARNING))
            return _stopped("end_turn")
        action = await self._session.commands.run(line, self._prompter)
        self._announce_changes()
        return await self._apply(action)

    async def _apply(self, action: CommandAction) -> JsonObject:
        match action:
            case SubmitPromptAction(prompt):
                return self._result(await self._session.prompt(prompt))
            case SetInputAction(text):
                self._prompter.show(text_report(text))
            case NoAction() | ClearScreenAction() | QuitAction():
                pass
            case _:
                assert_never(action)
        return _stopped("end_turn")

    def _result(self, ended: RunEnded) -> JsonObject:
        """The result of a run. Raises RequestError if it failed."""
        self._announce_changes()
        message = sanitize_text(translate(ended.message))
        reason = _STOP_REASONS.get(ended.reason)
        if reason is None:
            is_login = ended.failure in (FailureKind.NO_KEY, FailureKind.AUTHENTICATION)
            raise RequestError(AUTH_REQUIRED if is_login else INTERNAL_ERROR, message or str(ended.reason))
        if message and reason != "cancelled":
            self._prompter.show(text_report(message, Tone.WARNING))
        return _stopped(reason)

    def _handle_event(self, event: AgentEvent) -> None:
        self._updates.handle_event(event)
        match event:
            case Answered():
                self._announce_usage()
                self._announce_title()
            case CallFinished():
                self._announce_mode()
            case ModelChanged():
                self._announce_options()
            case _:
                pass

    def _make_updates(self, *, is_replay: bool) -> SessionUpdates:
        describe, capabilities = self._session.call_details, self._client.capabilities
        return SessionUpdates(self._send, describe, capabilities, folder=self._directory, is_replay=is_replay)

    def _announce_changes(self) -> None:
        """Send what a prompt or a command may have changed."""
        self._announce_commands()
        self._announce_mode()
        self._announce_usage()
        self._announce_title()

    def _announce_commands(self) -> None:
        commands: list[JsonValue] = [
            {
                "name": each.name,
                "description": sanitize_summary(translate(each.summary)),
                **({"input": {"hint": hint}} if (hint := _usage_hint(each)) else {}),
            }
            for each in self._session.commands.summaries()
            if each.name not in _UNAVAILABLE_COMMANDS
        ]
        if str(commands) != self._shown_commands:
            self._shown_commands = str(commands)
            self._send({"sessionUpdate": "available_commands_update", "availableCommands": commands})

    def _announce_mode(self) -> None:
        mode = self._session.status.mode
        if mode != self._shown_mode:
            self._shown_mode = mode
            self._send({"sessionUpdate": "current_mode_update", "currentModeId": mode})
            self._announce_options()

    def _announce_options(self) -> None:
        self._send({"sessionUpdate": "config_option_update", "configOptions": self._options()})

    def _announce_usage(self) -> None:
        usage = self._session.context_usage
        if usage == self._shown_usage:
            return
        self._shown_usage = usage
        cost = {} if usage.cost is None else {"cost": {"amount": usage.cost, "currency": "USD"}}
        self._send({"sessionUpdate": "usage_update", "used": usage.used, "size": usage.size, **cost})

    def _announce_title(self) -> None:
        title = sanitize_summary(self._session.title)
        if title != self._shown_title:
            self._shown_title = title
            self._send({"sessionUpdate": "session_info_update", "title": title})

    def _options(self) -> list[JsonValue]:
        return config_options(self._session, model=self._next_model)

    def _show_notice(self, text: str) -> None:
        self._updates.handle_event(Noticed(text, Severity.NOTE))

    def _send(self, update: JsonObject) -> None:
        self._client.notify("session/update", {"sessionId": self.session_id, "update": update})


def _usage_hint(command: CommandSummary) -> str:
    """What may follow the name of a command."""
    return sanitize_summary(translate(command.usage)).removeprefix(f"/{command.name}").strip()


def _stopped(reason: str) -> JsonObject:
    return {"stopReason": reason}


_STOP_REASONS = {
    EndReason.FINISHED: "end_turn",
    EndReason.UNANSWERED: "end_turn",
    EndReason.TOOL_STOPPED: "end_turn",
    EndReason.INTERRUPTED: "cancelled",
    EndReason.TURN_LIMIT: "max_turn_requests",
    EndReason.TIME_LIMIT: "max_turn_requests",
    EndReason.COST_LIMIT: "max_turn_requests",
    EndReason.LOOP: "max_turn_requests",
    EndReason.TOKEN_LIMIT: "max_tokens",
    EndReason.TRUNCATED: "max_tokens",
    EndReason.CONTEXT_FULL: "max_tokens",
    EndReason.BLOCKED: "refusal",
    EndReason.NOT_ALLOWED: "refusal",
    EndReason.NOT_TRUSTED: "refusal",
}
"""The stop reason of a run. A run that ended for another reason failed, and the request gets an error."""
