// The settings of the page, kept in this browser, and the list of keys.

import { h } from "./dom.js";
import { t } from "./texts.js";

const root = document.documentElement;

/** @param {string} title @param {...Node} content */
function openDialog(title, ...content) {
  const dialog = /** @type {HTMLDialogElement} */ (
    /** @type {unknown} */ (
      h(
        "dialog",
        { class: "menu", "aria-labelledby": "menu-title" },
        h("h2", { id: "menu-title", text: title }),
        ...content,
      )
    )
  );
  dialog.append(
    h(
      "div",
      { class: "buttons" },
      h("button", { type: "button", class: "primary", text: t("close"), onclick: () => dialog.close() }),
    ),
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

export function openSettings() {
  openDialog(
    t("settings"),
    choice(
      "theme",
      t("theme"),
      [
        ["auto", t("theme_auto")],
        ["dark", t("theme_dark")],
        ["light", t("theme_light")],
      ],
      root.dataset.theme ?? "auto",
      setTheme,
    ),
    choice(
      "diffs",
      t("diffs"),
      [
        ["unified", t("diffs_unified")],
        ["split", t("diffs_split")],
      ],
      root.classList.contains("split-diffs") ? "split" : "unified",
      setDiffs,
    ),
  );
}

export function openShortcuts() {
  const keys = [
    ["Enter", t("key_send")],
    ["Shift+Enter", t("key_newline")],
    ["Ctrl+Enter", t("key_steer")],
    ["@", t("key_files")],
    ["/", t("key_commands")],
    ["Esc", t("key_stop")],
    ["Alt+A", t("key_question")],
    ["Alt+M", t("key_mode")],
    ["i", t("key_prompt")],
    ["?", t("key_help")],
  ];
  openDialog(
    t("shortcuts"),
    h(
      "dl",
      { class: "keys" },
      ...keys.flatMap(([key, text]) => [h("dt", {}, h("kbd", { text: key })), h("dd", { text })]),
    ),
  );
}

/** @param {string} theme */
function setTheme(theme) {
  localStorage.setItem("tejat-theme", theme);
  if (theme === "auto") delete root.dataset.theme;
  else root.dataset.theme = theme;
}

/** @param {string} kind */
function setDiffs(kind) {
  localStorage.setItem("tejat-diffs", kind);
  root.classList.toggle("split-diffs", kind === "split");
}

/**
 * @param {string} name
 * @param {string} label
 * @param {string[][]} options
 * @param {string} current
 * @param {(value: string) => void} apply
 */
function choice(name, label, options, current, apply) {
  const rows = options.map(([value, text]) => {
    const id = `${name}-${value}`;
    return h(
      "div",
      { class: "option" },
      h("input", { type: "radio", name, id, value, checked: value === current, onchange: () => apply(value) }),
      h("label", { for: id, text }),
    );
  });
  return h("fieldset", {}, h("legend", { text: label }), ...rows);
}
