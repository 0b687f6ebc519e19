import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from support.model_servers.gemini import LoopbackServer, Received, Reply, chunk, error_reply, json_reply, stream
from tejat.core.errors import UsageError
from tejat.core.messages.history import user_message
from tejat.core.model import Chunk, FailureKind, ModelFailure, ModelRequest, TextDelta
from tejat.models import ModelOptions, open_model
from tejat.models.gemini.vertex import open_vertex

HELLO = ModelRequest([user_message("hi")])
TOKEN = "a-token-that-is-secret"
GRANTED = json_reply({"access_token": TOKEN, "expires_in": 3600, "token_type": "Bearer"})


def service(token: Callable[[], Reply], answer: Callable[[], Reply]) -> LoopbackServer:
    """A service that gives tokens under /token, and answers everything else."""

    def respond(received: Received) -> Reply:
        return token() if received.target == "/token" else answer()

    return LoopbackServer(respond)


def hello() -> Reply:
    return stream(chunk("Hello", reason="STOP"))


@pytest.fixture(scope="module")
def private_key() -> str:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def write_key(path: Path, private_key: str, server: LoopbackServer) -> str:
    account = {
        "type": "service_account",
        "client_email": "me@example.com",
        "private_key_id": "1",
        "private_key": private_key,
        "project_id": "p",
        "token_uri": f"{server.address}/token",
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(account), encoding="utf-8")
    return str(path)


def vertex_environment(server: LoopbackServer, **more: str) -> dict[str, str]:
    return {"GOOGLE_CLOUD_PROJECT": "my-project", "GOOGLE_VERTEX_BASE_URL": server.address, **more}


async def ask(environment: Mapping[str, str], times: int = 1) -> list[list[Chunk]]:
    model = open_vertex("gemini-2.5-pro", ModelOptions(environment))
    try:
        return [[found async for found in model.stream(HELLO)] for _ in range(times)]
    finally:
        await model.close()


def test_a_service_account_asks_with_a_token_that_is_kept(tmp_path: Path, private_key: str) -> None:
    with service(lambda: GRANTED, hello) as server:
        file = write_key(tmp_path / "key.json", private_key, server)
        further = {"GOOGLE_CLOUD_LOCATION": "europe-west4", "GOOGLE_CLOUD_QUOTA_PROJECT": "payer"}
        environment = vertex_environment(server, GOOGLE_APPLICATION_CREDENTIALS=file, **further)
        answers = asyncio.run(ask(environment, times=2))
        first, *asked = server.requests
    assert [chunks[0] for chunks in answers] == [TextDelta("Hello")] * 2
    assert parse_qs(first.raw.decode())["grant_type"] == ["urn:ietf:params:oauth:grant-type:jwt-bearer"]
    path = "/v1beta1/projects/my-project/locations/europe-west4/publishers/google/models/gemini-2.5-pro"
    seen = [(found.target, found.headers["authorization"], found.headers["x-goog-user-project"]) for found in asked]
    assert seen == [(f"{path}:streamGenerateContent?alt=sse", f"Bearer {TOKEN}", "payer")] * 2
    assert asked[0].body["contents"] == [{"role": "user", "parts": [{"text": "hi"}]}]


def test_a_token_that_has_run_out_is_renewed(tmp_path: Path, private_key: str) -> None:
    stale = json_reply({"access_token": TOKEN, "expires_in": 1, "token_type": "Bearer"})
    with service(lambda: stale, hello) as server:
        file = write_key(tmp_path / "key.json", private_key, server)
        asyncio.run(ask(vertex_environment(server, GOOGLE_APPLICATION_CREDENTIALS=file), times=2))
        assert [found.target for found in server.requests].count("/token") == 2


def test_many_at_once_share_a_token(tmp_path: Path, private_key: str) -> None:
    async def run() -> None:
        model = open_vertex("gemini-2.5-pro", ModelOptions(environment))
        counts = [model.count_tokens(HELLO) for _ in range(5)]
        assert await asyncio.gather(*counts) == [7] * 5
        await model.close()

    with service(lambda: GRANTED, lambda: json_reply({"totalTokens": 7})) as server:
        file = write_key(tmp_path / "key.json", private_key, server)
        environment = vertex_environment(server, GOOGLE_APPLICATION_CREDENTIALS=file)
        asyncio.run(run())
        targets = [found.target for found in server.requests]
        body: Any = server.requests[-1].body
    assert targets.count("/token") == 1
    assert body == {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}


@pytest.mark.parametrize("by_home", [True, False])
def test_what_gcloud_left_is_found(tmp_path: Path, private_key: str, by_home: bool) -> None:
    with service(lambda: GRANTED, hello) as server:
        directory = tmp_path / ".config" / "gcloud" if by_home else tmp_path / "elsewhere"
        write_key(directory / "application_default_credentials.json", private_key, server)
        where = {"HOME": str(tmp_path)} if by_home else {"HOME": "/nowhere", "CLOUDSDK_CONFIG": str(directory)}
        (chunks,) = asyncio.run(ask(vertex_environment(server, **where)))
    assert chunks[0] == TextDelta("Hello")


