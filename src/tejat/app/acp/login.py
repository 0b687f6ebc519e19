"""The login at a terminal, which a client starts apart from its connection."""

from tejat.app.model_source import open_named_model
from tejat.app.onboarding.model import setup_model
from tejat.app.onboarding.trust import StartupExit
from tejat.app.run_config import load_agent_config
from tejat.core.agent.options import AgentOptions
from tejat.core.i18n import _
from tejat.core.model import FailureKind, ModelFailure
from tejat.core.ui.prompter import UserPrompter
from tejat.core.ui.report import Tone, text_report


async def log_in_at_terminal(options: AgentOptions, user: UserPrompter) -> bool:
    """Let the user enter a key or choose a local model. Returns whether later starts can use it. Raises TejatError."""
    if isinstance(await setup_model(options, user), StartupExit):
        return False
    try:
        model = open_named_model(options.model, load_agent_config(options))
    except ModelFailure as failure:
        if failure.kind is not FailureKind.NO_KEY:
            raise
        text = _("The key was not stored, so your editor cannot use it. Log in again and store it.")
        user.show(text_report(text, Tone.WARNING))
        return False
    await model.close()
    user.show(text_report(_("Ready: your editor uses {model}.", model=model.name), Tone.GOOD))
    return True
