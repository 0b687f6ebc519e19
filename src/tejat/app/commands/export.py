"""`/export`: write the conversation to a Markdown or JSON file."""

import os
import time
from collections.abc import Sequence

from tejat.app.commands.base import CommandContext, SlashCommand, complete_from
from tejat.app.session.transcript_export import path_exists, render_transcript, resolve_path
from tejat.core.errors import UsageError
from tejat.core.i18n import _
from tejat.core.text.secret_mask import mask_tokens
from tejat.core.ui.commands import CompletionItem
from tejat.core.ui.prompter import Choice, Option, UserPrompter
from tejat.core.ui.report import Tone, text_report
from tejat.engine.calls.secret_mask import SecretMask
from tejat.workspace.files.private_files import write_private_file

_FORMATS = {"md": ".md", "markdown": ".md", "json": ".json"}


class ExportCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter) -> None:
        ending = _FORMATS.get(arguments.casefold())
        await export_conversation(self.context, _default_name(ending) if ending else arguments, user)

    async def suggestions(self, typed: str) -> Sequence[CompletionItem]:
        return complete_from(typed, [("md", _("Markdown")), ("json", _("JSON"))])


async def export_conversation(context: CommandContext, name: str, user: UserPrompter) -> None:
    """Write the conversation to a file, Markdown without a name. Asks before it overwrites one.

    Secrets are masked. Raises UsageError for another format and a file that cannot be written.
    """
    run_config, conversation = context.run_config, context.conversation
    name = name or _default_name(".md")
    ending = os.path.splitext(name)[1].lower()
    if ending == ".html":
        command = f"tejat export latest {name}"
        raise UsageError(_("Use `{command}` for HTML, or a name that ends with .md or .json.", command=command))
    if ending not in (".md", ".json"):
        raise UsageError(_("Invalid file format. Only .md and .json are supported."))
    messages = conversation.history.messages[conversation.template.preamble_length :]
    if not messages:
        user.show(text_report(_("The conversation is empty: nothing to export.")))
        return
    path = resolve_path(name, directory=run_config.roots[0], home=run_config.paths.home)
    if _is_directory(path):
        raise UsageError(_("{path} is a directory.", path=path))
    if path_exists(path) and not await confirm(user, _("{path} exists. Overwrite it?", path=path)):
        user.show(text_report(_("Nothing was written.")))
        return
    text = render_transcript(messages, as_json=ending == ".json")
    text = mask_tokens(SecretMask(run_config.named_secrets).mask_text(text))
    try:
        write_private_file(path, text.encode("utf-8", "replace"), follow_symlinks=False)
    except OSError as error:
        raise UsageError(_("Could not write {path}: {why}.", path=path, why=error.strerror or str(error))) from error
    user.show(text_report(_("Conversation written to {path}", path=path), Tone.GOOD))


async def confirm(user: UserPrompter, question: str) -> bool:
    """Ask a question whose first answer is no."""
    index = await user.choose(Choice(question, (Option(_("No")), Option(_("Yes"))), is_critical=True))
    return index == 1


def _is_directory(path: str) -> bool:
    return os.path.isdir(path)


def _default_name(ending: str) -> str:
    return time.strftime("conversation-%Y-%m-%d-%H%M%S") + ending
