// Buttons at prompts and changes that undo them. The commands show what would change, and ask.

import { showNote } from "../announce.js";
import { getJson } from "../api.js";
import { h } from "../dom.js";
import { t } from "../texts.js";

const MAX_PROMPT = 60;

export class WaysBack {
  /** @param {string} path @param {(line: string) => void} run */
  constructor(path, run) {
    this.path = path;
    this.run = run;
  }

  /** @param {HTMLElement} block */
  decorate(block) {
    if (block.matches(".prompt")) {
      const text = block.querySelector(".typed")?.textContent ?? "";
      block.append(
        this.button("rewind", t("rewind_here"), () => this.rewind(text)),
      );
    } else if (block.matches(".call.ok") && block.querySelector(".diff")) {
      const name = block.querySelector(".object")?.textContent ?? "";
      const call = block.dataset.call ?? "";
      block
        .querySelector(".headline")
        ?.append(this.button("undo", t("undo"), () => this.run(`/undo ${call}`.trim()), t("undo_change", { name })));
    }
  }

  /** @param {string} name @param {string} text @param {() => void} act @param {string} [label] */
  button(name, text, act, label) {
    return h("button", { type: "button", class: `way-back ${name}`, "aria-label": label, text, onclick: act });
  }

  /** Rewind to the only prompt with this text, else let the user choose in the list. @param {string} text */
  async rewind(text) {
    try {
      const items = await getJson(`${this.path}/completions?text=${encodeURIComponent("/rewind ")}`);
      const found = items.filter((/** @type {any} */ item) => matchesPrompt(`${item.label} ${item.detail}`, text));
      this.run(found.length === 1 ? `/rewind ${found[0].text.trim()}` : "/rewind");
    } catch (error) {
      showNote(error instanceof Error ? error.message : String(error));
    }
  }
}

/** The list has the beginning of each prompt, in one line. @param {string} label @param {string} text */
function matchesPrompt(label, text) {
  const beginning = text.trim().replace(/\s+/g, " ").slice(0, MAX_PROMPT);
  return beginning !== "" && label.replace(/\s+/g, " ").includes(beginning);
}
