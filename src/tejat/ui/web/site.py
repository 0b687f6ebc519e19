"""The addresses of the page, and who answers them."""

import asyncio
import re
from collections.abc import AsyncGenerator
from contextlib import suppress
from urllib.parse import quote

from tejat.core.errors import TejatError, UsageError
from tejat.core.i18n import _, translate
from tejat.core.log import report_unexpected
from tejat.core.messages.types import JsonObject
from tejat.ui.html.history import render_overview, render_search_results, render_session_history
from tejat.ui.html.transcript import HtmlTranscript
from tejat.ui.web.contract import SessionDirectory, StoredTranscript
from tejat.ui.web.http.access import AccessControl, parse_query
from tejat.ui.web.http.body import read_json
from tejat.ui.web.http.event_stream import EventStream
from tejat.ui.web.http.password import PasswordCheck
from tejat.ui.web.http.responses import error_response, html_response, json_response, stream_response
from tejat.ui.web.http.static_files import StaticFiles
from tejat.ui.web.overview import OverviewFeed, entry_to_json
from tejat.ui.web.page import render_page, render_redirect, render_sign_in
from tejat.ui.web.session.actions import ACTIONS, PAGE_BLOCKS
from tejat.ui.web.session.feeds import SessionFeeds
from tejat.ui.web.session.view_state import ViewState
from tejat.workspace.http.server import HttpError, ServerRequest, ServerResponse
from tejat.workspace.threads.daemon import run_in_daemon

_SESSION_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")
_PAGES = re.compile(r"/(?:session/[A-Za-z0-9._-]{1,128}|history(?:/[A-Za-z0-9._-]{1,128})?)?")
_PERIODS = ("7", "30", "90", "365")
"""Days that the page offers to look back."""


