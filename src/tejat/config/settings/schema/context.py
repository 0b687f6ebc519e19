"""Settings of context files, root directories and ignored files."""

from tejat.config.settings import parsers
from tejat.config.settings.file import SettingKey, SettingValue
from tejat.config.settings.merge import last_wins, union, without_project
from tejat.config.settings.schema.spec import SettingSpec

CONTEXT_SETTINGS = (
    SettingSpec(
        "context_file_names", SettingKey("context.fileName", "contextFileName"), parsers.parse_context_file_names
    ),
    SettingSpec(
        "include_directories",
        SettingKey("context.includeDirectories", "includeDirectories"),
        SettingValue.strings,
        union,
    ),
    SettingSpec(
        "load_memory_from_include_directories",
        SettingKey(
            "context.loadMemoryFromIncludeDirectories",
            "context.loadFromIncludeDirectories",
            "loadMemoryFromIncludeDirectories",
        ),
        SettingValue.boolean,
    ),
    SettingSpec("import_format", SettingKey("context.importFormat", "memoryImportFormat"), parsers.parse_import_format),
    SettingSpec(
        "discovery_max_directories",
        SettingKey("context.discoveryMaxDirs", "memoryDiscoveryMaxDirs"),
        SettingValue.count,
    ),
    SettingSpec("include_directory_tree", SettingKey("context.includeDirectoryTree"), SettingValue.boolean),
    SettingSpec("memory_boundary_markers", SettingKey("context.memoryBoundaryMarkers"), parsers.parse_file_names),
    SettingSpec(
        "respect_git_ignore",
        SettingKey("context.fileFiltering.respectGitIgnore", "fileFiltering.respectGitIgnore"),
        SettingValue.boolean,
    ),
    SettingSpec(
        "respect_gemini_ignore",
        SettingKey("context.fileFiltering.respectGeminiIgnore", "fileFiltering.respectGeminiIgnore"),
        SettingValue.boolean,
        without_project(last_wins),
        protects=True,
    ),
    SettingSpec(
        "custom_ignore_files",
        SettingKey("context.fileFiltering.customIgnoreFilePaths", "fileFiltering.customIgnoreFilePaths"),
        SettingValue.strings,
        union,
        protects=True,
    ),
    SettingSpec(
        "recursive_file_search",
        SettingKey("context.fileFiltering.enableRecursiveFileSearch", "fileFiltering.enableRecursiveFileSearch"),
        SettingValue.boolean,
    ),
    SettingSpec(
        "fuzzy_file_search",
        SettingKey(
            *("context.fileFiltering.enableFuzzySearch", "fileFiltering.enableFuzzySearch"),
            *("context.fileFiltering.disableFuzzySearch", "fileFiltering.disableFuzzySearch"),
        ),
        parsers.parse_fuzzy_search,
    ),
)
