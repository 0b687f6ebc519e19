// Messages for screen readers, and short notes that everybody sees.

import { h } from "./dom.js";

const NOTE_SECONDS = 6;

/** Announce when nothing else is being read. @param {string} text */
export function announce(text) {
  write("polite", text);
}

/** Announce at once. @param {string} text */
export function announceNow(text) {
  write("assertive", text);
}

/** Show a short note, which is announced too. @param {string} text */
export function showNote(text) {
  const notes = document.getElementById("notes");
  if (!notes || !text) return;
  const note = h("p", { class: "note", text });
  notes.append(note);
  setTimeout(() => note.remove(), NOTE_SECONDS * 1000);
}

/** @param {string} id @param {string} text */
function write(id, text) {
  const region = document.getElementById(id);
  if (!region) return;
  region.textContent = "";
  // A region that gets the same text twice is not read again, so it is emptied first.
  requestAnimationFrame(() => (region.textContent = text));
}
