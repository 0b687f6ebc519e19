"""A skill: what its SKILL.md says, and where it comes from."""

from collections.abc import Mapping
from types import MappingProxyType

from tejat.core.frozen import Frozen
from tejat.core.provenance import Party, Provenance

CODEX_FILE = "agents/openai.yaml"
"""Settings of a skill for codex."""
MAX_NAME = 64
MAX_DESCRIPTION = 1024
MAX_COMPATIBILITY = 500
LONG_BODY_LINES = 500
LONG_BODY_TOKENS = 5000


class SkillFields(Frozen):
    """The front matter of a SKILL.md, and the size of its body.

    `allowed_tools` are what its author wishes for, never a permission. `ineffective` are fields of other programs that
    have no effect. `notes` tell what was changed or is wrong, each as a clause without the name of the file.
    """

    name: str
    description: str
    license: str = ""
    compatibility: str = ""
    metadata: Mapping[str, str] = MappingProxyType({})
    allowed_tools: tuple[str, ...] = ()
    is_model_invocable: bool = True
    is_user_invocable: bool = True
    argument_hint: str = ""
    ineffective: tuple[str, ...] = ()
    body_lines: int = 0
    body_tokens: int = 0
    notes: tuple[str, ...] = ()

    @property
    def is_long(self) -> bool:
        return self.body_lines > LONG_BODY_LINES or self.body_tokens > LONG_BODY_TOKENS


class Skill(Frozen):
    """A skill in use or not. `call_name` is what it is activated by, `digest` the pin of its SKILL.md, if any."""

    fields: SkillFields
    directory: str
    provenance: Provenance
    call_name: str = ""
    pin: str = ""

    @property
    def name(self) -> str:
        return self.fields.name

    @property
    def path(self) -> str:
        """The SKILL.md."""
        return self.provenance.path

    @property
    def qualified_name(self) -> str:
        return f"{self.provenance.prefix}:{self.name}"

    @property
    def is_built_in(self) -> bool:
        return self.provenance.party is Party.BUILT_IN

    @property
    def slash_name(self) -> str:
        """The name of its slash command; one of an extension is always qualified."""
        return self.qualified_name if self.provenance.party is Party.EXTENSION else self.name