class WebSite:
    """Answers all requests. Everything but the sign-in page needs a browser that is signed in."""

    def __init__(self, directory: SessionDirectory, access: AccessControl, password: PasswordCheck | None) -> None:
        self._directory = directory
        self._access = access
        self._password = password
        self._static = StaticFiles()
        self._overview = OverviewFeed(directory)
        self._feeds = SessionFeeds(directory)
        self._last_stored: tuple[tuple[str, float], ViewState] | None = None

    async def close(self) -> None:
        """Detach from all sessions."""
        await self._overview.close()
        await self._feeds.close()

    async def handle(self, request: ServerRequest) -> ServerResponse:
        """Answer a request. Errors are answers, too."""
        try:
            return await self._respond(request)
        except HttpError as error:
            return error_response(error)
        except UsageError as error:
            return error_response(HttpError(404, translate(error)))
        except TejatError as error:
            return error_response(HttpError(502, translate(error)))
        except Exception as error:  # noqa: BLE001 -- one broken request must not end the page
            return error_response(HttpError(500, report_unexpected(error, "the web page")))

    async def _respond(self, request: ServerRequest) -> ServerResponse:
        self._access.check_origin(request)
        path = request.path
        if path == "/sign-in" and request.method == "POST":
            return await self._sign_in(request)
        if path.startswith("/api/"):
            self._access.check_key(request)
            return await self._respond_with_data(request, path.removeprefix("/api/").split("/"))
        if request.method != "GET":
            raise HttpError(405, "This address takes GET only.", (("allow", "GET"),))
        if path.startswith("/static/"):
            return self._static.respond(request, path.removeprefix("/static/"))
        if not _PAGES.fullmatch(path):
            raise HttpError(404, _("There is no such page."))
        return self._respond_with_page(request)

    def _respond_with_page(self, request: ServerRequest) -> ServerResponse:
        if self._access.accept_token(request):
            return self._exchange_token(request)
        if not self._access.has_cookie(request):
            return html_response(render_sign_in(with_password=self._password is not None), 401)
        return html_response(render_page())

    def _exchange_token(self, request: ServerRequest) -> ServerResponse:
        """Sign the browser in, and lead it to an address without the token.

        The key is in the fragment, which a browser sends to no server. A browser that comes from another site would not
        send a strict cookie after a redirect; a page of ours leads it on.
        """
        target = f"{request.path}#key={self._access.key}"
        if request.headers.get("sec-fetch-site") in ("cross-site", "same-site"):
            return html_response(render_redirect(target), 200, self._access.cookie_header())
        return html_response("", 303, ("location", target), self._access.cookie_header())

    async def _sign_in(self, request: ServerRequest) -> ServerResponse:
        if self._password is None:
            raise HttpError(404, _("There is no such page."))
        fields = await read_json(request)
        try:
            await self._password.check(fields.string("password"))
        except ValueError as error:
            raise HttpError(400, str(error)) from None
        signed_in = json_response({"key": self._access.key})
        return ServerResponse(200, (*signed_in.headers, self._access.cookie_header()), signed_in.body)

    async def _respond_with_data(self, request: ServerRequest, words: list[str]) -> ServerResponse:
        match request.method, words:
            case "GET", ["sessions"]:
                return json_response(await self._overview.list_now())
            case "GET", ["stream"]:
                return await self._open_stream(request)
            case "GET", ["history"]:
                days = parse_query(request.target).get("days", "")
                overview = await self._directory.read_overview(int(days) if days in _PERIODS else None)
                return json_response({"html": render_overview(overview)})
            case "GET", ["history", session_id] if _SESSION_ID.fullmatch(session_id):
                history = await self._directory.read_history(session_id)
                return json_response({"title": history.title, "html": render_session_history(history)})
            case "GET", ["search"]:
                found = await self._directory.search(parse_query(request.target).get("text", ""))
                return json_response({"html": render_search_results(found, lambda each: f"/session/{quote(each)}")})
            case method, ["sessions", session_id, *rest] if _SESSION_ID.fullmatch(session_id) and len(rest) < 2:
                return await self._respond_about_session(request, session_id, (method, "".join(rest)))
            case _:
                raise HttpError(404, _("There is no such page."))

    async def _respond_about_session(
        self, request: ServerRequest, session_id: str, action: tuple[str, str]
    ) -> ServerResponse:
        handler = ACTIONS.get(action)
        if handler is None:
            raise HttpError(404, _("There is no such page."))
        try:
            feed = await self._feeds.get(session_id)
        except UsageError:
            if action not in (("GET", ""), ("GET", "blocks")):
                raise
            return json_response(await self._respond_about_stored(request, session_id))
        try:
            answer = await handler(feed, request)
        except ValueError as error:
            raise HttpError(400, str(error)) from None
        self._overview.refresh()
        if isinstance(answer, dict) and action == ("GET", ""):
            answer = {**answer, "live": True}
        return json_response(answer)

    async def _respond_about_stored(self, request: ServerRequest, session_id: str) -> JsonObject:
        entry, state = await self._read_stored(session_id)
        before = parse_query(request.target).get("before", "")
        blocks, earlier = state.latest_blocks(PAGE_BLOCKS, before=int(before) if before.isdecimal() else None)
        return {
            "live": False,
            "entry": entry,
            "blocks": [block.to_json() for block in blocks],
            "earlier": earlier,
        }

    async def _read_stored(self, session_id: str) -> tuple[JsonObject, ViewState]:
        """The last one that was read is kept while its pieces are loaded."""
        stored = await self._directory.read_stored(session_id)
        key = (session_id, stored.entry.modified)
        if self._last_stored is None or self._last_stored[0] != key:
            self._last_stored = key, await run_in_daemon(lambda: _stored_state(stored))
        return entry_to_json(stored.entry), self._last_stored[1]

    async def _open_stream(self, request: ServerRequest) -> ServerResponse:
        """One stream for everything that a page shows: browsers allow few connections to a server."""
        query = parse_query(request.target)
        streams = [self._overview.stream()]
        session_id = query.get("session", "")
        if _SESSION_ID.fullmatch(session_id):
            feed = await self._feeds.get(session_id)
            streams.append(feed.stream(request.headers.get("last-event-id") or query.get("after", "")))
        return stream_response(EventStream(_merge(streams)))


def _stored_state(stored: StoredTranscript) -> ViewState:
    transcript = HtmlTranscript(root=stored.root)
    for event in stored.events:
        transcript.handle_event(event)
    state = ViewState()
    for block in transcript.blocks():
        state.set_block(block.block_id, block.html, block.parent)
    return state


async def _merge(streams: list[AsyncGenerator[bytes]]) -> AsyncGenerator[bytes]:
    """Yield what any of the streams yields, until all have ended."""
    waiting = {asyncio.ensure_future(anext(stream, None)): stream for stream in streams}
    try:
        while waiting:
            done, _pending = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                stream, message = waiting.pop(task), task.result()
                if message is not None:
                    yield message
                    waiting[asyncio.ensure_future(anext(stream, None))] = stream
    finally:
        for task in waiting:
            task.cancel()
        if waiting:
            await asyncio.wait(waiting)
        for stream in streams:
            with suppress(RuntimeError):
                await stream.aclose()
