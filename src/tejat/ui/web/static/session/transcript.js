// The transcript: blocks that the server made, replaced as they change, with earlier ones loaded on demand.

import { h, parseMarkup } from "../dom.js";
import { elapsed, plural, t } from "../texts.js";

const NEAR_END = 120;
const INPUTS = ["wheel", "touchmove", "keydown", "pointerdown", "pointermove"];
const INPUT_MILLISECONDS = 1000;

/** @typedef {{id: string, html: string, parent: string, place: number}} Block */

export class Transcript {
  /**
   * @param {(before: number) => Promise<{blocks: Block[], earlier: number}>} loadEarlier
   * @param {(block: HTMLElement) => void} decorate Adds what the page offers for a block.
   */
  constructor(loadEarlier, decorate) {
    this.loadEarlier = loadEarlier;
    this.decorate = decorate;
    this.first = Infinity;
    this.isLoading = false;
    this.isFollowing = true;
    this.more = h("button", { type: "button", class: "earlier", hidden: true, onclick: () => this.showEarlier() });
    this.blocks = h("div", { class: "transcript", id: "transcript" });
    this.jump = h(
      "button",
      { type: "button", class: "jump", hidden: true, onclick: () => this.scrollToEnd(true) },
      t("jump_to_end"),
    );
    this.element = h(
      "section",
      { "aria-labelledby": "transcript-title", class: "transcript-box" },
      h("h2", { id: "transcript-title", class: "visually-hidden", text: t("transcript") }),
      this.more,
      this.blocks,
    );
    this.watcher = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting) && scrollY > 0) this.showEarlier();
      },
      { rootMargin: "600px" },
    );
    this.watcher.observe(this.more);
    this.lastY = 0;
    // Only the user stops it by going up. Blocks that grow, and estimated heights that turn out wrong, do not.
    this.onScroll = () => {
      const isUp = scrollY < this.lastY - 1 && performance.now() - this.lastInput < INPUT_MILLISECONDS;
      this.lastY = scrollY;
      if (this.distanceToEnd() < NEAR_END) this.isFollowing = true;
      else if (isUp) this.isFollowing = false;
      this.jump.hidden = this.isFollowing;
    };
    this.lastInput = -Infinity;
    this.onInput = () => (this.lastInput = performance.now());
    addEventListener("scroll", this.onScroll, { passive: true });
    for (const name of INPUTS) addEventListener(name, this.onInput, { passive: true });
    this.sizes = new ResizeObserver(() => this.isFollowing && this.scrollToEnd(false));
    this.sizes.observe(this.blocks);
    this.timer = 0;
  }

  close() {
    removeEventListener("scroll", this.onScroll);
    for (const name of INPUTS) removeEventListener(name, this.onInput);
    this.sizes.disconnect();
    clearInterval(this.timer);
    this.watcher.disconnect();
  }

  /** Show the latest blocks in place of everything. @param {Block[]} blocks @param {number} earlier */
  reset(blocks, earlier) {
    this.blocks.replaceChildren();
    this.first = blocks.length ? Math.min(...blocks.map((block) => block.place)) : Infinity;
    for (const block of blocks) this.insert(block);
    this.setEarlier(earlier);
    this.isFollowing = true;
    this.scrollToEnd(true);
  }

  /** Apply changes of the stream. @param {Block[]} blocks */
  update(blocks) {
    if (!blocks.length) return;
    for (const block of blocks) {
      // A block before the first one that is shown is loaded with the others of its time.
      if (block.place < this.first && this.first !== Infinity && !this.more.hidden) continue;
      this.first = Math.min(this.first, block.place);
      this.insert(block);
    }
    if (this.isFollowing) this.scrollToEnd(false);
  }

  /** @param {Block} block */
  insert(block) {
    const old = document.getElementById(block.id) ?? this.blocks.querySelector(`#${CSS.escape(block.id)}`);
    if (!block.html) {
      old?.remove();
      return;
    }
    const element = this.build(block);
    if (!element) return;
    if (old) {
      keepState(old, element);
      old.replaceWith(element);
      return;
    }
    const parent = block.parent
      ? this.blocks.querySelector(`[data-children="${CSS.escape(block.parent)}"]`)
      : this.blocks;
    if (!parent) return;
    let next = null;
    for (
      let each = parent.lastElementChild;
      each && Number(/** @type {HTMLElement} */ (each).dataset.place) > block.place;
      each = each.previousElementSibling
    )
      next = each;
    parent.insertBefore(element, next);
  }

  /** @param {Block} block */
  build(block) {
    const element = /** @type {HTMLElement | null} */ (parseMarkup(block.html).firstElementChild);
    if (!element) return null;
    element.dataset.place = String(block.place);
    if (!block.parent) this.decorate(element);
    return element;
  }

  /** @param {number} earlier */
  setEarlier(earlier) {
    this.more.hidden = earlier <= 0;
    this.more.textContent = plural("show_earlier_one", "show_earlier", earlier);
  }

  async showEarlier() {
    if (this.isLoading || this.more.hidden) return;
    this.isLoading = true;
    try {
      const { blocks, earlier } = await this.loadEarlier(this.first);
      const height = document.documentElement.scrollHeight;
      const before = scrollY;
      this.first = Math.min(this.first, ...blocks.map((block) => block.place));
      this.setEarlier(earlier);
      const fragment = document.createDocumentFragment();
      for (const block of blocks.filter((each) => !each.parent)) {
        const element = this.build(block);
        if (element) fragment.append(element);
      }
      this.blocks.prepend(fragment);
      for (const block of blocks.filter((each) => each.parent)) this.insert(block);
      if (scrollY === before) scrollTo(0, before + document.documentElement.scrollHeight - height);
    } finally {
      this.isLoading = false;
    }
  }

  /** Count the seconds of running calls, only while there can be any. @param {boolean} isWorking */
  setWorking(isWorking) {
    clearInterval(this.timer);
    this.timer = isWorking ? setInterval(() => this.showElapsed(), 1000) : 0;
  }

  distanceToEnd() {
    return document.documentElement.scrollHeight - innerHeight - scrollY;
  }

  /** Heights of blocks that were never on screen are estimates, so the end is looked for again. @param {boolean} again */
  scrollToEnd(again) {
    scrollTo(0, document.documentElement.scrollHeight);
    this.isFollowing = true;
    this.jump.hidden = true;
    if (again) requestAnimationFrame(() => requestAnimationFrame(() => this.isFollowing && this.scrollToEnd(false)));
  }

  showElapsed() {
    if (document.hidden) return;
    for (const element of this.blocks.querySelectorAll(".elapsed[data-since]")) {
      const since = Number(/** @type {HTMLElement} */ (element).dataset.since);
      element.textContent = elapsed(Date.now() / 1000 - since);
    }
  }
}

/**
 * Carry over what the user has opened, the focus, and nested blocks.
 * @param {Element} old
 * @param {Element} element
 */
function keepState(old, element) {
  if (old instanceof HTMLDetailsElement && element instanceof HTMLDetailsElement) element.open = old.open;
  const children = old.querySelector(":scope > [data-children]");
  const place = element.querySelector(":scope > [data-children]");
  if (children && place) place.append(...children.childNodes);
  const before = [...old.querySelectorAll("details")];
  const after = [...element.querySelectorAll("details")];
  if (before.length === after.length) before.forEach((each, index) => (after[index].open = each.open));
  const focused = document.activeElement;
  if (focused && old.contains(focused)) {
    const index = [...old.querySelectorAll(focused.tagName)].indexOf(focused);
    queueMicrotask(() => {
      const again = focused === old ? element : element.querySelectorAll(focused.tagName)[index];
      if (again instanceof HTMLElement) again.focus({ preventScroll: true });
    });
  }
}
