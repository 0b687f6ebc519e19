"""An MCP server and an authorisation server in one, which rotates its tokens."""

import asyncio
import base64
import hashlib
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from urllib.parse import parse_qs, urlencode, urlsplit

from support.mcp.transports import http_response, json_response
from support.raw_server import Peer, raw_server


@dataclass
class OAuthServer:
    """`faults` replaces answers by path; `hold` delays answers until it is set.

    If it `is_stateless`, it accepts only the stateless revision and names the required scope.
    """

    url: str = ""
    is_stateless: bool = False
    lifetime: int | None = 3600
    hold: asyncio.Event | None = None
    request_event: asyncio.Event = field(default_factory=asyncio.Event)
    faults: dict[str, bytes] = field(default_factory=dict[str, bytes])
    requests: list[str] = field(default_factory=list[str])
    forms: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    identities: list[str] = field(default_factory=list[str])
    registrations: list[dict[str, object]] = field(default_factory=list[dict[str, object]])
    valid: set[str] = field(default_factory=set[str])
    refresh_tokens: set[str] = field(default_factory=set[str])
    reused: list[str] = field(default_factory=list[str])
    challenges: dict[str, str] = field(default_factory=dict[str, str])
    _numbers: "count[int]" = field(default_factory=lambda: count(1))

    @property
    def mcp(self) -> str:
        return f"{self.url}/mcp"

    async def answer(self, peer: Peer) -> None:
        while True:
            line, headers, body = await peer.request()
            method, target, _ = line.split(" ")
            path = urlsplit(target).path
            self.requests.append(f"{method} {path}")
            self.request_event.set()
            if self.hold is not None:
                await self.hold.wait()
            await peer.send(self.faults.get(path) or self._answer(path, target, headers, body))

    def _answer(self, path: str, target: str, headers: dict[str, str], body: bytes) -> bytes:
        match path:
            case "/mcp":
                token = headers.get("authorization", "").removeprefix("Bearer ")
                if token in self.valid:
                    return json_response({"jsonrpc": "2.0", "id": 1, "result": {"token": token}})
                if self.is_stateless and headers.get("mcp-protocol-version") != "2026-07-28":
                    return http_response("400 Bad Request")
                scope = ', scope="basic"' if self.is_stateless else ""
                meta = f'Bearer resource_metadata="{self.url}/meta"{scope}'
                return http_response("401 Unauthorized", www_authenticate=meta)
            case "/meta":
                known = {"resource": self.mcp, "authorization_servers": [self.url], "scopes_supported": ["all"]}
                return json_response(known)
            case "/.well-known/oauth-authorization-server":
                return json_response(
                    {
                        "issuer": self.url,
                        "authorization_endpoint": f"{self.url}/authorize",
                        "token_endpoint": f"{self.url}/token",
                        "registration_endpoint": f"{self.url}/register",
                    }
                )
            case "/register":
                self.registrations.append(json.loads(body))
                return json_response({**json.loads(body), "client_id": f"client-{next(self._numbers)}"}, "201 Created")
            case "/authorize":
                return self._authorise({name: values[0] for name, values in parse_qs(urlsplit(target).query).items()})
            case "/token":
                self.identities.append(headers.get("authorization", ""))
                return self._grant({name: values[0] for name, values in parse_qs(body.decode()).items()})
            case _:
                return http_response("404 Not Found")

    def _authorise(self, wanted: dict[str, str]) -> bytes:
        self.forms.append(wanted)
        code = f"code-{next(self._numbers)}"
        self.challenges[code] = wanted["code_challenge"]
        back = urlencode({"code": code, "state": wanted["state"]})
        return http_response("302 Found", location=f"{wanted['redirect_uri']}?{back}")

    def _grant(self, form: dict[str, str]) -> bytes:
        self.forms.append(form)
        if form["grant_type"] == "authorization_code":
            digest = hashlib.sha256(form["code_verifier"].encode()).digest()
            challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
            is_right = self.challenges.pop(form["code"], None) == challenge
        else:
            is_right = form["refresh_token"] in self.refresh_tokens
            self.refresh_tokens.discard(form["refresh_token"])
            if not is_right:
                self.reused.append(form["refresh_token"])
        if not is_right:
            return json_response({"error": "invalid_grant"}, "400 Bad Request")
        number = next(self._numbers)
        self.valid = {f"access-{number}"}
        self.refresh_tokens.add(f"refresh-{number}")
        granted = {"access_token": f"access-{number}", "token_type": "bearer", "refresh_token": f"refresh-{number}"}
        return json_response(granted if self.lifetime is None else {**granted, "expires_in": self.lifetime})


@asynccontextmanager
async def oauth_server() -> AsyncGenerator[OAuthServer]:
    server = OAuthServer()
    async with raw_server(server.answer) as raw:
        server.url = raw.url
        yield server


async def follow_redirects(address: str) -> str:
    """Follow an address as a browser does; return the last status line."""
    status = ""
    for _ in range(5):
        parts = urlsplit(address)
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        writer.write(f"GET {parts.path}?{parts.query} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n".encode())
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        writer.close()
        status = head.split("\r\n")[0]
        where = [line.partition(": ")[2] for line in head.split("\r\n") if line.lower().startswith("location: ")]
        if not where:
            break
        address = where[0]
    return status
