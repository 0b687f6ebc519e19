"""`web_fetch`: reads pages of the web and answers from them.

A model whose service reads pages by itself gets the prompt as it is. Everything else is fetched from here: pages on
private networks, pages that the service could not read, and all pages for other models.
"""

from collections.abc import Sequence
from typing import Annotated

from tejat.core.confirm import Confirmation, InfoConfirmation
from tejat.core.errors import ErrorType, ToolFailure
from tejat.core.history import user_message
from tejat.core.model import Ability, Ask, FailureKind, ModelFailure, ModelRequest
from tejat.core.schema import Param
from tejat.core.tool import Kind, ProposingTool, ToolContext, ToolResult
from tejat.core.types import Text
from tejat.core.value import value
from tejat.core.words import joined, phrase
from tejat.tools.citations import with_sources
from tejat.tools.pages import Missing, Page, Why, fenced, read_pages, shared_fairly
from tejat.tools.web import Web, refuse_secrets
from tejat.tools.words import description_of
from tejat.workspace.fetch.addresses import Place, place_of_host
from tejat.workspace.fetch.pace import Pace
from tejat.workspace.fetch.urls import Url, find_urls, raw_page

MOST_URLS = 20


@value
class WebFetchParams:
    prompt: Annotated[
        str,
        Param(
            "The URLs to read (up to 20, each with http:// or https://) and what to do with their content.",
            aliases=("url",),
        ),
    ]


class WebFetchTool(ProposingTool[WebFetchParams]):
    spoken_name = "web fetch"

    def __init__(self, web: Web) -> None:
        super().__init__(
            name="web_fetch",
            display_name="WebFetch",
            description=description_of("web_fetch"),
            parameters=WebFetchParams,
            kind=Kind.FETCH,
        )
        self._web = web
        self._pace = Pace()

    def check(self, params: WebFetchParams) -> None:
        if not params.prompt.strip():
            raise _invalid(phrase("The 'prompt' parameter cannot be empty and must contain URL(s) and instructions."))
        found = find_urls(params.prompt)
        if found.problems:
            raise _invalid(joined("\n- ", (phrase("Error(s) in prompt URLs:"), *found.problems)))
        if not found.urls:
            raise _invalid(
                phrase("The 'prompt' must contain at least one valid URL (starting with http:// or https://).")
            )
        urls = _urls(params)
        if len(urls) > MOST_URLS:
            raise _invalid(
                phrase(
                    "The 'prompt' has {urls} URLs; at most {most} can be fetched at once.",
                    urls=len(urls),
                    most=MOST_URLS,
                )
            )
        for url in urls:
            refuse_secrets(self._web, str(url))

    def describe(self, params: WebFetchParams) -> str:
        prompt = params.prompt if len(params.prompt) <= 100 else f"{params.prompt[:97]}..."
        return f'Processing URLs and instructions from prompt: "{prompt}"'

    async def propose(self, params: WebFetchParams) -> Confirmation | None:
        urls = _urls(params)
        private = _private_origins(urls)
        note = "\n".join(["\n", _PRIVATE_NOTE, *sorted(private)]) if private else ""
        return InfoConfirmation(
            title=phrase("Confirm Web Fetch"),
            prompt=params.prompt + note,
            urls=tuple(map(str, urls)),
            proposal=_Consent(private),
        )

    async def run(self, params: WebFetchParams, context: ToolContext) -> ToolResult:
        urls = _urls(params)
        allowed = [url for url in urls if self._pace.allows(url.host)]
        held_back = [Missing(url, Why.TOO_OFTEN, Why.TOO_OFTEN) for url in urls if url not in allowed]
        if allowed and self._web.ask is not None and self._service_reads(allowed):
            result = await self._read_by_service(params, allowed, held_back, self._web.ask)
            if result is not None:
                return result
        consent = self._web.private_origins | _agreed_to(context.approved)
        with_links = self._web.ask is None
        fetcher = self._web.fetcher()
        read = await read_pages(fetcher, allowed, allow_private=consent, with_links=with_links)
        missing = [*held_back, *(each for each in read if isinstance(each, Missing))]
        pages = shared_fairly([each for each in read if isinstance(each, Page)])
        if not pages:
            raise _nothing_read(missing)
        return await self._answer(params, pages, missing)

    def _service_reads(self, urls: Sequence[Url]) -> bool:
        """Whether the model's own service can be asked to: it never sees what is private here."""
        is_public = all(
            place_of_host(url.host) in (None, Place.PUBLIC) and url.origin not in self._web.private_origins
            for url in urls
        )
        return is_public and Ability.URL_CONTEXT in self._web.abilities()

    async def _read_by_service(
        self, params: WebFetchParams, urls: Sequence[Url], missing: Sequence[Missing], ask: Ask
    ) -> ToolResult | None:
        """None where the service could not read any of the pages."""
        listed = "\n".join(f"- {url}" for url in urls)
        question = user_message(f"{params.prompt}\n\nThe URLs to read:\n{listed}")
        request = ModelRequest([question], abilities=frozenset({Ability.URL_CONTEXT}), purpose="web_fetch")
        try:
            answer = await ask(request)
        except ModelFailure as failure:
            if failure.kind is FailureKind.BAD_REQUEST:
                return None
            raise _not_processed(params, failure.message) from None
        grounding = answer.grounding
        if grounding and grounding.fetched and _FETCHED not in grounding.fetched.values():
            return None
        if not answer.text.strip() and not (grounding and grounding.sources):
            return None
        told = with_sources(answer, unknown="Unknown URI")
        return ToolResult(_skipped(missing) + told, phrase("Content processed from prompt."))

    async def _answer(self, params: WebFetchParams, pages: Sequence[Page], missing: Sequence[Missing]) -> ToolResult:
        content = fenced(pages)
        whose = str(pages[0].url) if len(pages) == 1 else phrase("{count} URLs", count=len(pages))
        if self._web.ask is None:
            parts = [Text(_skipped(missing).rstrip()), *content] if missing else content
            texts = [part.text for part in parts if isinstance(part, Text)]
            is_text = len(texts) == len(parts)
            return ToolResult(
                "\n\n".join(texts) if is_text else parts, phrase("Content of {source} fetched.", source=whose)
            )
        question = user_message(_QUESTION.format(prompt=params.prompt), *content)
        try:
            answer = await self._web.ask(ModelRequest([question], purpose="web_fetch"))
        except ModelFailure as failure:
            raise _not_processed(params, failure.message) from None
        if answer.is_empty:
            raise _not_processed(params, phrase("The model did not answer."))
        display = phrase("Content for {source} processed using fallback fetch.", source=whose)
        return ToolResult(_skipped(missing) + answer.text, display)


