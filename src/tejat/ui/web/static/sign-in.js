// The sign-in page of a server with a password.

import { send, storeKey, takeKey } from "./api.js";

takeKey();
const form = document.querySelector("form");
form?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const password = /** @type {HTMLInputElement} */ (document.getElementById("password"));
  const problem = /** @type {HTMLElement} */ (document.getElementById("problem"));
  try {
    const headers = { "content-type": "application/json" };
    const response = await send("/sign-in", {
      method: "POST",
      headers,
      body: JSON.stringify({ password: password.value }),
    });
    storeKey((await response.json()).key);
    location.reload();
  } catch (error) {
    problem.textContent = error instanceof Error ? error.message : String(error);
    password.select();
  }
});
