"""A client of the Agent Client Protocol that answers requests, each of which is checked against the protocol."""

import asyncio
from collections.abc import Callable
from typing import Any, cast

from support.acp_schema import check_request
from support.acp_updates import RecordingClient
from tejat.core.approval.confirmation import ApprovalReply, ApprovalRequest
from tejat.core.messages.types import JsonObject
from tejat.ui.acp.client import ClientCapabilities
from tejat.ui.acp.permissions.client_approver import ClientApprover

Json = dict[str, Any]
Answer = Callable[[str, Json], Json]
"""Answers a request by its method and its parameters. May raise PeerError."""


class AnsweringClient(RecordingClient):
    """Keeps requests and updates; `answer` answers the requests."""

    def __init__(self, answer: Answer, **capabilities: bool) -> None:
        super().__init__(ClientCapabilities(**capabilities))
        self.requests: list[tuple[str, Json]] = []
        self.answer = answer

    async def request(self, method: str, params: JsonObject) -> JsonObject:
        checked = cast("Json", check_request(method, params))
        self.requests.append((method, checked))
        await asyncio.sleep(0)
        return self.answer(method, checked)

    def notify(self, method: str, params: JsonObject) -> None:
        raise AssertionError("updates go through SessionUpdates")

    def ask(self, request: ApprovalRequest) -> ApprovalReply:
        approver = ClientApprover(self, "s1", self.updates)
        return asyncio.run(approver.ask(request))


def choose(keyword: str) -> Answer:
    """Choose the option with this keyword in permission requests, and decline forms."""

    def answer(method: str, params: Json) -> Json:
        if method != "session/request_permission":
            return {"action": "decline"}
        ids = [option["optionId"] for option in params["options"]]
        (chosen,) = (each for each in ids if each.partition(":")[2] == keyword)
        return {"outcome": {"outcome": "selected", "optionId": chosen}}

    return answer


def fill_in(*contents: Json | None) -> Answer:
    """Accept forms with these contents in turn, None declines; permission requests get the option `tell`."""
    left = list(contents)

    def answer(method: str, params: Json) -> Json:
        if method == "session/request_permission":
            return choose("tell")(method, params)
        content = left.pop(0)
        return {"action": "decline"} if content is None else {"action": "accept", "content": content}

    return answer
