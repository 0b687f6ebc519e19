"""Dialogs of the client: which tool call they name, and which answers count."""

import asyncio

import pytest

from support.acp_client import AnsweringClient, Json
from tejat.core.approval.confirmation import ApprovalRequest, InfoConfirmation
from tejat.core.messages.types import FunctionCall
from tejat.core.tools.call_events import CallState, StateChanged
from tejat.ui.acp.permissions.dialogs import ClientDialogs, DialogSubject, random_token
from tejat.ui.acp.updates.content_blocks import text_content

SUBJECT = DialogSubject("Do it", "other", (text_content("Really?"),), ({"path": "/w/b"},))
REQUEST = ApprovalRequest(InfoConfirmation("Confirm", "Go on?"), "note")
SHELL = FunctionCall("run_shell_command", {"command": "make"}, "c1")


def dialogs(client: AnsweringClient) -> ClientDialogs:
    return ClientDialogs(client, "s1", client.updates)


def client_of(answer: Json, **capabilities: bool) -> AnsweringClient:
    return AnsweringClient(lambda _method, _params: answer, **capabilities)


class TestCalls:
    def test_a_question_about_a_call_names_it_and_shows_all_of_it(self) -> None:
        client = client_of({}, shows_terminal_output=True)
        (announced,) = client.handle(StateChanged(2, SHELL, CallState.AWAITING_APPROVAL))
        request = ApprovalRequest(REQUEST.confirmation, "run_shell_command", call_index=2)
        with dialogs(client).call_of(request, SUBJECT) as call:
            assert call.fields == {
                "toolCallId": announced["toolCallId"],
                "title": "make",
                "kind": "execute",
                "locations": [{"path": "/w/b"}],
                "rawInput": {"command": "make"},
                "content": [text_content("Really?"), {"type": "terminal", "terminalId": announced["toolCallId"]}],
                "status": "pending",
            }
        assert client.sent == [announced]

    @pytest.mark.parametrize(("is_approved", "status"), [(True, "completed"), (False, "failed")])
    def test_another_question_is_a_call_of_its_own(self, is_approved: bool, status: str) -> None:
        client = client_of({})
        with dialogs(client).call_of(REQUEST, SUBJECT) as call:
            call.is_approved = is_approved
        begun, ended = client.sent
        assert begun == {"sessionUpdate": "tool_call", **call.fields}
        assert (begun["title"], begun["status"]) == ("Do it", "pending")
        assert ended == {"sessionUpdate": "tool_call_update", "toolCallId": call.call_id, "status": status}

    def test_a_question_that_is_withdrawn_ends_its_call(self) -> None:
        client = client_of({})
        with pytest.raises(asyncio.CancelledError), dialogs(client).call_of(REQUEST, SUBJECT):
            raise asyncio.CancelledError
        assert client.sent[-1]["status"] == "failed"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"outcome": {"outcome": "selected", "optionId": "x:yes"}}, "x:yes"),
        ({"outcome": {"outcome": "cancelled"}}, None),
        ({"outcome": {"outcome": "cancelled", "optionId": "x:yes"}}, None),
        ({"outcome": {"outcome": "other", "optionId": "x:yes"}}, ""),
        ({"outcome": {"optionId": "x:yes"}}, ""),
        ({"outcome": {"outcome": "selected"}}, ""),
        ({"outcome": {"outcome": "selected", "optionId": ["x:yes"]}}, ""),
        ({"outcome": "selected", "optionId": "x:yes"}, ""),
        ({"outcome": None}, ""),
        ({}, ""),
    ],
)
def test_answers_to_permission_requests(answer: Json, expected: str | None) -> None:
    async def main() -> str | None:
        client = client_of(answer)
        with dialogs(client).call_of(REQUEST, SUBJECT) as call:
            options: Json = {"optionId": "x:yes", "name": "Yes", "kind": "allow_once"}
            return await dialogs(client).request_permission(call, [options])

    assert asyncio.run(main()) == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"action": "accept", "content": {"a": 1}}, {"a": 1}),
        ({"action": "accept", "content": {}}, {}),
        ({"action": "accept"}, None),
        ({"action": "accept", "content": [1]}, None),
        ({"action": "decline", "content": {"a": 1}}, None),
        ({"action": "cancel"}, None),
        ({}, None),
    ],
)
def test_answers_to_forms(answer: Json, expected: Json | None) -> None:
    client = client_of(answer)
    schema: Json = {"type": "object", "properties": {"a": {"type": "integer"}}}
    assert asyncio.run(dialogs(client).show_form("Fill in", schema, "call-1")) == expected
    assert client.requests == [
        (
            "elicitation/create",
            {
                "sessionId": "s1",
                "toolCallId": "call-1",
                "mode": "form",
                "message": "Fill in",
                "requestedSchema": schema,
            },
        )
    ]


@pytest.mark.parametrize(
    ("answer", "expected"), [({"action": "accept"}, True), ({"action": "cancel"}, False), ({}, False)]
)
def test_web_pages(answer: Json, expected: bool) -> None:
    client = client_of(answer)
    assert asyncio.run(dialogs(client).open_page("https://a/", "Open it")) is expected
    ((_, params),) = client.requests
    assert (params["mode"], params["url"], len(params["elicitationId"])) == ("url", "https://a/", 24)


def test_tokens_differ() -> None:
    assert len({random_token() for _ in range(1000)}) == 1000
