// Beside the transcript: the status, the todos and the sub-agents.

import { h } from "../dom.js";
import { t } from "../texts.js";

export class SidePanels {
  /** @param {string} sessionId @param {() => void} switchMode @param {(line: string) => void} run */
  constructor(sessionId, switchMode, run) {
    this.status = h("dl", { class: "status-list" });
    this.mode = h("button", { type: "button", class: "mode", onclick: switchMode });
    this.todos = h("ul", { class: "todos" });
    this.progress = h("span", { class: "detail" });
    this.todoPanel = h(
      "section",
      { "aria-labelledby": "todos-title", hidden: true },
      h("h2", { id: "todos-title" }, t("todos"), " ", this.progress),
      this.todos,
    );
    this.agents = h("ul", { class: "agent-tree" });
    this.agentPanel = h(
      "section",
      { "aria-labelledby": "agents-title", hidden: true },
      h("h2", { id: "agents-title", text: t("agents") }),
      this.agents,
    );
    const commands = [
      ["/undo", t("undo_last")],
      ["/rewind", t("rewind")],
      ["/diff", t("show_changes")],
    ];
    const actions = h(
      "section",
      { "aria-labelledby": "actions-title" },
      h("h2", { id: "actions-title", text: t("actions") }),
      h("p", {}, h("a", { href: `/history/${encodeURIComponent(sessionId)}`, "data-link": true, text: t("figures") })),
      h(
        "div",
        { class: "buttons" },
        ...commands.map(([line, label]) =>
          h("button", { type: "button", title: line, text: label, onclick: () => run(line) }),
        ),
      ),
    );
    this.element = h(
      "aside",
      { class: "panels", "aria-label": t("session_details") },
      h(
        "section",
        { "aria-labelledby": "status-title" },
        h("h2", { id: "status-title", text: t("status") }),
        this.mode,
        this.status,
      ),
      this.todoPanel,
      this.agentPanel,
      actions,
    );
  }

  /** @param {any} status */
  showStatus(status) {
    const context = status.context === null ? "" : `${Math.round(status.context * 100)} %`;
    const changes = status.added || status.removed ? `+${status.added} -${status.removed}` : "";
    const servers = status.servers.total ? t("servers_ready", status.servers) : "";
    const rows = [
      [t("model"), status.model],
      [t("context"), context],
      [t("cost"), status.cost],
      [t("tokens"), status.tokens ? status.tokens.toLocaleString() : ""],
      [t("changes"), changes],
      [t("folder"), status.folder],
      [t("branch"), status.branch],
      [t("sandbox"), status.sandbox],
      [t("servers"), servers],
      [t("session"), status.sessionId],
    ].filter(([, value]) => value);
    this.status.replaceChildren(
      ...rows.flatMap(([name, value]) => [h("dt", { text: name }), h("dd", { text: value })]),
    );
    this.mode.textContent = t("mode", { mode: status.modeLabel || t("mode_default") });
    this.mode.title = `${status.modeDescription} ${t("mode_title")}`;
    this.todoPanel.hidden = !status.todos.items.length;
    this.progress.textContent = status.todos.progress;
    this.todos.replaceChildren(
      ...status.todos.items.map((/** @type {any} */ todo) =>
        h("li", { class: `todo-${todo.status}`, text: todo.text }),
      ),
    );
  }

  /** @param {any[]} agents */
  showAgents(agents) {
    this.agentPanel.hidden = !agents.length;
    /** @type {(parent: string) => HTMLElement[]} */
    const nested = (parent) =>
      agents
        .filter((agent) => agent.parent === parent)
        .map((agent) => {
          const children = nested(agent.id);
          return h(
            "li",
            { class: `agent-${agent.state}` },
            h("p", {}, h("strong", { text: agent.id }), ` ${agent.task}`),
            h("p", {
              class: "detail",
              text: [agent.state === "running" ? t("running") : "", ...agent.figures].filter(Boolean).join(" · "),
            }),
            ...agent.calls.map((/** @type {string} */ call) => h("p", { class: "detail", text: call })),
            agent.error && h("p", { class: "error", text: agent.error }),
            children.length ? h("ul", {}, ...children) : null,
          );
        });
    this.agents.replaceChildren(...nested(""));
  }
}
