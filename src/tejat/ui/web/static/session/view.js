// The page of one session.

import { announce, showNote } from "../announce.js";
import { clientName, getJson, postJson } from "../api.js";
import { h, isTextInput } from "../dom.js";
import { t } from "../texts.js";
import { CommandDialogs } from "./dialogs.js";
import { SidePanels } from "./panels.js";
import { PromptBox } from "./prompt-box.js";
import { QuestionPanel } from "./question.js";
import { Transcript } from "./transcript.js";
import { WaysBack } from "./ways-back.js";

export class SessionView {
  /** @param {string} sessionId */
  constructor(sessionId) {
    this.sessionId = sessionId;
    this.path = `/api/sessions/${encodeURIComponent(sessionId)}`;
    this.position = "";
    this.isLive = false;
    this.isWorking = false;
    this.isAsking = false;
    this.box = new PromptBox(this.path, sessionId);
    this.ways = new WaysBack(this.path, (line) => this.run(line));
    this.transcript = new Transcript(
      (before) => getJson(`${this.path}/blocks?before=${before}`),
      (block) => this.isLive && this.ways.decorate(block),
    );
    this.question = new QuestionPanel(
      async (question, reply) =>
        (await postJson(`${this.path}/answer`, { ...reply, question, client: clientName() })).accepted,
    );
    this.dialogs = new CommandDialogs(this.path);
    this.panels = new SidePanels(
      sessionId,
      () => this.switchMode(false),
      (line) => this.run(line),
    );
    this.title = h("h1", { class: "session-title", text: t("session") });
    this.work = h("p", { class: "work", role: "status" });
    this.ended = h("p", { class: "ended-note", hidden: true });
    this.dock = h(
      "div",
      { class: "dock" },
      this.transcript.jump,
      this.dialogs.element,
      this.work,
      this.question.element,
      this.box.element,
    );
    this.element = h(
      "div",
      { class: "session" },
      h("div", { class: "session-main" }, this.title, this.transcript.element, this.ended, this.dock),
      (this.panelsBox = h(
        "details",
        { class: "panels-box", open: matchMedia("(min-width: 64rem)").matches },
        h("summary", { text: t("session_details") }),
        this.panels.element,
      )),
    );
    this.onKey = (/** @type {KeyboardEvent} */ event) => this.handleKey(event);
    addEventListener("keydown", this.onKey);
  }

  close() {
    removeEventListener("keydown", this.onKey);
    this.transcript.close();
    this.dialogs.close();
  }

  /** Load the latest blocks and the state. */
  async load() {
    const loaded = await getJson(this.path);
    this.isLive = loaded.live;
    this.dock.hidden = this.panelsBox.hidden = !loaded.live;
    this.element.classList.toggle("stored", !loaded.live);
    this.transcript.reset(loaded.blocks, loaded.earlier);
    if (loaded.live) {
      this.position = loaded.position;
      this.applyValues(loaded.values);
    } else this.showEnded(loaded.entry);
  }

  /** The part of the stream's address that is about this session. */
  get query() {
    return this.isLive ? `?session=${encodeURIComponent(this.sessionId)}&after=${this.position}` : "";
  }

  /** @param {{blocks: any[], values: Record<string, any>, notices: any[]}} change */
  apply(change) {
    this.transcript.update(change.blocks);
    for (const notice of change.notices) this.applyNotice(notice);
    this.applyValues(change.values);
  }

  /** @param {Record<string, any>} values */
  applyValues(values) {
    if (values.status) this.panels.showStatus(values.status);
    if (values.agents) this.panels.showAgents(values.agents);
    if (values.work) this.showWork(values.work);
    if (values.questions) {
      this.question.show(values.questions);
      this.isAsking = values.questions.length > 0;
    }
    this.work.textContent = t(this.isAsking ? "waiting_for_answer" : this.isWorking ? "working" : "idle");
    if (values.dialogs) this.dialogs.show(values.dialogs);
    if (this.transcript.isFollowing) this.transcript.scrollToEnd(false);
  }

  /** @param {any} notice */
  applyNotice(notice) {
    const isMine = !notice.client || notice.client === clientName();
    if (notice.kind === "hint" && isMine) showNote(notice.text);
    else if (notice.kind === "input" && isMine) this.box.insert(notice.text);
    else if (notice.kind === "answered") {
      if (!notice.withdrawn && notice.by !== clientName()) showNote(t("answered_elsewhere"));
      if (notice.rule && notice.by === clientName()) showNote(notice.rule);
    }
  }

  /** @param {{working: boolean, since: number, queue: string[]}} work */
  showWork(work) {
    this.box.showWork(work);
    this.transcript.setWorking(work.working);
    if (this.isWorking && !work.working) announce(t("run_ended"));
    this.isWorking = work.working;
  }

  /** @param {any} entry */
  showEnded(entry) {
    this.setTitle(entry.title);
    this.ended.hidden = false;
    this.ended.replaceChildren(
      t("session_ended", { reason: entry.detail || t("ended") }),
      " ",
      t("resume_with"),
      " ",
      h("code", { text: `tejat --resume ${this.sessionId}` }),
      " ",
      h("a", { href: `/history/${encodeURIComponent(this.sessionId)}`, "data-link": true, text: t("figures") }),
    );
  }

  /** @param {string} title */
  setTitle(title) {
    this.title.textContent = title || t("session");
  }

  /** Run a command, and go to where it shows its result. @param {string} line */
  run(line) {
    this.transcript.scrollToEnd(true);
    this.box.run(line);
  }

  /** @param {boolean} yolo */
  async switchMode(yolo) {
    try {
      await postJson(`${this.path}/mode`, { yolo, client: clientName() });
    } catch (error) {
      showNote(error instanceof Error ? error.message : String(error));
    }
  }

  /** @param {KeyboardEvent} event */
  handleKey(event) {
    if (event.defaultPrevented || !this.isLive || document.querySelector("dialog[open]")) return;
    if (event.key === "Escape" && this.isWorking) {
      event.preventDefault();
      this.box.interrupt();
    } else if (event.altKey && event.key.toLowerCase() === "m") {
      event.preventDefault();
      this.switchMode(false);
    } else if (event.altKey && event.key.toLowerCase() === "a" && !this.question.element.hidden) {
      event.preventDefault();
      this.question.focus();
    } else if (
      !isTextInput(event.target) &&
      !event.ctrlKey &&
      !event.altKey &&
      !event.metaKey &&
      ["i", "/"].includes(event.key)
    ) {
      if (this.question.element.contains(/** @type {Node} */ (event.target))) return;
      event.preventDefault();
      this.box.area.focus();
    }
  }
}
