"""The markup of the page itself; everything in it is filled by scripts."""

from html import escape

from tejat.core.i18n import _
from tejat.core.json_text import dump_json
from tejat.ui.web.texts import page_texts

_HEAD = (
    '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    '<meta name="color-scheme" content="light dark"><link rel="icon" href="/static/icon.svg" type="image/svg+xml">'
    '<link rel="stylesheet" href="/static/html/style.css"><link rel="stylesheet" href="/static/charts/charts.css">'
    '<link rel="stylesheet" href="/static/page.css">'
    '<script src="/static/theme.js"></script>'
)


def render_page() -> str:
    """The page of somebody who is signed in."""
    skip, pages, sessions, history = map(escape, (_("Skip to the content"), _("Pages"), _("Sessions"), _("History")))
    shortcuts, settings, no_script = map(
        escape, (_("Keyboard shortcuts"), _("Settings"), _("This page needs JavaScript."))
    )
    return _document(
        _("Sessions"),
        f'<a class="skip" href="#main">{skip}</a>'
        '<header class="bar">'
        '<a class="brand" href="/" data-link><img src="/static/icon.svg" alt="" width="24" height="24"> '
        '<span class="brand-name">Tejat</span></a>'
        f'<nav aria-label="{pages}">'
        f'<a href="/" data-link>{sessions} <span id="waiting" class="badge" hidden></span></a>'
        f'<a href="/history" data-link>{history}</a></nav>'
        f'<div class="bar-buttons"><button type="button" id="shortcuts" aria-label="{shortcuts}">?</button>'
        f'<button type="button" id="settings">{settings}</button></div></header>'
        '<p id="banner" class="banner" role="status" hidden></p>'
        '<main id="main" tabindex="-1"></main>'
        f'<noscript><p class="banner">{no_script}</p></noscript>'
        '<div id="notes" class="notes" role="status"></div>'
        '<div id="polite" class="visually-hidden" aria-live="polite"></div>'
        '<div id="assertive" class="visually-hidden" aria-live="assertive"></div>'
        f'{_texts()}<script type="module" src="/static/app.js"></script>',
    )


def render_sign_in(*, with_password: bool) -> str:
    """The page of somebody who is not signed in."""
    if not with_password:
        text = escape(_("Not signed in. Open the link that `tejat web` printed."))
        return _document(_("Not signed in"), f'<main class="sign-in"><h1>Tejat</h1><p>{text}</p></main>')
    label, button = escape(_("Password")), escape(_("Sign in"))
    return _document(
        _("Sign in"),
        f'<main class="sign-in"><h1>Tejat</h1><form><label for="password">{label}</label>'
        '<input id="password" type="password" autocomplete="current-password" required autofocus>'
        f'<button type="submit" class="primary">{button}</button>'
        '<p id="problem" role="alert"></p></form></main>'
        f'{_texts()}<script type="module" src="/static/sign-in.js"></script>',
    )


def render_redirect(target: str) -> str:
    """A page that leads to another address of this server."""
    return f'<!doctype html><title>Tejat</title><meta http-equiv="refresh" content="0; url={escape(target)}">'


def _texts() -> str:
    """The texts of the scripts, as data that is not run."""
    data = dump_json({**page_texts()}).replace("<", "\\u003c")
    return f'<script type="application/json" id="texts">{data}</script>'


def _document(title: str, body: str) -> str:
    head = f"<head>{_HEAD}<title>{escape(title)} – Tejat</title></head>"
    # Translators: the code of your language, as in the attribute `lang` of HTML.
    language = escape(_("en"))
    return f'<!doctype html><html lang="{language}">{head}<body>{body}</body></html>'
