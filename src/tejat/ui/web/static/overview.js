// The list of sessions: those that wait first.

import { h } from "./dom.js";
import { age, plural, t } from "./texts.js";

const GROUPS = /** @type {const} */ (["waiting", "working", "idle", "ended"]);

export class OverviewView {
  constructor() {
    this.groups = h("div", { class: "groups" });
    this.empty = h("p", { class: "empty", hidden: true, text: t("no_sessions") });
    this.element = h("div", { class: "overview" }, h("h1", { text: t("sessions") }), this.empty, this.groups);
    /** @type {any[]} */
    this.sessions = [];
    this.timer = setInterval(() => document.hidden || this.showAges(), 30000);
  }

  close() {
    clearInterval(this.timer);
  }

  /** @param {any[]} sessions */
  show(sessions) {
    this.sessions = sessions;
    this.empty.hidden = sessions.length > 0;
    const focused = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset?.session;
    const groups = GROUPS.map((name) => [name, sessions.filter((each) => each.activity === name)]).filter(
      ([, found]) => found.length,
    );
    this.groups.replaceChildren(
      ...groups.map(([name, found]) => this.buildGroup(/** @type {string} */ (name), /** @type {any[]} */ (found))),
    );
    if (focused)
      /** @type {HTMLElement | null} */ (this.groups.querySelector(`[data-session="${CSS.escape(focused)}"]`))?.focus();
  }

  /** @param {string} name @param {any[]} sessions */
  buildGroup(name, sessions) {
    return h(
      "section",
      { class: `group ${name}`, "aria-labelledby": `group-${name}` },
      h("h2", { id: `group-${name}` }, t(`group_${name}`), " ", h("span", { class: "count", text: sessions.length })),
      h("ul", {}, ...sessions.map((session) => this.buildSession(session))),
    );
  }

  /** @param {any} session */
  buildSession(session) {
    const facts = [session.cost, session.turns ? plural("turn", "turns", session.turns) : "", session.model].filter(
      Boolean,
    );
    return h(
      "li",
      { class: `session-entry ${session.activity}` },
      h(
        "a",
        { href: `/session/${encodeURIComponent(session.id)}`, "data-session": session.id, "data-link": true },
        h("span", { class: "title", text: session.title || t("no_title") }),
      ),
      session.detail && h("p", { class: "waits", text: session.detail }),
      h(
        "p",
        { class: "detail" },
        h("span", { text: session.folder }),
        " · ",
        h("span", {
          "data-since": session.activity === "waiting" ? session.since : session.modified,
          text: this.ageOf(session),
        }),
        ...facts.flatMap((fact) => [" · ", fact]),
      ),
    );
  }

  /** @param {any} session */
  ageOf(session) {
    return session.activity === "waiting" ? t("waiting_since", { age: age(session.since) }) : age(session.modified);
  }

  showAges() {
    this.show(this.sessions);
  }
}
