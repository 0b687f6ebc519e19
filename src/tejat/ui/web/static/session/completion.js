// Completion of files, agents and commands: a list box that belongs to the text box.

import { announce } from "../announce.js";
import { h } from "../dom.js";
import { plural } from "../texts.js";

export class Completion {
  /**
   * @param {HTMLTextAreaElement} area
   * @param {(text: string, signal: AbortSignal) => Promise<{text: string, replace: number, label: string, detail: string}[]>} find
   * @param {string} label
   */
  constructor(area, find, label) {
    this.area = area;
    this.find = find;
    /** @type {{text: string, replace: number, label: string, detail: string}[]} */
    this.items = [];
    this.selected = 0;
    this.typed = "";
    this.controller = new AbortController();
    this.list = h("ul", { class: "completion", id: "completion", role: "listbox", "aria-label": label, hidden: true });
    // A text area may not have the role of a combo box; a text box may have a list all the same.
    area.setAttribute("aria-autocomplete", "list");
    area.setAttribute("aria-controls", "completion");
    area.addEventListener("input", () => this.update());
    area.addEventListener("click", () => this.close());
    area.addEventListener("blur", () => this.close());
  }

  get isOpen() {
    return !this.list.hidden;
  }

  async update() {
    this.controller.abort();
    const before = this.area.value.slice(0, this.area.selectionStart);
    if (!/^\/|(^|\s)@\S*$|@"[^"]*$/.test(before) || (before.startsWith("/") && before.includes("\n"))) {
      this.close();
      return;
    }
    if (this.isOpen) this.narrow(before);
    const { signal } = (this.controller = new AbortController());
    try {
      const items = await this.find(before, signal);
      if (!signal.aborted) this.show(items, before);
    } catch {
      if (!signal.aborted) this.close();
    }
  }

  /** Drop the suggestions that do not fit any more, until the new ones come. @param {string} before */
  narrow(before) {
    const fitting = this.items.filter((item) => {
      const typed = before.slice(this.typed.length - item.replace).toLowerCase();
      const text = item.text.toLowerCase();
      let place = 0;
      return [...typed].every((letter) => (place = text.indexOf(letter, place) + 1) > 0);
    });
    if (fitting.length < this.items.length) this.show(fitting, this.typed);
  }

  /** @param {typeof this.items} items @param {string} typed The text that they complete. */
  show(items, typed) {
    this.typed = typed;
    const isDone = items.length === 1 && typed.endsWith(items[0].text.trimEnd());
    if (!items.length || isDone) {
      this.close();
      return;
    }
    this.items = items;
    this.list.replaceChildren(
      ...items.map((item, index) =>
        h(
          "li",
          {
            role: "option",
            id: `completion-${index}`,
            "aria-selected": "false",
            onmousedown: (/** @type {Event} */ event) => {
              event.preventDefault();
              this.accept(index);
            },
          },
          h("span", { class: "name", text: item.label }),
          item.detail && h("span", { class: "detail", text: item.detail }),
        ),
      ),
    );
    if (!this.isOpen) announce(plural("suggestion", "suggestions", items.length));
    this.list.hidden = false;
    this.select(0);
  }

  close() {
    this.controller.abort();
    if (!this.isOpen) return;
    this.list.hidden = true;
    this.area.removeAttribute("aria-activedescendant");
  }

  /** @param {number} index */
  select(index) {
    this.selected = (index + this.items.length) % this.items.length;
    [...this.list.children].forEach((option, place) =>
      option.setAttribute("aria-selected", String(place === this.selected)),
    );
    this.area.setAttribute("aria-activedescendant", `completion-${this.selected}`);
    this.list.children[this.selected].scrollIntoView({ block: "nearest" });
  }

  /** @param {number} index */
  accept(index) {
    const item = this.items[index];
    // More may have been typed since the list was made.
    this.area.setRangeText(item.text, this.typed.length - item.replace, this.area.selectionStart, "end");
    this.close();
    this.area.dispatchEvent(new Event("input", { bubbles: true }));
  }

  /** Handle a key of the text box; return whether it was for the list. @param {KeyboardEvent} event */
  handleKey(event) {
    if (!this.isOpen) return false;
    if (event.key === "ArrowDown") this.select(this.selected + 1);
    else if (event.key === "ArrowUp") this.select(this.selected - 1);
    else if (event.key === "Tab" || event.key === "Enter") {
      const item = this.items[this.selected];
      const typed = this.area.value.slice(0, this.area.selectionStart);
      if (event.key === "Enter" && (event.shiftKey || typed.endsWith(item.text.trimEnd()))) return false;
      this.accept(this.selected);
    } else if (event.key === "Escape") this.close();
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  }
}
