"""Which agents there are, by what names, and what becomes of files that cannot be used."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import pytest

from tejat.config.agents.entries import SubagentState
from tejat.config.agents.places import find_agent_directories
from tejat.config.agents.registry import SubagentRegistry, SubagentSources
from tejat.config.agents.tool_list import KnownTools
from tejat.config.extensions.active import ActiveExtension
from tejat.config.paths import AppPaths, SourceTier
from tejat.config.settings.types import Setting
from tejat.config.trust.decision import TrustDecision, TrustLevel
from tejat.config.trust.store import TrustItem
from tejat.core.frozen import replace
from tejat.core.messages.types import JsonObject
from tejat.core.provenance import Party

TRUSTED = TrustDecision(TrustLevel.TRUSTED, "As a test says.")
UNTRUSTED = TrustDecision(TrustLevel.UNKNOWN, "As a test says.")
KNOWN = KnownTools({name: name for name in ("read_file", "glob", "write_file", "get_internal_docs")})
BUILT_IN = ["codebase_investigator", "generalist", "cli_help"]


class Machine:
    """A home and a project with places for agents."""

    def __init__(self, base: Path) -> None:
        self.home, self.root, self.extension = base / "home", base / "project", base / "ext"
        home = str(self.home)
        self.paths = AppPaths(home, f"{home}/config", f"{home}/state", f"{home}/.gemini", ())
        self.own, self.project = self.home / ".gemini/agents", self.root / ".gemini/agents"
        self.root.mkdir()

    def registry(
        self,
        trust: TrustDecision = TRUSTED,
        *,
        claude: bool = False,
        extensions: Sequence[str] = ("tools",),
        **sources: object,
    ) -> SubagentRegistry:
        return SubagentRegistry(self.sources(trust, claude=claude, extensions=extensions, **sources))

    def sources(
        self,
        trust: TrustDecision = TRUSTED,
        *,
        claude: bool = False,
        extensions: Sequence[str] = ("tools",),
        **sources: object,
    ) -> SubagentSources:
        active = [ActiveExtension(name, "1.0", str(self.extension)) for name in extensions]
        places = find_agent_directories(self.paths, str(self.root), trust, active, reads_claude=claude)
        made = SubagentSources(tuple(places), known_tools=lambda: KNOWN, cache_path=self.paths.yaml_cache)
        return replace(made, **sources)

    def pinned(self) -> TrustDecision:
        items = [
            TrustItem(str(path.relative_to(self.root)), "agent", sha256(path.read_bytes()).hexdigest())
            for path in sorted(self.root.rglob("*.md"))
        ]
        return TrustDecision(TrustLevel.TRUSTED, "", tuple(items))


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def put(directory: Path, name: str, body: str = "Work.", more: str = "", file: str = "") -> Path:
    path = directory / (file or f"{name}.md")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\nname: {name}\ndescription: Does {name}.\n{more}---\n{body}\n")
    return path


def names(registry: SubagentRegistry) -> list[str]:
    return [each.name for each in registry.available()]


def prompt(registry: SubagentRegistry, name: str) -> str | None:
    found = registry.find(name)
    return None if found is None else found.prompt


def test_without_files_there_are_the_built_in_agents(machine: Machine) -> None:
    registry = machine.registry()
    assert names(registry) == BUILT_IN
    assert registry.problems == ()
    assert not (machine.home / "state").exists()


def test_project_before_user_before_extension(machine: Machine) -> None:
    put(machine.extension / "agents", "x", "Extension.")
    assert prompt(machine.registry(), "x") == "Extension."
    put(machine.own, "x", "User.")
    assert prompt(machine.registry(), "x") == "User."
    put(machine.project, "x", "Project.")
    registry = machine.registry()
    assert prompt(registry, "x") == "Project."
    assert prompt(registry, "project:x") == "Project."
    assert prompt(registry, "user:x") == "User."
    assert prompt(registry, "tools:x") == "Extension."
    assert registry.find("other:x") is None
    assert [(hidden.qualified_name, owner.qualified_name) for hidden, owner in registry.shadowed()] == [
        ("user:x", "project:x"),
        ("tools:x", "project:x"),
    ]
    assert registry.problems == ()


def test_a_built_in_agent_keeps_its_name(machine: Machine) -> None:
    put(machine.own, "generalist", "Mine.")
    registry = machine.registry()
    assert prompt(registry, "generalist") != "Mine."
    assert prompt(registry, "user:generalist") == "Mine."
    assert prompt(registry, "builtin:generalist") == prompt(registry, "generalist")


def test_nothing_of_an_untrusted_project_is_read(machine: Machine) -> None:
    put(machine.project, "x")
    (machine.project / "broken.md").write_text("no front matter")
    registry = machine.registry(UNTRUSTED)
    assert names(registry) == BUILT_IN
    assert registry.problems == ()


def test_a_project_agent_must_be_as_it_was_trusted(machine: Machine) -> None:
    path = put(machine.project, "x")
    trust = machine.pinned()
    assert prompt(machine.registry(trust), "x") == "Work."
    path.write_text(path.read_text() + "More.")
    registry = machine.registry(trust)
    assert registry.find("x") is None
    assert registry.problems == (f"Skipped the agent in {path}: it changed after the folder was checked.",)


def test_links_out_of_the_project_are_not_followed(machine: Machine, tmp_path: Path) -> None:
    outside = put(tmp_path / "elsewhere", "x")
    machine.project.mkdir(parents=True)
    (machine.project / "x.md").symlink_to(outside)
    registry = machine.registry()
    assert registry.find("x") is None
    assert "it points outside" in registry.problems[0]


def test_own_links_are_followed(machine: Machine, tmp_path: Path) -> None:
    outside = put(tmp_path / "elsewhere", "x")
    machine.own.mkdir(parents=True)
    (machine.own / "x.md").symlink_to(outside)
    assert prompt(machine.registry(), "x") == "Work."


def test_the_home_directory_as_a_project_has_one_set_of_agents(machine: Machine) -> None:
    put(machine.own, "x")
    machine.root = machine.home
    registry = machine.registry()
    assert [each.qualified_name for each in registry.entries[3:]] == ["user:x"]


def test_only_markdown_files_that_do_not_begin_with_an_underscore(machine: Machine) -> None:
    put(machine.own, "a", file="_a.md")
    put(machine.own, "b", file="b.txt")
    put(machine.own, "c", file="sub/c.md")
    put(machine.own, "d", file=".d.md")
    assert names(machine.registry()) == BUILT_IN


def test_claude_agents_only_if_wanted(machine: Machine) -> None:
    put(machine.home / ".claude/agents", "mine")
    put(machine.root / ".claude/agents", "theirs")
    assert names(machine.registry()) == BUILT_IN
    assert names(machine.registry(claude=True)) == [*BUILT_IN, "theirs", "mine"]


def test_broken_files_have_one_line_each_and_leave_the_rest(machine: Machine) -> None:
    put(machine.own, "good")
    put(machine.own, "hooked", more="hooks: {}\n")
    put(machine.own, "toolless", more="tools: [Nothing]\n")
    (machine.own / "bomb.md").write_text("---\na: &a [x]\nb: [*a, *a]\n---\n")
    (machine.own / "loose.md").write_text("---\nname: loose\ndescription: a: b\ntools: [glob]\n---\nBody.\n")
    (machine.own / "none.md").write_text("# Hello\n")
    (machine.own / "big.md").write_text("x" * 10_000_000)
    registry = machine.registry()
    assert names(registry) == [*BUILT_IN, "good"]
    lines = [line.removeprefix(f"Skipped the agent in {machine.own}/") for line in registry.problems]
    assert lines == [
        "big.md: larger than 8 MiB. Remove what you do not need.",
        "bomb.md: unsupported front matter: anchors (&name) are not supported (line 2).",
        "hooked.md: it has hooks, which agents cannot have here. Move them to the settings.",
        "loose.md: its front matter is not valid YAML, so its tools are not known.",
        "none.md: no front matter: the first line must be ---.",
        "toolless.md: none of its tools exist here: Nothing.",
    ]
    assert all("\n" not in line for line in lines)


def test_two_files_of_one_party_with_one_name(machine: Machine) -> None:
    put(machine.own, "x", "First.", file="a.md")
    put(machine.own, "x", "Second.", file="b.md")
    registry = machine.registry()
    assert prompt(registry, "x") == "First."
    assert registry.problems == (f"Skipped the agent in {machine.own}/b.md: Duplicate agent name 'x' detected.",)


def test_remote_agents_are_listed_as_not_supported(machine: Machine) -> None:
    machine.own.mkdir(parents=True)
    (machine.own / "far.md").write_text(
        "---\nkind: remote\nname: far\nagent_card_url: https://a.example/card\n"
        "auth: {type: apiKey, key: '!touch /tmp/x'}\n---\n"
    )
    (machine.own / "many.md").write_text(
        "---\n- kind: remote\n  name: one\n  agent_card_url: https://b.example\n- kind: remote\n  name: two\n"
        "  agent_card_json: '{}'\n---\n"
    )
    registry = machine.registry()
    assert names(registry) == BUILT_IN
    assert registry.problems == ()
    assert [(each.name, each.state, each.reason) for each in registry.entries[3:]] == [
        ("far", SubagentState.NOT_SUPPORTED, "remote agents are not supported (https://a.example/card)"),
        ("one", SubagentState.NOT_SUPPORTED, "remote agents are not supported (https://b.example)"),
        ("two", SubagentState.NOT_SUPPORTED, "remote agents are not supported (an inline agent card)"),
    ]


def test_hidden_characters_are_removed_and_told(machine: Machine) -> None:
    path = put(machine.own, "x", "Do\u202e it.")
    registry = machine.registry()
    assert prompt(registry, "x") == "Do it."
    assert len(registry.problems) == 1
    assert registry.problems[0].startswith(f"{path}: the body contains hidden characters")


def test_notes_of_a_usable_agent_name_its_file(machine: Machine) -> None:
    path = put(machine.own, "x", more="color: red\n")
    assert machine.registry().problems == (f"{path}: unknown key color, which has no effect.",)


def test_at_most_200_agents(machine: Machine) -> None:
    for number in range(203):
        put(machine.own, f"a{number:03}")
    registry = machine.registry()
    assert len(registry.available()) == len(BUILT_IN) + 200
    assert registry.problems == (f"There are more than 200 agents. Some in {machine.own} are ignored.",)


def test_an_extension_cannot_pass_for_the_user(machine: Machine) -> None:
    put(machine.extension / "agents", "x")
    registry = machine.registry(extensions=["user"])
    assert registry.find("user:x") is None
    assert "its name is reserved" in registry.problems[0]


def test_overrides_and_switches(machine: Machine) -> None:
    put(machine.own, "x")
    override: JsonObject = {"enabled": False}
    settings = [Setting(override, "/s.json:1", SourceTier.USER)]
    registry = machine.registry(overrides={"x": settings, "generalist": settings})
    assert names(registry) == ["codebase_investigator", "cli_help"]
    assert registry.find("user:x") is None
    entry = registry.find_entry("x")
    assert entry is not None
    assert (entry.state, entry.reason) == (SubagentState.DISABLED, "it is disabled in the settings")


def test_names_that_are_excluded_like_tools(machine: Machine) -> None:
    put(machine.own, "x")
    put(machine.own, "y")
    assert names(machine.registry(excluded=frozenset({"x", "cli_help"}))) == [
        "codebase_investigator",
        "generalist",
        "y",
    ]


def test_agents_that_do_not_fit_the_run(machine: Machine) -> None:
    assert names(machine.registry(max_turns=2)) == ["codebase_investigator", "cli_help"]
    assert names(machine.registry(max_turns=3)) == BUILT_IN
    assert names(machine.registry(has_docs_tool=False)) == ["codebase_investigator", "generalist"]


def test_no_agents_at_all(machine: Machine) -> None:
    put(machine.own, "x")
    registry = machine.registry(is_enabled=False)
    assert registry.entries == ()
    assert registry.catalogue(100_000) == ""


def test_files_are_read_on_first_use_and_once(machine: Machine) -> None:
    path = put(machine.own, "x", "Before.")
    registry = machine.registry()
    path.write_text(path.read_text().replace("Before.", "First."))
    with ThreadPoolExecutor() as pool:
        entries = list(pool.map(lambda _: registry.entries, range(8)))
    assert all(each is entries[0] for each in entries)
    path.write_text(path.read_text().replace("First.", "Second."))
    assert prompt(registry, "x") == "First."


def test_reload_reads_files_again(machine: Machine) -> None:
    path = put(machine.own, "x", "First.")
    registry = machine.registry()
    assert prompt(registry, "x") == "First."
    path.write_text(path.read_text().replace("First.", "Second."))
    assert prompt(registry, "x") == "First."
    registry.reload(machine.sources())
    assert prompt(registry, "x") == "Second."


def test_a_second_start_parses_no_yaml(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    put(machine.own, "x", more="tools: [glob]\n")
    assert machine.registry().find("x") is not None
    assert os.stat(machine.paths.yaml_cache).st_mode & 0o777 == 0o600
    monkeypatch.setattr("tejat.config.yaml_values.parse_yaml", lambda *_: pytest.fail("parsed again"))
    found = machine.registry().find("x")
    assert found is not None
    assert found.tools == ("glob",)
    assert found.provenance.party is Party.USER
