"""The web page served by a thread of this process, with sessions and scripted models in it."""

import asyncio
import gc
import http.client
import json
import threading
from collections.abc import Callable, Coroutine, Generator, Mapping
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlsplit

from support.command_runner import HELLO
from support.interactive import InteractiveEnv
from support.web.sessions import LocalSession, LocalSessions
from tejat.app.inspection.history.stored_history import StoredHistory
from tejat.app.run_config import load_run_config
from tejat.ui.web.server import ListeningServer, WebOptions, serve_web
from tejat.workspace.http.server import HttpServer

_Result = TypeVar("_Result")
SECONDS = 60


@dataclass(frozen=True)
class Answer:
    """A response of the server."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class WebServer:
    """A running server. `run` runs a coroutine in its event loop, where the sessions are, too."""

    env: InteractiveEnv
    loop: asyncio.AbstractEventLoop
    sessions: LocalSessions
    stack: AsyncExitStack
    link: str = ""
    cookie: str = ""
    key: str = ""
    headers: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def port(self) -> int:
        port = urlsplit(self.link).port
        assert port is not None
        return port

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def token(self) -> str:
        return parse_qs(urlsplit(self.link).query)["token"][0]

    def run(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(SECONDS)

    def call(self, work: Callable[[], _Result]) -> _Result:
        """Call a function in the event loop."""

        async def main() -> _Result:
            return work()

        return self.run(main())

    def add_session(self, session_id: str = "s1", script: str = HELLO, **options: Any) -> LocalSession:
        """Open a session with a scripted model of its own."""

        async def main() -> LocalSession:
            path = self.env.base / f"{session_id}.toml"
            path.write_text(script)
            agent = self.env.agent_options("", model=f"scripted:{path}", **options)
            return await self.stack.enter_async_context(self.sessions.session(session_id, agent))

        return self.run(main())

    def request(self, method: str, path: str, body: Any = None, **headers: str | None) -> Answer:
        """Send a request as the page would; a header that is None is left out. Underscores stand for hyphens."""
        own: dict[str, str | None] = {"cookie": self.cookie, "x-tejat-key": self.key}
        if method == "POST":
            own |= {"origin": self.address, "content-type": "application/json"}
        own |= {name.replace("_", "-"): text for name, text in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
            sent = {name: text for name, text in own.items() if text is not None}
            connection.request(method, path, data, sent)
            response = connection.getresponse()
            found = {name.lower(): text for name, text in response.getheaders()}
            return Answer(response.status, found, response.read())
        finally:
            connection.close()

    def cut_connections(self) -> int:
        """Abort all connections of browsers, as a server that is overloaded may; return how many there were."""

        def cut() -> int:
            servers = [each for each in gc.get_objects() if isinstance(each, HttpServer) and each.port == self.port]
            connections = [each for server in servers for each in server._connections.values()]
            for connection in connections:
                connection._writer.transport.abort()
            return len(connections)

        return self.call(cut)

    def sign_in(self) -> None:
        answer = self.request("GET", f"/?token={self.token}", cookie=None)
        assert answer.status == 303
        self.cookie = answer.headers["set-cookie"].partition(";")[0]
        self.key = answer.headers["location"].partition("#key=")[2]

    def get(self, path: str) -> Any:
        answer = self.request("GET", path)
        assert answer.status == 200, answer
        return answer.json

    def post(self, path: str, body: Any) -> Any:
        answer = self.request("POST", path, body)
        assert answer.status == 200, answer
        return answer.json


@contextmanager
def open_web_server(env: InteractiveEnv, options: WebOptions | None = None) -> Generator[WebServer]:
    """Serve the page until the end of the context."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    config = load_run_config([str(env.project)], faults=[], environment=env.environment)
    sessions = LocalSessions(StoredHistory(config))
    server = WebServer(env, loop, sessions, AsyncExitStack())

    async def start() -> asyncio.Task[None]:
        listening: asyncio.Future[ListeningServer] = loop.create_future()
        task = asyncio.create_task(serve_web(sessions, options or WebOptions(port=0), listening.set_result))
        await asyncio.wait((task, listening), return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            task.result()
        server.link = listening.result().link
        return task

    async def stop(task: "asyncio.Task[None]") -> None:
        task.cancel()
        await asyncio.wait((task,))
        await server.stack.aclose()

    try:
        task = server.run(start())
        try:
            yield server
        finally:
            server.run(stop(task))
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
