// Elements of the page.

/**
 * Make an element. `on…` properties are listeners, `class` and `text` are what they say, the rest are attributes;
 * false, null and undefined ones are left out.
 * @param {string} tag
 * @param {Record<string, any>} [properties]
 * @param {...(Node | string | null | undefined | false)} children
 * @returns {HTMLElement & Record<string, any>}
 */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "text") element.textContent = value;
    else if (name === "value") /** @type {any} */ (element).value = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/**
 * Markup that the server made, as nodes. Scripts in it would not run, and there are none.
 * @param {string} markup
 * @returns {DocumentFragment}
 */
export function parseMarkup(markup) {
  const template = document.createElement("template");
  template.innerHTML = markup;
  return template.content;
}

/** Whether the user types text into this element. @param {EventTarget | null} target */
export function isTextInput(target) {
  return (
    target instanceof HTMLElement &&
    (target.matches("textarea, select, [contenteditable]") ||
      (target instanceof HTMLInputElement && !["checkbox", "radio", "button", "submit"].includes(target.type)))
  );
}
