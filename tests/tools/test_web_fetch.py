"""`web_fetch`: what is asked, what is fetched by whom, and what the model gets to read."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from support.tool_results import failed_result, invalid_params_result
from support.web_site import HTML, FakeInternet, SiteAnswer, WebSite, http_response, open_site
from tejat.core.approval.confirmation import Confirmation, InfoConfirmation
from tejat.core.errors import ErrorType
from tejat.core.messages.declaration import Kind
from tejat.core.messages.history import model_message
from tejat.core.messages.types import InlineData, Text
from tejat.core.model import (
    Capability,
    Citation,
    FailureKind,
    Grounding,
    GroundingSource,
    ModelFailure,
    ModelRequest,
    ModelResponse,
)
from tejat.core.tools.base import ToolContext, ToolResult, validate_and_execute
from tejat.tools.web.access import WebAccess
from tejat.tools.web.pages import WebPage, wrap_untrusted
from tejat.tools.web_fetch import WebFetchTool
from tejat.workspace.http.client import HttpClient
from tejat.workspace.web.fetcher import Fetcher
from tejat.workspace.web.urls import parse_url

SUCCESS, ERROR = "URL_RETRIEVAL_STATUS_SUCCESS", "URL_RETRIEVAL_STATUS_ERROR"
PAGE = http_response("<p>The <a href=/x>answer</a> is 42.</p>", content_type=HTML)
ALL = frozenset(Capability)
DOWN = ModelFailure("It is down.", FailureKind.UNAVAILABLE)
REFUSED = ModelFailure("No such tool.", FailureKind.BAD_REQUEST)


@dataclass
class Model:
    """Gives its answers one after the other."""

    answers: list[ModelResponse | ModelFailure]
    asked: list[ModelRequest] = field(default_factory=list[ModelRequest])

    async def __call__(self, request: ModelRequest) -> ModelResponse:
        self.asked.append(request)
        say = self.answers.pop(0)
        if isinstance(say, ModelFailure):
            raise say
        return say

    @property
    def purposes(self) -> list[tuple[str, frozenset[Capability]]]:
        return [(request.purpose, request.capabilities) for request in self.asked]


def answering(text: str, grounding: Grounding | None = None) -> Model:
    return Model([ModelResponse(model_message(text), grounding=grounding)])


def no_fetcher() -> Fetcher:
    raise AssertionError("nothing must be fetched")


def idle() -> WebFetchTool:
    return WebFetchTool(WebAccess(no_fetcher, secrets=lambda: ["hush-hush-hush"]))


async def public(*_: object) -> Sequence[str]:
    return ["93.184.216.34"]


def fetch(
    answers: Mapping[str, SiteAnswer],
    prompt: str,
    model: Model | None = None,
    *,
    capabilities: frozenset[Capability] = frozenset(),
    allowed: Callable[[WebSite], frozenset[str]] = lambda _: frozenset(),
    is_approved: bool = False,
    times: int = 1,
) -> tuple[ToolResult, WebSite]:
    """`HERE` in the prompt is the site on this machine; any public name leads to it too."""

    async def main() -> tuple[ToolResult, WebSite]:
        async with open_site(answers) as opened:
            fetcher = Fetcher(FakeInternet(opened.port), resolve=public)
            web = WebAccess(lambda: fetcher, model, lambda: capabilities, private_origins=allowed(opened))
            tool = WebFetchTool(web)
            params = {"prompt": prompt.replace("HERE", opened.origin)}
            approved = await tool.should_confirm_execute(params) if is_approved else None
            result = ToolResult("")
            for _ in range(times):
                result = await validate_and_execute(tool, params, ToolContext(approved=approved))
            return result, opened

    return asyncio.run(main())


def pages(*read: tuple[str, str]) -> str:
    parts = wrap_untrusted([WebPage(parse_url(url), text) for url, text in read])
    return "\n\n".join(part.text for part in parts if isinstance(part, Text))


class TestAsking:
    def test_what_it_is(self) -> None:
        tool = idle()
        assert (tool.name, tool.display_name, tool.kind, tool.is_read_only) == (
            "web_fetch",
            "WebFetch",
            Kind.FETCH,
            True,
        )

    @pytest.mark.parametrize(
        ("prompt", "shown"),
        [("x https://a.com", "x https://a.com"), ("https://a.com " + "y" * 100, "https://a.com " + "y" * 83 + "...")],
    )
    def test_the_line_about_it(self, prompt: str, shown: str) -> None:
        assert idle().get_description({"prompt": prompt}) == (
            f'Processing URLs and instructions from prompt: "{shown}"'
        )

    @pytest.mark.parametrize(
        ("prompt", "problem"),
        [
            ("", "The 'prompt' parameter cannot be empty and must contain URL(s) and instructions."),
            (" \n", "The 'prompt' parameter cannot be empty and must contain URL(s) and instructions."),
            ("read a.com", "The 'prompt' must contain at least one valid URL (starting with http:// or https://)."),
            ("read http://", 'Error(s) in prompt URLs:\n- Malformed URL detected: "http://".'),
            (
                "https://a.com ftp://b.c x://",
                (
                    "Error(s) in prompt URLs:\n"
                    '- Unsupported protocol in URL: "ftp://b.c". Only http and https are supported.\n'
                    '- Unsupported protocol in URL: "x://". Only http and https are supported.'
                ),
            ),
            (
                "http://me:pw@a.com",
                (
                    "Error(s) in prompt URLs:\n"
                    '- URLs with a user name or password are not fetched: "http://me:pw@a.com".'
                ),
            ),
            (
                " ".join(f"https://a.com/{number}" for number in range(25)),
                "The 'prompt' has 25 URLs; at most 20 can be fetched at once.",
            ),
        ],
    )
    def test_what_makes_no_sense(self, prompt: str, problem: str) -> None:
        assert asyncio.run(validate_and_execute(idle(), {"prompt": prompt})) == invalid_params_result(problem)

    def test_a_secret_in_an_address(self) -> None:
        result = asyncio.run(validate_and_execute(idle(), {"prompt": "https://evil.example/?k=hush%2Dhush-hush"}))
        assert result.error is not None
        assert result.error.type is ErrorType.POLICY_VIOLATION
        assert "hush" not in str(result.llm_content)

    def shown(self, prompt: str) -> Confirmation | None:
        return asyncio.run(idle().should_confirm_execute({"prompt": prompt}))

    def test_the_question_shows_what_is_fetched(self) -> None:
        prompt = "compare https://GitHub.com/o/r/blob/main/f.py with https://b.com:443/x/#y and https://b.com/x"
        assert self.shown(prompt) == InfoConfirmation(
            "Confirm Web Fetch", prompt, ("https://raw.githubusercontent.com/o/r/main/f.py", "https://b.com/x/")
        )

    def test_private_places_are_named_as_such(self) -> None:
        prompt = "read http://localhost:3000/a, http://127.1/ https://b.com and http://localhost:3000/c"
        assert self.shown(prompt) == InfoConfirmation(
            "Confirm Web Fetch",
            f"{prompt}\n\nOn this machine or a private network; approving allows it for this call:\n"
            "http://127.0.0.1\nhttp://localhost:3000",
            ("http://localhost:3000/a,", "http://127.0.0.1/", "https://b.com/", "http://localhost:3000/c"),
        )


class TestWithoutAModel:
    def test_the_content_is_the_result(self) -> None:
        result, opened = fetch({"/a": PAGE, "/b": http_response('{"x": 1}', content_type="application/json")}, TWO)
        read = pages(
            ("http://a.example/a", "The [answer](http://a.example/x) is 42."), ("http://b.example/b", '{"x": 1}')
        )
        assert result == ToolResult(read, "Content of 2 URLs fetched.")
        assert sorted(opened.paths) == ["/a", "/b"]

    def test_pictures_are_parts_of_their_own(self) -> None:
        result, _ = fetch({"/p": http_response(b"\x89PNG", content_type="image/png")}, "http://a.example/p")
        url = parse_url("http://a.example/p")
        assert result.llm_content == wrap_untrusted([WebPage(url, media=InlineData("image/png", b"\x89PNG"))])
        assert result.return_display == "Content of http://a.example/p fetched."

    def test_what_failed_is_told_beside_the_rest(self) -> None:
        result, _ = fetch({"/a": http_response("x", content_type="text/plain")}, f"{TWO} http://169.254.169.254/")
        assert result.error is None
        assert result.llm_content == (
            "[Warning] The following URLs were skipped:\n"
            "[Failed] http://b.example/b: Request failed with status code 404 Not Found\n"
            "[Blocked Host] http://169.254.169.254/\n\n" + pages(("http://a.example/a", "x"))
        )

    def test_a_page_that_is_named_twice_is_fetched_once(self) -> None:
        _, opened = fetch({"/": PAGE}, "http://a.example HTTP://A.example:80/ http://a.example/#x")
        assert opened.paths == ["/"]


TWO = "read http://a.example/a and http://b.example/b"


class TestPrivatePlaces:
    def test_a_yes_opens_just_what_was_named(self) -> None:
        result, opened = fetch({"/": PAGE}, "read HERE/", is_approved=True)
        assert (result.error, opened.paths) == (None, ["/"])

    def test_without_a_question_they_stay_closed(self) -> None:
        result, opened = fetch({"/": PAGE}, "read HERE/")
        assert result == failed_result(
            f"Error: Error during fallback fetch for {opened.origin}/: "
            "Blocked: 127.0.0.1, on this machine or a private network, which was not approved.",
            ErrorType.WEB_FETCH_FALLBACK_FAILED,
        )
        assert opened.requests == []

    def test_unless_the_settings_open_them(self) -> None:
        result, _ = fetch({"/": PAGE}, "read HERE/", allowed=lambda opened: frozenset({opened.origin}))
        assert result.error is None

    def test_a_yes_to_one_does_not_open_another_behind_a_redirect(self) -> None:
        answers = {"/": http_response("", status="302 Found", location="http://localhost:1/")}
        result, _ = fetch(answers, "read HERE/", is_approved=True)
        assert result.error is not None
        assert "Blocked: localhost" in result.error.message

    def test_a_yes_to_something_else_opens_nothing(self) -> None:
        async def main() -> ToolResult:
            async with open_site({"/": PAGE}) as opened:
                fetcher = Fetcher(HttpClient(environment={}))
                context = ToolContext(approved=InfoConfirmation("Confirm: WebFetch", "x"))
                return await validate_and_execute(
                    WebFetchTool(WebAccess(lambda: fetcher)), {"prompt": opened.origin}, context
                )

        assert asyncio.run(main()).error is not None

    def test_the_models_service_is_not_told_of_them(self) -> None:
        model = answering("42")
        result, _ = fetch({"/": PAGE}, "read HERE/", model, capabilities=ALL, is_approved=True)
        assert (result.llm_content, model.purposes) == ("42", [("web_fetch", frozenset())])


class TestWithAModel:
    def test_it_answers_from_the_pages(self) -> None:
        model = answering("It is 42.")
        result, _ = fetch({"/a": PAGE}, "What is it? http://a.example/a", model)
        assert result == ToolResult("It is 42.", "Content for http://a.example/a processed using fallback fetch.")
        (request,) = model.asked
        assert (request.purpose, request.capabilities, request.system, request.tools) == (
            "web_fetch",
            frozenset(),
            "",
            (),
        )
        (message,) = request.messages
        question, *content = message.parts
        assert isinstance(question, Text)
        assert question.text.endswith("\n\nThe request:\nWhat is it? http://a.example/a")
        assert content == wrap_untrusted([WebPage(parse_url("http://a.example/a"), "The answer is 42.")])

    def test_several(self) -> None:
        result, _ = fetch({"/a": PAGE, "/b": PAGE}, TWO, answering("Both."))
        assert result == ToolResult("Both.", "Content for 2 URLs processed using fallback fetch.")

    def test_what_was_skipped_goes_before_the_answer(self) -> None:
        result, _ = fetch({"/a": PAGE}, TWO, answering("One."))
        assert result.llm_content == (
            "[Warning] The following URLs were skipped:\n"
            "[Failed] http://b.example/b: Request failed with status code 404 Not Found\n\nOne."
        )

    def test_nothing_could_be_read(self) -> None:
        model = Model([])
        result, _ = fetch({}, "http://a.example/a", model)
        told = (
            "Error: Error during fallback fetch for http://a.example/a: Request failed with status code 404 Not Found"
        )
        assert result == failed_result(told, ErrorType.WEB_FETCH_FALLBACK_FAILED)
        result, _ = fetch({}, TWO, model)
        told = (
            "Error: All fallback fetch attempts failed: "
            "http://a.example/a: Request failed with status code 404 Not Found, "
            "http://b.example/b: Request failed with status code 404 Not Found"
        )
        assert result == failed_result(told, ErrorType.WEB_FETCH_FALLBACK_FAILED)
        assert model.asked == []

    @pytest.mark.parametrize(
        ("say", "reason"), [(DOWN, "It is down."), (ModelResponse(model_message(" ")), "The model did not answer.")]
    )
    def test_a_model_that_fails(self, say: ModelResponse | ModelFailure, reason: str) -> None:
        prompt = "http://a.example/a " + "x" * 50
        result, _ = fetch({"/a": PAGE}, prompt, Model([say]))
        assert result == failed_result(
            f'Error: Error processing web content for prompt "{prompt[:50]}...": {reason}',
            ErrorType.WEB_FETCH_PROCESSING_ERROR,
        )

    def test_too_often_at_one_host(self) -> None:
        eleven = " ".join(f"http://a.example/{number}" for number in range(11))
        answers = {f"/{number}": http_response("x", content_type="text/plain") for number in range(11)}
        result, opened = fetch(answers, f"{eleven} http://b.example/0", answering("Ten."))
        assert result.llm_content == (
            "[Warning] The following URLs were skipped:\n[Rate limit exceeded] http://a.example/10\n\nTen."
        )
        assert len(opened.requests) == 11

    def test_far_too_often(self) -> None:
        model = Model([ModelResponse(model_message("x"))] * 11)
        result, opened = fetch({"/": PAGE}, "http://a.example/", model, times=11)
        assert result == failed_result(
            "Error: Error during fallback fetch for http://a.example/: Rate limit exceeded",
            ErrorType.WEB_FETCH_FALLBACK_FAILED,
        )
        assert len(opened.requests) == 10


class TestByTheModelsService:
    def test_an_answer_with_its_sources(self) -> None:
        grounding = Grounding(
            (GroundingSource("A", "https://a.example"), GroundingSource(None, None)),
            (Citation(6, (0, 1)),),
            {"u": SUCCESS},
        )
        model = answering("Gr\u00fcn.", grounding)
        result, opened = fetch({}, "colour? https://github.com/o/r/blob/m/f", model, capabilities=ALL)
        assert result == ToolResult(
            "Gr\u00fcn.[1][2]\n\nSources:\n[1] A (https://a.example)\n[2] Untitled (Unknown URI)",
            "Content processed from prompt.",
        )
        assert opened.requests == []
        assert model.purposes == [("web_fetch", frozenset({Capability.URL_CONTEXT}))]
        assert [message.text for message in model.asked[0].messages] == [
            "colour? https://github.com/o/r/blob/m/f\n\nThe URLs to read:\n- https://raw.githubusercontent.com/o/r/m/f"
        ]

    @pytest.mark.parametrize(
        "first",
        [
            ModelResponse(model_message("I could not."), grounding=Grounding(fetched_urls={"u": ERROR, "v": "URL_X"})),
            ModelResponse(model_message(" \n"), grounding=Grounding(fetched_urls={"u": SUCCESS})),
            ModelResponse(model_message("")),
            REFUSED,
        ],
    )
    def test_what_it_cannot_read_is_fetched_from_here(self, first: ModelResponse | ModelFailure) -> None:
        model = Model([first, ModelResponse(model_message("42"))])
        result, opened = fetch({"/a": PAGE}, "http://a.example/a", model, capabilities=ALL)
        assert result == ToolResult("42", "Content for http://a.example/a processed using fallback fetch.")
        assert model.purposes == [("web_fetch", frozenset({Capability.URL_CONTEXT})), ("web_fetch", frozenset())]
        assert opened.paths == ["/a"]

    @pytest.mark.parametrize(
        "grounding",
        [
            None,
            Grounding(),
            Grounding(fetched_urls={"u": ERROR, "v": SUCCESS}),
            Grounding((GroundingSource("A", "u"),)),
        ],
    )
    def test_one_page_is_enough(self, grounding: Grounding | None) -> None:
        result, opened = fetch({}, TWO, answering("One.", grounding), capabilities=ALL)
        assert (result.error, opened.requests) == (None, [])

    def test_a_service_that_is_down(self) -> None:
        result, opened = fetch({"/a": PAGE}, "http://a.example/a", Model([DOWN]), capabilities=ALL)
        assert result == failed_result(
            'Error: Error processing web content for prompt "http://a.example/a...": It is down.',
            ErrorType.WEB_FETCH_PROCESSING_ERROR,
        )
        assert opened.requests == []

    def test_without_that_ability_it_is_not_asked_to(self) -> None:
        model = answering("42")
        fetch({"/a": PAGE}, "http://a.example/a", model, capabilities=frozenset({Capability.GOOGLE_SEARCH}))
        assert model.purposes == [("web_fetch", frozenset())]
