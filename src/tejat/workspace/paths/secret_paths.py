"""Well-known locations of secrets in a home directory, which sandboxed commands must not read."""

import os
from collections.abc import Sequence

from tejat.core.text.paths import is_beneath

_IN_HOME = (
    # keys and passwords
    *(".ssh", ".gnupg", ".password-store", ".local/share/keyrings", ".local/share/kwalletd", ".1password"),
    *(".config/1Password", ".config/op", ".config/Bitwarden CLI", ".config/sops", ".config/age", ".vault-token"),
    *(".netrc", ".pgpass", ".my.cnf", ".mylogin.cnf", ".env", "Library/Keychains"),
    # code hosts and package registries
    *(".git-credentials", ".config/git/credentials", ".config/gh", ".config/glab-cli", ".config/hub", ".npmrc"),
    *(".yarnrc.yml", ".pypirc", ".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials"),
    *(".gradle/gradle.properties", ".m2/settings.xml", ".m2/settings-security.xml"),
    # clouds and clusters
    *(".aws", ".azure", ".config/gcloud", ".config/doctl", ".config/rclone", ".kube", ".docker", ".dockercfg"),
    *(".config/containers/auth.json", ".terraformrc", ".terraform.d", ".pulumi/credentials.json", ".oci"),
    *(".bluemix", ".databrickscfg", ".snowflake", ".fly", ".boto", ".s3cfg", ".kaggle", ".cache/huggingface/token"),
    ".huggingface/token",
    # coding agents, including this one
    *(".config/tejat/keys.env", ".gemini", ".claude/.credentials.json", ".claude.json", ".codex/auth.json"),
    ".config/github-copilot",
    # browsers and mail
    *(".mozilla", ".thunderbird", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware"),
    *(".config/microsoft-edge", "snap/firefox", "Library/Cookies", "Library/Mail", "Library/Messages"),
    *("Library/Application Support/Firefox", "Library/Application Support/Google/Chrome"),
    # histories, which may contain passwords
    *(".bash_history", ".zsh_history", ".local/share/fish/fish_history", ".python_history", ".node_repl_history"),
    *(".psql_history", ".mysql_history", ".rediscli_history", ".sqlite_history", ".lesshst", ".viminfo"),
)


def find_secret_paths(home: str) -> tuple[str, ...]:
    """Return the secret paths that exist below this home."""
    paths = (os.path.join(home, *path.split("/")) for path in _IN_HOME)
    return tuple(path for path in paths if os.path.lexists(path))


def is_sensitive_path(path: str, *, home: str, own_directories: Sequence[str]) -> bool:
    """Whether this real path must not be shown to commands, even if the user lists it.

    It is the home directory or above it, has processes, devices or sockets of the machine, settings of agents or our
    own files, or is a file with credentials. Other secret places can be shown.
    """
    if is_beneath(home, path) or ".gemini" in path.split("/") or any(is_beneath(path, own) for own in _OF_SYSTEM):
        return True
    if any(is_beneath(path, own) or is_beneath(own, path) for own in own_directories):
        return True
    name = os.path.basename(path)
    if name.startswith(".env") or name in _CREDENTIAL_FILES:
        return True
    return not os.path.isdir(path) and path in map(os.path.realpath, find_secret_paths(home))


_OF_SYSTEM = ("/proc", "/sys", "/dev", "/run", "/var/run")
_CREDENTIAL_FILES = frozenset(
    {
        *("credentials", "credentials.json", "credentials.toml", "auth.json", "keys.env"),
        *("id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"),
    }
)
