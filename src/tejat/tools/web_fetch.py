"""`web_fetch`: reads web pages and answers questions about them.

A model whose service can read URLs gets the prompt unchanged. All other pages are fetched locally: pages on private
networks, pages that the service could not read, and all pages for other models.
"""

from collections.abc import Sequence
from typing import Annotated

from tejat.core.approval.confirmation import Confirmation, InfoConfirmation
from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.frozen import Frozen
from tejat.core.i18n import join_lazy, lazy
from tejat.core.messages.declaration import Kind
from tejat.core.messages.history import user_message
from tejat.core.messages.types import Text
from tejat.core.model import AskModel, Capability, FailureKind, ModelFailure, ModelRequest
from tejat.core.tools.base import ProposingTool, ToolContext, ToolResult
from tejat.core.tools.schema import Param
from tejat.tools.descriptions import tool_labels
from tejat.tools.failures import invalid_params
from tejat.tools.web.access import WebAccess, reject_secrets
from tejat.tools.web.citations import append_sources
from tejat.tools.web.pages import PageError, PageErrorKind, WebPage, fetch_pages, truncate_fairly, wrap_untrusted
from tejat.workspace.web.network_zone import NetworkZone, classify_host
from tejat.workspace.web.rate_limit import RateLimiter
from tejat.workspace.web.urls import Url, find_urls, github_raw_url

MAX_URLS = 20


class WebFetchParams(Frozen):
    prompt: Annotated[
        str,
        Param(
            "The URLs to read (up to 20, each with http:// or https://) and what to do with their content.",
            aliases=("url",),
        ),
    ]


class WebFetchTool(ProposingTool[WebFetchParams]):
    """The tool `web_fetch`: fetch web pages and answer a prompt about them."""

    error_label = "web fetch"

    def __init__(self, web: WebAccess) -> None:
        super().__init__(**tool_labels("web_fetch", "WebFetch"), parameters=WebFetchParams, kind=Kind.FETCH)
        self._web = web
        self._rate_limiter = RateLimiter()

    def check(self, params: WebFetchParams) -> None:
        if not params.prompt.strip():
            raise invalid_params(
                lazy("The 'prompt' parameter cannot be empty and must contain URL(s) and instructions.")
            )
        found = find_urls(params.prompt)
        if found.problems:
            raise invalid_params(join_lazy("\n- ", (lazy("Error(s) in prompt URLs:"), *found.problems)))
        if not found.urls:
            raise invalid_params(
                lazy("The 'prompt' must contain at least one valid URL (starting with http:// or https://).")
            )
        urls = _find_page_urls(params)
        if len(urls) > MAX_URLS:
            count = len(urls)
            reason = lazy(
                "The 'prompt' has {urls} URLs; at most {most} can be fetched at once.", urls=count, most=MAX_URLS
            )
            raise invalid_params(reason)
        for url in urls:
            reject_secrets(self._web, str(url))

    def describe(self, params: WebFetchParams) -> str:
        prompt = params.prompt if len(params.prompt) <= 100 else f"{params.prompt[:97]}..."
        return f'Processing URLs and instructions from prompt: "{prompt}"'

    async def propose(self, params: WebFetchParams) -> Confirmation | None:
        urls = _find_page_urls(params)
        private = frozenset(url.origin for url in urls if classify_host(url.host) is NetworkZone.PRIVATE)
        note = "\n".join(["\n", _PRIVATE_NOTE, *sorted(private)]) if private else ""
        return InfoConfirmation(
            title=lazy("Confirm Web Fetch"),
            prompt=params.prompt + note,
            urls=tuple(map(str, urls)),
            proposal=_PrivateOriginConsent(private),
        )

    async def run(self, params: WebFetchParams, context: ToolContext) -> ToolResult:
        urls = _find_page_urls(params)
        allowed = [url for url in urls if self._rate_limiter.try_acquire(url.host)]
        limited = PageErrorKind.RATE_LIMITED
        held_back = [PageError(url, limited, limited) for url in urls if url not in allowed]
        if allowed and self._web.ask is not None and self._can_use_url_context(allowed):
            result = await self._fetch_with_model(params, allowed, held_back, self._web.ask)
            if result is not None:
                return result
        consent = self._web.private_origins | _approved_origins(context.approved)
        with_links = self._web.ask is None
        read = await fetch_pages(self._web.fetcher(), allowed, allow_private=consent, with_links=with_links)
        missing = [*held_back, *(each for each in read if isinstance(each, PageError))]
        pages = truncate_fairly([each for each in read if isinstance(each, WebPage)])
        if not pages:
            raise _fetch_failure(missing)
        return await self._answer_from_pages(params, pages, missing)

    def _can_use_url_context(self, urls: Sequence[Url]) -> bool:
        """Check that the model's service can read the URLs; private ones are never sent to it."""
        is_public = all(classify_host(url.host) in (None, NetworkZone.PUBLIC) for url in urls)
        is_private = any(url.origin in self._web.private_origins for url in urls)
        return is_public and not is_private and Capability.URL_CONTEXT in self._web.capabilities()

    async def _fetch_with_model(
        self, params: WebFetchParams, urls: Sequence[Url], missing: Sequence[PageError], ask: AskModel
    ) -> ToolResult | None:
        """Let the model's service read the pages; None if it could read none of them."""
        listed = "\n".join(f"- {url}" for url in urls)
        question = user_message(f"{params.prompt}\n\nThe URLs to read:\n{listed}")
        request = ModelRequest([question], capabilities=frozenset({Capability.URL_CONTEXT}), purpose="web_fetch")
        try:
            answer = await ask(request)
        except ModelFailure as failure:
            if failure.kind is FailureKind.BAD_REQUEST:
                return None
            raise _processing_failure(params, failure.message) from None
        grounding = answer.grounding
        if grounding and grounding.fetched_urls and _RETRIEVAL_SUCCESS not in grounding.fetched_urls.values():
            return None
        if not answer.text.strip() and not (grounding and grounding.sources):
            return None
        message = append_sources(answer, unknown="Unknown URI")
        return ToolResult(_skip_warning(missing) + message, lazy("Content processed from prompt."))

    async def _answer_from_pages(
        self, params: WebFetchParams, pages: Sequence[WebPage], missing: Sequence[PageError]
    ) -> ToolResult:
        content = wrap_untrusted(pages)
        source = str(pages[0].url) if len(pages) == 1 else lazy("{count} URLs", count=len(pages))
        if self._web.ask is None:
            parts = [Text(_skip_warning(missing).rstrip()), *content] if missing else content
            texts = [part.text for part in parts if isinstance(part, Text)]
            joined = "\n\n".join(texts) if len(texts) == len(parts) else parts
            return ToolResult(joined, lazy("Content of {source} fetched.", source=source))
        question = user_message(_PROMPT_TEMPLATE.format(prompt=params.prompt), *content)
        try:
            answer = await self._web.ask(ModelRequest([question], purpose="web_fetch"))
        except ModelFailure as failure:
            raise _processing_failure(params, failure.message) from None
        if answer.is_empty:
            raise _processing_failure(params, lazy("The model did not answer."))
        display = lazy("Content for {source} processed using fallback fetch.", source=source)
        return ToolResult(_skip_warning(missing) + answer.text, display)


