"""Well-known locations of secrets in a home directory, which sandboxed commands must not read."""

import os

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
