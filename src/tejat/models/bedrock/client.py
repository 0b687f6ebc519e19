"""Client of Anthropic's models on Amazon Bedrock, with signed requests or an API key of Bedrock."""

import re
import time
from base64 import b64decode
from binascii import Error
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from functools import partial
from urllib.parse import quote

from tejat.core.errors import UsageError
from tejat.core.i18n import lazy
from tejat.core.json_text import InvalidJson
from tejat.core.messages.tokens import estimate_request_tokens
from tejat.core.model import FailureKind, ModelFailure, ModelRequest
from tejat.models import ModelOptions
from tejat.models.anthropic.client import AnthropicClient
from tejat.models.anthropic.request import AnthropicDialect, encode_head
from tejat.models.base_url import read_api_key, resolve_base_url
from tejat.models.bedrock.event_stream import EventStreamParser, StreamMessage
from tejat.models.bedrock.signature import AwsCredentials, read_credentials, sign_request
from tejat.models.wire.api_errors import ModelTarget, parse_api_error
from tejat.models.wire.http_errors import protocol_failure
from tejat.models.wire.json_access import as_str, parse_json_or_text, parse_object
from tejat.models.wire.sse_client import ErrorParser, SseClient
from tejat.workspace.http.types import HttpResponse

_KEY_VARIABLE, _ACCESS_VARIABLE = "AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID"
_SERVICE = "bedrock"
_VERSION = "bedrock-2023-05-31"
_EVENT_STREAM = "application/vnd.amazon.eventstream"
_REGION = r"[a-z]{2}(?:-[a-z]+)+-\d{1,2}"
_EXCEPTION_STATUSES = {
    "validationException": 400,
    "modelTimeoutException": 408,
    "throttlingException": 429,
    "serviceUnavailableException": 503,
}


def open_bedrock(model: str, options: ModelOptions) -> "BedrockClient":
    """Create a client with `AWS_BEARER_TOKEN_BEDROCK`, or with `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`.

    Raises ModelFailure without them, and UsageError for a missing region, an invalid URL or a model of others.
    """
    if "claude" not in model and not model.startswith("arn:"):
        message = lazy(
            "{model} is not an Anthropic model. Only Anthropic models are supported on Amazon "
            "Bedrock, for example bedrock:us.anthropic.claude-sonnet-4-5-20250929-v1:0.",
            model=model,
        )
        raise UsageError(message)
    environment = options.environment
    region = next((environment[name] for name in ("AWS_REGION", "AWS_DEFAULT_REGION") if environment.get(name)), "")
    if not re.fullmatch(_REGION, region.strip()):
        raise UsageError(lazy("Amazon Bedrock needs a region. Set AWS_REGION, for example us-east-1."))
    key, credentials = read_api_key(options, _KEY_VARIABLE), read_credentials(environment)
    if not key and credentials is None:
        message = lazy(
            "No credentials for {model}. Set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
            model=model,
        )
        raise ModelFailure(message, FailureKind.NO_KEY)
    default = f"https://bedrock-runtime.{region.strip()}.amazonaws.com"
    base = resolve_base_url(options, variable="AWS_ENDPOINT_URL_BEDROCK_RUNTIME", default=default, has_key=True)
    url = f"{base}/model/{quote(model, safe='')}/invoke-with-response-stream"
    if key:
        target = ModelTarget(model, _KEY_VARIABLE, key)
        return BedrockClient(target, url, options, {"authorization": f"Bearer {key}"}, None, region.strip())
    secret = "" if credentials is None else credentials.secret_key
    return BedrockClient(ModelTarget(model, _ACCESS_VARIABLE, secret), url, options, {}, credentials, region.strip())


class BedrockClient(AnthropicClient):
    """One model of Anthropic on Bedrock. Without `credentials`, the headers authenticate a request."""

    def __init__(
        self,
        target: ModelTarget,
        url: str,
        options: ModelOptions,
        headers: Mapping[str, str],
        credentials: AwsCredentials | None,
        region: str,
    ) -> None:
        super().__init__(target, url, options, headers=headers)
        parse_error = partial(parse_api_error, target=target)
        self._sse = _BedrockConnection(options, headers, parse_error, credentials, region)

    async def count_tokens(self, request: ModelRequest) -> int:
        """Return an estimate: the service counts only for some of the models."""
        return estimate_request_tokens(request)

    def _encode_head(self, request: ModelRequest, dialect: AnthropicDialect) -> bytes:
        return encode_head(self.name, request, dialect, begin={"anthropic_version": _VERSION})


class _BedrockConnection(SseClient):
    def __init__(
        self,
        options: ModelOptions,
        headers: Mapping[str, str],
        parse_error: ErrorParser,
        credentials: AwsCredentials | None,
        region: str,
    ) -> None:
        async def auth_headers() -> Mapping[str, str]:
            return headers

        super().__init__(options, auth_headers, parse_error)
        self._error_parser = parse_error
        self._credentials = credentials
        self._region = region

    async def _request_headers(self, url: str, body: Sequence[bytes]) -> Mapping[str, str]:
        accepted = {"accept": _EVENT_STREAM}
        if self._credentials is None:
            return {**await super()._request_headers(url, body), **accepted}
        timestamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        signed = sign_request(url, body, self._credentials, region=self._region, service=_SERVICE, timestamp=timestamp)
        return {**signed, **accepted}

    async def _read_events(self, response: HttpResponse) -> AsyncGenerator[Iterable[str]]:
        kind = (response.headers.get("content-type") or "").partition(";")[0].strip().lower()
        if kind != _EVENT_STREAM:
            raise protocol_failure(lazy("unexpected content type {kind}", kind=kind[:60] or lazy("unknown")))
        parser = EventStreamParser()
        async for piece in response:
            yield map(self._event, parser.feed(piece))

    def _event(self, message: StreamMessage) -> str:
        """Return the event of Anthropic inside a message. Raises ModelFailure for an exception of the service."""
        exception = message.headers.get(":exception-type") or message.headers.get(":error-code")
        if message.headers.get(":message-type", "event") != "event":
            status = _EXCEPTION_STATUSES.get(exception or "", 500)
            raise self._error_parser(parse_json_or_text(message.payload), status=status, retry_after=None)
        try:
            encoded = as_str(parse_object(message.payload).get("bytes"))
            return b64decode(encoded, validate=True).decode("utf-8", "replace")
        except (InvalidJson, Error, ValueError) as error:
            raise protocol_failure(str(error)) from None
