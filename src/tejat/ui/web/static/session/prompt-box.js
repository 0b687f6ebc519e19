// The prompt box: a draft that survives reloads, attachments, completion, and what is queued.

import { announce, showNote } from "../announce.js";
import { clientName, getJson, postFile, postJson } from "../api.js";
import { h } from "../dom.js";
import { fileSize, t } from "../texts.js";
import { Completion } from "./completion.js";

const MAX_FILE_BYTES = 20 * 2 ** 20;

/** @typedef {{label: string, name: string, size: number}} Attachment */

export class PromptBox {
  /** @param {string} path The address of the session's data. @param {string} sessionId */
  constructor(path, sessionId) {
    this.path = path;
    this.draftName = `tejat-draft-${sessionId}`;
    this.isWorking = false;
    /** @type {Attachment[]} */
    this.files = [];
    /** @type {{typed: string, files: Attachment[], steers: boolean}[]} What was entered and not accepted yet. */
    this.outbox = [];
    this.area = /** @type {HTMLTextAreaElement} */ (
      /** @type {unknown} */ (
        h("textarea", {
          id: "prompt",
          rows: "1",
          placeholder: t("prompt_placeholder"),
          "aria-label": t("prompt"),
          autocomplete: "off",
          spellcheck: "true",
        })
      )
    );
    this.completion = new Completion(
      this.area,
      (text, signal) => getJson(`${path}/completions?text=${encodeURIComponent(text)}`, signal),
      t("suggestions_label"),
    );
    this.chips = h("ul", { class: "chips", "aria-label": t("attachments"), hidden: true });
    this.queue = h("div", { class: "queue", hidden: true });
    this.picker = h("input", {
      type: "file",
      multiple: true,
      hidden: true,
      "aria-label": t("attach"),
      onchange: () => this.addFiles([...this.picker.files]),
    });
    this.stop = h(
      "button",
      { type: "button", class: "stop", hidden: true, onclick: () => this.interrupt() },
      t("stop"),
      h("kbd", { text: "Esc" }),
    );
    this.submit = h("button", { type: "submit", class: "primary", text: t("send") });
    this.steer = h("button", {
      type: "button",
      class: "steer",
      hidden: true,
      title: t("steer_title"),
      text: t("steer"),
      onclick: () => this.send(true),
    });
    this.element = h(
      "form",
      {
        class: "prompt-box",
        "aria-label": t("prompt"),
        onsubmit: (/** @type {Event} */ event) => {
          event.preventDefault();
          this.send(false);
        },
      },
      this.queue,
      this.chips,
      h("div", { class: "prompt-field" }, this.completion.list, this.area),
      h(
        "div",
        { class: "prompt-buttons" },
        h("button", { type: "button", class: "attach", onclick: () => this.picker.click() }, t("attach")),
        this.picker,
        h("span", { class: "prompt-hint", text: t("prompt_hint") }),
        this.stop,
        this.steer,
        this.submit,
      ),
    );
    this.listen();
    this.restore();
  }

  listen() {
    this.area.addEventListener("input", () => {
      this.save();
      this.resize();
    });
    this.area.addEventListener("keydown", (event) => {
      if (event.isComposing || this.completion.handleKey(event)) return;
      if (event.key === "Enter" && !event.shiftKey) {
        event.preventDefault();
        this.send(event.ctrlKey || event.metaKey);
      } else if (event.key === "ArrowUp" && !this.area.value && !this.queue.hidden) {
        event.preventDefault();
        this.takeBack();
      }
    });
    this.area.addEventListener("paste", (event) => {
      const files = [...(event.clipboardData?.files ?? [])];
      if (!files.length) return;
      event.preventDefault();
      this.addFiles(files);
    });
    this.element.addEventListener("dragover", (/** @type {DragEvent} */ event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      this.element.classList.add("dropping");
    });
    this.element.addEventListener("dragleave", () => this.element.classList.remove("dropping"));
    this.element.addEventListener("drop", (/** @type {DragEvent} */ event) => {
      event.preventDefault();
      this.element.classList.remove("dropping");
      this.addFiles([...(event.dataTransfer?.files ?? [])]);
    });
  }

  /** @param {{working: boolean, queue: string[]}} work */
  showWork(work) {
    this.isWorking = work.working;
    this.stop.hidden = this.steer.hidden = !work.working;
    this.submit.textContent = t(work.working ? "queue" : "send");
    this.queue.hidden = !work.queue.length;
    this.queue.replaceChildren(
      ...work.queue.map((line) => h("p", { class: "queued", text: t("queued", { text: line }) })),
      h("button", { type: "button", text: t("take_back"), onclick: () => this.takeBack() }),
    );
  }

