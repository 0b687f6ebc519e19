"""A client and what it gets: introductions, tools, calls under the rules, questions, roots, and an end to it all."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import pytest

from support.mcp.tool_server import (
    ELICITATION_CAPABILITY,
    SERVER_INFO_META,
    FakeClient,
    envelope,
    text_result,
    tool_server,
)
from support.wait import wait_until_async
from tejat.app.tools.tool_host import ToolHostOptions
from tejat.core.messages.types import JsonObject, JsonValue
from tejat.mcp.protocol import (
    HANDSHAKE_REVISIONS,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    META_CAPABILITIES,
    METHOD_NOT_FOUND,
    JsonRpcError,
    JsonRpcNotification,
    JsonRpcRequest,
)
from tejat.ui.mcp_server.approval_form import (
    ALLOW_FOR_SESSION,
    ALLOW_ONCE,
    APPROVE_PLAN,
    APPROVE_PLAN_AUTO_EDIT,
    DENY,
)
from tejat.ui.mcp_server.tool_server import ToolServer

Result = TypeVar("Result")
DENIED = (
    '"write_file" needs approval, but this client cannot ask its user: it did not declare elicitation in form mode. '
    "Add a rule to allow it: allow write_file"
)
NOT_ALLOWED = "[Operation Cancelled] Reason: User did not allow tool call."
PLAIN = ToolHostOptions(sandbox="off")
FREE = ToolHostOptions(sandbox="off", mode="yolo")


def visit(directory: Path, work: Callable[[ToolServer], Awaitable[Result]], options: ToolHostOptions = PLAIN) -> Result:
    async def main() -> Result:
        async with tool_server(directory, options) as server:
            return await work(server)

    return asyncio.run(main())


def chosen(decision: str, **more: JsonValue) -> JsonObject:
    return {"action": "accept", "content": {"decision": decision, **more}}


def writing(directory: Path, text: str = "x\n", name: str = "new.txt") -> JsonObject:
    return {"file_path": str(directory / name), "content": text}


class TestIntroductions:
    @pytest.mark.parametrize("revision", HANDSHAKE_REVISIONS)
    def test_every_revision_of_the_handshake(self, tmp_path: Path, revision: str) -> None:
        async def work(server: ToolServer) -> Any:
            return await FakeClient(server).initialize(revision=revision)

        result = visit(tmp_path, work)
        assert "under\nthe rules" in result.pop("instructions")
        assert result == {
            "protocolVersion": revision,
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "tejat", "title": "Tejat", "version": "1.2.3"},
        }

    @pytest.mark.parametrize("revision", ["1999-01-01", "2026-07-28"])
    def test_whoever_speaks_another_is_offered_the_newest(self, tmp_path: Path, revision: str) -> None:
        async def work(server: ToolServer) -> Any:
            return await FakeClient(server).initialize(revision=revision)

        assert visit(tmp_path, work)["protocolVersion"] == HANDSHAKE_REVISIONS[0]

    def test_nothing_but_ping_comes_before_it_and_it_comes_once(self, tmp_path: Path) -> None:
        async def work(server: ToolServer) -> list[Any]:
            visitor = FakeClient(server)
            early = [await visitor.request("ping"), await visitor.request("tools/list"), await visitor.call("glob", {})]
            await visitor.initialize()
            return [*early, await visitor.initialize(), await visitor.request("nothing"), await visitor.request("ping")]

        first = "The first request must be `initialize`."
        assert visit(tmp_path, work) == [
            {},
            JsonRpcError(2, INVALID_REQUEST, first),
            JsonRpcError(3, INVALID_REQUEST, first),
            JsonRpcError(5, INVALID_REQUEST, "This was said before."),
            JsonRpcError(6, METHOD_NOT_FOUND, "There is no method 'nothing' here."),
            {},
        ]

    def test_discovery(self, tmp_path: Path) -> None:
        async def work(server: ToolServer) -> list[Any]:
            visitor = FakeClient(server)
            return [
                await visitor.request("server/discover", {"_meta": envelope()}),
                await visitor.request("server/discover"),
                await visitor.request("ping", {"_meta": envelope()}),
            ]

        result, *others = visit(tmp_path, work)
        del result["instructions"]
        assert result == {
            "resultType": "complete",
            "supportedVersions": ["2026-07-28", *HANDSHAKE_REVISIONS],
            "capabilities": {"tools": {}},
            "ttlMs": 0,
            "cacheScope": "private",
            "_meta": SERVER_INFO_META,
        }
        assert [other.code for other in others] == [METHOD_NOT_FOUND, METHOD_NOT_FOUND]


class TestTools:
    def test_the_list_is_the_same_for_everybody(self, tmp_path: Path) -> None:
        async def work(server: ToolServer) -> tuple[Any, Any, Any]:
            visitor = FakeClient(server)
            await visitor.initialize()
            stateless = await visitor.request("tools/list", {"_meta": envelope()})
            return await visitor.request("tools/list"), stateless, await visitor.request("tools/list", {"cursor": "2"})

        listed, stateless, paged = visit(tmp_path, work)
        assert listed["tools"][0]["name"] == "list_directory"
        assert stateless == {
            "resultType": "complete",
            "tools": listed["tools"],
            "ttlMs": 0,
            "cacheScope": "private",
            "_meta": SERVER_INFO_META,
        }
        assert paged.code == INVALID_PARAMS

    def test_reading_needs_no_answer(self, tmp_path: Path) -> None:
        (tmp_path / "a.txt").write_text("hello\n")

        async def work(server: ToolServer) -> list[Any]:
            visitor = FakeClient(server)
            await visitor.initialize()
            read: JsonObject = {"path": str(tmp_path / "a.txt")}
            return [await visitor.call("read_file", read), await visitor.call("read_file", read, _meta=envelope())]

        assert visit(tmp_path, work) == [
            text_result("hello\n"),
            {"resultType": "complete", **text_result("hello\n"), "_meta": SERVER_INFO_META},
        ]

    @pytest.mark.parametrize(
        ("params", "words"),
        [
            ({"name": "nothing"}, "Unknown tool: nothing"),
            ({"name": "web_fetch"}, "Unknown tool: web_fetch"),
            ({}, "A call needs the name of a tool."),
            ({"name": 3}, "A call needs the name of a tool."),
            ({"name": "glob", "arguments": ["*"]}, "The arguments of a call are an object."),
        ],
    )
    def test_what_is_no_call(self, tmp_path: Path, params: JsonObject, words: str) -> None:
        async def work(server: ToolServer) -> Any:
            visitor = FakeClient(server)
            await visitor.initialize()
            return await visitor.request("tools/call", params)

        options = ToolHostOptions(excluded_tools=("web_fetch",))
        assert visit(tmp_path, work, options) == JsonRpcError(2, INVALID_PARAMS, words)

    def test_what_a_tool_refuses_is_for_the_model_to_read(self, tmp_path: Path) -> None:
        async def work(server: ToolServer) -> Any:
            visitor = FakeClient(server)
            await visitor.initialize()
            return [
                await visitor.request("tools/call", {"name": "read_file"}),
                await visitor.call("read_file", {"path": 3}),
            ]

        missing, wrong = visit(tmp_path, work)
        assert (missing["isError"], wrong["isError"]) == (True, True)
        assert "path" in missing["content"][0]["text"]

    def test_a_place_that_is_gone_is_told(self, tmp_path: Path) -> None:
        place = tmp_path / "place"
        place.mkdir()

        async def work(server: ToolServer) -> list[Any]:
            visitor = FakeClient(server)
            await visitor.initialize()
            place.rmdir()
            return [await visitor.call("glob", {"pattern": "*"}), await visitor.request("tools/list")]

        called, listed = visit(place, work)
        assert called["isError"]
        assert called["content"][0]["text"].startswith("The tools are not available: ")
        assert listed.code == INTERNAL_ERROR

    def test_reading_does_not_wait_for_a_command(self, tmp_path: Path) -> None:
        async def work(server: ToolServer) -> Any:
            visitor = FakeClient(server)
            await visitor.initialize()
            running = asyncio.create_task(visitor.call("run_shell_command", {"command": "echo > begun; sleep 3600"}))
            await wait_until_async((tmp_path / "begun").exists)
            found = await visitor.call("glob", {"pattern": "*"})
            await visitor.client.close()
            with pytest.raises(asyncio.CancelledError):
                await running
            return found["content"][0]["text"]

        assert "begun" in visit(tmp_path, work, FREE)


class TestAskingInTheHandshake:
    @pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25"])
    def test_yes(self, tmp_path: Path, revision: str) -> None:
        async def work(server: ToolServer) -> tuple[Any, list[JsonRpcRequest]]:
            visitor = FakeClient(server, {"elicitation/create": chosen(ALLOW_ONCE)})
            await visitor.initialize(ELICITATION_CAPABILITY, revision)
            return await visitor.call("write_file", writing(tmp_path)), visitor.requests

        result, (question,) = visit(tmp_path, work)
        path = tmp_path / "new.txt"
        assert result == text_result(f"Successfully created and wrote to new file: {path}.")
        assert path.read_text() == "x\n"
        assert question.id == "tejat-1"
        params: Any = question.params
        assert params.get("mode") == ("form" if revision == "2025-11-25" else None)
        assert params["message"].split("\n")[:2] == ["Confirm Write: new.txt", f"File: {path} (+1 -0)"]

    @pytest.mark.parametrize(
        ("answer", "said"),
        [
            (chosen(DENY), ""),
            (chosen(DENY, reason="Not today."), " They said: Not today."),
            ({"action": "decline"}, ""),
            ({"action": "cancel"}, ""),
            ({"action": "accept"}, ""),
            ({"nonsense": 1}, ""),
            (None, ""),
        ],
    )
    def test_everything_else_is_no(self, tmp_path: Path, answer: JsonObject | None, said: str) -> None:
        async def work(server: ToolServer) -> Any:
            visitor = FakeClient(server, {"elicitation/create": answer})
            await visitor.initialize(ELICITATION_CAPABILITY)
            return await visitor.call("write_file", writing(tmp_path))

        assert visit(tmp_path, work) == text_result(f"{NOT_ALLOWED}{said}", is_error=True)
        assert list(tmp_path.iterdir()) == []

    def test_silence_is_no(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("tejat.ui.mcp_server.server_session._ANSWER_SECONDS", 0.1)

        async def work(server: ToolServer) -> tuple[Any, list[JsonRpcNotification]]:
            visitor = FakeClient(server)
            await visitor.initialize(ELICITATION_CAPABILITY)
            return await visitor.call("write_file", writing(tmp_path)), visitor.notifications

        result, notifications = visit(tmp_path, work)
        assert result == text_result(NOT_ALLOWED, is_error=True)
        assert notifications == [JsonRpcNotification("notifications/cancelled", {"requestId": "tejat-1"})]
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("capabilities", [{}, {"elicitation": {"url": {}}}, {"elicitation": None}])
    def test_who_cannot_be_asked_is_told_the_rule(self, tmp_path: Path, capabilities: JsonObject) -> None:
        async def work(server: ToolServer) -> tuple[Any, list[JsonRpcRequest]]:
            visitor = FakeClient(server)
            await visitor.initialize(capabilities)
            return await visitor.call("write_file", writing(tmp_path)), visitor.requests

        assert visit(tmp_path, work) == (text_result(DENIED, is_error=True), [])
        assert list(tmp_path.iterdir()) == []

    def test_a_rule_of_the_person_is_told_too(self, tmp_path: Path) -> None:
        async def work(server: ToolServer) -> Any:
            visitor = FakeClient(server, {"elicitation/create": chosen(ALLOW_ONCE)})
            await visitor.initialize(ELICITATION_CAPABILITY)
            return await visitor.call("run_shell_command", {"command": "rm -r x"})

        options = ToolHostOptions(sandbox="off", excluded_tools=("run_shell_command(rm)",))
        text = visit(tmp_path, work, options)["content"][0]["text"]
        assert text.startswith("Tool execution denied by policy. ")
        assert text.endswith("(--exclude-tools (tools.exclude))")

    def test_a_yes_for_the_session_lasts_for_that_session(self, tmp_path: Path) -> None:
        async def work(server: ToolServer) -> list[int]:
            asked: list[int] = []
            for decision in (ALLOW_FOR_SESSION, ALLOW_ONCE):
                visitor = FakeClient(server, {"elicitation/create": chosen(decision)})
                await visitor.initialize(ELICITATION_CAPABILITY)
                for name in ("a", "b"):
                    result = await visitor.call("write_file", writing(tmp_path, name=name, text=decision))
                    assert result["isError"] is False
                asked.append(len(visitor.requests))
                await visitor.client.close()
            return asked

        assert visit(tmp_path, work) == [1, 2]

    def test_what_changed_meanwhile_is_asked_about_again(self, tmp_path: Path) -> None:
        path = tmp_path / "new.txt"

        class Slow(FakeClient):
            async def send(self, message: Any) -> None:
                if isinstance(message, JsonRpcRequest) and len(self.requests) == 0:
                    path.write_text("somebody else\n")
                await super().send(message)

        async def work(server: ToolServer) -> list[str]:
            visitor = Slow(server, {"elicitation/create": chosen(ALLOW_ONCE)})
            await visitor.initialize(ELICITATION_CAPABILITY)
            await visitor.call("write_file", writing(tmp_path))
            return [str((question.params or {})["message"]) for question in visitor.requests]

        first, second = visit(tmp_path, work)
        assert "somebody else" not in first
        assert "The file changed in the meantime." in second
        assert "| -somebody else\n| +x\n" in second
        assert path.read_text() == "x\n"


class TestAskingWithoutSessions:
    """The question is the result, and the call is made again with the answer."""

    async def ask(self, server: ToolServer, arguments: JsonObject, **more: JsonValue) -> Any:
        return await FakeClient(server).call("write_file", arguments, _meta=envelope(ELICITATION_CAPABILITY), **more)

    async def answer(self, server: ToolServer, arguments: JsonObject, asked: Any, result: JsonValue) -> Any:
        state = asked["requestState"]
        return await self.ask(server, arguments, inputResponses={"approval": result}, requestState=state)

    def test_yes_counts_once_for_the_very_same_call(self, tmp_path: Path) -> None:
        async def work(server: ToolServer) -> list[Any]:
            arguments = writing(tmp_path)
            asked = await self.ask(server, arguments)
            assert not (tmp_path / "new.txt").exists()
            done = await self.answer(server, arguments, asked, chosen(ALLOW_ONCE))
            (tmp_path / "new.txt").unlink()
            again = await self.answer(server, arguments, asked, chosen(ALLOW_ONCE))
            return [asked, done, again]

        asked, done, again = visit(tmp_path, work)
        question = asked["inputRequests"]["approval"]
        assert question["method"] == "elicitation/create"
        assert question["params"]["mode"] == "form"
        assert f"File: {tmp_path}/new.txt (+1 -0)" in question["params"]["message"].split("\n")
        del asked["inputRequests"], asked["requestState"]
        assert asked == {"resultType": "input_required", "_meta": SERVER_INFO_META}
        path = tmp_path / "new.txt"
        text = f"Successfully created and wrote to new file: {path}."
        assert done == {"resultType": "complete", **text_result(text), "_meta": SERVER_INFO_META}
        assert again["resultType"] == "input_required"
        assert not path.exists()

    def test_a_yes_to_something_else_is_asked_again(self, tmp_path: Path) -> None:
        async def work(server: ToolServer) -> list[str]:
            asked = await self.ask(server, writing(tmp_path, "harmless\n"))
            other = await self.answer(server, writing(tmp_path, "harmful\n"), asked, chosen(ALLOW_ONCE))
            asked = await self.ask(server, writing(tmp_path))
            forged = await self.answer(server, writing(tmp_path), {"requestState": "AAAA"}, chosen(ALLOW_ONCE))
            stateless = await self.ask(server, writing(tmp_path), inputResponses={"approval": chosen(ALLOW_ONCE)})
            silent = await self.ask(server, writing(tmp_path), requestState=asked["requestState"])
            return [each["resultType"] for each in (other, forged, stateless, silent)]

        assert visit(tmp_path, work) == ["input_required"] * 4
        assert list(tmp_path.iterdir()) == []

    def test_a_file_that_changed_meanwhile_is_asked_about_again(self, tmp_path: Path) -> None:
        path = tmp_path / "a.txt"
        path.write_text("one\n")

        async def work(server: ToolServer) -> Any:
            await FakeClient(server).call("read_file", {"path": str(path)}, _meta=envelope())
            edit: JsonObject = {"file_path": str(path), "old_string": "one", "new_string": "two"}
            meta = envelope(ELICITATION_CAPABILITY)
            asked = await FakeClient(server).call("replace", edit, _meta=meta)
            path.write_text("one more\n")
            await FakeClient(server).call("read_file", {"path": str(path)}, _meta=envelope())
            answers: JsonObject = {"approval": chosen(ALLOW_ONCE)}
            state = asked["requestState"]
            return await FakeClient(server).call(
                "replace", edit, _meta=meta, inputResponses=answers, requestState=state
            )

        assert visit(tmp_path, work)["resultType"] == "input_required"
        assert path.read_text() == "one more\n"

    @pytest.mark.parametrize("answer", [chosen(DENY), {"action": "decline"}, {}])
    def test_no(self, tmp_path: Path, answer: JsonObject) -> None:
        async def work(server: ToolServer) -> Any:
            asked = await self.ask(server, writing(tmp_path))
            return await self.answer(server, writing(tmp_path), asked, answer)

        expected = {"resultType": "complete", **text_result(NOT_ALLOWED, is_error=True), "_meta": SERVER_INFO_META}
        assert visit(tmp_path, work) == expected
        assert list(tmp_path.iterdir()) == []

    def test_who_cannot_be_asked_is_told_the_rule(self, tmp_path: Path) -> None:
        async def work(server: ToolServer) -> Any:
            return await FakeClient(server).call("write_file", writing(tmp_path), _meta=envelope())

        assert visit(tmp_path, work) == {
            "resultType": "complete",
            **text_result(DENIED, is_error=True),
            "_meta": SERVER_INFO_META,
        }

    def test_an_envelope_that_is_not_whole_is_refused(self, tmp_path: Path) -> None:
        async def work(server: ToolServer) -> Any:
            meta = {name: value for name, value in envelope().items() if name != META_CAPABILITIES}
            return await FakeClient(server).call("glob", {"pattern": "*"}, _meta=meta)

        assert visit(tmp_path, work).code == INVALID_PARAMS


class TestRoots:
    """Directories `a` with a file `a/x` and `b`, and whatever the client says of them."""

    def called(self, tmp_path: Path, roots: JsonObject | None) -> list[Any]:
        async def work(server: ToolServer) -> list[Any]:
            visitor = FakeClient(server, {"roots/list": roots})
            await visitor.initialize({"roots": {"listChanged": True}})
            paths = (given / "a" / "x", given / "b" / "y")
            return [await visitor.call("read_file", {"path": str(path)}) for path in paths]

        given = tmp_path / "given"
        for name in ("a/x", "b/y", "../outside/z"):
            (given / name).parent.mkdir(parents=True)
            (given / name).write_text(f"{name}\n")
        return [result["content"][0]["text"] for result in visit(given, work)]

    def listed(self, *paths: object) -> JsonObject:
        return {
            "roots": [{"uri": path if str(path).startswith("http") else f"file://{path}"} for path in map(str, paths)]
        }

    def test_they_narrow(self, tmp_path: Path) -> None:
        inside, outside = self.called(tmp_path, self.listed(tmp_path / "given" / "a", tmp_path / "outside"))
        assert inside == "a/x\n"
        assert "outside the allowed workspace directories" in outside
        assert outside.endswith(str(tmp_path / "given" / "a"))

    @pytest.mark.parametrize("wide", ["", "given"])
    def test_they_never_widen(self, tmp_path: Path, wide: str) -> None:
        assert self.called(tmp_path, self.listed(tmp_path / wide)) == ["a/x\n", "b/y\n"]

    @pytest.mark.parametrize("roots", [{"roots": []}, {}, None])
    def test_who_has_none_gets_the_given_ones(self, tmp_path: Path, roots: JsonObject | None) -> None:
        assert self.called(tmp_path, roots) == ["a/x\n", "b/y\n"]

    @pytest.mark.parametrize("elsewhere", ["outside", "given/a/x", "nowhere"])
    def test_who_wants_to_work_elsewhere_works_nowhere(self, tmp_path: Path, elsewhere: str) -> None:
        words = f"None of the client's roots lies in the directories of this server, which are {tmp_path / 'given'}."
        assert self.called(tmp_path, self.listed(tmp_path / elsewhere, "https://a.example/")) == [words, words]

    def test_they_are_asked_for_once_and_again_when_they_change(self, tmp_path: Path) -> None:
        (tmp_path / "a").mkdir()
        answers: dict[str, JsonObject | None] = {"roots/list": self.listed(tmp_path / "a")}

        async def work(server: ToolServer) -> tuple[list[bool], list[str]]:
            visitor = FakeClient(server, answers)
            await visitor.initialize({"roots": {}})
            read: JsonObject = {"path": str(tmp_path)}
            found = [await visitor.call("list_directory", read) for _ in range(2)]
            answers["roots/list"] = self.listed(tmp_path)
            visitor.client.handle_message(JsonRpcNotification("notifications/roots/list_changed"))
            found += [await visitor.call("list_directory", read) for _ in range(2)]
            return [result["isError"] for result in found], [question.method for question in visitor.requests]

        assert visit(tmp_path, work) == ([True, True, False, False], ["roots/list", "roots/list"])

    def test_who_does_not_tell_gets_nothing_done(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("tejat.ui.mcp_server.server_session._ROOTS_SECONDS", 0.1)
        answers: dict[str, JsonObject | None] = {}

        async def work(server: ToolServer) -> list[Any]:
            visitor = FakeClient(server, answers)
            await visitor.initialize({"roots": {}})
            silent = await visitor.call("glob", {"pattern": "*"})
            answers["roots/list"] = None
            return [silent, (await visitor.call("glob", {"pattern": "*"}))["isError"]]

        words = "The client was asked for its roots and did not answer, so nothing was done. Try again."
        assert visit(tmp_path, work) == [text_result(words, is_error=True), False]


class TestRunning:
    def test_progress_for_who_wants_it(self, tmp_path: Path) -> None:
        async def work(server: ToolServer) -> list[JsonRpcNotification]:
            visitor = FakeClient(server)
            await visitor.initialize()
            command: JsonObject = {"command": "echo one; sleep 1; echo two; sleep 1"}
            await visitor.call("run_shell_command", command, _meta={"progressToken": "p"})
            return visitor.notifications

        notifications = visit(tmp_path, work, FREE)
        assert {notification.method for notification in notifications} == {"notifications/progress"}
        params: list[Any] = [notification.params for notification in notifications]
        assert [each["progress"] for each in params] == list(range(1, len(params) + 1))
        assert {each["progressToken"] for each in params} == {"p"}
        assert params[-1]["message"] == "one\ntwo\n"

    def test_a_call_that_is_called_off_ends_with_its_command_and_is_not_answered(self, tmp_path: Path) -> None:
        pid_file = tmp_path / "pid"

        async def work(server: ToolServer) -> Any:
            visitor = FakeClient(server)
            await visitor.initialize()
            call: JsonObject = {"name": "run_shell_command", "arguments": {"command": "echo $$ > pid; sleep 3600"}}
            running = asyncio.create_task(visitor.request("tools/call", call, "long"))
            await wait_until_async(lambda: pid_file.exists() and pid_file.read_text())
            for request_id in ("other", None, 7, "long"):
                visitor.client.handle_message(JsonRpcNotification("notifications/cancelled", {"requestId": request_id}))
            return await running, visitor.client.is_idle

        assert visit(tmp_path, work, FREE) == (None, True)
        assert not Path(f"/proc/{pid_file.read_text().strip()}").exists()

    def test_too_many_at_once_and_ids_in_use(self, tmp_path: Path) -> None:
        async def work(server: ToolServer) -> tuple[list[Any], Any]:
            visitor = FakeClient(server)
            await visitor.initialize()
            call: JsonObject = {"name": "run_shell_command", "arguments": {"command": "sleep 3600"}}
            running = [asyncio.create_task(visitor.request("tools/call", call, number)) for number in range(100, 132)]
            await asyncio.sleep(0)
            refused = [await visitor.request("tools/call", call, 100), await visitor.request("ping", None, 200)]
            await visitor.client.close()
            await asyncio.wait(running)
            return refused, await visitor.request("ping", None, 300)

        refused, after = visit(tmp_path, work, FREE)
        assert refused == [
            JsonRpcError(100, INVALID_REQUEST, "This id belongs to a request that is being answered."),
            JsonRpcError(200, INTERNAL_ERROR, "32 requests are being answered. Wait for one of them."),
        ]
        assert after == {}

    def test_answers_to_nothing_and_words_that_nobody_knows_are_left_alone(self, tmp_path: Path) -> None:
        async def work(server: ToolServer) -> Any:
            visitor = FakeClient(server)
            await visitor.initialize()
            visitor.client.handle_message(JsonRpcError(None, 1, "what?"))
            visitor.client.handle_message(JsonRpcError("tejat-9", 1, "what?"))
            visitor.client.handle_message(JsonRpcNotification("notifications/initialized"))
            visitor.client.handle_message(JsonRpcNotification("notifications/cancelled"))
            visitor.client.handle_message(JsonRpcNotification("notifications/cancelled", {"requestId": ["x"]}))
            return await visitor.request("ping")

        assert visit(tmp_path, work) == {}


class TestTodosAndPlans:
    TODOS: ClassVar[JsonObject] = {"todos": [{"description": "Read", "status": "in_progress"}]}

    @pytest.fixture(autouse=True)
    def home(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "home").mkdir()
        monkeypatch.setenv("HOME", str(tmp_path / "home"))

    @pytest.fixture
    def project(self, tmp_path: Path) -> Path:
        (tmp_path / "project").mkdir()
        return tmp_path / "project"

    @pytest.mark.parametrize(("revision", "is_structured"), [("2025-11-25", True), ("2025-03-26", False)])
    def test_todos_are_structured_content(self, project: Path, revision: str, is_structured: bool) -> None:
        async def work(server: ToolServer) -> None:
            visitor = FakeClient(server)
            await visitor.initialize(revision=revision)
            result = await visitor.call("write_todos", self.TODOS)
            assert result["content"][0]["text"].endswith("1. [in_progress] Read")
            assert result.get("structuredContent") == (self.TODOS if is_structured else None)
            cleared = await visitor.call("write_todos", {"todos": []})
            assert cleared.get("structuredContent") == ({"todos": []} if is_structured else None)
            wrong = await visitor.call("write_todos", {"todos": [{"description": "", "status": "pending"}]})
            assert wrong["isError"] is True
            assert "structuredContent" not in wrong

        visit(project, work)

    def test_todos_without_a_session(self, project: Path) -> None:
        async def work(server: ToolServer) -> None:
            result = await FakeClient(server).call("write_todos", self.TODOS, _meta=envelope())
            assert result["structuredContent"] == self.TODOS

        visit(project, work)

    def test_the_documentation(self, project: Path) -> None:
        async def work(server: ToolServer) -> None:
            visitor = FakeClient(server)
            await visitor.initialize()
            listed = (await visitor.call("get_internal_docs", {}))["content"][0]["text"]
            assert "- plan-mode.md" in listed
            page = (await visitor.call("get_internal_docs", {"path": "plan-mode.md"}))["content"][0]["text"]
            assert page.startswith("# Plan mode")

        visit(project, work)

    @pytest.mark.parametrize(
        ("answer", "start", "told"),
        [
            (chosen(APPROVE_PLAN), "default", "Plan approved. Switching to Default mode"),
            (chosen(APPROVE_PLAN), "auto_edit", "Plan approved. Switching to Default mode"),
            (chosen(APPROVE_PLAN_AUTO_EDIT), "auto_edit", "Plan approved. Switching to Auto-Edit mode"),
            (chosen(APPROVE_PLAN_AUTO_EDIT), "default", "Plan rejected."),
            (chosen(ALLOW_ONCE), "default", "Plan rejected."),
            (chosen(ALLOW_FOR_SESSION), "default", "Plan rejected."),
            (chosen(DENY, reason="Smaller steps."), "default", "Plan rejected. User feedback: Smaller steps."),
            ({"action": "decline"}, "default", "Plan rejected."),
            ({"action": "accept"}, "default", "Plan rejected."),
            (None, "default", "Plan rejected."),
        ],
    )
    def test_the_person_at_the_client_approves_a_plan(
        self, project: Path, answer: JsonObject | None, start: str, told: str
    ) -> None:
        async def work(server: ToolServer) -> None:
            visitor = FakeClient(server, {"elicitation/create": answer})
            await visitor.initialize(ELICITATION_CAPABILITY)
            assert not (await visitor.call("enter_plan_mode", {}))["isError"]
            assert not (await visitor.call("write_file", {"file_path": "plan.md", "content": "# Plan\x1b"}))["isError"]
            refused = await visitor.call("write_file", writing(project))
            assert "You are in Plan Mode" in refused["content"][0]["text"]
            assert visitor.requests == []
            left = await visitor.call("exit_plan_mode", {"plan_filename": "plan.md"})
            assert left["content"][0]["text"].startswith(told)
            (request,) = visitor.requests
            assert request.params is not None
            message = str(request.params["message"])
            assert message.split("\n", maxsplit=1)[0] == "Approve plan: plan.md"
            assert "> # Plan<U+001B>" in message

        visit(project, work, ToolHostOptions(sandbox="off", mode=start))

    def test_a_client_that_cannot_ask_gets_no_plan_mode(self, project: Path) -> None:
        async def work(server: ToolServer) -> None:
            visitor = FakeClient(server)
            await visitor.initialize()
            for name in ("enter_plan_mode", "exit_plan_mode"):
                refused = await visitor.call(name, {"plan_filename": "plan.md"})
                assert isinstance(refused, JsonRpcError)
                assert refused.message == f"Unknown tool: {name}"

        visit(project, work)

    def test_the_stateless_revision_has_no_plan_mode(self, project: Path) -> None:
        async def work(server: ToolServer) -> None:
            meta = envelope(ELICITATION_CAPABILITY)
            result = await FakeClient(server).call("enter_plan_mode", {}, _meta=meta)
            assert result["isError"] is True
            assert result["content"][0]["text"] == "Plan mode needs a session in which it is enabled."

        visit(project, work)
