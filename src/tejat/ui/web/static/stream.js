// Server-sent events over fetch: unlike EventSource it can send the key, and it tells why a connection failed.

import { ApiError, send } from "./api.js";

const FIRST_WAIT = 250;
const MAX_WAIT = 8000;

/**
 * @typedef {object} StreamHandlers
 * @property {(name: string, data: any) => void} onEvent
 * @property {() => void} onOpen
 * @property {() => void} onLost The connection is gone and is tried again.
 * @property {(error: ApiError) => void} onRefused The server refuses; trying again would not help.
 */

/**
 * Keep a stream open while the page is visible. It goes on after the last event that arrived.
 * @param {() => string} path The address; `position` is where the stream goes on.
 * @param {StreamHandlers} handlers
 */
export function openStream(path, handlers) {
  let position = "";
  let controller = new AbortController();
  let isClosed = false;
  let wait = FIRST_WAIT;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  async function connect() {
    controller = new AbortController();
    const { signal } = controller;
    try {
      /** @type {Record<string, string>} */
      const headers = position ? { "last-event-id": position } : {};
      const response = await send(path(), { headers, signal, cache: "no-store" });
      handlers.onOpen();
      wait = FIRST_WAIT;
      await readEvents(response, (name, data, id) => {
        if (isClosed || signal.aborted) return;
        handlers.onEvent(name, data);
        if (id) position = id;
      });
    } catch (error) {
      if (isClosed || signal.aborted) return;
      if (error instanceof ApiError && error.status >= 400 && error.status < 500) {
        handlers.onRefused(error);
        return;
      }
    }
    if (isClosed || signal.aborted) return;
    handlers.onLost();
    timer = setTimeout(connect, wait);
    wait = Math.min(wait * 2, MAX_WAIT);
  }

  function followVisibility() {
    clearTimeout(timer);
    controller.abort();
    if (!document.hidden) connect();
  }

  document.addEventListener("visibilitychange", followVisibility);
  addEventListener("online", followVisibility);
  if (!document.hidden) connect();
  return {
    close() {
      isClosed = true;
      clearTimeout(timer);
      controller.abort();
      document.removeEventListener("visibilitychange", followVisibility);
      removeEventListener("online", followVisibility);
    },
    /** Begin anew, without a position. */
    restart() {
      position = "";
      clearTimeout(timer);
      controller.abort();
      connect();
    },
  };
}

/**
 * @param {Response} response
 * @param {(name: string, data: any, id: string) => void} handle
 */
async function readEvents(response, handle) {
  if (!response.body) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    rest += value;
    for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n")) {
      const message = rest.slice(0, end);
      rest = rest.slice(end + 2);
      const fields = Object.fromEntries(
        message.split("\n").map((line) => {
          const colon = line.indexOf(": ");
          return [line.slice(0, colon), line.slice(colon + 2)];
        }),
      );
      if (fields.event) handle(fields.event, JSON.parse(fields.data), fields.id ?? "");
    }
  }
}
