// The page: which view is shown, the one stream for it, and what all views share.

import { announceNow } from "./announce.js";
import { getJson, takeKey } from "./api.js";
import { h, isTextInput } from "./dom.js";
import { FiguresView, HistoryView } from "./history.js";
import { OverviewView } from "./overview.js";
import { SessionView } from "./session/view.js";
import { openSettings, openShortcuts } from "./settings.js";
import { openStream } from "./stream.js";
import { plural, t } from "./texts.js";

const HIDDEN_POLL_SECONDS = 60;
const main = /** @type {HTMLElement} */ (document.getElementById("main"));
const banner = /** @type {HTMLElement} */ (document.getElementById("banner"));

/** @type {OverviewView | SessionView | HistoryView | FiguresView | null} */
let view = null;
/** @type {ReturnType<typeof openStream> | null} */
let stream = null;
let waiting = 0;

async function showPage() {
  stream?.close();
  view?.close();
  setBanner("");
  const session = /^\/session\/([^/]+)$/.exec(location.pathname);
  const looksBack = /^\/history(?:\/([^/]+))?$/.exec(location.pathname);
  if (session) view = new SessionView(decodeURIComponent(session[1]));
  else if (looksBack) view = looksBack[1] ? new FiguresView(decodeURIComponent(looksBack[1])) : new HistoryView();
  else view = new OverviewView();
  const shown = view;
  main.replaceChildren(view.element);
  for (const link of document.querySelectorAll("nav a")) {
    if (link.getAttribute("href") === location.pathname) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  setTitle();
  if (!(await load(shown))) return;
  stream = openStream(() => `/api/stream${shown instanceof SessionView ? shown.query : ""}`, {
    onEvent: (name, data) => handleEvent(shown, name, data),
    onOpen: () => setBanner(""),
    onLost: () => setBanner(t("connection_lost_retry")),
    onRefused: (error) => {
      if (error.status === 401) setBanner(error.message);
      else if (shown === view) reload(shown);
    },
  });
}

/** @param {NonNullable<typeof view>} shown */
async function load(shown) {
  for (let wait = 500; shown === view; wait = Math.min(2 * wait, 8000)) {
    try {
      if (!(shown instanceof OverviewView)) await shown.load();
      return shown === view;
    } catch (error) {
      const status = /** @type {any} */ (error).status ?? 0;
      setBanner(error instanceof Error ? error.message : String(error));
      if (status >= 400 && status < 500) return false;
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }
  return false;
}

/** Load the content of a view again, and go on from there. @param {NonNullable<typeof view>} shown */
async function reload(shown) {
  if (await load(shown)) stream?.restart();
}

/** @param {NonNullable<typeof view>} shown @param {string} name @param {any} data */
function handleEvent(shown, name, data) {
  if (shown !== view) return;
  if (name === "sessions") showSessions(data);
  else if (shown instanceof SessionView && name === "change") shown.apply(data);
  else if (shown instanceof SessionView && name === "reset") reload(shown);
}

/** @param {any[]} sessions */
function showSessions(sessions) {
  if (view instanceof OverviewView) view.show(sessions);
  if (view instanceof SessionView) {
    const id = view.sessionId;
    const entry = sessions.find((each) => each.id === id);
    if (entry) view.setTitle(entry.title);
  }
  const count = sessions.filter((each) => each.activity === "waiting").length;
  if (count > waiting && !(view instanceof SessionView)) announceNow(plural("session_waits", "sessions_wait", count));
  waiting = count;
  setTitle();
}

function setTitle() {
  const name =
    view instanceof SessionView
      ? view.title.textContent
      : view instanceof OverviewView || !view
        ? t("sessions")
        : t("history");
  document.title = `${waiting ? `(${waiting}) ` : ""}${name} – Tejat`;
  const badge = /** @type {HTMLElement} */ (document.getElementById("waiting"));
  badge.hidden = !waiting;
  badge.replaceChildren(
    String(waiting),
    h("span", { class: "visually-hidden", text: ` ${plural("session_waits", "sessions_wait", waiting)}` }),
  );
}

/** @param {string} text */
function setBanner(text) {
  if (banner.textContent !== text) banner.textContent = text;
  banner.hidden = !text;
}

/** A page that nobody sees holds no connection, but its title still says who waits. */
setInterval(async () => {
  if (!document.hidden) return;
  const sessions = await getJson("/api/sessions").catch(() => null);
  if (sessions) showSessions(sessions);
}, HIDDEN_POLL_SECONDS * 1000);

document.addEventListener("click", (event) => {
  const link = /** @type {HTMLElement} */ (event.target).closest?.("a[data-link], #main a[href^='/session/']");
  if (!(link instanceof HTMLAnchorElement) || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  history.pushState(null, "", link.href);
  showPage();
  main.focus({ preventScroll: true });
  scrollTo(0, 0);
});
addEventListener("popstate", showPage);
addEventListener("keydown", (event) => {
  if (event.key === "?" && !isTextInput(event.target) && !document.querySelector("dialog[open]")) {
    event.preventDefault();
    openShortcuts();
  }
});
document.getElementById("settings")?.addEventListener("click", openSettings);
document.getElementById("shortcuts")?.addEventListener("click", openShortcuts);

takeKey();
showPage();
