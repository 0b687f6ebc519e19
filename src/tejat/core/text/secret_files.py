"""Files that usually hold secrets, judged by their names alone."""

_NAMES = frozenset(
    {
        *(".env", ".envrc", ".secrets", ".netrc", "_netrc", ".pgpass", ".my.cnf", ".mylogin.cnf", ".htpasswd"),
        *(".git-credentials", ".npmrc", ".pypirc", ".dockercfg", ".s3cfg", ".boto", ".databrickscfg", ".vault-token"),
        *("credentials.json", "client_secret.json", "service-account.json", "service_account.json", "kubeconfig"),
        *("id_rsa", "id_dsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk"),
        *(f"secrets.{ending}" for ending in ("env", "ini", "json", "toml", "yaml", "yml")),
    }
)
_ENDINGS = (".env", ".pem", ".key", ".ppk", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ovpn", ".tfvars")
# The name of a file with the directory that it is in.
_NAMES_IN_DIRECTORY = frozenset(
    {
        *(".aws/credentials", ".aws/config", ".kube/config", ".docker/config.json", "gh/hosts.yml"),
        *(".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".codex/auth.json"),
        *(".claude/.credentials.json", "containers/auth.json", "huggingface/token", ".huggingface/token"),
    }
)
_IN_DIRECTORY_ENDINGS = tuple(f"/{name}" for name in _NAMES_IN_DIRECTORY)
_DIRECTORIES = ("/.ssh/", "/.gnupg/", "/.password-store/")
_HARMLESS_ENDINGS = (".pub", ".example", ".sample", ".template", ".tmpl", ".dist", ".defaults", ".schema")


def is_secret_file(path: str) -> bool:
    """Whether a file of this name usually holds passwords, tokens or private keys."""
    rooted = f"/{path.casefold()}"
    if rooted.endswith(_HARMLESS_ENDINGS):
        return False
    name = rooted[rooted.rindex("/") + 1 :]
    return (
        name in _NAMES
        or name.endswith(_ENDINGS)
        or name.startswith(".env.")
        or rooted.endswith(_IN_DIRECTORY_ENDINGS)
        or any(directory in rooted for directory in _DIRECTORIES)
    )
