"""Fallback chains: who takes over, who is asked, and when a model is tried again."""

import asyncio

import pytest

from support.named_model import NamedModel
from tejat.core.agent.model_chain import ChainAction, ChainLink, FailureClass, ModelChain
from tejat.core.approval.confirmation import ApprovalReply, ApprovalRequest, ModelChangeConfirmation, Outcome
from tejat.core.errors import UsageError
from tejat.core.model import FailureKind, ModelClient, ModelFailure
from tejat.engine.models.fallback import ChainFallback, SingleFallback, classify_failure

SILENT, PROMPT = ChainAction.SILENT, ChainAction.PROMPT
QUOTA = ModelFailure("No quota.", FailureKind.RATE_LIMITED)
BUSY = ModelFailure("Busy.", FailureKind.UNAVAILABLE, can_retry=True)
MISSING = ModelFailure("No such model.", FailureKind.BAD_REQUEST, status=404)
OTHER = ModelFailure("No.", FailureKind.AUTHENTICATION)


class Person:
    """Gives the answers in turn, and keeps the questions."""

    def __init__(self, *answers: Outcome) -> None:
        self._answers = iter(answers)
        self.questions: list[ApprovalRequest] = []

    async def ask(self, question: ApprovalRequest) -> ApprovalReply:
        self.questions.append(question)
        return ApprovalReply(next(self._answers))


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def auto_chain(*names: str) -> ModelChain:
    actions = {FailureClass.TERMINAL: PROMPT, FailureClass.TRANSIENT: SILENT, FailureClass.NOT_FOUND: SILENT}
    headless = frozenset({FailureClass.TRANSIENT, FailureClass.NOT_FOUND})
    return ModelChain(tuple(ChainLink(name, None, actions) for name in names), headless, is_auto=True)


def asking_chain(*names: str) -> ModelChain:
    actions = {FailureClass.TERMINAL: PROMPT, FailureClass.TRANSIENT: PROMPT}
    return ModelChain(tuple(ChainLink(name, None, actions) for name in names))


def opened(link: ChainLink) -> ModelClient:
    return NamedModel(link.name)


def next_name(fallback: ChainFallback, model: str, failure: ModelFailure) -> str | None:
    other = asyncio.run(fallback.successor(NamedModel(model), failure))
    return None if other is None else other.name


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (QUOTA, FailureClass.TERMINAL),
        (ModelFailure("", FailureKind.RATE_LIMITED, can_retry=True), FailureClass.TRANSIENT),
        (BUSY, FailureClass.TRANSIENT),
        (MISSING, FailureClass.NOT_FOUND),
        (ModelFailure("", FailureKind.BAD_REQUEST, status=400), FailureClass.UNKNOWN),
        (OTHER, FailureClass.UNKNOWN),
        (ModelFailure("", FailureKind.NETWORK, can_retry=True), FailureClass.UNKNOWN),
    ],
)
def test_kinds_of_failures(failure: ModelFailure, kind: FailureClass) -> None:
    assert classify_failure(failure) is kind


@pytest.mark.parametrize(("failure", "after"), [(BUSY, "flash"), (MISSING, "flash"), (QUOTA, None), (OTHER, None)])
def test_auto_without_a_person(failure: ModelFailure, after: str | None) -> None:
    assert next_name(ChainFallback(auto_chain("pro", "flash"), opened, None), "pro", failure) == after


def test_a_full_id_without_a_person() -> None:
    for failure in (BUSY, MISSING, QUOTA, OTHER):
        assert next_name(ChainFallback(asking_chain("pro", "flash"), opened, None), "pro", failure) is None


def test_auto_asks_nothing_after_a_passing_failure() -> None:
    person = Person()
    assert next_name(ChainFallback(auto_chain("pro", "flash"), opened, person), "pro", BUSY) == "flash"
    assert person.questions == []


@pytest.mark.parametrize(
    ("answer", "after"), [(Outcome.PROCEED_ONCE, "flash"), (Outcome.STOP, None), (Outcome.CANCEL, None)]
)
def test_the_person_decides(answer: Outcome, after: str | None) -> None:
    person = Person(answer)
    assert next_name(ChainFallback(asking_chain("pro", "flash"), opened, person), "pro", QUOTA) == after
    (question,) = person.questions
    assert isinstance(question.confirmation, ModelChangeConfirmation)
    assert (question.confirmation.before, question.confirmation.after) == ("pro", "flash")
    assert question.confirmation.reason == "No quota."


def test_the_person_lets_it_try_again() -> None:
    person = Person(Outcome.TRY_AGAIN, Outcome.PROCEED_ONCE)
    fallback = ChainFallback(asking_chain("pro", "flash"), opened, person)
    model = NamedModel("pro")
    assert asyncio.run(fallback.successor(model, BUSY)) is model
    assert next_name(fallback, "pro", BUSY) == "flash"


def test_a_chain_ends() -> None:
    fallback = ChainFallback(auto_chain("lite", "flash", "pro"), opened, None)
    assert next_name(fallback, "lite", MISSING) == "flash"
    assert next_name(fallback, "flash", MISSING) == "pro"
    assert next_name(fallback, "pro", MISSING) is None


def test_a_model_that_is_none_of_the_chain_stands_alone() -> None:
    assert next_name(ChainFallback(auto_chain("pro", "flash"), opened, None), "other", BUSY) is None


def test_capacity_comes_back_after_half_a_minute() -> None:
    clock = Clock()
    fallback = ChainFallback(auto_chain("pro", "flash"), opened, None, clock)
    assert next_name(fallback, "pro", BUSY) == "flash"
    clock.now = 29.9
    assert fallback.preferred(NamedModel("flash")) is None
    assert next_name(fallback, "flash", BUSY) is None
    clock.now = 30.0
    preferred = fallback.preferred(NamedModel("flash"))
    assert preferred is not None
    assert preferred.name == "pro"
    assert fallback.preferred(NamedModel("pro")) is None
    assert fallback.preferred(NamedModel("other")) is None


def test_quota_does_not_come_back() -> None:
    clock = Clock()
    fallback = ChainFallback(auto_chain("pro", "flash"), opened, Person(Outcome.PROCEED_ONCE), clock)
    assert next_name(fallback, "pro", QUOTA) == "flash"
    clock.now = 10_000.0
    assert fallback.preferred(NamedModel("flash")) is None
    assert next_name(fallback, "flash", BUSY) is None


def test_what_the_person_chose_stays() -> None:
    clock = Clock()
    fallback = ChainFallback(asking_chain("pro", "flash"), opened, Person(Outcome.PROCEED_ONCE), clock)
    assert next_name(fallback, "pro", BUSY) == "flash"
    clock.now = 60.0
    assert fallback.preferred(NamedModel("flash")) is None


def test_a_model_that_cannot_be_opened() -> None:
    def refuse(link: ChainLink) -> ModelClient:
        raise UsageError(f"No {link.name}.")

    fallback = ChainFallback(auto_chain("pro", "flash"), refuse, None)
    with pytest.raises(ModelFailure, match=r"Busy\. No fallback model is available: No flash\."):
        next_name(fallback, "pro", BUSY)


def test_the_fallback_of_the_settings_is_used_once() -> None:
    fallback = SingleFallback(lambda: NamedModel("other"))
    assert asyncio.run(fallback.successor(NamedModel("m"), MISSING)) is None
    other = asyncio.run(fallback.successor(NamedModel("m"), BUSY))
    assert other is not None
    assert other.name == "other"
    assert asyncio.run(fallback.successor(NamedModel("m"), BUSY)) is None
    assert fallback.preferred(NamedModel("other")) is None