  /** Put a text before what is typed. @param {string} text */
  insert(text) {
    this.area.value = [text, this.area.value].filter((each) => each.trim()).join("\n\n");
    this.save();
    this.resize();
    this.area.focus();
  }

  restore() {
    const draft = JSON.parse(sessionStorage.getItem(this.draftName) ?? '{"text": "", "files": []}');
    this.area.value = draft.text;
    this.files = draft.files;
    this.showFiles();
    requestAnimationFrame(() => this.resize());
  }

  save() {
    const text = [...this.outbox.map((each) => each.typed), this.area.value].filter(Boolean).join("\n\n");
    const files = [...this.outbox.flatMap((each) => each.files), ...this.files];
    sessionStorage.setItem(this.draftName, JSON.stringify({ text, files }));
  }

  resize() {
    const { style } = this.area;
    style.height = "auto";
    style.height = `${Math.min(this.area.scrollHeight + 2, innerHeight * 0.4)}px`;
  }

  /** @param {File[]} files */
  async addFiles(files) {
    for (const file of files) {
      if (file.size > MAX_FILE_BYTES) {
        showNote(t("file_too_large", { name: file.name }));
        continue;
      }
      try {
        const { label, size } = await postFile(`${this.path}/attachments?name=${encodeURIComponent(file.name)}`, file);
        this.files.push({ label, name: file.name, size });
        announce(t("attached", { name: file.name }));
      } catch (error) {
        showNote(error instanceof Error ? error.message : String(error));
      }
    }
    this.picker.value = "";
    this.save();
    this.showFiles();
    this.area.focus();
  }

  showFiles() {
    this.chips.hidden = !this.files.length;
    this.chips.replaceChildren(
      ...this.files.map((file) =>
        h(
          "li",
          {},
          h("span", { text: file.name }),
          h("span", { class: "detail", text: fileSize(file.size) }),
          h("button", {
            type: "button",
            "aria-label": t("remove_attachment", { name: file.name }),
            text: "×",
            onclick: () => this.removeFile(file),
          }),
        ),
      ),
    );
  }

  /** @param {Attachment} file */
  async removeFile(file) {
    this.files = this.files.filter((each) => each !== file);
    this.save();
    this.showFiles();
    this.area.focus();
    await postJson(`${this.path}/detachments`, { label: file.label }).catch(() => {});
  }

  /** @param {boolean} steers Whether the model gets it with its next request, while it works. */
  async send(steers) {
    const typed = this.area.value.trimEnd();
    if (!typed.trim() && !this.files.length) return;
    this.completion.close();
    this.outbox.push({ typed, files: this.files, steers: steers && this.isWorking });
    this.area.value = "";
    this.files = [];
    this.save();
    this.showFiles();
    this.resize();
    if (this.outbox.length > 1) return; // it follows what is being sent
    try {
      while (this.outbox.length) {
        const [{ typed, files, steers: steer }] = this.outbox;
        const text = [typed, ...files.map((file) => file.label)].filter(Boolean).join("\n");
        await postJson(`${this.path}/prompt`, { text, steer, client: clientName() });
        this.outbox.shift();
        this.save();
      }
    } catch (error) {
      this.putBack();
      showNote(error instanceof Error ? error.message : String(error));
    }
  }

  /** Put what could not be sent into the box again, before what was typed since. */
  putBack() {
    const unsent = this.outbox;
    this.outbox = [];
    this.files = [...unsent.flatMap((each) => each.files), ...this.files];
    this.showFiles();
    this.insert(unsent.map((each) => each.typed).join("\n\n"));
  }

  async takeBack() {
    try {
      const { text } = await postJson(`${this.path}/take-back`, {});
      if (text) this.insert(text);
    } catch (error) {
      showNote(error instanceof Error ? error.message : String(error));
    }
  }

  async interrupt() {
    try {
      await postJson(`${this.path}/interrupt`, {});
      announce(t("stopping"));
    } catch (error) {
      showNote(error instanceof Error ? error.message : String(error));
    }
  }

  /** Run a command. @param {string} line */
  async run(line) {
    try {
      await postJson(`${this.path}/prompt`, { text: line, client: clientName() });
    } catch (error) {
      showNote(error instanceof Error ? error.message : String(error));
    }
  }
}
