"""External editors that the setting `general.preferredEditor` may name."""

KNOWN_EDITORS: dict[str, tuple[str, ...]] = {
    "vscode": ("code", "code-insiders"),
    "vscodium": ("codium", "vscodium"),
    "windsurf": ("windsurf",),
    "cursor": ("cursor",),
    "zed": ("zed", "zeditor"),
    "antigravity": ("agy",),
    "sublimetext": ("subl",),
    "lapce": ("lapce",),
    "nova": ("nova",),
    "bbedit": ("bbedit",),
    "vim": ("vim",),
    "neovim": ("nvim",),
    "emacs": ("emacs",),
    "emacsclient": ("emacsclient -t",),
    "hx": ("hx", "helix"),
    "micro": ("micro",),
    "nano": ("nano",),
    "vi": ("vi",),
}
"""Names with their commands; the first one found on PATH is used."""

EDITOR_VARIABLES = ("VISUAL", "EDITOR")
"""Variables that name the editor if the setting does not, highest precedence first."""