class _PrivateOriginConsent(Frozen):
    """Origins on private networks that an approval opens to one call."""

    origins: frozenset[str]


_RETRIEVAL_SUCCESS = "URL_RETRIEVAL_STATUS_SUCCESS"
_PRIVATE_NOTE = lazy("On this machine or a private network; approving allows it for this call:")
_PROMPT_TEMPLATE = (
    "Do what the request asks for, from the content of the web pages below and nothing else. Where they do not hold "
    "what is asked for, say so.\n\nThe request:\n{prompt}"
)


def _find_page_urls(params: WebFetchParams) -> list[Url]:
    """URLs in the order of their first occurrence, without duplicates."""
    pages = map(github_raw_url, find_urls(params.prompt).urls)
    return list({page.dedup_key: page for page in reversed([*pages])}.values())[::-1]


def _approved_origins(approved: Confirmation | None) -> frozenset[str]:
    """Private origins that were shown in the approved confirmation."""
    proposal = approved.proposal if isinstance(approved, InfoConfirmation) else None
    return proposal.origins if isinstance(proposal, _PrivateOriginConsent) else frozenset()


def _skip_warning(missing: Sequence[PageError]) -> str:
    lines = "\n".join(map(str, missing))
    return f"[Warning] The following URLs were skipped:\n{lines}\n\n" if missing else ""


def _fetch_failure(missing: Sequence[PageError]) -> ToolFailure:
    if len(missing) == 1:
        url, reason = missing[0].url, missing[0].reason
        message = lazy("Error: Error during fallback fetch for {url}: {reason}", url=url, reason=reason)
    else:
        reasons = join_lazy(", ", (join_lazy("", (str(each.url), ": ", each.reason)) for each in missing))
        message = lazy("Error: All fallback fetch attempts failed: {reasons}", reasons=reasons)
    return ToolFailure(message, ErrorType.WEB_FETCH_FALLBACK_FAILED)


def _processing_failure(params: WebFetchParams, reason: str) -> ToolFailure:
    message = lazy(
        'Error: Error processing web content for prompt "{prompt}...": {reason}',
        prompt=params.prompt[:50],
        reason=reason,
    )
    return ToolFailure(message, ErrorType.WEB_FETCH_PROCESSING_ERROR)
