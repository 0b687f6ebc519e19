// Looking back: search over all sessions, their figures over time, and the figures of one session.

import { announce } from "./announce.js";
import { getJson } from "./api.js";
import { h, parseMarkup } from "./dom.js";
import { t } from "./texts.js";

const PERIODS = ["7", "30", "90", "365"];

export class HistoryView {
  constructor() {
    this.controller = new AbortController();
    this.input = h("input", { type: "search", id: "search", autocomplete: "off" });
    this.results = h("section", { "aria-label": t("search_results"), class: "results" });
    this.period = h(
      "select",
      { id: "period", onchange: () => this.load() },
      ...PERIODS.map((days) =>
        h("option", { value: days, selected: days === "30", text: t("period_days", { count: days }) }),
      ),
      h("option", { value: "", text: t("period_all") }),
    );
    this.figures = h("div", { class: "figures-box" });
    this.element = h(
      "div",
      { class: "history" },
      h("h1", { text: t("history") }),
      h(
        "form",
        {
          class: "search-form",
          role: "search",
          onsubmit: (/** @type {Event} */ event) => {
            event.preventDefault();
            this.search();
          },
        },
        h("div", { class: "field" }, h("label", { for: "search", text: t("search_label") }), this.input),
        h("button", { type: "submit", class: "primary", text: t("search") }),
      ),
      this.results,
      h("div", { class: "history-period" }, h("label", { for: "period", text: t("period") }), this.period),
      this.figures,
    );
  }

  async load() {
    const { html } = await getJson(`/api/history?days=${this.period.value}`);
    this.figures.replaceChildren(parseMarkup(html));
  }

  async search() {
    const text = this.input.value.trim();
    this.controller.abort();
    this.results.replaceChildren();
    if (!text) return;
    const { signal } = (this.controller = new AbortController());
    this.results.replaceChildren(h("p", { class: "detail", text: t("searching") }));
    try {
      const { html } = await getJson(`/api/search?text=${encodeURIComponent(text)}`, signal);
      this.results.replaceChildren(h("h2", { text: t("search_results") }), parseMarkup(html));
      announce(t("search_results"));
    } catch (error) {
      if (!signal.aborted)
        this.results.replaceChildren(
          h("p", { class: "error", role: "alert", text: error instanceof Error ? error.message : String(error) }),
        );
    }
  }

  close() {
    this.controller.abort();
  }
}

export class FiguresView {
  /** @param {string} sessionId */
  constructor(sessionId) {
    this.sessionId = sessionId;
    this.title = h("h1", { text: t("figures_of") });
    this.figures = h("div", { class: "figures-box" });
    const address = `/session/${encodeURIComponent(sessionId)}`;
    this.element = h(
      "div",
      { class: "history" },
      this.title,
      h("p", {}, h("a", { href: address, "data-link": true, text: t("to_transcript") })),
      this.figures,
    );
  }

  async load() {
    const { title, html } = await getJson(`/api/history/${encodeURIComponent(this.sessionId)}`);
    if (title) this.title.textContent = title;
    this.figures.replaceChildren(parseMarkup(html));
  }

  close() {}
}
