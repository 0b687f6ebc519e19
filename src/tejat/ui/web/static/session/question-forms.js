// Forms for questions of the model and of MCP servers.

import { h } from "../dom.js";
import { t } from "../texts.js";

/**
 * @param {any} question
 * @param {(reply: object) => void} send
 */
export function buildForm(question, send) {
  const isFromModel = question.kind === "ask_user";
  const fields = isFromModel ? question.questions.map(modelField) : question.fields.map(serverField);
  const decline = h("button", {
    type: "button",
    text: t(isFromModel ? "dismiss" : "decline"),
    onclick: () => send({ accept: false }),
  });
  const submit = h("button", { type: "submit", class: "primary", text: t(question.url ? "agree" : "send_answers") });
  const link = question.url
    ? h("p", {}, h("a", { href: question.url, target: "_blank", rel: "noopener noreferrer", text: question.url }))
    : null;
  return h(
    "form",
    {
      class: "question-form",
      onsubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        send({ accept: true, answers: Object.assign({}, ...fields.map((/** @type {any} */ field) => field.read())) });
      },
    },
    link,
    ...fields.map((/** @type {any} */ field) => field.element),
    h("div", { class: "buttons" }, question.problem ? null : submit, decline),
  );
}

/** @param {any} question @param {number} index */
function modelField(question, index) {
  const number = index + 1;
  const name = `answer_${number}`;
  const own = h("input", {
    type: "text",
    id: `other_${number}`,
    placeholder: question.placeholder || null,
    autocomplete: "off",
  });
  if (!question.options.length) {
    own.id = name;
    own.setAttribute("aria-describedby", `${name}_text`);
    return {
      element: h(
        "div",
        { class: "field" },
        h("label", { for: name, text: question.header }),
        h("p", { class: "typed", id: `${name}_text`, text: question.question }),
        own,
      ),
      read: () => ({ [name]: own.value }),
    };
  }
  const inputs = question.options.map((/** @type {any} */ option, /** @type {number} */ place) =>
    h("input", { type: question.multiple ? "checkbox" : "radio", name, id: `${name}_${place}`, value: option.label }),
  );
  const rows = question.options.map((/** @type {any} */ option, /** @type {number} */ place) =>
    h(
      "div",
      { class: "option" },
      inputs[place],
      h(
        "label",
        { for: `${name}_${place}` },
        option.label,
        option.detail && h("span", { class: "detail", text: ` ${option.detail}` }),
      ),
    ),
  );
  const other = question.own
    ? h("div", { class: "option own" }, h("label", { for: `other_${number}`, text: t("other_answer") }), own)
    : null;
  return {
    element: h(
      "fieldset",
      { class: "field" },
      h("legend", { text: question.header }),
      h("p", { class: "typed", text: question.question }),
      ...rows,
      other,
    ),
    read: () => {
      const chosen = inputs
        .filter((/** @type {any} */ input) => input.checked)
        .map((/** @type {any} */ input) => input.value);
      const answers = question.multiple ? { [name]: chosen } : chosen.length ? { [name]: chosen[0] } : {};
      return own.value ? { ...answers, [`other_${number}`]: own.value } : answers;
    },
  };
}

/** @param {any} field @param {number} index */
function serverField(field, index) {
  const id = `field_${index}`;
  const description = field.description
    ? h("p", { class: "detail", id: `${id}_about`, text: field.description })
    : null;
  const about = description ? `${id}_about` : null;
  if (field.input === "choices") {
    const inputs = field.choices.map((/** @type {any} */ choice, /** @type {number} */ place) =>
      h("input", {
        type: "checkbox",
        id: `${id}_${place}`,
        value: choice.value,
        checked: Array.isArray(field.default) && field.default.includes(choice.value),
      }),
    );
    const rows = field.choices.map((/** @type {any} */ choice, /** @type {number} */ place) =>
      h("div", { class: "option" }, inputs[place], h("label", { for: `${id}_${place}`, text: choice.label })),
    );
    return {
      element: h(
        "fieldset",
        { class: "field", "aria-describedby": about },
        h("legend", { text: field.heading }),
        description,
        ...rows,
      ),
      read: () => ({
        [field.name]: inputs
          .filter((/** @type {any} */ input) => input.checked)
          .map((/** @type {any} */ input) => input.value),
      }),
    };
  }
  const input = serverInput(field, id, about);
  return {
    element: h("div", { class: "field" }, h("label", { for: id, text: field.heading }), description, input),
    read: () => readInput(field, input),
  };
}

/** @param {any} field @param {string} id @param {string | null} about */
function serverInput(field, id, about) {
  if (field.input === "boolean" || field.input === "choice") {
    const choices =
      field.input === "boolean"
        ? [
            { value: "true", label: t("yes") },
            { value: "false", label: t("no") },
          ]
        : field.choices;
    const options = choices.map((/** @type {any} */ choice) =>
      h("option", { value: choice.value, selected: String(field.default) === choice.value, text: choice.label }),
    );
    return h("select", { id, "aria-describedby": about }, h("option", { value: "", text: "" }), ...options);
  }
  const isNumber = field.input === "integer" || field.input === "number";
  return h("input", {
    id,
    type: isNumber ? "number" : "text",
    step: field.input === "number" ? "any" : null,
    value: field.default ?? "",
    "aria-describedby": about,
    autocomplete: "off",
  });
}

/** @param {any} field @param {any} input */
function readInput(field, input) {
  if (input.value === "") return {};
  if (field.input === "boolean") return { [field.name]: input.value === "true" };
  const isNumber = field.input === "integer" || field.input === "number";
  return { [field.name]: isNumber ? Number(input.value) : input.value };
}
