"""The settings as values: what holds where nobody set anything, and what is never printed."""

from tejat.config.settings.types import McpServer, SessionRetention, Setting, Settings
from tejat.core.approval.modes import ApprovalMode, SandboxRequest
from tejat.core.frozen import fields_of


def test_what_holds_where_nobody_set_anything() -> None:
    settings = Settings()
    values = {
        each.name: setting.value
        for each in fields_of(Settings)
        if isinstance(setting := getattr(settings, each.name), Setting)
    }
    assert values == {
        "strict_stderr": False,
        "llm_correction": True,
        "output_characters": 40_000,
        "sandbox": SandboxRequest(),
        "tool_sandboxing": False,
        "shell_idle_seconds": 300.0,
        "shell_environment": (),
        "auto_allow_sandboxed": False,
        "editor_terminals": True,
        "session_server": True,
        "max_session_turns": None,
        "max_attempts": 5,
        "compression_threshold": 0.5,
        "loop_detection": True,
        "model_overrides": (),
        "custom_model_overrides": (),
        "dynamic_model_configuration": False,
        "model_router": False,
        "plan_model_routing": True,
        "retry_fetch_errors": True,
        "ipv4_first": False,
        "context_file_names": ("GEMINI.md", "AGENTS.md"),
        "load_memory_from_include_directories": False,
        "import_format": "tree",
        "discovery_max_directories": 200,
        "include_directory_tree": True,
        "memory_boundary_markers": (".git",),
        "respect_git_ignore": True,
        "respect_gemini_ignore": True,
        "recursive_file_search": True,
        "fuzzy_file_search": True,
        "editor_new_window": False,
        "auto_theme": True,
        "uses_backgrounds": True,
        "shows_line_numbers": True,
        "vim_mode": False,
        "notifications_enabled": False,
        "notification_method": "auto",
        "strict_settings": False,
        "session_retention": SessionRetention(30.0, None, 1.0),
        "screen_reader": False,
        "animations": True,
        "home_directory_warning": True,
        "hides_banner": False,
        "hides_tips": False,
        "hides_window_title": False,
        "dynamic_window_title": True,
        "shows_status_in_title": False,
        "inline_thinking": "off",
        "compact_tool_output": True,
        "shows_model_in_chat": False,
        "output_format": "text",
        "shows_gemma": True,
        "footer_hides_folder": False,
        "footer_hides_sandbox": False,
        "footer_hides_model": False,
        "footer_hides_context": False,
        "hides_footer": False,
        "background_completion": "silent",
        "escape_pasted_at": False,
        "approval_mode": ApprovalMode.DEFAULT,
        "plan_enabled": True,
        "yolo_disabled": False,
        "always_disabled": False,
        "conseca": False,
        "folder_trust": True,
        "mcp_enabled": True,
        "secure_mode": False,
        "extensions_enabled": True,
        "skills_enabled": True,
        "block_git_extensions": False,
        "extension_config_enabled": True,
        "skills_switch": True,
        "skills_confirm": False,
        "skills_catalog_tokens": 2000,
        "agents_enabled": True,
        "agents_max_parallel": 4,
        "agents_max_runs": 50,
        "agents_catalog_tokens": 2000,
        "agents_claude": False,
        "uses_write_todos": True,
        "environment_allowed": (),
        "ignore_local_env": False,
    }
    assert [entry.value for entry in settings.excluded_environment] == [
        *("DEBUG", "DEBUG_MODE"),
        *("GEMINI_CLI_IDE_SERVER_STDIO_COMMAND", "GEMINI_CLI_IDE_SERVER_STDIO_ARGS"),
    ]
    others = {each.name for each in fields_of(Settings)} - {*values, "excluded_environment"}
    assert [name for name in others if getattr(settings, name)] == []


def test_a_server_is_printed_without_what_may_be_secret() -> None:
    server = McpServer(
        command="run",
        arguments=("--token=SECRET",),
        environment={"K": "SECRET"},
        url="http://SECRET@h",
        headers={"A": "SECRET"},
        oauth={"clientSecret": "SECRET"},
    )
    assert "SECRET" not in repr(Setting({"one": server}))
    assert "run" in repr(server)
