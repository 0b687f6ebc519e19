// Requests to the server. The key is in the storage of this origin: no other page and no other port gets it.

import { t } from "./texts.js";

const KEY_NAME = "tejat-key";

/** An error that the server answered with, or that it did not answer. `status` is 0 then. */
export class ApiError extends Error {
  /** @param {string} message @param {number} status */
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

/** Take the key out of the address, where the link has put it, so that it stays neither there nor in the history. */
export function takeKey() {
  const found = /^#key=([\w-]+)$/.exec(location.hash);
  if (!found) return;
  localStorage.setItem(KEY_NAME, found[1]);
  history.replaceState(null, "", location.pathname);
}

/** @param {string} key */
export function storeKey(key) {
  localStorage.setItem(KEY_NAME, key);
}

/** @returns {Record<string, string>} */
export function keyHeader() {
  return { "x-tejat-key": localStorage.getItem(KEY_NAME) ?? "" };
}

/** @param {string} path @param {RequestInit} [init] */
export async function send(path, init = {}) {
  let response;
  try {
    response = await fetch(path, { ...init, headers: { ...keyHeader(), ...init.headers }, redirect: "error" });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(t("connection_lost"), 0);
  }
  if (!response.ok) {
    const body = await response.json().catch(() => ({}));
    throw new ApiError(body.error ?? response.statusText, response.status);
  }
  return response;
}

/** @param {string} path @param {AbortSignal} [signal] @returns {Promise<any>} */
export async function getJson(path, signal) {
  return (await send(path, { signal })).json();
}

/** @param {string} path @param {object} body @returns {Promise<any>} */
export async function postJson(path, body) {
  const headers = { "content-type": "application/json" };
  return (await send(path, { method: "POST", headers, body: JSON.stringify(body) })).json();
}

/** @param {string} path @param {Blob} file @returns {Promise<any>} */
export async function postFile(path, file) {
  const headers = { "content-type": "application/octet-stream" };
  return (await send(path, { method: "POST", headers, body: file })).json();
}

/** The name of this window, the same after a reload. */
export function clientName() {
  let name = sessionStorage.getItem("tejat-client");
  if (!name) {
    name = crypto.randomUUID();
    sessionStorage.setItem("tejat-client", name);
  }
  return name;
}
