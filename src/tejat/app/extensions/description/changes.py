"""Files of an extension that differ from what was agreed to."""

from collections.abc import Mapping

from tejat.config.extensions.consent_store import ConsentDetails, ExtensionConsent
from tejat.config.extensions.pins import Pin
from tejat.core.frozen import Frozen
from tejat.core.i18n import _, lazy, ngettext
from tejat.core.messages.types import JsonObject
from tejat.core.ui.report import DiffBlock, Paragraph, Report, ReportBlock, Tone
from tejat.workspace.text.diff import create_patch

_MAX_NAMED = 50


class TextChange(Frozen):
    """A declared file that changed. `patch` is empty if one of its versions is not a text that was kept."""

    path: str
    patch: str
    kind: str


class CodeChange(Frozen):
    """A file with code that was changed, added or removed."""

    path: str
    kind: str


class ExtensionChanges(Frozen):
    """All files that changed."""

    texts: tuple[TextChange, ...]
    code: tuple[CodeChange, ...]

    def __bool__(self) -> bool:
        return bool(self.texts or self.code)

    def report(self, title: str = "") -> Report:
        """The diffs of the texts, then the list of changed code."""
        blocks: list[ReportBlock] = []
        for change in self.texts:
            blocks.append(Paragraph(f"{change.kind} {change.path}", Tone.STRONG))
            if change.patch:
                blocks.append(DiffBlock(change.patch))
        if self.code:
            count = len(self.code)
            blocks.append(Paragraph(ngettext("{count} file of code changed:", "{count} files of code changed:", count)))
            named = [f"  {change.kind} {change.path}" for change in self.code[:_MAX_NAMED]]
            if count > _MAX_NAMED:
                named.append("  " + _("and {count} more", count=f"{count - _MAX_NAMED:,}"))
            blocks.append(Paragraph("\n".join(named)))
        return Report(title or _("Changed files"), tuple(blocks))

    def to_json(self) -> JsonObject:
        return {
            "texts": [{"path": each.path, "kind": each.kind, "patch": each.patch} for each in self.texts],
            "code": [{"path": each.path, "kind": each.kind} for each in self.code],
        }


class ExtensionFiles(Frozen):
    """The files of one version: pins of declared files and code, and the texts of the declared ones."""

    declared: Mapping[str, Pin]
    code: Mapping[str, Pin]
    texts: Mapping[str, str]

    @classmethod
    def agreed(cls, consent: ExtensionConsent, details: ConsentDetails) -> "ExtensionFiles":
        """The files as they were agreed to."""
        return cls(consent.declared, details.code, details.texts)


def compare_files(old: ExtensionFiles, new: ExtensionFiles) -> ExtensionChanges:
    """The files that differ. A file whose old content is not known yet counts as changed if its identity did."""
    texts = [
        TextChange(path, _patch(path, old.texts, new.texts), _kind(path, old.declared, new.declared))
        for path in _changed(old.declared, new.declared)
    ]
    code = [CodeChange(path, _kind(path, old.code, new.code)) for path in _changed(old.code, new.code)]
    return ExtensionChanges(tuple(texts), tuple(code))


def _changed(old: Mapping[str, Pin], new: Mapping[str, Pin]) -> list[str]:
    return [path for path in sorted({*old, *new}) if not _is_same(old.get(path), new.get(path))]


def _is_same(old: Pin | None, new: Pin | None) -> bool:
    if old is None or new is None:
        return False
    if not old.digest:
        return old.identity == new.identity
    return (old.digest, old.is_executable) == (new.digest, new.is_executable)


def _kind(path: str, old: Mapping[str, Pin], new: Mapping[str, Pin]) -> str:
    if path not in old:
        return _ADDED
    return _CHANGED if path in new else _REMOVED


def _patch(path: str, old: Mapping[str, str], new: Mapping[str, str]) -> str:
    if path not in old and path not in new:
        return ""
    before, after = old.get(path, ""), new.get(path, "")
    return create_patch(path, before, after, old_header=_("agreed"), new_header=_("now")).text


_ADDED = lazy("added")
_CHANGED = lazy("changed")
_REMOVED = lazy("removed")