@pytest.mark.parametrize(
    ("token", "kind", "can_retry"),
    [
        (
            json_reply({"error": "invalid_grant", "error_description": "Account gone."}, status=400),
            "authentication",
            False,
        ),
        (Reply(cut_after=0, pieces=(b"x",)), "network", True),
    ],
)
def test_no_token_is_given(tmp_path: Path, private_key: str, token: Reply, kind: str, can_retry: bool) -> None:
    with service(lambda: token, hello) as server:
        file = write_key(tmp_path / "key.json", private_key, server)
        with pytest.raises(ModelFailure) as caught:
            asyncio.run(ask(vertex_environment(server, GOOGLE_APPLICATION_CREDENTIALS=file)))
    assert (caught.value.kind, caught.value.can_retry) == (FailureKind(kind), can_retry)


def test_no_token_is_ever_shown(tmp_path: Path, private_key: str) -> None:
    with service(lambda: GRANTED, lambda: error_reply(403, f"not with {TOKEN}")) as server:
        file = write_key(tmp_path / "key.json", private_key, server)
        with pytest.raises(ModelFailure) as caught:
            asyncio.run(ask(vertex_environment(server, GOOGLE_APPLICATION_CREDENTIALS=file)))
    assert caught.value.message.endswith("not with ***")


FLAVOR = {"Metadata-Flavor": "Google"}


def on_google(token: Reply) -> LoopbackServer:
    """A machine that knows its account, and the service as well."""

    def respond(received: Received) -> Reply:
        if received.target == "/computeMetadata/v1/instance/service-accounts/default/token":
            assert received.headers["metadata-flavor"] == "Google"
            return token
        return hello() if received.method == "POST" else json_reply({}, headers=FLAVOR)

    return LoopbackServer(respond)


def test_a_machine_of_google_knows_who_we_are(tmp_path: Path) -> None:
    with on_google(GRANTED) as server:
        environment = vertex_environment(server, GCE_METADATA_HOST=f"127.0.0.1:{server.port}", HOME=str(tmp_path))
        answers = asyncio.run(ask(environment, times=2))
        methods = [(found.method, found.headers.get("authorization")) for found in server.requests]
    assert [chunks[0] for chunks in answers] == [TextDelta("Hello")] * 2
    assert methods == [("GET", None), ("GET", None), ("POST", f"Bearer {TOKEN}"), ("POST", f"Bearer {TOKEN}")]


def test_a_key_of_the_express_mode() -> None:
    with LoopbackServer(lambda _: hello()) as server:
        environment = {"GOOGLE_API_KEY": "express-key", "GOOGLE_VERTEX_BASE_URL": server.address}
        asyncio.run(ask(environment))
        (request,) = server.requests
    assert request.target == "/v1beta1/publishers/google/models/gemini-2.5-pro:streamGenerateContent?alt=sse"
    assert request.headers["x-goog-api-key"] == "express-key"


@pytest.mark.parametrize(
    ("location", "host"),
    [
        ("", "aiplatform.googleapis.com"),
        ("global", "aiplatform.googleapis.com"),
        ("eu", "aiplatform.eu.rep.googleapis.com"),
        ("us-central1", "us-central1-aiplatform.googleapis.com"),
    ],
)
def test_where_it_is(location: str, host: str) -> None:
    environment = {"GOOGLE_CLOUD_PROJECT": "p", "GOOGLE_CLOUD_LOCATION": location}
    model = open_vertex("gemini-2.5-pro", ModelOptions(environment))
    path = f"projects/p/locations/{location or 'global'}/publishers/google/models/gemini-2.5-pro"
    assert model._endpoint.url("x") == f"https://{host}/v1beta1/{path}:x"


def test_the_other_variable_of_a_project() -> None:
    for environment in (
        {"GOOGLE_CLOUD_PROJECT": " ", "GOOGLE_CLOUD_PROJECT_ID": "q"},
        {"GOOGLE_CLOUD_PROJECT": "q", "GOOGLE_CLOUD_PROJECT_ID": "p"},
    ):
        model = open_vertex("gemini-2.5-pro", ModelOptions(environment))
        assert "/projects/q/locations/global/" in model._endpoint.url("x")


@pytest.mark.parametrize("wrong", [{"GOOGLE_CLOUD_PROJECT": "a/../b"}, {"GOOGLE_CLOUD_LOCATION": "evil.example/"}])
def test_places_that_are_none(wrong: Mapping[str, str]) -> None:
    with pytest.raises(UsageError, match="invalid characters"):
        open_vertex("gemini-2.5-pro", ModelOptions({"GOOGLE_CLOUD_PROJECT": "p", **wrong}))


def test_without_a_project_and_a_key_there_is_no_model() -> None:
    with pytest.raises(ModelFailure, match="GOOGLE_CLOUD_PROJECT") as caught:
        open_model("gemini-2.5-pro", ModelOptions({"GOOGLE_GENAI_USE_VERTEXAI": "true"}))
    assert caught.value.kind is FailureKind.NO_KEY


def test_it_says_what_is_not_installed() -> None:
    program = (
        "import sys; sys.modules['google'] = None\n"
        "from tejat.core.errors import UsageError\n"
        "from tejat.models import ModelOptions, open_model\n"
        "try: open_model('vertex:gemini-2.5-pro', ModelOptions({'GOOGLE_CLOUD_PROJECT': 'p'}))\n"
        "except UsageError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "Vertex AI with a project needs the google-auth package: pip install 'tejat[vertex]'\n"
