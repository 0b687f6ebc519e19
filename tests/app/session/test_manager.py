"""An agent put together: what of the settings, the folder and the options reaches the model and the session."""

import asyncio
import json
import os
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from support.approver import YES, FakeApprover
from support.external_tools import AgentTranscript, ExternalToolsEnv, gated_server, hostile_server, tools_fault
from support.model_servers.gemini import ModelServer, Reply, error_reply, function_call, text_reply
from support.note_tool import NoteTool
from support.process_marks import living_pids
from support.program import ProgramEnv, script_answer, text_script
from support.wait import wait_until_async
from tejat.app.session.lifespan import open_agent
from tejat.core.agent.events import AgentEvent, EndReason, LoopDetected, ModelChanged, Noticed, RunEnded, SessionStarted
from tejat.core.agent.options import AgentOptions
from tejat.core.approval.confirmation import Approver
from tejat.core.errors import ConfigurationError, UsageError
from tejat.core.frozen import replace
from tejat.core.model import FailureKind, ModelFailure

KEY = "a-key-of-a-test"
HELLO = text_script("Hello there.", usage={"prompt": 10, "output": 5})


@pytest.fixture
def machine(tmp_path: Path) -> ProgramEnv:
    return ProgramEnv(tmp_path)


def settings(machine: ProgramEnv, **values: object) -> None:
    (machine.home / ".gemini").mkdir(exist_ok=True)
    (machine.home / ".gemini" / "settings.json").write_text(json.dumps(values))


def options(machine: ProgramEnv, script: str | None = None, **more: Any) -> AgentOptions:
    model = None if script is None else machine.script(script)
    known = AgentOptions(directories=(str(machine.project),), model=model, environment=machine.environment)
    return replace(known, **more)


def run(
    wanted: AgentOptions, *prompts: str, approver: Approver | None = None
) -> tuple[list[RunEnded], list[AgentEvent]]:
    events: list[AgentEvent] = []

    async def main() -> list[RunEnded]:
        async with open_agent(wanted, approver) as session:
            return [await session.prompt(prompt, events.append) for prompt in prompts]

    return asyncio.run(main()), events


