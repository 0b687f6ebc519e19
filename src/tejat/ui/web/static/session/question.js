// The pending question, with exactly the text and the choices of the terminal.

import { announceNow, showNote } from "../announce.js";
import { h, isTextInput, parseMarkup } from "../dom.js";
import { t } from "../texts.js";
import { buildForm } from "./question-forms.js";

const GRACE_SECONDS = 0.4;

/**
 * @typedef {object} Question
 * @property {string} id
 * @property {string} kind
 * @property {string} html
 * @property {string} [prompt]
 * @property {string[]} [notes]
 * @property {{letter: string, label: string, approves: boolean, action: string}[]} [choices]
 * @property {boolean} [mustBeViewed]
 * @property {string | null} [editable]
 */

export class QuestionPanel {
  /** @param {(question: string, reply: object) => Promise<boolean>} answer */
  constructor(answer) {
    this.answer = answer;
    /** @type {Question | null} */
    this.question = null;
    this.shownAt = 0;
    this.isSending = false;
    this.confirming = "";
    this.element = h("section", { class: "question-panel", "aria-labelledby": "question-title", hidden: true });
    this.element.addEventListener("keydown", (event) => this.handleKey(event));
  }

  /** Show the first of the questions, and how many wait. @param {Question[]} questions */
  show(questions) {
    const question = questions[0] ?? null;
    if (question?.id === this.question?.id) {
      this.showCount(questions.length);
      return;
    }
    const hadFocus = this.element.contains(document.activeElement);
    this.question = question;
    this.isSending = false;
    this.confirming = "";
    this.element.hidden = !question;
    this.element.replaceChildren();
    if (!question) {
      if (hadFocus) document.getElementById("prompt")?.focus();
      return;
    }
    this.shownAt = performance.now();
    this.build(question);
    this.showCount(questions.length);
    announceNow(`${t("question")}: ${this.element.querySelector("h3")?.textContent ?? ""} ${question.prompt ?? ""}`);
    if (hadFocus || !isTextInput(document.activeElement)) this.focus();
  }

  focus() {
    /** @type {HTMLElement | null} */ (this.element.querySelector(".question-body"))?.focus();
  }

  /** @param {Question} question */
  build(question) {
    const text = parseMarkup(question.html);
    // The form has the questions of the model with their answers, so here is only who asks.
    const shown = question.kind === "ask_user" ? (text.querySelector("h3") ?? text) : text;
    this.body = h(
      "div",
      { class: "question-body", tabindex: "0", role: "group", "aria-label": t("question_text") },
      shown,
    );
    this.body.addEventListener("scroll", () => this.noteScroll(), { passive: true });
    this.hasSeenEnd = false;
    this.hint = h("p", { class: "question-hint", role: "status" });
    this.count = h("p", { class: "question-count" });
    const title = h("h2", { id: "question-title", class: "visually-hidden", text: t("question") });
    this.element.append(title, this.count, this.body);
    if (question.kind === "choice") this.element.append(this.buildChoices(question));
    else this.element.append(buildForm(question, (reply) => this.send(reply)));
    this.element.append(this.hint);
    requestAnimationFrame(() => this.noteScroll());
  }

  /** @param {number} count */
  showCount(count) {
    if (this.count) this.count.textContent = count > 1 ? t("questions_waiting", { count: count - 1 }) : "";
  }

  noteScroll() {
    if (!this.body) return;
    this.hasSeenEnd ||= this.body.scrollHeight - this.body.scrollTop - this.body.clientHeight < 12;
    this.body.classList.toggle("has-more", !this.hasSeenEnd);
  }

  /** @param {Question} question */
  buildChoices(question) {
    const buttons = (question.choices ?? []).map((choice) =>
      h(
        "button",
        {
          type: "button",
          class: choice.approves ? "choice yes" : "choice",
          "data-letter": choice.letter,
          onclick: () => this.choose(choice),
        },
        h("kbd", { text: choice.letter }),
        h("span", { text: choice.label }),
      ),
    );
    return h("div", { class: "choices", role: "group", "aria-label": question.prompt }, ...buttons);
  }

  /** @param {KeyboardEvent} event */
  handleKey(event) {
    if (isTextInput(event.target) || event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
    const choices = this.question?.choices ?? [];
    const choice = choices.find((each) => each.letter === event.key.toLowerCase());
    if (choice) {
      event.preventDefault();
      this.choose(choice);
      return;
    }
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const buttons = /** @type {HTMLElement[]} */ ([...this.element.querySelectorAll(".choice")]);
      const index = buttons.indexOf(/** @type {HTMLElement} */ (document.activeElement));
      if (index < 0) return;
      event.preventDefault();
      buttons[(index + (event.key === "ArrowDown" ? 1 : buttons.length - 1)) % buttons.length].focus();
    }
  }

  /** @param {{letter: string, approves: boolean, action: string}} choice */
  choose(choice) {
    // A key or click that was meant for something else must not decide.
    if (performance.now() - this.shownAt < GRACE_SECONDS * 1000 || this.isSending) return;
    if (choice.approves && !this.hasSeenEnd && !(this.confirming === choice.letter && !this.question?.mustBeViewed)) {
      this.confirming = choice.letter;
      this.setHint(t(this.question?.mustBeViewed ? "read_to_the_end" : "not_read_yet", { key: choice.letter }));
      this.body?.focus();
      return;
    }
    if (choice.action === "tell") this.askForText(choice.letter, "feedback", t("feedback_label"), "");
    else if (choice.action === "modify") {
      const text = this.question?.editable;
      if (text === null || text === undefined) this.setHint(t("too_large_to_edit"));
      else this.askForText(choice.letter, "content", t("edit_label"), text);
    } else this.send({ choice: choice.letter });
  }

  /** @param {string} letter @param {string} field @param {string} label @param {string} text */
  askForText(letter, field, label, text) {
    this.element.querySelector(".question-text")?.remove();
    const area = h("textarea", {
      id: "question-text",
      rows: field === "content" ? "14" : "3",
      value: text,
      spellcheck: field !== "content",
    });
    const form = h(
      "form",
      {
        class: "question-text",
        onsubmit: (/** @type {Event} */ event) => {
          event.preventDefault();
          this.send({ choice: letter, [field]: area.value });
        },
      },
      h("label", { for: "question-text", text: label }),
      area,
      h(
        "div",
        { class: "buttons" },
        h("button", { type: "submit", class: "primary", text: t("send") }),
        h("button", {
          type: "button",
          text: t("cancel"),
          onclick: () => {
            form.remove();
            this.focus();
          },
        }),
      ),
    );
    area.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (event.key === "Escape") {
        event.stopPropagation();
        form.remove();
        this.focus();
      }
      if (event.key === "Enter" && (field === "feedback" ? !event.shiftKey : event.ctrlKey)) {
        event.preventDefault();
        form.requestSubmit();
      }
    });
    this.hint?.before(form);
    area.focus();
  }

  /** @param {string} text */
  setHint(text) {
    if (this.hint) this.hint.textContent = text;
  }

  /** @param {object} reply */
  async send(reply) {
    if (!this.question || this.isSending) return;
    this.isSending = true;
    const { id } = this.question;
    try {
      const isAccepted = await this.answer(id, reply);
      if (!isAccepted) showNote(t("answered_elsewhere"));
    } catch (error) {
      this.setHint(error instanceof Error ? error.message : String(error));
      this.isSending = false;
    }
  }
}
