"""What a person may answer to a question about a call, in the order in which they see it."""

from collections.abc import Iterator
from enum import StrEnum

from tejat.core.confirm import (
    Answer,
    EditConfirmation,
    McpConfirmation,
    Outcome,
    Question,
    Scope,
    TrialConfirmation,
)
from tejat.core.value import value
from tejat.core.words import say
from tejat.frontends.questions.lines import one_line


class Act(StrEnum):
    """What comes of a choice that is no answer by itself yet."""

    MODIFY = "modify"
    TELL = "tell"


@value
class Answering:
    """One answer: the letter and the word that stand for it, what it says, and the very rule that it would add.

    `short` is the same where there is little room.
    """

    letter: str
    word: str
    label: str
    short: str
    outcome: Answer | Act
    rule: str = ""

    @property
    def runs_something(self) -> bool:
        """Whether the call would run, be it in a copy."""
        return isinstance(self.outcome, Answer) and self.outcome.outcome not in (Outcome.CANCEL, Outcome.STOP)

    @property
    def told(self) -> str:
        """The label, and the rule with it."""
        return f"{self.label}: {self.rule}" if self.rule else self.label


def choices_of(question: Question) -> list[Answering]:
    """For a risky call the first of them is no."""
    no = Answering("n", "no", say("No"), say("no"), Answer(Outcome.CANCEL))
    if isinstance(question.confirmation, TrialConfirmation):
        no = Answering("n", "no", say("No, throw it away"), say("no"), Answer(Outcome.CANCEL))
        yes = list(_after_trial(question.confirmation))
    else:
        once = Answering("y", "yes", say("Allow once"), say("once"), Answer(Outcome.PROCEED_ONCE))
        yes = [once, *_lasting(question)]
    if question.can_try:
        yes.append(Answering("c", "copy", say("Try it in a copy first"), say("copy"), Answer(Outcome.TRY_IN_COPY)))
    if question.can_modify and isinstance(question.confirmation, EditConfirmation):
        yes.append(Answering("e", "edit", say("Modify with external editor"), say("edit"), Act.MODIFY))
    others = [
        Answering("t", "tell", say("No, and tell the model what to do instead"), say("tell"), Act.TELL),
        Answering("q", "stop", say("No, and stop this turn"), say("stop"), Answer(Outcome.STOP)),
    ]
    return [no, *yes, *others] if question.risks else [*yes, no, *others]


def _after_trial(trial: TrialConfirmation) -> Iterator[Answering]:
    if not trial.obstacles:
        label = say("Keep these changes") if trial.changes else say("Go on with this result")
        yield Answering("y", "yes", label, say("keep"), Answer(Outcome.PROCEED_ONCE))
    yield Answering("r", "real", say("Run it for real instead"), say("real"), Answer(Outcome.RUN_FOR_REAL))


def _lasting(question: Question) -> Iterator[Answering]:
    """The kinds of "always" that can be had, each with the very rule that it would remember."""
    if question.always is None:
        return
    rule = one_line(question.always)
    confirmation = question.confirmation
    if Scope.SESSION in question.scopes:
        if isinstance(confirmation, McpConfirmation):
            answer = Answer(Outcome.PROCEED_ALWAYS_TOOL, scope=Scope.SESSION)
            yield Answering("s", "session", say("Allow tool for this session"), say("session"), answer, rule)
            if question.always_server is not None:
                answer = Answer(Outcome.PROCEED_ALWAYS_SERVER, scope=Scope.SESSION)
                label = say("Allow all server tools for this session")
                yield Answering("a", "all", label, say("server"), answer, one_line(question.always_server))
        else:
            answer = Answer(Outcome.PROCEED_ALWAYS, scope=Scope.SESSION)
            yield Answering("s", "session", say("Allow for this session"), say("session"), answer, rule)
    if Scope.PROJECT in question.scopes:
        answer = Answer(Outcome.PROCEED_ALWAYS_AND_SAVE, scope=Scope.PROJECT)
        yield Answering("p", "project", say("Allow always in this project (saved)"), say("project"), answer, rule)
    if Scope.USER in question.scopes:
        answer = Answer(Outcome.PROCEED_ALWAYS_AND_SAVE, scope=Scope.USER)
        yield Answering("u", "user", say("Allow always for me, in all projects (saved)"), say("me"), answer, rule)