@value
class _Consent:
    """The places on private networks that a yes opens to one call."""

    origins: frozenset[str]


_FETCHED = "URL_RETRIEVAL_STATUS_SUCCESS"
_PRIVATE_NOTE = phrase("On this machine or a private network; a yes lets this one call go there:")
_QUESTION = (
    "Do what the request asks for, from the content of the web pages below and nothing else. Where they do not hold "
    "what is asked for, say so.\n\nThe request:\n{prompt}"
)


def _invalid(problem: str) -> ToolFailure:
    return ToolFailure(problem, ErrorType.INVALID_TOOL_PARAMS)


def _urls(params: WebFetchParams) -> list[Url]:
    """Every page once, in the order in which they are named."""
    pages = map(raw_page, find_urls(params.prompt).urls)
    return list({page.identity: page for page in reversed([*pages])}.values())[::-1]


def _private_origins(urls: Sequence[Url]) -> frozenset[str]:
    return frozenset(url.origin for url in urls if place_of_host(url.host) is Place.PRIVATE)


def _agreed_to(approved: Confirmation | None) -> frozenset[str]:
    """The origins on private networks that were named to the person who said yes."""
    proposal = approved.proposal if isinstance(approved, InfoConfirmation) else None
    return proposal.origins if isinstance(proposal, _Consent) else frozenset()


def _skipped(missing: Sequence[Missing]) -> str:
    lines = "\n".join(map(str, missing))
    return f"[Warning] The following URLs were skipped:\n{lines}\n\n" if missing else ""


def _nothing_read(missing: Sequence[Missing]) -> ToolFailure:
    if len(missing) == 1:
        told = phrase(
            "Error: Error during fallback fetch for {url}: {reason}", url=missing[0].url, reason=missing[0].reason
        )
    else:
        reasons = joined(", ", (joined("", (str(each.url), ": ", each.reason)) for each in missing))
        told = phrase("Error: All fallback fetch attempts failed: {reasons}", reasons=reasons)
    return ToolFailure(told, ErrorType.WEB_FETCH_FALLBACK_FAILED)


def _not_processed(params: WebFetchParams, reason: str) -> ToolFailure:
    told = phrase(
        'Error: Error processing web content for prompt "{prompt}...": {reason}',
        prompt=params.prompt[:50],
        reason=reason,
    )
    return ToolFailure(told, ErrorType.WEB_FETCH_PROCESSING_ERROR)