def sent(machine: ProgramEnv, *prompts: str, replies: Sequence[Reply] = (), **more: Any) -> list[Any]:
    """The bodies of the requests that a Gemini service gets."""
    with ModelServer(replies or [text_reply("Hello.") for _ in prompts]) as server:
        machine.environment |= {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": server.address}
        ended, _ = run(options(machine, **more), *prompts)
        assert [each.reason for each in ended] == [EndReason.FINISHED] * len(prompts)
    return [request.body for request in server.requests]


def system_of(body: Any) -> str:
    return body["systemInstruction"]["parts"][0]["text"]


def journals(machine: ProgramEnv) -> list[Path]:
    return sorted((machine.home / ".local" / "state" / "tejat" / "sessions").rglob("*.jsonl"))


class TestModel:
    def test_without_a_key_the_default_cannot_be_asked(self, machine: ProgramEnv) -> None:
        with pytest.raises(ModelFailure, match=r"No API key for gemini-3\.1-pro-preview") as caught:
            run(options(machine), "hi")
        assert caught.value.kind is FailureKind.NO_KEY

    def test_without_a_key_no_server_is_left(self, machine: ProgramEnv) -> None:
        """Servers are started while the model is loaded."""
        machine.write_user_settings(mcpServers={"early": gated_server(machine.base / "never")})
        with pytest.raises(ModelFailure, match="No API key"):
            run(options(machine), "hi")
        assert living_pids(str(machine.base / "never")) == []

    def test_of_the_settings_the_environment_and_the_options(self, machine: ProgramEnv) -> None:
        def name(**more: Any) -> str:
            _, events = run(options(machine, **more), "hi")
            assert isinstance(events[0], SessionStarted)
            return events[0].model

        first, second, third = (machine.script(HELLO, f"{number}.toml") for number in "123")
        settings(machine, model={"name": first})
        assert name() == first
        machine.environment["GEMINI_MODEL"] = second
        assert name() == second
        assert name(model=third) == third

    def test_another_takes_over_when_it_is_out_of_reach(self, machine: ProgramEnv) -> None:
        other = machine.script(text_script("From the other."), "other.toml")
        settings(machine, model={"fallback": other}, general={"maxAttempts": 1})
        wanted = options(machine, script_answer(fail="unavailable", detail="Busy."))
        (ended,), events = run(wanted, "hi")
        assert ended.text == "From the other."
        (changed,) = [event for event in events if isinstance(event, ModelChanged)]
        assert changed == ModelChanged(wanted.model or "", other, "Busy.")

    @pytest.mark.parametrize(
        ("other", "why"),
        [
            ("nobody", "Unknown model 'nobody'."),
            ("claude-opus-5", "No API key for claude-opus-5."),
        ],
    )
    def test_one_that_cannot_take_over_is_told_with_what_went_wrong_first(
        self, machine: ProgramEnv, other: str, why: str
    ) -> None:
        settings(machine, model={"fallback": other}, general={"maxAttempts": 1})
        (ended, again), _ = run(
            options(machine, script_answer(fail="unavailable", detail="Busy.") + HELLO), "hi", "again"
        )
        assert (ended.reason, ended.failure) == (EndReason.MODEL_FAILED, FailureKind.UNAVAILABLE)
        assert ended.message.startswith(f"Busy. No fallback model is available: {why}")
        assert again.text == "Hello there."

    def test_none_takes_over_in_a_run_that_is_played_again(self, machine: ProgramEnv) -> None:
        settings(machine, general={"maxAttempts": 1})
        recording = str(machine.project.parent / "recording.jsonl")
        run(options(machine, script_answer(fail="unavailable", detail="Busy."), record=recording), "hi")
        settings(machine, model={"fallback": machine.script(HELLO, "other.toml")})
        (ended,), _ = run(options(machine, replay=recording), "hi")
        assert (ended.failure, ended.message) == (FailureKind.UNAVAILABLE, "Busy.")

    def test_it_is_tried_as_often_as_the_settings_say(self, machine: ProgramEnv) -> None:
        settings(machine, model={"name": "gemini-2.5-flash"}, general={"maxAttempts": 2})
        busy = error_reply(503, "busy", retry_after="0")
        with ModelServer([busy, busy, busy]) as server:
            machine.environment |= {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": server.address}
            (ended,), _ = run(options(machine), "hi")
        assert (ended.failure, len(server.requests)) == (FailureKind.UNAVAILABLE, 2)


class TestPrompts:
    @pytest.mark.parametrize("prompt", ["@notes.txt", "/look", "/look @notes.txt"])
    def test_files_in_them_come_without_the_persons_keys(self, machine: ProgramEnv, prompt: str) -> None:
        secret = "a-secret-of-some-length"
        machine.environment["SERVICE_TOKEN"] = secret
        (machine.project / "notes.txt").write_text(f"The token is {secret}.")
        commands = machine.home / ".gemini" / "commands"
        commands.mkdir(parents=True)
        (commands / "look.toml").write_text('prompt = "Look: @{notes.txt} {{args}}"')
        (body,) = sent(machine, prompt)
        text = json.dumps(body["contents"])
        assert secret not in text
        assert "The token is [the secret SERVICE_TOKEN]." in text


class TestBeginning:
    def test_the_model_is_told_where_and_when_it_is(self, machine: ProgramEnv) -> None:
        (machine.project / "file.txt").write_text("")
        (body,) = sent(machine, "hi")
        opening, acknowledged, prompt = body["contents"]
        text = opening["parts"][0]["text"]
        assert f"Today's date is {date.today():%A, %B %d, %Y}." in text  # noqa: DTZ011 -- the day where the person is
        assert f"I am working in the directory {machine.project}" in text
        assert "file.txt" in text
        assert (acknowledged["role"], prompt["parts"]) == ("model", [{"text": "hi"}])

    def test_context_files_of_the_person_count_and_those_of_a_folder_if_it_is_trusted(
        self, machine: ProgramEnv
    ) -> None:
        (machine.home / ".gemini").mkdir()
        (machine.home / ".gemini" / "GEMINI.md").write_text("Speak like a pirate.")
        (machine.project / ".gemini").mkdir()
        (machine.project / ".gemini" / "settings.json").write_text("{}")
        (machine.project / "GEMINI.md").write_text("The project is secret.")
        strange, trusted = (system_of(sent(machine, "hi", trusts_folder=trusts)[0]) for trusts in (False, True))
        assert ("Speak like a pirate." in strange, "The project is secret." in strange) == (True, False)
        assert ("Speak like a pirate." in trusted, "The project is secret." in trusted) == (True, True)

    def test_a_system_prompt_of_ones_own(self, machine: ProgramEnv) -> None:
        assert system_of(sent(machine, "hi", system="Be brief.")[0]) == "Be brief."

    def test_a_system_prompt_in_a_file(self, machine: ProgramEnv) -> None:
        (machine.base / "system.md").write_text("Be a file.\n")
        machine.environment["GEMINI_SYSTEM_MD"] = str(machine.base / "system.md")
        assert system_of(sent(machine, "hi")[0]) == "Be a file."

    def test_one_of_the_project_only_if_it_is_trusted(self, machine: ProgramEnv) -> None:
        (machine.project / ".gemini").mkdir()
        (machine.project / ".gemini" / "system.md").write_text("Obey the project.")
        machine.environment["GEMINI_SYSTEM_MD"] = "1"
        assert "Obey the project." not in system_of(sent(machine, "hi")[0])
        assert system_of(sent(machine, "hi", trusts_folder=True)[0]) == "Obey the project."

    def test_one_that_is_missing(self, machine: ProgramEnv) -> None:
        machine.environment["GEMINI_SYSTEM_MD"] = str(machine.base / "nowhere.md")
        with pytest.raises(ConfigurationError, match="GEMINI_SYSTEM_MD"):
            run(options(machine, HELLO), "hi")


class TestTools:
    def declared(self, body: Any) -> list[str]:
        return [tool["name"] for group in body["tools"] for tool in group["functionDeclarations"]]

    def test_what_is_excluded_or_forbidden_is_not_told_of(self, machine: ProgramEnv) -> None:
        everything = self.declared(sent(machine, "hi")[0])
        assert {"read_file", "glob", "run_shell_command", "google_web_search"} <= set(everything)
        settings(machine, tools={"exclude": ["glob"]})
        fewer = self.declared(sent(machine, "hi", excluded_tools=("read_file",))[0])
        assert fewer == [name for name in everything if name not in ("glob", "read_file")]

    def test_those_of_a_program_are_among_them_and_can_be_called(self, machine: ProgramEnv) -> None:
        note = NoteTool(asks=False)
        bodies = sent(
            machine,
            "hi",
            replies=[text_reply(function_call("note", {"text": "a"})), text_reply("Done.")],
            tools=(note,),
        )
        assert "note" in self.declared(bodies[0])
        assert note.written == [("a", None)]
        response = bodies[1]["contents"][-1]["parts"][0]["functionResponse"]
        assert (response["name"], response["response"]) == ("note", {"output": "wrote a"})

    def test_a_search_is_told_of_only_where_somebody_can_search(self, machine: ProgramEnv) -> None:
        async def names(wanted: AgentOptions) -> list[str]:
            async with open_agent(wanted, None) as session:
                return [tool.name for tool in session.conversation.template.declarations()]

        assert "google_web_search" not in asyncio.run(names(options(machine, HELLO)))
        settings(machine, web={"searchUrl": "http://127.0.0.1:1/search"})
        assert "google_web_search" in asyncio.run(names(options(machine, HELLO)))

    def test_modes_and_rules_of_the_options_count(self, machine: ProgramEnv) -> None:
        script = script_answer(calls=[("write_file", {"file_path": "a.txt", "content": "x"})]) + text_script("Done.")
        run(options(machine, script), "hi")
        assert not (machine.project / "a.txt").exists()
        run(options(machine, script, mode="auto_edit"), "hi")
        assert (machine.project / "a.txt").exists()


class TestForeignTools:
    @pytest.fixture
    def env(self, tmp_path: Path) -> ExternalToolsEnv:
        return ExternalToolsEnv(tmp_path)

    def test_without_a_person_they_are_waited_for(self, env: ExternalToolsEnv) -> None:
        gate = env.base / "gate"
        env.write_user_settings(mcpServers={"late": gated_server(gate, trust=True)})

        async def main() -> AgentTranscript:
            async with env.open_session("late__echo") as (session, transcript):
                task = asyncio.ensure_future(session.prompt("go", transcript.events.append))
                await asyncio.sleep(0.2)
                assert transcript.requests == []
                gate.touch()
                transcript.results.append(await task)
            return transcript

        transcript = asyncio.run(main())
        assert "late__echo" in transcript.declared_names()
        assert transcript.responses == ["<untrusted_context>\n{}\n</untrusted_context>"]
        assert (transcript.warnings, transcript.notes) == ([], [])

    def test_a_person_does_not_wait_and_gets_them_later(
        self, env: ExternalToolsEnv, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("tejat.app.session.session_parts._STARTUP_WAIT_SECONDS", 0.05)
        gate = env.base / "gate"
        env.write_user_settings(mcpServers={"late": gated_server(gate)})

        async def main() -> AgentTranscript:
            async with env.open_session(approver=FakeApprover([YES])) as (session, transcript):
                await session.prompt("go", transcript.events.append)
                assert transcript.declared_names() == []
                # Once is enough: the next prompt waits no more, and nobody is told again.
                monkeypatch.setattr("tejat.app.session.session_parts._STARTUP_WAIT_SECONDS", 3600.0)
                await session.prompt("and", transcript.events.append)
                gate.touch()
                declarations = session.conversation.template.declarations
                await wait_until_async(lambda: "late__echo" in [tool.name for tool in declarations()])
                await session.prompt("on", transcript.events.append)
            return transcript

        transcript = asyncio.run(main())
        assert "late__echo" in transcript.declared_names(2)
        assert transcript.notes == ["Still starting: MCP server late. The tools will be available later."]
        assert transcript.warnings == []

    def test_who_stops_while_they_are_waited_for_can_go_on(self, env: ExternalToolsEnv) -> None:
        gate = env.base / "gate"
        env.write_user_settings(mcpServers={"late": gated_server(gate)})

        async def main() -> AgentTranscript:
            async with env.open_session() as (session, transcript):
                task = asyncio.ensure_future(session.prompt("go", transcript.events.append))
                await asyncio.sleep(0.05)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                gate.touch()
                transcript.results.append(await session.prompt("on", transcript.events.append))
            return transcript

        transcript = asyncio.run(main())
        assert [event.reason for event in transcript.events if isinstance(event, RunEnded)] == [
            EndReason.INTERRUPTED,
            EndReason.FINISHED,
        ]
        assert "late__echo" in transcript.declared_names()

    def test_the_time_of_a_run_goes_on_while_they_are_waited_for(self, env: ExternalToolsEnv) -> None:
        env.write_user_settings(mcpServers={"mute": hostile_server("silent=initialize")})
        (ended,) = env.run_agent(timeout=0.3).results
        assert ended.reason is EndReason.TIME_LIMIT

    def test_those_that_fail_are_named_in_the_result(self, env: ExternalToolsEnv) -> None:
        env.write_user_settings(
            mcpServers={
                "mute": hostile_server("silent=initialize", startTimeout=200),
                "dead": hostile_server("die=start", "words=no licence"),
                "weak": hostile_server("die=tools/call", trust=True),
            },
            tools={"discoveryCommand": "/bin/false"},
        )
        script = script_answer(calls=[("weak__add", {})]) + text_script("Done.")
        done = env.run("-p", "hi", "-m", env.script(script), "-o", "json", "--trust")
        assert (done.code, done.json["response"]) == (0, "Done.")
        warnings = sorted(done.json["warnings"])
        assert [warning.partition(":")[0] for warning in warnings] == [
            "MCP server dead (handshake)",
            "MCP server mute (handshake)",
            "MCP server weak (call)",
            'Tool discovery command "/bin/false" failed',
        ]
        assert warnings[0].endswith("no licence")
        assert "did not complete the handshake within 0.2 seconds" in warnings[1]

    def test_of_very_many_only_an_index_is_told_and_what_is_found_in_it(self, env: ExternalToolsEnv) -> None:
        tools = [{"name": f"tool{number}", "description": "word " * 20} for number in range(30)]
        weather = {"name": "weather", "description": "Tells how warm it is in a town."}
        env.write_user_settings(
            mcpServers={"big": hostile_server(tools_fault(*tools, weather), trust=True, description="Everything.")},
            tools={"indexAboveTokens": 500},
        )
        replies = [
            text_reply(function_call("find_tools", {"query": "warm town", "limit": 1})),
            text_reply(function_call("big__weather", {"a": 1})),
            text_reply(function_call("tool7", {})),
        ]
        transcript = env.run_agent(*replies)
        assert transcript.declared_names() == ["find_tools"]
        assert "big" in transcript.declaration("find_tools")["description"]
        assert transcript.declared_names(1) == transcript.declared_names(2) == ["find_tools", "big__weather"]
        assert transcript.declared_names(3) == ["find_tools", "big__weather", "big__tool7"]
        assert transcript.responses[0].startswith("These can be called from now on:\n- big__weather: ")
        assert transcript.responses[1:] == [
            f"<untrusted_context>\n{given}\n</untrusted_context>" for given in ('{"a": 1}', "{}")
        ]

    def test_just_below_the_limit_all_are_told(self, env: ExternalToolsEnv) -> None:
        env.write_user_settings(mcpServers={"big": hostile_server()}, tools={"indexAboveTokens": 2_000})
        assert {"big__echo", "big__change"} <= set(env.run_agent().declared_names())
        env.write_user_settings(mcpServers={"big": hostile_server()}, tools={"indexAboveTokens": 100})
        assert env.run_agent().declared_names() == ["find_tools"]

    def test_those_of_a_trusted_folder_in_python(self, env: ExternalToolsEnv) -> None:
        directory = env.project / ".gemini" / "tools"
        directory.mkdir(parents=True)
        code = "from tejat import Kind, tool\n@tool(kind=Kind.READ)\ndef tide(at: str) -> str:\n    'Tells the tide.'\n"
        (directory / "sea.py").write_text(f'{code}    return f"high at {{at}}"\n')
        (directory / "broken.py").write_text("import no_such_module\n")
        (directory / "taken.py").write_text(code.replace("def tide", "def read_file") + "    return at\n")
        script = script_answer(calls=[("tide", {"at": "noon"})]) + text_script("Done.")
        assert "tide" not in env.run_agent(trusts_folder=False).declared_names()
        transcript = env.run_agent(text_reply(function_call("tide", {"at": "noon"})))
        assert transcript.declared_names() == ["tide"]
        assert transcript.responses == ["high at noon"]
        assert any("broken.py" in note and "no_such_module" in note for note in transcript.notes)
        assert any("taken.py" in note and '"read_file" already belongs to' in note for note in transcript.notes)
        done = env.run("-p", "hi", "-m", env.script(script), "--trust")
        assert (done.code, done.stdout) == (0, "Done.\n")
        assert "no_such_module" in done.stderr


class TestLimits:
    LOOP = script_answer(calls=[("glob", {"pattern": "*"})], usage={"prompt": 10, "output": 5}) * 12

    def test_turns_of_the_settings_and_of_the_options(self, machine: ProgramEnv) -> None:
        settings(machine, maxSessionTurns=3)
        (ended,), _ = run(options(machine, self.LOOP), "hi")
        assert (ended.reason, ended.turns) == (EndReason.TURN_LIMIT, 3)
        (ended,), _ = run(options(machine, self.LOOP, max_turns=2), "hi")
        assert (ended.reason, ended.turns) == (EndReason.TURN_LIMIT, 2)

    def test_tokens(self, machine: ProgramEnv) -> None:
        answers = script_answer(calls=[("glob", {"pattern": "*"})], usage={"prompt": 9_000, "output": 500}) * 12
        (ended,), _ = run(options(machine, answers, max_tokens=19_000), "hi")
        assert (ended.reason, ended.usage.total) == (EndReason.TOKEN_LIMIT, 9_500)
        assert ended.message.startswith("The next request (about 9,")
        assert ended.message.endswith("would exceed the limit of 19,000 tokens (9,500 used).")

    def test_limits_of_a_program_are_named_as_its_arguments(self, machine: ProgramEnv) -> None:
        settings(machine, maxSessionTurns=1)
        of_program = options(machine, self.LOOP, max_turns=2, names_arguments=True)
        (ended,), _ = run(of_program, "hi")
        assert ended.message == "Reached the limit of 2 turns. Increase max_turns to continue."
        (ended,), _ = run(options(machine, self.LOOP, max_tokens=20, names_arguments=True), "hi")
        assert ended.message.endswith("of 20 tokens (0 used). Increase max_tokens to continue.")
        (ended,), _ = run(options(machine, self.LOOP, names_arguments=True), "hi")
        assert ended.message.endswith("by specifying maxSessionTurns in settings.json.")

    def test_money_at_the_persons_own_prices(self, machine: ProgramEnv) -> None:
        settings(machine, model={"prices": {"scripted": {"input": 100_000.0, "cached": 0, "output": 0}}})
        (ended,), _ = run(options(machine, self.LOOP, max_cost=1.5), "hi")
        assert (ended.reason, ended.cost, ended.turns) == (EndReason.COST_LIMIT, 2.0, 2)

    def test_time(self, machine: ProgramEnv) -> None:
        (ended,), _ = run(options(machine, script_answer(say="one two", pause=30), timeout=0.3), "hi")
        assert ended.reason is EndReason.TIME_LIMIT

    @pytest.mark.parametrize(("is_off", "found"), [(False, 2), (True, 0)])
    def test_loops_unless_nobody_wants_to_hear_of_them(self, machine: ProgramEnv, is_off: bool, found: int) -> None:
        settings(machine, model={"disableLoopDetection": is_off})
        (ended,), events = run(options(machine, self.LOOP), "hi")
        assert len([event for event in events if isinstance(event, LoopDetected)]) == found
        assert ended.reason is (EndReason.MODEL_FAILED if is_off else EndReason.LOOP)


class TestSessions:
    def test_are_kept_under_their_id(self, machine: ProgramEnv) -> None:
        _, events = run(options(machine, HELLO, session_id="mine"), "hi")
        assert isinstance(events[0], SessionStarted)
        assert events[0].session_id == "mine"
        (journal,) = journals(machine)
        assert '"session":"mine"' in journal.read_text()
        assert (journal.stat().st_mode & 0o777, journal.parent.stat().st_mode & 0o777) == (0o600, 0o700)

    def test_have_ids_of_their_own_else(self, machine: ProgramEnv) -> None:
        ids: set[str] = set()
        for _ in range(3):
            _, events = run(options(machine, HELLO), "hi")
            assert isinstance(events[0], SessionStarted)
            ids.add(events[0].session_id)
        assert len(ids) == 3
        assert all(len(each) == 36 and each[14] == "4" and each[19] in "89ab" for each in ids)

    def test_none_is_kept_that_should_not_be(self, machine: ProgramEnv) -> None:
        run(options(machine, HELLO, keeps_session=False), "hi")
        assert journals(machine) == []

    def test_none_is_kept_in_which_nothing_was_asked(self, machine: ProgramEnv) -> None:
        run(options(machine, HELLO))
        assert journals(machine) == []

    def test_no_secret_is_in_them_or_in_a_recording(self, machine: ProgramEnv) -> None:
        machine.environment["GEMINI_API_KEY"] = "AIza-very-secret-key"
        recording = machine.base / "recording.jsonl"
        script = text_script("Your key is AIza-very-secret-key.")
        run(options(machine, script, record=str(recording)), "is AIza-very-secret-key my key?")
        for written in (*journals(machine), recording):
            assert "very-secret" not in written.read_text()
            assert "my key?" in written.read_text()

    def test_go_on_with_everything_that_was_said(self, machine: ProgramEnv) -> None:
        first = sent(machine, "my name is Ada")
        resumed = sent(machine, "who am I?", resume="latest")
        assert resumed[0]["contents"][: len(first[0]["contents"])] == first[0]["contents"]
        assert [content["parts"][0]["text"] for content in resumed[0]["contents"][-2:]] == ["Hello.", "who am I?"]
        assert len(journals(machine)) == 1

    def test_one_that_is_not_there(self, machine: ProgramEnv) -> None:
        with pytest.raises(UsageError, match="No sessions in this project"):
            run(options(machine, HELLO, resume="latest"), "hi")

    def test_two_at_once_do_not_take_the_same(self, machine: ProgramEnv) -> None:
        run(options(machine, HELLO), "hi")

        async def main() -> None:
            async with open_agent(options(machine, HELLO, resume="latest"), None) as session:
                await session.prompt("again", lambda _: None)
                with pytest.raises(UsageError, match="open in another process"):
                    async with open_agent(options(machine, HELLO, resume="latest"), None):
                        pass

        asyncio.run(main())


class TestReplay:
    def test_takes_place_when_it_took_place_and_is_not_kept(self, machine: ProgramEnv) -> None:
        recording = str(machine.base / "recording.jsonl")
        _, first = run(options(machine, HELLO, record=recording), "hi")

        async def main() -> tuple[float | None, list[AgentEvent]]:
            events: list[AgentEvent] = []
            async with open_agent(options(machine, replay=recording), None) as session:
                await session.prompt("hi", events.append)
                return session.info.recorded_at, events

        recorded_at, again = asyncio.run(main())
        assert first[0] == again[0]
        assert recorded_at is not None
        assert abs(recorded_at - os.stat(recording).st_mtime) < 60
        assert len(journals(machine)) == 1

    def test_what_is_no_recording(self, machine: ProgramEnv) -> None:
        with pytest.raises(UsageError, match="not a recording"):
            run(options(machine, replay=machine.script(HELLO).partition(":")[2]), "hi")


def test_what_the_folder_may_not_do_is_noted(machine: ProgramEnv) -> None:
    (machine.project / ".gemini").mkdir()
    (machine.project / ".gemini" / "settings.json").write_text('{"model": "nonsense"}')
    (ended,), events = run(options(machine, HELLO), "hi")
    assert ended.reason is EndReason.FINISHED
    assert [event.message for event in events if isinstance(event, Noticed)] == [
        "This folder is not trusted: its configuration is ignored (.gemini/settings.json). See `tejat trust`."
    ]
