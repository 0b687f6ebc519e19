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
_DIRECTORIES = frozenset({".ssh", ".gnupg", ".password-store"})
_HARMLESS_ENDINGS = (".pub", ".example", ".sample", ".template", ".tmpl", ".dist", ".defaults", ".schema")


def is_secret_file(path: str) -> bool:
    """Whether a file of this name usually holds passwords, tokens or private keys."""
    *directories, name = path.casefold().split("/")
    if name.endswith(_HARMLESS_ENDINGS):
        return False
    return (
        name in _NAMES
        or name.endswith(_ENDINGS)
        or name.startswith(".env.")
        or "/".join((*directories[-1:], name)) in _NAMES_IN_DIRECTORY
        or not _DIRECTORIES.isdisjoint(directories)
    )
