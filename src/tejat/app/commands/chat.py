"""`/chat`: save, resume, list, delete and share conversations."""

from collections.abc import Sequence

from tejat.app.commands.base import SlashCommand, complete_from
from tejat.app.commands.export import confirm, export_conversation
from tejat.app.session.session_switch import conversation_tail, load_saved_chat
from tejat.core.errors import UsageError
from tejat.core.i18n import _
from tejat.core.text.time_format import format_time
from tejat.core.ui.commands import CompletionItem
from tejat.core.ui.prompter import UserPrompter
from tejat.core.ui.report import Report, ReportTable, Tone, text_report
from tejat.engine.sessions.saved_chats import SavedChats

_USAGE = "/chat save|resume|list|delete|share [tag]"
_RESUME_WORDS = ("resume", "restore", "load")


class ChatCommand(SlashCommand):
    async def run(self, arguments: str, user: UserPrompter) -> None:
        word, _unused, rest = arguments.partition(" ")
        match word.lower(), rest.strip():
            case "", _:
                raise UsageError(_("Missing command\nUsage: {usage}", usage=_USAGE))
            case "list", "":
                user.show(self._list_report())
            case ("save" | "delete" | "resume" | "restore" | "load") as action, "":
                raise UsageError(_("Missing tag. Usage: /chat {word} <tag>", word=action))
            case "save", tag:
                await self._save(tag, user)
            case "delete", tag:
                user.show(self._delete(tag))
            case "share", path:
                await export_conversation(self.context, path, user)
            case action, tag if action in _RESUME_WORDS:
                await self._resume(tag, user)
            case _:
                raise UsageError(_("Unknown /chat command: {word}. Available: {known}", word=word, known=_SUBCOMMANDS))

    async def suggestions(self, typed: str) -> Sequence[CompletionItem]:
        word, blank, rest = typed.partition(" ")
        if not blank:
            options = [
                ("save", _("save this conversation under a name")),
                ("resume", _("continue a saved conversation")),
                ("list", _("saved conversations")),
                ("delete", _("delete a saved conversation")),
                ("share", _("write this conversation to a file, like /export")),
            ]
            return complete_from(word, options)
        if word.lower() not in (*_RESUME_WORDS, "save", "delete"):
            return ()
        saved = reversed(self._saved_chats.list_chats())
        return complete_from(rest, [(each.tag, format_time(each.saved_at)) for each in saved])

    @property
    def _saved_chats(self) -> SavedChats:
        run_config = self.context.run_config
        return SavedChats(run_config.paths.chats, run_config.roots[0], secrets=run_config.secrets)

    def _has_messages(self) -> bool:
        conversation = self.context.conversation
        return len(conversation.history.messages) > conversation.template.preamble_length

    def _list_report(self) -> Report:
        rows = tuple((each.tag, format_time(each.saved_at)) for each in self._saved_chats.list_chats())
        if not rows:
            return text_report(_("No saved conversation checkpoints found."))
        return Report(_("List of saved conversations:"), (ReportTable(rows),))

    async def _save(self, tag: str, user: UserPrompter) -> None:
        if not self._has_messages():
            user.show(text_report(_("No conversation found to save.")))
            return
        if self._saved_chats.exists(tag) and not await confirm(
            user, _("A checkpoint with the tag {tag} exists. Overwrite it?", tag=tag)
        ):
            user.show(text_report(_("Nothing was saved.")))
            return
        conversation = self.context.conversation
        self._saved_chats.save(
            tag,
            conversation.history.messages,
            preamble_length=conversation.template.preamble_length,
            session_id=self.context.session.session_id,
            model=conversation.model.name,
        )
        user.show(text_report(_("Conversation checkpoint saved with tag: {tag}.", tag=tag), Tone.GOOD))

    async def _resume(self, tag: str, user: UserPrompter) -> None:
        loaded = self._saved_chats.load(tag)
        if loaded is None:
            raise UsageError(_("No saved checkpoint found with tag: {tag}.", tag=tag))
        await load_saved_chat(self.context.manager, loaded)
        user.show(conversation_tail(loaded.messages, opening=loaded.preamble_length))

    def _delete(self, tag: str) -> Report:
        if not self._saved_chats.delete(tag):
            raise UsageError(_("Error: No checkpoint found with tag '{tag}'.", tag=tag))
        return text_report(_("Conversation checkpoint '{tag}' has been deleted.", tag=tag), Tone.GOOD)


_SUBCOMMANDS = "list, save, resume, delete, share"
