// Dialogs of slash commands.

import { clientName, postJson } from "../api.js";
import { showNote } from "../announce.js";
import { h, parseMarkup } from "../dom.js";
import { t } from "../texts.js";

const GRACE_SECONDS = 0.4;

export class CommandDialogs {
  /** @param {string} path */
  constructor(path) {
    this.path = path;
    /** @type {HTMLDialogElement | null} */
    this.dialog = null;
    this.id = "";
    this.element = h("p", { class: "elsewhere", hidden: true });
  }

  /** Show the last dialog that is open; one of another window on request. @param {any[]} dialogs */
  show(dialogs) {
    const current = dialogs.at(-1) ?? null;
    if (current?.id === this.id && current) return;
    this.dialog?.close();
    this.dialog?.remove();
    this.dialog = null;
    this.id = current?.id ?? "";
    this.element.hidden = true;
    if (!current) return;
    if (!current.client || current.client === clientName()) this.open(current);
    else {
      this.element.replaceChildren(
        `${t("dialog_elsewhere", { title: current.title })} `,
        h("button", {
          type: "button",
          text: t("answer_here"),
          onclick: () => {
            this.element.hidden = true;
            this.open(current);
          },
        }),
      );
      this.element.hidden = false;
    }
  }

  close() {
    this.dialog?.remove();
  }

  /** @param {any} asked */
  open(asked) {
    const openedAt = performance.now();
    const send = async (/** @type {any} */ value) => {
      if (value !== null && asked.critical && performance.now() - openedAt < GRACE_SECONDS * 1000) return;
      try {
        await postJson(`${this.path}/dialog`, { dialog: asked.id, value });
      } catch (error) {
        showNote(error instanceof Error ? error.message : String(error));
      }
    };
    const dialog = h(
      "dialog",
      { class: `command-dialog ${asked.kind}`, "aria-labelledby": "dialog-title" },
      asked.html &&
        h(
          "div",
          { class: "dialog-report", tabindex: "0", role: "group", "aria-label": t("details") },
          parseMarkup(asked.html),
        ),
      h("h2", { id: "dialog-title", text: asked.title }),
      this.build(asked, send),
    );
    dialog.addEventListener("cancel", (/** @type {Event} */ event) => {
      event.preventDefault();
      send(null);
    });
    document.body.append(dialog);
    /** @type {any} */ (dialog).showModal();
    /** @type {HTMLElement | null} */ (dialog.querySelector("[data-first]"))?.focus();
    this.dialog = /** @type {any} */ (dialog);
  }

  /** @param {any} asked @param {(value: any) => void} send */
  build(asked, send) {
    const cancel = h("button", { type: "button", text: t("cancel"), onclick: () => send(null) });
    if (asked.kind === "choose") return this.buildChoice(asked, send, cancel);
    const id = "dialog-text";
    const isLine = asked.kind === "enter";
    const input = isLine
      ? h("input", {
          id,
          type: asked.secret ? "password" : "text",
          value: asked.text,
          autocomplete: "off",
          "data-first": true,
        })
      : h("textarea", { id, rows: "16", value: asked.text, readonly: asked.kind === "copy", "data-first": true });
    const done = async () => {
      if (asked.kind === "copy") {
        await navigator.clipboard.writeText(asked.text).then(
          () => showNote(t("copied")),
          () => input.select(),
        );
        send("copied");
      } else send(input.value);
    };
    const label = t(asked.kind === "copy" ? "copy" : "ok");
    return h(
      "form",
      {
        onsubmit: (/** @type {Event} */ event) => {
          event.preventDefault();
          done();
        },
      },
      h("label", { for: id, class: "visually-hidden", text: asked.title }),
      input,
      h("div", { class: "buttons" }, h("button", { type: "submit", class: "primary", text: label }), cancel),
    );
  }

  /** @param {any} asked @param {(value: any) => void} send @param {HTMLElement} cancel */
  buildChoice(asked, send, cancel) {
    const options = asked.options.map((/** @type {any} */ option, /** @type {number} */ index) =>
      h(
        "button",
        { type: "button", class: "option-button", "data-first": index === asked.initial, onclick: () => send(index) },
        h("span", { class: "name", text: option.label }),
        option.detail && h("span", { class: "detail", text: option.detail }),
        option.note && h("span", { class: "detail", text: option.note }),
      ),
    );
    const list = h("div", { class: "option-list", role: "group", "aria-labelledby": "dialog-title" }, ...options);
    list.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      const index = options.indexOf(document.activeElement);
      if (!step || index < 0) return;
      event.preventDefault();
      options[(index + step + options.length) % options.length].focus();
    });
    return h("div", {}, list, h("div", { class: "buttons" }, cancel));
  }
}
